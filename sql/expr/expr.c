/* expr.c -- makers of expressions: nodes, casts into place, folding of constants. */
#include <base/assert.h>
#include <sql/expr/func/array.h>

#include <stdio.h>
#include <string.h>

static struct sql_expr *
node(struct nam_arena *a, enum sql_expr_kind kind, enum cat_type type, int position)
{
	struct sql_expr *e = nam_arena_zero(a, sizeof *e);
	if (e == NULL)
		return NULL;
	e->kind = kind;
	e->type = type;
	e->typmod = -1;
	e->position = position;
	return e;
}

static struct sql_expr *
fail(struct cat_err *err, int position)
{
	err->position = position;
	return NULL;
}

static struct sql_expr *
no_memory(struct cat_err *err)
{
	sql_oom(err);
	return NULL;
}

struct sql_expr *
sql_expr_const(struct nam_arena *a, struct cat_datum d, int position)
{
	struct sql_expr *e = node(a, SQL_CONST, d.type, position);
	if (e == NULL)
		return NULL;
	if (d.null && cat_type_is_str(d.type))
		d.v.s = (struct cat_str){ "", 0 };
	e->value = d;
	e->pure = true;
	return e;
}

struct sql_expr *
sql_expr_column(struct nam_arena *a, unsigned index, enum cat_type type, int32_t typmod, int position)
{
	struct sql_expr *e = node(a, SQL_COLUMN, type, position);
	if (e == NULL)
		return NULL;
	e->typmod = typmod;
	e->index = index;
	e->rows = true;
	return e;
}

struct sql_expr *
sql_expr_param(struct nam_arena *a, unsigned index, enum cat_type type, int position)
{
	struct sql_expr *e = node(a, SQL_PARAM, type, position);
	if (e == NULL)
		return NULL;
	e->index = index;
	return e;
}

/* A node over arguments (copied). */
static struct sql_expr *
over(struct nam_arena *a, enum sql_expr_kind kind, enum cat_type type, struct sql_expr **args, unsigned n,
    int position, struct cat_err *err)
{
	struct sql_expr *e = node(a, kind, type, position);
	if (e == NULL || n > UINT16_MAX) {
		if (e != NULL)
			cat_error(err, "54000", "too many arguments");
		return e ? fail(err, position) : no_memory(err);
	}
	e->args = n ? nam_arena_copy(a, args, n * sizeof *args) : NULL;
	if (n && e->args == NULL)
		return no_memory(err);
	e->nargs = (uint16_t)n;
	e->pure = true;
	for (unsigned k = 0; k < n; k++) {
		e->pure &= args[k]->pure;
		e->rows |= args[k]->rows;
	}
	return e;
}

struct sql_expr *
sql_expr_outer(struct nam_arena *a, unsigned index, enum cat_type type, int32_t typmod, int position)
{
	struct sql_expr *e = node(a, SQL_OUTER, type, position);
	if (e == NULL)
		return NULL;
	e->index = index;
	e->typmod = typmod;
	return e;
}

struct sql_expr *
sql_expr_sub(struct nam_arena *a, void *sub, enum cat_type type, int32_t typmod, struct sql_expr **args,
    unsigned n, int position, struct cat_err *err)
{
	struct sql_expr *e = over(a, SQL_SUB, type, args, n, position, err);
	if (e == NULL)
		return NULL;
	e->sub = sub;
	e->typmod = typmod;
	e->pure = false;
	return e;
}

bool
sql_budget(void *arg, uint64_t work)
{
	uint64_t *left = arg;
	*left -= work < *left ? work : *left;
	return *left > 0;
}

/*
 * A call, or an IN, that a constant NULL makes NULL, whatever its other arguments are: these are
 * not computed, so they cannot fail.
 */
static bool
is_null_call(const struct sql_expr *e)
{
	bool is = false;
	if (e->kind == SQL_IN)
		return e->args[0]->kind == SQL_CONST && e->args[0]->value.null;
	if (e->kind != SQL_CALL || (e->fn->flags & SQL_FN_NULLS))
		return false;
	for (unsigned k = 0; k < e->nargs && !is; k++)
		is = e->args[k]->kind == SQL_CONST && e->args[k]->value.null;
	return is;
}

/* An expression of constants becomes one. If it cannot be computed it stays, and says so when it is
 * reached. */
