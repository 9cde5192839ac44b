/*
 * order.c -- in which order the operands of a region's inner joins are joined.
 *
 * Up to DP_MAX operands: dynamic programming over the connected sets of them, every way to divide
 * each set (Moerkotte and Neumann, 2006, enumerate the same pairs faster; at this size it does not
 * matter). More: the two are joined next whose join costs least (Fegaras, 1998); a pair is
 * estimated once, and again when one of the two has become larger. If even that is WORK_MAX steps,
 * what is left is joined as the conditions connect it. What nothing connects is multiplied last.
 *
 * Rows of a set: the product of its operands' rows and of the shares that the conditions
 * inside of it let pass; equal columns, however many conditions say so, count once.
 */
#include <base/aside.h>
#include <base/rng.h>
#include <sql/plan/cost.h>
#include <sql/plan/plan_internal.h>
#include <sql/plan/selectivity.h>

#include <math.h>

enum {
	DP_MAX = 12,
	ASIDE_ITEMS = 9,      /* the search may take milliseconds */
	CLASS_MAX = 12,       /* so many columns of a class are said to be equal, each to each */
	WORK_MAX = 1000000000 /* steps of the search: about a second */
};

/* Columns that the conditions make equal. */
struct klass {
	struct sql_set items;
	struct member {
		unsigned column, item;
		double distinct;
	} * m;
	unsigned n, cap;
	double pair; /* of two columns: the share of pairs that are equal */
};

/* Any other condition over several operands: low and high are the first and the last of them. */
struct factor {
	struct sql_set items;
	unsigned low, high;
	double share;
};

/* One way to have a set of operands joined. rows < 0: there is none. */
struct part {
	double rows, cost, width;
	const struct part *left, *right; /* NULL = one operand */
	unsigned item;                   /* which one */
	bool lookup;                     /* rows of left look up right, a table */
};

/* What is joined so far: part k of these operands, which conditions tie to those near it. */
struct joined {
	const struct part **part;
	struct sql_set *items, *near;
	unsigned n;
};

/*
 * A table whose key has several columns, each of a class of more than two. The classes' shares take
 * the columns for independent, but there are only as many keys as rows: where all of the key's
 * columns meet others, `by` times as many rows come out.
 */
struct whole {
	unsigned item, keys, *klass;
	double by;
};

struct order {
	struct bind *b;
	const struct sql_costs *costs;
	const struct plan_item *item;
	unsigned items;
	struct sql_set tables; /* of all operands: a later LATERAL item is none of them */
	struct part *single;
	struct sql_set *edge; /* of each operand, those that an equation ties to it */
	unsigned *item_at;    /* of each table: the operand it is in; items: none */
	struct factor *factor;
	unsigned factors;
	struct klass *klass;
	unsigned klasses;
	struct whole *whole;
	unsigned wholes;
	double work, step; /* steps taken; of one more estimate */
};

/* ---- what conditions say ------------------------------------------------------------------ */

/* Columns of different tables, of one type, that must be equal. */
static bool
is_equality(const struct bind *b, const struct bind_cond *c)
{
	return sql_plan_open(b, c) && c->l != NULL && c->l->kind == SQL_COLUMN && c->r->kind == SQL_COLUMN &&
	       c->l->type == c->r->type && c->e->kind == SQL_CALL && !sql_set_equal(&c->lmask, &c->rmask);
}

/* Which class is the column of? UINT32_MAX: none. */
static unsigned
class_of(const struct klass *k, unsigned n, unsigned column)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned m = 0; m < k[i].n; m++)
			if (k[i].m[m].column == column)
				return i;
	return UINT32_MAX;
}

static bool
add_member(struct bind *b, struct klass *k, unsigned column)
{
	if (k->n == k->cap) {
		unsigned cap = k->cap * 4;
		struct member *more = sql_bind_take(b, cap * sizeof *more);
		if (more == NULL)
			return false;
		memcpy(more, k->m, k->n * sizeof *more);
		k->m = more;
		k->cap = cap;
	}
	k->m[k->n++].column = column;
	return true;
}

