/* grant.h -- roles in commands, for grant.c and owner.c. Inside of command. */
#ifndef NAM_SQL_GRANT_H
#define NAM_SQL_GRANT_H

#include <sql/command/command.h>

/* The name that a statement means: NULL = the current role, AST_SESSION_ROLE = the session's. */
const char *sql_role_said(struct sql_session *s, const char *name);
/* The role is there (42704), and stays until the transaction ends. */
bool sql_role_held(struct sql_session *s, const char *name, struct nam_arena *a, struct cat_err *err);
/* False, with 42501: that role may not make relations in schema public. */
bool sql_role_makes(struct sql_session *s, const struct sql_who *who, int position, struct cat_err *err);
/* owner.c: a relation, or a type, gets another owner, if the current role may give it. */
bool sql_give_to(struct sql_session *s, const struct cat_table *tab, const char *to, struct nam_arena *a,
    struct cat_err *err);
/* May the current role make relations in that schema, other than public? It stays until the
 * transaction ends (D20). */
bool sql_makes_in(struct sql_session *s, const char *schema, int position, struct cat_err *err);
/* schema.c: the schema stays until the transaction ends, and a new snapshot shows what other
 * transactions have put into it. False: 3F000, or another reason. */
bool sql_schema_held(struct sql_session *s, const struct cat_table **schema, struct cat_err *err);
/* Drops a schema and, with CASCADE, what is in it. */
bool sql_schema_wipe(struct sql_session *s, const struct cat_table *schema, const struct ast_stmt *ast,
    const struct sql_sink *sink, struct nam_arena *a, struct cat_err *err);
/* CREATE ON SCHEMA public, given or taken; to "" = every role, whose row is made when it is
 * needed. */
bool sql_role_set_create(
    struct sql_session *s, const char *to, bool on, struct nam_arena *a, struct cat_err *err);

#endif
