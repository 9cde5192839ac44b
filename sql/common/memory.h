/* memory.h -- how much memory statements may keep. Inside of sql. */
#ifndef NAM_SQL_MEMORY_H
#define NAM_SQL_MEMORY_H

#include <types/value.h>

/* Of all sessions of the process. */
extern struct nam_budget sql_process_memory;
/* "64MB" to KiB and back. */
bool sql_parse_kb(const char *name, const char *v, uint64_t *kb, struct cat_err *err);
const char *sql_kb_text(uint64_t kb, char *buf, size_t max);

#endif
