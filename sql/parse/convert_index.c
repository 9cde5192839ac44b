/* convert_index.c -- CREATE INDEX and UNIQUE constraints to sql's tree. */
#include <sql/parse/convert.h>

#include <string.h>

/* Room for one more index of the statement. */
static struct ast_index *
more(struct sql_convert *c, struct ast_stmt *st)
{
	if (st->indexes == st->index_cap) {
		unsigned cap = st->index_cap ? 2 * st->index_cap : 4;
		struct ast_index *all = sql_convert_take(c, cap * sizeof *all);
		if (all == NULL)
			return NULL;
		if (st->indexes > 0)
			memcpy(all, st->index, st->indexes * sizeof *all);
		st->index = all;
		st->index_cap = cap;
	}
	struct ast_index *ix = &st->index[st->indexes++];
	*ix = (struct ast_index){ 0 };
	return ix;
}

static bool
names(struct sql_convert *c, PgQuery__Node *const *list, size_t n, const char ***out, unsigned *count)
{
	*count = (unsigned)n;
	if ((*out = sql_convert_take(c, (n + 1) * sizeof **out)) == NULL)
		return false;
	for (size_t i = 0; i < n; i++) {
		const char *word = list[i]->node_case == PG_QUERY__NODE__NODE_INDEX_ELEM
				       ? list[i]->index_elem->name
				       : sql_convert_word(list[i]);
		if (word == NULL || word[0] == 0)
			return cat_error(
			    c->err, "0A000", "expressions are not supported in included columns");
		if (((*out)[i] = sql_convert_str(c, word)) == NULL)
			return false;
	}
	return true;
}

static bool
column(struct sql_convert *c, const PgQuery__IndexElem *e, struct ast_index_column *to)
{
	if (e->expr != NULL || e->name == NULL || e->name[0] == 0)
		return sql_convert_no(c, "an index on an expression is", -1);
	if (e->n_opclass > 0 || e->n_opclassopts > 0)
		return sql_convert_no(c, "operator classes are", -1);
	if (e->n_collation > 0)
		return sql_convert_no(c, "COLLATE in an index is", -1);
	to->desc = e->ordering == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
	to->nulls_first = e->nulls_ordering == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST ||
			  (e->nulls_ordering != PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_LAST && to->desc);
	return (to->name = sql_convert_str(c, e->name)) != NULL;
}

bool
sql_convert_index(struct sql_convert *c, const PgQuery__IndexStmt *s, struct ast_stmt *st)
{
	st->kind = AST_CREATE_INDEX;
	st->if_exists = s->if_not_exists;
	st->concurrently = s->concurrent;
	if (!sql_convert_range(c, s->relation, &st->table))
		return false;
	if (s->access_method != NULL && s->access_method[0] && strcmp(s->access_method, "btree") != 0)
		return sql_convert_no(c, "an access method other than btree is", -1);
	if (s->where_clause != NULL)
		return sql_convert_no(c, "a partial index is", -1);
	if (s->table_space != NULL && s->table_space[0])
		return sql_convert_no(c, "tablespaces are", -1);
	if (s->n_options > 0)
		return sql_convert_no(c, "options of an index are", -1);
	struct ast_index *ix = more(c, st);
	if (ix == NULL)
		return false;
	ix->unique = s->unique;
	ix->nulls_equal = s->nulls_not_distinct;
	ix->keys = (unsigned)s->n_index_params;
	if (s->idxname != NULL && s->idxname[0] && (ix->name = sql_convert_str(c, s->idxname)) == NULL)
		return false;
	if ((ix->key = sql_convert_take(c, (ix->keys + 1) * sizeof *ix->key)) == NULL)
		return false;
	for (unsigned i = 0; i < ix->keys; i++)
		if (!column(c, s->index_params[i]->index_elem, &ix->key[i]))
			return false;
	return names(c, s->index_including_params, s->n_index_including_params, &ix->include, &ix->includes);
}

bool
sql_convert_unique(
    struct sql_convert *c, const PgQuery__Constraint *k, struct ast_stmt *st, const char *beside)
{
	const char **name;
	unsigned n;
	if (k->deferrable || k->initdeferred)
		return sql_convert_no(c, "deferrable constraints are", k->location);
	if (k->indexname != NULL && k->indexname[0])
		return sql_convert_no(c, "UNIQUE USING INDEX is", k->location);
	struct ast_index *ix = more(c, st);
	if (ix == NULL || !names(c, k->keys, k->n_keys, &name, &n) ||
	    !names(c, k->including, k->n_including, &ix->include, &ix->includes))
		return false;
	ix->unique = ix->constraint = true;
	ix->nulls_equal = k->nulls_not_distinct;
	ix->keys = beside != NULL ? 1 : n;
	if (k->conname != NULL && k->conname[0] && (ix->name = sql_convert_str(c, k->conname)) == NULL)
		return false;
	if ((ix->key = sql_convert_take(c, (ix->keys + 1) * sizeof *ix->key)) == NULL)
		return false;
	for (unsigned i = 0; i < ix->keys; i++)
		ix->key[i] = (struct ast_index_column){ .name = beside != NULL ? beside : name[i] };
	return true;
}
