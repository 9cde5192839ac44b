/*
 * rm.c -- the resource manager: a partition of records, each with the CID of its version and a
 * lock.
 *
 * One version of a record is kept, as in the paper's prototype: a reader whose snapshot does not
 * cover it is told so. A lock does not stop readers: the transaction that holds it has not ended,
 * so no snapshot covers it, and the version that is there is the reader's.
 */
#include "twopc_internal.h"

#include <base/fault.h>
#include <base/hash.h>

#include <pthread.h>
#include <stdlib.h>

enum { STRIPES = 256 };

struct record {
	struct record *next;
	uint64_t key;
	uint64_t cid;  /* 0: an insert that is not committed */
	uint64_t lock; /* the transaction that holds it, or 0 */
	uint32_t len;
	void *bytes;
};

/* A part of the partition with a mutex of its own. Records stay where they are. */
struct stripe {
	pthread_mutex_t mutex;
	struct record **bucket;
	uint64_t buckets, records;
};

struct txn_twopc_rm {
	struct stripe stripe[STRIPES];
};

static struct record **
place_of(struct stripe *s, uint64_t key)
{
	struct record **at = &s->bucket[nam_mix(key ^ UINT64_C(0x9e3779b97f4a7c15)) & (s->buckets - 1)];
	while (*at != NULL && (*at)->key != key)
		at = &(*at)->next;
	return at;
}

static struct stripe *
stripe_of(struct txn_twopc_rm *rm, uint64_t key)
{
	return &rm->stripe[(nam_mix(key) >> 8) % STRIPES];
}

/* More buckets, if there is memory for them. */
static void
grow(struct stripe *s)
{
	struct record **old = s->bucket;
	uint64_t n = s->buckets;
	struct record **more = calloc(2 * n, sizeof(struct record *));
	if (more == NULL)
		return;
	s->bucket = more;
	s->buckets = 2 * n;
	for (uint64_t i = 0; i < n; i++)
		for (struct record *r = old[i], *next; r != NULL; r = next) {
			next = r->next;
			r->next = NULL;
			*place_of(s, r->key) = r;
		}
	free(old);
}

static struct record *
add(struct stripe *s, uint64_t key)
{
	if (s->records >= s->buckets)
		grow(s);
	struct record *r = calloc(1, sizeof *r);
	if (r == NULL)
		return NULL;
	r->key = key;
	*place_of(s, key) = r;
	s->records++;
	return r;
}

static void
drop(struct stripe *s, struct record **at)
{
	struct record *r = *at;
	*at = r->next;
	s->records--;
	free(r->bytes);
	free(r);
}

static bool
fill(struct record *r, const void *bytes, uint32_t len)
{
	if (r->bytes == NULL || r->len != len) {
		void *room = malloc(len != 0 ? len : 1);
		if (room == NULL)
			return false;
		free(r->bytes);
		r->bytes = room;
		r->len = len;
	}
	memcpy(r->bytes, bytes, len);
	return true;
}

nam_status
txn_twopc_rm_load(struct txn_twopc_rm *rm, uint64_t key, const void *record, uint32_t len)
{
	struct stripe *s = stripe_of(rm, key);
	nam_status st = NAM_DUPLICATE;
	pthread_mutex_lock(&s->mutex);
	if (*place_of(s, key) == NULL) {
		struct record *r = add(s, key);
		st = r != NULL && fill(r, record, len) ? NAM_OK : NAM_NOMEM;
		if (st == NAM_OK)
			r->cid = TXN_TWOPC_LOADED;
		else if (r != NULL)
			drop(s, place_of(s, key));
	}
	pthread_mutex_unlock(&s->mutex);
	return st;
}

/* ---- messages ---- */

static void
reads(struct txn_twopc_rm *rm, const struct txn_twopc_head *h, struct txn_twopc_message *answer)
{
	const struct txn_twopc_item *i = txn_twopc_first(h);
	for (unsigned n = 0; n < h->items; n++, i = txn_twopc_next(i)) {
		struct stripe *s = stripe_of(rm, i->key);
		pthread_mutex_lock(&s->mutex);
		const struct record *r = *place_of(s, i->key);
		if (r == NULL || r->cid == 0)
			txn_twopc_put_item(answer, i->key, 0, NAM_ABSENT, NULL, 0);
		else if (r->cid > h->ts)
			txn_twopc_put_item(answer, i->key, r->cid, NAM_CONFLICT, NULL, 0);
		else if (answer->head.len + txn_twopc_item_bytes(r->len) +
			     (h->items - n - 1) * sizeof(struct txn_twopc_item) >
			 sizeof *answer) /* the others' items need room, too */
			txn_twopc_put_item(answer, i->key, r->cid, NAM_FULL, NULL, 0);
		else
			txn_twopc_put_item(answer, i->key, r->cid, NAM_OK, r->bytes, r->len);
		pthread_mutex_unlock(&s->mutex);
	}
}

/* The lock of the transaction goes, and an insert with it. */
static void
unlock(struct txn_twopc_rm *rm, uint64_t key, uint64_t txn)
{
	struct stripe *s = stripe_of(rm, key);
	pthread_mutex_lock(&s->mutex);
	struct record **at = place_of(s, key);
	if (*at != NULL && (*at)->lock == txn) {
		(*at)->lock = 0;
		if ((*at)->cid == 0)
			drop(s, at);
	}
	pthread_mutex_unlock(&s->mutex);
}

