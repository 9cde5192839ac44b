/* write.c -- what a transaction wants to write: buffered versions, and the locks READ COMMITTED takes at once. */
#include <base/twin.h>
#include <stdlib.h>
#include <string.h>
#include "txn_internal.h"

enum { CHUNK = 32, LOOKS = 16, WEIGH_TRIES = 20000 };

/* ---- own writes, by block address ---- */

static uint32_t
map_slot(const struct txn *t, net_addr at)
{
	uint32_t mask = t->map_cap - 1, i = (uint32_t)nam_mix(at.bits) & mask;
	while (t->map[i] != 0 && t->wr[t->map[i] - 1]->at.bits != at.bits)
		i = (i + 1) & mask;
	return i;
}

struct txn_write *
txn_own(const struct txn *t, net_addr at)
{
	if (t->nwr <= TXN_SMALL) {
		for (uint32_t i = 0; i < t->nwr; i++)
			if (t->wr[i]->at.bits == at.bits)
				return t->wr[i];
		return NULL;
	}
	uint32_t i = map_slot(t, at);
	return t->map[i] ? t->wr[t->map[i] - 1] : NULL;
}

static bool
map_add(struct txn *t)
{
	if (t->nwr <= TXN_SMALL)
		return true;
	if (t->nwr == TXN_SMALL + 1 || t->nwr * 2 > t->map_cap) {
		uint32_t cap = t->map_cap ? t->map_cap : 64;
		while (cap < t->nwr * 4)
			cap *= 2;
		if (cap > t->map_cap) {
			free(t->map);
			t->map = malloc(cap * sizeof *t->map);
			if (t->map == NULL) {
				t->map_cap = 0;
				return false;
			}
			t->map_cap = cap;
		}
		memset(t->map, 0, t->map_cap * sizeof *t->map);
		for (uint32_t i = 0; i < t->nwr; i++)
			t->map[map_slot(t, t->wr[i]->at)] = i + 1;
		return true;
	}
	t->map[map_slot(t, t->wr[t->nwr - 1]->at)] = t->nwr;
	return true;
}

void
txn_map_again(struct txn *t)
{
	if (t->nwr <= TXN_SMALL)
		return;
	memset(t->map, 0, t->map_cap * sizeof *t->map);
	for (uint32_t i = 0; i < t->nwr; i++)
		t->map[map_slot(t, t->wr[i]->at)] = i + 1;
}

static struct txn_write *
write_add(struct txn *t, struct txn_table *table, net_addr at, enum txn_kind kind)
{
	struct txn_write *w = nam_arena_take(&t->arena, sizeof *w);
	if (w == NULL || !txn_grow((void **)&t->wr, t->nwr, &t->wr_cap, sizeof *t->wr))
		return NULL;
	/* Field by field: a memset of this size is slower than all of these stores. */
	w->table = table;
	w->view = table->view;
	w->at = at;
	w->expect = w->ident = w->link = 0;
	w->kind = kind;
	w->locked = w->doubt = w->fresh = w->indexed = w->lost = w->late_linked = false;
	w->target = w->newest = REC_NO_SLOT;
	w->slot = NULL;
	w->arch = w->late = NULL;
	w->arch_at.bits = w->late_at.bits = 0;
	w->old_blobs = NULL;
	w->old_blobs_n = 0;
	w->born = w->stretch = t->clock;
	t->wr[t->nwr++] = w;
	if (!map_add(t)) {
		t->nwr--;
		return NULL;
	}
	return w;
}

/* ---- versions ---- */

/* Blobs that only the version being replaced named, and that this transaction made: never written. */
static void
drop_new_blobs(struct txn *t, const struct txn_write *w)
{
	struct txn_blob found[TXN_BLOBS_MAX];
	if (w->slot == NULL || t->nblobs == 0 || w->table->blobs == NULL)
		return;
	unsigned n =
	    w->table->blobs(w->table, w->slot->payload, (uint32_t)w->slot->meta, found, TXN_BLOBS_MAX);
	for (unsigned i = 0; i < n; i++)
		for (uint32_t k = 0; k < t->nblobs; k++)
			if (t->blob[k].at.bits == found[i].at.bits) {
				if (!txn_keep_blob(t, &t->blob[k]))
					txn_new_blob_give(t, &t->blob[k]);
				t->blob[k] = t->blob[--t->nblobs];
				break;
			}
}

/* The payload that will become a version; its CID is filled in at commit. */
static nam_status
version_set(struct txn *t, struct txn_write *w, const void *bytes, uint32_t len, bool deleted)
{
	if (len > w->view->row_max)
		return NAM_INVALID;
	struct rec_slot *s = nam_arena_take(&t->arena, sizeof *s + TXN_PAD(len));
	if (s == NULL)
		return NAM_NOMEM;
	memcpy(s->payload, bytes, len);
	memset(s->payload + len, 0, TXN_PAD(len) - len);
	s->meta = len | (deleted ? REC_DELETED : 0);
	if (!deleted)
		drop_new_blobs(t, w);
	w->slot = s;
	return NAM_OK;
}

static struct rec_archive *
archive_copy(struct txn *t, const struct txn_write *w, const struct rec_block *img, unsigned slot)
{
	const struct rec_slot *s = rec_slot_of(w->view, img, slot);
	uint64_t cid = rec_cid(img, slot);
	if (!txn_rec_slot_whole(w->view, s, cid, w->at))
		return NULL;
	uint32_t len = (uint32_t)s->meta;
	struct rec_archive *a = nam_arena_take(&t->arena, sizeof *a + TXN_PAD(len));
	if (a == NULL)
		return NULL;
	memset(a->payload + len, 0, TXN_PAD(len) - len);
	a->home = w->at.bits;
	a->cid = cid;
	a->meta = s->meta;
	memcpy(a->payload, s->payload, len);
	return a;
}

