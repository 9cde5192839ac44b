/* ties.c -- FETCH FIRST n ROWS WITH TIES: and those behind that the order does not tell from the last one. */
#include <sql/exec/exec.h>

static bool
hold(struct sql_exec *x, struct sql_node *n, unsigned row)
{
	struct nam_arena *keep = x->arena[n->arena + 1];
	nam_arena_reset(keep);
	for (unsigned k = 0; k < n->passes; k++) {
		const struct cat_vec *v = &n->child->out.col[n->pass[k]];
		struct cat_datum *d = &n->held[k];
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
ties(const struct sql_node *n, unsigned row)
{
	for (unsigned k = 0; k < n->passes; k++) {
		const struct cat_vec *v = &n->child->out.col[n->pass[k]];
		const struct cat_datum *d = &n->held[k];
		if (d->null != (v->null[row] != 0) ||
		    (!d->null && cat_value_cmp(v->type, cat_vec_at(v, row), d->v) != 0))
			return false;
	}
	return true;
}

int
sql_ties_next(struct sql_exec *x, struct sql_node *n)
{
	if (!n->opened) {
		n->opened = true;
		n->ended = n->left == 0;
	}
	while (!n->ended) {
		int rows = sql_next(x, n->child);
		if (rows <= 0)
			return rows;
		const uint16_t *sel = sql_sel(n->child);
		unsigned m = 0;
		for (unsigned i = 0; i < (unsigned)rows && !n->ended; i++) {
			if (n->skip > 0) {
				n->skip--;
				continue;
			}
			if (n->left > 0) {
				if (--n->left == 0 && !hold(x, n, sel[i]))
					return -1;
			} else if (!ties(n, sel[i])) {
				n->ended = true;
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
