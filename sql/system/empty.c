/* empty.c -- system catalogs of what namdb does not have: their columns are PostgreSQL's, and
 * they have no rows. Those of pg_cursors come from plan/bind/activity.c. */
#include <sql/system/rows.h>

#define EMPTY(name, oid, columns)                                                                            \
	{                                                                                                    \
		name, oid, columns, NULL, NULL, SQL_IN_CATALOG, false                                        \
	}

const struct sql_relation sql_relations_empty[] = {
	EMPTY("pg_cursors", 12077,
	    "name text, statement text, is_holdable bool, is_binary bool, is_scrollable bool, "
	    "creation_time timestamptz"),
	EMPTY("pg_db_role_setting", 2964, "setdatabase oid, setrole oid, setconfig _text"),
	EMPTY("pg_default_acl", 826,
	    "oid oid, defaclrole oid, defaclnamespace oid, defaclobjtype char, defaclacl _text"),
	EMPTY("pg_description", 2609, "objoid oid, classoid oid, objsubid int4, description text"),
	EMPTY("pg_event_trigger", 3466,
	    "oid oid, evtname name, evtevent name, evtowner oid, evtfoid oid, evtenabled char, "
	    "evttags _text"),
	EMPTY("pg_extension", 3079,
	    "oid oid, extname name, extowner oid, extnamespace oid, extrelocatable bool, "
	    "extversion text, extconfig _oid, extcondition _text"),
	EMPTY("pg_foreign_data_wrapper", 2328,
	    "oid oid, fdwname name, fdwowner oid, fdwhandler oid, fdwvalidator oid, fdwacl _text, "
	    "fdwoptions _text"),
	EMPTY("pg_foreign_server", 1417,
	    "oid oid, srvname name, srvowner oid, srvfdw oid, srvtype text, srvversion text, "
	    "srvacl _text, srvoptions _text"),
	EMPTY("pg_foreign_table", 3118, "ftrelid oid, ftserver oid, ftoptions _text"),
	EMPTY("pg_inherits", 2611, "inhrelid oid, inhparent oid, inhseqno int4, inhdetachpending bool"),
	EMPTY("pg_largeobject_metadata", 2995, "oid oid, lomowner oid, lomacl _text"),
	EMPTY("pg_matviews", 12038,
	    "schemaname name, matviewname name, matviewowner name, tablespace name, hasindexes "
	    "bool, ispopulated bool, definition text"),
	EMPTY("pg_partitioned_table", 3350,
	    "partrelid oid, partstrat char, partnatts int2, partdefid oid, partattrs int2vector, "
	    "partclass oidvector, partcollation oidvector, partexprs text"),
	EMPTY("pg_parameter_acl", 6243, "oid oid, parname text, paracl _text"),
	EMPTY("pg_policies", 12018,
	    "schemaname name, tablename name, policyname name, permissive text, roles _name, cmd "
	    "text, qual text, with_check text"),
	EMPTY("pg_policy", 3256,
	    "oid oid, polname name, polrelid oid, polcmd char, polpermissive bool, polroles _oid, "
	    "polqual text, polwithcheck text"),
	EMPTY("pg_prepared_xacts", 12090,
	    "transaction int8, gid text, prepared timestamptz, owner name, database name"),
	EMPTY("pg_publication", 6104,
	    "oid oid, pubname name, pubowner oid, puballtables bool, pubinsert bool, pubupdate "
	    "bool, pubdelete bool, pubtruncate bool, pubviaroot bool"),
	EMPTY("pg_publication_namespace", 6237, "oid oid, pnpubid oid, pnnspid oid"),
	EMPTY(
	    "pg_publication_rel", 6106, "oid oid, prpubid oid, prrelid oid, prqual text, prattrs int2vector"),
	EMPTY("pg_publication_tables", 12068,
	    "pubname name, schemaname name, tablename name, attnames _name, rowfilter text"),
	EMPTY("pg_range", 3541,
	    "rngtypid oid, rngsubtype oid, rngmultitypid oid, rngcollation oid, rngsubopc oid, "
	    "rngcanonical regproc, rngsubdiff regproc"),
	EMPTY("pg_rewrite", 2618,
	    "oid oid, rulename name, ev_class oid, ev_type char, ev_enabled char, is_instead "
	    "bool, ev_qual text, ev_action text"),
	EMPTY("pg_rules", 12023, "schemaname name, tablename name, rulename name, definition text"),
	EMPTY("pg_seclabel", 3596, "objoid oid, classoid oid, objsubid int4, provider text, label text"),
	EMPTY("pg_shdescription", 2396, "objoid oid, classoid oid, description text"),
	EMPTY("pg_shseclabel", 3592, "objoid oid, classoid oid, provider text, label text"),
	EMPTY("pg_statistic_ext", 3381,
	    "oid oid, stxrelid oid, stxname name, stxnamespace oid, stxowner oid, stxstattarget "
	    "int4, stxkeys int2vector, stxkind _char, stxexprs text"),
	EMPTY("pg_subscription", 6100,
	    "oid oid, subdbid oid, subskiplsn text, subname name, subowner oid, subenabled bool, "
	    "subbinary bool, substream bool, subtwophasestate char, subdisableonerr bool, "
	    "subconninfo text, subslotname name, subsynccommit text, subpublications _text"),
	EMPTY(
	    "pg_transform", 3576, "oid oid, trftype oid, trflang oid, trffromsql regproc, trftosql regproc"),
	EMPTY("pg_trigger", 2620,
	    "oid oid, tgrelid oid, tgparentid oid, tgname name, tgfoid oid, tgtype int2, "
	    "tgenabled char, tgisinternal bool, tgconstrrelid oid, tgconstrindid oid, "
	    "tgconstraint oid, tgdeferrable bool, tginitdeferred bool, tgnargs int2, tgattr "
	    "int2vector, tgargs bytea, tgqual text, tgoldtable name, tgnewtable name"),
	EMPTY("pg_user_mapping", 1418, "oid oid, umuser oid, umserver oid, umoptions _text"),
	{ NULL, 0, NULL, NULL, NULL, SQL_IN_CATALOG, false },
};
