/*
 * semi.c -- EXISTS, NOT EXISTS and IN of a WHERE as joins that let rows of one side pass, each
 * once or not at all.
 *
 * bind/sub.c has found the set that answers such a subquery for all outer rows. Here a semijoin
 * or an antijoin over that set takes the place of the condition, a batch of rows at a time: at
 * the place of the join tree, of those that have the columns it needs, where the fewest rows come
 * by. A condition that lets few rows pass stays below all joins. It stays what it was where
 * asking the few rows there are one by one costs less, and in an UPDATE or a DELETE.
 */
#include <sql/plan/cost.h>
#include <sql/plan/plan_internal.h>
#include <sql/plan/selectivity.h>
#include <sql/plan/sub.h>

#define FEW_PASS   0.5
#define LEAST_PASS 0.02

/* e with what the slots of s hold: expressions over the outer row. */
static struct sql_expr *
outside(struct bind *b, const struct sql_sub *s, struct sql_expr *e)
{
	if (e->kind == SQL_OUTER)
		for (unsigned k = 0; k < s->slots; k++)
			if (s->slot[k] == e->index)
				return sql_expr_as(b->a, s->tied[k], e->type, e->typmod);
	if (e->nargs == 0)
		return e;
	struct sql_expr *to = nam_arena_copy(b->a, e, sizeof *e);
	if (to == NULL || (to->args = nam_arena_copy(b->a, e->args, e->nargs * sizeof *e->args)) == NULL)
		return NULL;
	for (unsigned k = 0; k < e->nargs; k++) {
		if ((to->args[k] = outside(b, s, e->args[k])) == NULL)
			return NULL;
		to->rows |= to->args[k]->rows;
		to->pure &= to->args[k]->pure;
	}
	return to;
}

/* The subquery of a condition that can be such a join. NULL = it cannot. */
static struct sql_sub *
candidate(const struct bind *b, const struct bind_cond *c, bool *anti)
{
	const struct sql_expr *e = c->e;
	if (c->home != 0 || c->used || sql_set_is_empty(&c->mask))
		return NULL;
	*anti = e->kind == SQL_NOT;
	if (*anti)
		e = e->args[0];
	struct sql_sub *s = e->kind == SQL_SUB ? e->sub : NULL;
	if (s == NULL || !s->hashed || s->keys == 0)
		return NULL;
	/* what a statement changes is asked row by row, or before it changes anything:
	 * exec/sub.c */
	if (b->plan->tab != NULL && (b->plan->kind != AST_INSERT || s->reads_target))
		return NULL;
	if (s->kind == AST_SUB_EXISTS)
		return s->set != NULL ? s : NULL;
	return s->kind == AST_SUB_ANY && !*anti && s->two && !s->negate && (s->set != NULL || s->once) ? s
												       : NULL;
}

static struct sql_node *
set_of(struct sql_sub *s)
{
	return s->set != NULL ? s->set : s->root;
}

/*
 * The share of rows that pass: how many of the values outside has the set? rows: there are
 * outside.
 */
static double
share(struct bind *b, struct sql_sub *s, bool anti, double rows)
{
	double there = set_of(s)->est_rows, values = rows;
	const struct sql_expr *l = s->keys == 1 ? outside(b, s, s->left[0]) : NULL;
	double distinct = l != NULL && l->kind == SQL_COLUMN ? sql_sel_distinct(b, l) : 0;
	if (distinct > 0 && distinct < values)
		values = distinct;
	double pass = values <= there ? 1 : there / values;
	if (s->rest != NULL)
		pass *= FEW_PASS;
	pass = anti ? 1 - pass : pass;
	return pass < LEAST_PASS ? LEAST_PASS : pass;
}

void
sql_plan_semi_begin(struct bind *b)
{
	unsigned operands = 0;
	for (unsigned k = 0; k < b->from.tables; k++)
		operands += b->from.table[k]->flats == 0;
	for (unsigned i = 0; i < b->where.conds; i++) {
		struct bind_cond *c = &b->where.cond[i];
		bool anti;
		struct sql_sub *s = candidate(b, c, &anti);
		c->semi = false;
		if (s == NULL)
			continue;
		if (operands > 1 && !sql_set_is_many(&c->mask)) {
			unsigned k = sql_set_first(&c->mask, b->from.tables);
			if (share(b, s, anti, sql_sel_rows(b, k)) < FEW_PASS)
				continue; /* it makes the joins above smaller: the scan asks it */
		}
		c->semi = c->used = true;
		b->wish.stops = false; /* the sort is above the semijoin, which reads all rows */
	}
}

