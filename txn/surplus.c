/*
 * surplus.c -- hands memory over that is at hand here: whole extents go back to their nodes, other
 * pieces to the table's lists.
 *
 * Only the worker itself can use memory that it has at hand. So it hands over
 *
 *   when it closes            all
 *   when others want memory   all: the process that finds the nodes full notes a CID (txn_want),
 *                             and each collector hears of it
 *   when it takes nothing     all, after a while
 *   when it had more than it took for a second
 *                             the difference. Rows may come at one worker and go at another, so
 *                             that one has ever more at hand and the other takes ever new memory
 *   when it has swept         all memory found
 *
 * Memory that is to be handed over is first taken out of the worker's memory: other coroutines go
 * on meanwhile with the remaining memory.
 *
 * All of it happens under a pin under which the anchor was READ. A sweep that begins later waits
 * for that pin before it looks at the ledger; one that began earlier has made older memory void,
 * and that is not handed over. So no extent is both at its node and with a sweep.
 *
 * Extents of blocks stay with their table: scans walk their chain, which only grows.
 */
#include "txn_internal.h"

#include <base/fault.h>

#include <stdlib.h>
#include <string.h>

enum {
	WRITES = 64,
	PORTION = 256, /* cells that are taken together */
	HAND_OVER_NS = 1000000000,
	SAMPLE_NS = 100000000,
	SAMPLES = 10, /* samples of a window */
	QUIET = 100,  /* so many samples without a take: all is handed over */
	DEATHS_MUCH = 8,
	BLOCKS_MOST = 64 * PORTION, /* in a window */
	PAUSE_MOST = 64,            /* so many windows, if no whole extents are found */
	WANT_NS = 200000000,
	WANT_PAUSE_NS = 1000000000,
	LOOK_AGAIN_NS = 5000000,
	LIST_FIRST = 1024, /* a list of so many items stays as it is */
};
#define POOL_NS UINT64_C(10000000000)
#define SURPLUS ((uint64_t)NET_EXTENT)

/* A hand-over under way. */
struct giving {
	struct txn_worker *tw;
	struct txn_table_view *v;
	struct txn_alloc *m;
	uint64_t generation, end;
	bool all;          /* nothing has been left out so far */
	unsigned compared; /* comparisons so far, to yield now and then */
};

static net_addr
head_at(const struct giving *g, size_t offset)
{
	return net_plus(g->v->anchor, offset);
}

static uint64_t
extent_of(uint64_t at)
{
	return at & ~(uint64_t)(NET_EXTENT - 1);
}

static bool
out_of_time(struct giving *g)
{
	return net_now_ns(g->tw->w) > g->end;
}

/*
 * Whether memory may be put before this list. NAM_ABSENT: no, because a later sweep has begun; it
 * finds the memory that we have.
 *
 * A list of another generation may also be of an earlier one: the sweep that made ours the present
 * generation has not emptied this list yet, or was cut short before it did. `sweep` tells the two
 * apart: it is WRITTEN before the lists are, and READ here behind the list. An earlier list counts
 * as empty, so ours takes its place; the sweep empties lists of earlier generations only.
 */
static nam_status
may_put(const struct giving *g, uint64_t head)
{
	uint64_t sweep;
	if (head >> TXN_LIST_SHIFT == txn_list(g->generation, 0) >> TXN_LIST_SHIFT)
		return NAM_OK;
	nam_status st =
	    net_read1(g->tw->w, head_at(g, offsetof(struct txn_anchor, sweep)), &sweep, sizeof sweep, NULL);
	if (st == NAM_OK && (txn_generation(sweep) != g->generation || nam_fault(LIST_VOID)))
		return NAM_ABSENT;
	return st;
}

/* ---- onto the lists ---- */

