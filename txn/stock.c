/*
 * stock.c -- what a process keeps of a table, from its first view to the end of the last coroutine
 * that can come to it.
 *
 * A definition of a table is a view, and ALTER makes another. The memory at hand, the index, the
 * trees with their caches and a sweep belong to the table: to its stock, which all of its views
 * share. So a change of the definition leaves none of that behind, and garbage names the stock, not
 * the view that it arose under: a collector asks the view that is settled then.
 *
 * No turn of a worker looks at all tables. It looks at lists of what is due (txn_due), at the
 * worker's own list of memory at hand (txn_alloc.listed), and at what was closed.
 *
 * When is a closed view freed? It was known to coroutines that had a pin then: through the catalog,
 * or through stock->view. Such a pin is at or below the prefix of that moment, so when the
 * watermark has passed that prefix none of them is left. What uses a view across pins holds it
 * (`held`). A stock goes when no view is in memory, none borrows its trees, it is on no list and in
 * no coroutine's hand (`uses`), and no worker has it in its list or in its garbage: a worker takes
 * a closed stock off its list itself.
 */
#include "txn_internal.h"

#include <sched.h>
#include <stdlib.h>

enum { TEND_MOST = 32, STOCKS_FIRST = 64 };

/* ---- the table of stocks; under lock ---- */

static struct txn_stock **
chain_of(struct txn_db *db, uint32_t table)
{
	return &db->stock[nam_mix(table) & (db->stocks_cap - 1)];
}

static struct txn_stock *
find_locked(struct txn_db *db, uint32_t table, net_addr anchor)
{
	if (db->stocks == 0)
		return NULL;
	struct txn_stock *k = *chain_of(db, table);
	while (k != NULL && (k->table != table || (anchor.bits != 0 && k->anchor.bits != anchor.bits)))
		k = k->same;
	return k;
}

static bool
add_locked(struct txn_db *db, struct txn_stock *k)
{
	if (db->stocks == db->stocks_cap) {
		uint32_t cap = db->stocks_cap != 0 ? 2 * db->stocks_cap : STOCKS_FIRST;
		struct txn_stock **was = db->stock, **now = calloc(cap, sizeof(struct txn_stock *));
		uint32_t n = db->stocks_cap;
		if (now == NULL)
			return false;
		db->stock = now;
		db->stocks_cap = cap;
		for (uint32_t i = 0; i < n; i++)
			for (struct txn_stock *x = was[i], *same; x != NULL; x = same) {
				struct txn_stock **to = chain_of(db, x->table);
				same = x->same;
				x->same = *to;
				*to = x;
			}
		free(was);
	}
	struct txn_stock **to = chain_of(db, k->table);
	k->same = *to;
	*to = k;
	db->stocks++;
	return true;
}

static void
use_locked(struct txn_stock *k)
{
	struct txn_db *db = k->db;
	if (k->uses++ > 0 || (k->prev == NULL && db->unused != k))
		return;
	*(k->prev != NULL ? &k->prev->next : &db->unused) = k->next;
	if (k->next != NULL)
		k->next->prev = k->prev;
	k->prev = k->next = NULL;
	atomic_fetch_sub(&db->left, 1);
}

static void
leave_locked(struct txn_stock *k)
{
	struct txn_db *db = k->db;
	NAM_ASSERT(k->uses > 0);
	if (--k->uses > 0)
		return;
	k->next = db->unused;
	if (k->next != NULL)
		k->next->prev = k;
	db->unused = k;
	atomic_fetch_add(&db->left, 1);
}

void
txn_stock_use(struct txn_stock *k)
{
	pthread_mutex_lock(&k->db->lock);
	use_locked(k);
	pthread_mutex_unlock(&k->db->lock);
}

void
txn_stock_leave(struct txn_stock *k)
{
	pthread_mutex_lock(&k->db->lock);
	leave_locked(k);
	pthread_mutex_unlock(&k->db->lock);
}

/* ---- opening and closing ---- */

nam_status
txn_index_memory(void *stock, struct net_worker *w, net_addr *out)
{
	return txn_extents_take(
	    stock, w, 1, TXN_LEDGER_INDEX, (unsigned)nam_rng_below(net_rng(w), 64), true, out, NULL);
}

