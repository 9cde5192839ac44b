/*
 * shot.c -- the catalog of a snapshot, as readers share it.
 *
 * A shot is a set, which it shares with other shots, and what it has otherwise: relations that came
 * since the set was made, and names that went. So a change of the catalog costs what it changes,
 * and not what there is. When others are many, the next shot gets a set of its own.
 *
 * entry->shots counts the sets that list an entry, and the shots that have it otherwise.
 */
#include <base/hash.h>
#include <catalog/catalog_internal.h>

#include <stdlib.h>

enum { OTHERS_LEAST = 16, OTHERS_SHARE = 16 };

static uint64_t
name_hash(const char *name)
{
	return nam_hash(name, strlen(name), 0);
}

/* Of n names. */
static uint64_t
slots_for(unsigned n)
{
	uint64_t slots = 8;
	while (slots < 2 * (uint64_t)n)
		slots *= 2;
	return slots;
}

/* ---- sets ---- */

static bool
is_rare(const struct cat_entry *e)
{
	return e->def.kind == CAT_SCHEMA || cat_kind_is_type(e->def.kind);
}

/* n entries, by name. */
static struct cat_set *
set_new(struct cat_entry *const *entry, unsigned n)
{
	uint64_t slots = slots_for(n);
	struct cat_set *s = calloc(1, sizeof *s + slots * sizeof s->slot[0]);
	struct cat_entry **table = malloc((n + 1u) * sizeof *table);
	unsigned rares = 0;
	for (unsigned i = 0; i < n; i++)
		rares += is_rare(entry[i]);
	struct cat_entry **rare = malloc((rares + 1u) * sizeof *rare);
	if (s == NULL || table == NULL || rare == NULL) {
		free(rare);
		free(s);
		free(table);
		return NULL;
	}
	s->mask = slots - 1;
	s->table = table;
	s->tables = n;
	s->rare = rare;
	for (unsigned i = 0; i < n; i++) {
		uint64_t h = name_hash(entry[i]->def.path);
		while (s->slot[h & s->mask] != NULL)
			h++;
		s->slot[h & s->mask] = table[i] = entry[i];
		entry[i]->shots++;
		if (is_rare(entry[i]))
			rare[s->rares++] = entry[i];
	}
	return s;
}

static struct cat_entry *
set_find(const struct cat_set *s, const char *name, uint64_t hash)
{
	for (uint64_t h = hash;; h++) {
		struct cat_entry *e = s->slot[h & s->mask];
		if (e == NULL || strcmp(e->def.path, name) == 0)
			return e;
	}
}

/* ---- what a shot has otherwise ---- */

