/*
 * look_test.c -- a large table is swept over a slow network, while others use it: the watermark
 * goes on, extents are READ together, and each piece of memory has exactly one owner.
 */
#include "reclaim.h"

#include <base/fault.h>
#include <txn/testing/fixture.h>

enum {
	DEAD = 1,
	SWEEPS = 2,
	READER = 3,
	ROWS = 1800,
	SLOTS = 8, /* long blocks: many extents of few rows */
	BLOB = 200,
	TAKEN = 40,
	LEASE_NS = 100000000,
	MS = 1000000,
	SLOW_PS = 100000, /* 10 MB/s: an extent takes 6.5 ms */
};

static unsigned lost, unreadable;
static int64_t unaccounted;
static bool early, helped;
static uint64_t help_read;

static const struct txn_anchor *
anchor(struct fixture *fix)
{
	net_addr at = fix->tab[0].anchor;
	return (const void *)((const char *)net_sim_memory(fix->sim, net_region_of(at)) + net_offset_of(at));
}

static nam_status
put_blob(struct txn *t, struct txn_table *tab, struct row *r)
{
	unsigned char bytes[BLOB];
	memset(bytes, (int)(r->key * 7 + (uint64_t)r->value * 13), sizeof bytes);
	return txn_blob_put(t, tab, bytes, sizeof bytes, &r->blob);
}

static void
insert_rows(struct fixture *fix, unsigned p, uint64_t from, uint64_t to)
{
	while (from < to) {
		struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
		for (unsigned i = 0; i < 50 && from < to; i++, from++) {
			struct row r = mk(from, 1);
			assert_int_equal(put_blob(t, &fix->tab[p], &r), NAM_OK);
			assert_int_equal(insert_row(t, &fix->tab[p], &r), NAM_OK);
		}
		commit_all(t);
	}
}

/* Another version of the row, with another blob. The earlier blob is garbage. */
static void
replace(struct fixture *fix, unsigned p, uint64_t key)
{
	struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
	struct txn_row row;
	struct row was, r;
	assert_int_equal(get(fix, t, &fix->tab[p], key, &row, &was), NAM_OK);
	r = mk(key, was.value + 1);
	assert_int_equal(put_blob(t, &fix->tab[p], &r), NAM_OK);
	assert_int_equal(txn_update(t, &fix->tab[p], &row, &r, sizeof r), NAM_OK);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	nam_arena_reset(&fix->a);
}

static void
check_rows(struct fixture *fix, struct txn *t, unsigned p, uint64_t from, uint64_t to)
{
	for (uint64_t k = from; k < to; k++) {
		struct txn_row row;
		struct row r;
		const void *bytes;
		if (get(fix, t, &fix->tab[p], k, &row, &r) != NAM_OK)
			lost++;
		else if (txn_blob_get(t, &r.blob, 1, &bytes, &fix->a) != NAM_OK ||
			 *(const unsigned char *)bytes != (unsigned char)(k * 7 + (uint64_t)r.value * 13))
			unreadable++;
		nam_arena_reset(&fix->a);
	}
}

/* ---- memory: the owner of each piece at the end ---- */

static void *
memory(struct fixture *fix, uint64_t at)
{
	return (char *)net_sim_memory(fix->sim, net_region_of((net_addr){ at })) +
	       net_offset_of((net_addr){ at });
}

static int64_t
listed(struct fixture *fix, uint64_t at)
{
	if (at == 0)
		return 0;
	const struct txn_free_cell *c = memory(fix, at);
	return (int64_t)c->what + listed(fix, c->next) + listed(fix, c->other);
}

static int64_t
in_stretches(const struct txn_stretches *s)
{
	int64_t sum = 0;
	for (uint32_t i = 0; i < s->n; i++)
		sum += (int64_t)(s->item[i].end - s->item[i].at);
	return sum;
}

static bool
lives(struct fixture *fix, unsigned p)
{
	return p != DEAD && !tso_abandoned(fix->db[p]->tso);
}

