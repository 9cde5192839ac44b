/* agg.c -- GROUP BY and DISTINCT: groups (group.c), their states beside them. */
#include <sql/exec/gather.h>
#include <sql/exec/groups.h>
#include <sql/exec/state.h>

static bool
add_state(struct sql_exec *x, struct sql_op_agg *o, uint32_t group)
{
	if (o->aggs == 0)
		return true;
	struct nam_arena *keep = x->arena[o->node.arena + 1];
	unsigned i = group / CAT_BATCH;
	if (group % CAT_BATCH != 0)
		return true;
	if (i % 64 == 0) { /* room for 64 more chunks */
		char **more = nam_arena_take(keep, (i + 64) * sizeof *more);
		if (more == NULL)
			return sql_no_memory(x->err);
		if (i)
			memcpy(more, o->run->state, i * sizeof *more);
		o->run->state = more;
	}
	size_t bytes = (size_t)o->aggs * SQL_AGG_BYTES * (o->keys ? CAT_BATCH : 1);
	if ((o->run->state[i] = nam_arena_zero(keep, bytes)) == NULL)
		return sql_no_memory(x->err);
	return true;
}

static void *
state_of(char *const *chunk, unsigned aggs, uint32_t group, unsigned agg)
{
	return chunk[group / CAT_BATCH] + ((size_t)(group % CAT_BATCH) * aggs + agg) * SQL_AGG_BYTES;
}

/* States for all groups there are. */
static bool
add_states(struct sql_exec *x, struct sql_op_agg *o)
{
	for (; o->run->groups < o->run->set->n; o->run->groups++)
		if (!add_state(x, o, o->run->groups))
			return false;
	return true;
}

static bool
add(struct sql_exec *x, const struct sql_agg *g, const struct cat_vec *arg, const struct cat_vec *separator,
    const uint16_t *sel, unsigned n, void **state, struct nam_arena *keep)
{
	if (g->kind == SQL_STRING_AGG)
		return sql_agg_add_text(arg, separator, sel, n, state, keep, x->err);
	return sql_agg_add(g->kind, g->arg_type, arg, sel, n, state, keep, x->err);
}

/* DISTINCT where the order of values cannot show. Rows some[0..m) of v, a group and a value each:
 * those that are new are seen, and added. */
static bool
add_new(struct sql_exec *x, struct sql_op_agg *o, unsigned a, const struct cat_vec *v, uint16_t *some,
    unsigned m, void **state)
{
	struct sql_groups *seen = o->run->later[a].seen;
	uint32_t *id = nam_arena_take(x->arena[o->node.arena], m * sizeof *id), next = seen->n;
	unsigned fresh = 0;
	/* without groups the value alone is the key */
	if (id == NULL || !sql_groups_find(seen, o->keys > 0 ? v : v + 1, some, m, id))
		return sql_no_memory(x->err);
	for (unsigned k = 0; k < m; k++) {
		if (id[k] != next)
			continue;
		next++;
		state[fresh] = state_of(o->run->state, o->aggs, (uint32_t)v[0].i[some[k]], a);
		some[fresh++] = some[k];
	}
	return add(x, &o->agg[a], &v[1], NULL, some, fresh, state, x->arena[o->node.arena + 1]);
}

static bool
add_values(struct sql_exec *x, struct sql_op_agg *o, unsigned a, const uint16_t *sel, unsigned rows,
    const uint32_t *group, void **state)
{
	struct nam_arena *batch = x->arena[o->node.arena];
	struct cat_vec v[2];
	uint16_t *some = nam_arena_take(batch, rows * sizeof *some);
	if (some == NULL || !cat_vec_take(&v[0], CAT_INT8, CAT_BATCH, batch))
		return sql_no_memory(x->err);
	if (!sql_eval(o->agg[a].arg, &o->node.child->out, sel, rows, &x->env, &v[1]))
		return false;
	unsigned m = 0;
	for (unsigned k = 0; k < rows; k++) {
		v[0].i[sel[k]] = group[k];
		v[0].null[sel[k]] = 0;
		some[m] = sel[k];
		m += !v[1].null[sel[k]];
	}
	return add_new(x, o, a, v, some, m, state);
}

