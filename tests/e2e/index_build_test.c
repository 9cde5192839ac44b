/*
 * index_build_test.c -- CREATE INDEX and DROP INDEX while four sessions change the table's rows.
 * Afterwards each index leads to just the rows that a scan finds, and a unique one to one row for
 * each key, whatever the sessions tried.
 */
#include "together.h"

#include <base/rng.h>

#include <pthread.h>
#include <stdatomic.h>

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { ROWS = 1500, BUILDS = 4, VALUES = 150 };
#else
enum { ROWS = 4000, BUILDS = 8, VALUES = 400 };
#endif
enum { THREADS = 4 };

static atomic_bool stop;
static atomic_uint bad, changed, refused;

static void
change_once(struct test_client *t, struct nam_rng *rng)
{
	unsigned id = (unsigned)nam_rng_below(rng, 2 * ROWS), a = (unsigned)nam_rng_below(rng, VALUES);
	unsigned u = (unsigned)nam_rng_below(rng, nam_rng_below(rng, 100) ? 100000 * ROWS : 100);
	char text[400];
	switch (nam_rng_below(rng, 6)) {
	case 0:
		snprintf(text, sizeof text,
		    "insert into m values (%u, %u, %u, 'row %u') on conflict (id) do nothing", id, a, u, a);
		break;
	case 1:
		snprintf(text, sizeof text, "delete from m where id = %u", id);
		break;
	case 2:
		snprintf(text, sizeof text, "update m set u = %u where id = %u", u, id);
		break;
	case 3:
		snprintf(text, sizeof text,
		    "update m set a = %u, t = repeat('long ', %u) || %u where id = %u", a,
		    (unsigned)nam_rng_below(rng, 40), a, id);
		break;
	case 4:
		snprintf(text, sizeof text,
		    "begin; update m set a = %u where id = %u; update m set a = %u where id = %u; %s", a, id,
		    a + 1, (id + 1) % ROWS, nam_rng_below(rng, 3) ? "commit" : "rollback");
		break;
	default:
		snprintf(text, sizeof text, "update m set a = %u where id between %u and %u", a, id, id + 3);
		break;
	}
	if (attempt(t, text, "23505", &bad))
		atomic_fetch_add(&changed, 1);
	else if (strcmp(t->err.sqlstate, "23505") == 0)
		atomic_fetch_add(&refused, 1);
}

static void *
client(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;
	struct nam_rng rng;
	struct test_client t;
	test_client_open(&t, &e, me % 2);
	nam_rng_init(&rng, 77 + me);
	if (me == 3)
		ask(&t, "set default_transaction_isolation = 'repeatable read'");
	while (!atomic_load(&stop))
		change_once(&t, &rng);
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

/* The answer's row of value a, without a; "0|0|0" = there is none. */
static void
row_of(const char *rows, unsigned a, char *out, size_t max)
{
	char begin[16];
	snprintf(begin, sizeof begin, "%u|", a);
	while (rows != NULL && !starts_with(rows, begin))
		rows = (rows = strchr(rows, ';')) != NULL ? rows + 1 : NULL;
	snprintf(out, max, "%.*s; SELECT 1", rows ? (int)strcspn(rows + strlen(begin), ";") : 5,
	    rows ? rows + strlen(begin) : "0|0|0");
}

/* What the index says of each value, and what a scan says, in one snapshot. */
static void
compare(struct test_client *t)
{
	char text[200], want[400];
	ask(t, "begin isolation level repeatable read");
	char *rows = strdup(ask(
	    t, "select a, count(*), coalesce(sum(id), 0), coalesce(sum(length(t)), 0) from m group by a"));
	for (unsigned a = 0; a <= VALUES; a++) {
		row_of(rows, a, want, sizeof want);
		snprintf(text, sizeof text,
		    "select count(*), coalesce(sum(id), 0), coalesce(sum(length(t)), 0) from m where a = %u",
		    a);
		expect(t, text, want);
	}
	free(rows);
	if (strstr(ask(t, "explain select id from m where a = 1"), "Index Scan using m_a_idx on m") == NULL) {
		fprintf(stderr, "the index is not used: %s\n", t->text);
		atomic_fetch_add(&bad, 1);
	}
	ask(t, "commit");
}

static void
builds(void **state)
{
	(void)state;
	struct test_client t;
	pthread_t id[THREADS];
	char text[300];
	unsigned made = 0;
	test_client_open(&t, &e, 0);
	ask(&t, "create table m (id int primary key, a int, u int, t text)");
	snprintf(text, sizeof text,
	    "insert into m select i, i %% %d, i, 'row ' || i from generate_series(0, %d) i", VALUES,
	    ROWS - 1);
	ask(&t, text);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&id[i], NULL, client, (void *)i), 0);
	for (unsigned i = 0; i < BUILDS; i++) {
		if (i > 0)
			expect(&t, "drop index m_a_idx", "DROP INDEX");
		expect(&t, "create index on m (a)", "CREATE INDEX");
		expect(&t, "create index on m (t, a desc)", "CREATE INDEX");
		compare(&t);
		expect(&t, "drop index m_t_a_idx", "DROP INDEX");
		/* There may be two rows of one u. If not, there never will be. */
		ask(&t, "delete from m where u in (select u from m group by u having count(*) > 1)");
		if (starts_with(ask(&t, "create unique index mu on m (u)"), "CREATE")) {
			made++;
			expect(&t, "select u from m group by u having count(*) > 1", "SELECT 0");
			struct timespec pause = { .tv_nsec = 30000000 };
			nanosleep(&pause, NULL);
			expect(&t, "select u from m group by u having count(*) > 1", "SELECT 0");
			expect(&t, "drop index mu", "DROP INDEX");
		} else if (strcmp(t.err.sqlstate, "23505") != 0) {
			fprintf(stderr, "%s\n", t.text);
			atomic_fetch_add(&bad, 1);
		}
	}
	atomic_store(&stop, true);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
	compare(&t);
	fprintf(stderr, "%u changes, %u unique indexes made of %d, %u rows refused\n", atomic_load(&changed),
	    made, BUILDS, atomic_load(&refused));
	assert_int_equal(atomic_load(&bad), 0);
	assert_true(atomic_load(&changed) > 100 && made > 0);
	test_client_close(&t);
}