/* Validates and locks one record, or keeps the place of a new one. */
static bool
lock(struct txn_twopc_rm *rm, const struct txn_twopc_item *i, uint64_t txn)
{
	struct stripe *s = stripe_of(rm, i->key);
	pthread_mutex_lock(&s->mutex);
	struct record *r = *place_of(s, i->key);
	bool yes = r == NULL ? i->cid == 0 : r->lock == 0 && i->cid != 0 && r->cid == i->cid;
	if (nam_fault(UNVALIDATED) && r != NULL)
		yes = r->lock == 0;
	if (yes && r == NULL)
		yes = (r = add(s, i->key)) != NULL;
	if (yes)
		r->lock = txn;
	pthread_mutex_unlock(&s->mutex);
	return yes;
}

static bool
prepares(struct txn_twopc_rm *rm, const struct txn_twopc_head *h)
{
	const struct txn_twopc_item *first = txn_twopc_first(h), *i = first;
	unsigned n = 0;
	for (; n < h->items && lock(rm, i, h->txn); n++)
		i = txn_twopc_next(i);
	if (n == h->items)
		return true;
	for (i = first; n-- > 0; i = txn_twopc_next(i))
		unlock(rm, i->key, h->txn);
	return false;
}

/* NAM_NOMEM: nothing may be installed in part, so the program cannot go on. */
static void
installs(struct txn_twopc_rm *rm, const struct txn_twopc_head *h)
{
	const struct txn_twopc_item *i = txn_twopc_first(h);
	for (unsigned n = 0; n < h->items; n++, i = txn_twopc_next(i)) {
		struct stripe *s = stripe_of(rm, i->key);
		pthread_mutex_lock(&s->mutex);
		struct record *r = *place_of(s, i->key);
		if (r != NULL && r->lock == h->txn) {
			NAM_ASSERT(fill(r, i->record, i->len));
			r->cid = h->ts;
			r->lock = 0;
		}
		pthread_mutex_unlock(&s->mutex);
	}
}

nam_status
txn_twopc_rm_take(struct txn_twopc_rm *rm, unsigned self, const struct txn_twopc_wire *wire,
    const void *bytes, uint32_t len)
{
	const struct txn_twopc_head *h = bytes;
	struct txn_twopc_message answer;
	if (!txn_twopc_judge(bytes, len) || (h->from != TXN_TWOPC_CLIENT && h->from != TXN_TWOPC_TM))
		return NAM_INVALID;
	unsigned from = TXN_TWOPC_RM + self;
	const struct txn_twopc_item *i = txn_twopc_first(h);
	switch ((enum txn_twopc_kind)h->kind) {
	case TXN_TWOPC_READ:
		txn_twopc_put_head(&answer, TXN_TWOPC_RECORDS, from, h->txn, 0);
		reads(rm, h, &answer);
		break;
	case TXN_TWOPC_PREPARE:
		txn_twopc_put_head(&answer, TXN_TWOPC_VOTE, from, h->txn, prepares(rm, h));
		break;
	case TXN_TWOPC_INSTALL:
		installs(rm, h);
		txn_twopc_put_head(&answer, TXN_TWOPC_INSTALLED, from, h->txn, 0);
		break;
	case TXN_TWOPC_ABORT:
		for (unsigned n = 0; n < h->items; n++, i = txn_twopc_next(i))
			unlock(rm, i->key, h->txn);
		return NAM_OK;
	default:
		return NAM_INVALID;
	}
	txn_twopc_send(wire, h->from, &answer);
	return NAM_OK;
}

/* ---- open, close, look ---- */

nam_status
txn_twopc_rm_open(struct txn_twopc_rm **out, uint64_t records)
{
	struct txn_twopc_rm *rm = calloc(1, sizeof *rm);
	uint64_t buckets = 64;
	while (buckets < records / STRIPES)
		buckets *= 2;
	bool good = rm != NULL;
	for (unsigned i = 0; rm != NULL && i < STRIPES; i++) {
		struct stripe *s = &rm->stripe[i];
		pthread_mutex_init(&s->mutex, NULL);
		s->bucket = calloc(buckets, sizeof(struct record *));
		s->buckets = buckets;
		good &= s->bucket != NULL;
	}
	if (!good) {
		txn_twopc_rm_close(rm);
		return NAM_NOMEM;
	}
	*out = rm;
	return NAM_OK;
}

void
txn_twopc_rm_close(struct txn_twopc_rm *rm)
{
	for (unsigned i = 0; rm != NULL && i < STRIPES; i++) {
		struct stripe *s = &rm->stripe[i];
		for (uint64_t b = 0; s->bucket != NULL && b < s->buckets; b++)
			while (s->bucket[b] != NULL)
				drop(s, &s->bucket[b]);
		free(s->bucket);
		pthread_mutex_destroy(&s->mutex);
	}
	free(rm);
}

void
txn_twopc_rm_walk(
    const struct txn_twopc_rm *rm, void (*fn)(void *arg, const struct txn_twopc_seen *r), void *arg)
{
	for (unsigned i = 0; i < STRIPES; i++)
		for (uint64_t b = 0; b < rm->stripe[i].buckets; b++)
			for (const struct record *r = rm->stripe[i].bucket[b]; r != NULL; r = r->next) {
				const struct txn_twopc_seen seen = { .key = r->key,
					.cid = r->cid,
					.locked = r->lock != 0,
					.len = r->len,
					.record = r->bytes };
				fn(arg, &seen);
			}
}
