/*
 * recover.c -- recovers compute processes that have stopped (README, "Recovery").
 *
 * The owner is fenced on every storage node and its slot sealed with our name (tsoracle/seal.c)
 * before anything here runs, so only this process changes blocks under the owner's locks. If this
 * process stops, the next recoverer can repeat each step: each repetition writes the same directory
 * and the same word, and the bytes that decide (the commit line, the listed words, the versions)
 * stay as they are until the last listed word has been freed.
 */
#include "txn_internal.h"

#include <base/fault.h>
#include <base/log.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SWEEP_NS = 5000000,
	AGAIN_NS = 1000000000, /* a slot that cannot be recovered is tried less and less often, up
			        * to this pause */
	TELL_NS = 2000000000,  /* after so long, waits for its owner end with NAM_STUCK */
	PART = 16,             /* entries looked at together */
	SLOT_BYTES = sizeof(struct rec_slot) + TXN_PAD(TXN_ROW_MAX),
	ARCHIVE_BYTES = sizeof(struct rec_archive) + TXN_PAD(TXN_ROW_MAX),
};

/* Bits of an entry's `what`, in our copy: its block was still locked when we looked; the directory
 * leads to the `late` archive. */
#define WHAT_MINE   (UINT64_C(1) << 40)
#define WHAT_LINKED (UINT64_C(1) << 41)

/*
 * A node that was replaced has lost its memory for all processes. What an attempt had there decides
 * nothing and is left out: a row there is neither still locked nor freed, and an archive there is
 * not linked, because its version still lies in its slot. The rest of the attempt is finished or
 * undone as a whole. If the intent itself lay there, no process can tell how its attempt was to
 * end: the owner's other attempts are recovered, and its slot stays sealed, with a line that says
 * why. A node that only does not answer may live: then nothing is left out, and the recovery waits.
 */

/* One attempt being recovered. */
struct attempt {
	struct txn_worker *tw;
	net_addr intent;
	struct txn_commit_line line;
	struct txn_intent_head head;
	struct txn_intent_entry *entry; /* NULL = the write set is not whole: nothing is decided */
	unsigned unread;                /* if part of the write set lay on a replaced node: which */
	struct net_set lost;            /* nodes that were replaced when its recovery began */
	bool valid;                     /* the commit line is this attempt's */
	bool decided;
	bool left;               /* a listed word has left the lock */
	struct wal_ends log_end; /* of a decided one: positions behind its records */
	uint64_t locked;         /* listed blocks still locked by it */
	/* of the part being looked at */
	struct net_batch batch;
	struct net_op op[3 * PART];
	struct txn_table_view shape;
	struct rec_block block[PART];
	uint64_t slot[PART][SLOT_BYTES / 8];
	uint64_t archive[PART][ARCHIVE_BYTES / 8];
};

/* ---- what the attempt left ---- */

static void
shape_of(struct attempt *a, const struct txn_intent_entry *e)
{
	txn_view_sizes(&a->shape, (unsigned)(e->what >> 8) & 0xff, (uint32_t)(e->what >> 16) & 0xffff);
}

static unsigned
target_of(const struct txn_intent_entry *e)
{
	return (unsigned)e->what & 0xff;
}

static bool
entry_sane(const struct txn_intent_entry *e)
{
	unsigned slots = (unsigned)(e->what >> 8) & 0xff;
	return slots >= 2 && slots <= REC_SLOTS_MAX && target_of(e) < slots &&
	       ((e->what >> 16) & 0xffff) <= TXN_ROW_MAX && (e->expect & REC_LOCK) == 0;
}

static bool
is_lost(struct attempt *a, uint64_t at)
{
	return at != 0 && net_set_has(&a->lost, net_region_of((net_addr){ at }));
}

