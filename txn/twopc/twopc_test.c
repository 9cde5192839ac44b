/* twopc_test.c -- two-phase commit: its truths by seeds, its messages one by one, hurtful ones. */
#include <base/hash.h>
#include <txn/twopc/twopc_model.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* ---- in any order ---- */

static void
test_any_order(void **state)
{
	(void)state;
	uint64_t aborts = 0;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct model *m = malloc(sizeof *m);
		model_open(m, seed);
		model_run(m);
		if (m->broken[0] != 0)
			printf("seed %llu: %s\n", (unsigned long long)seed, m->broken);
		assert_string_equal(m->broken, "");
		aborts += m->aborts;
		model_close(m);
		free(m);
	}
	assert_true(aborts > 100); /* they met */
}

/* Changed bytes are refused, or do no harm; none makes the program stop. */
static void
test_hurtful(void **state)
{
	(void)state;
	unsigned refused = 0;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct model *m = malloc(sizeof *m);
		model_open(m, seed);
		for (unsigned i = 0; i < MODEL_SESSIONS; i++)
			model_next(&m->session[i]);
		for (unsigned n = 0; n < 400 && m->letters > 0; n++) {
			unsigned i = (unsigned)nam_rng_below(&m->rng, m->letters);
			struct model_letter was = m->letter[i];
			/* a copy of its own length, so that a sanitizer sees each byte too far */
			uint32_t len = nam_rng_below(&m->rng, 4) == 0
					   ? (uint32_t)nam_rng_below(&m->rng, was.len)
					   : was.len;
			struct model_letter bad = was;
			bad.len = len;
			bad.bytes = malloc(len != 0 ? len : 1);
			memcpy(bad.bytes, was.bytes, len);
			if (len != 0)
				((uint8_t *)bad.bytes)[nam_rng_below(&m->rng, len)] ^=
				    (uint8_t)(1 + nam_rng_below(&m->rng, 255));
			if (bad.to >= TXN_TWOPC_RM) /* others would go on */
				refused += model_deliver(m, &bad) == NAM_INVALID;
			else
				refused += !txn_twopc_judge(bad.bytes, bad.len);
			free(bad.bytes);
			model_step(m);
		}
		model_close(m);
		free(m);
	}
	assert_true(refused > 1000);
}

/* ---- one RM, message by message ---- */

struct talk {
	struct txn_twopc_rm *rm;
	unsigned to, answers;
	uint64_t ts;
	uint32_t status;
	uint64_t value;
};

static void
hear(void *arg, unsigned to, const void *bytes, uint32_t len)
{
	struct talk *t = arg;
	const struct txn_twopc_head *h = bytes;
	assert_true(txn_twopc_judge(bytes, len));
	t->to = to;
	t->answers++;
	t->ts = h->ts;
	if (h->items == 1) {
		const struct txn_twopc_item *i = txn_twopc_first(h);
		t->status = i->status;
		memcpy(&t->value, i->record, i->len <= 8 ? i->len : 8);
	}
}

static nam_status
say(struct talk *t, enum txn_twopc_kind kind, uint64_t txn, uint64_t ts, uint64_t key, uint64_t cid,
    const uint64_t *value)
{
	uint64_t room[8] = { 0 };
	struct txn_twopc_head *h = (void *)room;
	struct txn_twopc_item *i = (void *)(h + 1);
	const struct txn_twopc_wire wire = { hear, t };
	*i = (struct txn_twopc_item){ .key = key, .cid = cid, .len = value != NULL ? 8 : 0 };
	if (value != NULL)
		memcpy(i->record, value, 8);
	*h = (struct txn_twopc_head){ .kind = (uint8_t)kind,
		.from = kind == TXN_TWOPC_READ ? TXN_TWOPC_CLIENT : TXN_TWOPC_TM,
		.items = 1,
		.len = (uint32_t)sizeof *h + txn_twopc_item_bytes(i->len),
		.txn = txn,
		.ts = ts };
	return txn_twopc_rm_take(t->rm, 0, &wire, room, h->len);
}

