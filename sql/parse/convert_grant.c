/* convert_grant.c -- schemas; GRANT and REVOKE of rights and of roles; OWNER TO, REASSIGN and DROP
 * OWNED; SET ROLE and SET SESSION AUTHORIZATION. */
#include <sql/parse/convert.h>

#include <string.h>
#include <strings.h>

/* Of a role that is named: its name. "" = every role, if public may stand there; NULL in *out = the
 * current one, AST_SESSION_ROLE = that of the session. */
static bool
role_of(struct sql_convert *c, const PgQuery__RoleSpec *r, bool public, const char **out)
{
	*out = NULL;
	switch (r->roletype) {
	case PG_QUERY__ROLE_SPEC_TYPE__ROLESPEC_CSTRING:
		return (*out = sql_convert_str(c, r->rolename)) != NULL;
	case PG_QUERY__ROLE_SPEC_TYPE__ROLESPEC_CURRENT_USER:
	case PG_QUERY__ROLE_SPEC_TYPE__ROLESPEC_CURRENT_ROLE:
		return true;
	case PG_QUERY__ROLE_SPEC_TYPE__ROLESPEC_SESSION_USER:
		*out = AST_SESSION_ROLE;
		return true;
	default:
		if (public)
			return (*out = sql_convert_str(c, "")) != NULL;
		return cat_error(c->err, "42704", "role \"public\" does not exist");
	}
}

static bool
roles(struct sql_convert *c, PgQuery__Node *const *list, size_t n, bool public, const char ***out,
    unsigned *count)
{
	if ((*out = sql_convert_take(c, (n + 1) * sizeof **out)) == NULL)
		return false;
	*count = (unsigned)n;
	for (size_t i = 0; i < n; i++)
		if (!role_of(c, list[i]->role_spec, public, &(*out)[i]))
			return false;
	return true;
}

static bool
words(struct sql_convert *c, PgQuery__Node *const *list, size_t n, struct ast_grant *g)
{
	if ((g->right = sql_convert_take(c, (n + 1) * sizeof *g->right)) == NULL)
		return false;
	g->rights = (unsigned)n;
	for (size_t i = 0; i < n; i++) {
		const PgQuery__AccessPriv *p = list[i]->access_priv;
		if (p->n_cols > 0)
			return sql_convert_no(c, "privileges of single columns are", -1);
		if ((g->right[i] = sql_convert_str(c, p->priv_name)) == NULL)
			return false;
	}
	return true;
}

static bool
objects(struct sql_convert *c, const PgQuery__GrantStmt *s, struct ast_stmt *st)
{
	bool relations = st->grant.on == AST_ON_TABLE || st->grant.on == AST_ON_SEQUENCE;
	st->nnames = (unsigned)s->n_objects;
	if ((st->names = sql_convert_take(c, (s->n_objects + 1) * sizeof *st->names)) == NULL ||
	    (st->name_in = sql_convert_take(c, (s->n_objects + 1) * sizeof *st->name_in)) == NULL ||
	    (st->name_at = sql_convert_take(c, (s->n_objects + 1) * sizeof *st->name_at)) == NULL)
		return false;
	for (size_t i = 0; i < s->n_objects; i++) {
		struct ast_table t;
		const PgQuery__Node *n = s->objects[i];
		if (relations && !st->grant.all_in_schema) {
			if (!sql_convert_range(c, n->range_var, &t))
				return false;
			st->names[i] = t.name;
			st->name_in[i] = t.in;
			st->name_at[i] = t.position;
		} else if ((st->names[i] = sql_convert_str(c, n->string->sval)) == NULL) {
			return false;
		}
	}
	return true;
}

static bool
grant(struct sql_convert *c, const PgQuery__GrantStmt *s, struct ast_stmt *st)
{
	struct ast_grant *g = &st->grant;
	st->kind = AST_GRANT;
	g->revoke = !s->is_grant;
	g->option = s->grant_option;
	st->cascade = s->behavior == PG_QUERY__DROP_BEHAVIOR__DROP_CASCADE;
	g->all_in_schema = s->targtype == PG_QUERY__GRANT_TARGET_TYPE__ACL_TARGET_ALL_IN_SCHEMA;
	if (s->targtype == PG_QUERY__GRANT_TARGET_TYPE__ACL_TARGET_DEFAULTS)
		return sql_convert_no(c, "ALTER DEFAULT PRIVILEGES is", -1);
	switch (s->objtype) {
	case PG_QUERY__OBJECT_TYPE__OBJECT_TABLE:
		g->on = AST_ON_TABLE;
		break;
	case PG_QUERY__OBJECT_TYPE__OBJECT_SEQUENCE:
		g->on = AST_ON_SEQUENCE;
		break;
	case PG_QUERY__OBJECT_TYPE__OBJECT_SCHEMA:
		g->on = AST_ON_SCHEMA;
		break;
	case PG_QUERY__OBJECT_TYPE__OBJECT_DATABASE:
		g->on = AST_ON_DATABASE;
		break;
	default:
		return sql_convert_no(
		    c, "GRANT on anything but tables, sequences, schemas and databases is", -1);
	}
	return words(c, s->privileges, s->n_privileges, g) && objects(c, s, st) &&
	       roles(c, s->grantees, s->n_grantees, true, &g->to, &g->tos) &&
	       (s->grantor == NULL || (g->has_by = role_of(c, s->grantor, false, &g->by)));
}

