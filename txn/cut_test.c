/*
 * cut_test.c -- what a cut keeps of a log is what a log of its own needs: random logs with attempts
 * of one and of several parts, undone and not; the checker goes over attempts, not over records,
 * and shares no code with cut.c.
 */
#include <base/rng.h>
#include <txn/cut.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { ATTEMPTS = 40, PARTS = 4, RECORDS = ATTEMPTS * (PARTS + 2) + 1 };

struct attempt {
	unsigned parts, sent; /* has, are in the log */
	bool undone;          /* the log says so, wherever */
	bool said;            /* it has been said */
	uint64_t last;        /* position of the last part, if all are there */
};

static struct {
	struct txn_logged record[RECORDS];
	unsigned n;
	struct attempt a[ATTEMPTS];
} world;

static uint64_t
at(unsigned i)
{
	return 1000 + 48 * (uint64_t)i;
}

static void
add(struct txn_logged h)
{
	world.record[world.n++] = h;
}

static void
make(struct nam_rng *d, bool times)
{
	memset(&world, 0, sizeof world);
	int64_t now = 1000;
	for (unsigned i = 0; i < ATTEMPTS; i++)
		world.a[i].parts = 1 + (nam_rng_below(d, 3) == 0 ? (unsigned)nam_rng_below(d, PARTS) : 0);
	for (unsigned step = 0; world.n < RECORDS - 1 && step < 3 * RECORDS; step++) {
		unsigned i = (unsigned)nam_rng_below(d, ATTEMPTS);
		struct attempt *a = &world.a[i];
		/* Clocks differ. */
		int64_t time = times ? (now += 5) + (int64_t)nam_rng_below(d, 9) : 0;
		struct txn_logged h = { .kind = TXN_LOGGED_COMMIT,
			.lock = 1 + i / 2,
			.check = 7 + i % 2,
			.cid = 100 + i,
			.part = a->sent,
			.time = time };
		if (nam_rng_below(d, 8) == 0)
			add((struct txn_logged){
			    .kind = nam_rng_below(d, 2) ? TXN_LOGGED_NUMBERS : TXN_LOGGED_KEPT,
			    .flags = TXN_LOGGED_LAST,
			    .lock = 0,
			    .check = step,
			    .time = time });
		else if (a->sent > 0 && nam_rng_below(d, 6) == 0) {
			/* Said once more, now and then. */
			h.kind = TXN_LOGGED_UNDONE;
			h.flags = TXN_LOGGED_LAST;
			h.part = 0;
			a->undone = a->said = true;
			add(h);
		} else if (a->sent < a->parts && !a->said) {
			h.flags = ++a->sent == a->parts ? TXN_LOGGED_LAST : 0;
			if (h.flags)
				a->last = at(world.n);
			add(h);
		}
	}
}

/* Passes as the commands make them; *out: the records kept. */
static unsigned
cut(struct txn_cut *c, unsigned from, struct txn_logged *out)
{
	unsigned n = 0;
	for (unsigned i = from; i < world.n; i++)
		assert_int_equal(txn_cut_look(c, at(i), &world.record[i], sizeof *out), NAM_OK);
	for (unsigned i = 0; i < world.n && at(i) < c->end; i++) {
		assert_int_equal(txn_cut_take(c, &world.record[i], sizeof *out), NAM_OK);
		out[n++] = world.record[i];
	}
	size_t k = 0;
	for (const struct txn_logged *h; (h = txn_cut_undone(c, &k)) != NULL;)
		out[n++] = *h;
	return n;
}

/* By the kept records alone: does the attempt count? */
static bool
counts(const struct txn_logged *r, unsigned n, unsigned i)
{
	bool last = false;
	unsigned parts = 0;
	for (unsigned k = 0; k < n; k++) {
		if (r[k].lock != 1 + i / 2 || r[k].check != 7 + i % 2)
			continue;
		if (r[k].kind == TXN_LOGGED_UNDONE)
			return false;
		if (r[k].kind == TXN_LOGGED_COMMIT) {
			assert_int_equal(r[k].part, parts);
			parts++;
			last |= r[k].flags != 0;
		}
	}
	return last;
}

