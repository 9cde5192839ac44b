/*
 * keeper_test.c -- the connection to the home node breaks, at every verb of what a process does
 * there: snapshots, claims, marks, ticks, going idle and waking. No process is recovered or ends
 * because of that, and every answered commit is there.
 */
#include <base/log.h>
#include <base/rounds.h>
#include <txn/testing/fixture.h>

enum { CUT = 1, HOME = 1, MS = 1000000, LEASE_MS = 100, ROUNDS = 3, IDLE_MS = 130 };

struct client {
	struct fixture *fix;
	struct net_worker *w;
	struct txn_worker *tw;
	bool ended;
	unsigned done, gone;
	int64_t last; /* answered */
	tso_cid noted;
};

/* One commit with a note. Any status but OK and GONE is wrong. */
static nam_status
commit_noted(struct fixture *fix, struct client *c, int64_t v)
{
	struct txn *t;
	tso_cid cid = 0;
	txn_reach(c->tw);
	nam_status st = txn_begin(c->tw, TXN_READ_COMMITTED, &t);
	if (st == NAM_OK && (st = set(fix, t, &fix->tab[CUT], 0, v)) != NAM_OK)
		txn_abort(t);
	else if (st == NAM_OK) {
		txn_set_note(t, TSO_NOTE_CATALOG);
		st = txn_commit(t, &cid);
	}
	if (st == NAM_OK) {
		c->done++;
		c->last = v;
		c->noted = cid;
	} else {
		assert_int_equal(st, NAM_GONE);
		c->gone++;
	}
	return st;
}

/* Busy for a while, then idle, then busy again. */
static void
client_main(void *arg)
{
	struct client *c = arg;
	struct fixture *fix = c->fix;
	int64_t v = 10;
	for (unsigned i = 0; i < ROUNDS; i++) {
		for (unsigned k = 0; k < 3; k++)
			commit_noted(fix, c, v++);
		net_sleep(c->w, IDLE_MS * (uint64_t)MS);
	}
	c->ended = true;
}

/* A process has two workers: the first one's heart beats, the second one works. */
enum how { ALL, PARTED, HEART_ALONE, WORKER_ALONE, HOWS };
static const char *const how_text[HOWS] = { "broken", "parted for a third of a lease",
	"the heart's connection alone", "the worker's connection alone" };

static struct {
	enum how how;
	uint64_t verb, verbs; /* the connection breaks after so many verbs; number of verbs */
	uint64_t part_ns;     /* and there is no new connection for so long: PARTED */
	unsigned done, gone, again;
} moment;

static void
nobody_recovered(struct fixture *fix)
{
	for (unsigned p = 0; p < fix->procs; p++) {
		struct tso_stats s;
		struct txn_stats x;
		tso_stats(fix->db[p]->tso, &s);
		txn_worker_stats(fix->tw[p], &x);
		assert_int_equal(s.fenced, 0);
		assert_int_equal(x.recovered, 0);
		assert_int_equal(atomic_load(&fix->db[p]->failed), 0);
		assert_int_equal(tso_joins(fix->db[p]->tso), 1);
	}
}

static void
close_main(void *arg)
{
	struct client *c = arg;
	txn_worker_close(c->tw);
	c->tw = NULL;
}

static void
home_breaks(struct fixture *fix)
{
	fill(fix, 1, 1);
	struct client c = { .fix = fix, .last = 1 };
	assert_int_equal(net_worker_open(fix->net[CUT], &c.w, NULL), NAM_OK);
	assert_int_equal(txn_worker_open(fix->db[CUT], c.w, &c.tw), NAM_OK);
	uint64_t from = net_sim_verbs(fix->net[CUT]);
	assert_non_null(nam_co_start(net_worker_sched(c.w), client_main, &c, 128 << 10));
	while (!c.ended && net_sim_verbs(fix->net[CUT]) - from < moment.verb)
		net_sleep(fix->w[0], 2000);
	net_sleep(fix->w[0], moment.verb * 37 % 2000);
	if (moment.verb == UINT64_MAX)
		;
	else if (moment.how == PARTED)
		net_sim_part(fix->sim, fix->net[CUT], HOME, moment.part_ns);
	else if (moment.how == ALL)
		net_sim_break(fix->sim, fix->net[CUT], HOME);
	else
		net_sim_break_one(fix->sim, moment.how == HEART_ALONE ? fix->w[CUT] : c.w, HOME);
	while (!c.ended)
		net_sleep(fix->w[0], 100000);
	moment.verbs = net_sim_verbs(fix->net[CUT]) - from;
	moment.done += c.done;
	moment.gone += c.gone;
	struct tso_stats s;
	tso_stats(fix->db[CUT]->tso, &s);
	moment.again += (unsigned)s.marks_again;
	/* It goes on, and others see its commits at once. */
	uint64_t began = net_now_ns(fix->w[0]);
	while (commit_noted(fix, &c, 1000) != NAM_OK)
		assert_true(net_now_ns(fix->w[0]) - began < 20 * (uint64_t)MS + moment.part_ns);
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	txn_set_note(t, 0);
	assert_int_equal(set(fix, t, &fix->tab[0], 0, 1001), NAM_OK);
	commit_all(t);
	assert_true(net_now_ns(fix->w[0]) - began < 30 * (uint64_t)MS + moment.part_ns);
	t = begin(fix, 2, TXN_READ_COMMITTED);
	assert_int_equal(value_of(fix, t, &fix->tab[2], 0), 1001);
	txn_abort(t);
	for (unsigned p = 0; p < fix->procs; p += 2)
		assert_true(tso_noted(fix->db[p]->tso) >= c.noted);
	nobody_recovered(fix);
	net_sleep(fix->w[0], 2 * LEASE_MS * (uint64_t)MS);
	nobody_recovered(fix);
	assert_non_null(nam_co_start(net_worker_sched(c.w), close_main, &c, 128 << 10));
	while (c.tw != NULL)
		net_sleep(fix->w[0], 100000);
	net_worker_close(c.w);
}

static void
test_home_breaks(void **state)
{
	(void)state;
	for (unsigned how = 0; how < HOWS; how++) {
		moment.how = how;
		moment.part_ns = how == PARTED ? LEASE_MS / 3 * (uint64_t)MS : 0;
		moment.verb = UINT64_MAX;
		moment.done = moment.gone = moment.again = 0;
		run(3, 2, 1, home_breaks);
		uint64_t all = moment.verbs;
		for (uint64_t n = 0; n < all; n += (how == PARTED ? 17 : 5) * nam_rounds(1, 2, 5)) {
			moment.verb = n;
			run(3, 2, 1 + n, home_breaks);
		}
		printf("%s, at %llu verbs: %u commits, %u ended with NAM_GONE; %u marks were made again\n",
		    how_text[how], (unsigned long long)all, moment.done, moment.gone, moment.again);
		assert_true(moment.done > 10 * moment.gone);
		assert_true(how == HEART_ALONE ? moment.gone == 0
					       : moment.gone > nam_rounds(5, 2, 0) && moment.again > 0);
	}
}

int
main(void)
{
	nam_log_level_set(NAM_LOG_ERROR);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_home_breaks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