/*
 * Takes over what the block shows: its directory, the word expected, and copies
 * of versions that may have to be archived (R4). A version written above the
 * watermark marks a hot record: the next commit will want to overwrite it before the
 * watermark has passed us, so this commit archives it in its second step. For a
 * cold record nothing is copied; should the guess be wrong, the next commit pays
 * one round trip more (`late`).
 */
static nam_status
image_set(struct txn *t, struct txn_write *w, const struct rec_block *img, bool partial)
{
	const struct txn_table_view *v = w->view;
	uint64_t watermark = tso_watermark(t->tw->db->tso);
	unsigned newest = txn_rec_newest(v, img);
	w->ident = img->ident;
	w->link = img->link;
	memcpy(w->cid, img->cid, v->slots * 8u);
	w->arch = w->late = NULL;
	w->newest = (uint8_t)newest;
	/* Once locked, what we locked from stands: the image shows our lock. Another's lock is never expected. */
	if (!w->locked && newest == REC_NO_SLOT)
		w->expect = rec_is_locked(img) ? 0 : img->word;
	else if (!w->locked)
		w->expect = rec_listed(w->cid[newest]);
	if (newest == REC_NO_SLOT) {
		w->target = 0;
		return NAM_OK;
	}
	/* The slot to go: an empty one, else the oldest. Its successor tells whether it may. */
	unsigned oldest = newest;
	uint64_t low = UINT64_MAX;
	for (unsigned k = 0; k < v->slots; k++) {
		uint64_t c = rec_listed(w->cid[k]);
		if (c < low) {
			low = c;
			oldest = k;
		}
	}
	w->target = (uint8_t)oldest;
	if (low != 0 && (w->cid[oldest] & REC_ARCHIVED) == 0) {
		uint64_t successor = UINT64_MAX;
		for (unsigned k = 0; k < v->slots; k++) {
			uint64_t c = rec_listed(w->cid[k]);
			if (c > low && c < successor)
				successor = c;
		}
		/* A slot that does not prove its version was overwritten by somebody R4 allowed it; if he
		 * is still at it, our CAS will fail. Either way there is nothing left to archive. */
		if (successor > watermark && partial)
			return NAM_TORN; /* that slot was not READ */
		if (successor > watermark && !nam_twin(NAM_TWIN_NO_ARCHIVE))
			w->late = archive_copy(t, w, img, oldest);
	}
	/* Archive what the next commit will overwrite: with two slots the newest, with more the second oldest. */
	if (v->slots == 2 && rec_listed(w->cid[newest]) > watermark && !(w->cid[newest] & REC_ARCHIVED) &&
	    (w->arch = archive_copy(t, w, img, newest)) == NULL)
		return NAM_CONFLICT;
	if (v->slots > 2 && low != 0) {
		unsigned next = REC_NO_SLOT,
			 after = REC_NO_SLOT; /* the version overwritten next, and its successor */
		uint64_t c1 = UINT64_MAX, c2 = UINT64_MAX;
		for (unsigned k = 0; k < v->slots; k++) {
			uint64_t c = rec_listed(w->cid[k]);
			if (k != oldest && c < c1) {
				c2 = c1;
				after = next;
				c1 = c;
				next = k;
			} else if (k != oldest && c < c2) {
				c2 = c;
				after = k;
			}
		}
		bool archive = next != REC_NO_SLOT && !(w->cid[next] & REC_ARCHIVED) &&
			       (after == REC_NO_SLOT || c2 > watermark);
		if (archive && partial && next != newest)
			return NAM_TORN;
		if (archive && (w->arch = archive_copy(t, w, img, next)) == NULL)
			return NAM_CONFLICT;
	}
	return NAM_OK;
}

static bool
is_new_blob(const struct txn *t, net_addr at)
{
	for (uint32_t k = 0; k < t->nblobs; k++)
		if (t->blob[k].at.bits == at.bits)
			return true;
	return false;
}

static nam_status
old_blobs(struct txn *t, struct txn_write *w, const void *bytes, uint32_t len)
{
	if (w->table->blobs == NULL || w->old_blobs != NULL)
		return NAM_OK;
	struct txn_blob found[TXN_BLOBS_MAX];
	unsigned n = w->table->blobs(w->table, bytes, len, found, TXN_BLOBS_MAX), old = 0;
	/* A deletion of our own may name what was made here: who puts the next version drops it. */
	for (unsigned i = 0; i < n; i++)
		if (!is_new_blob(t, found[i].at))
			found[old++] = found[i];
	n = old;
	if (n > 0 && (w->old_blobs = nam_arena_copy(&t->arena, found, n * sizeof *found)) == NULL)
		return NAM_NOMEM;
	w->old_blobs_n = (uint16_t)n;
	return NAM_OK;
}

/* ---- this attempt's lock word ---- */

_Static_assert(TXN_CHUNKS <= 64, "chunks_kept has a bit for each");

/*
 * Intents of one more extent of the log: one that whoever had the slot before us left there, or a new one. A place in the log
 * for which there is no memory now is kept for the next try.
 */
