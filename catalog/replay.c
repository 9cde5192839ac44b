/*
 * replay.c -- reads a log from its begin to its end, and keeps what is there at the end
 * (txn/logged_format.h).
 *
 * It keeps which version of each row is the newest one (J4), and the long values (J5). Of rows of
 * the system tables it keeps the bytes; all others are read again when they are written
 * (replay_rows.c). What a checkpoint has appended is read like any other row (J7). That an attempt
 * was undone is said behind its records (J2, J3): a log that says so of any is read to its end for
 * the names of such attempts, and then a second time from its begin.
 */
#include "replay_internal.h"

#include <base/fault.h>
#include <base/hash.h>
#include <catalog/catalog_internal.h>
#include <wal/remote/ahead.h>
#include <wal/remote/log.h>

#include <stdlib.h>
#include <string.h>

enum { MAP_FIRST = 1 << 12, TELL_EVERY = 4 << 20 };

/* ---- memory ---- */

static bool
grow(void **array, size_t n, size_t *cap, size_t item)
{
	if (n < *cap)
		return true;
	size_t more = *cap ? 2 * *cap : 16;
	void *p = realloc(*array, more * item);
	if (p == NULL)
		return false;
	*array = p;
	*cap = more;
	return true;
}

static struct cat_logged_value **
value_slot(const struct cat_value_map *m, uint64_t at)
{
	for (uint64_t h = nam_mix(at);; h++) {
		struct cat_logged_value *x = m->slot[h & (m->cap - 1)];
		if (x == NULL || x->at == at)
			return &m->slot[h & (m->cap - 1)];
	}
}

static bool
map_room(struct cat_value_map *m)
{
	if (2 * (m->n + 1) <= m->cap)
		return true;
	struct cat_value_map more = { .cap = m->cap ? 2 * m->cap : MAP_FIRST, .n = m->n };
	if ((more.slot = calloc(more.cap, sizeof *more.slot)) == NULL)
		return false;
	for (uint64_t i = 0; i < m->cap; i++)
		if (m->slot[i] != NULL)
			*value_slot(&more, m->slot[i]->at) = m->slot[i];
	free(m->slot);
	*m = more;
	return true;
}

static void
let_go(struct cat_replay *r)
{
	cat_logged_rows_close(r->rows);
	cat_newest_close(r->newest);
	cat_bodies_clear(&r->bodies);
	for (uint64_t i = 0; i < r->values.cap; i++)
		free(r->values.slot[i]);
	free(r->values.slot);
	r->values = (struct cat_value_map){ 0 };
}

/* Nothing is kept yet. */
static nam_status
clear(struct cat_replay *r)
{
	let_go(r);
	r->numbers = 0;
	r->since = r->records = 0;
	r->last_id = 0;
	r->rows = cat_logged_rows_open();
	r->newest = cat_newest_open();
	return r->rows != NULL && r->newest != NULL && map_room(&r->values) ? NAM_OK : NAM_NOMEM;
}

/* ---- undone attempts ---- */

static int
by_name(const void *a, const void *b)
{
	const struct cat_attempt *x = a, *y = b;
	if (x->lock != y->lock || nam_fault(NAMED_BY_LOCK))
		return (x->lock > y->lock) - (x->lock < y->lock);
	return (x->check > y->check) - (x->check < y->check);
}

bool
cat_replay_undone(const struct cat_replay *r, const struct txn_logged *head)
{
	const struct cat_attempt n = { head->lock, head->check };
	return head->kind == TXN_LOGGED_COMMIT && r->undones > 0 && !nam_fault(UNDONE_COUNTS) &&
	       bsearch(&n, r->undone, r->undones, sizeof n, by_name) != NULL;
}

static nam_status
note_undone(struct cat_replay *r, const struct txn_logged *head)
{
	if (!grow((void **)&r->undone, r->undones, &r->undones_cap, sizeof *r->undone))
		return NAM_NOMEM;
	r->undone[r->undones++] = (struct cat_attempt){ head->lock, head->check };
	return NAM_OK;
}

/* ---- rows and values ---- */

/* bytes: of a row of a system table. */
static nam_status
keep_row(
    struct cat_replay *r, const struct txn_logged_item *item, const char *bytes, uint32_t len, uint64_t cid)
{
	bool deleted = item->kind == TXN_LOGGED_DELETED;
	if (len > TXN_ROW_MAX)
		return NAM_CORRUPT;
	if (item->table > r->last_id)
		r->last_id = item->table;
	if (item->table >= CAT_FIRST_ID)
		return cat_newest_note(r->newest, item->table, item->at, cid, deleted);
	return cat_logged_rows_keep(r->rows, item->table, item->at, cid, deleted ? NULL : bytes, len);
}

