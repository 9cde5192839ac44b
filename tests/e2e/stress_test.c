/*
 * stress_test.c -- sessions of several threads at once on the same few rows. What was answered is
 * counted by the threads themselves; in the end the tables must hold just that. A statement that
 * lost a race (40001, 40P01) counts as nothing.
 */
#include "together.h"

#include <base/rng.h>

#include <pthread.h>
#include <stdatomic.h>

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { ROUNDS = 60 };
#else
enum { ROUNDS = 250 };
#endif
enum { THREADS = 4, KEYS = 6, RACE = 100 };

static atomic_uint bad;
static atomic_uint adds[KEYS]; /* of ON CONFLICT DO UPDATE, answered */
static atomic_uint wins[RACE]; /* of ON CONFLICT DO NOTHING, that gave a row back */
static atomic_uint drawn;      /* rows with a number of the sequence */
static atomic_uint kept;       /* rows of blocks with savepoints, committed */
static atomic_uint moves;      /* between accounts */

static void
block_with_savepoints(struct test_client *t, unsigned id)
{
	char text[400];
	snprintf(text, sizeof text,
	    "begin; insert into s values (%u); savepoint a; insert into s values (%u); update c set n = n + "
	    "100 "
	    "where k = 0; rollback to a; savepoint b; insert into s values (%u); release b; commit",
	    3 * id, 3 * id + 1, 3 * id + 2);
	if (attempt(t, text, "", &bad))
		atomic_fetch_add(&kept, 2);
}

static void *
client(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;
	struct nam_rng rng;
	struct test_client t;
	char text[300];
	test_client_open(&t, &e, me % 2);
	nam_rng_init(&rng, me + 1);
	const char *level[] = { "read committed", "repeatable read", "serializable" };
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (i % 10 == 0) {
			snprintf(text, sizeof text, "set default_transaction_isolation = '%s'",
			    level[nam_rng_below(&rng, 3)]);
			attempt(&t, text, "", &bad);
		}
		unsigned k = (unsigned)nam_rng_below(&rng, KEYS), j = (unsigned)nam_rng_below(&rng, KEYS);
		snprintf(text, sizeof text,
		    "insert into c values (%u, 1) on conflict (k) do update set n = c.n + excluded.n", k);
		if (attempt(&t, text, "", &bad))
			atomic_fetch_add(&adds[k], 1);
		if (i < RACE) {
			snprintf(text, sizeof text,
			    "insert into u values (%u, %u) on conflict do nothing returning k", i, me);
			if (attempt(&t, text, "", &bad) && strstr(t.text, "INSERT 0 1") != NULL)
				atomic_fetch_add(&wins[i], 1);
		}
		snprintf(text, sizeof text,
		    "update acc set n = acc.n + m.d from (values (%u, -1), (%u, 1)) as m(id, d) where acc.id "
		    "= m.id",
		    k, (k + 1 + j % (KEYS - 1)) % KEYS);
		if (attempt(&t, text, "", &bad))
			atomic_fetch_add(&moves, 1);
		snprintf(
		    text, sizeof text, "insert into l select nextval('q'), %u, n from acc where id < 3", me);
		if (attempt(&t, text, "", &bad))
			atomic_fetch_add(&drawn, 3);
		block_with_savepoints(&t, me * ROUNDS + i);
	}
	test_client_close(&t);
	return NULL;
}

static void
expect(struct test_client *t, const char *text, const char *want)
{
	if (strcmp(ask(t, text), want) == 0)
		return;
	fprintf(stderr, "%s\n  is     %s\n  should %s\n", text, t->text, want);
	atomic_fetch_add(&bad, 1);
}

