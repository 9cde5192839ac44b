/*
 * commit.c -- the commit, from the writer's side (README, "The commit").
 *
 * 	step 1   all CASes, the claim, blobs, the write set   one doorbell per node, one wait
 * 	         (SERIALIZABLE: claim after the locks, then validate)
 * 	step 2   versions, archives, commit line; with a log, its records (logged.c)
 * 	         one doorbell per node, one wait: decided, answer
 * 	step 3   directories, then words; then the mark   behind the answer
 *
 * So two round trips from COMMIT to the answer. A record that is updated twice within the
 * watermark's lag after a cold spell costs two more, once (archive_late). Guards are READ when all
 * locks are held, and judged before the commit line is posted: in step 1 if all rows are locked
 * already (READ COMMITTED), else in a round trip between steps 1 and 2.
 */
#include "txn_internal.h"

#include <base/fault.h>

#include <stdlib.h>
#include <string.h>

/* ---- step 1 ---- */

static nam_status
archives_take(struct txn *t)
{
	nam_status st = NAM_OK;
	for (uint32_t i = 0; st == NAM_OK && i < t->nwr; i++) {
		struct txn_write *w = t->wr[i];
		if (i % TXN_OPS == TXN_OPS - 1 && (st = txn_between(t)) != NAM_OK)
			break;
		if (w->arch && w->arch_at.bits == 0 && txn_writes(w))
			st = txn_archive_take(t->tw, w->view, &w->arch_at);
		if (st == NAM_FULL) { /* the next transaction that overwrites the version archives
				       * it first, or waits */
			w->arch = NULL;
			st = NAM_OK;
		}
		if (st == NAM_OK && w->late && w->late_at.bits == 0 && txn_writes(w))
			st = txn_archive_take(t->tw, w->view, &w->late_at);
	}
	return st;
}

/* A write set that does not fit its intent lies in extents of its own. */
static nam_status
more_take(struct txn *t, uint32_t n)
{
	uint64_t bytes = n * sizeof(struct txn_intent_entry);
	unsigned further = txn_spread_n(bytes);
	t->more_list = further <= TXN_SPREAD_MOST ? nam_arena_take(&t->arena, 8 * (further + 1)) : NULL;
	return t->more_list != NULL ? txn_spread_take(t, bytes, &t->more, t->more_list) : NAM_NOMEM;
}

/* Builds the write set in the arena: head, then entries, as they will lie in the intent. */
static nam_status
write_set(struct txn *t, struct txn_intent_head **out)
{
	struct txn_intent_head *h =
	    nam_arena_take(&t->arena, sizeof *h + t->nwr * sizeof(struct txn_intent_entry));
	if (h == NULL)
		return NAM_NOMEM;
	struct txn_intent_entry *e = (void *)(h + 1);
	uint32_t n = 0;
	for (uint32_t i = 0; i < t->nwr; i++) {
		const struct txn_write *w = t->wr[i];
		if (!txn_writes(w))
			continue;
		e[n++] = (struct txn_intent_entry){
			.at = w->at.bits,
			.expect = w->expect,
			.what = txn_what(w->target, w->view->slots, w->view->row_max,
			    (w->slot->meta & REC_DELETED) != 0, w->fresh),
			.archive = w->arch_at.bits,
			.late = w->late_at.bits,
			.ident = w->ident,
		};
	}
	nam_status st = n > TXN_INTENT_ENTRIES ? more_take(t, n) : NAM_OK;
	if (st != NAM_OK)
		return st;
	*h = (struct txn_intent_head){
		.lock = t->lock, .n = n, .more = t->more.bits, .holds = txn_holds(t), .note = t->note
	};
	h->check = txn_head_check(h, nam_hash(e, n * sizeof *e, 0));
	*out = h;
	return NAM_OK;
}

