/*
 * own_keys.c -- the rows that a transaction has written, in the order of an index.
 *
 * The index gets entries for them at COMMIT. Until then a range or a lookup finds them here: in a
 * list for each order that the transaction reads, made by the first such read. Later reads take
 * over what has been written since the one before, so no read walks what is in the list already.
 *
 * A list is a skip list of nodes: key, block, and the version that has this key. A range that is
 * open shows the rows that were there when it was opened. So reads are numbered, a node says from
 * which read on and up to which it holds, and it stays as long as an open range shows it.
 */
#include "txn_internal.h"

#include <string.h>

enum { LEVELS = 12, LEVEL_BITS = 2 };
#define NOT_YET UINT64_MAX /* the node holds */

struct txn_own_key {
	net_addr at;
	struct rec_slot *slot;
	uint64_t from, to; /* reads that show it: from <= number < to */
	uint64_t *key;
	struct txn_own_key *back; /* the node before it; NULL = it is the first */
	struct txn_own_key *next[];
};

/* A list. */
struct txn_own_keys {
	struct txn_own_keys *more;
	struct txn_table_view *view;
	unsigned order, words;
	uint32_t seen; /* so much of t->touched has been taken over */
	struct txn_own_key *first[LEVELS], *last;
	struct txn_own_key **past; /* nodes that hold no more, and that an open range showed */
	uint32_t npast, past_cap, past_look;
};

/* The nodes of a write, by the orders of its table. */
struct txn_own_places {
	const struct txn_table_view *view;
	struct txn_own_key *of[];
};

