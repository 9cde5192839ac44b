/*
 * shm_test.c -- the oracle over real shared memory, with real threads: pins against the heart,
 * taking a slot against a tick.
 *
 * Two processes' views, each with a heart and some workers on threads of their own. The first
 * commits all the time. The second goes idle after a short rest, so thousands of times; sometimes
 * it loses its slot because its heart stalls, and is woken by all its workers at once. This test
 * shows what the simulator cannot: between any two instructions of one thread another may run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka after the four above */
#include "tso_internal.h"

#include <base/clock.h>
#include <base/rounds.h>
#include <net/local.h>
#include <net/region_format.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

enum {
	PROCS = 2,
	WORKERS = 2,
	VECTOR = 64,
	LEASE_MS = NAM_SANITIZED ? 20 : 4,
	TICK_NS = 300000,
	CIDS = 1 << 20,
	IDLE_NS = 150000, /* of the second process */
	RESTS = 6,        /* of the second process, from which it comes back without its slot */
	ROUND_MS = 200,   /* between them */
	WAKES = 100,      /* at least */
};
#define FIRST  ((UINT64_C(1) << TSO_COUNT_BITS) + 1)
#define END_NS UINT64_C(30000000000)

static struct net_local local;
static net_addr anchor;
static atomic_uchar marked[CIDS]; /* its mark has been, or is about to be posted */
static atomic_bool stop, rest, still;
static atomic_uint bad, wakes, late;
static _Atomic uint64_t commits, notes; /* notes: the last catalog note whose mark has landed */

struct proc {
	struct net *net;
	struct tso *tso;
	pthread_t heart;
	struct thread {
		struct proc *p;
		unsigned proc, number;
		pthread_t id;
	} worker[WORKERS];
	atomic_bool joined, heart_ends;
	atomic_uint open;
};
static struct proc proc[PROCS];

static void
check(bool holds, const char *what)
{
	if (!holds && atomic_fetch_add(&bad, 1) < 20)
		fprintf(stderr, "%s\n", what);
}

static void
commit(struct proc *p, struct net_worker *w, struct tso_worker *tw, uint64_t *last)
{
	struct tso_pin pin;
	struct tso_claim c;
	uint64_t told = atomic_load(&notes);
	nam_status st = tso_snapshot(tw, &pin, NULL);
	/* Another worker of the process wakes it, and has had no processor for a lease. */
	if (st == NAM_GONE && p == &proc[1]) {
		atomic_fetch_add(&late, 1);
		return;
	}
	check(st == NAM_OK, "no snapshot");
	if (st != NAM_OK)
		return; /* there is no pin */
	struct tso_owner_slot *slots = (void *)((char *)local.base + net_offset_of(p->tso->owners));
	uint64_t line = __atomic_load_n(
	    /* as the heart WRITEs it */
	    &slots[tso_owner(p->tso)].promises.oldest, __ATOMIC_RELAXED);
	check(line <= pin.at, "T3: a snapshot below the published promise");
	check(pin.at >= *last, "a snapshot older than the one before");
	check(pin.at < told || tso_noted(p->tso) >= told, "a note that had landed is not known");
	for (uint64_t k = *last >= FIRST ? *last : FIRST; k <= pin.at; k++)
		check(atomic_load(&marked[k - FIRST]) != 0, "a snapshot covers an unmarked CID");
	*last = pin.at;
	uint64_t dice = nam_rng_below(net_rng(w), 8);
	/* Long enough for the others' hearts: no conclusion they draw meanwhile may break this
	 * snapshot. */
	if (p == &proc[1] && dice == 0)
		net_sleep(w, 3 * TICK_NS);
	for (unsigned i = 0; i < PROCS; i++)
		if (atomic_load(&proc[i].joined))
			check(tso_watermark(proc[i].tso) <= pin.at, "a watermark passes a pin that stands");
	tso_claim_start(tw, &c, pin.at, NULL);
	check(tso_claim_wait(tw, &c) == NAM_OK, "no claim");
	check(c.cid > pin.at, "a claim below the snapshot");
	struct tso_lapse lapse;
	for (unsigned i = 0; i < 4; i++) /* as a recoverer looks */
		check(!tso_lapsed(p->tso, w, i, &lapse) || lapse.slot == i, "a lapse of another slot");
	for (unsigned i = 0; i < PROCS; i++) {
		if (!atomic_load(&proc[i].joined))
			continue;
		check(tso_prefix(proc[i].tso) < c.cid, "a prefix covers an open claim");
		check(tso_watermark(proc[i].tso) <= pin.at, "a watermark passes a pin");
	}
	atomic_store(&marked[c.cid - FIRST], 1);
	tso_mark_wait(tw, &c, c.cid % 16 == 0 ? TSO_NOTE_CATALOG : 0);
	if (c.cid % 16 == 0)
		tso_raise(&notes, c.cid);
	tso_answered(p->tso, c.cid);
	tso_unpin(tw, &pin);
	if (atomic_fetch_add(&commits, 1) > CIDS - 1000)
		atomic_store(&stop, true);
	net_sleep(
	    w, p == &proc[1] ? nam_rng_below(net_rng(w), dice == 1 ? 40 * IDLE_NS : 4 * IDLE_NS) : 2000);
}

