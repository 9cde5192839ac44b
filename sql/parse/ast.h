/*
 * ast.h -- what a statement says, before anyone has looked up a name: small, immutable, in one
 * arena.
 *
 * convert*.c makes it from libpg_query's tree, rewriting what can be said
 * with simpler words (BETWEEN, NULLIF, IS TRUE, CASE x WHEN). So a node may be
 * reached by two paths: never write into a tree. Positions are byte offsets
 * into the text plus 1; 0 = none.
 */
#ifndef NAM_SQL_AST_H
#define NAM_SQL_AST_H

#include <catalog/catalog.h>

enum ast_kind {
	AST_NULL,
	AST_INT,    /* i */
	AST_NUMBER, /* text: too long for int4, or with a point */
	AST_STRING, /* text, len */
	AST_BOOL,   /* i */
	AST_PARAM,  /* i: 1-based */
	AST_COLUMN, /* qual (or NULL), text */
	AST_STAR,   /* qual (or NULL) */
	AST_OP,     /* text; one argument: prefix */
	AST_FUNC,   /* text */
	AST_CAST,   /* type, typmod; CAT_NAMED: named */
	AST_AND,
	AST_OR,
	AST_NOT,
	AST_IS_NULL, /* negate */
	AST_CASE,    /* when, then, ..., else */
	AST_COALESCE,
	AST_IN,      /* args[0] in args[1..]; negate */
	AST_DEFAULT, /* in VALUES and SET only */
	AST_WINDOW,  /* text over a window: see struct ast_window */
	AST_ARRAY,   /* ARRAY[args] */
	AST_INDEX,   /* args[0][args[1]], args[0][args[1]:args[2]]; i: AST_INDEX_* */
	AST_COLLATE, /* args[0] COLLATE one of those that compare bytes */
	AST_AS,      /* args[0], of that type if it has none; text: it must be of it, here */
	AST_ROWS,    /* args[0], a comparison of rows; args[1..]: what they consist of, in order */
	AST_ANY,     /* args[0] text ANY (args[1]), an array; negate: ALL */
	AST_SUB,     /* a subquery: select, sub; args: what ANY and ALL compare, by operator text */
};

/* Which subscripts were written. */
enum { AST_INDEX_LOWER = 1, AST_INDEX_UPPER = 2, AST_INDEX_SLICE = 4 };

struct ast_window;

/* A type that a user has made, if the type beside it is CAT_NAMED or an array of that. name says
 * what it is called; the catalog says what it is (sql_bind_type). */
struct ast_named {
	const char *name;
	int position;
	const char *schema; /* written before it, but for pg_catalog; NULL = none */
};

enum ast_sub { AST_SUB_SCALAR, AST_SUB_EXISTS, AST_SUB_ANY, AST_SUB_ALL, AST_SUB_ARRAY };

struct ast_expr {
	enum ast_kind kind;
	int position;
	unsigned nargs;
	bool negate, star, distinct; /* star: count(*); distinct: count(DISTINCT x) */
	enum cat_type type;          /* AST_CAST */
	int32_t typmod;
	uint32_t len; /* AST_STRING */
	int64_t i;
	const struct ast_named *named; /* AST_CAST */
	const char *text, *qual;       /* qual of an AST_FUNC: its column's name, or NULL */
	/* AST_COLUMN, AST_STAR: of qual, or NULL. AST_FUNC, AST_WINDOW: written before it and part
	 * of text, but for pg_catalog: no function is there. */
	const char *schema;
	struct ast_expr **args;
	struct ast_window *over; /* AST_WINDOW */
	enum ast_sub sub;
	struct ast_select *select; /* AST_SUB */
	struct ast_agg *agg;       /* AST_FUNC: what else an aggregate's call says; NULL: nothing */
};

/* The args of such an AST_FUNC: the function's, ORDER BY, then FILTER's condition. */
struct ast_agg {
	unsigned fargs, orders;
	struct ast_order *order;
	bool filter;
};

struct ast_target {
	struct ast_expr *e;
	const char *name; /* alias, or column to assign (UPDATE), or NULL */
	int position;
};

struct ast_order {
	struct ast_expr *e;
	bool desc, nulls_first;
};

