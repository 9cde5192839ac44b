/* steps.c -- the steps of a statement whose WITH changes rows (plan/steps.c): each runs to its end
 * and keeps its rows, before the statement itself runs. */
#include <sql/dml/dml.h>
#include <sql/exec/rowset.h>
#include <sql/exec/state.h>

struct keeping {
	struct sql_rowset *rs;
	const struct cat_vec **col;
	bool full;
};

static bool
keep_rows(void *arg, const struct sql_batch_view *b)
{
	struct keeping *k = arg;
	for (unsigned c = 0; c < b->cols; c++)
		k->col[c] = &b->col[c];
	k->full = !sql_rowset_add(k->rs, k->col, sql_ident(), b->n);
	return !k->full;
}

static bool
run_step(struct sql_session *s, struct sql_step *step, const struct cat_datum *param, unsigned params,
    struct nam_arena *keep, struct cat_err *err)
{
	struct keeping k = { .rs = sql_rowset_open(keep, step->rows.type, step->columns) };
	const struct sql_sink ours = { .arg = &k, .rows = keep_rows };
	uint64_t rows;
	k.col = nam_arena_take(keep, (step->columns + 1u) * sizeof *k.col);
	if (step->rows.run == NULL)
		step->rows.run = nam_arena_take(&step->plan->arena, sizeof *step->rows.run);
	if (k.rs == NULL || k.col == NULL || step->rows.run == NULL)
		return sql_no_memory(err);
	const struct sql_sink *sink = s->x.sink;
	bool ok = sql_alone_begin(s, step->plan, keep, &ours, err);
	s->x.env.param = param;
	s->x.env.params = params;
	ok = ok && sql_plan_run(s, step->plan, &rows);
	if (!ok && k.full)
		sql_no_memory(err);
	s->upserts |= step->plan->conflict != NULL;
	sql_alone_end(s, step->plan);
	s->x.sink = sink;
	s->x.sent = 0; /* no client has seen them */
	step->rows.run->rs = k.rs;
	return ok;
}

bool
sql_steps_run(struct sql_session *s, struct sql_plan *p, const struct cat_datum *param, unsigned params,
    struct cat_err *err)
{
	struct nam_arena *keep = &p->steps->kept;
	if (p->kind == AST_SELECT && !sql_may_write(s, "SELECT", err))
		return false;
	nam_arena_reset(keep);
	nam_arena_charge(keep, &s->budget);
	for (struct sql_step *step = p->steps->first; step != NULL; step = step->next)
		if (!run_step(s, step, param, params, keep, err)) {
			sql_steps_end(p);
			return false;
		}
	return true;
}

void
sql_steps_end(struct sql_plan *p)
{
	nam_arena_reset(&p->steps->kept);
}
