/*
 * foreign.c -- foreign keys at the end of a statement: keys that its rows refer to, and rows that
 * refer to keys it has taken away.
 *
 * While a statement changes rows, the keys that concern a foreign key are collected. When all its
 * rows are written, the actions are done (CASCADE, SET NULL, SET DEFAULT), each by a statement of
 * its own for many keys. What those collect joins the same lists, so a chain of actions needs no
 * stack. When no action is left, the keys that rows refer to are looked up, in batches.
 *
 * Other transactions: txn_rely and txn_forbid (txn/README.md, "Rows that refer to others").
 */
#include <sql/dml/foreign.h>

#include <stdio.h>
#include <stdlib.h>

/* ---- which ones ------------------------------------------------------------------------- */

static int
column_of(const struct cat_table *t, const char *name)
{
	for (unsigned c = 0; c < t->columns; c++)
		if (strcmp(t->column[c].name, name) == 0)
			return (int)c;
	return -1;
}

static bool
among(const struct cat_table *t, unsigned column, const struct cat_foreign *k)
{
	for (unsigned i = 0; i < k->keys; i++)
		if (strcmp(t->column[column].name, k->refers[i]) == 0)
			return true;
	return false;
}

bool
sql_foreign_arbiter(const struct cat_table *parent, const struct cat_foreign *k, int *which)
{
	bool all = parent->keys == k->keys;
	for (unsigned i = 0; all && i < parent->keys; i++)
		all = among(parent, parent->key[i], k);
	*which = sql_primary_key(parent);
	for (unsigned x = 0; !all && x < parent->indexes; x++) {
		const struct cat_index *ix = &parent->index[x];
		all = ix->unique && ix->valid && ix->keys == k->keys;
		for (unsigned i = 0; all && i < ix->keys; i++)
			all = among(parent, ix->key[i].column, k);
		*which = (int)x;
	}
	return all;
}

/* Column number `column` of child is the foreign key's j-th. */
static bool
place_of(const struct fk *k, unsigned column, uint16_t *j)
{
	for (*j = 0; *j < k->def->keys; ++*j)
		if (k->from[*j] == column)
			return true;
	return false;
}

/* An index of child whose first columns are the foreign key's; else the hash of its primary key, if
 * its columns are those. */
static void
index_of(struct fk *k)
{
	unsigned keys = k->def->keys;
	k->index = -1;
	for (unsigned x = 0; k->index < 0 && x < k->child->indexes; x++) {
		const struct cat_index *ix = &k->child->index[x];
		bool fits = ix->valid && ix->keys >= keys;
		for (unsigned i = 0; fits && i < keys; i++)
			fits = place_of(k, ix->key[i].column, &k->order[i]);
		if (fits)
			k->index = (int)x;
	}
	k->by_key = k->index < 0 && cat_is_hashed(k->child) && k->child->keys == keys;
	for (unsigned i = 0; k->by_key && i < keys; i++)
		k->by_key = place_of(k, k->child->key[i], &k->order[i]);
}

static bool
broken(struct sql_exec *x, const char *child, const char *name)
{
	return cat_error(x->err, "XX001", "foreign key \"%s\" of table \"%s\" leads nowhere", name, child);
}

static bool
find(struct sql_exec *x, const char *name, const struct cat_table **out)
{
	nam_status st = cat_find(x->cat, x->t, name, out);
	return st == NAM_OK || sql_status(x->err, st, NULL);
}

/* The foreign key of that name of a table. */
static bool
fk_of(struct sql_exec *x, struct sql_foreign *f, const struct cat_table *child, const char *name,
    struct fk **out)
{
	const struct cat_foreign *def = NULL;
	for (struct fk *k = f->all; k != NULL; k = k->next)
		if (k->child->store.id == child->store.id && strcmp(k->def->name, name) == 0) {
			*out = k;
			return true;
		}
	for (unsigned i = 0; def == NULL && i < child->foreigns; i++)
		if (strcmp(child->foreign[i].name, name) == 0)
			def = &child->foreign[i];
	struct fk *k = nam_arena_zero(&f->arena, sizeof *k);
	if (k == NULL)
		return sql_no_memory(x->err);
	if (def == NULL)
		return broken(x, cat_local(child->path), name);
	k->child = child;
	k->def = def;
	if (!find(x, def->table, &k->parent))
		return false;
	if (k->parent == NULL || !sql_foreign_arbiter(k->parent, def, &k->arbiter))
		return broken(x, cat_local(child->path), name);
	for (unsigned i = 0; i < def->keys; i++) {
		int from = column_of(child, def->column[i]), to = column_of(k->parent, def->refers[i]);
		if (from < 0 || to < 0)
			return broken(x, cat_local(child->path), name);
		k->from[i] = (uint16_t)from;
		k->to[i] = (uint16_t)to;
	}
	index_of(k);
	k->last = &k->gone;
	k->last_later = &k->later;
	k->last_want = &k->wants;
	*f->last = *out = k;
	f->last = &k->next;
	return true;
}