/* The classes of the region's open equalities between these tables. */
static struct klass *
classes(struct bind *b, const struct sql_set *tables, unsigned *n)
{
	/* a class begins with two columns, for which there is room at once */
	struct klass *k = sql_bind_take(b, (b->where.conds + 1) * (sizeof *k + 2 * sizeof *k->m));
	struct member *two = (struct member *)(k + b->where.conds + 1);
	bool ok = true;
	*n = 0;
	for (unsigned i = 0; k != NULL && ok && i < b->where.conds; i++) {
		const struct bind_cond *c = &b->where.cond[i];
		if (!is_equality(b, c) || !sql_set_within(&c->mask, tables))
			continue;
		unsigned x = class_of(k, *n, c->l->index), y = class_of(k, *n, c->r->index);
		if (x == UINT32_MAX && y == UINT32_MAX) {
			struct klass *to = &k[(*n)++];
			to->m = two;
			to->cap = 2;
			two += 2;
			ok = add_member(b, to, c->l->index) && add_member(b, to, c->r->index);
		} else if (x == UINT32_MAX || y == UINT32_MAX) {
			ok = add_member(
			    b, &k[x == UINT32_MAX ? y : x], x == UINT32_MAX ? c->l->index : c->r->index);
		} else if (x != y) {
			for (unsigned m = 0; m < k[y].n && ok; m++)
				ok = add_member(b, &k[x], k[y].m[m].column);
			k[y] = k[--*n];
			k[*n] = (struct klass){ 0 };
		}
	}
	return ok ? k : NULL;
}

static bool
implied(struct bind *b, struct sql_expr *l, struct sql_expr *r, bool redundant)
{
	struct bind_cond c = {
		.l = l, .r = r, .ul = l, .ur = r, .home = b->where.home, .implied = redundant
	};
	if ((c.e = sql_expr_op(b->a, "=", l, r, 0, b->err)) == NULL)
		return false;
	c.lmask = sql_bind_tables_of(b, l);
	c.rmask = sql_bind_tables_of(b, r);
	c.mask = sql_set_or(&c.lmask, &c.rmask);
	struct bind_cond *to = sql_bind_cond_add(b);
	if (to != NULL)
		*to = c;
	return to != NULL;
}

/* The value that a condition gives a column, of the column's type, equal for all rows. */
static struct sql_expr *
constant(const struct bind *b, const struct bind_cond *c, unsigned column)
{
	if (c->home != b->where.home || c->l == NULL)
		return NULL;
	for (unsigned side = 0; side < 2; side++) {
		const struct sql_expr *col = side ? c->r : c->l;
		struct sql_expr *v = side ? c->ul : c->ur;
		bool fixed = v->kind == SQL_CONST || v->kind == SQL_PARAM;
		if (col->kind == SQL_COLUMN && col->index == column && fixed && v->type == col->type)
			return v;
	}
	return NULL;
}

static struct sql_expr *
column(struct bind *b, unsigned index)
{
	return sql_expr_column(b->a, index, sql_plan_column_type(b, index), -1, 0);
}

/* True if one of the first conditions says that the two columns are equal. */
static bool
said(const struct bind *b, unsigned conds, unsigned x, unsigned y)
{
	for (unsigned i = 0; i < conds; i++) {
		const struct bind_cond *c = &b->where.cond[i];
		if (c->l != NULL && c->l->kind == SQL_COLUMN && c->r->kind == SQL_COLUMN &&
		    ((c->l->index == x && c->r->index == y) || (c->l->index == y && c->r->index == x)) &&
		    is_equality(b, c))
			return true;
	}
	return false;
}

/* What follows for the columns of one class: a constant for each, or that each is equal to each. */
static bool
derive(struct bind *b, const struct klass *k, unsigned conds)
{
	struct sql_expr *v = NULL;
	bool *has = sql_bind_take(b, k->n * sizeof *has);
	if (has == NULL)
		return false;
	for (unsigned m = 0; m < k->n; m++)
		for (unsigned c = 0; c < conds; c++) {
			struct sql_expr *x = constant(b, &b->where.cond[c], k->m[m].column);
			has[m] |= x != NULL;
			v = x && !v ? x : v;
		}
	for (unsigned m = 0; m < k->n; m++) {
		struct sql_expr *x = column(b, k->m[m].column);
		if (x == NULL || (v != NULL && !has[m] && !implied(b, x, v, false)))
			return false;
		/* so that any two may be joined first: of a large class those that are near */
		for (unsigned o = m - m % CLASS_MAX; o < m && v == NULL; o++) {
			if (said(b, conds, k->m[m].column, k->m[o].column))
				continue;
			struct sql_expr *y = column(b, k->m[o].column);
			if (y == NULL || !implied(b, x, y, true))
				return false;
		}
	}
	return true;
}

