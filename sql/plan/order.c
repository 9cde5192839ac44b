/*
 * order.c -- in which order the operands of a region's inner joins are joined.
 *
 * Up to DP_MAX operands: dynamic programming over the connected sets of them, every way to divide
 * each set (Moerkotte and Neumann, 2006, enumerate the same pairs faster; at this size it does not
 * matter). More: the two are joined next whose join costs least (Fegaras, 1998). What nothing
 * connects is multiplied last.
 *
 * Rows of a set: the product of its operands' rows and of the shares that the conditions
 * inside of it let pass; equal columns, however many conditions say so, count once.
 */
#include <base/rng.h>
#include <sql/plan/cost.h>
#include <sql/plan/plan_internal.h>
#include <sql/plan/selectivity.h>

#include <math.h>

enum { DP_MAX = 12, CLASS_MAX = 12 };

/* Columns that the conditions make equal. */
struct klass {
	uint64_t items;
	unsigned n;
	struct {
		unsigned column, item;
		double distinct;
	} m[CLASS_MAX];
	double pair; /* of two columns: the share of pairs that are equal */
};

/* Any other condition over several operands. */
struct factor {
	uint64_t items;
	double share;
};

/* One way to have a set of operands joined. rows < 0: there is none. */
struct part {
	uint64_t items, tables;
	double rows, cost, width;
	const struct part *left, *right; /* NULL = one operand */
	bool lookup;                     /* rows of left look up right, a table */
};

struct order {
	struct bind *b;
	const struct sql_costs *costs;
	const struct plan_item *item;
	unsigned items;
	uint64_t tables; /* of all operands: a LATERAL item that comes later is none of them */
	struct part single[SQL_TABLES_MAX];
	uint64_t edge[SQL_TABLES_MAX];
	struct factor *factor;
	unsigned factors;
	struct klass *klass;
	unsigned klasses;
};

/* ---- what conditions say ------------------------------------------------------------------ */

