/* oids.c -- numbers of relations, constraints and defaults, and what a number or a name stands
 * for. */
#include <base/hash.h>
#include <catalog/by_id.h>
#include <sql/common/error.h>
#include <sql/system/rows.h>

#include <stdio.h>

enum { PLACE_BITS = 10, COLUMN_BITS = 11 };
static const uint32_t CONSTRAINT = UINT32_C(2) << 30, DEFAULT = UINT32_C(3) << 30, BELOW = (1u << 30) - 1;

uint32_t
sql_oid_of(const struct txn_table *t)
{
	return SQL_OID_FIRST + t->id;
}

uint32_t
sql_oid_of_key(const struct cat_table *t)
{
	int order = cat_key_order(t);
	return order < 0 ? sql_oid_of(&t->store) + SQL_OID_KEY : sql_oid_of(&t->index[order].store);
}

uint32_t
sql_oid_of_default(const struct cat_table *t, unsigned c)
{
	return DEFAULT | (((t->store.id << COLUMN_BITS) + c + 1) & BELOW);
}

uint32_t
sql_oid_of_role(const char *name)
{
	return strcmp(name, SQL_OWNER) == 0 ? SQL_OID_OWNER
					    : DEFAULT | ((uint32_t)nam_hash(name, strlen(name), 0) & BELOW);
}

uint32_t
sql_constraint_of(uint32_t oid)
{
	return (oid & BELOW) >> PLACE_BITS;
}

bool
sql_constraint_at(
    const struct cat_table *t, unsigned n, struct sql_constraint *out, char buf[CAT_NAME_MAX + 8])
{
	*out = (struct sql_constraint){ .oid = CONSTRAINT | (((t->store.id << PLACE_BITS) + n) & BELOW) };
	if (t->kind != CAT_TABLE && t->kind != CAT_DOMAIN)
		return false;
	if (t->keys > 0 && n-- == 0) {
		out->kind = 'p';
		out->name = cat_key_name(t, buf);
		out->index = sql_oid_of_key(t);
		return true;
	}
	if (n < t->checks) {
		out->kind = 'c';
		out->k = n;
		out->name = t->check[n].name;
		return true;
	}
	n -= t->checks;
	if (n < t->foreigns) {
		out->kind = 'f';
		out->k = n;
		out->name = t->foreign[n].name;
		return true;
	}
	n -= t->foreigns;
	for (unsigned i = 0; i < t->indexes; i++) {
		if (!t->index[i].constraint || t->index[i].primary || t->index[i].hidden || n-- > 0)
			continue;
		out->kind = 'u';
		out->k = i;
		out->name = t->index[i].name;
		out->index = sql_oid_of(&t->index[i].store);
		return true;
	}
	return false;
}

bool
sql_system_look(const struct sql_system *s)
{
	nam_status st = cat_look(s->cat, s->t);
	return st == NAM_OK || sql_status(s->err, st, NULL);
}

bool
sql_system_open(struct sql_system *s)
{
	nam_status st = cat_list(s->cat, s->t, &s->tab, &s->tabs, s->a);
	if (st == NAM_OK)
		st = cat_schemas(s->cat, s->t, &s->schema, &s->schemas, s->a);
	return st == NAM_OK || sql_status(s->err, st, NULL);
}

bool
sql_system_schema(
    const struct sql_system *s, unsigned k, uint32_t *oid, const char **name, const struct cat_table **def)
{
	static const struct {
		uint32_t oid;
		const char *name;
	} fixed[] = { { SQL_OID_CATALOG, "pg_catalog" }, { SQL_OID_PUBLIC, CAT_PUBLIC_SCHEMA },
		{ SQL_OID_SCHEMA, "information_schema" } };
	enum { FIXED = sizeof fixed / sizeof *fixed };
	char buf[CAT_NAME_MAX + 1];
	*def = NULL;
	if (k < FIXED) {
		*oid = fixed[k].oid;
		*name = fixed[k].name;
		return true;
	}
	if (k - FIXED >= s->schemas)
		return false;
	*def = s->schema[k - FIXED];
	*oid = sql_oid_of(&(*def)->store);
	cat_schema_of((*def)->path, buf);
	return (*name = nam_arena_str(s->a, buf, strlen(buf))) != NULL;
}

