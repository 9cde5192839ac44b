/*
 * checkpoint.c -- the records of a checkpoint (checkpoint.h).
 *
 * A record is filled while the one before it is on its way. A body ends with the record that its
 * last item ends in; only a long value makes a body of several.
 */
#include "checkpoint.h"
#include "logged_format.h"
#include "txn_internal.h"

#include <base/fault.h>

#include <stdlib.h>
#include <string.h>

enum { LOOK_NS = 50000, LOOK_CAP_NS = 2000000, TELL_NS = 500000000 };
enum { HEAD = sizeof(struct wal_rq) + sizeof(struct txn_logged) };

struct piece {
	struct wal_append append;
	bool away;
	uint32_t n;
	char *bytes; /* struct wal_rq, struct txn_logged, the piece */
};

struct txn_checkpoint {
	struct txn_worker *tw;
	struct wal_rounds round;
	struct piece piece[2];
	unsigned cur;  /* the one that is filled */
	uint32_t cap;  /* of a piece */
	uint32_t body; /* number of the body */
	uint32_t part; /* of the piece that is filled */
	nam_status st; /* the first error: nothing is appended any more */
	struct txn_checkpoint_limits limits;
	uint64_t told_ns; /* when the log has heard of it last */
	struct txn_checkpoint_counts counts;
};

static nam_status
limit(const struct txn_checkpoint *c)
{
	if ((c->limits.cancel != NULL && atomic_load(c->limits.cancel) != 0) ||
	    (c->limits.stop != NULL && atomic_load(c->limits.stop)))
		return NAM_CANCELLED;
	return c->limits.until_ns != 0 && net_now_ns(c->tw->w) >= c->limits.until_ns ? NAM_EXPIRED : NAM_OK;
}

/* The log has been busy: is the piece sent again? */
static bool
gives_up(void *arg)
{
	struct txn_checkpoint *c = arg;
	if (c->st == NAM_OK)
		c->st = limit(c);
	return c->st != NAM_OK;
}

static nam_status
arrive(struct txn_checkpoint *c, struct piece *p)
{
	if (!p->away)
		return c->st;
	p->away = false;
	nam_status st = wal_append_wait(c->tw->w, &p->append);
	tso_goes_on(c->tw->tso);
	c->told_ns = net_now_ns(c->tw->w);
	if (c->st == NAM_OK)
		c->st = st == NAM_REFUSED ? NAM_BUSY : st; /* another round has begun */
	return c->st;
}

/* The piece leaves; the other one has arrived, and is filled from now on. */
static nam_status
leave(struct txn_checkpoint *c, bool last)
{
	struct piece *p = &c->piece[c->cur], *other = &c->piece[!c->cur];
	struct wal_rq *rq = (void *)p->bytes;
	struct txn_logged head = { .kind = TXN_LOGGED_KEPT,
		.flags = last ? TXN_LOGGED_LAST : 0,
		.part = c->part,
		.check = c->round.number << 32 | c->body,
		.time = net_wall_us(c->tw->w) };
	if (arrive(c, other) != NAM_OK)
		return c->st;
	memcpy(p->bytes + sizeof *rq, &head, sizeof head);
	rq->bytes = (uint32_t)sizeof head + p->n;
	p->append = (struct wal_append){ .rq = rq,
		.flags = WAL_NAMED | WAL_OF_ROUND,
		.place = UINT64_MAX,
		.name = { head.lock, head.check },
		.series = c->round.number,
		.attempt = c->body,
		.part = c->part,
		.gives_up = gives_up,
		.gives_up_arg = c };
	c->counts.bytes += rq->bytes;
	wal_append_start(c->tw->w, &c->tw->db->wal, &p->append);
	p->away = true;
	c->part = last ? 0 : c->part + 1;
	c->body += last;
	c->cur = !c->cur;
	other->n = 0;
	return NAM_OK;
}

