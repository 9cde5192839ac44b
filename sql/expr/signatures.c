/* signatures.c -- functions with rules of their own, which no table of struct sql_fn has. */
#include <sql/expr/expr_internal.h>

const struct sql_signature sql_signatures[] = {
	{ "row_number", "bigint", "", "window" },
	{ "rank", "bigint", "", "window" },
	{ "dense_rank", "bigint", "", "window" },
	{ "percent_rank", "double precision", "", "window" },
	{ "cume_dist", "double precision", "", "window" },
	{ "ntile", "integer", "integer", "window" },
	{ "lag", "anycompatible", "anycompatible, integer, anycompatible", "window" },
	{ "lead", "anycompatible", "anycompatible, integer, anycompatible", "window" },
	{ "first_value", "anyelement", "anyelement", "window" },
	{ "last_value", "anyelement", "anyelement", "window" },
	{ "nth_value", "anyelement", "anyelement, integer", "window" },
	{ "unnest", "SETOF anyelement", "anyarray", "func" },
	{ "string_to_table", "SETOF text", "text, text", "func" },
	{ "regexp_split_to_table", "SETOF text", "text, text", "func" },
	{ "regexp_matches", "SETOF text[]", "text, text", "func" },
	{ "generate_subscripts", "SETOF integer", "anyarray, integer", "func" },
	{ "generate_series", "SETOF integer", "integer, integer, integer", "func" },
	{ "generate_series", "SETOF bigint", "bigint, bigint, bigint", "func" },
	{ "generate_series", "SETOF numeric", "numeric, numeric, numeric", "func" },
	{ "generate_series", "SETOF timestamp without time zone",
	    "timestamp without time zone, timestamp without time zone, interval", "func" },
	{ "generate_series", "SETOF timestamp with time zone",
	    "timestamp with time zone, timestamp with time zone, interval", "func" },
	{ NULL, NULL, NULL, NULL },
};