static bool
side_of(struct sql_exec *x, const struct cat_table *tab, struct sql_foreign **in, struct side **out)
{
	struct sql_session *s = x->env.session;
	struct sql_foreign *f = s->foreign;
	*out = NULL;
	if ((tab->foreigns == 0 && tab->referrers == 0) || s->foreign_off)
		return true;
	if (f == NULL) {
		if ((f = calloc(1, sizeof *f)) == NULL)
			return sql_no_memory(x->err);
		nam_arena_init(&f->arena, 0);
		nam_arena_init(&f->scratch, 0);
		f->arena.limit = f->scratch.limit = (size_t)4 << 30;
		nam_arena_charge(&f->arena, &s->budget);
		nam_arena_charge(&f->scratch, &s->budget);
		f->last = &f->all;
		s->foreign = f;
	}
	*in = f;
	for (*out = f->side; *out != NULL; *out = (*out)->next)
		if ((*out)->id == tab->store.id)
			return true;
	struct side *d = nam_arena_zero(&f->arena, sizeof *d);
	if (d == NULL || (d->out = nam_arena_zero(&f->arena, (tab->foreigns + 1) * sizeof *d->out)) == NULL ||
	    (d->in = nam_arena_zero(&f->arena, (tab->referrers + 1) * sizeof *d->in)) == NULL)
		return sql_no_memory(x->err);
	d->id = tab->store.id;
	for (unsigned i = 0; i < tab->foreigns; i++)
		if (!fk_of(x, f, tab, tab->foreign[i].name, &d->out[d->outs++]))
			return false;
	for (unsigned i = 0; i < tab->referrers; i++) {
		const struct cat_referrer *r = &tab->referrer[i];
		const struct cat_table *child = NULL;
		bool own = strcmp(r->table, tab->path) == 0;
		if (!own && !find(x, r->table, &child))
			return false;
		if (!own && child == NULL)
			return broken(x, r->table, r->name);
		if (!fk_of(x, f, own ? tab : child, r->name, &d->in[d->ins++]))
			return false;
	}
	d->next = f->side;
	f->side = *out = d;
	return true;
}

void
sql_foreign_begin(struct sql_session *s)
{
	struct sql_foreign *f = s->foreign;
	if (f == NULL || f->running || f->side == NULL)
		return;
	nam_arena_reset(&f->arena);
	nam_arena_reset(&f->scratch);
	f->side = NULL;
	f->all = NULL;
	f->last = &f->all;
	f->acted = false;
}

void
sql_foreign_free(struct sql_session *s)
{
	if (s->foreign == NULL)
		return;
	nam_arena_fini(&s->foreign->arena);
	nam_arena_fini(&s->foreign->scratch);
	free(s->foreign);
	s->foreign = NULL;
}

/* ---- messages --------------------------------------------------------------------------- */

size_t
sql_fk_words(struct sql_exec *x, const struct cat_table *tab, const uint16_t *column, unsigned n,
    const union cat_val *v, struct nam_arena *arena)
{
	char *out = x->err->detail;
	size_t max = sizeof x->err->detail, at = (size_t)snprintf(out, max, "Key (");
	for (unsigned i = 0; i < n && at < max; i++)
		at +=
		    (size_t)snprintf(out + at, max - at, "%s%s", i ? ", " : "", tab->column[column[i]].name);
	if (at < max)
		at += (size_t)snprintf(out + at, max - at, ")=(");
	for (unsigned i = 0; i < n && at < max; i++) {
		struct cat_str s = cat_value_show(tab->column[column[i]].type, v[i], *x->env.floats, arena);
		at += (size_t)snprintf(
		    out + at, max - at, "%s%.*s", i ? ", " : "", s.len > 100 ? 100 : (int)s.len, s.p);
	}
	return at < max ? at : max;
}

