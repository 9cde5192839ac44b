/*
 * recover_test.c -- a compute process stops in the middle of a transaction; another process
 * recovers it.
 *
 * It is stopped by being fenced at a moment that moves through the whole of the transaction in
 * small steps: from then on no verb of it executes, wherever its verbs are. Its coroutines go on,
 * as those of a fenced process do.
 */
#include <base/log.h>
#include <base/rounds.h>
#include <txn/testing/fixture.h>

enum { DEAD = 1, OLD = 10, NEW = 20, LEASE_NS = 100000000 };

static nam_status
remove_row(struct fixture *fix, struct txn *t, unsigned p, uint64_t key)
{
	return del(fix, t, &fix->tab[p], key);
}

/* ---- one transaction of everything, stopped at a moment ---- */

/* The levels, and txn_begin_latest. */
enum { LATEST = TXN_SERIALIZABLE + 1, LEVELS };

static nam_status
begin_level(struct fixture *fix, unsigned level, struct txn **t)
{
	uint64_t key = 100;
	struct txn_table *tab = &fix->tab[DEAD];
	struct txn_put p = { .table = tab, .key = &key, .key_len = 8, .hash = nam_hash(&key, 8, tab->id) };
	if (level != LATEST)
		return txn_begin(fix->tw[DEAD], (enum txn_iso)level, t);
	nam_status st = txn_begin_latest(fix->tw[DEAD], NULL, t);
	if (st == NAM_OK && (st = txn_get_ahead(*t, NULL, 0, &p, 1, &fix->a)) != NAM_OK)
		txn_abort(*t);
	return st;
}

struct victim {
	struct fixture *fix;
	unsigned level;
	bool started, ended, behind; /* behind: its last step runs behind its answer */
	uint64_t began, took;
	nam_status st;
};

/* Once for all: its first extents, intents and all else that takes long only once. */
static void
warm_up(struct fixture *fix)
{
	struct txn *t = begin(fix, DEAD, TXN_READ_COMMITTED);
	assert_int_equal(insert(t, &fix->tab[DEAD], 50, OLD), NAM_OK);
	assert_int_equal(set(fix, t, &fix->tab[DEAD], 3, OLD), NAM_OK);
	commit_all(t);
}

/* Updates 0 and 1, deletes 2, inserts 100. */
static void
victim_main(void *arg)
{
	struct victim *v = arg;
	struct fixture *fix = v->fix;
	struct txn *t;
	struct row r = mk(100, NEW);
	v->began = net_now_ns(fix->w[DEAD]);
	v->started = true;
	v->st = begin_level(fix, v->level, &t);
	if (v->st == NAM_OK) {
		v->st = set(fix, t, &fix->tab[DEAD], 0, NEW);
		if (v->st == NAM_OK)
			v->st = set(fix, t, &fix->tab[DEAD], 1, NEW);
		if (v->st == NAM_OK)
			v->st = remove_row(fix, t, DEAD, 2);
		if (v->st == NAM_OK)
			v->st = insert_row(t, &fix->tab[DEAD], &r);
		if (v->st == NAM_OK) {
			txn_set_finish(t, !v->behind);
			v->st = txn_commit(t, NULL);
		} else {
			txn_abort(t);
		}
	}
	v->took = net_now_ns(fix->w[DEAD]) - v->began;
	v->ended = true;
}

static void
start_victim(struct fixture *fix, struct victim *v, unsigned level)
{
	*v = (struct victim){ .fix = fix, .level = level };
	assert_non_null(nam_co_start(net_worker_sched(fix->w[DEAD]), victim_main, v, 128 << 10));
}

static void
wait_ended(struct fixture *fix, const struct victim *v)
{
	while (!v->ended)
		net_sleep(fix->w[0], 100000);
}

/* Another process recovers the victim, soon. */
static void
wait_recovered(struct fixture *fix)
{
	uint64_t began = net_now_ns(fix->w[0]);
	for (;;) {
		struct tso_stats s;
		unsigned done = 0;
		for (unsigned p = 0; p < fix->procs; p++) {
			struct txn_stats st;
			txn_worker_stats(fix->tw[p], &st);
			done += p != DEAD && st.recovered > 0;
		}
		tso_stats(fix->db[0]->tso, &s);
		if (done > 0)
			return;
		assert_true(net_now_ns(fix->w[0]) - began < 5 * (uint64_t)LEASE_NS);
		net_sleep(fix->w[0], 1000000);
	}
}

