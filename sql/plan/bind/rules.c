/* rules.c -- DEFAULT and CHECK: texts of the catalog, bound when a statement needs them. */
#include <catalog/acl.h>
#include <sql/common/error.h>
#include <sql/parse/parse.h>
#include <sql/plan/bind/bind.h>
#include <sql/system/system.h>

#include <stdio.h>
#include <stdlib.h>

const struct ast_stmt *
sql_bind_text(struct bind *b, const char *prefix, const char *text)
{
	char *whole = nam_arena_printf(b->a, "%s%s", prefix, text);
	struct sql_kept *k = sql_bind_take(b, sizeof *k);
	if (whole == NULL || k == NULL)
		return NULL;
	if (b->in->parser == NULL) {
		sql_bind_fail(b, 0, "58000", "no parser for the catalog's texts");
		return NULL;
	}
	if (!sql_parse(b->in->parser, whole, strlen(whole), &k->parsed, b->err)) {
		b->err->position = 0;
		return NULL;
	}
	k->next = b->plan->kept;
	b->plan->kept = k;
	if (k->parsed->stmts != 1 || k->parsed->stmt[0]->select == NULL) {
		sql_bind_fail(b, 0, "58000", "the catalog's text \"%.100s\" is not a query", text);
		return NULL;
	}
	return k->parsed->stmt[0];
}

const struct ast_expr *
sql_bind_text_expr(struct bind *b, const char *text)
{
	const struct ast_stmt *st = sql_bind_text(b, "SELECT ", text);
	return st && st->select->targets == 1 ? st->select->target[0].e : NULL;
}

bool
sql_bind_add_view(struct bind *b, const struct ast_table *t, const struct cat_table *view)
{
	const struct ast_stmt *st = sql_bind_text(b, "", view->view);
	struct ast_table *as = sql_bind_take(b, sizeof *as);
	struct bind *child = st && as ? sql_bind_child(b, t->position) : NULL;
	if (child == NULL)
		return false;
	*as = *t;
	if (t->renames > view->columns)
		return sql_bind_fail(b, t->position, "42P10",
		    "table \"%s\" has %u columns available but %u columns specified", t->alias, view->columns,
		    t->renames);
	as->renames = view->columns;
	if ((as->rename = sql_bind_take(b, view->columns * sizeof *as->rename)) == NULL)
		return false;
	char schema[CAT_NAME_MAX + 1];
	cat_schema_of(view->path, schema);
	if ((as->in = nam_arena_str(b->a, schema, strlen(schema))) == NULL)
		return sql_status(b->err, NAM_NOMEM, NULL);
	for (unsigned i = 0; i < view->columns; i++)
		as->rename[i] = i < t->renames ? t->rename[i] : view->column[i].name;
	/* A view sees nothing of the query it stands in. */
	child->nest.cte = NULL;
	child->around.up = NULL;
	const char *outside = b->plan->as;
	b->plan->in_view++;
	b->plan->as = cat_owner(view);
	sql_bind_may_flatten(b, child, st->select);
	bool ok = sql_bind_child_query(b, child, st->select);
	b->plan->as = outside;
	b->plan->in_view--;
	if (!ok) {
		b->err->position = t->position;
		return false;
	}
	if (child->answer.columns != view->columns)
		return sql_bind_fail(b, t->position, "0A000", "view \"%s\" does not fit its tables any more",
		    cat_local(view->path));
	if (!sql_bind_add_query(b, as, child))
		return false;
	b->from.table[b->from.tables - 1]->view = true;
	return sql_bind_made_by(b, sql_oid_of(&view->store));
}

