/*
 * gc.c -- frees memory that no snapshot needs any more, as the watermark tells.
 *
 * Each worker keeps a queue of the garbage of its own commits, in the order in which it arose. A
 * coroutine looks at the head of the queue every few milliseconds. It works under a pin, and READs
 * each table's anchor under that pin before it touches the table: a table is given back only when
 * the watermark has passed a CID that was claimed after its anchor was closed (table.c), and so not
 * before this pin is gone. A deleted record's block is emptied in the order that R6 demands: lock,
 * empty the directory, unlink from the index, write a fresh CID into the word. It is used again
 * when the watermark has passed that CID as well.
 */
#include "txn_internal.h"

#include <base/fault.h>

#include <stdlib.h>
#include <string.h>

enum {
	GC_EVERY_NS = 5000000,
	GC_PER_ROUND = 4096,
	GC_SLOW_PER_ROUND = 256,
	GC_SHARE = 4, /* of a queue, in one turn */
	GC_SLOW_SHARE = 16,
	GC_WAKE_NS = 1500000000,
	GC_MUCH = 256,
	GC_STUCK = 256, /* pieces that could not be freed end a turn */
	RING_MIN = 1024,
	TURN_NS = 100000
};

/* True if it takes round trips: blocks to be emptied, and tables. They must not hold up memory that
 * is freed by a push. */
static bool
is_slow(const struct txn_junk *j)
{
	return j->kind == JUNK_TOMB || j->kind == JUNK_EMPTY || j->kind == JUNK_KEY ||
	       j->kind == JUNK_TABLE || j->kind == JUNK_CLOSED ||
	       (j->kind == JUNK_BLOB && txn_blob_long(j->len));
}

/* The queue gets a ring of cap places. False: no memory, the ring is as it was. */
static bool
ring_of(struct txn_junk_queue *q, uint32_t cap)
{
	struct txn_junk *ring = malloc(cap * sizeof *ring);
	if (ring == NULL)
		return false;
	for (uint32_t i = 0; i < q->n; i++)
		ring[i] = q->item[(q->head + i) & (q->cap - 1)];
	free(q->item);
	q->item = ring;
	q->cap = cap;
	q->head = 0;
	return true;
}

/* The stock stays in memory as long as garbage names it. Only this worker writes its count. */
static void
count_junk(struct txn_alloc *a, int more)
{
	uint32_t n = atomic_load_explicit(&a->junk, memory_order_relaxed) + (uint32_t)more;
	atomic_store_explicit(&a->junk, n, memory_order_release);
}

void
txn_junk_add(struct txn_worker *tw, struct txn_junk j)
{
	struct txn_junk_queue *q = &tw->junk[is_slow(&j)];
	struct txn_alloc *a = j.stock != NULL ? txn_alloc_of(tw, j.stock) : NULL;
	if (j.stock != NULL && a == NULL)
		return; /* as below */
	if (q->n == q->cap && !ring_of(q, q->cap ? q->cap * 2 : RING_MIN))
		return; /* that memory stays lost until its table is released */
	q->item[(q->head + q->n++) & (q->cap - 1)] = j;
	if (a != NULL)
		count_junk(a, 1);
}

/* Takes the queue's first piece. */
static struct txn_junk
junk_take(struct txn_junk_queue *q)
{
	struct txn_junk j = q->item[q->head];
	q->head = (q->head + 1) & (q->cap - 1);
	q->n--;
	/* What a large transaction left is over: its memory goes back. */
	if (q->cap > RING_MIN && q->n <= q->cap / 8)
		(void)ring_of(q, q->cap / 4);
	return j;
}

/* A piece that was taken is done with, or in the queue again. */
static void
junk_done(struct txn_worker *tw, const struct txn_junk *j)
{
	if (j->stock != NULL)
		count_junk(atomic_load_explicit(&j->stock->alloc[tw->number], memory_order_relaxed), -1);
}

void
txn_junk_of_undone(struct txn_worker *tw, struct txn_junk j)
{
	if (!tw->db->eager)
		j.cid = tso_prefix(tw->db->tso) + 1; /* above every snapshot of this process */
	txn_junk_add(tw, j);
}

void
txn_collect_at_once(struct txn_db *db)
{
	db->eager = true;
}

