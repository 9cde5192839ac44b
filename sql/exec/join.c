/*
 * join.c -- the hash join: one side is kept in a table, the other asks it; without keys, all pairs.
 *
 * Where no two rows of the kept side have the same keys, an answer is the probe side's own batch with columns
 * of the other side put beside it; else pairs are gathered into new vectors. Outer joins: a batch's probe rows without a
 * partner come with it, or follow when the batch is done; build rows without one when the probe side is.
 */
#include <sql/exec/meter.h>
#include <sql/exec/join.h>

/* Rows sel[0..rows) with no NULL among the keys, or all if they are wanted anyway. */
static unsigned
keyed(const struct sql_node *n, const struct cat_vec *key, const uint16_t *sel, unsigned rows, uint16_t *live)
{
	unsigned m = 0;
	for (unsigned r = 0; r < rows; r++) {
		bool null = false;
		for (unsigned k = 0; k < n->keys && !n->keep_build; k++)
			null |= key[k].null[sel[r]];
		live[m] = sel[r];
		m += !null;
	}
	return m;
}

static bool
build(struct sql_exec *x, struct sql_node *n)
{
	struct nam_arena *keep = x->arena[n->arena + 1];
	struct cat_vec *key = nam_arena_take(keep, (n->keys + 1) * sizeof *key);
	const struct cat_vec **col = nam_arena_take(keep, (n->build_width + 1) * sizeof *col);
	uint16_t *live = nam_arena_take(keep, CAT_BATCH * sizeof *live);
	struct nam_arena *batch = x->arena[n->arena];
	n->table = nam_arena_zero(keep, sizeof *n->table);
	n->rs = sql_rowset_open(keep, n->build_type, n->build_width);
	if (key == NULL || col == NULL || live == NULL || n->table == NULL || n->rs == NULL)
		return sql_no_memory(x->err);
	int rows;
	while ((rows = sql_next(x, n->build)) > 0) {
		const struct sql_node *from = n->build;
		nam_arena_reset(batch);
		x->env.arena = batch;
		for (unsigned k = 0; k < n->keys; k++)
			if (!sql_eval(
				n->build_key[k], &from->out, from->sel, (unsigned)rows, &x->env, &key[k]))
				return false;
		unsigned m = keyed(n, key, sql_sel(from), (unsigned)rows, live);
		for (unsigned k = 0; k < n->keys; k++)
			col[n->key_at[k]] = &key[k];
		for (unsigned c = 0; c < n->build_width; c++)
			if (n->kept[c] != SQL_KEPT_KEY)
				col[c] = &from->out.col[n->kept[c]];
		if (!sql_rowset_add(n->rs, col, live, m))
			return sql_no_memory(x->err);
	}
	if (rows < 0)
		return false;
	if (n->keep_build && (n->matched = nam_arena_zero(keep, n->rs->rows + 1)) == NULL)
		return sql_no_memory(x->err);
	n->table->rs = n->rs;
	n->table->keys = n->keys;
	n->table->key_at = n->key_at;
	return n->keys == 0 || sql_join_index(n->table, keep) || sql_no_memory(x->err);
}

/* State over the current batch of the probe side: lives in the batch arena. */
struct probe {
	struct cat_vec *key;
	uint64_t *hash;  /* of row k of the selection */
	uint32_t *found; /* its first partner (+1), or 0 */
	unsigned n;
	uint8_t *matched; /* keep_probe: by row of the batch */
	bool told;        /* its rows without a partner are out */
};

static int
probe_batch(struct sql_exec *x, struct sql_node *n, struct probe **out)
{
	int rows = sql_next(x, n->child);
	if (rows <= 0)
		return rows;
	struct nam_arena *batch = x->arena[n->arena];
	nam_arena_reset(batch);
	x->env.arena = batch;
	struct probe *p = nam_arena_zero(batch, sizeof *p);
	if (p == NULL || (p->key = nam_arena_take(batch, (n->keys + 1) * sizeof *p->key)) == NULL ||
	    (p->hash = nam_arena_take(batch, (unsigned)rows * sizeof *p->hash)) == NULL ||
	    (p->found = nam_arena_take(batch, (unsigned)rows * sizeof *p->found)) == NULL ||
	    (n->keep_probe && (p->matched = nam_arena_zero(batch, CAT_BATCH)) == NULL)) {
		sql_no_memory(x->err);
		return -1;
	}
	p->n = (unsigned)rows;
	const uint16_t *sel = sql_sel(n->child);
	for (unsigned k = 0; k < n->keys; k++)
		if (!sql_eval(n->key[k], &n->child->out, n->child->sel, (unsigned)rows, &x->env, &p->key[k]))
			return -1;
	if (n->keys > 0)
		sql_join_find(n->table, p->key, sel, (unsigned)rows, p->hash, p->found);
	n->probe_at = 0;
	n->match = 0;
	*out = p;
	return rows;
}

