/*
 * backup_test.c -- backups beside writers, in a cluster where a process dies at each verb of a
 * commit, and its recoverer finishes or undoes it. What counts in the backup was never undone, and
 * what was answered before the backup began is in it. The checker reads the whole log at the end,
 * and shares no code with backup.c and with cut.c's users.
 */
#include <base/fault.h>
#include <base/log.h>
#include <base/rounds.h>
#include <txn/backup.h>
#include <txn/cut.h>
#include <txn/testing/fixture.h>
#include <wal/testing/faulty.h>
#include <wal/testing/records.h>
#include <wal/wal.h>
#include <wal/wal_format.h>

enum { KEYS = 12, OWNER = 1, HELPER = 2, LEASE_NS = 100000000, STACK = 128 << 10, MOST = 4096 };

struct entry {
	uint64_t position;
	struct txn_logged h;
};

static struct {
	uint64_t verb; /* at which the owner dies */
	bool ended, writing, made;
	nam_status st;
	struct txn_backup_plan plan;
	struct entry kept[MOST], all[MOST];
	unsigned n, all_n;
	uint64_t answered[MOST]; /* CIDs */
	unsigned answers, before;
	unsigned undone; /* records behind the end that were kept */
	bool wrong;
} world;

static nam_status
transfer(struct fixture *fix, unsigned p, uint64_t a, uint64_t b, bool sync)
{
	struct txn_table *tab = &fix->tab[p];
	struct txn_row row[2];
	struct row r[2];
	struct txn *t;
	tso_cid cid = 0;
	nam_status st = txn_begin(fix->tw[p], TXN_REPEATABLE_READ, &t);
	if (st != NAM_OK)
		return st;
	txn_set_sync(t, sync);
	for (unsigned i = 0; st == NAM_OK && i < 2; i++)
		st = get(fix, t, tab, i == 0 ? a : b, &row[i], &r[i]);
	for (unsigned i = 0; st == NAM_OK && i < 2; i++) {
		r[i] = mk(r[i].key, r[i].value + (i == 0 ? -1 : 1));
		if ((st = txn_lock(t, tab, &row[i])) == NAM_OK)
			st = txn_update(t, tab, &row[i], &r[i], sizeof r[i]);
	}
	if (st != NAM_OK) {
		txn_abort(t);
		return st;
	}
	st = txn_commit(t, &cid);
	if (st == NAM_OK && world.answers < MOST)
		world.answered[world.answers++] = cid;
	return st;
}

static void
owner(void *arg)
{
	struct fixture *fix = arg;
	world.st = transfer(fix, OWNER, 0, 1, true);
	world.ended = true;
}

static void
writer(void *arg)
{
	struct fixture *fix = arg;
	struct nam_rng *d = net_rng(fix->w[HELPER]);
	for (unsigned i = 0; i < 60 && !world.made; i++) {
		uint64_t a = 2 + nam_rng_below(d, KEYS - 2), b = 2 + nam_rng_below(d, KEYS - 2);
		if (a != b)
			(void)transfer(fix, HELPER, a, b, nam_rng_below(d, 2));
		net_sleep(fix->w[HELPER], nam_rng_below(d, 3000000));
	}
	world.writing = false;
}

/* ---- the backup ---- */

static nam_status
each(struct txn_backup *b, struct txn_cut *c, uint64_t from, uint64_t to, bool take)
{
	static char buf[1 << 16];
	nam_status st = NAM_OK;
	for (uint64_t at = from, next; st == NAM_OK && at < to; at = next) {
		uint32_t got;
		assert_true(world.plan.read_max <= sizeof buf);
		st = txn_backup_read(b, at, buf, world.plan.read_max, &got, &next);
		for (uint32_t i = 0; st == NAM_OK && i < got && at + i < to;) {
			struct wal_record_head rec;
			memcpy(&rec, buf + i, sizeof rec);
			const char *bytes = buf + i + sizeof rec;
			st = take ? txn_cut_take(c, bytes, rec.bytes)
				  : txn_cut_look(c, at + i, bytes, rec.bytes);
			if (take) {
				assert_true(world.n < MOST);
				world.kept[world.n].position = at + i;
				memcpy(&world.kept[world.n++].h, bytes, sizeof(struct txn_logged));
			}
			i += (uint32_t)sizeof rec + TXN_PAD(rec.bytes);
		}
	}
	return st;
}