static bool
add_decimals(struct sql_exec *x, struct sql_op_agg *o, unsigned a, const struct sql_decimal *d,
    const uint16_t *sel, unsigned rows, const uint32_t *group, void **state)
{
	struct nam_arena *keep = x->arena[o->node.arena + 1];
	if (o->keys == 0)
		return sql_agg_add_decimal_all(
		    d, sel, rows, state_of(o->run->state, o->aggs, 0, a), keep, x->err);
	for (unsigned r = 0; r < rows; r++)
		state[r] = state_of(o->run->state, o->aggs, group[r], a);
	return sql_agg_add_decimal(d, sel, rows, state, keep, x->err);
}

/* Rows sel[0..rows) of the child's batch, in these groups, for aggregate a. memo: of these rows. */
static bool
add_rows(struct sql_exec *x, struct sql_op_agg *o, unsigned a, const uint16_t *sel, unsigned rows,
    const uint32_t *group, void **state, struct sql_decimals *memo)
{
	const struct sql_agg *g = &o->agg[a];
	const struct sql_batch *in = &o->node.child->out;
	struct nam_arena *keep = x->arena[o->node.arena + 1], *batch = x->arena[o->node.arena];
	if (g->filter != NULL) {
		uint16_t *pass = nam_arena_take(batch, rows * sizeof *pass);
		uint32_t *mine = nam_arena_take(batch, rows * sizeof *mine);
		if (pass == NULL || mine == NULL)
			return sql_no_memory(x->err);
		int m = sql_filter(g->filter, in, sel, rows, &x->env, pass);
		if (m < 0)
			return false;
		for (unsigned k = 0, r = 0; k < (unsigned)m; k++, r++) {
			while (sel[r] != pass[k])
				r++;
			mine[k] = group[r];
		}
		sel = pass;
		group = mine;
		rows = (unsigned)m;
		if (rows == 0)
			return true;
	}
	if (g->later && o->run->later[a].seen != NULL)
		return add_values(x, o, a, sel, rows, group, state);
	if (g->later) {
		struct cat_vec *v = nam_arena_take(batch, (g->cols + 1) * sizeof *v);
		const struct cat_vec **col = nam_arena_take(batch, (g->cols + 1) * sizeof *col);
		if (v == NULL || col == NULL || !cat_vec_take(&v[0], CAT_INT8, CAT_BATCH, batch))
			return sql_no_memory(x->err);
		for (unsigned k = 0; k < rows; k++) {
			v[0].i[sel[k]] = group[k];
			v[0].null[sel[k]] = 0;
		}
		for (unsigned c = 0; c < g->cols; c++)
			if (!sql_eval(g->col[c], in, sel, rows, &x->env, &v[c + 1]))
				return false;
		for (unsigned c = 0; c <= g->cols; c++)
			col[c] = &v[c];
		return sql_rowset_add(o->run->later[a].rs, col, sel, rows) || sql_no_memory(x->err);
	}
	if ((g->kind == SQL_SUM || g->kind == SQL_AVG) && g->arg_type == CAT_NUMERIC) {
		struct sql_decimal d;
		if (sql_decimal(g->arg, in, sel, rows, &x->env, g->filter == NULL ? memo : NULL, &d))
			return add_decimals(x, o, a, &d, sel, rows, group, state);
	}
	struct cat_vec arg, separator;
	if ((g->arg != NULL && !sql_eval(g->arg, in, sel, rows, &x->env, &arg)) ||
	    (g->separator != NULL && !sql_eval(g->separator, in, sel, rows, &x->env, &separator)))
		return false;
	if (o->keys == 0 && g->kind != SQL_STRING_AGG)
		return sql_agg_add_all(g->kind, g->arg_type, g->arg ? &arg : NULL, sel, rows,
		    state_of(o->run->state, o->aggs, 0, a), keep, x->err);
	char *const *chunk = o->run->state;
	for (unsigned r = 0; r < rows; r++)
		state[r] = state_of(chunk, o->aggs, group[r], a);
	return add(x, g, g->arg ? &arg : NULL, &separator, sel, rows, state, keep);
}

