/*
 * logged_test.c -- a cluster with a log: the owner of a commit dies at every verb, its recoverer at
 * many, and at the end the power is cut. What the log then has is what the cluster showed.
 *
 * With several copies of the log each one by itself has it: a cluster that has lost the others can
 * go on with any of them.
 *
 * The log is read by code of this file alone. It is judged from outside: what was answered is
 * there, what was told undone is not, nothing is there by half, and the rows of the log are those
 * that the processes which lived have READ last.
 */
#include <base/fault.h>
#include <base/log.h>
#include <base/rounds.h>
#include <txn/logged_format.h>
#include <txn/testing/fixture.h>
#include <wal/testing/faulty.h>
#include <wal/testing/records.h>
#include <wal/wal.h>
#include <wal/wal_format.h>

enum { OWNER = 1, HELPER = 2, KEYS = 8, FRESH = 100, OLD = 10, NEW = 20, LEASE_NS = 100000000, VALUE = 3000 };

static unsigned copies = 1; /* of the log */

/* What a world showed at its end, and what its commit was told. */
static struct {
	uint64_t verb, second; /* the owner's, its first recoverer's (0 = it lives) */
	bool sync;
	nam_status st;
	bool ended, crashed, second_crashed;
	int64_t row[KEYS], fresh; /* -1 = absent */
	bool wrong;
} world;

/* ---- the log, read by itself ---- */

struct logged_row {
	uint64_t at, cid;
	struct row row;
	bool deleted;
};
struct logged_attempt {
	uint64_t lock, check;
};
static struct {
	struct logged_row row[4096];
	unsigned rows;
	struct logged_attempt undone[64];
	unsigned undones;
	unsigned values, records;
} book;

static bool
was_undone(const struct txn_logged *h)
{
	for (unsigned i = 0; i < book.undones; i++)
		if (book.undone[i].lock == h->lock && book.undone[i].check == h->check)
			return true;
	return false;
}

static void
enter_row(const struct txn_logged *h, const struct txn_logged_item *item, const char *bytes)
{
	unsigned i = 0;
	while (i < book.rows && book.row[i].at != item->at)
		i++;
	if (i == book.rows) {
		assert_true(book.rows < sizeof book.row / sizeof *book.row);
		book.row[book.rows++] = (struct logged_row){ .at = item->at };
	}
	if (h->cid < book.row[i].cid)
		return;
	book.row[i].cid = h->cid;
	book.row[i].deleted = item->kind == TXN_LOGGED_DELETED;
	if (!book.row[i].deleted) {
		assert_int_equal(item->len, sizeof(struct row));
		memcpy(&book.row[i].row, bytes, sizeof(struct row));
	}
}

static void
enter(const char *bytes, uint32_t len, bool undone)
{
	struct txn_logged h;
	assert_true(len >= sizeof h);
	memcpy(&h, bytes, sizeof h);
	book.records++;
	if (undone && h.kind == TXN_LOGGED_UNDONE)
		book.undone[book.undones++] = (struct logged_attempt){ h.lock, h.check };
	if (undone || h.kind != TXN_LOGGED_COMMIT || was_undone(&h))
		return;
	assert_true(h.part == 0 && (h.flags & TXN_LOGGED_LAST) != 0);
	for (uint32_t at = sizeof h; at < len;) {
		struct txn_logged_item item;
		memcpy(&item, bytes + at, sizeof item);
		at += sizeof item;
		if (item.kind == TXN_LOGGED_VALUE)
			book.values++;
		else if (item.table == 1)
			enter_row(&h, &item, bytes + at);
		at += TXN_PAD(item.len);
	}
}

static void
enter_record(void *arg, unsigned pass, uint64_t position, const char *bytes, uint32_t len)
{
	(void)arg;
	(void)position;
	enter(bytes, len, pass == 0);
}

static void
read_log(struct wal_dir *dir)
{
	memset(&book, 0, sizeof book);
	each_record(dir, 2, enter_record, NULL);
}

