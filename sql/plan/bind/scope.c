/*
 * scope.c -- which query a name or an aggregate belongs to, when the queries inside are not bound.
 *
 * A name belongs to the innermost query around it whose FROM list has it, as far as that list is
 * seen from there: a query in FROM sees nothing of the list it stands in unless it is LATERAL, ON
 * sees both sides of its join. An aggregate belongs to the innermost query that its arguments,
 * ORDER BY and FILTER have a column of; inside of them, columns of subqueries do not count. One
 * without columns belongs to the query it stands in. A query must know that it is grouped before
 * anything in its select list is bound, so what subqueries say of it is found out here.
 */
#include <sql/plan/bind/scope.h>

/* Levels around an expression: 0 = its own query, 1 = the one around it; negative: inside of
 * it. */
enum { LEVELS = 256, OWN = 128, NOWHERE = LEVELS };
struct levels {
	uint64_t bit[LEVELS / 64];
};

static void
add(struct levels *l, int level)
{
	unsigned at = level + OWN < 0 ? 0 : level + OWN >= LEVELS ? LEVELS - 1 : (unsigned)(level + OWN);
	l->bit[at / 64] |= 1ull << at % 64;
}

static void
add_all(struct levels *l, const struct levels *more)
{
	for (unsigned k = 0; k < LEVELS / 64; k++)
		l->bit[k] |= more->bit[k];
}

/* The least of both from `floor` on; NOWHERE: none. */
static int
least(const struct levels *x, const struct levels *y, int floor)
{
	for (int level = floor; level < LEVELS - OWN; level++) {
		unsigned at = (unsigned)(level + OWN < 0 ? 0 : level + OWN);
		if ((x->bit[at / 64] | y->bit[at / 64]) >> at % 64 & 1)
			return level;
	}
	return NOWHERE;
}

/* ---- columns ---------------------------------------------------------------------------- */

/* True if the innermost query there has the column. row: the name may also be that of an item. */
static bool
has_column(const struct bind_seen *at, const struct ast_expr *col, bool row)
{
	const struct bind_scope *s = at->in;
	unsigned first, last;
	const struct ast_join *using_;
	if (col->qual != NULL || row)
		return sql_bind_named_item(
		    at, col->schema, col->qual ? col->qual : col->text, &first, &last, &using_);
	for (unsigned k = s->lo; k < s->hi; k = sql_bind_unit(s, k) + 1) {
		struct bind_names names = { 0 };
		if (!sql_bind_star_names(at, k, sql_bind_unit(s, k), s->joins, &names))
			return false;
		for (unsigned i = 0; i < names.n; i++)
			if (strcmp(names.name[i], col->text) == 0)
				return true;
	}
	return false;
}

/* True if b's FROM list, as far as it is seen now, has the column, or several of that name. */
static bool
binder_has(struct bind *b, const struct ast_expr *col, bool row)
{
	if (col->kind == AST_STAR || row)
		return sql_bind_row_of(b, col->kind == AST_STAR ? col->qual : col->text) < b->from.tables;
	unsigned t, c;
	struct cat_err keep = *b->err;
	bool has = sql_bind_locate_column(b, col, &t, &c) || strncmp(b->err->sqlstate, "42P09", 5) == 0 ||
		   strcmp(b->err->sqlstate, "42702") == 0 ||
		   (col->qual != NULL && strcmp(b->err->sqlstate, "42703") == 0);
	*b->err = keep;
	return has;
}

static int
level_of(const struct bind_seen *at, const struct ast_expr *col)
{
	for (unsigned row = 0; row < (col->kind == AST_COLUMN && col->qual == NULL ? 2 : 1); row++) {
		int level = 0;
		struct bind_seen there = *at;
		for (; there.in != NULL; there.in = there.in->out, level++)
			if (has_column(&there, col, row))
				return level;
		for (struct bind *x = at->b; x != NULL; x = x->around.up, level++)
			if (binder_has(x, col, row))
				return level;
	}
	return NOWHERE;
}

bool
sql_bind_seen_outside(struct bind *b, const struct ast_expr *col)
{
	for (struct bind *x = b->around.up; x != NULL; x = x->around.up)
		if (binder_has(x, col, false))
			return true;
	return false;
}

/* ---- all expressions of a query --------------------------------------------------------- */

/* Called with each expression, so many queries deeper than where the walk began. True: enough. */
struct walk {
	bool (*look)(struct walk *w, const struct bind_seen *at, const struct ast_expr *e, unsigned depth);
	struct levels *vars, *aggs; /* of look_for_columns */
};

static bool
walk_all(struct walk *w, const struct bind_seen *at, struct ast_expr *const *e, size_t n, unsigned depth)
{
	for (size_t i = 0; i < n; i++)
		if (w->look(w, at, e[i], depth))
			return true;
	return false;
}

static bool walk_query(
    struct walk *w, const struct bind_seen *at, const struct ast_select *q, unsigned depth);

