/* index.c -- what the keys of an index are: of rows as stored, and of values at hand. */
#include <base/assert.h>
#include <catalog/catalog_internal.h>
#include <types/order.h>

#include <string.h>

#define OPENSSL_SUPPRESS_DEPRECATED /* the plain SHA256_* calls need no memory of their own */
#include <openssl/sha.h>

enum { WORDS_BYTES = 8 * IDX_TREE_WORDS, SURE_BYTES = 8 * CAT_INDEX_SURE_WORDS, UTF8_MAX = 4 };

/* Most bytes of a column in a key, with its marker; 0 = no limit is known. */
static unsigned
column_bytes(const struct cat_column *c)
{
	switch (c->type) {
	case CAT_BOOL:
		return 1 + 1;
	case CAT_INT2:
		return 1 + 2;
	case CAT_INT4:
	case CAT_DATE:
	case CAT_FLOAT4:
		return 1 + 4;
	case CAT_INTERVAL:
		return 1 + 10;
	case CAT_UUID:
		return 1 + 16;
	case CAT_TEXT:
	case CAT_BPCHAR:
		return c->typmod > 0 && c->typmod < WORDS_BYTES ? 1 + UTF8_MAX * (unsigned)c->typmod + 2 : 0;
	default:
		return cat_type_is_str(c->type) ? 0 : 1 + 8;
	}
}

void
cat_index_layout(const struct cat_table *t, struct cat_index *ix)
{
	unsigned bytes = 0;
	ix->whole = true;
	for (unsigned k = 0; k < ix->keys; k++) {
		unsigned n = column_bytes(&t->column[ix->key[k].column]);
		ix->whole &= n > 0;
		bytes += n;
	}
	ix->whole &= bytes <= WORDS_BYTES;
	ix->words = ix->whole ? (bytes + 7) / 8 : IDX_TREE_WORDS;
}

static void
describe(const struct cat_table *t, const struct cat_index *ix, struct cat_order_column *col)
{
	for (unsigned k = 0; k < ix->keys; k++)
		col[k] = (struct cat_order_column){ .type = t->column[ix->key[k].column].type,
			.descending = ix->key[k].descending,
			.nulls_first = ix->key[k].nulls_first };
}

static void
digest(const uint8_t *bytes, uint32_t len, uint64_t out[2])
{
	unsigned char d[SHA256_DIGEST_LENGTH];
	SHA256_CTX c;
	SHA256_Init(&c);
	SHA256_Update(&c, bytes, len);
	SHA256_Final(d, &c);
	(void)idx_tree_key(d, 16, 2, out);
}

static void
words_of(const struct cat_index *ix, const uint8_t *bytes, uint32_t len, uint64_t *words)
{
	if (len <= 8 * ix->words) {
		(void)idx_tree_key(bytes, len, ix->words, words);
		return;
	}
	NAM_ASSERT(!ix->whole);
	(void)idx_tree_key(bytes, len, CAT_INDEX_SURE_WORDS, words);
	digest(bytes, len, words + CAT_INDEX_SURE_WORDS);
}

/* v, null: of the key's columns, in its order. */
static bool
encode(const struct cat_table *t, const struct cat_index *ix, const union cat_val *v, const bool *null,
    uint64_t *words, struct nam_arena *arena, struct cat_err *err)
{
	struct cat_order_column col[CAT_KEY_MAX];
	uint8_t bytes[CAT_ORDER_MAX];
	uint32_t len;
	describe(t, ix, col);
	if (!cat_order_encode(col, ix->keys, v, null, bytes, &len, arena, err))
		return false;
	words_of(ix, bytes, len, words);
	return true;
}