/* Bytes spread over a root and the extents it lists. */
static nam_status
spread_write(struct txn *t, net_addr root, const uint64_t *list, const void *bytes, uint64_t len)
{
	unsigned n = txn_spread_n(len);
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i <= n; i++) {
		uint64_t from;
		uint32_t part = txn_spread_piece(len, n, i, &from);
		net_addr at = i == 0 ? net_plus(root, txn_spread_begin(n))
				     : (net_addr){ txn_ledger_extent(list[i - 1]) };
		if ((st = txn_batch_room(t, 1)) == NAM_OK)
			net_write(&t->batch, at, (const char *)bytes + from, part);
	}
	return st;
}

/* No process may ask for these blobs yet. They go with step 1, so that the commit line need not
 * prove them. */
static nam_status
blobs_write(struct txn *t)
{
	nam_status st = NAM_OK;
	for (uint32_t i = 0; st == NAM_OK && i < t->nblobs; i++) {
		const struct txn_new_blob *b = &t->blob[i];
		if (b->dropped)
			continue;
		if (txn_blob_long(b->len))
			st = spread_write(t, b->at, b->list, b->bytes, TXN_PAD(b->len));
		else if ((st = txn_batch_room(t, 1)) == NAM_OK)
			net_write(&t->batch, b->at, b->bytes, TXN_PAD(b->len));
	}
	return st;
}

static bool
all_locked(const struct txn *t)
{
	for (uint32_t i = 0; i < t->nwr; i++)
		if (txn_writes(t->wr[i]) && t->wr[i]->has != TXN_LOCKED)
			return false;
	return true;
}

/* The greatest word that a lock replaces: a CID claimed for these versions has to be greater
 * (R3). A snapshot covers what its process had answered; a transaction without one has to be
 * younger than that as well. */
static tso_cid
floor_of(const struct txn *t)
{
	tso_cid floor = t->floor;
	for (uint32_t k = 0; k < t->nwr; k++)
		if (t->wr[k]->expect > floor && (t->wr[k]->expect & REC_LOCK) == 0)
			floor = t->wr[k]->expect;
	return floor;
}

static void
claim_start(struct txn *t)
{
	/* Validation finds all writers with smaller CIDs, because they had their locks before. */
	if (t->iso == TXN_SERIALIZABLE && txn_validates(t))
		tso_claim_start_ordered(t->tw->tso, &t->claim, floor_of(t), &t->counts);
	else
		tso_claim_start(t->tw->tso, &t->claim, floor_of(t), &t->counts);
	t->claimed = true;
}

/* Posts what goes with the first CASes: blobs, the write set, and the guards if all rows are locked
 * already. */
static nam_status
write_set_post(struct txn *t, const struct txn_intent_head *h, bool guards)
{
	uint32_t entries = (uint32_t)(h->n * sizeof(struct txn_intent_entry));
	nam_status st = blobs_write(t);
	if (st == NAM_OK && h->more != 0)
		st = spread_write(t, t->more, t->more_list, h + 1, h->n * sizeof(struct txn_intent_entry));
	if (st == NAM_OK)
		st = txn_batch_room(t, 1);
	if (st != NAM_OK)
		return st;
	net_write(&t->batch, txn_intent_line(t, 64), h, (uint32_t)sizeof *h + (h->more != 0 ? 0 : entries));
	return guards ? txn_guards_post(t) : NAM_OK;
}

/*
 * Judges the CASes of writes [from, to), the first of which is t->op[op]. Each operation's status
 * says whether it was executed. If its connection broke, that is not known: the rollback frees the
 * lock in any case. NAM_CONFLICT: a CAS met another version. NAM_BUSY: a CAS met a lock.
 */
static nam_status
locks_judge(struct txn *t, uint32_t from, uint32_t to, unsigned op, nam_status worst)
{
	for (uint32_t k = from; k < to; k++) {
		struct txn_write *w = t->wr[k];
		if (!txn_writes(w) || w->has == TXN_LOCKED)
			continue;
		const struct net_op *o = &t->op[op++];
		txn_cas_has_run(w, o);
		if (o->status != NAM_OK || w->has == TXN_LOCKED)
			continue;
		if (w->has == TXN_LOST) {
			tso_answered(t->tw->db->tso, o->seen); /* else the retry would conflict
							        * again: `stale-retry` */
			worst = worst == NAM_OK || worst == NAM_BUSY ? NAM_CONFLICT : worst;
		} else {
			w->met = o->seen;
			worst = worst == NAM_OK ? NAM_BUSY : worst;
		}
	}
	return worst;
}

