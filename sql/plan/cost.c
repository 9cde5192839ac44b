/* cost.c -- formulas: the costs of operators, and the figures of a plan's nodes from the leaves
 * up. */
#include <sql/plan/cost.h>
#include <sql/plan/op.h>
#include <sql/plan/window.h>

#include <math.h>

/* Shared memory on a machine of 2020: for tests, and until a process has measured its own. */
const struct sql_costs sql_costs_standard = { .trip = 500,
	.verb = 150,
	.byte = 0.15,
	.row = 40,
	.value = 5,
	.hash_near = 15,
	.hash_far = 100,
	.cache = 1 << 20 };

enum { BLOCK_HEAD = 64, SLOT_HEAD = 32 };
/* A lookup takes as long as so many rows of a scan whose columns are kept. */
enum { LOOKUPS_OF = 16 };

/* Bytes of a row's block: what a scan reads of it. */
static double
block(const struct cat_table *t)
{
	unsigned slots = t->store.slots ? t->store.slots : 2;
	return BLOCK_HEAD + (double)slots * (t->store.row_max + SLOT_HEAD);
}

double
sql_cost_scan(const struct sql_costs *c, const struct cat_table *t, double rows, unsigned values)
{
	/* the anchor, then extents read ahead */
	return (2 * c->trip + rows * (block(t) * c->byte + c->row + values * c->value)) / 1e3;
}

double
sql_cost_lookup(const struct sql_costs *c, const struct cat_table *t, double rows, unsigned values)
{
	double trips = ceil(rows / CAT_BATCH), bytes = BLOCK_HEAD + SLOT_HEAD + (double)t->store.row_max;
	return (trips * c->trip + rows * (c->verb + bytes * c->byte + c->row + values * c->value)) / 1e3;
}

double
sql_cost_entries(const struct sql_costs *c, double entries)
{
	double leaves = entries / (IDX_TREE_LEAF_ENTRIES / 2.0) + 1;
	return (c->trip + (leaves - 1) * c->verb + entries * c->value) / 1e3;
}

double
sql_cost_index_only(const struct sql_costs *c, double rows, unsigned values)
{
	enum { WORD = 8 }; /* bytes of a block that prove a row */
	double trips = ceil(rows / CAT_BATCH);
	return sql_cost_entries(c, rows) +
	       (trips * c->trip + rows * (c->verb + WORD * c->byte + c->row + values * c->value)) / 1e3;
}

double
sql_cost_index(const struct sql_costs *c, const struct cat_table *t, double rows, unsigned values)
{
	double leaves = rows / (IDX_TREE_LEAF_ENTRIES / 2.0) + 1;
	return sql_cost_lookup(c, t, rows, values) + (c->trip + (leaves - 1) * c->verb) / 1e3;
}

double
sql_cost_index_join(const struct sql_costs *c, const struct cat_table *t, double rows, double found,
    bool together, unsigned values)
{
	enum { BLOCKS = 128 }; /* of one doorbell, or leaves */
	double bytes = (rows * found) * (block(t) * c->byte + c->verb + c->row + values * c->value);
	double trips = together ? ceil(rows / BLOCKS) + ceil(rows * found / BLOCKS) : 2 * rows;
	return (trips * c->trip + rows * c->verb + bytes) / 1e3;
}

bool
sql_cost_few(double rows, double of)
{
	return rows <= CAT_BATCH || rows * LOOKUPS_OF < of;
}

/* One question to a hash table of so many rows. */
static double
probe(const struct sql_costs *c, double rows, double width)
{
	double bytes = rows * (width + 24);
	double out = bytes <= c->cache ? 0 : 1 - c->cache / bytes;
	return c->hash_near + out * (c->hash_far - c->hash_near);
}

/* Copying so many rows of that width: a value is some 8 bytes. */
static double
copies(const struct sql_costs *c, double rows, double width)
{
	return rows * (width / 8 + 1) * c->value;
}

double
sql_cost_join(const struct sql_costs *c, const struct sql_cost_side *p, const struct sql_cost_side *b,
    unsigned keys, double out)
{
	double ns = copies(c, b->rows, b->width) + copies(c, out, p->width + b->width);
	if (keys == 0)
		return (ns + p->rows * b->rows * c->value) / 1e3;
	double ask = probe(c, b->rows, b->width) + keys * c->value;
	return (ns + (b->rows + p->rows) * ask) / 1e3;
}

double
sql_cost_sort(const struct sql_costs *c, double rows, double width)
{
	return (copies(c, rows, width) + rows * log2(rows + 2) * 2 * c->value) / 1e3;
}