struct sql_expr *
sql_expr_fold(struct nam_arena *a, struct sql_expr *e)
{
	if (e == NULL || e->kind == SQL_CONST)
		return e;
	if (is_null_call(e)) {
		struct cat_datum none = { .type = e->type, .null = true, .v.s = { "", 0 } };
		struct sql_expr *c = sql_expr_const(a, none, e->position);
		if (c != NULL)
			c->typmod = e->typmod;
		return c != NULL ? c : e;
	}
	if (!e->pure)
		return e;
	struct cat_err ignore;
	uint64_t left = SQL_BUDGET;
	bool shows_float = false;
	struct sql_env env = { .arena = a,
		.err = &ignore,
		.shows_float = &shows_float,
		.go_on = sql_budget,
		.go_on_arg = &left };
	struct cat_datum d;
	bool ok = sql_eval_one(e, &env, &d);
	if (shows_float)
		e->pure = false;
	/* a function that was told to stop may have answered with what it had by then */
	if (!ok || left == 0 || shows_float)
		return e;
	struct sql_expr *c = sql_expr_const(a, d, e->position);
	if (c == NULL)
		return e;
	c->type = c->value.type = e->type;
	c->typmod = e->typmod;
	return c;
}

struct sql_expr *
sql_expr_call(struct nam_arena *a, const struct sql_fn *fn, struct sql_expr **args, unsigned n, int position,
    struct cat_err *err)
{
	struct sql_expr *e = over(a, SQL_CALL, fn->ret, args, n, position, err);
	if (e == NULL)
		return NULL;
	e->fn = fn;
	if (fn->flags & SQL_FN_VOLATILE)
		e->pure = false;
	if (fn->flags & SQL_FN_EACH)
		e->rows = true;
	return e;
}

/*
 * The same bytes under another type. Which values are too large, or how one is cut, was said for
 * the type before.
 */
static struct sql_expr *
relabel(struct nam_arena *a, struct sql_expr *e, enum cat_type to, struct cat_err *err)
{
	/* a column gets its number later through its node: no copy of it would get one */
	bool later = e->kind == SQL_COLUMN && e->index == SQL_COLUMN_LATER;
	struct sql_expr *c =
	    later ? over(a, SQL_COALESCE, to, &e, 1, e->position, err) : nam_arena_copy(a, e, sizeof *e);
	if (c == NULL)
		return no_memory(err);
	if (c->kind == SQL_CALL && c->call == NULL)
		c->call = e;
	if (to != e->type)
		c->domain = 0;
	c->type = to;
	c->typmod = -1;
	if (c->kind == SQL_CONST)
		c->value.type = to;
	return c;
}

struct sql_expr *
sql_expr_coerce(
    struct nam_arena *a, struct sql_expr *e, enum cat_type to, enum sql_cast_level level, struct cat_err *err)
{
	if (e->type == to)
		return e;
	bool unknown = e->type == CAT_UNKNOWN && (e->kind == SQL_PARAM || e->kind == SQL_CONST);
	if (unknown && cat_type_is_reg(to) && !(e->kind == SQL_CONST && e->value.null))
		return sql_reg_literal(a, e, to, err);
	if (e->type == CAT_UNKNOWN && e->kind == SQL_PARAM) {
		e->type = to; /* the place decides */
		return e;
	}
	if (e->kind == SQL_CONST && (e->value.null || e->type == CAT_UNKNOWN)) {
		struct cat_datum d = { .type = to, .null = e->value.null };
		struct sql_expr *moment = d.null ? NULL : sql_moment(a, e, to, err);
		if (moment != NULL)
			return moment;
		if (!d.null && !cat_value_in(to, -1, e->value.v.s, &d.v, a, err))
			return fail(err, e->position);
		struct sql_expr *c = sql_expr_const(a, d, e->position);
		return c ? c : no_memory(err);
	}
	const struct sql_fn *fn;
	if (!sql_cast_find(e->type, to, level, &fn)) {
		cat_error(
		    err, "42846", "cannot cast type %s to %s", cat_type_name(e->type), cat_type_name(to));
		return fail(err, e->position);
	}
	if (fn == NULL)
		return relabel(a, e, to, err);
	if (fn == &sql_fn_array_cast)
		return sql_array_cast(a, e, to, level, err);
	struct sql_expr *c = sql_expr_call(a, fn, &e, 1, e->position, err);
	if (c == NULL)
		return NULL;
	c->type = to;
	return sql_expr_fold(a, c);
}

