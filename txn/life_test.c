/*
 * life_test.c -- tables are dropped and processes leave while another process stalls at the worst
 * moment: no row is lost.
 *
 * Each scene is played at many moments. A build with twins also plays it with the fault that its
 * rule prevents: then there has to be damage.
 */
#include <base/fault.h>
#include <base/rounds.h>
#include <txn/testing/fixture.h>

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

static uint64_t moment, frozen;   /* ns: when process 1 is stopped, and for how long */
static unsigned lost, unreadable; /* committed rows */

/* Rows of a table that have to exist. */
static void
count(struct fixture *fix, unsigned p, struct txn_table *tab, uint64_t from, uint64_t to)
{
	struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
	for (uint64_t k = from; k < to; k++) {
		struct txn_get g = {
			.table = tab, .key = &k, .key_len = 8, .hash = nam_hash(&k, 8, tab->id)
		};
		/* A row that proves no version is READ again and again: ten of them are enough. */
		if (unreadable < 10 && txn_get(t, &g, 1, &fix->a) != NAM_OK)
			unreadable++;
		else if (g.status != NAM_OK)
			lost++;
	}
	txn_abort(t);
	nam_arena_reset(&fix->a);
}

static void
insert_many(struct fixture *fix, unsigned p, struct txn_table *tab, uint64_t from, uint64_t to)
{
	for (uint64_t k = from; k < to;) {
		struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
		nam_status st = NAM_OK;
		for (unsigned i = 0; i < 100 && k < to && st == NAM_OK; i++, k++)
			st = insert(t, tab, k, 7);
		if (nam_fault_any() && st != NAM_OK) {
			/* A twin has used the table's memory for another one. */
			unreadable++;
			txn_abort(t);
			return;
		}
		assert_int_equal(st, NAM_OK);
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
	}
}

static void
delete_many(struct fixture *fix, unsigned p, struct txn_table *tab, uint64_t from, uint64_t to)
{
	for (uint64_t k = from; k < to;) {
		struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
		for (unsigned i = 0; i < 200 && k < to; i++, k++)
			assert_int_equal(del(fix, t, tab, k), NAM_OK);
		commit_all(t);
		nam_arena_reset(&fix->a);
	}
}

static bool when_closed; /* `moment` counts from when the table is closed */

static uint64_t
magic_there(struct fixture *fix)
{
	net_addr at = fix->tab[0].anchor;
	const char *mem = net_sim_memory(fix->sim, net_region_of(at));
	return ((const struct txn_anchor *)(const void *)(mem + net_offset_of(at)))->magic;
}

static void
stop_main(void *arg)
{
	struct fixture *fix = arg;
	while (when_closed && magic_there(fix) == TXN_ANCHOR_MAGIC)
		net_sleep(fix->w[3], 2 * US);
	net_sleep(fix->w[3], moment);
	net_sim_freeze(fix->sim, fix->net[1], frozen);
}

static void
stop_later(struct fixture *fix)
{
	assert_non_null(nam_co_start(net_worker_sched(fix->w[3]), stop_main, fix, 64 << 10));
}

/* ---- a table is dropped while another process empties its deleted blocks, and
 * stalls ---- */

enum { DELETED = 1500, FILLED = 2500 };

static uint64_t
magic_of(struct fixture *fix, net_addr anchor)
{
	struct txn_anchor a;
	assert_int_equal(net_read1(fix->w[0], anchor, &a, sizeof a, NULL), NAM_OK);
	return a.table == 1 && (a.magic == TXN_ANCHOR_MAGIC || a.magic == TXN_ANCHOR_CLOSED) ? a.magic : 0;
}

