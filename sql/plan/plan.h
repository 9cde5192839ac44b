/*
 * plan.h -- a bound statement as a tree of operators.
 *
 * Columns: every table of a FROM list has its columns at base .. base+columns-1
 * of one wide batch, and an operator fills only the ones that are used. So an
 * expression bound once means the same below and above a join. Aggregation and
 * projection begin a new, narrow batch.
 *
 * A plan belongs to one session and runs one execution at a time. The planner makes the tree
 * (op.h); the executor keeps an operator's running state beside it (exec/state.h), and takes memory
 * that dies with the statement or the batch from the session's arenas (node->arena, ...).
 */
#ifndef NAM_SQL_PLAN_H
#define NAM_SQL_PLAN_H

#include <sql/expr/expr.h>
#include <sql/parse/ast.h>
#include <sql/sql.h>

#define SQL_KEPT_KEY (~0u)
enum { SQL_PRIMARY_KEY = -1 };

/* What the primary key of a table is found by: its index, or SQL_PRIMARY_KEY, the hash. */
static inline int
sql_primary_key(const struct cat_table *t)
{
	_Static_assert(SQL_PRIMARY_KEY == -1, "as cat_key_order");
	return cat_key_order(t);
}

/* The kinds of operators; op.h has a struct for each. */
#define SQL_NODE_KINDS(X)                                                                                    \
	X(ONE, one)       /* one row without columns */                                                      \
	X(VALUES, values) /* rows of expressions */                                                          \
	X(SCAN, scan)     /* all rows of a table */                                                          \
	X(GET, get)       /* by primary key: from expressions, or for each row of the child */               \
	X(INDEX, index)   /* by an index, in its order */                                                    \
	X(JOIN, join)                                                                                        \
	X(AGG, agg)                                                                                          \
	X(PROJECT, project)                                                                                  \
	X(SORT, sort)                                                                                        \
	X(LIMIT, limit)                                                                                      \
	X(APPEND, append)                                                                                    \
	X(SETOP, setop)                                                                                      \
	X(SERIES, series)                                                                                    \
	X(RECURSE, recurse)                                                                                  \
	X(CTE, cte)                                                                                          \
	X(DERIVED, derived) /* a query in FROM */                                                            \
	X(WINDOW, window)                                                                                    \
	X(LOCK, lock)                                                                                        \
	X(LATERAL, lateral)                                                                                  \
	X(EXPAND, expand)                                                                                    \
	X(SEMI, semi) /* semijoins and antijoins */                                                          \
	X(UNNEST, unnest)                                                                                    \
	X(UNIQUE, unique)

enum sql_node_kind {
#define SQL_NODE_KIND(KIND, kind) SQL_NODE_##KIND,
	SQL_NODE_KINDS(SQL_NODE_KIND)
#undef SQL_NODE_KIND
};
#define SQL_NODE_COUNT(KIND, kind) +1
enum { SQL_NODES = 0 SQL_NODE_KINDS(SQL_NODE_COUNT) };
#undef SQL_NODE_COUNT

struct sql_window;
struct sql_meter;  /* meter.h */
struct sql_rowset; /* rows kept: rowset.h */
struct sql_join_table;
struct sql_coded;
struct sql_groups; /* rows that differ: groups.h */
struct sql_sub;    /* subqueries of expressions: sub.h */
struct sql_fragment;

/* A query of WITH that is used more than once: it runs for its first reader, and its rows are
 * kept. */
struct sql_cte {
	struct sql_cte *next; /* at the node that owns it */
	struct sql_node *plan, *reader;
	enum cat_type *type;
	const char *name;
	unsigned columns, refs, arena;
	struct sql_run_with *run; /* exec/state.h */
};

/*
 * Which row of a join's kept side a column's values in a batch come from: equal rows mean equal
 * values. row[k] for row k of the batch; rs->rows = from none, the value is NULL.
 */
struct sql_origin {
	const struct sql_rowset *rs;
	const uint32_t *row; /* NULL = not known for this batch */
};

/* The columns of a table that come out, and their places. */
struct sql_access {
	const struct cat_table *tab;
	const char *alias;
	unsigned base;
	uint16_t *want; /* column numbers */
	unsigned wants;
	bool identify;   /* an operator above locks or changes the rows: see sql_rows_of */
	unsigned row_at; /* not 0: addresses and CIDs of its rows go to these two columns */
};

/* Rows to be locked: columns col and col + 1 of the batch identify them. */
struct sql_lock {
	const struct cat_table *tab;
	unsigned col;
	uint8_t wait; /* AST_LOCK_WAIT, ... */
};

/* The terms of a cost, in microseconds. */
struct sql_terms {
	double network, memory, cpu;
};

