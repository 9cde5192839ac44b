/*
 * window.c -- calls over windows: out of expressions, into one operator below the projection.
 *
 * A call becomes a column behind the operator's input. How wide that is, only
 * the end of binding says (aggregates are still being found), so columns get
 * their number then.
 */
#include <sql/compat/postgres.h>
#include <sql/plan/bind/bind.h>
#include <sql/plan/window.h>

#include <stdio.h>

/* Room for one more in an array of the arena. */
static bool
room(struct bind *b, void *array, unsigned n, unsigned *cap, size_t size)
{
	if (n < *cap)
		return true;
	unsigned more = *cap ? *cap * 2 : 8;
	void *p = sql_bind_take(b, more * size), *old;
	if (p == NULL)
		return false;
	memcpy(&old, array, sizeof old);
	if (n)
		memcpy(p, old, n * size);
	memcpy(array, &p, sizeof p);
	*cap = more;
	return true;
}

static bool
kind_of(const char *name, enum sql_win_kind *kind, unsigned *least, unsigned *most)
{
	static const struct {
		const char *name;
		enum sql_win_kind kind;
		unsigned least, most;
	} all[] = { { "row_number", SQL_WIN_ROW_NUMBER, 0, 0 }, { "rank", SQL_WIN_RANK, 0, 0 },
		{ "dense_rank", SQL_WIN_DENSE_RANK, 0, 0 }, { "percent_rank", SQL_WIN_PERCENT_RANK, 0, 0 },
		{ "cume_dist", SQL_WIN_CUME_DIST, 0, 0 }, { "ntile", SQL_WIN_NTILE, 1, 1 },
		{ "lag", SQL_WIN_LAG, 1, 3 }, { "lead", SQL_WIN_LEAD, 1, 3 },
		{ "first_value", SQL_WIN_FIRST, 1, 1 }, { "last_value", SQL_WIN_LAST, 1, 1 },
		{ "nth_value", SQL_WIN_NTH, 2, 2 } };
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(name, all[i].name) == 0) {
			*kind = all[i].kind;
			*least = all[i].least;
			*most = all[i].most;
			return true;
		}
	return false;
}

bool
sql_window_function(const char *name)
{
	enum sql_win_kind kind;
	unsigned least, most;
	return kind_of(name, &kind, &least, &most);
}

bool
sql_window_same(const struct ast_window *x, const struct ast_window *y)
{
	if (x->fargs != y->fargs || x->parts != y->parts || x->orders != y->orders || x->mode != y->mode ||
	    x->start != y->start || x->end != y->end || x->exclude != y->exclude)
		return false;
	for (unsigned i = 0; i < x->orders; i++)
		if (x->order[i].desc != y->order[i].desc ||
		    x->order[i].nulls_first != y->order[i].nulls_first)
			return false;
	return true;
}

static bool
slot_of(struct bind *b, struct sql_expr *e, unsigned *out)
{
	struct sql_window *w = b->win.all;
	if (e->kind == SQL_COLUMN)
		for (unsigned k = 0; k < w->es; k++)
			if (w->e[k]->kind == SQL_COLUMN && w->e[k]->index == e->index) {
				*out = k;
				return true;
			}
	if (!room(b, &w->e, w->es, &w->e_cap, sizeof *w->e))
		return false;
	*out = w->es;
	w->e[w->es++] = e;
	return true;
}

