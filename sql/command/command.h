/* command.h -- statements without a plan of their own, inside a transaction: definitions, ANALYZE,
 * TRUNCATE. Inside of sql. */
#ifndef NAM_SQL_COMMAND_H
#define NAM_SQL_COMMAND_H

#include <sql/common/path.h>
#include <sql/exec/run.h>
#include <sql/parse/parse.h>

/* What this session knows of a sequence. */
struct sql_drawn {
	uint32_t id;
	struct sql_who who; /* may draw, as the catalog of that version says; name "" = not known */
	uint64_t version;
	bool any;
	int64_t last;
	int64_t left; /* values after last that this session has drawn already */
};

/* ddl.c */
bool sql_create_table(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err);
/* create_as.c: CREATE TABLE AS and SELECT INTO. tag: the answer's, "SELECT 7". */
bool sql_create_as(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, char *tag,
    size_t max, uint64_t *rows, struct cat_err *err);
/* CREATE TABLE AS of a query that is planned. */
bool sql_create_as_run(struct sql_session *s, const struct ast_stmt *ast, struct sql_plan *p,
    const struct sql_sink *sink, uint64_t *rows, struct cat_err *err);
/* DROP TABLE, DROP VIEW. */
bool sql_drop_relations(struct sql_session *s, const struct ast_stmt *ast, enum cat_kind kind,
    const struct sql_sink *sink, struct cat_err *err);
bool sql_create_sequence(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err);
bool sql_drop_sequence(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err);
bool sql_create_view(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err);
/* alter.c */
bool sql_alter_table(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err);
/* The relation that an ALTER names. NULL: there is none; IF EXISTS says so, which is noticed. */
bool sql_alter_find(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    const struct cat_table **tab, struct cat_err *err);
/* True if a view reads it. */
bool sql_has_dependents(struct sql_session *s, const struct cat_table *tab, bool *out, struct cat_err *err);
/* Views that read tab, those named in ast aside: an error, or, with CASCADE, dropped. */
bool sql_drop_dependents(struct sql_session *s, const struct cat_table *tab, const struct ast_stmt *ast,
    const struct sql_sink *sink, struct cat_err *err);
/* sequence.c: a sequence's entry in the catalog, by its path. owner: the table it feeds, or
 * NULL. */
bool sql_make_sequence(struct sql_session *s, const char *path, const struct ast_seq *q,
    const struct cat_table *owner, struct cat_err *err);
/* The path of the sequence of a column of a new table with that path, and the default that draws
 * from it. */
bool sql_sequence_name(struct sql_session *s, const char *table, const char *column,
    char out[CAT_PATH_MAX + 1], const char **dflt, struct nam_arena *arena, struct cat_err *err);
/* type.c: the type that a statement says; 42704. */
bool sql_column_type(struct sql_session *s, enum cat_type type, const struct ast_named *named,
    enum cat_type *out, struct cat_err *err);
/* The same for a column: its type, typmod and domain. */
bool sql_column_of(struct sql_session *s, enum cat_type type, int32_t typmod, const struct ast_named *named,
    struct cat_column *c, struct cat_err *err);
/* The types that def uses stay until s->t ends, and if it commits, as long as def
 * uses them. */
bool sql_types_use(struct sql_session *s, const struct cat_table *def, struct cat_err *err);
/* The same for a domain, and for the domains whose names a view's query says. again false: no newer
 * snapshot is taken. */
bool sql_domain_use(struct sql_session *s, uint32_t id, bool again, struct cat_err *err);
bool sql_domains_use(struct sql_session *s, const struct cat_table *def, bool again, struct cat_err *err);
bool sql_view_types_use(struct sql_session *s, const struct cat_table *view, struct cat_err *err);
/* domain.c: CREATE, ALTER, DROP DOMAIN. */
bool sql_create_domain(
    struct sql_session *s, const struct ast_stmt *ast, struct nam_arena *arena, struct cat_err *err);
bool sql_alter_domain(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err);
bool sql_drop_domains(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err);
/* False, with 42710: a type has that path, or, unless relation, a relation has it (42P07 if it is
 * for one). */
