/* namdb_test.c -- libnamdb as a program uses it, and as a program should not. */
#include <lib/namdb.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static namdb *
start(void)
{
	namdb *db = NULL;
	if (namdb_open("memory:?size=64m", &db) != NAMDB_OK)
		fail_msg("open: %s", namdb_message(db));
	return db;
}

static void
run(namdb *db, const char *sql)
{
	if (namdb_exec(db, sql) != NAMDB_OK)
		fail_msg("%s: %s %s", sql, namdb_sqlstate(db), namdb_message(db));
}

static namdb_stmt *
prepared(namdb *db, const char *sql)
{
	namdb_stmt *st = NULL;
	if (namdb_prepare(db, sql, &st) != NAMDB_OK)
		fail_msg("%s: %s %s", sql, namdb_sqlstate(db), namdb_message(db));
	return st;
}

/* The one value a query answers. */
static int64_t
one(namdb *db, const char *sql)
{
	namdb_stmt *st = prepared(db, sql);
	assert_int_equal(namdb_step(st), NAMDB_ROW);
	int64_t n = namdb_column_int64(st, 0);
	assert_int_equal(namdb_step(st), NAMDB_DONE);
	namdb_finalize(st);
	return n;
}

static void
fails(namdb *db, int rc, const char *sqlstate)
{
	assert_int_equal(rc, NAMDB_ERROR);
	assert_string_equal(namdb_sqlstate(db), sqlstate);
	assert_true(namdb_message(db)[0] != 0);
}

static void
values_go_in_and_out(void **state)
{
	(void)state;
	namdb *db = start();
	run(db, "CREATE TABLE t (id bigint PRIMARY KEY, name text, x double precision, n numeric(10,2), b "
		"boolean, d date)");
	namdb_stmt *ins = prepared(db, "INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6)");
	assert_int_equal(namdb_param_count(ins), 6);
	assert_int_equal(namdb_column_count(ins), 0);
	for (int64_t i = 0; i < 3000; i++) {
		char name[32];
		snprintf(name, sizeof name, "row %lld", (long long)i);
		assert_int_equal(namdb_bind_int64(ins, 1, i), NAMDB_OK);
		assert_int_equal(namdb_bind_text(ins, 2, i % 7 ? name : NULL, -1), NAMDB_OK);
		assert_int_equal(namdb_bind_double(ins, 3, (double)i / 8), NAMDB_OK);
		assert_int_equal(namdb_bind_text(ins, 4, "12.345xxx", 6), NAMDB_OK);
		assert_int_equal(namdb_bind_bool(ins, 5, i & 1), NAMDB_OK);
		assert_int_equal(namdb_bind_text(ins, 6, "2024-02-29", -1), NAMDB_OK);
		assert_int_equal(namdb_step(ins), NAMDB_DONE);
		assert_int_equal(namdb_changes(db), 1);
	}
	namdb_finalize(ins);
	namdb_stmt *q = prepared(db, "SELECT id, name, x, n, b, d FROM t WHERE id >= $1 ORDER BY id");
	assert_string_equal(namdb_column_name(q, 0), "id");
	assert_string_equal(namdb_column_typename(q, 0), "bigint");
	for (int round = 0; round < 2; round++) {
		int64_t want = 100, rows = 0;
		namdb_bind_int64(q, 1, want);
		int rc;
		while ((rc = namdb_step(q)) == NAMDB_ROW) {
			char name[32];
			size_t len;
			assert_int_equal(namdb_column_int64(q, 0), want);
			assert_int_equal(namdb_column_kind(q, 0), NAMDB_INT64);
			snprintf(name, sizeof name, "row %lld", (long long)want);
			if (want % 7) {
				assert_string_equal(namdb_column_text(q, 1), name);
				const char *bytes = namdb_column_bytes(q, 1, &len);
				assert_int_equal(len, strlen(name));
				assert_memory_equal(bytes, name, len);
			} else {
				assert_int_equal(namdb_column_kind(q, 1), NAMDB_NULL);
				assert_null(namdb_column_text(q, 1));
			}
			assert_true(namdb_column_double(q, 2) == (double)want / 8);
			assert_string_equal(namdb_column_text(q, 3), "12.35");
			assert_true(namdb_column_double(q, 3) > 12.34 && namdb_column_double(q, 3) < 12.36);
			assert_int_equal(namdb_column_int64(q, 3), 12);
			assert_int_equal(namdb_column_int64(q, 4), want & 1);
			assert_string_equal(namdb_column_text(q, 5), "2024-02-29");
			assert_int_equal(namdb_column_kind(q, 5), NAMDB_TEXT);
			want++;
			rows++;
		}
		assert_int_equal(rc, NAMDB_DONE);
		assert_int_equal(rows, 2900);
		assert_int_equal(namdb_changes(db), 2900);
	}
	namdb_finalize(q);
	struct namdb_counts c;
	assert_int_equal(namdb_counts(db, &c), NAMDB_OK);
	assert_true(c.verbs > 3000 && c.bytes_out > 100000);
	namdb_close(db);
}

