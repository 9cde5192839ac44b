/*
 * life_test.c -- tables are dropped and processes leave while somebody stands still at the worst moment: no row of anybody is lost.
 *
 * Each scene is played at many moments. A build with twins plays it with the fault that its rule prevents, too: then there has to
 * be damage.
 */
#include <base/twin.h>
#include "lab.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

static uint64_t seed = 1;
static uint64_t moment, frozen;   /* ns: when process 1 is stopped, and for how long */
static unsigned lost, unreadable; /* committed rows */

/* Rows of a table that have to be there. */
static void
count(struct lab *lab, unsigned p, struct txn_table *tab, uint64_t from, uint64_t to)
{
	struct txn *t = begin(lab, p, TXN_REPEATABLE_READ);
	for (uint64_t k = from; k < to; k++) {
		struct txn_get g = {
			.table = tab, .key = &k, .key_len = 8, .hash = nam_hash(&k, 8, tab->id)
		};
		/* A row that proves nothing is read again and again: ten say enough. */
		if (unreadable < 10 && txn_get(t, &g, 1, &lab->a) != NAM_OK)
			unreadable++;
		else if (g.status != NAM_OK)
			lost++;
	}
	txn_abort(t);
	nam_arena_reset(&lab->a);
}

static void
insert_many(struct lab *lab, unsigned p, struct txn_table *tab, uint64_t from, uint64_t to)
{
	for (uint64_t k = from; k < to;) {
		struct txn *t = begin(lab, p, TXN_REPEATABLE_READ);
		for (unsigned i = 0; i < 100 && k < to; i++, k++)
			assert_int_equal(insert(t, tab, k, 7), NAM_OK);
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
	}
}

static void
delete_many(struct lab *lab, unsigned p, struct txn_table *tab, uint64_t from, uint64_t to)
{
	for (uint64_t k = from; k < to;) {
		struct txn *t = begin(lab, p, TXN_REPEATABLE_READ);
		for (unsigned i = 0; i < 200 && k < to; i++, k++)
			assert_int_equal(del(lab, t, tab, k), NAM_OK);
		commit_all(t);
		nam_arena_reset(&lab->a);
	}
}

static void
stop_main(void *arg)
{
	struct lab *lab = arg;
	net_sleep(lab->w[3], moment);
	net_sim_freeze(lab->sim, lab->net[1], frozen);
}

static void
stop_later(struct lab *lab)
{
	assert_non_null(nam_co_start(net_worker_sched(lab->w[3]), stop_main, lab, 64 << 10));
}

/* ---- a table is dropped while another process empties its deleted blocks, and stands still ---- */

enum { DELETED = 1500, FILLED = 2500 };

static uint64_t
magic_of(struct lab *lab, net_addr anchor)
{
	struct txn_anchor a;
	assert_int_equal(net_read1(lab->w[0], anchor, &a, sizeof a, NULL), NAM_OK);
	return a.table == 1 ? a.magic : 0;
}

static void
dropped(struct lab *lab)
{
	struct txn_table other = { .id = 77,
		.slots = (uint16_t)lab->slots,
		.row_max = sizeof(struct row),
		.has_key = true,
		.same_key = row_same_key,
		.blobs = row_blobs };
	insert_many(lab, 0, &lab->tab[0], 0, DELETED);
	net_sleep(lab->w[0], MS);
	assert_int_equal(txn_table_create(lab->tw[0], &other), NAM_OK);
	assert_int_equal(txn_table_open(lab->db[0], &other), NAM_OK);
	struct txn_table seen = other;
	seen.view = NULL;
	assert_int_equal(txn_table_open(lab->db[2], &seen), NAM_OK);
	delete_many(lab, 1, &lab->tab[1], 0, DELETED);
	struct txn *t = begin(lab, 2, TXN_READ_COMMITTED);
	assert_int_equal(insert(t, &lab->bare[2], 1, 1), NAM_OK);
	assert_int_equal(txn_hold(t, &lab->tab[2]), NAM_OK);
	tso_cid d;
	assert_int_equal(txn_commit(t, &d), NAM_OK);
	assert_int_equal(txn_table_free(lab->tw[2], &lab->tab[2], d), NAM_OK);
	stop_later(lab);
	uint64_t began = net_now_ns(lab->w[0]);
	while (magic_of(lab, lab->tab[0].anchor) != 0) {
		net_sleep(lab->w[0], 20 * US);
		assert_true(net_now_ns(lab->w[0]) - began < 2000 * MS);
	}
	insert_many(lab, 0, &other, 0, FILLED);
	net_sleep(lab->w[0], 60 * MS + (frozen > 60 * MS ? frozen : 0));
	count(lab, 2, &seen, 0, FILLED);
	txn_table_close(lab->db[0], &other);
	txn_table_close(lab->db[2], &seen);
}

static void
drop_at(uint64_t at, uint64_t still)
{
	moment = at;
	frozen = still;
	run(4, 2, seed, dropped);
}

static void
drops(unsigned moments)
{
	static const uint64_t still[] = { 10 * MS, 20 * MS, 400 * MS };
	lost = unreadable = 0;
	for (unsigned i = 0; i < moments && lost + unreadable == 0; i++)
		drop_at(i * 60 * US, still[i % 3]);
}

static void
test_drop(void **state)
{
	(void)state;
	drops(45);
	assert_int_equal(lost + unreadable, 0);
}

