/* disk_test.c -- the real directory: what it refuses, and a log in it that two threads use. */
#include <base/assert.h>
#include <wal/wal.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char above[] = "/tmp/namdb-wal-XXXXXX", path[64];

static int
make_above(void **state)
{
	(void)state;
	if (mkdtemp(above) == NULL)
		return -1;
	snprintf(path, sizeof path, "%s/log", above);
	return 0;
}

static bool
remove_name(void *arg, const char *name)
{
	char file[200];
	snprintf(file, sizeof file, "%s/%s", (const char *)arg, name);
	unlink(file);
	return true;
}

static int
remove_above(void **state)
{
	(void)state;
	struct wal_dir *d;
	struct nam_err err;
	if (wal_disk_open(&d, path, &err) == NAM_OK) {
		d->ops->list(d, remove_name, path, &err);
		wal_disk_close(d);
	}
	rmdir(path);
	return rmdir(above);
}

static struct wal_dir *
open_dir(void)
{
	struct wal_dir *d;
	struct nam_err err;
	if (wal_disk_open(&d, path, &err) != NAM_OK)
		fail_msg("%s", err.text);
	return d;
}

static bool
count_name(void *arg, const char *name)
{
	(void)name;
	return ++*(unsigned *)arg < 100;
}

static void
files(void **state)
{
	(void)state;
	struct wal_dir *d = open_dir();
	struct wal_file *f;
	struct nam_err err;
	struct stat s;
	char got[16], file[100];
	uint64_t size;
	uint32_t n;
	unsigned names = 0;
	assert_int_equal(stat(path, &s), 0);
	assert_int_equal(s.st_mode & 0777, 0700);
	assert_int_equal(d->ops->open(d, "a", false, &f, &err), NAM_ABSENT);
	assert_non_null(strstr(err.text, "/log/a"));
	assert_int_equal(d->ops->open(d, "a", true, &f, &err), NAM_OK);
	assert_int_equal(d->ops->reserve(d, f, 1000000, &err), NAM_OK);
	assert_int_equal(d->ops->size(d, f, &size, &err), NAM_OK);
	assert_int_equal(size, 1000000);
	assert_int_equal(d->ops->reserve(d, f, 5000, &err), NAM_OK);
	snprintf(file, sizeof file, "%s/a", path);
	assert_int_equal(stat(file, &s), 0);
	assert_int_equal(s.st_size, 1000000);
	assert_true(s.st_blocks * 512 >= 1000000);
	assert_int_equal(d->ops->write(d, f, 999996, "12345678", 8, &err), NAM_OK);
	assert_int_equal(d->ops->read(d, f, 999992, got, 16, &n, &err), NAM_OK);
	assert_int_equal(n, 12);
	assert_memory_equal(got, "\0\0\0\00012345678", 12);
	assert_int_equal(d->ops->sync(d, f, &err), NAM_OK);
	d->ops->close(d, f);
	assert_int_equal(d->ops->rename(d, "a", "b", &err), NAM_OK);
	assert_int_equal(d->ops->rename(d, "a", "b", &err), NAM_ABSENT);
	assert_int_equal(d->ops->list(d, count_name, &names, &err), NAM_OK);
	assert_int_equal(names, 2); /* lock, b */
	assert_int_equal(d->ops->remove(d, "b", &err), NAM_OK);
	assert_int_equal(d->ops->remove(d, "b", &err), NAM_ABSENT);
	assert_int_equal(d->ops->sync_dir(d, &err), NAM_OK);
	assert_true(wal_disk_free(d) > 0);
	wal_disk_close(d);
}

/* What a process of that user is told. */
static nam_status
told(uid_t user, const char *where)
{
	struct wal_dir *d;
	struct nam_err err;
	int rc = 0;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		if (user != 0 && setuid(user) != 0)
			_exit(99);
		nam_status st = wal_disk_open(&d, where, &err);
		if (st != NAM_OK && strstr(err.text, where) == NULL)
			_exit(98);
		_exit((int)st);
	}
	assert_int_equal(waitpid(child, &rc, 0), child);
	assert_true(WIFEXITED(rc));
	return (nam_status)WEXITSTATUS(rc);
}

