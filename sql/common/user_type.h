/* user_type.h -- types that users make: from a name in a statement to the type. */
#ifndef NAM_SQL_USER_TYPE_H
#define NAM_SQL_USER_TYPE_H

#include <catalog/catalog.h>

/*
 * The type of that name, as t sees it. type: CAT_NAMED, or an array of it. schema: what was written
 * before it, NULL = nothing; types are in public. *def (may be NULL): its definition, without which
 * a domain is an error. Of a domain, *out is its base type. False: 42704 with the position, if
 * there is none; 3F000.
 */
bool sql_type_named(struct cat *c, struct txn *t, enum cat_type type, const char *name, const char *schema,
    int position, enum cat_type *out, const struct cat_table **def, struct cat_err *err);
/* True if there is such a schema, the system's included, or no catalog to ask. False: 3F000 with
 * the position. */
bool sql_schema_is(struct cat *c, struct txn *t, const char *name, int position, struct cat_err *err);
/* The name of a type, quoted if a statement must quote it. NULL = no memory. */
const char *sql_type_said(const char *name, struct nam_arena *arena);
/* The type of an id; NULL in *def: there is none. */
bool sql_type_of_id(
    struct cat *c, struct txn *t, uint32_t id, const struct cat_table **def, struct cat_err *err);

#endif