/* A query goes on while others run in between, and sees what it saw. */
static void
statements_side_by_side(void **state)
{
	(void)state;
	namdb *db = start();
	run(db, "CREATE TABLE t (id integer PRIMARY KEY, v integer)");
	namdb_batch *b;
	assert_int_equal(namdb_batch_begin(db, "t", "id, v", &b), NAMDB_OK);
	for (int i = 0; i < 5000; i++) {
		namdb_batch_int64(b, i);
		namdb_batch_int64(b, 1);
		assert_int_equal(namdb_batch_row(b), NAMDB_OK);
	}
	assert_int_equal(namdb_batch_end(b), NAMDB_OK);
	namdb_stmt *q = prepared(db, "SELECT id, v FROM t ORDER BY id");
	namdb_stmt *u = prepared(db, "UPDATE t SET v = v + 1 WHERE id = $1");
	int64_t n = 0;
	while (namdb_step(q) == NAMDB_ROW) {
		assert_int_equal(namdb_column_int64(q, 0), n);
		assert_int_equal(namdb_column_int64(q, 1), 1);
		if (n % 10 == 0) {
			namdb_bind_int64(u, 1, n);
			assert_int_equal(namdb_step(u), NAMDB_DONE);
		}
		n++;
	}
	assert_int_equal(n, 5000);
	assert_int_equal(one(db, "SELECT sum(v) FROM t"), 5500);
	/* Cut short, by reset, by a second run, by finalize; in a block it stays usable. */
	assert_int_equal(namdb_step(q), NAMDB_ROW);
	assert_int_equal(namdb_reset(q), NAMDB_OK);
	assert_int_equal(namdb_step(q), NAMDB_ROW);
	assert_int_equal(namdb_column_int64(q, 0), 0);
	assert_int_equal(namdb_begin(db), NAMDB_OK);
	assert_int_equal(namdb_reset(q), NAMDB_OK);
	assert_int_equal(namdb_step(q), NAMDB_ROW);
	assert_int_equal(namdb_reset(q), NAMDB_OK);
	assert_int_equal(namdb_state(db), 'T');
	run(db, "DELETE FROM t WHERE id < 10");
	assert_int_equal(namdb_rollback(db), NAMDB_OK);
	assert_int_equal(namdb_step(q), NAMDB_ROW);
	namdb_finalize(q);
	assert_int_equal(one(db, "SELECT count(*) FROM t"), 5000);
	namdb_finalize(u);
	namdb_close(db);
}

static void
errors_say_what(void **state)
{
	(void)state;
	namdb *db = start();
	namdb_stmt *st = NULL;
	fails(db, namdb_prepare(db, "SELECT nosuch FROM nowhere", &st), "42P01");
	assert_int_equal(namdb_position(db), 20);
	assert_null(st);
	fails(db, namdb_exec(db, "SELEC 1"), "42601");
	fails(db, namdb_prepare(db, "SELECT 1; SELECT 2", &st), "42601");
	run(db, "CREATE TABLE t (id integer PRIMARY KEY)");
	assert_string_equal(namdb_sqlstate(db), "00000");
	st = prepared(db, "INSERT INTO t VALUES ($1)");
	namdb_bind_text(st, 1, "seven", -1);
	fails(db, namdb_step(st), "22P02");
	namdb_bind_int64(st, 1, INT64_C(1) << 40);
	fails(db, namdb_step(st), "22003");
	namdb_bind_int64(st, 1, 1);
	assert_int_equal(namdb_step(st), NAMDB_DONE);
	fails(db, namdb_step(st), "23505");
	namdb_bind_null(st, 1);
	fails(db, namdb_step(st), "23502");
	namdb_begin(db);
	fails(db, namdb_step(st), "23502");
	assert_int_equal(namdb_state(db), 'E');
	fails(db, namdb_exec(db, "SELECT 1"), "25P02");
	assert_int_equal(namdb_rollback(db), NAMDB_OK);
	namdb_finalize(st);
	/* A batch is all or nothing. */
	namdb_batch *b;
	assert_int_equal(namdb_batch_begin(db, "t", NULL, &b), NAMDB_OK);
	namdb_batch_int64(b, 5);
	namdb_batch_row(b);
	namdb_batch_text(b, "x\ty\\\n", -1);
	namdb_batch_row(b);
	fails(db, namdb_batch_end(b), "22P02");
	assert_int_equal(namdb_batch_begin(db, "t", NULL, &b), NAMDB_OK);
	namdb_batch_int64(b, 6);
	fails(db, namdb_batch_end(b), "22P04");
	assert_int_equal(namdb_batch_begin(db, "nowhere", NULL, &b), NAMDB_OK);
	fails(db, namdb_batch_end(b), "42P01");
	assert_int_equal(namdb_batch_begin(db, "t", NULL, &b), NAMDB_OK);
	namdb_batch_abort(b);
	assert_int_equal(one(db, "SELECT count(*) FROM t"), 1);
	namdb_close(db);
}