bool
cat_index_key(const struct cat_table *t, const struct cat_index *ix, const union cat_val *v, const bool *null,
    uint64_t words[IDX_TREE_WORDS], bool *any_null, struct nam_arena *arena, struct cat_err *err)
{
	union cat_val key[CAT_KEY_MAX];
	bool none[CAT_KEY_MAX];
	if (any_null != NULL)
		*any_null = false;
	for (unsigned k = 0; k < ix->keys; k++) {
		unsigned c = ix->key[k].column;
		key[k] = v[c];
		none[k] = null != NULL && null[c];
		if (any_null != NULL)
			*any_null |= none[k];
	}
	return encode(t, ix, key, none, words, arena, err);
}

bool
cat_index_prefix(const struct cat_table *t, const struct cat_index *ix, const union cat_val *v,
    const bool *null, unsigned n, uint64_t low[IDX_TREE_WORDS], uint64_t high[IDX_TREE_WORDS],
    struct nam_arena *arena, struct cat_err *err)
{
	struct cat_order_column col[CAT_KEY_MAX];
	uint8_t bytes[CAT_ORDER_MAX], filled[WORDS_BYTES];
	uint32_t len;
	describe(t, ix, col);
	if (!cat_order_encode(col, n, v, null, bytes, &len, arena, err))
		return false;
	if (n == ix->keys) {
		words_of(ix, bytes, len, low);
		memcpy(high, low, 8 * ix->words);
		return true;
	}
	/* Keys that begin so may be cut behind the words that are sure. */
	if (!ix->whole && len > SURE_BYTES)
		len = SURE_BYTES;
	(void)idx_tree_key(bytes, len, ix->words, low);
	memset(filled, 255, sizeof filled);
	memcpy(filled, bytes, len);
	(void)idx_tree_key(filled, 8 * ix->words, ix->words, high);
	return true;
}

bool
cat_index_bound(const struct cat_table *t, const struct cat_index *ix, const union cat_val *v,
    const bool *null, unsigned n, uint64_t low[IDX_TREE_WORDS], uint64_t high[IDX_TREE_WORDS], bool *exact,
    struct nam_arena *arena, struct cat_err *err)
{
	struct cat_order_column col[CAT_KEY_MAX];
	uint8_t bytes[CAT_ORDER_MAX], filled[WORDS_BYTES];
	uint32_t len = 0, most = ix->whole ? 8 * ix->words : SURE_BYTES;
	describe(t, ix, col);
	if (n > 0 && !cat_order_encode(col, n, v, null, bytes, &len, arena, err))
		return false;
	*exact = len <= most;
	if (len > most)
		len = most;
	(void)idx_tree_key(bytes, len, ix->words, low);
	memset(filled, 255, sizeof filled);
	memcpy(filled, bytes, len);
	(void)idx_tree_key(filled, 8 * ix->words, ix->words, high);
	return true;
}

int
cat_key_order(const struct cat_table *t)
{
	for (unsigned i = 0; i < t->indexes; i++)
		if (t->index[i].primary)
			return (int)i;
	return -1;
}

bool
cat_is_hashed(const struct cat_table *t)
{
	return t->keys > 0 && cat_key_order(t) < 0;
}

unsigned
cat_index_sure(const struct cat_table *t, const struct cat_index *ix)
{
	unsigned k = 0, bytes = 0;
	if (ix->whole)
		return ix->keys;
	while (k < ix->keys) {
		unsigned n = column_bytes(&t->column[ix->key[k].column]);
		if (n == 0 || (bytes += n) > SURE_BYTES)
			break;
		k++;
	}
	return k;
}

bool
cat_index_values(const struct cat_table *t, const struct cat_index *ix, const uint64_t *words, unsigned n,
    const bool *need, union cat_val *v, bool *null, struct nam_arena *arena)
{
	struct cat_order_column col[CAT_KEY_MAX];
	uint8_t bytes[WORDS_BYTES];
	describe(t, ix, col);
	for (unsigned i = 0; i < ix->words; i++)
		for (unsigned k = 0; k < 8; k++)
			bytes[8 * i + k] = (uint8_t)(words[i] >> (56 - 8 * k));
	/* A key that was cut has a digest behind the bytes that are sure. */
	return cat_order_decode(col, n, bytes, ix->whole ? 8 * ix->words : SURE_BYTES, need, v, null, arena);
}

