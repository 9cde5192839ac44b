/* lock.c -- a transaction's intent, which gives it a lock word, and the locks it takes before its
 * commit. */
#include "txn_internal.h"

#include <base/fault.h>

#include <stdlib.h>
#include <string.h>

/* All 1,022 intents of the process are in use: a commit takes some ten microseconds, but a
 * statement may hold an intent for long. */
enum { INTENT_SOON_NS = 2000, INTENT_LOOK_NS = 100000 };

/* ---- this attempt's lock word ---- */

_Static_assert(TXN_CHUNKS <= 64, "chunk_asked has a bit for each");

/*
 * Which intents this worker takes next: a piece that is its own already, or a new one. The last
 * pieces are for those workers that have none yet.
 */
static nam_status
piece_take(struct txn_worker *tw, unsigned *piece)
{
	struct txn_db *db = tw->db;
	for (unsigned i = 0; i < TXN_PIECES; i++)
		if (tw->piece_kept[i / 64] >> i % 64 & 1) {
			tw->piece_kept[i / 64] &= ~(UINT64_C(1) << i % 64);
			*piece = i;
			return NAM_OK;
		}
	unsigned handed = atomic_load(&db->intents);
	for (;;) {
		unsigned others = tw->has_piece ? atomic_load(&db->workers) - atomic_load(&db->served) : 0;
		if (handed + others >= TXN_PIECES)
			return NAM_FULL;
		if (atomic_compare_exchange_weak(&db->intents, &handed, handed + 1))
			break;
	}
	if (!tw->has_piece)
		atomic_fetch_add(&db->served, 1);
	tw->has_piece = true;
	*piece = handed;
	return NAM_OK;
}

/* The extent of the log that holds a chunk of intents: the one that the slot's former owner left
 * there, or a new one. One worker of the process at a time: NAM_BUSY. */
static nam_status
chunk_find(struct txn_worker *tw, unsigned chunk, net_addr *out)
{
	struct txn_db *db = tw->db;
	uint64_t bit = UINT64_C(1) << chunk;
	if (atomic_fetch_or(&db->chunk_asked, bit) & bit)
		return NAM_BUSY;
	net_addr at, word = net_plus(db->log, chunk * 8u);
	nam_status st = net_read1(tw->w, word, &at.bits, 8, NULL);
	if (st == NAM_OK && at.bits == 0) {
		st = NAM_FULL;
		for (unsigned i = 0; i < db->nregions && (st == NAM_FULL || st == NAM_GONE); i++)
			st = net_extent_take(tw->w, db->regions[(chunk + i) % db->nregions], 1, &at);
		if (st == NAM_FULL && tw->intents == 0) /* a worker without an intent could not even
							 * delete */
			st = txn_extent_kept(db, tw->w, chunk, &at);
		if (st == NAM_OK)
			st = net_write1(tw->w, word, &at.bits, 8, NULL);
	}
	atomic_fetch_and(&db->chunk_asked, ~bit);
	*out = at;
	return st;
}

/* Takes a piece of intents more. If there is no memory for it now, it is kept for the next try. */
static nam_status
more_intents(struct txn_worker *tw)
{
	unsigned piece;
	net_addr at;
	nam_status st = piece_take(tw, &piece);
	if (st != NAM_OK)
		return st;
	unsigned chunk = piece / (TXN_INTENTS_A_CHUNK / TXN_INTENTS_A_PIECE);
	unsigned first = piece * TXN_INTENTS_A_PIECE;
	st = chunk_find(tw, chunk, &at);
	if (st != NAM_OK)
		tw->piece_kept[piece / 64] |= UINT64_C(1) << piece % 64;
	for (unsigned i = 0; st == NAM_OK && i < TXN_INTENTS_A_PIECE && first + i < TXN_INTENTS; i++) {
		struct txn_intent *in = calloc(1, sizeof *in);
		if (in == NULL)
			return NAM_NOMEM;
		in->number = first + i;
		in->at = net_plus(at, in->number % TXN_INTENTS_A_CHUNK * TXN_INTENT_BYTES);
		in->next = tw->intent_free;
		tw->intent_free = in;
		tw->intents++;
	}
	return st;
}

void
txn_intent_give(struct txn_worker *tw, struct txn_intent *in)
{
	if (in->generation < TXN_GENERATION_MAX) {
		in->next = tw->intent_free;
		tw->intent_free = in;
		return;
	}
	in->rests = tso_stamp(tw->db->tso);
	in->next = NULL;
	*tw->intent_rests_end = in;
	tw->intent_rests_end = &in->next;
}

/*
 * I7: an intent that has rested uses its generations from the first one again. Under
 * TSO_PREASSIGNED no process can tell when it has rested long enough: there it rests for ever. The
 * commit line is emptied first: with the lock word and the entries of an earlier use, it would
 * prove a decision that was never made.
 */
