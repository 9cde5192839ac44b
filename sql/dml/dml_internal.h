/* dml_internal.h -- rows on their way to txn: shared by the files of this folder. */
#ifndef NAM_SQL_DML_INTERNAL_H
#define NAM_SQL_DML_INTERNAL_H

#include <sql/dml/dml.h>

/* One row of a table, all columns. */
struct sql_row {
	union cat_val *v;
	bool *null;
};

/* Rows whose key changes: deleted at once, inserted when all are deleted. */
struct sql_moved {
	struct sql_moved *next;
	struct sql_row r;
};

/* An UPDATE, a DELETE or an ON CONFLICT DO UPDATE under way. */
struct sql_change {
	struct sql_exec *x;
	struct sql_plan *p;
	const struct sql_sets *sets;
	struct sql_moved *moved, **last;
	uint64_t count;
};

bool sql_dml_new(struct sql_exec *x, const struct cat_table *tab, struct sql_row *r, struct nam_arena *arena);
/* Takes row k of a batch of all columns into r, with its checks; only columns of `check` (NULL:
 * all) need any. */
bool sql_dml_take(struct sql_exec *x, const struct cat_table *tab, const struct cat_vec *col, unsigned k,
    struct sql_row *r, const uint16_t *check, unsigned checks, struct nam_arena *arena);
bool sql_dml_row(struct sql_exec *x, const struct cat_table *tab, const struct sql_row *r,
    struct cat_str *out, struct nam_arena *arena);
bool sql_dml_key(struct sql_exec *x, const struct cat_table *tab, const struct sql_row *r,
    struct cat_str *out, uint64_t *hash, struct nam_arena *arena);
bool sql_dml_put(struct sql_exec *x, const struct cat_table *tab, const struct sql_row *r, struct txn_put *p,
    struct nam_arena *arena);
bool sql_dml_insert(struct sql_exec *x, const struct cat_table *tab, struct txn_put *p,
    const struct sql_row *r, unsigned n, struct nam_arena *arena);
/* sql_dml_insert; *which (NULL = not asked): the number of the unique index that a 23505 is about,
 * or SQL_PRIMARY_KEY. */
bool sql_dml_insert_what(struct sql_exec *x, const struct cat_table *tab, struct txn_put *p,
    const struct sql_row *r, unsigned n, struct nam_arena *arena, int *which);
/* False: rows written by this statement break a unique index; x->err names it, and *which (NULL =
 * not asked) gets its number. */
bool sql_dml_unique(struct sql_exec *x, struct nam_arena *arena, int *which);
/* The value of one expression without columns into v[k]; e NULL = null. */
bool sql_dml_value(struct sql_exec *x, const struct sql_expr *e, struct cat_vec *v, unsigned k);
/* RETURNING over rows sel[0..n) of a batch. */
bool sql_dml_answer(struct sql_exec *x, struct sql_plan *p, struct sql_batch *b, const uint16_t *sel,
    unsigned n, struct nam_arena *arena);
/* Locked rows live[0..n): changed as c->sets says. b holds their columns first; *nb gets b with the
 * new values. */
bool sql_dml_update(struct sql_change *c, const struct sql_batch *b, const struct txn_row *rows,
    const uint16_t *live, unsigned n, struct sql_batch *nb, struct nam_arena *arena);
bool sql_dml_delete(struct sql_change *c, const struct txn_row *rows, const uint16_t *live, unsigned n);
/* Inserts the rows that moved. */
bool sql_dml_settle(struct sql_change *c);

/* conflict.c: INSERT ... ON CONFLICT, for one batch of rows of all columns. count: rows inserted or
 * updated. */
struct sql_seen; /* keys this command has written */
bool sql_conflict_open(struct sql_exec *x, struct sql_plan *p, struct sql_seen **out);
bool sql_conflict_batch(struct sql_exec *x, struct sql_plan *p, struct sql_seen *seen, struct sql_batch *b,
    struct nam_arena *arena, uint64_t *count);
/* foreign.c: a row about to be written; set: only those columns are new, NULL = all. */
bool sql_foreign_put(struct sql_exec *x, const struct cat_table *tab, const struct sql_row *r,
    const uint16_t *set, unsigned sets);
/* Rows about to be deleted, or (is, of which columns set[] are new) changed. */
bool sql_foreign_lose(struct sql_exec *x, const struct cat_table *tab, const struct txn_row *rows,
    const uint16_t *live, unsigned n, const struct sql_row *is, const uint16_t *set, unsigned sets);
/* from.c */
bool sql_dml_from(struct sql_exec *x, struct sql_plan *p, uint64_t *count);

#endif
