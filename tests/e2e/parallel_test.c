/*
 * parallel_test.c -- long queries that the workers of a process share: answers are those of one
 * worker, whichever worker takes which part, beside writers, and after errors, cancels and full
 * memory.
 *
 * It is also run with helpers that leave without an output (SQL_GATHER_LEAVES), and with a broken
 * twin whose records count twice (SQL_STREAM_TWICE), which it must notice.
 */
#include "embedded.h"

#include <base/rounds.h>

#include <pthread.h>
#include <unistd.h>

enum { WORKERS = 3, ROWS = 30000 };
#define TRIES nam_rounds(40, 20, 4)

static struct embedded home;

/* A session that all workers help. */
static void
open_helped(struct test_client *t, unsigned worker)
{
	test_client_open(t, &home, worker);
	ask(t, "set namdb.parallel = 0");
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The rows of an answer in order, and its tag. In memory of malloc. */
static char *
in_order(const char *answer)
{
	char *text = strdup(answer), *out = calloc(1, strlen(answer) + 2), *row[4096];
	unsigned n = 0;
	for (char *at = text, *end; (end = strchr(at, ';')) != NULL; at = end + 1) {
		*end = 0;
		if (n < 4096)
			row[n++] = at;
	}
	qsort(row, n, sizeof row[0], by_text);
	for (unsigned i = 0; i < n; i++) {
		strcat(out, row[i]);
		strcat(out, ";");
	}
	free(text);
	return out;
}

static void
make_tables(struct test_client *t)
{
	static const char *const text[] = { "create table big (k int primary key, g int, v numeric(12,2), f "
					    "double precision, t text, d date, "
					    "b boolean)",
		"insert into big select i, case when i % 11 = 0 then null else i % 7 end, i * 0.25, i * 0.5, "
		"'text ' || (i % 100), date '2020-01-01' + (i % 400), i % 3 = 0 from generate_series(1, "
		"30000) i",
		"create table small (id int primary key, name text)",
		"insert into small select i, 'name ' || i from generate_series(0, 4) i",
		"create table one (id int primary key)", "insert into one values (1)",
		"create table none (id int primary key, x int)", "analyze big", "analyze small",
		"analyze none" };
	for (unsigned i = 0; i < sizeof text / sizeof *text; i++)
		if (strncmp(ask(t, text[i]), "ERROR", 5) == 0)
			fail_msg("%s: %s", text[i], t->text);
}

static const char *const query[] = {
	"select count(*) from big",
	"select count(*), count(g), sum(k), sum(v), avg(v), min(t), max(t), min(d), max(f), min(v) from big",
	"select g, count(*), sum(v), avg(k), min(t), bool_and(b), bool_or(b), bit_xor(k) from big group by g",
	"select t, g, count(*) from big group by t, g",
	"select g, var_pop(k), stddev(v), var_samp(v) from big group by g having count(*) > 10",
	"select sum(k), count(*) filter (where b) from big where v > 1000 and t like '%7'",
	"select sum(v) from big where k < 0",
	"select g, sum(v) from big where k < 0 group by g",
	"select avg(f), sum(f) from big",
	"select string_agg(t, ',' order by k) from big where k % 5000 = 0",
	"select count(distinct t), count(distinct g) from big",
	"select count(distinct k), sum(distinct k), avg(distinct k) from big",
	"select g, count(distinct t), sum(distinct k % 10), count(*), sum(v), avg(distinct v) from big group "
	"by g",
	"select t, count(distinct d), count(distinct b), count(distinct f), min(d) from big group by t",
	"select b, count(distinct t) filter (where k % 2 = 0), count(distinct g) filter (where k < 0) from "
	"big "
	"group by b",
	"select stddev(distinct g), var_pop(distinct v), bit_xor(distinct k % 100), sum(distinct f) from big",
	"select g, sum(distinct v + 1), max(distinct t), string_agg(distinct t, ',') from big group by g",
	"select count(distinct x), sum(distinct x), avg(distinct x) from none",
	"select x, count(distinct id) from none group by x",
	"select count(distinct g), sum(distinct g) from big where g is null",
	"select g, b, count(distinct t), sum(distinct v) from big group by cube (g, b)",
	"select name, count(distinct t), count(distinct k) from big join small on g = id group by name",
	"select count(distinct (k % 3)::double precision * 0), count(distinct nullif(f, 1) / 0.5) from big",
	"select count(distinct array[g, k % 2]), count(distinct t::char(9)), count(distinct v::numeric) from "
	"big",
	"select k % 20000, count(distinct t), sum(distinct g) from big group by 1 order by 1 limit 3",
	"select distinct g, b from big",
	"select k, t from big where k % 1000 = 7",
	"select k, v from big order by v desc limit 5",
	"select k, v from big where b order by t, k limit 7 offset 3",
	"select name, count(*), sum(v) from big join small on g = id group by name",
	"select name, count(*) from big left join small on g = id group by name",
	"select name, count(*) from big right join small on g = id + 4 group by name",
	"select count(*) from big full join small on g = id and b",
	"select count(*) from big where exists (select 1 from small where id = g)",
	"select count(*) from big where not exists (select 1 from small where id = g and name <> 'name 2')",
	"select count(*) from big where g in (select id from small)",
	"select count(*) from big where g not in (select id from small)",
	"select count(*) from big where g not in (select x from none)",
	"select count(*) from big where v > (select avg(v) from big)",
	"select g, count(*) from big where v = (select max(v) from big b2 where b2.g = big.g) group by g",
	"select s.name, x.n from small s join (select g, count(*) n from big group by g) x on x.g = s.id",
	"with w as (select g, sum(v) s from big group by g) select x.g, y.s from w x join w y on x.g=y.g+1",
	"select g, count(*) from big group by grouping sets ((g), ())",
	"select g, b, count(*), sum(v), min(t), grouping(g, b) from big group by rollup (g, b)",
	"select g, b, t, count(*), avg(k) filter (where b) from big group by cube (g, b, t)",
	"select t, count(*), max(d) from big where k < 0 group by grouping sets ((t), (), ())",
	"select x, count(*), count(x) from none group by cube (x)",
	"select name, b, sum(v) from big join small on g = id group by rollup (name, b) having count(*) > 9",
	"select g + 1, k % 3, count(*) from big where k % 4999 = 1 group by grouping sets (1, 2, ())",
	"select count(*) from big a join big b on a.k = b.k + 1 where a.b and b.g = 3",
	"select g, sum(v) from big group by g union all select id, 1 from small",
	"select g, rank() over (order by sum(v)) from big group by g",
	"select unnest(array[g, g + 1]) x, count(*) from big group by 1",
	"select to_char(d, 'YYYY-MM'), sum(v) from big group by 1",
	"select count(*) from big where d < current_date",
	"select max(k) from big where t = current_user",
	"select sum(x) from none",
	"select count(*), max(name) from big join small on g = id and name = 'nobody'",
	"select big.k from big join none on g = id where b",
	"select big.k from one join big on big.k = one.id * 17",
	"select g, json_agg(k order by k) from big where k < 20 group by g",
	"select sum(1 / (k - 100)) from big",
	"select (select name from small where id < g) from big",
};

static void
same_answers(struct test_client *t, const char *rows)
{
	char set[80];
	/* The thread sanitizer gets a part of them each time. */
	static unsigned turn;
	unsigned every = 1;
#ifdef __SANITIZE_THREAD__
	every = nam_rounds(1, 1, 6);
#endif
	for (unsigned i = turn++ % every; i < sizeof query / sizeof *query; i += every) {
		ask(t, "set namdb.parallel = 1");
		char *alone = in_order(ask(t, query[i]));
		char *said = strdup(t->text);
		if (cn_session_state(t->s) == 'E') {
			ask(t, "rollback");
			ask(t, "begin isolation level repeatable read");
		}
		ask(t, "set namdb.parallel = 0");
		snprintf(set, sizeof set, "set namdb.parallel_rows = %s", rows);
		assert_string_equal(ask(t, set), "SET");
		char *several = in_order(ask(t, query[i]));
		if (strncmp(said, "ERROR", 5) == 0)
			assert_string_equal(t->text, said);
		else if (strcmp(alone, several) != 0)
			fail_msg("%s\nalone:   %.600s\nseveral: %.600s", query[i], alone, several);
		if (cn_session_state(t->s) == 'E') {
			ask(t, "rollback");
			ask(t, "begin isolation level repeatable read");
		}
		free(alone);
		free(several);
		free(said);
	}
}

static void
test_answers(void **state)
{
	(void)state;
	struct test_client t;
	open_helped(&t, 0);
	make_tables(&t);
	for (unsigned i = 0; i < nam_rounds(3, 2, 1); i++) {
		same_answers(&t, "1");
		same_answers(&t, "0");
	}
	/* at another fixed snapshot, and for a prepared statement with parameters */
	ask(&t, "begin isolation level repeatable read");
	same_answers(&t, "0");
	ask(&t, "rollback");
	ask(&t, "prepare p(int, text) as select g, count(*) from big where k < $1 and t <> $2 group by g "
		"order by g");
	ask(&t, "set namdb.parallel = 1");
	char *want = strdup(ask(&t, "execute p(25000, 'text 7')"));
	ask(&t, "set namdb.parallel = 3");
	for (unsigned i = 0; i < 5; i++)
		assert_string_equal(ask(&t, "execute p(25000, 'text 7')"), want);
	free(want);
	test_client_close(&t);
}

static const char *const shared[] = {
	"select g, sum(v) from big group by g",
	"select g, b, sum(v) from big group by rollup (g, b)",
	"select g, count(distinct t), sum(distinct v), count(*) from big group by g",
	"select count(distinct k) from big",
	"select k, t from big order by t::char(9)",
	"select k, t from big order by g, t desc",
	"select k, name from big join small on g = id order by name, v",
};
static const char *const unshared[] = {
	"select * from big where k = 5",
	"select count(*) from small",
	"select sum(distinct f) from big",
	"select sum(distinct v + 1) from big",
	"select string_agg(distinct t, ',') from big",
	"select k, t from big order by k % 1000",
	"select k, t, v from big order by t",
	"select k, v from big order by v",
	"select k, v from big order by k, v",
};

/* True if EXPLAIN ANALYZE tells of others in one of some runs: a busy machine may start them too
 * late. */
static bool
others_read(struct test_client *t, const char *select)
{
	char text[400];
	bool others = false;
	snprintf(text, sizeof text, "explain analyze %s", select);
	for (unsigned i = 0; i < TRIES && !others; i++) {
		const char *at = strstr(ask(t, text), "the others read ");
		assert_non_null(at);
		others = strtoul(at + strlen("the others read "), NULL, 10) > 0;
		if (others)
			assert_non_null(strstr(at, "Fabric of Others: read="));
	}
	return others;
}

static const char *
explain(struct test_client *t, const char *select)
{
	char text[400];
	snprintf(text, sizeof text, "explain %s", select);
	return ask(t, text);
}

__attribute__((unused)) static void
test_explain(void **state)
{
	(void)state;
	struct test_client t;
	open_helped(&t, 1);
	for (unsigned i = 0; i < sizeof shared / sizeof *shared; i++)
		assert_non_null(strstr(explain(&t, shared[i]), "Workers Planned: 3"));
	for (unsigned i = 0; i < sizeof unshared / sizeof *unshared; i++)
		assert_null(strstr(explain(&t, unshared[i]), "Workers"));
	ask(&t, "set namdb.parallel = 2");
	assert_non_null(strstr(explain(&t, shared[0]), "Workers Planned: 2"));
	ask(&t, "set namdb.parallel_rows = 0");
	for (unsigned i = 0; i < sizeof shared / sizeof *shared; i++)
		assert_true(others_read(&t, shared[i]));
	assert_non_null(strstr(ask(&t, "explain (analyze, format json) select g, sum(v) from big group by g"),
	    "\"Workers Planned\": 2"));
	const char *x =
	    ask(&t, "explain (verbose) select b.g, sum(b.v) from big b join small s on s.id = b.g "
		    "group by b.g");
	assert_non_null(strstr(x, "Algorithm: hash table of the groups of each worker, put together"));
	assert_non_null(
	    strstr(x, "Algorithm: hash table of the second input, made once and shared by all workers"));
	ask(&t, "set namdb.parallel = 1");
	assert_null(strstr(explain(&t, shared[0]), "Workers"));
	assert_null(strstr(ask(&t, "explain (verbose) select g, sum(v) from big group by g"), "Algorithm"));
	assert_string_equal(ask(&t, "set namdb.parallel = 65"),
	    "ERROR 22023: invalid value for parameter \"namdb.parallel\": \"65\"");
	assert_string_equal(ask(&t, "set namdb.parallel_rows = 'many'"),
	    "ERROR 22023: invalid value for parameter \"namdb.parallel_rows\": \"many\"");
	assert_string_equal(ask(&t, "show namdb.parallel_rows"), "0; SHOW");
	test_client_close(&t);
}

/* ---- ORDER BY --------------------------------------------------------------------------- */

static const char *const column[] = { "i", "l", "f", "n", "m", "t", "c", "y", "u", "d", "z", "v", "b", "a" };
static const char *const way[] = { "", " desc", " nulls first", " desc nulls last" };
static const char *const ordered[] = {
	"select id, n, t from many where id % 7 = 3 order by m desc, id desc",
	"select id, t, n from many where id < 0 order by m, id",
	"select id from many where id = 17 order by m",
	"select id, n from many order by m, id offset 11990",
	"select id from (select id, n, t from many order by m, t, id offset 3) x limit 5",
	"select distinct on (m) m, id from many order by m, id desc",
	"select name, id from many join small on i = small.id order by name desc, n, many.id",
	"select m + 1, id from many order by 1, 2",
	"select m, array(select s.id from small s where s.id < i order by 1) from many order by m, many.id",
	"select id, 1 / (id - 7000) from many order by m",
	"(select id, n from many order by m, id offset 11000) union all (select 0, n from one, many where "
	"many.id = 5)",
	"with w as (select id, n from many order by m, id) select * from w limit 7",
	"select id from many order by m, t, n, f, c, id",
};

static void
make_many(struct test_client *t)
{
	static const char *const text[] = { "create table many (id int primary key, i int, l bigint, f "
					    "double precision, n numeric(9,2), m "
					    "numeric, t text, c char(6), y bytea, u uuid, d date, z "
					    "timestamptz, v interval, b boolean, a int[])",
		"insert into many select k * 7919 % 12007, k % 23, k % 5 * 4000000000 - 7, case k % 7 when 0 "
		"then "
		"'NaN' when 1 then '-0' when 2 then '0' when 3 then '-Infinity' else k % 7 * 0.5 end, k % 40 "
		"* 0.25, "
		"(k % 3)::numeric / (k % 4 + 1), 'text ' || k % 50, 'c' || k % 9, ('\\x0' || k % 8)::bytea, "
		"('00000000-0000-0000-0000-00000000000' || k % 10)::uuid, date '2020-01-01' + k % 90, "
		"timestamptz '2020-01-01' + k % 60 * interval '1 hour', k % 30 * interval '1 day', k % 2 = "
		"0, "
		"array[k % 4, k % 6] from generate_series(1, 12000) k",
		"update many set i = null, f = null, m = null, t = null, y = null, d = null, b = null, a = "
		"null where "
		"id % 11 = 0",
		"update many set l = null, n = 'NaN', c = null, u = null, z = null, v = null where id % 13 = "
		"0",
		"analyze many" };
	for (unsigned i = 0; i < sizeof text / sizeof *text; i++)
		if (strncmp(ask(t, text[i]), "ERROR", 5) == 0)
			fail_msg("%s: %s", text[i], t->text);
}

/* Wherever memory ends: also where the records of helpers are read. */
static void
little_memory(struct test_client *t)
{
	static const char wide[] =
	    "select count(*) from (select k, k || t a, 1 || t b, 2 || t c, 3 || t d, 4 || t e from big "
	    "where k < 1500) x group by k, a, b, c, d, e limit 1";
	for (unsigned kb = 1024; kb < 2560; kb += nam_rounds(4, 12, 100)) {
		char set[64];
		snprintf(set, sizeof set, "set namdb.statement_memory = '%ukB'", kb);
		ask(t, set);
		const char *got = ask(t, wide);
		if (strcmp(got, "1; SELECT 1") != 0)
			assert_int_equal(strncmp(got, "ERROR 53200", 11), 0);
	}
}

/* The answers of one worker and of several, row by row. */
static void
same_order(struct test_client *t, const char *select)
{
	ask(t, "set namdb.parallel = 1");
	char *want = strdup(ask(t, select));
	ask(t, "set namdb.parallel = 0");
	for (unsigned rows = 0; rows < 2; rows++) {
		ask(t, rows ? "set namdb.parallel_rows = 1" : "set namdb.parallel_rows = 0");
		if (strcmp(ask(t, select), want) != 0)
			fail_msg("%s\nalone:   %.600s\nseveral: %.600s", select, want, t->text);
	}
	free(want);
}

__attribute__((unused)) static void
test_order(void **state)
{
	(void)state;
	struct test_client t;
	char text[200];
	open_helped(&t, 1);
	make_many(&t);
	ask(&t, "set namdb.parallel_rows = 1");
	for (unsigned c = 0; c < sizeof column / sizeof *column; c++)
		for (unsigned w = 0; w < sizeof way / sizeof *way; w++) {
			if ((c + w) % nam_rounds(1, 2, 7) != 0)
				continue;
			snprintf(text, sizeof text, "select id, %s from many order by %s%s, id%s", column[c],
			    column[c], way[w], w % 2 ? " desc" : "");
			if (strstr(explain(&t, text), "Workers Planned: 3") == NULL)
				fail_msg("not shared: %s", text);
			same_order(&t, text);
		}
	for (unsigned i = 0; i < sizeof ordered / sizeof *ordered; i += nam_rounds(1, 1, 3))
		same_order(&t, ordered[i]);
	ask(&t, "set namdb.parallel = 1");
	ask(&t, "prepare by_m(int) as select m, id, t from many where i < $1 order by m, id");
	char *want = strdup(ask(&t, "execute by_m(9)"));
	ask(&t, "set namdb.parallel = 3");
	for (unsigned i = 0; i < 5; i++)
		assert_string_equal(ask(&t, "execute by_m(9)"), want);
	free(want);
	test_client_close(&t);
}

/* A transaction that has written sees its own rows, DDL its own tables: alone. */
__attribute__((unused)) static void
test_own_writes(void **state)
{
	(void)state;
	struct test_client t;
	open_helped(&t, 2);
	ask(&t, "set namdb.parallel_rows = 0");
	ask(&t, "begin");
	ask(&t, "insert into big (k, g) values (-1, 1000)");
	assert_string_equal(ask(&t, "select count(*), max(g) from big"), "30001|1000; SELECT 1");
	ask(&t, "create table fresh as select * from big");
	assert_string_equal(ask(&t, "select count(*), max(g) from fresh"), "30001|1000; SELECT 1");
	ask(&t, "rollback");
	assert_string_equal(ask(&t, "select count(*), max(g) from big"), "30000|6; SELECT 1");
	ask(&t, "begin isolation level serializable");
	assert_string_equal(ask(&t, "select count(*) from big"), "30000; SELECT 1");
	ask(&t, "commit");
	assert_string_equal(
	    ask(&t, "create table copied as select g, count(*) n from big group by g"), "SELECT 8");
	assert_string_equal(ask(&t, "select sum(n) from copied"), "30000; SELECT 1");
	ask(&t, "drop table copied");
	test_client_close(&t);
}

struct writer {
	struct test_client t;
	_Atomic bool stop;
	unsigned moves;
};

/* Moves amounts between two rows: the sum stays. */
static void *
write_on(void *arg)
{
	struct writer *w = arg;
	char text[200];
	while (!w->stop) {
		unsigned a = 1 + w->moves * 7919 % ROWS, b = 1 + w->moves * 104729 % ROWS;
		snprintf(text, sizeof text,
		    "update big set v = v + case when k = %u then 1 else -1 end where k in (%u, %u)", a, a,
		    b);
		if (a != b)
			ask(&w->t, text);
		w->moves++;
	}
	return NULL;
}

__attribute__((unused)) static void
test_one_snapshot(void **state)
{
	(void)state;
	struct test_client t;
	struct writer w = { .moves = 1 };
	pthread_t thread;
	open_helped(&t, 0);
	open_helped(&w.t, 1);
	ask(&t, "set namdb.parallel = 1");
	char *want = strdup(ask(&t, "select sum(v), count(*) from big"));
	ask(&t, "set namdb.parallel = 0");
	ask(&t, "set namdb.parallel_rows = 1");
	pthread_create(&thread, NULL, write_on, &w);
	for (unsigned i = 0; i < TRIES; i++)
		assert_string_equal(ask(&t, "select sum(v), count(*) from big"), want);
	for (unsigned i = 0; i < TRIES; i++)
		assert_string_equal(
		    ask(&t,
			"select sum(s), sum(n) from (select g, sum(v) s, count(*) n from big group by g) x"),
		    want);
	w.stop = true;
	pthread_join(thread, NULL);
	assert_true(w.moves > 1);
	free(want);
	test_client_close(&w.t);
	test_client_close(&t);
}

static void *
cancel_later(void *arg)
{
	struct test_client *t = arg;
	usleep(30000);
	cn_cancel(t->s);
	return NULL;
}

__attribute__((unused)) static void
test_ends(void **state)
{
	(void)state;
	struct test_client t;
	pthread_t thread;
	static const char *const large[] = { "select k, t, v, max(d) from big group by k, t, v",
		"select k, t, v, max(d) from big group by rollup (k, t, v)",
		"select b, count(distinct k), sum(distinct v) from big group by b",
		"select k, v, t from big order by v, k", "select k, v, t from big order by g, t, k" };
	static const char *const slow[] = {
		"select count(*) from big a join big b on a.g = b.g where a.k + b.k < 0",
		"select a.k, b.v from big a join big b on a.g = b.g order by b.v, a.k"
	};
	open_helped(&t, 0);
	for (unsigned i = 0; i < sizeof slow / sizeof *slow; i++) {
		ask(&t, "set namdb.parallel_rows = 0");
		ask(&t, "set statement_timeout = 60");
		assert_string_equal(
		    ask(&t, slow[i]), "ERROR 57014: canceling statement due to statement timeout");
		ask(&t, "set statement_timeout = 0");
		ask(&t, "set namdb.parallel_rows = 1");
		pthread_create(&thread, NULL, cancel_later, &t);
		assert_string_equal(ask(&t, slow[i]), "ERROR 57014: canceling statement due to user request");
		pthread_join(thread, NULL);
	}
	for (unsigned rows = 0; rows < 2; rows++) {
		ask(&t, rows ? "set namdb.parallel_rows = 1" : "set namdb.parallel_rows = 0");
		ask(&t, "set namdb.statement_memory = '1MB'");
		for (unsigned i = 0; i < sizeof large / sizeof *large; i++)
			assert_int_equal(strncmp(ask(&t, large[i]), "ERROR 53200", 11), 0);
		little_memory(&t);
		ask(&t, "set namdb.statement_memory = 0");
		assert_string_equal(
		    ask(&t, "select sum(1 / (k - 29999)) from big"), "ERROR 22012: division by zero");
		assert_string_equal(
		    ask(&t, "select 1 / (k - 29999) from big order by v"), "ERROR 22012: division by zero");
		assert_string_equal(ask(&t, "select count(*) from big"), "30000; SELECT 1");
	}
	test_client_close(&t);
}

/* Behind the answer: a caller that draws a bar must not draw it once more. */
__attribute__((unused)) static void
test_progress_ends(void **state)
{
	(void)state;
	struct test_client t;
	uint64_t done, all;
	open_helped(&t, 0);
	for (unsigned rows = 0; rows < 2; rows++) {
		ask(&t, rows ? "set namdb.parallel_rows = 1" : "set namdb.parallel_rows = 0");
		assert_string_equal(ask(&t, "select count(*) from big"), "30000; SELECT 1");
		cn_session_progress(t.s, &done, &all);
		assert_int_equal(all, 0);
	}
	test_client_close(&t);
}

static unsigned
count_of(const char *text, char c)
{
	unsigned n = 0;
	for (; *text != 0; text++)
		n += *text == c;
	return n;
}

/* Where a helper begins and ends may hang on a guess, and the plan of a prepared statement was made
 * with another one: a helper whose plan differs leaves. Each row has one minus sign. */
__attribute__((unused)) static void
test_drift(void **state)
{
	(void)state;
	struct test_client t;
	static const char *const text[] = { "create table c (id int primary key, a int, x int)",
		"insert into c select i, i % 3000 + 1, i % 100 from generate_series(1, 60000) i",
		"create table o (id int primary key, cust int, created int)",
		"insert into o select i, i % 3000 + 1, -i from generate_series(1, 30000) i",
		"create index o_cust on o (cust)", "create table s (k int primary key, z int)",
		"insert into s values (7, 1), (1007, 2)", "analyze c", "analyze o", "analyze s",
		"set namdb.parallel_rows = 0",
		"prepare p as select id, (select max(created) from o where o.cust = c.a) from c where x = 7",
		"prepare q as select id, (select max(created) from o where o.cust = c.a) from c join s "
		"on s.z = c.x where s.z < 2 and c.a <= 1200" };
#ifdef __SANITIZE_THREAD__
	skip(); /* 90,000 rows take minutes, and no thread does here what it does not elsewhere */
#endif
	static const char *const execute[] = { "execute p", "execute q" };
	static const unsigned all[] = { 600, 240 }, left[] = { 200, 84 };
	open_helped(&t, 0);
	for (unsigned i = 0; i < sizeof text / sizeof *text; i++)
		if (strncmp(ask(&t, text[i]), "ERROR", 5) == 0)
			fail_msg("%s: %s", text[i], t.text);
	for (unsigned round = 0; round < 3; round++) {
		/* The second execution plans once more; behind it the plan stays. */
		if (round == 2)
			assert_string_equal(ask(&t, "delete from c where id > 20000"), "DELETE 40000");
		for (unsigned i = 0; i < 2; i++) {
			const char *got = ask(&t, execute[i]);
			assert_int_equal(strncmp(got, "ERROR", 5) == 0, 0);
			unsigned rows = count_of(got, ';');
			assert_int_equal(rows, round < 2 ? all[i] : left[i]);
			assert_int_equal(count_of(got, '-'), rows);
		}
	}
	test_client_close(&t);
}

struct asker {
	struct test_client t;
	const char *want;
};

static void *
ask_on(void *arg)
{
	struct asker *a = arg;
	for (unsigned i = 0; i < TRIES; i++)
		if (strcmp(ask(&a->t, "select g, sum(k), count(*) from big group by g order by g"),
			a->want) != 0)
			return a;
	return NULL;
}

/* Each session asks the others' workers for help. */
__attribute__((unused)) static void
test_all_at_once(void **state)
{
	(void)state;
	struct asker a[2 * WORKERS];
	pthread_t thread[2 * WORKERS];
	char *want = NULL;
	for (unsigned i = 0; i < 2 * WORKERS; i++) {
		open_helped(&a[i].t, i % WORKERS);
		ask(&a[i].t, i % 2 ? "set namdb.parallel_rows = 0" : "set namdb.parallel_rows = 1");
		if (want == NULL)
			want =
			    strdup(ask(&a[i].t, "select g, sum(k), count(*) from big group by g order by g"));
		a[i].want = want;
	}
	for (unsigned i = 0; i < 2 * WORKERS; i++)
		pthread_create(&thread[i], NULL, ask_on, &a[i]);
	for (unsigned i = 0; i < 2 * WORKERS; i++) {
		void *wrong;
		pthread_join(thread[i], &wrong);
		assert_null(wrong);
		test_client_close(&a[i].t);
	}
	free(want);
}

int
main(void)
{
	embedded_open(&home, UINT64_C(256) << 20, WORKERS);
#ifdef SQL_STREAM_TWICE
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_answers) };
#elif defined SQL_GATHER_LEAVES
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_answers), cmocka_unit_test(test_order),
		cmocka_unit_test(test_own_writes), cmocka_unit_test(test_one_snapshot),
		cmocka_unit_test(test_ends), cmocka_unit_test(test_all_at_once) };
#else
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_answers), cmocka_unit_test(test_explain),
		cmocka_unit_test(test_order), cmocka_unit_test(test_own_writes),
		cmocka_unit_test(test_one_snapshot), cmocka_unit_test(test_ends),
		cmocka_unit_test(test_progress_ends), cmocka_unit_test(test_drift),
		cmocka_unit_test(test_all_at_once) };
#endif
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	if (failed == 0)
		embedded_close(&home); /* else sessions are open */
#ifdef SQL_STREAM_TWICE
	return failed == 0; /* the twin must be noticed */
#else
	return failed;
#endif
}
