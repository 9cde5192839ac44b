/* host.c -- requests to the log of a storage node, and its flusher. */
#include "host.h"
#include "rings.h"

#include <base/clock.h>
#include <base/fault.h>
#include <base/hash.h>
#include <base/log.h>
#include <net/region_format.h>
#include <net/ring/bell.h>

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	DELAY_MS = 200,
	AGAIN_MS = 100,      /* a step that has to wait for space is tried again */
	BACKLOG = 1 << 20,   /* bytes that wait for the flusher before it is woken */
	PLACES_FIRST = 1024, /* a power of two */
	SMOOTH = 16,
	RESERVE = 64 << 10, /* kept back for records that undo, besides what rings hold */
	SEGMENT = 64 << 20, /* as wal_open chooses it */
};

/* What was received last with a place. */
struct place {
	uint64_t place; /* 0 = none */
	struct wal_last last;
	uint64_t series;
	uint32_t attempt, part;
};

/* A round that has not appended for so long has lost its process. */
#define ROUND_NS UINT64_C(5000000000)

struct wal_host {
	struct wal *log;
	struct wal_line *line;
	net_addr line_at;
	uint32_t delay_ms;
	/* Guards what follows, and what wal_append changes: the shard takes it to serve a request,
	 * the flusher to take what rings hold. */
	pthread_mutex_t lock;
	struct wal_rings *rings;  /* NULL = none, or no more; */
	struct wal_rings *closed; /* they are here then: a shard may note a caller */
	bool (*gone)(void *arg, uint64_t identity);
	void *gone_arg;
	struct place *place; /* open addressing, half full at most */
	uint32_t places, used;
	uint64_t stamp;                      /* the greatest of this life */
	uint64_t round;                      /* number of the last one */
	uint64_t round_ns;                   /* when it has appended last; 0 = none is under way */
	uint64_t round_cut;                  /* what the last one that has ended has cut off */
	_Atomic uint64_t full, full_wall_us; /* struct wal_line */
	uint64_t sync_ns;                    /* the flusher's */
	/* Between shard and flusher. */
	_Atomic uint64_t soon; /* position up to which a client waits */
	atomic_bool hurry;     /* a life was begun, or is to be published */
	atomic_bool stop;
	uint64_t *sleeps; /* a futex: 1 from before its last look until it is roused; the board's,
			   * or */
	uint64_t no_board;
	pthread_t thread;
	struct net_bell bell; /* how far it is flushed */
	bool started;
	bool said; /* the flusher's: that the log is broken */
};

static void
set_full(struct wal_host *h, uint64_t position)
{
	atomic_store(&h->full, position);
	atomic_store(&h->full_wall_us, (uint64_t)nam_clock_wall_us());
}

/* They change with what is published, and that is told behind them. */
static void
tell_copies(struct wal_host *h)
{
	struct wal_copies is;
	wal_copies_now(h->log, &is);
	struct wal_copies *to = &h->line->copies;
	if (memcmp(to, &is, sizeof is) == 0)
		return;
	__atomic_store_n(&to->database, is.database, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < WAL_COPIES; i++) {
		__atomic_store_n(&to->copy[i], is.copy[i], __ATOMIC_RELAXED);
		__atomic_store_n(&to->lost[i], is.lost[i], __ATOMIC_RELAXED);
	}
	for (unsigned i = 0; i < WAL_FORMERS; i++) {
		__atomic_store_n(&to->former[i].cluster, is.former[i].cluster, __ATOMIC_RELAXED);
		__atomic_store_n(&to->former[i].life, is.former[i].life, __ATOMIC_RELAXED);
	}
}

