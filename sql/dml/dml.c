/*
 * dml.c -- INSERT, UPDATE, DELETE: rows checked, encoded and handed to txn.
 *
 * An UPDATE or DELETE finds all its rows before it changes one, so it never meets a row that it
 * wrote itself. Then it locks them together. If a row has changed meanwhile (READ COMMITTED), it is
 * read again and WHERE is evaluated again.
 */
#include <sql/dml/dml_internal.h>
#include <sql/exec/rowset.h>

#include <stdio.h>

/* ---- errors that quote a row ------------------------------------------------------- */

void
sql_quote_row(struct sql_exec *x, const struct cat_table *tab, const union cat_val *v, const bool *null,
    struct nam_arena *arena)
{
	char *out = x->err->detail;
	size_t max = sizeof x->err->detail, at = (size_t)snprintf(out, max, "Failing row contains (");
	for (unsigned c = 0; c < tab->columns && at < max; c++) {
		struct cat_str s = { "null", 4 };
		if (!null[c])
			s = cat_value_show(tab->column[c].type, v[c], *x->env.floats, arena);
		bool cut = s.len > 64;
		at += (size_t)snprintf(out + at, max - at, "%s%.*s%s", c ? ", " : "", cut ? 64 : (int)s.len,
		    s.p, cut ? "..." : "");
	}
	if (at < max)
		snprintf(out + at, max - at, ").");
}

/* Columns key[0..keys) of a row with values v, of which another row has the same. */
static bool
exists(struct sql_exec *x, const struct cat_table *tab, const char *name, const uint16_t *key, unsigned keys,
    const union cat_val *v, const bool *null, struct nam_arena *arena)
{
	if (txn_is_overtaken(x->t))
		return sql_status(x->err, NAM_CONFLICT, NULL);
	cat_error(x->err, "23505", "duplicate key value violates unique constraint \"%s\"", name);
	cat_error_about(x->err, cat_local(tab->path), NULL, name);
	char *out = x->err->detail;
	size_t max = sizeof x->err->detail, at = (size_t)snprintf(out, max, "Key (");
	for (unsigned k = 0; k < keys && at < max; k++)
		at += (size_t)snprintf(out + at, max - at, "%s%s", k ? ", " : "", tab->column[key[k]].name);
	if (at < max)
		at += (size_t)snprintf(out + at, max - at, ")=(");
	for (unsigned k = 0; k < keys && at < max; k++) {
		struct cat_str s = { "null", 4 };
		if (null == NULL || !null[key[k]])
			s = cat_value_show(tab->column[key[k]].type, v[key[k]], *x->env.floats, arena);
		at += (size_t)snprintf(
		    out + at, max - at, "%s%.*s", k ? ", " : "", s.len > 100 ? 100 : (int)s.len, s.p);
	}
	if (at < max)
		snprintf(out + at, max - at, ") already exists.");
	return false;
}

static bool
duplicate(struct sql_exec *x, const struct cat_table *tab, const union cat_val *v, struct nam_arena *arena)
{
	char name[CAT_NAME_MAX + 8];
	return exists(x, tab, cat_key_name(tab, name), tab->key, tab->keys, v, NULL, arena);
}

/* sql_dml_unique; clash: the row that it is about, table NULL = of none. */
static bool
look_unique(struct sql_exec *x, struct nam_arena *arena, int *which, struct txn_clash *clash)
{
	*clash = (struct txn_clash){ 0 };
	nam_status st = txn_unique(x->t, clash);
	if (st == NAM_OK)
		return true;
	if (st != NAM_DUPLICATE)
		return sql_status(x->err, st, NULL);
	const struct cat_table *tab = clash->table->owner;
	const struct cat_index *ix = &tab->index[clash->order];
	const struct txn_row row = { .bytes = clash->bytes, .len = clash->len };
	if (which != NULL)
		*which = (int)clash->order;
	uint16_t want[CAT_KEY_MAX];
	struct cat_vec col[CAT_KEY_MAX];
	union cat_val *v = nam_arena_zero(arena, tab->columns * sizeof *v);
	bool *null = nam_arena_zero(arena, tab->columns * sizeof *null);
	if (v == NULL || null == NULL)
		return sql_no_memory(x->err);
	for (unsigned k = 0; k < ix->keys; k++)
		want[k] = ix->key[k].column;
	st = cat_rows_decode(tab, x->t, &row, 1, want, ix->keys, col, arena);
	if (st != NAM_OK)
		return sql_status(x->err, st, tab);
	for (unsigned k = 0; k < ix->keys; k++) {
		v[want[k]] = cat_vec_at(&col[k], 0);
		null[want[k]] = col[k].null[0];
	}
	return exists(x, tab, ix->name, want, ix->keys, v, null, arena);
}

