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

static const uint16_t want[R_ALL] = { R_NAME, R_FLAGS, R_SECRET };

/* Row k of the columns wanted. */
static nam_status
role_of(const struct cat_vec col[R_ALL], unsigned k, struct cat_role *out)
{
	struct cat_str name = col[R_NAME].s[k], secret = col[R_SECRET].s[k];
	if (secret.len > CAT_SECRET_MAX || name.len > CAT_NAME_MAX)
		return NAM_CORRUPT;
	*out = (struct cat_role){ .super = (col[R_FLAGS].i[k] & SUPER) != 0,
		.login = (col[R_FLAGS].i[k] & LOGIN) != 0 };
	memcpy(out->name, name.p, name.len);
	memcpy(out->secret, secret.p, secret.len);
	return NAM_OK;
}

/* n rows more behind *got roles. */
static nam_status
add_roles(struct cat *c, struct txn *t, const struct txn_row *rows, unsigned n, struct cat_role **list,
    unsigned *got, struct nam_arena *arena)
{
	struct cat_vec col[R_ALL];
	struct cat_role *more = nam_arena_take(arena, (*got + n) * sizeof *more);
	if (more == NULL)
		return NAM_NOMEM;
	if (*got > 0)
		memcpy(more, *list, *got * sizeof *more);
	nam_status st = cat_rows_decode(&c->system[CAT_ROLES]->def, t, rows, n, want, R_ALL, col, arena);
	for (unsigned k = 0; k < n && st == NAM_OK; k++)
		st = role_of(col, k, &more[(*got)++]);
	*list = more;
	return st;
}

nam_status
cat_role_list(struct cat *c, struct txn *t, struct cat_role **out, unsigned *n, struct nam_arena *arena)
{
	enum { AT_ONCE = 64 };
	struct txn_scan *scan;
	struct txn_row rows[AT_ONCE];
	unsigned got = 0, now;
	struct cat_role *list = NULL;
	nam_status st = txn_scan_open(t, &c->system[CAT_ROLES]->def.store, &scan);
	if (st != NAM_OK)
		return st;
	while ((st = txn_scan_next(scan, rows, AT_ONCE, &now)) == NAM_OK && now > 0)
		if ((st = add_roles(c, t, rows, now, &list, &got, arena)) != NAM_OK)
			break;
	txn_scan_close(scan);
	*out = list;
	*n = got;
	return st;
}

nam_status
cat_role_find(struct cat *c, struct txn *t, const char *name, struct cat_role *out, struct nam_arena *arena)
{
	struct cat_vec col[R_ALL];
	struct txn_get g;
	nam_status st = get(c, t, name, &g, arena);
	if (st == NAM_OK)
		st = cat_rows_decode(&c->system[CAT_ROLES]->def, t, &g.row, 1, want, R_ALL, col, arena);
	return st == NAM_OK ? role_of(col, 0, out) : st;
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
