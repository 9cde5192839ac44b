/* index.c -- tables over a history: keys, ids, the writer of each value, sessions in their
 * order. */
#include "check_internal.h"

#include <base/hash.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */

static uint64_t
key_hash(const struct chk_key *k)
{
	return k->text ? nam_hash(k->s, k->len, 1) : nam_mix((uint64_t)k->number + 0x9e3779b9);
}

static bool
key_same(const struct chk_key *a, const struct chk_key *b)
{
	if (a->text != b->text)
		return false;
	return a->text ? a->len == b->len && memcmp(a->s, b->s, a->len) == 0 : a->number == b->number;
}

/* A table of `want` entries at most half full; NONE is an empty place. */
static uint32_t *
slots_for(struct chk *c, size_t want, size_t *slots)
{
	size_t n = 64;
	while (n < want * 2)
		n *= 2;
	uint32_t *s = chk_take(c, n, sizeof *s);
	memset(s, 0xff, n * sizeof *s);
	*slots = n;
	return s;
}

uint32_t
chk_key_of(struct chk *c, const struct chk_key *key)
{
	if (c->n_keys * 2 >= c->key_slots) {
		chk_drop(c, c->key_slot);
		c->key_slot = slots_for(c, c->n_keys * 2 + 1, &c->key_slots);
		for (size_t i = 0; i < c->n_keys; i++) {
			size_t s = (size_t)key_hash(&c->keys[i]) & (c->key_slots - 1);
			while (c->key_slot[s] != NONE)
				s = (s + 1) & (c->key_slots - 1);
			c->key_slot[s] = (uint32_t)i;
		}
	}
	size_t s = (size_t)key_hash(key) & (c->key_slots - 1);
	for (; c->key_slot[s] != NONE; s = (s + 1) & (c->key_slots - 1))
		if (key_same(&c->keys[c->key_slot[s]], key))
			return c->key_slot[s];
	if (c->n_keys >= UINT32_MAX / 2)
		chk_stop(c, "%s: too many keys", c->name);
	c->keys = chk_grow(c, c->keys, c->n_keys, &c->keys_cap, sizeof *c->keys);
	struct chk_key *k = &c->keys[c->n_keys];
	*k = *key;
	if (k->text) {
		char *copy = chk_take(c, k->len + 1, 1);
		memcpy(copy, key->s, k->len);
		k->s = copy;
	}
	c->key_slot[s] = (uint32_t)c->n_keys;
	return (uint32_t)c->n_keys++;
}

/* ---- ids: a record may be said again when its first one was of status info ---- */

static void
index_ids(struct chk *c)
{
	c->id_slot = slots_for(c, c->n, &c->id_slots);
	for (size_t i = 0; i < c->n; i++) {
		struct chk_txn *t = &c->txns[i];
		size_t s = (size_t)nam_mix((uint64_t)t->id + 0x51ed) & (c->id_slots - 1);
		while (c->id_slot[s] != NONE && c->txns[c->id_slot[s]].id != t->id)
			s = (s + 1) & (c->id_slots - 1);
		if (c->id_slot[s] != NONE) {
			struct chk_txn *before = &c->txns[c->id_slot[s]];
			if (before->status != TXN_INFO)
				chk_stop(c,
				    "%s:%u:1: transaction %" PRId64
				    " has ended in line %u already; only a record of "
				    "status \"info\" may be said again",
				    c->name, t->line, t->id, before->line);
			if (before->session != t->session)
				chk_stop(c,
				    "%s:%u:1: transaction %" PRId64 " is of another session in line %u",
				    c->name, t->line, t->id, before->line);
			before->replaced = true;
		}
		c->id_slot[s] = (uint32_t)i;
	}
	chk_drop(c, c->id_slot);
	c->id_slot = NULL;
}

/* ---- sessions ---- */

struct turn {
	int64_t session, begin;
	uint32_t txn;
};

static int
by_turn(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->txn < y->txn ? -1 : x->txn > y->txn;
}

static void
index_sessions(struct chk *c)
{
	struct turn *t = chk_take(c, c->n, sizeof *t);
	for (size_t i = 0; i < c->n; i++)
		if (!c->txns[i].replaced)
			t[c->live++] = (struct turn){ c->txns[i].session, c->txns[i].begin, (uint32_t)i };
	qsort(t, c->live, sizeof *t, by_turn);
	c->by_session = chk_take(c, c->live, sizeof *c->by_session);
	for (size_t i = 0; i < c->live; i++) {
		const struct chk_txn *now = &c->txns[t[i].txn];
		const struct chk_txn *before =
		    i > 0 && t[i - 1].session == t[i].session ? &c->txns[t[i - 1].txn] : NULL;
		c->by_session[i] = t[i].txn;
		c->sessions += before == NULL;
		c->counted[now->status]++;
		if (before != NULL && before->has_end && before->end > now->begin)
			chk_stop(c,
			    "%s:%u:1: session %" PRId64 " begins transaction %" PRId64 " at %" PRId64
			    ", before its transaction %" PRId64 " (line %u) ended",
			    c->name, now->line, now->session, now->id, now->begin, before->id, before->line);
	}
	chk_drop(c, t);
}

/* ---- the writer of each value ---- */

