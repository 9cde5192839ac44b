/* rights.c -- rights of roles: a relation's list, memberships, superusers. */
#include <sql/common/error.h>
#include <sql/common/rights.h>

#include <string.h>

const char *
sql_kind_name(const struct cat_table *tab)
{
	static const char *const name[] = { [CAT_TABLE] = "table",
		[CAT_VIEW] = "view",
		[CAT_SEQUENCE] = "sequence",
		[CAT_INDEX] = "index",
		[CAT_SCHEMA] = "schema",
		[CAT_ENUM_TYPE] = "type",
		[CAT_DOMAIN] = "type" };
	return name[tab->kind];
}

const char *
sql_local_name(const struct cat_table *tab, char buf[CAT_NAME_MAX + 1])
{
	if (tab->kind != CAT_SCHEMA)
		return cat_local(tab->path);
	cat_schema_of(tab->path, buf);
	return buf;
}

bool
sql_denied(const struct cat_table *tab, struct cat_err *err)
{
	char name[CAT_NAME_MAX + 1];
	return cat_error(
	    err, "42501", "permission denied for %s %s", sql_kind_name(tab), sql_local_name(tab, name));
}

static bool
known(const struct sql_roles *r, const char *name)
{
	for (unsigned i = 0; i < r->n; i++)
		if (strcmp(r->name[i], name) == 0)
			return true;
	return false;
}

/* Does the role have the rights of the roles it is a member of? */
static bool
inherits(const struct cat_role *role, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(role[i].name, name) == 0)
			return !role[i].noinherit;
	return true;
}

bool
sql_roles_of(struct cat *c, struct txn *t, const char *role, enum sql_membership how, struct sql_roles *out,
    struct nam_arena *arena, struct cat_err *err)
{
	struct cat_member *m;
	struct cat_role *all = NULL;
	unsigned n, roles = 0;
	nam_status st = cat_member_list(c, t, &m, &n, arena);
	if (st == NAM_OK && n > 0 && how == SQL_INHERITS)
		st = cat_role_list(c, t, &all, &roles, arena);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	*out = (struct sql_roles){ .name = nam_arena_take(arena, (n + 1u) * sizeof *out->name) };
	if (out->name == NULL)
		return sql_status(err, NAM_NOMEM, NULL);
	out->name[out->n++] = role;
	for (unsigned at = 0; at < out->n; at++) { /* those behind `at` are to be looked at */
		if (!inherits(all, roles, out->name[at]))
			continue;
		for (unsigned i = 0; i < n; i++)
			if (strcmp(m[i].member, out->name[at]) == 0 && !known(out, m[i].role))
				out->name[out->n++] = m[i].role;
	}
	return true;
}

static bool
find_role(struct cat *c, struct txn *t, const char *name, struct sql_who *out, bool *found,
    struct nam_arena *arena, struct cat_err *err)
{
	struct cat_role role;
	bool claimed;
	nam_status st = cat_role_enter(c, t, name, false, &role, &claimed, arena);
	*found = st == NAM_OK;
	if (st == NAM_OK) {
		*out = (struct sql_who){ .id = role.id, .super = role.super };
		memcpy(out->name, role.name, sizeof out->name);
	}
	return st == NAM_OK || st == NAM_ABSENT || sql_status(err, st, NULL);
}

bool
sql_role_renew(struct cat *c, struct txn *t, struct sql_who *who, struct cat_err *err)
{
	struct nam_arena arena;
	struct sql_who is;
	bool found;
	nam_arena_init(&arena, 0);
	bool ok = find_role(c, t, who->name, &is, &found, &arena, err);
	nam_arena_fini(&arena);
	if (ok && (!found || is.id != who->id))
		is = (struct sql_who){ .name = SQL_ROLE_GONE };
	if (ok)
		*who = is;
	return ok;
}

bool
sql_rights(struct cat *c, struct txn *t, const struct sql_who *who, const struct cat_table *tab,
    uint16_t want, uint16_t *have, struct cat_err *err)
{
	*have = want;
	if (who->super)
		return true;
	*have = cat_acl_rights(tab, who->name) | cat_acl_rights(tab, CAT_PUBLIC);
	if ((want & ~*have) == 0)
		return true;
	struct nam_arena arena;
	struct sql_who is = { .super = false };
	struct sql_roles all;
	bool found;
	nam_arena_init(&arena, 0);
	bool ok = find_role(c, t, who->name, &is, &found, &arena, err) &&
		  sql_roles_of(c, t, who->name, SQL_INHERITS, &all, &arena, err);
	if (ok && is.super)
		*have = want;
	for (unsigned i = 1; ok && i < all.n; i++)
		*have |= cat_acl_rights(tab, all.name[i]);
	nam_arena_fini(&arena);
	return ok;
}

static bool
is_among(struct cat *c, struct txn *t, const struct sql_who *who, const char *role, enum sql_membership how,
    bool *yes, struct cat_err *err)
{
	*yes = who->super || strcmp(who->name, role) == 0;
	if (*yes)
		return true;
	struct nam_arena arena;
	struct sql_roles all;
	nam_arena_init(&arena, 0);
	bool ok = sql_roles_of(c, t, who->name, how, &all, &arena, err);
	*yes = ok && known(&all, role);
	nam_arena_fini(&arena);
	return ok;
}

bool
sql_acts_as(
    struct cat *c, struct txn *t, const struct sql_who *who, const char *role, bool *yes, struct cat_err *err)
{
	return is_among(c, t, who, role, SQL_INHERITS, yes, err);
}

bool
sql_is_member(
    struct cat *c, struct txn *t, const struct sql_who *who, const char *role, bool *yes, struct cat_err *err)
{
	return is_among(c, t, who, role, SQL_MEMBER, yes, err);
}

bool
sql_may_make(struct cat *c, struct txn *t, const struct sql_who *who, bool *yes, struct cat_err *err)
{
	*yes = who->super;
	if (*yes)
		return true;
	struct nam_arena arena;
	struct sql_roles all;
	struct cat_role role;
	nam_arena_init(&arena, 0);
	bool ok = sql_roles_of(c, t, who->name, SQL_INHERITS, &all, &arena, err);
	for (unsigned i = 0; ok && !*yes && i <= all.n; i++) {
		nam_status st = cat_role_find(c, t, i < all.n ? all.name[i] : CAT_EVERY_ROLE, &role, &arena);
		*yes = st == NAM_OK && (role.create || (i == 0 && role.super));
		ok = st == NAM_OK || st == NAM_ABSENT || sql_status(err, st, NULL);
	}
	nam_arena_fini(&arena);
	return ok;
}

bool
sql_role_there(struct cat *c, struct txn *t, const char *name, struct sql_who *out, struct cat_err *err)
{
	struct nam_arena arena;
	bool found;
	nam_arena_init(&arena, 0);
	bool ok = find_role(c, t, name, out, &found, &arena, err);
	nam_arena_fini(&arena);
	return ok && (found || cat_error(err, "42704", "role \"%.63s\" does not exist", name));
}
