/*
 * paper.h -- the checkout by RSI as the NAM paper's section 4.2 has it, with one slot (n = 1),
 * by verbs alone: what its clients (paper.c) and the bench around them (paper_sim.c)
 * share.
 *
 * A record is a word and its bytes. Word: bit 63 = locked, below it the CID of the record's
 * version. Products lie evenly on the data nodes, which are all storage nodes but the first; the
 * first has the vector, a byte for each timestamp. Timestamps are dealt out: client i of n has
 * i + 1, i + 1 + n, i + 1 + 2n and so on. A snapshot is the last timestamp before the first byte
 * that is 0. A client puts an order and its lines beside each other, into memory that it was given
 * before the run.
 *
 * There is no recovery, no index and no second version: a client that dies stops all snapshots,
 * and records that it has locked stay locked.
 */
#ifndef NAM_BENCH_TPCW_PAPER_H
#define NAM_BENCH_TPCW_PAPER_H

#include "tpcw.h"

#include <bench/sim/cluster.h>

#define TPCW_PAPER_LOCK (UINT64_C(1) << 63)

struct tpcw_paper_product {
	uint64_t word;
	struct tpcw_product row;
};

struct tpcw_paper_order {
	uint64_t word;
	struct tpcw_order row;
	struct {
		uint64_t word;
		struct tpcw_line row;
	} line[TPCW_ITEMS];
};

/* The options of a run, and where things are: all clients read it. A cluster would have the places
 * in its catalog. */
struct tpcw_paper {
	struct tpcw_params tpcw;
	bool one_at_a_time;    /* a client posts a verb when the one before has completed */
	unsigned clients;      /* of all machines */
	unsigned nodes, first; /* of data; the region of the first one */
	uint64_t marks;        /* bytes of the vector */
	uint64_t orders;       /* room of an area */
	net_addr mark, product[NET_REGIONS];
	net_addr *area; /* of each client, on each data node */
};

/* A machine's part. */
struct tpcw_paper_side {
	struct tpcw_paper *run;
	uint64_t orders; /* committed */
	struct net_counts *counts;
	bool full;
};

static inline net_addr
tpcw_paper_product(const struct tpcw_paper *p, int64_t id)
{
	return net_plus(
	    p->product[(uint64_t)id % p->nodes], (uint64_t)id / p->nodes * sizeof(struct tpcw_paper_product));
}

/* As in struct bench_sim_user. */
void tpcw_paper_client(
    void *side, const struct cn_place *pl, unsigned number, struct bench_slice *out, const atomic_bool *stop);

#endif
