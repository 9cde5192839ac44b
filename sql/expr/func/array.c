/* array.c -- ARRAY[...], subscripts, casts and operators of arrays, and which types their functions
 * take. */
#include <sql/expr/func/array.h>

#include <stdio.h>
#include <string.h>

bool
sql_array_load(
    const struct sql_env *env, enum cat_type type, struct cat_str s, uint32_t more, struct sql_elements *out)
{
	cat_array_open(type, s, &out->a);
	size_t n = (size_t)out->a.n + more;
	out->v = nam_arena_take(env->arena, n * sizeof *out->v);
	out->null = nam_arena_take(env->arena, n);
	if (out->v == NULL || out->null == NULL)
		return sql_oom(env->err);
	cat_array_all(&out->a, out->v, out->null);
	return true;
}

bool
sql_array_store(const struct sql_row *r, int32_t lower, const union cat_val *v, const bool *null, uint32_t n,
    struct cat_str *out)
{
	return cat_array_make(
	    cat_type_element(r->e->type), lower, v, null, n, out, r->env->arena, r->env->err);
}

static struct sql_expr *
fail(struct cat_err *err, int position)
{
	err->position = position;
	return NULL;
}

static struct sql_expr *
typed_call(struct nam_arena *a, const struct sql_fn *fn, struct sql_expr **args, unsigned n,
    enum cat_type type, int position, struct cat_err *err)
{
	struct sql_expr *e = sql_expr_call(a, fn, args, n, position, err);
	if (e != NULL)
		e->type = type;
	return e;
}

bool
sql_array_of(enum cat_type element, enum cat_type *out, struct cat_err *err)
{
	if (cat_type_is_array(element))
		return cat_error(err, "0A000", "arrays of more than one dimension are not supported yet");
	*out = cat_type_array_of(element);
	return true;
}

/* ---- ARRAY[...] ----------------------------------------------------------------------- */

static bool
k_make(struct sql_row *r)
{
	return sql_array_store(r, 1, r->a, r->null, r->n, &r->out.s);
}

static const struct sql_fn fn_make = { .name = "array", .flags = SQL_FN_NULLS, .row = k_make };

struct sql_expr *
sql_expr_array(struct nam_arena *a, struct sql_expr **in, unsigned n, int position, struct cat_err *err)
{
	enum cat_type type;
	struct sql_expr **args = nam_arena_copy(a, in, n * sizeof *in);
	if (args == NULL) {
		sql_oom(err);
		return NULL;
	}
	if (n == 0) {
		cat_error(err, "42P18", "cannot determine type of empty array");
		snprintf(err->hint, sizeof err->hint,
		    "Explicitly cast to the desired type, for example ARRAY[]::integer[].");
		return fail(err, position);
	}
	if (!sql_expr_unify(a, args, n, "ARRAY", err))
		return NULL;
	if (!sql_array_of(args[0]->type, &type, err))
		return fail(err, position);
	struct sql_expr *e = typed_call(a, &fn_make, args, n, type, position, err);
	if (e != NULL)
		e->typmod = sql_expr_typmod(args, n);
	return sql_expr_fold(a, e);
}

/* ---- subscripts --------------------------------------------------------------------------- */

static bool
k_index(struct sql_row *r)
{
	struct cat_array a;
	cat_array_open(r->e->args[0]->type, r->a[0].s, &a);
	int64_t k = r->a[1].i - a.lower;
	r->out_null = k < 0 || k >= a.n || !cat_array_at(&a, (uint32_t)k, &r->out);
	if (!r->out_null && cat_type_is_str(a.elem) && r->out.s.len == 0)
		r->out.s.p = "";
	return true;
}

