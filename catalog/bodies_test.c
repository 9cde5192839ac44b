/* bodies_test.c -- bodies cut into records at random, against their items. */
#include "bodies.h"

#include <base/rng.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BODIES = 40, ITEMS = 60, LONGEST = 700, RUNS = 300, SYSTEM = 3, USERS = 20 };

struct body {
	char *bytes;
	uint64_t n, sent;
	uint32_t parts;
	unsigned rows; /* of users' tables */
	bool torn, begun;
};

/* What has come, as a sum over the items. */
struct seen {
	enum cat_bodies_want want;
	uint64_t sum;
	unsigned items;
	nam_status fails;
};

static uint64_t
sum_of(uint64_t cid, const struct txn_logged_item *item, const char *bytes, uint32_t n)
{
	uint64_t sum = cid * 31 + item->kind * 7 + item->table * 1009 + item->at * 13 + item->len;
	for (uint32_t i = 0; i < n; i++)
		sum = sum * 131 + (unsigned char)bytes[i];
	return sum;
}

static uint32_t
wanted(enum cat_bodies_want want, const struct txn_logged_item *item)
{
	bool row =
	    (item->kind == TXN_LOGGED_ROW || item->kind == TXN_LOGGED_KEPT_ROW) && item->table == USERS;
	if (want == CAT_BODIES_ROWS)
		return row ? item->len : 0;
	return !row ? item->len : item->kind == TXN_LOGGED_KEPT_ROW ? 8 : 0;
}

static nam_status
take(void *arg, const struct txn_logged *head, const struct txn_logged_item *item, const char *bytes,
    bool stays)
{
	struct seen *s = arg;
	(void)stays;
	s->sum += sum_of(head->cid, item, bytes, wanted(s->want, item));
	s->items++;
	return s->fails;
}

/* Fills a body, and adds what should be seen of it. */
static void
fill(struct nam_rng *rng, struct body *b, uint64_t cid, struct seen *all, struct seen *rows)
{
	unsigned items = (unsigned)nam_rng_below(rng, ITEMS);
	b->bytes = calloc(ITEMS + 1, sizeof(struct txn_logged_item) + LONGEST + 8);
	assert_non_null(b->bytes);
	b->torn = nam_rng_below(rng, 5) == 0;
	for (unsigned i = 0; i < items; i++) {
		static const uint32_t kinds[] = { TXN_LOGGED_ROW, TXN_LOGGED_KEPT_ROW, TXN_LOGGED_DELETED,
			TXN_LOGGED_VALUE };
		struct txn_logged_item item = { .kind = kinds[nam_rng_below(rng, 4)],
			.table = nam_rng_below(rng, 3) ? USERS : SYSTEM,
			.at = 8 * (1 + nam_rng_below(rng, 1000)) };
		item.len =
		    item.kind == TXN_LOGGED_DELETED ? 0 : 8 + (uint32_t)nam_rng_below(rng, LONGEST - 8);
		char *at = b->bytes + b->n;
		memcpy(at, &item, sizeof item);
		for (uint32_t k = 0; k < item.len; k++)
			at[sizeof item + k] = (char)nam_rng_below(rng, 256);
		b->n += sizeof item + ((item.len + 7) & ~7u);
		if (b->torn)
			continue;
		all->sum += sum_of(cid, &item, at + sizeof item, wanted(CAT_BODIES_WHOLE, &item));
		all->items++;
		if (wanted(CAT_BODIES_ROWS, &item) == 0)
			continue;
		rows->sum += sum_of(cid, &item, at + sizeof item, item.len);
		rows->items++;
	}
}