bool
sql_dml_unique(struct sql_exec *x, struct nam_arena *arena, int *which)
{
	struct txn_clash clash;
	return look_unique(x, arena, which, &clash);
}

/* ---- one row, from vectors to bytes -------------------------------------------------- */

static bool
is_key(const struct cat_table *tab, unsigned c)
{
	for (unsigned k = 0; k < tab->keys; k++)
		if (tab->key[k] == c)
			return true;
	return false;
}

/* Takes row k of a batch of all columns into r, with its checks; only columns of `check` (NULL:
 * all) need any. */
bool
sql_dml_take(struct sql_exec *x, const struct cat_table *tab, const struct cat_vec *col, unsigned k,
    struct sql_row *r, const uint16_t *check, unsigned checks, struct nam_arena *arena)
{
	for (unsigned c = 0; c < tab->columns; c++) {
		r->null[c] = col[c].null[k];
		r->v[c] = cat_vec_at(&col[c], k);
	}
	for (unsigned i = 0; i < checks; i++) {
		unsigned c = check ? check[i] : i;
		const struct cat_column *d = &tab->column[c];
		if (r->null[c]) {
			if (!d->not_null && !is_key(tab, c))
				continue;
			cat_error(x->err, "23502",
			    "null value in column \"%s\" of relation \"%s\" violates not-null constraint",
			    d->name, cat_local(tab->path));
			cat_error_about(x->err, cat_local(tab->path), d->name, NULL);
			sql_quote_row(x, tab, r->v, r->null, arena);
			return false;
		}
		if (d->typmod != -1 && !cat_value_fit(d->type, d->typmod, &r->v[c], arena, x->err))
			return false;
	}
	return true;
}

bool
sql_index_too_long(const struct cat_index *ix, struct cat_err *err)
{
	if (strcmp(err->sqlstate, "54000") != 0)
		return false;
	cat_error(err, "54000", "index row size exceeds btree maximum 2704 for index \"%s\"", ix->name);
	snprintf(err->hint, sizeof err->hint, "Values of an indexed column must be shorter.");
	return false;
}

/* The keys of a row in the table's indexes are not too long. */
static bool
keys_fit(struct sql_exec *x, const struct cat_table *tab, const struct sql_row *r, struct nam_arena *arena)
{
	enum { SHORT = 512 }; /* such values always fit, as texts, numbers and arrays */
	uint64_t words[IDX_TREE_WORDS];
	for (unsigned i = 0; i < tab->indexes; i++) {
		const struct cat_index *ix = &tab->index[i];
		uint64_t bytes = 0;
		for (unsigned k = 0; !ix->whole && k < ix->keys; k++)
			if (!r->null[ix->key[k].column] &&
			    cat_type_is_str(tab->column[ix->key[k].column].type))
				bytes += r->v[ix->key[k].column].s.len;
		if (bytes > SHORT && !cat_index_key(tab, ix, r->v, r->null, words, NULL, arena, x->err))
			return sql_index_too_long(ix, x->err);
	}
	return true;
}

bool
sql_dml_row(struct sql_exec *x, const struct cat_table *tab, const struct sql_row *r, struct cat_str *out,
    struct nam_arena *arena)
{
	if (tab->indexes > 0 && !keys_fit(x, tab, r, arena))
		return false;
	nam_status st = cat_row_encode(tab, x->t, r->v, r->null, out, arena);
	if (st == NAM_INVALID)
		return cat_error(
		    x->err, "54000", "row is too big: it does not fit table \"%s\"", cat_local(tab->path));
	return st == NAM_OK || sql_status(x->err, st, tab);
}

bool
sql_dml_key(struct sql_exec *x, const struct cat_table *tab, const struct sql_row *r, struct cat_str *out,
    uint64_t *hash, struct nam_arena *arena)
{
	union cat_val key[CAT_KEY_MAX];
	for (unsigned k = 0; k < tab->keys; k++)
		key[k] = r->v[tab->key[k]];
	nam_status st = cat_key_encode(tab, key, out, hash, arena);
	return st == NAM_OK || sql_status(x->err, st, tab);
}