static bool
give_partial(struct giving *g, struct txn_stretch s)
{
	struct net_worker *w = g->tw->w;
	if (s.at >= s.end)
		return true;
	if (out_of_time(g))
		return false;
	/* Extents are aligned in their region; the stretch ends in the extent it begins in. */
	uint64_t ext = extent_of(s.at), head, seen;
	net_addr at = head_at(g, offsetof(struct txn_anchor, partial));
	nam_status st = net_read1(w, at, &head, 8, NULL);
	while (st == NAM_OK && (st = may_put(g, head)) == NAM_OK) {
		uint64_t next[2] = { s.at - ext, txn_list_at(head, g->generation) };
		st = net_write1(w, (net_addr){ ext + offsetof(struct txn_extent, used) }, next, 16, NULL);
		if (st == NAM_OK)
			st = net_cas1(w, at, head, txn_list(g->generation, ext), &seen, NULL);
		if (st != NAM_OK || seen == head)
			break;
		head = seen;
	}
	txn_give_way(g->tw);
	return st == NAM_OK || st == NAM_ABSENT;
}

/* items: pairs (address, what). */
static void
item_pop(struct txn_free *items, uint64_t *at, uint64_t *what)
{
	*what = items->item[--items->n];
	*at = items->item[--items->n];
}

/* Puts a tree whose cells have been written before the present list: its first cell, c, joins the
 * two. */
static nam_status
hang_up(struct giving *g, size_t anchor_offset, uint64_t at, uint32_t offset, struct txn_free_cell *c)
{
	struct net_worker *w = g->tw->w;
	net_addr anchor = head_at(g, anchor_offset);
	uint64_t head, seen;
	nam_status st = net_read1(w, anchor, &head, 8, NULL);
	while (st == NAM_OK && (st = may_put(g, head)) == NAM_OK) {
		c->other = txn_list_at(head, g->generation);
		st = net_write1(w, (net_addr){ at + offset }, c, sizeof *c, NULL);
		if (st == NAM_OK)
			st = net_cas1(w, anchor, head, txn_list(g->generation, at), &seen, NULL);
		if (st != NAM_OK || seen == head)
			break;
		head = seen;
	}
	return st == NAM_ABSENT ? NAM_OK : st;
}

/* Makes a tree of up to PORTION cells, with the remains of other trees as branches, and puts it on
 * the list. There is at least one cell. */
static nam_status
portion_give(
    struct giving *g, size_t anchor_offset, uint32_t offset, struct txn_free *items, struct txn_free *tree)
{
	struct txn_worker *tw = g->tw;
	struct txn_free_cell cell[WRITES], first = { 0 };
	struct net_op op[WRITES];
	struct net_batch b;
	uint64_t at, what, root = 0;
	nam_status st = NAM_OK;
	if (items->n > 0) {
		item_pop(items, &at, &what);
	} else {
		if ((st = txn_tree_pop(tw, g->m, tree, offset, &at, &first)) != NAM_OK)
			return st;
		what = first.what;
		root = tree->n > 0 ? tree->item[--tree->n] : 0;
	}
	first = (struct txn_free_cell){ .what = what };
	net_batch_init(&b, tw->w, op, WRITES, NULL);
	for (unsigned n = 1; st == NAM_OK && n < PORTION && items->n > 0; n++) {
		struct txn_free_cell *c = &cell[b.n];
		*c = (struct txn_free_cell){ .next = root };
		item_pop(items, &root, &c->what);
		if (tree->n > 0)
			c->other = tree->item[--tree->n];
		net_write(&b, (net_addr){ root + offset }, c, sizeof *c);
		if (b.n == WRITES)
			st = net_run(&b);
	}
	if (st == NAM_OK && b.n > 0)
		st = net_run(&b);
	first.next = root;
	return st == NAM_OK ? hang_up(g, anchor_offset, at, offset, &first) : st;
}

/*
 * Puts the cells given and the remains of trees on the list, in portions, one of which a worker
 * takes when it needs memory. The cells given first lie deepest. False: some were left to a sweep.
 */
static bool
tree_give(
    struct giving *g, size_t anchor_offset, uint32_t offset, struct txn_free *items, struct txn_free *tree)
{
	nam_status st = NAM_OK;
	while (st == NAM_OK && (tree->n > 0 || items->n > 0)) {
		if (out_of_time(g))
			return false;
		st = portion_give(g, anchor_offset, offset, items, tree);
		txn_give_way(g->tw);
	}
	return st == NAM_OK;
}

/* ---- archives and blobs: stretches, each inside of one extent ---- */

static int
by_begin(const void *a, const void *b, void *giving)
{
	const struct txn_stretch *x = a, *y = b;
	struct giving *g = giving;
	if (++g->compared % 4096 == 0)
		txn_give_way(g->tw);
	return (x->at > y->at) - (x->at < y->at);
}

