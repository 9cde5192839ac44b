/* grant.c -- GRANT and REVOKE, of rights and of roles; what a command asks of the current role. */
#include <sql/command/grant.h>
#include <sql/common/error.h>
#include <sql/common/guess_relation.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define DATABASE "namdb"

/* ---- what a command asks ------------------------------------------------------------------ */

bool
sql_must_own(struct sql_session *s, const struct cat_table *tab, struct cat_err *err)
{
	char name[CAT_NAME_MAX + 1];
	bool yes;
	if (!sql_acts_as(s->cfg.cat, s->t, sql_who(s), cat_owner(tab), &yes, err))
		return false;
	return yes || cat_error(err, "42501", "must be owner of %s %s", sql_kind_name(tab),
			  sql_local_name(tab, name));
}

bool
sql_may_drop(struct sql_session *s, const struct cat_table *tab, struct cat_err *err)
{
	char name[CAT_NAME_MAX + 1];
	const struct cat_table *schema;
	bool yes = false;
	if (cat_in_public(tab->path))
		return sql_must_own(s, tab, err);
	cat_schema_of(tab->path, name);
	nam_status st = cat_schema_find(s->cfg.cat, s->t, name, &schema);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (schema != NULL && !sql_acts_as(s->cfg.cat, s->t, sql_who(s), cat_owner(schema), &yes, err))
		return false;
	return yes || sql_must_own(s, tab, err);
}

bool
sql_must_have(struct sql_session *s, const struct cat_table *tab, uint16_t rights, struct cat_err *err)
{
	uint16_t have;
	return sql_rights(s->cfg.cat, s->t, sql_who(s), tab, rights, &have, err) &&
	       ((rights & ~have) == 0 || sql_denied(tab, err));
}

bool
sql_role_makes(struct sql_session *s, const struct sql_who *who, int position, struct cat_err *err)
{
	bool yes;
	if (!sql_may_make(s->cfg.cat, s->t, who, &yes, err))
		return false;
	if (yes)
		return true;
	cat_error(err, "42501", "permission denied for schema public");
	snprintf(err->hint, sizeof err->hint, "GRANT CREATE ON SCHEMA public TO the role.");
	err->position = position;
	return false;
}

bool
sql_makes_in(struct sql_session *s, const char *name, int position, struct cat_err *err)
{
	const struct sql_looking in = sql_looking(s);
	const struct cat_table *schema;
	uint16_t have = CAT_MAY_CREATE;
	/* Every role may have temporary relations, in the schema of its session alone. */
	bool temp = sql_schema_is_temp(name);
	if (temp && strcmp(name, s->temp) != 0)
		return cat_error(
		    err, "42P16", "cannot create relations in temporary schemas of other sessions");
	if (!sql_schema_find(&in, name, &schema, false, err) ||
	    (!temp && !sql_rights(in.cat, in.t, in.who, schema, CAT_MAY_CREATE, &have, err)))
		return false;
	if ((have & CAT_MAY_CREATE) == 0) {
		cat_error(err, "42501", "permission denied for schema %s", name);
		err->position = position;
		return false;
	}
	s->ddl = true;
	nam_status st = cat_schema_hold(in.cat, in.t, schema);
	if (st == NAM_ABSENT)
		return cat_error(err, "3F000", "schema \"%.63s\" does not exist", name);
	return st == NAM_OK || sql_status(err, st, NULL);
}

bool
sql_make_as(struct sql_session *s, struct cat_table *def, int position, struct cat_err *err)
{
	const struct sql_who *who = sql_who(s);
	char schema[CAT_NAME_MAX + 1];
	struct sql_who is;
	cat_schema_of(def->path, schema);
	bool public = cat_in_public(def->path);
	if (public ? !sql_role_makes(s, who, position, err) : !sql_makes_in(s, schema, position, err))
		return false;
	snprintf(def->owner, sizeof def->owner, "%s", who->name);
	/* If the role of this session has been dropped, nothing can be its own. */
	return sql_role_there(s->cfg.cat, s->t, who->name, &is, err);
}