static void
what_it_refuses(void **state)
{
	(void)state;
	struct wal_dir *d = open_dir(), *r, *r2;
	struct wal_file *f;
	struct nam_err err;
	char other[100];
	assert_int_equal(told(0, path), NAM_BUSY);
	assert_int_equal(wal_disk_open_to_read(&r, path, &err), NAM_BUSY);
	wal_disk_close(d);
	/* Readers are side by side, and keep a writer out. */
	assert_int_equal(wal_disk_open_to_read(&r, path, &err), NAM_OK);
	assert_int_equal(wal_disk_open_to_read(&r2, path, &err), NAM_OK);
	assert_int_equal(told(0, path), NAM_BUSY);
	assert_int_equal(r->ops->open(r, "made", true, &f, &err), NAM_IO);
	wal_disk_close(r2);
	wal_disk_close(r);
	snprintf(other, sizeof other, "%s/none", above);
	assert_int_equal(wal_disk_open_to_read(&r, other, &err), NAM_IO);
	assert_non_null(strstr(err.text, other));
	assert_int_equal(told(0, path), NAM_OK);
	snprintf(other, sizeof other, "%s/none/log", above);
	assert_int_equal(told(0, other), NAM_IO);
	snprintf(other, sizeof other, "%s/lock", path);
	assert_int_equal(told(0, other), NAM_INVALID);
	if (geteuid() == 0) { /* root may write anywhere: ask as another user */
		assert_int_equal(told(65534, path), NAM_REFUSED);
		assert_int_equal(chmod(above, 0755), 0);
		assert_int_equal(chmod(path, 0755), 0);
		assert_int_equal(told(65534, path), NAM_REFUSED);
		assert_int_equal(chmod(path, 0700), 0);
	} else {
		assert_int_equal(chmod(path, 0500), 0);
		assert_int_equal(told(0, path), NAM_REFUSED);
		assert_int_equal(chmod(path, 0700), 0);
	}
}

static atomic_bool stop;

static void *
flusher(void *arg)
{
	static const struct timespec nap = { .tv_nsec = 200000 };
	while (!atomic_load(&stop))
		if (!wal_step(arg))
			nanosleep(&nap, NULL);
	return NULL;
}

static void
nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

/* Fills a life from this thread while the other one flushes; waits until it is published. */
static uint64_t
fill(struct wal *w, uint32_t records)
{
	uint32_t life, number[50];
	uint64_t end = 0;
	struct wal_state s;
	nam_status st;
	while ((st = wal_begin(w, 5, &life)) == NAM_BUSY)
		nap();
	assert_int_equal(st, NAM_OK);
	for (uint32_t i = 0; i < records; i++) {
		for (unsigned k = 0; k < 50; k++)
			number[k] = i * (k + life);
		while ((st = wal_append(w, life, number, 4 + i % 50 * 4, false, &end)) == NAM_BUSY)
			nap();
		assert_int_equal(st, NAM_OK);
	}
	assert_int_equal(wal_publish(w, life), NAM_OK);
	do {
		nap();
		wal_state(w, &s);
		assert_int_equal(s.condition, WAL_WELL);
	} while (s.published != life);
	assert_int_equal(s.flushed, end);
	assert_int_equal(s.received, end);
	return end;
}

