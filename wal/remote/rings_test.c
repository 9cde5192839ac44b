/*
 * rings_test.c -- rings of records: which worker has which, what the node takes, in which order,
 * and how far it says that they are flushed.
 *
 * Entries are written here by hand, by threads as well. A record names the one that its owner had
 * seen, and the order is judged by that alone.
 */
#include <base/fault.h>
#include <base/log.h>
#include <wal/remote/rings.h>

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RINGS = 4, BYTES = 4096, AREA = sizeof(struct wal_board) + RINGS * (128 + BYTES) };

struct record {
	uint64_t id, seen; /* of the record that its owner had seen; 0 = none */
};

/* ---- an owner, by hand ---- */

struct owner {
	struct wal_ring_given given;
	struct wal_ring_head *head;
	uint64_t tail;
};

static char *area;
static struct wal_board *board;

static struct owner
owner_of(struct wal_rings *r, uint64_t a, uint64_t b)
{
	const uint64_t name[2] = { a, b };
	struct owner o = { .tail = 0 };
	struct net_sleeper **sleeper;
	assert_int_equal(wal_rings_give(r, name, &o.given, &sleeper), NAM_OK);
	o.head = (void *)(area + (net_offset_of((net_addr){ o.given.ring }) - 4096));
	return o;
}

static uint64_t
number(void)
{
	return __atomic_fetch_add(&board->clock, 1, __ATOMIC_SEQ_CST);
}

/* False: there is no room. */
static bool
publish(struct owner *o, uint64_t n, const struct record *record, uint32_t flags)
{
	const uint32_t bytes = 128;
	char *data = (char *)(o->head + 1);
	if (o->tail + bytes - __atomic_load_n(&o->head->taken, __ATOMIC_ACQUIRE) > BYTES)
		return false;
	struct wal_entry *e = (void *)(data + o->tail % BYTES);
	struct wal_rq *rq = (void *)(e + 1);
	*e = (struct wal_entry){ n, bytes, (uint32_t)o->given.generation };
	*rq = (struct wal_rq){ .what = WAL_APPEND, .bytes = sizeof *record, .flags = flags };
	memcpy(rq + 1, record, sizeof *record);
	o->tail += bytes;
	__atomic_fetch_add(&o->head->tail, bytes, __ATOMIC_SEQ_CST);
	return true;
}

/* ---- the log, by hand ---- */

static struct {
	struct record record[1 << 16];
	unsigned n, most;
	nam_status st; /* of records from `most` on */
} book;

static nam_status
take(void *arg, const struct wal_rq *rq, const void *bytes, uint64_t *end)
{
	(void)arg;
	assert_int_equal(rq->bytes, sizeof(struct record));
	if (book.n >= book.most)
		return book.st;
	assert_true(book.n < sizeof book.record / sizeof book.record[0]);
	memcpy(&book.record[book.n++], bytes, sizeof(struct record));
	*end = 8 * (uint64_t)book.n;
	return NAM_OK;
}

static struct wal_rings *
rings_open(void)
{
	memset(area, 0, AREA);
	board = (void *)area;
	memset(&book, 0, sizeof book);
	book.most = UINT32_MAX;
	struct wal_rings *r = wal_rings_open(area, net_at(1, 4096), AREA, BYTES, false);
	assert_non_null(r);
	assert_int_equal(wal_rings_hold(r), RINGS * BYTES);
	return r;
}

static bool
is_it(void *arg, uint64_t identity)
{
	return identity == *(const uint64_t *)arg;
}

static void
test_owners(void **state)
{
	(void)state;
	struct wal_rings *r = rings_open();
	struct net_sleeper **sleeper;
	struct wal_ring_given given;
	struct owner o[RINGS];
	for (uint64_t i = 0; i < RINGS; i++)
		o[i] = owner_of(r, 1 + i / 2, 1 + i);
	for (uint64_t i = 0; i < RINGS; i++)
		for (uint64_t k = 0; k < i; k++)
			assert_true(o[i].head != o[k].head && o[i].given.generation != o[k].given.generation);
	/* Asked for again, it is the same one. */
	struct owner again = owner_of(r, 1, 1);
	assert_true(again.head == o[0].head && again.given.generation == o[0].given.generation);
	assert_int_equal(wal_rings_give(r, (uint64_t[]){ 9, 9 }, &given, &sleeper), NAM_CROWDED);
	assert_int_equal(wal_rings_give(r, (uint64_t[]){ 0, 9 }, &given, &sleeper), NAM_INVALID);
	/* Those of one process end, and another one gets them as they were at first. */
	assert_true(publish(&o[1], number(), &(struct record){ 1, 0 }, 0));
	uint64_t gone = 7;
	assert_int_equal(wal_rings_look_for_gone(r, is_it, &gone), 0);
	gone = 1;
	assert_int_equal(wal_rings_look_for_gone(r, is_it, &gone), 2);
	assert_int_equal(wal_rings_take(r, take, NULL), NAM_OK);
	assert_int_equal(book.n, 1);
	wal_rings_end_gone(r);
	assert_int_equal(o[0].head->generation, 0);
	assert_int_equal(o[1].head->generation, 0);
	assert_int_equal(o[2].head->generation, o[2].given.generation);
	struct owner next = owner_of(r, 9, 9);
	assert_true(next.head == o[0].head && next.given.generation > o[RINGS - 1].given.generation);
	wal_rings_end(r, (uint64_t[]){ 2, 3 });
	assert_int_equal(o[2].head->generation, 0);
	assert_int_equal(o[3].head->generation, o[3].given.generation);
	wal_rings_end_all(r);
	assert_int_equal(o[3].head->generation, 0);
	assert_false(wal_rings_wait(r));
	wal_rings_close(r);
}

