/* lateral.c -- LATERAL: runs the plan beside the child again for each row of the child. */
#include <sql/exec/meter.h>
#include <sql/exec/state.h>
#include <sql/plan/sub.h>

bool
sql_lateral_room(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_lateral *l = sql_op(lateral, n);
	l->run->need = nam_arena_zero(x->plan_arena, (l->sub->slots + 1) * sizeof *l->run->need);
	return l->run->need != NULL;
}

/* What the plan needs of the child's next batch. */
static int
next_batch(struct sql_exec *x, struct sql_op_lateral *l)
{
	struct sql_node *n = &l->node;
	struct sql_run_lateral *r = l->run;
	struct nam_arena *keep = x->arena[n->arena + 1];
	int rows = sql_next(x, n->child);
	if (rows <= 0)
		return rows;
	nam_arena_reset(keep);
	x->env.arena = keep;
	for (unsigned k = 0; k < l->sub->slots; k++)
		if (!sql_eval(
			l->sub->tied[k], &n->child->out, n->child->sel, (unsigned)rows, &x->env, &r->need[k]))
			return -1;
	r->rows = (unsigned)rows;
	r->at = 0;
	return rows;
}

/* The plan opened for row n->at. */
static bool
begin(struct sql_exec *x, struct sql_op_lateral *l)
{
	struct sql_node *n = &l->node;
	struct sql_run_lateral *r = l->run;
	const struct sql_sub *s = l->sub;
	unsigned row = sql_sel(n->child)[r->at];
	for (unsigned k = 0; k < s->slots; k++) {
		struct cat_datum *d = &x->outer[s->slot[k]];
		*d = (struct cat_datum){ .type = r->need[k].type, .null = r->need[k].null[row] };
		d->v = cat_vec_at(&r->need[k], row);
	}
	for (unsigned i = 0; i < s->narenas; i++)
		if (x->arena[s->arenas[i]]->used > 0)
			nam_arena_reset(x->arena[s->arenas[i]]);
	r->open = true;
	r->any = false;
	r->batch = r->next = 0;
	return sql_open(x, n->build);
}

/* Rows m, m + 1, ... of the answer: the child's row beside partners sel[0..take); none of them:
 * beside NULLs. */
static bool
put(struct sql_exec *x, struct sql_op_lateral *l, unsigned m, const uint16_t *sel, unsigned take)
{
	struct sql_node *n = &l->node;
	struct nam_arena *batch = x->arena[n->arena];
	const struct sql_access *a = &l->acc;
	unsigned row = sql_sel(n->child)[l->run->at], rows = take ? take : 1;
	for (unsigned k = 0; k < l->passes; k++) {
		const struct cat_vec *from = &n->child->out.col[l->pass[k]];
		union cat_val v = cat_vec_at(from, row);
		for (unsigned i = 0; i < rows; i++)
			cat_vec_set(&n->out.col[l->pass[k]], m + i, v, from->null[row]);
	}
	for (unsigned k = 0; k < a->wants; k++) {
		const struct cat_vec *from = &n->build->out.col[a->want[k]];
		struct cat_vec *to = &n->out.col[a->base + a->want[k]];
		if (take == 0) {
			cat_vec_set(to, m, (union cat_val){ .s = { "", 0 } }, true);
			continue;
		}
		for (unsigned i = 0; i < take; i++) {
			bool null = from->null[sel[i]];
			union cat_val v = { .i = 0 };
			if (!null)
				v = cat_value_copy(from->type, cat_vec_at(from, sel[i]), batch);
			if (!null && cat_type_is_str(from->type) && v.s.p == NULL)
				return sql_no_memory(x->err);
			cat_vec_set(to, m + i, v, null);
		}
	}
	return true;
}

/* As many partners of row n->at as fit behind m rows; -1 = an error; else the rows there are
 * then. */
static int
partners(struct sql_exec *x, struct sql_op_lateral *l, unsigned m)
{
	struct sql_node *n = &l->node;
	struct sql_run_lateral *r = l->run;
	if (!r->open && !begin(x, l))
		return -1;
	while (m < CAT_BATCH) {
		if (r->next == r->batch) {
			int rows = sql_next(x, n->build);
			if (rows < 0)
				return -1;
			r->next = 0;
			r->batch = (unsigned)rows;
			if (rows == 0)
				break;
		}
		unsigned take = r->batch - r->next;
		take = take < CAT_BATCH - m ? take : CAT_BATCH - m;
		if (!put(x, l, m, sql_sel(n->build) + r->next, take))
			return -1;
		r->next += take;
		if (l->on != NULL) { /* those that match move to the front */
			uint16_t *keep = n->selbuf;
			const uint16_t *ident = sql_ident();
			x->env.arena = x->arena[n->arena];
			n->out.n = m + take; /* as many as what is computed over them has room
					      * for */
			int pass = sql_filter(l->on, &n->out, ident + m, take, &x->env, keep);
			if (pass < 0)
				return -1;
			if (n->meter != NULL)
				n->meter->unpaired += take - (unsigned)pass;
			for (int i = 0; i < pass; i++) {
				if (keep[i] == m + (unsigned)i)
					continue;
				for (unsigned k = 0; k < l->acc.wants; k++) {
					struct cat_vec *v = &n->out.col[l->acc.base + l->acc.want[k]];
					cat_vec_set(
					    v, m + (unsigned)i, cat_vec_at(v, keep[i]), v->null[keep[i]]);
				}
			}
			take = (unsigned)pass;
		}
		r->any |= take > 0;
		m += take;
	}
	if (m == CAT_BATCH)
		return (int)m; /* there may be more */
	if (!r->any && l->keep_probe && !put(x, l, m++, NULL, 0))
		return -1;
	sql_close(x, n->build);
	r->open = false;
	r->at++;
	return (int)m;
}

static bool
room(struct sql_exec *x, struct sql_op_lateral *l)
{
	struct sql_node *n = &l->node;
	struct nam_arena *batch = x->arena[n->arena];
	const struct sql_access *a = &l->acc;
	nam_arena_reset(batch);
	for (unsigned k = 0; k < l->passes; k++)
		if (!cat_vec_take(&n->out.col[l->pass[k]], l->type[k], CAT_BATCH, batch))
			return sql_no_memory(x->err);
	for (unsigned k = 0; k < a->wants; k++)
		if (!cat_vec_take(
			&n->out.col[a->base + a->want[k]], a->tab->column[a->want[k]].type, CAT_BATCH, batch))
			return sql_no_memory(x->err);
	return true;
}

int
sql_lateral_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_lateral *l = sql_op(lateral, n);
	struct sql_run_lateral *r = l->run;
	while (true) {
		int m = 0;
		if (!room(x, l))
			return -1;
		while (m < CAT_BATCH) {
			if (r->at == r->rows) {
				if (m > 0 || r->ended)
					break; /* rows that are out use the child's batch */
				int rows = next_batch(x, l);
				if (rows < 0)
					return -1;
				r->ended = rows == 0;
				if (r->ended)
					r->rows = r->at = 0;
				continue;
			}
			if ((m = partners(x, l, (unsigned)m)) < 0 || !sql_go_on(x))
				return -1;
		}
		if (m == 0)
			return 0;
		n->out.n = (unsigned)m;
		n->sel = NULL;
		n->nsel = (unsigned)m;
		int kept = sql_keep(x, n);
		if (kept != 0)
			return kept;
	}
}
