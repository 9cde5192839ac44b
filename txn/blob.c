/*
 * blob.c -- memory for values that a row names by their address; long ones take whole extents,
 * which need not be adjacent.
 *
 * A short value is cut from an extent (alloc.c). A long one has a root extent that lists further
 * ones (spread_format.h). The root's head is WRITTEN when the memory is taken, the bytes with step
 * 1 of the commit: so its maker and a collector, when they give the value back, find its extents in
 * the root. A reader READs the root first, then all other extents together: two round trips. It
 * judges all bytes read: the head by its check, the value by the sum in the row.
 */
#include "txn_internal.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT = TXN_WHOLES };

/*
 * In place of a ledger entry: the extent was free memory of the table and was not taken from a
 * node; its entry is looked for when the extent goes back.
 */
#define OF_TABLE ((uint32_t)TXN_LEDGER_WHOSE)

static bool
head_right(const struct txn_spread *s, const uint64_t *list, uint32_t len, net_addr root)
{
	return s->whose == len && s->n == txn_spread_n(len) &&
	       s->check == txn_spread_check(s, list, root.bits);
}

/* ---- taking ---- */

nam_status
txn_long_take(struct txn *t, struct txn_table_view *v, struct txn_new_blob *b)
{
	struct txn_worker *tw = t->tw;
	struct txn_alloc *a;
	unsigned n = txn_spread_n(b->len), all = n + 1, have = 0, more;
	nam_status st = txn_alloc_ready(tw, v, true, &a);
	/*
	 * All extents of a value are of one generation, though a sweep may begin meanwhile: the
	 * root's extent says for all of them whether a sweep has found it. If that generation is
	 * over, the value is that sweep's. The sweep waits for our snapshot before it looks.
	 */
	uint64_t sweep = st == NAM_OK ? a->sweep : 0;
	uint64_t generation = txn_generation(sweep);
	if (st != NAM_OK || n > TXN_SPREAD_MOST)
		return st != NAM_OK ? st : NAM_FULL;
	net_addr *at = nam_arena_take(&t->arena, all * sizeof *at);
	uint32_t *entry = nam_arena_take(&t->arena, all * sizeof *entry);
	char *head = nam_arena_take(&t->arena, txn_spread_begin(n));
	if (at == NULL || entry == NULL || head == NULL)
		return NAM_NOMEM;
	for (; have < all && a->wholes > 0; have++) {
		at[have] = a->whole[--a->wholes].at;
		entry[have] = a->whole[a->wholes].entry;
	}
	/* Takes whole extents that are free in this table: memory that dead processes had for long
	 * values is found only here. */
	while (have < all && generation == txn_generation(a->sweep) &&
	       txn_whole_take(tw, v, a, &at[have]) == NAM_OK) {
		if (generation != txn_generation(a->sweep)) {
			txn_stretch_push(&a->rest, at[have].bits, at[have].bits + NET_EXTENT);
			break;
		}
		entry[have++] = OF_TABLE;
	}
	struct txn_want want = { 0 };
	a->takes++;
	while (have < all && (st = txn_extents_take(v->stock, tw->w, all - have, sweep, tw->rr++, false,
				  at + have, entry + have)) == NAM_FULL)
		if (!txn_want(tw, &want))
			break;
	struct txn_spread s = { .whose = b->len, .n = n, .entry = entry[0] };
	b->list = (uint64_t *)(void *)(head + sizeof s);
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		b->list[i] = txn_ledger_entry(at[i + 1].bits, entry[i + 1]);
	s.check = txn_spread_check(&s, b->list, at[0].bits);
	memcpy(head, &s, sizeof s);
	if (st == NAM_OK) {
		st = net_write1(tw->w, at[0], head, (uint32_t)sizeof s + 8 * n, &t->counts);
		have = all;
	}
	/* In a transaction: no sweep passes its snapshot, so these extents are still ours to give
	 * back. */
	for (unsigned i = 0; st != NAM_OK && i < have; i++) {
		if (entry[i] != OF_TABLE)
			txn_extents_give(v->stock, tw->w, 1, &at[i], &entry[i], &more);
		else if (generation == txn_generation(a->sweep)) /* else a sweep finds it */
			txn_stretch_push(&a->rest, at[i].bits, at[i].bits + NET_EXTENT);
	}
	b->at = at[0];
	b->n = n;
	return st;
}