/* ---- names of roles ----------------------------------------------------------------------- */

const char *
sql_role_said(struct sql_session *s, const char *name)
{
	return name == NULL                          ? sql_who(s)->name
	       : strcmp(name, AST_SESSION_ROLE) == 0 ? sql_session_who(s)->name
						     : name;
}

bool
sql_role_held(struct sql_session *s, const char *name, struct nam_arena *a, struct cat_err *err)
{
	nam_status st = cat_role_hold(s->cfg.cat, s->t, name, a);
	if (st == NAM_ABSENT && strcmp(name, CAT_FIRST_ROLE) == 0)
		return true;
	if (st == NAM_ABSENT)
		return cat_error(err, "42704", "role \"%.63s\" does not exist", name);
	return st == NAM_OK || sql_status(err, st, NULL);
}

/* GRANTED BY names the current role, as PostgreSQL has it. */
static bool
good_grantor(struct sql_session *s, const struct ast_grant *g, struct cat_err *err)
{
	if (!g->has_by || strcmp(sql_role_said(s, g->by), sql_who(s)->name) == 0)
		return true;
	return cat_error(err, "0LP01", "grantor must be current user");
}

/* ---- rights by their words ---------------------------------------------------------------- */

enum { SCHEMA_CREATE = 1 << 8, SCHEMA_USAGE = 1 << 9, DATABASE_ANY = 1 << 10 };

static const struct word {
	const char *name;
	uint16_t relation, schema, database;
} words[] = { { "select", CAT_MAY_SELECT, 0, 0 }, { "insert", CAT_MAY_INSERT, 0, 0 },
	{ "update", CAT_MAY_UPDATE, 0, 0 }, { "delete", CAT_MAY_DELETE, 0, 0 },
	{ "truncate", CAT_MAY_TRUNCATE, 0, 0 }, { "references", CAT_MAY_REFER, 0, 0 },
	{ "trigger", CAT_MAY_TRIGGER, 0, 0 }, { "usage", CAT_MAY_USE, SCHEMA_USAGE, 0 },
	{ "create", 0, SCHEMA_CREATE, DATABASE_ANY }, { "connect", 0, 0, DATABASE_ANY },
	{ "temporary", 0, 0, DATABASE_ANY }, { "temp", 0, 0, DATABASE_ANY }, { "execute", 0, 0, 0 } };

static bool
rights_of(const struct ast_grant *g, uint16_t *out, struct cat_err *err)
{
	static const char *const on[] = { "relation", "sequence", "schema", "database" };
	enum { WORDS = sizeof words / sizeof *words };
	*out = 0;
	for (unsigned i = 0; i < g->rights; i++) {
		unsigned k = 0;
		while (k < WORDS && strcasecmp(words[k].name, g->right[i]) != 0)
			k++;
		if (k == WORDS)
			return cat_error(err, "42601", "unrecognized privilege type \"%.63s\"", g->right[i]);
		uint16_t is = g->on == AST_ON_SCHEMA     ? words[k].schema
			      : g->on == AST_ON_DATABASE ? words[k].database
							 : words[k].relation;
		if (g->on == AST_ON_SEQUENCE)
			is &= cat_acl_all(CAT_SEQUENCE);
		if (is == 0) {
			char big[16] = "";
			for (unsigned c = 0; words[k].name[c] != 0; c++)
				big[c] = (char)(words[k].name[c] - 'a' + 'A');
			return cat_error(err, "0LP01", "invalid privilege type %s for %s", big, on[g->on]);
		}
		*out |= is;
	}
	return true;
}

/* ---- relations ---------------------------------------------------------------------------- */

struct granting {
	struct sql_session *s;
	const struct ast_stmt *ast;
	const struct sql_sink *sink;
	struct nam_arena *a;
	struct cat_err *err;
	uint16_t rights; /* none: ALL */
	const char **to; /* roles that are there; "" = every role */
};

static unsigned
bits(uint16_t x)
{
	return (unsigned)__builtin_popcount(x);
}