bool
sql_plan_derive(struct bind *b)
{
	unsigned n, conds = b->where.conds;
	struct sql_set all = sql_set_all();
	struct klass *k = classes(b, &all, &n);
	for (unsigned i = 0; k != NULL && i < n; i++)
		if (!derive(b, &k[i], conds))
			return false;
	return k != NULL;
}

/* The first operand that has one of these tables. */
static unsigned
item_of(const struct order *o, const struct sql_set *tables)
{
	unsigned i = o->items, n = o->b->from.tables;
	for (unsigned k = sql_set_first(tables, n); k < n; k = sql_set_next(tables, k, n))
		i = o->item_at[k] < i ? o->item_at[k] : i;
	return i;
}

static struct sql_set
items_of(const struct order *o, const struct sql_set *tables)
{
	struct sql_set m = sql_set_none();
	unsigned n = o->b->from.tables;
	for (unsigned k = sql_set_first(tables, n); k < n; k = sql_set_next(tables, k, n))
		if (o->item_at[k] < o->items)
			sql_set_put(&m, o->item_at[k]);
	return m;
}

static bool
gives(const struct sql_set *tables, const struct sql_set *of)
{
	return !sql_set_is_empty(tables) && sql_set_within(tables, of);
}

/* Conditions between a table of a whole key and another operand that fix the key: one row of it at
 * most. */
static double
whole_key(struct order *o, const struct bind_cond *c, unsigned *keys)
{
	struct bind *b = o->b;
	for (unsigned side = 0; side < 2; side++) {
		const struct sql_set *mine = side ? &c->rmask : &c->lmask,
				     *other = side ? &c->lmask : &c->rmask;
		unsigned i = item_of(o, mine), t = o->item[i].table, found = 0;
		if (t >= SQL_TABLES_MAX || b->from.table[t]->tab->keys < 2)
			continue;
		const struct cat_table *tab = b->from.table[t]->tab;
		const struct sql_set *others = &o->item[item_of(o, other)].mask;
		for (unsigned k = 0; k < tab->keys; k++)
			for (unsigned d = 0; d < b->where.conds; d++) {
				const struct bind_cond *x = &b->where.cond[d];
				unsigned col = b->from.table[t]->base + tab->key[k];
				if (!sql_plan_open(b, x) || x->l == NULL || x->implied)
					continue;
				bool l = x->l->kind == SQL_COLUMN && x->l->index == col &&
					 gives(&x->rmask, others);
				bool r = x->r->kind == SQL_COLUMN && x->r->index == col &&
					 gives(&x->lmask, others);
				if (l || r) {
					found++;
					break;
				}
			}
		*keys = tab->keys;
		if (found == tab->keys)
			return 1 / sql_sel_rows(b, t);
	}
	return 0;
}

/* What the columns of a class are like. */
static bool
look_at_class(struct order *o, struct klass *k)
{
	struct bind *b = o->b;
	struct sql_expr *first = NULL;
	bool fixed = false;
	for (unsigned m = 0; m < k->n; m++)
		for (unsigned c = 0; c < b->where.conds && !fixed; c++)
			fixed = constant(b, &b->where.cond[c], k->m[m].column) != NULL;
	for (unsigned m = 0; m < k->n; m++) {
		struct sql_expr *e = column(b, k->m[m].column);
		if (e == NULL)
			return false;
		unsigned it = k->m[m].item = o->item_at[sql_bind_table_at(b, k->m[m].column)];
		sql_set_put(&k->items, it);
		double d = sql_sel_distinct(b, e), rows = o->item[it].node->est_rows;
		k->m[m].distinct = fixed ? 1 : d > 0 && d < rows ? d : rows;
		if (m == 0)
			first = e;
		else if (m == 1) /* of more than two nobody asks for it */
			k->pair = fixed ? 1 : sql_sel_join(b, first, e);
	}
	return true;
}

/* Operands that an equation ties together, when each of its sides is over one. */
static void
add_edge(struct order *o, const struct bind_cond *c)
{
	struct sql_set l = items_of(o, &c->lmask), r = items_of(o, &c->rmask);
	if (sql_set_is_many(&l) || sql_set_is_many(&r))
		return;
	unsigned x = sql_set_first(&l, o->items), y = sql_set_first(&r, o->items);
	if (x < o->items)
		sql_set_add(&o->edge[x], &r);
	if (y < o->items)
		sql_set_add(&o->edge[y], &l);
}

