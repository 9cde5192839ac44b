/* log.c -- one write per line, so that lines of several threads do not mix. */
#include <base/log.h>

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static _Atomic int level_max = NAM_LOG_WARN;

void
nam_log_level_set(enum nam_log_level level)
{
	atomic_store(&level_max, (int)level);
}

void
nam_log(enum nam_log_level level, const char *fmt, ...)
{
	if ((int)level > atomic_load(&level_max))
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
