/* expand.c -- GROUPING SETS: the child's rows, once for every set. */
#include <sql/exec/exec.h>

/* The keys of the child's batch: as they are in tmp[0..es), as NULLs behind, then the number of the set. */
static bool
begin(struct sql_exec *x, struct sql_node *n, unsigned rows)
{
	struct nam_arena *batch = x->arena[n->arena];
	const struct sql_node *c = n->child;
	nam_arena_reset(batch);
	x->env.arena = batch;
	memcpy(n->out.col, c->out.col, c->out.cols * sizeof *n->out.col);
	for (unsigned k = 0; k < n->es; k++) {
		if (!sql_eval(n->e[k], &c->out, c->sel, rows, &x->env, &n->acc.tmp[k]))
			return false;
		if (!sql_nulls(&n->acc.tmp[n->es + k], n->e[k]->type, c->out.n, batch))
			return sql_no_memory(x->err);
	}
	return cat_vec_take(&n->acc.tmp[2 * n->es], CAT_INT8, CAT_BATCH, batch) || sql_no_memory(x->err);
}

int
sql_expand_next(struct sql_exec *x, struct sql_node *n)
{
	const struct sql_node *c = n->child;
	if (n->at == 0) {
		int rows = sql_next(x, n->child);
		if (rows <= 0)
			return rows;
		if (!begin(x, n, (unsigned)rows))
			return -1;
		n->nsel = (unsigned)rows;
	}
	const uint8_t *in = n->gset + (size_t)n->at * n->es;
	struct cat_vec *number = &n->acc.tmp[2 * n->es];
	for (unsigned k = 0; k < n->es; k++)
		n->out.col[c->out.cols + k] = n->acc.tmp[in[k] ? k : n->es + k];
	for (unsigned k = 0; k < c->out.n; k++) {
		number->i[k] = n->at;
		number->null[k] = 0;
	}
	n->out.col[c->out.cols + n->es] = *number;
	n->out.n = c->out.n;
	n->sel = c->sel;
	n->at = n->at + 1 == n->rows ? 0 : n->at + 1;
	return (int)n->nsel;
}

bool
sql_expand_grand(const struct sql_node *n, unsigned set)
{
	for (unsigned k = 0; k < n->es; k++)
		if (n->gset[(size_t)set * n->es + k])
			return false;
	return true;
}