/* A handle of a role has that role's rights; a name that is no role opens none. */
static void
of_a_role(void **state)
{
	(void)state;
	namdb *db, *low, *none;
	assert_int_equal(namdb_open("memory:roles?size=64m", &db), NAMDB_OK);
	run(db, "CREATE ROLE low LOGIN; CREATE ROLE shut; CREATE TABLE t (a integer)");
	assert_int_equal(namdb_open("memory:roles?user=low", &low), NAMDB_OK);
	assert_int_equal(namdb_exec(low, "SELECT a FROM t"), NAMDB_ERROR);
	assert_string_equal(namdb_sqlstate(low), "42501");
	run(db, "DROP ROLE low");
	assert_int_equal(namdb_exec(low, "CREATE ROLE more SUPERUSER"), NAMDB_ERROR);
	assert_string_equal(namdb_sqlstate(low), "42501");
	static const char *const wrong[] = { "memory:roles?user=low", "memory:roles?user=shut",
		"memory:roles?user=public", NULL };
	for (unsigned i = 0; wrong[i] != NULL; i++) {
		assert_int_equal(namdb_open(wrong[i], &none), NAMDB_ERROR);
		assert_string_equal(namdb_sqlstate(none), "28000");
		namdb_close(none);
	}
	namdb_close(low);
	namdb_close(db);
}

static void
places(void **state)
{
	(void)state;
	static const char *const wrong[] = { "", "nowhere", "memory:?size=tiny", "memory:?colour=red",
		"memory:?size", "memory:?fabric=tcp", "127.0.0.1:1?size=64m", "127.0.0.1:1?fabric=pigeon",
		NULL };
	namdb *db, *other;
	for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(namdb_open(wrong[i], &db), NAMDB_ERROR);
		assert_string_equal(namdb_sqlstate(db), "08001");
		assert_true(namdb_message(db)[0] != 0);
		assert_int_equal(namdb_exec(db, "SELECT 1"), NAMDB_MISUSE);
		namdb_close(db);
	}
	assert_int_equal(namdb_open("127.0.0.1:1?connect_ms=50", &db), NAMDB_ERROR);
	assert_true(strncmp(namdb_sqlstate(db), "08", 2) == 0);
	namdb_close(db);
	/* A name is shared, no name is not. */
	assert_int_equal(namdb_open("memory:here?size=64m", &db), NAMDB_OK);
	assert_int_equal(namdb_open("memory:here?size=64m", &other), NAMDB_OK);
	run(db, "CREATE TABLE t (a integer); INSERT INTO t VALUES (1), (2)");
	assert_int_equal(one(other, "SELECT count(*) FROM t"), 2);
	namdb_close(db);
	assert_int_equal(one(other, "SELECT count(*) FROM t"), 2);
	/* By the name, whatever else is said; another name is another place. */
	assert_int_equal(namdb_open("memory:here", &db), NAMDB_OK);
	assert_int_equal(one(db, "SELECT count(*) FROM t"), 2);
	namdb_close(db);
	assert_int_equal(namdb_open("namdb://memory:here?size=32m&workers=2", &db), NAMDB_OK);
	assert_int_equal(one(db, "SELECT count(*) FROM t"), 2);
	namdb_close(db);
	assert_int_equal(namdb_open("memory:her?size=64m", &db), NAMDB_OK);
	assert_int_equal(namdb_exec(db, "SELECT * FROM t"), NAMDB_ERROR);
	namdb_close(db);
	namdb_close(other);
	/* When the last handle is closed, it is gone. */
	assert_int_equal(namdb_open("memory:here?size=64m", &db), NAMDB_OK);
	assert_int_equal(namdb_exec(db, "SELECT * FROM t"), NAMDB_ERROR);
	assert_string_equal(namdb_sqlstate(db), "42P01");
	namdb_close(db);
	db = start();
	assert_int_equal(namdb_exec(db, "SELECT * FROM t"), NAMDB_ERROR);
	namdb_close(db);
}

