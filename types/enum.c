/* enum.c -- the map of types to labels, which every thread reads without a lock. */
#include <types/enum.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 1024, BLOCKS = 4096, BLOCK = 256, KEY_STEP_BITS = 30 };

/* What has a number. A definition that a newer one has replaced stays: readers may hold it. */
struct slot {
	_Atomic(const struct cat_enum *) newest;
	uint32_t tag, id, next; /* next: of those in one place, a number */
};
static _Atomic(struct slot *) block[BLOCKS];
static pthread_mutex_t map_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned holders, numbers;                    /* map_lock */
static uint32_t place[PLACES];                       /* map_lock  by id: a number */
static const struct cat_enum *limbo[CAT_ENUM_LIMBO]; /* map_lock  forgotten ones, in turn */
static unsigned limbo_at;                            /* map_lock */

/* A child of fork finds the map whole. */
static void
lock_map(void)
{
	pthread_mutex_lock(&map_lock);
}
static void
unlock_map(void)
{
	pthread_mutex_unlock(&map_lock);
}
static void
keep_over_fork(void)
{
	(void)pthread_atfork(lock_map, unlock_map, unlock_map);
}

void
cat_enum_hold(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, keep_over_fork);
	pthread_mutex_lock(&map_lock);
	holders++;
	pthread_mutex_unlock(&map_lock);
}

static struct slot *
slot_of(uint32_t number)
{
	uint32_t k = number - 1;
	struct slot *b =
	    k / BLOCK < BLOCKS ? atomic_load_explicit(&block[k / BLOCK], memory_order_acquire) : NULL;
	return b != NULL ? &b[k % BLOCK] : NULL;
}

static void
free_all(const struct cat_enum *e)
{
	for (const struct cat_enum *older; e != NULL; e = older) {
		older = e->older;
		free((void *)(uintptr_t)e);
	}
}

void
cat_enum_forget(uint32_t number, uint32_t generation)
{
	struct slot *s = slot_of(number);
	const struct cat_enum *freed = NULL;
	pthread_mutex_lock(&map_lock);
	const struct cat_enum *e = s != NULL ? atomic_load(&s->newest) : NULL;
	if (e != NULL && e->generation <= generation) {
		atomic_store_explicit(&s->newest, NULL, memory_order_release);
		freed = limbo[limbo_at];
		limbo[limbo_at] = e;
		limbo_at = (limbo_at + 1) % CAT_ENUM_LIMBO;
	}
	pthread_mutex_unlock(&map_lock);
	free_all(freed);
}

void
cat_enum_leave(void)
{
	pthread_mutex_lock(&map_lock);
	if (--holders == 0) {
		for (uint32_t n = 1; n <= numbers; n++)
			free_all(atomic_load(&slot_of(n)->newest));
		for (unsigned i = 0; i < CAT_ENUM_LIMBO; i++) {
			free_all(limbo[i]);
			limbo[i] = NULL;
		}
		for (unsigned i = 0; i < BLOCKS; i++)
			free(atomic_exchange(&block[i], NULL));
		memset(place, 0, sizeof place);
		numbers = 0;
	}
	pthread_mutex_unlock(&map_lock);
}

uint32_t
cat_enum_number(uint32_t tag, uint32_t id)
{
	pthread_mutex_lock(&map_lock);
	uint32_t n = place[id % PLACES];
	while (n != 0 && (slot_of(n)->id != id || slot_of(n)->tag != tag))
		n = slot_of(n)->next;
	if (n == 0 && numbers < BLOCKS * BLOCK) {
		_Atomic(struct slot *) *b = &block[numbers / BLOCK];
		struct slot *fresh = atomic_load(b);
		if (fresh == NULL && (fresh = calloc(BLOCK, sizeof *fresh)) != NULL)
			atomic_store_explicit(b, fresh, memory_order_release);
		if (fresh != NULL) {
			n = ++numbers;
			struct slot *s = slot_of(n);
			s->tag = tag;
			s->id = id;
			s->next = place[id % PLACES];
			place[id % PLACES] = n;
		}
	}
	pthread_mutex_unlock(&map_lock);
	return n;
}

uint32_t
cat_enum_id(uint32_t number)
{
	const struct slot *s = slot_of(number);
	return s != NULL ? s->id : 0;
}

uint32_t
cat_enum_only(uint32_t id)
{
	uint32_t found = 0;
	pthread_mutex_lock(&map_lock);
	for (uint32_t n = place[id % PLACES]; n != 0; n = slot_of(n)->next)
		if (slot_of(n)->id == id && atomic_load(&slot_of(n)->newest) != NULL)
			found = found == 0 ? n : UINT32_MAX;
	pthread_mutex_unlock(&map_lock);
	return found == UINT32_MAX ? 0 : found;
}

const struct cat_enum *
cat_enum_find(uint32_t number)
{
	struct slot *s = slot_of(number);
	return s != NULL ? atomic_load_explicit(&s->newest, memory_order_acquire) : NULL;
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
    uint32_t number, uint32_t generation, const char *name, const struct cat_label *label, unsigned labels)
{
	struct slot *s = slot_of(number);
	const struct cat_enum *was = cat_enum_find(number);
	if (s == NULL || (was != NULL && was->generation >= generation))
		return s != NULL;
	struct cat_enum *e = make(s->id, generation, name, label, labels);
	if (e == NULL)
		return false;
	e->number = number;
	pthread_mutex_lock(&map_lock);
	was = cat_enum_find(number);
	bool newer = was == NULL || was->generation < generation;
	if (newer) {
		e->older = was;
		atomic_store_explicit(&s->newest, e, memory_order_release);
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
	const struct cat_enum *e = cat_enum_find(cat_type_id(type));
	unsigned at = e != NULL ? cat_enum_place(e, value) : 0;
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