/* The role that the current role grants as: the owner if it may act as that, else the one of its
 * roles that may grant the most. */
static bool
grantor_of(
    struct granting *g, const struct cat_table *tab, uint16_t rights, const char **by, uint16_t *options)
{
	struct sql_session *s = g->s;
	struct sql_roles all;
	bool owner;
	*by = cat_owner(tab);
	*options = cat_acl_all(tab->kind);
	if (!sql_acts_as(s->cfg.cat, s->t, sql_who(s), *by, &owner, g->err))
		return false;
	if (owner)
		return true;
	if (!sql_roles_of(s->cfg.cat, s->t, sql_who(s)->name, SQL_INHERITS, &all, g->a, g->err))
		return false;
	*by = all.name[0];
	*options = cat_acl_options(tab, *by);
	for (unsigned i = 1; i < all.n; i++) {
		uint16_t more = cat_acl_options(tab, all.name[i]);
		if (bits(more & rights) > bits(*options & rights)) {
			*by = all.name[i];
			*options = more;
		}
	}
	return true;
}

/* What may be granted of rights. False: *err. Nothing, with a right of its own: a warning. */
static bool
allowed(struct granting *g, const struct cat_table *tab, uint16_t *rights, uint16_t options)
{
	struct sql_session *s = g->s;
	bool revoke = g->ast->grant.revoke;
	const char *verb = revoke ? "could be revoked" : "were granted";
	const char *code = revoke ? "01006" : "01007";
	char name[CAT_NAME_MAX + 1];
	uint16_t have;
	if ((*rights & options) == 0) {
		if (!sql_rights(s->cfg.cat, s->t, sql_who(s), tab, cat_acl_all(tab->kind), &have, g->err))
			return false;
		if (have == 0)
			return sql_denied(tab, g->err);
		sql_notice(
		    g->sink, "WARNING", code, "no privileges %s for \"%s\"", verb, sql_local_name(tab, name));
	} else if ((*rights & ~options) != 0 && g->rights != 0) {
		sql_notice(g->sink, "WARNING", code, "not all privileges %s for \"%s\"", verb,
		    sql_local_name(tab, name));
	}
	*rights &= options;
	return true;
}

static bool
on_relation(struct granting *g, const struct cat_table *tab)
{
	const struct ast_grant *how = &g->ast->grant;
	struct cat_table def = *tab;
	uint16_t rights = g->rights ? g->rights : cat_acl_all(tab->kind), options;
	const char *by;
	if (tab->kind == CAT_SEQUENCE && (rights & ~cat_acl_all(CAT_SEQUENCE)) != 0) {
		sql_notice(g->sink, "WARNING", "0LP01",
		    "sequence \"%s\" only supports USAGE, SELECT, and UPDATE privileges",
		    cat_local(tab->path));
		rights &= cat_acl_all(CAT_SEQUENCE);
	} else if ((rights & ~cat_acl_all(tab->kind)) != 0) {
		return cat_error(g->err, "0LP01", "invalid privilege type USAGE for table");
	}
	if (!grantor_of(g, tab, rights, &by, &options) || !allowed(g, tab, &rights, options))
		return false;
	if (rights == 0)
		return true;
	for (unsigned i = 0; i < how->tos; i++) {
		bool depends = false, ok;
		if (how->revoke)
			ok = cat_acl_revoke(
			    &def, g->to[i], by, rights, how->option, g->ast->cascade, &depends, g->a);
		else
			ok = cat_acl_grant(&def, g->to[i], by, rights, how->option ? rights : 0, g->a);
		if (!ok)
			return sql_no_memory(g->err);
		if (depends) {
			cat_error(g->err, "2BP01", "dependent privileges exist");
			snprintf(g->err->hint, sizeof g->err->hint, "Use CASCADE to revoke them too.");
			return false;
		}
	}
	g->s->ddl = true;
	nam_status st = cat_grant_as(g->s->cfg.cat, g->s->t, tab, &def);
	return st == NAM_OK || sql_status(g->err, st, NULL);
}