bool
sql_foreign_absent(struct sql_exec *x, const struct cat_table *child, const struct cat_foreign *def,
    const uint16_t *from, const union cat_val *v, struct nam_arena *arena)
{
	cat_error(x->err, "23503", "insert or update on table \"%s\" violates foreign key constraint \"%s\"",
	    cat_local(child->path), def->name);
	cat_error_about(x->err, cat_local(child->path), NULL, def->name);
	size_t at = sql_fk_words(x, child, from, def->keys, v, arena);
	snprintf(x->err->detail + at, sizeof x->err->detail - at, ") is not present in table \"%s\".",
	    cat_local(def->table));
	return false;
}

/* ---- keys that rows refer to ------------------------------------------------------------ */

bool
sql_fk_look_up(struct sql_exec *x, const struct fk *k, const union cat_val **w, unsigned n,
    struct txn_row *row, bool *found, struct nam_arena *arena)
{
	const struct cat_table *p = k->parent;
	struct txn_table *store = (struct txn_table *)(uintptr_t)&p->store;
	struct txn_get *g = nam_arena_zero(arena, n * sizeof *g);
	struct txn_seek *s = nam_arena_zero(arena, n * sizeof *s);
	union cat_val *v = nam_arena_zero(arena, p->columns * sizeof *v);
	bool *null = nam_arena_zero(arena, p->columns * sizeof *null), pk = k->arbiter == SQL_PRIMARY_KEY;
	nam_status st = NAM_OK;
	if (g == NULL || s == NULL || v == NULL || null == NULL)
		return sql_no_memory(x->err);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		for (unsigned j = 0; j < k->def->keys; j++)
			v[k->to[j]] = w[i][j];
		if (pk) {
			union cat_val key[CAT_KEY_MAX];
			struct cat_str bytes;
			for (unsigned j = 0; j < p->keys; j++)
				key[j] = v[p->key[j]];
			g[i].table = store;
			st = cat_key_encode(p, key, &bytes, &g[i].hash, arena);
			g[i].key = bytes.p;
			g[i].key_len = bytes.len;
			continue;
		}
		uint64_t *words = nam_arena_zero(arena, IDX_TREE_WORDS * sizeof *words);
		if (words == NULL)
			return sql_no_memory(x->err);
		s[i] = (struct txn_seek){ .table = store, .order = (unsigned)k->arbiter, .key = words };
		if (!cat_index_key(p, &p->index[k->arbiter], v, null, words, NULL, arena, x->err)) {
			if (strcmp(x->err->sqlstate, "54000") != 0)
				return false;
			sql_err_clear(x->err); /* so long a key has no row */
			s[i].table = NULL;
		}
	}
	if (st == NAM_OK && pk)
		st = txn_get(x->t, g, n, arena);
	for (unsigned i = 0, m = 0; st == NAM_OK && !pk && i < n; i = m) {
		for (; m < n && s[m].table != NULL; m++)
			;
		if (m > i)
			st = txn_seek(x->t, s + i, m - i, arena);
		for (; m < n && s[m].table == NULL; m++)
			s[m].status = NAM_ABSENT;
	}
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		nam_status one = pk ? g[i].status : s[i].status;
		found[i] = one == NAM_OK || (!pk && one == NAM_DUPLICATE);
		if (found[i])
			row[i] = pk ? g[i].row : s[i].row;
		else if (one != NAM_ABSENT)
			st = one;
	}
	return st == NAM_OK || sql_status(x->err, st, p);
}