/* The class of more than two columns in which that column of item i is. UINT32_MAX: none. */
static unsigned
large_class(const struct order *o, unsigned column)
{
	unsigned k = class_of(o->klass, o->klasses, column);
	return k != UINT32_MAX && o->klass[k].n > 2 ? k : UINT32_MAX;
}

static bool
look_at_wholes(struct order *o)
{
	struct bind *b = o->b;
	if ((o->whole = sql_bind_take(b, o->items * sizeof *o->whole)) == NULL)
		return false;
	for (unsigned i = 0; i < o->items; i++) {
		unsigned t = o->item[i].table, n = 0;
		if (t >= SQL_TABLES_MAX || b->from.table[t]->tab->keys < 2)
			continue;
		const struct cat_table *tab = b->from.table[t]->tab;
		struct whole w = { .item = i, .keys = tab->keys, .by = 1 / fmax(sql_sel_rows(b, t), 1) };
		if ((w.klass = sql_bind_take(b, w.keys * sizeof *w.klass)) == NULL)
			return false;
		while (n < w.keys) {
			unsigned col = b->from.table[t]->base + tab->key[n];
			struct sql_expr *e = column(b, col);
			if (e == NULL)
				return false;
			w.klass[n] = large_class(o, col);
			double d = sql_sel_distinct(b, e);
			if (w.klass[n] == UINT32_MAX || d <= 0)
				break;
			w.by *= d;
			n++;
		}
		if (n == w.keys && w.by > 1)
			o->whole[o->wholes++] = w;
	}
	return true;
}

/* True if the table and another operand with each of its key's columns are in the set. */
static bool
is_met(const struct order *o, const struct whole *w, const struct sql_set *items)
{
	if (!sql_set_has(items, w->item))
		return false;
	for (unsigned i = 0; i < w->keys; i++) {
		const struct klass *k = &o->klass[w->klass[i]];
		bool other = false;
		for (unsigned m = 0; m < k->n && !other; m++)
			other = k->m[m].item != w->item && sql_set_has(items, k->m[m].item);
		if (!other)
			return false;
	}
	return true;
}

/* What share a condition over several operands lets pass. False if its class says so. */
static bool
look_at_cond(struct order *o, const struct bind_cond *c, double *share)
{
	struct bind *b = o->b;
	bool two = c->l != NULL && !sql_set_is_empty(&c->lmask) && !sql_set_is_empty(&c->rmask);
	bool equality = is_equality(b, c);
	unsigned keys, k = equality ? class_of(o->klass, o->klasses, c->l->index) : UINT32_MAX;
	if (two)
		add_edge(o, c);
	double whole = two && !c->implied ? whole_key(o, c, &keys) : 0;
	if (whole > 0 && equality && large_class(o, c->l->index) != UINT32_MAX) {
		return false; /* struct whole */
	} else if (whole > 0) {
		/* each of its conditions has an equal part in it; their classes none */
		*share = pow(whole, 1.0 / keys);
		if (k != UINT32_MAX && o->klass[k].n == 2) {
			o->klass[k].pair = *share;
			return false;
		}
	} else if (k != UINT32_MAX && k == class_of(o->klass, o->klasses, c->r->index)) {
		return false;
	} else {
		struct sql_expr *e = c->e;
		*share = two ? sql_sel_join(b, c->l, c->r) : sql_sel_all(b, &e, 1);
	}
	return true;
}

/* Factors, classes and edges of the graph. */
static bool
look(struct order *o)
{
	struct bind *b = o->b;
	o->factor = sql_bind_take(b, (b->where.conds + 1) * sizeof *o->factor);
	o->klass = classes(b, &o->tables, &o->klasses);
	if (o->factor == NULL || o->klass == NULL)
		return false;
	o->step = 2.0 * b->where.conds + o->items;
	for (unsigned i = 0; i < o->klasses; i++) {
		if (!look_at_class(o, &o->klass[i]))
			return false;
		o->step += o->klass[i].n;
	}
	if (!look_at_wholes(o))
		return false;
	for (unsigned i = 0; i < b->where.conds; i++) {
		const struct bind_cond *c = &b->where.cond[i];
		if (!sql_plan_open(b, c) || !sql_set_is_many(&c->mask) ||
		    !sql_set_within(&c->mask, &o->tables))
			continue;
		struct sql_set items = items_of(o, &c->mask);
		struct factor *f = &o->factor[o->factors];
		if (!sql_set_is_many(&items) || !look_at_cond(o, c, &f->share))
			continue;
		f->items = items;
		f->low = sql_set_first(&items, o->items);
		for (unsigned k = f->low; k < o->items; k = sql_set_next(&items, k, o->items))
			f->high = k;
		o->factors++;
	}
	return true;
}