/* index: bit 0, a lower bound is there; bit 1, an upper one. */
static bool
k_slice(struct sql_row *r)
{
	struct sql_elements x;
	if (!sql_array_load(r->env, r->e->args[0]->type, r->a[0].s, 0, &x))
		return false;
	int64_t first = x.a.lower, last = first + x.a.n - 1, lo = first, hi = last;
	if (r->e->index & 1)
		lo = r->a[1].i > first ? r->a[1].i : first;
	if (r->e->index & 2) {
		int64_t to = r->a[r->n - 1].i;
		hi = to < last ? to : last;
	}
	uint32_t n = lo <= hi ? (uint32_t)(hi - lo + 1) : 0, from = n ? (uint32_t)(lo - first) : 0;
	return sql_array_store(r, 1, x.v + from, x.null + from, n, &r->out.s);
}

static const struct sql_fn fn_index = { .name = "subscript", .nargs = 2, .row = k_index };
static const struct sql_fn fn_slice = { .name = "slice", .row = k_slice };

struct sql_expr *
sql_vector_open(struct nam_arena *a, struct sql_expr *e, struct cat_err *err)
{
	if (e->type != cat_type_array_of(CAT_INT2V) && e->type != cat_type_array_of(CAT_OIDV))
		return e;
	e = sql_expr_as(a, e, cat_type_array_of(CAT_INT8), -1);
	if (e == NULL)
		sql_oom(err);
	return e;
}

struct sql_expr *
sql_expr_subscript(struct nam_arena *a, struct sql_expr *array, struct sql_expr *lower,
    struct sql_expr *upper, bool slice, int position, struct cat_err *err)
{
	if ((array = sql_vector_open(a, array, err)) == NULL)
		return NULL;
	struct sql_expr *args[3] = { array };
	unsigned n = 1;
	if (!cat_type_is_array(array->type)) {
		cat_error(err, "42804", "cannot subscript type %s because it does not support subscripting",
		    cat_type_name(array->type));
		return fail(err, array->position ? array->position : position);
	}
	for (int side = 0; side < 2; side++) {
		struct sql_expr *x = side ? upper : lower;
		const struct sql_fn *fn;
		if (x == NULL)
			continue;
		if (x->type != CAT_UNKNOWN && x->type != CAT_INT4 &&
		    !sql_cast_find(x->type, CAT_INT4, SQL_CAST_ASSIGN, &fn)) {
			cat_error(err, "42804", "array subscript must have type integer");
			return fail(err, x->position);
		}
		if ((args[n++] = sql_expr_coerce(a, x, CAT_INT4, SQL_CAST_ASSIGN, err)) == NULL)
			return NULL;
	}
	struct sql_expr *e = typed_call(a, slice ? &fn_slice : &fn_index, args, n,
	    slice ? array->type : cat_type_element(array->type), position, err);
	if (e != NULL) {
		e->index = (lower ? 1u : 0) | (upper ? 2u : 0);
		e->typmod = array->typmod;
	}
	return sql_expr_fold(a, e);
}

/* ---- casts ---------------------------------------------------------------------------------- */

/* list: what becomes of an element, which is env->outer[0]. */
static bool
k_cast(struct sql_row *r)
{
	struct sql_elements x;
	struct cat_datum d = { 0 }, to;
	struct sql_env env = *r->env;
	env.outer = &d;
	if (!sql_array_load(r->env, r->e->args[0]->type, r->a[0].s, 0, &x))
		return false;
	for (uint32_t k = 0; k < x.a.n; k++) {
		if (x.null[k])
			continue;
		d = (struct cat_datum){ .type = x.a.elem, .v = x.v[k] };
		if (!sql_eval_one(r->e->list, &env, &to))
			return false;
		x.v[k] = to.v;
		x.null[k] = to.null;
	}
	return sql_array_store(r, x.a.lower, x.v, x.null, x.a.n, &r->out.s);
}

const struct sql_fn sql_fn_array_cast = { .name = "cast", .nargs = 1, .row = k_cast };

struct sql_expr *
sql_array_cast(
    struct nam_arena *a, struct sql_expr *e, enum cat_type to, enum sql_cast_level level, struct cat_err *err)
{
	struct sql_expr *one = sql_expr_outer(a, 0, cat_type_element(e->type), -1, e->position);
	if (one == NULL) {
		sql_oom(err);
		return NULL;
	}
	if ((one = sql_expr_coerce(a, one, cat_type_element(to), level, err)) == NULL)
		return NULL;
	struct sql_expr *c = typed_call(a, &sql_fn_array_cast, &e, 1, to, e->position, err);
	if (c == NULL)
		return NULL;
	c->list = one;
	return sql_expr_fold(a, c);
}

