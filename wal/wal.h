/*
 * wal.h -- one ordered log of records in the files of a directory: the storage node's half.
 *
 * It knows bytes, positions and files; what a record means only its writer knows. A record that
 * wal_append has taken is *received*: it lies in memory, its place in the order is fixed. It is
 * *flushed* when the file that holds it has been synced, with all before it. A cut of power leaves
 * a prefix of the records in which all flushed ones are.
 *
 * Threads: wal_append, wal_begin, wal_publish and wal_read_* are called by one thread (a shard),
 * wal_step by one thread (the flusher; in a simulation, the shard's idle hook). wal_state may be
 * called by any. Group commit needs no timer: while one block is synced, records gather for the
 * next.
 */
#ifndef NAM_WAL_WAL_H
#define NAM_WAL_WAL_H

#include <wal/files.h>
#include <wal/wal_format.h>

struct wal;

struct wal_config {
	struct wal_dir *dir;    /* borrowed */
	unsigned node;          /* id of the storage node; 0 = that of the directory, to read it */
	uint64_t segment_bytes; /* 0 = 64 MiB; 64 KiB to 1 GiB; whole pages */
	uint64_t buffer_bytes;  /* records that wait for the flusher; 0 = 16 MiB; a power of two */
	uint64_t reserve_bytes; /* of each segment, for records with `spare`; 0 = 64 KiB, or a
				 * quarter of a small segment; half a segment at most */
	bool plain;             /* compress nothing */
	bool no_sync;           /* sync nothing: a cut of power may lose all. To read only, and for
				 * tests */
	bool copy;              /* a log is copied into an empty directory (W9), else NAM_INVALID */
	bool backup;            /* with copy: it is a backup, W10 */
	/* Nanoseconds that never go back; NULL = this machine's. For a simulation. */
	uint64_t (*clock)(void *arg);
	void *clock_arg;
};

/*
 * Opens the log of a directory. What a process before has written is synced before it is read. All
 * blocks of the published life are judged: a damaged last one is cut off; NAM_CORRUPT: damage
 * before valid blocks, a missing segment, a damaged manifest, and the line says which file and
 * where; NAM_REFUSED: the directory is that of another node id, or of a later version; NAM_IO,
 * NAM_NOMEM; NAM_FULL: an empty directory, and no space for its manifest. Nothing is removed or
 * changed on an error.
 */
nam_status wal_open(struct wal **out, const struct wal_config *cfg, struct nam_err *err);
/* wal_step is not called any more. What is not flushed is gone. */
void wal_close(struct wal *w);

enum wal_condition {
	WAL_WELL,
	WAL_SPACE,  /* no space for the next segment: only records with `spare` are taken, until
		     * there is some again */
	WAL_BROKEN, /* a write or a sync has failed: nothing is taken until the log is opened
		     * again */
};

struct wal_state {
	enum wal_condition condition;
	uint64_t cluster;   /* of the published life; 0 = it never was part of one */
	uint32_t published; /* the life that is the database, 0 = there is none */
	uint32_t life;      /* the life that is written now, 0 = none */
	uint32_t lives;     /* the greatest number given out */
	uint64_t begin;     /* of the published life: records before that position are gone */
	bool cut_lacks;     /* a cut waits for space for the manifest */
	uint64_t end;       /* of the published life, when the log was opened: a position */
	uint64_t whole;     /* likewise: W8 */
	uint64_t received;  /* positions of the life that is written now */
	uint64_t flushed;
	uint64_t syncs, blocks, stored; /* since wal_open: syncs, blocks, bytes written for them */
	uint64_t records, raw;          /* ... received: records, their bytes */
	uint64_t sync_ns;               /* of the last one */
	uint64_t files;                 /* bytes that its files take */
};
void wal_state(const struct wal *w, struct wal_state *out);
/* By the clock of its configuration. */
uint64_t wal_now_ns(const struct wal *w);
/* The id of the storage node whose log it is. */
unsigned wal_node(const struct wal *w);
/* Why it is WAL_BROKEN, or WAL_SPACE: a line. "" when it is well. */
void wal_why(const struct wal *w, struct nam_err *out);

