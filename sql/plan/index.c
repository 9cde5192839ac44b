/*
 * index.c -- which index leads to a table's rows, and in which order.
 *
 * A way is an index and what the conditions say of its columns: of the first ones values, of the
 * next one bounds. The arms of an OR may each have a part of their own. The cheapest way is taken,
 * if a scan of the table is not cheaper.
 *
 * Keys that are cut in the index (catalog.h) may bring rows that differ: then the conditions stay
 * in the operator's filter.
 */
#include <sql/expr/functions.h>
#include <sql/plan/cost.h>
#include <sql/plan/index.h>
#include <sql/plan/selectivity.h>
#include <types/array.h>
#include <types/order.h>

#include <math.h>

enum { LIST_MAX = 4096, ARRAY_GUESS = 10, SOME = 256, SOME_OF = 64 };

/* What a condition says of a column. */
struct said {
	bool key, low, high, not_null;
	bool open, sure; /* sure: the index knows all of it */
	struct sql_index_key is;
	struct sql_expr *low_is, *high_is;
};

/* ---- what a condition says --------------------------------------------------------------- */

static bool
comparable(enum cat_type value, enum cat_type column)
{
	return value == column || (cat_type_is_int(value) && cat_type_is_int(column));
}

/* True if e is that column, perhaps as a wider integer. */
static bool
is_column(const struct sql_expr *e, unsigned index)
{
	if (e->kind == SQL_CALL && e->nargs == 1 && strcmp(e->fn->name, "cast") == 0 &&
	    cat_type_is_int(e->type) && cat_type_is_int(e->args[0]->type) && e->type > e->args[0]->type)
		e = e->args[0];
	return e->kind == SQL_COLUMN && e->index == index;
}

static bool
is_value(const struct sql_expr *e, enum cat_type type)
{
	return !e->rows && comparable(e->type, type) && !sql_expr_volatile(e);
}

static struct sql_expr *
text_const(struct bind *b, const char *p, uint32_t n)
{
	struct cat_datum d = { .type = CAT_TEXT, .v.s = { p, n } };
	return sql_expr_const(b->a, d, 0);
}

/* column LIKE 'prefix...' */
static bool
says_like(struct bind *b, const struct sql_expr *pattern, struct said *out)
{
	if (pattern->kind != SQL_CONST || pattern->value.null)
		return false;
	struct cat_str w = pattern->value.v.s;
	char *p = nam_arena_take(b->a, w.len + 1);
	uint32_t n = 0, at = 0;
	for (; p != NULL && at < w.len && w.p[at] != '%' && w.p[at] != '_'; at++) {
		if (w.p[at] == '\\' && ++at == w.len)
			return false;
		p[n++] = w.p[at];
	}
	if (p == NULL || n == 0 || (out->low_is = text_const(b, p, n)) == NULL)
		return false;
	if (at == w.len) {
		struct sql_expr **one = sql_bind_take(b, sizeof *one);
		if (one == NULL)
			return false;
		one[0] = out->low_is;
		out->is = (struct sql_index_key){ SQL_INDEX_VALUE, one, 1 };
		return out->key = true;
	}
	char *next = nam_arena_copy(b->a, p, n);
	if (next == NULL || (unsigned char)next[n - 1] == 0xff)
		return false;
	next[n - 1]++;
	if ((out->high_is = text_const(b, next, n)) == NULL)
		return false;
	out->open = true; /* the high one */
	return out->low = out->high = true;
}

static bool
says_one(struct bind *b, struct sql_expr *v, struct said *out)
{
	struct sql_expr **one = sql_bind_take(b, sizeof *one);
	if (one == NULL)
		return false;
	one[0] = v;
	out->is = (struct sql_index_key){ SQL_INDEX_VALUE, one, 1 };
	out->sure = true;
	return out->key = true;
}

