/*
 * wal_format.h -- the bytes of a log's files.
 *
 *   manifest         one page: which cluster, which life's segments are the database
 *   log-LLLLLLLL-SSSSSSSS   segment S of life L, both in hexadecimal
 *
 *   segment:  0        4096
 *             +--------+---------+-------+- - - - - - - - - - - - - - - -+
 *             | head   | block   | block |  ...                   zeros  |
 *             +--------+---------+-------+- - - - - - - - - - - - - - - -+
 *   block:    0        64
 *             +--------+- - - - - - - - - - - - - - - - -+- - - - -+
 *             | head   | records: len 4 | flags 4 | bytes | padding |   to whole pages of 4 KiB
 *             +--------+- - - - - - - - - - - - - - - - -+- - - - -+
 *             (the records' part may be compressed as a whole, by lz4)
 *
 * A *life* is one filling of the cluster's memory: from a restore, or from an empty cluster, to the
 * end of its storage processes. Segments of a life are numbered from 0 without a gap. A *position*
 * counts the bytes of records (with their heads, padded to 8) from the begin of the life, so it
 * does not depend on blocks, pages or compression. A checkpoint cuts off the begin of a life: the
 * manifest says from which position on, and in which segment that lies.
 *
 * Always true
 *   W1  A block is valid iff its head names its cluster, life, segment and place, and its check
 *       covers head and stored bytes. What else lies in a file is no block: zeros, an earlier use
 *       of the file, a write that was cut.
 *   W2  A block is written when the one before it is synced, never over another block of its life.
 *       So of a life's blocks only the last one may be damaged by a cut.
 *   W3  A valid block behind an invalid place of one life is damage: nothing is cut off there.
 *   W4  Positions rise without a gap from block to block, and from segment to segment.
 *   W5  A segment is created, filled with zeros, synced, and its name synced, before its first
 *       block.
 *   W6  The manifest is replaced by rename, and names a life only when all that the life has to
 *       hold is synced. Files of lives that it does not name, and segments before the first one
 *       that it names, are removed afterwards.
 *   W7  A life's number is given out once: a new one is greater than every number that a manifest
 *       or a file's name has.
 *   W8  The records from `begin` to any position that is at least `whole` are a database: what the
 *       life was published with, or what its last checkpoint has appended, lies before it.
 *   W9  A directory into which a log is being copied has WAL_COPYING until the copy is published:
 *       no other program takes it for an empty one.
 *   W10 A copy that is published as a backup has WAL_BACKUP: no program writes a life into it, so
 *       it stays as it is. Programs that do not know the flag do.
 *   W11 A life that several nodes have copies of is published on one after the other, when all have
 *       flushed what there was of it, and is used when all have published it. So two lives of a
 *       database that were used share a node, unless an operator has said that the other one's
 *       nodes are lost; and a node that has not flushed a life's first records belongs to a life
 *       that nobody has published.
 */
#ifndef NAM_WAL_FORMAT_H
#define NAM_WAL_FORMAT_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#define WAL_MANIFEST_MAGIC UINT64_C(0x314e414d4c41574e) /* "NWALMAN1" */
#define WAL_SEGMENT_MAGIC  UINT64_C(0x314745534c41574e) /* "NWALSEG1" */
#define WAL_BLOCK_MAGIC    UINT64_C(0x314b4c424c41574e) /* "NWALBLK1" */

enum {
	/* 1: a manifest says nothing of a begin, so it is 0; 2: nothing of copies, so there is one
	 * and `cluster` is the database. */
	WAL_VERSION = 3,
	WAL_PAGE = 4096,
	WAL_BLOCK_HEAD = 64,
	WAL_BLOCK_MAX = 4 << 20, /* bytes of records of a block, not compressed */
	WAL_LZ4 = 1,             /* of a block's flags */
	WAL_COPYING = 1,         /* of a manifest's flags */
	WAL_WHOLE = 2,           /* likewise */
	WAL_BACKUP = 4,          /* likewise */
};

enum {
	WAL_COPIES = 3,  /* of a cluster's log, at most */
	WAL_FORMERS = 3, /* published lives that a manifest remembers */
};

/*
 * What the copies of a log say of each other: the published life, on each node that has a copy of
 * it. Of two lives of one database the greater one is the newer one, if it remembers the other;
 * else they may be branches, each of which has gone on without the other.
 */
struct wal_copies {
	uint64_t database;         /* random; that of the first life, kept by all that follow */
	uint32_t copy[WAL_COPIES]; /* ids of the storage nodes that have one, 0 = no further one */
	uint32_t lost[WAL_COPIES]; /* nodes that an operator has said to be lost for good */
	struct wal_former {
		uint64_t cluster;
		uint32_t life; /* 0 = no further one */
		uint32_t pad;
	} former[WAL_FORMERS]; /* published before it, the newest first */
};
static_assert(sizeof(struct wal_copies) == 32 + 16 * WAL_FORMERS, "what copies say is a layout");

/* Is the id of that node among `copy` or `lost`? */
static inline bool
wal_ids_have(const uint32_t ids[WAL_COPIES], uint32_t node)
{
	bool has = false;
	for (unsigned i = 0; i < WAL_COPIES; i++)
		has = has || ids[i] == node;
	return has;
}

struct wal_manifest {
	uint64_t magic;
	uint32_t version;
	uint32_t node;    /* id of the storage node */
	uint64_t cluster; /* number of the cluster, 0 = it never was part of one */
	uint32_t life;    /* the database, 0 = there is none */
	uint32_t lives;   /* the greatest number given out */
	uint64_t least;   /* position: the life has at least all records before it */
	uint64_t begin;   /* position: records before it are not needed; one begins there */
	uint64_t opens;   /* position of the first record of `first` */
	uint32_t first;   /* the segment that has `begin`; earlier ones are not needed */
	uint32_t flags;   /* WAL_COPYING, WAL_WHOLE, WAL_BACKUP */
	uint64_t whole;   /* position: W8; without WAL_WHOLE it is `least` */
	struct wal_copies copies;
	uint32_t pad[24];
	uint64_t check; /* nam_hash of all before it */
};
static_assert(sizeof(struct wal_manifest) == 256, "the manifest is a layout");

/* At the begin of a segment; the rest of its page is zeros. */
struct wal_segment_head {
	uint64_t magic;
	uint32_t version;
	uint32_t node;
	uint64_t cluster;
	uint32_t life;
	uint32_t number;
	uint64_t position; /* of its first record */
	uint64_t check;    /* nam_hash of all before it */
};
static_assert(sizeof(struct wal_segment_head) == 48, "a segment's head is a layout");

struct wal_block_head {
	uint64_t magic;
	uint64_t cluster;
	uint32_t life;
	uint32_t segment;
	uint64_t position; /* of its first record */
	uint32_t at;       /* offset in the segment's file */
	uint32_t flags;
	uint32_t bytes;  /* of records */
	uint32_t stored; /* bytes behind this head */
	uint64_t pad;
	uint64_t check; /* nam_hash of this head before `check`, seeded with nam_hash of the stored
			 * bytes */
};
static_assert(sizeof(struct wal_block_head) == WAL_BLOCK_HEAD, "a block's head is a layout");

struct wal_record_head {
	uint32_t bytes; /* behind this head, without the padding to 8 */
	uint32_t flags; /* zero */
};
static_assert(sizeof(struct wal_record_head) == 8, "a record's head is a layout");

#endif
