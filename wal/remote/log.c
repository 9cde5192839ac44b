/* log.c -- a compute process and the log of its cluster. */
#include "log.h"

#include <base/assert.h>
#include <base/fault.h>
#include <base/status.h>
#include <net/region_format.h>
#include <wal/wal.h>

#include <string.h>

enum { TRIES = 8, AGAIN_NS = 100000, BUSY_NS = 50000, BUSY_CAP_NS = 2000000 };
#define FULL_NS UINT64_C(2000000000)
enum { WIDE = 512 << 10 }; /* a response ring */

/* The channel broke, the worker's connection did not: opens it again. */
static nam_status
reopen(struct net_worker *w, unsigned region)
{
	/* A shard that polls would take a core from the workers, and answer later when it has
	 * slept. */
	static const struct net_call_config plain = { .mode = NET_EVENTS };
	if (net_worker_broke(w, region))
		return NAM_GONE;
	return net_call_open(w, region, WAL_SERVICE, &plain, NULL);
}

static bool
is_long(struct net_worker *w, uint64_t *since)
{
	uint64_t now = net_now_ns(w);
	if (*since == 0)
		*since = now;
	return now - *since > FULL_NS;
}

/* What ends the waiting for a log that is busy; zeros: nothing does. */
struct patience {
	const atomic_bool *stop;
	net_addr line; /* of the log: a disk that stays full */
	uint64_t full_ns;
};

/* *line: as it is now, if there is one. */
static nam_status
still(struct net_worker *w, struct patience *p, struct wal_line *line)
{
	if (p->stop != NULL && atomic_load(p->stop))
		return NAM_CANCELLED;
	if (p->line.bits == 0)
		return NAM_OK;
	nam_status st = net_read1(w, p->line, line, sizeof *line, NULL);
	return st == NAM_OK && line->condition == WAL_SPACE && is_long(w, &p->full_ns) ? NAM_NO_SPACE : st;
}

/* A request that may be repeated; its bytes follow it. */
static nam_status
ask_until(struct net_worker *w, unsigned region, const struct wal_rq *rq, void *answer, uint32_t cap,
    uint32_t *got, struct patience *p)
{
	struct net_backoff pause = { .base_ns = BUSY_NS, .cap_ns = BUSY_CAP_NS };
	struct wal_line line;
	nam_status st;
	for (unsigned tries = 0;;) {
		uint32_t len = (uint32_t)sizeof *rq + rq->bytes;
		st = net_call(w, region, WAL_SERVICE, rq, len, answer, cap, got);
		if (st == NAM_BUSY) {
			nam_status over = still(w, p, &line);
			if (over != NAM_OK)
				return over;
			net_back_off(w, &pause);
			continue;
		}
		if (st != NAM_GONE || ++tries > TRIES || reopen(w, region) != NAM_OK)
			return st;
	}
}

static nam_status
ask(struct net_worker *w, unsigned region, const struct wal_rq *rq, void *answer, uint32_t cap, uint32_t *got)
{
	struct patience none = { 0 };
	return ask_until(w, region, rq, answer, cap, got, &none);
}

/* A request that is not repeated; it has no bytes. */
static nam_status
ask_once(
    struct net_worker *w, unsigned region, const struct wal_rq *rq, void *answer, uint32_t cap, uint32_t *got)
{
	nam_status st = reopen(w, region);
	return st == NAM_OK ? net_call(w, region, WAL_SERVICE, rq, sizeof *rq, answer, cap, got) : st;
}

nam_status
wal_log_ask(struct net_worker *w, unsigned region, struct wal_report *out)
{
	const struct wal_rq rq = { .what = WAL_ASK };
	uint32_t got;
	/* Else the channel would be one that the shard polls, as long as the worker lives. */
	nam_status st = reopen(w, region);
	if (st == NAM_OK)
		st = ask(w, region, &rq, out, sizeof *out, &got);
	return st == NAM_OK && got != sizeof *out ? NAM_CORRUPT : st;
}

static nam_status
begin_one(struct net_worker *w, unsigned region, net_addr line, uint64_t cluster, uint32_t least,
    const atomic_bool *stop, uint32_t *out)
{
	const struct wal_rq rq = { .what = WAL_BEGIN, .arg = cluster, .stamp = least };
	uint64_t life[sizeof(struct wal_report) / 8];
	uint32_t got;
	struct patience p = { .stop = stop, .line = line };
	nam_status st = ask_until(w, region, &rq, life, sizeof life, &got, &p);
	if (st != NAM_OK)
		return st;
	if (got != sizeof life[0] || life[0] == 0 || life[0] > UINT32_MAX)
		return NAM_CORRUPT;
	*out = (uint32_t)life[0];
	return NAM_OK;
}