/* DISTINCT and ORDER BY: the rows kept, sorted by group and then by what was asked; of equal ones
 * the first. */
static bool
add_later(struct sql_exec *x, struct sql_op_agg *o, unsigned a)
{
	const struct sql_agg *g = &o->agg[a];
	const struct sql_rowset *rs = o->run->later[a].rs;
	struct nam_arena *keep = x->arena[o->node.arena + 1], *batch = x->arena[o->node.arena];
	uint32_t *perm, *row = nam_arena_take(keep, CAT_BATCH * sizeof *row), last = UINT32_MAX;
	void **state = nam_arena_take(keep, CAT_BATCH * sizeof *state);
	perm = nam_arena_take(keep, ((size_t)rs->rows + 1) * sizeof *perm);
	if (row == NULL || state == NULL || perm == NULL)
		return sql_no_memory(x->err);
	for (uint32_t r = 0; r < rs->rows; r++)
		perm[r] = r;
	if (!sql_sort_perm(x, rs, g->key, g->keys, perm, keep))
		return false;
	for (uint32_t at = 0; at < rs->rows;) {
		unsigned m = 0;
		for (; at < rs->rows && m < CAT_BATCH; at++) {
			uint32_t r = perm[at];
			if (g->distinct && last != UINT32_MAX &&
			    sql_sort_cmp(rs, g->key, g->keys, last, r) == 0)
				continue;
			last = r;
			state[m] = state_of(o->run->state, o->aggs, (uint32_t)sql_rowset_at(rs, r, 0).i, a);
			row[m++] = r;
		}
		nam_arena_reset(batch);
		struct cat_vec arg, separator;
		if (!sql_rowset_gather(rs, 1, row, m, &arg, batch) ||
		    (g->separator != NULL && !sql_rowset_gather(rs, 2, row, m, &separator, batch)))
			return sql_no_memory(x->err);
		if (!add(x, g, &arg, &separator, sql_ident(), m, state, keep) || !sql_go_on(x))
			return false;
	}
	return true;
}

/* Of no rows there is still the group of each grouping set without keys. */
static bool
add_grand(struct sql_exec *x, struct sql_op_agg *o, struct cat_vec *key)
{
	struct nam_arena *keep = x->arena[o->node.arena + 1];
	const struct sql_op_expand *expand = sql_op(expand, o->node.child);
	uint32_t group;
	for (unsigned k = 0; k + 1 < o->keys; k++)
		if (!sql_nulls(&key[k], o->key[k]->type, 1, keep))
			return sql_no_memory(x->err);
	if (!cat_vec_take(&key[o->keys - 1], CAT_INT8, 1, keep))
		return sql_no_memory(x->err);
	for (unsigned s = 0; s < expand->sets; s++) {
		cat_vec_set(&key[o->keys - 1], 0, (union cat_val){ .i = s }, false);
		if (sql_expand_grand(expand, s) &&
		    !(sql_group_find(x, o, key, sql_ident(), 1, &group) && add_states(x, o)))
			return false;
	}
	return true;
}

static bool
open_later(struct sql_exec *x, struct sql_op_agg *o, unsigned a)
{
	const struct sql_agg *g = &o->agg[a];
	struct sql_run_later *l = &o->run->later[a];
	struct nam_arena *keep = x->arena[o->node.arena + 1];
	l->seen = NULL;
	l->rs = NULL;
	if (sql_agg_is_set(g)) {
		l->seen = nam_arena_take(keep, sizeof *l->seen);
		return (l->seen != NULL && sql_groups_open(l->seen, keep,
					       o->keys > 0 ? g->types : g->types + 1, o->keys > 0 ? 2 : 1)) ||
		       sql_no_memory(x->err);
	}
	return (l->rs = sql_rowset_open(keep, g->types, g->cols + 1)) != NULL || sql_no_memory(x->err);
}

/* ---- groups in parts ----------------------------------------------------------------- */

/*
 * A record:  | GROUPS : 32 | number of its first group : 32 | keys of groups | for each group, the
 * states of its aggregates, but for those that are a set |. Behind all groups of a worker, the
 * sets:  | number of the aggregate : 32 | values, with their groups' numbers if there are keys |.
 */
