/*
 * steps.c -- WITH that changes rows: its queries are plans of their own, the steps of a statement.
 *
 * They run one after the other, as they stand in the text, and then the statement itself, which
 * reads the rows that they have kept. PostgreSQL shows all of them the rows of before; here a
 * transaction sees its own changes. So a step that would read, or change again, what an earlier
 * one has changed is refused.
 */
#include <sql/plan/plan_internal.h>

#include <stdio.h>
#include <stdlib.h>

const struct ast_with *
sql_with_of(const struct ast_stmt *st)
{
	return st->kind == AST_SELECT && st->select != NULL ? st->select->with : st->with;
}

bool
sql_with_changes(const struct ast_with *w)
{
	for (unsigned i = 0; w != NULL && i < w->n; i++)
		if (w->cte[i].change != NULL)
			return true;
	return false;
}

/* The statement without its WITH. */
static struct ast_stmt *
bare(struct nam_arena *a, const struct ast_stmt *st)
{
	struct ast_stmt *out = nam_arena_take(a, sizeof *out);
	struct ast_select *q = nam_arena_take(a, sizeof *q);
	if (out == NULL || q == NULL)
		return NULL;
	*out = *st;
	if (st->kind != AST_SELECT) {
		out->with = NULL;
		return out;
	}
	*q = *st->select;
	q->with = NULL;
	out->select = q;
	return out;
}

/* A query of WITH as a statement. One that may use itself stays in a WITH: SELECT * FROM it. */
static struct ast_stmt *
statement(struct nam_arena *a, const struct ast_stmt *whole, const struct ast_with *w, struct ast_cte *c)
{
	struct ast_stmt *out = nam_arena_zero(a, sizeof *out);
	if (out == NULL)
		return NULL;
	if (c->change != NULL) {
		*out = *c->change;
	} else {
		out->kind = AST_SELECT;
		out->select = (struct ast_select *)(uintptr_t)c->q;
	}
	out->params = whole->params;
	out->depth = whole->depth;
	if (c->change != NULL || !w->recursive)
		return out;
	struct ast_with *own = nam_arena_zero(a, sizeof *own);
	struct ast_select *q = nam_arena_zero(a, sizeof *q);
	struct ast_target *target = nam_arena_zero(a, sizeof *target);
	struct ast_expr *star = nam_arena_zero(a, sizeof *star);
	struct ast_table *table = nam_arena_zero(a, sizeof *table);
	if (own == NULL || q == NULL || target == NULL || star == NULL || table == NULL)
		return NULL;
	*own = (struct ast_with){ .cte = c, .n = 1, .recursive = true };
	*star = (struct ast_expr){ .kind = AST_STAR, .position = c->position, .typmod = -1 };
	target->e = star;
	*table = (struct ast_table){ .name = c->name, .alias = c->name, .position = c->position };
	*q = (struct ast_select){ .with = own, .target = target, .targets = 1, .table = table, .tables = 1 };
	out->select = q;
	return out;
}

/* What a step's rows are called and where they lie. */
static bool
shape(struct sql_step *s, const struct ast_cte *c, struct nam_arena *a, struct cat_err *err)
{
	const struct sql_plan *p = s->plan;
	bool renamed = c->q == NULL || s->plain;
	s->name = c->name;
	s->columns = p->columns;
	s->column = nam_arena_copy(a, p->column, p->columns * sizeof *s->column);
	s->rows.name = c->name;
	s->rows.columns = p->columns;
	s->rows.type = nam_arena_take(a, (p->columns + 1u) * sizeof *s->rows.type);
	if ((p->columns > 0 && s->column == NULL) || s->rows.type == NULL)
		return cat_error(err, "53200", "out of memory");
	if (renamed && c->renames > p->columns) {
		cat_error(err, "42P10", "WITH query \"%s\" has %u columns available but %u columns specified",
		    c->name, p->columns, c->renames);
		err->position = c->position;
		return false;
	}
	for (unsigned i = 0; i < p->columns; i++) {
		s->rows.type[i] = p->column[i].type;
		if (renamed && i < c->renames)
			snprintf(s->column[i].name, sizeof s->column[i].name, "%s", c->rename[i]);
	}
	return true;
}

/* ---- what an earlier step has changed --------------------------------------------------- */

static bool
is_after(const struct sql_plan *change, const struct cat_table *tab)
{
	if (change->tab->store.id == tab->store.id)
		return true;
	/* Foreign keys may have changed the tables that refer to it. */
	for (unsigned i = 0; change->kind != AST_INSERT && i < change->tab->referrers; i++)
		if (strcmp(change->tab->referrer[i].table, tab->path) == 0)
			return true;
	return false;
}

