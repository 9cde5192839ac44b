/* set_function.c -- the functions that return rows, by name. */
#include <sql/parse/ast.h>

#include <string.h>

const struct sql_set_function *
sql_set_function(const char *name)
{
	static const struct sql_set_function all[] = { { "unnest", NULL, false, NULL },
		{ "string_to_table", "string_to_array", false, NULL },
		{ "regexp_split_to_table", "regexp_split_to_array", false, NULL },
		{ "jsonb_array_elements", "jsonb_array_elements", false, "value" },
		{ "jsonb_array_elements_text", "jsonb_array_elements_text", false, "value" },
		{ "jsonb_object_keys", "jsonb_object_keys", false, NULL },
		{ "json_array_elements", "json_array_elements", false, "value" },
		{ "json_array_elements_text", "json_array_elements_text", false, "value" },
		{ "json_object_keys", "json_object_keys", false, NULL },
		{ "regexp_matches", "regexp_matches", true, NULL },
		{ "generate_subscripts", "generate_subscripts", false, NULL },
		{ "generate_series", "generate_series", false, NULL },
		{ "pg_partition_ancestors", "pg_partition_ancestors", false, NULL } };
	for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
		if (strcmp(all[k].name, name) == 0)
			return &all[k];
	return NULL;
}
