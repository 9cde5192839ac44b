/* rings.c -- see rings.h. */
#include "rings.h"

#include <base/fault.h>
#include <base/log.h>

#include <stdlib.h>
#include <string.h>

enum { MARKS = 8 };

/* Bytes of a ring up to `off` are flushed when the log is, up to `position`. */
struct mark {
	uint64_t off, position;
};

struct ring {
	struct wal_ring_head *head; /* in the region; its bytes lie behind it */
	uint64_t name[2];
	uint32_t generation; /* 0 = the ring has no owner */
	bool gone;           /* its owner, when it was looked for last */
	uint64_t taken;      /* what head->taken says */
	uint64_t seen;       /* of the entries on the list: up to there */
	uint64_t position;   /* of the entries on the list: the greatest end */
	struct mark mark[MARKS];
	unsigned marks;
	/* Its worker is roused when the ring is flushed up to `rouse`, 0 = it is not; then up to
	 * `later`. */
	uint64_t rouse, later;
	struct net_sleeper *sleeper;
};

/* An entry that is to be taken. */
struct listed {
	uint64_t number;
	const char *request; /* in the ring */
	uint32_t bytes;      /* there */
	unsigned ring;
	uint64_t end; /* in its ring */
};

struct wal_rings {
	struct wal_board *board;
	net_addr at;
	uint32_t ring_bytes;
	bool any;
	unsigned n;
	uint32_t generation; /* the last one given */
	struct listed *list;
	size_t listed, next; /* those before `next` have been taken */
	struct ring ring[];
};

static uint64_t
ring_space(uint32_t ring_bytes)
{
	return sizeof(struct wal_ring_head) + ring_bytes;
}

struct wal_rings *
wal_rings_open(void *area, net_addr at, uint64_t bytes, uint32_t ring_bytes, bool any)
{
	uint64_t n = bytes > sizeof(struct wal_board)
			 ? (bytes - sizeof(struct wal_board)) / ring_space(ring_bytes)
			 : 0;
	struct wal_rings *r = n > 0 ? calloc(1, sizeof *r + n * sizeof r->ring[0]) : NULL;
	if (r == NULL)
		return NULL;
	/* As many as there can be: the shortest entry has a request and no bytes. */
	r->list = calloc(n * (ring_bytes / (2 * WAL_ENTRY_ALIGN)), sizeof *r->list);
	if (r->list == NULL) {
		free(r);
		return NULL;
	}
	r->board = area;
	r->at = at;
	r->ring_bytes = ring_bytes;
	r->any = any;
	r->n = (unsigned)n;
	/* No entry has the number 0. */
	__atomic_store_n(&r->board->clock, 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < r->n; i++)
		r->ring[i].head =
		    (void *)((char *)area + sizeof(struct wal_board) + i * ring_space(ring_bytes));
	return r;
}

void
wal_rings_close(struct wal_rings *r)
{
	if (r != NULL)
		free(r->list);
	free(r);
}

uint64_t
wal_rings_hold(const struct wal_rings *r)
{
	return (uint64_t)r->n * r->ring_bytes;
}

struct wal_board *
wal_rings_board(struct wal_rings *r)
{
	return r->board;
}

/* ---- who has which ---- */

nam_status
wal_rings_give(
    struct wal_rings *r, const uint64_t name[2], struct wal_ring_given *out, struct net_sleeper ***sleeper)
{
	struct ring *to = NULL;
	if (name[0] == 0 || name[1] == 0)
		return NAM_INVALID;
	for (unsigned i = 0; i < r->n; i++) {
		struct ring *g = &r->ring[i];
		if (g->generation != 0 && g->name[0] == name[0] && g->name[1] == name[1]) {
			to = g;
			break;
		}
		if (g->generation == 0 && to == NULL)
			to = g;
	}
	if (to == NULL)
		return NAM_CROWDED;
	if (to->generation == 0) {
		struct wal_ring_head *head = to->head;
		if (++r->generation == 0)
			r->generation = 1;
		*to =
		    (struct ring){ .head = head, .name = { name[0], name[1] }, .generation = r->generation };
		__atomic_store_n(&head->tail, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&head->taken, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&head->flushed, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&head->generation, to->generation, __ATOMIC_RELEASE);
	}
	*sleeper = &to->sleeper;
	*out = (struct wal_ring_given){
		.board = r->at.bits,
		.ring = net_plus(r->at, (uint64_t)((char *)to->head - (char *)r->board)).bits,
		.generation = to->generation,
		.bytes = r->ring_bytes,
		.any = r->any,
	};
	return NAM_OK;
}

