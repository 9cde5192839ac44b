/* information.c -- the information schema: its views' columns, and their queries. A column
 * that a query does not name with AS is NULL. */
#include <sql/system/rows.h>

#define VIEW(name, oid, columns, query)                                                                      \
	{                                                                                                    \
		name, oid, columns, NULL, query, SQL_IN_INFORMATION, false                                   \
	}

#define PRIVILEGES                                                                                           \
	"grantor name, grantee name, table_catalog name, table_schema name, table_name name, "               \
	"privilege_type varchar, is_grantable varchar, with_hierarchy varchar"

/* pg_attribute with the base types of domains, and their names. */
#define BASE_ATTRIBUTE                                                                                       \
	"(SELECT x.attrelid AS attrelid, x.attname AS attname, x.attnum AS attnum, x.attnotnull AS "         \
	"attnotnull, x.attidentity AS attidentity, x.attcollation AS attcollation, CASE WHEN y.typtype = "   \
	"'d' THEN y.typbasetype ELSE x.atttypid END AS atttypid, CASE WHEN y.typtype = 'd' THEN "            \
	"y.typtypmod ELSE x.atttypmod END AS atttypmod, CASE WHEN y.typtype = 'd' THEN y.typname END AS "    \
	"domain, y.typtype = 'd' AND y.typnotnull AS domainnotnull FROM pg_attribute x JOIN pg_type y ON "   \
	"y.oid = x.atttypid)"