static nam_status
back_up(struct fixture *fix)
{
	const struct txn_backup_limits limits = { .cancel = NULL };
	struct txn_backup *b;
	struct txn_cut c;
	size_t i = 0;
	world.before = world.answers;
	world.n = world.undone = 0;
	nam_status st = txn_backup_open(fix->tw[0], &limits, NULL, NULL, &b, &world.plan);
	if (st != NAM_OK)
		return st;
	txn_cut_at(&c, world.plan.end);
	st = each(b, &c, world.plan.end, world.plan.behind, false);
	if (st == NAM_OK)
		st = each(b, &c, world.plan.begin, world.plan.end, true);
	for (const struct txn_logged *h; st == NAM_OK && (h = txn_cut_undone(&c, &i)) != NULL;) {
		world.kept[world.n++] = (struct entry){ UINT64_MAX, *h };
		world.undone++;
	}
	txn_cut_fini(&c);
	txn_backup_close(b);
	return st;
}

static void
body(struct fixture *fix)
{
	struct nam_rng *d = net_rng(fix->w[0]);
	nam_status st;
	fill(fix, KEYS, 100);
	net_sim_crash_at(fix->sim, fix->net[OWNER], net_sim_verbs(fix->net[OWNER]) + world.verb);
	world.writing = true;
	assert_non_null(nam_co_start(net_worker_sched(fix->w[HELPER]), writer, fix, STACK));
	assert_non_null(nam_co_start(net_worker_sched(fix->w[OWNER]), owner, fix, STACK));
	while (!world.ended && !net_sim_crashed(fix->net[OWNER]))
		net_sleep(fix->w[0], 1000);
	net_sleep(fix->w[0], nam_rng_below(d, 200000));
	/* The owner's round trips are over, or its recovery has not begun. */
	while ((st = back_up(fix)) == NAM_BUSY || st == NAM_ABSENT)
		continue;
	assert_int_equal(st, NAM_OK);
	world.made = true;
	net_sleep(fix->w[0], 6 * (uint64_t)LEASE_NS); /* it is recovered */
	while (world.writing)
		net_sleep(fix->w[0], 100000);
	if (net_sim_crashed(fix->net[OWNER]))
		net_sim_bury(fix->sim, fix->net[OWNER]);
	else
		net_sim_crash_at(fix->sim, fix->net[OWNER], UINT64_MAX);
	while (!world.ended && !net_sim_crashed(fix->net[OWNER]))
		net_sleep(fix->w[0], 100000);
	net_sleep(fix->w[0], 300000000); /* all is flushed */
}

/* ---- the whole log ---- */

static void
enter(void *arg, unsigned pass, uint64_t position, const char *bytes, uint32_t len)
{
	(void)arg;
	(void)pass;
	(void)len;
	assert_true(world.all_n < MOST);
	world.all[world.all_n].position = position;
	memcpy(&world.all[world.all_n++].h, bytes, sizeof(struct txn_logged));
}

static void
read_log(struct wal_dir *dir)
{
	world.all_n = 0;
	each_record(dir, 1, enter, NULL);
}

static bool
says_undone(const struct entry *e, unsigned n, const struct txn_logged *h)
{
	for (unsigned i = 0; i < n; i++)
		if (e[i].h.kind == TXN_LOGGED_UNDONE && e[i].h.lock == h->lock && e[i].h.check == h->check)
			return true;
	return false;
}