/* Columns of different tables, of one type, that must be equal. */
static bool
is_equality(const struct bind *b, const struct bind_cond *c)
{
	return sql_plan_open(b, c) && c->l != NULL && c->l->kind == SQL_COLUMN && c->r->kind == SQL_COLUMN &&
	       c->l->type == c->r->type && c->e->kind == SQL_CALL && c->lmask != c->rmask;
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

/*
 * The classes of the region's open equalities between these tables. What does not fit into a
 * class stays a condition
 * like others.
 */
static struct klass *
classes(struct bind *b, uint64_t tables, unsigned *n)
{
	struct klass *k = sql_bind_take(b, (b->where.conds + 1) * sizeof *k);
	*n = 0;
	for (unsigned i = 0; k != NULL && i < b->where.conds; i++) {
		const struct bind_cond *c = &b->where.cond[i];
		if (!is_equality(b, c) || (c->mask & ~tables) != 0)
			continue;
		unsigned x = class_of(k, *n, c->l->index), y = class_of(k, *n, c->r->index);
		if (x == UINT32_MAX && y == UINT32_MAX) {
			k[*n].n = 2;
			k[*n].m[0].column = c->l->index;
			k[(*n)++].m[1].column = c->r->index;
		} else if (x == UINT32_MAX || y == UINT32_MAX) {
			struct klass *to = &k[x == UINT32_MAX ? y : x];
			if (to->n < CLASS_MAX)
				to->m[to->n++].column = x == UINT32_MAX ? c->l->index : c->r->index;
		} else if (x != y && k[x].n + k[y].n <= CLASS_MAX) {
			for (unsigned m = 0; m < k[y].n; m++)
				k[x].m[k[x].n++] = k[y].m[m];
			k[y] = k[--*n];
		}
	}
	return k;
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
	c.mask = c.lmask | c.rmask;
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

bool
sql_plan_derive(struct bind *b)
{
	unsigned n, conds = b->where.conds;
	struct klass *k = classes(b, UINT64_MAX, &n);
	if (k == NULL)
		return false;
	for (unsigned i = 0; i < n; i++) {
		struct sql_expr *v = NULL;
		bool has[CLASS_MAX] = { false };
		for (unsigned m = 0; m < k[i].n; m++)
			for (unsigned c = 0; c < conds; c++) {
				struct sql_expr *x = constant(b, &b->where.cond[c], k[i].m[m].column);
				has[m] |= x != NULL;
				v = x && !v ? x : v;
			}
		for (unsigned m = 0; m < k[i].n; m++) {
			struct sql_expr *x = column(b, k[i].m[m].column);
			if (x == NULL || (v != NULL && !has[m] && !implied(b, x, v, false)))
				return false;
			/* and each is equal to each, so that any two may be joined first */
			for (unsigned o = 0; o < m && v == NULL; o++) {
				bool said = false;
				for (unsigned c = 0; c < conds && !said; c++)
					said = is_equality(b, &b->where.cond[c]) &&
					       ((b->where.cond[c].l->index == k[i].m[m].column &&
						    b->where.cond[c].r->index == k[i].m[o].column) ||
						   (b->where.cond[c].r->index == k[i].m[m].column &&
						       b->where.cond[c].l->index == k[i].m[o].column));
				struct sql_expr *y = said ? NULL : column(b, k[i].m[o].column);
				if (!said && (y == NULL || !implied(b, x, y, true)))
					return false;
			}
		}
	}
	return true;
}

static unsigned
item_of(const struct order *o, uint64_t tables)
{
	unsigned i = 0;
	while (i < o->items && (o->item[i].mask & tables) == 0)
		i++;
	return i;
}

static uint64_t
items_of(const struct order *o, uint64_t tables)
{
	uint64_t m = 0;
	for (unsigned i = 0; i < o->items; i++)
		if (o->item[i].mask & tables)
			m |= UINT64_C(1) << i;
	return m;
}

/* Conditions between a table of a whole key and another operand that fix the key: one row of it at
 * most. */
static double
whole_key(struct order *o, const struct bind_cond *c, unsigned *keys)
{
	struct bind *b = o->b;
	for (unsigned side = 0; side < 2; side++) {
		uint64_t mine = side ? c->rmask : c->lmask, other = side ? c->lmask : c->rmask;
		unsigned i = item_of(o, mine), t = o->item[i].table, found = 0;
		if (t >= SQL_TABLES_MAX || b->from.table[t].tab->keys < 2)
			continue;
		const struct cat_table *tab = b->from.table[t].tab;
		uint64_t others = o->item[item_of(o, other)].mask;
		for (unsigned k = 0; k < tab->keys; k++)
			for (unsigned d = 0; d < b->where.conds; d++) {
				const struct bind_cond *x = &b->where.cond[d];
				unsigned col = b->from.table[t].base + tab->key[k];
				if (!sql_plan_open(b, x) || x->l == NULL || x->implied)
					continue;
				bool l = x->l->kind == SQL_COLUMN && x->l->index == col && x->rmask != 0 &&
					 (x->rmask & ~others) == 0;
				bool r = x->r->kind == SQL_COLUMN && x->r->index == col && x->lmask != 0 &&
					 (x->lmask & ~others) == 0;
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

/* Factors, classes and edges of the graph. */
static bool
look(struct order *o)
{
	struct bind *b = o->b;
	o->factor = sql_bind_take(b, (b->where.conds + 1) * sizeof *o->factor);
	o->klass = classes(b, o->tables, &o->klasses);
	if (o->factor == NULL || o->klass == NULL)
		return false;
	for (unsigned i = 0; i < o->klasses; i++) {
		struct klass *k = &o->klass[i];
		struct sql_expr *first = NULL;
		bool fixed = false;
		for (unsigned m = 0; m < k->n; m++)
			for (unsigned c = 0; c < b->where.conds && !fixed; c++)
				fixed = constant(b, &b->where.cond[c], k->m[m].column) != NULL;
		for (unsigned m = 0; m < k->n; m++) {
			struct sql_expr *e = column(b, k->m[m].column);
			if (e == NULL)
				return false;
			unsigned it = k->m[m].item = item_of(o, sql_bind_tables_of(b, e));
			k->items |= UINT64_C(1) << it;
			double d = sql_sel_distinct(b, e), rows = o->item[it].node->est_rows;
			k->m[m].distinct = fixed ? 1 : d > 0 && d < rows ? d : rows;
			if (m == 0)
				first = e;
			else
				k->pair = fixed ? 1 : sql_sel_join(b, first, e);
		}
	}
	for (unsigned i = 0; i < b->where.conds; i++) {
		struct bind_cond *c = &b->where.cond[i];
		uint64_t items = items_of(o, c->mask);
		if (!sql_plan_open(b, c) || (c->mask & ~o->tables) != 0 || (items & (items - 1)) == 0)
			continue;
		if (c->l != NULL && c->lmask != 0 && c->rmask != 0) {
			uint64_t l = items_of(o, c->lmask), r = items_of(o, c->rmask);
			for (unsigned x = 0; x < o->items && (l & (l - 1)) == 0 && (r & (r - 1)) == 0; x++) {
				if (l >> x & 1)
					o->edge[x] |= r;
				if (r >> x & 1)
					o->edge[x] |= l;
			}
		}
		unsigned keys;
		double whole =
		    c->l != NULL && c->lmask && c->rmask && !c->implied ? whole_key(o, c, &keys) : 0;
		struct factor *f = &o->factor[o->factors];
		f->items = items;
		if (whole > 0) {
			/* each of its conditions has an equal part in it; their classes none */
			f->share = pow(whole, 1.0 / keys);
			if (is_equality(b, c)) {
				unsigned k = class_of(o->klass, o->klasses, c->l->index);
				if (k != UINT32_MAX && o->klass[k].n == 2) {
					o->klass[k].pair = f->share;
					continue;
				}
			}
		} else if (is_equality(b, c) && class_of(o->klass, o->klasses, c->l->index) != UINT32_MAX &&
			   class_of(o->klass, o->klasses, c->l->index) ==
			       class_of(o->klass, o->klasses, c->r->index)) {
			continue;
		} else {
			f->share = c->l != NULL && c->lmask && c->rmask ? sql_sel_join(b, c->l, c->r)
									: sql_sel_all(b, &c->e, 1);
		}
		o->factors++;
	}
	return true;
}

/* Rows of all operands of a set, joined. */
static double
rows_of(const struct order *o, uint64_t items)
{
	double rows = 1;
	for (uint64_t m = items; m != 0; m &= m - 1)
		rows *= o->item[__builtin_ctzll(m)].node->est_rows;
	for (unsigned i = 0; i < o->factors; i++)
		if ((o->factor[i].items & ~items) == 0)
			rows *= o->factor[i].share;
	for (unsigned i = 0; i < o->klasses; i++) {
		const struct klass *k = &o->klass[i];
		uint64_t in = k->items & items;
		if ((in & (in - 1)) == 0)
			continue;
		if (k->n == 2) {
			rows *= k->pair;
			continue;
		}
		double all = 1, least = INFINITY;
		for (unsigned m = 0; m < k->n; m++)
			if (items >> k->m[m].item & 1) {
				all /= fmax(k->m[m].distinct, 1);
				least = fmin(least, fmax(k->m[m].distinct, 1));
			}
		rows *= all * least;
	}
	return rows < 1 ? 1 : rows < 1e30 ? rows : 1e30;
}

/* ---- one join ------------------------------------------------------------------------------- */

/* Is the way from l's rows to r's shorter by key? r: one table, scanned if not looked up. */
static double
lookup_cost(const struct order *o, const struct part *l, const struct part *r)
{
	if (r->left != NULL)
		return INFINITY;
	const struct plan_item *it = &o->item[__builtin_ctzll(r->items)];
	if (it->node->kind != SQL_NODE_SCAN || !sql_cost_few(l->rows, sql_sel_rows(o->b, it->table)) ||
	    !sql_plan_has_key(o->b, it->table, l->tables))
		return INFINITY;
	const struct sql_access *a = sql_node_access(it->node);
	return l->cost + sql_cost_lookup(o->costs, a->tab, l->rows, a->wants + 1);
}

static bool
connected(const struct order *o, uint64_t x, uint64_t y)
{
	for (uint64_t m = x; m != 0; m &= m - 1)
		if (o->edge[__builtin_ctzll(m)] & y)
			return true;
	return false;
}

/* The cheapest way to join two parts, if it is cheaper than what *out has. rows: of the two
 * joined. */
static void
try(const struct order *o, const struct part *x, const struct part *y, double rows, struct part *out)
{
	struct sql_cost_side l = { x->rows, x->cost, x->width }, r = { y->rows, y->cost, y->width };
	unsigned keys = connected(o, x->items, y->items);
	double build_right = sql_cost_join(o->costs, &l, &r, keys, rows);
	double build_left = sql_cost_join(o->costs, &r, &l, keys, rows);
	double hash = x->cost + y->cost + fmin(build_right, build_left);
	double xy = lookup_cost(o, x, y), yx = lookup_cost(o, y, x);
	double best = fmin(hash, fmin(xy, yx));
	if (out->rows >= 0 && best >= out->cost)
		return;
	bool turned = best < hash && yx < xy;
	*out = (struct part){ .items = x->items | y->items,
		.tables = x->tables | y->tables,
		.rows = rows,
		.cost = best,
		.width = x->width + y->width,
		.left = turned ? y : x,
		.right = turned ? x : y,
		.lookup = best < hash };
}

/* ---- searching ------------------------------------------------------------------------------ */

/* Of a connected set of operands: the best of all trees. NULL = no memory. */
static const struct part *
best_tree(struct order *o, const uint64_t *bit, unsigned n)
{
	uint64_t sets = UINT64_C(1) << n;
	struct part *best = sql_bind_take(o->b, sets * sizeof *best);
	if (best == NULL)
		return NULL;
	for (uint64_t s = 1; s < sets; s++) {
		uint64_t items = 0;
		for (unsigned i = 0; i < n; i++)
			if (s >> i & 1)
				items |= bit[i];
		struct part *p = &best[s];
		if ((s & (s - 1)) == 0) {
			*p = o->single[__builtin_ctzll(items)];
			continue;
		}
		p->rows = -1;
		double rows = -1;
		for (uint64_t x = (s - 1) & s; x > (s ^ x); x = (x - 1) & s) {
			const struct part *l = &best[x], *r = &best[s ^ x];
			if (l->rows < 0 || r->rows < 0 || !connected(o, l->items, r->items))
				continue;
			if (rows < 0)
				rows = rows_of(o, items);
			try(o, r, l, rows, p); /* of equal ones the earlier stays on the left */
		}
	}
	return &best[sets - 1];
}

/* Joins parts, the cheapest pair first, until only those are left that nothing connects; then
 * these. */
static unsigned
merge(struct order *o, const struct part **part, unsigned n, bool unconnected)
{
	while (n > 1) {
		struct part best = { .rows = -1 };
		unsigned bx = 0, by = 0;
		for (unsigned x = 0; x < n; x++)
			for (unsigned y = x + 1; y < n; y++) {
				if (!unconnected && !connected(o, part[x]->items, part[y]->items))
					continue;
				struct part p = { .rows = -1 };
				try(o, part[x], part[y], rows_of(o, part[x]->items | part[y]->items), &p);
				/* what it adds to the rows counts, for later joins read them */
				double was = best.cost + best.rows * o->costs->row / 1e3;
				if (best.rows >= 0 && p.cost + p.rows * o->costs->row / 1e3 >= was)
					continue;
				best = p;
				bx = x;
				by = y;
			}
		if (best.rows < 0)
			return n;
		struct part *kept = nam_arena_copy(o->b->scratch, &best, sizeof best);
		if (kept == NULL)
			return 0;
		part[bx] = kept;
		part[by] = part[--n];
	}
	return n;
}

/* Any order, by dice. */
static unsigned
shuffle(struct order *o, const struct part **part, unsigned n, uint64_t seed)
{
	struct nam_rng rng;
	nam_rng_init(&rng, seed);
	while (n > 1) {
		unsigned x = (unsigned)nam_rng_below(&rng, n), y = (unsigned)nam_rng_below(&rng, n - 1);
		y += y >= x;
		struct part p = { .rows = -1 }, *kept = nam_arena_take(o->b->scratch, sizeof *kept);
		if (kept == NULL)
			return 0;
		try(o, part[x], part[y], rows_of(o, part[x]->items | part[y]->items), &p);
		const struct part *l = part[x], *r = part[y];
		if (lookup_cost(o, l, r) < INFINITY && nam_rng_below(&rng, 2)) {
			p.left = l;
			p.right = r;
			p.lookup = true;
		}
		*kept = p;
		part[x < y ? x : y] = kept;
		part[x < y ? y : x] = part[--n];
	}
	return n;
}

/* ---- the tree as operators
 * -------------------------------------------------------------------- */

static struct sql_node *
make(struct order *o, const struct part *p)
{
	struct bind *b = o->b;
	if (p->left == NULL)
		return o->item[__builtin_ctzll(p->items)].node;
	struct sql_node *l = make(o, p->left), *n;
	if (l == NULL)
		return NULL;
	if (p->lookup) {
		const struct plan_item *it = &o->item[__builtin_ctzll(p->right->items)];
		unsigned probes;
		struct sql_expr **key = sql_plan_full_key(b, it->table, p->left->tables, &probes, NULL);
		if (key == NULL || (n = sql_plan_lookup(b, l, p->left->tables, it->table, key)) == NULL)
			return NULL;
		struct sql_expr *both[2] = { it->node->filter, n->filter };
		if (both[0] != NULL && !sql_plan_filter(b, n, both, both[1] ? 2 : 1))
			return NULL;
	} else {
		struct sql_node *r = make(o, p->right);
		if (r == NULL || (n = sql_plan_hash_join(
				      b, l, p->left->tables, r, p->right->tables, AST_JOIN_INNER)) == NULL)
			return NULL;
	}
	n->est_rows = p->rows;
	sql_cost_tree(o->costs, n);
	return n;
}

struct sql_node *
sql_plan_order(struct bind *b, const struct plan_item *item, unsigned items, uint64_t *have)
{
	*have = 0;
	for (unsigned i = 0; i < items; i++)
		*have |= item[i].mask;
	if (items == 1)
		return item[0].node;
	struct order *o = sql_bind_take(b, sizeof *o);
	if (o == NULL)
		return NULL;
	o->b = b;
	o->costs = b->in->costs ? b->in->costs : &sql_costs_standard;
	o->item = item;
	o->items = items;
	o->tables = *have;
	for (unsigned i = 0; i < items; i++) {
		sql_cost_tree(o->costs, item[i].node);
		o->single[i] = (struct part){ .items = UINT64_C(1) << i,
			.tables = item[i].mask,
			.rows = item[i].node->est_rows,
			.cost = item[i].node->est_cost,
			.width = item[i].node->est_width };
	}
	if (!look(o))
		return NULL;
	const struct part *part[SQL_TABLES_MAX];
	unsigned n = 0;
	if (b->in->join_order > 0 || items > DP_MAX) {
		for (; n < items; n++)
			part[n] = &o->single[n];
		n = b->in->join_order > 0 ? shuffle(o, part, n, b->in->join_order) : merge(o, part, n, false);
	} else {
		for (uint64_t todo = (UINT64_C(1) << items) - 1; todo != 0;) {
			/* what can be reached from the first one */
			uint64_t set = todo & -todo, was = 0, bit[DP_MAX];
			unsigned bits = 0;
			while (set != was) {
				was = set;
				for (uint64_t m = set; m != 0; m &= m - 1)
					set |= o->edge[__builtin_ctzll(m)] & todo;
			}
			for (uint64_t m = set; m != 0; m &= m - 1)
				bit[bits++] = m & -m;
			if ((part[n++] = best_tree(o, bit, bits)) == NULL)
				return NULL;
			todo &= ~set;
		}
	}
	if (n > 1)
		n = merge(o, part, n, true);
	return n == 1 ? make(o, part[0]) : NULL;
}
