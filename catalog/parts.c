/*
 * parts.c -- a table cut into parts, for several that scan it side by side.
 *
 * A chain of extents grows at its head and never changes behind it, so what this process knows of a
 * chain stays true. The parts are made of stretches as long as a page's (pages.c), counted from the
 * head that the chain had when it was looked at: where scans have made pages, parts begin with
 * them.
 */
#include <base/hash.h>
#include <catalog/catalog_internal.h>
#include <catalog/pages.h>

#include <stdlib.h>
#include <string.h>

enum { CHAINS = 64, LOOSE = 16 };

struct chain {
	uint32_t table, n, cap;
	uint32_t extents;
	uint64_t head;   /* the newest extent known */
	uint64_t *start; /* of each stretch, the oldest first */
};

struct cat_chains {
	pthread_mutex_t lock; /* innermost */
	struct chain of[CHAINS];
};

struct cat_chains *
cat_chains_new(void)
{
	struct cat_chains *c = calloc(1, sizeof *c);
	if (c != NULL)
		pthread_mutex_init(&c->lock, NULL);
	return c;
}

void
cat_chains_free(struct cat_chains *c)
{
	if (c == NULL)
		return;
	for (unsigned i = 0; i < CHAINS; i++)
		free(c->of[i].start);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* Under the lock: the table's chain, empty if it is not known. */
static struct chain *
chain_of(struct cat_chains *c, uint32_t table)
{
	struct chain *h = &c->of[nam_mix(table) % CHAINS];
	if (h->table != table) {
		free(h->start);
		*h = (struct chain){ .table = table };
	}
	return h;
}

/* Under the lock: extents at[0..n), the newest first, are linked before those known. */
static bool
grow(struct chain *h, const uint64_t *at, uint32_t n, unsigned stretch)
{
	uint32_t more = (n + stretch - 1) / stretch;
	if (h->n + more > h->cap) {
		uint32_t cap = (h->n + more) * 2;
		uint64_t *room = realloc(h->start, cap * sizeof *room);
		if (room == NULL)
			return false;
		h->start = room;
		h->cap = cap;
	}
	for (uint32_t i = more; i-- > 0;)
		h->start[h->n++] = at[(size_t)i * stretch];
	h->extents += n;
	h->head = at[0];
	return true;
}

/* Parts of whole stretches, at most `most`. */
static uint64_t *
cut(const struct chain *h, unsigned most, unsigned *n)
{
	uint32_t each = (h->n + most - 1) / most;
	uint64_t *at = malloc((h->n + 1) * sizeof *at);
	*n = 0;
	for (uint32_t i = 0; at != NULL && i < h->n; i += each)
		at[(*n)++] = h->start[i + each <= h->n ? i + each - 1 : h->n - 1];
	return at;
}

/* cat_parts; *extents: how many the chain has. */
static nam_status
parts(struct cat *c, struct txn *t, const struct cat_table *tab, unsigned most, uint64_t **at, unsigned *n,
    uint32_t *extents)
{
	struct txn_scan *s;
	struct chain *h;
	uint64_t *fresh = NULL;
	uint32_t k = 0;
	unsigned blocks;
	nam_status st = txn_scan_open_parts(t, (struct txn_table *)(uintptr_t)&tab->store, &s);
	if (st != NAM_OK)
		return st;
	pthread_mutex_lock(&c->chains->lock);
	h = chain_of(c->chains, tab->store.id);
	uint64_t known = h->head;
	pthread_mutex_unlock(&c->chains->lock);
	st = txn_scan_chain(s, known, &fresh, &k, &blocks);
	txn_scan_close(s);
	if (st != NAM_OK)
		return st;
	unsigned stretch = cat_page_extents(blocks);
	pthread_mutex_lock(&c->chains->lock);
	h = chain_of(c->chains, tab->store.id);
	/* Another scan may have looked meanwhile: what it found of these extents goes first. */
	for (uint32_t i = 0; h->head != known && i < k; i++)
		if (fresh[i] == h->head) {
			k = i;
			known = h->head;
		}
	bool ok = h->head == known;
	if (ok && k > 0)
		ok = grow(h, fresh, k, stretch);
	*at = ok ? cut(h, most, n) : NULL;
	*extents = h->extents;
	/* Chains that grew little by little have short stretches: next time they are cut again. */
	if (h->n > 2 * (h->extents / stretch) + LOOSE)
		h->table = 0;
	pthread_mutex_unlock(&c->chains->lock);
	free(fresh);
	return !ok ? NAM_BUSY : *at != NULL ? NAM_OK : NAM_NOMEM;
}

nam_status
cat_parts(
    struct cat *c, struct txn *t, const struct cat_table *tab, unsigned most, uint64_t **at, unsigned *n)
{
	uint32_t extents;
	return parts(c, t, tab, most, at, n, &extents);
}

nam_status
cat_memory(struct cat *c, struct txn *t, const struct cat_table *tab, struct cat_memory *out)
{
	enum { LOOKS = 16 }; /* another scan may have looked meanwhile */
	struct txn_memory m;
	uint64_t *at = NULL, one;
	uint32_t extents = 0;
	unsigned n;
	nam_status st = NAM_BUSY;
	*out = (struct cat_memory){ 0 };
	for (unsigned k = 0; st == NAM_BUSY && k < LOOKS; k++) {
		st = parts(c, t, tab, 1, &at, &n, &extents);
		if (st == NAM_OK)
			free(at);
	}
	if (st != NAM_OK || (st = txn_table_memory(t, &tab->store, extents, &m)) != NAM_OK)
		return st;
	*out = (struct cat_memory){ .rows = m.rows, .values = m.values, .keys = m.index };
	for (unsigned k = 0; k < tab->indexes && st == NAM_OK; k++)
		if ((st = cat_index_memory(t, &tab->index[k], &one)) == NAM_OK)
			out->indexes += one;
	return st;
}

nam_status
cat_index_memory(struct txn *t, const struct cat_index *ix, uint64_t *bytes)
{
	struct txn_memory m;
	nam_status st = txn_table_memory(t, &ix->store, 0, &m);
	*bytes = m.rows + m.values + m.index;
	return st;
}
