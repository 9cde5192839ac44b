/* explain.h -- EXPLAIN's findings, which out.c prints. Inside of sql. */
#ifndef NAM_SQL_EXPLAIN_H
#define NAM_SQL_EXPLAIN_H

#include <sql/exec/meter.h>

struct sql_report {
	const struct ast_explain *how;
	const struct sql_plan *plan;
	const struct sql_gauge *gauge; /* NULL = it did not run */
	struct nam_arena **memory;     /* of its operators and subqueries */
	uint64_t planned_ns, ran_ns;
	bool committed;
	uint8_t floats;   /* how constants show floats: cat_value_show's */
	unsigned workers; /* that may share a fragment; 1 = none does */
	double parallel_rows;
	struct net_counts operators, total; /* what all operators did; what all did, by the
					     * account */
};

/* A text that grows in an arena. */
struct sql_text {
	struct nam_arena *arena;
	char *p;
	size_t n, cap;
	bool failed; /* no memory */
};
void sql_text_add(struct sql_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A condition of n at t's end, and what it is called. NULL: there is none of that kind, nothing was
 * written. */
enum sql_condition { SQL_CONDITION_KEYS, SQL_CONDITION_ON, SQL_CONDITION_FILTER, SQL_CONDITIONS };
const char *sql_explain_condition(
    const struct sql_report *r, struct sql_text *t, const struct sql_node *n, enum sql_condition which);

/*
 * The k-th key of a Sort or of groups at t's end, and what they are called. NULL = there is none,
 * nothing was written.
 */
const char *sql_explain_key(
    const struct sql_report *r, struct sql_text *t, const struct sql_node *n, unsigned k);

/* What is said of how n works at t's end, and what it is called. NULL: nothing, and nothing was
 * written. */
enum sql_fact { SQL_FACT_ALGORITHM, SQL_FACT_COST, SQL_FACT_TOOK, SQL_FACTS };
const char *sql_explain_fact(
    const struct sql_report *r, struct sql_text *t, const struct sql_node *n, enum sql_fact f);
void sql_explain_terms_json(struct sql_text *t, const struct sql_node *n);
/* Of the whole plan. */
void sql_explain_terms_end(const struct sql_report *r, struct sql_text *t);
/* How many workers share what is gathered at n; 0 = it is not. */
unsigned sql_explain_sharing(const struct sql_report *r, const struct sql_node *n);

/* names.c: tables that are called alike get different names, once. */
void sql_explain_names(struct sql_plan *p);

/* The tree, while its tables are there for sure; then what is known at the very end. */
void sql_explain_plan(const struct sql_report *r, struct sql_text *out);
void sql_explain_end(const struct sql_report *r, struct sql_text *out);

#endif