static int
by_length(const void *a, const void *b, void *giving)
{
	const struct txn_stretch *x = a, *y = b;
	struct giving *g = giving;
	if (++g->compared % 4096 == 0)
		txn_give_way(g->tw);
	return (x->end - x->at > y->end - y->at) - (x->end - x->at < y->end - y->at);
}

/* Makes m->rest out of all memory in m that is free for archives and blobs, with adjacent stretches
 * joined. False: some was forgotten. */
static bool
join(struct giving *g)
{
	struct txn_alloc *m = g->m;
	struct txn_stretches *s = &m->rest;
	bool ok = txn_stretch_push(s, m->aux.at, m->aux.end);
	m->aux = (struct txn_stretch){ 0, 0 };
	for (uint32_t i = 0; ok && i < m->archives.n; i++)
		ok = txn_stretch_push(s, m->archives.item[i], m->archives.item[i] + g->v->archive_bytes);
	for (unsigned c = 0; c < TXN_BLOB_CLASSES; c++) {
		for (uint32_t i = 0; ok && i < m->blob[c].n; i++)
			ok = txn_stretch_push(s, m->blob[c].item[i], m->blob[c].item[i] + (64u << c));
		m->blob[c].n = 0;
	}
	m->archives.n = 0;
	if (s->n == 0)
		return ok;
	qsort_r(s->item, s->n, sizeof *s->item, by_begin, g);
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->n;) {
		struct txn_stretch x = s->item[i];
		for (i++; i < s->n && s->item[i].at == x.end && extent_of(x.at) == extent_of(x.end); i++)
			x.end = s->item[i].end;
		s->item[n++] = x;
	}
	s->n = n;
	return ok;
}

/* Whole extents that are to go back, rising, and where they stand in the ledger. */
struct wholes {
	net_addr *at;
	uint32_t *entry, n;
};

static int
by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static bool
place(void *arg, uint32_t entry, uint64_t word)
{
	struct wholes *all = arg;
	uint64_t at = txn_ledger_extent(word);
	net_addr *hit = bsearch(&at, all->at, all->n, sizeof *all->at, by_address);
	if (hit != NULL)
		all->entry[hit - all->at] = entry;
	return true;
}

/* Gives whole extents in m->rest, which is in order, back, `most` at most. Returns how many. */
static unsigned
give_wholes(struct giving *g, uint64_t most)
{
	struct txn_stretches *s = &g->m->rest;
	struct wholes all = { .at = malloc((s->n + 1) * sizeof *all.at),
		.entry = calloc(s->n + 1, sizeof *all.entry) };
	uint32_t kept = 0;
	unsigned given, sum = 0;
	for (uint32_t i = 0; i < s->n && all.at != NULL && all.entry != NULL; i++) {
		struct txn_stretch x = s->item[i];
		if (x.at == extent_of(x.at) && x.end - x.at == NET_EXTENT && all.n < most)
			all.at[all.n++].bits = x.at;
		else
			s->item[kept++] = x;
	}
	if (all.at != NULL && all.entry != NULL)
		s->n = kept;
	/* Entries that are not found here are looked for again, a few at a time. */
	if (all.n > 1)
		(void)txn_ledger_walk(g->tw->db, g->tw->w, g->v->anchor, place, &all);
	for (uint32_t i = 0; i < all.n; i += TXN_LEDGER_PART) {
		unsigned n = all.n - i < TXN_LEDGER_PART ? all.n - i : TXN_LEDGER_PART;
		if (out_of_time(g)) {
			for (; i < all.n; i++)
				txn_stretch_push(s, all.at[i].bits, all.at[i].bits + NET_EXTENT);
			break;
		}
		/* Extents in doubt stay in the ledger for a sweep, or are lost. */
		if (txn_extents_give(g->v->stock, g->tw->w, n, all.at + i, all.n > 1 ? all.entry + i : NULL,
			&given) != NAM_OK)
			g->all = false;
		sum += n;
		txn_give_way(g->tw);
	}
	free(all.at);
	free(all.entry);
	return sum;
}

/* ---- all of it ---- */

