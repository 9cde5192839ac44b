/* paper.h -- `namdb bench join --sim` and `agg --sim`: the NAM paper's figures 7 and 8. */
#ifndef NAM_BENCH_OLAP_PAPER_H
#define NAM_BENCH_OLAP_PAPER_H

int bench_join_sim(int argc, char **argv);
int bench_agg_sim(int argc, char **argv);

#endif
