/* txn_test.c -- the promises of txn.h on the simulated fabric: versions, conflicts, budgets, reclaimed memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka after the four above */
#include <cmocka.h>
#include <net/region_format.h>
#include <net/sim.h>
#include "txn_internal.h"

struct row {
	uint64_t key;
	int64_t value;
	unsigned char fill[48];
};

static bool
row_same_key(const struct txn_table *t, const void *row, uint32_t len, const void *key, uint32_t key_len)
{
	(void)t;
	return len >= 8 && key_len == 8 && memcmp(row, key, 8) == 0;
}

/* One simulated cluster, n compute processes with a worker each. */
enum { PROCS = 4 };
struct lab {
	struct net_sim *sim;
	struct net *net[PROCS];
	struct net_worker *w[PROCS];
	struct txn_db *db[PROCS];
	struct txn_worker *tw[PROCS];
	struct txn_table tab[PROCS], bare[PROCS];
	unsigned procs;
	unsigned slots;
	uint32_t vector;
	void (*body)(struct lab *);
	bool ok;
};

static struct row
mk(uint64_t key, int64_t value)
{
	struct row r = { .key = key, .value = value };
	memset(r.fill, (int)(value & 0xff), sizeof r.fill);
	return r;
}

static struct txn_get
getter(struct txn_table *t, const uint64_t *key)
{
	return (struct txn_get){ .table = t, .key = key, .key_len = 8, .hash = nam_hash(key, 8, t->id) };
}

static nam_status
insert(struct txn *t, struct txn_table *tab, uint64_t key, int64_t value)
{
	struct row r = mk(key, value);
	struct txn_put p = { .table = tab,
		.key = &r.key,
		.key_len = 8,
		.hash = nam_hash(&r.key, 8, tab->id),
		.bytes = &r,
		.len = sizeof r };
	return txn_insert(t, &p, 1);
}

/* The value of a key, or -1 when there is none. */
static int64_t
value_of(struct txn *t, struct txn_table *tab, uint64_t key, struct txn_row *row, struct nam_arena *a)
{
	struct txn_get g = getter(tab, &key);
	assert_int_equal(txn_get(t, &g, 1, a), NAM_OK);
	if (g.status == NAM_ABSENT)
		return -1;
	assert_int_equal(g.status, NAM_OK);
	struct row r;
	assert_int_equal(g.row.len, sizeof r);
	memcpy(&r, g.row.bytes, sizeof r);
	for (unsigned i = 0; i < sizeof r.fill; i++)
		assert_int_equal(r.fill[i], (unsigned char)r.value);
	if (row)
		*row = g.row;
	return r.value;
}

static nam_status
add(struct txn *t, struct txn_table *tab, uint64_t key, int64_t delta, struct nam_arena *a)
{
	struct txn_row row;
	int64_t v = value_of(t, tab, key, &row, a);
	assert_true(v >= 0);
	nam_status st = txn_lock(t, tab, &row, a);
	if (st != NAM_OK)
		return st;
	struct row r;
	memcpy(&r, row.bytes, sizeof r);
	r = mk(key, r.value + delta);
	return txn_update(t, tab, &row, &r, sizeof r);
}

static struct txn *
begin(struct lab *lab, unsigned p, enum txn_iso iso)
{
	struct txn *t = NULL;
	assert_int_equal(txn_begin(lab->tw[p], iso, &t), NAM_OK);
	return t;
}

static void
open_tables(struct lab *lab, unsigned p)
{
	lab->tab[p].same_key = lab->bare[p].same_key = row_same_key;
	assert_int_equal(txn_table_open(lab->db[p], &lab->tab[p]), NAM_OK);
	assert_int_equal(txn_table_open(lab->db[p], &lab->bare[p]), NAM_OK);
}

