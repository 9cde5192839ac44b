/* system.c -- what functions ask of the catalog (enum sql_ask): names of numbers, numbers of names,
 * definitions as text. */
#include <catalog/role.h>
#include <sql/compat/postgres.h>
#include <sql/expr/functions.h>
#include <sql/session/session_internal.h>
#include <sql/system/system.h>
#include <types/array.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sql_system
system_of(struct sql_row *r)
{
	struct sql_session *s = r->env->session;
	return (struct sql_system){ .cat = s->cfg.cat,
		.t = s->t,
		.a = r->env->arena,
		.err = r->env->err,
		.search = sql_search_text(s, s->search),
		.who = sql_who(s) };
}

static bool
text(struct sql_row *r, const char *p)
{
	r->out_null = p == NULL;
	r->out.s = (struct cat_str){ p ? p : "", p ? (uint32_t)strlen(p) : 0 };
	return true;
}

/* A text that was not made (NULL), because nothing has the number, or because of *err. */
static bool
made(struct sql_row *r, const char *p, bool none)
{
	return none || p != NULL ? text(r, none ? NULL : p) : false;
}

/* ---- regclass and its kin ------------------------------------------------------------- */

/* All roles, the first one too. */
static bool
roles(struct sql_row *r, struct cat_role **out, unsigned *n)
{
	struct sql_session *s = r->env->session;
	nam_status st = cat_role_list(s->cfg.cat, s->t, out, n, r->env->arena);
	return st == NAM_OK || sql_status(r->env->err, st, NULL);
}

/* The name of what has that number, as text; *name "" = nothing has. */
static bool
name_at(struct sql_row *r, enum cat_type type, uint32_t oid, const char **name)
{
	struct sql_system s = system_of(r);
	struct sql_found f;
	struct cat_role *role;
	const struct cat_table *def;
	const char *its;
	uint32_t one;
	unsigned n;
	char inner[CAT_NAME_MAX + 1];
	*name = "";
	switch (type) {
	case CAT_REGCLASS:
		if (!sql_system_look(&s))
			return false;
		if (sql_system_at(&s, oid, &f))
			*name = sql_system_said(&s, &f);
		return *name != NULL;
	case CAT_REGTYPE:
		*name = sql_system_domain(&s, oid);
		if (*name == NULL)
			*name = sql_system_type(s.a, oid, -1);
		if (*name != NULL && strcmp(*name, "???") == 0)
			*name = "";
		return *name != NULL || sql_oom(s.err);
	case CAT_REGPROC:
		*name = sql_system_function(s.a, oid, SQL_FUNCTION_NAME);
		if (*name == NULL && sql_postgres_inner_name(oid, inner, sizeof inner))
			*name = nam_arena_str(s.a, inner, strlen(inner));
		*name = *name ? *name : "";
		return true;
	case CAT_REGNAMESPACE:
		if (!sql_system_open(&s))
			return false;
		for (unsigned k = 0; sql_system_schema(&s, k, &one, &its, &def); k++)
			if (one == oid && (*name = sql_system_ident(&s, its)) == NULL)
				return false;
		return true;
	default:
		if (oid == SQL_OID_OWNER)
			*name = SQL_OWNER;
		else if (!roles(r, &role, &n))
			return false;
		else
			for (unsigned k = 0; k < n; k++)
				if (sql_oid_of_role(role[k].name) == oid)
					*name = role[k].name;
		return true;
	}
}

static bool
reg(struct sql_row *r, uint32_t oid)
{
	const char *name = "-";
	char digits[16];
	if (oid != 0 && !name_at(r, r->e->type, oid, &name))
		return false;
	if (*name == 0) {
		snprintf(digits, sizeof digits, "%u", oid);
		name = digits;
	}
	return cat_reg_make(
		   oid, (struct cat_str){ name, (uint32_t)strlen(name) }, &r->out.s, r->env->arena) ||
	       sql_oom(r->env->err);
}

static bool
is_text(struct cat_str s, const char *is)
{
	return s.len == strlen(is) && memcmp(s.p, is, s.len) == 0;
}

/* 0 = there is none. */
static bool
schema_named(const struct sql_system *s, const char *name, uint32_t *oid)
{
	const struct cat_table *def;
	const char *its;
	uint32_t one;
	*oid = 0;
	for (unsigned k = 0; sql_system_schema(s, k, &one, &its, &def); k++)
		if (strcmp(its, name) == 0)
			*oid = one;
	return true;
}

