/* newest.c -- the newest version of each row that a log has (newest.h). */
#include "newest.h"

#include <base/fault.h>
#include <base/hash.h>

#include <assert.h>
#include <stdlib.h>

enum {
	PAGE_BITS = 16,
	UNIT_BITS = 3, /* blocks begin at multiples of 8 */
	UNITS = 1 << (PAGE_BITS - UNIT_BITS),
	ROWS_FIRST = 8,
	SLAB = 64, /* pages that are allocated together */
	PAGES_FIRST = 256,
	TABLES_FIRST = 64,
};

/* A row's mark: its place in the page, and what is known of it. 0 = a free slot. */
enum { PLACE = UNITS - 1, USED = UNITS, DELETED = 2 * UNITS, TAKEN = 4 * UNITS };
static_assert(TAKEN == 1 << 15, "a mark fills 16 bits");

/* Rows lie in it by open addressing. cap: a power of two, UNITS at most. */
struct cat_newest_page {
	uint64_t number; /* address >> PAGE_BITS */
	uint32_t table;
	uint16_t cap, rows;
	uint64_t *cid;
	uint16_t *mark; /* behind the cids. TAKEN is set by any thread once all rows are noted */
};

struct table {
	uint32_t id; /* 0 = none */
	uint64_t live;
};

struct cat_newest {
	/* Open addressing, NULL = free. */
	struct cat_newest_page **page;
	uint64_t page_cap, pages;
	struct table *table;
	uint64_t table_cap, tables;
	struct cat_newest_page *last_page;
	struct table *last_table;
	struct cat_newest_page **slab;
	uint64_t slabs, slab_used;
	uint64_t all;
};

struct cat_newest *
cat_newest_open(void)
{
	struct cat_newest *n = calloc(1, sizeof *n);
	if (n == NULL)
		return NULL;
	n->page_cap = PAGES_FIRST;
	n->table_cap = TABLES_FIRST;
	n->page = calloc(n->page_cap, sizeof(struct cat_newest_page *));
	n->table = calloc(n->table_cap, sizeof *n->table);
	if (n->page == NULL || n->table == NULL) {
		cat_newest_close(n);
		return NULL;
	}
	return n;
}

void
cat_newest_close(struct cat_newest *n)
{
	if (n == NULL)
		return;
	for (uint64_t i = 0; i < n->slabs; i++) {
		for (unsigned k = 0; k < SLAB; k++)
			free(n->slab[i][k].cid);
		free(n->slab[i]);
	}
	free(n->slab);
	free(n->page);
	free(n->table);
	free(n);
}

/* ---- tables ---- */

static struct table *
table_slot(struct table *table, uint64_t cap, uint32_t id)
{
	for (uint64_t h = nam_mix(id);; h++)
		if (table[h & (cap - 1)].id == 0 || table[h & (cap - 1)].id == id)
			return &table[h & (cap - 1)];
}

static bool
more_tables(struct cat_newest *n)
{
	struct table *more = calloc(2 * n->table_cap, sizeof *more);
	if (more == NULL)
		return false;
	for (uint64_t i = 0; i < n->table_cap; i++)
		if (n->table[i].id != 0)
			*table_slot(more, 2 * n->table_cap, n->table[i].id) = n->table[i];
	free(n->table);
	n->table = more;
	n->table_cap *= 2;
	return true;
}

static struct table *
table_of(struct cat_newest *n, uint32_t id)
{
	if (n->last_table != NULL && n->last_table->id == id)
		return n->last_table;
	if (2 * (n->tables + 1) > n->table_cap && !more_tables(n))
		return NULL;
	struct table *t = table_slot(n->table, n->table_cap, id);
	n->tables += t->id == 0;
	t->id = id;
	return n->last_table = t;
}

/* ---- pages ---- */

static struct cat_newest_page **
page_slot(struct cat_newest_page **page, uint64_t cap, uint64_t number, uint32_t table)
{
	for (uint64_t h = nam_mix(number ^ nam_mix(table));; h++) {
		struct cat_newest_page *p = page[h & (cap - 1)];
		if (p == NULL || (p->number == number && p->table == table))
			return &page[h & (cap - 1)];
	}
}

static bool
more_pages(struct cat_newest *n)
{
	struct cat_newest_page **more = calloc(2 * n->page_cap, sizeof(struct cat_newest_page *));
	if (more == NULL)
		return false;
	for (uint64_t i = 0; i < n->page_cap; i++)
		if (n->page[i] != NULL)
			*page_slot(more, 2 * n->page_cap, n->page[i]->number, n->page[i]->table) = n->page[i];
	free(n->page);
	n->page = more;
	n->page_cap *= 2;
	return true;
}

