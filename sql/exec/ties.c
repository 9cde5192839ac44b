/* ties.c -- FETCH FIRST n ROWS WITH TIES: also the rows behind them that the order finds equal to
 * the last one. */
#include <sql/exec/state.h>

static bool
hold(struct sql_exec *x, struct sql_op_limit *l, unsigned row)
{
	struct sql_node *n = &l->node;
	struct nam_arena *keep = x->arena[n->arena + 1];
	nam_arena_reset(keep);
	for (unsigned k = 0; k < l->tied; k++) {
		const struct cat_vec *v = &n->child->out.col[l->tie[k]];
		struct cat_datum *d = &l->run->held[k];
		*d = (struct cat_datum){ .type = v->type, .null = v->null[row] };
		if (d->null)
			continue;
		d->v = cat_value_copy(v->type, cat_vec_at(v, row), keep);
		if (cat_type_is_str(v->type) && d->v.s.p == NULL)
			return sql_no_memory(x->err);
	}
	return true;
}

static bool
ties(const struct sql_op_limit *l, unsigned row)
{
	for (unsigned k = 0; k < l->tied; k++) {
		const struct cat_vec *v = &l->node.child->out.col[l->tie[k]];
		const struct cat_datum *d = &l->run->held[k];
		if (d->null != (v->null[row] != 0) ||
		    (!d->null && cat_value_cmp(v->type, cat_vec_at(v, row), d->v) != 0))
			return false;
	}
	return true;
}

int
sql_ties_next(struct sql_exec *x, struct sql_op_limit *l)
{
	struct sql_node *n = &l->node;
	struct sql_run_limit *r = l->run;
	if (!r->opened) {
		r->opened = true;
		r->ended = r->left == 0;
	}
	while (!r->ended) {
		int rows = sql_next(x, n->child);
		if (rows <= 0)
			return rows;
		const uint16_t *sel = sql_sel(n->child);
		unsigned m = 0;
		for (unsigned i = 0; i < (unsigned)rows && !r->ended; i++) {
			if (r->skip > 0) {
				r->skip--;
				continue;
			}
			if (r->left > 0) {
				if (--r->left == 0 && !hold(x, l, sel[i]))
					return -1;
			} else if (!ties(l, sel[i])) {
				r->ended = true;
				continue;
			}
			n->selbuf[m++] = sel[i];
		}
		if (m == 0)
			continue;
		memcpy(n->out.col, n->child->out.col, n->out.cols * sizeof *n->out.col);
		n->out.n = n->child->out.n;
		n->sel = n->selbuf;
		n->nsel = m;
		return (int)m;
	}
	return 0;
}