/* column op value, or turned around. */
static bool
says_compare(struct bind *b, const struct sql_expr *e, unsigned index, enum cat_type type, struct said *out)
{
	const char *op = e->fn->name;
	for (unsigned side = 0; side < 2; side++) {
		struct sql_expr *v = e->args[1 - side];
		if (!is_column(e->args[side], index) || !is_value(v, type))
			continue;
		if (strcmp(op, "=") == 0)
			return says_one(b, v, out);
		if ((op[0] != '<' && op[0] != '>') || (op[1] != 0 && strcmp(op + 1, "=") != 0))
			return false;
		out->open = op[1] == 0;
		out->sure = true;
		if ((op[0] == '>') == (side == 0)) {
			out->low_is = v;
			return out->low = true;
		}
		out->high_is = v;
		return out->high = true;
	}
	return false;
}

static bool
says_list(const struct sql_expr *e, unsigned index, enum cat_type type, struct said *out)
{
	if (e->negate || e->nargs > LIST_MAX || !is_column(e->args[0], index))
		return false;
	for (unsigned i = 1; i < e->nargs; i++)
		if (!is_value(e->args[i], type))
			return false;
	out->is = (struct sql_index_key){ SQL_INDEX_LIST, e->args + 1, e->nargs - 1u };
	out->sure = true;
	return out->key = true;
}

/* What a condition says of a column of table k. False: nothing. */
static bool
says(struct bind *b, const struct sql_index_source *s, unsigned index, enum cat_type type, struct said *out)
{
	const struct sql_expr *e = s->e;
	struct sql_set none = sql_set_none();
	*out = (struct said){ 0 };
	struct sql_expr *v = s->by != NULL ? sql_plan_key_value(s->by, index, type, &none) : NULL;
	if (v != NULL && !sql_expr_volatile(v))
		return says_one(b, v, out);
	switch (e->kind) {
	case SQL_IN:
		return says_list(e, index, type, out);
	case SQL_IS_NULL:
		if (!is_column(e->args[0], index))
			return false;
		out->sure = true;
		out->not_null = e->negate;
		out->key = !e->negate;
		out->is.by = SQL_INDEX_NULL;
		return true;
	case SQL_CALL:
		if (sql_expr_is_any(e)) {
			out->is = (struct sql_index_key){ SQL_INDEX_ARRAY, &e->args[1], 1 };
			out->key = out->sure = is_column(e->args[0], index) && !e->args[1]->rows &&
					       !sql_expr_volatile(e->args[1]) &&
					       comparable(cat_type_element(e->args[1]->type), type);
			return out->key;
		}
		if (e->nargs != 2)
			return false;
		if (strcmp(e->fn->name, "~~") == 0)
			return type == CAT_TEXT && is_column(e->args[0], index) &&
			       says_like(b, e->args[1], out);
		return says_compare(b, e, index, type, out);
	default:
		return false;
	}
}

/* ---- one way ----------------------------------------------------------------------------- */

static void
note(struct sql_index_way *w, const struct sql_index_source *s, bool sure)
{
	if (s->by == NULL)
		return;
	for (unsigned i = 0; i < w->bys; i++)
		if (w->by[i] == s->by)
			return;
	w->by[w->bys] = s->by;
	w->sure[w->bys++] = sure;
}

static double
choices(const struct sql_index_key *k)
{
	struct cat_array a;
	if (k->by == SQL_INDEX_LIST)
		return k->values;
	if (k->by != SQL_INDEX_ARRAY)
		return 1;
	if (k->value[0]->kind != SQL_CONST || k->value[0]->value.null)
		return ARRAY_GUESS;
	cat_array_open(k->value[0]->type, k->value[0]->value.v.s, &a);
	return a.n > 0 ? a.n : 1;
}

