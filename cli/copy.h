/* copy.h -- a log that is copied into a directory: for `namdb backup` and `namdb restore`. */
#ifndef NAM_CLI_COPY_H
#define NAM_CLI_COPY_H

#include <base/status.h>
#include <txn/cut.h>
#include <wal/wal.h>

struct cli_copy {
	const char *path; /* borrowed */
	bool made;        /* the directory was made here */
	bool foreign;     /* another process has filled it meanwhile */
	unsigned begun;   /* how often a copy was begun in it */
	struct wal_dir *dir;
	struct wal *log;
	uint32_t life;
	uint64_t records, bytes; /* that it has */
};

/* There is nothing at that path, or an empty directory. NAM_REFUSED, NAM_IO. */
nam_status cli_copy_vacant(const char *path, struct nam_err *err);
/* Makes the directory, or takes the empty one, for the log of that storage node, or for a backup of
 * it. */
nam_status cli_copy_open(
    struct cli_copy *c, const char *path, unsigned node, bool backup, struct nam_err *err);
/* Begins a copy whose first record has that position; what was copied before is given up. */
nam_status cli_copy_begin(struct cli_copy *c, uint64_t cluster, uint64_t position, struct nam_err *err);
nam_status cli_copy_put(struct cli_copy *c, const void *bytes, uint32_t len, struct nam_err *err);
/* What undoes attempts that were put; then the copy becomes a database. whole: wal_format.h, W8. */
nam_status cli_copy_end(struct cli_copy *c, const struct txn_cut *cut, uint64_t whole, struct nam_err *err);
/* keep false: takes away what was made, as far as that goes. */
void cli_copy_close(struct cli_copy *c, bool keep);

/* "how: 12 % of 3.4 GiB" on a terminal, twice a second; done UINT64_MAX: the line goes. */
void cli_copy_told(const char *how, uint64_t done, uint64_t all);
/* From now on SIGINT and SIGTERM set this, once; a second one ends the process. */
extern _Atomic int cli_copy_stop;
void cli_copy_signals(void);

#endif
