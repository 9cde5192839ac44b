/* domain.c -- domains in pg_type and pg_constraint. */
#include <catalog/acl.h>
#include <sql/common/error.h>
#include <sql/common/user_type.h>
#include <sql/system/rows.h>

enum { DEFAULT_COLLATION = 100, C_COLLATION = 950 };

bool
sql_system_types(const struct sql_system *s, const struct cat_table ***list, unsigned *n)
{
	nam_status st = cat_list_types(s->cat, s->t, list, n, s->a);
	return st == NAM_OK || sql_status(s->err, st, NULL);
}

uint32_t
sql_oid_of_type(const struct cat_column *c)
{
	return c->domain != 0 ? SQL_OID_FIRST + c->domain : cat_type_oid(c->type, c->typmod);
}

static void
domain(struct sql_rows *r, const struct cat_table *dom)
{
	const struct cat_column *base = &dom->column[0];
	enum cat_type t = base->type, each = cat_type_element(t);
	int16_t size = cat_type_is_array(t) ? -1 : cat_type_size(t);
	bool text = each == CAT_TEXT || each == CAT_BPCHAR;
	row_int(r, sql_oid_of(&dom->store));
	row_copy(r, cat_local(dom->path));
	row_int(r, SQL_OID_PUBLIC);
	row_int(r, sql_oid_of_role(cat_owner(dom)));
	row_int(r, size);
	row_int(r, size > 0 && size <= 8);
	row_char(r, 'd');
	row_char(r, cat_type_category(t));
	row_int(r, false);
	row_int(r, true);
	row_text(r, ",");
	row_int(r, 0);
	row_no_regs(r, 1);
	row_int(r, 0);
	row_int(r, 0);
	row_no_regs(r, 7);
	row_char(r, size == 1 || t == CAT_UUID || t == CAT_NAME ? 'c'
		    : size == 2                                 ? 's'
		    : size == 8 || t == CAT_INTERVAL            ? 'd'
								: 'i');
	row_char(r, t == CAT_NUMERIC ? 'm' : size < 0 ? 'x' : 'p');
	row_int(r, base->not_null);
	row_int(r, sql_oid_of_type(base));
	row_int(r, base->domain != 0 ? -1 : cat_typmod_out(t, base->typmod));
	row_int(r, 0);
	row_int(r, text ? DEFAULT_COLLATION : each == CAT_NAME ? C_COLLATION : 0);
	row_copy(r, base->dflt);
	row_copy(r, base->dflt);
	row_null(r, 1);
}

bool
sql_domain_rows(struct sql_rows *r)
{
	const struct cat_table **list;
	unsigned n;
	if (!sql_system_types(r->in, &list, &n))
		return false;
	for (unsigned i = 0; i < n; i++)
		if (list[i]->kind == CAT_DOMAIN)
			domain(r, list[i]);
	return true;
}

const char *
sql_system_domain(const struct sql_system *s, uint32_t oid)
{
	const struct cat_table *dom = NULL;
	if (oid <= SQL_OID_FIRST || cat_type_of_id(s->cat, s->t, oid - SQL_OID_FIRST, &dom) != NAM_OK ||
	    dom == NULL || dom->kind != CAT_DOMAIN)
		return NULL;
	return sql_type_said(cat_local(dom->path), s->a);
}