uint32_t
sql_system_schema_of(const struct sql_system *s, const struct cat_table *t)
{
	if (t->system)
		return SQL_OID_CATALOG;
	if (cat_in_public(t->path))
		return SQL_OID_PUBLIC;
	char name[CAT_NAME_MAX + 1];
	const struct cat_table *schema;
	cat_schema_of(t->path, name);
	nam_status st = cat_schema_find(s->cat, s->t, name, &schema);
	return st == NAM_OK && schema != NULL ? sql_oid_of(&schema->store) : 0;
}

bool
sql_system_sees(const struct sql_system *s, const char *path, bool *ok)
{
	const struct sql_looking in = { s->cat, s->t, s->search, s->who, NULL };
	const struct cat_table *found;
	*ok = sql_path_find(&in, NULL, cat_local(path), &found, s->err);
	return *ok && found != NULL && strcmp(found->path, path) == 0;
}

static bool
found(const struct sql_system *s, const struct cat_table *t, struct sql_found *out)
{
	*out =
	    (struct sql_found){ .name = cat_local(t->path), .schema = sql_system_schema_of(s, t), .tab = t };
	return true;
}

/* The primary key's index has no name of its own in the catalog. */
static bool
found_key(const struct sql_system *s, const struct cat_table *t, struct sql_found *out)
{
	char buf[CAT_NAME_MAX + 8];
	const char *name = cat_key_name(t, buf);
	found(s, t, out);
	out->key = true;
	out->name = nam_arena_str(s->a, name, strlen(name));
	return out->name != NULL;
}

static bool
catalog_at(uint32_t oid, struct sql_found *out)
{
	const struct sql_relation *is;
	for (unsigned k = 0; (is = sql_relation_at(k)) != NULL; k++)
		if (is->oid == oid) {
			*out = (struct sql_found){ .name = is->name,
				.schema = is->schema == SQL_IN_CATALOG ? SQL_OID_CATALOG : SQL_OID_SCHEMA,
				.catalog = is };
			return true;
		}
	return false;
}

/* The index of t that has that number, or, name, that name. */
static bool
found_index(const struct sql_system *s, const struct cat_table *t, uint32_t oid, const char *name,
    struct sql_found *out)
{
	for (unsigned k = 0; t != NULL && k < t->indexes; k++) {
		const struct cat_index *x = &t->index[k];
		if (x->hidden || (name ? strcmp(x->name, name) != 0 : sql_oid_of(&x->store) != oid))
			continue;
		found(s, t, out);
		out->index = x;
		out->name = x->name;
		return true;
	}
	return false;
}

bool
sql_system_at(const struct sql_system *s, uint32_t oid, struct sql_found *out)
{
	const struct cat_table *t;
	if (oid < SQL_OID_FIRST)
		return catalog_at(oid, out);
	bool key = (oid & SQL_OID_KEY) != 0;
	uint32_t id = (oid & ~(uint32_t)SQL_OID_KEY) - SQL_OID_FIRST;
	if (cat_of_id(s->cat, s->t, id, &t) != NAM_OK || t == NULL || cat_kind_is_type(t->kind) ||
	    t->kind == CAT_SCHEMA)
		return false;
	if (key)
		return sql_key_by_hash(t) && sql_oid_of_key(t) == oid && found_key(s, t, out);
	if (t->kind != CAT_INDEX)
		return sql_oid_of(&t->store) == oid && found(s, t, out);
	return cat_index_table(s->cat, s->t, t, &t) == NAM_OK && found_index(s, t, oid, NULL, out);
}

bool
sql_system_word(struct cat_str name, char out[CAT_NAME_MAX + 1])
{
	char schema[CAT_NAME_MAX + 1];
	return sql_path_parse(name, schema, out) &&
	       (schema[0] == 0 || strcmp(schema, CAT_PUBLIC_SCHEMA) == 0);
}