bool
sql_dml_new(struct sql_exec *x, const struct cat_table *tab, struct sql_row *r, struct nam_arena *arena)
{
	r->v = nam_arena_take(arena, tab->columns * sizeof *r->v);
	r->null = nam_arena_take(arena, tab->columns * sizeof *r->null);
	return (r->v != NULL && r->null != NULL) || sql_no_memory(x->err);
}

/* ---- INSERT ---------------------------------------------------------------------------- */

/* set: columns that are new, NULL = all. */
static bool
put_of(struct sql_exec *x, const struct cat_table *tab, const struct sql_row *r, const uint16_t *set,
    unsigned sets, struct txn_put *p, struct nam_arena *arena)
{
	struct cat_str bytes, key = { NULL, 0 };
	*p = (struct txn_put){ .table = (struct txn_table *)&tab->store };
	if (!sql_foreign_put(x, tab, r, set, sets) || !sql_dml_row(x, tab, r, &bytes, arena) ||
	    (cat_is_hashed(tab) && !sql_dml_key(x, tab, r, &key, &p->hash, arena)))
		return false;
	p->bytes = bytes.p;
	p->len = bytes.len;
	p->key = key.p;
	p->key_len = key.len;
	return true;
}

bool
sql_dml_put(struct sql_exec *x, const struct cat_table *tab, const struct sql_row *r, struct txn_put *p,
    struct nam_arena *arena)
{
	return put_of(x, tab, r, NULL, 0, p, arena);
}

bool
sql_dml_insert_what(struct sql_exec *x, const struct cat_table *tab, struct txn_put *p,
    const struct sql_row *r, unsigned n, struct nam_arena *arena, int *which)
{
	if (which != NULL)
		*which = SQL_PRIMARY_KEY;
	nam_status st = txn_insert(x->t, p, n);
	struct txn_clash clash;
	if (st == NAM_OK && (tab->indexes == 0 || look_unique(x, arena, which, &clash)))
		return true;
	if (st == NAM_OK && clash.table == &tab->store) {
		/* It is the last one, if several are the same. */
		for (unsigned k = n; k-- > 0;)
			if (p[k].len == clash.len && memcmp(p[k].bytes, clash.bytes, clash.len) == 0) {
				x->bad_row = k;
				break;
			}
	}
	if (st == NAM_OK)
		return false;
	for (unsigned k = 0; k < n && st == NAM_DUPLICATE; k++)
		if (p[k].status == NAM_DUPLICATE) {
			x->bad_row = k;
			return duplicate(x, tab, r[k].v, arena);
		}
	return sql_status(x->err, st, tab);
}

bool
sql_dml_insert(struct sql_exec *x, const struct cat_table *tab, struct txn_put *p, const struct sql_row *r,
    unsigned n, struct nam_arena *arena)
{
	return sql_dml_insert_what(x, tab, p, r, n, arena, NULL);
}

/* The first n rows, checked and as txn wants them. Returns how many; less than n: *err. */
static unsigned
rows_of(struct sql_exec *x, const struct cat_table *tab, const struct sql_batch *b, unsigned n,
    struct sql_row *r, struct txn_put *p, struct nam_arena *arena)
{
	for (unsigned k = 0; k < n; k++) {
		x->bad_row = k;
		if (!sql_dml_new(x, tab, &r[k], arena) ||
		    !sql_dml_take(x, tab, b->col, k, &r[k], NULL, tab->columns, arena) ||
		    !sql_dml_put(x, tab, &r[k], &p[k], arena))
			return k;
	}
	return n;
}

/* How many rows stand before the first that breaks a rule, all of them as txn wants them. Less than
 * all: *err is that row's, and x->bad_row is its number. */
static unsigned
good_rows(struct sql_exec *x, const struct cat_table *tab, const struct sql_batch *b, struct sql_row *r,
    struct txn_put *p, struct nam_arena *arena)
{
	unsigned n = b->n, good;
	x->bad_row = 0;
	bool checked = sql_check_rows(x, tab, b, NULL, n, arena);
	struct cat_err why;
	if (!checked) {
		n = x->bad_row;
		why = *x->err;
	}
	good = rows_of(x, tab, b, n, r, p, arena);
	if (!checked && good == n) {
		*x->err = why;
		x->bad_row = n;
	}
	return good;
}