/* Posts the CASes of all writes that are not locked yet. The claim of a CID and the batch of
 * write_set_post (h) go with the first of them. */
static nam_status
lock_round(struct txn *t, bool claim, const struct txn_intent_head *h, bool guards)
{
	nam_status st, worst = NAM_OK;
	uint32_t i = 0;
	bool first = true;
	do {
		uint32_t from = i;
		txn_batch_open(t);
		if (first && h != NULL && (st = write_set_post(t, h, guards)) != NAM_OK)
			return st;
		unsigned entries = t->batch.n;
		if (first)
			txn_entries_begin(t);
		unsigned op = t->batch.n;
		for (; i < t->nwr && t->batch.n < t->batch.cap; i++)
			if (txn_writes(t->wr[i]) && t->wr[i]->has != TXN_LOCKED)
				net_cas(&t->batch, t->wr[i]->at, t->wr[i]->expect, t->lock);
		if (first && claim)
			claim_start(t);
		bool begun = first;
		first = false; /* even if no CAS had room beside the write set */
		st = txn_batch_flush(t);
		worst = locks_judge(t, from, i, op, st);
		if (begun && (st = txn_entries_end(t, entries)) != NAM_OK &&
		    (worst == NAM_OK || worst == NAM_BUSY))
			worst = st;
		if (i < t->nwr && worst == NAM_OK)
			worst = txn_between(t);
	} while (i < t->nwr && worst == NAM_OK);
	return worst;
}

/* Frees locks that our CASes met and whose owner is dead and recovered. */
static void
free_dead(struct txn *t)
{
	for (uint32_t i = 0; i < t->nwr; i++)
		if (txn_writes(t->wr[i]) && t->wr[i]->has != TXN_LOCKED && t->wr[i]->met != 0)
			txn_unlock_dead(t->tw, t->wr[i]->at, t->wr[i]->met);
}

/* NAM_STUCK if such a lock's owner cannot be recovered. */
static bool
stuck(struct txn *t)
{
	for (uint32_t i = 0; i < t->nwr; i++)
		if (txn_writes(t->wr[i]) && t->wr[i]->has != TXN_LOCKED && t->wr[i]->met != 0 &&
		    txn_lock_stuck(t->tw, t->wr[i]->met) != NAM_OK)
			return true;
	return false;
}

/* All locks that our CASes met are collectors', which make no version: the row stays as we know it.
 * So the transaction waits, also for a collector's thread that gets no processor for a while. */
static bool
collected_soon(const struct txn *t, uint64_t until)
{
	bool any = false;
	for (uint32_t i = 0; i < t->nwr; i++) {
		if (!txn_writes(t->wr[i]) || t->wr[i]->has == TXN_LOCKED || t->wr[i]->met == 0)
			continue;
		if (txn_lock_intent(t->wr[i]->met) != TXN_INTENT_GC)
			return false;
		any = true;
	}
	return any && net_now_ns(t->tw->w) < until;
}

/* ---- R4 for a record that became hot: archive and link the version that step 2 will overwrite
 * ---- */

