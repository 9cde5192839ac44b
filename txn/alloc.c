/*
 * alloc.c -- memory for blocks, archives and blobs: cut from extents, used again, taken from the
 * table's lists.
 *
 * No other process knows what a worker has at hand. So when a process has died, another sweeps the
 * table (reclaim.c). From then on the memory that all workers have at hand is void: the sweep finds
 * it as well. A process that takes memory, or gives any back, must have looked at the anchor since
 * the last sweep was noted (README, "Memory of crashed processes").
 */
#include "txn_internal.h"

#include <base/fault.h>

#include <stdlib.h>
#include <string.h>

enum { LOOK_NS = 5000000, RESTS_TRIED = 16, PORTIONS_TRIED = 8, PARTIALS = 4 };

static net_addr
head_at(const struct txn_table_view *v, size_t offset)
{
	return net_plus(v->anchor, offset);
}

static uint64_t
extent_of(uint64_t at)
{
	return at & ~(uint64_t)(NET_EXTENT - 1);
}

bool
txn_free_push(struct txn_free *f, uint64_t x)
{
	if (!txn_grow((void **)&f->item, f->n, &f->cap, sizeof *f->item))
		return false; /* the memory is lost until the next sweep, which is better than to
			       * stop the process */
	f->item[f->n++] = x;
	return true;
}

bool
txn_stretch_push(struct txn_stretches *s, uint64_t at, uint64_t end)
{
	if (at >= end)
		return true;
	if (!txn_grow((void **)&s->item, s->n, &s->cap, sizeof *s->item))
		return false;
	s->item[s->n++] = (struct txn_stretch){ at, end };
	return true;
}

/* The table, not the view alone. */
static bool
is_closed(const struct txn_table_view *v)
{
	return atomic_load_explicit(&v->stock->view, memory_order_relaxed) == NULL;
}

/* ---- the anchor, as last seen ---- */

static void
make_void(struct txn_alloc *a)
{
	memset(a->block, 0, sizeof a->block);
	a->aux = (struct txn_stretch){ 0, 0 };
	a->spare.n = a->rest.n = a->blocks.n = a->archives.n = a->block_tree.n = a->rest_tree.n = a->wholes =
	    0;
	for (unsigned c = 0; c < TXN_BLOB_CLASSES; c++)
		a->blob[c].n = 0;
	a->nold = a->namid = 0;
	a->old_known = false;
}

void
txn_lists_free(struct txn_alloc *a)
{
	free(a->spare.item);
	free(a->rest.item);
	free(a->blocks.item);
	free(a->archives.item);
	for (unsigned c = 0; c < TXN_BLOB_CLASSES; c++)
		free(a->blob[c].item);
	free(a->block_tree.item);
	free(a->rest_tree.item);
	a->spare = a->rest = (struct txn_stretches){ 0 };
	a->blocks = a->archives = a->block_tree = a->rest_tree = (struct txn_free){ 0 };
	memset(a->blob, 0, sizeof a->blob);
	free(a->old);
	free(a->amid);
	a->old = a->amid = NULL;
	a->nold = a->namid = 0;
	a->old_known = false;
}

void
txn_alloc_void(struct txn_alloc *a)
{
	make_void(a);
	txn_lists_free(a);
	a->looked = false;
}

/* Those that are not listed have nothing at hand. */
void
txn_allocs_forget(struct txn_worker *tw)
{
	for (struct txn_alloc *a = tw->allocs; a != NULL; a = a->next) {
		make_void(a);
		a->looked = false;
	}
}

nam_status
txn_sweeper_take(struct txn_worker *tw, net_addr anchor, uint64_t is, uint64_t *lock)
{
	bool ended = true;
	uint64_t seen;
	nam_status st = NAM_OK;
	if (is != 0)
		st = tso_ended(tw->tso, txn_lock_owner(is), txn_lock_epoch(is), &ended);
	if (st != NAM_OK || !ended)
		return st != NAM_OK ? st : NAM_BUSY;
	*lock = txn_gc_lock(tw);
	st = txn_sure_cas(tw, net_plus(anchor, offsetof(struct txn_anchor, sweeper)), is, *lock, &seen);
	return st == NAM_OK && seen != is ? NAM_BUSY : st;
}

/* READs the anchor, and READs it again if `sweep` has changed: so the fields beside `sweep` are no
 * older than it. */