bool
sql_insert_batch(
    struct sql_exec *x, const struct cat_table *tab, const struct sql_batch *b, struct nam_arena *arena)
{
	struct txn_put *p = nam_arena_take(arena, b->n * sizeof *p);
	struct sql_row *r = nam_arena_take(arena, b->n * sizeof *r);
	if (p == NULL || r == NULL)
		return sql_no_memory(x->err);
	unsigned good = good_rows(x, tab, b, r, p, arena), bad = x->bad_row;
	if (good == b->n)
		return sql_dml_insert(x, tab, p, r, good, arena);
	/*
	 * rows before the bad one are inserted before it is looked at: the first that fails says
	 * why
	 */
	struct cat_err why = *x->err;
	*x->err = (struct cat_err){ 0 };
	if (good > 0 && !sql_dml_insert(x, tab, p, r, good, arena))
		return false;
	*x->err = why;
	x->bad_row = bad;
	return false;
}

bool
sql_check_batch(
    struct sql_exec *x, const struct cat_table *tab, const struct sql_batch *b, struct nam_arena *arena)
{
	struct txn_put *p = nam_arena_take(arena, b->n * sizeof *p);
	struct sql_row *r = nam_arena_take(arena, b->n * sizeof *r);
	if (p == NULL || r == NULL)
		return sql_no_memory(x->err);
	return good_rows(x, tab, b, r, p, arena) == b->n;
}

bool
sql_dml_answer(struct sql_exec *x, struct sql_plan *p, struct sql_batch *b, const uint16_t *sel, unsigned n,
    struct nam_arena *arena)
{
	if (p->columns == 0 || n == 0)
		return true;
	struct sql_batch out = { .cols = p->columns, .n = b->n };
	if ((out.col = nam_arena_take(arena, p->columns * sizeof *out.col)) == NULL)
		return sql_no_memory(x->err);
	x->env.arena = arena;
	for (unsigned c = 0; c < p->columns; c++)
		if (!sql_eval(p->returning[c], b, sel, n, &x->env, &out.col[c]))
			return false;
	return sql_send(x, &out, sel, n, arena);
}

bool
sql_dml_value(struct sql_exec *x, const struct sql_expr *e, struct cat_vec *v, unsigned k)
{
	struct cat_datum d;
	if (e == NULL) {
		v->null[k] = 1;
		if (cat_type_is_str(v->type))
			v->s[k] = (struct cat_str){ "", 0 };
		else
			v->i[k] = 0;
		return true;
	}
	if (e->kind == SQL_CONST)
		d = e->value;
	else if (e->kind == SQL_PARAM && e->index < x->env.params)
		d = x->env.param[e->index];
	else if (!sql_eval_one(e, &x->env, &d))
		return false;
	cat_vec_set(v, k, d.v, d.null);
	return true;
}

/* A batch of rows to be inserted, and what RETURNING says of them. */
static bool
insert_rows(struct sql_exec *x, struct sql_plan *p, struct sql_seen *seen, struct sql_batch *b,
    struct nam_arena *arena, uint64_t *count)
{
	if (p->conflict != NULL && p->conflict->arbiters > 0)
		return sql_conflict_batch(x, p, seen, b, arena, count);
	*count += b->n;
	return sql_insert_batch(x, p->tab, b, arena) && sql_dml_answer(x, p, b, NULL, b->n, arena);
}

static bool
insert_values(struct sql_exec *x, struct sql_plan *p, uint64_t *count)
{
	const struct cat_table *tab = p->tab;
	struct nam_arena *arena = x->arena[p->arena_base];
	struct sql_seen *seen = NULL;
	if (p->conflict != NULL && p->rows > 1 && !sql_conflict_open(x, p, &seen))
		return false;
	for (unsigned at = 0; at < p->rows;) {
		unsigned n = p->rows - at < SQL_INSERT_ROWS ? p->rows - at : SQL_INSERT_ROWS;
		nam_arena_reset(arena);
		struct sql_batch b = { .cols = tab->columns, .n = n };
		if ((b.col = nam_arena_take(arena, tab->columns * sizeof *b.col)) == NULL)
			return sql_no_memory(x->err);
		x->env.arena = arena;
		for (unsigned c = 0; c < tab->columns; c++) {
			if (!cat_vec_take(&b.col[c], tab->column[c].type, n, arena))
				return sql_no_memory(x->err);
			struct sql_expr **e = p->value + (size_t)at * tab->columns + c;
			for (unsigned k = 0; k < n; k++)
				if (!sql_dml_value(x, e[(size_t)k * tab->columns], &b.col[c], k))
					return false;
		}
		if (!insert_rows(x, p, seen, &b, arena, count))
			return false;
		at += n;
		if (at < p->rows && !sql_go_on(x))
			return false;
	}
	return true;
}