static void
dropped(struct fixture *fix)
{
	struct txn_table other = { .id = 77,
		.slots = (uint16_t)fix->slots,
		.row_max = sizeof(struct row),
		.has_key = true,
		.same_key = row_same_key,
		.blobs = row_blobs };
	insert_many(fix, 0, &fix->tab[0], 0, DELETED);
	net_sleep(fix->w[0], MS);
	assert_int_equal(txn_table_create(fix->tw[0], &other), NAM_OK);
	assert_int_equal(txn_table_open(fix->db[0], &other), NAM_OK);
	struct txn_table seen = other;
	seen.view = NULL;
	assert_int_equal(txn_table_open(fix->db[2], &seen), NAM_OK);
	/* A snapshot keeps process 1 from emptying blocks before the drop. */
	struct txn *old = begin(fix, 0, TXN_REPEATABLE_READ);
	struct txn_row first;
	struct row value;
	assert_int_equal(get(fix, old, &fix->tab[0], 1, &first, &value), NAM_OK);
	delete_many(fix, 1, &fix->tab[1], 0, DELETED);
	struct txn *t = begin(fix, 2, TXN_READ_COMMITTED);
	assert_int_equal(insert(t, &fix->bare[2], 1, 1), NAM_OK);
	assert_int_equal(txn_lock_table(t, &fix->tab[2]), NAM_OK);
	tso_cid d;
	assert_int_equal(txn_commit(t, &d), NAM_OK);
	assert_int_equal(txn_table_free(fix->tw[2], &fix->tab[2], d), NAM_OK);
	txn_abort(old);
	stop_later(fix);
	uint64_t began = net_now_ns(fix->w[0]);
	while (magic_of(fix, fix->tab[0].anchor) != 0) {
		net_sleep(fix->w[0], 20 * US);
		assert_true(net_now_ns(fix->w[0]) - began < 2000 * MS);
	}
	insert_many(fix, 0, &other, 0, FILLED);
	net_sleep(fix->w[0], 60 * MS + (frozen > 60 * MS ? frozen : 0));
	count(fix, 2, &seen, 0, FILLED);
	txn_table_close(fix->db[0], &other);
	txn_table_close(fix->db[2], &seen);
}

static void
drop_at(uint64_t at, uint64_t still, uint64_t seed)
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
	for (unsigned i = 0; i < moments && lost + unreadable == 0; i++) {
		when_closed = i % 2;
		drop_at(i / 2 * 60 * US, still[i % 3], 1 + i % 4 / 2);
	}
}

static void
test_drop(void **state)
{
	(void)state;
	drops(60);
	assert_int_equal(lost + unreadable, 0);
}

/* ---- a process ends, and stalls while it puts its free blocks on the table's lists ---- */

/* The blocks are fewer than an extent: an idle process gives more away before it ends. */
enum { HANDED_OVER = 200, NEW_ROWS = 10000 };

static void
close_main(void *arg)
{
	struct fixture *fix = arg;
	txn_worker_close(fix->tw[1]);
	fix->tw[1] = NULL;
}

static void
left(struct fixture *fix)
{
	insert_many(fix, 1, &fix->tab[1], 0, HANDED_OVER);
	delete_many(fix, 1, &fix->tab[1], 0, HANDED_OVER);
	net_sleep(fix->w[0], 500 * MS);
	struct txn_worker *tw = fix->tw[1];
	while (!tso_is_idle(fix->db[1]->tso))
		net_sleep(fix->w[0], MS);
	assert_non_null(nam_co_start(net_worker_sched(fix->w[1]), close_main, fix, 64 << 10));
	while (tw->helpers > 1)
		net_sleep(fix->w[0], US);
	net_sleep(fix->w[0], moment);
	net_sim_freeze(fix->sim, fix->net[1], frozen);
	uint64_t end = net_now_ns(fix->w[0]) + frozen, key = NEW_ROWS;
	while (net_now_ns(fix->w[0]) < end - 10 * MS) {
		insert_many(fix, 0, &fix->tab[0], key, key + 1);
		key++;
		net_sleep(fix->w[0], 500 * US);
	}
	net_sleep(fix->w[0], 100 * MS);
	count(fix, 2, &fix->tab[2], NEW_ROWS, key);
	while (fix->tw[1] != NULL)
		net_sleep(fix->w[0], MS);
}

static void
leaves(unsigned moments)
{
	lost = unreadable = 0;
	frozen = 2000 * MS;
	for (unsigned i = 0; i < moments && lost + unreadable == 0; i++) {
		moment = i * 2 * US;
		run(3, 2, 1, left);
	}
}

