/*
 * conflict.c -- INSERT ... ON CONFLICT: looks every key up, inserts missing rows, changes existing
 * ones.
 *
 * A batch goes in rounds, each a piece of it from its beginning: a unique key comes once in a
 * round, so a row meets what the rows before it have left. If DO UPDATE changes a unique key, each
 * round has one row, and ends with that row's new keys in their places. What this command has
 * written is remembered by the keys that it has now: DO UPDATE may not touch it again, so they
 * stay.
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
	if (copy) {
		char *own = nam_arena_take(s->arena, k->bytes.len + 1);
		if (own == NULL)
			return false;
		memcpy(own, k->bytes.p, k->bytes.len);
		to->bytes.p = own;
	}
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
	/* The table's unique keys: the arbiters first, then all others. */
	int unique[1 + CAT_INDEXES_MAX];
	unsigned uniques;
	struct key *key; /* of row k by unique u: key[u * rows + k]; bytes.p NULL = none */
	unsigned rows;
	struct txn_get *get;
	struct txn_put *put;
	uint16_t *src; /* of the rows that are there: whose each is */
	struct txn_row *old;
	uint8_t *done; /* written: its row is answered */
	bool moves;    /* DO UPDATE changes a unique key */
	struct sql_change change;
};

static bool
lost_race(struct sql_exec *x)
{
	return cat_error(x->err, "40001", "could not serialize access due to concurrent update");
}

static bool
is_arbiter(const struct sql_conflict *q, int what)
{
	for (unsigned a = 0; a < q->arbiters; a++)
		if (q->arbiter[a] == what)
			return true;
	return false;
}

/* Inserts rows src[0..n). */
static bool
insert(struct round *r, const uint16_t *src, unsigned n)
{
	struct sql_exec *x = r->x;
	const struct cat_table *tab = r->p->tab;
	const struct sql_conflict *q = r->p->conflict;
	struct sql_row *row = nam_arena_take(r->arena, (n + 1) * sizeof *row);
	int which = SQL_PRIMARY_KEY;
	if (row == NULL)
		return sql_no_memory(x->err);
	for (unsigned i = 0; i < n; i++) {
		row[i] = r->row[src[i]];
		if (!sql_dml_put(x, tab, &row[i], &r->put[i], r->arena))
			return false;
	}
	if (n == 0)
		return true;
	bool ok = sql_dml_insert_what(x, tab, r->put, row, n, r->arena, &which);
	/* committed since our snapshot */
	if (!ok && strcmp(x->err->sqlstate, "23505") == 0 && is_arbiter(q, which)) {
		sql_err_clear(x->err);
		return lost_race(x);
	}
	for (unsigned i = 0; ok && i < n; i++)
		r->done[src[i]] = 1;
	return ok;
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

/* The key of a row by unique u; bytes.p NULL = it conflicts with none. */
static bool
make_key(struct round *r, unsigned u, const struct sql_row *row, struct key *key)
{
	struct sql_exec *x = r->x;
	const struct cat_table *tab = r->p->tab;
	int which = r->unique[u];
	bool null;
	if (which == SQL_PRIMARY_KEY)
		return sql_dml_key(x, tab, row, &key->bytes, &key->hash, r->arena);
	const struct cat_index *ix = &tab->index[which];
	uint64_t *words = nam_arena_zero(r->arena, IDX_TREE_WORDS * sizeof *words);
	if (words == NULL)
		return sql_no_memory(x->err);
	if (!cat_index_key(tab, ix, row->v, row->null, words, &null, r->arena, x->err))
		return false;
	bool none = null && !ix->nulls_equal;
	key->bytes = (struct cat_str){ none ? NULL : (const char *)words, 8 * ix->words };
	key->hash = nam_hash(words, 8 * ix->words, (uint64_t)which + 1);
	return true;
}

/* Remembers the keys that row k of new has. */
static bool
remember(struct round *r, const struct sql_batch *new, unsigned k)
{
	const struct cat_table *tab = r->p->tab;
	struct sql_row row;
	if (r->seen == NULL)
		return true;
	if (!sql_dml_new(r->x, tab, &row, r->arena) ||
	    !sql_dml_take(r->x, tab, new->col, k, &row, NULL, tab->columns, r->arena))
		return false;
	for (unsigned a = 0; a < r->p->conflict->arbiters; a++) {
		struct key key = { .hash = 0 };
		if (!make_key(r, a, &row, &key))
			return false;
		if (key.bytes.p != NULL && !add(r->seen, &key, true))
			return sql_no_memory(r->x->err);
	}
	return true;
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
		if (!remember(r, &nb, live[i]))
			return false;
		for (unsigned c = 0; c < cols; c++)
			cat_vec_set(
			    &r->b->col[c], k, cat_vec_at(&nb.col[c], live[i]), nb.col[c].null[live[i]]);
		r->done[k] = 1;
	}
	return true;
}

