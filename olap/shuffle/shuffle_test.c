/*
 * shuffle_test.c -- joins and aggregations of nodes that share nothing, whose messages are under
 * way for a random time: beside nested loops and an array; and messages that are none.
 */
#include <base/rng.h>
#include <olap/shuffle/shuffle.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 5, PER_NODE = 600, KEYS_MAX = 4096, SEEDS = 60 };

/* A message on its way. */
struct letter {
	struct letter *next;
	uint32_t len;
	_Alignas(8) char bytes[];
};

struct world;
struct side_of {
	struct world *world;
	unsigned self;
	struct olap_node *node;
	struct olap_shuffle s;
	bool over;
};

struct world {
	struct nam_rng dice;
	unsigned nodes, keys;
	struct letter *first[NODES][NODES], **end[NODES][NODES];
	struct side_of node[NODES];
	uint64_t *tuple[NODES][2];
	uint32_t width;
	/* the answer */
	uint64_t pairs, sum;
	uint64_t group_sum[KEYS_MAX], group_count[KEYS_MAX], groups;
	uint64_t spent[OLAP_WORKS];
};

static void
sends(void *arg, unsigned to, const void *bytes, uint32_t len)
{
	struct side_of *me = arg;
	struct world *x = me->world;
	struct letter *l = malloc(sizeof *l + len);
	assert_non_null(l);
	assert_int_not_equal(to, me->self);
	l->next = NULL;
	l->len = len;
	memcpy(l->bytes, bytes, len);
	*x->end[me->self][to] = l;
	x->end[me->self][to] = &l->next;
}

static void
spends(void *arg, enum olap_work what, uint64_t n)
{
	((struct side_of *)arg)->world->spent[what] += n;
}

static uint64_t
pair_sum(const struct world *x, const uint64_t *l, const uint64_t *r)
{
	uint64_t h = l[0];
	for (unsigned k = 1; k < x->width / 8; k++)
		h = h * 31 + l[k] * 7 + r[k];
	return h;
}

static nam_status
take_pairs(void *arg, const struct olap_pairs *p)
{
	struct world *x = ((struct side_of *)arg)->world;
	x->pairs += p->n;
	for (unsigned i = 0; i < p->n; i++)
		x->sum += pair_sum(x, p->left[i], p->right[i]);
	return NAM_OK;
}

static nam_status
take_groups(void *arg, const uint64_t *g, unsigned n)
{
	struct world *x = ((struct side_of *)arg)->world;
	for (unsigned i = 0; i < n; i++, g += 3) {
		assert_true(g[0] < x->keys);
		assert_int_equal(x->group_count[g[0]], 0); /* each group comes once */
		x->group_sum[g[0]] = g[1];
		x->group_count[g[0]] = g[2];
		x->groups++;
	}
	return NAM_OK;
}

static void
world_open(struct world *x, uint64_t seed, bool join, bool filters)
{
	memset(x, 0, sizeof *x);
	nam_rng_init(&x->dice, seed);
	x->nodes = 1 + (unsigned)nam_rng_below(&x->dice, NODES);
	x->keys = 1 + (unsigned)nam_rng_below(&x->dice, KEYS_MAX);
	x->width = nam_rng_below(&x->dice, 3) == 0 ? 24 : 16;
	uint64_t all[2] = { 0 };
	for (unsigned i = 0; i < x->nodes; i++) {
		struct side_of *me = &x->node[i];
		*me = (struct side_of){ .world = x, .self = i };
		me->s = (struct olap_shuffle){ .self = i,
			.nodes = x->nodes,
			.width = x->width,
			.wire = { sends, spends, me },
			.filters = filters,
			.pairs = join ? take_pairs : NULL,
			.groups = join ? NULL : take_groups,
			.aggregate = { { OLAP_SUM, 1 }, { OLAP_COUNT, 0 } },
			.aggregates = 2,
			.arg = me };
		for (unsigned s = 0; s < 2; s++) {
			uint64_t n = nam_rng_below(&x->dice, nam_rng_below(&x->dice, 5) == 0 ? 3 : PER_NODE);
			uint64_t *t = malloc((n + 1) * x->width);
			x->tuple[i][s] = t;
			for (uint64_t k = 0; k < n; k++, t += x->width / 8) {
				/* The right side's keys are even, so not all have partners. */
				t[0] = nam_rng_below(&x->dice, x->keys) & ~(uint64_t)s;
				for (unsigned w = 1; w < x->width / 8; w++)
					t[w] = nam_rng_next(&x->dice) >> 20;
			}
			me->s.tuples[s] = x->tuple[i][s];
			me->s.n[s] = n;
			all[s] += n;
		}
		for (unsigned k = 0; k < x->nodes; k++)
			x->end[i][k] = &x->first[i][k];
	}
	for (unsigned i = 0; i < x->nodes; i++) {
		memcpy(x->node[i].s.all, all, sizeof all);
		assert_int_equal(olap_node_open(&x->node[i].s, &x->node[i].node), NAM_OK);
	}
}

