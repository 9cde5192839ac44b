/* join_table.c -- finding rows of the kept side of a join: a batch of keys at a time, stage by
 * stage. */
#include <sql/exec/join.h>

static inline uint64_t
filter_bit(uint64_t hash)
{
	return UINT64_C(1) << (32 + (hash >> 59));
}

static bool
same_keys(const struct sql_join_table *t, uint32_t r, const struct cat_vec *key, unsigned row)
{
	if (t->exact)
		return true; /* the caller has compared hashes */
	if (t->bytes) {
		const struct sql_entry *e = &t->entry[r];
		const struct cat_str *s = &key->s[row];
		return e->len == s->len && sql_same_bytes(e->p, s->p, s->len);
	}
	for (unsigned c = 0; c < t->keys; c++)
		if (!sql_same_row(t->rs, r - 1, t->key_at[c], &key[c], 1, row))
			return false;
	return true;
}

/* The first row from r on along the chain that has these keys. */
static inline uint32_t
along(const struct sql_join_table *t, const struct cat_vec *key, unsigned row, uint64_t hash, uint32_t r)
{
	for (; r != 0; r = t->entry[r].next)
		if (t->entry[r].hash == hash && same_keys(t, r, key, row))
			return r;
	return 0;
}

bool
sql_join_index(struct sql_join_table *t, struct nam_arena *keep)
{
	const struct sql_rowset *rs = t->rs;
	uint64_t size = 16;
	while (size < rs->rows + (uint64_t)rs->rows / 2)
		size *= 2;
	t->mask = size - 1;
	t->bucket = nam_arena_zero(keep, size * sizeof *t->bucket);
	t->entry = nam_arena_take(keep, ((size_t)rs->rows + 1) * sizeof *t->entry);
	uint64_t *hash = nam_arena_take(keep, CAT_BATCH * sizeof *hash);
	struct cat_vec *key = nam_arena_take(keep, t->keys * sizeof *key);
	if (t->bucket == NULL || t->entry == NULL || hash == NULL || key == NULL)
		return false;
	t->bytes = t->keys == 1 && sql_by_bytes(rs->type[t->key_at[0]]);
	t->exact = t->keys == 1 && sql_hash_exact(rs->type[t->key_at[0]]);
	t->unique = true;
	/* from the last row to the first, so that a chain has its rows in order */
	for (unsigned i = (rs->rows + CAT_BATCH - 1) / CAT_BATCH; i-- > 0;) {
		unsigned n = rs->rows - i * CAT_BATCH < CAT_BATCH ? rs->rows - i * CAT_BATCH : CAT_BATCH;
		for (unsigned c = 0; c < t->keys; c++)
			key[c] = rs->chunk[i][t->key_at[c]];
		sql_hash_rows(key, t->keys, sql_ident(), n, hash);
		for (unsigned k = n; k-- > 0;) {
			uint32_t r = i * CAT_BATCH + k + 1;
			struct sql_entry *e = &t->entry[r];
			bool null = false;
			*e = (struct sql_entry){ .hash = hash[k] };
			for (unsigned c = 0; c < t->keys; c++)
				null |= key[c].null[k];
			if (null)
				continue;
			uint64_t *b = &t->bucket[hash[k] & t->mask];
			e->next = (uint32_t)*b;
			if (t->bytes) {
				e->p = key->s[k].p;
				e->len = key->s[k].len;
			}
			if (t->unique && (*b & filter_bit(hash[k])) != 0)
				t->unique = along(t, key, k, hash[k], e->next) == 0;
			*b = (*b >> 32 << 32) | filter_bit(hash[k]) | r;
		}
	}
	return true;
}

void
sql_join_find(const struct sql_join_table *t, const struct cat_vec *key, const uint16_t *sel, unsigned n,
    uint64_t *hash, uint32_t *found)
{
	const struct sql_entry *entry = t->entry;
	sql_hash_rows(key, t->keys, sel, n, hash);
	for (unsigned j = 0; j < n; j++)
		__builtin_prefetch(&t->bucket[hash[j] & t->mask]);
	for (unsigned j = 0; j < n; j++) {
		uint64_t b = t->bucket[hash[j] & t->mask];
		found[j] = (b & filter_bit(hash[j])) != 0 ? (uint32_t)b : 0;
		__builtin_prefetch(&entry[found[j]]);
	}
	for (unsigned c = 0; c < t->keys; c++)
		for (unsigned j = 0; j < n; j++)
			if (key[c].null[sel[j]])
				found[j] = 0;
	for (unsigned j = 0; j < n; j++) {
		uint32_t r = found[j];
		while (r != 0 && entry[r].hash != hash[j])
			r = entry[r].next;
		found[j] = r;
		if (r != 0 && !t->exact)
			__builtin_prefetch(entry[r].p);
	}
	if (t->exact)
		return;
	for (unsigned j = 0; j < n; j++)
		if (found[j] != 0 && !same_keys(t, found[j], key, sel[j]))
			found[j] = along(t, key, sel[j], hash[j], entry[found[j]].next);
}

uint32_t
sql_join_more(
    const struct sql_join_table *t, const struct cat_vec *key, unsigned row, uint64_t hash, uint32_t r)
{
	return along(t, key, row, hash, t->entry[r].next);
}
