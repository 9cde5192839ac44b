/*
 * join_seeds.h -- a join that a seed describes: sizes, keys, kind, algorithm, participants, and
 * what goes wrong; and whether what came out may have come out.
 */
#ifndef NAM_OLAP_JOIN_SEEDS_H
#define NAM_OLAP_JOIN_SEEDS_H

#include "join_model.h"

enum trouble {
	T_NONE,
	T_HELPER_DIES,
	T_MAKER_DIES,
	T_RUMOUR, /* a helper that lives is fenced */
	T_FREEZE,
	T_CANCEL,
	T_FULL, /* the regions are small */
	T_TROUBLES
};

static inline struct world
world_of(uint64_t seed, enum trouble trouble)
{
	static const uint32_t width[] = { 16, 16, 16, 24, 40 };
	struct nam_rng d;
	nam_rng_init(&d, seed * 7 + 1);
	struct world x = {
		.seed = seed, .called = seed % 2, .participants = 1 + (unsigned)nam_rng_below(&d, 3)
	};
	if (trouble != T_NONE && x.participants == 1)
		x.participants = 2;
	for (unsigned s = 0; s < 2; s++) {
		x.n[s] = (unsigned)nam_rng_below(&d, nam_rng_below(&d, 4) == 0 ? 40 : 4000);
		x.width[s] = width[nam_rng_below(&d, 5)];
		if (nam_rng_below(&d, 4) == 0)
			x.heavy[s] = x.n[s] / 10;
	}
	if (x.heavy[0] > 0 && x.heavy[1] > 0)
		x.heavy[0] = 1;
	x.keys = 1 + (unsigned)nam_rng_below(&d, 8000);
	x.join.kind = (enum olap_kind)nam_rng_below(&d, OLAP_KINDS);
	x.join.algorithm = (enum olap_algorithm)nam_rng_below(&d, 3);
	if (x.join.kind == OLAP_FULL)
		x.join.algorithm = OLAP_RRJ;
	/* Many partitions: a participant's windows lie on several nodes. */
	x.join.bits = (unsigned)(nam_rng_below(&d, 4) == 0 ? 8 + nam_rng_below(&d, 2) : nam_rng_below(&d, 6));
	x.join.workers = x.participants;
	x.join.cache = UINT64_C(512) << nam_rng_below(&d, 10);
	x.long_keys = nam_rng_below(&d, 4) == 0;
	for (unsigned s = 0; s < 2; s++)
		x.fed[s] = x.join.algorithm != OLAP_BROADCAST && nam_rng_below(&d, 3) == 0;
	x.delay_permille = 20;
	uint64_t soon = 20000 + nam_rng_below(&d, 900000);
	x.rumour_ns = trouble == T_RUMOUR ? soon : 0;
	x.freeze_ns = trouble == T_FREEZE ? soon : 0;
	/* Shorter than a lease, or so long that the others do its work and end. */
	x.stall_ns = nam_rng_below(&d, 2) == 0 ? 2000000 : 20000000000;
	x.cancel_ns = trouble == T_CANCEL ? soon : 0;
	x.who = trouble == T_HELPER_DIES ? 1 : 0;
	if (trouble == T_HELPER_DIES || trouble == T_MAKER_DIES)
		x.crash = 1 + nam_rng_below(&d, 250);
	if (trouble == T_FULL)
		x.bytes = (5 << 18) + nam_rng_below(&d, 9 << 18);
	return x;
}

/* NULL, or what must not be. */
static inline const char *
judge(struct world *x, enum trouble trouble)
{
	uint64_t left = x->before - cluster_free(&x->c);
	bool dead = net_sim_crashed(x->c.net[x->who]) || net_sim_shut(x->c.net[1]);
	if (left > (dead ? BILL_LOST : 0))
		return "extents are lost";
	if (x->ended == NAM_OK) {
		struct answer want = naive(x);
		return x->got.pairs != want.pairs ? "the number of pairs is wrong"
		       : x->got.sum != want.sum   ? "the pairs are wrong"
						  : NULL;
	}
	if (trouble == T_MAKER_DIES && net_sim_crashed(x->c.net[0]))
		return NULL;
	if (trouble == T_CANCEL && x->ended == NAM_CANCELLED)
		return NULL;
	if (trouble == T_FULL && x->ended == NAM_FULL)
		return NULL;
	return nam_status_name(x->ended);
}

#endif
