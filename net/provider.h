/*
 * provider.h -- the interface between the front end (net.c) and the providers: fabrics here, and
 * the simulator. Rooms that send and receive include net.h.
 *
 * A provider is a table of functions per endpoint; an environment is a table
 * that replaces a worker's loop, clock and sleep (the simulator brings one, the
 * real world is the default). The front end checks every op, counts it, and
 * either executes it in place (endpoint with `base`: shm) or hands it to post().
 *
 * Key:  i set before another thread can see it, then never again
 *       o  the owner's thread only
 *       a  atomic; the order is said beside it
 */
#ifndef NAM_NET_NET_INTERNAL_H
#define NAM_NET_NET_INTERNAL_H

#include <base/core.h>
#include <net/net.h>
#include <net/region_format.h>
#include <net/turn.h>

#include <pthread.h>
#include <stdatomic.h>

struct net_endpoint;
struct net_node;
struct net_channel; /* channel.h */

/* The longest READ or WRITE: it bounds what a node buffers for a peer, and how long it delays other
 * peers. */
enum { NET_LEN_MAX = 16 << 20, NET_HOOKS = 8 };

struct net_provider {
	enum net_kind kind;
	/* Opens what a worker needs towards ep->node: sets ep->base (ops run in place) or
	 * ep->priv. */
	nam_status (*open)(struct net_endpoint *ep, struct nam_err *err);
	void (*close)(struct net_endpoint *ep);

	/* The rest is for endpoints without base; any of flush, poll, wait and fd may be NULL. */

	/*
	 * Takes one checked op; net_op_done(ep, b, op, status) is owed, at once or later, once.
	 * With NET_QUIET it is not owed, and op, buf and b must not be touched after return (copy);
	 * a failure is reported by net_quiet_failed. With NET_INLINE buf is copied at once.
	 */
	void (*post)(struct net_endpoint *ep, struct net_batch *b, struct net_op *op);
	/* The doorbell: all ops that one net_post had for this node have been given. */
	void (*ring)(struct net_endpoint *ep);
	/* A round of the scheduler is over: send all that is buffered. */
	void (*flush)(struct net_endpoint *ep);
	/* Finds completions, never blocks. Returns how many. */
	int (*poll)(struct net_endpoint *ep);
	/*
	 * Blocks until a completion is there, for a few milliseconds at most, and returns how many
	 * there were: cheaper than to sleep on fd. Only while fd says POLLIN, and while no other
	 * endpoint has ops out. -1 = the last wait was in vain; sleep on fd. May be NULL.
	 */
	int (*wait)(struct net_endpoint *ep);
	/* What to sleep on: a file descriptor and poll(2) events; -1 = nothing. */
	int (*fd)(struct net_endpoint *ep, short *events);
	/* Opens rings to the node's services (channel.h). NULL: this fabric has none. */
	nam_status (*channel)(
	    struct net_channel *ch, unsigned service, uint64_t until_ns, struct nam_err *err);
	/*
	 * While no op is out: idle_fd becomes readable when the connection ends (-1 = none), and
	 * then idle_end is called. The worker may sleep on it without limit. Both or neither.
	 */
	int (*idle_fd)(struct net_endpoint *ep);
	void (*news)(struct net_endpoint *ep);
	/* The node itself, when the net closes. May be NULL. */
	void (*node_close)(struct net_node *node);
	/* In a child of fork: closes the descriptors of a worker's endpoint, frees no memory. May
	 * be NULL. */
	void (*abandon)(struct net_endpoint *ep);
};

/* One storage node as this process sees it. */
struct net_node {
	struct net_node_info
	    info; /* i  but info.lost: a, relaxed: a late reader does one more op, as on a wire */
	const struct net_provider *p;
	void *base;            /* i  shm: the mapping */
	bool mapped;           /* i  base is ours to unmap */
	int control_fd;        /* the connection whose end means that the node is gone, -1 = none.
			        * The monitor's, with: */
	unsigned control_turn; /* how many there have been */
	bool control_ended;    /* its end has been seen */
	bool to_ask;           /* the monitor's lock: the node is to be asked why; */
	bool broken;           /* and no worker has replaced its connection since */
	char broke_why[64];    /* the cause, if known */
	int life_fd;           /* the connection over which the node holds a pidfd of this process,
			        * -1 = none. Opened by one thread at a time: */
	atomic_flag life_busy;
	/* The monitor's lock: the node's question whether this process lives (0 = none), and how
	 * long the node waits. */
	uint64_t asked_nonce, asked_until_ns;
	unsigned heard_len; /* the monitor's thread: bytes of a struct net_news that has not arrived
			     * whole */
	char heard[32];
	char host[112]; /* i  for more connections */
	char port[16];
	char socket[112]; /* i  shm: likewise, of its UNIX socket; "" = none */
	void *priv;       /* provider's */
	struct net *net;
};

