/* catalog.c -- the process's cache of definitions, and DDL as rows of two system tables. */
#include <base/assert.h>
#include <catalog/by_id.h>
#include <catalog/catalog_internal.h>

#include <stdio.h>
#include <stdlib.h>

/*
 * Definitions never change, so what readers share is immutable: a `shot` is the whole
 * catalog as of a range of snapshots, and its tables are shared with its neighbours.
 *
 * A lookup with a warm cache takes no lock: it pins the newest shot with a
 * hazard pointer, looks the name up, lets go. A shot says for which snapshots it
 * is right; when a newer note exists (tso_noted) than it covers, the system
 * tables are read again. Everything else (changes, reclaiming) is under c->lock,
 * never held while a coroutine parks.
 *
 * A table's struct is freed when no shot lists it, the watermark has passed the drop (a transaction
 * that found or wrote the table has an older snapshot pinned), and CAT_GRAVES more tables have been
 * dropped. The last condition protects a plan that looks once too often.
 */

static pthread_mutex_t opened_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cat *opened; /* opened_lock */
static _Atomic unsigned next_reader;
static _Thread_local unsigned reader = UINT32_MAX;

/* ---- tables ------------------------------------------------------------------- */

/* Copies a text behind the entry. */
static const char *
keep_text(char **at, const char *text)
{
	size_t n = text ? strlen(text) + 1 : 0;
	char *to = *at;
	if (text == NULL)
		return NULL;
	memcpy(to, text, n);
	*at += n;
	return to;
}

/* What rows without a place show, out of their texts; *bytes: what they point to. */
static union cat_val *
absent_values(const struct cat_table *def, size_t *bytes, struct nam_arena *arena)
{
	union cat_val *v = nam_arena_zero(arena, (def->columns + 1u) * sizeof *v);
	struct cat_err err;
	*bytes = 0;
	for (unsigned i = 0; v != NULL && i < def->columns; i++) {
		const struct cat_column *c = &def->column[i];
		if (c->missing == NULL)
			continue;
		struct cat_str text = { c->missing, (uint32_t)strlen(c->missing) };
		if (!cat_value_in(cat_type_plain(c->type), c->typmod, text, &v[i], arena, &err))
			return NULL;
		if (cat_type_is_str(c->type))
			*bytes += v[i].s.len;
	}
	return v;
}