static nam_status
read_anchor(struct txn_worker *tw, struct txn_stock *k, const struct txn_alloc *a, struct txn_anchor *an,
    uint64_t *deaths)
{
	struct net_op op[2];
	struct net_batch b;
	uint64_t last = a->sweep;
	bool sure = a->looked;
	for (;;) {
		net_batch_init(&b, tw->w, op, 2, NULL);
		net_read(&b, k->anchor, an, sizeof *an);
		net_read(&b, tw->db->deaths, deaths, sizeof *deaths);
		nam_status st = net_run(&b);
		if (st != NAM_OK)
			return st;
		if (an->magic != TXN_ANCHOR_MAGIC || an->table != k->table)
			return NAM_ABSENT; /* dropped meanwhile */
		if (sure && an->sweep == last)
			return NAM_OK;
		last = an->sweep;
		sure = true;
	}
}

/* CIDs noted for a change of memory: deaths, sweeps (memory notes) and dropped tables (the
 * catalog's notes). */
static uint64_t
noted_so_far(const struct txn_db *db)
{
	uint64_t memory = tso_noted_memory(db->tso), catalog = tso_noted(db->tso);
	return memory > catalog ? memory : catalog;
}

/* Whether the caller takes memory. ALL: memory is wanted, so every sweep that is due begins now. */
enum txn_taking { TAKING_NOT, TAKING, TAKING_ALL };

/* A process that has just joined may leave before a sweep ends, and a sweep whose process dies has
 * to be begun again. */
bool
txn_may_sweep(struct txn_worker *tw)
{
	return net_now_ns(tw->w) - tw->db->since_ns >= tso_lease_ns(tw->db->tso);
}

static void
set_sweeper(struct txn_stock *k, uint64_t lock)
{
	atomic_store(&k->sweeper, lock);
	txn_due_add(k, TXN_DUE_SWEEP);
}

/* taking: in a transaction, whose snapshot keeps the table. If a sweep is due and no process has
 * the lock, takes the lock. */
static nam_status
look(struct txn_worker *tw, struct txn_stock *k, struct txn_alloc *a, enum txn_taking taking)
{
	struct txn_db *db = tw->db;
	struct txn_anchor an;
	uint64_t noted = noted_so_far(db), deaths, lock;
	nam_status st = read_anchor(tw, k, a, &an, &deaths);
	if (st != NAM_OK)
		return st;
	/* Another coroutine may have READ the anchor later and have returned earlier. */
	if (!a->looked || an.sweep > a->sweep) {
		if (txn_generation(an.sweep) != txn_generation(a->sweep))
			make_void(a);
		a->sweep = an.sweep;
		a->horizon = an.horizon;
		a->before = an.before;
		a->looked = true;
	}
	if (noted > a->noted)
		a->noted = noted;
	a->look_at = net_now_ns(tw->w) + LOOK_NS;
	a->round = tw->round;
	a->due = an.swept < deaths && !db->bystander;
	atomic_store(&k->swept, an.swept);
	if (taking)
		a->due_at = a->look_at;
	if (taking && a->due && atomic_load(&k->sweeper) == 0 && !tw->leaving &&
	    (taking == TAKING_ALL || txn_may_sweep(tw))) {
		if (txn_sweeper_take(tw, k->anchor, an.sweeper, &lock) == NAM_OK)
			set_sweeper(k, lock);
	}
	return NAM_OK;
}

static struct txn_alloc *
alloc_of(struct txn_worker *tw, struct txn_stock *k)
{
	struct txn_alloc *a = atomic_load_explicit(&k->alloc[tw->number], memory_order_relaxed);
	if (a == NULL) {
		if ((a = calloc(1, sizeof *a)) == NULL)
			return NULL;
		a->stock = k;
		a->region = tw->rr; /* random: workers begin at different nodes */
		atomic_store(&k->alloc[tw->number], a);
	}
	if (!atomic_load_explicit(&a->listed, memory_order_relaxed)) {
		a->prev = NULL;
		a->next = tw->allocs;
		if (a->next != NULL)
			a->next->prev = a;
		tw->allocs = a;
		a->quiet = 0;
		atomic_store(&a->listed, true);
	}
	return a;
}

struct txn_alloc *
txn_alloc_of(struct txn_worker *tw, struct txn_stock *k)
{
	return alloc_of(tw, k);
}

