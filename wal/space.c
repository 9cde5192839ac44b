/*
 * space.c -- what the shard takes fits into segments that are there: a record that was received can
 * be flushed, also when the disk is full.
 *
 * The flusher tells, in this order, how many bytes of the segment and of the next one are free, and
 * up to which position it has taken the records. Each block costs up to a page beyond its records;
 * how many blocks there will be the shard does not know. Those that wait now make at most
 * buffer / 3 MiB + 2 (a block is full at 4 MiB less a record; the change of segment cuts one more).
 * Between the moment when the shard has read `fit` and that when its record is there, the flusher
 * may have made as many. So `fit` keeps twice the number back: slack. At the change of segments the
 * rest of the old one is lost; it is smaller than the record that did not fit, so than the largest.
 *
 * If no record waits, nothing has to be estimated: the record is a block of its own.
 */
#include "wal_internal.h"

static uint64_t
alone(uint64_t bytes)
{
	return wal_pages(WAL_BLOCK_HEAD + bytes);
}

uint64_t
wal_space_slack(const struct wal_config *cfg)
{
	uint64_t blocks = cfg->buffer_bytes / (WAL_BLOCK_MAX - WAL_RECORD_MAX - WAL_PAGE) + 2;
	return 2 * blocks * (WAL_BLOCK_HEAD + WAL_PAGE);
}

void
wal_space_tell(struct wal *w, uint64_t taken)
{
	uint64_t rest = w->f.cur != NULL ? w->cfg.segment_bytes - w->f.at : 0;
	/* When next becomes cur: first it is not counted, then counted as cur. */
	if (!w->f.ready)
		atomic_store_explicit(&w->extra, 0, memory_order_release);
	atomic_store_explicit(&w->rest, rest, memory_order_release);
	atomic_store_explicit(
	    &w->fit, (int64_t)taken + (int64_t)rest - (int64_t)w->slack, memory_order_release);
	if (w->f.ready)
		atomic_store_explicit(&w->extra, w->room, memory_order_release);
	atomic_store_explicit(&w->taken, taken, memory_order_release);
}

nam_status
wal_space_for(const struct wal *w, uint64_t bytes, bool spare)
{
	bool full = atomic_load_explicit(&w->condition, memory_order_acquire) == WAL_SPACE;
	if (full && !spare)
		return NAM_FULL;
	uint64_t received = atomic_load_explicit(&w->received, memory_order_relaxed);
	uint64_t taken = atomic_load_explicit(&w->taken, memory_order_acquire);
	uint64_t kept = spare ? 0 : w->cfg.reserve_bytes;
	if (received - taken + bytes > w->cfg.buffer_bytes)
		return NAM_BUSY;
	int64_t fit = atomic_load_explicit(&w->fit, memory_order_acquire);
	uint64_t rest = atomic_load_explicit(&w->rest, memory_order_acquire);
	uint64_t extra = atomic_load_explicit(&w->extra, memory_order_acquire);
	if (received == taken && (alone(bytes) + kept <= rest || alone(bytes) + kept <= extra))
		return NAM_OK;
	uint64_t lost = alone(bytes > w->largest ? bytes : w->largest);
	if (extra > lost)
		fit += (int64_t)(extra - lost);
	if ((int64_t)(received + bytes + kept) <= fit)
		return NAM_OK;
	return full ? NAM_FULL : NAM_BUSY;
}