struct at_work {
	struct thread *t;
	struct net_worker *w;
};

static void
work(void *arg)
{
	struct at_work *a = arg;
	struct proc *p = a->t->p;
	struct tso_worker *tw;
	uint64_t last = 0;
	check(tso_worker_open(p->tso, a->w, &tw) == NAM_OK, "no worker");
	atomic_fetch_add(&p->open, 1);
	while (!atomic_load(&stop)) {
		if (a->t->proc == 1 && atomic_load(&rest)) {
			net_sleep(a->w, 20000);
			continue;
		}
		if (a->t->proc == 1 && tso_is_idle(p->tso))
			atomic_fetch_add(&wakes, 1);
		commit(p, a->w, tw, &last);
	}
	atomic_fetch_sub(&p->open, 1);
	tso_worker_close(tw);
}

static void *
worker_main(void *arg)
{
	struct at_work a = { .t = arg };
	check(net_worker_open(a.t->p->net, &a.w, NULL) == NAM_OK, "no net worker");
	nam_co_start(net_worker_sched(a.w), work, &a, 0);
	net_worker_run(a.w, NULL, NULL);
	net_worker_close(a.w);
	return NULL;
}

static void
beat(void *arg)
{
	struct net_worker *w = arg;
	struct proc *p = NULL;
	struct tso_worker *tw;
	for (unsigned i = 0; i < PROCS; i++)
		if (proc[i].net == net_worker_net(w))
			p = &proc[i];
	if (anchor.bits == 0)
		check(tso_format(w, 1, VECTOR, TSO_CLAIM, 0, LEASE_MS, 0, &anchor) == NAM_OK, "no oracle");
	check(tso_join(w, anchor, &p->tso) == NAM_OK, "not joined");
	if (p == &proc[1])
		p->tso->idle_after_ns = IDLE_NS;
	else
		tso_share_claims(p->tso);
	check(tso_worker_open(p->tso, w, &tw) == NAM_OK, "no worker");
	atomic_store(&p->joined, true);
	while (!atomic_load(&p->heart_ends)) {
		if (p != &proc[1] || !atomic_load(&still))
			check(tso_tick(tw) == NAM_OK, "no beat");
		net_sleep(w, TICK_NS);
	}
	tso_worker_close(tw);
	check(tso_leave(w, p->tso) == NAM_OK, "not left");
}

static void *
heart_main(void *arg)
{
	struct proc *p = arg;
	struct net_worker *w;
	check(net_worker_open(p->net, &w, NULL) == NAM_OK, "no net worker");
	nam_co_start(net_worker_sched(w), beat, w, 128 << 10);
	net_worker_run(w, NULL, NULL);
	net_worker_close(w);
	return NULL;
}

