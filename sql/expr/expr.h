/*
 * expr.h -- bound scalar expressions: built with PostgreSQL's typing rules, evaluated a vector at a
 * time.
 *
 * The binder (sql/plan/bind/bind.c) builds trees with the sql_expr_* makers, which resolve
 * operators and functions, insert casts, decide the type of untyped literals, and
 * fold constants. Executors evaluate them over a batch with a selection.
 * Trees are immutable once built and may be used by several executions at once;
 * they live in the arena given to the makers.
 */
#ifndef NAM_SQL_EXPR_H
#define NAM_SQL_EXPR_H

#include <types/value.h>

enum sql_expr_kind {
	SQL_CONST,
	SQL_COLUMN, /* input column `index` of the batch */
	SQL_PARAM,  /* $index+1 */
	SQL_CALL,   /* a scalar function or operator: fn->eval over the arguments */
	SQL_AND,
	SQL_OR,
	SQL_NOT,
	SQL_IS_NULL, /* negate: IS NOT NULL */
	SQL_CASE,    /* args: when, then, when, then, ..., else (always there) */
	SQL_COALESCE,
	SQL_IN,    /* args[0] IN (args[1..]) ; negate: NOT IN */
	SQL_OUTER, /* a value of the outer row: env->outer[index] */
	SQL_SUB,   /* a subquery over the values of args: env->sub knows */
};

struct sql_fn; /* one overload of one function or operator; a row of the tables in func/ */

struct sql_expr {
	enum sql_expr_kind kind;
	enum cat_type type;
	int32_t typmod; /* -1 = none */
	int position;   /* 1-based character in the statement, 0 = none; for error messages */
	uint16_t nargs;
	bool negate;
	bool vague;         /* SQL_PARAM: a place took it that gives no type */
	unsigned index;     /* SQL_COLUMN, SQL_PARAM */
	enum cat_type told; /* SQL_PARAM: as clients see it, if it is not type */
	struct sql_expr **args;
	const struct sql_fn *fn;
	const struct sql_expr
	    *call; /* SQL_CALL whose type got another name: as it was, for fn; NULL: it is itself */
	struct cat_datum value; /* SQL_CONST */
	bool pure;              /* no column, no parameter, no volatile function below */
	bool rows;              /* a column below: differs from row to row */
	const void *list;       /* SQL_IN: a long list of constants, sorted; eval.c's.
				 * SQL_CALL: what fn prepared */
	void *sub;              /* SQL_SUB: env->sub's */
	uint32_t domain;        /* its values are of that domain; 0 = none is known */
};

/* What values of a domain have to fulfil, those of the domains below it first. Conditions are over
 * a batch of one column, the value. */
enum { SQL_FIRST_OID = 16384 }; /* and the id: a type's number (sql/system/system.h) */
struct sql_domain_check {
	const char *name;
	struct sql_expr *e;
};
struct sql_domain {
	uint32_t id;
	const char *name; /* as messages say it */
	bool not_null;
	struct sql_domain_check *check;
	unsigned checks;
};

/* ---- makers: NULL and *err (42883 no such function, 42804 type mismatch, 22P02 ...) when they
 * cannot --- */

struct sql_expr *sql_expr_const(struct nam_arena *a, struct cat_datum d, int position);
struct sql_expr *sql_expr_column(
    struct nam_arena *a, unsigned index, enum cat_type type, int32_t typmod, int position);
/* The index of a column whose number the maker's caller writes into the node later. */
#define SQL_COLUMN_LATER UINT32_MAX
/* CAT_UNKNOWN: the first place that uses the node decides, and writes the type into it. Use one
 * node per parameter then. */
struct sql_expr *sql_expr_param(struct nam_arena *a, unsigned index, enum cat_type type, int position);
/* A value that env->outer[index] holds while it is evaluated. */
struct sql_expr *sql_expr_outer(
    struct nam_arena *a, unsigned index, enum cat_type type, int32_t typmod, int position);
/* A subquery: env->sub is asked for its value, given those of args. NULL = no memory, or too many
 * arguments. */
struct sql_expr *sql_expr_sub(struct nam_arena *a, void *sub, enum cat_type type, int32_t typmod,
    struct sql_expr **args, unsigned n, int position, struct cat_err *err);