/* ---- giving back ---- */

/* READs the head and list of a root. NAM_TORN: the root is not that value's. */
static nam_status
read_root(struct net_worker *w, net_addr root, uint32_t len, struct txn_spread **out)
{
	unsigned n = txn_spread_n(len);
	uint32_t bytes = (uint32_t)sizeof(struct txn_spread) + 8 * n;
	struct txn_spread *s = n <= TXN_SPREAD_MOST ? malloc(bytes) : NULL;
	*out = s;
	if (s == NULL)
		return n <= TXN_SPREAD_MOST ? NAM_NOMEM : NAM_TORN;
	nam_status st = net_read1(w, root, s, bytes, NULL);
	if (st == NAM_OK && !head_right(s, (const uint64_t *)(s + 1), len, root))
		st = NAM_TORN;
	return st;
}

nam_status
txn_long_extents(struct net_worker *w, net_addr root, uint32_t len, net_addr **out, unsigned *n)
{
	struct txn_spread *s;
	nam_status st = read_root(w, root, len, &s);
	*out = NULL;
	if (st == NAM_OK && (*out = malloc((s->n + 1) * sizeof **out)) == NULL)
		st = NAM_NOMEM;
	if (st == NAM_OK) {
		const uint64_t *list = (const uint64_t *)(s + 1);
		*n = (unsigned)s->n + 1;
		(*out)[0] = root;
		for (unsigned i = 1; i < *n; i++)
			(*out)[i].bits = txn_ledger_extent(list[i - 1]);
	}
	free(s);
	return st;
}

nam_status
txn_long_give(struct txn_worker *tw, struct txn_table_view *v, net_addr root, uint32_t len)
{
	struct txn_alloc *a;
	struct txn_spread *s = NULL;
	nam_status st = txn_alloc_look(tw, v->stock, &a);
	if (st == NAM_OK && (a->sweep & 1))
		return NAM_BUSY;
	if (st == NAM_OK)
		st = read_root(tw->w, root, len, &s);
	uint64_t generation = st == NAM_OK ? txn_generation(a->sweep) : 0;
	const uint64_t *list = (const uint64_t *)(s + 1);
	net_addr at[TXN_LEDGER_PART];
	uint32_t entry[TXN_LEDGER_PART];
	for (unsigned i = 0, n = 0; st == NAM_OK && i <= s->n; i++) {
		uint64_t word = i == 0 ? txn_ledger_entry(root.bits, s->entry) : list[i - 1];
		unsigned given;
		if ((uint32_t)(word & TXN_LEDGER_WHOSE) == OF_TABLE) {
			if (generation == txn_generation(a->sweep))
				txn_stretch_push(
				    &a->rest, txn_ledger_extent(word), txn_ledger_extent(word) + NET_EXTENT);
		} else if (a->wholes < KEPT && generation == txn_generation(a->sweep)) {
			a->whole[a->wholes++] = (struct txn_whole){ .at = { txn_ledger_extent(word) },
				.entry = (uint32_t)(word & TXN_LEDGER_WHOSE) };
		} else {
			at[n].bits = txn_ledger_extent(word);
			entry[n++] = (uint32_t)(word & TXN_LEDGER_WHOSE);
		}
		if (n == TXN_LEDGER_PART || (i == s->n && n > 0)) {
			st = txn_extents_give(v->stock, tw->w, n, at, entry, &given);
			n = 0;
		}
	}
	free(s);
	return st;
}

void
txn_wholes_give(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a)
{
	net_addr at[KEPT];
	uint32_t entry[KEPT];
	unsigned n = a->wholes, given;
	for (unsigned i = 0; i < n; i++) {
		at[i] = a->whole[i].at;
		entry[i] = a->whole[i].entry;
	}
	a->wholes = 0;
	if (n > 0)
		txn_extents_give(v->stock, tw->w, n, at, entry, &given);
}