/* A broken log refuses first: what is published behind that has seen it. */
static void
tell_rings(struct wal_host *h, const struct wal_state *s)
{
	if (h->rings == NULL)
		return;
	uint64_t refuses = s->condition == WAL_WELL    ? WAL_TAKES
			   : s->condition == WAL_SPACE ? WAL_TAKES_MESSAGES
						       : WAL_TAKES_NONE;
	/* Before the flusher's last look into the rings: what that misses has seen this. */
	if (atomic_load(&h->stop))
		refuses = WAL_TAKES_NONE;
	__atomic_store_n(&wal_rings_board(h->rings)->refuses, refuses, __ATOMIC_SEQ_CST);
	if (s->condition == WAL_BROKEN)
		return;
	pthread_mutex_lock(&h->lock);
	/* A life may have begun since. */
	struct wal_state now;
	wal_state(h->log, &now);
	wal_rings_flushed(h->rings, now.flushed, &h->bell);
	pthread_mutex_unlock(&h->lock);
}

static void
tell_line(struct wal_host *h)
{
	struct wal_state s;
	wal_state(h->log, &s);
	/* A client that sees the life sees its positions. */
	if (h->line->life != s.life) {
		__atomic_store_n(&h->line->flushed, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&h->line->life, s.life, __ATOMIC_RELEASE);
	}
	/* What most syncs take, not the mean: a client that waits looks a little early. */
	if (h->sync_ns == 0 || s.sync_ns < h->sync_ns)
		h->sync_ns = (h->sync_ns + s.sync_ns) / (h->sync_ns == 0 ? 1 : 2);
	else
		h->sync_ns += (s.sync_ns - h->sync_ns) / SMOOTH;
	__atomic_store_n(&h->line->sync_us, (uint32_t)(h->sync_ns / 1000), __ATOMIC_RELAXED);
	__atomic_store_n(&h->line->syncs, s.syncs, __ATOMIC_RELAXED);
	__atomic_store_n(&h->line->records, s.records, __ATOMIC_RELAXED);
	__atomic_store_n(&h->line->bytes, s.raw, __ATOMIC_RELAXED);
	__atomic_store_n(&h->line->written, s.stored, __ATOMIC_RELAXED);
	__atomic_store_n(&h->line->full_wall_us, atomic_load(&h->full_wall_us), __ATOMIC_RELAXED);
	__atomic_store_n(&h->line->condition, (uint32_t)s.condition, __ATOMIC_RELEASE);
	__atomic_store_n(&h->line->flushed, s.flushed, __ATOMIC_RELEASE);
	__atomic_store_n(&h->line->full, atomic_load(&h->full), __ATOMIC_RELEASE);
	__atomic_store_n(&h->line->begin, s.begin, __ATOMIC_RELEASE);
	__atomic_store_n(&h->line->lacks, s.cut_lacks, __ATOMIC_RELEASE);
	tell_copies(h);
	__atomic_store_n(&h->line->cluster, s.cluster, __ATOMIC_RELEASE);
	__atomic_store_n(&h->line->published, s.published, __ATOMIC_RELEASE);
	tell_rings(h, &s);
	net_bell_ring(&h->bell, s.condition == WAL_BROKEN ? UINT64_MAX : s.flushed);
}

/* ---- the flusher ---- */

static nam_status take_published(struct wal_host *h);

static void
take_rings(struct wal_host *h)
{
	if (h->rings == NULL)
		return;
	pthread_mutex_lock(&h->lock);
	(void)take_published(h);
	pthread_mutex_unlock(&h->lock);
}

static void
tell_broken(struct wal_host *h)
{
	struct wal_state s;
	struct nam_err why = { .text = "" };
	wal_state(h->log, &s);
	if (s.condition == WAL_WELL)
		h->said = false;
	if (s.condition == WAL_WELL || h->said)
		return;
	h->said = true;
	wal_why(h->log, &why);
	nam_log(NAM_LOG_ERROR, "%s%s", why.text,
	    s.condition == WAL_BROKEN
		? "; no commit is accepted until this storage node has been started again"
		: "; commits are refused until there is space");
}

/* What is to be done before the flusher sleeps. It has said that it does. */
static bool
is_due(struct wal_host *h)
{
	struct wal_state s;
	wal_state(h->log, &s);
	if (s.condition == WAL_WELL) {
		pthread_mutex_lock(&h->lock);
		bool waits = h->rings != NULL && wal_rings_wait(h->rings);
		pthread_mutex_unlock(&h->lock);
		if (waits || atomic_load(&h->soon) > s.flushed)
			return true;
	}
	return atomic_load(&h->hurry) || atomic_load(&h->stop);
}

