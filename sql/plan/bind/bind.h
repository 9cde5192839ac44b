/* bind.h -- names to columns: structures that the files of this folder and plan/ share while they
 * make a plan. */
#ifndef NAM_SQL_BIND_H
#define NAM_SQL_BIND_H

#include <sql/compat/postgres.h>
#include <sql/plan/op.h>
#include <sql/plan/set.h>

struct bind_table {
	const struct cat_table *tab; /* of a derived table: made for its columns, without
				      * keys */
	const struct ast_table *ast;
	const char *alias, **as;  /* its name, or that of the join it is in; names of its
				   * columns there, or NULL */
	bool joined;              /* in a join with an alias, which may hide its names */
	struct sql_sub *lateral;  /* sub uses the tables before it */
	struct sql_node *sub;     /* derived: the plan that makes its rows, in a narrow batch of its
				   * own */
	struct bind *from;        /* derived: its binder; sub NULL = it has no operators yet */
	struct cat_stats **stats; /* per column, read when asked for; NULL = none yet */
	unsigned base;
	uint8_t *used;   /* per column */
	uint8_t *hidden; /* per column: merged into another one by USING */
	bool view;
	const struct sql_column *made; /* of what made tab's columns; NULL = the catalog has them */
	/*
	 * A query in FROM that is no operand of its own, because its tables are operands
	 * (pull_up.c): the `flats` before it, whose names are hidden (within). Its columns are
	 * flat[].
	 */
	struct sql_expr **flat;
	unsigned flats;
	bool within;
	uint8_t *was_used; /* before the select list was bound */
	unsigned row_at;   /* rows are to be locked: two columns of the wide batch say which; 0:
			    * none */
};

/* A query of WITH, bound where it is written. The last ones come first; children see those of
 * their parents. */
struct bind_cte {
	struct bind_cte *next;
	const char *name;
	struct sql_cte *run;
	bool recursing;  /* its own recursive term is being bound, or a query that may not use
			  * itself */
	const char *why; /* with recursing: the reason why it may not be used, or NULL */
	int position;
	bool order; /* because of its ORDER BY or LIMIT */
	unsigned selves;
	struct sql_column *column;
	unsigned columns, deep;
	struct sql_sub *sub;         /* the subquery that its WITH stands in */
	const struct sql_step *step; /* it has run before the statement; NULL = it is no step */
	const struct ast_cte *later; /* used once, so bound there, like a query in FROM; NULL:
				      * bound */
	bool wrong;                  /* that found a mistake */
};

/* One condition of WHERE or ON. */
struct bind_cond {
	struct sql_expr *e;
	const struct ast_expr *ast; /* as written, or NULL */
	struct sql_set mask;        /* tables it uses */
	/* l = r, as written and as unified; NULL = it is nothing of that kind */
	struct sql_expr *l, *r, *ul, *ur;
	struct sql_set lmask, rmask;
	/* in[0] IN (in[1..]) */
	struct sql_expr **in, **uin;
	unsigned ins;
	unsigned home; /* region of the FROM clause that it filters: see join.c */
	bool used;
	bool led;     /* by the index that leads to the rows of its table alone */
	bool semi;    /* a semijoin or an antijoin asks it */
	bool pushed;  /* into a query in FROM, which asks it for good */
	bool implied; /* by other conditions: good as a key, but need not be evaluated */
	bool weak;    /* another condition implies it: together they leave no fewer rows */
};

/* A JOIN as bound. Its columns named by USING or NATURAL: where they are on the left, right, and
 * merged. */
struct bind_join {
	const struct ast_join *ast;
	struct bind_using {
		unsigned lt, lc, rt, rc, mt;
	} * use;
	unsigned uses;
};

/* A column of JOIN ... USING that is neither side's: COALESCE(l, r) of a FULL JOIN, or a cast
 * to the type of both. As a "table" its number is SQL_TABLES_MAX + its own. */
struct bind_merged {
	const char *name;
	struct ast_expr *e;
	unsigned first, last;
	bool hidden;
	const char *alias; /* of the join around it that has one */
};

/* An outer join. Its regions: 1 + 3 n the left side, 2 + 3 n the right side, 3 + 3 n the ON
 * condition. */
struct bind_outer {
	enum ast_join_kind kind; /* may become AST_JOIN_INNER: then it is none any more */
	unsigned first, mid, last;
};

/*
 * Calls in a select list that return rows: each one's array, and the array's element, which the
 * item uses.
 */