static nam_status
rested(struct txn_worker *tw)
{
	static const struct txn_commit_line none;
	struct txn_intent *in = tw->intent_rests;
	if (in == NULL || !tso_passed(tw->db->tso, in->rests))
		return NAM_ABSENT;
	/* Held by this coroutine alone while the WRITE of the line is under way. */
	if ((tw->intent_rests = in->next) == NULL)
		tw->intent_rests_end = &tw->intent_rests;
	if (net_write1(tw->w, in->at, &none, sizeof none, NULL) != NAM_OK) {
		free(in); /* its node is gone */
		tw->intents--;
		return NAM_ABSENT;
	}
	in->generation = 0;
	txn_intent_give(tw, in);
	return NAM_OK;
}

static void
list_free(struct txn_intent *in)
{
	for (struct txn_intent *next; in != NULL; in = next) {
		next = in->next;
		free(in);
	}
}

void
txn_intents_drop(struct txn_worker *tw)
{
	list_free(tw->intent_free);
	list_free(tw->intent_rests);
	tw->intent_free = tw->intent_rests = NULL;
	tw->intent_rests_end = &tw->intent_rests;
	tw->intents = 0;
	memset(tw->piece_kept, 0, sizeof tw->piece_kept);
	tw->has_piece = false;
}

nam_status
txn_ensure_lock(struct txn *t)
{
	struct txn_worker *tw = t->tw;
	if (t->lock != 0)
		return NAM_OK;
	struct net_backoff pause = { .base_ns = INTENT_SOON_NS, .cap_ns = INTENT_LOOK_NS };
	while (tw->intent_free == NULL) {
		/* One coroutine of the worker asks: the others use what it gets. */
		nam_status st = NAM_BUSY;
		if (!tw->intents_asked) {
			tw->intents_asked = true;
			st = rested(tw);
			if (st == NAM_ABSENT)
				st = more_intents(tw);
			tw->intents_asked = false;
		}
		if (st == NAM_BUSY || (st == NAM_FULL && tw->intent_free == NULL && tw->intents > 0)) {
			net_back_off(tw->w, &pause);
			st = txn_go_on(t);
		}
		if (st != NAM_OK)
			return st;
	}
	t->intent = tw->intent_free;
	tw->intent_free = t->intent->next;
	t->lock = txn_lock_word(
	    tso_owner(tw->db->tso), tso_epoch(tw->db->tso), t->intent->number, ++t->intent->generation);
	return NAM_OK;
}

/* ---- a block we have locked ---- */

/* Frees a lock that turned out to be useless; the write then has no effect. */
nam_status
txn_unlock_now(struct txn *t, struct txn_write *w)
{
	uint64_t seen;
	nam_status st = net_cas1(t->tw->w, w->at, t->lock, w->expect, &seen, &t->counts);
	w->has = st == NAM_GONE ? TXN_DOUBT : TXN_FREE;
	return st;
}

/* Under the lock: the block's present state. *s: its newest version, NULL = none. */
nam_status
txn_newest_locked(struct txn *t, struct txn_write *w, struct rec_block *img, const struct rec_slot **s)
{
	*s = NULL;
	/* The directory changes only under the lock, and the lock is ours: a torn image comes from
	 * our own verbs. */
	for (unsigned tries = 0;; tries++) {
		if (txn_rec_dir_whole(w->view, img, w->at)) {
			unsigned n = txn_rec_newest(w->view, img);
			if (n == REC_NO_SLOT)
				return NAM_OK;
			uint64_t cid = rec_cid(img, n);
			if (txn_rec_slot_whole(w->view, rec_slot_of(w->view, img, n), cid, w->at)) {
				*s = rec_slot_of(w->view, img, n);
				return NAM_OK;
			}
		}
		if (tries == 1000)
			return NAM_CORRUPT;
		nam_status st = net_read1(t->tw->w, w->at, img, w->view->block_bytes, &t->counts);
		if (st != NAM_OK)
			return st;
	}
}

/* A row that this transaction locked before: returns the version it locked, whatever version the
 * statement's snapshot showed. */
static nam_status
relocked(struct txn *t, struct txn_write *w, struct txn_row *r)
{
	struct rec_block *img = nam_arena_take(&t->arena, w->view->block_bytes);
	const struct rec_slot *s;
	if (img == NULL)
		return NAM_NOMEM;
	nam_status st = net_read1(t->tw->w, w->at, img, w->view->block_bytes, &t->counts);
	if (st == NAM_OK)
		st = txn_newest_locked(t, w, img, &s);
	if (st != NAM_OK)
		return st;
	if (s == NULL)
		return NAM_CORRUPT;
	*r = (struct txn_row){ .at = w->at,
		.bytes = s->payload,
		.len = (uint32_t)s->meta,
		.changed = s->cid != r->cid,
		.cid = s->cid,
		.newest = s->cid,
		.block = img };
	return NAM_OK;
}

