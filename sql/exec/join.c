/*
 * join.c -- the hash join: one side is kept in a table, the other asks it; without keys, all pairs.
 *
 * Where no two rows of the kept side have the same keys, an answer is the probe side's own batch
 * with columns of the other side put beside it; else pairs are gathered into new vectors. Outer
 * joins: a batch's probe rows without a partner come with it, or follow when the batch is done;
 * build rows without one when the probe side is.
 */
#include <sql/exec/gather.h>
#include <sql/exec/join.h>
#include <sql/exec/meter.h>
#include <sql/exec/state.h>

/* Rows sel[0..rows) with no NULL among the keys, or all if they are wanted anyway. */
static unsigned
keyed(const struct sql_op_join *o, const struct cat_vec *key, const uint16_t *sel, unsigned rows,
    uint16_t *live)
{
	unsigned m = 0;
	for (unsigned r = 0; r < rows; r++) {
		bool null = false;
		for (unsigned k = 0; k < o->keys && !o->keep_build; k++)
			null |= key[k].null[sel[r]];
		live[m] = sel[r];
		m += !null;
	}
	return m;
}

static bool
build(struct sql_exec *x, struct sql_op_join *o)
{
	struct sql_node *n = &o->node;
	struct sql_run_join *r = o->run;
	struct nam_arena *keep = x->arena[n->arena + 1];
	struct cat_vec *key = nam_arena_take(keep, (o->keys + 1) * sizeof *key);
	const struct cat_vec **col = nam_arena_take(keep, (o->build_width + 1) * sizeof *col);
	uint16_t *live = nam_arena_take(keep, CAT_BATCH * sizeof *live);
	struct nam_arena *batch = x->arena[n->arena];
	r->table = nam_arena_zero(keep, sizeof *r->table);
	r->rs = sql_rowset_open(keep, o->build_type, o->build_width);
	if (key == NULL || col == NULL || live == NULL || r->table == NULL || r->rs == NULL)
		return sql_no_memory(x->err);
	int rows;
	while ((rows = sql_next(x, n->build)) > 0) {
		const struct sql_node *from = n->build;
		nam_arena_reset(batch);
		x->env.arena = batch;
		for (unsigned k = 0; k < o->keys; k++)
			if (!sql_eval(
				o->build_key[k], &from->out, from->sel, (unsigned)rows, &x->env, &key[k]))
				return false;
		unsigned m = keyed(o, key, sql_sel(from), (unsigned)rows, live);
		for (unsigned k = 0; k < o->keys; k++)
			col[o->key_at[k]] = &key[k];
		for (unsigned c = 0; c < o->build_width; c++)
			if (o->kept[c] != SQL_KEPT_KEY)
				col[c] = &from->out.col[o->kept[c]];
		if (!sql_rowset_add(r->rs, col, live, m))
			return sql_no_memory(x->err);
	}
	if (rows < 0)
		return false;
	if (o->keep_build && (r->matched = nam_arena_zero(keep, r->rs->rows + 1)) == NULL)
		return sql_no_memory(x->err);
	r->table->rs = r->rs;
	r->table->keys = o->keys;
	r->table->key_at = o->key_at;
	return o->keys == 0 || sql_join_index(r->table, keep) || sql_no_memory(x->err);
}

/* State over the current batch of the probe side: lives in the batch arena. */
struct sql_join_probe {
	struct cat_vec *key;
	uint64_t *hash;  /* of row k of the selection */
	uint32_t *found; /* its first partner (+1), or 0 */
	unsigned n;
	uint8_t *matched; /* keep_probe: by row of the batch */
	bool told;        /* its rows without a partner are out */
};

