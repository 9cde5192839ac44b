/*
 * expr.c -- conditions of a plan as text, in PostgreSQL's words: parentheses around every operator,
 * constants with their types, casts that the types asked for written out.
 */
#include <sql/explain/explain.h>
#include <sql/expr/functions.h>
#include <sql/plan/op.h>
#include <sql/plan/sub.h>
#include <sql/plan/window.h>

enum { DEEPEST = 100, LONGEST = 16 << 10 };

/* Where an expression stands. */
struct place {
	const struct sql_report *r;
	struct sql_text *t;
	size_t end;    /* no longer than that */
	bool prefixed; /* columns with their tables' names */
	bool pair;     /* columns are those of a semijoin's pairs */
	unsigned depth;
};

static void expr(const struct place *at, const struct sql_node *n, const struct sql_expr *e);
static void column(const struct place *at, const struct sql_node *n, unsigned index);

static bool
joins(const struct sql_node *n)
{
	return n->kind == SQL_NODE_JOIN || n->kind == SQL_NODE_LATERAL ||
	       ((n->kind == SQL_NODE_GET || n->kind == SQL_NODE_INDEX) && n->child != NULL);
}

/* The table of n's wide batch that has this column. NULL = none. */
static const struct sql_access *
owner(const struct sql_node *n, unsigned index, unsigned depth)
{
	if (n == NULL || depth > DEEPEST)
		return NULL;
	const struct sql_access *a = sql_node_access(n);
	if (a != NULL && index >= a->base && index - a->base < a->tab->columns)
		return a;
	if (n->kind == SQL_NODE_SCAN || n->kind == SQL_NODE_DERIVED || n->kind == SQL_NODE_AGG ||
	    n->kind == SQL_NODE_PROJECT || n->kind == SQL_NODE_APPEND)
		return NULL;
	if ((a = owner(n->child, index, depth + 1)) == NULL && joins(n))
		a = owner(n->build, index, depth + 1);
	return a;
}

/* Operators whose rows are those of their child. */
static bool
passes_on(const struct sql_node *n)
{
	return n->kind == SQL_NODE_SORT || n->kind == SQL_NODE_LIMIT || n->kind == SQL_NODE_LOCK;
}

/* True if the columns of n are those of the answer. */
static bool
answers(const struct sql_report *r, const struct sql_node *n)
{
	const struct sql_node *top = r->plan->kind == AST_SELECT ? r->plan->root : NULL;
	while (top != NULL && top != n && passes_on(top))
		top = top->child;
	return top != NULL && top == n;
}

/* Over the rows of n. */
static void
aggregate(const struct place *at, const struct sql_node *n, const struct sql_agg *g)
{
	sql_text_add(at->t, "%s(%s", g->ast->text, g->distinct ? "DISTINCT " : "");
	if (g->ast->star)
		sql_text_add(at->t, "*");
	else if (g->arg != NULL)
		expr(at, n, g->arg);
	else if (g->cols > 0)
		expr(at, n, g->col[0]);
	if (g->separator != NULL) {
		sql_text_add(at->t, ", ");
		expr(at, n, g->separator);
	}
	sql_text_add(at->t, ")");
	if (g->filter != NULL) {
		sql_text_add(at->t, " FILTER (WHERE ");
		expr(at, n, g->filter);
		sql_text_add(at->t, ")");
	}
}

