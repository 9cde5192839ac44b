/*
 * tm.c -- a session's part of the transaction manager.
 *
 *	free -> PREPARING -> INSTALLING -> free     all voted yes
 *	             `------------------> free      one voted no: it is aborted
 *
 * The client is answered when all votes are in, so its next request may come while records of the
 * last are being installed: a session has several transactions under way. If all places are taken,
 * the request waits for one.
 */
#include "twopc_internal.h"

#include <base/fault.h>

#include <stdlib.h>

enum { PLACES = 8 };

struct transaction {
	enum { FREE, PREPARING, INSTALLING } state;
	uint64_t cid;
	uint64_t involved, heard, yes; /* by RM; heard: in this state */
	struct txn_twopc_message request;
};

struct txn_twopc_tm {
	struct txn_twopc_clock *clock;
	unsigned rms;
	struct txn_twopc_wire wire;
	struct transaction place[PLACES];
	bool pending; /* a request waits for a place */
	struct txn_twopc_message next;
	struct txn_twopc_message out; /* being made */
};

nam_status
txn_twopc_tm_open(
    struct txn_twopc_tm **out, struct txn_twopc_clock *clock, unsigned rms, const struct txn_twopc_wire *wire)
{
	if (rms == 0 || rms > TXN_TWOPC_RMS_MAX)
		return NAM_INVALID;
	struct txn_twopc_tm *tm = calloc(1, sizeof *tm);
	if (tm == NULL)
		return NAM_NOMEM;
	tm->clock = clock;
	tm->rms = rms;
	tm->wire = *wire;
	*out = tm;
	return NAM_OK;
}

void
txn_twopc_tm_close(struct txn_twopc_tm *tm)
{
	free(tm);
}

unsigned
txn_twopc_tm_open_count(const struct txn_twopc_tm *tm)
{
	unsigned n = tm->pending;
	for (unsigned i = 0; i < PLACES; i++)
		n += tm->place[i].state != FREE;
	return n;
}

static void
answer(struct txn_twopc_tm *tm, uint64_t txn, nam_status st)
{
	txn_twopc_put_head(
	    &tm->out, TXN_TWOPC_OUTCOME, TXN_TWOPC_TM, txn, txn_twopc_clock_snapshot(tm->clock));
	txn_twopc_put_item(&tm->out, 0, 0, (uint32_t)st, NULL, 0);
	txn_twopc_send(&tm->wire, TXN_TWOPC_CLIENT, &tm->out);
}

/* To each of these RMs, with its items of the request. */
static void
tell(
    struct txn_twopc_tm *tm, const struct transaction *t, uint64_t rms, enum txn_twopc_kind kind, uint64_t ts)
{
	const struct txn_twopc_head *h = &t->request.head;
	for (unsigned r = 0; r < tm->rms; r++) {
		if ((rms >> r & 1) == 0)
			continue;
		txn_twopc_put_head(&tm->out, kind, TXN_TWOPC_TM, h->txn, ts);
		const struct txn_twopc_item *i = txn_twopc_first(h);
		for (unsigned n = 0; n < h->items; n++, i = txn_twopc_next(i))
			if (txn_twopc_home(i->key, tm->rms) == r) {
				bool records = kind == TXN_TWOPC_INSTALL;
				/* it was in one message, so it fits */
				NAM_ASSERT(txn_twopc_put_item(&tm->out, i->key, i->cid, 0,
				    records ? i->record : NULL, records ? i->len : 0));
			}
		txn_twopc_send(&tm->wire, TXN_TWOPC_RM + r, &tm->out);
	}
}

static void
begin(struct txn_twopc_tm *tm, struct transaction *t, const struct txn_twopc_head *h)
{
	memcpy(&t->request, h, h->len);
	t->involved = t->heard = t->yes = 0;
	const struct txn_twopc_item *i = txn_twopc_first(h);
	for (unsigned n = 0; n < h->items; n++, i = txn_twopc_next(i))
		t->involved |= UINT64_C(1) << txn_twopc_home(i->key, tm->rms);
	if (t->involved == 0) {
		answer(tm, h->txn, NAM_OK); /* it has written nothing */
		return;
	}
	t->state = PREPARING;
	tell(tm, t, t->involved, TXN_TWOPC_PREPARE, h->ts);
	t->cid = txn_twopc_clock_take(tm->clock);
}

/* A place is free: the request that waits for one gets it. */
static void
ends(struct txn_twopc_tm *tm, struct transaction *t)
{
	t->state = FREE;
	if (tm->pending) {
		tm->pending = false;
		begin(tm, t, &tm->next.head);
	}
}

/* All votes are in. */
static void
decide(struct txn_twopc_tm *tm, struct transaction *t)
{
	uint64_t txn = t->request.head.txn;
	if (t->yes == t->involved && t->cid != 0) {
		t->state = INSTALLING;
		t->heard = 0;
		if (nam_fault(EARLY_SNAPSHOT))
			txn_twopc_clock_done(tm->clock, t->cid);
		answer(tm, txn, NAM_OK);
		tell(tm, t, t->involved, TXN_TWOPC_INSTALL, t->cid);
		return;
	}
	nam_status st = t->cid == 0 ? NAM_FULL : NAM_CONFLICT;
	tell(tm, t, t->yes, TXN_TWOPC_ABORT, 0);
	if (t->cid != 0)
		txn_twopc_clock_done(tm->clock, t->cid);
	answer(tm, txn, st);
	ends(tm, t);
}

static nam_status
request(struct txn_twopc_tm *tm, const struct txn_twopc_head *h)
{
	for (unsigned i = 0; i < PLACES; i++)
		if (tm->place[i].state == FREE) {
			begin(tm, &tm->place[i], h);
			return NAM_OK;
		}
	if (tm->pending)
		return NAM_INVALID; /* a client asks for one commit at a time */
	tm->pending = true;
	memcpy(&tm->next, h, h->len);
	return NAM_OK;
}

nam_status
txn_twopc_tm_take(struct txn_twopc_tm *tm, const void *bytes, uint32_t len)
{
	const struct txn_twopc_head *h = bytes;
	if (!txn_twopc_judge(bytes, len))
		return NAM_INVALID;
	if (h->from == TXN_TWOPC_CLIENT) {
		if (h->kind == TXN_TWOPC_REQUEST)
			return request(tm, h);
		if (h->kind != TXN_TWOPC_SNAPSHOT)
			return NAM_INVALID;
		answer(tm, h->txn, NAM_OK);
		return NAM_OK;
	}
	unsigned rm = h->from - (unsigned)TXN_TWOPC_RM;
	struct transaction *t = NULL;
	for (unsigned i = 0; i < PLACES && t == NULL; i++)
		if (tm->place[i].state != FREE && tm->place[i].request.head.txn == h->txn)
			t = &tm->place[i];
	if (t == NULL || h->from < TXN_TWOPC_RM || rm >= tm->rms ||
	    ((t->involved & ~t->heard) >> rm & 1) == 0)
		return NAM_INVALID;
	if (h->kind != (t->state == PREPARING ? TXN_TWOPC_VOTE : TXN_TWOPC_INSTALLED))
		return NAM_INVALID;
	if (t->state == PREPARING)
		t->yes |= (uint64_t)(h->ts == 1) << rm;
	t->heard |= UINT64_C(1) << rm;
	if (t->heard != t->involved)
		return NAM_OK;
	if (t->state == PREPARING) {
		decide(tm, t);
		return NAM_OK;
	}
	if (!nam_fault(EARLY_SNAPSHOT))
		txn_twopc_clock_done(tm->clock, t->cid);
	ends(tm, t);
	return NAM_OK;
}
