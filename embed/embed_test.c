/* embed_test.c -- addresses that count and those that do not, nodes that end, programs that do not
 * start. With real nodes: tests/process/test_embedded.py. */
#include "embed_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char above[] = "/tmp/namdb-embed-XXXXXX", path[64], secret[80];

static void
remove_all(const char *dir)
{
	DIR *d = opendir(dir);
	for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlinkat(dirfd(d), e->d_name, 0);
	if (d != NULL)
		closedir(d);
	rmdir(dir);
}

static int
make_above(void **state)
{
	(void)state;
	if (mkdtemp(above) == NULL)
		return -1;
	snprintf(path, sizeof path, "%s/db", above);
	snprintf(secret, sizeof secret, "%s/secret", path);
	return 0;
}

static int
remove_above(void **state)
{
	(void)state;
	remove_all(path);
	remove_all(above);
	return 0;
}

static void
fresh(void)
{
	remove_all(path);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void
put(const char *name, const char *text)
{
	char file[200];
	snprintf(file, sizeof file, "%s/%s", path, name);
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0700);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static enum emb_found
look(struct emb_node *node)
{
	memset(node, 0, sizeof *node);
	snprintf(node->path, sizeof node->path, "%s", path);
	int dir = open(path, O_RDONLY | O_DIRECTORY);
	enum emb_found found = emb_look(dir, node);
	close(dir);
	return found;
}

static void
addresses(void **state)
{
	(void)state;
	struct emb_node a, b;
	struct emb_address *first, *second;
	struct nam_err err;
	fresh();
	assert_int_equal(look(&a), EMB_NONE);
	assert_int_equal(emb_publish(&first, path, "127.0.0.1:7411", NULL, &err), NAM_OK);
	assert_int_equal(look(&a), EMB_OTHERS);
	assert_string_equal(a.address, "127.0.0.1:7411");
	assert_true(emb_serves(&a));
	emb_retract(first);
	assert_int_equal(look(&b), EMB_NONE);
	assert_false(emb_serves(&a));
	/* Its own secret, by whatever name. */
	put("secret", "s");
	assert_int_equal(emb_publish(&first, path, "[::1]:1", secret, &err), NAM_OK);
	assert_int_equal(look(&a), EMB_OURS);
	/* Another node is another one, at the same address too. */
	assert_int_equal(emb_publish(&second, path, "[::1]:1", "/etc/passwd", &err), NAM_OK);
	assert_int_equal(look(&b), EMB_OTHERS);
	assert_true(emb_serves(&b));
	assert_false(emb_serves(&a));
	assert_true(a.token != b.token);
	emb_retract(second);
	emb_retract(first);
	emb_retract(NULL);
	assert_int_equal(emb_publish(&first, "/nowhere/at/all", "x:1", NULL, &err), NAM_IO);
}

/* A file of that text, locked or not. */
static enum emb_found
judged(const char *text, bool locked)
{
	char file[200];
	struct emb_node node;
	put("address", text);
	snprintf(file, sizeof file, "%s/address", path);
	int fd = open(file, O_RDWR);
	assert_true(!locked || flock(fd, LOCK_EX | LOCK_NB) == 0);
	enum emb_found found = look(&node);
	/* A look leaves no lock behind. */
	assert_true(locked || flock(fd, LOCK_EX | LOCK_NB) == 0);
	close(fd);
	return found;
}

static void
stale_and_damaged(void **state)
{
	(void)state;
	static const char whole[] = "127.0.0.1:7411 own 0123456789abcdef\n";
	char wide[400];
	fresh();
	assert_int_equal(judged(whole, true), EMB_OURS);
	assert_int_equal(judged("127.0.0.1:7411 other 0123456789abcdef\n", true), EMB_OTHERS);
	/* That of a node that was killed. */
	assert_int_equal(judged(whole, false), EMB_NONE);
	/* Each shorter text, and other ones. */
	for (size_t n = 0; n < sizeof whole - 2; n++) {
		snprintf(wide, sizeof wide, "%.*s", (int)n, whole);
		assert_int_equal(judged(wide, true), EMB_NONE);
	}
	memset(wide, 'x', sizeof wide);
	wide[sizeof wide - 1] = 0;
	assert_int_equal(judged(wide, true), EMB_NONE);
	assert_int_equal(judged("127.0.0.1:7411 own 0123456789abcdeg\n", true), EMB_NONE);
	assert_int_equal(judged("127.0.0.1:7411 own 0123456789abcdef0\n", true), EMB_NONE);
	snprintf(wide, sizeof wide, "%0150d own 0123456789abcdef\n", 1);
	assert_int_equal(judged(wide, true), EMB_NONE);
}

/* ---- opening ------------------------------------------------------------------------------- */

/* What join does, call by call, and what it finds. */
struct scene {
	struct emb_address *address;
	unsigned calls, fails;
	bool next; /* a node comes in the place of the one that has ended */
	char seen[128];
};

static nam_status
join(void *arg, const struct emb_node *node, struct nam_err *err)
{
	struct scene *s = arg;
	snprintf(s->seen, sizeof s->seen, "%s", node->address);
	if (s->calls++ >= s->fails)
		return NAM_OK;
	emb_retract(s->address);
	s->address = NULL;
	if (s->next)
		assert_int_equal(emb_publish(&s->address, path, "127.0.0.1:2", secret, err), NAM_OK);
	return nam_fail(err, NAM_GONE, "the connection was closed");
}

static nam_status
opened(struct scene *s, const char *program, struct nam_err *err)
{
	const struct emb_config cfg = { .path = path, .program = program, .wait_ms = 3000 };
	err->text[0] = 0;
	return emb_join(&cfg, join, s, err);
}

static void
nodes_that_end(void **state)
{
	(void)state;
	struct nam_err err;
	struct scene s = { .calls = 0 };
	fresh();
	put("secret", "s");
	assert_int_equal(emb_publish(&s.address, path, "127.0.0.1:1", secret, &err), NAM_OK);
	assert_int_equal(opened(&s, "/bin/false", &err), NAM_OK);
	assert_int_equal(s.calls, 1);
	assert_string_equal(s.seen, "127.0.0.1:1");
	/* E2: it ends between the look and the join, and the next one serves. */
	s.calls = 0;
	s.fails = 3;
	s.next = true;
	assert_int_equal(opened(&s, "/bin/false", &err), NAM_OK);
	assert_int_equal(s.calls, 4);
	assert_string_equal(s.seen, "127.0.0.1:2");
	/* Or none does, and none can be started. */
	put("manifest", "m");
	s.calls = 0;
	s.fails = 1;
	s.next = false;
	assert_int_equal(opened(&s, "/bin/false", &err), NAM_IO);
	assert_int_equal(s.calls, 1);
	assert_non_null(strstr(err.text, "did not start: it said nothing"));
}

static void
programs(void **state)
{
	(void)state;
	struct nam_err err;
	struct scene s = { .calls = 0 };
	char program[100];
	fresh();
	assert_int_equal(opened(&s, "/nowhere/namdb", &err), NAM_IO);
	assert_non_null(strstr(err.text, "cannot start /nowhere/namdb: No such file"));
	/* What it says last by its name is why. */
	put("manifest", "m");
	put("program",
	    "#!/bin/sh\necho one >&2\necho 'namdb storage: no luck' >&2\necho three >&2\nexit 1\n");
	snprintf(program, sizeof program, "%s/program", path);
	assert_int_equal(opened(&s, program, &err), NAM_IO);
	assert_non_null(strstr(err.text, "did not start: no luck"));
	/* One that is killed before it serves is started again. */
	char count[300], seen[8] = "";
	snprintf(count, sizeof count, "#!/bin/sh\necho only this >&2\necho -n x >>%s/count\n", path);
	put("program", count);
	assert_int_equal(opened(&s, program, &err), NAM_IO);
	assert_non_null(strstr(err.text, "did not start: only this"));
	snprintf(count, sizeof count, "%s/count", path);
	int counted = open(count, O_RDONLY);
	assert_int_equal(read(counted, seen, sizeof seen), 3);
	close(counted);
	put("program", "#!/bin/sh\nexec sleep 100\n");
	const struct emb_config hangs = { .path = path, .program = program, .wait_ms = 200 };
	assert_int_equal(emb_join(&hangs, join, &s, &err), NAM_IO);
	assert_non_null(strstr(err.text, "is not ready yet; see "));
	assert_int_equal(s.calls, 0);
	/* A process that has the log and says nowhere where it listens. */
	put("lock", "");
	char file[100];
	snprintf(file, sizeof file, "%s/lock", path);
	int fd = open(file, O_RDWR);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(emb_join(&hangs, join, &s, &err), NAM_BUSY);
	assert_non_null(strstr(err.text, "in use by another process"));
	close(fd);
	/* One that has been at the door for too long. */
	snprintf(file, sizeof file, "%s/door", path);
	fd = open(file, O_RDWR);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(emb_join(&hangs, join, &s, &err), NAM_BUSY);
	assert_non_null(strstr(err.text, "has been opening"));
	close(fd);
}

static void
where_the_program_is(void **state)
{
	(void)state;
	char out[PATH_MAX], program[100], *was = getenv("PATH") != NULL ? strdup(getenv("PATH")) : NULL;
	struct nam_err err;
	fresh();
	setenv("NAMDB_PROGRAM", "/nowhere", 1);
	assert_int_equal(emb_program(out, NULL, &err), NAM_ABSENT);
	assert_non_null(strstr(err.text, "NAMDB_PROGRAM is /nowhere"));
	setenv("NAMDB_PROGRAM", path, 1); /* a directory */
	assert_int_equal(emb_program(out, NULL, &err), NAM_ABSENT);
	setenv("NAMDB_PROGRAM", "/bin/sh", 1);
	assert_int_equal(emb_program(out, NULL, &err), NAM_OK);
	assert_string_equal(out, "/bin/sh");
	unsetenv("NAMDB_PROGRAM");
	put("namdb", "#!/bin/sh\n");
	snprintf(program, sizeof program, "/nowhere::%s", path);
	setenv("PATH", program, 1);
	assert_int_equal(emb_program(out, NULL, &err), NAM_OK);
	snprintf(program, sizeof program, "%s/namdb", path);
	assert_string_equal(out, program);
	setenv("PATH", "/nowhere", 1);
	assert_int_equal(emb_program(out, NULL, &err), NAM_ABSENT);
	assert_non_null(strstr(err.text, "say where it is in NAMDB_PROGRAM"));
	if (was != NULL)
		setenv("PATH", was, 1);
	free(was);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(stale_and_damaged),
		cmocka_unit_test(nodes_that_end),
		cmocka_unit_test(programs),
		cmocka_unit_test(where_the_program_is),
	};
	return cmocka_run_group_tests(tests, make_above, remove_above);
}
