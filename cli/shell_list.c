/* shell_list.c -- \d and its kin as lists: relations, schemas, functions, databases, roles. */
#include "shell_query.h"

#include <stdlib.h>
#include <string.h>

/*
 * Every relation as (id, name, type, versions, row_bytes, table_name, rows, schema), out of its
 * path (catalog/path.h). Kinds of nam_extras:
 * v a view, s a sequence, b an index, p a type, k the name of a primary key, r the rows that
 * ANALYZE counted. The catalog's own tables have no rows there, and the id 0.
 */
static const char relations[] =
    "(WITH t AS (SELECT id, slots, row_bytes, CASE WHEN strpos(name, '.') > 1 THEN split_part(name, '.', 1) "
    "ELSE "
    "'public' END AS schema, substr(name, strpos(name, '.') + 1) AS name FROM nam_tables) "
    "SELECT t.id, t.name, CASE x.kind WHEN 118 THEN 'view' WHEN 115 THEN 'sequence' WHEN 98 THEN 'index' "
    "WHEN 112 THEN 'type' "
    "ELSE 'table' END AS type, "
    "t.slots AS versions, t.row_bytes, coalesce(o.name, '') AS table_name, r.text AS rows, t.schema FROM t "
    "LEFT JOIN nam_extras x ON x.table_id = t.id AND x.kind IN (98, 112, 115, 118) "
    "LEFT JOIN t o ON x.kind = 98 AND o.id::text = x.text "
    "LEFT JOIN nam_extras r ON r.table_id = t.id AND r.kind = 114 WHERE t.name <> '' "
    "UNION ALL SELECT t.id, coalesce(k.name, t.name || '_pkey'), 'index', 0, 0, t.name, NULL, t.schema "
    "FROM t JOIN nam_columns c ON c.table_id = t.id AND c.key = 1 "
    "LEFT JOIN nam_extras k ON k.table_id = t.id AND k.kind = 107 "
    "WHERE NOT EXISTS (SELECT 1 FROM nam_extras i WHERE i.table_id = t.id AND i.kind = 120 AND i.name = "
    "coalesce(k.name, t.name || '_pkey')) "
    "UNION ALL VALUES (0, 'nam_tables', 'table', 2, 0, '', NULL, 'public'), "
    "(0, 'nam_columns', 'table', 2, 0, '', NULL, 'public'), "
    "(0, 'nam_extras', 'table', 2, 0, '', NULL, 'public'), (0, 'nam_stats', 'view', 0, 0, '', NULL, "
    "'public'), "
    "(0, 'nam_functions', 'view', 0, 0, '', NULL, 'public')) AS r";

/* The catalog's own tables are left out, unless the pattern asks for them. */
static bool
wants_system(const char *pattern, bool system)
{
	while (*pattern == '"')
		pattern++;
	return system || strncasecmp(pattern, "nam_", 4) == 0 || strncasecmp(pattern, "public.nam_", 11) == 0;
}

bool
shell_relations(struct shell *sh, struct shell_answer *a, const char *types, const char *pattern, bool system)
{
	struct shell_pattern p = { 0 };
	struct shell_text t = { 0 };
	memset(a, 0, sizeof *a);
	if (pattern[0] != 0 && !shell_pattern(sh, pattern, &p))
		return false;
	shell_text_add(&t,
	    "SELECT id, name, type, versions, row_bytes, table_name, rows, schema FROM %s WHERE type IN (%s)",
	    relations, types);
	if (!wants_system(pattern, system))
		shell_text_add(&t, " AND id > 0");
	if (p.name.p != NULL)
		shell_text_add(&t,
		    " AND name ~ %s AND CASE WHEN %s = '' THEN id = 0 OR schema = ANY "
		    "(current_schemas(true)) "
		    "ELSE schema ~ %s END",
		    p.name.p, p.schema.p, p.schema.p);
	else
		shell_text_add(&t, " AND (id = 0 OR schema = ANY (current_schemas(true)))");
	shell_text_add(&t, " ORDER BY schema, name, type");
	bool ok = !t.failed && shell_query(sh, a, t.p);
	free(t.p);
	shell_pattern_free(&p);
	return ok;
}

