/*
 * own.c -- what a transaction has written itself, found without a walk over all of it: writes by
 * the addresses of their blocks and by their keys' hashes, and new blobs by their addresses.
 *
 * A table holds numbers of a list's items, each number plus 1, and beside it half of the hash: so a
 * look-up comes to the item that it finds, and to no other. When items are taken off the end of
 * the list their numbers stay: they are passed over until a later item has the number, and then
 * stand for that item. So a rollback to a mark costs what it undoes, not what it leaves.
 */
#include "txn_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAP_MIN = 64,
	ROOM_KEPT = 1 << 16,    /* items of a list that stay for the next transaction */
	ROOM_TRIMMED = 1 << 10, /* ... and from time to time */
};

/* Empties a table and makes it large enough for twice n items. False: no memory, there is none. */
static bool
map_begin(struct txn_map *m, uint32_t n)
{
	uint32_t cap = MAP_MIN;
	while (cap < n * UINT64_C(4))
		cap *= 2;
	if (cap > m->room) {
		free(m->slot);
		m->slot = malloc(cap * sizeof *m->slot);
		m->room = m->slot != NULL ? cap : 0;
	}
	m->cap = m->slot != NULL ? cap : 0;
	m->used = 0;
	if (m->cap > 0)
		memset(m->slot, 0, cap * sizeof *m->slot);
	return m->cap > 0;
}

static bool
map_is_full(const struct txn_map *m)
{
	return (m->used + 1) * UINT64_C(2) > m->cap;
}

static void
map_end(struct txn_map *m, uint32_t kept)
{
	m->cap = 0;
	if (m->room > 4 * kept) {
		free(m->slot);
		m->slot = NULL;
		m->room = 0;
	}
}

#define HASH_HALF (~(uint64_t)UINT32_MAX)

static uint64_t
slot_of(uint64_t hash, uint32_t item)
{
	return (hash & HASH_HALF) | (item + 1);
}
/* The item that a slot stands for, if it may have that hash and the list has so many items;
 * UINT32_MAX: none. */
static uint32_t
item_of(uint64_t slot, uint64_t hash, uint32_t items)
{
	uint32_t i = (uint32_t)slot - 1;
	return ((slot ^ hash) & HASH_HALF) == 0 && i < items ? i : UINT32_MAX;
}

/* ---- writes by address ---- */

/* The place of that address in the table: of a write, or free. */
static uint64_t *
place_of(const struct txn *t, net_addr at, uint64_t hash)
{
	const struct txn_map *m = &t->by_block;
	uint32_t mask = m->cap - 1, i = (uint32_t)hash & mask;
	for (; m->slot[i] != 0; i = (i + 1) & mask) {
		uint32_t k = item_of(m->slot[i], hash, t->nwr);
		if (k != UINT32_MAX && t->wr[k]->at.bits == at.bits)
			break;
	}
	return &m->slot[i];
}

struct txn_write *
txn_own(const struct txn *t, net_addr at)
{
	if (t->by_block.cap > 0) {
		uint64_t slot = *place_of(t, at, nam_mix(at.bits));
		return slot != 0 ? t->wr[(uint32_t)slot - 1] : NULL;
	}
	for (uint32_t i = 0; i < t->nwr; i++)
		if (t->wr[i]->at.bits == at.bits)
			return t->wr[i];
	return NULL;
}

static void
place_write(struct txn *t, uint32_t i)
{
	uint64_t hash = nam_mix(t->wr[i]->at.bits), *to = place_of(t, t->wr[i]->at, hash);
	t->by_block.used += *to == 0;
	*to = slot_of(hash, i);
}

bool
txn_own_added(struct txn *t)
{
	struct txn_map *m = &t->by_block;
	if (m->cap == 0 && t->nwr <= TXN_SMALL)
		return true;
	if (m->cap == 0 || map_is_full(m)) {
		if (!map_begin(m, t->nwr))
			return false;
		for (uint32_t i = 0; i < t->nwr; i++)
			place_write(t, i);
	} else {
		place_write(t, t->nwr - 1);
	}
	return true;
}

/* ---- inserts by key ---- */

static bool
is_insert(const struct txn_write *w, const struct txn_table *table, uint64_t hash, const void *key,
    uint32_t key_len)
{
	return w->kind == WR_INSERT && w->ident == hash && w->table == table && w->slot != NULL &&
	       table->same_key(table, w->slot->payload, (uint32_t)w->slot->meta, key, key_len);
}

/* Writes that the table of keys does not have yet. False: no memory. */
static bool
keys_known(struct txn *t)
{
	struct txn_map *m = &t->by_key;
	if (m->cap == 0)
		t->keyed = 0;
	for (; t->keyed < t->nwr; t->keyed++) {
		const struct txn_write *w = t->wr[t->keyed];
		if (m->cap == 0 || map_is_full(m)) {
			if (!map_begin(m, t->nwr))
				return false;
			t->keyed = 0;
			w = t->wr[0];
		}
		/* All rows of a table without keys have one ident. */
		if (!w->view->has_key || w->at.bits == UINT64_MAX)
			continue;
		uint64_t hash = nam_mix(w->ident);
		uint32_t i = (uint32_t)hash & (m->cap - 1);
		while (m->slot[i] != 0)
			i = (i + 1) & (m->cap - 1);
		m->slot[i] = slot_of(hash, t->keyed);
		m->used++;
	}
	return true;
}

