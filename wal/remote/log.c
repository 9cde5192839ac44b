/* log.c -- a compute process and the log of its cluster. */
#include "log.h"

#include <base/status.h>
#include <net/region_format.h>
#include <wal/wal.h>

#include <string.h>

enum { TRIES = 8, BUSY_NS = 50000, BUSY_CAP_NS = 2000000 };
#define FULL_NS UINT64_C(2000000000)

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

/* A request that may be repeated. */
static nam_status
ask_until(struct net_worker *w, unsigned region, const struct wal_rq *rq, void *answer, uint32_t cap,
    uint32_t *got, struct patience *p)
{
	struct net_backoff pause = { .base_ns = BUSY_NS, .cap_ns = BUSY_CAP_NS };
	struct wal_line line;
	nam_status st;
	for (unsigned tries = 0;;) {
		st = net_call(w, region, WAL_SERVICE, rq, sizeof *rq, answer, cap, got);
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

nam_status
wal_log_ask(struct net_worker *w, unsigned region, struct wal_report *out)
{
	const struct wal_rq rq = { .what = WAL_ASK };
	uint32_t got;
	nam_status st = ask(w, region, &rq, out, sizeof *out, &got);
	return st == NAM_OK && got != sizeof *out ? NAM_CORRUPT : st;
}

nam_status
wal_log_begin(
    struct net_worker *w, unsigned region, uint64_t cluster, const atomic_bool *stop, struct wal_log *out)
{
	const struct wal_rq rq = { .what = WAL_BEGIN, .arg = cluster };
	struct wal_report report;
	uint64_t life[sizeof report / 8];
	uint32_t got;
	nam_status st = wal_log_ask(w, region, &report);
	struct patience p = { .stop = stop, .line = { report.line } };
	if (st == NAM_OK)
		st = ask_until(w, region, &rq, life, sizeof life, &got, &p);
	if (st != NAM_OK)
		return st;
	if (got != sizeof life[0] || life[0] == 0 || life[0] > UINT32_MAX)
		return NAM_CORRUPT;
	*out = (struct wal_log){ .region = region, .life = (uint32_t)life[0], .line = { report.line } };
	return NAM_OK;
}

nam_status
wal_log_publish(struct net_worker *w, const struct wal_log *l, const atomic_bool *stop)
{
	const struct wal_rq rq = { .what = WAL_PUBLISH, .life = l->life };
	uint64_t none[sizeof(struct wal_report) / 8];
	struct net_backoff pause = { .base_ns = BUSY_NS, .cap_ns = BUSY_CAP_NS };
	struct wal_line line = { 0 };
	uint32_t got;
	nam_status st = ask(w, l->region, &rq, none, sizeof none, &got);
	struct patience p = { .stop = stop, .line = l->line };
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

/* life 0: the published one. */
static nam_status
read_records(struct net_worker *w, unsigned region, uint32_t life, uint64_t position, void *buf, uint32_t cap,
    const char **records, uint32_t *bytes, uint64_t *next)
{
	const struct wal_rq rq = { .what = WAL_READ, .life = life, .arg = position };
	struct wal_records head;
	uint32_t got;
	*bytes = 0;
	if (cap < sizeof head)
		return NAM_INVALID;
	nam_status st = ask(w, region, &rq, buf, cap, &got);
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
	return read_records(w, region, 0, position, buf, cap, records, bytes, next);
}

nam_status
wal_log_read_live(struct net_worker *w, const struct wal_log *l, uint64_t position, void *out, uint32_t cap,
    uint32_t *bytes, uint64_t *next)
{
	const char *records;
	nam_status st = read_records(w, l->region, l->life, position, out, cap, &records, bytes, next);
	if (st == NAM_OK)
		memmove(out, records, *bytes);
	return st;
}

nam_status
wal_log_last(struct net_worker *w, const struct wal_log *l, uint64_t place, struct wal_last *out)
{
	const struct wal_rq rq = { .what = WAL_LAST, .life = l->life, .arg = place };
	uint64_t answer[sizeof(struct wal_report) / 8];
	uint32_t got;
	nam_status st = ask(w, l->region, &rq, answer, sizeof answer, &got);
	if (st == NAM_OK && got != sizeof *out)
		return NAM_CORRUPT;
	if (st == NAM_OK)
		memcpy(out, answer, sizeof *out);
	return st;
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
append_again(struct net_worker *w, struct wal_append *a)
{
	a->call = (struct net_call){ .region = a->log->region,
		.service = WAL_SERVICE,
		.request = a->rq,
		.len = (uint32_t)sizeof *a->rq + a->rq->bytes,
		.answer = a->answer,
		.cap = sizeof a->answer };
	net_call_start(w, &a->call);
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
	append_again(w, a);
}

nam_status
wal_append_wait(struct net_worker *w, struct wal_append *a)
{
	struct net_backoff pause = { .base_ns = BUSY_NS, .cap_ns = BUSY_CAP_NS };
	bool doubt = false;
	for (unsigned tries = 0;;) {
		nam_status st = net_call_wait(&a->call);
		if (st == NAM_OK) {
			a->end = a->answer[0];
			return a->call.got == sizeof a->answer[0] ? NAM_OK : NAM_CORRUPT;
		}
		doubt |= st == NAM_GONE;
		if (st == NAM_BUSY && a->gives_up != NULL && a->gives_up(a->gives_up_arg))
			return doubt ? NAM_GONE : st;
		if (st == NAM_BUSY)
			net_back_off(w, &pause);
		else if (st != NAM_GONE || ++tries > TRIES || reopen(w, a->log->region) != NAM_OK)
			return doubt ? NAM_GONE : st; /* an earlier try may have been served */
		append_again(w, a);
	}
}

nam_status
wal_log_line(struct net_worker *w, const struct wal_log *l, struct wal_line *out)
{
	return net_read1(w, l->line, out, sizeof *out, NULL);
}

nam_status
wal_log_round(struct net_worker *w, const struct wal_log *l, bool over, struct wal_round *out)
{
	const struct wal_rq rq = { .what = WAL_ROUND, .life = l->life, .flags = over ? WAL_OVER : 0 };
	uint64_t answer[sizeof(struct wal_report) / 8];
	uint32_t got;
	/* Not through ask: NAM_BUSY is an answer here. A round that was begun twice is the last. */
	nam_status st = NAM_GONE;
	for (unsigned tries = 0; st == NAM_GONE && tries < TRIES; tries++) {
		st = net_call(w, l->region, WAL_SERVICE, &rq, sizeof rq, answer, sizeof answer, &got);
		if (st == NAM_GONE && reopen(w, l->region) != NAM_OK)
			break;
	}
	if (st == NAM_OK && got != sizeof *out)
		return NAM_CORRUPT;
	if (st == NAM_OK)
		memcpy(out, answer, sizeof *out);
	return st;
}

nam_status
wal_log_round_is(struct net_worker *w, const struct wal_log *l, const struct wal_round *r, bool under_way)
{
	const struct wal_rq rq = { .what = WAL_ROUND,
		.life = l->life,
		.flags = under_way ? WAL_STAYS : WAL_QUITS,
		.series = r->number };
	uint64_t answer[sizeof(struct wal_report) / 8];
	uint32_t got;
	return net_call(w, l->region, WAL_SERVICE, &rq, sizeof rq, answer, sizeof answer, &got);
}

nam_status
wal_log_cut(struct net_worker *w, const struct wal_log *l, const struct wal_round *r)
{
	const struct wal_rq rq = {
		.what = WAL_CUT, .life = l->life, .arg = r->position, .series = r->number
	};
	uint64_t none[sizeof(struct wal_report) / 8];
	uint32_t got;
	return ask(w, l->region, &rq, none, sizeof none, &got);
}

nam_status
wal_log_begins(struct net_worker *w, const struct wal_log *l, const struct wal_round *r, bool *does)
{
	struct wal_line line;
	nam_status st = wal_log_line(w, l, &line);
	*does = st == NAM_OK && line.life == l->life && line.begin >= r->position;
	if (st != NAM_OK || *does)
		return st;
	if (line.condition == WAL_BROKEN)
		return NAM_UNLOGGED;
	return line.life > l->life ? NAM_REFUSED : line.lacks != 0 ? NAM_NO_SPACE : NAM_OK;
}

bool
wal_log_rouses(struct net_worker *w, const struct wal_log *l)
{
	return net_call_rouses(w, l->region, WAL_SERVICE);
}

nam_status
wal_log_flushed(struct net_worker *w, const struct wal_log *l, uint64_t *position, uint64_t *sync_ns)
{
	struct wal_line line;
	nam_status st = net_read1(w, l->line, &line, offsetof(struct wal_line, syncs), NULL);
	if (st != NAM_OK)
		return st;
	*sync_ns = UINT64_C(1000) * line.sync_us;
	*position = line.flushed;
	if (line.life > l->life)
		return NAM_REFUSED;
	if (line.life < l->life)
		*position = 0; /* its begin has not been told yet */
	return line.condition == WAL_BROKEN ? NAM_UNLOGGED : NAM_OK;
}
