/*
 * peer_postgres.c -- PostgreSQL beside us: started in a temporary directory, asked over its own
 * protocol (version 3).
 */
#include "peer_postgres.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 24, PROTOCOL = 196608, HEAD = 5, MESSAGE_MAX = 1 << 30 };

struct peer_postgres {
	char dir[64];
	const char *programs;
	uid_t uid;
	gid_t gid;
	bool other_user, started;
	int fd;
	int pid; /* of the session's process */
	char *message;
	size_t cap;
};

/* ---- text ------------------------------------------------------------------------------ */

void
bench_text_add(struct bench_text *t, const char *bytes, size_t n)
{
	if (t->cap - t->len < n) {
		size_t cap = (t->cap + n) * 2;
		char *p = realloc(t->p, cap);
		if (p == NULL) {
			t->full = true;
			return;
		}
		t->p = p;
		t->cap = cap;
	}
	memcpy(t->p + t->len, bytes, n);
	t->len += n;
}

void
bench_text_clear(struct bench_text *t)
{
	t->len = 0;
	t->rows = 0;
	t->full = false;
}

void
bench_text_free(struct bench_text *t)
{
	free(t->p);
	*t = (struct bench_text){ 0 };
}

/* ---- the server ------------------------------------------------------------------------ */

static bool
complain(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fprintf(stderr, "namdb bench: PostgreSQL: ");
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	return false;
}

const char *
peer_postgres_programs(void)
{
	static const char *const dirs[] = { "/usr/lib/postgresql/15/bin", "/usr/pgsql-15/bin" };
	char file[64];
	for (unsigned i = 0; i < sizeof dirs / sizeof *dirs; i++) {
		snprintf(file, sizeof file, "%s/initdb", dirs[i]);
		if (access(file, X_OK) == 0)
			return dirs[i];
	}
	return NULL;
}

/* Runs one of its programs to the end; what it says goes to a file. The words end with NULL. */
static bool
run(struct peer_postgres *p, const char *program, ...)
{
	char path[128], log[96];
	char *word[WORDS_MAX];
	unsigned n = 0;
	va_list ap;
	snprintf(path, sizeof path, "%s/%s", p->programs, program);
	snprintf(log, sizeof log, "%s/log", p->dir);
	word[n++] = path;
	va_start(ap, program);
	while (n + 1 < WORDS_MAX && (word[n] = va_arg(ap, char *)) != NULL)
		n++;
	va_end(ap);
	word[n] = NULL;
	char *const env[] = { (char[]){ "LC_ALL=C" }, (char[]){ "PATH=/usr/bin:/bin" }, NULL };
	pid_t pid = fork();
	if (pid == 0) {
		/* the process has threads: only what is safe after a fork */
		if (p->other_user && (setgroups(0, NULL) != 0 || setgid(p->gid) != 0 || setuid(p->uid) != 0))
			_exit(127);
		int in = open("/dev/null", O_RDONLY);
		int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
		if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 ||
		    chdir("/") != 0)
			_exit(127);
		execve(path, word, env);
		_exit(127);
	}
	int status = -1;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static const char *const settings[] = {
	[PEER_POSTGRES_QUESTIONS] =
	    "-c full_page_writes=off -c synchronous_commit=off -c autovacuum=off -c jit=off "
	    "-c max_parallel_workers_per_gather=0 -c shared_buffers=1GB -c work_mem=256MB "
	    "-c maintenance_work_mem=256MB -c max_wal_size=8GB -c max_connections=10",
	[PEER_POSTGRES_LOAD] = "-c shared_buffers=1GB -c max_wal_size=8GB -c max_connections=1100",
	[PEER_POSTGRES_DURABLE] =
	    "-c fsync=on -c shared_buffers=1GB -c max_wal_size=8GB -c max_connections=1100",
};

static bool
start(struct peer_postgres *p, const char *where, enum peer_postgres_use use)
{
	char data[96], log[96], option[512];
	if ((p->programs = peer_postgres_programs()) == NULL)
		return complain("there are no programs of version 15 here: apt install postgresql-15");
	snprintf(p->dir, sizeof p->dir, "%.40s/namdb-pg-XXXXXX", where);
	if (mkdtemp(p->dir) == NULL) {
		p->dir[0] = 0;
		return complain("no temporary directory: %s", strerror(errno));
	}
	if (geteuid() == 0) {
		const struct passwd *w = getpwnam("postgres");
		if (w == NULL)
			return complain("it does not run as root, and there is no user postgres");
		p->uid = w->pw_uid;
		p->gid = w->pw_gid;
		p->other_user = true;
		if (chown(p->dir, p->uid, p->gid) != 0)
			return complain("%s: %s", p->dir, strerror(errno));
	}
	snprintf(data, sizeof data, "%s/data", p->dir);
	snprintf(log, sizeof log, "%s/server", p->dir);
	snprintf(option, sizeof option,
	    "-c listen_addresses= -c unix_socket_directories=%s -c fsync=off -c timezone=UTC %s", p->dir,
	    settings[use]);
	if (!run(p, "initdb", "-D", data, "-U", "judge", "-A", "trust", "-E", "UTF8", "--lc-collate=C",
		"--lc-ctype=C.UTF-8", "--lc-messages=C", "--no-sync", (char *)NULL) ||
	    !run(p, "pg_ctl", "-D", data, "-w", "-t", "120", "-l", log, "-o", option, "start", (char *)NULL))
		return complain("it did not start; %s/log says why", p->dir);
	return p->started = true;
}

/* ---- the protocol ------------------------------------------------------------------------ */

