/* number.h -- what files of numbers share: errors, kernels of one argument, rows of tables. */
#ifndef NAM_SQL_EXPR_NUMBER_H
#define NAM_SQL_EXPR_NUMBER_H

#include <sql/expr/functions.h>

static inline bool
sql_div_zero(struct cat_err *err)
{
	return cat_error(err, "22012", "division by zero");
}

/* r: what came out, 0 or an infinity. */
static inline bool
sql_float_range(double r, struct cat_err *err)
{
	return cat_error(err, "22003", "value out of range: %s", r == 0 ? "underflow" : "overflow");
}

/* ---- kernels and rows of one argument ---- */

#define FLOAT1(name, EXPR)                                                                                   \
	static bool name(struct sql_row *r)                                                                  \
	{                                                                                                    \
		double x = r->a[0].f;                                                                        \
		r->out.f = (EXPR);                                                                           \
		return true;                                                                                 \
	}
#define NUM1(name, fn)                                                                                       \
	static bool name(struct sql_row *r)                                                                  \
	{                                                                                                    \
		return fn(r->a[0].s, &r->out.s, r->env->arena, r->env->err);                                 \
	}
#define OP1(op, t, f)                                                                                        \
	{                                                                                                    \
		op, SQL_FN_OP, 1, { t }, t, NULL, f                                                          \
	}
#define F1(name, t, f)                                                                                       \
	{                                                                                                    \
		name, 0, 1, { t }, t, NULL, f                                                                \
	}

#endif
