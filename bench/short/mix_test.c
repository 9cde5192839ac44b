/* mix_test.c -- SmallBank and TATP draw what they should, and their checks notice what is wrong. */
#include "smallbank.h"
#include "tatp.h"

#include <bench/tables.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* cmocka after these */
#include <cmocka.h>

enum { DRAWS = 1000000, FEW = 200, STACK = 256 << 10 };

/* ---- what is drawn --------------------------------------------------------------------------- */

static void
near(double got, double want, double most)
{
	if (got < want - most || got > want + most)
		fail_msg("%g is not near %g", got, want);
}

static void
test_smallbank_mix(void **state)
{
	(void)state;
	static const double want[BANK_KINDS] = { 15, 15, 15, 25, 15, 15 };
	const struct bank_params p = { .accounts = 100000, .hot = 4000, .hot_percent = 90 };
	unsigned kind[BANK_KINDS] = { 0 }, hot = 0;
	struct nam_rng r;
	nam_rng_init(&r, 1);
	for (unsigned i = 0; i < DRAWS; i++) {
		struct bank_order o;
		bench_bank_draw(&o, &r, &p);
		kind[o.what]++;
		for (unsigned k = 0; k < 2; k++)
			assert_true(o.account[k] >= 0 && o.account[k] < 100000);
		assert_true(o.account[0] != o.account[1]);
		hot += o.account[0] < 4000 && o.account[1] < 4000;
	}
	for (unsigned i = 0; i < BANK_KINDS; i++)
		near(100.0 * kind[i] / DRAWS, want[i], 0.3);
	near(100.0 * hot / DRAWS, 90 + 10 * 0.04 * 0.04, 0.3);
}

static void
test_tatp_mix(void **state)
{
	(void)state;
	static const double want[TATP_KINDS] = { 35, 35, 10, 2, 14, 2, 2 };
	const struct tatp_params p = { .subscribers = 100000 };
	unsigned kind[TATP_KINDS] = { 0 }, odd = 0;
	struct nam_rng r;
	nam_rng_init(&r, 1);
	for (unsigned i = 0; i < DRAWS; i++) {
		struct tatp_order o;
		bench_tatp_draw(&o, &r, &p);
		kind[o.what]++;
		assert_true(o.id >= 1 && o.id <= 100000);
		assert_true(o.type >= 1 && o.type <= 4 && o.start >= 0 && o.start <= 16 && o.start % 8 == 0);
		assert_true(o.end >= 1 && o.end <= 24);
		odd += (o.id - 1) % 2;
	}
	for (unsigned i = 0; i < TATP_KINDS; i++)
		near(100.0 * kind[i] / DRAWS, want[i], 0.3);
	/* OR of two random numbers: a bit is set three times in four, so ids are not uniform. */
	near(100.0 * odd / DRAWS, 75, 0.5);
}

/* The specification's averages: 2.5 types, 85 % active, 1.5 forwardings for each facility. */
static void
test_tatp_population(void **state)
{
	(void)state;
	enum { SUBSCRIBERS = 20000 };
	unsigned rows[TATP_TABLES] = { 0 }, active = 0;
	for (int64_t id = 1; id <= SUBSCRIBERS; id++) {
		struct tatp_rows r;
		bench_tatp_rows(&r, id);
		for (unsigned i = 0; i < TATP_TABLES; i++)
			rows[i] += r.count[i];
		for (unsigned i = 0; i < r.count[TATP_FACILITY]; i++)
			active += r.facility[i].active;
	}
	assert_int_equal(rows[TATP_SUBSCRIBER], SUBSCRIBERS);
	assert_int_equal(rows[TATP_NUMBERS], SUBSCRIBERS);
	near((double)rows[TATP_ACCESS] / SUBSCRIBERS, 2.5, 0.05);
	near((double)rows[TATP_FACILITY] / SUBSCRIBERS, 2.5, 0.05);
	near((double)rows[TATP_FORWARD] / rows[TATP_FACILITY], 1.5, 0.05);
	near((double)active / rows[TATP_FACILITY], 0.85, 0.01);
}

/* ---- the checks ------------------------------------------------------------------------------ */

struct world {
	struct net_worker *w;
	const struct bench_sim_user *u;
	void *side;
	void (*spoil)(struct world *l, const struct cn_place *pl);
};

/* Does a thing to the row of a key, in a transaction of its own. NULL: deletes it. */
static void
change(
    const struct cn_place *pl, struct txn_table *table, const void *key, uint32_t len, void (*to)(void *row))
{
	struct txn *t;
	struct nam_arena a;
	void *row;
	nam_arena_init(&a, 4096);
	assert_int_equal(txn_begin(pl->txn, TXN_REPEATABLE_READ, &t), NAM_OK);
	struct txn_get g = bench_get(table, key, len);
	assert_int_equal(txn_get(t, &g, 1, &a), NAM_OK);
	assert_int_equal(g.status, NAM_OK);
	if (to == NULL) {
		assert_int_equal(txn_delete(t, table, &g.row), NAM_OK);
	} else {
		assert_int_equal(txn_edit(t, table, &g.row, &row), NAM_OK);
		to(row);
	}
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	nam_arena_fini(&a);
}

