/* history_test.c -- the judge decides from other transactions' reads whether one in doubt took
 * place. */
#include "history.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
	DROPPED = 1, /* a table that is not read after the transaction in doubt */
	KEPT = 2,    /* a table: the last transaction scans it */
	FILLED = 10, /* the commit id of what the tables have at first */
	DOUBT = 20,  /* ... of the transaction in doubt */
	AFTER = 30,  /* ... of one that comes later */
	END = 40,    /* the last snapshot */
	OLD = 100,   /* a value of the first ones: OLD + 10 * table + id */
	NEW = 200,   /* ... of those that the transaction in doubt writes */
	OTHER = 300, /* ... of one that comes later */
};

static void
add(struct hist_txn *t, enum hist_kind kind, unsigned table, uint64_t id, uint64_t value, uint64_t base,
    uint64_t snap)
{
	hist_add(t, (struct hist_op){
			.kind = kind, .table = table, .id = id, .value = value, .base = base, .snap = snap });
}

/* Objects 1 and 2 of each table exist. */
static struct hist *
filled(void)
{
	struct hist *h = hist_open();
	struct hist_txn *t = hist_begin(h, 0, 0, HIST_RC);
	for (unsigned table = DROPPED; table <= KEPT; table++)
		for (uint64_t id = 1; id <= 2; id++)
			add(t, HIST_WRITE, table, id, OLD + 10 * table + id, 0, FILLED - 1);
	hist_end(h, t, HIST_COMMITTED, FILLED);
	return h;
}

static uint64_t
old(unsigned table, uint64_t id)
{
	return OLD + 10 * table + id;
}

static struct hist_txn *
doubt(struct hist *h)
{
	return hist_begin(h, 1, 1, HIST_RC);
}

static void
inserts(struct hist_txn *t, unsigned table, uint64_t id)
{
	add(t, HIST_WRITE, table, id, NEW + 10 * table + id, 0, DOUBT - 1);
}

static void
deletes(struct hist_txn *t, unsigned table, uint64_t id)
{
	add(t, HIST_WRITE, table, id, 0, old(table, id), DOUBT - 1);
}

static void
in_doubt(struct hist *h, struct hist_txn *t)
{
	hist_end(h, t, HIST_UNKNOWN, DOUBT);
}

/* The last look: a scan that shows the objects whose values are given, up to a 0. */
static void
scan(struct hist *h, enum hist_kind kind, unsigned table, const uint64_t (*shown)[2])
{
	struct hist_txn *t = hist_begin(h, 0, 0, HIST_RC);
	add(t, kind, table, 0, 0, 0, END);
	for (; (*shown)[1] != 0; shown++)
		add(t, HIST_ITEM, table, (*shown)[0], (*shown)[1], 0, END);
	hist_end(h, t, HIST_COMMITTED, 0);
}

/* What the judge says of it: all is right, and of those in doubt so many took place. */
static void
judged(struct hist *h, bool right, size_t found, size_t lost)
{
	struct hist_bank none = { .table = 99 };
	struct hist_figures f;
	FILE *out = tmpfile();
	assert_non_null(out);
	assert_int_equal(hist_judge(h, &none, out), right);
	hist_figures(h, &f);
	assert_int_equal(f.found, found);
	assert_int_equal(f.lost, lost);
	fclose(out);
	hist_close(h);
}

static const uint64_t before[][2] = { { 1, OLD + 10 * KEPT + 1 }, { 2, OLD + 10 * KEPT + 2 }, { 0, 0 } };
static const uint64_t without_2[][2] = { { 1, OLD + 10 * KEPT + 1 }, { 0, 0 } };
static const uint64_t and_3[][2] = { { 1, OLD + 10 * KEPT + 1 }, { 2, OLD + 10 * KEPT + 2 },
	{ 3, NEW + 10 * KEPT + 3 }, { 0, 0 } };
static const uint64_t all_done[][2] = { { 1, OLD + 10 * KEPT + 1 }, { 3, NEW + 10 * KEPT + 3 }, { 0, 0 } };

/* It inserts into a table that is dropped before it is read, and deletes from another one. */
static struct hist *
dropped_and_kept(void)
{
	struct hist *h = filled();
	struct hist_txn *t = doubt(h);
	inserts(t, DROPPED, 3);
	deletes(t, KEPT, 2);
	in_doubt(h, t);
	return h;
}

