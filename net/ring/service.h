/*
 * service.h -- code on a storage node, and how to call it: requests and answers as messages in
 * rings (ring_format.h).
 *
 * Work that one-sided verbs cannot do well (the changing half of an index, for example) a room
 * implements as a service: an id and a handler. The program that runs the storage node registers
 * it (sn_region_serve; net_sim_serve in a simulated cluster); all other programs call it. The node
 * serves on shards: threads that do only this, each pinned to a core. A service lives on one shard
 * (id mod shards), so its handler is called by one thread only, one request at a time, to its end.
 * It must not block, because all services of the shard would wait. Work that should run side by
 * side needs several ids.
 *
 * Calls of one worker to one node are served in the order they were started, per shard, and after
 * all that the worker has WRITTEN to that node before: so a message may refer to memory that was
 * WRITTEN before it.
 *
 * Polling or events, per channel (worker, node, shard), and switched at any time:
 *      NET_POLLING  the shard looks into the ring again and again, the caller looks for the
 *      answer.
 *                   Fastest while there is a core to spare. A side that has found nothing for a
 *                   while sleeps, longer and longer up to a millisecond.
 *      NET_EVENTS   requests go as WRITE_WITH_IMM, and both sides sleep until they are roused. An
 *                   idle channel costs nothing.
 */
#ifndef NAM_NET_SERVICE_H
#define NAM_NET_SERVICE_H

#include <net/net.h>

/* ---- hosting ---------------------------------------------------------------- */

/* A handler's argument. All of it belongs to the shard, and is gone when the handler returns. */
struct net_request {
	unsigned service;
	uint32_t len;
	const void *bytes;   /* aligned to 8; a copy, so that it does not change while it is judged.
			      * From a wire: judge it */
	void *answer;        /* aligned to 8; write at most answer_max bytes here, ... */
	uint32_t answer_max; /* (what the caller can take) */
	uint32_t answer_len; /* ... and set their number here; 0 at first */
	uint64_t tell;       /* 0 at first: nothing. Else the caller is roused when the bell of this
			      * service has reached that number */
	/* NULL at first. Else the caller's place in the bell is noted there, NULL if it has none:
	 * by an atomic store, behind the handler's return, before its region is closed. */
	struct net_sleeper **caller;
};
/* Its status goes to the caller. NAM_GONE and unknown values reach the caller as NAM_IO. NAM_FULL:
 * the caller's room is too small. */
typedef nam_status (*net_handler)(void *arg, struct net_request *rq);

/*
 * Work that waits until nothing else is to do, such as training a model. The shard calls it when
 * it has looked into every ring and served nothing, and now and then when it always has something
 * to serve. One call does a small piece, some microseconds, because requests wait meanwhile.
 * Returns whether it did something: as long as it does, the shard does not sleep; when every
 * service of the shard says no, the shard sleeps, and calls again after the next request. So only
 * requests to the same shard may bring such work about.
 */
typedef bool (*net_idle)(void *arg);

struct net_bell; /* net/ring/bell.h */

enum { NET_SERVICES = 64 }; /* ids are 1..65535, at most so many on a node */

struct net_service {
	unsigned id;
	const char *name; /* for messages */
	net_handler fn;
	void *arg;
	net_idle idle;         /* NULL = none */
	struct net_bell *bell; /* borrowed; NULL = none */
};

/* Returns the bytes it got. Every daemon hosts it, so that the time of a message can be
 * measured. */
enum { NET_SERVICE_ECHO = 1 };
/*
 * Asks a storage node to reset its memory: it is empty then and has another incarnation, as if its
 * process had been started again. For a cluster with a log whose life is over. Request: uint64_t,
 * the incarnation that is to end. NAM_REFUSED: it has another one. The node ends each connection,
 * so NAM_GONE may be the answer. NAM_UNSUPPORTED: its program cannot do it.
 */