static nam_status
put(struct txn_checkpoint *c, const void *bytes, uint64_t len)
{
	const char *from = bytes;
	uint64_t left = len, padded = TXN_PAD(len);
	while (padded > 0 && c->st == NAM_OK) {
		struct piece *p = &c->piece[c->cur];
		if (p->n == c->cap) {
			leave(c, false);
			continue;
		}
		uint64_t room = c->cap - p->n, n = padded < room ? padded : room, real = left < n ? left : n;
		memcpy(p->bytes + HEAD + p->n, from, real);
		memset(p->bytes + HEAD + p->n + real, 0, n - real);
		p->n += (uint32_t)n;
		from += real;
		left -= real;
		padded -= n;
	}
	return c->st;
}

/* An item whose bytes are `first` (8, or NULL), then `bytes`. */
static nam_status
put_item(
    struct txn_checkpoint *c, struct txn_logged_item item, const void *first, const void *bytes, uint32_t len)
{
	uint64_t all = sizeof item + (first != NULL ? 8 : 0) + TXN_PAD((uint64_t)len);
	if (c->st == NAM_OK && (c->part > 0 || (c->piece[c->cur].n > 0 && c->piece[c->cur].n + all > c->cap)))
		leave(c, true);
	item.len = len + (first != NULL ? 8 : 0);
	put(c, &item, sizeof item);
	if (first != NULL)
		put(c, first, 8);
	return put(c, bytes, len);
}

nam_status
txn_checkpoint_begin(
    struct txn_worker *tw, const struct txn_checkpoint_limits *limits, struct txn_checkpoint **out)
{
	struct txn_checkpoint *c;
	if (tw->db->wal.copies == 0)
		return NAM_UNSUPPORTED;
	nam_status st = NAM_OK;
	if (tw->wal_most == 0)
		st = wal_log_most_of(tw->w, &tw->db->wal, &tw->wal_most);
	if (st != NAM_OK)
		return st;
	if ((c = calloc(1, sizeof *c)) == NULL)
		return NAM_NOMEM;
	c->tw = tw;
	c->limits = *limits;
	c->told_ns = net_now_ns(tw->w);
	c->cap = (tw->wal_most - (uint32_t)sizeof(struct txn_logged)) & ~7u;
	for (unsigned i = 0; i < 2; i++)
		if ((c->piece[i].bytes = malloc(HEAD + c->cap)) == NULL)
			st = NAM_NOMEM;
	if (st == NAM_OK)
		st = wal_log_round(tw->w, &tw->db->wal, tw->db->wal.copies, limits->over, &c->round);
	if (st != NAM_OK) {
		txn_checkpoint_quit(c);
		return st;
	}
	/* J7: of what lies before the begin every commit is seen. */
	if (c->round.stamp != 0 && !nam_fault(CHECKPOINT_UNCOVERED))
		tso_answered(tw->db->tso, c->round.stamp);
	/* Each copy finds its own begin among them. */
	for (unsigned i = 0; i < c->round.copies; i++)
		put_item(c,
		    (struct txn_logged_item){ .kind = TXN_LOGGED_SINCE,
			.at = c->round.position.at[i] + 1,
			.ident = c->round.stamp },
		    NULL, NULL, 0);
	*out = c;
	return NAM_OK;
}

nam_status
txn_checkpoint_go_on(struct txn_checkpoint *c)
{
	uint64_t now = net_now_ns(c->tw->w);
	if (c->st == NAM_OK)
		c->st = limit(c);
	if (c->st == NAM_OK && now - c->told_ns > TELL_NS) {
		c->told_ns = now;
		nam_status st = wal_log_round_is(c->tw->w, &c->tw->db->wal, &c->round, true);
		c->st = st == NAM_REFUSED ? NAM_BUSY : st;
	}
	return c->st;
}

nam_status
txn_checkpoint_row(struct txn_checkpoint *c, const struct txn_table *table, const struct txn_row *row)
{
	const struct rec_block *b = row->block;
	uint64_t cid = row->cid;
	c->counts.rows++;
	return put_item(c,
	    (struct txn_logged_item){
		.kind = TXN_LOGGED_KEPT_ROW, .table = table->id, .at = row->at.bits, .ident = b->ident },
	    &cid, row->bytes, row->len);
}

