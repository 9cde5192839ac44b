/* set.c -- one query's rows after the other's; rows of one that are, or are not, among the
 * other's. */
#include <sql/exec/rowset.h>
#include <sql/exec/state.h>

int
sql_append_next(struct sql_exec *x, struct sql_node *n)
{
	const struct sql_op_append *o = sql_op(append, n);
	struct sql_run_append *r = o->run;
	for (; r->at < o->kids; r->at++, r->opened = false) {
		struct sql_node *kid = o->kid[r->at];
		/* one open at a time: their scans and memory need not lie beside each other */
		if (!r->opened && !sql_open(x, kid))
			return -1;
		r->opened = true;
		int rows = sql_next(x, kid);
		if (rows < 0)
			return -1;
		if (rows == 0) {
			sql_close(x, kid);
			continue;
		}
		memcpy(n->out.col, kid->out.col, n->out.cols * sizeof *n->out.col);
		n->out.n = kid->out.n;
		n->sel = kid->sel;
		n->nsel = (unsigned)rows;
		return rows;
	}
	return 0;
}

static bool
grow(struct sql_exec *x, struct sql_run_seen *s, struct nam_arena *keep)
{
	unsigned size = s->buckets ? s->buckets * 2 : 256;
	uint32_t *bucket = nam_arena_zero(keep, size * sizeof *bucket);
	uint32_t *chain = nam_arena_take(keep, size * sizeof *chain);
	uint32_t *count = nam_arena_take(keep, size * sizeof *count);
	uint64_t *hash = nam_arena_take(keep, size * sizeof *hash);
	if (bucket == NULL || chain == NULL || count == NULL || hash == NULL)
		return sql_no_memory(x->err);
	if (s->n) {
		memcpy(hash, s->hash, s->n * sizeof *hash);
		memcpy(count, s->count, s->n * sizeof *count);
	}
	for (uint32_t g = 0; g < s->n; g++) {
		uint32_t *b = &bucket[hash[g] & (size - 1)];
		chain[g] = *b;
		*b = g + 1;
	}
	s->bucket = bucket;
	s->chain = chain;
	s->count = count;
	s->hash = hash;
	s->buckets = size;
	return true;
}

/* The row's number in n->rs + 1, 0 = it is not there. */
static uint32_t
find(const struct sql_run_seen *s, const struct cat_vec *col, unsigned row, uint64_t h)
{
	uint32_t g = s->bucket[h & (s->buckets - 1)];
	while (g != 0 && !(s->hash[g - 1] == h && sql_same_row(s->rs, g - 1, 0, col, s->rs->cols, row)))
		g = s->chain[g - 1];
	return g;
}

static bool
add(struct sql_exec *x, struct sql_run_seen *s, struct nam_arena *keep, const struct cat_vec *col,
    uint16_t row, uint64_t h)
{
	if (s->n == s->buckets && !grow(x, s, keep))
		return false;
	for (unsigned k = 0; k < s->rs->cols; k++)
		s->col[k] = &col[k];
	if (!sql_rowset_add(s->rs, s->col, &row, 1))
		return sql_no_memory(x->err);
	uint32_t g = s->n++, *b = &s->bucket[h & (s->buckets - 1)];
	s->hash[g] = h;
	s->count[g] = 1;
	s->chain[g] = *b;
	*b = g + 1;
	return true;
}

static bool
begin(struct sql_exec *x, struct sql_run_seen *s, const enum cat_type *type, unsigned cols,
    struct nam_arena *keep)
{
	nam_arena_reset(keep);
	s->n = s->buckets = 0;
	s->rs = sql_rowset_open(keep, type, cols);
	s->col = nam_arena_take(keep, (cols + 1) * sizeof *s->col);
	if (s->rs == NULL || s->col == NULL)
		return sql_no_memory(x->err);
	return grow(x, s, keep);
}

static bool
take_right(struct sql_exec *x, struct sql_op_setop *o)
{
	const struct sql_node *n = &o->node;
	struct nam_arena *keep = x->arena[n->arena + 1];
	struct sql_run_seen *s = &o->run->seen;
	if (!begin(x, s, o->type, o->cols, keep))
		return false;
	int rows;
	while ((rows = sql_next(x, n->build)) > 0) {
		const uint16_t *sel = sql_sel(n->build);
		const struct cat_vec *col = n->build->out.col;
		for (int r = 0; r < rows; r++) {
			uint64_t h = sql_hash_row(col, o->cols, sel[r]);
			uint32_t g = find(s, col, sel[r], h);
			if (g != 0)
				s->count[g - 1]++;
			else if (!add(x, s, keep, col, sel[r], h))
				return false;
		}
		if (!sql_go_on(x))
			return false;
	}
	return rows == 0;
}

