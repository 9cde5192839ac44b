/* unnest.c -- functions that return rows, made of functions that answer arrays: unnest and its kin,
 * in FROM and in select lists. */
#include <sql/plan/bind/bind.h>

#include <stdio.h>

/* The array that argument k of the call is, or that the whole call makes; type: of a row. */
static struct sql_expr *
array_of(struct bind *b, const struct ast_expr *f, unsigned k, enum cat_type *type, int32_t *typmod)
{
	const struct sql_set_function *s = sql_set_function(f->text);
	struct ast_expr call = *f;
	*typmod = -1;
	if (strcmp(f->text, "generate_series") == 0) {
		struct sql_expr **arg = sql_bind_take(b, (f->nargs + 1) * sizeof *arg);
		if (arg == NULL || !sql_bind_series(b, f, arg, type))
			return NULL;
		return sql_expr_series(b->a, arg, f->nargs, *type, f->position, b->err);
	}
	call.text = s->array;
	b->srf.call = &call;
	struct sql_expr *x = sql_bind_expr(b, s->array ? &call : f->args[k]);
	b->srf.call = NULL;
	if (x == NULL || (x = sql_vector_open(b->a, x, b->err)) == NULL)
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
	*typmod = cat_type_loose(x->type, x->typmod);
	return x;
}

static unsigned
arrays_of(const struct ast_expr *f)
{
	return sql_set_function(f->text)->array ? 1 : f->nargs;
}

