/* system.c -- PostgreSQL's system catalogs in FROM: the relations that its tools ask for what there
 * is (psql's \d, \dt, \di, \dv, \ds, \dn, \l).
 *
 * A relation's rows are made when a statement that names it is bound, from what the statement's
 * snapshot sees of the catalog. A row has the columns that those tools read, and a column has
 * PostgreSQL's meaning. An oid is a bigint: that of a relation is 16384 and its number in the
 * catalog, so it is the same in every process and never given twice; that of a primary key's index,
 * which has no number, is its table's and 2^30. */
#include <sql/common/error.h>
#include <sql/plan/bind/bind.h>

#include <stdio.h>
#include <string.h>

enum {
	FIRST_OID = 16384,
	KEY_OID = 1 << 30,
	CATALOG_OID = 11, /* schemas: PostgreSQL's own numbers */
	SCHEMA_OID = 13000,
	PUBLIC_OID = 2200,
	OWNER_OID = 10, /* of all relations: the first role */
	HEAP_OID = 2,
	BTREE_OID = 403,
	HASH_OID = 405,
	UTF8 = 6, /* pg_encoding_to_char */
};

#define OWNER    "namdb" /* pg_get_userbyid(10) says so, too */
#define DATABASE "namdb" /* and current_database() */

/* ---- rows ------------------------------------------------------------------------------ */

struct rows {
	struct bind_rows out;
	const struct cat_table **tab;
	unsigned tabs;
};

static bool
put(struct rows *r, struct cat_datum d)
{
	return sql_bind_put(&r->out, d);
}

static bool
text(struct rows *r, const char *s)
{
	return sql_bind_put_text(&r->out, s);
}

/* Of a text that does not last. */
static bool
words(struct rows *r, const char *s)
{
	char *copy = nam_arena_str(r->out.b->a, s, strlen(s));
	return copy != NULL ? text(r, copy) : cat_error(r->out.b->err, "53200", "out of memory");
}

static bool
number(struct rows *r, int64_t i)
{
	return put(r, (struct cat_datum){ .v.i = i });
}

static bool
yes(struct rows *r, bool is)
{
	return put(r, (struct cat_datum){ .v.i = is });
}

static bool
real(struct rows *r, double f)
{
	return put(r, (struct cat_datum){ .v.f = f });
}

static int64_t
oid_of(const struct txn_table *t)
{
	return FIRST_OID + (int64_t)t->id;
}

static int64_t
schema_of(const struct cat_table *t)
{
	return t->system ? CATALOG_OID : PUBLIC_OID;
}

/* ---- schemas and access methods ---------------------------------------------------------- */

#define OID(n)                                                                                               \
	{                                                                                                    \
		.name = n, .type = CAT_INT8, .typmod = -1                                                    \
	}
#define INT(n)                                                                                               \
	{                                                                                                    \
		.name = n, .type = CAT_INT4, .typmod = -1                                                    \
	}
#define TEXT(n)                                                                                              \
	{                                                                                                    \
		.name = n, .type = CAT_TEXT, .typmod = -1                                                    \
	}
#define BOOL(n)                                                                                              \
	{                                                                                                    \
		.name = n, .type = CAT_BOOL, .typmod = -1                                                    \
	}
#define REAL(n)                                                                                              \
	{                                                                                                    \
		.name = n, .type = CAT_FLOAT8, .typmod = -1                                                  \
	}

static const struct sql_column namespace_columns[] = { OID("oid"), TEXT("nspname"), OID("nspowner") };

static bool
namespace_rows(struct rows *r)
{
	return number(r, CATALOG_OID) && text(r, "pg_catalog") && number(r, OWNER_OID) &&
	       number(r, PUBLIC_OID) && text(r, "public") && number(r, OWNER_OID) && number(r, SCHEMA_OID) &&
	       text(r, "information_schema") && number(r, OWNER_OID);
}

static const struct sql_column am_columns[] = { OID("oid"), TEXT("amname"), TEXT("amtype") };

static bool
am_rows(struct rows *r)
{
	return number(r, HEAP_OID) && text(r, "heap") && text(r, "t") && number(r, BTREE_OID) &&
	       text(r, "btree") && text(r, "i") && number(r, HASH_OID) && text(r, "hash") && text(r, "i");
}

