/* row_test.c -- rows survive the round trip, and bytes that are no rows are refused; blobs in a
 * fake store. */
#include <base/hash.h>
#include <base/rng.h>
#include <catalog/catalog_internal.h>
#include <catalog/row_format.h>
#include <types/numeric.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- a blob store that stands in for txn's ---- */

static struct {
	char *bytes;
	uint32_t len;
} blob[100000];
static unsigned blobs;
static unsigned blob_reads; /* calls of txn_blob_get: each one would be a round trip */

/* Nothing here is newer than a snapshot. */
tso_cid
txn_snapshot(const struct txn *t)
{
	(void)t;
	return UINT64_MAX;
}

nam_status
cat_learn(struct txn *t)
{
	(void)t;
	return NAM_BUSY;
}

nam_status
txn_blob_put(struct txn *t, struct txn_table *table, const void *bytes, uint32_t len, struct txn_blob *out)
{
	(void)t;
	(void)table;
	assert_true(blobs < 100000);
	blob[blobs].bytes = malloc(len + 1u);
	memcpy(blob[blobs].bytes, bytes, len);
	blob[blobs].len = len;
	*out = (struct txn_blob){ .at = { ++blobs }, .len = len, .check = 7 };
	return NAM_OK;
}

nam_status
txn_blob_get(struct txn *t, const struct txn_blob *b, unsigned n, const void **out, struct nam_arena *arena)
{
	(void)t;
	(void)arena;
	blob_reads++;
	for (unsigned i = 0; i < n; i++) {
		uint64_t k = b[i].at.bits - 1;
		if (k >= blobs || blob[k].len != b[i].len || b[i].check != 7)
			return NAM_TORN;
		out[i] = blob[k].bytes;
	}
	return NAM_OK;
}

static void
forget_blobs(void)
{
	while (blobs > 0)
		free(blob[--blobs].bytes);
}

/* ---- random tables and rows ---- */

enum { COLUMNS = 40 };
static struct cat_column columns[COLUMNS];

static void
random_table(struct cat_table *out, struct nam_rng *r, unsigned keys)
{
	struct cat_table t = { .column = columns, .store = { .id = 77 } };
	struct cat_err err;
	t.columns = (uint16_t)(1 + nam_rng_below(r, COLUMNS));
	for (unsigned i = 0; i < t.columns; i++) {
		columns[i] = (struct cat_column){ .type = 1 + (enum cat_type)nam_rng_below(r, CAT_TYPES - 1),
			.typmod = -1 };
		if (columns[i].type == CAT_ENUM)
			columns[i].type = cat_type_enum(1 + (uint32_t)nam_rng_below(r, CAT_TYPE_IDS - 1));
		if (columns[i].type == CAT_TEXT && nam_rng_below(r, 2))
			columns[i].typmod = (int32_t)(1 + nam_rng_below(r, 60));
	}
	if (keys > t.columns)
		keys = t.columns;
	t.keys = (uint16_t)keys;
	for (unsigned i = 0; i < keys; i++)
		t.key[i] = (uint16_t)(keys - 1 - i); /* not in column order */
	*out = t;
	assert_true(cat_table_layout(out, &err)); /* the callbacks find it where it is */
}

static union cat_val
random_value(struct nam_rng *r, enum cat_type type, uint32_t longest, struct nam_arena *a)
{
	union cat_val v = { 0 };
	struct cat_err err;
	switch (type) {
	case CAT_BOOL:
		v.i = (int64_t)nam_rng_below(r, 2);
		break;
	case CAT_INT2:
		v.i = (int16_t)nam_rng_next(r);
		break;
	case CAT_INT4:
		v.i = (int32_t)nam_rng_next(r);
		break;
	case CAT_FLOAT4:
		v.f = (float)(int64_t)nam_rng_next(r) / 1024;
		break;
	case CAT_INTERVAL: {
		const char *s = nam_arena_printf(a, "%d mons %d days %d secs", (int)nam_rng_below(r, 90),
		    (int)nam_rng_below(r, 90), (int)nam_rng_below(r, 90000));
		assert_true(cat_value_in(type, -1, (struct cat_str){ s, (uint32_t)strlen(s) }, &v, a, &err));
		break;
	}
	case CAT_FLOAT8:
		v.f = (double)(int64_t)nam_rng_next(r) / 1024;
		break;
	case CAT_NUMERIC:
		assert_true(cat_num_from_int128(
		    (__int128)(int64_t)nam_rng_next(r), (unsigned)nam_rng_below(r, 9), &v.s, a, &err));
		break;
	case CAT_BPCHAR:
	case CAT_TEXT: {
		uint32_t n = (uint32_t)nam_rng_below(r, nam_rng_below(r, 4) ? 20 : longest);
		char *p = nam_arena_take(a, n + 1);
		for (uint32_t i = 0; i < n; i++)
			p[i] = (char)('a' + nam_rng_below(r, 26));
		v.s = (struct cat_str){ p, n };
		break;
	}
	default:
		v.i = (int64_t)nam_rng_next(r);
		break;
	}
	return v;
}