void
txn_alloc_unlist(struct txn_worker *tw, struct txn_alloc *a)
{
	*(a->prev != NULL ? &a->prev->next : &tw->allocs) = a->next;
	if (a->next != NULL)
		a->next->prev = a->prev;
	txn_alloc_void(a);
	atomic_store(&a->listed, false); /* last: the stock may go now */
}

nam_status
txn_alloc_ready(struct txn_worker *tw, struct txn_table_view *v, bool taking, struct txn_alloc **out)
{
	struct txn_alloc *a = alloc_of(tw, v->stock);
	*out = a;
	if (a == NULL)
		return NAM_NOMEM;
	bool due = taking && a->due && net_now_ns(tw->w) >= a->due_at;
	return a->looked && !due && a->noted == noted_so_far(tw->db)
		   ? NAM_OK
		   : look(tw, v->stock, a, taking ? TAKING : TAKING_NOT);
}

nam_status
txn_alloc_look(struct txn_worker *tw, struct txn_stock *k, struct txn_alloc **out)
{
	struct txn_alloc *a = alloc_of(tw, k);
	*out = a;
	return a == NULL ? NAM_NOMEM : look(tw, k, a, TAKING_NOT);
}

void
txn_alloc_sweep(struct txn_worker *tw, struct txn_stock *k)
{
	struct txn_alloc *a = alloc_of(tw, k);
	if (a != NULL)
		(void)look(tw, k, a, TAKING_ALL);
}

/* ---- what may be given back ---- */

static int
by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static bool
is_in(uint64_t ext, const uint64_t *list, uint32_t n)
{
	return n > 0 && bsearch(&ext, list, n, sizeof *list, by_address) != NULL;
}

/* The `sweep` values at which the extents for archives and blobs were taken. Those of extents taken
 * before the end of a sweep do not change any more. */
static nam_status
know_old(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a)
{
	uint64_t generation = txn_generation(a->sweep), *old = NULL, *amid = NULL;
	uint32_t nold = 0, namid = 0, cap = 0, amid_cap = 0;
	if (a->old_known)
		return NAM_OK;
	nam_status st = NAM_OK;
	if (generation > 0)
		st = txn_ledger_taken(v->stock, tw->w, 0, 2 * generation - 1, &old, &nold, &cap);
	if (st == NAM_OK && generation > 0)
		st = txn_ledger_taken(
		    v->stock, tw->w, 2 * generation - 1, 2 * generation, &amid, &namid, &amid_cap);
	if (st != NAM_OK || generation != txn_generation(a->sweep) || a->old_known) {
		free(old);
		free(amid);
		return st != NAM_OK || a->old_known ? st : NAM_BUSY;
	}
	free(a->old);
	free(a->amid);
	a->old = old;
	a->nold = nold;
	a->amid = amid;
	a->namid = namid;
	a->old_known = true;
	return NAM_OK;
}

/*
 * True if the garbage arose at or before this horizon. For garbage that a block named, aux is the
 * CID of a commit: at that CID no version names it any more. An archive, or a blob that no block
 * ever named, was left under a snapshot, which may equal the horizon.
 */
static bool
is_before(const struct txn_junk *j, uint64_t horizon)
{
	bool named = j->kind == JUNK_BLOCK || (j->kind == JUNK_BLOB && j->aux != 0);
	return named ? j->cid <= horizon : j->cid < horizon;
}

/*
 * Garbage that is no younger than the last sweep's horizon: *found = that sweep, or an earlier one,
 * has found it.
 *
 * If its extent was taken while the sweep was under way, the sweep did not look at that extent:
 * only garbage older than the extent is of an earlier use of it (M5). If the extent was taken
 * later, or is not in the ledger, it went back to its node since, so a sweep had found the garbage.
 *
 * If the extent is older, the head of the block's extent says when the sweep looked. Garbage that
 * arose before is the sweep's, because no version named it. Garbage that arose later is given back
 * by this worker, because a version still named it. Every old archive, and every blob that no block
 * ever named, is the sweep's.
 */