/* READs entries that do not fit the intent. NAM_ABSENT: they are not there. */
static nam_status
read_spread(struct attempt *a, uint64_t bytes)
{
	struct txn_spread s;
	uint64_t *list, from;
	net_addr root = { a->head.more };
	struct net_batch *b = &a->batch;
	unsigned n = txn_spread_n(bytes);
	if (is_lost(a, root.bits)) {
		a->unread = net_region_of(root);
		return NAM_GONE;
	}
	nam_status st = txn_spread_read(a->tw->w, root, a->head.lock, &s, &list);
	if (st == NAM_OK && s.n != n)
		st = NAM_ABSENT;
	net_batch_init(b, a->tw->w, a->op, 3 * PART, NULL);
	for (unsigned i = 0; st == NAM_OK && i <= n; i++) {
		net_addr at = i == 0 ? net_plus(root, txn_spread_begin(n))
				     : (net_addr){ txn_ledger_extent(list[i - 1]) };
		uint32_t part = txn_spread_piece(bytes, n, i, &from);
		if (is_lost(a, at.bits)) {
			a->unread = net_region_of(at);
			st = NAM_GONE;
			break;
		}
		net_read(b, at, (char *)a->entry + from, part);
		if (b->n == b->cap || i == n)
			st = net_run(b);
	}
	free(list);
	return st;
}

/* The write set, if all of it has landed. */
static nam_status
read_entries(struct attempt *a)
{
	const struct txn_intent_head *h = &a->head;
	struct net_worker *w = a->tw->w;
	if (h->n == 0 || (h->more == 0 && h->n > TXN_INTENT_ENTRIES) || h->n > UINT32_MAX / 2 ||
	    txn_spread_n(h->n * sizeof *a->entry) > TXN_SPREAD_MOST)
		return NAM_OK;
	size_t bytes = h->n * sizeof *a->entry;
	if ((a->entry = malloc(bytes)) == NULL)
		return NAM_NOMEM;
	nam_status st = NAM_OK;
	if (h->more == 0)
		st = net_read1(w, net_plus(a->intent, 128), a->entry, (uint32_t)bytes, NULL);
	else
		st = read_spread(a, bytes);
	if (st == NAM_ABSENT) { /* the head never was whole, or it is being given back */
		free(a->entry);
		a->entry = NULL;
		return NAM_OK;
	}
	bool sound = st == NAM_OK && h->check == txn_head_check(h, nam_hash(a->entry, bytes, 0));
	for (size_t i = 0; sound && i < h->n; i++)
		sound = entry_sane(&a->entry[i]);
	if (!sound) {
		free(a->entry);
		a->entry = NULL;
	}
	return st;
}

/* READs the blocks' heads of a part; deep: the slots written and the archives as well. */
static nam_status
read_part(struct attempt *a, size_t from, unsigned n, bool deep)
{
	net_batch_init(&a->batch, a->tw->w, a->op, 3 * PART, NULL);
	for (unsigned i = 0; i < n; i++) {
		const struct txn_intent_entry *e = &a->entry[from + i];
		net_addr at = { e->at };
		shape_of(a, e);
		a->block[i].word = 0; /* no lock */
		if (is_lost(a, e->at))
			continue;
		net_read(&a->batch, at, &a->block[i], rec_head_bytes(a->shape.slots));
		if (deep)
			net_read(&a->batch,
			    net_plus(at, a->shape.head_bytes + target_of(e) * a->shape.slot_bytes),
			    a->slot[i], (uint32_t)sizeof(struct rec_slot) + TXN_PAD(a->shape.row_max));
		if (e->archive != 0 && !is_lost(a, e->archive))
			net_read(&a->batch, (net_addr){ e->archive }, a->archive[i],
			    (uint32_t)sizeof(struct rec_archive) + (deep ? TXN_PAD(a->shape.row_max) : 0));
	}
	return a->batch.n > 0 ? net_run(&a->batch) : NAM_OK;
}

/* I2: true if version and archive of this entry are as they were to be written. */
static bool
entry_whole(struct attempt *a, const struct txn_intent_entry *e, unsigned i)
{
	const struct rec_slot *s = (const void *)a->slot[i];
	shape_of(a, e);
	if (!txn_rec_slot_whole(&a->shape, s, a->line.cid, (net_addr){ e->at }) ||
	    (s->meta & REC_DELETED) != (e->what & TXN_WHAT_DELETED))
		return false;
	if (e->archive == 0 || is_lost(a, e->archive))
		return true;
	const struct rec_archive *r = (const void *)a->archive[i];
	uint32_t len = (uint32_t)r->meta;
	return r->home == e->at && len <= a->shape.row_max &&
	       r->check == rec_archive_check(nam_hash(r->payload, len, 0), r);
}

