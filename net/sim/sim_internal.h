/*
 * sim_internal.h -- the simulator's internals: virtual time, queue pairs, nodes. For the files here
 * only.
 *
 * Life of a verb, each arrow an event with a virtual time:
 *
 *      posted -> [held by a fence] -> arrives at the node -> executes, in 1..n pieces -> is done at
 *      the poster
 *
 * What keeps the promises of net.h, per queue pair (one worker, one node)
 *      S1  verbs arrive in the order they were posted (qp.last_arrive).
 *      S2  a WRITE or atomic finishes before any later verb starts (qp.order_free).
 *      S3  a fenced verb, and all behind it, leaves when the READs and atomics before it are done
 *          (qp.held).
 * An unsignaled verb is a WRITE or atomic, so by S2 a signaled one is done after it. Every other
 * order is free, and the dice use that freedom: READs start late, and WRITEs and READs of more than
 * one word run in pieces of random words.
 *
 * struct sim_qp says how a connection breaks, and struct sim_verb what happens to its verbs.
 *
 * Two events at one time play in the order they were made (sim_event.order),
 * so that a run is a function of its seed.
 */
#ifndef NAM_NET_SIM_INTERNAL_H
#define NAM_NET_SIM_INTERNAL_H

#include <base/assert.h>
#include <base/hash.h>
#include <net/provider.h>
#include <net/sim/sim.h>

enum sim_kind { SIM_ARRIVE, SIM_EXECUTE, SIM_DONE, SIM_TIMER, SIM_CALL, SIM_LEAVE };
enum {
	SIM_KIND_BITS = 3,
	SIM_TIMEOUT_NS = 50000000
}; /* how long a process that does not answer is waited for */

struct sim_event {
	uint64_t at;
	uint64_t order; /* counter << SIM_KIND_BITS | enum sim_kind */
	void *what;     /* struct sim_verb, struct sim_timer or struct sim_call */
};

/* A min-heap of events by (at, order), four children each. Grows by doubling. */
struct sim_queue {
	struct sim_event *heap;
	size_t n, cap;
	uint64_t made; /* events so far */
};
bool net_sim_queue_open(struct sim_queue *q);
void net_sim_queue_close(struct sim_queue *q);
void net_sim_queue_push(struct sim_queue *q, uint64_t at, enum sim_kind kind, void *what);
/* False = empty. */
bool net_sim_queue_pop(struct sim_queue *q, struct sim_event *out);

struct net_sim;

/* Another kind of event; a member of the structure it concerns. */
struct sim_call {
	void (*fn)(struct net_sim *s, struct sim_call *c);
};

enum { SIM_CHUNKS = 256 }; /* a torn verb is cut into at most so many pieces of whole words */

struct sim_verb {
	struct sim_verb *next;                /* in qp.held, or the free list */
	struct sim_verb *out_prev, *out_next; /* in qp.out_first */
	struct sim_qp *qp;
	struct net_op *op;   /* the poster's; NULL once no coroutine waits for it */
	struct net_batch *b; /* NULL = unsignaled */
	uint64_t seq;        /* in the queue pair */
	uint8_t code, flags;
	uint8_t pieces; /* still to execute */
	bool torn;
	bool orphan; /* its poster has got its completion or is dead, and buf may be gone */
	bool idle;   /* no event has it: held, deferred, or never to execute */
	/* With a model: its RNIC counts it as out; its answer has passed the poster's port. */
	bool counted, landed;
	char *own; /* an orphan's payload */
	uint32_t len;
	uint32_t grain; /* bytes of a chunk of a torn verb, a multiple of 8 */
	uint32_t skew;  /* bytes the first chunk is short of a grain */
	uint64_t off;   /* in the node's memory */
	char *buf;      /* the poster's, or inl */
	uint64_t arg, want, seen;
	uint64_t finish;  /* when the last piece executes */
	uint64_t done_at; /* when the poster gets its completion */
	uint64_t left[SIM_CHUNKS / 64];
	char inl[NET_INLINE_MAX];
};

