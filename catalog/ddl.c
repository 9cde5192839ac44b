/* ddl.c -- CREATE and DROP inside a transaction: seen by itself only, until it commits. */
#include <base/assert.h>
#include <catalog/by_id.h>
#include <catalog/catalog_internal.h>

#include <stdio.h>
#include <stdlib.h>

struct cat_overlay *
cat_overlay_locked(struct cat *c, const struct txn *t)
{
	struct cat_overlay *o = c->overlay;
	while (o != NULL && o->t != t)
		o = o->next;
	return o;
}

struct cat_overlay *
cat_overlay_of(struct cat *c, const struct txn *t)
{
	pthread_mutex_lock(&c->lock);
	struct cat_overlay *o = cat_overlay_locked(c, t);
	pthread_mutex_unlock(&c->lock);
	return o;
}

const struct cat_entry *
cat_overlay_find(struct cat *c, const struct txn *t, const char *name, bool *hides)
{
	const struct cat_entry *found = NULL;
	pthread_mutex_lock(&c->lock);
	const struct cat_overlay *o = cat_overlay_locked(c, t);
	for (const struct cat_change *x = o ? o->list : NULL; x != NULL; x = x->next) {
		if (strcmp(x->entry->def.path, name) != 0)
			continue;
		*hides = x->drop;
		if (!x->drop)
			found = x->entry;
		break;
	}
	pthread_mutex_unlock(&c->lock);
	return found;
}

bool
cat_overlay_drops(const struct cat_overlay *o, const struct cat_entry *e)
{
	for (const struct cat_change *x = o ? o->list : NULL; x != NULL; x = x->next)
		if (x->drop && x->entry == e)
			return true;
	return false;
}

void
cat_overlay_free(struct cat_overlay *o)
{
	for (struct cat_change *x = o->list, *next; x != NULL; x = next) {
		next = x->next;
		x->entry->changes--;
		free(x);
	}
	free(o);
}

/* Remembers a change of t. */
static nam_status
note(struct cat *c, struct txn *t, struct cat_entry *e, bool drop, bool keep)
{
	struct cat_change *x = malloc(sizeof *x);
	struct cat_overlay *fresh = calloc(1, sizeof *fresh);
	if (x == NULL || fresh == NULL) {
		free(x);
		free(fresh);
		return NAM_NOMEM;
	}
	pthread_mutex_lock(&c->lock);
	struct cat_overlay *o = cat_overlay_locked(c, t);
	if (o == NULL) {
		o = fresh;
		fresh = NULL;
		o->t = t;
		o->next = c->overlay;
		c->overlay = o;
		atomic_fetch_add_explicit(&c->overlays, 1, memory_order_release);
	}
	*x = (struct cat_change){ .drop = drop, .keep = keep, .entry = e, .next = o->list };
	for (struct cat_change *y = drop ? o->list : NULL; y != NULL && !x->undone; y = y->next)
		if (!y->drop && y->entry == e)
			x->undone = y->undone = true;
	o->list = x;
	o->stamp = ++c->stamp;
	e->changes++;
	pthread_mutex_unlock(&c->lock);
	free(fresh);
	txn_set_note(t, TSO_NOTE_CATALOG);
	return NAM_OK;
}

/* ---- entries of indexes -------------------------------------------------------------
 *
 * A table's definition has its indexes. Each index is also a relation of its own, for its name and
 * so that the memory of its tree is the catalog's to tell about (txn_on_orphan). */

static nam_status
next_id(struct cat *c, struct txn_worker *tw, uint32_t *out)
{
	uint64_t id;
	nam_status st = net_faa1(txn_worker_net(tw), txn_db_root(c->db, CAT_ROOT_NEXT_ID), 1, &id, NULL);
	if (st == NAM_OK && id > UINT32_MAX - CAT_FIRST_ID)
		st = NAM_INVALID; /* a limit, not memory */
	*out = (uint32_t)id + CAT_FIRST_ID;
	return st;
}

