/*
 * fragment.h -- the parts of a plan that several workers run side by side.
 *
 * A fragment is a pipeline: it begins with a scan of a table, whose extents the workers share, and
 * each batch of it goes through filters, projections and the probe sides of joins. It ends below an
 * operator that needs all rows: that one gathers what the workers have made. Workers give rows,
 * after a sort under a LIMIT the first ones of theirs, sorted rows, or partial groups.
 */
#ifndef NAM_SQL_FRAGMENT_H
#define NAM_SQL_FRAGMENT_H

#include <sql/plan/op.h>

struct sql_fragment {
	struct sql_fragment *next;  /* of the plan */
	unsigned number;            /* in the order in which they are found */
	struct sql_node *at;        /* gathers: `at` and what is below it have several authors */
	struct sql_node *top;       /* run by a helper: at, or the sort above it */
	struct sql_node *pipe;      /* the pipeline's last operator: at, or below it if it groups */
	struct sql_op_scan *scan;   /* the pipeline's first operator */
	bool groups;                /* at is a GROUP BY, and helpers give partial groups */
	bool runs;                  /* at is a sort, and helpers give sorted rows */
	unsigned *col, cols;        /* else: the columns of a batch that go */
	double rows;                /* guessed: rows that the scan reads */
	struct sql_run_gather *run; /* exec/state.h */
};

/* Finds the fragments of a plan of SELECT, its subqueries' too. False if there is no memory. */
bool sql_plan_fragments(struct sql_plan *p, struct cat_err *err);
/* DISTINCT where the order of values cannot show: each is added when it is new. */
bool sql_agg_is_set(const struct sql_agg *g);
/* True if it gives every worker of a statement the same value. */
bool sql_fn_is_steady(const struct sql_fn *fn);
/* fixed.c: what f looks into (kept sides of its joins, answers of p's subqueries) is the same in
 * each process that makes it at one snapshot. */
bool sql_fragment_is_fixed(const struct sql_plan *p, const struct sql_fragment *f);
/* Two plans with one number are alike: their operators, expressions, tables and arenas. */
uint64_t sql_plan_number(const struct sql_plan *p);
/* The tables that the plan reads, and how many rows each is taken to have: a plan made with them is
 * the same one. How many; 0 = more than max. */
unsigned sql_plan_hints(const struct sql_plan *p, struct cat *c, struct sql_hint *out, unsigned max);

#endif