static bool
insert_select(struct sql_exec *x, struct sql_plan *p, uint64_t *count)
{
	/* All rows first: the query must not meet what it inserts. */
	const struct cat_table *tab = p->tab;
	struct nam_arena *arena = x->arena[p->arena_base], *keep = x->arena[p->arena_base + 1];
	enum cat_type *type = nam_arena_take(keep, tab->columns * sizeof *type);
	const struct cat_vec **col = nam_arena_take(keep, tab->columns * sizeof *col);
	struct cat_vec *v = nam_arena_take(keep, tab->columns * sizeof *v);
	if (type == NULL || col == NULL || v == NULL)
		return sql_no_memory(x->err);
	for (unsigned c = 0; c < tab->columns; c++)
		type[c] = tab->column[c].type;
	struct sql_rowset *rs = sql_rowset_open(keep, type, tab->columns);
	if (rs == NULL)
		return sql_no_memory(x->err);
	int rows;
	while ((rows = sql_next(x, p->root)) > 0) {
		const struct sql_node *from = p->root;
		nam_arena_reset(arena);
		x->env.arena = arena;
		for (unsigned c = 0; c < tab->columns; c++) {
			col[c] = &v[c];
			if (p->value[c] != NULL) {
				if (!sql_eval(
					p->value[c], &from->out, from->sel, (unsigned)rows, &x->env, &v[c]))
					return false;
				continue;
			}
			if (!cat_vec_take(&v[c], type[c], from->out.n, arena))
				return sql_no_memory(x->err);
			for (unsigned k = 0; k < from->out.n; k++)
				sql_dml_value(x, NULL, &v[c], k);
		}
		if (!sql_rowset_add(rs, col, sql_sel(from), (unsigned)rows))
			return sql_no_memory(x->err);
	}
	if (rows < 0)
		return false;
	struct sql_seen *seen = NULL;
	if (p->conflict != NULL && !sql_conflict_open(x, p, &seen))
		return false;
	uint32_t index[SQL_INSERT_ROWS];
	for (uint32_t at = 0; at < rs->rows;) {
		unsigned n = rs->rows - at < SQL_INSERT_ROWS ? rs->rows - at : SQL_INSERT_ROWS;
		nam_arena_reset(arena);
		for (unsigned k = 0; k < n; k++)
			index[k] = at + k;
		struct sql_batch b = { .col = v, .cols = tab->columns, .n = n };
		for (unsigned c = 0; c < tab->columns; c++)
			if (!sql_rowset_gather(rs, c, index, n, &v[c], arena))
				return sql_no_memory(x->err);
		if (!insert_rows(x, p, seen, &b, arena, count) || !sql_go_on(x))
			return false;
		at += n;
	}
	return true;
}

/* ---- UPDATE, DELETE ---------------------------------------------------------------------- */

static bool
decode(struct sql_exec *x, struct sql_plan *p, const struct txn_row *rows, unsigned n, struct cat_vec *col,
    struct nam_arena *arena)
{
	const struct sql_access *a = sql_node_access(p->root);
	struct cat_vec *tmp = nam_arena_take(arena, (a->wants + 1) * sizeof *tmp);
	if (tmp == NULL)
		return sql_no_memory(x->err);
	nam_status st = cat_rows_decode(p->tab, x->t, rows, n, a->want, a->wants, tmp, arena);
	if (st != NAM_OK)
		return sql_status(x->err, st, p->tab);
	for (unsigned j = 0; j < a->wants; j++)
		col[a->want[j]] = tmp[j];
	return true;
}

/* Locks rows[live[0..*n)] and takes out of live those that are gone, or changed and no longer
 * meant. */