static void
counters(void **state)
{
	(void)state;
	struct test_client t;
	pthread_t id[THREADS];
	char text[200], want[100];
	test_client_open(&t, &e, 0);
	ask(&t, "create table c (k int primary key, n bigint); create table u (k int primary key, who int);"
		"create table acc (id int primary key, n bigint); create table s (id int primary key);"
		"create sequence q; create table l (no bigint primary key, who int, n bigint)");
	ask(&t, "insert into acc select i, 100 from generate_series(0, 5) as g(i)");
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&id[i], NULL, client, (void *)(uintptr_t)i), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
	for (unsigned k = 0; k < KEYS; k++) {
		snprintf(text, sizeof text, "select coalesce(sum(n), 0) from c where k = %u", k);
		snprintf(want, sizeof want, "%u; SELECT 1", atomic_load(&adds[k]));
		expect(&t, text, want);
	}
	for (unsigned k = 0; k < RACE; k++)
		if (atomic_load(&wins[k]) > 1) {
			fprintf(stderr, "key %u was inserted %u times\n", k, atomic_load(&wins[k]));
			atomic_fetch_add(&bad, 1);
		}
	unsigned won = 0;
	for (unsigned k = 0; k < RACE; k++)
		won += atomic_load(&wins[k]);
	snprintf(want, sizeof want, "%u|%u; SELECT 1", won, won);
	expect(&t, "select count(*), count(distinct k) from u", want);
	expect(&t, "select sum(n) from acc", "600; SELECT 1");
	snprintf(want, sizeof want, "%u|%u; SELECT 1", atomic_load(&drawn), atomic_load(&drawn));
	expect(&t, "select count(*), count(distinct no) from l", want);
	snprintf(want, sizeof want, "%u; SELECT 1", atomic_load(&kept));
	expect(&t, "select count(*) from s", want);
	expect(&t, "select count(*) from s where id % 3 = 1", "0; SELECT 1");
	test_client_close(&t);
	assert_int_equal(bad, 0);
	assert_true(atomic_load(&moves) > 0);
}

/* ---- plans that are kept while the catalog changes ------------------------------------------- */

static atomic_int stop;

static void *
changer(void *arg)
{
	static const char *const change[] = { "alter table d alter v set default 7",
		"alter table d alter v drop default", "alter table d add constraint pos check (k >= 0)",
		"alter table d drop constraint pos", "alter table d rename v to w",
		"alter table d rename w to v", "create view dv as select k from d", "drop view dv",
		"create table other (a int)", "drop table other" };
	struct test_client t;
	(void)arg;
	test_client_open(&t, &e, 1);
	for (unsigned i = 0; i < ROUNDS || i % 10 != 0; i++)
		while (!attempt(&t, change[i % 10], "", &bad) && atomic_load(&bad) == 0)
			;
	atomic_store(&stop, 1);
	test_client_close(&t);
	return NULL;
}

static void *
user(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg, n = 0;
	struct test_client t;
	char text[100], want[100];
	test_client_open(&t, &e, me % 2);
	ask(&t, "prepare ins (int) as insert into d (k) values ($1)");
	ask(&t, "prepare look (int) as select k from d where k = $1");
	while (!atomic_load(&stop)) {
		unsigned k = me * 1000000 + ++n;
		snprintf(text, sizeof text, "execute ins (%u)", k);
		while (!attempt(&t, text, "", &bad) && atomic_load(&bad) == 0)
			;
		snprintf(text, sizeof text, "execute look (%u)", k);
		snprintf(want, sizeof want, "%u; SELECT 1", k);
		expect(&t, text, want);
		/* A column that comes and goes by its name: there, or 42703. */
		const char *v = ask(&t, "select v from d where k = -1");
		if (strcmp(v, "SELECT 0") != 0 && strncmp(v, "ERROR 42703", 11) != 0) {
			fprintf(stderr, "v: %s\n", t.text);
			atomic_fetch_add(&bad, 1);
		}
	}
	snprintf(text, sizeof text, "select count(*) from d where k / 1000000 = %u", me);
	snprintf(want, sizeof want, "%u; SELECT 1", n);
	expect(&t, text, want);
	test_client_close(&t);
	return NULL;
}

static void
plans_and_changes(void **state)
{
	(void)state;
	struct test_client t;
	pthread_t id[THREADS];
	test_client_open(&t, &e, 0);
	assert_string_equal(ask(&t, "create table d (k int primary key, v int)"), "CREATE TABLE");
	assert_int_equal(pthread_create(&id[0], NULL, changer, NULL), 0);
	for (unsigned i = 1; i < THREADS; i++)
		assert_int_equal(pthread_create(&id[i], NULL, user, (void *)(uintptr_t)i), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
	expect(&t, "select count(*) from d where v is not null and v <> 7", "0; SELECT 1");
	test_client_close(&t);
	assert_int_equal(bad, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(counters), cmocka_unit_test(plans_and_changes) };
	return cmocka_run_group_tests(tests, cluster_setup, cluster_teardown);
}