/* Operators by their PostgreSQL name: + - * / % ^ = <> != < <= > >= || ~~ (LIKE) !~~ ~~* !~~* ;
 * left NULL = prefix. */
struct sql_expr *sql_expr_op(struct nam_arena *a, const char *op, struct sql_expr *left,
    struct sql_expr *right, int position, struct cat_err *err);
/* Scalar functions by lower-case name: abs, round, lower, upper, length, substring, coalesce is a
 * kind of its own, ... */
struct sql_expr *sql_expr_func(struct nam_arena *a, const char *name, struct sql_expr **args, unsigned n,
    int position, struct cat_err *err);
/* Explicit cast (CAST, ::), any conversion PostgreSQL has for these types. */
struct sql_expr *sql_expr_cast(struct nam_arena *a, struct sql_expr *e, enum cat_type to, int32_t typmod,
    int position, struct cat_err *err);
/* Assignment cast (INSERT, UPDATE SET): integer to bigint, numeric to int (rounded), text literal
 * to any... 42804 else. */
struct sql_expr *sql_expr_assign(struct nam_arena *a, struct sql_expr *e, enum cat_type to, int32_t typmod,
    const char *column, int position, struct cat_err *err);
/* AND, OR (n >= 2), NOT (n == 1): arguments must be boolean (42804). IS_NULL, CASE, COALESCE, IN
 * likewise with their rules. */
struct sql_expr *sql_expr_make(struct nam_arena *a, enum sql_expr_kind kind, struct sql_expr **args,
    unsigned n, bool negate, int position, struct cat_err *err);
/* ARRAY[args]; 42P18 without any. */
struct sql_expr *sql_expr_array(
    struct nam_arena *a, struct sql_expr **args, unsigned n, int position, struct cat_err *err);
/*
 * generate_series(args), already of that type (the third of timestamps: an interval), as an
 * array.
 */
struct sql_expr *sql_expr_series(struct nam_arena *a, struct sql_expr **args, unsigned n, enum cat_type type,
    int position, struct cat_err *err);
/* array[lower], or with slice array[lower:upper]; lower or upper NULL = not written. */
struct sql_expr *sql_expr_subscript(struct nam_arena *a, struct sql_expr *array, struct sql_expr *lower,
    struct sql_expr *upper, bool slice, int position, struct cat_err *err);
/* An int2vector or oidvector as the array of bigint that it is; any other expression as it is. */
struct sql_expr *sql_vector_open(struct nam_arena *a, struct sql_expr *e, struct cat_err *err);
/* x op ANY (array), or ALL. */
struct sql_expr *sql_expr_any(struct nam_arena *a, const char *op, struct sql_expr *x, struct sql_expr *array,
    bool all, int position, struct cat_err *err);
/* True if e is x = ANY (array), and x and the elements are compared without casts. */
bool sql_expr_is_any(const struct sql_expr *e);
/* The operator of x op ANY (array), or ALL; NULL = e is neither. */
const char *sql_expr_any_op(const struct sql_expr *e, bool *all);
/* The array type with such elements. False with 0A000 if they are arrays. */
bool sql_array_of(enum cat_type element, enum cat_type *out, struct cat_err *err);
/* True if it is a function over arrays of any type. The type of an untyped parameter as its
 * argument k; UNKNOWN = not known. */
bool sql_array_function(const char *name);
enum cat_type sql_array_param(const char *name, const struct sql_expr *const *args, unsigned n, unsigned k);
/*
 * settle.c: gives the untyped arguments of a call the types that PostgreSQL's candidates give.
 * An argument for which PostgreSQL takes any type stays untyped. False with 42883, 42725, 42804.
 */
bool sql_settle_func(struct nam_arena *a, const char *name, struct sql_expr **args, unsigned n, int position,
    struct cat_err *err);
bool sql_settle_op(struct nam_arena *a, const char *op, struct sql_expr **args, unsigned n, int position,
    struct cat_err *err);
/* Only the types, of both sides of an operator. */
bool sql_settle_types(
    const char *op, const enum cat_type type[2], enum cat_type to[2], int position, struct cat_err *err);
/* Brings n expressions to one common type (CASE branches, IN lists, VALUES columns, join keys). */
bool sql_expr_unify(
    struct nam_arena *a, struct sql_expr **e, unsigned n, const char *what, struct cat_err *err);
