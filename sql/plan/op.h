/*
 * op.h -- the operators of a plan: one struct for each kind, with the planner's decisions and
 * nothing else.
 *
 * The first member is the node, which all operators have in common. Bind and plan write the members
 * below it; execution only reads them. The state of a running operator lies at `run`, a struct of
 * its own that only the operator's file and exec/state.h know. So running a tree does not change
 * it.
 */
#ifndef NAM_SQL_OP_H
#define NAM_SQL_OP_H

#include <base/assert.h>
#include <sql/plan/plan.h>

/* LIMIT and OFFSET. */
struct sql_limits {
	struct sql_expr *limit, *offset; /* NULL = none */
};

struct sql_op_one {
	struct sql_node node;
	struct sql_run_one *run;
};

struct sql_op_values {
	struct sql_node node;
	struct sql_expr **e; /* rows x cols */
	unsigned cols, rows;
	struct sql_run_values *run;
};

struct sql_op_scan {
	struct sql_node node;
	struct sql_access acc;
	struct sql_run_scan *run;
};

/* Without a child: probes x keys expressions. With one: keys expressions over each of its rows. */
struct sql_op_get {
	struct sql_node node;
	struct sql_access acc;
	struct sql_expr **key;
	unsigned keys, probes;
	unsigned each;          /* key[each - 1] is an array, and every element of it makes a
				 * probe; 0 = none is */
	unsigned *pass, passes; /* columns of the child that are used above */
	bool keep_probe;        /* rows of the child without a partner come with NULLs */
	struct sql_run_get *run;
};

/* What a condition says of a column of an index's key. */
struct sql_index_key {
	enum sql_index_by {
		SQL_INDEX_VALUE, /* it is value[0] */
		SQL_INDEX_LIST,  /* it is one of value[0..values) */
		SQL_INDEX_ARRAY, /* it is an element of value[0] */
		SQL_INDEX_NULL,  /* it is NULL */
	} by;
	struct sql_expr **value;
	unsigned values;
};

/* Keys whose first columns are as key[0..keys) says, and whose next column lies between bounds. */
struct sql_index_part {
	struct sql_index_key *key;
	unsigned keys;
	struct sql_expr *low, *high; /* NULL = without that bound */
	bool low_open, high_open;    /* the bound itself does not belong to it */
	bool not_null;               /* the next column is not NULL; so with a bound */
};

/* One of several indexes that lead to rows together. */
struct sql_index_leg {
	unsigned index;
	struct sql_index_part *part;
	unsigned parts;
	double est_entries;
};

/*
 * Rows of acc.tab by one of its indexes, in the order of the index or backward: those of all
 * parts, each once. Keys that are cut in the index may bring rows that differ: then the conditions
 * are also in the filter. With a child: for each of its rows those of part[0], whose keys are
 * expressions over it.
 *
 * With legs: rows in blocks that entries of all legs lead to, or of any of them, in no order. All
 * conditions are in the filter.
 */
struct sql_op_index {
	struct sql_node node;
	struct sql_access acc;
	unsigned index; /* its number in acc.tab->index */
	struct sql_index_part *part;
	unsigned parts;
	bool backward;
	bool ordered;           /* the order is what the query asks for */
	unsigned presorted;     /* or it is by so many of the first columns, 0 = by none */
	unsigned expect;        /* rows that will be read, 0 = not known */
	double est_found;       /* rows read; with a child: for one of its rows */
	unsigned *pass, passes; /* columns of the child that are used above */
	bool keep_probe;        /* rows of the child without a partner come with NULLs */
	struct sql_index_leg *leg;
	unsigned legs; /* 0 = index and part say it, else two and more */
	bool all;      /* of all legs; else of any */
	struct sql_run_index *run;
};

/* True if rows by this index come out of its keys: the columns that the operator wants are in them,
 * and no operator above locks or changes the rows. */
bool sql_index_tells(const struct sql_access *a, unsigned index);
bool sql_index_only(const struct sql_op_index *o);

