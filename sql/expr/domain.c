/* domain.c -- a value as one of a domain: the value itself, once the domain's constraints hold. */
#include <sql/expr/functions.h>

/* The value of row k breaks constraint `which`; 0 = it is a NULL that may not be. */
static bool
broken(const struct sql_frame *f, const struct sql_domain *d, unsigned which)
{
	struct cat_err *err = f->env->err;
	if (which == 0)
		return cat_error(err, "23502", "domain %s does not allow null values", d->name);
	const char *name = d->check[which - 1].name;
	cat_error(err, "23514", "value for domain %s violates check constraint \"%s\"", d->name, name);
	return cat_error_about(err, NULL, NULL, name);
}

static bool
checked(struct sql_frame *f)
{
	const struct sql_domain *d = f->e->list;
	const struct sql_arg *a = &f->arg[0];
	unsigned rows = 0, first = f->n, which = 0;
	for (unsigned j = 0; j < f->n; j++) {
		unsigned k = f->sel ? f->sel[j] : j, at = k & a->mask;
		f->out->null[k] = a->null[at];
		if (a->str)
			f->out->s[k] = a->s[at];
		else
			f->out->i[k] = a->i[at];
		rows = k + 1 > rows ? k + 1 : rows;
		if (a->null[at] && d->not_null && first == f->n)
			first = j;
	}
	struct cat_vec value = *f->out;
	const struct sql_batch b = { .col = &value, .cols = 1, .n = rows };
	/* The first row that breaks a constraint says which; later rows are not looked at. */
	for (unsigned i = 0; i < d->checks && first > 0; i++) {
		struct cat_vec v;
		if (!sql_eval(d->check[i].e, &b, f->sel, first, f->env, &v))
			return false;
		for (unsigned j = 0; j < first; j++) {
			unsigned k = f->sel ? f->sel[j] : j;
			if (!v.null[k] && !v.i[k]) {
				first = j;
				which = i + 1;
			}
		}
	}
	return first == f->n || broken(f, d, which);
}

/* Not a constant even over one: what it says may depend on when it is asked, and it says it when it
 * is reached. */
static const struct sql_fn fn = { "domain", SQL_FN_NULLS | SQL_FN_VOLATILE, 1, { CAT_UNKNOWN }, CAT_UNKNOWN,
	checked, NULL };

struct sql_expr *
sql_expr_domain(struct nam_arena *a, struct sql_expr *e, const struct sql_domain *d, struct cat_err *err)
{
	struct sql_expr *x = sql_expr_call(a, &fn, &e, 1, e->position, err);
	if (x == NULL)
		return NULL;
	x->type = e->type;
	x->typmod = e->typmod;
	x->list = d;
	x->domain = d->id;
	return x;
}

const struct sql_domain *
sql_expr_is_domain(const struct sql_expr *e)
{
	return e->kind == SQL_CALL && e->fn == &fn ? e->list : NULL;
}
