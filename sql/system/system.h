/*
 * system.h -- what there is, in the words of PostgreSQL's system catalogs: relations whose rows are
 * made of the catalog as a transaction sees it, oids, definitions as text. Inside of sql.
 *
 * An oid is 32 bits. The two top bits say of what:
 *
 *	00  PostgreSQL's own numbers below 16384; from there on 16384 + the number that the catalog
 *	    gave a table, view, sequence, index or schema, which no other ever gets
 *	01  the hash of a primary key, which has no number of its own: its table's
 *	10  a constraint: its table's number (20 bits), its place among the table's constraints (10)
 *	11  a default: its table's number (19 bits), its column's (11); or a role: its name's hash
 */
#ifndef NAM_SQL_SYSTEM_H
#define NAM_SQL_SYSTEM_H

#include <sql/common/path.h>
#include <sql/sql.h>

enum {
	SQL_OID_FIRST = 16384,
	SQL_OID_KEY = 1 << 30,
	SQL_OID_CATALOG = 11, /* schemas: PostgreSQL's own numbers */
	SQL_OID_SCHEMA = 13000,
	SQL_OID_PUBLIC = 2200,
	SQL_OID_OWNER = 10, /* of all relations: the first role */
	SQL_OID_DATABASE = 16383,
	SQL_OID_FUNCTION = 6000, /* of the first function */
};
#define SQL_OWNER    "namdb" /* pg_get_userbyid(10) says so, too */
#define SQL_DATABASE "namdb" /* and current_database() */

/* Where names and rows come from; rows and texts live in a. */
struct sql_system {
	struct cat *cat;
	struct txn *t;
	struct nam_arena *a;
	struct cat_err *err;
	const char *search; /* search_path, and the role: what names alone find */
	const struct sql_who *who;
	/* all relations, an index's entry too; all schemas */
	const struct cat_table **tab, **schema;
	unsigned tabs, schemas;
};
/* Sets tab, tabs, schema, schemas: its cost grows with the number of relations. */
bool sql_system_open(struct sql_system *s);
/* Enough for sql_system_at and sql_system_named, of which each costs what one relation does. */
bool sql_system_look(const struct sql_system *s);

/* ---- oids (oids.c) ---- */
uint32_t sql_oid_of(const struct txn_table *t);
uint32_t sql_oid_of_key(const struct cat_table *t);
uint32_t sql_oid_of_role(const char *name);

/* The k-th schema, the system's first: its number, name and definition (NULL: none). False: there
 * are no more. The name lives in s->a. */
bool sql_system_schema(
    const struct sql_system *s, unsigned k, uint32_t *oid, const char **name, const struct cat_table **def);
/* The number of a relation's schema. */
uint32_t sql_system_schema_of(const struct sql_system *s, const struct cat_table *t);
/* True if search_path leads from the name alone to the relation. False and !*ok: *s->err. */
bool sql_system_sees(const struct sql_system *s, const char *path, bool *ok);

/* What a relation's oid stands for. */
struct sql_found {
	const char *name;
	uint32_t schema;
	const struct cat_table *tab;   /* NULL = a system catalog */
	const struct cat_index *index; /* NULL = the table itself, or */
	bool key;                      /* its primary key's index */
	const struct sql_relation *catalog;
};
/* False: no relation has this number. */
bool sql_system_at(const struct sql_system *s, uint32_t oid, struct sql_found *out);
/* By its name, perhaps with a schema's before it, as text: public."My t". *ok false: *s->err. */
bool sql_system_named(
    const struct sql_system *s, struct cat_str name, struct sql_found *out, uint32_t *oid, bool *ok);

/* ---- relations (relations.c) ---- */
enum sql_schema { SQL_IN_CATALOG, SQL_IN_INFORMATION };
struct sql_rows;
struct sql_relation {
	const char *name;
	uint32_t oid;
	const char *columns; /* "oid oid, relname name, ..." */
	/* One of the two, or none: it is empty. */
	bool (*rows)(struct sql_rows *r);
	const char *view; /* a query over other relations */
	enum sql_schema schema;
	bool again; /* its rows change without a change of the catalog */
};
/* NULL = there is none. */
const struct sql_relation *sql_relation_find(enum sql_schema schema, const char *name);
/* The k-th of all; NULL = there are no more. */
const struct sql_relation *sql_relation_at(unsigned k);
bool sql_relation_columns(const struct sql_relation *is, struct sql_column **out, unsigned *n,
    struct nam_arena *a, struct cat_err *err);
/* Its rows: put is called for each column of each row, and may write the column's type into d. */
bool sql_relation_rows(const struct sql_relation *is, const struct sql_system *s,
    bool (*put)(void *arg, struct cat_datum d), void *arg);

/* ---- texts: NULL = no memory (*s->err), or nothing has that number (*none) ---- */
const char *sql_system_ident(const struct sql_system *s, const char *name);
/* A relation by its path, likewise. */
const char *sql_system_path_said(const struct sql_system *s, const char *path);
/* Of a relation as regclass shows it: with its schema if the name alone does not find it. */
const char *sql_system_said(const struct sql_system *s, const struct sql_found *f);
/* column 0: the whole CREATE INDEX; else the name of that column of it. */
const char *sql_system_indexdef(const struct sql_system *s, uint32_t oid, int column, bool *none);
/* check: how the text of a CHECK's condition is said. */
typedef const char *sql_system_said_fn(void *arg, const struct cat_table *t, const char *text);
const char *sql_system_constraintdef(
    const struct sql_system *s, uint32_t oid, sql_system_said_fn *check, void *arg, bool *none);
/* format_type; typmod as PostgreSQL has it. "???" for a number without a type. */
const char *sql_system_type(struct nam_arena *a, uint32_t oid, int32_t typmod);
/* The number of a type that a user has made, or of its array, by its name; 0 = there is none. */
bool sql_system_made_type(const struct sql_system *s, struct cat_str name, uint32_t *oid);
/* The last part of a name, folded unless it is quoted. False: it is none, or not one in public. */
bool sql_system_word(struct cat_str name, char out[CAT_NAME_MAX + 1]);
/* The number of another type by its name, as text; 0 = there is none. */
uint32_t sql_system_type_oid(struct nam_arena *a, struct cat_str name);
/* A domain by its number, as format_type says it; NULL = none. */
const char *sql_system_domain(const struct sql_system *s, uint32_t oid);
/* pg_get_function_result, pg_get_function_arguments, the name. NULL: there is none of that
 * number. */
enum sql_function_part { SQL_FUNCTION_NAME, SQL_FUNCTION_RESULT, SQL_FUNCTION_ARGUMENTS };
const char *sql_system_function(struct nam_arena *a, uint32_t oid, enum sql_function_part part);
/* The first function of that name; 0 = there is none. */
uint32_t sql_system_function_oid(const char *name);
/* The sequence that a column owns, as text; NULL = none. */
const struct cat_table *sql_system_serial(
    const struct sql_system *s, const struct cat_table *t, const char *column);
/* A function, aggregate or window function for each signature. */
struct sql_signed {
	const char *name, *result, *arguments, *type; /* type: func, agg, window */
};
/* The k-th, with its texts in a; a NULL: its name and type alone. False: there are no more, or no
 * memory. */
bool sql_system_signature(unsigned k, struct sql_signed *out, struct nam_arena *a);

#endif