/* The number of what has that name; *oid 0 = nothing has. */
static bool
named(struct sql_row *r, enum cat_type type, struct cat_str name, uint32_t *oid)
{
	struct sql_system s = system_of(r);
	struct sql_found f;
	struct cat_role *role;
	unsigned n;
	bool ok = true;
	char word[CAT_NAME_MAX + 16], schema[CAT_NAME_MAX + 1], last[CAT_NAME_MAX + 1];
	*oid = 0;
	snprintf(
	    word, sizeof word, "%.*s", (int)(name.len < sizeof word ? name.len : sizeof word - 1), name.p);
	switch (type) {
	case CAT_REGCLASS:
		if (!sql_system_look(&s))
			return false;
		sql_system_named(&s, name, &f, oid, &ok);
		return ok;
	case CAT_REGTYPE:
		*oid = sql_system_type_oid(s.a, name);
		return *oid != 0 || sql_system_made_type(&s, name, oid);
	case CAT_REGPROC:
		*oid = sql_system_function_oid(strncmp(word, "pg_catalog.", 11) == 0 ? word + 11 : word);
		if (*oid == 0)
			*oid =
			    sql_postgres_inner_oid(strncmp(word, "pg_catalog.", 11) == 0 ? word + 11 : word);
		return true;
	case CAT_REGNAMESPACE:
		if (!sql_path_parse(name, schema, last) || schema[0] != 0)
			return cat_error(s.err, "42602", "invalid name syntax");
		return sql_system_open(&s) && schema_named(&s, last, oid);
	default:
		if (is_text(name, SQL_OWNER))
			*oid = SQL_OID_OWNER;
		else if (!roles(r, &role, &n))
			return false;
		else
			for (unsigned k = 0; k < n; k++)
				if (is_text(name, role[k].name))
					*oid = sql_oid_of_role(role[k].name);
		return true;
	}
}

static bool
nothing(struct sql_row *r, enum cat_type type, struct cat_str name)
{
	static const struct {
		enum cat_type type;
		const char *state, *words;
	} said[] = { { CAT_REGCLASS, "42P01", "relation" }, { CAT_REGTYPE, "42704", "type" },
		{ CAT_REGPROC, "42883", "function" }, { CAT_REGNAMESPACE, "3F000", "schema" },
		{ CAT_REGROLE, "42704", "role" } };
	char schema[CAT_NAME_MAX + 1], last[CAT_NAME_MAX + 1];
	if (type == CAT_REGPROC && name.len < sizeof last) {
		const char *at =
		    name.len > 11 && memcmp(name.p, "pg_catalog.", 11) == 0 ? name.p + 11 : name.p;
		snprintf(last, sizeof last, "%.*s", (int)(name.p + name.len - at), at);
		if (sql_postgres_find(sql_postgres_functions, last, '(') != NULL)
			return cat_error(r->env->err, "0A000", "function %s is not supported yet", last);
	}
	if (type == CAT_REGNAMESPACE && sql_path_parse(name, schema, last))
		name = (struct cat_str){ last, (uint32_t)strlen(last) };
	for (unsigned k = 0; k < sizeof said / sizeof *said; k++)
		if (said[k].type == type)
			return cat_error(r->env->err, said[k].state, "%s \"%.*s\" does not exist",
			    said[k].words, (int)(name.len < 200 ? name.len : 200), name.p);
	return false;
}

static bool
reg_find(struct sql_row *r, bool maybe)
{
	struct cat_str name = r->a[0].s;
	union cat_val number;
	struct cat_err why;
	uint32_t oid;
	if (is_text(name, "-") && !maybe)
		return reg(r, 0);
	uint32_t digits = 0;
	while (digits < name.len && name.p[digits] >= '0' && name.p[digits] <= '9')
		digits++;
	if (name.len > 0 && digits == name.len && !maybe) {
		if (!cat_value_in(CAT_OID, -1, name, &number, r->env->arena, r->env->err))
			return false;
		return reg(r, (uint32_t)number.i);
	}
	if (maybe) {
		struct cat_err *err = r->env->err;
		struct sql_env env = *r->env;
		struct sql_row quiet = *r;
		env.err = &why;
		quiet.env = &env;
		bool ok = named(&quiet, r->e->type, name, &oid);
		bool absent = ok || strcmp(why.sqlstate, "42602") == 0 || strcmp(why.sqlstate, "3F000") == 0;
		if (!absent)
			*err = why;
		if (!ok || oid == 0)
			return text(r, NULL) && absent;
		return reg(r, oid);
	}
	if (!named(r, r->e->type, name, &oid))
		return false;
	return oid != 0 ? reg(r, oid) : nothing(r, r->e->type, name);
}

