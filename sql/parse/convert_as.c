/* convert_as.c -- CREATE TABLE ... AS and SELECT ... INTO: a query whose rows become a table. */
#include <sql/parse/convert.h>

const PgQuery__IntoClause *
sql_convert_into_of(const PgQuery__SelectStmt *s)
{
	while (sql_convert_is_set(s))
		s = s->larg;
	return s->into_clause;
}

bool
sql_convert_no_into(struct sql_convert *c, const PgQuery__IntoClause *into)
{
	cat_error(c->err, "42601", "SELECT ... INTO is not allowed here");
	c->err->position = into->rel->location >= 0 ? into->rel->location + 1 : 0;
	return false;
}

bool
sql_convert_on_commit(struct sql_convert *c, PgQuery__OnCommitAction what, struct ast_stmt *st)
{
	bool temp = st->table.temp || (st->table.in != NULL && strcmp(st->table.in, "pg_temp") == 0);
	if (what > PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_NOOP && !temp)
		return cat_error(c->err, "42P16", "ON COMMIT can only be used on temporary tables");
	st->on_commit = what == PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_DELETE_ROWS ? 'd'
			: what == PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_DROP      ? 'x'
										 : 0;
	return true;
}

static bool
into(struct sql_convert *c, const PgQuery__IntoClause *k, struct ast_stmt *st)
{
	st->kind = AST_CREATE_AS;
	st->no_data = k->skip_data;
	if (!sql_convert_range(c, k->rel, &st->table))
		return false;
	if (k->table_space_name != NULL && k->table_space_name[0])
		return sql_convert_no(c, "tablespaces are", -1);
	if (k->access_method != NULL && k->access_method[0])
		return sql_convert_no(c, "access methods are", -1);
	if (!sql_convert_on_commit(c, k->on_commit, st))
		return false;
	if (!sql_convert_table_options(c, k->options, k->n_options, st))
		return false;
	st->nnames = (unsigned)k->n_col_names;
	if ((st->names = sql_convert_take(c, st->nnames * sizeof *st->names)) == NULL)
		return false;
	for (unsigned i = 0; i < st->nnames; i++)
		if ((st->names[i] = sql_convert_str(c, sql_convert_word(k->col_names[i]))) == NULL)
			return false;
	return true;
}

bool
sql_convert_create_as(struct sql_convert *c, const PgQuery__CreateTableAsStmt *s, struct ast_stmt *st)
{
	st->if_exists = s->if_not_exists;
	if (s->objtype != PG_QUERY__OBJECT_TYPE__OBJECT_TABLE)
		return sql_convert_no(c, "materialized views are", -1);
	if (s->query->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
		return sql_convert_no(c, "CREATE TABLE ... AS EXECUTE is", -1);
	return into(c, s->into, st) && (st->select = sql_convert_select(c, s->query->select_stmt)) != NULL;
}

bool
sql_convert_query(struct sql_convert *c, const PgQuery__SelectStmt *s, struct ast_stmt *st)
{
	const PgQuery__IntoClause *k = sql_convert_into_of(s);
	st->kind = AST_SELECT;
	if (k != NULL && !into(c, k, st))
		return false;
	c->into = k;
	return (st->select = sql_convert_select(c, s)) != NULL;
}