static nam_status
archive_late(struct txn *t, bool guards)
{
	bool any = false;
	txn_batch_open(t);
	nam_status st = guards ? txn_guards_post(t) : NAM_OK;
	for (uint32_t i = 0; st == NAM_OK && i < t->nwr; i++) {
		struct txn_write *w = t->wr[i];
		if (!w->late || !txn_writes(w))
			continue;
		any = true;
		w->late->prev = w->link;
		uint32_t len = (uint32_t)w->late->meta;
		w->late->check = rec_archive_check(nam_hash(w->late->payload, len, 0), w->late);
		if ((st = txn_batch_room(t, 1)) == NAM_OK)
			net_write(&t->batch, w->late_at, w->late, (uint32_t)sizeof *w->late + TXN_PAD(len));
		t->tw->stats.archived_late++;
	}
	if (st == NAM_OK)
		st = txn_batch_flush(t);
	if (!any)
		return st;
	for (uint32_t i = 0; st == NAM_OK && i < t->nwr; i++) {
		struct txn_write *w = t->wr[i];
		if (!w->late || !txn_writes(w))
			continue;
		unsigned n = w->view->slots;
		w->link = w->late_at.bits;
		w->cid[w->target] |= REC_ARCHIVED;
		w->dir.ident = w->ident;
		w->dir.link = w->link;
		memcpy(w->dir.cid, w->cid, n * 8u);
		w->dir.cid[n] = rec_dir_check(&w->dir, n, w->at.bits);
		w->late_linked = true;
		if ((st = txn_batch_room(t, 1)) == NAM_OK)
			net_write(&t->batch, rec_dir_at(w->at), rec_dir(&w->dir), rec_dir_bytes(n));
	}
	return st == NAM_OK ? txn_batch_flush(t) : st;
}

/* ---- step 2 ---- */

static nam_status
write_versions(struct txn *t, uint64_t entries_check, struct txn_commit_line *line)
{
	nam_status st = NAM_OK;
	line->cid = t->cid;
	line->check = txn_commit_check(entries_check, t->lock, t->cid);
	txn_batch_open(t);
	for (uint32_t i = 0; st == NAM_OK && i < t->nwr; i++) {
		struct txn_write *w = t->wr[i];
		if (!txn_writes(w))
			continue;
		const struct txn_table_view *v = w->view;
		uint32_t len = (uint32_t)w->slot->meta;
		/* A row edited in place lies in the caller's memory, which the caller may use again
		 * after the answer. */
		if (nam_fault(EARLY_ANSWER))
			w->slot = nam_arena_copy(&t->arena, w->slot, sizeof *w->slot + TXN_PAD(len));
		struct rec_slot *s = w->slot;
		s->cid = t->cid;
		s->check = rec_slot_check(nam_hash(s->payload, len, 0), s->cid, s->meta, w->at.bits);
		if ((st = txn_batch_room(t, 2)) != NAM_OK)
			break;
		net_write(&t->batch, net_plus(w->at, v->head_bytes + w->target * v->slot_bytes), s,
		    (uint32_t)sizeof *s + TXN_PAD(len));
		if (w->arch) {
			w->arch->prev = w->link;
			uint32_t alen = (uint32_t)w->arch->meta;
			w->arch->check = rec_archive_check(nam_hash(w->arch->payload, alen, 0), w->arch);
			net_write(&t->batch, w->arch_at, w->arch, (uint32_t)sizeof *w->arch + TXN_PAD(alen));
			t->tw->stats.archived++;
		}
	}
	/* The commit line goes with the last doorbell: the transaction is not decided before all
	 * else is posted. I2 demands both. */
	if (st == NAM_OK && (st = txn_batch_room(t, 1)) == NAM_OK) {
		struct net_op *op = net_write(&t->batch, txn_intent_line(t, 0), line, 16);
		op->flags = NET_INLINE;
		st = nam_fault(EARLY_ANSWER) ? NAM_OK : net_run(&t->batch);
	}
	return st;
}

/* ---- step 3 ---- */

