/* pages.c -- pages of decoded columns: found, compared, made; and scans over them. */
#include <base/assert.h>
#include <base/hash.h>
#include <catalog/catalog_internal.h>
#include <catalog/pages.h>

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	BUCKETS = 4096,
	TABLES = 256,       /* remembered as having been scanned */
	EXTENTS = 32,       /* of a page at most */
	PAGE_BLOCKS = 8192, /* a page ends with the extent that brings it here */
	PAGE_MAX = 8 << 20, /* bytes of a page: more is not kept */
	RECENT = 16,        /* scans: a page used since then is not given up for another */
};

struct page {
	struct page *next; /* in its bucket */
	uint64_t at, behind;
	uint32_t table, generation;
	unsigned columns;
	unsigned extents, blocks, rows; /* blocks: of one extent */
	uint64_t extent[EXTENTS];
	uint64_t *word;      /* extents x blocks */
	uint16_t *place;     /* of a row: its bit in differ */
	struct cat_vec *col; /* by number; null == NULL: not kept */
	struct nam_arena mem;
	/* under the lock */
	unsigned refs;
	bool gone; /* no lookup finds it any more */
	uint64_t used;
	unsigned full; /* with so many columns it did not fit */
	tso_cid asof;
	unsigned differs;
	uint64_t *differ; /* as of asof */
};

struct cat_pages {
	pthread_mutex_t lock; /* innermost */
	size_t bytes, limit;
	uint64_t scans, swept;
	struct {
		uint32_t table, generation;
	} seen[TABLES];
	struct page *bucket[BUCKETS];
};

struct cat_scan {
	struct cat_pages *pages;
	const struct cat_table *tab;
	const uint16_t *want;
	unsigned wants;
	struct txn *t;
	struct txn_scan *scan;
	bool raw;        /* nothing is remembered of this table, or of the rest of it */
	bool plainly;    /* raw, for each part */
	uint64_t stop;   /* where the part ends that is read; 0 = with the table */
	bool keep;       /* pages may be made */
	uint64_t number; /* of the scan */
	struct page *page;
	unsigned row;           /* next of the page */
	unsigned extent, block; /* next of those that differ */
	unsigned differs;
	uint64_t *differ; /* differ_cap words */
	unsigned differ_cap;
	bool plain; /* the page's extents, or this one, are read from remote memory */
	uint64_t lone, behind;
	struct nam_arena scratch, columns;
	struct cat_vec *tmp;
	uint16_t sel[CAT_BATCH];
	struct txn_row rows[CAT_BATCH];
};

size_t
cat_pages_default(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
	size_t quarter = pages > 0 && bytes > 0 ? (size_t)pages * (size_t)bytes / 4 : 0;
	return quarter > CAT_PAGES_BYTES ? quarter >> 20 << 20 : CAT_PAGES_BYTES;
}

/* ---- the memory of all pages ------------------------------------------------------- */

struct cat_pages *
cat_pages_new(void)
{
	struct cat_pages *p = calloc(1, sizeof *p);
	if (p == NULL)
		return NULL;
	pthread_mutex_init(&p->lock, NULL);
	p->limit = cat_pages_default();
	return p;
}

static void
page_free(struct page *p)
{
	nam_arena_fini(&p->mem);
	free(p);
}

/* Under the lock. */
static void
unlink_page(struct cat_pages *c, struct page **link)
{
	struct page *p = *link;
	*link = p->next;
	c->bytes -= p->mem.used;
	p->gone = true;
	if (p->refs == 0)
		page_free(p);
}

