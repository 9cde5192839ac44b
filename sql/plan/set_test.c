/* set_test.c -- sets of tables against arrays of booleans, which know nothing of words. */
#include <sql/plan/set.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 3000 };

/* Both ways to say the same set. */
struct both {
	struct sql_set s;
	bool b[SQL_TABLES_MAX];
};

static unsigned seed = 1;

static unsigned
dice(unsigned n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % n;
}

/* Few, many, or a range of them; numbers beside the ends of words come often. */
static struct both
any(void)
{
	struct both x = { .s = sql_set_none() };
	unsigned n = dice(3) == 0 ? dice(SQL_TABLES_MAX) : dice(4);
	for (unsigned i = 0; i < n; i++) {
		unsigned k = dice(2) ? dice(SQL_TABLES_MAX) : (dice(8) * 64 + 62 + dice(4)) % SQL_TABLES_MAX;
		sql_set_put(&x.s, k);
		x.b[k] = true;
	}
	return x;
}

static void
same(const struct sql_set *s, const bool *b)
{
	unsigned n = 0, k = sql_set_first(s, SQL_TABLES_MAX);
	for (unsigned i = 0; i < SQL_TABLES_MAX; i++) {
		assert_int_equal(sql_set_has(s, i), b[i]);
		if (!b[i])
			continue;
		n++;
		assert_int_equal(k, i);
		k = sql_set_next(s, k, SQL_TABLES_MAX);
	}
	assert_int_equal(k, SQL_TABLES_MAX);
	assert_int_equal(sql_set_count(s), n);
	assert_int_equal(sql_set_is_empty(s), n == 0);
	assert_int_equal(sql_set_is_many(s), n > 1);
}

static void
operations(void **state)
{
	(void)state;
	for (unsigned r = 0; r < ROUNDS; r++) {
		struct both x = any(), y = any();
		bool either[SQL_TABLES_MAX], in_both[SQL_TABLES_MAX], only_x[SQL_TABLES_MAX];
		bool within = true, meets = false;
		if (dice(3) == 0) /* some of x: within it */
			for (unsigned i = 0; i < SQL_TABLES_MAX; i++) {
				y.b[i] = x.b[i] && dice(3) > 0;
				y.s = i == 0 ? sql_set_none() : y.s;
				if (y.b[i])
					sql_set_put(&y.s, i);
			}
		for (unsigned i = 0; i < SQL_TABLES_MAX; i++) {
			either[i] = x.b[i] || y.b[i];
			in_both[i] = x.b[i] && y.b[i];
			only_x[i] = x.b[i] && !y.b[i];
			within &= !y.b[i] || x.b[i];
			meets |= in_both[i];
		}
		struct sql_set s = sql_set_or(&x.s, &y.s);
		same(&x.s, x.b);
		same(&s, either);
		s = sql_set_and(&x.s, &y.s);
		same(&s, in_both);
		s = sql_set_without(&x.s, &y.s);
		same(&s, only_x);
		assert_int_equal(sql_set_within(&y.s, &x.s), within);
		assert_int_equal(sql_set_meets(&x.s, &y.s), meets);
		assert_int_equal(sql_set_equal(&x.s, &y.s), memcmp(x.b, y.b, sizeof x.b) == 0);
		assert_true(sql_set_equal(&x.s, &x.s));
	}
}

static void
numbers(void **state)
{
	(void)state;
	for (unsigned r = 0; r < ROUNDS; r++) {
		struct both x = any();
		bool b[SQL_TABLES_MAX] = { false };
		unsigned by = dice(2) ? dice(SQL_TABLES_MAX) : dice(SQL_SET_WORDS) * 64;
		for (unsigned i = by; i < SQL_TABLES_MAX; i++)
			b[i] = x.b[i - by];
		struct sql_set s = sql_set_moved(&x.s, by);
		same(&s, b);
		unsigned first = dice(SQL_TABLES_MAX), end = first + dice(SQL_TABLES_MAX + 1 - first);
		for (unsigned i = 0; i < SQL_TABLES_MAX; i++)
			b[i] = i >= first && i < end;
		s = sql_set_range(first, end);
		same(&s, b);
		/* what is behind the end is not looked for */
		unsigned k = first;
		while (k < end && !x.b[k])
			k++;
		unsigned at = sql_set_from(&x.s, first, end);
		assert_int_equal(at < end ? at : end, k);
		memset(b, 0, sizeof b);
		b[first] = true;
		s = sql_set_one(first);
		same(&s, b);
	}
	struct sql_set all = sql_set_all(), range = sql_set_range(0, SQL_TABLES_MAX), none = sql_set_none();
	assert_true(sql_set_equal(&all, &range));
	assert_int_equal(sql_set_count(&all), SQL_TABLES_MAX);
	assert_true(sql_set_is_empty(&none));
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(operations), cmocka_unit_test(numbers) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
