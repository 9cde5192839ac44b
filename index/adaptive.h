/*
 * adaptive.h -- READs, or a message to the storage node: which way a client's next search takes
 * (catfish, Algorithm 1), for any index that can be searched both ways.
 *
 * A message costs the node's CPU; READs cost round trips. The node says in its heartbeat how busy
 * it is. While it is busy, a client searches by READs for a random number of searches from [0, N);
 * if it is busy still, then from [N, 2N), and so on. So clients neither all stay nor all leave at
 * once, and a node that is always busy is left alone more and more. While the node is not busy,
 * the client takes the way that has been faster lately, and tries the other one now and then.
 *
 * One struct per client (worker) and node; its thread only. Nothing here posts verbs, but for
 * idx_adaptive_listen.
 *
 * We differ from the paper: (1) there a node that is not busy is always asked by message, because
 * its R-tree takes many READs; a search of ours may take one. (2) There r_busy goes back to 0 at
 * every search between two heartbeats, so that the back-off cannot grow; here only a heartbeat
 * that says "not busy" sets it to 0. (3) The node does not send heartbeats: it writes them into
 * its superblock, and clients READ them, at most once an interval.
 */
#ifndef NAM_INDEX_ADAPTIVE_H
#define NAM_INDEX_ADAPTIVE_H

#include <base/rng.h>
#include <net/net.h>

enum idx_way { IDX_WAY_READS, IDX_WAY_MESSAGE, IDX_WAYS };

struct idx_adaptive_config {
	uint64_t interval_ns;   /* Inv: heartbeats are looked at so often; 0 = 10 ms */
	uint32_t rounds;        /* N; 0 = 8 */
	uint32_t busy_permille; /* T: the node is busy above it; of `cores`; 0 = 900 */
	uint32_t cores;         /* that serve messages on the node; 0 = 1 */
	uint32_t probe;         /* one search in so many tries the slower way; 0 = 64 */
};

/* Zeroed but for what idx_adaptive_init sets. */
struct idx_adaptive {
	struct idx_adaptive_config cfg;
	struct nam_rng dice;
	uint64_t looked_ns; /* t0: the last look at the heartbeat */
	uint64_t beat;      /* the heartbeat seen last; 0 = none */
	bool news;          /* one has come that choose has not used yet */
	uint32_t load;      /* of it: permille of `cores` */
	uint32_t busy;      /* r_busy: heartbeats in a row that said "busy" */
	uint64_t left;      /* r_off: searches still to be made by READs */
	uint64_t searches;
	double ns[IDX_WAYS];      /* a search, lately (moving average); 0 = not known */
	uint64_t taken[IDX_WAYS]; /* searches, for counters */
};

void idx_adaptive_init(struct idx_adaptive *a, const struct idx_adaptive_config *cfg, uint64_t seed);
/* The way of the next search. */
enum idx_way idx_adaptive_choose(struct idx_adaptive *a);
/* A search has taken so long. */
void idx_adaptive_done(struct idx_adaptive *a, enum idx_way way, uint64_t ns);
/* True once an interval: look at the heartbeat now. */
bool idx_adaptive_due(struct idx_adaptive *a, uint64_t now_ns);
/* A heartbeat as it was READ: net_super's beat and cpu_permille. One that was seen before says
 * nothing: if the network is full, its delay is no reason to READ more. */
void idx_adaptive_heard(struct idx_adaptive *a, uint64_t beat, uint32_t cpu_permille);
/* READs the node's heartbeat if it is due: one READ of 24 bytes. In a coroutine. An error is the
 * READ's; nothing was heard then. */
nam_status idx_adaptive_listen(
    struct net_worker *w, unsigned region, struct idx_adaptive *a, struct net_counts *acct);

#endif