static struct cat_entry *
entry_new(const struct cat_table *def, const union cat_val *absent, size_t absent_bytes)
{
	size_t columns = def->columns * sizeof(struct cat_column);
	size_t indexes = def->indexes * sizeof *def->index;
	size_t checks = def->checks * sizeof(struct cat_check);
	size_t uses = def->uses * sizeof *def->use;
	size_t foreigns = def->foreigns * sizeof *def->foreign;
	size_t referrers = def->referrers * sizeof *def->referrer;
	size_t grants = def->grants * sizeof *def->grant;
	size_t places = def->place ? def->places * sizeof *def->place : 0;
	size_t labels = def->labels * sizeof *def->label;
	size_t texts = (def->view ? strlen(def->view) + 1 : 0) + absent_bytes;
	for (unsigned i = 0; i < def->columns; i++)
		texts += (def->column[i].dflt ? strlen(def->column[i].dflt) + 1 : 0) +
			 (def->column[i].stats ? strlen(def->column[i].stats) + 1 : 0) +
			 (def->column[i].missing ? strlen(def->column[i].missing) + 1 : 0);
	for (unsigned i = 0; i < def->checks; i++)
		texts += strlen(def->check[i].text) + 1;
	struct cat_entry *e = calloc(1, sizeof *e + columns + indexes + labels + checks + foreigns +
					    referrers + grants + places + uses + texts);
	if (e == NULL)
		return NULL;
	e->def = *def;
	e->def.column = e->columns;
	e->def.next = NULL;
	e->def.store.view = NULL;
	if (columns > 0)
		memcpy(e->columns, def->column, columns);
	e->def.store.order = NULL;
	e->def.store.orders = 0;
	e->def.index = (struct cat_index *)((char *)e->columns + columns);
	if (def->indexes > 0)
		memcpy(e->def.index, def->index, indexes);
	for (unsigned i = 0; i < def->indexes; i++)
		e->def.index[i].store.view = NULL;
	e->def.label = (struct cat_label *)((char *)e->columns + columns + indexes);
	if (labels > 0)
		memcpy(e->def.label, def->label, labels);
	e->def.check = (struct cat_check *)((char *)e->def.label + labels);
	if (def->checks > 0)
		memcpy(e->def.check, def->check, checks);
	char *at = (char *)e->def.check + checks;
	e->def.foreign = (struct cat_foreign *)at;
	if (def->foreigns > 0)
		memcpy(at, def->foreign, foreigns);
	at += foreigns;
	e->def.referrer = (struct cat_referrer *)at;
	if (def->referrers > 0)
		memcpy(at, def->referrer, referrers);
	at += referrers;
	e->def.grant = (struct cat_grant *)at;
	if (def->grants > 0)
		memcpy(at, def->grant, grants);
	at += grants;
	if (def->place != NULL)
		e->def.place = memcpy(at, def->place, places);
	at += places;
	e->def.use = (char(*)[CAT_PATH_MAX + 1]) at;
	if (def->uses > 0)
		memcpy(at, def->use, uses);
	at += uses;
	for (unsigned i = 0; i < def->columns; i++) {
		e->columns[i].dflt = keep_text(&at, def->column[i].dflt);
		e->columns[i].stats = keep_text(&at, def->column[i].stats);
		e->columns[i].missing = keep_text(&at, def->column[i].missing);
		e->columns[i].absent = absent[i];
		if (def->column[i].missing == NULL || !cat_type_is_str(def->column[i].type))
			continue;
		e->columns[i].absent.s.p = memcpy(at, absent[i].s.p, absent[i].s.len);
		at += absent[i].s.len;
	}
	for (unsigned i = 0; i < def->checks; i++)
		e->def.check[i].text = keep_text(&at, def->check[i].text);
	e->def.view = keep_text(&at, def->view);
	cat_foreign_resolve(&e->def);
	return e;
}

struct cat_entry *
cat_entry_new(const struct cat_table *def)
{
	struct nam_arena arena;
	size_t bytes;
	nam_arena_init(&arena, 4 << 10);
	const union cat_val *absent = absent_values(def, &bytes, &arena);
	struct cat_entry *e = absent ? entry_new(def, absent, bytes) : NULL;
	nam_arena_fini(&arena);
	return e;
}

void
cat_entry_close(struct cat *c, struct cat_entry *e)
{
	if (e->def.store.view != NULL)
		txn_table_close(c->db, &e->def.store);
	for (unsigned i = 0; i < e->def.indexes; i++)
		if (e->def.index[i].store.view != NULL)
			txn_table_close(c->db, &e->def.index[i].store);
	free(e->order);
	e->order = NULL;
}

static void
entry_free(struct cat *c, struct cat_entry *e)
{
	cat_entry_close(c, e);
	cat_pages_forget(c->pages, e->def.store.id);
	free(e);
}

/* No shot lists it any more: it waits for the last snapshot that may. Under lock. */
static void
entry_bury(struct cat *c, struct cat_entry *e, tso_cid gone)
{
	e->gone = gone;
	e->next = c->buried;
	c->buried = e;
}

const char *
cat_key_name(const struct cat_table *t, char buf[CAT_NAME_MAX + 8])
{
	if (t->key_name[0] != 0)
		return t->key_name;
	snprintf(buf, CAT_NAME_MAX + 8, "%s_pkey", cat_local(t->path));
	return buf;
}

/* ---- shots -------------------------------------------------------------------- */

static bool
shot_covers(const struct cat_snapshot *s, tso_cid at, tso_cid noted)
{
	return at >= s->from && (at <= s->at || noted <= s->at);
}

void
cat_entry_unlisted(struct cat *c, struct cat_entry *e, tso_cid gone)
{
	if (--e->shots == 0 && !e->fresh)
		entry_bury(c, e, gone);
}

