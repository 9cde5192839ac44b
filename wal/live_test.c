/*
 * live_test.c -- the life that is being written is read up to where it is flushed, while it grows
 * and its begin is cut off; and what was read becomes a log of its own.
 */
#include <base/rng.h>
#include <wal/testing/faulty.h>
#include <wal/testing/scene.h>
#include <wal/wal_format.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RECORDS = 1500 };

static char book[RECORDS][WAL_SCENE_LONGEST];
static uint32_t book_len[RECORDS];
static uint64_t book_at[RECORDS + 1]; /* positions */

static struct wal *
open_log(struct wal_dir *d, bool copy)
{
	struct wal_config cfg;
	struct nam_err err;
	struct wal *w;
	wal_scene_config(&cfg, d);
	cfg.copy = copy;
	if (wal_open(&w, &cfg, &err) != NAM_OK)
		fail_msg("%s", err.text);
	return w;
}

static struct wal_state
state_of(const struct wal *w)
{
	struct wal_state s;
	wal_state(w, &s);
	return s;
}

static uint32_t
begin_at(struct wal *w, uint64_t position)
{
	uint32_t life;
	while (wal_begin_at(w, 77, position, &life) == NAM_BUSY)
		wal_step(w);
	return life;
}

static void
append(struct wal *w, uint32_t life, const void *bytes, uint32_t len)
{
	uint64_t end;
	nam_status st;
	while ((st = wal_append(w, life, bytes, len, false, &end)) == NAM_BUSY)
		wal_step(w);
	assert_int_equal(st, NAM_OK);
}

/* The records that are read are those of the book, from number i on. Their number. */
static unsigned
compare(const char *buf, uint32_t got, unsigned i)
{
	unsigned n = 0;
	for (uint32_t at = 0; at < got; n++) {
		struct wal_record_head head;
		memcpy(&head, buf + at, sizeof head);
		assert_int_equal(head.bytes, book_len[i + n]);
		assert_memory_equal(buf + at + sizeof head, book[i + n], head.bytes);
		at += (uint32_t)sizeof head + ((head.bytes + 7) & ~7u);
	}
	return n;
}

/* Some records from number *next on, or from any other one that is there. */
static void
read_some(struct wal *w, uint32_t life, unsigned written, unsigned *next, struct nam_rng *d)
{
	static char buf[3 * WAL_SCENE_LONGEST];
	struct wal_state s = state_of(w);
	struct nam_err err;
	uint32_t got;
	uint64_t to;
	bool jump = nam_rng_below(d, 4) == 0;
	unsigned i = jump ? (unsigned)nam_rng_below(d, written + 1) : *next;
	nam_status st = wal_read_live(w, life, book_at[i], buf,
	    WAL_SCENE_LONGEST + 16 + (uint32_t)nam_rng_below(d, 2 * WAL_SCENE_LONGEST - 16), &got, &to, &err);
	if (book_at[i] > s.flushed) {
		assert_int_equal(st, NAM_INVALID);
		return;
	}
	if (book_at[i] < s.begin) {
		assert_int_equal(st, NAM_ABSENT);
		return;
	}
	if (st != NAM_OK)
		fail_msg("%s", err.text);
	assert_int_equal(got == 0, book_at[i] == s.flushed);
	unsigned n = compare(buf, got, i);
	assert_int_equal(to, book_at[i + n]);
	assert_true(to <= s.flushed);
	if (!jump)
		*next = i + n;
}

/* The records from number i to n - 1 as a log of their own. */
static void
copy(unsigned i, unsigned n, uint64_t seed)
{
	static char buf[1 << 20];
	struct wal_dir *d = wal_faulty_open(seed);
	struct wal *w = open_log(d, true), *other;
	struct wal_config cfg;
	struct nam_err err;
	unsigned first = i;
	uint64_t position = 0;
	/* The first try is given up. */
	uint32_t got, life = begin_at(w, 8);
	append(w, life, "x", 1);
	life = begin_at(w, book_at[i]);
	for (unsigned k = i; k < n; k++)
		append(w, life, book[k], book_len[k]);
	wal_scene_config(&cfg, d);
	assert_int_equal(wal_open(&other, &cfg, &err), NAM_REFUSED);
	assert_non_null(strstr(err.text, "has not come to its end"));
	cfg.copy = true;
	assert_int_not_equal(wal_open(&other, &cfg, &err), NAM_OK);
	assert_int_equal(wal_publish_copy(w, life, book_at[i] + 8), NAM_OK);
	while (wal_step(w))
		;
	assert_int_equal(state_of(w).published, life);
	wal_close(w);
	wal_faulty_cut(d);
	assert_int_equal(wal_open(&other, &cfg, &err), NAM_INVALID);
	w = open_log(d, false);
	struct wal_state s = state_of(w);
	assert_int_equal(s.begin, book_at[i]);
	assert_int_equal(s.end, book_at[n]);
	assert_int_equal(s.whole, book_at[i] + 8);
	assert_int_equal(s.cluster, 77);
	for (got = 1; got > 0; i += compare(buf, got, i))
		if (wal_read(w, position, buf, sizeof buf, &got, &position, &err) != NAM_OK)
			fail_msg("%s", err.text);
	assert_int_equal(i, n);
	/* The next life begins at 0 again. */
	life = begin_at(w, 0);
	append(w, life, "new", 3);
	assert_int_equal(wal_publish(w, life), NAM_OK);
	while (wal_step(w))
		;
	wal_close(w);
	w = open_log(d, false);
	assert_int_equal(state_of(w).begin, 0);
	assert_int_equal(state_of(w).whole, 16);
	assert_int_equal(state_of(w).end, 16);
	wal_close(w);
	/* What a torn end lacks is told. */
	assert_true(first < n);
	wal_faulty_close(d);
}