/* Moves memory at hand from a to *m: all, or only that for archives and blobs. */
static void
take_out(struct txn_alloc *a, struct txn_alloc *m, bool all)
{
	*m = (struct txn_alloc){
		.looked = true, .sweep = a->sweep, .horizon = a->horizon, .before = a->before
	};
	m->aux = a->aux;
	m->rest = a->rest;
	m->archives = a->archives;
	memcpy(m->blob, a->blob, sizeof m->blob);
	a->aux = (struct txn_stretch){ 0, 0 };
	memset(&a->rest, 0, sizeof a->rest);
	memset(&a->archives, 0, sizeof a->archives);
	memset(a->blob, 0, sizeof a->blob);
	if (!all)
		return;
	memcpy(m->block, a->block, sizeof m->block);
	m->spare = a->spare;
	m->blocks = a->blocks;
	m->block_tree = a->block_tree;
	m->rest_tree = a->rest_tree;
	memcpy(m->whole, a->whole, sizeof m->whole);
	m->wholes = a->wholes;
	memset(a->block, 0, sizeof a->block);
	memset(&a->spare, 0, sizeof a->spare);
	memset(&a->blocks, 0, sizeof a->blocks);
	memset(&a->block_tree, 0, sizeof a->block_tree);
	memset(&a->rest_tree, 0, sizeof a->rest_tree);
	a->wholes = 0;
}

/* Moves the n emptied blocks that a has had for the longest to m. */
static void
take_blocks_out(struct txn_alloc *a, struct txn_alloc *m, uint32_t n)
{
	n = n < BLOCKS_MOST ? n : BLOCKS_MOST;
	n = 2 * n < a->blocks.n ? 2 * n : a->blocks.n;
	for (uint32_t i = 0; i + 1 < n; i += 2)
		if (!txn_free_push(&m->blocks, a->blocks.item[i]) ||
		    !txn_free_push(&m->blocks, a->blocks.item[i + 1])) {
			m->blocks.n &= ~1u;
			n = i;
		}
	if (n == 0)
		return;
	memmove(a->blocks.item, a->blocks.item + n, (a->blocks.n - n) * sizeof *a->blocks.item);
	a->blocks.n -= n;
}

/* With a pin: *yes = the memory that a has at hand is still ours to give. */
static nam_status
still_ours(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a, bool *yes)
{
	uint64_t before = txn_generation(a->sweep);
	bool was = a->looked;
	nam_status st = NAM_OK;
	if (was && !nam_fault(ALLOCATOR_UNLOCKED))
		st = txn_alloc_look(tw, v->stock, &a);
	*yes = st == NAM_OK && was && before == txn_generation(a->sweep);
	if (st != NAM_ABSENT)
		return st;
	/* It went back with the table, which the catalog of this process may not know yet. */
	txn_alloc_void(a);
	return NAM_OK;
}

bool
txn_hand_over(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a, uint64_t end)
{
	struct txn_alloc m;
	bool yes;
	nam_status st = still_ours(tw, v, a, &yes);
	if (st != NAM_OK || !yes)
		return st == NAM_OK;
	take_out(a, &m, true);
	struct giving g = {
		.tw = tw, .v = v, .m = &m, .generation = txn_generation(m.sweep), .end = end, .all = true
	};
	for (unsigned r = 0; r < TXN_CUTS; r++)
		g.all = give_partial(&g, m.block[r]) && g.all;
	for (uint32_t i = 0; i < m.spare.n; i++)
		g.all = give_partial(&g, m.spare.item[i]) && g.all;
	g.all = tree_give(&g, offsetof(struct txn_anchor, free), v->head_bytes, &m.blocks, &m.block_tree) &&
		g.all;
	g.all = join(&g) && g.all;
	/* A sweep that is under way may look at the ledger at any moment. */
	for (; (m.sweep & 1) && m.wholes > 0; m.wholes--)
		txn_stretch_push(
		    &m.rest, m.whole[m.wholes - 1].at.bits, m.whole[m.wholes - 1].at.bits + NET_EXTENT);
	if ((m.sweep & 1) == 0) {
		txn_wholes_give(tw, v, &m);
		give_wholes(&g, UINT64_MAX);
	}
	/* The longest last: the list is taken from its end. */
	if (m.rest.n > 1)
		qsort_r(m.rest.item, m.rest.n, sizeof *m.rest.item, by_length, &g);
	struct txn_free items = { 0 };
	for (uint32_t i = m.rest.n; i-- > 0;) {
		struct txn_stretch x = m.rest.item[i];
		g.all = txn_free_push(&items, x.at) && txn_free_push(&items, x.end - x.at) && g.all;
	}
	g.all = tree_give(&g, offsetof(struct txn_anchor, rest), 0, &items, &m.rest_tree) && g.all;
	free(items.item);
	txn_lists_free(&m);
	return g.all;
}

