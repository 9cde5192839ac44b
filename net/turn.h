/* turn.h -- how long a worker's coroutines keep its thread. */
#ifndef NAM_NET_TURN_H
#define NAM_NET_TURN_H

#include <stdint.h>

struct net_worker;

/*
 * Turns: what a worker's coroutines compute before they give the thread back, in CPU time of its
 * thread, which may be up to a millisecond too much. at_least[k] counts turns of net_turn_ms[k] or
 * more. Shorter turns are not counted. Any thread.
 */
enum { NET_TURN_STEPS = 11 };
extern const unsigned net_turn_ms[NET_TURN_STEPS];
struct net_turns {
	uint64_t longest_ns, at_least[NET_TURN_STEPS];
};
/* The longer one of both, and the sums. */
void net_worker_turns(const struct net_worker *w, struct net_turns *into);

#endif
