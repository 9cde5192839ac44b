/* record.c -- decides which version a block image shows at a snapshot, and fetches older
 * versions. */
#include "txn_internal.h"

#include <base/fault.h>

#include <string.h>

enum { FETCH_TRIES = 20000, DEAD_EVERY = 16, NEWEST_TRIES = 16 };

bool
txn_rec_dir_whole(const struct txn_table_view *v, const struct rec_block *img, net_addr at)
{
	uint64_t check = img->cid[v->slots];
	if (__builtin_expect(check != 0, 1))
		return check == rec_dir_check(img, v->slots, at.bits);
	/* Never written, or emptied: all zero. */
	uint64_t any = img->ident | img->link;
	for (unsigned k = 0; k < v->slots; k++)
		any |= img->cid[k];
	return any == 0;
}

unsigned
txn_rec_newest(const struct txn_table_view *v, const struct rec_block *img)
{
	unsigned best = REC_NO_SLOT;
	uint64_t cid = 0;
	for (unsigned k = 0; k < v->slots; k++) {
		uint64_t c = rec_cid(img, k);
		if (c > cid) {
			cid = c;
			best = k;
		}
	}
	return best;
}

bool
txn_rec_slot_whole(const struct txn_table_view *v, const struct rec_slot *s, uint64_t cid, net_addr at)
{
	if (s->cid != cid)
		return false;
	uint64_t len = s->meta & UINT32_MAX;
	if (len > v->row_max || (s->meta & ~(UINT64_C(0xffffffff) | REC_DELETED)) != 0)
		return false;
	return s->check == rec_slot_check(nam_hash(s->payload, len, 0), cid, s->meta, at.bits);
}

enum rec_found
txn_rec_resolve(const struct txn_table_view *v, const struct rec_block *img, net_addr at, uint64_t snapshot,
    unsigned *slot)
{
	if (!txn_rec_dir_whole(v, img, at) && !nam_fault(NO_DIRECTORY))
		return REC_TORN;
	uint64_t best = 0;
	for (unsigned k = 0; k < v->slots; k++) {
		uint64_t c = rec_cid(img, k);
		if (nam_fault(NO_DIRECTORY)) {
			const struct rec_slot *s = rec_slot_of(v, img, k);
			c = txn_rec_slot_whole(v, s, s->cid, at) ? s->cid : 0;
		}
		if (c <= snapshot && c > best) {
			best = c;
			*slot = k;
		}
	}
	if (best == 0)
		return img->link != 0 ? REC_OLDER : REC_NONE;
	const struct rec_slot *s = rec_slot_of(v, img, *slot);
	if (__builtin_expect(txn_rec_slot_whole(v, s, best, at), 1) || (nam_fault(NO_PROOF) && s->cid != 0))
		return REC_HERE;
	return img->link != 0 ? REC_OLDER : REC_TORN;
}

/* Looks along the chain for the newest version at or below the snapshot. NAM_ABSENT: the chain ends
 * before such a version. NAM_TORN: the archive linked does not prove its version (its memory is in
 * use for another). */
static nam_status
walk_chain(struct txn *t, const struct txn_table_view *v, uint64_t link, net_addr home, uint64_t snapshot,
    uint64_t want, struct rec_archive *a, const struct rec_slot **out, struct nam_arena *arena)
{
	uint64_t above = UINT64_MAX;
	while (link != 0) {
		nam_status st = net_read1(t->tw->w, (net_addr){ link }, a, v->archive_bytes, &t->counts);
		if (st != NAM_OK)
			return st;
		uint64_t len = a->meta & UINT32_MAX;
		if (a->home != home.bits || len > v->row_max || a->cid >= above ||
		    a->check != rec_archive_check(nam_hash(a->payload, len, 0), a))
			return NAM_TORN;
		if (a->cid <= snapshot) {
			if (want != 0 && a->cid != want)
				return NAM_TORN; /* the directory lists a newer one: read the block
						  * again */
			struct rec_slot *s = nam_arena_take(arena, sizeof *s + len);
			if (s == NULL)
				return NAM_NOMEM;
			s->cid = a->cid;
			s->meta = a->meta;
			memcpy(s->payload, a->payload, len);
			*out = s;
			return NAM_OK;
		}
		above = a->cid;
		link = a->prev;
	}
	return want != 0 ? NAM_TORN : NAM_ABSENT;
}