double
sql_cost_group(const struct sql_costs *c, double rows, double groups, double width, unsigned aggs)
{
	return rows * (probe(c, groups, width) + (aggs + 1) * c->value) / 1e3;
}

unsigned
sql_cost_values(const struct sql_expr *e)
{
	unsigned n = e->kind == SQL_IN ? 2 : 1; /* lists of constants are looked up */
	for (unsigned i = 0; e->kind != SQL_IN && i < e->nargs && n < 1000; i++)
		n += sql_cost_values(e->args[i]);
	return n;
}

unsigned
sql_cost_type_width(enum cat_type type, int32_t typmod)
{
	switch (type) {
	case CAT_BOOL:
		return 1;
	case CAT_INT2:
		return 2;
	case CAT_INT4:
	case CAT_DATE:
	case CAT_FLOAT4:
		return 4;
	default:
		break;
	}
	if (!cat_type_is_str(type))
		return 8;
	return typmod > 0 && typmod < 32 && type != CAT_NUMERIC ? (unsigned)typmod : 32;
}

/* ---- a plan -------------------------------------------------------------------------- */

static unsigned
width_of(struct sql_expr *const *e, unsigned n)
{
	unsigned w = 0;
	for (unsigned i = 0; i < n; i++)
		w += sql_cost_type_width(e[i]->type, e[i]->typmod);
	return w;
}

static unsigned
width_of_types(const enum cat_type *t, unsigned n)
{
	unsigned w = 0;
	for (unsigned i = 0; i < n; i++)
		w += sql_cost_type_width(t[i], -1);
	return w;
}

static unsigned
values_of(struct sql_expr *const *e, unsigned n)
{
	unsigned v = 0;
	for (unsigned i = 0; i < n; i++)
		v += sql_cost_values(e[i]);
	return v;
}

static unsigned
access_width(const struct sql_access *a)
{
	unsigned w = 0;
	for (unsigned i = 0; i < a->wants; i++)
		w += sql_cost_type_width(a->tab->column[a->want[i]].type, a->tab->column[a->want[i]].typmod);
	return w;
}

static struct sql_cost_side
side_of(const struct sql_node *n)
{
	return (struct sql_cost_side){ n->est_rows, n->est_cost, n->est_width };
}

/* Rows that reach a scan's or a lookup's condition. */
static double
before_filter(const struct sql_node *n)
{
	return n->est_seen > n->est_rows ? n->est_seen : n->est_rows;
}

static double
values(const struct sql_costs *c, struct sql_op_values *v)
{
	v->node.est_width = v->rows > 0 ? width_of(v->e, v->cols) : 0;
	return v->node.est_rows * v->cols * c->value / 1e3;
}

/* Entries of several indexes, then the rows. */
static double
legs(const struct sql_costs *c, const struct sql_op_index *o, unsigned asked)
{
	double cost = sql_cost_lookup(c, o->acc.tab, o->est_found, o->acc.wants + asked);
	for (unsigned k = 0; k < o->legs; k++)
		cost += sql_cost_entries(c, o->leg[k].est_entries);
	return cost;
}

