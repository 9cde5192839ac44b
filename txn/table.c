/* table.c -- where a table's memory comes from and goes back to. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "txn_internal.h"

bool
txn_grow(void **array, uint32_t n, uint32_t *cap, size_t item)
{
	if (n < *cap)
		return true;
	uint32_t want = *cap ? *cap * 2 : 16;
	void *p = realloc(*array, want * item);
	if (p == NULL)
		return false;
	*array = p;
	*cap = want;
	return true;
}

void
txn_view_sizes(struct txn_table_view *v, unsigned slots, uint32_t row_max)
{
	v->slots = (uint16_t)(slots ? slots : 2);
	v->row_max = row_max;
	uint32_t payload = (row_max + 7) & ~7u;
	v->head_bytes = 8 * (4 + v->slots);
	v->slot_bytes = (uint32_t)sizeof(struct rec_slot) + payload;
	/* Long slots begin on a cache line: none is fetched for the sake of a neighbour's last bytes. */
	if (v->slot_bytes >= TXN_LINE_SLOTS) {
		v->head_bytes = (v->head_bytes + 63) & ~63u;
		v->slot_bytes = (v->slot_bytes + 63) & ~63u;
	}
	v->block_bytes = (v->head_bytes + v->slots * v->slot_bytes + 63) & ~63u;
	v->archive_bytes = ((uint32_t)sizeof(struct rec_archive) + payload + 63) & ~63u;
	v->per_extent = (uint32_t)((NET_EXTENT - sizeof(struct txn_extent)) / v->block_bytes);
}

uint32_t
txn_row_room(uint16_t slots, uint32_t row_max)
{
	struct txn_table_view is, more;
	txn_view_sizes(&is, slots, row_max);
	uint32_t room = (row_max + 7) & ~7u;
	for (uint32_t wide = room + 8; wide <= TXN_ROW_MAX; wide += 8) {
		txn_view_sizes(&more, slots, wide);
		if (more.block_bytes != is.block_bytes)
			break;
		room = wide;
	}
	return room <= TXN_ROW_MAX ? room : row_max;
}

/* ---- the ledger: every extent that is not a link of the blocks' chain ---- */

/* An extent from any node, round from start. */
static nam_status
any_extents(struct txn_db *db, struct net_worker *w, unsigned n, unsigned start, net_addr *out)
{
	nam_status st = NAM_FULL;
	for (unsigned i = 0; i < db->nregions; i++) {
		st = net_extent_take(w, db->regions[(start + i) % db->nregions], n, out);
		if (st == NAM_OK || (st != NAM_FULL && st != NAM_GONE))
			return st;
	}
	return st;
}

/* Where entry i lies. make: its page is made if it is not there. *at is 0 where there is none. */
static nam_status
ledger_at(struct txn_db *db, struct net_worker *w, net_addr anchor, uint64_t i, bool make, net_addr *at)
{
	at->bits = 0;
	if (i < TXN_LEDGER_INLINE) {
		*at = net_plus(anchor, TXN_ANCHOR_LEDGER + i * sizeof(struct txn_ledger_entry));
		return NAM_OK;
	}
	uint64_t page = (i - TXN_LEDGER_INLINE) / TXN_LEDGER_PAGE, seen = 0;
	if (page >= TXN_LEDGER_PAGES)
		return NAM_FULL;
	net_addr word = net_plus(anchor, TXN_ANCHOR_PAGES + 8 * page), fresh;
	nam_status st = net_read1(w, word, &seen, 8, NULL);
	if (st == NAM_OK && seen == 0 && make) {
		if ((st = any_extents(db, w, 1, (unsigned)page, &fresh)) != NAM_OK)
			return st;
		st = net_cas1(w, word, 0, fresh.bits, &seen, NULL);
		if (st == NAM_OK && seen != 0)
			net_extent_give(w, fresh); /* another worker's page was first */
		else
			seen = fresh.bits;
	}
	if (st == NAM_OK && seen != 0)
		*at = net_plus((net_addr){ seen },
		    (i - TXN_LEDGER_INLINE) % TXN_LEDGER_PAGE * sizeof(struct txn_ledger_entry));
	return st;
}