/* What is kept counts iff it was whole before the end, and was never undone. */
static void
judge(const struct txn_logged *r, unsigned n, uint64_t end)
{
	unsigned before = end == TXN_CUT_NO_END ? world.n : (unsigned)((end - 1000) / 48);
	assert_true(n >= before);
	assert_memory_equal(r, world.record, before * sizeof *r);
	for (unsigned i = 0; i < ATTEMPTS; i++) {
		const struct attempt *a = &world.a[i];
		bool is = a->last != 0 && a->last < end && !a->undone;
		assert_int_equal(counts(r, n, i), is);
	}
	/* Behind the end: what undoes an attempt that has a record before it, once each. */
	for (unsigned k = before; k < n; k++) {
		assert_int_equal(r[k].kind, TXN_LOGGED_UNDONE);
		unsigned has = 0;
		for (unsigned j = 0; j < before; j++)
			has += r[j].kind == TXN_LOGGED_COMMIT && r[j].lock == r[k].lock &&
			       r[j].check == r[k].check;
		assert_true(has > 0);
		for (unsigned j = before; j < k; j++)
			assert_false(r[j].lock == r[k].lock && r[j].check == r[k].check);
	}
}

static void
a_cut_at_each_record(void **state)
{
	(void)state;
	static struct txn_logged out[2 * RECORDS];
	unsigned undone = 0, split = 0;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct nam_rng d;
		nam_rng_init(&d, seed);
		make(&d, true);
		for (unsigned e = 0; e <= world.n; e++) {
			struct txn_cut c;
			txn_cut_at(&c, at(e));
			unsigned n = cut(&c, e, out);
			judge(out, n, at(e));
			undone += n - e;
			for (unsigned i = 0; i < ATTEMPTS; i++)
				split +=
				    world.a[i].parts > 1 && world.a[i].last >= at(e) && world.a[i].sent > 0;
			txn_cut_fini(&c);
		}
	}
	/* It was worth it. */
	assert_true(undone > 1000);
	assert_true(split > 1000);
}

static void
a_cut_at_each_time(void **state)
{
	(void)state;
	static struct txn_logged out[2 * RECORDS];
	unsigned refused = 0, all = 0, made = 0;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct nam_rng d;
		nam_rng_init(&d, seed);
		make(&d, true);
		for (unsigned turn = 0; turn < 60; turn++) {
			unsigned whole = (unsigned)nam_rng_below(&d, turn % 2 ? world.n / 2 : 3),
				 least = whole;
			int64_t until = 900 + (int64_t)nam_rng_below(&d, 1500), earliest = 0;
			struct txn_cut c;
			txn_cut_until(&c, at(whole), until);
			/* At least one record is kept. */
			if (least == 0)
				least = 1;
			for (unsigned i = 0; i < least; i++)
				if (world.record[i].time > earliest)
					earliest = world.record[i].time;
			unsigned n = cut(&c, 0, out), end = least;
			assert_int_equal(txn_cut_found(&c), until >= earliest);
			assert_false(c.timeless);
			if (until < earliest) {
				assert_int_equal(c.earliest, earliest);
				refused++;
				txn_cut_fini(&c);
				continue;
			}
			while (end < world.n && (world.record[end].kind != TXN_LOGGED_COMMIT ||
						    world.record[end].time <= until))
				end++;
			if (end == world.n)
				assert_true(c.end == TXN_CUT_NO_END);
			else
				assert_int_equal(c.end, at(end));
			/* No commit that is later, at all. */
			for (unsigned i = 0; i < n; i++)
				if (out[i].kind == TXN_LOGGED_COMMIT)
					assert_true(out[i].time <= until);
			judge(out, n, c.end);
			all += end == world.n;
			made++;
			txn_cut_fini(&c);
		}
	}
	assert_true(refused > 100);
	assert_true(all > 100);
	assert_true(made - all > 100);
}

static void
what_is_no_record(void **state)
{
	(void)state;
	struct nam_rng d;
	struct txn_cut c;
	struct txn_logged h = { .kind = TXN_LOGGED_COMMIT };
	txn_cut_at(&c, 100);
	assert_int_equal(txn_cut_look(&c, 200, &h, sizeof h - 1), NAM_CORRUPT);
	assert_int_equal(txn_cut_take(&c, &h, 0), NAM_CORRUPT);
	h.kind = 0;
	assert_int_equal(txn_cut_take(&c, &h, sizeof h), NAM_CORRUPT);
	h.kind = TXN_LOGGED_KEPT + 1;
	assert_int_equal(txn_cut_look(&c, 200, &h, sizeof h), NAM_CORRUPT);
	txn_cut_fini(&c);
	/* Of an older program. */
	nam_rng_init(&d, 5);
	make(&d, false);
	static struct txn_logged out[2 * RECORDS];
	txn_cut_until(&c, at(3), 1234);
	assert_int_equal(cut(&c, 0, out), world.n);
	assert_true(c.timeless);
	txn_cut_fini(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cut_at_each_record),
		cmocka_unit_test(a_cut_at_each_time),
		cmocka_unit_test(what_is_no_record),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