/* x times 1e200 to the power of scale: of some hundred tables, the product of their rows is more
 * than a double holds. */
struct product {
	double x;
	int scale;
};

static struct product
settled(struct product p)
{
	if (p.x > 1e200)
		return (struct product){ p.x * 1e-200, p.scale + 1 };
	if (p.x < 1e-200 && p.x > 0)
		return (struct product){ p.x * 1e200, p.scale - 1 };
	return p;
}

static struct product
times(struct product p, double by)
{
	p.x *= by;
	return settled(p);
}

/* What columns of a class in these operands let pass. */
static struct product
share_of_class(const struct klass *k, const struct sql_set *items)
{
	struct product all = { 1, 0 };
	double least = INFINITY;
	for (unsigned m = 0; m < k->n; m++)
		if (sql_set_has(items, k->m[m].item)) {
			all.x /= fmax(k->m[m].distinct, 1);
			all = settled(all);
			least = fmin(least, fmax(k->m[m].distinct, 1));
		}
	return times(all, least);
}

/* Rows of all operands of a set, joined. */
static double
rows_of(const struct order *o, const struct sql_set *items)
{
	struct product rows = { 1, 0 };
	for (unsigned i = sql_set_first(items, o->items); i < o->items; i = sql_set_next(items, i, o->items))
		rows = times(rows, o->item[i].node->est_rows);
	for (unsigned i = 0; i < o->factors; i++) {
		const struct factor *f = &o->factor[i];
		if (sql_set_has(items, f->low) && sql_set_has(items, f->high) &&
		    sql_set_within(&f->items, items))
			rows = times(rows, f->share);
	}
	for (unsigned i = 0; i < o->klasses; i++) {
		const struct klass *k = &o->klass[i];
		if (k->n == 2) {
			bool both = sql_set_has(items, k->m[0].item) && sql_set_has(items, k->m[1].item);
			if (both && k->m[0].item != k->m[1].item)
				rows = times(rows, k->pair);
			continue;
		}
		struct sql_set in = sql_set_and(&k->items, items);
		if (!sql_set_is_many(&in))
			continue;
		struct product share = share_of_class(k, items);
		rows = times(rows, share.x);
		rows.scale += share.scale;
	}
	for (unsigned i = 0; i < o->wholes; i++)
		if (is_met(o, &o->whole[i], items))
			rows = times(rows, o->whole[i].by);
	for (; rows.scale > 0 && rows.x < 1e30; rows.scale--)
		rows.x *= 1e200;
	for (; rows.scale < 0 && rows.x > 1; rows.scale++)
		rows.x *= 1e-200;
	return rows.x < 1 ? 1 : rows.x < 1e30 ? rows.x : 1e30;
}

/* ---- one join ------------------------------------------------------------------------------- */

static void
tables_of(const struct order *o, const struct part *p, struct sql_set *out)
{
	for (; p->left != NULL; p = p->left)
		tables_of(o, p->right, out);
	sql_set_add(out, &o->item[p->item].mask);
}

/* Is the way from l's rows to r's shorter by key? r: one table, scanned if not looked up; or one
 * that constants lead to by an index, if it is not looked up by a whole unique key. */
static double
lookup_cost(const struct order *o, const struct part *l, const struct part *r)
{
	if (r->left != NULL)
		return INFINITY;
	const struct plan_item *it = &o->item[r->item];
	bool led = it->table < SQL_TABLES_MAX && it->node->kind == SQL_NODE_INDEX && it->node->child == NULL;
	if ((it->node->kind != SQL_NODE_SCAN && !led) ||
	    !sql_cost_few(l->rows, sql_sel_rows(o->b, it->table)))
		return INFINITY;
	struct sql_set given = sql_set_none();
	tables_of(o, l, &given);
	const struct sql_access *a = sql_node_access(it->node);
	if (sql_plan_has_key(o->b, it->table, &given))
		return l->cost + sql_cost_lookup(o->costs, a->tab, l->rows, a->wants + 1);
	struct plan_index_join j;
	if (a->tab->indexes == 0 || !sql_plan_index_join(o->b, it->table, &given, &j) || j.keys == 0 ||
	    !sql_cost_few(l->rows * j.rows, sql_sel_rows(o->b, it->table)) ||
	    (led && !(j.full && a->tab->index[j.index].unique)))
		return INFINITY;
	return l->cost + sql_cost_index_join(o->costs, a->tab, l->rows, j.rows, j.full, a->wants + 1);
}

