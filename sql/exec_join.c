/*
 * exec_join.c -- the hash join: one side is kept in a table, the other asks it; without keys, all pairs.
 *
 * Outer joins: a batch's probe rows without a partner follow when the batch is done,
 * build rows without one when the probe side is.
 */
#include "exec.h"
#include <sql/rowset.h>

static bool
build(struct sql_exec *x, struct sql_node *n)
{
	struct nam_arena *keep = x->arena[n->arena + 1];
	unsigned cols = n->build_cols + n->keys;
	if ((n->rs = sql_rowset_open(keep, n->build_type, cols)) == NULL)
		return sql_no_memory(x->err);
	struct cat_vec *key = nam_arena_take(keep, (n->keys + 1) * sizeof *key);
	const struct cat_vec **col = nam_arena_take(keep, (cols + 1) * sizeof *col);
	uint16_t *live = nam_arena_take(keep, CAT_BATCH * sizeof *live);
	struct nam_arena *batch = x->arena[n->arena];
	uint32_t cap = 0;
	if (key == NULL || col == NULL || live == NULL)
		return sql_no_memory(x->err);
	int rows;
	while ((rows = sql_next(x, n->build)) > 0) {
		const struct sql_node *from = n->build;
		nam_arena_reset(batch);
		x->env.arena = batch;
		for (unsigned k = 0; k < n->keys; k++)
			if (!sql_eval(
				n->build_key[k], &from->out, from->sel, (unsigned)rows, &x->env, &key[k]))
				return false;
		const uint16_t *sel = sql_sel(from);
		unsigned m = 0;
		for (int r = 0; r < rows; r++) {
			bool null = false;
			for (unsigned k = 0; k < n->keys; k++)
				null |= key[k].null[sel[r]];
			if (!null || n->keep_build)
				live[m++] = sel[r];
		}
		for (unsigned c = 0; c < n->build_cols; c++)
			col[c] = &from->out.col[n->build_col[c]];
		for (unsigned k = 0; k < n->keys; k++)
			col[n->build_cols + k] = &key[k];
		uint32_t at = n->rs->rows;
		if (cap < at + m) {
			cap = cap ? cap * 2 : CAT_BATCH;
			while (cap < at + m)
				cap *= 2;
			uint64_t *more = nam_arena_take(keep, cap * sizeof *more);
			if (more == NULL)
				return sql_no_memory(x->err);
			if (at)
				memcpy(more, n->hash, at * sizeof *more);
			n->hash = more;
		}
		for (unsigned k = 0; n->keys > 0 && k < m; k++)
			n->hash[at + k] = sql_hash_row(key, n->keys, live[k]);
		if (!sql_rowset_add(n->rs, col, live, m))
			return sql_no_memory(x->err);
	}
	if (rows < 0)
		return false;
	if (n->keep_build && (n->matched = nam_arena_zero(keep, n->rs->rows + 1)) == NULL)
		return sql_no_memory(x->err);
	if (n->keys == 0)
		return true;
	uint64_t size = 16;
	while (size < n->rs->rows)
		size *= 2;
	n->mask = size - 1;
	n->bucket = nam_arena_zero(keep, size * sizeof *n->bucket);
	n->chain = nam_arena_take(keep, (n->rs->rows + 1) * sizeof *n->chain);
	if (n->bucket == NULL || n->chain == NULL)
		return sql_no_memory(x->err);
	for (uint32_t r = n->rs->rows; r-- > 0;) {
		bool null = false;
		for (unsigned k = 0; n->keep_build && k < n->keys; k++)
			null |= sql_rowset_null(n->rs, r, n->build_cols + k);
		if (null)
			continue;
		uint32_t *b = &n->bucket[n->hash[r] & n->mask];
		n->chain[r] = *b;
		*b = r + 1;
	}
	return true;
}

/* State over the current batch of the probe side: lives in the batch arena. */
struct probe {
	struct cat_vec *key;
	uint64_t *hash;
	unsigned n;
	uint8_t *matched; /* keep_probe: by row of the batch */
	bool told;        /* its rows without a partner are out */
};

