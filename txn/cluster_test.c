/*
 * cluster_test.c -- which storage nodes make a cluster: processes that make one die at every verb,
 * stall, or meet others with other lists; lists are too short, too long, or of two clusters.
 */
#include "cluster_format.h"

#include <txn/testing/fixture.h>

enum { NODES = 5, MOST = 4, REGION = 1 << 20, SECOND = 1000000000 };

/* A process that is told of some nodes, and looks for their cluster. */
struct finder {
	uint64_t list;
	struct net *net;
	struct net_worker *w;
	uint64_t sleeps; /* before it begins */
	bool ended;
	nam_status st;
	struct txn_roster r;
	struct nam_err err;
};

struct town {
	struct net_sim *sim;
	struct finder f[MOST];
	unsigned n;
};

static void
town_open(struct town *t, uint64_t seed)
{
	const struct net_sim_config cfg = { .seed = seed,
		.nodes = NODES,
		.region_bytes = REGION,
		.tear_permille = 200,
		.reorder_permille = 200 };
	memset(t, 0, sizeof *t);
	assert_int_equal(net_sim_open(&t->sim, &cfg), NAM_OK);
}

static void
find_main(void *arg)
{
	struct finder *f = arg;
	const struct txn_config cfg = { .vector = 1024, .lease_ms = 100 };
	if (f->sleeps > 0)
		net_sleep(f->w, f->sleeps);
	f->st = txn_cluster_find(f->w, &cfg, &f->r, &f->err);
	f->ended = true;
}

static struct finder *
start(struct town *t, uint64_t list, uint64_t sleeps)
{
	struct finder *f = &t->f[t->n++];
	assert_true(t->n <= MOST);
	*f = (struct finder){ .list = list, .sleeps = sleeps };
	assert_int_equal(net_sim_attach_to(t->sim, list, &f->net), NAM_OK);
	assert_int_equal(net_worker_open(f->net, &f->w, NULL), NAM_OK);
	assert_non_null(nam_co_start(net_worker_sched(f->w), find_main, f, 256 << 10));
	return f;
}

static bool
all_ended(void *arg)
{
	struct town *t = arg;
	for (unsigned i = 0; i < t->n; i++)
		if (!t->f[i].ended && !net_sim_crashed(t->f[i].net))
			return false;
	return true;
}

static void
play(struct town *t)
{
	assert_true(net_sim_run(t->sim, all_ended, t));
}

/* The processes leave; the nodes stay. */
static void
leave(struct town *t)
{
	for (unsigned i = 0; i < t->n; i++)
		if (net_sim_crashed(t->f[i].net))
			net_sim_bury(t->sim, t->f[i].net);
	(void)net_sim_run(t->sim, NULL, NULL);
	for (unsigned i = 0; i < t->n; i++) {
		net_worker_close(t->f[i].w);
		net_close(t->f[i].net);
	}
	t->n = 0;
}

static void
town_close(struct town *t)
{
	leave(t);
	net_sim_close(t->sim);
}

static uint64_t
word(struct town *t, unsigned region)
{
	return ((const struct net_super *)net_sim_memory(t->sim, region))->root[TXN_ROOT_MEMBER];
}

/* All of the list are members of one cluster of that list, and r is its record. */
static void
whole(struct town *t, const struct finder *f)
{
	uint64_t members = 0;
	assert_int_equal(f->st, NAM_OK);
	for (unsigned i = 0; i < f->r.nodes; i++) {
		unsigned region = (unsigned)f->r.node[i].region;
		const struct net_super *s = net_sim_memory(t->sim, region);
		const struct txn_roster *r = (const void *)((const char *)(const void *)s +
							    net_offset_of((net_addr){ word(t, region) }));
		members |= UINT64_C(1) << region;
		assert_int_equal(word(t, region), f->r.node[i].roster);
		assert_int_equal(f->r.node[i].incarnation, s->incarnation);
		assert_int_equal(r->magic, TXN_ROSTER_MAGIC);
		assert_int_equal(r->number, f->r.number);
		assert_int_equal(r->nodes, f->r.nodes);
	}
	assert_int_equal(members, f->list);
}

/* ---- wrong lists ---- */