static void
add_directory(struct txn *t, struct txn_write *w)
{
	unsigned n = w->view->slots;
	w->dir.word = t->cid;
	w->dir.ident = w->ident;
	memcpy(w->dir.cid, w->cid, n * 8u);
	if (w->arch) {
		for (unsigned k = 0; k < n; k++)
			if (w->dir.cid[k] == w->arch->cid)
				w->dir.cid[k] |= REC_ARCHIVED;
		w->link = w->arch_at.bits;
	}
	w->dir.link = w->link;
	w->dir.cid[w->target] = t->cid;
	w->dir.cid[n] = rec_dir_check(&w->dir, n, w->at.bits);
	w->tomb = (w->slot->meta & REC_DELETED) != 0;
	net_write(&t->batch, rec_dir_at(w->at), rec_dir(&w->dir), rec_dir_bytes(n));
	struct net_op *op = net_write(&t->batch, w->at, &w->dir.word, 8);
	op->flags = NET_INLINE;
}

/* Queues the memory that the commit replaced: it may be freed when no snapshot needs it any more.
 * parks: in a coroutine, which gives its thread to others now and then. */
static void
junk_of_commit(struct txn *t, bool parks)
{
	txn_orders_junk(t);
	struct txn_worker *tw = t->tw;
	for (uint32_t i = 0; i < t->nwr; i++) {
		struct txn_write *w = t->wr[i];
		if (parks && i % TXN_OPS == TXN_OPS - 1)
			txn_give_way(tw); /* nothing of it is due before the mark */
		if (!txn_writes(w))
			continue;
		struct txn_junk j = { .cid = t->cid, .stock = w->view->stock };
		/* The next reader of this process finds the version at once. Inserted rows wait for
		 * their first reader. */
		if (w->kind == WR_UPDATE && w->view->has_key)
			idx_ptrs_put(tw->db->ptrs, w->ident, w->at, (uint8_t)(w->target + 1));
		if (w->arch) {
			j.kind = JUNK_ARCHIVE;
			j.at = w->arch_at;
			txn_junk_add(tw, j);
		}
		if (w->late) {
			j.kind = JUNK_ARCHIVE;
			j.at = w->late_at;
			txn_junk_add(tw, j);
		}
		for (unsigned k = 0; k < w->old_blobs_n; k++) {
			j.kind = JUNK_BLOB;
			j.at = w->old_blobs[k].at;
			j.len = w->old_blobs[k].len;
			j.aux = w->at.bits;
			txn_junk_add(tw, j);
		}
		if (w->tomb) {
			j.kind = JUNK_TOMB;
			j.at = w->at;
			j.aux = w->ident;
			txn_junk_add(tw, j);
		}
	}
}

/* The log is flushed, or never will be: then the commit is visible, and a restart may lose it. */
static void
mark_flushed(struct txn_flush *f)
{
	struct txn *t = (void *)((char *)f - offsetof(struct txn, flush));
	tso_mark(t->tw->tso, &t->claim, t->note, txn_marked, t);
}

/* Directories and words have landed: the mark may follow (T1). A node lost meanwhile does not
 * change the decision. */
static void
finish_behind(struct txn *t)
{
	junk_of_commit(t, false);
	txn_goto(t, TXN_MARKING);
	t->flush = (struct txn_flush){ .end = t->log_end, .then = mark_flushed };
	if (nam_fault(EARLY_MARK))
		txn_marked(t);
	else if (t->sync && !wal_reached(&t->log_end, &t->tw->flushed)) {
		tso_marks_late(t->tw->db->tso, t->tw->unrung ? 0 : t->tw->sync_ns);
		txn_flush_add(t->tw, &t->flush);
	} else {
		if (!t->sync)
			tso_marks_late(t->tw->db->tso, 0);
		mark_flushed(&t->flush);
	}
}

static void
mend_behind(void *arg)
{
	struct txn *t = arg;
	if (txn_mend(t))
		finish_behind(t);
	else
		txn_leave(t);
}

static void
installed(struct net_batch *b)
{
	struct txn *t = b->tag;
	if (b->status == NAM_OK)
		finish_behind(t);
	else if (nam_co_start(net_worker_sched(t->tw->w), mend_behind, t, 0) == NULL)
		txn_leave(t);
}

/* ---- commit ---- */

