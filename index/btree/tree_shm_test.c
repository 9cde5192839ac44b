/*
 * tree_shm_test.c -- the tree over real shared memory, and over tcp, with real threads: clients
 * that insert, remove, look up and scan while a storage node's shards change the leaves they READ.
 * With IDX_BENCH=1 its speed.
 */
#include <base/clock.h>
#include <base/hash.h>
#include <index/btree/btree_plug.h>
#include <index/btree/btree_walk.h>
#include <net/exec.h>
#include <net/local.h>
#include <net/region_format.h>
#include <storage_node/sn.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Without models, unless the test that includes this says otherwise. */
#ifndef SHM_WAYS
#define SHM_HOST_OPEN(region, base, size)      idx_btree_host_open(region, base, size, NULL)
#define SHM_TREE_OPEN(anchor, words, mem, way) idx_btree_open(anchor, words, mem, way, NULL)
#define SHM_WAYS                                                                                             \
	{                                                                                                    \
		{ .cache = IDX_TREE_NONE }, { .cache = IDX_TREE_INNER },                                     \
		{                                                                                            \
			.cache = IDX_TREE_INNER, .levels = 1                                                 \
		}                                                                                            \
	}
#define SHM_BENCH                                                                                            \
	{                                                                                                    \
		IDX_TREE_INNER, IDX_TREE_NONE, IDX_TREE_MESSAGES                                             \
	}
#endif

enum { VIEWS = 3, THREADS = 4, COROUTINES = 2, KEYS = 12000, EQUAL = 20000, SLICE = 8, PARTS = 3 };

static struct sn_region *region;
static struct idx_tree_host *host;
static struct net *net;
static net_addr anchor;
static struct idx_tree *view[VIEWS];
static atomic_uint errors, ready;
static unsigned key_count;