static const struct sql_column database_columns[] = { OID("oid"), TEXT("datname"), OID("datdba"),
	INT("encoding"), TEXT("datlocprovider"), BOOL("datistemplate"), BOOL("datallowconn"),
	INT("datconnlimit"), TEXT("datcollate"), TEXT("datctype"), TEXT("daticulocale"),
	{ .name = "datacl", .type = (enum cat_type)(CAT_ARRAY | CAT_TEXT), .typmod = -1 } };

static bool
database_rows(struct rows *r)
{
	return number(r, FIRST_OID - 1) && text(r, DATABASE) && number(r, OWNER_OID) && number(r, UTF8) &&
	       text(r, "c") && yes(r, false) && yes(r, true) && number(r, -1) && text(r, "C.UTF-8") &&
	       text(r, "C.UTF-8") && text(r, NULL) && text(r, NULL);
}

/* ---- relations --------------------------------------------------------------------------- */

static const struct sql_column class_columns[] = { OID("oid"), TEXT("relname"), OID("relnamespace"),
	OID("reltype"), OID("reloftype"), OID("relowner"), OID("relam"), OID("relfilenode"),
	OID("reltablespace"), INT("relpages"), REAL("reltuples"), OID("reltoastrelid"), BOOL("relhasindex"),
	BOOL("relisshared"), TEXT("relpersistence"), TEXT("relkind"), INT("relnatts"), INT("relchecks"),
	BOOL("relhasrules"), BOOL("relhastriggers"), BOOL("relrowsecurity"), BOOL("relforcerowsecurity"),
	BOOL("relispartition"), TEXT("relreplident") };

struct relation {
	int64_t oid, schema;
	const char *name, *kind;
	unsigned columns, checks;
	bool hash;            /* of an index */
	bool indexed, refers; /* refers: foreign keys, which are triggers there */
	double rows;          /* -1: not known */
};

static bool
relation(struct rows *r, const struct relation *c)
{
	bool index = c->kind[0] == 'i', table = c->kind[0] == 'r';
	return number(r, c->oid) && words(r, c->name) && number(r, c->schema) && number(r, 0) &&
	       number(r, 0) && number(r, OWNER_OID) &&
	       number(r, c->hash ? HASH_OID
			 : index ? BTREE_OID
			 : table ? HEAP_OID
				 : 0) &&
	       number(r, c->oid) && number(r, 0) && number(r, 0) && real(r, c->rows) && number(r, 0) &&
	       yes(r, c->indexed) && yes(r, false) && text(r, "p") && text(r, c->kind) &&
	       number(r, c->columns) && number(r, c->checks) && yes(r, c->kind[0] == 'v') &&
	       yes(r, c->refers) && yes(r, false) && yes(r, false) && yes(r, false) &&
	       text(r, table ? "d" : "n");
}

struct index {
	int64_t oid, table;
	char name[CAT_NAME_MAX + 8];
	unsigned keys, all;
	struct cat_index_column column[2 * CAT_KEY_MAX];
	bool unique, nulls_equal, primary, valid, hash;
};

/* A table's indexes, its primary key's first. */
static unsigned
indexes_of(const struct cat_table *t)
{
	return t->indexes + (t->kind == CAT_TABLE && t->keys > 0 && cat_key_order(t) < 0);
}

static void
index_at(const struct cat_table *t, unsigned n, struct index *x)
{
	const int order = cat_key_order(t);
	*x = (struct index){ .table = oid_of(&t->store) };
	if (t->keys > 0 && n == 0) {
		char buf[CAT_NAME_MAX + 8];
		x->oid = order >= 0 ? oid_of(&t->index[order].store) : x->table + KEY_OID;
		snprintf(x->name, sizeof x->name, "%s", cat_key_name(t, buf));
		x->keys = x->all = t->keys;
		x->unique = x->primary = x->valid = true;
		x->hash = order < 0;
		for (unsigned k = 0; k < t->keys; k++)
			x->column[k].column = t->key[k];
		return;
	}
	n -= t->keys > 0 && order < 0;
	if (order >= 0 && n <= (unsigned)order)
		n--; /* those before it follow it here */
	const struct cat_index *ix = &t->index[n];
	x->oid = oid_of(&ix->store);
	memcpy(x->name, ix->name, sizeof ix->name);
	x->keys = x->all = ix->keys;
	x->unique = ix->unique;
	x->nulls_equal = ix->nulls_equal;
	x->valid = ix->valid;
	memcpy(x->column, ix->key, ix->keys * sizeof *ix->key);
	for (unsigned k = 0; k < ix->includes; k++)
		x->column[x->all++].column = ix->include[k];
}

