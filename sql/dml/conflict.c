/*
 * conflict.c -- INSERT ... ON CONFLICT: looks every key up, inserts missing rows, changes existing
 * ones.
 *
 * A batch goes in rounds: a key comes once in each, so a second row of the same key meets what the
 * first one left. What this command has written is remembered by key: DO UPDATE may not touch it
 * again.
 */
#include <base/hash.h>
#include <sql/dml/dml_internal.h>

#include <stdio.h>

struct key {
	struct cat_str bytes;
	uint64_t hash;
};

/* A set of keys, open addressing; grows by making a new table. */
struct sql_seen {
	struct nam_arena *arena;
	struct key *slot; /* bytes.p NULL = free */
	uint32_t mask, n;
};

static struct key *
place_of(const struct sql_seen *s, const struct key *k)
{
	uint32_t i = (uint32_t)nam_mix(k->hash) & s->mask;
	while (s->slot[i].bytes.p != NULL &&
	       (s->slot[i].hash != k->hash || s->slot[i].bytes.len != k->bytes.len ||
		   memcmp(s->slot[i].bytes.p, k->bytes.p, k->bytes.len) != 0))
		i = (i + 1) & s->mask;
	return &s->slot[i];
}

static bool
holds(const struct sql_seen *s, const struct key *k)
{
	return s->n > 0 && place_of(s, k)->bytes.p != NULL;
}

static bool
seen_init(struct sql_seen *s, struct nam_arena *arena, uint32_t room)
{
	uint32_t cap = 16;
	while (cap < room * 2)
		cap *= 2;
	*s = (struct sql_seen){ .arena = arena, .mask = cap - 1 };
	return (s->slot = nam_arena_zero(arena, cap * sizeof *s->slot)) != NULL;
}

/* The key's bytes are borrowed unless copy says otherwise. */
static bool
add(struct sql_seen *s, const struct key *k, bool copy)
{
	if ((s->n + 1) * 2 > s->mask) {
		struct sql_seen more;
		if (!seen_init(&more, s->arena, s->mask + 1))
			return false;
		for (uint32_t i = 0; i <= s->mask; i++)
			if (s->slot[i].bytes.p != NULL)
				*place_of(&more, &s->slot[i]) = s->slot[i];
		s->slot = more.slot;
		s->mask = more.mask;
	}
	struct key *to = place_of(s, k);
	if (to->bytes.p != NULL)
		return true;
	*to = *k;
	if (copy && (to->bytes.p = nam_arena_copy(s->arena, k->bytes.p, k->bytes.len + 1)) == NULL)
		return false;
	s->n++;
	return true;
}

bool
sql_conflict_open(struct sql_exec *x, struct sql_plan *p, struct sql_seen **out)
{
	struct nam_arena *keep = x->arena[p->arena_base + 2];
	*out = nam_arena_take(keep, sizeof **out);
	return (*out != NULL && seen_init(*out, keep, 16)) || sql_no_memory(x->err);
}

/* ---- one batch ---------------------------------------------------------------------- */

struct round {
	struct sql_exec *x;
	struct sql_plan *p;
	struct sql_seen *seen;
	struct sql_batch *b; /* what is to be inserted; then what RETURNING shows */
	struct nam_arena *arena;
	struct sql_row *row;
	struct key *key;
	struct txn_get *get;
	struct txn_put *put;
	uint16_t *src; /* of the rows that are there: whose each is */
	struct txn_row *old;
	uint8_t *done; /* written: its row is answered */
	struct sql_change change;
};

static bool
lost_race(struct sql_exec *x)
{
	return cat_error(x->err, "40001", "could not serialize access due to concurrent update");
}

