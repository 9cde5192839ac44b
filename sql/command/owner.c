/* owner.c -- ALTER ... OWNER TO, REASSIGN OWNED, DROP OWNED. */
#include <sql/command/grant.h>
#include <sql/common/error.h>

#include <stdio.h>
#include <string.h>

static bool
give(struct sql_session *s, const struct cat_table *tab, const char *to, struct nam_arena *a,
    struct cat_err *err)
{
	struct cat_table def = *tab;
	if (strcmp(cat_owner(tab), to) == 0)
		return true;
	if (!cat_acl_give(&def, to, a))
		return sql_no_memory(err);
	s->ddl = true;
	nam_status st = cat_grant_as(s->cfg.cat, s->t, tab, &def);
	return st == NAM_OK || sql_status(err, st, NULL);
}

/* Sequences that feed a column of it go with a table. */
static bool
give_sequences(
    struct sql_session *s, uint32_t table, const char *to, struct nam_arena *a, struct cat_err *err)
{
	const struct cat_table **list;
	unsigned n;
	nam_status st = cat_list(s->cfg.cat, s->t, &list, &n, a);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	for (unsigned i = 0; i < n; i++)
		if (list[i]->kind == CAT_SEQUENCE && list[i]->seq.owner == table &&
		    !give(s, list[i], to, a, err))
			return false;
	return true;
}

/* The table that a sequence feeds; NULL = none. */
static nam_status
feeds(struct sql_session *s, const struct cat_table *seq, const struct cat_table **out, struct nam_arena *a)
{
	const struct cat_table **list;
	unsigned n = 0;
	nam_status st = cat_list(s->cfg.cat, s->t, &list, &n, a);
	*out = NULL;
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		if (list[i]->kind == CAT_TABLE && list[i]->store.id == seq->seq.owner)
			*out = list[i];
	return st;
}

/* Is the role there, and may the current one act as it? */
static bool
may_be_given(struct sql_session *s, const char *to, struct nam_arena *a, struct cat_err *err)
{
	bool yes;
	if (!sql_role_held(s, to, a, err) || !sql_is_member(s->cfg.cat, s->t, sql_who(s), to, &yes, err))
		return false;
	if (!yes)
		return cat_error(err, "42501", "must be member of role \"%.63s\"", to);
	return true;
}

/* May the current role give that relation to that role? The role then has one more in its schema:
 * that takes the right to make one there. */
static bool
may_give(struct sql_session *s, const struct cat_table *tab, const char *to, struct nam_arena *a,
    struct cat_err *err)
{
	struct sql_who other = { 0 };
	char name[CAT_NAME_MAX + 1];
	const struct cat_table *schema;
	uint16_t have;
	if (!may_be_given(s, to, a, err))
		return false;
	if (sql_who(s)->super || sql_path_is_temp(tab->path))
		return true;
	snprintf(other.name, sizeof other.name, "%s", to);
	if (cat_in_public(tab->path))
		return sql_role_makes(s, &other, 0, err);
	const struct sql_looking look = { s->cfg.cat, s->t, NULL, NULL, NULL };
	cat_schema_of(tab->path, name);
	if (!sql_schema_find(&look, name, &schema, false, err) ||
	    !sql_rights(look.cat, look.t, &other, schema, CAT_MAY_CREATE, &have, err))
		return false;
	return (have & CAT_MAY_CREATE) != 0 ||
	       cat_error(err, "42501", "permission denied for schema %s", name);
}

bool
sql_give_to(struct sql_session *s, const struct cat_table *tab, const char *to, struct nam_arena *a,
    struct cat_err *err)
{
	return may_give(s, tab, to, a, err) && give(s, tab, to, a, err);
}

static bool
is_of_kind(const struct cat_table *tab, enum ast_owned owned, struct cat_err *err)
{
	static const char *const name[] = { "a table", "a view", "a sequence" };
	static const enum cat_kind kind[] = { CAT_TABLE, CAT_VIEW, CAT_SEQUENCE };
	if (tab->kind == kind[owned] || (owned == AST_OWNED_TABLE && tab->kind != CAT_INDEX))
		return true;
	return cat_error(err, "42809", "\"%s\" is not %s", cat_local(tab->path), name[owned]);
}

static bool
give_schema(struct sql_session *s, const struct ast_stmt *ast, struct nam_arena *a, struct cat_err *err)
{
	const struct sql_looking look = sql_looking(s);
	const struct cat_table *schema;
	const char *to = sql_role_said(s, ast->var);
	if (!sql_role_held(s, to, a, err) || !sql_schema_find(&look, ast->names[0], &schema, false, err))
		return false;
	if (schema == NULL || sql_schema_is_temp(ast->names[0]))
		return cat_error(
		    err, "0A000", "giving schema %s another owner is not supported", ast->names[0]);
	return sql_must_own(s, schema, err) && may_be_given(s, to, a, err) &&
	       sql_schema_held(s, &schema, err) && give(s, schema, to, a, err);
}