/* Columns that operators make: the rows they come from have other numbers. */
static void
made(const struct place *at, const struct sql_node *n, unsigned index)
{
	while (n != NULL && passes_on(n))
		n = n->child;
	if (n != NULL && n->kind == SQL_NODE_AGG && index - sql_op(agg, n)->keys < sql_op(agg, n)->aggs) {
		aggregate(at, n->child, &sql_op(agg, n)->agg[index - sql_op(agg, n)->keys]);
	} else if (n != NULL && n->kind == SQL_NODE_AGG && index < sql_op(agg, n)->keys) {
		expr(at, n->child, sql_op(agg, n)->key[index]);
	} else if (n != NULL && n->kind == SQL_NODE_PROJECT && index < sql_op(project, n)->es) {
		expr(at, n->child, sql_op(project, n)->e[index]);
	} else if (n != NULL && n->kind == SQL_NODE_EXPAND && index < n->out.cols - 1 &&
		   index >= n->out.cols - 1 - sql_op(expand, n)->keys) {
		const struct sql_op_expand *x = sql_op(expand, n);
		expr(at, n->child, x->e[index - (n->out.cols - 1 - x->keys)]);
	} else if (n != NULL && n->kind == SQL_NODE_WINDOW && index >= sql_op(window, n)->win->base &&
		   index - sql_op(window, n)->win->base < sql_op(window, n)->win->fns) {
		const struct sql_window *w = sql_op(window, n)->win;
		sql_text_add(at->t, "%s(...) OVER (?)", w->fn[index - w->base].ast->text);
	} else if (n != NULL && n->kind == SQL_NODE_WINDOW && n->child != NULL) {
		column(at, n->child, index);
	} else if (answers(at->r, n) && index < at->r->plan->columns) {
		sql_text_add(at->t, "%s", at->r->plan->column[index].name);
	} else {
		sql_text_add(at->t, "(column %u)", index + 1);
	}
}

static void
column(const struct place *at, const struct sql_node *n, unsigned index)
{
	if (at->pair) {
		struct place side = *at;
		const struct sql_op_semi *m = sql_op(semi, n);
		unsigned extra = m->sub->extra;
		side.pair = false;
		expr(&side, index < extra ? n->build->child : n->child,
		    index < extra ? sql_op(project, n->build)->e[index] : m->outer[index - extra]);
		return;
	}
	const struct sql_access *a = owner(n, index, 0);
	if (a == NULL)
		made(at, n, index);
	else if (at->prefixed && a->alias != NULL)
		sql_text_add(at->t, "%s.%s", a->alias, a->tab->column[index - a->base].name);
	else
		sql_text_add(at->t, "%s", a->tab->column[index - a->base].name);
}

/* ---- constants ------------------------------------------------------------------------------- */

/* Inside of '...'. */
static void
letters(struct sql_text *t, struct cat_str s)
{
	for (const char *p = s.p, *end = s.p + s.len; p < end;) {
		const char *stop = memchr(p, '\'', (size_t)(end - p));
		stop = stop ? stop + 1 : end;
		sql_text_add(t, "%.*s%s", (int)(stop - p), p, stop[-1] == '\'' ? "'" : "");
		p = stop;
	}
}

/* A type without a length: "character" alone would be character(1). */
static const char *
type_name(enum cat_type type)
{
	return type == CAT_BPCHAR ? cat_type_word(type) : cat_type_name(type);
}

static void
constant(const struct place *at, const struct sql_expr *e)
{
	enum cat_type type = e->type;
	struct cat_str s = { 0 };
	if (e->value.null) {
		sql_text_add(at->t, "NULL::%s", type_name(type));
		return;
	}
	s = cat_value_show(type, e->value.v, at->r->floats, at->t->arena);
	if (s.p == NULL) {
		at->t->failed = true;
		return;
	}
	/* what would be read as a number of that type: an integer without a point is int4 */
	bool digit = s.len > 0 && s.p[0] >= '0' && s.p[0] <= '9';
	bool bare = type == CAT_INT4 || (type == CAT_NUMERIC && memchr(s.p, '.', s.len) != NULL);
	if (type == CAT_BOOL) {
		sql_text_add(at->t, e->value.v.i ? "true" : "false");
	} else if (digit && bare) {
		sql_text_add(at->t, "%.*s", (int)s.len, s.p);
	} else {
		sql_text_add(at->t, "'");
		letters(at->t, s);
		sql_text_add(at->t, "'::%s", type_name(type));
	}
}