static void
nap(long ns)
{
	nanosleep(&(struct timespec){ 0, ns }, NULL);
}

static void
pins_hearts_slots(void **state)
{
	(void)state;
	local.size = 16 << 20;
	local.base =
	    mmap(NULL, local.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(local.base != MAP_FAILED);
	struct net_super *s = local.base;
	s->magic = NET_MAGIC;
	s->version = NET_VERSION;
	s->region = 1;
	s->layout = net_layout();
	s->incarnation = 1;
	s->size = local.size;
	s->bump = NET_EXTENT;
	struct net_local *list[] = { &local, NULL };
	struct net_config cfg = { .local = list };
	struct nam_err err;
	uint64_t end = nam_clock_ns() + END_NS;
	for (unsigned i = 0; i < PROCS; i++) {
		struct proc *p = &proc[i];
		if (net_open(&p->net, &cfg, &err) != NAM_OK)
			fail_msg("%s", err.text);
		assert_int_equal(pthread_create(&p->heart, NULL, heart_main, p), 0);
		while (!atomic_load(&p->joined) && atomic_load(&bad) == 0)
			nap(100000);
	}
	for (unsigned i = 0; i < PROCS * WORKERS; i++) {
		struct thread *t = &proc[i % PROCS].worker[i / PROCS];
		*t = (struct thread){ .p = &proc[i % PROCS], .proc = i % PROCS, .number = i / PROCS };
		assert_int_equal(pthread_create(&t->id, NULL, worker_main, t), 0);
	}
	struct tso *q = proc[1].tso;
	unsigned joins = tso_joins(q);
	uint64_t seals = tso_seals(proc[0].tso);
	for (unsigned round = 0; round < RESTS && !atomic_load(&stop); round++) {
		nap(ROUND_MS * 1000000);
		atomic_store(&rest, true);
		while (!tso_is_idle(q) && nam_clock_ns() < end)
			nap(100000);
		atomic_store(&still, true);
		uint64_t freed = tso_seals(proc[0].tso);
		while (tso_seals(proc[0].tso) == freed && nam_clock_ns() < end)
			nap(200000);
		/* Its heart goes on at the very moment when its workers take another slot. */
		atomic_store(&rest, false);
		atomic_store(&still, false);
	}
	nap(ROUND_MS * 1000000);
	/* A slow machine has had few by now. */
	while (atomic_load(&wakes) <= WAKES && nam_clock_ns() < end && !atomic_load(&stop))
		nap(1000000);
	uint64_t at = nam_clock_ns();
	atomic_store(&stop, true);
	for (unsigned i = 0; i < PROCS * WORKERS; i++)
		pthread_join(proc[i % PROCS].worker[i / PROCS].id, NULL);
	for (unsigned i = 0; i < PROCS; i++) {
		atomic_store(&proc[i].heart_ends, true);
		pthread_join(proc[i].heart, NULL);
	}
	assert_int_equal(bad, 0);
	assert_true(at < end);
	/* It takes another slot as often as it has lost one: at each rest, and where its heart had
	 * no processor for as long. */
	uint64_t lost = tso_seals(proc[0].tso) - seals, again = tso_joins(q) - joins;
	assert_true(again >= RESTS && (again == lost || again + 1 == lost));
	assert_true(atomic_load(&wakes) > WAKES);
	assert_true(atomic_load(&late) < atomic_load(&wakes) / 10);
	printf("%lu commits, woken %u times, %u of them late, %u slots\n", (unsigned long)commits,
	    atomic_load(&wakes), atomic_load(&late), tso_joins(q));
	for (unsigned i = 0; i < PROCS; i++) {
		tso_close(proc[i].tso);
		net_close(proc[i].net);
	}
	munmap(local.base, local.size);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(pins_hearts_slots) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
