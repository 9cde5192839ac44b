/* fault_test.c -- faults of processes, nodes and connections in the simulator, and the promises
 * that still hold. */
#include <net/region_format.h>
#include <net/sim/sim.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 3, PROCS = 3, WRITERS = 4, BLOCK = 512 };

struct proc {
	struct fixture *fix;
	struct net *net;
	struct net_worker *w;
};

struct fixture {
	struct net_sim *sim;
	struct proc p[PROCS];
	uint64_t posted, done, gone; /* FETCH_ADDs of process 0 */
	unsigned running;            /* coroutines of process 0 */
	unsigned moved;              /* seeds in which a verb executed after the fence had been
				      * asked for, ... */
	unsigned cut;                /* ... and in which a verb that was out never executed */
};

static void
fixture_open(struct fixture *l, const struct net_sim_config *cfg)
{
	assert_int_equal(net_sim_open(&l->sim, cfg), NAM_OK);
	for (unsigned i = 0; i < PROCS; i++) {
		l->p[i].fix = l;
		assert_int_equal(net_sim_attach(l->sim, &l->p[i].net), NAM_OK);
		assert_int_equal(net_worker_open(l->p[i].net, &l->p[i].w, NULL), NAM_OK);
	}
}

static void
fixture_close(struct fixture *l)
{
	for (unsigned i = 0; i < PROCS; i++) {
		net_worker_close(l->p[i].w);
		net_close(l->p[i].net);
	}
	net_sim_close(l->sim);
}

static uint64_t
word(struct fixture *l, unsigned region, uint64_t at)
{
	uint64_t v;
	memcpy(&v, (char *)net_sim_memory(l->sim, region) + NET_EXTENT + at, 8);
	return v;
}

/* Hash of all bytes that may change. */
static uint64_t
picture(struct fixture *l)
{
	uint64_t sum = 0;
	for (unsigned r = 1; r <= NODES; r++)
		for (uint64_t at = 0; at < BLOCK + 64; at += 8)
			sum = sum * 31 + word(l, r, at);
	return sum;
}

/* Adds to a word and overwrites a block on every node, until its verbs end with NAM_GONE. */
static void
writer(void *arg)
{
	struct fixture *l = ((struct proc *)arg)->fix;
	struct net_worker *w = ((struct proc *)arg)->w;
	uint64_t block[BLOCK / 8];
	nam_status st = NAM_OK;
	for (uint64_t round = 1; st == NAM_OK; round++) {
		struct net_op op[2 * NODES];
		struct net_batch b;
		for (unsigned i = 0; i < BLOCK / 8; i++)
			block[i] = round << 8 | l->running;
		net_batch_init(&b, w, op, 2 * NODES, NULL);
		for (unsigned r = 1; r <= NODES; r++) {
			net_faa(&b, net_at(r, NET_EXTENT), 1);
			net_write(&b, net_at(r, NET_EXTENT + 64), block, sizeof block);
		}
		l->posted += NODES;
		st = net_run(&b);
		for (unsigned i = 0; i < 2 * NODES; i += 2)
			if (op[i].status == NAM_OK)
				l->done++;
			else if (op[i].status == NAM_GONE)
				l->gone++;
		net_sleep(w, nam_rng_below(net_rng(w), 2000));
	}
	assert_int_equal(st, NAM_GONE);
	l->running--;
}

/* ---- fencing ------------------------------------------------------------------ */

static void
fencer(void *arg)
{
	struct proc *me = arg;
	struct fixture *l = me->fix;
	struct nam_err err;
	net_sleep(me->w, 20000 + nam_rng_below(net_rng(me->w), 20000));
	uint64_t before = picture(l);
	assert_int_equal(net_fence_process(me->w, net_identity(l->p[0].net), 0, &err), NAM_OK);
	/* From here on no verb of it executes: neither those that are out nor those that it tries
	 * to post. */
	uint64_t after = picture(l);
	l->moved += before != after;
	for (unsigned i = 0; i < 200; i++) {
		net_sleep(me->w, 1000);
		assert_int_equal(picture(l), after);
	}
	assert_int_equal(l->running, 0); /* its verbs have ended as well */
	assert_int_equal(net_fence_process(me->w, net_identity(l->p[0].net), 0, &err), NAM_OK);
	assert_int_equal(net_fence_process(me->w, net_identity(me->net), 0, &err), NAM_INVALID);
	assert_int_equal(net_fence_process(me->w, 0, 0, &err), NAM_INVALID);
	assert_int_equal(net_fence_process(me->w, UINT64_C(1) << NET_IDENTITY_BITS, 0, &err), NAM_INVALID);
	/* An identity that no process has. */
	assert_int_equal(net_fence_process(me->w, net_identity(me->net) ^ 1, 0, &err), NAM_OK);
}