struct bind *
sql_bind_over(struct bind *b, const struct cat_table *tab)
{
	struct bind *s = sql_bind_take(b, sizeof *s);
	struct ast_table *t = sql_bind_take(b, sizeof *t);
	if (s == NULL || t == NULL)
		return NULL;
	*t = (struct ast_table){ .name = tab->path, .alias = cat_local(tab->path), .path = true };
	s->a = b->a;
	s->err = b->err;
	s->in = b->in;
	s->plan = b->plan;
	struct bind_table *own = sql_bind_next_table(s);
	if (own == NULL)
		return NULL;
	*own = (struct bind_table){ .tab = tab, .ast = t, .alias = t->alias };
	own->used = sql_bind_take(b, tab->columns);
	own->hidden = sql_bind_take(b, tab->columns);
	if (own->used == NULL || own->hidden == NULL)
		return NULL;
	s->from.width = tab->columns;
	return s;
}

/* A column anywhere in an expression, or NULL. */
static const struct ast_expr *
column_in(struct bind *b, const struct ast_expr *e)
{
	if (e->kind == AST_COLUMN)
		return e;
	for (unsigned i = 0; i < e->nargs; i++) {
		const struct ast_expr *c = column_in(b, e->args[i]);
		if (c != NULL)
			return c;
	}
	return NULL;
}

static struct sql_expr *
dflt(struct bind *s, const struct cat_table *tab, unsigned c, const struct ast_expr *e)
{
	const struct cat_column *col = &tab->column[c];
	const struct ast_expr *bad = column_in(s, e);
	if (bad != NULL) {
		sql_bind_fail(s, bad->position, "0A000", "cannot use column reference in DEFAULT expression");
		return NULL;
	}
	s->from.lo = s->from.hi = 0;
	s->agg.not_in = "DEFAULT expressions";
	s->around.no_sub = "DEFAULT expression";
	struct sql_expr *x = sql_bind_expr(s, e);
	if (x == NULL)
		return NULL;
	enum cat_type is = x->type;
	struct sql_expr *out =
	    sql_expr_assign(s->a, x, col->type, col->typmod, col->name, e->position, s->err);
	if (out == NULL && strcmp(s->err->sqlstate, "42804") == 0) {
		snprintf(s->err->text, sizeof s->err->text,
		    "column \"%s\" is of type %s but default expression is of type %s", col->name,
		    cat_type_name(col->type), cat_type_name(is));
		s->err->position = 0;
	}
	if (out != NULL && col->domain != 0 && x->domain != col->domain)
		out = sql_bind_in_domain(s, out, col->domain);
	return out;
}

/* The default of column c, its own or its domain's, into *out; NULL in it: there is none, and the
 * column may be NULL. */
static bool
default_of(struct bind *b, struct bind *s, const struct cat_table *tab, unsigned c, struct sql_expr **out)
{
	const struct cat_column *col = &tab->column[c];
	const char *text = col->dflt;
	*out = NULL;
	if (text == NULL && col->domain != 0) {
		*out = sql_bind_domain_default(b, col, &text);
		if (*out == NULL && text == NULL)
			return false;
	}
	if (text == NULL)
		return true;
	const struct ast_expr *e = sql_bind_text_expr(b, text);
	*out = e != NULL ? dflt(s, tab, c, e) : NULL;
	b->err->position = *out != NULL ? b->err->position : 0;
	return *out != NULL;
}

struct sql_expr *
sql_bind_check(struct bind *s, const struct ast_expr *e)
{
	s->from.lo = 0;
	s->from.hi = 1;
	s->agg.not_in = "check constraints";
	s->around.no_sub = "check constraint";
	struct sql_expr *x = sql_bind_expr_as(s, e, CAT_BOOL);
	if (x != NULL && x->type == CAT_UNKNOWN)
		x = sql_expr_cast(s->a, x, CAT_BOOL, -1, e->position, s->err);
	if (x != NULL && x->type != CAT_BOOL) {
		sql_bind_fail(s, e->position, "42804", "argument of CHECK must be type boolean, not type %s",
		    cat_type_name(x->type));
		return NULL;
	}
	return x;
}