/* A number greater than each that any of the copies has given out, on all of them. NAM_BUSY: a copy
 * has given out a greater one meanwhile. */
static nam_status
begin_all(struct net_worker *w, uint64_t cluster, const atomic_bool *stop, struct wal_log *l)
{
	uint32_t lives = 0;
	struct wal_report report;
	for (unsigned i = 0; i < l->copies; i++) {
		nam_status st = wal_log_ask(w, l->copy[i].region, &report);
		if (st != NAM_OK)
			return st;
		l->copy[i].line.bits = report.line;
		lives = report.lives > lives ? report.lives : lives;
	}
	for (unsigned i = 0; i < l->copies; i++) {
		uint32_t life;
		nam_status st =
		    begin_one(w, l->copy[i].region, l->copy[i].line, cluster, lives + 1, stop, &life);
		if (st != NAM_OK)
			return st;
		if (i > 0 && life != l->life)
			return NAM_BUSY;
		l->life = life;
	}
	return NAM_OK;
}

nam_status
wal_log_begin(struct net_worker *w, const unsigned *region, unsigned copies, uint64_t cluster,
    const atomic_bool *stop, struct wal_log *out)
{
	struct wal_log l = { .copies = copies };
	nam_status st = NAM_BUSY;
	NAM_ASSERT(copies > 0 && copies <= WAL_COPIES);
	for (unsigned i = 0; i < copies; i++)
		l.copy[i].region = region[i];
	for (unsigned tries = 0; st == NAM_BUSY && tries < TRIES; tries++)
		st = begin_all(w, cluster, stop, &l);
	if (st == NAM_OK)
		*out = l;
	return st;
}

static nam_status
publish_one(struct net_worker *w, const struct wal_log *l, unsigned copy, const struct wal_copies *as,
    const atomic_bool *stop)
{
	struct {
		struct wal_rq rq;
		struct wal_copies as;
	} rq = { .rq = { .what = WAL_PUBLISH, .life = l->life } };
	uint64_t none[sizeof(struct wal_report) / 8];
	struct net_backoff pause = { .base_ns = BUSY_NS, .cap_ns = BUSY_CAP_NS };
	struct wal_line line = { 0 };
	uint32_t got;
	if (as != NULL) {
		rq.rq.bytes = sizeof rq.as;
		rq.as = *as;
	}
	nam_status st = ask(w, l->copy[copy].region, &rq.rq, none, sizeof none, &got);
	struct patience p = { .stop = stop, .line = l->copy[copy].line };
	while (st == NAM_OK) {
		st = still(w, &p, &line);
		if (line.published == l->life)
			return NAM_OK; /* whatever else: it is the database */
		if (st == NAM_OK && line.condition == WAL_BROKEN)
			st = NAM_UNLOGGED;
		else if (st == NAM_OK && line.life > l->life) /* a smaller one: not told yet */
			st = NAM_REFUSED;
		if (st == NAM_OK)
			net_back_off(w, &pause);
	}
	return st;
}

/* Waits until the copy has flushed what it has received so far (W11). */
static nam_status
flush_one(struct net_worker *w, const struct wal_log *l, unsigned copy, const atomic_bool *stop)
{
	const struct wal_rq rq = { .what = WAL_PROD, .life = l->life };
	struct net_backoff pause = { .base_ns = BUSY_NS, .cap_ns = BUSY_CAP_NS };
	struct patience p = { .stop = stop, .line = l->copy[copy].line };
	struct wal_report report;
	struct wal_line line = { 0 };
	uint64_t none[sizeof(struct wal_report) / 8];
	uint32_t got;
	nam_status st = wal_log_ask(w, l->copy[copy].region, &report);
	if (st == NAM_OK && report.life != l->life)
		return NAM_REFUSED;
	if (st == NAM_OK)
		st = ask(w, l->copy[copy].region, &rq, none, sizeof none, &got);
	while (st == NAM_OK) {
		st = still(w, &p, &line);
		if (st == NAM_OK && line.life == l->life && line.flushed >= report.received)
			return NAM_OK;
		if (st == NAM_OK && line.condition == WAL_BROKEN)
			st = NAM_UNLOGGED;
		else if (st == NAM_OK && line.life > l->life)
			st = NAM_REFUSED;
		if (st == NAM_OK)
			net_back_off(w, &pause);
	}
	return st;
}