enum { NET_SERVICE_RESET = 2 };
nam_status net_echo(void *arg, struct net_request *rq);
/* What the node with that incarnation answers to a request of NET_SERVICE_RESET. NAM_OK: it is to
 * reset its memory. */
nam_status net_reset_asked(uint64_t incarnation, const struct net_request *rq);

/* ---- calling ---------------------------------------------------------------- */

enum net_mode { NET_POLLING, NET_EVENTS };

struct net_call_config {
	enum net_mode mode;
	/* Of the rings, at most; powers of two from 4 KiB to 1 MiB; 0 = 64 KiB. A message is at
	 * most half as long (net_call_max). How large they are is the node's choice; a call that
	 * needs larger ones gets them. */
	uint32_t request_bytes, response_bytes;
	uint32_t timeout_ms; /* no answer for so long, with calls out: the channel is given
			      * up. 0 = 4 x connect_ms */
};

/*
 * Opens the channel to the shard of that service; not needed before calls, which open it with a
 * zeroed config (polling). Needed after NAM_GONE: a broken channel stays broken until the caller
 * opens it again, because its calls may have been served or not. Blocks up to connect_ms; on the
 * owner's thread. NAM_UNSUPPORTED: the node hosts no services; NAM_INVALID: sizes; NAM_CROWDED:
 * the worker calls as many services as it can at once, or the node has no memory for a client;
 * NAM_GONE. If the channel is open already, only its mode is changed.
 *
 * An open channel need not have rings: a node lends them to the clients that call
 * (net/ring/pool.h). Calls wait until it has some.
 */
nam_status net_call_open(struct net_worker *w, unsigned region, unsigned service,
    const struct net_call_config *cfg, struct nam_err *err);
/* The longest request and the longest answer of an open channel. */
nam_status net_call_max(
    struct net_worker *w, unsigned region, unsigned service, uint32_t *request, uint32_t *answer);

/*
 * Opens the channel again, for answers as long as a response ring of so many bytes takes
 * (net_call_config; 0: the usual size). Blocks up to connect_ms; on the owner's thread. False:
 * nothing has changed, because a call is out, the node's memory for rings may be too small for it,
 * or the answers are that long already; or there is no channel any more.
 */
bool net_call_answers(struct net_worker *w, unsigned region, unsigned service, uint32_t response_bytes);

/* True if a bell of that service can rouse this worker while it sleeps. */
bool net_call_rouses(struct net_worker *w, unsigned region, unsigned service);

struct net_channel;

/* One call. Caller's memory, borrowed with request and answer until it is over. */
struct net_call {
	unsigned region, service;
	const void *request;
	uint32_t len;
	uint32_t cap; /* of answer */
	void *answer;
	/* set when it is over */
	uint32_t got; /* bytes of answer */
	nam_status status;
	/* net's */
	struct net_worker *w;
	struct net_channel *ch;
	struct net_call *next;
	struct nam_co *waiter;
	uint64_t end;     /* of its request in the ring */
	uint32_t reserve; /* of the response ring */
	bool over;
};

/*
 * Starts a call; never parks. Several may be out: calls started in one round of the scheduler
 * leave together, and calls that find no room in a ring wait for it in order.
 */
void net_call_start(struct net_worker *w, struct net_call *c);
/*
 * Parks until the call is over. Returns the handler's status; or NAM_UNSUPPORTED: the node does
 * not host the service; NAM_INVALID: request or cap is longer than the channel takes
 * (net_call_max), nothing was sent; NAM_CROWDED: the node had no memory for rings for so long as a
 * call waits for it, nothing was sent; NAM_GONE: the node or the channel is gone; the request may
 * have been served or not.
 */
nam_status net_call_wait(struct net_call *c);
/* net_call_start and net_call_wait. */
nam_status net_call(struct net_worker *w, unsigned region, unsigned service, const void *request,
    uint32_t len, void *answer, uint32_t cap, uint32_t *got);

#endif
