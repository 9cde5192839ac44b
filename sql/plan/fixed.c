/* fixed.c -- what a fragment looks into, and whether each process that makes it at one snapshot
 * makes the same. */
#include <sql/expr/functions.h>
#include <sql/plan/fragment.h>
#include <sql/plan/sub.h>

static bool
value_is_fixed(const struct sql_expr *e)
{
	if (e == NULL)
		return true;
	bool is = e->kind != SQL_CALL || sql_fn_is_steady(e->call ? e->call->fn : e->fn);
	for (unsigned k = 0; is && k < e->nargs; k++)
		is = value_is_fixed(e->args[k]);
	return is;
}

static bool
values_are_fixed(struct sql_expr *const *e, unsigned n)
{
	bool is = true;
	for (unsigned k = 0; e != NULL && is && k < n; k++)
		is = value_is_fixed(e[k]);
	return is;
}

static bool
part_is_fixed(const struct sql_index_part *p)
{
	bool is = value_is_fixed(p->low) && value_is_fixed(p->high);
	for (unsigned k = 0; is && k < p->keys; k++)
		is = values_are_fixed(p->key[k].value, p->key[k].values);
	return is;
}

static bool
index_is_fixed(const struct sql_op_index *o)
{
	bool is = true;
	for (unsigned i = 0; is && i < o->parts; i++)
		is = part_is_fixed(&o->part[i]);
	for (unsigned l = 0; is && l < o->legs; l++)
		for (unsigned i = 0; is && i < o->leg[l].parts; i++)
			is = part_is_fixed(&o->leg[l].part[i]);
	return is;
}

/* The order of its rows does not show in its answers. */
static bool
agg_is_fixed(const struct sql_op_agg *o)
{
	bool is = values_are_fixed(o->key, o->keys);
	for (unsigned a = 0; is && a < o->aggs; a++) {
		const struct sql_agg *g = &o->agg[a];
		is = sql_agg_splits(g->kind, g->arg_type) && value_is_fixed(g->arg) &&
		     value_is_fixed(g->filter) && values_are_fixed(g->col, g->cols);
	}
	return is;
}

static bool rows_are_fixed(const struct sql_node *n);

/* LIMIT, DISTINCT ON and window functions choose among rows by their order, which no snapshot
 * decides. */
static bool
op_is_fixed(const struct sql_node *n)
{
	switch (n->kind) {
	case SQL_NODE_ONE:
	case SQL_NODE_APPEND:
	case SQL_NODE_SETOP:
	case SQL_NODE_DERIVED:
	case SQL_NODE_UNNEST:
		return true;
	case SQL_NODE_VALUES:
		return values_are_fixed(
		    sql_op(values, n)->e, sql_op(values, n)->rows * sql_op(values, n)->cols);
	case SQL_NODE_SCAN:
		return !sql_op(scan, n)->acc.tab->system;
	case SQL_NODE_GET:
		return values_are_fixed(sql_op(get, n)->key,
		    sql_op(get, n)->keys * (n->child != NULL ? 1 : sql_op(get, n)->probes));
	case SQL_NODE_INDEX:
		return index_is_fixed(sql_op(index, n));
	case SQL_NODE_JOIN: {
		const struct sql_op_join *j = sql_op(join, n);
		return values_are_fixed(j->key, j->keys) && values_are_fixed(j->build_key, j->keys) &&
		       value_is_fixed(j->on);
	}
	case SQL_NODE_SEMI: {
		const struct sql_op_semi *s = sql_op(semi, n);
		return values_are_fixed(s->key, s->keys) && values_are_fixed(s->outer, s->outers) &&
		       value_is_fixed(s->each) && value_is_fixed(s->rest);
	}
	case SQL_NODE_AGG:
		return agg_is_fixed(sql_op(agg, n));
	case SQL_NODE_PROJECT:
		return values_are_fixed(sql_op(project, n)->e, sql_op(project, n)->es);
	case SQL_NODE_EXPAND:
		return values_are_fixed(sql_op(expand, n)->e, sql_op(expand, n)->keys);
	case SQL_NODE_SERIES:
		return values_are_fixed(sql_op(series, n)->e, sql_op(series, n)->es);
	case SQL_NODE_SORT:
		return sql_op(sort, n)->most.limit == NULL && sql_op(sort, n)->most.offset == NULL;
	case SQL_NODE_CTE:
		return sql_op(cte, n)->cte->plan != NULL && rows_are_fixed(sql_op(cte, n)->cte->plan);
	default:
		return false;
	}
}

static bool
rows_are_fixed(const struct sql_node *n)
{
	struct sql_node **k;
	bool is = value_is_fixed(n->filter) && op_is_fixed(n);
	for (struct sql_inputs i = sql_inputs(n); is && (k = sql_input_next(&i)) != NULL;)
		is = rows_are_fixed(*k);
	return is;
}

static bool
sub_is_fixed(const struct sql_sub *s)
{
	/* EXISTS asks for one row, whichever it is. */
	const struct sql_node *n = s->root;
	if (s->kind == AST_SUB_EXISTS && n->kind == SQL_NODE_LIMIT && n->with == NULL)
		n = n->child;
	return rows_are_fixed(n) && (s->set == NULL || rows_are_fixed(s->set)) && value_is_fixed(s->cmp) &&
	       values_are_fixed(s->left, s->keys) && values_are_fixed(s->right, s->keys) &&
	       value_is_fixed(s->rest);
}

bool
sql_fragment_is_fixed(const struct sql_plan *p, const struct sql_fragment *f)
{
	bool is = true;
	for (const struct sql_node *n = f->pipe; is && n->kind != SQL_NODE_SCAN; n = n->child)
		is = n->build == NULL || rows_are_fixed(n->build);
	for (const struct sql_sub *s = p->subs; is && s != NULL; s = s->next)
		is = sub_is_fixed(s);
	return is;
}