const struct sql_relation sql_relations_information[] = {
	VIEW("information_schema_catalog_name", 13227, "catalog_name name",
	    "SELECT current_database() AS catalog_name"),
	VIEW("schemata", 13382,
	    "catalog_name name, schema_name name, schema_owner name, "
	    "default_character_set_catalog name, default_character_set_schema name, "
	    "default_character_set_name name, sql_path varchar",
	    "SELECT current_database() AS catalog_name, nspname AS schema_name, "
	    "pg_get_userbyid(nspowner) AS schema_owner FROM pg_namespace"),
	VIEW("tables", 13425,
	    "table_catalog name, table_schema name, table_name name, table_type varchar, "
	    "self_referencing_column_name name, reference_generation varchar, "
	    "user_defined_type_catalog name, user_defined_type_schema name, "
	    "user_defined_type_name name, is_insertable_into varchar, is_typed varchar, "
	    "commit_action varchar",
	    "SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname "
	    "AS table_name, CASE WHEN c.relkind = 'v' THEN 'VIEW' WHEN c.relnamespace = pg_my_temp_schema() "
	    "THEN 'LOCAL TEMPORARY' ELSE 'BASE TABLE' END AS "
	    "table_type, CASE WHEN c.relkind = 'r' THEN 'YES' ELSE 'NO' END AS "
	    "is_insertable_into, 'NO' AS is_typed FROM pg_class c JOIN pg_namespace n ON n.oid "
	    "= c.relnamespace WHERE c.relkind IN ('r', 'v')"),
	VIEW("views", 13483,
	    "table_catalog name, table_schema name, table_name name, view_definition varchar, "
	    "check_option varchar, is_updatable varchar, is_insertable_into varchar, "
	    "is_trigger_updatable varchar, is_trigger_deletable varchar, "
	    "is_trigger_insertable_into varchar",
	    "SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname "
	    "AS table_name, pg_get_viewdef(c.oid) AS view_definition, 'NONE' AS check_option, "
	    "'NO' AS is_updatable, 'NO' AS is_insertable_into, 'NO' AS is_trigger_updatable, "
	    "'NO' AS is_trigger_deletable, 'NO' AS is_trigger_insertable_into FROM pg_class c "
	    "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'v'"),
	VIEW("columns", 13295,
	    "table_catalog name, table_schema name, table_name name, column_name name, "
	    "ordinal_position int4, column_default varchar, is_nullable varchar, data_type "
	    "varchar, character_maximum_length int4, character_octet_length int4, "
	    "numeric_precision int4, numeric_precision_radix int4, numeric_scale int4, "
	    "datetime_precision int4, interval_type varchar, interval_precision int4, "
	    "character_set_catalog name, character_set_schema name, character_set_name name, "
	    "collation_catalog name, collation_schema name, collation_name name, domain_catalog "
	    "name, domain_schema name, domain_name name, udt_catalog name, udt_schema name, "
	    "udt_name name, scope_catalog name, scope_schema name, scope_name name, "
	    "maximum_cardinality int4, dtd_identifier name, is_self_referencing varchar, "
	    "is_identity varchar, identity_generation varchar, identity_start varchar, "
	    "identity_increment varchar, identity_maximum varchar, identity_minimum varchar, "
	    "identity_cycle varchar, is_generated varchar, generation_expression varchar, "
	    "is_updatable varchar",
	    "SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname "
	    "AS table_name, a.attname AS column_name, a.attnum AS ordinal_position, "
	    "pg_get_expr(d.adbin, d.adrelid) AS column_default, CASE WHEN a.attnotnull THEN "
	    "'NO' WHEN a.domainnotnull THEN 'NO' ELSE 'YES' END AS is_nullable, CASE WHEN t.typelem <> 0 AND "
	    "t.typlen = -1 "
	    "THEN 'ARRAY' WHEN t.typnamespace <> 11 THEN 'USER-DEFINED' ELSE format_type(a.atttypid, NULL) "
	    "END AS data_type, CASE WHEN "
	    "a.atttypid IN (1042, 1043) AND a.atttypmod <> -1 THEN a.atttypmod - 4 END AS "
	    "character_maximum_length, CASE WHEN a.atttypid IN (25, 1042, 1043) THEN CASE WHEN "
	    "a.atttypmod = -1 THEN 1073741824 ELSE 4 * (a.atttypmod - 4) END END AS "
	    "character_octet_length, CASE a.atttypid WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 "
	    "THEN 64 WHEN 700 THEN 24 WHEN 701 THEN 53 WHEN 1700 THEN CASE WHEN a.atttypmod <> "
	    "-1 THEN ((a.atttypmod - 4) >> 16) & 65535 END END AS numeric_precision, CASE WHEN "
	    "a.atttypid IN (21, 23, 20, 700, 701) THEN 2 WHEN a.atttypid = 1700 THEN 10 END AS "
	    "numeric_precision_radix, CASE WHEN a.atttypid IN (21, 23, 20) THEN 0 WHEN "
	    "a.atttypid = 1700 AND a.atttypmod <> -1 THEN (a.atttypmod - 4) & 65535 END AS "
	    "numeric_scale, CASE WHEN a.atttypid = 1082 THEN 0 WHEN a.atttypid IN (1083, 1114, "
	    "1184, 1186) THEN 6 END AS datetime_precision, CASE WHEN a.atttypid = 1186 THEN "
	    "upper(substring(format_type(a.atttypid, a.atttypmod) FROM '^interval ([a-z ]+)$')) "
	    "END AS interval_type, CASE WHEN o.oid IS NOT NULL THEN current_database() END AS "
	    "collation_catalog, CASE WHEN o.oid IS NOT NULL THEN 'pg_catalog' END AS "
	    "collation_schema, o.collname AS collation_name, CASE WHEN a.domain IS NOT NULL THEN "
	    "current_database() END AS domain_catalog, CASE WHEN a.domain IS NOT NULL THEN 'public' "
	    "END AS domain_schema, a.domain AS domain_name, current_database() AS udt_catalog, "
	    "nt.nspname AS udt_schema, t.typname AS udt_name, a.attnum AS dtd_identifier, "
	    "'NO' AS is_self_referencing, CASE WHEN a.attidentity = '' THEN 'NO' ELSE 'YES' END "
	    "AS is_identity, CASE a.attidentity WHEN 'a' THEN 'ALWAYS' WHEN 'd' THEN 'BY "
	    "DEFAULT' END AS identity_generation, s.seqstart AS identity_start, s.seqincrement "
	    "AS identity_increment, s.seqmax AS identity_maximum, s.seqmin AS identity_minimum, "
	    "CASE WHEN s.seqcycle THEN 'YES' ELSE 'NO' END AS identity_cycle, 'NEVER' AS "
	    "is_generated, CASE WHEN c.relkind = 'r' THEN 'YES' ELSE 'NO' END AS is_updatable "
	    "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN " BASE_ATTRIBUTE
	    " a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace nt ON "
	    "nt.oid = t.typnamespace LEFT JOIN pg_attrdef d "
	    "ON d.adrelid = a.attrelid AND d.adnum = a.attnum LEFT JOIN pg_collation o ON o.oid "
	    "= a.attcollation AND o.collname <> 'default' LEFT JOIN (pg_depend p JOIN "
	    "pg_sequence s ON s.seqrelid = p.objid) ON p.refobjid = c.oid AND p.refobjsubid = "
	    "a.attnum AND p.deptype = 'i' WHERE a.attnum > 0 AND c.relkind IN ('r', 'v')"),
	VIEW("table_constraints", 13411,
	    "constraint_catalog name, constraint_schema name, constraint_name name, "
	    "table_catalog name, table_schema name, table_name name, constraint_type varchar, "
	    "is_deferrable varchar, initially_deferred varchar, enforced varchar, "
	    "nulls_distinct varchar",
	    "SELECT current_database() AS constraint_catalog, n.nspname AS constraint_schema, "
	    "k.conname AS constraint_name, current_database() AS table_catalog, n.nspname AS "
	    "table_schema, c.relname AS table_name, CASE k.contype WHEN 'c' THEN 'CHECK' WHEN "
	    "'f' THEN 'FOREIGN KEY' WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' END AS "
	    "constraint_type, 'NO' AS is_deferrable, 'NO' AS initially_deferred, 'YES' AS "
	    "enforced, CASE WHEN k.contype = 'u' THEN (SELECT CASE WHEN x.indnullsnotdistinct "
	    "THEN 'NO' ELSE 'YES' END FROM pg_index x WHERE x.indexrelid = k.conindid) END AS "
	    "nulls_distinct FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace "
	    "JOIN pg_class c ON c.oid = k.conrelid UNION ALL SELECT current_database(), "
	    "n.nspname, (n.oid::text || '_' || c.oid::text || '_' || a.attnum::text || "
	    "'_not_null'), current_database(), n.nspname, c.relname, 'CHECK', 'NO', 'NO', "
	    "'YES', NULL FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN "
	    "pg_namespace n ON n.oid = c.relnamespace WHERE a.attnotnull AND a.attnum > 0 AND "
	    "c.relkind = 'r'"),
	VIEW("check_constraints", 13260,
	    "constraint_catalog name, constraint_schema name, constraint_name name, "
	    "check_clause varchar",
	    "SELECT current_database() AS constraint_catalog, n.nspname AS constraint_schema, "
	    "k.conname AS constraint_name, substring(pg_get_constraintdef(k.oid) FROM 7) AS "
	    "check_clause FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace "
	    "WHERE k.contype = 'c' UNION ALL SELECT "
	    "current_database(), n.nspname, (n.oid::text || '_' || c.oid::text || '_' || "
	    "a.attnum::text || '_not_null'), a.attname || ' IS NOT NULL' FROM pg_attribute a "
	    "JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = "
	    "c.relnamespace WHERE a.attnotnull AND a.attnum > 0 AND c.relkind = 'r'"),
	VIEW("key_column_usage", 13329,
	    "constraint_catalog name, constraint_schema name, constraint_name name, "
	    "table_catalog name, table_schema name, table_name name, column_name name, "
	    "ordinal_position int4, position_in_unique_constraint int4",
	    "SELECT current_database() AS constraint_catalog, n.nspname AS constraint_schema, "
	    "k.conname AS constraint_name, current_database() AS table_catalog, n.nspname AS "
	    "table_schema, c.relname AS table_name, a.attname AS column_name, u.place AS "
	    "ordinal_position, array_position(m.conkey, k.confkey[u.place]) AS "
	    "position_in_unique_constraint FROM pg_constraint k JOIN pg_namespace n ON n.oid = "
	    "k.connamespace JOIN pg_class c ON c.oid = k.conrelid CROSS JOIN LATERAL "
	    "unnest(k.conkey) WITH ORDINALITY AS u(attnum, place) JOIN pg_attribute a ON "
	    "a.attrelid = c.oid AND a.attnum = u.attnum LEFT JOIN pg_constraint m ON k.contype "
	    "= 'f' AND m.conindid = k.conindid AND m.contype IN ('p', 'u') WHERE k.contype IN "
	    "('p', 'u', 'f')"),
	VIEW("referential_constraints", 13339,
	    "constraint_catalog name, constraint_schema name, constraint_name name, "
	    "unique_constraint_catalog name, unique_constraint_schema name, "
	    "unique_constraint_name name, match_option varchar, update_rule varchar, "
	    "delete_rule varchar",
	    "SELECT current_database() AS constraint_catalog, n.nspname AS constraint_schema, "
	    "k.conname AS constraint_name, CASE WHEN m.oid IS NOT NULL THEN current_database() "
	    "END AS unique_constraint_catalog, CASE WHEN m.oid IS NOT NULL THEN 'public' END AS "
	    "unique_constraint_schema, m.conname AS unique_constraint_name, 'NONE' AS "
	    "match_option, CASE k.confupdtype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' "
	    "WHEN 'd' THEN 'SET DEFAULT' WHEN 'r' THEN 'RESTRICT' WHEN 'a' THEN 'NO ACTION' END "
	    "AS update_rule, CASE k.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET "
	    "NULL' WHEN 'd' THEN 'SET DEFAULT' WHEN 'r' THEN 'RESTRICT' WHEN 'a' THEN 'NO "
	    "ACTION' END AS delete_rule FROM pg_constraint k JOIN pg_namespace n ON n.oid = "
	    "k.connamespace LEFT JOIN pg_constraint m ON m.conindid = k.conindid AND m.contype "
	    "IN ('p', 'u') WHERE k.contype = 'f'"),
	VIEW("constraint_column_usage", 13300,
	    "table_catalog name, table_schema name, table_name name, column_name name, "
	    "constraint_catalog name, constraint_schema name, constraint_name name",
	    "SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname "
	    "AS table_name, a.attname AS column_name, current_database() AS constraint_catalog, "
	    "n.nspname AS constraint_schema, k.conname AS constraint_name FROM pg_constraint k "
	    "JOIN pg_namespace n ON n.oid = k.connamespace JOIN pg_class c ON c.oid = CASE "
	    "k.contype WHEN 'f' THEN k.confrelid ELSE k.conrelid END CROSS JOIN LATERAL "
	    "unnest(CASE k.contype WHEN 'f' THEN k.confkey ELSE k.conkey END) AS u(attnum) JOIN "
	    "pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.attnum"),
	VIEW("constraint_table_usage", 13305,
	    "table_catalog name, table_schema name, table_name name, constraint_catalog name, "
	    "constraint_schema name, constraint_name name",
	    "SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname "
	    "AS table_name, current_database() AS constraint_catalog, n.nspname AS "
	    "constraint_schema, k.conname AS constraint_name FROM pg_constraint k JOIN "
	    "pg_namespace n ON n.oid = k.connamespace JOIN pg_class c ON c.oid = CASE k.contype "
	    "WHEN 'f' THEN k.confrelid ELSE k.conrelid END WHERE k.contype IN ('f', 'p', 'u')"),
	VIEW("sequences", 13386,
	    "sequence_catalog name, sequence_schema name, sequence_name name, data_type "
	    "varchar, numeric_precision int4, numeric_precision_radix int4, numeric_scale int4, "
	    "start_value varchar, minimum_value varchar, maximum_value varchar, increment "
	    "varchar, cycle_option varchar",
	    "SELECT current_database() AS sequence_catalog, n.nspname AS sequence_schema, "
	    "c.relname AS sequence_name, format_type(s.seqtypid, NULL) AS data_type, CASE "
	    "s.seqtypid WHEN 21 THEN 16 WHEN 23 THEN 32 ELSE 64 END AS numeric_precision, 2 AS "
	    "numeric_precision_radix, 0 AS numeric_scale, s.seqstart AS start_value, s.seqmin "
	    "AS minimum_value, s.seqmax AS maximum_value, s.seqincrement AS increment, CASE "
	    "WHEN s.seqcycle THEN 'YES' ELSE 'NO' END AS cycle_option FROM pg_sequence s JOIN "
	    "pg_class c ON c.oid = s.seqrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
	    "WHERE NOT EXISTS (SELECT 1 FROM pg_depend p WHERE p.objid = s.seqrelid AND "
	    "p.deptype = 'i')"),
	VIEW("routines", 13377,
	    "specific_catalog name, specific_schema name, specific_name name, routine_catalog "
	    "name, routine_schema name, routine_name name, routine_type varchar, module_catalog "
	    "name, module_schema name, module_name name, udt_catalog name, udt_schema name, "
	    "udt_name name, data_type varchar, character_maximum_length int4, "
	    "character_octet_length int4, character_set_catalog name, character_set_schema "
	    "name, character_set_name name, collation_catalog name, collation_schema name, "
	    "collation_name name, numeric_precision int4, numeric_precision_radix int4, "
	    "numeric_scale int4, datetime_precision int4, interval_type varchar, "
	    "interval_precision int4, type_udt_catalog name, type_udt_schema name, "
	    "type_udt_name name, scope_catalog name, scope_schema name, scope_name name, "
	    "maximum_cardinality int4, dtd_identifier name, routine_body varchar, "
	    "routine_definition varchar, external_name varchar, external_language varchar, "
	    "parameter_style varchar, is_deterministic varchar, sql_data_access varchar, "
	    "is_null_call varchar, sql_path varchar, schema_level_routine varchar, "
	    "max_dynamic_result_sets int4, is_user_defined_cast varchar, "
	    "is_implicitly_invocable varchar, security_type varchar, to_sql_specific_catalog "
	    "name, to_sql_specific_schema name, to_sql_specific_name name, as_locator varchar, "
	    "created timestamptz, last_altered timestamptz, new_savepoint_level varchar, "
	    "is_udt_dependent varchar, result_cast_from_data_type varchar, "
	    "result_cast_as_locator varchar, result_cast_char_max_length int4, "
	    "result_cast_char_octet_length int4, result_cast_char_set_catalog name, "
	    "result_cast_char_set_schema name, result_cast_char_set_name name, "
	    "result_cast_collation_catalog name, result_cast_collation_schema name, "
	    "result_cast_collation_name name, result_cast_numeric_precision int4, "
	    "result_cast_numeric_precision_radix int4, result_cast_numeric_scale int4, "
	    "result_cast_datetime_precision int4, result_cast_interval_type varchar, "
	    "result_cast_interval_precision int4, result_cast_type_udt_catalog name, "
	    "result_cast_type_udt_schema name, result_cast_type_udt_name name, "
	    "result_cast_scope_catalog name, result_cast_scope_schema name, "
	    "result_cast_scope_name name, result_cast_maximum_cardinality int4, "
	    "result_cast_dtd_identifier name",
	    "SELECT current_database() AS specific_catalog, n.nspname AS specific_schema, "
	    "(p.proname || '_' || p.oid::text) AS specific_name, current_database() AS "
	    "routine_catalog, n.nspname AS routine_schema, p.proname AS routine_name, "
	    "'FUNCTION' AS routine_type, current_database() AS type_udt_catalog, 'pg_catalog' "
	    "AS type_udt_schema, t.typname AS type_udt_name, CASE WHEN t.typelem <> 0 AND "
	    "t.typlen = -1 THEN 'ARRAY' ELSE format_type(t.oid, NULL) END AS data_type, 0 AS "
	    "dtd_identifier, 'EXTERNAL' AS routine_body, p.prosrc AS external_name, 'INTERNAL' "
	    "AS external_language, 'GENERAL' AS parameter_style, CASE WHEN p.provolatile = 'i' "
	    "THEN 'YES' ELSE 'NO' END AS is_deterministic, 'MODIFIES' AS sql_data_access, CASE "
	    "WHEN p.proisstrict THEN 'YES' ELSE 'NO' END AS is_null_call, 'YES' AS "
	    "schema_level_routine, 0 AS max_dynamic_result_sets, 'INVOKER' AS security_type, "
	    "'NO' AS as_locator, 'NO' AS is_udt_dependent FROM pg_proc p JOIN pg_namespace n ON "
	    "n.oid = p.pronamespace LEFT JOIN pg_type t ON t.oid = p.prorettype WHERE p.prokind "
	    "= 'f'"),
	VIEW("character_sets", 13250,
	    "character_set_catalog name, character_set_schema name, character_set_name name, "
	    "character_repertoire name, form_of_use name, default_collate_catalog name, "
	    "default_collate_schema name, default_collate_name name",
	    "SELECT 'UTF8' AS character_set_name, 'UCS' AS character_repertoire, 'UTF8' AS "
	    "form_of_use, current_database() AS default_collate_catalog, 'pg_catalog' AS "
	    "default_collate_schema, 'default' AS default_collate_name"),
	VIEW("enabled_roles", 13325, "role_name name",
	    "SELECT rolname AS role_name FROM pg_authid WHERE pg_has_role(oid, 'USAGE')"),
	{ "table_privileges", 13416, PRIVILEGES, sql_privilege_rows, NULL, SQL_IN_INFORMATION, false },
	VIEW("role_table_grants", 13421, PRIVILEGES,
	    "SELECT p.grantor AS grantor, p.grantee AS grantee, p.table_catalog AS table_catalog, "
	    "p.table_schema AS table_schema, p.table_name AS table_name, p.privilege_type AS "
	    "privilege_type, p.is_grantable AS is_grantable, p.with_hierarchy AS with_hierarchy FROM "
	    "information_schema.table_privileges p WHERE p.grantor IN (SELECT role_name FROM "
	    "information_schema.enabled_roles) OR p.grantee IN (SELECT role_name FROM "
	    "information_schema.enabled_roles)"),
	VIEW("triggers", 13440,
	    "trigger_catalog name, trigger_schema name, trigger_name name, event_manipulation "
	    "varchar, event_object_catalog name, event_object_schema name, event_object_table "
	    "name, action_order int4, action_condition varchar, action_statement varchar, "
	    "action_orientation varchar, action_timing varchar, action_reference_old_table "
	    "name, action_reference_new_table name, action_reference_old_row name, "
	    "action_reference_new_row name, created timestamptz",
	    NULL),
	VIEW("domains", 13320,
	    "domain_catalog name, domain_schema name, domain_name name, data_type varchar, "
	    "character_maximum_length int4, character_octet_length int4, character_set_catalog "
	    "name, character_set_schema name, character_set_name name, collation_catalog name, "
	    "collation_schema name, collation_name name, numeric_precision int4, "
	    "numeric_precision_radix int4, numeric_scale int4, datetime_precision int4, "
	    "interval_type varchar, interval_precision int4, domain_default varchar, "
	    "udt_catalog name, udt_schema name, udt_name name, scope_catalog name, scope_schema "
	    "name, scope_name name, maximum_cardinality int4, dtd_identifier name",
	    "SELECT current_database() AS domain_catalog, n.nspname AS domain_schema, t.typname AS "
	    "domain_name, CASE WHEN b.typnamespace <> 11 THEN 'USER-DEFINED' ELSE format_type(t.typbasetype, "
	    "NULL) END AS data_type, CASE "
	    "WHEN t.typbasetype IN (1042, 1043) AND t.typtypmod <> -1 THEN t.typtypmod - 4 END AS "
	    "character_maximum_length, CASE WHEN t.typbasetype IN (25, 1042, 1043) THEN CASE WHEN "
	    "t.typtypmod = -1 THEN 1073741824 ELSE 4 * (t.typtypmod - 4) END END AS "
	    "character_octet_length, CASE t.typbasetype WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 "
	    "WHEN 700 THEN 24 WHEN 701 THEN 53 WHEN 1700 THEN CASE WHEN t.typtypmod <> -1 THEN "
	    "((t.typtypmod - 4) >> 16) & 65535 END END AS numeric_precision, CASE WHEN t.typbasetype IN "
	    "(21, 23, 20, 700, 701) THEN 2 WHEN t.typbasetype = 1700 THEN 10 END AS "
	    "numeric_precision_radix, CASE WHEN t.typbasetype IN (21, 23, 20) THEN 0 WHEN t.typbasetype "
	    "= 1700 AND t.typtypmod <> -1 THEN (t.typtypmod - 4) & 65535 END AS numeric_scale, CASE "
	    "WHEN t.typbasetype = 1082 THEN 0 WHEN t.typbasetype IN (1083, 1114, 1184, 1186) THEN 6 END "
	    "AS datetime_precision, CASE WHEN t.typbasetype = 1186 THEN "
	    "upper(substring(format_type(t.typbasetype, t.typtypmod) FROM '^interval ([a-z ]+)$')) END "
	    "AS interval_type, t.typdefault AS domain_default, current_database() AS udt_catalog, "
	    "m.nspname AS udt_schema, b.typname AS udt_name, 1 AS dtd_identifier FROM pg_type t JOIN "
	    "pg_namespace n ON n.oid = t.typnamespace JOIN pg_type b ON b.oid = t.typbasetype JOIN "
	    "pg_namespace m ON m.oid = b.typnamespace WHERE t.typtype = 'd'"),
	VIEW("domain_constraints", 13315,
	    "constraint_catalog name, constraint_schema name, constraint_name name, domain_catalog name, "
	    "domain_schema name, domain_name name, is_deferrable varchar, initially_deferred varchar",
	    "SELECT current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS "
	    "constraint_name, current_database() AS domain_catalog, n.nspname AS domain_schema, t.typname "
	    "AS domain_name, 'NO' AS is_deferrable, 'NO' AS initially_deferred FROM pg_constraint k JOIN "
	    "pg_type t ON t.oid = k.contypid JOIN pg_namespace n ON n.oid = t.typnamespace"),
	VIEW("applicable_roles", 13236, "grantee name, role_name name, is_grantable varchar",
	    "SELECT a.rolname AS grantee, b.rolname AS role_name, CASE WHEN m.admin_option THEN "
	    "'YES' ELSE 'NO' END AS is_grantable FROM pg_auth_members m JOIN pg_authid a ON "
	    "m.member = a.oid JOIN pg_authid b ON m.roleid = b.oid WHERE pg_has_role(a.oid, 'USAGE')"),
	{ NULL, 0, NULL, NULL, NULL, SQL_IN_INFORMATION, false },
};