static const uint32_t GROUPS = UINT32_MAX;

static bool
is_set(const struct sql_op_agg *o, unsigned a)
{
	return o->run->later[a].seen != NULL;
}

/* Groups first..first+m-1. */
static bool
put_groups(struct sql_exec *x, struct sql_op_agg *o, uint32_t first, unsigned m, struct sql_bytes *w)
{
	struct nam_arena *batch = x->arena[o->node.arena];
	const struct cat_vec *key = o->keys > 0 ? o->run->set->rs->chunk[first / CAT_BATCH] : NULL;
	if (!sql_bytes_put(w, &GROUPS, sizeof GROUPS) || !sql_bytes_put(w, &first, sizeof first) ||
	    !sql_rows_put(w, key, NULL, o->keys, sql_ident(), m))
		return sql_no_memory(x->err);
	for (unsigned k = 0; k < m; k++)
		for (unsigned a = 0; a < o->aggs; a++)
			if (!is_set(o, a) &&
			    !sql_agg_put(o->agg[a].kind, o->agg[a].arg_type,
				state_of(o->run->state, o->aggs, first + k, a), w, batch, x->err))
				return false;
	return true;
}

/* Values first..first+m-1 of aggregate a. */
static bool
put_values(struct sql_exec *x, const struct sql_op_agg *o, unsigned a, uint32_t first, unsigned m,
    struct sql_bytes *w)
{
	const struct sql_rowset *rs = o->run->later[a].seen->rs;
	uint32_t number = a;
	return (sql_bytes_put(w, &number, sizeof number) &&
		   sql_rows_put(w, rs->chunk[first / CAT_BATCH], NULL, rs->cols, sql_ident(), m)) ||
	       sql_no_memory(x->err);
}

static bool
damaged(struct sql_exec *x)
{
	return cat_error(x->err, "XX001", "groups of another worker are damaged");
}

/* Their groups first..first+m-1 are these here: for their sets. */
static bool
note_groups(struct sql_exec *x, struct sql_op_agg *o, uint32_t first, const uint32_t *group, unsigned m)
{
	struct sql_run_theirs *t = &o->run->theirs;
	if (first > UINT32_MAX - CAT_BATCH || (first > 0 && first != t->n && first + m != t->n))
		return damaged(x);
	if (first + m > t->cap) {
		size_t cap = ((size_t)first + m) * 2;
		uint32_t *more = nam_arena_take(x->arena[o->node.arena + 1], cap * sizeof *more);
		if (more == NULL)
			return sql_no_memory(x->err);
		if (first > 0)
			memcpy(more, t->group, first * sizeof *more);
		t->group = more;
		t->cap = cap;
	}
	memcpy(t->group + first, group, m * sizeof *group);
	t->n = first + m;
	return true;
}

/* Groups of another worker's share are added to those here. */
static bool
merge_groups(struct sql_exec *x, struct sql_op_agg *o, struct sql_bytes_in *c)
{
	struct nam_arena *keep = x->arena[o->node.arena + 1], *batch = x->arena[o->node.arena];
	unsigned m = 0;
	uint32_t first, *group = nam_arena_zero(batch, CAT_BATCH * sizeof *group);
	struct cat_vec *key = nam_arena_take(batch, (o->keys + 1) * sizeof *key);
	if (group == NULL || key == NULL)
		return sql_no_memory(x->err);
	if (!sql_bytes_get(c, &first, sizeof first))
		return damaged(x);
	nam_status st = sql_rows_get(c, key, NULL, o->keys, &m, batch);
	if (st != NAM_OK)
		return st == NAM_NOMEM ? sql_no_memory(x->err) : damaged(x);
	if (o->keys > 0 && !sql_groups_find(o->run->set, key, sql_ident(), m, group))
		return sql_no_memory(x->err);
	if (o->keys > 0 && !(add_states(x, o) && note_groups(x, o, first, group, m)))
		return false;
	for (unsigned k = 0; k < m; k++)
		for (unsigned a = 0; a < o->aggs; a++)
			if (!is_set(o, a) &&
			    !sql_agg_merge(o->agg[a].kind, o->agg[a].arg_type,
				state_of(o->run->state, o->aggs, group[k], a), c, keep, x->err))
				return false;
	return true;
}