/* The place of a name: where it stands, *found, or where it would. */
static unsigned
place_of(const struct cat_others *o, const char *name, bool *found)
{
	unsigned low = 0, high = o->n;
	while (low < high) {
		unsigned mid = (low + high) / 2;
		if (strcmp(o->at[mid].entry->def.path, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*found = low < o->n && strcmp(o->at[low].entry->def.path, name) == 0;
	return low;
}

static bool
insert(struct cat_others *o, unsigned at, struct cat_entry *e, bool gone)
{
	if (o->n == o->max) {
		unsigned max = 2 * o->max + 16;
		struct cat_other *more = realloc(o->at, max * sizeof *more);
		if (more == NULL)
			return false;
		o->at = more;
		o->max = max;
	}
	memmove(o->at + at + 1, o->at + at, (o->n - at) * sizeof *o->at);
	o->at[at] = (struct cat_other){ .hash = name_hash(e->def.path), .entry = e, .gone = gone };
	o->n++;
	return true;
}

static void
remove_at(struct cat_others *o, unsigned at)
{
	o->n--;
	memmove(o->at + at, o->at + at + 1, (o->n - at) * sizeof *o->at);
}

nam_status
cat_others_of(const struct cat_snapshot *s, struct cat_others *out)
{
	*out = (struct cat_others){ .set = s->set, .n = s->others, .max = s->others + 16 };
	out->at = malloc(out->max * sizeof *out->at);
	if (out->at == NULL)
		return NAM_NOMEM;
	memcpy(out->at, s->other, s->others * sizeof *out->at);
	return NAM_OK;
}

nam_status
cat_others_add(struct cat_others *o, struct cat_entry *e)
{
	bool found;
	const char *name = e->def.path;
	unsigned at = place_of(o, name, &found);
	if (found ? !o->at[at].gone : set_find(o->set, name, name_hash(name)) != NULL)
		return NAM_ABSENT;
	if (!found)
		return insert(o, at, e, false) ? NAM_OK : NAM_NOMEM;
	o->at[at].entry = e;
	o->at[at].gone = false;
	return NAM_OK;
}

nam_status
cat_others_drop(struct cat_others *o, struct cat_entry *e)
{
	bool found;
	const char *name = e->def.path;
	unsigned at = place_of(o, name, &found);
	struct cat_entry *below = set_find(o->set, name, name_hash(name));
	if (found ? o->at[at].gone || o->at[at].entry != e : below != e)
		return NAM_ABSENT;
	if (!found)
		return insert(o, at, e, true) ? NAM_OK : NAM_NOMEM;
	if (below == NULL) {
		remove_at(o, at);
	} else {
		o->at[at].entry = below;
		o->at[at].gone = true;
	}
	return NAM_OK;
}

/* ---- shots ---- */

static struct cat_snapshot *
shot_of(struct cat_set *set, const struct cat_other *other, unsigned n)
{
	uint64_t slots = slots_for(n);
	struct cat_snapshot *s = calloc(1, sizeof *s + slots * sizeof s->slot[0]);
	struct cat_other *mine = malloc((n + 1u) * sizeof *mine);
	if (s == NULL || mine == NULL) {
		free(s);
		free(mine);
		return NULL;
	}
	s->mask = slots - 1;
	s->set = set;
	s->other = mine;
	s->others = n;
	set->shots++;
	for (unsigned i = 0; i < n; i++) {
		uint64_t h = other[i].hash;
		mine[i] = other[i];
		while (s->slot[h & s->mask] != 0)
			h++;
		s->slot[h & s->mask] = i + 1;
		mine[i].entry->shots += !mine[i].gone;
	}
	return s;
}

static int
by_name(const void *a, const void *b)
{
	const struct cat_entry *const *x = a, *const *y = b;
	return strcmp((*x)->def.path, (*y)->def.path);
}

static void
set_leave(struct cat *c, struct cat_set *set, tso_cid gone)
{
	if (set->shots > 0)
		return;
	for (unsigned i = 0; i < set->tables; i++)
		cat_entry_unlisted(c, set->table[i], gone);
	free(set->by_id);
	free(set->rare);
	free(set->table);
	free(set);
}

struct cat_snapshot *
cat_shot_new(struct cat *c, struct cat_entry **entry, unsigned n, tso_cid at)
{
	qsort(entry, n, sizeof *entry, by_name);
	struct cat_set *set = set_new(entry, n);
	struct cat_snapshot *s = set != NULL ? shot_of(set, NULL, 0) : NULL;
	if (set != NULL && s == NULL)
		set_leave(c, set, at);
	return s;
}

struct cat_snapshot *
cat_shot_next(struct cat *c, const struct cat_others *o, tso_cid at)
{
	if (o->n <= OTHERS_LEAST + o->set->tables / OTHERS_SHARE)
		return shot_of(o->set, o->at, o->n);
	const struct cat_snapshot whole = { .set = o->set, .other = o->at, .others = o->n };
	struct cat_entry **list = malloc((o->set->tables + o->n + 1u) * sizeof *list), *e;
	struct cat_walk walk = { .of = &whole };
	unsigned n = 0;
	while (list != NULL && (e = cat_walk_next(&walk)) != NULL)
		list[n++] = e;
	struct cat_snapshot *s = list != NULL ? cat_shot_new(c, list, n, at) : NULL;
	free(list);
	return s;
}

void
cat_shot_free(struct cat *c, struct cat_snapshot *s, tso_cid gone)
{
	for (unsigned i = 0; i < s->others; i++)
		if (!s->other[i].gone)
			cat_entry_unlisted(c, s->other[i].entry, gone);
	s->set->shots--;
	set_leave(c, s->set, gone);
	free(s->other);
	free(s);
}

struct cat_entry *
cat_shot_find(const struct cat_snapshot *s, const char *name)
{
	uint64_t hash = name_hash(name);
	for (uint64_t h = hash; s->others > 0 && s->slot[h & s->mask] != 0; h++) {
		const struct cat_other *x = &s->other[s->slot[h & s->mask] - 1];
		if (x->hash == hash && strcmp(x->entry->def.path, name) == 0)
			return x->gone ? NULL : x->entry;
	}
	return set_find(s->set, name, hash);
}

/* The set's places by id; NULL = no memory. */
static struct cat_entry **
places_by_id(struct cat_set *s)
{
	if (s->by_id != NULL || (s->by_id = calloc(s->mask + 1, sizeof *s->by_id)) == NULL)
		return s->by_id;
	for (unsigned i = 0; i < s->tables; i++) {
		uint64_t h = nam_mix(s->table[i]->def.store.id);
		while (s->by_id[h & s->mask] != NULL)
			h++;
		s->by_id[h & s->mask] = s->table[i];
	}
	return s->by_id;
}

struct cat_entry *
cat_shot_by_id(const struct cat_snapshot *s, uint32_t id)
{
	struct cat_entry *const *place = places_by_id(s->set), *e = NULL;
	for (unsigned i = 0; i < s->others; i++)
		if (!s->other[i].gone && s->other[i].entry->def.store.id == id)
			return s->other[i].entry;
	if (place == NULL) {
		for (unsigned i = 0; i < s->set->tables && e == NULL; i++)
			if (s->set->table[i]->def.store.id == id)
				e = s->set->table[i];
	} else {
		for (uint64_t h = nam_mix(id); (e = place[h & s->set->mask]) != NULL; h++)
			if (e->def.store.id == id)
				break;
	}
	/* It may have gone since, or its definition may be another, perhaps of another name. */
	return e != NULL && cat_shot_find(s, e->def.path) == e ? e : NULL;
}

struct cat_entry *
cat_walk_next(struct cat_walk *w)
{
	const struct cat_snapshot *s = w->of;
	for (;;) {
		const struct cat_set *set = s->set;
		struct cat_entry *below = w->i < (w->rare ? set->rares : set->tables)
					      ? (w->rare ? set->rare : set->table)[w->i]
					      : NULL;
		const struct cat_other *x = w->k < s->others ? &s->other[w->k] : NULL;
		if (x == NULL) {
			w->i += below != NULL;
			return below;
		}
		int order = below == NULL ? 1 : strcmp(below->def.path, x->entry->def.path);
		w->i += order <= 0;
		if (order < 0)
			return below;
		w->k++;
		if (!x->gone && (!w->rare || is_rare(x->entry)))
			return x->entry;
	}
}
