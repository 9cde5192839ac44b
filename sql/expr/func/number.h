/* number.h -- errors that several files of numbers give. */
#ifndef NAM_SQL_EXPR_NUMBER_H
#define NAM_SQL_EXPR_NUMBER_H

#include <sql/expr/expr_internal.h>

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

#endif