static void
assert_same(enum cat_type type, union cat_val a, union cat_val b)
{
	if (cat_type_is_str(type)) {
		assert_int_equal(a.s.len, b.s.len);
		if (a.s.len > 0)
			assert_memory_equal(a.s.p, b.s.p, a.s.len);
	} else {
		assert_int_equal(a.i, b.i);
	}
}

/* A row in malloc'd memory of exactly its size, so that a sanitizer sees one byte too far. */
static struct txn_row
own(struct cat_str s)
{
	char *p = malloc(s.len);
	memcpy(p, s.p, s.len);
	return (struct txn_row){ .bytes = p, .len = s.len };
}

static void
round_trip(uint64_t seed, unsigned n, uint32_t longest)
{
	struct nam_rng r;
	struct nam_arena a;
	nam_rng_init(&r, seed);
	nam_arena_init(&a, 0);
	struct cat_table t;
	random_table(&t, &r, (unsigned)nam_rng_below(&r, 4));
	union cat_val(*v)[COLUMNS] = calloc(n, sizeof *v);
	bool(*null)[COLUMNS] = calloc(n, sizeof *null);
	struct txn_row *rows = calloc(n, sizeof *rows);
	for (unsigned k = 0; k < n; k++) {
		struct cat_str s;
		for (unsigned i = 0; i < t.columns; i++) {
			v[k][i] = random_value(&r, columns[i].type, longest, &a);
			null[k][i] = nam_rng_below(&r, 5) == 0 && i >= t.keys;
		}
		unsigned before = blobs;
		assert_int_equal(cat_row_encode(&t, NULL, v[k], null[k], &s, &a), NAM_OK);
		assert_true(s.len <= t.store.row_max);
		rows[k] = own(s);
		/* Every blob that was made is named, and no other. */
		struct txn_blob named[TXN_BLOBS_MAX];
		unsigned got =
		    t.store.blobs ? t.store.blobs(&t.store, rows[k].bytes, s.len, named, TXN_BLOBS_MAX) : 0;
		assert_int_equal(got, blobs - before);
		for (unsigned i = 0; i < got; i++)
			assert_int_equal(named[i].at.bits, before + i + 1);
	}
	/* All columns, backwards; and none twice read. */
	uint16_t want[COLUMNS];
	struct cat_vec col[COLUMNS];
	for (unsigned i = 0; i < t.columns; i++)
		want[i] = (uint16_t)(t.columns - 1 - i);
	blob_reads = 0;
	assert_int_equal(cat_rows_decode(&t, NULL, rows, n, want, t.columns, col, &a), NAM_OK);
	assert_true(blob_reads <= 1);
	for (unsigned k = 0; k < n; k++)
		for (unsigned i = 0; i < t.columns; i++) {
			const struct cat_vec *x = &col[t.columns - 1 - i];
			assert_int_equal(x->type, columns[i].type);
			assert_int_equal(x->null[k], null[k][i]);
			if (!null[k][i])
				assert_same(columns[i].type, v[k][i], cat_vec_at(x, k));
		}
	/* Each row has its own key and no other row's. */
	for (unsigned k = 0; t.keys > 0 && k < n; k++) {
		union cat_val key[CAT_KEY_MAX];
		struct cat_str s;
		uint64_t hash;
		for (unsigned i = 0; i < t.keys; i++)
			key[i] = v[k][t.key[i]];
		assert_int_equal(cat_key_encode(&t, key, &s, &hash, &a), NAM_OK);
		assert_int_equal(hash, nam_hash(s.p, s.len, t.store.id));
		assert_true(t.store.same_key(&t.store, rows[k].bytes, rows[k].len, s.p, s.len));
		bool same = true;
		unsigned o = (k + 1) % n;
		for (unsigned i = 0; i < t.keys; i++)
			same &= cat_value_cmp(columns[t.key[i]].type, v[k][t.key[i]], v[o][t.key[i]]) == 0;
		assert_int_equal(t.store.same_key(&t.store, rows[o].bytes, rows[o].len, s.p, s.len), same);
		if (s.len > 0)
			assert_false(t.store.same_key(&t.store, rows[k].bytes, rows[k].len, s.p, s.len - 1));
	}
	for (unsigned k = 0; k < n; k++)
		free((void *)(uintptr_t)rows[k].bytes);
	free(rows);
	free(v);
	free(null);
	nam_arena_fini(&a);
	forget_blobs();
}