/*
 * ---- the place
 * ----------------------------------------------------------------------------------
 */

/* Tables whose columns come out of n. */
static void
gives(const struct bind *b, const struct sql_node *n, struct sql_set *out)
{
	const struct sql_access *a = sql_node_access(n);
	for (unsigned k = 0; a != NULL && k < b->from.tables; k++)
		if (b->from.table[k]->flats == 0 && b->from.table[k]->base == a->base)
			sql_set_put(out, k);
	if (n->kind == SQL_NODE_DERIVED || n->kind == SQL_NODE_SCAN)
		return;
	if (n->child != NULL)
		gives(b, n->child, out);
	if (n->kind == SQL_NODE_JOIN)
		gives(b, n->build, out);
}

static bool
gives_all(const struct bind *b, const struct sql_node *n, const struct sql_set *tables)
{
	struct sql_set m = sql_set_none();
	gives(b, n, &m);
	return sql_set_within(tables, &m);
}

/* True if it is an outer join. */
static bool
keeps_rows(const struct sql_node *n)
{
	return n->kind == SQL_NODE_JOIN      ? sql_op(join, n)->keep_probe || sql_op(join, n)->keep_build
	       : n->kind == SQL_NODE_GET     ? sql_op(get, n)->keep_probe
	       : n->kind == SQL_NODE_INDEX   ? sql_op(index, n)->keep_probe
	       : n->kind == SQL_NODE_LATERAL ? sql_op(lateral, n)->keep_probe
					     : false;
}

/*
 * Of all places below *top that have these tables' columns, and that no outer join is between,
 * the one with the fewest rows.
 */
static struct sql_node **
place(const struct bind *b, struct sql_node **top, const struct sql_set *tables)
{
	struct sql_node **best = top, **at = top;
	while (true) {
		struct sql_node *n = *at;
		if (keeps_rows(n))
			return best;
		if (n->kind == SQL_NODE_JOIN && gives_all(b, n->build, tables))
			at = &n->build;
		else if ((n->kind == SQL_NODE_JOIN || n->kind == SQL_NODE_SEMI ||
			     ((n->kind == SQL_NODE_GET || n->kind == SQL_NODE_INDEX) && n->child != NULL)) &&
			 gives_all(b, n->child, tables))
			at = &n->child;
		else
			return best;
		if ((*at)->est_rows < (*best)->est_rows)
			best = at;
	}
}

static bool
asks_alone(const struct bind *b, struct sql_node *child, struct sql_sub *s)
{
	const struct sql_costs *c = b->in->costs ? b->in->costs : &sql_costs_standard;
	struct sql_cost_side outer, inner;
	if (s->set == NULL || (child->kind != SQL_NODE_SCAN && child->kind != SQL_NODE_GET &&
				  child->kind != SQL_NODE_INDEX && child->kind != SQL_NODE_JOIN))
		return false;
	sql_cost_tree(c, child);
	sql_cost_tree(c, s->root);
	sql_cost_tree(c, s->set);
	outer = (struct sql_cost_side){ child->est_rows, 0, child->est_width };
	inner = (struct sql_cost_side){ s->set->est_rows, 0, s->set->est_width };
	return child->est_rows * s->root->est_cost <
	       s->set->est_cost + sql_cost_join(c, &outer, &inner, s->keys, child->est_rows);
}

/*
 * The rest of an EXISTS over pairs: the set's columns behind the keys, then values of the row
 * outside.
 */