/* Sleeps until there is work, or so many milliseconds are over. The low half of the word is the
 * futex; compute processes have the memory mapped, so it is not a private one. */
static void
rest(struct wal_host *h, uint32_t ms)
{
	const struct timespec most = { ms / 1000, (long)(ms % 1000) * 1000000 };
	__atomic_store_n(h->sleeps, 1, __ATOMIC_SEQ_CST);
	if (!is_due(h))
		syscall(SYS_futex, h->sleeps, FUTEX_WAIT, 1, &most, NULL, 0);
	__atomic_store_n(h->sleeps, 0, __ATOMIC_SEQ_CST);
}

static void *
flusher(void *arg)
{
	struct wal_host *h = arg;
	struct wal_state s;
	prctl(PR_SET_NAME, "namdb-flusher", 0, 0, 0);
	for (;;) {
		bool stops = atomic_load(&h->stop);
		atomic_store(&h->hurry, false);
		do {
			tell_line(h);
			take_rings(h);
		} while (wal_step(h->log));
		tell_line(h);
		tell_broken(h);
		wal_state(h->log, &s);
		if (stops && (s.condition != WAL_WELL || s.flushed == s.received))
			return NULL;
		if (!stops)
			rest(h, s.condition == WAL_WELL ? h->delay_ms : AGAIN_MS);
	}
}