/* Pins the newest shot. *slot: where; NULL = the lock is held instead. */
static struct cat_snapshot *
pin(struct cat *c, struct cat_hazard **slot)
{
	if (reader == UINT32_MAX)
		reader = atomic_fetch_add(&next_reader, 1);
	*slot = NULL;
	if (reader >= CAT_READERS) {
		pthread_mutex_lock(&c->lock);
		return atomic_load(&c->head);
	}
	*slot = &c->hazard[reader];
	for (struct cat_snapshot *s = atomic_load(&c->head);;) {
		atomic_store(&(*slot)->shot, s); /* sequentially consistent: seen before the next
						  * load */
		struct cat_snapshot *again = atomic_load(&c->head);
		if (again == s)
			return s;
		s = again;
	}
}

static void
unpin(struct cat *c, struct cat_hazard *slot)
{
	if (slot != NULL)
		atomic_store_explicit(&slot->shot, NULL, memory_order_release);
	else
		pthread_mutex_unlock(&c->lock);
}

static bool
pinned(struct cat *c, const struct cat_snapshot *s)
{
	for (unsigned i = 0; i < CAT_READERS; i++)
		if (atomic_load(&c->hazard[i].shot) == s)
			return true;
	return false;
}

/* True if a definition of that id is the newest shot's, or one that a transaction has made. Under
 * lock. */
static bool
id_in_use(const struct cat *c, uint32_t id)
{
	const struct cat_snapshot *s = atomic_load(&c->head);
	if (s != NULL && cat_shot_by_id(s, id) != NULL)
		return true;
	for (const struct cat_entry *e = c->fresh; e != NULL; e = e->next)
		if (e->def.store.id == id)
			return true;
	return false;
}

/* Frees shots no snapshot can ask for and tables no snapshot can have found. Under lock. */
static void
sweep(struct cat *c)
{
	tso_cid watermark = tso_watermark(c->oracle);
	struct cat_snapshot *newer = atomic_load(&c->head);
	for (struct cat_snapshot *s; newer != NULL && (s = newer->older) != NULL;) {
		if (s->at < watermark && !pinned(c, s)) {
			newer->older = s->older;
			cat_shot_free(c, s, newer->at);
		} else {
			newer = s;
		}
	}
	unsigned kept = 0;
	for (struct cat_entry **link = &c->buried, *e; (e = *link) != NULL;) {
		if (e->gone <= watermark && e->changes == 0 && kept++ >= CAT_GRAVES) {
			*link = e->next;
			if (e->def.kind == CAT_ENUM_TYPE && !id_in_use(c, e->def.store.id))
				cat_enum_forget(e->def.number, e->def.generation);
			entry_free(c, e);
		} else {
			link = &e->next;
		}
	}
}

/* A table this process knows already, by name and id. Under lock. */
static struct cat_entry *
known(struct cat *c, const char *name, uint32_t id, uint32_t generation)
{
	for (struct cat_snapshot *s = atomic_load(&c->head); s != NULL; s = s->older) {
		struct cat_entry *e = cat_shot_find(s, name);
		if (e != NULL && e->def.store.id == id && e->def.generation == generation)
			return e;
	}
	for (struct cat_entry *e = c->fresh; e != NULL; e = e->next)
		if (e->def.store.id == id && e->def.generation == generation)
			return e;
	return NULL;
}

/* Takes tables off c->fresh that a newer shot lists, or that were dropped before a shot listed
 * them. Under lock. */
static void
decide_fresh(struct cat *c, tso_cid at)
{
	for (struct cat_entry **link = &c->fresh, *e; (e = *link) != NULL;) {
		if (e->shots == 0 && e->born > at) {
			link = &e->next;
			continue;
		}
		*link = e->next;
		e->next = NULL;
		e->fresh = false;
		if (e->shots == 0)
			entry_bury(c, e, at);
	}
}

/* Puts a shot where it belongs, newest first. Under lock. */
static void
insert(struct cat *c, struct cat_snapshot *s)
{
	c->published++;
	struct cat_snapshot *head = atomic_load(&c->head);
	if (head == NULL || s->at >= head->at) {
		s->older = head;
		atomic_store(&c->head, s);
		decide_fresh(c, s->at);
		return;
	}
	while (head->older != NULL && head->older->at > s->at)
		head = head->older;
	s->older = head->older;
	head->older = s;
}

void
cat_publish(struct cat *c, struct cat_snapshot *s)
{
	insert(c, s);
	cat_done_forget(c);
	sweep(c);
}

/* The entries of definitions that were read: those that the process has, and new ones. Under
 * lock. */