static void
zombie(void *arg)
{
	struct proc *me = arg;
	struct fixture *l = me->fix;
	struct nam_err err;
	uint64_t seen, own;
	while (l->running > 0)
		net_sleep(me->w, 1000);
	for (unsigned r = 1; r <= NODES; r++) {
		assert_int_equal(net_faa1(me->w, net_at(r, NET_EXTENT), 1, &seen, NULL), NAM_GONE);
		assert_int_equal(net_worker_reconnect(me->w, r, &err), NAM_REFUSED);
		assert_int_equal(net_faa1(me->w, net_at(r, NET_EXTENT), 1, &seen, NULL), NAM_GONE);
	}
	assert_int_equal(net_fence_process(me->w, net_identity(l->p[1].net), 0, &err), NAM_REFUSED);
	struct net_worker *more;
	assert_int_equal(net_worker_open(me->net, &more, &err), NAM_REFUSED);
	/* A process with another identity may attach, and the others are untouched. */
	struct net *fresh;
	assert_int_equal(net_sim_attach(l->sim, &fresh), NAM_OK);
	assert_int_not_equal(net_identity(fresh), net_identity(me->net));
	assert_int_equal(net_worker_open(fresh, &more, &err), NAM_OK);
	own = word(l, 2, 8 * 200);
	assert_int_equal(net_faa1(more, net_at(2, NET_EXTENT + 8 * 200), 1, &seen, NULL), NAM_OK);
	assert_int_equal(seen, own);
	assert_int_equal(net_faa1(l->p[2].w, net_at(2, NET_EXTENT + 8 * 200), 1, &seen, NULL), NAM_OK);
	assert_int_equal(seen, own + 1);
	net_worker_close(more);
	net_close(fresh);
}

static void
fence(void **state)
{
	(void)state;
	struct fixture l = { 0 };
	for (uint64_t seed = 1; seed <= 200; seed++) {
		const struct net_sim_config cfg = { .seed = seed,
			.nodes = NODES,
			.region_bytes = 1 << 20,
			.jitter_ns = 3000,
			.tear_permille = 500,
			.reorder_permille = 200 };
		l.posted = l.done = l.gone = 0;
		l.running = WRITERS;
		fixture_open(&l, &cfg);
		assert_true(
		    net_identity(l.p[0].net) != 0 && net_identity(l.p[0].net) >> NET_IDENTITY_BITS == 0);
		for (unsigned i = 0; i < WRITERS; i++)
			nam_co_start(net_worker_sched(l.p[0].w), writer, &l.p[0], 0);
		nam_co_start(net_worker_sched(l.p[0].w), zombie, &l.p[0], 0);
		nam_co_start(net_worker_sched(l.p[1].w), fencer, &l.p[1], 0);
		assert_true(net_sim_run(l.sim, NULL, NULL));
		uint64_t landed = word(&l, 1, 0) + word(&l, 2, 0) + word(&l, 3, 0);
		assert_int_equal(l.done + l.gone, l.posted);
		assert_true(landed >= l.done);
		assert_true(landed <= l.posted);
		l.cut += landed < l.posted;
		fixture_close(&l);
	}
	/* The fence had work to do: verbs still executed for a while, and verbs were lost. */
	assert_true(l.moved > 100);
	assert_true(l.cut > 100);
}

/* ---- crashes --------------------------------------------------------------------- */

enum { STEPS = 6, STEP_VERBS = 4, BIG = 256 };