/* FROM and WITH: each query sees another part of q. */
static bool
walk_sources(struct walk *w, const struct bind_seen *at, const struct ast_select *q, unsigned depth)
{
	struct bind_scope s = { .out = at->in, .q = q };
	struct bind_seen in = *at;
	in.in = &s;
	in.deep++;
	for (unsigned k = 0; q->with != NULL && k < q->with->n; k++) {
		s.ctes = q->with->recursive ? q->with->n : k;
		if (q->with->cte[k].q != NULL && walk_query(w, &in, q->with->cte[k].q, depth))
			return true;
	}
	s.ctes = q->with ? q->with->n : 0;
	for (unsigned k = 0; k < q->sets; k++)
		if (walk_query(w, &in, q->set[k].q, depth))
			return true;
	for (unsigned k = 0; k < q->tables; k++) {
		const struct ast_table *t = &q->table[k];
		s.joins = q->joins;
		s.lo = 0;
		s.hi = t->func || t->lateral ? k : 0;
		if (t->sub ? walk_query(w, &in, t->sub, depth)
			   : t->func && walk_all(w, &in, t->func->args, t->func->nargs, depth))
			return true;
	}
	for (unsigned k = 0; k < q->joins; k++) {
		s.joins = k;
		s.lo = q->join[k].first;
		s.hi = q->join[k].last + 1;
		if (q->join[k].on != NULL && w->look(w, &in, q->join[k].on, depth))
			return true;
	}
	return false;
}

/* depth: that of the expression q stands in. */
static bool
walk_query(struct walk *w, const struct bind_seen *at, const struct ast_select *q, unsigned depth)
{
	const struct bind_scope s = { at->in, q, 0, q->tables, q->joins, q->with ? q->with->n : 0 };
	struct bind_seen in = *at;
	in.in = &s;
	in.deep++;
	depth++;
	if (++at->b->nest.nodes > BIND_NODES_LOOK)
		return false;
	for (unsigned i = 0; i < q->targets; i++)
		if (w->look(w, &in, q->target[i].e, depth))
			return true;
	for (unsigned i = 0; i < q->orders; i++)
		if (w->look(w, &in, q->order[i].e, depth))
			return true;
	return walk_sources(w, at, q, depth) || w->look(w, &in, q->where, depth) ||
	       w->look(w, &in, q->having, depth) || walk_all(w, &in, q->group, q->groups, depth) ||
	       walk_all(w, &in, q->on, q->ons, depth) || walk_all(w, &in, q->window, q->windows, depth) ||
	       walk_all(w, &in, q->values, (size_t)q->rows * q->cols, depth) ||
	       w->look(w, &in, q->limit, depth) || w->look(w, &in, q->offset, depth);
}

/* ---- aggregates ----------------------------------------------------------------------------- */

static bool
is_aggregate(const struct ast_expr *e)
{
	enum sql_agg_kind k;
	return e->kind == AST_FUNC &&
	       (e->star || sql_agg_find(e->text, &k) || strcmp(e->text, "grouping") == 0);
}

/* The levels of columns and aggregates in e. */
static bool
look_for_columns(struct walk *w, const struct bind_seen *at, const struct ast_expr *e, unsigned depth)
{
	if (e == NULL || ++at->b->nest.nodes > BIND_NODES_LOOK)
		return false;
	int inside = -(int)depth;
	if (e->kind == AST_COLUMN || (e->kind == AST_STAR && e->qual != NULL)) {
		int level = level_of(at, e);
		if (level != NOWHERE)
			add(w->vars, level + inside);
		return false;
	}
	if (!is_aggregate(e)) {
		if (e->kind == AST_SUB)
			walk_query(w, at, e->select, depth);
		return walk_all(w, at, e->args, e->nargs, depth);
	}
	struct levels vars = { 0 }, aggs = { 0 };
	struct walk own = { w->look, &vars, &aggs };
	walk_all(&own, at, e->args, e->nargs, depth);
	int level = least(&vars, &aggs, inside);
	add_all(w->vars, &vars);
	add_all(w->aggs, &aggs);
	add(w->aggs, level == NOWHERE ? inside : level);
	return false;
}

static int
agg_level(const struct bind_seen *at, const struct ast_expr *e)
{
	struct levels vars = { 0 }, aggs = { 0 };
	struct walk w = { look_for_columns, &vars, &aggs };
	walk_all(&w, at, e->args, e->nargs, 0);
	int level = least(&vars, &aggs, 0);
	return level == NOWHERE ? 0 : level;
}

bool
sql_bind_is_outside(struct bind *b, const struct ast_expr *e)
{
	const struct bind_seen at = { .b = b, .cte = b->nest.cte };
	return b->around.up != NULL && agg_level(&at, e) > 0;
}

static bool
look_for_aggregate(struct walk *w, const struct bind_seen *at, const struct ast_expr *e, unsigned depth)
{
	if (e == NULL || ++at->b->nest.nodes > BIND_NODES_LOOK)
		return false;
	if (is_aggregate(e) && agg_level(at, e) == (int)depth)
		return true;
	if (e->kind == AST_SUB && walk_query(w, at, e->select, depth))
		return true;
	return walk_all(w, at, e->args, e->nargs, depth);
}

bool
sql_bind_has_agg(struct bind *b, const struct ast_expr *e)
{
	const struct bind_seen at = { .b = b, .cte = b->nest.cte };
	struct walk w = { .look = look_for_aggregate };
	return look_for_aggregate(&w, &at, e, 0);
}
