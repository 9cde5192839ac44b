/*
 * unique.c -- at the end of a statement: two live rows with one key of a unique order.
 *
 * COMMIT proves that there are none (entries.c: alone()). The statement that makes the second row
 * is to fail itself, and to say which key.
 *
 * READ COMMITTED has the blocks of its rows locked. So it makes the entries here: the storage node
 * makes an entry only if the key has no other (idx_tree_entry.unique), so of two transactions one
 * finds the other's entry, meets the lock of its block, and waits until that transaction ends. A
 * key may have entries of rows that are gone. A row that is gone may get its key again without a
 * new entry, so such a key takes three steps:
 *
 *   U1  Beside others, an entry is made after each of these has been found to lead to no live row,
 *       and without a lock; then they are looked at once more. A transaction that gives one of
 *       those rows the key has locked it before it looks itself: at least one of two sees the
 *       other.
 *   U2  If the second look meets a lock, the entry is taken out, and after a while all begins
 *       again. So no two transactions wait for each other only because each met the other's
 *       second look.
 *   U3  A row that leaves a key and gets it again finds its entry there. Other transactions met
 *       the lock meanwhile, but another row of its own may have taken the key: so then its own
 *       rows are looked at.
 *
 * The other levels lock at COMMIT. They look for rows that are committed, whatever the snapshot;
 * their own rows' keys are kept by hash.
 */
#include "entries_internal.h"

#include <base/fault.h>
#include <base/hash.h>

#include <stdlib.h>
#include <string.h>

enum {
	TOGETHER = 32,
	/* Looks at the rivals of an entry that was there already, before it waits for one: another
	 * transaction that has made an entry beside it takes that one out meanwhile (U2). */
	LOOKS = 12,
	LOOK_BASE_NS = 4000,
	LOOK_CAP_NS = 2000000,
};

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

/* ---- rows with the key ---- */

struct asked {
	struct txn_write *w;
	unsigned order;
	bool own; /* only own rows are looked at (U3) */
	uint64_t key[IDX_TREE_WORDS];
};

struct look {
	struct txn *t;
	struct txn_clash *clash;
	struct txn_making *early; /* NULL: entries are COMMIT's */
	unsigned n;
	struct asked *ask; /* room for TOGETHER; NULL = not yet needed */
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

/* NAM_DUPLICATE: own write o is of another row that has the key. */
static nam_status
own_has(struct look *l, const struct asked *a, const struct txn_write *o)
{
	struct txn *t = l->t;
	bool is = false;
	if (o == a->w || !lives(o) || o->view->orders <= a->order ||
	    o->view->tree[a->order] != a->w->view->tree[a->order])
		return NAM_OK;
	nam_status st = txn_order_key_is(
	    t->tw, t, o->view, a->order, o->slot->payload, (uint32_t)o->slot->meta, a->key, &is);
	return st != NAM_OK || !is ? st : clashes(l, a);
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
		nam_status st = own_has(l, a, txn_own(t, t->claims[i].at));
		if (st != NAM_OK)
			return st;
	}
	return known || remember(t, hash, a->w->at) ? NAM_OK : NAM_NOMEM;
}

/* The newest version of a block that is no own write. *live: it has the key. NAM_BUSY: another
 * transaction has the lock *lock on it. */
static nam_status
newest(struct look *l, const struct asked *a, net_addr at, bool *live, uint64_t *lock)
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
		if (!(s->meta & REC_DELETED))
			st = txn_order_key_is(
			    t->tw, t, v, a->order, s->payload, (uint32_t)s->meta, a->key, live);
		if (st == NAM_OK && *live)
			txn_cover(t, rec_cid(img, n));
	}
	if (st == NAM_OK && txn_rec_is_changing(img) && (own == NULL || own->has != TXN_LOCKED)) {
		*lock = img->word;
		st = NAM_BUSY;
	}
	free(img);
	return st;
}

/* NAM_DUPLICATE: the row of a block that the index leads to has the key. Waits for a transaction
 * that may give the block such a row, or take it away. */
static nam_status
rival(struct look *l, const struct asked *a, net_addr at)
{
	struct txn *t = l->t;
	const struct txn_write *own = txn_own(t, at);
	if (own != NULL && txn_writes(own))
		return own_has(l, a, own);
	if (a->own)
		return NAM_OK;
	for (;;) {
		bool live;
		uint64_t lock;
		nam_status st = newest(l, a, at, &live, &lock);
		if (st == NAM_OK)
			return live ? clashes(l, a) : NAM_OK;
		if (st != NAM_BUSY)
			return st;
		if ((st = txn_lock_gone(t, at, lock)) != NAM_OK)
			return st;
	}
}