/* The cheapest way to join two parts, if it is cheaper than what *out has. keys: a condition ties
 * them; rows: of the two joined. */
static void
try(const struct order *o, const struct part *x, const struct part *y, bool keys, double rows,
    struct part *out)
{
	struct sql_cost_side l = { x->rows, x->cost, x->width }, r = { y->rows, y->cost, y->width };
	double build_right = sql_cost_join(o->costs, &l, &r, keys, rows);
	double build_left = sql_cost_join(o->costs, &r, &l, keys, rows);
	double hash = x->cost + y->cost + fmin(build_right, build_left);
	double xy = lookup_cost(o, x, y), yx = lookup_cost(o, y, x);
	double best = fmin(hash, fmin(xy, yx));
	if (out->rows >= 0 && best >= out->cost)
		return;
	bool turned = best < hash && yx < xy;
	*out = (struct part){ .rows = rows,
		.cost = best,
		.width = x->width + y->width,
		.left = turned ? y : x,
		.right = turned ? x : y,
		.lookup = best < hash };
}

/* ---- searching ------------------------------------------------------------------------------ */

/* Of a connected set of operands, n at most DP_MAX: the best of all trees. NULL = no memory. */
static const struct part *
best_tree(struct order *o, const unsigned *item, unsigned n)
{
	/* a set of these n operands is a number; near: which of them a condition ties to it */
	unsigned sets = 1u << n;
	struct part *best = nam_arena_take(o->b->a, sets * sizeof *best);
	unsigned *near = nam_arena_zero(o->b->a, sets * sizeof *near);
	if (best == NULL || near == NULL) {
		cat_error(o->b->err, "53200", "out of memory");
		return NULL;
	}
	for (unsigned s = 1; s < sets; s++) {
		struct part *p = &best[s];
		unsigned least = (unsigned)__builtin_ctz(s);
		if ((s & (s - 1)) == 0) {
			*p = o->single[item[least]];
			for (unsigned i = 0; i < n; i++)
				near[s] |= sql_set_has(&o->edge[item[least]], item[i]) ? 1u << i : 0;
			continue;
		}
		near[s] = near[s & (s - 1)] | near[1u << least];
		p->rows = -1;
		double rows = -1;
		for (unsigned x = (s - 1) & s; x > (s ^ x); x = (x - 1) & s) {
			const struct part *l = &best[x], *r = &best[s ^ x];
			if (l->rows < 0 || r->rows < 0 || (near[x] & (s ^ x)) == 0)
				continue;
			if (rows < 0) {
				struct sql_set items = sql_set_none();
				for (unsigned m = s; m != 0; m &= m - 1)
					sql_set_put(&items, item[__builtin_ctz(m)]);
				rows = rows_of(o, &items);
			}
			/* of equal ones the earlier stays on the left */
			try(o, r, l, true, rows, p);
		}
	}
	return &best[sets - 1];
}

/* The best tree of each connected set of operands, DP_MAX at most in all. */
static bool
best_trees(struct order *o, struct joined *j)
{
	bool taken[DP_MAX] = { false };
	for (unsigned first = 0; first < o->items; first++) {
		unsigned reach[DP_MAX], n = 0, item[DP_MAX], in = 0;
		bool here[DP_MAX] = { false };
		if (taken[first])
			continue;
		here[first] = true;
		for (reach[n++] = first; in < n; in++)
			for (unsigned i = 0; i < o->items; i++)
				if (!here[i] && !taken[i] && sql_set_has(&o->edge[reach[in]], i)) {
					here[i] = true;
					reach[n++] = i;
				}
		n = 0;
		for (unsigned i = 0; i < o->items; i++)
			if (here[i]) {
				taken[i] = true;
				item[n++] = i;
				sql_set_put(&j->items[j->n], i);
			}
		if ((j->part[j->n++] = best_tree(o, item, n)) == NULL)
			return false;
	}
	return true;
}

static struct part
pair_of(struct order *o, const struct joined *j, unsigned x, unsigned y)
{
	struct sql_set items = sql_set_or(&j->items[x], &j->items[y]);
	struct part p = { .rows = -1 };
	try(o, j->part[x], j->part[y], sql_set_meets(&j->near[x], &j->items[y]), rows_of(o, &items), &p);
	o->work += o->step;
	return p;
}