nam_status
wal_log_publish(
    struct net_worker *w, const struct wal_log *l, const struct wal_copies *as, const atomic_bool *stop)
{
	nam_status st = NAM_OK;
	/* With one copy its own publication is behind its flush. */
	unsigned first = l->copies == 1 || nam_fault(PUBLISH_FIRST) ? 0 : l->copies;
	for (unsigned i = 0; st == NAM_OK && i < first; i++)
		st = flush_one(w, l, i, stop);
	for (unsigned i = 0; st == NAM_OK && i < l->copies; i++)
		st = publish_one(w, l, i, as, stop);
	return st;
}

nam_status
wal_log_lost(struct net_worker *w, unsigned region, unsigned node)
{
	const struct wal_rq rq = { .what = WAL_LOST, .arg = node };
	uint64_t none[sizeof(struct wal_report) / 8];
	struct net_backoff pause = { .base_ns = BUSY_NS, .cap_ns = BUSY_CAP_NS };
	struct wal_report report = { 0 };
	struct wal_line line = { 0 };
	uint32_t got;
	nam_status st = region == node ? NAM_REFUSED : wal_log_ask(w, region, &report);
	struct patience p = { .line = { report.line } };
	if (st == NAM_OK)
		st = still(w, &p, &line);
	const uint64_t life = line.published;
	if (st == NAM_OK && (life == 0 || node == 0))
		st = NAM_ABSENT;
	if (st == NAM_OK)
		st = ask(w, region, &rq, none, sizeof none, &got);
	while (st == NAM_OK) {
		st = still(w, &p, &line);
		if (st == NAM_OK && wal_ids_have(line.copies.lost, node))
			return NAM_OK;
		if (st == NAM_OK && line.condition == WAL_BROKEN)
			st = NAM_UNLOGGED;
		if (st == NAM_OK && line.published != life)
			st = NAM_ABSENT;
		if (st == NAM_OK && is_long(w, &p.full_ns))
			st = NAM_NO_SPACE;
		if (st == NAM_OK)
			net_back_off(w, &pause);
	}
	return st;
}

/* life 0: the published one. */
static nam_status
read_records(struct net_worker *w, unsigned region, uint32_t life, uint64_t position, void *buf, uint32_t cap,
    const char **records, uint32_t *bytes, uint64_t *next)
{
	const struct wal_rq rq = { .what = WAL_READ, .life = life, .arg = position };
	struct wal_records head;
	uint32_t got, record, most;
	*bytes = 0;
	nam_status st;
	/* It is less than the caller knows if the channel has been opened again, here or in ask. */
	for (bool less = true; less;) {
		if ((st = wal_log_most(w, region, &record, &most)) != NAM_OK)
			return st;
		cap = most < cap ? most : cap;
		if (cap < sizeof head)
			return NAM_INVALID;
		st = ask(w, region, &rq, buf, cap, &got);
		less = st == NAM_INVALID && wal_log_most(w, region, &record, &most) == NAM_OK && most < cap;
	}
	if (st != NAM_OK)
		return st;
	memcpy(&head, buf, got < sizeof head ? got : sizeof head);
	if (got < sizeof head || head.bytes != got - sizeof head || head.bytes > cap)
		return NAM_CORRUPT;
	*records = (const char *)buf + sizeof head;
	*bytes = (uint32_t)head.bytes;
	*next = head.next;
	return NAM_OK;
}

nam_status
wal_log_read(struct net_worker *w, unsigned region, uint64_t position, void *buf, uint32_t cap,
    const char **records, uint32_t *bytes, uint64_t *next)
{
	nam_status st = read_records(w, region, 0, position, buf, cap, records, bytes, next);
	/* The node has no memory for rings so large. Another coroutine may use the channel. */
	for (unsigned tries = 0; st == NAM_CROWDED && tries < TRIES; tries++) {
		if (!net_call_answers(w, region, WAL_SERVICE, 0))
			net_sleep(w, BUSY_CAP_NS);
		st = read_records(w, region, 0, position, buf, cap, records, bytes, next);
	}
	return st;
}

