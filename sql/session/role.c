/* role.c -- SET ROLE and SET SESSION AUTHORIZATION: the role of a session's statements. */
#include <sql/session/session_internal.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool
find(struct sql_session *s, const char *name, struct sql_who *out, struct cat_err *err)
{
	if (sql_role_there(s->cfg.cat, s->t, name, out, err))
		return true;
	return strcmp(err->sqlstate, "42704") != 0
		   ? false
		   : cat_error(err, "22023", "role \"%.63s\" does not exist", name);
}

static bool
renew(struct sql_session *s, struct sql_who *who, struct cat_err *err)
{
	return who->name[0] == 0 || sql_role_renew(s->cfg.cat, s->t, who, err);
}

static bool
renew_both(struct sql_session *s, struct sql_settings *set, struct cat_err *err)
{
	return renew(s, &set->role, err) && renew(s, &set->session_role, err);
}

bool
sql_renew_roles(struct sql_session *s, struct cat_err *err)
{
	bool named = s->cfg.user != NULL;
	if (!named && s->now.role.name[0] == 0 && s->now.session_role.name[0] == 0)
		return true;
	uint64_t version = cat_version(s->cfg.cat, s->t);
	if (version == s->roles_at)
		return true;
	if ((named && !renew(s, &s->login, err)) || !renew_both(s, &s->now, err) ||
	    !renew_both(s, &s->session, err) || !renew_both(s, &s->before, err))
		return false;
	for (unsigned i = 0; i < s->saves; i++)
		if (!renew_both(s, &s->save[i].now, err) || !renew_both(s, &s->save[i].session, err))
			return false;
	s->roles_at = version;
	return true;
}

static bool
other_session(struct sql_session *s, struct sql_settings *next, const char *name, struct cat_err *err)
{
	next->role = next->session_role = (struct sql_who){ .super = false };
	if (name == NULL)
		return true;
	if (!find(s, name, &next->session_role, err))
		return false;
	return s->login.super || strcmp(name, s->login.name) == 0 ||
	       cat_error(err, "42501", "permission denied to set session authorization");
}

static bool
other_role(struct sql_session *s, struct sql_settings *next, const char *name, struct cat_err *err)
{
	bool yes;
	next->role = (struct sql_who){ .super = false };
	if (name == NULL || strcasecmp(name, "none") == 0)
		return true;
	return find(s, name, &next->role, err) &&
	       sql_is_member(s->cfg.cat, s->t, sql_session_who(s), name, &yes, err) &&
	       (yes || cat_error(err, "42501", "permission denied to set role \"%.63s\"", name));
}

bool
sql_set_role(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err)
{
	struct sql_settings next = s->now;
	bool role = strcasecmp(ast->var, "role") == 0;
	if (ast->local && s->block == SQL_IDLE) {
		sql_notice(sink, "WARNING", "25P01", "SET LOCAL can only be used in transaction blocks");
		return true;
	}
	if (role ? !other_role(s, &next, ast->value, err) : !other_session(s, &next, ast->value, err))
		return false;
	s->now = next;
	if (ast->local)
		return true;
	s->session.role = next.role;
	s->session.session_role = next.session_role;
	return true;
}