struct ast_table {
	const char *name, *alias;
	const struct ast_expr *func; /* generate_series(...) */
	bool ordinality, lateral;
	const struct ast_select *sub; /* a query in parentheses: then there is no name */
	const char **rename;          /* alias(a, b, ...) */
	unsigned renames;
	int position;
	const char *in;   /* the schema it is written with, or NULL */
	bool schema;      /* written with one: then it is no name of WITH */
	bool path;        /* name is a path of the catalog */
	bool temp;        /* it is to be a temporary one */
	bool system;      /* with pg_catalog or information_schema */
	bool information; /* with the latter */
};

/* WITH name(a, b) AS [NOT MATERIALIZED] (q), ... */
struct ast_cte {
	const char *name, **rename;
	unsigned renames;
	bool materialize, inlined; /* as written */
	const struct ast_select *q;
	const struct ast_stmt *change; /* INSERT, UPDATE, DELETE; then no q */
	int position;
};
struct ast_with {
	struct ast_cte *cte;
	unsigned n;
	bool recursive;
};

enum ast_frame { AST_FRAME_RANGE, AST_FRAME_ROWS, AST_FRAME_GROUPS };
enum ast_bound {
	AST_BOUND_FIRST, /* UNBOUNDED PRECEDING */
	AST_BOUND_PRECEDING,
	AST_BOUND_CURRENT,
	AST_BOUND_FOLLOWING,
	AST_BOUND_LAST,
};

enum ast_exclude { AST_EXCLUDE_NONE, AST_EXCLUDE_CURRENT, AST_EXCLUDE_GROUP, AST_EXCLUDE_TIES };

/* The args of an AST_WINDOW: the function's, PARTITION BY, ORDER BY, the frame's offsets, then
 * FILTER's condition. A definition has no function. */
struct ast_window {
	const char *name; /* of a definition */
	unsigned fargs, parts, orders;
	struct ast_order *order;
	enum ast_frame mode;
	enum ast_bound start, end;
	enum ast_exclude exclude;
	bool framed; /* a frame was written */
	bool filter; /* there is a condition of FILTER */
	int position;
};

enum ast_join_kind { AST_JOIN_INNER, AST_JOIN_LEFT, AST_JOIN_RIGHT, AST_JOIN_FULL };

/* A JOIN over tables [first, last] of the FROM list; the right side begins at mid. */
struct ast_join {
	enum ast_join_kind kind;
	unsigned first, mid, last;
	struct ast_expr *on; /* or NULL */
	const char **using_;
	unsigned usings;
	bool natural;
	/* (a JOIN b ...) AS alias(rename, ...); JOIN ... USING (...) AS using_alias */
	const char *alias, *using_alias, **rename;
	unsigned renames;
	int position;
};

/* q0 op1 q1 op2 q2 ..., from left to right; INTERSECT that binds tighter is a query of its own. */
enum ast_setop { AST_UNION, AST_INTERSECT, AST_EXCEPT };
struct ast_set {
	enum ast_setop op; /* before q; of the first one: nothing */
	bool all;
	const struct ast_select *q;
};

/* FOR UPDATE [OF a, b] and its like: all lock as FOR UPDATE does. */
struct ast_lock {
	const char *what; /* as written */
	const char **of;  /* none: all tables */
	int *of_at;
	unsigned ofs;
	enum { AST_LOCK_WAIT, AST_LOCK_SKIP, AST_LOCK_NOWAIT } wait;
};

struct ast_select {
	const struct ast_with *with; /* or NULL */
	struct ast_set *set;         /* then there are ORDER BY and LIMIT, and nothing else */
	unsigned sets;
	struct ast_target *target;
	struct ast_table *table;
	struct ast_join *join; /* inner ones before outer ones */
	struct ast_expr *where, *having, *limit, *offset;
	struct ast_expr **group;
	uint8_t *gset; /* GROUPING SETS and the like: gsets x groups, is it in that set? */
	struct ast_order *order;
	struct ast_expr **on;     /* DISTINCT ON */
	struct ast_expr **window; /* definitions of the WINDOW clause */
	struct ast_lock *lock;
	unsigned locks;
	struct ast_expr **values; /* VALUES: rows x cols, row by row; then there are no targets */
	unsigned targets, tables, joins, groups, orders, ons, windows, rows, cols, gsets;
	bool distinct, gset_distinct, ties; /* ties: FETCH ... WITH TIES */
};

/* ON CONFLICT. Neither names nor a constraint: any conflict. */
struct ast_conflict {
	int position;
	const char **name, *constraint;
	unsigned names;
	bool update;
	struct ast_target *set;
	unsigned sets;
	struct ast_expr *where;
};