static struct cat_newest_page *
page_new(struct cat_newest *n)
{
	if (n->slabs == 0 || n->slab_used == SLAB) {
		struct cat_newest_page **slab =
		    realloc(n->slab, (n->slabs + 1) * sizeof(struct cat_newest_page *));
		if (slab == NULL)
			return NULL;
		n->slab = slab;
		if ((n->slab[n->slabs] = calloc(SLAB, sizeof(struct cat_newest_page))) == NULL)
			return NULL;
		n->slabs++;
		n->slab_used = 0;
	}
	return &n->slab[n->slabs - 1][n->slab_used++];
}

static struct cat_newest_page *
page_of(struct cat_newest *n, uint64_t number, uint32_t table)
{
	if (n->last_page != NULL && n->last_page->number == number && n->last_page->table == table)
		return n->last_page;
	struct cat_newest_page *p = *page_slot(n->page, n->page_cap, number, table);
	if (p == NULL) {
		if ((2 * (n->pages + 1) > n->page_cap && !more_pages(n)) || (p = page_new(n)) == NULL)
			return NULL;
		p->number = number;
		p->table = table;
		*page_slot(n->page, n->page_cap, number, table) = p;
		n->pages++;
	}
	return n->last_page = p;
}

/* ---- rows ---- */

/* The row's slot, or the free one where it belongs. A page without a free one has each place. */
static uint32_t
row_slot(const uint16_t *mark, uint32_t cap, uint32_t place)
{
	for (uint32_t h = place * 0x9e3779b1u >> 16;; h++) {
		uint16_t m = __atomic_load_n(&mark[h & (cap - 1)], __ATOMIC_RELAXED);
		if (m == 0 || (m & PLACE) == place)
			return h & (cap - 1);
	}
}

static bool
page_grow(struct cat_newest_page *p)
{
	uint32_t cap = p->cap > 0 ? 2u * p->cap : ROWS_FIRST;
	uint64_t *cid = calloc(cap, sizeof *cid + sizeof *p->mark);
	if (cid == NULL)
		return false;
	uint16_t *mark = (void *)(cid + cap);
	for (uint32_t i = 0; i < p->cap; i++) {
		if (p->mark[i] == 0)
			continue;
		uint32_t k = row_slot(mark, cap, p->mark[i] & PLACE);
		cid[k] = p->cid[i];
		mark[k] = p->mark[i];
	}
	free(p->cid);
	p->cid = cid;
	p->mark = mark;
	p->cap = (uint16_t)cap;
	return true;
}

nam_status
cat_newest_note(struct cat_newest *n, uint32_t table, uint64_t at, uint64_t cid, bool deleted)
{
	if (table == 0 || at % (1 << UNIT_BITS) != 0)
		return NAM_CORRUPT;
	struct table *t = table_of(n, table);
	struct cat_newest_page *p = t != NULL ? page_of(n, at >> PAGE_BITS, table) : NULL;
	if (p == NULL)
		return NAM_NOMEM;
	/* Three quarters of the slots, or all of those of a page that has one for each place. */
	if (4 * (p->rows + 1u) > 3u * p->cap && p->cap < UNITS && !page_grow(p))
		return NAM_NOMEM;
	uint32_t place = (uint32_t)(at >> UNIT_BITS) & PLACE;
	uint32_t i = row_slot(p->mark, p->cap, place);
	bool was_there = p->mark[i] != 0, was_live = was_there && (p->mark[i] & DELETED) == 0;
	if (was_there && p->cid[i] > cid && !nam_fault(REPLAY_LAST))
		return NAM_OK; /* a later commit that lies before it in the log */
	p->rows = (uint16_t)(p->rows + !was_there);
	p->cid[i] = cid;
	p->mark[i] = (uint16_t)(place | USED | (deleted ? DELETED : 0));
	t->live += (uint64_t)!deleted - was_live;
	n->all += (uint64_t)!deleted - was_live;
	return NAM_OK;
}

bool
cat_newest_take(
    const struct cat_newest *n, struct cat_newest_near *near, uint32_t table, uint64_t at, uint64_t cid)
{
	const struct cat_newest_page *p = near->page;
	if (p == NULL || p->number != at >> PAGE_BITS || p->table != table)
		p = *page_slot(n->page, n->page_cap, at >> PAGE_BITS, table);
	if (p == NULL)
		return false;
	near->page = p;
	uint32_t i = row_slot(p->mark, p->cap, (uint32_t)(at >> UNIT_BITS) & PLACE);
	uint16_t was = __atomic_load_n(&p->mark[i], __ATOMIC_RELAXED);
	if (was == 0 || (was & (DELETED | TAKEN)) != 0 || p->cid[i] != cid)
		return false;
	return (__atomic_fetch_or(&p->mark[i], TAKEN, __ATOMIC_RELAXED) & TAKEN) == 0;
}

uint64_t
cat_newest_live(const struct cat_newest *n, uint32_t table)
{
	return table_slot(n->table, n->table_cap, table)->live;
}

uint64_t
cat_newest_all(const struct cat_newest *n)
{
	return n->all;
}