/* ---- a process ends, and stands still while it hangs its free blocks on the table's lists ---- */

enum { HANDED_OVER = 400, NEW_ROWS = 10000 };

static void
close_main(void *arg)
{
	struct lab *lab = arg;
	txn_worker_close(lab->tw[1]);
	lab->tw[1] = NULL;
}

static void
left(struct lab *lab)
{
	insert_many(lab, 1, &lab->tab[1], 0, HANDED_OVER);
	delete_many(lab, 1, &lab->tab[1], 0, HANDED_OVER);
	net_sleep(lab->w[0], 500 * MS);
	/* An old snapshot: what process 1 replaces now stays garbage, and it works at its end for as long as it may. */
	struct txn *reader = begin(lab, 2, TXN_REPEATABLE_READ);
	struct txn *t = begin(lab, 1, TXN_REPEATABLE_READ);
	assert_int_equal(insert(t, &lab->tab[1], 5000, 1), NAM_OK);
	commit_all(t);
	for (int i = 0; i < 3; i++) {
		t = begin(lab, 1, TXN_REPEATABLE_READ);
		assert_int_equal(set(lab, t, &lab->tab[1], 5000, 2 + i), NAM_OK);
		commit_all(t);
	}
	net_sleep(lab->w[0], 150 * MS);
	struct txn_worker *tw = lab->tw[1];
	assert_non_null(nam_co_start(net_worker_sched(lab->w[1]), close_main, lab, 64 << 10));
	while (tw->helpers > 1)
		net_sleep(lab->w[0], US);
	net_sleep(lab->w[0], moment);
	net_sim_freeze(lab->sim, lab->net[1], frozen);
	uint64_t end = net_now_ns(lab->w[0]) + frozen, key = NEW_ROWS;
	txn_abort(reader);
	while (net_now_ns(lab->w[0]) < end - 10 * MS) {
		insert_many(lab, 0, &lab->tab[0], key, key + 1);
		key++;
		net_sleep(lab->w[0], 200 * US);
	}
	net_sleep(lab->w[0], 100 * MS);
	count(lab, 2, &lab->tab[2], NEW_ROWS, key);
	while (lab->tw[1] != NULL)
		net_sleep(lab->w[0], MS);
}

static void
leaves(unsigned moments)
{
	lost = unreadable = 0;
	frozen = 400 * MS;
	for (unsigned i = 0; i < moments && lost + unreadable == 0; i++) {
		moment = i * 2 * US;
		run(3, 2, 1, left);
	}
}

static void
test_leave(void **state)
{
	(void)state;
	leaves(25);
	assert_int_equal(lost + unreadable, 0);
}

/* ---- an idle process stands still, loses its slot, and goes on ---- */

enum { AT_HAND = 60 };

static void
slept(struct lab *lab)
{
	insert_many(lab, 1, &lab->tab[1], 0, AT_HAND);
	delete_many(lab, 1, &lab->tab[1], 0, AT_HAND);
	net_sleep(lab->w[0], 500 * MS);
	net_sim_freeze(lab->sim, lab->net[1], frozen);
	net_sleep(lab->w[0], frozen / 2);
	/* Its slot is free, a sweep finds its blocks, and they are filled. */
	insert_many(lab, 0, &lab->tab[0], 1000, 1001);
	net_sleep(lab->w[0], frozen / 4);
	insert_many(lab, 0, &lab->tab[0], 1001, 1001 + AT_HAND);
	net_sleep(lab->w[0], frozen / 2 + moment);
	insert_many(lab, 1, &lab->tab[1], 2000, 2000 + AT_HAND);
	net_sleep(lab->w[0], 50 * MS);
	count(lab, 2, &lab->tab[2], 1000, 1001 + AT_HAND);
	count(lab, 2, &lab->tab[2], 2000, 2000 + AT_HAND);
}

static void
sleeps(unsigned moments)
{
	lost = unreadable = 0;
	frozen = 800 * MS;
	for (unsigned i = 0; i < moments && lost + unreadable == 0; i++) {
		moment = i * 300 * US;
		run(3, 2, 1, slept);
	}
}

static void
test_sleep(void **state)
{
	(void)state;
	sleeps(10);
	assert_int_equal(lost + unreadable, 0);
}

/* ---- the faults ---- */

#ifdef NAM_TWINS
static void
test_twins(void **state)
{
	(void)state;
	static const struct {
		enum nam_twin twin;
		void (*scene)(unsigned);
		unsigned moments;
	} fault[] = {
		{ NAM_TWIN_RELEASE_UNCLOSED, drops, 150 },
		{ NAM_TWIN_DROP_UNWATCHED, drops, 150 },
		{ NAM_TWIN_EXIT_UNPINNED, leaves, 25 },
		{ NAM_TWIN_KEEPS_MEMORY, sleeps, 10 },
	};
	for (unsigned i = 0; i < sizeof fault / sizeof *fault; i++) {
		nam_twin_on = fault[i].twin;
		fault[i].scene(fault[i].moments);
		nam_twin_on = NAM_TWIN_NONE;
		printf("fault %d: %u rows gone, %u unreadable\n", (int)fault[i].twin, lost, unreadable);
		assert_true(lost + unreadable > 0);
	}
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drop),
		cmocka_unit_test(test_leave),
		cmocka_unit_test(test_sleep),
#ifdef NAM_TWINS
		cmocka_unit_test(test_twins),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
