/*
 * push.c -- conditions over a query in FROM go into it, where its rows are found.
 *
 * The rules are PostgreSQL's: a condition goes in if whatever it takes away, or says of what is
 * left, is the same there. So never past LIMIT, OFFSET or row locks, past DISTINCT ON and windows
 * only when it uses what they divide the rows by, past GROUP BY when it uses keys alone.
 * Into a UNION or INTERSECT it goes everywhere or nowhere. Like there, a condition that fails (1 /
 * k > 0) may meet values below a GROUP BY, DISTINCT or UNION that something else would have taken
 * away above it.
 */
#include <sql/plan/plan_internal.h>
#include <sql/plan/window.h>

/* Do the columns base..base+n-1 of e, as they are made by with, keep what the caller asks? */
struct made {
	struct bind *b;
	unsigned base;
	struct sql_expr *const *with;
};

/* A condition does not grow beyond that: views of views could double it forever. */
enum { LARGEST = 500 };

typedef bool made_test(const struct bind *b, unsigned column, const struct sql_expr *as);

static bool
all_columns(const struct made *m, const struct sql_expr *e, made_test *test)
{
	if (e->kind == SQL_COLUMN)
		return test(m->b, e->index - m->base, m->with[e->index - m->base]);
	for (unsigned k = 0; k < e->nargs; k++)
		if (!all_columns(m, e->args[k], test))
			return false;
	return true;
}

static bool
may_repeat(const struct bind *b, unsigned column, const struct sql_expr *as)
{
	(void)b;
	(void)column;
	return !sql_expr_has_sub(as) && !sql_expr_volatile(as);
}

/* True if each column of it is a group key. */
static bool
of_keys(const struct bind *b, unsigned column, const struct sql_expr *as)
{
	if (as->kind == SQL_COLUMN)
		return as->index < b->agg.groups;
	for (unsigned k = 0; k < as->nargs; k++)
		if (!of_keys(b, column, as->args[k]))
			return false;
	return true;
}

/* True if all windows divide the rows by each column of it. */
static bool
divides(const struct bind *b, unsigned column, const struct sql_expr *as)
{
	const struct sql_window *w = b->win.all;
	for (unsigned s = 0; as->kind == SQL_COLUMN && s < w->specs; s++) {
		bool is = false;
		for (unsigned k = 0; k < w->spec[s].parts && !is; k++) {
			const struct sql_expr *key = w->e[w->spec[s].key[k].col];
			is = key->kind == SQL_COLUMN && key->index == as->index;
		}
		if (!is)
			return false;
	}
	for (unsigned k = 0; k < as->nargs; k++)
		if (!divides(b, column, as->args[k]))
			return false;
	return true;
}

static bool
distinct_on(const struct bind *b, unsigned column, const struct sql_expr *as)
{
	const struct bind_query *w = b->answer.query;
	(void)as;
	for (unsigned k = 0; k < w->ons; k++)
		if (w->on[k] == column)
			return true;
	return false;
}

/* Nodes of e with its columns as they are made; more than LARGEST: at least so many. */
static unsigned
size_of(const struct made *m, const struct sql_expr *e)
{
	if (m != NULL && e->kind == SQL_COLUMN)
		return size_of(NULL, m->with[e->index - m->base]);
	unsigned n = 1;
	for (unsigned k = 0; k < e->nargs && n <= LARGEST; k++)
		n += size_of(m, e->args[k]);
	return n;
}

static bool may_enter(struct bind *in, const struct sql_expr *e, unsigned base);

/* True if columns of e have their types in all of the queries. */
static bool
same_types(const struct sql_expr *e, unsigned base, const struct bind_set *s)
{
	for (unsigned k = 0; e->kind == SQL_COLUMN && k < s->branches; k++)
		if (s->branch[k].b->answer.query->o.e[e->index - base]->type != s->col[e->index - base].type)
			return false;
	for (unsigned k = 0; k < e->nargs; k++)
		if (!same_types(e->args[k], base, s))
			return false;
	return true;
}

static bool
may_enter_set(const struct bind_set *s, const struct sql_expr *e, unsigned base)
{
	if (!same_types(e, base, s))
		return false;
	for (unsigned k = 0; k < s->branches; k++) {
		/* rows that EXCEPT takes away must not meet what they would not have met */
		if (k > 0 && s->branch[k].op->op == AST_EXCEPT && !sql_expr_harmless(e))
			return false;
		if (!may_enter(s->branch[k].b, e, base))
			return false;
	}
	return true;
}