struct seen {
	unsigned moments, before, after, unsure, ok;
};

static unsigned other = 2; /* of processes that live, besides 0 */

/* Locks of rows. A process that dies between an insert's lock and its write set leaves a lock on a
 * block without a version, to which no entry leads: that is a sweep's (M7). */
static nam_status
count_locked_row(void *arg, const struct rec_block *img, net_addr at)
{
	uint64_t *locked = arg;
	(void)at;
	*locked += rec_is_locked(img) && img->ident != 0;
	return NAM_OK;
}

/* All of the transaction or none of it, as it was answered; and all processes go on. */
static void
judge(struct fixture *fix, const struct victim *v, struct seen *seen)
{
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	int64_t v0 = value_of(fix, t, &fix->tab[0], 0);
	bool after = v0 == NEW;
	assert_int_equal(v0, after ? NEW : OLD);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 1), after ? NEW : OLD);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 2), after ? -1 : OLD);
	assert_int_equal(value_of(fix, t, &fix->tab[0], 100), after ? NEW : -1);
	txn_abort(t);
	if (v->st == NAM_OK)
		assert_true(after);
	else if (v->st != NAM_UNSURE)
		assert_false(after);
	seen->moments++;
	seen->before += !after;
	seen->after += after;
	seen->unsure += v->st == NAM_UNSURE;
	seen->ok += v->st == NAM_OK;

	/* Every row can be written by others, at any level, and new snapshots show it. */
	for (unsigned round = 0; round < 2; round++) {
		unsigned p = round == 0 ? 0 : other, q = other - p;
		enum txn_iso iso = round == 0 ? TXN_READ_COMMITTED : TXN_SERIALIZABLE;
		nam_status st = NAM_CONFLICT;
		for (unsigned tries = 0; tries < 5 && st != NAM_OK; tries++) {
			t = begin(fix, p, iso);
			struct txn_limits l = { .lock_wait_ns = LEASE_NS };
			txn_set_limits(t, &l);
			st = set(fix, t, &fix->tab[p], 0, 30 + (int)round);
			if (st == NAM_OK)
				st = set(fix, t, &fix->tab[p], 1, 30 + (int)round);
			nam_status there =
			    st == NAM_OK ? set(fix, t, &fix->tab[p], 2, 30 + (int)round) : NAM_OK;
			if (there == NAM_ABSENT)
				there = insert(t, &fix->tab[p], 2, 30 + (int)round);
			st = st == NAM_OK ? there : st;
			there = st == NAM_OK ? set(fix, t, &fix->tab[p], 100, 30 + (int)round) : NAM_OK;
			if (there == NAM_ABSENT)
				there = insert(t, &fix->tab[p], 100, 30 + (int)round);
			st = st == NAM_OK ? there : st;
			txn_set_cluster_visible(t, true);
			if (st == NAM_OK)
				st = txn_commit(t, NULL);
			else
				txn_abort(t);
		}
		assert_int_equal(st, NAM_OK);
		t = begin(fix, q, TXN_REPEATABLE_READ);
		uint64_t locked = 0;
		for (unsigned k = 0; k < 4; k++)
			assert_int_equal(value_of(fix, t, &fix->tab[q], k == 3 ? 100 : k), 30 + round);
		assert_int_equal(txn_blocks_each(t, fix->tab[q].view, count_locked_row, &locked), NAM_OK);
		assert_int_equal(locked, 0);
		txn_abort(t);
	}
	nam_arena_reset(&fix->a);
}

static struct seen all_seen;
static unsigned stop_level;
static uint64_t stop_at; /* ns after the victim began */
static uint64_t took;

static void
stopped(struct fixture *fix)
{
	fill(fix, 4, OLD);
	warm_up(fix);
	struct victim v;
	start_victim(fix, &v, stop_level);
	while (!v.started)
		nam_co_yield();
	net_sleep(fix->w[0], stop_at);
	struct nam_err err;
	assert_int_equal(net_fence_process(fix->w[0], net_identity(fix->net[DEAD]), 0, &err), NAM_OK);
	wait_ended(fix, &v);
	took = v.st == NAM_OK ? v.took : 0;
	wait_recovered(fix);
	judge(fix, &v, &all_seen);
}