static bool
writes_value(const struct chk *c, const struct chk_op *op)
{
	return op->kind == OP_APPEND || op->kind == OP_WRITE || (op->kind == OP_ADD && c->model == MODEL_SET);
}

static size_t
write_slot(const struct chk *c, uint32_t key, int64_t value)
{
	size_t s = (size_t)nam_mix((uint64_t)value ^ ((uint64_t)key << 40 | key)) & (c->write_slots - 1);
	for (; c->write_slot[s] != NONE; s = (s + 1) & (c->write_slots - 1)) {
		const struct chk_write *w = &c->writes[c->write_slot[s]];
		if (w->key == key && c->ops[w->op].value == value)
			break;
	}
	return s;
}

uint32_t
chk_write_of(const struct chk *c, uint32_t key, int64_t value)
{
	return c->write_slot[write_slot(c, key, value)];
}

static void
index_writes(struct chk *c)
{
	size_t n = 0;
	uint32_t *last_of = chk_take(c, c->n_keys, sizeof *last_of); /* txn + 1 */
	for (size_t i = 0; i < c->n_ops; i++)
		n += writes_value(c, &c->ops[i]);
	if (n >= UINT32_MAX / 2)
		chk_stop(c, "%s: too many writes", c->name);
	c->write_slot = slots_for(c, n, &c->write_slots);
	c->writes = chk_take(c, n, sizeof *c->writes);
	for (uint32_t t = 0; t < c->n; t++) {
		struct chk_txn *x = &c->txns[t];
		if (x->replaced)
			continue;
		/* From the last to the first: the first met on a key is the last of its
		 * transaction. */
		for (size_t i = x->op + x->n; i-- > x->op;) {
			struct chk_op *op = &c->ops[i];
			bool last = op->kind != OP_READ && op->kind != OP_READ_LIST &&
				    op->kind != OP_LOCKED && last_of[op->key] != t + 1;
			if (last) {
				last_of[op->key] = t + 1;
				x->wrote = true;
			}
			if (!writes_value(c, op))
				continue;
			size_t s = op->null ? 0 : write_slot(c, op->key, op->value);
			if (!op->null && c->write_slot[s] != NONE) {
				uint32_t other = c->txns[c->writes[c->write_slot[s]].txn].line;
				chk_stop(c,
				    "%s:%u:1: value %" PRId64
				    " is written to key %s twice (also in line %u): "
				    "without values that are unique for their key nothing can be said",
				    c->name, x->line, op->value, chk_key_text(c, op->key), other);
			}
			op->write = (uint32_t)c->n_writes;
			if (!op->null)
				c->write_slot[s] = op->write;
			c->writes[c->n_writes++] = (struct chk_write){
				.key = op->key, .txn = t, .op = i, .pos = NONE, .last = last
			};
		}
	}
	chk_drop(c, last_of);
}

void
chk_index(struct chk *c)
{
	index_ids(c);
	index_sessions(c);
	index_writes(c);
}

/* ---- which unknown transactions have committed ---- */

/* Marks the writer of one value that a committed transaction saw; adds it to the list if it is new
 * there. */
static void
seen(struct chk *c, uint32_t key, int64_t value, uint32_t *list, size_t *n)
{
	uint32_t w = chk_write_of(c, key, value);
	if (w == NONE)
		return;
	struct chk_txn *t = &c->txns[c->writes[w].txn];
	if (t->status == TXN_INFO && !t->committed) {
		t->committed = true;
		list[(*n)++] = c->writes[w].txn;
	}
}

void
chk_observe(struct chk *c)
{
	for (size_t t = 0; t < c->n; t++)
		c->txns[t].committed = c->txns[t].status == TXN_OK && !c->txns[t].replaced;
	if (c->counted[TXN_INFO] == 0)
		return;
	uint32_t *list = chk_take(c, c->n, sizeof *list);
	/* elements looked at of a key */
	uint32_t *longest = chk_take(c, c->n_keys, sizeof *longest);
	size_t *at = chk_take(c, c->n_keys, sizeof *at), n = 0;
	for (uint32_t t = 0; t < c->n; t++)
		if (c->txns[t].committed)
			list[n++] = t;
	for (size_t i = 0; i < n; i++) {
		const struct chk_txn *t = &c->txns[list[i]];
		for (size_t k = t->op; k < t->op + t->n; k++) {
			const struct chk_op *op = &c->ops[k];
			if ((op->kind == OP_READ || op->kind == OP_LOCKED) && !op->null)
				seen(c, op->key, op->value, list, &n);
			if (op->kind != OP_READ_LIST || op->n == 0)
				continue;
			/* What it shares with the longest list looked at has been looked at. */
			uint32_t same = 0, most = longest[op->key] < op->n ? longest[op->key] : op->n;
			const int64_t *e = c->elems + op->list, *f = c->elems + at[op->key];
			while (same < most && e[same] == f[same])
				same++;
			for (uint32_t j = same; j < op->n; j++)
				seen(c, op->key, e[j], list, &n);
			if (op->n > longest[op->key]) {
				longest[op->key] = op->n;
				at[op->key] = op->list;
			}
		}
	}
	chk_drop(c, list);
	chk_drop(c, longest);
	chk_drop(c, at);
}
