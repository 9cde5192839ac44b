/* beside.c -- analytic SQL over the checkout's tables, on a worker of its own, at one snapshot
 * for a whole slice. */
#include "tpcw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY = 256 << 20, SLEEP_NS = 1000000 };

static const char *const name[] = { [TPCW_NOTHING] = "nothing",
	[TPCW_PRODUCTS] = "products",
	[TPCW_SALES] = "sales",
	[TPCW_ALL] = "all",
	[TPCW_SNAPSHOT] = "snapshot",
	[TPCW_MEMORY] = "memory" };

enum { Q_PRODUCTS, Q_ORDERS, Q_SALES, Q_COUNT };
static const struct {
	const char *sql;
	unsigned columns;
	bool asked[TPCW_LOADS]; /* by which load */
} query[Q_COUNT] = {
	[Q_PRODUCTS] = { "SELECT count(*), sum(stock)::bigint, sum(sold)::bigint, "
			 "sum(CASE WHEN stock + sold <> 1000000 THEN 1 ELSE 0 END)::bigint FROM product",
	    4, { [TPCW_PRODUCTS] = true, [TPCW_ALL] = true } },
	[Q_ORDERS] = { "SELECT count(*), coalesce(sum(total_cents), 0)::bigint FROM orders", 2,
	    { [TPCW_ALL] = true } },
	[Q_SALES] = { "SELECT count(*), coalesce(sum(l.quantity), 0)::bigint, "
		      "coalesce(sum(l.quantity * l.price_cents), 0)::bigint "
		      "FROM orders o JOIN order_line l ON o.id = l.order_id",
	    3, { [TPCW_SALES] = true, [TPCW_ALL] = true } },
};

bool
tpcw_beside_named(const char *s, enum tpcw_load *load)
{
	for (unsigned i = TPCW_PRODUCTS; i < TPCW_LOADS; i++)
		if (strcmp(s, name[i]) == 0) {
			*load = (enum tpcw_load)i;
			return true;
		}
	return false;
}

const char *
tpcw_beside_name(enum tpcw_load load)
{
	return name[load];
}

static uint64_t
complain(const char *what, bool wrong)
{
	if (wrong)
		fprintf(stderr, "namdb bench: beside: %s\n", what);
	return wrong;
}

/* The snapshot holds whole checkouts: of stock, sold, orders and lines. */
static uint64_t
judge(const struct tpcw_beside *b, const struct tpcw_answer a[Q_COUNT])
{
	const int64_t *product = a[Q_PRODUCTS].i, *order = a[Q_ORDERS].i, *sale = a[Q_SALES].i;
	int64_t products = (int64_t)b->products;
	return complain("products are missing", product[0] != products) +
	       complain("stock and sold do not add up", product[1] + product[2] != products * TPCW_STOCK) +
	       complain("a product's stock and sold do not add up", product[3] != 0) +
	       complain("what was sold is not what was ordered", product[2] != sale[1]) +
	       complain("an order has not three lines", sale[0] != order[0] * TPCW_ITEMS) +
	       complain("the orders' totals are not their lines'", order[1] != sale[2]);
}

static bool
ask(struct sql_session *s, unsigned q, struct tpcw_answer *a)
{
	*a = (struct tpcw_answer){ 0 };
	return tpcw_sql_exec(s, query[q].sql, a) && a->rows == 1;
}

/* The load once. False: it could not be asked. */
static bool
round_of(struct tpcw_beside *b, const struct cn_place *pl, struct sql_session *s,
    const struct tpcw_answer first[Q_COUNT])
{
	for (unsigned q = 0; q < Q_COUNT; q++) {
		struct tpcw_answer a;
		if (!query[q].asked[b->load])
			continue;
		uint64_t began = net_now_ns(pl->net);
		if (!ask(s, q, &a))
			return false;
		nam_hist_add(&b->latency_ns, net_now_ns(pl->net) - began);
		b->queries++;
		b->bad += complain("an answer changed at one snapshot",
		    memcmp(a.i, first[q].i, query[q].columns * sizeof a.i[0]) != 0);
	}
	return true;
}

/* What questions cost the memory alone: a stretch READ over and over, without a snapshot. */
static void
read_memory(struct tpcw_beside *b)
{
	uint64_t *word = malloc(MEMORY);
	volatile uint64_t all = 0;
	b->bad += complain("no memory", word == NULL);
	if (word != NULL)
		memset(word, 1, MEMORY);
	atomic_store(&b->ready, true);
	while (word != NULL && !atomic_load(&b->stop)) {
		uint64_t sum = 0;
		for (size_t i = 0; i < MEMORY / 8; i++)
			sum += word[i];
		all = all + sum;
	}
	free(word);
}

static void
job_main(const struct cn_place *pl, void *arg)
{
	struct tpcw_beside *b = arg;
	if (b->load == TPCW_MEMORY) {
		read_memory(b);
		return;
	}
	struct tpcw_answer first[Q_COUNT];
	struct sql_session *s = tpcw_sql_session(pl);
	bool ok = s != NULL && tpcw_sql_exec(s, "SET namdb.parallel = 1", NULL) &&
		  tpcw_sql_exec(s, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", NULL);
	for (unsigned q = 0; ok && q < Q_COUNT; q++)
		ok = ask(s, q, &first[q]);
	if (ok)
		b->bad += judge(b, first);
	atomic_store(&b->ready, true);
	do {
		if (b->load == TPCW_SNAPSHOT)
			net_sleep(pl->net, SLEEP_NS);
		else
			ok = ok && round_of(b, pl, s, first);
	} while (ok && !atomic_load(&b->stop));
	b->bad += complain("it could not be asked", !ok || !tpcw_sql_exec(s, "COMMIT", NULL));
	if (s != NULL)
		sql_session_close(s);
}

nam_status
tpcw_beside_start(struct tpcw_beside *b, struct cn *cn, unsigned worker)
{
	enum { LOOK_MS = 5 };
	atomic_store(&b->ready, false);
	atomic_store(&b->stop, false);
	b->job = (struct bench_job){ .run = job_main, .arg = b };
	nam_status st = bench_job_start(cn, &b->jobs, worker, &b->job);
	while (st == NAM_OK && !atomic_load(&b->ready))
		bench_jobs_wait(&b->jobs, LOOK_MS);
	return st;
}

void
tpcw_beside_stop(struct tpcw_beside *b)
{
	atomic_store(&b->stop, true);
	bench_jobs_wait(&b->jobs, 0);
}
