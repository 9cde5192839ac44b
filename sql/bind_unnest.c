/* bind_unnest.c -- functions that answer rows, made of functions that answer arrays: unnest and its kin, in FROM and in select
 * lists. */
#include "bind.h"

#include <stdio.h>

/* The array's function; NULL: the argument is the array. rows: every element is an array in itself. */
struct set_fn {
	const char *name, *array;
	bool rows;
};

static const struct set_fn *
find(const char *name)
{
	static const struct set_fn all[] = { { "unnest", NULL, false },
		{ "string_to_table", "string_to_array", false },
		{ "regexp_split_to_table", "regexp_split_to_array", false },
		{ "regexp_matches", "regexp_matches", true },
		{ "generate_subscripts", "generate_subscripts", false } };
	for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
		if (strcmp(all[k].name, name) == 0)
			return &all[k];
	return NULL;
}

bool
sql_set_function(const char *name)
{
	return find(name) != NULL;
}

/* The array that argument k of the call is, or that the whole call makes; type: of a row. */
static struct sql_expr *
array_of(struct bind *b, const struct ast_expr *f, unsigned k, enum cat_type *type)
{
	const struct set_fn *s = find(f->text);
	struct ast_expr call = *f;
	call.text = s->array;
	b->srf_call = &call;
	struct sql_expr *x = sql_bind_expr(b, s->array ? &call : f->args[k]);
	b->srf_call = NULL;
	if (x == NULL || !sql_bind_param_known(b, x))
		return NULL;
	if (x->type == CAT_UNKNOWN) {
		sql_bind_fail(b, f->position, "42725", "function %s(unknown) is not unique", f->text);
		return NULL;
	}
	if (!cat_type_is_array(x->type)) {
		sql_no_function(b->err, f->text, &x->type, 1, false, f->position);
		return NULL;
	}
	*type = s->rows ? x->type : cat_type_element(x->type);
	return x;
}

static unsigned
arrays_of(const struct ast_expr *f)
{
	return find(f->text)->array ? 1 : f->nargs;
}

static bool
plain_call(struct bind *b, const struct ast_expr *e)
{
	if (e->star || (arrays_of(e) != 1 && b->srf != NULL) || e->nargs == 0) {
		struct sql_expr **arg;
		return sql_bind_args(b, e, &arg) && sql_bind_no_function(b, e, arg, e->nargs);
	}
	if (!e->distinct && e->agg == NULL)
		return true;
	const char *what = e->distinct ? "DISTINCT" : e->agg->orders ? "ORDER BY" : "FILTER";
	return sql_bind_fail(
	    b, e->position, "42809", "%s specified, but %s is not an aggregate function", what, e->text);
}

/* ---- select lists ------------------------------------------------------------------------- */

struct sql_expr *
sql_bind_srf_call(struct bind *b, const struct ast_expr *e)
{
	struct bind_srf *s = b->srf;
	enum cat_type type;
	if (b->in_agg || b->win_where != NULL) {
		sql_bind_fail(b, e->position, "0A000",
		    "%s function calls cannot contain set-returning function calls",
		    b->in_agg ? "aggregate" : "window");
		return NULL;
	}
	if (s == NULL) {
		sql_bind_fail(b, e->position, "0A000", "set-returning functions are not allowed in %s",
		    b->no_agg ? b->no_agg : "this place");
		return NULL;
	}
	if (!plain_call(b, e))
		return NULL;
	if (s->array[s->at] != NULL) {
		sql_bind_fail(b, e->position, "0A000",
		    "set-returning functions beside each other in one expression are not supported yet");
		return NULL;
	}
	b->srf = NULL;
	struct sql_expr *x = array_of(b, e, 0, &type);
	b->srf = s;
	if (x == NULL)
		return NULL;
	s->array[s->at] = x;
	s->sets++;
	return s->row[s->at] = sql_expr_column(b->a, s->at, type, -1, e->position);
}

bool
sql_bind_srf_begin(struct bind *b, unsigned n)
{
	struct bind_srf *s = sql_bind_take(b, sizeof *s);
	if (s == NULL || (s->array = sql_bind_take(b, n * sizeof *s->array)) == NULL ||
	    (s->row = sql_bind_take(b, n * sizeof *s->row)) == NULL)
		return false;
	s->n = n;
	b->srf = s;
	b->srfs = s;
	return true;
}

