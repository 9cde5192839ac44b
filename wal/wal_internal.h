/*
 * wal_internal.h -- the inside of the log. For the files here only.
 *
 * The shard's thread and the flusher's share three things: the ring of records, a few atomic words,
 * and the turn. A field says in front whose it is:
 *	i  set by wal_open, then only read
 *	s  the shard's
 *	f  the flusher's, that is of the thread that has the turn
 *	s> f>  written by that thread, read by any
 */
#ifndef NAM_WAL_INTERNAL_H
#define NAM_WAL_INTERNAL_H

#include <wal/wal.h>
#include <wal/wal_format.h>

#include <stdatomic.h>

enum {
	WAL_PIECE = 1 << 20, /* bytes by which the next segment grows in one step */
	WAL_PACK_MIN = 8192, /* bytes of records that are worth lz4 */
	WAL_DOOMED = 64,     /* files whose removal one look at the directory prepares */
	WAL_MANNERS = 100,   /* steps that the flusher leaves out for a wal_begin that waits */
};

/* Bytes of whole pages. */
static inline uint64_t
wal_pages(uint64_t bytes)
{
	return (bytes + WAL_PAGE - 1) / WAL_PAGE * WAL_PAGE;
}

/* Bytes that a record of that length takes, with its head. */
static inline uint64_t
wal_record_bytes(uint64_t len)
{
	return sizeof(struct wal_record_head) + (len + 7) / 8 * 8;
}

/* log-LLLLLLLL-SSSSSSSS */
void wal_segment_name(char out[WAL_FILE_NAME + 1], uint32_t life, uint32_t segment);
/* False: the name is not a segment's. */
bool wal_segment_named(const char *name, uint32_t *life, uint32_t *segment);

/* A segment that is read, through a buffer. */
struct wal_window {
	struct wal_dir *dir;
	struct wal_file *file; /* NULL = none is open */
	char name[WAL_FILE_NAME + 1];
	uint32_t life, segment;
	uint64_t size; /* the file's */
	char *buf;
	uint64_t at; /* where in the file buf begins */
	uint32_t len, cap;
};
/* Opens that segment, if it is not the one that is open. NAM_ABSENT, NAM_IO, NAM_NOMEM. */
nam_status wal_window_open(struct wal_window *v, uint32_t life, uint32_t segment, struct nam_err *err);
/* *out: these bytes, until the next call; NULL: the file ends before. */
nam_status wal_window_get(
    struct wal_window *v, uint64_t at, uint32_t len, const char **out, struct nam_err *err);
void wal_window_close(struct wal_window *v);

/* A segment as it was judged. */
struct wal_part {
	uint64_t position; /* of its first record */
	uint64_t end;      /* in the file: behind its last block */
};

/* What a life holds. */
struct wal_index {
	uint64_t cluster;
	uint32_t life;         /* 0 = this is of none */
	uint32_t first, parts; /* segments [first, parts) */
	uint64_t begin, end;   /* positions */
	struct wal_part *part; /* of segment `first` and so on */
};

/* What the manifest says. */
struct wal_named {
	uint64_t cluster;
	uint32_t life, lives;
	uint64_t least;
	uint64_t begin, opens;
	uint64_t whole;
	uint32_t first;
	uint32_t flags;
	struct wal_copies copies;
};

/* Where wal_read_live is. */
struct wal_live {
	struct wal_window view;
	char *block; /* records of the block that was read last, WAL_BLOCK_MAX */
	uint64_t position;
	uint32_t bytes; /* 0 = there is none */
	bool known;     /* the next block lies here, if it is flushed: */
	uint32_t life;
	uint32_t segment;
	uint64_t at, from;
};

struct wal_writer {
	struct wal_file *cur; /* NULL = the life has no segment yet */
	uint32_t number;      /* cur's */
	uint32_t at;          /* where the next block goes */
	bool dirty;           /* cur was written, and not synced since */
	uint64_t written;     /* position behind the last block */
	struct wal_file *next;
	uint32_t next_number;
	uint64_t made;    /* bytes of next */
	uint64_t counted; /* those that w->files has */
	bool ready;       /* next can be used */
	char *raw;        /* a block's head, and the records */
	char *packed;     /* likewise, by lz4 */
	uint32_t block_max;
	bool sweep; /* files of other lives may be there */
	bool swept; /* some were removed since the directory was synced */
	unsigned doomed;
	char doom[WAL_DOOMED][WAL_FILE_NAME + 1];
	unsigned waited;    /* steps left out for wal_begin */
	unsigned cut_rests; /* steps without a try to cut */
	unsigned unswept;   /* steps since a file was removed */
	struct wal_named named;
};

struct wal {
	struct wal_config cfg; /* i  without zeros */
	struct wal_dir *dir;   /* i */
	uint64_t room;         /* i  bytes of a segment for blocks */
	uint64_t slack;        /* i  see space.c */
	uint64_t end;          /* i  of the published life when the log was opened */
	uint64_t whole;        /* i  likewise */
	char *ring;            /* i  a position's byte lies at position % cfg.buffer_bytes */

	_Atomic uint32_t lives;  /* s> the greatest number given out */
	uint64_t largest;        /* s  bytes of the life's largest record */
	struct wal_index index;  /* s  of the life that was published when it was made */
	struct wal_window view;  /* s  for reading */
	char *block;             /* s  records of the block that was read last, WAL_BLOCK_MAX */
	uint32_t block_segment;  /* s  its segment */
	uint64_t block_at;       /* s  where it begins in the segment, 0 = there is none */
	uint64_t block_behind;   /* s  where the next one begins */
	uint64_t block_position; /* s */
	uint32_t block_bytes;    /* s */
	uint64_t read_next;      /* s  a position where a record begins */
	struct wal_live live;    /* s */