struct rivals {
	struct look *l;
	const struct asked *a;
	bool held; /* a block is locked */
};

static nam_status
rival_there(void *arg, net_addr at)
{
	const struct rivals *r = arg;
	return rival(r->l, r->a, at);
}

/* As rival, and waits for nobody. */
static nam_status
rival_now(void *arg, net_addr at)
{
	struct rivals *r = arg;
	const struct txn_write *own = txn_own(r->l->t, at);
	bool live;
	uint64_t lock;
	if (own != NULL && txn_writes(own))
		return own_has(r->l, r->a, own);
	nam_status st = newest(r->l, r->a, at, &live, &lock);
	r->held |= st == NAM_BUSY;
	return st == NAM_BUSY ? NAM_OK : st == NAM_OK && live ? clashes(r->l, r->a) : st;
}

/* Calls fn for each block but its own that entries of a's key lead to. */
static nam_status
each_rival(struct rivals *r, txn_keyed_fn *fn)
{
	struct txn *t = r->l->t;
	const struct asked *a = r->a;
	struct idx_tree_probe p = { .tree = a->w->view->tree[a->order], .key = a->key };
	nam_status st = idx_tree_lookup(t->tw->w, &p, 1, &t->counts);
	if (st == NAM_OK && p.status == NAM_FULL)
		return txn_keyed_each(t, a->w->view, a->order, a->key, a->w->at, fn, r);
	if (st == NAM_OK && p.status != NAM_OK && p.status != NAM_ABSENT)
		st = p.status;
	for (unsigned h = 0; st == NAM_OK && p.status == NAM_OK && h < p.hits; h++)
		if (p.hit[h] != a->w->at.bits)
			st = fn(r, (net_addr){ p.hit[h] });
	return st;
}

/* ---- entries that are made at once ---- */

/* Looks at the rivals of an entry that is in. *alone: none has the key, or may get it. */
static nam_status
look_at(struct rivals *r, bool *alone)
{
	r->held = false;
	nam_status st = each_rival(r, rival_now);
	*alone = st == NAM_OK && !r->held;
	return st;
}

/* Entry i was there already: it leads to a row that this transaction gives the key once more. */
static nam_status
was_there(struct rivals *r, bool *alone)
{
	struct txn *t = r->l->t;
	struct net_backoff pause = { .base_ns = LOOK_BASE_NS, .cap_ns = LOOK_CAP_NS, .dice = true };
	nam_status st = look_at(r, alone);
	for (unsigned looks = 1; st == NAM_OK && !*alone && looks < LOOKS; looks++) {
		net_back_off(t->tw->w, &pause);
		if ((st = txn_go_on(t)) == NAM_OK)
			st = look_at(r, alone);
	}
	return st;
}

/* U1, U2. */
static nam_status
beside_others(struct txn_making *m, unsigned i)
{
	struct txn *t = m->t;
	struct asked a = { .w = m->w[i], .order = m->order[i] };
	struct rivals r = { m->arg, &a, false };
	struct net_backoff pause = { .base_ns = LOOK_BASE_NS, .cap_ns = LOOK_CAP_NS, .dice = true };
	bool alone = false;
	memcpy(a.key, m->key[i], sizeof a.key);
	for (;;) {
		nam_status st = NAM_OK;
		bool in = m->e[i].status == NAM_OK;
		if (in)
			st = was_there(&r, &alone);
		if (st == NAM_OK && !alone)
			st = each_rival(&r, rival_there);
		if (st != NAM_OK || alone)
			return st;
		if (in)
			continue;
		if ((st = txn_make_beside(m, i)) != NAM_OK)
			return st;
		if (nam_fault(RIVAL_UNSEEN))
			return NAM_OK;
		bool mine = m->e[i].change.before.at.bits != 0;
		if ((st = look_at(&r, &alone)) != NAM_OK || alone)
			return st;
		if (!mine)
			continue;
		if ((st = txn_unmake(m, i)) != NAM_OK)
			return st;
		m->e[i].status = NAM_DUPLICATE;
		net_back_off(t->tw->w, &pause);
		if ((st = txn_go_on(t)) != NAM_OK)
			return st;
	}
}

/* ---- the statement's rows ---- */

/* Looks for the rivals of the keys that are gathered. */
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
			struct rivals r = { l, a, false };
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

