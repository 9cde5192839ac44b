/*
 * mail.h -- two-sided messages between threads of simulated machines, and what they cost.
 *
 * One-sided verbs use no core of the machine they reach; a message does. So here a machine has
 * threads, and a thread takes its messages one at a time, by calling a handler, in virtual time:
 *
 *	sender's thread | its machine's stack or RNIC | port, out | wire | port, in | the receiver's
 *	stack or RNIC | the queue of its thread | its thread
 *
 * A stack is one of two kinds.
 *
 * Sockets: the kernel's network stack serves one message of the machine at a time, out or in,
 * because the interface has one queue, whose interrupts one core takes. A thread sleeps until a
 * message comes, so the hardware threads are shared as needed.
 *
 * Verbs: SENDs and RECEIVEs through the RNIC of the simulator's model (nic.h). A thread polls: it
 * keeps its hardware thread busy whether there is a message or not. The scheduler of the system
 * gives the polling threads of one hardware thread a slice each in turn; it does not know which
 * have messages. Beyond one polling thread on each hardware thread a message therefore waits for
 * its thread's slice, and a transaction that needs several machines waits for each of them.
 *
 * bench/verbs/README.md says where the numbers come from.
 */
#ifndef NAM_NET_SIM_MAIL_H
#define NAM_NET_SIM_MAIL_H

#include <net/sim/sim.h>

struct net_sim_stack {
	const char *name, *what;
	bool sockets;
	uint32_t send_ns, take_ns; /* CPU of a message: of the stack's core; verbs: the thread's */
	uint32_t window;           /* CPU of a longer message grows with it; 0 = of none */
	/* sockets: a port of its own */
	uint32_t wire_ns, jitter_ns; /* one way, beside CPU: interrupts, wake-ups, cables, switch */
	uint32_t port_ps;            /* a byte, in one direction */
	uint32_t mtu, header;        /* payload of a packet, and the bytes beside it */
	/* the machine */
	uint32_t turn_ns;                       /* a handler's turn, beside what it says it works */
	uint32_t cores;                         /* of a machine */
	uint32_t hardware;                      /* threads: as many as cores, or twice as many */
	uint32_t shared_permille;               /* a core's work on each thread, if both are busy */
	uint32_t latency_ns, slice_ns, tick_ns; /* scheduler: period, least slice, clock */
	uint32_t balance_ns;                    /* ... and how often it moves threads; 0 = never */
};

/* The stack of that name on that model's machines. NULL: none. */
const struct net_sim_stack *net_sim_stack_find(const char *model, const char *name);

struct net_sim_mail;

/* Machines 0 to machines - 1. stack is borrowed; verbs: the simulator has a model. Closed
 * before the simulator, when no more events are played. */
nam_status net_sim_mail_open(
    struct net_sim_mail **out, struct net_sim *sim, const struct net_sim_stack *stack, unsigned machines);
void net_sim_mail_close(struct net_sim_mail *m);

/* Called for each message, when its thread takes it; bytes (aligned to 8) are gone when it
 * returns. */
typedef void (*net_sim_taker)(void *arg, const void *bytes, uint32_t len);
/* A thread of a machine; *number is its address. All threads are there before the first
 * message. */
nam_status net_sim_mail_thread(
    struct net_sim_mail *m, unsigned machine, net_sim_taker fn, void *arg, unsigned *number);

/* From the handler of thread `from`, or, before events are played, from anywhere. bytes are
 * copied. NAM_NOMEM. */
nam_status net_sim_mail_send(
    struct net_sim_mail *m, unsigned from, unsigned to, const void *bytes, uint32_t len);
/* The handler of that thread works for so long before what it sends next. */
void net_sim_mail_work(struct net_sim_mail *m, unsigned thread, uint64_t ns);
/* The time as the handler of that thread sees it. */
uint64_t net_sim_mail_now_ns(const struct net_sim_mail *m, unsigned thread);

/* What a machine did since net_sim_mail_begin; shares of the time, 1 = all the time. */
struct net_sim_mail_use {
	double stack, rnic, in, out; /* stack: sockets' core; in and out: of its busiest port */
	double work;                 /* of its hardware threads, mean: handlers, posts, RECEIVEs */
	double crowd;                /* polling threads for each hardware thread, or 0 */
	double wait_us;              /* a message, from its arrival to its handler, mean */
	uint64_t messages, deepest;  /* taken; most that ever waited for one thread */
	uint64_t bytes_in, bytes_out;
};
void net_sim_mail_begin(struct net_sim_mail *m);
void net_sim_mail_use(const struct net_sim_mail *m, unsigned machine, struct net_sim_mail_use *out);
/* The name of what is busiest on a machine, and its share; "latency" if none is above 0.7. */
const char *net_sim_mail_limit(const struct net_sim_mail_use *u, double *share);

#endif