/* Steps of one process on one node: big WRITEs, small WRITEs in order, a FETCH_ADD. */
static void
stepper(void *arg)
{
	struct fixture *l = ((struct proc *)arg)->fix;
	struct net_worker *w = ((struct proc *)arg)->w;
	uint64_t big[BIG], number[STEPS + 1];
	for (uint64_t i = 1; i <= STEPS; i++) {
		struct net_op op[STEP_VERBS];
		struct net_batch b;
		number[i] = i;
		for (unsigned k = 0; k < BIG; k++)
			big[k] = i;
		net_batch_init(&b, w, op, STEP_VERBS, NULL);
		net_write(&b, net_at(1, NET_EXTENT), big, sizeof big);
		net_write(&b, net_at(1, NET_EXTENT + 8 * BIG), &number[i], 8);
		net_faa(&b, net_at(1, NET_EXTENT + 8 * BIG + 8), 1);
		net_write(&b, net_at(2, NET_EXTENT), &number[i], 8);
		if (net_run(&b) != NAM_OK)
			break;
		l->done++;
	}
	l->running--;
}

/* Time for all verbs that are still under way. */
static void
wait_long(void *arg)
{
	net_sleep(((struct proc *)arg)->w, 1000000);
}

/* Fences process 0 at once, and checks that no byte changes. */
static void
fence_0(void *arg)
{
	struct proc *me = arg;
	struct nam_err err;
	assert_int_equal(net_fence_process(me->w, net_identity(me->fix->p[0].net), 0, &err), NAM_OK);
	uint64_t before = picture(me->fix);
	net_sleep(me->w, 1000000);
	assert_int_equal(picture(me->fix), before);
}

/* Numbers in the big block, which is whole if they are equal. */
static void
block_range(struct fixture *l, uint64_t *least, uint64_t *most)
{
	*least = UINT64_MAX;
	*most = 0;
	for (unsigned k = 0; k < BIG; k++) {
		uint64_t v = word(l, 1, 8 * k);
		*least = v < *least ? v : *least;
		*most = v > *most ? v : *most;
	}
}

/* A process dies with each verb in turn. The memory then holds what one connection carried: a
 * beginning of the verbs posted. */
static void
crash_at_each_verb(void **state)
{
	(void)state;
	unsigned all = 0, none = 0, half = 0, late = 0;
	for (uint64_t seed = 1; seed <= 30; seed++)
		for (uint64_t n = 1; n <= STEPS * STEP_VERBS + 1; n++) {
			struct fixture l = { .running = 1 };
			const struct net_sim_config cfg = { .seed = seed * 1000 + n,
				.nodes = NODES,
				.region_bytes = 1 << 20,
				.tear_permille = 300 };
			fixture_open(&l, &cfg);
			net_sim_crash_at(l.sim, l.p[0].net, n);
			nam_co_start(net_worker_sched(l.p[0].w), stepper, &l.p[0], 0);
			assert_true(net_sim_run(l.sim, NULL, NULL));
			bool dies = n <= STEPS * STEP_VERBS;
			assert_int_equal(net_sim_crashed(l.p[0].net), dies);
			assert_int_equal(net_sim_verbs(l.p[0].net), dies ? n : STEPS * STEP_VERBS);
			assert_int_equal(l.running, dies);
			uint64_t step = (n - 1) / STEP_VERBS + 1; /* the one it dies in */
			assert_int_equal(l.done, step - 1);
			/* Let all verbs that are still under way execute or not. */
			struct net_sim_stats st;
			nam_co_start(net_worker_sched(l.p[1].w), wait_long, &l.p[1], 0);
			assert_true(net_sim_run(l.sim, NULL, NULL));
			net_sim_stats(l.sim, &st);
			late += st.late > 0;
			half += st.half_writes > 0;
			uint64_t least, most, then = word(&l, 1, 8 * BIG), adds = word(&l, 1, 8 * BIG + 8);
			block_range(&l, &least, &most);
			assert_in_range(most, step - 1, step);
			assert_in_range(least, step - 1, most);
			assert_in_range(then, step - 1, least); /* WRITE after WRITE */
			assert_in_range(adds, step - 1, then);  /* atomic after WRITE */
			assert_in_range(word(&l, 2, 0), step - 1, step);
			unsigned in = (unsigned)(n - 1) % STEP_VERBS; /* verbs of this step
								       * before the last one */
			if (!dies)
				assert_int_equal(adds, STEPS);
			else if (in == 0)
				assert_int_equal(then, step - 1);
			else if (in == 1)
				assert_int_equal(adds, step - 1);
			all += dies && in == 3 && adds == step && word(&l, 2, 0) == step;
			none += dies && in == 3 && most == step - 1 && word(&l, 2, 0) == step - 1;
			net_sim_bury(l.sim, l.p[0].net);
			assert_true(net_sim_run(l.sim, NULL, NULL));
			assert_int_equal(l.running, 0);     /* the dead process's coroutines came to
							     * their end, */
			assert_int_equal(l.done, step - 1); /* and no verb of them succeeded */
			fixture_close(&l);
		}
	assert_true(all > 10);
	assert_true(none > 10);
	assert_true(half > 10);
	assert_true(late > 100);
}