static void
main_co(void *arg)
{
	struct lab *lab = arg;
	struct txn_config cfg = { .vector = lab->vector };
	for (unsigned p = 0; p < lab->procs; p++) {
		struct nam_err err;
		assert_int_equal(txn_db_open(lab->w[p], &cfg, &lab->db[p], &err), NAM_OK);
		assert_int_equal(txn_worker_open(lab->db[p], lab->w[p], &lab->tw[p]), NAM_OK);
	}
	lab->tab[0] = (struct txn_table){
		.id = 1, .slots = (uint16_t)lab->slots, .row_max = sizeof(struct row), .has_key = true
	};
	lab->bare[0] = (struct txn_table){ .id = 2, .row_max = sizeof(struct row) };
	assert_int_equal(txn_table_create(lab->tw[0], &lab->tab[0]), NAM_OK);
	assert_int_equal(txn_table_create(lab->tw[0], &lab->bare[0]), NAM_OK);
	for (unsigned p = 1; p < lab->procs; p++) {
		lab->tab[p] = lab->tab[0];
		lab->bare[p] = lab->bare[0];
	}
	for (unsigned p = 0; p < lab->procs; p++)
		open_tables(lab, p);
	lab->body(lab);
	for (unsigned p = lab->procs; p-- > 0;) {
		txn_worker_close(lab->tw[p]);
		txn_table_close(lab->db[p], &lab->tab[p]);
		txn_table_close(lab->db[p], &lab->bare[p]);
		txn_db_close(lab->w[p], lab->db[p]);
	}
	lab->ok = true;
}

static void
run_lab(unsigned procs, unsigned slots, uint32_t vector, uint64_t seed, void (*body)(struct lab *))
{
	struct lab *lab = calloc(1, sizeof *lab);
	lab->procs = procs;
	lab->slots = slots;
	lab->vector = vector;
	lab->body = body;
	struct net_sim_config cfg = { .seed = seed,
		.nodes = 3,
		.region_bytes = 16 << 20,
		.tear_permille = 300,
		.reorder_permille = 300 };
	assert_int_equal(net_sim_open(&lab->sim, &cfg), NAM_OK);
	for (unsigned p = 0; p < procs; p++) {
		assert_int_equal(net_sim_attach(lab->sim, &lab->net[p]), NAM_OK);
		assert_int_equal(net_worker_open(lab->net[p], &lab->w[p], NULL), NAM_OK);
	}
	assert_non_null(nam_co_start(net_worker_sched(lab->w[0]), main_co, lab, 256 << 10));
	assert_true(net_sim_run(lab->sim, NULL, NULL));
	assert_true(lab->ok);
	for (unsigned p = 0; p < procs; p++) {
		net_worker_close(lab->w[p]);
		net_close(lab->net[p]);
	}
	net_sim_close(lab->sim);
	free(lab);
}

/* ---- one process: the life of a row ---- */

static void
life_of_a_row(struct lab *lab)
{
	struct nam_arena a;
	nam_arena_init(&a, 0);
	struct txn *t = begin(lab, 0, TXN_REPEATABLE_READ);
	assert_int_equal(insert(t, &lab->tab[0], 7, 70), NAM_OK);
	assert_int_equal(value_of(t, &lab->tab[0], 7, NULL, &a), 70); /* its own write */
	assert_int_equal(insert(t, &lab->tab[0], 7, 71), NAM_DUPLICATE);
	txn_abort(t);

	t = begin(lab, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(t, &lab->tab[0], 7, NULL, &a), -1);
	assert_int_equal(insert(t, &lab->tab[0], 7, 72), NAM_OK);
	tso_cid cid = 0;
	assert_int_equal(txn_commit(t, &cid), NAM_OK);
	assert_true(cid > 0);

	struct txn *old = begin(lab, 0, TXN_REPEATABLE_READ); /* sees 72 for ever */
	for (int i = 1; i <= 5; i++) {
		t = begin(lab, 0, TXN_REPEATABLE_READ);
		assert_int_equal(add(t, &lab->tab[0], 7, 1, &a), NAM_OK);
		assert_int_equal(value_of(t, &lab->tab[0], 7, NULL, &a), 72 + i);
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
		assert_int_equal(
		    value_of(old, &lab->tab[0], 7, NULL, &a), 72); /* from the archives, in time */
	}
	struct txn_row row;
	t = begin(lab, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(t, &lab->tab[0], 7, &row, &a), 77);
	assert_int_equal(txn_delete(t, &lab->tab[0], &row), NAM_OK);
	assert_int_equal(value_of(t, &lab->tab[0], 7, NULL, &a), -1);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	assert_int_equal(value_of(old, &lab->tab[0], 7, NULL, &a), 72);
	assert_int_equal(txn_commit(old, NULL), NAM_OK);

	t = begin(lab, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(t, &lab->tab[0], 7, NULL, &a), -1);
	assert_int_equal(insert(t, &lab->tab[0], 7, 5), NAM_OK); /* over the deletion */
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	t = begin(lab, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(t, &lab->tab[0], 7, NULL, &a), 5);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	nam_arena_fini(&a);
}

