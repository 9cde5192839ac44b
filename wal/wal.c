/* wal.c -- the log's life in a process: opened, filled by the shard, asked, closed. */
#include "wal_internal.h"

#include <base/assert.h>
#include <base/clock.h>
#include <base/fault.h>

#include <stdlib.h>
#include <string.h>

#define RELAXED memory_order_relaxed
#define ACQUIRE memory_order_acquire
#define RELEASE memory_order_release

enum { SEGMENT = 64 << 20, SEGMENT_MIN = 64 << 10, BUFFER = 16 << 20, RESERVE = 64 << 10 };

static void
configure(struct wal *w, const struct wal_config *cfg)
{
	w->cfg = *cfg;
	w->dir = w->view.dir = w->live.view.dir = cfg->dir;
	if (w->cfg.segment_bytes == 0)
		w->cfg.segment_bytes = SEGMENT;
	if (w->cfg.buffer_bytes == 0)
		w->cfg.buffer_bytes = BUFFER;
	uint64_t segment = w->cfg.segment_bytes, buffer = w->cfg.buffer_bytes;
	if (w->cfg.reserve_bytes == 0)
		w->cfg.reserve_bytes = segment / 4 < RESERVE ? segment / 4 : RESERVE;
	NAM_ASSERT(segment >= SEGMENT_MIN && segment <= 1 << 30 && segment % WAL_PAGE == 0);
	NAM_ASSERT(w->cfg.reserve_bytes <= segment / 2);
	NAM_ASSERT(buffer >= WAL_PAGE && (buffer & (buffer - 1)) == 0);
	w->room = segment - WAL_PAGE;
	w->slack = wal_space_slack(&w->cfg);
	w->f.block_max = (uint32_t)(buffer < WAL_BLOCK_MAX ? buffer : WAL_BLOCK_MAX);
}

struct opening {
	struct wal *w;
	uint32_t greatest;
	bool any;
};

static bool
see_name(void *arg, const char *name)
{
	struct opening *o = arg;
	uint32_t life, segment;
	if (!wal_segment_named(name, &life, &segment))
		return true;
	o->any = true;
	if (life > o->greatest)
		o->greatest = life;
	return true;
}

static bool
sum_one(void *arg, const char *name)
{
	struct wal *w = arg;
	struct wal_file *f;
	struct nam_err err;
	uint32_t life, segment;
	uint64_t size;
	if (!wal_segment_named(name, &life, &segment) ||
	    w->dir->ops->open(w->dir, name, false, &f, &err) != NAM_OK)
		return true;
	if (w->dir->ops->size(w->dir, f, &size, &err) == NAM_OK)
		atomic_fetch_add_explicit(&w->files, size, RELAXED);
	w->dir->ops->close(w->dir, f);
	return true;
}

/* What a process before has written becomes certain, before anything is concluded from it. */
static nam_status
sync_life(struct wal *w, const struct wal_named *named, uint32_t parts, struct nam_err *err)
{
	nam_status st = NAM_OK;
	if (nam_fault(WAL_READ_UNSYNCED))
		return NAM_OK;
	for (uint32_t s = named->first; (st == NAM_OK || st == NAM_ABSENT) && s < parts; s++)
		if ((st = wal_window_open(&w->view, named->life, s, err)) == NAM_OK)
			st = wal_sync(w, w->view.file, err);
	return st == NAM_ABSENT ? NAM_OK : st; /* wal_judge says which one is missing */
}

