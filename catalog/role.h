/*
 * role.h -- roles: the users that may connect, and what proves that they are.
 *
 * Rows of a system table that SQL cannot name: a secret is nobody's to read.
 */
#ifndef NAM_CATALOG_ROLE_H
#define NAM_CATALOG_ROLE_H

#include <catalog/catalog.h>

enum { CAT_SECRET_MAX = 255 };

/* The role of a new cluster. It is a superuser for ever, and needs no row. */
#define CAT_FIRST_ROLE "namdb"
/* A row of that name is no role: its `create` is every role's. */
#define CAT_EVERY_ROLE "public"

struct cat_role {
	char name[CAT_NAME_MAX + 1];
	/* 0 = the first role. A role that is dropped and made again gets another one. */
	uint64_t id;
	bool super;  /* may change roles */
	bool login;  /* may connect */
	bool create; /* may make relations in schema public */
	/* Has the rights of the roles it is a member of only after SET ROLE. */
	bool noinherit;
	/* SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey, as PostgreSQL keeps it; "" = it has no
	 * password */
	char secret[CAT_SECRET_MAX + 1];
};

/* As t's snapshot shows it. NAM_ABSENT: there is none. arena: scratch. */
nam_status cat_role_find(
    struct cat *c, struct txn *t, const char *name, struct cat_role *out, struct nam_arena *arena);
/* Makes the role stay until t ends, and t's next snapshot cover the commits that have held it. It
 * writes the row: a lock alone leaves nothing that a later holder's snapshot would have to
 * cover. NAM_ABSENT; others as txn_lock. */
nam_status cat_role_hold(struct cat *c, struct txn *t, const char *name, struct nam_arena *arena);
/* All of them, in arena memory, in no order. */
nam_status cat_role_list(
    struct cat *c, struct txn *t, struct cat_role **out, unsigned *n, struct nam_arena *arena);
/*
 * The role as which a client of that name comes in: the role of that name, or the first role.
 * claims: if no role has ever been made in this cluster, the client is its first user; a role of
 * that name is made, a superuser, and *claimed says that t is to be committed. NAM_ABSENT: none.
 * NAM_DUPLICATE: another client has claimed meanwhile; begin again. Others as txn_lock.
 */
nam_status cat_role_enter(struct cat *c, struct txn *t, const char *name, bool claims, struct cat_role *out,
    bool *claimed, struct nam_arena *arena);
/* A new role, with an id of its own. NAM_DUPLICATE: there is one of that name. */
nam_status cat_role_create(
    struct cat *c, struct txn *t, const struct cat_role *role, struct nam_arena *arena);
/* True if a role may have that name. */
bool cat_role_name_good(const char *name);
/* What the role of that name is from now on. NAM_ABSENT; others as txn_lock. */
nam_status cat_role_alter(struct cat *c, struct txn *t, const struct cat_role *role, struct nam_arena *arena);
/* With its memberships. From then on the cluster has had a role, also if it was the last one.
 * NAM_ABSENT; others as txn_lock. */
nam_status cat_role_drop(struct cat *c, struct txn *t, const char *name, struct nam_arena *arena);

/* A role is a member of another one: it may do what that one may. */
struct cat_member {
	char role[CAT_NAME_MAX + 1], member[CAT_NAME_MAX + 1];
	bool admin; /* the member may make members */
};
/* All of them, in arena memory, in no order. */
nam_status cat_member_list(
    struct cat *c, struct txn *t, struct cat_member **out, unsigned *n, struct nam_arena *arena);
/* Makes it so, or changes admin. Others as txn_lock. */
nam_status cat_member_put(struct cat *c, struct txn *t, const struct cat_member *m, struct nam_arena *arena);
/* NAM_ABSENT; others as txn_lock. */
nam_status cat_member_drop(
    struct cat *c, struct txn *t, const char *role, const char *member, struct nam_arena *arena);

#endif
