/* user_type.h -- types that users make: from a name in a statement to the type. */
#ifndef NAM_SQL_USER_TYPE_H
#define NAM_SQL_USER_TYPE_H

#include <catalog/catalog.h>

/*
 * The type of that name, as t sees it. type: CAT_NAMED, or an array of it. schema: it was written
 * with public. *def (may be NULL): its definition. False: 42704 with the position, if there is
 * none.
 */
bool sql_type_named(struct cat *c, struct txn *t, enum cat_type type, const char *name, bool schema,
    int position, enum cat_type *out, const struct cat_table **def, struct cat_err *err);
/* The type of an id; NULL in *def: there is none. */
bool sql_type_of_id(
    struct cat *c, struct txn *t, uint32_t id, const struct cat_table **def, struct cat_err *err);

#endif