static nam_status
decide(struct attempt *a)
{
	bool whole = true, left = false;
	a->locked = 0;
	for (size_t from = 0; from < a->head.n; from += PART) {
		unsigned n = a->head.n - from < PART ? (unsigned)(a->head.n - from) : PART;
		nam_status st = read_part(a, from, n, a->valid && whole && !left);
		if (st != NAM_OK)
			return st;
		for (unsigned i = 0; i < n; i++) {
			bool mine = a->block[i].word == a->head.lock;
			a->locked += mine;
			if (a->valid && whole && !left && mine)
				whole = entry_whole(a, &a->entry[from + i], i);
			left = left || (!mine && !is_lost(a, a->entry[from + i].at));
		}
	}
	a->left = left;
	a->decided = a->valid && (left || whole);
	return NAM_OK;
}

/*
 * With a log (logged_format.h, J1, J3): if no word has left the lock, the attempt is decided only
 * if all copies of the log have received its records, which no process can send any more. If it is
 * undone although copies have them, these are told so first.
 */
static nam_status
decide_by_log(struct attempt *a)
{
	bool has;
	unsigned copies;
	if (a->tw->db->wal_copies == 0)
		return NAM_OK;
	if (a->tw->db->wal.copies == 0)
		return txn_life_unborn(a->tw);
	nam_status st = txn_log_has(a->tw, a->head.lock, a->head.check, &has, &copies, &a->log_end);
	if (st != NAM_OK || (a->decided && a->left))
		return st;
	a->decided = a->decided && (has || nam_fault(LOG_UNASKED));
	return a->decided || copies == 0 || nam_fault(LOG_UNTOLD)
		   ? NAM_OK
		   : txn_log_undone(a->tw, a->head.lock, a->head.check, copies);
}

/* ---- finish or undo ---- */

/* The bytes the directory must have (I6). img: its present bytes, which may be a cut-short WRITE of
 * them. */
static void
directory_of(struct attempt *a, const struct txn_intent_entry *e, unsigned i, struct rec_block *img)
{
	unsigned n = a->shape.slots;
	img->ident = e->ident;
	if (e->late != 0)
		img->link = e->late;
	if (a->decided && e->archive != 0 && !is_lost(a, e->archive)) {
		const struct rec_archive *r = (const void *)a->archive[i];
		for (unsigned k = 0; k < n; k++)
			if (rec_cid(img, k) == r->cid)
				img->cid[k] |= REC_ARCHIVED;
		img->link = e->archive;
	}
	if (a->decided)
		img->cid[target_of(e)] = a->line.cid;
	else if (e->late != 0)
		img->cid[target_of(e)] |= REC_ARCHIVED;
	img->cid[n] = rec_dir_check(img, n, e->at);
}

/* WRITEs directories, and behind each, on the same connection, its word. */
static nam_status
install_part(struct attempt *a, size_t from, unsigned n)
{
	nam_status st = read_part(a, from, n, false);
	if (st != NAM_OK)
		return st;
	net_batch_init(&a->batch, a->tw->w, a->op, 3 * PART, NULL);
	for (unsigned i = 0; i < n; i++) {
		struct txn_intent_entry *e = &a->entry[from + i];
		struct rec_block *img = &a->block[i];
		net_addr at = { e->at };
		if (img->word != a->head.lock)
			continue;
		e->what |= WHAT_MINE;
		shape_of(a, e);
		/* Undone: only a directory that was being given its `late` link may have
		 * changed. */
		bool torn = !txn_rec_dir_whole(&a->shape, img, at);
		if (torn && !a->decided && e->late == 0)
			return NAM_CORRUPT;
		if (torn || a->decided) {
			directory_of(a, e, i, img);
			net_write(&a->batch, rec_dir_at(at), rec_dir(img), rec_dir_bytes(a->shape.slots));
		}
		if (e->late != 0 && img->link == e->late)
			e->what |= WHAT_LINKED;
		net_cas(&a->batch, at, a->head.lock, a->decided ? a->line.cid : e->expect);
	}
	return a->batch.n > 0 ? net_run(&a->batch) : NAM_OK;
}

