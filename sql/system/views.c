/* views.c -- PostgreSQL's views over its system catalogs: their columns, and their queries. A
 * column that a query does not name with AS is NULL. */
#include <sql/system/rows.h>

#define VIEW(name, oid, columns, query)                                                                      \
	{                                                                                                    \
		name, oid, columns, NULL, query, SQL_IN_CATALOG, false                                       \
	}

#define USERS                                                                                                \
	"usename name, usesysid oid, usecreatedb bool, usesuper bool, userepl bool, "                        \
	"usebypassrls bool, passwd text, valuntil timestamptz, useconfig _text"
#define USER_QUERY                                                                                           \
	"SELECT rolname AS usename, oid AS usesysid, rolcreatedb AS usecreatedb, rolsuper "                  \
	"AS usesuper, rolreplication AS userepl, rolbypassrls AS usebypassrls, '********' "                  \
	"AS passwd, rolvaliduntil AS valuntil FROM pg_authid WHERE rolcanlogin"
/* What nothing counts is NULL. */
#define TABLE_STATS                                                                                          \
	"relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, "                       \
	"idx_scan int8, idx_tup_fetch int8, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, "                \
	"n_tup_hot_upd int8, n_live_tup int8, n_dead_tup int8, n_mod_since_analyze int8, "                   \
	"n_ins_since_vacuum int8, last_vacuum timestamptz, last_autovacuum timestamptz, "                    \
	"last_analyze timestamptz, last_autoanalyze timestamptz, vacuum_count int8, "                        \
	"autovacuum_count int8, analyze_count int8, autoanalyze_count int8"
#define TABLE_STATS_QUERY                                                                                    \
	"SELECT c.oid AS relid, n.nspname AS schemaname, c.relname AS relname, CASE WHEN "                   \
	"c.reltuples >= 0 THEN c.reltuples::bigint END AS n_live_tup FROM pg_class c JOIN "                  \
	"pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r'"

#define SETTINGS                                                                                             \
	"name text, setting text, unit text, category text, short_desc text, extra_desc text, context "      \
	"text, "                                                                                             \
	"vartype text, source text, min_val text, max_val text, enumvals _text, boot_val text, reset_val "   \
	"text, sourcefile text, sourceline int4, pending_restart bool"
#define SETTINGS_QUERY                                                                                       \
	"SELECT s.name AS name, s.setting AS setting, s.unit AS unit, CASE WHEN s.name LIKE 'namdb.%' THEN " \
	"'namdb' ELSE 'PostgreSQL' END AS category, s.short_desc AS short_desc, s.context AS context, "      \
	"s.vartype AS vartype, CASE WHEN s.setting = s.boot_val THEN 'default' ELSE 'session' END AS "       \
	"source, s.min_val AS min_val, s.max_val AS max_val, string_to_array(s.choices, '|') AS "            \
	"enumvals, s.boot_val AS boot_val, s.boot_val AS reset_val, false AS pending_restart FROM unnest("   \
	"\"pg_settings.name\"(), \"pg_settings.setting\"(), \"pg_settings.unit\"(), "                        \
	"\"pg_settings.short_desc\"(), \"pg_settings.context\"(), \"pg_settings.vartype\"(), "               \
	"\"pg_settings.min_val\"(), \"pg_settings.max_val\"(), \"pg_settings.choices\"(), "                  \
	"\"pg_settings.boot_val\"()) AS s (name, setting, unit, short_desc, context, vartype, min_val, "     \
	"max_val, choices, boot_val)"