/* ---- = <> < <= > >= @> <@ &&
 * ------------------------------------------------------------------ */

static bool
k_compare(struct sql_row *r)
{
	const char *op = r->e->fn->name;
	enum cat_type type = r->e->args[0]->type;
	if (!cat_type_is_ordered(type))
		return cat_error(r->env->err, "42883", "could not identify %s for type %s",
		    op[0] == '=' || op[1] == '>' ? "an equality operator" : "a comparison function",
		    cat_type_name(cat_type_element(type)));
	r->out.i = sql_compared(cat_array_cmp(type, r->a[0].s, r->a[1].s), op);
	return true;
}

/* True if all (or any) elements of one array are among those of another. A NULL equals none. */
static bool
k_among(struct sql_row *r)
{
	const char *op = r->e->fn->name;
	bool any = op[0] == '&', swap = op[0] == '@';
	struct sql_elements x;
	enum cat_type type = r->e->args[0]->type;
	if (!cat_type_is_ordered(type))
		return cat_error(r->env->err, "42883", "could not identify an equality operator for type %s",
		    cat_type_name(cat_type_element(type)));
	if (!sql_array_load(r->env, type, r->a[swap].s, 0, &x))
		return false;
	struct sql_list *l = sql_list_of(r->env->arena, type, r->a[!swap].s);
	if (l == NULL)
		return sql_oom(r->env->err);
	r->out.i = !any;
	for (uint32_t k = 0; k < x.a.n && r->out.i == !any; k++)
		if (!(any && x.null[k]))
			r->out.i = !x.null[k] && sql_list_has(l, x.a.elem, x.v[k]);
	return true;
}

/* ---- ||
 * ------------------------------------------------------------------------------------------ */

static bool
k_cat(struct sql_row *r)
{
	struct sql_elements x, y;
	r->out_null = r->null[0] && r->null[1];
	if (r->null[0] || r->null[1]) {
		r->out = r->null[0] ? r->a[1] : r->a[0];
		return true;
	}
	cat_array_open(r->e->type, r->a[1].s, &y.a);
	if (!sql_array_load(r->env, r->e->type, r->a[0].s, y.a.n, &x))
		return false;
	if (x.a.n == 0 || y.a.n == 0) {
		r->out = x.a.n ? r->a[0] : r->a[1];
		return true;
	}
	cat_array_all(&y.a, x.v + x.a.n, x.null + x.a.n);
	return sql_array_store(r, x.a.lower, x.v, x.null, x.a.n + y.a.n, &r->out.s);
}

static bool
k_append(struct sql_row *r)
{
	struct sql_elements x;
	if (!sql_array_load(r->env, r->e->type, r->null[0] ? (struct cat_str){ "", 0 } : r->a[0].s, 1, &x))
		return false;
	if ((int64_t)x.a.lower + x.a.n > INT32_MAX)
		return cat_error(r->env->err, "22003", "integer out of range");
	x.v[x.a.n] = r->a[1];
	x.null[x.a.n] = r->null[1];
	return sql_array_store(r, x.a.lower, x.v, x.null, x.a.n + 1, &r->out.s);
}

static bool
k_prepend(struct sql_row *r)
{
	struct sql_elements x;
	if (!sql_array_load(r->env, r->e->type, r->null[1] ? (struct cat_str){ "", 0 } : r->a[1].s, 1, &x))
		return false;
	memmove(x.v + 1, x.v, x.a.n * sizeof *x.v);
	memmove(x.null + 1, x.null, x.a.n);
	x.v[0] = r->a[0];
	x.null[0] = r->null[0];
	return sql_array_store(r, x.a.lower, x.v, x.null, x.a.n + 1, &r->out.s);
}

#define OP(op, f)                                                                                            \
	{                                                                                                    \
		.name = op, .nargs = 2, .ret = CAT_BOOL, .row = f                                            \
	}