static void
end_one(struct ring *g)
{
	__atomic_store_n(&g->head->generation, 0, __ATOMIC_RELEASE);
	g->generation = 0;
	g->gone = false;
	__atomic_store_n(&g->sleeper, NULL, __ATOMIC_RELAXED);
}

void
wal_rings_end(struct wal_rings *r, const uint64_t name[2])
{
	for (unsigned i = 0; i < r->n; i++) {
		struct ring *g = &r->ring[i];
		if (g->generation != 0 && g->name[0] == name[0] && g->name[1] == name[1])
			end_one(g);
	}
}

unsigned
wal_rings_look_for_gone(struct wal_rings *r, bool (*gone)(void *arg, uint64_t identity), void *arg)
{
	unsigned n = 0;
	for (unsigned i = 0; i < r->n; i++) {
		struct ring *g = &r->ring[i];
		g->gone = g->generation != 0 && gone(arg, g->name[0]);
		n += g->gone;
	}
	return n;
}

void
wal_rings_end_gone(struct wal_rings *r)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->ring[i].gone)
			end_one(&r->ring[i]);
}

void
wal_rings_end_all(struct wal_rings *r)
{
	r->listed = r->next = 0;
	for (unsigned i = 0; i < r->n; i++)
		end_one(&r->ring[i]);
}

/* ---- what is published ---- */

bool
wal_rings_wait(const struct wal_rings *r)
{
	if (r->next < r->listed)
		return true;
	for (unsigned i = 0; i < r->n; i++)
		if (r->ring[i].generation != 0 &&
		    __atomic_load_n(&r->ring[i].head->tail, __ATOMIC_ACQUIRE) != r->ring[i].taken)
			return true;
	return false;
}

/* The ring's owner has written what it must not: nothing is believed any more. */
static void
spoilt(struct wal_rings *r, struct ring *g)
{
	nam_log(NAM_LOG_ERROR, "a compute process has written an invalid entry into ring %u of the log",
	    (unsigned)(g - r->ring));
	end_one(g);
}

/* An entry's head as it is read once: its owner can change it meanwhile. False: it is none of the
 * owner's. */
static bool
sound(const struct wal_rings *r, const struct ring *g, const struct wal_entry *e, uint64_t at, uint64_t left)
{
	return e->bytes >= WAL_ENTRY_ALIGN && e->bytes % WAL_ENTRY_ALIGN == 0 && e->bytes <= left &&
	       at + e->bytes <= r->ring_bytes && e->generation == g->generation &&
	       (e->number == 0 || e->bytes >= sizeof *e + sizeof(struct wal_rq));
}

/* The entries of a ring whose number is less than `before`. */
static void
look(struct wal_rings *r, unsigned which, uint64_t before)
{
	struct ring *g = &r->ring[which];
	uint64_t tail = __atomic_load_n(&g->head->tail, __ATOMIC_ACQUIRE);
	g->seen = g->taken;
	g->position = 0;
	if (tail - g->taken > r->ring_bytes) {
		spoilt(r, g);
		return;
	}
	while (g->seen < tail) {
		struct wal_entry e;
		uint64_t at = g->seen & (r->ring_bytes - 1);
		const char *bytes = (const char *)(g->head + 1) + at;
		memcpy(&e, bytes, sizeof e);
		if (!sound(r, g, &e, at, tail - g->seen)) {
			spoilt(r, g);
			return;
		}
		if (e.number >= before && !nam_fault(RINGS_LATE))
			return;
		g->seen += e.bytes;
		if (e.number != 0)
			r->list[r->listed++] = (struct listed){ e.number, bytes + sizeof e,
				e.bytes - (uint32_t)sizeof e, which, g->seen };
	}
}

