/*
 * bell.h -- how far a service's own thread is, for callers that sleep until it is so far.
 *
 * A request says which number its caller waits for (net_request.tell). When the thread rings the
 * bell, it sends a byte to each caller whose number has been reached, past the shard: so a caller
 * wakes one thread after the ringing one. Only clients of the same host can be roused, whose
 * connection is a UNIX socket: such a byte goes whole, and never into the middle of what the shard
 * says.
 *
 * A ring is a hint. A caller looks by other means at what it waits for, after each byte and from
 * time to time without one. So a ring too many does no harm, and one that is lost costs a pause.
 */
#ifndef NAM_NET_BELL_H
#define NAM_NET_BELL_H

#include <stdatomic.h>
#include <stdint.h>

enum { NET_BELL_SLEEPERS = 1024 }; /* further ones are not roused */

struct net_sleeper {
	_Atomic uint64_t want; /* a  the shard sets it, the ringing thread takes it; 0 = nothing */
	_Atomic uint64_t last; /* a  the shard: the number of its last request */
	_Atomic int fd;        /* a  the shard: its connection, plus 1; 0 = no sleeper */
};

/* Zeros at first. One thread rings it, one shard does the rest. */
struct net_bell {
	/* seq_cst: the shard stores a number and then looks at `reached`, the ringing thread stores
	 * `reached` and then looks at the numbers. */
	_Atomic uint64_t reached;
	_Atomic unsigned used; /* of sleeper[]; only grows */
	/* A connection is closed only behind `want` = 0 and a look at this: then no byte is on its
	 * way to it. */
	atomic_bool ringing;
	unsigned taken; /* the shard's: sleepers with a connection */
	struct net_sleeper sleeper[NET_BELL_SLEEPERS];
};

/* No system call if no caller sleeps. */
void net_bell_ring(struct net_bell *b, uint64_t reached);

/* The ringing thread's: rouses that caller, whatever it waits for. s may be NULL, or meanwhile that
 * of another caller. */
void net_bell_rouse(struct net_bell *b, struct net_sleeper *s);

/* The shard's: the client of that connection waits for a number. *s is its place, NULL at first. */
void net_bell_tell(struct net_bell *b, struct net_sleeper **s, int fd, uint64_t number);
/* The shard's: *s is the place of that connection, which net_bell_rouse rouses. */
void net_bell_note(struct net_bell *b, struct net_sleeper **s, int fd);
/* Before the connection is closed. */
void net_bell_forget(struct net_bell *b, struct net_sleeper *s);

#endif
