/*
 * faulty.h -- a directory in memory that does all that files.h allows: for tests.
 *
 * All dice come from its seed, so a run is repeated by the seed and the calls. A *call* is one of
 * wal_dir_ops, close excepted. One thread.
 *
 * At a cut of power each page of 4 KiB that was written and not synced is as before, as written, or
 * a mixture of sectors of 512 bytes, of which each is old, new, half of both, or rubbish. Of the
 * names that were made, renamed and removed without sync_dir each change is kept or lost by itself.
 */
#ifndef NAM_WAL_TESTING_FAULTY_H
#define NAM_WAL_TESTING_FAULTY_H

#include <wal/files.h>

/* NULL: no memory. */
struct wal_dir *wal_faulty_open(uint64_t seed);
void wal_faulty_close(struct wal_dir *d);
/* What it holds now, all of it synced, with nothing under way; NULL: no memory. */
struct wal_dir *wal_faulty_copy(struct wal_dir *d, uint64_t seed);

/* Calls since it was opened, or since the last cut. */
uint64_t wal_faulty_calls(struct wal_dir *d);
/* The n-th call from now on, and all later ones, fail with NAM_IO; it itself is done, or half done,
 * or not. 0 = none. */
void wal_faulty_stop_at(struct wal_dir *d, uint64_t n);
bool wal_faulty_stopped(struct wal_dir *d);
/* The n-th sync from now on fails, once. 0 = none. */
void wal_faulty_fail_sync(struct wal_dir *d, uint64_t n);
/* All files together may have so many bytes. UINT64_MAX, as at first: no bound. */
void wal_faulty_room(struct wal_dir *d, uint64_t bytes);
/* What they have now. */
uint64_t wal_faulty_used(struct wal_dir *d);

/* The power is cut, and comes back: all files are closed (and their handles invalid), calls work.
 */
void wal_faulty_cut(struct wal_dir *d);

/* Its process ends, and the power stays: all files are closed, calls work, nothing is lost. */
void wal_faulty_end(struct wal_dir *d);

/* The bytes of a file: NULL = there is none of that name. Its writer may change them. */
char *wal_faulty_bytes(struct wal_dir *d, const char *name, uint64_t *size);

#endif
