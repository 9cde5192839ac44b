/* role.c -- rows of nam_roles. */
#include <catalog/catalog_internal.h>
#include <catalog/role.h>

#include <string.h>

enum { R_NAME, R_FLAGS, R_SECRET, R_ALL };
enum { SUPER = 1, LOGIN = 2 };

static struct cat_str
str(const char *s)
{
	return (struct cat_str){ s, (uint32_t)strlen(s) };
}

/* The row of that name, and the key in arena memory. */
static nam_status
get(struct cat *c, struct txn *t, const char *name, struct txn_get *g, struct nam_arena *arena)
{
	struct cat_table *sys = &c->system[CAT_ROLES]->def;
	const union cat_val key = { .s = str(name) };
	struct cat_str k;
	*g = (struct txn_get){ .table = &sys->store };
	nam_status st = cat_key_encode(sys, &key, &k, &g->hash, arena);
	if (st != NAM_OK)
		return st;
	g->key = k.p;
	g->key_len = k.len;
	st = txn_get(t, g, 1, arena);
	return st == NAM_OK ? g->status : st;
}

nam_status
cat_role_find(struct cat *c, struct txn *t, const char *name, struct cat_role *out, struct nam_arena *arena)
{
	static const uint16_t want[R_ALL] = { R_NAME, R_FLAGS, R_SECRET };
	struct cat_vec col[R_ALL];
	struct txn_get g;
	nam_status st = get(c, t, name, &g, arena);
	if (st == NAM_OK)
		st = cat_rows_decode(&c->system[CAT_ROLES]->def, t, &g.row, 1, want, R_ALL, col, arena);
	if (st != NAM_OK)
		return st;
	struct cat_str secret = col[R_SECRET].s[0];
	if (secret.len > CAT_SECRET_MAX || strlen(name) > CAT_NAME_MAX)
		return NAM_CORRUPT;
	*out = (struct cat_role){ .super = (col[R_FLAGS].i[0] & SUPER) != 0,
		.login = (col[R_FLAGS].i[0] & LOGIN) != 0 };
	memcpy(out->name, name, strlen(name));
	memcpy(out->secret, secret.p, secret.len);
	return NAM_OK;
}

static nam_status
encode(
    struct cat *c, struct txn *t, const struct cat_role *role, struct cat_str *row, struct nam_arena *arena)
{
	static const bool null[R_ALL];
	const union cat_val v[R_ALL] = {
		[R_NAME].s = str(role->name),
		[R_FLAGS].i = (role->super ? SUPER : 0) | (role->login ? LOGIN : 0),
		[R_SECRET].s = str(role->secret),
	};
	return cat_row_encode(&c->system[CAT_ROLES]->def, t, v, null, row, arena);
}

nam_status
cat_role_create(struct cat *c, struct txn *t, const struct cat_role *role, struct nam_arena *arena)
{
	struct txn_get g;
	struct cat_str row;
	nam_status st = get(c, t, role->name, &g, arena);
	if (st != NAM_ABSENT)
		return st == NAM_OK ? NAM_DUPLICATE : st;
	if ((st = encode(c, t, role, &row, arena)) != NAM_OK)
		return st;
	struct txn_put p = { .table = g.table,
		.key = g.key,
		.key_len = g.key_len,
		.hash = g.hash,
		.bytes = row.p,
		.len = row.len };
	return txn_insert(t, &p, 1);
}

nam_status
cat_role_alter(struct cat *c, struct txn *t, const struct cat_role *role, struct nam_arena *arena)
{
	struct txn_get g;
	struct cat_str row;
	nam_status st = get(c, t, role->name, &g, arena);
	if (st == NAM_OK)
		st = txn_lock(t, g.table, &g.row);
	if (st == NAM_OK)
		st = encode(c, t, role, &row, arena);
	return st == NAM_OK ? txn_update(t, g.table, &g.row, row.p, row.len) : st;
}

nam_status
cat_role_drop(struct cat *c, struct txn *t, const char *name, struct nam_arena *arena)
{
	struct txn_get g;
	nam_status st = get(c, t, name, &g, arena);
	if (st == NAM_OK)
		st = txn_lock(t, g.table, &g.row);
	return st == NAM_OK ? txn_delete(t, g.table, &g.row) : st;
}
