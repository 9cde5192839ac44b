/* convert_window.c -- OVER and WINDOW: names of windows are looked up here, so that later steps see
 * none. */
#include <sql/expr/expr.h>
#include <sql/parse/convert.h>

#include <stdio.h>

/* frame_options, as PostgreSQL's grammar leaves them */
enum {
	FRAME_GIVEN = 0x1,
	FRAME_ROWS = 0x4,
	FRAME_GROUPS = 0x8,
	FRAME_END_FIRST = 0x40,
	FRAME_START_LAST = 0x80,
	FRAME_END_LAST = 0x100,
	FRAME_START_CURRENT = 0x200,
	FRAME_END_CURRENT = 0x400,
	FRAME_START_PRECEDING = 0x800,
	FRAME_END_PRECEDING = 0x1000,
	FRAME_START_FOLLOWING = 0x2000,
	FRAME_END_FOLLOWING = 0x4000,
	FRAME_EXCLUDE_CURRENT = 0x8000,
	FRAME_EXCLUDE_GROUP = 0x10000,
	FRAME_EXCLUDE_TIES = 0x20000,
};

static struct ast_expr *
fail(struct sql_convert *c, int location, const char *sqlstate, const char *text, const char *name)
{
	char said[200];
	snprintf(said, sizeof said, text, name);
	cat_error(c->err, sqlstate, "%s", said);
	c->err->position = location >= 0 ? location + 1 : 0;
	return NULL;
}

static const struct ast_expr *
named(const struct sql_convert *c, const char *name)
{
	for (unsigned i = 0; i < c->windows; i++)
		if (strcmp(c->window[i]->over->name, name) == 0)
			return c->window[i];
	return NULL;
}

static struct ast_expr *
window_node(struct sql_convert *c, int location, unsigned nargs)
{
	struct ast_expr *e = sql_convert_take(c, sizeof *e);
	if (e == NULL || (e->over = sql_convert_take(c, sizeof *e->over)) == NULL ||
	    (e->args = sql_convert_take(c, nargs * sizeof *e->args)) == NULL)
		return NULL;
	e->kind = AST_WINDOW;
	e->position = location >= 0 ? location + 1 : 0;
	e->typmod = -1;
	e->nargs = nargs;
	return e;
}

static void
frame(struct ast_window *w, int o)
{
	w->framed = o & FRAME_GIVEN;
	w->mode = o & FRAME_ROWS ? AST_FRAME_ROWS : o & FRAME_GROUPS ? AST_FRAME_GROUPS : AST_FRAME_RANGE;
	w->start = o & FRAME_START_CURRENT     ? AST_BOUND_CURRENT
		   : o & FRAME_START_PRECEDING ? AST_BOUND_PRECEDING
		   : o & FRAME_START_FOLLOWING ? AST_BOUND_FOLLOWING
		   : o & FRAME_START_LAST      ? AST_BOUND_LAST
					       : AST_BOUND_FIRST;
	w->exclude = o & FRAME_EXCLUDE_CURRENT ? AST_EXCLUDE_CURRENT
		     : o & FRAME_EXCLUDE_GROUP ? AST_EXCLUDE_GROUP
		     : o & FRAME_EXCLUDE_TIES  ? AST_EXCLUDE_TIES
					       : AST_EXCLUDE_NONE;
	w->end = o & FRAME_END_FIRST       ? AST_BOUND_FIRST
		 : o & FRAME_END_PRECEDING ? AST_BOUND_PRECEDING
		 : o & FRAME_END_FOLLOWING ? AST_BOUND_FOLLOWING
		 : o & FRAME_END_LAST      ? AST_BOUND_LAST
					   : AST_BOUND_CURRENT;
}

static bool
is_offset(enum ast_bound b)
{
	return b == AST_BOUND_PRECEDING || b == AST_BOUND_FOLLOWING;
}

/* A definition in parentheses, with nothing of the function yet. */
static struct ast_expr *
definition(struct sql_convert *c, const PgQuery__WindowDef *d)
{
	const struct ast_expr *ref = NULL;
	const struct ast_window *r = NULL;
	const char *refname = d->refname != NULL && d->refname[0] ? d->refname : NULL;
	if (refname != NULL) {
		if ((ref = named(c, refname)) == NULL)
			return fail(c, d->location, "42704", "window \"%.63s\" does not exist", refname);
		r = ref->over;
		if (d->n_partition_clause > 0)
			return fail(c, d->location, "42P20",
			    "cannot override PARTITION BY clause of window \"%.63s\"", refname);
		if (d->n_order_clause > 0 && r->orders > 0)
			return fail(c, d->location, "42P20",
			    "cannot override ORDER BY clause of window \"%.63s\"", refname);
		if (r->framed) {
			bool plain = d->n_order_clause == 0 && !(d->frame_options & FRAME_GIVEN);
			fail(c, d->location, "42P20",
			    "cannot copy window \"%.63s\" because it has a frame clause", refname);
			if (plain)
				snprintf(c->err->hint, sizeof c->err->hint,
				    "Omit the parentheses in this OVER clause.");
			return NULL;
		}
	}
	unsigned parts = ref ? r->parts : (unsigned)d->n_partition_clause;
	unsigned orders = ref && r->orders ? r->orders : (unsigned)d->n_order_clause;
	struct ast_expr *e = window_node(c, d->location, parts + orders + 2);
	if (e == NULL)
		return NULL;
	struct ast_window *w = e->over;
	w->parts = parts;
	w->orders = orders;
	frame(w, d->frame_options);
	if ((w->order = sql_convert_take(c, orders * sizeof *w->order)) == NULL)
		return NULL;
	unsigned n = 0;
	for (; n < parts; n++)
		if ((e->args[n] = ref ? ref->args[n] : sql_convert_expr(c, d->partition_clause[n])) == NULL)
			return NULL;
	if (ref != NULL && r->orders > 0) {
		memcpy(w->order, r->order, orders * sizeof *w->order);
	} else if (!sql_convert_order(c, d->order_clause, orders, w->order)) {
		return NULL;
	}
	for (unsigned k = 0; k < orders; k++)
		e->args[n++] = w->order[k].e;
	if (is_offset(w->start) && (e->args[n++] = sql_convert_expr(c, d->start_offset)) == NULL)
		return NULL;
	if (is_offset(w->end) && (e->args[n++] = sql_convert_expr(c, d->end_offset)) == NULL)
		return NULL;
	e->nargs = n;
	if (w->mode == AST_FRAME_GROUPS && orders == 0)
		return fail(c, d->location, "42P20", "GROUPS mode requires an ORDER BY clause%s", "");
	if (w->mode == AST_FRAME_RANGE && (is_offset(w->start) || is_offset(w->end)) && orders != 1)
		return fail(c, d->location, "42P20",
		    "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column%s", "");
	return e;
}

