/* set.c -- one query's rows after the other's; those of one that are, or are not, among the other's. */
#include <sql/exec/exec.h>
#include <sql/exec/rowset.h>

int
sql_append_next(struct sql_exec *x, struct sql_node *n)
{
	for (; n->at < n->kids; n->at++, n->opened = false) {
		struct sql_node *kid = n->kid[n->at];
		/* one open at a time: their scans and memory need not lie beside each other */
		if (!n->opened && !sql_open(x, kid))
			return -1;
		n->opened = true;
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
grow(struct sql_exec *x, struct sql_node *n)
{
	struct nam_arena *keep = x->arena[n->arena + 1];
	unsigned size = n->buckets ? n->buckets * 2 : 256;
	uint32_t *bucket = nam_arena_zero(keep, size * sizeof *bucket);
	uint32_t *chain = nam_arena_take(keep, size * sizeof *chain);
	uint32_t *count = nam_arena_take(keep, size * sizeof *count);
	uint64_t *hash = nam_arena_take(keep, size * sizeof *hash);
	if (bucket == NULL || chain == NULL || count == NULL || hash == NULL)
		return sql_no_memory(x->err);
	if (n->groups) {
		memcpy(hash, n->hash, n->groups * sizeof *hash);
		memcpy(count, n->count, n->groups * sizeof *count);
	}
	for (uint32_t g = 0; g < n->groups; g++) {
		uint32_t *b = &bucket[hash[g] & (size - 1)];
		chain[g] = *b;
		*b = g + 1;
	}
	n->bucket = bucket;
	n->chain = chain;
	n->count = count;
	n->hash = hash;
	n->buckets = size;
	return true;
}

/* The row's number in n->rs + 1, 0: it is not there. */
static uint32_t
find(const struct sql_node *n, const struct cat_vec *col, unsigned row, uint64_t h)
{
	uint32_t g = n->bucket[h & (n->buckets - 1)];
	while (g != 0 && !(n->hash[g - 1] == h && sql_same_row(n->rs, g - 1, 0, col, n->keys, row)))
		g = n->chain[g - 1];
	return g;
}

static bool
add(struct sql_exec *x, struct sql_node *n, const struct cat_vec *col, uint16_t row, uint64_t h)
{
	if (n->groups == n->buckets && !grow(x, n))
		return false;
	const struct cat_vec **p = (const struct cat_vec **)(void *)n->state;
	for (unsigned k = 0; k < n->keys; k++)
		p[k] = &col[k];
	if (!sql_rowset_add(n->rs, p, &row, 1))
		return sql_no_memory(x->err);
	uint32_t g = n->groups++, *b = &n->bucket[h & (n->buckets - 1)];
	n->hash[g] = h;
	n->count[g] = 1;
	n->chain[g] = *b;
	*b = g + 1;
	return true;
}

static bool
begin(struct sql_exec *x, struct sql_node *n)
{
	struct nam_arena *keep = x->arena[n->arena + 1];
	nam_arena_reset(keep);
	n->groups = n->buckets = 0;
	n->rs = sql_rowset_open(keep, n->types, n->keys);
	n->state = nam_arena_take(keep, (n->keys + 1) * sizeof(void *));
	if (n->rs == NULL || n->state == NULL)
		return sql_no_memory(x->err);
	return grow(x, n);
}

static bool
take_right(struct sql_exec *x, struct sql_node *n)
{
	if (!begin(x, n))
		return false;
	int rows;
	while ((rows = sql_next(x, n->build)) > 0) {
		const uint16_t *sel = sql_sel(n->build);
		const struct cat_vec *col = n->build->out.col;
		for (int r = 0; r < rows; r++) {
			uint64_t h = sql_hash_row(col, n->keys, sel[r]);
			uint32_t g = find(n, col, sel[r], h);
			if (g != 0)
				n->count[g - 1]++;
			else if (!add(x, n, col, sel[r], h))
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
	if (!n->opened) {
		if (!take_right(x, n))
			return -1;
		n->opened = true;
	}
	while (true) {
		int rows = sql_next(x, n->child);
		if (rows <= 0)
			return rows;
		const uint16_t *sel = sql_sel(n->child);
		const struct cat_vec *col = n->child->out.col;
		unsigned m = 0;
		for (int r = 0; r < rows; r++) {
			uint64_t h = sql_hash_row(col, n->keys, sel[r]);
			uint32_t g = find(n, col, sel[r], h);
			bool out;
			if (n->op == AST_INTERSECT) {
				/* each of theirs lets one of ours pass, or only the first */
				if ((out = g != 0 && n->count[g - 1] > 0))
					n->count[g - 1] = n->all ? n->count[g - 1] - 1 : 0;
			} else if (n->all) {
				/* each of theirs takes one of ours */
				if (!(out = g == 0 || n->count[g - 1] == 0))
					n->count[g - 1]--;
			} else if ((out = g == 0) && !add(x, n, col, sel[r], h)) {
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
next_round(struct sql_exec *x, struct sql_node *n)
{
	struct nam_arena *to = x->arena[n->cte->arena + (n->at & 1)];
	n->cte->rs = n->fresh;
	nam_arena_reset(to);
	if ((n->fresh = sql_rowset_open(to, n->types, n->keys)) == NULL)
		return sql_no_memory(x->err);
	if (n->at++ == 0)
		return true;
	sql_close(x, n->build);
	for (unsigned k = 0; k < n->owns; k++)
		nam_arena_reset(x->arena[n->own[k]]);
	return sql_open(x, n->build);
}

/* Rows that were there before come once. */
static int
only_new(
    struct sql_exec *x, struct sql_node *n, const struct cat_vec *col, const uint16_t *sel, unsigned rows)
{
	unsigned m = 0;
	for (unsigned r = 0; r < rows; r++) {
		uint64_t h = sql_hash_row(col, n->keys, sel[r]);
		if (find(n, col, sel[r], h) != 0)
			continue;
		if (!add(x, n, col, sel[r], h))
			return -1;
		n->selbuf[m++] = sel[r];
	}
	return (int)m;
}

int
sql_recurse_next(struct sql_exec *x, struct sql_node *n)
{
	if (!n->opened) {
		n->at = 0;
		n->opened = true;
		if (!begin(x, n) || !next_round(x, n))
			return -1;
	}
	const struct cat_vec **p = (const struct cat_vec **)(void *)n->state;
	while (!n->ended) {
		/* the first round is the base */
		struct sql_node *from = n->at == 1 ? n->child : n->build;
		int rows = sql_next(x, from);
		if (rows < 0 || !sql_go_on(x))
			return -1;
		if (rows == 0) {
			n->ended = (n->at > 1 && n->rows == 0) || (n->fresh->rows == 0 && n->rows != 0);
			if (!n->ended && !next_round(x, n))
				return -1;
			continue;
		}
		const uint16_t *sel = sql_sel(from);
		const struct cat_vec *col = from->out.col;
		if (!n->all) {
			if ((rows = only_new(x, n, col, sel, (unsigned)rows)) < 0)
				return -1;
			sel = n->selbuf;
		}
		if (rows == 0)
			continue;
		for (unsigned k = 0; k < n->keys; k++)
			p[k] = &col[k];
		if (!sql_rowset_add(n->fresh, p, sel, (unsigned)rows)) {
			sql_no_memory(x->err);
			return -1;
		}
		memcpy(n->out.col, col, n->out.cols * sizeof *n->out.col);
		n->out.n = from->out.n;
		n->sel = n->all ? from->sel : n->selbuf;
		n->nsel = (unsigned)rows;
		return rows;
	}
	return 0;
}
