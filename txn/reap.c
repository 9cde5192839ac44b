/*
 * reap.c -- the collector's work on rows: the blocks of deleted rows and of undone inserts are
 * emptied, and entries of ordered indexes that no version needs any more are removed.
 *
 * Some pieces of garbage of one table are worked on together, so that a storage node gets one
 * message for all their entries and each kind of verb takes one round trip:
 *
 *   1  READ the blocks, and judge each piece by its block's image.
 *   2  Lock the blocks by CAS, from the words of the images: nothing has changed since the READ.
 *   3  Empty the directories of deleted rows (R6).
 *   4  Remove the entries: of a key, one; of a deleted row, that of each index (O2, O3).
 *   5  Free the locks of keys' blocks.
 *   6  Take blocks that are empty out of the hash index and write a fresh CID into their words.
 *
 * A piece whose step fails leaves the other pieces as they are. Pieces of one block are worked on
 * together only if all of them are keys: these share the image and the lock.
 */
#include "txn_internal.h"

#include <base/fault.h>

#include <stdlib.h>
#include <string.h>

enum {
	ENTRIES = 32,           /* of one call of the index */
	IMAGE_BYTES = 256 << 10 /* of one group, unless one block is longer */
};

struct piece {
	struct txn_junk *j;
	nam_status st;         /* what becomes of it; NAM_BUSY: it is due at another time */
	bool act;              /* goes on with the next step */
	bool stays;            /* its lock stays: an entry may still be removed */
	unsigned by;           /* the piece whose lock it shares; its own number: it has the lock */
	struct idx_tree *tree; /* KEY */
	struct rec_block *img;
	uint64_t expect, lock; /* the word before, and the collector's */
	unsigned nblobs;
	struct txn_blob blob[TXN_BLOBS_MAX]; /* TOMB */
};

struct group {
	struct txn_worker *tw;
	struct txn_table_view *v;
	unsigned n;
	struct piece p[TXN_REAP_MAX];
	struct txn_cas cas[TXN_REAP_MAX];
	struct net_op op[TXN_REAP_MAX];
	/* entries to be removed, and their pieces */
	unsigned entries;
	struct idx_tree_entry e[ENTRIES];
	uint64_t key[ENTRIES][IDX_TREE_WORDS];
	unsigned of[ENTRIES];
};

unsigned
txn_reap_most(const struct txn_table_view *v)
{
	unsigned n = IMAGE_BYTES / v->block_bytes;
	return n == 0 ? 1 : n < TXN_REAP_MAX ? n : TXN_REAP_MAX;
}

/* ---- READ and judge ---- */

/* The blobs that a deletion's payload names. The catalog may free the owner as soon as a view is
 * closed: closing waits for us. */
static unsigned
blobs_of(struct txn_table_view *v, const struct rec_slot *s, uint64_t cid, net_addr at, struct txn_blob *out)
{
	unsigned n = 0;
	if (v->blobs == NULL || !txn_rec_slot_whole(v, s, cid, at))
		return 0;
	struct txn_table_view *now = txn_ask(v->stock);
	if (now == NULL)
		return 0;
	n = now->blobs(&now->blob_table, s->payload, (uint32_t)s->meta, out, TXN_BLOBS_MAX);
	txn_asked(now);
	return n;
}

static nam_status
judge_key(struct group *g, struct piece *p)
{
	const struct txn_old_key *k = (const struct txn_old_key *)(uintptr_t)p->j->aux;
	unsigned order = 0;
	bool later = false;
	while (order < g->v->orders && g->v->tree_name[order] != k->tree)
		order++;
	if (order == g->v->orders)
		return NAM_OK; /* the index has been dropped */
	if (rec_is_locked(p->img) || !txn_rec_dir_whole(g->v, p->img, p->j->at))
		return NAM_BUSY;
	unsigned newest = txn_rec_newest(g->v, p->img);
	if (newest != REC_NO_SLOT && rec_cid(p->img, newest) != p->img->word)
		return NAM_BUSY; /* the READ met a commit */
	if (!nam_fault(KEY_UNASKED) && txn_key_needed(g->tw, g->v, p->img, p->j->at, order, k->key, &later))
		return NAM_OK;
	if (later)
		return NAM_BUSY;
	p->tree = g->v->tree[order];
	p->expect = p->img->word;
	p->act = true;
	return NAM_OK;
}

