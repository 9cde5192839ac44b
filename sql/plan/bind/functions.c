/* functions.c -- which functions there are: nam_functions in FROM, a row for each signature, in the
 * words of psql's \\df. */
#include <sql/plan/bind/bind.h>
#include <sql/system/system.h>

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

static bool
all(struct bind_rows *r)
{
	struct sql_signed f;
	for (unsigned k = 0; sql_system_signature(k, &f, NULL); k++)
		if (!sql_system_signature(k, &f, r->b->a))
			return cat_error(r->b->err, "53200", "out of memory");
		else if (!add(r, f.name, f.result, f.arguments, f.type))
			return false;
	return true;
}

bool
sql_bind_add_functions(struct bind *b, const struct ast_table *t)
{
	struct bind_rows r = { .b = b, .column = columns, .cols = F_ALL };
	return sql_bind_only_read(b, t) && all(&r) && sql_bind_add_rows(&r, t);
}