static nam_status
index_now(void *stock, struct net_worker *w, uint64_t *stamp)
{
	return tso_bound(((struct txn_stock *)stock)->db->tso, w, stamp);
}

static bool
index_passed(void *stock, struct net_worker *w, uint64_t stamp)
{
	(void)w;
	return tso_bound_passed(((struct txn_stock *)stock)->db->tso, stamp);
}

/* The resize lock names its owner as lock words do, so that a process which finds it held can tell
 * whether the owner is dead. No coroutine of this process uses the index when the slot changes. */
static void
set_owner(struct txn_stock *k)
{
	if (k->index != NULL)
		idx_hash_set_owner(k->index,
		    txn_lock_word(tso_owner(k->db->tso), tso_epoch(k->db->tso), TXN_INTENT_INDEX, 0));
	txn_parts_owner(k);
}

static struct txn_stock *
stock_new(const struct txn_table_view *v)
{
	struct txn_db *db = v->db;
	struct txn_stock *k = calloc(1, sizeof *k);
	if (k == NULL)
		return NULL;
	k->db = db;
	k->table = v->table;
	k->anchor = v->anchor;
	k->archive_bytes = v->archive_bytes;
	k->block_bytes = v->block_bytes;
	k->vital = v->vital;
	if (!v->has_key)
		return k;
	struct idx_memory mem = { .take = txn_index_memory, .arg = k, .region_max = db->region_max };
	if ((k->index = idx_hash_open(net_plus(v->anchor, TXN_ANCHOR_INDEX), &mem)) == NULL) {
		free(k);
		return NULL;
	}
	idx_hash_set_reclaim(k->index, &(struct idx_reclaim){ index_now, index_passed, k });
	set_owner(k);
	return k;
}

static void
stock_free(struct txn_stock *k)
{
	for (unsigned i = 0; i < TXN_ORDERS; i++)
		idx_tree_close(k->tree[i]);
	if (k->index != NULL)
		idx_hash_close(k->index);
	for (unsigned i = 0; i < TXN_WORKERS_MAX; i++)
		txn_alloc_free(atomic_load(&k->alloc[i]));
	free(k);
}

nam_status
txn_stock_enter(struct txn_table_view *v)
{
	struct txn_db *db = v->db;
	pthread_mutex_lock(&db->lock);
	struct txn_stock *k = find_locked(db, v->table, v->anchor);
	if (k == NULL && (k = stock_new(v)) != NULL && !add_locked(db, k)) {
		stock_free(k);
		k = NULL;
	}
	if (k != NULL) {
		use_locked(k);
		v->stock = k;
		v->index = k->index;
	}
	pthread_mutex_unlock(&db->lock);
	return k != NULL ? NAM_OK : NAM_NOMEM;
}

bool
txn_stock_tree(struct txn_table_view *v, unsigned i, struct txn_stock *owner, unsigned number,
    net_addr anchor, const struct idx_tree_memory *mem, const struct idx_tree_options *how)
{
	struct txn_db *db = v->db;
	pthread_mutex_lock(&db->lock);
	if (owner->tree[number] == NULL) {
		owner->tree[number] = idx_tree_open(anchor, v->order[i].words, mem, how);
		txn_parts_owner(owner);
	}
	v->tree[i] = owner->tree[number];
	if (v->tree[i] != NULL) {
		v->orders = i + 1;
		if (owner != v->stock) {
			v->lender[i] = owner;
			use_locked(owner);
		}
	}
	pthread_mutex_unlock(&db->lock);
	return v->tree[i] != NULL;
}

/* Frees a view that is in no list. */
static void
view_free_locked(struct txn_table_view *v)
{
	for (unsigned i = 0; i < v->orders; i++)
		if (v->lender[i] != NULL)
			leave_locked(v->lender[i]);
	leave_locked(v->stock);
	free(v);
}

void
txn_stock_back(struct txn_table_view *v)
{
	struct txn_db *db = v->db;
	pthread_mutex_lock(&db->lock);
	view_free_locked(v);
	pthread_mutex_unlock(&db->lock);
}

