/*
 * sim.h -- a whole cluster's fabric in one OS thread: virtual time, one seed.
 *
 * The simulator is a provider behind net.h with storage nodes of its own. Every
 * compute process of the simulated cluster attaches and gets a struct net; each
 * worker opened on it (net_worker_open) has a scheduler of its own, and stands for a
 * thread: a heartbeat is a coroutine on a worker of its own. net_sim_run()
 * plays events until done. Same seed, same binary: same run, same trace hash.
 *
 * It breaks on purpose every order that net.h does not promise: READs tear at 8-byte grain against
 * concurrent WRITEs, READs of one doorbell are served out of order, queue pairs are not ordered
 * with each other. It keeps exactly the order that net.h promises.
 */
#ifndef NAM_NET_SIM_H
#define NAM_NET_SIM_H

#include <net/ring/service.h>
#include <net/sim/nic.h>

struct net_sim;

struct net_sim_config {
	uint64_t seed;
	unsigned nodes;            /* regions 1..nodes */
	uint64_t region_bytes;     /* each; superblock included */
	uint64_t latency_ns;       /* one way; 0 = 1000 */
	uint64_t jitter_ns;        /* uniform extra per op, 0 = 500 */
	uint64_t byte_ps;          /* picoseconds per payload byte, 0 = 100 (10 GB/s) */
	uint64_t verb_ns;          /* RNIC cost per verb; a node serves one verb start at a time. 0
				    * = 10 */
	uint32_t tear_permille;    /* READs and WRITEs executed in pieces spread over time */
	uint32_t reorder_permille; /* READs that swap places with neighbours of their doorbell */
	/*
	 * Faults, each by its rate; see the calls below that cause them on request. They happen
	 * only to processes attached after the first `sheltered` ones, and only while faults are on
	 * (they are at first).
	 */
	uint32_t delay_permille; /* verbs and completions that are late, by up to ... */
	uint64_t delay_ns;       /* ... 0 = 50 times latency_ns */
	uint32_t lose_ppm;       /* verbs with which the connection breaks: executed or not, without
				  * an answer */
	uint32_t pause_ppm;      /* verbs after which their process stalls, for up to ... */
	uint64_t pause_ns;       /* ... 0 = 1000 times latency_ns */
	uint32_t part_ppm;       /* verbs after which process and node do not reach each
				  * other, for up to ... */
	uint64_t part_ns;        /* ... 0 = 1000 times latency_ns */
	uint32_t crash_ppm;      /* verbs with which their process dies */
	uint32_t lose_node_ppm;  /* verbs with which their storage node dies */
	unsigned sheltered;
	bool hints;       /* most deaths become known to other processes: net_heard_of */
	bool fence_kills; /* fencing kills the process, as if it has mapped a node's memory */
	/*
	 * CPU time, of which each worker has one thread's: while it is charged, the worker's
	 * coroutines do not run, and completions and timers wait. So code that holds its thread for
	 * long has an effect: a heart on that worker misses beats. All 0: code takes no time, as in
	 * a simulation of the order of verbs only.
	 */
	uint32_t turn_ns;     /* a coroutine's turn between two parks */
	uint32_t post_ns;     /* posting a verb */
	uint32_t read_cpu_ps; /* each byte that a READ brings: checking, decoding, sorting it */
	/* What machines and wires cost; NULL: latency_ns and the other times above. With a model
	 * latency_ns, jitter_ns, byte_ps, verb_ns, turn_ns and post_ns are the model's. */
	const struct net_sim_model *model;
	bool trace; /* print each verb and fault on stderr */
};

nam_status net_sim_open(struct net_sim **out, const struct net_sim_config *cfg);
void net_sim_close(struct net_sim *sim);
/* One more compute process. Close it with net_close before the simulator. */
nam_status net_sim_attach(struct net_sim *sim, struct net **out);
/* One that knows some storage nodes only: bit r stands for region r. */
nam_status net_sim_attach_to(struct net_sim *sim, uint64_t regions, struct net **out);

/* Plays until until(arg) is true, or, with until == NULL, no coroutine of any worker is alive.
 * Returns false if no event can ever happen again though coroutines are parked (a deadlock). */
bool net_sim_run(struct net_sim *sim, bool (*until)(void *arg), void *arg);

uint64_t net_sim_now_ns(const struct net_sim *sim);
/* The worker's thread computes for so long. In a coroutine of that worker. */
void net_sim_work(struct net_worker *w, uint64_t ns);
/* Hash over every event so far: equal for equal runs. */
uint64_t net_sim_trace_hash(const struct net_sim *sim);
struct net_sim_stats {
	uint64_t events, verbs, reads_torn, writes_torn, reads_reordered;
	/* faults, by dice or on request */
	uint64_t delays, breaks, pauses, parts, crashes, nodes_lost;
	uint64_t half_writes;      /* WRITEs of a broken connection that landed in part */
	uint64_t fences;           /* connections that net_fence_process ended */
	uint64_t asked, gave_up;   /* processes that were asked whether they live, and could
				    * answer */
	uint64_t reconnects, late; /* late: verbs that executed after they had ended with NAM_GONE,
				    * or after their poster's death */
};
void net_sim_stats(const struct net_sim *sim, struct net_sim_stats *out);
/* Adds the figures of one run to those of all. */
void net_sim_stats_add(struct net_sim_stats *all, const struct net_sim_stats *one);
/*
 * From now on that node hosts these services (service.h): one shard, in virtual time. Borrowed
 * until the simulator closes; handlers run on the simulator's thread, and may not use its workers.
 * NAM_INVALID: no such node, or too many.
 */
