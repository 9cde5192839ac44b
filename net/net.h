/*
 * net.h -- the fabric: memory on other machines, read, written and swapped by one-sided verbs.
 *
 * Modelled on verbs: a room above may assume what an RNIC with reliable connections guarantees,
 * never more. Providers behind this header pass the same tests (net/conformance/conformance.c):
 * `shm` (same host, mapped memory, CPU atomics), `verbs` (libibverbs and librdmacm: an RNIC, or a
 * software one in the kernel), `tcp` (a software RNIC in the storage node), `sim` (net/sim/sim.h:
 * one thread, virtual time, one seed). No room above net can tell which one it uses.
 *
 * The steps of each use, in a coroutine of the worker's thread:
 *
 *      struct net_op ops[8]; struct net_batch b;
 *      net_batch_init(&b, worker, ops, 8, acct);
 *      net_read(&b, at, buf, len); net_cas(&b, lock, expect, want);
 *      if (net_run(&b) != NAM_OK) ...      // one doorbell per node, one wait
 *      ops[1].seen                         // what the CAS found
 *
 * The order that holds for one node, inside one batch or between a batch and one posted later by
 * the same worker:
 *      WRITE then WRITE: executed in order.  WRITE or atomic then READ: the READ sees it.
 *      WRITE or atomic then atomic: in order.
 *      READ then READ, READ then WRITE, READ then atomic: no order, unless the
 *      later one carries NET_FENCE (it starts when all earlier READs and atomics have completed).
 * Between nodes, and between workers: no order, unless one waits for the other.
 *
 * A READ that meets a WRITE may see any mix of old and new 8-byte words, in
 * any order. An aligned 8-byte word is never torn. Only the fabric's atomics
 * are atomic with each other.
 *
 * Threads: a net_worker and everything hanging on it belongs to one thread.
 * struct net may be shared once open.
 */
#ifndef NAM_NET_NET_H
#define NAM_NET_NET_H

#include <base/co.h>
#include <base/rng.h>
#include <base/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- addresses ---------------------------------------------------------- */

/* The address of a byte: 16 bits of region, 48 of offset. Never a pointer, the same on every node.
 * All zero: no address. A struct, so that it cannot be added to a timestamp by mistake. */
typedef struct net_addr {
	uint64_t bits;
} net_addr;

/* Regions are numbered 1..1023; an address has 16 bits for them, other formats have 10. Packed
 * formats have 40 bits for an offset: a region is at most 1 TiB long. */
enum { NET_REGIONS = 1024, NET_REGION_BITS = 10, NET_OFFSET_BITS = 40 };
#define NET_REGION_SIZE_MAX (UINT64_C(1) << NET_OFFSET_BITS)

static inline net_addr
net_at(unsigned region, uint64_t offset)
{
	return (net_addr){ (uint64_t)region << 48 | offset };
}
static inline unsigned
net_region_of(net_addr a)
{
	return (unsigned)(a.bits >> 48);
}
static inline uint64_t
net_offset_of(net_addr a)
{
	return a.bits & ((UINT64_C(1) << 48) - 1);
}
static inline net_addr
net_plus(net_addr a, uint64_t bytes)
{
	return (net_addr){ a.bits + bytes };
}

/* ---- opening ------------------------------------------------------------ */