/* Sends all bodies, part by part in a random order, and those that are torn but for their end. */
static nam_status
send_all(uint64_t seed, struct body *body, struct cat_bodies *b)
{
	struct nam_rng rng;
	uint64_t number = 0;
	nam_status st = NAM_OK;
	nam_rng_init(&rng, seed);
	for (unsigned i = 0; i < BODIES; i++)
		body[i].sent = body[i].parts = body[i].begun = 0;
	for (unsigned left = 1; st == NAM_OK && left > 0;) {
		left = 0;
		for (unsigned i = 0; i < BODIES; i++) {
			struct body *x = &body[i];
			uint64_t most = x->n - x->sent;
			bool whole = x->begun && x->sent == x->n;
			if (whole || (x->torn && x->n == 0))
				continue;
			left++;
			if (nam_rng_below(&rng, 3) == 0)
				continue;
			uint64_t n = most > 0 ? 8 * nam_rng_below(&rng, 40) : 0;
			n = nam_rng_below(&rng, 10) == 0 || n > most ? most : n;
			bool ends = x->sent + n == x->n;
			struct txn_logged head = { .kind = TXN_LOGGED_COMMIT,
				.part = x->parts++,
				.flags = ends && !x->torn ? TXN_LOGGED_LAST : 0,
				.lock = 100 + i,
				.check = i % 7,
				.cid = 1 + i };
			x->begun = true;
			if ((st = cat_bodies_take(b, number++, &head, x->bytes + x->sent, (uint32_t)n)) !=
			    NAM_OK)
				break;
			x->sent += n;
		}
	}
	return st;
}

static void
test_random(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct nam_rng rng;
		struct body body[BODIES] = { 0 };
		struct seen all = { 0 }, rows = { 0 }, seen = { .want = CAT_BODIES_WHOLE };
		nam_rng_init(&rng, seed);
		for (unsigned i = 0; i < BODIES; i++)
			fill(&rng, &body[i], 1 + i, &all, &rows);
		struct cat_bodies b = { .want = CAT_BODIES_WHOLE, .item = take, .arg = &seen };
		assert_int_equal(send_all(seed, body, &b), NAM_OK);
		assert_int_equal(seen.items, all.items);
		assert_true(seen.sum == all.sum);
		uint64_t *torn;
		size_t torns;
		assert_int_equal(cat_bodies_torn(&b, &torn, &torns), NAM_OK);
		cat_bodies_clear(&b);
		seen = (struct seen){ .want = CAT_BODIES_ROWS };
		b = (struct cat_bodies){
			.want = CAT_BODIES_ROWS, .item = take, .arg = &seen, .torn = torn, .torns = torns
		};
		assert_int_equal(send_all(seed, body, &b), NAM_OK);
		assert_int_equal(seen.items, rows.items);
		assert_true(seen.sum == rows.sum);
		cat_bodies_clear(&b);
		free(torn);
		for (unsigned i = 0; i < BODIES; i++)
			free(body[i].bytes);
	}
}

static nam_status
one(struct cat_bodies *b, uint32_t part, bool last, const void *bytes, uint32_t n)
{
	const struct txn_logged head = { .kind = TXN_LOGGED_COMMIT,
		.part = part,
		.flags = last ? TXN_LOGGED_LAST : 0,
		.lock = 1,
		.cid = 9 };
	return cat_bodies_take(b, part, &head, bytes, n);
}

static void
test_damage(void **state)
{
	(void)state;
	struct seen seen = { .want = CAT_BODIES_WHOLE };
	struct cat_bodies b = { .item = take, .arg = &seen };
	struct {
		struct txn_logged_item item;
		char bytes[16];
	} x = { .item = { .kind = TXN_LOGGED_VALUE, .table = USERS, .at = 8, .len = 16 } };
	/* An item that is longer than its body, a part of a head, a part that is missing. */
	assert_int_equal(one(&b, 0, true, &x, sizeof x - 8), NAM_CORRUPT);
	assert_int_equal(one(&b, 0, true, &x, 24), NAM_CORRUPT);
	assert_int_equal(one(&b, 1, true, &x, sizeof x), NAM_CORRUPT);
	cat_bodies_clear(&b);
	x.item.at = 0;
	assert_int_equal(one(&b, 0, true, &x, sizeof x), NAM_CORRUPT);
	x.item.at = 8;
	/* A part that comes twice counts once. */
	assert_int_equal(one(&b, 0, false, &x, 8), NAM_OK);
	assert_int_equal(one(&b, 0, false, &x, 8), NAM_OK);
	assert_int_equal(seen.items, 0);
	assert_int_equal(one(&b, 1, true, (char *)&x + 8, sizeof x - 8), NAM_OK);
	assert_int_equal(seen.items, 1);
	/* Its begin was cut off. */
	b.cut = true;
	assert_int_equal(one(&b, 3, true, &x, sizeof x), NAM_OK);
	assert_int_equal(b.orphan, 9);
	seen.fails = NAM_NOMEM;
	assert_int_equal(one(&b, 0, true, &x, sizeof x), NAM_NOMEM);
	cat_bodies_clear(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random), cmocka_unit_test(test_damage) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
