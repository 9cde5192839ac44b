/* dml.h -- plans that change rows, COPY, and any plan from its first row to its last. Inside of
 * sql. */
#ifndef NAM_SQL_DML_H
#define NAM_SQL_DML_H

#include <sql/exec/run.h>

/* plan_run.c */
/* Runs a plan that sql_prepare_exec has been called for, its arenas empty. */
bool sql_plan_run(struct sql_session *s, struct sql_plan *p, uint64_t *rows);
enum { SQL_MANY = 16 }; /* rows whose coming or going is worth a note */

/* rules.c: true if rows sel[0..n) of a batch, of all columns of tab, fulfil the CHECK
 * constraints. */
bool sql_check_rows(struct sql_exec *x, const struct cat_table *tab, const struct sql_batch *b,
    const uint16_t *sel, unsigned n, struct nam_arena *arena);
/* "Failing row contains (...)." */
void sql_quote_row(struct sql_exec *x, const struct cat_table *tab, const union cat_val *v, const bool *null,
    struct nam_arena *arena);

/* dml.c: INSERT, UPDATE, DELETE. */
bool sql_dml(struct sql_exec *x, struct sql_plan *p, uint64_t *rows);
/* Inserts n rows of all columns of tab; batch_arena is emptied by the caller. */
bool sql_insert_batch(struct sql_exec *x, const struct cat_table *tab, const struct sql_batch *b,
    struct nam_arena *batch_arena);
enum { SQL_INSERT_ROWS = 256 };

/* copy.c */
bool sql_copy(struct sql_exec *x, const struct ast_stmt *st, const struct cat_table *tab, uint64_t *rows);
/* copy_to.c */
bool sql_copy_to(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    uint64_t *rows, struct cat_err *err);

/* A key was not to be had, says err: if it is too long, err says for which index. False. */
bool sql_index_too_long(const struct cat_index *ix, struct cat_err *err);

#endif
