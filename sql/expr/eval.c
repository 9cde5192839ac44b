/*
 * eval.c -- evaluation: a tree over a batch of rows, node by node, each node a loop.
 *
 * What does not depend on the row (constants, parameters, and calls over them) is
 * evaluated once per batch and handed on as one value, never as a vector.
 * Without rows at all (eval_one) nothing is allocated but what values point to.
 */
#include <base/aside.h>
#include <base/assert.h>
#include <sql/expr/functions.h>

#include <stdlib.h>
#include <string.h>

enum {
	IN_LINEAR = 8, /* longer constant lists are sorted */
	ASIDE_BYTES = 1 << 10,
};

/* ---- one value ------------------------------------------------------------------- */

static bool one(const struct sql_expr *e, const struct sql_env *env, struct cat_datum *out);

static struct sql_arg
arg_of(const struct cat_datum *d, const uint8_t *null, unsigned mask)
{
	struct sql_arg a = { .null = null, .mask = mask, .str = cat_type_is_str(d->type) };
	if (a.str)
		a.s = &d->v.s;
	else
		a.i = &d->v.i;
	return a;
}

static const struct sql_expr *
as_called(const struct sql_expr *e)
{
	return e->call != NULL ? e->call : e;
}

/* Steps of a kernel over texts of so many bytes; numerics take more for each. */
static uint64_t
steps_of(const struct sql_expr *e, uint64_t bytes)
{
	bool numeric = e->type == CAT_NUMERIC || (e->nargs > 0 && e->args[0]->type == CAT_NUMERIC);
	return numeric ? bytes * bytes / 8 : bytes * 8;
}

/* Goes aside if the kernel of e takes long over arguments of so many bytes. nam_aside_end
 * follows. */
static bool
go_aside(const struct sql_expr *e, uint64_t bytes)
{
	return bytes >= ASIDE_BYTES && nam_aside_for(steps_of(e, bytes));
}

static bool
one_call(const struct sql_expr *e, const struct sql_env *env, struct cat_datum *out)
{
	struct cat_datum few[SQL_ARGS_INLINE], *d = few;
	union cat_val fewv[SQL_ARGS_INLINE], *v = fewv;
	bool fewn[SQL_ARGS_INLINE], *null = fewn, any = false;
	unsigned n = e->nargs;
	uint64_t bytes = 0;
	if (n > SQL_ARGS_INLINE) {
		d = nam_arena_take(env->arena, n * sizeof *d);
		v = nam_arena_take(env->arena, n * sizeof *v);
		null = nam_arena_take(env->arena, n * sizeof *null);
		if (d == NULL || v == NULL || null == NULL)
			return sql_oom(env->err);
	}
	for (unsigned k = 0; k < n; k++) {
		if (!one(e->args[k], env, &d[k]))
			return false;
		any |= d[k].null;
		bytes += !d[k].null && cat_type_is_str(d[k].type) ? d[k].v.s.len : 0;
	}
	out->type = e->type;
	out->null = false;
	if (any && !(e->fn->flags & SQL_FN_NULLS)) {
		out->null = true;
		out->v.s = (struct cat_str){ "", 0 };
		return true;
	}
	if (e->fn->vec) {
		uint8_t out_null = 0, nulls[SQL_FN_ARGS];
		struct sql_arg arg[SQL_FN_ARGS];
		NAM_ASSERT(n <= SQL_FN_ARGS);
		for (unsigned k = 0; k < n; k++) {
			nulls[k] = d[k].null;
			arg[k] = arg_of(&d[k], &nulls[k], ~0u);
		}
		struct cat_vec o = { .type = e->type, .null = &out_null };
		if (cat_type_is_str(e->type))
			o.s = &out->v.s;
		else
			o.i = &out->v.i;
		struct sql_frame f = {
			.e = as_called(e), .env = env, .arg = arg, .nargs = n, .n = 1, .out = &o
		};
		bool went = go_aside(e, bytes), ok = e->fn->vec(&f);
		nam_aside_end(went);
		if (!ok)
			return false;
		out->null = out_null;
		return true;
	}
	for (unsigned k = 0; k < n; k++) {
		v[k] = d[k].v;
		null[k] = d[k].null;
	}
	struct sql_row r = { .e = as_called(e), .env = env, .a = v, .null = null, .n = n };
	bool went = go_aside(e, bytes), ok = e->fn->row(&r);
	nam_aside_end(went);
	if (!ok)
		return false;
	out->null = r.out_null;
	out->v = r.out;
	if (!r.out_null && cat_type_is_str(e->type) && r.out.s.len >= SQL_WORK_PIECE &&
	    !sql_work(env, r.out.s.len))
		return false;
	if (r.out_null)
		out->v.s = (struct cat_str){ "", 0 };
	return true;
}

