/* functions.c -- which functions there are: nam_functions in FROM, a row for each signature, in the
 * words of psql's \\df. */
#include <sql/expr/expr_internal.h>
#include <sql/plan/bind/bind.h>

#include <stdio.h>

enum { F_NAME, F_RESULT, F_ARGUMENTS, F_TYPE, F_ALL };

static const struct sql_column columns[F_ALL] = {
	[F_NAME] = { .name = "name", .type = CAT_TEXT, .typmod = -1 },
	[F_RESULT] = { .name = "result", .type = CAT_TEXT, .typmod = -1 },
	[F_ARGUMENTS] = { .name = "arguments", .type = CAT_TEXT, .typmod = -1 },
	[F_TYPE] = { .name = "type", .type = CAT_TEXT, .typmod = -1 },
};

static bool
add(struct bind_rows *r, const char *name, const char *result, const char *arguments, const char *type)
{
	return sql_bind_put_text(r, name) && sql_bind_put_text(r, result) &&
	       sql_bind_put_text(r, arguments) && sql_bind_put_text(r, type);
}

static const char *
type_name(uint8_t t)
{
	return t == CAT_UNKNOWN ? "\"any\"" : cat_type_name((enum cat_type)t);
}

static bool
plain(struct bind_rows *r, const struct sql_fn *f)
{
	char text[300] = "";
	size_t at = 0;
	for (unsigned k = 0; k < f->nargs && at < sizeof text; k++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", k ? ", " : "",
		    f->flags & SQL_FN_ANY ? k == 0 && f->flags & SQL_FN_TEXT1 ? "text" : "\"any\""
					  : type_name(f->arg[k]));
	if (f->flags & SQL_FN_ANY && !(f->flags & SQL_FN_EXACT) && at < sizeof text)
		snprintf(text + at, sizeof text - at, "%sVARIADIC \"any\"", f->nargs ? ", " : "");
	char *copy = nam_arena_str(r->b->a, text, strlen(text));
	return copy != NULL ? add(r, f->name, type_name(f->ret), copy, "func")
			    : cat_error(r->b->err, "53200", "out of memory");
}

/* A row for each type that it takes. */
static bool
aggregate(struct bind_rows *r, const char *name)
{
	enum sql_agg_kind kind;
	if (!sql_agg_find(name, &kind))
		return true;
	if (kind == SQL_COUNT)
		return add(r, name, "bigint", "", "agg") && add(r, name, "bigint", "\"any\"", "agg");
	if (kind == SQL_JSON_AGG || kind == SQL_JSON_OBJECT_AGG)
		return add(r, name, "json", kind == SQL_JSON_AGG ? "anyelement" : "\"any\", \"any\"", "agg");
	if (kind == SQL_ARRAY_AGG)
		return add(r, name, "anyarray", "anynonarray", "agg");
	if (kind == SQL_STRING_AGG)
		return add(r, name, "text", "text, text", "agg") &&
		       add(r, name, "bytea", "bytea, bytea", "agg");
	for (unsigned t = 0; t < CAT_TYPES; t++) {
		enum cat_type out;
		struct cat_err none;
		if (t == CAT_UNKNOWN || !cat_type_is_known(t) || cat_type_is_array((enum cat_type)t) ||
		    !sql_agg_type(kind, (enum cat_type)t, &out, 0, &none))
			continue;
		if (!add(r, name, cat_type_name(out), cat_type_name((enum cat_type)t), "agg"))
			return false;
	}
	return true;
}

static bool
all(struct bind_rows *r)
{
	const struct sql_fn *f;
	const char *agg;
	for (unsigned t = 0; (f = sql_fn_table(t)) != NULL; t++)
		for (; f->name != NULL; f++)
			if (!(f->flags & SQL_FN_OP) && !sql_set_function(f->name) && !plain(r, f))
				return false;
	for (unsigned k = 0; (agg = sql_agg_name(k)) != NULL; k++)
		if (!aggregate(r, agg))
			return false;
	for (const struct sql_signature *s = sql_signatures; s->name != NULL; s++)
		if (!add(r, s->name, s->result, s->arguments, s->type))
			return false;
	return true;
}

bool
sql_bind_add_functions(struct bind *b, const struct ast_table *t)
{
	struct bind_rows r = { .b = b, .column = columns, .cols = F_ALL };
	return sql_bind_only_read(b, t) && all(&r) && sql_bind_add_rows(&r, t);
}