nam_status
txn_rec_fetch(struct txn *t, const struct txn_table_view *v, struct rec_block *img, net_addr at,
    uint64_t snapshot, const struct rec_slot **out, struct nam_arena *arena)
{
	struct rec_archive *a = nam_arena_take(arena, v->archive_bytes);
	if (a == NULL)
		return NAM_NOMEM;
	struct net_backoff pause = TXN_TORN_BACKOFF;
	for (unsigned tries = 0; tries < FETCH_TRIES; tries++) {
		unsigned slot = 0;
		nam_status st = NAM_TORN;
		switch (txn_rec_resolve(v, img, at, snapshot, &slot)) {
		case REC_HERE:
			*out = rec_slot_of(v, img, slot);
			return NAM_OK;
		case REC_NONE:
			return NAM_ABSENT;
		case REC_TORN:
			break;
		case REC_OLDER: {
			uint64_t want = 0;
			for (unsigned k = 0; k < v->slots; k++) {
				uint64_t c = rec_cid(img, k);
				if (c <= snapshot && c > want)
					want = c;
			}
			st = walk_chain(t, v, img->link, at, snapshot, want, a, out, arena);
			break;
		}
		}
		if (st != NAM_TORN)
			return st;
		t->tw->stats.rereads++;
		if (tries >= TXN_TORN_AT_ONCE)
			net_back_off(t->tw->w, &pause);
		if ((st = txn_go_on(t)) != NAM_OK)
			return st;
		/* A collector that died while it emptied the block left half a directory, and
		 * perhaps no other process meets its lock. */
		if (tries % DEAD_EVERY == DEAD_EVERY - 1 && rec_is_locked(img))
			(void)txn_unlock_dead(t->tw, at, img->word);
		st = net_read1(t->tw->w, at, img, v->block_bytes, &t->counts);
		if (st != NAM_OK)
			return st;
	}
	return NAM_CORRUPT;
}

bool
txn_rec_is_newest(const struct rec_block *img, unsigned n, uint64_t *word)
{
	if (n != REC_NO_SLOT && rec_cid(img, n) == img->word)
		return true;
	if (*word == img->word)
		return true;
	*word = img->word;
	return false;
}

nam_status
txn_rec_read_newest(
    struct txn *t, const struct txn_table_view *v, net_addr at, struct rec_block *img, unsigned *n)
{
	struct net_backoff pause = { .base_ns = TXN_TORN_BASE_NS, .cap_ns = TXN_TORN_CAP_NS };
	uint64_t word = 0;
	for (unsigned tries = 0; tries < NEWEST_TRIES; tries++) {
		if (tries >= TXN_TORN_AT_ONCE)
			net_back_off(t->tw->w, &pause);
		nam_status st = net_read1(t->tw->w, at, img, v->block_bytes, &t->counts);
		if (st == NAM_OK)
			st = txn_go_on(t);
		if (st != NAM_OK)
			return st;
		if (txn_rec_dir_whole(v, img, at)) {
			*n = txn_rec_newest(v, img);
			if (!txn_rec_is_newest(img, *n, &word))
				continue;
			if (*n == REC_NO_SLOT ||
			    txn_rec_slot_whole(v, rec_slot_of(v, img, *n), rec_cid(img, *n), at))
				return NAM_OK;
		}
		t->tw->stats.rereads++;
	}
	/* Half a directory may be what a dead process has left. */
	if (rec_is_locked(img))
		(void)txn_unlock_dead(t->tw, at, img->word);
	return NAM_CONFLICT;
}