struct bind_srf {
	struct sql_expr **array, **row;
	unsigned sets, cap;
	/*
	 * once there are operators below it: how many columns it reads, which are arrays, and the
	 * expressions over their elements
	 */
	unsigned cols;
	uint8_t *apart;
	enum cat_type *types;
	struct sql_expr **last;
	unsigned lasts;
	bool around; /* last differs from the columns */
};

/* A select list as written, stars resolved; and as bound, with hidden columns for ORDER BY and the
 * like behind it. */
struct bind_list {
	struct ast_target *t;
	unsigned n, cap;
};
struct bind_out {
	struct sql_expr **e;
	const struct ast_expr **ast; /* of hidden ones that ORDER BY or DISTINCT ON made */
	unsigned n, cap;
};

/* A query, bound, before it has operators. */
struct bind_query {
	const struct ast_select *q;
	struct bind_list l;
	struct bind_out o;
	struct sql_expr *having, *limit, *offset;
	struct sql_sort_key *key; /* ORDER BY, then what DISTINCT ON adds */
	unsigned *on;             /* DISTINCT ON: columns of o */
	unsigned keys, ons, shown, rows_at;
	struct sql_node *source; /* VALUES: its rows */
	struct bind_set *set;    /* UNION and the like */
};

/* One query of a UNION or the like. Casts above what is left of it and above itself, lcast, rcast:
 * are there any? */
struct bind_branch {
	struct bind *b;
	const struct ast_set *op;
	struct sql_expr **le, **re;
	bool lcast, rcast;
	struct sql_column *was, *now; /* the answer's columns before it, and with it */
};
struct bind_set {
	struct bind_branch *branch;
	unsigned branches;
	const struct sql_column *col;
	unsigned cols;
};

/* The tables of a FROM list. */
struct bind_from {
	struct bind_table **table; /* a table stays where it is when others come */
	unsigned tables, cap;
	unsigned lo, hi;      /* visible: lo <= k < hi */
	unsigned width;       /* columns of its wide batch */
	unsigned rows_at;     /* where those begin that say which rows are to be locked; 0: none */
	unsigned item, items; /* the item that is bound now, of so many */
	/* whose list it is, while it is bound */
	const struct ast_select *of;
	bool flattens; /* queries in it need not be operands */
	/* its select list may be that of such a query: the columns in it are read only if an
	 * operator needs them */
	bool lazy;
};

/* Conditions of WHERE and ON. */
struct bind_where {
	struct bind_cond *cond;
	unsigned conds, cap;
	unsigned home;        /* of those bound now */
	unsigned *asked_left; /* conditions that may still be asked of common values */
	/* a scalar subquery that a condition of WHERE compares with something, and nothing else */
	const struct ast_expr *compared;
};

/* Joins as they are written. */
struct bind_joins {
	struct bind_join *join;
	struct bind_outer
	    *outer; /* while FROM is bound by the numbers of its items, then by those of tables */
	struct bind_outer *inside; /* those of queries that are no operands: they will be the
				    * last */
	struct bind_merged *merged;
	unsigned n, outers, insides, mergeds;
};

/* Where the query stands among others, and the budgets of that. */
struct bind_nest {
	unsigned nodes; /* bound so far: a budget, for shared subtrees multiply */
	unsigned level; /* queries around this one */
	unsigned deep;  /* queries inside of this one, one in the other */
	struct bind_cte *cte;
	struct bind_cte *with; /* the last query of its own WITH */
	unsigned withs;        /* so many have been made */
};

/* Of a subquery in an expression: the outer query, whose columns are also visible. */
struct bind_around {
	struct bind *up;
	struct sql_sub *sub;
	unsigned level;
	const char *no_sub; /* "DEFAULT expression": no subqueries here */
	bool unnest;        /* equalities with outer columns may become keys of a hash table */
	bool asked;         /* a query inside asks for a column */
	bool narrow;        /* its answer matters for outer rows that pass WHERE alone: narrow.c */
	bool exists;        /* it is asked for a row, whatever that says */
};

/* sql_bind_select: the columns of its answer. */
struct bind_answer {
	struct sql_column *column;
	unsigned columns;
	bool where_first;  /* mistakes of WHERE are told before those of the select list */
	bool *bare;        /* the items of the select list that are parameters without a type */
	bool keep_unknown; /* literals and parameters of the select list without a type keep none */
	struct bind_query *query;
	struct sql_expr **output; /* after sql_bind_select_begin: the select list */
	/* INSERT ... SELECT: the columns that an untyped literal or parameter of the select list
	 * goes to */
	const struct cat_table *into;
	const uint16_t *into_map;
	unsigned into_maps;
};

