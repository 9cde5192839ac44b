/*
 * order.c -- the ordered indexes of a table: their trees, and the entries that commits make and the
 * collector removes.
 *
 * An entry (key, block) is a hint: a row is found by it if the version that is visible has that
 * key. What has to hold:
 *
 *   O1  While a version with a key can be visible to any snapshot, the entry (key, its block) is
 *       there. A commit makes it with its block locked and before its commit line; a SERIALIZABLE
 *       one also before it claims its CID, so that a validation that missed the entry belongs to an
 *       older transaction.
 *   O2  An entry is removed with its block locked, and when no listed version has the key that a
 *       snapshot may show: of an undone commit, of a deleted row, of a key that an update has left.
 *       So no commit makes an entry while another process removes it.
 *   O3  The lock is freed when the storage node has answered, or when it has ended: a removal that
 *       may still be served later would meet an entry that a commit has made since.
 *   O4  That an entry is a row's is remembered with the CID at which it was (txn/known.c), and
 *       believed only while the block's word is that CID and the snapshot covers it.
 *
 * Entries that a crash leaves are found by scans (txn/range.c), and removed like those of updates.
 */
#include "txn_internal.h"

#include <base/fault.h>

#include <stdlib.h>
#include <string.h>

enum {
	ENTRIES = 512, /* of one call of the index: several messages in a row to a partition */
	REMOVES = 32   /* likewise, of an abort */
};
#define MOVED_NS UINT64_C(10000000000)

/* ---- trees ---- */

static net_addr
tree_at(net_addr anchor, unsigned i)
{
	return net_plus(anchor, TXN_ANCHOR_ORDERS + (uint64_t)i * IDX_TREE_ANCHOR_BYTES);
}

static nam_status
tree_memory(void *arg, struct net_worker *w, unsigned region, net_addr *out)
{
	return txn_extent_of_region(arg, w, region, TXN_LEDGER_INDEX, out);
}

/* A table without rows, for a tree alone. */
static bool
is_holder(const struct txn_table *t)
{
	return t->orders == 1 && t->row_max == 0 && !t->has_key;
}

nam_status
txn_orders_create(struct txn_worker *tw, struct txn_table *t)
{
	struct txn_stock making = { .db = tw->db, .anchor = t->anchor };
	const struct idx_tree_memory mem = { .take = tree_memory, .arg = &making };
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < t->orders; i++) {
		const struct txn_order *o = &t->order[i];
		if (o->holder != NULL)
			continue;
		if (i >= TXN_ORDERS)
			return NAM_INVALID;
		struct idx_tree_part one = { .region = net_region_of(t->anchor) };
		struct idx_tree_config cfg = { .words = o->words,
			.parts = o->parts != 0 ? o->parts : 1,
			.part = o->parts != 0 ? o->part : &one,
			.later = o->parts == 0 };
		st = idx_tree_create(tw->w, tree_at(t->anchor, i), &cfg, &mem);
	}
	if (st == NAM_OK && is_holder(t))
		st = idx_tree_id(tw->w, tree_at(t->anchor, 0), &t->tree);
	return st;
}

static void
tree_has_grown(void *stock)
{
	txn_due_add(stock, TXN_DUE_PARTS);
}

nam_status
txn_orders_open(struct txn_table_view *v, const struct txn_table *t)
{
	for (unsigned i = 0; i < t->orders; i++) {
		const struct txn_order *o = &t->order[i];
		struct idx_tree_options how = o->options;
		if (v->db->order_cache > 0)
			how.cache = (enum idx_tree_cache)(v->db->order_cache - 1);
		if (is_holder(t))
			how.id = t->tree;
		v->order[i] = *o;
		v->tree_name[i] = o->holder != NULL ? (uint64_t)o->holder->id << 8 | TXN_ORDERS_MAX
						    : (uint64_t)t->id << 8 | i;
		if (o->holder == NULL && i >= TXN_ORDERS)
			return NAM_NOMEM;
		struct txn_stock *owner = o->holder != NULL ? o->holder->view->stock : v->stock;
		const struct idx_tree_memory mem = {
			.take = tree_memory, .arg = owner, .has_grown = tree_has_grown
		};
		unsigned number = o->holder != NULL ? 0 : i;
		if (!txn_stock_tree(v, i, owner, number, tree_at(owner->anchor, number), &mem, &how))
			return NAM_NOMEM;
		v->unique |= o->unique;
	}
	return NAM_OK;
}

/* Ends the trees of a table that is being released: no storage node writes to their memory
 * afterwards. */
