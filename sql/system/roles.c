/* roles.c -- schemas, access methods, databases, roles, languages, tablespaces: of each there are
 * few. */
#include <catalog/acl.h>
#include <catalog/role.h>
#include <sql/common/error.h>
#include <sql/system/rows.h>

enum { HEAP = 2, BTREE = 403, HASH = 405, UTF8 = 6, DEFAULT_TABLESPACE = 1663, GLOBAL_TABLESPACE = 1664 };

static bool
namespace_rows(struct sql_rows *r)
{
	uint32_t oid;
	const char *name;
	const struct cat_table *def;
	for (unsigned k = 0; sql_system_schema(r->in, k, &oid, &name, &def); k++) {
		row_int(r, oid);
		row_text(r, name);
		row_int(r, def ? sql_oid_of_role(cat_owner(def)) : SQL_OID_OWNER);
		if (def != NULL)
			sql_row_acl(r, def);
		else
			sql_row_schema_acl(r, oid == SQL_OID_PUBLIC);
	}
	return true;
}

static bool
am_rows(struct sql_rows *r)
{
	row_int(r, HEAP);
	row_text(r, "heap");
	row_no_regs(r, 1);
	row_char(r, 't');
	row_int(r, BTREE);
	row_text(r, "btree");
	row_no_regs(r, 1);
	row_char(r, 'i');
	row_int(r, HASH);
	row_text(r, "hash");
	row_no_regs(r, 1);
	row_char(r, 'i');
	return true;
}

#define DATABASE                                                                                             \
	"oid oid, datname name, datdba oid, encoding int4, datlocprovider char, datistemplate bool, "        \
	"datallowconn bool, datconnlimit int4, datfrozenxid int8, datminmxid int8, dattablespace "           \
	"oid, datcollate text, datctype text, daticulocale text, datcollversion text, datacl _text"

static bool
database_rows(struct sql_rows *r)
{
	row_int(r, SQL_OID_DATABASE);
	row_text(r, SQL_DATABASE);
	row_int(r, SQL_OID_OWNER);
	row_int(r, UTF8);
	row_char(r, 'c');
	row_int(r, false);
	row_int(r, true);
	row_int(r, -1);
	row_ints(r, 2, 0);
	row_int(r, DEFAULT_TABLESPACE);
	row_text(r, "C.UTF-8");
	row_text(r, "C.UTF-8");
	row_null(r, 3);
	return true;
}

#define AUTHID                                                                                               \
	"oid oid, rolname name, rolsuper bool, rolinherit bool, rolcreaterole bool, rolcreatedb "            \
	"bool, rolcanlogin bool, rolreplication bool, rolbypassrls bool, rolconnlimit int4, "                \
	"rolpassword text, rolvaliduntil timestamptz"

static void
authid(struct sql_rows *r, const struct cat_role *role)
{
	row_int(r, sql_oid_of_role(role->name));
	row_copy(r, role->name);
	row_int(r, role->super);
	row_int(r, !role->noinherit);
	row_ints(r, 2, role->super);
	row_int(r, role->login);
	row_ints(r, 2, role->super);
	row_int(r, -1);
	row_text(r, role->secret[0] ? "********" : NULL);
	row_null(r, 1);
}

/* The first role is there without a row, until it gets a password. */
static bool
authid_rows(struct sql_rows *r)
{
	struct cat_role *role, owner = { .name = SQL_OWNER, .super = true, .login = true };
	unsigned n;
	nam_status st = cat_role_list(r->in->cat, r->in->t, &role, &n, r->in->a);
	if (st != NAM_OK)
		return sql_status(r->in->err, st, NULL);
	bool own = false;
	for (unsigned k = 0; k < n; k++) {
		own |= strcmp(role[k].name, SQL_OWNER) == 0;
		authid(r, &role[k]);
	}
	if (!own)
		authid(r, &owner);
	return true;
}

static bool
member_rows(struct sql_rows *r)
{
	struct cat_member *m;
	unsigned n;
	nam_status st = cat_member_list(r->in->cat, r->in->t, &m, &n, r->in->a);
	if (st != NAM_OK)
		return sql_status(r->in->err, st, NULL);
	for (unsigned k = 0; k < n; k++) {
		row_int(r, sql_oid_of_role(m[k].role));
		row_int(r, sql_oid_of_role(m[k].member));
		row_int(r, SQL_OID_OWNER);
		row_int(r, m[k].admin);
	}
	return true;
}

static bool
language_rows(struct sql_rows *r)
{
	static const struct {
		uint32_t oid;
		const char *name;
		bool trusted;
	} all[] = { { 12, "internal", false }, { 14, "sql", true } };
	for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
		row_int(r, all[k].oid);
		row_text(r, all[k].name);
		row_int(r, SQL_OID_OWNER);
		row_int(r, false);
		row_int(r, all[k].trusted);
		row_ints(r, 3, 0);
		row_null(r, 1);
	}
	return true;
}

static bool
tablespace_rows(struct sql_rows *r)
{
	row_int(r, DEFAULT_TABLESPACE);
	row_text(r, "pg_default");
	row_int(r, SQL_OID_OWNER);
	row_null(r, 2);
	row_int(r, GLOBAL_TABLESPACE);
	row_text(r, "pg_global");
	row_int(r, SQL_OID_OWNER);
	row_null(r, 2);
	return true;
}

const struct sql_relation sql_relations_role[] = {
	{ "pg_namespace", 2615, "oid oid, nspname name, nspowner oid, nspacl _text", namespace_rows, NULL,
	    SQL_IN_CATALOG, true },
	{ "pg_am", 2601, "oid oid, amname name, amhandler regproc, amtype char", am_rows, NULL,
	    SQL_IN_CATALOG, false },
	{ "pg_database", 1262, DATABASE, database_rows, NULL, SQL_IN_CATALOG, false },
	{ "pg_authid", 1260, AUTHID, authid_rows, NULL, SQL_IN_CATALOG, true },
	{ "pg_auth_members", 1261, "roleid oid, member oid, grantor oid, admin_option bool", member_rows,
	    NULL, SQL_IN_CATALOG, true },
	{ "pg_language", 2612,
	    "oid oid, lanname name, lanowner oid, lanispl bool, lanpltrusted bool, lanplcallfoid oid, "
	    "laninline oid, lanvalidator oid, lanacl _text",
	    language_rows, NULL, SQL_IN_CATALOG, false },
	{ "pg_tablespace", 1213, "oid oid, spcname name, spcowner oid, spcacl _text, spcoptions _text",
	    tablespace_rows, NULL, SQL_IN_CATALOG, false },
	{ NULL, 0, NULL, NULL, NULL, SQL_IN_CATALOG, false },
};