/* One worker's queue pair to one node. */
struct net_endpoint {
	char *base;            /* i  not NULL: ops are executed in place */
	uint64_t size;         /* i  of the region */
	struct net_node *node; /* i */
	struct net_worker *w;  /* i */
	const struct net_provider *p;
	struct net_counts counts;       /* o */
	uint16_t quiet_status;          /* o  a quiet op failed; the next signaled one reports it */
	bool broke;                     /* o  until it is replaced */
	uint64_t rung;                  /* o  the last post of the worker with an op for it, ... */
	struct net_endpoint *next_rung; /* o  ... and the next one of these, by region */
	uint32_t dial_ms;               /* of a new connection: how long connecting may take, 0 =
				   * connect_ms */
	void *priv;                     /* provider's */
};

/* Replaces clock, sleep and loop of a struct net's workers. */
struct net_env {
	/* Must set w->sched and seed w->rng; may set w->env_priv. */
	nam_status (*worker_open)(struct net_worker *w, struct nam_err *err);
	/* Endpoints are closed before. Takes back w->sched. */
	void (*worker_close)(struct net_worker *w);
	void (*worker_run)(struct net_worker *w, bool (*until)(void *), void *arg);
	void (*rouse)(struct net_worker *w);
	void (*tell)(struct net_worker *w);
	uint64_t (*now)(struct net_worker *w);
	int64_t (*wall_us)(struct net_worker *w);
	void (*sleep)(struct net_worker *w, uint64_t ns);
	uint64_t (*cpu)(const struct net_worker *w);
	uint64_t (*timeout)(const struct net_worker *w);
	void (*net_close)(struct net *n); /* after the nodes' node_close; may be NULL */
	/* In a coroutine; see net_fence_process. */
	nam_status (*fence)(struct net_worker *w, uint64_t identity, uint64_t grace_ns, struct nam_err *err);
	/* See net_heard_of, net_sleep_or_news, net_on_asked. NULL = no news ever come, and no
	 * question. */
	enum net_heard (*heard)(struct net_worker *w, uint64_t identity);
	void (*sleep_or_news)(struct net_worker *w, uint64_t ns, uint64_t *news);
	/* NULL = net_sleep */
	void (*sleep_lazily)(struct net_worker *w, uint64_t ns, uint64_t most, uint64_t bells);
	void (*on_asked)(struct net *n, enum net_answer_life (*fn)(void *arg), void *arg);
};

struct net {
	unsigned count;
	struct net_node *node[NET_REGIONS];      /* i  by region id, ascending; count of them */
	struct net_node *by_region[NET_REGIONS]; /* i */
	const struct net_env *env;               /* i */
	void *env_priv;
	void *monitor; /* monitor.c: watches control connections, NULL = none */
	uint8_t secret[64];
	size_t secret_len;
	uint64_t cluster;          /* hash of the name */
	uint64_t identity;         /* i  net_identity() */
	_Atomic uint64_t workers;  /* how many have been opened */
	_Atomic unsigned asking;   /* nodes that are to be asked why; raised before they are lost */
	atomic_bool fenced;        /* a node has answered that this process is fenced; set before
				    * `asking` falls */
	atomic_bool disarmed;      /* mapped memory is not a node's memory any more; set before it
				    * is replaced (disarm.c) */
	_Atomic(const char *) why; /* a  one line once fenced is set */
	atomic_bool end_logged;    /* `why` has been logged */
	char lost_why[256];        /* under workers_lock until lost_told, then never changed */
	atomic_bool lost_told;
	pthread_mutex_t workers_lock; /* over the list, asked_fn and asked_arg */
	struct net_worker *first_worker;
	enum net_answer_life (*asked_fn)(void *arg);
	void *asked_arg;
	struct net_heard_table *table; /* heard.c; NULL = no node sends news */
	_Atomic uint64_t news;         /* how many processes have left or died */
	struct net *next_open;         /* disarm.c's */
	bool rnic;                     /* i  a node is reached by an RNIC */
	/* admit.c; a, relaxed: a late reader shares as before */
	_Atomic uint64_t counted_ns;
	_Atomic unsigned active;
	_Atomic uint64_t steered_ns;
	_Atomic unsigned turns; /* at a time, times 256 */
	/* a  numbers taken, and turns that are over; apart, for every worker looks at the second */
	_Atomic uint64_t turns_asked;
	char apart[64];
	_Atomic uint64_t turns_over;
	bool has_local; /* i  regions of this very process */
	bool unlucky;   /* a node has fenced this fresh identity before */
	bool forked;    /* this is a child of the process that opened it */
	uint32_t connect_ms;
	char rdma_from[48]; /* "" = chosen by the route */
};

