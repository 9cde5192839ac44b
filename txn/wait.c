/* wait.c -- waits for another transaction's lock, and detects cycles of such waits. */
#include "txn_internal.h"

enum {
	SLOW_TRIES = 256, /* after these a waiter for a lock looks every millisecond */
	CYCLE_NS = 10000000,
	CYCLE_MOST_NS = 500000000,
	CYCLE_PART = 16,  /* the search for cycles takes at most such a part of the time */
	STUCK_EVERY = 16, /* of slow tries */
	/*
	 * Most locks are held for some round trips: 2 us. Others are held as long as a client takes
	 * between two statements: a look each millisecond costs the node little, and finds the lock
	 * free soon enough for a person.
	 */
	WAIT_YIELDS = 8,
	WAIT_BASE_NS = 2000,
	WAIT_CAP_NS = 1000000,
	WAIT_HOLD = 28, /* a pause is about 1/28 of the wait so far; the cap is reached after 260
			 * pauses */
};

struct tso_timeout
txn_timeout(const struct txn_limits *l)
{
	return (struct tso_timeout){ .cancel = l->cancel, .until_ns = l->until_ns };
}

nam_status
txn_within(const struct txn_worker *tw, const struct txn_limits *l)
{
	struct tso_timeout p = txn_timeout(l);
	return tso_timeout_left(tw->w, &p);
}

nam_status
txn_go_on(const struct txn *t)
{
	return txn_within(t->tw, &t->limits);
}

nam_status
txn_between(struct txn *t)
{
	txn_give_way(t->tw);
	return txn_go_on(t);
}

nam_status
txn_lock_stuck(struct txn_worker *tw, uint64_t lock)
{
	unsigned owner = txn_lock_owner(lock), epoch = txn_lock_epoch(lock);
	return tso_is_unrecovered(tw->db->tso, owner, epoch) ? tso_stuck_on(tw->tso, owner, epoch) : NAM_OK;
}

/* Writes into our intent which lock we wait for, so that others can follow the chain. */
nam_status
txn_publish(struct txn *t, uint64_t lock)
{
	struct txn_intent_head h = { .lock = t->lock, .waits_for = lock, .holds = txn_holds(t) };
	return net_write1(t->tw->w, net_plus(t->intent->at, 64), &h, sizeof h, &t->counts);
}

/* *at: the intent, 0 = none. */
static nam_status
read_head(struct txn *t, uint64_t lock, struct txn_intent_head *h, net_addr *at)
{
	struct net_worker *w = t->tw->w;
	unsigned in = txn_lock_intent(lock);
	uint64_t log, chunk;
	h->lock = at->bits = 0;
	nam_status st = net_read1(w, tso_log_at(t->tw->db->tso, txn_lock_owner(lock)), &log, 8, &t->counts);
	if (st != NAM_OK || log == 0)
		return st;
	st = net_read1(w, (net_addr){ log + in / 16 * 8u }, &chunk, 8, &t->counts);
	if (st != NAM_OK || chunk == 0)
		return st;
	*at = (net_addr){ chunk + in % 16 * TXN_INTENT_BYTES };
	return net_read1(w, net_plus(*at, 64), h, sizeof *h, &t->counts);
}

nam_status
txn_read_head(struct txn *t, uint64_t lock, struct txn_intent_head *h)
{
	net_addr at;
	return read_head(t, lock, h, &at);
}

nam_status
txn_decided(struct txn *t, uint64_t lock, bool *yes)
{
	struct txn_intent_head h;
	net_addr at;
	nam_status st = read_head(t, lock, &h, &at);
	*yes = false;
	if (st != NAM_OK || at.bits == 0)
		return st;
	struct txn_commit_line line;
	if (h.lock != lock || h.n == 0)
		return NAM_OK;
	st = net_read1(t->tw->w, at, &line, sizeof line, &t->counts);
	*yes = st == NAM_OK && line.cid != 0 && line.check == txn_commit_check(h.check, lock, line.cid);
	return st;
}

/*
 * Follows the chain of waits from `lock`. NAM_DEADLOCK: the chain comes back to us, and our lock
 * word is the greatest of the cycle: exactly one transaction of it gives way. If we only lead to a
 * cycle, the chain does not come back to us but to `mark`, which is set again after 1, 2, 4 .. hops
 * (Brent); its members resolve that cycle.
 */
nam_status
txn_deadlock(struct txn *t, uint64_t lock)
{
	uint64_t greatest = t->lock, mark = 0, hops = 0, again = 1;
	while (lock != 0 && lock != mark) {
		struct txn_intent_head h;
		if (lock == t->lock)
			return greatest == t->lock ? NAM_DEADLOCK : NAM_OK;
		if (lock > greatest)
			greatest = lock;
		if (++hops == again) {
			mark = lock;
			again *= 2;
		}
		nam_status going = txn_go_on(t);
		if (going != NAM_OK)
			return going;
		nam_status st = txn_read_head(t, lock, &h);
		if (st != NAM_OK || h.lock != lock)
			return st;
		lock = h.waits_for;
	}
	return NAM_OK;
}

