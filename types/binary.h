/* binary.h -- bytea and uuid: text in and out. Both are bytes in a cat_str; a uuid has 16. Any
 * thread. */
#ifndef NAM_CATALOG_BINARY_H
#define NAM_CATALOG_BINARY_H

#include <types/value.h>

enum { CAT_UUID_BYTES = 16, CAT_UUID_CHARS = 36 };

/* \x and hexadecimal digits (22023), or bytes with \\ and \ooo (22P02). */
bool cat_bytea_in(struct cat_str text, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);
/* Hexadecimal; len 0 = no memory. */
struct cat_str cat_bytea_out(struct cat_str bytes, struct nam_arena *arena);
/* Hexadecimal digits, with blanks between pairs. */
bool cat_hex_in(struct cat_str text, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);
void cat_hex_out(const void *bytes, size_t n, char *to);

bool cat_uuid_in(struct cat_str text, struct cat_str *out, struct nam_arena *arena, struct cat_err *err);
/* CAT_UUID_CHARS of them. */
void cat_uuid_out(struct cat_str uuid, char *to);

#endif