/* True if the index of t's primary key, by hash, has that path. */
static bool
is_key(const struct cat_table *t, const char *path)
{
	char buf[CAT_NAME_MAX + 8], its[CAT_PATH_MAX + 1];
	if (t == NULL || t->kind != CAT_TABLE || !sql_key_by_hash(t))
		return false;
	cat_beside(t->path, cat_key_name(t, buf), its);
	return strcmp(its, path) == 0;
}

/* A primary key's index by hash has a path that the catalog does not know: its table's and _pkey,
 * as a rule. */
static bool
key_at_path(const struct sql_system *s, const char *path, struct sql_found *out)
{
	static const char last[] = "_pkey";
	const struct cat_table *t = NULL, **list;
	char of[CAT_PATH_MAX + 1];
	size_t n = strlen(path), end = sizeof last - 1;
	unsigned all = 0;
	if (n > end && strcmp(path + n - end, last) == 0) {
		snprintf(of, sizeof of, "%.*s", (int)(n - end), path);
		if (cat_find(s->cat, s->t, of, &t) == NAM_OK && is_key(t, path))
			return found_key(s, t, out);
	}
	if (cat_list(s->cat, s->t, &list, &all, s->a) != NAM_OK)
		return false;
	for (unsigned i = 0; i < all; i++)
		if (is_key(list[i], path))
			return found_key(s, list[i], out);
	return false;
}

static bool
at_path(const struct sql_system *s, const char *path, struct sql_found *out)
{
	const struct cat_table *t;
	if (cat_find(s->cat, s->t, path, &t) != NAM_OK)
		return false;
	if (t == NULL)
		return key_at_path(s, path, out);
	if (t->kind != CAT_INDEX)
		return found(s, t, out);
	return cat_index_table(s->cat, s->t, t, &t) == NAM_OK && found_index(s, t, 0, cat_local(path), out);
}

/* By a name alone, or in a schema ("" = none is written). False and !*ok: *s->err. */
static bool
named(const struct sql_system *s, const char *schema, const char *name, struct sql_found *out, bool *ok)
{
	const struct sql_looking in = { s->cat, s->t, s->search, s->who, NULL };
	char path[CAT_PATH_MAX + 1];
	const char **in_path;
	unsigned n;
	char own[CAT_NAME_MAX + 1];
	if (strcmp(schema, "pg_temp") == 0 && (schema = sql_temp_schema(&in, own)) == NULL)
		return false;
	if (schema[0] != 0) {
		const struct cat_table *there;
		if (!sql_schema_of_names(&in, schema, &there, false, s->err) ||
		    !sql_path_find(&in, schema, name, &there, s->err)) {
			*ok = false;
			return false;
		}
		cat_path(schema, name, path);
		return at_path(s, path, out);
	}
	*ok = sql_search_schemas(&in, true, &in_path, &n, s->a, s->err);
	for (unsigned k = 0; *ok && k < n; k++) {
		cat_path(in_path[k], name, path);
		if (at_path(s, path, out))
			return true;
	}
	/* namdb's own tables */
	return *ok && strncmp(name, "nam_", 4) == 0 && at_path(s, name, out) && out->tab->system;
}

bool
sql_system_named(
    const struct sql_system *s, struct cat_str name, struct sql_found *out, uint32_t *oid, bool *ok)
{
	char schema[CAT_NAME_MAX + 1], last[CAT_NAME_MAX + 1];
	*ok = sql_path_parse(name, schema, last);
	if (!*ok)
		return cat_error(s->err, "42602", "invalid name syntax");
	bool in_catalog = strcmp(schema, "pg_catalog") == 0;
	bool information = strcmp(schema, "information_schema") == 0;
	const struct sql_relation *is = NULL;
	if (schema[0] == 0 || in_catalog || information)
		is = sql_relation_find(information ? SQL_IN_INFORMATION : SQL_IN_CATALOG, last);
	if (is != NULL && catalog_at(is->oid, out)) {
		*oid = is->oid;
		return true;
	}
	if (in_catalog || information || !named(s, schema, last, out, ok))
		return false;
	*oid = out->index ? sql_oid_of(&out->index->store)
	       : out->key ? sql_oid_of_key(out->tab)
			  : sql_oid_of(&out->tab->store);
	return true;
}