nam_status
wal_log_read_wide(struct net_worker *w, unsigned region, bool wide)
{
	nam_status st = reopen(w, region);
	/* The last call's WRITE may not have been seen to end. */
	for (unsigned tries = 0; st == NAM_OK && tries < TRIES; tries++) {
		if (net_call_answers(w, region, WAL_SERVICE, wide ? WIDE : 0))
			break;
		net_sleep(w, AGAIN_NS);
	}
	return st;
}

nam_status
wal_log_read_live(struct net_worker *w, const struct wal_log *l, uint64_t position, void *out, uint32_t cap,
    uint32_t *bytes, uint64_t *next)
{
	const char *records;
	nam_status st =
	    read_records(w, l->copy[0].region, l->life, position, out, cap, &records, bytes, next);
	if (st == NAM_OK)
		memmove(out, records, *bytes);
	return st;
}

nam_status
wal_log_last(
    struct net_worker *w, const struct wal_log *l, unsigned copy, uint64_t place, struct wal_last *out)
{
	const struct wal_rq rq = { .what = WAL_LAST, .life = l->life, .arg = place };
	uint64_t answer[sizeof(struct wal_report) / 8];
	uint32_t got;
	nam_status st = ask(w, l->copy[copy].region, &rq, answer, sizeof answer, &got);
	if (st == NAM_OK && got != sizeof *out)
		return NAM_CORRUPT;
	if (st == NAM_OK)
		memcpy(out, answer, sizeof *out);
	return st;
}

nam_status
wal_log_most_of(struct net_worker *w, const struct wal_log *l, uint32_t *record)
{
	uint32_t of_one, records;
	*record = UINT32_MAX;
	for (unsigned i = 0; i < l->copies; i++) {
		nam_status st = wal_log_most(w, l->copy[i].region, &of_one, &records);
		if (st != NAM_OK)
			return st;
		*record = of_one < *record ? of_one : *record;
	}
	return NAM_OK;
}

nam_status
wal_log_most(struct net_worker *w, unsigned region, uint32_t *record, uint32_t *records)
{
	uint32_t request, answer;
	nam_status st = reopen(w, region);
	if (st == NAM_OK)
		st = net_call_max(w, region, WAL_SERVICE, &request, &answer);
	if (st != NAM_OK)
		return st;
	*record = request - (uint32_t)sizeof(struct wal_rq);
	*records = answer;
	return NAM_OK;
}

/* ---- appending ---- */

static void
append_again(struct net_worker *w, struct wal_append *a, unsigned copy)
{
	a->to[copy].call = (struct net_call){ .region = a->log->copy[copy].region,
		.service = WAL_SERVICE,
		.request = a->rq,
		.len = (uint32_t)sizeof *a->rq + a->rq->bytes,
		.answer = a->to[copy].answer,
		.cap = sizeof a->to[copy].answer };
	net_call_start(w, &a->to[copy].call);
}

void
wal_append_start(struct net_worker *w, const struct wal_log *l, struct wal_append *a)
{
	a->log = l;
	a->rq->what = WAL_APPEND;
	a->rq->life = l->life;
	a->rq->flags = a->flags;
	a->rq->arg = a->place;
	memcpy(a->rq->name, a->name, sizeof a->name);
	a->rq->series = a->series;
	a->rq->attempt = a->attempt;
	a->rq->part = a->part;
	a->rq->stamp = a->stamp;
	for (unsigned i = 0; i < l->copies; i++) {
		a->to[i].by_ring =
		    a->own != NULL && sizeof *a->rq + a->rq->bytes <= wal_ring_most(&a->own->copy[i]);
		if ((a->spared >> i & 1) == 0 && !a->to[i].by_ring)
			append_again(w, a, i);
	}
}

/* Has a log that is broken taken it? It takes nothing more. */
static nam_status
was_taken(struct net_worker *w, struct wal_append *a, unsigned copy)
{
	struct wal_last last;
	nam_status st = wal_log_last(w, a->log, copy, a->place, &last);
	if (st != NAM_OK)
		return NAM_GONE;
	if (last.end == 0 || memcmp(last.name, a->name, sizeof last.name) != 0 || last.part != a->part)
		return NAM_UNLOGGED;
	a->end.at[copy] = last.end;
	return NAM_OK;
}