/* So are values of aggregate a, a set. */
static bool
merge_values(struct sql_exec *x, struct sql_op_agg *o, unsigned a, struct sql_bytes_in *c)
{
	struct nam_arena *batch = x->arena[o->node.arena];
	const struct sql_run_theirs *t = &o->run->theirs;
	struct cat_vec v[2];
	unsigned m = 0, keyed = o->keys > 0;
	uint16_t *some = nam_arena_take(batch, CAT_BATCH * sizeof *some);
	void **state = nam_arena_take(batch, CAT_BATCH * sizeof *state);
	if (some == NULL || state == NULL || !cat_vec_take(&v[0], CAT_INT8, CAT_BATCH, batch))
		return sql_no_memory(x->err);
	nam_status st = sql_rows_get(c, keyed ? v : v + 1, NULL, 1 + keyed, &m, batch);
	if (st == NAM_NOMEM)
		return sql_no_memory(x->err);
	if (st != NAM_OK || v[0].type != CAT_INT8 || v[1].type != o->agg[a].types[1])
		return damaged(x);
	for (unsigned k = 0; k < m; k++) {
		if (keyed && (v[0].null[k] || v[0].i[k] < 0 || v[0].i[k] >= t->n))
			return damaged(x);
		v[0].i[k] = keyed ? t->group[v[0].i[k]] : 0;
		some[k] = (uint16_t)k;
	}
	return add_new(x, o, a, v, some, m, state);
}

static bool
merge_record(struct sql_exec *x, struct sql_op_agg *o, struct sql_bytes_in *c)
{
	uint32_t what;
	if (!sql_bytes_get(c, &what, sizeof what))
		return damaged(x);
	if (what == GROUPS)
		return merge_groups(x, o, c);
	return what < o->aggs && is_set(o, what) ? merge_values(x, o, what, c) : damaged(x);
}

static bool
take_groups(struct sql_exec *x, struct sql_op_agg *o)
{
	struct sql_bytes_in c;
	int more;
	while ((more = sql_gather_record(x, &o->node, &c)) > 0) {
		nam_arena_reset(x->arena[o->node.arena]);
		if (!merge_record(x, o, &c))
			return false;
	}
	sql_gather_end(x, &o->node);
	return more == 0;
}

static bool
take_all(struct sql_exec *x, struct sql_op_agg *o)
{
	struct nam_arena *keep = x->arena[o->node.arena + 1], *batch = x->arena[o->node.arena];
	enum cat_type *type = nam_arena_take(keep, (o->keys + 1) * sizeof *type);
	struct cat_vec *key = nam_arena_take(keep, (o->keys + 1) * sizeof *key);
	if (type == NULL || key == NULL)
		return sql_no_memory(x->err);
	for (unsigned k = 0; k < o->keys; k++)
		type[k] = o->key[k]->type;
	if ((o->run->set = nam_arena_take(keep, sizeof *o->run->set)) == NULL ||
	    !sql_groups_open(o->run->set, keep, type, o->keys))
		return sql_no_memory(x->err);
	if (o->keys == 0) {
		if (!add_state(x, o, 0))
			return false;
		o->run->groups = 1;
	}
	for (unsigned a = 0; a < o->aggs; a++)
		if (o->agg[a].later && !open_later(x, o, a))
			return false;
	int rows, more = 0, several = sql_gather_begin(x, &o->node);
	if (several < 0)
		return false;
	while ((rows = sql_next(x, o->node.child)) > 0 ||
	       (rows == 0 && several > 0 && (more = sql_gather_settle(x, &o->node)) > 0)) {
		if (rows == 0)
			continue;
		const struct sql_batch *in = &o->node.child->out;
		const uint16_t *sel = sql_sel(o->node.child);
		nam_arena_reset(batch);
		uint32_t *group = nam_arena_zero(batch, (unsigned)rows * sizeof *group);
		void **state = nam_arena_take(batch, (unsigned)rows * sizeof *state);
		if (group == NULL || state == NULL)
			return sql_no_memory(x->err);
		x->env.arena = batch;
		for (unsigned k = 0; k < o->keys; k++)
			if (!sql_eval(o->key[k], in, o->node.child->sel, (unsigned)rows, &x->env, &key[k]))
				return false;
		if (o->keys > 0 &&
		    !(sql_group_find(x, o, key, sel, (unsigned)rows, group) && add_states(x, o)))
			return false;
		struct sql_decimals memo = { 0 };
		for (unsigned a = 0; a < o->aggs; a++)
			if (!add_rows(x, o, a, sel, (unsigned)rows, group, state, &memo))
				return false;
		if (!sql_go_on(x))
			return false;
	}
	if (more < 0 || (rows == 0 && several > 0 && !take_groups(x, o)))
		return false;
	if (rows == 0 && o->run->groups == 0 && o->node.child->kind == SQL_NODE_EXPAND &&
	    !add_grand(x, o, key))
		return false;
	for (unsigned a = 0; rows == 0 && a < o->aggs; a++)
		if (o->agg[a].later && o->run->later[a].seen == NULL && !add_later(x, o, a))
			return false;
	return rows == 0;
}