/* ---- definitions ---------------------------------------------------------------------- */

static bool
index_of(struct sql_row *r)
{
	struct sql_system s = system_of(r);
	bool none;
	if (!sql_system_look(&s))
		return false;
	const char *def = sql_system_indexdef(&s, (uint32_t)r->a[0].i, r->n > 1 ? (int)r->a[1].i : 0, &none);
	return made(r, def, none);
}

struct saying {
	struct sql_session *session;
	const struct sql_system *s;
	bool pretty;
};

static const char *
said(void *arg, const struct cat_table *t, const char *condition)
{
	const struct saying *x = arg;
	return sql_rule_said(x->session, x->s, t, condition, x->pretty);
}

static bool
constraint_of(struct sql_row *r)
{
	struct sql_system s = system_of(r);
	struct saying x = { r->env->session, &s, r->n > 1 && r->a[1].i };
	bool none;
	if (!sql_system_look(&s))
		return false;
	const char *def = sql_system_constraintdef(&s, (uint32_t)r->a[0].i, said, &x, &none);
	return made(r, def, none);
}

/* A default or a condition; a text that belongs to no table stays as it is. */
static bool
expr_of(struct sql_row *r)
{
	struct sql_system s = system_of(r);
	struct sql_found f;
	const char *kept = nam_arena_str(s.a, r->a[0].s.p, r->a[0].s.len);
	if (kept == NULL)
		return sql_oom(s.err);
	if (!sql_system_look(&s))
		return false;
	if (!sql_system_at(&s, (uint32_t)r->a[1].i, &f))
		return text(r, NULL);
	if (f.tab == NULL || f.tab->kind != CAT_TABLE)
		return text(r, kept);
	return text(r, sql_rule_said(r->env->session, &s, f.tab, kept, r->n > 2 && r->a[2].i));
}

static bool
view_of(struct sql_row *r)
{
	struct sql_system s = system_of(r);
	struct sql_found f;
	if (!sql_system_look(&s))
		return false;
	uint32_t oid = (uint32_t)r->a[0].i;
	if (r->e->args[0]->type == CAT_TEXT) { /* its name */
		if (!named(r, CAT_REGCLASS, r->a[0].s, &oid))
			return false;
		if (oid == 0)
			return nothing(r, CAT_REGCLASS, r->a[0].s);
	}
	if (!sql_system_at(&s, oid, &f))
		return text(r, NULL);
	const char *query = f.catalog                          ? f.catalog->view
			    : f.tab && f.tab->kind == CAT_VIEW ? f.tab->view
							       : NULL;
	if (query == NULL)
		return text(r, NULL);
	const char *def = nam_arena_printf(s.a, " %s;", query);
	return def ? text(r, def) : sql_oom(s.err);
}

static bool
serial_of(struct sql_row *r)
{
	struct sql_system s = system_of(r);
	struct sql_found f;
	uint32_t oid;
	bool ok, there = false;
	char column[CAT_NAME_MAX + 1];
	struct cat_str c = r->a[1].s;
	snprintf(column, sizeof column, "%.*s", (int)(c.len <= CAT_NAME_MAX ? c.len : CAT_NAME_MAX), c.p);
	if (!sql_system_open(&s))
		return false;
	if (!sql_system_named(&s, r->a[0].s, &f, &oid, &ok))
		return ok && nothing(r, CAT_REGCLASS, r->a[0].s);
	for (unsigned k = 0; f.tab != NULL && k < f.tab->columns; k++)
		there |= strcmp(f.tab->column[k].name, column) == 0;
	if (!there)
		return cat_error(
		    s.err, "42703", "column \"%s\" of relation \"%s\" does not exist", column, f.name);
	const struct cat_table *seq = sql_system_serial(&s, f.tab, column);
	char schema[CAT_NAME_MAX + 1];
	if (seq == NULL)
		return text(r, NULL);
	cat_schema_of(seq->path, schema);
	const char *name = sql_system_ident(&s, cat_local(seq->path)), *in = sql_system_ident(&s, schema);
	return name != NULL && in != NULL && text(r, nam_arena_printf(s.a, "%s.%s", in, name));
}