/* Two clusters in one process give their types the same ids. */
static void
enums_of_two_clusters(void **state)
{
	(void)state;
	static const char *const labels[2][2] = { { "sad", "happy" }, { "red", "blue" } };
	namdb *db[2] = { start(), start() };
	for (unsigned i = 0; i < 2; i++) {
		char sql[200];
		snprintf(sql, sizeof sql,
		    "CREATE TYPE kind AS ENUM ('%s', '%s'); CREATE TABLE t (k kind, ks kind[])", labels[i][0],
		    labels[i][1]);
		run(db[i], sql);
	}
	for (unsigned i = 0; i < 2; i++) {
		namdb_stmt *st;
		/* by itself, ARRAY[$1] is an array of texts */
		fails(db[i], namdb_prepare(db[i], "INSERT INTO t VALUES ($1, ARRAY[$1])", &st), "42P08");
		st = prepared(db[i], "INSERT INTO t VALUES ($1, ARRAY[$1]::kind[]) RETURNING k");
		assert_int_equal(namdb_bind_text(st, 1, labels[i][1], -1), NAMDB_OK);
		assert_int_equal(namdb_step(st), NAMDB_ROW);
		assert_string_equal(namdb_column_text(st, 0), labels[i][1]);
		assert_int_equal(namdb_step(st), NAMDB_DONE);
		assert_int_equal(namdb_bind_text(st, 1, labels[1 - i][1], -1), NAMDB_OK);
		fails(db[i], namdb_step(st), "22P02");
		namdb_finalize(st);
		run(db[i], i == 0 ? "ALTER TYPE kind ADD VALUE 'glad'"
				  : "ALTER TYPE kind ADD VALUE 'green' BEFORE 'red'");
	}
	for (unsigned i = 0; i < 2; i++) {
		namdb_stmt *st = prepared(db[i], "SELECT k, ks, enum_range(k) FROM t");
		assert_int_equal(namdb_step(st), NAMDB_ROW);
		assert_string_equal(namdb_column_text(st, 0), labels[i][1]);
		assert_string_equal(namdb_column_text(st, 1), i == 0 ? "{happy}" : "{blue}");
		assert_string_equal(
		    namdb_column_text(st, 2), i == 0 ? "{sad,happy,glad}" : "{green,red,blue}");
		namdb_finalize(st);
		assert_int_equal(one(db[i], "SELECT count(*) FROM pg_enum"), 3);
	}
	namdb_close(db[0]);
	run(db[1], "INSERT INTO t VALUES ('green')");
	assert_int_equal(one(db[1], "SELECT count(*) FROM t WHERE k < 'red'"), 1);
	namdb_close(db[1]);
}