/* Looks up the keys that wait. */
static bool
settle(struct sql_exec *x, struct sql_foreign *f, struct fk *k)
{
	struct txn_table *store = (struct txn_table *)(uintptr_t)&k->parent->store;
	while (k->wants != NULL) {
		const struct wanted *one[SQL_FK_TOGETHER];
		const union cat_val *v[SQL_FK_TOGETHER];
		bool found[SQL_FK_TOGETHER] = { false };
		unsigned n = 0;
		nam_arena_reset(&f->scratch);
		struct txn_row *row = nam_arena_zero(&f->scratch, SQL_FK_TOGETHER * sizeof *row);
		if (row == NULL)
			return sql_no_memory(x->err);
		for (; k->wants != NULL && n < SQL_FK_TOGETHER; k->wants = k->wants->next) {
			if (k->wants->never && !f->acted)
				return sql_foreign_absent(
				    x, k->child, k->def, k->from, k->wants->v, &f->scratch);
			one[n] = k->wants;
			v[n++] = k->wants->v;
		}
		if (!sql_go_on(x) || !sql_fk_look_up(x, k, v, n, row, found, &f->scratch))
			return false;
		for (unsigned i = 0; i < n; i++) {
			nam_status st = found[i] ? txn_rely(x->t, store, &row[i], k->arbiter) : NAM_ABSENT;
			bool any = st == NAM_ABSENT;
			/* An action may have changed the row again. */
			if (any && f->acted && !sql_fk_has_row(x, f, k, one[i]->v, &any))
				return false;
			if (any)
				return sql_foreign_absent(
				    x, k->child, k->def, k->from, one[i]->v, &f->scratch);
			if (st != NAM_OK && st != NAM_ABSENT)
				return sql_status(x->err, st, k->parent);
		}
	}
	k->last_want = &k->wants;
	k->waiting = 0;
	return true;
}

static bool
grow(struct sql_foreign *f, struct fk *k)
{
	if (k->mask != 0 && (k->wanted + 1) * 2 <= k->mask)
		return true;
	uint32_t cap = k->mask ? (k->mask + 1) * 2 : 64;
	struct wanted **slot = nam_arena_zero(&f->arena, cap * sizeof *slot);
	if (slot == NULL)
		return false;
	for (uint32_t i = 0; k->mask != 0 && i <= k->mask; i++) {
		uint32_t at = k->slot[i] ? (uint32_t)k->slot[i]->hash & (cap - 1) : 0;
		while (k->slot[i] != NULL && slot[at] != NULL)
			at = (at + 1) & (cap - 1);
		if (k->slot[i] != NULL)
			slot[at] = k->slot[i];
	}
	k->slot = slot;
	k->mask = cap - 1;
	return true;
}

/* Notes the key that one row refers to, unless another row has referred to it. */
static bool
want(struct sql_exec *x, struct sql_foreign *f, struct fk *k, const struct sql_row *r)
{
	union cat_val v[CAT_KEY_MAX];
	uint64_t hash = 0;
	bool never = false;
	for (unsigned i = 0; i < k->def->keys; i++) {
		enum cat_type to = k->parent->column[k->to[i]].type;
		if (r->null[k->from[i]])
			return true;
		v[i] = r->v[k->from[i]];
		never |= cat_type_is_int(to) && !cat_int_fits(to, v[i].i);
		hash = cat_value_hash(never ? CAT_INT8 : to, v[i], hash);
	}
	if (!grow(f, k))
		return sql_no_memory(x->err);
	uint32_t at = (uint32_t)hash & k->mask;
	for (; k->slot[at] != NULL; at = (at + 1) & k->mask) {
		const struct wanted *w = k->slot[at];
		bool same = w->hash == hash && w->never == never && !never;
		for (unsigned i = 0; same && i < k->def->keys; i++)
			same = cat_value_cmp(k->parent->column[k->to[i]].type, w->v[i], v[i]) == 0;
		if (same)
			return true;
	}
	struct wanted *w = nam_arena_take(&f->arena, sizeof *w + k->def->keys * sizeof *v);
	if (w == NULL)
		return sql_no_memory(x->err);
	w->hash = hash;
	w->never = never;
	w->next = NULL;
	for (unsigned i = 0; i < k->def->keys; i++)
		w->v[i] = cat_value_copy(k->child->column[k->from[i]].type, v[i], &f->arena);
	k->slot[at] = *k->last_want = w;
	k->last_want = &w->next;
	k->wanted++;
	/* Of another table the keys are what they are; of its own, rows may still come. */
	bool early = ++k->waiting >= SQL_FK_EARLY && !f->running && k->child->store.id != k->parent->store.id;
	return !early || settle(x, f, k);
}

