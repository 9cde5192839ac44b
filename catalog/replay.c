/*
 * replay.c -- reads a log from its begin to its end, and keeps what is there at the end
 * (txn/logged_format.h).
 *
 * Two passes: the first one finds the attempts that were undone, because the record that says so
 * lies behind those of the attempt (J2, J3). The second keeps the newest version of each row (J4),
 * and the long values (J5). A version that fits where the one before it lay replaces it there. What
 * a checkpoint has appended is read like any other row (J7).
 */
#include "replay.h"

#include <base/hash.h>
#include <txn/logged_format.h>
#include <wal/remote/log.h>
#include <wal/wal_format.h>

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 20, MAP_FIRST = 1 << 12, TELL_EVERY = 4 << 20 };

struct name {
	uint64_t lock, check;
};

/* A body of several parts, as far as it has been read. The log receives each part once (wal_msg.h,
 * Q5). */
struct open_body {
	struct name name;
	uint32_t parts;
	char *bytes;
	uint64_t n, cap;
};

/* Open addressing by address (and table); NULL = a free slot. */
struct map {
	void **slot;
	uint64_t cap, n;
};

struct table_rows {
	uint32_t table;
	size_t from, n;
};

struct cat_replay {
	struct net_worker *w;
	unsigned region;
	char *buf;
	uint32_t cap;
	void (*told)(void *arg, uint64_t done, uint64_t all);
	void *told_arg;
	uint64_t end, read, told_at;
	struct name *undone; /* sorted after the first pass */
	size_t undones, undones_cap;
	struct open_body *body;
	size_t bodies, bodies_cap;
	struct map rows, values;
	uint64_t begin;                   /* position; 0 = nothing was cut off */
	uint64_t since;                   /* J9 */
	uint64_t orphan;                  /* the greatest CID of a body without a first part */
	struct cat_logged_number *number; /* rising by sequence */
	size_t numbers, numbers_cap;
	char **chunk; /* memory of rows; values are of malloc */
	size_t chunks, chunks_cap;
	char *next;
	size_t left;
	struct cat_logged_row **row; /* live ones, by table */
	struct table_rows *table;    /* rising */
	size_t tables, live;
	uint32_t last_id;
	uint64_t records;
};

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

static struct cat_logged_row *
row_new(struct cat_replay *r, uint32_t cap)
{
	size_t bytes = (sizeof(struct cat_logged_row) + cap + 7) & ~(size_t)7;
	if (bytes > r->left) {
		if (!grow((void **)&r->chunk, r->chunks, &r->chunks_cap, sizeof *r->chunk) ||
		    (r->next = malloc(CHUNK)) == NULL)
			return NULL;
		r->chunk[r->chunks++] = r->next;
		r->left = CHUNK;
	}
	struct cat_logged_row *x = (void *)r->next;
	r->next += bytes;
	r->left -= bytes;
	x->cap = cap;
	return x;
}

static uint64_t
row_hash(uint64_t at, uint32_t table)
{
	return nam_mix(at ^ nam_mix(table));
}

static bool
map_room(struct map *m, bool rows)
{
	if (2 * (m->n + 1) <= m->cap)
		return true;
	uint64_t cap = m->cap ? 2 * m->cap : MAP_FIRST;
	void **slot = calloc(cap, sizeof *slot);
	if (slot == NULL)
		return false;
	for (uint64_t i = 0; i < m->cap; i++) {
		if (m->slot[i] == NULL)
			continue;
		const struct cat_logged_row *x = m->slot[i];
		const struct cat_logged_value *v = m->slot[i];
		uint64_t h = rows ? row_hash(x->at, x->table) : nam_mix(v->at);
		while (slot[h & (cap - 1)] != NULL)
			h++;
		slot[h & (cap - 1)] = m->slot[i];
	}
	free(m->slot);
	m->slot = slot;
	m->cap = cap;
	return true;
}

static void **
row_slot(const struct map *m, uint64_t at, uint32_t table)
{
	for (uint64_t h = row_hash(at, table);; h++) {
		struct cat_logged_row *x = m->slot[h & (m->cap - 1)];
		if (x == NULL || (x->at == at && x->table == table))
			return &m->slot[h & (m->cap - 1)];
	}
}