/* Inserts rows src[0..n). */
static bool
insert(struct round *r, const uint16_t *src, unsigned n)
{
	struct sql_exec *x = r->x;
	const struct cat_table *tab = r->p->tab;
	for (unsigned i = 0; i < n; i++) {
		unsigned k = src[i];
		struct cat_str bytes;
		if (!sql_dml_row(x, tab, &r->row[k], &bytes, r->arena))
			return false;
		r->put[i] = (struct txn_put){ .table = (struct txn_table *)&tab->store,
			.key = r->key[k].bytes.p,
			.key_len = r->key[k].bytes.len,
			.hash = r->key[k].hash,
			.bytes = bytes.p,
			.len = bytes.len };
	}
	if (n == 0)
		return true;
	nam_status st = txn_insert(x->t, r->put, n);
	if (st == NAM_DUPLICATE) /* committed since our snapshot */
		return lost_race(x);
	if (st != NAM_OK)
		return sql_status(x->err, st, tab);
	for (unsigned i = 0; i < n; i++)
		r->done[src[i]] = 1;
	return tab->indexes == 0 || sql_dml_unique(x, r->arena);
}

static bool
lock(struct round *r, unsigned n)
{
	nam_status *each = nam_arena_take(r->arena, n * sizeof *each);
	if (each == NULL)
		return sql_no_memory(r->x->err);
	for (unsigned i = 0; i < n; i++)
		each[i] = NAM_OK;
	nam_status st = txn_lock_many(r->x->t, (struct txn_table *)&r->p->tab->store, r->old, each, n);
	for (unsigned i = 0; i < n; i++) {
		if (each[i] == NAM_ABSENT) /* deleted while we waited */
			return lost_race(r->x);
		if (each[i] != NAM_OK)
			return sql_status(r->x->err, each[i], r->p->tab);
	}
	return st == NAM_OK || sql_status(r->x->err, st, r->p->tab);
}

/* Changes the n rows of r->old, each for the row r->src names. */
static bool
update(struct round *r, unsigned n)
{
	struct sql_exec *x = r->x;
	const struct sql_conflict *q = r->p->conflict;
	const struct cat_table *tab = r->p->tab;
	unsigned cols = tab->columns;
	if (n == 0)
		return true;
	struct sql_batch wide = { .cols = cols * 2, .n = n }, nb;
	uint16_t *want = nam_arena_take(r->arena, cols * sizeof *want);
	uint16_t *live = nam_arena_take(r->arena, n * sizeof *live);
	wide.col = nam_arena_take(r->arena, cols * 2 * sizeof *wide.col);
	if (want == NULL || live == NULL || wide.col == NULL)
		return sql_no_memory(x->err);
	for (unsigned c = 0; c < cols; c++)
		want[c] = (uint16_t)c;
	if (!lock(r, n))
		return false;
	nam_status st = cat_rows_decode(tab, x->t, r->old, n, want, cols, wide.col, r->arena);
	if (st != NAM_OK)
		return sql_status(x->err, st, tab);
	for (unsigned c = 0; c < cols; c++)
		if (!sql_gather(&wide.col[cols + c], &r->b->col[c], r->src, n, r->arena))
			return sql_no_memory(x->err);
	memcpy(live, sql_ident(), n * sizeof *live);
	int kept = (int)n;
	x->env.arena = r->arena;
	if (q->where != NULL && (kept = sql_filter(q->where, &wide, live, n, &x->env, live)) < 0)
		return false;
	if (kept == 0)
		return true;
	if (!sql_dml_update(&r->change, &wide, r->old, live, (unsigned)kept, &nb, r->arena))
		return false;
	for (int i = 0; i < kept; i++) {
		unsigned k = r->src[live[i]];
		for (unsigned c = 0; c < cols; c++)
			cat_vec_set(
			    &r->b->col[c], k, cat_vec_at(&nb.col[c], live[i]), nb.col[c].null[live[i]]);
		r->done[k] = 1;
	}
	return true;
}