static nam_status
entries_of(struct cat *c, const struct cat_rows *rows, struct cat_entry **list, unsigned *n)
{
	*n = 0;
	for (unsigned i = 0; i < CAT_SHOWN; i++)
		list[(*n)++] = c->system[i];
	for (unsigned i = 0; i < rows->n; i++) {
		struct cat_table *def = &rows->table[i];
		struct cat_entry *e = known(c, def->path, def->store.id, def->generation);
		if (e == NULL) {
			nam_status st = NAM_NOMEM;
			e = cat_entry_new(def);
			if (e == NULL || (st = cat_entry_open(c, e)) != NAM_OK) {
				free(e);
				return st;
			}
		} else if (e->def.store.guard.bits == 0) {
			/* Created here: the address of its definition is known only now, and no
			 * other thread knows it yet. */
			e->def.store.guard = def->store.guard;
			e->def.store.guard_word = def->store.guard_word;
			txn_table_settled(&e->def.store, true);
		}
		list[(*n)++] = e;
		if (def->kind == CAT_ENUM_TYPE && !cat_enum_learn(def->number, def->generation,
						      cat_local(def->path), def->label, def->labels))
			return NAM_NOMEM;
	}
	return NAM_OK;
}

/* Publishes definitions that were read. Under lock. */
static nam_status
publish_rows(struct cat *c, const struct cat_rows *rows, tso_cid at, tso_cid noted, struct nam_arena *arena)
{
	struct cat_entry **list = nam_arena_take(arena, (rows->n + CAT_SHOWN) * sizeof *list);
	struct cat_snapshot *s = NULL;
	unsigned n = 0;
	nam_status st = list != NULL ? entries_of(c, rows, list, &n) : NAM_NOMEM;
	if (st == NAM_OK && (s = cat_shot_new(c, list, n, at)) == NULL)
		st = NAM_NOMEM;
	if (st == NAM_OK) {
		s->at = at;
		s->from = noted <= at ? noted : at;
		cat_publish(c, s);
		return NAM_OK;
	}
	/* Entries that were made for nothing go. */
	for (unsigned i = 0; i < n; i++)
		if (list[i]->shots == 0 && !list[i]->fresh && list[i]->changes == 0)
			entry_free(c, list[i]);
	return st;
}

/*
 * Reads the system tables in transaction t, or, t == NULL, in one of its own,
 * and publishes what it found. l: whose limits that one keeps, or NULL. In a coroutine.
 */
static nam_status
reload(struct cat *c, struct txn_worker *tw, struct txn *t, const struct txn_limits *l)
{
	struct nam_arena arena;
	struct txn *mine = NULL;
	struct cat_rows rows;
	bool read = true;
	nam_arena_init(&arena, 256 << 10);
	nam_status st = NAM_OK;
	if (t == NULL) {
		if ((st = txn_begin_by(tw, TXN_REPEATABLE_READ, l, &mine)) != NAM_OK)
			goto out;
		t = mine;
	}
	tso_cid at = txn_snapshot(t), noted = tso_noted(c->oracle);
	if (mine != NULL) {
		st = cat_follow(c, mine);
		read = st == NAM_ABSENT;
	}
	if (read)
		st = cat_read_all(c, t, &rows, &arena);
	if (mine != NULL) {
		if (net_account() != NULL)
			net_counts_add(net_account(), txn_counts(mine));
		txn_abort(mine);
	}
	if (st == NAM_OK && read) {
		pthread_mutex_lock(&c->lock);
		st = publish_rows(c, &rows, at, noted, &arena);
		pthread_mutex_unlock(&c->lock);
	}
out:
	nam_arena_fini(&arena);
	return st;
}

/*
 * Makes sure a shot covers t's snapshot, and answers it locked: c->lock is held
 * when NAM_OK. For the rare case that the newest does not.
 */
