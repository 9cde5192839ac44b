/*
 * log.h -- lines for the user who runs the program, on stderr. Off the data path. Any thread.
 *
 * A line never waits for its reader: what a full pipe, socket or terminal does not take at once is
 * dropped and counted. The next line that goes out has a line before it that tells the count.
 */
#ifndef NAM_BASE_LOG_H
#define NAM_BASE_LOG_H

#include <stdint.h>

enum nam_log_level { NAM_LOG_ERROR, NAM_LOG_WARN, NAM_LOG_INFO, NAM_LOG_DEBUG };

/* Lines above the level are dropped. Default: the value of NAMDB_LOG (error, warn, info, debug),
 * else NAM_LOG_WARN. */
void nam_log_level_set(enum nam_log_level level);
/* Lines that were dropped so far. */
uint64_t nam_log_dropped(void);
/* One line, "namdb: " before it, newline added. */
void nam_log(enum nam_log_level at, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