/* What n itself takes, its kids' figures known; fills its width. */
static double
own(const struct sql_costs *c, struct sql_node *n)
{
	const struct sql_node *k = n->child;
	struct sql_cost_side p, b;
	struct sql_node **in;
	const struct sql_window *w;
	const struct sql_op_agg *g;
	const struct sql_access *a;
	unsigned asked = n->filter ? sql_cost_values(n->filter) : 0;
	double filter = k ? k->est_rows * asked * c->value / 1e3 : 0;
	n->est_width = k ? k->est_width : 0;
	switch (n->kind) {
	case SQL_NODE_SCAN:
		a = sql_node_access(n);
		n->est_width = access_width(a);
		return sql_cost_scan(c, a->tab, before_filter(n), a->wants + asked);
	case SQL_NODE_GET:
		a = sql_node_access(n);
		n->est_width += access_width(a);
		return sql_cost_lookup(c, a->tab, k ? k->est_rows : before_filter(n), a->wants + asked);
	case SQL_NODE_INDEX:
		a = sql_node_access(n);
		n->est_width += access_width(a);
		if (k != NULL)
			return sql_cost_index_join(c, a->tab, k->est_rows, sql_op(index, n)->est_found,
			    sql_op(index, n)->part[0].keys == a->tab->index[sql_op(index, n)->index].keys,
			    a->wants + asked);
		if (sql_op(index, n)->legs > 0)
			return legs(c, sql_op(index, n), asked);
		if (sql_index_only(sql_op(index, n)))
			return sql_cost_index_only(c, before_filter(n), a->wants + asked);
		return sql_cost_index(c, a->tab, before_filter(n), a->wants + asked);
	case SQL_NODE_JOIN:
		p = side_of(n->child);
		b = side_of(n->build);
		n->est_width = n->child->est_width + n->build->est_width;
		asked += sql_op(join, n)->on ? sql_cost_values(sql_op(join, n)->on) : 0;
		return sql_cost_join(c, &p, &b, sql_op(join, n)->keys, n->est_rows) +
		       n->est_rows * asked * c->value / 1e3;
	case SQL_NODE_SEMI:
		p = side_of(n->child);
		b = side_of(n->build);
		return sql_cost_join(c, &p, &b, sql_op(semi, n)->keys, n->est_rows);
	case SQL_NODE_AGG:
		g = sql_op(agg, n);
		n->est_width = width_of(g->key, g->keys) + g->aggs * 8;
		return sql_cost_group(c, k->est_rows, n->est_rows, n->est_width, g->aggs);
	case SQL_NODE_PROJECT:
		n->est_width = width_of(sql_op(project, n)->e, sql_op(project, n)->es);
		return filter + n->est_rows * values_of(sql_op(project, n)->e, sql_op(project, n)->es) *
				    c->value / 1e3;
	case SQL_NODE_VALUES:
		return values(c, sql_op(values, n));
	case SQL_NODE_SERIES:
		n->est_width = 8;
		return n->est_rows * c->value / 1e3;
	case SQL_NODE_UNNEST: /* of each row as many as its longest array has elements, every column
			       * written */
		return n->est_rows * n->out.cols * c->value / 1e3;
	case SQL_NODE_SORT:
		n->est_width = width_of_types(sql_op(sort, n)->type, sql_op(sort, n)->cols);
		return sql_cost_sort(c, k->est_rows, n->est_width);
	case SQL_NODE_WINDOW:
		w = sql_op(window, n)->win;
		n->est_width += 8 * w->fns;
		return w->specs * sql_cost_sort(c, k->est_rows, n->est_width) +
		       k->est_rows * w->fns * c->value / 1e3;
	case SQL_NODE_SETOP:
		return sql_cost_group(c, k->est_rows + n->build->est_rows, k->est_rows, n->est_width, 0);
	case SQL_NODE_APPEND:
		for (struct sql_inputs i = sql_sources(n); (in = sql_input_next(&i)) != NULL;)
			n->est_width = (*in)->est_width > n->est_width ? (*in)->est_width : n->est_width;
		return 0;
	case SQL_NODE_RECURSE:
		return copies(c, n->est_rows, n->est_width) / 1e3;
	case SQL_NODE_CTE:
		n->est_width = width_of_types(sql_op(cte, n)->cte->type, sql_op(cte, n)->cte->columns);
		return copies(c, n->est_rows, n->est_width) / 1e3;
	case SQL_NODE_DERIVED:
		n->est_width = access_width(sql_node_access(n));
		return filter;
	default:
		return filter;
	}
}

/* Every formula is linear in the constants: so one term is what is left if the others are free. */
static struct sql_terms
own_terms(const struct sql_costs *c, struct sql_node *n)
{
	const struct sql_costs network = {
		.trip = c->trip, .verb = c->verb, .byte = c->byte, .cache = c->cache
	};
	const struct sql_costs memory = {
		.hash_near = c->hash_near, .hash_far = c->hash_far, .cache = c->cache
	};
	const struct sql_costs cpu = { .row = c->row, .value = c->value, .cache = c->cache };
	return (struct sql_terms){ own(&network, n), own(&memory, n), own(&cpu, n) };
}

static void
add_terms(struct sql_terms *to, const struct sql_terms *t)
{
	to->network += t->network;
	to->memory += t->memory;
	to->cpu += t->cpu;
}

void
sql_cost_tree(const struct sql_costs *c, struct sql_node *n)
{
	if (n == NULL || n->est_cost > 0)
		return;
	double cost = 0;
	struct sql_terms below = { 0 };
	struct sql_node **k;
	for (struct sql_inputs i = sql_inputs(n); (k = sql_input_next(&i)) != NULL;) {
		sql_cost_tree(c, *k);
		cost += (*k)->est_cost;
		add_terms(&below, &(*k)->est_all);
	}
	n->est_own = own_terms(c, n);
	n->est_all = n->est_own;
	add_terms(&n->est_all, &below);
	n->est_cost = cost + own(c, n);
	if (n->est_cost < 1e-3)
		n->est_cost = 1e-3;
}