void
txn_alloc_free(struct txn_alloc *a)
{
	if (a == NULL)
		return;
	txn_lists_free(a);
	free(a);
}

void
txn_allocs_drop(struct txn_worker *tw)
{
	for (struct txn_alloc *a; (a = tw->allocs) != NULL;) {
		struct txn_stock *k = a->stock;
		tw->allocs = a->next;
		/* Another worker may look, with the lock, whether the stock is left. */
		pthread_mutex_lock(&tw->db->lock);
		atomic_store(&k->alloc[tw->number], NULL);
		pthread_mutex_unlock(&tw->db->lock);
		txn_alloc_free(a);
	}
}

/*
 * All under one pin: if this process stalls here, it has to be fenced before another process sweeps
 * for the memory it holds. Without a pin its slot could be idle and be freed while cells are still
 * to be written into memory that others have found. HAND_OVER_NS at the longest: the watermark
 * waits.
 */
bool
txn_tables_hand_over(struct txn_worker *tw)
{
	struct tso_pin pin;
	nam_status st = nam_fault(EXIT_UNPINNED) ? NAM_OK : tso_pin_now(tw->tso, &pin);
	bool ok = st == NAM_OK;
	if (ok && !nam_fault(EXIT_UNPINNED))
		txn_at_hand(tw);
	uint64_t end = net_now_ns(tw->w) + HAND_OVER_NS;
	for (struct txn_alloc *a = tw->allocs; st == NAM_OK && a != NULL; a = a->next) {
		struct txn_table_view *v = atomic_load(&a->stock->view);
		if (v != NULL)
			ok = txn_hand_over(tw, v, a, end) && ok;
	}
	if (!nam_fault(EXIT_UNPINNED))
		tso_unpin(tw->tso, &pin);
	return ok;
}

/* ---- now and then: memory that is not used ---- */

static uint64_t
aux_bytes(const struct txn_alloc *a)
{
	uint64_t sum = a->aux.end - a->aux.at + (uint64_t)a->archives.n * a->stock->archive_bytes;
	for (unsigned c = 0; c < TXN_BLOB_CLASSES; c++)
		sum += (uint64_t)a->blob[c].n << (6 + c);
	for (uint32_t i = 0; i < a->rest.n; i++)
		sum += a->rest.item[i].end - a->rest.item[i].at;
	return sum;
}

static bool
anything(const struct txn_alloc *a)
{
	uint64_t n = a->spare.n + a->rest.n + a->blocks.n + a->archives.n + a->block_tree.n + a->rest_tree.n +
		     a->wholes + (a->aux.end - a->aux.at);
	for (unsigned c = 0; c < TXN_BLOB_CLASSES; c++)
		n += a->blob[c].n;
	for (unsigned r = 0; r < TXN_CUTS; r++)
		n += a->block[r].end - a->block[r].at;
	return n > 0;
}

/* Puts stretches of m->rest on the table's list, about so many bytes of them, the longest: they are
 * of use to more. m->rest is in order of length. */
static void
give_rests(struct giving *g, uint64_t bytes)
{
	struct txn_alloc *m = g->m;
	struct txn_free items = { 0 };
	uint32_t from = m->rest.n;
	for (uint64_t sum = 0; from > 0 && sum < bytes; sum += m->rest.item[from].end - m->rest.item[from].at)
		from--;
	/* The longest last: the list is taken from its end. */
	for (uint32_t i = from; i < m->rest.n; i++) {
		struct txn_stretch x = m->rest.item[i];
		if (!txn_free_push(&items, x.at) || !txn_free_push(&items, x.end - x.at))
			break;
	}
	m->rest.n = from;
	(void)tree_give(g, offsetof(struct txn_anchor, rest), 0, &items, &m->rest_tree);
	for (uint32_t i = 0; i + 1 < items.n; i += 2)
		txn_stretch_push(&m->rest, items.item[i], items.item[i] + items.item[i + 1]);
	free(items.item);
}