static void
test_life_of_a_row(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++)
		for (unsigned slots = 2; slots <= 4; slots++)
			run_lab(1, slots, 0, seed, life_of_a_row);
}

/* ---- the pointer cache, lied to: three tables, two of one shape, whose keys it cannot tell apart ---- */

static void
alike(struct lab *lab)
{
	enum { TABLES = 3, KEYS = 20 };
	struct txn_table tab[TABLES];
	unsigned char row[200];
	struct nam_arena a;
	nam_arena_init(&a, 0);
	for (unsigned i = 0; i < TABLES; i++) {
		tab[i] = (struct txn_table){ .id = 10 + i,
			.slots = i == 1 ? 4 : 2,
			.row_max = i == 1 ? sizeof row : 64,
			.has_key = true,
			.same_key = row_same_key };
		assert_int_equal(txn_table_create(lab->tw[0], &tab[i]), NAM_OK);
		assert_int_equal(txn_table_open(lab->db[0], &tab[i]), NAM_OK);
	}
	struct txn *t = begin(lab, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < KEYS; k++)
		for (unsigned i = 0; i < TABLES; i++) {
			memset(row, (int)(50 + i), sizeof row);
			memcpy(row, &k, 8);
			struct txn_put p = { .table = &tab[i],
				.key = &k,
				.key_len = 8,
				.hash = nam_mix(k + 1) ^ i, /* low bits: neither the set nor the tag */
				.bytes = row,
				.len = i == 1 ? sizeof row : 64 };
			assert_int_equal(txn_insert(t, &p, 1), NAM_OK);
		}
	/* Once from its own writes, then from what lies there. */
	for (int round = 0; round < 4; round++) {
		for (uint64_t k = 0; k < KEYS; k++)
			for (unsigned j = 0; j < 3 * TABLES; j++) {
				unsigned i = (j * 7 + (unsigned)k) % TABLES;
				struct txn_get g = {
					.table = &tab[i], .key = &k, .key_len = 8, .hash = nam_mix(k + 1) ^ i
				};
				assert_int_equal(txn_get(t, &g, 1, &a), NAM_OK);
				assert_int_equal(g.status, NAM_OK);
				assert_int_equal(g.row.len, i == 1 ? sizeof row : 64);
				assert_int_equal(((const unsigned char *)g.row.bytes)[9], 50 + i);
			}
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
		t = begin(lab, 0, TXN_REPEATABLE_READ);
	}
	txn_abort(t);
	for (unsigned i = 0; i < TABLES; i++)
		txn_table_close(lab->db[0], &tab[i]);
	nam_arena_fini(&a);
}

static void
test_alike(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++)
		run_lab(1, 2, 0, seed, alike);
}

/* ---- budgets ---- */

static void
budgets(struct lab *lab)
{
	struct nam_arena a;
	nam_arena_init(&a, 0);
	struct txn *t = begin(lab, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < 16; k++)
		assert_int_equal(insert(t, &lab->tab[0], k, 100), NAM_OK);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	net_sleep(lab->w[0], 50000000); /* the watermark passes: the rows are cold */
	t = begin(lab, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < 16; k++)
		value_of(t, &lab->tab[0], k, NULL, &a); /* warms the pointer cache */
	uint64_t before = txn_counts(t)->round_trips;
	assert_int_equal(value_of(t, &lab->tab[0], 3, NULL, &a), 100);
	assert_int_equal(txn_counts(t)->round_trips - before, 1); /* warm point read */
	for (uint64_t k = 0; k < 3; k++)
		assert_int_equal(add(t, &lab->tab[0], k, -1, &a), NAM_OK);
	for (uint64_t k = 100; k < 104; k++)
		assert_int_equal(insert(t, &lab->tab[0], k, 1), NAM_OK);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	assert_true(txn_last_commit_round_trips(lab->tw[0]) <= 2);
	nam_arena_fini(&a);
}

static void
test_budgets(void **state)
{
	(void)state;
	run_lab(1, 2, 0, 3, budgets);
}

/* ---- several processes: increments of hot rows lose nothing ---- */

struct client {
	struct lab *lab;
	unsigned proc, n, done;
	enum txn_iso iso;
	uint64_t keys;
	bool *ended;
};