nam_status
txn_orders_drop(struct txn_worker *tw, net_addr anchor)
{
	uint64_t word[TXN_ORDERS][IDX_TREE_ANCHOR_BYTES / 8];
	nam_status st = net_read1(tw->w, tree_at(anchor, 0), word, sizeof word, NULL);
	for (unsigned i = 0; st == NAM_OK && i < TXN_ORDERS; i++) {
		if (word[i][0] == 0)
			continue;
		st = idx_tree_drop(tw->w, tree_at(anchor, i));
		if (st == NAM_BUSY) /* a dead process may hold its lock; another try follows */
			txn_parts_unstick_at(tw, tree_at(anchor, i));
		st = st == NAM_ABSENT ? NAM_OK : st;
	}
	return st;
}

/* ---- keys ---- */

/* A key that depends on long values. */
static nam_status
long_key(struct txn_worker *tw, struct txn *t, struct txn_table_view *v, unsigned i, const void *row,
    uint32_t len, const struct txn_blob *b, unsigned n, uint64_t *words, bool *has)
{
	const void *bytes[TXN_ORDER_LONGS];
	struct nam_arena arena;
	nam_arena_init(&arena, 0);
	nam_status st = txn_blob_read(tw, t, b, n, bytes, &arena);
	atomic_fetch_add(&v->asking, 1);
	if (st == NAM_OK && atomic_load(&v->dead))
		st = NAM_BUSY;
	if (st == NAM_OK)
		*has = v->order[i].long_key(&v->order[i], row, len, bytes, words);
	atomic_fetch_sub(&v->asking, 1);
	nam_arena_fini(&arena);
	return st;
}

nam_status
txn_order_key(struct txn_worker *tw, struct txn *t, struct txn_table_view *v, unsigned i, const void *row,
    uint32_t len, uint64_t *words, bool *has)
{
	const struct txn_order *o = &v->order[i];
	struct txn_blob b[TXN_ORDER_LONGS];
	unsigned n = 0;
	*has = false;
	atomic_fetch_add(&v->asking, 1);
	bool dead = atomic_load(&v->dead);
	if (!dead && o->longs != NULL)
		n = o->longs(o, row, len, b);
	if (!dead && n == 0)
		*has = o->key(o, row, len, words);
	atomic_fetch_sub(&v->asking, 1);
	if (dead)
		return NAM_BUSY;
	return n > 0 ? long_key(tw, t, v, i, row, len, b, n, words, has) : NAM_OK;
}

nam_status
txn_order_key_is(struct txn_worker *tw, struct txn *t, struct txn_table_view *v, unsigned i, const void *row,
    uint32_t len, const uint64_t *key, bool *is)
{
	uint64_t words[IDX_TREE_WORDS];
	nam_status st = txn_order_key(tw, t, v, i, row, len, words, is);
	*is = *is && memcmp(words, key, 8u * v->order[i].words) == 0;
	return st;
}

/* Keeps the keys of the version that w replaces: the caller may change those bytes (txn_edit). */
nam_status
txn_orders_before(struct txn *t, struct txn_write *w, const void *row, uint32_t len)
{
	struct txn_table_view *v = w->view;
	nam_status st = NAM_OK;
	if (v->orders == 0 || w->keys != NULL)
		return NAM_OK;
	struct txn_keys *k = nam_arena_take(&t->arena, v->orders * sizeof *k);
	if (k == NULL)
		return NAM_NOMEM;
	for (unsigned i = 0; st == NAM_OK && i < v->orders; i++) {
		st = txn_order_key(t->tw, t, v, i, row, len, k[i].words, &k[i].has);
		k[i].left = false;
	}
	w->keys = k;
	return st;
}

/* ---- a commit's entries ---- */

struct making {
	struct txn *t;
	struct idx_tree_entry *e;
	uint64_t (*key)[IDX_TREE_WORDS];
	struct txn_table_view **view;
	unsigned *order;
	unsigned n, cap;
};

/* Room for the entries of a commit that makes so many, or for those of one call. SERIALIZABLE
 * follows what they do to leaves (idx_leaves_change), and so needs the order in which they were
 * made: of one message. */
static struct making *
making_of(struct txn *t, uint64_t entries)
{
	unsigned most = t->iso == TXN_SERIALIZABLE ? IDX_TREE_MESSAGE : ENTRIES;
	unsigned cap = entries < most ? (unsigned)entries : most;
	struct making *m = nam_arena_take(&t->arena, sizeof *m);
	if (m == NULL)
		return NULL;
	*m = (struct making){ .t = t,
		.cap = cap,
		.e = nam_arena_take(&t->arena, cap * sizeof *m->e),
		.key = nam_arena_take(&t->arena, cap * sizeof *m->key),
		.view = nam_arena_take(&t->arena, cap * sizeof(struct txn_table_view *)),
		.order = nam_arena_take(&t->arena, cap * sizeof *m->order) };
	return m->e != NULL && m->key != NULL && m->view != NULL && m->order != NULL ? m : NULL;
}