struct ast_column {
	const char *name;
	enum cat_type type;
	int32_t typmod;
	struct ast_named named;
	bool not_null;
	int position;
	struct ast_expr *dflt; /* DEFAULT, and its text */
	const char *dflt_text;
	char identity;       /* 'a' ALWAYS, 'd' BY DEFAULT */
	struct ast_seq *seq; /* serial, identity */
};

/* What a sequence is told to be. */
struct ast_seq {
	enum cat_type type; /* CAT_UNKNOWN: bigint */
	bool has_start, has_min, has_max, cycle;
	int64_t start, step, min, max, cache; /* step 0: none given; cache 0: 1 */
	bool zero_step;
	const char *owner, *owner_in, *owner_column; /* OWNED BY; owner_in: schema or NULL */
};

/* CHECK (e). column: it stands beside that one. */
struct ast_check {
	const char *name, *column, *text;
	struct ast_expr *e;
	int position;
	bool not_valid;
};

/* An index, as CREATE INDEX or UNIQUE tells of it. */
struct ast_index_column {
	const char *name;
	bool desc, nulls_first;
};
struct ast_index {
	const char *name; /* NULL = none given */
	struct ast_index_column *key;
	unsigned keys;
	const char **include;
	unsigned includes;
	bool unique, nulls_equal, constraint;
};

/* REFERENCES, FOREIGN KEY. The actions are those of enum cat_action. */
struct ast_foreign {
	const char *name;    /* NULL = none given */
	const char **column; /* of the table that refers */
	unsigned columns;
	struct ast_table table;
	const char **refers; /* none: the primary key */
	unsigned refs;
	char on_delete, on_update;
};

enum ast_stmt_kind {
	AST_EMPTY,
	AST_SELECT,
	AST_INSERT,
	AST_UPDATE,
	AST_DELETE,
	AST_TRUNCATE,
	AST_TRUNCATE_ALL, /* names: several */
	AST_COMMENT,      /* names: a relation and maybe its column; var: what it is said to be */
	AST_CREATE_TABLE,
	AST_CREATE_AS, /* table, names: its columns; select */
	AST_DROP_TABLE,
	AST_CREATE_INDEX, /* table, index; if_exists, concurrently */
	AST_DROP_INDEX,
	AST_RENAME_INDEX, /* names: the old one and the new one */
	AST_CREATE_SEQUENCE,
	AST_DROP_SEQUENCE,
	AST_CREATE_VIEW,
	AST_DROP_VIEW,
	AST_ALTER_TABLE,
	AST_CREATE_DOMAIN, /* table: its name; column[0]: base type, default, NOT NULL; check */
	AST_ALTER_DOMAIN,  /* table: its name; alter[0] */
	AST_DROP_DOMAIN,
	AST_COPY,
	AST_BEGIN,
	AST_COMMIT,
	AST_ROLLBACK,
	AST_PREPARE,    /* var, types, inner */
	AST_EXECUTE,    /* var, args */
	AST_DEALLOCATE, /* var, NULL = all */
	AST_DECLARE,    /* var, cursor, inner */
	AST_FETCH,      /* var, fetch */
	AST_CLOSE,      /* var, NULL = all */
	AST_DISCARD,    /* discard */
	AST_CHECKPOINT,
	AST_SAVEPOINT, /* var */
	AST_RELEASE,
	AST_ROLLBACK_TO,
	AST_SET,
	AST_SHOW,
	AST_SET_TRANSACTION,
	AST_EXPLAIN,
	AST_ANALYZE,        /* names, of; vacuum */
	AST_CREATE_ROLE,    /* role; var: its name */
	AST_ALTER_ROLE,     /* likewise; var NULL: the current one */
	AST_DROP_ROLE,      /* names */
	AST_GRANT,          /* GRANT and REVOKE: grant; names: of what */
	AST_GRANT_ROLE,     /* the same of roles: grant.right */
	AST_OWNER,          /* ALTER ... OWNER TO: table, owned, var; if_exists */
	AST_CREATE_ENUM,    /* table: its name; names: labels */
	AST_ALTER_ENUM,     /* table, label; if_exists */
	AST_RENAME_TYPE,    /* table; var: the new name */
	AST_DROP_TYPE,      /* names, cascade, if_exists */
	AST_REASSIGN_OWNED, /* names: owners; var: the new one */
	AST_DROP_OWNED,     /* names, cascade */
	AST_SET_ROLE,       /* var: role or session_authorization; value NULL = none; local */
	AST_CREATE_SCHEMA,  /* names: its name; if_exists, owned_by, var: its owner */
	AST_DROP_SCHEMA,    /* names, if_exists, cascade */
};