/* The part that all operators have in common. op.h has the rest. */
struct sql_node {
	enum sql_node_kind kind;
	struct sql_node *child, *build; /* its inputs: the one, and the other */
	struct sql_expr *filter;        /* only rows for which it is true come out */
	unsigned arena;                 /* batch arena; + 1: lives as long as the statement;
					 * + 2: a join's answers */
	double est_rows, est_cost;      /* guessed: rows that come out; microseconds until
					 * the last, with all below */
	struct sql_terms est_own;       /* est_cost in its terms, without what is below */
	struct sql_terms est_all;       /* and with it */
	unsigned est_width;             /* guessed: bytes of such a row */
	double est_seen;                /* guessed: rows that its filter is evaluated for */
	bool whole;                     /* two operators read it: each may need any column */
	struct sql_cte *with;           /* queries of WITH that begin and end with this node;
					 * NULL = none */
	struct sql_fragment *fragment;  /* fragment.h: gathered here; NULL = not */
	struct sql_meter *meter;        /* EXPLAIN ANALYZE: its work; NULL = not measured */

	/* the current batch: valid until the next call of sql_next */
	struct sql_batch out;
	uint16_t *sel; /* NULL = all n rows */
	unsigned nsel;
	uint16_t *selbuf;                /* CAT_BATCH */
	const struct sql_origin *origin; /* by column of out; NULL = not known */
};

struct sql_agg {
	enum sql_agg_kind kind;
	struct sql_expr *arg; /* NULL = count(*) */
	struct sql_expr *separator;
	struct sql_expr *filter;
	enum cat_type arg_type, type;
	int32_t typmod;
	const struct ast_expr *ast;

	/* DISTINCT or ORDER BY: rows are kept (group, arguments, sort keys) and added when all are
	 * there */
	bool later, distinct;
	struct sql_expr **col; /* behind the group */
	unsigned cols;
	struct sql_sort_key *key;
	unsigned keys;
	enum cat_type *types;
};

struct sql_sort_key {
	unsigned col;
	bool desc, nulls_first;
};
/* True if values of the type have 8 bytes that compare like them, as far as these go. */
static inline bool
sql_sort_shows(enum cat_type t)
{
	return !cat_type_is_str(t) || t == CAT_TEXT || t == CAT_BYTEA || t == CAT_UUID || t == CAT_NUMERIC;
}

/* SET: columns, and their new values. value NULL = SQL's NULL. */
struct sql_sets {
	struct sql_expr **value;
	uint16_t *set;
	unsigned sets;
	bool key; /* a column of the hashed primary key among them */
};

/* ON CONFLICT. Expressions see the existing row, then the one that was to be inserted. */
struct sql_conflict {
	/* What a row may conflict by: numbers of unique indexes, or SQL_PRIMARY_KEY. */
	int arbiter[1 + CAT_INDEXES_MAX];
	unsigned arbiters;
	bool update;
	struct sql_sets sets;
	struct sql_expr *where;
};

/* UPDATE ... FROM, DELETE ... USING: the query's columns. First the target's key; the rest goes to
 * wide[]. */
struct sql_from {
	unsigned cols;
	enum cat_type *type;
	unsigned *wide, width;
};

/* A table's rules for its rows besides types and NOT NULL. */
struct sql_rules {
	struct sql_expr **dflt;  /* per column; NULL = null */
	struct sql_expr **check; /* as tab->check; over all columns of a row */
	unsigned checks;
	struct sql_expr **domain; /* per column: parameter 1 as one of its domain; NULL = none */
};

/* Rights that the statement needs. */
struct sql_need {
	const struct cat_table *tab;
	const char *as; /* the owner of the view that reads it; NULL = the statement's role */
	uint16_t rights;
	struct sql_need *next;
};

/* A step of a statement whose WITH changes rows (steps.c): a query of that WITH. */
struct sql_step {
	const char *name;
	struct sql_plan *plan;
	struct sql_column *column; /* of its rows; none: it has no RETURNING */
	unsigned columns;
	struct sql_cte rows; /* what it has kept, from sql_steps_run on */
	bool plain;          /* it is planned as it stands */
	struct sql_step *next;
};
struct sql_steps {
	struct nam_arena arena, kept; /* plans and texts; rows, emptied by each run */
	struct sql_step *first;
};

struct sql_use {
	const char *name; /* path */
	int position;     /* where it stands in the text without a schema; 0 = it has one */
	struct sql_use *next;
};

/* A text of the catalog, parsed. */
struct sql_kept {
	struct sql_parsed *parsed;
	struct sql_kept *next;
};

/* A domain that values of the plan are of, its constraints bound. */
struct sql_bound_domain {
	struct sql_domain d;
	struct sql_bound_domain *next;
};

/* What the type of a parameter is called: varchar (CAT_VARCHAR), or a domain. */
struct sql_param_as {
	int32_t typmod;
	uint32_t domain;
	bool vague; /* it stands somewhere without a type */
};