static const struct sql_fn ops[] = { OP("=", k_compare), OP("<>", k_compare), OP("<", k_compare),
	OP("<=", k_compare), OP(">", k_compare), OP(">=", k_compare), OP("@>", k_among), OP("<@", k_among),
	OP("&&", k_among) };
static const struct sql_fn fn_cat = { .name = "array_cat", .flags = SQL_FN_NULLS, .nargs = 2, .row = k_cat };
static const struct sql_fn fn_append = {
	.name = "array_append", .flags = SQL_FN_NULLS, .nargs = 2, .row = k_append
};
static const struct sql_fn fn_prepend = {
	.name = "array_prepend", .flags = SQL_FN_NULLS, .nargs = 2, .row = k_prepend
};

/* ---- types of arguments
 * ---------------------------------------------------------------------------- */

/* What a function takes and answers: A an array, E an element of its type, i an integer, t text, b
 * a boolean, I integers, f a double, F doubles, j json. */
struct shape {
	const char *name, *args;
	char ret;
	const struct sql_fn *fn;
};

#define FN(n, f, fl) (&(const struct sql_fn){ .name = n, .flags = fl, .row = f })
static const struct shape shapes[] = {
	{ "array_append", "AE", 'A', &fn_append },
	{ "array_prepend", "EA", 'A', &fn_prepend },
	{ "array_cat", "AA", 'A', &fn_cat },
	{ "array_length", "Ai", 'i', FN("array_length", sql_array_k_bound, 0) },
	{ "array_lower", "Ai", 'i', FN("array_lower", sql_array_k_bound, 0) },
	{ "array_upper", "Ai", 'i', FN("array_upper", sql_array_k_bound, 0) },
	{ "array_ndims", "A", 'i', FN("array_ndims", sql_array_k_bound, 0) },
	{ "cardinality", "A", 'i', FN("cardinality", sql_array_k_bound, 0) },
	{ "array_dims", "A", 't', FN("array_dims", sql_array_k_dims, 0) },
	{ "array_remove", "AE", 'A', FN("array_remove", sql_array_k_remove, SQL_FN_NULLS) },
	{ "array_replace", "AEE", 'A', FN("array_replace", sql_array_k_replace, SQL_FN_NULLS) },
	{ "array_position", "AE", 'i', FN("array_position", sql_array_k_position, SQL_FN_NULLS) },
	{ "array_position", "AEi", 'i', FN("array_position", sql_array_k_position, SQL_FN_NULLS) },
	{ "array_positions", "AE", 'I', FN("array_positions", sql_array_k_positions, SQL_FN_NULLS) },
	{ "array_to_string", "At", 't', FN("array_to_string", sql_array_k_to_string, SQL_FN_NULLS) },
	{ "array_to_string", "Att", 't', FN("array_to_string", sql_array_k_to_string, SQL_FN_NULLS) },
	{ "trim_array", "Ai", 'A', FN("trim_array", sql_array_k_trim, 0) },
	{ "generate_subscripts", "Ai", 'I', FN("generate_subscripts", sql_array_k_subscripts, 0) },
	{ "generate_subscripts", "Aib", 'I', FN("generate_subscripts", sql_array_k_subscripts, 0) },
	{ "percentile_cont", "fA", 'E', FN("percentile_cont", sql_array_k_percentile, 0) },
	{ "percentile_cont", "FA", 'A', FN("percentile_cont", sql_array_k_percentiles, 0) },
	{ "percentile_disc", "fA", 'E', FN("percentile_disc", sql_array_k_percentile, 0) },
	{ "percentile_disc", "FA", 'A', FN("percentile_disc", sql_array_k_percentiles, 0) },
	{ "mode", "A", 'E', FN("mode", sql_array_k_mode, 0) },
	{ "array_to_json", "A", 'j', FN("array_to_json", sql_array_k_to_json, 0) },
	{ "array_to_json", "Ab", 'j', FN("array_to_json", sql_array_k_to_json, 0) },
	{ "width_bucket", "EA", 'i', FN("width_bucket", sql_array_k_bucket, 0) },
	{ "array_fill", "EI", 'A', FN("array_fill", sql_array_k_fill, SQL_FN_NULLS) },
	{ "array_fill", "EII", 'A', FN("array_fill", sql_array_k_fill, SQL_FN_NULLS) },
};

