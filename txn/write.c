/* write.c -- a transaction's writes: versions buffered until its commit. */
#include "txn_internal.h"

#include <base/fault.h>

#include <stdlib.h>
#include <string.h>

struct txn_write *
txn_write_add(struct txn *t, struct txn_table *table, net_addr at, enum txn_kind kind)
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
	w->has = TXN_FREE;
	w->fresh = w->local = w->indexed = w->roamed = w->late_linked = false;
	w->target = w->newest = REC_NO_SLOT;
	w->met = 0;
	w->entry = 0;
	w->slot = NULL;
	w->arch = w->late = NULL;
	w->arch_at.bits = w->late_at.bits = 0;
	w->keys = NULL;
	w->old_blobs = NULL;
	w->old_blobs_n = 0;
	w->places = NULL;
	w->born = w->stretch = t->clock;
	t->wr[t->nwr++] = w;
	if (!txn_own_added(t)) {
		t->nwr--;
		return NULL;
	}
	return w;
}

/* ---- versions ---- */

/* Drops blobs that only the replaced version named and that this transaction made: they are never
 * written. */
static void
drop_new_blobs(struct txn *t, const struct txn_write *w)
{
	struct txn_blob found[TXN_BLOBS_MAX];
	if (w->slot == NULL || t->nblobs == 0 || w->table->blobs == NULL)
		return;
	unsigned n =
	    w->table->blobs(w->table, w->slot->payload, (uint32_t)w->slot->meta, found, TXN_BLOBS_MAX);
	for (unsigned i = 0; i < n; i++) {
		struct txn_new_blob *b = txn_own_blob(t, found[i].at);
		if (b == NULL || b->dropped)
			continue;
		if (!txn_keep_blob(t, b))
			txn_new_blob_give(t, b);
		b->dropped = true;
	}
}

/* The payload that will become a version; its CID is filled in at commit. */
nam_status
txn_version_set(struct txn *t, struct txn_write *w, const void *bytes, uint32_t len, bool deleted)
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
	if (!txn_own_touched(t, w))
		return NAM_NOMEM;
	return !w->view->unique || deleted || txn_unchecked_add(t, w->at) ? NAM_OK : NAM_NOMEM;
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
 * Takes over the block's state: its directory, the word expected, and copies of versions that may
 * have to be archived (R4). A version written above the watermark marks a hot record: the next
 * commit will probably overwrite it before the watermark has passed this one, so this commit
 * archives it in its second step. For a cold record nothing is copied; if that guess is wrong, the
 * next commit pays two more round trips (`late`).
 */
nam_status
txn_image_set(struct txn *t, struct txn_write *w, const struct rec_block *img, bool partial)
{
	const struct txn_table_view *v = w->view;
	uint64_t watermark = tso_watermark(t->tw->db->tso);
	unsigned newest = txn_rec_newest(v, img);
	w->ident = img->ident;
	w->link = img->link;
	memcpy(w->cid, img->cid, v->slots * 8u);
	w->arch = w->late = NULL;
	w->newest = (uint8_t)newest;
	/* Once locked, the word that our lock replaced stands: the image shows our lock. Another
	 * transaction's lock is never expected. */
	if (w->has != TXN_LOCKED && newest == REC_NO_SLOT)
		w->expect = rec_is_locked(img) ? 0 : img->word;
	else if (w->has != TXN_LOCKED)
		w->expect = rec_listed(w->cid[newest]);
	if (newest == REC_NO_SLOT) {
		w->target = 0;
		return NAM_OK;
	}
	/* The slot to overwrite: an empty one, else the oldest. Its successor tells whether it may
	 * be overwritten. */
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
		/* A slot that does not prove its version was overwritten by a writer that R4
		 * permits; if that writer still holds the lock, the CAS fails. Either way there is
		 * nothing left to archive. */
		if (successor > watermark && partial)
			return NAM_TORN; /* that slot was not READ */
		if (successor > watermark && !nam_fault(NO_ARCHIVE))
			w->late = archive_copy(t, w, img, oldest);
	}
	/* Archive the version that the next commit will overwrite: with two slots the newest, with
	 * more the second oldest. */
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

nam_status
txn_old_blobs(struct txn *t, struct txn_write *w, const void *bytes, uint32_t len)
{
	if (w->table->blobs == NULL || w->old_blobs != NULL)
		return NAM_OK;
	struct txn_blob found[TXN_BLOBS_MAX];
	unsigned n = w->table->blobs(w->table, bytes, len, found, TXN_BLOBS_MAX), old = 0;
	/* A deletion of our own may name blobs made here: they are dropped when the next version is
	 * set. */
	for (unsigned i = 0; i < n; i++) {
		const struct txn_new_blob *b = txn_own_blob(t, found[i].at);
		if (b == NULL || b->dropped)
			found[old++] = found[i];
	}
	n = old;
	if (n > 0 && (w->old_blobs = nam_arena_copy(&t->arena, found, n * sizeof *found)) == NULL)
		return NAM_NOMEM;
	w->old_blobs_n = (uint16_t)n;
	return NAM_OK;
}

/* ---- update, delete ---- */

/* The write of a row found by this transaction, made now if there is none yet. */
static nam_status
change_begin(
    struct txn *t, struct txn_table *table, const struct txn_row *row, bool deleted, struct txn_write **out)
{
	struct txn_write *w = txn_own(t, row->at);
	nam_status st = NAM_OK;
	if (w == NULL) {
		if (row->block == NULL || row->cid != row->newest) {
			tso_answered(t->tw->db->tso, row->newest); /* else the retry would conflict
								    * again: `stale-retry` */
			return NAM_CONFLICT;
		}
		w = txn_write_add(t, table, row->at, WR_LOCK);
		if (w == NULL)
			return NAM_NOMEM;
		st = txn_image_set(t, w, row->block, row->partial);
		if (st == NAM_TORN) {
			/* A hot record of which only one slot was READ: the others have to be
			 * archived. */
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
				st = txn_image_set(t, w, img, false);
		}
		if (st != NAM_OK) {
			w->at.bits = UINT64_MAX; /* stays a lock that was never taken, of an address
						  * that no lookup finds */
			return st;
		}
		net_hint(t->tw->w, net_plus(row->at, w->view->head_bytes + w->target * w->view->slot_bytes),
		    sizeof(struct rec_slot) + row->len);
	}
	if (txn_is_unread(w))
		return NAM_GONE;
	if (!txn_keep_write(t, w))
		return NAM_NOMEM;
	w->roamed |= deleted;
	if (w->kind == WR_LOCK) {
		if ((st = txn_orders_before(t, w, row->bytes, row->len)) != NAM_OK)
			return st;
		if (!deleted && (st = txn_old_blobs(t, w, row->bytes, row->len)) != NAM_OK)
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
	return st == NAM_OK ? txn_version_set(t, w, bytes, len, deleted) : st;
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
	/* The blobs stay: neither those of the version met nor those made here are given back. */
	if (first)
		w->old_blobs_n = 0;
	/* A row found is a slot of a block's image (or a copy made like one): it becomes the new
	 * version in place, and only its CID and sum are still to be filled in. */
	w->slot = (struct rec_slot *)((uintptr_t)row->bytes - offsetof(struct rec_slot, payload));
	w->slot->meta &= ~REC_DELETED;
	*bytes = w->slot->payload;
	return txn_own_touched(t, w) ? NAM_OK : NAM_NOMEM;
}

nam_status
txn_delete(struct txn *t, struct txn_table *table, const struct txn_row *row)
{
	return change(t, table, row, row->bytes, row->len, true);
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
	b->dropped = false;
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
