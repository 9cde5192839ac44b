/* range.c -- finds rows by the ordered indexes of their table: by key, and in the order of keys. */
#include "txn_internal.h"

#include <base/fault.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHUNK = 32,          /* entries that a range looks at together at first ... */
	CHUNK_MAX = TXN_OPS, /* ... and at most; keys that are sought together */
	ALL_MIN = 2,
	/* In the collector's queue: if it is longer, entries that lead nowhere wait for another
	 * scan. */
	JUNK_MAX = 1024,
};

/* ---- an entry, and the block it leads to ---- */

/* No version that a snapshot may show has the key, and no transaction is changing the block: the
 * entry is likely one that a crash has left. The collector looks again. */
static void
leads_nowhere(struct txn *t, struct txn_table_view *v, unsigned order, const uint64_t *key,
    const struct rec_block *img, net_addr at)
{
	struct txn_worker *tw = t->tw;
	bool later;
	if (rec_is_locked(img))
		/* The lock may be of a collector that has died; another look then finds it free. */
		(void)txn_unlock_dead(tw, at, img->word);
	else if (tw->junk[1].n <= JUNK_MAX && !txn_key_needed(tw, v, img, at, order, key, &later) && !later)
		txn_key_junk(tw, v, order, key, at, tso_prefix(tw->db->tso));
}

/* An entry of an order, and what was READ of the block that it leads to. */
struct entry {
	struct txn_table_view *v;
	unsigned order;
	const uint64_t *key; /* NULL: the block's row is wanted, whatever key it has */
	net_addr at;
	bool only;             /* the key is enough */
	uint64_t name;         /* only: in known.c */
	tso_cid cid;           /* if the block's word is this, it is a row's; 0 = not known */
	uint64_t word;         /* cid != 0: the word */
	struct rec_block *img; /* cid == 0: the whole block */
};

static bool
is_enough(const struct txn_only *only, const uint64_t *key)
{
	return only != NULL && (only->enough == NULL || only->enough(only->arg, key));
}

static nam_status
read_block(struct txn *t, struct entry *e, struct nam_arena *arena)
{
	if ((e->img = nam_arena_take(arena, e->v->block_bytes)) == NULL)
		return NAM_NOMEM;
	net_read(&t->batch, e->at, e->img, e->v->block_bytes);
	t->looks.block_reads++;
	return NAM_OK;
}

/*
 * READs what decides about the entries: words or blocks, in one doorbell if there are no more than
 * TXN_OPS, then the blocks whose words have changed. e: view, order, key, at, only.
 */
static nam_status
read_entries(struct txn *t, struct entry *e, unsigned n, struct nam_arena *arena)
{
	struct net_batch *b = &t->batch;
	nam_status st = NAM_OK;
	bool words = false;
	net_batch_init(b, t->tw->w, t->op, TXN_OPS, &t->counts);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		e[i].cid = 0;
		if (e[i].only) {
			e[i].name = txn_known_entry(t->tw, e[i].v, e[i].order, e[i].key, e[i].at);
			e[i].cid = txn_known_get(t->tw, e[i].name);
			if (e[i].cid > txn_sees(t))
				e[i].cid = 0;
		}
		if (b->n == b->cap)
			st = net_run(b);
		if (st == NAM_OK && e[i].cid == 0) {
			st = read_block(t, &e[i], arena);
		} else if (st == NAM_OK) {
			words = true;
			net_read(b, e[i].at, &e[i].word, sizeof e[i].word);
			t->looks.word_reads++;
		}
	}
	if (st == NAM_OK && b->n > 0)
		st = net_run(b);
	for (unsigned i = 0; words && st == NAM_OK && i < n; i++) {
		if (e[i].cid == 0 || e[i].word == e[i].cid || nam_fault(KNOWN_UNASKED))
			continue;
		e[i].cid = 0;
		if (b->n == b->cap)
			st = net_run(b);
		if (st == NAM_OK)
			st = read_block(t, &e[i], arena);
	}
	return st == NAM_OK && b->n > 0 ? net_run(b) : st;
}