/* The entries that are in by this transaction, so that an abort removes them. */
static nam_status
made(struct txn *t, const struct idx_tree_entry *e, unsigned words)
{
	if (e->change.before.at.bits == 0)
		return NAM_OK; /* it was there: maybe another version's */
	if (!txn_grow((void **)&t->entry, t->nentries, &t->entries_cap, sizeof *t->entry))
		return NAM_NOMEM;
	struct txn_entry *x = &t->entry[t->nentries++];
	x->tree = e->tree;
	x->value = e->value;
	memcpy(x->key, e->key, 8u * words);
	return t->iso == TXN_SERIALIZABLE ? idx_leaves_change(&t->leaves, &e->change) : NAM_OK;
}

/* The live row of a block that another transaction may be changing: has it the key? */
static nam_status
lives(struct txn *t, const struct making *m, unsigned i, net_addr at)
{
	struct txn_table_view *v = m->view[i];
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
	const struct making *m;
	unsigned i;
};

static nam_status
lives_there(void *arg, net_addr at)
{
	const struct rival *r = arg;
	return lives(r->m->t, r->m, r->i, at);
}

/*
 * Entry i of a unique order is in, and the key may have others. Two transactions that give one key
 * to two rows have both blocks locked before they make the entries, and look here afterwards: so
 * one of them at least finds the other's entry, and its block locked or changed.
 */
static nam_status
alone(struct making *m, unsigned i)
{
	struct txn *t = m->t;
	struct idx_tree_probe p = { .tree = m->e[i].tree, .key = m->key[i] };
	nam_status st = idx_tree_lookup(t->tw->w, &p, 1, &t->counts);
	if (st == NAM_OK && p.status == NAM_FULL) {
		struct rival r = { m, i };
		return txn_keyed_each(
		    t, m->view[i], m->order[i], m->key[i], (net_addr){ m->e[i].value }, lives_there, &r);
	}
	if (st == NAM_OK && p.status != NAM_OK && p.status != NAM_ABSENT)
		st = p.status;
	for (unsigned h = 0; st == NAM_OK && p.status == NAM_OK && h < p.hits; h++)
		if (p.hit[h] != m->e[i].value)
			st = lives(t, m, i, (net_addr){ p.hit[h] });
	return st;
}

/* The entries of unique orders whose keys have other entries as well. */
static nam_status
make_alone(struct making *m)
{
	struct txn *t = m->t;
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < m->n; i++) {
		struct idx_tree_entry *e = &m->e[i];
		bool fresh = e->status == NAM_OK && e->change.before.at.bits != 0;
		if (!e->unique || fresh ||
		    (e->status != NAM_OK && e->status != NAM_DUPLICATE && e->status != NAM_FULL))
			continue;
		if (e->status != NAM_OK) {
			e->unique = false;
			st = idx_tree_insert(t->tw->w, e, 1, &t->counts);
			e->unique = true;
			if (st == NAM_OK && e->status != NAM_OK)
				st = e->status;
			if (st == NAM_OK)
				st = made(t, e, IDX_TREE_WORDS);
		}
		if (st == NAM_OK)
			st = alone(m, i);
	}
	return st;
}

/* Those of n entries whose partition is being moved, again. Returns how many there were. */
static unsigned
insert_moved(struct making *m, nam_status *st)
{
	struct txn *t = m->t;
	struct idx_tree_entry *e = malloc(m->n * sizeof *e);
	unsigned *of = malloc(m->n * sizeof *of), n = 0;
	for (unsigned i = 0; e != NULL && of != NULL && i < m->n; i++) {
		if (m->e[i].status != NAM_BUSY)
			continue;
		if (n == 0 || e[n - 1].tree != m->e[i].tree)
			txn_parts_unstick(t->tw, m->e[i].tree); /* perhaps by a dead process */
		of[n] = i;
		e[n++] = m->e[i];
	}
	if (n > 0)
		*st = idx_tree_insert(t->tw->w, e, n, &t->counts);
	for (unsigned k = 0; k < n; k++)
		m->e[of[k]] = e[k];
	free(e);
	free(of);
	return n;
}

/* A partition that is being moved takes no entries meanwhile; a large one is moved for seconds on a
 * machine that is busy. */