/* Gives so many bytes of m back: whole extents to their nodes, and for the rest other stretches to
 * the list. */
static void
give_stretches(struct giving *g, struct txn_alloc *a, uint64_t bytes)
{
	struct txn_stretches *rest = &g->m->rest;
	join(g);
	unsigned n = give_wholes(g, bytes / NET_EXTENT);
	a->pause = n > 0 ? 0 : a->pause == 0 ? 1 : a->pause < PAUSE_MOST ? 2 * a->pause : PAUSE_MOST;
	a->paused = 0;
	g->tw->stats.extents_returned += n;
	/* The longest last: those are looked at first. */
	if (rest->n > 1)
		qsort_r(rest->item, rest->n, sizeof *rest->item, by_length, g);
	if (bytes >= n * (uint64_t)NET_EXTENT + SURPLUS)
		give_rests(g, bytes - n * (uint64_t)NET_EXTENT);
}

/* So many bytes for archives and blobs were not used for a while, and so many emptied blocks. */
static void
give_surplus(
    struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a, uint64_t bytes, uint32_t blocks)
{
	struct txn_alloc m;
	bool yes;
	if (still_ours(tw, v, a, &yes) != NAM_OK || !yes || (a->sweep & 1))
		return;
	if (bytes > 0)
		take_out(a, &m, false);
	else
		m = (struct txn_alloc){ .looked = true, .sweep = a->sweep };
	take_blocks_out(a, &m, blocks);
	struct giving g = { .tw = tw,
		.v = v,
		.m = &m,
		.generation = txn_generation(m.sweep),
		.end = net_now_ns(tw->w) + HAND_OVER_NS,
		.all = true };
	(void)tree_give(&g, offsetof(struct txn_anchor, free), v->head_bytes, &m.blocks, &m.block_tree);
	if (bytes > 0)
		give_stretches(&g, a, bytes);
	if (g.generation == txn_generation(a->sweep)) {
		for (uint32_t i = 0; i < m.rest.n; i++)
			txn_stretch_push(&a->rest, m.rest.item[i].at, m.rest.item[i].end);
		for (uint32_t i = 0; i + 1 < m.blocks.n; i += 2)
			if (txn_free_push(&a->blocks, m.blocks.item[i]) &&
			    !txn_free_push(&a->blocks, m.blocks.item[i + 1]))
				a->blocks.n--;
	}
	txn_lists_free(&m);
}

/*
 * True if a worker's memory of one table is unused. *bytes: how many for archives and blobs,
 * UINT64_MAX = all memory; *blocks: emptied ones. idle: so is this process, and it does not hear
 * whether another one wants memory.
 */
static bool
unused(struct txn_alloc *a, bool idle, uint64_t *bytes, uint32_t *blocks)
{
	uint64_t now = aux_bytes(a);
	uint32_t emptied = a->blocks.n / 2;
	if (now < a->least)
		a->least = now;
	if (emptied < a->least_blocks)
		a->least_blocks = emptied;
	a->quiet = a->takes == a->takes_seen ? a->quiet + 1 : 0;
	a->takes_seen = a->takes;
	if (a->quiet >= QUIET && anything(a)) {
		a->quiet = 0;
		*bytes = UINT64_MAX;
		return true;
	}
	if (++a->samples < SAMPLES && !idle)
		return false;
	*bytes = idle ? now : a->least;
	*blocks = idle ? emptied : a->least_blocks;
	a->samples = 0;
	a->least = now;
	a->least_blocks = emptied;
	if (*bytes < SURPLUS || a->paused++ < a->pause)
		*bytes = 0;
	if ((uint64_t)*blocks * a->stock->block_bytes < SURPLUS)
		*blocks = 0;
	return *bytes > 0 || *blocks > 0;
}

/* A list that was long gives back what it has not needed since. */
static void
fit(void *list, uint32_t n, uint32_t *cap, size_t item)
{
	void **p = list, *less;
	if (*cap <= LIST_FIRST || n > *cap / 8 || (less = realloc(*p, *cap / 4 * item)) == NULL)
		return;
	*p = less;
	*cap /= 4;
}

