/* path.c -- names of relations, through search_path, to paths of the catalog. */
#include <sql/common/error.h>
#include <sql/common/path.h>

#include <stdio.h>
#include <string.h>

/* No schema has that name: names that begin with pg_ are refused. */
#define NOWHERE "pg_none"

/* ---- search_path ------------------------------------------------------------------------ */

static const char *
behind_space(const char *p)
{
	return p + strspn(p, " \t\n\r\f\v");
}

/* One name of a list, folded unless it is quoted; cut to CAT_NAME_MAX bytes. *p moves behind it. */
static bool
item(const char **p, char out[CAT_NAME_MAX + 1])
{
	const char *at = *p;
	bool quoted = *at == '"', closed = !quoted;
	unsigned n = 0;
	at += quoted;
	for (; *at != 0; at++) {
		char c = *at;
		if (quoted && c == '"' && at[1] != '"') {
			at++;
			closed = true;
			break;
		}
		if (quoted && c == '"')
			at++;
		if (!quoted && (c == ',' || strchr(" \t\n\r\f\v", c) != NULL))
			break;
		if (!quoted && c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (n < CAT_NAME_MAX)
			out[n++] = c;
	}
	out[n] = 0;
	bool any = at > *p;
	*p = at;
	return closed && any;
}

bool
sql_search_ok(const char *text)
{
	char name[CAT_NAME_MAX + 1];
	const char *p = behind_space(text);
	if (*p == 0)
		return true;
	for (;;) {
		if (!item(&p, name))
			return false;
		p = behind_space(p);
		if (*p == 0)
			return true;
		if (*p != ',')
			return false;
		p = behind_space(p + 1);
	}
}

bool
sql_search_next(const char **text, const struct sql_who *who, char out[CAT_NAME_MAX + 1])
{
	const char *p = behind_space(*text);
	if (*p == ',')
		p = behind_space(p + 1);
	if (*p == 0 || !item(&p, out))
		return false;
	*text = p;
	if (strcmp(out, "$user") == 0)
		snprintf(out, CAT_NAME_MAX + 1, "%s", who ? who->name : "");
	return true;
}

/* Of a session: search_path leads to that of this one alone. */
static bool
is_temporary(const char *schema)
{
	static const char prefix[] = "pg_temp_";
	return strncmp(schema, prefix, sizeof prefix - 1) == 0;
}

bool
sql_schema_is_temp(const char *name)
{
	return is_temporary(name);
}

bool
sql_path_is_temp(const char *path)
{
	char schema[CAT_NAME_MAX + 1];
	if (!is_temporary(path))
		return false;
	cat_schema_of(path, schema);
	return is_temporary(schema);
}

/* A name in quotes. False: there is no room. */
static bool
put(const char *name, char *out, size_t max, size_t *at)
{
	if (*at + 2 * strlen(name) + 5 > max)
		return false;
	if (*at > 0)
		out[(*at)++] = ',';
	out[(*at)++] = '"';
	for (; *name != 0; name++) {
		if (*name == '"')
			out[(*at)++] = '"';
		out[(*at)++] = *name;
	}
	out[(*at)++] = '"';
	out[*at] = 0;
	return true;
}

const char *
sql_search_with(const char *text, const char *temp, char *out, size_t max)
{
	char name[CAT_NAME_MAX + 1];
	const char *p;
	size_t at = 0;
	bool put_own = temp[0] == 0, ok = true;
	for (unsigned pass = 0; pass < 2; pass++) {
		for (p = behind_space(text); *p != 0 && item(&p, name);) {
			bool own = strcmp(name, "pg_temp") == 0 || strcmp(name, temp) == 0;
			if (pass == 0)
				put_own |= own;
			else if (own && temp[0] != 0)
				ok = ok && put(temp, out, max, &at);
			else if (!own && !is_temporary(name))
				ok = ok && put(name, out, max, &at);
			p = behind_space(p);
			if (*p == ',')
				p = behind_space(p + 1);
		}
		if (pass == 0)
			out[0] = 0;
		if (pass == 0 && !put_own)
			ok = put(temp, out, max, &at);
	}
	return ok ? out : CAT_PUBLIC_SCHEMA;
}

/* Their relations have no paths. */
static bool
is_of_system(const char *schema)
{
	return strcmp(schema, "pg_catalog") == 0 || strcmp(schema, "information_schema") == 0;
}

/* *out NULL: there is none. *use: the role may use it. public is there, and every role's. */
static bool
schema_at(const struct sql_looking *in, const char *name, const struct cat_table **out, bool *use,
    struct cat_err *err)
{
	uint16_t have;
	nam_status st = cat_schema_find(in->cat, in->t, name, out);
	*use = true;
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (*out == NULL || in->who == NULL || is_temporary(name))
		return true;
	if (!sql_rights(in->cat, in->t, in->who, *out, CAT_MAY_USE, &have, err))
		return false;
	*use = (have & CAT_MAY_USE) != 0;
	return true;
}

bool
sql_search_schemas(const struct sql_looking *in, bool temp, const char ***out, unsigned *n,
    struct nam_arena *arena, struct cat_err *err)
{
	const char *text = in->search ? in->search : CAT_PUBLIC_SCHEMA;
	char name[CAT_NAME_MAX + 1];
	const struct cat_table *schema;
	bool use;
	*n = 0;
	if ((*out = nam_arena_take(arena, (strlen(text) + 1) * sizeof **out)) == NULL)
		return sql_status(err, NAM_NOMEM, NULL);
	while (sql_search_next(&text, in->who, name)) {
		bool fixed = strcmp(name, CAT_PUBLIC_SCHEMA) == 0 || is_of_system(name), known = false;
		if (!schema_at(in, name, &schema, &use, err))
			return false;
		for (unsigned k = 0; k < *n; k++)
			known |= strcmp((*out)[k], name) == 0;
		if (known || (!fixed && (schema == NULL || !use)) || (!temp && is_temporary(name)))
			continue;
		if (((*out)[(*n)++] = nam_arena_str(arena, name, strlen(name))) == NULL)
			return sql_status(err, NAM_NOMEM, NULL);
	}
	return true;
}

bool
sql_schema_find(const struct sql_looking *in, const char *name, const struct cat_table **out, bool missing_ok,
    struct cat_err *err)
{
	bool use;
	*out = NULL;
	if (is_of_system(name))
		return true;
	if (!schema_at(in, name, out, &use, err))
		return false;
	if (*out == NULL && !missing_ok && strcmp(name, CAT_PUBLIC_SCHEMA) != 0)
		return cat_error(err, "3F000", "schema \"%.63s\" does not exist", name);
	return true;
}

bool
sql_schema_of_names(const struct sql_looking *in, const char *name, const struct cat_table **out,
    bool missing_ok, struct cat_err *err)
{
	char own[CAT_NAME_MAX + 1];
	bool alias = strcmp(name, "pg_temp") == 0 && sql_temp_schema(in, own) != NULL;
	return sql_schema_find(in, alias ? own : name, out, missing_ok, err);
}

/* ---- relations -------------------------------------------------------------------------- */

static bool
find(const struct sql_looking *in, const char *schema, const char *name, const struct cat_table **out,
    struct cat_err *err)
{
	char path[CAT_PATH_MAX + 1];
	cat_path(schema, name, path);
	nam_status st = cat_find(in->cat, in->t, path, out);
	return st == NAM_OK || sql_status(err, st, NULL);
}

const char *
sql_temp_schema(const struct sql_looking *in, char out[CAT_NAME_MAX + 1])
{
	const char *text = in->alias ? in->alias : in->search ? in->search : "";
	while (sql_search_next(&text, in->who, out))
		if (is_temporary(out))
			return out;
	return NULL;
}

static bool
find_in(const struct sql_looking *in, const char *schema, const char *name, const struct cat_table **out,
    struct cat_err *err)
{
	const struct cat_table *its;
	bool use;
	*out = NULL;
	if (strcmp(schema, CAT_PUBLIC_SCHEMA) == 0)
		return find(in, schema, name, out, err);
	char own[CAT_NAME_MAX + 1];
	bool alias = strcmp(schema, "pg_temp") == 0;
	if (alias || (in->who != NULL && is_temporary(schema))) {
		const char *mine = sql_temp_schema(in, own);
		if (alias && mine == NULL)
			return true;
		if (!alias && (mine == NULL || strcmp(mine, schema) != 0))
			return cat_error(err, "0A000", "cannot access temporary tables of other sessions");
		schema = mine;
	}
	if (!schema_at(in, schema, &its, &use, err))
		return false;
	if (!use)
		return cat_error(err, "42501", "permission denied for schema %s", schema);
	return its == NULL || find(in, schema, name, out, err);
}

bool
sql_path_find(const struct sql_looking *in, const char *schema, const char *name,
    const struct cat_table **out, struct cat_err *err)
{
	const char *text = in->search ? in->search : CAT_PUBLIC_SCHEMA;
	char one[CAT_NAME_MAX + 1];
	bool public = false;
	*out = NULL;
	if (name[0] == 0)
		return true;
	if (schema != NULL)
		return find_in(in, schema, name, out, err);
	while (*out == NULL && sql_search_next(&text, in->who, one)) {
		bool mine = strcmp(one, CAT_PUBLIC_SCHEMA) == 0, use = true;
		const struct cat_table *its = NULL;
		public |= mine;
		if ((!mine && !schema_at(in, one, &its, &use, err)) ||
		    ((mine || (its != NULL && use)) && !find(in, one, name, out, err)))
			return false;
	}
	/* namdb's own tables are found whatever search_path is. */
	if (*out == NULL && !public && strncmp(name, "nam_", 4) == 0) {
		if (!find(in, CAT_PUBLIC_SCHEMA, name, out, err))
			return false;
		if (*out != NULL && !(*out)->system)
			*out = NULL;
	}
	return true;
}

bool
sql_path_new(const struct sql_looking *in, const char *schema, const char *name, char out[CAT_PATH_MAX + 1],
    struct cat_err *err)
{
	const char *text = in->search ? in->search : CAT_PUBLIC_SCHEMA;
	char one[CAT_NAME_MAX + 1];
	const struct cat_table *its;
	bool use;
	if (strlen(name) > CAT_NAME_MAX)
		return cat_error(err, "42622", "identifier \"%.80s\" is too long", name);
	if (schema != NULL) {
		cat_path(schema, name, out);
		return sql_schema_find(in, schema, &its, false, err);
	}
	while (sql_search_next(&text, in->who, one)) {
		bool public = strcmp(one, CAT_PUBLIC_SCHEMA) == 0;
		if (is_of_system(one)) {
			cat_error(err, "42501", "permission denied to create \"%s.%s\"", one, name);
			snprintf(err->detail, sizeof err->detail,
			    "System catalog modifications are currently disallowed.");
			return false;
		}
		if (is_temporary(one))
			continue;
		if (!public && !schema_at(in, one, &its, &use, err))
			return false;
		if (public || (its != NULL && use)) {
			cat_path(one, name, out);
			return true;
		}
	}
	return cat_error(err, "3F000", "no schema has been selected to create in");
}

void
sql_path_nowhere(const char *schema, const char *name, char out[CAT_PATH_MAX + 1])
{
	cat_path(schema ? schema : NOWHERE, name, out);
}

bool
sql_path_is_nowhere(const char *path)
{
	size_t n = strlen(NOWHERE);
	return strncmp(path, NOWHERE, n) == 0 && path[n] == '.';
}

const char *
sql_path_shown(const char *path)
{
	return path[0] == '.' || sql_path_is_nowhere(path) || sql_path_is_temp(path) ? cat_local(path) : path;
}

const char *
sql_object_name(const struct cat_table *tab, char buf[CAT_NAME_MAX + 1])
{
	return tab->kind == CAT_SCHEMA ? sql_local_name(tab, buf) : sql_path_shown(tab->path);
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
sql_path_parse(struct cat_str text, char schema[CAT_NAME_MAX + 1], char name[CAT_NAME_MAX + 1])
{
	schema[0] = 0;
	if (!part(&text, name))
		return false;
	if (text.len > 0 && text.p[0] == '.') {
		text.p++, text.len--;
		strcpy(schema, name);
		if (!part(&text, name))
			return false;
	}
	return text.len == 0;
}

/* ---- names in SQL ----------------------------------------------------------------------- */

const char *
sql_quote_name(const char *name, struct nam_arena *arena)
{
	char *out = nam_arena_take(arena, 2 * strlen(name) + 3), *to = out;
	if (out == NULL)
		return NULL;
	*to++ = '"';
	for (; *name != 0; name++) {
		if (*name == '"')
			*to++ = '"';
		*to++ = *name;
	}
	*to++ = '"';
	*to = 0;
	return out;
}

const char *
sql_path_text(const char *path, struct nam_arena *arena)
{
	char schema[CAT_NAME_MAX + 1];
	cat_schema_of(path, schema);
	const char *s = sql_quote_name(schema, arena), *n = sql_quote_name(cat_local(path), arena);
	return s && n ? nam_arena_printf(arena, "%s.%s", s, n) : NULL;
}

const char *
sql_nextval_text(const char *path, struct nam_arena *arena)
{
	const char *name = sql_path_text(path, arena);
	char *text = name ? nam_arena_take(arena, 2 * strlen(name) + 1) : NULL, *to = text;
	if (text == NULL)
		return NULL;
	for (; *name != 0; name++) {
		if (*name == '\'')
			*to++ = '\'';
		*to++ = *name;
	}
	*to = 0;
	return nam_arena_printf(arena, "nextval('%s')", text);
}
