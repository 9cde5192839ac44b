/* domain.c -- domains: their constraints, bound once for a plan, and values that have to fulfil
 * them. */
#include <sql/common/error.h>
#include <sql/common/user_type.h>
#include <sql/plan/bind/bind.h>

#include <stdio.h>

enum { DEPTH_MAX = 32 }; /* domains over domains, and checks that cast to other domains */

/* The domain's definition, and those of the domains below it. */
static bool
chain(struct bind *b, uint32_t id, const struct cat_table *dom[DEPTH_MAX], unsigned *n)
{
	for (*n = 0; id != 0; id = dom[(*n)++]->column[0].domain) {
		nam_status st = NAM_OK;
		if (*n == DEPTH_MAX)
			return sql_bind_fail(b, 0, "54001", "stack depth limit exceeded");
		dom[*n] = NULL;
		if (b->in->cat != NULL)
			st = cat_type_of_id(b->in->cat, b->in->t, id, &dom[*n]);
		if (st != NAM_OK)
			return sql_status(b->err, st, NULL);
		if (dom[*n] == NULL || dom[*n]->kind != CAT_DOMAIN)
			return sql_bind_fail(b, 0, "42704", "cache lookup failed for type %u", (unsigned)id);
	}
	return true;
}

/* Checks of one domain. */
static bool
checks(struct bind *b, const struct cat_table *dom, struct sql_domain *d)
{
	struct bind *s = dom->checks > 0 ? sql_bind_over(b, dom) : NULL;
	if (dom->checks > 0 && s == NULL)
		return false;
	for (unsigned i = 0; i < dom->checks; i++) {
		const struct ast_expr *e = sql_bind_text_expr(b, dom->check[i].text);
		struct sql_domain_check *to = &d->check[d->checks];
		if (e == NULL || (to->e = sql_bind_check(s, e)) == NULL) {
			b->err->position = 0;
			return false;
		}
		to->name = nam_arena_str(b->a, dom->check[i].name, strlen(dom->check[i].name));
		if (to->name == NULL)
			return cat_error(b->err, "53200", "out of memory");
		d->checks++;
	}
	if (s != NULL)
		b->nest.nodes += s->nest.nodes;
	return true;
}

const struct sql_domain *
sql_bind_domain(struct bind *b, uint32_t id)
{
	const struct cat_table *dom[DEPTH_MAX];
	unsigned n, all = 0;
	for (struct sql_bound_domain *k = b->plan->domain; k != NULL; k = k->next)
		if (k->d.id == id)
			return &k->d;
	if (!chain(b, id, dom, &n))
		return NULL;
	for (unsigned i = 0; i < n; i++)
		all += dom[i]->checks;
	struct sql_bound_domain *k = sql_bind_take(b, sizeof *k);
	if (k == NULL || (k->d.check = sql_bind_take(b, all * sizeof *k->d.check)) == NULL)
		return NULL;
	k->d.id = id;
	k->d.name = sql_type_said(cat_local(dom[0]->path), b->a);
	if (k->d.name == NULL) {
		cat_error(b->err, "53200", "out of memory");
		return NULL;
	}
	/* A check may cast to another domain, but none leads back to its own. */
	if (b->plan->domain_depth == DEPTH_MAX) {
		sql_bind_fail(b, 0, "54001", "stack depth limit exceeded");
		return NULL;
	}
	b->plan->domain_depth++;
	bool ok = true;
	for (unsigned i = n; ok && i-- > 0;) {
		k->d.not_null |= dom[i]->column[0].not_null;
		ok = checks(b, dom[i], &k->d);
	}
	b->plan->domain_depth--;
	if (!ok)
		return NULL;
	k->next = b->plan->domain;
	b->plan->domain = k;
	return &k->d;
}

struct sql_expr *
sql_bind_in_domain(struct bind *b, struct sql_expr *x, uint32_t id)
{
	const struct sql_domain *d = x != NULL ? sql_bind_domain(b, id) : NULL;
	bool free = d != NULL && d->checks == 0 && !d->not_null;
	return d == NULL ? NULL : free ? x : sql_expr_domain(b->a, x, d, b->err);
}

struct sql_expr *
sql_bind_of_domain(struct bind *b, struct sql_expr *x, uint32_t id)
{
	if ((x = sql_bind_in_domain(b, x, id)) != NULL)
		x->domain = id;
	return x;
}

struct sql_expr *
sql_bind_to_domain(struct bind *b, struct sql_expr *x, const struct cat_table *dom, int position)
{
	const struct cat_column *base = &dom->column[0];
	uint32_t id = dom->store.id;
	if (b->plan->in_view == 0) {
		struct sql_use *u = sql_bind_take(b, sizeof *u);
		if (u == NULL)
			return NULL;
		*u = (struct sql_use){ dom->path, 0, b->plan->use };
		b->plan->use = u;
	}
	sql_bind_fix_param_as(b, x, base->type, base->typmod, id);
	if (x->domain == id)
		return x;
	struct sql_expr *was = x;
	x = sql_expr_cast(b->a, x, base->type, base->typmod, position, b->err);
	sql_bind_learn(b, was);
	const struct sql_domain *d = x != NULL ? sql_bind_domain(b, id) : NULL;
	return d != NULL ? sql_expr_domain(b->a, x, d, b->err) : NULL;
}

struct sql_expr *
sql_bind_domain_default(struct bind *b, const struct cat_column *col, const char **text)
{
	const struct cat_table *dom[DEPTH_MAX];
	unsigned n;
	*text = NULL;
	if (!chain(b, col->domain, dom, &n))
		return NULL;
	if ((*text = dom[0]->column[0].dflt) != NULL)
		return NULL;
	struct cat_datum none = { .type = col->type, .null = true, .v.s = { "", 0 } };
	struct sql_expr *x = sql_expr_const(b->a, none, 0);
	if (x == NULL) {
		cat_error(b->err, "53200", "out of memory");
		return NULL;
	}
	x->typmod = col->typmod;
	return sql_bind_in_domain(b, x, col->domain);
}

void
sql_bind_not_assigned(struct bind *b, const struct cat_column *col, enum cat_type is)
{
	struct cat_err why = *b->err;
	const struct sql_domain *d = sql_bind_domain(b, col->domain);
	*b->err = why;
	if (d != NULL)
		snprintf(b->err->text, sizeof b->err->text,
		    "column \"%s\" is of type %.100s but expression is of type %s", col->name, d->name,
		    cat_type_name(is));
}

struct sql_expr *
sql_bind_domain_name(struct bind *b, struct sql_expr **arg, int position)
{
	const struct sql_domain *d = sql_bind_domain(b, arg[0]->domain);
	struct sql_expr *x = d != NULL ? sql_expr_func(b->a, "pg_typeof", arg, 1, position, b->err) : NULL;
	if (x != NULL && x->kind == SQL_CALL)
		x->list = d;
	return x;
}

struct sql_expr *
sql_bind_domain_call(struct bind *b, struct sql_expr *x, const struct cat_table *dom, int position)
{
	if (x->type != dom->column[0].type && x->type != CAT_UNKNOWN)
		return NULL;
	sql_err_clear(b->err);
	b->plan->domain_called = true;
	return sql_bind_to_domain(b, x, dom, position);
}