/* The table of a block, if it is open here; we have a pin. */
static struct txn_table_view *
view_of(struct attempt *a, uint64_t block)
{
	struct txn_extent ext = { 0 };
	net_addr at = { block & ~(uint64_t)(NET_EXTENT - 1) };
	if (net_read1(a->tw->w, at, &ext, sizeof ext, NULL) != NAM_OK)
		return NULL;
	struct txn_stock *k = txn_stock_of(a->tw->db, ext.table);
	struct txn_table_view *v = k != NULL ? atomic_load(&k->view) : NULL;
	if (k != NULL)
		txn_stock_leave(k);
	return v;
}

/* Queues the memory that an attempt had taken, to be given back as its owner would have done. */
static void
take_over(struct attempt *a, const struct txn_intent_entry *e)
{
	struct txn_worker *tw = a->tw;
	bool deleted = (e->what & TXN_WHAT_DELETED) != 0, fresh = (e->what & TXN_WHAT_FRESH) != 0;
	if (e->archive == 0 && e->late == 0 && !deleted && !fresh)
		return;
	struct txn_table_view *v = view_of(a, e->at);
	if (v == NULL)
		return;
	struct txn_junk j = { .cid = a->line.cid, .kind = JUNK_ARCHIVE, .stock = v->stock };
	if (a->decided) {
		for (unsigned k = 0; k < 2; k++)
			if ((j.at.bits = k == 0 ? e->archive : e->late) != 0)
				txn_junk_add(tw, j);
		if (deleted)
			txn_junk_add(tw, (struct txn_junk){ .cid = a->line.cid,
					     .kind = JUNK_TOMB,
					     .stock = v->stock,
					     .at = { e->at },
					     .aux = e->ident });
		return;
	}
	if (e->archive != 0) /* no directory leads to it before the decision */
		txn_archive_give(tw, v, (net_addr){ e->archive });
	j.cid = e->expect;
	j.at.bits = e->late;
	if (e->what & WHAT_LINKED)
		txn_junk_add(tw, j);
	else if (e->late != 0 && (e->what & WHAT_MINE))
		txn_archive_give(tw, v, j.at);
	if (fresh && v->has_key)
		txn_junk_add(
		    tw, (struct txn_junk){
			    .kind = JUNK_EMPTY, .stock = v->stock, .at = { e->at }, .aux = e->ident });
	else if (fresh)
		txn_block_give(tw, v, (net_addr){ e->at }, e->expect);
}

/*
 * Empties the intent's head. After that no process finds the attempt, so its memory can be given
 * back, once. unfinished: its owner had not begun to give any of it back.
 */
static nam_status
forget(struct attempt *a, bool unfinished)
{
	static const struct txn_intent_head none;
	struct txn_intent_head h = { .lock = a->head.lock, .more = a->head.more };
	nam_status st =
	    net_write1(a->tw->w, net_plus(a->intent, 64), a->head.more != 0 ? &h : &none, sizeof none, NULL);
	for (size_t i = 0; st == NAM_OK && a->entry != NULL && unfinished && i < a->head.n; i++)
		if (!is_lost(a, a->entry[i].at))
			take_over(a, &a->entry[i]);
	if (st == NAM_OK && a->head.more != 0)
		st = txn_spread_give(a->tw, a->intent, a->head.lock, (net_addr){ a->head.more });
	return st;
}

/* Its write set may lie on more nodes than its head. */
static nam_status
recover_attempt(struct attempt *a, unsigned *lost)
{
	static const struct txn_commit_line none;
	nam_status st = read_entries(a);
	if (st == NAM_GONE && a->unread != 0) {
		*lost = a->unread;
		return NAM_OK;
	}
	if (st != NAM_OK)
		return st;
	if (a->entry == NULL) /* only locks of it were written; a process that meets one frees it */
		return forget(a, false);
	a->valid =
	    a->line.cid != 0 && a->line.check == txn_commit_check(a->head.check, a->head.lock, a->line.cid);
	if ((st = decide(a)) != NAM_OK)
		return st;
	if ((st = decide_by_log(a)) != NAM_OK)
		return st;
	/* I5. A later recoverer would take a word that is freed here as a proof of the decision. */
	if (a->valid && !a->decided &&
	    (st = net_write1(a->tw->w, a->intent, &none, sizeof none, NULL)) != NAM_OK)
		return st;
	for (size_t from = 0; a->locked > 0 && st == NAM_OK && from < a->head.n; from += PART)
		st = install_part(a, from, a->head.n - from < PART ? (unsigned)(a->head.n - from) : PART);
	bool was = false;
	/* As its owner would: a restart loses nothing that a snapshot shows. */
	if (st == NAM_OK && a->decided)
		(void)txn_flush_wait(a->tw, a->log_end);
	if (st == NAM_OK && a->decided)
		st = tso_mark_for(a->tw->tso, a->line.cid, (unsigned)a->head.note, &was);
	if (st != NAM_OK)
		return st;
	if (a->locked > 0 && a->decided)
		a->tw->stats.finished++;
	else if (a->locked > 0)
		a->tw->stats.undone++;
	a->tw->stats.doubtful += a->valid && !a->decided;
	return forget(a, a->decided ? !was : a->locked > 0);
}