static bool
list_relations(struct shell *sh, const char *types, const char *pattern, bool system, bool more)
{
	const char *head[8] = { "Schema", "Name", "Type", "Owner" };
	enum cn_kind kind[8] = { CN_TEXT };
	struct shell_answer a;
	bool ok = shell_relations(sh, &a, types, pattern, system);
	bool indexes = strcmp(types, "'index'") == 0;
	unsigned cols = 4, rows = a.cells / SHELL_RELATION_COLUMNS;
	if (indexes)
		head[cols++] = "Table";
	for (unsigned k = 0; more && k < 3; k++) {
		static const char *const extra[] = { "Versions", "Row bytes", "Rows" };
		kind[cols] = CN_NUMBER;
		head[cols++] = extra[k];
	}
	const char **cell = ok ? nam_arena_take(&a.arena, (rows + 1) * cols * sizeof *cell) : NULL;
	for (unsigned i = 0; cell != NULL && i < rows; i++) {
		const char **row = a.cell + i * SHELL_RELATION_COLUMNS, **to = cell + i * cols;
		bool stored = strcmp(row[SHELL_RELATION_TYPE], "table") == 0;
		*to++ = row[SHELL_RELATION_SCHEMA];
		*to++ = row[SHELL_RELATION_NAME];
		*to++ = row[SHELL_RELATION_TYPE];
		*to++ = "namdb";
		if (indexes)
			*to++ = row[SHELL_RELATION_TABLE];
		for (unsigned k = 0; more && k < 3; k++)
			*to++ = !stored  ? ""
				: k == 0 ? row[SHELL_RELATION_VERSIONS]
				: k == 1 && strcmp(row[SHELL_RELATION_ID], "0")
				    ? row[SHELL_RELATION_ROW_BYTES]
				: k == 2 ? row[SHELL_RELATION_ROWS]
					 : "";
	}
	if (ok && rows == 0 && pattern[0] != 0)
		fprintf(stderr, "Did not find any relation named \"%s\".\n", pattern);
	else if (ok && rows == 0)
		fprintf(stderr, "Did not find any relations.\n");
	else if (cell != NULL)
		shell_print(sh, "List of relations", cols, head, kind, cell, rows * cols, NULL);
	shell_answer_free(&a);
	return ok && (rows > 0 || pattern[0] == 0);
}

static bool
list_schemas(struct shell *sh, const char *pattern)
{
	static const char *const head[] = { "Name", "Owner" };
	struct shell_pattern p = { 0 };
	struct shell_answer a = { 0 };
	if (pattern[0] != 0 && !shell_pattern(sh, pattern, &p))
		return false;
	bool ok = shell_queryf(sh, &a,
	    "SELECT nspname, pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname ~ %s AND (%s OR "
	    "(nspname <> "
	    "'pg_catalog' AND nspname <> 'information_schema')) ORDER BY 1",
	    p.name.p != NULL ? p.name.p : "'.*'", p.name.p != NULL ? "true" : "false");
	if (ok)
		shell_print(sh, "List of schemas", 2, head, NULL, a.cell, a.cells, NULL);
	shell_answer_free(&a);
	shell_pattern_free(&p);
	return ok;
}

static bool
list_functions(struct shell *sh, const char *pattern)
{
	static const char *const head[] = { "Schema", "Name", "Result data type", "Argument data types",
		"Type" };
	struct shell_pattern p = { 0 };
	struct shell_text t = { 0 };
	struct shell_answer a = { 0 };
	if (pattern[0] != 0 && !shell_pattern(sh, pattern, &p))
		return false;
	shell_text_add(&t, "SELECT 'pg_catalog', name, result, arguments, type FROM nam_functions");
	if (p.name.p != NULL)
		shell_text_add(&t, " WHERE name ~ %s AND (%s = '' OR 'pg_catalog' ~ %s)", p.name.p,
		    p.schema.p, p.schema.p);
	shell_text_add(&t, " ORDER BY name, arguments");
	bool ok = !t.failed && shell_query(sh, &a, t.p);
	if (ok)
		shell_print(sh, "List of functions", 5, head, NULL, a.cell, a.cells, NULL);
	shell_answer_free(&a);
	free(t.p);
	shell_pattern_free(&p);
	return ok;
}

/* Types that users have made, as psql lists them. */
static bool
list_types(struct shell *sh, const char *pattern, bool more)
{
	static const char *const head[] = { "Schema", "Name", "Internal name", "Size", "Elements", "Owner",
		"Access privileges", "Description" };
	static const char *const few[] = { "Schema", "Name", "Description" };
	struct shell_pattern p = { 0 };
	struct shell_text t = { 0 };
	struct shell_answer a = { 0 };
	if (pattern[0] != 0 && !shell_pattern(sh, pattern, &p))
		return false;
	shell_text_add(&t,
	    "SELECT 'public', format_type(t.oid, NULL), %s'' FROM pg_type t WHERE t.typtype IN ('d', 'e')",
	    more ? "t.typname, t.typlen::text, array_to_string(ARRAY(SELECT e.enumlabel FROM pg_enum e WHERE "
		   "e.enumtypid = t.oid ORDER BY e.enumsortorder), E'\\n'), pg_get_userbyid(t.typowner), '', "
		 : "");
	if (p.name.p != NULL)
		shell_text_add(&t, " AND t.typname ~ %s AND (%s = '' OR 'public' ~ %s)", p.name.p, p.schema.p,
		    p.schema.p);
	shell_text_add(&t, " ORDER BY 1, 2");
	bool ok = !t.failed && shell_query(sh, &a, t.p);
	if (ok)
		shell_print(
		    sh, "List of data types", more ? 8 : 3, more ? head : few, NULL, a.cell, a.cells, NULL);
	shell_answer_free(&a);
	free(t.p);
	shell_pattern_free(&p);
	return ok;
}

