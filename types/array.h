/*
 * array.h -- one-dimensional arrays: a cat_str of type CAT_ARRAY | element, in memory and in rows
 * alike.
 *
 *   byte 0                    4          8            8 + nulls
 *        +--------------------+----------+- - - - - - +- - - - - - - - - - - - - - - - +
 *        | elements: 31       | lower    | bit k:     | numbers: 1, 2, 4 or 8 bytes    |
 *        | any NULL: 1 (top)  | bound    | k is NULL  | strs: where each ends, 32 bits |
 *        |                    |          |            | each, then their bytes         |
 *        +--------------------+----------+- - - - - - +- - - - - - - - - - - - - - - - +
 *
 * Little-endian, nothing aligned. The bitmap is there when the top bit is set. The cell of a NULL
 * is zero, or empty. What does not add up is read as an array without elements, and a str that lies
 * outside as "".
 */
#ifndef NAM_CATALOG_ARRAY_H
#define NAM_CATALOG_ARRAY_H

#include <types/value.h>

struct cat_array {
	enum cat_type elem;
	uint32_t n;
	int32_t lower;
	unsigned width;         /* of a cell; strs: 4 */
	const uint8_t *null;    /* NULL = none is */
	const char *cell, *str; /* str: bytes of all strs */
	uint32_t bytes;         /* of them */
};

/* type: of the array. */
void cat_array_open(enum cat_type type, struct cat_str s, struct cat_array *out);
/* Element k < a->n. False if it is NULL. Its bytes are the array's. */
bool cat_array_at(const struct cat_array *a, uint32_t k, union cat_val *v);
/* From n values of an element type; null may be NULL. 54000 when it would be too long. */
bool cat_array_make(enum cat_type elem, int32_t lower, const union cat_val *v, const bool *null, uint32_t n,
    struct cat_str *out, struct nam_arena *arena, struct cat_err *err);
/* Elements that are still coming. */
struct cat_array_build {
	union cat_val *v;
	bool *null;
	uint32_t n, cap;
};
/* A copy of v behind them. */
bool cat_array_push(struct cat_array_build *b, enum cat_type elem, union cat_val v, bool null,
    struct nam_arena *arena, struct cat_err *err);
/* All elements of a into v and null, which have room for them. */
void cat_array_all(const struct cat_array *a, union cat_val *v, bool *null);

/* Behind cat_value_in and its kin; type is the array's. typmod is that of its elements. */
bool cat_array_in(enum cat_type type, int32_t typmod, struct cat_str in, struct cat_str *out,
    struct nam_arena *arena, struct cat_err *err);
/* floats: cat_value_show's. */
struct cat_str cat_array_out(enum cat_type type, struct cat_str s, uint8_t floats, struct nam_arena *arena);
/* Element by element, NULL greater than all; then the shorter one is less, then the lower bound. */
int cat_array_cmp(enum cat_type type, struct cat_str a, struct cat_str b);
uint64_t cat_array_hash(enum cat_type type, struct cat_str s, uint64_t seed);
bool cat_array_canonical(enum cat_type type, struct cat_str s, struct cat_str *out, struct nam_arena *arena);
bool cat_array_fit(
    enum cat_type type, int32_t typmod, struct cat_str *s, struct nam_arena *arena, struct cat_err *err);

#endif
