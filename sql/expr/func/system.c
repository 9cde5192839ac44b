/* system.c -- functions about the system catalogs. The session knows the catalog: it is asked
 * (sql_ask); what namdb has none of needs no question. */
#include <sql/expr/func/array.h>

#include <string.h>

bool
sql_ask(struct sql_row *r, enum sql_ask what)
{
	if (r->env->host == NULL || sql_host_of(r->env)->system == NULL)
		return cat_error(
		    r->env->err, "0A000", "names of the system catalogs are not supported here yet");
	return sql_host_of(r->env)->system(r, what);
}

#define ASKS(id, what)                                                                                       \
	static bool id(struct sql_row *r)                                                                    \
	{                                                                                                    \
		return sql_ask(r, what);                                                                     \
	}
ASKS(k_maybe, SQL_ASK_REG_MAYBE)
ASKS(k_visible, SQL_ASK_IS_VISIBLE)
ASKS(k_type_visible, SQL_ASK_TYPE_VISIBLE)
ASKS(k_function_visible, SQL_ASK_FN_VISIBLE)
ASKS(k_user, SQL_ASK_USER)
ASKS(k_type, SQL_ASK_TYPE)
ASKS(k_index, SQL_ASK_INDEX)
ASKS(k_constraint, SQL_ASK_CONSTRAINT)
ASKS(k_view, SQL_ASK_VIEW)
ASKS(k_expr, SQL_ASK_EXPR)
ASKS(k_result, SQL_ASK_FN_RESULT)
ASKS(k_arguments, SQL_ASK_FN_ARGUMENTS)
ASKS(k_serial, SQL_ASK_SERIAL)
ASKS(k_table_right, SQL_ASK_TABLE_RIGHT)
ASKS(k_role_right, SQL_ASK_ROLE_RIGHT)
ASKS(k_relation_size, SQL_ASK_RELATION_SIZE)
ASKS(k_table_size, SQL_ASK_TABLE_SIZE)
ASKS(k_indexes_size, SQL_ASK_INDEXES_SIZE)
ASKS(k_total_size, SQL_ASK_TOTAL_SIZE)
ASKS(k_database_size, SQL_ASK_DATABASE_SIZE)
ASKS(k_space_size, SQL_ASK_SPACE_SIZE)
ASKS(k_database_right, SQL_ASK_DATABASE_RIGHT)
ASKS(k_schema_right, SQL_ASK_SCHEMA_RIGHT)
ASKS(k_schema, SQL_ASK_SCHEMA)
ASKS(k_schemas, SQL_ASK_SCHEMAS)
ASKS(k_temp, SQL_ASK_TEMP)
ASKS(k_other_temp, SQL_ASK_OTHER_TEMP)

/* No comment is kept; there are no triggers, rules, partitions, extended statistics. */
static bool
k_null(struct sql_row *r)
{
	r->out.s = (struct cat_str){ "", 0 };
	return r->out_null = true;
}

static bool
k_true(struct sql_row *r)
{
	r->out.i = 1;
	return true;
}

static bool
k_nowhere(struct sql_row *r)
{
	r->out.s = (struct cat_str){ "", 0 };
	return true;
}

static bool
k_utf8(struct sql_row *r)
{
	r->out.s = (struct cat_str){ "UTF8", 4 };
	return true;
}

static bool
k_encoding(struct sql_row *r)
{
	enum { UTF8 = 6 };
	struct cat_str s = r->a[0].s;
	bool is = (s.len == 4 && memcmp(s.p, "UTF8", 4) == 0) || (s.len == 4 && memcmp(s.p, "utf8", 4) == 0);
	r->out.i = is ? UTF8 : -1;
	return true;
}

/* No table is a partition. */
static bool
k_no_ancestors(struct sql_row *r)
{
	return cat_array_make(CAT_REGCLASS, 1, NULL, NULL, 0, &r->out.s, r->env->arena, r->env->err);
}

enum { ASK = SQL_FN_VOLATILE };
#define T CAT_TEXT
#define N CAT_NAME
#define O CAT_OID
#define B CAT_BOOL
#define I CAT_INT4
#define F(name, flags, n, ret, f, ...)                                                                       \
	{                                                                                                    \
		name, flags, n, { __VA_ARGS__ }, ret, NULL, f                                                \
	}
/* has_..._privilege: of the session's role or another one's, an object by number or by name. */
#define RIGHTS(name, right)                                                                                  \
	F(name, ASK, 2, B, right, O, T), F(name, ASK, 2, B, right, T, T),                                    \
	    F(name, ASK, 3, B, right, O, O, T), F(name, ASK, 3, B, right, O, T, T),                          \
	    F(name, ASK, 3, B, right, N, O, T), F(name, ASK, 3, B, right, N, T, T)

#define COLUMN_RIGHTS(table, column)                                                                         \
	F("has_column_privilege", ASK, 3, B, k_table_right, table, column, T),                               \
	    F("has_column_privilege", ASK, 4, B, k_table_right, N, table, column, T),                        \
	    F("has_column_privilege", ASK, 4, B, k_table_right, O, table, column, T)