/* Of an index of the table with that path. */
static struct cat_table
index_def(const struct cat_index *ix, const char *path, uint32_t table, uint32_t generation)
{
	struct cat_table def = {
		.kind = CAT_INDEX, .index_of = table, .generation = generation, .store = ix->store
	};
	cat_beside(path, ix->name, def.path);
	def.store.slots = 0;
	def.store.order = NULL;
	def.store.orders = 0;
	def.store.view = NULL;
	return def;
}

/* Writes the relation of an index, whose tree is made. */
static nam_status
index_write(struct cat *c, struct txn *t, const struct cat_table *def, bool keep)
{
	struct cat_entry *e = cat_entry_new(def);
	struct nam_arena arena;
	if (e == NULL)
		return NAM_NOMEM;
	nam_arena_init(&arena, 16 << 10);
	nam_status st = cat_write(c, t, &e->def, false, &arena);
	nam_arena_fini(&arena);
	if (st == NAM_OK)
		st = note(c, t, e, false, keep);
	if (st != NAM_OK)
		free(e);
	return st;
}

/* Makes the tree of an index, and its relation. ix gets its number and anchor. */
static nam_status
index_make(struct cat *c, struct txn *t, const char *path, uint32_t table, struct cat_index *ix, bool vital)
{
	char its[CAT_PATH_MAX + 1];
	struct txn_worker *tw = txn_worker_of(t);
	const struct txn_order order = { .words = ix->words };
	const struct cat_table *there;
	cat_beside(path, ix->name, its);
	nam_status st = cat_name_taken(c, t, its, &there);
	if (st == NAM_OK && there != NULL)
		st = NAM_DUPLICATE;
	ix->store =
	    (struct txn_table){ .slots = 2, .listed = true, .vital = vital, .order = &order, .orders = 1 };
	if (st == NAM_OK)
		st = next_id(c, tw, &ix->store.id);
	if (st != NAM_OK || (st = txn_table_create(tw, &ix->store)) != NAM_OK)
		return st;
	ix->store.order = NULL;
	ix->store.orders = 0;
	ix->store.vital = false;
	const struct cat_table def = index_def(ix, path, table, 0);
	if ((st = index_write(c, t, &def, false)) != NAM_OK)
		txn_table_free(tw, &ix->store, 0);
	return st;
}

/* The relation of an index. */
static nam_status
index_find(
    struct cat *c, struct txn *t, const char *path, const struct cat_index *ix, const struct cat_table **its)
{
	char its_path[CAT_PATH_MAX + 1];
	cat_beside(path, ix->name, its_path);
	nam_status st = cat_find(c, t, its_path, its);
	bool is =
	    st == NAM_OK && *its != NULL && (*its)->kind == CAT_INDEX && (*its)->store.id == ix->store.id;
	return st != NAM_OK || is ? st : NAM_CONFLICT;
}

/* Takes it away. keep: its tree stays, under another name. */
static nam_status
index_erase(struct cat *c, struct txn *t, const struct cat_table *its, bool keep)
{
	struct nam_arena arena;
	nam_arena_init(&arena, 16 << 10);
	nam_status st = cat_erase(c, t, its, false, &arena);
	nam_arena_fini(&arena);
	return st == NAM_OK ? note(c, t, (struct cat_entry *)(uintptr_t)its, true, keep) : st;
}

/*
 * Labels of a type that t itself has made: no other transaction can use them before t has
 * committed. Those that t adds to another type are learned when they are committed.
 */
static bool
learn(const struct cat_table *def)
{
	return def->kind != CAT_ENUM_TYPE || !def->fresh ||
	       cat_enum_learn(def->number, def->generation, cat_local(def->path), def->label, def->labels);
}