static int
by_number(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;
	return (x->number > y->number) - (x->number < y->number);
}

static void
list(struct wal_rings *r)
{
	/* Before the first look (R3). */
	uint64_t before = __atomic_fetch_add(&r->board->clock, 1, __ATOMIC_SEQ_CST);
	r->listed = r->next = 0;
	for (unsigned i = 0; i < r->n; i++)
		if (r->ring[i].generation != 0)
			look(r, i, before);
	if (r->listed > 1 && !nam_fault(RINGS_UNSORTED))
		qsort(r->list, r->listed, sizeof *r->list, by_number);
}

static void
mark(struct ring *g)
{
	struct mark m = { g->seen, g->position };
	if (g->marks < MARKS) {
		g->mark[g->marks++] = m;
		return;
	}
	struct mark *last = &g->mark[MARKS - 1];
	last->off = m.off;
	if (m.position > last->position)
		last->position = m.position;
}

/* All that was listed has been taken. */
static void
taken(struct wal_rings *r)
{
	r->listed = r->next = 0;
	for (unsigned i = 0; i < r->n; i++) {
		struct ring *g = &r->ring[i];
		if (g->generation == 0 || g->seen == g->taken)
			continue;
		mark(g);
		g->taken = g->seen;
		__atomic_store_n(&g->head->taken, g->taken, __ATOMIC_RELEASE);
	}
}

static nam_status
take_list(struct wal_rings *r, wal_rings_taker take, void *arg)
{
	for (; r->next < r->listed; r->next++) {
		const struct listed *l = &r->list[r->next];
		struct ring *g = &r->ring[l->ring];
		struct wal_rq rq;
		uint64_t end = 0;
		memcpy(&rq, l->request, sizeof rq);
		nam_status st = NAM_INVALID;
		if (rq.what == WAL_APPEND && rq.bytes <= l->bytes - sizeof rq)
			st = take(arg, &rq, l->request + sizeof rq, &end);
		if (st != NAM_OK && st != NAM_REFUSED && st != NAM_INVALID)
			return st;
		/* One that the log does not take is never flushed: its owner is not told so. */
		if (st != NAM_OK) {
			end = UINT64_MAX;
			nam_log(NAM_LOG_WARN, "the log does not take an entry of ring %u: %s", l->ring,
			    nam_status_text(st));
		}
		if (end > g->position)
			g->position = end;
		if ((rq.flags & WAL_SOON) && (rq.flags & WAL_RINGS)) {
			g->later = l->end;
			g->rouse = g->rouse == 0 ? l->end : g->rouse;
		}
	}
	return NAM_OK;
}

nam_status
wal_rings_take(struct wal_rings *r, wal_rings_taker take, void *arg)
{
	/* What an earlier call has left is older than what is published now: that comes behind. */
	for (bool fresh = false; !fresh;) {
		fresh = r->next == r->listed;
		if (fresh)
			list(r);
		nam_status st = take_list(r, take, arg);
		if (st != NAM_OK)
			return st;
		taken(r);
		if (nam_fault(RINGS_LEFT))
			break;
	}
	return NAM_OK;
}

/* ---- how far they are flushed ---- */

void
wal_rings_flushed(struct wal_rings *r, uint64_t position, struct net_bell *bell)
{
	for (unsigned i = 0; i < r->n; i++) {
		struct ring *g = &r->ring[i];
		unsigned n = 0;
		while (n < g->marks && g->mark[n].position <= position)
			n++;
		if (g->generation == 0 || n == 0)
			continue;
		uint64_t off = g->mark[n - 1].off;
		g->marks -= n;
		memmove(g->mark, g->mark + n, g->marks * sizeof *g->mark);
		__atomic_store_n(&g->head->flushed, off, __ATOMIC_RELEASE);
		if (g->rouse == 0 || g->rouse > off)
			continue;
		g->rouse = g->later > off ? off + 1 : 0;
		/* The shard notes it behind its answer, without the lock. */
		net_bell_rouse(bell, __atomic_load_n(&g->sleeper, __ATOMIC_RELAXED));
	}
}
