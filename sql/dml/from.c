/*
 * from.c -- UPDATE ... FROM, DELETE ... USING: the query's rows kept, the target's rows locked, all
 * of them, and only then changed.
 *
 * A target row that several rows of the list use is changed once, as the first of
 * them says. A target row that turns out to have changed since the snapshot ends the attempt with
 * 40001: the join would have to be asked again.
 */
#include <sql/dml/dml_internal.h>
#include <sql/exec/rowset.h>

struct from {
	struct sql_change c;
	struct sql_rowset *rs;
	struct nam_arena *arena, *keep;
	uint32_t *slot; /* key -> row + 1 */
	uint64_t *hash; /* of each row */
	uint32_t mask, hashes;
	struct txn_row *row; /* the target's, one per row of rs */
};

static bool
grow(struct from *f)
{
	if (f->mask != 0 && f->rs->rows < f->hashes)
		return true;
	uint32_t cap = f->mask ? (f->mask + 1) * 2 : 1024;
	uint32_t *slot = nam_arena_zero(f->keep, cap * sizeof *slot);
	uint64_t *hash = nam_arena_take(f->keep, cap / 2 * sizeof *hash);
	if (slot == NULL || hash == NULL)
		return false;
	if (f->rs->rows > 0)
		memcpy(hash, f->hash, f->rs->rows * sizeof *hash);
	for (uint32_t r = 0; r < f->rs->rows; r++) {
		uint32_t i = (uint32_t)hash[r] & (cap - 1);
		while (slot[i] != 0)
			i = (i + 1) & (cap - 1);
		slot[i] = r + 1;
	}
	f->slot = slot;
	f->hash = hash;
	f->mask = cap - 1;
	f->hashes = cap / 2;
	return true;
}

/* Keeps the rows of the query's batch whose target row has not been seen yet. */
static bool
keep(struct from *f, const struct sql_node *from)
{
	unsigned keys = f->c.p->tab->keys;
	const uint16_t *sel = sql_sel(from);
	const struct cat_vec **col = nam_arena_take(f->arena, f->rs->cols * sizeof *col);
	if (col == NULL)
		return false;
	for (unsigned c = 0; c < f->rs->cols; c++)
		col[c] = &from->out.col[c];
	unsigned n = from->sel ? from->nsel : from->out.n;
	for (unsigned k = 0; k < n; k++) {
		uint64_t h = sql_hash_row(from->out.col, keys, sel[k]);
		if (!grow(f))
			return false;
		uint32_t i = (uint32_t)h & f->mask;
		while (f->slot[i] != 0 &&
		       (f->hash[f->slot[i] - 1] != h ||
			   !sql_same_row(f->rs, f->slot[i] - 1, 0, from->out.col, keys, sel[k])))
			i = (i + 1) & f->mask;
		if (f->slot[i] != 0)
			continue;
		f->hash[f->rs->rows] = h;
		if (!sql_rowset_add(f->rs, col, &sel[k], 1))
			return false;
		f->slot[i] = f->rs->rows;
	}
	return true;
}

static bool
lost_race(struct sql_exec *x)
{
	return cat_error(x->err, "40001", "could not serialize access due to concurrent update");
}

/* Finds the target rows of rs rows at .. at+n-1 by the hash of their keys. */
static bool
find_hashed(struct from *f, uint32_t at, unsigned n)
{
	struct sql_exec *x = f->c.x;
	const struct cat_table *tab = f->c.p->tab;
	struct txn_get *g = nam_arena_take(f->arena, n * sizeof *g);
	if (g == NULL)
		return sql_no_memory(x->err);
	for (unsigned i = 0; i < n; i++) {
		union cat_val v[CAT_KEY_MAX];
		struct cat_str key;
		for (unsigned k = 0; k < tab->keys; k++)
			v[k] = sql_rowset_at(f->rs, at + i, k);
		g[i] = (struct txn_get){ .table = (struct txn_table *)&tab->store };
		nam_status st = cat_key_encode(tab, v, &key, &g[i].hash, f->arena);
		if (st != NAM_OK)
			return sql_status(x->err, st, tab);
		g[i].key = key.p;
		g[i].key_len = key.len;
	}
	nam_status st = txn_get(x->t, g, n, f->keep);
	for (unsigned i = 0; i < n && st == NAM_OK; i++) {
		if (g[i].status == NAM_ABSENT)
			return lost_race(x);
		st = g[i].status;
		f->row[at + i] = g[i].row;
	}
	return st == NAM_OK || sql_status(x->err, st, tab);
}