nam_status
cat_create(struct cat *c, struct txn *t, const struct cat_table *def)
{
	const struct cat_table *there;
	nam_status st = cat_name_taken(c, t, def->path, &there);
	if (st != NAM_OK)
		return st;
	if (there != NULL)
		return NAM_DUPLICATE;

	struct txn_worker *tw = txn_worker_of(t);
	struct cat_entry *e = cat_entry_new(def);
	struct nam_arena arena;
	struct cat_err err;
	nam_arena_init(&arena, 64 << 10);
	if (e == NULL)
		return NAM_NOMEM;
	bool rows = def->kind == CAT_TABLE;
	if (rows && !cat_table_layout(&e->def, &err)) {
		st = NAM_INVALID;
		goto fail;
	}
	/* What a block has left is room for columns that ALTER TABLE adds. */
	if (rows)
		e->def.store.row_max = txn_row_room(e->def.store.slots, e->def.store.row_max);
	if ((st = next_id(c, tw, &e->def.store.id)) != NAM_OK)
		goto fail;
	e->def.store.listed = rows;
	if (def->kind == CAT_ENUM_TYPE && e->def.store.id >= CAT_TYPE_IDS) {
		st = NAM_INVALID;
		goto fail;
	}
	if (def->kind == CAT_ENUM_TYPE && (e->def.number = cat_enum_number(c->tag, e->def.store.id)) == 0) {
		st = NAM_NOMEM;
		goto fail;
	}
	e->def.fresh = true;
	/* The rows will be its own, so the trees are, too. */
	for (unsigned i = 0; i < e->def.indexes; i++) {
		cat_index_layout(&e->def, &e->def.index[i]);
		e->def.index[i].valid = true;
		st = index_make(c, t, e->def.path, e->def.store.id, &e->def.index[i], e->def.store.vital);
		if (st != NAM_OK)
			goto fail;
	}
	if (rows && (st = txn_table_create(tw, &e->def.store)) != NAM_OK)
		goto fail;
	e->def.store.vital = false; /* its rows are not, even if its making was */
	if ((st = cat_write(c, t, &e->def, false, &arena)) == NAM_DUPLICATE ||
	    (st == NAM_OK && (st = cat_entry_open(c, e)) != NAM_OK)) {
		if (rows)
			txn_table_free(tw, &e->def.store, 0);
		goto fail;
	}
	nam_status noted = learn(&e->def) ? note(c, t, e, false, false) : NAM_NOMEM;
	if (noted != NAM_OK) {
		if (rows)
			txn_table_free(tw, &e->def.store, 0);
		cat_entry_close(c, e);
		free(e);
		st = noted;
	}
	nam_arena_fini(&arena);
	return st;
fail:
	nam_arena_fini(&arena);
	free(e);
	return st;
}

nam_status
cat_drop(struct cat *c, struct txn *t, const struct cat_table *table)
{
	struct cat_entry *e = (struct cat_entry *)(uintptr_t)table; /* def is its first member */
	if (table->system || table->kind == CAT_INDEX)
		return NAM_REFUSED;
	const struct cat_table *its[CAT_INDEXES_MAX];
	nam_status st = NAM_OK, found = NAM_OK;
	/*
	 * Found before anything is erased: a catalog that is read with rows gone, and no note that
	 * t has changed it, would be published for others.
	 */
	for (unsigned i = 0; found == NAM_OK && i < table->indexes; i++)
		found = index_find(c, t, table->path, &table->index[i], &its[i]);
	struct nam_arena arena;
	nam_arena_init(&arena, 64 << 10);
	st = cat_erase(c, t, table, false, &arena);
	nam_arena_fini(&arena);
	if (st == NAM_OK)
		st = found;
	if (st == NAM_OK)
		st = note(c, t, e, true, false);
	for (unsigned i = 0; st == NAM_OK && i < table->indexes; i++)
		st = index_erase(c, t, its[i], false);
	return st;
}

