/*
 * scan.c -- reads a table extent by extent: one READ each, while the next one is under way. If the
 * region is mapped here, an extent is read in place, and only the directory and the version of a
 * block are copied out.
 */
#include "txn_internal.h"

#include <net/exec.h>

#include <stdlib.h>
#include <string.h>

struct scan_buffer {
	struct net_batch batch;
	struct net_op op;
	char *bytes; /* NET_EXTENT, 64-aligned */
	net_addr at;
	bool busy, done;
	struct txn_scan *scan;
};

struct txn_scan {
	struct txn *t;
	struct txn_table *table;
	struct txn_table_view *v;
	struct scan_buffer buf[2];
	unsigned cur;   /* the buffer being read from */
	unsigned block; /* next block in it */
	uint64_t next;  /* extent after the last one asked for, 0 = the end */
	uint64_t stop;  /* the extent behind the part that is read; 0 = the chain's end */
	uint64_t head;  /* the first extent of the chain */
	bool mapped;    /* the chain is mapped here */
	bool open;      /* buf[cur] holds an extent; direct: there is one at next */
	bool direct;
	const char *here; /* direct: the extent being looked at, in the region or in buf[0] */
	net_addr here_at;
	struct nam_co *waiter;
	struct nam_arena arena; /* rows that had to be fetched from elsewhere */
};

static void
arrived(struct net_batch *b)
{
	struct scan_buffer *buf = b->tag;
	buf->busy = false;
	buf->done = true;
	if (buf->scan->waiter)
		nam_co_wake(buf->scan->waiter);
}

static void
ask(struct txn_scan *s, struct scan_buffer *buf, uint64_t at)
{
	buf->at = (net_addr){ at };
	buf->busy = true;
	buf->done = false;
	net_batch_init(&buf->batch, s->t->tw->w, &buf->op, 1, &s->t->counts);
	buf->batch.tag = buf;
	net_read(&buf->batch, buf->at, buf->bytes,
	    (uint32_t)(sizeof(struct txn_extent) + (uint64_t)s->v->per_extent * s->v->block_bytes));
	net_post_then(&buf->batch, arrived);
}

/* True if the extent after this one belongs to the part. */
static bool
more(const struct txn_scan *s)
{
	return s->next != 0 && s->next != s->stop;
}

/* Waits for the READ into buf. */
static nam_status
await(struct txn_scan *s, struct scan_buffer *buf)
{
	bool waited = buf->busy;
	uint64_t from = waited ? net_wait_from(s->t->tw->w) : 0;
	s->waiter = nam_co_self();
	while (buf->busy)
		nam_co_park();
	s->waiter = NULL;
	if (waited)
		s->t->counts.round_trips++;
	net_wait_until(s->t->tw->w, from, &s->t->counts);
	return buf->batch.status;
}

static nam_status
scan_open(struct txn *t, struct txn_table *table, struct txn_scan **out)
{
	if (t->latest)
		return NAM_UNSUPPORTED;
	struct txn_scan *s = calloc(1, sizeof *s);
	char *mem = s ? aligned_alloc(64, 2 * NET_EXTENT) : NULL;
	if (mem == NULL) {
		free(s);
		return NAM_NOMEM;
	}
	s->t = t;
	s->table = table;
	s->v = table->view;
	s->buf[0].bytes = mem;
	s->buf[1].bytes = mem + NET_EXTENT;
	s->buf[0].scan = s->buf[1].scan = s;
	nam_arena_init(&s->arena, 0);
	uint64_t head[2]; /* magic and table, to see that the table has not been dropped
			   * meanwhile */
	struct txn_anchor a;
	nam_status st = net_read1(t->tw->w, s->v->anchor, &a, sizeof a, &t->counts);
	head[0] = a.magic;
	head[1] = a.table;
	if (st == NAM_OK && (head[0] != TXN_ANCHOR_MAGIC || head[1] != s->v->table))
		st = NAM_ABSENT;
	uint32_t k = 0;
	while (k < t->nscanned && t->scanned[k] != table)
		k++;
	if (st == NAM_OK && t->iso == TXN_SERIALIZABLE && k == t->nscanned) {
		if (!txn_grow((void **)&t->scanned, t->nscanned, &t->scanned_cap, sizeof *t->scanned))
			st = NAM_NOMEM;
		else
			t->scanned[t->nscanned++] = table;
	}
	if (st != NAM_OK) {
		txn_scan_close(s);
		return st;
	}
	s->head = a.blocks;
	s->mapped = s->head != 0 && net_direct(t->tw->w, (net_addr){ s->head }, NET_EXTENT) != NULL;
	*out = s;
	return NAM_OK;
}

