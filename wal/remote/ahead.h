/* ahead.h -- reads the published life of a log, and has the next records on their way meanwhile. */
#ifndef NAM_WAL_REMOTE_AHEAD_H
#define NAM_WAL_REMOTE_AHEAD_H

#include <wal/remote/log.h>

struct wal_ahead;

/* From that position on (0: its begin). All in coroutines of w's thread. *out NULL on failure. */
nam_status wal_ahead_open(struct wal_ahead **out, struct net_worker *w, unsigned region, uint64_t position);
/* The next records, valid until the next call; *n == 0: the end. As wal_log_read. */
nam_status wal_ahead_next(struct wal_ahead *a, const char **records, uint32_t *n);
/* NULL does nothing. */
void wal_ahead_close(struct wal_ahead *a);

#endif
