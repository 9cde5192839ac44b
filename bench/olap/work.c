/* work.c -- constants of work (work.h): a join with filters and aggregations by two nodes of this
 * thread, whose every step is timed. */
#include "join_data.h"
#include "work.h"

#include <base/clock.h>
#include <base/hash.h>
#include <olap/shuffle/shuffle.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 2, WIDTH = 16, ROWS = 4 << 20, FEW = 1000, MANY = 2 << 20, ROUNDS = 3, FILTER_BITS = 64 };

static const char *const name[OLAP_WORKS] = { "partition", "scatter", "send", "build", "probe", "group",
	"group_far", "copy", "filter_add", "filter_test" };

/* bench/olap/README.md, "The paper's joins on a model", says where each comes from. */
static const double cycles[OLAP_WORKS] = {
	[OLAP_PARTITION] = 14,
	[OLAP_SCATTER] = 20,
	[OLAP_SEND] = 18,
	[OLAP_BUILD] = 18,
	[OLAP_PROBE] = 35,
	[OLAP_GROUP] = 18,
	[OLAP_GROUP_FAR] = 175,
	[OLAP_COPY] = 0.6,
	[OLAP_FILTER_ADD] = 95,
	[OLAP_FILTER_TEST] = 110,
};

static const struct {
	const char *model;
	double ghz;
} clocks[] = { { "fdr4x", 2.2 } };

struct bench_work
bench_work_at(double ghz)
{
	struct bench_work w;
	for (unsigned i = 0; i < OLAP_WORKS; i++)
		w.ps[i] = cycles[i] / ghz * 1000;
	return w;
}

double
bench_work_ghz(const char *model)
{
	for (unsigned i = 0; i < sizeof clocks / sizeof clocks[0]; i++)
		if (strcmp(clocks[i].model, model) == 0)
			return clocks[i].ghz;
	return 0;
}

/* ---- measuring ------------------------------------------------------------------- */

/* A message that waits. */
struct letter {
	struct letter *next;
	unsigned to;
	uint32_t len;
	_Alignas(8) char bytes[];
};

struct measure {
	uint64_t since; /* when the last step ended */
	uint64_t ns[OLAP_WORKS], n[OLAP_WORKS];
	struct letter *first, **end;
	uint64_t pairs;
	bool full;
};

static void
sends(void *arg, unsigned to, const void *bytes, uint32_t len)
{
	struct measure *m = arg;
	uint64_t began = nam_clock_ns();
	struct letter *l = malloc(sizeof *l + len);
	m->full |= l == NULL;
	if (l == NULL)
		return;
	*l = (struct letter){ .to = to, .len = len };
	memcpy(l->bytes, bytes, len);
	*m->end = l;
	m->end = &l->next;
	m->since += nam_clock_ns() - began; /* no step of a node */
}

static void
spends(void *arg, enum olap_work what, uint64_t n)
{
	struct measure *m = arg;
	uint64_t now = nam_clock_ns();
	m->ns[what] += now - m->since;
	m->n[what] += n;
	m->since = now;
}

static nam_status
take_pairs(void *arg, const struct olap_pairs *p)
{
	((struct measure *)arg)->pairs += p->n;
	return NAM_OK;
}

static nam_status
take_groups(void *arg, const uint64_t *g, unsigned n)
{
	(void)g;
	((struct measure *)arg)->pairs += n;
	return NAM_OK;
}

/* Steps and messages, until both nodes are over. */
static nam_status
play(struct measure *m, struct olap_node *node[NODES])
{
	nam_status st[NODES] = { NAM_BUSY, NAM_BUSY };
	bool over = false;
	while (!over) {
		over = true;
		for (unsigned i = 0; i < NODES; i++) {
			m->since = nam_clock_ns();
			if (st[i] == NAM_BUSY)
				st[i] = olap_node_step(node[i]);
			if (st[i] != NAM_OK && st[i] != NAM_BUSY)
				return st[i];
			over &= st[i] == NAM_OK;
		}
		for (struct letter *l; (l = m->first) != NULL; free(l)) {
			m->first = l->next;
			m->since = nam_clock_ns();
			nam_status one = olap_node_take(node[l->to], l->bytes, l->len);
			if (one != NAM_OK)
				return one;
		}
		m->end = &m->first;
		if (m->full)
			return NAM_NOMEM;
	}
	return NAM_OK;
}

