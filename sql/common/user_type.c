/* user_type.c -- types that users make, by their names and ids. */
#include <sql/common/error.h>
#include <sql/common/user_type.h>

bool
sql_schema_is(struct cat *c, struct txn *t, const char *name, int position, struct cat_err *err)
{
	static const char *const always[] = { CAT_PUBLIC_SCHEMA, "pg_catalog", "information_schema",
		"pg_temp", "pg_toast" };
	const struct cat_table *there = NULL;
	for (unsigned i = 0; i < sizeof always / sizeof *always; i++)
		if (strcmp(name, always[i]) == 0)
			return true;
	if (c == NULL)
		return true;
	nam_status st = cat_schema_find(c, t, name, &there);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (there == NULL) {
		cat_error(err, "3F000", "schema \"%.63s\" does not exist", name);
		err->position = position;
	}
	return there != NULL;
}

bool
sql_type_named(struct cat *c, struct txn *t, enum cat_type type, const char *name, const char *schema,
    int position, enum cat_type *out, const struct cat_table **def, struct cat_err *err)
{
	const struct cat_table *is = NULL;
	char path[CAT_PATH_MAX + 1];
	cat_path(CAT_PUBLIC_SCHEMA, name, path);
	bool elsewhere = schema != NULL && strcmp(schema, CAT_PUBLIC_SCHEMA) != 0;
	if (elsewhere && !sql_schema_is(c, t, schema, position, err))
		return false;
	nam_status st = c != NULL && !elsewhere ? cat_type_named(c, t, path, &is) : NAM_OK;
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (is == NULL) {
		cat_error(err, "42704", "type \"%s%s%s%s\" does not exist", schema ? schema : "",
		    schema ? "." : "", name, cat_type_is_array(type) ? "[]" : "");
		err->position = position;
		return false;
	}
	bool domain = is->kind == CAT_DOMAIN;
	if (domain && (cat_type_is_array(type) || def == NULL)) {
		cat_error(err, "0A000", "%s of domains are not supported yet",
		    cat_type_is_array(type) ? "arrays" : "such uses");
		err->position = position;
		return false;
	}
	*out = domain ? is->column[0].type : cat_type_of(is);
	if (cat_type_is_array(type))
		*out = cat_type_array_of(*out);
	if (def != NULL)
		*def = is;
	return true;
}

bool
sql_type_of_id(struct cat *c, struct txn *t, uint32_t id, const struct cat_table **def, struct cat_err *err)
{
	nam_status st = cat_type_of_id(c, t, id, def);
	return st == NAM_OK || sql_status(err, st, NULL);
}

const char *
sql_type_said(const char *name, struct nam_arena *arena)
{
	bool plain = (name[0] >= 'a' && name[0] <= 'z') || name[0] == '_';
	char *out = nam_arena_take(arena, 2 * strlen(name) + 3), *to = out;
	for (const char *p = name; *p && plain; p++)
		plain = (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '_';
	if (out == NULL)
		return NULL;
	if (!plain)
		*to++ = '"';
	for (const char *p = name; *p; p++) {
		if (!plain && *p == '"')
			*to++ = '"';
		*to++ = *p;
	}
	if (!plain)
		*to++ = '"';
	*to = 0;
	return out;
}