static struct wal_dir *
dir_of(unsigned copy)
{
	return copy == 0 ? fixture_log : fixture_copy[copy - 1];
}

static void
open_logs(uint64_t seed)
{
	fixture_log = wal_faulty_open(seed);
	assert_non_null(fixture_log);
	for (unsigned i = 1; i < copies; i++)
		assert_non_null(fixture_copy[i - 1] = wal_faulty_open(seed + 100000 * i));
}

static void
close_logs(void)
{
	for (unsigned i = 0; i < copies; i++)
		wal_faulty_close(dir_of(i));
	fixture_log = NULL;
	memset(fixture_copy, 0, sizeof fixture_copy);
}

static int64_t
logged_value(uint64_t key)
{
	int64_t v = -1;
	for (unsigned i = 0; i < book.rows; i++)
		if (!book.row[i].deleted && book.row[i].row.key == key) {
			if (v != -1)
				world.wrong = true; /* a key twice */
			v = book.row[i].row.value;
		}
	return v;
}

/* ---- a world ---- */

/* Updates 0 and 1, deletes 2, inserts a row with a long value. */
static void
owner_main(void *arg)
{
	struct fixture *fix = arg;
	struct txn_table *tab = &fix->tab[OWNER];
	static char bytes[VALUE];
	struct txn *t;
	struct row r = mk(FRESH, NEW);
	world.st = txn_begin(fix->tw[OWNER], TXN_REPEATABLE_READ, &t);
	if (world.st == NAM_OK) {
		txn_set_sync(t, world.sync);
		world.st = set(fix, t, tab, 0, NEW);
		if (world.st == NAM_OK)
			world.st = set(fix, t, tab, 1, NEW);
		if (world.st == NAM_OK)
			world.st = del(fix, t, tab, 2);
		if (world.st == NAM_OK)
			world.st = txn_blob_put(t, tab, bytes, sizeof bytes, &r.blob);
		if (world.st == NAM_OK)
			world.st = insert_row(t, tab, &r);
		if (world.st == NAM_OK)
			world.st = txn_commit(t, NULL);
		else
			txn_abort(t);
	}
	world.ended = true;
}

/* A commit before the one that counts: the owner's worker asks for its rings. */
static void
owner_first(void *arg)
{
	struct fixture *fix = arg;
	struct txn *t;
	assert_int_equal(txn_begin(fix->tw[OWNER], TXN_REPEATABLE_READ, &t), NAM_OK);
	txn_set_sync(t, false);
	assert_int_equal(set(fix, t, &fix->tab[OWNER], 7, OLD), NAM_OK);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	world.ended = true;
}

static void
show(struct fixture *fix)
{
	/* Locks that are left are waited for: every row is written once more, so that it is in
	 * the log
	 * behind what was decided. */
	for (uint64_t k = 4; k < 6; k++) {
		struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
		assert_int_equal(set(fix, t, &fix->tab[0], k, 30), NAM_OK);
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
	}
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < KEYS; k++)
		world.row[k] = value_of(fix, t, &fix->tab[0], k);
	world.fresh = value_of(fix, t, &fix->tab[0], FRESH);
	txn_abort(t);
}

static bool
recovered(struct fixture *fix)
{
	struct txn_stats a, b;
	txn_worker_stats(fix->tw[0], &a);
	txn_worker_stats(fix->tw[HELPER], &b);
	return a.recovered + (world.second_crashed ? 0 : b.recovered) > 0;
}

