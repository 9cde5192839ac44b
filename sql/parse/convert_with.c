/* convert_with.c -- queries made of queries: WITH; UNION, INTERSECT and EXCEPT. */
#include <sql/parse/convert.h>

enum { SETS_MAX = 1000 };

bool
sql_convert_with(struct sql_convert *c, const PgQuery__WithClause *w, const struct ast_with **out)
{
	if (w == NULL)
		return true;
	struct ast_with *with = sql_convert_take(c, sizeof *with);
	if (with == NULL || (with->cte = sql_convert_take(c, w->n_ctes * sizeof *with->cte)) == NULL)
		return false;
	with->n = (unsigned)w->n_ctes;
	with->recursive = w->recursive;
	for (unsigned i = 0; i < with->n; i++) {
		const PgQuery__CommonTableExpr *e = w->ctes[i]->common_table_expr;
		struct ast_cte *o = &with->cte[i];
		o->position = e->location + 1;
		if (e->search_clause != NULL || e->cycle_clause != NULL)
			return sql_convert_no(c, "SEARCH and CYCLE are", e->location);
		o->materialize = e->ctematerialized == PG_QUERY__CTEMATERIALIZE__CTEMaterializeAlways;
		o->inlined = e->ctematerialized == PG_QUERY__CTEMATERIALIZE__CTEMaterializeNever;
		o->renames = (unsigned)e->n_aliascolnames;
		if ((o->name = sql_convert_str(c, e->ctename)) == NULL ||
		    (o->rename = sql_convert_take(c, o->renames * sizeof *o->rename)) == NULL)
			return false;
		for (unsigned k = 0; k < o->renames; k++)
			if ((o->rename[k] = sql_convert_str(c, sql_convert_word(e->aliascolnames[k]))) ==
			    NULL)
				return false;
		bool query = e->ctequery->node_case == PG_QUERY__NODE__NODE_SELECT_STMT;
		if (query ? (o->q = sql_convert_select(c, e->ctequery->select_stmt)) == NULL
			  : (o->change = sql_convert_stmt(c, e->ctequery)) == NULL)
			return false;
	}
	*out = with;
	return true;
}

bool
sql_convert_is_set(const PgQuery__SelectStmt *s)
{
	return s->op == PG_QUERY__SET_OPERATION__SETOP_UNION ||
	       s->op == PG_QUERY__SET_OPERATION__SETOP_INTERSECT ||
	       s->op == PG_QUERY__SET_OPERATION__SETOP_EXCEPT;
}

/* True if it continues the chain, as if without parentheses. */
static bool
goes_on(const PgQuery__SelectStmt *s)
{
	return sql_convert_is_set(s) && s->with_clause == NULL && s->n_sort_clause == 0 &&
	       s->limit_count == NULL && s->limit_offset == NULL && s->n_locking_clause == 0;
}

bool
sql_convert_set(struct sql_convert *c, const PgQuery__SelectStmt *s, struct ast_select *q)
{
	unsigned n = 2;
	for (const PgQuery__SelectStmt *l = s->larg; goes_on(l); l = l->larg)
		n++;
	if (n > SETS_MAX)
		return cat_error(c->err, "54001", "stack depth limit exceeded");
	const PgQuery__SelectStmt **part = sql_convert_take(c, n * sizeof *part);
	if (part == NULL || (q->set = sql_convert_take(c, n * sizeof *q->set)) == NULL)
		return false;
	q->sets = n;
	for (unsigned i = n; i-- > 1; s = s->larg) {
		part[i] = s->rarg;
		part[0] = s->larg;
		q->set[i].all = s->all;
		q->set[i].op = s->op == PG_QUERY__SET_OPERATION__SETOP_UNION       ? AST_UNION
			       : s->op == PG_QUERY__SET_OPERATION__SETOP_INTERSECT ? AST_INTERSECT
										   : AST_EXCEPT;
	}
	for (unsigned i = 0; i < n; i++) {
		const PgQuery__IntoClause *into = i > 0 ? sql_convert_into_of(part[i]) : NULL;
		if (into != NULL) {
			cat_error(c->err, "42601",
			    "INTO is only allowed on first SELECT of UNION/INTERSECT/EXCEPT");
			c->err->position = into->rel->location >= 0 ? into->rel->location + 1 : 0;
			return false;
		}
		if ((q->set[i].q = sql_convert_select(c, part[i])) == NULL)
			return false;
	}
	return true;
}