/* What the entry shows to t: NAM_OK and *row; NAM_ABSENT: no row. Own writes are the caller's. */
static nam_status
show(struct txn *t, const struct entry *e, struct nam_arena *arena, struct txn_row *row)
{
	struct txn_table_view *v = e->v;
	struct rec_block *img = e->img;
	net_addr at = e->at;
	const struct txn_write *own = txn_own(t, at);
	if (own != NULL && txn_writes(own))
		return NAM_ABSENT;
	if (e->cid != 0) {
		txn_read_set_add(t, at, e->cid);
		*row = (struct txn_row){ .at = at, .cid = e->cid, .newest = e->cid, .key = e->key };
		return NAM_OK;
	}
	unsigned k = 0;
	const struct rec_slot *s = NULL;
	enum rec_found f = txn_rec_resolve(v, img, at, txn_sees(t), &k);
	if (f == REC_HERE) {
		s = rec_slot_of(v, img, k);
	} else if (f != REC_NONE) {
		nam_status st = txn_rec_fetch(t, v, img, at, txn_sees(t), &s, arena);
		if (st != NAM_OK && st != NAM_ABSENT)
			return st;
	}
	unsigned n = txn_rec_newest(v, img);
	uint64_t newest = n == REC_NO_SLOT ? img->word : rec_cid(img, n);
	/* Also a row that is not visible: a commit may make it one of the range, and leave the leaf
	 * as it is. */
	txn_read_set_add(t, at, newest);
	bool live = s != NULL && !(s->meta & REC_DELETED), is = live;
	if (live && e->key != NULL) {
		nam_status st =
		    txn_order_key_is(t->tw, t, v, e->order, s->payload, (uint32_t)s->meta, e->key, &is);
		if (st != NAM_OK)
			return st;
	}
	if (!is) {
		if (e->key != NULL)
			leads_nowhere(t, v, e->order, e->key, img, at);
		return NAM_ABSENT;
	}
	if (e->only && s->cid == newest)
		txn_known_put(t->tw, e->name, newest);
	*row = (struct txn_row){ .at = at,
		.bytes = s->payload,
		.len = (uint32_t)s->meta,
		.cid = s->cid,
		.newest = newest,
		.block = img,
		.key = e->only ? e->key : NULL };
	return NAM_OK;
}

/* Where a look at the table's ordered indexes adds the leaves that prove its answer. */
static nam_status
leaves_of(struct txn *t, struct txn_table *table, struct idx_leaves **out)
{
	*out = NULL;
	if (t->iso != TXN_SERIALIZABLE)
		return NAM_OK;
	*out = &t->leaves;
	for (uint32_t i = t->nranged; i > 0; i--)
		if (t->ranged[i - 1] == table)
			return NAM_OK;
	if (!txn_grow((void **)&t->ranged, t->nranged, &t->ranged_cap, sizeof *t->ranged))
		return NAM_NOMEM;
	t->ranged[t->nranged++] = table;
	return NAM_OK;
}

/* ---- by key ---- */

static nam_status
found(struct txn_seek *s, const struct txn_row *row, struct nam_arena *arena)
{
	if (!s->every) {
		s->status = s->status == NAM_ABSENT ? NAM_OK : NAM_DUPLICATE;
		if (s->status == NAM_OK)
			s->row = *row;
		return NAM_OK;
	}
	/* room for 2, 4, 8, ... rows */
	unsigned n = s->rows;
	if (n == 0 || (n >= ALL_MIN && (n & (n - 1)) == 0)) {
		struct txn_row *more = nam_arena_take(arena, (n < ALL_MIN ? ALL_MIN : 2 * n) * sizeof *more);
		if (more == NULL)
			return NAM_NOMEM;
		if (n > 0)
			memcpy(more, s->all, n * sizeof *more);
		s->all = more;
	}
	s->all[s->rows++] = *row;
	s->status = NAM_OK;
	return NAM_OK;
}

/* A key with more entries than a lookup brings. */
static nam_status
seek_range(struct txn *t, struct txn_seek *s, struct nam_arena *arena)
{
	const struct idx_tree_range one = { .low = s->key, .high = s->key };
	struct txn_range *r;
	struct txn_row row;
	unsigned n = 1;
	nam_status st = txn_range_open(t, s->table, s->order, &one, &r);
	if (st != NAM_OK)
		return st;
	s->status = NAM_ABSENT;
	while (st == NAM_OK && n > 0 && s->status != NAM_DUPLICATE) {
		st = txn_range_next(r, &row, 1, &n);
		if (st == NAM_OK && n > 0 && s->status == NAM_ABSENT)
			st = txn_row_keep(s->table, &row, arena);
		if (st == NAM_OK && n > 0)
			st = found(s, &row, arena);
	}
	txn_range_close(r);
	return st;
}

