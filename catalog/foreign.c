/* foreign.c -- the key that a stored row refers to by a foreign key, as a number: equal keys have
 * equal ones. */
#include <catalog/catalog_internal.h>

#include <string.h>

void
cat_foreign_resolve(struct cat_table *t)
{
	for (unsigned i = 0; i < t->foreigns; i++) {
		struct cat_foreign *k = &t->foreign[i];
		for (unsigned j = 0; j < k->keys; j++) {
			k->number[j] = UINT16_MAX;
			for (unsigned c = 0; c < t->columns; c++)
				if (strcmp(t->column[c].name, k->column[j]) == 0)
					k->number[j] = (uint16_t)c;
		}
	}
}

uint64_t
cat_foreign_hash(const struct cat_table *t, const struct cat_foreign *k, const union cat_val *v)
{
	uint64_t hash = 0;
	for (unsigned i = 0; i < k->keys; i++)
		hash = cat_value_hash(t->column[k->number[i]].type, v[i], hash);
	return hash;
}

enum txn_referring
cat_foreign_refers(
    const struct txn_table *table, const void *foreign, const void *row, uint32_t len, uint64_t *hash)
{
	const struct cat_table *t = table->owner;
	const struct cat_foreign *k = foreign;
	union cat_val v[CAT_KEY_MAX];
	for (unsigned i = 0; i < k->keys; i++) {
		struct txn_blob b;
		bool null, spilled;
		if (k->number[i] >= t->columns ||
		    !cat_row_value(t, k->number[i], row, len, &v[i], &null, &spilled, &b))
			return TXN_REFERS_MAYBE;
		if (null)
			return TXN_REFERS_NOT;
		if (spilled)
			return TXN_REFERS_MAYBE;
	}
	*hash = cat_foreign_hash(t, k, v);
	return TXN_REFERS;
}