static bool
counts_in(const struct entry *e, unsigned n, uint64_t cid)
{
	for (unsigned i = 0; i < n; i++)
		if (e[i].h.kind == TXN_LOGGED_COMMIT && e[i].h.cid == cid &&
		    (e[i].h.flags & TXN_LOGGED_LAST) != 0)
			return !says_undone(e, n, &e[i].h);
	return false;
}

static bool
judge(void)
{
	unsigned before = world.n - world.undone;
	/* A prefix. */
	for (unsigned i = 0; i < before; i++)
		if (i >= world.all_n || world.all[i].position != world.kept[i].position ||
		    memcmp(&world.all[i].h, &world.kept[i].h, sizeof(struct txn_logged)) != 0)
			return false;
	if (before < world.all_n && world.all[before].position != world.plan.end)
		return false;
	/* What counts in it counts in the whole. */
	for (unsigned i = 0; i < before; i++)
		if (world.kept[i].h.kind == TXN_LOGGED_COMMIT &&
		    counts_in(world.kept, world.n, world.kept[i].h.cid) &&
		    !counts_in(world.all, world.all_n, world.kept[i].h.cid))
			return false;
	for (unsigned i = 0; i < world.before; i++)
		if (!counts_in(world.kept, world.n, world.answered[i]))
			return false;
	return true;
}

static bool
play(uint64_t verb, uint64_t seed)
{
	fixture_log = wal_faulty_open(seed);
	assert_non_null(fixture_log);
	memset(&world, 0, sizeof world);
	world.verb = verb;
	run(3, 2, seed, body);
	wal_faulty_cut(fixture_log);
	read_log(fixture_log);
	wal_faulty_close(fixture_log);
	fixture_log = NULL;
	return judge();
}

/* Each verb of the owner, until it lives to its end. */
static unsigned
every_verb(uint64_t seeds, unsigned *worlds, unsigned *undone, unsigned *inside)
{
	unsigned wrong = 0;
	for (uint64_t seed = 1; seed <= seeds; seed++)
		for (uint64_t verb = 1; verb < 200; verb++) {
			bool is = play(verb, seed * 1000 + verb);
			if (!is && !nam_fault_any())
				fprintf(stderr, "seed %llu, verb %llu\n", (unsigned long long)seed,
				    (unsigned long long)verb);
			wrong += !is;
			++*worlds;
			if (!is && nam_fault_any())
				return wrong; /* it is caught */
			*undone += world.undone;
			*inside += world.before;
			if (world.ended && world.st == NAM_OK && verb > 20)
				break;
		}
	return wrong;
}

static void
test_each_verb(void **state)
{
	unsigned worlds = 0, undone = 0, inside = 0;
	(void)state;
	assert_int_equal(every_verb(nam_rounds(16, 6, 2), &worlds, &undone, &inside), 0);
	printf("%u worlds; %u attempts that were undone behind the end, %u answered before the begin\n",
	    worlds, undone, inside);
	assert_true(undone > 0);
	assert_true(inside > nam_rounds(50, 18, 5));
}

#ifdef NAM_TWINS
static void
test_twins(void **state)
{
	(void)state;
	static const enum nam_fault fault[] = { NAM_FAULT_BACKUP_UNCOVERED, NAM_FAULT_BACKUP_UNTOLD };
	for (unsigned i = 0; i < 2; i++) {
		unsigned worlds = 0, undone = 0, inside = 0;
		nam_fault_on = fault[i];
		unsigned wrong = every_verb(16, &worlds, &undone, &inside);
		nam_fault_on = NAM_FAULT_NONE;
		printf("fault %s: seen in %u of %u worlds\n", nam_fault_name[fault[i]], wrong, worlds);
		assert_true(wrong > 0);
	}
}
#endif

int
main(void)
{
	nam_log_level_set(NAM_LOG_ERROR);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_verb),
#ifdef NAM_TWINS
		cmocka_unit_test(test_twins),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