static bool
pairs(struct bind *b, struct sql_op_semi *m)
{
	struct sql_sub *s = m->sub;
	if (s->rest == NULL)
		return true;
	m->outer = s->tied;
	m->outers = s->slots;
	/* its slots, as columns of the pair; its columns move to the front */
	struct sql_sub as = *s;
	struct sql_expr **to = sql_bind_take(b, (s->keys + s->extra) * sizeof *to);
	if (to == NULL || (as.tied = sql_bind_take(b, (s->slots + 1) * sizeof *as.tied)) == NULL)
		return false;
	const struct sql_op_project *set =
	    sql_op(project, s->set); /* a projection: the extra columns first */
	for (unsigned k = 0; k < s->extra; k++) {
		if ((to[s->keys + k] = sql_expr_column(b->a, k, set->e[k]->type, set->e[k]->typmod, 0)) ==
		    NULL)
			return cat_error(b->err, "53200", "out of memory");
	}
	for (unsigned k = 0; k < s->slots; k++)
		if ((as.tied[k] = sql_expr_column(
			 b->a, s->extra + k, s->tied[k]->type, s->tied[k]->typmod, 0)) == NULL)
			return cat_error(b->err, "53200", "out of memory");
	struct sql_expr *moved = sql_expr_substitute(b->a, s->rest, 0, s->keys + s->extra, to);
	if (moved == NULL || (m->rest = outside(b, &as, moved)) == NULL)
		return cat_error(b->err, "53200", "out of memory");
	return true;
}

/*
 * What the child's filter asks a subquery for: n asks it of the rows that are left, when they are
 * fewer.
 */
static bool
take_dear(struct bind *b, struct sql_node *n, struct sql_node *child)
{
	struct sql_expr *one = child->filter, **part = one != NULL && one->kind == SQL_AND ? one->args : &one;
	unsigned parts = one == NULL ? 0 : one->kind == SQL_AND ? one->nargs : 1, dear = 0, cheap = 0;
	struct sql_expr **of = sql_bind_take(b, (2 * parts + 1) * sizeof *of);
	if (of == NULL)
		return false;
	for (unsigned k = 0; k < parts; k++)
		if (sql_expr_has_sub(part[k]))
			of[dear++] = part[k];
	for (unsigned k = 0; k < parts; k++)
		if (!sql_expr_has_sub(part[k]))
			of[dear + cheap++] = part[k];
	if (dear == 0)
		return true;
	child->filter = NULL;
	return sql_plan_filter(b, n, of, dear) && sql_plan_filter(b, child, of + dear, cheap);
}

static struct sql_node *
semi(struct bind *b, struct sql_node *child, struct bind_cond *c, struct sql_sub *s, bool anti)
{
	struct sql_op_semi *o = sql_new_semi(b, child, b->from.width);
	if (o == NULL || (o->key = sql_bind_take(b, s->keys * sizeof *o->key)) == NULL)
		return NULL;
	struct sql_node *n = &o->node;
	o->sub = s;
	o->anti = anti;
	o->each = c->e;
	n->build = set_of(s);
	n->build->whole = true;
	o->keys = s->keys;
	for (unsigned k = 0; k < s->keys; k++)
		if ((o->key[k] = outside(b, s, s->left[k])) == NULL)
			return NULL;
	if (!pairs(b, o))
		return NULL;
	double pass = share(b, s, anti, child->est_rows);
	if (pass < FEW_PASS && !take_dear(b, n, child))
		return NULL;
	n->est_rows = child->est_rows * pass;
	n->est_rows = n->est_rows < 1 ? 1 : n->est_rows;
	s->joined = true;
	return n;
}

struct sql_node *
sql_plan_semi(struct bind *b, struct sql_node *root)
{
	for (unsigned i = 0; i < b->where.conds; i++) {
		struct bind_cond *c = &b->where.cond[i];
		bool anti = c->e->kind == SQL_NOT;
		if (!c->semi)
			continue;
		struct sql_sub *s = anti ? c->e->args[0]->sub : c->e->sub;
		struct sql_node **at = place(b, &root, &c->mask);
		if (asks_alone(b, *at, s)) {
			struct sql_expr *both[2] = { (*at)->filter, c->e };
			if (!sql_plan_filter(b, *at, both[0] ? both : both + 1, both[0] ? 2 : 1))
				return NULL;
		} else if ((*at = semi(b, *at, c, s, anti)) == NULL) {
			return NULL;
		}
	}
	return root;
}
