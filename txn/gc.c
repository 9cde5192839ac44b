/*
 * gc.c -- frees what no snapshot needs any more, when the watermark says so.
 *
 * Each worker keeps a queue of what its own commits left behind, in the order
 * they left it, and a coroutine that looks at its head every few milliseconds.
 * A deleted record's block is emptied in the order R6 asks for: lock, unlink
 * from the index, write a fresh CID into the word; reused when the watermark has
 * passed that CID too.
 */
#include <stdlib.h>
#include <string.h>
#include "txn_internal.h"

enum { GC_EVERY_NS = 5000000, GC_PER_ROUND = 4096 };

void
txn_junk_add(struct txn_worker *tw, struct txn_junk j)
{
	if (tw->junk_n == tw->junk_cap) {
		uint32_t cap = tw->junk_cap ? tw->junk_cap * 2 : 1024;
		struct txn_junk *ring = malloc(cap * sizeof *ring);
		if (ring == NULL)
			return; /* that memory stays lost until its table goes */
		for (uint32_t i = 0; i < tw->junk_n; i++)
			ring[i] = tw->junk[(tw->junk_head + i) & (tw->junk_cap - 1)];
		free(tw->junk);
		tw->junk = ring;
		tw->junk_cap = cap;
		tw->junk_head = 0;
	}
	tw->junk[(tw->junk_head + tw->junk_n++) & (tw->junk_cap - 1)] = j;
}

/* A fresh CID for a word that must never return to an old value. In a coroutine, with a snapshot pinned. */
static nam_status
fresh_cid(struct txn_worker *tw, struct tso_claim *c, tso_cid floor)
{
	tso_claim_start(tw->tso, c, floor, NULL);
	return tso_claim_wait(tw->tso, c);
}

struct gc_mark {
	struct nam_co *co;
	bool done;
};

static void
gc_marked(void *arg)
{
	struct gc_mark *m = arg;
	m->done = true;
	nam_co_wake(m->co);
}

/* The blobs a deletion's payload names. The owner may be freed as soon as the table is closed: closing waits for us. */
static unsigned
blobs_of(struct txn_table_view *v, const struct rec_slot *s, uint64_t cid, net_addr at, struct txn_blob *out)
{
	unsigned n = 0;
	if (v->blobs == NULL || !txn_rec_slot_whole(v, s, cid, at))
		return 0;
	atomic_fetch_add(&v->asking, 1);
	if (!atomic_load(&v->dead))
		n = v->blobs(&v->blob_table, s->payload, (uint32_t)s->meta, out, TXN_BLOBS_MAX);
	atomic_fetch_sub(&v->asking, 1);
	return n;
}

/* Takes a block that holds nothing but a deletion (or nothing at all) out of the index and empties it. */
static nam_status
reclaim(struct txn_worker *tw, const struct txn_junk *j)
{
	struct txn_table_view *v = j->view;
	struct net_worker *w = tw->w;
	uint64_t *img = malloc(v->block_bytes);
	if (img == NULL)
		return NAM_NOMEM;
	nam_status st = net_read1(w, j->at, img, v->block_bytes, NULL);
	uint64_t expect = 0, seen;
	struct txn_blob blobs[TXN_BLOBS_MAX];
	unsigned n = 0;
	if (st != NAM_OK)
		goto out;
	unsigned newest = txn_rec_newest(v, img);
	st = NAM_BUSY;
	if (!txn_rec_dir_whole(v, img, j->at) || (img[REC_WORD] & REC_LOCK))
		goto out; /* somebody is at it; he may yet give it up */
	st = NAM_OK;
	if (j->kind == JUNK_TOMB) {
		if (newest == 255 || (img[REC_CID + newest] & ~REC_ARCHIVED) != j->cid ||
		    img[REC_IDENT] != j->aux)
			goto out; /* inserted again */
		expect = j->cid;
		n = blobs_of(v, rec_slot_of(v, img, newest), j->cid, j->at, blobs);
	} else {
		if (newest != 255)
			goto out;
		expect = img[REC_WORD];
	}
	uint64_t lock = txn_lock_word(tso_owner(tw->db->tso), tso_epoch(tw->db->tso), TXN_INTENT_GC,
	    tw->number << 24 | (++tw->gc_generation & 0xffffff));
	st = net_cas1(w, j->at, expect, lock, &seen, NULL);
	if (st != NAM_OK)
		goto out;
	if (seen != expect) {
		st = NAM_BUSY;
		goto out;
	}
	if (j->kind == JUNK_EMPTY) {
		/* The READ may have met a commit: its word, but no directory yet. Under the lock it is plain. */
		st = net_read1(w, j->at, img, v->head_bytes, NULL);
		if (st != NAM_OK || !txn_rec_dir_whole(v, img, j->at) || txn_rec_newest(v, img) != 255) {
			net_cas1(w, j->at, lock, expect, &seen, NULL);
			goto out;
		}
	}
	/*
	 * First empty, then unlink: as soon as the index does not lead here, the key may be inserted into
	 * another block, and who still comes here (by a pointer cache) must not be shown the deletion.
	 */
	uint64_t zero[3 + REC_SLOTS_MAX] = { 0 };
	if (j->kind == JUNK_TOMB &&
	    (st = net_write1(w, net_plus(j->at, 8), zero, 8 * (3u + v->slots), NULL)) != NAM_OK)
		goto out;
	if (v->has_key) {
		st = idx_remove(w, v->index, j->aux, j->at, NULL);
		idx_ptrs_drop(tw->db->ptrs, j->aux);
		/* An empty block that no entry leads to is another's already: its row lived, was deleted and
		 * reclaimed since this insert was undone. */
		if (st != NAM_OK && (st != NAM_ABSENT || j->kind == JUNK_EMPTY)) {
			if (j->kind == JUNK_TOMB)
				net_write1(w, net_plus(j->at, 8), img + 1, 8 * (3u + v->slots), NULL);
			net_cas1(w, j->at, lock, expect, &seen, NULL);
			goto out;
		}
	}
	struct tso_claim c;
	st = fresh_cid(tw, &c, expect);
	if (st != NAM_OK) /* home is gone: the block stays locked, as all does */
		goto out;
	st = net_write1(w, j->at, &c.cid, 8, NULL);
	struct gc_mark m = { .co = nam_co_self() };
	uint64_t cid = c.cid;
	tso_mark(tw->tso, &c, 0, gc_marked, &m);
	while (!m.done)
		nam_co_park();
	if (st == NAM_OK) {
		/* Nobody can ask for the blobs that the deletion's payload names any more. */
		for (unsigned i = 0; i < n; i++) {
			txn_blob_give(tw, v, blobs[i].at, blobs[i].len);
			tw->stats.blobs_freed++;
		}
		txn_junk_add(tw,
		    (struct txn_junk){ .cid = cid, .kind = JUNK_BLOCK, .view = v, .at = j->at, .aux = cid });
	}
out:
	free(img);
	return st;
}