static nam_status
ledger_add(struct txn_db *db, struct net_worker *w, net_addr anchor, net_addr extent, uint64_t extents)
{
	uint64_t i;
	net_addr at;
	nam_status st = net_faa1(w, net_plus(anchor, offsetof(struct txn_anchor, used)), 1, &i, NULL);
	if (st == NAM_OK)
		st = ledger_at(db, w, anchor, i, true, &at);
	if (st != NAM_OK)
		return st;
	struct txn_ledger_entry e = { extent.bits, extents };
	return net_write1(w, at, &e, sizeof e, NULL);
}

/* n extents in a row from any node, entered in the ledger. whose: 0 or TXN_LEDGER_INDEX. */
static nam_status
take_extents(
    struct txn_table_view *v, struct net_worker *w, unsigned n, uint64_t whose, unsigned start, net_addr *out)
{
	nam_status st = any_extents(v->db, w, n, start, out);
	if (st == NAM_OK && (st = ledger_add(v->db, w, v->anchor, *out, n | whose)) != NAM_OK)
		for (unsigned i = 0; i < n; i++)
			net_extent_give(w, net_plus(*out, i * NET_EXTENT));
	return st;
}

static nam_status
index_memory(void *arg, struct net_worker *w, unsigned extents, net_addr *out)
{
	return take_extents(
	    arg, w, extents, TXN_LEDGER_INDEX, (unsigned)nam_rng_below(net_rng(w), NET_REGIONS), out);
}

static uint64_t
index_now(void *arg, struct net_worker *w)
{
	(void)w;
	return tso_stamp(((struct txn_table_view *)arg)->db->tso);
}

static bool
index_passed(void *arg, struct net_worker *w, uint64_t stamp)
{
	(void)w;
	return tso_passed(((struct txn_table_view *)arg)->db->tso, stamp);
}

/* ---- making, opening, closing ---- */

nam_status
txn_table_create(struct txn_worker *tw, struct txn_table *t)
{
	struct txn_db *db = tw->db;
	NAM_ASSERT(t->id > 0);
	if (t->slots == 0)
		t->slots = 2;
	if (t->slots < 2 || t->slots > REC_SLOTS_MAX || t->row_max > TXN_ROW_MAX)
		return NAM_INVALID;
	nam_status st = NAM_FULL;
	for (unsigned i = 0; st == NAM_FULL && i < db->nregions; i++)
		st = net_extent_take(tw->w, db->regions[(t->id + i) % db->nregions], 1, &t->anchor);
	if (st != NAM_OK)
		return st;
	struct txn_anchor a = { .magic = TXN_ANCHOR_MAGIC, .table = t->id };
	st = net_write1(tw->w, t->anchor, &a, sizeof a, NULL);
	if (st == NAM_OK && t->has_key) {
		struct txn_table_view v = { .db = db, .anchor = t->anchor };
		struct idx_memory mem = { .take = index_memory, .arg = &v };
		st = idx_hash_create(tw->w, net_plus(t->anchor, TXN_ANCHOR_INDEX), &mem);
	}
	if (st != NAM_OK)
		txn_table_release(tw, t->anchor);
	return st;
}

/* The resize lock says whose it is as lock words do, so that who finds it held by the dead can tell. Nobody
 * of this process is in there when its slot changes. */
void
txn_index_owner(struct txn_table_view *v)
{
	if (v->index)
		idx_hash_set_owner(v->index,
		    txn_lock_word(tso_owner(v->db->tso), tso_epoch(v->db->tso), TXN_INTENT_INDEX, 0));
}

