/*
 * reclaim_test.c -- memory that a dead process had at hand is found again: by a process that dies
 * at each verb of the sweep, and by the next one.
 */
#include <base/fault.h>
#include <base/rounds.h>
#include <txn/testing/fixture.h>

enum {
	DEAD = 1,
	SWEEPS = 2, /* the process that takes memory first, and so sweeps */
	READER = 3,
	KEPT = 10, /* rows with blobs that stay; as many more are deleted */
	TAKEN = 80,
	BLOB = 2000,
	LONG_BLOB = 100000,
	LEASE_NS = 100000000,
	SOON_NS = 100000000,
	REGION = 4 << 20,
};

static unsigned char
byte_of(uint64_t key, uint32_t i)
{
	return (unsigned char)(nam_mix(key + i / 8) >> (i % 8 * 8));
}

/* A row with a blob that names its key. */
static nam_status
insert_blob(struct txn *t, struct txn_table *tab, uint64_t key, uint32_t len)
{
	static unsigned char bytes[LONG_BLOB];
	struct row r = mk(key, 1);
	for (uint32_t i = 0; i < len; i++)
		bytes[i] = byte_of(key, i);
	nam_status st = txn_blob_put(t, tab, bytes, len, &r.blob);
	return st == NAM_OK ? insert_row(t, tab, &r) : st;
}

static void
check_blob(struct fixture *fix, struct txn *t, unsigned p, uint64_t key)
{
	struct txn_row row;
	struct row r;
	const void *bytes;
	assert_int_equal(get(fix, t, &fix->tab[p], key, &row, &r), NAM_OK);
	assert_int_equal(txn_blob_get(t, &r.blob, 1, &bytes, &fix->a), NAM_OK);
	for (uint32_t i = 0; i < r.blob.len; i++)
		assert_int_equal(((const unsigned char *)bytes)[i], byte_of(key, i));
}

/* Extents that the storage nodes have left while a dead process's memory is not found yet. */
static unsigned least;

/* Takes memory of the table and gives it back: this sweeps, if a sweep is due. */
static nam_status
take(struct fixture *fix, unsigned p)
{
	struct txn *t;
	struct txn_blob b;
	nam_status st = txn_begin(fix->tw[p], TXN_REPEATABLE_READ, &t);
	if (st == NAM_OK) {
		st = txn_blob_put(t, &fix->tab[p], "x", 1, &b);
		txn_abort(t);
	}
	return st;
}

static uint64_t
sweeps(struct fixture *fix, unsigned p)
{
	struct txn_stats st;
	txn_worker_stats(fix->tw[p], &st);
	return st.sweeps;
}

/* ---- the victim: rows it deleted wait to be collected, and a transaction of many rows and blobs
 * is open ---- */

struct victim {
	struct fixture *fix;
	bool ready, ended;
};

static void
victim_main(void *arg)
{
	struct victim *v = arg;
	struct fixture *fix = v->fix;
	struct txn *t = begin(fix, DEAD, TXN_REPEATABLE_READ);
	for (uint64_t k = KEPT; k < 2 * KEPT; k++)
		assert_int_equal(del(fix, t, &fix->tab[DEAD], k), NAM_OK);
	commit_all(t);
	t = begin(fix, DEAD, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < TAKEN; k++)
		assert_int_equal(insert_blob(t, &fix->tab[DEAD], 100 + k, k == 0 ? LONG_BLOB : BLOB), NAM_OK);
	v->ready = true;
	while (!net_sim_crashed(fix->net[DEAD]))
		net_sleep(fix->w[DEAD], 1000000);
	txn_abort(t);
	v->ended = true;
}

static void
die(struct fixture *fix, struct victim *v)
{
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < 2 * KEPT; k++)
		assert_int_equal(insert_blob(t, &fix->tab[0], k, BLOB), NAM_OK);
	commit_all(t);
	/* Its log also takes an extent. */
	t = begin(fix, SWEEPS, TXN_REPEATABLE_READ);
	assert_int_equal(insert(t, &fix->tab[SWEEPS], 50, 1), NAM_OK);
	commit_all(t);
	*v = (struct victim){ .fix = fix };
	assert_non_null(nam_co_start(net_worker_sched(fix->w[DEAD]), victim_main, v, 128 << 10));
	while (!v->ready)
		net_sleep(fix->w[0], 100000);
	net_sim_crash_at(fix->sim, fix->net[DEAD], net_sim_verbs(fix->net[DEAD]) + 1);
	net_sleep(fix->w[0], 3 * (uint64_t)LEASE_NS);
	assert_true(net_sim_crashed(fix->net[DEAD]));
	least = at_nodes(fix);
}

