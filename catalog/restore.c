/*
 * restore.c -- puts the database of a log into a new cluster (restore.h).
 *
 * 	1  what a restorer before has left in the system tables is deleted, before this process has
 * 	   read it: ids are used once, and its tables have those of the new ones. Their memory goes
 * 	   back
 * 	2  memory is made for each table and index; the rows of the system tables are written, with
 * 	   the new addresses: one transaction
 * 	3  the rows of the tables are written (restore_rows.c), their indexes with them
 * 	4  sequences go on behind what they may have given out, and so do the ids of tables
 *
 * A row's bytes stay as they are, but for the addresses of its long values. Relations of temporary
 * schemas are left out, with all that the catalog says of them.
 */
#include "restore_internal.h"

#include <base/fault.h>
#include <base/log.h>
#include <catalog/catalog_internal.h>
#include <catalog/path.h>
#include <wal/remote/log.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 64, TRIES = 1000, AGAIN_NS = 10000000 };

nam_status
cat_restore_fail(struct nam_err *err, nam_status st, const char *what)
{
	return nam_fail(err, st, "cannot restore %s: %s", what,
	    st == NAM_FULL        ? "the storage nodes have less memory than the database needs; start them "
				    "again with a larger --size"
	    : st == NAM_CANCELLED ? "the process was told to end"
				  : nam_status_text(st));
}

static nam_status
fail(struct restore *r, nam_status st, const char *what)
{
	return cat_restore_fail(r->err, st, what);
}

/* A transaction that has met what a dead restorer has left may have to run again. */
static bool
runs_again(const struct restore *r, nam_status st, unsigned *tries)
{
	if (st == NAM_OK || nam_status_todo(st) != DO_RETRY || ++*tries > TRIES)
		return false;
	if (r->how->stop != NULL && atomic_load(r->how->stop))
		return false;
	net_sleep(txn_worker_net(r->tw), AGAIN_NS);
	return true;
}

/* ---- 1: what was left ---- */

static nam_status
empty_one(struct txn *t, struct cat_entry *e)
{
	struct txn_scan *scan;
	struct nam_arena arena;
	nam_arena_init(&arena, 0);
	struct txn_row *rows = nam_arena_zero(&arena, TOGETHER * sizeof *rows);
	nam_status st = rows != NULL ? txn_scan_open(t, &e->def.store, &scan) : NAM_NOMEM;
	if (st != NAM_OK) {
		nam_arena_fini(&arena);
		return st;
	}
	for (unsigned n = 1; st == NAM_OK && n > 0;) {
		st = txn_scan_next(scan, rows, TOGETHER, &n);
		for (unsigned i = 0; st == NAM_OK && i < n; i++)
			st = txn_delete(t, &e->def.store, &rows[i]);
	}
	txn_scan_close(scan);
	nam_arena_fini(&arena);
	return st;
}

static nam_status
empty_all(struct cat *c, struct txn_worker *tw)
{
	struct txn *t;
	nam_status st = txn_begin(tw, TXN_REPEATABLE_READ, &t);
	if (st != NAM_OK)
		return st;
	txn_set_sync(t, false);
	txn_set_note(t, TSO_NOTE_CATALOG);
	for (unsigned i = 0; st == NAM_OK && i < CAT_SYSTEM; i++)
		st = empty_one(t, c->system[i]);
	if (st != NAM_OK) {
		txn_abort(t);
		return st;
	}
	return txn_commit(t, NULL);
}

nam_status
cat_empty(struct cat *c, struct txn_worker *tw)
{
	const struct cat_restoring none = { 0 };
	const struct restore r = { .tw = tw, .how = &none };
	unsigned tries = 0;
	nam_status st;
	while (runs_again(&r, st = empty_all(c, tw), &tries))
		continue;
	return st == NAM_OK ? txn_life_forget(tw, CAT_FIRST_ID) : st;
}

/* ---- rows of the system tables ---- */

const struct cat_logged_value *
cat_restore_value(const struct restore *r, const struct txn_blob *b)
{
	const struct cat_logged_value *x = cat_replay_value(r->log, b->at.bits);
	return x != NULL && x->len == b->len ? x : NULL;
}

/* The rows of a system table, one after the other. */
struct walk {
	const struct cat_logged_chunk *chunk;
	size_t left;
	char *at;
};