nam_status
txn_table_open(struct txn_db *db, struct txn_table *t)
{
	struct txn_table_view *v = calloc(1, sizeof *v);
	if (v == NULL)
		return NAM_NOMEM;
	v->db = db;
	v->table = t->id;
	v->anchor = t->anchor;
	v->has_key = t->has_key;
	v->blobs = t->blobs;
	v->blob_table = *t;
	txn_view_sizes(v, t->slots, t->row_max);
	v->memory = (struct idx_memory){ .take = index_memory, .arg = v };
	if (t->has_key &&
	    (v->index = idx_hash_open(net_plus(t->anchor, TXN_ANCHOR_INDEX), &v->memory)) == NULL) {
		free(v);
		return NAM_NOMEM;
	}
	if (v->index) {
		struct idx_reclaim r = { index_now, index_passed, v };
		idx_hash_set_reclaim(v->index, &r);
	}
	txn_index_owner(v);
	v->next = atomic_load(&db->views);
	while (!atomic_compare_exchange_weak(&db->views, &v->next, v))
		;
	t->view = v;
	return NAM_OK;
}

void
txn_table_close(struct txn_db *db, struct txn_table *t)
{
	(void)db;
	if (t->view) {
		atomic_store(&t->view->dead, true); /* the view stays for garbage that still names it */
		while (atomic_load(&t->view->asking) > 0)
			sched_yield(); /* the owner may go once we return; a callback never parks */
	}
	t->view = NULL;
}

nam_status
txn_table_free(struct txn_worker *tw, const struct txn_table *t, tso_cid dropped)
{
	txn_junk_add(tw, (struct txn_junk){ .cid = dropped, .kind = JUNK_TABLE, .at = t->anchor });
	return NAM_OK;
}

/* Gives everything back, the anchor last: a crash before that leaves what the next try finds. */
nam_status
txn_table_release(struct txn_worker *tw, net_addr anchor)
{
	struct net_worker *w = tw->w;
	struct txn_anchor a;
	nam_status st = net_read1(w, anchor, &a, sizeof a, NULL);
	if (st != NAM_OK || a.magic != TXN_ANCHOR_MAGIC)
		return st;
	for (uint64_t at = a.blocks; st == NAM_OK && at != 0;) {
		uint64_t next;
		st = net_read1(w, (net_addr){ at }, &next, 8, NULL);
		if (st == NAM_OK)
			st = net_extent_give(w, (net_addr){ at });
		at = next;
	}
	for (uint64_t i = 0; st == NAM_OK && i < a.used; i++) {
		struct txn_ledger_entry e = { 0 };
		net_addr entry;
		st = ledger_at(tw->db, w, anchor, i, false, &entry);
		if (st == NAM_FULL) {
			st = NAM_OK; /* handed out and turned down */
			break;
		}
		if (st == NAM_OK && entry.bits != 0)
			st = net_read1(w, entry, &e, sizeof e, NULL);
		for (uint64_t k = 0; st == NAM_OK && e.at != 0 && k < (e.extents & TXN_LEDGER_COUNT); k++)
			st = net_extent_give(w, (net_addr){ e.at + k * NET_EXTENT });
	}
	for (uint64_t i = TXN_LEDGER_INLINE; st == NAM_OK && i < a.used; i += TXN_LEDGER_PAGE) {
		net_addr page;
		if (ledger_at(tw->db, w, anchor, i, false, &page) == NAM_OK && page.bits != 0)
			st = net_extent_give(w, page);
	}
	uint64_t zero = 0;
	if (st == NAM_OK)
		st = net_write1(w, anchor, &zero, 8, NULL);
	if (st == NAM_OK)
		st = net_extent_give(w, anchor);
	return st;
}

/* ---- blocks ---- */

static struct txn_alloc *
alloc_of(struct txn_worker *tw, struct txn_table_view *v)
{
	struct txn_alloc *a = v->alloc[tw->number];
	if (a == NULL) {
		a = calloc(1, sizeof *a);
		v->alloc[tw->number] = a;
	}
	return a;
}