static void
test_stopped_at_every_moment(void **state)
{
	(void)state;
	for (unsigned i = 0; i < LEVELS; i++) {
		stop_level = i;
		memset(&all_seen, 0, sizeof all_seen);
		uint64_t seed = 1;
		took = 0;
		/* Also so far behind its end that no verb of it is out any more. */
		for (stop_at = 0; took == 0 || stop_at < took + 20000;
		     stop_at += nam_rounds(300, 900, 1300), seed++)
			run(3, 2 + (unsigned)seed % 3, seed, stopped);
		printf("level %u: %u moments: %u undone, %u finished; answered: %u committed, %u unknown\n",
		    i, all_seen.moments, all_seen.before, all_seen.after, all_seen.ok, all_seen.unsure);
		/* It was stopped before, in the middle and behind: each of the outcomes
		 * occurred. */
		assert_true(
		    all_seen.before > nam_rounds(20, 20, 8) && all_seen.after > nam_rounds(20, 10, 3));
		assert_true(all_seen.unsure > 0 && all_seen.ok > 0);
	}
}

/* ---- crashes: at each verb of the transaction, and of the recovery behind it ---- */

static struct {
	unsigned level;
	bool finish;          /* commit returns when all its steps are done */
	uint64_t verb;        /* of the victim, from its transaction's first on, 0 = none */
	unsigned second;      /* the process that also crashes, 0 = none */
	uint64_t second_verb; /* of the second process, counted from when the first had been dead
			       * for most of a lease */
	/* measured by the run */
	uint64_t verbs;     /* the victim's transaction had so many */
	unsigned recoverer; /* the process that recovered it */
	uint64_t his_verbs; /* verbs of the second process, from when second_verb counts until it
			     * had recovered the victim */
	bool doubtful;      /* it was undone, though its commit line was valid */
	unsigned cleared;   /* runs in which the index had to be as before the transaction */
	unsigned both;      /* runs in which the second process died as well */
} crash;

static void
count_entry(void *arg, net_addr block)
{
	(void)block;
	++*(unsigned *)arg;
}

/* If the attempt was recovered by its write set, the collector soon removes its rests: no deletion
 * and no undone insert stays in the index. Keys 0, 1, 3, 50, and either 2 or 100. */
static void
entries(struct fixture *fix)
{
	uint64_t recovered = 0;
	for (unsigned p = 0; p < fix->procs; p++) {
		struct txn_stats st;
		txn_worker_stats(fix->tw[p], &st);
		recovered += st.finished + st.undone;
	}
	if (recovered == 0)
		return;
	net_sleep(fix->w[0], 60000000);
	unsigned n = 0;
	assert_int_equal(idx_walk(fix->w[0], fix->tab[0].view->index, count_entry, &n), NAM_OK);
	assert_int_equal(n, 5);
	crash.cleared++;
}

static void
crashed(struct fixture *fix)
{
	fill(fix, 4, OLD);
	warm_up(fix);
	struct victim v;
	uint64_t first = net_sim_verbs(fix->net[DEAD]);
	if (crash.verb != 0)
		net_sim_crash_at(fix->sim, fix->net[DEAD], first + crash.verb);
	v = (struct victim){ .fix = fix, .level = crash.level, .behind = !crash.finish };
	assert_non_null(nam_co_start(net_worker_sched(fix->w[DEAD]), victim_main, &v, 128 << 10));
	net_sleep(fix->w[0], 400000);
	crash.verbs = net_sim_verbs(fix->net[DEAD]) - first;
	if (crash.verb == 0) {
		assert_true(v.ended);
		assert_int_equal(v.st, NAM_OK);
		return;
	}
	assert_true(net_sim_crashed(fix->net[DEAD]));
	net_sleep(fix->w[0], LEASE_NS - 10000000);
	uint64_t from[PROCS];
	for (unsigned p = 0; p < fix->procs; p++)
		from[p] = net_sim_verbs(fix->net[p]);
	if (crash.second != 0)
		net_sim_crash_at(fix->sim, fix->net[crash.second], from[crash.second] + crash.second_verb);
	wait_recovered(fix);
	if (crash.second == 0) {
		for (unsigned p = 0; p < fix->procs; p++) {
			struct txn_stats st;
			txn_worker_stats(fix->tw[p], &st);
			if (st.recovered > 0) {
				crash.recoverer = p;
				crash.his_verbs = net_sim_verbs(fix->net[p]) - from[p];
				crash.doubtful = st.doubtful > 0;
			}
		}
	}
	/* The second process's slot is recovered as well, or was idle and is free: else the
	 * snapshots below hang. */
	if (crash.second != 0 && net_sim_crashed(fix->net[crash.second])) {
		net_sleep(fix->w[0], 2 * (uint64_t)LEASE_NS);
		crash.both++;
	}
	if (!v.ended)
		v.st = NAM_UNSURE;
	if (crash.second == 0)
		entries(fix);
	judge(fix, &v, &all_seen);
	for (unsigned p = 1; p < fix->procs; p++)
		if (net_sim_crashed(fix->net[p]))
			net_sim_bury(fix->sim, fix->net[p]);
	wait_ended(fix, &v); /* the coroutines of the fenced process still write into v */
}

