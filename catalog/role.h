/*
 * role.h -- roles: the users that may connect, and what proves that they are.
 *
 * Rows of a system table that SQL cannot name: a secret is nobody's to read.
 */
#ifndef NAM_CATALOG_ROLE_H
#define NAM_CATALOG_ROLE_H

#include <catalog/catalog.h>

enum { CAT_SECRET_MAX = 255 };

struct cat_role {
	char name[CAT_NAME_MAX + 1];
	bool super; /* may change roles */
	bool login; /* may connect */
	/* SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey, as PostgreSQL keeps it; "" = it has no
	 * password */
	char secret[CAT_SECRET_MAX + 1];
};

/* As t's snapshot shows it. NAM_ABSENT: there is none. arena: scratch. */
nam_status cat_role_find(
    struct cat *c, struct txn *t, const char *name, struct cat_role *out, struct nam_arena *arena);
/* All of them, in arena memory, in no order. */
nam_status cat_role_list(
    struct cat *c, struct txn *t, struct cat_role **out, unsigned *n, struct nam_arena *arena);
/* A new role. NAM_DUPLICATE: there is one of that name. */
nam_status cat_role_create(
    struct cat *c, struct txn *t, const struct cat_role *role, struct nam_arena *arena);
/* What the role of that name is from now on. NAM_ABSENT; others as txn_lock. */
nam_status cat_role_alter(struct cat *c, struct txn *t, const struct cat_role *role, struct nam_arena *arena);
/* NAM_ABSENT; others as txn_lock. */
nam_status cat_role_drop(struct cat *c, struct txn *t, const char *name, struct nam_arena *arena);

#endif