static int
probe_batch(struct sql_exec *x, struct sql_op_join *o, struct sql_join_probe **out)
{
	struct sql_node *n = &o->node;
	struct sql_run_join *r = o->run;
	int rows = sql_next(x, n->child);
	if (rows <= 0)
		return rows;
	struct nam_arena *batch = x->arena[n->arena];
	nam_arena_reset(batch);
	x->env.arena = batch;
	struct sql_join_probe *p = nam_arena_zero(batch, sizeof *p);
	if (p == NULL || (p->key = nam_arena_take(batch, (o->keys + 1) * sizeof *p->key)) == NULL ||
	    (p->hash = nam_arena_take(batch, (unsigned)rows * sizeof *p->hash)) == NULL ||
	    (p->found = nam_arena_take(batch, (unsigned)rows * sizeof *p->found)) == NULL ||
	    (o->keep_probe && (p->matched = nam_arena_zero(batch, CAT_BATCH)) == NULL)) {
		sql_no_memory(x->err);
		return -1;
	}
	p->n = (unsigned)rows;
	const uint16_t *sel = sql_sel(n->child);
	for (unsigned k = 0; k < o->keys; k++)
		if (!sql_eval(o->key[k], &n->child->out, n->child->sel, (unsigned)rows, &x->env, &p->key[k]))
			return -1;
	if (o->keys > 0)
		sql_join_find(r->table, p->key, sel, (unsigned)rows, p->hash, p->found);
	r->probe_at = 0;
	r->match = 0;
	*out = p;
	return rows;
}

/* The next partner (+1) of the current probe row, after n->match; 0 = none. */
static uint32_t
next_match(struct sql_op_join *o, const struct sql_join_probe *p, unsigned row)
{
	struct sql_run_join *r = o->run;
	if (o->keys == 0)
		return r->match < r->rs->rows ? r->match + 1 : 0;
	return r->match == 0 ? p->found[r->probe_at]
			     : sql_join_more(r->table, p->key, row, p->hash[r->probe_at], r->match);
}

static int
no_memory(struct sql_exec *x)
{
	sql_no_memory(x->err);
	return -1;
}

bool
sql_nulls(struct cat_vec *v, enum cat_type type, unsigned n, struct nam_arena *arena)
{
	if (!cat_vec_take(v, type, n, arena))
		return false;
	memset(v->null, 1, n);
	if (cat_type_is_str(type))
		for (unsigned k = 0; k < n; k++)
			v->s[k] = (struct cat_str){ "", 0 };
	else
		memset(v->i, 0, n * sizeof *v->i);
	return true;
}

/* The probe side's columns come from where they came from. left: with these of its rows; NULL = as
 * they are. */
static bool
pass_origins(struct sql_exec *x, struct sql_op_join *o, const uint16_t *left, unsigned m)
{
	struct sql_node *n = &o->node;
	struct sql_run_join *r = o->run;
	const struct sql_origin *in = n->child->origin;
	for (unsigned c = 0; c < o->probe_cols; c++) {
		unsigned i = o->probe_col[c], same = 0;
		r->origin[i] = in ? in[i] : (struct sql_origin){ 0 };
		if (r->origin[i].row == NULL || left == NULL)
			continue;
		while (in[o->probe_col[same]].row != in[i].row)
			same++;
		if (same < c) {
			r->origin[i].row = r->origin[o->probe_col[same]].row;
			continue;
		}
		uint32_t *row = nam_arena_take(x->arena[n->arena + 2], m * sizeof *row);
		if (row == NULL)
			return sql_no_memory(x->err);
		for (unsigned k = 0; k < m; k++)
			row[k] = in[i].row[left[k]];
		r->origin[i].row = row;
	}
	return true;
}

/* The kept side's columns come from these of its rows, and so does what was compared with its
 * keys. */
static void
own_origins(struct sql_op_join *o, const uint32_t *row)
{
	struct sql_run_join *r = o->run;
	const struct sql_origin from = { .rs = r->rs, .row = row };
	for (unsigned c = 0; c < o->build_cols; c++)
		r->origin[o->build_col[c]] = from;
	for (unsigned k = 0; k < o->keys && row != NULL && !o->keep_probe; k++)
		/* equal char(n) may be of columns whose values differ */
		if (o->key[k]->kind == SQL_COLUMN && o->key[k]->type != CAT_BPCHAR &&
		    r->origin[o->key[k]->index].row == NULL)
			r->origin[o->key[k]->index] = from;
}