/* One piece of junk whose time has come. pinned: a snapshot is held (reclaiming claims CIDs). */
static nam_status
collect(struct txn_worker *tw, const struct txn_junk *j)
{
	nam_status st = NAM_OK;
	if (j->view != NULL && atomic_load(&j->view->dead))
		return NAM_OK;
	switch (j->kind) {
	case JUNK_ARCHIVE:
		txn_archive_give(tw, j->view, j->at);
		tw->stats.archives_freed++;
		break;
	case JUNK_BLOB:
		txn_blob_give(tw, j->view, j->at, j->len);
		tw->stats.blobs_freed++;
		break;
	case JUNK_BLOCK:
		txn_block_give(tw, j->view, j->at, j->aux);
		tw->stats.blocks_freed++;
		break;
	case JUNK_TOMB:
	case JUNK_EMPTY: {
		struct tso_pin pin;
		st = tso_snapshot(tw->tso, &pin, NULL);
		if (st != NAM_OK)
			break;
		st = reclaim(tw, j);
		tso_unpin(tw->tso, &pin);
		break;
	}
	case JUNK_TABLE:
		st = txn_table_release(tw, j->at);
		break;
	}
	return st;
}

/* A worker that closes collects for a while, not for ever: what is left then stays taken until the storage
 * nodes end, as after a crash. */
static bool
out_of_time(struct txn_worker *tw)
{
	return tw->stopping && net_now_ns(tw->w) > tw->gc_end;
}

/* Frees what may be freed. Returns false when nothing was there to do. */
static bool
round_of(struct txn_worker *tw)
{
	uint64_t watermark = tso_watermark(tw->db->tso);
	unsigned did = 0, most = tw->junk_n < GC_PER_ROUND ? tw->junk_n : GC_PER_ROUND, freed = 0;
	while (did < most && tw->junk[tw->junk_head].cid <= watermark && !out_of_time(tw)) {
		struct txn_junk j = tw->junk[tw->junk_head];
		tw->junk_head = (tw->junk_head + 1) & (tw->junk_cap - 1);
		tw->junk_n--;
		did++;
		if (collect(tw, &j) == NAM_BUSY)
			txn_junk_add(tw, j); /* another time */
		else
			freed++;
	}
	return freed > 0;
}

void
txn_gc(void *worker)
{
	struct txn_worker *tw = worker;
	/* When the worker closes, what can be freed soon is: the watermark lags by a heartbeat or two. */
	unsigned last = 0;
	while (!tw->stopping || (tw->junk_n > 0 && last < 20)) {
		net_sleep(tw->w, GC_EVERY_NS);
		if (out_of_time(tw))
			break;
		if (tw->stopping && !round_of(tw))
			last++;
		else if (!tw->stopping)
			round_of(tw);
	}
	tw->helpers--;
}
