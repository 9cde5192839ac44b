/* convert_dml.c -- parts of INSERT, UPDATE and DELETE that a select does not have: assignments, ON
 * CONFLICT, FROM and USING. */
#include <sql/parse/convert.h>

#include <stdio.h>

/* (a, b) = (x, y) becomes a = x, b = y. */
static const PgQuery__Node *
part_of_row(struct sql_convert *c, const PgQuery__MultiAssignRef *m, int location)
{
	const PgQuery__Node *s = m->source;
	if (s == NULL || s->node_case != PG_QUERY__NODE__NODE_ROW_EXPR) {
		if (s != NULL && s->node_case == PG_QUERY__NODE__NODE_SUB_LINK)
			sql_convert_no(c, "assigning several columns from a subquery is", location);
		else
			cat_error(c->err, "0A000",
			    "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() "
			    "expression");
		return NULL;
	}
	const PgQuery__RowExpr *r = s->row_expr;
	if (r->n_args != (size_t)m->ncolumns || m->colno < 1 || m->colno > m->ncolumns) {
		cat_error(c->err, "42601", "number of columns does not match number of values");
		c->err->position = r->location + 1;
		return NULL;
	}
	return r->args[m->colno - 1];
}

bool
sql_convert_sets(
    struct sql_convert *c, PgQuery__Node *const *list, size_t n, struct ast_target **out, unsigned *count)
{
	if ((*out = sql_convert_take(c, n * sizeof **out)) == NULL)
		return false;
	*count = (unsigned)n;
	for (size_t i = 0; i < n; i++) {
		const PgQuery__ResTarget *r = list[i]->res_target;
		struct ast_target *t = &(*out)[i];
		const PgQuery__Node *v = r->val;
		if (r->n_indirection > 0)
			return sql_convert_no(c, "assigning to a part of a column is", r->location);
		t->position = r->location >= 0 ? r->location + 1 : 0;
		if (v != NULL && v->node_case == PG_QUERY__NODE__NODE_MULTI_ASSIGN_REF)
			v = part_of_row(c, v->multi_assign_ref, r->location);
		if (v == NULL || (t->name = sql_convert_str(c, r->name)) == NULL ||
		    (t->e = sql_convert_expr(c, v)) == NULL)
			return false;
	}
	return true;
}

static bool
inferred(struct sql_convert *c, const PgQuery__InferClause *s, struct ast_conflict *to)
{
	to->position = s->location >= 0 ? s->location + 1 : to->position;
	if (s->where_clause != NULL)
		return sql_convert_no(c, "ON CONFLICT over a partial index is", s->location);
	if (s->conname != NULL && s->conname[0])
		return (to->constraint = sql_convert_str(c, s->conname)) != NULL;
	to->names = (unsigned)s->n_index_elems;
	if ((to->name = sql_convert_take(c, to->names * sizeof *to->name)) == NULL)
		return false;
	for (unsigned i = 0; i < to->names; i++) {
		const PgQuery__IndexElem *e = s->index_elems[i]->index_elem;
		if (e->name == NULL || e->name[0] == 0)
			return sql_convert_no(c, "ON CONFLICT over an expression is", s->location);
		if (e->n_collation > 0 || e->n_opclass > 0)
			return sql_convert_no(
			    c, "a collation or operator class in ON CONFLICT is", s->location);
		if ((to->name[i] = sql_convert_str(c, e->name)) == NULL)
			return false;
	}
	return true;
}

bool
sql_convert_conflict(struct sql_convert *c, const PgQuery__OnConflictClause *s, struct ast_conflict **out)
{
	struct ast_conflict *to = sql_convert_take(c, sizeof *to);
	if (to == NULL)
		return false;
	*to = (struct ast_conflict){ .position = s->location >= 0 ? s->location + 1 : 0,
		.update = s->action == PG_QUERY__ON_CONFLICT_ACTION__ONCONFLICT_UPDATE };
	if (s->infer != NULL && !inferred(c, s->infer, to))
		return false;
	if (to->update && s->infer == NULL) {
		cat_error(c->err, "42601",
		    "ON CONFLICT DO UPDATE requires inference specification or constraint name");
		snprintf(c->err->hint, sizeof c->err->hint, "For example, ON CONFLICT (column_name).");
		c->err->position = to->position;
		return false;
	}
	if (!sql_convert_sets(c, s->target_list, s->n_target_list, &to->set, &to->sets))
		return false;
	if (s->where_clause != NULL && (to->where = sql_convert_expr(c, s->where_clause)) == NULL)
		return false;
	*out = to;
	return true;
}

/* The list after UPDATE's FROM or DELETE's USING, as a select that has nothing else. */
struct ast_select *
sql_convert_from(struct sql_convert *c, PgQuery__Node **list, size_t n)
{
	PgQuery__SelectStmt s = PG_QUERY__SELECT_STMT__INIT;
	s.from_clause = list;
	s.n_from_clause = n;
	return sql_convert_select(c, &s);
}

bool
sql_convert_prepare(struct sql_convert *c, const PgQuery__PrepareStmt *s, struct ast_stmt *st)
{
	st->kind = AST_PREPARE;
	st->ntypes = (unsigned)s->n_argtypes;
	if ((st->var = sql_convert_str(c, s->name)) == NULL ||
	    (st->types = sql_convert_take(c, st->ntypes * sizeof *st->types)) == NULL ||
	    (st->named = sql_convert_take(c, st->ntypes * sizeof *st->named)) == NULL)
		return false;
	for (unsigned i = 0; i < st->ntypes; i++) {
		int32_t typmod;
		if (s->argtypes[i]->node_case != PG_QUERY__NODE__NODE_TYPE_NAME)
			return sql_convert_no(c, "this kind of type is", -1);
		if (!sql_convert_type(c, s->argtypes[i]->type_name, &st->types[i], &typmod, &st->named[i]))
			return false;
	}
	/* Its parameters are its own. */
	unsigned params = c->params;
	c->params = 0;
	if ((st->inner = sql_convert_stmt(c, s->query)) == NULL)
		return false;
	st->inner->params = c->params > st->ntypes ? c->params : st->ntypes;
	c->params = params;
	return true;
}
