/*
 * tpch_test.c -- compares the rows of scale 0.1 with §4.2 of the specification, and with each
 * other.
 *
 * Formulas are written here a second time, from the specification, so that a mistake in
 * rows.c is not its own judge.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka after the four above */
#include "tpch.h"

#include <cmocka.h>

enum {
	SCALE = 10,
	POOL = 8 << 20,
	COLUMNS_MAX = 20,
	SUPPLIERS = 1000,
	PARTS = 20000,
	CUSTOMERS = 15000,
	ORDERS = 150000
};

static struct tpch data;

static int
open_data(void **state)
{
	(void)state;
	return tpch_open(&data, SCALE, 1, POOL) ? 0 : -1;
}

static int
close_data(void **state)
{
	(void)state;
	tpch_close(&data);
	return 0;
}

/* One row, cut at its bars. */
struct row {
	char *col[COLUMNS_MAX];
	unsigned cols;
};

/* Cuts the rows of an item; answers how many there were. */
static unsigned
cut(enum tpch_table t, int64_t i, char *text, struct row *row)
{
	unsigned said, rows = 0;
	size_t n = tpch_item(&data, t, i, text, &said);
	assert_true(n < TPCH_ITEM_BYTES);
	text[n] = 0;
	for (char *at = text, *end; *at; at = end + 1, rows++) {
		end = strchr(at, '\n');
		assert_non_null(end);
		*end = 0;
		row[rows].cols = 0;
		for (char *c = at; c != NULL; c = strchr(c, '|')) {
			if (row[rows].cols > 0)
				*c++ = 0;
			row[rows].col[row[rows].cols++] = c;
		}
	}
	assert_int_equal(rows, said);
	return rows;
}

static int64_t
number(const char *s)
{
	char *end;
	int64_t x = strtoll(s, &end, 10);
	assert_int_equal(*end, 0);
	return x;
}

/* In cents. */
static int64_t
money(const char *s)
{
	const char *point = strchr(s, '.');
	assert_non_null(point);
	assert_int_equal(strlen(point), 3);
	int64_t whole = llabs(strtoll(s, NULL, 10)) * 100 + number(point + 1);
	return *s == '-' ? -whole : whole;
}

static bool
within(int64_t x, int64_t low, int64_t high)
{
	return x >= low && x <= high;
}

#define between(x, low, high) assert_true(within((int64_t)(x), low, high))

/* A mean is near what it should be: of so many draws whose spread is that. */
#define near(mean, should, spread, n) assert_true(fabs((mean) - (should)) < 5 * (spread) / sqrt(n))

static void
counts(void **state)
{
	(void)state;
	static const int64_t rows[TPCH_TABLES] = { 5, 25, SUPPLIERS, PARTS, 4 * PARTS, CUSTOMERS, ORDERS, 0 };
	static const unsigned columns[TPCH_TABLES] = { 3, 4, 7, 9, 5, 8, 9, 16 };
	char text[TPCH_ITEM_BYTES];
	struct row row[TPCH_LINES_MAX];
	for (unsigned t = 0; t < TPCH_TABLES; t++) {
		int64_t n = 0;
		for (int64_t i = 0; i < tpch_items(&data, t); i++) {
			n += cut(t, i, text, row);
			assert_int_equal(row[0].cols, columns[t]);
		}
		if (t != TPCH_LINEITEM)
			assert_int_equal(n, rows[t]);
		else /* one to seven of each order: four, with a spread of two */
			near((double)n / ORDERS, 4.0, 2.0, ORDERS);
	}
}

static void
suppliers(void **state)
{
	(void)state;
	char text[TPCH_ITEM_BYTES], want[64];
	struct row row[1];
	unsigned complain = 0, recommend = 0;
	double balance = 0;
	for (int64_t i = 0; i < SUPPLIERS; i++) {
		cut(TPCH_SUPPLIER, i, text, row);
		assert_int_equal(number(row->col[0]), i + 1);
		snprintf(want, sizeof want, "Supplier#%09d", (int)i + 1);
		assert_string_equal(row->col[1], want);
		between(strlen(row->col[2]), 10, 40);
		between(number(row->col[3]), 0, 24);
		snprintf(want, sizeof want, "%d-", (int)number(row->col[3]) + 10);
		assert_memory_equal(row->col[4], want, strlen(want));
		assert_int_equal(strlen(row->col[4]), 15);
		between(money(row->col[5]), -99999, 999999);
		balance += (double)money(row->col[5]) / 100;
		between(strlen(row->col[6]), 25, 100);
		const char *c = strstr(row->col[6], "Customer");
		complain += c != NULL && strstr(c, "Complaints") != NULL;
		recommend += c != NULL && strstr(c, "Recommends") != NULL;
	}
	near(balance / SUPPLIERS, 4500.0, 3175.0, SUPPLIERS);
	assert_int_equal(complain, 1); /* five each at scale 1, at least one */
	assert_int_equal(recommend, 1);
}