bool sql_type_is_taken(struct sql_session *s, const char *path, bool relation, struct cat_err *err);
bool sql_create_enum(
    struct sql_session *s, const struct ast_stmt *ast, struct nam_arena *arena, struct cat_err *err);
bool sql_alter_enum(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err);
bool sql_rename_type(
    struct sql_session *s, const struct ast_stmt *ast, struct nam_arena *arena, struct cat_err *err);
bool sql_give_type(
    struct sql_session *s, const struct ast_stmt *ast, struct nam_arena *arena, struct cat_err *err);
bool sql_drop_types(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err);
/* What a session hands to expressions as struct sql_host. */
struct sql_row;
bool sql_nextval(struct sql_row *r);
bool sql_currval(struct sql_row *r);
bool sql_lastval(struct sql_row *r);
/* called: r's value counts as drawn. */
bool sql_setval(struct sql_row *r, bool called);
/* grant.c: GRANT and REVOKE. owner.c: ALTER ... OWNER TO; REASSIGN OWNED; DROP OWNED. */
bool sql_grant(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *a, struct cat_err *err);
bool sql_give(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *a, struct cat_err *err);
bool sql_reassign(
    struct sql_session *s, const struct ast_stmt *ast, struct nam_arena *a, struct cat_err *err);
bool sql_drop_owned(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *a, struct cat_err *err);
/* False, with 42501 in *err: the current role does not own the relation, or lacks one of these
 * rights. */
bool sql_must_own(struct sql_session *s, const struct cat_table *tab, struct cat_err *err);
/* As sql_must_own, but the owner of its schema may, too. */
bool sql_may_drop(struct sql_session *s, const struct cat_table *tab, struct cat_err *err);
bool sql_must_have(struct sql_session *s, const struct cat_table *tab, uint16_t rights, struct cat_err *err);
/* A new relation's owner is the current role. Its schema stays until the transaction ends. False:
 * the role may not make one there. */
bool sql_make_as(struct sql_session *s, struct cat_table *def, int position, struct cat_err *err);
/* The columns that a PRIMARY KEY names become def's key. */
bool sql_key_columns(struct cat_table *def, const struct ast_stmt *ast, struct cat_err *err);
/* The name of a CHECK constraint that def does not have yet. */
/* True if a constraint of the table has that name. */
bool sql_constraint_is(const struct cat_table *def, const char *name);
bool sql_check_name(struct cat_table *def, const struct ast_check *k, char out[CAT_NAME_MAX + 1],
    struct nam_arena *arena, struct cat_err *err);

/* index.c: an index of def as a statement tells of it, without a name; its name, which none of
 * ix[0..others) has. */
bool sql_index_resolve(
    const struct cat_table *def, const struct ast_index *a, struct cat_index *ix, struct cat_err *err);
bool sql_index_name(struct sql_session *s, const struct cat_table *def, const struct ast_index *a,
    const struct cat_index *ix, unsigned others, char out[CAT_NAME_MAX + 1], struct cat_err *err);
/* key.c: true if the primary key that a statement makes is to be kept in order. */
bool sql_key_is_ordered(const struct sql_session *s, const struct ast_stmt *ast);
/* False, with the error of a "primary_key" that is said of a table without one. */
bool sql_key_is_missing(const char *table, struct cat_err *err);
/* The index that keeps def's primary key in order; def and it get the name of the constraint. */
bool sql_key_order(struct sql_session *s, struct cat_table *def, const struct ast_stmt *ast,
    struct cat_index *ix, struct cat_err *err);
/* The table whose primary key's constraint has that path and no index in order, NULL = none. A path
 * that is nowhere: in any schema. */
nam_status sql_key_find(struct sql_session *s, const char *path, const struct cat_table **out);
/* Renames such a constraint. */
bool sql_key_rename(
    struct sql_session *s, const struct cat_table *tab, const char *name, struct cat_err *err);
/* table_[columns_]label, both parts cut so that it is a name. */
void sql_make_name(const char *table, const char *columns, const char *label, char out[CAT_NAME_MAX + 1]);
/* Adds ix to a table that is held. */
bool sql_index_add(
    struct sql_session *s, const struct cat_table *tab, const struct cat_index *ix, struct cat_err *err);
