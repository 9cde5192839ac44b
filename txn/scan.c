/* scan.c -- reads a table extent by extent, one READ each, the next one under way. */
#include <stdlib.h>
#include <string.h>
#include "txn_internal.h"

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
	uint64_t next;  /* extent after the last one asked for; 0: the end */
	bool open;      /* buf[cur] holds an extent */
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

/* Waits for the READ into buf. */
static nam_status
await(struct txn_scan *s, struct scan_buffer *buf)
{
	bool waited = buf->busy;
	s->waiter = nam_co_self();
	while (buf->busy)
		nam_co_park();
	s->waiter = NULL;
	if (waited)
		s->t->counts.round_trips++;
	return buf->batch.status;
}

nam_status
txn_scan_open(struct txn *t, struct txn_table *table, struct txn_scan **out)
{
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
	uint64_t head[2]; /* magic and table, to see that it has not been dropped under us */
	struct txn_anchor a;
	nam_status st = net_read1(t->tw->w, s->v->anchor, &a, sizeof a, &t->counts);
	head[0] = a.magic;
	head[1] = a.table;
	if (st == NAM_OK && (head[0] != TXN_ANCHOR_MAGIC || head[1] != s->v->table))
		st = NAM_ABSENT;
	if (st == NAM_OK && t->iso == TXN_SERIALIZABLE) {
		if (!txn_grow((void **)&t->scanned, t->nscanned, &t->scanned_cap, sizeof *t->scanned))
			st = NAM_NOMEM;
		else
			t->scanned[t->nscanned++] = table;
	}
	if (st != NAM_OK) {
		txn_scan_close(s);
		return st;
	}
	s->next = a.blocks;
	if (s->next != 0) {
		ask(s, &s->buf[0], s->next);
		s->open = true;
	}
	*out = s;
	return NAM_OK;
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
	if (s->next != 0)
		ask(s, &s->buf[1 - s->cur], s->next);
	return NAM_OK;
}

/* What one block shows. True: *row is a visible row. */
static bool
show(struct txn_scan *s, uint64_t *img, net_addr at, struct txn_row *row, nam_status *fatal)
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
	if (img[REC_CID + v->slots] == 0 && txn_rec_dir_whole(v, img, at))
		return false; /* nothing was ever committed here */
	unsigned k = 0;
	const struct rec_slot *x = NULL;
	enum rec_found f = txn_rec_resolve(v, img, at, t->pin.at, &k);
	if (f == REC_NONE)
		return false;
	if (f == REC_HERE) {
		x = rec_slot_of(v, img, k);
	} else {
		/* The version must outlive this buffer's next use no longer than any other row. */
		uint64_t *copy = nam_arena_take(&s->arena, v->block_bytes);
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
		.newest = img[REC_CID + n] & ~REC_ARCHIVED,
		.block = img };
	return true;
}

nam_status
txn_scan_next(struct txn_scan *s, struct txn_row *rows, unsigned max, unsigned *n)
{
	nam_status st = NAM_OK;
	*n = 0;
	nam_arena_reset(&s->arena);
	while (*n == 0 && s->open) {
		struct scan_buffer *buf = &s->buf[s->cur];
		if (s->block == 0 || buf->busy) {
			if ((st = begin_extent(s)) != NAM_OK)
				return st;
		}
		/* Rows of one call come from one extent: its buffer is not touched before the next call. */
		while (s->block < s->v->per_extent && *n < max) {
			uint64_t off = sizeof(struct txn_extent) + (uint64_t)s->block * s->v->block_bytes;
			s->block++;
			if (show(s, (uint64_t *)(void *)(buf->bytes + off), net_plus(buf->at, off), &rows[*n],
				&st))
				++*n;
			if (st != NAM_OK)
				return st;
		}
		if (s->block < s->v->per_extent)
			break; /* max rows */
		s->open = s->next != 0;
		s->cur = 1 - s->cur;
		s->block = 0;
		if (*n == 0 && s->open)
			continue;
		/* The rows lie in the buffer we leave: the next READ into it is posted by the next call. */
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

nam_status
txn_table_locks(struct txn *t, struct txn_table *table, uint64_t *locked)
{
	const struct txn_table_view *v = table->view;
	char *ext = aligned_alloc(64, NET_EXTENT);
	uint64_t at = 0;
	*locked = 0;
	nam_status st = ext ? NAM_OK : NAM_NOMEM;
	if (st == NAM_OK)
		st = net_read1(
		    t->tw->w, net_plus(v->anchor, offsetof(struct txn_anchor, blocks)), &at, 8, &t->counts);
	while (st == NAM_OK && at != 0) {
		st = net_read1(t->tw->w, (net_addr){ at }, ext, NET_EXTENT, &t->counts);
		for (uint32_t k = 0; st == NAM_OK && k < v->per_extent; k++) {
			const uint64_t *img =
			    (const void *)(ext + sizeof(struct txn_extent) + (uint64_t)k * v->block_bytes);
			*locked += (img[REC_WORD] & REC_LOCK) != 0;
		}
		at = ((struct txn_extent *)(void *)ext)->next;
	}
	free(ext);
	return st;
}
