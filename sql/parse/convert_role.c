/* convert_role.c -- CREATE, ALTER and DROP ROLE, and USER, which is a role that may log in; other
 * statements about roles are convert_grant.c's. */
#include <sql/parse/convert.h>

#include <stdio.h>
#include <string.h>

static bool
role_name(struct sql_convert *c, const PgQuery__RoleSpec *r, const char **out)
{
	*out = NULL;
	switch (r->roletype) {
	case PG_QUERY__ROLE_SPEC_TYPE__ROLESPEC_CSTRING:
		return (*out = sql_convert_str(c, r->rolename)) != NULL;
	case PG_QUERY__ROLE_SPEC_TYPE__ROLESPEC_CURRENT_USER:
	case PG_QUERY__ROLE_SPEC_TYPE__ROLESPEC_CURRENT_ROLE:
	case PG_QUERY__ROLE_SPEC_TYPE__ROLESPEC_SESSION_USER:
		return true;
	default:
		return sql_convert_no(c, "this name of a role is", r->location);
	}
}

/* An option that namdb keeps goes into its place; of the others only what says no, or nothing. */
static bool
one_option(struct sql_convert *c, const PgQuery__DefElem *d, struct ast_role *out)
{
	char text[80];
	bool flag = d->arg != NULL && d->arg->node_case == PG_QUERY__NODE__NODE_BOOLEAN;
	int yes = flag && d->arg->boolean->boolval;
	if (strcmp(d->defname, "password") == 0) {
		const char *word = d->arg != NULL ? sql_convert_word(d->arg) : NULL;
		out->password = 1;
		out->secret = NULL;
		return word == NULL || (out->secret = sql_convert_str(c, word)) != NULL;
	}
	if (strcmp(d->defname, "superuser") == 0) {
		out->super = yes;
		return true;
	}
	if (strcmp(d->defname, "canlogin") == 0) {
		out->login = yes;
		return true;
	}
	if (strcmp(d->defname, "inherit") == 0) {
		out->inherit = yes;
		return true;
	}
	if (flag && !yes)
		return true;
	snprintf(text, sizeof text, "the role option %.40s is", d->defname);
	return sql_convert_no(c, text, d->location);
}

static bool
all_options(struct sql_convert *c, PgQuery__Node *const *list, size_t n, struct ast_role *out)
{
	*out = (struct ast_role){ .super = -1, .login = -1, .inherit = -1, .password = -1 };
	for (size_t i = 0; i < n; i++)
		if (!one_option(c, list[i]->def_elem, out))
			return false;
	return true;
}

bool
sql_convert_role(struct sql_convert *c, const PgQuery__Node *n, struct ast_stmt *st)
{
	if (n->node_case == PG_QUERY__NODE__NODE_CREATE_ROLE_STMT) {
		const PgQuery__CreateRoleStmt *s = n->create_role_stmt;
		st->kind = AST_CREATE_ROLE;
		if (!all_options(c, s->options, s->n_options, &st->role))
			return false;
		if (st->role.login < 0)
			st->role.login = s->stmt_type == PG_QUERY__ROLE_STMT_TYPE__ROLESTMT_USER;
		return (st->var = sql_convert_str(c, s->role)) != NULL;
	}
	if (n->node_case == PG_QUERY__NODE__NODE_ALTER_ROLE_STMT) {
		const PgQuery__AlterRoleStmt *s = n->alter_role_stmt;
		st->kind = AST_ALTER_ROLE;
		return all_options(c, s->options, s->n_options, &st->role) && role_name(c, s->role, &st->var);
	}
	if (n->node_case != PG_QUERY__NODE__NODE_DROP_ROLE_STMT)
		return sql_convert_grant(c, n, st);
	const PgQuery__DropRoleStmt *s = n->drop_role_stmt;
	st->kind = AST_DROP_ROLE;
	st->if_exists = s->missing_ok;
	st->nnames = (unsigned)s->n_roles;
	if ((st->names = sql_convert_take(c, (s->n_roles + 1) * sizeof *st->names)) == NULL)
		return false;
	for (size_t i = 0; i < s->n_roles; i++) {
		if (!role_name(c, s->roles[i]->role_spec, &st->names[i]))
			return false;
		if (st->names[i] == NULL)
			return sql_convert_no(c, "DROP ROLE of a name that is not written out is", -1);
	}
	return true;
}
