/* series.c -- generate_series over numerics and timestamps; integers: from.c. */
#include <sql/exec/state.h>
#include <types/interval.h>
#include <types/numeric.h>

static bool
numeric(struct sql_exec *x, const struct cat_datum d[3])
{
	static const char *const what[] = { "start value", "stop value", "step size" };
	for (unsigned k = 0; k < 3; k++) {
		struct cat_str v = d[k].v.s;
		if (cat_num_is_nan(v))
			return cat_error(x->err, "22023", "%s cannot be NaN", what[k]);
		if (cat_num_is_inf(v))
			return cat_error(x->err, "22023", "%s cannot be infinity", what[k]);
	}
	return true;
}

/* From, to and by: from lives in the arena behind the batch's, the others behind that. */
static bool
begin(struct sql_exec *x, const struct sql_op_series *s)
{
	struct sql_run_series *r = s->run;
	struct nam_arena *keep = x->arena[s->node.arena + 2];
	struct cat_datum *d = r->held;
	bool num = s->type == CAT_NUMERIC;
	nam_arena_reset(keep);
	x->env.arena = keep;
	r->ordinal = 0;
	r->opened = true;
	for (unsigned k = 0; k < s->es; k++) {
		if (!sql_eval_one(s->e[k], &x->env, &d[k]))
			return false;
		r->ended |= d[k].null;
	}
	if (r->ended)
		return true;
	if (s->es < 3 && !cat_num_from_int(1, &d[2].v.s, keep, x->err))
		return false;
	if (num && !numeric(x, d))
		return false;
	__int128 span = num ? 0 : cat_interval_span(cat_interval_load(d[2].v.s));
	r->step = num ? cat_num_sign(d[2].v.s) : span < 0 ? -1 : span > 0;
	return r->step != 0 || cat_error(x->err, "22023", "step size cannot equal zero");
}

int
sql_series_more(struct sql_exec *x, struct sql_op_series *s)
{
	struct sql_node *n = &s->node;
	struct sql_run_series *r = s->run;
	struct nam_arena *batch = x->arena[n->arena], *keep = x->arena[n->arena + 1];
	struct cat_datum *d = r->held;
	enum cat_type type = s->type;
	bool num = type == CAT_NUMERIC;
	nam_arena_reset(batch);
	if ((!r->opened && !begin(x, s)) || (!r->ended && !sql_go_on(x)))
		return -1;
	if (r->ended)
		return 0;
	if (!cat_vec_take(&n->out.col[0], type, CAT_BATCH, batch) ||
	    (n->out.cols > 1 && !cat_vec_take(&n->out.col[1], CAT_INT8, CAT_BATCH, batch))) {
		sql_no_memory(x->err);
		return -1;
	}
	/* the rows of this batch may not point to what is kept for the next one */
	if (num)
		d[0].v = cat_value_copy(type, d[0].v, batch);
	if (num && d[0].v.s.p == NULL) {
		sql_no_memory(x->err);
		return -1;
	}
	unsigned m = 0;
	for (; m < CAT_BATCH && !r->ended; m++) {
		int c = cat_value_cmp(type, d[0].v, d[1].v);
		if (r->step > 0 ? c > 0 : c < 0) {
			r->ended = true;
			break;
		}
		cat_vec_set(&n->out.col[0], m, d[0].v, false);
		if (n->out.cols > 1)
			cat_vec_set(&n->out.col[1], m, (union cat_val){ .i = (int64_t)++r->ordinal }, false);
		if (num ? !cat_num_add(d[0].v.s, d[2].v.s, &d[0].v.s, batch, x->err)
			: !cat_timestamp_add(d[0].v.i, cat_interval_load(d[2].v.s), &d[0].v.i, x->err))
			return -1;
	}
	if (num && !r->ended) {
		nam_arena_reset(keep);
		d[0].v = cat_value_copy(type, d[0].v, keep);
		if (d[0].v.s.p == NULL) {
			sql_no_memory(x->err);
			return -1;
		}
	}
	n->out.n = m;
	n->sel = NULL;
	n->nsel = m;
	return (int)m;
}
