/*
 * stamps.c -- the check by timestamps, for histories with the server's timestamps: replays all
 * starts and commits in their order, so each external read has one right answer. Linear but for one
 * sort.
 *
 *	EXT         a read shows the last version committed at or before its snapshot
 *	NOCONFLICT  no other transaction commits a key that this one writes between its snapshot and
 *	            its commit (SERIALIZABLE: nor a key that it reads, if it writes anything)
 *	SESSION     no snapshot is older than what its session, or for the strong levels any
 *                  session, was told before
 *
 * INT, a transaction's own view, is the models' business: list.c, register.c.
 */
#include "check_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct event {
	uint64_t at;
	size_t op; /* a read; SIZE_MAX: a commit */
	uint32_t txn;
};

struct version {
	uint64_t at;
	uint32_t txn;
};

struct stamp_key {
	bool unknown; /* a transaction of unknown end and time may have written it */
	bool null;
	int64_t value;
	uint32_t mark; /* txn + 1 whose operations were walked last */
	struct version last;
	int64_t *list;
	size_t n, cap;
	uint32_t own; /* before the replay: writes of that transaction; in it: the last one to
		       * commit, txn + 1 */
};

struct stamp_run {
	struct chk *c;
	struct stamp_key *key;
};

static enum chk_level
level_of(const struct chk *c, const struct chk_txn *t)
{
	return t->level != CHK_UNSAID ? (enum chk_level)t->level : c->level;
}