/* After that: the typmod of the result. */
int32_t sql_expr_typmod(struct sql_expr *const *e, unsigned n);
/* e as one of that type, whose values have the same bytes, and of that typmod. NULL: no memory. */
struct sql_expr *sql_expr_as(struct nam_arena *a, struct sql_expr *e, enum cat_type type, int32_t typmod);
/* e, its values as they are, under another typmod: text (-1), varchar (CAT_VARCHAR), numeric. */
struct sql_expr *sql_expr_name(struct nam_arena *a, struct sql_expr *e, int32_t typmod, struct cat_err *err);
/* domain.c: e, already of d's base type, with d's constraints checked; d lives as long as e. */
struct sql_expr *sql_expr_domain(
    struct nam_arena *a, struct sql_expr *e, const struct sql_domain *d, struct cat_err *err);
/* NULL = e is no such node. */
const struct sql_domain *sql_expr_is_domain(const struct sql_expr *e);
/* An untyped literal becomes text (select-list rule). Returns e or a cast of it. */
struct sql_expr *sql_expr_default_type(struct nam_arena *a, struct sql_expr *e, struct cat_err *err);

/* substitute.c: e with with[0..n) in place of columns base..base+n-1, of the same types. NULL = no
 * memory. */
struct sql_expr *sql_expr_substitute(
    struct nam_arena *a, struct sql_expr *e, unsigned base, unsigned n, struct sql_expr *const *with);
/* has_sub: true if e has a subquery. volatile: true if it calls a function with effects, or with
 * results that differ from row to row. */
bool sql_expr_has_sub(const struct sql_expr *e);
bool sql_expr_volatile(const struct sql_expr *e);
/* True if e is NULL for every row, because a value of the outer row in it is NULL. outer: env's. */
bool sql_expr_null_outside(const struct sql_expr *e, const struct cat_datum *outer);
/* True if e is a condition that cannot fail, and is alike for values that = calls equal. */
bool sql_expr_harmless(const struct sql_expr *e);

/* ---- unknown.c: names that namdb does not have --------------------------------- */

/* A HINT for the name of a function that does not exist. False if there is a function of that name,
 * or none that is similar. */
bool sql_guess_function(const char *name, struct cat_err *err);
/* True if a function or operator of that name in the list takes n arguments of these types. */
bool sql_postgres_takes(const char *list, const char *name, const enum cat_type *type, unsigned n);

/*
 * Makes the error that no function, or operator, of that name takes these arguments: 0A000 if
 * PostgreSQL has one, else 42883; or 42725 if several take them and none is better. Returns false.
 */
bool sql_no_function(
    struct cat_err *err, const char *name, const enum cat_type *type, unsigned n, bool several, int position);
bool sql_no_operator(
    struct cat_err *err, const char *name, const enum cat_type *type, unsigned n, bool several, int position);

/* ---- evaluation ------------------------------------------------------------ */