void
txn_junk_drop(struct txn_worker *tw)
{
	for (unsigned k = 0; k < 2; k++)
		while (tw->junk[k].n > 0) {
			struct txn_junk j = junk_take(&tw->junk[k]);
			if (j.kind == JUNK_KEY)
				free((void *)(uintptr_t)j.aux);
			junk_done(tw, &j);
		}
}

/* A dropped table still waits for its release: the table's number and its lock word tell whether
 * another process has released it. */
static void
junk_forget(struct txn_worker *tw)
{
	for (unsigned k = 0; k < 2; k++) {
		struct txn_junk_queue *q = &tw->junk[k];
		for (uint32_t n = q->n; n > 0; n--) {
			struct txn_junk j = junk_take(q);
			if (j.kind == JUNK_KEY)
				free((void *)(uintptr_t)j.aux);
			junk_done(tw, &j);
			if (j.kind == JUNK_TABLE || j.kind == JUNK_CLOSED)
				txn_junk_add(
				    tw, (struct txn_junk){
					    .kind = JUNK_TABLE, .cid = j.cid, .at = j.at, .len = j.len });
		}
	}
}

void
txn_at_hand(struct txn_worker *tw)
{
	unsigned joins = tso_joins(tw->db->tso);
	if (__builtin_expect(tw->joins == joins, 1))
		return;
	tw->joins = joins;
	txn_intents_drop(tw);
	txn_allocs_forget(tw);
	junk_forget(tw);
}

void
txn_give_way(struct txn_worker *tw)
{
	uint64_t now = net_now_ns(tw->w);
	if (now - tw->turned < TURN_NS)
		return;
	nam_co_yield();
	tw->turned = net_now_ns(tw->w);
}

static_assert(TXN_WORKERS_MAX <= 1 << (TXN_GENERATION_BITS - TXN_GC_COUNT_BITS), "a worker's number fits");

uint64_t
txn_gc_lock(struct txn_worker *tw)
{
	return txn_lock_word(tso_owner(tw->db->tso), tso_epoch(tw->db->tso), TXN_INTENT_GC,
	    tw->number << TXN_GC_COUNT_BITS | (++tw->gc_generation & ((1u << TXN_GC_COUNT_BITS) - 1)));
}

nam_status
txn_word_fresh(struct txn_worker *tw, net_addr at, uint64_t lock, tso_cid floor, tso_cid *cid)
{
	struct tso_claim c;
	uint64_t seen;
	nam_status st = txn_claim_sure(tw, &c, floor);
	if (st != NAM_OK)
		return st;
	st = txn_sure_cas(tw, at, lock, c.cid, &seen);
	*cid = c.cid;
	tso_mark_wait(tw->tso, &c, 0);
	return st;
}

nam_status
txn_cid_spend(struct txn_worker *tw, unsigned note, tso_cid *cid)
{
	struct tso_claim c;
	tso_cid floor;
	nam_status st = tso_claimed_by_all(tw->tso, &floor);
	if (st != NAM_OK)
		return st;
	tso_claim_start_ordered(tw->tso, &c, floor, NULL);
	st = tso_claim_wait_by(tw->tso, &c, NULL); /* nothing depends on it yet */
	if (st != NAM_OK)
		return st;
	*cid = c.cid;
	tso_mark_wait(tw->tso, &c, note);
	return NAM_OK;
}

/* True if the callbacks of a definition are asked. */
static bool
is_of_rows(const struct txn_junk *j)
{
	return j->kind == JUNK_TOMB || j->kind == JUNK_EMPTY || j->kind == JUNK_KEY;
}

/* May the piece be freed now? NAM_ABSENT: its memory is gone, or another process has it. *v: of the
 * definitions of today, whichever one the garbage arose under; NULL if it is of no table. */
static nam_status
ask(struct txn_worker *tw, const struct txn_junk *j, struct txn_table_view **v)
{
	*v = j->stock != NULL ? atomic_load(&j->stock->view) : NULL;
	if (j->stock == NULL)
		return NAM_OK;
	if (*v == NULL)
		return NAM_ABSENT;
	if (is_of_rows(j) && atomic_load(&j->stock->changing))
		return NAM_BUSY;
	return txn_may_give(tw, *v, j);
}