static void **
value_slot(const struct map *m, uint64_t at)
{
	for (uint64_t h = nam_mix(at);; h++) {
		struct cat_logged_value *x = m->slot[h & (m->cap - 1)];
		if (x == NULL || x->at == at)
			return &m->slot[h & (m->cap - 1)];
	}
}

/* ---- undone attempts ---- */

static int
by_name(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	return (x->check > y->check) - (x->check < y->check);
}

static bool
is_undone(const struct cat_replay *r, const struct txn_logged *head)
{
	const struct name n = { head->lock, head->check };
	return r->undones > 0 && bsearch(&n, r->undone, r->undones, sizeof n, by_name) != NULL;
}

static nam_status
find_undone(struct cat_replay *r, const struct txn_logged *head, const char *bytes, uint32_t len)
{
	(void)bytes;
	(void)len;
	if (head->kind != TXN_LOGGED_UNDONE)
		return NAM_OK;
	if (!grow((void **)&r->undone, r->undones, &r->undones_cap, sizeof *r->undone))
		return NAM_NOMEM;
	r->undone[r->undones++] = (struct name){ head->lock, head->check };
	return NAM_OK;
}

/* ---- rows and values ---- */

static nam_status
keep_row(struct cat_replay *r, const struct txn_logged_item *item, const char *bytes, uint64_t cid)
{
	if (!map_room(&r->rows, true))
		return NAM_NOMEM;
	void **slot = row_slot(&r->rows, item->at, item->table);
	struct cat_logged_row *x = *slot;
	if (x != NULL && x->cid > cid)
		return NAM_OK; /* a later commit that lies before it in the log */
	bool deleted = item->kind == TXN_LOGGED_DELETED;
	if (x == NULL || x->cap < item->len) {
		struct cat_logged_row *more = row_new(r, item->len);
		if (more == NULL)
			return NAM_NOMEM;
		r->rows.n += x == NULL;
		*slot = x = more;
	}
	x->at = item->at;
	x->table = item->table;
	x->cid = cid;
	x->ident = item->ident;
	x->len = item->len;
	x->deleted = deleted;
	memcpy(x->bytes, bytes, item->len);
	if (item->table > r->last_id)
		r->last_id = item->table;
	return NAM_OK;
}

static nam_status
keep_value(struct cat_replay *r, const struct txn_logged_item *item, const char *bytes)
{
	if (!map_room(&r->values, false))
		return NAM_NOMEM;
	void **slot = value_slot(&r->values, item->at);
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
	if (item->table > x->generation)
		*x = fresh;
	if (item->table == x->generation && number < x->low)
		x->low = number;
	if (item->table == x->generation && number > x->high)
		x->high = number;
	return NAM_OK;
}