static nam_status
open_files(struct wal *w, struct nam_err *err)
{
	struct opening o = { w, 0, false };
	struct wal_named named = { 0 };
	uint32_t parts;
	bool there = false;
	named.flags = w->cfg.copy ? WAL_COPYING : 0;
	nam_status st = wal_sync_dir(w, err);
	if (st == NAM_OK)
		st = wal_manifest_read(w, &named, &there, err);
	if (st == NAM_OK)
		st = w->dir->ops->list(w->dir, see_name, &o, err);
	if (st == NAM_OK && w->cfg.copy && (there || o.any))
		st = nam_fail(err, NAM_INVALID, "a log is there already: name an empty directory");
	if (st == NAM_OK && !there && o.any)
		st = nam_fail(err, NAM_CORRUPT,
		    "manifest is missing, and segments are there: restore the directory from a copy");
	if (st == NAM_OK && !there)
		st = wal_manifest_write(w, &named, err);
	if (st == NAM_OK && named.life != 0) {
		if ((st = wal_count_parts(w, named.life, &parts, err)) == NAM_OK)
			st = sync_life(w, &named, parts, err);
		if (st == NAM_OK)
			st = wal_judge(w, &named, parts, &w->index, err);
	}
	if (st == NAM_OK)
		st = w->dir->ops->list(w->dir, sum_one, w, err);
	if (st != NAM_OK)
		return st;
	w->lives = named.lives > o.greatest ? named.lives : o.greatest;
	w->end = w->index.end;
	w->whole = named.whole;
	w->f.named = named;
	w->f.sweep = true;
	atomic_store_explicit(&w->published_cluster, named.cluster, RELAXED);
	atomic_store_explicit(&w->cut_done, named.begin, RELAXED);
	atomic_store_explicit(&w->published, named.life, RELAXED);
	return NAM_OK;
}