enum ast_iso { AST_ISO_NONE = 0, AST_ISO_RC, AST_ISO_RR, AST_ISO_SER };

/* Columns an option is about. */
struct ast_force {
	const char **name;
	unsigned names;
	bool all;
};

struct ast_copy {
	const char *file; /* NULL: STDIN, STDOUT */
	bool to, csv, header, match;
	char delimiter, quote, escape;
	const char *null;
	struct ast_force force_quote, force_null, force_not_null;
};

enum ast_alter_kind {
	AST_SET_DEFAULT, /* e, text; NULL: DROP DEFAULT */
	AST_SET_NOT_NULL,
	AST_DROP_NOT_NULL,
	AST_ALTER_TYPE, /* type, typmod; e: USING */
	AST_DROP_COLUMN,
	AST_ADD_COLUMN,  /* index: of the statement's columns */
	AST_ADD_KEY,     /* names, key_name of the statement */
	AST_ADD_CHECK,   /* index: of the statement's checks */
	AST_ADD_UNIQUE,  /* index: of the statement's indexes */
	AST_ADD_FOREIGN, /* index: of the statement's foreign keys */
	AST_DROP_CONSTRAINT,
	AST_RENAME_COLUMN,
	AST_RENAME_TABLE,
	AST_SET_OPTIONS, /* key_kind of the statement */
	/* of a domain */
	AST_VALIDATE,
	AST_RENAME_CONSTRAINT,
	AST_SET_OWNER, /* var of the statement */
};

/* How a primary key is kept. */
enum ast_key_kind { AST_KEY_UNSAID, AST_KEY_DEFAULT, AST_KEY_HASH, AST_KEY_ORDERED };
/* convert_ddl.c: what a word says, AST_KEY_UNSAID = nothing. */
enum ast_key_kind sql_key_kind(const char *word);

/* What ALTER ... RENAME TO says that it renames: TABLE is any relation. */
enum ast_renames { AST_RENAMES_ANY, AST_RENAMES_VIEW, AST_RENAMES_SEQUENCE };

struct ast_alter {
	enum ast_alter_kind kind;
	enum ast_renames renames;
	const char *name, *to;
	struct ast_expr *e;
	const char *text;
	bool if_exists, cascade;
	unsigned index;
	enum cat_type type;
	int32_t typmod;
	struct ast_named named;
};

/* EXPLAIN's options. buffers: what it did on the fabric and kept in memory; with ANALYZE unless
 * said otherwise. */
struct ast_explain {
	bool analyze, verbose, costs, timing, summary, buffers, json;
	bool terms; /* the whole cost in its terms: unless without a SUMMARY */
};

/* What CREATE ROLE and ALTER ROLE say: 1 yes, 0 no, -1 nothing. */
struct ast_role {
	int super, login, inherit, password;
	const char *secret; /* password 1: NULL = PASSWORD NULL */
};

/* Roles are names; NULL = the current one. */
#define AST_SESSION_ROLE "\"session" /* no role has that name */
/* What ALTER ... OWNER TO says that it is; a TABLE may be each relation. SCHEMA: names[0]. */
enum ast_owned { AST_OWNED_TABLE, AST_OWNED_VIEW, AST_OWNED_SEQUENCE, AST_OWNED_SCHEMA, AST_OWNED_TYPE };
enum ast_grant_on { AST_ON_TABLE, AST_ON_SEQUENCE, AST_ON_SCHEMA, AST_ON_DATABASE };
struct ast_grant {
	bool revoke;
	bool option; /* WITH GRANT OPTION, WITH ADMIN OPTION; REVOKE ... OPTION FOR */
	bool all_in_schema;
	enum ast_grant_on on;
	const char **right; /* words; none: ALL */
	unsigned rights;
	const char **to; /* "" = PUBLIC */
	unsigned tos;
	bool has_by; /* GRANTED BY */
	const char *by;
};

/* ALTER TYPE: a new label, or (rename) the label beside becomes name. beside NULL: at the end. */
struct ast_enum {
	const char *name, *beside;
	bool after, rename;
};

/* DECLARE ... CURSOR */
struct ast_cursor {
	bool scroll, no_scroll, hold, binary;
};

/* FETCH and MOVE. count: INT64_MAX = all; negative: the other way. */
enum ast_fetch_way { AST_FETCH_FORWARD, AST_FETCH_BACKWARD, AST_FETCH_ABSOLUTE, AST_FETCH_RELATIVE };
struct ast_fetch {
	enum ast_fetch_way way;
	int64_t count;
	bool move;
};

