/*
 * checkpoint_test.c -- checkpoints beside transactions, and at the end the power is cut. What the
 * log then has, from where it begins, is what the cluster showed.
 *
 * Two processes make checkpoints, at times at once; a third one and they themselves change rows
 * and long values. A process dies at some verb, in most worlds within its checkpoint. The log is
 * read by code of this file alone.
 */
#include <base/fault.h>
#include <base/log.h>
#include <base/rounds.h>
#include <txn/checkpoint.h>
#include <txn/logged_format.h>
#include <txn/testing/fixture.h>
#include <wal/testing/faulty.h>
#include <wal/testing/records.h>
#include <wal/wal.h>
#include <wal/wal_format.h>

enum { KEYS = 24, ROUNDS = 30, DEAD = 1, VALUE = 700, LEASE_NS = 100000000, STACK = 128 << 10 };
#define US UINT64_C(1000)

/* ---- the log, read by itself ---- */

struct book_row {
	uint64_t at, cid;
	struct row row;
	bool deleted;
};
struct book_value {
	uint64_t at;
	int64_t first; /* its first word */
	uint32_t len;
};
static struct {
	struct book_row row[8192];
	struct book_value value[8192];
	struct {
		uint64_t lock, check;
	} undone[512];
	unsigned rows, values, undones, kept;
	uint64_t begin;
	bool wrong;
} book;

static struct book_value *
value_at(uint64_t at)
{
	for (unsigned i = 0; i < book.values; i++)
		if (book.value[i].at == at)
			return &book.value[i];
	assert_true(book.values < sizeof book.value / sizeof *book.value);
	book.value[book.values] = (struct book_value){ .at = at };
	return &book.value[book.values++];
}

static void
enter_row(const struct txn_logged_item *item, const char *bytes, uint32_t len, uint64_t cid)
{
	unsigned i = 0;
	while (i < book.rows && book.row[i].at != item->at)
		i++;
	if (i == book.rows) {
		assert_true(book.rows < sizeof book.row / sizeof *book.row);
		book.row[book.rows++] = (struct book_row){ .at = item->at };
	}
	if (cid < book.row[i].cid)
		return;
	book.row[i].cid = cid;
	book.row[i].deleted = item->kind == TXN_LOGGED_DELETED;
	if (!book.row[i].deleted) {
		assert_int_equal(len, sizeof(struct row));
		memcpy(&book.row[i].row, bytes, len);
	}
}

static void
enter_item(const struct txn_logged *h, const struct txn_logged_item *item, const char *bytes)
{
	if (item->kind == TXN_LOGGED_VALUE) {
		struct book_value *v = value_at(item->at);
		memcpy(&v->first, bytes, sizeof v->first);
		v->len = item->len;
	} else if (item->kind == TXN_LOGGED_KEPT_ROW && item->table == 1) {
		uint64_t cid;
		memcpy(&cid, bytes, sizeof cid);
		book.kept++;
		enter_row(item, bytes + sizeof cid, item->len - (uint32_t)sizeof cid, cid);
	} else if ((item->kind == TXN_LOGGED_ROW || item->kind == TXN_LOGGED_DELETED) && item->table == 1) {
		enter_row(item, bytes, item->len, h->cid);
	}
}

