/* array.h -- arrays in expressions: shared by array*.c and the files of expr/. */
#ifndef NAM_SQL_EXPR_ARRAY_H
#define NAM_SQL_EXPR_ARRAY_H

#include <sql/expr/functions.h>
#include <types/array.h>

/* An array with its elements at hand. */
struct sql_elements {
	struct cat_array a;
	union cat_val *v;
	bool *null;
};
/* more: room for so many behind them. */
bool sql_array_load(
    const struct sql_env *env, enum cat_type type, struct cat_str s, uint32_t more, struct sql_elements *out);
/* An array of the call's type. */
bool sql_array_store(const struct sql_row *r, int32_t lower, const union cat_val *v, const bool *null,
    uint32_t n, struct cat_str *out);

/* True if a comparison's outcome c (-1, 0, 1) fulfils = <> < <= > >= . */
static inline bool
sql_compared(int c, const char *op)
{
	switch (op[0]) {
	case '=':
		return c == 0;
	case '<':
		return op[1] == '>' ? c != 0 : op[1] == '=' ? c <= 0 : c < 0;
	default:
		return op[1] == '=' ? c >= 0 : c > 0;
	}
}

/* The elements, to be looked for. NULL = no memory. */
struct sql_list *sql_list_of(struct nam_arena *arena, enum cat_type type, struct cat_str s);

extern const struct sql_fn sql_fn_array_cast;
struct sql_expr *sql_array_cast(struct nam_arena *a, struct sql_expr *e, enum cat_type to,
    enum sql_cast_level level, struct cat_err *err);

/* The call, and an operator of which a side is an array. NULL, *none: there is none for such
 * arguments; else *err. */
struct sql_expr *sql_array_call(struct nam_arena *a, const char *name, struct sql_expr **args, unsigned n,
    int position, bool *none, struct cat_err *err);
struct sql_expr *sql_array_op(struct nam_arena *a, const char *op, struct sql_expr **args, int position,
    bool *none, struct cat_err *err);

/* array_fn.c */
sql_row_fn sql_array_k_bound, sql_array_k_dims, sql_array_k_remove, sql_array_k_replace, sql_array_k_position,
    sql_array_k_positions, sql_array_k_to_string, sql_array_k_trim, sql_array_k_fill, sql_array_k_bucket,
    sql_array_k_subscripts;
/* json_turn.c */
sql_row_fn sql_array_k_to_json;
/* percentile.c */
sql_row_fn sql_array_k_percentile, sql_array_k_percentiles, sql_array_k_mode;

#endif
