/*
 * write.c -- the flusher: block, sync, block, sync; and between them, what else is due.
 *
 * A block takes all records that have gathered while the one before was written and synced.
 */
#include "wal_internal.h"

#include <base/assert.h>
#include <base/clock.h>
#include <base/fault.h>
#include <base/hash.h>

#include <lz4.h>
#include <string.h>

#define RELAXED memory_order_relaxed
#define ACQUIRE memory_order_acquire
#define RELEASE memory_order_release

enum {
	CUT_RESTS = 16,  /* steps until a cut that had no space is tried again */
	SWEEP_EVERY = 8, /* steps until a file is removed though records wait */
};

void
wal_break(struct wal *w, const struct nam_err *err)
{
	if (atomic_load_explicit(&w->condition, RELAXED) == WAL_BROKEN)
		return;
	w->why_broken = *err;
	atomic_store_explicit(&w->condition, WAL_BROKEN, RELEASE);
}

static void
ring_copy(const struct wal *w, uint64_t position, void *out, uint64_t bytes)
{
	uint64_t at = position & (w->cfg.buffer_bytes - 1), first = w->cfg.buffer_bytes - at;
	if (first > bytes)
		first = bytes;
	memcpy(out, w->ring + at, first);
	memcpy((char *)out + first, w->ring, bytes - first);
}

/* Bytes of the whole records from that position on that fit into `most`. */
static uint32_t
fitting(const struct wal *w, uint64_t from, uint64_t waiting, uint64_t most)
{
	if (waiting <= most)
		return (uint32_t)waiting;
	uint64_t bytes = 0;
	for (;;) {
		struct wal_record_head head;
		ring_copy(w, from + bytes, &head, sizeof head);
		uint64_t one = wal_record_bytes(head.bytes);
		if (bytes + one > most)
			return (uint32_t)bytes;
		bytes += one;
	}
}

/* How many bytes of records the next block has; 0 = none waits, or the first does not fit. */
static uint32_t
next_block(const struct wal *w, uint64_t *waiting)
{
	uint64_t from = atomic_load_explicit(&w->taken, RELAXED);
	uint64_t rest = w->f.cur != NULL ? w->cfg.segment_bytes - w->f.at : 0;
	*waiting = atomic_load_explicit(&w->received, ACQUIRE) - from;
	if (*waiting == 0 || rest <= WAL_BLOCK_HEAD)
		return 0;
	uint64_t most = rest - WAL_BLOCK_HEAD;
	return fitting(w, from, *waiting, most < w->f.block_max ? most : w->f.block_max);
}

/* The records' part of f->packed, 0 = it would not save a page. */
static uint32_t
pack(struct wal *w, uint32_t bytes)
{
	uint64_t pages = wal_pages(WAL_BLOCK_HEAD + bytes);
	if (w->cfg.plain || bytes < WAL_PACK_MIN)
		return 0;
	int n = LZ4_compress_default(w->f.raw + WAL_BLOCK_HEAD, w->f.packed + WAL_BLOCK_HEAD, (int)bytes,
	    (int)(pages - WAL_PAGE - WAL_BLOCK_HEAD));
	return n > 0 ? (uint32_t)n : 0;
}

