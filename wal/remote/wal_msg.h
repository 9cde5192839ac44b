/*
 * wal_msg.h -- what a compute process and the log of a storage node say to each other.
 *
 * Messages of one service (WAL_SERVICE): a request begins with struct wal_rq. Besides, the node
 * WRITEs one line of its region, struct wal_line, which clients READ.
 *
 * Always true
 *   Q1  A record is received when its request has been answered with NAM_OK: its place in the order
 *       lies behind all that was received before.
 *   Q2  The line's `flushed` never goes back within a life, and never runs ahead of what is synced.
 *   Q3  A node does not take a request of a process that it has fenced: so when a fence has been
 *       answered, every record of the process has been received, or never will be.
 *   Q4  A record may have a place and a name. WAL_LAST tells the name received last with a place.
 *   Q5  A record with a place is received once, however often it is sent, and not behind one of a
 *       later attempt: a part that the name has already is answered as it was, and an attempt that
 *       is at most WAL_LATE before the last one of its series is refused.
 *   Q6  A checkpoint is a round: WAL_ROUND begins one and ends the one before, whose records are
 *       refused from then on. It tells the position P0 that is received, and the greatest stamp of
 *       all records before P0. So what a round appends lies behind P0, and no round appends what a
 *       later one has not seen.
 *   Q7  Behind a record that undoes a name, no record of that name is received any more.
 *   Q8  A backup is a round that appends and cuts nothing. So as long as it is heard of, no other
 *       round begins, and nothing is cut off but what a round before it has ordered.
 *   Q9  The bell of the service (net/ring/bell.h) rings behind the line: a client that is roused
 *       READs there what it was roused for.
 *   Q10 A cluster's log has up to WAL_COPIES copies, on as many nodes: each is a log of its own,
 *       with positions and an order of its own, and Q1 to Q9 hold for each. Life and round have
 *       the same number on all of them.
 *   Q11 A worker of the log's own host may put a record into a ring there instead (rings_format.h):
 *       it is received when it is published, and Q3 to Q7 hold for it.
 */
#ifndef NAM_WAL_REMOTE_WAL_MSG_H
#define NAM_WAL_REMOTE_WAL_MSG_H

#include <wal/wal_format.h>

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WAL_SERVICE = 40, /* id of the service */
};

enum wal_message {
	WAL_ASK = 1, /* -> struct wal_report */
	WAL_BEGIN,   /* arg: number of the cluster; stamp: the least number that the life may get
		      * -> uint64_t: the life that begins */
	WAL_APPEND,  /* arg: place, name; bytes -> uint64_t: the position behind the record */
	WAL_PUBLISH, /* the life that is written becomes the database; bytes, if there are any:
		      * struct wal_copies */
	WAL_READ,    /* arg: position -> struct wal_records, records; life 0: of the published one
		      * (wal_read), else of that one, which is written (wal_read_live) */
	WAL_LAST,    /* arg: place -> struct wal_last */
	WAL_ROUND,   /* flags: WAL_OVER, stamp: the least number that the round may get; or
		      * WAL_STAYS, WAL_QUITS of `series` -> struct wal_round */
	WAL_CUT,     /* arg: position of a round, `series` its number: the life begins there */
	WAL_LOST,    /* arg: id of a node that is lost for good to the published life */
	WAL_RING,    /* name: of a worker: its process's identity, and its own -> struct
		      * wal_ring_given (rings_format.h): its ring */
	WAL_UNRING,  /* name: of a worker: its ring ends */
	WAL_PROD,    /* the flusher is to look into the rings */
};

enum wal_append_flag {
	WAL_SPARE = 1,    /* may use the room kept back for records that undo */
	WAL_SOON = 2,     /* its sender waits until it is flushed */
	WAL_NAMED = 4,    /* remember place and name */
	WAL_OF_ROUND = 8, /* `series` is the number of its round: Q6 */
	WAL_OVER = 16,    /* of WAL_ROUND: also if one is under way that was heard of lately */
	WAL_STAYS = 32,   /* of WAL_ROUND: that round is under way */
	WAL_QUITS = 64,   /* of WAL_ROUND: that round is given up */
	WAL_UNDOES = 128, /* with WAL_NAMED: Q7 */
	WAL_RINGS = 256,  /* with WAL_SOON: its sender is roused if it can be (Q9) */
};

enum { WAL_LATE = 1024 };
#define WAL_UNDONE UINT64_MAX

struct wal_rq {
	uint32_t what;
	uint32_t life;
	uint32_t flags;
	uint32_t bytes; /* behind this head */
	uint64_t arg;
	uint64_t name[2];
	uint64_t series;  /* of NAMED: the owner of the place; attempts of one are compared */
	uint32_t attempt; /* of NAMED: rises with each name of that place and series */
	uint32_t part;    /* of NAMED: counts the records of a name */
	uint64_t stamp;   /* any number */
};
static_assert(sizeof(struct wal_rq) == 64, "a request's head is a layout");

struct wal_report {
	uint64_t cluster;   /* whose database it is, 0 = there is none */
	uint64_t line;      /* address of struct wal_line */
	uint64_t end;       /* of the published life: a position, when the node began */
	uint32_t published; /* its life, 0 = there is none */
	uint32_t life;      /* the life that is written */
	uint32_t condition; /* enum wal_condition */
	uint32_t lives;     /* the greatest number given out */
	uint64_t begin;     /* of the published life: a position */
	uint64_t received;  /* of the life that is written: a position */
};
static_assert(sizeof(struct wal_report) == 56, "a report is a layout");

struct wal_records {
	uint64_t next;
	uint64_t bytes; /* behind this head, 0 = the end */
};

struct wal_last {
	uint64_t name[2];
	uint64_t end;  /* position behind it, 0 = there was none in this life */
	uint64_t part; /* the last one of that name; WAL_UNDONE: it was undone */
};

struct wal_round {
	uint64_t number;
	uint64_t position; /* P0 */
	uint64_t stamp;    /* the greatest before it */
};

struct wal_line {
	uint64_t life;      /* that is written */
	uint64_t flushed;   /* position */
	uint32_t condition; /* enum wal_condition */
	uint32_t sync_us;   /* how long most syncs take at present */
	uint64_t published;
	uint64_t begin; /* of the published life */
	uint64_t full;  /* position at which the life was whole: published, or cut the last time */
	uint64_t lacks; /* a cut waits for space */
	uint64_t every; /* bytes by which the log grows until a checkpoint is due, 0 = never */
	/* Figures, since the node began. */
	uint64_t syncs, records, bytes; /* bytes: of records */
	uint64_t written;               /* bytes of blocks, perhaps compressed */
	uint64_t full_wall_us;          /* wall clock when `full` was set */
	/* Of the published life. */
	uint64_t cluster;
	struct wal_copies copies;
};
static_assert(
    offsetof(struct wal_line, syncs) == 64 && sizeof(struct wal_line) == 192, "what decides is in one line");

#endif