nam_status
wal_open(struct wal **out, const struct wal_config *cfg, struct nam_err *err)
{
	struct wal *w = calloc(1, sizeof *w);
	if (w == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a log");
	configure(w, cfg);
	size_t block = (size_t)wal_pages(WAL_BLOCK_HEAD + (uint64_t)w->f.block_max);
	w->ring = malloc(w->cfg.buffer_bytes);
	w->f.raw = aligned_alloc(WAL_PAGE, block);
	w->f.packed = w->cfg.plain ? NULL : aligned_alloc(WAL_PAGE, block);
	nam_status st = NAM_OK;
	if (w->ring == NULL || w->f.raw == NULL || (!w->cfg.plain && w->f.packed == NULL))
		st = nam_fail(err, NAM_NOMEM, "no memory for the log's buffer of %llu bytes",
		    (unsigned long long)w->cfg.buffer_bytes);
	else
		st = open_files(w, err);
	if (st == NAM_OK)
		*out = w;
	else
		wal_close(w);
	return st;
}

void
wal_close(struct wal *w)
{
	if (w == NULL)
		return;
	wal_segment_forget(w);
	wal_window_close(&w->view);
	wal_live_close(w);
	free(w->index.part);
	free(w->block);
	free(w->ring);
	free(w->f.raw);
	free(w->f.packed);
	free(w);
}

unsigned
wal_node(const struct wal *w)
{
	return w->cfg.node;
}

uint64_t
wal_now_ns(const struct wal *w)
{
	return w->cfg.clock != NULL ? w->cfg.clock(w->cfg.clock_arg) : nam_clock_ns();
}

void
wal_state(const struct wal *w, struct wal_state *out)
{
	/* flushed before received, published before its cluster: each is at most what follows. */
	out->condition = (enum wal_condition)atomic_load_explicit(&w->condition, ACQUIRE);
	out->published = atomic_load_explicit(&w->published, ACQUIRE);
	out->cluster = atomic_load_explicit(&w->published_cluster, RELAXED);
	out->life = atomic_load_explicit(&w->life, ACQUIRE);
	out->lives = atomic_load_explicit(&w->lives, RELAXED);
	out->begin = atomic_load_explicit(&w->cut_done, RELAXED);
	out->cut_lacks = atomic_load_explicit(&w->cut_lacks, RELAXED);
	out->end = w->end;
	out->whole = w->whole;
	out->flushed = atomic_load_explicit(&w->flushed, ACQUIRE);
	out->received = atomic_load_explicit(&w->received, ACQUIRE);
	out->syncs = atomic_load_explicit(&w->syncs, RELAXED);
	out->blocks = atomic_load_explicit(&w->blocks, RELAXED);
	out->stored = atomic_load_explicit(&w->stored, RELAXED);
	out->records = atomic_load_explicit(&w->records, RELAXED);
	out->raw = atomic_load_explicit(&w->raw, RELAXED);
	out->sync_ns = atomic_load_explicit(&w->sync_ns, RELAXED);
	out->files = atomic_load_explicit(&w->files, RELAXED) + WAL_PAGE;
}

void
wal_why(const struct wal *w, struct nam_err *out)
{
	unsigned condition = atomic_load_explicit(&w->condition, ACQUIRE);
	if (condition == WAL_BROKEN)
		*out = w->why_broken;
	else if (condition == WAL_SPACE && atomic_load_explicit(&w->space_said, ACQUIRE))
		*out = w->why_space;
	else
		*out = (struct nam_err){ .status = NAM_OK };
}

static bool
broken(const struct wal *w)
{
	return atomic_load_explicit(&w->condition, ACQUIRE) == WAL_BROKEN;
}

/* With the turn. True: what the life before has promised is not on the disk yet. */
static bool
promised(const struct wal *w, uint32_t life)
{
	bool published = atomic_load_explicit(&w->published, ACQUIRE) == life;
	if (life == 0)
		return false;
	if (!published)
		return atomic_load_explicit(&w->publish, RELAXED) == life;
	return atomic_load_explicit(&w->flushed, ACQUIRE) < atomic_load_explicit(&w->received, RELAXED);
}

static nam_status
begin(struct wal *w, uint64_t cluster, uint64_t position, uint32_t least, uint32_t *life)
{
	unsigned free_turn = WAL_TURN_FREE;
	uint32_t before = atomic_load_explicit(&w->life, RELAXED);
	if (cluster == 0)
		return NAM_INVALID;
	if (broken(w))
		return NAM_IO;
	if (!atomic_compare_exchange_strong_explicit(
		&w->turn, &free_turn, WAL_TURN_BEGIN, ACQUIRE, RELAXED)) {
		atomic_store_explicit(&w->begin_waits, true, RELEASE);
		return NAM_BUSY;
	}
	atomic_store_explicit(&w->begin_waits, false, RELAXED);
	if (broken(w) || promised(w, before)) {
		atomic_store_explicit(&w->turn, WAL_TURN_FREE, RELEASE);
		return broken(w) ? NAM_IO : NAM_BUSY;
	}
	wal_segment_forget(w);
	wal_live_close(w);
	w->f.written = position;
	w->f.sweep = true;
	w->f.doomed = 0;
	w->largest = 0;
	atomic_store_explicit(&w->begin, position, RELAXED);
	atomic_store_explicit(&w->received, position, RELAXED);
	atomic_store_explicit(&w->flushed, position, RELAXED);
	atomic_store_explicit(&w->publish, 0, RELAXED);
	atomic_store_explicit(&w->cut, 0, RELAXED);
	atomic_store_explicit(&w->cut_lacks, false, RELAXED);
	w->f.cut_rests = 0;
	atomic_store_explicit(&w->condition, WAL_WELL, RELAXED);
	wal_space_tell(w, position);
	atomic_store_explicit(&w->cluster, cluster, RELAXED);
	uint32_t number = atomic_load_explicit(&w->lives, RELAXED) + 1;
	*life = number > least ? number : least;
	atomic_store_explicit(&w->lives, *life, RELAXED);
	atomic_store_explicit(&w->life, *life, RELEASE);
	atomic_store_explicit(&w->turn, WAL_TURN_FREE, RELEASE);
	return NAM_OK;
}

nam_status
wal_begin(struct wal *w, uint64_t cluster, uint32_t *life)
{
	return begin(w, cluster, 0, 0, life);
}

nam_status
wal_begin_from(struct wal *w, uint64_t cluster, uint32_t least, uint32_t *life)
{
	return begin(w, cluster, 0, least, life);
}

nam_status
wal_begin_at(struct wal *w, uint64_t cluster, uint64_t position, uint32_t *life)
{
	return begin(w, cluster, position, 0, life);
}

static void
ring_put(struct wal *w, uint64_t position, const void *bytes, uint64_t len)
{
	uint64_t at = position & (w->cfg.buffer_bytes - 1), first = w->cfg.buffer_bytes - at;
	if (first > len)
		first = len;
	if (len != 0) {
		memcpy(w->ring + at, bytes, first);
		memcpy(w->ring, (const char *)bytes + first, len - first);
	}
}

nam_status
wal_append(struct wal *w, uint32_t life, const void *bytes, uint32_t len, bool spare, uint64_t *end)
{
	static const char zeros[8];
	struct wal_record_head head = { .bytes = len };
	uint64_t all = wal_record_bytes(len), received = atomic_load_explicit(&w->received, RELAXED);
	if (life == 0 || life != atomic_load_explicit(&w->life, RELAXED))
		return NAM_REFUSED;
	if (broken(w))
		return NAM_IO;
	if (len > WAL_RECORD_MAX || all > w->f.block_max ||
	    wal_pages(WAL_BLOCK_HEAD + all) + w->cfg.reserve_bytes > w->room)
		return NAM_INVALID;
	nam_status st = wal_space_for(w, all, spare);
	if (st != NAM_OK)
		return st;
	ring_put(w, received, &head, sizeof head);
	ring_put(w, received + sizeof head, bytes, len);
	ring_put(w, received + sizeof head + len, zeros, all - sizeof head - len);
	if (all > w->largest)
		w->largest = all;
	atomic_fetch_add_explicit(&w->records, 1, RELAXED);
	atomic_fetch_add_explicit(&w->raw, all, RELAXED);
	atomic_store_explicit(&w->received, received + all, RELEASE);
	*end = received + all;
	return NAM_OK;
}

static nam_status
publish(struct wal *w, uint32_t life, uint64_t whole, const struct wal_copies *copies)
{
	if (life == 0 || life != atomic_load_explicit(&w->life, RELAXED))
		return NAM_REFUSED;
	if (broken(w))
		return NAM_IO;
	if (atomic_load_explicit(&w->publish, RELAXED) == life)
		return NAM_OK;
	/* The life before has been read: its files can go. */
	wal_window_close(&w->view);
	w->block_at = 0;
	w->publish_copies = *copies;
	atomic_store_explicit(&w->publish_whole, whole, RELAXED);
	atomic_store_explicit(&w->publish_behind, atomic_load_explicit(&w->received, RELAXED), RELAXED);
	atomic_store_explicit(&w->publish, life, RELEASE);
	return NAM_OK;
}

nam_status
wal_publish_as(struct wal *w, uint32_t life, const struct wal_copies *copies)
{
	return publish(w, life, atomic_load_explicit(&w->received, RELAXED), copies);
}

nam_status
wal_publish_copy(struct wal *w, uint32_t life, uint64_t whole)
{
	static const struct wal_copies none;
	return publish(w, life, whole, &none);
}

nam_status
wal_publish(struct wal *w, uint32_t life)
{
	return wal_publish_copy(w, life, atomic_load_explicit(&w->received, RELAXED));
}

nam_status
wal_lost(struct wal *w, uint32_t node)
{
	uint32_t none = 0;
	if (node == 0 || node == w->cfg.node)
		return NAM_REFUSED;
	if (atomic_load_explicit(&w->published, ACQUIRE) == 0)
		return NAM_ABSENT;
	if (broken(w))
		return NAM_IO;
	return atomic_compare_exchange_strong_explicit(&w->lost, &none, node, RELEASE, RELAXED) ||
		       none == node
		   ? NAM_OK
		   : NAM_BUSY;
}

void
wal_copies_now(const struct wal *w, struct wal_copies *out)
{
	*out = w->f.named.copies;
}

nam_status
wal_cut(struct wal *w, uint32_t life, uint64_t position)
{
	uint64_t received = atomic_load_explicit(&w->received, RELAXED);
	if (life == 0 || life != atomic_load_explicit(&w->life, RELAXED))
		return NAM_REFUSED;
	if (broken(w))
		return NAM_IO;
	if (position > received)
		return NAM_INVALID;
	if (position <= atomic_load_explicit(&w->cut, RELAXED))
		return NAM_OK;
	wal_live_close(w);
	atomic_store_explicit(&w->cut_behind, received, RELAXED);
	atomic_store_explicit(&w->cut, position, RELEASE);
	return NAM_OK;
}