bool
sql_give(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct nam_arena *a,
    struct cat_err *err)
{
	const char *to = sql_role_said(s, ast->var);
	const struct cat_table *tab, *fed;
	nam_status st;
	if (ast->owned == AST_OWNED_TYPE)
		return sql_give_type(s, ast, a, err);
	if (ast->owned == AST_OWNED_SCHEMA)
		return give_schema(s, ast, a, err);
	if (!sql_alter_find(s, ast, sink, &tab, err))
		return false;
	if (tab == NULL)
		return true;
	if (tab->system)
		return cat_error(
		    err, "42501", "permission denied: \"%s\" is a system catalog", cat_local(tab->path));
	if (!is_of_kind(tab, ast->owned, err) || !sql_must_own(s, tab, err))
		return false;
	if (strcmp(cat_owner(tab), to) == 0)
		return true;
	if (!may_give(s, tab, to, a, err))
		return false;
	if (tab->kind == CAT_SEQUENCE && tab->seq.owner != 0) {
		cat_error(err, "0A000", "cannot change owner of sequence \"%s\"", cat_local(tab->path));
		if ((st = feeds(s, tab, &fed, a)) != NAM_OK)
			return sql_status(err, st, NULL);
		if (fed != NULL)
			snprintf(err->detail, sizeof err->detail,
			    "Sequence \"%s\" is linked to table \"%s\".", cat_local(tab->path),
			    cat_local(fed->path));
		return false;
	}
	uint32_t id = tab->kind == CAT_TABLE ? tab->store.id : 0;
	return give(s, tab, to, a, err) && (id == 0 || give_sequences(s, id, to, a, err));
}

/* True if it lies in a schema where its owner needs a right to make it. */
static bool
lies_in_schema(const struct cat_table *tab)
{
	return tab->kind != CAT_SCHEMA && tab->kind != CAT_ENUM_TYPE && tab->kind != CAT_DOMAIN;
}

/* It goes with its session, whatever becomes of roles. */
static bool
is_temp_schema(const struct cat_table *tab)
{
	char name[CAT_NAME_MAX + 1];
	return tab->kind == CAT_SCHEMA && sql_schema_is_temp(sql_local_name(tab, name));
}

bool
sql_reassign(struct sql_session *s, const struct ast_stmt *ast, struct nam_arena *a, struct cat_err *err)
{
	const char *to = sql_role_said(s, ast->var);
	const struct cat_table **list;
	unsigned n;
	bool yes;
	if (!may_be_given(s, to, a, err))
		return false;
	for (unsigned k = 0; k < ast->nnames; k++) {
		const char *from = sql_role_said(s, ast->names[k]);
		if (!sql_role_held(s, from, a, err) ||
		    !sql_acts_as(s->cfg.cat, s->t, sql_who(s), from, &yes, err))
			return false;
		if (!yes)
			return cat_error(err, "42501", "permission denied to reassign objects");
		nam_status st = cat_list_owned(s->cfg.cat, s->t, &list, &n, a);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		for (unsigned i = 0; i < n; i++)
			if (!list[i]->system && list[i]->kind != CAT_INDEX && !is_temp_schema(list[i]) &&
			    strcmp(cat_owner(list[i]), from) == 0 &&
			    ((lies_in_schema(list[i]) && !may_give(s, list[i], to, a, err)) ||
				!give(s, list[i], to, a, err)))
				return false;
	}
	return true;
}

/* What a role owns is dropped, views first; then no list names it any more. */
static bool
drop_owned(struct sql_session *s, const char *role, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *a, struct cat_err *err)
{
	static const enum cat_kind order[] = { CAT_VIEW, CAT_TABLE, CAT_SEQUENCE, CAT_DOMAIN, CAT_ENUM_TYPE,
		CAT_SCHEMA };
	const struct cat_table **list;
	unsigned n;
	for (unsigned pass = 0; pass <= sizeof order / sizeof *order; pass++) {
		nam_status st = cat_list_owned(s->cfg.cat, s->t, &list, &n, a);
		struct ast_stmt drop = { .if_exists = true, .cascade = ast->cascade };
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		if ((drop.names = nam_arena_take(a, (n + 1u) * sizeof *drop.names)) == NULL)
			return sql_no_memory(err);
		bool last = pass == sizeof order / sizeof *order;
		for (unsigned i = 0; i < n; i++) {
			struct cat_table def = *list[i];
			if (list[i]->system || list[i]->kind == CAT_INDEX || is_temp_schema(list[i]))
				continue;
			if (!last && list[i]->kind == order[pass] && strcmp(cat_owner(list[i]), role) == 0) {
				char buf[CAT_NAME_MAX + 1];
				const char *name =
				    def.kind == CAT_SCHEMA ? sql_local_name(list[i], buf) : def.path;
				drop.names[drop.nnames++] = nam_arena_str(a, name, strlen(name));
			}
			if (!last || !cat_acl_names(list[i], role))
				continue;
			if (!cat_acl_forget(&def, role, a))
				return sql_no_memory(err);
			s->ddl = true;
			if ((st = cat_grant_as(s->cfg.cat, s->t, list[i], &def)) != NAM_OK)
				return sql_status(err, st, NULL);
		}
		if (drop.nnames == 0)
			continue;
		bool ok = order[pass] == CAT_SEQUENCE ? sql_drop_sequence(s, &drop, sink, err)
			  : order[pass] == CAT_DOMAIN ? sql_drop_domains(s, &drop, sink, a, err)
			  : order[pass] == CAT_SCHEMA ? sql_drop_schema(s, &drop, sink, a, err)
			  : order[pass] == CAT_ENUM_TYPE
			      ? sql_drop_types(s, &drop, sink, a, err)
			      : sql_drop_relations(s, &drop, order[pass], sink, err);
		if (!ok)
			return false;
	}
	return sql_role_set_create(s, role, false, a, err);
}

bool
sql_drop_owned(struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink,
    struct nam_arena *a, struct cat_err *err)
{
	for (unsigned k = 0; k < ast->nnames; k++) {
		const char *role = sql_role_said(s, ast->names[k]);
		bool yes;
		if (!sql_role_held(s, role, a, err) ||
		    !sql_acts_as(s->cfg.cat, s->t, sql_who(s), role, &yes, err))
			return false;
		if (!yes)
			return cat_error(err, "42501", "permission denied to drop objects");
		if (!drop_owned(s, role, ast, sink, a, err))
			return false;
	}
	return true;
}