static struct walk
walk_of(const struct restore *r, unsigned table)
{
	struct walk w = { 0 };
	const struct cat_table *def = &r->c->system[table]->def;
	w.chunk = cat_logged_rows_chunks(cat_replay_rows(r->log), def->store.id, &w.left);
	w.at = w.left > 0 ? w.chunk->from : NULL;
	return w;
}

static const struct cat_logged_row *
next_row(struct walk *w)
{
	while (w->left > 0) {
		const struct cat_logged_row *x = cat_logged_rows_next(w->chunk, &w->at);
		if (x != NULL)
			return x;
		if (--w->left > 0)
			w->at = (++w->chunk)->from;
	}
	return NULL;
}

/* All values of a logged row; strings point into it, or into a logged value. */
static nam_status
values_of(
    const struct restore *r, const struct cat_table *def, const struct cat_logged_row *row, union cat_val *v)
{
	for (unsigned i = 0; i < def->columns; i++) {
		struct txn_blob b;
		bool null, spilled;
		if (!cat_row_value(def, i, row->bytes, row->len, &v[i], &null, &spilled, &b) || null)
			return NAM_CORRUPT;
		if (!spilled)
			continue;
		const struct cat_logged_value *x = cat_restore_value(r, &b);
		if (x == NULL)
			return NAM_CORRUPT;
		v[i].s = (struct cat_str){ x->bytes, x->len };
	}
	return NAM_OK;
}

