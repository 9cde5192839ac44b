/*
 * ycsb.h -- the parts of `namdb bench ycsb`: what its options say, a process's side of a run, and
 * the access path to a record.
 */
#ifndef NAM_BENCH_YCSB_YCSB_H
#define NAM_BENCH_YCSB_YCSB_H

#include "peers.h"

#include <bench/sim/cluster.h>
#include <index/tree.h>

enum { YCSB_BATCH_MAX = 8, YCSB_VALUE_MAX = 1024, YCSB_RECORDS_MAX = 400000000 };

/* What an access path did since it was made. */
struct ycsb_path_counts {
	uint64_t lookups; /* and scans */
	uint64_t index_reads, fallbacks, cache_bytes, table_bytes;
	uint64_t trains, entries, inner_bytes; /* of the whole index */
};

struct ycsb_params;

/*
 * An ordered index that leads from a key to the address of its record. The access path is one
 * file, so that it can be exchanged for another. Every call but `size`, `join` and `leave` runs in
 * a coroutine; `self` is a process's part of it, `size` bytes, zeroed at first.
 */
struct ycsb_path {
	size_t size;
	/* The first process makes it, and enters n records in the order of their keys, in several
	 * calls; one with n = 0 is the last. */
	nam_status (*make)(void *self, const struct cn_place *pl, struct ycsb_params *p);
	nam_status (*load)(
	    void *self, const struct cn_place *pl, const uint64_t *key, const uint64_t *at, uint64_t n);
	/* Another process's part of the same index. */
	nam_status (*join)(void *self, void *first);
	/* Finds n <= YCSB_BATCH_MAX keys: at[i], or 0. */
	nam_status (*find)(void *self, const struct cn_place *pl, const uint64_t *key, uint64_t *at,
	    unsigned n, struct net_counts *counts);
	nam_status (*add)(
	    void *self, const struct cn_place *pl, uint64_t key, uint64_t at, struct net_counts *counts);
	/* The first *n keys from `low` on, in order; *n: how many there are. */
	nam_status (*scan)(void *self, const struct cn_place *pl, uint64_t low, uint64_t *key, uint64_t *at,
	    unsigned *n, struct net_counts *counts);
	nam_status (*counts)(void *self, const struct cn_place *pl, struct ycsb_path_counts *out);
	/* drop: the index's memory goes back as well; then it runs in a coroutine. */
	void (*leave)(void *self, const struct cn_place *pl, bool drop);
};

struct ycsb_params {
	unsigned workload; /* 0 = A */
	uint64_t records;
	enum ycsb_pick pick;
	enum ycsb_set set;
	uint32_t value;
	unsigned batch;
	const char *keys_file;
	const struct ycsb_path *path; /* NULL: the table's hash index */
	enum idx_tree_cache cache;    /* of the path, and below */
	unsigned levels, parts, fill; /* levels, parts: 0 = all, one a storage node */
	bool bare;                    /* no records: the index has the values */
	uint64_t seed;
	/* of a run */
	struct ycsb_keys keys;
	struct ycsb_items items;
	struct ycsb_steps *steps; /* of each client */
	unsigned clients;         /* that have steps */
	void *first;              /* path's part of the first process */
};
extern struct ycsb_params bench_ycsb_params;
extern const struct bench_sim_user bench_ycsb_user;

/* ycsb.c: what bench_sim_user asks of the options. */
bool bench_ycsb_take(void *params, int letter, char *value);
const char *bench_ycsb_fits(const void *params);
void bench_ycsb_sim_usage(FILE *to);
extern const struct bench_published bench_ycsb_published[];

/* A process's part. */
struct ycsb_side {
	struct ycsb_params *p;
	struct txn_table table;
	void *path;                     /* p->path's part */
	struct net_counts *counts;      /* one a client */
	unsigned clients;               /* of all machines of a model, at this point; else 0 */
	struct ycsb_path_counts before; /* the first client */
	bool begun;
};

/* Steps of all clients, from the parameters' seed. They are freed by bench_ycsb_undraw. */
nam_status bench_ycsb_draw_all(struct ycsb_params *p, unsigned clients);
void bench_ycsb_undraw(struct ycsb_params *p);

#endif