/* What the sources say of the index's columns, as one part. */
bool
sql_way_part(struct bind *b, unsigned k, struct sql_index_way *w, const struct sql_index_source *s,
    unsigned n, struct sql_index_part *p)
{
	const struct bind_table *t = b->from.table[k];
	const struct cat_index *ix = &t->tab->index[w->index];
	unsigned certain = cat_index_sure(t->tab, ix);
	double ranges = 1;
	const struct sql_index_source *by[CAT_KEY_MAX];
	bool sure[CAT_KEY_MAX];
	*p = (struct sql_index_part){ 0 };
	if ((p->key = sql_bind_take(b, ix->keys * sizeof *p->key)) == NULL)
		return false;
	for (; p->keys < ix->keys; p->keys++) {
		unsigned col = ix->key[p->keys].column;
		const struct sql_index_source *best = NULL;
		struct said is = { 0 }, as;
		for (unsigned i = 0; i < n; i++)
			if (says(b, &s[i], t->base + col, t->tab->column[col].type, &as) && as.key &&
			    (best == NULL || choices(&as.is) < choices(&is.is))) {
				best = &s[i];
				is = as;
			}
		if (best == NULL || ranges * choices(&is.is) > LIST_MAX)
			break;
		ranges *= choices(&is.is);
		p->key[p->keys] = is.is;
		by[p->keys] = best;
		sure[p->keys] = is.sure;
	}
	/* Equal words are equal keys, even if these are cut. */
	for (unsigned i = 0; i < p->keys; i++)
		note(w, by[i], sure[i] && (i < certain || p->keys == ix->keys));
	w->ranges += ranges;
	if (p->keys == ix->keys)
		return true;
	w->points = false;
	unsigned col = ix->key[p->keys].column;
	bool exact = p->keys < certain && !cat_type_is_str(t->tab->column[col].type);
	for (unsigned i = 0; i < n; i++) {
		struct said as;
		if (!says(b, &s[i], t->base + col, t->tab->column[col].type, &as) || as.key)
			continue;
		bool low = as.low && p->low == NULL, high = as.high && p->high == NULL;
		if (!low && !high && !as.not_null)
			continue;
		if (low) {
			p->low = as.low_is;
			p->low_open = as.open && !as.high;
		}
		if (high) {
			p->high = as.high_is;
			p->high_open = as.open;
		}
		p->not_null |= as.not_null;
		note(w, &s[i], as.sure && (exact || (as.not_null && p->keys < certain)));
	}
	return true;
}

double
sql_way_share(struct bind *b, const struct sql_index_way *w)
{
	struct sql_expr **e = sql_bind_take(b, (w->bys + 1) * sizeof *e);
	unsigned n = 0;
	if (e == NULL)
		return 1;
	for (unsigned i = 0; i < w->bys; i++)
		e[n++] = w->by[i]->e;
	if (w->arms != NULL)
		e[n++] = w->arms;
	return n > 0 ? sql_sel_all(b, e, n) : 1;
}

/* ---- order ------------------------------------------------------------------------------- */

/* True if all rows of the way have one value in that column of its key. */
static bool
is_fixed(const struct sql_index_way *w, unsigned key)
{
	return w->parts == 1 && key < w->part[0].keys &&
	       (w->part[0].key[key].by == SQL_INDEX_VALUE || w->part[0].key[key].by == SQL_INDEX_NULL);
}