struct sim_qp {
	struct sim_worker *worker;
	struct sim_node *node;
	struct sim_qp *next; /* all of the simulator's, until it closes */
	uint32_t id;         /* counted from 1 */
	uint32_t port;       /* of its RNICs, modulo the ports that they have */
	/* the turn and the batch of its last doorbell */
	uint64_t rung_turn;
	const struct net_batch *rung_batch;
	bool cut; /* closed by its worker: no verb of it executes any more */
	/*
	 * A connection breaks in two steps, because its ends learn of it at different times. First
	 * the node does not execute verbs posted behind `last` (deaf), except a part of a WRITE
	 * just behind it (half), and may not answer any more (mute). Then the poster knows: every
	 * verb that is out ends with NAM_GONE, and so do all later ones (broken). Verbs executed
	 * without an answer may be any up to `last`. A dead process's connections are broken at
	 * once, without completions.
	 */
	bool deaf, half, mute, breaking, broken;
	bool alone; /* ... and the process's other workers keep theirs */
	uint64_t last;
	struct sim_call tell;                  /* the second step */
	struct sim_verb *out_first, *out_last; /* every verb of it that exists, in the order
					        * posted */
	struct sim_verb *held, **held_end;     /* S3: a fence waits at the head */
	uint32_t out;                          /* READs and atomics sent and not done */
	uint64_t seq, executed;                /* verbs posted; the youngest that executed */
	uint64_t last_arrive;                  /* S1 */
	uint64_t order_free;                   /* S2 */
};

/* Serves one at a time: until when, and for how long since net_sim_use_begin, in ps. */
struct sim_resource {
	uint64_t free, busy;
};

/* A machine's RNIC, where the simulator has a model (nic.h). */
enum { SIM_WORDS = 512 };
struct sim_nic {
	struct sim_resource unit, atomics;
	struct sim_resource send[NET_SIM_PORTS], receive[NET_SIM_PORTS];
	struct sim_resource word[SIM_WORDS]; /* addresses of atomics, by their low bits */
	/* of each of those, the offset that is most of its atomics, if one is (a vote) */
	struct {
		uint64_t off;
		uint32_t votes;
	} voted[SIM_WORDS];
	uint32_t *context; /* model->contexts queue pairs; NULL: no model */
	uint64_t out;      /* work requests of the machine that are out */
	uint64_t messages, misses, bytes_in, bytes_out;
};

/* A compute process. Lives as long as the simulator. */
struct sim_proc {
	struct net_sim *sim;
	struct net *net; /* NULL once closed */
	unsigned id;
	uint64_t identity;
	struct net_set fenced; /* regions whose nodes have fenced it */
	bool fenced_any;
	struct net_set parted; /* regions: they do not reach each other */
	struct sim_heal {
		struct sim_call call;
		struct sim_proc *proc;
		unsigned region;
		uint64_t at;
	} heal[NET_REGIONS];
	uint64_t verbs, crash_at, freeze_at, freeze_ns;
	enum net_sim_carry carry; /* when it dies */
	bool paused, dead, buried;
	bool mapped;
	int32_t drift_ppm; /* of its clock */
	uint64_t ahead_ns;
	uint64_t resume_at;
	struct sim_call resume;
	/* heard.c: what others hear of it */
	enum net_heard heard, heard_next;
	bool rumoured;
	struct sim_call obituary, rumour;
	enum net_answer_life (*asked)(void *arg);
	void *asked_arg;
	struct sim_verb *deferred, **deferred_end; /* completions that wait for the end of a
						    * pause */
	struct sim_owed {
		struct net_endpoint *ep;
		struct net_batch *b;
		struct net_op *op;
	} * owed; /* dead: completions that its coroutines wait for */
	size_t owed_n, owed_cap;
	struct sim_nic nic;
	unsigned workers;
	struct sim_proc *next;
};

/* True if its code runs: it is neither paused nor dead. After net_sim_bury it runs as well. */
static inline bool
net_sim_runs(const struct sim_proc *p)
{
	return !p->paused && (!p->dead || p->buried);
}

struct sim_node {
	unsigned region;
	bool down, replaced;
	unsigned lives; /* how often its process has begun */
	char *mem;
	uint64_t size;
	uint64_t verb_free;         /* when the next verb may start */
	uint64_t in_free, out_free; /* when the link is idle, each way */
	/* serve.c */
	const struct net_service *service;
	unsigned services, links;
	struct sim_resource shard[NET_SIM_SHARDS]; /* with model->serve_ns */
	bool paused;
	bool idle_due;
	struct sim_call idle;  /* event: a turn for the idle hooks */
	struct sim_link *link; /* clients' rings here */
	struct net_pool *pool; /* memory for them, from offset rings on; NULL = no client yet */
	uint64_t rings;
	bool line_due;
	struct sim_call line;       /* event: a look at the clients that wait for rings */
	struct sim_link *window_of; /* set for a client's response ring, which is not a node */
	struct sim_nic nic;
};

/* On the stack of the sleeping coroutine. */
struct sim_timer {
	struct sim_worker *worker;
	struct nam_co *co; /* NULL = no coroutine waits any more */
	bool fired;
};