/* The child is the probe side, build the kept side. */
struct sql_op_join {
	struct sql_node node;
	struct sql_expr **key, **build_key;
	unsigned keys;
	unsigned *build_col, *probe_col;
	enum cat_type *build_type, *probe_type;
	unsigned build_cols, probe_cols;
	unsigned build_width, *kept; /* what is kept: columns of build's batch, or SQL_KEPT_KEY: a
				      * key */
	unsigned *build_at, *key_at; /* where among that build_col and the keys are */
	struct sql_op_join *share;   /* the join that keeps the rows for this one; NULL = itself */
	struct sql_expr *on;         /* what a pair must fulfil besides equal keys */
	bool keep_probe, keep_build; /* rows of that side without a partner come with NULLs */
	struct sql_run_join *run;
};

/* Groups come out as keys, then results. */
struct sql_op_agg {
	struct sql_node node;
	struct sql_expr **key;
	unsigned keys;
	struct sql_agg *agg;
	unsigned aggs;
	struct sql_run_agg *run;
};

struct sql_op_project {
	struct sql_node node;
	struct sql_expr **e;
	unsigned es;
};

struct sql_op_sort {
	struct sql_node node;
	struct sql_sort_key *order;
	unsigned orders;
	enum cat_type *type; /* of its columns, all of which it keeps */
	unsigned cols;
	struct sql_limits most; /* only so many of the rows matter */
	unsigned presorted;     /* rows come in the order of so many first keys, 0 = in any */
	double est_values;      /* of the first key; 0 = not known */
	struct sql_run_sort *run;
};

struct sql_op_limit {
	struct sql_node node;
	struct sql_limits most;
	bool ties; /* and all rows alike in columns tie[0..tied) with the last one */
	unsigned *tie, tied;
	struct sql_run_limit *run;
};

/* The rows of one kid after the other. */
struct sql_op_append {
	struct sql_node node;
	struct sql_node **kid;
	unsigned kids;
	struct sql_run_append *run;
};

/* INTERSECT and EXCEPT: child, without or with build. */
struct sql_op_setop {
	struct sql_node node;
	enum ast_setop op;
	bool all;
	enum cat_type *type;
	unsigned cols;
	struct sql_run_setop *run;
};

/* generate_series: from, to and, it may be, by. */
struct sql_op_series {
	struct sql_node node;
	struct sql_expr **e;
	unsigned es;
	enum cat_type type;
	struct sql_run_series *run;
};

/* The child's rows, then build's over those that came last. */
struct sql_op_recurse {
	struct sql_node node;
	struct sql_cte *work; /* where build finds them: two arenas by turns */
	bool all, again;      /* again: build reads them; else one round is all */
	unsigned *own, owns;  /* arenas of the recursive term */
	struct sql_run_recurse *run;
};

/* Reads what cte keeps. */
struct sql_op_cte {
	struct sql_node node;
	struct sql_cte *cte;
	struct sql_run_cte *run;
};

/* The child's narrow batch at acc.base of a wide one. */
struct sql_op_derived {
	struct sql_node node;
	struct sql_access acc;
};

struct sql_op_window {
	struct sql_node node;
	struct sql_window *win; /* window.h */
	struct sql_run_window *run;
};

/* FOR UPDATE: all rows locked before the first comes out. */
struct sql_op_lock {
	struct sql_node node;
	struct sql_lock *lock;
	unsigned locks;
	enum cat_type *type; /* of the columns it keeps; those that say which row it is are behind
			      * them */
	unsigned cols;
	struct sql_limits most;
	struct sql_run_lock *run;
};

/* For each of the child's rows, the rows of build, sub's plan, which depends on it. */
struct sql_op_lateral {
	struct sql_node node;
	struct sql_access acc;
	struct sql_sub *sub;    /* the values it needs of the child's row, and their places */
	unsigned *pass, passes; /* columns of the child that are used above */
	enum cat_type *type;    /* theirs */
	struct sql_expr *on;    /* which partners match */
	bool keep_probe;        /* rows of the child without a partner come with NULLs */
	struct sql_run_lateral *run;
};