static void
enter(const char *bytes, uint32_t len, bool first)
{
	struct txn_logged h;
	memcpy(&h, bytes, sizeof h);
	if (first && h.kind == TXN_LOGGED_UNDONE) {
		book.undone[book.undones].lock = h.lock;
		book.undone[book.undones++].check = h.check;
	}
	if (first || h.kind == TXN_LOGGED_UNDONE || h.kind == TXN_LOGGED_NUMBERS)
		return;
	for (unsigned i = 0; i < book.undones && h.kind == TXN_LOGGED_COMMIT; i++)
		if (book.undone[i].lock == h.lock && book.undone[i].check == h.check)
			return;
	assert_true(h.part == 0 && (h.flags & TXN_LOGGED_LAST) != 0);
	for (uint32_t at = sizeof h; at < len;) {
		struct txn_logged_item item;
		memcpy(&item, bytes + at, sizeof item);
		at += sizeof item;
		enter_item(&h, &item, bytes + at);
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
	book.begin = each_record(dir, 2, enter_record, NULL);
}

/* The row of a key, with its long value, as the log has it: -1 = none, -2 = nonsense. */
static int64_t
logged(uint64_t key)
{
	int64_t is = -1;
	for (unsigned i = 0; i < book.rows; i++) {
		const struct row *r = &book.row[i].row;
		if (book.row[i].deleted || r->key != key)
			continue;
		if (is != -1)
			return -2; /* twice */
		is = r->value;
		if (r->blob.len == 0)
			continue;
		const struct book_value *v = value_at(r->blob.at.bits);
		if (v->len != r->blob.len || v->first != r->value)
			return -2;
	}
	return is;
}

/* ---- a world ---- */

struct one {
	struct fixture *fix;
	unsigned p, rounds;
};
static struct {
	uint64_t die_at; /* the verb, 0 = none dies */
	unsigned running, made, overtaken;
	int64_t row[KEYS];
} world;

/* One change: a row with or without a long value, another value, or it goes. */
static nam_status
change(struct fixture *fix, struct txn *t, struct txn_table *tab, struct nam_rng *d)
{
	static int64_t next = 1;
	char bytes[VALUE] = { 0 };
	uint64_t key = nam_rng_below(d, KEYS);
	struct txn_row row;
	struct row r, fresh = mk(key, next++);
	bool large = nam_rng_below(d, 2);
	nam_status st = get(fix, t, tab, key, &row, &r);
	if (st == NAM_OK && nam_rng_below(d, 3) == 0)
		return del(fix, t, tab, key);
	memcpy(bytes, &fresh.value, sizeof fresh.value);
	if (st != NAM_OK && st != NAM_ABSENT)
		return st;
	bool there = st == NAM_OK;
	st = there ? txn_lock(t, tab, &row) : NAM_OK;
	if (st == NAM_OK && large)
		st = txn_blob_put(t, tab, bytes, sizeof bytes, &fresh.blob);
	if (st != NAM_OK)
		return st;
	return there ? txn_update(t, tab, &row, &fresh, sizeof fresh) : insert_row(t, tab, &fresh);
}

static void
writer(void *arg)
{
	struct one *o = arg;
	struct fixture *fix = o->fix;
	struct nam_rng *d = net_rng(fix->w[o->p]);
	for (unsigned i = 0; i < o->rounds; i++) {
		struct txn *t;
		nam_status st = NAM_OK;
		net_sleep(fix->w[o->p], nam_rng_below(d, 100) * US);
		if (txn_begin(fix->tw[o->p], TXN_READ_COMMITTED, &t) != NAM_OK)
			break;
		txn_set_sync(t, nam_rng_below(d, 4) == 0);
		for (unsigned n = 1 + (unsigned)nam_rng_below(d, 3); st == NAM_OK && n > 0; n--)
			st = change(fix, t, &fix->tab[o->p], d);
		if (st == NAM_OK && nam_rng_below(d, 8) != 0)
			st = txn_commit(t, NULL);
		else
			txn_abort(t);
	}
	world.running -= o->p != DEAD || world.die_at == 0;
}

static nam_status
keep_table(struct fixture *fix, unsigned p, struct txn_checkpoint *k)
{
	struct txn_table *tab = &fix->tab[p];
	struct nam_rng *d = net_rng(fix->w[p]);
	struct txn_scan *scan = NULL;
	struct txn_row rows[4];
	struct txn *t;
	unsigned n = 1;
	nam_status st = txn_begin(fix->tw[p], TXN_REPEATABLE_READ, &t);
	if (st != NAM_OK)
		return st;
	st = txn_scan_open(t, tab, &scan);
	while (st == NAM_OK && (st = txn_scan_next(scan, rows, 4, &n)) == NAM_OK && n > 0) {
		for (unsigned i = 0; st == NAM_OK && i < n; i++) {
			struct row r;
			const void *bytes;
			memcpy(&r, rows[i].bytes, sizeof r);
			if (r.blob.len > 0 && (st = txn_blob_get(t, &r.blob, 1, &bytes, &fix->a)) == NAM_OK)
				st = txn_checkpoint_value(k, tab, &r.blob, bytes);
			if (st == NAM_OK)
				st = txn_checkpoint_row(k, tab, &rows[i]);
		}
		net_sleep(fix->w[p], nam_rng_below(d, 60) * US);
	}
	if (scan != NULL)
		txn_scan_close(scan);
	if (st == NAM_OK && !nam_fault(CHECKPOINT_EARLY))
		st = txn_checkpoint_received(k);
	txn_abort(t);
	if (nam_fault(CHECKPOINT_EARLY))
		net_sleep(fix->w[p], 60000 * US); /* collectors give the memory to others */
	return st;
}

static void
keeper(void *arg)
{
	struct one *o = arg;
	struct fixture *fix = o->fix;
	struct nam_rng *d = net_rng(fix->w[o->p]);
	for (unsigned i = 0; i < o->rounds; i++) {
		struct txn_checkpoint *k;
		net_sleep(fix->w[o->p], nam_rng_below(d, o->rounds == 1 ? 100 : 1000) * US);
		const struct txn_checkpoint_limits limits = { .over = nam_rng_below(d, 2) };
		nam_status st = txn_checkpoint_begin(fix->tw[o->p], &limits, &k);
		if (st == NAM_OK) {
			if ((st = keep_table(fix, o->p, k)) == NAM_OK)
				st = txn_checkpoint_end(k);
			else
				txn_checkpoint_quit(k);
			world.overtaken += st == NAM_BUSY;
		}
		if (st != NAM_OK && st != NAM_BUSY && st != NAM_GONE)
			break;
		world.made += st == NAM_OK;
	}
	world.running -= o->p != DEAD || world.die_at == 0;
}

/* Four writers and two keepers, one of which is the process that may die. */
static void
beside(struct fixture *fix, unsigned writes, unsigned checkpoints)
{
	static struct one o[6];
	static const unsigned p[] = { 0, DEAD, 2, 0, DEAD, 2 };
	world.running = 0;
	for (unsigned i = 0; i < 6; i++) {
		void (*fn)(void *) = i == 2 || i == 4 ? keeper : writer;
		o[i] = (struct one){ fix, p[i], fn == keeper ? checkpoints : writes };
		if (net_sim_crashed(fix->net[p[i]]))
			continue;
		world.running += p[i] != DEAD || world.die_at == 0;
		assert_non_null(nam_co_start(net_worker_sched(fix->w[p[i]]), fn, &o[i], STACK));
	}
	while (world.running > 0)
		net_sleep(fix->w[0], 500 * US);
}

static void
body(struct fixture *fix)
{
	fill(fix, KEYS, 0);
	if (world.die_at != 0)
		net_sim_crash_at(fix->sim, fix->net[DEAD], net_sim_verbs(fix->net[DEAD]) + world.die_at);
	beside(fix, ROUNDS, ROUNDS / 4);
	/* No later change and no later checkpoint hides what goes wrong here. */
	if (world.die_at == 0)
		beside(fix, nam_fault(CHECKPOINT_EARLY) ? 300 : 2, 1);
	if (world.die_at != 0)
		net_sleep(fix->w[0], 6 * (uint64_t)LEASE_NS); /* it is recovered */
	net_sleep(fix->w[0], LEASE_NS);
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < KEYS; k++)
		world.row[k] = value_of(fix, t, &fix->tab[0], k);
	txn_abort(t);
	if (world.die_at != 0 && net_sim_crashed(fix->net[DEAD]))
		net_sim_bury(fix->sim, fix->net[DEAD]);
	else if (world.die_at != 0)
		net_sim_crash_at(fix->sim, fix->net[DEAD], UINT64_MAX);
	net_sleep(fix->w[0], 300000 * US); /* all is flushed */
}