/* A worker of any process. Lives as long as the simulator, because events name it. */
struct sim_worker {
	struct net_sim *sim;
	struct sim_proc *proc;
	struct net_worker *w; /* NULL once closed */
	struct nam_sched *sched;
	unsigned id;
	bool touched, queued; /* in the lists below */
	/* CPU time: the time charged since s->now, the end of the thread's busy time, and whether
	 * an event waits for that end. */
	uint64_t debt, busy_until;
	uint64_t worked;                   /* since net_sim_use_begin */
	uint64_t turn;                     /* counted from 1 */
	struct sim_verb *told, **told_end; /* completions that came while it was busy */
	bool waits;
	struct sim_call freed;
	struct sim_worker *next, *next_touched, *next_ready;
};

struct net_sim {
	struct net_sim_config cfg;
	uint64_t now;
	struct sim_queue queue;
	struct nam_rng rng; /* the wire's dice; every worker has its own */
	int live;           /* coroutines of processes that are not dead */
	bool faults;
	struct sim_node node[NET_REGIONS]; /* by region */
	struct sim_proc *proc, **proc_end;
	struct sim_worker *worker, **worker_end;
	struct sim_worker *ready, **ready_end; /* workers that are ready, and may run */
	struct sim_fence *fence;
	struct sim_nap *naps;
	uint64_t news; /* how many times a process has been told dead or left */
	struct sim_qp *qp;
	struct sim_verb *free;
	struct sim_slab *slab;
	struct net_desk *desk; /* shared by the serving links; NULL = no node serves */
	unsigned workers, procs;
	uint32_t qps;
	uint64_t use_from; /* net_sim_use_begin */
	/*
	 * Idle hooks are called for workers to which something happened, so that a
	 * thousand idle ones cost nothing; and for all of them every so often and when
	 * nothing else is left to do, because a coroutine may wake another worker's.
	 */
	struct sim_worker *touched;
	unsigned since_all; /* rounds of hooks since those of all workers were called */
	uint64_t hash;
	struct net_sim_stats stats;
};

/* wire.c */
extern const struct net_provider net_sim_provider;
void net_sim_wire_leave(struct net_sim *s, struct sim_verb *v);
void net_sim_wire_arrive(struct net_sim *s, struct sim_verb *v);
void net_sim_wire_execute(struct net_sim *s, struct sim_verb *v);
void net_sim_wire_done(struct net_sim *s, struct sim_verb *v);
/* The worker's thread is free, and polls. */
void net_sim_wire_told(struct net_sim *s, struct sim_worker *sw);
void net_sim_wire_free(struct net_sim *s);
uint64_t net_sim_flight_ns(struct net_sim *s);
/* An unsignaled WRITE of a node; from is borrowed until it has executed or qp is cut. */
void net_sim_wire_write(struct sim_qp *qp, uint64_t off, const char *from, uint32_t len, bool imm);
/* Both steps of a broken connection (struct sim_qp). The second comes after delay_ns. */
void net_sim_qp_break(struct net_sim *s, struct sim_qp *qp, uint64_t last, bool half, uint64_t delay_ns);
/* Its process has died: notes in sim_proc.owed the completions that its coroutines wait for. */
void net_sim_qp_orphan(struct net_sim *s, struct sim_qp *qp, uint64_t last, bool half);
/* Plays the completions that wait for the end of a pause. */
void net_sim_wire_resume(struct net_sim *s, struct sim_proc *p);

/* sim.c */
/* Its memory is that of a node that begins. */
void net_sim_node_empty(const struct net_sim *s, struct sim_node *node);
static inline uint64_t
sim_incarnation(const struct sim_node *node)
{
	return ((const struct net_super *)(const void *)node->mem)->incarnation;
}
/* When a sleep of so many ns by that process's clock ends. */
uint64_t net_sim_sleep_until(const struct sim_worker *sw, uint64_t ns);
void net_sim_ready(struct sim_worker *sw);
/* Its coroutines count as alive, or not. */
void net_sim_count_live(struct sim_worker *sw, bool live);