static void
no_origins(struct sql_op_join *o)
{
	struct sql_node *n = &o->node;
	struct sql_run_join *r = o->run;
	memset(r->origin, 0, n->out.cols * sizeof *r->origin);
}

/* Columns of both sides: probe rows left[0..m) (NULL = none) beside build rows right[0..m) (NULL:
 * none). */
static bool
beside(struct sql_exec *x, struct sql_op_join *o, const uint16_t *left, const uint32_t *right, unsigned m)
{
	struct sql_node *n = &o->node;
	struct sql_run_join *r = o->run;
	struct nam_arena *answer = x->arena[n->arena + 2];
	for (unsigned c = 0; c < o->probe_cols; c++) {
		unsigned i = o->probe_col[c];
		if (!(left ? sql_gather(&n->out.col[i], &n->child->out.col[i], left, m, answer)
			   : sql_nulls(&n->out.col[i], o->probe_type[c], m, answer)))
			return sql_no_memory(x->err);
	}
	for (unsigned c = 0; c < o->build_cols; c++) {
		struct cat_vec *v = &n->out.col[o->build_col[c]];
		if (!(right ? sql_rowset_gather(r->rs, o->build_at[c], right, m, v, answer)
			    : sql_nulls(v, o->build_type[c], m, answer)))
			return sql_no_memory(x->err);
	}
	n->out.n = m;
	no_origins(o);
	if (left == NULL || right == NULL)
		return true;
	if (!pass_origins(x, o, left, m))
		return false;
	own_origins(o, right);
	return true;
}

/* Applies the filter. Its scratch must not go into the batch arena: the probe lives there. */
static int
keep(struct sql_exec *x, struct sql_op_join *o)
{
	return sql_keep_in(x, &o->node, o->node.arena + 2);
}

/* Pairs that ON lets pass; marks their rows. */
static int
match(struct sql_exec *x, struct sql_op_join *o, const struct sql_join_probe *p, const uint16_t *left,
    const uint32_t *right, unsigned pairs)
{
	struct sql_node *n = &o->node;
	struct sql_run_join *r = o->run;
	const uint16_t *sel = sql_ident();
	int m = (int)pairs;
	x->env.arena = x->arena[n->arena + 2];
	if (o->on != NULL) {
		if ((m = sql_filter(o->on, &n->out, NULL, pairs, &x->env, n->selbuf)) < 0)
			return -1;
		sel = n->selbuf;
		if (n->meter != NULL)
			n->meter->unpaired += pairs - (unsigned)m;
	}
	for (int k = 0; k < m; k++) {
		if (o->keep_probe)
			p->matched[left[sel[k]]] = 1;
		if (o->keep_build)
			r->matched[right[sel[k]]] = 1;
	}
	if (o->on == NULL)
		return keep(x, o);
	int paired = m;
	if (n->filter != NULL && m > 0 &&
	    (m = sql_filter(n->filter, &n->out, n->selbuf, (unsigned)m, &x->env, n->selbuf)) < 0)
		return -1;
	if (n->meter != NULL)
		n->meter->removed += (unsigned)(paired - m);
	n->sel = n->selbuf;
	n->nsel = (unsigned)m;
	return m;
}

/* The batch's probe rows that found no partner. */
static int
alone(struct sql_exec *x, struct sql_op_join *o, struct sql_join_probe *p)
{
	struct sql_node *n = &o->node;
	p->told = true;
	const uint16_t *sel = sql_sel(n->child);
	nam_arena_reset(x->arena[n->arena + 2]);
	uint16_t *left = nam_arena_take(x->arena[n->arena + 2], CAT_BATCH * sizeof *left);
	if (left == NULL)
		return no_memory(x);
	unsigned m = 0;
	for (unsigned k = 0; k < p->n; k++)
		if (!p->matched[sel[k]])
			left[m++] = sel[k];
	if (m == 0)
		return 0;
	return beside(x, o, left, NULL, m) ? keep(x, o) : -1;
}