/* ---- what other sessions see of it ---- */

static const char *creates;
static atomic_bool built;

/* It never succeeds: there are rows of one key. */
static void *
builder(void *arg)
{
	struct test_client *t = arg;
	for (unsigned i = 0; i < 12; i++) {
		if (starts_with(ask(t, creates), "ERROR 23505"))
			continue;
		fprintf(stderr, "%s\n", t->text);
		atomic_fetch_add(&bad, 1);
	}
	atomic_store(&built, true);
	return NULL;
}

/* How often an index was shown while that was under way. */
static unsigned
sights(const char *create, const char *look)
{
	struct test_client a, b;
	pthread_t id;
	unsigned seen = 0;
	test_client_open(&a, &e, 0);
	test_client_open(&b, &e, 1);
	creates = create;
	atomic_store(&built, false);
	assert_int_equal(pthread_create(&id, NULL, builder, &a), 0);
	while (!atomic_load(&built))
		seen += !starts_with(ask(&b, look), "0");
	pthread_join(id, NULL);
	test_client_close(&a);
	test_client_close(&b);
	return seen;
}

static void
shows(void **state)
{
	(void)state;
	struct test_client t;
	atomic_store(&bad, 0);
	test_client_open(&t, &e, 0);
	ask(&t, "create table sh (id int primary key, a int)");
	ask(&t, "insert into sh select i, i % 9000 from generate_series(1, 10000) i");
	static const char *const looks[] = {
		"select count(*) from pg_indexes where indexname = 'shx'",
		"select count(*) from pg_class where relname = 'shx'",
		"select count(*) from pg_index i join pg_class c on c.oid = indrelid where relname = 'sh' "
		"and not "
		"indisprimary",
		"select count(*) from pg_attribute a left join pg_class c on c.oid = attrelid where c.oid is "
		"null",
	};
	for (unsigned i = 0; i < sizeof looks / sizeof *looks; i++)
		assert_int_equal(sights("create unique index shx on sh (a)", looks[i]), 0);
	/* As PostgreSQL's, one that is built concurrently is shown: it is not valid yet. */
	assert_true(
	    sights("create unique index concurrently shx on sh (a)",
		"select count(*) from pg_index i join pg_class c on c.oid = indexrelid where relname = "
		"'shx' and not indisvalid") > 0);
	expect(&t, "delete from sh where id > 9000", "DELETE 1000");
	expect(&t, "create unique index shx on sh (a)", "CREATE INDEX");
	expect(&t, looks[0], "1; SELECT 1");
	expect(&t, looks[1], "1; SELECT 1");
	expect(&t,
	    "select indisvalid from pg_index i join pg_class c on c.oid = indexrelid where relname = 'shx'",
	    "t; SELECT 1");
	assert_int_equal(atomic_load(&bad), 0);
	test_client_close(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(builds), cmocka_unit_test(shows) };
	return cmocka_run_group_tests(tests, cluster_setup, cluster_teardown);
}
