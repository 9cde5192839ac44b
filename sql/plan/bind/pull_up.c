/*
 * pull_up.c -- queries in FROM that only rename, compute and filter become part of the query around
 * them: their tables are its operands, so that one plan is made of both.
 *
 * FROM (SELECT a + 1 AS x FROM t, u WHERE c) q: t and u take q's place in the list, with hidden
 * names; c becomes a condition of q's region; and a + 1 replaces q.x. Outer joins inside stay as
 * they are. The nullable side of an outer join stays an operand if NULLs for its tables would not
 * make all its columns NULL. PostgreSQL pulls subqueries up with about these exceptions.
 */
#include <sql/plan/bind/bind.h>

/* Larger expressions are computed once, below, and not at each place that uses them: else views of
 * views could double forever. */
enum { LARGEST = 64 };

/*
 * True if e, but for its subqueries, calls a window function or an aggregate. Whose aggregate
 * that is only a binder with a FROM list can say, so here each one counts.
 */
static bool
calls_over_rows(struct bind *b, const struct ast_expr *e)
{
	enum sql_agg_kind kind;
	bool is = e->kind == AST_WINDOW || (e->kind == AST_FUNC && (e->star || sql_agg_find(e->text, &kind)));
	for (unsigned k = 0; k < e->nargs && !is && ++b->nest.nodes < 1000000; k++)
		is = calls_over_rows(b, e->args[k]);
	return is;
}

bool
sql_bind_may_flatten(struct bind *b, struct bind *child, const struct ast_select *q)
{
	if (!b->from.flattens || q->with != NULL || q->sets > 0 || q->rows > 0 || q->tables == 0 ||
	    q->groups > 0 || q->gsets > 0 || q->having != NULL || q->orders > 0 || q->limit != NULL ||
	    q->offset != NULL || q->ons > 0 || q->windows > 0 || q->locks > 0 || q->distinct)
		return false;
	for (unsigned i = 0; i < q->targets; i++)
		if (calls_over_rows(b, q->target[i].e))
			return false;
	child->from.lazy = true;
	child->from.width = b->from.width;
	return true;
}

/* How many nodes, or more than LARGEST. */
static unsigned
size_of(const struct sql_expr *e)
{
	unsigned n = 1;
	for (unsigned k = 0; k < e->nargs && n <= LARGEST; k++)
		n += size_of(e->args[k]);
	return n;
}

/* True if an outer join around FROM's item may make all its columns NULL. */
static bool
may_be_missing(const struct bind *b, unsigned item)
{
	bool may = false;
	for (unsigned k = 0; k < b->joins.outers; k++) {
		const struct bind_outer *o = &b->joins.outer[k];
		if (item >= o->first && item <= o->last)
			may |= o->kind == AST_JOIN_FULL || (item < o->mid) == (o->kind == AST_JOIN_RIGHT);
	}
	return may;
}

static bool
can_flatten(struct bind *b, const struct bind *child)
{
	bool missing = may_be_missing(b, b->from.item);
	/* the query itself also has a number; the items behind it need one at least */
	if (!child->from.lazy || child->agg.grouped || child->win.all != NULL || child->srf.all->sets > 0 ||
	    b->from.tables + child->from.tables + b->from.items - b->from.item > SQL_TABLES_MAX)
		return false;
	for (unsigned k = 0; k < child->from.tables; k++)
		if (child->from.table[k]->lateral != NULL)
			return false;
	for (unsigned i = 0; i < child->answer.columns; i++) {
		const struct sql_expr *e = child->answer.output[i];
		if (sql_expr_has_sub(e) || sql_expr_volatile(e) || size_of(e) > LARGEST)
			return false;
		struct sql_set nulls = missing ? sql_bind_nulls(child, e) : sql_set_none();
		if (missing && sql_set_is_empty(&nulls))
			return false;
	}
	return true;
}