/* An insert that lost its block to a live row of the same key has a duplicate, not a conflict. */
static nam_status
name_conflict(struct txn *t)
{
	nam_status st = NAM_CONFLICT;
	for (uint32_t i = 0; i < t->nwr; i++) {
		const struct txn_write *w = t->wr[i];
		if (w->has != TXN_LOST || !txn_writes(w))
			continue;
		if (w->kind != WR_INSERT)
			return NAM_CONFLICT;
		if (!w->indexed)
			continue;
		struct rec_block *img = nam_arena_take(&t->arena, w->view->block_bytes);
		if (img == NULL ||
		    net_read1(t->tw->w, w->at, img, w->view->block_bytes, &t->counts) != NAM_OK ||
		    !txn_rec_dir_whole(w->view, img, w->at) || img->ident != w->ident)
			return NAM_CONFLICT;
		unsigned k = txn_rec_newest(w->view, img);
		const struct rec_slot *s = k == REC_NO_SLOT ? NULL : rec_slot_of(w->view, img, k);
		if (s == NULL || !txn_rec_slot_whole(w->view, s, rec_cid(img, k), w->at) ||
		    (s->meta & REC_DELETED))
			return NAM_CONFLICT;
		st = NAM_DUPLICATE;
	}
	return st == NAM_DUPLICATE && txn_is_overtaken(t) ? NAM_CONFLICT : st;
}

/* The commit stays decided, however the wait ends. */
static nam_status
visible(struct txn_worker *tw, tso_cid cid, const struct txn_limits *l)
{
	struct tso_timeout p = txn_timeout(l);
	return tso_wait_for_by(tw->tso, cid, &p) == NAM_OK ? NAM_OK : NAM_UNSEEN;
}

static bool
writes_any(const struct txn *t)
{
	for (uint32_t i = 0; i < t->nwr; i++)
		if (txn_writes(t->wr[i]))
			return true;
	return false;
}

/* There is nothing to decide: gives back the locks, and the memory taken in vain. */
static nam_status
commit_nothing(struct txn *t, uint64_t trips)
{
	struct txn_worker *tw = t->tw;
	txn_goto(t, TXN_UNDOING);
	if (t->lock != 0 && txn_free_locks(t) != NAM_OK) {
		txn_leave(t);
		return NAM_OK;
	}
	if (nam_fault(STOCKED_CID) && t->claimed)
		txn_mark_and_wait(t, 0);
	txn_junk_of_abort(t);
	tw->last_round_trips = (uint32_t)(t->counts.round_trips - trips);
	txn_recycle(t);
	return NAM_OK;
}

/* Step 1: the write set, all locks, the CID. *guarded: the guards were READ when all rows were
 * locked. */
static nam_status
lock_all(struct txn *t, struct txn_intent_head **h, bool *guarded)
{
	struct txn_worker *tw = t->tw;
	bool serial = t->iso == TXN_SERIALIZABLE;
	nam_status st;
	txn_goto(t, TXN_LOCKING);
	if ((st = txn_ensure_lock(t)) != NAM_OK || (st = archives_take(t)) != NAM_OK ||
	    (st = write_set(t, h)) != NAM_OK)
		return st;
	/* What refers to others asks for guards behind its index entries. */
	*guarded = all_locked(t) && t->nrelied + t->nforbids == 0;
	struct net_backoff pause = TXN_LOCK_BACKOFF;
	st = lock_round(t, !serial && !t->claimed, *h, *guarded);
	uint64_t until = st == NAM_BUSY ? net_now_ns(tw->w) + TXN_COLLECTOR_NS : 0;
	for (unsigned tries = 1; st == NAM_BUSY && (tries < TXN_LOCK_TRIES || collected_soon(t, until));
	     tries++) {
		net_back_off(tw->w, &pause);
		if (tries % TXN_LOCK_TRIES == TXN_LOCK_TRIES / 2)
			free_dead(t);
		if ((st = txn_go_on(t)) == NAM_OK)
			st = lock_round(t, false, NULL, false);
	}
	if (st == NAM_BUSY)
		st = stuck(t) ? NAM_STUCK : NAM_CONFLICT;
	if (st == NAM_OK)
		st = txn_orders_enter(t);
	if (serial && st == NAM_OK)
		claim_start(t);
	if (t->claimed) {
		struct tso_timeout p = txn_timeout(&t->limits);
		nam_status claim = tso_claim_wait_by(tw->tso, &t->claim, &p);
		if (serial)
			t->counts.round_trips++;
		if (st == NAM_OK)
			st = claim;
		t->cid = t->claim.cid;
	}
	return st;
}