/* Records of n things, CAT_BATCH each: groups, or (what != GROUPS) the values of a set. */
static bool
put_all(struct sql_exec *x, struct sql_op_agg *o, uint32_t what, uint32_t n, struct sql_stream_out *s)
{
	struct nam_arena mem;
	bool ok = true;
	nam_arena_init(&mem, 0);
	for (uint32_t at = 0; ok && at < n; at += CAT_BATCH) {
		struct sql_bytes w = { .arena = &mem };
		unsigned m = n - at < CAT_BATCH ? n - at : CAT_BATCH;
		nam_arena_reset(&mem);
		nam_arena_reset(x->arena[o->node.arena]);
		ok = (what == GROUPS ? put_groups(x, o, at, m, &w) : put_values(x, o, what, at, m, &w)) &&
		     sql_stream_put(s, w.p, w.n) == NAM_OK && sql_go_on(x);
	}
	nam_arena_fini(&mem);
	return ok;
}

bool
sql_agg_put_groups(struct sql_exec *x, struct sql_op_agg *o, struct sql_stream_out *s)
{
	bool ok = take_all(x, o) && put_all(x, o, GROUPS, o->run->groups, s);
	for (unsigned a = 0; ok && a < o->aggs; a++)
		ok = !is_set(o, a) || put_all(x, o, a, o->run->later[a].seen->n, s);
	return ok;
}

bool
sql_agg_room(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_agg *o = sql_op(agg, n);
	o->run->later = nam_arena_zero(x->plan_arena, (o->aggs + 1) * sizeof *o->run->later);
	return o->run->later != NULL;
}

int
sql_agg_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_agg *o = sql_op(agg, n);
	struct sql_run_agg *r = o->run;
	if (!r->opened) {
		if (!take_all(x, o))
			return -1;
		r->opened = true;
	}
	while (r->at < r->groups) {
		struct nam_arena *batch = x->arena[n->arena];
		nam_arena_reset(batch);
		unsigned m = r->groups - r->at < CAT_BATCH ? r->groups - r->at : CAT_BATCH;
		for (unsigned k = 0; k < o->keys; k++)
			n->out.col[k] = r->set->rs->chunk[r->at / CAT_BATCH][k];
		for (unsigned a = 0; a < o->aggs; a++) {
			struct cat_vec *v = &n->out.col[o->keys + a];
			const struct sql_agg *g = &o->agg[a];
			if (!cat_vec_take(v, g->type, m, batch)) {
				sql_no_memory(x->err);
				return -1;
			}
			for (unsigned k = 0; k < m; k++) {
				struct cat_datum d;
				if (!sql_agg_result(g->kind, g->arg_type,
					state_of(o->run->state, o->aggs, r->at + k, a), &d, batch, x->err))
					return -1;
				cat_vec_set(v, k, d.v, d.null);
			}
		}
		r->at += m;
		n->out.n = m;
		int kept = sql_keep(x, n);
		if (kept != 0)
			return kept;
	}
	return 0;
}
