/* exec_from.c -- FROM items that are no tables of the catalog. */
#include "exec.h"

int
sql_derived_next(struct sql_exec *x, struct sql_node *n)
{
	const struct sql_access *a = &n->acc;
	while (true) {
		int rows = sql_next(x, n->child);
		if (rows <= 0)
			return rows;
		/* The child's vectors are ours until we ask it again: they need not be copied. */
		for (unsigned k = 0; k < a->wants; k++)
			n->out.col[a->base + a->want[k]] = n->child->out.col[a->want[k]];
		n->out.n = n->child->out.n;
		n->sel = n->child->sel;
		n->nsel = (unsigned)rows;
		if (n->filter == NULL)
			return rows;
		struct nam_arena *batch = x->arena[n->arena];
		nam_arena_reset(batch);
		x->env.arena = batch;
		int kept = sql_filter(n->filter, &n->out, n->sel, (unsigned)rows, &x->env, n->selbuf);
		if (kept < 0)
			return -1;
		n->nsel = (unsigned)kept;
		if (n->nsel < n->out.n)
			n->sel = n->selbuf;
		if (kept > 0)
			return kept;
		if (!sql_go_on(x))
			return -1;
	}
}
