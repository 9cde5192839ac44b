/*
 * crowd.h -- strangers at a door, by where they come from: which of them gives way when there are
 * too many. The place that most of them come from loses its oldest one, so a crowd from one place
 * keeps out no stranger from another.
 *
 * Not for several threads at once.
 */
#ifndef NAM_BASE_CROWD_H
#define NAM_BASE_CROWD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct nam_origin;

/* Part of a stranger. Zeros: it is in no crowd. */
struct nam_in_crowd {
	struct nam_origin *of;
	struct nam_in_crowd *older, *newer;
	uint64_t turn;
};

enum { NAM_CROWD_BUCKETS = 256 };
/* Zeros: an empty one. */
struct nam_crowd {
	unsigned count;
	uint64_t turns;
	struct nam_origin *origin[NAM_CROWD_BUCKETS];
};

/* The place that an address stands for: the address without its port; of IPv6, its first 64 bits;
 * 0 for a UNIX socket. */
uint64_t nam_crowd_origin(const struct sockaddr_storage *a);
/* False: no memory. */
bool nam_crowd_enter(struct nam_crowd *c, struct nam_in_crowd *m, uint64_t origin);
/* Nothing happens if it is in no crowd. */
void nam_crowd_leave(struct nam_crowd *c, struct nam_in_crowd *m);
/* The one that is to go; NULL = the crowd is empty. Takes a walk over the places. */
struct nam_in_crowd *nam_crowd_first_to_go(const struct nam_crowd *c);

#endif