/* What a look takes of three entries: the last one is published while the node looks. */
static unsigned
in_order(void)
{
	struct wal_rings *r = rings_open();
	struct owner a = owner_of(r, 1, 1), b = owner_of(r, 2, 2);
	uint64_t first = number(), second = number();
	assert_false(wal_rings_wait(r));
	assert_true(publish(&a, second, &(struct record){ 2, 0 }, 0));
	assert_true(publish(&b, first, &(struct record){ 1, 0 }, 0));
	assert_true(
	    publish(&b, __atomic_load_n(&board->clock, __ATOMIC_RELAXED) + 1, &(struct record){ 3, 0 }, 0));
	assert_true(wal_rings_wait(r));
	assert_int_equal(wal_rings_take(r, take, NULL), NAM_OK);
	unsigned n = book.n;
	(void)number();
	assert_int_equal(wal_rings_take(r, take, NULL), NAM_OK);
	assert_int_equal(book.n, 3);
	assert_false(wal_rings_wait(r));
	wal_rings_close(r);
	return n;
}

static void
test_order(void **state)
{
	(void)state;
	assert_int_equal(in_order(), 2);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(book.record[i].id, i + 1);
}

/* The log cannot take it now, then it can; each record once, also what was published meanwhile.
 * How many it has then. */
static unsigned
busy(void)
{
	struct wal_rings *r = rings_open();
	struct owner a = owner_of(r, 1, 1), b = owner_of(r, 2, 2);
	for (uint64_t i = 0; i < 10; i++)
		assert_true(publish(i % 2 ? &a : &b, number(), &(struct record){ i, 0 }, 0));
	book.most = 3;
	book.st = NAM_BUSY;
	assert_int_equal(wal_rings_take(r, take, NULL), NAM_BUSY);
	assert_int_equal(a.head->taken, 0);
	assert_true(publish(&a, number(), &(struct record){ 10, 0 }, 0));
	book.most = 7;
	book.st = NAM_FULL;
	assert_int_equal(wal_rings_take(r, take, NULL), NAM_FULL);
	book.most = UINT32_MAX;
	assert_int_equal(wal_rings_take(r, take, NULL), NAM_OK);
	for (uint64_t i = 0; i < book.n; i++)
		assert_int_equal(book.record[i].id, i);
	wal_rings_close(r);
	return book.n;
}

static void
test_busy(void **state)
{
	(void)state;
	assert_int_equal(busy(), 11);
}

static void
test_flushed(void **state)
{
	(void)state;
	static struct net_bell bell;
	struct wal_rings *r = rings_open();
	struct owner a = owner_of(r, 1, 1), b = owner_of(r, 2, 2);
	assert_true(publish(&a, number(), &(struct record){ 1, 0 }, 0)); /* ends at 8 */
	assert_int_equal(wal_rings_take(r, take, NULL), NAM_OK);
	assert_true(publish(&b, number(), &(struct record){ 2, 0 }, 0)); /* 16 */
	assert_true(publish(&a, number(), &(struct record){ 3, 0 }, 0)); /* 24 */
	assert_int_equal(wal_rings_take(r, take, NULL), NAM_OK);
	wal_rings_flushed(r, 7, &bell);
	assert_int_equal(a.head->flushed, 0);
	wal_rings_flushed(r, 8, &bell);
	assert_int_equal(a.head->flushed, 128);
	assert_int_equal(b.head->flushed, 0);
	wal_rings_flushed(r, 23, &bell);
	assert_int_equal(a.head->flushed, 128);
	assert_int_equal(b.head->flushed, 128);
	wal_rings_flushed(r, 24, &bell);
	assert_int_equal(a.head->flushed, 256);
	/* Many looks between two flushes: told late rather than early. */
	for (unsigned i = 0; i < 20; i++) {
		assert_true(publish(&a, number(), &(struct record){ 4 + i, 0 }, 0));
		assert_int_equal(wal_rings_take(r, take, NULL), NAM_OK);
	}
	for (uint64_t at = 25; at < 8 * 23; at += 8) {
		wal_rings_flushed(r, at, &bell);
		assert_true(a.head->flushed <= 256 + 128 * ((at - 24) / 8));
	}
	wal_rings_flushed(r, 8 * 23, &bell);
	assert_int_equal(a.head->flushed, 22 * 128);
	/* One that is not taken is never flushed. */
	book.most = book.n;
	book.st = NAM_REFUSED;
	assert_true(publish(&a, number(), &(struct record){ 99, 0 }, 0));
	assert_int_equal(wal_rings_take(r, take, NULL), NAM_OK);
	assert_int_equal(a.head->taken, a.tail);
	wal_rings_flushed(r, UINT64_MAX - 1, &bell);
	assert_int_equal(a.head->flushed, 22 * 128);
	wal_rings_close(r);
}