static nam_status
insert_all(struct making *m)
{
	struct txn *t = m->t;
	struct net_backoff pause = { .base_ns = 1000000, .cap_ns = 20000000 };
	uint64_t until = 0;
	nam_status st = idx_tree_insert(t->tw->w, m->e, m->n, &t->counts), may;
	while (st == NAM_BUSY) {
		uint64_t now = net_now_ns(t->tw->w);
		if (until != 0 && now > until)
			break;
		if (until == 0)
			until = now + MOVED_NS;
		if ((may = txn_go_on(t)) != NAM_OK)
			return may;
		net_back_off(t->tw->w, &pause);
		if (insert_moved(m, &st) == 0)
			break;
	}
	return st == NAM_BUSY ? NAM_OK : st; /* as each entry says */
}

static nam_status
make(struct making *m)
{
	struct txn *t = m->t;
	nam_status st = insert_all(m);
	for (unsigned i = 0; i < m->n; i++) {
		nam_status is = m->e[i].status;
		if (is == NAM_OK)
			is = made(t, &m->e[i], IDX_TREE_WORDS);
		if (m->e[i].unique && (is == NAM_DUPLICATE || is == NAM_FULL))
			continue;
		if (is == NAM_BUSY)
			is = NAM_CONFLICT;
		if (is != NAM_OK && st == NAM_OK)
			st = is;
	}
	if (st == NAM_OK)
		st = make_alone(m);
	m->n = 0;
	if (st == NAM_OK)
		st = txn_between(t);
	/* An index that was dropped: the definition that t knows is not the table's any more. */
	return st == NAM_REFUSED ? NAM_CONFLICT : st;
}

bool
txn_order_strict(struct txn_table_view *v, unsigned k, const struct rec_slot *row)
{
	const struct txn_order *o = &v->order[k];
	if (!o->unique || o->lax == NULL)
		return o->unique;
	atomic_fetch_add(&v->asking, 1);
	bool is = !atomic_load(&v->dead) && !o->lax(o, row->payload, (uint32_t)row->meta);
	atomic_fetch_sub(&v->asking, 1);
	return is;
}

/* The entries of one write, into m. Also finds out which keys the row leaves, because the version
 * may be gone when the commit has been answered. */
static nam_status
enter(struct making *m, struct txn_write *w)
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
		/* A live row had this key before: its entry is there (O1). A deletion may have
		 * another key than the row had. */
		if (!has || deleted || (same && w->kind != WR_INSERT))
			continue;
		m->view[m->n] = v;
		m->order[m->n] = k;
		m->e[m->n++] = (struct idx_tree_entry){ .tree = v->tree[k],
			.key = key,
			.value = w->at.bits,
			.unique = txn_order_strict(v, k, w->slot) };
		if (m->n == m->cap)
			st = make(m);
	}
	return st;
}

nam_status
txn_orders_enter(struct txn *t)
{
	uint64_t most = 0;
	nam_status st = NAM_OK;
	for (uint32_t i = 0; i < t->nwr && most < ENTRIES; i++)
		most += txn_writes(t->wr[i]) ? t->wr[i]->view->orders : 0;
	if (most == 0)
		return NAM_OK;
	struct making *m = making_of(t, most);
	if (m == NULL)
		return NAM_NOMEM;
	for (uint32_t i = 0; st == NAM_OK && i < t->nwr; i++)
		if (txn_writes(t->wr[i]) && t->wr[i]->view->orders > 0)
			st = enter(m, t->wr[i]);
	return st == NAM_OK && m->n > 0 ? make(m) : st;
}

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

static bool
take_out_all(struct txn *t, struct idx_tree_entry *e, unsigned n)
{
	if (!out_all(t->tw, e, n, NULL, &t->counts))
		return false;
	txn_give_way(t->tw);
	return true;
}

bool
txn_orders_leave(struct txn *t)
{
	struct idx_tree_entry e[REMOVES];
	unsigned n = 0;
	bool out = true;
	for (uint32_t i = 0; out && i < t->nentries; i++) {
		struct txn_entry *x = &t->entry[i];
		if (still_locked(t, x->value))
			e[n++] = (struct idx_tree_entry){ .tree = x->tree, .key = x->key, .value = x->value };
		if (n == REMOVES || i + 1 == t->nentries) {
			out = take_out_all(t, e, n) && !txn_out_of_time(t);
			n = 0;
		}
	}
	t->nentries = 0;
	return out;
}

/* ---- an index that its table gets later ---- */