/* Aggregation. */
struct bind_agg {
	const char *not_in;              /* "WHERE": no aggregates here */
	bool grouped, inside, filtering; /* inside: of a call; filtering: of its FILTER */
	/* inside of a call: another one, which is told when the arguments are bound */
	const struct ast_expr *nested, *windowed;
	struct cat_err *ungrouped; /* a column that is no group's is used outside of aggregates */
	const struct ast_expr **group;
	struct sql_expr **key;
	unsigned groups, group_cap;
	const uint8_t *gset; /* gsets x (groups - 1): the last group is the set's number */
	unsigned gsets;
	struct sql_agg *call;
	unsigned calls, call_cap;
};

/* Functions of the select list that return rows. */
struct bind_srfs {
	struct bind_srf *all, *now;  /* now: here they may be called */
	const struct ast_expr *call; /* such a call, bound as the function of arrays behind it */
};

/* Window functions. */
struct bind_windows {
	struct sql_window *all; /* NULL = none yet */
	bool ok;                /* here they may be called */
	const char *not_in;     /* inside of a call: what a call there is told */
};

/* The order in which the rows of FROM, one table, had best come, and how many will be read. */
struct bind_wish {
	unsigned columns; /* 0 = any order */
	unsigned *column; /* of the wide batch */
	bool *desc, *nulls_first;
	double rows;   /* 0 = all */
	bool stops;    /* rows in the order of the first columns do: a LIMIT ends the reading */
	bool not_null; /* rows with a NULL there need not come: MIN, MAX */
};

/* A query that is being bound. */
/* torn_typmod of a parameter that stands by itself in a select list, which makes it a text when all
 * else is bound. */
enum { BIND_TORN_AT_END = -2 };

/* Values of rows that are compared. open: it was a parameter without a type when all of them came,
 * so each comparison may still say what it is. */
struct bind_held {
	struct ast_expr *const *e;
	bool *open;
	unsigned n;
	const struct bind_held *up;
};

struct bind {
	struct nam_arena *a;
	struct nam_arena *scratch; /* gone when the plan is made */
	struct cat_err *err;
	const struct sql_bind_in *in;
	struct sql_plan *plan;
	struct bind_nest nest;
	const struct bind_held *held; /* innermost first; NULL: no rows are compared */
	struct bind_around around;
	struct bind_from from;
	struct bind_where where;
	struct bind_joins joins;
	struct bind_agg agg;
	struct bind_windows win;
	struct bind_srfs srf;
	struct bind_answer answer;
	struct bind_wish wish;
};

/* The merged column that stands for such a table; NULL: it is a table. */
static inline struct bind_merged *
sql_bind_merged(const struct bind *b, unsigned table)
{
	return table < SQL_TABLES_MAX ? NULL : &b->joins.merged[table - SQL_TABLES_MAX];
}

/* The table that a column of the wide batch belongs to; from.tables: none. */
static inline unsigned
sql_bind_table_at(const struct bind *b, unsigned column)
{
	/* bases rise with the numbers: the last that is not behind the column */
	unsigned lo = 0, hi = b->from.tables;
	while (hi - lo > 8) {
		unsigned mid = (lo + hi) / 2;
		if (b->from.table[mid]->base <= column)
			lo = mid;
		else
			hi = mid;
	}
	while (hi > lo && b->from.table[hi - 1]->base > column)
		hi--;
	if (hi == lo)
		return b->from.tables;
	const struct bind_table *t = b->from.table[hi - 1];
	return column < t->base + t->tab->columns ? hi - 1 : b->from.tables;
}

void *sql_bind_take(struct bind *b, size_t n);
struct sql_expr *sql_bind_expr(struct bind *b, const struct ast_expr *e);
/* sql_bind_expr, and a parameter without a type gets this one; an untyped literal stays as it
 * is. */
struct sql_expr *sql_bind_expr_as(struct bind *b, const struct ast_expr *e, enum cat_type type);
void sql_bind_fix_param(struct bind *b, struct sql_expr *e, enum cat_type type);
/* Likewise; a varchar, and of a domain (0 = none), if the place is that. */
void sql_bind_fix_param_as(
    struct bind *b, struct sql_expr *e, enum cat_type type, int32_t typmod, uint32_t domain);
/* If e is a parameter, the statement has it with e's type now; two types are 42P08 in the end. For
 * what a maker typed. */