/* y's operands go to x. */
static bool
unite(struct order *o, struct joined *j, unsigned x, unsigned y, const struct part *p)
{
	if ((j->part[x] = nam_arena_copy(o->b->scratch, p, sizeof *p)) == NULL)
		return cat_error(o->b->err, "53200", "out of memory");
	sql_set_add(&j->items[x], &j->items[y]);
	sql_set_add(&j->near[x], &j->near[y]);
	return true;
}

/* What a pair costs, for the choice of the next; INFINITY: nothing connects it. */
static double
price(struct order *o, const struct joined *j, unsigned x, unsigned y, bool unconnected)
{
	if (!unconnected && !sql_set_meets(&j->near[x], &j->items[y]))
		return INFINITY;
	if (o->work > WORK_MAX)
		return 0;
	struct part p = pair_of(o, j, x, y);
	/* what it adds to the rows counts, for later joins read them */
	return p.cost + p.rows * o->costs->row / 1e3;
}

/* Joins parts, the cheapest pair first, until only those are left that nothing connects; then
 * these. */
static bool
merge(struct order *o, struct joined *j, bool unconnected)
{
	unsigned n = j->n, *at = nam_arena_take(o->b->scratch, n * sizeof *at);
	double *prices = nam_arena_take(o->b->scratch, (size_t)n * n * sizeof *prices);
	if (at == NULL || prices == NULL)
		return cat_error(o->b->err, "53200", "out of memory");
	for (unsigned x = 0; x < n; x++) {
		at[x] = x;
		for (unsigned y = x + 1; y < n; y++)
			prices[(size_t)x * n + y] = prices[(size_t)y * n + x] =
			    price(o, j, x, y, unconnected);
	}
	unsigned left = n;
	while (left > 1) {
		unsigned bx = 0, by = 0;
		double best = INFINITY;
		for (unsigned x = 0; x < left; x++)
			for (unsigned y = x + 1; y < left; y++)
				if (prices[(size_t)at[x] * n + at[y]] < best) {
					best = prices[(size_t)at[x] * n + at[y]];
					bx = x;
					by = y;
				}
		if (by == 0)
			break;
		unsigned k = at[bx];
		struct part p = pair_of(o, j, k, at[by]);
		if (!unite(o, j, k, at[by], &p))
			return false;
		at[by] = at[--left];
		for (unsigned x = 0; x < left; x++)
			if (at[x] != k)
				prices[(size_t)k * n + at[x]] = prices[(size_t)at[x] * n + k] =
				    price(o, j, k, at[x], unconnected);
	}
	struct joined was = *j;
	j->part = nam_arena_take(o->b->scratch, left * sizeof *j->part);
	j->items = nam_arena_take(o->b->scratch, left * sizeof *j->items);
	j->near = nam_arena_take(o->b->scratch, left * sizeof *j->near);
	if (j->part == NULL || j->items == NULL || j->near == NULL)
		return cat_error(o->b->err, "53200", "out of memory");
	for (j->n = 0; j->n < left; j->n++) {
		j->part[j->n] = was.part[at[j->n]];
		j->items[j->n] = was.items[at[j->n]];
		j->near[j->n] = was.near[at[j->n]];
	}
	return true;
}

/* Any order, by dice. */
static bool
shuffle(struct order *o, struct joined *j, uint64_t seed)
{
	struct nam_rng rng;
	nam_rng_init(&rng, seed);
	while (j->n > 1) {
		unsigned x = (unsigned)nam_rng_below(&rng, j->n), y = (unsigned)nam_rng_below(&rng, j->n - 1);
		y += y >= x;
		struct part p = pair_of(o, j, x, y);
		const struct part *l = j->part[x], *r = j->part[y];
		if (lookup_cost(o, l, r) < INFINITY && nam_rng_below(&rng, 2)) {
			p.left = l;
			p.right = r;
			p.lookup = true;
		}
		unsigned to = x < y ? x : y, gone = x < y ? y : x;
		if (!unite(o, j, to, gone, &p))
			return false;
		--j->n;
		j->part[gone] = j->part[j->n];
		j->items[gone] = j->items[j->n];
		j->near[gone] = j->near[j->n];
	}
	return true;
}

/* ---- the tree as operators
 * -------------------------------------------------------------------- */

/* The conditions that the index has asked which is left for a look-up. */
static void
ask_again(struct bind *b, const struct sql_set *one)
{
	for (unsigned i = 0; i < b->where.conds; i++) {
		struct bind_cond *c = &b->where.cond[i];
		c->used &= !(c->led && sql_set_equal(&c->mask, one));
	}
}