/* Dead processes are fenced like live ones, and stay so. */
static void
crash_and_fence(void **state)
{
	(void)state;
	unsigned stopped = 0;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct fixture l = { .running = 1 };
		const struct net_sim_config cfg = { .seed = seed,
			.nodes = NODES,
			.region_bytes = 1 << 20,
			.delay_permille = 700,
			.delay_ns = 100000,
			.sheltered = 0 };
		fixture_open(&l, &cfg);
		net_sim_crash_at(l.sim, l.p[0].net, 1 + seed % (STEPS * STEP_VERBS));
		nam_co_start(net_worker_sched(l.p[0].w), stepper, &l.p[0], 0);
		assert_true(net_sim_run(l.sim, NULL, NULL));
		nam_co_start(net_worker_sched(l.p[1].w), fence_0, &l.p[1], 0);
		assert_true(net_sim_run(l.sim, NULL, NULL));
		struct net_sim_stats st;
		net_sim_stats(l.sim, &st);
		stopped += st.fences > 0;
		net_sim_bury(l.sim, l.p[0].net);
		assert_true(net_sim_run(l.sim, NULL, NULL));
		fixture_close(&l);
	}
	assert_true(stopped > 20);
}

/* If a node's memory is mapped, fencing kills. */
static void
fence_kills(void **state)
{
	(void)state;
	struct fixture l = { .running = WRITERS };
	const struct net_sim_config cfg = {
		.seed = 5, .nodes = NODES, .region_bytes = 1 << 20, .fence_kills = true
	};
	fixture_open(&l, &cfg);
	for (unsigned i = 0; i < WRITERS; i++)
		nam_co_start(net_worker_sched(l.p[0].w), writer, &l.p[0], 0);
	nam_co_start(net_worker_sched(l.p[1].w), fence_0, &l.p[1], 0);
	assert_true(net_sim_run(l.sim, NULL, NULL));
	assert_true(net_sim_crashed(l.p[0].net));
	assert_int_equal(l.running, WRITERS);
	net_sim_bury(l.sim, l.p[0].net);
	assert_true(net_sim_run(l.sim, NULL, NULL));
	assert_int_equal(l.running, 0);
	fixture_close(&l);
}

/* ---- pauses ----------------------------------------------------------------------- */

static void
heartbeat(void *arg)
{
	struct proc *me = arg;
	uint64_t last = net_now_ns(me->w), beat = 0;
	for (unsigned i = 0; i < 100; i++) {
		net_sleep(me->w, 10000);
		beat++;
		assert_int_equal(net_write1(me->w, net_at(1, NET_EXTENT + 8 * 100), &beat, 8, NULL), NAM_OK);
		uint64_t now = net_now_ns(me->w), gap = now - last;
		if (gap > me->fix->gone)
			me->fix->gone = gap;
		last = now;
	}
}

static void
slow_verbs(void *arg)
{
	struct proc *me = arg;
	struct net_op op[2];
	struct net_batch b;
	uint64_t one = 1, from = net_now_ns(me->w), read;
	net_batch_init(&b, me->w, op, 2, NULL);
	net_write(&b, net_at(2, NET_EXTENT), &one, 8);
	net_read(&b, net_at(2, NET_EXTENT), &read, 8)->flags = NET_FENCE;
	net_post(&b);
	net_sim_freeze(me->fix->sim, me->net, 500000);
	assert_int_equal(net_wait(&b), NAM_OK);
	assert_int_equal(read, 1);
	me->fix->done = net_now_ns(me->w) - from;
}

