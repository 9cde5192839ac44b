/* dir_test.c -- libnamdb on a directory: the program around it notices nothing of the storage
 * node. */
#include <lib/namdb.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char above[] = "/tmp/namdb-dir-XXXXXX";

static int
make_above(void **state)
{
	char program[PATH_MAX];
	(void)state;
	/* The program lies beside the test. */
	ssize_t n = readlink("/proc/self/exe", program, sizeof program - 8);
	if (n <= 0)
		return -1;
	program[n] = 0;
	strcpy(strrchr(program, '/'), "/namdb");
	if (access(program, X_OK) != 0) {
		fprintf(stderr, "skip: %s is not built\n", program);
		exit(77);
	}
	return mkdtemp(above) != NULL && chdir(above) == 0 ? 0 : -1;
}

static int
remove_above(void **state)
{
	char command[100];
	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", above);
	return chdir("/") == 0 ? system(command) : -1;
}

/* A place under `above`, as form says. */
static int
try(namdb **db, const char *form)
{
	char where[400];
	snprintf(where, sizeof where, form, above);
	return namdb_open(where, db);
}

static namdb *
start(const char *form)
{
	namdb *db = NULL;
	if (try(&db, form) != NAMDB_OK)
		fail_msg("%s: %s", form, namdb_message(db));
	return db;
}

static void
run(namdb *db, const char *sql)
{
	if (namdb_exec(db, sql) != NAMDB_OK)
		fail_msg("%s: %s %s", sql, namdb_sqlstate(db), namdb_message(db));
}

static int64_t
one(namdb *db, const char *sql)
{
	namdb_stmt *st;
	assert_int_equal(namdb_prepare(db, sql, &st), NAMDB_OK);
	if (namdb_step(st) != NAMDB_ROW)
		fail_msg("%s: %s %s", sql, namdb_sqlstate(db), namdb_message(db));
	int64_t n = namdb_column_int64(st, 0);
	namdb_finalize(st);
	return n;
}

static void
nap(long ms)
{
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
	nanosleep(&t, NULL);
}

/* Does a storage node have that directory's log? */
static bool
in_use(const char *dir)
{
	char file[400];
	snprintf(file, sizeof file, "%s/%s/lock", above, dir);
	int fd = open(file, O_RDWR | O_CLOEXEC);
	bool held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;
	if (fd >= 0)
		close(fd);
	return held;
}

static void
await_end(const char *dir)
{
	for (int i = 0; in_use(dir); i++) {
		if (i > 3000)
			fail_msg("the storage node of %s does not end", dir);
		nap(20);
	}
}

static void
rows_stay(void **state)
{
	(void)state;
	namdb *db = start("dir:%s/a.db?size=64m&idle_s=1"), *other = start("%s/a.db?workers=2");
	run(db, "CREATE ROLE reader LOGIN; CREATE TABLE t (a integer PRIMARY KEY); INSERT INTO t VALUES (1), "
		"(2)");
	assert_int_equal(one(other, "SELECT count(*) FROM t"), 2);
	namdb_close(other);
	namdb_close(db);
	/* The node is no child of this process. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	await_end("a.db");
	db = start("dir:a.db?idle_s=1"); /* from where this process is */
	assert_int_equal(one(db, "SELECT count(*) FROM t"), 2);
	/* The place is remembered by its whole name, not by the directory of this process. */
	assert_int_equal(chdir("/"), 0);
	run(db, "INSERT INTO t VALUES (3)");
	assert_int_equal(chdir(above), 0);
	other = start("./a.db?idle_s=1");
	assert_int_equal(one(other, "SELECT count(*) FROM t"), 3);
	namdb_close(other);
	namdb_close(db);
}