static void
body(struct fixture *fix)
{
	fill(fix, KEYS, OLD);
	if (fixture_rings) {
		assert_non_null(nam_co_start(net_worker_sched(fix->w[OWNER]), owner_first, fix, 128 << 10));
		while (!world.ended)
			net_sleep(fix->w[0], 100000);
		net_sleep(fix->w[0], 1000000);
		world.ended = false;
	}
	net_sim_crash_at(fix->sim, fix->net[OWNER], net_sim_verbs(fix->net[OWNER]) + world.verb);
	if (world.second > 0)
		net_sim_crash_at(fix->sim, fix->net[HELPER], net_sim_verbs(fix->net[HELPER]) + world.second);
	assert_non_null(nam_co_start(net_worker_sched(fix->w[OWNER]), owner_main, fix, 128 << 10));
	while (!world.ended && !net_sim_crashed(fix->net[OWNER]))
		net_sleep(fix->w[0], 100000);
	world.crashed = net_sim_crashed(fix->net[OWNER]);
	uint64_t until = net_now_ns(fix->w[0]) + 40 * (uint64_t)LEASE_NS;
	while (world.crashed && !recovered(fix) && !world.wrong) {
		world.second_crashed = world.second > 0 && net_sim_crashed(fix->net[HELPER]);
		/* A recoverer meets what no owner can have left, and gives up again and again. */
		world.wrong = nam_fault_any() && net_now_ns(fix->w[0]) >= until;
		assert_true(world.wrong || net_now_ns(fix->w[0]) < until);
		net_sleep(fix->w[0], 1000000);
	}
	net_sleep(fix->w[0], LEASE_NS);
	world.second_crashed = world.second > 0 && net_sim_crashed(fix->net[HELPER]);
	if (!world.wrong)
		show(fix);
	for (unsigned p = OWNER; p <= HELPER; p++)
		if (net_sim_crashed(fix->net[p]))
			net_sim_bury(fix->sim, fix->net[p]);
		else
			net_sim_crash_at(fix->sim, fix->net[p], UINT64_MAX);
	while (!world.ended)
		net_sleep(fix->w[0], 100000);
}

/* Does the log that has been read show what the world showed? */
static bool
is_the_world(void)
{
	bool after = world.row[0] == NEW, is = true;
	for (uint64_t k = 0; k < KEYS; k++)
		is = is && logged_value(k) == world.row[k];
	return is && logged_value(FRESH) == world.fresh && book.values == (unsigned)after;
}

/* Plays it, cuts the power, and compares. True if all is as it must be. */
static bool
play(uint64_t verb, uint64_t second, bool sync, uint64_t seed)
{
	open_logs(seed);
	memset(&world, 0, sizeof world);
	world.verb = verb;
	world.second = second;
	world.sync = sync;
	run(3, 2, seed, body);
	bool after = world.row[0] == NEW, is = true;
	/* All of it or nothing, in memory and in the log. */
	is = is && world.row[1] == (after ? NEW : OLD) && world.row[2] == (after ? -1 : OLD) &&
	     world.fresh == (after ? NEW : -1);
	for (unsigned i = 0; i < copies; i++) {
		wal_faulty_cut(dir_of(i));
		read_log(dir_of(i));
		is = is_the_world() && is;
	}
	close_logs();
	/* A process that has crashed is told nothing that counts. */
	if (!world.crashed && world.st == NAM_OK)
		is = is && after;
	return is && !world.wrong;
}

/* Every verb of the owner, until it lives to its end; not each, where there are copies. */
static unsigned
every_verb(bool sync, bool seconds, uint64_t seeds, unsigned *worlds, unsigned *after)
{
	unsigned wrong = 0, step = nam_rounds(1, copies > 1 ? 2 : 1, 3);
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		for (uint64_t verb = step > 1 && sync ? 2 : 1; verb < 400; verb += step) {
			uint64_t second = seconds ? 1 + nam_mix(verb * 31 + seed) % 120 : 0;
			bool is = play(verb, second, sync, seed * 1000 + verb);
			++*worlds;
			*after += world.row[0] == NEW;
			wrong += !is;
			if (!is && nam_fault_any())
				return wrong; /* it is caught */
			if (!is)
				fprintf(stderr, "%u copies verb %llu second %llu seed %llu: status %d\n",
				    copies, (unsigned long long)verb, (unsigned long long)second,
				    (unsigned long long)seed, (int)world.st);
			if (!world.crashed)
				break;
		}
	}
	return wrong;
}