static struct sql_node *
make(struct order *o, const struct part *p, struct sql_set *tables)
{
	struct bind *b = o->b;
	if (p->left == NULL) {
		*tables = o->item[p->item].mask;
		return o->item[p->item].node;
	}
	struct sql_set right;
	struct sql_node *l = make(o, p->left, tables), *n;
	if (l == NULL)
		return NULL;
	if (p->lookup) {
		const struct plan_item *it = &o->item[p->right->item];
		unsigned probes;
		if (it->node->kind == SQL_NODE_INDEX)
			ask_again(b, &it->mask);
		struct sql_expr **key = sql_plan_full_key(b, it->table, tables, &probes, NULL);
		struct plan_index_join j;
		if (key != NULL)
			n = sql_plan_lookup(b, l, tables, it->table, key);
		else if (!sql_plan_index_join(b, it->table, tables, &j) || j.keys == 0)
			return NULL;
		else
			n = sql_plan_index_lookup(b, l, tables, it->table, &j);
		if (n == NULL)
			return NULL;
		struct sql_expr *both[2] = { it->node->filter, n->filter };
		if (both[0] != NULL && !sql_plan_filter(b, n, both, both[1] ? 2 : 1))
			return NULL;
		right = it->mask;
	} else {
		struct sql_node *r = make(o, p->right, &right);
		if (r == NULL || (n = sql_plan_hash_join(b, l, tables, r, &right, AST_JOIN_INNER)) == NULL)
			return NULL;
	}
	sql_set_add(tables, &right);
	n->est_rows = p->rows;
	sql_cost_tree(o->costs, n);
	return n;
}

/* What the search works on, a piece of memory for all of it. */
static bool
begin(struct order *o, struct joined *j)
{
	struct bind *b = o->b;
	struct of_item {
		struct part single;
		struct sql_set edge, items;
		const struct part *part;
	} *all = sql_bind_take(b, o->items * sizeof *all + b->from.tables * sizeof *o->item_at);
	if (all == NULL)
		return false;
	o->edge = (struct sql_set *)all;
	j->items = o->edge + o->items;
	o->single = (struct part *)(j->items + o->items);
	j->part = (const struct part **)(o->single + o->items);
	o->item_at = (unsigned *)(j->part + o->items);
	unsigned n = b->from.tables;
	for (unsigned k = 0; k < n; k++)
		o->item_at[k] = o->items;
	for (unsigned i = 0; i < o->items; i++) {
		const struct plan_item *it = &o->item[i];
		sql_cost_tree(o->costs, it->node);
		o->single[i] = (struct part){ .item = i,
			.rows = it->node->est_rows,
			.cost = it->node->est_cost,
			.width = it->node->est_width };
		for (unsigned k = sql_set_first(&it->mask, n); k < n; k = sql_set_next(&it->mask, k, n))
			o->item_at[k] = i;
	}
	return look(o);
}

/* The tree of all operands: j->part[0]. */
static bool
search(struct order *o, struct joined *j)
{
	struct bind *b = o->b;
	if (!begin(o, j))
		return false;
	if (b->in->join_order > 0 || o->items > DP_MAX) {
		j->near = o->edge;
		for (; j->n < o->items; j->n++) {
			j->part[j->n] = &o->single[j->n];
			j->items[j->n] = sql_set_one(j->n);
		}
		bool ok = b->in->join_order > 0 ? shuffle(o, j, b->in->join_order) : merge(o, j, false);
		if (!ok)
			return false;
	} else {
		/* no condition ties one tree to another */
		if (!best_trees(o, j) || (j->near = sql_bind_take(b, j->n * sizeof *j->near)) == NULL)
			return false;
	}
	return j->n == 1 || merge(o, j, true);
}

struct sql_node *
sql_plan_order(struct bind *b, const struct plan_item *item, unsigned items, struct sql_set *have)
{
	*have = item[0].mask;
	for (unsigned i = 1; i < items; i++)
		sql_set_add(have, &item[i].mask);
	if (items == 1)
		return item[0].node;
	struct order o = { .b = b,
		.costs = b->in->costs ? b->in->costs : &sql_costs_standard,
		.item = item,
		.items = items,
		.tables = *have };
	struct joined j = { 0 };
	struct sql_set all;
	bool went = items >= ASIDE_ITEMS && nam_aside_begin(), found = search(&o, &j);
	nam_aside_end(went);
	return found ? make(&o, j.part[0], &all) : NULL;
}
