/* set_function.c -- the functions that return rows, by name. */
#include <sql/parse/ast.h>

#include <string.h>

const struct sql_set_function *
sql_set_function(const char *name)
{
	static const struct sql_set_function all[] = { { "unnest", NULL, false },
		{ "string_to_table", "string_to_array", false },
		{ "regexp_split_to_table", "regexp_split_to_array", false },
		{ "regexp_matches", "regexp_matches", true },
		{ "generate_subscripts", "generate_subscripts", false },
		{ "generate_series", "generate_series", false },
		{ "pg_partition_ancestors", "pg_partition_ancestors", false } };
	for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
		if (strcmp(all[k].name, name) == 0)
			return &all[k];
	return NULL;
}
