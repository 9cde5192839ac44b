/* rights.h -- what a role may do with a relation, memberships and superusers included. Inside of
 * sql. */
#ifndef NAM_SQL_RIGHTS_H
#define NAM_SQL_RIGHTS_H

#include <catalog/acl.h>
#include <catalog/role.h>

/* The role that a statement runs as. */
struct sql_who {
	char name[CAT_NAME_MAX + 1];
	uint64_t id; /* cat_role.id */
	bool super;  /* it may do everything, and is not asked about again */
};

/* What a session calls its role when that role has been dropped: the name of no role, of which a
 * session has the rights of PUBLIC alone, also if a role of the earlier name is made again. */
#define SQL_ROLE_GONE "pg_dropped_role"

static inline bool
sql_who_same(const struct sql_who *x, const struct sql_who *y)
{
	return x->super == y->super && strcmp(x->name, y->name) == 0;
}

/*
 * The rights that the role has on a relation, as t's snapshot shows its memberships. The search
 * ends when all of `want` are found: *have has at least those of them that it has. Reads the roles
 * only if the list of the relation does not name the role itself. False: *err.
 */
bool sql_rights(struct cat *c, struct txn *t, const struct sql_who *who, const struct cat_table *tab,
    uint16_t want, uint16_t *have, struct cat_err *err);
/* True if it has the rights of that role: it is that role, a superuser, or a member of it by roles
 * that inherit. */
bool sql_acts_as(struct cat *c, struct txn *t, const struct sql_who *who, const char *role, bool *yes,
    struct cat_err *err);
/* True if it may become that role: it is that role, a member of it, or a superuser. */
bool sql_is_member(struct cat *c, struct txn *t, const struct sql_who *who, const char *role, bool *yes,
    struct cat_err *err);
/* May it make relations in schema public? */
bool sql_may_make(struct cat *c, struct txn *t, const struct sql_who *who, bool *yes, struct cat_err *err);
/* The role of that name. False: 42704. */
bool sql_role_there(struct cat *c, struct txn *t, const char *name, struct sql_who *out, struct cat_err *err);
/* What has become of the role: of one that is gone the name is SQL_ROLE_GONE. False: *err. */
bool sql_role_renew(struct cat *c, struct txn *t, struct sql_who *who, struct cat_err *err);

/* "table", "view", "sequence" or "index". */
const char *sql_kind_name(const struct cat_table *tab);
/* Its name without a schema. buf: of a schema. */
const char *sql_local_name(const struct cat_table *tab, char buf[CAT_NAME_MAX + 1]);
/* As messages name it beside others: with its schema, outside of public. */
const char *sql_object_name(const struct cat_table *tab, char buf[CAT_NAME_MAX + 1]);
/* 42501, always false. */
bool sql_denied(const struct cat_table *tab, struct cat_err *err);

/* Roles that a role is a member of, or those of them whose rights it has without SET ROLE, itself
 * first, in arena memory. False: *err. */
enum sql_membership { SQL_MEMBER, SQL_INHERITS };
struct sql_roles {
	const char **name;
	unsigned n;
};
bool sql_roles_of(struct cat *c, struct txn *t, const char *role, enum sql_membership how,
    struct sql_roles *out, struct nam_arena *arena, struct cat_err *err);

#endif