/* ---- all of an owner ---- */

/* The 16 intents of one extent of its log. lost: of the nodes that were replaced, gets the one with
 * an intent, or with the rest of one. */
static nam_status
recover_chunk(struct txn_worker *tw, const struct tso_lapse *l, net_addr chunk, unsigned *lost)
{
	struct net_op op[TXN_INTENTS_A_CHUNK];
	struct net_batch b;
	struct net_set replaced = net_replaced(net_worker_net(tw->w));
	struct {
		struct txn_commit_line line;
		struct txn_intent_head head;
	} lines[TXN_INTENTS_A_CHUNK];
	if (net_set_has(&replaced, net_region_of(chunk))) {
		*lost = net_region_of(chunk);
		return NAM_OK;
	}
	net_batch_init(&b, tw->w, op, TXN_INTENTS_A_CHUNK, NULL);
	for (unsigned i = 0; i < TXN_INTENTS_A_CHUNK; i++)
		net_read(&b, net_plus(chunk, i * TXN_INTENT_BYTES), &lines[i], sizeof lines[i]);
	nam_status st = net_run(&b);
	for (unsigned i = 0; st == NAM_OK && i < TXN_INTENTS_A_CHUNK; i++) {
		uint64_t lock = lines[i].head.lock;
		if ((lock & REC_LOCK) == 0 || txn_lock_owner(lock) != l->slot ||
		    txn_lock_epoch(lock) != l->epoch)
			continue;
		struct attempt *a = calloc(1, sizeof *a);
		if (a == NULL)
			return NAM_NOMEM;
		a->tw = tw;
		a->lost = replaced;
		a->intent = net_plus(chunk, i * TXN_INTENT_BYTES);
		a->line = lines[i].line;
		a->head = lines[i].head;
		st = recover_attempt(a, lost);
		free(a->entry);
		free(a);
	}
	return st;
}

static nam_status
recover_log(struct txn_worker *tw, const struct tso_lapse *l, struct nam_err *err)
{
	net_addr log;
	uint64_t chunk[TXN_CHUNKS];
	unsigned lost = 0;
	struct net_set replaced = net_replaced(net_worker_net(tw->w));
	nam_status st = net_read1(tw->w, tso_log_at(tw->db->tso, l->slot), &log.bits, sizeof log.bits, NULL);
	if (st != NAM_OK || log.bits == 0)
		return st;
	if (net_set_has(&replaced, net_region_of(log)))
		lost = net_region_of(log);
	else
		st = net_read1(tw->w, log, chunk, sizeof chunk, NULL);
	for (unsigned i = 0; st == NAM_OK && lost == 0 && i < TXN_CHUNKS; i++)
		if (chunk[i] != 0)
			st = recover_chunk(tw, l, (net_addr){ chunk[i] }, &lost);
	if (st == NAM_OK && lost != 0)
		return nam_fail(err, NAM_GONE,
		    "storage node %u came back without the intents that tell how its commits were to end",
		    lost);
	return st;
}

/* Recovers resize locks of the tables open here. Those of other tables are freed by the processes
 * that need them. */
