/* array_any.c -- x op ANY (array) and x op ALL (array). */
#include <sql/expr/func/array.h>

#include <stdio.h>
#include <string.h>

enum { LINEAR = 8 }; /* longer arrays that all rows share are sorted */

/* What the call knows beforehand: its list. */
struct any {
	const char *op;
	/* The comparison of env->outer[0] with env->outer[1]; NULL = both have a type that
	 * cat_value_cmp compares. */
	const struct sql_expr *each;
	const struct sql_list *list; /* = ANY and <> ALL over a constant */
	bool all, equal;             /* equal: one of these two */
};

struct sql_list *
sql_list_of(struct nam_arena *arena, enum cat_type type, struct cat_str s)
{
	struct cat_array a;
	cat_array_open(type, s, &a);
	struct sql_list *l = nam_arena_take(arena, sizeof *l + a.n * sizeof l->v[0]);
	if (l == NULL)
		return NULL;
	l->n = 0;
	l->null = false;
	for (uint32_t k = 0; k < a.n; k++) {
		if (cat_array_at(&a, k, &l->v[l->n]))
			l->n++;
		else
			l->null = true;
	}
	sql_list_sort(l, a.elem);
	return l;
}

/* One x with one array. */
static bool
compare_all(const struct any *y, const struct sql_env *env, enum cat_type type, union cat_val x, bool x_null,
    const struct cat_array *a, bool *out, bool *out_null)
{
	struct cat_datum pair[2] = { { .type = type, .v = x }, { .type = a->elem } }, d;
	struct sql_env own = *env;
	own.outer = pair;
	*out = y->all;
	*out_null = x_null && a->n > 0;
	for (uint32_t k = 0; k < a->n && !x_null; k++) {
		if (!cat_array_at(a, k, &pair[1].v)) {
			*out_null = true;
			continue;
		}
		if (y->each != NULL) {
			if (!sql_eval_one(y->each, &own, &d))
				return false;
		} else {
			d.null = false;
			d.v.i = sql_compared(cat_value_cmp(type, x, pair[1].v), y->op);
		}
		*out_null |= d.null;
		if (!d.null && (d.v.i != 0) != y->all) {
			*out = !y->all;
			*out_null = false;
			return true;
		}
	}
	return true;
}

static bool
k_any(struct sql_frame *f)
{
	const struct any *y = f->e->list;
	const struct sql_arg *ax = &f->arg[0], *aa = &f->arg[1];
	enum cat_type type = f->e->args[0]->type, array = f->e->args[1]->type;
	const struct sql_list *l = aa->mask == 0 && !aa->null[0] ? y->list : NULL;
	struct cat_array a;
	uint8_t *null = f->out->null;
	int64_t *o = f->out->i;
	if (aa->mask == 0) {
		cat_array_open(array, aa->s[0], &a);
		if (l == NULL && y->equal && a.n > LINEAR && f->n > 1 && !aa->null[0] &&
		    (l = sql_list_of(f->env->arena, array, aa->s[0])) == NULL)
			return sql_oom(f->env->err);
	}
	SQL_EACH(
	    f, unsigned at = k & aa->mask; unsigned ix = k & ax->mask; union cat_val x;
	    if (ax->str) x.s = ax->s[ix]; else x.i = ax->i[ix]; null[k] = 1; o[k] = 0;
	    if (aa->null[at]) continue; bool hit; bool unsure; if (l != NULL && !ax->null[ix]) {
		    hit = sql_list_has(l, type, x);
		    unsure = !hit && l->null;
		    hit ^= y->all;
	    } else {
		    if (aa->mask != 0)
			    cat_array_open(array, aa->s[at], &a);
		    if (!compare_all(y, f->env, type, x, ax->null[ix], &a, &hit, &unsure))
			    return false;
	    } null[k] = unsure;
	    o[k] = hit);
	return true;
}

static const struct sql_fn fn_any = {
	.name = "any", .flags = SQL_FN_NULLS, .nargs = 2, .ret = CAT_BOOL, .vec = k_any
};

bool
sql_expr_is_any(const struct sql_expr *e)
{
	const struct any *y = e->kind == SQL_CALL && e->fn == &fn_any ? e->list : NULL;
	return y != NULL && y->equal && !y->all;
}