static bool
list_domains(struct shell *sh, const char *pattern, bool more)
{
	static const char *const head[] = { "Schema", "Name", "Type", "Collation", "Nullable", "Default",
		"Check", "Access privileges", "Description" };
	struct shell_pattern p = { 0 };
	struct shell_text t = { 0 };
	struct shell_answer a = { 0 };
	if (pattern[0] != 0 && !shell_pattern(sh, pattern, &p))
		return false;
	shell_text_add(&t,
	    "SELECT 'public', t.typname, format_type(t.typbasetype, t.typtypmod), '', CASE WHEN t.typnotnull "
	    "THEN 'not null' ELSE '' END, coalesce(t.typdefault, ''), array_to_string(ARRAY(SELECT "
	    "pg_get_constraintdef(r.oid, true) FROM pg_constraint r WHERE t.oid = r.contypid), ' ')%s FROM "
	    "pg_type t WHERE t.typtype = 'd'",
	    more ? ", '', ''" : "");
	if (p.name.p != NULL)
		shell_text_add(&t, " AND t.typname ~ %s AND (%s = '' OR 'public' ~ %s)", p.name.p, p.schema.p,
		    p.schema.p);
	shell_text_add(&t, " ORDER BY 1, 2");
	bool ok = !t.failed && shell_query(sh, &a, t.p);
	if (ok)
		shell_print(sh, "List of domains", more ? 9 : 7, head, NULL, a.cell, a.cells, NULL);
	shell_answer_free(&a);
	free(t.p);
	shell_pattern_free(&p);
	return ok;
}

/* Of a list with one row whose first cell is its name: the row, if the pattern is its. */
static bool
list_one(struct shell *sh, const char *title, unsigned cols, const char *const *head, const char *const *cell,
    const char *pattern)
{
	struct shell_pattern p = { 0 };
	struct shell_answer a = { 0 };
	if (pattern[0] != 0 && !shell_pattern(sh, pattern, &p))
		return false;
	bool ok = shell_queryf(sh, &a, "SELECT '%s' ~ %s", cell[0], p.name.p != NULL ? p.name.p : "'.*'");
	if (ok)
		shell_print(
		    sh, title, cols, head, NULL, cell, a.cells == 1 && a.cell[0][0] == 't' ? cols : 0, NULL);
	shell_answer_free(&a);
	shell_pattern_free(&p);
	return ok;
}

bool
shell_list(struct shell *sh, const char *what, const char *pattern)
{
	static const char *const database_head[] = { "Name", "Owner", "Encoding", "Collate", "Ctype" };
	static const char *const database[] = { "namdb", "namdb", "UTF8", "C", "C" };
	static const char *const role_head[] = { "Role name", "Attributes", "Member of" };
	static const char *const role[] = { "namdb", "Superuser", "{}" };
	bool system = strchr(what, 'S') != NULL, more = strchr(what, '+') != NULL;
	char types[64] = "", letters[8] = "";
	size_t n = 0;
	for (const char *p = what + (what[0] == 'd'); *p; p++)
		if (*p != 'S' && *p != '+' && n + 1 < sizeof letters)
			letters[n++] = *p;
	if (what[0] == 'l')
		return list_one(sh, "List of databases", 5, database_head, database, pattern);
	if (strcmp(letters, "n") == 0)
		return list_schemas(sh, pattern);
	if (strcmp(letters, "u") == 0 || strcmp(letters, "g") == 0)
		return list_one(sh, "List of roles", 3, role_head, role, pattern);
	if (letters[0] == 'T')
		return list_types(sh, pattern, more);
	if (letters[0] == 'D')
		return list_domains(sh, pattern, more);
	if (letters[0] == 'f')
		return list_functions(sh, pattern);
	for (const char *p = letters; *p; p++)
		snprintf(types + strlen(types), sizeof types - strlen(types), "%s%s", types[0] ? ", " : "",
		    *p == 't'   ? "'table'"
		    : *p == 'v' ? "'view'"
		    : *p == 's' ? "'sequence'"
				: "'index'");
	return list_relations(sh, types[0] ? types : "'table', 'view', 'sequence'", pattern, system, more);
}
