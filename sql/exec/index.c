/*
 * index.c -- finds rows by an index, in its order.
 *
 * What the conditions say becomes ranges of keys, sorted and disjoint. A range of one key is sought
 * together with those behind it; any other is read from its low end to its high end. With a child
 * each of its rows has its ranges.
 *
 * With several legs the ranges of each index give blocks. Those of all legs, or of any, are sorted
 * by their addresses and READ, each once.
 */
#include <sql/exec/index_only.h>
#include <sql/exec/meter.h>
#include <sql/exec/state.h>
#include <types/array.h>

#include <stdlib.h>

enum { TOGETHER = 128 /* keys sought in one call */ };

bool
sql_index_room(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_index *o = sql_op(index, n);
	struct sql_run_index *r = o->run;
	r->tmp = nam_arena_zero(x->plan_arena, (o->acc.wants + 1) * sizeof *r->tmp);
	r->rows = nam_arena_take(x->plan_arena, CAT_BATCH * sizeof *r->rows);
	if (n->child != NULL) {
		r->src = nam_arena_take(x->plan_arena, CAT_BATCH * sizeof *r->src);
		r->missing = nam_arena_take(x->plan_arena, CAT_BATCH * sizeof *r->missing);
		r->found = nam_arena_take(x->plan_arena, CAT_BATCH * sizeof *r->found);
	}
	return sql_index_told_room(x, o) && r->tmp != NULL && r->rows != NULL &&
	       (n->child == NULL || (r->src != NULL && r->missing != NULL && r->found != NULL));
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

/* ---- ranges ------------------------------------------------------------------------------ */

/* Of one execution of part p, or of one row of the child. */
struct making {
	struct sql_exec *x;
	const struct sql_op_index *o;
	const struct cat_index *ix;
	struct nam_arena *keep;
	union cat_val v[CAT_KEY_MAX];
	bool null[CAT_KEY_MAX];
};

static int
words_order(const uint64_t *a, const uint64_t *b)
{
	for (unsigned i = 0; i < IDX_TREE_WORDS; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

static int
range_order(const void *a, const void *b)
{
	const struct sql_index_range *x = a, *y = b;
	int c = words_order(x->low, y->low);
	return c != 0 ? c : (int)x->low_open - (int)y->low_open;
}

static bool
is_point(const struct sql_index_range *g)
{
	return !g->low_open && !g->high_open && words_order(g->low, g->high) == 0;
}

static struct sql_index_range *
range_new(struct making *m)
{
	struct sql_run_index *r = m->o->run;
	if (r->ranges == r->cap) {
		unsigned cap = r->cap > 0 ? 2 * r->cap : 4;
		struct sql_index_range *more = nam_arena_take(m->keep, cap * sizeof *more);
		if (more == NULL) {
			sql_no_memory(m->x->err);
			return NULL;
		}
		if (r->ranges > 0)
			memcpy(more, r->of, r->ranges * sizeof *more);
		r->of = more;
		r->cap = cap;
	}
	struct sql_index_range *g = &r->of[r->ranges];
	memset(g, 0, sizeof *g);
	return g;
}

/* An integer may be compared with a column of a narrower type. -1, 1: it lies below or above all
 * of that type. */
static int
beyond(enum cat_type type, int64_t i)
{
	int64_t low = type == CAT_INT2 ? INT16_MIN : INT32_MIN,
		high = type == CAT_INT2 ? INT16_MAX : INT32_MAX;
	return type != CAT_INT2 && type != CAT_INT4 ? 0 : i < low ? -1 : i > high;
}

static bool
value_of(struct sql_exec *x, const struct sql_expr *e, struct cat_datum *d)
{
	if (e->kind == SQL_CONST)
		*d = e->value;
	else if (e->kind == SQL_PARAM && e->index < x->env.params)
		*d = x->env.param[e->index];
	else
		return sql_eval_one(e, &x->env, d);
	return true;
}

/* True if *err is that a key is too long: no row has such a one. */
static bool
too_long(struct making *m, const struct cat_err *why)
{
	if (strcmp(why->sqlstate, "54000") == 0)
		return true;
	*m->x->err = *why;
	return false;
}

/* The end of a range becomes this one, if that makes it smaller. */
static void
raise_low(struct sql_index_range *g, const uint64_t *low, bool open)
{
	int c = words_order(low, g->low);
	if (c < 0 || (c == 0 && !open))
		return;
	memcpy(g->low, low, sizeof g->low);
	g->low_open = open;
}

static void
lower_high(struct sql_index_range *g, const uint64_t *high, bool open)
{
	int c = words_order(high, g->high);
	if (c > 0 || (c == 0 && !open))
		return;
	memcpy(g->high, high, sizeof g->high);
	g->high_open = open;
}

/*
 * The column behind the n that have values does not go beyond v[n], null[n]. behind: keys before it
 * are cut off, in the order of the index; else those behind it. open: its own, too. *none: nothing
 * is left.
 */
static bool
bound(struct making *m, struct sql_index_range *g, unsigned n, bool behind, bool open)
{
	struct cat_err why;
	uint64_t low[IDX_TREE_WORDS] = { 0 }, high[IDX_TREE_WORDS] = { 0 };
	bool exact;
	if (!cat_index_bound(m->o->acc.tab, m->ix, m->v, m->null, n + 1, low, high, &exact, m->keep, &why))
		return too_long(m, &why); /* the filter does without the bound */
	open &= exact;
	if (behind)
		raise_low(g, open ? high : low, open);
	else
		lower_high(g, open ? low : high, open);
	return true;
}

/* A bound of the conditions: e is the least (or the greatest) value of the next column. */
static bool
limit(struct making *m, struct sql_index_range *g, unsigned n, struct sql_expr *e, bool low, bool open,
    bool *none)
{
	const struct cat_index_column *c = &m->ix->key[n];
	struct cat_datum d;
	if (e == NULL)
		return true;
	if (!value_of(m->x, e, &d))
		return false;
	*none |= d.null;
	if (d.null)
		return true;
	int side = cat_type_is_int(e->type) ? beyond(m->o->acc.tab->column[c->column].type, d.v.i) : 0;
	if (side != 0) {
		*none |= low == (side > 0);
		return true;
	}
	m->v[n] = d.v;
	m->null[n] = false;
	return bound(m, g, n, low != c->descending, open);
}

/* The range of p's keys whose first columns have v[]. */
static bool
one_range(struct making *m, const struct sql_index_part *p)
{
	const struct cat_table *tab = m->o->acc.tab;
	struct sql_index_range *g = range_new(m);
	bool none = false, exact;
	unsigned n = p->keys;
	struct cat_err why;
	if (g == NULL)
		return false;
	bool ends = p->low != NULL || p->high != NULL || p->not_null;
	bool ok = n > 0 && !ends
		      ? cat_index_prefix(tab, m->ix, m->v, m->null, n, g->low, g->high, m->keep, &why)
		      : cat_index_bound(tab, m->ix, m->v, m->null, n, g->low, g->high, &exact, m->keep, &why);
	if (!ok)
		return too_long(m, &why);
	if (ends) {
		m->v[n] = (union cat_val){ 0 };
		m->null[n] = true;
		if (!bound(m, g, n, m->ix->key[n].nulls_first, true) ||
		    !limit(m, g, n, p->low, true, p->low_open, &none) ||
		    !limit(m, g, n, p->high, false, p->high_open, &none))
			return false;
	}
	int c = words_order(g->low, g->high);
	if (!none && (c < 0 || (c == 0 && !g->low_open && !g->high_open)))
		m->o->run->ranges++;
	return true;
}

/* The values that one column of the key may have; those that no row has are left out. */
struct choice {
	struct cat_datum *d;
	unsigned n;
};

static bool
choose(struct making *m, const struct sql_index_key *k, enum cat_type type, struct choice *c)
{
	struct cat_array array = { 0 };
	struct cat_datum d = { .null = true };
	unsigned values = k->by == SQL_INDEX_LIST ? k->values : 1;
	*c = (struct choice){ 0 };
	if (k->by == SQL_INDEX_ARRAY) {
		if (!value_of(m->x, k->value[0], &d))
			return false;
		if (!d.null)
			cat_array_open(k->value[0]->type, d.v.s, &array);
		values = array.n;
	}
	if ((c->d = nam_arena_take(m->keep, (values + 1) * sizeof *c->d)) == NULL)
		return sql_no_memory(m->x->err);
	for (unsigned i = 0; i < values; i++) {
		bool ints = false;
		if (k->by == SQL_INDEX_ARRAY) {
			ints = cat_type_is_int(cat_type_element(k->value[0]->type));
			d.null = !cat_array_at(&array, i, &d.v);
		} else if (k->by != SQL_INDEX_NULL) {
			ints = cat_type_is_int(k->value[i]->type);
			if (!value_of(m->x, k->value[i], &d))
				return false;
		}
		if (k->by != SQL_INDEX_NULL && (d.null || (ints && beyond(type, d.v.i) != 0)))
			continue;
		c->d[c->n++] = d;
	}
	return true;
}

static bool
part_ranges(struct making *m, const struct sql_index_part *p)
{
	struct choice c[CAT_KEY_MAX];
	unsigned at[CAT_KEY_MAX] = { 0 };
	for (unsigned k = 0; k < p->keys; k++) {
		enum cat_type type = m->o->acc.tab->column[m->ix->key[k].column].type;
		if (!choose(m, &p->key[k], type, &c[k]))
			return false;
		if (c[k].n == 0)
			return true;
	}
	for (bool more = true; more;) {
		for (unsigned k = 0; k < p->keys; k++) {
			m->v[k] = c[k].d[at[k]].v;
			m->null[k] = c[k].d[at[k]].null;
		}
		if (!one_range(m, p) || !sql_go_on(m->x))
			return false;
		more = false;
		for (unsigned k = p->keys; k > 0 && !more; k--) {
			at[k - 1] = (at[k - 1] + 1) % c[k - 1].n;
			more = at[k - 1] > 0;
		}
	}
	return true;
}

/* In order, and those that meet made one. */
static void
settle(struct sql_run_index *r, bool backward)
{
	unsigned n = 0;
	if (r->ranges > 1)
		qsort(r->of, r->ranges, sizeof *r->of, range_order);
	for (unsigned i = 0; i < r->ranges; i++) {
		struct sql_index_range *last = n > 0 ? &r->of[n - 1] : NULL, *g = &r->of[i];
		int c = last != NULL ? words_order(g->low, last->high) : 1;
		if (c > 0 || (c == 0 && g->low_open && last->high_open)) {
			r->of[n++] = *g;
			continue;
		}
		c = words_order(g->high, last->high);
		if (c > 0 || (c == 0 && last->high_open)) {
			memcpy(last->high, g->high, sizeof g->high);
			last->high_open = g->high_open;
		}
	}
	r->ranges = n;
	for (unsigned i = 0; backward && i < n / 2; i++) {
		struct sql_index_range g = r->of[i];
		r->of[i] = r->of[n - 1 - i];
		r->of[n - 1 - i] = g;
	}
}

static bool
begin(struct sql_exec *x, struct sql_op_index *o)
{
	struct sql_run_index *r = o->run;
	struct making m = {
		.x = x, .o = o, .ix = &o->acc.tab->index[o->index], .keep = x->arena[o->node.arena + 1]
	};
	nam_arena_reset(m.keep);
	x->env.arena = m.keep;
	r->opened = true;
	for (unsigned p = 0; p < o->parts; p++)
		if (!part_ranges(&m, &o->part[p]))
			return false;
	settle(r, o->backward);
	return true;
}

/* ---- several indexes ------------------------------------------------------------------------ */

static int
by_address(const void *a, const void *b)
{
	uint64_t x = ((const net_addr *)a)->bits, y = ((const net_addr *)b)->bits;
	return (x > y) - (x < y);
}

/* Sorts the blocks; each stands once. */
static void
settle_blocks(struct txn_blocks *b)
{
	size_t n = 0;
	if (b->n > 1)
		qsort(b->at, b->n, sizeof *b->at, by_address);
	for (size_t i = 0; i < b->n; i++)
		if (n == 0 || b->at[n - 1].bits != b->at[i].bits)
			b->at[n++] = b->at[i];
	b->n = n;
}

/* Of *b those that are in c, too. Both are settled. */
static void
intersect(struct txn_blocks *b, const struct txn_blocks *c)
{
	size_t n = 0;
	for (size_t i = 0, k = 0; i < b->n; i++) {
		while (k < c->n && c->at[k].bits < b->at[i].bits)
			k++;
		if (k < c->n && c->at[k].bits == b->at[i].bits)
			b->at[n++] = b->at[i];
	}
	b->n = n;
}

/* Adds the blocks of one leg to *out, and if `own` is set its own rows to those of the node. */
static bool
leg_blocks(struct sql_exec *x, struct sql_op_index *o, const struct sql_index_leg *leg,
    struct txn_blocks *out, bool own)
{
	struct sql_run_index *r = o->run;
	struct making m = {
		.x = x, .o = o, .ix = &o->acc.tab->index[leg->index], .keep = x->arena[o->node.arena + 1]
	};
	r->of = NULL;
	r->ranges = r->cap = 0;
	for (unsigned p = 0; p < leg->parts; p++)
		if (!part_ranges(&m, &leg->part[p]))
			return false;
	settle(r, false);
	struct idx_tree_range *range = nam_arena_take(m.keep, (r->ranges + 1) * sizeof *range);
	if (range == NULL)
		return sql_no_memory(x->err);
	double each = r->ranges > 0 ? leg->est_entries / r->ranges : 0;
	for (unsigned i = 0; i < r->ranges; i++)
		range[i] = (struct idx_tree_range){ .low = r->of[i].low,
			.high = r->of[i].high,
			.low_open = r->of[i].low_open,
			.high_open = r->of[i].high_open,
			.expect = each < CAT_BATCH ? (unsigned)each + 1 : CAT_BATCH };
	nam_status st = txn_range_blocks(x->t, (struct txn_table *)(uintptr_t)&o->acc.tab->store, leg->index,
	    range, r->ranges, out, m.keep);
	if (st == NAM_OK && own)
		st = txn_range_own(x->t, (struct txn_table *)(uintptr_t)&o->acc.tab->store, leg->index, range,
		    r->ranges, &r->own, m.keep);
	return st == NAM_OK || sql_status(x->err, st, o->acc.tab);
}

static int
by_block(const void *a, const void *b)
{
	uint64_t x = ((const struct txn_row *)a)->at.bits, y = ((const struct txn_row *)b)->at.bits;
	return (x > y) - (x < y);
}

/* Of the own rows of several legs each stands once. */
static void
settle_own(struct txn_own_rows *own)
{
	size_t n = 0;
	if (own->n > 1)
		qsort(own->row, own->n, sizeof *own->row, by_block);
	for (size_t i = 0; i < own->n; i++)
		if (n == 0 || own->row[n - 1].at.bits != own->row[i].at.bits)
			own->row[n++] = own->row[i];
	own->n = n;
}

static bool
begin_legs(struct sql_exec *x, struct sql_op_index *o)
{
	struct sql_run_index *r = o->run;
	nam_arena_reset(x->arena[o->node.arena + 1]);
	x->env.arena = x->arena[o->node.arena + 1];
	r->opened = true;
	r->blocks = (struct txn_blocks){ 0 };
	r->own = (struct txn_own_rows){ 0 };
	r->own_at = 0;
	for (unsigned k = 0; k < o->legs; k++) {
		struct txn_blocks of = { 0 };
		/* Own rows of all legs are among those of the first. */
		if (!leg_blocks(x, o, &o->leg[k], o->all && k > 0 ? &of : &r->blocks, !o->all || k == 0))
			return false;
		settle_blocks(o->all && k > 0 ? &of : &r->blocks);
		if (o->all && k > 0)
			intersect(&r->blocks, &of);
		if (o->all && r->blocks.n == 0)
			break; /* own rows are all that may be left */
	}
	r->ranges = 0;
	settle_own(&r->own);
	return true;
}

/* ---- rows -------------------------------------------------------------------------------- */

static struct txn_table *
table_of(const struct sql_op_index *o)
{
	return (struct txn_table *)(uintptr_t)&o->acc.tab->store;
}

static bool
open_range(struct sql_exec *x, struct sql_op_index *o, const struct sql_index_range *g)
{
	const struct idx_tree_range range = { .low = g->low,
		.high = g->high,
		.low_open = g->low_open,
		.high_open = g->high_open,
		.descending = o->backward,
		.expect = o->expect };
	nam_status st = txn_range_open(x->t, table_of(o), o->index, &range, &o->run->range);
	if (st == NAM_OK) {
		if (o->run->told != NULL)
			txn_range_only(o->run->range, &o->run->told->ask);
		return true;
	}
	o->run->range = NULL;
	return sql_status(x->err, st, o->acc.tab);
}

/* Seeks the keys that come next. */
static bool
seek(struct sql_exec *x, struct sql_op_index *o)
{
	struct sql_run_index *r = o->run;
	struct nam_arena *arena = x->arena[o->node.arena + 2];
	nam_arena_reset(arena);
	r->seek_at = r->seek_row = 0;
	r->seek_first = r->at;
	for (r->seeks = 0; r->at < r->ranges && r->seeks < TOGETHER && is_point(&r->of[r->at]); r->at++)
		r->seeks++;
	r->seek = nam_arena_zero(arena, r->seeks * sizeof *r->seek);
	if (r->seek == NULL)
		return sql_no_memory(x->err);
	for (unsigned i = 0; i < r->seeks; i++)
		r->seek[i] = (struct txn_seek){ .table = table_of(o),
			.order = o->index,
			.only = r->told != NULL ? &r->told->ask : NULL,
			.key = r->of[r->seek_first + i].low,
			.every = true };
	nam_status st = txn_seek(x->t, r->seek, r->seeks, arena);
	return st == NAM_OK || sql_status(x->err, st, o->acc.tab);
}

/* Rows of seeks, until there are CAT_BATCH or a key needs a range. */
static bool
sought(struct sql_exec *x, struct sql_op_index *o, unsigned *got)
{
	struct sql_run_index *r = o->run;
	for (; r->seek_at < r->seeks; r->seek_at++, r->seek_row = 0) {
		const struct txn_seek *s = &r->seek[r->seek_at];
		uint16_t src = r->of[r->seek_first + r->seek_at].src;
		if (s->status == NAM_FULL) {
			if (*got > 0)
				return true;
			r->range_src = src;
			return open_range(x, o, &r->of[r->seek_first + r->seek_at++]);
		}
		if (s->status != NAM_OK && s->status != NAM_ABSENT)
			return sql_status(x->err, s->status, o->acc.tab);
		for (; r->seek_row < s->rows; r->seek_row++) {
			if (*got == CAT_BATCH)
				return true;
			if (r->src != NULL)
				r->src[*got] = src;
			r->rows[(*got)++] = s->all[r->seek_row];
		}
	}
	return true;
}

/* The next rows of blocks that the legs lead to. */
static bool
block_rows(struct sql_exec *x, struct sql_op_index *o, unsigned *got)
{
	struct sql_run_index *r = o->run;
	struct nam_arena *arena = x->arena[o->node.arena + 2];
	nam_arena_reset(arena);
	for (*got = 0; *got < CAT_BATCH && r->own_at < r->own.n;)
		r->rows[(*got)++] = r->own.row[r->own_at++];
	while (*got == 0 && r->block_at < r->blocks.n) {
		size_t left = r->blocks.n - r->block_at;
		unsigned n = left < TXN_BLOCKS_TOGETHER ? (unsigned)left : TXN_BLOCKS_TOGETHER;
		nam_status st =
		    txn_rows_of_blocks(x->t, table_of(o), r->blocks.at + r->block_at, n, r->rows, got, arena);
		if (st != NAM_OK)
			return sql_status(x->err, st, o->acc.tab);
		r->block_at += n;
	}
	return true;
}

static bool
range_rows(struct sql_exec *x, struct sql_op_index *o, unsigned *got)
{
	struct sql_run_index *r = o->run;
	for (*got = 0; *got == 0;) {
		if (r->range != NULL) {
			nam_status st = txn_range_next(r->range, r->rows, CAT_BATCH, got);
			if (st != NAM_OK)
				return sql_status(x->err, st, o->acc.tab);
			for (unsigned i = 0; r->src != NULL && i < *got; i++)
				r->src[i] = r->range_src;
			if (*got == 0)
				sql_index_end(&o->node);
		} else if (r->seek_at < r->seeks) {
			if (!sought(x, o, got))
				return false;
		} else if (r->at == r->ranges) {
			return true;
		} else if (is_point(&r->of[r->at])) {
			if (!seek(x, o))
				return false;
		} else {
			r->range_src = r->of[r->at].src;
			if (!open_range(x, o, &r->of[r->at++]))
				return false;
		}
	}
	return true;
}

/* Rows into r->rows, and of which rows of the child they are partners. r->rows_n == 0: there are no
 * more. */
static bool
find_rows(struct sql_exec *x, struct sql_op_index *o)
{
	struct sql_run_index *r = o->run;
	const struct txn_looks *now = txn_looked(x->t), was = *now;
	bool ok = true;
	r->rows_at = r->rows_n = 0;
	if (o->node.child == NULL && !r->opened)
		ok = o->legs > 0 ? begin_legs(x, o) : begin(x, o);
	if (ok)
		ok = o->legs > 0 ? block_rows(x, o, &r->rows_n) : range_rows(x, o, &r->rows_n);
	if (o->node.meter != NULL) {
		struct txn_looks *l = &o->node.meter->looks;
		l->keys += now->keys - was.keys;
		l->ranges += now->ranges - was.ranges;
		l->node_reads += now->node_reads - was.node_reads;
		l->block_reads += now->block_reads - was.block_reads;
		l->word_reads += now->word_reads - was.word_reads;
	}
	return ok;
}

/*
 * The batch of the next rows that are decoded alike, out of their keys or of what was READ of them:
 * *got of r->rows, from *from on. *got == 0: there are no more.
 */
static bool
next_rows(struct sql_exec *x, struct sql_op_index *o, unsigned *from, unsigned *got)
{
	struct sql_run_index *r = o->run;
	*got = 0;
	if (r->rows_at == r->rows_n && !find_rows(x, o))
		return false;
	*from = r->rows_at;
	if (r->rows_at == r->rows_n)
		return true;
	bool key = r->told != NULL && r->rows[*from].key != NULL;
	unsigned to = *from + 1;
	while (to < r->rows_n && (r->told == NULL || (r->rows[to].key != NULL) == key))
		to++;
	*got = to - *from;
	r->rows_at = to;
	return key ? sql_index_decode(x, o, r->rows + *from, *got)
		   : sql_decode_rows(x, &o->node, r->rows + *from, *got, r->tmp);
}

static int
alone(struct sql_exec *x, struct sql_op_index *o)
{
	struct sql_node *n = &o->node;
	unsigned from, got;
	while (true) {
		if (!sql_go_on(x))
			return -1;
		nam_arena_reset(x->arena[n->arena]);
		if (!next_rows(x, o, &from, &got))
			return -1;
		if (got == 0)
			return 0;
		int kept = sql_keep(x, n);
		if (kept != 0)
			return kept;
	}
}

/* ---- for rows of a child ----------------------------------------------------------------- */

/* The keys of the child's next batch. */
static int
probes(struct sql_exec *x, struct sql_op_index *o)
{
	struct sql_run_index *r = o->run;
	struct sql_node *n = &o->node;
	const struct sql_index_part *p = &o->part[0];
	struct making m = {
		.x = x, .o = o, .ix = &o->acc.tab->index[o->index], .keep = x->arena[n->arena + 1]
	};
	struct cat_vec key[CAT_KEY_MAX];
	int got = sql_next(x, n->child);
	if (got <= 0)
		return got;
	nam_arena_reset(m.keep);
	r->of = NULL;
	r->ranges = r->cap = r->at = r->seeks = r->seek_at = 0;
	r->child_rows = (unsigned)got;
	memset(r->found, 0, CAT_BATCH * sizeof *r->found);
	x->env.arena = m.keep;
	for (unsigned k = 0; k < p->keys; k++)
		if (!sql_eval(
			p->key[k].value[0], &n->child->out, n->child->sel, (unsigned)got, &x->env, &key[k]))
			return -1;
	const uint16_t *sel = sql_sel(n->child);
	for (int i = 0; i < got; i++) {
		bool none = false;
		for (unsigned k = 0; k < p->keys; k++) {
			enum cat_type type = o->acc.tab->column[m.ix->key[k].column].type;
			m.v[k] = cat_vec_at(&key[k], sel[i]);
			m.null[k] = false;
			none |= key[k].null[sel[i]] ||
				(cat_type_is_int(p->key[k].value[0]->type) && beyond(type, m.v[k].i) != 0);
		}
		unsigned before = r->ranges;
		if (!none && !one_range(&m, p))
			return -1;
		if (r->ranges > before)
			r->of[before].src = sel[i];
	}
	return got;
}

/* The child's rows src[0..m) beside m rows of the table, or beside NULLs. */
static int
beside(struct sql_exec *x, struct sql_op_index *o, const uint16_t *src, unsigned m, bool nulls)
{
	struct sql_node *n = &o->node;
	const struct sql_access *a = &o->acc;
	struct nam_arena *batch = x->arena[n->arena];
	bool ok = true;
	for (unsigned j = 0; ok && nulls && j < a->wants; j++)
		ok = sql_nulls(&n->out.col[a->base + a->want[j]], a->tab->column[a->want[j]].type, m, batch);
	for (unsigned k = 0; ok && k < o->passes; k++)
		ok = sql_gather(&n->out.col[o->pass[k]], &n->child->out.col[o->pass[k]], src, m, batch);
	if (!ok) {
		sql_no_memory(x->err);
		return -1;
	}
	n->out.n = m;
	return sql_keep(x, n);
}

/* The child's rows that have found no partner. */
static int
lonely(struct sql_exec *x, struct sql_op_index *o)
{
	struct sql_run_index *r = o->run;
	const uint16_t *sel = sql_sel(o->node.child);
	unsigned m = 0;
	for (unsigned i = 0; i < r->child_rows; i++)
		if (!r->found[sel[i]])
			r->missing[m++] = sel[i];
	r->child_rows = 0;
	nam_arena_reset(x->arena[o->node.arena]);
	return m == 0 ? 0 : beside(x, o, r->missing, m, true);
}

static int
joined(struct sql_exec *x, struct sql_op_index *o)
{
	struct sql_run_index *r = o->run;
	struct sql_node *n = &o->node;
	unsigned from, got;
	while (true) {
		if (!sql_go_on(x))
			return -1;
		nam_arena_reset(x->arena[n->arena]);
		if (!next_rows(x, o, &from, &got))
			return -1;
		int kept = 0;
		if (got == 0) {
			if (o->keep_probe && r->child_rows > 0 && (kept = lonely(x, o)) != 0)
				return kept;
			if ((kept = probes(x, o)) <= 0)
				return kept;
			continue;
		}
		for (unsigned i = 0; i < got; i++)
			r->found[r->src[from + i]] = true;
		if ((kept = beside(x, o, r->src + from, got, false)) != 0)
			return kept;
	}
}

int
sql_index_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_index *o = sql_op(index, n);
	return n->child != NULL ? joined(x, o) : alone(x, o);
}
