/*
 * files.h -- the files of one directory, as the log sees them.
 *
 * The log calls the operating system through this table only, so a test can put a directory in its
 * place that loses, tears and refuses (wal/testing). wal_disk_open is the real one.
 *
 * What a power cut leaves (the table of FoundationDB's simulator; nothing above may assume more):
 *   - what was written and synced stays as it is, byte for byte;
 *   - what was written and not synced: each page of 4 KiB is as before, or as written, or neither;
 *   - a file that was created, renamed or removed is so for certain only after sync_dir;
 *   - a sync that has failed makes nothing certain, and neither does a later one of that file.
 */
#ifndef NAM_WAL_FILES_H
#define NAM_WAL_FILES_H

#include <base/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wal_dir;  /* the implementation's */
struct wal_file; /* likewise */

enum { WAL_FILE_NAME = 63 }; /* bytes of a name at most; names have no '/' */

/*
 * Every call may block, and fails with NAM_IO, NAM_NOMEM, or where it says so with NAM_FULL (no
 * space; a later call may succeed) or NAM_ABSENT (no such file); *err has a line that names the
 * file. One thread at a time calls with one file.
 */
struct wal_dir_ops {
	/* Opens a file for reading and writing. make: creates it, or empties the one of that name.
	 */
	nam_status (*open)(
	    struct wal_dir *d, const char *name, bool make, struct wal_file **out, struct nam_err *err);
	void (*close)(struct wal_dir *d, struct wal_file *f);
	nam_status (*size)(struct wal_dir *d, struct wal_file *f, uint64_t *bytes, struct nam_err *err);
	/* Makes a shorter file that long, with zeros, so that no later write within them needs
	 * space; a longer one stays as it is. NAM_FULL: part of it may be done. Not yet synced. */
	nam_status (*reserve)(struct wal_dir *d, struct wal_file *f, uint64_t bytes, struct nam_err *err);
	/* *got < len only at the end of the file. */
	nam_status (*read)(struct wal_dir *d, struct wal_file *f, uint64_t at, void *out, uint32_t len,
	    uint32_t *got, struct nam_err *err);
	/* All of it, or an error and any part of it. NAM_FULL. */
	nam_status (*write)(struct wal_dir *d, struct wal_file *f, uint64_t at, const void *bytes,
	    uint32_t len, struct nam_err *err);
	nam_status (*sync)(struct wal_dir *d, struct wal_file *f, struct nam_err *err);
	/* Replaces `to`. NAM_ABSENT. */
	nam_status (*rename)(struct wal_dir *d, const char *from, const char *to, struct nam_err *err);
	/* NAM_ABSENT. */
	nam_status (*remove)(struct wal_dir *d, const char *name, struct nam_err *err);
	/* Calls fn with each file's name, in no order, until it returns false. */
	nam_status (*list)(
	    struct wal_dir *d, bool (*fn)(void *arg, const char *name), void *arg, struct nam_err *err);
	nam_status (*sync_dir)(struct wal_dir *d, struct nam_err *err);
};

struct wal_dir {
	const struct wal_dir_ops *ops;
};

/*
 * The directory at that path, made if there is none (its parent must exist; mode 0700). It is this
 * process's alone until it is closed: NAM_BUSY, another process has it. NAM_REFUSED: no right to
 * write there; NAM_INVALID: it is no directory; NAM_IO, NAM_NOMEM.
 */
nam_status wal_disk_open(struct wal_dir **out, const char *path, struct nam_err *err);
/* The directory, which is there, to be read: nothing in it is changed, and its file system may be
 * one that takes no writes. Others may read it as well. NAM_BUSY: a process has it by
 * wal_disk_open; NAM_IO: it is no directory, or cannot be read; NAM_NOMEM. */
nam_status wal_disk_open_to_read(struct wal_dir **out, const char *path, struct nam_err *err);
void wal_disk_close(struct wal_dir *d);
/* Free bytes of its file system, as an ordinary user may take them. */
uint64_t wal_disk_free(struct wal_dir *d);

#endif