static bool
spec_of(struct bind *b, const struct ast_expr *e, unsigned *out)
{
	struct sql_window *w = b->win.all;
	const struct ast_window *o = e->over;
	unsigned keys = o->parts + o->orders;
	for (unsigned s = 0; s < w->specs; s++) {
		const struct ast_expr *f = w->spec[s].ast;
		const struct ast_window *p = f->over;
		bool same = p->parts == o->parts && p->orders == o->orders;
		for (unsigned k = 0; same && k < o->orders; k++)
			same = p->order[k].desc == o->order[k].desc &&
			       p->order[k].nulls_first == o->order[k].nulls_first;
		for (unsigned k = 0; same && k < keys; k++)
			same = sql_bind_same(b, f->args[p->fargs + k], e->args[o->fargs + k]);
		if (same) {
			*out = s;
			return true;
		}
	}
	struct sql_win_spec spec = { .parts = o->parts, .orders = o->orders, .ast = e };
	if ((spec.key = sql_bind_take(b, keys * sizeof *spec.key)) == NULL)
		return false;
	for (unsigned k = 0; k < keys; k++) {
		struct sql_expr *x = sql_bind_expr_as(b, e->args[o->fargs + k], CAT_TEXT);
		if (x == NULL || (x = sql_expr_default_type(b->a, x, b->err)) == NULL)
			return false;
		struct sql_sort_key *key = &spec.key[k];
		if (!slot_of(b, x, &key->col))
			return false;
		if (k >= o->parts) {
			key->desc = o->order[k - o->parts].desc;
			key->nulls_first = o->order[k - o->parts].nulls_first;
		}
	}
	if (!room(b, &w->spec, w->specs, &w->spec_cap, sizeof *w->spec))
		return false;
	*out = w->specs;
	w->spec[w->specs++] = spec;
	return true;
}

/* True if distances between its values are intervals. */
static bool
spans(enum cat_type t)
{
	return t == CAT_DATE || t == CAT_TIMESTAMP || t == CAT_TIMESTAMPTZ || t == CAT_TIME ||
	       t == CAT_INTERVAL;
}

static bool
offset_of(
    struct bind *b, const struct ast_expr *e, enum ast_frame mode, enum cat_type key, struct sql_expr **out)
{
	static const char *const mode_name[] = { "RANGE", "ROWS", "GROUPS" };
	const char *what = mode_name[mode];
	if (sql_bind_has_agg(b, e))
		return sql_bind_fail(
		    b, e->position, "42803", "aggregate functions are not allowed in window %s", what);
	enum cat_type type = CAT_INT8;
	if (mode == AST_FRAME_RANGE) {
		if (spans(key))
			type = CAT_INTERVAL;
		else if (!cat_type_is_int(key) && !cat_type_is_float(key) && key != CAT_NUMERIC)
			return sql_bind_fail(b, e->position, "0A000",
			    "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s",
			    cat_type_name(key));
		else
			type = cat_type_is_int(key) ? CAT_INT8 : cat_type_is_float(key) ? CAT_FLOAT8 : key;
	}
	unsigned lo = b->from.lo, hi = b->from.hi;
	bool grouped = b->agg.grouped;
	b->from.lo = b->from.hi = 0;
	b->agg.grouped = false;
	struct sql_expr *x = sql_bind_expr(b, e);
	sql_bind_fix_param(b, x, mode == AST_FRAME_RANGE && cat_type_is_int(key) ? key : type);
	b->from.lo = lo;
	b->from.hi = hi;
	b->agg.grouped = grouped;
	if (x == NULL) {
		if (strcmp(b->err->sqlstate, "42703") == 0)
			sql_bind_fail(b, b->err->position ? b->err->position : e->position, "42P10",
			    "argument of %s must not contain variables", what);
		return false;
	}
	enum cat_type was = x->type;
	if (type == CAT_INTERVAL && was != CAT_UNKNOWN && was != CAT_INTERVAL) {
		snprintf(b->err->hint, sizeof b->err->hint, "Cast the offset value to an appropriate type.");
		return sql_bind_fail(b, e->position, "0A000",
		    "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s and offset "
		    "type %s",
		    cat_type_name(key), cat_type_name(was));
	}
	*out = sql_expr_assign(b->a, x, type, -1, what, e->position, b->err);
	if (*out == NULL && strcmp(b->err->sqlstate, "42804") == 0)
		sql_bind_fail(b, e->position, "42804", "argument of %s must be type %s, not type %s", what,
		    cat_type_name(type), cat_type_name(was));
	return *out != NULL;
}