int
sql_setop_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_setop *o = sql_op(setop, n);
	struct sql_run_seen *s = &o->run->seen;
	if (!o->run->opened) {
		if (!take_right(x, o))
			return -1;
		o->run->opened = true;
	}
	while (true) {
		int rows = sql_next(x, n->child);
		if (rows <= 0)
			return rows;
		const uint16_t *sel = sql_sel(n->child);
		const struct cat_vec *col = n->child->out.col;
		unsigned m = 0;
		for (int r = 0; r < rows; r++) {
			uint64_t h = sql_hash_row(col, o->cols, sel[r]);
			uint32_t g = find(s, col, sel[r], h);
			bool out;
			if (o->op == AST_INTERSECT) {
				/* each of theirs lets one of ours pass, or only the first */
				if ((out = g != 0 && s->count[g - 1] > 0))
					s->count[g - 1] = o->all ? s->count[g - 1] - 1 : 0;
			} else if (o->all) {
				/* each of theirs takes one of ours */
				if (!(out = g == 0 || s->count[g - 1] == 0))
					s->count[g - 1]--;
			} else if ((out = g == 0) && !add(x, s, x->arena[n->arena + 1], col, sel[r], h)) {
				return -1;
			}
			if (out)
				n->selbuf[m++] = sel[r];
		}
		if (!sql_go_on(x))
			return -1;
		if (m == 0)
			continue;
		memcpy(n->out.col, col, n->out.cols * sizeof *n->out.col);
		n->out.n = n->child->out.n;
		n->sel = n->selbuf;
		n->nsel = m;
		return (int)m;
	}
}

/* ---- WITH RECURSIVE --------------------------------------------------------------------- */

/* Those found become those read; the other arena takes the next ones. */
static bool
next_round(struct sql_exec *x, struct sql_op_recurse *o)
{
	struct sql_node *n = &o->node;
	struct sql_run_recurse *r = o->run;
	struct sql_cte *work = o->work;
	struct nam_arena *to = x->arena[work->arena + (r->round & 1)];
	work->run->rs = r->fresh;
	nam_arena_reset(to);
	if ((r->fresh = sql_rowset_open(to, work->type, work->columns)) == NULL)
		return sql_no_memory(x->err);
	if (r->round++ == 0)
		return true;
	sql_close(x, n->build);
	for (unsigned k = 0; k < o->owns; k++)
		nam_arena_reset(x->arena[o->own[k]]);
	return sql_open(x, n->build);
}

/* Rows that were there before come once. */
static int
only_new(struct sql_exec *x, struct sql_op_recurse *o, const struct cat_vec *col, const uint16_t *sel,
    unsigned rows)
{
	struct sql_run_seen *s = &o->run->seen;
	struct nam_arena *keep = x->arena[o->node.arena + 1];
	unsigned m = 0;
	for (unsigned r = 0; r < rows; r++) {
		uint64_t h = sql_hash_row(col, o->work->columns, sel[r]);
		if (find(s, col, sel[r], h) != 0)
			continue;
		if (!add(x, s, keep, col, sel[r], h))
			return -1;
		o->node.selbuf[m++] = sel[r];
	}
	return (int)m;
}

bool
sql_recurse_begin(struct sql_exec *x, struct sql_node *n)
{
	return sql_with_begin(x, sql_op(recurse, n)->work) || sql_no_memory(x->err);
}

int
sql_recurse_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_recurse *o = sql_op(recurse, n);
	struct sql_run_recurse *r = o->run;
	if (!r->opened) {
		r->opened = true;
		if (!begin(x, &r->seen, o->work->type, o->work->columns, x->arena[n->arena + 1]) ||
		    !next_round(x, o))
			return -1;
	}
	const struct cat_vec **p = r->seen.col;
	while (!r->ended) {
		/* the first round is the base */
		struct sql_node *from = r->round == 1 ? n->child : n->build;
		int rows = sql_next(x, from);
		if (rows < 0 || !sql_go_on(x))
			return -1;
		if (rows == 0) {
			r->ended = (r->round > 1 && !o->again) || (r->fresh->rows == 0 && o->again);
			if (!r->ended && !next_round(x, o))
				return -1;
			continue;
		}
		const uint16_t *sel = sql_sel(from);
		const struct cat_vec *col = from->out.col;
		if (!o->all) {
			if ((rows = only_new(x, o, col, sel, (unsigned)rows)) < 0)
				return -1;
			sel = n->selbuf;
		}
		if (rows == 0)
			continue;
		for (unsigned k = 0; k < o->work->columns; k++)
			p[k] = &col[k];
		if (!sql_rowset_add(r->fresh, p, sel, (unsigned)rows)) {
			sql_no_memory(x->err);
			return -1;
		}
		memcpy(n->out.col, col, n->out.cols * sizeof *n->out.col);
		n->out.n = from->out.n;
		n->sel = o->all ? from->sel : n->selbuf;
		n->nsel = (unsigned)rows;
		return rows;
	}
	return 0;
}