/*
 * Begins a life of a cluster: *life is its number (W7). A life that was written and not published
 * is given up, its files are removed by wal_step. The published life stays as it is. NAM_INVALID:
 * cluster is 0; NAM_BUSY: the flusher is still at work with the life before, try again; NAM_IO:
 * broken.
 */
nam_status wal_begin(struct wal *w, uint64_t cluster, uint32_t *life);
/* Likewise, but its number is at least `least`: copies of a log give a life the same number. */
nam_status wal_begin_from(struct wal *w, uint64_t cluster, uint32_t least, uint32_t *life);
/* Likewise, for a copy of a log in another directory: its first record gets that position. */
nam_status wal_begin_at(struct wal *w, uint64_t cluster, uint64_t position, uint32_t *life);
/*
 * Takes a record. *end: the position behind it. NAM_BUSY: the buffer is full, or a segment is being
 * made (so also at the begin of a life), try again; NAM_FULL: no space; NAM_REFUSED: life is not
 * the one that is written; NAM_IO: broken; NAM_INVALID: longer than WAL_RECORD_MAX, than the
 * buffer, or than a segment without two pages and what is kept back. spare: it may use what is kept
 * back for such records. Copies the bytes. A record that was taken has its place in a segment that
 * is there: it can be flushed, also if the disk is full.
 */
enum { WAL_RECORD_MAX = 1 << 20 };
nam_status wal_append(
    struct wal *w, uint32_t life, const void *bytes, uint32_t len, bool spare, uint64_t *end);
/*
 * The life that is written becomes the database, as soon as all that it has received so far is
 * flushed: wal_step does it, wal_state's `published` tells. Then the files of the life before are
 * removed. NAM_REFUSED, NAM_IO as in wal_append.
 */
nam_status wal_publish(struct wal *w, uint32_t life);
/* Likewise; what the manifest says of the life's copies. wal_publish says that it is the only one,
 * of the database that is there already, or else of a new one. */
nam_status wal_publish_as(struct wal *w, uint32_t life, const struct wal_copies *copies);
/* Likewise, a copy of a log that was whole at that position (W8). */
nam_status wal_publish_copy(struct wal *w, uint32_t life, uint64_t whole);

/*
 * An operator says that a storage node is lost for good to the published life: wal_step puts it
 * into the manifest, in the place of a node without a copy if there is no other; wal_copies_now
 * tells. NAM_ABSENT: no life is published; NAM_REFUSED:
 * it is this node; NAM_BUSY: another one is being put there; NAM_IO: broken.
 */
nam_status wal_lost(struct wal *w, uint32_t node);
/* What the manifest says of the published life's copies. The flusher's thread only. */
void wal_copies_now(const struct wal *w, struct wal_copies *out);

/*
 * The life's records before that position are not needed any more, as soon as all that it has
 * received so far is flushed, and it is published: wal_step takes them away, by whole segments;
 * wal_state's `begin` tells. A record begins at the position, or it is the end. NAM_INVALID: it
 * lies behind the end; NAM_REFUSED, NAM_IO as in wal_append.
 */
nam_status wal_cut(struct wal *w, uint32_t life, uint64_t position);

/*
 * Does the next piece of file work, and blocks for it: one write, one sync, one segment made, one
 * manifest replaced. False: there was nothing to do.
 */
bool wal_step(struct wal *w);

/*
 * Reads records of the published life, in their order. position: 0 (the first that it has), or
 * *next of a call before.
 * Whole records (struct wal_record_head, bytes, padding to 8), as many as fit into cap; *got == 0:
 * the end. NAM_INVALID: cap is too small for the next record (WAL_RECORD_MAX + 8 is enough);
 * NAM_ABSENT: there is no published life, or it is being written now; NAM_CORRUPT, NAM_IO.
 */
nam_status wal_read(struct wal *w, uint64_t position, void *out, uint32_t cap, uint32_t *got, uint64_t *next,
    struct nam_err *err);
/*
 * Likewise, records of the published life that is being written now, as far as it is flushed.
 * NAM_ABSENT: a checkpoint has cut off what lies there; NAM_REFUSED: that life is not written any
 * more, or is not published.
 */
nam_status wal_read_live(struct wal *w, uint32_t life, uint64_t position, void *out, uint32_t cap,
    uint32_t *got, uint64_t *next, struct nam_err *err);

#endif