static bool
frame_of(struct bind *b, const struct ast_expr *e, struct sql_win_fn *f)
{
	const struct ast_window *o = e->over;
	unsigned at = o->fargs + o->parts + o->orders;
	f->mode = o->mode;
	f->start.kind = o->start;
	f->end.kind = o->end;
	f->exclude = o->exclude;
	enum cat_type key = CAT_UNKNOWN;
	if (o->orders > 0) {
		const struct sql_win_spec *s = &b->win.all->spec[f->spec];
		key = b->win.all->e[s->key[s->parts].col]->type;
	}
	struct sql_win_bound *bound[2] = { &f->start, &f->end };
	for (unsigned k = 0; k < 2; k++)
		if ((bound[k]->kind == AST_BOUND_PRECEDING || bound[k]->kind == AST_BOUND_FOLLOWING) &&
		    !offset_of(b, e->args[at++], o->mode, key, &bound[k]->offset))
			return false;
	return true;
}

static struct sql_expr *
whole(struct bind *b, struct sql_expr *x)
{
	if (x->type != CAT_UNKNOWN && x->type != CAT_INT2)
		return x;
	return sql_expr_cast(b->a, x, CAT_INT4, -1, x->position, b->err);
}

/* Arguments and result of an aggregate over a window. */
static bool
agg_call_of(struct bind *b, const struct ast_expr *e, struct sql_win_fn *f, struct sql_expr **arg, unsigned n)
{
	f->type = CAT_INT8;
	if (e->star) {
		if (f->agg != SQL_COUNT)
			return sql_bind_no_function(b, e, arg, 0);
		f->agg = SQL_COUNT_STAR;
		return true;
	}
	bool pair = sql_agg_is_pair(f->agg);
	if (n != (f->agg == SQL_STRING_AGG || f->agg == SQL_JSON_OBJECT_AGG || pair ? 2 : 1))
		return sql_bind_no_function(b, e, arg, n);
	if (!sql_bind_agg_cast(b, e, f->agg, arg, n))
		return false;
	if (f->agg == SQL_JSON_AGG || f->agg == SQL_JSON_OBJECT_AGG) {
		if ((arg[0] = sql_expr_json_row(b->a, f->agg, arg, e->position, b->err)) == NULL)
			return false;
		if (strncmp(e->text, "jsonb", 5) == 0)
			arg[0]->type = CAT_JSONB; /* as in an aggregate without a window */
		n = 1;
	}
	if (pair) {
		if ((arg[0] = sql_expr_pair_row(b->a, arg, e->position, b->err)) == NULL)
			return false;
		n = 1;
	}
	if (f->agg != SQL_ARRAY_AGG && (arg[0] = sql_expr_default_type(b->a, arg[0], b->err)) == NULL)
		return false;
	f->arg_type = arg[0]->type;
	if (f->agg == SQL_ARRAY_AGG || cat_type_is_array(f->arg_type))
		f->typmod = cat_type_loose(f->arg_type, arg[0]->typmod);
	if (!sql_agg_type(f->agg, f->arg_type, &f->type, e->position, b->err))
		return false;
	f->args = n;
	return slot_of(b, arg[0], &f->arg[0]) && (n == 1 || slot_of(b, arg[1], &f->arg[1]));
}