static bool
free_push(struct txn_free *f, uint64_t x)
{
	if (!txn_grow((void **)&f->item, f->n, &f->cap, sizeof *f->item))
		return false; /* the memory is lost until the table goes: better than stopping */
	f->item[f->n++] = x;
	return true;
}

static void
spare_push(struct txn_alloc *a, struct txn_stretch s)
{
	if (s.at < s.end && txn_grow((void **)&a->spare, a->spares, &a->spares_cap, sizeof s))
		a->spare[a->spares++] = s;
}

/* Takes over what processes before us gave back: half used extents, emptied blocks. */
static nam_status
adopt(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a)
{
	struct net_worker *w = tw->w;
	struct txn_anchor an;
	a->looked = true;
	nam_status st = net_read1(w, v->anchor, &an, sizeof an, NULL);
	if (st != NAM_OK)
		return st;
	if (an.magic != TXN_ANCHOR_MAGIC || an.table != v->table)
		return NAM_ABSENT; /* dropped meanwhile */
	uint64_t seen = 0;
	if (an.partial != 0)
		st = net_cas1(
		    w, net_plus(v->anchor, offsetof(struct txn_anchor, partial)), an.partial, 0, &seen, NULL);
	for (uint64_t at = seen == an.partial ? seen : 0; st == NAM_OK && at != 0;) {
		struct txn_extent e;
		st = net_read1(w, (net_addr){ at }, &e, sizeof e, NULL);
		if (st != NAM_OK || e.table != v->table || e.used < sizeof e || e.used > NET_EXTENT)
			break;
		struct txn_stretch s = { at + e.used,
			at + sizeof e + (uint64_t)v->per_extent * v->block_bytes };
		unsigned r = net_region_of((net_addr){ at });
		if (a->block[r].at == a->block[r].end)
			a->block[r] = s;
		else
			spare_push(a, s);
		at = e.partial;
	}
	seen = 0;
	if (st == NAM_OK && an.free != 0)
		st = net_cas1(
		    w, net_plus(v->anchor, offsetof(struct txn_anchor, free)), an.free, 0, &seen, NULL);
	if (st == NAM_OK && seen == an.free)
		a->chain = seen;
	return st;
}

static nam_status
new_extent(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a, unsigned region)
{
	struct net_worker *w = tw->w;
	net_addr at;
	nam_status st = net_extent_take(w, region, 1, &at);
	if (st != NAM_OK)
		return st;
	struct txn_extent e = { .table = v->table };
	net_addr head = net_plus(v->anchor, offsetof(struct txn_anchor, blocks));
	uint64_t seen;
	st = net_read1(w, head, &e.next, 8, NULL);
	while (st == NAM_OK) {
		st = net_write1(w, at, &e, sizeof e, NULL);
		if (st == NAM_OK)
			st = net_cas1(w, head, e.next, at.bits, &seen, NULL);
		if (st != NAM_OK || seen == e.next)
			break;
		e.next = seen;
	}
	if (st != NAM_OK)
		return st;
	struct txn_stretch s = { at.bits + sizeof e,
		at.bits + sizeof e + (uint64_t)v->per_extent * v->block_bytes };
	/* Another coroutine of this worker may have been here while we waited. */
	if (a->block[region].at < a->block[region].end)
		spare_push(a, s);
	else
		a->block[region] = s;
	return NAM_OK;
}