const char *
sql_expr_any_op(const struct sql_expr *e, bool *all)
{
	const struct any *y = e->kind == SQL_CALL && e->fn == &fn_any ? e->list : NULL;
	*all = y != NULL && y->all;
	return y == NULL ? NULL : y->op;
}

static bool
wrong(struct cat_err *err, int position, const char *what)
{
	cat_error(err, "42809", "op ANY/ALL (array) requires %s", what);
	err->position = position;
	return false;
}

/* The operator over an x and an element, and what types it wants them to be. */
static struct sql_expr *
each_of(struct nam_arena *a, const char *op, enum cat_type *x, enum cat_type *elem, const int32_t typmod[2],
    int position, struct cat_err *err)
{
	struct sql_expr *l = sql_expr_outer(a, 0, *x, typmod[0], 0),
			*r = sql_expr_outer(a, 1, *elem, typmod[1], 0);
	if (l == NULL || r == NULL) {
		sql_oom(err);
		return NULL;
	}
	struct sql_expr *e = sql_expr_op(a, op, l, r, position, err);
	if (e == NULL)
		return NULL;
	if (e->type != CAT_BOOL) {
		wrong(err, position, "operator to yield boolean");
		return NULL;
	}
	if (e->kind == SQL_CALL && e->nargs == 2) {
		*x = e->args[0]->type;
		*elem = e->args[1]->type;
	}
	return e;
}

struct sql_expr *
sql_expr_any(struct nam_arena *a, const char *op, struct sql_expr *x, struct sql_expr *array, bool all,
    int position, struct cat_err *err)
{
	static const char *const plain[] = { "=", "<>", "<", "<=", ">", ">=" };
	if ((array = sql_vector_open(a, array, err)) == NULL)
		return NULL;
	if (strcmp(op, "!=") == 0)
		op = "<>";
	bool compares = false;
	for (unsigned k = 0; k < sizeof plain / sizeof *plain; k++)
		compares |= strcmp(op, plain[k]) == 0;
	if (array->type != CAT_UNKNOWN && !cat_type_is_array(array->type))
		return wrong(err, position, "array on right side") ? x : NULL;
	enum cat_type of[2] = { x->type, cat_type_element(array->type) }, to[2], type;
	if (!sql_settle_types(op, of, to, position, err))
		return NULL;
	if (x->type == CAT_UNKNOWN && (x = sql_expr_coerce(a, x, to[0], SQL_CAST_IMPLICIT, err)) == NULL)
		return NULL;
	if (array->type == CAT_UNKNOWN &&
	    (!sql_array_of(to[1], &type, err) ||
		(array = sql_expr_coerce(a, array, type, SQL_CAST_IMPLICIT, err)) == NULL))
		return NULL;
	enum cat_type l = x->type, r = cat_type_element(array->type);
	const int32_t typmod[2] = { x->typmod, array->typmod };
	struct sql_expr *each = each_of(a, op, &l, &r, typmod, position, err);
	if (each == NULL || (x = sql_expr_coerce(a, x, l, SQL_CAST_IMPLICIT, err)) == NULL ||
	    (array = sql_expr_coerce(a, array, cat_type_array_of(r), SQL_CAST_IMPLICIT, err)) == NULL ||
	    (each = each_of(a, op, &l, &r, typmod, position, err)) == NULL)
		return NULL;
	struct any *y = nam_arena_zero(a, sizeof *y);
	struct sql_expr *args[2] = { x, array };
	if (y == NULL || (y->op = nam_arena_str(a, op, strlen(op))) == NULL) {
		sql_oom(err);
		return NULL;
	}
	bool same = l == r || (cat_type_is_int(l) && cat_type_is_int(r)) ||
		    (cat_type_is_float(l) && cat_type_is_float(r));
	if (!compares || !same || cat_type_is_array(l) || !cat_type_is_ordered(l))
		y->each = each;
	y->all = all;
	y->equal = y->each == NULL && strcmp(op, all ? "<>" : "=") == 0;
	if (y->equal && array->kind == SQL_CONST && !array->value.null &&
	    (y->list = sql_list_of(a, array->type, array->value.v.s)) == NULL) {
		sql_oom(err);
		return NULL;
	}
	struct sql_expr *e = sql_expr_call(a, &fn_any, args, 2, position, err);
	if (e == NULL)
		return NULL;
	e->list = y;
	return sql_expr_fold(a, e);
}