static void
test_wrong_lists(void **state)
{
	(void)state;
	const uint64_t right = 1 << 2 | 1 << 3 | 1 << 5;
	struct town t;
	char *before[NODES + 1];
	town_open(&t, 1);
	struct finder *f = start(&t, right, 0);
	play(&t);
	whole(&t, f);
	uint64_t number = f->r.number;
	leave(&t);
	for (unsigned r = 1; r <= NODES; r++) {
		before[r] = malloc(REGION);
		memcpy(before[r], net_sim_memory(t.sim, r), REGION);
	}
	for (uint64_t list = 2; list < 1 << (NODES + 1); list += 2) {
		if ((list & right) == 0) /* of another cluster, which may happen */
			continue;
		f = start(&t, list, 0);
		play(&t);
		assert_int_equal(f->st, list == right ? NAM_OK : NAM_REFUSED);
		if (list == right)
			assert_int_equal(f->r.number, number);
		/* Each node that is missing is named, and so is each that does not belong. */
		const char *missing = strstr(f->err.text, "missing: "),
			   *strange = strstr(f->err.text, "not part of ");
		for (unsigned r = 1; r <= NODES; r++) {
			char name[40];
			snprintf(name, sizeof name, "node %u (sim0%u)", r, r);
			uint64_t bit = UINT64_C(1) << r;
			if ((right & bit) != 0 && (list & bit) == 0)
				assert_true(missing != NULL && strstr(missing, name) != NULL);
			if ((right & bit) == 0 && (list & bit) != 0)
				assert_true(strange != NULL && strstr(strange, name) != NULL);
		}
		leave(&t);
		/* No byte of the nodes has changed. */
		for (unsigned r = 1; r <= NODES; r++) {
			/* except the node's own heartbeat */
			const size_t beat = offsetof(struct net_super, beat),
				     rest = offsetof(struct net_super, root);
			const char *mem = net_sim_memory(t.sim, r);
			assert_memory_equal(mem, before[r], beat);
			assert_memory_equal(mem + rest, before[r] + rest, REGION - rest);
		}
	}
	/* Nodes of two clusters. */
	f = start(&t, 1 << 1 | 1 << 4, 0);
	play(&t);
	whole(&t, f);
	leave(&t);
	f = start(&t, right | 1 << 1 | 1 << 4, 0);
	play(&t);
	assert_int_equal(f->st, NAM_REFUSED);
	for (unsigned r = 1; r <= NODES; r++)
		free(before[r]);
	town_close(&t);
}

/* ---- a maker that dies ---- */

/* At its verb number `at`, or (verb 0) stalls at that moment for long. False: it had ended
 * before. */
static bool
dies(uint64_t at, enum net_sim_carry carry, uint64_t seed)
{
	const uint64_t list = 1 << 1 | 1 << 3 | 1 << 4;
	struct town t;
	town_open(&t, seed);
	struct finder *a = start(&t, list, 0);
	net_sim_carry(a->net, carry);
	net_sim_crash_at(t.sim, a->net, at);
	play(&t);
	bool died = net_sim_crashed(a->net);
	/* Two later processes, at once: both get the cluster, and it is one. */
	struct finder *b = start(&t, list, 0), *c = start(&t, list, 0);
	play(&t);
	whole(&t, b);
	whole(&t, c);
	assert_int_equal(b->r.number, c->r.number);
	if (!died)
		assert_int_equal(b->r.number, a->r.number);
	/* A list that the dead process did not have, except for its home: the cluster is of this
	 * list now. */
	struct finder *d = start(&t, 1 << 1 | 1 << 4, 0);
	play(&t);
	assert_int_equal(d->st, NAM_REFUSED);
	town_close(&t);
	return died;
}

static void
test_dies(void **state)
{
	(void)state;
	unsigned verbs = 0;
	for (unsigned carry = NET_SIM_CARRY_DICE; carry <= NET_SIM_CARRY_ALL; carry++)
		for (uint64_t at = 1; dies(at, (enum net_sim_carry)carry, at); at++)
			verbs++;
	assert_true(verbs > 3 * 20);
}

/* The process that comes after it has another list, with the dead one's home in it. Its other nodes
 * are free once that home is named. */
static void
test_other_list(void **state)
{
	(void)state;
	bool made = false;
	for (uint64_t at = 1; !made; at++) {
		struct town t;
		town_open(&t, at);
		struct finder *a = start(&t, 1 << 2 | 1 << 3 | 1 << 4, 0);
		net_sim_carry(a->net, NET_SIM_CARRY_NONE);
		net_sim_crash_at(t.sim, a->net, at);
		play(&t);
		uint64_t home = word(&t, 2);
		made = txn_member_roster(home) != 0; /* then it is a cluster, and others join or do
						      * not */
		struct finder *b = start(&t, 1 << 1 | 1 << 2, 0), *c = start(&t, 1 << 3 | 1 << 4, 0);
		bool alone = word(&t, 3) == 0 && word(&t, 4) == 0;
		play(&t);
		assert_int_equal(b->st, made ? NAM_REFUSED : NAM_OK);
		/* Without the home no process knows whether those two are members. */
		if (alone)
			assert_int_equal(c->st, made ? NAM_REFUSED : NAM_OK);
		else
			assert_int_equal(c->st, NAM_REFUSED);
		if (!made) {
			whole(&t, b);
			if (!alone) {
				assert_non_null(strstr(c->err.text, "name node 2 in --storage, too"));
				struct finder *d = start(&t, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4, 0);
				play(&t);
				assert_int_equal(d->st, NAM_REFUSED);
			}
		}
		town_close(&t);
	}
}

