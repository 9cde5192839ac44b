/*
 * unique.c -- looks for two live rows with one key of a unique order, before COMMIT does.
 *
 * COMMIT proves it (order.c: alone()); this look is for the statement that would make the second
 * row, so that the statement fails and says which key. It finds rows that are committed, whatever
 * the snapshot, and rows of the own transaction, whose keys are kept by hash.
 */
#include "txn_internal.h"

#include <base/hash.h>

#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 32, TRIES = 8 };

bool
txn_unchecked_add(struct txn *t, net_addr at)
{
	if (!txn_grow((void **)&t->unchecked, t->nunchecked, &t->unchecked_cap, sizeof *t->unchecked))
		return false;
	t->unchecked[t->nunchecked++] = at;
	return true;
}

/* ---- keys that own rows have been given ---- */

static void
put(struct txn_claim *c, uint32_t mask, struct txn_claim x)
{
	uint32_t i = (uint32_t)x.hash & mask;
	while (c[i].at.bits != 0)
		i = (i + 1) & mask;
	c[i] = x;
}

static bool
remember(struct txn *t, uint64_t hash, net_addr at)
{
	if (t->nclaims * 2 >= t->claims_cap) {
		uint32_t cap = t->claims_cap ? t->claims_cap * 2 : 64;
		struct txn_claim *more = calloc(cap, sizeof *more);
		if (more == NULL)
			return false;
		for (uint32_t i = 0; i < t->claims_cap; i++)
			if (t->claims[i].at.bits != 0)
				put(more, cap - 1, t->claims[i]);
		free(t->claims);
		t->claims = more;
		t->claims_cap = cap;
	}
	put(t->claims, t->claims_cap - 1, (struct txn_claim){ hash, at });
	t->nclaims++;
	return true;
}

void
txn_claims_end(struct txn *t)
{
	if (t->claims_cap > 4096) {
		free(t->claims);
		t->claims = NULL;
		t->claims_cap = 0;
	} else if (t->nclaims > 0) {
		memset(t->claims, 0, t->claims_cap * sizeof *t->claims);
	}
	if (t->risen_cap > 4096) {
		free(t->risen);
		t->risen = NULL;
		t->risen_cap = 0;
	}
	t->nclaims = t->nunchecked = t->nrisen = 0;
	t->rising = NULL;
}

/*
 * Keys that rise, as those of a load do, need no table: a key above all of its tree's before is
 * new. *rises: this one is, and it is remembered. When one is not, the table gets those before it.
 */
static bool
remember_rising(struct txn *t, const struct idx_tree *tree, unsigned words, const uint64_t *key,
    struct txn_claim c, bool *rises)
{
	*rises = false;
	if (t->rising == NULL && t->nclaims == 0) {
		t->rising = tree;
		memset(t->highest, 0, sizeof t->highest);
	}
	if (t->rising != tree)
		return true;
	unsigned i = 0;
	while (i + 1 < words && key[i] == t->highest[i])
		i++;
	if (key[i] > t->highest[i]) {
		if (!txn_grow((void **)&t->risen, t->nrisen, &t->risen_cap, sizeof *t->risen))
			return false;
		memcpy(t->highest, key, 8u * words);
		t->risen[t->nrisen++] = c;
		return *rises = true;
	}
	for (; t->nrisen > 0; t->nrisen--)
		if (!remember(t, t->risen[t->nrisen - 1].hash, t->risen[t->nrisen - 1].at))
			return false;
	return true;
}

/* ---- the look ---- */

struct asked {
	struct txn_write *w;
	unsigned order;
	uint64_t key[IDX_TREE_WORDS];
};

struct look {
	struct txn *t;
	struct txn_clash *clash;
	struct asked ask[TOGETHER];
	unsigned n;
};

static nam_status
clashes(struct look *l, const struct asked *a)
{
	*l->clash = (struct txn_clash){ .table = a->w->table,
		.order = a->order,
		.bytes = a->w->slot->payload,
		.len = (uint32_t)a->w->slot->meta };
	return NAM_DUPLICATE;
}

static bool
lives(const struct txn_write *w)
{
	return w != NULL && txn_writes(w) && w->slot != NULL && !(w->slot->meta & REC_DELETED);
}

/* NAM_DUPLICATE: another own row has the key. */
static nam_status
among_own(struct look *l, const struct asked *a)
{
	struct txn *t = l->t;
	struct txn_table_view *v = a->w->view;
	unsigned words = v->order[a->order].words;
	uint64_t hash = nam_hash(a->key, 8u * words, (uintptr_t)v->tree[a->order]);
	bool known = false, rises;
	if (!remember_rising(
		t, v->tree[a->order], words, a->key, (struct txn_claim){ hash, a->w->at }, &rises))
		return NAM_NOMEM;
	if (rises)
		return NAM_OK;
	uint32_t mask = t->claims_cap - 1;
	for (uint32_t i = (uint32_t)hash & mask; t->claims_cap > 0 && t->claims[i].at.bits != 0;
	     i = (i + 1) & mask) {
		if (t->claims[i].hash != hash)
			continue;
		if (t->claims[i].at.bits == a->w->at.bits) {
			known = true;
			continue;
		}
		const struct txn_write *o = txn_own(t, t->claims[i].at);
		bool is = false;
		if (!lives(o) || o->view->orders <= a->order || o->view->tree[a->order] != v->tree[a->order])
			continue;
		nam_status st = txn_order_key_is(
		    t->tw, t, o->view, a->order, o->slot->payload, (uint32_t)o->slot->meta, a->key, &is);
		if (st != NAM_OK || is)
			return st != NAM_OK ? st : clashes(l, a);
	}
	return known || remember(t, hash, a->w->at) ? NAM_OK : NAM_NOMEM;
}

