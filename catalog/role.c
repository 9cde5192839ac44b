/* role.c -- rows of nam_roles and nam_members. */
#include <base/rng.h>
#include <catalog/catalog_internal.h>
#include <catalog/role.h>

#include <string.h>

enum { R_NAME, R_FLAGS, R_SECRET, R_ALL };
/* Of flags, whose other bits are the id. */
enum { SUPER = 1, LOGIN = 2, CREATE = 4, NOINHERIT = 8, ID_SHIFT = 8 };
#define ID_BITS (UINT64_MAX >> (ID_SHIFT + 1))
enum { M_ROLE, M_MEMBER, M_ADMIN, M_ALL };

static struct cat_str
str(const char *s)
{
	return (struct cat_str){ s, (uint32_t)strlen(s) };
}

/* A row of a system table by its key, which is left in arena memory. */
static nam_status
get_row(struct cat_table *sys, struct txn *t, const union cat_val *key, struct txn_get *g,
    struct nam_arena *arena)
{
	struct cat_str k;
	*g = (struct txn_get){ .table = &sys->store };
	nam_status st = cat_key_encode(sys, key, &k, &g->hash, arena);
	if (st != NAM_OK)
		return st;
	g->key = k.p;
	g->key_len = k.len;
	st = txn_get(t, g, 1, arena);
	return st == NAM_OK ? g->status : st;
}

static nam_status
get(struct cat *c, struct txn *t, const char *name, struct txn_get *g, struct nam_arena *arena)
{
	const union cat_val key = { .s = str(name) };
	return get_row(&c->system[CAT_ROLES]->def, t, &key, g, arena);
}

/* A new row where get_row has found none. */
static nam_status
insert(struct cat_table *sys, struct txn *t, const struct txn_get *g, const union cat_val *v,
    struct nam_arena *arena)
{
	static const bool null[R_ALL];
	struct cat_str row;
	nam_status st = cat_row_encode(sys, t, v, null, &row, arena);
	if (st != NAM_OK)
		return st;
	struct txn_put p = { .table = &sys->store,
		.key = g->key,
		.key_len = g->key_len,
		.hash = g->hash,
		.bytes = row.p,
		.len = row.len };
	txn_set_note(t, TSO_NOTE_CATALOG);
	return txn_insert(t, &p, 1);
}

/* Other values for the row that get_row has found; v NULL = it goes. */
static nam_status
change(
    struct cat_table *sys, struct txn *t, struct txn_get *g, const union cat_val *v, struct nam_arena *arena)
{
	static const bool null[R_ALL];
	struct cat_str row;
	txn_set_note(t, TSO_NOTE_CATALOG);
	nam_status st = txn_lock(t, &sys->store, &g->row);
	if (st != NAM_OK || v == NULL)
		return st == NAM_OK ? txn_delete(t, &sys->store, &g->row) : st;
	st = cat_row_encode(sys, t, v, null, &row, arena);
	return st == NAM_OK ? txn_update(t, &sys->store, &g->row, row.p, row.len) : st;
}

/* Calls fn for n rows more of a system table, all columns decoded. */
static nam_status
each(struct cat_table *sys, struct txn *t, nam_status (*fn)(void *arg, const struct cat_vec *col, unsigned n),
    void *arg, struct nam_arena *arena)
{
	enum { AT_ONCE = 64 };
	static const uint16_t all[R_ALL] = { 0, 1, 2 };
	struct txn_scan *scan;
	struct txn_row rows[AT_ONCE];
	struct cat_vec col[R_ALL];
	unsigned n;
	nam_status st = txn_scan_open(t, &sys->store, &scan);
	if (st != NAM_OK)
		return st;
	while ((st = txn_scan_next(scan, rows, AT_ONCE, &n)) == NAM_OK && n > 0)
		if ((st = cat_rows_decode(sys, t, rows, n, all, R_ALL, col, arena)) != NAM_OK ||
		    (st = fn(arg, col, n)) != NAM_OK)
			break;
	txn_scan_close(scan);
	return st;
}

static const uint16_t want[R_ALL] = { R_NAME, R_FLAGS, R_SECRET };

/* Row k of the columns wanted. */
static nam_status
role_of(const struct cat_vec col[R_ALL], unsigned k, struct cat_role *out)
{
	struct cat_str name = col[R_NAME].s[k], secret = col[R_SECRET].s[k];
	if (secret.len > CAT_SECRET_MAX || name.len > CAT_NAME_MAX)
		return NAM_CORRUPT;
	uint64_t flags = (uint64_t)col[R_FLAGS].i[k];
	*out = (struct cat_role){ .id = flags >> ID_SHIFT,
		.super = (flags & SUPER) != 0,
		.login = (flags & LOGIN) != 0,
		.create = (flags & CREATE) != 0,
		.noinherit = (flags & NOINHERIT) != 0 };
	memcpy(out->name, name.p, name.len);
	memcpy(out->secret, secret.p, secret.len);
	return NAM_OK;
}