static bool
lock(struct sql_change *c, struct txn_row *rows, unsigned total, struct sql_batch *b, uint16_t *live,
    unsigned *n, struct nam_arena *arena)
{
	struct sql_exec *x = c->x;
	struct txn_table *table = (struct txn_table *)&c->p->tab->store;
	unsigned m = *n, out = 0;
	bool changed = false;
	if (m == 1) {
		nam_status st = txn_lock(x->t, table, &rows[live[0]]);
		if (st == NAM_ABSENT) {
			*n = 0;
			return true;
		}
		if (st != NAM_OK)
			return sql_status(x->err, st, c->p->tab);
		changed = rows[live[0]].changed;
	} else {
		nam_status *st = nam_arena_take(arena, m * sizeof *st);
		struct txn_row *r = nam_arena_take(arena, m * sizeof *r);
		if (st == NULL || r == NULL)
			return sql_no_memory(x->err);
		for (unsigned k = 0; k < m; k++) {
			r[k] = rows[live[k]];
			st[k] = NAM_OK;
		}
		nam_status all = txn_lock_many(x->t, table, r, st, m);
		for (unsigned k = 0; k < m; k++) {
			if (st[k] == NAM_ABSENT)
				continue;
			if (st[k] != NAM_OK)
				return sql_status(x->err, st[k], c->p->tab);
			rows[live[k]] = r[k];
			changed |= r[k].changed;
			live[out++] = live[k];
		}
		if (all != NAM_OK && all != NAM_ABSENT)
			return sql_status(x->err, all, c->p->tab);
		*n = out;
	}
	if (!changed)
		return true;
	/* A row that is gone still has the bytes that were found: decoding them is harmless. */
	if (!decode(x, c->p, rows, total, b->col, arena))
		return false;
	if (c->p->recheck == NULL)
		return true;
	x->env.arena = arena;
	int kept = sql_filter(c->p->recheck, b, live, *n, &x->env, live);
	if (kept < 0)
		return false;
	*n = (unsigned)kept;
	return true;
}

bool
sql_dml_delete(struct sql_change *c, const struct txn_row *rows, const uint16_t *live, unsigned n)
{
	if (c->p->kind != AST_TRUNCATE && !sql_foreign_lose(c->x, c->p->tab, rows, live, n, NULL, NULL, 0))
		return false;
	for (unsigned k = 0; k < n; k++) {
		nam_status st = txn_delete(c->x->t, (struct txn_table *)&c->p->tab->store, &rows[live[k]]);
		if (st != NAM_OK)
			return sql_status(c->x->err, st, c->p->tab);
	}
	c->count += n;
	return true;
}

static bool
move_row(struct sql_change *c, const struct sql_row *r)
{
	struct nam_arena *keep = c->x->arena[c->p->arena_base + 1];
	const struct cat_table *tab = c->p->tab;
	struct sql_moved *m = nam_arena_take(keep, sizeof *m);
	if (m == NULL || !sql_dml_new(c->x, tab, &m->r, keep))
		return sql_no_memory(c->x->err);
	for (unsigned i = 0; i < tab->columns; i++) {
		m->r.null[i] = r->null[i];
		m->r.v[i] = r->v[i];
		if (!r->null[i])
			m->r.v[i] = cat_value_copy(tab->column[i].type, r->v[i], keep);
	}
	m->next = NULL;
	*c->last = m;
	c->last = &m->next;
	return true;
}

bool
sql_dml_update(struct sql_change *c, const struct sql_batch *b, const struct txn_row *rows,
    const uint16_t *live, unsigned n, struct sql_batch *nb, struct nam_arena *arena)
{
	struct sql_exec *x = c->x;
	const struct sql_sets *s = c->sets;
	const struct cat_table *tab = c->p->tab;
	struct sql_row r;
	*nb = (struct sql_batch){ .cols = b->cols, .n = b->n };
	if ((nb->col = nam_arena_copy(arena, b->col, b->cols * sizeof *nb->col)) == NULL ||
	    !sql_dml_new(x, tab, &r, arena))
		return sql_no_memory(x->err);
	x->env.arena = arena;
	for (unsigned i = 0; i < s->sets; i++) {
		struct cat_vec *v = &nb->col[s->set[i]];
		if (s->value[i] != NULL) {
			if (!sql_eval(s->value[i], b, live, n, &x->env, v))
				return false;
			continue;
		}
		if (!cat_vec_take(v, tab->column[s->set[i]].type, b->n, arena))
			return sql_no_memory(x->err);
		for (unsigned k = 0; k < n; k++)
			sql_dml_value(x, NULL, v, live[k]);
	}
	if (!sql_check_rows(x, tab, nb, live, n, arena))
		return false;
	for (unsigned k = 0; k < n; k++) {
		struct cat_str bytes;
		if (!sql_dml_take(x, tab, nb->col, live[k], &r, s->set, s->sets, arena))
			return false;
		if (!sql_foreign_lose(x, tab, rows, &live[k], 1, &r, s->set, s->sets))
			return false;
		if (s->key) {
			struct sql_row old;
			struct cat_str was, is;
			uint64_t hw, hi;
			if (!sql_dml_new(x, tab, &old, arena) ||
			    !sql_dml_take(x, tab, b->col, live[k], &old, NULL, 0, arena) ||
			    !sql_dml_key(x, tab, &old, &was, &hw, arena) ||
			    !sql_dml_key(x, tab, &r, &is, &hi, arena))
				return false;
			if (hw != hi || was.len != is.len || memcmp(was.p, is.p, is.len) != 0) {
				nam_status st =
				    txn_delete(x->t, (struct txn_table *)&tab->store, &rows[live[k]]);
				if (st != NAM_OK)
					return sql_status(x->err, st, tab);
				if (!move_row(c, &r))
					return false;
				continue;
			}
		}
		if (!sql_foreign_put(x, tab, &r, s->set, s->sets) || !sql_dml_row(x, tab, &r, &bytes, arena))
			return false;
		nam_status st =
		    txn_update(x->t, (struct txn_table *)&tab->store, &rows[live[k]], bytes.p, bytes.len);
		if (st != NAM_OK)
			return sql_status(x->err, st, tab);
	}
	c->count += n;
	return true;
}