/* A set of regions. */
struct net_set {
	uint64_t word[NET_REGIONS / 64];
};
static inline void
net_set_add(struct net_set *s, unsigned region)
{
	s->word[region / 64] |= UINT64_C(1) << region % 64;
}
static inline void
net_set_drop(struct net_set *s, unsigned region)
{
	s->word[region / 64] &= ~(UINT64_C(1) << region % 64);
}
static inline bool
net_set_has(const struct net_set *s, unsigned region)
{
	return region < NET_REGIONS && (s->word[region / 64] >> region % 64 & 1);
}
/* The first one from `from` on, NET_REGIONS = there is none. */
static inline unsigned
net_set_next(const struct net_set *s, unsigned from)
{
	while (from < NET_REGIONS) {
		uint64_t rest = s->word[from / 64] >> from % 64;
		if (rest != 0)
			return from + (unsigned)__builtin_ctzll(rest);
		from = (from / 64 + 1) * 64;
	}
	return NET_REGIONS;
}
static inline bool
net_set_none(const struct net_set *s)
{
	return net_set_next(s, 0) == NET_REGIONS;
}
static inline bool
net_set_same(const struct net_set *a, const struct net_set *b)
{
	bool same = true;
	for (unsigned i = 0; i < NET_REGIONS / 64; i++)
		same &= a->word[i] == b->word[i];
	return same;
}
/* Those of a that are not in b. */
static inline struct net_set
net_set_minus(const struct net_set *a, const struct net_set *b)
{
	struct net_set left = *a;
	for (unsigned i = 0; i < NET_REGIONS / 64; i++)
		left.word[i] &= ~b->word[i];
	return left;
}

struct net;        /* one process's nodes, regions, and control connections */
struct net_worker; /* one thread's endpoints (a queue pair per node) */
struct net_local;  /* a region in this very process: storage_node makes it, see sn_region */

enum net_kind { NET_AUTO, NET_SHM, NET_TCP, NET_SIM, NET_VERBS };
const char *net_kind_name(enum net_kind k);
/* "auto", "shm", "tcp", "verbs": the values of --fabric. False: another word. */
bool net_kind_parse(const char *name, enum net_kind *out);

struct net_config {
	/* Comma-separated: "127.0.0.1:7411,127.0.0.1:7412". Each node answers the
	 * control handshake there; a loopback node that also offers its UNIX
	 * socket is reached by shm under NET_AUTO. */
	const char *storage;
	enum net_kind fabric;  /* NET_AUTO: per node shm where possible, else verbs, else tcp */
	const char *rdma_from; /* local address of the RDMA device to use; NULL: chosen by the
			        * route */
	const char *cluster;   /* name; "" = "namdb" */
	const void *secret;    /* shared secret of the handshake */
	size_t secret_len;
	struct net_local **local; /* in-process regions (embedded); NULL-terminated, or NULL */
	uint32_t connect_ms;      /* 0 = 3000; a tcp node with ops out and no progress for
				   * four times that is gone */
};

/*
 * Connects to every node named. NAM_GONE: no node answers there; NAM_REFUSED: wrong secret,
 * cluster, version or layout, or two nodes with one id. err says which node, and what to do.
 */
nam_status net_open(struct net **out, const struct net_config *cfg, struct nam_err *err);
void net_close(struct net *n);

struct net_node_info {
	unsigned region; /* 1.. */
	enum net_kind kind;
	uint64_t size;
	uint64_t incarnation;
	uint64_t log;      /* offset of the line of its log, 0 = it has none (wal/remote) */
	char name[128];    /* as the user wrote it */
	_Atomic bool lost; /* the connection broke, or it was declared lost */
	/* A node with other memory was met at its address, which proves that its process has
	 * ended. A refused connection proves nothing: a firewall may refuse for a living node. */
	_Atomic bool replaced;
};
/* Do two addresses, as a user writes them, name one place? Asks the resolver: it may take long. */
bool net_same_address(const char *a, const char *b);
/* The nodes, ordered by region id. The one with the lowest id is `home`. */
unsigned net_node_count(const struct net *n);
const struct net_node_info *net_node(const struct net *n, unsigned i);
/* The node of a region, or NULL. */
const struct net_node_info *net_node_of(const struct net *n, unsigned region);
/* From now on every operation on that region ends with NAM_GONE. Any thread. */
void net_declare_lost(struct net *n, unsigned region);
/* Likewise; and the node counts as replaced, because it came back empty. */
void net_declare_replaced(struct net *n, unsigned region);
/* The nodes whose memory is known to have ended. It never shrinks. Any thread. */
struct net_set net_replaced(const struct net *n);

/* ---- identity, fencing, membership ----------------------------------------- */

/*
 * Every connection of a struct net carries its identity: random, new for each struct net, 1 .. 2^40
 * - 1, so that it fits into a word beside other fields. It is proved with the handshake, and the
 * node knows it before any verb can be posted. So a process that has published its identity (in a
 * word that it took by a CAS) before it posts verbs that matter can be fenced by it.
 */