static void
test_owner_dies(void **state)
{
	(void)state;
	for (unsigned sync = 0; sync < 2; sync++) {
		unsigned worlds = 0, after = 0;
		assert_int_equal(every_verb(sync, false, nam_rounds(4, 1, 1), &worlds, &after), 0);
		printf("%s: %u worlds, the commit is there in %u\n", sync ? "on" : "off", worlds, after);
		assert_true(worlds > nam_rounds(60, 40, 12) && after > nam_rounds(5, 5, 0) && after < worlds);
	}
}

static void
test_recoverer_dies(void **state)
{
	(void)state;
	unsigned worlds = 0, after = 0;
	assert_int_equal(every_verb(true, true, nam_rounds(3, 1, 1), &worlds, &after), 0);
	printf("%u worlds, the commit is there in %u\n", worlds, after);
}

/* Owner, and in half of the worlds the first recoverer, die beside copies of the log: so many,
 * and more. */
static void
deaths(unsigned least)
{
	for (copies = least; copies <= WAL_COPIES; copies++)
		for (unsigned sync = 0; sync < 2; sync++) {
			unsigned worlds = 0, after = 0;
			assert_int_equal(every_verb(sync, false, nam_rounds(2, 1, 1), &worlds, &after), 0);
			assert_int_equal(every_verb(sync, true, nam_rounds(2, 1, 1), &worlds, &after), 0);
			printf("%s%u copies, %s: %u worlds, the commit is there in %u\n",
			    fixture_rings ? "rings, " : "", copies, sync ? "on" : "off", worlds, after);
			assert_true(
			    worlds > nam_rounds(60, 40, 12) && after > nam_rounds(5, 5, 0) && after < worlds);
		}
	copies = 1;
}

static void
test_copies(void **state)
{
	(void)state;
	deaths(2);
}

/* The records go by rings. */
static void
test_rings(void **state)
{
	(void)state;
	fixture_rings = true;
	deaths(1);
	fixture_rings = false;
}

/* ---- an owner that does not reach its log ---- */

/* Behind one of its verbs the owner does not reach the node that has the log. It may end by itself,
 * or be recovered. */
static void
parted_body(struct fixture *fix)
{
	fill(fix, KEYS, OLD);
	uint64_t at = net_sim_verbs(fix->net[OWNER]) + world.verb;
	assert_non_null(nam_co_start(net_worker_sched(fix->w[OWNER]), owner_main, fix, 128 << 10));
	while (!world.ended && net_sim_verbs(fix->net[OWNER]) < at)
		net_sleep(fix->w[0], 100);
	world.crashed = !world.ended;
	net_sim_part(fix->sim, fix->net[OWNER], 1, 20 * (uint64_t)LEASE_NS);
	while (!world.ended)
		net_sleep(fix->w[0], 100000);
	net_sleep(fix->w[0], 10 * (uint64_t)LEASE_NS);
	show(fix);
}

/* What was answered is in memory and in the log, behind whichever verb it happens. */
static unsigned
parted(uint64_t seeds, unsigned *worlds, unsigned *after)
{
	unsigned wrong = 0;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		bool before = true;
		for (uint64_t verb = 1; before && verb < 400; verb += nam_rounds(1, 1, 3)) {
			memset(&world, 0, sizeof world);
			world.verb = verb;
			world.sync = true;
			open_logs(seed * 1000 + verb);
			run(3, 2, seed * 1000 + verb, parted_body);
			bool is = world.row[0] == NEW ? world.fresh == NEW
						      : world.fresh == -1 && world.st != NAM_OK;
			wal_faulty_cut(dir_of(0));
			read_log(dir_of(0));
			close_logs();
			is = is_the_world() && is;
			before = world.crashed;
			++*worlds;
			*after += world.row[0] == NEW;
			wrong += !is || world.wrong;
		}
	}
	return wrong;
}

static void
test_parted(void **state)
{
	(void)state;
	unsigned worlds = 0, after = 0;
	assert_int_equal(parted(nam_rounds(2, 1, 1), &worlds, &after), 0);
	printf("%u worlds, the commit is there in %u\n", worlds, after);
	assert_true(worlds > nam_rounds(60, 40, 12) && after > 0 && after < worlds);
}

