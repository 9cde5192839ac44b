/* board_test.c -- jobs of the dead are collected: a process that asks is told that no helper takes
 * part only when that is so, also if another process collects them. */
#include "olap_test.h"

enum { MAKER, HELPER, FIRST, SECOND };

struct play {
	struct cluster c;
	bool dies;                      /* FIRST, while it collects */
	bool made, inside, asked, left; /* in this order ... */
	bool over;                      /* ... to here */
	nam_status first;
	uint64_t before;
};

static void
pass(struct net_worker *w, const bool *flag)
{
	while (!*flag)
		net_sleep(w, 1000);
}

static void
maker(void *arg)
{
	struct play *y = arg;
	struct net_worker *w = y->c.w[MAKER];
	struct olap_job *job;
	assert_int_equal(olap_board_make(w, &y->c.board), NAM_OK);
	assert_int_equal(olap_job_make(w, y->c.board, "plan", 5, &job), NAM_OK);
	assert_int_equal(olap_job_offer(job), NAM_OK);
	y->made = true;
	pass(w, &y->inside);
	net_sim_crash(y->c.sim, y->c.net[MAKER]);
	net_sleep(w, 1000); /* until it is buried */
	assert_int_not_equal(olap_job_end(job), NAM_OK);
}

static void
helper(void *arg)
{
	struct play *y = arg;
	struct net_worker *w = y->c.w[HELPER];
	struct olap_job *job;
	unsigned place, n;
	bool stuck;
	pass(w, &y->made);
	assert_int_equal(olap_board_offers(w, y->c.board, &place, 1, &n), NAM_OK);
	assert_int_equal(n, 1);
	assert_int_equal(olap_job_enter(w, y->c.board, place, &job, &stuck), NAM_OK);
	y->inside = true;
	pass(w, &y->asked);
	net_sleep(w, 500000);
	y->left = true;
	olap_job_leave(job);
}

static nam_status
collect(struct play *y, unsigned p, unsigned dead)
{
	uint64_t id[2] = { net_identity(y->c.net[MAKER]), net_identity(y->c.net[FIRST]) };
	unsigned jobs;
	return olap_board_collect(y->c.w[p], y->c.board, id, dead, &jobs);
}

static void
first(void *arg)
{
	struct play *y = arg;
	struct net_worker *w = y->c.w[FIRST];
	pass(w, &y->inside);
	net_sleep(w, 100000);
	if (y->dies)
		net_sim_crash_at(y->c.sim, y->c.net[FIRST], net_sim_verbs(y->c.net[FIRST]) + 12);
	y->first = collect(y, FIRST, 1);
	assert_true(y->dies || y->left);
}

static void
second(void *arg)
{
	struct play *y = arg;
	struct net_worker *w = y->c.w[SECOND];
	uint64_t owner[4];
	unsigned n;
	nam_status st;
	pass(w, &y->inside);
	net_sleep(w, 400000);
	/* The first one has the job, and waits. */
	assert_int_equal(collect(y, SECOND, 1), NAM_BUSY);
	assert_int_equal(olap_board_owners(w, y->c.board, owner, 4, &n), NAM_OK);
	assert_int_equal(n, 2);
	y->asked = true;
	while ((st = collect(y, SECOND, y->dies ? 2 : 1)) == NAM_BUSY)
		net_sleep(w, 10000);
	assert_int_equal(st, NAM_OK);
	assert_true(y->left);
	assert_int_equal(olap_board_owners(w, y->c.board, owner, 4, &n), NAM_OK);
	assert_int_equal(n, 0);
	assert_int_equal(olap_board_drop(w, y->c.board), NAM_OK);
	y->over = true;
}

static bool
is_over(void *arg)
{
	return ((struct play *)arg)->over;
}

static void
play(uint64_t seed, bool dies)
{
	struct play y = { .dies = dies };
	cluster_open(&y.c, seed, 2, 16 << 20, T_PROCESSES, 0);
	y.before = cluster_free(&y.c);
	void (*const part[])(void *) = { maker, helper, first, second };
	for (unsigned p = 0; p < T_PROCESSES; p++)
		assert_non_null(nam_co_start(net_worker_sched(y.c.w[p]), part[p], &y, 512 << 10));
	assert_true(net_sim_run(y.c.sim, is_over, &y));
	for (unsigned p = 0; p < T_PROCESSES; p++)
		if (net_sim_crashed(y.c.net[p]))
			net_sim_bury(y.c.sim, y.c.net[p]);
	assert_true(net_sim_run(y.c.sim, NULL, NULL));
	assert_true(y.left);
	assert_int_equal(y.first == NAM_OK, !dies);
	assert_int_equal(cluster_free(&y.c), y.before);
	cluster_close(&y.c);
}

static void
two_collectors(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++)
		play(seed, false);
}

static void
a_collector_dies(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++)
		play(seed, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_collectors),
		cmocka_unit_test(a_collector_dies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