/* Signs that mean something in the string. */
static void
names(void **state)
{
	static const char *const form[] = { "dir:%s/a%%20b?idle_s=1", "dir:%s/who%%3F?idle_s=1",
		"dir:%s/50%%25%%41?idle_s=1", "%s/50%%?idle_s=1", "%s/x y&z?idle_s=1",
		"dir:%s/e=f:g?idle_s=1" };
	static const char *const made[] = { "a b", "who?", "50%A", "50%", "x y&z", "e=f:g" };
	(void)state;
	for (unsigned i = 0; i < sizeof form / sizeof *form; i++) {
		struct stat sb;
		namdb *db = start(form[i]);
		char sql[60];
		snprintf(sql, sizeof sql, "CREATE TABLE t AS SELECT %u AS a", i);
		run(db, sql);
		namdb_close(db);
		assert_int_equal(stat(made[i], &sb), 0);
		assert_true(in_use(made[i]));
	}
	for (unsigned i = 0; i < sizeof form / sizeof *form; i++) {
		namdb *db = start(form[i]);
		assert_int_equal(one(db, "SELECT a FROM t"), i);
		namdb_close(db);
	}
}

static void
what_is_refused(void **state)
{
	static const struct {
		const char *form, *state, *part;
	} wrong[] = {
		{ "dir:", "08001", "wants the path" },
		{ "dir:?size=1g", "08001", "wants the path" },
		{ "dir:%s/a%%zz", "08001", "write %25" },
		{ "dir:%s/a%%4", "08001", "write %25" },
		{ "dir:%s/a%%00", "08001", "write %25" },
		{ "dir:%s/b?size=tiny", "08001", "size=tiny is not known for a directory" },
		{ "dir:%s/b?cluster=x", "08001", "cluster=x" },
		{ "dir:%s/b?secret=x", "08001", "secret=x" },
		{ "dir:%s/b?nodes=2", "08001", "nodes=2" },
		{ "dir:%s/b?idle_s=0", "08001", "idle_s=0" },
		{ "memory:?idle_s=1", "08001", "idle_s=1" },
		{ "127.0.0.1:1?idle_s=1", "08001", "idle_s=1" },
		{ "%s/no/such.db", "08001", "its parent is not there" },
		{ "/etc/passwd", "08001", "is a file" },
		{ "/etc", "08001", "has other things in it" },
		{ "%s/new.db?size=1023g", "08006", "did not start: 1023.0 GiB is more than the" },
		{ "%s/a.db?user=nobody_here&idle_s=1", "28000", "nobody_here" },
	};
	(void)state;
	namdb *db;
	for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		if (try(&db, wrong[i].form) != NAMDB_ERROR)
			fail_msg("%s is opened", wrong[i].form);
		assert_string_equal(namdb_sqlstate(db), wrong[i].state);
		if (strstr(namdb_message(db), wrong[i].part) == NULL)
			fail_msg("%s: %s", wrong[i].form, namdb_message(db));
		namdb_close(db);
	}
	setenv("NAMDB_PROGRAM", "/nowhere/namdb", 1);
	assert_int_equal(try(&db, "%s/none.db"), NAMDB_ERROR);
	assert_non_null(strstr(namdb_message(db), "NAMDB_PROGRAM is /nowhere/namdb"));
	namdb_close(db);
	unsetenv("NAMDB_PROGRAM");
}

/* The position at which the log of that directory begins: of its manifest. */
static uint64_t
begin_of(const char *dir)
{
	char file[400];
	uint64_t begin = 0;
	snprintf(file, sizeof file, "%s/%s/manifest", above, dir);
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &begin, sizeof begin, 40), sizeof begin);
	close(fd);
	return begin;
}

/* The last handle makes a checkpoint, the one before does not. */
static void
last_handle(void **state)
{
	(void)state;
	namdb *db = start("dir:%s/last.db?idle_s=1"), *other = start("dir:%s/last.db?idle_s=1");
	run(db, "CREATE TABLE t (a integer PRIMARY KEY, n integer, b text); "
		"INSERT INTO t SELECT i, 0, repeat('x', 900) FROM generate_series(1, 2000) i");
	for (unsigned i = 0; i < 10; i++)
		run(db, "UPDATE t SET n = n + 1");
	namdb_close(db);
	assert_int_equal(begin_of("last.db"), 0);
	namdb_close(other);
	assert_true(begin_of("last.db") > 0);
	await_end("last.db");
	db = start("dir:%s/last.db?idle_s=1");
	assert_int_equal(one(db, "SELECT count(*) FROM t WHERE n = 10"), 2000);
	namdb_close(db);
}