/* One element of '{...}'. False if it cannot be shown. */
static bool
element(const struct place *at, const struct sql_expr *e)
{
	if (e->value.null) {
		sql_text_add(at->t, "NULL");
		return true;
	}
	struct cat_str s = cat_value_show(e->type, e->value.v, at->r->floats, at->t->arena);
	if (s.p == NULL)
		return false;
	bool plain = s.len > 0 && !(s.len == 4 && strncasecmp(s.p, "null", 4) == 0);
	for (uint32_t k = 0; plain && k < s.len; k++)
		plain = strchr("{}\",\\ \t\n\r\v\f", s.p[k]) == NULL;
	if (plain) {
		letters(at->t, s);
		return true;
	}
	sql_text_add(at->t, "\"");
	for (uint32_t k = 0; k < s.len; k++) {
		if (s.p[k] == '"' || s.p[k] == '\\')
			sql_text_add(at->t, "\\");
		letters(at->t, (struct cat_str){ s.p + k, 1 });
	}
	sql_text_add(at->t, "\"");
	return true;
}

/* ---- expressions ----------------------------------------------------------------------------- */

static void
list(const struct place *at, const struct sql_node *n, struct sql_expr *const *e, unsigned count,
    const char *between)
{
	for (unsigned k = 0; k < count; k++) {
		if (at->t->n > at->end) {
			sql_text_add(at->t, "%s...", k ? between : "");
			return;
		}
		if (k > 0)
			sql_text_add(at->t, "%s", between);
		expr(at, n, e[k]);
	}
}

static void
in(const struct place *at, const struct sql_node *n, const struct sql_expr *e)
{
	bool constants = true;
	for (unsigned k = 1; k < e->nargs; k++)
		constants = constants && e->args[k]->kind == SQL_CONST;
	sql_text_add(at->t, "(");
	expr(at, n, e->args[0]);
	sql_text_add(at->t, e->negate ? " <> ALL (" : " = ANY (");
	if (constants) {
		sql_text_add(at->t, "'{");
		for (unsigned k = 1; k < e->nargs && !at->t->failed; k++) {
			if (k > 1)
				sql_text_add(at->t, ",");
			if (at->t->n > at->end) {
				sql_text_add(at->t, "...");
				break;
			}
			at->t->failed |= !element(at, e->args[k]);
		}
		sql_text_add(at->t, "}'::%s[]", type_name(e->args[0]->type));
	} else {
		sql_text_add(at->t, "ARRAY[");
		list(at, n, e->args + 1, e->nargs - 1u, ", ");
		sql_text_add(at->t, "]");
	}
	sql_text_add(at->t, "))");
}

static void
type_of(const struct place *at, const struct sql_expr *e)
{
	char type[CAT_TYPE_TEXT];
	sql_text_add(at->t, "%s", cat_type_full(e->type, e->typmod, type));
}

/* a[1], a[2:], (...)[k]. Which bounds a slice has: bits of index. */
static void
subscript(const struct place *at, const struct sql_node *n, const struct sql_expr *e, bool slice)
{
	bool plain = e->args[0]->kind == SQL_COLUMN;
	sql_text_add(at->t, plain ? "" : "(");
	expr(at, n, e->args[0]);
	sql_text_add(at->t, plain ? "[" : ")[");
	if (!slice || (e->index & 1))
		expr(at, n, e->args[1]);
	sql_text_add(at->t, slice ? ":" : "");
	if (slice && (e->index & 2))
		expr(at, n, e->args[e->nargs - 1]);
	sql_text_add(at->t, "]");
}