void
cat_pages_free(struct cat_pages *c)
{
	if (c == NULL)
		return;
	for (unsigned b = 0; b < BUCKETS; b++)
		while (c->bucket[b] != NULL)
			unlink_page(c, &c->bucket[b]);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

void
cat_pages_forget(struct cat_pages *c, uint32_t table)
{
	if (c == NULL)
		return;
	pthread_mutex_lock(&c->lock);
	for (unsigned b = 0; b < BUCKETS && c->bytes > 0; b++)
		for (struct page **link = &c->bucket[b]; *link != NULL;)
			if ((*link)->table == table)
				unlink_page(c, link);
			else
				link = &(*link)->next;
	pthread_mutex_unlock(&c->lock);
}

/* True if there is room for so many bytes. Pages that no scan has used lately are dropped. Under
 * the lock. */
static bool
make_room(struct cat_pages *c, size_t bytes)
{
	if (c->bytes + bytes <= c->limit)
		return true;
	if (bytes > c->limit || c->swept == c->scans)
		return false;
	c->swept = c->scans;
	for (unsigned b = 0; b < BUCKETS; b++)
		for (struct page **link = &c->bucket[b]; *link != NULL;)
			if ((*link)->refs == 0 && (*link)->used + RECENT < c->scans)
				unlink_page(c, link);
			else
				link = &(*link)->next;
	return c->bytes + bytes <= c->limit;
}

void
cat_pages_limit(struct cat *c, size_t bytes)
{
	struct cat_pages *p = c->pages;
	pthread_mutex_lock(&p->lock);
	p->limit = bytes;
	for (unsigned b = 0; b < BUCKETS; b++)
		while (p->bytes > bytes && p->bucket[b] != NULL)
			unlink_page(p, &p->bucket[b]);
	pthread_mutex_unlock(&p->lock);
}

size_t
cat_pages_limited(struct cat *c)
{
	pthread_mutex_lock(&c->pages->lock);
	size_t bytes = c->pages->limit;
	pthread_mutex_unlock(&c->pages->lock);
	return bytes;
}

static struct page **
bucket_of(struct cat_pages *c, uint32_t table, uint64_t at)
{
	return &c->bucket[nam_mix(at ^ (uint64_t)table << 40) % BUCKETS];
}

/* Under the lock. */
static struct page **
find(struct cat_pages *c, const struct cat_table *tab, uint64_t at)
{
	struct page **link = bucket_of(c, tab->store.id, at);
	while (*link != NULL && ((*link)->table != tab->store.id || (*link)->at != at))
		link = &(*link)->next;
	return link;
}

static void
let_go(struct cat_scan *s)
{
	struct page *p = s->page;
	if (p == NULL)
		return;
	s->page = NULL;
	pthread_mutex_lock(&s->pages->lock);
	if (--p->refs == 0 && p->gone)
		page_free(p);
	pthread_mutex_unlock(&s->pages->lock);
}

/* True if the page has the columns of the scan, in the layout of its table. */
static bool
has(const struct page *p, const struct cat_scan *s)
{
	if (p->generation != s->tab->generation || p->columns != s->tab->columns)
		return false;
	for (unsigned j = 0; j < s->wants; j++) {
		const struct cat_vec *v = &p->col[s->want[j]];
		if (v->null == NULL || v->type != s->tab->column[s->want[j]].type)
			return false;
	}
	return true;
}

static unsigned
stride(unsigned blocks)
{
	return (blocks + 63) / 64;
}

/* Room for the bits of a page. */
static bool
bits_room(struct cat_scan *s, unsigned words)
{
	if (words <= s->differ_cap)
		return true;
	uint64_t *more = realloc(s->differ, words * sizeof *more);
	if (more == NULL)
		return false;
	s->differ = more;
	s->differ_cap = words;
	return true;
}

/* ---- making one ------------------------------------------------------------------- */

/* Adds rows 0..n-1 of a decoded vector to a page's, whose rows end at `at`. */
static bool
vec_add(struct cat_vec *to, unsigned at, const struct cat_vec *v, unsigned n, struct page *p)
{
	memcpy(to->null + at, v->null, n);
	if (!cat_type_is_str(v->type)) {
		memcpy(to->i + at, v->i, n * sizeof *to->i);
		return true;
	}
	size_t bytes = 0;
	for (unsigned k = 0; k < n; k++)
		bytes += v->s[k].len;
	char *q = nam_arena_take(&p->mem, bytes);
	if (q == NULL)
		return false;
	for (unsigned k = 0; k < n; k++) {
		uint32_t len = v->s[k].len;
		to->s[at + k] = (struct cat_str){ q, len };
		if (len > 0)
			memcpy(q, v->s[k].p, len);
		q += len;
	}
	return true;
}

/* The columns wanted, and those of the page that was here before. */
static unsigned
all_wanted(const struct cat_scan *s, const struct page *was, uint16_t *out)
{
	unsigned n = 0;
	for (unsigned c = 0; c < s->tab->columns; c++) {
		bool want = was != NULL && was->generation == s->tab->generation && c < was->columns &&
			    was->col[c].null != NULL;
		for (unsigned j = 0; j < s->wants && !want; j++)
			want = s->want[j] == c;
		if (want)
			out[n++] = (uint16_t)c;
	}
	return n;
}

/* The rows of the extent the scan is at go into p. *full: it does not fit. */
static nam_status
take_extent(struct cat_scan *s, struct page *p, const uint16_t *want, unsigned wants, bool *full)
{
	unsigned block = 0, n, first = p->extents * stride(p->blocks) * 64;
	while (true) {
		nam_status st = txn_scan_blocks(
		    s->scan, NULL, p->word + p->extents * p->blocks, &block, s->rows, CAT_BATCH, &n);
		if (st != NAM_OK || n == 0)
			return st;
		nam_arena_reset(&s->scratch);
		st = cat_rows_decode(s->tab, s->t, s->rows, n, want, wants, s->tmp, &s->scratch);
		if (st != NAM_OK)
			return st;
		for (unsigned j = 0; j < wants; j++)
			if (!vec_add(&p->col[want[j]], p->rows, &s->tmp[j], n, p)) {
				*full = true;
				return NAM_OK;
			}
		for (unsigned k = 0; k < n; k++)
			p->place[p->rows + k] = (uint16_t)(first + txn_scan_block_of(s->scan, &s->rows[k]));
		p->rows += n;
	}
}

/* Which extents: from `at` to where another page begins. */
static nam_status
choose_extents(struct cat_scan *s, struct page *p, uint64_t at, const struct page *was)
{
	unsigned blocks = 0;
	if (was != NULL) {
		p->extents = was->extents;
		p->blocks = was->blocks;
		p->behind = was->behind;
		memcpy(p->extent, was->extent, sizeof p->extent);
		return NAM_OK;
	}
	p->behind = at;
	while (p->behind != 0 && p->behind != s->stop && p->extents < EXTENTS && blocks < PAGE_BLOCKS) {
		if (p->extents > 0) {
			pthread_mutex_lock(&s->pages->lock);
			bool begins = *find(s->pages, s->tab, p->behind) != NULL;
			pthread_mutex_unlock(&s->pages->lock);
			if (begins)
				break;
		}
		p->extent[p->extents++] = p->behind;
		nam_status st = txn_scan_extent(s->scan, p->behind, &p->blocks, &p->behind);
		if (st != NAM_OK)
			return st;
		blocks += p->blocks;
	}
	return NAM_OK;
}

static bool
page_room(struct page *p, const struct cat_scan *s, const uint16_t *want, unsigned wants)
{
	unsigned cap = p->extents * p->blocks, words = p->extents * stride(p->blocks);
	p->word = nam_arena_take(&p->mem, cap * sizeof *p->word);
	p->place = nam_arena_take(&p->mem, cap * sizeof *p->place);
	p->differ = nam_arena_zero(&p->mem, words * sizeof *p->differ);
	p->col = nam_arena_zero(&p->mem, (p->columns + 1) * sizeof *p->col);
	if (p->word == NULL || p->place == NULL || p->differ == NULL || p->col == NULL)
		return false;
	for (unsigned j = 0; j < wants; j++)
		if (!cat_vec_take(&p->col[want[j]], s->tab->column[want[j]].type, cap, &p->mem))
			return false;
	return true;
}

/* Blocks that cannot be remembered always differ. */
static void
mark_differs(struct page *p)
{
	for (unsigned e = 0; e < p->extents; e++)
		for (unsigned k = 0; k < p->blocks; k++)
			if (p->word[e * p->blocks + k] == UINT64_MAX) {
				p->differ[e * stride(p->blocks) + k / 64] |= UINT64_C(1) << k % 64;
				p->differs++;
			}
}

/* Makes the page that begins at `at`, or makes it again. *out: with a reference; NULL = it does not
 * fit. */
static nam_status
make(struct cat_scan *s, uint64_t at, const struct page *was, const uint16_t *want, unsigned wants,
    struct page **out)
{
	struct page *p = calloc(1, sizeof *p);
	*out = NULL;
	if (p == NULL)
		return NAM_OK;
	nam_arena_init(&p->mem, 32 << 10);
	p->mem.limit = PAGE_MAX;
	p->at = at;
	p->table = s->tab->store.id;
	p->generation = s->tab->generation;
	p->columns = s->tab->columns;
	p->asof = txn_snapshot(s->t);
	p->refs = 1;
	p->full = UINT_MAX;
	nam_status st = choose_extents(s, p, at, was);
	unsigned extents = p->extents;
	bool full = st == NAM_OK && !page_room(p, s, want, wants);
	for (p->extents = 0; st == NAM_OK && !full && p->extents < extents; p->extents++) {
		uint64_t next;
		st = txn_scan_extent(s->scan, p->extent[p->extents], &p->blocks, &next);
		if (st == NAM_OK)
			st = take_extent(s, p, want, wants, &full);
	}
	if (st != NAM_OK || full) {
		page_free(p);
		return st;
	}
	mark_differs(p);
	*out = p;
	return NAM_OK;
}

/* Puts it where others find it, if there is room. */
static void
publish(struct cat_scan *s, struct page *p)
{
	struct cat_pages *c = s->pages;
	pthread_mutex_lock(&c->lock);
	struct page **link = find(c, s->tab, p->at);
	if (*link != NULL)
		unlink_page(c, link);
	if (make_room(c, p->mem.used)) {
		link = bucket_of(c, p->table, p->at);
		p->next = *link;
		*link = p;
		p->used = s->number;
		c->bytes += p->mem.used;
	} else {
		p->gone = true;
		s->keep = false; /* nor will the rest of this table fit */
	}
	pthread_mutex_unlock(&c->lock);
}

/* ---- using one ---------------------------------------------------------------------- */

/* Which blocks of the page show something else to this scan? */
static nam_status
compare(struct cat_scan *s, struct page *p)
{
	unsigned w = stride(p->blocks), blocks;
	uint64_t next;
	s->differs = 0;
	for (unsigned e = 0; e < p->extents; e++) {
		nam_status st = txn_scan_extent(s->scan, p->extent[e], &blocks, &next);
		if (st != NAM_OK)
			return st;
		s->differs += txn_scan_differ(s->scan, p->word + e * p->blocks, s->differ + e * w);
	}
	return NAM_OK;
}

/* What others last found is found again, without a look, at the same snapshot. Under the lock. */
static bool
compared(struct cat_scan *s, const struct page *p)
{
	unsigned words = p->extents * stride(p->blocks);
	if (p->asof != txn_snapshot(s->t) || words > s->differ_cap)
		return false;
	s->differs = p->differs;
	memcpy(s->differ, p->differ, words * sizeof *s->differ);
	return true;
}

/* Do few enough blocks of s->page differ? */
static nam_status
judge(struct cat_scan *s, bool known, bool *good)
{
	struct page *p = s->page;
	unsigned words = p->extents * stride(p->blocks);
	*good = has(p, s);
	if (!*good || known)
		return NAM_OK;
	if (!bits_room(s, words))
		return NAM_NOMEM;
	nam_status st = compare(s, p);
	if (st != NAM_OK)
		return st;
	tso_cid snapshot = txn_snapshot(s->t);
	pthread_mutex_lock(&s->pages->lock);
	bool newer = snapshot > p->asof;
	if (newer) {
		p->asof = snapshot;
		p->differs = s->differs;
		memcpy(p->differ, s->differ, words * sizeof *p->differ);
	}
	pthread_mutex_unlock(&s->pages->lock);
	/* an old snapshot does not make pages older */
	*good = !newer || s->differs <= 16 + p->extents * p->blocks / 8;
	return NAM_OK;
}

/* Makes a page, or makes it again, with the columns that this scan needs besides. */
static nam_status
renew(struct cat_scan *s, uint64_t at)
{
	struct page *was = s->page, *fresh;
	nam_arena_reset(&s->columns);
	uint16_t *want = nam_arena_take(&s->columns, s->tab->columns * sizeof *want);
	s->tmp = nam_arena_take(&s->columns, s->tab->columns * sizeof *s->tmp);
	if (want == NULL || s->tmp == NULL)
		return NAM_NOMEM;
	unsigned wants = all_wanted(s, was, want);
	pthread_mutex_lock(&s->pages->lock);
	bool hopeless = was != NULL && wants >= was->full;
	pthread_mutex_unlock(&s->pages->lock);
	if (hopeless)
		return NAM_OK;
	nam_status st = make(s, at, was, want, wants, &fresh);
	if (st == NAM_OK && fresh == NULL && was != NULL) {
		pthread_mutex_lock(&s->pages->lock);
		was->full = wants;
		pthread_mutex_unlock(&s->pages->lock);
	} else if (st == NAM_OK && fresh == NULL && wants > 0) {
		st = make(s, at, NULL, want, 0, &fresh);
		if (fresh != NULL)
			fresh->full = wants;
	}
	if (st != NAM_OK || fresh == NULL)
		return st;
	let_go(s);
	if (!bits_room(s, fresh->extents * stride(fresh->blocks))) {
		page_free(fresh);
		return NAM_NOMEM;
	}
	s->page = fresh;
	s->differs = fresh->differs;
	memcpy(s->differ, fresh->differ, fresh->extents * stride(fresh->blocks) * sizeof *s->differ);
	publish(s, fresh); /* from here on another scan may write its bits */
	return NAM_OK;
}

/* True if the page has extents of the next part. */
static bool
goes_beyond(const struct cat_scan *s, const struct page *p)
{
	bool beyond = false;
	for (unsigned e = 1; s->stop != 0 && e < p->extents; e++)
		beyond |= p->extent[e] == s->stop;
	return beyond;
}

/* The scan is at the beginning of an extent: s->page becomes what is known from there on. */
static nam_status
enter(struct cat_scan *s, uint64_t at)
{
	bool known = false, good = false;
	nam_status st = NAM_OK;
	s->row = s->extent = s->block = 0;
	s->lone = at;
	pthread_mutex_lock(&s->pages->lock);
	if ((s->page = *find(s->pages, s->tab, at)) != NULL) {
		s->page->used = s->number;
		s->page->refs++;
		known = compared(s, s->page);
	}
	pthread_mutex_unlock(&s->pages->lock);
	if (s->page != NULL && goes_beyond(s, s->page)) {
		let_go(s);
		s->plain = true;
		return NAM_OK;
	}
	if (s->page != NULL)
		st = judge(s, known, &good);
	if (st == NAM_OK && !good && s->keep)
		st = renew(s, at);
	s->plain = s->page == NULL || !has(s->page, s);
	return st;
}

/* Rows of the page, those of blocks that differ left out. */
static void
from_page(struct cat_scan *s, struct cat_vec *col, unsigned *n, const uint16_t **sel, unsigned *kept)
{
	const struct page *p = s->page;
	unsigned at = s->row, m = p->rows - at < CAT_BATCH ? p->rows - at : CAT_BATCH;
	for (unsigned j = 0; j < s->wants; j++) {
		const struct cat_vec *v = &p->col[s->want[j]];
		col[j].type = v->type;
		col[j].null = v->null + at;
		if (cat_type_is_str(v->type))
			col[j].s = v->s + at;
		else
			col[j].i = v->i + at;
	}
	*n = *kept = m;
	*sel = NULL;
	s->row += m;
	if (s->differs == 0)
		return;
	unsigned k = 0;
	for (unsigned i = 0; i < m; i++) {
		unsigned bit = p->place[at + i];
		s->sel[k] = (uint16_t)i;
		k += (s->differ[bit / 64] >> bit % 64 & 1) == 0;
	}
	if (k < m) {
		*sel = s->sel;
		*kept = k;
	}
}

static nam_status
decode(struct cat_scan *s, struct cat_vec *col, unsigned n, const uint16_t **sel, unsigned *kept,
    struct nam_arena *arena)
{
	*sel = NULL;
	*kept = n;
	return s->wants == 0 ? NAM_OK
			     : cat_rows_decode(s->tab, s->t, s->rows, n, s->want, s->wants, col, arena);
}

/* Rows of the page's extents, of blocks that differ or of all. *n == 0: the page is done with. */
static nam_status
from_blocks(struct cat_scan *s, unsigned *n)
{
	const struct page *p = s->page;
	unsigned extents = p != NULL ? p->extents : 1, blocks;
	uint64_t next;
	*n = 0;
	for (; s->extent < extents; s->extent++, s->block = 0) {
		const uint64_t *only = NULL;
		uint64_t any = s->plain;
		if (!s->plain) {
			only = s->differ + s->extent * stride(p->blocks);
			for (unsigned k = 0; k < stride(p->blocks); k++)
				any |= only[k];
		}
		if (any == 0)
			continue;
		nam_status st = NAM_OK;
		if (s->block == 0) {
			st = txn_scan_extent(
			    s->scan, p != NULL ? p->extent[s->extent] : s->lone, &blocks, &next);
			s->behind = next;
		}
		if (st == NAM_OK)
			st = txn_scan_blocks(s->scan, only, NULL, &s->block, s->rows, CAT_BATCH, n);
		if (st != NAM_OK || *n > 0)
			return st;
	}
	return NAM_OK;
}

nam_status
cat_scan_next(struct cat_scan *s, struct cat_vec *col, unsigned *n, const uint16_t **sel, unsigned *kept,
    struct nam_arena *arena)
{
	nam_status st;
	while (true) {
		if (s->page != NULL && !s->plain && s->row < s->page->rows) {
			from_page(s, col, n, sel, kept);
			if (*kept > 0)
				return NAM_OK;
			continue;
		}
		if (s->plain || (s->page != NULL && s->differs > 0)) {
			if ((st = from_blocks(s, n)) != NAM_OK)
				return st;
			if (*n > 0)
				return decode(s, col, *n, sel, kept, arena);
		}
		if (s->page != NULL || s->plain)
			txn_scan_leave(s->scan, s->page != NULL ? s->page->behind : s->behind);
		let_go(s);
		s->plain = false;
		uint64_t at = s->raw ? 0 : txn_scan_where(s->scan);
		if (at == 0) {
			s->raw = true;
			if ((st = txn_scan_next(s->scan, s->rows, CAT_BATCH, n)) != NAM_OK)
				return st;
			return decode(s, col, *n, sel, kept, arena);
		}
		if ((st = enter(s, at)) != NAM_OK)
			return st;
	}
}

unsigned
cat_page_extents(unsigned blocks)
{
	unsigned n = (PAGE_BLOCKS + blocks - 1) / blocks;
	return n > EXTENTS ? EXTENTS : n;
}

static nam_status
scan_open(struct cat *c, struct txn *t, const struct cat_table *tab, const uint16_t *want, unsigned wants,
    bool parts, struct cat_scan **out)
{
	struct cat_scan *s = malloc(sizeof *s);
	if (s == NULL)
		return NAM_NOMEM;
	memset(s, 0, offsetof(struct cat_scan, sel));
	struct txn_table *store = (struct txn_table *)(uintptr_t)&tab->store;
	nam_status st = parts ? txn_scan_open_parts(t, store, &s->scan) : txn_scan_open(t, store, &s->scan);
	if (st != NAM_OK) {
		free(s);
		return st;
	}
	s->pages = c->pages;
	s->tab = tab;
	s->want = want;
	s->wants = wants;
	s->t = t;
	nam_arena_init(&s->scratch, 0);
	nam_arena_init(&s->columns, 1 << 10);
	s->keep = true;
	*out = s;
	return NAM_OK;
}

nam_status
cat_scan_open(struct cat *c, struct txn *t, const struct cat_table *tab, const uint16_t *want, unsigned wants,
    struct cat_scan **out)
{
	nam_status st = scan_open(c, t, tab, want, wants, false, out);
	if (st != NAM_OK)
		return st;
	struct cat_scan *s = *out;
	struct cat_pages *p = c->pages;
	pthread_mutex_lock(&p->lock);
	s->number = ++p->scans;
	/* A table that is scanned once may never be scanned again: pages are kept from the second
	 * scan on. */
	unsigned i = (unsigned)(nam_mix(tab->store.id) % TABLES);
	s->raw =
	    p->limit == 0 || p->seen[i].table != tab->store.id || p->seen[i].generation != tab->generation;
	p->seen[i].table = tab->store.id;
	p->seen[i].generation = tab->generation;
	pthread_mutex_unlock(&p->lock);
	return NAM_OK;
}

nam_status
cat_scan_open_parts(struct cat *c, struct txn *t, const struct cat_table *tab, const uint16_t *want,
    unsigned wants, bool raw, struct cat_scan **out)
{
	nam_status st = scan_open(c, t, tab, want, wants, true, out);
	if (st != NAM_OK)
		return st;
	pthread_mutex_lock(&c->pages->lock);
	(*out)->number = c->pages->scans;
	(*out)->plainly = (*out)->raw = raw || c->pages->limit == 0;
	pthread_mutex_unlock(&c->pages->lock);
	return NAM_OK;
}

void
cat_scan_part(struct cat_scan *s, uint64_t from, uint64_t stop)
{
	let_go(s);
	s->stop = stop;
	s->raw = s->plainly;
	s->plain = false;
	txn_scan_part(s->scan, from, stop);
}

bool
cat_scan_is_raw(const struct cat_scan *s)
{
	return s->raw;
}

void
cat_scan_close(struct cat_scan *s)
{
	let_go(s);
	txn_scan_close(s->scan);
	nam_arena_fini(&s->scratch);
	nam_arena_fini(&s->columns);
	free(s->differ);
	free(s);
}