/* fault.c: dice, and their decisions */
void net_sim_fault_post(struct net_sim *s, struct sim_qp *qp);
/* True: the connection breaks with this verb, which has just arrived. */
bool net_sim_fault_arrive(struct net_sim *s, struct sim_verb *v);
uint64_t net_sim_fault_delay_ns(struct net_sim *s, struct sim_qp *qp);
/* A line of the trace. */
void net_sim_say(const struct net_sim *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* fence.c */
nam_status net_sim_fence(struct net_worker *w, uint64_t identity, uint64_t grace_ns, struct nam_err *err);
void net_sim_fence_free(struct net_sim *s);
/* The process gives itself up: no verb of it executes any more. */
void net_sim_disarm(struct net_sim *s, struct sim_proc *p);

/* heard.c */
enum net_heard net_sim_heard(struct net_worker *w, uint64_t identity);
void net_sim_sleep_or_news(struct net_worker *w, uint64_t ns, uint64_t *seen);
void net_sim_on_asked(struct net *n, enum net_answer_life (*fn)(void *arg), void *arg);
void net_sim_heard_crash(struct net_sim *s, struct sim_proc *p);
void net_sim_naps_free(struct net_sim *s);
/* NAM_BUSY: it lives. NAM_OK: it has given up, or has not answered. In a coroutine. */
nam_status net_sim_ask(struct net_worker *w, uint64_t identity, uint64_t grace_ns, struct nam_err *err);

/* serve.c */
/* The storage node that answers through this window. */
struct sim_node *net_sim_serve_node(const struct sim_link *l);
nam_status net_sim_serve_open(struct net_channel *ch, unsigned service, uint64_t until, struct nam_err *err);
/* A piece of a WRITE has executed. */
void net_sim_serve_written(struct net_sim *s, const struct sim_verb *v, bool last);
/* A process's code runs again: answers may have come. */
void net_sim_serve_resume(struct net_sim *s, struct sim_proc *p);
/* The node sees, after so long, that the process has gone; or it is fenced there. */
void net_sim_serve_gone(
    struct net_sim *s, const struct sim_proc *p, struct sim_node *node, uint64_t after_ns);
void net_sim_serve_free(struct sim_node *node);
/* The node's process ends: its rings and services. */
void net_sim_serve_end(struct sim_node *node);

/*
 * nic.c, where the simulator has a model. leave: when a verb posted at `now` reaches the node.
 * arrive: when a verb that has reached it executes. answer: when the answer of one that executes
 * now reaches the poster's machine. land: when an answer that has reached it now is all there.
 */
uint64_t net_sim_nic_leave(struct net_sim *s, struct sim_verb *v);
uint64_t net_sim_nic_arrive(struct net_sim *s, const struct sim_verb *v);
uint64_t net_sim_nic_answer(struct net_sim *s, const struct sim_verb *v);
uint64_t net_sim_nic_land(struct net_sim *s, struct sim_verb *v);
/* It is not out any more. */
void net_sim_nic_forget(struct sim_verb *v);
bool net_sim_nic_open(const struct net_sim *s, struct sim_nic *nic);
void net_sim_nic_close(struct sim_nic *nic);
/* A two-sided message (mail.c): when one that is posted now reaches the other machine; when one
 * that has reached it now lies in its memory. */
uint64_t net_sim_nic_send(struct net_sim *s, struct sim_nic *nic, uint32_t qp, uint32_t len);
uint64_t net_sim_nic_receive(struct net_sim *s, struct sim_nic *nic, uint32_t qp, uint32_t len);
/* What net_sim_use_begin does for one RNIC, and what it did since then. */
void net_sim_nic_begin(struct sim_nic *nic);
void net_sim_nic_use(const struct net_sim *s, const struct sim_nic *nic, struct net_sim_use *out);

/* The thread of sw has used so much CPU time: at once seen by its clock and what it posts, and by
 * all when net_sim_settle is called. */
static inline void
net_sim_charge(struct sim_worker *sw, uint64_t ns)
{
	const struct net_sim_model *m = sw->sim->cfg.model;
	if (m != NULL && sw->proc->workers > m->cores)
		ns = ns * sw->proc->workers / m->cores; /* threads that poll share the cores */
	sw->debt += ns;
	sw->worked += ns;
}
void net_sim_settle(struct sim_worker *sw);
/* True if its thread is busy; when that ends, the events waiting for it go on. */
bool net_sim_busy(struct sim_worker *sw);

static inline void
net_sim_touch(struct sim_worker *sw)
{
	if (sw->touched)
		return;
	sw->touched = true;
	sw->next_touched = sw->sim->touched;
	sw->sim->touched = sw;
}

static inline uint64_t
sim_later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t
sim_sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One that serves one at a time: from when on it serves us. All in ps. */
static inline uint64_t
sim_serve(struct sim_resource *r, uint64_t at, uint64_t ps)
{
	uint64_t start = sim_later(at, r->free);
	r->free = start + ps;
	r->busy += ps;
	return start;
}

static inline void
sim_note(struct net_sim *s, uint64_t a, uint64_t b)
{
	s->hash = nam_fold(s->hash ^ a, b);
}

#endif
