/*
 * postgres.h -- names PostgreSQL 15 has: a name that it has and namdb has not is "not supported
 * yet" (0A000), not unknown.
 *
 * Asked only when a name was not found here, so that whatever is added to namdb needs no change in
 * the list. Inside of sql.
 */
#ifndef NAM_SQL_POSTGRES_H
#define NAM_SQL_POSTGRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const char sql_postgres_functions[], sql_postgres_operators[], sql_postgres_aggregates[],
    sql_postgres_types[], sql_postgres_settings[], sql_postgres_inner[];

/* Functions that only PostgreSQL can call, such as int4in: no query calls them, but names and
 * numbers of them are asked for. 0 and false = there is none. */
uint32_t sql_postgres_inner_oid(const char *name);
bool sql_postgres_inner_name(uint32_t oid, char *name, size_t max);

/* True if the word is in the list. For aggregates, types and settings. */
bool sql_postgres_has(const char *list, const char *word);
/* True if every table has that column: ctid and its kin. */
bool sql_system_column(const char *name);
/* Where the word ends in the list, NULL = it does not stand there. open: what follows it: ' ' or
 * '('. */
const char *sql_postgres_find(const char *list, const char *word, char open);

#endif