static void
misuse(void **state)
{
	(void)state;
	namdb_stmt *st = NULL;
	namdb_batch *b = NULL;
	assert_int_equal(namdb_open("memory:", NULL), NAMDB_MISUSE);
	assert_int_equal(namdb_exec(NULL, "SELECT 1"), NAMDB_MISUSE);
	assert_int_equal(namdb_prepare(NULL, "SELECT 1", &st), NAMDB_MISUSE);
	assert_int_equal(namdb_step(NULL), NAMDB_MISUSE);
	assert_int_equal(namdb_reset(NULL), NAMDB_MISUSE);
	assert_int_equal(namdb_bind_null(NULL, 1), NAMDB_MISUSE);
	assert_int_equal(namdb_batch_row(NULL), NAMDB_MISUSE);
	assert_int_equal(namdb_batch_end(NULL), NAMDB_MISUSE);
	assert_null(namdb_column_name(NULL, 0));
	namdb_finalize(NULL);
	namdb_close(NULL);
	namdb_cancel(NULL);
	namdb *db = start();
	st = prepared(db, "SELECT $1::integer AS a");
	namdb_finalize(st);
	assert_int_equal(namdb_prepare(db, NULL, &st), NAMDB_MISUSE);
	st = prepared(db, "SELECT $1::integer AS a");
	assert_int_equal(namdb_bind_int64(st, 0, 1), NAMDB_MISUSE);
	assert_int_equal(namdb_bind_int64(st, 2, 1), NAMDB_MISUSE);
	assert_int_equal(namdb_column_int64(st, 0), 0); /* no row yet */
	assert_int_equal(namdb_bind_int64(st, 1, 41), NAMDB_OK);
	assert_int_equal(namdb_step(st), NAMDB_ROW);
	assert_int_equal(namdb_bind_int64(st, 1, 42), NAMDB_MISUSE); /* it is running */
	assert_int_equal(namdb_column_int64(st, 0), 41);
	assert_int_equal(namdb_column_int64(st, 1), 0);
	assert_null(namdb_column_text(st, 7));
	assert_int_equal(namdb_batch_begin(db, "t", NULL, &b), NAMDB_OK);
	namdb_close(db); /* with a running statement, another one, and a batch */
	assert_int_equal(namdb_step(st), NAMDB_MISUSE);
	assert_int_equal(namdb_bind_int64(st, 1, 1), NAMDB_MISUSE);
	assert_null(namdb_column_text(st, 0));
	assert_int_equal(namdb_batch_int64(b, 1), NAMDB_MISUSE);
	assert_int_equal(namdb_batch_end(b), NAMDB_MISUSE);
	assert_int_equal(namdb_exec(db, "SELECT 1"), NAMDB_MISUSE);
	namdb_finalize(st);
}

static namdb *shared;
static atomic_int inside, refused;

static void *
intruder(void *arg)
{
	(void)arg;
	while (!atomic_load(&inside))
		usleep(100);
	for (int i = 0; i < 50; i++) {
		atomic_fetch_add(&refused, namdb_exec(shared, "SELECT 1") == NAMDB_MISUSE);
		usleep(200);
	}
	namdb_cancel(shared);
	return NULL;
}

static int
seen(void *arg, uint64_t bytes, uint64_t total, uint64_t rows)
{
	(void)arg, (void)bytes, (void)total, (void)rows;
	return 0;
}

/* A second thread is turned away while a long query runs, and may cancel it. */
static void
two_threads(void **state)
{
	(void)state;
	pthread_t t;
	shared = start();
	run(shared, "CREATE TABLE t (a integer)");
	assert_int_equal(namdb_progress(shared, seen, NULL), NAMDB_OK);
	namdb_batch *b;
	assert_int_equal(namdb_batch_begin(shared, "t", NULL, &b), NAMDB_OK);
	for (int i = 0; i < 3000; i++) {
		namdb_batch_int64(b, i);
		namdb_batch_row(b);
	}
	assert_int_equal(namdb_batch_end(b), NAMDB_OK);
	assert_int_equal(pthread_create(&t, NULL, intruder, NULL), 0);
	atomic_store(&inside, 1);
	int rc = namdb_exec(shared, "SELECT count(*) FROM t x, t y, t z WHERE x.a + y.a + z.a = -1");
	pthread_join(t, NULL);
	fails(shared, rc, "57014");
	assert_true(refused > 0);
	assert_int_equal(one(shared, "SELECT count(*) FROM t"), 3000);
	namdb_close(shared);
}