/* One chunk of found rows; b holds the wanted columns of all `total`, the selected ones are
 * live. */
static bool
apply(struct sql_change *c, struct sql_batch *b, struct txn_row *rows, unsigned total, uint16_t *live,
    unsigned n, struct nam_arena *arena)
{
	if (!lock(c, rows, total, b, live, &n, arena))
		return false;
	if (n == 0)
		return true;
	struct sql_batch nb = *b;
	if (c->p->kind == AST_UPDATE ? !sql_dml_update(c, b, rows, live, n, &nb, arena)
				     : !sql_dml_delete(c, rows, live, n))
		return false;
	return sql_dml_answer(c->x, c->p, &nb, live, n, arena);
}

/* Rows found by a scan, kept until all are found. */
struct found {
	struct found *next;
	unsigned n;
	struct txn_row row[SQL_INSERT_ROWS];
};

static bool
keep_rows(struct sql_exec *x, const struct sql_node *from, struct found **last, struct nam_arena *keep)
{
	const uint16_t *sel = sql_sel(from);
	const struct txn_row *rows = sql_rows_of(from);
	const struct txn_table *store = &sql_node_access(from)->tab->store;
	for (unsigned k = 0; k < from->nsel; k++) {
		if ((*last)->n == SQL_INSERT_ROWS) {
			struct found *f = nam_arena_take(keep, sizeof *f);
			if (f == NULL)
				return sql_no_memory(x->err);
			f->next = NULL;
			f->n = 0;
			(*last)->next = f;
			*last = f;
		}
		struct txn_row *to = &(*last)->row[(*last)->n++];
		*to = rows[sel[k]];
		if (txn_row_keep(store, to, keep) != NAM_OK)
			return sql_no_memory(x->err);
	}
	return true;
}

static bool
change_scanned(struct sql_change *c)
{
	struct sql_exec *x = c->x;
	struct sql_plan *p = c->p;
	struct nam_arena *arena = x->arena[p->arena_base], *keep = x->arena[p->arena_base + 2];
	struct found *first = nam_arena_take(keep, sizeof *first), *last = first;
	struct cat_vec *col = nam_arena_zero(keep, p->tab->columns * sizeof *col);
	if (first == NULL || col == NULL)
		return sql_no_memory(x->err);
	first->next = NULL;
	first->n = 0;
	int rows;
	while ((rows = sql_next(x, p->root)) > 0)
		if (!keep_rows(x, p->root, &last, keep))
			return false;
	if (rows < 0)
		return false;
	sql_close(x, p->root);
	for (struct found *f = first; f != NULL && f->n > 0; f = f->next) {
		nam_arena_reset(arena);
		uint16_t live[SQL_INSERT_ROWS];
		struct sql_batch b = { .col = col, .cols = p->tab->columns, .n = f->n };
		memcpy(live, sql_ident(), f->n * sizeof *live);
		if (!sql_go_on(x) || !decode(x, p, f->row, f->n, col, arena) ||
		    !apply(c, &b, f->row, f->n, live, f->n, arena))
			return false;
	}
	return true;
}