void
txn_new_blob_give(struct txn *t, const struct txn_new_blob *b)
{
	/*
	 * The extents of a long value go back to their nodes under a pin, which is the collector's
	 * work. Its snapshot is not younger than a sweep to which it counts as earlier, and not
	 * older than the horizon that the anchor had when the extents were taken.
	 */
	if (txn_blob_long(b->len))
		txn_junk_add(t->tw, (struct txn_junk){ .cid = t->pin.at,
					.kind = JUNK_BLOB,
					.stock = b->view->stock,
					.at = b->at,
					.len = b->len });
	else
		txn_blob_give(t->tw, b->view, b->at, b->len);
}

/* ---- reading ---- */

static nam_status
room(struct net_batch *b)
{
	return b->n == b->cap ? net_run(b) : NAM_OK;
}

/* b: ready and empty. */
static nam_status
get_all(struct txn *t, struct net_batch *b, const struct txn_blob *blob, unsigned n, const void **out,
    struct nam_arena *arena)
{
	struct txn_spread **root = NULL;
	nam_status st = NAM_OK;
	for (unsigned i = 0; i < n; i++) {
		/* A value of t's own may not be written yet. */
		const struct txn_new_blob *own =
		    t != NULL && t->nblobs > 0 ? txn_own_blob(t, blob[i].at) : NULL;
		if (own != NULL && own->len == blob[i].len) {
			out[i] = own->bytes;
			continue;
		}
		uint32_t len = TXN_PAD(blob[i].len);
		char *p = nam_arena_take(arena, len);
		if (p == NULL)
			return NAM_NOMEM;
		out[i] = p;
		if (!txn_blob_long(blob[i].len)) {
			if ((st = room(b)) != NAM_OK)
				return st;
			net_read(b, blob[i].at, p, len);
			continue;
		}
		unsigned further = txn_spread_n(blob[i].len);
		if (further > TXN_SPREAD_MOST)
			return NAM_TORN;
		if (root == NULL && (root = nam_arena_zero(arena, n * sizeof *root)) == NULL)
			return NAM_NOMEM;
		uint32_t head = (uint32_t)sizeof **root + 8 * further;
		uint64_t from;
		if ((root[i] = nam_arena_take(arena, head)) == NULL)
			return NAM_NOMEM;
		if ((st = room(b)) != NAM_OK)
			return st;
		net_read(b, blob[i].at, root[i], head);
		if ((st = room(b)) != NAM_OK)
			return st;
		net_read(b, net_plus(blob[i].at, txn_spread_begin(further)), p,
		    txn_spread_piece(len, further, 0, &from));
	}
	if (b->n > 0 && (st = net_run(b)) != NAM_OK)
		return st;
	for (unsigned i = 0; root != NULL && i < n; i++) {
		if (root[i] == NULL)
			continue;
		const uint64_t *list = (const uint64_t *)(root[i] + 1);
		if (!head_right(root[i], list, blob[i].len, blob[i].at))
			return NAM_TORN;
		for (unsigned k = 1; k <= root[i]->n; k++) {
			uint64_t from;
			uint32_t part =
			    txn_spread_piece(TXN_PAD(blob[i].len), (unsigned)root[i]->n, k, &from);
			if ((st = room(b)) != NAM_OK)
				return st;
			net_read(b, (net_addr){ txn_ledger_extent(list[k - 1]) },
			    (char *)(uintptr_t)out[i] + from, part);
		}
	}
	if (b->n > 0 && (st = net_run(b)) != NAM_OK)
		return st;
	for (unsigned i = 0; i < n; i++)
		if ((uint32_t)nam_hash(out[i], blob[i].len, blob[i].at.bits) != blob[i].check)
			return NAM_TORN;
	return NAM_OK;
}

nam_status
txn_blob_get(
    struct txn *t, const struct txn_blob *blob, unsigned n, const void **out, struct nam_arena *arena)
{
	net_batch_init(&t->batch, t->tw->w, t->op, TXN_OPS, &t->counts);
	return get_all(t, &t->batch, blob, n, out, arena);
}

nam_status
txn_blob_read(struct txn_worker *tw, struct txn *t, const struct txn_blob *blob, unsigned n, const void **out,
    struct nam_arena *arena)
{
	struct net_op op[TXN_ORDER_LONGS];
	struct net_batch b;
	net_batch_init(&b, tw->w, op, TXN_ORDER_LONGS, t != NULL ? &t->counts : NULL);
	return get_all(t, &b, blob, n, out, arena);
}
