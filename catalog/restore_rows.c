/*
 * restore_rows.c -- a restore writes the rows of all tables, on all workers of its process.
 *
 * A chunk of a table's logged rows is a piece of work. Each worker takes the next one, and writes
 * its rows some thousand to a transaction. Rows have no order among themselves: each is there once,
 * and no process looks at the database before the last one is.
 */
#include "restore_internal.h"

#include <base/fault.h>
#include <catalog/catalog_internal.h>

#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 64, ROWS_A_TXN = 4096, BYTES_A_TXN = 2 << 20, TRIES = 100 };
#define AGAIN_NS UINT64_C(1000000)

struct piece {
	const char *path;
	struct cat_logged_chunk *chunk;
};

struct crew {
	const struct restore *r;
	const struct piece *piece;
	size_t pieces;
	_Atomic size_t next;
	_Atomic unsigned at_work; /* workers with a transaction open */
	atomic_bool alone;        /* one repeats its transaction, and no other begins one */
	_Atomic uint64_t rows;    /* written */
	_Atomic unsigned busy;    /* helpers that have not ended */
	_Atomic int status;       /* of the first failure */
	const char *path;         /* of its table; once busy is 0 */
};

/* A row's bytes with its long values in new memory; `values` gets their bytes. */
static nam_status
row_bytes(const struct restore *r, struct txn *t, const struct cat_table *tab,
    const struct cat_logged_row *row, const void **out, uint64_t *bytes, struct nam_arena *arena)
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
row_put(const struct restore *r, struct txn *t, const struct cat_table *tab, const struct cat_logged_row *row,
    struct txn_put *p, uint64_t *bytes, struct nam_arena *arena)
{
	union cat_val key[CAT_KEY_MAX];
	struct cat_str k = { NULL, 0 };
	*p = (struct txn_put){ .table = (struct txn_table *)(uintptr_t)&tab->store, .len = row->len };
	for (unsigned i = 0; i < tab->keys; i++) {
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
	nam_status st = tab->keys > 0 ? cat_key_encode(tab, key, &k, &p->hash, arena) : NAM_OK;
	p->key = k.p;
	p->key_len = k.len;
	return st == NAM_OK ? row_bytes(r, t, tab, row, &p->bytes, bytes, arena) : st;
}

/* Rows of a chunk from *at on, as many as a transaction takes. */
static nam_status
write_some(const struct restore *r, struct txn_worker *tw, const struct piece *p, char **at, uint64_t *rows)
{
	const struct cat_table *tab;
	const struct cat_logged_row *row;
	struct txn_put put[TOGETHER];
	struct nam_arena arena;
	struct txn *t;
	uint64_t bytes = 0, n = 0;
	char *now = *at;
	nam_status st = txn_begin(tw, TXN_REPEATABLE_READ, &t);
	if (st != NAM_OK)
		return st;
	nam_arena_init(&arena, 64 << 10);
	txn_set_sync(t, false);
	st = cat_find(r->c, t, p->path, &tab);
	if (st == NAM_OK && tab == NULL)
		st = NAM_CORRUPT;
	for (bool more = true; st == NAM_OK && more && n < ROWS_A_TXN && bytes < BYTES_A_TXN;) {
		unsigned puts = 0;
		while (st == NAM_OK && puts < TOGETHER && bytes < BYTES_A_TXN &&
		       (more = (row = cat_logged_rows_next(p->chunk, &now)) != NULL))
			st = row_put(r, t, tab, row, &put[puts++], &bytes, &arena);
		if (st == NAM_OK && puts > 0)
			st = txn_insert(t, put, puts);
		n += puts;
	}
	if (st == NAM_OK)
		st = txn_commit(t, NULL);
	else
		txn_abort(t);
	nam_arena_fini(&arena);
	if (st != NAM_OK)
		return st == NAM_DUPLICATE ? NAM_CORRUPT : st;
	*at = now;
	*rows = n;
	return NAM_OK;
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

static nam_status
write_piece(struct crew *c, struct txn_worker *tw, const struct piece *p, void (*told)(const struct crew *))
{
	const struct restore *r = c->r;
	char *at = p->chunk->from;
	unsigned tries = 0;
	while (at < p->chunk->to && atomic_load(&c->status) == NAM_OK) {
		uint64_t rows = 0;
		if (r->how->stop != NULL && atomic_load(r->how->stop))
			return NAM_CANCELLED;
		begin_work(c, tw, tries > 0);
		nam_status st = write_some(r, tw, p, &at, &rows);
		end_work(c, tries > 0);
		/* An index whose partition is moving, or a collector, may be in the way. */
		if (st != NAM_OK && (nam_status_todo(st) != DO_RETRY || ++tries > TRIES))
			return st;
		if (st != NAM_OK) {
			net_sleep(txn_worker_net(tw), AGAIN_NS);
			continue;
		}
		tries = 0;
		atomic_fetch_add(&c->rows, rows);
		if (told != NULL)
			told(c);
	}
	/* Its memory soon holds a part of the tables. */
	if (at == p->chunk->to)
		cat_logged_rows_drop(p->chunk);
	return NAM_OK;
}

static void
write_pieces(struct crew *c, struct txn_worker *tw, void (*told)(const struct crew *))
{
	for (size_t i;
	     atomic_load(&c->status) == NAM_OK && (i = atomic_fetch_add(&c->next, 1)) < c->pieces;) {
		int none = NAM_OK;
		nam_status st = write_piece(c, tw, &c->piece[i], told);
		if (st != NAM_OK && atomic_compare_exchange_strong(&c->status, &none, (int)st))
			c->path = c->piece[i].path;
	}
}

static void
help(struct txn_worker *tw, void *call)
{
	struct crew *c = call;
	write_pieces(c, tw, NULL);
	atomic_fetch_sub(&c->busy, 1);
}

static void
tell(const struct crew *c)
{
	const struct cat_restoring *how = c->r->how;
	if (how->told != NULL)
		how->told(how->told_arg, CAT_RESTORING_ROWS, atomic_load(&c->rows),
		    cat_logged_rows_all(cat_replay_rows(c->r->log)));
}

/* The work, in the order of the tables; an index gets the room that it needs. */
static nam_status
find_pieces(struct restore *r, struct txn *t, struct piece **out, size_t *pieces, struct nam_arena *arena)
{
	const struct cat_logged_rows *rows = cat_replay_rows(r->log);
	const struct cat_table **list, *tab;
	unsigned tables;
	size_t cap = 0;
	nam_status st = cat_list(r->c, t, &list, &tables, arena);
	for (unsigned i = 0; st == NAM_OK && i < tables; i++) {
		size_t n;
		struct cat_logged_chunk *chunk = cat_logged_rows_chunks(rows, list[i]->store.id, &n);
		if (list[i]->kind != CAT_TABLE || list[i]->system)
			continue;
		r->out->tables++;
		if (*pieces + n > cap) {
			cap = 2 * (*pieces + n);
			struct piece *more = realloc(*out, cap * sizeof *more);
			if (more == NULL)
				return NAM_NOMEM;
			*out = more;
		}
		const char *path = nam_arena_str(arena, list[i]->path, strlen(list[i]->path));
		if (path == NULL)
			return NAM_NOMEM;
		for (size_t k = 0; k < n; k++)
			(*out)[(*pieces)++] = (struct piece){ path, &chunk[k] };
		if (n == 0 || list[i]->keys == 0)
			continue;
		st = cat_find(r->c, t, path, &tab);
		if (st == NAM_OK && tab != NULL)
			st = txn_table_reserve(r->tw, (struct txn_table *)(uintptr_t)&tab->store,
			    cat_logged_rows_live(rows, tab->store.id));
	}
	return st;
}

nam_status
cat_restore_rows(struct restore *r)
{
	struct crew c = { .r = r };
	struct piece *piece = NULL;
	struct nam_arena arena;
	struct txn *t;
	nam_arena_init(&arena, 0);
	nam_status st = txn_begin(r->tw, TXN_REPEATABLE_READ, &t);
	if (st == NAM_OK) {
		st = find_pieces(r, t, &piece, &c.pieces, &arena);
		txn_abort(t);
	}
	if (st != NAM_OK)
		cat_restore_fail(r->err, st, "the catalog");
	c.piece = piece;
	for (unsigned k = 0; st == NAM_OK && k < r->how->helpers && k + 1 < c.pieces; k++) {
		atomic_fetch_add(&c.busy, 1);
		if (!r->how->start(r->how->start_arg, k, help, &c))
			atomic_fetch_sub(&c.busy, 1);
	}
	if (st == NAM_OK)
		write_pieces(&c, r->tw, tell);
	while (atomic_load(&c.busy) > 0) {
		tell(&c);
		net_sleep(txn_worker_net(r->tw), AGAIN_NS);
	}
	r->out->rows = atomic_load(&c.rows);
	if (st == NAM_OK && (st = (nam_status)atomic_load(&c.status)) != NAM_OK)
		cat_restore_fail(r->err, st, c.path);
	free(piece);
	nam_arena_fini(&arena);
	return st;
}