static struct moved *
moved_of(const struct restore *r, uint64_t id)
{
	size_t low = 0, high = r->n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (r->moved[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < r->n && r->moved[low].id == id ? &r->moved[low] : NULL;
}

static int
by_id(const void *a, const void *b)
{
	const struct moved *x = a, *y = b;
	return (x->id > y->id) - (x->id < y->id);
}

static bool
is_temporary(struct cat_str path)
{
	char is[CAT_PATH_MAX + 1];
	snprintf(is, sizeof is, "%.*s", (int)(path.len < sizeof is ? path.len : sizeof is - 1), path.p);
	return cat_is_temporary(is) && !nam_fault(TEMP_KEPT);
}

/* The relations, and which of them have memory. */
static nam_status
find_relations(struct restore *r)
{
	const struct cat_table *def = &r->c->system[0]->def;
	union cat_val v[WIDEST];
	struct walk w = walk_of(r, 0);
	uint64_t n = cat_logged_rows_live(cat_replay_rows(r->log), def->store.id);
	r->last_id = cat_replay_last_id(r->log);
	if (n > 0 && (r->moved = calloc(n, sizeof *r->moved)) == NULL)
		return NAM_NOMEM;
	for (const struct cat_logged_row *row; (row = next_row(&w)) != NULL;) {
		struct moved *m = &r->moved[r->n++];
		if (values_of(r, def, row, v) != NAM_OK || v[T_ID].i < CAT_FIRST_ID || v[T_ID].i > UINT32_MAX)
			return NAM_CORRUPT;
		m->id = (uint32_t)v[T_ID].i;
		m->was = (uint64_t)v[T_ANCHOR].i;
		m->left_out = is_temporary(v[T_NAME].s);
		m->store = (struct txn_table){ .id = m->id,
			.slots = (uint16_t)v[T_SLOTS].i,
			.row_max = (uint32_t)v[T_ROW_BYTES].i,
			.listed = true };
		if (m->id > r->last_id)
			r->last_id = m->id;
	}
	if (r->n > 0)
		qsort(r->moved, r->n, sizeof *r->moved, by_id);
	for (size_t i = 1; i < r->n; i++)
		if (r->moved[i].id == r->moved[i - 1].id)
			return NAM_CORRUPT;
	return NAM_OK;
}

/* The number of words of each index's keys: in the definition of its table. */
static nam_status
find_indexes(struct restore *r)
{
	const struct cat_table *def = &r->c->system[2]->def;
	union cat_val v[WIDEST];
	struct walk w = walk_of(r, 2);
	for (const struct cat_logged_row *row; (row = next_row(&w)) != NULL;) {
		char head[96];
		unsigned id, words, flags;
		if (values_of(r, def, row, v) != NAM_OK)
			return NAM_CORRUPT;
		if (v[X_KIND].i != 'x')
			continue;
		snprintf(head, sizeof head, "%.*s",
		    (int)(v[X_TEXT].s.len < sizeof head ? v[X_TEXT].s.len : sizeof head - 1), v[X_TEXT].s.p);
		struct moved *m =
		    sscanf(head, "%u %*x %*x %*x %u %u", &id, &words, &flags) == 3 ? moved_of(r, id) : NULL;
		if (m == NULL || words < 1 || words > IDX_TREE_WORDS)
			return NAM_CORRUPT;
		m->index = true;
		m->words = words;
		/* The process that built it is gone, and its rows may have one key twice. */
		if ((flags & CAT_INDEX_IS_VALID) == 0)
			m->left_out = true;
	}
	return NAM_OK;
}

/* Memory for tables and indexes. */
static nam_status
make_all(struct restore *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct moved *m = &r->moved[i];
		if (m->left_out || m->was == 0)
			continue;
		if (m->index) {
			m->order = (struct txn_order){ .words = m->words };
			m->store.slots = 2;
			m->store.row_max = 0;
			m->store.order = &m->order;
			m->store.orders = 1;
		}
		nam_status st = txn_table_create(r->tw, &m->store);
		if (st != NAM_OK)
			return st;
	}
	return NAM_OK;
}

/* "id anchor tree maker ..." of an index with its new addresses. A process that was building it is
 * gone. */
static char *
index_text(struct restore *r, struct cat_str text, struct nam_arena *arena)
{
	unsigned id;
	int rest = 0;
	char *was = nam_arena_str(arena, text.p, text.len);
	if (was == NULL || sscanf(was, "%u %*x %*x %*x%n", &id, &rest) != 1 || rest == 0)
		return NULL;
	const struct moved *m = moved_of(r, id);
	return m == NULL
		   ? NULL
		   : nam_arena_printf(arena, "%u %llx %llx 0%s", id, (unsigned long long)m->store.anchor.bits,
			 (unsigned long long)m->store.tree, was + rest);
}

/* A sequence with a new word, where it goes on. */
static nam_status
sequence_text(struct restore *r, struct cat_str text, struct cat_str *out, struct nam_arena *arena)
{
	struct cat_sequence q;
	char *was = nam_arena_str(arena, text.p, text.len);
	if (was == NULL)
		return NAM_NOMEM;
	if (!cat_sequence_read(was, &q))
		return NAM_CORRUPT;
	const struct cat_logged_number *x = cat_replay_number(r->log, q.word.bits);
	int64_t next = x == NULL ? q.start : q.step > 0 ? x->high : x->low;
	nam_status st = cat_sequence_word(r->c, r->tw, next, &q);
	/* This life's log begins with where it was. */
	if (st == NAM_OK && x != NULL)
		st = cat_sequence_reset(r->tw, &q, next);
	if (st != NAM_OK)
		return st;
	char *is = cat_sequence_text(&q, arena);
	*out = (struct cat_str){ is, is != NULL ? (uint32_t)strlen(is) : 0 };
	return is != NULL ? NAM_OK : NAM_NOMEM;
}

/* One row of a system table, with its new addresses. *skip: it is of a relation that is left out.
 * */
static nam_status
renew(struct restore *r, unsigned table, union cat_val *v, bool *skip, struct nam_arena *arena)
{
	const struct moved *m;
	*skip = false;
	if (table > 2)
		return NAM_OK;
	m = moved_of(r, (uint64_t)v[table == 0 ? (unsigned)T_ID : (unsigned)X_TABLE].i);
	if (m == NULL) /* of no relation: it would be found by nothing */
		return table == 0 ? NAM_CORRUPT : NAM_OK;
	*skip = m->left_out;
	if (m->left_out)
		return NAM_OK;
	if (table == 0)
		v[T_ANCHOR].i = (int64_t)m->store.anchor.bits;
	if (table == 2 && v[X_KIND].i == 'x') {
		const char *was = nam_arena_str(arena, v[X_TEXT].s.p, v[X_TEXT].s.len);
		const struct moved *its = was != NULL ? moved_of(r, strtoul(was, NULL, 10)) : NULL;
		*skip = its != NULL && its->left_out;
		if (*skip)
			return NAM_OK;
		char *text = index_text(r, v[X_TEXT].s, arena);
		if (text == NULL)
			return NAM_CORRUPT;
		v[X_TEXT].s = (struct cat_str){ text, (uint32_t)strlen(text) };
	}
	if (table == 2 && v[X_KIND].i == 's')
		return sequence_text(r, v[X_TEXT].s, &v[X_TEXT].s, arena);
	return NAM_OK;
}

static nam_status
write_system(struct restore *r, struct txn *t, unsigned table, struct nam_arena *arena)
{
	const struct cat_table *def = &r->c->system[table]->def;
	struct txn_put put[TOGETHER];
	unsigned puts = 0;
	struct walk w = walk_of(r, table);
	nam_status st = NAM_OK;
	for (const struct cat_logged_row *row; st == NAM_OK && (row = next_row(&w)) != NULL;) {
		union cat_val v[WIDEST];
		bool skip;
		if ((st = values_of(r, def, row, v)) != NAM_OK ||
		    (st = renew(r, table, v, &skip, arena)) != NAM_OK)
			break;
		if (!skip)
			st = cat_system_put(def, t, v, &put[puts++], arena);
		if (st == NAM_OK && puts == TOGETHER) {
			st = txn_insert(t, put, puts);
			puts = 0;
		}
	}
	if (st == NAM_OK && puts > 0)
		st = txn_insert(t, put, puts);
	return st == NAM_DUPLICATE ? NAM_CORRUPT : st;
}

static nam_status
write_systems(struct restore *r)
{
	struct txn *t;
	struct nam_arena arena;
	nam_status st = txn_begin(r->tw, TXN_REPEATABLE_READ, &t);
	if (st != NAM_OK)
		return st;
	nam_arena_init(&arena, 64 << 10);
	txn_set_sync(t, false);
	txn_set_note(t, TSO_NOTE_CATALOG);
	for (unsigned i = 0; st == NAM_OK && i < CAT_SYSTEM; i++)
		st = write_system(r, t, i, &arena);
	if (st == NAM_OK)
		st = txn_commit(t, NULL);
	else
		txn_abort(t);
	nam_arena_fini(&arena);
	return st;
}

static nam_status
write_catalog(struct restore *r)
{
	unsigned tries = 0;
	nam_status st = find_relations(r);
	if (st == NAM_OK)
		st = find_indexes(r);
	if (st == NAM_OK)
		st = make_all(r);
	if (st != NAM_OK)
		return fail(r, st, "the catalog");
	while (runs_again(r, st = write_systems(r), &tries))
		continue;
	for (size_t i = 0; st == NAM_OK && i < r->n; i++)
		if (r->moved[i].store.anchor.bits != 0)
			st = txn_table_made(r->tw, &r->moved[i].store);
	return st == NAM_OK ? st : fail(r, st, "the catalog");
}

/* ---- all of it ---- */

/* Ids that were given out are not given out again. */
static nam_status
raise_ids(struct restore *r)
{
	struct net_worker *w = txn_worker_net(r->tw);
	net_addr at = txn_db_root(r->c->db, CAT_ROOT_NEXT_ID);
	uint64_t next = 0, want = r->last_id >= CAT_FIRST_ID ? r->last_id - CAT_FIRST_ID + 1 : 0, seen;
	nam_status st = net_read1(w, at, &next, sizeof next, NULL);
	while (st == NAM_OK && next < want && !nam_fault(IDS_AGAIN)) {
		st = net_cas1(w, at, next, want, &seen, NULL);
		if (st == NAM_OK && seen == next)
			break;
		next = seen;
	}
	return st == NAM_OK ? st : fail(r, st, "the catalog");
}

static void
told_of_log(void *arg, uint64_t done, uint64_t all)
{
	struct restore *r = arg;
	if (r->how->told != NULL)
		r->how->told(r->how->told_arg, CAT_RESTORING_LOG, done, all);
}

nam_status
cat_restore(struct cat *c, struct txn_worker *tw, const struct cat_restoring *how, struct cat_restored *out,
    struct nam_err *err)
{
	struct restore r = { .c = c, .tw = tw, .how = how, .out = out, .err = err };
	uint64_t rows;
	*out = (struct cat_restored){ 0 };
	nam_status st = cat_replay_open(
	    &r.log, txn_worker_net(tw), txn_db_log_node(c->db), how->stop, told_of_log, &r, err);
	if (st != NAM_OK)
		return st;
	cat_replay_counts(r.log, &out->records, &rows);
	st = write_catalog(&r);
	if (st == NAM_OK)
		st = raise_ids(&r);
	if (st == NAM_OK)
		st = cat_restore_rows(&r);
	free(r.moved);
	cat_replay_close(r.log);
	return st;
}