const struct sql_relation sql_relations_view[] = {
	VIEW("pg_settings", 12080, SETTINGS, SETTINGS_QUERY),
	VIEW("pg_tables", 12020,
	    "schemaname name, tablename name, tableowner name, tablespace name, hasindexes "
	    "bool, hasrules bool, hastriggers bool, rowsecurity bool",
	    "SELECT n.nspname AS schemaname, c.relname AS tablename, "
	    "pg_get_userbyid(c.relowner) AS tableowner, t.spcname AS tablespace, c.relhasindex "
	    "AS hasindexes, c.relhasrules AS hasrules, c.relhastriggers AS hastriggers, "
	    "c.relrowsecurity AS rowsecurity FROM pg_class c LEFT JOIN pg_namespace n ON n.oid "
	    "= c.relnamespace LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE "
	    "c.relkind IN ('r', 'p')"),
	VIEW("pg_views", 12015, "schemaname name, viewname name, viewowner name, definition text",
	    "SELECT n.nspname AS schemaname, c.relname AS viewname, pg_get_userbyid(c.relowner) "
	    "AS viewowner, pg_get_viewdef(c.oid) AS definition FROM pg_class c LEFT JOIN "
	    "pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'v'"),
	VIEW("pg_indexes", 12030,
	    "schemaname name, tablename name, indexname name, tablespace name, indexdef text",
	    "SELECT n.nspname AS schemaname, c.relname AS tablename, i.relname AS indexname, "
	    "t.spcname AS tablespace, pg_get_indexdef(i.oid) AS indexdef FROM pg_index x JOIN "
	    "pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid LEFT JOIN "
	    "pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_tablespace t ON t.oid = "
	    "i.reltablespace"),
	VIEW("pg_roles", 12000,
	    "rolname name, rolsuper bool, rolinherit bool, rolcreaterole bool, rolcreatedb "
	    "bool, rolcanlogin bool, rolreplication bool, rolconnlimit int4, rolpassword text, "
	    "rolvaliduntil timestamptz, rolbypassrls bool, rolconfig _text, oid oid",
	    "SELECT a.rolname AS rolname, a.rolsuper AS rolsuper, a.rolinherit AS rolinherit, "
	    "a.rolcreaterole AS rolcreaterole, a.rolcreatedb AS rolcreatedb, a.rolcanlogin AS "
	    "rolcanlogin, a.rolreplication AS rolreplication, a.rolconnlimit AS rolconnlimit, "
	    "'********' AS rolpassword, a.rolvaliduntil AS rolvaliduntil, a.rolbypassrls AS "
	    "rolbypassrls, a.oid AS oid FROM pg_authid a"),
	VIEW("pg_group", 12006, "groname name, grosysid oid, grolist _oid",
	    "SELECT rolname AS groname, oid AS grosysid, '{}' AS grolist FROM pg_authid WHERE "
	    "NOT rolcanlogin"),
	VIEW("pg_sequences", 12035,
	    "schemaname name, sequencename name, sequenceowner name, data_type regtype, "
	    "start_value int8, min_value int8, max_value int8, increment_by int8, cycle bool, "
	    "cache_size int8, last_value int8",
	    "SELECT n.nspname AS schemaname, c.relname AS sequencename, "
	    "pg_get_userbyid(c.relowner) AS sequenceowner, s.seqtypid AS data_type, s.seqstart "
	    "AS start_value, s.seqmin AS min_value, s.seqmax AS max_value, s.seqincrement AS "
	    "increment_by, s.seqcycle AS cycle, s.seqcache AS cache_size FROM pg_sequence s "
	    "JOIN pg_class c ON c.oid = s.seqrelid LEFT JOIN pg_namespace n ON n.oid = "
	    "c.relnamespace"),
	VIEW("pg_user", 12009, USERS, USER_QUERY),
	VIEW("pg_shadow", 12005, USERS, USER_QUERY),
	VIEW("pg_stat_all_tables", 12107, TABLE_STATS, TABLE_STATS_QUERY),
	VIEW("pg_stat_user_tables", 12117, TABLE_STATS, TABLE_STATS_QUERY " AND n.nspname = 'public'"),
	VIEW("pg_stat_sys_tables", 12112, TABLE_STATS, TABLE_STATS_QUERY " AND n.nspname <> 'public'"),
	{ NULL, 0, NULL, NULL, NULL, SQL_IN_CATALOG, false },
};