/* Free for archives and blobs: at hand of live processes, and listed. */
static int64_t
free_bytes(struct fixture *fix)
{
	uint64_t generation = txn_generation(anchor(fix)->sweep);
	int64_t sum = listed(fix, txn_list_at(anchor(fix)->rest, generation));
	for (unsigned p = 0; p < fix->procs; p++) {
		const struct txn_alloc *a = fix->tab[p].view->stock->alloc[fix->tw[p]->number];
		if (!lives(fix, p) || a == NULL || !a->looked || txn_generation(a->sweep) != generation)
			continue;
		sum += (int64_t)(a->aux.end - a->aux.at) + in_stretches(&a->rest) +
		       (int64_t)a->archives.n * fix->tab[p].view->archive_bytes;
		for (unsigned c = 0; c < TXN_BLOB_CLASSES; c++)
			sum += (int64_t)a->blob[c].n * (64 << c);
		for (uint32_t i = 0; i < a->rest_tree.n; i++)
			sum += listed(fix, a->rest_tree.item[i]);
	}
	return sum;
}

static bool
add_extent(void *arg, uint32_t entry, uint64_t word)
{
	(void)entry;
	*(int64_t *)arg += word & TXN_LEDGER_INDEX ? 0 : NET_EXTENT;
	return true;
}

/* When no process has garbage any more: bytes without an owner, and (negative) bytes with two. */
static int64_t
nobodys(struct fixture *fix, uint64_t rows)
{
	int64_t all = 0;
	for (unsigned quiet = 0; quiet < 20;) {
		unsigned n = 0;
		for (unsigned p = 0; p < fix->procs; p++)
			n += lives(fix, p) ? fix->tw[p]->junk[0].n + fix->tw[p]->junk[1].n : 0;
		quiet = n == 0 ? quiet + 1 : 0;
		net_sleep(fix->w[0], 10 * MS);
	}
	assert_int_equal(
	    txn_ledger_walk(fix->db[0], fix->w[0], fix->tab[0].anchor, add_extent, &all), NAM_OK);
	return all - free_bytes(fix) - (int64_t)(rows * txn_blob_bytes(BLOB));
}

/* ---- a process that has memory at hand, and dies ---- */

static bool ready, ended;

static void
victim_main(void *arg)
{
	struct fixture *fix = arg;
	struct txn *t = begin(fix, DEAD, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < TAKEN; k++) {
		struct row r = mk(100000 + k, 1);
		assert_int_equal(put_blob(t, &fix->tab[DEAD], &r), NAM_OK);
		assert_int_equal(insert_row(t, &fix->tab[DEAD], &r), NAM_OK);
	}
	ready = true;
	while (!net_sim_crashed(fix->net[DEAD]))
		net_sleep(fix->w[DEAD], MS);
	txn_abort(t);
	ended = true;
}

static void
one_dies(struct fixture *fix)
{
	ready = ended = false;
	assert_non_null(nam_co_start(net_worker_sched(fix->w[DEAD]), victim_main, fix, 128 << 10));
	while (!ready)
		net_sleep(fix->w[0], MS);
	net_sim_crash_at(fix->sim, fix->net[DEAD], net_sim_verbs(fix->net[DEAD]) + 1);
	net_sleep(fix->w[0], 3 * (uint64_t)LEASE_NS);
	net_sim_bury(fix->sim, fix->net[DEAD]);
	while (!ended)
		net_sleep(fix->w[0], MS);
}

/* ---- a second worker of the process that sweeps ---- */

static struct txn_worker *helper;

static void
help(struct fixture *fix)
{
	assert_int_equal(net_worker_open(fix->net[SWEEPS], &fix->more, NULL), NAM_OK);
	assert_int_equal(txn_worker_open(fix->db[SWEEPS], fix->more, &helper), NAM_OK);
	helper->helpers++;
	assert_non_null(nam_co_start(net_worker_sched(fix->more), txn_reclaim, helper, 128 << 10));
}

/* How much it has READ. */
static uint64_t
help_ends(struct fixture *fix)
{
	struct net_counts c;
	net_worker_counts(fix->more, 0, &c);
	txn_worker_close(helper);
	return c.bytes_in;
}

/* SWEEPS has taken the sweep lock, and has begun to look. */
static void
sweep_begins(struct fixture *fix)
{
	struct txn *t = begin(fix, SWEEPS, TXN_REPEATABLE_READ);
	struct row r = mk(0, 1);
	assert_int_equal(put_blob(t, &fix->tab[SWEEPS], &r), NAM_OK);
	txn_abort(t);
	while ((anchor(fix)->sweep & 1) == 0)
		net_sleep(fix->w[0], MS / 10);
}

/* ---- the watermark goes on ---- */

static uint64_t took_ns, still_ns;
static unsigned extents;

static const struct txn_extent *
extent_at(struct fixture *fix, uint64_t at)
{
	return memory(fix, at);
}

