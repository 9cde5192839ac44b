/* temp.h -- temporary relations of a session. Inside of sql. */
#ifndef NAM_SQL_TEMP_H
#define NAM_SQL_TEMP_H

#include <sql/command/command.h>

/* True for a session's schema; *process: the one that the session is of (txn_process). */
bool sql_temp_process(const char *schema, uint64_t *process);
/* The session's schema is there, in s->t at least. */
bool sql_temp_ready(struct sql_session *s, struct cat_err *err);
/* The path of a temporary relation that is to be made. */
bool sql_temp_path(struct sql_session *s, const char *name, char out[CAT_PATH_MAX + 1], struct cat_err *err);
/* ON COMMIT: rows or tables that end with the transaction go. */
bool sql_temp_commit(struct sql_session *s, struct cat_err *err);

#endif