/* The arguments, typed; the type of the result. */
static bool
call_of(struct bind *b, const struct ast_expr *e, struct sql_win_fn *f)
{
	unsigned n = e->over->fargs, least = 1, most = 1;
	bool agg = sql_agg_find(e->text, &f->agg), win = !agg && kind_of(e->text, &f->kind, &least, &most);
	struct sql_expr **arg = sql_bind_take(b, (n + 1) * sizeof *arg);
	f->typmod = -1;
	if (arg == NULL)
		return false;
	for (unsigned k = 0; k < n; k++) {
		if ((arg[k] = sql_bind_expr(b, e->args[k])) == NULL)
			return false;
	}
	struct sql_expr *passes = NULL;
	if (e->over->filter && !sql_bind_filter(b, e->args[e->nargs - 1], &passes))
		return false;
	if ((agg || win) && !sql_bind_settle(b, e->text, arg, n, e->position))
		return false;
	if (!agg && !win && sql_postgres_has(sql_postgres_aggregates, e->text))
		return sql_bind_fail(b, e->position, "0A000", "aggregate %s is not supported yet", e->text);
	if (!agg && !win) {
		if (!sql_set_function(e->text) &&
		    sql_expr_func(b->a, e->text, arg, n, e->position, b->err) == NULL)
			return false;
		return sql_bind_fail(b, e->position, "42809",
		    "OVER specified, but %s is not a window function nor an aggregate function", e->text);
	}
	if (e->distinct)
		return sql_bind_fail(
		    b, e->position, "0A000", "DISTINCT is not implemented for window functions");
	f->filtered = passes != NULL;
	if (agg)
		return agg_call_of(b, e, f, arg, n) &&
		       (passes == NULL || slot_of(b, passes, &f->arg[f->args]));
	if (n < least || n > most)
		return sql_bind_no_function(b, e, arg, n);
	switch (f->kind) {
	case SQL_WIN_PERCENT_RANK:
	case SQL_WIN_CUME_DIST:
		f->type = CAT_FLOAT8;
		return true;
	case SQL_WIN_NTILE:
		f->type = CAT_INT4;
		if ((arg[0] = whole(b, arg[0])) == NULL)
			return false;
		if (arg[0]->type != CAT_INT4)
			return sql_bind_no_function(b, e, arg, n);
		break;
	case SQL_WIN_LAG:
	case SQL_WIN_LEAD:
	case SQL_WIN_FIRST:
	case SQL_WIN_LAST:
	case SQL_WIN_NTH:
		if (n > 1 && arg[1]->type != CAT_INT4 && arg[1]->type != CAT_INT2 &&
		    arg[1]->type != CAT_UNKNOWN)
			return sql_bind_no_function(b, e, arg, n);
		if (arg[0]->type == CAT_UNKNOWN && (n < 3 || arg[2]->type == CAT_UNKNOWN))
			return sql_bind_fail(b, n < 3 ? 0 : e->position, "42804",
			    "could not determine polymorphic type because input has type unknown");
		if (n > 1 && (arg[1] = whole(b, arg[1])) == NULL)
			return false;
		if (n == 3) {
			struct sql_expr *pair[2] = { arg[0], arg[2] };
			if (!sql_expr_unify(b->a, pair, 2, e->text, b->err))
				return strcmp(b->err->sqlstate, "42804") == 0
					   ? sql_bind_no_function(b, e, arg, n)
					   : false;
			arg[0] = pair[0];
			arg[2] = pair[1];
		}
		f->type = arg[0]->type;
		f->typmod = cat_type_loose(f->type, arg[0]->typmod);
		break;
	default:
		f->type = CAT_INT8;
		return true;
	}
	f->args = n;
	for (unsigned k = 0; k < n; k++)
		if (!slot_of(b, arg[k], &f->arg[k]))
			return false;
	return true;
}

static bool
take_window(struct bind *b)
{
	return b->win.all != NULL || (b->win.all = sql_bind_take(b, sizeof *b->win.all)) != NULL;
}

static struct sql_expr *
reference(struct bind *b, unsigned fn, int position)
{
	struct sql_window *w = b->win.all;
	if (!room(b, &w->ref, w->refs, &w->ref_cap, sizeof *w->ref))
		return NULL;
	struct sql_expr *x =
	    sql_expr_column(b->a, SQL_COLUMN_LATER, w->fn[fn].type, w->fn[fn].typmod, position);
	w->ref[w->refs].e = x;
	w->ref[w->refs++].fn = fn;
	return x;
}

/* Told when the aggregate's arguments are bound. Returns something of its type. */
static struct sql_expr *
in_an_aggregate(struct bind *b, const struct ast_expr *e)
{
	struct sql_win_fn f = { .ast = e };
	b->win.not_in = "window function calls cannot be nested";
	bool ok = call_of(b, e, &f);
	b->win.not_in = NULL;
	if (!ok)
		return NULL;
	if (b->agg.windowed == NULL)
		b->agg.windowed = e;
	struct cat_datum none = { .type = f.type, .null = true, .v.s = { "", 0 } };
	return sql_expr_const(b->a, none, e->position);
}