static nam_status
is_found(
    struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a, const struct txn_junk *j, bool *yes)
{
	uint64_t generation = txn_generation(a->sweep), ext = extent_of(j->at.bits);
	uint64_t block = j->kind == JUNK_BLOB ? j->aux : j->at.bits;
	struct txn_extent e;
	nam_status st = NAM_OK;
	*yes = true;
	if (j->kind != JUNK_BLOCK) {
		st = know_old(tw, v, a);
		if (st == NAM_OK && is_in(ext, a->amid, a->namid)) {
			*yes = is_before(j, a->before);
			return NAM_OK;
		}
		if (st == NAM_OK && !is_in(ext, a->old, a->nold))
			*yes = !nam_fault(USED_AGAIN);
		if (st != NAM_OK || j->kind == JUNK_ARCHIVE || block == 0 || !is_in(ext, a->old, a->nold))
			return st;
	}
	st = net_read1(tw->w, (net_addr){ extent_of(block) }, &e, sizeof e, NULL);
	if (st == NAM_GONE && txn_node_ended(tw, (net_addr){ block }))
		return NAM_ABSENT;
	uint64_t horizon = nam_fault(ONE_HORIZON) ? a->horizon : e.horizon;
	*yes = st == NAM_OK && j->cid <= horizon && (j->kind == JUNK_BLOB || e.generation < generation);
	return st;
}

nam_status
txn_may_give(struct txn_worker *tw, struct txn_table_view *v, const struct txn_junk *j)
{
	struct txn_alloc *a;
	nam_status st = txn_alloc_ready(tw, v, false, &a);
	/* Once a round: the table may have been closed and given back before this round's pin was
	 * taken. */
	if (st == NAM_OK && a->round != tw->round && !nam_fault(DROP_UNWATCHED))
		st = look(tw, v->stock, a, TAKING_NOT);
	if (st == NAM_OK && (a->sweep & 1) && net_now_ns(tw->w) >= a->look_at)
		st = look(tw, v->stock, a, TAKING_NOT);
	if (st == NAM_GONE && txn_node_ended(tw, v->anchor))
		return NAM_ABSENT;
	if (st != NAM_OK)
		return st;
	if (a->sweep & 1)
		return NAM_BUSY;
	if ((j->kind != JUNK_ARCHIVE && j->kind != JUNK_BLOB && j->kind != JUNK_BLOCK) ||
	    !is_before(j, a->horizon))
		return NAM_OK;
	bool found;
	st = is_found(tw, v, a, j, &found);
	if (st == NAM_OK && (a->sweep & 1))
		return NAM_BUSY;
	if (st == NAM_GONE && txn_node_ended(tw, j->at))
		return NAM_ABSENT;
	return st == NAM_OK && found ? NAM_ABSENT : st;
}

/*
 * Memory that a transaction has taken and does not need: if it is not known whether a sweep has it,
 * the collector gives it back. It becomes garbage now: not before the horizon that the anchor had
 * when its extent was taken, and before that of a sweep that begins later.
 */
static bool
goes_to_collector(struct txn_worker *tw, struct txn_alloc *a, struct txn_junk j)
{
	if (a->looked && (a->sweep & 1) == 0)
		return false;
	uint64_t prefix = tso_prefix(tw->db->tso);
	j.cid = prefix > a->horizon ? prefix : a->horizon;
	txn_junk_add(tw, j);
	return true;
}

/* ---- lists: trees of cells that hang from the anchor ---- */

/* Takes the next cell of the tree, and puts its branches back into it. NAM_ABSENT: a sweep has
 * begun; the list is void. */
nam_status
txn_tree_pop(struct txn_worker *tw, struct txn_alloc *a, struct txn_free *tree, uint32_t offset, uint64_t *at,
    struct txn_free_cell *cell)
{
	uint64_t generation = txn_generation(a->sweep);
	*at = tree->item[--tree->n]; /* another coroutine must not take the same one */
	nam_status st = net_read1(tw->w, (net_addr){ *at + offset }, cell, sizeof *cell, NULL);
	if (st != NAM_OK)
		return st;
	if (generation != txn_generation(a->sweep))
		return NAM_ABSENT;
	if (cell->other != 0)
		txn_free_push(tree, cell->other);
	if (cell->next != 0)
		txn_free_push(tree, cell->next);
	return NAM_OK;
}

/*
 * Puts the rest of a list back at the anchor, if the list there is still empty; else the caller
 * keeps it. In doubt it is left to a sweep. True: the caller keeps it.
 */
static bool
not_back(struct txn_worker *tw, struct txn_table_view *v, size_t offset, uint64_t generation, uint64_t rest)
{
	uint64_t none = txn_list(generation, 0), seen;
	nam_status st = net_cas1(tw->w, head_at(v, offset), none, txn_list(generation, rest), &seen, NULL);
	return st == NAM_OK && seen != none;
}