static enum cat_type
fixed_type(char c)
{
	switch (c) {
	case 'i':
		return CAT_INT4;
	case 't':
		return CAT_TEXT;
	case 'b':
		return CAT_BOOL;
	case 'f':
		return CAT_FLOAT8;
	case 'j':
		return CAT_JSON;
	default:
		return cat_type_array_of(c == 'F' ? CAT_FLOAT8 : CAT_INT4);
	}
}

bool
sql_array_function(const char *name)
{
	for (unsigned k = 0; k < sizeof shapes / sizeof *shapes; k++)
		if (strcmp(shapes[k].name, name) == 0)
			return true;
	return false;
}

static const struct shape *
shape_of(const char *name, const struct sql_expr *const *args, unsigned n)
{
	for (unsigned k = 0; k < sizeof shapes / sizeof *shapes; k++)
		if (strlen(shapes[k].args) == n && strcmp(shapes[k].name, name) == 0 &&
		    (shapes[k].args[0] != 'f' || !cat_type_is_array(args[0]->type)))
			return &shapes[k];
	return NULL;
}

/* percentile_cont computes with doubles or intervals. False: it cannot with such elements. */
static bool
continuous(enum cat_type *elem)
{
	const struct sql_fn *fn;
	if (*elem == CAT_INTERVAL || *elem == CAT_FLOAT8)
		return true;
	if (!sql_cast_find(*elem, CAT_FLOAT8, SQL_CAST_IMPLICIT, &fn))
		return false;
	*elem = CAT_FLOAT8;
	return true;
}

/* Elements' common type of those arguments that say one. UNKNOWN = none does. False if they have no
 * common type. */
static bool
common(struct nam_arena *a, const char *shape, struct sql_expr *const *args, unsigned n, enum cat_type *out,
    int32_t *typmod, struct cat_err *err)
{
	struct sql_expr *e[SQL_FN_ARGS];
	unsigned m = 0;
	*out = CAT_UNKNOWN;
	*typmod = -1;
	for (unsigned k = 0; k < n; k++) {
		enum cat_type t = args[k]->type;
		if ((shape[k] != 'A' && shape[k] != 'E') || t == CAT_UNKNOWN)
			continue;
		if (cat_type_is_array(t) != (shape[k] == 'A'))
			return false;
		t = shape[k] == 'A' ? cat_type_element(t) : t;
		if ((e[m++] = sql_expr_outer(a, 0, t, cat_type_loose(t, args[k]->typmod), 0)) == NULL)
			return sql_oom(err);
	}
	if (m == 0)
		return true;
	struct cat_err ignored;
	if (!sql_expr_unify(a, e, m, "", &ignored))
		return false;
	*out = e[0]->type;
	*typmod = e[0]->typmod;
	return true;
}

/* Brings arguments to what the shape says, of elements of that type. */
static bool
bring(struct nam_arena *a, const char *shape, struct sql_expr **args, unsigned n, enum cat_type elem,
    struct cat_err *err)
{
	for (unsigned k = 0; k < n; k++) {
		enum cat_type to = shape[k] == 'A'   ? cat_type_array_of(elem)
				   : shape[k] == 'E' ? elem
						     : fixed_type(shape[k]);
		if ((args[k] = sql_expr_coerce(a, args[k], to, SQL_CAST_IMPLICIT, err)) == NULL)
			return false;
	}
	return true;
}