/* A process that stalls, and one that looks at it meanwhile. */
static void
bystander(void *arg)
{
	struct proc *me = arg;
	uint64_t v = 0, beat;
	assert_int_equal(net_read1(me->w, net_at(1, NET_EXTENT + 8 * 100), &beat, 8, NULL), NAM_OK);
	net_sleep(me->w, 100000);
	/* Verbs it had posted went on, also behind a fence flag; its thread that beats did not. */
	assert_int_equal(net_read1(me->w, net_at(2, NET_EXTENT), &v, 8, NULL), NAM_OK);
	assert_int_equal(v, 1);
	assert_int_equal(net_read1(me->w, net_at(1, NET_EXTENT + 8 * 100), &v, 8, NULL), NAM_OK);
	assert_in_range(v - beat, 0, 1);
	me->fix->running--;
}

static void
pauses(void **state)
{
	(void)state;
	struct fixture l = { .running = 1 };
	struct net_sim_stats st;
	const struct net_sim_config cfg = { .seed = 9, .nodes = NODES, .region_bytes = 1 << 20 };
	fixture_open(&l, &cfg);
	struct proc second = { .fix = &l, .net = l.p[0].net };
	assert_int_equal(net_worker_open(second.net, &second.w, NULL), NAM_OK);
	nam_co_start(net_worker_sched(second.w), heartbeat, &second, 0);
	nam_co_start(net_worker_sched(l.p[0].w), slow_verbs, &l.p[0], 0);
	nam_co_start(net_worker_sched(l.p[1].w), bystander, &l.p[1], 0);
	assert_true(net_sim_run(l.sim, NULL, NULL));
	assert_int_equal(l.running, 0);
	assert_in_range(l.done, 500000, 510000);
	assert_in_range(l.gone, 480000, 530000); /* the longest gap between two beats */
	net_sim_stats(l.sim, &st);
	assert_int_equal(st.pauses, 1);
	net_worker_close(second.w);
	fixture_close(&l);
}

/* ---- connections, partitions, nodes ----------------------------------------------- */

/* Adds to a word of its own and reconnects after each broken connection. */
static void
stubborn(void *arg)
{
	struct proc *me = arg;
	struct fixture *l = me->fix;
	unsigned number = (unsigned)(me - l->p);
	for (unsigned i = 0; i < 300; i++) {
		struct net_op op[NODES];
		struct net_batch b;
		net_batch_init(&b, me->w, op, NODES, NULL);
		for (unsigned r = 1; r <= NODES; r++)
			net_faa(&b, net_at(r, NET_EXTENT + 8 * number), 1);
		l->posted += NODES;
		(void)net_run(&b);
		for (unsigned r = 1; r <= NODES; r++) {
			if (op[r - 1].status == NAM_OK) {
				l->done++;
				continue;
			}
			assert_int_equal(op[r - 1].status, NAM_GONE);
			l->gone++;
			struct nam_err err;
			nam_status st;
			while ((st = net_worker_reconnect(me->w, r, &err)) == NAM_TIMEOUT)
				net_sleep(me->w, 20000);
			assert_int_equal(st, NAM_OK);
			/* No verb of the old connection executes any more: two looks agree. */
			uint64_t a, c;
			if (net_read1(me->w, net_at(r, NET_EXTENT + 8 * number), &a, 8, NULL) != NAM_OK)
				continue;
			net_sleep(me->w, 200000);
			if (net_read1(me->w, net_at(r, NET_EXTENT + 8 * number), &c, 8, NULL) != NAM_OK)
				continue;
			assert_int_equal(a, c);
		}
	}
	l->running--;
}

static uint64_t
weather(uint64_t seed, struct net_sim_stats *st)
{
	struct fixture l = { .running = PROCS };
	const struct net_sim_config cfg = { .seed = seed,
		.nodes = NODES,
		.region_bytes = 1 << 20,
		.tear_permille = 200,
		.reorder_permille = 200,
		.delay_permille = 50,
		.lose_ppm = 10000,
		.pause_ppm = 3000,
		.part_ppm = 3000,
		.pause_ns = 200000,
		.part_ns = 200000 };
	fixture_open(&l, &cfg);
	for (unsigned i = 0; i < PROCS; i++)
		nam_co_start(net_worker_sched(l.p[i].w), stubborn, &l.p[i], 0);
	assert_true(net_sim_run(l.sim, NULL, NULL));
	assert_int_equal(l.running, 0);
	uint64_t landed = 0;
	for (unsigned r = 1; r <= NODES; r++)
		for (unsigned i = 0; i < PROCS; i++)
			landed += word(&l, r, 8 * i);
	assert_int_equal(l.done + l.gone, l.posted);
	assert_true(landed > l.done); /* some were executed without an answer */
	assert_true(landed < l.posted);
	net_sim_stats(l.sim, st);
	uint64_t hash = net_sim_trace_hash(l.sim);
	fixture_close(&l);
	return hash;
}