static bool
grant_role(struct sql_convert *c, const PgQuery__GrantRoleStmt *s, struct ast_stmt *st)
{
	struct ast_grant *g = &st->grant;
	st->kind = AST_GRANT_ROLE;
	g->revoke = !s->is_grant;
	g->option = s->admin_opt;
	st->cascade = s->behavior == PG_QUERY__DROP_BEHAVIOR__DROP_CASCADE;
	return words(c, s->granted_roles, s->n_granted_roles, g) &&
	       roles(c, s->grantee_roles, s->n_grantee_roles, false, &g->to, &g->tos) &&
	       (s->grantor == NULL || (g->has_by = role_of(c, s->grantor, false, &g->by)));
}

bool
sql_convert_owner(struct sql_convert *c, const PgQuery__RoleSpec *to, struct ast_stmt *st)
{
	st->kind = AST_OWNER;
	return role_of(c, to, false, &st->var);
}

static bool
create_schema(struct sql_convert *c, const PgQuery__CreateSchemaStmt *s, struct ast_stmt *st)
{
	st->kind = AST_CREATE_SCHEMA;
	st->if_exists = s->if_not_exists;
	if (s->n_schema_elts > 0)
		return sql_convert_no(c, "elements of CREATE SCHEMA are", -1);
	st->owned_by = s->authrole != NULL;
	if (st->owned_by && !role_of(c, s->authrole, false, &st->var))
		return false;
	if (s->schemaname == NULL || !s->schemaname[0]) /* it has the owner's name */
		return true;
	st->nnames = 1;
	return (st->names = sql_convert_take(c, sizeof *st->names)) != NULL &&
	       (st->names[0] = sql_convert_str(c, s->schemaname)) != NULL;
}

bool
sql_convert_drop_schema(struct sql_convert *c, const PgQuery__DropStmt *s, struct ast_stmt *st)
{
	st->kind = AST_DROP_SCHEMA;
	st->cascade = s->behavior == PG_QUERY__DROP_BEHAVIOR__DROP_CASCADE;
	st->if_exists = s->missing_ok;
	st->nnames = (unsigned)s->n_objects;
	if ((st->names = sql_convert_take(c, st->nnames * sizeof *st->names)) == NULL)
		return false;
	for (unsigned i = 0; i < st->nnames; i++)
		if ((st->names[i] = sql_convert_str(c, sql_convert_word(s->objects[i]))) == NULL)
			return false;
	return true;
}

bool
sql_convert_schema_owner(struct sql_convert *c, const PgQuery__AlterOwnerStmt *s, struct ast_stmt *st)
{
	st->owned = AST_OWNED_SCHEMA;
	st->nnames = 1;
	return (st->names = sql_convert_take(c, sizeof *st->names)) != NULL &&
	       (st->names[0] = sql_convert_str(c, sql_convert_word(s->object))) != NULL &&
	       sql_convert_owner(c, s->newowner, st);
}

bool
sql_convert_grant(struct sql_convert *c, const PgQuery__Node *n, struct ast_stmt *st)
{
	if (n->node_case == PG_QUERY__NODE__NODE_CREATE_SCHEMA_STMT)
		return create_schema(c, n->create_schema_stmt, st);
	if (n->node_case == PG_QUERY__NODE__NODE_GRANT_STMT)
		return grant(c, n->grant_stmt, st);
	if (n->node_case == PG_QUERY__NODE__NODE_GRANT_ROLE_STMT)
		return grant_role(c, n->grant_role_stmt, st);
	if (n->node_case == PG_QUERY__NODE__NODE_REASSIGN_OWNED_STMT) {
		const PgQuery__ReassignOwnedStmt *s = n->reassign_owned_stmt;
		st->kind = AST_REASSIGN_OWNED;
		return roles(c, s->roles, s->n_roles, false, &st->names, &st->nnames) &&
		       role_of(c, s->newrole, false, &st->var);
	}
	const PgQuery__DropOwnedStmt *s = n->drop_owned_stmt;
	st->kind = AST_DROP_OWNED;
	st->cascade = s->behavior == PG_QUERY__DROP_BEHAVIOR__DROP_CASCADE;
	return roles(c, s->roles, s->n_roles, false, &st->names, &st->nnames);
}

bool
sql_convert_is_role(const char *setting)
{
	return strcasecmp(setting, "role") == 0 || strcasecmp(setting, "session_authorization") == 0;
}