static void
call(const struct place *at, const struct sql_node *n, const struct sql_expr *e)
{
	bool all, cast = strcmp(e->fn->name, "cast") == 0 || strcmp(e->fn->name, "fit") == 0;
	/* Operators over arrays of any type are no SQL_FN_OP, but have the names of operators. */
	bool symbol = (e->fn->flags & SQL_FN_OP) || strchr("+-*/<>=~!@#%^&|", e->fn->name[0]) != NULL;
	const char *op = sql_expr_any_op(e, &all);
	const struct sql_domain *domain = sql_expr_is_domain(e);
	if (domain != NULL) {
		sql_text_add(at->t, "(");
		expr(at, n, e->args[0]);
		sql_text_add(at->t, ")::%s", domain->name);
	} else if (op != NULL) {
		sql_text_add(at->t, "(");
		expr(at, n, e->args[0]);
		sql_text_add(at->t, " %s %s (", op, all ? "ALL" : "ANY");
		expr(at, n, e->args[1]);
		sql_text_add(at->t, "))");
	} else if (cast && e->nargs == 1) {
		sql_text_add(at->t, "(");
		expr(at, n, e->args[0]);
		sql_text_add(at->t, ")::");
		type_of(at, e);
	} else if (symbol && e->nargs == 2) {
		sql_text_add(at->t, "(");
		expr(at, n, e->args[0]);
		sql_text_add(at->t, " %s ", e->fn->name);
		expr(at, n, e->args[1]);
		sql_text_add(at->t, ")");
	} else if (symbol && e->nargs == 1) {
		sql_text_add(at->t, "(%s ", e->fn->name);
		expr(at, n, e->args[0]);
		sql_text_add(at->t, ")");
	} else if (strcmp(e->fn->name, "subscript") == 0 || strcmp(e->fn->name, "slice") == 0) {
		subscript(at, n, e, e->fn->name[1] == 'l');
	} else if (strcmp(e->fn->name, "extract") == 0 && e->args[0]->kind == SQL_CONST) {
		const struct cat_str field = e->args[0]->value.v.s;
		sql_text_add(at->t, "EXTRACT(%.*s FROM ", (int)field.len, field.p);
		expr(at, n, e->args[1]);
		sql_text_add(at->t, ")");
	} else {
		sql_text_add(at->t, "%s(", e->fn->name);
		list(at, n, e->args, e->nargs, ", ");
		sql_text_add(at->t, ")");
	}
}

static void
subquery(const struct place *at, const struct sql_expr *e)
{
	unsigned number = 1;
	for (const struct sql_sub *s = at->r->plan->subs; s != NULL && s != e->sub; s = s->next)
		number += !s->joined;
	sql_text_add(at->t, "(SubPlan %u)", number);
}

