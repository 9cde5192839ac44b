/*
 * sub.h -- a subquery of an expression: a plan of its own, asked for one value per outer row.
 *
 * In the expression it is a SQL_SUB over what it needs of the outer row: the values ANY
 * and ALL compare, then the columns it uses. Before it runs they lie in slots
 * (env->outer), where SQL_OUTER in its plan finds them. What no slot changes is found
 * once per execution and kept; `x = ANY`, and EXISTS whose only ties to the outside are
 * equalities, then become a question to a hash table.
 */
#ifndef NAM_SQL_SUB_H
#define NAM_SQL_SUB_H

#include <sql/plan/plan.h>

struct sql_sub {
	struct sql_sub *next, *up; /* of the plan; around this one, or NULL */
	enum ast_sub kind;
	struct sql_node *root;
	/* Tied to the outside by equalities alone: all answers at once, their keys behind. NULL: it
	 * is not. */
	struct sql_node *set;
	unsigned patience; /* so many outer rows are answered one by one first */
	unsigned *slot;    /* where argument i goes */
	unsigned slots, slot_cap;
	unsigned arena;            /* batch arena of its own; + 1: what is kept */
	unsigned *arenas, narenas; /* its operators' */
	bool once;                 /* its rows depend on no slot */
	bool varies;               /* a query of WITH that it reads depends on a row outside of that
				    * WITH */
	bool reads_target;         /* the table that the statement changes is among its tables */
	bool early;                /* found before the statement changes anything */

	/* ANY, ALL: one row of the answer compared; over its columns and slots: true, false or
	 * NULL */
	struct sql_expr *cmp;
	/* The answer as a set: left, over slots, is in it or not. */
	bool hashed, negate; /* negate: <> ALL */
	bool two;            /* NULLs count as false: EXISTS; and IN where that changes no answer */
	struct sql_expr **left, **right;
	unsigned keys;
	/* EXISTS: what a row of the set must fulfil besides equal keys, over slots and over columns
	 * of rs. NULL = nothing. */
	struct sql_expr *rest;
	unsigned extra;   /* columns of rs behind the keys: a scalar's value, or what rest reads */
	bool joined;      /* a SQL_NODE_SEMI asks it, which has its set for a child */
	double asked_est; /* guessed: outer rows that ask */

	/* while bound: ties to the outside, as SQL_OUTER and what they are there */
	struct sql_expr **tie, **tied;
	unsigned ties, tie_cap;

	struct sql_run_sub *run; /* exec/state.h */
};

/* True if the rows that are expected to ask are all answered one by one. */
static inline bool
sql_sub_is_patient(const struct sql_sub *s)
{
	return s->set != NULL && s->asked_est > 0 && s->asked_est <= s->patience;
}

enum { SQL_SUB_KEYS = 64, SQL_SUB_LEVELS = 32 };

#endif