/* The child's rows, once for every grouping set: its keys behind, then its number. */
struct sql_op_expand {
	struct sql_node node;
	struct sql_expr **e; /* the keys */
	unsigned keys, sets;
	const uint8_t *in; /* sets x keys: is it one of the set's? */
	struct sql_run_expand *run;
};

/*
 * A semijoin or an antijoin: the child's rows that have a partner in the set that answers sub,
 * which is build, or that have none. key[] is what sub->left is of the child's rows; sub->right are
 * the set's keys.
 */
struct sql_op_semi {
	struct sql_node node;
	struct sql_sub *sub; /* sub.h */
	bool anti;
	struct sql_expr **key;
	unsigned keys;
	struct sql_expr *each; /* the condition itself: for when the set cannot be made */
	/* sub->rest over pairs: sub->extra columns of the set, then outer[] over the child's row.
	 * NULL = equal keys are all */
	struct sql_expr *rest, **outer;
	unsigned outers;
	struct sql_run_semi *run;
};

/* The child's rows with arrays taken apart. */
struct sql_op_unnest {
	struct sql_node node;
	const uint8_t *apart; /* per column of the child, is it such an array? Its elements are of
			       * type[] */
	enum cat_type *type;
	struct sql_run_unnest *run;
};

/* DISTINCT ON: of sorted rows alike in columns col[0..cols) the first. */
struct sql_op_unique {
	struct sql_node node;
	unsigned *col, cols;
	enum cat_type *type; /* theirs */
	struct sql_run_unique *run;
};

/* sql_op(sort, n): n as the operator that it must be; of a const node a const operator. */
#define SQL_OP_CASTS(KIND, name)                                                                             \
	static inline struct sql_op_##name *sql_op_##name##_of(struct sql_node *n)                           \
	{                                                                                                    \
		NAM_ASSERT(n->kind == SQL_NODE_##KIND);                                                      \
		return (struct sql_op_##name *)n;                                                            \
	}                                                                                                    \
	static inline const struct sql_op_##name *sql_op_##name##_const(const struct sql_node *n)            \
	{                                                                                                    \
		NAM_ASSERT(n->kind == SQL_NODE_##KIND);                                                      \
		return (const struct sql_op_##name *)n;                                                      \
	}
SQL_NODE_KINDS(SQL_OP_CASTS)
#undef SQL_OP_CASTS
#define sql_op(name, n)                                                                                      \
	_Generic((n), struct sql_node *              \
		 : sql_op_##name##_of, const struct sql_node * \
		 : sql_op_##name##_const)(n)

/*
 * The inputs of an operator, as places of pointers: the plans of WITH that begin and end with it,
 * child, build, the kids of APPEND. for (struct sql_inputs i = sql_inputs(n); (k =
 * sql_input_next(&i)) != NULL;)
 */
struct sql_inputs {
	struct sql_node *n;
	struct sql_cte *with;
	unsigned at;
};

static inline struct sql_inputs
sql_inputs(const struct sql_node *n)
{
	return (struct sql_inputs){ .n = (struct sql_node *)(uintptr_t)n, .with = n->with };
}

/* The inputs without the plans of WITH: the sources of its rows. */
static inline struct sql_inputs
sql_sources(const struct sql_node *n)
{
	return (struct sql_inputs){ .n = (struct sql_node *)(uintptr_t)n };
}

struct sql_node **sql_input_next(struct sql_inputs *i);

/* What pairs of n's rows must fulfil besides equal keys; NULL = nothing, or n makes no pairs. */
const struct sql_expr *sql_node_on(const struct sql_node *n);

/* The table or query in FROM that n reads; NULL = it is an operator of another kind. Like strchr()
 * it drops const. */
struct sql_access *sql_node_access(const struct sql_node *n);

#endif