/* The next partner (+1) of the current probe row, after n->match; 0: none. */
static uint32_t
next_match(struct sql_node *n, const struct probe *p, unsigned row)
{
	if (n->keys == 0)
		return n->match < n->rs->rows ? n->match + 1 : 0;
	return n->match == 0 ? p->found[n->probe_at]
			     : sql_join_more(n->table, p->key, row, p->hash[n->probe_at], n->match);
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

/* The probe side's columns come from where they came from. left: with these of its rows; NULL: as they are. */
static bool
pass_origins(struct sql_exec *x, struct sql_node *n, const uint16_t *left, unsigned m)
{
	const struct sql_origin *in = n->child->origin;
	for (unsigned c = 0; c < n->probe_cols; c++) {
		unsigned i = n->probe_col[c], same = 0;
		n->origin[i] = in ? in[i] : (struct sql_origin){ 0 };
		if (n->origin[i].row == NULL || left == NULL)
			continue;
		while (in[n->probe_col[same]].row != in[i].row)
			same++;
		if (same < c) {
			n->origin[i].row = n->origin[n->probe_col[same]].row;
			continue;
		}
		uint32_t *row = nam_arena_take(x->arena[n->arena + 2], m * sizeof *row);
		if (row == NULL)
			return sql_no_memory(x->err);
		for (unsigned k = 0; k < m; k++)
			row[k] = in[i].row[left[k]];
		n->origin[i].row = row;
	}
	return true;
}

/* The kept side's columns come from these of its rows, and so does what was compared with its keys. */
static void
own_origins(struct sql_node *n, const uint32_t *row)
{
	const struct sql_origin o = { .rs = n->rs, .row = row };
	for (unsigned c = 0; c < n->build_cols; c++)
		n->origin[n->build_col[c]] = o;
	for (unsigned k = 0; k < n->keys && row != NULL && !n->keep_probe; k++)
		if (n->key[k]->kind == SQL_COLUMN && n->origin[n->key[k]->index].row == NULL)
			n->origin[n->key[k]->index] = o;
}

static void
no_origins(struct sql_node *n)
{
	memset(n->origin, 0, n->out.cols * sizeof *n->origin);
}

/* Columns of both sides: probe rows left[0..m) (NULL: none) beside build rows right[0..m) (NULL: none). */
static bool
beside(struct sql_exec *x, struct sql_node *n, const uint16_t *left, const uint32_t *right, unsigned m)
{
	struct nam_arena *answer = x->arena[n->arena + 2];
	for (unsigned c = 0; c < n->probe_cols; c++) {
		unsigned i = n->probe_col[c];
		if (!(left ? sql_gather(&n->out.col[i], &n->child->out.col[i], left, m, answer)
			   : sql_nulls(&n->out.col[i], n->probe_type[c], m, answer)))
			return sql_no_memory(x->err);
	}
	for (unsigned c = 0; c < n->build_cols; c++) {
		struct cat_vec *v = &n->out.col[n->build_col[c]];
		if (!(right ? sql_rowset_gather(n->rs, n->build_at[c], right, m, v, answer)
			    : sql_nulls(v, n->build_type[c], m, answer)))
			return sql_no_memory(x->err);
	}
	n->out.n = m;
	no_origins(n);
	if (left == NULL || right == NULL)
		return true;
	if (!pass_origins(x, n, left, m))
		return false;
	own_origins(n, right);
	return true;
}

/* Applies the filter. Its scratch must not go into the batch arena: the probe lives there. */
static int
keep(struct sql_exec *x, struct sql_node *n)
{
	unsigned own = n->arena;
	n->arena += 2;
	int kept = sql_keep(x, n);
	n->arena = own;
	return kept;
}

/* Pairs that ON lets pass; marks their rows. */
static int
match(struct sql_exec *x, struct sql_node *n, const struct probe *p, const uint16_t *left,
    const uint32_t *right, unsigned pairs)
{
	const uint16_t *sel = sql_ident();
	int m = (int)pairs;
	x->env.arena = x->arena[n->arena + 2];
	if (n->on != NULL) {
		if ((m = sql_filter(n->on, &n->out, NULL, pairs, &x->env, n->selbuf)) < 0)
			return -1;
		sel = n->selbuf;
		if (n->meter != NULL)
			n->meter->unpaired += pairs - (unsigned)m;
	}
	for (int k = 0; k < m; k++) {
		if (n->keep_probe)
			p->matched[left[sel[k]]] = 1;
		if (n->keep_build)
			n->matched[right[sel[k]]] = 1;
	}
	if (n->on == NULL)
		return keep(x, n);
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
alone(struct sql_exec *x, struct sql_node *n, struct probe *p)
{
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
	return beside(x, n, left, NULL, m) ? keep(x, n) : -1;
}

/* Build rows that nobody asked for: the last ones to come. */
static int
left_over(struct sql_exec *x, struct sql_node *n)
{
	while (n->at < n->rs->rows) {
		nam_arena_reset(x->arena[n->arena + 2]);
		uint32_t *right = nam_arena_take(x->arena[n->arena + 2], CAT_BATCH * sizeof *right);
		if (right == NULL)
			return no_memory(x);
		unsigned m = 0;
		for (; n->at < n->rs->rows && m < CAT_BATCH; n->at++)
			if (!n->matched[n->at])
				right[m++] = n->at;
		if (m == 0)
			return 0;
		if (!sql_go_on(x) || !beside(x, n, NULL, right, m))
			return -1;
		int kept = keep(x, n);
		if (kept != 0)
			return kept;
	}
	return 0;
}

/* ---- at most one partner each ------------------------------------------------------ */

/* A row of a batch that stays without partner, in place. */
static void
no_partner(struct sql_node *n, unsigned row)
{
	for (unsigned c = 0; c < n->build_cols; c++) {
		struct cat_vec *v = &n->out.col[n->build_col[c]];
		v->null[row] = 1;
		if (cat_type_is_str(v->type))
			v->s[row] = (struct cat_str){ "", 0 };
		else
			v->i[row] = 0;
	}
}

/* ON over the pairs in n->selbuf; marks those it lets pass. */
static int
pass_on(struct sql_exec *x, struct sql_node *n, struct probe *p, const uint32_t *row, unsigned m)
{
	if (n->on != NULL) {
		int passed = sql_filter(n->on, &n->out, n->selbuf, m, &x->env, n->selbuf);
		if (passed < 0)
			return -1;
		if (n->meter != NULL)
			n->meter->unpaired += m - (unsigned)passed;
		m = (unsigned)passed;
	}
	for (unsigned k = 0; k < m; k++) {
		if (n->keep_probe)
			p->matched[n->selbuf[k]] = 1;
		if (n->keep_build)
			n->matched[row[n->selbuf[k]]] = 1;
	}
	return (int)m;
}

/* The next batch of the probe side, each of its rows beside its partner. */
static int
one_each(struct sql_exec *x, struct sql_node *n)
{
	struct nam_arena *answer = x->arena[n->arena + 2];
	struct probe *p;
	int rows;
	while ((rows = probe_batch(x, n, &p)) > 0) {
		const struct sql_batch *in = &n->child->out;
		const uint16_t *sel = sql_sel(n->child);
		nam_arena_reset(answer);
		uint32_t *row = nam_arena_take(answer, CAT_BATCH * sizeof *row);
		if (row == NULL)
			return no_memory(x);
		unsigned m = 0;
		for (int k = 0; k < rows; k++) {
			n->selbuf[m] = sel[k];
			row[sel[k]] = p->found[k] ? p->found[k] - 1 : n->rs->rows;
			m += p->found[k] != 0;
		}
		if (m == 0 && !n->keep_probe)
			continue;
		for (unsigned c = 0; c < n->probe_cols; c++)
			n->out.col[n->probe_col[c]] = in->col[n->probe_col[c]];
		for (unsigned c = 0; c < n->build_cols; c++) {
			struct cat_vec *v = &n->out.col[n->build_col[c]];
			if (!cat_vec_take(v, n->build_type[c], in->n, answer))
				return no_memory(x);
			sql_rowset_place(n->rs, n->build_at[c], row, n->selbuf, m, v);
		}
		n->out.n = in->n;
		if (!pass_origins(x, n, NULL, 0))
			return -1;
		own_origins(n, row);
		x->env.arena = answer;
		int kept = pass_on(x, n, p, row, m);
		if (kept >= 0 && n->keep_probe) {
			kept = rows;
			for (int k = 0; k < rows; k++) {
				if (!p->matched[sel[k]]) {
					no_partner(n, sel[k]);
					row[sel[k]] = n->rs->rows;
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
pairs(struct sql_exec *x, struct sql_node *n)
{
	struct nam_arena *answer = x->arena[n->arena + 2];
	while (true) {
		struct probe *p = (void *)n->state;
		if (p != NULL && n->probe_at == p->n && n->keep_probe && !p->told) {
			int kept = alone(x, n, p);
			if (kept != 0)
				return kept;
		}
		if (p == NULL || n->probe_at == p->n) {
			int rows = probe_batch(x, n, &p);
			n->state = rows > 0 ? (void *)p : NULL;
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
		while (found < CAT_BATCH && n->probe_at < p->n) {
			unsigned row = sel[n->probe_at];
			uint32_t m = next_match(n, p, row);
			if (m == 0) {
				n->probe_at++;
				n->match = 0;
				continue;
			}
			n->match = m;
			left[found] = (uint16_t)row;
			right[found++] = m - 1;
		}
		if (found == 0)
			continue;
		if (!beside(x, n, left, right, found))
			return -1;
		int kept = match(x, n, p, left, right, found);
		if (kept != 0)
			return kept;
	}
}

int
sql_join_next(struct sql_exec *x, struct sql_node *n)
{
	if (!n->opened) {
		struct sql_node *owner = n->share ? n->share : n;
		if (owner->rs == NULL && !build(x, owner))
			return -1;
		n->rs = owner->rs;
		n->table = owner->table;
		n->opened = true;
		n->state = NULL;
	}
	if (n->rs->rows == 0 && !n->keep_probe)
		return 0;
	if (!n->ended) {
		int rows = n->table->unique ? one_each(x, n) : pairs(x, n);
		if (rows != 0)
			return rows;
		n->ended = true;
	}
	return n->keep_build ? left_over(x, n) : 0;
}
