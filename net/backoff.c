/* backoff.c -- the pauses of a coroutine that waits for a change by another process or
 * coroutine. */
#include <net/net.h>

uint64_t
net_back_off(struct net_worker *w, struct net_backoff *b)
{
	uint32_t n = b->tries++;
	if (n < b->yields) {
		nam_co_yield();
		return 0;
	}
	uint32_t doublings = (n - b->yields) / (b->hold > 1 ? b->hold : 1);
	uint64_t ns = b->base_ns;
	for (; doublings > 0 && ns < b->cap_ns; doublings--)
		ns *= 2;
	if (ns > b->cap_ns)
		ns = b->cap_ns;
	if (b->dice)
		ns = ns / 2 + nam_rng_below(net_rng(w), ns);
	net_sleep(w, ns);
	return ns;
}
