/*
 * lock.c -- FOR UPDATE: which rows a query locks.
 *
 * A table whose rows are locked has two more columns in the wide batch, the address of its row and
 * the CID of the version found. They go through joins, projection and sort like any other, to the
 * operator that locks.
 */
#include <catalog/acl.h>
#include <sql/plan/bind/bind.h>

enum { ROW_COLUMNS = 2 };

static bool
refused(struct bind *b, int position, const char *what, const char *why)
{
	return sql_bind_fail(b, position, "0A000", "%s %s", what, why);
}

static bool
one(struct bind *b, unsigned k, const struct ast_lock *l, int position)
{
	struct bind_table *t = b->from.table[k];
	bool named = l->ofs > 0;
	if (t->ast->func != NULL)
		return !named || refused(b, position, l->what, "cannot be applied to a function");
	if (t->view)
		return refused(b, position, l->what, "over a view is not supported yet");
	if (t->ast->sub != NULL)
		return true; /* it has clauses of its own for that */
	if (t->sub != NULL || t->from != NULL)
		return !named || refused(b, position, l->what, "cannot be applied to a WITH query");
	if (t->tab->system)
		return sql_bind_fail(
		    b, position, "42501", "permission denied for table %s", cat_local(t->tab->path));
	if (t->row_at != 0)
		return true;
	if (!sql_bind_need(b, t->tab, CAT_MAY_UPDATE))
		return false;
	if (b->from.rows_at == 0)
		b->from.rows_at = b->from.width;
	t->row_at = b->from.width;
	b->from.width += ROW_COLUMNS;
	return true;
}

bool
sql_bind_locks(struct bind *b, const struct ast_select *q)
{
	if (q->locks == 0)
		return true;
	const char *what = q->lock[0].what;
	if (q->having != NULL)
		return refused(b, 0, what, "is not allowed with HAVING clause");
	if (b->agg.grouped)
		return refused(b, 0, what, "is not allowed with aggregate functions");
	if (b->win.all != NULL)
		return refused(b, 0, what, "is not allowed with window functions");
	if (b->srf.all != NULL && b->srf.all->sets > 0)
		return refused(b, 0, what, "is not allowed with set-returning functions in the target list");
	for (unsigned i = 0; i < q->locks; i++) {
		const struct ast_lock *l = &q->lock[i];
		for (unsigned k = 0; k < b->from.tables; k++) {
			bool meant = l->ofs == 0;
			int position = 0;
			for (unsigned n = 0; n < l->ofs; n++)
				if (strcmp(l->of[n], b->from.table[k]->ast->alias) == 0) {
					meant = true;
					position = l->of_at[n];
				}
			if (meant && !one(b, k, l, position))
				return false;
		}
	}
	return true;
}

/* Rows that an outer join may make up cannot be locked. */
static bool
nullable(const struct bind *b, unsigned k)
{
	bool yes = false;
	for (unsigned i = 0; i < b->joins.outers; i++) {
		const struct bind_outer *o = &b->joins.outer[i];
		if (k < o->first || k > o->last || o->kind == AST_JOIN_INNER)
			continue;
		yes |= o->kind == AST_JOIN_FULL || (o->kind == AST_JOIN_LEFT) == (k >= o->mid);
	}
	return yes;
}

struct sql_op_lock *
sql_bind_lock_node(struct bind *b, const struct ast_select *q, struct sql_node *child, unsigned first)
{
	struct sql_op_lock *n = sql_new_lock(b, child, child->out.cols);
	if (n == NULL || (n->lock = sql_bind_take(b, b->from.tables * sizeof *n->lock)) == NULL)
		return NULL;
	for (unsigned k = 0; k < b->from.tables; k++) {
		const struct bind_table *t = b->from.table[k];
		if (t->row_at == 0)
			continue;
		if (nullable(b, k)) {
			refused(
			    b, 0, q->lock[0].what, "cannot be applied to the nullable side of an outer join");
			return NULL;
		}
		struct sql_lock *to = &n->lock[n->locks++];
		*to = (struct sql_lock){ .tab = t->tab, .col = first + (t->row_at - b->from.rows_at) };
		for (unsigned i = 0; i < q->locks; i++) {
			bool meant = q->lock[i].ofs == 0;
			for (unsigned m = 0; m < q->lock[i].ofs; m++)
				meant |= strcmp(q->lock[i].of[m], t->ast->alias) == 0;
			if (meant && (unsigned)q->lock[i].wait > to->wait)
				to->wait = (uint8_t)q->lock[i].wait;
		}
	}
	n->node.est_rows = child->est_rows;
	return n;
}