struct txn_write *
txn_own_insert(struct txn *t, const struct txn_table *table, uint64_t hash, const void *key, uint32_t key_len)
{
	if (t->nwr <= TXN_SMALL || !keys_known(t)) {
		for (uint32_t i = 0; i < t->nwr; i++)
			if (is_insert(t->wr[i], table, hash, key, key_len))
				return t->wr[i];
		return NULL;
	}
	const struct txn_map *m = &t->by_key;
	uint64_t mixed = nam_mix(hash);
	for (uint32_t i = (uint32_t)mixed & (m->cap - 1); m->slot[i] != 0; i = (i + 1) & (m->cap - 1)) {
		uint32_t k = item_of(m->slot[i], mixed, t->nwr);
		if (k != UINT32_MAX && is_insert(t->wr[k], table, hash, key, key_len))
			return t->wr[k];
	}
	return NULL;
}

/* ---- new blobs by address ---- */

static uint64_t *
place_of_blob(const struct txn *t, net_addr at, uint64_t hash)
{
	const struct txn_map *m = &t->by_blob;
	uint32_t mask = m->cap - 1, i = (uint32_t)hash & mask;
	for (; m->slot[i] != 0; i = (i + 1) & mask) {
		uint32_t k = item_of(m->slot[i], hash, t->nblobs);
		if (k != UINT32_MAX && t->blob[k].at.bits == at.bits)
			break;
	}
	return &m->slot[i];
}

/* Blobs that the table does not have yet. False: no memory. */
static bool
blobs_known(struct txn *t)
{
	struct txn_map *m = &t->by_blob;
	if (m->cap == 0)
		t->blobs_known = 0;
	for (; t->blobs_known < t->nblobs; t->blobs_known++) {
		if (m->cap == 0 || map_is_full(m)) {
			if (!map_begin(m, t->nblobs))
				return false;
			t->blobs_known = 0;
		}
		uint64_t hash = nam_mix(t->blob[t->blobs_known].at.bits);
		uint64_t *to = place_of_blob(t, t->blob[t->blobs_known].at, hash);
		m->used += *to == 0;
		*to = slot_of(hash, t->blobs_known); /* the newest that has had the address */
	}
	return true;
}

struct txn_new_blob *
txn_own_blob(struct txn *t, net_addr at)
{
	if (t->nblobs > TXN_SMALL && blobs_known(t)) {
		uint64_t slot = *place_of_blob(t, at, nam_mix(at.bits));
		return slot != 0 ? &t->blob[(uint32_t)slot - 1] : NULL;
	}
	for (uint32_t i = t->nblobs; i > 0; i--)
		if (t->blob[i - 1].at.bits == at.bits)
			return &t->blob[i - 1];
	return NULL;
}

/* ---- ends ---- */

void
txn_own_cut(struct txn *t)
{
	t->keyed = t->keyed < t->nwr ? t->keyed : t->nwr;
	t->blobs_known = t->blobs_known < t->nblobs ? t->blobs_known : t->nblobs;
}

/* A list that a large transaction has made long. */
static void
list_end(void *list, uint32_t *cap, uint32_t kept)
{
	void **p = list;
	if (*cap <= kept)
		return;
	free(*p);
	*p = NULL;
	*cap = 0;
}

/* Lists and tables of more than so many items go; the others stay, and are empty. */
static void
keep(struct txn *t, uint32_t kept)
{
	map_end(&t->by_block, kept);
	map_end(&t->by_key, kept);
	map_end(&t->by_blob, kept);
	list_end(&t->wr, &t->wr_cap, kept);
	list_end(&t->blob, &t->blobs_cap, kept);
	list_end(&t->undo, &t->undo_cap, kept);
	list_end(&t->gone, &t->gone_cap, kept);
	list_end(&t->read, &t->reads_cap, kept);
	list_end(&t->absent, &t->absent_cap, kept);
	list_end(&t->entry, &t->entries_cap, kept);
	list_end(&t->unchecked, &t->unchecked_cap, kept);
	list_end(&t->relied, &t->relied_cap, kept);
	list_end(&t->forbids, &t->forbids_cap, kept);
	list_end(&t->touched, &t->touched_cap, kept);
}

void
txn_own_end(struct txn *t)
{
	txn_own_keys_end(t);
	t->keyed = t->blobs_known = 0;
	keep(t, ROOM_KEPT);
}

void
txn_own_trim(struct txn *t)
{
	keep(t, ROOM_TRIMMED);
}

void
txn_own_free(struct txn *t)
{
	keep(t, 0);
}