bool
sql_bind_rules(struct bind *b, const struct cat_table *tab, struct sql_rules **out)
{
	bool any = tab->checks > 0;
	for (unsigned c = 0; c < tab->columns; c++)
		any |= tab->column[c].dflt != NULL || tab->column[c].domain != 0;
	*out = NULL;
	if (!any)
		return true;
	struct sql_rules *r = sql_bind_take(b, sizeof *r);
	struct bind *s = r ? sql_bind_over(b, tab) : NULL;
	if (s == NULL || (r->dflt = sql_bind_take(b, tab->columns * sizeof *r->dflt)) == NULL ||
	    (r->check = sql_bind_take(b, tab->checks * sizeof *r->check)) == NULL)
		return false;
	if ((r->domain = sql_bind_take(b, tab->columns * sizeof *r->domain)) == NULL)
		return false;
	for (unsigned c = 0; c < tab->columns; c++) {
		const struct cat_column *col = &tab->column[c];
		if (!default_of(b, s, tab, c, &r->dflt[c]))
			return false;
		if (col->domain == 0)
			continue;
		struct sql_expr *x = sql_expr_param(b->a, 0, col->type, 0);
		if (x == NULL || (r->domain[c] = sql_bind_in_domain(b, x, col->domain)) == NULL)
			return false;
	}
	for (; r->checks < tab->checks; r->checks++) {
		const struct ast_expr *e = sql_bind_text_expr(b, tab->check[r->checks].text);
		if (e == NULL || (r->check[r->checks] = sql_bind_check(s, e)) == NULL) {
			b->err->position = 0;
			return false;
		}
	}
	b->nest.nodes += s->nest.nodes;
	*out = r;
	return true;
}

static struct bind *
empty(const struct sql_bind_in *in, struct cat_err *err)
{
	struct sql_plan *p = calloc(1, sizeof *p);
	if (p == NULL) {
		cat_error(err, "53200", "out of memory");
		return NULL;
	}
	nam_arena_init(&p->arena, 8 << 10);
	struct bind *b = nam_arena_zero(&p->arena, sizeof *b);
	if (b == NULL) {
		sql_plan_free(p);
		cat_error(err, "53200", "out of memory");
		return NULL;
	}
	b->a = &p->arena;
	b->err = err;
	b->in = in;
	b->plan = p;
	return b;
}

struct sql_plan *
sql_plan_rules(const struct cat_table *tab, const struct sql_bind_in *in, struct cat_err *err)
{
	struct bind *b = empty(in, err);
	if (b == NULL)
		return NULL;
	struct sql_plan *p = b->plan;
	p->tab = tab;
	if (sql_bind_rules(b, tab, &p->rules))
		return p;
	sql_plan_free(p);
	return NULL;
}

bool
sql_plan_try(const struct cat_table *def, const struct ast_column *column, unsigned columns,
    const struct ast_check *ck, unsigned checks, const struct sql_bind_in *in, struct cat_err *err)
{
	struct bind *b = empty(in, err);
	struct bind *s = b ? sql_bind_over(b, def) : NULL;
	bool ok = s != NULL;
	for (unsigned i = 0; ok && i < columns; i++) {
		unsigned c = 0;
		while (c < def->columns && strcmp(def->column[c].name, column[i].name) != 0)
			c++;
		ok = column[i].dflt == NULL || c == def->columns || dflt(s, def, c, column[i].dflt) != NULL;
	}
	for (unsigned i = 0; ok && i < checks; i++)
		ok = sql_bind_check(s, ck[i].e) != NULL;
	/* Casts are found in the catalog's texts as x::d. */
	if (ok && (b->plan->domain_called || b->plan->enum_called))
		ok = cat_error(err, "0A000",
		    "%s name as a function in DEFAULT and CHECK expressions is not supported yet",
		    b->plan->domain_called ? "a domain's" : "an enum's");
	if (b != NULL)
		sql_plan_free(b->plan);
	return ok;
}
