/* acl.c -- access control lists as PostgreSQL's catalogs show them: grantee=letters/grantor. */
#include <catalog/acl.h>
#include <catalog/role.h>
#include <sql/common/error.h>
#include <sql/system/rows.h>
#include <types/array.h>

enum { ITEM_MAX = 4 * CAT_NAME_MAX + 64 };

/* A role's name as an aclitem has it: in quotes unless it is letters, digits and _. */
static char *
put_name(char *to, const char *name)
{
	bool plain = true;
	for (const char *p = name; *p != 0; p++)
		plain &= (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
			 *p == '_' || (unsigned char)*p >= 0x80;
	if (!plain)
		*to++ = '"';
	for (const char *p = name; *p != 0; p++) {
		if (*p == '"')
			*to++ = '"';
		*to++ = *p;
	}
	if (!plain)
		*to++ = '"';
	return to;
}

/* A list that is being made. */
struct items {
	struct sql_rows *r;
	union cat_val *v;
	unsigned n;
};

static bool
open_items(struct items *x, struct sql_rows *r, unsigned most)
{
	*x = (struct items){ .r = r, .v = nam_arena_take(r->in->a, (most + 1u) * sizeof *x->v) };
	if (x->v == NULL)
		r->failed = !cat_error(r->in->err, "53200", "out of memory");
	return x->v != NULL;
}

/* Bit k of rights is letters[k]; a * stands behind what may be granted. */
static void
item(struct items *x, const char *to, const char *by, const char *letters, unsigned rights, unsigned options)
{
	char *text = nam_arena_take(x->r->in->a, ITEM_MAX), *at;
	if (text == NULL) {
		x->r->failed = !cat_error(x->r->in->err, "53200", "out of memory");
		return;
	}
	at = put_name(text, to);
	*at++ = '=';
	for (unsigned k = 0; letters[k] != 0; k++) {
		if ((rights & 1u << k) != 0)
			*at++ = letters[k];
		if ((rights & options & 1u << k) != 0)
			*at++ = '*';
	}
	*at++ = '/';
	at = put_name(at, by);
	x->v[x->n++].s = (struct cat_str){ text, (uint32_t)(at - text) };
}

static void
close_items(struct items *x)
{
	struct cat_datum d = { .null = false };
	if (!x->r->failed &&
	    cat_array_make(CAT_TEXT, 1, x->v, NULL, x->n, &d.v.s, x->r->in->a, x->r->in->err))
		row_put(x->r, d);
	else
		x->r->failed = true;
}

void
sql_row_acl(struct sql_rows *r, const struct cat_table *t)
{
	struct items x;
	if (!t->granted) {
		row_null(r, 1);
		return;
	}
	if (!open_items(&x, r, t->grants))
		return;
	for (unsigned i = 0; i < t->grants; i++)
		item(
		    &x, t->grant[i].to, t->grant[i].by, "arwdDxtUC", t->grant[i].rights, t->grant[i].options);
	close_items(&x);
}

void
sql_row_schema_acl(struct sql_rows *r, bool makes)
{
	enum { USAGE = 1, CREATE = 2 };
	static const char letters[] = "UC";
	struct cat_role *role, every = { .create = false };
	struct items x;
	unsigned n;
	nam_status st = cat_role_list(r->in->cat, r->in->t, &role, &n, r->in->a);
	if (st == NAM_OK)
		st = cat_role_find(r->in->cat, r->in->t, CAT_EVERY_ROLE, &every, r->in->a);
	if (st != NAM_OK && st != NAM_ABSENT) {
		r->failed = !sql_status(r->in->err, st, NULL);
		return;
	}
	if (!open_items(&x, r, n + 2))
		return;
	item(&x, CAT_FIRST_ROLE, CAT_FIRST_ROLE, letters, USAGE | CREATE, 0);
	item(&x, CAT_PUBLIC, CAT_FIRST_ROLE, letters, USAGE | (makes && every.create ? CREATE : 0), 0);
	for (unsigned k = 0; makes && k < n; k++)
		if (role[k].create)
			item(&x, role[k].name, CAT_FIRST_ROLE, letters, CREATE, 0);
	close_items(&x);
}

/* ---- the information schema --------------------------------------------------------------- */

/* A row for each right of one grantee. */
static void
privileges(struct sql_rows *r, const struct cat_table *t, const char *to, const char *by, unsigned rights,
    unsigned options)
{
	static const char *const names[] = { "INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES",
		"TRIGGER" };
	bool owner = strcmp(to, cat_owner(t)) == 0;
	char schema[CAT_NAME_MAX + 1];
	cat_schema_of(t->path, schema);
	for (unsigned k = 0; k < sizeof names / sizeof *names; k++) {
		if ((rights & 1u << k) == 0)
			continue;
		row_copy(r, by);
		row_copy(r, to[0] != 0 ? to : "PUBLIC");
		row_text(r, SQL_DATABASE);
		row_copy(r, schema);
		row_copy(r, cat_local(t->path));
		row_text(r, names[k]);
		row_text(r, owner || (options & 1u << k) != 0 ? "YES" : "NO");
		row_text(r, (1u << k) == CAT_MAY_SELECT ? "YES" : "NO");
	}
}

bool
sql_privilege_rows(struct sql_rows *r)
{
	for (unsigned i = 0; i < r->in->tabs; i++) {
		const struct cat_table *t = r->in->tab[i];
		if (t->system || (t->kind != CAT_TABLE && t->kind != CAT_VIEW))
			continue;
		if (!t->granted)
			privileges(r, t, cat_owner(t), cat_owner(t), cat_acl_all(t->kind), 0);
		for (unsigned k = 0; k < t->grants; k++)
			privileges(
			    r, t, t->grant[k].to, t->grant[k].by, t->grant[k].rights, t->grant[k].options);
	}
	return true;
}
