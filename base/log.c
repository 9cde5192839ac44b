/* log.c -- one write per line, so that lines of several threads do not mix; none of them waits. */
#include <base/log.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

/* ---- a stderr that nobody reads ------------------------------------------------------------ */

enum way { UNKNOWN, PLAIN, SOCKET, OPENED };

static _Atomic int way;
static _Atomic int opened; /* of OPENED: a descriptor of its own, which does not block */
static _Atomic uint64_t dropped, told;

/* How lines go out. A pipe or a terminal is opened once more: not to block is a property of what
 * was opened, and others may have stderr too. */
static enum way
find_way(void)
{
	struct stat is;
	int now = atomic_load(&way);
	if (now != UNKNOWN)
		return (enum way)now;
	int fd = -1;
	enum way to = PLAIN;
	if (fstat(2, &is) == 0 && S_ISSOCK(is.st_mode)) {
		to = SOCKET;
	} else if (fstat(2, &is) == 0 && (S_ISFIFO(is.st_mode) || isatty(2))) {
		fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		to = fd >= 0 ? OPENED : PLAIN;
	}
	if (fd >= 0)
		atomic_store(&opened, fd);
	now = UNKNOWN;
	if (!atomic_compare_exchange_strong(&way, &now, (int)to))
		return (enum way)now; /* another thread was first: one descriptor more is open */
	return to;
}

/* True if the line went out as a whole. */
static bool
put_line(const char *line, size_t len)
{
	ssize_t n;
	switch (find_way()) {
	case SOCKET:
		n = send(2, line, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		break;
	case OPENED:
		n = write(atomic_load(&opened), line, len);
		break;
	default:
		n = write(2, line, len);
	}
	return n >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

uint64_t
nam_log_dropped(void)
{
	return atomic_load(&dropped);
}

/* Before a line: how many were dropped since that was last told. */
static void
tell_dropped(void)
{
	char line[120];
	uint64_t all = atomic_load(&dropped), was = atomic_load(&told);
	if (all == was)
		return;
	int n = snprintf(line, sizeof line, "namdb: %llu lines of the log were dropped: nothing read them\n",
	    (unsigned long long)(all - was));
	if (put_line(line, (size_t)n))
		atomic_store(&told, all);
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
	tell_dropped();
	if (!put_line(line, len))
		atomic_fetch_add(&dropped, 1);
}