static const struct key *
key_of(const struct round *r, unsigned u, unsigned k)
{
	return &r->key[u * r->rows + k];
}

/* True if s holds one of the row's first n unique keys. */
static bool
holds_one(const struct round *r, unsigned n, const struct sql_seen *s, unsigned k)
{
	bool any = false;
	for (unsigned u = 0; u < n && !any; u++)
		any = key_of(r, u, k)->bytes.p != NULL && holds(s, key_of(r, u, k));
	return any;
}

static bool
add_all(const struct round *r, unsigned n, struct sql_seen *s, unsigned k, bool copy)
{
	for (unsigned u = 0; u < n; u++)
		if (key_of(r, u, k)->bytes.p != NULL && !add(s, key_of(r, u, k), copy))
			return false;
	return true;
}

/* Looks for rows that now[0..m) conflict with by arbiter a; there[i]: one is found. */
static nam_status
find(struct round *r, unsigned a, const uint16_t *now, unsigned m, struct txn_row **there)
{
	struct txn_table *store = (struct txn_table *)&r->p->tab->store;
	int which = r->p->conflict->arbiter[a];
	struct txn_seek *s = nam_arena_zero(r->arena, (m + 1) * sizeof *s);
	unsigned n = 0;
	nam_status st = s != NULL ? NAM_OK : NAM_NOMEM;
	for (unsigned i = 0; st == NAM_OK && i < m; i++) {
		const struct key *k = key_of(r, a, now[i]);
		if (which == SQL_PRIMARY_KEY)
			r->get[i] = (struct txn_get){
				.table = store, .key = k->bytes.p, .key_len = k->bytes.len, .hash = k->hash
			};
		else if (k->bytes.p != NULL)
			s[n++] = (struct txn_seek){ .table = store,
				.order = (unsigned)which,
				.key = (const uint64_t *)(const void *)k->bytes.p };
	}
	if (st == NAM_OK)
		st = which == SQL_PRIMARY_KEY ? txn_get(r->x->t, r->get, m, r->arena)
					      : txn_seek(r->x->t, s, n, r->arena);
	for (unsigned i = 0, j = 0; st == NAM_OK && i < m; i++) {
		bool pk = which == SQL_PRIMARY_KEY;
		if (!pk && key_of(r, a, now[i])->bytes.p == NULL)
			continue;
		nam_status one = pk ? r->get[i].status : s[j].status;
		struct txn_row *row = pk ? &r->get[i].row : &s[j].row;
		j += !pk;
		if (one == NAM_OK && there[i] == NULL) {
			if ((there[i] = nam_arena_copy(r->arena, row, sizeof *row)) == NULL)
				st = NAM_NOMEM;
		} else if (one != NAM_OK && one != NAM_ABSENT) {
			/* Two rows of one key: the index became unique after t's snapshot, which
			 * shows rows of before. */
			st = one == NAM_DUPLICATE ? NAM_CONFLICT : one;
		}
	}
	return st;
}

static bool
twice(struct sql_exec *x)
{
	cat_error(x->err, "21000", "ON CONFLICT DO UPDATE command cannot affect row a second time");
	snprintf(x->err->hint, sizeof x->err->hint,
	    "Ensure that no rows proposed for insertion within the same command have duplicate "
	    "constrained values.");
	return false;
}

