/* recursion.c -- whether the queries of WITH RECURSIVE use themselves where they may, before
 * anything is bound. */
#include <sql/plan/bind/bind.h>

#include <string.h>

enum { NODES_MAX = 1000000 };

/* The names of a WITH inside, of which so many are seen: they hide the query's. */
struct hides {
	const struct ast_with *w;
	unsigned seen;
	const struct hides *out;
};

struct look {
	const char *name;  /* of the query */
	const char *where; /* it may not be used there; NULL = it may, once */
	const struct hides *hides;
	unsigned uses, nodes;
	struct cat_err *err;
};

static bool query(struct look *l, const struct ast_select *q);

static bool
expr(struct look *l, const struct ast_expr *e)
{
	if (e == NULL || ++l->nodes > NODES_MAX)
		return true;
	const char *was = l->where;
	if (e->kind == AST_SUB)
		l->where = "within a subquery";
	bool ok = e->kind != AST_SUB || query(l, e->select);
	l->where = was;
	for (unsigned k = 0; ok && k < e->nargs; k++)
		ok = expr(l, e->args[k]);
	return ok;
}

static bool
exprs(struct look *l, struct ast_expr *const *e, size_t n)
{
	bool ok = true;
	for (size_t k = 0; ok && k < n; k++)
		ok = expr(l, e[k]);
	return ok;
}

static bool
is_hidden(const struct look *l)
{
	for (const struct hides *h = l->hides; h != NULL; h = h->out)
		for (unsigned k = 0; k < h->seen; k++)
			if (strcmp(h->w->cte[k].name, l->name) == 0)
				return true;
	return false;
}

static bool
table(struct look *l, const struct ast_table *t)
{
	if (t->func != NULL)
		return expr(l, t->func);
	if (t->sub != NULL)
		return query(l, t->sub);
	if (t->schema || strcmp(t->name, l->name) != 0 || is_hidden(l))
		return true;
	const char *where = l->where != NULL ? l->where : l->uses++ > 0 ? "more than once" : NULL;
	if (where == NULL)
		return true;
	cat_error(l->err, "42P19", "recursive reference to query \"%s\" must not appear %s", l->name, where);
	l->err->position = t->position;
	return false;
}

/* FROM's items: what an outer join may make NULL is no place. */
static bool
from(struct look *l, const struct ast_select *q)
{
	const char *was = l->where;
	bool ok = true;
	for (unsigned k = 0; ok && k < q->tables; k++) {
		for (unsigned i = 0; was == NULL && i < q->joins; i++) {
			const struct ast_join *j = &q->join[i];
			bool left = k >= j->first && k < j->mid, right = k >= j->mid && k <= j->last;
			if ((left && (j->kind == AST_JOIN_RIGHT || j->kind == AST_JOIN_FULL)) ||
			    (right && (j->kind == AST_JOIN_LEFT || j->kind == AST_JOIN_FULL)))
				l->where = "within an outer join";
		}
		ok = table(l, &q->table[k]);
		l->where = was;
	}
	for (unsigned k = 0; ok && k < q->joins; k++)
		ok = expr(l, q->join[k].on);
	return ok;
}

/* q0 op1 q1 op2 q2: the last operator is the outermost one. */
static bool
sets(struct look *l, const struct ast_select *q, unsigned n)
{
	const char *was = l->where;
	const struct ast_set *last = &q->set[n - 1];
	if (n == 1)
		return query(l, last->q);
	if (was == NULL && last->op != AST_UNION && last->all)
		l->where = last->op == AST_INTERSECT ? "within INTERSECT" : "within EXCEPT";
	bool ok = sets(l, q, n - 1);
	if (was == NULL && last->op == AST_EXCEPT)
		l->where = "within EXCEPT";
	ok = ok && query(l, last->q);
	l->where = was;
	return ok;
}

static bool
with(struct look *l, const struct ast_with *w, struct hides *own)
{
	bool ok = true;
	for (unsigned k = 0; w != NULL && ok && k < w->n; k++) {
		own->seen = w->recursive ? w->n : k;
		ok = w->cte[k].q == NULL || query(l, w->cte[k].q);
	}
	own->seen = w != NULL ? w->n : 0;
	return ok;
}

static bool
query(struct look *l, const struct ast_select *q)
{
	const struct hides *out = l->hides;
	struct hides own = { .w = q->with, .out = out };
	if (++l->nodes > NODES_MAX)
		return true;
	l->hides = &own;
	bool ok = with(l, q->with, &own) && (q->sets == 0 || sets(l, q, q->sets));
	for (unsigned k = 0; ok && k < q->targets; k++)
		ok = expr(l, q->target[k].e);
	ok = ok && from(l, q);
	for (unsigned k = 0; ok && k < q->orders; k++)
		ok = expr(l, q->order[k].e);
	ok = ok && expr(l, q->where) && exprs(l, q->group, q->groups) && expr(l, q->having) &&
	     exprs(l, q->on, q->ons) && exprs(l, q->window, q->windows) &&
	     exprs(l, q->values, (size_t)q->rows * q->cols) && expr(l, q->limit) && expr(l, q->offset);
	l->hides = out;
	return ok;
}

/* The chain's last operator is UNION; before it, c is not used, and behind it once. */
static bool
is_sound(const struct ast_cte *c, struct cat_err *err)
{
	const struct ast_select *q = c->q;
	struct look l = { .name = c->name, .err = err };
	struct hides own = { .w = q->with };
	if (q->sets < 2 || q->set[q->sets - 1].op != AST_UNION) {
		cat_error(err, "42P19",
		    "recursive query \"%s\" does not have the form non-recursive-term UNION [ALL] "
		    "recursive-term",
		    c->name);
		err->position = c->position;
		return false;
	}
	own.seen = q->with ? q->with->n : 0;
	l.hides = &own;
	l.where = "within its non-recursive term";
	bool ok = sets(&l, q, q->sets - 1);
	l.where = NULL;
	ok = ok && query(&l, q->set[q->sets - 1].q);
	l.where = "within a subquery";
	if (!ok || !with(&l, q->with, &own))
		return false;
	const char *what = q->orders > 0       ? "ORDER BY"
			   : q->offset != NULL ? "OFFSET"
			   : q->limit != NULL  ? "LIMIT"
					       : NULL;
	if (what == NULL)
		return true;
	cat_error(err, "0A000", "%s in a recursive query is not implemented", what);
	err->position = q->orders > 0       ? q->order[0].e->position
			: q->offset != NULL ? q->offset->position
					    : q->limit->position;
	return false;
}

/* It is recursive if its name stands in it anywhere. */
static bool
uses_itself(const struct ast_cte *c)
{
	struct cat_err ignored;
	struct look l = { .name = c->name, .where = "", .err = &ignored };
	return !query(&l, c->q);
}

bool
sql_bind_recursion_is_sound(const struct ast_with *w, const unsigned *order, struct cat_err *err)
{
	for (unsigned n = 0; w->recursive && n < w->n; n++) {
		const struct ast_cte *c = &w->cte[order[n]];
		if (c->q != NULL && uses_itself(c) && !is_sound(c, err))
			return false;
	}
	return true;
}