/* Own rows that have one of the keys. */
static nam_status
seek_own(struct txn *t, struct txn_seek *s, unsigned n, struct nam_arena *arena)
{
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && t->nwr > 0 && i < n; i++) {
		const struct idx_tree_range one = { .low = s[i].key, .high = s[i].key };
		struct txn_own_range r;
		struct txn_row row;
		if (s[i].status == NAM_FULL)
			continue;
		st = txn_own_range_open(t, s[i].table->view, s[i].order, &one, &r);
		while (st == NAM_OK && txn_own_range_next(&r, &row))
			st = found(&s[i], &row, arena);
		txn_own_range_close(&r);
	}
	return st;
}

/* Looks n keys up, and tells what that took. */
static nam_status
look_up(struct txn *t, struct idx_tree_probe *p, unsigned n, struct nam_arena *arena)
{
	uint64_t before = t->counts.verbs[NET_READ];
	nam_status st = idx_tree_lookup_many(t->tw->w, p, n, arena, &t->counts);
	t->looks.keys += n;
	t->looks.node_reads += t->counts.verbs[NET_READ] - before;
	return st;
}

/* The entries of n seeks, one seek's behind the other. */
static nam_status
seek_entries(const struct txn_seek *s, const struct idx_tree_probe *probe, unsigned n,
    struct nam_arena *arena, struct entry **out, unsigned *entries)
{
	unsigned all = 0;
	for (unsigned i = 0; i < n; i++)
		all += probe[i].status == NAM_OK ? probe[i].hits : 0;
	struct entry *e = nam_arena_take(arena, (all + 1) * sizeof *e);
	if (e == NULL)
		return NAM_NOMEM;
	*out = e;
	*entries = all;
	for (unsigned i = 0; i < n; i++) {
		bool only = is_enough(s[i].only, s[i].key);
		for (unsigned h = 0; probe[i].status == NAM_OK && h < probe[i].hits; h++)
			*e++ = (struct entry){ .v = s[i].table->view,
				.order = s[i].order,
				.key = s[i].key,
				.at = { probe[i].hit[h] },
				.only = only };
	}
	return NAM_OK;
}

/* proof: leaves that prove the answer are kept, if t needs any. */
static nam_status
seek_chunk(struct txn *t, struct txn_seek *s, unsigned n, bool proof, struct nam_arena *arena)
{
	struct idx_tree_probe *probe = nam_arena_take(arena, n * sizeof *probe);
	struct entry *e = NULL;
	unsigned entries = 0;
	if (probe == NULL)
		return NAM_NOMEM;
	for (unsigned i = 0; i < n; i++) {
		struct txn_table_view *v = s[i].table->view;
		if (v == NULL || s[i].order >= v->orders)
			return NAM_INVALID;
		struct idx_leaves *leaves = NULL;
		nam_status st = proof ? leaves_of(t, s[i].table, &leaves) : NAM_OK;
		if (st != NAM_OK)
			return st;
		probe[i] =
		    (struct idx_tree_probe){ .tree = v->tree[s[i].order], .key = s[i].key, .leaves = leaves };
		s[i].all = NULL;
		s[i].rows = 0;
	}
	nam_status st = look_up(t, probe, n, arena);
	if (st == NAM_OK)
		st = seek_entries(s, probe, n, arena, &e, &entries);
	if (st == NAM_OK)
		st = read_entries(t, e, entries, arena);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		struct txn_row row;
		if (probe[i].status == NAM_FULL) {
			s[i].status = NAM_FULL;
			continue;
		}
		if (probe[i].status != NAM_OK && probe[i].status != NAM_ABSENT)
			return s[i].status = probe[i].status;
		s[i].status = NAM_ABSENT;
		for (unsigned h = 0; st == NAM_OK && probe[i].status == NAM_OK && h < probe[i].hits; h++) {
			st = show(t, e++, arena, &row);
			if (st == NAM_OK)
				st = found(&s[i], &row, arena);
			else if (st == NAM_ABSENT)
				st = NAM_OK;
		}
	}
	if (st == NAM_OK)
		st = seek_own(t, s, n, arena);
	/* The range shows own rows itself. */
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		if (s[i].status == NAM_FULL && !s[i].every)
			st = seek_range(t, &s[i], arena);
	return st;
}

