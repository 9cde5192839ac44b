/* error.h -- errors in PostgreSQL's words: statuses from below, notices, positions in the text.
 * Inside of sql. */
#ifndef NAM_SQL_ERROR_H
#define NAM_SQL_ERROR_H

#include <sql/sql.h>

/* One table of statuses and SQLSTATEs. what: the table it was about, or NULL. Returns false. */
bool sql_status(struct cat_err *err, nam_status st, const struct cat_table *tab);
bool sql_no_memory(struct cat_err *err);
/* notice.c */
void sql_notice(const struct sql_sink *sink, const char *severity, const char *sqlstate, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void sql_err_clear(struct cat_err *err);
/* Byte position to character position. */
void sql_err_place(struct cat_err *err, const char *text, size_t len);

#endif
