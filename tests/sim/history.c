/* history.c -- the judge: rebuilds every object's versions by commit id, then asks each read
 * whether it is right. */
#include "history.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { COMPLAINTS_MAX = 12 };

struct version {
	uint64_t cid;
	uint64_t value;
	const struct hist_txn *by;
	uint64_t base;
};

struct object {
	unsigned table;
	uint64_t id;
	struct version *v;
	size_t n, cap;
	uint64_t own;        /* during the replay of one transaction: its own last write ... */
	const void *own_of;  /* ... if this names it */
	const void *seen_in; /* the scan that showed it */
	struct object *next; /* in its bucket */
};

struct hist {
	struct hist_txn **txn;
	size_t n, cap;
	uint64_t clock;
	struct object **bucket;
	size_t buckets;
	struct object **object;
	size_t objects, objects_cap;
	FILE *out;
	unsigned complaints;
	struct hist_figures figures;
};

static void *
grown(void *p, size_t n, size_t *cap, size_t item)
{
	if (n < *cap)
		return p;
	*cap = *cap ? *cap * 2 : 16;
	p = realloc(p, *cap * item);
	if (p == NULL) {
		fprintf(stderr, "no memory for the history\n");
		exit(1);
	}
	return p;
}

static void *
zeroed(size_t n, size_t item)
{
	void *p = calloc(n, item);
	if (p == NULL) {
		fprintf(stderr, "no memory for the history\n");
		exit(1);
	}
	return p;
}

/* ---- recording ---- */

struct hist *
hist_open(void)
{
	struct hist *h = zeroed(1, sizeof *h);
	h->buckets = 1 << 12;
	h->bucket = zeroed(h->buckets, sizeof *h->bucket);
	return h;
}

void
hist_close(struct hist *h)
{
	for (size_t i = 0; i < h->n; i++) {
		free(h->txn[i]->op);
		free(h->txn[i]);
	}
	for (size_t i = 0; i < h->objects; i++) {
		free(h->object[i]->v);
		free(h->object[i]);
	}
	free(h->object);
	free(h->bucket);
	free(h->txn);
	free(h);
}

uint64_t
hist_now(struct hist *h)
{
	return ++h->clock;
}

struct hist_txn *
hist_begin(struct hist *h, unsigned process, unsigned client, enum hist_iso iso)
{
	struct hist_txn *t = zeroed(1, sizeof *t);
	*t = (struct hist_txn){ .process = process, .client = client, .iso = iso, .began = hist_now(h) };
	h->txn = grown(h->txn, h->n, &h->cap, sizeof *h->txn);
	h->txn[h->n++] = t;
	return t;
}

void
hist_add(struct hist_txn *t, struct hist_op op)
{
	t->op = grown(t->op, t->n, &t->cap, sizeof *t->op);
	t->op[t->n++] = op;
	t->wrote = t->wrote || op.kind == HIST_WRITE;
}

void
hist_end(struct hist *h, struct hist_txn *t, enum hist_end end, uint64_t cid)
{
	t->end = end;
	t->cid = cid;
	t->ended = hist_now(h);
}

void
hist_cut(struct hist_txn *t)
{
	for (size_t i = t->n; i-- > 0;)
		if (t->op[i].kind == HIST_SCAN) {
			t->op[i].kind = HIST_CUT;
			return;
		}
}

/* ---- complaining ---- */

static __attribute__((format(printf, 3, 4))) void
complain(struct hist *h, const struct hist_txn *t, const char *fmt, ...)
{
	static const char *const iso[] = { "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE" };
	if (h->complaints++ >= COMPLAINTS_MAX)
		return;
	va_list ap;
	va_start(ap, fmt);
	fprintf(h->out, "  client %u of process %u (%s, cid %" PRIx64 "): ", t->client, t->process,
	    iso[t->iso], t->cid);
	vfprintf(h->out, fmt, ap);
	fputc('\n', h->out);
	va_end(ap);
}

/* ---- objects and their versions ---- */

