/* postgres.c -- is a name that we do not have one that PostgreSQL 15 has? */
#include <sql/compat/postgres.h>

#include <string.h>

const char *
sql_postgres_find(const char *list, const char *word, char open)
{
	size_t n = strlen(word);
	if (n == 0 || strpbrk(word, " (),") != NULL)
		return NULL;
	for (const char *p = list; (p = strstr(p, word)) != NULL; p++)
		if (p[-1] == ' ' && p[n] == open) /* every list begins with a blank */
			return p + n;
	return NULL;
}

bool
sql_postgres_has(const char *list, const char *word)
{
	return sql_postgres_find(list, word, ' ') != NULL;
}

bool
sql_system_column(const char *name)
{
	static const char *const all[] = { "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid" };
	for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
		if (strcmp(all[k], name) == 0)
			return true;
	return false;
}