static void
test_rm(void **state)
{
	(void)state;
	struct talk t = { 0 };
	const uint64_t one = 1, two = 2;
	assert_int_equal(txn_twopc_rm_open(&t.rm, 1), NAM_OK);
	assert_int_equal(txn_twopc_rm_load(t.rm, 7, &one, 8), NAM_OK);
	assert_int_equal(txn_twopc_rm_load(t.rm, 7, &one, 8), NAM_DUPLICATE);
	/* its version is CID 1 */
	assert_int_equal(say(&t, TXN_TWOPC_READ, 1, 1, 7, 0, NULL), NAM_OK);
	assert_int_equal(t.to, TXN_TWOPC_CLIENT);
	assert_int_equal(t.status, NAM_OK);
	assert_int_equal(t.value, 1);
	say(&t, TXN_TWOPC_READ, 1, 1, 8, 0, NULL);
	assert_int_equal(t.status, NAM_ABSENT);
	/* locked by 1: 2 gets a no, readers still read */
	say(&t, TXN_TWOPC_PREPARE, 1, 1, 7, 1, NULL);
	assert_int_equal(t.to, TXN_TWOPC_TM);
	assert_int_equal(t.ts, 1);
	say(&t, TXN_TWOPC_PREPARE, 2, 1, 7, 1, NULL);
	assert_int_equal(t.ts, 0);
	say(&t, TXN_TWOPC_READ, 3, 1, 7, 0, NULL);
	assert_int_equal(t.status, NAM_OK);
	/* what is not the lock's holder changes nothing */
	say(&t, TXN_TWOPC_INSTALL, 2, 4, 7, 1, &two);
	say(&t, TXN_TWOPC_READ, 3, 9, 7, 0, NULL);
	assert_int_equal(t.value, 1);
	unsigned answers = t.answers;
	say(&t, TXN_TWOPC_ABORT, 2, 0, 7, 1, NULL);
	assert_int_equal(t.answers, answers);
	say(&t, TXN_TWOPC_PREPARE, 4, 1, 7, 1, NULL);
	assert_int_equal(t.ts, 0);
	/* the holder installs; older snapshots are told so; a validation of the old version
	 * fails */
	say(&t, TXN_TWOPC_INSTALL, 1, 5, 7, 1, &two);
	say(&t, TXN_TWOPC_READ, 3, 4, 7, 0, NULL);
	assert_int_equal(t.status, NAM_CONFLICT);
	say(&t, TXN_TWOPC_READ, 3, 5, 7, 0, NULL);
	assert_int_equal(t.value, 2);
	say(&t, TXN_TWOPC_PREPARE, 6, 9, 7, 1, NULL);
	assert_int_equal(t.ts, 0);
	/* an insert that aborts leaves nothing, one of a key that is there is refused */
	say(&t, TXN_TWOPC_PREPARE, 7, 9, 8, 0, NULL);
	assert_int_equal(t.ts, 1);
	say(&t, TXN_TWOPC_READ, 3, 9, 8, 0, NULL);
	assert_int_equal(t.status, NAM_ABSENT);
	say(&t, TXN_TWOPC_ABORT, 7, 0, 8, 0, NULL);
	say(&t, TXN_TWOPC_PREPARE, 8, 9, 8, 0, NULL);
	assert_int_equal(t.ts, 1);
	say(&t, TXN_TWOPC_PREPARE, 9, 9, 7, 0, NULL);
	assert_int_equal(t.ts, 0);
	assert_int_equal(say(&t, TXN_TWOPC_OUTCOME, 9, 9, 7, 0, NULL), NAM_INVALID);
	txn_twopc_rm_close(t.rm);
}

/* ---- a TM, message by message ---- */

struct desk {
	unsigned sent[TXN_TWOPC_KINDS];
	uint64_t snapshot;
	uint32_t status;
};

static void
count(void *arg, unsigned to, const void *bytes, uint32_t len)
{
	struct desk *d = arg;
	const struct txn_twopc_head *h = bytes;
	assert_true(txn_twopc_judge(bytes, len));
	assert_true((h->kind == TXN_TWOPC_OUTCOME) == (to == TXN_TWOPC_CLIENT));
	d->sent[h->kind]++;
	if (h->kind == TXN_TWOPC_OUTCOME) {
		d->snapshot = h->ts;
		d->status = txn_twopc_first(h)->status;
	}
}