enum { NET_IDENTITY_BITS = 40 };
uint64_t net_identity(const struct net *n);

/*
 * What this net has heard about the process of another net. After either answer a caller need not
 * wait for the process's lease, but it still needs net_fence_process: verbs of the process may be
 * under way.
 *      NET_DEAD  a storage node holds proof (a pidfd) that the process has ended.
 *      NET_LEFT  every storage node of this net has reported that no connection of that identity is
 *                open there, and none has come back for NET_LEFT_NS. A hint: a process whose
 *                connections broke all at once looks the same.
 * The first call for an identity asks the nodes; their news come by themselves from then on. Any
 * thread; cheap, no verb.
 */
enum net_heard { NET_UNHEARD, NET_LEFT, NET_DEAD };
enum { NET_LEFT_NS = 50000000 };
enum net_heard net_heard_of(struct net_worker *w, uint64_t identity);
/*
 * net_sleep, but returns early when this net hears of a process that left or died. *news counts
 * such news and belongs to the caller (0 at first): news that came since the previous call end the
 * sleep at once.
 */
void net_sleep_or_news(struct net_worker *w, uint64_t ns, uint64_t *news);
/*
 * net_sleep for a coroutine that looks at what others change: ends when a bell rings for its worker
 * that is not among the first `bells` (net_bells): that of a service (net_call_rouses), or
 * net_ring_here. As long as its worker has something to do, ends after `ns`; a worker that sleeps
 * is not woken for it before `most` ns.
 */
void net_sleep_lazily(struct net_worker *w, uint64_t ns, uint64_t most, uint64_t bells);
/* How many bells have rung for this worker. To be asked before the look. Owner thread. */
uint64_t net_bells(const struct net_worker *w);
/* Rings for all workers of this net that sleep so. Any thread; takes the lock over the list of
 * workers, and a system call for each that is not awake. */
void net_ring_here(struct net *n);

/*
 * Fences a process, for ever. In a coroutine; takes round trips, the grace, or the time a process
 * takes to die. NAM_OK: on no storage node of this net can a verb of it execute any more, whenever
 * it was posted; its connections are closed and it gets no new ones. If the process had a node's
 * memory mapped, it has given that memory up, or has been killed and has died. With grace_ns > 0
 * the process is first asked whether it lives, over each of its control connections, by all nodes
 * side by side. NAM_BUSY: within the grace it has answered that it lives (net_on_asked); nothing
 * has been done to it. A process that answers that it has given up is not killed; a process that
 * does not answer is. grace_ns == 0: the process is not asked; for processes that are told dead.
 * Any other status: not all nodes have answered; some may have fenced it already, and the caller
 * may call again. Idempotent; an identity that no process has is fenced as well. A process that is
 * fenced itself cannot fence others (NAM_REFUSED). NAM_UNSUPPORTED: the identity belongs to a
 * process that must not be killed by this (the storage node's own).
 */
nam_status net_fence_process(struct net_worker *w, uint64_t identity, uint64_t grace_ns, struct nam_err *err);

/*
 * The other side of net_fence_process. fn is called when a storage node asks, on behalf of another
 * process, whether this one lives: on the thread of the net's first worker, in its loop, outside of
 * coroutines; it must not block. NET_LIVES: the heart's last beat landed recently, and others go on
 * waiting. NET_GIVEN_UP: before the answer leaves, the net disarms itself for ever: mapped memory
 * is replaced by private zero pages, all verbs end with NAM_GONE, net_membership is NET_FENCED. If
 * that thread does not run its loop, no answer leaves. Without fn the net does not answer. fn ==
 * NULL removes it. Any thread; not from within fn.
 */
enum net_answer_life { NET_LIVES, NET_GIVEN_UP };
void net_on_asked(struct net *n, enum net_answer_life (*fn)(void *arg), void *arg);

/*
 * Whether another process has fenced this one. A connection that ends does not tell why. So a
 * thread that may wait asks each node whose connection has ended, once. When operations have ended
 * with NAM_GONE because of it, the answer is on its way (NET_ASKING) or there. NET_FENCED is final:
 * close the net, and open another.
 */
