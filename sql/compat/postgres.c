/* postgres.c -- is a name that we do not have one that PostgreSQL 15 has? */
#include <sql/compat/postgres.h>

#include <stdio.h>
#include <stdlib.h>
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

uint32_t
sql_postgres_inner_oid(const char *name)
{
	const char *end = sql_postgres_find(sql_postgres_inner, name, '=');
	return end != NULL ? (uint32_t)strtoul(end + 1, NULL, 10) : 0;
}

bool
sql_postgres_inner_name(uint32_t oid, char *name, size_t max)
{
	char word[16];
	int len = snprintf(word, sizeof word, "=%u ", oid);
	const char *end = strstr(sql_postgres_inner, word), *at = end;
	if (len < 0 || end == NULL)
		return false;
	while (at[-1] != ' ')
		at--;
	snprintf(name, max, "%.*s", (int)(end - at), at);
	return true;
}