/* ---- what a commit costs ---- */

enum { COSTS = 24 };

/* The least that one of some commits of a new row has cost its worker, from txn_commit to its mark:
 * the ticks of the process come on top now and then. */
static struct net_counts
least(struct fixture *fix, uint64_t key, bool sync)
{
	struct net_counts best = { .bytes_out = UINT64_MAX }, from, to;
	for (unsigned i = 0; i < COSTS; i++) {
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		txn_set_sync(t, sync);
		assert_int_equal(insert(t, &fix->tab[0], key + i, 1), NAM_OK);
		net_worker_counts(fix->w[0], 0, &from);
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
		net_sleep(fix->w[0], 20000);
		net_worker_counts(fix->w[0], 0, &to);
		if (to.bytes_out - from.bytes_out >= best.bytes_out)
			continue;
		best.bytes_out = to.bytes_out - from.bytes_out;
		best.bytes_in = to.bytes_in - from.bytes_in;
		for (unsigned k = 0; k < NET_CODES; k++)
			best.verbs[k] = to.verbs[k] - from.verbs[k];
	}
	return best;
}

/* of a commit: without a log, with one and `off`, at `on` */
static struct net_counts cost[3];

static void
costs(struct fixture *fix)
{
	(void)least(fix, 1, false); /* the first commits take memory for rows */
	if (fixture_log == NULL)
		cost[0] = least(fix, 100, true);
	else {
		cost[1] = least(fix, 100, false);
		cost[2] = least(fix, 200, true);
	}
}

/* The record of a new row of this table, as a message: struct wal_rq, struct txn_logged, an item,
 * and the row; the ring's head and seal. */
enum { MESSAGE = 224, RECORD = 200, LINE = offsetof(struct wal_line, syncs) };

static void
judge_cost(void)
{
	const uint64_t verbs[NET_CODES] = { [NET_WRITE] = 6, [NET_CAS] = 1, [NET_FAA] = 1 };
	for (unsigned i = 0; i < 3; i++) {
		bool logged = i > 0, on = i == 2;
		assert_int_equal(cost[i].verbs[NET_READ], verbs[NET_READ] + on * copies);
		assert_int_equal(cost[i].verbs[NET_WRITE], verbs[NET_WRITE]);
		assert_int_equal(cost[i].verbs[NET_WRITE_IMM], logged * copies);
		assert_int_equal(cost[i].verbs[NET_CAS], verbs[NET_CAS]);
		assert_int_equal(cost[i].verbs[NET_FAA], verbs[NET_FAA]);
		assert_int_equal(cost[i].bytes_out, cost[0].bytes_out + (logged ? MESSAGE * copies : 0));
		assert_int_equal(cost[i].bytes_in, cost[0].bytes_in + (on ? LINE * copies : 0));
	}
}

static void
test_cost(void **state)
{
	(void)state;
	run(1, 2, 1, costs);
	for (copies = 1; copies <= WAL_COPIES; copies++) {
		open_logs(1);
		run(1, 2, 1, costs);
		close_logs();
		judge_cost();
	}
	copies = 1;
}

/* A commit that goes by a ring: its entry, the words that publish it, a look at the board; no
 * message. Records and rings of these sizes: no entry but one in 24 wraps. */
static void
test_cost_of_ring(void **state)
{
	(void)state;
	run(1, 2, 1, costs);
	open_logs(1);
	fixture_rings = true;
	run(1, 2, 1, costs);
	fixture_rings = false;
	close_logs();
	const struct net_counts *none = &cost[0], *off = &cost[1];
	assert_int_equal(off->verbs[NET_WRITE_IMM], 0);
	assert_int_equal(off->verbs[NET_WRITE], none->verbs[NET_WRITE] + 2);
	assert_int_equal(off->verbs[NET_FAA], none->verbs[NET_FAA] + 2);
	assert_int_equal(off->verbs[NET_CAS], none->verbs[NET_CAS]);
	assert_int_equal(off->verbs[NET_READ], none->verbs[NET_READ] + 1);
	assert_int_equal(off->bytes_out, none->bytes_out + RECORD + sizeof(struct wal_entry) + 16);
}