enum net_membership { NET_MEMBER, NET_ASKING, NET_FENCED };
enum net_membership net_membership(const struct net *n);
/* Why this process is fenced, or which storage it has lost, in one line; "" = neither. Any thread;
 * lives as long as n. */
const char *net_membership_why(const struct net *n);
/* Which node's connection broke and has not been replaced since, and why: one sentence, or "". Any
 * thread. */
void net_broken_why(struct net *n, char *out, size_t size);

/* ---- workers ------------------------------------------------------------ */

/* Opens one endpoint per node. To be called on the thread that will use it, or before that thread
 * starts. */
nam_status net_worker_open(struct net *n, struct net_worker **out, struct nam_err *err);
void net_worker_close(struct net_worker *w);
/*
 * Call after NAM_GONE from a node that is reached over a connection: opens a new connection of this
 * worker to the same incarnation, and a new control connection to the node; other workers whose
 * connections broke do the same for themselves. Takes up to connect_ms; in a coroutine it parks
 * meanwhile, elsewhere it blocks the owner's thread. Verbs that were out when the old connection
 * broke may or may not have executed. NAM_TIMEOUT: no answer, or not now; the node may still run,
 * and other processes may reach it. NAM_GONE: its process has ended, or the memory came back empty:
 * it is lost for all. NAM_REFUSED: this process is fenced (net_fence_process): its locks and slots
 * belong to other processes now; close the net.
 */
nam_status net_worker_reconnect(struct net_worker *w, unsigned region, struct nam_err *err);
/* net_worker_reconnect, also for a connection that has not broken but is silent, and within most_ms
 * (0 = connect_ms). Not OK: the old connection is as it was. */
nam_status net_worker_renew(struct net_worker *w, unsigned region, uint32_t most_ms, struct nam_err *err);
/* The regions this worker has lost its connection to, and those declared lost: into *out. False:
 * none. No verb; its thread. */
bool net_worker_broken(const struct net_worker *w, struct net_set *out);
/* Is this one among them? */
bool net_worker_broke(const struct net_worker *w, unsigned region);
struct net *net_worker_net(struct net_worker *w);
struct nam_sched *net_worker_sched(struct net_worker *w);

/*
 * The worker's loop: run ready coroutines; when none is ready call the idle
 * hooks (they may post); poll completions and timers; with nothing at all to do
 * sleep until a completion, a timer or nam_co_post. Yields the CPU rather than
 * spin when threads outnumber cores. Returns when until(arg) is true (checked
 * each round), or, with until == NULL, when no coroutine is alive.
 */
void net_worker_run(struct net_worker *w, bool (*until)(void *arg), void *arg);
/* For a worker whose turns no client waits for: its loop sleeps at once when nothing is ready, and
 * does not look a few times more before. Its thread. */
void net_worker_background(struct net_worker *w);
/* Any thread: rouse a sleeping worker so that it looks at until() again. */
void net_worker_rouse(struct net_worker *w);

/* Any thread: the worker's idle hooks are called soon, also if it sleeps. */
void net_worker_tell(struct net_worker *w);

/* A sleeping worker wakes also when fd is readable, and calls its idle hooks; -1 = no such fd. fd
 * is borrowed. The worker's thread; one fd. A simulated worker never sleeps, so it ignores fd. */
void net_worker_wakes_on(struct net_worker *w, int fd);

/* fn(arg) is called each time the ready queue has run dry, before polling: the
 * place to send what several coroutines asked for, as one. At most 8 hooks. */
void net_worker_on_idle(struct net_worker *w, void (*fn)(void *arg), void *arg);
/* Takes such a hook away again. Not from inside a hook. */
void net_worker_off_idle(struct net_worker *w, void (*fn)(void *arg), void *arg);

/* Takes a hook away. Not from inside a hook. */
uint64_t net_now_ns(struct net_worker *w);
/* Microseconds since 1970-01-01 UTC; may go back. */
int64_t net_wall_us(struct net_worker *w);
struct nam_rng *net_rng(struct net_worker *w);
/* Time and random numbers for every room above net. Virtual in a simulated cluster. */
void net_sleep(struct net_worker *w, uint64_t ns);