static void
count_extents(struct fixture *fix)
{
	extents = 0;
	for (uint64_t at = anchor(fix)->blocks; at != 0; at = extent_at(fix, at)->next)
		extents++;
}

static unsigned
extent_looked_at(struct fixture *fix)
{
	unsigned n = 0;
	for (uint64_t at = anchor(fix)->blocks; at != 0; at = extent_at(fix, at)->next)
		n += extent_at(fix, at)->horizon != 0;
	return n;
}

static void
watched(struct fixture *fix)
{
	insert_rows(fix, 0, 0, ROWS);
	count_extents(fix);
	one_dies(fix);
	sweep_begins(fix);
	uint64_t began = net_now_ns(fix->w[0]), since = began;
	tso_cid last = tso_watermark(fix->db[0]->tso);
	still_ns = 0;
	for (uint64_t k = 0; anchor(fix)->sweep & 1; k++) {
		replace(fix, 0, k * 37 % ROWS);
		uint64_t now = net_now_ns(fix->w[0]);
		still_ns = now - since > still_ns ? now - since : still_ns;
		if (tso_watermark(fix->db[0]->tso) != last)
			since = now;
		last = tso_watermark(fix->db[0]->tso);
	}
	took_ns = net_now_ns(fix->w[0]) - began;
}

static void
test_watermark(void **state)
{
	(void)state;
	fixture_byte_ps = SLOW_PS;
	run(4, SLOTS, 1, watched);
	fixture_byte_ps = 0;
	printf("%u extents, swept in %.1f ms; the watermark stalled for %.1f ms\n", extents,
	    (double)took_ns / MS, (double)still_ns / MS);
	assert_true(extents > 20);
	assert_true(still_ns < took_ns / 2);
}

/* ---- extents are READ together ---- */

static uint64_t trips;

static void
looked_at(struct fixture *fix)
{
	for (uint64_t k = 0; k < ROWS;) {
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		for (unsigned i = 0; i < 50 && k < ROWS; i++, k++)
			assert_int_equal(insert(t, &fix->tab[0], k, 1), NAM_OK);
		commit_all(t);
	}
	count_extents(fix);
	/* Of no generation: so no memory is old, and this is only a look. */
	struct txn_look l = { .v = fix->tab[0].view };
	struct net_counts counts = { 0 };
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	net_account_to(&counts);
	assert_int_equal(txn_look_at_all(t, &l), NAM_OK);
	net_account_to(NULL);
	txn_abort(t);
	assert_int_equal(l.extents, extents);
	assert_int_equal(extent_looked_at(fix), extents);
	txn_look_free(&l);
	trips = counts.round_trips;
}

static void
test_together(void **state)
{
	(void)state;
	run(1, SLOTS, 1, looked_at);
	printf("%u extents, looked at in %lu round trips\n", extents, trips);
	assert_true(extents > 20);
	assert_true(trips < extents * 3 / 4);
}

/* ---- and no memory is lost by it, or given out twice ---- */

static uint64_t
sweeper_read(struct fixture *fix)
{
	struct net_counts c;
	net_worker_counts(fix->w[SWEEPS], 0, &c);
	return c.bytes_in;
}

/* Rows get other blobs while the table is swept. Most earlier blobs so become garbage between two
 * looks at extents. */
static void
used_meanwhile(struct fixture *fix)
{
	insert_rows(fix, 0, 0, ROWS);
	if (helped)
		help(fix);
	one_dies(fix);
	sweep_begins(fix);
	struct txn *old = NULL;
	uint64_t k = 0, end = 0, before = sweeper_read(fix);
	for (; (anchor(fix)->sweep & 1) && (end == 0 || net_now_ns(fix->w[0]) < end); k++) {
		replace(fix, 0, k * 37 % ROWS);
		/* A snapshot taken in the middle of the sweep, and kept until the sweep should long
		 * be over. */
		if (old == NULL && sweeper_read(fix) > before + 6 * NET_EXTENT) {
			old = begin(fix, READER, TXN_REPEATABLE_READ);
			end = net_now_ns(fix->w[0]) + 1000 * (uint64_t)MS;
		}
	}
	assert_non_null(old);
	early = (anchor(fix)->sweep & 1) == 0;
	/* The process that gets the found memory writes over it. */
	net_sleep(fix->w[0], 50 * MS);
	insert_rows(fix, SWEEPS, 200000, 200000 + ROWS);
	check_rows(fix, old, READER, 0, ROWS);
	txn_abort(old);
	while (anchor(fix)->sweep & 1)
		net_sleep(fix->w[0], MS);
	insert_rows(fix, SWEEPS, 300000, 300000 + ROWS / 2);
	struct txn *t = begin(fix, READER, TXN_REPEATABLE_READ);
	check_rows(fix, t, READER, 0, ROWS);
	check_rows(fix, t, READER, 200000, 200000 + ROWS);
	check_rows(fix, t, READER, 300000, 300000 + ROWS / 2);
	txn_abort(t);
	help_read = helped ? help_ends(fix) : 0;
	unaccounted = nobodys(fix, 2 * ROWS + ROWS / 2);
}

