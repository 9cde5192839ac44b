/*
 * checkpoint.c -- what a checkpoint appends: all rows of the system's and the users' tables, the
 * long values that they name, what sequences have given out (checkpoint.h, J7).
 *
 * A table that was made after the checkpoint's begin has all its rows behind the begin already, and
 * so has one that was rewritten; one that has been dropped needs none. So the list of tables is
 * read once. Temporary relations are not restored, and are left out.
 */
#include "checkpoint.h"

#include <catalog/by_id.h>
#include <catalog/catalog_internal.h>
#include <catalog/path.h>

#include <stdlib.h>
#include <string.h>

/* Extents of a part: of a table with long values, whose bytes may be many, fewer. */
enum { TOGETHER = 64, EXTENTS_A_PART = 128, EXTENTS_WITH_VALUES = 8 };

struct keeping {
	struct cat *c;
	struct txn_worker *tw;
	struct txn_checkpoint *k;
	struct txn_limits limits; /* of each part's transaction */
};

/* A table, and its extents. */
struct kept {
	uint32_t id;
	struct cat_entry *system; /* NULL: a user's */
	uint64_t anchor;
	uint64_t *extent; /* of malloc; the newest first */
	uint32_t n, a_part;
};

static nam_status
keep_values(struct keeping *g, struct txn *t, const struct cat_table *tab, const struct txn_row *row,
    struct nam_arena *arena)
{
	uint32_t where[TXN_BLOBS_MAX];
	struct txn_blob b[TXN_BLOBS_MAX];
	const void *bytes[TXN_BLOBS_MAX];
	unsigned n =
	    tab->store.blobs != NULL ? cat_row_spills(tab, row->bytes, row->len, where, TXN_BLOBS_MAX) : 0;
	nam_status st = NAM_OK;
	if (n == 0)
		return NAM_OK;
	for (unsigned i = 0; i < n; i++)
		memcpy(&b[i], (const char *)row->bytes + where[i], sizeof b[i]);
	/* One at a time: each may have hundreds of megabytes. */
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		nam_arena_reset(arena);
		st = txn_blob_get(t, &b[i], 1, &bytes[i], arena);
		if (st == NAM_OK)
			st = txn_checkpoint_value(g->k, &tab->store, &b[i], bytes[i]);
	}
	return st;
}

/* The rows of a scan that has been opened, to its end. */
static nam_status
keep_rows(struct keeping *g, struct txn *t, const struct cat_table *tab, struct txn_scan *scan,
    struct txn_row *rows, struct nam_arena *arena)
{
	nam_status st;
	unsigned n = 0;
	while ((st = txn_scan_next(scan, rows, TOGETHER, &n)) == NAM_OK && n > 0) {
		for (unsigned i = 0; st == NAM_OK && i < n; i++)
			if ((st = keep_values(g, t, tab, &rows[i], arena)) == NAM_OK)
				st = txn_checkpoint_row(g->k, &tab->store, &rows[i]);
		if (st == NAM_OK)
			st = txn_checkpoint_go_on(g->k);
		if (st != NAM_OK)
			return st;
		nam_co_yield();
	}
	return st;
}

/* The part of a table from its extent number `from` on; from 0: also finds how many there are. */
static nam_status
keep_part_of(struct keeping *g, struct txn *t, struct kept *x, uint32_t from)
{
	const struct cat_table *tab = x->system != NULL ? &x->system->def : NULL;
	struct txn_scan *scan;
	struct nam_arena arena;
	unsigned blocks;
	nam_status st = tab == NULL ? cat_of_id(g->c, t, x->id, &tab) : NAM_OK;
	if (st != NAM_OK || tab == NULL || (from > 0 && tab->store.anchor.bits != x->anchor))
		return st; /* dropped meanwhile */
	x->anchor = tab->store.anchor.bits;
	x->a_part = tab->store.blobs != NULL ? EXTENTS_WITH_VALUES : EXTENTS_A_PART;
	struct txn_table *store = (struct txn_table *)(uintptr_t)&tab->store;
	if ((st = txn_scan_open_parts(t, store, &scan)) != NAM_OK)
		return st;
	nam_arena_init(&arena, 64 << 10);
	struct txn_row *rows = calloc(TOGETHER, sizeof *rows);
	if (rows == NULL)
		st = NAM_NOMEM;
	if (st == NAM_OK && from == 0)
		st = txn_scan_chain(scan, 0, &x->extent, &x->n, &blocks);
	if (st == NAM_OK && x->n > 0) {
		uint32_t to = from + x->a_part;
		txn_scan_part(scan, x->extent[from], to < x->n ? x->extent[to] : 0);
		st = keep_rows(g, t, tab, scan, rows, &arena);
	}
	txn_scan_close(scan);
	free(rows);
	nam_arena_fini(&arena);
	return st;
}