/* With all locks held: NAM_OK if the read set and the guards are unchanged. *held: a guard that
 * another transaction has locked. */
static nam_status
check_all(struct txn *t, bool guarded, net_addr *held)
{
	txn_goto(t, TXN_CHECKING);
	nam_status st = t->iso == TXN_SERIALIZABLE ? txn_validate(t) : NAM_OK;
	if (st == NAM_OK)
		st = txn_refer_check(t, &guarded);
	if (st == NAM_OK)
		st = archive_late(t, !guarded);
	return st == NAM_OK ? txn_guards_judge(t, held) : st;
}

/* Step 2. */
static nam_status
decide(struct txn *t, const struct txn_intent_head *h, uint64_t trips)
{
	struct txn_worker *tw = t->tw;
	struct txn_commit_line line;
	txn_goto(t, TXN_WRITING);
	nam_status st = txn_log_start(t, h);
	if (st != NAM_OK)
		return st;
	st = write_versions(t, h->check, &line);
	nam_status logged = txn_log_wait(t);
	if (st != NAM_OK || logged != NAM_OK)
		return st != NAM_OK ? st : logged;
	txn_goto(t, TXN_DECIDED);
	if (!t->sync)
		tso_answered(tw->db->tso, t->cid);
	tw->stats.commits++;
	tw->last_round_trips = (uint32_t)(t->counts.round_trips - trips);
	return NAM_OK;
}

/* A disk that works answers within this time: then a cancel comes too late. */
enum { LAND_NS = 50000, LAND_TRIES = 20000, PATIENCE_NS = 200000000 };

/* The answer of a commit whose records end there in the log. NAM_UNSURE: it is visible, and was not
 * made durable. */
static nam_status
flushed(struct txn_worker *tw, const struct txn_limits *limits, bool sync, struct wal_ends end, tso_cid cid)
{
	const struct txn_limits cancel = { .cancel = limits->cancel };
	if (!sync || nam_fault(LOG_UNFLUSHED))
		return NAM_OK;
	nam_status st = txn_flush_wait_by(tw, end, limits->unflushed != NULL ? &cancel : NULL, PATIENCE_NS);
	/* Earlier commits of this process may wait for the same disk. Its snapshots do not wait for
	 * their marks on account of this one: they cover it as soon as they can. */
	if (st == NAM_CANCELLED) {
		*limits->unflushed = true;
		return NAM_OK;
	}
	tso_answered(tw->db->tso, cid);
	return st == NAM_OK ? NAM_OK : NAM_UNSURE;
}

/* flushed() of a commit that ends behind its answer. If its wait is cut short, its mark follows
 * now, or, if its directories do not land in time, by itself. */
static nam_status
flushed_behind(struct txn_worker *tw, const struct txn_limits *limits, struct wal_ends end, tso_cid cid)
{
	nam_status st = flushed(tw, limits, true, end, cid);
	if (limits->unflushed != NULL && *limits->unflushed)
		/* Its directories may be on their way. */
		for (unsigned i = 0; i < LAND_TRIES && !wal_reached(&end, &tw->flushed) &&
				     !txn_flush_skip(tw, end) && !tso_abandoned(tw->db->tso);
		     i++)
			net_sleep(tw->w, LAND_NS);
	return st;
}

/* Step 3. A long write set is finished before the answer; READ COMMITTED's locks without a write
 * are freed as well. */