/* The first columns of the order that the query wishes for, by which the way brings the rows. */
static unsigned
in_order(struct bind *b, unsigned k, struct sql_index_way *w)
{
	const struct bind_wish *wish = &b->wish;
	const struct bind_table *t = b->from.table[k];
	const struct cat_index *ix = &t->tab->index[w->index];
	unsigned certain = cat_index_sure(t->tab, ix), at = 0;
	bool known = false;
	if (wish->columns == 0 || b->from.tables != 1)
		return 0;
	for (unsigned i = 0; i < wish->columns; i++) {
		unsigned col = wish->column[i] - t->base;
		bool fixed = false;
		for (unsigned key = 0; key < ix->keys && !fixed; key++)
			fixed = ix->key[key].column == col && is_fixed(w, key);
		if (fixed)
			continue;
		while (at < ix->keys && ix->key[at].column != col && is_fixed(w, at))
			at++;
		if (at >= certain || ix->key[at].column != col)
			return i;
		bool backward = wish->desc[i] != ix->key[at].descending;
		bool no_nulls = t->tab->column[col].not_null || wish->not_null ||
				(w->parts == 1 && at == w->part[0].keys &&
				    (w->part[0].low || w->part[0].high || w->part[0].not_null));
		if (!no_nulls && (wish->nulls_first[i] != ix->key[at].nulls_first) != backward)
			return i;
		if (known && backward != w->backward)
			return i;
		known = true;
		w->backward = backward;
		if (wish->not_null) {
			if (w->parts != 1 || at != w->part[0].keys)
				return i;
			w->part[0].not_null = true;
		}
		at++;
	}
	return wish->columns;
}

/*
 * Rows that are read before the first ones by all columns of the wish are known: those that are
 * alike in its first `fits` columns come together. 0: not known, or so many that a scan and a sort
 * of the best rows do as well.
 */
static double
rows_of_stop(struct sql_index_choice *c, const struct sql_index_way *w, unsigned fits)
{
	struct bind *b = c->b;
	double left = fmin(c->left, w->found);
	struct sql_expr **e = sql_bind_take(b, (fits + 1) * sizeof *e);
	if (fits == 0 || !b->wish.stops || e == NULL)
		return 0;
	for (unsigned i = 0; i < fits; i++) {
		unsigned col = b->wish.column[i] - b->from.table[c->k]->base;
		e[i] = sql_expr_column(b->a, b->wish.column[i], c->tab->column[col].type, -1, 0);
		if (e[i] == NULL || sql_sel_distinct(b, e[i]) < 1)
			return 0;
	}
	double first = b->wish.rows + c->left / sql_sel_groups(b, e, fits, c->left);
	double reads = first * w->found / left;
	return first < left && (reads <= SOME || reads * SOME_OF < c->rows) ? first : 0;
}

/* ---- rows out of keys ------------------------------------------------------------------- */

bool
sql_index_tells(const struct sql_access *a, unsigned index)
{
	const struct cat_index *ix = &a->tab->index[index];
	if (a->identify || a->row_at != 0)
		return false;
	for (unsigned j = 0; j < a->wants; j++) {
		unsigned k = 0;
		while (k < ix->keys && ix->key[k].column != a->want[j])
			k++;
		if (k == ix->keys || !cat_order_tells(a->tab->column[a->want[j]].type))
			return false;
	}
	return true;
}

bool
sql_index_only(const struct sql_op_index *o)
{
	return o->legs == 0 && sql_index_tells(&o->acc, o->index);
}

/* ---- the choice -------------------------------------------------------------------------- */

bool
sql_way_begin(struct sql_index_choice *c, struct sql_index_way *w, unsigned index, unsigned parts)
{
	*w = (struct sql_index_way){ .index = index, .points = true };
	w->part = sql_bind_take(c->b, parts * sizeof *w->part);
	w->by = sql_bind_take(c->b, (c->sources + 1) * sizeof *w->by);
	w->sure = sql_bind_take(c->b, (c->sources + 1) * sizeof *w->sure);
	return w->part != NULL && w->by != NULL && w->sure != NULL;
}

/* Few whole primary keys: they are looked up, as by a hash, however small the table is. */
static bool
is_key(const struct sql_index_choice *c, const struct sql_index_way *w)
{
	enum { FEW = 128 }; /* which share a doorbell */
	return c->tab->index[w->index].primary && w->parts == 1 && w->points && w->ranges <= FEW;
}