/* ---- answered at `on`: flushed ---- */

struct answered {
	struct fixture *fix;
	unsigned n;
	uint64_t stop_at;
};
static unsigned answers, there, ill; /* ill: the copy whose disk fails, or gets full */

static void
commits(struct fixture *fix)
{
	fill(fix, 1, 0);
	wal_faulty_stop_at(dir_of(ill), 40);
	for (answers = 0; answers < 200; answers++) {
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		assert_int_equal(insert(t, &fix->tab[0], 1 + answers, (int64_t)answers), NAM_OK);
		nam_status st = txn_commit(t, NULL);
		if (st == NAM_OK)
			continue;
		/* The disk has failed. What was received before may be in memory; nothing more is
		 * taken. */
		assert_true(st == NAM_UNSURE || st == NAM_UNLOGGED);
		break;
	}
	assert_true(answers < 200);
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(insert(t, &fix->tab[0], 1000, 1), NAM_OK);
	assert_int_equal(txn_commit(t, NULL), NAM_UNLOGGED);
	t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 1), 0);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 1000), -1);
	txn_abort(t);
}

static unsigned
lost_answers(void)
{
	unsigned lost = 0;
	for (uint64_t seed = 1; seed <= nam_rounds(10, 4, 2); seed++) {
		open_logs(seed);
		run(1, 2, seed, commits);
		for (unsigned i = 0; i < copies; i++) {
			wal_faulty_cut(dir_of(i));
			read_log(dir_of(i));
			for (there = 0; there < answers && logged_value(1 + there) == (int64_t)there;)
				there++;
			lost += answers - there;
			/* What was refused: the well copy was told that it was undone. */
			lost += logged_value(1000) != -1;
		}
		close_logs();
	}
	return lost;
}

static void
test_answered(void **state)
{
	(void)state;
	assert_int_equal(lost_answers(), 0);
	for (copies = 2; copies <= WAL_COPIES; copies++)
		for (ill = 0; ill < copies; ill++)
			assert_int_equal(lost_answers(), 0);
	copies = 1;
	ill = 0;
}

/* A copy's disk has failed, so a commit that the other one has received is rolled back. The other
 * disk stops at one of its calls. */
static void
rolled_back(struct fixture *fix)
{
	fill(fix, 1, 0);
	wal_faulty_stop_at(dir_of(0), 1);
	for (uint64_t k = 1; k <= 2; k++) {
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		assert_int_equal(insert(t, &fix->tab[0], k, NEW), NAM_OK);
		world.st = txn_commit(t, NULL);
		assert_true(world.st == NAM_UNSURE || (k == 2 && world.st == NAM_UNLOGGED));
		wal_faulty_stop_at(dir_of(1), world.verb);
	}
}

/* How many clients were told that it was rolled back, though the log has it. */
static unsigned
told_too_early(unsigned *told)
{
	unsigned wrong = 0;
	copies = 2;
	for (uint64_t seed = 1; seed <= nam_rounds(40, 16, 16); seed++) {
		open_logs(seed);
		memset(&world, 0, sizeof world);
		world.verb = 1 + seed % 8;
		run(1, 2, seed, rolled_back);
		wal_faulty_cut(dir_of(1));
		read_log(dir_of(1));
		close_logs();
		*told += world.st == NAM_UNLOGGED;
		wrong += world.st == NAM_UNLOGGED && logged_value(2) != -1;
	}
	copies = 1;
	return wrong;
}

static void
test_rolled_back(void **state)
{
	(void)state;
	unsigned told = 0;
	assert_int_equal(told_too_early(&told), 0);
	unsigned of = nam_rounds(40, 16, 16);
	printf("rolled back and told: %u of %u\n", told, of);
	assert_true(told > 0 && told < of);
}

/* ---- no space ---- */