/* Holds the table and adds the index. path: the index's; "" = IF NOT EXISTS, and there is one. */
bool sql_index_define(struct sql_session *s, const struct ast_stmt *ast, bool valid,
    char path[CAT_PATH_MAX + 1], const struct sql_sink *sink, struct cat_err *err);
/* The table of an index, and its number there; *tab NULL = no index has that path. */
bool sql_index_find(
    struct sql_session *s, const char *path, const struct cat_table **tab, unsigned *i, struct cat_err *err);
/* Makes the entries of all rows that s->t shows. */
bool sql_index_fill(struct sql_session *s, const struct cat_table *tab, unsigned i,
    const struct sql_sink *sink, struct cat_err *err);
/* True if no two rows that s->t shows have one key. */
bool sql_index_distinct(struct sql_session *s, const struct cat_table *tab, unsigned i,
    const struct sql_sink *sink, struct cat_err *err);
/* Both, for the index of that path. */
bool sql_index_build(
    struct sql_session *s, const char *path, const struct sql_sink *sink, struct cat_err *err);
bool sql_index_validate(
    struct sql_session *s, const char *path, struct nam_arena *arena, struct cat_err *err);
/* CREATE INDEX inside a transaction block. */
bool sql_create_index(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err);
bool sql_drop_index(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err);
/* True if a column's default draws from the sequence, so it cannot be dropped (2BP01), or if that
 * cannot be told (*err says why). */
bool sql_sequence_in_use(struct sql_session *s, const struct cat_table *seq, struct cat_err *err);
bool sql_rename_index(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err);

/* foreign.c: a foreign key of def as a statement tells of it. *parent: def, or another table. */
bool sql_foreign_resolve(struct sql_session *s, const struct cat_table *def, const struct ast_foreign *a,
    struct cat_foreign *k, const struct cat_table **parent, struct cat_err *err);
/* The definition of a referenced table says that child has that foreign key, or has it no more. */
void sql_foreign_refer(struct cat_table *parent, const char *child, const char *name);
void sql_foreign_unrefer(struct cat_table *parent, const char *child, const char *name);
/* The same in the catalog. alone: no other statement follows in the transaction. */
bool sql_foreign_link(struct sql_session *s, const char *child, const struct cat_foreign *k, bool on,
    bool alone, struct nam_arena *arena, struct cat_err *err);
/* Before tab is dropped: foreign keys that refer to it are an error, or, with CASCADE, dropped.
 * Other tables forget its own. */
bool sql_foreign_drop_table(struct sql_session *s, const struct cat_table *tab, const struct ast_stmt *ast,
    const struct sql_sink *sink, struct cat_err *err);
/* True if only tables among names refer to tab. */
bool sql_foreign_may_truncate(
    const struct cat_table *tab, const char *const *names, unsigned n, struct cat_err *err);
/* The foreign keys that need an index of tab, or (SQL_PRIMARY_KEY) its hash: an error, or,
 * with CASCADE, dropped, and taken out of def, tab's new definition. what: "constraint",
 * "index". */
bool sql_foreign_need(struct sql_session *s, const struct cat_table *tab, struct cat_table *def, int which,
    const char *what, const char *name, bool cascade, const struct sql_sink *sink, struct cat_err *err);
/* Renames what foreign keys know: a column of tab, or (from NULL) tab's path. def: tab's new
 * definition. */
bool sql_foreign_rename(struct sql_session *s, const struct cat_table *tab, struct cat_table *def,
    const char *from, const char *to, struct nam_arena *arena, struct cat_err *err);

/* schema.c: CREATE, DROP SCHEMA. */
bool sql_create_schema(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err);
bool sql_drop_schema(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err);
/* role.c: CREATE, ALTER, DROP ROLE. */
bool sql_role(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *arena, struct cat_err *err);
/* truncate.c: an empty table in the place of one that is held (cat_hold). */
bool sql_truncate(
    struct sql_session *s, const struct cat_table *tab, struct nam_arena *arena, struct cat_err *err);
/* analyze.c */
bool sql_analyze(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err);

#endif