/* Deals with the first rows of todo[0..n) that have no unique key in common. *did: so many. */
static bool
one_round(struct round *r, const uint16_t *todo, unsigned n, unsigned *did)
{
	struct sql_exec *x = r->x;
	const struct sql_conflict *q = r->p->conflict;
	unsigned i = 0, m = 0, fresh = 0, there = 0;
	uint16_t *now = nam_arena_take(r->arena, n * sizeof *now);
	struct txn_row **found = nam_arena_zero(r->arena, n * sizeof *found);
	struct sql_seen here;
	if (now == NULL || found == NULL || !seen_init(&here, r->arena, 16))
		return sql_no_memory(x->err);
	for (; i < n && (m == 0 || !r->moves); i++) {
		/* It conflicts with what this command has written. */
		if (r->seen != NULL && holds_one(r, q->arbiters, r->seen, todo[i])) {
			if (q->update && m == 0)
				return twice(x);
			if (q->update)
				break;
			continue;
		}
		if (holds_one(r, r->uniques, &here, todo[i]))
			break;
		if (!add_all(r, r->uniques, &here, todo[i], false))
			return sql_no_memory(x->err);
		now[m++] = todo[i];
	}
	*did = i;
	nam_status st = NAM_OK;
	for (unsigned a = 0; st == NAM_OK && a < q->arbiters; a++)
		st = find(r, a, now, m, found);
	if (st != NAM_OK)
		return sql_status(x->err, st, r->p->tab);
	for (i = 0; i < m; i++)
		if (found[i] != NULL) {
			r->src[there] = now[i];
			r->old[there++] = *found[i];
		} else {
			now[fresh++] = now[i];
		}
	if (!insert(r, now, fresh) || (q->update && !update(r, there)))
		return false;
	for (i = 0; r->seen != NULL && i < fresh; i++)
		if (r->done[now[i]] && !add_all(r, q->arbiters, r->seen, now[i], true))
			return sql_no_memory(x->err);
	return true;
}

/* The unique keys of the table, and whether DO UPDATE sets a column of one. */
static void
list_uniques(struct round *r)
{
	const struct sql_conflict *q = r->p->conflict;
	const struct cat_table *tab = r->p->tab;
	for (; r->uniques < q->arbiters; r->uniques++)
		r->unique[r->uniques] = q->arbiter[r->uniques];
	if (cat_is_hashed(tab) && !is_arbiter(q, SQL_PRIMARY_KEY))
		r->unique[r->uniques++] = SQL_PRIMARY_KEY;
	r->moves = q->update && q->sets.key;
	for (unsigned i = 0; i < tab->indexes; i++) {
		const struct cat_index *ix = &tab->index[i];
		if (!ix->unique)
			continue;
		if (!is_arbiter(q, (int)i))
			r->unique[r->uniques++] = (int)i;
		for (unsigned k = 0; q->update && k < ix->keys; k++)
			for (unsigned s = 0; s < q->sets.sets; s++)
				r->moves |= q->sets.set[s] == ix->key[k].column;
	}
}

/* Puts rows into their places that DO UPDATE has given another primary key, and looks for two rows
 * with one key. */
static bool
settle(struct round *r)
{
	if (!sql_dml_settle(&r->change))
		return false;
	r->change.moved = NULL;
	r->change.last = &r->change.moved;
	return r->p->tab->indexes == 0 || sql_dml_unique(r->x, r->arena, NULL);
}

bool
sql_conflict_batch(struct sql_exec *x, struct sql_plan *p, struct sql_seen *seen, struct sql_batch *b,
    struct nam_arena *arena, uint64_t *count)
{
	const struct cat_table *tab = p->tab;
	unsigned n = b->n, m = 0;
	struct round r = { .x = x, .p = p, .seen = seen, .b = b, .arena = arena };
	r.row = nam_arena_take(arena, n * sizeof *r.row);
	r.rows = n;
	list_uniques(&r);
	r.key = nam_arena_zero(arena, n * r.uniques * sizeof *r.key);
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
		    !sql_dml_take(x, tab, b->col, k, &r.row[k], NULL, tab->columns, arena))
			return false;
		for (unsigned u = 0; u < r.uniques; u++)
			if (!make_key(&r, u, &r.row[k], &r.key[u * r.rows + k]))
				return false;
	}
	for (unsigned from = 0, did = 0; from < n; from += did)
		if (!one_round(&r, todo + from, n - from, &did) || (r.moves && !settle(&r)) || !sql_go_on(x))
			return false;
	if (!settle(&r))
		return false;
	for (unsigned k = 0; k < b->n; k++)
		if (r.done[k])
			todo[m++] = (uint16_t)k;
	*count += m;
	return sql_dml_answer(x, p, b, todo, m, arena);
}
