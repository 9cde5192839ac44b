/*
 * restore_rows.c -- a restore writes the rows of all tables, on all workers of its process.
 *
 * The log is read once more, one batch after the other: a worker takes the next one when it has
 * none, and writes those of its rows that are the newest versions, some thousand to a transaction.
 * Rows have no order among themselves: each is written once, and no process looks at the database
 * before the last one is.
 */
#include "restore_internal.h"

#include <base/fault.h>
#include <catalog/catalog_internal.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 64, ROWS_A_TXN = 4096, BYTES_A_TXN = 2 << 20, TRIES = 100, LANES = 2, STACK = 256 << 10 };
#define AGAIN_NS UINT64_C(1000000)
#define TURN_NS  UINT64_C(300000)

/* A table whose rows are written. */
struct home {
	uint32_t id;
	const char *path;
};

struct crew {
	struct restore *r;
	const struct home *home; /* rising by id */
	size_t homes;
	uint64_t all;             /* rows that are to be written */
	atomic_bool reading;      /* one reads the log */
	bool read;                /* to its end; that one's */
	_Atomic unsigned at_work; /* workers with a transaction open */
	atomic_bool alone;        /* one repeats its transaction, and no other begins one */
	_Atomic uint64_t rows;    /* written */
	_Atomic unsigned busy;    /* coroutines that have not ended, but for the first */
	_Atomic int status;       /* of the first failure */
	const char *what;         /* its table, or the log; once busy is 0 */
	char log_name[64];
};

/* Rows of a batch that are to be written, by their tables. */
struct share {
	struct cat_batch batch;
	struct cat_newest_near near;
	size_t rows, done;
};

/* A row's bytes with its long values in new memory; `values` gets their bytes. */
static nam_status
row_bytes(const struct restore *r, struct txn *t, const struct cat_table *tab,
    const struct cat_batch_row *row, const void **out, uint64_t *bytes, struct nam_arena *arena)
{
	uint32_t where[TXN_BLOBS_MAX];
	unsigned n =
	    tab->store.blobs != NULL ? cat_row_spills(tab, row->bytes, row->len, where, TXN_BLOBS_MAX) : 0;
	char *copy = n > 0 ? nam_arena_copy(arena, row->bytes, row->len) : NULL;
	*out = row->bytes;
	*bytes += row->len;
	if (n > 0 && copy == NULL)
		return NAM_NOMEM;
	for (unsigned i = 0; i < n; i++) {
		struct txn_blob b;
		memcpy(&b, copy + where[i], sizeof b);
		const struct cat_logged_value *x = cat_restore_value(r, &b);
		if (x == NULL)
			return NAM_CORRUPT;
		struct txn_table *store = (struct txn_table *)(uintptr_t)&tab->store;
		nam_status st = txn_blob_put(t, store, x->bytes, x->len, &b);
		if (st != NAM_OK)
			return st;
		if (!nam_fault(VALUE_UNMOVED))
			memcpy(copy + where[i], &b, sizeof b);
		*bytes += x->len;
	}
	if (n > 0)
		*out = copy;
	return NAM_OK;
}

static nam_status
row_put(const struct restore *r, struct txn *t, const struct cat_table *tab, const struct cat_batch_row *row,
    struct txn_put *p, uint64_t *bytes, struct nam_arena *arena)
{
	union cat_val key[CAT_KEY_MAX];
	struct cat_str k = { NULL, 0 };
	bool hashed = cat_is_hashed(tab);
	*p = (struct txn_put){ .table = (struct txn_table *)(uintptr_t)&tab->store, .len = row->len };
	for (unsigned i = 0; hashed && i < tab->keys; i++) {
		struct txn_blob b;
		bool null, spilled;
		if (!cat_row_value(tab, tab->key[i], row->bytes, row->len, &key[i], &null, &spilled, &b) ||
		    null)
			return NAM_CORRUPT;
		if (!spilled)
			continue;
		const struct cat_logged_value *x = cat_restore_value(r, &b);
		if (x == NULL)
			return NAM_CORRUPT;
		key[i].s = (struct cat_str){ x->bytes, x->len };
	}
	nam_status st = hashed ? cat_key_encode(tab, key, &k, &p->hash, arena) : NAM_OK;
	p->key = k.p;
	p->key_len = k.len;
	return st == NAM_OK ? row_bytes(r, t, tab, row, &p->bytes, bytes, arena) : st;
}

