/* rights.h -- what a role may do with a relation, memberships and superusers included. Inside of
 * sql. */
#ifndef NAM_SQL_RIGHTS_H
#define NAM_SQL_RIGHTS_H

#include <catalog/acl.h>
#include <catalog/role.h>

/* The role that a statement runs as. */
struct sql_who {
	char name[CAT_NAME_MAX + 1];
	bool super; /* it may do everything, and is not asked about again */
};

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
/* True if it may act as that role: it is that role, a member of it, or a superuser. */
bool sql_is_member(struct cat *c, struct txn *t, const struct sql_who *who, const char *role, bool *yes,
    struct cat_err *err);
/* May it make relations in schema public? */
bool sql_may_make(struct cat *c, struct txn *t, const struct sql_who *who, bool *yes, struct cat_err *err);
/* The role of that name: *super says whether it is a superuser. False: 42704. */
bool sql_role_there(struct cat *c, struct txn *t, const char *name, bool *super, struct cat_err *err);

/* Is it a superuser? A role that is gone is none. False: *err. */
bool sql_role_super(struct cat *c, struct txn *t, const char *name, bool *super, struct cat_err *err);

/* "table", "view", "sequence" or "index". */
const char *sql_kind_name(const struct cat_table *tab);
/* Its name without a schema. buf: of a schema. */
const char *sql_local_name(const struct cat_table *tab, char buf[CAT_NAME_MAX + 1]);
/* As messages name it beside others: with its schema, outside of public. */
const char *sql_object_name(const struct cat_table *tab, char buf[CAT_NAME_MAX + 1]);
/* 42501, always false. */
bool sql_denied(const struct cat_table *tab, struct cat_err *err);

/* Roles whose rights a role has, itself first, in arena memory. False: *err. */
struct sql_roles {
	const char **name;
	unsigned n;
};
bool sql_roles_of(struct cat *c, struct txn *t, const char *role, struct sql_roles *out,
    struct nam_arena *arena, struct cat_err *err);

#endif