/* Gives back the lock for the write just added, whether it was taken or not. */
static nam_status
forget_lock(struct txn *t, struct txn_write *w)
{
	nam_status st = w->has == TXN_LOCKED ? txn_unlock_now(t, w) : NAM_OK;
	if (st != NAM_OK)
		return st;
	if (t->nwr > TXN_SMALL)
		w->at.bits = UINT64_MAX; /* keep the map whole: an address that no lookup finds */
	else
		t->nwr--;
	return NAM_OK;
}

/* Locked rows stay with the transaction, because their images may have to be archived. */
static nam_status
lock_rows(struct txn *t, struct txn_table *table, struct txn_row *row, nam_status *out, unsigned n)
{
	nam_status st = txn_ensure_lock(t);
	if (st != NAM_OK)
		return st;
	if (nam_fault(STOCKED_CID) && !t->claimed) {
		tso_claim_start(t->tw->tso, &t->claim, 0, &t->counts);
		t->claimed = tso_claim_wait(t->tw->tso, &t->claim) == NAM_OK;
	}
	for (unsigned i = 0; i < n; i++) {
		struct txn_row *r = &row[i];
		struct txn_write *w = txn_own(t, r->at);
		r->changed = false;
		out[i] = NAM_OK;
		if (w != NULL && txn_is_unread(w))
			return out[i] = NAM_GONE;
		if (w != NULL && (w->kind != WR_LOCK || r->cid == rec_listed(w->cid[w->newest])))
			continue; /* already ours, locked or inserted */
		if (w != NULL) {
			/* Locked by an earlier statement at a version that this snapshot does not
			 * cover yet. */
			if ((st = relocked(t, w, r)) != NAM_OK)
				return out[i] = st;
			continue;
		}
		w = txn_write_add(t, table, r->at, WR_LOCK);
		struct rec_block *img = nam_arena_take(&t->arena, table->view->block_bytes);
		if (w == NULL || img == NULL)
			return NAM_NOMEM;
		w->expect = r->newest;
		const struct rec_slot *s = NULL;
		st = txn_lock_wait(t, w, img);
		if (st == NAM_BUSY) {
			out[i] = st;
			if ((st = forget_lock(t, w)) != NAM_OK)
				return st;
			continue;
		}
		if (st == NAM_OK)
			st = txn_newest_locked(t, w, img, &s);
		if (st != NAM_OK)
			return out[i] = st;
		/* The next statement's snapshot covers the commit of this version. */
		if (s != NULL && s->cid > t->pin.at)
			txn_cover(t, s->cid);
		if (s == NULL || (s->meta & REC_DELETED)) {
			if ((st = forget_lock(t, w)) != NAM_OK)
				return st;
			out[i] = t->iso == TXN_READ_COMMITTED ? NAM_ABSENT : NAM_CONFLICT;
			continue;
		}
		if (s->cid != r->cid && t->iso != TXN_READ_COMMITTED) {
			st = forget_lock(t, w);
			return out[i] = st == NAM_OK ? NAM_CONFLICT : st;
		}
		w->ident = img->ident;
		r->changed = s->cid != r->cid;
		*r = (struct txn_row){ .at = w->at,
			.bytes = s->payload,
			.len = (uint32_t)s->meta,
			.changed = r->changed,
			.cid = s->cid,
			.newest = s->cid,
			.block = img };
		if ((st = txn_image_set(t, w, img, false)) != NAM_OK)
			return st;
	}
	return NAM_OK;
}

nam_status
txn_lock_many(struct txn *t, struct txn_table *table, struct txn_row *row, nam_status *out, unsigned n)
{
	if (t->iso == TXN_READ_COMMITTED)
		return lock_rows(t, table, row, out, n);
	for (unsigned i = 0; i < n; i++) {
		row[i].changed = false;
		out[i] = row[i].cid == 0 || row[i].cid == row[i].newest ? NAM_OK : NAM_CONFLICT;
		if (out[i] != NAM_OK)
			txn_cover(t, row[i].newest); /* else the retry would conflict again:
						      * `stale-retry` */
	}
	return NAM_OK;
}

nam_status
txn_lock_now(struct txn *t, struct txn_table *table, struct txn_row *row, bool wait)
{
	nam_status out = NAM_OK;
	t->no_wait = !wait;
	nam_status st = lock_rows(t, table, row, &out, 1);
	t->no_wait = false;
	return st != NAM_OK ? st : out;
}

nam_status
txn_lock(struct txn *t, struct txn_table *table, struct txn_row *row)
{
	nam_status out = NAM_OK, st = txn_lock_many(t, table, row, &out, 1);
	return st != NAM_OK ? st : out;
}
