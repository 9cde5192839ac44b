/*
 * rings_format.h -- rings of records in the log's node: a compute process WRITEs a record there
 * itself, and no thread of the node has to run until the record is to be flushed.
 *
 * The area lies in the node's region: a board, and rings. A ring belongs to one worker of a
 * compute process, which asks for it by a message (WAL_RING). A record is published when its entry
 * has been WRITTEN and the ring's tail, by FETCH_ADD, lies behind it. The node takes what is
 * published into the log's order now and then: the flusher before it writes a block, and the shard
 * before it answers a message.
 *
 * Only workers that have the node's memory mapped use rings: elsewhere a record would cost two
 * round trips more than the message that brings it. Short records only; longer ones are messages.
 *
 * Always true
 *   R1  A published record is received (J1): it will be in the log, unless the node's life ends, or
 *       the log breaks, before it is flushed. Nothing of it can be refused: the log keeps so much
 *       space back as the rings hold twice, and a full or broken log refuses further entries on the
 *       board, which a worker READs behind each of its own.
 *   R2  An entry has a number, from the board's clock by FETCH_ADD. Its owner takes the number
 *       behind the last READ on which its transaction depends, and publishes behind that. So if a
 *       transaction has read what another one has made visible, its number is the greater one.
 *   R3  The node takes all published entries of all rings whose number is less than one that it has
 *       taken from the clock before it looked, in the order of numbers. So what a transaction has
 *       read lies before it: an entry that the look has missed was published behind that number,
 *       and so all that have read it have greater ones.
 *   R4  An owner that stalls between number and publication holds nothing up: no record depends on
 *       what is not published.
 *   R5  Before the log answers any message, it takes what is published. So a message lies behind
 *       all that its sender has seen, and WAL_LAST knows all that a fenced owner has published.
 *   R6  A ring is given to another worker only behind a message of its owner, or when the node has
 *       fenced the owner's process, or has proof of its death, and has taken what was published up
 *       to then: no WRITE into it is on its way. Its generation is another one.
 *   R7  `flushed` of a ring never runs ahead of what is synced.
 */
#ifndef NAM_WAL_REMOTE_RINGS_FORMAT_H
#define NAM_WAL_REMOTE_RINGS_FORMAT_H

#include <wal/remote/wal_msg.h>

/* Words that different sides write lie in lines of their own. */
struct wal_board {
	_Alignas(64) uint64_t clock; /* FETCH_ADD */
	/* The node: 1 while the flusher sleeps. A worker that takes it by a CAS rouses the flusher:
	 * it is a futex, or a message does it (WAL_PROD). */
	_Alignas(64) uint64_t sleeps;
	uint64_t refuses; /* the node: enum wal_refuses */
};
enum wal_refuses {
	WAL_TAKES,
	WAL_TAKES_MESSAGES, /* the disk is full: what is published is taken; publish nothing more */
	WAL_TAKES_NONE,     /* the log is broken, or ends: what is published may not be taken */
};

struct wal_ring_head {
	_Alignas(64) uint64_t tail;  /* the owner, by FETCH_ADD: bytes published so far */
	_Alignas(64) uint64_t taken; /* the node: bytes whose room is free again */
	uint64_t flushed;            /* the node: bytes whose records are flushed */
	uint64_t generation;         /* the node: of the owner; 0 = the ring has none */
};
static_assert(offsetof(struct wal_ring_head, generation) == offsetof(struct wal_ring_head, flushed) + 8,
    "read together");
static_assert(sizeof(struct wal_ring_head) == 128 && sizeof(struct wal_board) == 128, "heads are layouts");

/* An entry lies in one piece; if it does not fit before the ring's end, a skip fills the rest. Both
 * are multiples of WAL_ENTRY_ALIGN bytes. */
struct wal_entry {
	uint64_t number; /* R2; 0 = a skip */
	uint32_t bytes;  /* of the entry or the skip, this head included */
	uint32_t generation;
	/* struct wal_rq and its bytes follow */
};
enum { WAL_ENTRY_ALIGN = 64, WAL_ENTRY_HEAD = sizeof(struct wal_entry) };
static_assert(sizeof(struct wal_entry) == 16, "an entry's head is a layout");

/* Answer to WAL_RING. */
struct wal_ring_given {
	uint64_t board, ring; /* addresses; the ring's bytes lie behind its head */
	uint64_t generation;
	uint32_t bytes; /* a power of two */
	uint32_t any;   /* 1: also workers that do not have the memory mapped may use it */
};
static_assert(sizeof(struct wal_ring_given) <= sizeof(struct wal_report), "an answer has room for it");

#endif
