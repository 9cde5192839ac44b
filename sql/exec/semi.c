/*
 * semi.c -- semijoins and antijoins: the child's rows that have a partner in a subquery's set, or
 * that have none.
 *
 * A batch goes out as it came in, with fewer of its rows selected. If a pair must fulfil more than
 * equal keys, one partner of each row that is still open is tried at a time, all rows together,
 * until one fits or there is no other. If making the set or testing a pair fails because of a row
 * that the outer query may not need, then the subquery is run for each row of the child, as if
 * there were no such operator.
 */
#include <sql/exec/meter.h>
#include <sql/exec/state.h>
#include <sql/plan/sub.h>

/* Rows of a batch that look for a partner: row, and the set's row (+1) to be looked at. */
struct seek {
	uint16_t *row;
	uint32_t *at;
	uint64_t *hash;
	unsigned n;
};

/* From r (+1) on: the first row (+1) of the set with the same keys; 0 = none. */
static uint32_t
along(const struct sql_sub *s, const struct cat_vec *key, unsigned row, uint64_t hash, uint32_t r)
{
	const struct sql_run_sub *kept = s->run;
	while (r != 0 && (kept->hash[r - 1] != hash || !sql_same_row(kept->rs, r - 1, 0, key, s->keys, row)))
		r = kept->chain[r - 1];
	return r;
}

/* The rows sel[0..n) that have a first partner. */
static void
first(const struct sql_sub *s, const struct cat_vec *key, const uint16_t *sel, unsigned n, struct seek *to)
{
	const struct sql_run_sub *kept = s->run;
	to->n = 0;
	sql_hash_rows(key, s->keys, sel, n, to->hash);
	for (unsigned j = 0; j < n; j++)
		__builtin_prefetch(&kept->bucket[to->hash[j] & kept->mask]);
	for (unsigned j = 0; j < n; j++) {
		uint64_t h = to->hash[j];
		bool null = false;
		for (unsigned c = 0; c < s->keys; c++)
			null |= key[c].null[sel[j]];
		uint32_t r = null ? 0 : along(s, key, sel[j], h, kept->bucket[h & kept->mask]);
		to->row[to->n] = sel[j];
		to->at[to->n] = r;
		to->hash[to->n] = h;
		to->n += r != 0;
	}
}

/*
 * The pairs that are open, as a batch of the set's columns and the outside's; those that pass go
 * to keep.
 */
static int
ask_pairs(
    struct sql_exec *x, struct sql_op_semi *m, const struct seek *p, struct nam_arena *arena, uint16_t *keep)
{
	const struct sql_sub *s = m->sub;
	nam_arena_reset(arena);
	uint32_t *row = nam_arena_take(arena, p->n * sizeof *row);
	bool ok = row != NULL;
	for (unsigned k = 0; ok && k < p->n; k++)
		row[k] = p->at[k] - 1;
	for (unsigned c = 0; ok && c < s->extra; c++)
		ok = sql_rowset_gather(s->run->rs, s->keys + c, row, p->n, &m->run->pair[c], arena);
	for (unsigned c = 0; ok && c < m->outers; c++)
		ok = sql_gather(&m->run->pair[s->extra + c], &m->run->value[c], p->row, p->n, arena);
	if (!ok) {
		sql_no_memory(x->err);
		return -1;
	}
	struct sql_batch b = { .col = m->run->pair, .cols = s->extra + m->outers, .n = p->n };
	x->env.arena = arena;
	return sql_filter(m->rest, &b, NULL, p->n, &x->env, keep);
}

/* Marks the rows with a partner that also fulfils the rest. */
static bool
try_partners(
    struct sql_exec *x, struct sql_op_semi *m, const struct cat_vec *key, struct seek *p, uint8_t *found)
{
	const struct sql_node *n = &m->node;
	const struct sql_sub *s = m->sub;
	struct nam_arena *batch = x->arena[n->arena], *round = x->arena[n->arena + 2];
	uint16_t *keep = nam_arena_take(batch, CAT_BATCH * sizeof *keep);
	if (keep == NULL)
		return sql_no_memory(x->err);
	x->env.arena = batch;
	for (unsigned c = 0; c < m->outers; c++)
		if (!sql_eval(m->outer[c], &n->child->out, p->row, p->n, &x->env, &m->run->value[c]))
			return false;
	while (p->n > 0) {
		int fit = ask_pairs(x, m, p, round, keep);
		if (fit < 0 || !sql_go_on(x))
			return false;
		for (int k = 0; k < fit; k++)
			found[p->row[keep[k]]] = 1;
		unsigned open = 0;
		for (unsigned k = 0; k < p->n; k++) {
			if (found[p->row[k]])
				continue;
			uint32_t r = along(s, key, p->row[k], p->hash[k], s->run->chain[p->at[k] - 1]);
			p->row[open] = p->row[k];
			p->hash[open] = p->hash[k];
			p->at[open] = r;
			open += r != 0;
		}
		p->n = open;
	}
	return true;
}