/* Rows sel[0..n) of a batch (sel NULL = rows 0..n-1). */
struct sql_batch {
	struct cat_vec *col;
	unsigned cols;
	unsigned n; /* rows in the vectors, <= CAT_BATCH */
};
struct sql_session;
struct sql_row; /* a call for one row: functions.h */
/* What a function wants to know of the catalog: by oids, unless otherwise said. */
enum sql_ask {
	SQL_ASK_REG_NAME,      /* a number as a value of r's type, with the name it has */
	SQL_ASK_REG_FIND,      /* likewise, by a name */
	SQL_ASK_REG_MAYBE,     /* likewise; NULL if nothing has that name */
	SQL_ASK_IS_VISIBLE,    /* a relation that its name alone finds? */
	SQL_ASK_TYPE_VISIBLE,  /* a type; NULL: there is none of that number */
	SQL_ASK_FN_VISIBLE,    /* a function */
	SQL_ASK_USER,          /* the name of a role */
	SQL_ASK_TYPE,          /* format_type */
	SQL_ASK_INDEX,         /* pg_get_indexdef */
	SQL_ASK_CONSTRAINT,    /* pg_get_constraintdef */
	SQL_ASK_VIEW,          /* pg_get_viewdef */
	SQL_ASK_EXPR,          /* pg_get_expr: a text of the catalog in PostgreSQL's words */
	SQL_ASK_FN_RESULT,     /* pg_get_function_result */
	SQL_ASK_FN_ARGUMENTS,  /* and its arguments */
	SQL_ASK_SERIAL,        /* pg_get_serial_sequence: a table's and a column's name */
	SQL_ASK_TABLE_RIGHT,   /* has_table_privilege and its kin */
	SQL_ASK_ROLE_RIGHT,    /* of a role: pg_has_role */
	SQL_ASK_RELATION_SIZE, /* pg_relation_size and its kin; NULL: there is no such relation */
	SQL_ASK_TABLE_SIZE,
	SQL_ASK_INDEXES_SIZE,
	SQL_ASK_TOTAL_SIZE,
	SQL_ASK_DATABASE_SIZE,
	SQL_ASK_SPACE_SIZE,
	SQL_ASK_DATABASE_RIGHT,
	SQL_ASK_SCHEMA_RIGHT,
	SQL_ASK_SCHEMA,  /* current_schema */
	SQL_ASK_SCHEMAS, /* current_schemas */
	SQL_ASK_TEMP,    /* pg_my_temp_schema */
	SQL_ASK_OTHER_TEMP,
};
enum { SQL_KNOWN_MOST = 128, SQL_KNOWN_TEXT = 256 };
/* A setting in the words of pg_settings; what it does not have is NULL. Texts that last as long as
 * the session, but those in buf. */
struct sql_known {
	const char *name, *about, *setting, *boot, *unit, *vartype, *context, *min, *max;
	const char *choices; /* a|b|c */
	char buf[4][SQL_KNOWN_TEXT];
};
/* Callbacks of the session, which lies above: handed in with env. */
struct sql_host {
	/* The k-th setting by name. False: there are no more. */
	bool (*known)(struct sql_session *s, unsigned k, struct sql_known *out);
	/* A setting's value as SHOW says it, perhaps in buf; NULL = there is no such name. */
	const char *(*setting)(struct sql_session *s, const char *name, char *buf, size_t max);
	/* value NULL = the default; local: until the transaction ends. */
	bool (*set)(
	    struct sql_session *s, const char *name, const char *value, bool local, struct cat_err *err);
	bool (*nextval)(struct sql_row *r), (*currval)(struct sql_row *r), (*lastval)(struct sql_row *r);
	bool (*setval)(struct sql_row *r, bool called);
	bool (*system)(struct sql_row *r, enum sql_ask what);
	/* When the session's transaction began, microseconds since 2000-01-01; the first to ask
	 * sets it. */
	int64_t (*now_us)(struct sql_session *s);
	/* When the statement came in, likewise. */
	int64_t (*statement_us)(struct sql_session *s);
	/* pg_cancel_backend; end: pg_terminate_backend. *done: there is such a session. */
	bool (*signal)(struct sql_session *s, int32_t pid, bool end, bool *done, struct cat_err *err);
	/* pg_backend_pid's. */
	int32_t (*pid)(struct sql_session *s);
	/* pg_sleep: parks for so many seconds, or until the statement is to end: false, *err. */
	bool (*sleep)(struct sql_session *s, double seconds, struct cat_err *err);
};
struct sql_env {
	struct sql_session *session; /* NULL while constants are folded; so are host and dice */
	const struct sql_host *host;
	uint64_t *dice; /* random()'s state, two words */
	/* How texts show floats (cat_value_show), as the session has it now; NULL = with as few
	 * digits as read back. */
	const uint8_t *floats;
	/* While constants are folded: becomes true when a text shows a float, since the next run
	 * may show it in another way. NULL = not asked for. */
	bool *shows_float;
	const struct cat_datum *param;
	unsigned params;
	int64_t now_us;          /* start of transaction, microseconds since 2000-01-01, for
				  * now() */
	struct nam_arena *arena; /* batch arena: results live here */
	struct cat_err *err;
	const struct cat_datum *outer; /* SQL_OUTER */
	/* The value of SQL_SUB e over n argument values v: lives in the arena that env has when it
	 * is called. May park. */
	bool (*sub)(void *arg, const struct sql_expr *e, const struct cat_datum *v, struct cat_datum *out);
	void *sub_arg;
	/* Called with the bytes of work on long values. True if the work may go on; else *err says
	 * why not. NULL = it always may. */
	bool (*go_on)(void *arg, uint64_t work);
	void *go_on_arg;
};
/* go_on for what is computed while a plan is made, when there is no statement yet that could time
 * out. left: a uint64_t, SQL_BUDGET at first; 0 = it was spent, and the answer counts for
 * nothing. */