nam_status
txn_scan_open_parts(struct txn *t, struct txn_table *table, struct txn_scan **out)
{
	return scan_open(t, table, out);
}

void
txn_scan_part(struct txn_scan *s, uint64_t from, uint64_t stop)
{
	s->here = NULL;
	s->block = 0;
	s->next = from;
	s->stop = stop;
	s->open = from != 0;
	s->direct = s->open && s->mapped;
	if (s->open && !s->direct)
		ask(s, &s->buf[s->cur], from);
}

nam_status
txn_scan_open(struct txn *t, struct txn_table *table, struct txn_scan **out)
{
	nam_status st = scan_open(t, table, out);
	if (st == NAM_OK)
		txn_scan_part(*out, (*out)->head, 0);
	return st;
}

/* The extent that is linked behind this one. */
static nam_status
behind(struct txn_scan *s, uint64_t at, uint64_t *next)
{
	struct net_worker *w = s->t->tw->w;
	struct txn_extent e;
	const char *p = s->mapped ? net_direct(w, (net_addr){ at }, sizeof e) : NULL;
	nam_status st = NAM_OK;
	if (p != NULL)
		net_copy_out(&e, p, sizeof e);
	else
		st = net_read1(w, (net_addr){ at }, &e, sizeof e, &s->t->counts);
	if (st == NAM_OK && e.table != s->v->table)
		st = net_direct_stands(w) ? NAM_CORRUPT : NAM_GONE;
	*next = e.next;
	return st;
}

nam_status
txn_scan_chain(struct txn_scan *s, uint64_t known, uint64_t **extent, uint32_t *n, unsigned *blocks)
{
	enum { TURN = 4096 }; /* extents between two yields: on mapped memory no READ parks */
	uint64_t *list = NULL;
	uint32_t cap = 0;
	nam_status st = NAM_OK;
	*n = 0;
	*blocks = s->v->per_extent;
	for (uint64_t at = s->head; st == NAM_OK && at != 0 && at != known;) {
		if (*n == cap) {
			cap = cap == 0 ? 64 : cap * 2;
			uint64_t *room = realloc(list, cap * sizeof *room);
			if (room == NULL) {
				st = NAM_NOMEM;
				break;
			}
			list = room;
		}
		list[(*n)++] = at;
		st = behind(s, at, &at);
		if (*n % TURN == 0)
			nam_co_yield();
	}
	if (st != NAM_OK) {
		free(list);
		list = NULL;
	}
	*extent = list;
	return st;
}

/* The extent in buf[cur] has arrived: asks for the one after it, into the other buffer. */
static nam_status
begin_extent(struct txn_scan *s)
{
	struct scan_buffer *buf = &s->buf[s->cur];
	nam_status st = await(s, buf);
	if (st != NAM_OK)
		return st;
	const struct txn_extent *e = (const void *)buf->bytes;
	if (e->table != s->v->table)
		return NAM_CORRUPT;
	s->next = e->next;
	s->block = 0;
	if (more(s))
		ask(s, &s->buf[1 - s->cur], s->next);
	return NAM_OK;
}