/* A connection with ops out and no progress for so many connect_ms is gone. */
enum { TIMEOUT_CONNECTS = 4 };

struct net_timer; /* lives on the sleeping coroutine's stack */
struct net_lazy;  /* likewise */

/* admit.c. The worker has taken a number; its turn has begun. */
enum net_turn { NET_TURN_NONE, NET_TURN_ASKED, NET_TURN_HAS };

/* turn.c: what a worker knows of its coroutines' turns. */
struct net_worker_turns {
	uint64_t tick, cpu_tick;  /* o  when the last turn ended, when the clocks were read */
	uint64_t cpu_ns, wall_ns; /* o  the clocks at cpu_tick */
	_Atomic uint64_t longest_ns, at_least[NET_TURN_STEPS]; /* a  relaxed, the owner
	                                                        * stores them */
};
/* On the thread of w: the turns of its coroutines are measured from now on. */
void net_turns_begin(struct net_worker *w);
/* No coroutine's turn before now counts. */
void net_turns_from_here(struct net_worker *w);

struct net_worker {
	struct net_endpoint *ep[NET_REGIONS];    /* i  by region id */
	bool dirty;                              /* o  a plain store was made, and no fence since */
	bool streams;                            /* o  the same of stores past the caches */
	unsigned async_count;                    /* i */
	struct net_endpoint *async[NET_REGIONS]; /* i  endpoints without base */
	struct nam_sched *sched;
	struct net *net;
	uint64_t number; /* i  its number among the net's workers, from 1 */
	struct nam_rng rng;
	uint64_t round_trips; /* o */
	uint64_t posts;       /* o */
	/* rings to services (channel.c) */
	struct net_channel *channels; /* o */
	unsigned channel_count;       /* o */
	unsigned calls_out;           /* o  sent, and not finished */
	bool rings_awaited;           /* o  calls wait for rings */
	bool rings_news;              /* o  a channel's connection has something */
	unsigned rings_rounds;        /* o  looks at idle channels every so many */
	uint64_t call_news_ns;        /* o  when one was last sent or ended */
	uint64_t call_nap_ns;         /* o  how long to sleep while answers are polled for */
	unsigned hooks;
	struct {
		void (*fn)(void *);
		void *arg;
	} hook[NET_HOOKS];
	/* CPU clock of the thread in net_worker_run, 0 = none yet */
	struct net_timer *timers;
	struct net_lazy *lazy; /* o  a list; few sleep so */
	uint64_t bells;        /* o  have rung */
	atomic_bool dozes;     /* a  a coroutine sleeps lazily */
	atomic_bool ringing;   /* a  net_ring_here */
	_Atomic int cpu_clock; /* a  of the thread in net_worker_run; 0 = none yet */
	int wake_fd;
	int also_fd;                    /* o  of net_worker_wakes_on, -1 = none */
	atomic_bool asleep;             /* a  seq_cst: set before the last look, exchanged by the
					 * rousing thread */
	struct net_worker *next_worker; /* the net's workers_lock */
	atomic_bool asked, news;        /* a process asks whether this one lives; a process has left
					 * or died */
	unsigned news_sleepers;         /* o */
	bool background;                /* o  net_worker_background */
	struct nam_core core;           /* o */
	struct net_worker_turns turns;  /* turn.c */
	void *env_priv;

	/* admit.c */
	unsigned soon;   /* o  pieces of work that have been admitted and not posted */
	uint64_t ended;  /* o  ops that were out */
	uint64_t let_in; /* o  `ended` when work was admitted last */
	struct net_waiter *waiters, **waiters_end; /* o */
	enum net_turn turn;                        /* o */
	uint64_t ticket;                           /* o  the turn's number */

	/* a  relaxed: ops that have been posted and are not over; the owner stores it */
	_Atomic unsigned out;
	_Atomic uint64_t admitted; /* a  relaxed: only whether it changes counts */
	uint64_t admitted_before;  /* the net's workers_lock */
};

/* ---- for providers -------------------------------------------------------- */

/* An op is over: op->seen and op->buf are filled already. The last one of a batch wakes the
 * waiter. */
void net_op_done(struct net_endpoint *ep, struct net_batch *b, struct net_op *op, nam_status st);
/* A quiet op failed: the next signaled op of this endpoint ends with st. */
void net_quiet_failed(struct net_endpoint *ep, nam_status st);
/* An op that post() cannot take is over with st, quiet or not. */
void net_op_refuse(struct net_endpoint *ep, struct net_batch *b, struct net_op *op, nam_status st);
/* An op that post() cannot take ends with st, quiet or not. */
void net_node_broke(struct net_endpoint *ep, const char *why);
/* Calls every idle hook once (an environment's loop does this when the ready queue has run dry). */
void net_worker_idle(struct net_worker *w);
static inline bool
net_node_lost(const struct net_node *node)
{
	return atomic_load_explicit(&node->info.lost, memory_order_relaxed);
}
void net_node_set_lost(struct net_node *node);
/* Any thread. */
void net_node_set_replaced(struct net_node *node);
/* The node that was met has that incarnation. False: it is not the memory that this process knows,
 * and counts as replaced. */