/* The view that collectors ask: the newest that is committed, else the newest. */
static void
choose_locked(struct txn_stock *k)
{
	struct txn_table_view *newest = k->views, *v;
	while (newest != NULL && newest->undone)
		newest = newest->next;
	for (v = newest; v != NULL && (!v->settled || v->undone);)
		v = v->next;
	v = v != NULL ? v : newest != NULL ? newest : k->views;
	atomic_store(&k->changing, newest != NULL && v != newest);
	atomic_store(&k->view, v);
}

void
txn_stock_publish(struct txn_table_view *v, bool settled)
{
	struct txn_stock *k = v->stock;
	pthread_mutex_lock(&k->db->lock);
	v->settled = settled;
	v->next = k->views;
	k->views = v;
	choose_locked(k);
	pthread_mutex_unlock(&k->db->lock);
}

void
txn_stock_settle(struct txn_table_view *v, bool committed)
{
	struct txn_stock *k = v->stock;
	pthread_mutex_lock(&k->db->lock);
	v->settled = committed;
	v->undone = !committed;
	choose_locked(k);
	pthread_mutex_unlock(&k->db->lock);
}

void
txn_stock_close(struct txn_table_view *v)
{
	struct txn_db *db = v->db;
	struct txn_stock *k = v->stock;
	pthread_mutex_lock(&db->lock);
	struct txn_table_view **link = &k->views;
	while (*link != v)
		link = &(*link)->next;
	*link = v->next;
	choose_locked(k);
	atomic_store(&v->dead, true);
	v->next = NULL;
	v->closed = tso_prefix(db->tso) + 1;
	*(db->closed != NULL ? db->closed_end : &db->closed) = v;
	db->closed_end = &v->next;
	atomic_fetch_add(&db->left, 1);
	pthread_mutex_unlock(&db->lock);
	/* The owner may be freed once we return; a callback never parks. */
	while (atomic_load(&v->asking) > 0)
		sched_yield();
}

struct txn_table_view *
txn_ask(struct txn_stock *k)
{
	struct txn_table_view *v;
	while ((v = atomic_load(&k->view)) != NULL) {
		atomic_fetch_add(&v->asking, 1);
		if (!atomic_load(&v->dead))
			return v;
		atomic_fetch_sub(&v->asking, 1); /* another one is there, or none */
	}
	return NULL;
}

/* ---- the end ---- */

static bool
is_left(const struct txn_db *db, const struct txn_stock *k)
{
	unsigned workers = atomic_load(&db->workers);
	for (unsigned i = 0; i < workers && i < TXN_WORKERS_MAX; i++) {
		const struct txn_alloc *a = atomic_load(&k->alloc[i]);
		if (a != NULL && (atomic_load(&a->listed) || atomic_load(&a->junk) > 0))
			return false;
	}
	return true;
}

static void
stock_take_out_locked(struct txn_db *db, struct txn_stock *k)
{
	struct txn_stock **link = chain_of(db, k->table);
	while (*link != k)
		link = &(*link)->same;
	*link = k->same;
	db->stocks--;
	use_locked(k);
}

void
txn_stocks_tend(struct txn_worker *tw)
{
	struct txn_db *db = tw->db;
	struct txn_stock *out = NULL, *k, *next;
	if (atomic_load_explicit(&db->left, memory_order_relaxed) == 0 ||
	    pthread_mutex_trylock(&db->lock) != 0)
		return;
	tso_cid watermark = tso_watermark(db->tso);
	struct txn_table_view *v;
	for (unsigned n = 0; n < TEND_MOST && (v = db->closed) != NULL && v->closed <= watermark; n++) {
		if ((db->closed = v->next) == NULL)
			db->closed_end = &db->closed;
		if (atomic_load(&v->held) > 0) {
			v->next = NULL;
			*db->closed_end = v;
			db->closed_end = &v->next;
			continue;
		}
		atomic_fetch_sub(&db->left, 1);
		view_free_locked(v);
	}
	k = db->unused;
	for (unsigned n = 0; n < TEND_MOST && k != NULL; n++, k = next) {
		next = k->next;
		if (!is_left(db, k))
			continue;
		stock_take_out_locked(db, k);
		k->next = out;
		out = k;
	}
	pthread_mutex_unlock(&db->lock);
	for (; out != NULL; out = next) {
		next = out->next;
		stock_free(out);
	}
}

