/* memory.c -- a judge's memory, in one list: chk_close gives back all of it, also after an
 * error. */
#include "check_internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct chk_block {
	struct chk_block *next, *prev;
	_Alignas(16) char bytes[];
};

static struct chk_block *
block_of(void *p)
{
	return (struct chk_block *)((char *)p - offsetof(struct chk_block, bytes));
}

void
chk_stop(struct chk *c, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(c->error, sizeof c->error, fmt, ap);
	va_end(ap);
	c->bad = true;
	longjmp(c->out, 1);
}

static void
link_in(struct chk *c, struct chk_block *b)
{
	b->prev = NULL;
	b->next = c->blocks;
	if (b->next != NULL)
		b->next->prev = b;
	c->blocks = b;
}

static void
link_out(struct chk *c, struct chk_block *b)
{
	if (b->prev != NULL)
		b->prev->next = b->next;
	else
		c->blocks = b->next;
	if (b->next != NULL)
		b->next->prev = b->prev;
}

void *
chk_take(struct chk *c, size_t n, size_t size)
{
	size_t bytes;
	struct chk_block *b = NULL;
	if (!__builtin_mul_overflow(n, size, &bytes) && bytes <= SIZE_MAX / 2)
		b = calloc(1, sizeof *b + bytes);
	if (b == NULL)
		chk_stop(c, "%s: not enough memory for it", c->name);
	link_in(c, b);
	return b->bytes;
}

void *
chk_grow(struct chk *c, void *old, size_t have, size_t *cap, size_t size)
{
	if (have < *cap)
		return old;
	size_t want = *cap ? *cap * 2 : 64, bytes;
	struct chk_block *b = old ? block_of(old) : NULL, *now = NULL;
	if (b != NULL)
		link_out(c, b);
	if (!__builtin_mul_overflow(want, size, &bytes) && bytes <= SIZE_MAX / 2)
		now = realloc(b, sizeof *b + bytes);
	if (now == NULL) {
		free(b);
		chk_stop(c, "%s: not enough memory for it", c->name);
	}
	link_in(c, now);
	*cap = want;
	return now->bytes;
}

void
chk_drop(struct chk *c, void *p)
{
	if (p == NULL)
		return;
	link_out(c, block_of(p));
	free(block_of(p));
}

struct chk *
chk_open(void)
{
	return calloc(1, sizeof(struct chk));
}

void
chk_close(struct chk *c)
{
	if (c == NULL)
		return;
	while (c->blocks != NULL) {
		struct chk_block *b = c->blocks;
		c->blocks = b->next;
		free(b);
	}
	free(c);
}