static bool
type_of(struct sql_row *r)
{
	if (r->null[0])
		return text(r, NULL);
	struct sql_system s = system_of(r);
	const char *name = sql_system_domain(&s, (uint32_t)r->a[0].i);
	if (name != NULL)
		return text(r, name);
	name = sql_system_type(r->env->arena, (uint32_t)r->a[0].i, r->null[1] ? -1 : (int32_t)r->a[1].i);
	/* format_type(1042, -1) is bpchar: a typmod is asked for, and there is none */
	if (name != NULL && !r->null[1] && (uint32_t)r->a[0].i == cat_type_oid(CAT_BPCHAR, -1) &&
	    r->a[1].i < 0)
		name = "bpchar";
	return name ? text(r, name) : sql_oom(r->env->err);
}

static bool
user_of(struct sql_row *r)
{
	const char *name;
	uint32_t oid = (uint32_t)r->a[0].i;
	if (!name_at(r, CAT_REGROLE, oid, &name))
		return false;
	if (*name == 0 && (name = nam_arena_printf(r->env->arena, "unknown (OID=%u)", oid)) == NULL)
		return sql_oom(r->env->err);
	return text(r, name);
}

/* ---- what may be seen and done -------------------------------------------------------- */

static bool
is_domain(struct sql_row *r)
{
	struct sql_system s = system_of(r);
	return sql_system_domain(&s, (uint32_t)r->a[0].i) != NULL;
}

/* Names of pg_catalog are found without a schema, and those that search_path leads to. */
static bool
visible(struct sql_row *r)
{
	struct sql_system s = system_of(r);
	struct sql_found f;
	char path[CAT_PATH_MAX + 1];
	bool ok = true;
	if (!sql_system_look(&s))
		return false;
	if (!sql_system_at(&s, (uint32_t)r->a[0].i, &f))
		return text(r, NULL);
	if (f.tab == NULL || f.tab->system) {
		r->out.i = f.schema == SQL_OID_CATALOG;
		return true;
	}
	cat_beside(f.tab->path, f.name, path);
	r->out.i = sql_system_sees(&s, f.key ? f.tab->path : path, &ok);
	return ok;
}

/* The words of a list, "select, insert with grant option", as bits by their places in words[];
 * granting: those with the option. */
static bool
rights(
    struct cat_str list, const char *const *words, unsigned *which, unsigned *granting, struct cat_err *err)
{
	static const char grant[] = " WITH GRANT OPTION";
	enum { GRANT = sizeof grant - 1 };
	*which = *granting = 0;
	while (list.len > 0) {
		struct cat_str one = list;
		const char *comma = memchr(list.p, ',', list.len);
		one.len = comma ? (uint32_t)(comma - list.p) : list.len;
		list = (struct cat_str){ one.p + one.len + (comma != NULL),
			list.len - one.len - (comma != NULL) };
		while (one.len > 0 && *one.p == ' ')
			one.p++, one.len--;
		while (one.len > 0 && one.p[one.len - 1] == ' ')
			one.len--;
		uint32_t len = one.len;
		bool option = len > GRANT && strncasecmp(one.p + len - GRANT, grant, GRANT) == 0;
		if (option)
			len -= GRANT;
		unsigned k = 0;
		while (
		    words[k] != NULL && (len != strlen(words[k]) || strncasecmp(one.p, words[k], len) != 0))
			k++;
		if (words[k] == NULL)
			return cat_error(err, "22023", "unrecognized privilege type: \"%.*s\"",
			    (int)(one.len < 100 ? one.len : 100), one.p);
		*(option ? granting : which) |= 1U << k;
	}
	return true;
}

static bool
no_database(struct sql_row *r, struct cat_str name)
{
	return cat_error(r->env->err, "3D000", "database \"%.*s\" does not exist",
	    (int)(name.len < 200 ? name.len : 200), name.p);
}

/* Whose rights has_..._privilege tells: those of its first argument, if it has them all, or of the
 * current role. */
static bool
whose(struct sql_row *r, struct sql_who *who)
{
	struct sql_session *s = r->env->session;
	const char *name = "";
	char buf[CAT_NAME_MAX + 1];
	*who = *sql_who(s);
	if (r->n < (strcmp(r->e->fn->name, "has_column_privilege") == 0 ? 4u : 3u))
		return true;
	if (r->e->args[0]->type == CAT_OID) {
		if (!name_at(r, CAT_REGROLE, (uint32_t)r->a[0].i, &name))
			return false;
	} else {
		snprintf(buf, sizeof buf, "%.*s", (int)r->a[0].s.len, r->a[0].s.p);
		name = buf;
	}
	*who = (struct sql_who){ .super = false };
	if (strcmp(name, "public") == 0)
		return true; /* what every role may */
	return sql_role_there(s->cfg.cat, s->t, name, who, r->env->err);
}

