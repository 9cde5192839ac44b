/* path.c -- schemas and names to paths, and back. */
#include <catalog/path.h>

#include <stdio.h>
#include <string.h>

void
cat_path(const char *schema, const char *name, char out[CAT_PATH_MAX + 1])
{
	if (strcmp(schema, CAT_PUBLIC_SCHEMA) != 0 || name[0] == 0)
		snprintf(out, CAT_PATH_MAX + 1, "%.63s.%.63s", schema, name);
	else
		snprintf(out, CAT_PATH_MAX + 1, "%s%.63s", strchr(name, '.') ? "." : "", name);
}

const char *
cat_local(const char *path)
{
	const char *dot = strchr(path, '.');
	return dot ? dot + 1 : path;
}

bool
cat_in_public(const char *path)
{
	return path[0] == '.' || strchr(path, '.') == NULL;
}

bool
cat_is_temporary(const char *path)
{
	static const char temp[] = "pg_temp_";
	return !cat_in_public(path) && strncmp(path, temp, sizeof temp - 1) == 0;
}

void
cat_schema_of(const char *path, char out[CAT_NAME_MAX + 1])
{
	if (cat_in_public(path))
		strcpy(out, CAT_PUBLIC_SCHEMA);
	else
		snprintf(out, CAT_NAME_MAX + 1, "%.*s", (int)strcspn(path, "."), path);
}

void
cat_beside(const char *path, const char *name, char out[CAT_PATH_MAX + 1])
{
	char schema[CAT_NAME_MAX + 1];
	cat_schema_of(path, schema);
	cat_path(schema, name, out);
}

bool
cat_same_schema(const char *a, const char *b)
{
	char x[CAT_NAME_MAX + 1], y[CAT_NAME_MAX + 1];
	cat_schema_of(a, x);
	cat_schema_of(b, y);
	return strcmp(x, y) == 0;
}