/* The process that has the lock of that directory, by the kernel's list. */
static pid_t
node_of(const char *dir)
{
	char file[400], line[200];
	struct stat sb;
	snprintf(file, sizeof file, "%s/%s/lock", above, dir);
	assert_int_equal(stat(file, &sb), 0);
	FILE *f = fopen("/proc/locks", "r");
	pid_t found = 0;
	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		long pid;
		unsigned long inode;
		if (sscanf(line, "%*d: FLOCK ADVISORY WRITE %ld %*x:%*x:%lu", &pid, &inode) == 2 &&
		    inode == sb.st_ino)
			found = (pid_t)pid;
	}
	if (f != NULL)
		fclose(f);
	return found;
}

static void
a_node_that_is_killed(void **state)
{
	(void)state;
	namdb *db = start("dir:%s/a.db?idle_s=1"), *next;
	run(db, "INSERT INTO t VALUES (10)");
	pid_t pid = node_of("a.db");
	if (pid <= 0) {
		namdb_close(db);
		skip();
	}
	assert_int_equal(kill(pid, SIGKILL), 0);
	await_end("a.db");
	assert_int_equal(namdb_exec(db, "INSERT INTO t VALUES (11)"), NAMDB_ERROR);
	/* A handle that is opened now is of the next node, beside the old one. */
	next = start("dir:%s/a.db?idle_s=1");
	assert_int_equal(one(next, "SELECT max(a) FROM t"), 10);
	assert_int_equal(namdb_exec(db, "INSERT INTO t VALUES (11)"), NAMDB_ERROR);
	namdb_close(db);
	run(next, "INSERT INTO t VALUES (12)");
	namdb_close(next);
}

static unsigned ended;

static void
on_child(int sig)
{
	int was = errno;
	(void)sig;
	ended++;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		continue;
	errno = was;
}

/* A program that collects all its children, one that ignores them, and one whose child opens the
 * database as well. */
static void
programs_with_children(void **state)
{
	(void)state;
	await_end("a.db");
	struct sigaction was, on = { .sa_handler = on_child };
	sigaction(SIGCHLD, &on, &was);
	namdb *db = start("dir:%s/a.db?idle_s=1");
	assert_int_equal(one(db, "SELECT max(a) FROM t"), 12);
	namdb_close(db);
	await_end("a.db");
	on.sa_handler = SIG_IGN;
	sigaction(SIGCHLD, &on, NULL);
	db = start("dir:%s/a.db?idle_s=1");
	sigaction(SIGCHLD, &was, NULL);
	assert_int_equal(one(db, "SELECT max(a) FROM t"), 12);
#ifndef __SANITIZE_THREAD__ /* it ends a child of a program with threads that starts one */
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		char where[400];
		namdb *mine = NULL;
		snprintf(where, sizeof where, "dir:%s/a.db?idle_s=1", above);
		bool ok = namdb_exec(db, "SELECT 1") == NAMDB_MISUSE &&
			  namdb_open(where, &mine) == NAMDB_OK &&
			  namdb_exec(mine, "INSERT INTO t VALUES (13)") == NAMDB_OK;
		namdb_close(mine);
		_exit(ok ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(one(db, "SELECT max(a) FROM t"), 13);
#endif
	namdb_close(db);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_stay),
		cmocka_unit_test(names),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(last_handle),
		cmocka_unit_test(a_node_that_is_killed),
		cmocka_unit_test(programs_with_children),
	};
	return cmocka_run_group_tests(tests, make_above, remove_above);
}