nam_status net_sim_serve(
    struct net_sim *sim, unsigned region, const struct net_service *service, unsigned count);
/* Pauses a node's process: its memory goes on (the device serves it), its services do not. */
void net_sim_pause(struct net_sim *sim, unsigned region, bool paused);
/* Simulated memory, for checkers that look from outside. */
void *net_sim_memory(struct net_sim *sim, unsigned region);

/*
 * With a model: how busy each machine is, from net_sim_use_begin to now. Of a storage node's cores
 * those are known that serve messages, if the model says what a message costs. All 0 without a
 * model.
 */
void net_sim_use_begin(struct net_sim *sim);
void net_sim_use_node(const struct net_sim *sim, unsigned region, struct net_sim_use *out);
void net_sim_use_process(const struct net *n, struct net_sim_use *out);
/* Of one word of a node's region, and those that the model does not tell from it. */
double net_sim_use_word(const struct net_sim *sim, unsigned region, uint64_t off);

/* ---- faults ----------------------------------------------------------------- */

/* Turns the rates on or off: e.g. off while a cluster is built. */
void net_sim_faults(struct net_sim *sim, bool on);

/*
 * A process dies, at once or with its verb number `verb` (1 = the first it ever posts): its
 * coroutines do not run any more. Of the verbs it has posted, each connection still executes all,
 * none, or a random part, to the word; then none. (net_sim_carry: not by dice.) Nodes do not know
 * of the death: to be sure that no verb comes any more, call net_fence_process. To visit every verb
 * of a piece of work, play it once to learn net_sim_verbs, then once for each verb.
 */
void net_sim_crash(struct net_sim *sim, struct net *n);
void net_sim_crash_at(struct net_sim *sim, struct net *n, uint64_t verb);
/* Which verbs that a process has posted still execute when it dies: as the dice say, none, or
 * all. */
enum net_sim_carry { NET_SIM_CARRY_DICE, NET_SIM_CARRY_NONE, NET_SIM_CARRY_ALL };
void net_sim_carry(struct net *n, enum net_sim_carry carry);
bool net_sim_crashed(const struct net *n);
/* Without `hints`: others are told in so long that this process, which has crashed, is dead. */
void net_sim_tell(struct net_sim *sim, struct net *n, uint64_t ns);
/* Verbs that the process has posted so far. */
uint64_t net_sim_verbs(const struct net *n);
/*
 * For tests that want a dead process's memory back: its coroutines run again. Each of their verbs
 * ends with NAM_GONE at once and changes no memory, so all of them come to their ends (play on),
 * and everything can be closed as usual.
 */
void net_sim_bury(struct net_sim *sim, struct net *n);

/* Its workers stall for so long. Verbs it has posted go on; completions wait for it. */
void net_sim_freeze(struct net_sim *sim, struct net *n, uint64_t ns);
/* net_sim_freeze at its verb number `verb`, as net_sim_crash_at. */
void net_sim_freeze_at(struct net *n, uint64_t verb, uint64_t ns);
/*
 * The process has mapped all nodes' memory: its verbs execute where they are posted, in their
 * order, and their waits do not park, so only CPU time passes (as fabric shm). While it stalls, or
 * a connection's earlier verbs are out, its verbs travel over the wire. Fencing kills it. Call this
 * before its workers open.
 */
void net_sim_map(struct net *n);
/*
 * The clock that net_now_ns shows to the process: it runs faster by so many millionths (or slower),
 * and is ahead by offset_ns. Its sleeps are shorter or longer accordingly. jump: the clock shows
 * that so much more time has passed; sleeps under way do not change.
 */
void net_sim_clock(struct net *n, int32_t drift_ppm, uint64_t offset_ns);
void net_sim_clock_jump(struct net *n, uint64_t ns);
/* For so long, others hear that this process has left, though it lives. */
void net_sim_rumour(struct net_sim *sim, struct net *n, uint64_t ns);
/* True if a storage node has fenced it. */
bool net_sim_shut(const struct net *n);
/* Its connections to the node break now. Each verb that is out may be executed or not, and ends
 * with NAM_GONE some time later. */
void net_sim_break(struct net_sim *sim, struct net *n, unsigned region);
/* One worker's connection alone: those of the process's other workers stay. */
void net_sim_break_one(struct net_sim *sim, struct net_worker *w, unsigned region);
/* net_sim_break, and no new connections for so long. UINT64_MAX = until net_sim_heal. */
void net_sim_part(struct net_sim *sim, struct net *n, unsigned region, uint64_t ns);
void net_sim_heal(struct net_sim *sim, struct net *n, unsigned region);
/* The storage node and its memory are gone for all processes, for ever. */
void net_sim_lose_node(struct net_sim *sim, unsigned region);
/* Likewise, and an empty node takes its place: it answers fences, and has none of the memory. */
void net_sim_replace_node(struct net_sim *sim, unsigned region);
/*
 * That node's process ends, if net_sim_lose_node has not ended it yet, and another one begins: its
 * memory is empty and has another incarnation, and it hosts nothing until net_sim_serve. Processes
 * that knew the node before do not reach it any more; those that attach from now on do.
 */
void net_sim_restart_node(struct net_sim *sim, unsigned region);

#endif