static nam_status
more_intents(struct txn_worker *tw)
{
	struct txn_db *db = tw->db;
	unsigned chunk;
	if (tw->chunks_kept != 0)
		chunk = (unsigned)__builtin_ctzll(tw->chunks_kept);
	else if (atomic_load(&db->intents) >= TXN_CHUNKS ||
		 (chunk = atomic_fetch_add(&db->intents, 1)) >= TXN_CHUNKS)
		return NAM_FULL;
	tw->chunks_kept &= ~(UINT64_C(1) << chunk);
	net_addr at, word = net_plus(db->log, chunk * 8u);
	nam_status st = net_read1(tw->w, word, &at.bits, 8, NULL);
	if (st == NAM_OK && at.bits == 0) {
		st = NAM_FULL;
		for (unsigned i = 0; i < db->nregions && (st == NAM_FULL || st == NAM_GONE); i++)
			st = net_extent_take(tw->w, db->regions[(chunk + i) % db->nregions], 1, &at);
		if (st == NAM_FULL && tw->intents == 0) /* a worker without any could not even delete */
			st = txn_extent_kept(db, tw->w, chunk, &at);
		if (st == NAM_OK)
			st = net_write1(tw->w, word, &at.bits, 8, NULL);
	}
	if (st != NAM_OK)
		tw->chunks_kept |= UINT64_C(1) << chunk;
	for (unsigned i = 0; st == NAM_OK && i < TXN_INTENTS_A_CHUNK; i++) {
		struct txn_intent *in = calloc(1, sizeof *in);
		if (in == NULL)
			return NAM_NOMEM;
		in->at = net_plus(at, i * TXN_INTENT_BYTES);
		in->number = chunk * TXN_INTENTS_A_CHUNK + i;
		if (in->number >= TXN_INTENTS) {
			free(in);
			continue;
		}
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
 * I7: an intent that has rested begins its generations anew. Under TSO_PREASSIGNED nobody can tell when it has: there it rests for
 * ever. The line first: with the lock word of an earlier use, and the entries of it, it would prove a decision that nobody took.
 */
static nam_status
rested(struct txn_worker *tw)
{
	static const struct txn_commit_line none;
	struct txn_intent *in = tw->intent_rests;
	if (in == NULL || !tso_passed(tw->db->tso, in->rests))
		return NAM_ABSENT;
	/* Ours alone while the line is under way. */
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
	tw->chunks_kept = 0;
}

nam_status
txn_ensure_lock(struct txn *t)
{
	struct txn_worker *tw = t->tw;
	if (t->lock != 0)
		return NAM_OK;
	while (tw->intent_free == NULL) {
		nam_status st = rested(tw);
		if (st == NAM_ABSENT)
			st = more_intents(tw);
		if (st == NAM_FULL && tw->intent_free == NULL && tw->intents > 0) {
			net_sleep(tw->w, 100000); /* all are in use: wait for a writer to end */
			if ((st = txn_go_on(t)) != NAM_OK)
				return st;
			continue;
		}
		if (st != NAM_OK)
			return st;
	}
	t->intent = tw->intent_free;
	tw->intent_free = t->intent->next;
	t->lock = txn_lock_word(
	    tso_owner(tw->db->tso), tso_epoch(tw->db->tso), t->intent->number, ++t->intent->generation);
	t->head_written = false;
	return NAM_OK;
}

/* ---- a block we have locked ---- */

/* Frees a lock that turned out to be useless; the write becomes a nothing. */
static nam_status
unlock_now(struct txn *t, struct txn_write *w)
{
	uint64_t seen;
	nam_status st = net_cas1(t->tw->w, w->at, t->lock, w->expect, &seen, &t->counts);
	w->locked = false;
	w->doubt = st == NAM_GONE;
	return st;
}

/* Under the lock: what does the block say now? *s: its newest version, NULL when it has none. */
static nam_status
newest_locked(struct txn *t, struct txn_write *w, struct rec_block *img, const struct rec_slot **s)
{
	*s = NULL;
	/* The directory changes under the lock only, and it is ours: a torn image is our own READ's doing. */
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

/* A row this transaction locked before: shows the version it locked, whatever the statement's snapshot showed. */
static nam_status
relocked(struct txn *t, struct txn_write *w, struct txn_row *r)
{
	struct rec_block *img = nam_arena_take(&t->arena, w->view->block_bytes);
	const struct rec_slot *s;
	if (img == NULL)
		return NAM_NOMEM;
	nam_status st = net_read1(t->tw->w, w->at, img, w->view->block_bytes, &t->counts);
	if (st == NAM_OK)
		st = newest_locked(t, w, img, &s);
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

/* Gives back the lock just taken, or not, for the write just added. */
static nam_status
forget_lock(struct txn *t, struct txn_write *w)
{
	nam_status st = w->locked ? unlock_now(t, w) : NAM_OK;
	if (st != NAM_OK)
		return st;
	if (t->nwr > TXN_SMALL)
		w->at.bits = UINT64_MAX; /* keep the map whole: an address nobody asks for */
	else
		t->nwr--;
	return NAM_OK;
}

/* Locked rows stay with the transaction: their images may have to be archived. */
static nam_status
lock_rows(struct txn *t, struct txn_table *table, struct txn_row *row, nam_status *out, unsigned n)
{
	nam_status st = txn_ensure_lock(t);
	if (st != NAM_OK)
		return st;
	if (nam_twin(NAM_TWIN_STOCKED_CID) && !t->claimed) {
		tso_claim_start(t->tw->tso, &t->claim, 0, &t->counts);
		t->claimed = tso_claim_wait(t->tw->tso, &t->claim) == NAM_OK;
	}
	for (unsigned i = 0; i < n; i++) {
		struct txn_row *r = &row[i];
		struct txn_write *w = txn_own(t, r->at);
		r->changed = false;
		out[i] = NAM_OK;
		if (w != NULL && (w->kind != WR_LOCK || r->cid == rec_listed(w->cid[w->newest])))
			continue; /* ours already, locked or inserted */
		if (w != NULL) {
			/* Locked by an earlier statement at a version this snapshot does not cover yet. */
			if ((st = relocked(t, w, r)) != NAM_OK)
				return out[i] = st;
			continue;
		}
		w = write_add(t, table, r->at, WR_LOCK);
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
			st = newest_locked(t, w, img, &s);
		if (st != NAM_OK)
			return out[i] = st;
		/* The next statement sees the rest of what this version was committed with. */
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
		if ((st = image_set(t, w, img, false)) != NAM_OK)
			return st;
	}
	return NAM_OK;
}

nam_status
txn_lock_many(struct txn *t, struct txn_table *table, struct txn_row *row, nam_status *out, unsigned n,
    struct nam_arena *arena)
{
	(void)arena;
	if (t->iso == TXN_READ_COMMITTED)
		return lock_rows(t, table, row, out, n);
	for (unsigned i = 0; i < n; i++) {
		row[i].changed = false;
		out[i] = row[i].cid == 0 || row[i].cid == row[i].newest ? NAM_OK : NAM_CONFLICT;
		if (out[i] != NAM_OK)
			txn_cover(t, row[i].newest); /* a retry's snapshot covers it (trap 24) */
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
txn_lock(struct txn *t, struct txn_table *table, struct txn_row *row, struct nam_arena *arena)
{
	nam_status out = NAM_OK, st = txn_lock_many(t, table, row, &out, 1, arena);
	return st != NAM_OK ? st : out;
}

/* ---- update, delete ---- */

/* The write of a row found by this transaction, made now if need be. */
static nam_status
change_begin(
    struct txn *t, struct txn_table *table, const struct txn_row *row, bool deleted, struct txn_write **out)
{
	struct txn_write *w = txn_own(t, row->at);
	nam_status st = NAM_OK;
	if (w == NULL) {
		if (row->block == NULL || row->cid != row->newest) {
			tso_answered(
			    t->tw->db->tso, row->newest); /* a retry's snapshot covers it (trap 24) */
			return NAM_CONFLICT;
		}
		w = write_add(t, table, row->at, WR_LOCK);
		if (w == NULL)
			return NAM_NOMEM;
		st = image_set(t, w, row->block, row->partial);
		if (st == NAM_TORN) {
			/* A hot record, of which only one slot was READ: the others have to be archived. */
			struct rec_block *img = nam_arena_take(&t->arena, table->view->block_bytes);
			if (img == NULL)
				return NAM_NOMEM;
			st = net_read1(t->tw->w, row->at, img, table->view->block_bytes, &t->counts);
			unsigned n = st == NAM_OK && txn_rec_dir_whole(table->view, img, row->at)
					 ? txn_rec_newest(table->view, img)
					 : REC_NO_SLOT;
			if (st == NAM_OK && (n == REC_NO_SLOT || rec_cid(img, n) != row->cid))
				st = NAM_CONFLICT;
			if (st == NAM_OK)
				st = image_set(t, w, img, false);
		}
		if (st != NAM_OK) {
			w->at.bits = UINT64_MAX; /* stays a lock never taken, of an address nobody asks for */
			return st;
		}
		net_hint(t->tw->w, net_plus(row->at, w->view->head_bytes + w->target * w->view->slot_bytes),
		    sizeof(struct rec_slot) + row->len);
	}
	if (!txn_keep_write(t, w))
		return NAM_NOMEM;
	if (w->kind == WR_LOCK) {
		if (!deleted && (st = old_blobs(t, w, row->bytes, row->len)) != NAM_OK)
			return st;
		w->kind = deleted ? WR_DELETE : WR_UPDATE;
	} else if (w->kind == WR_DELETE) {
		return NAM_ABSENT;
	} else if (deleted && w->kind == WR_UPDATE) {
		w->kind = WR_DELETE;
	}
	*out = w;
	return NAM_OK;
}

static nam_status
change(struct txn *t, struct txn_table *table, const struct txn_row *row, const void *bytes, uint32_t len,
    bool deleted)
{
	struct txn_write *w;
	nam_status st = change_begin(t, table, row, deleted, &w);
	return st == NAM_OK ? version_set(t, w, bytes, len, deleted) : st;
}

nam_status
txn_update(struct txn *t, struct txn_table *table, const struct txn_row *row, const void *bytes, uint32_t len)
{
	return change(t, table, row, bytes, len, false);
}

nam_status
txn_edit(struct txn *t, struct txn_table *table, const struct txn_row *row, void **bytes)
{
	struct txn_write *w = txn_own(t, row->at);
	bool first = w == NULL || w->kind == WR_LOCK;
	nam_status st = change_begin(t, table, row, false, &w);
	if (st != NAM_OK)
		return st;
	/* The blobs are the same: neither the version's go that we met, nor any made here. */
	if (first)
		w->old_blobs_n = 0;
	/* A row is found as a slot of a block's image (or a copy made like one): it becomes the new version as it
	 * lies there, and only its CID and sum are still to be filled in. */
	w->slot = (struct rec_slot *)((uintptr_t)row->bytes - offsetof(struct rec_slot, payload));
	w->slot->meta &= ~REC_DELETED;
	*bytes = w->slot->payload;
	return NAM_OK;
}

nam_status
txn_delete(struct txn *t, struct txn_table *table, const struct txn_row *row)
{
	return change(t, table, row, row->bytes, row->len, true);
}

/* ---- insert ---- */

struct candidate {
	struct rec_block *img;
	net_addr at;
};

/* What a candidate block means for an insert. */
enum verdict { V_OTHER_KEY, V_TAKEN, V_USE, V_WAIT, V_GOING };

/* The collector has it: soon the index does not lead to it any more, or it is as it was. */
static bool
collected(const struct rec_block *img)
{
	return rec_is_locked(img) && txn_lock_intent(img->word) == TXN_INTENT_GC;
}

static nam_status
weigh(struct txn *t, const struct txn_put *p, struct candidate *c, enum verdict *out)
{
	const struct txn_table_view *v = p->table->view;
	const struct txn_write *own = txn_own(t, c->at);
	*out = V_OTHER_KEY;
	if (own != NULL && own->kind != WR_LOCK) {
		if (p->table->same_key(
			p->table, own->slot->payload, (uint32_t)own->slot->meta, p->key, p->key_len))
			*out = own->slot->meta & REC_DELETED ? V_USE : V_TAKEN;
		return NAM_OK;
	}
	for (unsigned tries = 0; tries < WEIGH_TRIES; tries++) {
		if (txn_rec_dir_whole(v, c->img, c->at)) {
			unsigned n = txn_rec_newest(v, c->img);
			if (n == REC_NO_SLOT) {
				/* No version: another's insert under way or undone, maybe of this key. */
				*out = collected(c->img) ? V_GOING : rec_is_locked(c->img) ? V_WAIT : V_USE;
				return NAM_OK;
			}
			const struct rec_slot *s = rec_slot_of(v, c->img, n);
			if (txn_rec_slot_whole(v, s, rec_cid(c->img, n), c->at)) {
				if (p->table->same_key(
					p->table, s->payload, (uint32_t)s->meta, p->key, p->key_len)) {
					if (s->cid > t->pin.at)
						txn_cover(t, s->cid);
					*out = !(s->meta & REC_DELETED) ? V_TAKEN
					       : collected(c->img)      ? V_GOING
									: V_USE;
				}
				return NAM_OK;
			}
		}
		/* Half a directory may be what somebody left who died: for a lease, and then until he is settled. */
		if (tries >= 4)
			net_sleep(t->tw->w, tries < 64 ? 1000 : 100000);
		nam_status st = txn_go_on(t);
		if (st != NAM_OK)
			return st;
		if (tries % 16 == 15 && rec_is_locked(c->img))
			(void)txn_unlock_dead(t->tw, c->at, c->img->word);
		st = net_read1(t->tw->w, c->at, c->img, v->block_bytes, &t->counts);
		if (st != NAM_OK)
			return st;
	}
	return NAM_CORRUPT;
}

/* Goes through a probe's candidates. NAM_OK with *c: that block is to be used; NAM_ABSENT: none is the key's. */
static nam_status
pick(struct txn *t, const struct txn_put *p, const struct idx_probe *probe, struct candidate *use, bool *wait,
    bool *going)
{
	uint32_t bytes = p->table->view->block_bytes;
	*wait = *going = false;
	use->img = NULL;
	nam_status st;
	struct candidate c[IDX_HITS_MAX];
	net_batch_init(&t->batch, t->tw->w, t->op, TXN_OPS, &t->counts);
	for (unsigned h = 0; h < probe->hits; h++) {
		c[h] = (struct candidate){ nam_arena_take(&t->arena, bytes), probe->hit[h] };
		if (c[h].img == NULL)
			return NAM_NOMEM;
		net_read(&t->batch, c[h].at, c[h].img, bytes);
	}
	if (probe->hits > 0 && (st = net_run(&t->batch)) != NAM_OK)
		return st;
	for (unsigned h = 0; h < probe->hits; h++) {
		enum verdict v;
		if ((st = weigh(t, p, &c[h], &v)) != NAM_OK)
			return st;
		if (v == V_TAKEN)
			return NAM_DUPLICATE;
		*going = v == V_GOING;
		*wait = v == V_WAIT || v == V_GOING;
		if (v == V_USE || *wait) {
			*use = c[h];
			return NAM_OK;
		}
	}
	return NAM_ABSENT;
}

/* Does the index still lead from p's key to this block? *probe is looked up anew. */
static nam_status
linked(struct txn *t, uint64_t hash, net_addr at, struct idx_probe *probe, bool *yes)
{
	*probe = (struct idx_probe){ .ix = probe->ix, .hash = hash };
	nam_status st = idx_lookup(t->tw->w, probe, 1, &t->counts);
	*yes = false;
	for (unsigned h = 0; st == NAM_OK && h < probe->hits; h++)
		*yes = *yes || probe->hit[h].bits == at.bits;
	return st;
}

/*
 * pick, but an empty block proves nothing at first sight: it may have been taken out of the index between lookup
 * and READ, or the READ may have met a commit (the new word, the directory still empty). Who takes it out
 * locks it first and leaves another word; who commits writes the directory before the word. So when, after the
 * READ, the index leads to it still and the directory is still empty, our CAS of the word we saw decides.
 * A block that the collector holds is given some milliseconds to go; then it is one to wait for, like any locked.
 */
static nam_status
pick_linked(
    struct txn *t, const struct txn_put *p, struct idx_probe *probe, struct candidate *use, bool *wait)
{
	uint64_t nap = 2000;
	for (unsigned tries = 0; tries < LOOKS; tries++) {
		bool yes, going;
		nam_status st = pick(t, p, probe, use, wait, &going);
		if (st == NAM_OK && going && tries + 1 < LOOKS) {
			net_sleep(t->tw->w, nap);
			nap = nap < 1000000 ? nap * 2 : nap;
			if ((st = txn_go_on(t)) != NAM_OK)
				return st;
			if ((st = linked(t, p->hash, use->at, probe, &yes)) != NAM_OK)
				return st;
			if (probe->status != NAM_OK && probe->status != NAM_ABSENT)
				return probe->status;
			continue;
		}
		if (st != NAM_OK || *wait || txn_own(t, use->at) != NULL ||
		    txn_rec_newest(p->table->view, use->img) != REC_NO_SLOT)
			return st;
		if ((st = linked(t, p->hash, use->at, probe, &yes)) != NAM_OK)
			return st;
		if (probe->status != NAM_OK && probe->status != NAM_ABSENT)
			return probe->status;
		if (!yes)
			continue;
		uint64_t word = use->img->word;
		st = net_read1(t->tw->w, use->at, use->img, p->table->view->head_bytes, &t->counts);
		if (st != NAM_OK)
			return st;
		if (use->img->word == word && txn_rec_dir_whole(p->table->view, use->img, use->at) &&
		    txn_rec_newest(p->table->view, use->img) == REC_NO_SLOT)
			return NAM_OK;
	}
	return NAM_CONFLICT;
}

/* The write that puts p's row into the block given. */
static nam_status
put_write(struct txn *t, const struct txn_put *p, struct candidate *c, bool fresh, uint64_t word)
{
	struct txn_write *w = txn_own(t, c->at);
	nam_status st = NAM_OK;
	if (w != NULL) { /* deleted by us before */
		if (!txn_keep_write(t, w))
			return NAM_NOMEM;
		w->kind = w->kind == WR_DELETE ? WR_UPDATE : WR_INSERT;
		if (w->kind == WR_UPDATE &&
		    (st = old_blobs(t, w, w->slot->payload, (uint32_t)w->slot->meta)) != NAM_OK)
			return st;
		return version_set(t, w, p->bytes, p->len, false);
	}
	w = write_add(t, p->table, c->at, WR_INSERT);
	if (w == NULL)
		return NAM_NOMEM;
	w->ident = p->key ? p->hash : nam_mix(p->table->id) | 1;
	w->fresh = fresh;
	w->indexed = p->key != NULL;
	if (fresh) {
		w->expect = word;
		w->target = 0;
		memset(w->cid, 0, w->view->slots * 8u);
		net_hint(t->tw->w, w->at, w->view->head_bytes + sizeof(struct rec_slot) + p->len);
	} else {
		st = image_set(t, w, c->img, false);
		if (st == NAM_CONFLICT && t->iso == TXN_READ_COMMITTED)
			w->expect =
			    0; /* somebody is at it: no CAS succeeds from here, we wait and look again */
		else if (st != NAM_OK)
			return st;
		w->ident = p->hash;
		/* Deleted by somebody our snapshot does not cover: he wrote the row first. */
		if (t->iso != TXN_READ_COMMITTED && w->newest != REC_NO_SLOT &&
		    rec_listed(w->cid[w->newest]) > t->pin.at)
			return NAM_CONFLICT;
		if (w->newest != REC_NO_SLOT) { /* over a deletion */
			const struct rec_slot *s = rec_slot_of(w->view, c->img, w->newest);
			if ((st = old_blobs(t, w, s->payload, (uint32_t)s->meta)) != NAM_OK)
				return st;
		}
	}
	return version_set(t, w, p->bytes, p->len, false);
}

/*
 * READ COMMITTED locks at once, so that a second inserter of the key waits for our end. The other levels so lock what a
 * deleted row left, too: the collector wants it, and at COMMIT it would be too late to find the row another place. Not an empty
 * block: that may be another's insert, and of two the first to commit wins.
 */
static bool
locks_at_once(const struct txn *t, const struct txn_write *w)
{
	return t->iso == TXN_READ_COMMITTED || (!w->fresh && w->newest != REC_NO_SLOT);
}

static nam_status
lock_inserted(struct txn *t, uint32_t from)
{
	struct net_batch *b = &t->batch;
	nam_status st = NAM_OK;
	for (uint32_t i = from; st == NAM_OK && i < t->nwr;) {
		uint32_t first = i;
		net_batch_init(b, t->tw->w, t->op, TXN_OPS, &t->counts);
		for (; st == NAM_OK && i < t->nwr && b->n < b->cap; i++)
			if (locks_at_once(t, t->wr[i]) && (st = txn_ensure_lock(t)) == NAM_OK)
				net_cas(b, t->wr[i]->at, t->wr[i]->expect, t->lock);
		if (st != NAM_OK || b->n == 0)
			continue;
		st = net_run(b);
		const struct net_op *op = t->op;
		for (uint32_t k = first; k < i; k++)
			if (locks_at_once(t, t->wr[k])) {
				t->wr[k]->locked = op->status == NAM_OK && op->seen == t->wr[k]->expect;
				t->wr[k]->doubt = op++->status == NAM_GONE;
			}
	}
	return st;
}

/* The puts of one chunk that are still to be made, and whose each write is. */
struct chunk {
	struct txn_put *p;
	uint8_t of[CHUNK]; /* puts to be made */
	unsigned n;
	uint32_t first;       /* the first write made by this round */
	uint8_t owner[CHUNK]; /* by write, from first on: its put */
};

static nam_status
put_one(struct txn *t, struct chunk *ch, unsigned put, struct candidate *c, bool fresh, uint64_t word)
{
	uint32_t was = t->nwr;
	nam_status st = put_write(t, &ch->p[put], c, fresh, word);
	if (t->nwr > was)
		ch->owner[was - ch->first] = (uint8_t)put;
	return ch->p[put].status = st;
}

/* Blocks taken for keys and not used. Where an entry leads to one, the collector empties it when we have ended: this
 * transaction may insert the key again, and would find it. */
static void
blocks_back(struct txn *t, const struct txn_put *p, const uint8_t *of, const struct idx_probe *probe,
    const uint64_t *word, unsigned n, bool asked)
{
	for (unsigned k = 0; k < n; k++) {
		struct txn_table_view *v = p[of[k]].table->view;
		if (!asked || probe[k].status != NAM_OK)
			txn_block_give(t->tw, v, probe[k].block, word[k]);
		else if (txn_grow((void **)&t->gone, t->ngone, &t->gone_cap, sizeof *t->gone))
			t->gone[t->ngone++] = (struct txn_junk){
				.kind = JUNK_EMPTY, .view = v, .at = probe[k].block, .aux = probe[k].hash
			};
	}
}

/* Finds or takes the block of every put of the chunk. */
static nam_status
place(struct txn *t, struct chunk *ch)
{
	struct txn_worker *tw = t->tw;
	struct txn_put *p = ch->p;
	struct idx_probe probe[CHUNK];
	uint8_t of[CHUNK];
	unsigned probes = 0;
	nam_status st;

	for (unsigned k = 0; k < ch->n; k++) {
		unsigned i = ch->of[k];
		p[i].status = NAM_OK;
		if (p[i].key == NULL) {
			struct candidate c = { NULL, { 0 } };
			uint64_t word;
			if ((st = txn_block_take(tw, p[i].table->view, &c.at, &word)) != NAM_OK)
				return p[i].status = st;
			if ((st = put_one(t, ch, i, &c, true, word)) != NAM_OK)
				return st;
			continue;
		}
		of[probes] = (uint8_t)i;
		probe[probes].ix = p[i].table->view->index;
		probe[probes++].hash = p[i].hash;
	}
	if (probes > 0 && (st = idx_lookup(tw->w, probe, probes, &t->counts)) != NAM_OK)
		return st;
	uint64_t word[CHUNK];
	unsigned fresh = 0, from = 0;
	bool asked = false; /* the index, to take entries for them */
	while (probes > 0) {
		asked = false;
		fresh = from = 0; /* probes that go on to be inserted move to the front, and of[] with them */
		for (unsigned k = 0; k < probes; k++) {
			struct txn_put *q = &p[of[k]];
			struct candidate c;
			bool wait;
			if (probe[k].status != NAM_OK && probe[k].status != NAM_ABSENT &&
			    probe[k].status != NAM_DUPLICATE) {
				st = q->status = probe[k].status;
				goto back;
			}
			st = probe[k].hits == 0 ? NAM_ABSENT : pick_linked(t, q, &probe[k], &c, &wait);
			if (st != NAM_OK && st != NAM_ABSENT) {
				q->status = st;
				goto back;
			}
			if (st == NAM_OK) {
				if (wait && t->iso != TXN_READ_COMMITTED) {
					if (rec_is_locked(c.img))
						txn_unlock_dead(tw, c.at, c.img->word);
					st = q->status = NAM_CONFLICT;
					goto back;
				}
				if ((st = put_one(t, ch, of[k], &c, false, 0)) != NAM_OK)
					goto back;
				continue;
			}
			net_addr at;
			if ((st = txn_block_take(tw, q->table->view, &at, &word[fresh])) != NAM_OK) {
				q->status = st;
				goto back;
			}
			if (fresh < k)
				probe[fresh] = probe[k];
			probe[fresh].block = at;
			of[fresh++] = of[k];
		}
		if (fresh == 0)
			break;
		st = idx_insert(tw->w, probe, fresh, &t->counts);
		for (unsigned k = 0; k < fresh; k++)
			if (idx_hash_in_doubt(probe[k].ix))
				txn_doubt(tw);
		if (st != NAM_OK)
			return st;
		asked = true;
		probes = 0;
		bool freed = false;
		for (unsigned k = 0; k < fresh; k++) {
			struct txn_put *q = &p[of[k]];
			struct candidate c = { NULL, probe[k].block };
			if (probe[k].status == NAM_OK) {
				if ((st = put_one(t, ch, of[k], &c, true, word[k])) == NAM_OK)
					continue;
				from = k + 1;
				goto back;
			}
			txn_block_give(tw, q->table->view, probe[k].block, word[k]);
			/* Whoever split the index has died, and the way is free now: once more, all that he held up. */
			bool busy = probe[k].status == NAM_BUSY;
			freed = freed || (busy && txn_index_unstick(tw, q->table->view->index));
			if (busy && freed)
				probe[k].status = NAM_DUPLICATE;
			if (probe[k].status != NAM_DUPLICATE) {
				st = q->status = probe[k].status;
				from = k + 1;
				goto back;
			}
			of[probes] = of[k]; /* somebody was there first: look at what he put */
			if (probes < k)
				probe[probes] = probe[k];
			probes++;
		}
	}
	return NAM_OK;
back:
	blocks_back(t, p, of + from, probe + from, word + from, fresh - from, asked);
	return st;
}

/* The block is another's, or nobody's: the write becomes a lock never taken, of an address nobody asks for. */
static nam_status
put_undo(struct txn *t, struct txn_write *w)
{
	nam_status st = w->locked ? unlock_now(t, w) : NAM_OK;
	if (st != NAM_OK)
		return st;
	w->kind = WR_LOCK;
	w->at.bits = UINT64_MAX;
	w->fresh = w->indexed = false;
	w->arch = w->late = NULL;
	w->old_blobs = NULL;
	w->old_blobs_n = 0;
	w->slot = NULL; /* its new blobs stay: the row is put elsewhere */
	return NAM_OK;
}

/*
 * Waits for a block that somebody else holds, or changed, then looks again. *gone: while we waited it was taken
 * out of the index, or came to hold another key: the write is undone, the key to be looked up anew.
 */
static nam_status
insert_wait(struct txn *t, struct txn_put *p, struct txn_write *w, bool *gone)
{
	struct rec_block *img = nam_arena_take(&t->arena, w->view->block_bytes);
	if (img == NULL)
		return NAM_NOMEM;
	const struct rec_slot *s;
	nam_status st = txn_lock_wait(t, w, img);
	if (st == NAM_OK)
		st = newest_locked(t, w, img, &s);
	if (st != NAM_OK)
		return st;
	w->old_blobs = NULL; /* of a deletion that may have been replaced while we waited */
	w->old_blobs_n = 0;
	*gone = false;
	if (s != NULL && s->cid > t->pin.at)
		txn_cover(t, s->cid);
	if (s != NULL && p->key != NULL) {
		*gone = !p->table->same_key(p->table, s->payload, (uint32_t)s->meta, p->key, p->key_len);
		if (!*gone && !(s->meta & REC_DELETED)) {
			txn_cover(t, s->cid);
			return p->status = NAM_DUPLICATE;
		}
		if (!*gone && (st = old_blobs(t, w, s->payload, (uint32_t)s->meta)) != NAM_OK)
			return st;
	} else if (p->key != NULL) {
		struct idx_probe again = { .ix = w->view->index };
		bool yes;
		if ((st = linked(t, w->ident, w->at, &again, &yes)) != NAM_OK)
			return st;
		if (again.status != NAM_OK && again.status != NAM_ABSENT)
			return again.status;
		*gone = !yes;
	} else if (s != NULL) {
		return NAM_CORRUPT; /* a block of ours alone */
	}
	if (*gone)
		return put_undo(t, w);
	uint64_t ident = w->ident;
	st = image_set(t, w, img, false);
	w->ident = ident;
	return st;
}

static nam_status
insert_chunk(struct txn *t, struct txn_put *p, unsigned n)
{
	struct chunk ch = { .p = p, .n = n };
	for (unsigned i = 0; i < n; i++)
		ch.of[i] = (uint8_t)i;
	for (unsigned tries = 0; tries < LOOKS; tries++) {
		ch.first = t->nwr;
		nam_status st = place(t, &ch);
		if (st != NAM_OK || (st = lock_inserted(t, ch.first)) != NAM_OK)
			return st;
		ch.n = 0;
		for (uint32_t i = ch.first; i < t->nwr; i++) {
			bool gone = false;
			struct txn_write *w = t->wr[i];
			unsigned put = ch.owner[i - ch.first];
			if (w->locked || !locks_at_once(t, w))
				continue;
			/* Who does not wait for writers looks at the key anew: that tells what has come between. */
			if (t->iso == TXN_READ_COMMITTED)
				st = insert_wait(t, &p[put], w, &gone);
			else if ((st = put_undo(t, w)) == NAM_OK)
				gone = true;
			if (st != NAM_OK)
				return st;
			if (gone)
				ch.of[ch.n++] = (uint8_t)put;
		}
		if (ch.n == 0)
			return NAM_OK;
	}
	return NAM_CONFLICT;
}

nam_status
txn_insert(struct txn *t, struct txn_put *p, unsigned n)
{
	for (unsigned i = 0; i < n; i += CHUNK) {
		unsigned m = n - i < CHUNK ? n - i : CHUNK;
		nam_status st = insert_chunk(t, p + i, m);
		if (st != NAM_OK)
			return st;
	}
	return NAM_OK;
}

nam_status
txn_blob_put(struct txn *t, struct txn_table *table, const void *bytes, uint32_t len, struct txn_blob *out)
{
	if (!txn_grow((void **)&t->blob, t->nblobs, &t->blobs_cap, sizeof *t->blob))
		return NAM_NOMEM;
	struct txn_new_blob *b = &t->blob[t->nblobs];
	b->view = table->view;
	b->len = len;
	b->born = t->clock;
	char *copy = nam_arena_take(&t->arena, TXN_PAD(len));
	if (copy == NULL)
		return NAM_NOMEM;
	nam_status st = txn_blob_long(len) ? txn_long_take(t, table->view, b)
					   : txn_blob_take(t->tw, table->view, len, &b->at);
	if (st != NAM_OK)
		return st;
	memcpy(copy, bytes, len);
	memset(copy + len, 0, TXN_PAD(len) - len);
	b->bytes = copy;
	t->nblobs++;
	*out =
	    (struct txn_blob){ .at = b->at, .len = len, .check = (uint32_t)nam_hash(bytes, len, b->at.bits) };
	return NAM_OK;
}