struct sql_plan {
	struct nam_arena arena;
	struct sql_bound_domain *domain;
	unsigned domain_depth; /* while binding: checks of domains around */
	bool domain_called;    /* a cast to a domain is written d(x) */
	bool enum_called;      /* and one to an enum */
	struct sql_use *use;   /* tables and views its text names, not those that views read */
	/* A view's before those of what it reads. */
	struct sql_need *need, **last_need;
	/* While binding: the owner of the innermost view around; the FROM item that is changed. */
	const char *as;
	const void *target;
	bool reads_target;       /* a column of it is read */
	unsigned in_view;        /* while binding: views around what is bound now */
	unsigned in_system;      /* likewise: of these, system catalogs */
	struct sql_steps *steps; /* to run before; NULL = none */
	struct sql_kept *kept;   /* texts whose trees the plan points into */
	enum ast_stmt_kind kind;
	const struct ast_stmt *ast;
	struct sql_node *root;
	unsigned arenas;
	struct sql_column *column; /* the answer's; NULL = no rows come */
	unsigned columns;
	enum cat_type *param;
	struct sql_param_as *param_as; /* likewise for each */
	unsigned params;
	unsigned vague, torn;    /* 1 + a parameter without a type somewhere; with two of them */
	enum cat_type torn_type; /* the other one */
	int32_t torn_typmod;
	bool uses_now;
	bool momentary;                 /* its rows are of its planning: it serves one run */
	bool locks;                     /* FOR UPDATE somewhere */
	bool named;                     /* EXPLAIN gave its tables different names */
	unsigned guesses;               /* made for HINTs while binding */
	const char *unknown_column;     /* the last one that binding did not find; borrowed */
	struct bind_named *names_of;    /* names found while binding (bind/scope.h) */
	struct sql_fragment *fragments; /* fragment.h */
	struct sql_sub *subs;
	struct cat_datum *outer; /* what subqueries see of the outer rows */
	unsigned outers;

	/* INSERT, UPDATE, DELETE: the target's columns are 0 .. columns-1 */
	const struct cat_table *tab;
	struct sql_expr **value; /* INSERT: rows x tab->columns, NULL = null; from SELECT: one
				  * row over its columns */
	unsigned rows;
	struct sql_rules *rules; /* INSERT, UPDATE */
	struct sql_conflict *conflict;
	struct sql_from *from;
	struct sql_sets sets;
	struct sql_expr *recheck; /* WHERE in all, for a row that has changed */
	struct sql_expr **returning;
	unsigned arena_base; /* of the statement itself: batch, rows, keys */
};

/* How many rows a table has, whatever the catalog says: for tests without one, and for a plan that
 * is made again in another process. */
struct sql_hint {
	uint32_t table;
	uint64_t rows;
};

/* The binder's input. */
struct sql_who;
struct sql_bind_in {
	struct cat *cat;
	struct txn *t;
	struct sql_parser *parser; /* for defaults, checks and views */
	/* Tests put their own here; NULL = cat_find */
	nam_status (*find)(void *arg, const char *name, const struct cat_table **out);
	void *find_arg;
	const enum cat_type *types; /* of parameters, as far as given */
	unsigned ntypes;
	const struct sql_hint *hint;
	unsigned hints;
	const struct sql_costs *costs; /* NULL = the standard ones; cost.h */
	const struct sql_peers *peers; /* NULL = none are known */
	/* Calls fn for each cursor of the session; NULL = none are known. */
	void (*cursors)(
	    const struct sql_session *s, bool (*fn)(void *to, const struct sql_cursor_shown *c), void *to);
	const struct sql_session *session; /* the first argument of cursors */
	bool may_change;                   /* the caller runs the steps of a plan */
	bool part;                         /* a step: other parts may know its parameters */
	const struct sql_step *steps;      /* earlier ones */
	const struct sql_who *who;         /* the statement's role; NULL = no right is checked */
	bool defines_view;                 /* rights on relations are asked when the view is read */
	const char *search;                /* the text of search_path; NULL = public */
	uint64_t join_order;               /* 0 = the best one; else dice, for tests */
	/* One of many statements alike, each for some of the keys: a table that has an index for
	 * its condition is not scanned, whatever it costs, since all of them would scan it. */
	bool in_pieces;
};

/* Binds and plans SELECT, INSERT, UPDATE, DELETE, TRUNCATE. NULL = error in *err (position in
 * bytes). */
struct sql_plan *sql_plan_make(const struct ast_stmt *st, const struct sql_bind_in *in, struct cat_err *err);
/* Makes no operators, only the rules of a table: for COPY, and to check a definition. */
struct sql_plan *sql_plan_rules(
    const struct cat_table *tab, const struct sql_bind_in *in, struct cat_err *err);
/* True if expressions of CREATE and ALTER TABLE can be bound. def has its columns. */
bool sql_plan_try(const struct cat_table *def, const struct ast_column *column, unsigned columns,
    const struct ast_check *check, unsigned checks, const struct sql_bind_in *in, struct cat_err *err);
void sql_plan_free(struct sql_plan *p);
/* How many rows the planner takes the table to have, and one more. */
double sql_plan_rows(struct cat *c, const struct cat_table *t);

#endif
