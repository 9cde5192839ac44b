/* tables.c -- every row by its key and every entry of an index, after whatever has happened. */
#include "cluster.h"

#include <index/index.h>
#include <net/net.h>
#include <txn/txn_internal.h>

enum { ROWS = 256 };

struct judged {
	struct cluster *c;
	struct place *at;
	struct txn *t;
	const struct cat_table *table;
	uint64_t *entry; /* blocks that the index leads to */
	size_t entries, cap;
	size_t live;
};

static void
note_entry(void *arg, net_addr block)
{
	struct judged *j = arg;
	if (j->entries == j->cap) {
		j->cap = j->cap ? 2 * j->cap : 256;
		j->entry = realloc(j->entry, j->cap * sizeof *j->entry);
		if (j->entry == NULL)
			abort();
	}
	j->entry[j->entries++] = block.bits;
}

static int
by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* A row is what its key leads to. */
static void
judge_rows(struct judged *j, const struct txn_row *row, unsigned n, struct nam_arena *arena)
{
	const struct cat_table *def = j->table;
	struct cat_vec *col = nam_arena_zero(arena, def->keys * sizeof *col);
	nam_status st = cat_rows_decode(def, j->t, row, n, def->key, def->keys, col, arena);
	if (st != NAM_OK) {
		cluster_bad(j->c, "%s: rows cannot be decoded: %s", def->path, nam_status_text(st));
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		union cat_val v[CAT_KEY_MAX];
		struct cat_str key;
		struct txn_get g = { .table = (struct txn_table *)(uintptr_t)&def->store };
		for (unsigned k = 0; k < def->keys; k++)
			v[k] = cat_vec_at(&col[k], i);
		st = cat_key_encode(def, v, &key, &g.hash, arena);
		g.key = key.p;
		g.key_len = key.len;
		if (st == NAM_OK && (st = txn_get(j->t, &g, 1, arena)) == NAM_OK)
			st = g.status;
		if (st != NAM_OK)
			cluster_bad(
			    j->c, "%s: a row is not found by its key: %s", def->path, nam_status_text(st));
		else if (g.row.at.bits != row[i].at.bits)
			cluster_bad(j->c, "%s: two rows have one key", def->path);
		if (bsearch(&row[i].at.bits, j->entry, j->entries, sizeof *j->entry, by_address) == NULL)
			cluster_bad(j->c, "%s: no entry leads to a row's block", def->path);
	}
}

/* Each row is found by the index of its primary key, and alone. */
static void
judge_ordered(struct judged *j, const struct txn_row *row, unsigned n, struct nam_arena *arena)
{
	const struct cat_table *def = j->table;
	int order = cat_key_order(def);
	union cat_val *v = nam_arena_zero(arena, def->columns * sizeof *v);
	struct cat_vec col[CAT_KEY_MAX];
	struct cat_err err = { .sqlstate = "" };
	nam_status st = cat_rows_decode(def, j->t, row, n, def->key, def->keys, col, arena);
	if (v == NULL || st != NAM_OK) {
		cluster_bad(j->c, "%s: rows cannot be decoded: %s", def->path, nam_status_text(st));
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		uint64_t words[IDX_TREE_WORDS] = { 0 };
		struct txn_seek s = { .table = (struct txn_table *)(uintptr_t)&def->store,
			.order = (unsigned)order,
			.key = words };
		for (unsigned k = 0; k < def->keys; k++)
			v[def->key[k]] = cat_vec_at(&col[k], i);
		if (!cat_index_key(def, &def->index[order], v, NULL, words, NULL, arena, &err)) {
			cluster_bad(j->c, "%s: a row has no key: %s", def->path, err.text);
			return;
		}
		if ((st = txn_seek(j->t, &s, 1, arena)) == NAM_OK)
			st = s.status;
		if (st == NAM_DUPLICATE)
			cluster_bad(j->c, "%s: two rows have one key", def->path);
		else if (st != NAM_OK || s.row.at.bits != row[i].at.bits)
			cluster_bad(
			    j->c, "%s: a row is not found by its index: %s", def->path, nam_status_text(st));
	}
}

static void
judge_table(struct judged *j, struct tables_found *out)
{
	bool hashed = cat_is_hashed(j->table);
	struct txn_table *store = (struct txn_table *)(uintptr_t)&j->table->store;
	struct nam_arena arena;
	struct txn_scan *scan = NULL;
	struct txn_row row[ROWS];
	unsigned n = 0;
	nam_arena_init(&arena, 0);
	j->entries = j->live = 0;
	nam_status st = NAM_OK;
	struct idx_shape shape = { 0 };
	if (hashed && (st = idx_hash_shape(j->at->w, store->view->index, &shape)) == NAM_OK)
		st = idx_walk(j->at->w, store->view->index, note_entry, j);
	if (j->entries > 0)
		qsort(j->entry, j->entries, sizeof *j->entry, by_address);
	/* Half split by a dead process, not yet noticed: the old half of it is also shown. */
	out->half_split += shape.holder != 0;
	for (size_t i = 1; shape.holder == 0 && i < j->entries; i++)
		if (j->entry[i] == j->entry[i - 1])
			cluster_bad(j->c, "%s: two entries lead to one block", j->table->path);
	if (st == NAM_OK)
		st = txn_scan_open(j->t, store, &scan);
	while (st == NAM_OK && (st = txn_scan_next(scan, row, ROWS, &n)) == NAM_OK && n > 0) {
		if (hashed)
			judge_rows(j, row, n, &arena);
		else if (j->table->keys > 0)
			judge_ordered(j, row, n, &arena);
		j->live += n;
		nam_arena_reset(&arena);
	}
	if (scan != NULL)
		txn_scan_close(scan);
	uint64_t locked = 0;
	if (st == NAM_OK)
		st = txn_table_locks(j->t, store, &locked);
	if (st != NAM_OK)
		cluster_bad(j->c, "%s cannot be read: %s", j->table->path, nam_status_text(st));
	out->tables++;
	out->rows += (unsigned)j->live;
	out->entries += (unsigned)j->entries;
	out->left += hashed && j->entries > j->live ? (unsigned)(j->entries - j->live) : 0;
	out->locked += locked;
	nam_arena_fini(&arena);
}

void
tables_judge(struct cluster *c, unsigned p, struct tables_found *out)
{
	struct judged j = { .c = c, .at = &c->place[p] };
	struct nam_arena arena;
	const struct cat_table **list;
	unsigned n = 0;
	memset(out, 0, sizeof *out);
	nam_status st = txn_begin(j.at->tw, TXN_REPEATABLE_READ, &j.t);
	if (st != NAM_OK) {
		cluster_bad(c, "process %u cannot begin: %s", p, nam_status_text(st));
		return;
	}
	nam_arena_init(&arena, 0);
	if ((st = cat_list(j.at->cat, j.t, &list, &n, &arena)) != NAM_OK)
		cluster_bad(c, "the catalog cannot be read: %s", nam_status_text(st));
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		if ((j.table = list[i])->kind == CAT_TABLE)
			judge_table(&j, out);
	txn_abort(j.t);
	free(j.entry);
	nam_arena_fini(&arena);
}