static nam_status
recover_indexes(struct txn_worker *tw, const struct tso_lapse *l)
{
	uint64_t dead = txn_lock_word(l->slot, l->epoch, TXN_INTENT_INDEX, 0);
	nam_status st = NAM_OK;
	struct txn_stock **all;
	struct net_set replaced = net_replaced(net_worker_net(tw->w));
	unsigned n;
	if (!txn_stocks_open(tw->db, &all, &n))
		return NAM_NOMEM;
	for (unsigned i = 0; i < n; i++) {
		struct txn_stock *k = all[i];
		struct txn_anchor a;
		/* Under our pin: a table that is open now is not given back before we have
		 * finished. */
		if (st == NAM_OK && atomic_load(&k->view) != NULL &&
		    net_read1(tw->w, k->anchor, &a, sizeof a, NULL) == NAM_OK &&
		    a.magic == TXN_ANCHOR_MAGIC && a.table == k->table) {
			st = txn_parts_recover(tw, k, dead);
			if (st == NAM_OK && k->index != NULL) {
				st = idx_hash_recover(tw->w, k->index, dead, NULL);
				txn_index_doubt(tw, k->index);
			}
			/* A part of it may be lost; a process that needs it frees the lock. */
			if (st == NAM_GONE && !net_set_none(&replaced))
				st = NAM_OK;
			/* A table may be dropped meanwhile; then there is no index any more. */
			if (st == NAM_ABSENT || st == NAM_CORRUPT)
				st = NAM_OK;
		}
		txn_stock_leave(k);
	}
	free(all);
	return st;
}

static nam_status
recover_owner(struct txn_worker *tw, const struct tso_lapse *l, struct nam_err *err)
{
	uint64_t begin = net_now_ns(tw->w);
	nam_status st = tso_seal(tw->tso, l, err);
	if (st != NAM_OK)
		return st;
	uint64_t sealed = net_now_ns(tw->w), deaths;
	st = recover_log(tw, l, err);
	if (st == NAM_OK)
		st = recover_indexes(tw, l);
	nam_status (*gone)(void *, struct txn_worker *) = atomic_load(&tw->db->gone);
	if (st == NAM_OK && gone != NULL)
		st = gone(tw->db->gone_arg, tw);
	/* A sweep finds the memory that the owner had at hand, and memory that the steps above
	 * could not give back. If a recoverer stops before all processes have been told, that
	 * counts as a death as well. */
	if (st == NAM_OK)
		st = net_faa1(tw->w, tw->db->deaths, 1, &deaths, NULL);
	if (st == NAM_OK)
		st = tso_unseal(tw->tso, l);
	/* This process has sealed the slot: it tries again when its own connections are whole, or
	 * else its own recoverer does. */
	if (st == NAM_GONE)
		txn_reach(tw);
	if (st != NAM_OK)
		return st;
	tw->stats.recovered++;
	nam_log(NAM_LOG_INFO,
	    "the compute process in owner slot %u %s: it was silent for %.1f ms, fenced in %.1f ms, "
	    "recovered in %.1f ms",
	    l->slot, l->heard != NET_UNHEARD ? "is gone" : "has stopped", (double)l->still_ns / 1e6,
	    (double)(sealed - begin) / 1e6, (double)(net_now_ns(tw->w) - sealed) / 1e6);
	/* If this process stops before all processes know, its own recoverer tells them. */
	tw->untold = true;
	return NAM_OK;
}

/*
 * Spends a CID with a note: the next worker that takes memory looks at the anchor. In a coroutine
 * beside the recoverer's, because a CID may have to wait until older ones of a small vector are
 * marked, and those may belong to dead owners that the recoverer is about to recover.
 */
static void
tell(void *worker)
{
	struct txn_worker *tw = worker;
	struct tso_pin pin;
	tso_cid cid;
	net_account_to(&tw->background);
	nam_status st = tso_pin_now(tw->tso, &pin);
	if (st == NAM_OK)
		st = txn_cid_spend(tw, TSO_NOTE_MEMORY, &cid);
	tso_unpin(tw->tso, &pin);
	tw->untold |= st != NAM_OK;
	tw->telling = false;
	tw->helpers--;
}

static void
tell_all(struct txn_worker *tw)
{
	if (!tw->untold || tw->telling || atomic_load(&tw->db->failed))
		return;
	tw->untold = false;
	tw->telling = true;
	tw->helpers++;
	if (nam_co_start(net_worker_sched(tw->w), tell, tw, 0) != NULL)
		return;
	tw->untold = true;
	tw->telling = false;
	tw->helpers--;
}