/* What it costs; it becomes the best one if none costs less. */
static void
weigh(struct sql_index_choice *c, struct sql_index_way *w)
{
	struct bind *b = c->b;
	const struct cat_index *ix = &c->tab->index[w->index];
	bool used = false;
	for (unsigned i = 0; i < w->parts; i++) {
		const struct sql_index_part *p = &w->part[i];
		used |= sql_part_says(p);
	}
	w->found = c->rows * sql_way_share(b, w);
	if (ix->unique && w->points)
		w->found = fmin(w->found, w->ranges);
	if (w->found < 1)
		w->found = 1;
	unsigned fits = in_order(b, c->k, w);
	double first = b->wish.rows, left = fmin(c->left, w->found);
	w->ordered = b->wish.columns > 0 && fits == b->wish.columns;
	if (!w->ordered && (first = rows_of_stop(c, w, fits)) > 0)
		w->presorted = fits;
	if (!w->ordered && w->presorted == 0)
		w->backward = false;
	if (!used && !w->ordered && w->presorted == 0)
		return;
	for (unsigned i = 0; w->parts > 1 && i < w->bys; i++)
		w->sure[i] = false; /* another part may do without them */
	w->reads = w->found;
	if ((w->ordered || w->presorted > 0) && first > 0)
		w->reads = fmin(w->found, ceil(first * w->found / left));
	if (w->presorted > 0)
		left = fmin(left, first);
	w->cost = sql_index_tells(c->acc, w->index) ? sql_cost_index_only(c->c, w->reads, c->wants + 1)
						    : sql_cost_index(c->c, c->tab, w->reads, c->wants + 1);
	w->cost += (w->ranges - 1) * (w->points ? c->c->verb : 2 * c->c->trip) / 1e3;
	if (!w->ordered && b->wish.columns > 0)
		w->cost += sql_cost_sort(c->c, left, 8.0 * c->wants);
	bool key = is_key(c, w);
	if (!key && (b->in->in_pieces ? w->bys == 0 : !sql_cost_few(w->reads, c->rows)))
		return;
	bool better =
	    c->best.parts == 0 || w->cost < c->best.cost || (w->cost == c->best.cost && w->bys > c->best.bys);
	if (key || (better && !c->key)) {
		c->best = *w;
		c->key = key;
	}
}

/* Index i with a part for each arm of an OR. */
static bool
by_arms(struct sql_index_choice *c, unsigned i, struct sql_expr *arms)
{
	struct sql_index_way w;
	if (arms->nargs > SQL_INDEX_ARMS)
		return true;
	if (!sql_way_begin(c, &w, i, arms->nargs))
		return false;
	w.arms = arms;
	for (unsigned a = 0; a < arms->nargs; a++) {
		struct sql_expr *arm = arms->args[a];
		struct sql_expr *const *said = arm->kind == SQL_AND ? arm->args : &arm;
		unsigned n = arm->kind == SQL_AND ? arm->nargs : 1;
		struct sql_index_source *s = sql_bind_take(c->b, (n + c->sources) * sizeof *s);
		struct sql_index_part *p = &w.part[w.parts++];
		if (s == NULL)
			return false;
		for (unsigned m = 0; m < n; m++)
			s[m].e = said[m];
		memcpy(s + n, c->s, c->sources * sizeof *s);
		if (!sql_way_part(c->b, c->k, &w, s, n + c->sources, p))
			return false;
		if (!sql_part_says(p))
			return true;
	}
	weigh(c, &w);
	return true;
}

static bool
choose(struct sql_index_choice *c)
{
	struct sql_index_way *one = sql_bind_take(c->b, c->tab->indexes * sizeof *one);
	unsigned ones = 0;
	if (one == NULL)
		return false;
	for (unsigned i = 0; i < c->tab->indexes; i++) {
		struct sql_index_way w;
		if (!c->tab->index[i].valid)
			continue;
		if (!sql_way_begin(c, &w, i, 1) ||
		    !sql_way_part(c->b, c->k, &w, c->s, c->sources, &w.part[0]))
			return false;
		w.parts = 1;
		weigh(c, &w);
		if (w.bys > 0)
			one[ones++] = w;
		for (unsigned s = 0; s < c->sources; s++)
			if (c->s[s].e->kind == SQL_OR && !by_arms(c, i, c->s[s].e))
				return false;
	}
	return sql_plan_legs(c, one, ones);
}