static void
random_rows(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 300; seed++)
		round_trip(seed, 1 + seed % 7, 50);
	for (uint64_t seed = 1; seed < 300; seed++)
		round_trip(seed, 1 + seed % 7, 5000);
	round_trip(1000, CAT_BATCH, 100);
	round_trip(1001, CAT_BATCH, 3000);
}

/* Every byte of a row changed, every length cut: an error or some values, never a step outside. */
static void
corrupt_rows(void **state)
{
	(void)state;
	unsigned refused = 0;
	for (uint64_t seed = 1; seed < 60; seed++) {
		struct nam_rng r;
		struct nam_arena a;
		nam_rng_init(&r, seed);
		nam_arena_init(&a, 0);
		struct cat_table t;
		random_table(&t, &r, 2);
		union cat_val v[COLUMNS], key[2];
		bool null[COLUMNS] = { false };
		struct cat_str s, k;
		uint64_t hash;
		for (unsigned i = 0; i < t.columns; i++)
			v[i] = random_value(&r, columns[i].type, 3000, &a);
		for (unsigned i = 0; i < t.keys; i++)
			key[i] = v[t.key[i]];
		assert_int_equal(cat_row_encode(&t, NULL, v, null, &s, &a), NAM_OK);
		assert_int_equal(cat_key_encode(&t, key, &k, &hash, &a), NAM_OK);
		for (unsigned round = 0; round < 400; round++) {
			struct txn_row row = own(s);
			unsigned char *p = (unsigned char *)(uintptr_t)row.bytes;
			if (round < s.len && round % 2) {
				row.len = (uint32_t)nam_rng_below(&r, s.len);
				p = realloc(p, row.len ? row.len : 1);
				row.bytes = p;
			}
			for (unsigned c = 0; row.len > 0 && c < 1 + round % 4; c++)
				p[nam_rng_below(&r, row.len)] = (unsigned char)nam_rng_next(&r);
			uint16_t want[COLUMNS];
			struct cat_vec col[COLUMNS];
			struct txn_blob named[TXN_BLOBS_MAX];
			volatile unsigned sum = 0;
			for (unsigned i = 0; i < t.columns; i++)
				want[i] = (uint16_t)i;
			nam_status st = cat_rows_decode(&t, NULL, &row, 1, want, t.columns, col, &a);
			assert_true(st == NAM_OK || st == NAM_CORRUPT || st == NAM_TORN);
			refused += st != NAM_OK;
			for (unsigned i = 0; st == NAM_OK && i < t.columns; i++)
				if (cat_type_is_str(columns[i].type))
					for (uint32_t x = 0; x < col[i].s[0].len; x++)
						sum += (unsigned char)col[i].s[0].p[x];
			(void)sum; /* touched, that is all */
			if (t.store.blobs)
				assert_true(t.store.blobs(&t.store, row.bytes, row.len, named, 3) <= 3);
			t.store.same_key(&t.store, row.bytes, row.len, k.p, k.len);
			free(p);
		}
		nam_arena_fini(&a);
		forget_blobs();
	}
	assert_true(refused > 1000);
}

static union cat_val
num(const char *text, struct nam_arena *a)
{
	union cat_val v;
	struct cat_err err;
	assert_true(cat_num_in((struct cat_str){ text, (uint32_t)strlen(text) }, &v.s, a, &err));
	return v;
}

static struct cat_str
key_of(struct cat_table *t, union cat_val v, uint64_t *hash, struct nam_arena *a)
{
	struct cat_str s;
	assert_int_equal(cat_key_encode(t, &v, &s, hash, a), NAM_OK);
	return s;
}

