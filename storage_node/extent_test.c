/* extent_test.c -- several workers take and give extents at once, over shm and tcp: no extent ever
 * has two owners. */
#include <base/rng.h>
#include <net/local.h>
#include <net/net.h>
#include <net/region_format.h>
#include <storage_node/sn.h>
#include <storage_node/test_node.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SIZE = 4 << 20, EXTENTS = SIZE / NET_EXTENT, THREADS = 3, CO = 4, ROUNDS = 300, HELD = 4 };

static struct test_node node;
static atomic_uint owner[EXTENTS]; /* its holder, 0 = none */
static atomic_uint wrongs, taken, full;
static atomic_uint next_id;

static void
walker(void *arg)
{
	struct net_worker *w = arg;
	unsigned id = atomic_fetch_add(&next_id, 1) + 1;
	net_addr held[HELD];
	unsigned n = 0;
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (n < HELD && nam_rng_below(net_rng(w), 2) == 0) {
			nam_status st = net_extent_take(w, 1, 1, &held[n]);
			if (st == NAM_FULL) {
				atomic_fetch_add(&full, 1);
				continue;
			}
			unsigned number = (unsigned)(net_offset_of(held[n]) / NET_EXTENT), nobody = 0;
			if (st != NAM_OK || number == 0 || number >= EXTENTS ||
			    !atomic_compare_exchange_strong(&owner[number], &nobody, id)) {
				atomic_fetch_add(&wrongs, 1);
				return;
			}
			/* N1: zeros, though it has been written to before */
			uint64_t words[64];
			if (net_read1(w, held[n], words, sizeof words, NULL) != NAM_OK)
				atomic_fetch_add(&wrongs, 1);
			for (unsigned k = 0; k < 64; k++)
				if (words[k] != 0) {
					atomic_fetch_add(&wrongs, 1);
					break;
				}
			memset(words, (int)id, sizeof words);
			if (net_write1(w, held[n], words, sizeof words, NULL) != NAM_OK)
				atomic_fetch_add(&wrongs, 1);
			n++;
			atomic_fetch_add(&taken, 1);
		} else if (n > 0) {
			unsigned number = (unsigned)(net_offset_of(held[--n]) / NET_EXTENT);
			atomic_store(&owner[number], 0);
			if (net_extent_give(w, held[n]) != NAM_OK)
				atomic_fetch_add(&wrongs, 1);
		}
	}
	while (n > 0) {
		atomic_store(&owner[net_offset_of(held[--n]) / NET_EXTENT], 0);
		if (net_extent_give(w, held[n]) != NAM_OK)
			atomic_fetch_add(&wrongs, 1);
	}
}

static void *
thread_main(void *arg)
{
	struct nam_err err;
	struct net *net;
	struct net_worker *w;
	struct net_config nc = { .storage = sn_server_address(node.server), .fabric = *(enum net_kind *)arg };
	if (net_open(&net, &nc, &err) != NAM_OK || net_worker_open(net, &w, &err) != NAM_OK) {
		atomic_fetch_add(&wrongs, 1);
		return NULL;
	}
	for (unsigned i = 0; i < CO; i++)
		nam_co_start(net_worker_sched(w), walker, w, 0);
	net_worker_run(w, NULL, NULL);
	net_worker_close(w);
	net_close(net);
	return NULL;
}

static void
many_hands(void **state)
{
	(void)state;
	enum net_kind kind[THREADS] = { NET_SHM, NET_TCP, NET_SHM };
	pthread_t t[THREADS];
	test_node_start(&node, 1, SIZE, NULL);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, thread_main, &kind[i]), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(atomic_load(&wrongs), 0);
	assert_true(atomic_load(&taken) > 100);
	/* all have come back: the stack holds every extent that bump ever gave, once */
	const struct net_super *s = sn_local(node.region)->base;
	bool met[EXTENTS] = { false };
	unsigned count = 0;
	for (uint64_t at = s->free_head & UINT32_MAX; at != 0;
	     at = *(uint64_t *)((char *)sn_local(node.region)->base + at * NET_EXTENT) & UINT32_MAX) {
		assert_true(at < EXTENTS);
		assert_false(met[at]);
		met[at] = true;
		count++;
	}
	uint64_t bump = s->bump < SIZE ? s->bump : SIZE;
	assert_int_equal(count, bump / NET_EXTENT - 1);
	test_node_stop(&node);
}

