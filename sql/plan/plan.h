/*
 * plan.h -- a bound statement as a tree of operators, with the room they work in.
 *
 * Columns: every table of a FROM list has its columns at base .. base+columns-1
 * of one wide batch, and an operator fills only the ones that somebody uses. So an
 * expression bound once means the same below and above a join. Aggregation and
 * projection begin a new, narrow batch.
 *
 * A plan belongs to one session and runs one execution at a time; operators keep
 * their state in it, and take memory that dies with the statement or the batch
 * from the session's arenas (node->arena, ...).
 */
#ifndef NAM_SQL_PLAN_H
#define NAM_SQL_PLAN_H

#include <sql/parse/ast.h>
#include <sql/expr/expr.h>
#include <sql/sql.h>

enum { SQL_TABLES_MAX = 60 };
#define SQL_KEPT_KEY (~0u)

enum sql_node_kind {
	SQL_NODE_ONE,    /* one row without columns */
	SQL_NODE_VALUES, /* rows of expressions */
	SQL_NODE_SCAN,
	SQL_NODE_GET, /* by primary key: from expressions, or for each row of the child */
	SQL_NODE_JOIN,
	SQL_NODE_AGG,
	SQL_NODE_PROJECT,
	SQL_NODE_SORT,
	SQL_NODE_LIMIT,
	SQL_NODE_APPEND,  /* the rows of one kid after the other */
	SQL_NODE_SETOP,   /* INTERSECT and EXCEPT: child, without or with build */
	SQL_NODE_SERIES,  /* generate_series over e[0 .. es-1] */
	SQL_NODE_RECURSE, /* child's rows, then build's over those that came last */
	SQL_NODE_CTE,     /* reads what cte keeps */
	SQL_NODE_DERIVED, /* the child's narrow batch at acc.base of a wide one */
	SQL_NODE_WINDOW,
	SQL_NODE_LOCK,    /* FOR UPDATE: all rows locked before the first comes out */
	SQL_NODE_LATERAL, /* for each of the child's rows, those of build, which speaks of it: lateral.h */
	SQL_NODE_EXPAND,  /* the child's rows, once for every grouping set, its keys behind */
	SQL_NODE_UNNEST,  /* the child's rows, with arrays taken apart */
	SQL_NODE_SEMI, /* the child's rows that a subquery's set, build, has a partner of, or has none of: sub.h */
	SQL_NODE_UNIQUE, /* DISTINCT ON: of sorted rows alike in columns pass[0..passes) the first */
};

struct sql_window;
struct sql_meter;  /* meter.h */
struct sql_rowset; /* rows kept: rowset.h */
struct sql_join_table;
struct sql_coded;
struct sql_lateral;
struct sql_semi;
struct sql_groups; /* rows that differ: groups.h */
struct sql_sub;    /* subqueries of expressions: sub.h */

/* A query of WITH that is used more than once: run when somebody asks first, its rows kept. */
struct sql_cte {
	struct sql_cte *next; /* at the node that owns it */
	struct sql_node *plan, *reader;
	enum cat_type *type;
	const char *name;
	unsigned columns, refs, arena;
	struct sql_rowset *rs; /* NULL: not run yet */
};

/*
 * Which row of a join's kept side a column's values in a batch come from: the same row, the same value. row[k] for
 * row k of the batch; rs->rows: from none, it is NULL.
 */
struct sql_origin {
	const struct sql_rowset *rs;
	const uint32_t *row; /* NULL: not known for this batch */
};

/* Which columns of a table come out, and where. */
struct sql_access {
	const struct cat_table *tab;
	const char *alias;
	unsigned base;
	uint16_t *want; /* column numbers */
	unsigned wants;
	struct cat_vec *tmp;  /* wants vectors, as decoded */
	struct txn_row *rows; /* of the current batch */
	bool identify;        /* whoever asks a scan wants these, too */
	unsigned row_at;      /* not 0: addresses and CIDs of its rows go to these two columns */
	uint64_t seen;        /* rows read in this execution */
};

/* Rows to be locked: columns col and col + 1 of the batch say which. */
struct sql_lock {
	const struct cat_table *tab;
	unsigned col;
	uint8_t wait; /* AST_LOCK_WAIT, ... */
};

