/*
 * frame.h -- PostgreSQL's protocol 3.0 as bytes: what clients send, taken apart without I/O.
 *
 *   a message     +------+-----------------------+- - - - - - +
 *                 | type | length, its 4 bytes   |  body      |     numbers: big endian
 *                 |      | and the body          |            |     texts: end with a 0 byte
 *                 +------+-----------------------+- - - - - - +
 *   the first one of a connection has no type.
 *
 * Bytes come from strangers: a reader that meets the end too early, or a text without its end, is
 * `bad` from then on and gives zeros and empty texts. What is taken apart points into the body.
 * Any thread.
 */
#ifndef NAM_COMPUTE_NODE_PGWIRE_FRAME_H
#define NAM_COMPUTE_NODE_PGWIRE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CN_PG_START_MAX = 10000, /* bytes of the first message */
	CN_PG_SMALL_MAX = 10000, /* of a message that carries no data */
	CN_PG_PARAMS_MAX = 65535,
};

/* Numbers that stand in the first message instead of a version. */
#define CN_PG_V3     196608u
#define CN_PG_CANCEL 80877102u
#define CN_PG_SSL    80877103u
#define CN_PG_GSSENC 80877104u

struct cn_pg_reader {
	const char *p, *end;
	bool bad;
};

static inline struct cn_pg_reader
cn_pg_reader(const char *p, size_t n)
{
	return (struct cn_pg_reader){ p, p + n, false };
}
uint8_t cn_pg_get8(struct cn_pg_reader *r);
uint16_t cn_pg_get16(struct cn_pg_reader *r);
uint32_t cn_pg_get32(struct cn_pg_reader *r);
uint64_t cn_pg_get64(struct cn_pg_reader *r);
/* n bytes; "" when bad. */
const char *cn_pg_get_bytes(struct cn_pg_reader *r, size_t n);
/* Up to its 0 byte; "" when bad. */
const char *cn_pg_get_text(struct cn_pg_reader *r);
/* True if nothing was bad, and all bytes have been read. */
bool cn_pg_whole(const struct cn_pg_reader *r);

/* The length at p, of 4 bytes, as the number of bytes of the body; -1: no message has it. max: of
 * the body. */
int64_t cn_pg_body(const char *p, size_t max);
/* How long a body of this type may be, where messages with data may have data_max. */
size_t cn_pg_body_max(char type, size_t data_max);

/* ---- messages of the extended protocol ------------------------------------------- */

struct cn_pg_parse {
	const char *name, *text;
	uint16_t types; /* OIDs, 4 bytes each */
	const char *type;
};
bool cn_pg_take_parse(const char *body, size_t n, struct cn_pg_parse *out);

/* Formats: none = all are text; one = all are of it; else one each. */
struct cn_pg_formats {
	uint16_t n;
	const char *code; /* 2 bytes each */
};
/* 0 text, 1 binary, -1: there is no such format. */
int cn_pg_format(const struct cn_pg_formats *f, unsigned k);

struct cn_pg_bind {
	const char *portal, *name;
	struct cn_pg_formats in;
	uint16_t params;
	struct cn_pg_reader values; /* each: 32 bits of length, -1 = NULL, and the bytes */
	struct cn_pg_formats out;
};
/* The lengths of all values have been checked when it is true. */
bool cn_pg_take_bind(const char *body, size_t n, struct cn_pg_bind *out);

/* Describe and Close: 'S' a statement, 'P' a portal. */
struct cn_pg_named {
	char what;
	const char *name;
};
bool cn_pg_take_named(const char *body, size_t n, struct cn_pg_named *out);

struct cn_pg_execute {
	const char *portal;
	uint32_t rows; /* 0 = all */
};
bool cn_pg_take_execute(const char *body, size_t n, struct cn_pg_execute *out);

/* ---- the first message -------------------------------------------------------------- */

/* The body behind the version: names and values in turn, an empty name at the end. The next pair;
 * false at the end, or when bad. */
bool cn_pg_next_pair(struct cn_pg_reader *r, const char **name, const char **value);

#endif