/* Puts it into the ring. NAM_BUSY: a message is on its way instead. */
static nam_status
by_ring(struct net_worker *w, struct wal_append *a, unsigned copy)
{
	const struct wal_rq prod_rq = { .what = WAL_PROD, .life = a->log->life };
	uint64_t none[sizeof(struct wal_report) / 8];
	uint32_t got;
	bool prod;
	nam_status st = wal_ring_put(&a->own->copy[copy], w, a->rq, &a->end.in_ring[copy], &prod);
	if (st == NAM_BUSY)
		append_again(w, a, copy);
	if (st == NAM_UNLOGGED)
		return was_taken(w, a, copy);
	if (st == NAM_OK && prod)
		(void)ask_once(w, a->log->copy[copy].region, &prod_rq, none, sizeof none, &got);
	return st;
}

static nam_status
wait_for(struct net_worker *w, struct wal_append *a, unsigned copy)
{
	struct net_backoff pause = { .base_ns = BUSY_NS, .cap_ns = BUSY_CAP_NS };
	const struct net_call *call = &a->to[copy].call;
	bool doubt = false;
	for (unsigned tries = 0;;) {
		nam_status st = net_call_wait(&a->to[copy].call);
		if (st == NAM_OK) {
			a->end.at[copy] = a->to[copy].answer[0];
			return call->got == sizeof a->to[copy].answer[0] ? NAM_OK : NAM_CORRUPT;
		}
		doubt |= st == NAM_GONE;
		if (st == NAM_BUSY && a->gives_up != NULL && a->gives_up(a->gives_up_arg))
			return doubt ? NAM_GONE : st;
		if (st == NAM_BUSY)
			net_back_off(w, &pause);
		else if (st != NAM_GONE || ++tries > TRIES || reopen(w, call->region) != NAM_OK)
			return doubt ? NAM_GONE : st; /* an earlier try may have been served */
		append_again(w, a, copy);
	}
}

nam_status
wal_append_wait(struct net_worker *w, struct wal_append *a)
{
	nam_status all = NAM_OK;
	a->may = 0;
	a->end = (struct wal_ends){ 0 };
	/* Each one to its end: what is on its way uses the caller's memory. */
	for (unsigned i = 0; i < a->log->copies; i++) {
		nam_status st = NAM_OK;
		if ((a->spared >> i & 1) == 0)
			st = a->to[i].by_ring ? by_ring(w, a, i) : NAM_BUSY;
		if ((a->spared >> i & 1) == 0 && st == NAM_BUSY)
			st = wait_for(w, a, i);
		if ((a->spared >> i & 1) == 0 && (st == NAM_OK || st == NAM_GONE || st == NAM_CORRUPT))
			a->may |= 1u << i;
		if (all == NAM_OK || (all == NAM_GONE && st != NAM_OK))
			all = st;
	}
	return all;
}

nam_status
wal_log_line(struct net_worker *w, const struct wal_log *l, struct wal_line *out)
{
	return net_read1(w, l->copy[0].line, out, sizeof *out, NULL);
}

/* ---- rounds ---- */

static nam_status
round_one(struct net_worker *w, const struct wal_log *l, unsigned copy, bool over, uint64_t least,
    struct wal_round *out)
{
	const struct wal_rq rq = {
		.what = WAL_ROUND, .life = l->life, .flags = over ? WAL_OVER : 0, .stamp = least
	};
	uint64_t answer[sizeof(struct wal_report) / 8];
	uint32_t got;
	/* Not through ask: NAM_BUSY is an answer here. A round that was begun twice is the last. */
	nam_status st = NAM_GONE;
	for (unsigned tries = 0; st == NAM_GONE && tries < TRIES; tries++) {
		st = net_call(
		    w, l->copy[copy].region, WAL_SERVICE, &rq, sizeof rq, answer, sizeof answer, &got);
		if (st == NAM_GONE && reopen(w, l->copy[copy].region) != NAM_OK)
			break;
	}
	if (st == NAM_OK && got != sizeof *out)
		return NAM_CORRUPT;
	if (st == NAM_OK)
		memcpy(out, answer, sizeof *out);
	return st;
}

static nam_status
say_of_round(struct net_worker *w, const struct wal_log *l, unsigned copy, uint64_t number, bool under_way)
{
	const struct wal_rq rq = { .what = WAL_ROUND,
		.life = l->life,
		.flags = under_way ? WAL_STAYS : WAL_QUITS,
		.series = number };
	uint64_t answer[sizeof(struct wal_report) / 8];
	uint32_t got;
	return net_call(w, l->copy[copy].region, WAL_SERVICE, &rq, sizeof rq, answer, sizeof answer, &got);
}