/* No two rows have one key of that order. */
static bool
is_strict(const struct txn_seek *s)
{
	const struct txn_table_view *v = s->table->view;
	return v != NULL && s->order < v->orders && v->order[s->order].unique &&
	       v->order[s->order].lax == NULL;
}

/*
 * SERIALIZABLE, keys of which no two rows have the same: a row that is found proves the answer, for
 * it is in the read set, and as long as it is there no other row has the key. So leaves, which
 * neighbours change, are kept only for keys that are not found.
 */
static nam_status
seek_strict(struct txn *t, struct txn_seek *s, unsigned n, struct nam_arena *arena)
{
	struct txn_seek *rest = nam_arena_take(arena, n * sizeof *rest);
	unsigned m = 0;
	if (rest == NULL)
		return NAM_NOMEM;
	nam_status st = seek_chunk(t, s, n, false, arena);
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		if (s[i].status != NAM_OK || (s[i].every && s[i].rows != 1))
			rest[m++] = s[i];
	if (st != NAM_OK || m == 0)
		return st;
	st = seek_chunk(t, rest, m, true, arena);
	for (unsigned i = 0, k = 0; k < m; i++)
		if (s[i].status != NAM_OK || (s[i].every && s[i].rows != 1))
			s[i] = rest[k++];
	return st;
}

nam_status
txn_seek(struct txn *t, struct txn_seek *s, unsigned n, struct nam_arena *arena)
{
	if (t->latest)
		return NAM_UNSUPPORTED;
	nam_status st = NAM_OK;
	bool strict = t->iso == TXN_SERIALIZABLE;
	for (unsigned i = 0; strict && i < n; i++)
		strict = is_strict(&s[i]);
	for (unsigned i = 0; st == NAM_OK && i < n; i += CHUNK_MAX) {
		unsigned some = n - i < CHUNK_MAX ? n - i : CHUNK_MAX;
		st = strict ? seek_strict(t, s + i, some, arena) : seek_chunk(t, s + i, some, true, arena);
	}
	return st;
}

/* ---- in order ---- */

struct txn_range {
	struct txn *t;
	struct txn_table_view *v;
	unsigned order, words;
	bool descending, ended;
	const struct txn_only *only;
	struct idx_tree_scan *scan;
	struct nam_arena arena; /* images of the entries at hand */
	unsigned n, at;         /* entries at hand, and the next one */
	unsigned chunk;         /* entries to look at next */
	struct txn_own_range own;
	/* from here on nothing is zeroed */
	uint64_t key[CHUNK_MAX * IDX_TREE_WORDS], value[CHUNK_MAX];
	struct entry entry[CHUNK_MAX];
	struct txn_row row[CHUNK_MAX];
	bool shown[CHUNK_MAX];
};

