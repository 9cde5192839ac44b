/* plan_run.c -- a plan, from its first row to its last; and one beside another that runs. */
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

bool
sql_alone_begin(struct sql_session *s, struct sql_plan *p, struct nam_arena *arena,
    const struct sql_sink *sink, struct cat_err *err)
{
	struct nam_arena **mine = nam_arena_zero(arena, (p->arenas + 1) * sizeof *mine);
	sql_take_now(s, p);
	sql_prepare_exec(s, sink, err);
	s->x.arena = mine;
	if (mine == NULL)
		return sql_no_memory(err);
	for (unsigned i = 0; i < p->arenas; i++) {
		if ((mine[i] = nam_arena_zero(arena, sizeof **mine)) == NULL)
			return sql_no_memory(err);
		nam_arena_init(mine[i], 0);
		mine[i]->limit = (size_t)4 << 30;
		nam_arena_charge(mine[i], &s->budget);
	}
	return sql_sub_start(&s->x, p);
}

void
sql_alone_end(struct sql_session *s, struct sql_plan *p)
{
	for (unsigned i = 0; s->x.arena != NULL && i < p->arenas; i++)
		if (s->x.arena[i] != NULL)
			nam_arena_fini(s->x.arena[i]);
	s->x.arena = s->arena;
}
