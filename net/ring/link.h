/*
 * link.h -- the serving end of one client's rings: finds requests, calls handlers, puts answers.
 *
 * Independent of threads and fabrics: a storage node's shard (storage_node/shard.c) and the
 * simulator (sim/serve.c) provide both. A link belongs to one thread.
 */
#ifndef NAM_NET_LINK_H
#define NAM_NET_LINK_H

#include <net/ring/bell.h>
#include <net/ring/ring.h>
#include <net/ring/service.h>

struct net_link {
	const struct net_service *service; /* i  borrowed: all of the node, `services` of them */
	unsigned services;
	unsigned shard, shards; /* i  which of the services are served here */
	struct net_ring_in in;
	struct net_ring_out out;
	uint64_t served;             /* requests so far */
	bool polled;                 /* the client announces no message: look into the ring */
	int rouses;                  /* i  the connection by which bells rouse it, -1 = none */
	struct net_bell *bell;       /* that knows this client, NULL = none; */
	struct net_sleeper *sleeper; /* where */
	uint64_t odd_since_ns;       /* since when the ring holds bytes that are no message; 0 =
				      * it does not */
	/*
	 * WRITEs a run of the mirror into the response ring, and announces it with the last one of
	 * a turn if asked to. Bytes that it cannot send at once it sends later, from the mirror.
	 */
	void (*write)(struct net_link *l, struct net_ring_run run, bool announce);
	void *tag; /* the host's */
};

/* Room for a request and for an answer: of a shard, shared by its links. */
struct net_desk {
	uint64_t request[NET_RING_MAX / 2 / 8];
	uint64_t answer[NET_RING_MAX / 2 / 8];
};

enum net_link_sight { NET_LINK_NOTHING, NET_LINK_SERVED, NET_LINK_UNDER_WAY, NET_LINK_RUBBISH };

/* Serves waiting requests, at most a few, so that other links have their turn. RUBBISH: end this
 * connection. */
enum net_link_sight net_link_turn(struct net_link *l, struct net_desk *desk, uint64_t now_ns);

/* Before the connection is closed, or its rings go: no bell rouses the client any more. */
void net_link_forget(struct net_link *l);

/* Calls the idle hooks of a shard's services once each; true: one of them did something. */
bool net_link_idle(const struct net_service *service, unsigned services, unsigned shard, unsigned shards);

/* True if the hello makes sense. */
bool net_link_sound(const struct net_ring_hello *h);

#endif