static bool
send_all(struct peer_postgres *p, const void *bytes, size_t n)
{
	const char *at = bytes;
	while (n > 0) {
		ssize_t sent = send(p->fd, at, n, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return complain("the connection broke: %s", strerror(errno));
		at += sent;
		n -= (size_t)sent;
	}
	return true;
}

static bool
receive_all(struct peer_postgres *p, void *into, size_t n)
{
	char *at = into;
	while (n > 0) {
		ssize_t got = recv(p->fd, at, n, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return complain("the connection broke: %s", got < 0 ? strerror(errno) : "closed");
		at += got;
		n -= (size_t)got;
	}
	return true;
}

static uint32_t
number_at(const char *at)
{
	uint32_t x;
	memcpy(&x, at, sizeof x);
	return ntohl(x);
}

/*
 * The next message: its letter, and len bytes in p->message with a 0 behind them. 0 = there is
 * none.
 */
static char
message(struct peer_postgres *p, size_t *len)
{
	char head[HEAD];
	if (!receive_all(p, head, sizeof head))
		return 0;
	*len = number_at(head + 1) - sizeof(uint32_t);
	if (*len > MESSAGE_MAX) {
		complain("a message of %zu bytes", *len);
		return 0;
	}
	if (p->cap <= *len) {
		char *more = realloc(p->message, *len + 1);
		if (more == NULL) {
			complain("out of memory");
			return 0;
		}
		p->message = more;
		p->cap = *len + 1;
	}
	p->message[*len] = 0;
	return receive_all(p, p->message, *len) ? head[0] : 0;
}

static void
add_row(const struct peer_postgres *p, size_t len, struct bench_text *t)
{
	const char *at = p->message + sizeof(uint16_t), *end = p->message + len;
	for (bool first = true; end - at >= (ptrdiff_t)sizeof(uint32_t); first = false) {
		uint32_t n = number_at(at);
		at += sizeof n;
		if (!first)
			bench_text_add(t, "|", 1);
		if (n == UINT32_MAX) {
			bench_text_add(t, "\\N", 2);
			continue;
		}
		if (n > (uint32_t)(end - at))
			break;
		bench_text_add(t, at, n);
		at += n;
	}
	bench_text_add(t, "\n", 1);
	t->rows++;
}

/* The text of an error: the field M. */
static void
say_error(const struct peer_postgres *p, size_t len)
{
	for (const char *at = p->message; at < p->message + len && *at != 0; at += strlen(at) + 1)
		if (*at == 'M')
			complain("%s", at + 1);
}

/* Reads until it is ready for a query. */
static bool
answers(struct peer_postgres *p, struct bench_text *t)
{
	bool ok = true;
	for (;;) {
		size_t len;
		char c = message(p, &len);
		if (c == 0)
			return false;
		if (c == 'Z')
			return ok;
		if (c == 'D' && t != NULL)
			add_row(p, len, t);
		else if (c == 'K' && len >= sizeof(uint32_t))
			p->pid = (int)number_at(p->message);
		else if (c == 'E') {
			ok = false;
			say_error(p, len);
		} else if (c == 'R' && (len < sizeof(uint32_t) || number_at(p->message) != 0))
			return complain("it asks for a password");
	}
}

bool
peer_postgres_ask(struct peer_postgres *p, const char *sql, struct bench_text *answer)
{
	size_t n = strlen(sql) + 1;
	uint32_t len = htonl((uint32_t)(n + sizeof len));
	if (answer != NULL)
		bench_text_clear(answer);
	return send_all(p, "Q", 1) && send_all(p, &len, sizeof len) && send_all(p, sql, n) &&
	       answers(p, answer);
}

static bool
connect_to(struct peer_postgres *p)
{
	static const char words[] = "user\0judge\0database\0postgres\0";
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	uint32_t head[2] = { htonl((uint32_t)(sizeof head + sizeof words)), htonl(PROTOCOL) };
	snprintf(at.sun_path, sizeof at.sun_path, "%s/.s.PGSQL.5432", p->dir);
	if ((p->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0 ||
	    connect(p->fd, (struct sockaddr *)&at, sizeof at) != 0)
		return complain("%s: %s", at.sun_path, strerror(errno));
	return send_all(p, head, sizeof head) && send_all(p, words, sizeof words) && answers(p, NULL);
}

double
peer_postgres_cpu(const struct peer_postgres *p)
{
	char name[64];
	unsigned long long ns = 0;
	snprintf(name, sizeof name, "/proc/%d/schedstat", p->pid);
	FILE *f = fopen(name, "r");
	if (f == NULL)
		return 0;
	if (fscanf(f, "%llu", &ns) != 1)
		ns = 0;
	fclose(f);
	return (double)ns / 1e9;
}

const char *
peer_postgres_folder(const struct peer_postgres *p)
{
	return p->dir;
}

struct peer_postgres *
peer_postgres_open(void)
{
	return peer_postgres_open_for("/tmp", PEER_POSTGRES_QUESTIONS);
}

struct peer_postgres *
peer_postgres_open_for(const char *where, enum peer_postgres_use use)
{
	struct peer_postgres *p = calloc(1, sizeof *p);
	if (p == NULL)
		return NULL;
	p->fd = -1;
	if (start(p, where, use) && connect_to(p))
		return p;
	peer_postgres_close(p);
	return NULL;
}

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	remove(path);
	return 0;
}

void
peer_postgres_close(struct peer_postgres *p)
{
	char data[96];
	if (p->fd >= 0)
		close(p->fd);
	snprintf(data, sizeof data, "%s/data", p->dir);
	if (p->started && !run(p, "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop", (char *)NULL))
		complain("it did not stop; its files are in %s", p->dir);
	else if (p->started)
		nftw(p->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(p->message);
	free(p);
}