static bool
named_relation(struct granting *g, unsigned i)
{
	struct sql_session *s = g->s;
	const char *name = g->ast->names[i];
	const struct cat_table *tab;
	nam_status st = cat_find(s->cfg.cat, s->t, name, &tab);
	if (st != NAM_OK)
		return sql_status(g->err, st, NULL);
	const struct cat_table *keyed = NULL;
	if (tab == NULL && (st = sql_key_find(s, name, &keyed)) != NAM_OK)
		return sql_status(g->err, st, NULL);
	if (keyed != NULL)
		return cat_error(g->err, "42809", "\"%.63s\" is an index", cat_local(name));
	if (tab == NULL) {
		cat_error(g->err, "42P01", "relation \"%s\" does not exist", sql_path_shown(name));
		sql_guess_relation(s->cfg.cat, s->t, name, g->a, g->err);
		return false;
	}
	if (tab->kind == CAT_INDEX)
		return cat_error(g->err, "42809", "\"%s\" is an index", cat_local(tab->path));
	if (g->ast->grant.on == AST_ON_SEQUENCE && tab->kind != CAT_SEQUENCE)
		return cat_error(g->err, "42809", "\"%s\" is not a sequence", cat_local(tab->path));
	if (tab->system)
		return cat_error(
		    g->err, "42501", "permission denied: \"%s\" is a system catalog", cat_local(tab->path));
	return on_relation(g, tab);
}

/* ON ALL TABLES, ALL SEQUENCES IN SCHEMA. */
static bool
all_relations(struct granting *g)
{
	struct sql_session *s = g->s;
	const struct cat_table **list;
	unsigned n;
	const struct sql_looking look = sql_looking(s);
	const struct cat_table *its;
	for (unsigned i = 0; i < g->ast->nnames; i++)
		if (!sql_schema_find(&look, g->ast->names[i], &its, false, g->err))
			return false;
	nam_status st = cat_list(s->cfg.cat, s->t, &list, &n, g->a);
	if (st != NAM_OK)
		return sql_status(g->err, st, NULL);
	bool sequences = g->ast->grant.on == AST_ON_SEQUENCE;
	for (unsigned i = 0; i < n; i++) {
		bool is = sequences ? list[i]->kind == CAT_SEQUENCE
				    : list[i]->kind == CAT_TABLE || list[i]->kind == CAT_VIEW;
		char schema[CAT_NAME_MAX + 1];
		bool in = false;
		cat_schema_of(list[i]->path, schema);
		for (unsigned k = 0; k < g->ast->nnames; k++)
			in |= strcmp(schema, g->ast->names[k]) == 0;
		if (is && in && !list[i]->system && !on_relation(g, list[i]))
			return false;
	}
	return true;
}

/* ---- schema and database ------------------------------------------------------------------ */

bool
sql_role_set_create(struct sql_session *s, const char *to, bool on, struct nam_arena *a, struct cat_err *err)
{
	struct cat_role role;
	const char *name = to[0] != 0 ? to : CAT_EVERY_ROLE;
	nam_status st = cat_role_find(s->cfg.cat, s->t, name, &role, a);
	if (st == NAM_ABSENT && to[0] == 0 && on) {
		role = (struct cat_role){ .name = CAT_EVERY_ROLE, .create = true };
		st = cat_role_create(s->cfg.cat, s->t, &role, a);
	} else if (st == NAM_OK && role.create != on) {
		role.create = on;
		st = cat_role_alter(s->cfg.cat, s->t, &role, a);
	}
	/* The first role needs no row, and may do everything. */
	return st == NAM_OK || st == NAM_ABSENT || sql_status(err, st, NULL);
}

/* A schema that has a definition. */
static bool
on_own_schema(struct granting *g, const char *name)
{
	struct sql_session *s = g->s;
	const struct sql_looking look = sql_looking(s);
	const struct cat_table *schema;
	uint16_t all = g->rights;
	if (!sql_schema_find(&look, name, &schema, false, g->err))
		return false;
	if (sql_schema_is_temp(name))
		return cat_error(g->err, "0A000", "rights on temporary schemas are not supported");
	if (!sql_schema_held(s, &schema, g->err))
		return false;
	g->rights = (all & SCHEMA_CREATE ? CAT_MAY_CREATE : 0) | (all & SCHEMA_USAGE ? CAT_MAY_USE : 0);
	bool ok = on_relation(g, schema);
	g->rights = all;
	return ok;
}