static void
step(struct side_of *me)
{
	nam_status st = me->over ? NAM_OK : olap_node_step(me->node);
	assert_true(st == NAM_OK || st == NAM_BUSY);
	me->over = st == NAM_OK;
}

/* Messages of one pair of nodes keep their order; of which pair the next one is, is chance. */
static void
play(struct world *x)
{
	bool begun[NODES] = { false };
	for (;;) {
		unsigned from = (unsigned)nam_rng_below(&x->dice, x->nodes);
		unsigned to = (unsigned)nam_rng_below(&x->dice, x->nodes), over = 0, waiting = 0;
		if (!begun[from])
			step(&x->node[from]);
		begun[from] = true;
		struct letter *l = x->first[from][to];
		if (l != NULL) {
			x->first[from][to] = l->next;
			if (l->next == NULL)
				x->end[from][to] = &x->first[from][to];
			assert_int_equal(olap_node_take(x->node[to].node, l->bytes, l->len), NAM_OK);
			if (begun[to])
				step(&x->node[to]);
			free(l);
		}
		for (unsigned i = 0; i < x->nodes; i++) {
			over += begun[i] && x->node[i].over;
			for (unsigned k = 0; k < x->nodes; k++)
				waiting += x->first[i][k] != NULL;
		}
		if (over == x->nodes) {
			assert_int_equal(waiting, 0);
			return;
		}
	}
}

static void
world_close(struct world *x)
{
	for (unsigned i = 0; i < x->nodes; i++) {
		olap_node_close(x->node[i].node);
		free(x->tuple[i][0]);
		free(x->tuple[i][1]);
	}
}

static void
judge_join(const struct world *x)
{
	uint64_t pairs = 0, sum = 0;
	for (unsigned a = 0; a < x->nodes; a++)
		for (unsigned b = 0; b < x->nodes; b++)
			for (uint64_t i = 0; i < x->node[a].s.n[0]; i++)
				for (uint64_t k = 0; k < x->node[b].s.n[1]; k++) {
					const uint64_t *l = x->tuple[a][0] + i * x->width / 8;
					const uint64_t *r = x->tuple[b][1] + k * x->width / 8;
					if (l[0] != r[0])
						continue;
					pairs++;
					sum += pair_sum(x, l, r);
				}
	assert_int_equal(x->pairs, pairs);
	assert_int_equal(x->sum, sum);
}

static void
joins(void **state)
{
	static struct world x;
	uint64_t kept_out = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		for (unsigned filters = 0; filters < 2; filters++) {
			world_open(&x, seed, true, filters != 0);
			play(&x);
			judge_join(&x);
			assert_true((x.spent[OLAP_FILTER_TEST] > 0) <= (filters != 0));
			for (unsigned i = 0; i < x.nodes; i++) {
				kept_out += x.node[i].s.did.kept_out;
				if (filters == 0)
					assert_int_equal(x.node[i].s.did.kept_out, 0);
			}
			world_close(&x);
		}
	assert_true(kept_out > SEEDS * 100); /* half of the left side has no partner */
}

static void
aggregations(void **state)
{
	static struct world x;
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		static uint64_t sum[KEYS_MAX], count[KEYS_MAX];
		memset(sum, 0, sizeof sum);
		memset(count, 0, sizeof count);
		world_open(&x, seed, false, false);
		play(&x);
		for (unsigned a = 0; a < x.nodes; a++)
			for (uint64_t i = 0; i < x.node[a].s.n[0]; i++) {
				const uint64_t *t = x.tuple[a][0] + i * x.width / 8;
				sum[t[0]] += t[1];
				count[t[0]]++;
			}
		assert_memory_equal(x.group_sum, sum, sizeof sum);
		assert_memory_equal(x.group_count, count, sizeof count);
		world_close(&x);
	}
}