/* Also if a process has taken `sleeps` from the board and has not come to rouse it. */
static void
wake(struct wal_host *h)
{
	__atomic_store_n(h->sleeps, 0, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, h->sleeps, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* No system call while the flusher is awake: it looks before it sleeps. */
static void
rouse(struct wal_host *h)
{
	if (h->started && __atomic_load_n(h->sleeps, __ATOMIC_SEQ_CST) != 0 &&
	    __atomic_exchange_n(h->sleeps, 0, __ATOMIC_SEQ_CST) != 0)
		syscall(SYS_futex, h->sleeps, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- places ---- */

static struct place *
place_of(struct place *table, uint32_t places, uint64_t place)
{
	uint32_t i = (uint32_t)nam_mix(place) & (places - 1);
	while (table[i].place != 0 && table[i].place != place)
		i = (i + 1) & (places - 1);
	return &table[i];
}

static bool
places_grow(struct wal_host *h)
{
	uint32_t more = h->places != 0 ? 2 * h->places : PLACES_FIRST;
	struct place *table = calloc(more, sizeof *table);
	if (table == NULL)
		return false;
	for (uint32_t i = 0; i < h->places; i++)
		if (h->place[i].place != 0)
			*place_of(table, more, h->place[i].place) = h->place[i];
	free(h->place);
	h->place = table;
	h->places = more;
	return true;
}

/* ---- requests ---- */

/* A client cannot see which disk is meant by a plain status. */
static nam_status
told(nam_status st)
{
	return st == NAM_FULL ? NAM_NO_SPACE : st == NAM_IO ? NAM_UNLOGGED : st;
}

/* With the lock. */
static nam_status
append(struct wal_host *h, const struct wal_rq *rq, const void *bytes, uint64_t *end)
{
	struct place *p = NULL;
	if ((rq->flags & WAL_OF_ROUND) && (rq->series != h->round || h->round_ns == 0) &&
	    !nam_fault(WAL_OLD_ROUND))
		return NAM_REFUSED;
	if (rq->flags & WAL_NAMED) {
		if (rq->arg == 0)
			return NAM_INVALID;
		/* Memory first: what has been received has to be remembered. */
		if (2 * (h->used + 1) > h->places && !places_grow(h))
			return NAM_BUSY;
		p = place_of(h->place, h->places, rq->arg);
		bool undoes = (rq->flags & WAL_UNDOES) != 0;
		bool same = p->place != 0 && p->last.name[0] == rq->name[0] && p->last.name[1] == rq->name[1];
		bool late = p->place != 0 && !same && p->series == rq->series &&
			    p->attempt - rq->attempt - 1 < WAL_LATE;
		bool taken = same && p->last.part == WAL_UNDONE && nam_fault(LATE_TAKEN);
		if (undoes && late)
			p = NULL; /* a later attempt is there: nothing of this one can come */
		if (!undoes && same && rq->part <= p->part && !taken) { /* Q5, Q7 */
			*end = p->last.end;
			return NAM_OK;
		}
		if (!undoes && late)
			return NAM_REFUSED;
	}
	nam_status st = wal_append(h->log, rq->life, bytes, rq->bytes, (rq->flags & WAL_SPARE) != 0, end);
	/* Records that no client waits for would else fill the buffer while the flusher sleeps. */
	struct wal_state s;
	wal_state(h->log, &s);
	if (st == NAM_BUSY || s.received - s.flushed > BACKLOG) {
		atomic_store(&h->hurry, true);
		rouse(h);
	}
	if (st != NAM_OK)
		return st;
	if (rq->stamp > h->stamp)
		h->stamp = rq->stamp;
	if (rq->flags & WAL_OF_ROUND)
		h->round_ns = wal_now_ns(h->log);
	if (p != NULL) {
		h->used += p->place == 0;
		p->place = rq->arg;
		p->last = (struct wal_last){ { rq->name[0], rq->name[1] }, *end,
			rq->flags & WAL_UNDOES ? WAL_UNDONE : rq->part };
		p->series = rq->series;
		p->attempt = rq->attempt;
		p->part = rq->part;
	}
	if (rq->flags & WAL_SOON) {
		if (atomic_load_explicit(&h->soon, memory_order_relaxed) < *end)
			atomic_store(&h->soon, *end);
		rouse(h);
	}
	return NAM_OK;
}

/* R1: its space is kept back. While there is more, it waits for that. */
static nam_status
take_one(void *arg, const struct wal_rq *rq, const void *bytes, uint64_t *end)
{
	struct wal_host *h = arg;
	struct wal_rq spare = *rq;
	struct wal_state s;
	wal_state(h->log, &s);
	if (s.condition == WAL_SPACE)
		spare.flags |= WAL_SPARE;
	return append(h, &spare, bytes, end);
}

/* What rings hold comes into the order. With the lock. NAM_BUSY: not all of it can, at present; a
 * broken log takes none of it. */
static nam_status
take_published(struct wal_host *h)
{
	if (h->rings == NULL)
		return NAM_OK;
	nam_status st = wal_rings_take(h->rings, take_one, h);
	return st == NAM_OK || st == NAM_IO ? NAM_OK : NAM_BUSY;
}

static nam_status
begin(struct wal_host *h, uint64_t cluster, uint64_t least, uint64_t *life)
{
	uint32_t number;
	if (least > UINT32_MAX)
		return NAM_INVALID;
	nam_status st = wal_begin_from(h->log, cluster, (uint32_t)least, &number);
	if (st != NAM_OK)
		return st;
	*life = number;
	if (h->rings != NULL)
		wal_rings_end_all(h->rings);
	atomic_store(&h->soon, 0);
	if (h->places > 0)
		memset(h->place, 0, h->places * sizeof *h->place);
	h->used = 0;
	h->stamp = 0;
	h->round_ns = 0;
	atomic_store(&h->full, 0);
	atomic_store(&h->hurry, true);
	rouse(h);
	return NAM_OK;
}

/* ---- rounds ---- */

static nam_status
round_begin(struct wal_host *h, const struct wal_rq *rq, struct wal_round *out)
{
	struct wal_state s;
	wal_state(h->log, &s);
	if (rq->life != s.life || s.published != s.life)
		return NAM_REFUSED;
	if (rq->flags & (WAL_STAYS | WAL_QUITS)) {
		if (rq->series != h->round || h->round_ns == 0)
			return NAM_REFUSED;
		h->round_ns = rq->flags & WAL_STAYS ? wal_now_ns(h->log) : 0;
		*out = (struct wal_round){ .number = h->round };
		return NAM_OK;
	}
	if (!(rq->flags & WAL_OVER) && h->round_ns != 0 && wal_now_ns(h->log) - h->round_ns < ROUND_NS)
		return NAM_BUSY;
	h->round_ns = wal_now_ns(h->log);
	h->round = h->round + 1 > rq->stamp ? h->round + 1 : rq->stamp;
	*out = (struct wal_round){ h->round, s.received, h->stamp };
	return NAM_OK;
}

static nam_status
round_end(struct wal_host *h, const struct wal_rq *rq)
{
	struct wal_state s;
	wal_state(h->log, &s);
	if (rq->series != h->round)
		return NAM_REFUSED;
	if (h->round_ns == 0 && rq->arg != 0 && rq->arg == h->round_cut)
		return NAM_OK; /* the client repeats it */
	if (h->round_ns == 0)
		return NAM_REFUSED;
	nam_status st = wal_cut(h->log, rq->life, rq->arg);
	if (st != NAM_OK)
		return st;
	h->round_ns = 0;
	h->round_cut = rq->arg;
	set_full(h, s.received);
	atomic_store(&h->hurry, true);
	rouse(h);
	return NAM_OK;
}

static nam_status
publish(struct wal_host *h, const struct wal_rq *rq, const void *bytes)
{
	struct wal_copies copies;
	struct wal_state s;
	if (rq->bytes != 0 && rq->bytes != sizeof copies)
		return NAM_INVALID;
	memcpy(&copies, bytes, rq->bytes);
	nam_status st =
	    rq->bytes != 0 ? wal_publish_as(h->log, rq->life, &copies) : wal_publish(h->log, rq->life);
	if (st != NAM_OK)
		return st;
	wal_state(h->log, &s);
	set_full(h, s.received);
	atomic_store(&h->hurry, true);
	rouse(h);
	return NAM_OK;
}

static nam_status
lost(struct wal_host *h, uint64_t node)
{
	nam_status st = node <= UINT32_MAX ? wal_lost(h->log, (uint32_t)node) : NAM_INVALID;
	if (st == NAM_OK) {
		atomic_store(&h->hurry, true);
		rouse(h);
	}
	return st;
}

static nam_status
read_records(struct wal_host *h, uint32_t life, uint64_t position, struct net_request *rq)
{
	struct wal_records *head = rq->answer;
	struct nam_err err;
	uint32_t got;
	if (rq->answer_max < sizeof *head)
		return NAM_FULL;
	uint32_t cap = rq->answer_max - (uint32_t)sizeof *head;
	nam_status st = life == 0
			    ? wal_read(h->log, position, head + 1, cap, &got, &head->next, &err)
			    : wal_read_live(h->log, life, position, head + 1, cap, &got, &head->next, &err);
	if (life != 0 && (st == NAM_ABSENT || st == NAM_REFUSED))
		return st;
	if (st != NAM_OK) {
		nam_log(NAM_LOG_ERROR, "%s", err.text);
		return st;
	}
	head->bytes = got;
	rq->answer_len = (uint32_t)sizeof *head + got;
	return NAM_OK;
}

static void
report(struct wal_host *h, struct wal_report *out)
{
	struct wal_state s;
	wal_state(h->log, &s);
	*out = (struct wal_report){ .cluster = s.cluster,
		.line = h->line_at.bits,
		.end = s.end,
		.published = s.published,
		.life = s.life,
		.condition = s.condition,
		.lives = s.lives,
		.begin = s.begin,
		.received = s.received };
}

static nam_status
last_of(const struct wal_host *h, const struct wal_rq *rq, struct net_request *request)
{
	static const struct wal_last none;
	struct wal_state s;
	wal_state(h->log, &s);
	if (rq->life != s.life)
		return NAM_REFUSED;
	memcpy(request->answer, h->places > 0 ? &place_of(h->place, h->places, rq->arg)->last : &none,
	    sizeof none);
	request->answer_len = sizeof none;
	return NAM_OK;
}

static nam_status
ring_give(struct wal_host *h, const struct wal_rq *rq, struct net_request *request)
{
	struct wal_state s;
	struct wal_ring_given given;
	wal_state(h->log, &s);
	if (rq->life != s.life)
		return NAM_REFUSED;
	if (h->rings == NULL)
		return NAM_UNSUPPORTED;
	nam_status st = wal_rings_give(h->rings, rq->name, &given, &request->caller);
	/* Behind the proof, what they have published comes into the order; then their rings end. */
	if (st == NAM_CROWDED && h->gone != NULL &&
	    wal_rings_look_for_gone(h->rings, h->gone, h->gone_arg) > 0 && take_published(h) == NAM_OK) {
		wal_rings_end_gone(h->rings);
		st = wal_rings_give(h->rings, rq->name, &given, &request->caller);
	}
	if (st != NAM_OK)
		return st;
	memcpy(request->answer, &given, sizeof given);
	request->answer_len = sizeof given;
	return NAM_OK;
}

/* A request that is answered with a number. */
static nam_status
number_of(struct wal_host *h, const struct wal_rq *rq, struct net_request *request, uint64_t *number)
{
	const void *bytes = (const char *)request->bytes + sizeof *rq;
	nam_status st;
	switch ((enum wal_message)rq->what) {
	case WAL_CUT:
		return round_end(h, rq);
	case WAL_APPEND:
		st = append(h, rq, bytes, number);
		if (st == NAM_OK && (rq->flags & WAL_SOON) && (rq->flags & WAL_RINGS))
			request->tell = *number;
		return st;
	case WAL_BEGIN:
		return begin(h, rq->arg, rq->stamp, number);
	case WAL_PUBLISH:
		return publish(h, rq, bytes);
	case WAL_LOST:
		return lost(h, rq->arg);
	case WAL_UNRING:
		if (h->rings != NULL)
			wal_rings_end(h->rings, rq->name);
		return NAM_OK;
	case WAL_PROD:
		wake(h);
		return NAM_OK;
	default:
		return NAM_INVALID;
	}
}

/* With the lock. */
static nam_status
answer(struct wal_host *h, const struct wal_rq *rq, struct net_request *request)
{
	uint64_t number = 0;
	if (request->answer_max < sizeof(struct wal_report))
		return NAM_FULL;
	/* R5. A life that begins drops what is published. */
	bool drops = rq->what == WAL_BEGIN || (rq->what == WAL_LAST && nam_fault(RINGS_UNTAKEN));
	/* These need not lie behind what is published; a cut may be what makes room for it. */
	bool free_of =
	    rq->what == WAL_ASK || rq->what == WAL_CUT || rq->what == WAL_LOST || rq->what == WAL_PROD;
	nam_status st = drops ? NAM_OK : take_published(h);
	if (st != NAM_OK && !free_of)
		return st;
	switch ((enum wal_message)rq->what) {
	case WAL_ASK:
		report(h, request->answer);
		request->answer_len = sizeof(struct wal_report);
		return NAM_OK;
	case WAL_LAST:
		return last_of(h, rq, request);
	case WAL_RING:
		return ring_give(h, rq, request);
	case WAL_ROUND:
		st = round_begin(h, rq, request->answer);
		if (st == NAM_OK)
			request->answer_len = sizeof(struct wal_round);
		return told(st);
	default:
		st = number_of(h, rq, request, &number);
		memcpy(request->answer, &number, sizeof number);
		request->answer_len = sizeof number;
		return told(st);
	}
}

static nam_status
handle(void *arg, struct net_request *request)
{
	struct wal_host *h = arg;
	struct wal_rq rq;
	if (request->len < sizeof rq)
		return NAM_INVALID;
	memcpy(&rq, request->bytes, sizeof rq);
	if (rq.bytes > request->len - sizeof rq)
		return NAM_INVALID;
	/* Reading is the shard's alone, and may take long. */
	if (rq.what == WAL_READ)
		return read_records(h, rq.life, rq.arg, request);
	pthread_mutex_lock(&h->lock);
	nam_status st = answer(h, &rq, request);
	pthread_mutex_unlock(&h->lock);
	return st;
}

/* Of a simulated node: one step of the flusher's work each time. */
static bool
idle(void *arg)
{
	struct wal_host *h = arg;
	__atomic_store_n(h->sleeps, 0, __ATOMIC_RELAXED);
	take_rings(h);
	bool did = wal_step(h->log);
	tell_line(h);
	if (!did)
		__atomic_store_n(h->sleeps, 1, __ATOMIC_RELAXED);
	return did;
}

/* ---- opening ---- */

/* R1: the log keeps their space back, half of a segment at most. Without memory for them there are
 * none. */
static void
rings_open(struct wal_host *h, const struct wal_host_config *cfg, struct wal_config *log)
{
	uint64_t segment = log->segment_bytes != 0 ? log->segment_bytes : SEGMENT;
	uint64_t kept = segment / 4 < RESERVE ? segment / 4 : RESERVE, most = (segment / 2 - kept) / 2;
	if (cfg->rings == NULL)
		return;
	h->rings = wal_rings_open(cfg->rings, cfg->rings_at,
	    cfg->rings_bytes < most ? cfg->rings_bytes : most, cfg->ring_bytes, cfg->rings_any);
	if (h->rings == NULL)
		return;
	log->reserve_bytes = kept + 2 * wal_rings_hold(h->rings);
	h->sleeps = &wal_rings_board(h->rings)->sleeps;
	__atomic_store_n(h->sleeps, !cfg->thread, __ATOMIC_RELAXED);
}

nam_status
wal_host_open(struct wal_host **out, const struct wal_host_config *cfg, struct nam_err *err)
{
	struct wal_host *h = calloc(1, sizeof *h);
	if (h == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for the log");
	h->line = cfg->line;
	h->line_at = cfg->line_at;
	h->delay_ms = cfg->delay_ms != 0 ? cfg->delay_ms : DELAY_MS;
	h->sleeps = &h->no_board;
	h->gone = cfg->gone;
	h->gone_arg = cfg->gone_arg;
	pthread_mutex_init(&h->lock, NULL);
	struct wal_config log = cfg->log;
	rings_open(h, cfg, &log);
	nam_status st = wal_open(&h->log, &log, err);
	if (st != NAM_OK) {
		wal_rings_close(h->rings);
		pthread_mutex_destroy(&h->lock);
		free(h);
		return st;
	}
	h->line->every = cfg->every;
	tell_line(h);
	if (cfg->thread) {
		h->started = pthread_create(&h->thread, NULL, flusher, h) == 0;
		if (!h->started) {
			wal_host_close(h);
			return nam_fail(err, NAM_IO, "cannot start the thread that flushes the log");
		}
		pthread_setname_np(h->thread, "namdb-flusher");
	}
	*out = h;
	return NAM_OK;
}

void
wal_host_stop(struct wal_host *h)
{
	if (h == NULL || !h->started)
		return;
	atomic_store(&h->stop, true);
	wake(h);
	pthread_join(h->thread, NULL);
	h->started = false;
	/* The region's memory may go before the log is closed. */
	pthread_mutex_lock(&h->lock);
	h->closed = h->rings;
	h->rings = NULL;
	h->sleeps = &h->no_board;
	pthread_mutex_unlock(&h->lock);
}

void
wal_host_close(struct wal_host *h)
{
	struct wal_state s;
	if (h == NULL)
		return;
	wal_host_stop(h);
	take_rings(h);
	for (wal_state(h->log, &s); s.condition == WAL_WELL && s.flushed < s.received; wal_state(h->log, &s))
		wal_step(h->log);
	wal_host_drop(h);
}

void
wal_host_drop(struct wal_host *h)
{
	if (h == NULL)
		return;
	wal_close(h->log);
	wal_rings_close(h->rings);
	wal_rings_close(h->closed);
	pthread_mutex_destroy(&h->lock);
	free(h->place);
	free(h);
}

void
wal_host_service(struct wal_host *h, struct net_service *out)
{
	*out = (struct net_service){
		.id = WAL_SERVICE,
		.name = "log",
		.fn = handle,
		.arg = h,
		.idle = h->started ? NULL : idle,
		.bell = &h->bell,
	};
}