/* Does that copy of the log have what was shown? */
static bool
shows_all(struct wal_dir *dir, uint64_t die_at, uint64_t seed)
{
	bool is = true;
	wal_faulty_cut(dir);
	read_log(dir);
	wal_faulty_close(dir);
	for (uint64_t k = 0; k < KEYS; k++)
		if (logged(k) != world.row[k]) {
			if (!nam_fault_any())
				fprintf(stderr, "seed %llu, verb %llu: key %u is %lld, the log has %lld\n",
				    (unsigned long long)seed, (unsigned long long)die_at, (unsigned)k,
				    (long long)world.row[k], (long long)logged(k));
			is = false;
		}
	return is;
}

static unsigned copies = 1; /* of the log */

/* True if each copy has what was shown. */
static bool
play(uint64_t die_at, uint64_t seed)
{
	fixture_log = wal_faulty_open(seed);
	assert_non_null(fixture_log);
	for (unsigned i = 1; i < copies; i++)
		assert_non_null(fixture_copy[i - 1] = wal_faulty_open(seed + 100000 * i));
	world.die_at = die_at;
	run(3, 2, seed, body);
	bool is = shows_all(fixture_log, die_at, seed);
	for (unsigned i = 1; i < copies; i++) {
		is = shows_all(fixture_copy[i - 1], die_at, seed) && is;
		fixture_copy[i - 1] = NULL;
	}
	fixture_log = NULL;
	return is;
}

