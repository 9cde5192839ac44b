/* mix.h -- the way of SmallBank and TATP: a mix of short transactions, for real on a compute node,
 * or on a model (sim/cluster.h). */
#ifndef NAM_BENCH_MIX_H
#define NAM_BENCH_MIX_H

#include <bench/sim/cluster.h>

/* own: the bench's options, which end with an empty one. An exit code. */
int bench_mix_main(
    int argc, char **argv, const struct option *own, void *params, const struct bench_sim_user *u);
/* The lines of the usage that are not the bench's own. */
void bench_mix_usage(FILE *to);
/* bench_sim_user.more of such a bench: round trips and refusals. */
void bench_mix_more(const struct bench_sim_point *at, const struct bench_sim *p);

#endif
