/*
 * explain_counts_test.c -- EXPLAIN ANALYZE's verbs and bytes are the fabric's own, to the last one.
 *
 * Around every statement net's counters of the worker's endpoints are read: their difference, less
 * what the worker's heartbeat and garbage collector did meanwhile, must be the total EXPLAIN names;
 * and that total must be the sum of what it says of every operator, the begin, the planning and the
 * commit. Over shm with one node and with three, and over tcp. e2e.explain_twin is this test over a
 * twin of sql/exec/meter.c that forgets key lookups: there the sums must not agree.
 */
#include <compute_node/cn.h>
#include <storage_node/test_node.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifndef EXPLAIN_TWIN
#define EXPLAIN_TWIN 0
#endif

enum { FIGURES = 6 };
struct figures {
	unsigned long long n[FIGURES]; /* READ, WRITE, CAS, FETCH_ADD, bytes read, bytes written */
};

static void
add(struct figures *to, const struct figures *f)
{
	for (unsigned i = 0; i < FIGURES; i++)
		to->n[i] += f->n[i];
}

static bool
same(const struct figures *a, const struct figures *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

static void
show(const char *what, const struct figures *f)
{
	fprintf(stderr, "  %-10s", what);
	for (unsigned i = 0; i < FIGURES; i++)
		fprintf(stderr, " %10llu", f->n[i]);
	fprintf(stderr, "\n");
}

/* One {"READ": ...} behind at. */
static struct figures
read_figures(const char *at)
{
	struct figures f;
	unsigned long long trips;
	if (sscanf(at,
		"{\"READ\": %llu, \"WRITE\": %llu, \"CAS\": %llu, \"FETCH_ADD\": %llu, \"Round Trips\": "
		"%llu, "
		"\"Bytes Read\": %llu, \"Bytes Written\": %llu}",
		&f.n[0], &f.n[1], &f.n[2], &f.n[3], &trips, &f.n[4], &f.n[5]) != 7)
		abort();
	return f;
}

/* The sum of all that stand under that name; *times: how many. */
static struct figures
sum_of(const char *json, const char *name, unsigned *times)
{
	struct figures all = { { 0 } };
	char key[60];
	snprintf(key, sizeof key, "\"%s\": ", name);
	*times = 0;
	for (const char *p = json; (p = strstr(p, key)) != NULL; (*times)++) {
		p += strlen(key);
		struct figures f = read_figures(p);
		add(&all, &f);
	}
	return all;
}

static struct figures
net_figures(const struct cn_place *place)
{
	struct net_counts c, b;
	net_worker_counts(place->net, 0, &c);
	txn_worker_background(place->txn, &b);
	return (struct figures){ { c.verbs[NET_READ] - b.verbs[NET_READ],
	    c.verbs[NET_WRITE] + c.verbs[NET_WRITE_IMM] - b.verbs[NET_WRITE] - b.verbs[NET_WRITE_IMM],
	    c.verbs[NET_CAS] - b.verbs[NET_CAS], c.verbs[NET_FAA] - b.verbs[NET_FAA], c.bytes_in - b.bytes_in,
	    c.bytes_out - b.bytes_out } };
}

/* What each must have done at least: READ, WRITE, CAS, FETCH_ADD of all its operators. */
static const struct {
	const char *text;
	unsigned least[4];
	bool lookup; /* a key lookup's verbs are in it */
} asked[] = {
	{ "select 1", { 0 }, false },
	{ "select count(*) from a", { 4 }, false },
	{ "select * from a where k = 7", { 1 }, true },
	{ "select * from a where k = 7", { 1 }, true },
	{ "select * from a where k in (1, 2, 3, 99999)", { 3 }, true },
	{ "select * from a where v > 10 order by v desc limit 3", { 4 }, false },
	{ "select g, count(*), sum(v) from a group by g order by 1", { 4 }, false },
	{ "select count(*) from a x join a y on x.k = y.v", { 8 }, false },
	{ "select x.k, y.g from a x join a y on y.k = x.v where x.k in (4, 5)", { 4 }, true },
	{ "select x.k, y.g from a x left join a y on y.k = x.v - 2 where x.k in (4, 5)", { 3 }, true },
	{ "select k, (select max(y.v) from a y where y.k = x.k) from a x where k < 20", { 20 }, true },
	{ "select k from a where v in (select k from b)", { 5 }, false },
	{ "with x as (select * from a) select count(*) from x, x y where x.k = y.k", { 4 }, false },
	{ "with recursive r (n) as (select 1 union all select v + 2 from a, r where a.k = r.n and n < 5) "
	  "select "
	  "* from r",
	    { 2 }, true },
	{ "select k from a where k < 5 union select k from b intersect select v from a", { 9 }, false },
	{ "select v, sum(v) over (order by k) from a", { 4 }, false },
	{ "select nextval('s'), setval('s', 50)", { 0, 1, 0, 1 }, false },
	{ "insert into b values (100, 'x'), (101, 'y') returning *", { 0 }, false },
	{ "insert into b select k + 10000 * %u, g from a", { 4 }, false },
	{ "insert into b values (100, 'z') on conflict (k) do update set t = 'again'", { 1, 0, 1 }, false },
	{ "update a set v = v + 1 where k = 3", { 1, 0, 1 }, true },
	{ "update a set v = v + 1", { 4, 0, 2999 }, false },
	{ "update b set k = k + 5000 where k in (1, 2)", { 2 }, true },
	{ "update a set g = b.t from b where b.k = a.k and a.k < 10", { 5 }, false },
	{ "delete from b where k = 100", { 1 }, true },
	{ "delete from b where k = 30", { 1 }, true },
	{ "delete from b using a where a.k = b.k and a.v < 0", { 8 }, false },
	{ "create table c%u as select * from a where k < 100", { 4 }, false },
	{ "insert into wide select k + 10000 * %u, repeat('long ', 5000) from a where k < 5", { 4 }, false },
	{ "select length(t) from wide", { 2 }, false },
};

struct job {
	unsigned wrong, checked, blind;
	double waited_ms; /* for the fabric, by operators */
	bool done;
	char *json;
};

static bool
rows(void *arg, const struct sql_batch_view *b)
{
	struct job *j = arg;
	free(j->json);
	j->json = strndup(b->col[0].s[0].p, b->col[0].s[0].len);
	return j->json != NULL;
}

static void
plain(struct sql_session *s, const char *text)
{
	static const struct sql_sink silent;
	struct cat_err err;
	if (!sql_execute(s, text, strlen(text), &silent, &err)) {
		fprintf(stderr, "%s: %s %s\n", text, err.sqlstate, err.text);
		abort();
	}
}

static void
check(struct job *j, const struct cn_place *place, struct sql_session *s, unsigned i, const char *iso)
{
	static unsigned tables;
	char inner[400], text[500];
	struct cat_err err;
	struct sql_sink sink = { .arg = j, .rows = rows };
	snprintf(inner, sizeof inner, asked[i].text, ++tables);
	snprintf(text, sizeof text, "explain (analyze, format json) %s", inner);
	struct figures before = net_figures(place);
	if (!sql_execute(s, text, strlen(text), &sink, &err)) {
		fprintf(stderr, "%s: %s %s\n", text, err.sqlstate, err.text);
		abort();
	}
	struct figures net = net_figures(place), sum = { { 0 } };
	for (unsigned f = 0; f < FIGURES; f++)
		net.n[f] -= before.n[f];
	unsigned operators, times;
	struct figures exclusive = sum_of(j->json, "Fabric Exclusive", &operators);
	static const char *const phase[] = { "Begin", "Planning", "Statement", "Commit" };
	add(&sum, &exclusive);
	for (unsigned k = 0; k < 4; k++) {
		struct figures f = sum_of(j->json, phase[k], &times);
		add(&sum, &f);
	}
	struct figures said = sum_of(j->json, "Operators", &times), total = sum_of(j->json, "Total", &times);
	for (const char *p = j->json; (p = strstr(p, "\"Network Time of All Loops\": ")) != NULL; p++)
		j->waited_ms += strtod(strchr(p, ':') + 1, NULL);
	bool least = operators > 0;
	bool locks = iso[0] == 0 || strcmp(iso, "read committed") == 0; /* else the commit does */
	/* a row that the block has inserted may be found without a verb */
	bool at_hand = iso[0] != 0 && strcmp(asked[i].text, "delete from b where k = 100") == 0;
	for (unsigned k = 0; k < 4; k++)
		least &= (k == 2 && !locks) || at_hand || exclusive.n[k] >= asked[i].least[k];
	j->checked++;
	if (EXPLAIN_TWIN && asked[i].lookup && !same(&sum, &total))
		j->blind++;
	if (same(&net, &total) && (EXPLAIN_TWIN || (same(&sum, &total) && same(&said, &exclusive) && least)))
		return;
	j->wrong++;
	fprintf(stderr, "%s%s\n  %-10s %10s %10s %10s %10s %10s %10s\n", iso, inner, "", "read", "write",
	    "cas", "fetch_add", "in", "out");
	show("net", &net);
	show("total", &total);
	show("sum", &sum);
	show("operators", &exclusive);
}

static void
body(const struct cn_place *place, void *arg)
{
	struct job *j = arg;
	struct sql_session *s;
	struct sql_session_config cfg = { .tw = place->txn, .cat = place->cat, .parser = place->parser };
	if (sql_session_open(&cfg, &s) != NAM_OK)
		abort();
	plain(s, "create table a (k int primary key, g text, v int)");
	plain(s, "create table b (k int primary key, t text)");
	plain(s, "create table wide (k int primary key, t text)");
	plain(s, "create sequence s");
	plain(s, "insert into a select n, 'g' || n % 5, n - 1 from generate_series(1, 3000) n");
	plain(s, "insert into b select n, 'b' from generate_series(1, 50) n");
	net_sleep(place->net, 50000000); /* what follows behind their answers is over */
	for (unsigned i = 0; i < sizeof asked / sizeof *asked; i++)
		check(j, place, s, i, "");
	static const char *const iso[] = { "read committed", "repeatable read", "serializable" };
	for (unsigned k = 0; k < 3; k++) {
		char text[80];
		snprintf(text, sizeof text, "begin isolation level %s", iso[k]);
		plain(s, text);
		for (unsigned i = 0; i + 1 < sizeof asked / sizeof *asked; i++)
			if (strstr(asked[i].text, "into b values (100, 'x')") == NULL)
				check(j, place, s, i, iso[k]);
		plain(s, "rollback");
		net_sleep(place->net, 50000000);
	}
	plain(s, "set default_transaction_isolation = serializable");
	for (unsigned i = 0; i < 14; i++)
		check(j, place, s, i, "serializable, alone: ");
	check(j, place, s, 21, "serializable, alone: ");
	sql_session_close(s);
	free(j->json);
	__atomic_store_n(&j->done, true, __ATOMIC_RELEASE);
}

/* waits: the fabric lets its users wait, else they read and write its memory themselves. */
static void
ask_all(struct cn_config *cfg, bool waits)
{
	struct nam_err err = { 0 };
	struct cn *cn;
	struct job j = { 0 };
	cfg->workers = 1;
	cfg->txn.vector = 1 << 16;
	if (cn_open(&cn, cfg, &err) != NAM_OK || cn_start(cn, 0, body, &j, 0) != NAM_OK) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	while (!__atomic_load_n(&j.done, __ATOMIC_ACQUIRE))
		usleep(1000);
	cn_close(cn);
	assert_int_equal(j.wrong, 0);
	assert_true(j.checked > 100);
	if (waits)
		assert_true(j.waited_ms > 1);
	else
		assert_true(j.waited_ms == 0);
	if (EXPLAIN_TWIN)
		assert_true(j.blind > 20); /* the test sees what the twin forgets */
}

static void
shm(unsigned nodes)
{
	struct sn_region *region[3];
	struct net_local *local[4] = { NULL };
	struct nam_err err = { 0 };
	for (unsigned i = 0; i < nodes; i++) {
		struct sn_region_config rc = {
			.id = i + 1, .size = 128u << 20, .huge = SN_HUGE_OFF, .numa = -1
		};
		assert_int_equal(sn_region_open(&region[i], &rc, &err), NAM_OK);
		local[i] = sn_local(region[i]);
	}
	ask_all(&(struct cn_config){ .local = local }, false);
	for (unsigned i = 0; i < nodes; i++)
		sn_region_close(region[i]);
}

static void
shm_one_node(void **state)
{
	(void)state;
	shm(1);
}

static void
shm_three_nodes(void **state)
{
	(void)state;
	shm(3);
}

static void
tcp_two_nodes(void **state)
{
	(void)state;
	struct test_node node[2];
	struct sn_server_config sc = { .no_shm = true, .secret = "s", .secret_len = 1 };
	char where[200];
	for (unsigned i = 0; i < 2; i++)
		test_node_start(&node[i], i + 1, 128u << 20, &sc);
	snprintf(where, sizeof where, "%s,%s", sn_server_address(node[0].server),
	    sn_server_address(node[1].server));
	ask_all(
	    &(struct cn_config){ .storage = where, .fabric = NET_TCP, .secret = "s", .secret_len = 1 }, true);
	for (unsigned i = 0; i < 2; i++)
		test_node_stop(&node[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shm_one_node),
		cmocka_unit_test(shm_three_nodes),
		cmocka_unit_test(tcp_two_nodes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
