/*
 * logged.c -- what a commit puts into the cluster's log, and waits for (logged_format.h).
 *
 * The records leave with the doorbell of step 2. A body that fits one message costs no round trip;
 * of a longer one, all parts but the last are received before step 2 begins.
 */
#include "logged_format.h"
#include "txn_internal.h"

#include <base/fault.h>
#include <base/log.h>

#include <stdlib.h>
#include <string.h>

enum {
	FLUSH_NS = 12000,
	FLUSH_CAP_NS = 1000000,
	FLUSH_LOST_NS = 5000000,
	PROD_NS = 50000000,
	FLUSH_PARTS = 8,
	UNROUSED = 1000,
	RUNG_MOST = 6
};

/* A record in the making, and on its way. In the transaction's arena. */
struct txn_logging {
	struct wal_append append;
	struct txn *t;
	uint32_t cap, n; /* bytes of the body's piece */
	uint32_t part;
	_Alignas(8) char bytes[]; /* struct wal_rq, struct txn_logged, the piece */
};

enum { HEAD = sizeof(struct wal_rq) + sizeof(struct txn_logged) };

/* The log remembers for each intent of each owner slot which attempt it has received last: as many
 * as a cluster has intents, however many processes come and go. */
static uint64_t
place_of(uint64_t lock)
{
	return 1 + ((uint64_t)txn_lock_owner(lock) << TXN_INTENT_BITS | txn_lock_intent(lock));
}

static uint64_t
body_bytes(const struct txn *t)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < t->nblobs; i++)
		if (!t->blob[i].dropped)
			n += sizeof(struct txn_logged_item) + TXN_PAD((uint64_t)t->blob[i].len);
	for (uint32_t i = 0; i < t->nwr; i++)
		if (txn_writes(t->wr[i]))
			n += sizeof(struct txn_logged_item) + TXN_PAD((uint32_t)t->wr[i]->slot->meta);
	return n;
}

/*
 * A worker with many commits under way is seldom asleep: a bell for each flush would cost it and
 * the flusher more than looks do. The bell of its last record is also good for those before.
 */
static unsigned
rings(struct txn_worker *tw)
{
	unsigned waiting = 0;
	for (const struct txn_flush *f = tw->flush; f != NULL && waiting < RUNG_MOST; f = f->next)
		waiting++;
	tw->unrung = waiting == RUNG_MOST;
	return tw->unrung ? 0 : WAL_RINGS;
}

/* Sends the piece. */
static void
part_start(struct txn_logging *l, const struct txn_intent_head *h, bool last)
{
	struct txn *t = l->t;
	struct wal_rq *rq = (void *)l->bytes;
	uint32_t part = l->part++;
	struct txn_logged head = { .kind = TXN_LOGGED_COMMIT,
		.flags = last ? TXN_LOGGED_LAST : 0,
		.part = part,
		.lock = t->lock,
		.check = h->check,
		.cid = t->cid,
		.time = net_wall_us(t->tw->w) };
	memcpy(l->bytes + sizeof *rq, &head, sizeof head);
	rq->bytes = (uint32_t)sizeof head + l->n;
	l->append.rq = rq;
	l->append.flags = WAL_NAMED | (t->sync && last ? WAL_SOON | rings(l->t->tw) : 0);
	l->append.series = txn_lock_epoch(t->lock);
	l->append.attempt = txn_lock_generation(t->lock);
	/* A body of several parts goes by messages: rings and messages have no order. */
	l->append.own = last && part == 0 ? &t->tw->rings : NULL;
	/* The last part tells WAL_LAST that the body is whole. */
	l->append.part = last ? UINT32_MAX : part;
	l->append.place = place_of(t->lock);
	l->append.stamp = t->cid;
	l->append.name[0] = t->lock;
	l->append.name[1] = h->check;
	wal_append_start(t->tw->w, &t->tw->db->wal, &l->append);
	if (last)
		t->logged = (1u << t->tw->db->wal.copies) - 1;
}