/* All faults by dice; the same seed gives the same run. */
static void
by_dice(void **state)
{
	(void)state;
	struct net_sim_stats a, b;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		uint64_t hash = weather(seed, &a);
		assert_int_equal(hash, weather(seed, &b));
		assert_memory_equal(&a, &b, sizeof a);
		assert_int_not_equal(hash, weather(seed + 100, &b));
		assert_true(a.delays > 0 && a.breaks > 0 && a.pauses > 0 && a.parts > 0 && a.reconnects > 0);
	}
}

static void
parted(void *arg)
{
	struct proc *me = arg;
	struct fixture *l = me->fix;
	struct nam_err err;
	uint64_t seen;
	net_sim_part(l->sim, me->net, 2, UINT64_MAX);
	assert_int_equal(net_faa1(me->w, net_at(2, NET_EXTENT), 1, &seen, NULL), NAM_GONE);
	assert_int_equal(net_worker_reconnect(me->w, 2, &err), NAM_TIMEOUT);
	/* No other process is affected, and no other node. */
	assert_int_equal(net_faa1(me->w, net_at(1, NET_EXTENT), 1, &seen, NULL), NAM_OK);
	assert_int_equal(net_faa1(l->p[1].w, net_at(2, NET_EXTENT + 8), 1, &seen, NULL), NAM_OK);
	/* A fence that does not reach a node fails. Repeated, it holds. */
	assert_int_equal(net_fence_process(me->w, net_identity(l->p[2].net), 0, &err), NAM_GONE);
	net_sim_heal(l->sim, me->net, 2);
	assert_int_equal(net_worker_reconnect(me->w, 2, &err), NAM_OK);
	assert_int_equal(net_faa1(me->w, net_at(2, NET_EXTENT), 1, &seen, NULL), NAM_OK);
	assert_in_range(seen, 0, 1);
	assert_int_equal(net_fence_process(me->w, net_identity(l->p[2].net), 0, &err), NAM_OK);
	assert_int_equal(net_faa1(l->p[2].w, net_at(2, NET_EXTENT), 1, &seen, NULL), NAM_GONE);
	/* For a limited time. */
	net_sim_part(l->sim, me->net, 3, 300000);
	net_sim_part(l->sim, me->net, 3, 900000);
	assert_int_equal(net_faa1(me->w, net_at(3, NET_EXTENT), 1, &seen, NULL), NAM_GONE);
	uint64_t until = net_now_ns(me->w) + 900000;
	while (net_worker_reconnect(me->w, 3, &err) != NAM_OK)
		net_sleep(me->w, 10000);
	assert_true(net_now_ns(me->w) <= until + 10000);
	/* A connection that broke alone can be replaced at once. */
	net_sim_break(l->sim, me->net, 3);
	assert_int_equal(net_faa1(me->w, net_at(3, NET_EXTENT), 0, &seen, NULL), NAM_GONE);
	assert_int_equal(net_worker_reconnect(me->w, 3, &err), NAM_OK);
	assert_int_equal(net_faa1(me->w, net_at(3, NET_EXTENT), 0, &seen, NULL), NAM_OK);
	/* A node that is gone is gone for all. */
	net_sim_lose_node(l->sim, 3);
	assert_int_equal(net_faa1(me->w, net_at(3, NET_EXTENT), 1, &seen, NULL), NAM_GONE);
	assert_int_equal(net_faa1(l->p[1].w, net_at(3, NET_EXTENT), 1, &seen, NULL), NAM_GONE);
	assert_int_equal(net_worker_reconnect(l->p[1].w, 3, &err), NAM_GONE);
	assert_int_equal(net_fence_process(me->w, net_identity(l->p[2].net), 0, &err), NAM_GONE);
	assert_int_equal(net_faa1(l->p[1].w, net_at(1, NET_EXTENT), 1, &seen, NULL), NAM_OK);
}