static int
words_order(const uint64_t *a, const uint64_t *b, unsigned words)
{
	for (unsigned i = 0; i < words; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

/* Whether node k stands before the place (key, at, from). */
static bool
stands_before(const struct txn_own_keys *l, const struct txn_own_key *k, const uint64_t *key, net_addr at,
    uint64_t from)
{
	int c = words_order(k->key, key, l->words);
	if (c != 0)
		return c < 0;
	return k->at.bits != at.bits ? k->at.bits < at.bits : k->from < from;
}

/* The links to what stands at that place or behind it, on each level; and the node before it. */
static struct txn_own_key *
links_to(struct txn_own_keys *l, const uint64_t *key, net_addr at, uint64_t from,
    struct txn_own_key **link[LEVELS])
{
	struct txn_own_key *before = NULL;
	for (unsigned i = LEVELS; i > 0; i--) {
		struct txn_own_key **to = before != NULL ? &before->next[i - 1] : &l->first[i - 1];
		while (*to != NULL && stands_before(l, *to, key, at, from)) {
			before = *to;
			to = &before->next[i - 1];
		}
		link[i - 1] = to;
	}
	return before;
}

static unsigned
levels_of(net_addr at, uint64_t from)
{
	unsigned zeros = (unsigned)__builtin_ctzll(nam_mix(at.bits ^ nam_mix(from)) | UINT64_C(1) << 63);
	return 1 + (zeros / LEVEL_BITS < LEVELS ? zeros / LEVEL_BITS : LEVELS - 1);
}

static struct txn_own_key *
node_add(struct txn *t, struct txn_own_keys *l, const uint64_t *key, net_addr at, struct rec_slot *slot)
{
	unsigned n = levels_of(at, t->reading);
	struct txn_own_key **link[LEVELS];
	struct txn_own_key *k = nam_arena_take(&t->arena, sizeof *k + n * sizeof *k->next + l->words * 8u);
	if (k == NULL)
		return NULL;
	k->at = at;
	k->slot = slot;
	k->from = t->reading;
	k->to = NOT_YET;
	k->key = (uint64_t *)(void *)&k->next[n];
	memcpy(k->key, key, l->words * 8u);
	k->back = links_to(l, key, at, k->from, link);
	for (unsigned i = 0; i < n; i++) {
		k->next[i] = *link[i];
		*link[i] = k;
	}
	if (k->next[0] != NULL)
		k->next[0]->back = k;
	else
		l->last = k;
	return k;
}

static void
node_remove(struct txn_own_keys *l, struct txn_own_key *k)
{
	struct txn_own_key **link[LEVELS];
	unsigned n = levels_of(k->at, k->from);
	links_to(l, k->key, k->at, k->from, link);
	for (unsigned i = 0; i < n; i++)
		*link[i] = k->next[i];
	if (k->next[0] != NULL)
		k->next[0]->back = k->back;
	else
		l->last = k->back;
}

static bool
is_shown(const struct txn *t, const struct txn_own_key *k)
{
	for (const struct txn_own_range *r = t->own_ranges; r != NULL; r = r->older)
		if (k->from <= r->reading && r->reading < k->to)
			return true;
	return false;
}

/* Removes nodes that no open range shows any more; looks when there are twice as many as such a
 * look has left. */
static void
past_end(struct txn *t, struct txn_own_keys *l)
{
	uint32_t left = 0;
	if (l->npast == 0 || (t->own_ranges != NULL && l->npast < l->past_look))
		return;
	for (uint32_t i = 0; i < l->npast; i++) {
		if (is_shown(t, l->past[i]))
			l->past[left++] = l->past[i];
		else
			node_remove(l, l->past[i]);
	}
	l->npast = left;
	l->past_look = 2 * left + 16;
}

/* The node holds no more. */
static nam_status
node_end(struct txn *t, struct txn_own_keys *l, struct txn_own_key *k)
{
	if (!is_shown(t, k)) {
		node_remove(l, k);
		return NAM_OK;
	}
	if (l->npast == l->past_cap) {
		uint32_t cap = l->past_cap == 0 ? 16 : 2 * l->past_cap;
		struct txn_own_key **more = nam_arena_take(&t->arena, cap * sizeof *more);
		if (more == NULL)
			return NAM_NOMEM;
		if (l->npast > 0)
			memcpy(more, l->past, l->npast * sizeof *more);
		l->past = more;
		l->past_cap = cap;
	}
	l->past[l->npast++] = k;
	k->to = t->reading;
	return NAM_OK;
}

/* ---- what a write has become ---- */

/* Where a write of the list's table keeps its node. NULL: no memory. */
static struct txn_own_key **
node_of(struct txn *t, const struct txn_own_keys *l, struct txn_write *w)
{
	if (w->places == NULL || w->places->view != l->view) {
		w->places =
		    nam_arena_zero(&t->arena, sizeof *w->places + l->view->orders * sizeof *w->places->of);
		if (w->places == NULL)
			return NULL;
		w->places->view = l->view;
	}
	return &w->places->of[l->order];
}

static nam_status
take_over(struct txn *t, struct txn_own_keys *l, struct txn_write *w)
{
	uint64_t key[IDX_TREE_WORDS] = { 0 };
	struct txn_own_key **node = NULL;
	bool has = false;
	if (w->view == l->view && (node = node_of(t, l, w)) == NULL)
		return NAM_NOMEM;
	if (node == NULL && w->places != NULL && w->places->view == l->view)
		node = &w->places->of[l->order];
	if (node == NULL)
		return NAM_OK;
	struct txn_own_key *k = *node;
	if (w->view == l->view && txn_writes(w) && w->slot != NULL && !(w->slot->meta & REC_DELETED)) {
		nam_status st = txn_order_key(
		    t->tw, t, l->view, l->order, w->slot->payload, (uint32_t)w->slot->meta, key, &has);
		if (st != NAM_OK)
			return st;
	}
	if (k != NULL && has && words_order(k->key, key, l->words) == 0 &&
	    (k->slot == w->slot || !is_shown(t, k))) {
		k->slot = w->slot;
		return NAM_OK;
	}
	nam_status st = k != NULL ? node_end(t, l, k) : NAM_OK;
	if (st != NAM_OK)
		return st;
	*node = NULL;
	if (has)
		*node = node_add(t, l, key, w->at, w->slot);
	return !has || *node != NULL ? NAM_OK : NAM_NOMEM;
}

bool
txn_own_touched(struct txn *t, struct txn_write *w)
{
	if (t->own_keys == NULL || w->view->orders == 0)
		return true;
	if (!txn_grow((void **)&t->touched, t->ntouched, &t->touched_cap, sizeof *t->touched))
		return false;
	t->touched[t->ntouched++] = w;
	return true;
}

/* There is no list of that order. */
static void
places_forget(struct txn *t, const struct txn_table_view *v, unsigned order)
{
	for (uint32_t i = 0; i < t->nwr; i++)
		if (t->wr[i]->places != NULL && t->wr[i]->places->view == v)
			t->wr[i]->places->of[order] = NULL;
}

/* The list of an order, up to date; *out NULL: t has written nothing. */
static nam_status
list_of(struct txn *t, struct txn_table_view *v, unsigned order, struct txn_own_keys **out)
{
	struct txn_own_keys *l = t->own_keys;
	nam_status st = NAM_OK;
	while (l != NULL && (l->view != v || l->order != order))
		l = l->more;
	*out = l;
	if (l == NULL && t->nwr == 0)
		return NAM_OK;
	if (l != NULL && l->seen == t->ntouched)
		return NAM_OK;
	t->reading++;
	if (l == NULL) {
		if ((l = nam_arena_zero(&t->arena, sizeof *l)) == NULL)
			return NAM_NOMEM;
		l->view = v;
		l->order = order;
		l->words = v->order[order].words;
		for (uint32_t i = 0; st == NAM_OK && i < t->nwr; i++)
			st = take_over(t, l, t->wr[i]);
		if (st != NAM_OK) {
			places_forget(t, v, order);
			return st;
		}
		l->seen = t->ntouched;
		l->more = t->own_keys;
		t->own_keys = *out = l;
		return NAM_OK;
	}
	past_end(t, l);
	for (; st == NAM_OK && l->seen < t->ntouched; l->seen += st == NAM_OK)
		st = take_over(t, l, t->touched[l->seen]);
	return st;
}

void
txn_own_keys_forget(struct txn *t, const struct txn_table_view *v)
{
	for (struct txn_own_keys **l = &t->own_keys; *l != NULL;)
		if ((*l)->view == v)
			*l = (*l)->more;
		else
			l = &(*l)->more;
	for (uint32_t i = 0; i < t->nwr; i++)
		if (t->wr[i]->places != NULL && t->wr[i]->places->view == v)
			t->wr[i]->places = NULL;
}

void
txn_own_keys_end(struct txn *t)
{
	for (struct txn_own_range *r = t->own_ranges; r != NULL; r = r->older) {
		r->t = NULL;
		r->next = NULL;
	}
	t->own_ranges = NULL;
	t->own_keys = NULL;
	t->ntouched = 0;
	t->reading = 0;
}

/* ---- reads ---- */

static bool
is_in(const struct txn_own_range *r, const uint64_t *key)
{
	const struct idx_tree_range *g = &r->range;
	int low = g->low != NULL ? words_order(key, g->low, r->list->words) : 1;
	int high = g->high != NULL ? words_order(key, g->high, r->list->words) : -1;
	return (g->low_open ? low > 0 : low >= 0) && (g->high_open ? high < 0 : high <= 0);
}

/* From r->next on: the first node that the range shows, or the range's end. */
static void
settle(struct txn_own_range *r)
{
	while (r->next != NULL && !(r->next->from <= r->reading && r->reading < r->next->to))
		r->next = r->range.descending ? r->next->back : r->next->next[0];
	if (r->next != NULL && !is_in(r, r->next->key))
		r->next = NULL;
}

/* The first node whose key is not below `key`; above it, if open. NULL key: the first of all. */
static struct txn_own_key *
node_from(struct txn_own_keys *l, const uint64_t *key, bool open)
{
	struct txn_own_key **link[LEVELS];
	if (key == NULL)
		return l->first[0];
	links_to(l, key, (net_addr){ open ? UINT64_MAX : 0 }, open ? UINT64_MAX : 0, link);
	return *link[0];
}

nam_status
txn_own_range_open(struct txn *t, struct txn_table_view *v, unsigned order,
    const struct idx_tree_range *range, struct txn_own_range *r)
{
	r->range = *range;
	r->t = NULL;
	r->next = NULL;
	r->newer = NULL;
	nam_status st = list_of(t, v, order, &r->list);
	if (st != NAM_OK || r->list == NULL)
		return st;
	/* The caller may free its keys. */
	if (range->low != NULL)
		r->range.low = memcpy(r->low, range->low, r->list->words * 8u);
	if (range->high != NULL)
		r->range.high = memcpy(r->high, range->high, r->list->words * 8u);
	if (range->descending) {
		const struct txn_own_key *behind =
		    range->high != NULL ? node_from(r->list, range->high, !range->high_open) : NULL;
		r->next = behind != NULL ? behind->back : r->list->last;
	} else {
		r->next = node_from(r->list, range->low, range->low_open);
	}
	r->reading = t->reading;
	settle(r);
	if (r->next == NULL)
		return NAM_OK;
	r->t = t;
	r->older = t->own_ranges;
	if (r->older != NULL)
		r->older->newer = r;
	t->own_ranges = r;
	return NAM_OK;
}

const uint64_t *
txn_own_range_key(const struct txn_own_range *r)
{
	return r->next != NULL ? r->next->key : NULL;
}

bool
txn_own_range_next(struct txn_own_range *r, struct txn_row *row)
{
	const struct txn_own_key *k = r->next;
	if (k == NULL)
		return false;
	*row = (struct txn_row){ .at = k->at, .bytes = k->slot->payload, .len = (uint32_t)k->slot->meta };
	r->next = r->range.descending ? k->back : k->next[0];
	settle(r);
	return true;
}

void
txn_own_range_close(struct txn_own_range *r)
{
	if (r->t == NULL)
		return;
	if (r->older != NULL)
		r->older->newer = r->newer;
	if (r->newer != NULL)
		r->newer->older = r->older;
	else
		r->t->own_ranges = r->older;
	r->t = NULL;
}
