/* dml.h -- plans that change rows, COPY, and any plan from its first row to its last. Inside of
 * sql. */
#ifndef NAM_SQL_DML_H
#define NAM_SQL_DML_H

#include <sql/exec/run.h>

/* plan_run.c */
/* Runs a plan that sql_prepare_exec has been called for, its arenas empty. */
bool sql_plan_run(struct sql_session *s, struct sql_plan *p, uint64_t *rows);
/* A plan is run beside what the statement keeps in the session's arenas. end: also after a begin
 * that failed. arena: for the list of the plan's arenas. */
bool sql_alone_begin(struct sql_session *s, struct sql_plan *p, struct nam_arena *arena,
    const struct sql_sink *sink, struct cat_err *err);
void sql_alone_end(struct sql_session *s, struct sql_plan *p);
/* steps.c: runs the steps of a plan, which keep their rows for it. The session's exec is theirs
 * afterwards. */
bool sql_steps_run(struct sql_session *s, struct sql_plan *p, const struct cat_datum *param, unsigned params,
    struct cat_err *err);
/* Gives back the memory of those rows. */
void sql_steps_end(struct sql_plan *p);
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
/* Whether each of its rows would be inserted if none had another one's key. False: *x->err,
 * x->bad_row. */
bool sql_check_batch(struct sql_exec *x, const struct cat_table *tab, const struct sql_batch *b,
    struct nam_arena *batch_arena);
enum { SQL_INSERT_ROWS = 256 };

/* foreign.c: the unique key of parent that a foreign key refers to: an index, or SQL_PRIMARY_KEY.
 * False: there is none. */
bool sql_foreign_arbiter(const struct cat_table *parent, const struct cat_foreign *k, int *which);
/* 23503: a row with values v of the foreign key's columns, from[] of child, refers to no row. */
bool sql_foreign_absent(struct sql_exec *x, const struct cat_table *child, const struct cat_foreign *def,
    const uint16_t *from, const union cat_val *v, struct nam_arena *arena);
/* Around a statement that changes rows: end does the actions and asks what has been collected. */
void sql_foreign_begin(struct sql_session *s);
bool sql_foreign_end(struct sql_exec *x);
void sql_foreign_free(struct sql_session *s);

/* copy.c */
bool sql_copy(struct sql_exec *x, const struct ast_stmt *st, const struct cat_table *tab, uint64_t *rows);
/* copy_to.c */
bool sql_copy_to(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    uint64_t *rows, struct cat_err *err);

/* A key was not to be had, says err: if it is too long, err says for which index. False. */
bool sql_index_too_long(const struct cat_index *ix, struct cat_err *err);

#endif
