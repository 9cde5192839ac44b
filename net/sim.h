/*
 * sim.h -- a whole cluster's fabric in one OS thread: virtual time, one seed.
 *
 * The simulator is a provider behind net.h with storage nodes of its own. Every
 * compute process of the simulated cluster attaches and gets a struct net;
 * workers opened on it (net_worker_open) share one scheduler. net_sim_run()
 * plays events until done. Same seed, same binary: same run, same trace hash.
 *
 * It breaks on purpose what the wire does not promise (net.h): READs tear at
 * 8-byte grain against concurrent WRITEs, READs of one doorbell are served out
 * of order, nothing is ordered between queue pairs; and keeps exactly what net.h promises.
 */
#ifndef NAM_NET_SIM_H
#define NAM_NET_SIM_H

#include <net/service.h>

struct net_sim;

struct net_sim_config {
	uint64_t seed;
	unsigned nodes;            /* regions 1..nodes */
	uint64_t region_bytes;     /* each; superblock included */
	uint64_t latency_ns;       /* one way; 0 = 1000 */
	uint64_t jitter_ns;        /* uniform extra per op, 0 = 500 */
	uint64_t byte_ps;          /* picoseconds per payload byte, 0 = 100 (10 GB/s) */
	uint64_t verb_ns;          /* RNIC cost per verb; a node serves one verb start at a time. 0 = 10 */
	uint32_t tear_permille;    /* READs and WRITEs executed in pieces spread over time */
	uint32_t reorder_permille; /* READs that swap places with neighbours of their doorbell */
	bool trace;                /* print each verb on stderr */
};

nam_status net_sim_open(struct net_sim **out, const struct net_sim_config *cfg);
void net_sim_close(struct net_sim *sim);
/* One more compute process. Close it with net_close before the simulator. */
nam_status net_sim_attach(struct net_sim *sim, struct net **out);

/* Plays until until(arg) is true, or, with until == NULL, no coroutine of any worker is alive.
 * Returns false when nothing can ever happen again though coroutines are parked (a deadlock). */
bool net_sim_run(struct net_sim *sim, bool (*until)(void *arg), void *arg);

uint64_t net_sim_now_ns(const struct net_sim *sim);
/* Hash over every event so far: equal for equal runs. */
uint64_t net_sim_trace_hash(const struct net_sim *sim);
struct net_sim_stats {
	uint64_t events, verbs, reads_torn, writes_torn, reads_reordered;
};
void net_sim_stats(const struct net_sim *sim, struct net_sim_stats *out);
/*
 * From now on that node hosts these services (service.h): one shard, in virtual time. Borrowed until the simulator closes;
 * handlers run on the simulator's thread, and may not use its workers. NAM_INVALID: no such node, or too many.
 */
nam_status net_sim_serve(
    struct net_sim *sim, unsigned region, const struct net_service *service, unsigned count);
/* A node whose process is stopped: its memory goes on (the device serves it), its services do not. */
void net_sim_pause(struct net_sim *sim, unsigned region, bool paused);
/* Simulated memory, for checkers that look from outside. */
void *net_sim_memory(struct net_sim *sim, unsigned region);

#endif