/* May p run behind a plan that has changed rows? */
static bool
may_follow(const struct sql_plan *change, const struct sql_plan *p, struct cat_err *err)
{
	const char *verb = NULL, *name = NULL;
	if (change->tab == NULL)
		return true;
	for (const struct sql_need *n = p->need; n != NULL && verb == NULL; n = n->next)
		if (is_after(change, n->tab)) {
			verb = "reading";
			name = cat_local(n->tab->path);
		}
	bool adds = p->kind == AST_INSERT && p->conflict == NULL;
	if (verb == NULL && p->tab != NULL && !adds && is_after(change, p->tab)) {
		verb = "changing";
		name = cat_local(p->tab->path);
	}
	return verb == NULL ||
	       cat_error(err, "0A000",
		   "%s \"%s\" in a statement whose WITH changes it before is not supported yet", verb, name);
}

static bool
all_may_follow(const struct sql_step *first, const struct sql_plan *p, struct cat_err *err)
{
	for (const struct sql_step *s = first; s != NULL; s = s->next)
		if (!may_follow(s->plan, p, err))
			return false;
	return true;
}

/* ---- plans ------------------------------------------------------------------------------ */

/* Types of parameters that a step has told. */
static void
learn(enum cat_type *types, const struct sql_plan *p)
{
	for (unsigned i = 0; i < p->params; i++)
		if (p->param[i] != CAT_UNKNOWN)
			types[i] = p->param[i];
}

static struct sql_step *
one_step(const struct ast_stmt *st, const struct ast_with *w, unsigned i, const struct sql_bind_in *in,
    struct nam_arena *a, struct cat_err *err)
{
	struct ast_cte *c = &w->cte[i];
	struct sql_step *s = nam_arena_zero(a, sizeof *s);
	struct ast_stmt *text = s ? statement(a, st, w, c) : NULL;
	if (text == NULL) {
		cat_error(err, "53200", "out of memory");
		return NULL;
	}
	s->plain = c->change != NULL || !w->recursive;
	if ((s->plan = sql_plan_one(text, in, err)) == NULL)
		return NULL;
	if (shape(s, c, a, err) && all_may_follow(in->steps, s->plan, err))
		return s;
	sql_plan_free(s->plan);
	return NULL;
}

struct sql_plan *
sql_plan_steps(const struct ast_stmt *st, const struct sql_bind_in *in, struct cat_err *err)
{
	const struct ast_with *w = sql_with_of(st);
	struct sql_bind_in own = *in;
	struct sql_steps *all = calloc(1, sizeof *all);
	struct sql_step **end;
	if (all == NULL) {
		cat_error(err, "53200", "out of memory");
		return NULL;
	}
	nam_arena_init(&all->arena, 4 << 10);
	nam_arena_init(&all->kept, 0);
	end = &all->first;
	enum cat_type *types = nam_arena_zero(&all->arena, (st->params + 1u) * sizeof *types);
	struct ast_stmt *main = bare(&all->arena, st);
	bool ok = types != NULL && main != NULL;
	if (!ok)
		cat_error(err, "53200", "out of memory");
	for (unsigned i = 0; ok && i < st->params; i++)
		types[i] = i < in->ntypes ? in->types[i] : CAT_UNKNOWN;
	own.types = types;
	own.ntypes = st->params;
	own.part = true;
	const unsigned *order = ok ? sql_bind_with_order(&all->arena, w, err) : NULL;
	ok = order != NULL && sql_bind_recursion_is_sound(w, order, err);
	for (unsigned i = 0; ok && i < w->n; i++)
		if (order[i] != i) {
			ok = cat_error(err, "0A000",
			    "WITH \"%s\", used by a query before it, beside changes of rows is not supported "
			    "yet",
			    w->cte[order[i]].name);
			err->position = w->cte[order[i]].position;
		}
	for (unsigned i = 0; ok && i < w->n; i++) {
		for (unsigned k = 0; ok && k < i; k++)
			if (strcmp(w->cte[k].name, w->cte[i].name) == 0) {
				ok = cat_error(err, "42712",
				    "WITH query name \"%s\" specified more than once", w->cte[i].name);
				err->position = w->cte[i].position;
			}
		struct sql_step *s = ok ? one_step(st, w, i, &own, &all->arena, err) : NULL;
		if ((ok = s != NULL)) {
			learn(types, s->plan);
			*end = s;
			end = &s->next;
			own.steps = all->first;
		}
	}
	own.part = false;
	struct sql_plan *p = ok ? sql_plan_one(main, &own, err) : NULL;
	if (p == NULL || !all_may_follow(all->first, p, err)) {
		sql_plan_free(p);
		sql_steps_free(all);
		return NULL;
	}
	p->steps = all;
	for (const struct sql_step *s = all->first; s != NULL; s = s->next)
		p->momentary |= s->plan->momentary;
	return p;
}

void
sql_steps_free(struct sql_steps *all)
{
	if (all == NULL)
		return;
	for (struct sql_step *s = all->first; s != NULL; s = s->next)
		sql_plan_free(s->plan);
	nam_arena_fini(&all->kept);
	nam_arena_fini(&all->arena);
	free(all);
}