static void
write_block(struct wal *w, uint32_t bytes)
{
	struct wal_writer *f = &w->f;
	struct nam_err err;
	uint64_t from = f->written;
	ring_copy(w, from, f->raw + WAL_BLOCK_HEAD, bytes);
	uint32_t packed = pack(w, bytes), stored = packed != 0 ? packed : bytes, at = f->at;
	char *block = packed != 0 ? f->packed : f->raw;
	struct wal_block_head head = {
		.magic = WAL_BLOCK_MAGIC,
		.cluster = atomic_load_explicit(&w->cluster, RELAXED),
		.life = atomic_load_explicit(&w->life, RELAXED),
		.segment = f->number,
		.position = from,
		.at = at,
		.flags = packed != 0 ? WAL_LZ4 : 0,
		.bytes = bytes,
		.stored = stored,
	};
	head.check = nam_hash(
	    &head, offsetof(struct wal_block_head, check), nam_hash(block + WAL_BLOCK_HEAD, stored, 0));
	memcpy(block, &head, sizeof head);
	uint32_t whole = (uint32_t)wal_pages(WAL_BLOCK_HEAD + stored);
	memset(block + WAL_BLOCK_HEAD + stored, 0, whole - WAL_BLOCK_HEAD - stored);
	f->at += whole;
	f->written += bytes;
	f->dirty = true;
	wal_space_tell(w, f->written);
	if (w->dir->ops->write(w->dir, f->cur, at, block, whole, &err) != NAM_OK) {
		wal_break(w, &err);
		return;
	}
	atomic_fetch_add_explicit(&w->blocks, 1, RELAXED);
	atomic_fetch_add_explicit(&w->stored, whole, RELAXED);
}

static void
sync_blocks(struct wal *w)
{
	struct nam_err err;
	uint64_t begin = wal_now_ns(w);
	if (!nam_fault(WAL_UNSYNCED) && wal_sync(w, w->f.cur, &err) != NAM_OK) {
		wal_break(w, &err);
		return;
	}
	atomic_store_explicit(&w->sync_ns, wal_now_ns(w) - begin, RELAXED);
	atomic_fetch_add_explicit(&w->syncs, 1, RELAXED);
	w->f.dirty = false;
	atomic_store_explicit(&w->flushed, w->f.written, RELEASE);
}

void
wal_lack(struct wal *w, const struct nam_err *err)
{
	if (!atomic_load_explicit(&w->space_said, RELAXED)) {
		w->why_space = *err;
		atomic_store_explicit(&w->space_said, true, RELEASE);
	}
	atomic_store_explicit(&w->condition, WAL_SPACE, RELEASE);
}

static bool
publish_due(const struct wal *w)
{
	uint32_t life = atomic_load_explicit(&w->publish, ACQUIRE);
	return life != 0 && life == atomic_load_explicit(&w->life, RELAXED) &&
	       life != atomic_load_explicit(&w->published, RELAXED) && w->f.cur != NULL &&
	       (!w->f.dirty || nam_fault(WAL_PUBLISH_EARLY)) &&
	       (atomic_load_explicit(&w->flushed, RELAXED) >=
		       atomic_load_explicit(&w->publish_behind, RELAXED) ||
		   nam_fault(WAL_PUBLISH_EARLY));
}

/* What the manifest will say of the copies. */
static struct wal_copies
copies_of(const struct wal *w)
{
	const struct wal_named *was = &w->f.named;
	struct wal_copies c = w->publish_copies;
	if (c.copy[0] != 0)
		return c;
	c.copy[0] = w->cfg.node;
	/* What is made out of a copy goes on by itself: it is a database of its own. */
	if (w->cfg.copy)
		c.database =
		    nam_mix(atomic_load_explicit(&w->cluster, RELAXED) ^ (uint64_t)nam_clock_wall_us());
	else
		c.database =
		    was->life != 0 ? was->copies.database : atomic_load_explicit(&w->cluster, RELAXED);
	for (unsigned i = 1; i < WAL_FORMERS; i++)
		c.former[i] = was->copies.former[i - 1];
	c.former[0] = (struct wal_former){ .cluster = was->cluster, .life = was->life };
	return c;
}

