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

struct rows {
	struct bind *b;
	struct sql_expr **e;
	unsigned n, cap;
};

static bool
add(struct rows *r, const char *name, const char *result, const char *arguments, const char *type)
{
	const char *const said[F_ALL] = {
		[F_NAME] = name, [F_RESULT] = result, [F_ARGUMENTS] = arguments, [F_TYPE] = type
	};
	if (r->n == r->cap) {
		unsigned cap = r->cap ? r->cap * 2 : 512;
		struct sql_expr **more = sql_bind_take(r->b, cap * F_ALL * sizeof *more);
		if (more == NULL)
			return false;
		if (r->n > 0)
			memcpy(more, r->e, r->n * F_ALL * sizeof *more);
		r->e = more;
		r->cap = cap;
	}
	for (unsigned i = 0; i < F_ALL; i++) {
		struct cat_datum d = { .type = CAT_TEXT, .v.s = { said[i], (uint32_t)strlen(said[i]) } };
		if ((r->e[r->n * F_ALL + i] = sql_expr_const(r->b->a, d, 0)) == NULL)
			return cat_error(r->b->err, "53200", "out of memory");
	}
	r->n++;
	return true;
}

static const char *
type_name(uint8_t t)
{
	return t == CAT_UNKNOWN ? "\"any\"" : cat_type_name((enum cat_type)t);
}

static bool
plain(struct rows *r, const struct sql_fn *f)
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
aggregate(struct rows *r, const char *name)
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
all(struct rows *r)
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
	struct rows r = { .b = b };
	if (b->plan->kind != AST_SELECT && b->plan->tab == NULL && b->nest.level == 0)
		return sql_bind_fail(b, t->position, "42501", "permission denied for table nam_functions");
	struct sql_op_values *n = sql_new_values(b, NULL, F_ALL);
	if (n == NULL || !all(&r))
		return false;
	n->e = r.e;
	n->cols = F_ALL;
	n->rows = r.n;
	n->node.est_rows = r.n;
	return sql_bind_add_source(b, t, &n->node, columns, F_ALL);
}