/* May the role grant one of these rights? */
static bool
may_grant(struct sql_row *r, const struct sql_who *who, const struct cat_table *tab, uint16_t want, bool *yes)
{
	struct sql_session *s = r->env->session;
	struct sql_roles all;
	*yes = who->super;
	if (*yes || want == 0)
		return true;
	if (!sql_roles_of(s->cfg.cat, s->t, who->name, SQL_INHERITS, &all, r->env->arena, r->env->err))
		return false;
	for (unsigned i = 0; i < all.n; i++)
		*yes |= (cat_acl_options(tab, all.name[i]) & want) != 0;
	return true;
}

/*
 * The column that has_column_privilege asks about, by its name or number. *there: there is one; a
 * name of none is an error. f NULL: there is no such table.
 */
static bool
has_column(struct sql_row *r, const struct sql_found *f, bool *there)
{
	static const char *const systems[] = { "ctid", "xmin", "cmin", "xmax", "cmax", "tableoid" };
	unsigned at = r->n - 2;
	const struct cat_table *t = f != NULL ? f->tab : NULL;
	*there = f != NULL;
	if (t == NULL)
		return true;
	if (r->e->args[at]->type != CAT_TEXT) {
		int64_t k = r->a[at].i;
		*there = k != 0 && k >= -(int64_t)(sizeof systems / sizeof *systems) && k <= t->columns;
		return true;
	}
	struct cat_str name = r->a[at].s;
	for (unsigned k = 0; k < t->columns; k++)
		if (is_text(name, t->column[k].name))
			return true;
	for (unsigned k = 0; k < sizeof systems / sizeof *systems; k++)
		if (is_text(name, systems[k]))
			return true;
	return cat_error(r->env->err, "42703", "column \"%.*s\" of relation \"%s\" does not exist",
	    (int)(name.len < 63 ? name.len : 63), name.p, f->name);
}

static bool
table_right(struct sql_row *r)
{
	static const char *const words[] = { "INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES",
		"TRIGGER", "USAGE", "RULE", NULL };
	static const char *const of_columns[] = { "INSERT", "SELECT", "UPDATE", "", "", "REFERENCES", NULL };
	enum { READS = CAT_MAY_SELECT | CAT_MAY_USE, ALL = (CAT_MAY_USE << 1) - 1 };
	struct sql_who who;
	if (!whose(r, &who))
		return false;
	struct sql_system s = system_of(r);
	bool of_column = strcmp(r->e->fn->name, "has_column_privilege") == 0;
	unsigned at = r->n - 2 - of_column, which, granting;
	bool by_name = r->e->args[at]->type == CAT_TEXT, ok = true, grants = false, column = true;
	struct sql_found f;
	uint16_t have = 0;
	uint32_t oid = by_name ? 0 : (uint32_t)r->a[at].i;
	if (!sql_system_look(&s))
		return false;
	bool there = by_name ? sql_system_named(&s, r->a[at].s, &f, &oid, &ok) : sql_system_at(&s, oid, &f);
	if (!ok)
		return false;
	if (by_name && !there)
		return nothing(r, CAT_REGCLASS, r->a[at].s);
	if (of_column && !has_column(r, there ? &f : NULL, &column))
		return false;
	if (!rights(r->a[r->n - 1].s, of_column ? of_columns : words, &which, &granting, s.err))
		return false;
	if (!there || !column)
		return text(r, NULL);
	if (f.tab == NULL || f.tab->system) { /* every role may read a system catalog */
		r->out.i = (which & READS) != 0;
		return true;
	}
	if (!sql_rights(s.cat, s.t, &who, f.tab, which & ALL, &have, s.err) ||
	    !may_grant(r, &who, f.tab, granting & ALL, &grants))
		return false;
	r->out.i = (have & which & ALL) != 0 || (granting != 0 && grants);
	return true;
}