static void
test_crash_at_every_verb(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * LEVELS; i++) {
		memset(&crash, 0, sizeof crash);
		memset(&all_seen, 0, sizeof all_seen);
		crash.level = i % LEVELS;
		crash.finish = i < LEVELS;
		unsigned slots = 2 + i % 3;
		run(3, slots, 7, crashed);
		uint64_t last = crash.verbs;
		assert_true(last > 10 && last < 1000);
		for (uint64_t seed = 7; seed < 7 + nam_rounds(4, 1, 1); seed++)
			for (crash.verb = 1; crash.verb <= last - 2; crash.verb += nam_rounds(1, 1, 2))
				run(3, slots, seed, crashed);
		printf("level %u: %u crashes: %u undone, %u finished; answered before: %u; nothing left "
		       "behind: %u\n",
		    i % 3, all_seen.moments, all_seen.before, all_seen.after, all_seen.ok, crash.cleared);
		assert_true(crash.cleared > nam_rounds(20, 8, 4));
		assert_true(
		    all_seen.before > nam_rounds(40, 20, 10) && all_seen.after > nam_rounds(10, 4, 1));
	}
}

/*
 * It dies in its third step: some of its words have left the lock, some have not. Others lock the
 * free rows at once and write them, again and again, so that the dead process's version there is
 * overwritten when it is recovered. READ COMMITTED can: its snapshot is from before.
 */
enum { WRITERS = 6 };

static bool
overwrite(struct fixture *fix, unsigned p, struct txn *t, uint64_t key, int64_t to, int64_t *was)
{
	struct txn_row row;
	struct row r, put = mk(key, to);
	struct txn_limits l = { .lock_wait_ns = 100000 };
	txn_set_limits(t, &l);
	assert_int_equal(get(fix, t, &fix->tab[p], key, &row, &r), NAM_OK);
	nam_status st = txn_lock(t, &fix->tab[p], &row);
	if (st != NAM_OK) {
		assert_int_equal(st, NAM_TIMEOUT);
		txn_abort(t);
		return false;
	}
	memcpy(was, (const char *)row.bytes + offsetof(struct row, value), sizeof *was);
	assert_int_equal(txn_update(t, &fix->tab[p], &row, &put, sizeof put), NAM_OK);
	assert_int_equal(txn_commit(t, NULL), NAM_OK);
	return true;
}

static unsigned half_done; /* runs in which one row was free and the other was not */

