/*
 * entries.c -- the entries of ordered indexes that a transaction makes, and takes out again.
 *
 * Most are made by COMMIT, with all blocks locked. READ COMMITTED has the blocks of its rows locked
 * since the statement that wrote them: there the entries of unique orders are made at the
 * statement's end (unique.c), so that another transaction with the key meets the block's lock, and
 * waits. An entry that was made and is not needed goes away:
 *
 *   O5  An abort takes out what it has made before it frees the locks, and a rollback to a
 *       savepoint what was made since. COMMIT queues, for the collector, entries of keys that its
 *       rows had for a while and have no more.
 */
#include "entries_internal.h"

#include <base/fault.h>

#include <stdlib.h>
#include <string.h>

enum {
	REMOVES = 64, /* entries of one message of an abort */
	/* At the last entries of one row. One that is older is made again, and found there. */
	OWN_LOOKS = 64,
};
#define MOVED_NS UINT64_C(10000000000)

/* ---- making them ---- */

/* SERIALIZABLE follows what they do to leaves (idx_leaves_change), and so needs the order in which
 * they were made: of one message. */
struct txn_making *
txn_making_of(struct txn *t, uint64_t entries)
{
	unsigned most = t->iso == TXN_SERIALIZABLE ? IDX_TREE_MESSAGE : TXN_MAKING_MAX;
	unsigned cap = entries < most ? (unsigned)entries : most;
	struct txn_making *m = nam_arena_take(&t->arena, sizeof *m);
	if (m == NULL)
		return NULL;
	*m = (struct txn_making){ .t = t,
		.cap = cap,
		.e = nam_arena_take(&t->arena, cap * sizeof *m->e),
		.key = nam_arena_take(&t->arena, cap * sizeof *m->key),
		.w = nam_arena_take(&t->arena, cap * sizeof(struct txn_write *)),
		.order = nam_arena_take(&t->arena, cap * sizeof *m->order) };
	return m->e != NULL && m->key != NULL && m->w != NULL && m->order != NULL ? m : NULL;
}

struct txn_entry *
txn_entry_of(struct txn *t, const struct txn_write *w, const struct idx_tree *tree, const uint64_t *key,
    unsigned words)
{
	uint32_t n = w->entry;
	for (unsigned looks = 0; n != 0 && looks < OWN_LOOKS; looks++, n = t->entry[n - 1].older)
		if (t->entry[n - 1].tree == tree && memcmp(t->entry[n - 1].key, key, 8u * words) == 0)
			return &t->entry[n - 1];
	return NULL;
}

/* Entry i is in. Those that t has made are remembered, so that an abort takes them out; and those
 * made before COMMIT, so that COMMIT knows them. */
static nam_status
made(struct txn_making *m, unsigned i)
{
	struct txn *t = m->t;
	const struct idx_tree_entry *e = &m->e[i];
	bool mine = e->change.before.at.bits != 0; /* else it was there: maybe another version's */
	if (!mine && !m->early)
		return NAM_OK;
	if (!txn_grow((void **)&t->entry, t->nentries, &t->entries_cap, sizeof *t->entry))
		return NAM_NOMEM;
	struct txn_entry *x = &t->entry[t->nentries++];
	x->tree = e->tree;
	x->value = e->value;
	x->mine = mine;
	x->kept = !m->early;
	x->born = t->clock;
	x->older = m->w[i]->entry;
	m->w[i]->entry = t->nentries;
	memcpy(x->key, e->key, sizeof x->key);
	return t->iso == TXN_SERIALIZABLE ? idx_leaves_change(&t->leaves, &e->change) : NAM_OK;
}

/* Those of n entries whose partition is being moved, again. Returns how many there were. */
static unsigned
insert_moved(struct txn *t, struct idx_tree_entry *all, unsigned many, nam_status *st)
{
	struct idx_tree_entry *e = malloc(many * sizeof *e);
	unsigned *of = malloc(many * sizeof *of), n = 0;
	for (unsigned i = 0; e != NULL && of != NULL && i < many; i++) {
		if (all[i].status != NAM_BUSY)
			continue;
		if (n == 0 || e[n - 1].tree != all[i].tree)
			txn_parts_unstick(t->tw, all[i].tree); /* perhaps by a dead process */
		of[n] = i;
		e[n++] = all[i];
	}
	if (n > 0)
		*st = idx_tree_insert(t->tw->w, e, n, &t->counts);
	for (unsigned k = 0; k < n; k++)
		all[of[k]] = e[k];
	free(e);
	free(of);
	return n;
}

/* A partition that is being moved takes no entries meanwhile; a large one is moved for seconds on a
 * machine that is busy. */