static bool
one_logic(const struct sql_expr *e, const struct sql_env *env, struct cat_datum *out)
{
	/* AND stops at false, OR at true */
	int64_t stop = e->kind == SQL_OR;
	bool null = false;
	struct cat_datum d;
	for (unsigned k = 0; k < e->nargs; k++) {
		if (!one(e->args[k], env, &d))
			return false;
		null |= d.null;
		if (!d.null && d.v.i == stop) {
			*out = (struct cat_datum){ .type = CAT_BOOL, .v.i = stop };
			return true;
		}
	}
	*out = (struct cat_datum){ .type = CAT_BOOL, .null = null, .v.i = !stop };
	return true;
}

bool
sql_list_has(const struct sql_list *l, enum cat_type type, union cat_val x)
{
	unsigned lo = 0, hi = l->n;
	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;
		int c = cat_value_cmp(type, l->v[mid], x);
		if (c == 0)
			return true;
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

static bool
one_in(const struct sql_expr *e, const struct sql_env *env, struct cat_datum *out)
{
	struct cat_datum x, y;
	if (!one(e->args[0], env, &x))
		return false;
	bool hit = false, null = x.null;
	if (e->list != NULL && !x.null) {
		hit = sql_list_has(e->list, x.type, x.v);
		null = ((const struct sql_list *)e->list)->null;
	} else {
		for (unsigned k = 1; k < e->nargs && !hit && !x.null; k++) {
			if (!one(e->args[k], env, &y))
				return false;
			null |= y.null;
			hit = !y.null && cat_value_cmp(x.type, x.v, y.v) == 0;
		}
	}
	*out = (struct cat_datum){ .type = CAT_BOOL, .null = !hit && null, .v.i = hit != e->negate };
	return true;
}

static bool
one_sub(const struct sql_expr *e, const struct sql_env *env, struct cat_datum *out)
{
	struct cat_datum few[SQL_ARGS_INLINE], *d = few;
	if (e->nargs > SQL_ARGS_INLINE && (d = nam_arena_take(env->arena, e->nargs * sizeof *d)) == NULL)
		return sql_oom(env->err);
	for (unsigned k = 0; k < e->nargs; k++)
		if (!one(e->args[k], env, &d[k]))
			return false;
	if (env->sub == NULL)
		return cat_error(env->err, "0A000", "cannot use subquery in this place");
	nam_aside_home();
	return env->sub(env->sub_arg, e, d, out);
}

static bool
one(const struct sql_expr *e, const struct sql_env *env, struct cat_datum *out)
{
	switch (e->kind) {
	case SQL_CONST:
		*out = e->value;
		return true;
	case SQL_PARAM:
		if (e->index >= env->params)
			return cat_error(env->err, "42P02", "there is no parameter $%u", e->index + 1);
		*out = env->param[e->index];
		out->type = e->type;
		return true;
	case SQL_CALL:
		return one_call(e, env, out);
	case SQL_AND:
	case SQL_OR:
		return one_logic(e, env, out);
	case SQL_NOT:
		if (!one(e->args[0], env, out))
			return false;
		out->v.i ^= 1;
		return true;
	case SQL_IS_NULL: {
		struct cat_datum d;
		if (!one(e->args[0], env, &d))
			return false;
		*out = (struct cat_datum){ .type = CAT_BOOL, .v.i = d.null != e->negate };
		return true;
	}
	case SQL_CASE: {
		struct cat_datum d;
		unsigned k = 0;
		for (; k + 1 < e->nargs; k += 2) {
			if (!one(e->args[k], env, &d))
				return false;
			if (!d.null && d.v.i)
				return one(e->args[k + 1], env, out);
		}
		return one(e->args[k], env, out);
	}
	case SQL_COALESCE:
		for (unsigned k = 0; k < e->nargs; k++) {
			if (!one(e->args[k], env, out))
				return false;
			if (!out->null)
				break;
		}
		return true;
	case SQL_IN:
		return one_in(e, env, out);
	case SQL_OUTER:
		*out = env->outer[e->index];
		out->type = e->type;
		return true;
	case SQL_SUB:
		return one_sub(e, env, out);
	case SQL_COLUMN:
		break;
	}
	return cat_error(env->err, "XX000", "a column where there are no rows");
}

struct cat_str
sql_value_text(const struct sql_env *env, enum cat_type type, union cat_val v)
{
	if (env->shows_float != NULL && cat_type_is_float(cat_type_element(type)))
		*env->shows_float = true;
	return cat_value_show(type, v, env->floats != NULL ? *env->floats : 0, env->arena);
}

bool
sql_eval_one(const struct sql_expr *e, const struct sql_env *env, struct cat_datum *out)
{
	return one(e, env, out);
}

/* ---- lists ---------------------------------------------------------------------------- */

static int
cmp_values(const void *a, const void *b, void *type)
{
	return cat_value_cmp(*(enum cat_type *)type, *(const union cat_val *)a, *(const union cat_val *)b);
}

void
sql_list_sort(struct sql_list *l, enum cat_type type)
{
	qsort_r(l->v, l->n, sizeof l->v[0], cmp_values, &type);
}

bool
sql_in_prepare(struct nam_arena *a, struct sql_expr *e)
{
	if (e->nargs <= IN_LINEAR + 1)
		return true;
	for (unsigned k = 1; k < e->nargs; k++)
		if (e->args[k]->kind != SQL_CONST)
			return true;
	struct sql_list *l = nam_arena_zero(a, sizeof *l + e->nargs * sizeof l->v[0]);
	if (l == NULL)
		return false;
	for (unsigned k = 1; k < e->nargs; k++) {
		if (e->args[k]->value.null)
			l->null = true;
		else
			l->v[l->n++] = e->args[k]->value.v;
	}
	sql_list_sort(l, e->args[0]->type);
	e->list = l;
	return true;
}

/* ---- batches ------------------------------------------------------------------------------ */

struct rows {
	const struct sql_batch *b;
	const uint16_t *sel;
	unsigned n;
	const struct sql_env *env;
};

#define EACH SQL_EACH /* struct rows also has sel and n */

/* A vector with room for every row of the batch. */
static bool
room(struct cat_vec *v, enum cat_type type, const struct rows *r)
{
	unsigned n = r->sel == NULL ? r->n : r->b->n;
	return cat_vec_take(v, type, n, r->env->arena) || sql_oom(r->env->err);
}

static bool
spread(const struct cat_datum *d, const struct rows *r, struct cat_vec *out)
{
	if (!room(out, d->type, r))
		return false;
	if (d->null && cat_type_is_str(d->type))
		EACH(r, out->null[k] = 1; out->s[k] = ((struct cat_str){ "", 0 }));
	else if (cat_type_is_str(d->type))
		EACH(r, out->null[k] = 0; out->s[k] = d->v.s);
	else
		EACH(r, out->null[k] = d->null; out->i[k] = d->v.i);
	return true;
}

static bool eval(const struct sql_expr *e, const struct rows *r, struct cat_vec *out);

/* An argument: one value when it does not depend on the row, else a vector. d and null hold the one
 * value. */
static bool
eval_arg(
    const struct sql_expr *e, const struct rows *r, struct sql_arg *arg, struct cat_datum *d, uint8_t *null)
{
	if (!e->rows) {
		if (!one(e, r->env, d))
			return false;
		d->type = e->type;
		*null = d->null;
		*arg = arg_of(d, null, 0);
		return true;
	}
	struct cat_vec v;
	if (!eval(e, r, &v))
		return false;
	*arg = (struct sql_arg){ .i = v.i, .null = v.null, .mask = ~0u, .str = cat_type_is_str(v.type) };
	return true;
}

/* out->null of a strict call. False if all rows are NULL. */
static bool
strict_nulls(const struct sql_arg *arg, unsigned n, const struct rows *r, struct cat_vec *out)
{
	bool first = true;
	for (unsigned a = 0; a < n; a++) {
		const uint8_t *null = arg[a].null;
		if (arg[a].mask == 0) {
			if (*null) {
				EACH(r, out->null[k] = 1);
				return false;
			}
		} else if (first && r->sel == NULL) {
			memcpy(out->null, null, r->n);
			first = false;
		} else if (first) {
			EACH(r, out->null[k] = null[k]);
			first = false;
		} else {
			EACH(r, out->null[k] |= null[k]);
		}
	}
	if (first)
		EACH(r, out->null[k] = 0);
	return true;
}

static void
blank(const struct rows *r, struct cat_vec *out)
{
	if (cat_type_is_str(out->type))
		EACH(r, out->s[k] = ((struct cat_str){ "", 0 }));
	else
		EACH(r, out->i[k] = 0);
}

/* Row by row: for what costs more than an indirect call. */
static bool
row_loop(const struct sql_expr *e, const struct sql_arg *arg, const struct rows *r, struct cat_vec *out)
{
	bool strict = !(e->fn->flags & SQL_FN_NULLS), str = cat_type_is_str(e->type);
	union cat_val few[SQL_ARGS_INLINE], *v = few;
	bool fewn[SQL_ARGS_INLINE] = { false }, *null = fewn;
	unsigned n = e->nargs;
	if (n > SQL_ARGS_INLINE) {
		v = nam_arena_take(r->env->arena, n * sizeof *v);
		null = nam_arena_take(r->env->arena, n * sizeof *null);
		if (v == NULL || null == NULL)
			return sql_oom(r->env->err);
		memset(null, 0, n * sizeof *null);
	}
	struct sql_row row = { .e = as_called(e), .env = r->env, .a = v, .null = null, .n = n };
	/* A numeric may take as long as kilobytes of text do: exp, ln, powers. */
	uint64_t work = 0, each = e->type == CAT_NUMERIC ? 4096 : 0;
	for (unsigned j = 0; j < r->n; j++) {
		unsigned k = r->sel ? r->sel[j] : j;
		if (strict && out->null[k]) {
			if (str)
				out->s[k] = (struct cat_str){ "", 0 };
			else
				out->i[k] = 0;
			continue;
		}
		uint64_t bytes = 0;
		for (unsigned a = 0; a < n; a++) {
			unsigned at = k & arg[a].mask;
			if (arg[a].str) {
				v[a].s = arg[a].s[at];
				bytes += v[a].s.len;
			} else {
				v[a].i = arg[a].i[at];
			}
			if (!strict)
				null[a] = arg[a].null[at];
		}
		row.out_null = false;
		work += bytes;
		bool went = go_aside(e, bytes), ok = e->fn->row(&row);
		nam_aside_end(went);
		if (!ok)
			return false;
		out->null[k] = row.out_null;
		if (str) {
			out->s[k] = row.out_null ? (struct cat_str){ "", 0 } : row.out.s;
			work += out->s[k].len;
		} else {
			out->i[k] = row.out.i;
		}
		if ((work += each) >= SQL_WORK_PIECE) {
			if (!sql_work(r->env, work))
				return false;
			work = 0;
		}
	}
	return true;
}

static bool
eval_call(const struct sql_expr *e, const struct rows *r, struct cat_vec *out)
{
	struct sql_arg few[SQL_ARGS_INLINE], *arg = few;
	struct cat_datum fewd[SQL_ARGS_INLINE], *d = fewd;
	uint8_t fewn[SQL_ARGS_INLINE], *null = fewn;
	unsigned n = e->nargs;
	if (n > SQL_ARGS_INLINE) {
		arg = nam_arena_take(r->env->arena, n * sizeof *arg);
		d = nam_arena_take(r->env->arena, n * sizeof *d);
		null = nam_arena_take(r->env->arena, n);
		if (arg == NULL || d == NULL || null == NULL)
			return sql_oom(r->env->err);
	}
	if (n == 2 && e->args[0]->type == CAT_NUMERIC && e->type == CAT_BOOL &&
	    sql_decimal_compare(e, r->b, r->sel, r->n, r->env, out))
		return true;
	for (unsigned k = 0; k < n; k++)
		if (!eval_arg(e->args[k], r, &arg[k], &d[k], &null[k]))
			return false;
	if (!room(out, e->type, r))
		return false;
	if (!(e->fn->flags & SQL_FN_NULLS) && !strict_nulls(arg, n, r, out)) {
		blank(r, out);
		return true;
	}
	if (e->fn->vec == NULL)
		return row_loop(e, arg, r, out);
	struct sql_frame f = {
		.e = as_called(e), .env = r->env, .arg = arg, .nargs = n, .sel = r->sel, .n = r->n, .out = out
	};
	uint64_t bytes = 0;
	for (unsigned a = 0; a < n; a++)
		if (arg[a].str && arg[a].mask == 0)
			bytes += *arg[a].null ? 0 : (uint64_t)arg[a].s->len * r->n;
		else if (arg[a].str)
			EACH(r, bytes += arg[a].null[k] ? 0 : arg[a].s[k].len);
	bool went = go_aside(e, bytes), ok = e->fn->vec(&f);
	nam_aside_end(went);
	return ok;
}

/* Room for a selection. */
static uint16_t *
sel_take(const struct rows *r)
{
	uint16_t *s = nam_arena_take(r->env->arena, (r->n ? r->n : 1) * sizeof *s);
	if (s == NULL)
		sql_oom(r->env->err);
	return s;
}

static bool
eval_logic(const struct sql_expr *e, const struct rows *r, struct cat_vec *out)
{
	int64_t stop = e->kind == SQL_OR;
	struct rows left = *r;
	uint16_t *still = NULL;
	if (!room(out, CAT_BOOL, r))
		return false;
	EACH(r, out->i[k] = !stop; out->null[k] = 0);
	for (unsigned a = 0; a < e->nargs && left.n > 0; a++) {
		struct sql_arg arg;
		struct cat_datum d;
		uint8_t null;
		if (!eval_arg(e->args[a], &left, &arg, &d, &null))
			return false;
		if (still == NULL && (still = sel_take(r)) == NULL)
			return false;
		unsigned m = 0;
		for (unsigned j = 0; j < left.n; j++) {
			unsigned k = left.sel ? left.sel[j] : j, at = k & arg.mask;
			bool is_null = arg.null[at], ends = !is_null && arg.i[at] == stop;
			if (ends) {
				out->i[k] = stop;
				out->null[k] = 0;
			}
			out->null[k] |= is_null;
			still[m] = (uint16_t)k;
			m += !ends;
		}
		left.sel = still;
		left.n = m;
	}
	return true;
}

/* Puts arg's values for the rows of r into out. */
static void
merge(const struct sql_arg *arg, const struct rows *r, struct cat_vec *out)
{
	if (cat_type_is_str(out->type))
		EACH(r, out->null[k] = arg->null[k & arg->mask]; out->s[k] = arg->s[k & arg->mask]);
	else
		EACH(r, out->null[k] = arg->null[k & arg->mask]; out->i[k] = arg->i[k & arg->mask]);
}

static bool
eval_case(const struct sql_expr *e, const struct rows *r, struct cat_vec *out)
{
	struct rows left = *r, hit = *r;
	struct sql_arg arg;
	struct cat_datum d;
	uint8_t null;
	uint16_t *yes = sel_take(r), *no = sel_take(r);
	if (yes == NULL || no == NULL || !room(out, e->type, r))
		return false;
	for (unsigned a = 0; left.n > 0; a += 2) {
		if (a + 1 == e->nargs) { /* ELSE */
			if (!eval_arg(e->args[a], &left, &arg, &d, &null))
				return false;
			merge(&arg, &left, out);
			break;
		}
		if (!eval_arg(e->args[a], &left, &arg, &d, &null))
			return false;
		unsigned y = 0, m = 0;
		for (unsigned j = 0; j < left.n; j++) {
			unsigned k = left.sel ? left.sel[j] : j, at = k & arg.mask;
			bool is = !arg.null[at] && arg.i[at];
			yes[y] = no[m] = (uint16_t)k; /* m <= j: never over what is still to be
						       * read */
			y += is;
			m += !is;
		}
		hit.sel = yes;
		hit.n = y;
		left.sel = no;
		left.n = m;
		if (y > 0) {
			if (!eval_arg(e->args[a + 1], &hit, &arg, &d, &null))
				return false;
			merge(&arg, &hit, out);
		}
	}
	return true;
}

static bool
eval_coalesce(const struct sql_expr *e, const struct rows *r, struct cat_vec *out)
{
	struct rows left = *r;
	uint16_t *still = sel_take(r);
	if (still == NULL || !room(out, e->type, r))
		return false;
	for (unsigned a = 0; a < e->nargs && left.n > 0; a++) {
		struct sql_arg arg;
		struct cat_datum d;
		uint8_t null;
		if (!eval_arg(e->args[a], &left, &arg, &d, &null))
			return false;
		merge(&arg, &left, out);
		unsigned m = 0;
		for (unsigned j = 0; j < left.n; j++) {
			unsigned k = left.sel ? left.sel[j] : j;
			still[m] = (uint16_t)k;
			m += arg.null[k & arg.mask] != 0;
		}
		left.sel = still;
		left.n = m;
	}
	return true;
}

static bool
eval_in(const struct sql_expr *e, const struct rows *r, struct cat_vec *out)
{
	struct sql_arg x, y;
	struct cat_datum dx, dy;
	uint8_t nx, ny;
	enum cat_type type = e->args[0]->type;
	if (!eval_arg(e->args[0], r, &x, &dx, &nx) || !room(out, CAT_BOOL, r))
		return false;
	if (e->list != NULL) {
		const struct sql_list *l = e->list;
		for (unsigned j = 0; j < r->n; j++) {
			unsigned k = r->sel ? r->sel[j] : j, at = k & x.mask;
			union cat_val v;
			if (x.str)
				v.s = x.s[at];
			else
				v.i = x.i[at];
			bool hit = !x.null[at] && sql_list_has(l, type, v);
			out->null[k] = !hit && (x.null[at] || l->null);
			out->i[k] = hit != e->negate;
		}
		return true;
	}
	EACH(r, out->i[k] = 0; out->null[k] = x.null[k & x.mask]);
	for (unsigned a = 1; a < e->nargs; a++) {
		if (!eval_arg(e->args[a], r, &y, &dy, &ny))
			return false;
		/* a NULL in the list marks with 2: unknown unless another hits */
		if (!x.str && !cat_type_is_float(type))
			EACH(r, unsigned at = k & y.mask;
			     out->i[k] |= (x.i[k & x.mask] == y.i[at]) & !y.null[at];
			     out->null[k] |= (uint8_t)(y.null[at] << 1));
		else
			EACH(
			    r, unsigned at = k & y.mask; unsigned ax = k & x.mask; union cat_val u;
			    union cat_val v; if (x.str) {
				    u.s = x.s[ax];
				    v.s = y.s[at];
			    } else {
				    u.i = x.i[ax];
				    v.i = y.i[at];
			    } out->i[k] |= !x.null[ax] && !y.null[at] && cat_value_cmp(type, u, v) == 0;
			    out->null[k] |= (uint8_t)(y.null[at] << 1));
	}
	EACH(r, bool hit = out->i[k] != 0 && !(out->null[k] & 1); out->null[k] = !hit && out->null[k];
	     out->i[k] = hit != e->negate);
	return true;
}

static bool
eval_sub(const struct sql_expr *e, const struct rows *r, struct cat_vec *out)
{
	unsigned n = e->nargs;
	struct sql_arg *arg = nam_arena_take(r->env->arena, n * sizeof *arg);
	struct cat_datum *d = nam_arena_take(r->env->arena, n * sizeof *d);
	struct cat_datum *fixed = nam_arena_take(r->env->arena, n * sizeof *fixed);
	uint8_t *null = nam_arena_take(r->env->arena, n);
	if (arg == NULL || d == NULL || fixed == NULL || null == NULL)
		return sql_oom(r->env->err);
	if (r->env->sub == NULL)
		return cat_error(r->env->err, "0A000", "cannot use subquery in this place");
	for (unsigned k = 0; k < n; k++)
		if (!eval_arg(e->args[k], r, &arg[k], &fixed[k], &null[k]))
			return false;
	if (!room(out, e->type, r))
		return false;
	for (unsigned j = 0; j < r->n; j++) {
		unsigned row = r->sel ? r->sel[j] : j;
		for (unsigned k = 0; k < n; k++) {
			unsigned at = row & arg[k].mask;
			d[k] = (struct cat_datum){ .type = e->args[k]->type, .null = arg[k].null[at] };
			if (arg[k].str)
				d[k].v.s = arg[k].s[at];
			else
				d[k].v.i = arg[k].i[at];
		}
		struct cat_datum v;
		nam_aside_home();
		if (!r->env->sub(r->env->sub_arg, e, d, &v))
			return false;
		cat_vec_set(out, row, v.v, v.null);
	}
	return true;
}

/* Goes aside if that many arguments over so many rows take long. */
static bool
wide_aside(unsigned args, unsigned rows)
{
	enum { WIDE = 256 };
	return args >= WIDE && nam_aside_for((uint64_t)args * rows);
}

static bool
eval_wide(const struct sql_expr *e, const struct rows *r, struct cat_vec *out)
{
	bool went = wide_aside(e->nargs, r->n);
	bool ok = e->kind == SQL_CASE ? eval_case(e, r, out)
		  : e->kind == SQL_IN ? eval_in(e, r, out)
				      : eval_logic(e, r, out);
	nam_aside_end(went);
	return ok;
}

static bool
eval(const struct sql_expr *e, const struct rows *r, struct cat_vec *out)
{
	if (!e->rows) {
		struct cat_datum d;
		if (r->n == 0)
			return room(out, e->type, r);
		if (!one(e, r->env, &d))
			return false;
		d.type = e->type;
		return spread(&d, r, out);
	}
	switch (e->kind) {
	case SQL_COLUMN:
		NAM_ASSERT(e->index < r->b->cols);
		*out = r->b->col[e->index];
		out->type = e->type;
		return true;
	case SQL_CALL:
		return eval_call(e, r, out);
	case SQL_AND:
	case SQL_OR:
	case SQL_CASE:
	case SQL_IN:
		return eval_wide(e, r, out);
	case SQL_NOT: {
		struct cat_vec v;
		if (!eval(e->args[0], r, &v) || !room(out, CAT_BOOL, r))
			return false;
		EACH(r, out->i[k] = v.i[k] ^ 1; out->null[k] = v.null[k]);
		return true;
	}
	case SQL_IS_NULL: {
		struct cat_vec v;
		if (!eval(e->args[0], r, &v) || !room(out, CAT_BOOL, r))
			return false;
		EACH(r, out->i[k] = (v.null[k] != 0) != e->negate; out->null[k] = 0);
		return true;
	}
	case SQL_COALESCE:
		return eval_coalesce(e, r, out);
	case SQL_SUB:
		return eval_sub(e, r, out);
	default:
		return cat_error(r->env->err, "XX000", "expression of kind %d over rows", (int)e->kind);
	}
}

bool
sql_eval(const struct sql_expr *e, const struct sql_batch *b, const uint16_t *sel, unsigned n,
    const struct sql_env *env, struct cat_vec *out)
{
	struct rows r = { .b = b, .sel = sel, .n = n, .env = env };
	return eval(e, &r, out);
}

int
sql_filter(const struct sql_expr *e, const struct sql_batch *b, const uint16_t *sel, unsigned n,
    const struct sql_env *env, uint16_t *keep)
{
	if (e->kind == SQL_AND) {
		bool went = wide_aside(e->nargs, n);
		int left = (int)n;
		for (unsigned a = 0; a < e->nargs && left > 0; a++) {
			left = sql_filter(e->args[a], b, sel, (unsigned)left, env, keep);
			sel = keep;
		}
		nam_aside_end(went);
		return left;
	}
	if (n == 0)
		return 0;
	struct rows r = { .b = b, .sel = sel, .n = n, .env = env };
	struct sql_arg arg;
	struct cat_datum d;
	uint8_t null;
	if (!eval_arg(e, &r, &arg, &d, &null))
		return -1;
	unsigned m = 0;
	if (sel == NULL) {
		for (unsigned k = 0; k < n; k++) {
			unsigned at = k & arg.mask;
			keep[m] = (uint16_t)k;
			m += (arg.i[at] != 0) & (arg.null[at] == 0);
		}
	} else {
		for (unsigned j = 0; j < n; j++) {
			unsigned k = sel[j], at = k & arg.mask;
			keep[m] = (uint16_t)k;
			m += (arg.i[at] != 0) & (arg.null[at] == 0);
		}
	}
	return (int)m;
}