/*
 * Takes the portion that was put on the list last: its first cell is *first, the others are in
 * *tree. So a process that dies soon after has one portion at hand, not the whole list. *first is 0
 * if there is none.
 */
static nam_status
portion_take(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a, size_t offset,
    uint64_t head, uint32_t cell_at, struct txn_free *tree, uint64_t *first, uint64_t *what)
{
	uint64_t generation = txn_generation(a->sweep), at = txn_list_at(head, generation), seen;
	struct txn_free_cell cell;
	*first = 0;
	if (at == 0)
		return NAM_OK;
	nam_status st = net_cas1(tw->w, head_at(v, offset), head, txn_list(generation, 0), &seen, NULL);
	if (st != NAM_OK || seen != head)
		return st;
	st = net_read1(tw->w, (net_addr){ at + cell_at }, &cell, sizeof cell, NULL);
	bool rest = st == NAM_OK && cell.other != 0 && not_back(tw, v, offset, generation, cell.other);
	if (st != NAM_OK || generation != txn_generation(a->sweep))
		return st;
	if (rest)
		txn_free_push(tree, cell.other);
	if (cell.next != 0)
		txn_free_push(tree, cell.next);
	*first = at;
	*what = cell.what;
	return NAM_OK;
}

/* Takes the half-used extents that other workers gave back. */
static nam_status
partial_take(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a, uint64_t head)
{
	uint64_t generation = txn_generation(a->sweep), at = txn_list_at(head, generation), seen;
	size_t offset = offsetof(struct txn_anchor, partial);
	if (at == 0)
		return NAM_OK;
	nam_status st = net_cas1(tw->w, head_at(v, offset), head, txn_list(generation, 0), &seen, NULL);
	if (st != NAM_OK || seen != head)
		return st;
	for (unsigned n = 0; at != 0; n++) {
		struct txn_extent e;
		if (n == PARTIALS && !not_back(tw, v, offset, generation, at))
			break;
		st = net_read1(tw->w, (net_addr){ at }, &e, sizeof e, NULL);
		if (st != NAM_OK || e.table != v->table || e.used < sizeof e || e.used > NET_EXTENT ||
		    generation != txn_generation(a->sweep))
			break;
		txn_stretch_push(
		    &a->spare, at + e.used, at + sizeof e + (uint64_t)v->per_extent * v->block_bytes);
		at = e.partial;
	}
	return st;
}

/* Which lists are taken from: emptied blocks and half-used extents, or the rests of archives and
 * blobs. */
enum adopting { BLOCKS, RESTS };

static nam_status
adopt(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a, enum adopting which)
{
	struct net_worker *w = tw->w;
	struct txn_anchor an;
	uint64_t first, what;
	/*
	 * Memory that a sweep has found is on the lists when its end is written. A worker that
	 * takes it must know of that end: garbage that arises during a sweep goes to the collector,
	 * which leaves memory of the old generation to that sweep, and this sweep has already given
	 * it out.
	 */
	nam_status st = (a->sweep & 1) ? look(tw, v->stock, a, false) : NAM_OK;
	if (st != NAM_OK || (a->sweep & 1))
		return st;
	st = net_read1(w, v->anchor, &an, sizeof an, NULL);
	if (st != NAM_OK)
		return st;
	if (an.magic != TXN_ANCHOR_MAGIC || an.table != v->table)
		return NAM_ABSENT;
	if (which == RESTS) {
		st = portion_take(
		    tw, v, a, offsetof(struct txn_anchor, rest), an.rest, 0, &a->rest_tree, &first, &what);
		if (st == NAM_OK && first != 0 && what <= NET_EXTENT)
			txn_stretch_push(&a->rest, first, first + what);
		return st;
	}
	st = portion_take(tw, v, a, offsetof(struct txn_anchor, free), an.free, v->head_bytes, &a->block_tree,
	    &first, &what);
	if (st == NAM_OK && first != 0 && txn_free_push(&a->blocks, first) &&
	    !txn_free_push(&a->blocks, what))
		a->blocks.n--;
	return st == NAM_OK && first == 0 ? partial_take(tw, v, a, an.partial) : st;
}

