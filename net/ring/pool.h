/*
 * pool.h -- the memory of a storage node's message rings: which pages have an owner, which members
 * wait for some, and which are asked to give theirs back.
 *
 * A member is a client's connection to a shard. It has rings or none, and may wait in the one line
 * of the node. Only the first of the line gets rings, so that no member waits for ever behind
 * others that need less. How large they are: what the member wishes, but no more than its share of
 * the pool, unless a call of it needs more. While the line is not empty, members with rings are
 * asked to give them back, the ones that were served longest ago first. A member that does not
 * answer (its process is stopped) stands in no other member's way: others are asked.
 *
 * Pages that their owner gave back while none of its WRITEs was under way are used again at once.
 * Pages of an owner that has gone rest, because its last WRITEs may still land.
 *
 * Independent of threads and fabrics: a storage node (storage_node/shard.c, under its lock) and
 * the simulator (sim/serve.c) provide both.
 */
#ifndef NAM_NET_POOL_H
#define NAM_NET_POOL_H

#include <net/ring/ring_format.h>

#include <stdbool.h>
#include <stddef.h>

enum {
	NET_POOL_PAGE = 4096,
	NET_POOL_MIN = 1 << 18,
	NET_POOL_MAX = 64 << 20,
	NET_POOL_PART = 64, /* of the region, unless said otherwise */
};
#define NET_POOL_NONE UINT64_MAX

struct net_pool_member {
	void *tag; /* i  the host's */
	struct net_ring_want want;
	bool mapped; /* i  the response ring lies in the pool as well */
	bool has;    /* rings */
	bool waits;
	/* To give its rings back. The member's thread looks without the host's lock. */
	_Atomic bool asked;
	uint64_t request, response;             /* offsets in the pool */
	uint32_t request_bytes, response_bytes; /* of the rings it has */
	/* When it got them, or was last served. The member's thread stores it without the lock. */
	_Atomic uint64_t used_ns;
	struct net_pool_member *next, **prev; /* of the line, or of those with rings */
};

struct net_pool {
	uint64_t pages;
	uint64_t *freed_ns; /* per page: owned, free, or since when it rests */
	unsigned members, waiting;
	struct net_pool_member *first, **end; /* the line */
	struct net_pool_member *owners;
	uint64_t asked_ns; /* when members were last asked */
};

/* False: no memory. */
bool net_pool_open(struct net_pool *p, uint64_t bytes);
void net_pool_close(struct net_pool *p);
/* The bytes of a pool for a region of that size, whole extents; wished: 0 = the usual part. */
uint64_t net_pool_bytes(uint64_t region, uint64_t wished);

void net_pool_join(struct net_pool *p, struct net_pool_member *m);
/* Its rings, if it has some, rest. */
void net_pool_leave(struct net_pool *p, struct net_pool_member *m, uint64_t now_ns);
/* To the end of the line. The member has no rings. */
void net_pool_want(struct net_pool *p, struct net_pool_member *m, const struct net_ring_want *want);
/* True if the first of the line could get rings: it has them. */
bool net_pool_grant(struct net_pool *p, uint64_t now_ns);
/* The member gives its rings back; none of its WRITEs is under way. */
void net_pool_give(struct net_pool *p, struct net_pool_member *m);
/* While members wait, call it each millisecond: marks members as asked. True if there is a new
 * one. */
bool net_pool_ask(struct net_pool *p, uint64_t now_ns);

/* True if the sizes are powers of two within the limits, and the least are not the larger ones. */
bool net_pool_sound(const struct net_ring_want *want);

#endif