static void
expr(const struct place *above, const struct sql_node *n, const struct sql_expr *e)
{
	struct place here = *above, *at = &here;
	if (++here.depth > DEEPEST || here.t->n > here.end) {
		sql_text_add(at->t, "...");
		return;
	}
	switch (e->kind) {
	case SQL_CONST:
		constant(at, e);
		break;
	case SQL_COLUMN:
		column(at, n, e->index);
		break;
	case SQL_PARAM:
		sql_text_add(at->t, "$%u", e->index + 1);
		break;
	case SQL_CALL:
		call(at, n, e);
		break;
	case SQL_AND:
	case SQL_OR:
		sql_text_add(at->t, "(");
		list(at, n, e->args, e->nargs, e->kind == SQL_AND ? " AND " : " OR ");
		sql_text_add(at->t, ")");
		break;
	case SQL_NOT:
		sql_text_add(at->t, "(NOT ");
		expr(at, n, e->args[0]);
		sql_text_add(at->t, ")");
		break;
	case SQL_IS_NULL:
		sql_text_add(at->t, "(");
		expr(at, n, e->args[0]);
		sql_text_add(at->t, e->negate ? " IS NOT NULL)" : " IS NULL)");
		break;
	case SQL_CASE:
		sql_text_add(at->t, "CASE");
		for (unsigned k = 0; k + 1 < e->nargs; k += 2) {
			sql_text_add(at->t, " WHEN ");
			expr(at, n, e->args[k]);
			sql_text_add(at->t, " THEN ");
			expr(at, n, e->args[k + 1]);
		}
		sql_text_add(at->t, " ELSE ");
		expr(at, n, e->args[e->nargs - 1]);
		sql_text_add(at->t, " END");
		break;
	case SQL_COALESCE:
		sql_text_add(at->t, "COALESCE(");
		list(at, n, e->args, e->nargs, ", ");
		sql_text_add(at->t, ")");
		break;
	case SQL_IN:
		in(at, n, e);
		break;
	case SQL_OUTER:
		sql_text_add(at->t, "(outer value %u)", e->index + 1);
		break;
	case SQL_SUB:
		subquery(at, e);
		break;
	}
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* How many tables the plan uses; above one their names go before columns. */
static unsigned
sources(const struct sql_node *n, unsigned depth)
{
	if (n == NULL || depth > DEEPEST)
		return 0;
	unsigned sum = sql_node_access(n) != NULL;
	struct sql_node **k;
	for (struct sql_inputs i = sql_sources(n); (k = sql_input_next(&i)) != NULL;)
		sum += sources(*k, depth + 1);
	return sum;
}

static bool
prefixed(const struct sql_report *r)
{
	return r->how->verbose || r->plan->subs != NULL || sources(r->plan->root, 0) > 1;
}

/* (key = expression) AND ...: of a join, over both its sides. */
static void
pair_keys(const struct place *at, const struct sql_node *n, struct sql_expr *const *key,
    struct sql_expr *const *build_key, unsigned keys)
{
	sql_text_add(at->t, keys > 1 ? "(" : "");
	for (unsigned k = 0; k < keys; k++) {
		sql_text_add(at->t, k ? " AND (" : "(");
		expr(at, n->child, key[k]);
		sql_text_add(at->t, " = ");
		expr(at, n->build, build_key[k]);
		sql_text_add(at->t, ")");
	}
	sql_text_add(at->t, keys > 1 ? ")" : "");
}

/* The keys of a look-up, over the rows before it. */
static void
get_keys(const struct place *at, const struct sql_op_get *o)
{
	const struct sql_node *n = &o->node;
	unsigned probes = o->probes > 1 ? o->probes : 1;
	bool several = o->keys > 1 || probes > 1;
	sql_text_add(at->t, several ? "(" : "");
	for (unsigned p = 0; p < probes; p++) {
		if (p > 0)
			sql_text_add(at->t, " OR ");
		if (at->t->n > at->end) {
			sql_text_add(at->t, "...");
			break;
		}
		if (probes > 1 && o->keys > 1)
			sql_text_add(at->t, "(");
		for (unsigned k = 0; k < o->keys; k++) {
			bool each = o->each == k + 1;
			sql_text_add(at->t, k ? " AND (" : "(");
			column(at, n, o->acc.base + o->acc.tab->key[k]);
			sql_text_add(at->t, each ? " = ANY (" : " = ");
			expr(at, n->child, o->key[p * o->keys + k]);
			sql_text_add(at->t, each ? "))" : ")");
		}
		if (probes > 1 && o->keys > 1)
			sql_text_add(at->t, ")");
	}
	sql_text_add(at->t, several ? ")" : "");
}

/* The list of values in col = ANY ('{...}') or ARRAY[...]. */
static void
one_of(const struct place *at, const struct sql_node *n, const struct sql_index_key *k, enum cat_type type)
{
	bool constants = true;
	for (unsigned i = 0; i < k->values; i++)
		constants = constants && k->value[i]->kind == SQL_CONST;
	if (!constants) {
		sql_text_add(at->t, "ARRAY[");
		list(at, n, k->value, k->values, ", ");
		sql_text_add(at->t, "]");
		return;
	}
	sql_text_add(at->t, "'{");
	for (unsigned i = 0; i < k->values && !at->t->failed; i++) {
		sql_text_add(at->t, i > 0 ? "," : "");
		if (at->t->n > at->end) {
			sql_text_add(at->t, "...");
			break;
		}
		at->t->failed |= !element(at, k->value[i]);
	}
	sql_text_add(at->t, "}'::%s[]", type_name(type));
}

static unsigned
tests_of(const struct sql_index_part *p)
{
	return p->keys + (p->low != NULL) + (p->high != NULL) +
	       (p->not_null && p->low == NULL && p->high == NULL);
}

/* What a part says: (a = 1) AND (b > 2). */
static void
index_part(
    const struct place *at, const struct sql_op_index *o, unsigned index, const struct sql_index_part *p)
{
	const struct cat_index *ix = &o->acc.tab->index[index];
	const struct sql_node *n = &o->node;
	unsigned tests = tests_of(p), done = 0;
	sql_text_add(at->t, tests > 1 ? "(" : "");
	for (unsigned k = 0; k < p->keys; k++) {
		const struct sql_index_key *key = &p->key[k];
		sql_text_add(at->t, done++ ? " AND (" : "(");
		column(at, n, o->acc.base + ix->key[k].column);
		if (key->by == SQL_INDEX_NULL) {
			sql_text_add(at->t, " IS NULL)");
			continue;
		}
		sql_text_add(at->t, key->by == SQL_INDEX_VALUE ? " = " : " = ANY (");
		if (key->by == SQL_INDEX_LIST)
			one_of(at, n->child, key, o->acc.tab->column[ix->key[k].column].type);
		else
			expr(at, n->child, key->value[0]);
		sql_text_add(at->t, key->by == SQL_INDEX_VALUE ? ")" : "))");
	}
	for (unsigned i = 0; i < 3; i++) {
		const struct sql_expr *e = i == 0 ? p->low : i == 1 ? p->high : NULL;
		if (i < 2 ? e == NULL : done == tests)
			continue;
		sql_text_add(at->t, done++ ? " AND (" : "(");
		column(at, n, o->acc.base + ix->key[p->keys].column);
		if (e == NULL) {
			sql_text_add(at->t, " IS NOT NULL)");
			continue;
		}
		bool open = i == 0 ? p->low_open : p->high_open;
		sql_text_add(at->t, " %s%s ", i == 0 ? ">" : "<", open ? "" : "=");
		expr(at, n->child, e);
		sql_text_add(at->t, ")");
	}
	sql_text_add(at->t, tests > 1 ? ")" : "");
}

static void
index_parts(const struct place *at, const struct sql_op_index *o, unsigned index,
    const struct sql_index_part *part, unsigned parts)
{
	sql_text_add(at->t, parts > 1 ? "(" : "");
	for (unsigned p = 0; p < parts; p++) {
		sql_text_add(at->t, p > 0 ? " OR " : "");
		index_part(at, o, index, &part[p]);
	}
	sql_text_add(at->t, parts > 1 ? ")" : "");
}

/* False: it says nothing. */
static bool
index_keys(const struct place *at, const struct sql_op_index *o)
{
	bool any = o->legs > 0;
	for (unsigned p = 0; p < o->parts; p++)
		any |= tests_of(&o->part[p]) > 0;
	if (!any)
		return false;
	if (o->legs == 0) {
		index_parts(at, o, o->index, o->part, o->parts);
		return true;
	}
	sql_text_add(at->t, "(");
	for (unsigned k = 0; k < o->legs; k++) {
		sql_text_add(at->t, k == 0 ? "" : o->all ? " AND " : " OR ");
		index_parts(at, o, o->leg[k].index, o->leg[k].part, o->leg[k].parts);
	}
	sql_text_add(at->t, ")");
	return true;
}

/* What pairs must fulfil besides equal keys; NULL = nothing, or there are no pairs. */
static const struct sql_expr *
on_of(const struct sql_node *n)
{
	return n->kind == SQL_NODE_SEMI ? sql_op(semi, n)->rest : sql_node_on(n);
}

const char *
sql_explain_condition(
    const struct sql_report *r, struct sql_text *t, const struct sql_node *n, enum sql_condition which)
{
	struct place at = { .r = r, .t = t, .end = t->n + LONGEST, .prefixed = prefixed(r) };
	switch (which) {
	case SQL_CONDITION_KEYS:
		if (n->kind == SQL_NODE_GET) {
			get_keys(&at, sql_op(get, n));
			return "Key Cond";
		}
		if (n->kind == SQL_NODE_INDEX) {
			return index_keys(&at, sql_op(index, n)) ? "Index Cond" : NULL;
		}
		if (n->kind == SQL_NODE_SEMI) {
			const struct sql_op_semi *s = sql_op(semi, n);
			pair_keys(&at, n, s->key, s->sub->right, s->keys);
			return "Hash Cond";
		}
		if (n->kind != SQL_NODE_JOIN || sql_op(join, n)->keys == 0)
			return NULL;
		pair_keys(&at, n, sql_op(join, n)->key, sql_op(join, n)->build_key, sql_op(join, n)->keys);
		return "Hash Cond";
	case SQL_CONDITION_ON:
		at.pair = n->kind == SQL_NODE_SEMI;
		if (on_of(n) == NULL)
			return NULL;
		expr(&at, n, on_of(n));
		return "Join Filter";
	default:
		if (n->filter == NULL)
			return NULL;
		expr(&at, n, n->filter);
		return n->kind == SQL_NODE_ONE ? "One-Time Filter" : "Filter";
	}
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* True if it is a table's column, handed up. */
static bool
is_column(const struct sql_node *n, unsigned index)
{
	for (unsigned depth = 0; n != NULL && depth < DEEPEST; depth++) {
		const struct sql_expr *e = NULL;
		if (owner(n, index, 0) != NULL)
			return true;
		if (n->kind == SQL_NODE_AGG)
			e = index < sql_op(agg, n)->keys ? sql_op(agg, n)->key[index] : NULL;
		else if (n->kind == SQL_NODE_PROJECT)
			e = index < sql_op(project, n)->es ? sql_op(project, n)->e[index] : NULL;
		else if (!passes_on(n) && n->kind != SQL_NODE_WINDOW)
			return n->kind == SQL_NODE_APPEND || n->kind == SQL_NODE_SETOP ||
			       n->kind == SQL_NODE_RECURSE;
		if (n->kind == SQL_NODE_AGG || n->kind == SQL_NODE_PROJECT) {
			if (e == NULL || e->kind != SQL_COLUMN)
				return false;
			index = e->index;
		} else if (n->kind == SQL_NODE_WINDOW && index >= sql_op(window, n)->win->base) {
			return false;
		}
		n = n->child;
	}
	return false;
}

/* As PostgreSQL writes it: what was computed below stands in parentheses. */
static void
sort_key(const struct place *at, const struct sql_node *n, const struct sql_sort_key *key)
{
	bool bare = is_column(n->child, key->col);
	sql_text_add(at->t, bare ? "" : "(");
	column(at, n->child, key->col);
	sql_text_add(at->t, "%s%s%s", bare ? "" : ")", key->desc ? " DESC" : "",
	    key->nulls_first == key->desc ? ""
	    : key->nulls_first            ? " NULLS FIRST"
					  : " NULLS LAST");
}

const char *
sql_explain_key(const struct sql_report *r, struct sql_text *t, const struct sql_node *n, unsigned k)
{
	struct place at = { .r = r, .t = t, .end = t->n + LONGEST, .prefixed = prefixed(r) };
	if (n->kind == SQL_NODE_SORT && k < sql_op(sort, n)->orders) {
		sort_key(&at, n, &sql_op(sort, n)->order[k]);
		return "Sort Key";
	}
	/* of grouping sets the last key is the set's number */
	if (n->kind == SQL_NODE_AGG &&
	    k + (n->child != NULL && n->child->kind == SQL_NODE_EXPAND) < sql_op(agg, n)->keys) {
		expr(&at, n->child, sql_op(agg, n)->key[k]);
		return "Group Key";
	}
	return NULL;
}