static void
fit_lists(struct txn_alloc *a)
{
	fit(&a->spare.item, a->spare.n, &a->spare.cap, sizeof *a->spare.item);
	fit(&a->rest.item, a->rest.n, &a->rest.cap, sizeof *a->rest.item);
	fit(&a->blocks.item, a->blocks.n, &a->blocks.cap, sizeof *a->blocks.item);
	fit(&a->archives.item, a->archives.n, &a->archives.cap, sizeof *a->archives.item);
	for (unsigned c = 0; c < TXN_BLOB_CLASSES; c++)
		fit(&a->blob[c].item, a->blob[c].n, &a->blob[c].cap, sizeof *a->blob[c].item);
	fit(&a->block_tree.item, a->block_tree.n, &a->block_tree.cap, sizeof *a->block_tree.item);
	fit(&a->rest_tree.item, a->rest_tree.n, &a->rest_tree.cap, sizeof *a->rest_tree.item);
}

/* Whether a worker need not look at it any more: the table is closed here, or nothing was taken for
 * a while and nothing is at hand. */
static bool
may_rest(const struct txn_alloc *a)
{
	if (atomic_load(&a->stock->view) == NULL)
		return true;
	return a->quiet >= QUIET && !anything(a);
}

static void
look_for_unused(struct txn_worker *tw)
{
	struct tso_pin pin;
	nam_status st = NAM_OK;
	bool pinned = false, idle = tso_is_idle(tw->db->tso);
	/* Only this coroutine takes any off the list. */
	for (struct txn_alloc *a = tw->allocs, *next; a != NULL && st == NAM_OK; a = next) {
		uint64_t bytes;
		uint32_t blocks;
		tw->stats.looked_at++;
		if (may_rest(a)) {
			next = a->next;
			txn_alloc_unlist(tw, a);
			continue;
		}
		fit_lists(a);
		bool is = a->looked && unused(a, idle, &bytes, &blocks);
		if (!a->looked)
			a->quiet++;
		if (is && !pinned && !nam_fault(ALLOCATOR_UNLOCKED)) {
			st = tso_pin_now(tw->tso, &pin);
			pinned = true;
			if (st == NAM_OK)
				txn_at_hand(tw);
		}
		struct txn_table_view *v = is ? atomic_load(&a->stock->view) : NULL;
		if (v != NULL && st == NAM_OK && bytes == UINT64_MAX)
			txn_hand_over(tw, v, a, net_now_ns(tw->w) + HAND_OVER_NS);
		else if (v != NULL && st == NAM_OK)
			give_surplus(tw, v, a, bytes, blocks);
		next = a->next;
	}
	if (pinned)
		tso_unpin(tw->tso, &pin);
}

/* ---- memory that is wanted ---- */

/*
 * With a pin. Hands over all that this worker has of any table; the list may change meanwhile.
 * others: another process wants memory. Several workers may have pieces of one extent: the later
 * one joins its own to those on the list.
 */
static void
hand_over_all(struct txn_worker *tw, bool others)
{
	uint64_t end = net_now_ns(tw->w) + HAND_OVER_NS;
	uint32_t n = 0;
	for (struct txn_alloc *a = tw->allocs; a != NULL; a = a->next)
		n++;
	struct txn_alloc **all = calloc(n + 1, sizeof *all);
	n = 0;
	/* A table that is open now stays in memory while our pin stands. */
	for (struct txn_alloc *a = tw->allocs; all != NULL && a != NULL; a = a->next)
		if (atomic_load(&a->stock->view) != NULL)
			all[n++] = a;
	for (uint32_t i = 0; all != NULL && i < n; i++) {
		struct txn_alloc *a = all[i];
		struct txn_table_view *v = atomic_load(&a->stock->view);
		if (v == NULL)
			continue;
		if (a->looked && others && txn_alloc_look(tw, v->stock, &a) == NAM_OK)
			txn_rests_gather(tw, v, a, end);
		if (a->looked && anything(a))
			txn_hand_over(tw, v, a, end);
	}
	free(all);
}

/* With a pin. Takes the sweep lock of tables beside which `much` processes or more have died since
 * they were swept. */
