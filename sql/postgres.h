/*
 * postgres.h -- names PostgreSQL 15 has: what it knows and we do not is "not supported yet" (0A000), not unknown.
 *
 * Asked only when a name was not found here, so that whatever is added to namdb needs no change in the list. Inside of sql.
 */
#ifndef NAM_SQL_POSTGRES_H
#define NAM_SQL_POSTGRES_H

#include <catalog/value.h>

extern const char sql_postgres_functions[], sql_postgres_operators[], sql_postgres_aggregates[],
    sql_postgres_types[], sql_postgres_settings[];

/* Is the word among them? For aggregates, types and settings. */
bool sql_postgres_has(const char *list, const char *word);
/* Does one of that name take n arguments of these types? For functions and operators. */
bool sql_postgres_takes(const char *list, const char *name, const enum cat_type *type, unsigned n);

/*
 * No function, or operator, of that name takes these: 0A000 where PostgreSQL has one, else 42883; or several do
 * and none is better: 42725. Answers false.
 */
bool sql_no_function(
    struct cat_err *err, const char *name, const enum cat_type *type, unsigned n, bool several, int position);
bool sql_no_operator(
    struct cat_err *err, const char *name, const enum cat_type *type, unsigned n, bool several, int position);

#endif