static nam_status
install(struct txn *t, const struct txn_limits *limits)
{
	struct txn_worker *tw = t->tw;
	uint64_t cid = t->cid;
	struct wal_ends end = t->log_end;
	bool cluster = t->cluster_visible, broken = false, sync = t->sync;
	bool wait = cluster || t->finish || t->nwr > TXN_ASYNC_MAX;
	if (nam_fault(EARLY_MARK)) {
		txn_mark_and_wait(t, t->note);
		txn_goto(t, TXN_DECIDED);
	}
	if (!nam_fault(EARLY_ANSWER))
		txn_batch_open(t);
	if (nam_fault(EARLY_INTENT)) {
		t->intent->next = tw->intent_free;
		tw->intent_free = t->intent;
		t->intent = NULL;
	}
	for (uint32_t i = 0; i < t->nwr; i++) {
		if (t->batch.n + 2 > t->batch.cap) {
			broken |= txn_batch_flush(t) != NAM_OK;
			txn_give_way(tw); /* there are so many writes that the answer waits */
			if (wait && txn_out_of_time(t)) {
				txn_leave(t); /* decided: the recoverer goes on */
				return flushed(tw, limits, sync, end, cid);
			}
		}
		if (txn_writes(t->wr[i])) {
			add_directory(t, t->wr[i]);
			t->wr[i]->has = TXN_FREE;
		} else if (t->wr[i]->has == TXN_LOCKED) {
			net_cas(&t->batch, t->wr[i]->at, t->lock, t->wr[i]->expect);
		}
	}
	if (!wait) {
		t->batch.tag = t;
		net_post_then(&t->batch, installed); /* t may be gone from here on */
		return sync ? flushed_behind(tw, limits, end, cid) : NAM_OK;
	}
	if ((txn_batch_flush(t) != NAM_OK || broken) && !txn_mend(t)) {
		txn_leave(t);
		nam_status st = flushed(tw, limits, sync, end, cid);
		return st == NAM_OK && cluster ? visible(tw, cid, limits) : st;
	}
	junk_of_commit(t, true);
	nam_status st = flushed(tw, limits, sync, end, cid);
	if (!nam_fault(EARLY_MARK))
		txn_mark_and_wait(t, t->note);
	if (t->claim.op.status == NAM_OK)
		txn_more_give(t);
	txn_through(t);
	return st == NAM_OK && cluster ? visible(tw, cid, limits) : st;
}

nam_status
txn_commit(struct txn *t, tso_cid *cid_out)
{
	struct txn_worker *tw = t->tw;
	struct txn_limits limits = t->limits;
	struct txn_intent_head *h = NULL;
	uint64_t trips = t->counts.round_trips;
	net_addr held = { 0 };
	bool guarded = false;
	/* The budget's owner may be gone before the last step ends. */
	if (t->arena.budget != NULL)
		nam_arena_charge(&t->arena, NULL);
	if (cid_out)
		*cid_out = 0;
	if (!writes_any(t))
		return commit_nothing(t, trips);

	nam_status st = t->latest && !txn_latest_whole(t) ? NAM_INVALID : txn_local_enter(t);
	if (st == NAM_OK)
		st = lock_all(t, &h, &guarded);
	if (st == NAM_OK)
		st = check_all(t, guarded, &held);
	if (st == NAM_OK)
		st = decide(t, h, trips);
	/* Also for a commit that ends behind its commit line: its owner has to find out its
	 * outcome. */
	if (cid_out && (t->state == TXN_WRITING || t->state == TXN_DECIDED))
		*cid_out = t->cid;
	txn_local_leave(t, st == NAM_OK ? t->cid : 0);
	if (st == NAM_OK)
		return install(t, &limits);

	if (st == NAM_CONFLICT) {
		tw->stats.conflicts++;
		st = name_conflict(t);
	}
	if (!txn_roll_back(t))
		return NAM_UNSURE;
	/* Wait until the table is unlocked, so that the caller's retry does not fail at once. No
	 * lock is held here. */
	if (held.bits != 0)
		txn_guard_wait(tw, held, &limits);
	return st;
}
