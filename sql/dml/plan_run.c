/* plan_run.c -- a plan, from its first row to its last. */
#include <sql/dml/dml.h>

static bool
query(struct sql_exec *x, struct sql_plan *p, uint64_t *rows)
{
	int n = -1;
	*rows = 0;
	if (sql_open(x, p->root))
		while ((n = sql_next(x, p->root)) > 0) {
			/* what must be moved goes where the last operator's batch lies */
			if (!sql_send(
				x, &p->root->out, p->root->sel, (unsigned)n, x->arena[p->root->arena])) {
				n = -1;
				break;
			}
			*rows += (unsigned)n;
		}
	sql_close(x, p->root);
	return n == 0;
}

bool
sql_plan_run(struct sql_session *s, struct sql_plan *p, uint64_t *rows)
{
	const char *what = p->kind == AST_INSERT   ? "INSERT"
			   : p->kind == AST_UPDATE ? "UPDATE"
			   : p->kind == AST_DELETE ? "DELETE"
			   : p->locks              ? "SELECT FOR UPDATE"
						   : NULL;
	if (what != NULL && !sql_may_write(s, what, s->x.err))
		return false;
	if (p->kind == AST_SELECT)
		return query(&s->x, p, rows);
	bool ok = sql_dml(&s->x, p, rows);
	if (ok && *rows >= SQL_MANY && p->kind != AST_UPDATE)
		cat_rows_moved(s->cfg.cat, p->tab, p->kind == AST_INSERT ? (int64_t)*rows : -(int64_t)*rows);
	if (p->root != NULL)
		sql_close(&s->x, p->root);
	return ok;
}
