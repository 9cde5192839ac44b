/* rows.c -- relations in FROM whose rows are made when the statement is bound: what namdb knows of
 * itself. */
#include <sql/plan/bind/bind.h>

#include <string.h>

enum { ROWS_FIRST = 64 };

bool
sql_bind_put(struct bind_rows *r, struct cat_datum d)
{
	if (r->at == 0 && r->n == r->cap) {
		unsigned cap = r->cap ? r->cap * 2 : ROWS_FIRST;
		struct sql_expr **more = sql_bind_take(r->b, (size_t)cap * r->cols * sizeof *more);
		if (more == NULL)
			return false;
		if (r->n > 0)
			memcpy(more, r->e, (size_t)r->n * r->cols * sizeof *more);
		r->e = more;
		r->cap = cap;
	}
	d.type = r->column[r->at].type;
	struct sql_expr *e = sql_expr_const(r->b->a, d, 0);
	if (e == NULL)
		return cat_error(r->b->err, "53200", "out of memory");
	r->e[(size_t)r->n * r->cols + r->at] = e;
	if (++r->at == r->cols) {
		r->at = 0;
		r->n++;
	}
	return true;
}

bool
sql_bind_put_text(struct bind_rows *r, const char *s)
{
	struct cat_datum d = { .null = s == NULL };
	if (s != NULL)
		d.v.s = (struct cat_str){ s, (uint32_t)strlen(s) };
	return sql_bind_put(r, d);
}

bool
sql_bind_only_read(struct bind *b, const struct ast_table *t)
{
	bool read = b->plan->kind == AST_SELECT || b->plan->tab != NULL || b->nest.level > 0;
	return read || sql_bind_fail(b, t->position, "42501", "permission denied for table %s", t->name);
}

bool
sql_bind_add_rows(struct bind_rows *r, const struct ast_table *t)
{
	struct sql_op_values *n = sql_new_values(r->b, NULL, r->cols);
	if (n == NULL)
		return false;
	n->e = r->e;
	n->cols = r->cols;
	n->rows = r->n;
	n->node.est_rows = r->n > 0 ? r->n : 1;
	return sql_bind_add_source(r->b, t, &n->node, r->column, r->cols);
}
