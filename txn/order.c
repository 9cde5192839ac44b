/*
 * order.c -- the ordered indexes of a table: their trees, their keys, and the rules by which
 * entries come (entries.c) and go (reap.c).
 *
 * An entry (key, block) is a hint: a row is found by it if the version that is visible has that
 * key. What has to hold:
 *
 *   O1  While a version with a key can be visible to any snapshot, the entry (key, its block) is
 *       there. It is made with its block locked and before the commit line; a SERIALIZABLE commit
 *       makes it also before it claims its CID, so that a validation that missed the entry belongs
 *       to an older transaction.
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