/* Likewise by the index of the primary key. */
static bool
find_ordered(struct from *f, uint32_t at, unsigned n)
{
	struct sql_exec *x = f->c.x;
	const struct cat_table *tab = f->c.p->tab;
	const struct cat_index *ix = &tab->index[cat_key_order(tab)];
	struct txn_seek *s = nam_arena_zero(f->arena, n * sizeof *s);
	uint64_t(*words)[IDX_TREE_WORDS] = nam_arena_zero(f->arena, n * sizeof *words);
	union cat_val *v = nam_arena_zero(f->arena, tab->columns * sizeof *v);
	if (s == NULL || words == NULL || v == NULL)
		return sql_no_memory(x->err);
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < tab->keys; k++)
			v[tab->key[k]] = sql_rowset_at(f->rs, at + i, k);
		s[i] = (struct txn_seek){ .table = (struct txn_table *)(uintptr_t)&tab->store,
			.order = (unsigned)(ix - tab->index),
			.key = words[i] };
		if (!cat_index_key(tab, ix, v, NULL, words[i], NULL, f->arena, x->err))
			return false;
	}
	nam_status st = txn_seek(x->t, s, n, f->keep);
	for (unsigned i = 0; i < n && st == NAM_OK; i++) {
		if (s[i].status == NAM_ABSENT || s[i].status == NAM_DUPLICATE)
			return lost_race(x);
		st = s[i].status;
		f->row[at + i] = s[i].row;
	}
	return st == NAM_OK || sql_status(x->err, st, tab);
}

/* Finds and locks the target rows of rs rows at .. at+n-1. */
static bool
lock(struct from *f, uint32_t at, unsigned n)
{
	struct sql_exec *x = f->c.x;
	const struct cat_table *tab = f->c.p->tab;
	nam_status *each = nam_arena_take(f->arena, n * sizeof *each);
	if (each == NULL)
		return sql_no_memory(x->err);
	if (!(cat_is_hashed(tab) ? find_hashed(f, at, n) : find_ordered(f, at, n)))
		return false;
	for (unsigned i = 0; i < n; i++)
		each[i] = NAM_OK;
	nam_status st = txn_lock_many(x->t, (struct txn_table *)&tab->store, f->row + at, each, n);
	for (unsigned i = 0; i < n; i++) {
		if (f->row[at + i].changed)
			txn_cover(x->t, f->row[at + i].newest);
		if (each[i] == NAM_ABSENT || f->row[at + i].changed)
			return lost_race(x);
		if (each[i] != NAM_OK)
			return sql_status(x->err, each[i], tab);
	}
	return st == NAM_OK || sql_status(x->err, st, tab);
}

static bool
change(struct from *f, uint32_t at, unsigned n)
{
	struct sql_exec *x = f->c.x;
	struct sql_plan *p = f->c.p;
	const struct cat_table *tab = p->tab;
	struct sql_batch b = { .cols = p->from->width, .n = n }, nb;
	uint16_t *want = nam_arena_take(f->arena, tab->columns * sizeof *want);
	if (want == NULL || (b.col = nam_arena_zero(f->arena, b.cols * sizeof *b.col)) == NULL)
		return sql_no_memory(x->err);
	for (unsigned c = 0; c < tab->columns; c++)
		want[c] = (uint16_t)c;
	nam_status st = cat_rows_decode(tab, x->t, f->row + at, n, want, tab->columns, b.col, f->arena);
	if (st != NAM_OK)
		return sql_status(x->err, st, tab);
	uint32_t index[SQL_INSERT_ROWS];
	for (unsigned i = 0; i < n; i++)
		index[i] = at + i;
	for (unsigned c = tab->keys; c < f->rs->cols; c++)
		if (!sql_rowset_gather(f->rs, c, index, n, &b.col[p->from->wide[c]], f->arena))
			return sql_no_memory(x->err);
	nb = b;
	if (p->kind == AST_UPDATE ? !sql_dml_update(&f->c, &b, f->row + at, sql_ident(), n, &nb, f->arena)
				  : !sql_dml_delete(&f->c, f->row + at, sql_ident(), n))
		return false;
	return sql_dml_answer(x, p, &nb, sql_ident(), n, f->arena);
}

bool
sql_dml_from(struct sql_exec *x, struct sql_plan *p, uint64_t *count)
{
	struct from f = { .c = { .x = x, .p = p, .sets = &p->sets },
		.arena = x->arena[p->arena_base],
		.keep = x->arena[p->arena_base + 2] };
	f.c.last = &f.c.moved;
	if ((f.rs = sql_rowset_open(f.keep, p->from->type, p->from->cols)) == NULL)
		return sql_no_memory(x->err);
	int rows;
	while ((rows = sql_next(x, p->root)) > 0) {
		nam_arena_reset(f.arena);
		if (!keep(&f, p->root))
			return sql_no_memory(x->err);
	}
	if (rows < 0)
		return false;
	sql_close(x, p->root);
	uint32_t n = f.rs->rows;
	if ((f.row = nam_arena_take(f.keep, n * sizeof *f.row)) == NULL)
		return sql_no_memory(x->err);
	for (uint32_t at = 0; at < n; at += SQL_INSERT_ROWS) {
		nam_arena_reset(f.arena);
		if (!sql_go_on(x) || !lock(&f, at, n - at < SQL_INSERT_ROWS ? n - at : SQL_INSERT_ROWS))
			return false;
	}
	for (uint32_t at = 0; at < n; at += SQL_INSERT_ROWS) {
		nam_arena_reset(f.arena);
		if (!sql_go_on(x) || !change(&f, at, n - at < SQL_INSERT_ROWS ? n - at : SQL_INSERT_ROWS))
			return false;
	}
	nam_arena_reset(f.arena);
	*count = f.c.count;
	return sql_dml_settle(&f.c) && (p->tab->indexes == 0 || sql_dml_unique(x, f.arena, NULL));
}
