/* index.c -- finds rows by an index, in its order. */
#include <sql/exec/state.h>

bool
sql_index_room(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_index *o = sql_op(index, n);
	o->run->tmp = nam_arena_zero(x->plan_arena, (o->acc.wants + 1) * sizeof *o->run->tmp);
	return o->run->tmp != NULL;
}

void
sql_index_end(struct sql_node *n)
{
	struct sql_run_index *r = sql_op(index, n)->run;
	if (r == NULL || r->range == NULL)
		return;
	txn_range_close(r->range);
	r->range = NULL;
}

/* An integer may be compared with a column of a narrower type that cannot have it. */
static bool
fits(enum cat_type type, int64_t i)
{
	return type == CAT_INT2   ? i >= INT16_MIN && i <= INT16_MAX
	       : type == CAT_INT4 ? i >= INT32_MIN && i <= INT32_MAX
				  : true;
}

/* The values of the key's first columns. *none: no row can have them. */
static bool
values(struct sql_exec *x, const struct sql_op_index *o, union cat_val *v, bool *none)
{
	const struct cat_index *ix = &o->acc.tab->index[o->index];
	*none = false;
	for (unsigned k = 0; k < o->keys; k++) {
		const struct sql_expr *e = o->key[k];
		struct cat_datum d;
		if (e->kind == SQL_CONST)
			d = e->value;
		else if (e->kind == SQL_PARAM && e->index < x->env.params)
			d = x->env.param[e->index];
		else if (!sql_eval_one(e, &x->env, &d))
			return false;
		v[k] = d.v;
		*none |= d.null || (cat_type_is_int(e->type) &&
				       !fits(o->acc.tab->column[ix->key[k].column].type, d.v.i));
	}
	return true;
}

static bool
begin(struct sql_exec *x, struct sql_op_index *o)
{
	struct sql_run_index *r = o->run;
	const struct cat_table *tab = o->acc.tab;
	struct nam_arena *keep = x->arena[o->node.arena + 1];
	uint64_t low[IDX_TREE_WORDS], high[IDX_TREE_WORDS];
	union cat_val v[CAT_KEY_MAX];
	x->env.arena = keep;
	r->opened = true;
	if (!values(x, o, v, &r->ended))
		return false;
	if (r->ended)
		return true;
	if ((r->rows = nam_arena_take(keep, CAT_BATCH * sizeof *r->rows)) == NULL)
		return sql_no_memory(x->err);
	struct cat_err why;
	if (!cat_index_prefix(tab, &tab->index[o->index], v, NULL, o->keys, low, high, keep, &why)) {
		/* No row has a key that is too long. */
		r->ended = strcmp(why.sqlstate, "54000") == 0;
		if (!r->ended)
			*x->err = why;
		return r->ended;
	}
	const struct idx_tree_range range = { .low = low, .high = high };
	nam_status st =
	    txn_range_open(x->t, (struct txn_table *)(uintptr_t)&tab->store, o->index, &range, &r->range);
	if (st == NAM_OK)
		return true;
	r->range = NULL;
	return sql_status(x->err, st, tab);
}

int
sql_index_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_index *o = sql_op(index, n);
	struct sql_run_index *r = o->run;
	if (!r->opened && !begin(x, o))
		return -1;
	while (!r->ended) {
		if (!sql_go_on(x))
			return -1;
		nam_arena_reset(x->arena[n->arena]);
		unsigned got;
		nam_status st = txn_range_next(r->range, r->rows, CAT_BATCH, &got);
		if (st != NAM_OK) {
			sql_status(x->err, st, o->acc.tab);
			return -1;
		}
		if (got == 0) {
			r->ended = true;
			break;
		}
		if (!sql_decode_rows(x, n, r->rows, got, r->tmp))
			return -1;
		int kept = sql_keep(x, n);
		if (kept != 0)
			return kept;
	}
	return 0;
}