/* *number: the least one that it may get, then the one that it has got. *differ: a copy could not
 * give it the number of those before, and it is given up. */
static nam_status
round_all(struct net_worker *w, const struct wal_log *l, unsigned copies, bool over, uint64_t *number,
    bool *differ, struct wal_rounds *out)
{
	nam_status st = NAM_OK;
	uint64_t given[WAL_COPIES];
	*out = (struct wal_rounds){ 0 };
	*differ = false;
	for (unsigned i = 0; st == NAM_OK && !*differ && i < copies; i++) {
		struct wal_round r;
		if ((st = round_one(w, l, i, over, *number, &r)) != NAM_OK)
			break;
		*differ = i > 0 && r.number != *number;
		*number = given[i] = r.number;
		out->position.at[i] = r.position;
		out->stamp = r.stamp > out->stamp ? r.stamp : out->stamp;
		out->copies = i + 1;
	}
	out->number = *number;
	if (st == NAM_OK && !*differ)
		return st;
	for (unsigned i = 0; i < out->copies; i++)
		(void)say_of_round(w, l, i, given[i], false);
	out->copies = 0;
	return st;
}

nam_status
wal_log_round(
    struct net_worker *w, const struct wal_log *l, unsigned copies, bool over, struct wal_rounds *out)
{
	uint64_t number = 0;
	bool differ = true;
	nam_status st = NAM_OK;
	for (unsigned tries = 0; st == NAM_OK && differ && tries < TRIES; tries++)
		st = round_all(w, l, copies, over, &number, &differ, out);
	return st == NAM_OK && differ ? NAM_BUSY : st;
}

nam_status
wal_log_round_is(struct net_worker *w, const struct wal_log *l, const struct wal_rounds *r, bool under_way)
{
	nam_status all = NAM_OK;
	for (unsigned i = 0; i < r->copies; i++) {
		nam_status st = say_of_round(w, l, i, r->number, under_way);
		all = all == NAM_OK ? st : all;
	}
	return all;
}

nam_status
wal_log_cut(struct net_worker *w, const struct wal_log *l, const struct wal_rounds *r)
{
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < r->copies; i++) {
		const struct wal_rq rq = {
			.what = WAL_CUT, .life = l->life, .arg = r->position.at[i], .series = r->number
		};
		uint64_t none[sizeof(struct wal_report) / 8];
		uint32_t got;
		st = ask(w, l->copy[i].region, &rq, none, sizeof none, &got);
	}
	return st;
}

nam_status
wal_log_begins(struct net_worker *w, const struct wal_log *l, const struct wal_rounds *r, bool *does)
{
	*does = true;
	for (unsigned i = 0; i < r->copies; i++) {
		struct wal_line line;
		nam_status st = net_read1(w, l->copy[i].line, &line, sizeof line, NULL);
		if (st == NAM_OK && line.life == l->life && line.begin >= r->position.at[i])
			continue;
		*does = false;
		if (st != NAM_OK)
			return st;
		if (line.condition == WAL_BROKEN)
			return NAM_UNLOGGED;
		if (line.life > l->life || line.lacks != 0)
			return line.life > l->life ? NAM_REFUSED : NAM_NO_SPACE;
	}
	return NAM_OK;
}

/* ---- rings ---- */

/* Once: a node that is busy keeps the ring until this process is gone. */
static void
unring(struct net_worker *w, const struct wal_log *l, unsigned copy, const uint64_t name[2])
{
	const struct wal_rq rq = { .what = WAL_UNRING, .life = l->life, .name = { name[0], name[1] } };
	uint64_t none[sizeof(struct wal_report) / 8];
	uint32_t got;
	(void)ask_once(w, l->copy[copy].region, &rq, none, sizeof none, &got);
}

/* The same one as before, if the worker has one. */
static bool
ring_of(struct net_worker *w, const struct wal_log *l, unsigned copy, const struct wal_own_rings *own,
    struct wal_ring_given *given)
{
	const struct wal_rq rq = {
		.what = WAL_RING, .life = l->life, .name = { own->name[0], own->name[1] }
	};
	uint64_t answer[sizeof(struct wal_report) / 8];
	uint32_t got;
	nam_status st = ask_once(w, l->copy[copy].region, &rq, answer, sizeof answer, &got);
	if (st != NAM_OK || got != sizeof *given)
		return false;
	memcpy(given, answer, sizeof *given);
	return net_region_of((net_addr){ given->ring }) == l->copy[copy].region &&
	       net_region_of((net_addr){ given->board }) == l->copy[copy].region;
}