void
txn_rests_gather(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a, uint64_t until)
{
	uint64_t generation = txn_generation(a->sweep), head, seen;
	net_addr at = head_at(v, offsetof(struct txn_anchor, rest));
	nam_status st = NAM_OK;
	while ((st == NAM_OK || st == NAM_ABSENT) && (a->sweep & 1) == 0 &&
	       generation == txn_generation(a->sweep) && net_now_ns(tw->w) < until) {
		struct txn_free_cell cell;
		uint64_t from;
		if (a->rest_tree.n > 0) {
			st = txn_tree_pop(tw, a, &a->rest_tree, 0, &from, &cell);
			if (st == NAM_OK && cell.what <= NET_EXTENT)
				txn_stretch_push(&a->rest, from, from + cell.what);
			txn_give_way(tw);
			continue;
		}
		st = net_read1(tw->w, at, &head, sizeof head, NULL);
		if (st != NAM_OK || txn_list_at(head, generation) == 0)
			return;
		st = net_cas1(tw->w, at, head, txn_list(generation, 0), &seen, NULL);
		if (st == NAM_OK && seen == head && generation == txn_generation(a->sweep))
			txn_free_push(&a->rest_tree, txn_list_at(head, generation));
	}
}

/* ---- blocks ---- */

/* Workers that put extents on the list at once: dice, else each makes the others' CAS fail. */
enum { LIST_BASE_NS = 2000, LIST_CAP_NS = 256000 };

/* Puts extents on the table's list: each names the one behind it, the last one the list's first. */
static nam_status
extents_list(
    struct txn_worker *tw, struct txn_table_view *v, struct txn_extent *e, const net_addr *at, unsigned n)
{
	net_addr head = head_at(v, offsetof(struct txn_anchor, blocks));
	struct net_backoff pause = { .base_ns = LIST_BASE_NS, .cap_ns = LIST_CAP_NS, .dice = true };
	struct net_op op[TXN_CUTS];
	struct net_batch b;
	uint64_t seen;
	nam_status st = net_read1(tw->w, head, &e[n - 1].next, 8, NULL);
	net_batch_init(&b, tw->w, op, TXN_CUTS, NULL);
	for (unsigned i = 0; i + 1 < n; i++) {
		e[i].next = at[i + 1].bits;
		net_write(&b, at[i], &e[i], sizeof e[i]);
	}
	while (st == NAM_OK) {
		net_write(&b, at[n - 1], &e[n - 1], sizeof e[n - 1]);
		st = net_run(&b);
		if (st == NAM_OK)
			st = net_cas1(tw->w, head, e[n - 1].next, at[0].bits, &seen, NULL);
		if (st != NAM_OK || seen == e[n - 1].next)
			break;
		net_back_off(tw->w, &pause);
		st = net_read1(tw->w, head, &e[n - 1].next, 8, NULL);
	}
	return st;
}

/* Takes up to n extents of a region for blocks. kept: one from the reserve if no other memory is
 * left. */
static nam_status
new_extents(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a, unsigned region, unsigned n,
    bool kept)
{
	net_addr at[TXN_CUTS];
	struct txn_extent e[TXN_CUTS];
	unsigned got = 0;
	nam_status st = net_extents_take(tw->w, region, n, true, at, &got);
	if (st == NAM_FULL && got == 0 && kept &&
	    (st = txn_extent_kept(tw->db, tw->w, region, &at[0])) == NAM_OK)
		got = 1;
	if (got == 0)
		return st;
	uint64_t generation = txn_generation(a->sweep);
	for (unsigned i = 0; i < got; i++)
		e[i] = (struct txn_extent){ .table = v->table, .generation = generation };
	if ((st = extents_list(tw, v, e, at, got)) != NAM_OK)
		return st;
	/* If a sweep has begun meanwhile, that sweep finds the extents. */
	for (unsigned i = 0; i < got && generation == txn_generation(a->sweep); i++)
		txn_stretch_push(&a->spare, at[i].bits + sizeof e[i],
		    at[i].bits + sizeof e[i] + (uint64_t)v->per_extent * v->block_bytes);
	return NAM_OK;
}

/* Takes an emptied block, if there is one. */
static nam_status
used_block(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a, net_addr *at, uint64_t *word)
{
	if (a->blocks.n > 0) {
		*word = a->blocks.item[--a->blocks.n];
		at->bits = a->blocks.item[--a->blocks.n];
		return NAM_OK;
	}
	struct txn_free_cell cell;
	nam_status st = NAM_ABSENT;
	while (st == NAM_ABSENT && a->block_tree.n > 0)
		st = txn_tree_pop(tw, a, &a->block_tree, v->head_bytes, &at->bits, &cell);
	*word = cell.what;
	return st;
}