/* Every role may connect to the one database. */
static bool
database_right(struct sql_row *r)
{
	static const char *const words[] = { "CREATE", "CONNECT", "TEMPORARY", "TEMP", NULL };
	unsigned at = r->n - 2, which, granting;
	struct sql_who who;
	if (!whose(r, &who))
		return false;
	if (r->e->args[at]->type == CAT_TEXT && !is_text(r->a[at].s, SQL_DATABASE))
		return no_database(r, r->a[at].s);
	bool ok = rights(r->a[at + 1].s, words, &which, &granting, r->env->err);
	if (ok && r->e->args[at]->type == CAT_OID && r->a[at].i != SQL_OID_DATABASE)
		return text(r, NULL);
	r->out.i = (which & ~1u) != 0 || (who.super && (which | granting) != 0);
	return ok;
}

/* Every role may use the schemas that have no definition. */
static bool
schema_right(struct sql_row *r)
{
	static const char *const words[] = { "CREATE", "USAGE", NULL };
	enum { CREATE = 1, USAGE = 2 };
	struct sql_session *s = r->env->session;
	struct sql_system in = system_of(r);
	unsigned at = r->n - 2, which, granting;
	uint32_t oid = (uint32_t)r->a[at].i, one;
	const struct cat_table *def, *its = NULL;
	const char *name;
	struct sql_who who;
	uint16_t have = CAT_MAY_USE;
	bool by_name = r->e->args[at]->type == CAT_TEXT, known = false, makes = false, grants = false;
	if (!whose(r, &who) || (by_name && !named(r, CAT_REGNAMESPACE, r->a[at].s, &oid)) ||
	    !sql_system_open(&in))
		return false;
	for (unsigned k = 0; sql_system_schema(&in, k, &one, &name, &def); k++)
		if (one == oid) {
			known = true;
			its = def;
		}
	if (!known && by_name)
		return nothing(r, CAT_REGNAMESPACE, r->a[at].s);
	if (!rights(r->a[at + 1].s, words, &which, &granting, r->env->err))
		return false;
	if (!known)
		return text(r, NULL);
	if (its != NULL) {
		uint16_t asked =
		    (granting & USAGE ? CAT_MAY_USE : 0) | (granting & CREATE ? CAT_MAY_CREATE : 0);
		if (!sql_rights(
			s->cfg.cat, s->t, &who, its, CAT_MAY_USE | CAT_MAY_CREATE, &have, r->env->err) ||
		    !may_grant(r, &who, its, asked, &grants))
			return false;
		makes = (have & CAT_MAY_CREATE) != 0;
		grants &= granting != 0;
	} else {
		if (!sql_may_make(s->cfg.cat, s->t, &who, &makes, r->env->err))
			return false;
		makes &= oid == SQL_OID_PUBLIC;
		grants = granting != 0 && who.super;
	}
	r->out.i =
	    ((which & USAGE) != 0 && (have & CAT_MAY_USE) != 0) || ((which & CREATE) != 0 && makes) || grants;
	return true;
}

/* ---- search_path ------------------------------------------------------------------------ */

/* current_schema: the first schema of search_path that there is, or NULL. */
static bool
first_schema(struct sql_row *r)
{
	const struct sql_looking in = sql_looking(r->env->session);
	const char **name;
	unsigned n;
	return sql_search_schemas(&in, false, &name, &n, r->env->arena, r->env->err) &&
	       text(r, n > 0 ? name[0] : NULL);
}

/* current_schemas: all of them, with pg_catalog before if what is searched unasked also counts. */
static bool
all_schemas(struct sql_row *r)
{
	const struct sql_looking in = sql_looking(r->env->session);
	const char **name;
	unsigned n, m = 0;
	if (!sql_search_schemas(&in, r->a[0].i, &name, &n, r->env->arena, r->env->err))
		return false;
	union cat_val *v = nam_arena_take(r->env->arena, (n + 1u) * sizeof *v);
	if (v == NULL)
		return sql_oom(r->env->err);
	bool asked = false;
	for (unsigned k = 0; k < n; k++)
		asked |= strcmp(name[k], "pg_catalog") == 0;
	unsigned first = n > 0 && sql_schema_is_temp(name[0]) ? 1 : 0;
	for (unsigned k = 0; k < first; k++)
		v[m++].s = (struct cat_str){ name[k], (uint32_t)strlen(name[k]) };
	if (r->a[0].i && !asked)
		v[m++].s = (struct cat_str){ "pg_catalog", 10 };
	for (unsigned k = first; k < n; k++)
		v[m++].s = (struct cat_str){ name[k], (uint32_t)strlen(name[k]) };
	return cat_array_make(CAT_NAME, 1, v, NULL, m, &r->out.s, r->env->arena, r->env->err);
}

