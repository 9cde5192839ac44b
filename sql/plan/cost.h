/*
 * cost.h -- the cost of an operator, in microseconds: round trips, bytes over the fabric, memory
 * and CPU.
 *
 * After Binnig et al. 2016, §3.2 and §5.1: the cost of an access is w * |R| * c per byte, with one
 * c for the fabric and one for memory; here c also has a part per round trip and per row. The
 * figures are measured when a compute process starts, so plans fit the fabric they run over. Each
 * of them belongs to one term, network, memory or CPU, and the cost is the sum of the three.
 */
#ifndef NAM_SQL_COST_H
#define NAM_SQL_COST_H

#include <sql/plan/plan.h>

/* All in nanoseconds. trip, verb and byte are the network's, row and value the CPU's, the others
 * memory's. */
struct sql_costs {
	double trip;      /* a small READ, from the call to its bytes */
	double verb;      /* each further one of the same doorbell */
	double byte;      /* over the fabric, in large READs */
	double row;       /* finding a visible row in bytes that are here */
	double value;     /* decoding, copying or comparing one value */
	double hash_near; /* asking a hash table that the cache holds */
	double hash_far;  /* one that it does not */
	double cache;     /* bytes it holds */
};
extern const struct sql_costs sql_costs_standard;
/* sql_costs_measure (sql.h) measures them, by these. c: the standard ones before. In a coroutine;
 * false: the fabric does not answer. */
bool sql_costs_of_fabric(struct net_worker *w, net_addr at, struct sql_costs *c);
void sql_costs_of_processor(struct sql_costs *c);
/* What was measured, or the standard ones. */
const struct sql_costs *sql_costs_now(void);

/* What a side of a join is, for the estimates below. cost: microseconds. */
struct sql_cost_side {
	double rows, cost;
	double width; /* bytes of a row */
};

/* Of scanning a table of that many rows; values: columns wanted, and what conditions look at. */
double sql_cost_scan(const struct sql_costs *c, const struct cat_table *t, double rows, unsigned values);
/* Of looking up so many rows by their key, a batch at a time. */
double sql_cost_lookup(const struct sql_costs *c, const struct cat_table *t, double rows, unsigned values);
/* Of finding so many rows by an index: leaves, and a READ for each row. */
double sql_cost_index(const struct sql_costs *c, const struct cat_table *t, double rows, unsigned values);
/* Of finding so many rows by an index whose keys tell all that is wanted. */
double sql_cost_index_only(const struct sql_costs *c, double rows, unsigned values);
/* Of so many entries of an index alone. */
double sql_cost_entries(const struct sql_costs *c, double entries);
/* Of finding for each of so many rows `found` others by an index. together: keys are sought many at
 * a time; else each has a range of its own. */
double sql_cost_index_join(const struct sql_costs *c, const struct cat_table *t, double rows, double found,
    bool together, unsigned values);
/* True if so many rows may look up a table of so many. A scan whose pages are kept, and a hash
 * table, cost a fraction of the estimate: beyond a batch, lookups have to be few. */
bool sql_cost_few(double rows, double of);
/* Of a join beyond its sides: keys 0 = all pairs. out: rows that come out. */
double sql_cost_join(const struct sql_costs *c, const struct sql_cost_side *probe,
    const struct sql_cost_side *build, unsigned keys, double out);
double sql_cost_sort(const struct sql_costs *c, double rows, double width);
double sql_cost_group(const struct sql_costs *c, double rows, double groups, double width, unsigned aggs);

/* Values an expression looks at. */
unsigned sql_cost_values(const struct sql_expr *e);
/* Bytes a value of that type takes in a batch, as a guess. */
unsigned sql_cost_type_width(enum cat_type type, int32_t typmod);
/* Fills est_width, est_cost and its terms of a tree whose est_rows are known. What is filled
 * stays. */
void sql_cost_tree(const struct sql_costs *c, struct sql_node *n);

#endif
