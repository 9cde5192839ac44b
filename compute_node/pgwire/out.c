/* out.c -- messages to a client, put together in memory. */
#include "out.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are swapped");

void
cn_pg_out_fini(struct cn_pg_out *o)
{
	free(o->p);
	*o = (struct cn_pg_out){ 0 };
}

void
cn_pg_out_empty(struct cn_pg_out *o, size_t keep)
{
	o->at = o->len = 0;
	if (o->cap <= keep)
		return;
	free(o->p);
	o->p = NULL;
	o->cap = 0;
}

char *
cn_pg_take(struct cn_pg_out *o, size_t n)
{
	if (o->failed)
		return NULL;
	if (n > o->cap - o->len) {
		size_t cap = o->cap ? o->cap : 2048;
		while (cap < CN_PG_OUT_MAX && n > cap - o->len)
			cap *= 2;
		char *p = n <= cap - o->len ? realloc(o->p, cap) : NULL;
		if (p == NULL) {
			o->failed = true;
			return NULL;
		}
		o->p = p;
		o->cap = cap;
	}
	char *p = o->p + o->len;
	o->len += n;
	return p;
}

void
cn_pg_put(struct cn_pg_out *o, const void *p, size_t n)
{
	char *to = cn_pg_take(o, n);
	if (to != NULL && n > 0)
		memcpy(to, p, n);
}

void
cn_pg_puts(struct cn_pg_out *o, const char *s)
{
	cn_pg_put(o, s, strlen(s) + 1);
}

void
cn_pg_put8(struct cn_pg_out *o, uint8_t v)
{
	cn_pg_put(o, &v, 1);
}

void
cn_pg_put16(struct cn_pg_out *o, uint16_t v)
{
	v = __builtin_bswap16(v);
	cn_pg_put(o, &v, 2);
}

void
cn_pg_put32(struct cn_pg_out *o, uint32_t v)
{
	v = __builtin_bswap32(v);
	cn_pg_put(o, &v, 4);
}

void
cn_pg_put64(struct cn_pg_out *o, uint64_t v)
{
	v = __builtin_bswap64(v);
	cn_pg_put(o, &v, 8);
}

size_t
cn_pg_length_at(struct cn_pg_out *o)
{
	size_t at = o->len;
	cn_pg_put32(o, 0);
	return at;
}

void
cn_pg_length_is(struct cn_pg_out *o, size_t at)
{
	if (!o->failed)
		cn_pg_store32(o->p + at, (uint32_t)(o->len - at - 4));
}

void
cn_pg_begin(struct cn_pg_out *o, char type)
{
	o->msg = o->len;
	char *p = cn_pg_take(o, 5);
	if (p != NULL)
		*p = type;
}

void
cn_pg_end(struct cn_pg_out *o)
{
	if (!o->failed)
		cn_pg_store32(o->p + o->msg + 1, (uint32_t)(o->len - o->msg - 1));
}

void
cn_pg_undo(struct cn_pg_out *o)
{
	o->len = o->msg;
}