static int
key_order(const uint64_t *a, const uint64_t *b, unsigned words)
{
	for (unsigned i = 0; i < words; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

nam_status
txn_range_open(struct txn *t, struct txn_table *table, unsigned order, const struct idx_tree_range *range,
    struct txn_range **out)
{
	struct txn_table_view *v = table->view;
	if (t->latest)
		return NAM_UNSUPPORTED;
	if (v == NULL || order >= v->orders)
		return NAM_INVALID;
	struct txn_range *r = malloc(sizeof *r);
	if (r == NULL)
		return NAM_NOMEM;
	memset(r, 0, offsetof(struct txn_range, key));
	r->t = t;
	r->v = v;
	r->order = order;
	r->words = v->order[order].words;
	r->descending = range->descending;
	r->chunk = range->expect > 0 && range->expect < CHUNK ? range->expect : CHUNK;
	nam_arena_init(&r->arena, 0);
	struct idx_leaves *leaves;
	nam_status st = leaves_of(t, table, &leaves);
	r->scan = st == NAM_OK ? idx_tree_scan_open(v->tree[order], range, leaves) : NULL;
	t->looks.ranges++;
	st = r->scan != NULL ? txn_own_range_open(t, v, order, range, &r->own) : NAM_NOMEM;
	if (st != NAM_OK) {
		txn_range_close(r);
		return st;
	}
	*out = r;
	return NAM_OK;
}

void
txn_range_only(struct txn_range *r, const struct txn_only *only)
{
	r->only = only;
}

/* The next entries of a scan, and what that took. */
static nam_status
scan_on(struct txn *t, struct idx_tree_scan *scan, uint64_t *key, uint64_t *value, unsigned cap, unsigned *n)
{
	uint64_t before = t->counts.verbs[NET_READ];
	nam_status st = idx_tree_scan_next(t->tw->w, scan, key, value, cap, n, &t->counts);
	t->looks.node_reads += t->counts.verbs[NET_READ] - before;
	return st;
}

/* The next entries, and what decides about them. */
static nam_status
more(struct txn_range *r)
{
	struct txn *t = r->t;
	nam_arena_reset(&r->arena);
	r->n = r->at = 0;
	unsigned n;
	nam_status st = scan_on(t, r->scan, r->key, r->value, r->chunk, &n);
	if (st != NAM_OK)
		return st;
	r->chunk = r->chunk < CHUNK_MAX / 2 ? 2 * r->chunk : CHUNK_MAX;
	r->ended = n == 0;
	for (unsigned i = 0; i < n; i++) {
		const uint64_t *key = r->key + i * r->words;
		r->entry[i] = (struct entry){ .v = r->v,
			.order = r->order,
			.key = key,
			.at = { r->value[i] },
			.only = is_enough(r->only, key) };
	}
	if ((st = read_entries(t, r->entry, n, &r->arena)) != NAM_OK)
		return st;
	for (unsigned i = 0; i < n; i++) {
		st = show(t, &r->entry[i], &r->arena, &r->row[i]);
		if (st != NAM_OK && st != NAM_ABSENT)
			return st;
		r->shown[i] = st == NAM_OK;
	}
	r->n = n;
	return NAM_OK;
}

/* True if the next own row comes before the entry at hand. */
static bool
own_first(const struct txn_range *r)
{
	const uint64_t *own = txn_own_range_key(&r->own);
	if (own == NULL || r->at == r->n)
		return own != NULL;
	int order = key_order(own, r->key + r->at * r->words, r->words);
	return r->descending ? order > 0 : order < 0;
}

nam_status
txn_range_next(struct txn_range *r, struct txn_row *rows, unsigned max, unsigned *n)
{
	nam_status st = NAM_OK;
	*n = 0;
	while (*n < max) {
		if (r->at == r->n && !r->ended) {
			/* The rows at hand are the caller's until the next call. */
			if (*n > 0)
				break;
			if ((st = more(r)) != NAM_OK)
				break;
			continue;
		}
		if (own_first(r)) {
			(void)txn_own_range_next(&r->own, &rows[(*n)++]);
			continue;
		}
		if (r->at == r->n)
			break;
		if (r->shown[r->at])
			rows[(*n)++] = r->row[r->at];
		r->at++;
	}
	return st;
}

void
txn_range_close(struct txn_range *r)
{
	if (r->scan != NULL)
		idx_tree_scan_close(r->scan);
	nam_arena_fini(&r->arena);
	txn_own_range_close(&r->own);
	free(r);
}

/* ---- blocks, without their rows ---- */

static nam_status
add_blocks(struct txn_blocks *b, const uint64_t *at, unsigned n, struct nam_arena *arena)
{
	if (b->cap - b->n < n) {
		size_t cap = 2 * b->cap + n;
		net_addr *more = nam_arena_take(arena, cap * sizeof *more);
		if (more == NULL)
			return NAM_NOMEM;
		if (b->n > 0)
			memcpy(more, b->at, b->n * sizeof *more);
		b->at = more;
		b->cap = cap;
	}
	for (unsigned i = 0; i < n; i++)
		b->at[b->n++].bits = at[i];
	return NAM_OK;
}

static nam_status
blocks_of_range(struct txn *t, struct idx_tree *tree, struct idx_leaves *leaves,
    const struct idx_tree_range *range, struct txn_blocks *out, struct nam_arena *arena)
{
	uint64_t value[CHUNK_MAX];
	struct idx_tree_scan *scan = idx_tree_scan_open(tree, range, leaves);
	nam_status st = scan != NULL ? NAM_OK : NAM_NOMEM;
	t->looks.ranges++;
	for (unsigned n = 1; st == NAM_OK && n > 0;) {
		st = scan_on(t, scan, NULL, value, CHUNK_MAX, &n);
		if (st == NAM_OK)
			st = add_blocks(out, value, n, arena);
		if (st == NAM_OK)
			st = txn_go_on(t);
	}
	idx_tree_scan_close(scan);
	return st;
}

/* A range of one key with few entries, which a lookup brings together with those of other keys. */
static bool
is_key(const struct idx_tree_range *range, unsigned words)
{
	return range->expect > 0 && range->expect <= IDX_HITS_MAX && range->low != NULL &&
	       range->high != NULL && !range->low_open && !range->high_open &&
	       key_order(range->low, range->high, words) == 0;
}

/* Ranges of one key each. */
static nam_status
blocks_of_keys(struct txn *t, struct idx_tree *tree, struct idx_leaves *leaves,
    const struct idx_tree_range *range, unsigned n, struct txn_blocks *out, struct nam_arena *arena)
{
	struct idx_tree_probe *p = nam_arena_take(arena, n * sizeof *p);
	if (p == NULL)
		return NAM_NOMEM;
	for (unsigned i = 0; i < n; i++)
		p[i] = (struct idx_tree_probe){ .tree = tree, .key = range[i].low, .leaves = leaves };
	nam_status st = look_up(t, p, n, arena);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		if (p[i].status == NAM_FULL)
			st = blocks_of_range(t, tree, leaves, &range[i], out, arena);
		else if (p[i].status == NAM_OK)
			st = add_blocks(out, p[i].hit, p[i].hits, arena);
		else if (p[i].status != NAM_ABSENT)
			st = p[i].status;
	}
	return st;
}

nam_status
txn_range_blocks(struct txn *t, struct txn_table *table, unsigned order, const struct idx_tree_range *range,
    unsigned n, struct txn_blocks *out, struct nam_arena *arena)
{
	struct txn_table_view *v = table->view;
	nam_status st = NAM_OK;
	if (t->latest)
		return NAM_UNSUPPORTED;
	if (v == NULL || order >= v->orders)
		return NAM_INVALID;
	struct idx_leaves *leaves;
	st = leaves_of(t, table, &leaves);
	for (unsigned i = 0, keys; st == NAM_OK && i < n; i += keys + (keys == 0)) {
		for (keys = 0; i + keys < n && keys < CHUNK_MAX; keys++)
			if (!is_key(&range[i + keys], v->order[order].words))
				break;
		st = keys > 0 ? blocks_of_keys(t, v->tree[order], leaves, range + i, keys, out, arena)
			      : blocks_of_range(t, v->tree[order], leaves, &range[i], out, arena);
	}
	return st;
}

nam_status
txn_rows_of_blocks(struct txn *t, struct txn_table *table, const net_addr *at, unsigned n,
    struct txn_row *rows, unsigned *got, struct nam_arena *arena)
{
	struct entry *e = nam_arena_take(arena, (n + 1) * sizeof *e);
	*got = 0;
	if (e == NULL)
		return NAM_NOMEM;
	for (unsigned i = 0; i < n; i++)
		e[i] = (struct entry){ .v = table->view, .at = at[i] };
	nam_status st = read_entries(t, e, n, arena);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		st = show(t, &e[i], arena, &rows[*got]);
		*got += st == NAM_OK;
		if (st == NAM_ABSENT)
			st = NAM_OK;
	}
	return st;
}
static_assert((int)TXN_BLOCKS_TOGETHER == (int)TXN_OPS, "blocks of one doorbell");