/*
 * A coroutine looks again and again at what another process, or another coroutine, is to change.
 * Between two looks it calls net_back_off: the first `yields` pauses only give way, the next `hold`
 * last base_ns, and after every further `hold` a pause lasts twice as long, up to cap_ns. So a
 * short wait ends soon, and of a long one a pause is about 1/hold. base_ns == cap_ns: every pause
 * is the same. dice: a pause lasts between half and one and a half times as long, by net_rng, so
 * that processes that began together part. Set the limits, leave `tries` 0; it counts the pauses.
 * In a coroutine. Returns the pause.
 */
struct net_backoff {
	uint64_t base_ns, cap_ns;
	uint32_t yields; /* 0 = none */
	uint32_t hold;   /* 0 = 1: each pause is twice the one before */
	bool dice;
	uint32_t tries;
};
uint64_t net_back_off(struct net_worker *w, struct net_backoff *b);

/*
 * Work of several round trips begins: waits while this worker has its share of the ops out that an
 * RNIC bears, and lets those go first that wait already. However many ops are out, one of those
 * that wait goes on each time that some ops of the worker have ended. net_admit_end: the work posts
 * its own ops from now on. Until then it may wait for others, but holds nothing they wait for. In a
 * coroutine.
 */
void net_admit(struct net_worker *w);
void net_admit_end(struct net_worker *w);
/* Work that was admitted, and has posted, waits for others again; net_admit_end ends that. */
void net_admit_more(struct net_worker *w);

/* ---- operations --------------------------------------------------------- */

enum net_code { NET_READ, NET_WRITE, NET_WRITE_IMM, NET_CAS, NET_FAA, NET_CODES };

enum net_flag {
	NET_FENCE = 1,  /* starts after all earlier READs and atomics to this node completed */
	NET_INLINE = 2, /* bytes are copied at post (len <= NET_INLINE_MAX): the buffer is free at
			 * once */
	NET_QUIET = 4,  /* unsignaled: its completion is known only through a later signaled op to
	                 * the same node. Errors surface there. Needs NET_INLINE for a WRITE. */
	NET_STREAM = 8, /* a WRITE of bytes that this process will not READ soon: if the memory is
			 * mapped here, they go past its caches */
};
enum { NET_INLINE_MAX = 64 };

struct net_op {
	uint8_t code;    /* enum net_code */
	uint8_t flags;   /* enum net_flag */
	uint16_t status; /* nam_status, valid when the batch is done */
	uint32_t len;    /* READ, WRITE; atomics: 8 */
	net_addr at;
	void *buf;     /* READ: into; WRITE: from. Borrowed until the batch is done. */
	uint64_t arg;  /* CAS: expect; FAA: add; WRITE_IMM: the immediate */
	uint64_t want; /* CAS */
	uint64_t seen; /* CAS, FAA: the word as it was before */
};

/* Verbs, bytes and round trips. Endpoints have one; a transaction or statement may bring its
 * own. */
struct net_counts {
	uint64_t verbs[NET_CODES];
	uint64_t bytes_out, bytes_in; /* payload bytes that would cross the wire */
	uint64_t doorbells;           /* one per node per post */
	uint64_t round_trips;         /* waits for completions: what latency is made of */
	uint64_t waited_ns;           /* in which the coroutine was parked for them: only where
				       * net_account() is not NULL */
};
void net_counts_add(struct net_counts *into, const struct net_counts *from);
uint64_t net_counts_verbs(const struct net_counts *c);

/*
 * Verbs that the running coroutine posts without an account (acct NULL) are counted in account from
 * now on; NULL = no account. account lives until then. For a caller that measures the whole cost of
 * a piece of work.
 */
void net_account_to(struct net_counts *account);
/* The account of this coroutine; NULL = none. For rooms that post on behalf of a coroutine from
 * elsewhere. */
struct net_counts *net_account(void);

