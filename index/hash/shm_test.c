/*
 * shm_test.c -- the hash index over real shared memory, with real threads; with IDX_BENCH=1 its
 * speed.
 *
 * Two views of the index (as two processes would have), each shared by several threads.
 */
#include <base/clock.h>
#include <base/hash.h>
#include <index/hash/hash_format.h>
#include <index/index.h>
#include <net/local.h>
#include <net/region_format.h>

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { VIEWS = 2, THREADS = 2, COROUTINES = 4, KEYS = 20000, SLICE = 16 };

static struct net_local local;
static struct net *net;
static net_addr anchor;
static struct idx_hash *view[VIEWS];
static unsigned keys = KEYS;

/* The judge: one counter per key, of inserts that succeeded. */
static atomic_uint winners[KEYS];
static atomic_uint errors, ready, stored;

static nam_status
take(void *arg, struct net_worker *w, net_addr *out)
{
	(void)arg;
	return net_extent_take(w, 1, 1, out);
}
static const struct idx_memory memory = { .take = take };

static uint64_t
hash_of(uint32_t key)
{
	return nam_mix(key + 1);
}
/* A block for each key and inserter; the block tells which inserter made it. */
static net_addr
block_of(uint32_t key, unsigned who)
{
	return net_at(1, ((uint64_t)key * 64 + who + 1) * 64);
}
static uint32_t
key_of(net_addr block)
{
	return (uint32_t)((net_offset_of(block) / 64 - 1) / 64);
}

static void
region_open(uint64_t size)
{
	local.size = size;
	local.base =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(local.base != MAP_FAILED);
	madvise(local.base, size, MADV_HUGEPAGE);
	struct net_super *s = local.base;
	s->magic = NET_MAGIC;
	s->version = NET_VERSION;
	s->region = 1;
	s->layout = net_layout();
	s->incarnation = 1;
	s->size = size;
	s->bump = NET_EXTENT;
	struct net_local *list[] = { &local, NULL };
	struct net_config cfg = { .local = list };
	struct nam_err err;
	if (net_open(&net, &cfg, &err) != NAM_OK)
		fail_msg("%s", err.text);
}

static void
create(void *arg)
{
	struct net_worker *w = arg;
	if (net_extent_take(w, 1, 1, &anchor) != NAM_OK)
		atomic_fetch_add(&errors, 1);
}

struct thread {
	pthread_t id;
	struct net_worker *w;
	unsigned view, number;
	void (*fn)(void *);
};
struct co {
	struct thread *t;
	unsigned who;
};

/* Inserts all keys, in the same order as all other coroutines; now and then looks for one that is
 * surely in. */
static void
insert_all(void *arg)
{
	struct co *c = arg;
	struct idx_hash *ix = view[c->t->view];
	for (uint32_t key = 0; key < keys; key++) {
		struct idx_probe p = { .ix = ix, .hash = hash_of(key) };
		bool exists = false;
		if (idx_lookup(c->t->w, &p, 1, NULL) != NAM_OK)
			atomic_fetch_add(&errors, 1);
		for (;;) {
			for (unsigned h = 0; h < p.hits; h++)
				exists |= key_of(p.hit[h]) == key;
			if (exists)
				break;
			p.block = block_of(key, c->who);
			if (idx_insert(c->t->w, &p, 1, NULL) != NAM_OK)
				atomic_fetch_add(&errors, 1);
			if (p.status == NAM_DUPLICATE)
				continue;
			if (p.status == NAM_OK)
				atomic_fetch_add(&winners[key], 1);
			else
				atomic_fetch_add(&errors, 1);
			break;
		}
		/* Every key up to here is in, by any inserter. */
		struct idx_probe q[SLICE];
		for (unsigned i = 0; i < SLICE; i++)
			q[i] = (struct idx_probe){ .ix = ix,
				.hash = hash_of((uint32_t)(key * (uint64_t)i / SLICE)) };
		if (key % 8 != 0)
			continue;
		if (idx_lookup(c->t->w, q, SLICE, NULL) != NAM_OK)
			atomic_fetch_add(&errors, 1);
		for (unsigned i = 0; i < SLICE; i++) {
			bool found = false;
			for (unsigned h = 0; h < q[i].hits; h++)
				found |= key_of(q[i].hit[h]) == (uint32_t)(key * (uint64_t)i / SLICE);
			if (!found)
				atomic_fetch_add(&errors, 1);
		}
	}
}