static void
two_threads(void **state)
{
	(void)state;
	enum { RECORDS = 30000 };
	struct wal_dir *d = open_dir();
	struct wal_config cfg = { .dir = d, .node = 7, .segment_bytes = 1 << 20, .buffer_bytes = 1 << 17 };
	static char out[100000];
	struct wal_state s;
	struct wal *w;
	struct nam_err err;
	pthread_t thread;
	uint64_t end, position = 0, next;
	uint32_t got, i = 0;
	assert_int_equal(wal_open(&w, &cfg, &err), NAM_OK);
	pthread_create(&thread, NULL, flusher, w);
	fill(w, RECORDS / 4);
	end = fill(w, RECORDS);
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	wal_state(w, &s);
	printf("%llu records in %llu blocks, %llu bytes of %llu\n", (unsigned long long)s.records,
	    (unsigned long long)s.blocks, (unsigned long long)s.stored, (unsigned long long)s.raw);
	wal_close(w);
	cfg.node = 8;
	assert_int_equal(wal_open(&w, &cfg, &err), NAM_REFUSED);
	cfg.node = 7;
	wal_disk_close(d);
	cfg.dir = d = open_dir();
	assert_int_equal(wal_open(&w, &cfg, &err), NAM_OK);
	wal_state(w, &s);
	assert_int_equal(s.published, 2);
	assert_int_equal(s.end, end);
	while (wal_read(w, position, out, sizeof out, &got, &next, &err) == NAM_OK && got != 0) {
		for (uint32_t at = 0; at < got; i++) {
			uint32_t len = 4 + i % 50 * 4, seen;
			memcpy(&seen, out + at, 4);
			assert_int_equal(seen, len);
			for (uint32_t k = 0; k < len / 4; k++) {
				memcpy(&seen, out + at + 8 + k * 4, 4);
				NAM_ASSERT(seen == i * (k + 2));
			}
			at += 8 + (len + 7) / 8 * 8;
		}
		position = next;
	}
	assert_int_equal(i, RECORDS);
	assert_int_equal(position, end);
	wal_close(w);
	wal_disk_close(d);
}

/* The life is read, and its begin cut off, while the other thread flushes it and removes segments.
 */
static void
read_while_it_is_flushed(void **state)
{
	(void)state;
	enum { RECORDS = 20000 };
	struct wal_dir *d = open_dir();
	const struct wal_config cfg = {
		.dir = d, .node = 7, .segment_bytes = 1 << 18, .buffer_bytes = 1 << 17
	};
	static char out[30000];
	struct wal *w;
	struct nam_err err;
	struct wal_state s = { .published = 0 };
	pthread_t thread;
	uint64_t end = 0, position = 0, next;
	uint32_t life, got, read = 0, word[50] = { 0 };
	assert_int_equal(wal_open(&w, &cfg, &err), NAM_OK);
	atomic_store(&stop, false);
	pthread_create(&thread, NULL, flusher, w);
	while (wal_begin(w, 5, &life) == NAM_BUSY)
		nap();
	assert_int_equal(wal_publish(w, life), NAM_OK);
	while (s.published != life) {
		nap();
		wal_state(w, &s);
	}
	for (uint32_t i = 0; read < RECORDS;) {
		if (i < RECORDS) {
			word[0] = i;
			nam_status st = wal_append(w, life, word, 4 + i % 50 * 4, false, &end);
			assert_true(st == NAM_OK || st == NAM_BUSY);
			i += st == NAM_OK;
		}
		if (i % 37 != 0 && i < RECORDS)
			continue;
		if (wal_read_live(w, life, position, out, sizeof out, &got, &next, &err) != NAM_OK)
			fail_msg("%s", err.text);
		for (uint32_t at = 0; at < got; read++) {
			uint32_t len = 4 + read % 50 * 4, seen;
			memcpy(&seen, out + at, 4);
			NAM_ASSERT(seen == len);
			memcpy(&seen, out + at + 8, 4);
			NAM_ASSERT(seen == read);
			at += 8 + (len + 7) / 8 * 8;
		}
		position = next;
		if (read % 5 == 0)
			assert_int_equal(wal_cut(w, life, position), NAM_OK);
	}
	assert_int_equal(position, end);
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	wal_close(w);
	wal_disk_close(d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files),
		cmocka_unit_test(what_it_refuses),
		cmocka_unit_test(two_threads),
		cmocka_unit_test(read_while_it_is_flushed),
	};
	return cmocka_run_group_tests(tests, make_above, remove_above);
}