static nam_status
keep_value(struct cat_replay *r, const struct txn_logged_item *item, const char *bytes)
{
	if (!map_room(&r->values))
		return NAM_NOMEM;
	struct cat_logged_value **slot = value_slot(&r->values, item->at);
	struct cat_logged_value *x = *slot;
	if (x == NULL || x->cap < item->len) {
		struct cat_logged_value *more = malloc(sizeof *more + item->len);
		if (more == NULL)
			return NAM_NOMEM;
		r->values.n += x == NULL;
		free(x);
		*slot = x = more;
		x->cap = item->len;
	}
	x->at = item->at;
	x->len = item->len;
	memcpy(x->bytes, bytes, item->len);
	return NAM_OK;
}

static size_t
number_place(const struct cat_replay *r, uint64_t word)
{
	size_t low = 0, high = r->numbers;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (r->number[mid].word < word)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static nam_status
keep_number(struct cat_replay *r, const struct txn_logged_item *item)
{
	size_t at = number_place(r, item->at);
	int64_t number = (int64_t)item->ident;
	struct cat_logged_number fresh = { item->at, item->table, number, number };
	if (at == r->numbers || r->number[at].word != item->at) {
		if (!grow((void **)&r->number, r->numbers, &r->numbers_cap, sizeof *r->number))
			return NAM_NOMEM;
		memmove(&r->number[at + 1], &r->number[at], (r->numbers++ - at) * sizeof *r->number);
		r->number[at] = fresh;
	}
	struct cat_logged_number *x = &r->number[at];
	if (item->table > x->generation && !nam_fault(NUMBER_GREATEST))
		*x = fresh;
	bool counts = item->table == x->generation || nam_fault(NUMBER_GREATEST);
	if (counts && number < x->low)
		x->low = number;
	if (counts && number > x->high)
		x->high = number;
	return NAM_OK;
}

/* What a checkpoint says. */
static nam_status
keep_kept(struct cat_replay *r, const struct txn_logged_item *item, const char *bytes)
{
	uint64_t cid;
	switch ((enum txn_logged_item_kind)item->kind) {
	case TXN_LOGGED_KEPT_ROW:
		if (item->len < sizeof cid)
			return NAM_CORRUPT;
		memcpy(&cid, bytes, sizeof cid);
		return keep_row(r, item, bytes + sizeof cid, item->len - (uint32_t)sizeof cid, cid);
	case TXN_LOGGED_SINCE:
		if (item->at == r->begin + 1)
			r->since = item->ident;
		return NAM_OK;
	case TXN_LOGGED_NEXT_ID:
		if (item->ident > (uint64_t)r->last_id + 1)
			r->last_id = (uint32_t)(item->ident - 1);
		return item->ident <= UINT32_MAX ? NAM_OK : NAM_CORRUPT;
	case TXN_LOGGED_VALUE:
		return keep_value(r, item, bytes);
	case TXN_LOGGED_NUMBER:
		return item->len == 0 ? keep_number(r, item) : NAM_CORRUPT;
	default:
		return NAM_CORRUPT;
	}
}

static nam_status
keep_item(void *arg, const struct txn_logged *head, const struct txn_logged_item *item, const char *bytes,
    bool stays)
{
	struct cat_replay *r = arg;
	(void)stays;
	if (head->kind == TXN_LOGGED_KEPT)
		return keep_kept(r, item, bytes);
	if (item->kind == TXN_LOGGED_VALUE)
		return keep_value(r, item, bytes);
	if (item->kind == TXN_LOGGED_NUMBER && item->len == 0)
		return keep_number(r, item);
	if (item->kind == TXN_LOGGED_ROW || (item->kind == TXN_LOGGED_DELETED && item->len == 0))
		return keep_row(r, item, bytes, item->len, head->cid);
	return NAM_CORRUPT;
}

static nam_status
keep(struct cat_replay *r, const struct txn_logged *head, const char *bytes, uint32_t len)
{
	bool alone = head->part == 0 && (head->flags & TXN_LOGGED_LAST) != 0;
	if (head->kind == TXN_LOGGED_UNDONE || cat_replay_undone(r, head))
		return NAM_OK;
	if (head->kind != TXN_LOGGED_COMMIT && head->kind != TXN_LOGGED_KEPT &&
	    (head->kind != TXN_LOGGED_NUMBERS || !alone))
		return NAM_CORRUPT;
	return cat_bodies_take(&r->bodies, r->records, head, bytes, len);
}

/* ---- passes ---- */

/* Keeps what it finds until it finds that an attempt was undone: from then on it looks for such
 * attempts only. */
static nam_status
keep_or_find(struct cat_replay *r, const struct txn_logged *head, const char *bytes, uint32_t len)
{
	if (head->kind == TXN_LOGGED_UNDONE)
		return note_undone(r, head);
	return r->undones == 0 ? keep(r, head, bytes, len) : NAM_OK;
}

nam_status
cat_replay_each(struct cat_replay *r, cat_replay_record *fn, const char *buf, uint32_t n, uint64_t *records)
{
	for (uint32_t at = 0; at < n;) {
		struct wal_record_head rec;
		struct txn_logged head;
		if (n - at < sizeof rec)
			return NAM_CORRUPT;
		memcpy(&rec, buf + at, sizeof rec);
		at += sizeof rec;
		if (rec.bytes > n - at || rec.bytes < sizeof head)
			return NAM_CORRUPT;
		memcpy(&head, buf + at, sizeof head);
		nam_status st = fn(r, &head, buf + at + sizeof head, rec.bytes - (uint32_t)sizeof head);
		if (st != NAM_OK)
			return st;
		at += (rec.bytes + 7) & ~7u;
		++*records;
	}
	return NAM_OK;
}

/* Calls fn for each record of the log. */
static nam_status
pass(struct cat_replay *r, cat_replay_record *fn)
{
	struct wal_ahead *ahead;
	nam_status st = wal_ahead_open(&ahead, r->w, r->region, 0);
	for (uint32_t got = 1; st == NAM_OK && got > 0;) {
		const char *buf;
		st = r->stop != NULL && atomic_load(r->stop) ? NAM_CANCELLED
							     : wal_ahead_next(ahead, &buf, &got);
		if (st == NAM_OK)
			st = cat_replay_each(r, fn, buf, got, &r->records);
		r->read += got;
		if (st == NAM_OK && r->told != NULL && r->read - r->told_at >= TELL_EVERY) {
			r->told_at = r->read;
			r->told(r->told_arg, r->read, r->undones > 0 ? 2 * r->end : r->end);
		}
	}
	wal_ahead_close(ahead);
	return st;
}

nam_status
cat_replay_open(struct cat_replay **out, struct net_worker *w, unsigned region, const atomic_bool *stop,
    void (*told)(void *arg, uint64_t done, uint64_t all), void *arg, struct nam_err *err)
{
	struct cat_replay *r = calloc(1, sizeof *r);
	struct wal_report report;
	if (r == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory to restore the database");
	r->w = w;
	r->region = region;
	r->stop = stop;
	r->told = told;
	r->told_arg = arg;
	nam_status st = wal_log_ask(w, region, &report);
	if (st == NAM_OK) {
		r->begin = report.begin;
		r->end = report.end - report.begin;
		r->bodies = (struct cat_bodies){
			.want = CAT_BODIES_WHOLE, .cut = r->begin > 0, .item = keep_item, .arg = r
		};
		st = clear(r);
	}
	if (st == NAM_OK)
		st = wal_log_read_wide(w, region, true);
	if (st == NAM_OK)
		st = pass(r, keep_or_find);
	if (st == NAM_OK && r->undones > 0) {
		qsort(r->undone, r->undones, sizeof *r->undone, by_name);
		if ((st = clear(r)) == NAM_OK)
			st = pass(r, keep);
	}
	if (st == NAM_OK && r->bodies.orphan > r->since)
		st = NAM_CORRUPT;
	if (st == NAM_OK)
		st = cat_replay_again(r);
	if (st != NAM_OK) {
		cat_replay_close(r);
		return nam_fail(err, st, "cannot read the log of storage node %u: %s", region,
		    st == NAM_CORRUPT     ? "a record contradicts itself"
		    : st == NAM_CANCELLED ? "the process was told to end"
					  : nam_status_text(st));
	}
	*out = r;
	return NAM_OK;
}

void
cat_replay_close(struct cat_replay *r)
{
	if (r == NULL)
		return;
	/* Answers to its worker were to be long. */
	(void)wal_log_read_wide(r->w, r->region, false);
	let_go(r);
	cat_bodies_clear(&r->again);
	free(r->torn);
	free(r->undone);
	free(r->number);
	free(r);
}

unsigned
cat_replay_region(const struct cat_replay *r)
{
	return r->region;
}

const struct cat_logged_rows *
cat_replay_rows(const struct cat_replay *r)
{
	return r->rows;
}

const struct cat_newest *
cat_replay_newest(const struct cat_replay *r)
{
	return r->newest;
}

const struct cat_logged_value *
cat_replay_value(const struct cat_replay *r, uint64_t at)
{
	return *value_slot(&r->values, at);
}

const struct cat_logged_number *
cat_replay_number(const struct cat_replay *r, uint64_t word)
{
	size_t at = number_place(r, word);
	return at < r->numbers && r->number[at].word == word ? &r->number[at] : NULL;
}

uint32_t
cat_replay_last_id(const struct cat_replay *r)
{
	return r->last_id;
}

void
cat_replay_counts(const struct cat_replay *r, uint64_t *records, uint64_t *rows)
{
	*records = r->records;
	*rows = cat_newest_all(r->newest);
}
