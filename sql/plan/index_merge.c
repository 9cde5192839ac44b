/*
 * index_merge.c -- several indexes for the conditions on one table.
 *
 * a = 1 AND b = 2 with an index on a and one on b: the entries of both name blocks, and only those
 * that both name are READ. a = 1 OR b = 2: those that one of them names, each once. That takes the
 * entries of each index, without rows, and then the rows that are left; it is chosen where it costs
 * less than the best index alone and a scan.
 */
#include <sql/plan/cost.h>
#include <sql/plan/index.h>
#include <sql/plan/selectivity.h>

#include <math.h>

/* Sums of one set of costs in another order are alike: then the first order stays. */
#define ALIKE (1 - 1e-9)

/* Takes the legs if they cost less than those that are known. */
static bool
offer(struct sql_index_choice *c, const struct sql_index_leg *leg, unsigned legs, bool all, double reads)
{
	struct bind *b = c->b;
	double cost = sql_cost_lookup(c->c, c->tab, reads, c->wants + 1);
	for (unsigned k = 0; k < legs; k++)
		cost += sql_cost_entries(c->c, leg[k].est_entries);
	/* blocks are sorted */
	cost += sql_cost_sort(c->c, reads, 8);
	if (b->wish.columns > 0)
		cost += sql_cost_sort(c->c, fmin(c->left, reads), 8.0 * c->wants);
	if (!sql_cost_few(reads, c->rows) || (c->legs.legs > 0 && c->legs.cost * ALIKE <= cost))
		return true;
	struct sql_index_leg *copy = sql_bind_take(b, legs * sizeof *copy);
	if (copy == NULL)
		return false;
	memcpy(copy, leg, legs * sizeof *copy);
	c->legs = (struct sql_index_legs){ copy, legs, all, reads, cost };
	return true;
}

/* ---- AND ------------------------------------------------------------------------------------- */

/* Conditions of several ways, each once. */
struct conditions {
	struct bind_cond **by;
	struct sql_expr **e;
	unsigned n;
};

/* Adds those of a way that are not there yet; returns how many. */
static unsigned
conditions_add(struct conditions *x, const struct sql_index_way *w)
{
	unsigned before = x->n;
	for (unsigned i = 0; i < w->bys; i++) {
		unsigned k = 0;
		while (k < x->n && x->by[k] != w->by[i])
			k++;
		if (k < x->n)
			continue;
		x->by[x->n] = w->by[i];
		x->e[x->n++] = w->by[i]->e;
	}
	return x->n - before;
}

static double
rows_left(const struct sql_index_choice *c, const struct conditions *x)
{
	return fmax(c->rows * sql_sel_all(c->b, x->e, x->n), 1);
}

static struct sql_index_leg
leg_of(const struct sql_index_way *w)
{
	return (struct sql_index_leg){ w->index, w->part, w->parts, w->found };
}

/* From one way on, the way that leaves the fewest rows is added, as long as there is one with
 * another condition. */
static bool
and_from(struct sql_index_choice *c, const struct sql_index_way *one, unsigned ones, unsigned first)
{
	struct sql_index_leg leg[CAT_INDEXES_MAX];
	bool in[CAT_INDEXES_MAX] = { false };
	unsigned legs = 0, next = first;
	struct conditions x = { .n = 0 };
	x.by = sql_bind_take(c->b, (c->sources + 1) * sizeof(struct bind_cond *));
	x.e = sql_bind_take(c->b, (c->sources + 1) * sizeof(struct sql_expr *));
	if (x.by == NULL || x.e == NULL)
		return false;
	while (next < ones) {
		in[next] = true;
		(void)conditions_add(&x, &one[next]);
		leg[legs++] = leg_of(&one[next]);
		if (legs > 1 && !offer(c, leg, legs, true, rows_left(c, &x)))
			return false;
		next = ones;
		double least = rows_left(c, &x);
		for (unsigned i = 0; i < ones; i++) {
			struct conditions with = x;
			if (in[i] || conditions_add(&with, &one[i]) == 0)
				continue;
			double left = rows_left(c, &with);
			if (left < least) {
				least = left;
				next = i;
			}
		}
	}
	return true;
}

