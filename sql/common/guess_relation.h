/* guess_relation.h -- a HINT for the name of a table or column that is not there. Inside of sql. */
#ifndef NAM_SQL_GUESS_RELATION_H
#define NAM_SQL_GUESS_RELATION_H

#include <sql/compat/guess.h>
#include <sql/sql.h>

void sql_guess_relations_try(struct sql_guess *g, struct cat *cat, struct txn *t, struct nam_arena *arena);
/* Gives *err, which says that there is no relation of that name, a HINT if there is a similar one.
 * Needs err->hint empty. name: as a path. */
void sql_guess_relation(
    struct cat *cat, struct txn *t, const char *name, struct nam_arena *arena, struct cat_err *err);
/* A HINT for a column of one table. */
void sql_guess_in_table(const struct cat_table *tab, const char *name, struct cat_err *err);

#endif