static void
full(struct fixture *fix)
{
	static char bytes[20000];
	fill(fix, 1, 0);
	wal_faulty_room(dir_of(ill), 3 << 20);
	unsigned n = 0;
	nam_status st = NAM_OK;
	for (; st == NAM_OK && n < 1000; n++) {
		struct row r = mk(1 + n, 5);
		struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
		assert_int_equal(txn_blob_put(t, &fix->tab[0], bytes, sizeof bytes, &r.blob), NAM_OK);
		assert_int_equal(insert_row(t, &fix->tab[0], &r), NAM_OK);
		st = txn_commit(t, NULL);
	}
	assert_int_equal(st, NAM_NO_SPACE);
	assert_true(n > 20);
	/* Nothing of it is there, no lock stays, and when there is room it goes on by itself. */
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	assert_int_equal(value_of(fix, t, &fix->tab[0], n), -1);
	txn_abort(t);
	wal_faulty_room(dir_of(ill), UINT64_MAX);
	for (unsigned tries = 0; tries < 1000 && st == NAM_NO_SPACE; tries++) {
		net_sleep(fix->w[0], 1000000);
		t = begin(fix, 0, TXN_REPEATABLE_READ);
		assert_int_equal(insert(t, &fix->tab[0], n, 6), NAM_OK);
		st = txn_commit(t, NULL);
	}
	assert_int_equal(st, NAM_OK);
	world.fresh = n;
}

static void
no_space_at(unsigned copy)
{
	ill = copy;
	open_logs(3);
	run_lab(1, 2, 3, 64 << 20, 0, full);
	for (unsigned i = 0; i < copies; i++) {
		wal_faulty_cut(dir_of(i));
		read_log(dir_of(i));
		for (int64_t k = 1; k < world.fresh; k++)
			assert_int_equal(logged_value((uint64_t)k), 5);
		assert_int_equal(logged_value((uint64_t)world.fresh), 6);
	}
	close_logs();
	ill = 0;
}

static void
test_no_space(void **state)
{
	(void)state;
	no_space_at(0);
	copies = 2;
	no_space_at(0);
	no_space_at(1);
	copies = 1;
}

/* ---- what comes behind an undoing ---- */

static nam_status
say(struct fixture *fix, uint32_t flags, uint32_t attempt, uint64_t *end)
{
	struct {
		struct wal_rq rq;
		struct txn_logged head;
	} record = { .rq.bytes = sizeof record.head,
		.head = { .kind = flags & WAL_UNDOES ? TXN_LOGGED_UNDONE : TXN_LOGGED_COMMIT,
		    .flags = TXN_LOGGED_LAST,
		    .lock = attempt,
		    .check = 7 } };
	struct wal_append a = { .rq = &record.rq,
		.flags = WAL_NAMED | flags,
		.place = 7777777,
		.name = { attempt, 7 },
		.series = 3,
		.attempt = attempt,
		.part = UINT32_MAX };
	wal_append_start(fix->w[0], &fix->db[0]->wal, &a);
	nam_status st = wal_append_wait(fix->w[0], &a);
	*end = a.end.at[0];
	return st;
}

static uint64_t
last_part(struct fixture *fix, uint64_t name)
{
	struct wal_last last;
	assert_int_equal(wal_log_last(fix->w[0], &fix->db[0]->wal, 0, 7777777, &last), NAM_OK);
	assert_int_equal(last.name[0], name);
	return last.part;
}

/* A commit that comes behind its undoing is not received, and does no harm: a recoverer that asks
 * is not told that it is there. */
static void
comes_late(struct fixture *fix)
{
	uint64_t first, end;
	assert_int_equal(say(fix, WAL_UNDOES, 9, &first), NAM_OK);
	assert_int_equal(say(fix, 0, 9, &end), NAM_OK);
	world.wrong = end != first || last_part(fix, 9) != WAL_UNDONE;
}

