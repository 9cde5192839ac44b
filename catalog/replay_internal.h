/* replay_internal.h -- what is kept of a log while it is read. For replay.c and replay_rows.c. */
#ifndef NAM_CATALOG_REPLAY_INTERNAL_H
#define NAM_CATALOG_REPLAY_INTERNAL_H

#include "bodies.h"
#include "replay.h"

#include <wal/wal_format.h>

struct cat_attempt {
	uint64_t lock, check;
};

/* Long values by address: open addressing, NULL = a free slot. */
struct cat_value_map {
	struct cat_logged_value **slot;
	uint64_t cap, n;
};

struct cat_replay {
	struct net_worker *w;
	unsigned region;
	const atomic_bool *stop;
	void (*told)(void *arg, uint64_t done, uint64_t all);
	void *told_arg;
	uint64_t end, read, told_at;
	struct cat_attempt *undone; /* sorted after the first pass */
	size_t undones, undones_cap;
	struct cat_bodies bodies;
	struct cat_logged_rows *rows; /* of system tables */
	struct cat_newest *newest;    /* of all others */
	struct cat_value_map values;
	uint64_t begin;                   /* position; 0 = nothing was cut off */
	uint64_t since;                   /* J9 */
	struct cat_logged_number *number; /* rising by sequence */
	size_t numbers, numbers_cap;
	uint32_t last_id;
	uint64_t records;
	/* The rows are read again: by one thread at a time. */
	struct cat_bodies again;
	uint64_t *torn;
	size_t torns;
	uint64_t position, again_records;
	struct cat_batch *batch; /* that is filled */
	bool over;
};

typedef nam_status cat_replay_record(
    struct cat_replay *r, const struct txn_logged *head, const char *bytes, uint32_t len);

/* Calls fn for each record of a buffer, and counts it. */
nam_status cat_replay_each(
    struct cat_replay *r, cat_replay_record *fn, const char *buf, uint32_t n, uint64_t *records);
bool cat_replay_undone(const struct cat_replay *r, const struct txn_logged *head);
/* The log has been read, and its rows can be. */
nam_status cat_replay_again(struct cat_replay *r);

#endif