/* Around a park until verbs are done: adds its time to c, if the coroutine has an account. For
 * rooms that park by themselves; net_wait does it. */
uint64_t net_wait_from(struct net_worker *w);
void net_wait_until(struct net_worker *w, uint64_t from, struct net_counts *c);

/* Operations that share a doorbell and a wait. Caller's memory; lives until done. */
struct net_batch {
	struct net_worker *w;
	struct net_op *op;
	uint32_t n, cap;
	uint32_t pending;                  /* provider's: ops still out */
	nam_status status;                 /* NAM_OK, or that of the first op that failed */
	struct net_counts *acct;           /* may be NULL */
	struct nam_co *waiter;             /* set by net_wait */
	void (*done)(struct net_batch *b); /* set by net_post_then */
	void *tag;                         /* caller's */
	void *link;                        /* provider's */
	bool posted;
};

static inline void
net_batch_init(
    struct net_batch *b, struct net_worker *w, struct net_op *ops, unsigned cap, struct net_counts *acct)
{
	*b = (struct net_batch){ .w = w, .op = ops, .cap = cap, .acct = acct };
}

/* Each adds an operation to the batch and sends nothing. NULL when the batch is full (b->n ==
 * b->cap): run it first. */
static inline struct net_op *
net_op_add(struct net_batch *b, enum net_code code, net_addr at, void *buf, uint32_t len)
{
	if (b->n == b->cap)
		return NULL;
	struct net_op *op = &b->op[b->n++];
	*op = (struct net_op){ .code = (uint8_t)code, .len = len, .at = at, .buf = buf };
	return op;
}
static inline struct net_op *
net_read(struct net_batch *b, net_addr at, void *into, uint32_t len)
{
	return net_op_add(b, NET_READ, at, into, len);
}
static inline struct net_op *
net_write(struct net_batch *b, net_addr at, const void *from, uint32_t len)
{
	return net_op_add(b, NET_WRITE, at, (void *)(uintptr_t)from, len);
}
static inline struct net_op *
net_cas(struct net_batch *b, net_addr at, uint64_t expect, uint64_t want)
{
	struct net_op *op = net_op_add(b, NET_CAS, at, NULL, 8);
	if (op != NULL) {
		op->arg = expect;
		op->want = want;
	}
	return op;
}
static inline struct net_op *
net_faa(struct net_batch *b, net_addr at, uint64_t add)
{
	struct net_op *op = net_op_add(b, NET_FAA, at, NULL, 8);
	if (op != NULL)
		op->arg = add;
	return op;
}

/*
 * Sends the batch, in order, one doorbell per node. A bad op (out of the
 * region's bounds, misaligned atomic, unknown region) gets NAM_INVALID and is
 * not sent, and neither are the ops after it to that node (NAM_CANCELLED).
 */
void net_post(struct net_batch *b);
/* Parks until every op has completed; then b->n is 0 again, ops keep their results, and b->status
 * is the batch's status. Counts one round trip. */
nam_status net_wait(struct net_batch *b);
/* Post and wait. On shm a batch of two or more READs prefetches and yields once, so that misses
 * overlap. */
nam_status net_run(struct net_batch *b);
/* Posts; done(b) is called on the worker's thread when all ops have completed: maybe before this
 * returns, never inside another coroutine's turn on an op it waits for. b->n is 0 again then, and
 * the caller may reuse b. No coroutine waits, so it counts no round trip. */
void net_post_then(struct net_batch *b, void (*done)(struct net_batch *b));

/*
 * A batch of n READs of len bytes each, run in place: piece i from at[i] to into + i * len. Counted
 * as net_run counts such a batch, without the ops. NAM_UNSUPPORTED: not all pieces lie in memory
 * that is mapped here, or a node is lost, or an address is bad: nothing was READ or counted, and
 * net_run tells more. NAM_GONE: the net has given the memory up meanwhile (net_on_asked). Short
 * pieces yield once, so that misses overlap. len is a multiple of 8, n at most NET_MAPPED_MAX.
 */
enum { NET_MAPPED_MAX = 64 };
nam_status net_read_mapped(
    struct net_worker *w, const net_addr *at, unsigned n, uint32_t len, void *into, struct net_counts *acct);

