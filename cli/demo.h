/* demo.h -- the two halves of `namdb demo`: demo.c starts a cluster, demo_data.c fills it. */
#ifndef NAM_CLI_DEMO_H
#define NAM_CLI_DEMO_H

#include <compute_node/cn.h>

/* Loads a small shop: customers, products, orders, order_lines; always those rows. False if it
 * failed; stderr says why. */
bool demo_load(struct cn *cn, bool quiet);
/* True if the database has tables. */
bool demo_has_tables(struct cn *cn);

#endif
