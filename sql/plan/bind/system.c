/* system.c -- PostgreSQL's system catalogs and the information schema in FROM. If a statement names
 * a relation, its rows are made when the statement is bound, from what its snapshot sees of the
 * catalog. A view is bound as a user's view is. */
#include <sql/common/error.h>
#include <sql/compat/postgres.h>
#include <sql/plan/bind/bind.h>
#include <sql/system/system.h>

#include <stdio.h>
#include <string.h>

static bool
put(void *arg, struct cat_datum d)
{
	struct bind_rows *r = arg;
	return sql_bind_put(r, d);
}

/* The relation that has the number, or whose index has it; NULL: none. */
static const struct cat_table *
numbered(const struct sql_system *s, uint32_t oid)
{
	for (unsigned i = 0; i < s->tabs; i++) {
		const struct cat_table *t = s->tab[i];
		if (t->kind == CAT_INDEX)
			continue;
		if (sql_oid_of(&t->store) == oid || sql_oid_of_key(t) == oid)
			return t;
		for (unsigned k = 0; k < t->indexes; k++)
			if (sql_oid_of(&t->index[k].store) == oid)
				return t;
	}
	return NULL;
}

/* Leaves those relations of s that the query may ask this catalog for. */
static bool
only_asked(struct bind *b, const struct ast_table *t, const struct sql_relation *is, struct sql_system *s)
{
	uint32_t oid;
	if (is->schema != SQL_IN_CATALOG || !sql_bind_asked(b, t, s, is->name, &oid))
		return true;
	const struct cat_table **one = sql_bind_take(b, sizeof *one);
	if (one == NULL)
		return false;
	*one = numbered(s, oid);
	s->tab = one;
	s->tabs = *one != NULL;
	return true;
}

static bool
rows(struct bind *b, const struct ast_table *t, const struct sql_relation *is)
{
	struct bind_rows r = { .b = b };
	struct sql_column *column;
	struct sql_system s = { .cat = b->in->cat,
		.t = b->in->t,
		.a = b->a,
		.err = b->err,
		.search = b->in->search,
		.who = b->in->who };
	if (!sql_relation_columns(is, &column, &r.cols, b->a, b->err))
		return false;
	r.column = column;
	b->plan->momentary |= is->again;
	return sql_system_open(&s) && only_asked(b, t, is, &s) && sql_relation_rows(is, &s, put, &r) &&
	       sql_bind_add_rows(&r, t) && sql_bind_made_by(b, is->oid);
}

/* True if the view's query gives a column that name. */
static bool
gives(const char *query, const char *name)
{
	size_t n = strlen(name);
	for (const char *p = query; (p = strstr(p, " AS ")) != NULL; p += 4)
		if (strncmp(p + 4, name, n) == 0 && (p[4 + n] == ',' || p[4 + n] == ' ' || p[4 + n] == 0))
			return true;
	return false;
}

/* The query around a view's: each column by its name and as its type, or NULL. */
static const char *
around(struct bind *b, const struct sql_relation *is, const struct sql_column *col, unsigned n)
{
	size_t room = strlen(is->view) + n * (CAT_NAME_MAX + 64) + 64, at = 0;
	char *text = sql_bind_take(b, room);
	for (unsigned k = 0; text != NULL && k < n; k++) {
		const char *word =
		    cat_type_is_varchar(col[k].type, col[k].typmod) ? "varchar" : cat_type_word(col[k].type);
		bool given = gives(is->view, col[k].name);
		at += (size_t)snprintf(text + at, room - at, "%s%s%s::%s AS %s", k ? ", " : "SELECT ",
		    given ? "q." : "NULL", given ? col[k].name : "", word, col[k].name);
	}
	if (text != NULL)
		snprintf(text + at, room - at, " FROM (%s) AS q", is->view);
	return text;
}

static bool
view(struct bind *b, const struct ast_table *t, const struct sql_relation *is)
{
	struct sql_column *col;
	unsigned n;
	if (!sql_relation_columns(is, &col, &n, b->a, b->err))
		return false;
	const char *query = around(b, is, col, n);
	const struct ast_stmt *st = query ? sql_bind_text(b, "", query) : NULL;
	struct bind *child = st ? sql_bind_child(b, t->position) : NULL;
	if (child == NULL)
		return false;
	/* A view sees nothing of the query it stands in. */
	child->nest.cte = NULL;
	child->around.up = NULL;
	b->plan->in_view++;
	b->plan->in_system++;
	sql_bind_may_flatten(b, child, st->select);
	bool ok = sql_bind_child_query(b, child, st->select);
	b->plan->in_system--;
	b->plan->in_view--;
	return ok && sql_bind_add_query(b, t, child) && sql_bind_made_by(b, is->oid);
}

bool
sql_bind_add_system(struct bind *b, const struct ast_table *t, bool *ok)
{
	enum sql_schema schema = t->information ? SQL_IN_INFORMATION : SQL_IN_CATALOG;
	const struct sql_relation *is = sql_relation_find(schema, t->name);
	if (is == NULL || b->in->cat == NULL)
		return false;
	*ok = sql_bind_only_read(b, t) && (is->view != NULL ? view(b, t, is) : rows(b, t, is));
	return true;
}

bool
sql_bind_system_known(struct bind *b, const struct ast_table *t, const struct cat_table *tab)
{
	/* Views of PostgreSQL's information schema. */
	static const char *const information[] = { "administrable_role_authorizations", "attributes",
		"check_constraint_routine_usage", "collation_character_set_applicability", "collations",
		"column_column_usage", "column_domain_usage", "column_options", "column_privileges",
		"column_udt_usage", "data_type_privileges", "domain_udt_usage", "element_types",
		"foreign_data_wrapper_options", "foreign_data_wrappers", "foreign_server_options",
		"foreign_servers", "foreign_table_options", "foreign_tables", "parameters",
		"role_column_grants", "role_routine_grants", "role_udt_grants", "role_usage_grants",
		"routine_column_usage", "routine_privileges", "routine_routine_usage",
		"routine_sequence_usage", "routine_table_usage", "sql_features", "sql_implementation_info",
		"sql_parts", "sql_sizing", "transforms", "triggered_update_columns", "udt_privileges",
		"usage_privileges", "user_defined_types", "user_mapping_options", "user_mappings",
		"view_column_usage", "view_routine_usage", "view_table_usage" };
	for (unsigned k = 0; t->information && k < sizeof information / sizeof *information; k++)
		if (strcmp(information[k], t->name) == 0)
			return sql_bind_fail(
			    b, t->position, "0A000", "information_schema.%s is not supported yet", t->name);
	if ((tab == NULL || t->system) && !t->information && strncmp(t->name, "pg_", 3) == 0 &&
	    sql_postgres_has(sql_postgres_types, t->name))
		return sql_bind_fail(b, t->position, "0A000",
		    "PostgreSQL's system catalogs (%s) are not supported yet", t->name);
	if (t->information || (t->system && (tab == NULL || !tab->system)))
		return sql_bind_fail(b, t->position, "42P01", "relation \"%s.%s\" does not exist",
		    t->information ? "information_schema" : "pg_catalog", t->name);
	return true;
}