static void
play(uint64_t seed)
{
	struct nam_rng dice;
	nam_rng_init(&dice, seed);
	struct wal_dir *d = wal_faulty_open(seed);
	struct wal *w = open_log(d, false);
	struct nam_err err;
	uint32_t got, life = begin_at(w, 0);
	uint64_t to;
	char none[64];
	unsigned n = 0, next = 0, first = 0;
	assert_int_equal(wal_read_live(w, life, 0, none, sizeof none, &got, &to, &err), NAM_REFUSED);
	assert_int_equal(wal_publish(w, life), NAM_OK);
	while (wal_step(w))
		;
	while (n < RECORDS) {
		switch (nam_rng_below(&dice, 8)) {
		case 0:
		case 1:
		case 2:
			book_len[n] = wal_scene_record(life, n, book[n]);
			append(w, life, book[n], book_len[n]);
			book_at[n + 1] = book_at[n] + 8 + (book_len[n] + 7) / 8 * 8;
			assert_int_equal(state_of(w).received, book_at[n + 1]);
			n++;
			break;
		case 3:
		case 4:
		case 5:
			wal_step(w);
			break;
		case 6:
			if (nam_rng_below(&dice, 200) == 0) {
				first += (unsigned)nam_rng_below(&dice, n - first + 1);
				assert_int_equal(wal_cut(w, life, book_at[first]), NAM_OK);
				while (wal_step(w))
					;
				assert_int_equal(state_of(w).begin, book_at[first]);
				if (next < first)
					next = first;
			}
			break;
		default:
			read_some(w, life, n, &next, &dice);
		}
	}
	while (wal_step(w))
		;
	while (next < n)
		read_some(w, life, n, &next, &dice);
	assert_int_equal(wal_read_live(w, life + 1, 0, none, sizeof none, &got, &to, &err), NAM_REFUSED);
	begin_at(w, 0);
	assert_int_equal(
	    wal_read_live(w, life, book_at[first], none, sizeof none, &got, &to, &err), NAM_REFUSED);
	wal_close(w);
	wal_faulty_close(d);
	if (first < n)
		copy(first, n, seed + 1);
}

static void
a_life_is_read_while_it_grows(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++)
		play(seed);
}

/* A block that was changed behind the log's back. */
static void
a_flip_is_told(void **state)
{
	(void)state;
	static char buf[1 << 16];
	struct wal_dir *d = wal_faulty_open(3);
	struct wal *w = open_log(d, false);
	struct nam_err err;
	uint32_t got, life = begin_at(w, 0);
	uint64_t to, size;
	assert_int_equal(wal_publish(w, life), NAM_OK);
	while (wal_step(w))
		;
	for (unsigned i = 0; i < 3; i++) {
		append(w, life, "a block of its own", 18);
		while (wal_step(w))
			;
	}
	char *f = wal_faulty_bytes(d, "log-00000001-00000000", &size);
	f[2 * 4096 + 70] ^= 1;
	assert_int_equal(wal_read_live(w, life, 0, buf, sizeof buf, &got, &to, &err), NAM_CORRUPT);
	assert_non_null(strstr(err.text, "log-00000001-00000000 is damaged at offset 8192"));
	f[2 * 4096 + 70] ^= 1;
	assert_int_equal(wal_read_live(w, life, 0, buf, sizeof buf, &got, &to, &err), NAM_OK);
	assert_int_equal(to, 3 * 32);
	assert_int_equal(wal_read_live(w, life, 0, buf, 16, &got, &to, &err), NAM_INVALID);
	assert_int_equal(wal_read_live(w, life, 8, buf, sizeof buf, &got, &to, &err), NAM_INVALID);
	wal_close(w);
	wal_faulty_close(d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_life_is_read_while_it_grows),
		cmocka_unit_test(a_flip_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