static void
run(void *arg)
{
	struct world *l = arg;
	struct nam_err err;
	struct txn_db *db;
	struct cn_place pl = { .net = l->w };
	const struct txn_config cfg = { .ptr_cache_entries = 1 << 16 };
	const struct bench_sim p = { .seed = 1 };
	struct net_counts counts = { 0 };
	assert_int_equal(txn_db_open(l->w, &cfg, &db, &err), NAM_OK);
	assert_int_equal(txn_worker_open(db, l->w, &pl.txn), NAM_OK);
	l->u->begin(l->side, &p, 0, &counts);
	assert_int_equal(l->u->prepare(l->side, &pl), NAM_OK);
	assert_int_equal(l->u->load(l->side, &pl), NAM_OK);
	assert_int_equal(l->u->check(&l->side, 1, &pl), 0);
	l->spoil(l, &pl);
	assert_true(l->u->check(&l->side, 1, &pl) > 0);
	l->u->drop(l->side, &pl);
	txn_worker_close(pl.txn);
	txn_db_close(l->w, db);
}

static void
play(const struct bench_sim_user *u, void (*spoil)(struct world *l, const struct cn_place *pl))
{
	const struct net_sim_config cfg = { .seed = 1, .nodes = 2, .region_bytes = 256 << 20 };
	struct net_sim *sim;
	struct net *net;
	struct world l = { .u = u, .side = calloc(1, u->side_size), .spoil = spoil };
	assert_non_null(l.side);
	assert_int_equal(net_sim_open(&sim, &cfg), NAM_OK);
	assert_int_equal(net_sim_attach(sim, &net), NAM_OK);
	assert_int_equal(net_worker_open(net, &l.w, NULL), NAM_OK);
	assert_non_null(nam_co_start(net_worker_sched(l.w), run, &l, STACK));
	assert_true(net_sim_run(sim, NULL, NULL));
	net_worker_close(l.w);
	net_close(net);
	net_sim_close(sim);
	free(l.side);
}

static void
one_cent(void *row)
{
	((struct bank_account *)row)->cents++;
}

static void
one_cent_too_many(struct world *l, const struct cn_place *pl)
{
	int64_t id = 17;
	change(pl, &((struct bank_side *)l->side)->checking, &id, 8, one_cent);
}

static void
an_account_gone(struct world *l, const struct cn_place *pl)
{
	int64_t id = 17;
	/* Its money went to another one: the sum is right. */
	atomic_fetch_sub(&((struct bank_side *)l->side)->change, BANK_CENTS);
	change(pl, &((struct bank_side *)l->side)->savings, &id, 8, NULL);
}

static void
test_smallbank_check(void **state)
{
	(void)state;
	bench_bank_params.accounts = FEW;
	bench_bank_params.hot = FEW;
	play(&bench_bank_user, one_cent_too_many);
	play(&bench_bank_user, an_account_gone);
}

static void
an_eleventh_bit(void *row)
{
	struct tatp_subscriber *s = row;
	s->bits = (uint16_t)(s->bits | 1u << TATP_BITS);
}

static void
a_value_wrong(struct world *l, const struct cn_place *pl)
{
	int64_t id = 17;
	change(pl, &((struct tatp_side *)l->side)->table[TATP_SUBSCRIBER], &id, 8, an_eleventh_bit);
}

/* A subscriber with a forwarding. */
static void
forwarding(struct tatp_rows *r)
{
	int64_t id = 1;
	do
		bench_tatp_rows(r, id++);
	while (r->count[TATP_FORWARD] == 0);
}

static void
a_forwarding_lost(struct world *l, const struct cn_place *pl)
{
	struct tatp_rows r;
	forwarding(&r);
	change(pl, &((struct tatp_side *)l->side)->table[TATP_FORWARD], &r.forward[0], 16, NULL);
}

static void
a_forwarding_without_facility(struct world *l, const struct cn_place *pl)
{
	struct tatp_side *s = l->side;
	struct tatp_rows r;
	forwarding(&r);
	struct tatp_facility f = { .id = r.forward[0].id, .type = r.forward[0].type };
	s->loaded[TATP_FACILITY]--;
	change(pl, &s->table[TATP_FACILITY], &f, 16, NULL);
}

static void
test_tatp_check(void **state)
{
	(void)state;
	bench_tatp_params.subscribers = FEW;
	play(&bench_tatp_user, a_value_wrong);
	play(&bench_tatp_user, a_forwarding_lost);
	play(&bench_tatp_user, a_forwarding_without_facility);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_smallbank_mix),
		cmocka_unit_test(test_tatp_mix),
		cmocka_unit_test(test_tatp_population),
		cmocka_unit_test(test_smallbank_check),
		cmocka_unit_test(test_tatp_check),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
