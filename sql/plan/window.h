/* window.h -- window functions, bound: bind/window.c makes them, exec/window.c runs them. Inside of
 * sql. */
#ifndef NAM_SQL_WINDOW_H
#define NAM_SQL_WINDOW_H

#include <sql/plan/plan.h>

enum sql_win_kind {
	SQL_WIN_AGG,
	SQL_WIN_ROW_NUMBER,
	SQL_WIN_RANK,
	SQL_WIN_DENSE_RANK,
	SQL_WIN_PERCENT_RANK,
	SQL_WIN_CUME_DIST,
	SQL_WIN_NTILE,
	SQL_WIN_LAG,
	SQL_WIN_LEAD,
	SQL_WIN_FIRST,
	SQL_WIN_LAST,
	SQL_WIN_NTH,
};

struct sql_win_bound {
	enum ast_bound kind;
	struct sql_expr *offset; /* PRECEDING, FOLLOWING: int8, or RANGE: of the key's type (int8
				  * for int4) */
};

/* One call. Slots are columns of the rows kept. */
struct sql_win_fn {
	enum sql_win_kind kind;
	enum sql_agg_kind agg;
	enum cat_type arg_type, type;
	int32_t typmod;
	unsigned arg[3], args;
	bool filtered; /* arg[args]: whether a row counts */
	unsigned spec;
	enum ast_frame mode;
	struct sql_win_bound start, end;
	enum ast_exclude exclude;
	const struct ast_expr *ast;
};

/* One way to divide and order the rows: parts keys, then orders. */
struct sql_win_spec {
	struct sql_sort_key *key;
	unsigned parts, orders;
	const struct ast_expr *ast;
};

/* Rows kept have the values of e[0..es), then the child's columns pass[k] that no e gives. */
struct sql_window {
	struct sql_expr **e;
	unsigned es, e_cap;
	struct sql_win_fn *fn;
	unsigned fns, fn_cap;
	struct sql_win_spec *spec;
	unsigned specs, spec_cap;
	unsigned *pass, *slot; /* column of the child, and where it is kept */
	unsigned passes;
	unsigned base; /* the functions' results are columns base, base + 1, ... */
	enum cat_type *type;
	unsigned *from; /* slots es...: the child's column */
	unsigned slots;
	/* columns that stand for a call: their index is known when all is bound */
	struct {
		struct sql_expr *e;
		unsigned fn;
	} * ref;
	unsigned refs, ref_cap;
};

#endif
