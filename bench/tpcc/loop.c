/* loop.c -- what a client of TPC-C does, whatever its interface: it draws a transaction, has
 * it carried out, and counts. */
#include "tpcc.h"

enum {
	PATIENCE = 4, /* conflicts in a row, before a client waits */
	PAUSE_NS = 20000,
	PAUSE_CAP_NS = 2000000,
};

void
bench_tpcc_pause(const struct cn_place *pl, unsigned tries, struct net_backoff *pause)
{
	pause->base_ns = PAUSE_NS;
	pause->cap_ns = PAUSE_CAP_NS;
	if (tries >= PATIENCE)
		net_back_off(pl->net, pause);
}

void
bench_tpcc_loop(struct tpcc_side *s, const struct cn_place *pl, unsigned number, struct bench_slice *out,
    const atomic_bool *stop, const struct tpcc_hand *hand)
{
	struct tpcc_order o;
	struct nam_rng dice;
	nam_status st = NAM_OK;
	nam_rng_init(&dice, s->seed + number * 7919u + out->round * UINT64_C(104729));
	uint64_t ended = net_now_ns(pl->net), done[TPCC_KINDS] = { 0 }, trips[TPCC_KINDS] = { 0 };
	while (st == NAM_OK && !atomic_load_explicit(stop, memory_order_relaxed) &&
	       !atomic_load_explicit(&s->full, memory_order_relaxed)) {
		if (s->p->pause_ms > 0) {
			net_sleep(pl->net, (uint64_t)(s->p->pause_ms * 1e6));
			ended = net_now_ns(pl->net);
		}
		bench_tpcc_draw(&o, &dice, s->p, (int32_t)(number % s->p->warehouses) + 1);
		/* Closed loop: the next one begins when the last one has been answered. */
		uint64_t began = ended;
		struct tpcc_done d = { 0 };
		st = hand->carry_out(hand->arg, &o, (int64_t)(began / 1000) + 1, stop, &d);
		out->aborts += d.aborts;
		if (st == NAM_CONFLICT) {
			st = NAM_OK; /* all clients shall stop */
		} else if (st == NAM_OK && d.refused) {
			out->refused++;
		} else if (st == NAM_OK) {
			out->commits++;
			done[o.what]++;
			trips[o.what] += d.round_trips;
			ended = net_now_ns(pl->net);
			nam_hist_add(&out->latency_ns, ended - began);
		}
	}
	if (st == NAM_FULL)
		atomic_store(&s->full, true);
	else
		out->errors += st != NAM_OK;
	for (unsigned i = 0; i < TPCC_KINDS; i++) {
		atomic_fetch_add(&s->ended[i], done[i]);
		atomic_fetch_add(&s->trips[i], trips[i]);
	}
	if (out->round > 0)
		atomic_fetch_add(&s->new_orders, done[TPCC_NEW]);
}