bool
sql_convert_windows(struct sql_convert *c, PgQuery__Node *const *list, size_t n)
{
	c->windows = 0;
	if ((c->window = sql_convert_take(c, n * sizeof *c->window)) == NULL)
		return false;
	for (size_t i = 0; i < n; i++) {
		const PgQuery__WindowDef *d = list[i]->window_def;
		if (named(c, d->name) != NULL) {
			fail(c, d->location, "42P20", "window \"%.63s\" is already defined", d->name);
			return false;
		}
		struct ast_expr *e = definition(c, d);
		if (e == NULL || (e->over->name = sql_convert_str(c, d->name)) == NULL)
			return false;
		c->window[c->windows++] = e;
	}
	return true;
}

/* Aggregates pass over NULLs: f(x) FILTER (WHERE w) is f(CASE WHEN w THEN x END). */
static bool
filter(struct sql_convert *c, struct ast_expr *f, const PgQuery__Node *where)
{
	struct ast_expr *e = sql_convert_take(c, sizeof *e), *one = sql_convert_take(c, sizeof *one);
	struct ast_expr *none = sql_convert_take(c, sizeof *none);
	struct ast_expr **args = sql_convert_take(c, 3 * sizeof *args);
	struct ast_expr **fargs = sql_convert_take(c, (f->nargs + 1) * sizeof *fargs);
	if (e == NULL || one == NULL || none == NULL || args == NULL || fargs == NULL)
		return false;
	*one = (struct ast_expr){ .kind = AST_INT, .i = 1, .typmod = -1, .position = f->position };
	*none = (struct ast_expr){ .kind = AST_NULL, .typmod = -1, .position = f->position };
	*e = (struct ast_expr){ .kind = AST_CASE, .typmod = -1, .nargs = 3, .args = args };
	if (f->nargs > 0)
		memcpy(fargs, f->args, f->nargs * sizeof *fargs);
	args[1] = f->star ? one : f->nargs > 0 ? fargs[0] : none;
	args[2] = none;
	if ((args[0] = sql_convert_expr(c, where)) == NULL)
		return false;
	e->position = args[0]->position;
	fargs[0] = e;
	f->nargs = f->nargs > 0 ? f->nargs : 1;
	f->args = fargs;
	f->star = false;
	return true;
}

struct ast_expr *
sql_convert_over(struct sql_convert *c, struct ast_expr *f, const PgQuery__FuncCall *call)
{
	const PgQuery__WindowDef *d = call->over;
	const struct ast_expr *def;
	enum sql_agg_kind agg;
	if (call->n_agg_order > 0)
		return fail(c, call->location, "0A000",
		    "aggregate ORDER BY is not implemented for window functions%s", "");
	if (call->agg_filter != NULL && !sql_agg_find(f->text, &agg))
		return fail(c, call->location, "0A000",
		    "FILTER is not implemented for non-aggregate window functions%s", "");
	bool nulls = call->agg_filter != NULL && sql_agg_takes_nulls(agg);
	if (call->agg_filter != NULL && !nulls && !filter(c, f, call->agg_filter))
		return NULL;
	if (d->name != NULL && d->name[0]) {
		if ((def = named(c, d->name)) == NULL)
			return fail(c, d->location, "42704", "window \"%.63s\" does not exist", d->name);
	} else if ((def = definition(c, d)) == NULL) {
		return NULL;
	}
	struct ast_expr *e = window_node(c, f->position - 1, f->nargs + def->nargs + nulls);
	if (e == NULL)
		return NULL;
	e->text = f->text;
	e->schema = f->schema;
	e->star = f->star;
	e->distinct = f->distinct;
	*e->over = *def->over;
	e->over->fargs = f->nargs;
	e->over->position = def->position;
	if (f->nargs)
		memcpy(e->args, f->args, f->nargs * sizeof *e->args);
	if (def->nargs)
		memcpy(e->args + f->nargs, def->args, def->nargs * sizeof *e->args);
	e->over->filter = nulls;
	if (nulls && (e->args[e->nargs - 1] = sql_convert_expr(c, call->agg_filter)) == NULL)
		return NULL;
	return e;
}