/* Takes out of todo[0..*n) rows of different keys and deals with them. */
static bool
one_round(struct round *r, uint16_t *todo, unsigned *n)
{
	struct sql_exec *x = r->x;
	bool twice = r->p->conflict->update;
	unsigned left = 0, m = 0, fresh = 0, there = 0;
	uint16_t *now = nam_arena_take(r->arena, *n * sizeof *now);
	struct sql_seen here;
	if (now == NULL || !seen_init(&here, r->arena, *n))
		return sql_no_memory(x->err);
	for (unsigned i = 0; i < *n; i++) {
		const struct key *k = &r->key[todo[i]];
		if (r->seen != NULL && holds(r->seen, k)) {
			if (!twice)
				continue;
			cat_error(
			    x->err, "21000", "ON CONFLICT DO UPDATE command cannot affect row a second time");
			snprintf(x->err->hint, sizeof x->err->hint,
			    "Ensure that no rows proposed for insertion within the same command have "
			    "duplicate "
			    "constrained values.");
			return false;
		}
		if (holds(&here, k)) {
			todo[left++] = todo[i];
			continue;
		}
		if (!add(&here, k, false))
			return sql_no_memory(x->err);
		r->get[m] = (struct txn_get){ .table = (struct txn_table *)&r->p->tab->store,
			.key = k->bytes.p,
			.key_len = k->bytes.len,
			.hash = k->hash };
		now[m++] = todo[i];
	}
	*n = left;
	nam_status st = txn_get(x->t, r->get, m, r->arena);
	for (unsigned i = 0; i < m && st == NAM_OK; i++)
		if (r->get[i].status == NAM_OK) {
			r->src[there] = now[i];
			r->old[there++] = r->get[i].row;
		} else if (r->get[i].status == NAM_ABSENT) {
			now[fresh++] = now[i];
		} else {
			st = r->get[i].status;
		}
	if (st != NAM_OK)
		return sql_status(x->err, st, r->p->tab);
	if (!insert(r, now, fresh) || (twice && !update(r, there)))
		return false;
	for (unsigned i = 0; r->seen != NULL && i < fresh + there; i++) {
		unsigned k = i < fresh ? now[i] : r->src[i - fresh];
		if (r->done[k] && !add(r->seen, &r->key[k], true))
			return sql_no_memory(x->err);
	}
	return true;
}

bool
sql_conflict_batch(struct sql_exec *x, struct sql_plan *p, struct sql_seen *seen, struct sql_batch *b,
    struct nam_arena *arena, uint64_t *count)
{
	const struct cat_table *tab = p->tab;
	unsigned n = b->n, m = 0;
	struct round r = { .x = x, .p = p, .seen = seen, .b = b, .arena = arena };
	r.row = nam_arena_take(arena, n * sizeof *r.row);
	r.key = nam_arena_take(arena, n * sizeof *r.key);
	r.get = nam_arena_take(arena, n * sizeof *r.get);
	r.put = nam_arena_take(arena, n * sizeof *r.put);
	r.src = nam_arena_take(arena, n * sizeof *r.src);
	r.old = nam_arena_take(arena, n * sizeof *r.old);
	r.done = nam_arena_zero(arena, n);
	uint16_t *todo = nam_arena_take(arena, n * sizeof *todo);
	if (r.row == NULL || r.key == NULL || r.get == NULL || r.put == NULL || r.src == NULL ||
	    r.old == NULL || r.done == NULL || todo == NULL)
		return sql_no_memory(x->err);
	r.change = (struct sql_change){ .x = x, .p = p, .sets = &p->conflict->sets };
	r.change.last = &r.change.moved;
	if (!sql_check_rows(x, tab, b, NULL, n, arena))
		return false;
	for (unsigned k = 0; k < n; k++) {
		todo[k] = (uint16_t)k;
		if (!sql_dml_new(x, tab, &r.row[k], arena) ||
		    !sql_dml_take(x, tab, b->col, k, &r.row[k], NULL, tab->columns, arena) ||
		    !sql_dml_key(x, tab, &r.row[k], &r.key[k].bytes, &r.key[k].hash, arena))
			return false;
	}
	while (n > 0)
		if (!one_round(&r, todo, &n) || !sql_go_on(x))
			return false;
	if (r.change.moved != NULL && !sql_dml_settle(&r.change, arena))
		return false;
	if (tab->indexes > 0 && !sql_dml_unique(x, arena))
		return false;
	for (unsigned k = 0; k < b->n; k++)
		if (r.done[k])
			todo[m++] = (uint16_t)k;
	*count += m;
	return sql_dml_answer(x, p, b, todo, m, arena);
}