/* Frees one piece of junk whose CID the watermark has reached. With a pin. Not OK: *j is due at
 * another time. */
static nam_status
collect(struct txn_worker *tw, struct txn_junk *j)
{
	struct txn_table_view *v;
	nam_status st = ask(tw, j, &v);
	if (st != NAM_OK)
		return st == NAM_ABSENT ? NAM_OK : st;
	switch (j->kind) {
	case JUNK_ARCHIVE:
		txn_archive_give(tw, v, j->at);
		tw->stats.archives_freed++;
		break;
	case JUNK_BLOB:
		if (!txn_blob_long(j->len))
			txn_blob_give(tw, v, j->at, j->len);
		else if ((st = txn_long_give(tw, v, j->at, j->len)) == NAM_BUSY)
			return st;
		tw->stats.blobs_freed++;
		break;
	case JUNK_BLOCK:
		txn_block_give(tw, v, j->at, j->aux);
		tw->stats.blocks_freed++;
		break;
	case JUNK_TABLE:
	case JUNK_CLOSED:
		return txn_table_release(tw, j);
	case JUNK_TOMB:
	case JUNK_EMPTY:
	case JUNK_KEY:
		NAM_ASSERT(false); /* collect_rows */
	}
	return st == NAM_BUSY ? st : NAM_OK;
}

/* A worker that closes collects for a limited time: the rest stays taken until the storage nodes
 * end, as after a crash. */
static bool
out_of_time(struct txn_worker *tw)
{
	return tw->stopping && net_now_ns(tw->w) > tw->gc_end;
}

/*
 * True if the queue's first piece may be freed. A transaction that has found the block of an undone
 * insert for a key of its own would lose it: so that block waits as well. Without commits the
 * watermark stands still: the block does not wait in large amounts, or once the process is idle.
 */
static bool
ripe(const struct txn_worker *tw, const struct txn_junk_queue *q, tso_cid watermark, bool idle)
{
	const struct txn_junk *j = &q->item[q->head];
	return j->cid <= watermark || (j->kind == JUNK_EMPTY && (q->n >= GC_MUCH || tw->stopping || idle));
}

/* Works on j[0] of a table's rows, and on those behind it in the queue that may be worked on with
 * it, `most` at most. Returns how many, and what becomes of each. */
static unsigned
collect_rows(struct txn_worker *tw, struct txn_junk_queue *q, struct txn_junk *j, nam_status *st,
    unsigned most, tso_cid watermark, bool idle)
{
	struct txn_table_view *v;
	unsigned n = 1;
	nam_status asked = ask(tw, &j[0], &v);
	if (asked != NAM_OK) {
		st[0] = asked == NAM_ABSENT ? NAM_OK : NAM_BUSY;
		if (asked == NAM_ABSENT && j[0].kind == JUNK_KEY)
			free((void *)(uintptr_t)j[0].aux);
		return n;
	}
	unsigned group = txn_reap_most(v);
	most = most < group ? most : group;
	while (n < most && q->n > 0 && ripe(tw, q, watermark, idle)) {
		const struct txn_junk *next = &q->item[q->head];
		if (next->stock != j[0].stock || !is_of_rows(next) || !txn_reap_together(j, n, next))
			break;
		j[n++] = junk_take(q);
	}
	txn_reap(tw, v, j, st, n);
	return n;
}

/* Frees what may be freed of one queue. idle: no transaction of the process was open. Returns the
 * number of pieces freed. */