nam_status
txn_block_take(struct txn_worker *tw, struct txn_table_view *v, net_addr *at, uint64_t *word)
{
	struct txn_alloc *a = alloc_of(tw, v);
	struct txn_db *db = tw->db;
	if (a == NULL)
		return NAM_NOMEM;
	nam_status st = NAM_OK;
	if (!a->looked && (st = adopt(tw, v, a)) != NAM_OK)
		return st;
	if (a->blocks.n > 0) {
		*word = a->blocks.item[--a->blocks.n];
		at->bits = a->blocks.item[--a->blocks.n];
		return NAM_OK;
	}
	if (a->chain != 0) {
		uint64_t link[2];
		*at = (net_addr){ a->chain };
		a->chain = 0; /* another coroutine must not take the same one; it gets fresh memory instead */
		st = net_read1(tw->w, net_plus(*at, v->head_bytes), link, sizeof link, NULL);
		if (st != NAM_OK)
			return st;
		a->chain = link[0];
		*word = link[1];
		return NAM_OK;
	}
	st = NAM_FULL;
	for (unsigned i = 0; i < db->nregions; i++) {
		unsigned r = db->regions[tw->rr++ % db->nregions];
		struct txn_stretch *s = &a->block[r];
		if (s->at == s->end && a->spares > 0)
			*s = a->spare[--a->spares];
		if (s->at == s->end) {
			st = new_extent(tw, v, a, r);
			if (st == NAM_GONE || st == NAM_FULL || s->at == s->end)
				continue;
			if (st != NAM_OK)
				return st;
		}
		*at = (net_addr){ s->at };
		*word = 0;
		s->at += v->block_bytes;
		return NAM_OK;
	}
	return st;
}

void
txn_block_give(struct txn_worker *tw, struct txn_table_view *v, net_addr at, uint64_t word)
{
	struct txn_alloc *a = alloc_of(tw, v);
	if (a == NULL || atomic_load_explicit(&v->dead, memory_order_relaxed))
		return;
	if (free_push(&a->blocks, at.bits) && !free_push(&a->blocks, word))
		a->blocks.n--;
}

/* ---- archives and blobs: carved from extents of the ledger ---- */

static nam_status
aux_take(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a, uint32_t bytes, net_addr *at)
{
	if (a->aux.end - a->aux.at < bytes) {
		net_addr ext;
		nam_status st = take_extents(v, tw->w, 1, 0, tw->rr++, &ext);
		if (st != NAM_OK)
			return st;
		a->aux = (struct txn_stretch){ ext.bits, ext.bits + NET_EXTENT };
	}
	*at = (net_addr){ a->aux.at };
	a->aux.at += bytes;
	return NAM_OK;
}

nam_status
txn_archive_take(struct txn_worker *tw, struct txn_table_view *v, net_addr *at)
{
	struct txn_alloc *a = alloc_of(tw, v);
	if (a == NULL)
		return NAM_NOMEM;
	if (a->archives.n > 0) {
		at->bits = a->archives.item[--a->archives.n];
		return NAM_OK;
	}
	return aux_take(tw, v, a, v->archive_bytes, at);
}

void
txn_archive_give(struct txn_worker *tw, struct txn_table_view *v, net_addr at)
{
	struct txn_alloc *a = alloc_of(tw, v);
	if (a != NULL && !atomic_load_explicit(&v->dead, memory_order_relaxed))
		free_push(&a->archives, at.bits);
}

static unsigned
blob_class(uint32_t len)
{
	unsigned c = 0;
	while ((64u << c) < len)
		c++;
	return c;
}

nam_status
txn_blob_take(struct txn_worker *tw, struct txn_table_view *v, uint32_t len, net_addr *at)
{
	struct txn_alloc *a = alloc_of(tw, v);
	if (a == NULL)
		return NAM_NOMEM;
	unsigned c = blob_class(len);
	if (c >= TXN_BLOB_CLASSES)
		return take_extents(
		    v, tw->w, (unsigned)((len + NET_EXTENT - 1) / NET_EXTENT), 0, tw->rr++, at);
	if (a->blob[c].n > 0) {
		at->bits = a->blob[c].item[--a->blob[c].n];
		return NAM_OK;
	}
	return aux_take(tw, v, a, 64u << c, at);
}