/* The memory that the victim had taken is enough for as many rows again; and none of it had another
 * owner. */
static void
judge(struct fixture *fix, unsigned p)
{
	assert_true(at_nodes(fix) >= least);
	struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < TAKEN; k++)
		assert_int_equal(insert_blob(t, &fix->tab[p], 200 + k, BLOB), NAM_OK);
	commit_all(t);
	assert_true(at_nodes(fix) >= least);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < KEPT; k++) {
		check_blob(fix, t, 0, k);
		assert_int_equal(value_of(fix, t, &fix->tab[0], KEPT + k), -1);
	}
	for (uint64_t k = 0; k < TAKEN; k++) {
		check_blob(fix, t, 0, 200 + k);
		assert_int_equal(value_of(fix, t, &fix->tab[0], 100 + k), -1);
	}
	txn_abort(t);
	/* The keys used before are inserted like any others. */
	t = begin(fix, p, TXN_READ_COMMITTED);
	for (uint64_t k = 0; k < TAKEN; k++)
		assert_int_equal(insert_blob(t, &fix->tab[p], 100 + k, 64), NAM_OK);
	commit_all(t);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < TAKEN; k++) {
		check_blob(fix, t, 0, 100 + k);
		check_blob(fix, t, 0, 200 + k);
	}
	txn_abort(t);
	nam_arena_reset(&fix->a);
}

static void
bury(struct fixture *fix, const struct victim *v)
{
	for (unsigned p = 1; p < fix->procs; p++)
		if (net_sim_crashed(fix->net[p]))
			net_sim_bury(fix->sim, fix->net[p]);
	while (!v->ended)
		net_sleep(fix->w[0], 100000);
}

/* ---- it is found, once ---- */

/* A dead process's long value lay in whole extents: they serve another long value, again and
 * again. */
static void
long_again(struct fixture *fix, unsigned p)
{
	for (unsigned i = 0; i < 20; i++) {
		struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
		assert_int_equal(insert_blob(t, &fix->tab[p], 900, LONG_BLOB), NAM_OK);
		commit_all(t);
		assert_true(at_nodes(fix) >= least);
		t = begin(fix, 0, TXN_REPEATABLE_READ);
		check_blob(fix, t, 0, 900);
		txn_abort(t);
		t = begin(fix, p, TXN_REPEATABLE_READ);
		assert_int_equal(del(fix, t, &fix->tab[p], 900), NAM_OK);
		commit_all(t);
		nam_arena_reset(&fix->a);
		net_sleep(fix->w[0], 30000000);
	}
	assert_true(at_nodes(fix) >= least);
}

static void
found(struct fixture *fix)
{
	struct victim v;
	struct txn_stats st;
	die(fix, &v);
	assert_int_equal(take(fix, SWEEPS), NAM_OK);
	net_sleep(fix->w[0], SOON_NS);
	txn_worker_stats(fix->tw[SWEEPS], &st);
	assert_int_equal(st.sweeps, 1);
	assert_true(st.blocks_found >= TAKEN);
	assert_true(st.bytes_found >= TAKEN * BLOB + LONG_BLOB);
	net_sleep(fix->w[0], 2 * (uint64_t)SOON_NS); /* M6: its horizons have passed */
	long_again(fix, SWEEPS);
	judge(fix, SWEEPS);
	/* It is swept once. */
	assert_int_equal(take(fix, 0), NAM_OK);
	net_sleep(fix->w[0], SOON_NS);
	assert_int_equal(sweeps(fix, 0), 0);
	assert_int_equal(sweeps(fix, SWEEPS), 1);
	bury(fix, &v);
}

static void
test_found(void **state)
{
	(void)state;
	run_some(3, found);
}

/* ---- the sweeping process also dies, at each of its verbs; the next one finishes ---- */

/* swept_to: verbs it had posted when its sweep was over, about. */
static uint64_t crash_verb, his_verbs, swept_to;
static unsigned died, begun;

/* In a coroutine of its own: the verbs of a dead process do not return before the process is
 * closed. */
static bool taken;

static void
take_main(void *arg)
{
	(void)take(arg, SWEEPS);
	taken = true;
}