/* What a checkpoint says; bytes are the item's. */
static nam_status
keep_kept(struct cat_replay *r, struct txn_logged_item *item, const char *bytes)
{
	uint64_t cid;
	switch ((enum txn_logged_item_kind)item->kind) {
	case TXN_LOGGED_KEPT_ROW:
		if (item->len < sizeof cid || item->len - sizeof cid > TXN_ROW_MAX)
			return NAM_CORRUPT;
		memcpy(&cid, bytes, sizeof cid);
		item->kind = TXN_LOGGED_ROW;
		item->len -= (uint32_t)sizeof cid;
		return keep_row(r, item, bytes + sizeof cid, cid);
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
keep_body(struct cat_replay *r, const struct txn_logged *head, const char *bytes, uint64_t n)
{
	struct txn_logged_item item;
	nam_status st = NAM_OK;
	for (uint64_t at = 0; st == NAM_OK && at < n;) {
		if (n - at < sizeof item)
			return NAM_CORRUPT;
		memcpy(&item, bytes + at, sizeof item);
		at += sizeof item;
		uint64_t padded = ((uint64_t)item.len + 7) & ~UINT64_C(7);
		if (padded > n - at || item.at == 0)
			return NAM_CORRUPT;
		if (head->kind == TXN_LOGGED_KEPT)
			st = keep_kept(r, &item, bytes + at);
		else if (item.kind == TXN_LOGGED_VALUE)
			st = keep_value(r, &item, bytes + at);
		else if (item.kind == TXN_LOGGED_NUMBER && item.len == 0)
			st = keep_number(r, &item);
		else if ((item.kind == TXN_LOGGED_ROW && item.len <= TXN_ROW_MAX) ||
			 (item.kind == TXN_LOGGED_DELETED && item.len == 0))
			st = keep_row(r, &item, bytes + at, head->cid);
		else
			st = NAM_CORRUPT;
		at += padded;
	}
	return st;
}

static struct open_body *
body_that_is(const struct cat_replay *r, const struct txn_logged *head)
{
	for (size_t i = 0; i < r->bodies; i++)
		if (r->body[i].name.lock == head->lock && r->body[i].name.check == head->check)
			return &r->body[i];
	return NULL;
}

static struct open_body *
body_of(struct cat_replay *r, const struct txn_logged *head)
{
	struct open_body *b = body_that_is(r, head);
	if (b != NULL)
		return b;
	if (!grow((void **)&r->body, r->bodies, &r->bodies_cap, sizeof *r->body))
		return NULL;
	r->body[r->bodies] = (struct open_body){ .name = { head->lock, head->check } };
	return &r->body[r->bodies++];
}

static nam_status
keep(struct cat_replay *r, const struct txn_logged *head, const char *bytes, uint32_t len)
{
	bool last = (head->flags & TXN_LOGGED_LAST) != 0;
	if (head->kind == TXN_LOGGED_UNDONE || (head->kind == TXN_LOGGED_COMMIT && is_undone(r, head)))
		return NAM_OK;
	if (head->kind != TXN_LOGGED_COMMIT && head->kind != TXN_LOGGED_KEPT &&
	    (head->kind != TXN_LOGGED_NUMBERS || !last || head->part != 0))
		return NAM_CORRUPT;
	if (last && head->part == 0)
		return keep_body(r, head, bytes, len);
	if (head->part > 0 && r->begin > 0 && body_that_is(r, head) == NULL) {
		/* J9: its first part has been cut off, so a checkpoint has kept what it wrote. */
		r->orphan = head->cid > r->orphan ? head->cid : r->orphan;
		return NAM_OK;
	}
	struct open_body *b = body_of(r, head);
	if (b == NULL)
		return NAM_NOMEM;
	if (head->part < b->parts)
		return NAM_OK;
	if (head->part > b->parts)
		return NAM_CORRUPT;
	if (b->n + len > b->cap) {
		uint64_t cap = b->cap ? 2 * b->cap : 1 << 16;
		while (cap < b->n + len)
			cap *= 2;
		char *more = realloc(b->bytes, cap);
		if (more == NULL)
			return NAM_NOMEM;
		b->bytes = more;
		b->cap = cap;
	}
	memcpy(b->bytes + b->n, bytes, len);
	b->n += len;
	b->parts++;
	if (!last)
		return NAM_OK;
	nam_status st = keep_body(r, head, b->bytes, b->n);
	free(b->bytes);
	*b = r->body[--r->bodies];
	return st;
}

/* ---- passes ---- */

typedef nam_status (*on_record)(
    struct cat_replay *r, const struct txn_logged *head, const char *bytes, uint32_t len);

/* Calls fn for each record of the log. */
static nam_status
pass(struct cat_replay *r, on_record fn)
{
	uint64_t position = 0;
	for (;;) {
		uint32_t got;
		nam_status st = wal_log_read(r->w, r->region, position, r->buf, r->cap, &got, &position);
		if (st != NAM_OK || got == 0)
			return st;
		for (uint32_t at = 0; at < got;) {
			struct wal_record_head rec;
			struct txn_logged head;
			if (got - at < sizeof rec)
				return NAM_CORRUPT;
			memcpy(&rec, r->buf + at, sizeof rec);
			at += sizeof rec;
			if (rec.bytes > got - at || rec.bytes < sizeof head)
				return NAM_CORRUPT;
			memcpy(&head, r->buf + at, sizeof head);
			st = fn(r, &head, r->buf + at + sizeof head, rec.bytes - (uint32_t)sizeof head);
			if (st != NAM_OK)
				return st;
			at += (rec.bytes + 7) & ~7u;
			r->records++;
		}
		r->read += got;
		if (r->told != NULL && r->read - r->told_at >= TELL_EVERY) {
			r->told_at = r->read;
			r->told(r->told_arg, r->read, 2 * r->end);
		}
	}
}

static int
by_table(const void *a, const void *b)
{
	const struct cat_logged_row *const *x = a, *const *y = b;
	if ((*x)->table != (*y)->table)
		return (*x)->table < (*y)->table ? -1 : 1;
	return ((*x)->at > (*y)->at) - ((*x)->at < (*y)->at);
}

static nam_status
group(struct cat_replay *r)
{
	if ((r->row = malloc((r->rows.n + 1) * sizeof *r->row)) == NULL)
		return NAM_NOMEM;
	for (uint64_t i = 0; i < r->rows.cap; i++) {
		struct cat_logged_row *x = r->rows.slot[i];
		if (x != NULL && !x->deleted)
			r->row[r->live++] = x;
	}
	qsort(r->row, r->live, sizeof *r->row, by_table);
	size_t cap = 0;
	for (size_t i = 0; i < r->live; i++) {
		if (r->tables > 0 && r->table[r->tables - 1].table == r->row[i]->table) {
			r->table[r->tables - 1].n++;
			continue;
		}
		if (!grow((void **)&r->table, r->tables, &cap, sizeof *r->table))
			return NAM_NOMEM;
		r->table[r->tables++] = (struct table_rows){ r->row[i]->table, i, 1 };
	}
	return NAM_OK;
}

nam_status
cat_replay_open(struct cat_replay **out, struct net_worker *w, unsigned region,
    void (*told)(void *arg, uint64_t done, uint64_t all), void *arg, struct nam_err *err)
{
	struct cat_replay *r = calloc(1, sizeof *r);
	struct wal_report report;
	uint32_t record;
	if (r == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory to restore the database");
	r->w = w;
	r->region = region;
	r->told = told;
	r->told_arg = arg;
	nam_status st = wal_log_ask(w, region, &report);
	if (st == NAM_OK)
		st = wal_log_most(w, region, &record, &r->cap);
	if (st == NAM_OK) {
		r->begin = report.begin;
		r->end = report.end - report.begin;
	}
	if (st == NAM_OK &&
	    ((r->buf = malloc(r->cap)) == NULL || !map_room(&r->rows, true) || !map_room(&r->values, false)))
		st = NAM_NOMEM;
	if (st == NAM_OK)
		st = pass(r, find_undone);
	if (st == NAM_OK && r->undones > 0)
		qsort(r->undone, r->undones, sizeof *r->undone, by_name);
	r->records = 0;
	if (st == NAM_OK)
		st = pass(r, keep);
	if (st == NAM_OK && r->orphan > r->since)
		st = NAM_CORRUPT;
	if (st == NAM_OK)
		st = group(r);
	if (st != NAM_OK) {
		cat_replay_close(r);
		return nam_fail(err, st, "cannot read the log of storage node %u: %s", region,
		    st == NAM_CORRUPT ? "a record contradicts itself" : nam_status_text(st));
	}
	*out = r;
	return NAM_OK;
}

void
cat_replay_close(struct cat_replay *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < r->chunks; i++)
		free(r->chunk[i]);
	for (uint64_t i = 0; i < r->values.cap; i++)
		free(r->values.slot[i]);
	for (size_t i = 0; i < r->bodies; i++)
		free(r->body[i].bytes);
	free(r->chunk);
	free(r->rows.slot);
	free(r->values.slot);
	free(r->body);
	free(r->undone);
	free(r->number);
	free(r->row);
	free(r->table);
	free(r->buf);
	free(r);
}

struct cat_logged_row **
cat_replay_rows(const struct cat_replay *r, uint32_t table, size_t *n)
{
	size_t low = 0, high = r->tables;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (r->table[mid].table < table)
			low = mid + 1;
		else
			high = mid;
	}
	*n = low < r->tables && r->table[low].table == table ? r->table[low].n : 0;
	return *n > 0 ? r->row + r->table[low].from : NULL;
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
	*rows = r->live;
}