struct sql_node {
	enum sql_node_kind kind;
	struct sql_node *child;
	struct sql_expr *filter; /* only rows for which it is true come out */
	unsigned arena;          /* batch arena; + 1: lives as long as the statement; + 2: a join's answers */
	double est_rows,
	    est_cost;       /* guessed: rows that come out; microseconds until the last, with all below */
	unsigned est_width; /* guessed: bytes of such a row */
	double est_seen;    /* guessed: rows that its filter is asked about */
	bool whole;         /* two operators read it: each may ask for any column */
	struct sql_meter *meter; /* EXPLAIN ANALYZE: what it did; NULL: nobody asks */

	/* the current batch: valid until the next call of sql_next */
	struct sql_batch out;
	uint16_t *sel; /* NULL: all n rows */
	unsigned nsel;
	uint16_t *selbuf; /* CAT_BATCH */

	struct sql_node **kid; /* APPEND */
	unsigned kids;
	enum ast_setop op; /* SETOP */
	bool all;
	struct sql_rowset *fresh; /* RECURSE: found in this round; rows: does it go on? */
	unsigned *own, owns;      /* arenas of the recursive term */
	int64_t next, stop, step; /* SERIES */
	struct cat_datum
	    *held; /* SERIES of no integers: from, to, by; LIMIT WITH TIES: the last row's keys */
	uint64_t ordinal;
	uint32_t *count; /* SETOP: how often each row of rs was there */

	struct sql_cte *with; /* those that begin and end with this node, NULL: none */
	struct sql_cte *cte;  /* CTE */

	struct sql_access acc; /* SCAN, GET, DERIVED */
	struct txn_scan *scan; /* SCAN: one of the two is open */
	struct cat_scan *read;

	/* GET: probes x keys expressions; with a child there is one probe */
	struct sql_expr **key;
	unsigned keys, probes, at;
	unsigned each; /* GET: key[each - 1] is an array, and every element of it makes a probe; 0: none is */
	unsigned *pass; /* columns of the child that are used above */
	unsigned passes;

	/* JOIN: child is the probe side */
	struct sql_node *build;
	struct sql_expr **build_key;
	unsigned *build_col, *probe_col;
	enum cat_type *build_type, *probe_type;
	unsigned build_cols, probe_cols;
	unsigned build_width, *kept; /* what is kept: columns of build's batch, or SQL_KEPT_KEY: a key */
	unsigned *build_at, *key_at; /* where among that build_col and the keys are */
	struct sql_node *share;      /* the join that keeps what this one asks, NULL: itself */
	struct sql_join_table *table;
	struct sql_origin *origin; /* by column of out */
	struct sql_rowset *rs;     /* JOIN: build side. SORT: all */
	uint32_t *bucket, *chain;
	uint64_t *hash;
	uint64_t mask;
	unsigned probe_at; /* position in the probe side's selection */
	uint32_t match;    /* next build row + 1 to look at */
	bool opened, ended;
	struct sql_expr *on;         /* JOIN: what a pair must fulfil besides equal keys */
	bool keep_probe, keep_build; /* JOIN, GET: rows of that side without a partner come with NULLs */
	uint8_t *matched;            /* JOIN: per build row */

	/* AGG: groups come out as keys, then results */
	struct sql_groups *set;
	struct sql_agg *agg;
	unsigned aggs;
	unsigned buckets, groups;
	struct sql_coded *coded; /* exec/group.c's */
	char **state;            /* chunks of CAT_BATCH states; JOIN: its probe */

	struct sql_lateral *lat; /* LATERAL */
	struct sql_semi *semi;   /* SEMI */
	const uint8_t *gset;     /* EXPAND: rows sets of e[0..es) */

	struct sql_expr **e; /* PROJECT, VALUES (rows x es) */
	unsigned es, rows;

	struct sql_sort_key *order; /* SORT */
	unsigned orders;
	uint32_t *perm;
	unsigned width; /* SORT: columns it keeps */
	const uint8_t
	    *apart; /* UNNEST: per column of the child, is it such an array? Its elements are of types[] */
	enum cat_type *types;

	struct sql_window *win; /* WINDOW: window.h */

	struct sql_lock *lock; /* LOCK */
	unsigned locks;

	struct sql_expr *limit, *offset; /* LIMIT; SORT: then only so many matter */
	uint64_t left, skip;
	bool ties; /* LIMIT: and all rows alike in columns pass[0..passes) with the last one */
};

struct sql_agg {
	enum sql_agg_kind kind;
	struct sql_expr *arg; /* NULL: count(*) */
	struct sql_expr *separator;
	struct sql_expr *filter;
	enum cat_type arg_type, type;
	const struct ast_expr *ast;