struct sql_expr *
sql_expr_as(struct nam_arena *a, struct sql_expr *e, enum cat_type type, int32_t typmod)
{
	struct cat_err ignored;
	if (e->type == type && e->typmod == typmod)
		return e;
	struct sql_expr *c = relabel(a, e, type, &ignored);
	if (c != NULL)
		c->typmod = typmod;
	return c;
}

struct sql_expr *
sql_expr_name(struct nam_arena *a, struct sql_expr *e, int32_t typmod, struct cat_err *err)
{
	struct sql_expr *c = sql_expr_as(a, e, e->type, typmod);
	return c ? c : no_memory(err);
}

static bool
has_typmod(enum cat_type t)
{
	t = cat_type_element(t);
	return t == CAT_TEXT || t == CAT_NUMERIC || t == CAT_BPCHAR || t == CAT_INTERVAL;
}

/* Applies a typmod to an expression that has the type already. */
static struct sql_expr *
fit(struct nam_arena *a, struct sql_expr *e, const struct sql_fn *fn, int32_t typmod, struct cat_err *err)
{
	if (typmod < 0 || e->typmod == typmod || !has_typmod(e->type) ||
	    (typmod == CAT_VARCHAR && cat_type_is_varchar(e->type, typmod)))
		return e;
	struct sql_expr *c = sql_expr_call(a, fn, &e, 1, e->position, err);
	if (c == NULL)
		return NULL;
	c->type = e->type;
	c->typmod = typmod;
	return sql_expr_fold(a, c);
}

/* INTERVAL '1' DAY: the fields say what the number means. */
static bool
is_span(const struct sql_expr *e, enum cat_type to, int32_t typmod)
{
	return to == CAT_INTERVAL && typmod >= 0 && e->kind == SQL_CONST && e->type == CAT_UNKNOWN &&
	       !e->value.null;
}

static struct sql_expr *
span(struct nam_arena *a, const struct sql_expr *e, int32_t fields, struct cat_err *err)
{
	struct cat_datum d = { .type = CAT_INTERVAL };
	if (!cat_value_in(CAT_INTERVAL, fields, e->value.v.s, &d.v, a, err))
		return fail(err, e->position);
	struct sql_expr *c = sql_expr_const(a, d, e->position);
	if (c != NULL)
		c->typmod = fields;
	return c ? c : no_memory(err);
}

struct sql_expr *
sql_expr_cast(struct nam_arena *a, struct sql_expr *e, enum cat_type to, int32_t typmod, int position,
    struct cat_err *err)
{
	const struct sql_fn *fn;
	if (e->type != to && e->type != CAT_UNKNOWN && !sql_cast_find(e->type, to, SQL_CAST_EXPLICIT, &fn)) {
		cat_error(
		    err, "42846", "cannot cast type %s to %s", cat_type_name(e->type), cat_type_name(to));
		return fail(err, position);
	}
	if (is_span(e, to, typmod))
		return span(a, e, typmod, err);
	e = sql_expr_coerce(a, e, to, SQL_CAST_EXPLICIT, err);
	if (e != NULL && (typmod < 0 || (typmod == CAT_VARCHAR && cat_type_element(to) == CAT_TEXT)))
		return sql_expr_name(a, e, typmod, err);
	return e ? fit(a, e, &sql_fn_fit_explicit, typmod, err) : NULL;
}

struct sql_expr *
sql_expr_assign(struct nam_arena *a, struct sql_expr *e, enum cat_type to, int32_t typmod, const char *column,
    int position, struct cat_err *err)
{
	const struct sql_fn *fn;
	bool null = e->kind == SQL_CONST && e->value.null && e->type == CAT_UNKNOWN;
	if (e->type != to && e->type != CAT_UNKNOWN && !null &&
	    !sql_cast_find(e->type, to, SQL_CAST_ASSIGN, &fn)) {
		cat_error(err, "42804", "column \"%s\" is of type %s but expression is of type %s", column,
		    cat_type_name(to), cat_type_name(e->type));
		snprintf(err->hint, sizeof err->hint, "You will need to rewrite or cast the expression.");
		return fail(err, e->position ? e->position : position);
	}
	if (is_span(e, to, typmod))
		return span(a, e, typmod, err);
	e = sql_expr_coerce(a, e, to, SQL_CAST_ASSIGN, err);
	return e ? fit(a, e, &sql_fn_fit_assign, typmod, err) : NULL;
}