static void
undone_names(struct fixture *fix)
{
	uint64_t first, end;
	/* A commit that was received, and is undone, is not there. */
	assert_int_equal(say(fix, 0, 8, &first), NAM_OK);
	assert_int_equal(last_part(fix, 8), UINT32_MAX);
	assert_int_equal(say(fix, WAL_UNDOES, 8, &end), NAM_OK);
	assert_true(end > first);
	assert_int_equal(last_part(fix, 8), WAL_UNDONE);
	comes_late(fix);
	assert_false(world.wrong);
	/* The next attempt has the place; an older one is undone beside it, and comes no more. */
	assert_int_equal(say(fix, 0, 10, &end), NAM_OK);
	assert_true(end > first);
	assert_int_equal(say(fix, WAL_UNDOES, 9, &first), NAM_OK);
	assert_true(first > end);
	assert_int_equal(last_part(fix, 10), UINT32_MAX);
	assert_int_equal(say(fix, 0, 9, &end), NAM_REFUSED);
}

static void
test_undone_names(void **state)
{
	(void)state;
	open_logs(4);
	run(1, 2, 4, undone_names);
	close_logs();
}

/* ---- the broken twins ---- */

#ifdef NAM_TWINS
static void
test_twins(void **state)
{
	static const enum nam_fault of_owner[] = { NAM_FAULT_LOG_UNTOLD, NAM_FAULT_LOG_UNASKED,
		NAM_FAULT_COPIES_HAS_ANY };
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		unsigned worlds = 0, after = 0;
		nam_fault_on = of_owner[i];
		copies = of_owner[i] == NAM_FAULT_COPIES_HAS_ANY ? 2 : 1;
		unsigned wrong = every_verb(false, false, 30, &worlds, &after);
		nam_fault_on = NAM_FAULT_NONE;
		printf("fault %s: %u of %u worlds are wrong\n", nam_fault_name[of_owner[i]], wrong, worlds);
		assert_true(wrong > 0);
	}
	copies = 1;
	unsigned worlds = 0, after = 0;
	fixture_rings = true;
	nam_fault_on = NAM_FAULT_RINGS_UNTAKEN;
	unsigned wrong = every_verb(false, false, 30, &worlds, &after);
	fixture_rings = false;
	printf(
	    "fault %s: %u of %u worlds are wrong\n", nam_fault_name[NAM_FAULT_RINGS_UNTAKEN], wrong, worlds);
	assert_true(wrong > 0);
	unsigned told = 0;
	worlds = after = 0;
	nam_fault_on = NAM_FAULT_LOG_UNFLUSHED;
	unsigned lost = lost_answers();
	printf("fault %s: %u answered commits are lost\n", nam_fault_name[nam_fault_on], lost);
	nam_fault_on = NAM_FAULT_UNDONE_UNFLUSHED;
	unsigned early = told_too_early(&told);
	printf("fault %s: %u of %u that were told undone are there\n", nam_fault_name[nam_fault_on], early,
	    told);
	nam_fault_on = NAM_FAULT_UNANSWERED;
	wrong = parted(4, &worlds, &after);
	printf("fault %s: %u of %u worlds are wrong\n", nam_fault_name[nam_fault_on], wrong, worlds);
	nam_fault_on = NAM_FAULT_LATE_TAKEN;
	open_logs(4);
	run(1, 2, 4, comes_late);
	close_logs();
	printf("fault %s: a record was taken behind its undoing\n", nam_fault_name[nam_fault_on]);
	nam_fault_on = NAM_FAULT_NONE;
	assert_true(lost > 0 && early > 0 && wrong > 0 && world.wrong);
}
#endif

int
main(void)
{
	nam_log_level_set(NAM_LOG_ERROR);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owner_dies),
		cmocka_unit_test(test_recoverer_dies),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_rings),
		cmocka_unit_test(test_parted),
		cmocka_unit_test(test_answered),
		cmocka_unit_test(test_rolled_back),
		cmocka_unit_test(test_no_space),
		cmocka_unit_test(test_undone_names),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_cost_of_ring),
#ifdef NAM_TWINS
		cmocka_unit_test(test_twins),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