/* False: there is no space for a manifest. */
static bool
publish(struct wal *w)
{
	struct nam_err err = { .status = NAM_OK };
	struct wal_named named = {
		.cluster = atomic_load_explicit(&w->cluster, RELAXED),
		.life = atomic_load_explicit(&w->life, RELAXED),
		.lives = atomic_load_explicit(&w->life, RELAXED),
		.least = nam_fault(WAL_PUBLISH_EARLY) ? 0 : atomic_load_explicit(&w->flushed, RELAXED),
		.begin = atomic_load_explicit(&w->begin, RELAXED),
		.whole = atomic_load_explicit(&w->publish_whole, RELAXED),
		.flags = WAL_WHOLE | (w->cfg.backup ? WAL_BACKUP : 0),
		.copies = copies_of(w),
	};
	named.opens = named.begin;
	if (named.lives < w->f.named.lives)
		named.lives = w->f.named.lives;
	nam_status st = wal_manifest_write(w, &named, &err);
	if (st == NAM_FULL) {
		wal_lack(w, &err);
		return false;
	}
	if (st != NAM_OK) {
		wal_break(w, &err);
		return true;
	}
	if (w->f.ready)
		atomic_store_explicit(&w->condition, WAL_WELL, RELEASE);
	atomic_store_explicit(&w->published_cluster, named.cluster, RELAXED);
	atomic_store_explicit(&w->cut_done, named.begin, RELAXED);
	atomic_store_explicit(&w->published, named.life, RELEASE);
	w->f.sweep = true;
	w->f.doomed = 0;
	return true;
}

/* Names a lost node in the manifest. False: none is to be named, or there is no space now. */
static bool
name_lost(struct wal *w)
{
	struct nam_err err = { .status = NAM_OK };
	struct wal_named named = w->f.named;
	uint32_t node = atomic_load_explicit(&w->lost, ACQUIRE);
	unsigned i = 0;
	if (node == 0)
		return false;
	while (i < WAL_COPIES && named.copies.lost[i] != 0 && named.copies.lost[i] != node)
		i++;
	/* A note of a node with a copy stays: there are fewer of these than places. */
	for (unsigned k = 0; i == WAL_COPIES && k < WAL_COPIES; k++)
		if (!wal_ids_have(named.copies.copy, named.copies.lost[k]))
			i = k;
	if (i < WAL_COPIES && named.copies.lost[i] != node) {
		named.copies.lost[i] = node;
		nam_status st = wal_manifest_write(w, &named, &err);
		if (st == NAM_FULL)
			return false;
		if (st != NAM_OK)
			wal_break(w, &err);
	}
	atomic_store_explicit(&w->lost, 0, RELEASE);
	return true;
}

/* Where the life is to begin, if that is due; 0 = it is not. */
static uint64_t
cut_due(const struct wal *w)
{
	uint64_t at = atomic_load_explicit(&w->cut, ACQUIRE);
	bool due =
	    at > atomic_load_explicit(&w->cut_done, RELAXED) &&
	    atomic_load_explicit(&w->published, RELAXED) == atomic_load_explicit(&w->life, RELAXED) &&
	    (atomic_load_explicit(&w->flushed, RELAXED) >= atomic_load_explicit(&w->cut_behind, RELAXED) ||
		nam_fault(WAL_CUT_EARLY));
	return due ? at : 0;
}

/* The last segment whose first record is not behind named->begin, and where that one is. */
static nam_status
segment_with(struct wal *w, struct wal_named *named, struct nam_err *err)
{
	struct wal_window v = { .dir = w->dir };
	nam_status st = NAM_OK;
	uint32_t low = named->first, high = w->f.number + 1;
	while (st == NAM_OK && high - low > 1) {
		uint32_t mid = low + (high - low) / 2;
		uint64_t position = 0;
		st = wal_window_open(&v, named->life, mid, err);
		if (st == NAM_OK)
			st = wal_segment_position(w, &v, named->cluster, &position, err);
		if (st == NAM_OK && position > named->begin) {
			high = mid;
		} else if (st == NAM_OK) {
			low = named->first = mid;
			named->opens = position;
		}
	}
	wal_window_close(&v);
	return st;
}

/* False: there is no space, or no memory, for it now. That refuses no record: the life stays as
 * long as it is, and later steps try again. */
