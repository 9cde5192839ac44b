/* oids.c -- numbers of relations, constraints and defaults, and what a number or a name stands
 * for. */
#include <base/hash.h>
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
		if (!t->index[i].constraint || t->index[i].primary || n-- > 0)
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
sql_system_open(struct sql_system *s)
{
	nam_status st = cat_list(s->cat, s->t, &s->tab, &s->tabs, s->a);
	return st == NAM_OK || sql_status(s->err, st, NULL);
}

static bool
found(const struct cat_table *t, struct sql_found *out)
{
	*out = (struct sql_found){
		.name = t->name, .schema = t->system ? SQL_OID_CATALOG : SQL_OID_PUBLIC, .tab = t
	};
	return true;
}

/* The primary key's index has no name of its own in the catalog. */
static bool
found_key(const struct sql_system *s, const struct cat_table *t, struct sql_found *out)
{
	char buf[CAT_NAME_MAX + 8];
	const char *name = cat_key_name(t, buf);
	found(t, out);
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

bool
sql_system_at(const struct sql_system *s, uint32_t oid, struct sql_found *out)
{
	if (oid < SQL_OID_FIRST)
		return catalog_at(oid, out);
	for (unsigned i = 0; i < s->tabs; i++) {
		const struct cat_table *t = s->tab[i];
		if (t->kind == CAT_INDEX)
			continue;
		if (sql_oid_of(&t->store) == oid)
			return found(t, out);
		if (sql_key_by_hash(t) && sql_oid_of_key(t) == oid)
			return found_key(s, t, out);
		for (unsigned k = 0; k < t->indexes; k++)
			if (sql_oid_of(&t->index[k].store) == oid) {
				found(t, out);
				out->index = &t->index[k];
				out->name = out->index->name;
				return true;
			}
	}
	return false;
}

/* One part of a name, folded unless it is quoted; *s moves behind it. */
static bool
part(struct cat_str *s, char out[CAT_NAME_MAX + 1])
{
	uint32_t k = 0;
	unsigned n = 0;
	bool quoted = s->len > 0 && s->p[0] == '"';
	if (quoted)
		k++;
	for (; k < s->len; k++) {
		char c = s->p[k];
		if (quoted && c == '"' && (k + 1 == s->len || s->p[k + 1] != '"'))
			break;
		if (quoted && c == '"')
			k++;
		if (!quoted && (c == '.' || c == '"' || c == ' '))
			break;
		if (!quoted && c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (n < CAT_NAME_MAX)
			out[n++] = c;
	}
	if (quoted && k == s->len)
		return false;
	k += quoted;
	out[n] = 0;
	*s = (struct cat_str){ s->p + k, s->len - k };
	return n > 0;
}

bool
sql_system_word(struct cat_str name, char out[CAT_NAME_MAX + 1])
{
	if (!part(&name, out))
		return false;
	if (name.len > 0 && name.p[0] == '.' && strcmp(out, "public") == 0) {
		name.p++, name.len--;
		if (!part(&name, out))
			return false;
	}
	return name.len == 0;
}

/* By a name without a schema, or in public. */
static bool
named(const struct sql_system *s, const char *name, struct sql_found *out)
{
	char buf[CAT_NAME_MAX + 8];
	for (unsigned i = 0; i < s->tabs; i++) {
		const struct cat_table *t = s->tab[i];
		if (t->kind != CAT_INDEX && strcmp(t->name, name) == 0)
			return found(t, out);
		for (unsigned k = 0; t->kind == CAT_TABLE && k < t->indexes; k++)
			if (strcmp(t->index[k].name, name) == 0) {
				found(t, out);
				out->index = &t->index[k];
				out->name = out->index->name;
				return true;
			}
		if (sql_key_by_hash(t) && strcmp(cat_key_name(t, buf), name) == 0)
			return found_key(s, t, out);
	}
	return false;
}

bool
sql_system_named(
    const struct sql_system *s, struct cat_str name, struct sql_found *out, uint32_t *oid, bool *ok)
{
	char first[CAT_NAME_MAX + 1], second[CAT_NAME_MAX + 1];
	struct cat_str rest = name;
	*ok = part(&rest, first);
	bool two = *ok && rest.len > 0 && rest.p[0] == '.';
	if (two) {
		rest.p++, rest.len--;
		*ok = part(&rest, second);
	}
	if (!*ok || rest.len > 0) {
		*ok = false;
		return cat_error(s->err, "42602", "invalid name syntax");
	}
	bool in_public = two && strcmp(first, "public") == 0;
	bool in_catalog = two && strcmp(first, "pg_catalog") == 0;
	bool information = two && strcmp(first, "information_schema") == 0;
	const char *last = two ? second : first;
	const struct sql_relation *is = NULL;
	if (!in_public && (!two || in_catalog || information))
		is = sql_relation_find(information ? SQL_IN_INFORMATION : SQL_IN_CATALOG, last);
	if (is != NULL && catalog_at(is->oid, out)) {
		*oid = is->oid;
		return true;
	}
	if ((two && !in_public) || !named(s, last, out))
		return false;
	*oid = out->index ? sql_oid_of(&out->index->store)
	       : out->key ? sql_oid_of_key(out->tab)
			  : sql_oid_of(&out->tab->store);
	return true;
}
