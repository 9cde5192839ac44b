/* table.h -- how a row of a table of functions is written: name, number of arguments, type of the
 * answer, kernel, types of the arguments. */
#ifndef NAM_SQL_EXPR_TABLE_H
#define NAM_SQL_EXPR_TABLE_H

#include <sql/expr/functions.h>

/* The kernel computes a row. */
#define F(name, n, ret, f, ...)                                                                              \
	{                                                                                                    \
		name, 0, n, { __VA_ARGS__ }, ret, NULL, f                                                    \
	}
/* The kernel computes a vector. */
#define V(name, n, ret, f, ...)                                                                              \
	{                                                                                                    \
		name, 0, n, { __VA_ARGS__ }, ret, f, NULL                                                    \
	}

#endif
