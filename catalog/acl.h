/*
 * acl.h -- access control lists: what roles may do with a relation, with PostgreSQL's meaning.
 *
 * A list is a table's grant[]. Its items are unique by (to, by). A relation without a list
 * (!granted) is its owner's alone. The owner may grant each right, also one that the list takes
 * from it. Memberships and superusers are not known here.
 */
#ifndef NAM_CATALOG_ACL_H
#define NAM_CATALOG_ACL_H

#include <catalog/catalog.h>

/* struct cat_grant's rights, in the order of PostgreSQL's letters. */
enum {
	CAT_MAY_INSERT = 1 << 0,
	CAT_MAY_SELECT = 1 << 1,
	CAT_MAY_UPDATE = 1 << 2,
	CAT_MAY_DELETE = 1 << 3,
	CAT_MAY_TRUNCATE = 1 << 4,
	CAT_MAY_REFER = 1 << 5,   /* REFERENCES */
	CAT_MAY_TRIGGER = 1 << 6, /* there are no triggers: it is kept and shown */
	CAT_MAY_USE = 1 << 7,     /* USAGE of a sequence, of a schema */
	CAT_MAY_CREATE = 1 << 8   /* CREATE in a schema */
};

/* The grantee that stands for every role. */
#define CAT_PUBLIC ""

const char *cat_owner(const struct cat_table *t);
/* All rights there are on a kind of relation. */
uint16_t cat_acl_all(enum cat_kind kind);
/* The rights that role has by its own name (CAT_PUBLIC: that every role has). */
uint16_t cat_acl_rights(const struct cat_table *t, const char *role);
/* Of these, the rights that it may grant. */
uint16_t cat_acl_options(const struct cat_table *t, const char *role);
/* True if the relation's owner or list names the role. */
bool cat_acl_names(const struct cat_table *t, const char *role);

/*
 * Changes of a definition that is being made; lists are copied into arena memory, never written in
 * place. NULL memory: false.
 */
bool cat_acl_grant(struct cat_table *def, const char *to, const char *by, uint16_t rights, uint16_t options,
    struct nam_arena *arena);
/* only_options: the rights stay, only that `to` may grant them goes. If `to` has granted what it
 * may not grant any more: *depends, nothing is changed; with cascade that goes as well. */
bool cat_acl_revoke(struct cat_table *def, const char *to, const char *by, uint16_t rights, bool only_options,
    bool cascade, bool *depends, struct nam_arena *arena);
/* Another owner: what the old one has and has granted becomes the new one's. */
bool cat_acl_give(struct cat_table *def, const char *owner, struct nam_arena *arena);
/* Takes a role out of the list, and what it has granted. */
bool cat_acl_forget(struct cat_table *def, const char *role, struct nam_arena *arena);

/* "n", then for each item: rights, options, to, by; a name as length:name. "" = no list. */
char *cat_acl_text(const struct cat_table *t, struct nam_arena *arena);
/* What cat_acl_text has written. False: something else. */
bool cat_acl_read(struct cat_table *t, const char *text, struct nam_arena *arena);

#endif