/* ---- OR -------------------------------------------------------------------------------------- */

/* The index that has the fewest entries for one arm. The arm's conditions stand for conditions of
 * WHERE, so that their share is known. *found false: no index helps. */
static bool
arm_leg(struct sql_index_choice *c, struct sql_expr *arm, struct sql_index_leg *leg, bool *found)
{
	struct sql_expr *const *said = arm->kind == SQL_AND ? arm->args : &arm;
	unsigned n = arm->kind == SQL_AND ? arm->nargs : 1, sources = c->sources;
	struct bind_cond *cond = sql_bind_take(c->b, n * sizeof *cond);
	struct sql_index_source *s = sql_bind_take(c->b, (n + sources) * sizeof *s);
	*found = false;
	if (cond == NULL || s == NULL)
		return false;
	for (unsigned m = 0; m < n; m++) {
		cond[m] = (struct bind_cond){ .e = said[m] };
		s[m] = (struct sql_index_source){ said[m], &cond[m] };
	}
	memcpy(s + n, c->s, sources * sizeof *s);
	for (unsigned i = 0; i < c->tab->indexes; i++) {
		struct sql_index_way w;
		struct sql_index_choice room = { .b = c->b, .sources = n + sources };
		if (!c->tab->index[i].valid)
			continue;
		if (!sql_way_begin(&room, &w, i, 1) ||
		    !sql_way_part(c->b, c->k, &w, s, n + sources, &w.part[0]))
			return false;
		w.parts = 1;
		w.found = fmax(c->rows * sql_way_share(c->b, &w), 1);
		if (c->tab->index[i].unique && w.points)
			w.found = fmin(w.found, w.ranges);
		if (!sql_part_says(&w.part[0]) || (*found && w.found >= leg->est_entries))
			continue;
		*found = true;
		*leg = leg_of(&w);
	}
	return true;
}

/* Adds an arm's leg: an index stands once among the legs. */
static bool
add_arm(
    struct sql_index_choice *c, struct sql_index_leg *leg, unsigned *legs, const struct sql_index_leg *arm)
{
	unsigned k = 0;
	while (k < *legs && leg[k].index != arm->index)
		k++;
	if (k == *legs) {
		leg[k] = *arm;
		leg[k].parts = 0;
		leg[k].est_entries = 0;
		if ((leg[k].part = sql_bind_take(c->b, SQL_INDEX_ARMS * sizeof *leg[k].part)) == NULL)
			return false;
		(*legs)++;
	}
	leg[k].part[leg[k].parts++] = arm->part[0];
	leg[k].est_entries += arm->est_entries;
	return true;
}

static bool
or_of(struct sql_index_choice *c, struct sql_expr *arms)
{
	struct sql_index_leg leg[CAT_INDEXES_MAX];
	unsigned legs = 0;
	double reads = 0;
	if (arms->nargs > SQL_INDEX_ARMS)
		return true;
	for (unsigned a = 0; a < arms->nargs; a++) {
		struct sql_index_leg arm;
		bool found;
		if (!arm_leg(c, arms->args[a], &arm, &found))
			return false;
		if (!found)
			return true;
		if (!add_arm(c, leg, &legs, &arm))
			return false;
		reads += arm.est_entries;
	}
	return legs < 2 || offer(c, leg, legs, false, fmin(reads, c->rows));
}

bool
sql_plan_legs(struct sql_index_choice *c, const struct sql_index_way *one, unsigned ones)
{
	for (unsigned i = 0; ones > 1 && i < ones; i++)
		if (!and_from(c, one, ones, i))
			return false;
	for (unsigned s = 0; s < c->sources; s++)
		if (c->s[s].e->kind == SQL_OR && !or_of(c, c->s[s].e))
			return false;
	return true;
}
