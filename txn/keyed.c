/*
 * keyed.c -- the blocks that the entries of one key lead to, however many there are.
 *
 * A key that is deleted and inserted again and again gets an entry each time, and an entry stays
 * until its block's deletion is collected: while a snapshot is open, there may be thousands. Most
 * of their blocks can have no row with the key, and one READ of the block proves it:
 *
 *   K1  A block without a lock, whose word is the newest CID of its directory, and whose newest
 *       version is deleted or has another key, had no row with the key when the word was READ. A
 *       transaction that gives it one locks the block afterwards, and looks for the entries of the
 *       key after that (entries.c: alone(); unique.c: U1): so it finds the caller's entry. Without
 *       a version, one READ proves nothing: it may have brought a commit's word, and the directory
 *       before it.
 *
 * What leads nowhere is given to the collector if it could have been collected a while ago: then
 * the process that should have done so has ended, or its collector has lost it.
 */
#include "txn_internal.h"

#include <base/fault.h>

#include <stdlib.h>
#include <string.h>

enum {
	TOGETHER = 32,        /* blocks of one doorbell */
	IMAGE_MAX = 1u << 18, /* bytes of their images */
	JUNK_MAX = 1024,      /* in the collector's queue: if it is longer, it has enough to do */
};

struct keyed {
	struct txn *t;
	struct txn_table_view *v;
	unsigned order;
	const uint64_t *key;
	txn_keyed_fn *fn;
	void *arg;
	uint64_t at[TOGETHER];
	struct net_op op[TOGETHER];
	char image[];
};

/* True if this worker has given the collector that block lately; then it is remembered. */
static bool
told_lately(struct txn_worker *tw, net_addr at)
{
	uint64_t *told = &tw->told[(at.bits >> 6) % TXN_TOLD];
	bool is = *told == at.bits;
	*told = at.bits;
	return is;
}

/* The entry leads to no row with the key. n: of img's newest version, or REC_NO_SLOT. */
static void
leads_nowhere(struct keyed *k, const struct rec_block *img, net_addr at, unsigned n)
{
	struct txn_worker *tw = k->t->tw;
	uint64_t cid = n == REC_NO_SLOT ? img->word : rec_cid(img, n);
	bool later;
	if (cid > tw->calm || (cid & REC_LOCK) || tw->junk[1].n > JUNK_MAX || told_lately(tw, at))
		return;
	if (n != REC_NO_SLOT && (rec_slot_of(k->v, img, n)->meta & REC_DELETED))
		txn_junk_add(tw,
		    (struct txn_junk){
			.cid = cid, .kind = JUNK_TOMB, .stock = k->v->stock, .at = at, .aux = img->ident });
	else if (!txn_key_needed(tw, k->v, img, at, k->order, k->key, &later) && !later)
		txn_key_junk(tw, k->v, k->order, k->key, at, cid);
}

/* K1: *none = the block has no row with the key. */
static nam_status
has_none(struct keyed *k, const struct rec_block *img, net_addr at, bool *none)
{
	struct txn_table_view *v = k->v;
	bool is = false;
	*none = false;
	if ((rec_is_locked(img) && !nam_fault(KEYED_UNLOCKED)) || !txn_rec_dir_whole(v, img, at))
		return NAM_OK;
	unsigned n = txn_rec_newest(v, img);
	if (n != REC_NO_SLOT) {
		const struct rec_slot *s = rec_slot_of(v, img, n);
		if ((rec_cid(img, n) != img->word && !nam_fault(KEYED_UNLOCKED)) ||
		    !txn_rec_slot_whole(v, s, rec_cid(img, n), at))
			return NAM_OK;
		if (!(s->meta & REC_DELETED)) {
			nam_status st = txn_order_key_is(
			    k->t->tw, k->t, v, k->order, s->payload, (uint32_t)s->meta, k->key, &is);
			if (st != NAM_OK)
				return st;
		}
	}
	*none = !is && (n != REC_NO_SLOT || nam_fault(KEYED_UNLOCKED));
	if (!is)
		leads_nowhere(k, img, at, n);
	return NAM_OK;
}

/* Judges blocks at[0..n). */
static nam_status
judge(struct keyed *k, unsigned n)
{
	struct txn_table_view *v = k->v;
	struct net_batch b;
	net_batch_init(&b, k->t->tw->w, k->op, TOGETHER, &k->t->counts);
	for (unsigned i = 0; i < n; i++)
		net_read(&b, (net_addr){ k->at[i] }, k->image + (size_t)i * v->block_bytes, v->block_bytes);
	nam_status st = n > 0 ? net_run(&b) : NAM_OK;
	if (st == NAM_OK)
		st = txn_go_on(k->t);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		const void *img = k->image + (size_t)i * v->block_bytes;
		net_addr at = { k->at[i] };
		bool none = false;
		/* Own writes are not to be seen there. */
		if (txn_own(k->t, at) == NULL)
			st = has_none(k, img, at, &none);
		if (st == NAM_OK && !none)
			st = k->fn(k->arg, at);
	}
	return st;
}

nam_status
txn_keyed_each(struct txn *t, struct txn_table_view *v, unsigned order, const uint64_t *key, net_addr but,
    txn_keyed_fn *fn, void *arg)
{
	const struct idx_tree_range one = { .low = key, .high = key };
	unsigned most = IMAGE_MAX / v->block_bytes;
	most = most > TOGETHER ? TOGETHER : most > 0 ? most : 1;
	struct keyed *k = malloc(sizeof *k + (size_t)most * v->block_bytes);
	struct idx_tree_scan *scan = k != NULL ? idx_tree_scan_open(v->tree[order], &one, NULL) : NULL;
	nam_status st = scan != NULL ? NAM_OK : NAM_NOMEM;
	if (k != NULL) {
		k->t = t;
		k->v = v;
		k->order = order;
		k->key = key;
		k->fn = fn;
		k->arg = arg;
	}
	for (unsigned n = 1; st == NAM_OK && n > 0;) {
		unsigned others = 0;
		st = idx_tree_scan_next(t->tw->w, scan, NULL, k->at, most, &n, &t->counts);
		for (unsigned i = 0; st == NAM_OK && i < n; i++)
			if (k->at[i] != but.bits)
				k->at[others++] = k->at[i];
		if (st == NAM_OK)
			st = judge(k, others);
		txn_give_way(t->tw);
	}
	if (scan != NULL)
		idx_tree_scan_close(scan);
	free(k);
	return st;
}