static int
by_event(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	/* Of one time: commits first, if snapshots include what was committed at their own
	 * number. */
	if ((x->op == SIZE_MAX) != (y->op == SIZE_MAX))
		return x->op == SIZE_MAX ? -1 : 1;
	if (x->txn != y->txn)
		return x->txn < y->txn ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

static int
by_event_hidden(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	if (x->at == y->at && (x->op == SIZE_MAX) != (y->op == SIZE_MAX))
		return x->op == SIZE_MAX ? 1 : -1;
	return by_event(a, b);
}

/* A transaction that names its own level is held to that level, whatever is asked of the whole. */
static unsigned
breaks_for(const struct chk_txn *t, unsigned breaks)
{
	return t->level != CHK_UNSAID && (breaks >> t->level & 1) ? BREAKS_ALL : breaks;
}

/* ---- EXT ---- */

static void
judge_list(struct stamp_run *r, uint32_t txn, const struct chk_op *op, uint32_t own)
{
	struct chk *c = r->c;
	const struct stamp_key *k = &r->key[op->key];
	uint32_t n = op->n >= own ? op->n - own : op->n, same = 0;
	const int64_t *e = c->elems + op->list;
	while (same < n && same < k->n && e[same] == k->list[same])
		same++;
	if (n == k->n && same == n)
		return;
	chk_fault(c, "wrong version", "EXT", BREAKS_ALL, txn, same < k->n || k->n == 0 ? NONE : k->last.txn,
	    "%s read %u elements in key %s at its snapshot, right are %zu, the first %u of which it saw",
	    chk_txn_text(c, txn), n, chk_key_text(c, op->key), k->n, same);
}

static void
judge_value(struct stamp_run *r, uint32_t txn, const struct chk_op *op, uint64_t at)
{
	struct chk *c = r->c;
	const struct stamp_key *k = &r->key[op->key];
	bool absent = k->last.txn == NONE || k->null;
	if (op->null == absent && (absent || op->value == k->value))
		return;
	char got[32] = "nothing", right[32] = "nothing";
	if (!op->null)
		snprintf(got, sizeof got, "%" PRId64, op->value);
	if (!absent)
		snprintf(right, sizeof right, "%" PRId64, k->value);
	chk_fault(c, "wrong version", "EXT", BREAKS_ALL, txn, k->last.txn,
	    "%s read %s in key %s at %" PRIu64 ", right is %s (committed at %" PRIu64 ")",
	    chk_txn_text(c, txn), got, chk_key_text(c, op->key), at, right, k->last.at);
}

/* ---- commits ---- */

static void
conflict(struct stamp_run *r, uint32_t txn, uint32_t key, const char *name, unsigned breaks)
{
	struct chk *c = r->c;
	const struct chk_txn *t = &c->txns[txn];
	const struct stamp_key *k = &r->key[key];
	if (k->last.txn == NONE || k->last.txn == txn || k->last.at <= t->start_ts)
		return;
	/* Only serializable transactions promise each other that what they read stays. */
	if (breaks == BREAKS_SERIALIZABLE && level_of(c, &c->txns[k->last.txn]) < CHK_SERIALIZABLE)
		return;
	chk_fault(c, name, "NOCONFLICT", breaks_for(t, breaks), txn, k->last.txn,
	    "%s %s key %s (snapshot %" PRIu64 ", commit %" PRIu64 "), which %s wrote at %" PRIu64
	    " in between",
	    chk_txn_text(c, txn), breaks == BREAKS_SERIALIZABLE ? "read" : "wrote", chk_key_text(c, key),
	    t->start_ts, t->commit_ts, chk_txn_text(c, k->last.txn), k->last.at);
}

static void
commit(struct stamp_run *r, uint32_t txn)
{
	struct chk *c = r->c;
	const struct chk_txn *t = &c->txns[txn];
	enum chk_level level = level_of(c, t);
	for (size_t i = t->op; i < t->op + t->n; i++) {
		const struct chk_op *op = &c->ops[i];
		struct stamp_key *k = &r->key[op->key];
		bool write = op->kind == OP_WRITE || op->kind == OP_APPEND;
		if (op->kind == OP_LOCKED && k->own != txn + 1 && !k->unknown)
			judge_value(r, txn, op, t->commit_ts);
		if (t->has_start && !write && level >= CHK_SERIALIZABLE && k->own != txn + 1)
			conflict(r, txn, op->key, "stale read at commit", BREAKS_SERIALIZABLE);
		if (!write)
			continue;
		if (t->has_start && level != CHK_READ_COMMITTED && k->own != txn + 1)
			conflict(r, txn, op->key, "lost update", BREAKS_SNAPSHOT);
		k->own = txn + 1;
		k->last = (struct version){ t->commit_ts, txn };
		if (op->kind == OP_APPEND) {
			k->list = chk_grow(c, k->list, k->n, &k->cap, sizeof *k->list);
			k->list[k->n++] = op->value;
		}
		k->null = op->null;
		k->value = op->value;
	}
}

/* ---- all events ---- */

/* Reads before the first own write of their key, as events; own appends in front of a list read are
 * counted off. */
static size_t
events_of(struct stamp_run *r, uint32_t txn, struct event *e, uint32_t *own)
{
	struct chk *c = r->c;
	const struct chk_txn *t = &c->txns[txn];
	size_t n = 0;
	for (size_t i = t->op; i < t->op + t->n; i++) {
		const struct chk_op *op = &c->ops[i];
		struct stamp_key *k = &r->key[op->key];
		if (k->mark != txn + 1) {
			k->mark = txn + 1;
			k->own = 0;
		}
		if (op->kind == OP_APPEND || op->kind == OP_WRITE) {
			k->own++;
			continue;
		}
		if (op->kind == OP_LOCKED || (op->kind == OP_READ && k->own > 0) ||
		    !(op->has_at || t->has_start))
			continue;
		own[i] = k->own;
		e[n++] = (struct event){ op->has_at ? op->at : t->start_ts, i, txn };
	}
	if (t->has_commit && t->wrote)
		e[n++] = (struct event){ t->commit_ts, SIZE_MAX, txn };
	return n;
}

static void
replay(struct stamp_run *r)
{
	struct chk *c = r->c;
	struct event *e = chk_take(c, c->n_ops + c->n, sizeof *e);
	uint32_t *own = chk_take(c, c->n_ops, sizeof *own), before = NONE;
	size_t n = 0;
	for (uint32_t t = 0; t < c->n; t++) {
		const struct chk_txn *x = &c->txns[t];
		if (!x->replaced)
			n += events_of(r, t, e + n, own);
		if (x->replaced || x->has_commit || !x->wrote || (x->status == TXN_FAIL))
			continue;
		for (size_t i = x->op; i < x->op + x->n; i++)
			r->key[c->ops[i].key].unknown |= c->ops[i].write != NONE;
	}
	for (size_t k = 0; k < c->n_keys; k++) {
		r->key[k].own = 0;
		r->key[k].last.txn = NONE;
	}
	qsort(e, n, sizeof *e, c->ties_hidden ? by_event_hidden : by_event);
	for (size_t i = 0; i < n; i++) {
		const struct chk_txn *t = &c->txns[e[i].txn];
		const struct chk_op *op = &c->ops[e[i].op == SIZE_MAX ? 0 : e[i].op];
		if (e[i].op != SIZE_MAX) {
			if (r->key[op->key].unknown)
				continue;
			if (op->kind == OP_READ_LIST)
				judge_list(r, e[i].txn, op, own[e[i].op]);
			else
				judge_value(r, e[i].txn, op, e[i].at);
			continue;
		}
		if (before != NONE && c->txns[before].commit_ts == t->commit_ts)
			chk_fault(c, "commit timestamp given twice", "", BREAKS_ALL, before, e[i].txn,
			    "%s and %s both committed at %" PRIu64, chk_txn_text(c, before),
			    chk_txn_text(c, e[i].txn), t->commit_ts);
		if (t->has_start && t->commit_ts <= t->start_ts && !c->ties_hidden)
			chk_fault(c, "commit before start", "", BREAKS_ALL, e[i].txn, NONE,
			    "%s committed at %" PRIu64 ", but its snapshot is %" PRIu64,
			    chk_txn_text(c, e[i].txn), t->commit_ts, t->start_ts);
		before = e[i].txn;
		commit(r, e[i].txn);
	}
	chk_drop(c, e);
	chk_drop(c, own);
}

/* ---- SESSION ---- */

/* The newest commit that an answered transaction makes known to all later ones. */
static uint64_t
knows(const struct chk_txn *t)
{
	uint64_t ts = t->has_start ? t->start_ts : 0;
	return t->has_commit && t->commit_ts > ts ? t->commit_ts : ts;
}

static void
sessions(struct chk *c)
{
	uint64_t most = 0;
	uint32_t by = NONE;
	for (size_t i = 0; i < c->live; i++) {
		uint32_t t = c->by_session[i];
		const struct chk_txn *x = &c->txns[t];
		if (i > 0 && c->txns[c->by_session[i - 1]].session != x->session) {
			most = 0;
			by = NONE;
		}
		if (by != NONE && x->has_start && x->start_ts < most)
			chk_fault(c, "session broken", "SESSION", breaks_for(x, BREAKS_SESSION), by, t,
			    "%s has snapshot %" PRIu64
			    ", but %s of the same session had been told of %" PRIu64 " before it began",
			    chk_txn_text(c, t), x->start_ts, chk_txn_text(c, by), most);
		if (x->status == TXN_OK && knows(x) > most) {
			most = knows(x);
			by = t;
		}
	}
}

/* A snapshot covers every commit that was answered before its transaction began: to any session, or
 * to one of its own process. */
static void
answered(struct chk *c, bool by_process)
{
	struct chk_moment *begin = chk_take(c, c->live, sizeof *begin),
			  *end = chk_take(c, c->live, sizeof *end);
	size_t begins = 0, ends = 0, k = 0;
	uint64_t most = 0;
	uint32_t by = NONE;
	for (size_t i = 0; i < c->live; i++) {
		const struct chk_txn *t = &c->txns[c->by_session[i]];
		int64_t group = by_process ? t->process : 0;
		if (t->has_start)
			begin[begins++] = (struct chk_moment){ group, t->begin, c->by_session[i] };
		if (t->status == TXN_OK && t->has_commit && t->wrote)
			end[ends++] = (struct chk_moment){ group, t->end, c->by_session[i] };
	}
	qsort(begin, begins, sizeof *begin, chk_by_moment);
	qsort(end, ends, sizeof *end, chk_by_moment);
	for (size_t i = 0; i < begins; i++) {
		const struct chk_txn *t = &c->txns[begin[i].txn];
		if (i > 0 && begin[i - 1].group != begin[i].group) {
			most = 0;
			by = NONE;
		}
		while (k < ends && end[k].group < begin[i].group)
			k++;
		for (; k < ends && end[k].group == begin[i].group && end[k].at < begin[i].at; k++)
			if (c->txns[end[k].txn].commit_ts > most) {
				most = c->txns[end[k].txn].commit_ts;
				by = end[k].txn;
			}
		if (by != NONE && t->start_ts < most)
			chk_fault(c, by_process ? "process behind itself" : "real time broken", "SESSION",
			    breaks_for(t, by_process ? BREAKS_SESSION : BREAKS_STRONG), by, begin[i].txn,
			    "%s began after %s had been answered%s (commit %" PRIu64
			    "), but its snapshot is %" PRIu64,
			    chk_txn_text(c, begin[i].txn), chk_txn_text(c, by),
			    by_process ? " in the same process" : "", most, t->start_ts);
	}
	chk_drop(c, begin);
	chk_drop(c, end);
}

void
chk_stamps(struct chk *c)
{
	struct stamp_run r = { .c = c };
	if (c->model != MODEL_LIST && c->model != MODEL_REGISTER)
		return;
	for (size_t i = 0; i < c->live && !c->stamps; i++)
		c->stamps = c->txns[c->by_session[i]].has_start || c->txns[c->by_session[i]].has_commit;
	if (!c->stamps)
		return;
	r.key = chk_take(c, c->n_keys, sizeof *r.key);
	replay(&r);
	sessions(c);
	if (c->processes)
		answered(c, true);
	answered(c, false);
}