struct sql_expr *
sql_expr_default_type(struct nam_arena *a, struct sql_expr *e, struct cat_err *err)
{
	return e->type == CAT_UNKNOWN ? sql_expr_coerce(a, e, CAT_TEXT, SQL_CAST_IMPLICIT, err) : e;
}

/* ---- common types ------------------------------------------------------------------ */

/* To one type, whatever its name. */
static bool
unify(struct nam_arena *a, struct sql_expr **e, unsigned n, const char *what, struct cat_err *err)
{
	/* The first type that is known, and then every wider one that the others turn into. */
	enum cat_type t = CAT_UNKNOWN;
	for (unsigned k = 0; k < n; k++) {
		enum cat_type u = e[k]->type;
		const struct sql_fn *fn;
		if (u == CAT_UNKNOWN || u == t)
			continue;
		if (t == CAT_UNKNOWN) {
			t = u;
		} else if (cat_type_category(t) != cat_type_category(u)) {
			cat_error(err, "42804", "%s types %s and %s cannot be matched", what,
			    cat_type_name(t), cat_type_name(u));
			return fail(err, e[k]->position);
		} else if (!cat_type_preferred(t) && sql_cast_find(t, u, SQL_CAST_IMPLICIT, &fn) &&
			   !sql_cast_find(u, t, SQL_CAST_IMPLICIT, &fn)) {
			t = u;
		}
	}
	if (t == CAT_UNKNOWN)
		t = CAT_TEXT;
	bool of_case = strcmp(what, "CASE") == 0; /* whose ELSE comes first */
	for (unsigned k = 0; k < n; k++) {
		enum cat_type was = e[k]->type;
		if ((e[k] = sql_expr_coerce(a, e[k], t, SQL_CAST_IMPLICIT, err)) != NULL)
			continue;
		if (strcmp(err->sqlstate, "42846") == 0)
			snprintf(err->text, sizeof err->text, "%s%s could not convert type %s to %s", what,
			    !of_case ? ""
			    : k > 0  ? "/WHEN"
				     : "/ELSE",
			    cat_type_name(was), cat_type_name(t));
		return false;
	}
	return true;
}

/* Text and varchar turn into each other: the first that is known gives the name. */
bool
sql_expr_unify(struct nam_arena *a, struct sql_expr **e, unsigned n, const char *what, struct cat_err *err)
{
	enum cat_type t = CAT_UNKNOWN;
	bool varchar = false;
	for (unsigned k = 0; k < n && t == CAT_UNKNOWN; k++) {
		t = e[k]->type;
		varchar = cat_type_is_varchar(t, e[k]->typmod);
	}
	for (unsigned k = 0; k < n && varchar; k++) /* where the binder finds it */
		if (e[k]->kind == SQL_PARAM && e[k]->type == CAT_UNKNOWN)
			e[k]->typmod = CAT_VARCHAR;
	if (!unify(a, e, n, what, err))
		return false;
	for (unsigned k = 0; k < n; k++)
		if (varchar != cat_type_is_varchar(e[k]->type, e[k]->typmod) &&
		    (e[k] = sql_expr_name(a, e[k], varchar ? CAT_VARCHAR : -1, err)) == NULL)
			return false;
	return true;
}

int32_t
sql_expr_typmod(struct sql_expr *const *e, unsigned n)
{
	for (unsigned k = 1; k < n; k++)
		if (e[k]->typmod != e[0]->typmod)
			return cat_type_loose(e[0]->type, e[0]->typmod);
	return e[0]->typmod;
}

/* ---- AND, OR, NOT, IS NULL, CASE, COALESCE, IN ------------------------------------------ */

static bool
want_bool(struct nam_arena *a, struct sql_expr **e, const char *what, struct cat_err *err)
{
	if ((*e)->type != CAT_BOOL && (*e)->type != CAT_UNKNOWN) {
		cat_error(err, "42804", "argument of %s must be type boolean, not type %s", what,
		    cat_type_name((*e)->type));
		return fail(err, (*e)->position);
	}
	*e = sql_expr_coerce(a, *e, CAT_BOOL, SQL_CAST_IMPLICIT, err);
	return *e != NULL;
}

