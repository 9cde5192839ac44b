/* demo.h -- the two halves of `namdb demo`: demo.c starts a cluster, demo_data.c fills it. */
#ifndef NAM_CLI_DEMO_H
#define NAM_CLI_DEMO_H

#include <compute_node/cn.h>

/* A small shop: customers, products, orders, order_lines; the same rows every time. false: said on
 * stderr. */
bool demo_load(struct cn *cn, bool quiet);

#endif