/* What the recoverer remembers of a slot that it could not recover. */
struct unrecovered {
	unsigned epoch; /* 0 = nothing */
	bool warned;
	uint64_t since_ns, next_ns, pause_ns;
};

/* True if it may be tried now. */
static bool
is_due(struct txn_worker *tw, struct unrecovered *u, const struct tso_lapse *l)
{
	if (u->epoch != l->epoch) {
		tso_unrecovered(tw->db->tso, l->slot, 0, NULL);
		*u = (struct unrecovered){ 0 };
	}
	return net_now_ns(tw->w) >= u->next_ns;
}

/* One line for each owner, however often it is tried. */
static void
not_recovered(struct txn_worker *tw, struct unrecovered *u, const struct tso_lapse *l, nam_status st,
    const struct nam_err *err)
{
	uint64_t now = net_now_ns(tw->w);
	const char *why = err->text[0] != 0 ? err->text : nam_status_text(st);
	if (u->epoch == 0)
		*u = (struct unrecovered){ .epoch = l->epoch, .since_ns = now, .pause_ns = SWEEP_NS };
	u->pause_ns = u->pause_ns < AGAIN_NS / 2 ? 2 * u->pause_ns : AGAIN_NS;
	u->next_ns = now + u->pause_ns;
	if (now - u->since_ns >= TELL_NS)
		tso_unrecovered(tw->db->tso, l->slot, l->epoch, why);
	/* A broken connection is soon a new one, or one to a node that has ended. */
	if (u->warned || atomic_load(&tw->db->failed) || (err->text[0] == 0 && now - u->since_ns < AGAIN_NS))
		return;
	u->warned = true;
	nam_log(NAM_LOG_WARN,
	    "the compute process in owner slot %u has stopped, and what it locked cannot be freed yet: %s",
	    l->slot, why);
}

void
txn_recoverer(void *worker)
{
	struct txn_worker *tw = worker;
	struct tso *t = tw->db->tso;
	uint64_t freed = 0, deaths, news = 0;
	net_account_to(&tw->background);
	/* Only those of slots that were ever used are touched. */
	struct unrecovered *slot;
	while ((slot = calloc(TSO_OWNERS, sizeof *slot)) == NULL && !tw->stopping)
		net_sleep(tw->w, SWEEP_NS);
	while (!tw->stopping) {
		net_sleep_or_news(tw->w, SWEEP_NS, &news);
		/* Idle owners that lost their slots had no transactions to recover, but maybe
		 * memory at hand. */
		uint64_t seals = tso_seals(t);
		if (seals != freed) {
			struct tso_pin pin;
			nam_status st = tso_pin_now(tw->tso, &pin);
			if (st == NAM_OK)
				st = net_faa1(tw->w, tw->db->deaths, 1, &deaths, NULL);
			tso_unpin(tw->tso, &pin);
			if (st == NAM_OK) {
				freed = seals;
				tw->untold = true;
			}
		}
		for (unsigned i = 0; i < tso_slots_used(t) && !tw->stopping; i++) {
			struct tso_lapse l;
			struct tso_pin pin;
			if (!tso_lapsed(t, tw->w, i, &l)) {
				if (slot[i].epoch != 0)
					tso_unrecovered(t, i, 0, NULL);
				slot[i].epoch = 0;
				continue;
			}
			if (!is_due(tw, &slot[i], &l))
				continue;
			struct nam_err err = { 0 };
			/* Pinned, this process is not idle, and so keeps its own slot until it has
			 * finished. No snapshot: that might wait for the owner that is to be
			 * recovered here. */
			nam_status st = tso_pin_now(tw->tso, &pin);
			if (st == NAM_OK) {
				txn_at_hand(tw);
				st = recover_owner(tw, &l, &err);
			}
			tso_unpin(tw->tso, &pin);
			if (st != NAM_OK && st != NAM_CONFLICT && st != NAM_BUSY)
				not_recovered(tw, &slot[i], &l, st, &err);
		}
		tell_all(tw);
	}
	tell_all(tw);
	free(slot);
	tw->helpers--;
}

/* ---- single locks ---- */