static nam_status
cover(struct cat *c, struct txn *t, struct cat_snapshot **out)
{
	tso_cid at = txn_snapshot(t);
	struct cat_snapshot *s;
	for (int round = 0;; round++) {
		tso_cid noted = tso_noted(c->oracle);
		pthread_mutex_lock(&c->lock);
		s = atomic_load(&c->head);
		if (s != NULL && !shot_covers(s, at, noted))
			for (s = s->older; s != NULL && !(at >= s->from && at <= s->at);)
				s = s->older;
		if (s != NULL || round == 3)
			break;
		pthread_mutex_unlock(&c->lock);
		/* A catalog snapshot made at a fresh snapshot serves every transaction; one made at
		 * t's own serves only transactions as old as t. A transaction that has changed the
		 * catalog would read its own rows. */
		bool own = round > 0 && cat_overlay_of(c, t) == NULL;
		nam_status st = reload(c, txn_worker_of(t), own ? t : NULL, txn_limits_of(t));
		if (st != NAM_OK)
			return st;
	}
	if (s == NULL) /* DDL of its own in an old snapshot: the newest there is */
		s = atomic_load(&c->head);
	*out = s;
	return NAM_OK;
}

nam_status
cat_name_taken(struct cat *c, struct txn *t, const char *path, const struct cat_table **out)
{
	*out = NULL;
	if (atomic_load_explicit(&c->overlays, memory_order_acquire) != 0) {
		bool hides = false;
		const struct cat_entry *mine = cat_overlay_find(c, t, path, &hides);
		if (mine != NULL)
			*out = &mine->def;
		if (mine != NULL || hides)
			return NAM_OK;
	}
	struct cat_hazard *slot;
	tso_cid at = txn_snapshot(t), noted = tso_noted(c->oracle);
	struct cat_snapshot *s = pin(c, &slot);
	bool covered = s != NULL && shot_covers(s, at, noted);
	struct cat_entry *e = covered ? cat_shot_find(s, path) : NULL;
	unpin(c, slot);
	if (!covered) {
		nam_status st = cover(c, t, &s);
		if (st != NAM_OK)
			return st;
		e = cat_shot_find(s, path);
		pthread_mutex_unlock(&c->lock);
	}
	if (e != NULL)
		*out = &e->def;
	return NAM_OK;
}

enum { RELATIONS = 1, SCHEMAS = 2, TYPES = 4 };

static bool
is_among(const struct cat_table *def, unsigned which)
{
	unsigned is = def->kind == CAT_SCHEMA ? SCHEMAS : cat_kind_is_type(def->kind) ? TYPES : RELATIONS;
	return (is & which) != 0;
}

nam_status
cat_find(struct cat *c, struct txn *t, const char *path, const struct cat_table **out)
{
	nam_status st = cat_name_taken(c, t, path, out);
	if (*out != NULL && !is_among(*out, RELATIONS))
		*out = NULL;
	return st;
}

nam_status
cat_type_named(struct cat *c, struct txn *t, const char *path, const struct cat_table **out)
{
	nam_status st = cat_name_taken(c, t, path, out);
	if (*out != NULL && !cat_kind_is_type((*out)->kind))
		*out = NULL;
	return st;
}

static int
tables_by_name(const void *a, const void *b)
{
	const struct cat_table *const *x = a, *const *y = b;
	return strcmp((*x)->path, (*y)->path);
}

/* All definitions of these kinds. */
static nam_status
list_of(struct cat *c, struct txn *t, unsigned which, const struct cat_table ***out, unsigned *n,
    struct nam_arena *arena)
{
	struct cat_snapshot *s;
	nam_status st = cover(c, t, &s);
	if (st != NAM_OK)
		return st;
	const struct cat_overlay *o = cat_overlay_locked(c, t);
	bool rare = (which & RELATIONS) == 0;
	unsigned max = (rare ? s->set->rares : s->set->tables) + s->others;
	for (const struct cat_change *x = o ? o->list : NULL; x != NULL; x = x->next)
		max++;
	const struct cat_table **list = nam_arena_take(arena, max * sizeof *list);
	struct cat_walk walk = { .of = s, .rare = rare };
	struct cat_entry *e;
	unsigned got = 0;
	if (list == NULL) {
		st = NAM_NOMEM;
		goto out;
	}
	while ((e = cat_walk_next(&walk)) != NULL)
		if (is_among(&e->def, which) && !cat_overlay_drops(o, e))
			list[got++] = &e->def;
	for (const struct cat_change *x = o ? o->list : NULL; x != NULL; x = x->next)
		if (is_among(&x->entry->def, which) && !x->drop && !cat_overlay_drops(o, x->entry))
			list[got++] = &x->entry->def;
	if (o != NULL)
		qsort(list, got, sizeof *list, tables_by_name);
	*out = list;
	*n = got;
out:
	pthread_mutex_unlock(&c->lock);
	return st;
}

