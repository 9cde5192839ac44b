/*
 * arena.h -- memory that dies together. Pieces are taken one by one and freed all at once. The name
 * of a parameter says how long it lives (stmt_arena, txn_arena, batch_arena). One thread at a time.
 * Chunks are kept at nam_arena_reset, so a warm arena calls no malloc.
 */
#ifndef NAM_BASE_ARENA_H
#define NAM_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct nam_chunk;
/* A limit on the bytes that several arenas may take from malloc together. Each budget belongs to
 * one thread; `whole` is shared by all threads. */
struct nam_budget {
	size_t used, limit;       /* 0 = none. Used by the arenas of one thread */
	struct nam_budget *whole; /* a greater one that this one is part of, or NULL */
};
struct nam_arena {
	char *at, *end;         /* free part of the current chunk */
	struct nam_chunk *head; /* all chunks, oldest first */
	struct nam_chunk *current;
	size_t chunk_bytes;        /* size of an ordinary chunk */
	size_t used;               /* bytes handed out since the last reset */
	size_t limit;              /* 0 = none; beyond it nam_arena_take returns NULL */
	struct nam_budget *budget; /* of its chunks, or NULL; set by nam_arena_charge */
};

/* chunk_bytes 0 = 64 KiB. Allocates nothing yet. */
void nam_arena_init(struct nam_arena *a, size_t chunk_bytes);
void nam_arena_fini(struct nam_arena *a);
/* Forgets everything taken; keeps the first chunks (up to 1 MiB, or one chunk_bytes) for the next
 * use. */
void nam_arena_reset(struct nam_arena *a);
/* The same, but keeps one ordinary chunk only: for a use that will not come soon again. */
void nam_arena_trim(struct nam_arena *a);
/* From now on b is charged for the chunks, including those that the arena has already (NULL = no
 * budget is charged). Charging the present chunks never fails. */
void nam_arena_charge(struct nam_arena *a, struct nam_budget *b);
/* For memory outside of arenas: takes n bytes of b if there is room (NULL = no budget is charged);
 * and gives them back. */
bool nam_budget_take(struct nam_budget *b, size_t n);
void nam_budget_give(struct nam_budget *b, size_t n);
/* The slow path of nam_arena_take, when the current chunk is too small. n is rounded already. */
void *nam_arena_slow(struct nam_arena *a, size_t n);

/* n bytes, 16-aligned, not cleared; a piece of 0 bytes also has an address of its own. NULL when
 * the limit is reached, when malloc fails, or when n is absurd (a length that went below zero). */
static inline void *
nam_arena_take(struct nam_arena *a, size_t n)
{
	if (__builtin_expect(n > SIZE_MAX / 2, 0))
		return NULL;
	n = (n + (n == 0) + 15) & ~(size_t)15;
	if (__builtin_expect(n <= (size_t)(a->end - a->at), 1) &&
	    (a->limit == 0 || a->used + n <= a->limit)) {
		void *p = a->at;
		a->at += n;
		a->used += n;
		return p;
	}
	return nam_arena_slow(a, n);
}

static inline void *
nam_arena_zero(struct nam_arena *a, size_t n)
{
	void *p = nam_arena_take(a, n);
	return p ? memset(p, 0, n) : NULL;
}

void *nam_arena_copy(struct nam_arena *a, const void *bytes, size_t n);
/* Copies n bytes and adds a 0. */
char *nam_arena_str(struct nam_arena *a, const char *s, size_t n);
char *nam_arena_printf(struct nam_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