static nam_status
block_take(struct txn_worker *tw, struct txn_table_view *v, net_addr *at, uint64_t *word)
{
	struct txn_db *db = tw->db;
	struct txn_alloc *a;
	bool adopted = false;
	nam_status st = txn_alloc_ready(tw, v, true, &a);
	if (st != NAM_OK)
		return st;
	a->takes++;
	if ((st = used_block(tw, v, a, at, word)) != NAM_ABSENT)
		return st;
	st = NAM_FULL;
	for (unsigned i = 0; i < db->nregions; i++) {
		unsigned turn = tw->rr++, cuts = db->nregions < TXN_CUTS ? db->nregions : TXN_CUTS;
		struct txn_stretch *s = &a->block[turn % cuts];
		if (s->at == s->end && a->spare.n == 0 && !adopted) {
			adopted = true;
			if ((st = adopt(tw, v, a, BLOCKS)) != NAM_OK ||
			    (st = used_block(tw, v, a, at, word)) != NAM_ABSENT)
				return st;
		}
		if (s->at == s->end && a->spare.n == 0) {
			bool many = cuts < db->nregions;
			unsigned r = db->regions[(many ? a->region++ : turn) % db->nregions];
			st = new_extents(tw, v, a, r, many ? TXN_CUTS : 1, v->vital && i + 1 == db->nregions);
			if (st == NAM_GONE || st == NAM_FULL)
				continue;
			if (st != NAM_OK)
				return st;
			st = NAM_FULL; /* unless some has come to hand meanwhile */
		}
		if (s->at == s->end && a->spare.n > 0)
			*s = a->spare.item[--a->spare.n];
		if (s->at == s->end)
			continue;
		*at = (net_addr){ s->at };
		*word = 0;
		s->at += v->block_bytes;
		return NAM_OK;
	}
	return st;
}

nam_status
txn_block_take(struct txn_worker *tw, struct txn_table_view *v, net_addr *at, uint64_t *word)
{
	struct txn_want want = { 0 };
	nam_status st;
	do
		st = block_take(tw, v, at, word);
	while (st == NAM_FULL && txn_want(tw, &want));
	return st;
}

void
txn_block_give(struct txn_worker *tw, struct txn_table_view *v, net_addr at, uint64_t word)
{
	struct txn_alloc *a = alloc_of(tw, v->stock);
	if (a == NULL || is_closed(v) ||
	    goes_to_collector(
		tw, a, (struct txn_junk){ .kind = JUNK_BLOCK, .stock = v->stock, .at = at, .aux = word }))
		return;
	if (txn_free_push(&a->blocks, at.bits) && !txn_free_push(&a->blocks, word))
		a->blocks.n--;
}

/* ---- archives and blobs: carved from extents of the ledger ---- */

/* Makes a stretch that is long enough the one to cut from. */
static bool
use_rest(struct txn_alloc *a, uint32_t bytes)
{
	for (uint32_t i = a->rest.n; i > 0 && a->rest.n - i < RESTS_TRIED; i--) {
		struct txn_stretch s = a->rest.item[i - 1];
		if (s.end - s.at < bytes)
			continue;
		if (a->aux.at < a->aux.end)
			a->rest.item[i - 1] = a->aux;
		else
			a->rest.item[i - 1] = a->rest.item[--a->rest.n];
		a->aux = s;
		return true;
	}
	return false;
}

static nam_status
aux_cut(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a, uint32_t bytes, net_addr *at)
{
	unsigned adopted = 0;
	while (a->aux.end - a->aux.at < bytes && !use_rest(a, bytes)) {
		uint64_t generation = txn_generation(a->sweep);
		nam_status st = NAM_OK;
		if (a->rest_tree.n == 0 && adopted < PORTIONS_TRIED) {
			uint32_t had = a->rest.n;
			st = adopt(tw, v, a, RESTS);
			adopted = a->rest.n > had ? adopted + 1 : PORTIONS_TRIED;
		} else if (a->rest_tree.n > 0) {
			struct txn_free_cell cell;
			uint64_t from;
			st = txn_tree_pop(tw, a, &a->rest_tree, 0, &from, &cell);
			if (st == NAM_OK && cell.what <= NET_EXTENT)
				txn_stretch_push(&a->rest, from, from + cell.what);
			st = st == NAM_ABSENT ? NAM_OK : st;
		} else {
			net_addr ext;
			st = txn_extents_take(v->stock, tw->w, 1, a->sweep, tw->rr++, true, &ext, NULL);
			/* If a sweep has begun meanwhile, that sweep finds the extent. */
			if (st == NAM_OK && generation == txn_generation(a->sweep)) {
				txn_stretch_push(&a->rest, a->aux.at, a->aux.end);
				a->aux = (struct txn_stretch){ ext.bits, ext.bits + NET_EXTENT };
			}
		}
		if (st != NAM_OK)
			return st;
	}
	*at = (net_addr){ a->aux.at };
	a->aux.at += bytes;
	return NAM_OK;
}