static void
partitions(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct fixture l = { 0 };
		struct net_sim_stats st;
		const struct net_sim_config cfg = { .seed = seed, .nodes = NODES, .region_bytes = 1 << 20 };
		fixture_open(&l, &cfg);
		nam_co_start(net_worker_sched(l.p[0].w), parted, &l.p[0], 0);
		assert_true(net_sim_run(l.sim, NULL, NULL));
		net_sim_stats(l.sim, &st);
		assert_int_equal(st.parts, 3);
		assert_int_equal(st.nodes_lost, 1);
		assert_int_equal(st.breaks, 1);
		fixture_close(&l);
	}
}

/* A storage node begins again: its memory is empty, those that knew the old one do not reach it,
 * and what was under way to it never lands. */
static void
outlives(void *arg)
{
	struct proc *me = arg;
	struct fixture *l = me->fix;
	struct nam_err err;
	uint64_t seen;
	assert_int_equal(net_faa1(me->w, net_at(2, NET_EXTENT), 7, &seen, NULL), NAM_OK);
	const uint64_t was = net_node_of(me->net, 2)->incarnation;
	/* One dies with verbs under way. */
	nam_co_start(net_worker_sched(l->p[2].w), writer, &l->p[2], 0);
	net_sleep(me->w, 20000);
	net_sim_carry(l->p[2].net, NET_SIM_CARRY_ALL);
	net_sim_crash(l->sim, l->p[2].net);
	net_sim_restart_node(l->sim, 2);
	assert_int_equal(net_faa1(me->w, net_at(2, NET_EXTENT), 1, &seen, NULL), NAM_GONE);
	assert_int_equal(net_worker_reconnect(me->w, 2, &err), NAM_GONE);
	const struct net_set replaced = net_replaced(me->net);
	assert_true(net_set_has(&replaced, 2));
	assert_int_equal(net_faa1(me->w, net_at(1, NET_EXTENT + BLOCK), 1, &seen, NULL), NAM_OK);
	net_sleep(me->w, 1000000);
	for (uint64_t at = 0; at < BLOCK + 64; at += 8)
		assert_int_equal(word(l, 2, at), 0);
	/* A process that comes now knows the new one. */
	struct net *n;
	assert_int_equal(net_sim_attach(l->sim, &n), NAM_OK);
	assert_int_not_equal(net_node_of(n, 2)->incarnation, was);
	assert_int_equal(net_node_of(n, 1)->incarnation, net_node_of(me->net, 1)->incarnation);
	net_close(n);
	assert_int_equal(net_fence_process(me->w, net_identity(l->p[2].net), 0, &err), NAM_OK);
	net_sim_bury(l->sim, l->p[2].net);
}

static void
restarts(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct fixture l = { 0 };
		const struct net_sim_config cfg = { .seed = seed, .nodes = NODES, .region_bytes = 1 << 20 };
		fixture_open(&l, &cfg);
		nam_co_start(net_worker_sched(l.p[0].w), outlives, &l.p[0], 0);
		assert_true(net_sim_run(l.sim, NULL, NULL));
		fixture_close(&l);
	}
}

/* ---- rings ------------------------------------------------------------------------ */

enum { CALLS = 30 };

static uint64_t served;

static nam_status
count_calls(void *arg, struct net_request *rq)
{
	(void)arg;
	served++;
	return net_echo(NULL, rq);
}

static const struct net_service echo = { .id = NET_SERVICE_ECHO, .name = "echo", .fn = count_calls };

static void
caller(void *arg)
{
	struct proc *me = arg;
	struct fixture *l = me->fix;
	nam_status st = NAM_OK;
	for (uint64_t i = 1; st == NAM_OK && i <= CALLS; i++) {
		uint64_t question[20] = { i, ~i }, answer[20] = { 0 };
		uint32_t got = 0;
		st = net_call(
		    me->w, 1, NET_SERVICE_ECHO, question, sizeof question, answer, sizeof answer, &got);
		if (st != NAM_OK)
			break;
		assert_int_equal(got, sizeof question);
		assert_memory_equal(question, answer, sizeof question);
		l->done++;
	}
	assert_true(st == NAM_OK || st == NAM_GONE);
	l->running--;
}