static bool
on_schema(struct granting *g)
{
	const struct ast_grant *how = &g->ast->grant;
	bool public = false, owner;
	for (unsigned i = 0; i < g->ast->nnames; i++) {
		const char *name = g->ast->names[i];
		if (strcmp(name, "pg_catalog") == 0 || strcmp(name, "information_schema") == 0)
			return cat_error(
			    g->err, "0A000", "GRANT and REVOKE on schema %s are not supported", name);
		public |= strcmp(name, CAT_PUBLIC_SCHEMA) == 0;
		if (strcmp(name, CAT_PUBLIC_SCHEMA) != 0 && !on_own_schema(g, name))
			return false;
	}
	if (!public)
		return true;
	if (!sql_acts_as(g->s->cfg.cat, g->s->t, sql_who(g->s), CAT_FIRST_ROLE, &owner, g->err))
		return false;
	if (!owner) { /* each role has USAGE, and none may grant */
		sql_notice(g->sink, "WARNING", how->revoke ? "01006" : "01007",
		    "no privileges %s for \"public\"", how->revoke ? "could be revoked" : "were granted");
		return true;
	}
	if (how->option)
		return cat_error(g->err, "0A000", "grant options of schemas are not supported yet");
	if (how->revoke && (g->rights == 0 || (g->rights & SCHEMA_USAGE) != 0))
		sql_notice(g->sink, "WARNING", "01006",
		    "USAGE of schema public cannot be revoked: every role keeps it");
	bool create = g->rights == 0 || (g->rights & SCHEMA_CREATE) != 0;
	for (unsigned i = 0; public && create && i < how->tos; i++)
		if (!sql_role_set_create(g->s, g->to[i], !how->revoke, g->a, g->err))
			return false;
	return true;
}

/* Every role may connect to the one database. */
static bool
on_database(struct granting *g)
{
	for (unsigned i = 0; i < g->ast->nnames; i++)
		if (strcmp(g->ast->names[i], DATABASE) != 0)
			return cat_error(
			    g->err, "3D000", "database \"%.63s\" does not exist", g->ast->names[i]);
	if (g->ast->grant.revoke) {
		cat_error(g->err, "0A000", "REVOKE on a database is not supported yet");
		snprintf(g->err->hint, sizeof g->err->hint,
		    "ALTER ROLE ... NOLOGIN keeps a role out; REVOKE on tables keeps it from data.");
		return false;
	}
	sql_notice(g->sink, "WARNING", "01007", "no privileges were granted for \"%s\": every role has them",
	    DATABASE);
	return true;
}

static bool
grant(struct granting *g)
{
	const struct ast_grant *how = &g->ast->grant;
	if (!good_grantor(g->s, how, g->err) || !rights_of(how, &g->rights, g->err))
		return false;
	if ((g->to = nam_arena_take(g->a, (how->tos + 1u) * sizeof *g->to)) == NULL)
		return sql_no_memory(g->err);
	for (unsigned i = 0; i < how->tos; i++) {
		g->to[i] =
		    how->to[i] != NULL && how->to[i][0] == 0 ? CAT_PUBLIC : sql_role_said(g->s, how->to[i]);
		if (g->to[i][0] == 0 && how->option && !how->revoke)
			return cat_error(g->err, "0LP01", "grant options can only be granted to roles");
		if (g->to[i][0] != 0 && !sql_role_held(g->s, g->to[i], g->a, g->err))
			return false;
	}
	if (how->on == AST_ON_SCHEMA)
		return on_schema(g);
	if (how->on == AST_ON_DATABASE)
		return on_database(g);
	if (how->all_in_schema)
		return all_relations(g);
	for (unsigned i = 0; i < g->ast->nnames; i++)
		if (!named_relation(g, i))
			return false;
	return true;
}