static bool
cut(struct wal *w, uint64_t at)
{
	struct nam_err err = { .status = NAM_OK };
	struct wal_named named = w->f.named;
	named.begin = at;
	named.least = atomic_load_explicit(&w->flushed, RELAXED);
	named.whole = atomic_load_explicit(&w->cut_behind, RELAXED);
	named.flags |= WAL_WHOLE;
	nam_status st = segment_with(w, &named, &err);
	if (st == NAM_OK)
		st = wal_manifest_write(w, &named, &err);
	/* A segment that is half made takes the room, and the ones that go will give more. */
	if (st == NAM_FULL && wal_segment_unmake(w))
		st = wal_manifest_write(w, &named, &err);
	if (st == NAM_NOMEM || st == NAM_FULL) {
		w->f.cut_rests = CUT_RESTS;
		atomic_store_explicit(&w->cut_lacks, true, RELAXED);
		return false;
	}
	if (st != NAM_OK) {
		wal_break(w, &err);
		return true;
	}
	atomic_store_explicit(&w->cut_lacks, false, RELAXED);
	atomic_store_explicit(&w->cut_done, named.begin, RELEASE);
	w->f.sweep = true;
	return true;
}

/* With the turn. */
static bool
step(struct wal *w)
{
	struct wal_writer *f = &w->f;
	uint64_t waiting;
	bool alive = atomic_load_explicit(&w->life, RELAXED) != 0;
	bool space = atomic_load_explicit(&w->condition, RELAXED) != WAL_SPACE;
	if (publish_due(w) && publish(w))
		return true;
	if (name_lost(w))
		return true;
	uint64_t begin = cut_due(w);
	if (w->f.cut_rests > 0)
		w->f.cut_rests--;
	else if (begin != 0 && cut(w, begin))
		return true;
	uint32_t bytes = next_block(w, &waiting);
	if (f->dirty && !(nam_fault(WAL_TWO_BLOCKS) && bytes != 0)) {
		sync_blocks(w);
		return true;
	}
	/* Records may wait at all times. */
	if (f->sweep && ++f->unswept >= SWEEP_EVERY) {
		f->unswept = 0;
		wal_sweep(w);
		return true;
	}
	/* Made at twice the pace at which the current one fills, the next one is ready in time. */
	uint64_t piece = w->cfg.segment_bytes < WAL_PIECE ? w->cfg.segment_bytes : WAL_PIECE;
	if (alive && space && f->cur != NULL && !f->ready && f->made + piece <= 2 * (uint64_t)f->at)
		return wal_segment_make(w) || (bytes != 0 && (write_block(w, bytes), true));
	if (bytes != 0) {
		write_block(w, bytes);
		return true;
	}
	if (f->ready && (f->cur == NULL || waiting != 0)) {
		wal_segment_change(w);
		return true;
	}
	if (f->sweep && (waiting == 0 || !space)) {
		wal_sweep(w);
		return true;
	}
	return alive && !f->ready && wal_segment_make(w);
}

bool
wal_step(struct wal *w)
{
	if (atomic_load_explicit(&w->begin_waits, ACQUIRE)) {
		if (w->f.waited++ < WAL_MANNERS)
			return false;
		w->f.waited = 0;
		atomic_store_explicit(&w->begin_waits, false, RELAXED);
	}
	unsigned free_turn = WAL_TURN_FREE;
	if (!atomic_compare_exchange_strong_explicit(&w->turn, &free_turn, WAL_TURN_STEP, ACQUIRE, RELAXED)) {
		NAM_ASSERT(free_turn == WAL_TURN_BEGIN); /* one thread steps */
		return true;
	}
	bool did = false;
	if (atomic_load_explicit(&w->condition, RELAXED) != WAL_BROKEN)
		did = step(w);
	atomic_store_explicit(&w->turn, WAL_TURN_FREE, RELEASE);
	return did;
}