static void
a_dropped_table_tells_nothing(void **state)
{
	(void)state;
	struct hist *h = dropped_and_kept();
	scan(h, HIST_SCAN, KEPT, without_2);
	judged(h, true, 1, 0);

	h = dropped_and_kept();
	scan(h, HIST_SCAN, KEPT, before);
	judged(h, true, 0, 1);

	/* In the other order. */
	h = filled();
	struct hist_txn *t = doubt(h);
	deletes(t, KEPT, 2);
	inserts(t, DROPPED, 3);
	deletes(t, DROPPED, 2);
	in_doubt(h, t);
	scan(h, HIST_SCAN, KEPT, without_2);
	judged(h, true, 1, 0);

	/* Two values, and the one that was dropped comes first. */
	h = filled();
	t = doubt(h);
	inserts(t, DROPPED, 3);
	inserts(t, KEPT, 3);
	in_doubt(h, t);
	scan(h, HIST_SCAN, KEPT, and_3);
	judged(h, true, 1, 0);
}

static void
all_of_it_or_nothing(void **state)
{
	(void)state;
	const struct {
		const uint64_t (*shown)[2];
		bool right;
		size_t found;
	} looks[] = { { before, true, 0 }, { all_done, true, 1 }, { without_2, false, 0 },
		{ and_3, false, 1 } };
	for (unsigned i = 0; i < sizeof looks / sizeof *looks; i++) {
		struct hist *h = filled();
		struct hist_txn *t = doubt(h);
		inserts(t, DROPPED, 3);
		inserts(t, KEPT, 3);
		deletes(t, KEPT, 2);
		in_doubt(h, t);
		scan(h, HIST_SCAN, KEPT, looks[i].shown);
		judged(h, looks[i].right, looks[i].found, !looks[i].found);
	}
	/* One deletion of two. */
	struct hist *h = filled();
	struct hist_txn *t = doubt(h);
	deletes(t, KEPT, 1);
	deletes(t, KEPT, 2);
	in_doubt(h, t);
	scan(h, HIST_SCAN, KEPT, without_2);
	judged(h, false, 0, 1);
}

static void
a_scan_before_it_or_cut_short_tells_nothing(void **state)
{
	(void)state;
	struct hist *h = filled();
	struct hist_txn *t = doubt(h), *early = hist_begin(h, 0, 2, HIST_RC);
	add(early, HIST_SCAN, DROPPED, 0, 0, 0, DOUBT - 1);
	add(early, HIST_ITEM, DROPPED, 1, old(DROPPED, 1), 0, DOUBT - 1);
	add(early, HIST_ITEM, DROPPED, 2, old(DROPPED, 2), 0, DOUBT - 1);
	hist_end(h, early, HIST_COMMITTED, 0);
	inserts(t, DROPPED, 3);
	deletes(t, KEPT, 2);
	in_doubt(h, t);
	static const uint64_t nothing[][2] = { { 0, 0 } };
	scan(h, HIST_CUT, DROPPED, nothing);
	scan(h, HIST_SCAN, KEPT, without_2);
	judged(h, true, 1, 0);
}

/* The table is never READ, but a later WRITE names the state that it found. */
static void
a_later_write_tells_what_it_found(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct hist *h = filled();
		struct hist_txn *t = doubt(h), *late;
		deletes(t, DROPPED, 1);
		deletes(t, DROPPED, 2);
		if (i == 2)
			inserts(t, DROPPED, 3);
		in_doubt(h, t);
		late = hist_begin(h, 0, 2, HIST_RC);
		if (i == 0) /* the first of them, but not the last */
			add(late, HIST_WRITE, DROPPED, 1, OTHER, old(DROPPED, 1), AFTER - 1);
		else if (i == 1)
			add(late, HIST_WRITE, DROPPED, 2, 0, old(DROPPED, 2), AFTER - 1);
		else if (i == 2)
			add(late, HIST_WRITE, DROPPED, 3, OTHER, 0, AFTER - 1);
		else /* over the deletion */
			add(late, HIST_WRITE, DROPPED, 1, OTHER, 0, AFTER - 1);
		hist_end(h, late, HIST_COMMITTED, AFTER);
		judged(h, true, i == 3, i != 3);
	}
}

static void
what_nobody_looked_at_is_right_either_way(void **state)
{
	(void)state;
	struct hist *h = filled();
	struct hist_txn *t = doubt(h);
	inserts(t, DROPPED, 3);
	deletes(t, DROPPED, 2);
	in_doubt(h, t);
	scan(h, HIST_SCAN, KEPT, before);
	judged(h, true, 0, 1);
}