static nam_status
insert_all(struct txn *t, struct idx_tree_entry *e, unsigned n)
{
	struct net_backoff pause = { .base_ns = 1000000, .cap_ns = 20000000 };
	uint64_t until = 0;
	nam_status st = idx_tree_insert(t->tw->w, e, n, &t->counts), may;
	while (st == NAM_BUSY) {
		uint64_t now = net_now_ns(t->tw->w);
		if (until != 0 && now > until)
			break;
		if (until == 0)
			until = now + MOVED_NS;
		if ((may = txn_go_on(t)) != NAM_OK)
			return may;
		net_back_off(t->tw->w, &pause);
		if (insert_moved(t, e, n, &st) == 0)
			break;
	}
	return st == NAM_BUSY ? NAM_OK : st; /* as each entry says */
}

/* BUSY: its partition has been moving for too long. REFUSED: its index was dropped, so the
 * definition that t knows is not the table's any more. */
static nam_status
as_conflict(nam_status st)
{
	return st == NAM_BUSY || st == NAM_REFUSED ? NAM_CONFLICT : st;
}

nam_status
txn_make_beside(struct txn_making *m, unsigned i)
{
	struct idx_tree_entry *e = &m->e[i];
	e->unique = false;
	nam_status st = insert_all(m->t, e, 1);
	e->unique = true;
	if (st == NAM_OK)
		st = e->status;
	return st == NAM_OK ? made(m, i) : as_conflict(st);
}

/* The entries of unique orders whose keys may have others as well. */
static nam_status
judge(struct txn_making *m)
{
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < m->n; i++) {
		const struct idx_tree_entry *e = &m->e[i];
		bool fresh = e->status == NAM_OK && e->change.before.at.bits != 0;
		if (e->unique && !fresh)
			st = m->judge(m, i);
	}
	return st;
}

nam_status
txn_make(struct txn_making *m)
{
	struct txn *t = m->t;
	if (m->n == 0)
		return NAM_OK;
	nam_status st = insert_all(t, m->e, m->n);
	for (unsigned i = 0; i < m->n; i++) {
		nam_status is = m->e[i].status;
		if (is == NAM_OK)
			is = made(m, i);
		if (m->e[i].unique && (is == NAM_DUPLICATE || is == NAM_FULL))
			continue;
		if (is != NAM_OK && st == NAM_OK)
			st = is;
	}
	if (st == NAM_OK)
		st = judge(m);
	m->n = 0;
	if (st == NAM_OK)
		st = txn_between(t);
	return as_conflict(st);
}

nam_status
txn_making_add(struct txn_making *m, struct txn_write *w, unsigned k, const uint64_t *key)
{
	if (key != m->key[m->n])
		memcpy(m->key[m->n], key, sizeof *m->key);
	m->w[m->n] = w;
	m->order[m->n] = k;
	m->e[m->n] = (struct idx_tree_entry){ .tree = w->view->tree[k],
		.key = m->key[m->n],
		.value = w->at.bits,
		.unique = txn_order_strict(w->view, k, w->slot) };
	return ++m->n == m->cap ? txn_make(m) : NAM_OK;
}

/* ---- those of a commit ---- */

/* The live row of a block that another transaction may be changing: has it the key? */
static nam_status
lives(const struct txn_making *m, unsigned i, net_addr at)
{
	struct txn *t = m->t;
	struct txn_table_view *v = m->w[i]->view;
	const struct txn_write *own = txn_own(t, at);
	bool is = false;
	nam_status st;
	if (own != NULL && txn_writes(own)) {
		if (own->slot->meta & REC_DELETED)
			return NAM_OK;
		st = txn_order_key_is(
		    t->tw, t, v, m->order[i], own->slot->payload, (uint32_t)own->slot->meta, m->key[i], &is);
		return st == NAM_OK && is ? NAM_CONFLICT : st;
	}
	struct rec_block *img = malloc(v->block_bytes);
	if (img == NULL)
		return NAM_NOMEM;
	unsigned n = REC_NO_SLOT;
	st = txn_rec_read_newest(t, v, at, img, &n);
	if (st == NAM_OK && own == NULL && txn_rec_is_changing(img)) {
		(void)txn_unlock_dead(t->tw, at, img->word);
		st = NAM_CONFLICT;
	}
	if (st == NAM_OK && n != REC_NO_SLOT) {
		const struct rec_slot *s = rec_slot_of(v, img, n);
		if (!(s->meta & REC_DELETED))
			st = txn_order_key_is(
			    t->tw, t, v, m->order[i], s->payload, (uint32_t)s->meta, m->key[i], &is);
		if (st == NAM_OK && is) {
			txn_cover(t, rec_cid(img, n)); /* a retry sees the row that has the key */
			st = NAM_CONFLICT;
		}
	}
	free(img);
	return st;
}