/* One-op shorthands: run at once, in a coroutine. */
nam_status net_read1(struct net_worker *w, net_addr at, void *into, uint32_t len, struct net_counts *acct);
nam_status net_write1(
    struct net_worker *w, net_addr at, const void *from, uint32_t len, struct net_counts *acct);
nam_status net_cas1(struct net_worker *w, net_addr at, uint64_t expect, uint64_t want, uint64_t *seen,
    struct net_counts *acct);
nam_status net_faa1(struct net_worker *w, net_addr at, uint64_t add, uint64_t *seen, struct net_counts *acct);

/* True if all nodes' memory is mapped here: verbs end where they are posted. */
bool net_all_mapped(const struct net_worker *w);
/* A pointer to remote memory if it is mapped here (shm), else NULL. Racy by nature: check the bytes
 * read, as after a READ. The range must lie in one region. */
const void *net_direct(struct net_worker *w, net_addr at, size_t len);
/*
 * Call after reading by such a pointer: true if it was the node's memory all the time. False: the
 * net has given it up (net_on_asked), and the bytes read may be zeros that no process wrote; treat
 * it as NAM_GONE.
 */
bool net_direct_stands(const struct net_worker *w);
/* net_direct, counted as the READ that it replaces. */
const void *net_read_direct(struct net_worker *w, net_addr at, uint32_t len, struct net_counts *acct);

/* These bytes will be written soon: fetches their cache lines if the memory is mapped here; else
 * does nothing. */
void net_hint(struct net_worker *w, net_addr at, size_t len);

/* Totals of this worker's endpoints; per node with region, 0 = sum. Owner thread. */
void net_worker_counts(struct net_worker *w, unsigned region, struct net_counts *out);

/* ---- extents ------------------------------------------------------------ */

/*
 * Takes n extents in a row from a region (in a coroutine). n == 1 looks at the
 * free stack first. The memory reads as zeros. NAM_FULL: the region has no more.
 */
nam_status net_extent_take(struct net_worker *w, unsigned region, unsigned n, net_addr *out);
/*
 * Takes n extents of a region, wherever they lie: first extents given back, then unused ones.
 * zeros: they read as zeros; without it they keep their bytes. out[0 .. *got) are the caller's,
 * whatever the status. NAM_FULL: the region has no more.
 */
nam_status net_extents_take(
    struct net_worker *w, unsigned region, unsigned n, bool zeros, net_addr *out, unsigned *got);
/*
 * The reserve: extents of a region (net_reserve_most) that ordinary takers do not get, for
 * operations that must be possible when all other memory is taken: joining, and dropping tables.
 * fill puts them there, once for a region; extents given back later fill it first. take: an extent
 * of it, which reads as zeros. NAM_FULL: it is empty as well. Try it when the takers above found
 * none.
 */
unsigned net_reserve_most(const struct net_node_info *node);
nam_status net_reserve_fill(struct net_worker *w, unsigned region);
nam_status net_reserve_take(struct net_worker *w, unsigned region, net_addr *out);
/* Gives n extents back, of any regions. An error: some may not have gone back, and are lost until
 * the storage node ends. */
nam_status net_extents_give(struct net_worker *w, unsigned n, const net_addr *extent);
/* Gives one extent back. No process may touch it any more: the caller has made sure (watermark). */
nam_status net_extent_give(struct net_worker *w, net_addr extent);

/* How a storage node and its memory stand; in_use + given_back + never_used is the region's
 * size. */
struct net_usage {
	uint64_t in_use, given_back, never_used; /* bytes */
	uint64_t beat, beat_wall_us;             /* its heartbeat: how many, when */
	uint32_t cpu_permille, peers;
};
/* READs it. In a coroutine. */
nam_status net_region_usage(struct net_worker *w, unsigned region, struct net_usage *out);

/* The fingerprint of every format in this build; rooms above fold theirs in at start, before
 * net_open. */
uint64_t net_layout(void);
void net_layout_fold(const char *room, uint64_t fingerprint);

#endif
