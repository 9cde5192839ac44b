/* agg_pair.c -- aggregates of two doubles: correlation, covariance, regression. Both are made one
 * value before they are added. */
#include <sql/expr/agg_state.h>

#include <math.h>
#include <string.h>

/* A row's values: Y is the first argument. */
struct pair {
	double y, x;
};

/* As PostgreSQL keeps them, by Youngs and Cramer's way; in the state arena. */
struct pairs {
	double n, sx, sxx, sy, syy, sxy;
};

static bool
k_row(struct sql_row *r)
{
	struct pair p = { r->a[0].f, r->a[1].f };
	const char *kept = nam_arena_copy(r->env->arena, &p, sizeof p);
	r->out.s = (struct cat_str){ kept, sizeof p };
	return kept != NULL || sql_oom(r->env->err);
}

static const struct sql_fn fn_row = {
	.name = "pair", .nargs = 2, .arg = { CAT_FLOAT8, CAT_FLOAT8 }, .ret = CAT_BYTEA, .row = k_row
};

struct sql_expr *
sql_expr_pair_row(struct nam_arena *a, struct sql_expr **args, int position, struct cat_err *err)
{
	for (unsigned k = 0; k < 2; k++)
		if ((args[k] = sql_expr_coerce(a, args[k], CAT_FLOAT8, SQL_CAST_IMPLICIT, err)) == NULL)
			return NULL;
	return sql_expr_call(a, &fn_row, args, 2, position, err);
}

static bool
add(struct pairs *s, struct pair v, struct cat_err *err)
{
	struct pairs is = *s;
	is.n += 1;
	is.sx += v.x;
	is.sy += v.y;
	if (s->n > 0) {
		double x = v.x * is.n - is.sx, y = v.y * is.n - is.sy, scale = 1.0 / (is.n * s->n);
		is.sxx += x * x * scale;
		is.syy += y * y * scale;
		is.sxy += x * y * scale;
		bool old_x = isinf(s->sx) || isinf(v.x), old_y = isinf(s->sy) || isinf(v.y);
		if (((isinf(is.sx) || isinf(is.sxx)) && !old_x) ||
		    ((isinf(is.sy) || isinf(is.syy)) && !old_y) || (isinf(is.sxy) && !old_x && !old_y))
			return cat_error(err, "22003", "value out of range: overflow");
		is.sxx = isinf(is.sxx) ? NAN : is.sxx;
		is.syy = isinf(is.syy) ? NAN : is.syy;
		is.sxy = isinf(is.sxy) ? NAN : is.sxy;
	} else {
		if (isnan(v.x) || isinf(v.x))
			is.sxx = is.sxy = NAN;
		if (isnan(v.y) || isinf(v.y))
			is.syy = is.sxy = NAN;
	}
	*s = is;
	return true;
}

bool
sql_agg_pair_add(void *state, struct cat_str row, struct nam_arena *arena, struct cat_err *err)
{
	struct pairs *s;
	struct pair v;
	memcpy(&s, state, sizeof s);
	if (s == NULL && (s = nam_arena_zero(arena, sizeof *s)) == NULL)
		return sql_oom(err);
	memcpy(state, &s, sizeof s);
	memcpy(&v, row.p, sizeof v);
	return add(s, v, err);
}

void
sql_agg_pair_result(enum sql_agg_kind kind, const void *state, struct cat_datum *out)
{
	static const struct pairs none = { 0 };
	const struct pairs *s;
	memcpy(&s, state, sizeof s);
	if (s == NULL)
		s = &none;
	out->null = s->n < 1;
	switch (kind) {
	case SQL_REGR_COUNT:
		out->null = false;
		out->v.i = (int64_t)s->n;
		break;
	case SQL_REGR_AVGX:
		out->v.f = s->sx / s->n;
		break;
	case SQL_REGR_AVGY:
		out->v.f = s->sy / s->n;
		break;
	case SQL_REGR_SXX:
		out->v.f = s->sxx;
		break;
	case SQL_REGR_SYY:
		out->v.f = s->syy;
		break;
	case SQL_REGR_SXY:
		out->v.f = s->sxy;
		break;
	case SQL_COVAR_POP:
		out->v.f = s->sxy / s->n;
		break;
	case SQL_COVAR_SAMP:
		out->null = s->n < 2;
		out->v.f = s->sxy / (s->n - 1);
		break;
	case SQL_CORR:
		out->null |= s->sxx == 0 || s->syy == 0;
		out->v.f = s->sxy / sqrt(s->sxx * s->syy);
		break;
	case SQL_REGR_R2:
		out->null |= s->sxx == 0;
		out->v.f = s->syy == 0 ? 1.0 : (s->sxy * s->sxy) / (s->sxx * s->syy);
		break;
	case SQL_REGR_SLOPE:
		out->null |= s->sxx == 0;
		out->v.f = s->sxy / s->sxx;
		break;
	default: /* the intercept */
		out->null |= s->sxx == 0;
		out->v.f = (s->sy - s->sx * s->sxy / s->sxx) / s->n;
	}
}
