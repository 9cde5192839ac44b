/* cost_measure.c -- measures the costs of this process's fabric and processor once when it starts:
 * takes a few milliseconds. */
#include <base/clock.h>
#include <base/hash.h>
#include <base/rng.h>
#include <sql/plan/cost.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
	READS = 33,        /* small READs, one by one */
	TOGETHER = 32,     /* and in one doorbell */
	LARGE = 128 << 10, /* bytes of a large READ */
	HASHES = 20000,    /* values hashed, and looked up */
	ROUNDS = 4,
	NEAR = 1 << 12,         /* entries of a table that the cache holds */
	FAR = 1 << 21,          /* of one it does not: 16 MiB */
	STANDARD_HASH_PS = 1500 /* what hashing a value took where the standard figures come from */
};

static struct sql_costs measured;
static _Atomic(const struct sql_costs *) now = &sql_costs_standard;

const struct sql_costs *
sql_costs_now(void)
{
	return atomic_load_explicit(&now, memory_order_acquire);
}

static int
ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* A quarter of the tries are faster: what other threads of the machine cost stays out of it. */
static double
quartile(uint64_t *ns, unsigned n)
{
	qsort(ns, n, sizeof *ns, ascending);
	return (double)ns[n / 4];
}

static double
between(double x, double lo, double hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

bool
sql_costs_of_fabric(struct net_worker *w, net_addr at, struct sql_costs *c)
{
	uint64_t word[TOGETHER], ns[READS];
	struct net_op op[TOGETHER];
	for (unsigned i = 0; i < READS; i++) {
		uint64_t start = nam_clock_ns();
		if (net_read1(w, at, word, sizeof *word, NULL) != NAM_OK)
			return false;
		ns[i] = nam_clock_ns() - start;
	}
	c->trip = between(quartile(ns, READS), 20, 10e6);
	for (unsigned i = 0; i < READS / 4; i++) {
		struct net_batch b;
		net_batch_init(&b, w, op, TOGETHER, NULL);
		for (unsigned k = 0; k < TOGETHER; k++)
			net_read(&b, at, &word[k], sizeof *word);
		uint64_t start = nam_clock_ns();
		if (net_run(&b) != NAM_OK)
			return false;
		ns[i] = nam_clock_ns() - start;
	}
	/* finding a row by key is a READ in the index and one of the row, with what is done about
	 * them */
	c->verb = 100 + 2 * between((quartile(ns, READS / 4) - c->trip) / (TOGETHER - 1), 5, 1e5);
	char *large = malloc(LARGE);
	bool ok = large != NULL;
	for (unsigned i = 0; ok && i < READS / 4; i++) {
		uint64_t start = nam_clock_ns();
		ok = net_read1(w, at, large, LARGE, NULL) == NAM_OK;
		ns[i] = nam_clock_ns() - start;
	}
	if (ok)
		c->byte = between((quartile(ns, READS / 4) - c->trip) / LARGE, 0.02, 100);
	free(large);
	return true; /* a region too small for a large READ: the standard figure */
}

/* Nanoseconds for asking a table of so many entries, one question after the other. */
static double
ask(uint64_t *table, unsigned entries, volatile uint64_t *sink)
{
	uint64_t x = 1, start = nam_clock_ns();
	for (unsigned i = 0; i < HASHES; i++)
		x += table[nam_hash(&x, sizeof x, i) & (entries - 1)] + 1;
	*sink = x;
	return (double)(nam_clock_ns() - start) / HASHES;
}

/* The least of some rounds: what the machine does beside this only adds. */
static double
least(uint64_t *table, unsigned entries)
{
	volatile uint64_t sink;
	double best = ask(table, entries, &sink);
	for (unsigned i = 1; i < ROUNDS; i++) {
		double again = ask(table, entries, &sink);
		best = again < best ? again : best;
	}
	return best;
}

void
sql_costs_of_processor(struct sql_costs *c)
{
	/* not malloc's: giving back that much would change how it takes large pieces from then
	 * on */
	uint64_t *table =
	    mmap(NULL, FAR * sizeof *table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (table == MAP_FAILED)
		return;
	for (unsigned i = 0; i < FAR; i += 512)
		table[i] = i; /* touched */
	double near = least(table, NEAR), far = least(table, FAR);
	munmap(table, FAR * sizeof *table);
	double scale = between(near * 1e3 / STANDARD_HASH_PS / 6, 0.2, 10);
	c->row *= scale;
	c->value *= scale;
	c->hash_near *= scale;
	c->hash_far = c->hash_near + between(far - near, 5, 1000);
}

void
sql_costs_measure(struct net_worker *w, net_addr at)
{
	static atomic_flag once = ATOMIC_FLAG_INIT;
	if (atomic_flag_test_and_set(&once))
		return;
	measured = sql_costs_standard;
	if (!sql_costs_of_fabric(w, at, &measured))
		return;
	sql_costs_of_processor(&measured);
	atomic_store_explicit(&now, &measured, memory_order_release);
}