/* Rows from s->done on, as many as a transaction takes. */
static nam_status
write_some(const struct crew *c, struct txn_worker *tw, struct share *s)
{
	const struct cat_table *tab = NULL;
	struct txn_put put[TOGETHER];
	struct nam_arena arena;
	struct txn *t;
	uint64_t bytes = 0;
	size_t now = s->done, most = s->rows - now < ROWS_A_TXN ? s->rows : now + ROWS_A_TXN;
	nam_status st = txn_begin(tw, TXN_REPEATABLE_READ, &t);
	if (st != NAM_OK)
		return st;
	nam_arena_init(&arena, 64 << 10);
	txn_set_sync(t, false);
	while (st == NAM_OK && now < most && bytes < BYTES_A_TXN) {
		unsigned puts = 0;
		while (st == NAM_OK && puts < TOGETHER && now < most && bytes < BYTES_A_TXN) {
			const struct cat_batch_row *row = &s->batch.row[now];
			if (now == s->done || row->home != row[-1].home)
				st = cat_find(c->r->c, t, c->home[row->home].path, &tab);
			if (st == NAM_OK && tab == NULL)
				st = NAM_CORRUPT;
			if (st == NAM_OK)
				st = row_put(c->r, t, tab, row, &put[puts++], &bytes, &arena);
			now++;
		}
		if (st == NAM_OK && puts > 0)
			st = txn_insert(t, put, puts);
	}
	if (st == NAM_OK)
		st = txn_commit(t, NULL);
	else
		txn_abort(t);
	nam_arena_fini(&arena);
	if (st == NAM_OK)
		s->done = now;
	return st == NAM_DUPLICATE ? NAM_CORRUPT : st;
}

/*
 * Two workers may meet at a block: one has rolled back, the other takes the block, and an entry of
 * an index still leads the first one there when it tries again. They may go on to hinder each other
 * for long, so what is tried again is tried alone.
 */
static void
begin_work(struct crew *c, struct txn_worker *tw, bool alone)
{
	bool none = false;
	while (alone && !atomic_compare_exchange_strong(&c->alone, &none, true)) {
		none = false;
		net_sleep(txn_worker_net(tw), AGAIN_NS);
	}
	while (alone && atomic_load(&c->at_work) > 0)
		net_sleep(txn_worker_net(tw), AGAIN_NS);
	while (!alone) {
		atomic_fetch_add(&c->at_work, 1);
		if (!atomic_load(&c->alone))
			return;
		atomic_fetch_sub(&c->at_work, 1);
		net_sleep(txn_worker_net(tw), AGAIN_NS);
	}
}

static void
end_work(struct crew *c, bool alone)
{
	if (alone)
		atomic_store(&c->alone, false);
	else
		atomic_fetch_sub(&c->at_work, 1);
}

static bool
is_told_to_end(const struct crew *c)
{
	return c->r->how->stop != NULL && atomic_load(c->r->how->stop);
}

static nam_status
write_share(struct crew *c, struct txn_worker *tw, struct share *s, void (*told)(const struct crew *))
{
	unsigned tries = 0;
	while (s->done < s->rows && atomic_load(&c->status) == NAM_OK) {
		size_t was = s->done;
		if (is_told_to_end(c))
			return NAM_CANCELLED;
		begin_work(c, tw, tries > 0);
		nam_status st = write_some(c, tw, s);
		end_work(c, tries > 0);
		/* An index whose partition is moving, or a collector, may be in the way. */
		if (st != NAM_OK && (nam_status_todo(st) != DO_RETRY || ++tries > TRIES))
			return st;
		if (st != NAM_OK) {
			net_sleep(txn_worker_net(tw), AGAIN_NS);
			continue;
		}
		tries = 0;
		atomic_fetch_add(&c->rows, s->done - was);
		if (told != NULL)
			told(c);
	}
	return NAM_OK;
}

