/*
 * cuts_backup.c -- a backup of the database of sim_cuts, taken as `namdb backup` does while its
 * clients work; and a directory made out of it as `namdb restore` does, also up to a moment.
 *
 * What must be in it follows from two pictures of the model: of the moment before it began, or up
 * to which it is restored, and of the moment when its end was known.
 */
#include "cuts_run.h"

#include <base/hash.h>
#include <txn/backup.h>
#include <txn/cut.h>
#include <wal/testing/faulty.h>
#include <wal/wal.h>

#define MS UINT64_C(1000000)
enum { TRIES = 10, CAP = WAL_RECORD_MAX + 64, COPY_SEGMENT = 1 << 20 };

typedef nam_status (*on_record)(struct cut_backup *k, uint64_t position, const void *bytes, uint32_t len);

/* ---- a copy of a log ---- */

static nam_status
copy_open(struct cut_backup *k, struct wal_dir *dir, unsigned node, bool backup)
{
	struct nam_err err;
	const struct wal_config cfg = {
		.dir = dir, .node = node, .segment_bytes = COPY_SEGMENT, .copy = true, .backup = backup
	};
	return wal_open(&k->copy, &cfg, &err);
}

static nam_status
copy_begin(struct cut_backup *k, uint64_t cluster, uint64_t position)
{
	nam_status st;
	while ((st = wal_begin_at(k->copy, cluster, position, &k->life)) == NAM_BUSY)
		wal_step(k->copy);
	return st;
}

static nam_status
copy_put(struct cut_backup *k, const void *bytes, uint32_t len)
{
	uint64_t end;
	nam_status st;
	while ((st = wal_append(k->copy, k->life, bytes, len, false, &end)) == NAM_BUSY)
		wal_step(k->copy);
	return st;
}

static nam_status
copy_end(struct cut_backup *k, uint64_t whole)
{
	struct wal_state is = { 0 };
	size_t i = 0;
	nam_status st = NAM_OK;
	for (const struct txn_logged *h; st == NAM_OK && (h = txn_cut_undone(&k->cut, &i)) != NULL;)
		st = copy_put(k, h, sizeof *h);
	if (st == NAM_OK)
		st = wal_publish_copy(k->copy, k->life, whole);
	while (st == NAM_OK && is.published != k->life) {
		if (!wal_step(k->copy))
			st = NAM_IO;
		wal_state(k->copy, &is);
		st = is.published == k->life ? NAM_OK : st;
	}
	return st;
}

static nam_status
look_one(struct cut_backup *k, uint64_t position, const void *bytes, uint32_t len)
{
	return txn_cut_look(&k->cut, position, bytes, len);
}

static nam_status
copy_one(struct cut_backup *k, uint64_t position, const void *bytes, uint32_t len)
{
	(void)position;
	nam_status st = txn_cut_take(&k->cut, bytes, len);
	return st == NAM_OK ? copy_put(k, bytes, len) : st;
}

/* Calls fn for each record before `to` of what has been read. */
static nam_status
each(struct cut_backup *k, uint64_t at, uint32_t got, uint64_t to, on_record fn)
{
	nam_status st = NAM_OK;
	for (uint32_t i = 0; st == NAM_OK && i < got && at + i < to;) {
		struct wal_record_head head;
		memcpy(&head, k->buf + i, sizeof head);
		st = fn(k, at + i, k->buf + i + sizeof head, head.bytes);
		i += (uint32_t)sizeof head + ((head.bytes + 7) & ~7u);
	}
	return st;
}

/* ---- the backup ---- */

static nam_status
pass(struct cut_backup *k, struct txn_backup *b, uint64_t from, uint64_t to, on_record fn)
{
	nam_status st = NAM_OK;
	for (uint64_t at = from, next; st == NAM_OK && at < to; at = next) {
		uint32_t got;
		st = txn_backup_read(b, at, k->buf, k->plan.read_max, &got, &next);
		if (st == NAM_OK)
			st = got != 0 ? each(k, at, got, to, fn) : NAM_CORRUPT;
	}
	return st;
}

/* NAM_ABSENT, NAM_BUSY: to be tried again. */
static nam_status
try_once(struct cut_run *r, unsigned p)
{
	struct cut_backup *k = &r->backup;
	const struct txn_backup_limits limits = { .cancel = NULL };
	struct txn_backup *b;
	if (k->until == 0)
		*k->from = *r->m;
	nam_status st = txn_backup_open(r->c.place[p].tw, &limits, NULL, NULL, &b, &k->plan);
	if (st != NAM_OK)
		return st;
	*k->to = k->until == 0 ? *r->m : *k->from;
	txn_cut_at(&k->cut, k->plan.end);
	st = k->plan.read_max <= CAP ? pass(k, b, k->plan.end, k->plan.behind, look_one) : NAM_FULL;
	if (st == NAM_OK)
		st = copy_begin(k, k->plan.cluster, k->plan.begin);
	if (st == NAM_OK)
		st = pass(k, b, k->plan.begin, k->plan.end, copy_one);
	txn_backup_close(b);
	if (st == NAM_OK)
		st = copy_end(k, k->plan.whole);
	txn_cut_fini(&k->cut);
	return st;
}