/* The child's rows that pass, to n->selbuf: how many, -1 = an error. */
static int
pass(struct sql_exec *x, struct sql_op_semi *m, unsigned rows)
{
	const struct sql_node *n = &m->node;
	const struct sql_sub *s = m->sub;
	const uint16_t *sel = sql_sel(n->child);
	struct nam_arena *batch = x->arena[n->arena];
	nam_arena_reset(batch);
	uint8_t *found = nam_arena_zero(batch, CAT_BATCH);
	struct seek p = { .row = nam_arena_take(batch, rows * sizeof *p.row),
		.at = nam_arena_take(batch, rows * sizeof *p.at),
		.hash = nam_arena_take(batch, rows * sizeof *p.hash) };
	struct cat_vec *key = nam_arena_take(batch, s->keys * sizeof *key);
	if (found == NULL || p.row == NULL || p.at == NULL || p.hash == NULL || key == NULL) {
		sql_no_memory(x->err);
		return -1;
	}
	if (s->run->rs != NULL && s->run->rs->rows > 0) { /* else the keys do not matter */
		x->env.arena = batch;
		for (unsigned c = 0; c < s->keys; c++)
			if (!sql_eval(m->key[c], &n->child->out, n->child->sel, rows, &x->env, &key[c]))
				return -1;
		first(s, key, sel, rows, &p);
		if (m->rest != NULL && !try_partners(x, m, key, &p, found))
			return -1;
		for (unsigned k = 0; m->rest == NULL && k < p.n; k++)
			found[p.row[k]] = 1;
	}
	unsigned kept = 0;
	for (unsigned k = 0; k < rows; k++) {
		n->selbuf[kept] = sel[k];
		kept += found[sel[k]] != m->anti;
	}
	return (int)kept;
}

bool
sql_semi_room(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_semi *m = sql_op(semi, n);
	struct sql_run_semi *r = m->run;
	r->value = nam_arena_zero(x->plan_arena, (m->outers + 1) * sizeof *r->value);
	r->pair = nam_arena_zero(x->plan_arena, (m->sub->extra + m->outers + 1) * sizeof *r->pair);
	return r->value != NULL && r->pair != NULL;
}

int
sql_semi_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_semi *m = sql_op(semi, n);
	int rows;
	while ((rows = sql_next(x, n->child)) > 0) {
		bool ready = sql_sub_ready(x, m->sub);
		if (!ready && !m->sub->run->failed)
			return -1;
		memcpy(n->out.col, n->child->out.col, n->child->out.cols * sizeof *n->out.col);
		n->out.n = n->child->out.n;
		n->origin = n->child->origin;
		int kept = ready ? pass(x, m, (unsigned)rows) : 0;
		if (kept < 0 && !sql_sub_gives_up(x, m->sub))
			return -1;
		if (m->sub->run->failed) {
			nam_arena_reset(x->arena[n->arena]);
			x->env.arena = x->arena[n->arena];
			kept =
			    sql_filter(m->each, &n->out, n->child->sel, (unsigned)rows, &x->env, n->selbuf);
		}
		if (kept > 0 && n->filter != NULL) {
			nam_arena_reset(x->arena[n->arena]);
			x->env.arena = x->arena[n->arena];
			kept = sql_filter(n->filter, &n->out, n->selbuf, (unsigned)kept, &x->env, n->selbuf);
		}
		if (kept < 0)
			return -1;
		if (n->meter != NULL)
			n->meter->removed += (unsigned)rows - (unsigned)kept;
		n->nsel = (unsigned)kept;
		n->sel = n->nsel == n->out.n ? NULL : n->selbuf;
		if (kept > 0)
			return kept;
	}
	return rows;
}