static struct object *
object(struct hist *h, unsigned table, uint64_t id)
{
	size_t b = (size_t)((id * 2 + table) * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (h->buckets - 1);
	for (struct object *o = h->bucket[b]; o != NULL; o = o->next)
		if (o->table == table && o->id == id)
			return o;
	struct object *o = zeroed(1, sizeof *o);
	o->table = table;
	o->id = id;
	o->next = h->bucket[b];
	h->bucket[b] = o;
	h->object = grown(h->object, h->objects, &h->objects_cap, sizeof *h->object);
	h->object[h->objects++] = o;
	return o;
}

/* The last version at or below the snapshot, or NULL. */
static const struct version *
at_snapshot(const struct object *o, uint64_t snap)
{
	size_t lo = 0, hi = o->n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (o->v[mid].cid <= snap)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo == 0 ? NULL : &o->v[lo - 1];
}

static uint64_t
value_at(const struct object *o, uint64_t snap)
{
	const struct version *v = at_snapshot(o, snap);
	return v ? v->value : 0;
}

static int
by_cid(const void *a, const void *b)
{
	const struct hist_txn *x = *(const struct hist_txn *const *)a,
			      *y = *(const struct hist_txn *const *)b;
	return x->cid < y->cid ? -1 : x->cid > y->cid;
}

/* Versions, in the order of commit ids. An object written twice by one transaction has one: the
 * last. */
static void
build_versions(struct hist *h)
{
	struct hist_txn **order = zeroed(h->n + 1, sizeof *order);
	size_t n = 0;
	for (size_t i = 0; i < h->n; i++) {
		struct hist_txn *t = h->txn[i];
		if (t->end != HIST_COMMITTED || !t->wrote)
			continue;
		if (t->cid == 0)
			complain(h, t, "wrote and committed, but without a commit id");
		order[n++] = t;
	}
	qsort(order, n, sizeof *order, by_cid);
	for (size_t i = 0; i < n; i++) {
		struct hist_txn *t = order[i];
		if (i > 0 && order[i - 1]->cid == t->cid)
			complain(h, t, "its commit id was given twice");
		for (size_t k = 0; k < t->n; k++) {
			const struct hist_op *op = &t->op[k];
			if (op->kind != HIST_WRITE)
				continue;
			struct object *o = object(h, op->table, op->id);
			if (o->n > 0 && o->v[o->n - 1].by == t) {
				o->v[o->n - 1].value = op->value;
				continue;
			}
			o->v = grown(o->v, o->n, &o->cap, sizeof *o->v);
			o->v[o->n++] = (struct version){ t->cid, op->value, t, op->base };
			h->figures.versions++;
		}
	}
	free(order);
}

/* ---- NOCONFLICT: what a write replaced is what its transaction had seen ---- */

static void
judge_versions(struct hist *h)
{
	for (size_t i = 0; i < h->objects; i++) {
		const struct object *o = h->object[i];
		for (size_t k = 0; k < o->n; k++) {
			const struct version *v = &o->v[k], *p = k ? &o->v[k - 1] : NULL;
			uint64_t before = p ? p->value : 0;
			if (before != v->base)
				complain(h, v->by,
				    "lost update: object %u/%" PRIu64 " was %" PRIx64 " (cid %" PRIx64
				    ") when it was replaced, the writer had seen %" PRIx64,
				    o->table, o->id, before, p ? p->cid : 0, v->base);
			if (p && v->by->iso != HIST_RC && v->by->n > 0 && p->cid > v->by->op[0].snap)
				complain(h, v->by,
				    "object %u/%" PRIu64 " was written at %" PRIx64
				    " by another one, behind its snapshot %" PRIx64,
				    o->table, o->id, p->cid, v->by->op[0].snap);
		}
	}
}

/* ---- SERIALIZABLE: nothing it read was changed by another one before its commit ---- */

/* An object that was not there, and that one transaction inserts and deletes again, stays as it
 * was. */
static bool
as_before(const struct object *o, size_t k)
{
	return o->v[k].value == 0 && (k == 0 || o->v[k - 1].value == 0);
}

static void
judge_stable(struct hist *h, const struct hist_txn *t, const struct object *o, uint64_t snap)
{
	for (size_t k = o->n; k-- > 0 && o->v[k].cid > snap;)
		if (o->v[k].cid < t->cid && o->v[k].by->iso == HIST_SER && !as_before(o, k))
			complain(h, t,
			    "write skew: object %u/%" PRIu64 " was read at %" PRIx64
			    " and written at %" PRIx64,
			    o->table, o->id, snap, o->v[k].cid);
}

/* ---- EXT and INT ---- */

static uint64_t
right_value(const struct hist_txn *t, const struct object *o, uint64_t snap)
{
	return o->own_of == t ? o->own : value_at(o, snap);
}

static void
judge_read(struct hist *h, const struct hist_txn *t, const struct hist_op *op, const char *how)
{
	struct object *o = object(h, op->table, op->id);
	uint64_t right = right_value(t, o, op->snap);
	h->figures.reads++;
	if (op->value == right)
		return;
	const struct version *v = NULL;
	for (size_t k = 0; k < o->n; k++)
		if (o->v[k].value == op->value && op->value != 0)
			v = &o->v[k];
	complain(h, t,
	    "%s of object %u/%" PRIu64 " at %" PRIx64 " showed %" PRIx64 " (%s), right is %" PRIx64
	    " (cid %" PRIx64 ")",
	    how, op->table, op->id, op->snap, op->value,
	    op->value == 0      ? "absent"
	    : v == NULL         ? "never committed"
	    : v->cid < op->snap ? "stale"
				: "from the future",
	    right, at_snapshot(o, op->snap) ? at_snapshot(o, op->snap)->cid : 0);
}

static void
judge_scan(struct hist *h, const struct hist_txn *t, const struct hist_op *op, size_t items,
    const struct hist_bank *bank)
{
	int64_t sum = 0;
	bool own = false;
	h->figures.scans++;
	h->figures.items += items;
	for (size_t i = 1; i <= items; i++) {
		struct object *o = object(h, op[i].table, op[i].id);
		if (o->seen_in == op)
			complain(h, t, "a scan of table %u showed object %" PRIu64 " twice", o->table, o->id);
		o->seen_in = op;
		judge_read(h, t, &op[i], "scan");
		if (bank && bank->table == o->table && o->id >= bank->first && o->id <= bank->last)
			sum += op[i].aux;
	}
	for (size_t i = 0; i < h->objects; i++) {
		struct object *o = h->object[i];
		if (o->table != op->table)
			continue;
		own = own || o->own_of == t;
		if (o->seen_in != op && right_value(t, o, op->snap) != 0)
			complain(h, t,
			    "a scan of table %u at %" PRIx64 " missed object %" PRIu64 " (value %" PRIx64 ")",
			    op->table, op->snap, o->id, right_value(t, o, op->snap));
		if (t->iso == HIST_SER && t->end == HIST_COMMITTED && t->wrote)
			judge_stable(h, t, o, op->snap);
	}
	if (bank && bank->table == op->table && !own && sum != bank->total)
		complain(h, t, "the bank holds %" PRId64 " at %" PRIx64 ", right is %" PRId64, sum, op->snap,
		    bank->total);
}

static void
judge_txn(struct hist *h, const struct hist_txn *t, const struct hist_bank *bank)
{
	if (t->end == HIST_OPEN)
		complain(h, t, "never ended");
	for (size_t i = 0; i < t->n; i++) {
		const struct hist_op *op = &t->op[i];
		struct object *o;
		size_t items = 0;
		if (i > 0 && op->snap < t->op[i - 1].snap)
			complain(h, t, "its snapshot went back from %" PRIx64 " to %" PRIx64,
			    t->op[i - 1].snap, op->snap);
		if (i > 0 && t->iso != HIST_RC && op->snap != t->op[i - 1].snap)
			complain(h, t, "its snapshot changed from %" PRIx64 " to %" PRIx64, t->op[i - 1].snap,
			    op->snap);
		if (t->end == HIST_COMMITTED && t->wrote && t->cid <= op->snap)
			complain(h, t, "its commit id is not above its snapshot %" PRIx64, op->snap);
		switch (op->kind) {
		case HIST_READ:
			judge_read(h, t, op, "read");
			o = object(h, op->table, op->id);
			if (t->iso == HIST_SER && t->end == HIST_COMMITTED && t->wrote)
				judge_stable(h, t, o, op->snap);
			break;
		case HIST_LOCKED: /* judged by what is written over it; but it must exist and be no
				   * older */
			o = object(h, op->table, op->id);
			if (o->own_of != t && op->value != 0) {
				const struct version *v = at_snapshot(o, op->snap);
				size_t k = v ? (size_t)(v - o->v) : 0;
				while (k < o->n && o->v[k].value != op->value)
					k++;
				if (k == o->n)
					complain(h, t,
					    "object %u/%" PRIu64 " under a lock showed %" PRIx64
					    ", older than its snapshot or never committed",
					    op->table, op->id, op->value);
			}
			break;
		case HIST_WRITE:
			o = object(h, op->table, op->id);
			h->figures.writes++;
			o->own_of = t;
			o->own = op->value;
			break;
		case HIST_SCAN:
			while (i + items + 1 < t->n && t->op[i + items + 1].kind == HIST_ITEM)
				items++;
			judge_scan(h, t, op, items, bank);
			i += items;
			break;
		case HIST_ITEM:
		case HIST_CUT:
			break;
		case HIST_EXISTS: {
			/* It must have been there at some time from the snapshot on. */
			o = object(h, op->table, op->id);
			bool was = right_value(t, o, op->snap) != 0;
			for (size_t k = 0; k < o->n; k++)
				was = was || (o->v[k].cid > op->snap && o->v[k].value != 0 &&
						 o->v[k].by->began < t->ended);
			if (!was)
				complain(h, t,
				    "an insert of object %u/%" PRIu64 " was refused, but it was not there",
				    op->table, op->id);
			break;
		}
		}
	}
}

/* ---- SESSION and real time ---- */

static void
judge_sessions(struct hist *h)
{
	for (size_t i = 0; i < h->n; i++) {
		const struct hist_txn *w = h->txn[i];
		if (w->end != HIST_COMMITTED || w->cid == 0)
			continue;
		for (size_t k = 0; k < h->n; k++) {
			const struct hist_txn *t = h->txn[k];
			if (t->ended < w->ended || (t->process != w->process && !w->everywhere))
				continue;
			for (size_t j = 0; j < t->n; j++) {
				const struct hist_op *op = &t->op[j];
				if (op->asked > w->ended && op->snap < w->cid) {
					complain(h, t,
					    "asked for a snapshot after commit %" PRIx64
					    " had been answered and got %" PRIx64,
					    w->cid, op->snap);
					break;
				}
			}
		}
	}
}

/* ---- the outcome of transactions without an answer ---- */

/* What the other transactions found of an object tells what became of the one that wrote it. */
enum sign {
	NO_SIGN,  /* none of them looked. Of a dropped table's objects that is the rule */
	DONE,     /* it took place */
	NOT_DONE, /* it did not */
};

/* w: the last WRITE of the object by `by`. base: what the object was before the first. */
static enum sign
sign_of(const struct hist *h, const struct hist_txn *by, const struct hist_op *w, uint64_t base)
{
	bool looked = false, as_before = false;
	for (size_t i = 0; i < h->n; i++) {
		const struct hist_txn *t = h->txn[i];
		for (size_t k = 0; t != by && k < t->n; k++) {
			const struct hist_op *op = &t->op[k];
			bool shows = op->kind == HIST_READ || op->kind == HIST_ITEM,
			     behind = op->snap >= by->cid;
			looked = looked || (op->kind == HIST_SCAN && op->table == w->table && behind);
			if (op->table != w->table || op->id != w->id)
				continue;
			bool found = shows || op->kind == HIST_LOCKED;
			if (w->value != 0 && ((found && op->value == w->value) ||
						 (op->kind == HIST_WRITE && op->base == w->value)))
				return DONE;
			bool over = op->kind == HIST_WRITE && t->end == HIST_COMMITTED;
			looked = looked || (shows && behind) || (over && t->cid > by->cid);
			/* An object may be absent many times, but it has a value once. */
			as_before = as_before || (base != 0 && shows && behind && op->value == base) ||
				    (base != 0 && over && op->base == base);
		}
	}
	if (as_before)
		return NOT_DONE;
	/* A look shows a value that was written, and it shows nothing where a deletion was. */
	return !looked ? NO_SIGN : w->value == 0 ? DONE : NOT_DONE;
}

/* True if this is the last WRITE of its object, the state that the transaction leaves. */
static bool
is_last(const struct hist_txn *t, size_t at)
{
	const struct hist_op *w = &t->op[at];
	bool last = w->kind == HIST_WRITE;
	for (size_t k = at + 1; last && k < t->n; k++)
		last = t->op[k].kind != HIST_WRITE || t->op[k].table != w->table || t->op[k].id != w->id;
	return last;
}

/*
 * The last state that the transaction leaves of each object counts. The first value with a sign
 * decides for all of them. Where no value has a sign, the deletions decide: a single one that did
 * not take place says no.
 */
static enum sign
verdict(const struct hist *h, const struct hist_txn *t)
{
	bool gone = false, kept = false;
	for (size_t i = 0; i < t->n; i++) {
		const struct hist_op *w = &t->op[i], *first = w;
		bool last = is_last(t, i);
		/* What it replaced is what it found there, not what it put there itself. */
		for (size_t k = i; last && k-- > 0;)
			if (t->op[k].kind == HIST_WRITE && t->op[k].table == w->table && t->op[k].id == w->id)
				first = &t->op[k];
		if (!last || (w->value == 0 && first->base == 0))
			continue;
		enum sign sign = sign_of(h, t, w, first->base);
		if (w->value != 0 && sign != NO_SIGN)
			return sign;
		gone = gone || sign == DONE;
		kept = kept || sign == NOT_DONE;
	}
	return kept ? NOT_DONE : gone ? DONE : NO_SIGN;
}

/*
 * t's insert at op[at] was refused. True if the object was there even if `by` did not take place,
 * also if another transaction in doubt may have put it there.
 */
static bool
was_there_without(const struct hist *h, const struct hist_txn *by, const struct hist_txn *t, size_t at)
{
	const struct hist_op *refused = &t->op[at];
	uint64_t newest = 0, value = 0;
	for (size_t i = 0; i < h->n; i++) {
		const struct hist_txn *x = h->txn[i];
		bool sure = x->end == HIST_COMMITTED || x == t,
		     in_doubt = x->end == HIST_UNKNOWN && x->cid != 0;
		if (x == by || (!sure && !in_doubt))
			continue;
		for (size_t k = 0; k < (x == t ? at : x->n); k++) {
			const struct hist_op *w = &x->op[k];
			if (w->kind != HIST_WRITE || w->table != refused->table || w->id != refused->id)
				continue;
			if (x == t) { /* it sees its own */
				newest = UINT64_MAX;
				value = w->value;
			} else if (w->value != 0 && is_last(x, k) &&
				   (x->cid > refused->snap ? x->began < t->ended : in_doubt)) {
				return true;
			} else if (sure && x->cid <= refused->snap && x->cid >= newest) {
				newest = x->cid;
				value = w->value;
			}
		}
	}
	return value != 0;
}

/*
 * An insert that was refused tells as well, but less than a look: any row of that key refuses it.
 * So it decides where nothing else does, and where nothing else can have been there.
 */
static bool
refused_another(const struct hist *h, const struct hist_txn *by)
{
	for (size_t i = 0; i < by->n; i++) {
		const struct hist_op *w = &by->op[i];
		if (w->value == 0 || !is_last(by, i))
			continue;
		for (size_t j = 0; j < h->n; j++) {
			const struct hist_txn *t = h->txn[j];
			for (size_t k = 0; t != by && by->began < t->ended && k < t->n; k++)
				if (t->op[k].kind == HIST_EXISTS && t->op[k].table == w->table &&
				    t->op[k].id == w->id && !was_there_without(h, by, t, k))
					return true;
		}
	}
	return false;
}

static void
settle(struct hist *h, struct hist_txn *t, bool did)
{
	t->end = did ? HIST_COMMITTED : HIST_ABORTED;
	h->figures.found += did;
	h->figures.lost += !did;
}

/*
 * Values that were read decide first. Refused inserts decide only for transactions of which no
 * value was read. If they decide nothing either, no answer depends on the verdict.
 */
static void
resolve(struct hist *h)
{
	for (size_t i = 0; i < h->n; i++) {
		struct hist_txn *t = h->txn[i];
		if (t->end != HIST_UNKNOWN)
			continue;
		enum sign sign = t->cid != 0 && t->wrote ? verdict(h, t) : NOT_DONE;
		if (sign != NO_SIGN)
			settle(h, t, sign == DONE);
	}
	for (size_t i = 0; i < h->n; i++)
		if (h->txn[i]->end == HIST_UNKNOWN)
			settle(h, h->txn[i], refused_another(h, h->txn[i]));
}

bool
hist_judge(struct hist *h, const struct hist_bank *bank, FILE *out)
{
	h->out = out;
	h->complaints = 0;
	resolve(h);
	build_versions(h);
	judge_versions(h);
	for (size_t i = 0; i < h->n; i++)
		judge_txn(h, h->txn[i], bank);
	judge_sessions(h);
	h->figures.txns = h->n;
	h->figures.objects = h->objects;
	for (size_t i = 0; i < h->n; i++) {
		h->figures.committed += h->txn[i]->end == HIST_COMMITTED;
		h->figures.aborted += h->txn[i]->end == HIST_ABORTED;
	}
	if (h->complaints > COMPLAINTS_MAX)
		fprintf(out, "  ... and %u more\n", h->complaints - COMPLAINTS_MAX);
	return h->complaints == 0;
}

uint64_t
hist_value_at(struct hist *h, unsigned table, uint64_t id, uint64_t snap)
{
	return value_at(object(h, table, id), snap);
}

bool
hist_object(struct hist *h, unsigned table, size_t i, uint64_t *id)
{
	for (size_t k = 0; k < h->objects; k++)
		if (h->object[k]->table == table && i-- == 0) {
			*id = h->object[k]->id;
			return true;
		}
	return false;
}

void
hist_figures(const struct hist *h, struct hist_figures *out)
{
	*out = h->figures;
}

/* ---- for `namdb check` ---- */

static const char *const promised[] = { "read-committed", "session-snapshot", "session-serializable" };

static void
write_op(const char *name, const struct hist_op *op, bool write, bool *first, FILE *out)
{
	fprintf(out, "%s[\"%s\",\"%u/%" PRIu64 "\",", *first ? "" : ",", name, op->table, op->id);
	if (op->value == 0)
		fputs("null", out);
	else
		fprintf(out, "%" PRIu64, op->value);
	/* What is read under a lock is the newest, whatever the snapshot. */
	if (!write && name[0] != 'l')
		fprintf(out, ",%" PRIu64, op->snap);
	fputc(']', out);
	*first = false;
}

/* A scan is a read of each object it showed, and of each one of its table that it did not. */
static size_t
write_scan(struct hist *h, const struct hist_txn *t, size_t at, bool *first, FILE *out)
{
	size_t items = 0;
	for (; at + items + 1 < t->n && t->op[at + items + 1].kind == HIST_ITEM; items++) {
		const struct hist_op *op = &t->op[at + items + 1];
		write_op("r", op, false, first, out);
		object(h, op->table, op->id)->seen_in = &t->op[at];
	}
	for (size_t i = 0; i < h->objects; i++)
		if (h->object[i]->table == t->op[at].table && h->object[i]->seen_in != &t->op[at]) {
			struct hist_op none = {
				.table = t->op[at].table, .id = h->object[i]->id, .snap = t->op[at].snap
			};
			write_op("r", &none, false, first, out);
		}
	return items;
}

static void
write_txn(struct hist *h, size_t id, FILE *out)
{
	static const char *const status[] = { "info", "ok", "fail" };
	const struct hist_txn *t = h->txn[id];
	bool first = true;
	fprintf(out, "{\"id\":%zu,\"session\":%u,\"process\":%u,\"begin\":%" PRIu64, id,
	    t->client * 100 + t->process, t->process, t->began);
	if (t->end != HIST_OPEN)
		fprintf(out, ",\"end\":%" PRIu64, t->ended);
	fprintf(out, ",\"status\":\"%s\",\"level\":\"%s\"", status[t->end], promised[t->iso]);
	if (t->n > 0)
		fprintf(out, ",\"start_ts\":%" PRIu64, t->op[0].snap);
	if (t->end == HIST_COMMITTED && t->wrote)
		fprintf(out, ",\"commit_ts\":%" PRIu64, t->cid);
	fputs(",\"ops\":[", out);
	for (size_t i = 0; i < t->n; i++)
		switch (t->op[i].kind) {
		case HIST_READ:
			write_op("r", &t->op[i], false, &first, out);
			break;
		case HIST_LOCKED: /* a row that has gone is not kept locked */
			if (t->op[i].value != 0)
				write_op("l", &t->op[i], false, &first, out);
			break;
		case HIST_WRITE:
			write_op("w", &t->op[i], true, &first, out);
			break;
		case HIST_SCAN:
			i += write_scan(h, t, i, &first, out);
			break;
		case HIST_CUT:
		case HIST_ITEM:
		case HIST_EXISTS: /* says only that it was there at some time */
			break;
		}
	fputs("]}\n", out);
}

void
hist_write(struct hist *h, enum hist_iso weakest, FILE *out)
{
	fprintf(out, "{\"history\":1,\"model\":\"register\",\"level\":\"%s\"}\n", promised[weakest]);
	for (size_t i = 0; i < h->n; i++)
		write_txn(h, i, out);
	fprintf(out, "{\"end\":%zu}\n", h->n);
}