bool
sql_foreign_put(struct sql_exec *x, const struct cat_table *tab, const struct sql_row *r, const uint16_t *set,
    unsigned sets)
{
	struct sql_foreign *f = NULL;
	struct side *d;
	if (tab->foreigns == 0)
		return true;
	if (!side_of(x, tab, &f, &d))
		return false;
	for (unsigned i = 0; d != NULL && i < d->outs; i++) {
		bool touched = set == NULL;
		for (unsigned j = 0; !touched && j < d->out[i]->def->keys; j++)
			for (unsigned c = 0; !touched && c < sets; c++)
				touched = set[c] == d->out[i]->from[j];
		if (touched && !want(x, f, d->out[i], r))
			return false;
	}
	return true;
}

/* ---- keys that go ----------------------------------------------------------------------- */

/* A row's key of k was v and is that of r (NULL: the row is deleted). */
static bool
lose(struct sql_exec *x, struct sql_foreign *f, struct fk *k, const union cat_val *v, const struct sql_row *r)
{
	unsigned n = k->def->keys;
	bool same = r != NULL;
	for (unsigned i = 0; same && i < n; i++)
		same = !r->null[k->to[i]] &&
		       cat_value_cmp(k->parent->column[k->to[i]].type, v[i], r->v[k->to[i]]) == 0;
	if (same)
		return true;
	struct gone *g = nam_arena_zero(&f->arena, sizeof *g);
	if (g == NULL || (g->was = nam_arena_zero(&f->arena, n * sizeof *g->was)) == NULL)
		return sql_no_memory(x->err);
	if (r != NULL && ((g->is = nam_arena_zero(&f->arena, n * sizeof *g->is)) == NULL ||
			     (g->null = nam_arena_zero(&f->arena, n * sizeof *g->null)) == NULL))
		return sql_no_memory(x->err);
	for (unsigned i = 0; i < n; i++) {
		enum cat_type type = k->parent->column[k->to[i]].type;
		g->was[i] = cat_value_copy(type, v[i], &f->arena);
		if (r != NULL && (g->null[i] = r->null[k->to[i]]) == false)
			g->is[i] = cat_value_copy(type, r->v[k->to[i]], &f->arena);
	}
	*k->last = g;
	k->last = &g->next;
	return true;
}

bool
sql_foreign_lose(struct sql_exec *x, const struct cat_table *tab, const struct txn_row *rows,
    const uint16_t *live, unsigned n, const struct sql_row *is, const uint16_t *set, unsigned sets)
{
	struct sql_foreign *f = NULL;
	struct side *d;
	if (tab->referrers == 0)
		return true;
	if (!side_of(x, tab, &f, &d))
		return false;
	for (unsigned i = 0; d != NULL && i < d->ins; i++) {
		struct fk *k = d->in[i];
		struct cat_vec col[CAT_KEY_MAX];
		bool touched = is == NULL;
		for (unsigned j = 0; !touched && j < k->def->keys; j++)
			for (unsigned c = 0; !touched && c < sets; c++)
				touched = set[c] == k->to[j];
		if (!touched)
			continue;
		nam_arena_reset(&f->scratch);
		struct txn_row *row = nam_arena_take(&f->scratch, (n + 1) * sizeof *row);
		if (row == NULL)
			return sql_no_memory(x->err);
		for (unsigned j = 0; j < n; j++)
			row[j] = rows[live[j]];
		nam_status st = cat_rows_decode(tab, x->t, row, n, k->to, k->def->keys, col, &f->scratch);
		if (st != NAM_OK)
			return sql_status(x->err, st, tab);
		for (unsigned j = 0; j < n; j++) {
			union cat_val v[CAT_KEY_MAX];
			bool null = false;
			for (unsigned c = 0; c < k->def->keys; c++) {
				v[c] = cat_vec_at(&col[c], j);
				null |= col[c].null[j];
			}
			if (!null && !lose(x, f, k, v, is))
				return false;
		}
	}
	return true;
}

/* ---- the end of the statement ----------------------------------------------------------- */

/* Some column of the key can have no such value in child. */
static bool
foreign_to_child(const struct fk *k, const union cat_val *v)
{
	bool never = false;
	for (unsigned i = 0; i < k->def->keys; i++) {
		enum cat_type type = k->child->column[k->from[i]].type;
		never |= cat_type_is_int(type) && !cat_int_fits(type, v[i].i);
	}
	return never;
}