nam_status
txn_range_own(struct txn *t, struct txn_table *table, unsigned order, const struct idx_tree_range *range,
    unsigned n, struct txn_own_rows *out, struct nam_arena *arena)
{
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && t->nwr > 0 && i < n; i++) {
		struct txn_own_range r;
		struct txn_row row;
		st = txn_own_range_open(t, table->view, order, &range[i], &r);
		while (st == NAM_OK && txn_own_range_next(&r, &row)) {
			if (out->n == out->cap) {
				size_t cap = 2 * out->cap + 16;
				struct txn_row *more = nam_arena_take(arena, cap * sizeof *more);
				if (more == NULL) {
					st = NAM_NOMEM;
					break;
				}
				if (out->n > 0)
					memcpy(more, out->row, out->n * sizeof *more);
				out->row = more;
				out->cap = cap;
			}
			out->row[out->n++] = row;
		}
		txn_own_range_close(&r);
	}
	return st;
}

const struct txn_looks *
txn_looked(const struct txn *t)
{
	return &t->looks;
}

void
txn_order_counts(const struct txn_table *t, unsigned order, struct idx_tree_counts *out)
{
	*out = (struct idx_tree_counts){ 0 };
	if (t->view != NULL && order < t->view->orders)
		idx_tree_counts(t->view->tree[order], out);
}