/* In a transaction of its own, which ends when its rows have been received (J8). */
static nam_status
keep_part(struct keeping *g, struct kept *x, uint32_t from)
{
	struct txn *t;
	nam_status st = txn_checkpoint_go_on(g->k);
	txn_reach(g->tw);
	if (st == NAM_OK)
		st = txn_begin_by(g->tw, TXN_REPEATABLE_READ, &g->limits, &t);
	if (st != NAM_OK)
		return st;
	st = keep_part_of(g, t, x, from);
	nam_status received = txn_checkpoint_received(g->k); /* also after an error */
	txn_abort(t);
	return st != NAM_OK ? st : received;
}

static nam_status
keep_table(struct keeping *g, uint32_t id, struct cat_entry *system)
{
	struct kept x = { .id = id, .system = system };
	nam_status st = keep_part(g, &x, 0);
	for (uint32_t from = x.a_part; st == NAM_OK && from < x.n; from += x.a_part)
		st = keep_part(g, &x, from);
	free(x.extent);
	return st;
}

/* The users' tables as they are now, in memory of malloc. */
static nam_status
list_tables(struct keeping *g, uint32_t **id, unsigned *n)
{
	const struct cat_table **list;
	struct nam_arena arena;
	struct txn *t;
	unsigned all;
	nam_status st = txn_begin_by(g->tw, TXN_REPEATABLE_READ, &g->limits, &t);
	if (st != NAM_OK)
		return st;
	nam_arena_init(&arena, 64 << 10);
	st = cat_list(g->c, t, &list, &all, &arena);
	if (st == NAM_OK && (*id = malloc((all + 1) * sizeof **id)) == NULL)
		st = NAM_NOMEM;
	for (unsigned i = 0; st == NAM_OK && i < all; i++)
		if (list[i]->kind == CAT_TABLE && !list[i]->system && !cat_is_temporary(list[i]->path))
			(*id)[(*n)++] = list[i]->store.id;
	txn_abort(t);
	nam_arena_fini(&arena);
	return st;
}

static nam_status
keep_ids(struct keeping *g)
{
	uint64_t next = 0;
	nam_status st = net_read1(
	    txn_worker_net(g->tw), txn_db_root(g->c->db, CAT_ROOT_NEXT_ID), &next, sizeof next, NULL);
	/* It counts on behind the last one that there is. */
	if (next > UINT32_MAX - CAT_FIRST_ID)
		next = UINT32_MAX - CAT_FIRST_ID;
	return st == NAM_OK ? txn_checkpoint_ids(g->k, CAT_FIRST_ID + next) : st;
}

nam_status
cat_checkpoint(struct cat *c, struct txn_worker *tw, const struct txn_checkpoint_limits *limits,
    struct cat_checkpointed *out)
{
	struct keeping g = {
		.c = c, .tw = tw, .limits = { .until_ns = limits->until_ns, .cancel = limits->cancel }
	};
	uint32_t *id = NULL;
	unsigned n = 0;
	*out = (struct cat_checkpointed){ 0 };
	nam_status st = txn_checkpoint_begin(tw, limits, &g.k);
	if (st != NAM_OK)
		return st;
	st = keep_ids(&g);
	if (st == NAM_OK)
		st = cat_sequences_keep(c, tw, g.k);
	for (unsigned i = 0; st == NAM_OK && i < CAT_SYSTEM; i++)
		st = keep_table(&g, 0, c->system[i]);
	if (st == NAM_OK)
		st = list_tables(&g, &id, &n);
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		st = keep_table(&g, id[i], NULL);
	free(id);
	txn_checkpoint_counts(g.k, &out->is);
	out->tables = n;
	if (st == NAM_OK)
		return txn_checkpoint_end(g.k);
	txn_checkpoint_quit(g.k);
	return st;
}