static unsigned
round_of(struct txn_worker *tw, struct txn_junk_queue *q, unsigned most, bool idle)
{
	uint64_t watermark = tso_watermark(tw->db->tso);
	unsigned did = 0, freed = 0;
	/*
	 * Statements of many rows yield seldom, and leave as much garbage each time. So a turn
	 * frees a share of the queue; else the queue would grow without end.
	 */
	unsigned turn = q->n / (q == &tw->junk[0] ? GC_SHARE : GC_SLOW_SHARE);
	most = most > turn ? most : turn;
	most = q->n < most ? q->n : most;
	/* A transaction of many rows may hold the locks of all that is in the queue, for as long as
	 * it lasts: then a turn does not try the whole share. */
	while (did < most && did < freed + GC_STUCK && ripe(tw, q, watermark, idle) && !out_of_time(tw)) {
		struct txn_junk j[TXN_REAP_MAX];
		nam_status st[TXN_REAP_MAX];
		unsigned n = 1;
		j[0] = junk_take(q);
		const struct txn_junk was = j[0];
		tw->gc_moved = false;
		if (is_of_rows(&was)) {
			n = collect_rows(tw, q, j, st, most - did, watermark, idle);
		} else {
			st[0] = collect(tw, &j[0]) == NAM_OK ? NAM_OK : NAM_BUSY;
		}
		did += n;
		for (unsigned i = 0; i < n; i++) {
			if (st[i] == NAM_BUSY)
				txn_junk_add(tw, j[i]); /* another time */
			else
				freed++;
			junk_done(tw, &was);
		}
		freed += tw->gc_moved;
		if (did >= turn)
			txn_give_way(tw);
	}
	return freed;
}

/* What lies below the watermark has had time to be collected when the next value is taken. */
static void
calm_down(struct txn_worker *tw)
{
	uint64_t now = net_now_ns(tw->w);
	if (tw->calm != 0 && now - tw->calm_at < TXN_CALM_NS)
		return;
	uint64_t watermark = tso_watermark(tw->db->tso);
	tw->calm = tw->calm == 0 ? watermark : tw->calm_next;
	tw->calm_next = watermark;
	tw->calm_at = now;
	memset(tw->told, 0, sizeof tw->told);
}

static bool
due(const struct txn_worker *tw, const struct txn_junk_queue *q)
{
	return q->n > 0 && ripe(tw, q, tso_watermark(tw->db->tso), false);
}

/* Both queues, under one pin. True: there is more to do at once. */
static bool
round_of_both(struct txn_worker *tw, unsigned *freed)
{
	struct tso_pin pin;
	bool more = false;
	uint64_t now = net_now_ns(tw->w);
	*freed = 0;
	/* The watermark may stall while the process is idle: so garbage wakes it now and then. */
	bool waits = tw->junk[0].n + tw->junk[1].n > 0 && tso_is_idle(tw->db->tso);
	if (!waits)
		tw->gc_woke = now;
	/* A large amount is worth waking a process that has only just become idle: other processes
	 * may want that memory. */
	bool much = tw->junk[0].n + tw->junk[1].n >= GC_MUCH;
	bool wake = waits && now - tw->gc_woke >= (much ? GC_WAKE_NS / 20 : GC_WAKE_NS);
	if (wake)
		tw->gc_woke = now;
	if (!due(tw, &tw->junk[0]) && !due(tw, &tw->junk[1]) && !wake)
		return false;
	txn_reach(tw); /* garbage behind a broken connection would wait for the next transaction */
	if (tso_pin_now(tw->tso, &pin) == NAM_OK) {
		txn_at_hand(tw);
		tw->round++;
		unsigned quick = round_of(tw, &tw->junk[0], GC_PER_ROUND, wake);
		unsigned n = round_of(tw, &tw->junk[1], GC_SLOW_PER_ROUND, wake);
		*freed = quick + n;
		more = n >= GC_SLOW_PER_ROUND || quick >= GC_PER_ROUND;
	}
	tso_unpin(tw->tso, &pin);
	txn_garbage_tell(tw);
	return more;
}

void
txn_gc(void *worker)
{
	struct txn_worker *tw = worker;
	net_account_to(&tw->background);
	/* When the worker closes, it frees what can be freed soon: the watermark lags by a
	 * heartbeat or two. */
	unsigned last = 0, freed;
	bool more = false;
	while (!tw->stopping || (tw->junk[0].n + tw->junk[1].n > 0 && last < 20)) {
		if (more)
			nam_co_yield();
		else
			net_sleep(tw->w, GC_EVERY_NS);
		if (out_of_time(tw))
			break;
		txn_turns_expire(tw);
		calm_down(tw);
		more = round_of_both(tw, &freed);
		if (!tw->stopping)
			txn_surplus(tw);
		txn_stocks_tend(tw);
		txn_doubts(tw);
		if (tw->stopping && freed == 0)
			last++;
	}
	tw->helpers--;
}