	_Atomic uint32_t life;            /* s> */
	_Atomic uint64_t cluster;         /* s>  of the life that is written */
	_Atomic uint64_t received;        /* s>  released when the ring has the record */
	_Atomic uint64_t publish_behind;  /* s>  position that must be flushed first */
	_Atomic uint64_t begin;           /* s>  position of the first record of the life */
	_Atomic uint64_t publish_whole;   /* s>  W8 */
	struct wal_copies publish_copies; /* s>  written before `publish` is, once a life */
	_Atomic uint32_t publish;         /* s>  life to be published; released after it */
	_Atomic uint32_t lost;            /* s>  to be named lost, 0 = none; f clears it */
	_Atomic uint64_t cut_behind;      /* s>  position that must be flushed first */
	_Atomic uint64_t cut;             /* s>  where the life is to begin; released after it */
	_Atomic uint64_t records, raw;    /* s> */
	_Atomic bool begin_waits;         /* s>  wal_begin did not get the turn */

	/* f>  The ring before this position is free. Released after rest and fit: see space.c. */
	_Atomic uint64_t taken;
	_Atomic uint64_t rest;  /* f>  bytes of cur for blocks */
	_Atomic int64_t fit;    /* f>  position up to which all certainly fits into cur */
	_Atomic uint64_t extra; /* f>  bytes of next, 0 = it is not ready */
	_Atomic uint64_t flushed;
	_Atomic uint32_t published;
	_Atomic uint64_t published_cluster;
	_Atomic uint64_t cut_done;  /* f>  where the published life begins */
	_Atomic bool cut_lacks;     /* f> */
	_Atomic unsigned condition; /* f>  enum wal_condition */
	_Atomic uint64_t syncs, blocks, stored, sync_ns, files;
	/* f>  Each is filled once, before its flag is released. */
	struct nam_err why_space, why_broken;
	_Atomic bool space_said;

	/* TURN_*: one thread at a time has the flusher's fields. */
	_Atomic unsigned turn;
	struct wal_writer f;
};

enum { WAL_TURN_FREE, WAL_TURN_STEP, WAL_TURN_BEGIN };

static inline nam_status
wal_sync(const struct wal *w, struct wal_file *f, struct nam_err *err)
{
	return w->cfg.no_sync ? NAM_OK : w->dir->ops->sync(w->dir, f, err);
}
static inline nam_status
wal_sync_dir(const struct wal *w, struct nam_err *err)
{
	return w->cfg.no_sync ? NAM_OK : w->dir->ops->sync_dir(w->dir, err);
}

/* manifest.c */
/* *there: false, if there is none. NAM_CORRUPT, NAM_REFUSED, NAM_IO, NAM_NOMEM. */
nam_status wal_manifest_read(struct wal *w, struct wal_named *out, bool *there, struct nam_err *err);
/* Replaces it; when it returns NAM_OK, w->f.named is this, whatever happens. */
nam_status wal_manifest_write(struct wal *w, const struct wal_named *named, struct nam_err *err);

/* judge.c */
/* *position: of the first record of that segment, which is there. */
nam_status wal_segment_position(
    struct wal *w, struct wal_window *v, uint64_t cluster, uint64_t *position, struct nam_err *err);
/*
 * A block at that place: *head and *stored are its, until the next wal_window_get. *stored NULL: no
 * block is there that W1 would call valid. A block of another position than the expected one is
 * valid.
 */
nam_status wal_block_at(struct wal_window *v, uint64_t cluster, uint64_t at, struct wal_block_head *head,
    const char **stored, struct nam_err *err);
/* Judges the segments of a life up to `parts`. Gives out->part (free). */
nam_status wal_judge(
    struct wal *w, const struct wal_named *named, uint32_t parts, struct wal_index *out, struct nam_err *err);
/* How many segments of a life the directory has: one more than the greatest number. */
nam_status wal_count_parts(struct wal *w, uint32_t life, uint32_t *parts, struct nam_err *err);

/* space.c */
/* The shard asks: does a record of so many bytes fit into what the life has? NAM_BUSY, NAM_FULL. */
nam_status wal_space_for(const struct wal *w, uint64_t bytes, bool spare);
/* The flusher tells: it has the records before `taken`. */
void wal_space_tell(struct wal *w, uint64_t taken);
uint64_t wal_space_slack(const struct wal_config *cfg);

/* segment.c: all of these with the turn */
/* Goes on with the next segment by one piece. False: there is no space. */
bool wal_segment_make(struct wal *w);
/* Removes the next segment if it is not ready, so that nothing relies on it. False: no such one. */
bool wal_segment_unmake(struct wal *w);
/* Writes the head of the next segment, which is cur from now on. */
void wal_segment_change(struct wal *w);
/* Closes cur and next. */
void wal_segment_forget(struct wal *w);

/* live.c */
/* Closes what wal_read_live has open: its file may go, or has gone. */
void wal_live_close(struct wal *w);

/* sweep.c */
/* Removes one file that belongs to no life any more, or looks for such. */
void wal_sweep(struct wal *w);

/* write.c */
/* Nothing is taken from now on; st is not NAM_OK, err->text says why. */
void wal_break(struct wal *w, const struct nam_err *err);
/* WAL_SPACE, and why. */
void wal_lack(struct wal *w, const struct nam_err *err);

#endif