void sql_bind_learn(struct bind *b, const struct sql_expr *e);
/* The untyped arguments of a call get the types of PostgreSQL's choice (sql_settle_func). */
bool sql_bind_settle(struct bind *b, const char *name, struct sql_expr **arg, unsigned n, int position);
void sql_bind_learn_all(struct bind *b, struct sql_expr *const *e, unsigned n);
/* False with 42P08 or 42P18 if a parameter has two types, or none. */
bool sql_bind_params_settled(struct bind *b);
/* params.c: types of parameters in the select list, before WHERE. */
bool sql_bind_list_params(struct bind *b, const struct ast_select *q);
/* Values of rows, from here until sql_bind_let_go, which also follows a failure. */
bool sql_bind_hold(struct bind *b, struct bind_held *held, struct ast_expr *const *e, unsigned n);
void sql_bind_let_go(struct bind *b, const struct bind_held *held);
/* True if e is a value of such a row, and its parameter had no type. */
bool sql_bind_is_held(const struct bind *b, const struct ast_expr *e);
/* The type that a statement says: CAT_NAMED is looked up. 42704. Of a domain, its base type; NULL
 * in *domain: it is none. */
bool sql_bind_type(struct bind *b, enum cat_type type, const struct ast_named *named, enum cat_type *out,
    const struct cat_table **domain);
/* domain.c: a domain's constraints; x, already of its base type, as one of it; x under a cast to
 * it; NULL = error. */
const struct sql_domain *sql_bind_domain(struct bind *b, uint32_t id);
/* A parameter whose type is that domain. */
struct sql_expr *sql_bind_of_domain(struct bind *b, struct sql_expr *x, uint32_t id);
struct sql_expr *sql_bind_in_domain(struct bind *b, struct sql_expr *x, uint32_t id);
struct sql_expr *sql_bind_to_domain(
    struct bind *b, struct sql_expr *x, const struct cat_table *dom, int position);
/* d(x), if x is of d's base type: a cast. NULL: the error that there is no such function stays. */
struct sql_expr *sql_bind_domain_call(
    struct bind *b, struct sql_expr *x, const struct cat_table *dom, int position);
/* The error of a value of that type for a column of a domain says the domain. */
void sql_bind_not_assigned(struct bind *b, const struct cat_column *col, enum cat_type is);
/* pg_typeof of a value of a domain. */
struct sql_expr *sql_bind_domain_name(struct bind *b, struct sql_expr **arg, int position);
/* What a column of a domain gets that has no default of its own: the domain's, as *text, or
 * NULL as one of the domain. Both NULL: error. */
struct sql_expr *sql_bind_domain_default(struct bind *b, const struct cat_column *col, const char **text);
/* The arguments of e, bound. */
bool sql_bind_args(struct bind *b, const struct ast_expr *e, struct sql_expr ***out);
/* array.c. _as: ARRAY[...] under a cast. */
struct sql_expr *sql_bind_array(struct bind *b, const struct ast_expr *e);
struct sql_expr *sql_bind_array_as(
    struct bind *b, const struct ast_expr *e, enum cat_type type, int32_t typmod);
struct sql_expr *sql_bind_index(struct bind *b, const struct ast_expr *e);
struct sql_expr *sql_bind_any(struct bind *b, const struct ast_expr *e);
/* unnest.c: call it before binding a select list, in which such calls may stand. True if item e is
 * possible. */
bool sql_bind_srf_begin(struct bind *b);
bool sql_bind_srf_item(struct bind *b, const struct sql_expr *e, int position);
struct sql_expr *sql_bind_srf_call(struct bind *b, const struct ast_expr *e);
/* Projection p of the list makes the arrays. sql_bind_srf_node: the operator that takes them
 * apart, maybe above others; n if there are no arrays. */
bool sql_bind_srf_arrays(struct bind *b, struct sql_op_project *p);
struct sql_node *sql_bind_srf_node(struct bind *b, struct sql_node *n);
/* True if e contains the element of such a call. */
bool sql_bind_srf_in(const struct bind *b, const struct sql_expr *e);
/* from.c: arguments of generate_series, brought to one type, which is that of its rows. */
bool sql_bind_series(struct bind *b, const struct ast_expr *f, struct sql_expr **e, enum cat_type *type);
/* names.c: the name of an answer's column without AS. */
const char *sql_bind_name_of(struct bind *b, const struct ast_expr *e);
/* f in FROM, and the types of its columns. */
struct sql_node *sql_bind_srf_source(
    struct bind *b, const struct ast_expr *f, bool ordinality, enum cat_type **type, int32_t **typmod);
/* 42883 if values of that type cannot be compared; what: "equality", "ordering". */
bool sql_bind_ordered(struct bind *b, enum cat_type t, const char *what, int position);
bool sql_bind_conds(struct bind *b, const struct ast_expr *e);
struct bind_cond *sql_bind_cond_add(struct bind *b);
/* or.c: binds the conditions that all branches of an OR share, and returns the OR of the rest.
 * NULL = error in *err. */