/* Puts bytes, padded to 8, into the piece; a full one is sent and waited for. */
static nam_status
put(struct txn_logging *l, const struct txn_intent_head *h, const void *bytes, uint64_t len)
{
	const char *from = bytes;
	char *into = l->bytes + HEAD;
	uint64_t left = len, padded = TXN_PAD(len);
	for (uint64_t done = 0; done < padded;) {
		if (l->n == l->cap) {
			part_start(l, h, false);
			nam_status st = wal_append_wait(l->t->tw->w, &l->append);
			tso_goes_on(l->t->tw->tso);
			if (st != NAM_OK)
				return st;
			l->n = 0;
		}
		uint64_t room = l->cap - l->n, n = padded - done < room ? padded - done : room;
		uint64_t real = left < n ? left : n;
		memcpy(into + l->n, from, real);
		memset(into + l->n + real, 0, n - real);
		l->n += (uint32_t)n;
		from += real;
		left -= real;
		done += n;
	}
	return NAM_OK;
}

static nam_status
put_item(struct txn_logging *l, const struct txn_intent_head *h, const struct txn_logged_item *item,
    const void *bytes)
{
	nam_status st = put(l, h, item, sizeof *item);
	return st == NAM_OK && item->len > 0 ? put(l, h, bytes, item->len) : st;
}

static nam_status
put_body(struct txn_logging *l, const struct txn_intent_head *h)
{
	struct txn *t = l->t;
	nam_status st = NAM_OK;
	for (uint32_t i = 0; st == NAM_OK && i < t->nblobs; i++) {
		const struct txn_new_blob *b = &t->blob[i];
		struct txn_logged_item item = {
			.kind = TXN_LOGGED_VALUE, .table = b->view->table, .at = b->at.bits, .len = b->len
		};
		if (!b->dropped)
			st = put_item(l, h, &item, b->bytes);
	}
	for (uint32_t i = 0; st == NAM_OK && i < t->nwr; i++) {
		const struct txn_write *w = t->wr[i];
		if (!txn_writes(w))
			continue;
		bool deleted = (w->slot->meta & REC_DELETED) != 0;
		struct txn_logged_item item = { .kind = deleted ? TXN_LOGGED_DELETED : TXN_LOGGED_ROW,
			.table = w->view->table,
			.at = w->at.bits,
			.ident = w->ident,
			.len = deleted ? 0 : (uint32_t)w->slot->meta };
		st = put_item(l, h, &item, w->slot->payload);
		if (i % TXN_OPS == TXN_OPS - 1)
			txn_give_way(t->tw);
	}
	return st;
}

static void
ask(void *worker)
{
	struct txn_worker *tw = worker;
	net_account_to(&tw->background);
	wal_rings_ask(tw->w, &tw->db->wal, &tw->rings);
	tw->helpers--;
}

/* A commit holds locks, so it does not wait for the answers: records are messages until then. */
static void
ask_for_rings(struct txn_worker *tw)
{
	if (tw->asked_for_rings)
		return;
	tw->asked_for_rings = true;
	tw->helpers++;
	if (nam_co_start(net_worker_sched(tw->w), ask, tw, 0) == NULL)
		tw->helpers--;
}

nam_status
txn_log_start(struct txn *t, const struct txn_intent_head *h)
{
	struct txn_worker *tw = t->tw;
	t->logging = NULL;
	t->log_check = h->check;
	if (tw->db->wal.copies == 0)
		return NAM_OK;
	nam_status st = NAM_OK;
	if (tw->wal_most == 0)
		st = wal_log_most_of(tw->w, &tw->db->wal, &tw->wal_most);
	if (st != NAM_OK)
		return st;
	ask_for_rings(tw);
	uint64_t body = body_bytes(t);
	uint32_t cap = (tw->wal_most - (uint32_t)sizeof(struct txn_logged)) & ~7u;
	if (body < cap)
		cap = (uint32_t)body;
	struct txn_logging *l = nam_arena_take(&t->arena, sizeof *l + HEAD + cap);
	if (l == NULL)
		return NAM_NOMEM;
	*l = (struct txn_logging){ .t = t, .cap = cap };
	if ((st = put_body(l, h)) != NAM_OK)
		return st;
	part_start(l, h, true);
	t->logging = l;
	return NAM_OK;
}

