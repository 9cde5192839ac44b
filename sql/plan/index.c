/*
 * index.c -- which index leads to a table's rows: the one whose first columns the most conditions
 * give values of.
 *
 * Keys that are cut in the index (catalog.h) may bring rows that differ: then the conditions stay
 * in the operator's filter.
 */
#include <sql/plan/cost.h>
#include <sql/plan/plan_internal.h>
#include <sql/plan/selectivity.h>

/* A way to the rows. */
struct way {
	unsigned index;
	struct sql_expr *key[CAT_KEY_MAX];
	struct bind_cond *by[CAT_KEY_MAX]; /* the conditions that give them */
	unsigned keys;
	double rows;
};

/* The values that conditions give the first columns of an index. */
static void
prefix(struct bind *b, unsigned k, const struct cat_index *ix, struct way *w)
{
	const struct bind_table *t = b->from.table[k];
	struct sql_set none = sql_set_none();
	for (w->keys = 0; w->keys < ix->keys; w->keys++) {
		unsigned col = ix->key[w->keys].column;
		struct sql_expr *e = NULL;
		for (unsigned c = 0; c < b->where.conds && e == NULL; c++) {
			struct bind_cond *cond = &b->where.cond[c];
			if (!sql_plan_open(b, cond))
				continue;
			e = sql_plan_key_value(cond, t->base + col, t->tab->column[col].type, &none);
			w->by[w->keys] = cond;
		}
		if (e == NULL)
			return;
		w->key[w->keys] = e;
	}
}

static double
rows_of(struct bind *b, unsigned k, const struct cat_index *ix, const struct way *w)
{
	struct sql_expr *e[CAT_KEY_MAX];
	for (unsigned i = 0; i < w->keys; i++)
		e[i] = w->by[i]->e;
	double rows = sql_sel_rows(b, k) * sql_sel_all(b, e, w->keys);
	if (rows < 1 || (ix->unique && w->keys == ix->keys))
		rows = 1;
	return rows;
}

/* True if the index alone tells for which rows the conditions are true. */
static bool
is_exact(const struct cat_index *ix, const struct way *w)
{
	return ix->whole || w->keys == ix->keys;
}

bool
sql_plan_index(struct bind *b, unsigned k, struct sql_node **out)
{
	const struct sql_costs *c = b->in->costs ? b->in->costs : &sql_costs_standard;
	const struct cat_table *tab = b->from.table[k]->tab;
	struct way best = { 0 };
	*out = NULL;
	for (unsigned i = 0; i < tab->indexes; i++) {
		struct way w = { .index = i };
		if (!tab->index[i].valid)
			continue;
		prefix(b, k, &tab->index[i], &w);
		if (w.keys == 0)
			continue;
		w.rows = rows_of(b, k, &tab->index[i], &w);
		if (best.keys == 0 || w.rows < best.rows || (w.rows == best.rows && w.keys > best.keys))
			best = w;
	}
	if (best.keys == 0)
		return true;
	struct sql_op_index *n = sql_new_index(b, NULL, b->from.width);
	if (n == NULL || !sql_plan_access(b, &n->acc, k))
		return false;
	double rows = sql_sel_rows(b, k);
	if (sql_cost_index(c, tab, best.rows, n->acc.wants + 1) >
	    sql_cost_scan(c, tab, rows, n->acc.wants + 1))
		return true;
	n->index = best.index;
	n->keys = best.keys;
	n->est_found = best.rows;
	if ((n->key = sql_bind_take(b, best.keys * sizeof *n->key)) == NULL)
		return false;
	bool exact = is_exact(&tab->index[best.index], &best);
	for (unsigned i = 0; i < best.keys; i++) {
		n->key[i] = best.key[i];
		best.by[i]->used |= exact;
	}
	/* Before the filter: all conditions that are not used yet go through it. */
	n->node.est_rows = exact ? best.rows : rows;
	*out = &n->node;
	return true;
}