static void
incrementer(void *arg)
{
	struct client *c = arg;
	struct lab *lab = c->lab;
	struct nam_arena a;
	nam_arena_init(&a, 0);
	struct net_worker *w = lab->w[c->proc];
	for (unsigned i = 0; i < c->n;) {
		nam_arena_reset(&a);
		struct txn *t = begin(lab, c->proc, c->iso);
		uint64_t key = nam_rng_below(net_rng(w), c->keys);
		nam_status st = add(t, &lab->tab[c->proc], key, 1, &a);
		if (st == NAM_OK && c->keys > 1 && nam_rng_below(net_rng(w), 2))
			st = add(t, &lab->tab[c->proc], (key + 1) % c->keys, 1, &a);
		else if (st == NAM_OK)
			st = add(t, &lab->tab[c->proc], key, 1, &a); /* its own write again */
		if (st == NAM_OK)
			st = txn_commit(t, NULL);
		else
			txn_abort(t);
		if (st == NAM_OK)
			i++;
		else
			assert_true(st == NAM_CONFLICT || st == NAM_DEADLOCK);
	}
	nam_arena_fini(&a);
	*c->ended = true;
}

static void
increments(struct lab *lab, enum txn_iso iso, uint64_t keys)
{
	enum { CLIENTS = 8, EACH = 25 };
	struct client c[CLIENTS];
	bool ended[CLIENTS] = { false };
	struct txn *t = begin(lab, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < keys; k++)
		assert_int_equal(insert(t, &lab->tab[0], k, 0), NAM_OK);
	txn_set_cluster_visible(t, true);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	for (unsigned i = 0; i < CLIENTS; i++) {
		c[i] = (struct client){ .lab = lab,
			.proc = i % lab->procs,
			.n = EACH,
			.iso = iso,
			.keys = keys,
			.ended = &ended[i] };
		assert_non_null(
		    nam_co_start(net_worker_sched(lab->w[c[i].proc]), incrementer, &c[i], 128 << 10));
	}
	for (unsigned i = 0; i < CLIENTS; i++)
		while (!ended[i])
			net_sleep(lab->w[0], 1000000);
	/* Everything answered is visible to a session of another process when the marks have landed. */
	net_sleep(lab->w[0], 10000000);
	for (unsigned p = 0; p < lab->procs; p++) {
		struct nam_arena a;
		nam_arena_init(&a, 0);
		int64_t sum = 0;
		t = begin(lab, p, TXN_REPEATABLE_READ);
		for (uint64_t k = 0; k < keys; k++)
			sum += value_of(t, &lab->tab[p], k, NULL, &a);
		assert_int_equal(sum, CLIENTS * EACH * 2);
		/* A scan says the same. */
		struct txn_scan *s;
		struct txn_row rows[10];
		unsigned n, count = 0;
		int64_t scanned = 0;
		assert_int_equal(txn_scan_open(t, &lab->tab[p], &s), NAM_OK);
		while (assert_int_equal(txn_scan_next(s, rows, 10, &n), NAM_OK), n > 0)
			for (unsigned i = 0; i < n; i++, count++)
				scanned += ((const struct row *)rows[i].bytes)->value;
		txn_scan_close(s);
		assert_int_equal(scanned, sum);
		assert_int_equal(count, keys);
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
		nam_arena_fini(&a);
	}
}

static void
increments_rr(struct lab *lab)
{
	increments(lab, TXN_REPEATABLE_READ, 3);
}
static void
increments_rc(struct lab *lab)
{
	increments(lab, TXN_READ_COMMITTED, 3);
}
static void
increments_ser(struct lab *lab)
{
	increments(lab, TXN_SERIALIZABLE, 3);
}
static void
increments_hot(struct lab *lab)
{
	increments(lab, TXN_READ_COMMITTED, 1);
}

static void
test_increments(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		run_lab(3, 2, 0, seed, increments_rr);
		run_lab(3, 3, 0, seed, increments_rr);
		run_lab(3, 2, 0, seed, increments_rc);
		run_lab(4, 2, 0, seed, increments_ser);
		run_lab(2, 2, 0, seed, increments_hot);
		run_lab(3, 2, 64, seed, increments_rr); /* a vector that wraps many times */
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life_of_a_row),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_budgets),
		cmocka_unit_test(test_increments),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
