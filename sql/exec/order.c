/*
 * order.c -- rows of a rowset in order. The first key of each row becomes 8 bytes that compare like
 * it, as far as they go; these are sorted by radix, and rows that are alike there by all keys.
 */
#include <sql/exec/exec.h>
#include <sql/exec/rowset.h>
#include <types/numeric.h>

#include <math.h>
#include <stdlib.h>

enum { FEW = 64, DIGITS = 8 };

struct item {
	uint64_t prefix;
	uint32_t row, was;
};

struct order {
	const struct sql_rowset *rs;
	const struct sql_sort_key *key;
	unsigned keys;
	struct sql_exec *x;
	unsigned left; /* comparisons until the clock is looked at */
	bool stopped;
};

/* qsort cannot be left in the middle: once it is too late all rows are equal, which ends it
 * soon. */
static bool
late(struct order *o)
{
	enum { LOOK = 8192 };
	o->stopped = o->stopped || !sql_go_on(o->x);
	o->left = o->stopped ? 1 : LOOK;
	return o->stopped;
}

int
sql_sort_cmp_rows(const struct cat_vec *a, unsigned ra, const struct cat_vec *b, unsigned rb,
    const struct sql_sort_key *keys, unsigned n)
{
	for (unsigned k = 0; k < n; k++) {
		const struct sql_sort_key *key = &keys[k];
		const struct cat_vec *va = &a[key->col], *vb = &b[key->col];
		if (va->null[ra] != vb->null[rb])
			return va->null[ra] == key->nulls_first ? -1 : 1;
		if (va->null[ra])
			continue;
		int c;
		if (cat_type_is_str(va->type) || cat_type_is_float(va->type))
			c = cat_value_cmp(va->type, cat_vec_at(va, ra), cat_vec_at(vb, rb));
		else
			c = va->i[ra] < vb->i[rb] ? -1 : va->i[ra] > vb->i[rb];
		if (c != 0)
			return key->desc ? -c : c;
	}
	return 0;
}

int
sql_sort_cmp(const struct sql_rowset *rs, const struct sql_sort_key *keys, unsigned n, uint32_t a, uint32_t b)
{
	return sql_sort_cmp_rows(
	    rs->chunk[a / CAT_BATCH], a % CAT_BATCH, rs->chunk[b / CAT_BATCH], b % CAT_BATCH, keys, n);
}

static int
by_keys(const void *pa, const void *pb, void *arg)
{
	struct order *o = arg;
	const struct item *a = pa, *b = pb;
	if (__builtin_expect(--o->left == 0, 0) && late(o))
		return 0;
	int c = sql_sort_cmp(o->rs, o->key, o->keys, a->row, b->row);
	return c != 0 ? c : a->was < b->was ? -1 : a->was > b->was;
}

static int
by_prefix(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;
	return a->prefix != b->prefix ? a->prefix < b->prefix ? -1 : 1
	       : a->was < b->was      ? -1
				      : a->was > b->was;
}

