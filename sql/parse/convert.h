/* convert.h -- libpg_query's tree to sql's own (ast.h); inside of sql, on the parser's thread
 * only. */
#ifndef NAM_SQL_CONVERT_H
#define NAM_SQL_CONVERT_H

#include <sql/parse/parse.h>

#include <pg_query/pg_query.pb-c.h>

/* All of these: NULL or false, and c->err filled, when they cannot. */
struct ast_expr *sql_convert_expr(struct sql_convert *c, const PgQuery__Node *n);
bool sql_convert_exprs(
    struct sql_convert *c, PgQuery__Node *const *list, size_t n, struct ast_expr ***out, unsigned *count);
/* named: of a type that is none of PostgreSQL's, CAT_NAMED. */
bool sql_convert_type(struct sql_convert *c, const PgQuery__TypeName *t, enum cat_type *type, int32_t *typmod,
    struct ast_named *named);
/* A new node, with room for so many arguments. */
struct ast_expr *sql_convert_node(struct sql_convert *c, enum ast_kind kind, int location, unsigned nargs);
/* convert_row.c: nodes of one or two arguments, NULL if one of them is NULL; rows of values. */
struct ast_expr *sql_convert_1(struct sql_convert *c, enum ast_kind kind, int location, struct ast_expr *a);
struct ast_expr *sql_convert_2(
    struct sql_convert *c, enum ast_kind kind, int location, struct ast_expr *a, struct ast_expr *b);
struct ast_expr *sql_convert_op(
    struct sql_convert *c, const char *op, int location, struct ast_expr *a, struct ast_expr *b);
bool sql_convert_is_row(const PgQuery__AExpr *x);
struct ast_expr *sql_convert_row_expr(struct sql_convert *c, const PgQuery__AExpr *x, const char *op);
struct ast_expr *sql_convert_row_null(struct sql_convert *c, const PgQuery__RowExpr *x, bool negate);
/* a IS DISTINCT FROM b, or IS NOT. */
struct ast_expr *sql_convert_distinct(
    struct sql_convert *c, int location, struct ast_expr *a, struct ast_expr *b, bool distinct);
/* convert_within.c: a call with WITHIN GROUP; false: a function of that name must have one. */
struct ast_expr *sql_convert_within(struct sql_convert *c, const char *name, const PgQuery__FuncCall *f);
bool sql_convert_may_be_plain(struct sql_convert *c, const char *name, size_t args, int location);
/* convert_array.c */
struct ast_expr *sql_convert_array(struct sql_convert *c, const PgQuery__AArrayExpr *x);
struct ast_expr *sql_convert_any(struct sql_convert *c, const PgQuery__AExpr *x, const char *op, bool all);
struct ast_expr *sql_convert_indirection(struct sql_convert *c, const PgQuery__AIndirection *x);
struct ast_stmt *sql_convert_stmt(struct sql_convert *c, const PgQuery__Node *n);
struct ast_select *sql_convert_select(struct sql_convert *c, const PgQuery__SelectStmt *s);
/* NULL stays NULL. On false c->err is set. */
bool sql_convert_with(struct sql_convert *c, const PgQuery__WithClause *w, const struct ast_with **out);
/* convert_named.c: the arguments of a call, in the order of its parameters. */
bool sql_convert_args(struct sql_convert *c, const PgQuery__FuncCall *f, struct ast_expr *e);
/* convert_each.c: json_each or one of its kin, which is that node, becomes a function that answers
 * arrays, and t gets the names of its columns. Another function stays as it is. */
bool sql_convert_each(struct sql_convert *c, const PgQuery__Node *node, struct ast_table *t);
/* convert_group.c */
bool sql_convert_group(struct sql_convert *c, const PgQuery__SelectStmt *s, struct ast_select *q);
/* convert_with.c: UNION, INTERSECT, EXCEPT */
bool sql_convert_is_set(const PgQuery__SelectStmt *s);
bool sql_convert_set(struct sql_convert *c, const PgQuery__SelectStmt *s, struct ast_select *q);
bool sql_convert_ddl(struct sql_convert *c, const PgQuery__Node *n, struct ast_stmt *st);
/* convert_lock.c: the locking clauses of a query; series: there are set-returning functions in its
 * list. */
bool sql_convert_locks(
    struct sql_convert *c, const PgQuery__SelectStmt *s, struct ast_select *q, bool series);
/* convert_as.c: CREATE TABLE AS; a SELECT that is a statement; the INTO of a query, NULL = none;
 * that it may have none. */
bool sql_convert_create_as(struct sql_convert *c, const PgQuery__CreateTableAsStmt *s, struct ast_stmt *st);
bool sql_convert_query(struct sql_convert *c, const PgQuery__SelectStmt *s, struct ast_stmt *st);
const PgQuery__IntoClause *sql_convert_into_of(const PgQuery__SelectStmt *s);
/* COLLATE: true if it is the order that texts have in namdb. */
bool sql_convert_collation(struct sql_convert *c, const PgQuery__CollateClause *k);
bool sql_convert_no_into(struct sql_convert *c, const PgQuery__IntoClause *into);
/* An option of CREATE TABLE ... WITH. */
bool sql_convert_table_options(
    struct sql_convert *c, PgQuery__Node *const *list, size_t n, struct ast_stmt *st);