void
txn_stocks_end(struct txn_db *db)
{
	for (struct txn_table_view *v = db->closed, *next; v != NULL; v = next) {
		next = v->next;
		free(v);
	}
	for (uint32_t i = 0; i < db->stocks_cap; i++)
		for (struct txn_stock *k = db->stock[i], *same; k != NULL; k = same) {
			same = k->same;
			for (struct txn_table_view *v = k->views, *next; v != NULL; v = next) {
				next = v->next;
				free(v);
			}
			stock_free(k);
		}
	free(db->stock);
}

/* ---- all that are open, and those with something to do ---- */

struct txn_stock *
txn_stock_of(struct txn_db *db, uint32_t table)
{
	pthread_mutex_lock(&db->lock);
	struct txn_stock *k = find_locked(db, table, (net_addr){ 0 });
	if (k != NULL)
		use_locked(k);
	pthread_mutex_unlock(&db->lock);
	return k;
}

bool
txn_stocks_open(struct txn_db *db, struct txn_stock ***out, unsigned *n)
{
	*n = 0;
	pthread_mutex_lock(&db->lock);
	*out = malloc((db->stocks + 1) * sizeof(struct txn_stock *));
	for (uint32_t i = 0; *out != NULL && i < db->stocks_cap; i++)
		for (struct txn_stock *k = db->stock[i]; k != NULL; k = k->same)
			if (atomic_load(&k->view) != NULL) {
				use_locked(k);
				(*out)[(*n)++] = k;
			}
	pthread_mutex_unlock(&db->lock);
	return *out != NULL;
}

void
txn_stocks_owner(struct txn_db *db)
{
	pthread_mutex_lock(&db->lock);
	for (uint32_t i = 0; i < db->stocks_cap; i++)
		for (struct txn_stock *k = db->stock[i]; k != NULL; k = k->same)
			set_owner(k);
	pthread_mutex_unlock(&db->lock);
}

unsigned
txn_stocks_kept(struct txn_db *db)
{
	pthread_mutex_lock(&db->lock);
	unsigned n = db->stocks;
	for (uint32_t i = 0; i < db->stocks_cap; i++)
		for (struct txn_stock *k = db->stock[i]; k != NULL; k = k->same)
			for (struct txn_table_view *v = k->views; v != NULL; v = v->next)
				n++;
	for (struct txn_table_view *v = db->closed; v != NULL; v = v->next)
		n++;
	pthread_mutex_unlock(&db->lock);
	return n;
}

void
txn_due_add(struct txn_stock *k, enum txn_due which)
{
	struct txn_db *db = k->db;
	pthread_mutex_lock(&db->lock);
	if (!k->is_due[which]) {
		k->is_due[which] = true;
		k->due[which] = db->due[which];
		db->due[which] = k;
		atomic_fetch_add(&db->dues[which], 1);
		use_locked(k);
	}
	pthread_mutex_unlock(&db->lock);
}

void
txn_due_off(struct txn_stock *k, enum txn_due which)
{
	struct txn_db *db = k->db;
	pthread_mutex_lock(&db->lock);
	if (k->is_due[which]) {
		struct txn_stock **link = &db->due[which];
		while (*link != k)
			link = &(*link)->due[which];
		*link = k->due[which];
		k->is_due[which] = false;
		atomic_fetch_sub(&db->dues[which], 1);
		leave_locked(k);
	}
	pthread_mutex_unlock(&db->lock);
}

struct txn_stock *
txn_due_next(struct txn_db *db, enum txn_due which, struct txn_stock *last)
{
	if (last == NULL && atomic_load_explicit(&db->dues[which], memory_order_relaxed) == 0)
		return NULL;
	pthread_mutex_lock(&db->lock);
	/* If `last` has left the list meanwhile, the rest comes in another turn. */
	struct txn_stock *k = last == NULL ? db->due[which] : last->is_due[which] ? last->due[which] : NULL;
	if (k != NULL)
		use_locked(k);
	if (last != NULL)
		leave_locked(last);
	pthread_mutex_unlock(&db->lock);
	return k;
}