/* Build rows without a partner: they come last. */
static int
left_over(struct sql_exec *x, struct sql_op_join *o)
{
	struct sql_node *n = &o->node;
	struct sql_run_join *r = o->run;
	while (r->left_at < r->rs->rows) {
		nam_arena_reset(x->arena[n->arena + 2]);
		uint32_t *right = nam_arena_take(x->arena[n->arena + 2], CAT_BATCH * sizeof *right);
		if (right == NULL)
			return no_memory(x);
		unsigned m = 0;
		for (; r->left_at < r->rs->rows && m < CAT_BATCH; r->left_at++)
			if (!r->matched[r->left_at])
				right[m++] = r->left_at;
		if (m == 0)
			return 0;
		if (!sql_go_on(x) || !beside(x, o, NULL, right, m))
			return -1;
		int kept = keep(x, o);
		if (kept != 0)
			return kept;
	}
	return 0;
}

/* ---- at most one partner each ------------------------------------------------------ */

/* A row of a batch that stays without partner, in place. */
static void
no_partner(struct sql_op_join *o, unsigned row)
{
	struct sql_node *n = &o->node;
	for (unsigned c = 0; c < o->build_cols; c++) {
		struct cat_vec *v = &n->out.col[o->build_col[c]];
		v->null[row] = 1;
		if (cat_type_is_str(v->type))
			v->s[row] = (struct cat_str){ "", 0 };
		else
			v->i[row] = 0;
	}
}

/* ON over the pairs in n->selbuf; marks those it lets pass. */
static int
pass_on(struct sql_exec *x, struct sql_op_join *o, struct sql_join_probe *p, const uint32_t *row, unsigned m)
{
	struct sql_node *n = &o->node;
	struct sql_run_join *r = o->run;
	if (o->on != NULL) {
		int passed = sql_filter(o->on, &n->out, n->selbuf, m, &x->env, n->selbuf);
		if (passed < 0)
			return -1;
		if (n->meter != NULL)
			n->meter->unpaired += m - (unsigned)passed;
		m = (unsigned)passed;
	}
	for (unsigned k = 0; k < m; k++) {
		if (o->keep_probe)
			p->matched[n->selbuf[k]] = 1;
		if (o->keep_build)
			r->matched[row[n->selbuf[k]]] = 1;
	}
	return (int)m;
}

/* The next batch of the probe side, each of its rows beside its partner. */
static int
one_each(struct sql_exec *x, struct sql_op_join *o)
{
	struct sql_node *n = &o->node;
	struct sql_run_join *r = o->run;
	struct nam_arena *answer = x->arena[n->arena + 2];
	struct sql_join_probe *p;
	int rows;
	while ((rows = probe_batch(x, o, &p)) > 0) {
		const struct sql_batch *in = &n->child->out;
		const uint16_t *sel = sql_sel(n->child);
		nam_arena_reset(answer);
		uint32_t *row = nam_arena_take(answer, CAT_BATCH * sizeof *row);
		if (row == NULL)
			return no_memory(x);
		unsigned m = 0;
		for (int k = 0; k < rows; k++) {
			n->selbuf[m] = sel[k];
			row[sel[k]] = p->found[k] ? p->found[k] - 1 : r->rs->rows;
			m += p->found[k] != 0;
		}
		if (m == 0 && !o->keep_probe)
			continue;
		for (unsigned c = 0; c < o->probe_cols; c++)
			n->out.col[o->probe_col[c]] = in->col[o->probe_col[c]];
		for (unsigned c = 0; c < o->build_cols; c++) {
			struct cat_vec *v = &n->out.col[o->build_col[c]];
			if (!cat_vec_take(v, o->build_type[c], in->n, answer))
				return no_memory(x);
			sql_rowset_place(r->rs, o->build_at[c], row, n->selbuf, m, v);
		}
		n->out.n = in->n;
		if (!pass_origins(x, o, NULL, 0))
			return -1;
		own_origins(o, row);
		x->env.arena = answer;
		int kept = pass_on(x, o, p, row, m);
		if (kept >= 0 && o->keep_probe) {
			kept = rows;
			for (int k = 0; k < rows; k++) {
				if (!p->matched[sel[k]]) {
					no_partner(o, sel[k]);
					row[sel[k]] = r->rs->rows;
				}
				n->selbuf[k] = sel[k];
			}
		}
		if (kept > 0 && n->filter != NULL)
			kept = sql_filter(n->filter, &n->out, n->selbuf, (unsigned)kept, &x->env, n->selbuf);
		n->nsel = kept > 0 ? (unsigned)kept : 0;
		n->sel = n->nsel == in->n ? NULL : n->selbuf;
		if (kept != 0)
			return kept;
	}
	return rows;
}