nam_status
txn_log_wait(struct txn *t)
{
	struct txn_logging *l = t->logging;
	if (l == NULL)
		return NAM_OK;
	nam_status st = wal_append_wait(t->tw->w, &l->append);
	t->logging = NULL;
	if (nam_fault(UNANSWERED) && st == NAM_GONE)
		st = NAM_OK;
	if (nam_fault(COPIES_ONE) && (l->append.may & 1) != 0)
		st = NAM_OK;
	if (st == NAM_OK)
		t->log_end = l->append.end;
	/* A copy that has refused it: no process will find it there. */
	t->logged = l->append.may;
	return st;
}

/* ---- undone ---- */

/* A copy's node did not answer: as txn_reconnect, for each of them. */
static nam_status
log_again(struct txn_worker *tw, uint64_t *until)
{
	const struct wal_log *log = &tw->db->wal;
	nam_status st = NAM_OK;
	/* One that does answer stays as it is. */
	for (unsigned i = 0; st == NAM_OK && i < log->copies; i++)
		st = txn_reconnect(tw, log->copy[i].line, until);
	return st;
}

nam_status
txn_log_undone(struct txn_worker *tw, uint64_t lock, uint64_t check, unsigned copies)
{
	struct {
		struct wal_rq rq;
		struct txn_logged head;
	} record = { .rq.bytes = sizeof record.head,
		.head = { .kind = TXN_LOGGED_UNDONE,
		    .flags = TXN_LOGGED_LAST,
		    .lock = lock,
		    .check = check,
		    .time = net_wall_us(tw->w) } };
	/* Named, so that the log takes nothing of the attempt behind it (Q7). */
	struct wal_append a = { .rq = &record.rq,
		.flags = WAL_SPARE | WAL_SOON | WAL_NAMED | WAL_UNDOES | rings(tw),
		.place = place_of(lock),
		.name = { lock, check },
		.series = txn_lock_epoch(lock),
		.attempt = txn_lock_generation(lock),
		.part = UINT32_MAX,
		.spared = ~copies };
	uint64_t until = 0;
	nam_status st;
	/* Said twice, it is true once. */
	for (;;) {
		wal_append_start(tw->w, &tw->db->wal, &a);
		st = wal_append_wait(tw->w, &a);
		if (st != NAM_GONE)
			break;
		while ((st = log_again(tw, &until)) == NAM_BUSY)
			;
		if (st != NAM_OK)
			return st;
	}
	return st == NAM_OK && !nam_fault(UNDONE_UNFLUSHED) ? txn_flush_wait(tw, a.end) : st;
}

nam_status
txn_log_number(
    struct txn_worker *tw, net_addr word, uint32_t generation, int64_t number, const struct txn_limits *l)
{
	struct {
		struct wal_rq rq;
		struct txn_logged head;
		struct txn_logged_item item;
	} record = { .rq.bytes = sizeof record.head + sizeof record.item,
		.head = { .kind = TXN_LOGGED_NUMBERS, .flags = TXN_LOGGED_LAST, .time = net_wall_us(tw->w) },
		.item = { .kind = TXN_LOGGED_NUMBER,
		    .table = generation,
		    .at = word.bits,
		    .ident = (uint64_t)number } };
	struct wal_append a = { .rq = &record.rq, .flags = WAL_SOON | rings(tw) };
	if (tw->db->wal.copies == 0)
		return NAM_OK;
	wal_append_start(tw->w, &tw->db->wal, &a);
	nam_status st = wal_append_wait(tw->w, &a);
	return st == NAM_OK ? txn_flush_wait_by(tw, a.end, l, 0) : st;
}

nam_status
txn_log_has(
    struct txn_worker *tw, uint64_t lock, uint64_t check, bool *has, unsigned *copies, struct wal_ends *end)
{
	const struct wal_log *log = &tw->db->wal;
	*copies = 0;
	*has = false;
	*end = (struct wal_ends){ 0 };
	for (unsigned i = 0; i < log->copies; i++) {
		struct wal_last last;
		nam_status st = wal_log_last(tw->w, log, i, place_of(lock), &last);
		if (st != NAM_OK)
			return st;
		if (last.end == 0 || last.name[0] != lock || last.name[1] != check || last.part != UINT32_MAX)
			continue;
		*copies |= 1u << i;
		end->at[i] = last.end;
	}
	*has = *copies == (1u << log->copies) - 1 || (*copies != 0 && nam_fault(COPIES_HAS_ANY));
	return NAM_OK;
}