enum { SQL_BUDGET = 1 << 20 };
bool sql_budget(void *left, uint64_t work);
/*
 * Evaluates e for the rows in sel (n of them) of the batch; *out gets a vector indexed like the
 * batch (row k at k; rows not in sel are garbage, null[] too). out may alias an input column: never
 * write through it. On false *env->err is set (22012, 22003, ...). AND, OR, CASE and COALESCE
 * evaluate a later argument only for the rows that need it.
 */
bool sql_eval(const struct sql_expr *e, const struct sql_batch *b, const uint16_t *sel, unsigned n,
    const struct sql_env *env, struct cat_vec *out);
/* Keeps the rows of sel for which e is true: writes them to keep (may be sel), returns how many, -1
 * on error. */
int sql_filter(const struct sql_expr *e, const struct sql_batch *b, const uint16_t *sel, unsigned n,
    const struct sql_env *env, uint16_t *keep);
/* A single value, no input columns: for constants, LIMIT, point keys, VALUES. */
bool sql_eval_one(const struct sql_expr *e, const struct sql_env *env, struct cat_datum *out);

/* ---- aggregates -------------------------------------------------------------- */

enum sql_agg_kind {
	SQL_COUNT_STAR,
	SQL_COUNT,
	SQL_SUM,
	SQL_AVG,
	SQL_MIN,
	SQL_MAX,
	SQL_BOOL_AND, /* from here on: agg_more.c */
	SQL_BOOL_OR,
	SQL_BIT_AND,
	SQL_BIT_OR,
	SQL_BIT_XOR,
	SQL_VAR_POP,
	SQL_VAR_SAMP,
	SQL_STDDEV_POP,
	SQL_STDDEV_SAMP,
	SQL_STRING_AGG, /* of two arguments: sql_agg_add_text */
	SQL_ARRAY_AGG,
	SQL_JSON_AGG,        /* over sql_expr_json_row */
	SQL_JSON_OBJECT_AGG, /* likewise */
	SQL_CORR,            /* from here on: over sql_expr_pair_row (agg_pair.c) */
	SQL_COVAR_POP,
	SQL_COVAR_SAMP,
	SQL_REGR_AVGX,
	SQL_REGR_AVGY,
	SQL_REGR_COUNT,
	SQL_REGR_INTERCEPT,
	SQL_REGR_R2,
	SQL_REGR_SLOPE,
	SQL_REGR_SXX,
	SQL_REGR_SXY,
	SQL_REGR_SYY,
};
/* True if it takes two doubles, as one value that sql_expr_pair_row makes. */
static inline bool
sql_agg_is_pair(enum sql_agg_kind k)
{
	return k >= SQL_CORR;
}
/* True if the aggregate does not skip NULLs. */
static inline bool
sql_agg_takes_nulls(enum sql_agg_kind k)
{
	return k == SQL_ARRAY_AGG || k == SQL_JSON_AGG || k == SQL_JSON_OBJECT_AGG;
}
/* Finds an aggregate by its name. False if there is none. */
bool sql_agg_find(const char *name, enum sql_agg_kind *out);
/* The k-th name that it finds, NULL = there are no more. */
const char *sql_agg_name(unsigned k);
/* What json_agg(x), or json_object_agg(k, v), makes of one row. It begins with SQL_JSON_LINE,
 * which no json does, if it begins a line behind another one. */
enum { SQL_JSON_LINE = 1 };
struct sql_expr *sql_expr_json_row(
    struct nam_arena *a, enum sql_agg_kind k, struct sql_expr **args, int position, struct cat_err *err);
/* The two arguments of sql_agg_is_pair's as one value; NULL if one is. */
struct sql_expr *sql_expr_pair_row(
    struct nam_arena *a, struct sql_expr **args, int position, struct cat_err *err);
/* The type of its result over an argument type (sum(int4) = int8, sum(int8) = numeric, avg(int) =
 * numeric ...); 42883 when it does not exist. */