static bool
may_enter(struct bind *in, const struct sql_expr *e, unsigned base)
{
	const struct bind_query *w = in->answer.query;
	const struct ast_select *q = w->q;
	if (w->limit != NULL || w->offset != NULL || q->locks > 0 || w->source != NULL ||
	    (in->srf.all != NULL && in->srf.all->sets > 0))
		return false;
	if (w->set != NULL)
		return may_enter_set(w->set, e, base);
	for (unsigned k = 0; k < w->o.n; k++)
		if (sql_expr_volatile(w->o.e[k]))
			return false;
	struct made m = { .b = in, .base = base, .with = w->o.e };
	if (size_of(&m, e) > LARGEST || !all_columns(&m, e, may_repeat) ||
	    (w->ons > 0 && !all_columns(&m, e, distinct_on)) ||
	    (in->win.all != NULL && !all_columns(&m, e, divides)))
		return false;
	return !in->agg.grouped || (in->agg.groups > 0 && in->agg.gsets == 0 && all_columns(&m, e, of_keys));
}

/* ---- going in ------------------------------------------------------------------------- */

/* x over `in`'s answer as `in` finds it: through the select list, then through GROUP BY. */
static bool
put(struct bind *in, struct sql_expr **x, unsigned base)
{
	const struct bind_query *w = in->answer.query;
	if (*x == NULL)
		return true;
	*x = sql_expr_substitute(in->a, *x, base, w->shown, w->o.e);
	if (*x != NULL && in->agg.grouped)
		*x = sql_expr_substitute(in->a, *x, 0, in->agg.groups, in->agg.key);
	return *x != NULL || cat_error(in->err, "53200", "out of memory");
}

static bool
put_all(struct bind *in, struct sql_expr ***e, unsigned n, unsigned base)
{
	if (*e == NULL)
		return true;
	struct sql_expr **to = sql_bind_take(in, n * sizeof *to);
	if (to == NULL)
		return false;
	for (unsigned k = 0; k < n; k++) {
		to[k] = (*e)[k];
		if (!put(in, &to[k], base))
			return false;
	}
	*e = to;
	return true;
}

static bool
enter(struct bind *in, const struct bind_cond *said, unsigned base)
{
	const struct bind_query *w = in->answer.query;
	for (unsigned k = 0; w->set != NULL && k < w->set->branches; k++)
		if (!enter(w->set->branch[k].b, said, base))
			return false;
	if (w->set != NULL)
		return true;
	struct bind_cond c = *said;
	c.home = 0;
	c.implied = false;
	if (!put(in, &c.e, base) || !put(in, &c.l, base) || !put(in, &c.r, base) || !put(in, &c.ul, base) ||
	    !put(in, &c.ur, base) || !put_all(in, &c.in, c.ins, base) || !put_all(in, &c.uin, c.ins, base))
		return false;
	if (c.e->kind == SQL_CONST && !c.e->value.null && c.e->value.v.i != 0)
		return true;
	c.mask = sql_bind_tables_of(in, c.e);
	c.lmask = c.l ? sql_bind_tables_of(in, c.l) : sql_set_none();
	c.rmask = c.r ? sql_bind_tables_of(in, c.r) : sql_set_none();
	for (unsigned k = 1; k < c.ins; k++)
		if (sql_bind_speaks_of_table(in, c.in[k]))
			c.uin = NULL;
	in->where.home = 0;
	struct bind_cond *to = sql_bind_cond_add(in);
	if (to != NULL)
		*to = c;
	return to != NULL;
}

bool
sql_plan_push_into(struct bind *b, unsigned k)
{
	struct bind_table *t = b->from.table[k];
	struct sql_set one = sql_set_one(k);
	for (unsigned i = 0; i < b->where.conds; i++) {
		struct bind_cond *c = &b->where.cond[i];
		if (!sql_plan_open(b, c) || !sql_set_equal(&c->mask, &one) || sql_expr_has_sub(c->e) ||
		    sql_expr_volatile(c->e) || (b->around.unnest && sql_bind_speaks_of_outer(c->e)) ||
		    !may_enter(t->from, c->e, t->base))
			continue;
		if (!enter(t->from, c, t->base))
			return false;
		c->used = c->pushed = true;
	}
	return true;
}