/* Inserts rows from *m on, as many as are inserted together. If a row cannot be, those before it
 * come first: the first that fails says why. */
static bool
settle_some(struct sql_change *c, struct sql_moved **m, struct nam_arena *arena)
{
	struct sql_exec *x = c->x;
	const struct cat_table *tab = c->p->tab;
	struct txn_put *q = nam_arena_take(arena, SQL_INSERT_ROWS * sizeof *q);
	struct sql_row *r = nam_arena_take(arena, SQL_INSERT_ROWS * sizeof *r);
	struct cat_err why;
	unsigned n = 0;
	bool good = true;
	if (q == NULL || r == NULL)
		return sql_no_memory(x->err);
	for (; good && *m != NULL && n < SQL_INSERT_ROWS; *m = (*m)->next) {
		r[n] = (*m)->r;
		good = put_of(x, tab, &r[n], c->sets->set, c->sets->sets, &q[n], arena);
		n += good;
	}
	if (!good) {
		why = *x->err;
		*x->err = (struct cat_err){ 0 };
	}
	if (n > 0 && !sql_dml_insert(x, tab, q, r, n, arena))
		return false;
	if (!good)
		*x->err = why;
	return good;
}

bool
sql_dml_settle(struct sql_change *c)
{
	struct nam_arena arena;
	struct sql_moved *m = c->moved;
	bool ok = true;
	if (m == NULL)
		return true;
	nam_arena_init(&arena, 0);
	nam_arena_charge(&arena, c->x->arena[c->p->arena_base]->budget);
	while (ok && m != NULL) {
		nam_arena_reset(&arena);
		ok = sql_go_on(c->x) && settle_some(c, &m, &arena);
	}
	nam_arena_fini(&arena);
	return ok;
}

/* The rows of one value of the primary key, which an index has: one at most. */
static bool
is_one(const struct sql_node *n)
{
	const struct sql_op_index *o = n->kind == SQL_NODE_INDEX ? sql_op(index, n) : NULL;
	if (o == NULL || n->child != NULL || o->legs > 0 || o->parts != 1)
		return false;
	const struct cat_index *ix = &o->acc.tab->index[o->index];
	bool one = ix->primary && o->part->keys == ix->keys;
	for (unsigned k = 0; one && k < ix->keys; k++)
		one = o->part->key[k].by == SQL_INDEX_VALUE;
	return one;
}

static bool
change_rows(struct sql_exec *x, struct sql_plan *p, uint64_t *count)
{
	struct sql_change c = { .x = x, .p = p, .sets = &p->sets };
	struct sql_node *n = p->root;
	struct nam_arena *arena = x->arena[p->arena_base];
	c.last = &c.moved;
	bool ok;
	const struct sql_op_get *get = n->kind == SQL_NODE_GET ? sql_op(get, n) : NULL;
	if ((get != NULL && get->probes <= CAT_BATCH && get->each == 0) || is_one(n)) {
		/* all that is meant is in the first batch */
		int rows = sql_next(x, n);
		ok = rows >= 0;
		if (rows > 0) {
			uint16_t *live = n->selbuf;
			if (n->sel == NULL)
				memcpy(live, sql_ident(), (unsigned)rows * sizeof *live);
			nam_arena_reset(arena);
			ok = apply(&c, &n->out, sql_rows_of(n), n->out.n, live, (unsigned)rows, arena);
		}
	} else {
		ok = change_scanned(&c);
	}
	nam_arena_reset(arena);
	ok = ok && sql_dml_settle(&c) && (p->tab->indexes == 0 || sql_dml_unique(x, arena, NULL));
	*count = c.count;
	return ok;
}

static bool
change(struct sql_exec *x, struct sql_plan *p, uint64_t *rows)
{
	*rows = 0;
	x->rules = p->rules;
	if ((p->root != NULL && !sql_open(x, p->root)) || !sql_sub_early(x, p))
		return false;
	if (p->kind == AST_INSERT && p->root == NULL)
		return insert_values(x, p, rows);
	if (p->from != NULL)
		return sql_dml_from(x, p, rows);
	return p->kind == AST_INSERT ? insert_select(x, p, rows) : change_rows(x, p, rows);
}

bool
sql_dml(struct sql_exec *x, struct sql_plan *p, uint64_t *rows)
{
	sql_foreign_begin(x->env.session);
	return change(x, p, rows) && sql_foreign_end(x);
}