void
cut_backup_main(void *arg)
{
	struct cut_run *r = arg;
	struct cut_backup *k = &r->backup;
	struct place *at = &r->c.place[k->p];
	struct nam_rng d;
	nam_status st = NAM_BUSY;
	nam_rng_init(&d, nam_mix(r->seed * 13 + r->number) ^ 0xbac);
	k->from = calloc(2, sizeof *k->from);
	k->buf = malloc(CAP);
	k->dir = wal_faulty_open(r->seed + 5000);
	if (k->from == NULL || k->buf == NULL || k->dir == NULL || copy_open(k, k->dir, 1, true) != NAM_OK)
		abort();
	k->to = k->from + 1;
	net_sleep(at->w, nam_rng_below(&d, 6 * MS));
	if (nam_rng_below(&d, 2)) {
		*k->from = *r->m;
		k->until = net_wall_us(at->w);
		net_sleep(at->w, nam_rng_below(&d, 4 * MS));
	}
	for (unsigned i = 0; i < TRIES && (st == NAM_BUSY || st == NAM_ABSENT); i++)
		st = try_once(r, k->p);
	wal_close(k->copy);
	k->whole = st == NAM_OK;
	k->broken = st != NAM_OK;
	r->left--;
}

/* ---- out of the backup ---- */

/* What a restored database must show: c->from is told of by its clients alone. */
static void
expect(const struct cut_run *r)
{
	const struct cut_backup *k = &r->backup;
	for (uint32_t id = 1; id < k->to->next; id++) {
		const struct cut_txn *from = &k->from->txn[id];
		struct cut_txn *to = &k->to->txn[id];
		enum cut_state was = id < k->from->next ? from->state : CUT_OPEN, ends = r->m->txn[id].state;
		bool shown = id < k->from->next && from->shown && to->sync;
		to->shown = false;
		/* Received when it was answered, or shown: so it lies before the end. */
		if (was == CUT_ACKED || (was == CUT_ASKED && shown)) {
			to->state = CUT_ACKED;
			to->sync = true;
		} else if (was != CUT_HERE && was != CUT_LOST) {
			to->state = ends == CUT_UNDONE || ends == CUT_LOST ? CUT_UNDONE
				    : to->state == CUT_ACKED               ? CUT_ASKED
									   : to->state;
		} else {
			to->state = was;
		}
	}
	k->to->q_high = k->from->q_high;
	k->to->rs = 0; /* a setval may lie on either side of the end */
}

static nam_status
read_pass(struct cut_backup *k, struct wal *log, uint64_t from, uint64_t to, on_record fn)
{
	nam_status st = NAM_OK;
	for (uint64_t at = from, next; st == NAM_OK && at < to; at = next) {
		struct nam_err err;
		uint32_t got;
		st = wal_read(log, at, k->buf, CAP, &got, &next, &err);
		if (st == NAM_OK && got == 0)
			return st;
		if (st == NAM_OK)
			st = each(k, at, got, to, fn);
	}
	return st;
}

static nam_status
restore_into(struct cut_run *r, struct wal *log, struct wal_dir *into)
{
	struct cut_backup *k = &r->backup;
	struct wal_state is;
	wal_state(log, &is);
	txn_cut_until(&k->cut, is.whole, k->until != 0 ? k->until : INT64_MAX);
	nam_status st = read_pass(k, log, is.begin, is.end, look_one);
	/* The backup does not reach back to that moment. */
	if (st == NAM_OK && !txn_cut_found(&k->cut))
		return NAM_ABSENT;
	uint64_t end = k->cut.end < is.end ? k->cut.end : is.end;
	if (st == NAM_OK)
		st = copy_open(k, into, cut_first_region(r->seed, 1), false);
	if (st == NAM_OK)
		st = copy_begin(k, is.cluster, is.begin);
	if (st == NAM_OK)
		st = read_pass(k, log, is.begin, end, copy_one);
	if (st == NAM_OK)
		st = copy_end(k, is.whole < end ? is.whole : end);
	wal_close(k->copy);
	return st;
}

struct wal_dir *
cut_backup_restore(struct cut_run *r)
{
	struct cut_backup *k = &r->backup;
	const struct wal_config cfg = { .dir = k->dir, .segment_bytes = COPY_SEGMENT, .no_sync = true };
	struct wal_dir *into = wal_faulty_open(r->seed + 6000);
	struct nam_err err = { 0 };
	struct wal *log;
	nam_status st = into != NULL ? wal_open(&log, &cfg, &err) : NAM_NOMEM;
	if (st == NAM_OK) {
		st = restore_into(r, log, into);
		txn_cut_fini(&k->cut);
		wal_close(log);
	}
	if (st == NAM_OK) {
		expect(r);
		return into;
	}
	if (st != NAM_ABSENT)
		cluster_bad(&r->c, "the backup cannot be restored: %s %s", nam_status_text(st), err.text);
	wal_faulty_close(into);
	return NULL;
}