static struct sql_expr *
two_types(const struct sql_expr *param, struct cat_err *err)
{
	cat_error(err, "42P08", "inconsistent types deduced for parameter $%u", param->index + 1);
	return fail(err, param->position);
}

/* x IN (...) whose members have no common type with x: one comparison each. */
static struct sql_expr *
in_pairs(
    struct nam_arena *a, struct sql_expr **args, unsigned n, bool negate, int position, struct cat_err *err)
{
	struct sql_expr **eq = nam_arena_take(a, n * sizeof *eq);
	if (eq == NULL)
		return no_memory(err);
	bool open = args[0]->kind == SQL_PARAM && args[0]->type == CAT_UNKNOWN;
	for (unsigned k = 1; k < n; k++) {
		/* each comparison says what an untyped parameter is */
		struct sql_expr *x = open && k > 1 ? nam_arena_copy(a, args[0], sizeof *x) : args[0];
		if (x == NULL)
			return no_memory(err);
		if (x != args[0])
			x->type = CAT_UNKNOWN;
		if ((eq[k - 1] = sql_expr_op(a, negate ? "<>" : "=", x, args[k], position, err)) == NULL)
			return NULL;
		if (x->type != args[0]->type)
			return two_types(x, err);
	}
	return n == 2 ? eq[0] : sql_expr_make(a, negate ? SQL_AND : SQL_OR, eq, n - 1, false, position, err);
}

/* x IN (y, ...), one of them char(n), another that is no constant text: = says which it is. */
static bool
chars_beside_text(struct sql_expr *const *arg, unsigned n)
{
	bool is = false;
	for (unsigned k = 1; k < n && !is; k++)
		is = arg[k]->kind != SQL_CONST &&
		     ((arg[0]->type == CAT_BPCHAR && arg[k]->type == CAT_TEXT) ||
			 (arg[0]->type == CAT_TEXT && arg[k]->type == CAT_BPCHAR));
	return is;
}

/* x IN (y, z) has their common type, which may be varchar; x IN (y) is x = y. */
static void
name_params(struct sql_expr *const *arg, unsigned n)
{
	unsigned known = 0;
	while (known < n && arg[known]->type == CAT_UNKNOWN)
		known++;
	if (n < 3 || known == n || !cat_type_is_varchar(arg[known]->type, arg[known]->typmod))
		return;
	for (unsigned k = 0; k < n; k++)
		if (arg[k]->kind == SQL_PARAM && arg[k]->type == CAT_UNKNOWN)
			arg[k]->typmod = CAT_VARCHAR;
}

/*
 * x IN (...) with untyped parameters, as PostgreSQL types them: the members without columns have a
 * common type with x, if there are several; each other one is compared with x by itself.
 */
static struct sql_expr *
in_parts(
    struct nam_arena *a, struct sql_expr **args, unsigned n, bool negate, int position, struct cat_err *err)
{
	struct sql_expr **one = nam_arena_take(a, n * sizeof *one),
			**part = nam_arena_take(a, n * sizeof *part);
	struct sql_expr x = *args[0];
	struct cat_err no = { .sqlstate = "" };
	unsigned m = 0, parts = 0;
	if (one == NULL || part == NULL)
		return no_memory(err);
	for (unsigned k = 0; k < n; k++)
		if (k == 0 || !args[k]->rows)
			one[m++] = args[k];
	bool arrays = false; /* there are no arrays of them */
	for (unsigned k = 0; k < m; k++)
		arrays |= cat_type_is_array(one[k]->type);
	name_params(one, m);
	if (m < 3 || arrays || !unify(a, one, m, "IN", &no)) {
		if (no.sqlstate[0] != 0 && strcmp(no.sqlstate, "42804") != 0 &&
		    strcmp(no.sqlstate, "42846") != 0) {
			*err = no;
			return NULL;
		}
		return in_pairs(a, args, n, negate, position, err);
	}
	if ((part[parts++] = sql_expr_make(a, SQL_IN, one, m, negate, position, err)) == NULL)
		return NULL;
	for (unsigned k = 1; k < n; k++) {
		if (!args[k]->rows)
			continue;
		struct sql_expr *pair[2] = { nam_arena_copy(a, &x, sizeof x), args[k] };
		if (pair[0] == NULL)
			return no_memory(err);
		if ((part[parts++] = in_pairs(a, pair, 2, negate, position, err)) == NULL)
			return NULL;
		if (x.type == CAT_UNKNOWN && x.kind == SQL_PARAM && pair[0]->type != args[0]->type)
			return two_types(&x, err);
	}
	return parts == 1 ? part[0]
			  : sql_expr_make(a, negate ? SQL_AND : SQL_OR, part, parts, false, position, err);
}