static void
parts(void **state)
{
	(void)state;
	char text[TPCH_ITEM_BYTES];
	struct row row[4];
	int64_t prices = 0, green = 0, of_supplier[SUPPLIERS + 1] = { 0 };
	double cost = 0;
	for (int64_t i = 0; i < PARTS; i++) {
		cut(TPCH_PART, i, text, row);
		int64_t key = i + 1, price = 90000 + key / 10 % 20001 + 100 * (key % 1000);
		assert_int_equal(number(row->col[0]), key);
		unsigned spaces = 0;
		for (const char *c = row->col[1]; *c; c++)
			spaces += *c == ' ';
		assert_int_equal(spaces, 4);
		green += strstr(row->col[1], "green") != NULL;
		assert_memory_equal(row->col[2], "Manufacturer#", 13);
		assert_memory_equal(row->col[3], "Brand#", 6);
		assert_int_equal(row->col[2][13], row->col[3][6]);
		between(row->col[3][7], '1', '5');
		between(number(row->col[5]), 1, 50);
		assert_int_equal(money(row->col[7]), price);
		between(strlen(row->col[8]), 5, 22);
		prices += price;
		cut(TPCH_PARTSUPP, i, text, row);
		for (unsigned k = 0; k < 4; k++) {
			int64_t s =
			    (key + (int64_t)k * (SUPPLIERS / 4 + (key - 1) / SUPPLIERS)) % SUPPLIERS + 1;
			assert_int_equal(number(row[k].col[0]), key);
			assert_int_equal(number(row[k].col[1]), s);
			of_supplier[s]++;
			for (unsigned j = 0; j < k; j++)
				assert_string_not_equal(row[j].col[1], row[k].col[1]);
			between(number(row[k].col[2]), 1, 9999);
			between(money(row[k].col[3]), 100, 100000);
			cost += (double)money(row[k].col[3]) / 100;
			between(strlen(row[k].col[4]), 49, 198);
		}
	}
	/*
	 * by hand, in cents: 20000 * 90000, the tenths of the keys 19992000, their thousands'
	 * rests 100 * 20 * 499500
	 */
	assert_int_equal(prices, INT64_C(2818992000));
	near((double)green / PARTS, 5.0 / 92, 0.227, PARTS);
	near(cost / (4.0 * PARTS), 500.5, 288.4, 4.0 * PARTS);
	for (unsigned s = 1; s <= SUPPLIERS; s++)
		assert_int_equal(of_supplier[s], 4 * PARTS / SUPPLIERS);
}

/* Days since 1992-01-01, by counting. */
static int64_t
day(const char *s)
{
	static const int before[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };
	int y, m, d;
	assert_int_equal(sscanf(s, "%4d-%2d-%2d", &y, &m, &d), 3);
	between(m, 1, 12);
	between(d, 1, 31);
	return (y - 1992) * 365 + (y - 1989) / 4 + before[m - 1] + (m > 2 && y % 4 == 0) + d - 1;
}

static void
days(void **state)
{
	(void)state;
	assert_int_equal(day("1992-01-01"), 0);
	assert_int_equal(day("1995-06-17"), 1263);
	assert_int_equal(day("1998-12-31"), 2556);
}

