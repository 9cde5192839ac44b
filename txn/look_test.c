/*
 * look_test.c -- a large table is swept over a slow network, while others use it: the watermark goes on, extents are READ together,
 * and all of its memory is somebody's, and one's only.
 */
#include <base/fault.h>
#include "lab.h"
#include "reclaim.h"

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
anchor(struct lab *lab)
{
	net_addr at = lab->tab[0].anchor;
	return (const void *)((const char *)net_sim_memory(lab->sim, net_region_of(at)) + net_offset_of(at));
}

static nam_status
put_blob(struct txn *t, struct txn_table *tab, struct row *r)
{
	unsigned char bytes[BLOB];
	memset(bytes, (int)(r->key * 7 + (uint64_t)r->value * 13), sizeof bytes);
	return txn_blob_put(t, tab, bytes, sizeof bytes, &r->blob);
}

static void
insert_rows(struct lab *lab, unsigned p, uint64_t from, uint64_t to)
{
	while (from < to) {
		struct txn *t = begin(lab, p, TXN_REPEATABLE_READ);
		for (unsigned i = 0; i < 50 && from < to; i++, from++) {
			struct row r = mk(from, 1);
			assert_int_equal(put_blob(t, &lab->tab[p], &r), NAM_OK);
			assert_int_equal(insert_row(t, &lab->tab[p], &r), NAM_OK);
		}
		commit_all(t);
	}
}

/* Another version of the row, with another blob. Its blob of before is garbage. */
static void
replace(struct lab *lab, unsigned p, uint64_t key)
{
	struct txn *t = begin(lab, p, TXN_REPEATABLE_READ);
	struct txn_row row;
	struct row was, r;
	assert_int_equal(get(lab, t, &lab->tab[p], key, &row, &was), NAM_OK);
	r = mk(key, was.value + 1);
	assert_int_equal(put_blob(t, &lab->tab[p], &r), NAM_OK);
	assert_int_equal(txn_update(t, &lab->tab[p], &row, &r, sizeof r), NAM_OK);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	nam_arena_reset(&lab->a);
}

static void
check_rows(struct lab *lab, struct txn *t, unsigned p, uint64_t from, uint64_t to)
{
	for (uint64_t k = from; k < to; k++) {
		struct txn_row row;
		struct row r;
		const void *bytes;
		if (get(lab, t, &lab->tab[p], k, &row, &r) != NAM_OK)
			lost++;
		else if (txn_blob_get(t, &r.blob, 1, &bytes, &lab->a) != NAM_OK ||
			 *(const unsigned char *)bytes != (unsigned char)(k * 7 + (uint64_t)r.value * 13))
			unreadable++;
		nam_arena_reset(&lab->a);
	}
}

/* ---- memory: whose is it, in the end? ---- */

static void *
memory(struct lab *lab, uint64_t at)
{
	return (char *)net_sim_memory(lab->sim, net_region_of((net_addr){ at })) +
	       net_offset_of((net_addr){ at });
}