static nam_status
judge_row(struct group *g, struct piece *p)
{
	const struct txn_junk *j = p->j;
	if (!txn_rec_dir_whole(g->v, p->img, j->at) || rec_is_locked(p->img)) {
		if (rec_is_locked(p->img))
			txn_unlock_dead(g->tw, j->at, p->img->word);
		return NAM_BUSY; /* locked by a transaction, which may still free the lock */
	}
	unsigned newest = txn_rec_newest(g->v, p->img);
	if (j->kind == JUNK_EMPTY) {
		p->expect = p->img->word;
		p->act = newest == REC_NO_SLOT;
		return NAM_OK;
	}
	p->expect = j->cid;
	p->act = newest != REC_NO_SLOT && rec_cid(p->img, newest) == j->cid && p->img->ident == j->aux;
	if (p->act) /* else it was inserted again */
		p->nblobs = blobs_of(g->v, rec_slot_of(g->v, p->img, newest), j->cid, j->at, p->blob);
	return NAM_OK;
}

static void
read_and_judge(struct group *g)
{
	struct net_batch b;
	unsigned op[TXN_REAP_MAX];
	net_batch_init(&b, g->tw->w, g->op, TXN_REAP_MAX, NULL);
	for (unsigned i = 0; i < g->n; i++) {
		op[i] = g->p[i].by == i ? b.n : op[g->p[i].by];
		if (g->p[i].by == i)
			net_read(&b, g->p[i].j->at, g->p[i].img, g->v->block_bytes);
	}
	(void)net_run(&b);
	for (unsigned i = 0; i < g->n; i++) {
		struct piece *p = &g->p[i];
		p->st = g->op[op[i]].status;
		if (p->st == NAM_OK)
			p->st = p->j->kind == JUNK_KEY ? judge_key(g, p) : judge_row(g, p);
	}
}

/* ---- lock and empty ---- */

/* The READ may have met a commit: its word, but not yet its directory. Under the lock the directory
 * is whole. */
static void
judge_empty(struct group *g, struct piece *p)
{
	uint64_t seen;
	nam_status st = net_read1(g->tw->w, p->j->at, p->img, g->v->head_bytes, NULL);
	p->act = st == NAM_OK && txn_rec_dir_whole(g->v, p->img, p->j->at) &&
		 txn_rec_newest(g->v, p->img) == REC_NO_SLOT;
	if (p->act)
		return;
	(void)txn_sure_cas(g->tw, p->j->at, p->lock, p->expect, &seen);
	p->st = st == NAM_GONE ? NAM_BUSY : st;
}

/* Pieces that share a lock: the first of them that goes on takes it. */
static void
lock_blocks(struct group *g)
{
	unsigned n = 0, of[TXN_REAP_MAX], holder[TXN_REAP_MAX];
	for (unsigned i = 0; i < g->n; i++)
		holder[i] = TXN_REAP_MAX;
	for (unsigned i = 0; i < g->n; i++) {
		struct piece *p = &g->p[i];
		if (!p->act)
			continue;
		unsigned *h = &holder[p->by];
		p->by = *h = *h < TXN_REAP_MAX ? *h : i;
		if (p->by != i)
			continue;
		p->lock = txn_gc_lock(g->tw);
		of[n] = i;
		g->cas[n++] = (struct txn_cas){ .at = p->j->at, .expect = p->expect, .want = p->lock };
	}
	txn_sure_cas_all(g->tw, g->cas, n);
	for (unsigned k = 0; k < n; k++) {
		struct piece *p = &g->p[of[k]];
		p->st = g->cas[k].st;
		if (p->st == NAM_OK && g->cas[k].seen != p->expect)
			p->st = NAM_BUSY;
		p->act = p->st == NAM_OK;
		if (p->act && p->j->kind == JUNK_EMPTY)
			judge_empty(g, p);
	}
	for (unsigned i = 0; i < g->n; i++) {
		struct piece *p = &g->p[i];
		if (!p->act || p->by == i)
			continue;
		p->st = g->p[p->by].st;
		p->act = g->p[p->by].act;
	}
}

/* Of a directory. */
static const uint64_t zero[3 + REC_SLOTS_MAX];

/*
 * First empty, then unlink: as soon as an index does not lead here, the key may be inserted into
 * another block, and a reader that still comes here (by a pointer cache) must not see the deletion.
 */