bool net_node_is(struct net_node *node, uint64_t incarnation);

static inline unsigned
net_out(const struct net_worker *w)
{
	return atomic_load_explicit(&w->out, memory_order_relaxed);
}
static inline void
net_out_is(struct net_worker *w, unsigned n)
{
	atomic_store_explicit(&w->out, n, memory_order_relaxed);
}

/* admit.c: an op has ended while coroutines wait to be admitted, or in the worker's turn. */
void net_admit_next(struct net_worker *w);
static inline bool
net_admits(const struct net_worker *w)
{
	return w->waiters != NULL || w->turn != NET_TURN_NONE;
}

/* ---- for the makers of a struct net ---------------------------------------- */

/* An empty net with this environment; NULL without memory. Add nodes, then give it to its user. */
struct net *net_new(const struct net_env *env, void *env_priv);
/* Adds a node; info is copied. NAM_REFUSED when the region is there already, NAM_INVALID when out
 * of 1..1023. */
nam_status net_add_node(struct net *n, const struct net_provider *p, const struct net_node_info *info,
    struct net_node **out, struct nam_err *err);

extern const struct net_env net_env_real;

/* For tests: the identity that the next net_open draws first, 0 = random. */
extern _Atomic uint64_t net_next_identity;

/* fence.c */
nam_status net_real_fence(struct net_worker *w, uint64_t identity, uint64_t grace_ns, struct nam_err *err);
extern const struct net_provider net_provider_shm, net_provider_tcp, net_provider_verbs;

/* heard.c: news from nodes about other processes. The table is NULL if no node sends news. */
nam_status net_heard_open(struct net *n, struct nam_err *err);
void net_heard_close(struct net *n);
void net_heard_abandon(struct net *n); /* in a child of fork */
enum net_heard net_real_heard(struct net_worker *w, uint64_t identity);
/* The monitor's thread: one message of a node, and a node that has to be asked again. */
void net_heard_take(struct net_node *node, uint32_t kind, uint64_t identity);
void net_heard_forget(struct net_node *node);
/* Hints old enough are passed on. Returns when to call again, UINT64_MAX = with the next
 * message. */
uint64_t net_heard_ripen(struct net *n, uint64_t now);
/* The identities about which that node is to be asked, at most cap; the others with the next
 * call. */
unsigned net_heard_questions(struct net_node *node, uint64_t *identity, unsigned cap);

/* worker.c: wakes workers that sleep until news come. Any thread. */
void net_workers_news(struct net *n);
/* worker.c: asks the net's first worker to answer whether this process lives. */
void net_workers_asked(struct net *n);

/*
 * disarm.c. For ever: every verb ends with NAM_GONE, the net is fenced (why: a literal, one line),
 * and no instruction of this process reaches a node's memory any more when this returns. False: the
 * mapping could not be replaced. Any thread.
 */
bool net_disarm(struct net *n, const char *why);
/* Lists every open net of the real world: for a child of fork, and ... */
void net_disarm_enlist(struct net *n);
void net_disarm_delist(struct net *n);
/* ... for the question whether a net of this process that executes on its own regions has that
 * identity. */
bool net_lives_here(uint64_t identity);

/* Real worlds only: the watch over control connections (monitor.c). */
nam_status net_monitor_start(struct net *n, struct nam_err *err);
void net_monitor_stop(struct net *n);
void net_monitor_abandon(struct net *n); /* in a child of fork, which does not have the thread */
/* The node is reached again: watches this control connection (takes it) instead of the old one, and
 * clears `lost`. */
void net_monitor_renew(struct net_node *node, int control_fd);
/* On the thread of the net's first worker: asks fn, answers the nodes. */
void net_monitor_answer(struct net *n);
void net_real_on_asked(struct net *n, enum net_answer_life (*fn)(void *arg), void *arg);
/* There is a new question for a node. Any thread. */
void net_monitor_wake(struct net *n);
/* A worker's connection to the node broke: the node is asked why, and lost only if it does not
 * answer. Any thread. */
void net_monitor_broke(struct net_node *node, const char *why);
/* A worker has replaced its connection. Any thread. */
void net_monitor_mended(struct net_node *node);
/* True if the node is not lost, and no end of its control connection is known. Any thread. */
bool net_monitor_watches(struct net_node *node);

#endif