static void
refused(struct hist_txn *t, unsigned table, uint64_t id, uint64_t snap)
{
	add(t, HIST_EXISTS, table, id, 0, 0, snap);
}

/* The row is not read before its table is dropped, but it refuses an insert. */
static void
a_refused_insert_tells_where_nothing_else_does(void **state)
{
	(void)state;
	enum { ALONE, OTHER_BEFORE, OTHER_GONE, OWN, OWN_GONE, OVER_BEFORE, SEEN_ABSENT, SEEN_WHOLE, CASES };
	static const struct {
		bool right;
		size_t found;
	} want[CASES] = { [ALONE] = { true, 1 },
		[OTHER_BEFORE] = { true, 0 },
		[OTHER_GONE] = { true, 1 },
		[OWN] = { true, 0 },
		[OWN_GONE] = { true, 1 },
		[OVER_BEFORE] = { false, 0 },
		[SEEN_ABSENT] = { false, 0 },
		[SEEN_WHOLE] = { false, 0 } };
	static const uint64_t nothing_new[][2] = { { 1, OLD + 10 * DROPPED + 1 },
		{ 2, OLD + 10 * DROPPED + 2 }, { 0, 0 } };
	for (unsigned i = 0; i < CASES; i++) {
		struct hist *h = filled();
		struct hist_txn *late = hist_begin(h, 0, 2, HIST_RC);
		if (i == OTHER_BEFORE || i == OTHER_GONE) {
			struct hist_txn *other = hist_begin(h, 0, 3, HIST_RC);
			add(other, HIST_WRITE, DROPPED, 3, OTHER, 0, FILLED);
			hist_end(h, other, HIST_COMMITTED, FILLED + 1);
		}
		if (i == OTHER_GONE) {
			struct hist_txn *other = hist_begin(h, 0, 3, HIST_RC);
			add(other, HIST_WRITE, DROPPED, 3, 0, OTHER, FILLED + 1);
			hist_end(h, other, HIST_COMMITTED, FILLED + 2);
		}
		if (i == OVER_BEFORE) {
			refused(late, DROPPED, 3, DOUBT - 2);
			hist_end(h, late, HIST_ABORTED, 0);
		}
		struct hist_txn *t = doubt(h);
		inserts(t, DROPPED, 3);
		if (i == SEEN_WHOLE)
			deletes(t, KEPT, 2);
		if (i == OWN || i == OWN_GONE)
			add(late, HIST_WRITE, DROPPED, 3, OTHER, 0, DOUBT - 2);
		if (i == OWN_GONE)
			add(late, HIST_WRITE, DROPPED, 3, 0, OTHER, DOUBT - 2);
		if (i != OVER_BEFORE) {
			refused(late, DROPPED, 3, DOUBT - 2);
			hist_end(h, late, HIST_ABORTED, 0);
		}
		in_doubt(h, t);
		if (i == SEEN_ABSENT)
			scan(h, HIST_SCAN, DROPPED, nothing_new);
		scan(h, HIST_SCAN, KEPT, before);
		judged(h, want[i].right, want[i].found, !want[i].found);
	}
}

/* Two in doubt inserted the key that is refused. One of them is known not to have taken place. */
static void
of_two_that_may_have_refused_it_was_the_other(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct hist *h = filled();
		struct hist_txn *late = hist_begin(h, 0, 2, HIST_RC), *t[2];
		t[0] = doubt(h);
		t[1] = doubt(h);
		for (unsigned k = 0; k < 2; k++) {
			add(t[k], HIST_WRITE, DROPPED, 3, NEW + k, 0, DOUBT - 1);
			if (k == i)
				inserts(t[k], KEPT, 3);
		}
		refused(late, DROPPED, 3, DOUBT - 2);
		hist_end(h, late, HIST_ABORTED, 0);
		for (unsigned k = 0; k < 2; k++)
			hist_end(h, t[k], HIST_UNKNOWN, DOUBT + k);
		scan(h, HIST_SCAN, KEPT, before);
		judged(h, true, 1, 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dropped_table_tells_nothing),
		cmocka_unit_test(all_of_it_or_nothing),
		cmocka_unit_test(a_scan_before_it_or_cut_short_tells_nothing),
		cmocka_unit_test(a_later_write_tells_what_it_found),
		cmocka_unit_test(what_nobody_looked_at_is_right_either_way),
		cmocka_unit_test(a_refused_insert_tells_where_nothing_else_does),
		cmocka_unit_test(of_two_that_may_have_refused_it_was_the_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