static void
overwritten(struct fixture *fix)
{
	static const unsigned proc[WRITERS] = { 0, 2, 3, 0, 2, 3 };
	struct txn *t[WRITERS];
	struct victim v = { .fix = fix, .level = crash.level, .behind = true };
	fill(fix, 4, OLD);
	warm_up(fix);
	for (unsigned i = 0; i < WRITERS; i++)
		t[i] = begin(fix, proc[i], TXN_READ_COMMITTED);
	net_sim_crash_at(fix->sim, fix->net[DEAD], net_sim_verbs(fix->net[DEAD]) + crash.verb);
	assert_non_null(nam_co_start(net_worker_sched(fix->w[DEAD]), victim_main, &v, 128 << 10));
	while (!net_sim_crashed(fix->net[DEAD]))
		net_sleep(fix->w[0], 100000);
	int64_t is[2], was, last[2] = { 0, 0 };
	bool wrote[2] = { false, false };
	for (unsigned i = 0; i < WRITERS; i++) {
		unsigned key = i / 3;
		bool got = overwrite(fix, proc[i], t[i], key, 40 + i, &was);
		if (got && !wrote[key])
			is[key] = was;
		else if (got)
			assert_int_equal(was, last[key]);
		wrote[key] = wrote[key] || got;
		last[key] = got ? 40 + (int)i : last[key];
	}
	half_done += wrote[0] != wrote[1];
	wait_recovered(fix);
	net_sleep(fix->w[0], 30000000); /* its hole is filled, and all commits are seen by all
					 * processes */
	struct txn *r = begin(fix, 0, TXN_REPEATABLE_READ);
	for (uint64_t k = 0; k < 2; k++) {
		int64_t now = value_of(fix, r, &fix->tab[0], k);
		if (wrote[k])
			assert_int_equal(now, last[k]);
		else
			is[k] = now;
	}
	bool after = is[0] == NEW;
	assert_int_equal(is[0], after ? NEW : OLD);
	assert_int_equal(is[1], after ? NEW : OLD);
	assert_int_equal(value_of(fix, r, &fix->tab[0], 2), after ? -1 : OLD);
	assert_int_equal(value_of(fix, r, &fix->tab[0], 100), after ? NEW : -1);
	txn_abort(r);
	all_seen.moments++;
	all_seen.after += after;
	all_seen.before += !after;
	net_sim_bury(fix->sim, fix->net[DEAD]);
	wait_ended(fix, &v);
}

static void
test_half_installed(void **state)
{
	(void)state;
	memset(&all_seen, 0, sizeof all_seen);
	half_done = 0;
	for (unsigned i = 0; i < 2; i++) {
		memset(&crash, 0, sizeof crash);
		crash.level = i == 0 ? TXN_READ_COMMITTED : TXN_REPEATABLE_READ;
		run(4, 2, 7, crashed);
		uint64_t last = crash.verbs;
		for (uint64_t seed = 7; seed < 7 + nam_rounds(20, 6, 3); seed++)
			for (crash.verb = last - 14; crash.verb <= last - 1; crash.verb++)
				run(4, 2, seed, overwritten);
	}
	printf("%u crashes, in %u one row was free and the other not: %u undone, %u finished\n",
	    all_seen.moments, half_done, all_seen.before, all_seen.after);
	assert_true(half_done > nam_rounds(20, 15, 7) && all_seen.after > nam_rounds(50, 30, 15));
}

/*
 * The recoverer of the dead process also dies, at each verb of its seals, of the recovery, of
 * freeing the slot. The third process reaches the same outcome.
 */
static void
test_crash_of_recoverers(void **state)
{
	(void)state;
	memset(&all_seen, 0, sizeof all_seen);
	unsigned both = 0, twice = 0, doubtful = 0;
	fixture_bystander = true; /* the process that judges has to live */
	for (unsigned slots = 2; slots <= 3; slots++) {
		memset(&crash, 0, sizeof crash);
		crash.level = slots == 2 ? TXN_READ_COMMITTED : TXN_REPEATABLE_READ;
		run(4, slots, 7, crashed);
		uint64_t last = crash.verbs;
		for (uint64_t seed = 7; seed < 7 + nam_rounds(10, 5, 3); seed++)
			for (uint64_t verb = last / 3 + slots % 2; verb <= last - 2; verb++) {
				other = 2;
				crash.verb = verb;
				crash.second = 0;
				run(4, slots, seed, crashed);
				assert_int_not_equal(crash.recoverer, 0);
				/* Those that look decided unless they are looked at twice, and some
				 * of the others. */
				if (crash.doubtful ? doubtful >= nam_rounds(12, 3, 1)
						   : seed > 7 || verb % nam_rounds(3, 8, 16) != 0)
					continue;
				doubtful += crash.doubtful;
				crash.second = crash.recoverer;
				other = 5 - crash.second;
				uint64_t his = crash.his_verbs;
				crash.both = 0;
				for (crash.second_verb = his < 60 ? 1 : his - 60; crash.second_verb <= his;
				     crash.second_verb += nam_rounds(1, 1, 2))
					run(4, slots, seed, crashed);
				both += crash.both;
				twice++;
			}
	}
	other = 2;
	fixture_bystander = false;
	printf("%u victims, %u of them doubtful, %u recoverers died, too: %u undone, %u finished\n", twice,
	    doubtful, both, all_seen.before, all_seen.after);
	assert_true(twice > nam_rounds(10, 4, 1) && both > nam_rounds(400, 100, 20) &&
		    doubtful >= nam_rounds(4, 1, 1));
	assert_true(all_seen.before > nam_rounds(100, 50, 20) && all_seen.after > nam_rounds(100, 20, 5));
}

