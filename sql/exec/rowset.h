/* rowset.h -- rows that an operator keeps: vectors of CAT_BATCH rows in chunks, all in one
 * arena. */
#ifndef NAM_SQL_ROWSET_H
#define NAM_SQL_ROWSET_H

#include <base/hash.h>
#include <sql/expr/expr.h>

struct sql_rowset {
	struct nam_arena *arena;
	unsigned cols;
	const enum cat_type *type;
	struct cat_vec **chunk; /* chunk[i]: cols vectors */
	unsigned chunks, cap;
	uint32_t rows;
};

/* NULL = out of memory. types are borrowed. */
struct sql_rowset *sql_rowset_open(struct nam_arena *arena, const enum cat_type *type, unsigned cols);
/* Copies rows sel[0..n) of the columns, and the bytes they point to. False if there is no memory,
 * or with 2^31 rows. */
bool sql_rowset_add(struct sql_rowset *rs, const struct cat_vec *const *col, const uint16_t *sel, unsigned n);

static inline const struct cat_vec *
sql_rowset_col(const struct sql_rowset *rs, uint32_t row, unsigned col)
{
	return &rs->chunk[row / CAT_BATCH][col];
}
static inline bool
sql_rowset_null(const struct sql_rowset *rs, uint32_t row, unsigned col)
{
	return sql_rowset_col(rs, row, col)->null[row % CAT_BATCH];
}
static inline union cat_val
sql_rowset_at(const struct sql_rowset *rs, uint32_t row, unsigned col)
{
	return cat_vec_at(sql_rowset_col(rs, row, col), row % CAT_BATCH);
}
/* Rows row[0..n) of one column as a vector. */
bool sql_rowset_gather(const struct sql_rowset *rs, unsigned col, const uint32_t *row, unsigned n,
    struct cat_vec *out, struct nam_arena *arena);
/* Rows row[sel[k]] of one column go to sel[k], k < n; out has its memory. sel NULL: 0, 1, ... */
void sql_rowset_place(const struct sql_rowset *rs, unsigned col, const uint32_t *row, const uint16_t *sel,
    unsigned n, struct cat_vec *out);
/* The hash of one key of these types is a bijection of its value: equal hashes mean equal keys. A
 * NULL has SQL_HASH_NULL, which is some value's as well. */
#define SQL_HASH_SEED UINT64_C(0x9e3779b97f4a7c15)
#define SQL_HASH_NULL nam_mix(SQL_HASH_SEED + 1)
static inline bool
sql_hash_exact(enum cat_type type)
{
	return !cat_type_is_str(type) && !cat_type_is_float(type);
}
/* Hash of row k of n key vectors; NULLs hash alike. Good for tables in memory only. */
uint64_t sql_hash_row(const struct cat_vec *key, unsigned n, unsigned k);
/* out[j] = the hash of row sel[j], for j < rows. */
void sql_hash_rows(const struct cat_vec *key, unsigned n, const uint16_t *sel, unsigned rows, uint64_t *out);
/* True if row k of n vectors equals row r of columns first..first+n-1. NULL equals NULL. */
bool sql_same_row(const struct sql_rowset *rs, uint32_t r, unsigned first, const struct cat_vec *key,
    unsigned n, unsigned k);

/* True if values of the type are equal exactly if their bytes are. */
static inline bool
sql_by_bytes(enum cat_type t)
{
	return t == CAT_TEXT || t == CAT_BYTEA || t == CAT_UUID;
}
/* memcmp() == 0 for the short texts that keys are. */
static inline bool
sql_same_bytes(const char *a, const char *b, uint32_t n)
{
	uint64_t x, y;
	uint32_t u, v;
	if (n >= 8) {
		for (uint32_t at = 0; at + 8 < n; at += 8) {
			memcpy(&x, a + at, 8);
			memcpy(&y, b + at, 8);
			if (x != y)
				return false;
		}
		memcpy(&x, a + n - 8, 8);
		memcpy(&y, b + n - 8, 8);
		return x == y;
	}
	if (n >= 4) {
		memcpy(&u, a, 4);
		memcpy(&v, b, 4);
		if (u != v)
			return false;
		memcpy(&u, a + n - 4, 4);
		memcpy(&v, b + n - 4, 4);
		return u == v;
	}
	return n == 0 || (a[0] == b[0] && a[n - 1] == b[n - 1] && a[n / 2] == b[n / 2]);
}

#endif