/* What an owner must not write ends its ring, and no other one. */
static void
test_rubbish(void **state)
{
	static struct net_bell bell;
	(void)state;
	for (unsigned how = 0; how < 6; how++) {
		struct wal_rings *r = rings_open();
		struct owner a = owner_of(r, 1, 1), b = owner_of(r, 2, 2);
		assert_true(publish(&b, number(), &(struct record){ 1, 0 }, 0));
		assert_true(publish(&a, number(), &(struct record){ 2, 0 }, 0));
		struct wal_entry *e = (void *)(a.head + 1);
		struct wal_rq *rq = (void *)(e + 1);
		e->bytes = how == 0 ? 0 : how == 1 ? 100 : how == 2 ? 1 << 20 : e->bytes;
		e->generation += how == 3;
		rq->bytes += how == 4 ? 100 : 0;
		a.head->tail += how == 5 ? 2 * BYTES : 0;
		assert_int_equal(wal_rings_take(r, take, NULL), NAM_OK);
		assert_int_equal(book.n, 1);
		/* A request that is longer than its entry is dropped, and is never flushed. */
		wal_rings_flushed(r, 1000, &bell);
		assert_int_equal(a.head->flushed, 0);
		assert_int_equal(b.head->flushed, 128);
		if (how != 4)
			assert_int_equal(a.head->generation, 0);
		assert_int_equal(b.head->generation, b.given.generation);
		assert_false(wal_rings_wait(r));
		wal_rings_close(r);
	}
}

/* ---- owners that run ---- */

enum { THREADS = 4, EACH = 4000 };

static _Atomic uint64_t visible; /* the record that was made visible last */
static _Atomic unsigned running;
static struct owner owner[THREADS];

/* Sees what is visible, and publishes; then what it has published is visible. */
static void *
own(void *arg)
{
	struct owner *o = arg;
	uint64_t which = (uint64_t)(o - owner);
	for (uint64_t i = 0; i < EACH;) {
		struct record record = { 1 + which + THREADS * i, atomic_load(&visible) };
		if (!publish(o, number(), &record, 0)) {
			sched_yield();
			continue;
		}
		atomic_store(&visible, record.id);
		if (++i % 7 == 0)
			sched_yield();
	}
	atomic_fetch_sub(&running, 1);
	return NULL;
}

/* Records that lie before what their owner has seen. */
static unsigned
race(void)
{
	struct wal_rings *r = rings_open();
	pthread_t thread[THREADS];
	atomic_store(&visible, 0);
	atomic_store(&running, THREADS);
	for (unsigned i = 0; i < THREADS; i++)
		owner[i] = owner_of(r, 1 + i, 1 + i);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, own, &owner[i]), 0);
	while (atomic_load(&running) > 0 || wal_rings_wait(r)) {
		assert_int_equal(wal_rings_take(r, take, NULL), NAM_OK);
		sched_yield();
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	wal_rings_close(r);
	bool *there = calloc(THREADS * EACH + 1, sizeof *there);
	assert_non_null(there);
	there[0] = true;
	assert_int_equal(book.n, THREADS * EACH);
	unsigned wrong = 0;
	for (unsigned i = 0; i < book.n; i++) {
		wrong += !there[book.record[i].seen] || there[book.record[i].id];
		there[book.record[i].id] = true;
	}
	free(there);
	return wrong;
}

static void
test_race(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(race(), 0);
}

#ifdef NAM_TWINS
static void
test_twins(void **state)
{
	(void)state;
	nam_fault_on = NAM_FAULT_RINGS_LATE;
	unsigned at_once = in_order();
	printf("fault rings-late: a look takes %u entries, one of which was published behind it\n", at_once);
	assert_int_equal(at_once, 3);
	unsigned wrong = 0, runs = 0;
	nam_fault_on = NAM_FAULT_RINGS_UNSORTED;
	while (wrong == 0 && runs++ < 200)
		wrong = race();
	printf("fault rings-unsorted: %u records lie before what they have seen, in run %u\n", wrong, runs);
	assert_true(wrong > 0);
	nam_fault_on = NAM_FAULT_RINGS_LEFT;
	unsigned n = busy();
	nam_fault_on = NAM_FAULT_NONE;
	printf("fault rings-left: %u of 11 published records are taken\n", n);
	assert_true(n < 11);
}
#endif

int
main(void)
{
	/* What test_rubbish does is said as errors. */
	nam_log_level_set(NAM_LOG_ERROR);
	area = aligned_alloc(64, (AREA + 63) / 64 * 64);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_flushed),
		cmocka_unit_test(test_rubbish),
		cmocka_unit_test(test_race),
#ifdef NAM_TWINS
		cmocka_unit_test(test_twins),
#endif
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(area);
	return failed;
}