/* Is the current role a member of it? */
static bool
role_right(struct sql_row *r)
{
	struct sql_session *s = r->env->session;
	const char *name;
	char buf[CAT_NAME_MAX + 1];
	uint32_t oid = 0;
	bool yes;
	if (r->e->args[0]->type == CAT_OID) {
		if (!name_at(r, CAT_REGROLE, (uint32_t)r->a[0].i, &name))
			return false;
	} else {
		snprintf(buf, sizeof buf, "%.*s", (int)r->a[0].s.len, r->a[0].s.p);
		name = buf;
		if (!named(r, CAT_REGROLE, r->a[0].s, &oid))
			return false;
		if (oid == 0)
			return nothing(r, CAT_REGROLE, r->a[0].s);
	}
	bool usage = r->n > 1 && r->a[1].s.len == 5 && strncasecmp(r->a[1].s.p, "usage", 5) == 0;
	if (!(usage ? sql_acts_as : sql_is_member)(s->cfg.cat, s->t, sql_who(s), name, &yes, r->env->err))
		return false;
	r->out.i = yes;
	return true;
}

/* pg_my_temp_schema: the number of the session's own schema, 0 = none; and whether a schema is that
 * of another session. */
static bool
temp_schema(struct sql_row *r, enum sql_ask what)
{
	struct sql_session *session = r->env->session;
	struct sql_system s = system_of(r);
	const struct cat_table *def;
	const char *name;
	uint32_t one;
	r->out.i = 0;
	if (!sql_system_open(&s))
		return false;
	for (unsigned k = 0; sql_system_schema(&s, k, &one, &name, &def); k++) {
		bool mine = session->temp[0] != 0 && strcmp(name, session->temp) == 0;
		if (what == SQL_ASK_TEMP && mine)
			r->out.i = one;
		if (what == SQL_ASK_OTHER_TEMP && one == (uint32_t)r->a[0].i)
			r->out.i = sql_schema_is_temp(name) && !mine;
	}
	return true;
}

/* ---- sizes ------------------------------------------------------------------------------ */

/* True if it takes memory that is counted. */
static bool
is_counted(const struct cat_table *t)
{
	return t != NULL && t->kind == CAT_TABLE && !t->system;
}

/* A fork of a file, which a table here has one of. False: there is no such word. */
static bool
fork_of(struct sql_row *r, unsigned *fork)
{
	static const char *const forks[] = { "main", "fsm", "vm", "init" };
	enum { FORKS = sizeof forks / sizeof *forks };
	struct cat_err *err = r->env->err;
	*fork = 0;
	while (r->n > 1 && *fork < FORKS && !is_text(r->a[1].s, forks[*fork]))
		++*fork;
	if (*fork < FORKS)
		return true;
	cat_error(err, "22023", "invalid fork name");
	snprintf(
	    err->hint, sizeof err->hint, "Valid fork names are \"main\", \"fsm\", \"vm\", and \"init\".");
	return false;
}

static bool
size_of(struct sql_row *r, enum sql_ask what)
{
	struct sql_system s = system_of(r);
	struct sql_found f;
	struct cat_memory m = { 0 };
	uint64_t one = 0;
	unsigned fork;
	if (!fork_of(r, &fork) || !sql_system_look(&s))
		return false;
	r->out.i = 0;
	if (!sql_system_at(&s, cat_reg_oid(r->a[0].s.p, r->a[0].s.len), &f))
		return text(r, NULL);
	if (!is_counted(f.tab) || fork != 0)
		return true;
	nam_status st =
	    f.index != NULL ? cat_index_memory(s.t, f.index, &one) : cat_memory(s.cat, s.t, f.tab, &m);
	if (st != NAM_OK)
		return sql_status(s.err, st, f.tab);
	if (f.index != NULL || f.key)
		r->out.i = what == SQL_ASK_INDEXES_SIZE ? 0 : (int64_t)(one + m.keys);
	else if (what == SQL_ASK_RELATION_SIZE)
		r->out.i = (int64_t)m.rows;
	else if (what == SQL_ASK_TABLE_SIZE)
		r->out.i = (int64_t)(m.rows + m.values);
	else if (what == SQL_ASK_INDEXES_SIZE)
		r->out.i = (int64_t)(m.keys + m.indexes);
	else
		r->out.i = (int64_t)(m.rows + m.values + m.keys + m.indexes);
	return true;
}

