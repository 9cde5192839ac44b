/* unknown.c -- no function or operator of that name: does PostgreSQL 15 have one that takes these
 * arguments? */
#include <sql/compat/guess.h>
#include <sql/compat/postgres.h>
#include <sql/expr/functions.h>

#include <stdio.h>
#include <string.h>

/* True if the given type can become the parameter's, a name of PostgreSQL, without an explicit
 * cast. */
static bool
accepts(const char *param, size_t len, enum cat_type given)
{
	static const char *const any[] = { "any", "anyelement", "anycompatible" };
	static const char *const no_array[] = { "anynonarray", "anycompatiblenonarray" };
	static const char *const array[] = { "anyarray", "anycompatiblearray" };
	char name[64];
	const struct sql_fn *fn;
	if (len == 7 && memcmp(param, "anyenum", len) == 0) /* an untyped literal is none */
		return cat_type_is_enum(given);
	if (given == CAT_UNKNOWN)
		return true;
	if (len >= sizeof name)
		return false;
	memcpy(name, param, len);
	name[len] = 0;
	for (unsigned i = 0; i < sizeof any / sizeof *any; i++)
		if (strcmp(name, any[i]) == 0)
			return true;
	for (unsigned i = 0; i < sizeof array / sizeof *array; i++)
		if (strcmp(name, array[i]) == 0 || strcmp(name, no_array[i]) == 0)
			return cat_type_is_array(given) == (strcmp(name, array[i]) == 0);
	enum cat_type t = cat_type_find(name);
	return t == given || (t != CAT_UNKNOWN && sql_cast_find(given, t, SQL_CAST_IMPLICIT, &fn));
}

/* True if the types fit each other where a polymorphic parameter wants equal ones. */
static bool
alike(enum cat_type a, enum cat_type b, bool cast)
{
	const struct sql_fn *fn;
	return a == b || a == CAT_UNKNOWN || b == CAT_UNKNOWN ||
	       (cast && (sql_cast_find(a, b, SQL_CAST_IMPLICIT, &fn) ||
			    sql_cast_find(b, a, SQL_CAST_IMPLICIT, &fn)));
}

/* True if one signature, "(int4,text?,any*)", takes the arguments. */
static bool
takes(const char *p, const enum cat_type *type, unsigned n)
{
	unsigned k = 0;
	enum cat_type same = CAT_UNKNOWN;
	for (p++; *p != ')';) {
		size_t len = strcspn(p, ",)?*");
		const char *end = p + strcspn(p, ",)");
		bool many = p[len] == '*', optional = p[len] == '?';
		bool compatible = strncmp(p, "anycompatible", 13) == 0;
		bool array = strncmp(p, "anyarray", 8) == 0 || strncmp(p, "anycompatiblearray", 18) == 0;
		bool poly =
		    compatible || array || strncmp(p, "anyelement", 10) == 0 || strncmp(p, "anyenum", 7) == 0;
		if (k == n && !optional)
			return false;
		do {
			if (k == n)
				break;
			enum cat_type t = array ? cat_type_element(type[k]) : type[k];
			if (!accepts(p, len, type[k]) || (poly && !alike(same, t, compatible)))
				return false;
			if (poly && t != CAT_UNKNOWN)
				same = t;
			k++;
		} while (many && k < n);
		p = end + (*end == ',');
	}
	return k == n;
}

bool
sql_postgres_takes(const char *list, const char *name, const enum cat_type *type, unsigned n)
{
	const char *p = sql_postgres_find(list, name, '(');
	for (; p != NULL && *p == '('; p = strchr(p, ')') + 1)
		if (takes(p, type, n))
			return true;
	return false;
}

/* Names come once for each signature: only the first of each counts. */
static void
try_function(struct sql_guess *g, const char *name, bool *there, const char *want)
{
	*there |= strcmp(name, want) == 0;
	for (unsigned k = 0; k < g->found; k++)
		if (strcmp(g->match[k], name) == 0)
			return;
	sql_guess_try(g, "function", name, 0);
}

bool
sql_guess_function(const char *name, struct cat_err *err)
{
	struct sql_guess g;
	bool there = false;
	const struct sql_fn *f;
	const char *agg;
	sql_guess_init(&g, name);
	for (unsigned t = 0; (f = sql_fn_table(t)) != NULL; t++)
		for (; f->name != NULL; f++)
			if (!(f->flags & SQL_FN_OP))
				try_function(&g, f->name, &there, name);
	for (unsigned k = 0; (agg = sql_agg_name(k)) != NULL; k++)
		try_function(&g, agg, &there, name);
	for (const struct sql_signature *s = sql_signatures; s->name != NULL; s++)
		try_function(&g, s->name, &there, name);
	if (there || g.found == 0)
		return false;
	sql_guess_say_relations(&g, err);
	return true;
}

/* The words for it; kind: "function" or "operator". */
static bool
none(struct cat_err *err, const char *kind, const char *name, const char *said, bool has, bool several,
    int position)
{
	bool op = kind[0] == 'o';
	const char *why = several ? "is not unique" : "does not exist";
	if (has && !several)
		cat_error(err, "0A000", "%s %s is not supported yet", kind, said);
	else if (op)
		cat_error(err, several ? "42725" : "42883", "%s %s: %s", kind, why, said);
	else
		cat_error(err, several ? "42725" : "42883", "%s %s %s", kind, said, why);
	if (several)
		snprintf(err->hint, sizeof err->hint,
		    "Could not choose a best candidate %s. You might need to add explicit type casts.", kind);
	else if (!has && (op || !sql_guess_function(name, err)))
		snprintf(err->hint, sizeof err->hint,
		    "No %s matches the given name and argument types. You might need to add explicit type "
		    "casts.",
		    kind);
	err->position = position;
	return false;
}

bool
sql_no_function(
    struct cat_err *err, const char *name, const enum cat_type *type, unsigned n, bool several, int position)
{
	char said[300];
	int at = snprintf(said, sizeof said, "%.100s(", name);
	for (unsigned k = 0; k < n && at < 240; k++)
		at += snprintf(
		    said + at, sizeof said - (size_t)at, "%s%s", k ? ", " : "", cat_type_name(type[k]));
	snprintf(said + at, sizeof said - (size_t)at, ")");
	return none(err, "function", name, said, sql_postgres_takes(sql_postgres_functions, name, type, n),
	    several, position);
}

bool
sql_no_operator(
    struct cat_err *err, const char *name, const enum cat_type *type, unsigned n, bool several, int position)
{
	char said[160];
	if (n == 2)
		snprintf(
		    said, sizeof said, "%s %.60s %s", cat_type_name(type[0]), name, cat_type_name(type[1]));
	else
		snprintf(said, sizeof said, "%.60s %s", name, cat_type_name(type[0]));
	return none(err, "operator", name, said, sql_postgres_takes(sql_postgres_operators, name, type, n),
	    several, position);
}