	/* DISTINCT or ORDER BY: rows are kept (group, arguments, what to sort by) and added when all are there */
	bool later, distinct;
	struct sql_expr **col; /* behind the group */
	unsigned cols;
	struct sql_sort_key *key;
	unsigned keys;
	enum cat_type *types;
	struct sql_rowset *rs;
	struct sql_groups *seen; /* in place of rs: DISTINCT values, with their groups */
};

struct sql_sort_key {
	unsigned col;
	bool desc, nulls_first;
};

/* SET: columns, and what they become. NULL: null. */
struct sql_sets {
	struct sql_expr **value;
	uint16_t *set;
	unsigned sets;
	bool key; /* a column of the primary key among them */
};

/* ON CONFLICT. Expressions see the row that is there, then the one that was to be inserted. */
struct sql_conflict {
	bool update;
	struct sql_sets sets;
	struct sql_expr *where;
};

/* UPDATE ... FROM, DELETE ... USING: what the query answers. First the target's key; the rest goes to wide[]. */
struct sql_from {
	unsigned cols;
	enum cat_type *type;
	unsigned *wide, width;
};

/* What a table asks of its rows besides types and NOT NULL. */
struct sql_rules {
	struct sql_expr **dflt;  /* per column; NULL: null */
	struct sql_expr **check; /* as tab->check; over all columns of a row */
	unsigned checks;
};

struct sql_use {
	const char *name;
	struct sql_use *next;
};

/* A text of the catalog, parsed. */
struct sql_kept {
	struct sql_parsed *parsed;
	struct sql_kept *next;
};

struct sql_plan {
	struct nam_arena arena;
	struct sql_use *use;   /* tables and views its text names, not those that views read */
	unsigned in_view;      /* while binding: views around what is bound now */
	struct sql_kept *kept; /* texts whose trees the plan points into */
	enum ast_stmt_kind kind;
	const struct ast_stmt *ast;
	struct sql_node *root;
	unsigned arenas;
	struct sql_column *column; /* the answer's; NULL: no rows come */
	unsigned columns;
	enum cat_type *param;
	unsigned params;
	bool uses_now;
	bool locks;       /* FOR UPDATE somewhere */
	bool named;       /* EXPLAIN gave its tables different names */
	unsigned guesses; /* made for HINTs while binding */
	struct sql_sub *subs;
	struct cat_datum *outer; /* what subqueries see of the rows outside */
	unsigned outers;

	/* INSERT, UPDATE, DELETE: the target's columns are 0 .. columns-1 */
	const struct cat_table *tab;
	struct sql_expr **value; /* INSERT: rows x tab->columns, NULL: null; from SELECT: one row over its
				    columns */
	unsigned rows;
	struct sql_rules *rules; /* INSERT, UPDATE */
	struct sql_conflict *conflict;
	struct sql_from *from;
	struct sql_sets sets;
	struct sql_expr *recheck; /* WHERE in all, for a row that has changed */
	struct sql_expr **returning;
	unsigned arena_base; /* of the statement itself: batch, rows, keys */
};

/* How many rows a table has: for tests without a catalog. */
struct sql_hint {
	uint32_t table;
	uint64_t rows;
};

/* What the binder must know. */
struct sql_bind_in {
	struct cat *cat;
	struct txn *t;
	struct sql_parser *parser; /* for defaults, checks and views */
	/* Tests put their own here; NULL: cat_find */
	nam_status (*find)(void *arg, const char *name, const struct cat_table **out);
	void *find_arg;
	const enum cat_type *types; /* of parameters, as far as given */
	unsigned ntypes;
	const struct sql_hint *hint;
	unsigned hints;
	const struct sql_costs *costs; /* NULL: the standard ones; cost.h */
	uint64_t join_order;           /* 0: the best one; else dice with that seed, for tests */
};

/* Binds and plans SELECT, INSERT, UPDATE, DELETE, TRUNCATE. NULL and *err when it cannot (position in bytes). */
struct sql_plan *sql_plan_make(const struct ast_stmt *st, const struct sql_bind_in *in, struct cat_err *err);
/* No operators, only the rules of a table: for COPY, and to see whether a definition makes sense. */
struct sql_plan *sql_plan_rules(
    const struct cat_table *tab, const struct sql_bind_in *in, struct cat_err *err);
/* As they are written in CREATE and ALTER TABLE: can they be bound? def has its columns. */
bool sql_plan_try(const struct cat_table *def, const struct ast_column *column, unsigned columns,
    const struct ast_check *check, unsigned checks, const struct sql_bind_in *in, struct cat_err *err);
void sql_plan_free(struct sql_plan *p);

#endif