static int
probe_batch(struct sql_exec *x, struct sql_node *n, struct probe **out)
{
	int rows = sql_next(x, n->child);
	if (rows <= 0)
		return rows;
	struct nam_arena *batch = x->arena[n->arena];
	nam_arena_reset(batch);
	x->env.arena = batch;
	struct probe *p = nam_arena_zero(batch, sizeof *p);
	if (p == NULL || (p->key = nam_arena_take(batch, (n->keys + 1) * sizeof *p->key)) == NULL ||
	    (p->hash = nam_arena_take(batch, (unsigned)rows * sizeof *p->hash)) == NULL ||
	    (n->keep_probe && (p->matched = nam_arena_zero(batch, CAT_BATCH)) == NULL)) {
		sql_no_memory(x->err);
		return -1;
	}
	p->n = (unsigned)rows;
	const uint16_t *sel = sql_sel(n->child);
	for (unsigned k = 0; k < n->keys; k++)
		if (!sql_eval(n->key[k], &n->child->out, n->child->sel, (unsigned)rows, &x->env, &p->key[k]))
			return -1;
	for (int r = 0; n->keys > 0 && r < rows; r++)
		p->hash[r] = sql_hash_row(p->key, n->keys, sel[r]);
	n->probe_at = 0;
	n->match = 0;
	*out = p;
	return rows;
}

/* The next build row (+1) that equals the current probe row, from n->match on; 0: none. */
static uint32_t
next_match(struct sql_node *n, const struct probe *p, unsigned row, bool first)
{
	if (n->keys == 0) {
		uint32_t r = first ? 0 : n->match;
		return r < n->rs->rows ? r + 1 : 0;
	}
	uint32_t r = first ? n->bucket[p->hash[n->probe_at] & n->mask] : n->chain[n->match - 1];
	for (; r != 0; r = n->chain[r - 1])
		if (n->hash[r - 1] == p->hash[n->probe_at] &&
		    sql_same_row(n->rs, r - 1, n->build_cols, p->key, n->keys, row))
			return r;
	return 0;
}

static bool
null_key(const struct sql_node *n, const struct probe *p, unsigned row)
{
	for (unsigned k = 0; k < n->keys; k++)
		if (p->key[k].null[row])
			return true;
	return false;
}

static int
no_memory(struct sql_exec *x)
{
	sql_no_memory(x->err);
	return -1;
}

bool
sql_nulls(struct cat_vec *v, enum cat_type type, unsigned n, struct nam_arena *arena)
{
	if (!cat_vec_take(v, type, n, arena))
		return false;
	memset(v->null, 1, n);
	if (cat_type_is_str(type))
		for (unsigned k = 0; k < n; k++)
			v->s[k] = (struct cat_str){ "", 0 };
	else
		memset(v->i, 0, n * sizeof *v->i);
	return true;
}

/* Columns of both sides: probe rows left[0..m) (NULL: none) beside build rows right[0..m) (NULL: none). */
static bool
beside(struct sql_exec *x, struct sql_node *n, const uint16_t *left, const uint32_t *right, unsigned m)
{
	struct nam_arena *answer = x->arena[n->arena + 2];
	for (unsigned c = 0; c < n->probe_cols; c++) {
		unsigned i = n->probe_col[c];
		if (!(left ? sql_gather(&n->out.col[i], &n->child->out.col[i], left, m, answer)
			   : sql_nulls(&n->out.col[i], n->probe_type[c], m, answer)))
			return sql_no_memory(x->err);
	}
	for (unsigned c = 0; c < n->build_cols; c++) {
		struct cat_vec *v = &n->out.col[n->build_col[c]];
		if (!(right ? sql_rowset_gather(n->rs, c, right, m, v, answer)
			    : sql_nulls(v, n->build_type[c], m, answer)))
			return sql_no_memory(x->err);
	}
	n->out.n = m;
	return true;
}

/* Applies the filter. Its scratch must not go into the batch arena: the probe lives there. */
static int
keep(struct sql_exec *x, struct sql_node *n)
{
	unsigned own = n->arena;
	n->arena += 2;
	int kept = sql_keep(x, n);
	n->arena = own;
	return kept;
}

