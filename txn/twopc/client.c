/* client.c -- the client of a session: reads at its snapshot, then asks the TM to commit. */
#include "twopc_internal.h"

#include <stdlib.h>

struct txn_twopc_client {
	unsigned session, rms;
	struct txn_twopc_wire wire;
	txn_twopc_done done;
	void *arg;
	uint64_t snapshot, txn;
	enum { IDLE, READING, ASKING } state;
	/* the last read */
	unsigned keys, waits_for;
	nam_status status;
	uint64_t key[TXN_TWOPC_ITEMS_MAX];
	struct txn_twopc_message records; /* its items in the order they came */
	const struct txn_twopc_item *found[TXN_TWOPC_ITEMS_MAX];
	struct txn_twopc_message request; /* the transaction's */
	struct txn_twopc_message out;     /* being made */
};

nam_status
txn_twopc_client_open(struct txn_twopc_client **out, unsigned session, unsigned rms,
    const struct txn_twopc_wire *wire, txn_twopc_done done, void *arg)
{
	if (rms == 0 || rms > TXN_TWOPC_RMS_MAX || session >> 24 != 0)
		return NAM_INVALID;
	struct txn_twopc_client *c = calloc(1, sizeof *c);
	if (c == NULL)
		return NAM_NOMEM;
	c->session = session;
	c->rms = rms;
	c->wire = *wire;
	c->done = done;
	c->arg = arg;
	c->snapshot = TXN_TWOPC_LOADED;
	*out = c;
	return NAM_OK;
}

void
txn_twopc_client_close(struct txn_twopc_client *c)
{
	free(c);
}

/* A number that no other transaction has; never 0. */
static uint64_t
next_txn(struct txn_twopc_client *c)
{
	return c->txn = ((uint64_t)c->session + 1) << 39 | ((c->txn + 1) & ((UINT64_C(1) << 39) - 1));
}

static void
over(struct txn_twopc_client *c, nam_status st)
{
	c->state = IDLE;
	c->done(c->arg, st);
}

void
txn_twopc_snapshot(struct txn_twopc_client *c)
{
	NAM_ASSERT(c->state == IDLE);
	c->state = ASKING;
	txn_twopc_put_head(&c->out, TXN_TWOPC_SNAPSHOT, TXN_TWOPC_CLIENT, next_txn(c), 0);
	txn_twopc_send(&c->wire, TXN_TWOPC_TM, &c->out);
}

void
txn_twopc_read(struct txn_twopc_client *c, const uint64_t *key, unsigned n)
{
	NAM_ASSERT(c->state == IDLE);
	NAM_ASSERT(n > 0 && n <= TXN_TWOPC_ITEMS_MAX);
	uint64_t involved = 0;
	next_txn(c);
	c->state = READING;
	c->keys = n;
	c->status = NAM_OK;
	txn_twopc_put_head(&c->records, TXN_TWOPC_RECORDS, TXN_TWOPC_CLIENT, c->txn, 0);
	txn_twopc_put_head(&c->request, TXN_TWOPC_REQUEST, TXN_TWOPC_CLIENT, c->txn, c->snapshot);
	for (unsigned i = 0; i < n; i++) {
		c->key[i] = key[i];
		c->found[i] = NULL;
		involved |= UINT64_C(1) << txn_twopc_home(key[i], c->rms);
	}
	c->waits_for = (unsigned)__builtin_popcountll(involved);
	for (unsigned r = 0; r < c->rms; r++) {
		if ((involved >> r & 1) == 0)
			continue;
		txn_twopc_put_head(&c->out, TXN_TWOPC_READ, TXN_TWOPC_CLIENT, c->txn, c->snapshot);
		for (unsigned i = 0; i < n; i++)
			if (txn_twopc_home(key[i], c->rms) == r)
				txn_twopc_put_item(&c->out, key[i], 0, 0, NULL, 0);
		txn_twopc_send(&c->wire, TXN_TWOPC_RM + r, &c->out);
	}
}

static nam_status
records(struct txn_twopc_client *c, const struct txn_twopc_head *h)
{
	const struct txn_twopc_item *i = txn_twopc_first(h);
	for (unsigned n = 0; n < h->items; n++, i = txn_twopc_next(i)) {
		unsigned k = 0;
		while (k < c->keys && (c->key[k] != i->key || c->found[k] != NULL))
			k++;
		uint32_t at = c->records.head.len;
		if (k == c->keys || i->status >= NAM_STATUS_COUNT ||
		    !txn_twopc_put_item(&c->records, i->key, i->cid, i->status, i->record, i->len))
			return NAM_INVALID;
		c->found[k] = (const struct txn_twopc_item *)(const void *)((char *)&c->records + at);
		if (i->status != NAM_OK)
			c->status = (nam_status)i->status;
	}
	if (--c->waits_for == 0) {
		for (unsigned k = 0; k < c->keys; k++)
			if (c->found[k] == NULL)
				return NAM_INVALID;
		over(c, c->status);
	}
	return NAM_OK;
}

nam_status
txn_twopc_client_take(struct txn_twopc_client *c, const void *bytes, uint32_t len)
{
	const struct txn_twopc_head *h = bytes;
	if (!txn_twopc_judge(bytes, len) || h->txn != c->txn)
		return NAM_INVALID;
	if (h->kind == TXN_TWOPC_RECORDS && c->state == READING && c->waits_for > 0)
		return records(c, h);
	if (h->kind != TXN_TWOPC_OUTCOME || c->state != ASKING || h->items != 1)
		return NAM_INVALID;
	uint32_t st = txn_twopc_first(h)->status;
	if (st >= NAM_STATUS_COUNT)
		return NAM_INVALID;
	c->snapshot = h->ts;
	over(c, (nam_status)st);
	return NAM_OK;
}

const void *
txn_twopc_record(const struct txn_twopc_client *c, unsigned i, uint32_t *len)
{
	NAM_ASSERT(i < c->keys && c->found[i] != NULL);
	*len = c->found[i]->len;
	return c->found[i]->record;
}

nam_status
txn_twopc_update(struct txn_twopc_client *c, unsigned i, const void *record, uint32_t len)
{
	NAM_ASSERT(i < c->keys && c->found[i] != NULL && c->found[i]->status == NAM_OK);
	return txn_twopc_put_item(&c->request, c->key[i], c->found[i]->cid, 0, record, len) ? NAM_OK
											    : NAM_FULL;
}

nam_status
txn_twopc_insert(struct txn_twopc_client *c, uint64_t key, const void *record, uint32_t len)
{
	return txn_twopc_put_item(&c->request, key, 0, 0, record, len) ? NAM_OK : NAM_FULL;
}

void
txn_twopc_commit(struct txn_twopc_client *c)
{
	NAM_ASSERT(c->state == IDLE);
	NAM_ASSERT(c->request.head.txn == c->txn); /* a read came before */
	c->state = ASKING;
	txn_twopc_send(&c->wire, TXN_TWOPC_TM, &c->request);
}