static void
empty_blocks(struct group *g)
{
	struct net_batch b;
	unsigned n = 0, of[TXN_REAP_MAX];
	net_batch_init(&b, g->tw->w, g->op, TXN_REAP_MAX, NULL);
	for (unsigned i = 0; i < g->n; i++) {
		struct piece *p = &g->p[i];
		if (!p->act || p->j->kind != JUNK_TOMB)
			continue;
		of[n++] = i;
		net_write(&b, rec_dir_at(p->j->at), zero, rec_dir_bytes(g->v->slots));
	}
	if (n == 0)
		return;
	(void)net_run(&b);
	for (unsigned k = 0; k < n; k++) {
		struct piece *p = &g->p[of[k]];
		nam_status st = g->op[k].status;
		if (st == NAM_GONE)
			st = txn_sure_write(g->tw, rec_dir_at(p->j->at), zero, rec_dir_bytes(g->v->slots));
		p->st = st;
		p->act = st == NAM_OK;
	}
}

/* ---- entries ---- */

/* Removes the entries that are gathered. A piece of which one may still be removed keeps its
 * lock. */
static void
take_out(struct group *g)
{
	bool stays[ENTRIES] = { false };
	if (g->entries > 0)
		txn_entries_out(g->tw, g->e, g->entries, stays);
	for (unsigned k = 0; k < g->entries; k++)
		g->p[g->of[k]].stays |= stays[k];
	g->entries = 0;
}

static void
gather(struct group *g, unsigned of, struct idx_tree *tree, const uint64_t *key)
{
	unsigned k = g->entries++;
	if (key != g->key[k])
		memcpy(g->key[k], key, sizeof g->key[k]);
	g->e[k] = (struct idx_tree_entry){ .tree = tree, .key = g->key[k], .value = g->p[of].j->at.bits };
	g->of[k] = of;
	if (g->entries == ENTRIES)
		take_out(g);
}

static void
remove_entries(struct group *g)
{
	for (unsigned i = 0; i < g->n; i++) {
		struct piece *p = &g->p[i];
		if (!p->act)
			continue;
		if (p->j->kind == JUNK_KEY)
			gather(g, i, p->tree, ((const struct txn_old_key *)(uintptr_t)p->j->aux)->key);
		if (p->j->kind != JUNK_TOMB)
			continue;
		const struct rec_slot *row = rec_slot_of(g->v, p->img, txn_rec_newest(g->v, p->img));
		for (unsigned o = 0; o < g->v->orders; o++) {
			uint64_t *key = g->key[g->entries];
			bool has;
			memset(key, 0, sizeof g->key[0]);
			/* An entry that stays leads nowhere: a scan finds it. */
			if (txn_order_key(g->tw, NULL, g->v, o, row->payload, (uint32_t)row->meta, key,
				&has) == NAM_OK &&
			    has)
				gather(g, i, g->v->tree[o], key);
		}
	}
	take_out(g);
	/* Pieces that share a lock share its end. */
	for (unsigned i = 0; i < g->n; i++)
		if (g->p[i].act && g->p[i].stays) {
			g->p[g->p[i].by].stays = true;
			txn_doubt(g->tw);
		}
}

static void
unlock_keys(struct group *g)
{
	unsigned n = 0;
	for (unsigned i = 0; i < g->n; i++) {
		const struct piece *p = &g->p[i];
		if (p->act && p->by == i && !p->stays && p->j->kind == JUNK_KEY)
			g->cas[n++] =
			    (struct txn_cas){ .at = p->j->at, .expect = p->lock, .want = p->expect };
	}
	txn_sure_cas_all(g->tw, g->cas, n);
}

/* ---- blocks that are empty ---- */

/* Takes an emptied block out of the hash index. False: it is not the collector's any more, or stays
 * locked. */
static bool
unlink_block(struct group *g, struct piece *p)
{
	enum { TRIES = 8 };
	struct txn_worker *tw = g->tw;
	const struct txn_junk *j = p->j;
	uint64_t until = 0, seen;
	nam_status st = idx_remove(tw->w, g->v->index, j->aux, j->at, NULL);
	idx_ptrs_drop(tw->db->ptrs, j->aux);
	/* The index entry is removed, or not, or will be: until that is known no other transaction
	 * may use the block. */
	for (unsigned i = 0; st == NAM_GONE && i < TRIES && txn_again_all(tw, &until) == NAM_OK; i++)
		st = idx_remove(tw->w, g->v->index, j->aux, j->at, NULL);
	p->st = st;
	if (st == NAM_GONE) {
		txn_doubt(tw);
		return false;
	}
	/* An empty block without an entry is no longer ours: its row lived, was deleted and
	 * reclaimed after this insert was undone. */
	if (st == NAM_OK || (st == NAM_ABSENT && j->kind != JUNK_EMPTY))
		return true;
	nam_status back = NAM_OK;
	if (j->kind == JUNK_TOMB)
		back = txn_sure_write(tw, rec_dir_at(j->at), rec_dir(p->img), rec_dir_bytes(g->v->slots));
	if (back == NAM_OK)
		(void)txn_sure_cas(tw, j->at, p->lock, p->expect, &seen);
	return false;
}