static void
test_leave(void **state)
{
	(void)state;
	leaves(45);
	assert_int_equal(lost + unreadable, 0);
}

/* ---- an idle process stalls, loses its slot, and goes on ---- */

enum { AT_HAND = 60, FOUND = 1400 };

static void
slept(struct fixture *fix)
{
	insert_many(fix, 1, &fix->tab[1], 0, AT_HAND);
	delete_many(fix, 1, &fix->tab[1], 0, AT_HAND);
	net_sleep(fix->w[0], 500 * MS);
	net_sim_freeze(fix->sim, fix->net[1], frozen);
	net_sleep(fix->w[0], frozen / 2);
	/* Its slot is free, a sweep finds its blocks, and they are filled. */
	insert_many(fix, 0, &fix->tab[0], 1000, 1001);
	net_sleep(fix->w[0], frozen / 4);
	insert_many(fix, 0, &fix->tab[0], 1001, 1001 + FOUND);
	net_sleep(fix->w[0], frozen / 2 + moment);
	insert_many(fix, 1, &fix->tab[1], 9000, 9000 + AT_HAND);
	net_sleep(fix->w[0], 50 * MS);
	count(fix, 2, &fix->tab[2], 1000, 1001 + FOUND);
	count(fix, 2, &fix->tab[2], 9000, 9000 + AT_HAND);
}