enum cat_type
sql_array_param(const char *name, const struct sql_expr *const *args, unsigned n, unsigned k)
{
	const struct shape *s = shape_of(name, args, n);
	if (s == NULL)
		return CAT_UNKNOWN;
	char c = s->args[k];
	if (c != 'A' && c != 'E')
		return fixed_type(c);
	for (unsigned j = 0; j < n; j++) {
		enum cat_type t = args[j]->type;
		if (t == CAT_UNKNOWN || (s->args[j] != 'A' && s->args[j] != 'E') ||
		    cat_type_is_array(t) != (s->args[j] == 'A'))
			continue;
		t = cat_type_element(t);
		return c == 'A' ? cat_type_array_of(t) : t;
	}
	return CAT_UNKNOWN;
}

struct sql_expr *
sql_array_call(struct nam_arena *a, const char *name, struct sql_expr **args, unsigned n, int position,
    bool *none, struct cat_err *err)
{
	const struct shape *s = shape_of(name, (const struct sql_expr *const *)args, n);
	enum cat_type elem;
	int32_t typmod;
	*none = true;
	if (s != NULL && s->ret == 'A' && strchr(s->args, 'A') == NULL && cat_type_is_array(args[0]->type)) {
		*none = false; /* elements alone say what the array would be */
		cat_error(
		    err, "42704", "could not find array type for data type %s", cat_type_name(args[0]->type));
		return fail(err, position);
	}
	for (unsigned k = 0; k < n; k++)
		if ((args[k] = sql_vector_open(a, args[k], err)) == NULL)
			return NULL;
	if (s == NULL || !common(a, s->args, args, n, &elem, &typmod, err))
		return NULL;
	for (unsigned k = 0; k < n; k++) {
		const struct sql_fn *fn;
		enum cat_type t = args[k]->type, to = fixed_type(s->args[k]);
		if (s->args[k] != 'A' && s->args[k] != 'E' && t != to && t != CAT_UNKNOWN &&
		    !sql_cast_find(t, to, SQL_CAST_IMPLICIT, &fn))
			return NULL;
	}
	if (strcmp(name, "percentile_cont") == 0 && !continuous(&elem))
		return NULL;
	*none = false;
	if (elem == CAT_UNKNOWN) {
		cat_error(
		    err, "42804", "could not determine polymorphic type because input has type unknown");
		return fail(err, position);
	}
	enum cat_type type = cat_type_array_of(elem);
	if (s->ret == 'E')
		type = elem;
	else if (s->ret != 'A')
		type = fixed_type(s->ret);
	else if (cat_type_is_array(elem)) {
		cat_error(err, "42704", "could not find array type for data type %s", cat_type_name(elem));
		return fail(err, position);
	}
	if (!bring(a, s->args, args, n, elem, err))
		return NULL;
	struct sql_expr *e = typed_call(a, s->fn, args, n, type, position, err);
	if (e != NULL && (s->ret == 'A' || s->ret == 'E'))
		e->typmod = typmod;
	return sql_expr_fold(a, e);
}

struct sql_expr *
sql_array_op(struct nam_arena *a, const char *op, struct sql_expr **args, int position, bool *none,
    struct cat_err *err)
{
	*none = false;
	for (unsigned k = 0; k < 2; k++)
		if ((args[k] = sql_vector_open(a, args[k], err)) == NULL)
			return NULL;
	enum cat_type l = args[0]->type, r = args[1]->type;
	if (strcmp(op, "||") == 0) {
		/* an untyped literal beside an array is one */
		bool al = cat_type_is_array(l) || l == CAT_UNKNOWN,
		     ar = cat_type_is_array(r) || r == CAT_UNKNOWN;
		return sql_array_call(a,
		    al && ar ? "array_cat"
		    : al     ? "array_append"
			     : "array_prepend",
		    args, 2, position, none, err);
	}
	const struct sql_fn *f = NULL;
	for (unsigned k = 0; k < sizeof ops / sizeof *ops; k++)
		if (strcmp(ops[k].name, op) == 0)
			f = &ops[k];
	*none = f == NULL || (l != r && l != CAT_UNKNOWN && r != CAT_UNKNOWN);
	if (*none)
		return NULL;
	if (!bring(a, "AA", args, 2, cat_type_element(l == CAT_UNKNOWN ? r : l), err))
		return NULL;
	return sql_expr_fold(a, sql_expr_call(a, f, args, 2, position, err));
}