/* By several indexes: all conditions are asked again. */
static struct sql_node *
by_legs(struct sql_index_choice *c, struct sql_op_index *n)
{
	n->index = c->legs.leg[0].index;
	n->leg = c->legs.leg;
	n->legs = c->legs.legs;
	n->all = c->legs.all;
	n->est_found = c->legs.reads;
	n->node.est_rows = fmax(c->rows, 1);
	return &n->node;
}

bool
sql_plan_index(struct bind *b, unsigned k, struct sql_node **out)
{
	struct sql_index_choice c = { .b = b,
		.k = k,
		.c = b->in->costs ? b->in->costs : &sql_costs_standard,
		.tab = b->from.table[k]->tab };
	struct sql_set one = sql_set_one(k);
	unsigned strongs = 0;
	*out = NULL;
	if (c.tab->indexes == 0)
		return true;
	struct sql_expr **e = sql_bind_take(b, (b->where.conds + 1) * sizeof *e);
	if (e == NULL || (c.s = sql_bind_take(b, (b->where.conds + 1) * sizeof *c.s)) == NULL)
		return false;
	for (unsigned i = 0; i < b->where.conds; i++) {
		struct bind_cond *cond = &b->where.cond[i];
		if (!sql_plan_open(b, cond) || !sql_set_equal(&cond->mask, &one))
			continue;
		if (!cond->weak)
			e[strongs++] = cond->e;
		c.s[c.sources++] = (struct sql_index_source){ cond->e, cond };
	}
	c.rows = sql_sel_rows(b, k);
	c.left = strongs > 0 ? fmax(c.rows * sql_sel_all(b, e, strongs), 1) : c.rows;
	struct sql_op_index *n = sql_new_index(b, NULL, b->from.width);
	if (n == NULL || !sql_plan_access(b, &n->acc, k))
		return false;
	c.wants = n->acc.wants;
	c.acc = &n->acc;
	if (!choose(&c))
		return false;
	double scan = sql_cost_scan(c.c, c.tab, c.rows, c.wants + 1);
	if (b->wish.columns > 0 && b->from.tables == 1)
		scan += b->wish.not_null ? 0 : sql_cost_sort(c.c, c.left, 8.0 * c.wants);
	if (c.legs.legs > 0 && !c.key && c.legs.cost < scan &&
	    (c.best.parts == 0 || c.legs.cost < c.best.cost)) {
		*out = by_legs(&c, n);
		return true;
	}
	if (c.best.parts == 0 || (c.best.cost > scan && !b->in->in_pieces && !c.key))
		return true;
	const struct sql_index_way *w = &c.best;
	n->index = w->index;
	n->part = w->part;
	n->parts = w->parts;
	n->ordered = w->ordered;
	n->backward = w->backward;
	n->presorted = w->presorted;
	n->est_found = w->reads;
	if ((w->ordered || w->presorted > 0) && b->wish.rows > 0)
		n->expect = (unsigned)fmin(w->reads, 1 << 20);
	double share = 1;
	for (unsigned i = 0; i < w->bys; i++) {
		w->by[i]->used |= w->sure[i];
		e[0] = w->by[i]->e;
		share *= w->sure[i] && !w->by[i]->weak ? sql_sel_all(b, e, 1) : 1;
	}
	/* Before the filter: all conditions that are not used yet go through it. */
	n->node.est_rows = fmax(c.rows * share, 1);
	if (c.tab->index[w->index].unique && w->points)
		n->node.est_rows = fmin(n->node.est_rows, w->found);
	*out = &n->node;
	return true;
}