/* The newest version of a block that is no own write. *live: it has the key. NAM_BUSY: another
 * transaction has locked it; then *row is what a lock needs. */
static nam_status
newest(struct look *l, const struct asked *a, net_addr at, bool *live, struct txn_row *row)
{
	struct txn *t = l->t;
	struct txn_table_view *v = a->w->view;
	struct rec_block *img = malloc(v->block_bytes);
	const struct txn_write *own = txn_own(t, at);
	*live = false;
	if (img == NULL)
		return NAM_NOMEM;
	unsigned n = REC_NO_SLOT;
	nam_status st = txn_rec_read_newest(t, v, at, img, &n);
	if (st == NAM_OK && n != REC_NO_SLOT) {
		const struct rec_slot *s = rec_slot_of(v, img, n);
		*row = (struct txn_row){ .at = at, .cid = rec_cid(img, n), .newest = rec_cid(img, n) };
		if (!(s->meta & REC_DELETED))
			st = txn_order_key_is(
			    t->tw, t, v, a->order, s->payload, (uint32_t)s->meta, a->key, live);
		if (st == NAM_OK && *live)
			txn_cover(t, rec_cid(img, n));
	}
	if (st == NAM_OK && txn_rec_is_changing(img) && (own == NULL || own->has != TXN_LOCKED)) {
		(void)txn_unlock_dead(t->tw, at, img->word);
		st = n == REC_NO_SLOT ? NAM_CONFLICT : NAM_BUSY;
	}
	free(img);
	return st;
}

/* NAM_DUPLICATE: the row of a block that the index leads to has the key. */
static nam_status
rival(struct look *l, const struct asked *a, net_addr at)
{
	struct txn *t = l->t;
	const struct txn_write *own = txn_own(t, at);
	if (own != NULL && txn_writes(own))
		return NAM_OK; /* among_own has asked it */
	for (unsigned tries = 0; tries < TRIES; tries++) {
		struct txn_row row = { .at = at };
		bool live;
		nam_status st = newest(l, a, at, &live, &row);
		if (st == NAM_OK)
			return live ? clashes(l, a) : NAM_OK;
		if (st != NAM_BUSY || t->iso != TXN_READ_COMMITTED)
			return st == NAM_BUSY ? NAM_CONFLICT : st;
		/* It may be deleted, or get this key: its transaction ends first. */
		st = txn_lock_now(t, a->w->table, &row, true);
		if (st == NAM_ABSENT)
			return NAM_OK;
		if (st != NAM_OK)
			return st;
	}
	return NAM_CONFLICT;
}

struct rivals {
	struct look *l;
	const struct asked *a;
};

static nam_status
rival_there(void *arg, net_addr at)
{
	const struct rivals *r = arg;
	return rival(r->l, r->a, at);
}

static nam_status
ask(struct look *l)
{
	struct txn *t = l->t;
	struct idx_tree_probe p[TOGETHER];
	nam_status st = NAM_OK;
	for (unsigned i = 0; i < l->n; i++)
		p[i] = (struct idx_tree_probe){ .tree = l->ask[i].w->view->tree[l->ask[i].order],
			.key = l->ask[i].key };
	if (l->n > 0)
		st = idx_tree_lookup(t->tw->w, p, l->n, &t->counts);
	for (unsigned i = 0; st == NAM_OK && i < l->n; i++) {
		struct asked *a = &l->ask[i];
		if (p[i].status == NAM_ABSENT)
			continue;
		if (p[i].status == NAM_FULL) {
			struct rivals r = { l, a };
			st = txn_keyed_each(t, a->w->view, a->order, a->key, a->w->at, rival_there, &r);
			continue;
		}
		st = p[i].status;
		for (unsigned h = 0; st == NAM_OK && h < p[i].hits; h++)
			if (p[i].hit[h] != a->w->at.bits)
				st = rival(l, a, (net_addr){ p[i].hit[h] });
	}
	l->n = 0;
	return st == NAM_OK ? txn_between(t) : st;
}

/* The unique keys that one write gives its row. */
static nam_status
ask_write(struct look *l, struct txn_write *w)
{
	struct txn *t = l->t;
	struct txn_table_view *v = w->view;
	nam_status st = NAM_OK;
	for (unsigned k = 0; st == NAM_OK && k < v->orders; k++) {
		struct asked *a = &l->ask[l->n];
		bool has;
		if (!txn_order_strict(v, k, w->slot))
			continue;
		*a = (struct asked){ .w = w, .order = k };
		st = txn_order_key(t->tw, t, v, k, w->slot->payload, (uint32_t)w->slot->meta, a->key, &has);
		if (st != NAM_OK || !has)
			continue;
		if ((st = among_own(l, a)) != NAM_OK)
			continue;
		if (w->kind != WR_INSERT && w->keys != NULL && w->keys[k].has &&
		    memcmp(w->keys[k].words, a->key, 8u * v->order[k].words) == 0)
			continue; /* it keeps its key */
		if (++l->n == TOGETHER)
			st = ask(l);
	}
	return st;
}

nam_status
txn_unique(struct txn *t, struct txn_clash *clash)
{
	if (t->nunchecked == 0)
		return NAM_OK;
	struct look *l = nam_arena_take(&t->arena, sizeof *l);
	nam_status st = l != NULL ? NAM_OK : NAM_NOMEM;
	if (l != NULL)
		*l = (struct look){ .t = t, .clash = clash };
	for (uint32_t i = 0; st == NAM_OK && i < t->nunchecked; i++) {
		struct txn_write *w = txn_own(t, t->unchecked[i]);
		if (lives(w))
			st = ask_write(l, w);
	}
	if (st == NAM_OK)
		st = ask(l);
	t->nunchecked = 0;
	return st;
}