/* A key that w gives its row, to be looked for. */
static nam_status
ask_later(struct look *l, struct txn_write *w, unsigned k, const uint64_t *key, bool own)
{
	if (l->ask == NULL && (l->ask = nam_arena_take(&l->t->arena, TOGETHER * sizeof *l->ask)) == NULL)
		return NAM_NOMEM;
	struct asked *a = &l->ask[l->n];
	*a = (struct asked){ .w = w, .order = k, .own = own };
	memcpy(a->key, key, sizeof a->key);
	return ++l->n == TOGETHER ? ask(l) : NAM_OK;
}

/* A key that COMMIT enters: it is known by hash. keeps: the row had it before, so no row of another
 * transaction has it. */
static nam_status
claim(struct look *l, struct txn_write *w, unsigned k, const uint64_t *key, bool keeps)
{
	struct asked a = { .w = w, .order = k };
	memcpy(a.key, key, sizeof a.key);
	nam_status st = among_own(l, &a);
	return st == NAM_OK && !keeps ? ask_later(l, w, k, key, false) : st;
}

/* A key that is entered now. keeps: the row had it before this transaction. */
static nam_status
enter_now(struct look *l, struct txn_write *w, unsigned k, const uint64_t *key, bool keeps)
{
	struct txn *t = l->t;
	const struct idx_tree *tree = w->view->tree[k];
	if (keeps || txn_entry_of(t, w, tree, key, w->view->order[k].words) != NULL)
		return w->roamed && !nam_fault(ROAMED_UNASKED) ? ask_later(l, w, k, key, true) : NAM_OK;
	return txn_making_add(l->early, w, k, key);
}

/* True if the row has had a key in this order: before this transaction, or since. */
static bool
had_key(const struct txn *t, const struct txn_write *w, unsigned k)
{
	if (w->keys != NULL && w->keys[k].has)
		return true;
	for (uint32_t n = w->entry; n != 0; n = t->entry[n - 1].older)
		if (t->entry[n - 1].tree == w->view->tree[k])
			return true;
	return false;
}

/* The unique keys that one write gives its row. */
static nam_status
ask_write(struct look *l, struct txn_write *w)
{
	struct txn *t = l->t;
	struct txn_table_view *v = w->view;
	bool early = l->early != NULL && w->has == TXN_LOCKED;
	nam_status st = NAM_OK;
	for (unsigned k = 0; st == NAM_OK && k < v->orders; k++) {
		uint64_t key[IDX_TREE_WORDS] = { 0 };
		bool has = false;
		if (!v->order[k].unique)
			continue;
		bool strict = txn_order_strict(v, k, w->slot);
		if (strict)
			st = txn_order_key(
			    t->tw, t, v, k, w->slot->payload, (uint32_t)w->slot->meta, key, &has);
		if (st != NAM_OK)
			return st;
		bool keeps = has && w->kind != WR_INSERT && w->keys != NULL && w->keys[k].has &&
			     memcmp(w->keys[k].words, key, 8u * v->order[k].words) == 0;
		bool roams = !keeps && had_key(t, w, k);
		if (has && early)
			st = enter_now(l, w, k, key, keeps);
		else if (has)
			st = claim(l, w, k, key, keeps);
		w->roamed |= roams;
	}
	return st;
}

/* For the entries of READ COMMITTED's statement. NULL: no memory. */
static struct txn_making *
early_of(struct look *l)
{
	struct txn *t = l->t;
	uint64_t more = t->early == NULL ? t->nunchecked : 2 * t->early->cap;
	if (t->early == NULL || (t->early->cap < t->nunchecked && t->early->cap < TXN_MAKING_MAX))
		t->early = txn_making_of(t, more > t->nunchecked ? more : t->nunchecked);
	if (t->early != NULL) {
		t->early->early = true;
		t->early->judge = beside_others;
		t->early->arg = l;
		t->early->n = 0;
	}
	return t->early;
}

nam_status
txn_unique(struct txn *t, struct txn_clash *clash)
{
	struct look l = { .t = t, .clash = clash };
	nam_status st = NAM_OK;
	if (t->nunchecked == 0)
		return NAM_OK;
	if (t->iso == TXN_READ_COMMITTED && (l.early = early_of(&l)) == NULL)
		return NAM_NOMEM;
	for (uint32_t i = 0; st == NAM_OK && i < t->nunchecked; i++) {
		struct txn_write *w = txn_own(t, t->unchecked[i]);
		if (lives(w))
			st = ask_write(&l, w);
	}
	if (st == NAM_OK)
		st = ask(&l);
	if (st == NAM_OK && l.early != NULL)
		st = txn_make(l.early);
	t->nunchecked = 0;
	return st;
}
