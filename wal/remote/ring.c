/* ring.c -- see ring.h. */
#include "ring.h"

#include <base/fault.h>

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PIECES = 4 };

void
wal_ring_begin(struct wal_ring *r, struct net_worker *w, const struct wal_ring_given *given)
{
	*r = (struct wal_ring){
		.region = net_region_of((net_addr){ given->ring }),
		.at = { given->ring },
		.board = { given->board },
		.generation = given->generation,
		.bytes = given->bytes,
	};
	bool sound = given->bytes >= 4 * WAL_ENTRY_ALIGN && (given->bytes & (given->bytes - 1)) == 0 &&
		     given->generation != 0 && given->generation <= UINT32_MAX;
	r->mapped = net_direct(w, r->board, sizeof(struct wal_board)) != NULL;
	r->open = sound && (r->mapped || given->any);
	r->refused = true; /* it looks at the board first */
}

static net_addr
head_at(const struct wal_ring *r, size_t field)
{
	return net_plus(r->at, field);
}

/* An entry under way: its pieces are posted together. */
struct put {
	struct wal_entry head, skip;
	struct net_batch b;
	struct net_op op[PIECES];
	uint64_t end;
};

/* Room for so many bytes in one piece. 0: there is none. Never parks. */
static uint64_t
reserve(struct wal_ring *r, struct put *p, uint32_t bytes)
{
	uint64_t rest = r->bytes - (r->tail & (r->bytes - 1)), skip = rest < bytes ? rest : 0;
	if (r->tail + skip + bytes - r->taken > r->bytes)
		return 0;
	net_addr data = net_plus(r->at, sizeof(struct wal_ring_head));
	if (skip != 0) {
		p->skip =
		    (struct wal_entry){ .bytes = (uint32_t)skip, .generation = (uint32_t)r->generation };
		net_write(&p->b, net_plus(data, r->tail & (r->bytes - 1)), &p->skip, sizeof p->skip);
	}
	r->tail += skip;
	net_addr at = net_plus(data, r->tail & (r->bytes - 1));
	r->tail += bytes;
	p->end = r->tail;
	p->head.bytes = bytes;
	p->head.generation = (uint32_t)r->generation;
	net_write(&p->b, at, &p->head, sizeof p->head);
	return at.bits;
}

struct board {
	uint64_t sleeps, refuses;
};

static nam_status
read_board(struct wal_ring *r, struct net_worker *w, struct board *b)
{
	nam_status st =
	    net_read1(w, net_plus(r->board, offsetof(struct wal_board, sleeps)), b, sizeof *b, NULL);
	if (st == NAM_OK)
		r->refused = b->refuses != WAL_TAKES;
	return st;
}

/* The node may have made room, or take entries again. False: neither. */
static bool
has_room(struct wal_ring *r, struct net_worker *w, uint64_t bytes)
{
	struct wal_ring_head head;
	struct board b;
	if (!r->refused && r->tail + 2 * bytes - r->taken <= r->bytes)
		return true;
	if (read_board(r, w, &b) != NAM_OK || r->refused ||
	    net_read1(w, head_at(r, offsetof(struct wal_ring_head, taken)), &head.taken,
		3 * sizeof head.taken, NULL) != NAM_OK ||
	    head.generation != r->generation)
		return false;
	if (head.taken > r->taken)
		r->taken = head.taken;
	return true;
}

static nam_status
rouse(struct wal_ring *r, struct net_worker *w, bool *prod)
{
	net_addr at = net_plus(r->board, offsetof(struct wal_board, sleeps));
	uint64_t seen;
	nam_status st = net_cas1(w, at, 1, 0, &seen, NULL);
	if (st != NAM_OK || seen != 1)
		return st;
	const void *word = r->mapped ? net_direct(w, at, sizeof(uint64_t)) : NULL;
	if (word != NULL)
		syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
	else
		*prod = true;
	return NAM_OK;
}

nam_status
wal_ring_put(struct wal_ring *r, struct net_worker *w, const struct wal_rq *rq, uint64_t *end, bool *prod)
{
	uint32_t len = (uint32_t)sizeof *rq + rq->bytes;
	uint32_t bytes = (WAL_ENTRY_HEAD + len + WAL_ENTRY_ALIGN - 1) & ~(uint32_t)(WAL_ENTRY_ALIGN - 1);
	struct board board;
	struct put p = { .end = 0 };
	*prod = false;
	if (!r->open || len > wal_ring_most(r) || !has_room(r, w, bytes))
		return NAM_BUSY;
	/* R2: all that the transaction depends on has been READ. */
	nam_status st =
	    net_faa1(w, net_plus(r->board, offsetof(struct wal_board, clock)), 1, &p.head.number, NULL);
	if (st != NAM_OK)
		return NAM_BUSY;
	/* From here to the post nothing parks: entries are posted in the order of their places. */
	net_batch_init(&p.b, w, p.op, PIECES, NULL);
	uint64_t was = r->tail;
	net_addr at = { r->open ? reserve(r, &p, bytes) : 0 };
	if (at.bits == 0)
		return NAM_BUSY;
	net_write(&p.b, net_plus(at, WAL_ENTRY_HEAD), rq, len);
	net_faa(&p.b, head_at(r, offsetof(struct wal_ring_head, tail)), p.end - was);
	net_post(&p.b);
	st = net_wait(&p.b);
	if (st == NAM_OK)
		st = read_board(r, w, &board);
	/* It may have been published before the log broke, or behind that. */
	if (st == NAM_OK && board.refuses == WAL_TAKES_NONE)
		st = NAM_UNLOGGED;
	if (st == NAM_OK && (rq->flags & WAL_SOON) && board.sleeps != 0)
		st = rouse(r, w, prod);
	*end = p.end;
	if (st == NAM_OK)
		return NAM_OK;
	r->open = false; /* it may have a hole */
	return st == NAM_UNLOGGED ? st : NAM_GONE;
}

nam_status
wal_ring_flushed(struct wal_ring *r, struct net_worker *w, uint64_t *flushed)
{
	uint64_t seen[2]; /* flushed, generation */
	nam_status st =
	    net_read1(w, head_at(r, offsetof(struct wal_ring_head, flushed)), seen, sizeof seen, NULL);
	if (st == NAM_OK && seen[1] != r->generation)
		return NAM_UNLOGGED;
	if (st == NAM_OK)
		*flushed = seen[0];
	return st;
}