static bool
class_rows(struct rows *r)
{
	/* An index stands in its table's definition. */
	static const char *const kind[] = { [CAT_TABLE] = "r", [CAT_VIEW] = "v", [CAT_SEQUENCE] = "S" };
	for (unsigned i = 0; i < r->tabs; i++) {
		const struct cat_table *t = r->tab[i];
		const struct relation c = { .oid = oid_of(&t->store),
			.schema = schema_of(t),
			.name = t->name,
			.kind = t->kind == CAT_INDEX ? NULL : kind[t->kind],
			.columns = t->columns,
			.checks = t->checks,
			.indexed = t->keys > 0 || t->indexes > 0,
			.refers = t->foreigns > 0 || t->referrers > 0,
			.rows = t->analyzed ? t->rows : -1 };
		if (c.kind == NULL)
			continue;
		if (!relation(r, &c))
			return false;
		for (unsigned k = 0; k < indexes_of(t); k++) {
			struct index x;
			index_at(t, k, &x);
			const struct relation ix = { .oid = x.oid,
				.schema = c.schema,
				.kind = "i",
				.name = x.name,
				.columns = x.all,
				.hash = x.hash,
				.rows = c.rows };
			if (!relation(r, &ix))
				return false;
		}
	}
	return true;
}

static const struct sql_column index_columns[] = { OID("indexrelid"), OID("indrelid"), INT("indnatts"),
	INT("indnkeyatts"), BOOL("indisunique"), BOOL("indnullsnotdistinct"), BOOL("indisprimary"),
	BOOL("indimmediate"), BOOL("indisclustered"), BOOL("indisvalid"), BOOL("indisready"),
	BOOL("indislive"), BOOL("indisreplident"), TEXT("indkey") };

static bool
index_row(struct rows *r, const struct index *x)
{
	char list[2 * CAT_KEY_MAX * 6] = "";
	size_t at = 0;
	for (unsigned i = 0; i < x->all && at < sizeof list; i++)
		at += (size_t)snprintf(
		    list + at, sizeof list - at, "%s%u", i ? " " : "", x->column[i].column + 1u);
	return number(r, x->oid) && number(r, x->table) && number(r, x->all) && number(r, x->keys) &&
	       yes(r, x->unique) && yes(r, x->nulls_equal) && yes(r, x->primary) && yes(r, true) &&
	       yes(r, false) && yes(r, x->valid) && yes(r, true) && yes(r, true) && yes(r, false) &&
	       words(r, list);
}

static bool
index_rows(struct rows *r)
{
	for (unsigned i = 0; i < r->tabs; i++) {
		for (unsigned n = 0; n < indexes_of(r->tab[i]); n++) {
			struct index x;
			index_at(r->tab[i], n, &x);
			if (!index_row(r, &x))
				return false;
		}
	}
	return true;
}

/* ---- views over them --------------------------------------------------------------------- */

static const struct sql_column tables_columns[] = { TEXT("schemaname"), TEXT("tablename"), TEXT("tableowner"),
	TEXT("tablespace"), BOOL("hasindexes"), BOOL("hasrules"), BOOL("hastriggers"), BOOL("rowsecurity") };

static bool
tables_rows(struct rows *r)
{
	for (unsigned i = 0; i < r->tabs; i++) {
		const struct cat_table *t = r->tab[i];
		if (t->kind == CAT_TABLE &&
		    !(text(r, t->system ? "pg_catalog" : "public") && words(r, t->name) && text(r, OWNER) &&
			text(r, NULL) && yes(r, t->keys > 0 || t->indexes > 0) && yes(r, false) &&
			yes(r, t->foreigns > 0 || t->referrers > 0) && yes(r, false)))
			return false;
	}
	return true;
}

static const struct sql_column views_columns[] = { TEXT("schemaname"), TEXT("viewname"), TEXT("viewowner"),
	TEXT("definition") };

static bool
views_rows(struct rows *r)
{
	for (unsigned i = 0; i < r->tabs; i++) {
		const struct cat_table *t = r->tab[i];
		if (t->kind == CAT_VIEW &&
		    !(text(r, "public") && words(r, t->name) && text(r, OWNER) && words(r, t->view)))
			return false;
	}
	return true;
}

static const struct sql_column indexes_columns[] = { TEXT("schemaname"), TEXT("tablename"), TEXT("indexname"),
	TEXT("tablespace"), TEXT("indexdef") };

