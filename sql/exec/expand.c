/* expand.c -- GROUPING SETS: the child's rows, once for every set. */
#include <sql/exec/state.h>

bool
sql_expand_room(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_expand *o = sql_op(expand, n);
	o->run->tmp = nam_arena_take(x->plan_arena, (2 * (size_t)o->keys + 1) * sizeof *o->run->tmp);
	return o->run->tmp != NULL;
}

/* The keys of the child's batch: as they are in tmp[0..keys), as NULLs behind, then the number of
 * the set. */
static bool
begin(struct sql_exec *x, struct sql_op_expand *o, unsigned rows)
{
	struct sql_node *n = &o->node;
	struct cat_vec *tmp = o->run->tmp;
	struct nam_arena *batch = x->arena[n->arena];
	const struct sql_node *c = n->child;
	nam_arena_reset(batch);
	x->env.arena = batch;
	memcpy(n->out.col, c->out.col, c->out.cols * sizeof *n->out.col);
	for (unsigned k = 0; k < o->keys; k++) {
		if (!sql_eval(o->e[k], &c->out, c->sel, rows, &x->env, &tmp[k]))
			return false;
		if (!sql_nulls(&tmp[o->keys + k], o->e[k]->type, c->out.n, batch))
			return sql_no_memory(x->err);
	}
	return cat_vec_take(&tmp[2 * o->keys], CAT_INT8, CAT_BATCH, batch) || sql_no_memory(x->err);
}

int
sql_expand_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_expand *o = sql_op(expand, n);
	struct sql_run_expand *r = o->run;
	const struct sql_node *c = n->child;
	if (r->at == 0) {
		int rows = sql_next(x, n->child);
		if (rows <= 0)
			return rows;
		if (!begin(x, o, (unsigned)rows))
			return -1;
		n->nsel = (unsigned)rows;
	}
	const uint8_t *in = o->in + (size_t)r->at * o->keys;
	struct cat_vec *number = &r->tmp[2 * o->keys];
	for (unsigned k = 0; k < o->keys; k++)
		n->out.col[c->out.cols + k] = r->tmp[in[k] ? k : o->keys + k];
	for (unsigned k = 0; k < c->out.n; k++) {
		number->i[k] = r->at;
		number->null[k] = 0;
	}
	n->out.col[c->out.cols + o->keys] = *number;
	n->out.n = c->out.n;
	n->sel = c->sel;
	r->at = r->at + 1 == o->sets ? 0 : r->at + 1;
	return (int)n->nsel;
}

bool
sql_expand_grand(const struct sql_op_expand *e, unsigned set)
{
	for (unsigned k = 0; k < e->keys; k++)
		if (e->in[(size_t)set * e->keys + k])
			return false;
	return true;
}