/* There is one database, in one tablespace. */
static bool
database_size(struct sql_row *r, bool space)
{
	enum { DEFAULT = 1663, GLOBAL = 1664 };
	struct sql_system s = system_of(r);
	bool by_name = r->e->args[0]->type != CAT_OID;
	struct cat_str name = by_name ? r->a[0].s : (struct cat_str){ "", 0 };
	uint32_t oid = by_name ? 0 : (uint32_t)r->a[0].i;
	r->out.i = 0;
	if (space && (by_name ? is_text(name, "pg_global") : oid == GLOBAL))
		return true; /* roles are not counted */
	bool there = space ? (by_name ? is_text(name, "pg_default") : oid == DEFAULT)
			   : (by_name ? is_text(name, SQL_DATABASE) : oid == SQL_OID_DATABASE);
	if (!there && !by_name)
		return text(r, NULL);
	if (!there)
		return !space ? no_database(r, name)
			      : cat_error(s.err, "42704", "tablespace \"%.*s\" does not exist",
				    (int)(name.len < 200 ? name.len : 200), name.p);
	if (!sql_system_open(&s))
		return false;
	for (unsigned k = 0; k < s.tabs; k++) {
		struct cat_memory m;
		if (!is_counted(s.tab[k]))
			continue;
		nam_status st = cat_memory(s.cat, s.t, s.tab[k], &m);
		if (st != NAM_OK)
			return sql_status(s.err, st, s.tab[k]);
		r->out.i += (int64_t)(m.rows + m.values + m.keys + m.indexes);
	}
	return true;
}

bool
sql_system_ask(struct sql_row *r, enum sql_ask what)
{
	struct nam_arena *a = r->env->arena;
	switch (what) {
	case SQL_ASK_REG_NAME:
		return r->a[0].i >= 0 && r->a[0].i <= UINT32_MAX
			   ? reg(r, (uint32_t)r->a[0].i)
			   : cat_error(r->env->err, "22003", "OID out of range");
	case SQL_ASK_REG_FIND:
		return reg_find(r, false);
	case SQL_ASK_REG_MAYBE:
		return reg_find(r, true);
	case SQL_ASK_IS_VISIBLE:
		return visible(r);
	case SQL_ASK_TYPE_VISIBLE:
		r->out.i = 1;
		if (is_domain(r))
			return true;
		r->out_null = strcmp(sql_system_type(a, (uint32_t)r->a[0].i, -1), "???") == 0;
		return true;
	case SQL_ASK_FN_VISIBLE:
		r->out.i = 1;
		r->out_null = sql_system_function(a, (uint32_t)r->a[0].i, SQL_FUNCTION_NAME) == NULL;
		return true;
	case SQL_ASK_USER:
		return user_of(r);
	case SQL_ASK_TYPE:
		return type_of(r);
	case SQL_ASK_INDEX:
		return index_of(r);
	case SQL_ASK_CONSTRAINT:
		return constraint_of(r);
	case SQL_ASK_VIEW:
		return view_of(r);
	case SQL_ASK_EXPR:
		return expr_of(r);
	case SQL_ASK_FN_RESULT:
		return text(r, sql_system_function(a, (uint32_t)r->a[0].i, SQL_FUNCTION_RESULT));
	case SQL_ASK_FN_ARGUMENTS:
		return text(r, sql_system_function(a, (uint32_t)r->a[0].i, SQL_FUNCTION_ARGUMENTS));
	case SQL_ASK_SERIAL:
		return serial_of(r);
	case SQL_ASK_TABLE_RIGHT:
		return table_right(r);
	case SQL_ASK_ROLE_RIGHT:
		return role_right(r);
	case SQL_ASK_RELATION_SIZE:
	case SQL_ASK_TABLE_SIZE:
	case SQL_ASK_INDEXES_SIZE:
	case SQL_ASK_TOTAL_SIZE:
		return size_of(r, what);
	case SQL_ASK_DATABASE_SIZE:
		return database_size(r, false);
	case SQL_ASK_SPACE_SIZE:
		return database_size(r, true);
	case SQL_ASK_DATABASE_RIGHT:
		return database_right(r);
	case SQL_ASK_SCHEMA_RIGHT:
		return schema_right(r);
	case SQL_ASK_SCHEMA:
		return first_schema(r);
	case SQL_ASK_SCHEMAS:
		return all_schemas(r);
	case SQL_ASK_TEMP:
	case SQL_ASK_OTHER_TEMP:
		return temp_schema(r, what);
	}
	return cat_error(r->env->err, "XX000", "no such question: %d", (int)what);
}
