/*
 * out.h -- messages to a client, put together in memory.
 *
 * A buffer grows as it must; after a failure of malloc it is `failed`, takes nothing more, and its
 * connection ends. One coroutine.
 */
#ifndef NAM_COMPUTE_NODE_PGWIRE_OUT_H
#define NAM_COMPUTE_NODE_PGWIRE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CN_PG_OUT_MAX = 1 << 30 }; /* bytes of a buffer: of a row */

struct cn_pg_out {
	char *p;
	size_t at, len, cap; /* at: so much has been sent or delivered */
	size_t msg;          /* where the open message begins */
	bool failed;
};

void cn_pg_out_fini(struct cn_pg_out *o);
/* Forgets the bytes; keeps at most so much memory. */
void cn_pg_out_empty(struct cn_pg_out *o, size_t keep);
/* n more bytes, to be written by the caller; NULL: failed. */
char *cn_pg_take(struct cn_pg_out *o, size_t n);

/* One message: begin, its body, end. */
void cn_pg_begin(struct cn_pg_out *o, char type);
void cn_pg_end(struct cn_pg_out *o);
/* Takes the open message back. */
void cn_pg_undo(struct cn_pg_out *o);

void cn_pg_put8(struct cn_pg_out *o, uint8_t v);
void cn_pg_put16(struct cn_pg_out *o, uint16_t v);
void cn_pg_put32(struct cn_pg_out *o, uint32_t v);
void cn_pg_put64(struct cn_pg_out *o, uint64_t v);
void cn_pg_put(struct cn_pg_out *o, const void *p, size_t n);
/* With its 0 byte. */
void cn_pg_puts(struct cn_pg_out *o, const char *s);
/* A length of 32 bits that is written later: where it is, and its value, from there to the end. */
size_t cn_pg_length_at(struct cn_pg_out *o);
void cn_pg_length_is(struct cn_pg_out *o, size_t at);

static inline void
cn_pg_store32(char *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	__builtin_memcpy(p, &v, 4);
}

#endif