nam_status
txn_checkpoint_value(
    struct txn_checkpoint *c, const struct txn_table *table, const struct txn_blob *b, const void *bytes)
{
	c->counts.values++;
	return put_item(c,
	    (struct txn_logged_item){ .kind = TXN_LOGGED_VALUE, .table = table->id, .at = b->at.bits }, NULL,
	    bytes, b->len);
}

nam_status
txn_checkpoint_number(struct txn_checkpoint *c, net_addr word, uint32_t generation, int64_t number)
{
	c->counts.numbers++;
	return put_item(c,
	    (struct txn_logged_item){
		.kind = TXN_LOGGED_NUMBER, .table = generation, .at = word.bits, .ident = (uint64_t)number },
	    NULL, NULL, 0);
}

nam_status
txn_checkpoint_ids(struct txn_checkpoint *c, uint64_t next)
{
	return put_item(
	    c, (struct txn_logged_item){ .kind = TXN_LOGGED_NEXT_ID, .at = 1, .ident = next }, NULL, NULL, 0);
}

nam_status
txn_checkpoint_received(struct txn_checkpoint *c)
{
	if (c->st == NAM_OK && (c->part > 0 || c->piece[c->cur].n > 0))
		leave(c, true);
	arrive(c, &c->piece[0]);
	return arrive(c, &c->piece[1]);
}

/* The cut has been ordered: waits until the log begins there. */
static nam_status
wait_for_begin(const struct txn_checkpoint *c)
{
	struct net_backoff pause = { .base_ns = LOOK_NS, .cap_ns = LOOK_CAP_NS };
	const struct wal_log *log = &c->tw->db->wal;
	bool does = false;
	nam_status st;
	while ((st = wal_log_begins(c->tw->w, log, &c->round, &does)) == NAM_OK && !does) {
		if ((st = limit(c)) != NAM_OK)
			return st;
		net_back_off(c->tw->w, &pause);
	}
	return st;
}

static void
let_go(struct txn_checkpoint *c)
{
	for (unsigned i = 0; i < 2; i++) {
		arrive(c, &c->piece[i]);
		free(c->piece[i].bytes);
	}
	free(c);
}

nam_status
txn_checkpoint_end(struct txn_checkpoint *c)
{
	nam_status st = txn_checkpoint_received(c);
	if (st == NAM_OK)
		st = wal_log_cut(c->tw->w, &c->tw->db->wal, &c->round);
	if (st != NAM_OK) {
		txn_checkpoint_quit(c);
		return st == NAM_REFUSED ? NAM_BUSY : st;
	}
	st = wait_for_begin(c);
	let_go(c);
	return st;
}

void
txn_checkpoint_quit(struct txn_checkpoint *c)
{
	/* The next one need not wait until this one has been silent for long. */
	if (c->round.copies != 0)
		(void)wal_log_round_is(c->tw->w, &c->tw->db->wal, &c->round, false);
	let_go(c);
}

void
txn_checkpoint_counts(const struct txn_checkpoint *c, struct txn_checkpoint_counts *out)
{
	*out = c->counts;
}

nam_status
txn_log_state(struct txn_worker *tw, struct txn_log_state *out)
{
	struct wal_line line;
	if (tw->db->wal.copies == 0)
		return NAM_UNSUPPORTED;
	nam_status st = wal_log_line(tw->w, &tw->db->wal, &line);
	if (st == NAM_OK && (line.life != tw->db->wal.life || line.published != line.life))
		return NAM_BUSY; /* it is being made */
	if (st == NAM_OK)
		*out = (struct txn_log_state){ .begin = line.begin,
			.end = line.flushed,
			.full = line.full,
			.every = line.every,
			.syncs = line.syncs,
			.records = line.records,
			.bytes = line.bytes,
			.written = line.written,
			.sync_ns = UINT64_C(1000) * line.sync_us,
			.full_wall_us = line.full_wall_us };
	return st;
}