/* ---- members ------------------------------------------------------------------------------ */

/* May the current role say who is a member of role? */
static bool
administers(struct granting *g, const char *role)
{
	struct sql_session *s = g->s;
	const struct sql_who *who = sql_who(s);
	struct sql_roles mine;
	struct cat_member *m;
	unsigned n;
	struct sql_who is;
	if (who->super)
		return true;
	if (!sql_role_there(s->cfg.cat, s->t, role, &is, g->err) ||
	    !sql_roles_of(s->cfg.cat, s->t, who->name, SQL_MEMBER, &mine, g->a, g->err))
		return false;
	if (is.super)
		return cat_error(g->err, "42501", "must be superuser to alter superusers");
	nam_status st = cat_member_list(s->cfg.cat, s->t, &m, &n, g->a);
	if (st != NAM_OK)
		return sql_status(g->err, st, NULL);
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < mine.n; k++)
			if (m[i].admin && strcmp(m[i].role, role) == 0 &&
			    strcmp(m[i].member, mine.name[k]) == 0)
				return true;
	return cat_error(g->err, "42501", "must have admin option on role \"%.63s\"", role);
}

static bool
member(struct granting *g, const char *role, const char *to)
{
	struct sql_session *s = g->s;
	const struct ast_grant *how = &g->ast->grant;
	struct cat_member *m, is = { .admin = how->option };
	struct sql_roles above;
	unsigned n, at = 0;
	nam_status st = cat_member_list(s->cfg.cat, s->t, &m, &n, g->a);
	if (st != NAM_OK)
		return sql_status(g->err, st, NULL);
	while (at < n && (strcmp(m[at].role, role) != 0 || strcmp(m[at].member, to) != 0))
		at++;
	if (how->revoke && at == n) {
		sql_notice(
		    g->sink, "WARNING", "01000", "role \"%s\" is not a member of role \"%s\"", to, role);
		return true;
	}
	snprintf(is.role, sizeof is.role, "%s", role);
	snprintf(is.member, sizeof is.member, "%s", to);
	if (how->revoke) {
		is.admin = false;
		st = how->option ? cat_member_put(s->cfg.cat, s->t, &is, g->a)
				 : cat_member_drop(s->cfg.cat, s->t, role, to, g->a);
		return st == NAM_OK || sql_status(g->err, st, NULL);
	}
	if (at < n && (m[at].admin || !is.admin)) {
		sql_notice(
		    g->sink, "NOTICE", "00000", "role \"%s\" is already a member of role \"%s\"", to, role);
		return true;
	}
	if (!sql_roles_of(s->cfg.cat, s->t, role, SQL_MEMBER, &above, g->a, g->err))
		return false;
	for (unsigned i = 0; i < above.n; i++)
		if (strcmp(above.name[i], to) == 0)
			return cat_error(
			    g->err, "0LP01", "role \"%.63s\" is a member of role \"%.63s\"", role, to);
	st = cat_member_put(s->cfg.cat, s->t, &is, g->a);
	return st == NAM_OK || sql_status(g->err, st, NULL);
}

static bool
grant_roles(struct granting *g)
{
	const struct ast_grant *how = &g->ast->grant;
	if (!good_grantor(g->s, how, g->err))
		return false;
	for (unsigned i = 0; i < how->rights; i++) {
		if (!sql_role_held(g->s, how->right[i], g->a, g->err) || !administers(g, how->right[i]))
			return false;
		for (unsigned k = 0; k < how->tos; k++) {
			const char *to = sql_role_said(g->s, how->to[k]);
			if (!sql_role_held(g->s, to, g->a, g->err) || !member(g, how->right[i], to))
				return false;
		}
	}
	return true;
}

bool
sql_grant(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct nam_arena *a,
    struct cat_err *err)
{
	struct granting g = { .s = s, .ast = ast, .sink = sink, .a = a, .err = err };
	return ast->kind == AST_GRANT ? grant(&g) : grant_roles(&g);
}