/* A damaged stack is detected, not followed. */
static void
corrupt_body(void *arg)
{
	struct net_worker *w = arg;
	net_addr a;
	assert_int_equal(net_extent_take(w, 1, 1, &a), NAM_CORRUPT);
	assert_int_equal(net_extent_take(w, 1, 2, &a), NAM_CORRUPT);
}

static void
corrupt(void **state)
{
	(void)state;
	struct nam_err err;
	struct sn_region *r;
	struct sn_region_config rc = { .id = 1, .size = SIZE, .numa = -1 };
	assert_int_equal(sn_region_open(&r, &rc, &err), NAM_OK);
	struct net_super *s = sn_local(r)->base;
	s->free_head = UINT64_C(5) << 32 | EXTENTS;
	s->bump = NET_EXTENT + 8;
	struct net *net;
	struct net_worker *w;
	struct net_config nc = { .local = (struct net_local *[]){ sn_local(r), NULL } };
	assert_int_equal(net_open(&net, &nc, &err), NAM_OK);
	assert_int_equal(net_worker_open(net, &w, &err), NAM_OK);
	nam_co_start(net_worker_sched(w), corrupt_body, w, 0);
	net_worker_run(w, NULL, NULL);
	net_worker_close(w);
	net_close(net);
	/* and a superblock that contradicts itself is refused */
	s->size = 2 * SIZE;
	assert_int_equal(net_open(&net, &nc, &err), NAM_REFUSED);
	s->size = SIZE;
	s->magic = 0;
	assert_int_equal(net_open(&net, &nc, &err), NAM_REFUSED);
	sn_region_close(r);
}

/* The errors of sn_region_open, and the properties of a region. */
static void
regions(void **state)
{
	(void)state;
	struct nam_err err;
	struct sn_region *r = NULL;
	const struct sn_region_config bad[] = {
		{ .id = 0, .size = SIZE, .numa = -1 },
		{ .id = 1024, .size = SIZE, .numa = -1 },
		{ .id = 1, .size = 1000, .numa = -1 },
		{ .id = 1, .size = UINT64_MAX, .numa = -1 },
		{ .id = 1, .size = SIZE, .numa = 1000 },
		{ .id = 1, .size = UINT64_C(1) << 46, .numa = -1, .huge = SN_HUGE_ON },
	};
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		err.text[0] = '\0';
		assert_int_not_equal(sn_region_open(&r, &bad[i], &err), NAM_OK);
		assert_null(r);
		assert_true(err.text[0] != '\0');
	}
	struct sn_region_config rc = { .id = 63, .size = SIZE + 12345, .numa = -1, .cluster = "c" };
	struct sn_region *again;
	assert_int_equal(sn_region_open(&r, &rc, &err), NAM_OK);
	assert_int_equal(sn_region_open(&again, &rc, &err), NAM_OK);
	assert_int_equal(sn_region_size(r) % NET_EXTENT, 0);
	assert_true(sn_region_incarnation(r) != sn_region_incarnation(again));
	const struct net_super *s = sn_local(r)->base;
	assert_int_equal(s->region, 63);
	assert_int_equal(s->bump, NET_EXTENT);
	assert_int_equal(s->free_head, 0);
	uint64_t beat = s->beat;
	sn_region_beat(r, 3);
	assert_int_equal(s->beat, beat + 1);
	assert_int_equal(s->peers, 3);
	/* sealed: it cannot shrink while a peer has it mapped */
	assert_int_not_equal(ftruncate(sn_region_fd(r), 4096), 0);
	sn_region_close(r);
	sn_region_close(again);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regions),
		cmocka_unit_test(corrupt),
		cmocka_unit_test(many_hands),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(test_run_dir());
	return failed;
}