/* Lines of an order, and what the order says of them. */
static void
order(int64_t i, unsigned *lines, unsigned *returned)
{
	char text[TPCH_ITEM_BYTES], other[TPCH_ITEM_BYTES];
	struct row o[1], l[TPCH_LINES_MAX];
	static const int64_t today = 1263;
	cut(TPCH_ORDERS, i, text, o);
	*lines = cut(TPCH_LINEITEM, i, other, l);
	int64_t key = number(o->col[0]), ordered = day(o->col[4]), total = 0, open = 0;
	assert_true((key - 1) % 32 < 8); /* eight keys of each 32 */
	assert_int_equal((key - 1) / 32 * 8 + (key - 1) % 32, i);
	between(number(o->col[1]), 1, CUSTOMERS);
	assert_int_not_equal(number(o->col[1]) % 3, 0);
	between(ordered, 0, 2556 - 151);
	assert_memory_equal(o->col[6], "Clerk#", 6);
	between(number(o->col[6] + 6), 1, SCALE * 10);
	assert_string_equal(o->col[7], "0");
	between(strlen(o->col[8]), 19, 78);
	*returned = 0;
	for (unsigned k = 0; k < *lines; k++) {
		char *const *c = l[k].col;
		int64_t part = number(c[1]), quantity = money(c[4]), price = money(c[5]), off = money(c[6]),
			tax = money(c[7]);
		int64_t ship = day(c[10]), commit = day(c[11]), receipt = day(c[12]);
		assert_int_equal(number(c[0]), key);
		assert_int_equal(number(c[3]), k + 1);
		between(part, 1, PARTS);
		bool sold = false; /* one of the part's four suppliers */
		for (int64_t n = 0; n < 4; n++)
			sold |= (part + n * (SUPPLIERS / 4 + (part - 1) / SUPPLIERS)) % SUPPLIERS + 1 ==
				number(c[2]);
		assert_true(sold);
		between(quantity, 100, 5000);
		assert_int_equal(price, quantity / 100 * (90000 + part / 10 % 20001 + 100 * (part % 1000)));
		between(off, 0, 10);
		between(tax, 0, 8);
		between(ship - ordered, 1, 121);
		between(commit - ordered, 30, 90);
		between(receipt - ship, 1, 30);
		assert_int_equal(*c[8] == 'N', receipt > today);
		assert_int_equal(*c[9], ship > today ? 'O' : 'F');
		*returned += *c[8] == 'R';
		open += ship > today;
		between(strlen(c[15]), 10, 43);
		total += price * (100 - off) * (100 + tax);
	}
	assert_true(llabs(money(o->col[3]) * 10000 - total) <= 5000);
	assert_string_equal(o->col[2], open == 0 ? "F" : open == *lines ? "O" : "P");
}

static void
orders(void **state)
{
	(void)state;
	uint64_t lines = 0, returned = 0;
	for (int64_t i = 0; i < ORDERS; i += 3) {
		unsigned n, r;
		order(i, &n, &r);
		lines += n;
		returned += r;
	}
	/* half of what was received until 1995-06-17: nearly half of all */
	near((double)returned / (double)lines, 0.2475, 0.5, (double)lines / 10);
}

/* Words of comments come as often as they should, and nothing but sentences of the grammar. */
static void
comments(void **state)
{
	(void)state;
	uint64_t letters = 0, furiously = 0, adverbs = 0, the = 0;
	const char *p = data.pool;
	for (size_t i = 0; i + 16 < data.pool_len; i++) {
		assert_non_null(strchr("abcdefghijklmnopqrstuvwxyzT ,.;:?!-", p[i]));
		letters += p[i] != ' ';
		if (i > 0 && p[i - 1] != ' ')
			continue;
		assert_true(p[i] != ' '); /* no two spaces */
		furiously += memcmp(p + i, "furiously ", 10) == 0;
		adverbs += memcmp(p + i, "carefully ", 10) == 0;
		the += memcmp(p + i, "the ", 4) == 0;
	}
	assert_true(letters * 10 > data.pool_len * 8);
	assert_true(the > data.pool_len / 200);
	near((double)furiously / (double)adverbs, 1.0, 1.5, (double)adverbs);
}

static void
seeds(void **state)
{
	(void)state;
	struct tpch same, other;
	char a[TPCH_ITEM_BYTES], b[TPCH_ITEM_BYTES];
	assert_true(tpch_open(&same, SCALE, 1, POOL));
	assert_true(tpch_open(&other, SCALE, 2, POOL));
	assert_memory_equal(same.pool, data.pool, POOL);
	for (unsigned t = TPCH_SUPPLIER; t < TPCH_TABLES; t++) {
		unsigned rows, differ = 0;
		for (int64_t i = 0; i < 100; i++) {
			size_t n = tpch_item(&data, t, i, a, &rows);
			assert_int_equal(tpch_item(&same, t, i, b, &rows), n);
			assert_memory_equal(a, b, n);
			differ += tpch_item(&other, t, i, b, &rows) != n || memcmp(a, b, n) != 0;
		}
		assert_int_equal(differ, 100);
	}
	tpch_close(&same);
	tpch_close(&other);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(counts), cmocka_unit_test(suppliers),
		cmocka_unit_test(parts), cmocka_unit_test(days), cmocka_unit_test(orders),
		cmocka_unit_test(comments), cmocka_unit_test(seeds) };
	return cmocka_run_group_tests_name("tpch", tests, open_data, close_data);
}