enum ast_discard {
	AST_DISCARD_ALL,
	AST_DISCARD_PLANS,
	AST_DISCARD_SEQUENCES,
	AST_DISCARD_TEMP,
	AST_UNLISTEN
};

struct ast_stmt {
	enum ast_stmt_kind kind;
	unsigned params;             /* highest $n */
	unsigned depth;              /* nesting of its expressions */
	unsigned at, len;            /* its part of the text, bytes */
	const struct ast_with *with; /* INSERT, UPDATE, DELETE; a SELECT has its own */
	struct ast_select *select;
	struct ast_table table; /* INSERT, UPDATE, DELETE, COPY, CREATE */
	const char **names;     /* INSERT, COPY: columns; DROP, TRUNCATE: tables; CREATE: key
				 * columns */
	const char **name_in;   /* the schemas that the names of relations are written with, or
				 * NULL */
	int *name_at;           /* their positions */
	unsigned nnames;
	struct ast_target *set; /* UPDATE */
	unsigned sets;
	struct ast_expr *where;        /* UPDATE, DELETE */
	struct ast_select *from;       /* UPDATE ... FROM, DELETE ... USING: its tables and joins */
	struct ast_conflict *conflict; /* INSERT */
	struct ast_target *returning;
	unsigned returnings;
	struct ast_column *column; /* CREATE TABLE; ALTER TABLE: those added */
	unsigned columns;
	struct ast_check *check;
	unsigned checks, check_cap;
	struct ast_index *index; /* CREATE INDEX; UNIQUE of CREATE and ALTER TABLE */
	unsigned indexes, index_cap;
	struct ast_foreign *foreign; /* CREATE, ALTER TABLE */
	unsigned foreigns, foreign_cap;
	bool concurrently; /* CREATE, DROP INDEX */
	const char *key_name;
	enum ast_key_kind key_kind; /* CREATE, ALTER TABLE */
	struct ast_seq *seq;        /* CREATE SEQUENCE */
	struct ast_role role;
	struct ast_grant grant;
	struct ast_enum label;
	enum ast_owned owned;
	char overriding;         /* INSERT ... OVERRIDING: 's' SYSTEM, 'u' USER VALUE */
	bool cascade;            /* DROP */
	bool whoever;            /* DROP of a command's own: of any owner */
	struct ast_alter *alter; /* ALTER TABLE */
	unsigned alters;
	bool replace;      /* CREATE OR REPLACE VIEW: select, names, and */
	const char *text;  /* its query */
	unsigned versions; /* CREATE TABLE ... WITH (versions = n) */
	bool owned_by;     /* AUTHORIZATION */
	char on_commit;    /* 'd' DELETE ROWS, 'x' DROP */
	bool if_exists;    /* IF [NOT] EXISTS */
	bool no_data;      /* CREATE TABLE AS ... WITH NO DATA */
	bool has_key, start, reset, local;
	struct ast_copy copy;
	enum cat_type *types; /* PREPARE: of its parameters, as far as given */
	struct ast_named *named;
	struct ast_expr **args; /* EXECUTE */
	unsigned ntypes, nargs;
	enum ast_iso iso;     /* BEGIN, SET TRANSACTION */
	bool session_default; /* SET SESSION CHARACTERISTICS */
	const char *var;      /* SET, SHOW */
	const char *value;    /* SET; NULL: DEFAULT */
	struct ast_explain explain;
	struct ast_cursor cursor;
	struct ast_fetch fetch;
	enum ast_discard discard;
	struct ast_stmt *inner;     /* EXPLAIN; COPY TO: what makes the rows */
	struct ast_force *of;       /* ANALYZE: columns of each table; none: all */
	bool verbose;               /* ANALYZE */
	bool vacuum, analyze;       /* it is VACUUM, with ANALYZE */
	bool read_only, read_write; /* BEGIN, SET TRANSACTION */
};

/*
 * A function that returns rows. array: the function that makes the array of them; NULL = the
 * argument is the array. rows: every element is an array in itself.
 */
struct sql_set_function {
	const char *name, *array;
	bool rows;
	const char *column; /* of FROM, whatever the alias is; NULL = it has the alias's name */
};
/* set_function.c: NULL = no function of that name returns rows. */
const struct sql_set_function *sql_set_function(const char *name);

#endif