static void *
run_thread(void *arg)
{
	struct thread *t = arg;
	struct co co[COROUTINES];
	atomic_fetch_add(&ready, 1);
	while (atomic_load(&ready) < VIEWS * THREADS)
		;
	for (unsigned i = 0; i < COROUTINES; i++) {
		co[i] = (struct co){ t, t->number * COROUTINES + i };
		nam_co_start(net_worker_sched(t->w), t->fn, &co[i], 0);
	}
	net_worker_run(t->w, NULL, NULL);
	return NULL;
}

static void
count_entry(void *arg, net_addr block)
{
	unsigned *n = arg;
	if (key_of(block) < KEYS)
		n[key_of(block)]++;
}

static unsigned entries[KEYS];
static struct idx_shape shape;

static void
walk(void *arg)
{
	if (idx_walk(arg, view[0], count_entry, entries) != NAM_OK ||
	    idx_hash_shape(arg, view[0], &shape) != NAM_OK)
		atomic_fetch_add(&errors, 1);
}

static void
threads_and_one_entry_each(void **state)
{
	(void)state;
	struct nam_err err;
	struct net_worker *w;
	struct thread t[VIEWS * THREADS];
	region_open(64 << 20);
	assert_int_equal(net_worker_open(net, &w, &err), NAM_OK);
	nam_co_start(net_worker_sched(w), create, w, 0);
	net_worker_run(w, NULL, NULL);
	for (unsigned i = 0; i < VIEWS; i++)
		view[i] = idx_hash_open(anchor, &memory);
	for (unsigned i = 0; i < VIEWS * THREADS; i++) {
		t[i] = (struct thread){ .view = i % VIEWS, .number = i, .fn = insert_all };
		assert_int_equal(net_worker_open(net, &t[i].w, &err), NAM_OK);
		assert_int_equal(pthread_create(&t[i].id, NULL, run_thread, &t[i]), 0);
	}
	for (unsigned i = 0; i < VIEWS * THREADS; i++) {
		pthread_join(t[i].id, NULL);
		net_worker_close(t[i].w);
	}
	nam_co_start(net_worker_sched(w), walk, w, 0);
	net_worker_run(w, NULL, NULL);
	assert_int_equal(errors, 0);
	for (unsigned k = 0; k < KEYS; k++) {
		assert_int_equal(winners[k], 1);
		assert_int_equal(entries[k], 1);
	}
	assert_int_equal(shape.live, KEYS);
	for (unsigned i = 0; i < VIEWS; i++)
		idx_hash_close(view[i]);
	net_worker_close(w);
	net_close(net);
	munmap(local.base, local.size);
}

/* ---- a READ that mixed ---------------------------------------------------------------- */

static struct idx_bucket *
bucket_of(uint32_t key)
{
	const struct idx_anchor *a = (const void *)((const char *)local.base + net_offset_of(anchor));
	uint64_t hash = hash_of(key), depth = idx_root_depth(a->root);
	const uint64_t *dir =
	    (const void *)((const char *)local.base + net_offset_of((net_addr){ idx_root_dir(a->root) }));
	net_addr table = { idx_word_table(dir[hash & ((UINT64_C(1) << depth) - 1)]) };
	return (struct idx_bucket *)(void *)((char *)local.base + net_offset_of(table)) + idx_home(hash);
}

static void
two_keys(void *arg)
{
	struct idx_probe in = { .ix = view[0], .hash = hash_of(1), .block = block_of(1, 0) };
	if (idx_lookup(arg, &in, 1, NULL) != NAM_OK || idx_insert(arg, &in, 1, NULL) != NAM_OK)
		atomic_fetch_add(&errors, 1);
	struct idx_probe q = { .ix = view[0], .hash = hash_of(1) };
	struct idx_bucket *b = bucket_of(1);
	for (int mixed = 0; mixed < 2; mixed++) {
		/* Its zero slots from before it was full, its header from when its table was
		 * split. */
		b->head |= mixed ? IDX_MOVED : 0;
		if (idx_lookup(arg, &q, 1, NULL) != NAM_OK || q.status != NAM_OK || q.hits != 1)
			atomic_fetch_add(&errors, 1);
	}
	b->head &= ~IDX_MOVED;
}