/* The child's conditions and outer joins, said of b's tables. */
static bool
take_over(struct bind *b, const struct bind *child, unsigned at)
{
	unsigned region = sql_bind_region(b, b->from.item, b->from.item, UINT32_MAX),
		 outers = b->joins.outers + b->joins.insides;
	for (unsigned i = 0; i < child->where.conds; i++) {
		struct bind_cond *to = sql_bind_cond_add(b);
		if (to == NULL)
			return false;
		*to = child->where.cond[i];
		to->mask = sql_set_moved(&to->mask, at);
		to->lmask = sql_set_moved(&to->lmask, at);
		to->rmask = sql_set_moved(&to->rmask, at);
		to->home = to->home == 0 ? region : to->home + 3 * outers;
	}
	if (child->joins.outers > 0) {
		struct bind_outer *more =
		    sql_bind_take(b, (b->joins.insides + child->joins.outers) * sizeof *more);
		if (more == NULL)
			return false;
		if (b->joins.insides > 0)
			memcpy(more, b->joins.inside, b->joins.insides * sizeof *more);
		b->joins.inside = more;
	}
	for (unsigned k = 0; k < child->joins.outers; k++) {
		const struct bind_outer *o = &child->joins.outer[k];
		b->joins.inside[b->joins.insides++] =
		    (struct bind_outer){ o->kind, o->first + at, o->mid + at, o->last + at };
	}
	return true;
}

static bool
flatten(struct bind *b, const struct ast_table *t, struct bind *child)
{
	unsigned at = b->from.tables;
	for (unsigned k = 0; k < child->from.tables; k++) {
		struct bind_table *to = sql_bind_next_table(b);
		if (to == NULL)
			return false;
		*to = *child->from.table[k];
		to->within = true;
		memcpy(to->used, to->was_used, to->tab->columns);
	}
	b->from.width = child->from.width;
	if (!sql_bind_add_source(b, t, NULL, child->answer.column, child->answer.columns) ||
	    !take_over(b, child, at))
		return false;
	b->from.table[b->from.tables - 1]->flat = child->answer.output;
	b->from.table[b->from.tables - 1]->flats = child->from.tables;
	return true;
}

bool
sql_bind_add_query(struct bind *b, const struct ast_table *t, struct bind *child)
{
	if (can_flatten(b, child))
		return flatten(b, t, child);
	if (!sql_bind_add_source(b, t, NULL, child->answer.column, child->answer.columns))
		return false;
	b->from.table[b->from.tables - 1]->from = child;
	return true;
}

static void
use(struct bind *b, const struct sql_expr *e)
{
	unsigned at = e->kind == SQL_COLUMN ? sql_bind_table_at(b, e->index) : b->from.tables;
	if (at < b->from.tables)
		b->from.table[at]->used[e->index - b->from.table[at]->base] = 1;
	for (unsigned k = 0; k < e->nargs; k++)
		use(b, e->args[k]);
}

struct sql_expr *
sql_bind_pulled_column(struct bind *b, const struct bind_table *t, unsigned c)
{
	b->nest.nodes += size_of(t->flat[c]);
	use(b, t->flat[c]);
	return t->flat[c];
}

bool
sql_bind_pulled_outers(struct bind *b, const unsigned *first, const unsigned *last)
{
	for (unsigned k = 0; k < b->joins.outers; k++) {
		struct bind_outer *o = &b->joins.outer[k];
		*o = (struct bind_outer){ o->kind, first[o->first], first[o->mid], last[o->last] };
	}
	if (b->joins.insides == 0)
		return true;
	struct bind_outer *all = sql_bind_take(b, (b->joins.outers + b->joins.insides) * sizeof *all);
	if (all == NULL)
		return false;
	if (b->joins.outers > 0)
		memcpy(all, b->joins.outer, b->joins.outers * sizeof *all);
	memcpy(all + b->joins.outers, b->joins.inside, b->joins.insides * sizeof *all);
	b->joins.outer = all;
	b->joins.outers += b->joins.insides;
	return true;
}
