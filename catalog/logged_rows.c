/* logged_rows.c -- the newest version of each row of the system tables (logged_rows.h). */
#include "logged_rows.h"

#include <base/fault.h>
#include <base/hash.h>

#include <stdlib.h>
#include <string.h>

enum {
	CHUNK_FIRST = 4 << 10,
	CHUNK_MOST = 1 << 20,
	PAGE_BITS = 14,
	CELL_BITS = 6,
	CELLS = 1 << (PAGE_BITS - CELL_BITS),
	SLAB = 64, /* pages that are allocated together */
	PAGES_FIRST = 256,
	TABLES_FIRST = 64,
};

struct page {
	uint64_t number; /* address >> PAGE_BITS */
	uint32_t table;
	struct cat_logged_row *cell[CELLS];
};

struct table {
	uint32_t id;
	uint64_t live;
	struct cat_logged_chunk *chunk;
	size_t n, cap, left; /* left: bytes of the last one that hold no row yet */
};

struct cat_logged_rows {
	/* Open addressing, NULL = free. */
	struct page **page;
	size_t page_cap, pages;
	struct table **table;
	size_t table_cap, tables;
	struct page *last_page;
	struct table *last_table;
	struct page **slab;
	size_t slabs, slab_used;
	uint64_t all;
};

struct cat_logged_rows *
cat_logged_rows_open(void)
{
	struct cat_logged_rows *l = calloc(1, sizeof *l);
	if (l == NULL)
		return NULL;
	l->page_cap = PAGES_FIRST;
	l->table_cap = TABLES_FIRST;
	l->page = calloc(l->page_cap, sizeof *l->page);
	l->table = calloc(l->table_cap, sizeof *l->table);
	if (l->page == NULL || l->table == NULL) {
		cat_logged_rows_close(l);
		return NULL;
	}
	return l;
}

void
cat_logged_rows_close(struct cat_logged_rows *l)
{
	if (l == NULL)
		return;
	for (size_t i = 0; i < l->table_cap && l->table != NULL; i++) {
		struct table *t = l->table[i];
		for (size_t k = 0; t != NULL && k < t->n; k++)
			free(t->chunk[k].from);
		free(t != NULL ? t->chunk : NULL);
		free(t);
	}
	for (size_t i = 0; i < l->slabs; i++)
		free(l->slab[i]);
	free(l->slab);
	free(l->page);
	free(l->table);
	free(l);
}

/* ---- tables ---- */

static struct table **
table_slot(struct table **table, size_t cap, uint32_t id)
{
	for (size_t h = nam_mix(id);; h++)
		if (table[h & (cap - 1)] == NULL || table[h & (cap - 1)]->id == id)
			return &table[h & (cap - 1)];
}

static bool
more_tables(struct cat_logged_rows *l)
{
	struct table **more = calloc(2 * l->table_cap, sizeof *more);
	if (more == NULL)
		return false;
	for (size_t i = 0; i < l->table_cap; i++)
		if (l->table[i] != NULL)
			*table_slot(more, 2 * l->table_cap, l->table[i]->id) = l->table[i];
	free(l->table);
	l->table = more;
	l->table_cap *= 2;
	return true;
}

static struct table *
table_of(struct cat_logged_rows *l, uint32_t id)
{
	if (l->last_table != NULL && l->last_table->id == id)
		return l->last_table;
	struct table *t = *table_slot(l->table, l->table_cap, id);
	if (t == NULL) {
		if ((2 * (l->tables + 1) > l->table_cap && !more_tables(l)) ||
		    (t = calloc(1, sizeof *t)) == NULL)
			return NULL;
		t->id = id;
		*table_slot(l->table, l->table_cap, id) = t;
		l->tables++;
	}
	return l->last_table = t;
}

/* ---- pages ---- */

static struct page **
page_slot(struct page **page, size_t cap, uint64_t number, uint32_t table)
{
	for (uint64_t h = nam_mix(number ^ nam_mix(table));; h++) {
		struct page *p = page[h & (cap - 1)];
		if (p == NULL || (p->number == number && p->table == table))
			return &page[h & (cap - 1)];
	}
}

static bool
more_pages(struct cat_logged_rows *l)
{
	struct page **more = calloc(2 * l->page_cap, sizeof *more);
	if (more == NULL)
		return false;
	for (size_t i = 0; i < l->page_cap; i++)
		if (l->page[i] != NULL)
			*page_slot(more, 2 * l->page_cap, l->page[i]->number, l->page[i]->table) = l->page[i];
	free(l->page);
	l->page = more;
	l->page_cap *= 2;
	return true;
}