/* Locks the row of nam_tables that defines a table. NAM_CONFLICT: it is another one by now. */
static nam_status
lock_definition(struct cat *c, struct txn *t, const struct cat_table *table)
{
	struct cat_table *sys = &c->system[0]->def;
	struct nam_arena arena;
	nam_arena_init(&arena, 16 << 10);
	struct txn_get g = { .table = &sys->store };
	union cat_val name = { .s = { table->path, (uint32_t)strlen(table->path) } };
	struct cat_str key;
	nam_status st = cat_key_encode(sys, &name, &key, &g.hash, &arena);
	g.key = key.p;
	g.key_len = key.len;
	if (st == NAM_OK && (st = txn_get(t, &g, 1, &arena)) == NAM_OK && (st = g.status) == NAM_OK)
		st = txn_lock_now(t, &sys->store, &g.row, true);
	if (st == NAM_OK &&
	    (g.row.at.bits != table->store.guard.bits || g.row.cid != table->store.guard_word))
		st = NAM_ABSENT;
	nam_arena_fini(&arena);
	return st == NAM_ABSENT ? NAM_CONFLICT : st;
}

nam_status
cat_hold(struct cat *c, struct txn *t, const struct cat_table *table)
{
	if (table->store.guard.bits == 0) /* t's own definition */
		return NAM_OK;
	nam_status st = lock_definition(c, t, table);
	return st == NAM_OK ? txn_lock_table(t, (struct txn_table *)(uintptr_t)&table->store) : st;
}

nam_status
cat_hold_to_end(struct cat *c, struct txn *t, const struct cat_table *table)
{
	if (table->store.guard.bits == 0)
		return NAM_OK;
	nam_status st = lock_definition(c, t, table);
	if (st != NAM_OK)
		return st;
	st = txn_lock_table(t, (struct txn_table *)(uintptr_t)&table->store);
	return st == NAM_GONE ? NAM_OK : st;
}

/* extras: only what nam_extras says is another. */
static nam_status
alter(struct cat *c, struct txn *t, const struct cat_table *table, const struct cat_table *def, bool extras)
{
	struct cat_entry *was = (struct cat_entry *)(uintptr_t)table;
	struct nam_arena arena;
	struct cat_err err;
	bool rows = table->kind == CAT_TABLE;
	if (table->system || table->kind == CAT_INDEX)
		return NAM_REFUSED;
	struct cat_entry *e = cat_entry_new(def);
	if (e == NULL)
		return NAM_NOMEM;
	bool opened = false;
	e->def.store = table->store;
	e->def.store.view = NULL;
	e->def.store.guard.bits = 0;
	e->def.generation = table->generation + 1;
	e->def.fresh = table->fresh && table->store.guard.bits == 0;
	nam_arena_init(&arena, 64 << 10);
	nam_status st = !rows || cat_table_layout(&e->def, &err) ? NAM_OK : NAM_INVALID;
	e->def.store.row_max = table->store.row_max;
	if (st == NAM_OK)
		st = cat_erase(c, t, table, extras, &arena);
	if (st == NAM_OK)
		st = cat_write(c, t, &e->def, extras, &arena);
	if (st == NAM_OK && !learn(&e->def))
		st = NAM_NOMEM;
	if (st == NAM_OK)
		opened = (st = cat_entry_open(c, e)) == NAM_OK;
	if (st == NAM_OK && rows)
		st = txn_table_becomes(t, &was->def.store, &e->def.store);
	if (st == NAM_OK)
		st = note(c, t, was, true, true);
	if (st == NAM_OK)
		st = note(c, t, e, false, true);
	if (st != NAM_OK) {
		if (opened)
			cat_entry_close(c, e);
		free(e);
	}
	nam_arena_fini(&arena);
	return st;
}