static void
sleeps(unsigned moments)
{
	lost = unreadable = 0;
	frozen = 3000 * MS; /* ten leases, and the recoverer hears of it */
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

/* ---- a table whose maker or dropper dies is found and given back ---- */

static unsigned
in_use(struct fixture *fix)
{
	uint64_t sum = 0;
	for (unsigned k = 1; k <= 3; k++) {
		const char *mem = net_sim_memory(fix->sim, k);
		const struct net_super *s = (const void *)mem;
		uint64_t top = s->free_head & UINT32_MAX;
		sum += s->bump / NET_EXTENT;
		if (top != 0)
			sum -= ((const struct net_free *)(const void *)(mem + top * NET_EXTENT))->depth;
	}
	return (unsigned)sum;
}

enum { ORPHAN = 33, LEASE_NS = 100000000 };
static bool orphan_there;
static uint64_t strike; /* the verb at which the maker or dropper dies, 0 = it lives */
static unsigned struck, verbs, worst;

static nam_status
listed(void *arg, struct txn *t, uint32_t table, net_addr anchor, bool *yes)
{
	(void)arg;
	(void)t;
	(void)anchor;
	*yes = table != ORPHAN || orphan_there;
	return NAM_OK;
}

struct maker {
	struct fixture *fix;
	bool drops, done;
	struct txn_table t;
};

static void
maker_main(void *arg)
{
	struct maker *m = arg;
	struct fixture *fix = m->fix;
	if (!m->drops) {
		(void)txn_table_create(fix->tw[1], &m->t);
	} else {
		(void)txn_table_free(fix->tw[1], &m->t, tso_prefix(fix->db[1]->tso));
	}
	m->done = true;
}

static void
orphan(struct fixture *fix, bool drops)
{
	struct maker m = { .fix = fix,
		.drops = drops,
		.t = { .id = ORPHAN,
		    .row_max = sizeof(struct row),
		    .has_key = true,
		    .listed = true,
		    .same_key = row_same_key,
		    .blobs = row_blobs } };
	orphan_there = false;
	for (unsigned p = 0; p < fix->procs; p++)
		txn_on_orphan(fix->db[p], listed, NULL);
	/* Each process takes now the memory that it needs for itself. */
	for (unsigned p = 0; p < fix->procs; p++)
		insert_many(fix, p, &fix->bare[p], p, p + 1);
	net_sleep(fix->w[0], 20 * MS);
	unsigned before = in_use(fix);
	if (drops) {
		orphan_there = true;
		assert_int_equal(txn_table_create(fix->tw[1], &m.t), NAM_OK);
		assert_int_equal(txn_table_made(fix->tw[1], &m.t), NAM_OK);
		assert_int_equal(txn_table_open(fix->db[1], &m.t), NAM_OK);
		insert_many(fix, 1, &m.t, 0, 1000);
		net_sleep(fix->w[0], 300 * MS);
		assert_true(in_use(fix) > before + 3);
		txn_table_close(fix->db[1], &m.t);
		insert_many(fix, 1, &fix->bare[1], 5, 6);
		orphan_there = false;
	}
	uint64_t from = net_sim_verbs(fix->net[1]);
	if (strike != 0)
		net_sim_crash_at(fix->sim, fix->net[1], from + strike);
	assert_non_null(nam_co_start(net_worker_sched(fix->w[1]), maker_main, &m, 128 << 10));
	net_sleep(fix->w[0], 50 * MS);
	verbs = (unsigned)(net_sim_verbs(fix->net[1]) - from);
	if (net_sim_crashed(fix->net[1])) {
		struck++;
		net_sleep(fix->w[0], 5 * (uint64_t)LEASE_NS);
		/* A process that commits hears of it. */
		for (unsigned i = 0; i < 10; i++) {
			insert_many(fix, 0, &fix->bare[0], 100 + i, 101 + i);
			net_sleep(fix->w[0], 100 * MS);
		}
		unsigned now = in_use(fix);
		unsigned lost_extents = now > before ? now - before : 0;
		worst = lost_extents > worst ? lost_extents : worst;
		net_sim_bury(fix->sim, fix->net[1]);
	} else {
		net_sim_crash_at(fix->sim, fix->net[1], UINT64_MAX);
	}
	while (!m.done)
		net_sleep(fix->w[0], MS);
	for (unsigned p = 0; p < fix->procs; p++)
		txn_on_orphan(fix->db[p], NULL, NULL);
}

static void
made_in_vain(struct fixture *fix)
{
	orphan(fix, false);
}

static void
dropped_in_vain(struct fixture *fix)
{
	orphan(fix, true);
}

/* At each of its verbs. Extents that a process has taken and that no word leads to yet, or any
 * more, may be lost: a few. */
static void
strike_all(void (*body)(struct fixture *), unsigned most)
{
	strike = struck = worst = 0;
	for (strike = 1; strike < 200; strike++) {
		unsigned was = struck;
		run(3, 2, 1, body);
		if (struck == was)
			break;
	}
	printf("%u died, %u extents lost at the worst\n", struck, worst);
	assert_true(struck > 5);
	assert_true(worst <= most);
}

static void
test_orphans(void **state)
{
	(void)state;
	strike_all(made_in_vain, 2);
	strike_all(dropped_in_vain, TXN_LEDGER_PART + 1);
}

/* ---- a table that a process leaves behind when it ends is given back as well ---- */

enum { STAYS_NS = 300000000 };
static enum { MADE_IN_VAIN, MADE_BEHIND, DROPPED } left_how;
static unsigned left_workers, left_over; /* tables */

struct leaver {
	struct fixture *fix;
	struct txn_table t;
	struct txn_worker *second;
	bool done;
};

/* An older snapshot is open elsewhere, so no memory of the table may be given back. */
static void
leaver_main(void *arg)
{
	struct leaver *l = arg;
	struct fixture *fix = l->fix;
	struct txn_worker *tw = left_workers > 1 ? l->second : fix->tw[1];
	if (left_how != MADE_IN_VAIN) { /* the memory that is still queued before it waits for that
					 * snapshot */
		struct txn *t;
		struct txn_row row;
		struct row was;
		assert_int_equal(txn_begin(tw, TXN_REPEATABLE_READ, &t), NAM_OK);
		assert_int_equal(get(fix, t, &fix->tab[1], 1, &row, &was), NAM_OK);
		assert_int_equal(txn_lock(t, &fix->tab[1], &row), NAM_OK);
		assert_int_equal(txn_delete(t, &fix->tab[1], &row), NAM_OK);
		commit_all(t);
	}
	if (left_how != DROPPED)
		assert_int_equal(txn_table_create(tw, &l->t), NAM_OK);
	orphan_there = false;
	txn_table_free(tw, &l->t, left_how == DROPPED ? tso_prefix(fix->db[1]->tso) : 0);
	if (left_workers > 1) {
		txn_worker_close(l->second);
		net_sleep(fix->w[1], STAYS_NS);
	}
	txn_worker_close(fix->tw[1]);
	txn_table_close(fix->db[1], &fix->tab[1]);
	txn_table_close(fix->db[1], &fix->bare[1]);
	txn_db_close(fix->w[1], fix->db[1]);
	l->done = true;
}

static bool
still_there(struct fixture *fix, net_addr anchor)
{
	const char *mem = net_sim_memory(fix->sim, net_region_of(anchor));
	const struct txn_anchor *a = (const void *)(mem + net_offset_of(anchor));
	return (a->magic == TXN_ANCHOR_MAGIC || a->magic == TXN_ANCHOR_CLOSED) && a->table == ORPHAN;
}

static void
left_behind(struct fixture *fix)
{
	struct leaver l = { .fix = fix,
		.t = { .id = ORPHAN,
		    .row_max = sizeof(struct row),
		    .has_key = true,
		    .listed = true,
		    .same_key = row_same_key,
		    .blobs = row_blobs } };
	orphan_there = false;
	for (unsigned p = 0; p < fix->procs; p++)
		txn_on_orphan(fix->db[p], listed, NULL);
	for (unsigned p = 0; p < fix->procs; p++)
		insert_many(fix, p, &fix->tab[p], p, p + 1);
	if (left_workers > 1) {
		assert_int_equal(net_worker_open(fix->net[1], &fix->more, NULL), NAM_OK);
		assert_int_equal(txn_worker_open(fix->db[1], fix->more, &l.second), NAM_OK);
	}
	net_sleep(fix->w[0], 20 * MS);
	if (left_how == DROPPED) {
		orphan_there = true;
		assert_int_equal(txn_table_create(fix->tw[1], &l.t), NAM_OK);
		assert_int_equal(txn_table_made(fix->tw[1], &l.t), NAM_OK);
	}
	struct txn *old = begin(fix, 0, TXN_REPEATABLE_READ);
	struct txn_row row;
	struct row was;
	assert_int_equal(get(fix, old, &fix->tab[0], 0, &row, &was), NAM_OK);
	insert_many(fix, 1, &fix->bare[1], 5, 6);
	struct net_worker *w = left_workers > 1 ? fix->more : fix->w[1];
	assert_non_null(nam_co_start(net_worker_sched(w), leaver_main, &l, 128 << 10));
	while (!l.done)
		net_sleep(fix->w[0], MS);
	fix->procs = 1;
	assert_true(still_there(fix, l.t.anchor));
	net_sleep(fix->w[0], 2 * (uint64_t)LEASE_NS);
	txn_abort(old);
	/* A process that commits hears of it. */
	for (unsigned i = 0; i < 10; i++) {
		insert_many(fix, 0, &fix->tab[0], 100 + i, 101 + i);
		net_sleep(fix->w[0], 100 * MS);
	}
	left_over += still_there(fix, l.t.anchor);
	txn_on_orphan(fix->db[0], NULL, NULL);
}

static void
test_left_behind(void **state)
{
	(void)state;
	unsigned sum = 0;
	for (left_how = MADE_IN_VAIN; left_how <= DROPPED; left_how++)
		for (left_workers = 1; left_workers <= 2; left_workers++) {
			left_over = 0;
			for (uint64_t seed = 1; seed <= nam_rounds(5, 2, 1); seed++)
				run(2, 2, seed, left_behind);
			printf("left behind in way %d by a process of %u workers: %u tables are still "
			       "there\n",
			    (int)left_how, left_workers, left_over);
			sum += left_over;
		}
	assert_int_equal(sum, 0);
}

/* ---- memory that an old snapshot kept serves others when the snapshot has ended ---- */

enum { HOT = 40, LITTLE = 4 << 20 };

static void
update_all(struct fixture *fix, unsigned p, int64_t value, nam_status *st)
{
	struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
	*st = NAM_OK;
	for (uint64_t k = 0; k < HOT && *st == NAM_OK; k++)
		*st = set(fix, t, &fix->tab[p], k, value);
	if (*st == NAM_OK)
		*st = txn_commit(t, NULL);
	else
		txn_abort(t);
	nam_arena_reset(&fix->a);
}

static void
kept(struct fixture *fix)
{
	nam_status st = NAM_OK;
	insert_many(fix, 0, &fix->tab[0], 0, HOT);
	insert_many(fix, 2, &fix->bare[2], 1, 2);
	net_sleep(fix->w[0], 50 * MS);
	unsigned before = in_use(fix);
	struct txn *old = begin(fix, 3, TXN_REPEATABLE_READ);
	for (unsigned i = 0; st == NAM_OK && i < 5000; i++)
		update_all(fix, 0, i, &st);
	assert_int_equal(st, NAM_FULL);
	txn_abort(old);
	net_sleep(fix->w[0], 500 * MS);
	/* Another process, another table. */
	uint64_t key = 10;
	for (unsigned i = 0; i < 8; i++, key += 500)
		insert_many(fix, 2, &fix->bare[2], key, key + 500);
	/* And memory that no process needs goes back. */
	for (unsigned i = 0; i < 30; i++) {
		update_all(fix, 0, i, &st);
		assert_int_equal(st, NAM_OK);
		net_sleep(fix->w[0], 100 * MS);
	}
	printf("%u extents in use, %u before\n", in_use(fix), before);
	assert_true(in_use(fix) < before + 24);
	count(fix, 2, &fix->tab[2], 0, HOT);
	assert_int_equal(lost + unreadable, 0);
}

static void
test_kept(void **state)
{
	(void)state;
	lost = unreadable = 0;
	run_lab(4, 2, 1, LITTLE / 2, 1024, kept);
}

/* ---- processes that join, work a little, and die ---- */

enum { DEATHS = 40, WARM = 10, WORK = 60 };

struct mortal {
	struct fixture *fix;
	struct net *net;
	struct net_worker *w;
	struct txn_db *db;
	struct txn_worker *tw;
	struct txn_table tab;
	uint64_t key;
	bool worked, ended;
};

static void
mortal_main(void *arg)
{
	struct mortal *m = arg;
	struct txn_config cfg = { .ptr_cache_entries = 1024 };
	struct nam_err err;
	struct txn *t;
	assert_int_equal(txn_db_open(m->w, &cfg, &m->db, &err), NAM_OK);
	assert_int_equal(txn_worker_open(m->db, m->w, &m->tw), NAM_OK);
	m->tab = m->fix->tab[0];
	m->tab.view = NULL;
	assert_int_equal(txn_table_open(m->db, &m->tab), NAM_OK);
	assert_int_equal(txn_begin(m->tw, TXN_REPEATABLE_READ, &t), NAM_OK);
	for (uint64_t k = 0; k < WORK; k++) {
		static const char bytes[3000];
		struct row r = mk(m->key + k, 1);
		assert_int_equal(txn_blob_put(t, &m->tab, bytes, sizeof bytes, &r.blob), NAM_OK);
		assert_int_equal(insert_row(t, &m->tab, &r), NAM_OK);
	}
	m->worked = true;
	while (!net_sim_crashed(m->net))
		net_sleep(m->w, MS);
	txn_abort(t);
	m->ended = true;
	while (m->tw->helpers > 0 && !atomic_load(&m->db->failed))
		net_sleep(m->w, MS);
	txn_worker_close(m->tw);
	txn_table_close(m->db, &m->tab);
	txn_db_close(m->w, m->db);
	m->worked = false;
}

static void
mortals(struct fixture *fix)
{
	unsigned warm = 0;
	for (unsigned i = 0; i < DEATHS; i++) {
		struct mortal m = { .fix = fix, .key = 1000 };
		assert_int_equal(net_sim_attach(fix->sim, &m.net), NAM_OK);
		assert_int_equal(net_worker_open(m.net, &m.w, NULL), NAM_OK);
		assert_non_null(nam_co_start(net_worker_sched(m.w), mortal_main, &m, 128 << 10));
		while (!m.worked)
			net_sleep(fix->w[0], MS);
		net_sim_crash_at(fix->sim, m.net, net_sim_verbs(m.net) + 1);
		net_sleep(fix->w[0], 3 * (uint64_t)LEASE_NS);
		net_sim_bury(fix->sim, m.net);
		while (m.worked)
			net_sleep(fix->w[0], MS);
		net_worker_close(m.w);
		net_close(m.net);
		insert_many(fix, 0, &fix->tab[0], 10 + i, 11 + i);
		net_sleep(fix->w[0], 100 * MS);
		if (i == WARM)
			warm = in_use(fix);
	}
	printf("%u extents in use after %u deaths, %u after %u\n", warm, WARM, in_use(fix), DEATHS);
	assert_true(in_use(fix) <= warm + 4);
	count(fix, 2, &fix->tab[2], 10, 10 + DEATHS);
	assert_int_equal(lost + unreadable, 0);
}

static void
test_mortals(void **state)
{
	(void)state;
	lost = unreadable = 0;
	run(3, 2, 1, mortals);
}

/* ---- a process dies, and others have memory at hand or in use during the sweep ---- */

enum { VALUES = 250, VALUE = 2000 };

static nam_status
value_of_row(struct txn *t, struct txn_table *tab, uint64_t key, struct row *r)
{
	static char bytes[VALUE];
	memset(bytes, (int)(key * 7 & 0xff), sizeof bytes);
	*r = mk(key, 1);
	return txn_blob_put(t, tab, bytes, sizeof bytes, &r->blob);
}

static void
insert_values(struct fixture *fix, unsigned p, uint64_t from, uint64_t to)
{
	for (uint64_t k = from; k < to;) {
		struct txn *t = begin(fix, p, TXN_REPEATABLE_READ);
		struct row r;
		for (unsigned i = 0; i < 50 && k < to; i++, k++) {
			assert_int_equal(value_of_row(t, &fix->tab[p], k, &r), NAM_OK);
			assert_int_equal(insert_row(t, &fix->tab[p], &r), NAM_OK);
		}
		assert_int_equal(txn_commit(t, NULL), NAM_OK);
	}
}

static void
count_values(struct fixture *fix, uint64_t from, uint64_t to)
{
	struct txn *t = begin(fix, 2, TXN_REPEATABLE_READ);
	for (uint64_t k = from; k < to && unreadable < 10; k++) {
		struct txn_row row;
		struct row r;
		const void *bytes;
		if (get(fix, t, &fix->tab[2], k, &row, &r) != NAM_OK)
			lost++;
		else if (r.blob.len != VALUE || txn_blob_get(t, &r.blob, 1, &bytes, &fix->a) != NAM_OK ||
			 *(const unsigned char *)bytes != (k * 7 & 0xff))
			unreadable++;
	}
	txn_abort(t);
	nam_arena_reset(&fix->a);
}

static bool dying;

static void
dying_main(void *arg)
{
	struct fixture *fix = arg;
	struct txn *t = begin(fix, 3, TXN_REPEATABLE_READ);
	struct row r;
	assert_int_equal(value_of_row(t, &fix->tab[3], 1, &r), NAM_OK);
	dying = true;
	while (!net_sim_crashed(fix->net[3]))
		net_sleep(fix->w[3], MS);
	txn_abort(t);
	dying = false;
}

static void
one_dies(struct fixture *fix)
{
	assert_non_null(nam_co_start(net_worker_sched(fix->w[3]), dying_main, fix, 64 << 10));
	while (!dying)
		net_sleep(fix->w[0], MS);
	net_sim_crash_at(fix->sim, fix->net[3], net_sim_verbs(fix->net[3]) + 1);
	net_sleep(fix->w[0], 3 * (uint64_t)LEASE_NS);
	net_sim_bury(fix->sim, fix->net[3]);
	while (dying)
		net_sleep(fix->w[0], MS);
}

/* Process 1 has taken memory and not committed. */
static void
in_use_still(struct fixture *fix)
{
	insert_many(fix, 0, &fix->tab[0], 0, 20);
	net_sleep(fix->w[0], 50 * MS);
	struct txn *t = begin(fix, 1, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < 20; k++) {
		struct txn_row row;
		struct row was, r;
		assert_int_equal(get(fix, t, &fix->tab[1], k, &row, &was), NAM_OK);
		assert_int_equal(value_of_row(t, &fix->tab[1], k, &r), NAM_OK);
		assert_int_equal(txn_update(t, &fix->tab[1], &row, &r, sizeof r), NAM_OK);
	}
	one_dies(fix);
	insert_values(fix, 0, 100, 101);
	net_sleep(fix->w[0], 150 * MS);
	insert_values(fix, 0, 101, 100 + VALUES);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	net_sleep(fix->w[0], 100 * MS);
	count_values(fix, 0, 20);
	count_values(fix, 100, 100 + VALUES);
}

static void
uses(unsigned moments)
{
	(void)moments;
	lost = unreadable = 0;
	run(4, 2, 1, in_use_still);
}

/* Process 1 has more at hand than it needs, and stalls before it can give that back. */
static void
at_hand_still(struct fixture *fix)
{
	insert_values(fix, 1, 0, VALUES);
	delete_many(fix, 1, &fix->tab[1], 0, VALUES);
	struct txn_worker *tw = fix->tw[1];
	while (tw->junk[0].n + tw->junk[1].n > 0)
		net_sleep(fix->w[0], 100 * US);
	net_sleep(fix->w[0], moment);
	net_sim_freeze(fix->sim, fix->net[1], frozen);
	net_sleep(fix->w[0], frozen / 2);
	insert_values(fix, 0, 1000, 1001);
	net_sleep(fix->w[0], frozen / 4);
	insert_values(fix, 0, 1001, 1000 + VALUES);
	net_sleep(fix->w[0], frozen / 2);
	/* The memory that went back to the nodes is filled. */
	insert_many(fix, 2, &fix->bare[2], 1, 4000);
	count_values(fix, 1000, 1000 + VALUES);
}

static void
surpluses(unsigned moments)
{
	lost = unreadable = 0;
	frozen = 3000 * MS;
	for (unsigned i = 0; i < moments && lost + unreadable == 0; i++) {
		moment = i * 20 * MS;
		run(3, 2, 1, at_hand_still);
	}
}

static void
test_swept(void **state)
{
	(void)state;
	uses(1);
	assert_int_equal(lost + unreadable, 0);
	surpluses(12);
	assert_int_equal(lost + unreadable, 0);
}

/* ---- the faults ---- */

#ifdef NAM_TWINS
static void
test_twins(void **state)
{
	(void)state;
	static const struct {
		enum nam_fault twin;
		void (*scene)(unsigned);
		unsigned moments;
	} fault[] = {
		{ NAM_FAULT_RELEASE_UNCLOSED, drops, 300 },
		{ NAM_FAULT_DROP_UNWATCHED, drops, 400 },
		{ NAM_FAULT_EXIT_UNPINNED, leaves, 60 },
		{ NAM_FAULT_SWEEP_EARLY, uses, 1 },
		{ NAM_FAULT_ALLOCATOR_UNLOCKED, surpluses, 12 },
	};
	unsigned missed = 0;
	for (unsigned i = 0; i < sizeof fault / sizeof *fault; i++) {
		nam_fault_on = fault[i].twin;
		fault[i].scene(fault[i].moments);
		nam_fault_on = NAM_FAULT_NONE;
		printf("fault %s: %u rows gone, %u unreadable\n", nam_fault_name[fault[i].twin], lost,
		    unreadable);
		missed += lost + unreadable == 0;
	}
	assert_int_equal(missed, 0);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drop),
		cmocka_unit_test(test_leave),
		cmocka_unit_test(test_sleep),
		cmocka_unit_test(test_orphans),
		cmocka_unit_test(test_left_behind),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_mortals),
		cmocka_unit_test(test_swept),
#ifdef NAM_TWINS
		cmocka_unit_test(test_twins),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