static void
sweep_due(struct txn_worker *tw, uint64_t deaths, uint64_t much)
{
	struct txn_stock **all;
	unsigned n;
	if (!txn_stocks_open(tw->db, &all, &n))
		return;
	for (unsigned i = 0; i < n; i++) {
		if (atomic_load(&all[i]->swept) + much <= deaths && !tw->leaving)
			txn_alloc_sweep(tw, all[i]);
		txn_stock_leave(all[i]);
	}
	free(all);
}

bool
txn_want(struct txn_worker *tw, struct txn_want *want)
{
	uint64_t now = net_now_ns(tw->w);
	if (tw->leaving || now < tw->starved_until)
		return false;
	if (want->until == 0) {
		want->until = now + WANT_NS;
		hand_over_all(tw, false);
		return true;
	}
	if (now >= want->until) {
		tw->starved_until = now + WANT_PAUSE_NS;
		return false;
	}
	if (!want->asked)
		tw->wants = true;
	want->asked = true;
	net_sleep(tw->w, LOOK_AGAIN_NS);
	return true;
}

/* Tells all processes that memory is wanted. */
static void
ask_all(struct txn_worker *tw)
{
	tso_cid cid;
	uint64_t was;
	if (net_faa1(tw->w, tw->db->wanted, 1, &was, NULL) == NAM_OK)
		txn_cid_spend(tw, TSO_NOTE_MEMORY, &cid);
}

/*
 * Has a table swept beside which so many processes have died, even if no live process takes memory
 * of it: else each process that joins, writes and dies would take new memory.
 */
static void
sweep_overdue(struct txn_worker *tw, uint64_t deaths)
{
	struct tso_pin pin;
	if (!txn_may_sweep(tw))
		return;
	if (tso_pin_now(tw->tso, &pin) == NAM_OK) {
		txn_at_hand(tw);
		sweep_due(tw, deaths, DEATHS_MUCH);
	}
	tso_unpin(tw->tso, &pin);
}

static void
orphans_main(void *worker)
{
	struct txn_worker *tw = worker;
	net_account_to(&tw->background);
	uint64_t deaths = atomic_load(&tw->db->deaths_heard);
	txn_orphans(tw, deaths);
	sweep_overdue(tw, deaths);
	tw->helpers--;
}

/* One worker of the process does it, in most cases not the heart's. */
static void
look_after_tables(struct txn_worker *tw, uint64_t deaths)
{
	struct txn_db *db = tw->db;
	if (db->bystander || tw->leaving || (tw->number == 0 && atomic_load(&db->workers) > 1) ||
	    atomic_exchange(&db->deaths_heard, deaths) == deaths)
		return;
	tw->helpers++;
	if (nam_co_start(net_worker_sched(tw->w), orphans_main, tw, 256 << 10) == NULL)
		tw->helpers--;
}

void
txn_surplus(struct txn_worker *tw)
{
	struct tso *t = tw->db->tso;
	struct tso_pin pin;
	uint64_t now = net_now_ns(tw->w), noted = tso_noted_memory(t), word[2];
	if (now >= tw->sample_at) {
		tw->sample_at = now + SAMPLE_NS;
		look_for_unused(tw);
	}
	if (now >= tw->pool_at) {
		tw->pool_at = now + POOL_NS;
		txn_pool_trim(tw);
	}
	bool tell = tw->wants;
	if (noted == tw->heard && !tell)
		return;
	tw->wants = false;
	if (tso_pin_now(tw->tso, &pin) == NAM_OK) {
		txn_at_hand(tw);
		if (tell) {
			ask_all(tw);
			tw->wanted_known = true; /* so this worker hears its own request as well */
		}
		if (noted != tw->heard &&
		    net_read1(tw->w, tw->db->deaths, word, sizeof word, NULL) == NAM_OK) {
			uint64_t deaths = word[0], wanted = word[1];
			tw->heard = noted;
			look_after_tables(tw, deaths);
			if (wanted != tw->wanted_seen && tw->wanted_known) {
				hand_over_all(tw, true);
				sweep_due(tw, deaths, 1);
			}
			tw->wanted_seen = wanted;
			tw->wanted_known = true;
		}
	}
	tso_unpin(tw->tso, &pin);
}