static void
old_slots_under_a_new_header(void **state)
{
	(void)state;
	struct nam_err err;
	struct net_worker *w;
	region_open(64 << 20);
	assert_int_equal(net_worker_open(net, &w, &err), NAM_OK);
	nam_co_start(net_worker_sched(w), create, w, 0);
	net_worker_run(w, NULL, NULL);
	view[0] = idx_hash_open(anchor, &memory);
	nam_co_start(net_worker_sched(w), two_keys, w, 0);
	net_worker_run(w, NULL, NULL);
	assert_int_equal(errors, 0);
	idx_hash_close(view[0]);
	net_worker_close(w);
	net_close(net);
	munmap(local.base, local.size);
}

/* ---- speed (one thread) ----------------------------------------------------------- */

enum { BENCH_KEYS = 2000000, BENCH_OPS = 3000000 };

static void
bench_insert(void *arg)
{
	struct idx_probe p[SLICE];
	for (uint32_t k = 0; k < BENCH_KEYS; k += SLICE) {
		for (unsigned i = 0; i < SLICE; i++)
			p[i] = (struct idx_probe){ .ix = view[0], .hash = hash_of(k + i) };
		if (idx_lookup(arg, p, SLICE, NULL) != NAM_OK)
			atomic_fetch_add(&errors, 1);
		for (unsigned i = 0; i < SLICE; i++)
			p[i].block = block_of(k + i, 0);
		if (idx_insert(arg, p, SLICE, NULL) != NAM_OK)
			atomic_fetch_add(&errors, 1);
		for (unsigned i = 0; i < SLICE; i++)
			atomic_fetch_add(&stored, p[i].status == NAM_OK);
	}
}

static unsigned bench_batch;
static uint64_t bench_hits;

static void
bench_lookup(void *arg)
{
	struct idx_probe p[SLICE];
	struct nam_rng rng;
	nam_rng_init(&rng, 5);
	for (uint32_t n = 0; n < BENCH_OPS; n += bench_batch) {
		for (unsigned i = 0; i < bench_batch; i++) {
			p[i].ix = view[0];
			p[i].hash = hash_of((uint32_t)nam_rng_below(&rng, BENCH_KEYS));
		}
		if (idx_lookup(arg, p, bench_batch, NULL) != NAM_OK)
			atomic_fetch_add(&errors, 1);
		for (unsigned i = 0; i < bench_batch; i++)
			bench_hits += p[i].hits;
	}
}

static double
timed(struct net_worker *w, void (*fn)(void *), double ops)
{
	uint64_t t = nam_clock_ns();
	nam_co_start(net_worker_sched(w), fn, w, 0);
	net_worker_run(w, NULL, NULL);
	return (double)(nam_clock_ns() - t) / ops;
}

static void
bench(void **state)
{
	(void)state;
	struct nam_err err;
	struct net_worker *w;
	if (getenv("IDX_BENCH") == NULL)
		skip();
	region_open(UINT64_C(1) << 30);
	assert_int_equal(net_worker_open(net, &w, &err), NAM_OK);
	nam_co_start(net_worker_sched(w), create, w, 0);
	net_worker_run(w, NULL, NULL);
	view[0] = idx_hash_open(anchor, &memory);
	printf("insert, %d at a time, growing to %d: %.0f ns each\n", SLICE, BENCH_KEYS,
	    timed(w, bench_insert, BENCH_KEYS));
	for (bench_batch = 1; bench_batch <= SLICE; bench_batch *= 4) {
		bench_hits = 0;
		double ns = timed(w, bench_lookup, BENCH_OPS);
		printf("lookup, %u at a time: %.0f ns each, %.4f candidates\n", bench_batch, ns,
		    (double)bench_hits / BENCH_OPS);
	}
	nam_co_start(net_worker_sched(w), walk, w, 0);
	net_worker_run(w, NULL, NULL);
	printf("%" PRIu64 " tables, depth %u, load %.2f, %.1f bytes per entry, %u stored\n", shape.tables,
	    shape.depth, (double)shape.live / (double)shape.slots,
	    (double)shape.tables * 16384 / (double)shape.live, stored);
	assert_int_equal(errors, 0);
	idx_hash_close(view[0]);
	net_worker_close(w);
	net_close(net);
	munmap(local.base, local.size);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_and_one_entry_each),
		cmocka_unit_test(old_slots_under_a_new_header),
		cmocka_unit_test(bench),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