/* Judges one block. True: *row is a visible row. */
static bool
show(struct txn_scan *s, struct rec_block *img, net_addr at, struct txn_row *row, nam_status *fatal)
{
	struct txn *t = s->t;
	const struct txn_table_view *v = s->v;
	const struct txn_write *own = t->nwr ? txn_own(t, at) : NULL;
	if (own != NULL && own->kind != WR_LOCK) {
		*row = (struct txn_row){
			.at = at, .bytes = own->slot->payload, .len = (uint32_t)own->slot->meta
		};
		return (own->slot->meta & REC_DELETED) == 0;
	}
	if (img->cid[v->slots] == 0 && txn_rec_dir_whole(v, img, at))
		return false; /* no version was ever committed here */
	unsigned k = 0;
	const struct rec_slot *x = NULL;
	enum rec_found f = txn_rec_resolve(v, img, at, t->pin.at, &k);
	if (f == REC_NONE)
		return false;
	if (f == REC_HERE) {
		x = rec_slot_of(v, img, k);
	} else {
		/* The row must stay valid until the next call, as any other row does. */
		struct rec_block *copy = nam_arena_take(&s->arena, v->block_bytes);
		if (copy == NULL) {
			*fatal = NAM_NOMEM;
			return false;
		}
		memcpy(copy, img, v->block_bytes);
		img = copy;
		nam_status st = txn_rec_fetch(t, v, img, at, t->pin.at, &x, &s->arena);
		if (st != NAM_OK && st != NAM_ABSENT)
			*fatal = st;
		if (st != NAM_OK)
			return false;
	}
	if (x->meta & REC_DELETED)
		return false;
	unsigned n = txn_rec_newest(v, img);
	*row = (struct txn_row){ .at = at,
		.bytes = x->payload,
		.len = (uint32_t)x->meta,
		.cid = x->cid,
		.newest = rec_cid(img, n),
		.block = img };
	return true;
}

/* ---- in place -------------------------------------------------------------------- */

enum { AHEAD = 6, AHEAD_WORDS = 24, LINE = 64 };
#define NEVER UINT64_MAX /* no word is like this */

/* The fallback: the whole block by a READ. */
static bool
show_read(struct txn_scan *s, net_addr at, struct txn_row *row, nam_status *fatal)
{
	struct rec_block *img = nam_arena_take(&s->arena, s->v->block_bytes);
	*fatal = img == NULL ? NAM_NOMEM : net_read1(s->t->tw->w, at, img, s->v->block_bytes, &s->t->counts);
	return *fatal == NAM_OK && show(s, img, at, row, fatal);
}

/* True if the word was read before the directory. For a block that was always empty it does not
 * matter. */
static bool
in_order(const struct txn_scan *s, uint64_t word)
{
	return word == 0 || s->here != s->buf[0].bytes;
}

/*
 * Judges the block at p. Other processes write there meanwhile: the directory is copied and proven,
 * then the version it names is copied and proven, as two READs would bring them.
 */
