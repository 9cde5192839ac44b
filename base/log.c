/* log.c -- one write per line, so that lines of several threads do not mix. */
#include <base/log.h>

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FROM_ENVIRONMENT = -1 };
static _Atomic int level_max = FROM_ENVIRONMENT;

void
nam_log_level_set(enum nam_log_level level)
{
	atomic_store(&level_max, (int)level);
}

/* The level of NAMDB_LOG, unless nam_log_level_set was called. */
static int
level(void)
{
	static const char *const names[] = { "error", "warn", "info", "debug" };
	int is = atomic_load(&level_max);
	if (is != FROM_ENVIRONMENT)
		return is;
	const char *said = getenv("NAMDB_LOG");
	int to = NAM_LOG_WARN;
	for (int i = 0; said != NULL && i <= NAM_LOG_DEBUG; i++)
		if (strcmp(said, names[i]) == 0)
			to = i;
	atomic_compare_exchange_strong(&level_max, &is, to);
	return atomic_load(&level_max);
}

void
nam_log(enum nam_log_level at, const char *fmt, ...)
{
	if ((int)at > level())
		return;
	char line[1024] = "namdb: ";
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(line + 7, sizeof line - 8, fmt, ap);
	va_end(ap);
	size_t len = n < 0 ? 7 : (size_t)n + 7;
	if (len > sizeof line - 2)
		len = sizeof line - 2;
	line[len++] = '\n';
	ssize_t ignored = write(2, line, len);
	(void)ignored;
}