/* One RM, so key 0 is its. ts: 1 = a yes. */
static nam_status
tell(struct txn_twopc_tm *tm, unsigned from, enum txn_twopc_kind kind, uint64_t txn, uint64_t ts)
{
	uint64_t room[8] = { 0 };
	struct txn_twopc_head *h = (void *)room;
	unsigned items = kind == TXN_TWOPC_REQUEST;
	*h = (struct txn_twopc_head){ .kind = (uint8_t)kind,
		.from = (uint8_t)from,
		.items = (uint16_t)items,
		.len = (uint32_t)sizeof *h + items * txn_twopc_item_bytes(0),
		.txn = txn,
		.ts = ts };
	return txn_twopc_tm_take(tm, room, h->len);
}

static void
test_tm(void **state)
{
	(void)state;
	enum { CLIENT = TXN_TWOPC_CLIENT, RM = TXN_TWOPC_RM, PLACES = 8 };
	struct desk d = { 0 };
	const struct txn_twopc_wire wire = { count, &d };
	struct txn_twopc_clock *c;
	struct txn_twopc_tm *tm;
	assert_int_equal(txn_twopc_clock_open(&c), NAM_OK);
	assert_int_equal(txn_twopc_tm_open(&tm, c, 0, &wire), NAM_INVALID);
	assert_int_equal(txn_twopc_tm_open(&tm, c, 1, &wire), NAM_OK);
	uint64_t first = txn_twopc_clock_snapshot(c);
	/* a no: aborted, the RM that said no need not be told, and the snapshot may go on */
	assert_int_equal(tell(tm, CLIENT, TXN_TWOPC_REQUEST, 1, 1), NAM_OK);
	assert_int_equal(d.sent[TXN_TWOPC_PREPARE], 1);
	assert_int_equal(tell(tm, RM, TXN_TWOPC_INSTALLED, 1, 0), NAM_INVALID);
	assert_int_equal(tell(tm, RM + 1, TXN_TWOPC_VOTE, 1, 1), NAM_INVALID);
	assert_int_equal(tell(tm, RM, TXN_TWOPC_VOTE, 2, 1), NAM_INVALID);
	assert_int_equal(tell(tm, RM, TXN_TWOPC_VOTE, 1, 0), NAM_OK);
	assert_int_equal(d.status, NAM_CONFLICT);
	assert_int_equal(d.sent[TXN_TWOPC_ABORT], 0);
	assert_int_equal(d.snapshot, first + 1);
	assert_int_equal(tell(tm, RM, TXN_TWOPC_VOTE, 1, 1), NAM_INVALID);
	assert_int_equal(txn_twopc_tm_open_count(tm), 0);
	/* as many commits as there are places are answered, with no record installed yet */
	for (unsigned i = 0; i < PLACES; i++) {
		assert_int_equal(tell(tm, CLIENT, TXN_TWOPC_REQUEST, 10 + i, 1), NAM_OK);
		assert_int_equal(tell(tm, RM, TXN_TWOPC_VOTE, 10 + i, 1), NAM_OK);
		assert_int_equal(d.status, NAM_OK);
		assert_int_equal(d.snapshot, first + 1);
	}
	assert_int_equal(d.sent[TXN_TWOPC_INSTALL], PLACES);
	/* the next one waits for a place, and begins when one is free */
	unsigned prepares = d.sent[TXN_TWOPC_PREPARE];
	assert_int_equal(tell(tm, CLIENT, TXN_TWOPC_REQUEST, 30, 1), NAM_OK);
	assert_int_equal(d.sent[TXN_TWOPC_PREPARE], prepares);
	assert_int_equal(txn_twopc_tm_open_count(tm), PLACES + 1);
	assert_int_equal(tell(tm, CLIENT, TXN_TWOPC_REQUEST, 31, 1), NAM_INVALID);
	assert_int_equal(tell(tm, RM, TXN_TWOPC_INSTALLED, 11, 0), NAM_OK);
	assert_int_equal(d.sent[TXN_TWOPC_PREPARE], prepares + 1);
	assert_int_equal(txn_twopc_clock_snapshot(c), first + 1); /* 10 is not installed */
	assert_int_equal(tell(tm, RM, TXN_TWOPC_INSTALLED, 10, 0), NAM_OK);
	assert_int_equal(txn_twopc_clock_snapshot(c), first + 3);
	assert_int_equal(tell(tm, RM, TXN_TWOPC_VOTE, 30, 1), NAM_OK);
	assert_int_equal(tell(tm, CLIENT, TXN_TWOPC_SNAPSHOT, 40, 0), NAM_OK);
	assert_int_equal(d.snapshot, first + 3);
	for (unsigned i = 2; i < PLACES; i++)
		assert_int_equal(tell(tm, RM, TXN_TWOPC_INSTALLED, 10 + i, 0), NAM_OK);
	assert_int_equal(tell(tm, RM, TXN_TWOPC_INSTALLED, 30, 0), NAM_OK);
	assert_int_equal(txn_twopc_clock_snapshot(c), first + 2 + PLACES);
	assert_int_equal(txn_twopc_tm_open_count(tm), 0);
	/* no CID is left: refused, and the RM that has locked is told */
	while (txn_twopc_clock_take(c) != 0)
		continue;
	assert_int_equal(tell(tm, CLIENT, TXN_TWOPC_REQUEST, 50, 1), NAM_OK);
	assert_int_equal(tell(tm, RM, TXN_TWOPC_VOTE, 50, 1), NAM_OK);
	assert_int_equal(d.status, NAM_FULL);
	assert_int_equal(d.sent[TXN_TWOPC_ABORT], 1);
	txn_twopc_tm_close(tm);
	txn_twopc_clock_close(c);
}

