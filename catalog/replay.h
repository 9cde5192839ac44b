/* replay.h -- the rows and long values that a log says there are. For restore.c. */
#ifndef NAM_CATALOG_REPLAY_H
#define NAM_CATALOG_REPLAY_H

#include "logged_rows.h"
#include "newest.h"

#include <base/arena.h>
#include <txn/txn.h>

#include <stdatomic.h>

struct cat_logged_value {
	uint64_t at;
	uint32_t len;
	uint32_t cap;
	char bytes[];
};

/* Of a sequence: the lowest and the highest number of its last generation. */
struct cat_logged_number {
	uint64_t word; /* where it lay */
	uint32_t generation;
	int64_t low, high;
};

struct cat_replay;

/* Reads the published life of the log of a storage node. told(arg, done, all): bytes, now and then.
 * stop: once it is set, NAM_CANCELLED comes soon; NULL = never. NAM_CORRUPT: a record contradicts
 * itself. In a coroutine. */
nam_status cat_replay_open(struct cat_replay **out, struct net_worker *w, unsigned region,
    const atomic_bool *stop, void (*told)(void *arg, uint64_t done, uint64_t all), void *arg,
    struct nam_err *err);
void cat_replay_close(struct cat_replay *r);
/* The storage node whose log it is. */
unsigned cat_replay_region(const struct cat_replay *r);
/* The rows of the system tables; borrowed. */
const struct cat_logged_rows *cat_replay_rows(const struct cat_replay *r);
/* The rows of all others; borrowed. */
const struct cat_newest *cat_replay_newest(const struct cat_replay *r);
/* The value that lay at that address, NULL = none; borrowed. */
const struct cat_logged_value *cat_replay_value(const struct cat_replay *r, uint64_t at);
/* NULL = none; borrowed. */
const struct cat_logged_number *cat_replay_number(const struct cat_replay *r, uint64_t word);
/* The greatest table id that any record has. */
uint32_t cat_replay_last_id(const struct cat_replay *r);
/* Figures: records, live rows of users' tables. */
void cat_replay_counts(const struct cat_replay *r, uint64_t *records, uint64_t *rows);

/* ---- the rows, out of the log once more ---- */

/* A version of a row of a user's table. */
struct cat_batch_row {
	const char *bytes;
	uint64_t at, cid;
	uint32_t table, len;
	uint32_t home; /* the caller's */
};

/* Some of the log, with the rows that were committed there. */
struct cat_batch {
	struct cat_batch_row *row;
	size_t rows, cap;
	/* ours */
	char *bytes;
	uint32_t answer;        /* bytes that one read brings at most */
	struct nam_arena arena; /* of rows that lie in several records */
};

/* For w's thread. NAM_NOMEM, NAM_GONE. In a coroutine. */
nam_status cat_batch_open(struct cat_batch *b, const struct cat_replay *r, struct net_worker *w);
void cat_batch_close(struct cat_batch *b, const struct cat_replay *r, struct net_worker *w);
/* The next rows that the log has, in b until the next call: old versions too. Any thread may call,
 * one at a time, with a batch of its own. *end: there is no further batch. In a coroutine. */
nam_status cat_replay_next(struct cat_replay *r, struct net_worker *w, struct cat_batch *b, bool *end);

#endif