static void
crashed(struct fixture *fix)
{
	struct victim v;
	die(fix, &v);
	uint64_t from = net_sim_verbs(fix->net[SWEEPS]);
	if (crash_verb != 0)
		net_sim_crash_at(fix->sim, fix->net[SWEEPS], from + crash_verb);
	taken = false;
	assert_non_null(nam_co_start(net_worker_sched(fix->w[SWEEPS]), take_main, fix, 128 << 10));
	const struct txn_anchor *a =
	    (const void *)((const char *)net_sim_memory(fix->sim, net_region_of(fix->tab[0].anchor)) +
			   net_offset_of(fix->tab[0].anchor));
	for (unsigned i = 0; i < 2000 && sweeps(fix, SWEEPS) == 0; i++) {
		if (crash_verb == 0 && a->sweep < 2)
			swept_to = net_sim_verbs(fix->net[SWEEPS]) - from;
		net_sleep(fix->w[0], 100000);
	}
	his_verbs = net_sim_verbs(fix->net[SWEEPS]) - from;
	unsigned who = SWEEPS;
	if (net_sim_crashed(fix->net[SWEEPS])) {
		begun += a->sweep == 1;
		died++;
		net_sleep(fix->w[0], 3 * (uint64_t)LEASE_NS);
		assert_int_equal(take(fix, 0), NAM_OK);
		net_sleep(fix->w[0], SOON_NS);
		assert_int_equal(sweeps(fix, 0), 1);
		who = 0;
	}
	judge(fix, who);
	bury(fix, &v);
	while (!taken)
		net_sleep(fix->w[0], 100000);
}

static void
test_crash_of_who_sweeps(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		unsigned slots = 1 + (unsigned)seed;
		crash_verb = 0;
		run_sized(3, slots, seed, REGION, crashed);
		uint64_t last = his_verbs, over = swept_to + 100;
		assert_true(last > 30 && last < 3000);
		/* After the sweep it gives the memory found back, extent by extent. */
		for (crash_verb = 1; crash_verb <= last;
		     crash_verb += crash_verb < over ? nam_rounds(1, 3, 7) : 17)
			run_sized(3, slots, seed, REGION, crashed);
	}
	printf("%u sweepers died, %u in the middle of a sweep\n", died, begun);
	assert_true(died > nam_rounds(60, 40, 20) && begun > nam_rounds(20, 7, 3));
}

/* ---- memory is handed over while the sweeping process has begun a generation, and its lists are
 * still of the earlier one ---- */

static struct {
	uint64_t pause;         /* the sweeping process stalls so long after `sweep` was WRITTEN */
	unsigned early, nobody; /* hand-overs before a list was emptied; memory that was lost */
} giver;

static void *
memory(struct fixture *fix, uint64_t at)
{
	return (char *)net_sim_memory(fix->sim, net_region_of((net_addr){ at })) +
	       net_offset_of((net_addr){ at });
}

static bool
in_tree(struct fixture *fix, uint64_t cell, uint64_t at)
{
	const struct txn_free_cell *c = cell != 0 ? memory(fix, cell) : NULL;
	return c != NULL && ((cell <= at && at < cell + c->what) || in_tree(fix, c->next, at) ||
				in_tree(fix, c->other, at));
}

static bool
in_partial(struct fixture *fix, uint64_t extent, uint64_t at)
{
	while (extent != 0) {
		const struct txn_extent *e = memory(fix, extent);
		if (extent + e->used <= at && at < extent + NET_EXTENT)
			return true;
		extent = e->partial;
	}
	return false;
}

/* Adds to giver.nobody for each of the two pieces that is not on the list of the present
 * generation. */
static void
look_for(struct fixture *fix, uint64_t rest, uint64_t block)
{
	const struct txn_anchor *an = memory(fix, fix->tab[0].anchor.bits);
	uint64_t generation = txn_generation(an->sweep);
	giver.nobody += !in_tree(fix, txn_list_at(an->rest, generation), rest);
	giver.nobody += !in_partial(fix, txn_list_at(an->partial, generation), block);
}

