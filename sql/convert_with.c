/* convert_with.c -- WITH. */
#include "convert.h"

bool
sql_convert_with(struct sql_convert *c, const PgQuery__WithClause *w, const struct ast_with **out)
{
	if (w == NULL)
		return true;
	if (w->recursive)
		return sql_convert_no(c, "WITH RECURSIVE is", w->location);
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
		if (e->ctequery->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
			return sql_convert_no(c, "data-modifying statements in WITH are", e->location);
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
		if ((o->q = sql_convert_select(c, e->ctequery->select_stmt)) == NULL)
			return false;
	}
	*out = with;
	return true;
}