static nam_status
run(struct measure *m, struct olap_shuffle s[NODES])
{
	struct olap_node *node[NODES] = { NULL };
	nam_status st = NAM_OK;
	m->end = &m->first;
	for (unsigned i = 0; st == NAM_OK && i < NODES; i++) {
		s[i].self = i;
		s[i].nodes = NODES;
		s[i].width = WIDTH;
		s[i].wire = (struct olap_wire){ sends, spends, m };
		s[i].arg = m;
		st = olap_node_open(&s[i], &node[i]);
	}
	if (st == NAM_OK)
		st = play(m, node);
	for (unsigned i = 0; i < NODES; i++)
		olap_node_close(node[i]);
	for (struct letter *l; (l = m->first) != NULL; free(l))
		m->first = l->next;
	return st;
}

static nam_status
join(struct measure *m, uint64_t *const t[2])
{
	struct olap_shuffle s[NODES];
	for (unsigned i = 0; i < NODES; i++)
		s[i] = (struct olap_shuffle){ .filters = true,
			.filter_bits = FILTER_BITS,
			.all = { ROWS, ROWS },
			.tuples = { t[0] + (size_t)i * ROWS, t[1] + (size_t)i * ROWS },
			.n = { ROWS / NODES, ROWS / NODES },
			.pairs = take_pairs };
	return run(m, s);
}

static nam_status
sums(struct measure *m, const uint64_t *t)
{
	struct olap_shuffle s[NODES];
	for (unsigned i = 0; i < NODES; i++)
		s[i] = (struct olap_shuffle){ .tuples = { t + (size_t)i * ROWS },
			.n = { ROWS / NODES },
			.aggregate = { { OLAP_SUM, 1 } },
			.aggregates = 1,
			.groups = take_groups };
	return run(m, s);
}

static void
groups_of(uint64_t *t, unsigned groups)
{
	for (uint64_t i = 0; i < ROWS; i++)
		t[2 * i] = nam_mix(nam_mix(i) % groups);
}

/* This core's clock: an addition waits for the one before. */
static double
ghz(void)
{
	enum { STEPS = 50000000 };
	uint64_t least = UINT64_MAX;
	for (unsigned k = 0; k < ROUNDS; k++) {
		uint64_t x = 1, began = nam_clock_ns();
		for (unsigned i = 0; i < STEPS; i += 10)
			__asm__ volatile(
			    "add $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\t"
			    "add $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0"
			    : "+r"(x));
		uint64_t ns = nam_clock_ns() - began;
		least = ns < least ? ns : least;
	}
	return (double)STEPS / (double)least;
}

static void
print(const double *ns, double clock, bool json)
{
	if (json)
		printf("{\"bench\": \"work\", \"metrics\": {\"clock_ghz\": %.3g", clock);
	else
		printf("%.2f GHz\n%-12s %8s %8s %8s\n", clock, "", "ns", "cycles", "model");
	for (unsigned i = 0; i < OLAP_WORKS; i++) {
		if (json)
			printf(
			    ", \"%s_ns\": %.4g, \"%s_cycles\": %.4g", name[i], ns[i], name[i], ns[i] * clock);
		else
			printf("%-12s %8.3f %8.2f %8.2f\n", name[i], ns[i], ns[i] * clock, cycles[i]);
	}
	printf("%s", json ? "}}\n" : "");
}

nam_status
bench_work_measure(bool json)
{
	uint64_t *t[2] = { malloc((size_t)ROWS * WIDTH), malloc((size_t)ROWS * WIDTH) };
	const struct join_draw d = { 1, ROWS, 1, 0, WIDTH };
	double ns[OLAP_WORKS] = { 0 };
	nam_status st = t[0] != NULL && t[1] != NULL ? NAM_OK : NAM_NOMEM;
	for (unsigned k = 0; st == NAM_OK && k < ROUNDS; k++) {
		struct measure m = { 0 }, few = { 0 }, many = { 0 };
		bench_join_fill_r(&d, 0, ROWS, t[0]);
		bench_join_fill_s(&d, 0, ROWS, t[1]);
		st = join(&m, t);
		groups_of(t[0], FEW);
		if (st == NAM_OK)
			st = sums(&few, t[0]);
		groups_of(t[0], MANY);
		if (st == NAM_OK)
			st = sums(&many, t[0]);
		m.ns[OLAP_GROUP] = few.ns[OLAP_GROUP];
		m.n[OLAP_GROUP] = few.n[OLAP_GROUP];
		m.ns[OLAP_GROUP_FAR] = many.ns[OLAP_GROUP_FAR];
		m.n[OLAP_GROUP_FAR] = many.n[OLAP_GROUP_FAR];
		for (unsigned i = 0; st == NAM_OK && i < OLAP_WORKS; i++) {
			double each = m.n[i] > 0 ? (double)m.ns[i] / (double)m.n[i] : 0;
			ns[i] = k == 0 || each < ns[i] ? each : ns[i];
		}
	}
	free(t[0]);
	free(t[1]);
	if (st == NAM_OK)
		print(ns, ghz(), json);
	return st;
}