static bool
show_direct(
    struct txn_scan *s, const char *p, net_addr at, uint64_t *word, struct txn_row *row, nam_status *fatal)
{
	struct txn *t = s->t;
	const struct txn_table_view *v = s->v;
	struct rec_block head;
	uint64_t hdr[3];
	const struct txn_write *own = t->nwr ? txn_own(t, at) : NULL;
	*word = NEVER;
	if (own != NULL && own->kind != WR_LOCK)
		return show(s, NULL, at, row, fatal);
	/* Before the directory: see txn_scan_differ. */
	uint64_t first = __atomic_load_n((const uint64_t *)(const void *)p, __ATOMIC_ACQUIRE);
	net_copy_out(&head, p, rec_head_bytes(v->slots));
	if (!txn_rec_dir_whole(v, &head, at))
		return show_read(s, at, row, fatal);
	uint64_t best = 0, newest = 0;
	unsigned slot = 0;
	for (unsigned k = 0; k < v->slots; k++) {
		uint64_t c = rec_cid(&head, k);
		if (c <= t->pin.at && c > best) {
			best = c;
			slot = k;
		}
		newest = c > newest ? c : newest;
	}
	if (best == newest && (best != 0 ? first == best : head.link == 0 && in_order(s, first)))
		*word = first;
	if (best == 0)
		return head.link != 0 && show_read(s, at, row, fatal);
	const char *from = p + v->head_bytes + slot * v->slot_bytes;
	net_copy_out(hdr, from, sizeof hdr);
	uint32_t len = (uint32_t)hdr[1];
	if (hdr[0] != best || len > v->row_max)
		return show_read(s, at, row, fatal);
	struct rec_block *img = nam_arena_take(&s->arena, v->block_bytes);
	if (img == NULL) {
		*fatal = NAM_NOMEM;
		return false;
	}
	for (unsigned k = 0; k < v->slots; k++) /* the other slots are marked as not READ */
		((struct rec_slot *)(uintptr_t)rec_slot_of(v, img, k))->cid = 0;
	struct rec_slot *x = (struct rec_slot *)(uintptr_t)rec_slot_of(v, img, slot);
	memcpy(img, &head, rec_head_bytes(v->slots));
	memcpy(x, hdr, sizeof hdr);
	net_copy_out(x->payload, from + sizeof hdr, TXN_PAD(len));
	if (!txn_rec_slot_whole(v, x, best, at))
		return show_read(s, at, row, fatal);
	if (x->meta & REC_DELETED)
		return false;
	*row = (struct txn_row){ .at = at,
		.bytes = x->payload,
		.len = len,
		.cid = best,
		.newest = newest,
		.block = img,
		.partial = true };
	return true;
}

static nam_status
open_here(struct txn_scan *s)
{
	struct net_worker *w = s->t->tw->w;
	uint32_t bytes =
	    (uint32_t)(sizeof(struct txn_extent) + (uint64_t)s->v->per_extent * s->v->block_bytes);
	struct txn_extent e;
	nam_status st = NAM_OK;
	s->here_at.bits = s->next;
	s->here = net_read_direct(w, s->here_at, bytes, &s->t->counts);
	if (s->here == NULL) {
		st = net_read1(w, s->here_at, s->buf[0].bytes, bytes, &s->t->counts);
		s->here = s->buf[0].bytes;
	}
	if (st != NAM_OK)
		return st;
	net_copy_out(&e, s->here, sizeof e);
	if (e.table != s->v->table)
		return net_direct_stands(w) ? NAM_CORRUPT : NAM_GONE;
	s->next = e.next;
	s->block = 0;
	return NAM_OK;
}

static nam_status
next_direct(struct txn_scan *s, struct txn_row *rows, unsigned max, unsigned *n)
{
	const struct txn_table_view *v = s->v;
	nam_status st = NAM_OK;
	while (s->open && *n < max) {
		if (s->here == NULL && (st = open_here(s)) != NAM_OK)
			return st;
		for (; s->block < v->per_extent && *n < max; s->block++) {
			uint64_t off = sizeof(struct txn_extent) + (uint64_t)s->block * v->block_bytes;
			const char *p = s->here + off;
			uint64_t word;
			for (unsigned i = 0; i < 3; i++)
				__builtin_prefetch(p + (size_t)AHEAD * v->block_bytes + i * LINE, 0, 2);
			*n += show_direct(s, p, net_plus(s->here_at, off), &word, &rows[*n], &st);
			if (st != NAM_OK)
				return st;
		}
		if (s->block == v->per_extent) {
			s->here = NULL;
			s->open = more(s);
		}
	}
	/* Memory that was given up meanwhile shows empty blocks. */
	return net_direct_stands(s->t->tw->w) ? NAM_OK : NAM_GONE;
}

/* ---- an extent at a time ---------------------------------------------------------- */