/* What in the expression cannot stand around a row of a set; NULL: nothing. */
static const char *
speaks_of_others(const struct sql_expr *e, const struct sql_expr *row)
{
	const char *why = NULL;
	if (e->kind == SQL_COLUMN)
		return e != row ? "beside columns in one expression are not supported yet" : NULL;
	if (e->kind == SQL_CASE || e->kind == SQL_COALESCE)
		return e->kind == SQL_CASE ? "are not allowed in CASE" : "are not allowed in COALESCE";
	for (unsigned i = 0; i < e->nargs && why == NULL; i++)
		why = speaks_of_others(e->args[i], row);
	return why;
}

bool
sql_bind_srf_item(struct bind *b, const struct sql_expr *e, int position)
{
	const struct bind_srf *s = b->srf;
	const char *why = s->array[s->at] ? speaks_of_others(e, s->row[s->at]) : NULL;
	return why == NULL || sql_bind_fail(b, position, "0A000", "set-returning functions %s", why);
}

static struct sql_node *
unnest(struct bind *b, struct sql_node *child, unsigned cols, const uint8_t *set)
{
	struct sql_node *n = sql_plan_node(b, SQL_NODE_UNNEST, child, cols);
	if (n == NULL || (n->types = sql_bind_take(b, cols * sizeof *n->types)) == NULL)
		return NULL;
	n->apart = set;
	n->est_rows = child->est_rows * 10;
	return n;
}

/* p answers arrays where rows are meant: they are taken apart, and then what stands around them is computed. */
struct sql_node *
sql_bind_srf_node(struct bind *b, struct sql_node *p)
{
	struct bind_srf *s = b->srfs;
	if (s == NULL || s->sets == 0)
		return p;
	unsigned cols = p->es; /* hidden columns behind the list are none of ours */
	uint8_t *set = sql_bind_take(b, cols);
	struct sql_expr **before = sql_bind_take(b, cols * sizeof *before), **after = p->e;
	struct sql_expr **last = sql_bind_take(b, cols * sizeof *last);
	struct sql_node *u;
	if (set == NULL || before == NULL || last == NULL || (u = unnest(b, p, cols, set)) == NULL)
		return NULL;
	bool around = false;
	for (unsigned i = 0; i < cols; i++) {
		set[i] = i < s->n && s->array[i] != NULL;
		before[i] = set[i] ? s->array[i] : after[i];
		u->types[i] = set[i] ? s->row[i]->type : after[i]->type;
		last[i] = set[i] ? after[i] : sql_expr_column(b->a, i, after[i]->type, after[i]->typmod, 0);
		if (last[i] == NULL)
			return NULL;
		around |= set[i] && after[i] != s->row[i];
	}
	p->e = before;
	if (!around)
		return u;
	struct sql_node *q = sql_plan_node(b, SQL_NODE_PROJECT, u, cols);
	if (q == NULL)
		return NULL;
	q->e = last;
	q->es = cols;
	q->est_rows = u->est_rows;
	return q;
}

/* ---- FROM ------------------------------------------------------------------------------------ */

struct sql_node *
sql_bind_srf_source(struct bind *b, const struct ast_expr *f, bool ordinality)
{
	unsigned arrays = arrays_of(f), cols = arrays + ordinality;
	b->no_agg = "functions in FROM";
	if (!plain_call(b, f))
		return NULL;
	struct sql_node *one = sql_plan_node(b, SQL_NODE_ONE, NULL, 0);
	struct sql_node *p = one ? sql_plan_node(b, SQL_NODE_PROJECT, one, arrays) : NULL;
	uint8_t *set = sql_bind_take(b, cols);
	struct sql_node *n = p && set ? unnest(b, p, cols, set) : NULL;
	if (n == NULL || (p->e = sql_bind_take(b, arrays * sizeof *p->e)) == NULL)
		return NULL;
	p->es = arrays;
	p->est_rows = 1;
	memset(set, 1, arrays);
	for (unsigned k = 0; k < arrays; k++)
		if ((p->e[k] = array_of(b, f, k, &n->types[k])) == NULL)
			return NULL;
	if (ordinality)
		n->types[arrays] = CAT_INT8;
	return n;
}