static void
rings_open(struct fixture *l, uint64_t seed)
{
	const struct net_sim_config cfg = {
		.seed = seed, .nodes = NODES, .region_bytes = 4 << 20, .tear_permille = 300
	};
	served = 0;
	fixture_open(l, &cfg);
	assert_int_equal(net_sim_serve(l->sim, 1, &echo, 1), NAM_OK);
	nam_co_start(net_worker_sched(l->p[0].w), caller, &l->p[0], 0);
}

/* A caller dies with each verb, or stalls; its calls are served at most once, and not after it is
 * fenced. */
static void
callers(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 2 * CALLS; n++) {
		struct fixture l = { .running = 1 };
		rings_open(&l, n);
		net_sim_crash_at(l.sim, l.p[0].net, n);
		assert_true(net_sim_run(l.sim, NULL, NULL));
		uint64_t done = l.done;
		nam_co_start(net_worker_sched(l.p[1].w), fence_0, &l.p[1], 0);
		assert_true(net_sim_run(l.sim, NULL, NULL));
		uint64_t until_fence = served;
		assert_in_range(served, done, done + 1);
		/* Other callers are served as before. */
		l.running++;
		nam_co_start(net_worker_sched(l.p[2].w), caller, &l.p[2], 0);
		assert_true(net_sim_run(l.sim, NULL, NULL));
		assert_int_equal(l.done, done + CALLS);
		assert_int_equal(served, until_fence + CALLS);
		net_sim_bury(l.sim, l.p[0].net);
		assert_true(net_sim_run(l.sim, NULL, NULL));
		assert_int_equal(l.running, 0);
		assert_int_equal(served, until_fence + CALLS);
		fixture_close(&l);
	}
	struct fixture l = { .running = 1 };
	rings_open(&l, 7);
	for (unsigned i = 0; i < 20; i++) {
		net_sim_freeze(l.sim, l.p[0].net, 300000);
		nam_co_start(net_worker_sched(l.p[1].w), wait_long, &l.p[1], 0);
		assert_true(net_sim_run(l.sim, NULL, NULL));
	}
	assert_int_equal(l.running, 0);
	assert_int_equal(l.done, CALLS);
	fixture_close(&l);
}

static void
hears(void *arg)
{
	struct proc *p = arg;
	uint64_t who = net_identity(p->fix->p[0].net);
	/* Without hints a death is not known by itself, and nothing can be told of a process that
	 * lives. */
	net_sim_tell(p->fix->sim, p->fix->p[0].net, 1000);
	net_sleep(p->w, 1000000);
	assert_int_equal(net_heard_of(p->w, who), NET_UNHEARD);
	net_sim_crash(p->fix->sim, p->fix->p[0].net);
	net_sleep(p->w, 50000000);
	assert_int_equal(net_heard_of(p->w, who), NET_UNHEARD);
	net_sim_tell(p->fix->sim, p->fix->p[0].net, 1000000);
	net_sleep(p->w, 999000);
	assert_int_equal(net_heard_of(p->w, who), NET_UNHEARD);
	net_sleep(p->w, 2000);
	assert_int_equal(net_heard_of(p->w, who), NET_DEAD);
	p->fix->done++;
}

/* A death that is told on request comes when it was said to come. */
static void
tells(void **state)
{
	(void)state;
	const struct net_sim_config cfg = { .seed = 1, .nodes = NODES, .region_bytes = 1 << 20 };
	struct fixture l = { 0 };
	fixture_open(&l, &cfg);
	assert_non_null(nam_co_start(net_worker_sched(l.p[1].w), hears, &l.p[1], 0));
	assert_true(net_sim_run(l.sim, NULL, NULL));
	assert_int_equal(l.done, 1);
	net_sim_bury(l.sim, l.p[0].net);
	fixture_close(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fence),
		cmocka_unit_test(crash_at_each_verb),
		cmocka_unit_test(crash_and_fence),
		cmocka_unit_test(fence_kills),
		cmocka_unit_test(tells),
		cmocka_unit_test(pauses),
		cmocka_unit_test(by_dice),
		cmocka_unit_test(partitions),
		cmocka_unit_test(restarts),
		cmocka_unit_test(callers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