static void
handed_over(struct fixture *fix)
{
	struct victim v;
	struct tso_pin pin;
	const struct txn_anchor *an = memory(fix, fix->tab[0].anchor.bits);
	struct txn_table_view *view = fix->tab[0].view;
	die(fix, &v);
	taken = false;
	assert_non_null(nam_co_start(net_worker_sched(fix->w[SWEEPS]), take_main, fix, 128 << 10));
	while (an->sweep == 0)
		net_sleep(fix->w[0], 500);
	net_sleep(fix->w[0], giver.pause);
	net_sim_freeze(fix->sim, fix->net[SWEEPS], LEASE_NS / 4);
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(insert_blob(t, &fix->tab[0], 500, BLOB), NAM_OK);
	commit_all(t);
	const struct txn_alloc *a = view->stock->alloc[fix->tw[0]->number];
	unsigned region = 0;
	while (region < TXN_CUTS - 1 && a->block[region].at == a->block[region].end)
		region++;
	uint64_t rest = a->aux.at, block = a->block[region].at;
	assert_true(txn_generation(a->sweep) == 1 && rest < a->aux.end && block < a->block[region].end);
	giver.early += an->sweep == 1 && (txn_list_at(an->rest, 1) | an->rest >> TXN_LIST_SHIFT) == 0;
	assert_int_equal(tso_pin_now(fix->tw[0]->tso, &pin), NAM_OK);
	assert_true(txn_hand_over(
	    fix->tw[0], view, view->stock->alloc[fix->tw[0]->number], net_now_ns(fix->w[0]) + LEASE_NS));
	tso_unpin(fix->tw[0]->tso, &pin);
	look_for(fix, rest, block);
	least = at_nodes(fix);
	net_sleep(fix->w[0], SOON_NS);
	assert_int_equal(sweeps(fix, SWEEPS), 1);
	look_for(fix, rest, block);
	if (giver.nobody == 0)
		judge(fix, SWEEPS);
	bury(fix, &v);
	while (!taken)
		net_sleep(fix->w[0], 100000);
}

static void
hand_over_at_all_moments(void)
{
	giver.early = giver.nobody = 0;
	for (giver.pause = 0; giver.pause < 20000; giver.pause += nam_rounds(500, 500, 1500))
		run(3, 3, 1 + giver.pause / 500, handed_over);
	printf("%u hand-overs before a list was emptied, %u pieces lost\n", giver.early, giver.nobody);
}

static void
test_handed_over(void **state)
{
	(void)state;
	hand_over_at_all_moments();
	assert_true(giver.early > 5);
	assert_int_equal(giver.nobody, 0);
}

#ifdef NAM_TWINS
static void
test_twin(void **state)
{
	(void)state;
	nam_fault_on = NAM_FAULT_LIST_VOID;
	printf("fault %s: ", nam_fault_name[nam_fault_on]);
	hand_over_at_all_moments();
	nam_fault_on = NAM_FAULT_NONE;
	assert_true(giver.nobody > 0);
}
#endif

/* ---- an older snapshot keeps the versions it shows ---- */

static void
pinned(struct fixture *fix)
{
	struct victim v;
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 300; k < 310; k++)
		assert_int_equal(insert_blob(t, &fix->tab[0], k, BLOB), NAM_OK);
	commit_all(t);
	struct txn *old = begin(fix, READER, TXN_REPEATABLE_READ);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 300; k < 310; k++)
		assert_int_equal(del(fix, t, &fix->tab[0], k), NAM_OK);
	commit_all(t);
	die(fix, &v);
	assert_int_equal(take(fix, SWEEPS), NAM_OK);
	net_sleep(fix->w[0], SOON_NS);
	assert_int_equal(sweeps(fix, SWEEPS), 0);
	/* Others go on meanwhile, in new memory. */
	t = begin(fix, 0, TXN_READ_COMMITTED);
	for (uint64_t k = 400; k < 440; k++)
		assert_int_equal(insert_blob(t, &fix->tab[0], k, BLOB), NAM_OK);
	commit_all(t);
	for (uint64_t k = 300; k < 310; k++)
		check_blob(fix, old, READER, k);
	least = at_nodes(fix);
	txn_abort(old);
	net_sleep(fix->w[0], SOON_NS);
	assert_int_equal(sweeps(fix, SWEEPS), 1);
	judge(fix, SWEEPS);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 400; k < 440; k++)
		check_blob(fix, t, 0, k);
	txn_abort(t);
	bury(fix, &v);
}

static void
test_pinned(void **state)
{
	(void)state;
	run_some(4, pinned);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_crash_of_who_sweeps),
		cmocka_unit_test(test_pinned),
		cmocka_unit_test(test_handed_over),
#ifdef NAM_TWINS
		cmocka_unit_test(test_twin),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