/* What compares equal is one key. */
static void
canonical_keys(void **state)
{
	(void)state;
	struct nam_arena a;
	struct cat_err err;
	nam_arena_init(&a, 0);
	columns[0] = (struct cat_column){ .type = CAT_NUMERIC, .typmod = -1 };
	struct cat_table t = { .column = columns, .columns = 1, .keys = 1, .store = { .id = 5 } };
	assert_true(cat_table_layout(&t, &err));
	static const char *const same[][2] = { { "1.0", "1.00" }, { "1", "1.000" }, { "100", "100.0" },
		{ "0", "0.00" }, { "-2.50", "-2.5" },
		{ "123456789012345678901234567890123456789012345678901234567890",
		    "123456789012345678901234567890123456789012345678901234567890.000" },
		{ "NaN", "NaN" } };
	for (unsigned i = 0; i < sizeof same / sizeof same[0]; i++) {
		uint64_t h[2];
		bool null = false;
		union cat_val v[2] = { num(same[i][0], &a), num(same[i][1], &a) };
		for (int k = 0; k < 2; k++) {
			struct cat_str key = key_of(&t, v[k], &h[k], &a), row;
			for (int j = 0; j < 2; j++) {
				assert_int_equal(cat_row_encode(&t, NULL, &v[j], &null, &row, &a), NAM_OK);
				assert_true(t.store.same_key(&t.store, row.p, row.len, key.p, key.len));
			}
		}
		assert_int_equal(h[0], h[1]);
	}
	/* A numeric too long for the row: its key still finds it, and another's does not. */
	char text[2][2000];
	for (int i = 0; i < 2; i++) {
		memset(text[i], '1' + i, 1990);
		strcpy(text[i] + 1000, ".7500");
	}
	union cat_val v = num(text[0], &a), other = num(text[1], &a);
	text[0][1003] = 0;
	union cat_val shorter = num(text[0], &a);
	bool null = false;
	uint64_t h[2];
	struct cat_str row, key = key_of(&t, shorter, &h[0], &a);
	key_of(&t, v, &h[1], &a);
	assert_int_equal(h[0], h[1]);
	assert_int_equal(cat_row_encode(&t, NULL, &v, &null, &row, &a), NAM_OK);
	assert_int_equal(blobs, 1);
	assert_true(t.store.same_key(&t.store, row.p, row.len, key.p, key.len));
	key = key_of(&t, other, &h[1], &a);
	assert_false(t.store.same_key(&t.store, row.p, row.len, key.p, key.len));

	columns[0] = (struct cat_column){ .type = CAT_FLOAT8, .typmod = -1 };
	assert_true(cat_table_layout(&t, &err));
	union cat_val zero = { .f = 0.0 }, minus = { .f = -0.0 }, nan1 = { .f = NAN }, nan2 = { .f = -NAN };
	struct cat_str k0 = key_of(&t, zero, &h[0], &a), k1 = key_of(&t, minus, &h[1], &a);
	assert_int_equal(h[0], h[1]);
	assert_memory_equal(k0.p, k1.p, 8);
	assert_int_equal(cat_row_encode(&t, NULL, &minus, &null, &row, &a), NAM_OK);
	assert_true(t.store.same_key(&t.store, row.p, row.len, k0.p, k0.len));
	key_of(&t, nan1, &h[0], &a);
	key_of(&t, nan2, &h[1], &a);
	assert_int_equal(h[0], h[1]);
	nam_arena_fini(&a);
	forget_blobs();
}