/* convert_domain.c: CREATE and ALTER DOMAIN. */
bool sql_convert_domain(struct sql_convert *c, const PgQuery__Node *n, struct ast_stmt *st);
bool sql_convert_domain_owner(struct sql_convert *c, const PgQuery__AlterOwnerStmt *s, struct ast_stmt *st);
bool sql_convert_rename_domain(struct sql_convert *c, const PgQuery__RenameStmt *s, struct ast_stmt *st);
/* convert_ddl.c: a CHECK. column: it stands beside that one, or NULL. */
bool sql_convert_check(
    struct sql_convert *c, const PgQuery__Constraint *k, struct ast_stmt *st, const char *column);
bool sql_convert_collated(struct sql_convert *c, const PgQuery__CollateClause *k, enum cat_type type);
/* convert_role.c: CREATE, ALTER, DROP ROLE and USER. */
bool sql_convert_grant(struct sql_convert *c, const PgQuery__Node *n, struct ast_stmt *st);
bool sql_convert_owner(struct sql_convert *c, const PgQuery__RoleSpec *to, struct ast_stmt *st);
/* True if SET of it is SET ROLE or SET SESSION AUTHORIZATION. */
bool sql_convert_is_role(const char *setting);
bool sql_convert_role(struct sql_convert *c, const PgQuery__Node *n, struct ast_stmt *st);
/* convert_type.c: CREATE TYPE ... AS ENUM, and DROP, ALTER of types. */
bool sql_convert_own_type(struct sql_convert *c, const PgQuery__Node *n, struct ast_stmt *st);
bool sql_convert_copy(struct sql_convert *c, const PgQuery__CopyStmt *s, struct ast_stmt *st);
/* convert_index.c. beside: the column that UNIQUE stands at, or NULL. */
bool sql_convert_index(struct sql_convert *c, const PgQuery__IndexStmt *s, struct ast_stmt *st);
bool sql_convert_unique(
    struct sql_convert *c, const PgQuery__Constraint *k, struct ast_stmt *st, const char *beside);
/* convert_foreign.c. beside: the column that REFERENCES stands at, or NULL. */
bool sql_convert_foreign(
    struct sql_convert *c, const PgQuery__Constraint *k, struct ast_stmt *st, const char *beside);
/* convert_dml.c */
bool sql_convert_sets(
    struct sql_convert *c, PgQuery__Node *const *list, size_t n, struct ast_target **out, unsigned *count);
bool sql_convert_conflict(
    struct sql_convert *c, const PgQuery__OnConflictClause *s, struct ast_conflict **out);
/* convert_cursor.c */
bool sql_convert_declare(struct sql_convert *c, const PgQuery__DeclareCursorStmt *s, struct ast_stmt *st);
bool sql_convert_fetch(struct sql_convert *c, const PgQuery__FetchStmt *s, struct ast_stmt *st);
bool sql_convert_prepare(struct sql_convert *c, const PgQuery__PrepareStmt *s, struct ast_stmt *st);
struct ast_select *sql_convert_from(struct sql_convert *c, PgQuery__Node **list, size_t n);
/* convert_grant.c */
bool sql_convert_schema_owner(struct sql_convert *c, const PgQuery__AlterOwnerStmt *s, struct ast_stmt *st);
/* convert_as.c: ON COMMIT of st->table. */
bool sql_convert_on_commit(struct sql_convert *c, PgQuery__OnCommitAction what, struct ast_stmt *st);
bool sql_convert_drop_schema(struct sql_convert *c, const PgQuery__DropStmt *s, struct ast_stmt *st);
bool sql_convert_range(struct sql_convert *c, const PgQuery__RangeVar *r, struct ast_table *out);

bool sql_convert_order(struct sql_convert *c, PgQuery__Node *const *list, unsigned n, struct ast_order *out);
/* convert_window.c: a WINDOW clause into c->window; a function call over a window. */
bool sql_convert_windows(struct sql_convert *c, PgQuery__Node *const *list, size_t n);
struct ast_expr *sql_convert_over(struct sql_convert *c, struct ast_expr *f, const PgQuery__FuncCall *call);
/* The text of an expression, of a query; for the catalog. */
const char *sql_convert_text(struct sql_convert *c, const PgQuery__Node *expr);
const char *sql_convert_query_text(struct sql_convert *c, const PgQuery__Node *query);

/* "<feature> not supported yet" with 0A000. */
bool sql_convert_no(struct sql_convert *c, const char *feature, int location);
void *sql_convert_take(struct sql_convert *c, size_t n);
const char *sql_convert_str(struct sql_convert *c, const char *s);
/* The text of a name or constant node, NULL when it is neither. */
const char *sql_convert_word(const PgQuery__Node *n);

#endif