static void
test_beside_writers(void **state)
{
	unsigned cut = 0, kept = 0;
	(void)state;
	world.made = world.overtaken = 0;
	unsigned n = nam_rounds(60, 30, 10);
	for (uint64_t seed = 1; seed <= n; seed++) {
		assert_true(play(0, seed));
		cut += book.begin > 0;
		kept += book.kept;
	}
	printf("%u worlds: %u checkpoints, %u overtaken; %u logs cut off, %u rows kept\n", n, world.made,
	    world.overtaken, cut, kept);
	assert_true(cut > n * 5 / 6 && world.overtaken > n / 6 && world.made > n * 10 / 3);
}

static void
test_one_dies(void **state)
{
	unsigned cut = 0;
	(void)state;
	unsigned n = 0;
	for (uint64_t seed = 100; seed < 160; seed += nam_rounds(1, 2, 5), n++) {
		assert_true(play(1 + (seed - 100) * 23, seed));
		cut += book.begin > 0;
	}
	assert_true(cut > n * 2 / 3);
}

/* Each copy has a round with a begin of its own, and is cut off there. */
static void
test_copies(void **state)
{
	unsigned cut = 0, worlds = 0;
	(void)state;
	world.made = world.overtaken = 0;
	for (copies = 2; copies <= WAL_COPIES; copies++)
		for (uint64_t seed = 200; seed < 240; seed += nam_rounds(1, 3, 7), worlds++) {
			assert_true(play(seed % 2 == 0 ? 0 : 1 + (seed - 200) * 41, seed));
			cut += book.begin > 0;
		}
	copies = 1;
	printf("%u worlds with copies: %u checkpoints, %u overtaken; %u logs cut off\n", worlds, world.made,
	    world.overtaken, cut);
	assert_true(cut > worlds * 3 / 4 && world.overtaken > worlds / 8 && world.made > worlds * 5 / 2);
}

#ifdef NAM_TWINS
static void
test_twins(void **state)
{
	static const enum nam_fault fault[] = { NAM_FAULT_CHECKPOINT_UNCOVERED, NAM_FAULT_CHECKPOINT_EARLY,
		NAM_FAULT_WAL_OLD_ROUND };
	(void)state;
	for (unsigned i = 0; i < sizeof fault / sizeof *fault; i++) {
		unsigned wrong = 0;
		uint64_t seed = 1;
		nam_fault_on = fault[i];
		for (; wrong == 0 && seed <= 600; seed++)
			wrong += !play(0, seed);
		nam_fault_on = NAM_FAULT_NONE;
		printf("fault %s: seen in world %llu\n", nam_fault_name[fault[i]], (unsigned long long)seed);
		assert_true(wrong > 0);
	}
}
#endif

int
main(void)
{
	nam_log_level_set(NAM_LOG_ERROR);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_beside_writers),
		cmocka_unit_test(test_one_dies),
		cmocka_unit_test(test_copies),
#ifdef NAM_TWINS
		cmocka_unit_test(test_twins),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
