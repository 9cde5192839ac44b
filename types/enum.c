/* enum.c -- the map of types to labels, which every thread reads without a lock. */
#include <types/enum.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 1024, KEY_STEP_BITS = 30 };

/* A definition that a newer one has replaced stays: readers may still hold it. */
static _Atomic(const struct cat_enum *) place[PLACES];
static pthread_mutex_t map_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned holders; /* map_lock */

void
cat_enum_hold(void)
{
	pthread_mutex_lock(&map_lock);
	holders++;
	pthread_mutex_unlock(&map_lock);
}

void
cat_enum_leave(void)
{
	pthread_mutex_lock(&map_lock);
	if (--holders == 0)
		for (unsigned i = 0; i < PLACES; i++) {
			const struct cat_enum *e = atomic_exchange(&place[i], NULL), *next;
			for (; e != NULL; e = next) {
				next = e->next;
				free((void *)(uintptr_t)e);
			}
		}
	pthread_mutex_unlock(&map_lock);
}

const struct cat_enum *
cat_enum_find(uint32_t id)
{
	const struct cat_enum *e = atomic_load_explicit(&place[id % PLACES], memory_order_acquire);
	while (e != NULL && e->id != id) /* the newest one of a type comes first */
		e = e->next;
	return e;
}

static int
by_name(const void *a, const void *b)
{
	const struct cat_label *const *x = a, *const *y = b;
	return strcmp((*x)->name, (*y)->name);
}

size_t
cat_enum_quote(const char *name, char *out)
{
	size_t n = 0;
	bool plain = (name[0] >= 'a' && name[0] <= 'z') || name[0] == '_';
	for (const char *p = name; *p && plain; p++)
		plain = (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '_';
	for (const char *p = name; *p; p++) {
		if (!plain && (p == name || *p == '"')) {
			if (out != NULL)
				out[n] = '"';
			n++;
		}
		if (out != NULL)
			out[n] = *p;
		n++;
	}
	if (!plain) {
		if (out != NULL)
			out[n] = '"';
		n++;
	}
	return n;
}

static struct cat_enum *
make(uint32_t id, uint32_t generation, const char *name, const struct cat_label *label, unsigned labels)
{
	size_t len = strlen(name), said = cat_enum_quote(name, NULL);
	size_t lists = labels * (sizeof *label + sizeof label);
	struct cat_enum *e = malloc(sizeof *e + lists + 2 * len + 3 + 2 * said + 4);
	if (e == NULL)
		return NULL;
	const struct cat_label **named = (const struct cat_label **)(e + 1);
	struct cat_label *own = (struct cat_label *)(named + labels);
	char *text = (char *)(own + labels);
	if (labels > 0)
		memcpy(own, label, labels * sizeof *own);
	for (unsigned i = 0; i < labels; i++)
		named[i] = &own[i];
	if (labels > 0)
		qsort(named, labels, sizeof *named, by_name);
	*e = (struct cat_enum){
		.id = id, .generation = generation, .labels = labels, .label = own, .named = named
	};
	e->name = memcpy(text, name, len + 1);
	text += len + 1;
	text[0] = '_';
	memcpy(text + 1, name, len + 1);
	e->array_name = text;
	text += len + 2;
	cat_enum_quote(name, text);
	text[said] = 0;
	e->said = text;
	text += said + 1;
	memcpy(text, e->said, said);
	memcpy(text + said, "[]", 3);
	e->array_said = text;
	return e;
}

bool
cat_enum_learn(
    uint32_t id, uint32_t generation, const char *name, const struct cat_label *label, unsigned labels)
{
	const struct cat_enum *was = cat_enum_find(id);
	if (was != NULL && was->generation >= generation)
		return true;
	struct cat_enum *e = make(id, generation, name, label, labels);
	if (e == NULL)
		return false;
	pthread_mutex_lock(&map_lock);
	was = cat_enum_find(id);
	bool newer = was == NULL || was->generation < generation;
	if (newer) {
		e->next = atomic_load_explicit(&place[id % PLACES], memory_order_relaxed);
		atomic_store_explicit(&place[id % PLACES], e, memory_order_release);
	}
	pthread_mutex_unlock(&map_lock);
	if (!newer)
		free(e);
	return true;
}

unsigned
cat_enum_place(const struct cat_enum *e, int64_t value)
{
	int64_t key = value & (CAT_ENUM_KEY_END - 1);
	unsigned lo = 0, hi = e->labels;
	while (lo < hi) {
		unsigned mid = lo + (hi - lo) / 2;
		if (e->label[mid].key < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < e->labels && e->label[lo].key == key ? lo : e->labels;
}

int64_t
cat_enum_between(const struct cat_label *label, unsigned labels, unsigned at)
{
	int64_t low = at > 0 ? label[at - 1].key : 0;
	int64_t high = at < labels ? label[at].key : CAT_ENUM_KEY_END, gap = high - low;
	if (gap < 2)
		return 0;
	/* behind the last one: as little as leaves room between */
	int64_t step = INT64_C(1) << KEY_STEP_BITS;
	return low + (at == labels && gap / 2 > step ? step : gap / 2);
}

void
cat_enum_spread(struct cat_label *label, unsigned labels)
{
	int64_t step = INT64_C(1) << KEY_STEP_BITS, most = CAT_ENUM_KEY_END / (2 * ((int64_t)labels + 1));
	for (unsigned i = 0; i < labels; i++)
		label[i].key = (i + INT64_C(1)) * (step < most ? step : most);
}

bool
cat_enum_in(enum cat_type type, struct cat_str in, int64_t *out, struct cat_err *err)
{
	const struct cat_enum *e = cat_enum_find(cat_type_id(type));
	unsigned lo = 0, hi = e != NULL ? e->labels : 0;
	while (lo < hi) {
		unsigned mid = lo + (hi - lo) / 2;
		const char *name = e->named[mid]->name;
		size_t len = strlen(name), n = len < in.len ? len : in.len;
		int c = n > 0 ? memcmp(name, in.p, n) : 0;
		if (c == 0 && len == in.len) {
			*out = cat_enum_value(e->id, e->named[mid]->key);
			return true;
		}
		if (c < 0 || (c == 0 && len < in.len))
			lo = mid + 1;
		else
			hi = mid;
	}
	return cat_error(err, "22P02", "invalid input value for enum %s: \"%.*s\"", cat_enum_said(type),
	    (int)(in.len > 200 ? 200 : in.len), in.p);
}

struct cat_str
cat_enum_out(enum cat_type type, int64_t value, struct nam_arena *arena)
{
	uint32_t id = (uint32_t)(value >> 40);
	const struct cat_enum *e = cat_enum_find(id);
	unsigned at = e != NULL ? cat_enum_place(e, value) : 0;
	(void)type;
	(void)arena;
	if (e == NULL || at == e->labels)
		return (struct cat_str){ "???", 3 };
	return (struct cat_str){ e->label[at].name, (uint32_t)strlen(e->label[at].name) };
}

const char *
cat_enum_said(enum cat_type t)
{
	const struct cat_enum *e = cat_enum_find(cat_type_id(t));
	return e == NULL ? "?" : cat_type_is_array(t) ? e->array_said : e->said;
}

const char *
cat_enum_word(enum cat_type t)
{
	const struct cat_enum *e = cat_enum_find(cat_type_id(t));
	return e == NULL ? "?" : cat_type_is_array(t) ? e->array_name : e->name;
}