/* How much room a row gets, and when a table is refused. */
static void
room(void **state)
{
	(void)state;
	static struct cat_column many[CAT_COLUMNS_MAX];
	struct cat_table t = { .column = many, .columns = 1 };
	struct cat_err err;
	many[0] = (struct cat_column){ .type = CAT_BOOL, .typmod = -1 };
	assert_true(cat_table_layout(&t, &err));
	assert_int_equal(t.store.row_max, CAT_ROW_MIN);
	assert_null(t.store.blobs);
	assert_false(t.store.has_key);
	many[0] = (struct cat_column){ .type = CAT_TEXT, .typmod = 100 };
	assert_true(cat_table_layout(&t, &err));
	assert_true(t.store.row_max >= 1 + 8 + 100);
	assert_true(t.store.row_max < 1 + 8 + 100 + 8);
	for (unsigned i = 0; i < CAT_COLUMNS_MAX; i++)
		many[i] = (struct cat_column){ .type = CAT_INT4, .typmod = -1 };
	t.columns = CAT_COLUMNS_MAX;
	assert_true(cat_table_layout(&t, &err));
	assert_int_equal(many[1599].offset, 201 + 4 * 1599);
	for (unsigned i = 0; i < CAT_COLUMNS_MAX; i++)
		many[i].type = CAT_INT8;
	assert_true(cat_table_layout(&t, &err));
	assert_int_equal(many[1599].offset, 201 + 8 * 1599);
	assert_in_range(t.store.row_max, 201 + 8 * 1600, 201 + 8 * 1600 + 7);
	for (unsigned i = 0; i < CAT_COLUMNS_MAX; i++)
		many[i].type = CAT_TEXT;
	assert_true(cat_table_layout(&t, &err));
	assert_int_equal(t.store.row_max, TXN_ROW_MAX);
	/* More slots leave a row less room. */
	t.store.slots = 8;
	assert_false(cat_table_layout(&t, &err));
	assert_string_equal(err.sqlstate, "54000");
	t.store.slots = 0;
	t.columns = 60;
	for (unsigned i = 0; i < 60; i++)
		many[i] = (struct cat_column){ .type = CAT_TEXT, .typmod = 5000 };
	assert_true(cat_table_layout(&t, &err));
	assert_int_equal(t.store.row_max, CAT_ROW_USUAL);
	/* Each of them long: all but what fits is spilled. */
	struct nam_arena a;
	nam_arena_init(&a, 0);
	union cat_val v[60];
	bool null[60] = { false };
	char *p = nam_arena_zero(&a, 5000);
	struct cat_str row;
	for (unsigned i = 0; i < 60; i++)
		v[i].s = (struct cat_str){ p, 5000 - i };
	assert_int_equal(cat_row_encode(&t, NULL, v, null, &row, &a), NAM_OK);
	assert_int_equal(blobs, 59); /* the shortest fits */
	nam_arena_fini(&a);
	forget_blobs();
}

/*
 * A statement may lock a row that was written after a column had been dropped, and read it by the
 * definition it began with: the column is NULL in it.
 */
static void
dropped_columns(void **state)
{
	(void)state;
	static const enum cat_type type[] = { CAT_TEXT, CAT_INT8, CAT_TEXT, CAT_NUMERIC, CAT_BOOL };
	enum { PLACES = sizeof type / sizeof *type };
	/* The first `first` places are in every row, the others were added. */
	for (uint16_t first = 1; first <= PLACES; first++)
		for (unsigned gone = 0; gone < PLACES; gone++) {
			struct cat_column before[PLACES], after[PLACES - 1];
			struct cat_place old_place[PLACES], new_place[PLACES];
			struct cat_table old = { .column = before,
				.columns = PLACES,
				.place = old_place,
				.places = PLACES,
				.first = first };
			struct cat_table new = { .column = after,
				.columns = PLACES - 1,
				.place = new_place,
				.places = PLACES,
				.first = first };
			struct cat_err err;
			union cat_val v[PLACES - 1];
			bool null[PLACES - 1] = { false };
			for (uint16_t p = 0, c = 0; p < PLACES; p++) {
				before[p] = (struct cat_column){ .type = type[p], .typmod = -1 };
				old_place[p] = (struct cat_place){ .type = type[p], .column = p + 1 };
				new_place[p] =
				    (struct cat_place){ .type = type[p], .column = p == gone ? 0 : c + 1 };
				if (p == gone)
					continue;
				after[c] = before[p];
				v[c] = (union cat_val){ .i = p };
				if (type[p] == CAT_TEXT || type[p] == CAT_NUMERIC)
					v[c].s = (struct cat_str){ "", 0 };
				c++;
			}
			assert_true(cat_table_layout(&old, &err) && cat_table_layout(&new, &err));
			struct nam_arena a;
			nam_arena_init(&a, 0);
			struct cat_str bytes;
			assert_int_equal(cat_row_encode(&new, NULL, v, null, &bytes, &a), NAM_OK);
			struct txn_row row = own(bytes);
			uint16_t want[PLACES];
			struct cat_vec col[PLACES];
			for (uint16_t p = 0; p < PLACES; p++)
				want[p] = p;
			assert_int_equal(cat_rows_decode(&old, NULL, &row, 1, want, PLACES, col, &a), NAM_OK);
			for (unsigned p = 0; p < PLACES; p++)
				assert_int_equal(col[p].null != NULL && col[p].null[0], p == gone);
			free((void *)(uintptr_t)row.bytes);
			nam_arena_fini(&a);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_rows),
		cmocka_unit_test(corrupt_rows),
		cmocka_unit_test(canonical_keys),
		cmocka_unit_test(room),
		cmocka_unit_test(dropped_columns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