struct listing {
	struct nam_arena *arena;
	struct cat_role *role;
	struct cat_member *member;
	unsigned n;
};

static nam_status
add_roles(void *arg, const struct cat_vec *col, unsigned n)
{
	struct listing *l = arg;
	struct cat_role *more = nam_arena_take(l->arena, (l->n + n) * sizeof *more);
	nam_status st = NAM_OK;
	if (more == NULL)
		return NAM_NOMEM;
	if (l->n > 0)
		memcpy(more, l->role, l->n * sizeof *more);
	l->role = more;
	for (unsigned k = 0; k < n && st == NAM_OK; k++) {
		st = role_of(col, k, &more[l->n]);
		l->n += st == NAM_OK && strcmp(more[l->n].name, CAT_EVERY_ROLE) != 0;
	}
	return st;
}

nam_status
cat_role_list(struct cat *c, struct txn *t, struct cat_role **out, unsigned *n, struct nam_arena *arena)
{
	struct listing l = { .arena = arena };
	nam_status st = each(&c->system[CAT_ROLES]->def, t, add_roles, &l, arena);
	*out = l.role;
	*n = l.n;
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

static void
values_of(const struct cat_role *role, union cat_val v[R_ALL])
{
	v[R_NAME].s = str(role->name);
	v[R_FLAGS].i =
	    (int64_t)(role->id << ID_SHIFT | (role->super ? SUPER : 0) | (role->login ? LOGIN : 0) |
		      (role->create ? CREATE : 0) | (role->noinherit ? NOINHERIT : 0));
	v[R_SECRET].s = str(role->secret);
}

nam_status
cat_role_create(struct cat *c, struct txn *t, const struct cat_role *role, struct nam_arena *arena)
{
	struct txn_get g;
	union cat_val v[R_ALL];
	struct cat_role made = *role;
	nam_status st = get(c, t, role->name, &g, arena);
	if (st != NAM_ABSENT)
		return st == NAM_OK ? NAM_DUPLICATE : st;
	made.id = 0;
	while (made.id == 0 && strcmp(role->name, CAT_FIRST_ROLE) != 0 &&
	       strcmp(role->name, CAT_EVERY_ROLE) != 0) {
		nam_random_bytes(&made.id, sizeof made.id);
		made.id &= ID_BITS;
	}
	values_of(&made, v);
	return insert(&c->system[CAT_ROLES]->def, t, &g, v, arena);
}

/* Its row says that the cluster has had a role. */
static const struct cat_role first_role = { .name = CAT_FIRST_ROLE, .super = true, .login = true };

/* Makes sure of the first role's row. */
static nam_status
write_first(struct cat *c, struct txn *t, struct nam_arena *arena)
{
	nam_status st = cat_role_create(c, t, &first_role, arena);
	return st == NAM_DUPLICATE ? NAM_OK : st;
}

bool
cat_role_name_good(const char *name)
{
	return name[0] != 0 && strlen(name) <= CAT_NAME_MAX && strncmp(name, "pg_", 3) != 0 &&
	       strcmp(name, CAT_EVERY_ROLE) != 0 && strcmp(name, "none") != 0;
}

nam_status
cat_role_enter(struct cat *c, struct txn *t, const char *name, bool claims, struct cat_role *out,
    bool *claimed, struct nam_arena *arena)
{
	struct cat_role *all, own = { .super = true, .login = true };
	unsigned n;
	*claimed = false;
	if (!cat_role_name_good(name))
		return NAM_ABSENT;
	memcpy(own.name, name, strlen(name) + 1);
	nam_status st = cat_role_find(c, t, name, out, arena);
	if (st != NAM_ABSENT)
		return st;
	if (strcmp(name, CAT_FIRST_ROLE) == 0) {
		*out = own;
		return NAM_OK;
	}
	if (!claims)
		return NAM_ABSENT;
	st = cat_role_list(c, t, &all, &n, arena);
	if (st != NAM_OK || n > 0)
		return st == NAM_OK ? NAM_ABSENT : st;
	/* Two clients that claim at once both insert this row, so one of them fails. A row that t's
	 * snapshot does not show is a failure too (NAM_DUPLICATE): the other one came first. */
	st = cat_role_create(c, t, &first_role, arena);
	if (st == NAM_OK)
		st = cat_role_create(c, t, &own, arena);
	if (st == NAM_OK)
		st = cat_role_find(c, t, name, out, arena);
	*claimed = st == NAM_OK;
	return st;
}

nam_status
cat_role_alter(struct cat *c, struct txn *t, const struct cat_role *role, struct nam_arena *arena)
{
	struct txn_get g;
	union cat_val v[R_ALL];
	nam_status st = get(c, t, role->name, &g, arena);
	values_of(role, v);
	return st == NAM_OK ? change(&c->system[CAT_ROLES]->def, t, &g, v, arena) : st;
}

nam_status
cat_role_hold(struct cat *c, struct txn *t, const char *name, struct nam_arena *arena)
{
	struct txn_get g;
	nam_status st = get(c, t, name, &g, arena);
	if (st == NAM_OK)
		st = txn_lock(t, g.table, &g.row);
	if (st != NAM_OK)
		return st;
	txn_cover(t, g.row.cid);
	/* Encoded again: a long secret lies in a blob, which its version takes away with it. */
	struct cat_table *sys = &c->system[CAT_ROLES]->def;
	static const bool null[R_ALL];
	struct cat_vec col[R_ALL];
	struct cat_role role;
	union cat_val v[R_ALL];
	struct cat_str row;
	st = cat_rows_decode(sys, t, &g.row, 1, want, R_ALL, col, arena);
	if (st == NAM_OK)
		st = role_of(col, 0, &role);
	if (st != NAM_OK)
		return st;
	values_of(&role, v);
	st = cat_row_encode(sys, t, v, null, &row, arena);
	return st == NAM_OK ? txn_update(t, g.table, &g.row, row.p, row.len) : st;
}

nam_status
cat_role_drop(struct cat *c, struct txn *t, const char *name, struct nam_arena *arena)
{
	struct txn_get g;
	struct cat_member *m;
	unsigned n;
	nam_status st = get(c, t, name, &g, arena);
	if (st == NAM_OK)
		st = change(&c->system[CAT_ROLES]->def, t, &g, NULL, arena);
	if (st == NAM_OK)
		st = write_first(c, t, arena);
	if (st == NAM_OK)
		st = cat_member_list(c, t, &m, &n, arena);
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		if (strcmp(m[i].role, name) == 0 || strcmp(m[i].member, name) == 0)
			st = cat_member_drop(c, t, m[i].role, m[i].member, arena);
	return st;
}

/* ---- members ---------------------------------------------------------------------------- */

static nam_status
get_member(struct cat *c, struct txn *t, const char *role, const char *member, struct txn_get *g,
    struct nam_arena *arena)
{
	const union cat_val key[] = { { .s = str(role) }, { .s = str(member) } };
	return get_row(&c->system[CAT_MEMBERS]->def, t, key, g, arena);
}

static nam_status
add_members(void *arg, const struct cat_vec *col, unsigned n)
{
	struct listing *l = arg;
	struct cat_member *more = nam_arena_zero(l->arena, (l->n + n) * sizeof *more);
	if (more == NULL)
		return NAM_NOMEM;
	if (l->n > 0)
		memcpy(more, l->member, l->n * sizeof *more);
	l->member = more;
	for (unsigned k = 0; k < n; k++) {
		struct cat_str role = col[M_ROLE].s[k], member = col[M_MEMBER].s[k];
		struct cat_member *m = &more[l->n++];
		if (role.len > CAT_NAME_MAX || member.len > CAT_NAME_MAX)
			return NAM_CORRUPT;
		memcpy(m->role, role.p, role.len);
		memcpy(m->member, member.p, member.len);
		m->admin = col[M_ADMIN].i[k] != 0;
	}
	return NAM_OK;
}

nam_status
cat_member_list(struct cat *c, struct txn *t, struct cat_member **out, unsigned *n, struct nam_arena *arena)
{
	struct listing l = { .arena = arena };
	nam_status st = each(&c->system[CAT_MEMBERS]->def, t, add_members, &l, arena);
	*out = l.member;
	*n = l.n;
	return st;
}

nam_status
cat_member_put(struct cat *c, struct txn *t, const struct cat_member *m, struct nam_arena *arena)
{
	struct cat_table *sys = &c->system[CAT_MEMBERS]->def;
	struct txn_get g;
	const union cat_val v[M_ALL] = {
		[M_ROLE].s = str(m->role), [M_MEMBER].s = str(m->member), [M_ADMIN].i = m->admin
	};
	nam_status st = get_member(c, t, m->role, m->member, &g, arena);
	if (st != NAM_OK)
		return st == NAM_ABSENT ? insert(sys, t, &g, v, arena) : st;
	return change(sys, t, &g, v, arena);
}

nam_status
cat_member_drop(struct cat *c, struct txn *t, const char *role, const char *member, struct nam_arena *arena)
{
	struct txn_get g;
	nam_status st = get_member(c, t, role, member, &g, arena);
	return st == NAM_OK ? change(&c->system[CAT_MEMBERS]->def, t, &g, NULL, arena) : st;
}