/* A name as a statement has it: in double quotes, if it needs them. */
static const char *
name_in_text(struct rows *r, const char *name)
{
	bool plain = (name[0] >= 'a' && name[0] <= 'z') || name[0] == '_';
	for (const char *p = name; *p != 0; p++)
		plain &= (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '_';
	if (plain)
		return name;
	char *out = nam_arena_take(r->out.b->a, 2 * strlen(name) + 3), *to = out;
	if (out == NULL)
		return NULL;
	*to++ = '"';
	for (const char *p = name; *p != 0; p++) {
		if (*p == '"')
			*to++ = '"';
		*to++ = *p;
	}
	*to++ = '"';
	*to = 0;
	return out;
}

/* "(a, b DESC) INCLUDE (c)" */
static const char *
columns_in_text(struct rows *r, const struct cat_table *t, const struct index *x)
{
	const char *out = "";
	for (unsigned i = 0; out != NULL && i < x->all; i++) {
		const struct cat_index_column *c = &x->column[i];
		const char *name = name_in_text(r, t->column[c->column].name);
		const char *nulls = c->descending == c->nulls_first ? ""
				    : c->nulls_first                ? " NULLS FIRST"
								    : " NULLS LAST";
		out = name == NULL ? NULL
				   : nam_arena_printf(r->out.b->a, "%s%s%s%s%s", out,
					 i == 0         ? "("
					 : i == x->keys ? ") INCLUDE ("
							: ", ",
					 name, c->descending ? " DESC" : "", nulls);
	}
	return out;
}

static bool
indexdef(struct rows *r, const struct cat_table *t, const struct index *x)
{
	const char *schema = t->system ? "pg_catalog" : "public", *name = name_in_text(r, x->name);
	const char *table = name_in_text(r, t->name), *columns = columns_in_text(r, t, x);
	char *def = NULL;
	if (name != NULL && table != NULL && columns != NULL)
		def = nam_arena_printf(r->out.b->a, "CREATE %sINDEX %s ON %s.%s USING %s %s)%s",
		    x->unique ? "UNIQUE " : "", name, schema, table, x->hash ? "hash" : "btree", columns,
		    x->nulls_equal ? " NULLS NOT DISTINCT" : "");
	return def != NULL ? text(r, def) : cat_error(r->out.b->err, "53200", "out of memory");
}

static bool
indexes_rows(struct rows *r)
{
	for (unsigned i = 0; i < r->tabs; i++) {
		const struct cat_table *t = r->tab[i];
		for (unsigned n = 0; n < indexes_of(t); n++) {
			struct index x;
			index_at(t, n, &x);
			if (!(text(r, t->system ? "pg_catalog" : "public") && words(r, t->name) &&
				words(r, x.name) && text(r, NULL) && indexdef(r, t, &x)))
				return false;
		}
	}
	return true;
}

/* ---- all of them ------------------------------------------------------------------------- */

#define SYSTEM(n, part)                                                                                      \
	{                                                                                                    \
		n, part##_columns, sizeof part##_columns / sizeof *part##_columns, part##_rows               \
	}

static const struct system_relation {
	const char *name;
	const struct sql_column *column;
	unsigned columns;
	bool (*rows)(struct rows *r);
} relations[] = {
	SYSTEM("pg_am", am),
	SYSTEM("pg_class", class),
	SYSTEM("pg_database", database),
	SYSTEM("pg_index", index),
	SYSTEM("pg_indexes", indexes),
	SYSTEM("pg_namespace", namespace),
	SYSTEM("pg_tables", tables),
	SYSTEM("pg_views", views),
};

bool
sql_bind_add_system(struct bind *b, const struct ast_table *t, bool *ok)
{
	const struct system_relation *is = NULL;
	for (unsigned i = 0; i < sizeof relations / sizeof *relations && is == NULL; i++)
		is = strcmp(relations[i].name, t->name) == 0 ? &relations[i] : NULL;
	if (is == NULL || b->in->cat == NULL)
		return false;
	struct rows r = { .out = { .b = b, .column = is->column, .cols = is->columns } };
	nam_status st = cat_list(b->in->cat, b->in->t, &r.tab, &r.tabs, b->a);
	if (st != NAM_OK)
		*ok = sql_status(b->err, st, NULL);
	else
		*ok = sql_bind_only_read(b, t) && is->rows(&r) && sql_bind_add_rows(&r.out, t);
	return true;
}