nam_status
txn_look_for_cycle(struct txn *t, uint64_t lock, struct txn_cycle *c)
{
	uint64_t now = net_now_ns(t->tw->w);
	if (c->lock != lock)
		*c = (struct txn_cycle){ .lock = lock, .next_ns = c->lock == 0 ? now : c->next_ns };
	if (now < c->next_ns)
		return NAM_OK;
	nam_status st = txn_deadlock(t, lock);
	uint64_t end = net_now_ns(t->tw->w), pause = (end - now) * CYCLE_PART;
	c->pause_ns = c->pause_ns * 2 < CYCLE_MOST_NS ? c->pause_ns * 2 : CYCLE_MOST_NS;
	if (c->pause_ns < CYCLE_NS)
		c->pause_ns = CYCLE_NS;
	c->next_ns = end + (pause > c->pause_ns ? pause : c->pause_ns);
	return st;
}

/* A wait for a block that others hold. */
struct turn {
	net_addr at;
	unsigned tries;
	uint64_t began;
	uint64_t published; /* the lock that t's intent says it waits for, 0 = none */
	struct txn_cycle cycle;
	struct net_backoff pause;
};

static void
turn_init(struct turn *u, net_addr at)
{
	*u = (struct turn){ .at = at,
		.pause = { .yields = WAIT_YIELDS,
		    .base_ns = WAIT_BASE_NS,
		    .cap_ns = WAIT_CAP_NS,
		    .hold = WAIT_HOLD } };
}

/* The block is locked by `seen`: waits a while. NAM_OK: it is time to look again. */
static nam_status
turn_wait(struct txn *t, struct turn *u, uint64_t seen)
{
	struct txn_worker *tw = t->tw;
	unsigned tries = u->tries++;
	tw->stats.lock_waits += tries == 0;
	uint64_t now = net_now_ns(tw->w);
	if (u->began == 0)
		u->began = now;
	nam_status st = txn_go_on(t);
	if (st != NAM_OK)
		return st;
	if (t->no_wait && txn_lock_intent(seen) != TXN_INTENT_GC) {
		bool going;
		if ((st = txn_decided(t, seen, &going)) != NAM_OK)
			return st;
		if (!going && tries > 0 && txn_unlock_dead(tw, u->at, seen) == NAM_OK)
			return NAM_OK;
		if (!going && tries > 0) /* it may have ended while we looked: look twice */
			return NAM_BUSY;
	}
	/* Seldom while the wait is a matter of microseconds; in a long wait the question is cheap
	 * beside it. */
	if ((tries < SLOW_TRIES ? tries % 64 == 8 : tries % 4 == 0) &&
	    txn_unlock_dead(tw, u->at, seen) == NAM_OK)
		return NAM_OK;
	if (t->limits.lock_wait_ns != 0 && now - u->began > t->limits.lock_wait_ns)
		return NAM_TIMEOUT;
	if (tries >= SLOW_TRIES && tries % STUCK_EVERY == 0 && (st = txn_lock_stuck(tw, seen)) != NAM_OK)
		return st;
	if (now - u->began > CYCLE_NS) {
		if (u->published != seen &&
		    ((st = txn_ensure_lock(t)) != NAM_OK || (st = txn_publish(t, seen)) != NAM_OK))
			return st;
		u->published = seen;
		if ((st = txn_look_for_cycle(t, seen, &u->cycle)) != NAM_OK)
			return st;
	}
	net_back_off(tw->w, &u->pause);
	return NAM_OK;
}

/* However the wait ended: a later follower of our chain must not be misled. */
static nam_status
turn_end(struct txn *t, const struct turn *u, nam_status st)
{
	nam_status clear = u->published ? txn_publish(t, 0) : NAM_OK;
	return st != NAM_OK ? st : clear;
}

/*
 * Tries to lock w's block whatever its newest version is, and waits for other holders. img receives
 * the block under the lock. The CAS and the READ share a doorbell; a READ behind an atomic on one
 * queue pair sees the atomic's result.
 */
nam_status
txn_lock_wait(struct txn *t, struct txn_write *w, struct rec_block *img)
{
	struct net_batch *b = &t->batch;
	struct turn u;
	nam_status st;
	turn_init(&u, w->at);
	do {
		net_batch_init(b, t->tw->w, t->op, TXN_OPS, &t->counts);
		net_cas(b, w->at, w->expect, t->lock);
		net_read(b, w->at, img, w->view->block_bytes);
		st = net_run(b);
		uint64_t seen = t->op[0].seen;
		txn_cas_has_run(w, &t->op[0]);
		if (st != NAM_OK || w->has == TXN_LOCKED)
			break;
		if ((seen & REC_LOCK) == 0)
			w->expect = seen; /* a newer version: try from that one */
		else
			st = turn_wait(t, &u, seen);
	} while (st == NAM_OK);
	return turn_end(t, &u, st);
}

nam_status
txn_lock_gone(struct txn *t, net_addr at, uint64_t lock)
{
	struct turn u;
	uint64_t word;
	nam_status st;
	turn_init(&u, at);
	do {
		st = net_read1(t->tw->w, at, &word, sizeof word, &t->counts);
		if (st != NAM_OK || word != lock)
			break;
		st = turn_wait(t, &u, lock);
	} while (st == NAM_OK);
	return turn_end(t, &u, st);
}