/* ---- waiting until it is flushed ---- */

/* The log is broken, or gone: a waiting caller is told so. */
static void
fail_all(struct txn_worker *tw, nam_status st)
{
	while (tw->flush != NULL) {
		struct txn_flush *f = tw->flush;
		tw->flush = f->next;
		f->st = st;
		f->over = true;
		f->then(f);
	}
}

static void
wake_flushed(struct txn_worker *tw)
{
	struct txn_flush *due = NULL, **end = &due;
	for (struct txn_flush **at = &tw->flush; *at != NULL;) {
		struct txn_flush *f = *at;
		if (!wal_reached(&f->end, &tw->flushed)) {
			at = &f->next;
			continue;
		}
		*at = f->next;
		*end = f;
		end = &f->next;
		f->next = NULL;
	}
	for (struct txn_flush *f = due, *next; f != NULL; f = next) {
		next = f->next; /* f is gone when its transaction is */
		f->st = NAM_OK;
		f->over = true;
		f->then(f);
	}
	tso_marks_come(tw->tso);
}

/* f waits no longer. */
static void
take_out(struct txn_worker *tw, struct txn_flush *f, nam_status st)
{
	struct txn_flush **at = &tw->flush;
	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	f->st = st;
	f->over = true;
	f->then(f);
}

/* Those that wait for a copy that is broken wait in vain. Others go on: what undoes an attempt is
 * flushed where the attempt was received. */
static void
fail_broken(struct txn_worker *tw, unsigned broken)
{
	for (struct txn_flush *f = broken != 0 ? tw->flush : NULL; f != NULL;) {
		bool vain = false;
		for (unsigned i = 0; i < WAL_COPIES; i++)
			vain = vain || ((broken >> i & 1) != 0 && !wal_reached_one(&f->end, &tw->flushed, i));
		if (vain)
			take_out(tw, f, NAM_UNLOGGED);
		f = vain ? tw->flush : f->next;
	}
}

/* Those whose limits say so wait no longer. */
static void
let_go_on(struct txn_worker *tw)
{
	for (struct txn_flush *f = tw->flush, *next; f != NULL; f = next) {
		next = f->next; /* `then` of one with limits wakes a coroutine, and adds nothing */
		nam_status st =
		    f->limits != NULL && net_now_ns(tw->w) >= f->from_ns ? txn_within(tw, f->limits) : NAM_OK;
		if (st != NAM_OK)
			take_out(tw, f, st);
	}
}

bool
txn_flush_skip(struct txn_worker *tw, struct wal_ends end)
{
	for (struct txn_flush *f = tw->flush; f != NULL; f = f->next)
		if (memcmp(&f->end, &end, sizeof end) == 0 && f->waiter == NULL) {
			take_out(tw, f, NAM_OK);
			return true;
		}
	return false;
}

static uint64_t
between(uint64_t least, uint64_t x, uint64_t most)
{
	return x < least ? least : x > most ? most : x;
}

/*
 * Until the next look. The log rouses a worker of its host that sleeps, so that one looks seldom by
 * itself; but a worker that has not been roused once looks by itself for a while.
 */
static void
pause_before_look(struct txn_worker *tw, uint64_t ns, uint64_t bells)
{
	ns = between(FLUSH_NS, ns, FLUSH_CAP_NS);
	if (tw->unroused > 0)
		tw->unroused--;
	if (tw->unroused > 0 || tw->unrung || !wal_log_rouses(tw->w, &tw->db->wal)) {
		net_sleep(tw->w, ns);
		return;
	}
	uint64_t begin = net_now_ns(tw->w);
	net_sleep_lazily(tw->w, ns, FLUSH_LOST_NS, bells);
	if (net_now_ns(tw->w) - begin < FLUSH_LOST_NS)
		return;
	/* Its channel may have been opened again, so that the node cannot rouse it. */
	wal_rings_note(tw->w, &tw->db->wal, &tw->rings);
	tw->unroused = UNROUSED;
}

