/* ring.h -- the two ends of a ring as code: how messages are written (ring_format.h), and when they
 * are believed. */
#ifndef NAM_NET_RING_H
#define NAM_NET_RING_H

#include <net/ring/ring_format.h>

#include <stdbool.h>
#include <stddef.h>

/* The writer's end. `mirror` is its copy of the ring: WRITEs are posted from there. */
struct net_ring_out {
	char *mirror;
	uint32_t bytes;
	uint64_t pos; /* all before it was put */
	uint64_t seed;
	uint32_t number; /* of the next message */
};

/* A piece of the mirror to be WRITTEN to the same place of the ring. */
struct net_ring_run {
	uint32_t at, len;
};

/* Where the message after the next would begin, if the next has that payload. */
uint64_t net_ring_after(const struct net_ring_out *r, uint32_t payload);
/*
 * Puts a message into the mirror. The caller has made sure that its place is free. Returns how many
 * runs there are, 1 or 2, to be WRITTEN in order.
 */
unsigned net_ring_put(struct net_ring_out *r, unsigned flags, uint64_t about, const void *payload,
    uint32_t len, struct net_ring_run run[2]);

/* Makes a piece of a ring read as zeros. */
void net_ring_empty(char *at, uint32_t len);

/* The reader's end. */
struct net_ring_in {
	char *ring; /* the writer WRITEs here at any moment */
	uint32_t bytes;
	uint64_t pos;
	uint64_t seed;
	uint32_t number;
};

enum net_ring_sight {
	NET_RING_NOTHING,
	NET_RING_PART,  /* under way */
	NET_RING_ODD,   /* under way, or never sound: bytes that a writer never leaves for long */
	NET_RING_WHOLE, /* taken: copied, proved, its place emptied */
};

struct net_ring_message {
	unsigned flags;
	uint64_t about;
	uint32_t len;
};

/* Takes the next message, if it has come whole; its payload goes to `into`, which holds `room`
 * bytes. A longer one is ODD. */
enum net_ring_sight net_ring_take(
    struct net_ring_in *r, void *into, uint32_t room, struct net_ring_message *m);

#endif