bool sql_agg_type(
    enum sql_agg_kind k, enum cat_type arg, enum cat_type *out, int position, struct cat_err *err);
/* State of one group: SQL_AGG_BYTES of zeroed memory, 8-aligned; big states keep memory in
 * state_arena. */
enum { SQL_AGG_BYTES = 32 };
/* Adds row sel[k] of arg (arg NULL for count(*)) to state[k], for each k < n. sel NULL = row k. */
bool sql_agg_add(enum sql_agg_kind k, enum cat_type arg_type, const struct cat_vec *arg, const uint16_t *sel,
    unsigned n, void *const *state, struct nam_arena *state_arena, struct cat_err *err);
/* Like sql_agg_add, if all rows belong to one group: no array of states, tighter loops. */
bool sql_agg_add_all(enum sql_agg_kind k, enum cat_type arg_type, const struct cat_vec *arg,
    const uint16_t *sel, unsigned n, void *state, struct nam_arena *state_arena, struct cat_err *err);

/*
 * decimal.c: a numeric expression over a batch as integers, value k = v[k & mask] / 10^scale, of
 * which each has that scale. False, without an error: evaluate it as always. memo: what has been
 * evaluated for the same rows of the same batch; zeroed before, NULL = none. All of it lies in
 * env->arena.
 */
enum { SQL_DECIMALS = 16 };
struct sql_decimal {
	int64_t *v;
	uint8_t *null;
	int64_t one; /* the value, if mask is 0 */
	unsigned mask, scale;
};
struct sql_decimal_kept {
	const struct sql_expr *e;
	bool is;
	struct sql_decimal d;
};
struct sql_decimals {
	unsigned n;
	struct sql_decimal_kept kept[SQL_DECIMALS];
};
bool sql_decimal(const struct sql_expr *e, const struct sql_batch *b, const uint16_t *sel, unsigned n,
    const struct sql_env *env, struct sql_decimals *memo, struct sql_decimal *out);
/* sql_agg_add and sql_agg_add_all for SQL_SUM and SQL_AVG of numerics. */
bool sql_agg_add_decimal(const struct sql_decimal *d, const uint16_t *sel, unsigned n, void *const *state,
    struct nam_arena *state_arena, struct cat_err *err);
bool sql_agg_add_decimal_all(const struct sql_decimal *d, const uint16_t *sel, unsigned n, void *state,
    struct nam_arena *state_arena, struct cat_err *err);
/* string_agg: with the separators beside the texts. */
bool sql_agg_add_text(const struct cat_vec *text, const struct cat_vec *separator, const uint16_t *sel,
    unsigned n, void *const *state, struct nam_arena *state_arena, struct cat_err *err);
/*
 * agg_split.c: a group's state in parts, each of other rows. True if states of the kind can be
 * added up; a state as bytes behind w; such bytes added to a state. Its DISTINCT and ORDER BY are
 * another matter.
 */
struct sql_bytes {
	char *p;
	size_t n, cap;
	struct nam_arena *arena;
};
struct sql_bytes_in {
	const char *at, *end;
};
/* True for a word of SQL that is a name only in quotes. */
bool sql_is_keyword(struct cat_str s);
bool sql_agg_splits(enum sql_agg_kind k, enum cat_type arg);
bool sql_agg_put(enum sql_agg_kind k, enum cat_type arg, const void *state, struct sql_bytes *w,
    struct nam_arena *scratch, struct cat_err *err);
bool sql_agg_merge(enum sql_agg_kind k, enum cat_type arg, void *state, struct sql_bytes_in *c,
    struct nam_arena *state_arena, struct cat_err *err);
/* False if there is no memory; or, get: if there are not so many bytes. A string points to them. */
bool sql_bytes_put(struct sql_bytes *w, const void *p, size_t n);
bool sql_bytes_put_str(struct sql_bytes *w, struct cat_str s);
bool sql_bytes_get(struct sql_bytes_in *c, void *out, size_t n);
bool sql_bytes_get_str(struct sql_bytes_in *c, struct cat_str *out);
bool sql_agg_result(enum sql_agg_kind k, enum cat_type arg_type, const void *state, struct cat_datum *out,
    struct nam_arena *arena, struct cat_err *err);

#endif