/* ---- what txn asks --------------------------------------------------------------- */

/* The key's values in a stored row. long_at: of the k-th the number of its blob, or -1. False: the
 * row contradicts itself. */
static bool
values(const struct cat_index *ix, const void *row, uint32_t len, union cat_val *v, bool *null, int *long_at,
    struct txn_blob *b, unsigned *blobs)
{
	*blobs = 0;
	for (unsigned k = 0; k < ix->keys; k++) {
		bool spilled;
		if (!cat_row_value(
			ix->table, ix->key[k].column, row, len, &v[k], &null[k], &spilled, &b[*blobs]))
			return false;
		long_at[k] = spilled ? (int)(*blobs)++ : -1;
	}
	return true;
}

static bool
key_of(const struct txn_order *o, const void *row, uint32_t len, const void *const *bytes, uint64_t *words)
{
	const struct cat_index *ix = o->owner;
	union cat_val v[CAT_KEY_MAX];
	bool null[CAT_KEY_MAX];
	int long_at[CAT_KEY_MAX];
	struct txn_blob b[CAT_KEY_MAX + 1];
	unsigned blobs;
	if (!values(ix, row, len, v, null, long_at, b, &blobs) || (blobs > 0 && bytes == NULL))
		return false;
	for (unsigned k = 0; k < ix->keys; k++)
		if (long_at[k] >= 0)
			v[k].s = (struct cat_str){ bytes[long_at[k]], b[long_at[k]].len };
	struct nam_arena arena;
	struct cat_err err;
	nam_arena_init(&arena, 0);
	bool ok = encode(ix->table, ix, v, null, words, &arena, &err);
	nam_arena_fini(&arena);
	return ok;
}

static bool
key(const struct txn_order *o, const void *row, uint32_t len, uint64_t *words)
{
	return key_of(o, row, len, NULL, words);
}

static unsigned
longs(const struct txn_order *o, const void *row, uint32_t len, struct txn_blob out[TXN_ORDER_LONGS])
{
	_Static_assert((int)TXN_ORDER_LONGS >= (int)CAT_KEY_MAX, "a blob for each column");
	const struct cat_index *ix = o->owner;
	unsigned n = 0;
	for (unsigned k = 0; k < ix->keys; k++) {
		union cat_val v;
		bool null, spilled;
		if (!cat_row_value(ix->table, ix->key[k].column, row, len, &v, &null, &spilled, &out[n]))
			return 0;
		n += spilled;
	}
	return n;
}

/* A NULL equals nothing, itself included. */
static bool
has_null(const struct txn_order *o, const void *row, uint32_t len)
{
	const struct cat_index *ix = o->owner;
	bool any = false;
	for (unsigned k = 0; k < ix->keys && !any; k++) {
		union cat_val v;
		struct txn_blob b;
		bool spilled;
		if (!cat_row_value(ix->table, ix->key[k].column, row, len, &v, &any, &spilled, &b))
			return false;
	}
	return any;
}

void
cat_index_orders(struct cat_table *t, struct txn_order *order)
{
	for (unsigned i = 0; i < t->indexes; i++) {
		struct cat_index *ix = &t->index[i];
		bool var = false;
		ix->table = t;
		for (unsigned k = 0; k < ix->keys; k++)
			var |= cat_type_is_str(t->column[ix->key[k].column].type);
		order[i] = (struct txn_order){ .words = ix->words,
			.unique = ix->unique,
			.lax = ix->nulls_equal || ix->primary ? NULL : has_null,
			.key = key,
			.longs = var ? longs : NULL,
			.long_key = key_of,
			.options = { .cache = IDX_TREE_INNER },
			.holder = &ix->store,
			.owner = ix };
	}
}