/* ---- an empty node takes the place of one, and the process dies in the middle of a commit ---- */

enum { LOST_ROWS = 12 };
static struct {
	unsigned node;
	uint64_t verb;
	/* how often */
	unsigned with_rows, before, after, stuck;
} loss;

static void
loser_main(void *arg)
{
	struct victim *v = arg;
	struct fixture *fix = v->fix;
	struct txn *t;
	if ((v->st = txn_begin(fix->tw[DEAD], TXN_REPEATABLE_READ, &t)) != NAM_OK) {
		v->ended = true;
		return;
	}
	for (uint64_t k = 0; k < LOST_ROWS && v->st == NAM_OK; k++)
		v->st = set(fix, t, &fix->tab[DEAD], k, NEW);
	if (v->st == NAM_OK)
		v->st = txn_commit(t, NULL);
	else
		txn_abort(t);
	v->ended = true;
}

/* The rows of nodes that live are all as before or all as after it, and none stays locked. */
static void
lost(struct fixture *fix)
{
	struct victim v = { .fix = fix };
	struct txn_row row[LOST_ROWS];
	struct row r;
	fill(fix, LOST_ROWS, OLD);
	warm_up(fix);
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ);
	bool with_row = false;
	for (uint64_t k = 0; k < LOST_ROWS; k++) {
		assert_int_equal(get(fix, t, &fix->tab[0], k, &row[k], &r), NAM_OK);
		with_row = with_row || net_region_of(row[k].at) == loss.node;
	}
	txn_abort(t);
	assert_non_null(nam_co_start(net_worker_sched(fix->w[DEAD]), loser_main, &v, 128 << 10));
	net_sim_crash_at(fix->sim, fix->net[DEAD], net_sim_verbs(fix->net[DEAD]) + loss.verb);
	while (!net_sim_crashed(fix->net[DEAD]) && !v.ended)
		net_sleep(fix->w[0], 10000);
	net_sim_replace_node(fix->sim, loss.node);
	if (!net_sim_crashed(fix->net[DEAD]))
		net_sim_crash(fix->sim, fix->net[DEAD]);
	unsigned done = 0;
	for (unsigned i = 0; i < 60 && done == 0; i++) {
		net_sleep(fix->w[0], LEASE_NS / 4);
		for (unsigned p = 0; p < fix->procs; p++) {
			struct txn_stats st;
			txn_worker_stats(fix->tw[p], &st);
			done += p != DEAD && st.recovered > 0;
		}
	}
	net_sim_bury(fix->sim, fix->net[DEAD]);
	if (done == 0) { /* its intents lay there as well */
		loss.stuck++;
		return;
	}
	unsigned is_old = 0, is_new = 0;
	for (uint64_t k = 0; k < LOST_ROWS; k++) {
		uint64_t word;
		if (net_region_of(row[k].at) == loss.node)
			continue;
		assert_int_equal(net_read1(fix->w[0], row[k].at, &word, sizeof word, NULL), NAM_OK);
		bool locked = (word & REC_LOCK) != 0;
		is_old += locked || word == row[k].cid;
		is_new += !locked && word != row[k].cid;
	}
	assert_true(is_old == 0 || is_new == 0);
	loss.with_rows += with_row;
	loss.before += is_old > 0;
	loss.after += is_new > 0;
}

static void
test_lost_node(void **state)
{
	(void)state;
	for (loss.node = 2; loss.node <= 3; loss.node++)
		for (loss.verb = 4; loss.verb < 120; loss.verb += nam_rounds(8, 8, 16))
			run(3, 2 + (unsigned)loss.verb % 3, loss.verb, lost);
	printf("a node lost: %u undone, %u finished, %u with rows there, %u with intents there\n",
	    loss.before, loss.after, loss.with_rows, loss.stuck);
	assert_true(loss.before > 0 && loss.after > 0 && loss.with_rows > 0);
}

int
main(void)
{
	nam_log_level_set(NAM_LOG_ERROR); /* lost intents are told, once for each run */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost_node),
		cmocka_unit_test(test_stopped_at_every_moment),
		cmocka_unit_test(test_crash_at_every_verb),
		cmocka_unit_test(test_half_installed),
		cmocka_unit_test(test_crash_of_recoverers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
