/* groups.c -- groups found or made, and their aggregates brought forward. */
#include "groups.h"

#include <string.h>

nam_status
olap_groups_clear(struct olap_groups *g, struct olap_memory *m, unsigned bits, unsigned hashed)
{
	NAM_ASSERT(hashed + bits <= 64 && bits > 0);
	size_t words = (size_t)g->words << bits;
	nam_status st = olap_area_need(&g->area, m, words * 8);
	if (st != NAM_OK)
		return st;
	g->slot = (uint64_t *)(void *)g->area.at;
	g->bits = bits;
	g->hashed = hashed;
	g->n = 0;
	g->most = 1u << (bits - 1);
	g->odd = false;
	for (size_t i = 0; i < words; i += g->words)
		g->slot[i] = GROUPS_EMPTY;
	return NAM_OK;
}

void
olap_groups_free(struct olap_groups *g)
{
	olap_area_free(&g->area);
}

static inline void
bring(const struct olap_groups *g, uint64_t *to, const uint64_t *from)
{
	for (unsigned k = g->keys; k < g->words; k++) {
		int64_t a = (int64_t)to[k], b = (int64_t)from[k];
		switch (g->op[k - g->keys]) {
		case OLAP_COUNT:
		case OLAP_SUM:
			to[k] += from[k];
			break;
		case OLAP_MIN:
			to[k] = (uint64_t)(a < b ? a : b);
			break;
		default:
			to[k] = (uint64_t)(a > b ? a : b);
		}
	}
}

static void
add_odd(struct olap_groups *g, const uint64_t *t)
{
	if (g->odd)
		bring(g, g->odd_slot, t);
	else
		memcpy(g->odd_slot, t, g->words * 8);
	g->odd = true;
}

/* The words behind the first. */
static inline bool
same_key(const uint64_t *a, const uint64_t *b, unsigned keys)
{
	for (unsigned k = 1; k < keys; k++)
		if (a[k] != b[k])
			return false;
	return true;
}

static inline __attribute__((always_inline)) size_t
add(struct olap_groups *g, const uint64_t *t, size_t n, unsigned words, unsigned keys, bool sum)
{
	unsigned shift = 64 - g->hashed - g->bits;
	uint64_t mask = (UINT64_C(1) << g->bits) - 1;
	uint64_t *slot = g->slot;
	for (size_t i = 0; i < n; i++, t += words) {
		uint64_t key = t[0];
		if (__builtin_expect(key == GROUPS_EMPTY, 0)) {
			add_odd(g, t);
			continue;
		}
		uint64_t at = olap_hash(key) >> shift & mask;
		for (;;) {
			uint64_t *s = slot + at * words;
			if (s[0] == key && same_key(s, t, keys)) {
				if (sum)
					s[1] += t[1];
				else
					bring(g, s, t);
				break;
			}
			if (s[0] == GROUPS_EMPTY) {
				if (g->n == g->most)
					return i;
				g->n++;
				for (unsigned k = 0; k < words; k++)
					s[k] = t[k];
				break;
			}
			at = (at + 1) & mask;
		}
	}
	return n;
}

size_t
olap_groups_add(struct olap_groups *g, const uint64_t *t, size_t n)
{
	/* One sum, the usual case, without a loop over aggregates. */
	if (g->words == 2 && g->keys == 1 && (g->op[0] == OLAP_SUM || g->op[0] == OLAP_COUNT))
		return add(g, t, n, 2, 1, true);
	if (g->keys == 1)
		return add(g, t, n, g->words, 1, false);
	return add(g, t, n, g->words, g->keys, false);
}

nam_status
olap_groups_grow(struct olap_groups *g, struct olap_memory *m)
{
	struct olap_groups more = *g;
	more.area = (struct olap_area){ 0 };
	bool odd = g->odd;
	if (g->hashed + g->bits + 1 > 64 || g->bits >= 31)
		return NAM_NOMEM;
	nam_status st = olap_groups_clear(&more, m, g->bits + 1, g->hashed);
	if (st != NAM_OK)
		return st;
	for (size_t i = 0; i < (size_t)1 << g->bits; i++)
		if (g->slot[i * g->words] != GROUPS_EMPTY)
			olap_groups_add(&more, g->slot + i * g->words, 1);
	more.odd = odd;
	m->used -= g->area.size;
	olap_area_free(&g->area);
	*g = more;
	return NAM_OK;
}