#define EXPECT(x)                                                                                            \
	do {                                                                                                 \
		if (!(x)) {                                                                                  \
			if (atomic_fetch_add(&errors, 1) == 0)                                               \
				printf("line %d: %s\n", __LINE__, #x);                                       \
		}                                                                                            \
	} while (0)

static nam_status
take(void *arg, struct net_worker *w, unsigned at, net_addr *out)
{
	(void)arg;
	return net_extent_take(w, at, 1, out);
}
static const struct idx_tree_memory memory = { .take = take };

/* For a fabric that has connections. */
static struct sn_server *server;
static pthread_t server_thread;
static const char secret[] = "a secret of sixteen bytes at least";

static void *
serve(void *arg)
{
	struct nam_err err;
	(void)sn_server_run(arg, &err);
	return NULL;
}

static void
place_open(uint64_t size, enum net_kind kind)
{
	struct nam_err err;
	struct net_service service[IDX_TREE_SERVICES];
	const struct sn_region_config rc = {
		.id = 1, .size = size, .numa = -1, .embedded = kind == NET_AUTO
	};
	if (sn_region_open(&region, &rc, &err) != NAM_OK)
		fail_msg("%s", err.text);
	host = SHM_HOST_OPEN(1, sn_local(region)->base, sn_region_size(region));
	assert_non_null(host);
	idx_tree_host_services(host, service);
	const struct sn_serve_config vc = {
		.service = service, .services = IDX_TREE_SERVICES, .shards = 2, .unpinned = true
	};
	if (sn_region_serve(region, &vc, &err) != NAM_OK)
		fail_msg("%s", err.text);
	struct net_local *list[] = { sn_local(region), NULL };
	struct net_config nc = { .local = list };
	server = NULL;
	if (kind != NET_AUTO) {
		const struct sn_server_config sc = { .listen = "127.0.0.1:0",
			.secret = secret,
			.secret_len = sizeof secret - 1,
			.rdma = "off",
			.loops = 1 };
		if (sn_server_open(&server, region, &sc, &err) != NAM_OK)
			fail_msg("%s", err.text);
		assert_int_equal(pthread_create(&server_thread, NULL, serve, server), 0);
		nc = (struct net_config){ .storage = sn_server_address(server),
			.fabric = kind,
			.secret = secret,
			.secret_len = sizeof secret - 1 };
	}
	if (net_open(&net, &nc, &err) != NAM_OK)
		fail_msg("%s", err.text);
	atomic_store(&errors, 0);
	atomic_store(&ready, 0);
}

static void
server_end(void)
{
	if (server == NULL)
		return;
	sn_server_stop(server);
	pthread_join(server_thread, NULL);
	sn_server_close(server);
	server = NULL;
}

static void
place_close(void)
{
	net_close(net);
	server_end();
	sn_region_close(region);
	idx_tree_host_close(host);
}

static void
run(struct net_worker *w, void (*fn)(void *), void *arg)
{
	nam_co_start(net_worker_sched(w), fn, arg, 256 << 10);
	net_worker_run(w, NULL, NULL);
}

static uint64_t
key_of(uint32_t number)
{
	return number * UINT64_C(1000003);
}

static void
create(void *arg)
{
	static const struct idx_tree_part part[PARTS] = { { .region = 1 },
		{ .region = 1, .low = { KEYS / 3 * UINT64_C(1000003) } },
		{ .region = 1, .low = { KEYS / 2 * UINT64_C(1000003) } } };
	const struct idx_tree_config cfg = { .words = 1, .parts = PARTS, .part = part };
	EXPECT(net_extent_take(arg, 1, 1, &anchor) == NAM_OK);
	EXPECT(idx_tree_create(arg, anchor, &cfg, &memory) == NAM_OK);
}

/* ---- threads --------------------------------------------------------------------------- */

struct thread {
	pthread_t id;
	struct net_worker *w;
	struct idx_tree *t;
	unsigned number;
};
struct co {
	struct thread *t;
	unsigned who;
};
enum { WHOS = THREADS * COROUTINES };

/* Each coroutine has every WHOS-th key, inserts it with two values, removes one of them, and looks
 * at what it has done and at keys that only others touch. */
static void
change_and_look(void *arg)
{
	struct co *c = arg;
	struct idx_tree *t = c->t->t;
	struct net_worker *w = c->t->w;
	for (uint32_t i = c->who; i < key_count; i += WHOS) {
		uint64_t key = key_of(i), back[SLICE];
		struct idx_tree_entry e[2] = { { .tree = t, .key = &key, .value = i + 1 },
			{ .tree = t, .key = &key, .value = KEYS + i + 1 } };
		EXPECT(idx_tree_insert(w, e, 2, NULL) == NAM_OK);
		EXPECT(e[0].status == NAM_OK && e[1].status == NAM_OK);
		EXPECT(idx_tree_remove(w, &e[1], 1, NULL) == NAM_OK && e[1].status == NAM_OK);
		/* Its own, from the beginning until now. */
		struct idx_tree_probe p[SLICE];
		for (unsigned k = 0; k < SLICE; k++) {
			uint32_t mine = (uint32_t)((i / WHOS) * (uint64_t)k / (SLICE - 1)) * WHOS + c->who;
			back[k] = key_of(mine);
			p[k] = (struct idx_tree_probe){ .tree = t, .key = &back[k] };
		}
		EXPECT(idx_tree_lookup(w, p, SLICE, NULL) == NAM_OK);
		for (unsigned k = 0; k < SLICE; k++)
			EXPECT(
			    p[k].status == NAM_OK && p[k].hits == 1 && p[k].hit[0] == back[k] / 1000003 + 1);
		uint64_t absent = key + 1;
		struct idx_tree_probe q = { .tree = t, .key = &absent };
		EXPECT(idx_tree_lookup(w, &q, 1, NULL) == NAM_OK && q.status == NAM_ABSENT);
		if (i % 64 != c->who)
			continue;
		/* A scan shows all of its own keys in the range, once, in order. */
		uint64_t low = key_of(i > 2000 ? i - 2000 : 0), keys[50], values[50], last = 0;
		unsigned n, mine = 0, expect = 0;
		for (uint32_t k = c->who; k <= i; k += WHOS)
			expect += key_of(k) >= low;
		const struct idx_tree_range range = { .low = &low, .high = &key };
		struct idx_tree_scan *s = idx_tree_scan_open(t, &range, NULL);
		EXPECT(s != NULL);
		while (idx_tree_scan_next(w, s, keys, values, 50, &n, NULL) == NAM_OK && n > 0)
			for (unsigned k = 0; k < n; k++) {
				EXPECT(keys[k] >= low && keys[k] <= key && keys[k] >= last);
				last = keys[k];
				mine += keys[k] / 1000003 % WHOS == c->who && values[k] <= KEYS;
			}
		EXPECT(n == 0 && mine == expect);
		idx_tree_scan_close(s);
	}
}

static void *
run_thread(void *arg)
{
	struct thread *t = arg;
	struct co co[COROUTINES];
	atomic_fetch_add(&ready, 1);
	while (atomic_load(&ready) < THREADS)
		sched_yield();
	for (unsigned i = 0; i < COROUTINES; i++) {
		co[i] = (struct co){ t, t->number * COROUTINES + i };
		nam_co_start(net_worker_sched(t->w), change_and_look, &co[i], 256 << 10);
	}
	net_worker_run(t->w, NULL, NULL);
	return NULL;
}

/* 20,000 entries of one key, put in by many messages; found by a scan in both directions, and all
 * removed. */
static void
equal_keys(void *arg)
{
	struct idx_tree *t = view[1];
	static struct idx_tree_entry e[EQUAL];
	uint64_t key = key_of(77) + 5, values[100];
	for (uint32_t i = 0; i < EQUAL; i++)
		e[i] = (struct idx_tree_entry){
			.tree = t, .key = &key, .value = (i * UINT64_C(7919)) % EQUAL + 1000000
		};
	EXPECT(idx_tree_insert(arg, e, EQUAL, NULL) == NAM_OK);
	for (uint32_t i = 0; i < EQUAL; i++)
		EXPECT(e[i].status == NAM_OK);
	struct idx_tree_probe p = { .tree = t, .key = &key };
	EXPECT(idx_tree_lookup(arg, &p, 1, NULL) == NAM_OK && p.status == NAM_FULL);
	for (int descending = 0; descending < 2; descending++) {
		const struct idx_tree_range range = { .low = &key, .high = &key, .descending = descending };
		struct idx_tree_scan *s = idx_tree_scan_open(t, &range, NULL);
		uint64_t next = descending ? 1000000 + EQUAL - 1 : 1000000;
		unsigned n, all = 0;
		while (idx_tree_scan_next(arg, s, NULL, values, 100, &n, NULL) == NAM_OK && n > 0)
			for (unsigned k = 0; k < n; k++, all++)
				EXPECT(values[k] == (descending ? next-- : next++));
		EXPECT(all == EQUAL);
		idx_tree_scan_close(s);
	}
	EXPECT(idx_tree_remove(arg, e, EQUAL, NULL) == NAM_OK);
	for (uint32_t i = 0; i < EQUAL; i++)
		EXPECT(e[i].status == NAM_OK);
	EXPECT(idx_tree_lookup(arg, &p, 1, NULL) == NAM_OK && p.status == NAM_ABSENT);
}

/* The storage node is gone: each call says so. */
static void
after_the_end(void *arg)
{
	for (unsigned i = 0; i < VIEWS; i++) {
		uint64_t key = key_of(3), values[4];
		unsigned n;
		struct idx_tree_probe p = { .tree = view[i], .key = &key };
		struct idx_tree_entry e = { .tree = view[i], .key = &key, .value = 5 };
		const struct idx_tree_range all = { .low = NULL };
		struct idx_tree_scan *s = idx_tree_scan_open(view[i], &all, NULL);
		EXPECT(idx_tree_lookup(arg, &p, 1, NULL) == NAM_GONE && p.status == NAM_GONE);
		EXPECT(idx_tree_insert(arg, &e, 1, NULL) == NAM_GONE && e.status == NAM_GONE);
		EXPECT(idx_tree_scan_next(arg, s, NULL, values, 4, &n, NULL) == NAM_GONE);
		idx_tree_scan_close(s);
	}
}

static void
threads_on(enum net_kind kind, unsigned keys)
{
	struct nam_err err;
	struct net_worker *w;
	struct thread t[THREADS];
	static const struct idx_tree_options ways[VIEWS] = SHM_WAYS;
	place_open(128 << 20, kind);
	key_count = keys;
	assert_int_equal(net_worker_open(net, &w, &err), NAM_OK);
	run(w, create, w);
	for (unsigned i = 0; i < VIEWS; i++)
		view[i] = SHM_TREE_OPEN(anchor, 1, &memory, &ways[i]);
	for (unsigned i = 0; i < THREADS; i++) {
		t[i] = (struct thread){ .t = view[i % VIEWS], .number = i };
		assert_int_equal(net_worker_open(net, &t[i].w, &err), NAM_OK);
		assert_int_equal(pthread_create(&t[i].id, NULL, run_thread, &t[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(t[i].id, NULL);
		net_worker_close(t[i].w);
	}
	if (kind == NET_AUTO)
		run(w, equal_keys, w);
	assert_int_equal(errors, 0);
	/* A copy: the shards still run. */
	const struct net_super *super = sn_local(region)->base;
	uint64_t used = super->bump;
	char *copy = aligned_alloc(4096, used);
	assert_non_null(copy);
	net_copy_out(copy, super, used);
	struct tree_walk walk = { .base = { [1] = copy }, .size = used, .words = 1 };
	tree_walk_all(&walk, anchor.bits);
	assert_string_equal(walk.broken, "");
	assert_int_equal(walk.entries, keys);
	if (kind != NET_AUTO) {
		server_end();
		run(w, after_the_end, w);
		assert_int_equal(errors, 0);
	}
	tree_walk_free(&walk);
	free(copy);
	uint64_t torn = 0, rights = 0;
	for (unsigned i = 0; i < VIEWS; i++) {
		struct idx_tree_counts c;
		idx_tree_counts(view[i], &c);
		torn += c.torn;
		rights += c.rights;
		idx_tree_close(view[i]);
	}
	printf("%u leaves; %u nodes were READ again because they were torn, %u right links followed\n",
	    (unsigned)walk.leaves, (unsigned)torn, (unsigned)rights);
	net_worker_close(w);
	place_close();
}

static void
threads(void **state)
{
	(void)state;
	threads_on(NET_AUTO, KEYS);
}

static void
threads_over_tcp(void **state)
{
	(void)state;
	threads_on(NET_TCP, KEYS / 8);
}

/* ---- speed (one thread) ---------------------------------------------------------------- */

enum { BENCH_KEYS = 4000000, BENCH_OPS = 2000000 };
static unsigned bench_batch;
static uint64_t bench_found;

static void
bench_fill(void *arg)
{
	enum { PART = 100000 };
	static uint64_t keys[PART], values[PART];
	for (uint32_t i = 0; i < BENCH_KEYS; i += PART) {
		uint64_t done;
		for (uint32_t k = 0; k < PART; k++) {
			keys[k] = key_of(i + k);
			values[k] = i + k + 1;
		}
		EXPECT(idx_tree_fill(arg, view[0], keys, values, PART, 70, &done, NULL) == NAM_OK);
		EXPECT(done == PART);
	}
}

static void
bench_lookup(void *arg)
{
	struct idx_tree_probe p[16];
	uint64_t key[16];
	struct nam_rng rng;
	nam_rng_init(&rng, 5);
	for (uint32_t n = 0; n < BENCH_OPS; n += bench_batch) {
		for (unsigned i = 0; i < bench_batch; i++) {
			key[i] = key_of((uint32_t)nam_rng_below(&rng, BENCH_KEYS));
			p[i] = (struct idx_tree_probe){ .tree = view[0], .key = &key[i] };
		}
		EXPECT(idx_tree_lookup(arg, p, bench_batch, NULL) == NAM_OK);
		for (unsigned i = 0; i < bench_batch; i++)
			bench_found += p[i].hits;
	}
}

static void
bench_insert(void *arg)
{
	struct idx_tree_entry e[16];
	uint64_t key[16];
	struct nam_rng rng;
	nam_rng_init(&rng, 6);
	for (uint32_t n = 0; n < BENCH_OPS / 8; n += 16) {
		for (unsigned i = 0; i < 16; i++) {
			key[i] =
			    key_of((uint32_t)nam_rng_below(&rng, BENCH_KEYS)) + 1 + nam_rng_below(&rng, 1000);
			e[i] = (struct idx_tree_entry){ .tree = view[0], .key = &key[i], .value = n + i + 1 };
		}
		EXPECT(idx_tree_insert(arg, e, 16, NULL) == NAM_OK);
	}
}

static double
timed(struct net_worker *w, void (*fn)(void *), double ops)
{
	uint64_t t = nam_clock_ns();
	run(w, fn, w);
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
	place_open(UINT64_C(1) << 30, NET_AUTO);
	assert_int_equal(net_worker_open(net, &w, &err), NAM_OK);
	run(w, create, w);
	static const enum idx_tree_cache ways[] = SHM_BENCH;
	for (unsigned i = 0; i < 3; i++) {
		const struct idx_tree_options o = { .cache = ways[i] };
		view[0] = SHM_TREE_OPEN(anchor, 1, &memory, &o);
		if (i == 0)
			printf("fill to %d: %.0f ns each\n", BENCH_KEYS, timed(w, bench_fill, BENCH_KEYS));
		bench_batch = 8;
		(void)timed(w, bench_lookup, BENCH_OPS); /* warms the cache */
		for (bench_batch = 1; bench_batch <= 16; bench_batch *= 4) {
			struct idx_tree_counts a, b;
			idx_tree_counts(view[0], &a);
			bench_found = 0;
			double ns = timed(w, bench_lookup, BENCH_OPS);
			idx_tree_counts(view[0], &b);
			printf("%s: lookup, %u at a time: %.0f ns each, %.3f found, %.3f leaf and "
			       "%.3f inner "
			       "READs, "
			       "%.1f MB of copies\n",
			    idx_tree_cache_name(ways[i]), bench_batch, ns, (double)bench_found / BENCH_OPS,
			    (double)(b.leaf_reads - a.leaf_reads) / BENCH_OPS,
			    (double)(b.inner_reads - a.inner_reads) / BENCH_OPS, (double)b.cache_bytes / 1e6);
		}
		if (i == 0)
			printf("insert, 16 at a time: %.0f ns each\n", timed(w, bench_insert, BENCH_OPS / 8));
		idx_tree_close(view[0]);
	}
	assert_int_equal(errors, 0);
	net_worker_close(w);
	place_close();
}

/* ---- ten million equal keys -------------------------------------------------------------- */

enum { MANY = 10000000, MANY_PART = 100000 };

static void
fill_equal(void *arg)
{
	static uint64_t keys[MANY_PART], values[MANY_PART];
	for (uint32_t i = 0; i < MANY; i += MANY_PART) {
		uint64_t done;
		for (uint32_t k = 0; k < MANY_PART; k++) {
			keys[k] = 7;
			values[k] = i + k + 1;
		}
		EXPECT(idx_tree_fill(arg, view[0], keys, values, MANY_PART, 100, &done, NULL) == NAM_OK);
		EXPECT(done == MANY_PART);
	}
}

static void
scan_equal(void *arg)
{
	static uint64_t values[10000];
	uint64_t key = 7, next = 1;
	unsigned n;
	const struct idx_tree_range range = { .low = &key, .high = &key };
	struct idx_tree_scan *s = idx_tree_scan_open(view[0], &range, NULL);
	while (idx_tree_scan_next(arg, s, NULL, values, 10000, &n, NULL) == NAM_OK && n > 0)
		for (unsigned i = 0; i < n; i++)
			EXPECT(values[i] == next++);
	EXPECT(next == MANY + 1);
	idx_tree_scan_close(s);
}

/* In the middle of them. */
static void
change_equal(void *arg)
{
	uint64_t key = 7;
	struct nam_rng rng;
	nam_rng_init(&rng, 9);
	for (unsigned i = 0; i < 2000; i++) {
		struct idx_tree_entry e = {
			.tree = view[0], .key = &key, .value = 1 + nam_rng_below(&rng, MANY)
		};
		struct idx_tree_probe p = { .tree = view[0], .key = &key };
		EXPECT(idx_tree_remove(arg, &e, 1, NULL) == NAM_OK && e.status == NAM_OK);
		EXPECT(idx_tree_insert(arg, &e, 1, NULL) == NAM_OK && e.status == NAM_OK);
		EXPECT(idx_tree_lookup(arg, &p, 1, NULL) == NAM_OK && p.status == NAM_FULL);
		e.unique = true;
		e.value = MANY + 1;
		EXPECT(idx_tree_insert(arg, &e, 1, NULL) == NAM_OK && e.status == NAM_FULL);
	}
}

static void
ten_million_equal_keys(void **state)
{
	(void)state;
	struct nam_err err;
	struct net_worker *w;
	if (getenv("IDX_BENCH") == NULL)
		skip();
	place_open(UINT64_C(1) << 30, NET_AUTO);
	assert_int_equal(net_worker_open(net, &w, &err), NAM_OK);
	run(w, create, w);
	const struct idx_tree_options o = { .cache = IDX_TREE_INNER };
	view[0] = idx_btree_open(anchor, 1, &memory, &o, NULL);
	printf("fill: %.0f ns each\n", timed(w, fill_equal, MANY));
	printf("scan: %.1f ns each\n", timed(w, scan_equal, MANY));
	printf("remove, insert, lookup, unique insert: %.0f ns together\n", timed(w, change_equal, 2000));
	(void)timed(w, scan_equal, MANY);
	assert_int_equal(errors, 0);
	idx_tree_close(view[0]);
	net_worker_close(w);
	place_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads),
		cmocka_unit_test(threads_over_tcp),
		cmocka_unit_test(bench),
		cmocka_unit_test(ten_million_equal_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