/* table's definition with `indexes` of ix. */
static nam_status
with_indexes(struct cat *c, struct txn *t, const struct cat_table *table, struct cat_index *ix, unsigned n)
{
	struct cat_table def = *table;
	def.index = ix;
	def.indexes = n;
	int key = cat_key_order(&def);
	if (key >= 0)
		memcpy(def.key_name, ix[key].name, sizeof def.key_name);
	else if (!cat_is_hashed(table))
		def.keys = 0;
	return alter(c, t, table, &def, false);
}

nam_status
cat_index_add(struct cat *c, struct txn *t, const struct cat_table *table, const struct cat_index *ix)
{
	NAM_ASSERT(!ix->primary);
	if (table->indexes == CAT_INDEXES_MAX)
		return NAM_REFUSED;
	struct cat_index *all = calloc(table->indexes + 1u, sizeof *all);
	if (all == NULL)
		return NAM_NOMEM;
	if (table->indexes > 0)
		memcpy(all, table->index, table->indexes * sizeof *all);
	all[table->indexes] = *ix;
	cat_index_layout(table, &all[table->indexes]);
	nam_status st = index_make(c, t, table->path, table->store.id, &all[table->indexes], false);
	if (st == NAM_OK)
		st = with_indexes(c, t, table, all, table->indexes + 1);
	free(all);
	return st;
}

nam_status
cat_index_drop(struct cat *c, struct txn *t, const struct cat_table *table, unsigned i)
{
	struct cat_index *all = calloc(table->indexes, sizeof *all);
	if (all == NULL)
		return NAM_NOMEM;
	for (unsigned k = 0, n = 0; k < table->indexes; k++)
		if (k != i)
			all[n++] = table->index[k];
	const struct cat_table *its;
	nam_status st = index_find(c, t, table->path, &table->index[i], &its);
	if (st == NAM_OK)
		st = index_erase(c, t, its, false);
	if (st == NAM_OK)
		st = with_indexes(c, t, table, all, table->indexes - 1);
	free(all);
	return st;
}

nam_status
cat_index_rename(struct cat *c, struct txn *t, const struct cat_table *table, unsigned i, const char *name)
{
	char path[CAT_PATH_MAX + 1];
	const struct cat_table *there, *its;
	cat_beside(table->path, name, path);
	nam_status st = cat_name_taken(c, t, path, &there);
	if (st != NAM_OK || there != NULL)
		return st != NAM_OK ? st : NAM_DUPLICATE;
	struct cat_index *all = calloc(table->indexes, sizeof *all);
	if (all == NULL)
		return NAM_NOMEM;
	memcpy(all, table->index, table->indexes * sizeof *all);
	snprintf(all[i].name, sizeof all[i].name, "%s", name);
	st = index_find(c, t, table->path, &table->index[i], &its);
	uint32_t generation = st == NAM_OK ? its->generation : 0;
	if (st == NAM_OK)
		st = index_erase(c, t, its, true);
	if (st == NAM_OK) {
		const struct cat_table def = index_def(&all[i], table->path, table->store.id, generation + 1);
		st = index_write(c, t, &def, true);
	}
	if (st == NAM_OK)
		st = with_indexes(c, t, table, all, table->indexes);
	free(all);
	return st;
}

nam_status
cat_index_table(struct cat *c, struct txn *t, const struct cat_table *index, const struct cat_table **out)
{
	nam_status st = cat_of_id(c, t, index->index_of, out);
	if (*out != NULL && (*out)->kind != CAT_TABLE)
		*out = NULL;
	return st;
}

nam_status
cat_alter(struct cat *c, struct txn *t, const struct cat_table *table, const struct cat_table *def)
{
	if (table->kind != CAT_TABLE)
		return NAM_REFUSED;
	return alter(c, t, table, def, false);
}

nam_status
cat_describe(struct cat *c, struct txn *t, const struct cat_table *table, const struct cat_table *def)
{
	if (table->system || table->kind != CAT_TABLE)
		return NAM_REFUSED;
	nam_status st = table->store.guard.bits != 0 ? lock_definition(c, t, table) : NAM_OK;
	return st == NAM_OK ? alter(c, t, table, def, true) : st;
}

