/* message.c -- is it a message? */
#include "twopc_internal.h"

#include <base/hash.h>

bool
txn_twopc_judge(const void *bytes, uint32_t len)
{
	const struct txn_twopc_head *h = bytes;
	if (len < sizeof *h || len > TXN_TWOPC_MESSAGE_MAX || h->len != len)
		return false;
	if (h->kind == 0 || h->kind >= TXN_TWOPC_KINDS || h->items > TXN_TWOPC_ITEMS_MAX)
		return false;
	const struct txn_twopc_item *i = txn_twopc_first(h);
	uint32_t left = len - (uint32_t)sizeof *h;
	for (unsigned n = h->items; n > 0; n--) {
		if (left < sizeof *i || i->len > left || txn_twopc_item_bytes(i->len) > left)
			return false;
		left -= txn_twopc_item_bytes(i->len);
		i = txn_twopc_next(i);
	}
	return left == 0;
}

unsigned
txn_twopc_home(uint64_t key, unsigned rms)
{
	return (unsigned)(nam_mix(key) >> 32) % rms;
}

void
txn_twopc_put_head(
    struct txn_twopc_message *m, enum txn_twopc_kind kind, unsigned from, uint64_t txn, uint64_t ts)
{
	m->head = (struct txn_twopc_head){
		.kind = (uint8_t)kind, .from = (uint8_t)from, .len = sizeof m->head, .txn = txn, .ts = ts
	};
}

bool
txn_twopc_put_item(struct txn_twopc_message *m, uint64_t key, uint64_t cid, uint32_t status,
    const void *record, uint32_t len)
{
	if (m->head.items == TXN_TWOPC_ITEMS_MAX || len > sizeof m->room ||
	    m->head.len + txn_twopc_item_bytes(len) > sizeof *m)
		return false;
	struct txn_twopc_item *i = (struct txn_twopc_item *)(void *)((char *)m + m->head.len);
	*i = (struct txn_twopc_item){ .key = key, .cid = cid, .len = len, .status = status };
	if (len != 0)
		memcpy(i->record, record, len);
	memset(i->record + len, 0, (len + 7) / 8 * 8 - len);
	m->head.len += txn_twopc_item_bytes(len);
	m->head.items++;
	return true;
}

void
txn_twopc_send(const struct txn_twopc_wire *w, unsigned to, const struct txn_twopc_message *m)
{
	w->send(w->arg, to, m, m->head.len);
}