const struct ast_expr *sql_bind_or_common(struct bind *b, const struct ast_expr *e);
/* True if two bindings of e are as good as one. */
bool sql_bind_may_share(const struct ast_expr *e);
/* narrow.c: a condition more of a subquery whose ties are left[] = key[], and whose set is made
 * next. answer: its value. */
bool sql_bind_narrow(struct bind *b, struct sql_expr *const *left, struct sql_expr *const *key, unsigned keys,
    const struct sql_expr *answer);
/* If a bound condition over these tables is an OR: adds the conditions, each over one table, that
 * follow from it. */
bool sql_bind_or_parts(struct bind *b, struct sql_expr *e, const struct sql_set *tables);
bool sql_bind_cond_eq(struct bind *b, const struct ast_expr *l, const struct ast_expr *r, int position);
/* lock.c: sql_bind_locks, before sql_plan_from, finds the tables whose rows are locked;
 * sql_bind_lock_node, after it, checks that they may be, and makes the operator. */
bool sql_bind_locks(struct bind *b, const struct ast_select *q);
struct sql_op_lock *sql_bind_lock_node(
    struct bind *b, const struct ast_select *q, struct sql_node *child, unsigned first);
/* The statement needs these rights on a table or view; checked when it is bound. */
bool sql_bind_need(struct bind *b, const struct cat_table *tab, uint16_t rights);
bool sql_bind_add_table(struct bind *b, const struct ast_table *t);
/* One more table, all zeros, that counts from now on. NULL = no memory. */
struct bind_table *sql_bind_next_table(struct bind *b);
/* Finds a column. qual may be NULL. On false *err says why. */
bool sql_bind_find_column(
    struct bind *b, const char *qual, const char *name, int position, unsigned *table, unsigned *column);
/* sql_bind_locate: or the item of FROM of that name whose rows are values. _column: columns
 * alone. */