struct rival {
	const struct txn_making *m;
	unsigned i;
};

static nam_status
lives_there(void *arg, net_addr at)
{
	const struct rival *r = arg;
	return lives(r->m, r->i, at);
}

/*
 * Two transactions that give one key to two rows have both blocks locked before they make the
 * entries, and look here afterwards: so one of them at least finds the other's entry, and its block
 * locked or changed.
 */
static nam_status
alone(struct txn_making *m, unsigned i)
{
	struct txn *t = m->t;
	nam_status st = m->e[i].status == NAM_OK ? NAM_OK : txn_make_beside(m, i);
	if (st != NAM_OK)
		return st;
	struct idx_tree_probe p = { .tree = m->e[i].tree, .key = m->key[i] };
	st = idx_tree_lookup(t->tw->w, &p, 1, &t->counts);
	if (st == NAM_OK && p.status == NAM_FULL) {
		struct rival r = { m, i };
		return txn_keyed_each(t, m->w[i]->view, m->order[i], m->key[i], m->w[i]->at, lives_there, &r);
	}
	if (st == NAM_OK && p.status != NAM_OK && p.status != NAM_ABSENT)
		st = p.status;
	for (unsigned h = 0; st == NAM_OK && p.status == NAM_OK && h < p.hits; h++)
		if (p.hit[h] != m->e[i].value)
			st = lives(m, i, (net_addr){ p.hit[h] });
	return st;
}

/* The entries of one write, into m. Also finds out which keys the row leaves, because the version
 * may be gone when the commit has been answered. */
static nam_status
enter(struct txn_making *m, struct txn_write *w)
{
	struct txn *t = m->t;
	struct txn_table_view *v = w->view;
	bool deleted = (w->slot->meta & REC_DELETED) != 0;
	nam_status st = NAM_OK;
	for (unsigned k = 0; st == NAM_OK && k < v->orders; k++) {
		uint64_t *key = m->key[m->n];
		memset(key, 0, sizeof *m->key);
		bool has, same = false;
		st = txn_order_key(t->tw, t, v, k, w->slot->payload, (uint32_t)w->slot->meta, key, &has);
		if (st != NAM_OK)
			break;
		if (w->keys != NULL && w->keys[k].has) {
			same = has && memcmp(w->keys[k].words, key, 8u * v->order[k].words) == 0;
			w->keys[k].left = !same;
		}
		struct txn_entry *is =
		    has && w->entry != 0 ? txn_entry_of(t, w, v->tree[k], key, v->order[k].words) : NULL;
		if (is != NULL)
			is->kept = true;
		/* A live row had this key before: its entry is there (O1). A deletion may have
		 * another key than the row had. */
		if (has && !deleted && is == NULL && (!same || w->kind == WR_INSERT))
			st = txn_making_add(m, w, k, key);
	}
	return st;
}

nam_status
txn_orders_enter(struct txn *t)
{
	uint64_t most = 0;
	nam_status st = NAM_OK;
	for (uint32_t i = 0; i < t->nwr && most < TXN_MAKING_MAX; i++)
		most += txn_writes(t->wr[i]) ? t->wr[i]->view->orders : 0;
	if (most == 0)
		return NAM_OK;
	struct txn_making *m = txn_making_of(t, most);
	if (m == NULL)
		return NAM_NOMEM;
	m->judge = alone;
	for (uint32_t i = 0; st == NAM_OK && i < t->nwr; i++)
		if (txn_writes(t->wr[i]) && t->wr[i]->view->orders > 0)
			st = enter(m, t->wr[i]);
	return st == NAM_OK ? txn_make(m) : st;
}

/* The order of w's table that the tree is. */
static unsigned
order_of(const struct txn_write *w, const struct idx_tree *tree)
{
	unsigned k = 0;
	while (k < w->view->orders && w->view->tree[k] != tree)
		k++;
	return k;
}

/* The keys that t's rows have left: of versions that it replaced, also of a deletion, and of
 * versions that it has made and replaced itself. The entries of the key that a deleted row has are
 * removed with its block. */
void
txn_orders_junk(struct txn *t)
{
	for (uint32_t i = 0; i < t->nentries; i++) {
		const struct txn_entry *e = &t->entry[i];
		const struct txn_write *w =
		    e->mine && !e->kept && !nam_fault(ENTRY_KEPT) ? txn_own(t, (net_addr){ e->value }) : NULL;
		unsigned k = w != NULL ? order_of(w, e->tree) : 0;
		if (w != NULL && k < w->view->orders)
			txn_key_junk(t->tw, w->view, k, e->key, w->at, t->cid);
	}
	t->nentries = 0;
	for (uint32_t i = 0; i < t->nwr; i++) {
		const struct txn_write *w = t->wr[i];
		struct txn_table_view *v = w->view;
		if (!txn_writes(w) || w->keys == NULL)
			continue;
		for (unsigned k = 0; k < v->orders; k++)
			if (w->keys[k].left)
				txn_key_junk(t->tw, v, k, w->keys[k].words, w->at, t->cid);
	}
}