/* A filter's errors are as many as it says. */
static void
filter_errors(void **state)
{
	static struct world x;
	(void)state;
	for (unsigned bits = 2; bits <= 12; bits += 2) {
		enum { MANY = 20000 };
		uint64_t *t[2] = { malloc(MANY * 16), malloc(MANY * 16) };
		memset(&x, 0, sizeof x);
		x.nodes = 1;
		struct side_of *me = &x.node[0];
		*me = (struct side_of){ .world = &x };
		for (unsigned i = 0; i < MANY; i++) {
			t[0][2 * i] = i;
			t[1][2 * i] = i + 10 * MANY; /* no tuple has a partner */
			t[0][2 * i + 1] = t[1][2 * i + 1] = 0;
		}
		me->s = (struct olap_shuffle){ .nodes = 1,
			.width = 16,
			.wire = { sends, NULL, me },
			.filters = true,
			.filter_bits = bits,
			.all = { MANY, MANY },
			.tuples = { t[0], t[1] },
			.n = { MANY, MANY },
			.pairs = take_pairs,
			.arg = me };
		assert_int_equal(olap_node_open(&me->s, &me->node), NAM_OK);
		assert_int_equal(olap_node_step(me->node), NAM_OK);
		double error = 1 - (double)me->s.did.kept_out / (2.0 * MANY), want = olap_filter_error(bits);
		assert_true(error > want * 0.8 - 0.01 && error < want * 1.2 + 0.01);
		assert_int_equal(x.pairs, 0);
		olap_node_close(me->node);
		free(t[0]);
		free(t[1]);
	}
}

static void
bad_messages(void **state)
{
	static struct world x;
	(void)state;
	world_open(&x, 3, true, true);
	while (x.nodes < 2) {
		world_close(&x);
		world_open(&x, nam_rng_next(&x.dice), true, true);
	}
	struct {
		struct shuffle_head h;
		uint64_t words[4];
	} m = { { .magic = SHUFFLE_MAGIC, .kind = SHUFFLE_TUPLES, .from = 1, .bytes = 0 }, { 0 } }, good = m;
	struct olap_node *node = x.node[0].node;
	assert_int_equal(olap_node_take(node, &m, sizeof m.h), NAM_OK);
	good.h.number = m.h.number = 1;
	assert_int_equal(olap_node_take(node, &m, 8), NAM_CORRUPT);
	assert_int_equal(olap_node_take(node, &m, sizeof m), NAM_CORRUPT);
#define BAD(what)                                                                                            \
	m = good;                                                                                            \
	what;                                                                                                \
	assert_int_equal(olap_node_take(node, &m, (uint32_t)sizeof m.h + m.h.bytes), NAM_CORRUPT)
	BAD(m.h.number = 0); /* once more */
	BAD(m.h.number = 2); /* one is missing */
	BAD(m.h.magic++);
	BAD(m.h.kind = SHUFFLE_KINDS);
	BAD(m.h.side = 2);
	BAD(m.h.from = x.nodes);
	BAD(m.h.from = 0);
	BAD(m.h.bytes = 8);
	good.h.number++; /* these were counted */
	BAD((m.h.kind = SHUFFLE_FILTER, m.h.bytes = 4));
	good.h.number++;
	BAD((m.h.kind = SHUFFLE_FILTER, m.h.first = 1u << 30));
	good.h.number++;
	BAD((m.h.kind = SHUFFLE_PART, m.h.first = 1u << 30, m.h.bytes = 32));
	good.h.number++;
	/* More ENDs than nodes. */
	m = good;
	m.h.kind = SHUFFLE_END;
	for (unsigned i = 0; i < x.nodes; i++, m.h.number++)
		assert_int_equal(olap_node_take(node, &m, sizeof m.h), NAM_OK);
	assert_int_equal(olap_node_take(node, &m, sizeof m.h), NAM_CORRUPT);
	world_close(&x);
	/* Without filters none may come. */
	struct olap_shuffle s = { .nodes = 2, .width = 16, .pairs = take_pairs };
	assert_int_equal(olap_node_open(&s, &node), NAM_OK);
	m = good;
	m.h.number = 0;
	m.h.kind = SHUFFLE_PART;
	assert_int_equal(olap_node_take(node, &m, sizeof m.h), NAM_CORRUPT);
	olap_node_close(node);
	s.width = 12;
	assert_int_equal(olap_node_open(&s, &node), NAM_INVALID);
	s.width = 16;
	s.self = 2;
	assert_int_equal(olap_node_open(&s, &node), NAM_INVALID);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(joins), cmocka_unit_test(aggregations),
		cmocka_unit_test(filter_errors), cmocka_unit_test(bad_messages) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