/* No other transaction lets a row of child refer to that key. */
static bool
forbid(struct sql_exec *x, struct sql_foreign *f, const struct fk *k, const union cat_val *was)
{
	struct txn_forbid of = { .table = (struct txn_table *)(uintptr_t)&k->child->store,
		.order = k->index };
	uint64_t low[IDX_TREE_WORDS] = { 0 }, high[IDX_TREE_WORDS] = { 0 };
	union cat_val v[CAT_KEY_MAX];
	bool null[CAT_KEY_MAX] = { false };
	if (k->index < 0 && k->by_key) {
		struct cat_str bytes;
		for (unsigned i = 0; i < k->def->keys; i++)
			v[i] = was[k->order[i]];
		nam_status st = cat_key_encode(k->child, v, &bytes, &of.hash, &f->scratch);
		if (st != NAM_OK)
			return sql_status(x->err, st, k->child);
		of.key = bytes.p;
		of.key_len = bytes.len;
	} else if (k->index < 0) {
		of.refers = cat_foreign_refers;
		of.arg = k->def;
		of.hash = cat_foreign_hash(k->child, k->def, was);
	} else {
		for (unsigned i = 0; i < k->def->keys; i++)
			v[i] = was[k->order[i]];
		of.low = low;
		of.high = high;
		if (!cat_index_prefix(k->child, &k->child->index[k->index], v, null, k->def->keys, low, high,
			&f->scratch, x->err)) {
			if (strcmp(x->err->sqlstate, "54000") != 0)
				return false;
			sql_err_clear(x->err); /* no row has so long a key */
			return true;
		}
	}
	nam_status st = txn_forbid(x->t, &of);
	return st == NAM_OK || sql_status(x->err, st, k->child);
}

/* Deals with all keys of k that have gone. last: nothing can come back any more. */
static bool
deal(struct sql_exec *x, struct sql_foreign *f, struct fk *k, struct gone *g, bool last)
{
	bool ordered = false;
	while (g != NULL) {
		struct gone **part, *next;
		bool updates = g->is != NULL;
		enum cat_action action = (enum cat_action)(updates ? k->def->on_update : k->def->on_delete);
		unsigned n = 0, most = k->def->keys == 1 ? SQL_FK_TOGETHER : SQL_FK_TOGETHER / 4;
		if (updates && action == CAT_CASCADE && !last) {
			if (!ordered && !sql_fk_order(x, f, k, &g))
				return false;
			most = most > g->ring ? most : g->ring;
		}
		ordered = updates;
		nam_arena_reset(&f->scratch);
		if ((part = nam_arena_take(&f->scratch, most * sizeof *part)) == NULL)
			return sql_no_memory(x->err);
		for (; g != NULL && n < most && (g->is != NULL) == updates; g = next) {
			next = g->next;
			if (n > 0 && n + g->ring > most)
				break;
			if (foreign_to_child(k, g->was))
				continue;
			if (!last && !forbid(x, f, k, g->was))
				return false;
			if (last || action != CAT_NO_ACTION)
				part[n++] = g;
			/* A default may be the very key that goes. */
			if (!last && (action == CAT_NO_ACTION || action == CAT_SET_DEFAULT)) {
				*k->last_later = g;
				k->last_later = &g->next;
				g->next = NULL;
			}
		}
		if (n > 0 && (!sql_go_on(x) || !sql_fk_act(x, f, k, last ? CAT_NO_ACTION : action, part, n)))
			return false;
	}
	return true;
}

bool
sql_foreign_end(struct sql_exec *x)
{
	struct sql_session *s = x->env.session;
	struct sql_foreign *f = s->foreign;
	bool ok = true;
	if (f == NULL || f->side == NULL || f->running)
		return true;
	f->running = true;
	for (bool more = true; ok && more;) {
		more = false;
		for (struct fk *k = f->all; ok && k != NULL; k = k->next) {
			struct gone *g = k->gone;
			k->gone = NULL;
			k->last = &k->gone;
			more |= g != NULL;
			ok = g == NULL || deal(x, f, k, g, false);
		}
	}
	for (struct fk *k = f->all; ok && k != NULL; k = k->next)
		ok = deal(x, f, k, k->later, true) && settle(x, f, k);
	f->running = false;
	nam_status st = ok ? txn_forbidden(x->t) : NAM_OK;
	return ok && (st == NAM_OK || sql_status(x->err, st, NULL));
}