/*
 * The version that a block shows at snapshot S is remembered with the block's word, read before its
 * directory, provided that the word is unlocked and is the CID of the newest version listed, and
 * that S shows this version (or that none is listed). A scan that finds the same word again, free
 * and at or below its own S, sees the same versions: between equal words a block lists the same
 * versions (R5), a word never returns (R6), a version's bytes never change, and a commit at or
 * below S has landed its words before its mark. A directory newer or older than the word read
 * before it never passes: under an unlocked word the newest CID listed equals the word (R3), and a
 * block that lists nothing gets another word when it changes.
 */

uint64_t
txn_scan_where(const struct txn_scan *s)
{
	if (!s->direct || !s->open || s->t->nwr > 0 || (s->here != NULL && s->block != 0))
		return 0;
	return s->here != NULL ? s->here_at.bits : s->next;
}

nam_status
txn_scan_extent(struct txn_scan *s, uint64_t at, unsigned *blocks, uint64_t *next)
{
	*blocks = s->v->per_extent;
	s->next = at;
	nam_status st = open_here(s);
	*next = s->next;
	return st;
}

void
txn_scan_leave(struct txn_scan *s, uint64_t next)
{
	s->here = NULL;
	s->block = 0;
	s->next = next;
	s->open = more(s);
}

unsigned
txn_scan_differ(struct txn_scan *s, const uint64_t *word, uint64_t *differ)
{
	const struct txn_table_view *v = s->v;
	uint64_t snapshot = s->t->pin.at;
	const char *p = s->here + sizeof(struct txn_extent);
	unsigned n = 0;
	for (unsigned k = 0; k < v->per_extent; k += 64) {
		unsigned m = v->per_extent - k < 64 ? v->per_extent - k : 64;
		uint64_t bits = 0;
		for (unsigned i = 0; i < m; i++, p += v->block_bytes) {
			__builtin_prefetch(p + (size_t)AHEAD_WORDS * v->block_bytes, 0, 2);
			uint64_t w = __atomic_load_n((const uint64_t *)(const void *)p, __ATOMIC_RELAXED);
			/* a lock's bit makes it greater than any snapshot */
			bits |= (uint64_t)((w != word[k + i]) | (w > snapshot)) << i;
		}
		differ[k / 64] = bits;
		n += (unsigned)__builtin_popcountll(bits);
	}
	if (!net_direct_stands(s->t->tw->w)) {
		/* None of it was the table's memory: txn_scan_blocks looks at all blocks, and
		 * returns the error. */
		n = v->per_extent;
		for (unsigned k = 0; k < n; k++)
			differ[k / 64] |= UINT64_C(1) << k % 64;
	}
	return n;
}

nam_status
txn_scan_blocks(struct txn_scan *s, const uint64_t *only, uint64_t *word, unsigned *block,
    struct txn_row *rows, unsigned max, unsigned *n)
{
	const struct txn_table_view *v = s->v;
	nam_status st = NAM_OK;
	*n = 0;
	nam_arena_reset(&s->arena);
	for (unsigned k = *block; k < v->per_extent && *n < max; *block = ++k) {
		uint64_t off = sizeof(struct txn_extent) + (uint64_t)k * v->block_bytes, w;
		const char *p = s->here + off;
		if (only != NULL && (only[k / 64] >> k % 64 & 1) == 0)
			continue;
		for (unsigned i = 0; i < 3; i++)
			__builtin_prefetch(p + (size_t)AHEAD * v->block_bytes + i * LINE, 0, 2);
		*n += show_direct(s, p, net_plus(s->here_at, off), &w, &rows[*n], &st);
		if (st != NAM_OK)
			return st;
		if (word != NULL)
			word[k] = w;
	}
	return net_direct_stands(s->t->tw->w) ? NAM_OK : NAM_GONE;
}

unsigned
txn_scan_block_of(const struct txn_scan *s, const struct txn_row *row)
{
	return (unsigned)((row->at.bits - s->here_at.bits - sizeof(struct txn_extent)) / s->v->block_bytes);
}