/* The block waits for the watermark; and the blobs that the deletion's payload named are garbage
 * only now: until now a version named them, so a sweep that began before left them to us. */
static void
becomes_junk(struct group *g, const struct piece *p, tso_cid cid)
{
	struct txn_stock *stock = g->v->stock;
	for (unsigned i = 0; i < p->nblobs; i++)
		txn_junk_add(g->tw, (struct txn_junk){ .cid = cid,
					.kind = JUNK_BLOB,
					.stock = stock,
					.at = p->blob[i].at,
					.len = p->blob[i].len,
					.aux = p->j->at.bits });
	txn_junk_add(g->tw,
	    (struct txn_junk){ .cid = cid, .kind = JUNK_BLOCK, .stock = stock, .at = p->j->at, .aux = cid });
}

/* One CID for all, as for the rows of a commit. If home is gone, the blocks stay locked, like all
 * others. */
static void
free_blocks(struct group *g)
{
	struct tso_claim c;
	tso_cid floor = 0;
	unsigned n = 0, of[TXN_REAP_MAX];
	for (unsigned i = 0; i < g->n; i++) {
		struct piece *p = &g->p[i];
		if (!p->act || p->stays || p->j->kind == JUNK_KEY || (g->v->has_key && !unlink_block(g, p)))
			continue;
		of[n++] = i;
		floor = p->expect > floor ? p->expect : floor;
	}
	if (n == 0 || txn_claim_sure(g->tw, &c, floor) != NAM_OK)
		return;
	for (unsigned k = 0; k < n; k++) {
		const struct piece *p = &g->p[of[k]];
		g->cas[k] = (struct txn_cas){ .at = p->j->at, .expect = p->lock, .want = c.cid };
	}
	txn_sure_cas_all(g->tw, g->cas, n);
	tso_mark_wait(g->tw->tso, &c, 0);
	for (unsigned k = 0; k < n; k++) {
		g->p[of[k]].st = g->cas[k].st;
		if (g->cas[k].st == NAM_OK)
			becomes_junk(g, &g->p[of[k]], c.cid);
	}
}

/* ---- all of it ---- */

/* The fault: entries are removed without a lock. */
static void
remove_unlocked(struct group *g)
{
	for (unsigned i = 0; i < g->n; i++)
		if (g->p[i].act && g->p[i].j->kind == JUNK_KEY) {
			net_sleep(g->tw->w, nam_fault_dice(2000) * UINT64_C(1000));
			gather(
			    g, i, g->p[i].tree, ((const struct txn_old_key *)(uintptr_t)g->p[i].j->aux)->key);
			take_out(g);
			g->p[i].act = false;
		}
}

static void
work(struct group *g)
{
	read_and_judge(g);
	if (nam_fault(ENTRY_UNLOCKED))
		remove_unlocked(g);
	lock_blocks(g);
	empty_blocks(g);
	remove_entries(g);
	unlock_keys(g);
	free_blocks(g);
}

bool
txn_reap_together(const struct txn_junk *j, unsigned n, const struct txn_junk *next)
{
	for (unsigned i = 0; i < n; i++)
		if (j[i].at.bits == next->at.bits && (j[i].kind != JUNK_KEY || next->kind != JUNK_KEY))
			return false;
	return true;
}

void
txn_reap(struct txn_worker *tw, struct txn_table_view *v, struct txn_junk *j, nam_status *st, unsigned n)
{
	struct group *g = malloc(sizeof *g + (size_t)n * v->block_bytes);
	unsigned images = 0;
	NAM_ASSERT(n <= txn_reap_most(v));
	for (unsigned i = 0; i < n; i++)
		st[i] = NAM_BUSY;
	if (g == NULL)
		return;
	g->tw = tw;
	g->v = v;
	g->n = n;
	g->entries = 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned by = 0;
		while (j[by].at.bits != j[i].at.bits)
			by++;
		struct rec_block *img =
		    (struct rec_block *)((char *)(g + 1) + (size_t)images * v->block_bytes);
		images += by == i;
		g->p[i] = (struct piece){ .j = &j[i], .by = by, .img = by == i ? img : g->p[by].img };
	}
	work(g);
	for (unsigned i = 0; i < n; i++) {
		st[i] = g->p[i].st;
		if (j[i].kind == JUNK_KEY && st[i] != NAM_BUSY)
			free((void *)(uintptr_t)j[i].aux);
	}
	free(g);
}