static nam_status
aux_take(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a, uint32_t bytes, net_addr *at)
{
	struct txn_want want = { 0 };
	nam_status st;
	do
		st = aux_cut(tw, v, a, bytes, at);
	while (st == NAM_FULL && txn_want(tw, &want));
	return st;
}

nam_status
txn_whole_take(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a, net_addr *at)
{
	unsigned adopted = 0;
	for (unsigned pops = 0; pops <= RESTS_TRIED;) {
		for (uint32_t i = a->rest.n; i > 0 && a->rest.n - i < RESTS_TRIED; i--) {
			struct txn_stretch s = a->rest.item[i - 1];
			if (s.at != extent_of(s.at) || s.end - s.at != NET_EXTENT)
				continue;
			a->rest.item[i - 1] = a->rest.item[--a->rest.n];
			at->bits = s.at;
			return NAM_OK;
		}
		nam_status st = NAM_ABSENT;
		if (a->rest_tree.n > 0) {
			struct txn_free_cell cell;
			uint64_t from;
			pops++;
			st = txn_tree_pop(tw, a, &a->rest_tree, 0, &from, &cell);
			if (st == NAM_OK && cell.what <= NET_EXTENT)
				txn_stretch_push(&a->rest, from, from + cell.what);
			st = st == NAM_ABSENT ? NAM_OK : st;
		} else if (adopted < PORTIONS_TRIED) {
			uint32_t had = a->rest.n;
			st = adopt(tw, v, a, RESTS);
			adopted = a->rest.n > had ? adopted + 1 : PORTIONS_TRIED;
		}
		if (st != NAM_OK)
			return st;
	}
	return NAM_ABSENT;
}

nam_status
txn_archive_take(struct txn_worker *tw, struct txn_table_view *v, net_addr *at)
{
	struct txn_alloc *a;
	nam_status st = txn_alloc_ready(tw, v, true, &a);
	if (st != NAM_OK)
		return st;
	a->takes++;
	if (a->archives.n > 0) {
		at->bits = a->archives.item[--a->archives.n];
		return NAM_OK;
	}
	return aux_take(tw, v, a, v->archive_bytes, at);
}

void
txn_archive_give(struct txn_worker *tw, struct txn_table_view *v, net_addr at)
{
	struct txn_alloc *a = alloc_of(tw, v->stock);
	if (a != NULL && !is_closed(v) &&
	    !goes_to_collector(tw, a, (struct txn_junk){ .kind = JUNK_ARCHIVE, .stock = v->stock, .at = at }))
		txn_free_push(&a->archives, at.bits);
}

static unsigned
blob_class(uint32_t len)
{
	unsigned c = 0;
	while ((64u << c) < len)
		c++;
	return c;
}

uint64_t
txn_blob_bytes(uint32_t len)
{
	return 64u << blob_class(len);
}

nam_status
txn_blob_take(struct txn_worker *tw, struct txn_table_view *v, uint32_t len, net_addr *at)
{
	struct txn_alloc *a;
	nam_status st = txn_alloc_ready(tw, v, true, &a);
	if (st != NAM_OK)
		return st;
	a->takes++;
	unsigned c = blob_class(len);
	NAM_ASSERT(c < TXN_BLOB_CLASSES);
	if (a->blob[c].n > 0) {
		at->bits = a->blob[c].item[--a->blob[c].n];
		return NAM_OK;
	}
	return aux_take(tw, v, a, 64u << c, at);
}

void
txn_blob_give(struct txn_worker *tw, struct txn_table_view *v, net_addr at, uint32_t len)
{
	struct txn_alloc *a = alloc_of(tw, v->stock);
	if (a == NULL || is_closed(v) ||
	    goes_to_collector(
		tw, a, (struct txn_junk){ .kind = JUNK_BLOB, .stock = v->stock, .at = at, .len = len }))
		return;
	txn_free_push(&a->blob[blob_class(len)], at.bits);
}