/* ---- a maker that stalls, and goes on when others have made the cluster ---- */

struct freezer {
	struct town *t;
	struct finder *f;
	uint64_t at_ns, for_ns;
	struct net_worker *w;
};

static void
freeze_main(void *arg)
{
	struct freezer *z = arg;
	net_sleep(z->w, z->at_ns);
	if (!z->f->ended)
		net_sim_freeze(z->t->sim, z->f->net, z->for_ns);
}

static void
test_stalls(void **state)
{
	(void)state;
	const uint64_t list = 1 << 1 | 1 << 2 | 1 << 5;
	unsigned others = 0;
	for (uint64_t us = 1; us < 120; us++) {
		struct town t;
		struct net *net;
		struct freezer z = { .t = &t, .at_ns = us * 1000, .for_ns = 20 * (uint64_t)SECOND };
		town_open(&t, us);
		struct finder *a = z.f = start(&t, list, 0);
		assert_int_equal(net_sim_attach(t.sim, &net), NAM_OK);
		assert_int_equal(net_worker_open(net, &z.w, NULL), NAM_OK);
		assert_non_null(nam_co_start(net_worker_sched(z.w), freeze_main, &z, 0));
		start(&t, list, us * 1000 + 500);
		start(&t, list, us * 1000 + 600);
		play(&t);
		for (unsigned i = 0; i < t.n; i++) {
			whole(&t, &t.f[i]);
			assert_int_equal(t.f[i].r.number, a->r.number);
		}
		others += txn_member_identity(a->r.maker) != net_identity(a->net);
		leave(&t);
		net_worker_close(z.w);
		net_close(net);
		town_close(&t);
	}
	assert_true(others > 10);
}

/* ---- several at once, with lists that overlap, and some of them die ---- */

static void
test_crowd(void **state)
{
	(void)state;
	unsigned made = 0, refused = 0, dead = 0;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct town t;
		struct nam_rng dice;
		uint64_t taken = 0, numbers[MOST];
		unsigned clusters = 0;
		nam_rng_init(&dice, seed);
		town_open(&t, seed);
		for (unsigned i = 0; i < MOST; i++) {
			uint64_t list = 0;
			while (list == 0)
				list = nam_rng_below(&dice, 1 << NODES) << 1;
			struct finder *f = start(&t, list, nam_rng_below(&dice, 60000));
			if (nam_rng_below(&dice, 4) == 0)
				net_sim_crash_at(t.sim, f->net, 1 + nam_rng_below(&dice, 40));
		}
		play(&t);
		for (unsigned i = 0; i < MOST; i++) {
			struct finder *f = &t.f[i];
			if (net_sim_crashed(f->net) && !f->ended) {
				dead++;
				continue;
			}
			/* In a crowd a process may be told to start again; it is never told
			 * anything wrong. */
			assert_true(f->st == NAM_OK || f->st == NAM_REFUSED || f->st == NAM_BUSY);
			refused += f->st != NAM_OK;
			if (f->st != NAM_OK)
				continue;
			whole(&t, f);
			bool known = false;
			for (unsigned c = 0; c < clusters; c++)
				known |= numbers[c] == f->r.number;
			if (known)
				continue;
			assert_int_equal(taken & f->list, 0);
			taken |= f->list;
			numbers[clusters++] = f->r.number;
			made++;
		}
		leave(&t);
		/* Nothing is stuck: a process that names all nodes gets an answer, and makes the
		 * cluster if there was none. */
		struct finder *f = start(&t, (1 << (NODES + 1)) - 2, 0);
		play(&t);
		if (f->st == NAM_OK)
			whole(&t, f);
		else
			assert_int_equal(f->st, NAM_REFUSED);
		bool any = false;
		for (unsigned r = 1; r <= NODES; r++)
			any |= txn_member_roster(word(&t, r)) != 0;
		assert_true(any);
		town_close(&t);
	}
	assert_true(made > 300 && refused > 100 && dead > 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_lists),
		cmocka_unit_test(test_dies),
		cmocka_unit_test(test_other_list),
		cmocka_unit_test(test_stalls),
		cmocka_unit_test(test_crowd),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