nam_status
txn_scan_next(struct txn_scan *s, struct txn_row *rows, unsigned max, unsigned *n)
{
	nam_status st = NAM_OK;
	*n = 0;
	nam_arena_reset(&s->arena);
	if (s->direct)
		return next_direct(s, rows, max, n);
	while (*n == 0 && s->open) {
		struct scan_buffer *buf = &s->buf[s->cur];
		if (s->block == 0 || buf->busy) {
			if ((st = begin_extent(s)) != NAM_OK)
				return st;
		}
		/* Rows of one call come from one extent: its buffer is not touched before the next
		 * call. */
		while (s->block < s->v->per_extent && *n < max) {
			uint64_t off = sizeof(struct txn_extent) + (uint64_t)s->block * s->v->block_bytes;
			s->block++;
			if (show(s, (struct rec_block *)(void *)(buf->bytes + off), net_plus(buf->at, off),
				&rows[*n], &st))
				++*n;
			if (st != NAM_OK)
				return st;
		}
		if (s->block < s->v->per_extent)
			break; /* max rows */
		s->open = more(s);
		s->cur = 1 - s->cur;
		s->block = 0;
		if (*n == 0 && s->open)
			continue;
		/* The rows lie in the buffer that is left now: the next READ into it is posted by
		 * the next call. */
		break;
	}
	return NAM_OK;
}

void
txn_scan_close(struct txn_scan *s)
{
	if (s->buf[0].busy)
		await(s, &s->buf[0]);
	if (s->buf[1].busy)
		await(s, &s->buf[1]);
	free(s->buf[0].bytes);
	nam_arena_fini(&s->arena);
	free(s);
}

/* ---- blocks as they are ---- */

nam_status
txn_blocks_each(struct txn *t, const struct txn_table_view *v, txn_block_fn *fn, void *arg)
{
	enum { TURN = 4 }; /* extents between two yields: on mapped memory no READ parks */
	char *ext = aligned_alloc(64, NET_EXTENT);
	uint64_t at = 0, looked = 0;
	nam_status st = ext != NULL ? NAM_OK : NAM_NOMEM;
	if (st == NAM_OK)
		st = net_read1(
		    t->tw->w, net_plus(v->anchor, offsetof(struct txn_anchor, blocks)), &at, 8, &t->counts);
	while (st == NAM_OK && at != 0) {
		st = net_read1(t->tw->w, (net_addr){ at }, ext, NET_EXTENT, &t->counts);
		for (uint32_t k = 0; st == NAM_OK && k < v->per_extent; k++) {
			uint64_t off = sizeof(struct txn_extent) + (uint64_t)k * v->block_bytes;
			st = fn(arg, (struct rec_block *)(void *)(ext + off), (net_addr){ at + off });
		}
		at = ((struct txn_extent *)(void *)ext)->next;
		if (++looked % TURN == 0)
			nam_co_yield();
		if (st == NAM_OK)
			st = txn_go_on(t);
	}
	free(ext);
	return st;
}

static nam_status
count_lock(void *arg, const struct rec_block *img, net_addr at)
{
	uint64_t *locked = arg;
	(void)at;
	*locked += rec_is_locked(img);
	return NAM_OK;
}

nam_status
txn_table_locks(struct txn *t, struct txn_table *table, uint64_t *locked)
{
	*locked = 0;
	return txn_blocks_each(t, table->view, count_lock, locked);
}

nam_status
txn_row_keep(const struct txn_table *table, struct txn_row *row, struct nam_arena *arena)
{
	const char *block = row->block, *bytes = row->bytes;
	if (block != NULL) {
		size_t size = table->view->block_bytes;
		if ((row->block = nam_arena_copy(arena, block, size)) == NULL)
			return NAM_NOMEM;
		if (bytes >= block && bytes + row->len <= block + size) {
			row->bytes = (const char *)row->block + (bytes - block);
			return NAM_OK;
		}
	}
	row->bytes = nam_arena_copy(arena, bytes, row->len);
	return row->bytes != NULL ? NAM_OK : NAM_NOMEM;
}