/* As text, in and out. */
static void
arrays(void **state)
{
	(void)state;
	namdb *db = start();
	namdb_stmt *st;
	run(db, "CREATE TABLE a (id integer PRIMARY KEY, tags text[], n numeric(4,1)[])");
	assert_int_equal(namdb_prepare(db, "INSERT INTO a VALUES ($1, $2, $3)", &st), NAMDB_OK);
	static const char *const in[][2] = { { "{a,\"b c\",NULL}", "{1,2.25}" }, { "{}", NULL },
		{ "{\"q\\\"r\"}", "{NULL}" } };
	for (unsigned k = 0; k < 3; k++) {
		namdb_bind_int64(st, 1, k);
		namdb_bind_text(st, 2, in[k][0], -1);
		if (in[k][1] != NULL)
			namdb_bind_text(st, 3, in[k][1], -1);
		else
			namdb_bind_null(st, 3);
		assert_int_equal(namdb_step(st), NAMDB_DONE);
	}
	namdb_bind_text(st, 2, "{a", -1);
	fails(db, namdb_step(st), "22P02");
	namdb_finalize(st);
	assert_int_equal(
	    namdb_prepare(db, "SELECT id, tags, n, tags[1] FROM a WHERE id = ANY ($1) ORDER BY id", &st),
	    NAMDB_OK);
	assert_int_equal(namdb_param_count(st), 1);
	static const char *const out[][3] = { { "{a,\"b c\",NULL}", "{1.0,2.3}", "a" },
		{ "{\"q\\\"r\"}", "{NULL}", "q\"r" } };
	for (unsigned run_ = 0; run_ < 2; run_++) {
		namdb_bind_text(st, 1, run_ ? "{2,0,2,7,NULL}" : "{9}", -1);
		for (unsigned k = 0; k < 2 && run_; k++) {
			assert_int_equal(namdb_step(st), NAMDB_ROW);
			assert_int_equal(namdb_column_int64(st, 0), 2 * k);
			assert_int_equal(namdb_column_kind(st, 1), NAMDB_TEXT);
			for (unsigned c = 0; c < 3; c++)
				assert_string_equal(namdb_column_text(st, c + 1), out[k][c]);
		}
		assert_int_equal(namdb_step(st), NAMDB_DONE);
	}
	assert_string_equal(namdb_column_typename(st, 1), "text[]");
	assert_string_equal(namdb_column_typename(st, 2), "numeric[]");
	namdb_bind_null(st, 1);
	assert_int_equal(namdb_step(st), NAMDB_DONE);
	namdb_bind_int64(st, 1, 5);
	fails(db, namdb_step(st), "22P02");
	namdb_finalize(st);
	namdb_batch *b;
	assert_int_equal(namdb_batch_begin(db, "a", NULL, &b), NAMDB_OK);
	namdb_batch_int64(b, 7);
	namdb_batch_text(b, "{x,y}", -1);
	namdb_batch_text(b, "{5}", -1);
	namdb_batch_row(b);
	assert_int_equal(namdb_batch_end(b), NAMDB_OK);
	assert_int_equal(one(db, "SELECT cardinality(tags) FROM a WHERE n = '{5}'"), 2);
	namdb_close(db);
}

/* A child has none of the threads that its parent's handles need: its calls say so, and it opens
 * its own. */
static void
forked(void **state)
{
	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* its child could start no thread */
#endif
	namdb *db, *mine = NULL;
	namdb_stmt *st;
	int status = 0;
	assert_int_equal(namdb_open("memory:", &db), NAMDB_OK);
	assert_int_equal(namdb_exec(db, "CREATE TABLE f (k int); INSERT INTO f VALUES (1), (2)"), NAMDB_OK);
	assert_int_equal(namdb_prepare(db, "SELECT k FROM f ORDER BY k", &st), NAMDB_OK);
	assert_int_equal(namdb_step(st), NAMDB_ROW);
	pid_t pid = fork();
	if (pid == 0) {
		int ok = namdb_exec(db, "DROP TABLE f") == NAMDB_MISUSE && namdb_step(st) == NAMDB_MISUSE &&
			 namdb_on_end(db, NULL, NULL) == NAMDB_MISUSE &&
			 strcmp(namdb_sqlstate(db), "08003") == 0 &&
			 strstr(namdb_message(db), "fork") != NULL;
		namdb_finalize(st);
		namdb_close(db);
		ok = ok && namdb_open("memory:", &mine) == NAMDB_OK &&
		     namdb_exec(mine, "CREATE TABLE f (k int)") == NAMDB_OK;
		namdb_close(mine);
		_exit(ok ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(namdb_step(st), NAMDB_ROW);
	assert_int_equal(namdb_column_int64(st, 0), 2);
	assert_int_equal(namdb_step(st), NAMDB_DONE);
	namdb_finalize(st);
	namdb_close(db);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_go_in_and_out),
		cmocka_unit_test(statements_side_by_side),
		cmocka_unit_test(errors_say_what),
		cmocka_unit_test(arrays),
		cmocka_unit_test(of_a_role),
		cmocka_unit_test(places),
		cmocka_unit_test(enums_of_two_clusters),
		cmocka_unit_test(misuse),
		cmocka_unit_test(two_threads),
		cmocka_unit_test(forked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