nam_status
cat_list(struct cat *c, struct txn *t, const struct cat_table ***out, unsigned *n, struct nam_arena *arena)
{
	return list_of(c, t, RELATIONS, out, n, arena);
}

nam_status
cat_list_types(
    struct cat *c, struct txn *t, const struct cat_table ***out, unsigned *n, struct nam_arena *arena)
{
	return list_of(c, t, TYPES, out, n, arena);
}

nam_status
cat_of_id(struct cat *c, struct txn *t, uint32_t id, const struct cat_table **out)
{
	struct cat_snapshot *s;
	*out = NULL;
	nam_status st = cover(c, t, &s);
	if (st != NAM_OK)
		return st;
	const struct cat_overlay *o = cat_overlay_locked(c, t);
	const struct cat_entry *e = cat_shot_by_id(s, id);
	if (e != NULL && !cat_overlay_drops(o, e))
		*out = &e->def;
	for (const struct cat_change *x = o ? o->list : NULL; x != NULL && *out == NULL; x = x->next)
		if (!x->drop && !x->undone && x->entry->def.store.id == id)
			*out = &x->entry->def;
	pthread_mutex_unlock(&c->lock);
	return NAM_OK;
}

nam_status
cat_type_of_id(struct cat *c, struct txn *t, uint32_t id, const struct cat_table **out)
{
	nam_status st = cat_of_id(c, t, id, out);
	if (*out != NULL && !cat_kind_is_type((*out)->kind))
		*out = NULL;
	return st;
}

nam_status
cat_schemas(struct cat *c, struct txn *t, const struct cat_table ***out, unsigned *n, struct nam_arena *arena)
{
	return list_of(c, t, SCHEMAS, out, n, arena);
}

nam_status
cat_list_owned(
    struct cat *c, struct txn *t, const struct cat_table ***out, unsigned *n, struct nam_arena *arena)
{
	return list_of(c, t, RELATIONS | SCHEMAS | TYPES, out, n, arena);
}

nam_status
cat_schema_find(struct cat *c, struct txn *t, const char *name, const struct cat_table **out)
{
	char path[CAT_PATH_MAX + 1];
	cat_path(name, "", path);
	return cat_name_taken(c, t, path, out);
}

nam_status
cat_look(struct cat *c, struct txn *t)
{
	struct cat_hazard *slot;
	tso_cid at = txn_snapshot(t), noted = tso_noted(c->oracle);
	struct cat_snapshot *s = pin(c, &slot);
	bool covered = s != NULL && shot_covers(s, at, noted);
	unpin(c, slot);
	nam_status st = covered ? NAM_OK : cover(c, t, &s);
	if (!covered && st == NAM_OK)
		pthread_mutex_unlock(&c->lock);
	return st;
}

nam_status
cat_learn(struct txn *t)
{
	struct txn_db *db = txn_worker_db(txn_worker_of(t));
	pthread_mutex_lock(&opened_lock);
	struct cat *c = opened;
	while (c != NULL && c->db != db)
		c = c->next;
	pthread_mutex_unlock(&opened_lock);
	return c != NULL ? reload(c, txn_worker_of(t), NULL, txn_limits_of(t)) : NAM_OK;
}

nam_status
cat_shows(struct cat *c, struct txn *t, uint32_t table, net_addr anchor, bool *yes)
{
	struct cat_snapshot *s;
	tso_cid at = txn_snapshot(t);
	nam_status st = cover(c, t, &s);
	if (st != NAM_OK)
		return st;
	/* Of another time than t's it may not list what t shows. */
	*yes = false;
	if (s == NULL || !shot_covers(s, at, tso_noted(c->oracle)))
		st = NAM_BUSY;
	const struct cat_entry *e = st == NAM_OK ? cat_shot_by_id(s, table) : NULL;
	*yes = e != NULL && e->def.store.anchor.bits == anchor.bits;
	pthread_mutex_unlock(&c->lock);
	return st;
}