struct sql_expr *
sql_bind_window(struct bind *b, const struct ast_expr *e)
{
	if (b->agg.filtering) {
		sql_bind_fail(b, e->position, "42P20", "window functions are not allowed in FILTER");
		return NULL;
	}
	if (b->win.not_in != NULL) {
		sql_bind_fail(b, e->position, "42P20", "%s", b->win.not_in);
		return NULL;
	}
	if (!b->win.ok) {
		sql_bind_fail(b, e->position, "42P20", "window functions are not allowed in %s",
		    b->agg.not_in ? b->agg.not_in : "this place");
		return NULL;
	}
	if (!take_window(b))
		return NULL;
	struct sql_window *w = b->win.all;
	if (b->agg.inside)
		return in_an_aggregate(b, e);
	for (unsigned k = 0; k < w->fns; k++)
		if (sql_bind_same(b, w->fn[k].ast, e))
			return reference(b, k, e->position);
	struct sql_win_fn f = { .ast = e };
	b->win.not_in = "window function calls cannot be nested";
	bool ok = call_of(b, e, &f);
	b->win.not_in = "window functions are not allowed in window definitions";
	ok = ok && spec_of(b, e, &f.spec) && frame_of(b, e, &f);
	b->win.not_in = NULL;
	if (!ok || !room(b, &w->fn, w->fns, &w->fn_cap, sizeof *w->fn))
		return NULL;
	w->fn[w->fns++] = f;
	return reference(b, w->fns - 1, e->position);
}

/* Windows that are named and not used must also be valid. */
bool
sql_bind_window_defs(struct bind *b, const struct ast_select *q)
{
	for (unsigned k = 0; k < q->windows; k++) {
		struct sql_win_fn f = { .ast = q->window[k] };
		if (!take_window(b))
			return false;
		b->win.not_in = "window functions are not allowed in window definitions";
		bool ok = spec_of(b, q->window[k], &f.spec) && frame_of(b, q->window[k], &f);
		b->win.not_in = NULL;
		if (!ok)
			return false;
	}
	return true;
}

struct sql_node *
sql_bind_window_node(struct bind *b, struct sql_node *child)
{
	struct sql_window *w = b->win.all;
	if (w == NULL || w->fns == 0)
		return child;
	unsigned *col, cols, width = child->out.cols;
	if (b->agg.grouped) {
		cols = b->agg.groups + b->agg.calls;
		if ((col = sql_bind_take(b, cols * sizeof *col)) == NULL)
			return NULL;
		for (unsigned k = 0; k < cols; k++)
			col[k] = k;
	} else if ((col = sql_plan_columns(b, &cols)) == NULL) {
		return NULL;
	}
	struct sql_op_window *n = sql_new_window(b, child, width + w->fns);
	w->pass = col;
	w->passes = cols;
	w->slot = sql_bind_take(b, cols * sizeof *w->slot);
	w->type = sql_bind_take(b, (w->es + cols) * sizeof *w->type);
	w->from = sql_bind_take(b, (w->es + cols) * sizeof *w->from);
	if (n == NULL || w->slot == NULL || w->type == NULL || w->from == NULL)
		return NULL;
	w->base = width;
	w->slots = w->es;
	for (unsigned k = 0; k < w->es; k++)
		w->type[k] = w->e[k]->type;
	for (unsigned k = 0; k < cols; k++) {
		unsigned s = 0;
		while (s < w->es && (w->e[s]->kind != SQL_COLUMN || w->e[s]->index != col[k]))
			s++;
		if (s == w->es) {
			s = w->slots++;
			w->from[s] = col[k];
			w->type[s] = !b->agg.grouped          ? sql_plan_column_type(b, col[k])
				     : col[k] < b->agg.groups ? b->agg.key[col[k]]->type
							      : b->agg.call[col[k] - b->agg.groups].type;
		}
		w->slot[k] = s;
	}
	for (unsigned k = 0; k < w->refs; k++)
		w->ref[k].e->index = width + w->ref[k].fn;
	n->win = w;
	n->node.est_rows = child->est_rows;
	return &n->node;
}