/* The keys that w's row had in the indexes there are now. */
static struct txn_keys *
keys_become(struct txn *t, const struct txn_write *w, const struct txn_table_view *was,
    const struct txn_table_view *is)
{
	struct txn_keys *k = nam_arena_zero(&t->arena, (is->orders + 1) * sizeof *k);
	for (unsigned i = 0; k != NULL && w->keys != NULL && i < is->orders; i++)
		for (unsigned j = 0; j < was->orders; j++)
			if (was->tree[j] == is->tree[i])
				k[i] = w->keys[j];
	return k;
}

nam_status
txn_table_becomes(struct txn *t, const struct txn_table *was, struct txn_table *is)
{
	txn_own_keys_forget(t, was->view);
	for (uint32_t i = 0; i < t->nwr; i++) {
		struct txn_write *w = t->wr[i];
		if (w->view != was->view)
			continue;
		/* A lock alone has no keys yet. */
		if (w->kind != WR_LOCK && (w->kind != WR_INSERT || w->keys != NULL) &&
		    (w->keys = keys_become(t, w, was->view, is->view)) == NULL)
			return NAM_NOMEM;
		w->table = is;
		w->view = is->view;
	}
	return NAM_OK;
}

nam_status
txn_order_fill(struct txn *t, struct txn_table *table, unsigned order, const struct txn_row *rows, unsigned n)
{
	enum { FILL = 128 };
	struct fill {
		struct idx_tree_entry e[FILL];
		uint64_t key[FILL][IDX_TREE_WORDS];
	} *f = calloc(1, sizeof *f);
	struct txn_table_view *v = table->view;
	nam_status st = f != NULL ? NAM_OK : NAM_NOMEM;
	for (unsigned at = 0; st == NAM_OK && at < n;) {
		unsigned m = 0;
		for (; st == NAM_OK && at < n && m < FILL; at++) {
			bool has;
			if (rows[at].cid == 0)
				continue; /* its own: the commit makes its entry */
			memset(f->key[m], 0, sizeof f->key[m]);
			st = txn_order_key(t->tw, t, v, order, rows[at].bytes, rows[at].len, f->key[m], &has);
			if (st == NAM_OK && has) {
				f->e[m] = (struct idx_tree_entry){
					.tree = v->tree[order], .key = f->key[m], .value = rows[at].at.bits
				};
				m++;
			}
		}
		if (st == NAM_OK && m > 0)
			st = idx_tree_insert(t->tw->w, f->e, m, &t->counts);
		for (unsigned i = 0; st == NAM_OK && i < m; i++)
			st = f->e[i].status;
	}
	free(f);
	return st;
}

/* ---- entries that are not needed any more ---- */

void
txn_key_junk(struct txn_worker *tw, struct txn_table_view *v, unsigned i, const uint64_t *key, net_addr at,
    tso_cid cid)
{
	struct txn_old_key *k = calloc(1, sizeof *k);
	if (k == NULL)
		return; /* the entry leads nowhere; a scan finds it */
	k->tree = v->tree_name[i];
	memcpy(k->key, key, 8u * v->order[i].words);
	txn_junk_add(
	    tw, (struct txn_junk){
		    .cid = cid, .kind = JUNK_KEY, .stock = v->stock, .at = at, .aux = (uintptr_t)k });
}

/* The keys that t's rows have left: of versions that it replaced, also of a deletion. The entries
 * of the key that a deleted row has are removed with its block. */
void
txn_orders_junk(struct txn *t)
{
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

bool
txn_key_needed(struct txn_worker *tw, struct txn_table_view *v, const struct rec_block *img, net_addr at,
    unsigned order, const uint64_t *key, bool *later)
{
	uint64_t watermark = tso_watermark(tw->db->tso), shown = 0;
	*later = false;
	for (unsigned s = 0; s < v->slots; s++) {
		uint64_t c = rec_cid(img, s);
		if (c <= watermark && c > shown)
			shown = c; /* the oldest version that a snapshot shows */
	}
	bool any = false;
	for (unsigned s = 0; s < v->slots; s++) {
		uint64_t c = rec_cid(img, s);
		const struct rec_slot *row = rec_slot_of(v, img, s);
		if (c == 0 || c < shown)
			continue;
		any = true;
		bool is = false;
		if (!txn_rec_slot_whole(v, row, c, at) ||
		    (!(row->meta & REC_DELETED) && txn_order_key_is(tw, NULL, v, order, row->payload,
						       (uint32_t)row->meta, key, &is) != NAM_OK)) {
			*later = true;
			return false;
		}
		if (is)
			return true;
	}
	*later = any && shown == 0;
	return false;
}