uint64_t
cat_version(struct cat *c, struct txn *t)
{
	if (atomic_load_explicit(&c->overlays, memory_order_acquire) != 0) {
		pthread_mutex_lock(&c->lock);
		const struct cat_overlay *o = cat_overlay_locked(c, t);
		uint64_t stamp = o ? UINT64_C(1) << 63 | o->stamp : 0;
		pthread_mutex_unlock(&c->lock);
		if (stamp != 0)
			return stamp;
	}
	tso_cid at = txn_snapshot(t), noted = tso_noted(c->oracle);
	if (noted <= at)
		return noted; /* the newest change there is: t sees it */
	pthread_mutex_lock(&c->lock);
	struct cat_snapshot *s = atomic_load(&c->head);
	while (s != NULL && !(at >= s->from && at <= s->at))
		s = s->older;
	uint64_t version = s ? s->from : at;
	pthread_mutex_unlock(&c->lock);
	return version;
}

bool
cat_changed_since(struct cat *c, struct txn_worker *tw, tso_cid snapshot)
{
	struct txn *t;
	if (txn_begin(tw, TXN_REPEATABLE_READ, &t) == NAM_OK)
		txn_abort(t);
	return tso_noted(c->oracle) > snapshot;
}

/* ---- opening ------------------------------------------------------------------- */

static nam_status
open_catalog(struct txn_worker *tw, bool afresh, struct cat **out)
{
	struct cat *c = aligned_alloc(64, (sizeof *c + 63) & ~(size_t)63);
	if (c == NULL)
		return NAM_NOMEM;
	memset(c, 0, sizeof *c);
	pthread_mutex_init(&c->lock, NULL);
	static _Atomic uint32_t tags;
	c->tag = atomic_fetch_add(&tags, 1);
	cat_enum_hold();
	pthread_mutex_lock(&opened_lock);
	c->next = opened;
	opened = c;
	pthread_mutex_unlock(&opened_lock);
	c->db = txn_worker_db(tw);
	c->oracle = txn_db_oracle(c->db);
	c->pages = cat_pages_new();
	c->chains = cat_chains_new();
	nam_status st = c->pages != NULL && c->chains != NULL ? cat_bootstrap(c, tw) : NAM_NOMEM;
	if (st == NAM_OK && afresh)
		st = cat_empty(c, tw);
	if (st == NAM_OK)
		st = reload(c, tw, NULL, NULL);
	if (st != NAM_OK) {
		cat_close(c);
		return st;
	}
	txn_on_orphan(c->db, cat_listed, c);
	*out = c;
	return NAM_OK;
}

nam_status
cat_open(struct txn_worker *tw, struct cat **out)
{
	return open_catalog(tw, false, out);
}

nam_status
cat_open_empty(struct txn_worker *tw, struct cat **out)
{
	return open_catalog(tw, true, out);
}

void
cat_close(struct cat *c)
{
	if (c == NULL)
		return;
	txn_on_orphan(c->db, NULL, NULL);
	struct cat_snapshot *older;
	for (struct cat_snapshot *s = atomic_load(&c->head); s != NULL; s = older) {
		older = s->older;
		cat_shot_free(c, s, 0);
	}
	for (struct cat_overlay *o; (o = c->done) != NULL;) {
		c->done = o->next;
		cat_overlay_free(o);
	}
	struct cat_entry *next;
	for (struct cat_entry *e = c->fresh; e != NULL; e = next) {
		next = e->next;
		entry_free(c, e);
	}
	for (struct cat_entry *e = c->buried; e != NULL; e = next) {
		next = e->next;
		bool system = e->def.system;
		if (!system)
			entry_free(c, e);
	}
	for (unsigned i = 0; i < CAT_SYSTEM; i++)
		if (c->system[i] != NULL)
			entry_free(c, c->system[i]);
	cat_pages_free(c->pages);
	cat_chains_free(c->chains);
	cat_enum_leave();
	pthread_mutex_lock(&opened_lock);
	for (struct cat **link = &opened; *link != NULL; link = &(*link)->next)
		if (*link == c) {
			*link = c->next;
			break;
		}
	pthread_mutex_unlock(&opened_lock);
	pthread_mutex_destroy(&c->lock);
	free(c);
}