static void
ask_one(struct net_worker *w, const struct wal_log *l, unsigned copy, struct wal_own_rings *own)
{
	struct wal_ring_given given;
	struct wal_ring r;
	if (!ring_of(w, l, copy, own, &given))
		return;
	wal_ring_begin(&r, w, &given);
	if (r.open)
		own->copy[copy] = r;
	else /* it cannot use it */
		unring(w, l, copy, own->name);
}

void
wal_rings_ask(struct net_worker *w, const struct wal_log *l, struct wal_own_rings *own)
{
	if (own->asked)
		return;
	own->asked = true;
	own->name[0] = net_identity(net_worker_net(w));
	own->name[1] = nam_rng_next(net_rng(w)) | 1;
	for (unsigned i = 0; i < l->copies; i++)
		ask_one(w, l, i, own);
}

void
wal_rings_note(struct net_worker *w, const struct wal_log *l, struct wal_own_rings *own)
{
	struct wal_ring_given given;
	for (unsigned i = 0; i < l->copies; i++) {
		struct wal_ring *r = &own->copy[i];
		if (r->open && ring_of(w, l, i, own, &given) && given.generation != r->generation)
			r->open = false;
	}
}

void
wal_rings_give_back(struct net_worker *w, const struct wal_log *l, struct wal_own_rings *own)
{
	for (unsigned i = 0; i < l->copies; i++)
		if (own->copy[i].generation != 0)
			unring(w, l, i, own->name);
	*own = (struct wal_own_rings){ .asked = true };
}

void
wal_rings_prod(struct net_worker *w, const struct wal_log *l, const struct wal_own_rings *own)
{
	const struct wal_rq rq = { .what = WAL_PROD, .life = l->life };
	uint64_t none[sizeof(struct wal_report) / 8];
	uint32_t got;
	for (unsigned i = 0; i < l->copies; i++)
		if (own->copy[i].generation != 0)
			(void)ask_once(w, l->copy[i].region, &rq, none, sizeof none, &got);
}

/* ---- how far it is flushed ---- */

bool
wal_log_rouses(struct net_worker *w, const struct wal_log *l)
{
	bool all = true;
	for (unsigned i = 0; all && i < l->copies; i++)
		all = net_call_rouses(w, l->copy[i].region, WAL_SERVICE);
	return all;
}

static nam_status
read_lines(struct net_worker *w, const struct wal_log *l, struct wal_line line[WAL_COPIES])
{
	const uint32_t bytes = offsetof(struct wal_line, syncs);
	struct net_op op[WAL_COPIES];
	struct net_batch b;
	if (l->copies == 1)
		return net_read1(w, l->copy[0].line, line, bytes, NULL);
	net_batch_init(&b, w, op, WAL_COPIES, NULL);
	for (unsigned i = 0; i < l->copies; i++)
		net_read(&b, l->copy[i].line, &line[i], bytes);
	return net_run(&b);
}

nam_status
wal_log_flushed(struct net_worker *w, const struct wal_log *l, struct wal_own_rings *own,
    struct wal_ends *end, unsigned *broken, uint64_t *sync_ns)
{
	struct wal_line line[WAL_COPIES];
	nam_status st = read_lines(w, l, line);
	*broken = 0;
	*end = (struct wal_ends){ 0 };
	for (unsigned i = 0; st == NAM_OK && i < l->copies; i++)
		if (own->copy[i].generation != 0)
			st = wal_ring_flushed(&own->copy[i], w, &end->in_ring[i]);
	if (st != NAM_OK)
		return st;
	*sync_ns = 0;
	for (unsigned i = 0; i < l->copies; i++) {
		if (UINT64_C(1000) * line[i].sync_us > *sync_ns)
			*sync_ns = UINT64_C(1000) * line[i].sync_us;
		/* Of a smaller life: its begin has not been told yet. */
		end->at[i] = line[i].life >= l->life ? line[i].flushed : 0;
		if (line[i].life > l->life)
			st = NAM_REFUSED;
		if (line[i].condition == WAL_BROKEN)
			*broken |= 1u << i;
	}
	return st;
}