static void
meanwhile(void)
{
	help_read = 0;
	lost = unreadable = 0;
	unaccounted = 0;
	fixture_byte_ps = SLOW_PS;
	run(4, SLOTS, 1, used_meanwhile);
	fixture_byte_ps = 0;
	printf("rows gone %u, unreadable %u; bytes without an owner (negative: with two): %ld\n", lost,
	    unreadable, unaccounted);
}

static void
test_meanwhile(void **state)
{
	(void)state;
	meanwhile();
	assert_int_equal(lost + unreadable, 0);
	assert_int_equal(unaccounted, 0);
	assert_false(early);
	helped = true;
	meanwhile();
	helped = false;
	assert_int_equal(lost + unreadable, 0);
	assert_int_equal(unaccounted, 0);
	printf("the second worker READ %lu KiB\n", help_read >> 10);
	assert_true(help_read > 4 * NET_EXTENT);
}

/* ---- a connection of the sweeping process breaks in the middle ---- */

static uint64_t moment;
static unsigned broken_region, again, gave_up;

static void
broken(struct fixture *fix)
{
	insert_rows(fix, 0, 0, ROWS);
	one_dies(fix);
	sweep_begins(fix);
	net_sleep(fix->w[0], moment);
	net_sim_break(fix->sim, fix->net[SWEEPS], broken_region);
	uint64_t end = net_now_ns(fix->w[0]) + 10000 * (uint64_t)MS;
	uint64_t k = 0;
	for (; anchor(fix)->swept == 0 || (anchor(fix)->sweep & 1); k++) {
		assert_true(net_now_ns(fix->w[0]) < end);
		replace(fix, 0, k * 37 % ROWS);
	}
	again += anchor(fix)->sweep > 2;
	gave_up += !lives(fix, SWEEPS);
	net_sleep(fix->w[0], 50 * MS);
	insert_rows(fix, 0, 300000, 300000 + ROWS / 2);
	struct txn *t = begin(fix, READER, TXN_REPEATABLE_READ);
	check_rows(fix, t, READER, 0, ROWS);
	check_rows(fix, t, READER, 300000, 300000 + ROWS / 2);
	txn_abort(t);
	unaccounted = nobodys(fix, ROWS + ROWS / 2);
}

static void
test_broken(void **state)
{
	(void)state;
	fixture_byte_ps = SLOW_PS;
	lost = unreadable = 0;
	for (moment = 0; moment < 120 * (uint64_t)MS; moment += 5 * MS) {
		broken_region = 1 + (unsigned)(moment / MS) % 3;
		run(4, SLOTS, 1 + moment / MS, broken);
		assert_int_equal(lost + unreadable, 0);
		assert_int_equal(unaccounted, 0);
	}
	fixture_byte_ps = 0;
	printf("%u sweeps were begun again, %u processes gave themselves up\n", again, gave_up);
	assert_true(again > 5);
}

#ifdef NAM_TWINS
static void
test_twins(void **state)
{
	(void)state;
	static const enum nam_fault fault[] = { NAM_FAULT_SWEEP_UNTOLD, NAM_FAULT_ONE_HORIZON,
		NAM_FAULT_SWEEP_HANDS_OUT };
	unsigned missed = 0;
	for (unsigned i = 0; i < sizeof fault / sizeof *fault; i++) {
		nam_fault_on = fault[i];
		printf("fault %s: ", nam_fault_name[fault[i]]);
		meanwhile();
		nam_fault_on = NAM_FAULT_NONE;
		missed += lost + unreadable == 0 && unaccounted == 0;
	}
	assert_int_equal(missed, 0);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_watermark),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_meanwhile),
		cmocka_unit_test(test_broken),
#ifdef NAM_TWINS
		cmocka_unit_test(test_twins),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