/* Pairs that ON lets pass; marks their rows. */
static int
match(struct sql_exec *x, struct sql_node *n, const struct probe *p, const uint16_t *left,
    const uint32_t *right, unsigned pairs)
{
	const uint16_t *sel = sql_ident();
	int m = (int)pairs;
	x->env.arena = x->arena[n->arena + 2];
	if (n->on != NULL) {
		if ((m = sql_filter(n->on, &n->out, NULL, pairs, &x->env, n->selbuf)) < 0)
			return -1;
		sel = n->selbuf;
	}
	for (int k = 0; k < m; k++) {
		if (n->keep_probe)
			p->matched[left[sel[k]]] = 1;
		if (n->keep_build)
			n->matched[right[sel[k]]] = 1;
	}
	if (n->on == NULL)
		return keep(x, n);
	if (n->filter != NULL && m > 0 &&
	    (m = sql_filter(n->filter, &n->out, n->selbuf, (unsigned)m, &x->env, n->selbuf)) < 0)
		return -1;
	n->sel = n->selbuf;
	n->nsel = (unsigned)m;
	return m;
}

/* The batch's probe rows that found no partner. */
static int
alone(struct sql_exec *x, struct sql_node *n, struct probe *p)
{
	p->told = true;
	const uint16_t *sel = sql_sel(n->child);
	nam_arena_reset(x->arena[n->arena + 2]);
	uint16_t *left = nam_arena_take(x->arena[n->arena + 2], CAT_BATCH * sizeof *left);
	if (left == NULL)
		return no_memory(x);
	unsigned m = 0;
	for (unsigned k = 0; k < p->n; k++)
		if (!p->matched[sel[k]])
			left[m++] = sel[k];
	if (m == 0)
		return 0;
	return beside(x, n, left, NULL, m) ? keep(x, n) : -1;
}

/* Build rows that nobody asked for: the last ones to come. */
static int
left_over(struct sql_exec *x, struct sql_node *n)
{
	while (n->at < n->rs->rows) {
		nam_arena_reset(x->arena[n->arena + 2]);
		uint32_t *right = nam_arena_take(x->arena[n->arena + 2], CAT_BATCH * sizeof *right);
		if (right == NULL)
			return no_memory(x);
		unsigned m = 0;
		for (; n->at < n->rs->rows && m < CAT_BATCH; n->at++)
			if (!n->matched[n->at])
				right[m++] = n->at;
		if (m == 0)
			return 0;
		if (!sql_go_on(x) || !beside(x, n, NULL, right, m))
			return -1;
		int kept = keep(x, n);
		if (kept != 0)
			return kept;
	}
	return 0;
}

int
sql_join_next(struct sql_exec *x, struct sql_node *n)
{
	struct nam_arena *answer = x->arena[n->arena + 2];
	if (!n->opened) {
		if (!build(x, n))
			return -1;
		n->opened = true;
		n->state = NULL;
	}
	if (n->rs->rows == 0 && !n->keep_probe)
		return 0;
	while (!n->ended) {
		struct probe *p = (void *)n->state;
		if (p != NULL && n->probe_at == p->n && n->keep_probe && !p->told) {
			int kept = alone(x, n, p);
			if (kept != 0)
				return kept;
		}
		if (p == NULL || n->probe_at == p->n) {
			int rows = probe_batch(x, n, &p);
			n->state = rows > 0 ? (void *)p : NULL;
			if (rows < 0)
				return rows;
			if (rows == 0) {
				n->ended = true;
				break;
			}
		}
		if (!sql_go_on(x))
			return -1;
		nam_arena_reset(answer);
		uint16_t *left = nam_arena_take(answer, CAT_BATCH * sizeof *left);
		uint32_t *right = nam_arena_take(answer, CAT_BATCH * sizeof *right);
		if (left == NULL || right == NULL)
			return no_memory(x);
		const uint16_t *sel = sql_sel(n->child);
		unsigned pairs = 0;
		while (pairs < CAT_BATCH && n->probe_at < p->n) {
			unsigned row = sel[n->probe_at];
			uint32_t m = null_key(n, p, row) ? 0 : next_match(n, p, row, n->match == 0);
			if (m == 0) {
				n->probe_at++;
				n->match = 0;
				continue;
			}
			n->match = m;
			left[pairs] = (uint16_t)row;
			right[pairs++] = m - 1;
		}
		if (pairs == 0)
			continue;
		if (!beside(x, n, left, right, pairs))
			return -1;
		int kept = match(x, n, p, left, right, pairs);
		if (kept != 0)
			return kept;
	}
	return n->keep_build ? left_over(x, n) : 0;
}