static inline uint64_t
float_prefix(double f)
{
	uint64_t bits;
	if (isnan(f))
		return UINT64_MAX; /* greater than all, and equal to itself */
	f += 0.0;                  /* -0 too */
	memcpy(&bits, &f, sizeof bits);
	return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static inline uint64_t
text_prefix(struct cat_str s)
{
	unsigned char b[8] = { 0 };
	uint64_t x;
	memcpy(b, s.p, s.len < 8 ? s.len : 8);
	memcpy(&x, b, sizeof x);
	return __builtin_bswap64(x);
}

/* A numeric as an integer of units of 10^-scale; what is no number lies around all others. False:
 * it is too large. */
static bool
numeric_prefix(struct cat_str s, unsigned scale, uint64_t *out)
{
	__int128 v;
	if (cat_num_is_nan(s) || cat_num_is_inf(s)) {
		*out = cat_num_is_nan(s) ? UINT64_MAX : cat_num_sign(s) > 0 ? UINT64_MAX - 1 : 0;
		return true;
	}
	if (!cat_num_to_int128(s, scale, &v) || v <= INT64_MIN || v >= INT64_MAX - 1)
		return false;
	*out = (uint64_t)v ^ UINT64_C(1) << 63;
	return true;
}

/* Numerics at the largest scale among them. False: one does not fit, and all prefixes are alike. */
static bool
set_numeric_prefixes(const struct sql_rowset *rs, const struct sql_sort_key *key, struct item *it, size_t n)
{
	unsigned scale = 0;
	bool fit = true;
	for (size_t k = 0; k < n; k++) {
		struct cat_str s = sql_rowset_at(rs, it[k].row, key->col).s;
		unsigned its = cat_num_is_nan(s) || cat_num_is_inf(s) ? 0 : cat_num_scale(s);
		scale = its > scale ? its : scale;
	}
	for (size_t k = 0; k < n && fit; k++) {
		fit = numeric_prefix(sql_rowset_at(rs, it[k].row, key->col).s, scale, &it[k].prefix);
		it[k].prefix ^= key->desc ? UINT64_MAX : 0;
	}
	for (size_t k = 0; k < n && !fit; k++)
		it[k].prefix = 0;
	return fit;
}

/* Prefixes of n items by a key that is NULL in none of them. True if every difference between
 * values shows in them. */
static bool
set_prefixes(const struct sql_rowset *rs, const struct sql_sort_key *key, struct item *it, size_t n)
{
	enum cat_type type = rs->type[key->col];
	uint64_t flip = key->desc ? UINT64_MAX : 0;
	if (type == CAT_NUMERIC)
		return set_numeric_prefixes(rs, key, it, n);
	bool text = type == CAT_TEXT || type == CAT_BYTEA || type == CAT_UUID;
	for (size_t k = 0; k < n; k++) {
		const struct cat_vec *v = sql_rowset_col(rs, it[k].row, key->col);
		unsigned r = it[k].row % CAT_BATCH;
		it[k].prefix = flip ^ (text                         ? text_prefix(v->s[r])
					  : cat_type_is_float(type) ? float_prefix(v->f[r])
					  : cat_type_is_str(type)   ? 0
								    : (uint64_t)v->i[r] ^ UINT64_C(1) << 63);
	}
	return !cat_type_is_str(type);
}

/* By prefix, stable. other: room for n. Answers where they are; o->stopped: in no order. */
static struct item *
radix(struct order *o, struct item *it, struct item *other, size_t n)
{
	uint32_t count[DIGITS][256] = { 0 };
	for (size_t k = 0; k < n; k++)
		for (unsigned d = 0; d < DIGITS; d++)
			count[d][it[k].prefix >> 8 * d & 255]++;
	for (unsigned d = 0; d < DIGITS && !late(o); d++) {
		if (count[d][it[0].prefix >> 8 * d & 255] == n)
			continue; /* all alike */
		uint32_t at = 0;
		for (unsigned b = 0; b < 256; b++) {
			uint32_t m = count[d][b];
			count[d][b] = at;
			at += m;
		}
		for (size_t k = 0; k < n; k++)
			other[count[d][it[k].prefix >> 8 * d & 255]++] = it[k];
		struct item *t = it;
		it = other;
		other = t;
	}
	return it;
}

bool
sql_sort_perm(struct sql_exec *x, const struct sql_rowset *rs, const struct sql_sort_key *key, unsigned n,
    uint32_t *perm, struct nam_arena *scratch)
{
	size_t rows = rs->rows, some = 0, none = 0;
	struct item *it = nam_arena_take(scratch, rows * sizeof *it);
	struct item *other = nam_arena_take(scratch, rows * sizeof *other);
	if (it == NULL || other == NULL)
		return sql_no_memory(x->err);
	if (rows < 2 || n == 0)
		return true;
	/* rows whose first key is NULL are all before the others, or all behind */
	for (uint32_t k = 0; k < rows; k++) {
		struct item one = { .row = perm[k], .was = k };
		if (sql_rowset_null(rs, perm[k], key[0].col))
			other[none++] = one;
		else
			it[some++] = one;
	}
	uint32_t *nulls = key[0].nulls_first ? perm : perm + some,
		 *values = key[0].nulls_first ? perm + none : perm;
	struct order o = { .rs = rs, .key = key, .keys = n, .x = x, .left = 1 };
	if (none > 1 && n > 1)
		qsort_r(other, none, sizeof *other, by_keys, &o);
	for (size_t k = 0; k < none; k++)
		nulls[k] = other[k].row;
	bool whole = set_prefixes(rs, &key[0], it, some) && n == 1;
	if (some > FEW)
		it = radix(&o, it, other, some);
	else
		qsort(it, some, sizeof *it, by_prefix);
	for (size_t k = 0, end; k < some && !whole; k = end) {
		for (end = k + 1; end < some && it[end].prefix == it[k].prefix; end++)
			;
		if (end - k > 1)
			qsort_r(it + k, end - k, sizeof *it, by_keys, &o);
	}
	for (size_t k = 0; k < some; k++)
		values[k] = it[k].row;
	return !o.stopped;
}