/* The slot count is not stored; try each until the checksum matches. */
bool
txn_head_newest(const struct rec_block *img, net_addr at, uint64_t *newest)
{
	struct txn_table_view shape;
	*newest = 0;
	for (unsigned n = 2; n <= REC_SLOTS_MAX; n++) {
		shape.slots = (uint16_t)n;
		if (img->cid[n] == 0 || !txn_rec_dir_whole(&shape, img, at))
			continue;
		unsigned k = txn_rec_newest(&shape, img);
		*newest = k == REC_NO_SLOT ? 0 : rec_cid(img, k);
		return true;
	}
	return false;
}

/*
 * Under a lock that no intent lists, or whose intent has been recovered: the directory is as it was
 * before the lock. Only the collector changes it under such a lock: it empties a block whose
 * deletion no snapshot needs any more, and may have stopped in the middle of that.
 */
nam_status
txn_unlock_dead_by(struct txn_worker *tw, net_addr at, uint64_t lock, const struct tso_timeout *p)
{
	struct rec_block b;
	uint64_t seen;
	bool ended;
	nam_status st = tso_ended(tw->tso, txn_lock_owner(lock), txn_lock_epoch(lock), &ended);
	if (st != NAM_OK || !ended)
		return st != NAM_OK ? st : NAM_BUSY;
	if ((st = net_read1(tw->w, at, &b, sizeof b, NULL)) != NAM_OK)
		return st;
	if (b.word != lock)
		return NAM_OK;
	uint64_t newest;
	if (txn_head_newest(&b, at, &newest) && newest != 0)
		return net_cas1(tw->w, at, lock, newest, &seen, NULL);
	/* Claimed before anything changes. */
	struct tso_claim c;
	/* of two slots, and no sum */
	bool empty = (b.ident | b.link | b.cid[0] | b.cid[1] | b.cid[2]) == 0;
	if (txn_lock_intent(lock) != TXN_INTENT_GC && !empty)
		return NAM_CORRUPT;
	/* No floor: see tsoracle/README.md, "Lanes", 6. */
	tso_claim_start(tw->tso, &c, 0, NULL);
	if ((st = tso_claim_wait_by(tw->tso, &c, p)) != NAM_OK)
		return st == NAM_EXPIRED ? NAM_BUSY : st;
	if (txn_lock_intent(lock) == TXN_INTENT_GC) {
		/* Several processes may try this; the one whose lock replaces the dead owner's may
		 * write alone. */
		uint64_t own = txn_gc_lock(tw);
		st = txn_sure_cas(tw, at, lock, own, &seen);
		if (st != NAM_OK || seen != lock)
			goto out;
		lock = own;
		/*
		 * The dead owner may have left only the checksum, at a place that depends on the
		 * unknown slot count: so write zeros over the longest possible directory. Behind a
		 * shorter one a slot begins, and no slot is listed any more.
		 */
		memset(&b, 0, sizeof b);
		st = txn_sure_write(tw, rec_dir_at(at), rec_dir(&b), rec_dir_bytes(REC_SLOTS_MAX));
	}
	if (st == NAM_OK)
		st = txn_sure_cas(tw, at, lock, c.cid, &seen);
out:
	tso_mark_wait(tw->tso, &c, 0);
	return st;
}

nam_status
txn_unlock_dead(struct txn_worker *tw, net_addr at, uint64_t lock)
{
	/* If the CID would have to be waited for, give it up: another look at the lock will
	 * follow. */
	static const struct tso_timeout none = { .until_ns = 1 };
	return txn_unlock_dead_by(tw, at, lock, &none);
}

bool
txn_index_unstick(struct txn_worker *tw, struct idx_hash *ix)
{
	uint64_t holder;
	bool ended;
	if (idx_hash_holder(tw->w, ix, &holder, NULL) != NAM_OK || (holder & REC_LOCK) == 0 ||
	    txn_lock_intent(holder) != TXN_INTENT_INDEX)
		return false;
	if (tso_ended(tw->tso, txn_lock_owner(holder), txn_lock_epoch(holder), &ended) != NAM_OK || !ended)
		return false;
	nam_status st = idx_hash_recover(tw->w, ix, holder, NULL);
	txn_index_doubt(tw, ix);
	return st == NAM_OK;
}