/*
 * Looks how far the log is flushed, as long as a transaction of this worker waits for that. A sync
 * begins about when the one before has ended: so it rests for most of the time that a sync takes,
 * and looks often then.
 */
static void
watch(void *worker)
{
	struct txn_worker *tw = worker;
	uint64_t sync_ns = tw->sync_ns;
	net_account_to(&tw->background);
	/* A bell that has rung already will not ring again: that worker looks first. */
	if (sync_ns > 0 && !wal_log_rouses(tw->w, &tw->db->wal))
		net_sleep(tw->w, between(FLUSH_NS, sync_ns - sync_ns / FLUSH_PARTS, FLUSH_CAP_NS));
	uint64_t quiet_ns = net_now_ns(tw->w);
	for (bool first = true; tw->flush != NULL; first = false) {
		uint64_t until = 0, bells = net_bells(tw->w);
		struct wal_ends flushed = { 0 };
		unsigned broken = 0;
		nam_status st = wal_log_flushed(tw->w, &tw->db->wal, &tw->rings, &flushed, &broken, &sync_ns);
		if (st == NAM_GONE) {
			while ((st = log_again(tw, &until)) == NAM_BUSY)
				;
			if (st == NAM_OK)
				continue;
		}
		if (nam_fault(COPIES_FLUSHED_ONE))
			flushed.at[1] = flushed.at[2] = flushed.in_ring[1] = flushed.in_ring[2] = UINT64_MAX;
		/* Each by itself: a copy whose life has not been told yet says nothing. */
		/* A line of a later life says nothing of what waits here. */
		bool came = st == NAM_OK && !wal_reached(&flushed, &tw->flushed);
		if (came) {
			wal_reach(&tw->flushed, &flushed);
			tw->sync_ns = sync_ns;
			wake_flushed(tw);
			quiet_ns = net_now_ns(tw->w);
		}
		/* The process that was to rouse the flusher may have died, or stalls. */
		if (net_now_ns(tw->w) - quiet_ns >= PROD_NS) {
			wal_rings_prod(tw->w, &tw->db->wal, &tw->rings);
			quiet_ns = net_now_ns(tw->w);
		}
		tso_goes_on(tw->tso); /* the log's node lives, and its disk has not failed */
		/* First: a caller that hears of a cancel finds its mark's wait in the list. */
		if (st != NAM_OK)
			fail_all(tw, st);
		fail_broken(tw, broken);
		let_go_on(tw);
		if (tw->flush != NULL)
			pause_before_look(tw,
			    came || first ? sync_ns - sync_ns / FLUSH_PARTS : sync_ns / FLUSH_PARTS, bells);
	}
	tw->watching = false;
	tw->helpers--;
}

void
txn_flush_add(struct txn_worker *tw, struct txn_flush *f)
{
	f->over = false;
	f->next = tw->flush;
	tw->flush = f;
	if (tw->watching)
		return;
	tw->watching = true;
	tw->helpers++;
	if (nam_co_start(net_worker_sched(tw->w), watch, tw, 0) != NULL)
		return;
	tw->watching = false;
	tw->helpers--;
	fail_all(tw, NAM_NOMEM);
}

static void
wake(struct txn_flush *f)
{
	nam_co_wake(f->waiter);
}

nam_status
txn_flush_wait(struct txn_worker *tw, struct wal_ends end)
{
	return txn_flush_wait_by(tw, end, NULL, 0);
}

nam_status
txn_flush_wait_by(struct txn_worker *tw, struct wal_ends end, const struct txn_limits *l, uint64_t least_ns)
{
	struct txn_flush f = { .end = end,
		.limits = l,
		.from_ns = l != NULL ? net_now_ns(tw->w) + least_ns : 0,
		.then = wake,
		.waiter = nam_co_self() };
	if (wal_reached(&end, &tw->flushed))
		return NAM_OK;
	txn_flush_add(tw, &f);
	while (!f.over)
		nam_co_park();
	return f.st;
}

void
txn_set_sync(struct txn *t, bool on)
{
	t->sync = on && t->tw->db->wal.copies != 0;
}
