/* arena.c -- chunks that are taken from malloc once and reused. */
#include <base/arena.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEEP_BYTES = 1 << 20, DEFAULT_CHUNK = 64 << 10 };

struct nam_chunk {
	struct nam_chunk *next;
	size_t size; /* bytes after this head */
	_Alignas(16) char bytes[];
};

/* Takes n bytes from b and from the whole it is part of, which other threads also take from. */
static bool
charge(struct nam_budget *b, size_t n, bool must)
{
	if (b == NULL)
		return true;
	if (!must && b->limit != 0 && (n > b->limit || b->used > b->limit - n))
		return false;
	if (b->whole != NULL) {
		size_t was = __atomic_fetch_add(&b->whole->used, n, __ATOMIC_RELAXED);
		size_t limit = __atomic_load_n(&b->whole->limit, __ATOMIC_RELAXED);
		if (!must && limit != 0 && (n > limit || was > limit - n)) {
			__atomic_fetch_sub(&b->whole->used, n, __ATOMIC_RELAXED);
			return false;
		}
	}
	b->used += n;
	return true;
}

static void
give_back(struct nam_budget *b, size_t n)
{
	if (b == NULL)
		return;
	b->used -= n;
	if (b->whole != NULL)
		__atomic_fetch_sub(&b->whole->used, n, __ATOMIC_RELAXED);
}

bool
nam_budget_take(struct nam_budget *b, size_t n)
{
	return charge(b, n, false);
}

void
nam_budget_give(struct nam_budget *b, size_t n)
{
	give_back(b, n);
}

void
nam_arena_charge(struct nam_arena *a, struct nam_budget *b)
{
	for (const struct nam_chunk *c = a->head; c != NULL; c = c->next) {
		give_back(a->budget, c->size);
		charge(b, c->size, true);
	}
	a->budget = b;
}

void
nam_arena_init(struct nam_arena *a, size_t chunk_bytes)
{
	*a = (struct nam_arena){ .chunk_bytes = chunk_bytes ? chunk_bytes : DEFAULT_CHUNK };
}

void
nam_arena_fini(struct nam_arena *a)
{
	for (struct nam_chunk *c = a->head, *next; c != NULL; c = next) {
		next = c->next;
		give_back(a->budget, c->size);
		free(c);
	}
	nam_arena_init(a, a->chunk_bytes);
}

static void
use(struct nam_arena *a, struct nam_chunk *c)
{
	a->current = c;
	a->at = c->bytes;
	a->end = c->bytes + c->size;
}

static void
forget(struct nam_arena *a, size_t keep)
{
	a->used = 0;
	if (a->head == NULL)
		return;
	size_t kept = 0;
	struct nam_chunk **link = &a->head;
	while (*link != NULL && kept + (*link)->size <= keep) {
		kept += (*link)->size;
		link = &(*link)->next;
	}
	for (struct nam_chunk *c = *link, *next; c != NULL; c = next) {
		next = c->next;
		give_back(a->budget, c->size);
		free(c);
	}
	*link = NULL;
	a->current = NULL;
	a->at = a->end = NULL;
	if (a->head != NULL)
		use(a, a->head);
}

void
nam_arena_reset(struct nam_arena *a)
{
	forget(a, a->chunk_bytes > KEEP_BYTES ? a->chunk_bytes : KEEP_BYTES);
}

void
nam_arena_trim(struct nam_arena *a)
{
	forget(a, a->chunk_bytes);
}

void *
nam_arena_slow(struct nam_arena *a, size_t n)
{
	if (a->limit != 0 && (n > a->limit || a->used > a->limit - n))
		return NULL;
	struct nam_chunk *next = a->current ? a->current->next : a->head;
	if (next == NULL || next->size < n) {
		size_t size = n > a->chunk_bytes ? n : a->chunk_bytes;
		if (!charge(a->budget, size, false))
			return NULL;
		struct nam_chunk *c = malloc(sizeof *c + size);
		if (c == NULL) {
			give_back(a->budget, size);
			return NULL;
		}
		c->size = size;
		c->next = next;
		if (a->current)
			a->current->next = c;
		else
			a->head = c;
		next = c;
	}
	use(a, next);
	void *p = a->at;
	a->at += n;
	a->used += n;
	return p;
}

void *
nam_arena_copy(struct nam_arena *a, const void *bytes, size_t n)
{
	void *p = nam_arena_take(a, n);
	if (p != NULL && n > 0)
		memcpy(p, bytes, n);
	return p;
}

char *
nam_arena_str(struct nam_arena *a, const char *s, size_t n)
{
	char *p = n < SIZE_MAX ? nam_arena_take(a, n + 1) : NULL;
	if (p == NULL)
		return NULL;
	if (n > 0)
		memcpy(p, s, n);
	p[n] = 0;
	return p;
}

char *
nam_arena_printf(struct nam_arena *a, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	char *p = n < 0 ? NULL : nam_arena_take(a, (size_t)n + 1);
	if (p != NULL)
		vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	return p;
}