static int
by_table(const void *a, const void *b)
{
	const struct home *x = a, *y = b;
	return (x->id > y->id) - (x->id < y->id);
}

static int
by_home(const void *a, const void *b)
{
	const struct cat_batch_row *x = a, *y = b;
	if (x->home != y->home)
		return x->home < y->home ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Those rows of the batch that are to be written, table by table. */
static void
choose(const struct crew *c, struct share *s)
{
	const struct cat_newest *newest = cat_replay_newest(c->r->log);
	struct cat_batch_row *row = s->batch.row;
	const struct home *home = NULL;
	bool sorted = true;
	s->rows = s->done = 0;
	for (size_t i = 0; i < s->batch.rows; i++) {
		const struct home is = { .id = row[i].table };
		if (home == NULL || home->id != is.id)
			home = c->homes > 0 ? bsearch(&is, c->home, c->homes, sizeof is, by_table) : NULL;
		if (home == NULL || !cat_newest_take(newest, &s->near, is.id, row[i].at, row[i].cid))
			continue;
		row[s->rows] = row[i];
		row[s->rows].home = (uint32_t)(home - c->home);
		sorted = sorted && (s->rows == 0 || row[s->rows - 1].home <= row[s->rows].home);
		s->rows++;
	}
	if (!sorted)
		qsort(row, s->rows, sizeof *row, by_home);
}

static void
failed(struct crew *c, nam_status st, const char *what)
{
	int none = NAM_OK;
	if (atomic_compare_exchange_strong(&c->status, &none, (int)st))
		c->what = what;
}

/* The next batch; *end: there is none. */
static nam_status
next_batch(struct crew *c, struct net_worker *w, struct share *s, bool *end)
{
	nam_status st = NAM_OK;
	bool none = false;
	while (!atomic_compare_exchange_strong(&c->reading, &none, true)) {
		none = false;
		net_sleep(w, TURN_NS);
	}
	*end = c->read;
	if (atomic_load(&c->status) != NAM_OK)
		*end = true;
	else if (is_told_to_end(c))
		st = NAM_CANCELLED;
	else if (!*end)
		st = cat_replay_next(c->r->log, w, &s->batch, end);
	c->read = *end;
	/* Before another one reads on. */
	if (st != NAM_OK)
		failed(c, st, c->log_name);
	atomic_store(&c->reading, false);
	return st;
}

static void
write_shares(struct crew *c, struct txn_worker *tw, void (*told)(const struct crew *))
{
	struct net_worker *w = txn_worker_net(tw);
	struct share s = { 0 };
	nam_status st = cat_batch_open(&s.batch, c->r->log, w);
	for (bool end = false; st == NAM_OK && !end;) {
		if ((st = next_batch(c, w, &s, &end)) != NAM_OK || end)
			break;
		choose(c, &s);
		nam_status wrote = write_share(c, tw, &s, told);
		if (wrote != NAM_OK)
			failed(c, wrote, c->home[s.batch.row[s.done].home].path);
	}
	if (st != NAM_OK)
		failed(c, st, c->log_name);
	cat_batch_close(&s.batch, c->r->log, w);
}

/* A further coroutine of a worker. */
struct lane {
	struct crew *crew;
	struct txn_worker *tw;
};

static void
run_lane(void *arg)
{
	struct lane *l = arg;
	struct crew *c = l->crew;
	write_shares(c, l->tw, NULL);
	free(l);
	atomic_fetch_sub(&c->busy, 1);
}

/* While one waits for the log or for its commit, another one of the same worker works. Over a
 * connection that costs more than it saves (docs/PERFORMANCE.md, Restarts). */
static void
more_lanes(struct crew *c, struct txn_worker *tw)
{
	unsigned lanes = net_all_mapped(txn_worker_net(tw)) ? LANES : 1;
	for (unsigned i = 1; i < lanes; i++) {
		struct lane *l = malloc(sizeof *l);
		if (l == NULL)
			return;
		*l = (struct lane){ c, tw };
		atomic_fetch_add(&c->busy, 1);
		if (nam_co_start(net_worker_sched(txn_worker_net(tw)), run_lane, l, STACK) != NULL)
			continue;
		atomic_fetch_sub(&c->busy, 1);
		free(l);
	}
}

static void
help(struct txn_worker *tw, void *call)
{
	struct crew *c = call;
	more_lanes(c, tw);
	write_shares(c, tw, NULL);
	atomic_fetch_sub(&c->busy, 1);
}

static void
tell(const struct crew *c)
{
	const struct cat_restoring *how = c->r->how;
	if (how->told != NULL)
		how->told(how->told_arg, CAT_RESTORING_ROWS, atomic_load(&c->rows), c->all);
}

/* The tables; an index gets the room that it needs. */
static nam_status
find_homes(struct restore *r, struct txn *t, struct crew *c, struct nam_arena *arena)
{
	const struct cat_newest *newest = cat_replay_newest(r->log);
	const struct cat_table **list, *tab;
	unsigned tables;
	nam_status st = cat_list(r->c, t, &list, &tables, arena);
	struct home *home = st == NAM_OK ? nam_arena_zero(arena, tables * sizeof *home) : NULL;
	if (st == NAM_OK && home == NULL)
		return NAM_NOMEM;
	c->home = home;
	for (unsigned i = 0; st == NAM_OK && i < tables; i++) {
		if (list[i]->kind != CAT_TABLE || list[i]->system)
			continue;
		uint64_t rows = cat_newest_live(newest, list[i]->store.id);
		const char *path = nam_arena_str(arena, list[i]->path, strlen(list[i]->path));
		if (path == NULL)
			return NAM_NOMEM;
		home[c->homes++] = (struct home){ list[i]->store.id, path };
		c->all += rows;
		if (rows == 0 || !cat_is_hashed(list[i]))
			continue;
		st = cat_find(r->c, t, path, &tab);
		if (st == NAM_OK && tab != NULL)
			st = txn_table_reserve(r->tw, (struct txn_table *)(uintptr_t)&tab->store, rows);
	}
	r->out->tables += c->homes;
	qsort(home, c->homes, sizeof *home, by_table);
	return st;
}

nam_status
cat_restore_rows(struct restore *r)
{
	struct crew c = { .r = r };
	struct nam_arena arena;
	struct txn *t;
	nam_arena_init(&arena, 0);
	snprintf(c.log_name, sizeof c.log_name, "the rows of the log of storage node %u",
	    cat_replay_region(r->log));
	nam_status st = txn_begin(r->tw, TXN_REPEATABLE_READ, &t);
	if (st == NAM_OK) {
		st = find_homes(r, t, &c, &arena);
		txn_abort(t);
	}
	if (st != NAM_OK)
		cat_restore_fail(r->err, st, "the catalog");
	for (unsigned k = 0; st == NAM_OK && c.all > 0 && k < r->how->helpers; k++) {
		atomic_fetch_add(&c.busy, 1);
		if (!r->how->start(r->how->start_arg, k, help, &c))
			atomic_fetch_sub(&c.busy, 1);
	}
	if (st == NAM_OK && c.all > 0) {
		more_lanes(&c, r->tw);
		write_shares(&c, r->tw, tell);
	}
	while (atomic_load(&c.busy) > 0) {
		tell(&c);
		net_sleep(txn_worker_net(r->tw), AGAIN_NS);
	}
	r->out->rows = atomic_load(&c.rows);
	if (st == NAM_OK && atomic_load(&c.status) == NAM_OK && r->out->rows != c.all)
		failed(&c, NAM_CORRUPT, c.log_name);
	if (st == NAM_OK && (st = (nam_status)atomic_load(&c.status)) != NAM_OK)
		cat_restore_fail(r->err, st, c.what);
	nam_arena_fini(&arena);
	return st;
}
