/* table.c -- tables and radix passes in a participant's own memory. */
#include "table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20, FAST = 16, PIECES = 16 };

nam_status
olap_area_need(struct olap_area *a, struct olap_memory *m, size_t bytes)
{
	if (bytes <= a->size)
		return NAM_OK;
	bytes = (bytes + HUGE_PAGE / 8 - 1) / (HUGE_PAGE / 8) * (HUGE_PAGE / 8);
	if (bytes > HUGE_PAGE)
		bytes = (bytes + bytes / 4 + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	if (m->used - a->size + bytes > m->limit)
		return NAM_NOMEM;
	m->used -= a->size;
	olap_area_free(a);
	a->at = aligned_alloc(bytes >= HUGE_PAGE ? HUGE_PAGE : 4096, bytes);
	if (a->at == NULL)
		return NAM_NOMEM;
	if (bytes >= HUGE_PAGE)
		madvise(a->at, bytes, MADV_HUGEPAGE);
	a->size = bytes;
	m->used += bytes;
	return NAM_OK;
}

void
olap_area_free(struct olap_area *a)
{
	free(a->at);
	*a = (struct olap_area){ 0 };
}

static inline uint64_t
key_of(const char *t)
{
	return *(const uint64_t *)(const void *)t;
}

/* off[i + 2] of each class counts its tuples. */
static inline __attribute__((always_inline)) void
count(const struct olap_piece *p, uint32_t width, unsigned shift, uint32_t mask, uint32_t *off)
{
	const char *t = p->at;
	for (uint32_t i = 0; i < p->n; i++, t += width)
		off[((uint32_t)(olap_hash(key_of(t)) >> shift) & mask) + 2]++;
}

static inline __attribute__((always_inline)) void
place(const struct olap_piece *p, uint32_t width, unsigned shift, uint32_t mask, uint32_t *off, char *out)
{
	const char *t = p->at;
	for (uint32_t i = 0; i < p->n; i++, t += width) {
		uint32_t to = off[((uint32_t)(olap_hash(key_of(t)) >> shift) & mask) + 1]++;
		memcpy(out + (size_t)to * width, t, width);
	}
}

/* Tuples into the order of classes; afterwards class i begins at off[i]. off has mask + 3 words. */
static void
order(const struct olap_piece *piece, unsigned pieces, uint32_t width, unsigned shift, uint32_t mask,
    uint32_t *off, char *out)
{
	memset(off, 0, ((size_t)mask + 3) * sizeof *off);
	for (unsigned i = 0; i < pieces; i++) {
		if (width == FAST)
			count(&piece[i], FAST, shift, mask, off);
		else
			count(&piece[i], width, shift, mask, off);
		if (i % PIECES == PIECES - 1)
			nam_co_yield(); /* the thread has other work too */
	}
	for (size_t i = 2; i <= (size_t)mask + 2; i++)
		off[i] += off[i - 1];
	for (unsigned i = 0; i < pieces; i++) {
		if (width == FAST)
			place(&piece[i], FAST, shift, mask, off, out);
		else
			place(&piece[i], width, shift, mask, off, out);
		if (i % PIECES == PIECES - 1)
			nam_co_yield();
	}
}

static uint64_t
sum(const struct olap_piece *piece, unsigned pieces)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < pieces; i++)
		n += piece[i].n;
	return n;
}

nam_status
olap_table_make(struct olap_table *t, struct olap_memory *m, const struct olap_piece *piece, unsigned pieces,
    uint32_t width, unsigned hashed, bool seen)
{
	uint64_t n = sum(piece, pieces);
	unsigned bits = 1;
	if (n > UINT32_MAX / 2)
		return NAM_NOMEM;
	while ((UINT64_C(1) << bits) < n)
		bits++;
	/* A probe may look at two tuples behind the last. */
	nam_status st = olap_area_need(&t->area[0], m, (n + 2) * width);
	if (st == NAM_OK)
		st = olap_area_need(&t->area[1], m, ((size_t)4 << bits) + 16);
	if (st == NAM_OK && seen)
		st = olap_area_need(&t->area[2], m, n + 1);
	if (st != NAM_OK)
		return st;
	t->n = (uint32_t)n;
	t->width = width;
	t->mask = (1u << bits) - 1;
	t->shift = 64 - hashed - bits;
	t->tuples = t->area[0].at;
	t->off = (uint32_t *)(void *)t->area[1].at;
	t->seen = seen ? (uint8_t *)t->area[2].at : NULL;
	if (seen)
		memset(t->seen, 0, n);
	order(piece, pieces, width, t->shift, t->mask, t->off, t->tuples);
	return NAM_OK;
}

void
olap_table_free(struct olap_table *t)
{
	for (unsigned i = 0; i < 3; i++)
		olap_area_free(&t->area[i]);
}

nam_status
olap_local_pass(struct olap_area *out, struct olap_memory *m, const struct olap_piece *piece, unsigned pieces,
    uint32_t width, unsigned hashed, unsigned bits, uint32_t *start)
{
	uint64_t n = sum(piece, pieces);
	NAM_ASSERT(bits > 0 && bits <= OLAP_LOCAL_BITS && hashed + bits <= 64);
	if (n > UINT32_MAX / 2)
		return NAM_NOMEM;
	nam_status st = olap_area_need(out, m, (n + 1) * width);
	if (st == NAM_OK)
		order(piece, pieces, width, 64 - hashed - bits, (1u << bits) - 1, start, out->at);
	return st;
}