const struct sql_fn sql_fns_system[] = {
	F("to_regclass", ASK, 1, CAT_REGCLASS, k_maybe, T),
	F("to_regtype", ASK, 1, CAT_REGTYPE, k_maybe, T),
	F("to_regproc", ASK, 1, CAT_REGPROC, k_maybe, T),
	F("to_regnamespace", ASK, 1, CAT_REGNAMESPACE, k_maybe, T),
	F("to_regrole", ASK, 1, CAT_REGROLE, k_maybe, T),
	F("pg_table_is_visible", ASK, 1, B, k_visible, O),
	F("pg_type_is_visible", ASK, 1, B, k_type_visible, O),
	F("pg_function_is_visible", ASK, 1, B, k_function_visible, O),
	F("pg_collation_is_visible", 0, 1, B, k_true, O),
	F("pg_statistics_obj_is_visible", 0, 1, B, k_true, O),
	F("pg_operator_is_visible", 0, 1, B, k_true, O),
	F("getdatabaseencoding", 0, 0, N, k_utf8, 0),
	F("pg_get_userbyid", ASK, 1, N, k_user, O),
	F("format_type", ASK | SQL_FN_NULLS, 2, T, k_type, O, I),
	F("pg_get_indexdef", ASK, 1, T, k_index, O),
	F("pg_get_indexdef", ASK, 3, T, k_index, O, I, B),
	F("pg_get_constraintdef", ASK, 1, T, k_constraint, O),
	F("pg_get_constraintdef", ASK, 2, T, k_constraint, O, B),
	F("pg_get_viewdef", ASK, 1, T, k_view, O),
	F("pg_get_viewdef", ASK, 2, T, k_view, O, B),
	F("pg_get_viewdef", ASK, 2, T, k_view, O, I),
	F("pg_get_viewdef", ASK, 1, T, k_view, T),
	F("pg_get_viewdef", ASK, 2, T, k_view, T, B),
	F("pg_get_expr", ASK, 2, T, k_expr, T, O),
	F("pg_get_expr", ASK, 3, T, k_expr, T, O, B),
	F("pg_get_function_result", ASK, 1, T, k_result, O),
	F("pg_get_function_arguments", ASK, 1, T, k_arguments, O),
	F("pg_get_function_identity_arguments", ASK, 1, T, k_arguments, O),
	F("pg_get_serial_sequence", ASK, 2, T, k_serial, T, T),
	F("pg_get_triggerdef", 0, 1, T, k_null, O),
	F("pg_get_triggerdef", 0, 2, T, k_null, O, B),
	F("pg_get_ruledef", 0, 1, T, k_null, O),
	F("pg_get_ruledef", 0, 2, T, k_null, O, B),
	F("pg_get_statisticsobjdef_columns", 0, 1, T, k_null, O),
	F("pg_get_partkeydef", 0, 1, T, k_null, O),
	F("pg_get_partition_constraintdef", 0, 1, T, k_null, O),
	F("obj_description", 0, 1, T, k_null, O),
	F("obj_description", 0, 2, T, k_null, O, N),
	F("shobj_description", 0, 2, T, k_null, O, N),
	F("col_description", 0, 2, T, k_null, O, I),
	F("pg_relation_is_publishable", 0, 1, B, k_true, CAT_REGCLASS),
	F("pg_tablespace_location", 0, 1, T, k_nowhere, O),
	F("pg_my_temp_schema", ASK, 0, O, k_temp, 0),
	F("pg_is_other_temp_schema", ASK, 1, B, k_other_temp, O),
	F("pg_char_to_encoding", 0, 1, I, k_encoding, N),
	F("pg_partition_ancestors", 0, 1, CAT_ARRAY | CAT_REGCLASS, k_no_ancestors, CAT_REGCLASS),
	F("current_schema", ASK, 0, CAT_NAME, k_schema, 0),
	F("current_schemas", ASK, 1, CAT_ARRAY | CAT_NAME, k_schemas, B),
	F("pg_relation_size", ASK, 1, CAT_INT8, k_relation_size, CAT_REGCLASS),
	F("pg_relation_size", ASK, 2, CAT_INT8, k_relation_size, CAT_REGCLASS, T),
	F("pg_table_size", ASK, 1, CAT_INT8, k_table_size, CAT_REGCLASS),
	F("pg_indexes_size", ASK, 1, CAT_INT8, k_indexes_size, CAT_REGCLASS),
	F("pg_total_relation_size", ASK, 1, CAT_INT8, k_total_size, CAT_REGCLASS),
	F("pg_database_size", ASK, 1, CAT_INT8, k_database_size, N),
	F("pg_database_size", ASK, 1, CAT_INT8, k_database_size, O),
	F("pg_tablespace_size", ASK, 1, CAT_INT8, k_space_size, N),
	F("pg_tablespace_size", ASK, 1, CAT_INT8, k_space_size, O),
	RIGHTS("has_database_privilege", k_database_right),
	RIGHTS("has_schema_privilege", k_schema_right),
	RIGHTS("has_table_privilege", k_table_right),
	RIGHTS("has_sequence_privilege", k_table_right),
	RIGHTS("has_any_column_privilege", k_table_right),
	COLUMN_RIGHTS(T, T),
	COLUMN_RIGHTS(T, CAT_INT2),
	COLUMN_RIGHTS(O, T),
	COLUMN_RIGHTS(O, CAT_INT2),
	F("pg_has_role", ASK, 2, B, k_role_right, N, T),
	F("pg_has_role", ASK, 2, B, k_role_right, O, T),
	{ NULL, 0, 0, { 0 }, 0, NULL, NULL },
};