/* ---- taking them out ---- */

/*
 * Removes an entry whose block this process has locked. NAM_OK: it is out, or its storage node has
 * ended and takes it along. NAM_GONE: the removal may still be served, so the lock has to stay
 * (O3).
 */
static nam_status
take_out(struct txn_worker *tw, struct idx_tree_entry *e, struct net_counts *acct)
{
	enum { TRIES = 8 };
	uint64_t until = 0;
	bool moved = false;
	for (unsigned n = 0; n < TRIES; n++) {
		nam_status st = idx_tree_remove(tw->w, e, 1, acct);
		if (st == NAM_OK)
			st = e->status;
		if (st == NAM_OK || st == NAM_ABSENT || st == NAM_REFUSED)
			return NAM_OK;
		moved = st == NAM_BUSY;
		if (moved) { /* for a second, perhaps by a dead process */
			txn_parts_unstick(tw, e->tree);
			continue;
		}
		const struct net_set before = tw->keeper.ended;
		if (txn_again_all(tw, &until) != NAM_OK && net_set_same(&before, &tw->keeper.ended))
			return NAM_GONE;
	}
	/* All nodes that have not ended are reached. */
	return moved || net_set_none(&tw->keeper.ended) ? NAM_GONE : NAM_OK;
}

static bool
still_locked(const struct txn *t, uint64_t at)
{
	const struct txn_write *w = txn_own(t, (net_addr){ at });
	return w != NULL && w->has == TXN_LOCKED;
}

/*
 * Removes n entries with one message to each storage node; those that are in doubt one by one, up
 * to the first whose removal may still be served. stays, if not NULL, has a place for each: then
 * none is left out.
 */
static bool
out_all(struct txn_worker *tw, struct idx_tree_entry *e, unsigned n, bool *stays, struct net_counts *acct)
{
	nam_status st = n > 0 ? idx_tree_remove(tw->w, e, n, acct) : NAM_OK;
	bool all = true;
	for (unsigned i = 0; i < n && (all || stays != NULL); i++) {
		nam_status is = st == NAM_OK ? e[i].status : st;
		bool out = is == NAM_OK || is == NAM_ABSENT || is == NAM_REFUSED ||
			   take_out(tw, &e[i], acct) == NAM_OK;
		if (stays != NULL)
			stays[i] = !out;
		all &= out;
	}
	return all;
}

void
txn_entries_out(struct txn_worker *tw, struct idx_tree_entry *e, unsigned n, bool *stays)
{
	(void)out_all(tw, e, n, stays, NULL);
}

/* The last entries that t has made, down to the first n: they are taken out, and forgotten by their
 * writes. False: one may still be removed later; the last of t's entries is that one, or an older
 * one of the same message. */
static bool
take_back(struct txn *t, uint32_t n)
{
	struct idx_tree_entry e[REMOVES];
	while (t->nentries > n) {
		unsigned many = 0;
		uint32_t i = t->nentries;
		for (; i > n && many < REMOVES; i--) {
			struct txn_entry *x = &t->entry[i - 1];
			if (x->mine && still_locked(t, x->value))
				e[many++] = (struct idx_tree_entry){
					.tree = x->tree, .key = x->key, .value = x->value
				};
		}
		if (!out_all(t->tw, e, many, NULL, &t->counts))
			return false;
		for (; t->nentries > i; t->nentries--) {
			const struct txn_entry *x = &t->entry[t->nentries - 1];
			struct txn_write *w = txn_own(t, (net_addr){ x->value });
			if (w != NULL && w->entry == t->nentries)
				w->entry = x->older;
		}
		txn_give_way(t->tw);
		if (txn_out_of_time(t))
			return false;
	}
	return true;
}

bool
txn_orders_leave(struct txn *t)
{
	bool out = take_back(t, 0);
	t->nentries = 0;
	return out;
}

nam_status
txn_entries_undo(struct txn *t, uint32_t mark)
{
	uint32_t n = t->nentries;
	while (n > 0 && t->entry[n - 1].born >= mark)
		n--;
	return take_back(t, n) ? NAM_OK : NAM_GONE;
}

nam_status
txn_unmake(struct txn_making *m, unsigned i)
{
	struct txn *t = m->t;
	NAM_ASSERT(t->nentries > 0 && t->entry[t->nentries - 1].value == m->e[i].value);
	return take_back(t, t->nentries - 1) ? NAM_OK : NAM_GONE;
}