/* The domain that all results of a CASE or COALESCE are of. */
static uint32_t
common_domain(enum sql_expr_kind kind, struct sql_expr *const *arg, unsigned n)
{
	uint32_t domain = arg[n - 1]->domain;
	if (kind != SQL_CASE && kind != SQL_COALESCE)
		return 0;
	for (unsigned k = kind == SQL_CASE; k + 1 < n; k += kind == SQL_CASE ? 2 : 1)
		domain = arg[k]->domain == domain ? domain : 0;
	return domain;
}

struct sql_expr *
sql_expr_make(struct nam_arena *a, enum sql_expr_kind kind, struct sql_expr **in, unsigned n, bool negate,
    int position, struct cat_err *err)
{
	static const char *const words[] = { [SQL_AND] = "AND", [SQL_OR] = "OR", [SQL_NOT] = "NOT" };
	enum cat_type type = CAT_BOOL;
	int32_t typmod = -1;
	NAM_ASSERT(n > 0 && kind > SQL_CALL);
	struct sql_expr **args = nam_arena_copy(a, in, n * sizeof *in);
	if (args == NULL)
		return no_memory(err);
	switch (kind) {
	case SQL_AND:
	case SQL_OR:
	case SQL_NOT:
		NAM_ASSERT(kind != SQL_NOT || n == 1);
		for (unsigned k = 0; k < n; k++)
			if (!want_bool(a, &args[k], words[kind], err))
				return NULL;
		break;
	case SQL_IS_NULL:
		NAM_ASSERT(n == 1);
		if ((args[0] = sql_expr_default_type(a, args[0], err)) == NULL)
			return NULL;
		break;
	case SQL_COALESCE:
		if (!sql_expr_unify(a, args, n, "COALESCE", err))
			return NULL;
		type = args[0]->type;
		typmod = sql_expr_typmod(args, n);
		break;
	case SQL_CASE: {
		NAM_ASSERT(n % 2 == 1);
		unsigned half = n / 2 + 1;
		struct sql_expr **then = nam_arena_take(a, half * sizeof *then);
		if (then == NULL)
			return no_memory(err);
		/* PostgreSQL looks at ELSE first, and so do its messages */
		then[0] = args[n - 1];
		for (unsigned k = 0; k + 1 < n; k += 2) {
			if (!want_bool(a, &args[k], "CASE/WHEN", err))
				return NULL;
			then[k / 2 + 1] = args[k + 1];
		}
		if (!sql_expr_unify(a, then, half, "CASE", err))
			return NULL;
		args[n - 1] = then[0];
		for (unsigned k = 0; k + 1 < n; k += 2)
			args[k + 1] = then[k / 2 + 1];
		type = then[0]->type;
		typmod = sql_expr_typmod(then, half);
		break;
	}
	default: {
		NAM_ASSERT(kind == SQL_IN && n >= 2);
		struct cat_err no = { .sqlstate = "" };
		for (unsigned k = 0; k < n; k++)
			if (args[k]->kind == SQL_PARAM && args[k]->type == CAT_UNKNOWN)
				return in_parts(a, args, n, negate, position, err);
		bool common = !chars_beside_text(in, n) && unify(a, args, n, "IN", &no);
		if (common && cat_type_is_ordered(args[0]->type))
			break;
		if (!common && no.sqlstate[0] != 0 && strcmp(no.sqlstate, "42804") != 0 &&
		    strcmp(no.sqlstate, "42846") != 0) {
			*err = no;
			return NULL;
		}
		memcpy(args, in, n * sizeof *in);
		return in_pairs(a, args, n, negate, position, err);
	}
	}
	struct sql_expr *e = over(a, kind, type, args, n, position, err);
	if (e == NULL)
		return NULL;
	e->negate = negate;
	e->typmod = typmod;
	e->domain = common_domain(kind, args, n);
	if (kind == SQL_IN && !sql_in_prepare(a, e))
		return no_memory(err);
	return sql_expr_fold(a, e);
}