nam_status
cat_grant_as(struct cat *c, struct txn *t, const struct cat_table *table, const struct cat_table *def)
{
	if (table->kind == CAT_TABLE)
		return cat_describe(c, t, table, def);
	/* No row of nam_extras counts its changes: the row of nam_tables tells them by its CID. */
	nam_status st = table->store.guard.bits != 0 ? lock_definition(c, t, table) : NAM_OK;
	return st == NAM_OK ? alter(c, t, table, def, false) : st;
}

nam_status
cat_type_hold(struct cat *c, struct txn *t, const struct cat_table *type)
{
	return type->store.guard.bits != 0 ? lock_definition(c, t, type) : NAM_OK;
}

nam_status
cat_type_use(struct cat *c, struct txn *t, const struct cat_table *type)
{
	if (type->store.guard.bits == 0) /* t's own: no other transaction can use it yet */
		return NAM_OK;
	nam_status st = lock_definition(c, t, type);
	return st == NAM_OK ? cat_type_touch(c, t, type) : st;
}

nam_status
cat_type_alter(struct cat *c, struct txn *t, const struct cat_table *type, const struct cat_table *def)
{
	nam_status st = cat_type_hold(c, t, type);
	return st == NAM_OK ? alter(c, t, type, def, false) : st;
}

struct cat_overlay *
cat_leave(struct cat *c, const struct txn *t)
{
	struct cat_overlay *o = NULL;
	pthread_mutex_lock(&c->lock);
	for (struct cat_overlay **link = &c->overlay; *link != NULL; link = &(*link)->next)
		if ((*link)->t == t) {
			o = *link;
			*link = o->next;
			atomic_fetch_sub_explicit(&c->overlays, 1, memory_order_release);
			break;
		}
	pthread_mutex_unlock(&c->lock);
	return o;
}

void
cat_decided(struct cat *c, struct txn_worker *tw, struct cat_overlay *o, tso_cid cid)
{
	if (o == NULL)
		return;
	pthread_mutex_lock(&c->lock);
	/* Created and committed: the next shot will list it. Created and rolled back: no other
	 * transaction has seen it. */
	for (struct cat_change *x = o->list; x != NULL; x = x->next) {
		struct cat_entry *e = x->entry;
		if (x->drop)
			continue;
		txn_table_settled(&e->def.store, cid != 0 && !cat_overlay_drops(o, e));
		if (cid != 0 && !cat_overlay_drops(o, e)) {
			e->born = cid;
			e->fresh = true;
			e->next = c->fresh;
			c->fresh = e;
		} else {
			e->gone = cid;
			e->next = c->buried;
			c->buried = e;
		}
	}
	if (cid != 0)
		cat_done_add(c, o, cid);
	pthread_mutex_unlock(&c->lock);
	/* Still named by `changes`, so nothing is freed under our feet while these calls park. */
	for (struct cat_change *x = o->list; x != NULL; x = x->next) {
		/* A dropped table is released when no snapshot can see it; a table whose creation
		 * was rolled back, at once. */
		bool table = x->entry->def.kind == CAT_TABLE;
		bool dead = table && x->drop && x->entry->def.store.view == NULL;
		if (x->keep || (!table && x->entry->def.kind != CAT_INDEX) || dead)
			continue;
		if (x->drop == (cid != 0))
			txn_table_free(tw, &x->entry->def.store, cid);
		else if (!x->drop && !cat_overlay_drops(o, x->entry))
			(void)txn_table_made(tw, &x->entry->def.store);
	}
	pthread_mutex_lock(&c->lock);
	o->busy = false;
	if (cid == 0)
		cat_overlay_free(o);
	else
		cat_done_forget(c);
	pthread_mutex_unlock(&c->lock);
}