/* ---- joins ---------------------------------------------------------------------------- */

/* The first columns of index i that conditions give values of. */
static bool
join_keys(struct bind *b, unsigned k, const struct sql_set *given, unsigned i, struct plan_index_join *j)
{
	const struct bind_table *t = b->from.table[k];
	const struct cat_index *ix = &t->tab->index[i];
	struct sql_set none = sql_set_none();
	bool tied = false;
	double share = 1;
	*j = (struct plan_index_join){ .index = i };
	j->key = sql_bind_take(b, ix->keys * sizeof *j->key);
	j->by = sql_bind_take(b, ix->keys * sizeof *j->by);
	if (j->key == NULL || j->by == NULL)
		return false;
	for (; j->keys < ix->keys; j->keys++) {
		unsigned col = ix->key[j->keys].column;
		struct sql_expr *v = NULL;
		for (unsigned c = 0; c < b->where.conds && v == NULL; c++) {
			struct bind_cond *cond = &b->where.cond[c];
			if (!sql_plan_may_give(b, cond, k))
				continue;
			v = sql_plan_key_value(cond, t->base + col, t->tab->column[col].type, given);
			if (v != NULL && sql_expr_volatile(v))
				v = NULL;
			j->by[j->keys] = cond;
		}
		if (v == NULL)
			break;
		struct bind_cond *by = j->by[j->keys];
		bool alone = sql_plan_key_value(by, t->base + col, t->tab->column[col].type, &none) != NULL;
		share *= alone ? sql_sel_all(b, &by->e, 1) : sql_sel_join(b, by->l, by->r);
		tied |= !alone;
		j->key[j->keys] = v;
	}
	if (!tied)
		j->keys = 0;
	j->full = j->keys == ix->keys;
	j->exact = j->full || j->keys <= cat_index_sure(t->tab, ix);
	j->rows = ix->unique && j->full ? 1 : fmax(sql_sel_rows(b, k) * share, 1);
	return true;
}

bool
sql_plan_index_join(struct bind *b, unsigned k, const struct sql_set *given, struct plan_index_join *out)
{
	const struct cat_table *tab = b->from.table[k]->tab;
	*out = (struct plan_index_join){ 0 };
	for (unsigned i = 0; i < tab->indexes; i++) {
		struct plan_index_join j;
		if (!tab->index[i].valid)
			continue;
		if (!join_keys(b, k, given, i, &j))
			return false;
		if (j.keys > 0 &&
		    (out->keys == 0 || j.full > out->full || (j.full == out->full && j.rows < out->rows)))
			*out = j;
	}
	return true;
}

struct sql_node *
sql_plan_index_lookup(struct bind *b, struct sql_node *left, const struct sql_set *have, unsigned k,
    const struct plan_index_join *j)
{
	struct sql_op_index *n = sql_new_index(b, left, b->from.width);
	if (n == NULL || !sql_plan_access(b, &n->acc, k) ||
	    (n->part = sql_bind_take(b, sizeof *n->part)) == NULL ||
	    (n->part->key = sql_bind_take(b, j->keys * sizeof *n->part->key)) == NULL)
		return NULL;
	n->index = j->index;
	n->parts = 1;
	n->part->keys = j->keys;
	for (unsigned i = 0; i < j->keys; i++) {
		n->part->key[i] = (struct sql_index_key){ SQL_INDEX_VALUE, &j->key[i], 1 };
		j->by[i]->used |= j->exact;
	}
	n->est_found = j->rows;
	n->node.est_rows = left->est_rows * j->rows;
	n->pass = sql_plan_columns_of(b, have, &n->passes);
	struct sql_set with = *have;
	sql_set_put(&with, k);
	return n->pass && sql_plan_push_down(b, &n->node, &with, false) ? &n->node : NULL;
}