/* ---- the clock ---- */

static void
test_clock(void **state)
{
	(void)state;
	struct txn_twopc_clock *c;
	assert_int_equal(txn_twopc_clock_open(&c), NAM_OK);
	uint64_t first = txn_twopc_clock_snapshot(c);
	uint64_t a = txn_twopc_clock_take(c), b = txn_twopc_clock_take(c), d = txn_twopc_clock_take(c);
	assert_int_equal(a, first + 1);
	txn_twopc_clock_done(c, b);
	assert_int_equal(txn_twopc_clock_snapshot(c), first); /* a has not ended */
	txn_twopc_clock_done(c, a);
	assert_int_equal(txn_twopc_clock_snapshot(c), b);
	/* all of the ring above one that does not end */
	uint64_t n = 0, cid;
	while ((cid = txn_twopc_clock_take(c)) != 0) {
		txn_twopc_clock_done(c, cid);
		n++;
	}
	assert_true(n > 100000);
	assert_int_equal(txn_twopc_clock_snapshot(c), b);
	txn_twopc_clock_done(c, d);
	assert_int_equal(txn_twopc_clock_snapshot(c), d + n);
	assert_int_equal(txn_twopc_clock_take(c), d + n + 1);
	txn_twopc_clock_close(c);
}

enum { TURNS = 200000, THREADS = 4 };

static void *
turns(void *arg)
{
	for (unsigned i = 0; i < TURNS; i++) {
		uint64_t cid;
		while ((cid = txn_twopc_clock_take(arg)) == 0)
			continue;
		if (txn_twopc_clock_snapshot(arg) >= cid)
			return arg; /* it covers one that has not ended */
		txn_twopc_clock_done(arg, cid);
	}
	return NULL;
}

static void
test_clock_of_threads(void **state)
{
	(void)state;
	struct txn_twopc_clock *c;
	pthread_t t[THREADS];
	assert_int_equal(txn_twopc_clock_open(&c), NAM_OK);
	uint64_t first = txn_twopc_clock_snapshot(c);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, turns, c), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		void *bad;
		pthread_join(t[i], &bad);
		assert_null(bad);
	}
	assert_int_equal(txn_twopc_clock_snapshot(c), first + THREADS * TURNS);
	txn_twopc_clock_close(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_hurtful),
		cmocka_unit_test(test_rm),
		cmocka_unit_test(test_tm),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_clock_of_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