void
txn_blob_give(struct txn_worker *tw, struct txn_table_view *v, net_addr at, uint32_t len)
{
	struct txn_alloc *a = alloc_of(tw, v);
	if (a == NULL || atomic_load_explicit(&v->dead, memory_order_relaxed))
		return;
	unsigned c = blob_class(len);
	if (c < TXN_BLOB_CLASSES) {
		free_push(&a->blob[c], at.bits);
		return;
	}
	/* A long one was taken as whole extents: they become memory for shorter ones. */
	uint64_t end = at.bits + (len + NET_EXTENT - 1) / NET_EXTENT * NET_EXTENT;
	for (uint64_t x = at.bits; x < end; x += 64u << (TXN_BLOB_CLASSES - 1))
		free_push(&a->blob[TXN_BLOB_CLASSES - 1], x);
}

/* ---- at the end of a worker: what is left goes back to the tables ---- */

static void
give_partial(struct txn_worker *tw, struct txn_table_view *v, struct txn_stretch s)
{
	uint64_t mask = NET_EXTENT - 1, ext = s.at & ~mask, seen;
	/* Extents are aligned in their region; the stretch ends inside the one it began in. */
	if (s.at >= s.end)
		return;
	net_addr head = net_plus(v->anchor, offsetof(struct txn_anchor, partial));
	uint64_t next[2] = { s.at & mask, 0 };
	nam_status st = net_read1(tw->w, head, &next[1], 8, NULL);
	while (st == NAM_OK) {
		st = net_write1(tw->w, (net_addr){ ext + offsetof(struct txn_extent, used) }, next, 16, NULL);
		if (st == NAM_OK)
			st = net_cas1(tw->w, head, next[1], ext, &seen, NULL);
		if (st != NAM_OK || seen == next[1])
			break;
		next[1] = seen;
	}
}

/* Chains the emptied blocks and pushes the chain. */
static void
give_blocks(struct txn_worker *tw, struct txn_table_view *v, struct txn_alloc *a)
{
	net_addr head = net_plus(v->anchor, offsetof(struct txn_anchor, free));
	uint64_t first = a->chain, seen, now;
	while (a->blocks.n > 0) {
		uint64_t link[2] = { first, a->blocks.item[--a->blocks.n] };
		uint64_t at = a->blocks.item[--a->blocks.n];
		if (net_write1(tw->w, (net_addr){ at + v->head_bytes }, link, 16, NULL) != NAM_OK)
			return;
		first = at;
	}
	if (first == 0 || net_read1(tw->w, head, &now, 8, NULL) != NAM_OK)
		return;
	/* Only an empty list takes a chain whole; else it stays lost until the table is dropped. */
	if (now == 0)
		net_cas1(tw->w, head, 0, first, &seen, NULL);
}

void
txn_tables_settle(struct txn_worker *tw)
{
	for (struct txn_table_view *v = atomic_load(&tw->db->views); v != NULL; v = v->next) {
		struct txn_alloc *a = v->alloc[tw->number];
		if (a == NULL)
			continue;
		struct txn_anchor an = { 0 };
		bool alive = !atomic_load(&v->dead) &&
			     net_read1(tw->w, v->anchor, &an, sizeof an, NULL) == NAM_OK &&
			     an.magic == TXN_ANCHOR_MAGIC && an.table == v->table;
		if (alive) {
			for (unsigned r = 0; r < NET_REGIONS; r++)
				give_partial(tw, v, a->block[r]);
			for (unsigned i = 0; i < a->spares; i++)
				give_partial(tw, v, a->spare[i]);
			give_blocks(tw, v, a);
		}
		free(a->spare);
		free(a->blocks.item);
		free(a->archives.item);
		for (unsigned c = 0; c < TXN_BLOB_CLASSES; c++)
			free(a->blob[c].item);
		free(a);
		v->alloc[tw->number] = NULL;
	}
}