/* ---- any number of partners -------------------------------------------------------- */

static int
pairs(struct sql_exec *x, struct sql_op_join *o)
{
	struct sql_node *n = &o->node;
	struct sql_run_join *r = o->run;
	struct nam_arena *answer = x->arena[n->arena + 2];
	while (true) {
		struct sql_join_probe *p = r->probe;
		if (p != NULL && r->probe_at == p->n && o->keep_probe && !p->told) {
			int kept = alone(x, o, p);
			if (kept != 0)
				return kept;
		}
		if (p == NULL || r->probe_at == p->n) {
			int rows = probe_batch(x, o, &p);
			r->probe = rows > 0 ? p : NULL;
			if (rows < 0)
				return rows;
			if (rows == 0)
				return 0;
		}
		if (!sql_go_on(x))
			return -1;
		nam_arena_reset(answer);
		uint16_t *left = nam_arena_take(answer, CAT_BATCH * sizeof *left);
		uint32_t *right = nam_arena_take(answer, CAT_BATCH * sizeof *right);
		if (left == NULL || right == NULL)
			return no_memory(x);
		const uint16_t *sel = sql_sel(n->child);
		unsigned found = 0;
		while (found < CAT_BATCH && r->probe_at < p->n) {
			unsigned row = sel[r->probe_at];
			uint32_t m = next_match(o, p, row);
			if (m == 0) {
				r->probe_at++;
				r->match = 0;
				continue;
			}
			r->match = m;
			left[found] = (uint16_t)row;
			right[found++] = m - 1;
		}
		if (found == 0)
			continue;
		if (!beside(x, o, left, right, found))
			return -1;
		int kept = match(x, o, p, left, right, found);
		if (kept != 0)
			return kept;
	}
}

bool
sql_join_room(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_join *o = sql_op(join, n);
	o->run->origin = nam_arena_zero(x->plan_arena, (n->out.cols + 1) * sizeof *o->run->origin);
	n->origin = o->run->origin;
	return n->origin != NULL;
}

bool
sql_join_ready(struct sql_exec *x, struct sql_op_join *o)
{
	struct sql_run_join *r = o->run;
	if (r->opened)
		return true;
	struct sql_op_join *owner = o->share ? o->share : o;
	if (owner->run->rs == NULL && !build(x, owner))
		return false;
	r->rs = owner->run->rs;
	r->table = owner->run->table;
	return r->opened = true;
}

void
sql_join_borrow(struct sql_op_join *o, const struct sql_op_join *from)
{
	o->run->rs = from->run->rs;
	o->run->table = from->run->table;
	o->run->opened = true;
}

void
sql_join_rewind(struct sql_op_join *o)
{
	o->run->ended = false;
	o->run->probe = NULL;
	o->run->probe_at = 0;
	o->run->match = 0;
}

int
sql_join_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_join *o = sql_op(join, n);
	struct sql_run_join *r = o->run;
	if (!sql_join_ready(x, o))
		return -1;
	if (r->rs->rows == 0 && !o->keep_probe)
		return 0;
	if (!r->ended) {
		int rows = r->table->unique ? one_each(x, o) : pairs(x, o);
		if (rows != 0)
			return rows;
		r->ended = true;
	}
	return o->keep_build ? left_over(x, o) : 0;
}