static int64_t
listed(struct lab *lab, uint64_t at)
{
	if (at == 0)
		return 0;
	const struct txn_free_cell *c = memory(lab, at);
	return (int64_t)c->what + listed(lab, c->next) + listed(lab, c->other);
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
lives(struct lab *lab, unsigned p)
{
	return p != DEAD && !tso_abandoned(lab->db[p]->tso);
}

/* Free for archives and blobs: at hand of those who live, and listed. */
static int64_t
free_bytes(struct lab *lab)
{
	uint64_t generation = txn_generation(anchor(lab)->sweep);
	int64_t sum = listed(lab, txn_list_at(anchor(lab)->rest, generation));
	for (unsigned p = 0; p < lab->procs; p++) {
		const struct txn_alloc *a = lab->tab[p].view->alloc[lab->tw[p]->number];
		if (!lives(lab, p) || a == NULL || !a->looked || txn_generation(a->sweep) != generation)
			continue;
		sum += (int64_t)(a->aux.end - a->aux.at) + in_stretches(&a->rest) +
		       (int64_t)a->archives.n * lab->tab[p].view->archive_bytes;
		for (unsigned c = 0; c < TXN_BLOB_CLASSES; c++)
			sum += (int64_t)a->blob[c].n * (64 << c);
		for (uint32_t i = 0; i < a->rest_tree.n; i++)
			sum += listed(lab, a->rest_tree.item[i]);
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

/* When nobody has garbage any more: what nobody has, and (negative) what two have. */
static int64_t
nobodys(struct lab *lab, uint64_t rows)
{
	int64_t all = 0;
	for (unsigned quiet = 0; quiet < 20;) {
		unsigned n = 0;
		for (unsigned p = 0; p < lab->procs; p++)
			n += lives(lab, p) ? lab->tw[p]->junk[0].n + lab->tw[p]->junk[1].n : 0;
		quiet = n == 0 ? quiet + 1 : 0;
		net_sleep(lab->w[0], 10 * MS);
	}
	assert_int_equal(
	    txn_ledger_walk(lab->db[0], lab->w[0], lab->tab[0].anchor, add_extent, &all), NAM_OK);
	return all - free_bytes(lab) - (int64_t)(rows * txn_blob_bytes(BLOB));
}

/* ---- one that has memory at hand, and dies ---- */

static bool ready, ended;

static void
victim_main(void *arg)
{
	struct lab *lab = arg;
	struct txn *t = begin(lab, DEAD, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < TAKEN; k++) {
		struct row r = mk(100000 + k, 1);
		assert_int_equal(put_blob(t, &lab->tab[DEAD], &r), NAM_OK);
		assert_int_equal(insert_row(t, &lab->tab[DEAD], &r), NAM_OK);
	}
	ready = true;
	while (!net_sim_crashed(lab->net[DEAD]))
		net_sleep(lab->w[DEAD], MS);
	txn_abort(t);
	ended = true;
}

static void
one_dies(struct lab *lab)
{
	ready = ended = false;
	assert_non_null(nam_co_start(net_worker_sched(lab->w[DEAD]), victim_main, lab, 128 << 10));
	while (!ready)
		net_sleep(lab->w[0], MS);
	net_sim_crash_at(lab->sim, lab->net[DEAD], net_sim_verbs(lab->net[DEAD]) + 1);
	net_sleep(lab->w[0], 3 * (uint64_t)LEASE_NS);
	net_sim_bury(lab->sim, lab->net[DEAD]);
	while (!ended)
		net_sleep(lab->w[0], MS);
}

/* ---- a second worker of the process that sweeps ---- */

static struct txn_worker *helper;

static void
help(struct lab *lab)
{
	assert_int_equal(net_worker_open(lab->net[SWEEPS], &lab->more, NULL), NAM_OK);
	assert_int_equal(txn_worker_open(lab->db[SWEEPS], lab->more, &helper), NAM_OK);
	helper->helpers++;
	assert_non_null(nam_co_start(net_worker_sched(lab->more), txn_reclaim, helper, 128 << 10));
}

/* How much it has READ. */
static uint64_t
help_ends(struct lab *lab)
{
	struct net_counts c;
	net_worker_counts(lab->more, 0, &c);
	txn_worker_close(helper);
	return c.bytes_in;
}

/* The sweep becomes SWEEPS' work, and has begun to look. */
static void
sweep_begins(struct lab *lab)
{
	struct txn *t = begin(lab, SWEEPS, TXN_REPEATABLE_READ);
	struct row r = mk(0, 1);
	assert_int_equal(put_blob(t, &lab->tab[SWEEPS], &r), NAM_OK);
	txn_abort(t);
	while ((anchor(lab)->sweep & 1) == 0)
		net_sleep(lab->w[0], MS / 10);
}

/* ---- the watermark goes on ---- */

static uint64_t took_ns, still_ns;
static unsigned extents;

static const struct txn_extent *
extent_at(struct lab *lab, uint64_t at)
{
	return memory(lab, at);
}

static void
count_extents(struct lab *lab)
{
	extents = 0;
	for (uint64_t at = anchor(lab)->blocks; at != 0; at = extent_at(lab, at)->next)
		extents++;
}

static unsigned
extent_looked_at(struct lab *lab)
{
	unsigned n = 0;
	for (uint64_t at = anchor(lab)->blocks; at != 0; at = extent_at(lab, at)->next)
		n += extent_at(lab, at)->horizon != 0;
	return n;
}

static void
watched(struct lab *lab)
{
	insert_rows(lab, 0, 0, ROWS);
	count_extents(lab);
	one_dies(lab);
	sweep_begins(lab);
	uint64_t began = net_now_ns(lab->w[0]), since = began;
	tso_cid last = tso_watermark(lab->db[0]->tso);
	still_ns = 0;
	for (uint64_t k = 0; anchor(lab)->sweep & 1; k++) {
		replace(lab, 0, k * 37 % ROWS);
		uint64_t now = net_now_ns(lab->w[0]);
		still_ns = now - since > still_ns ? now - since : still_ns;
		if (tso_watermark(lab->db[0]->tso) != last)
			since = now;
		last = tso_watermark(lab->db[0]->tso);
	}
	took_ns = net_now_ns(lab->w[0]) - began;
}

static void
test_watermark(void **state)
{
	(void)state;
	lab_byte_ps = SLOW_PS;
	run(4, SLOTS, 1, watched);
	lab_byte_ps = 0;
	printf("%u extents, swept in %.1f ms; the watermark stood still for %.1f ms\n", extents,
	    (double)took_ns / MS, (double)still_ns / MS);
	assert_true(extents > 20);
	assert_true(still_ns < took_ns / 2);
}

/* ---- extents are READ together ---- */

static uint64_t trips;

static void
looked_at(struct lab *lab)
{
	for (uint64_t k = 0; k < ROWS;) {
		struct txn *t = begin(lab, 0, TXN_REPEATABLE_READ);
		for (unsigned i = 0; i < 50 && k < ROWS; i++, k++)
			assert_int_equal(insert(t, &lab->tab[0], k, 1), NAM_OK);
		commit_all(t);
	}
	count_extents(lab);
	/* Of no generation: so nothing is old, and this is only a look. */
	struct txn_look l = { .v = lab->tab[0].view };
	struct net_counts counts = { 0 };
	struct txn *t = begin(lab, 0, TXN_REPEATABLE_READ);
	net_pay(&counts);
	assert_int_equal(txn_look_at_all(t, &l), NAM_OK);
	net_pay(NULL);
	txn_abort(t);
	assert_int_equal(l.extents, extents);
	assert_int_equal(extent_looked_at(lab), extents);
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

/* ---- and nothing is lost by it, nor had twice ---- */

static uint64_t
sweeper_read(struct lab *lab)
{
	struct net_counts c;
	net_worker_counts(lab->w[SWEEPS], 0, &c);
	return c.bytes_in;
}

/* Rows get other blobs while the table is swept. Most blobs of before are so left between two looks at extents. */
static void
used_meanwhile(struct lab *lab)
{
	insert_rows(lab, 0, 0, ROWS);
	if (helped)
		help(lab);
	one_dies(lab);
	sweep_begins(lab);
	struct txn *old = NULL;
	uint64_t k = 0, end = 0, before = sweeper_read(lab);
	for (; (anchor(lab)->sweep & 1) && (end == 0 || net_now_ns(lab->w[0]) < end); k++) {
		replace(lab, 0, k * 37 % ROWS);
		/* A snapshot taken in the middle of it, and kept until the sweep should long be over. */
		if (old == NULL && sweeper_read(lab) > before + 6 * NET_EXTENT) {
			old = begin(lab, READER, TXN_REPEATABLE_READ);
			end = net_now_ns(lab->w[0]) + 1000 * (uint64_t)MS;
		}
	}
	assert_non_null(old);
	early = (anchor(lab)->sweep & 1) == 0;
	/* Who gets what was found writes over it. */
	net_sleep(lab->w[0], 50 * MS);
	insert_rows(lab, SWEEPS, 200000, 200000 + ROWS);
	check_rows(lab, old, READER, 0, ROWS);
	txn_abort(old);
	while (anchor(lab)->sweep & 1)
		net_sleep(lab->w[0], MS);
	insert_rows(lab, SWEEPS, 300000, 300000 + ROWS / 2);
	struct txn *t = begin(lab, READER, TXN_REPEATABLE_READ);
	check_rows(lab, t, READER, 0, ROWS);
	check_rows(lab, t, READER, 200000, 200000 + ROWS);
	check_rows(lab, t, READER, 300000, 300000 + ROWS / 2);
	txn_abort(t);
	help_read = helped ? help_ends(lab) : 0;
	unaccounted = nobodys(lab, 2 * ROWS + ROWS / 2);
}

static void
meanwhile(void)
{
	help_read = 0;
	lost = unreadable = 0;
	unaccounted = 0;
	lab_byte_ps = SLOW_PS;
	run(4, SLOTS, 1, used_meanwhile);
	lab_byte_ps = 0;
	printf("rows gone %u, unreadable %u; bytes that nobody has (or two, below nothing): %ld\n", lost,
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

/* ---- a connection of who sweeps breaks in the middle ---- */

static uint64_t moment;
static unsigned broken_region, again, gave_up;

static void
broken(struct lab *lab)
{
	insert_rows(lab, 0, 0, ROWS);
	one_dies(lab);
	sweep_begins(lab);
	net_sleep(lab->w[0], moment);
	net_sim_break(lab->sim, lab->net[SWEEPS], broken_region);
	uint64_t end = net_now_ns(lab->w[0]) + 10000 * (uint64_t)MS;
	uint64_t k = 0;
	for (; anchor(lab)->swept == 0 || (anchor(lab)->sweep & 1); k++) {
		assert_true(net_now_ns(lab->w[0]) < end);
		replace(lab, 0, k * 37 % ROWS);
	}
	again += anchor(lab)->sweep > 2;
	gave_up += !lives(lab, SWEEPS);
	net_sleep(lab->w[0], 50 * MS);
	insert_rows(lab, 0, 300000, 300000 + ROWS / 2);
	struct txn *t = begin(lab, READER, TXN_REPEATABLE_READ);
	check_rows(lab, t, READER, 0, ROWS);
	check_rows(lab, t, READER, 300000, 300000 + ROWS / 2);
	txn_abort(t);
	unaccounted = nobodys(lab, ROWS + ROWS / 2);
}

static void
test_broken(void **state)
{
	(void)state;
	lab_byte_ps = SLOW_PS;
	lost = unreadable = 0;
	for (moment = 0; moment < 120 * (uint64_t)MS; moment += 5 * MS) {
		broken_region = 1 + (unsigned)(moment / MS) % 3;
		run(4, SLOTS, 1 + moment / MS, broken);
		assert_int_equal(lost + unreadable, 0);
		assert_int_equal(unaccounted, 0);
	}
	lab_byte_ps = 0;
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