static bool
plain_call(struct bind *b, const struct ast_expr *e)
{
	if (e->star || (arrays_of(e) != 1 && b->srf.now != NULL) || e->nargs == 0) {
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

/* Elements are columns with such numbers, until it is known which columns they will be. */
enum { ROW_BASE = 1 << 20, ITEMS_MAX = CAT_COLUMNS_MAX };

bool
sql_bind_srf_begin(struct bind *b)
{
	b->srf.now = b->srf.all = sql_bind_take(b, sizeof *b->srf.now);
	return b->srf.now != NULL;
}

static bool
room(struct bind *b, struct bind_srf *s)
{
	if (s->sets < s->cap)
		return true;
	if (s->sets >= ITEMS_MAX)
		return sql_bind_fail(b, 0, "54011", "target lists can have at most %d entries", ITEMS_MAX);
	unsigned cap = s->cap ? 2 * s->cap : 4;
	struct sql_expr **array = sql_bind_take(b, cap * sizeof *array);
	struct sql_expr **row = sql_bind_take(b, cap * sizeof *row);
	if (array == NULL || row == NULL)
		return false;
	if (s->sets > 0) {
		memcpy(array, s->array, s->sets * sizeof *array);
		memcpy(row, s->row, s->sets * sizeof *row);
	}
	s->array = array;
	s->row = row;
	s->cap = cap;
	return true;
}

struct sql_expr *
sql_bind_srf_call(struct bind *b, const struct ast_expr *e)
{
	struct bind_srf *s = b->srf.now;
	enum cat_type type;
	int32_t typmod;
	if (b->agg.inside || b->win.not_in != NULL) {
		sql_bind_fail(b, e->position, "0A000",
		    "%s function calls cannot contain set-returning function calls",
		    b->agg.inside ? "aggregate" : "window");
		return NULL;
	}
	if (s == NULL) {
		sql_bind_fail(b, e->position, "0A000", "set-returning functions are not allowed in %s",
		    b->agg.not_in ? b->agg.not_in : "this place");
		return NULL;
	}
	if (!plain_call(b, e) || !room(b, s))
		return NULL;
	b->srf.now = NULL;
	struct sql_expr *x = array_of(b, e, 0, &type, &typmod);
	b->srf.now = s;
	if (x == NULL)
		return NULL;
	s->array[s->sets] = x;
	s->row[s->sets] = sql_expr_column(b->a, ROW_BASE + s->sets, type, typmod, e->position);
	return s->row[s->sets++];
}

/* The call whose element it is; b->srf.all->sets: none. (Columns of windows have no number yet.) */
static unsigned
call_of(const struct bind *b, const struct sql_expr *e)
{
	unsigned sets = b->srf.all->sets;
	return e->kind == SQL_COLUMN && e->index >= ROW_BASE && e->index - ROW_BASE < sets
		   ? e->index - ROW_BASE
		   : sets;
}

bool
sql_bind_srf_in(const struct bind *b, const struct sql_expr *e)
{
	bool in = b->srf.all != NULL && call_of(b, e) < b->srf.all->sets;
	for (unsigned i = 0; i < e->nargs && !in; i++)
		in = sql_bind_srf_in(b, e->args[i]);
	return in;
}

bool
sql_bind_srf_item(struct bind *b, const struct sql_expr *e, int position)
{
	bool here = e->kind == SQL_CASE || e->kind == SQL_COALESCE, ok = true;
	if (here && sql_bind_srf_in(b, e))
		return sql_bind_fail(b, position, "0A000", "set-returning functions are not allowed in %s",
		    e->kind == SQL_CASE ? "CASE" : "COALESCE");
	for (unsigned i = 0; i < e->nargs && ok; i++)
		ok = sql_bind_srf_item(b, e->args[i], position);
	return ok;
}

static struct sql_op_unnest *
unnest(struct bind *b, struct sql_node *child, unsigned cols, const uint8_t *set)
{
	struct sql_op_unnest *n = sql_new_unnest(b, child, cols);
	if (n == NULL || (n->type = sql_bind_take(b, cols * sizeof *n->type)) == NULL)
		return NULL;
	n->apart = set;
	n->node.est_rows = child->est_rows * 10;
	return n;
}

/*
 * The columns around the elements in e are also passed on: with[c] is the new place of column c.
 */
static bool
carry(struct bind *b, const struct sql_expr *e, struct sql_op_project *p, struct sql_expr **with)
{
	struct bind_srf *s = b->srf.all;
	if (e->kind == SQL_COLUMN && e->index < ROW_BASE && with[e->index] == NULL) {
		s->types[p->es] = e->type;
		p->e[p->es] = sql_expr_column(b->a, e->index, e->type, e->typmod, e->position);
		with[e->index] = sql_expr_column(b->a, p->es, e->type, e->typmod, e->position);
		if (p->e[p->es++] == NULL || with[e->index] == NULL)
			return false;
	}
	for (unsigned i = 0; i < e->nargs; i++)
		if (!carry(b, e->args[i], p, with))
			return false;
	return true;
}

/* A call may have gone when constants were folded: NULL + generate_series(1, 2) is NULL, once. */
static bool
in_one(const struct bind *b, const struct sql_expr *e, unsigned call)
{
	bool in = call_of(b, e) == call;
	for (unsigned i = 0; i < e->nargs && !in; i++)
		in = in_one(b, e->args[i], call);
	return in;
}

static bool
speaks_of(const struct bind *b, struct sql_expr *const *item, unsigned items, unsigned call)
{
	bool in = false;
	for (unsigned i = 0; i < items && !in; i++)
		in = in_one(b, item[i], call);
	return in;
}

bool
sql_bind_srf_arrays(struct bind *b, struct sql_op_project *p)
{
	struct bind_srf *s = b->srf.all;
	if (s == NULL || s->sets == 0)
		return true;
	bool any = false;
	for (unsigned k = 0; k < s->sets && !any; k++)
		any = speaks_of(b, p->e, p->es, k);
	if (!any) {
		s->sets = 0;
		return true;
	}
	unsigned items = p->es, wide = p->node.child->out.cols, most = items + s->sets + wide;
	struct sql_expr **item = p->e, **with = sql_bind_take(b, (wide + 1) * sizeof *with);
	struct sql_expr **row = sql_bind_take(b, s->sets * sizeof *row);
	p->e = sql_bind_take(b, most * sizeof *p->e);
	s->apart = sql_bind_take(b, most);
	s->types = sql_bind_take(b, most * sizeof *s->types);
	s->last = sql_bind_take(b, items * sizeof *s->last);
	p->node.out.col = sql_bind_take(b, most * sizeof *p->node.out.col);
	if (!with || !row || !p->e || !s->apart || !s->types || !s->last || !p->node.out.col)
		return false;
	struct cat_datum none = { .type = CAT_INT4, .null = true };
	for (unsigned i = 0; i < items; i++) {
		unsigned k = call_of(b, item[i]);
		bool alone = k < s->sets && row[k] == NULL;
		p->e[i] = alone ? s->array[k] : item[i];
		if (!alone && sql_bind_srf_in(b, item[i]))
			p->e[i] = sql_expr_const(b->a, none, 0); /* it is made later */
		s->last[i] = sql_expr_column(b->a, i, item[i]->type, item[i]->typmod, item[i]->position);
		if (p->e[i] == NULL || s->last[i] == NULL)
			return false;
		if (alone)
			row[k] = s->last[i];
		s->apart[i] = alone;
		s->types[i] = alone ? item[i]->type : p->e[i]->type;
	}
	p->es = s->lasts = items;
	for (unsigned k = 0; k < s->sets; k++)
		if (row[k] == NULL && speaks_of(b, item, items, k)) {
			s->apart[p->es] = 1;
			s->types[p->es] = s->row[k]->type;
			p->e[p->es] = s->array[k];
			row[k] = sql_expr_column(b->a, p->es++, s->row[k]->type, s->row[k]->typmod, 0);
			if (row[k] == NULL)
				return false;
		}
	for (unsigned i = 0; i < items; i++) {
		if (s->apart[i] || !sql_bind_srf_in(b, item[i]))
			continue;
		s->around = true;
		if (!carry(b, item[i], p, with) ||
		    (s->last[i] = sql_expr_substitute(b->a, item[i], 0, wide, with)) == NULL ||
		    (s->last[i] = sql_expr_substitute(b->a, s->last[i], ROW_BASE, s->sets, row)) == NULL)
			return cat_error(b->err, "53200", "out of memory");
	}
	s->cols = p->node.out.cols = p->es;
	return true;
}

struct sql_node *
sql_bind_srf_node(struct bind *b, struct sql_node *n)
{
	const struct bind_srf *s = b->srf.all;
	if (s == NULL || s->sets == 0)
		return n;
	struct sql_op_unnest *u = unnest(b, n, s->cols, s->apart);
	if (u == NULL)
		return NULL;
	u->type = s->types;
	return s->around ? sql_plan_project(b, &u->node, s->last, s->lasts) : &u->node;
}

/* ---- FROM ------------------------------------------------------------------------------------ */

struct sql_node *
sql_bind_srf_source(
    struct bind *b, const struct ast_expr *f, bool ordinality, enum cat_type **type, int32_t **typmod)
{
	unsigned arrays = arrays_of(f), cols = arrays + ordinality;
	b->agg.not_in = "functions in FROM";
	if (!plain_call(b, f))
		return NULL;
	struct sql_node *one = sql_plan_node(b, SQL_NODE_ONE, NULL, 0);
	struct sql_expr **e = sql_bind_take(b, arrays * sizeof *e);
	struct sql_node *p = one && e ? sql_plan_project(b, one, e, arrays) : NULL;
	uint8_t *set = sql_bind_take(b, cols);
	*typmod = sql_bind_take(b, arrays * sizeof **typmod);
	struct sql_op_unnest *n = p && set && *typmod ? unnest(b, p, cols, set) : NULL;
	if (n == NULL)
		return NULL;
	memset(set, 1, arrays);
	for (unsigned k = 0; k < arrays; k++)
		if ((e[k] = array_of(b, f, k, &n->type[k], &(*typmod)[k])) == NULL)
			return NULL;
	if (ordinality)
		n->type[arrays] = CAT_INT8;
	*type = n->type;
	return &n->node;
}