/* The last item of FROM is a relation of that number, whatever made its rows. */
bool sql_bind_made_by(struct bind *b, uint32_t oid);
/* The relation whose column an item of a select list is, if it is a column and nothing else. */
void sql_bind_origin(struct bind *b, const struct ast_expr *e, struct sql_column *out);
bool sql_bind_locate(struct bind *b, const struct ast_expr *e, unsigned *table, unsigned *column);
bool sql_bind_locate_column(struct bind *b, const struct ast_expr *e, unsigned *table, unsigned *column);
/* The item of FROM that is seen and has that name; b->from.tables: none. */
unsigned sql_bind_row_of(const struct bind *b, const char *name);
/* May its columns be written with that schema before its name? NULL: yes. */
bool sql_bind_in_schema(const struct bind_table *t, const char *schema);
/* The relation that an item of FROM names; *out NULL: there is none in the catalog. */
bool sql_bind_lookup(struct bind *b, const struct ast_table *t, const struct cat_table **out);
bool sql_bind_same(struct bind *b, const struct ast_expr *x, const struct ast_expr *y);
/* scope.c: true if an aggregate in e, or in its subqueries, belongs to b's query. */
bool sql_bind_has_agg(struct bind *b, const struct ast_expr *e);
/* True if the aggregate e, in b's own text, belongs to a query around b's. */
bool sql_bind_is_outside(struct bind *b, const struct ast_expr *e);
/* True if a query around b's has that column. */
bool sql_bind_seen_outside(struct bind *b, const struct ast_expr *col);
struct sql_set sql_bind_tables_of(const struct bind *b, const struct sql_expr *e);
/* True if e reads a column of b's FROM list. */
bool sql_bind_speaks_of_table(const struct bind *b, const struct sql_expr *e);
const char *sql_bind_column_name(const struct bind_table *t, unsigned column);
bool sql_bind_fail(struct bind *b, int position, const char *sqlstate, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* An AST node for a column that is already found. */
struct ast_expr *sql_bind_ast_column(struct bind *b, unsigned table, unsigned column, int position);

/* from.c: makes the binder of a query inside of b's, which sees nothing of b's FROM list; and
 * binds such a query. */
struct bind *sql_bind_child(struct bind *b, int position);
struct sql_node *sql_bind_child_select(struct bind *b, struct bind *child, const struct ast_select *q);
/* sql_bind_child_select in two steps: binding, then making operators. */
bool sql_bind_child_query(struct bind *b, struct bind *child, const struct ast_select *q);
struct sql_node *sql_plan_child(struct bind *b, struct bind *child);
bool sql_bind_deeper(struct bind *b, unsigned deep, int position);
/*
 * WITH: b and its children see the names from here on. sql_bind_with_done, when all that may use
 * them is bound: root is where it is executed (or NULL), and takes care of the queries used more
 * than once.
 */
/* Into s->arenas: those given out since `from` that are emptied when their user starts again. */
bool sql_bind_own_arenas(struct bind *b, struct sql_sub *s, unsigned from);
bool sql_bind_cte_names(struct bind *b, const struct ast_cte *c, struct bind_cte *out);
bool sql_bind_with(struct bind *b, const struct ast_with *w, const struct ast_select *q);
/*
 * refs.c: for each query of q's WITH: true if it is used in one FROM list only, which is read
 * once. q NULL = false for each.
 */
bool *sql_bind_said_once(struct bind *b, const struct ast_with *w, const struct ast_select *q);
/* In which order the queries of w are bound. */
unsigned *sql_bind_with_order(struct nam_arena *a, const struct ast_with *w, struct cat_err *err);
bool sql_bind_with_done(struct bind *b, const struct ast_with *w, struct sql_node *root);
/* Something of b's query failed: mistakes of its WITH are told first. Returns false. */
bool sql_bind_with_told_first(struct bind *b);
/*
 * recursion.c: the queries of WITH RECURSIVE use themselves where they may, once each; else 42P19,
 * before anything is bound. order: sql_bind_with_order's.
 */
bool sql_bind_recursion_is_sound(const struct ast_with *w, const unsigned *order, struct cat_err *err);
/* True if that name is one of WITH. Then a FROM item is added, or *err says why not (*ok). */
/* True if a query of it is INSERT, UPDATE or DELETE: steps.c. */
bool sql_with_changes(const struct ast_with *w);
/* Earlier steps of a statement get their names. */
bool sql_bind_steps(struct bind *b, const struct sql_step *first);
bool sql_bind_add_cte(struct bind *b, const struct ast_table *t, bool *ok);
bool sql_bind_add_function(struct bind *b, const struct ast_table *t);
bool sql_bind_add_derived(struct bind *b, const struct ast_table *t);
/*
 * pull_up.c: may_flatten: true if q's text allows its tables to replace it in b's FROM list. Then
 * bind it by a child with columns behind b's. The other adds a FROM item with child's answers: by
 * its tables, if that is possible, else with operators of its own.
 */
bool sql_bind_may_flatten(struct bind *b, struct bind *child, const struct ast_select *q);
bool sql_bind_add_query(struct bind *b, const struct ast_table *t, struct bind *child);
/* Column c of a query that is no operand. */
struct sql_expr *sql_bind_pulled_column(struct bind *b, const struct bind_table *t, unsigned c);
/* Once all of FROM is there: from numbers of items to numbers of tables. first, last: of each
 * item. */
bool sql_bind_pulled_outers(struct bind *b, const unsigned *first, const unsigned *last);
/* rows.c: a relation whose rows are made now. The caller sets b, column and cols. */
struct bind_rows {
	struct bind *b;
	const struct sql_column *column;
	unsigned cols, n, cap, at; /* at: columns of the row that is being made */
	struct sql_expr **e;
};
/* The next column of the next row, with the column's type. A text is borrowed; NULL is NULL. */
bool sql_bind_put(struct bind_rows *r, struct cat_datum d);
bool sql_bind_put_text(struct bind_rows *r, const char *s);
/* False with 42501: t is what a statement is to change. */
bool sql_bind_only_read(struct bind *b, const struct ast_table *t);
/* The rows as FROM's item t. */
bool sql_bind_add_rows(struct bind_rows *r, const struct ast_table *t);
/* stats.c: what ANALYZE found, as a table. */
bool sql_bind_add_stats(struct bind *b, const struct ast_table *t);
/* functions.c: nam_functions in FROM, for a table of that name that the catalog does not have. */
bool sql_bind_add_functions(struct bind *b, const struct ast_table *t);
/* system.c: PostgreSQL's system catalogs. False: the name is none of them; else *ok. */
bool sql_bind_add_system(struct bind *b, const struct ast_table *t, bool *ok);
/* activity.c: PostgreSQL's statistics views of what is going on. As sql_bind_add_system. */
bool sql_bind_add_activity(struct bind *b, const struct ast_table *t, bool *ok);
/* Does the query ask the catalog t for one relation only, or for none? *oid: its number, or 0. */
struct sql_system;
bool sql_bind_asked(struct bind *b, const struct ast_table *t, const struct sql_system *s,
    const char *catalog, uint32_t *oid);
/* tab: the table of t's name. False with an error: t names a relation of PostgreSQL's that namdb
 * does not have, or one of its schemas that has none of that name. */
bool sql_bind_system_known(struct bind *b, const struct ast_table *t, const struct cat_table *tab);
/* guess.c: *b->err says that a column, or a relation, does not exist; it gets a HINT if a similar
 * one does. */
void sql_bind_guess_column(struct bind *b, const struct ast_expr *e);
void sql_bind_guess_relation(struct bind *b, const char *name);
/* lateral.c: the binder of a query, or of a function's arguments, that sees b's tables so far;
 * when they are bound. */
struct bind *sql_bind_lateral_child(struct bind *b, int position, struct sql_sub **out);
bool sql_bind_lateral_done(struct bind *b, struct sql_sub *s, struct sql_node *root, unsigned from);
/* A FROM item whose rows come from sub (NULL = from the query of `from`): n columns called that
 * (an alias's names go before). */
bool sql_bind_add_source(struct bind *b, const struct ast_table *t, struct sql_node *sub,
    const struct sql_column *column, unsigned n);

/* agg.c: the column of the aggregation's answer that a call is. */
/* No function of that name takes these arguments. Returns false. */
bool sql_bind_no_function(struct bind *b, const struct ast_expr *e, struct sql_expr *const *arg, unsigned n);
struct sql_expr *sql_bind_aggregate(struct bind *b, const struct ast_expr *e, enum sql_agg_kind kind);
bool sql_bind_same_agg(const struct ast_agg *x, const struct ast_agg *y);
/* The arguments of an aggregate in the types that it takes: texts or bytes of string_agg, a time as
 * an interval of sum. */
bool sql_bind_agg_cast(
    struct bind *b, const struct ast_expr *e, enum sql_agg_kind kind, struct sql_expr **arg, unsigned n);
/* The condition of FILTER. */
bool sql_bind_filter(struct bind *b, const struct ast_expr *e, struct sql_expr **out);

/*
 * group.c: the grouping sets of q, whose expression k is group leaf[k]; then the operator below
 * the aggregation.
 */
bool sql_bind_gsets(struct bind *b, const struct ast_select *q, const unsigned *leaf);
/* True if every grouping set has that column of the wide batch; leaf: as above. */
bool sql_bind_in_all_gsets(
    const struct bind *b, const struct ast_select *q, const unsigned *leaf, unsigned column);
struct sql_node *sql_bind_gset_node(struct bind *b, struct sql_node *child);
struct sql_expr *sql_bind_grouping(struct bind *b, const struct ast_expr *e);
/* select.c: one more group. */
bool sql_bind_group_key(struct bind *b, const struct ast_expr *e, struct sql_expr *key);

/* select.c: *b->err says what is wrong with WHERE or GROUP BY; unless the select list, or what
 * else PostgreSQL looks at before, is wrong as well. Returns false. */
bool sql_bind_told_first(struct bind *b, const struct ast_select *q, bool all);
/* join.c: all of FROM and its conditions; then which columns `*` is. */
bool sql_bind_from(struct bind *b, const struct ast_select *q);
struct bind_ref {
	unsigned table, column;
};
bool sql_bind_star(struct bind *b, struct bind_ref **out, unsigned *n);
/* The columns of alias.*, of a join with that alias; *n == 0: there is none. */
bool sql_bind_join_star(struct bind *b, const char *alias, struct bind_ref **out, unsigned *n);
/* True if that is a name of a join's USING clause, and one of its columns. */
bool sql_bind_using_column(
    struct bind *b, const char *alias, const char *name, unsigned *table, unsigned *column, bool *known);
/* The region that table `first` to `last` belong to, besides outer join `but`. */
unsigned sql_bind_region(const struct bind *b, unsigned first, unsigned last, unsigned but);
/* Tables any of which makes e NULL when it is all NULL itself. */
struct sql_set sql_bind_nulls(const struct bind *b, const struct sql_expr *e);
/* Tables without which (all NULL) the condition is not true. */
struct sql_set sql_bind_rejects(const struct bind *b, const struct sql_expr *e);

/* sub.c: two: NULL is as good as false here. */
struct sql_expr *sql_bind_sub(struct bind *b, const struct ast_expr *e, bool two);
/* A column of an outer query. */
struct sql_expr *sql_bind_outer(struct bind *b, const struct ast_expr *e);
bool sql_bind_speaks_of_outer(const struct sql_expr *e);
/* b's FROM list has that table. */
void sql_bind_sub_reads(struct bind *b, const struct cat_table *tab);
/*
 * If all that ties b's query, bound and planned, to the outside are equalities: a second plan,
 * that finds the answers to all outer rows at once. out: its select list.
 */
bool sql_bind_sub_set(struct bind *b, const struct ast_select *q, struct sql_expr **out, unsigned n);

/* select.c: FROM .. LIMIT; adds columns of the answer to the plan unless quiet. */
struct sql_node *sql_bind_select(struct bind *b, const struct ast_select *q, bool quiet);
/* window.c: a call becomes a column; unused definitions are checked; the operator, if there were
 * calls. */
struct sql_expr *sql_bind_window(struct bind *b, const struct ast_expr *e);
bool sql_bind_window_defs(struct bind *b, const struct ast_select *q);
struct sql_node *sql_bind_window_node(struct bind *b, struct sql_node *child);
bool sql_window_function(const char *name);
bool sql_window_same(const struct ast_window *x, const struct ast_window *y);
/* plan.c: columns of the FROM list that are used, and the type of one. */
unsigned *sql_plan_columns(struct bind *b, unsigned *count);
enum cat_type sql_plan_column_type(const struct bind *b, unsigned index);
/* Those two steps apart, for callers that change the select list's expressions between them. */
bool sql_bind_select_begin(struct bind *b, const struct ast_select *q);
struct sql_node *sql_bind_select_end(struct bind *b, bool quiet);
/* The second step in two: all is bound, then (plan/select.c) there are operators. More conditions
 * may come between them. */
bool sql_bind_select_rest(struct bind *b, bool quiet);
struct sql_node *sql_plan_select(struct bind *b);
/* WITH RECURSIVE: the last query of q over what the ones before it, and itself, found last. self:
 * as seen by it. */
struct sql_node *sql_bind_recursive(struct bind *b, const struct ast_cte *c, struct bind_cte *self,
    struct sql_column **column, unsigned *columns);
/* set.c: the whole without ORDER BY and LIMIT, and its columns; then its operators. */
struct bind_set *sql_bind_set(
    struct bind *b, const struct ast_select *q, struct sql_column **column, unsigned *columns);
struct sql_node *sql_plan_set(struct bind *b, struct bind_set *s);
/* plan.c: the operators that answer FROM and WHERE. */
struct sql_node *sql_plan_from(struct bind *b);
struct sql_node *sql_plan_node(
    struct bind *b, enum sql_node_kind kind, struct sql_node *child, unsigned cols);
/* sql_plan_node for each kind: sql_new_sort(b, child, cols). */
#define SQL_NEW(KIND, kind)                                                                                  \
	static inline struct sql_op_##kind *sql_new_##kind(                                                  \
	    struct bind *b, struct sql_node *child, unsigned cols)                                           \
	{                                                                                                    \
		return (struct sql_op_##kind *)sql_plan_node(b, SQL_NODE_##KIND, child, cols);               \
	}
SQL_NODE_KINDS(SQL_NEW)
#undef SQL_NEW
/* e[0..n) over each of the child's rows. */
struct sql_node *sql_plan_project(struct bind *b, struct sql_node *child, struct sql_expr **e, unsigned n);
/* dml.c */
/* rules.c: defaults and checks of the target, NULL when it has none of either. */
bool sql_bind_rules(struct bind *b, const struct cat_table *tab, struct sql_rules **out);
/* A binder of its own, over the columns of a table or of a domain; a condition of its CHECK. */
struct bind *sql_bind_over(struct bind *b, const struct cat_table *tab);
struct sql_expr *sql_bind_check(struct bind *s, const struct ast_expr *e);
/* The expression that a text of the catalog says; it lives as long as the plan. */
const struct ast_expr *sql_bind_text_expr(struct bind *b, const char *text);
/* A view in FROM: its text as a derived table. */
bool sql_bind_add_view(struct bind *b, const struct ast_table *t, const struct cat_table *view);
/* The statement that a text of the catalog says; lives as long as the plan. */
const struct ast_stmt *sql_bind_text(struct bind *b, const char *prefix, const char *text);
bool sql_bind_insert(struct bind *b, const struct ast_stmt *st);
bool sql_bind_update(struct bind *b, const struct ast_stmt *st);
bool sql_bind_delete(struct bind *b, const struct ast_stmt *st);
bool sql_bind_target(struct bind *b, const struct ast_table *t);
bool sql_bind_returning(struct bind *b, const struct ast_stmt *st);
/* b->err says what is wrong with RETURNING, or (set) with SET; unless WHERE, or RETURNING, is
 * wrong as well, which PostgreSQL looks at before. Returns false. */
bool sql_bind_where_first(struct bind *b, const struct ast_stmt *st, bool set);
bool sql_bind_set_columns(struct bind *b, const struct ast_target *set, unsigned n, struct sql_sets *out);
/* x as a value for column c of the target. */
struct sql_expr *sql_bind_assigned(struct bind *b, struct sql_expr *x, unsigned c, int position);
/* dml_from.c */
bool sql_bind_dml_from(struct bind *b, const struct ast_stmt *st);

#endif
