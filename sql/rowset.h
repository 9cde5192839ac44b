/* rowset.h -- rows that an operator keeps: vectors of CAT_BATCH rows in chunks, all in one arena. */
#ifndef NAM_SQL_ROWSET_H
#define NAM_SQL_ROWSET_H

#include <sql/expr.h>

struct sql_rowset {
	struct nam_arena *arena;
	unsigned cols;
	const enum cat_type *type;
	struct cat_vec **chunk; /* chunk[i]: cols vectors */
	unsigned chunks, cap;
	uint32_t rows;
};

/* NULL: out of memory. types are borrowed. */
struct sql_rowset *sql_rowset_open(struct nam_arena *arena, const enum cat_type *type, unsigned cols);
/* Copies rows sel[0..n) of the columns; what they point to, too. false: out of memory, or 2^31 rows. */
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
/* Hash of row k of n key vectors; NULLs hash alike. */
uint64_t sql_hash_row(const struct cat_vec *key, unsigned n, unsigned k);
/* Are row k of n vectors and row r of columns first..first+n-1 the same? NULL equals NULL. */
bool sql_same_row(const struct sql_rowset *rs, uint32_t r, unsigned first, const struct cat_vec *key,
    unsigned n, unsigned k);

#endif