static struct page *
page_new(struct cat_logged_rows *l)
{
	if (l->slabs == 0 || l->slab_used == SLAB) {
		struct page **slab = realloc(l->slab, (l->slabs + 1) * sizeof *slab);
		if (slab == NULL)
			return NULL;
		l->slab = slab;
		if ((l->slab[l->slabs] = calloc(SLAB, sizeof(struct page))) == NULL)
			return NULL;
		l->slabs++;
		l->slab_used = 0;
	}
	return &l->slab[l->slabs - 1][l->slab_used++];
}

static struct page *
page_of(struct cat_logged_rows *l, uint64_t number, uint32_t table)
{
	if (l->last_page != NULL && l->last_page->number == number && l->last_page->table == table)
		return l->last_page;
	struct page *p = *page_slot(l->page, l->page_cap, number, table);
	if (p == NULL) {
		if ((2 * (l->pages + 1) > l->page_cap && !more_pages(l)) || (p = page_new(l)) == NULL)
			return NULL;
		p->number = number;
		p->table = table;
		*page_slot(l->page, l->page_cap, number, table) = p;
		l->pages++;
	}
	return l->last_page = p;
}

/* ---- rows ---- */

static struct cat_logged_row *
row_new(struct table *t, uint32_t cap)
{
	size_t bytes = (sizeof(struct cat_logged_row) + cap + 7) & ~(size_t)7;
	if (bytes > t->left) {
		if (t->n == t->cap) {
			size_t more = t->cap ? 2 * t->cap : 4;
			struct cat_logged_chunk *chunk = realloc(t->chunk, more * sizeof *chunk);
			if (chunk == NULL)
				return NULL;
			t->chunk = chunk;
			t->cap = more;
		}
		size_t size = t->n < 8 ? (size_t)CHUNK_FIRST << t->n : CHUNK_MOST;
		size = size < bytes ? bytes : size;
		char *p = malloc(size);
		if (p == NULL)
			return NULL;
		t->chunk[t->n++] = (struct cat_logged_chunk){ p, p };
		t->left = size;
	}
	struct cat_logged_row *x = (void *)t->chunk[t->n - 1].to;
	t->chunk[t->n - 1].to += bytes;
	t->left -= bytes;
	x->cap = (uint32_t)(bytes - sizeof *x);
	return x;
}

nam_status
cat_logged_rows_keep(
    struct cat_logged_rows *l, uint32_t table, uint64_t at, uint64_t cid, const void *bytes, uint32_t len)
{
	struct table *t = table_of(l, table);
	struct page *p = t != NULL ? page_of(l, at >> PAGE_BITS, table) : NULL;
	if (p == NULL)
		return NAM_NOMEM;
	struct cat_logged_row **cell = &p->cell[(at >> CELL_BITS) & (CELLS - 1)], **link = cell;
	while (*link != NULL && (*link)->at != at)
		link = &(*link)->next;
	struct cat_logged_row *x = *link;
	if (x != NULL && x->cid > cid && !nam_fault(REPLAY_LAST))
		return NAM_OK; /* a later commit that lies before it in the log */
	bool was_live = x != NULL && x->state == CAT_LOGGED_LIVE;
	if (x == NULL || x->cap < len) {
		struct cat_logged_row *more = row_new(t, len);
		if (more == NULL)
			return NAM_NOMEM;
		more->next = x != NULL ? x->next : NULL;
		if (x != NULL)
			x->state = CAT_LOGGED_REPLACED;
		*link = x = more;
	}
	x->at = at;
	x->table = table;
	x->cid = cid;
	x->len = len;
	x->state = bytes != NULL ? CAT_LOGGED_LIVE : CAT_LOGGED_DELETED;
	if (bytes != NULL)
		memcpy(x->bytes, bytes, len);
	t->live += (uint64_t)(bytes != NULL) - was_live;
	l->all += (uint64_t)(bytes != NULL) - was_live;
	return NAM_OK;
}

uint64_t
cat_logged_rows_live(const struct cat_logged_rows *l, uint32_t table)
{
	const struct table *t = *table_slot(l->table, l->table_cap, table);
	return t != NULL ? t->live : 0;
}

uint64_t
cat_logged_rows_all(const struct cat_logged_rows *l)
{
	return l->all;
}

const struct cat_logged_chunk *
cat_logged_rows_chunks(const struct cat_logged_rows *l, uint32_t table, size_t *n)
{
	const struct table *t = *table_slot(l->table, l->table_cap, table);
	*n = t != NULL ? t->n : 0;
	return t != NULL ? t->chunk : NULL;
}

const struct cat_logged_row *
cat_logged_rows_next(const struct cat_logged_chunk *chunk, char **at)
{
	while (*at < chunk->to) {
		const struct cat_logged_row *x = (const void *)*at;
		*at += sizeof *x + x->cap;
		if (x->state == CAT_LOGGED_LIVE)
			return x;
	}
	return NULL;
}
