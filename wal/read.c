/* read.c -- records of the published life, one block in memory at a time. */
#include "wal_internal.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>

static nam_status
wrong_block(const struct wal *w, uint64_t at, struct nam_err *err)
{
	return nam_fail(err, NAM_CORRUPT,
	    "%s is damaged at offset %llu: it is not what it was when the log was opened; restore the "
	    "directory "
	    "from a copy",
	    w->view.name, (unsigned long long)at);
}

/* The block at that place, which is there, becomes the one in memory. */
static nam_status
load_block(struct wal *w, uint32_t segment, uint64_t at, uint64_t position, struct nam_err *err)
{
	struct wal_block_head head;
	const char *stored;
	nam_status st = wal_window_open(&w->view, w->index.life, segment, err);
	w->block_at = 0;
	if (st == NAM_OK)
		st = wal_block_at(&w->view, w->index.cluster, at, &head, &stored, err);
	if (st != NAM_OK)
		return st;
	if (stored == NULL)
		return wrong_block(w, at, err);
	if (w->block == NULL && (w->block = malloc(WAL_BLOCK_MAX)) == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory to read %s", w->view.name);
	if (head.flags == 0)
		memcpy(w->block, stored, head.bytes);
	else if (LZ4_decompress_safe(stored, w->block, (int)head.stored, WAL_BLOCK_MAX) != (int)head.bytes)
		return wrong_block(w, at, err);
	w->block_segment = segment;
	w->block_at = at;
	w->block_behind = at + wal_pages(sizeof head + head.stored);
	w->block_position = position;
	w->block_bytes = head.bytes;
	return NAM_OK;
}

static const struct wal_part *
part_of(const struct wal_index *x, uint32_t segment)
{
	return &x->part[segment - x->first];
}

/* The last segment that begins at or before that position. */
static uint32_t
segment_of(const struct wal_index *x, uint64_t position)
{
	uint32_t low = x->first, high = x->parts;
	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;
		/* Behind the end of the life lie parts without blocks. */
		if (part_of(x, mid)->position <= position && part_of(x, mid)->end > WAL_PAGE)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* The block with that position, which the life has. */
static nam_status
find_block(struct wal *w, uint64_t position, struct nam_err *err)
{
	const struct wal_index *x = &w->index;
	uint32_t segment = segment_of(x, position);
	uint64_t at = WAL_PAGE, from = part_of(x, segment)->position;
	if (w->block_at != 0 && w->block_segment == segment && w->block_position <= position) {
		if (position < w->block_position + w->block_bytes)
			return NAM_OK;
		at = w->block_behind;
		from = w->block_position + w->block_bytes;
	}
	nam_status st = wal_window_open(&w->view, x->life, segment, err);
	while (st == NAM_OK) {
		struct wal_block_head head;
		const char *p;
		if ((st = wal_window_get(&w->view, at, sizeof head, &p, err)) != NAM_OK)
			break;
		if (p == NULL || at >= part_of(x, segment)->end)
			return wrong_block(w, at, err);
		memcpy(&head, p, sizeof head);
		if (head.magic != WAL_BLOCK_MAGIC || head.bytes == 0)
			return wrong_block(w, at, err);
		if (position < from + head.bytes)
			return load_block(w, segment, at, from, err);
		from += head.bytes;
		at += wal_pages(sizeof head + head.stored);
	}
	return st;
}

/* Bytes of the record that begins at `off` in the block, 0 = none does. */
static uint64_t
record_at(const struct wal *w, uint64_t off)
{
	struct wal_record_head head;
	if (off + sizeof head > w->block_bytes)
		return 0;
	memcpy(&head, w->block + off, sizeof head);
	uint64_t bytes = wal_record_bytes(head.bytes);
	return head.flags == 0 && off + bytes <= w->block_bytes ? bytes : 0;
}

/* Takes over whole records from the position on, as many as the block has and cap allows. */
static nam_status
take_records(struct wal *w, uint64_t position, char *out, uint32_t cap, uint32_t *got, struct nam_err *err)
{
	uint64_t off = position - w->block_position, bytes = 0, one, begin = 0;
	*got = 0;
	if (position != w->read_next) {
		while (begin < off && (one = record_at(w, begin)) != 0)
			begin += one;
		if (begin != off)
			return nam_fail(err, NAM_INVALID,
			    "no record begins at position %llu of the log: go on where the last reading "
			    "ended",
			    (unsigned long long)position);
	}
	while (off + bytes < w->block_bytes) {
		if ((one = record_at(w, off + bytes)) == 0)
			return wrong_block(w, w->block_at, err);
		if (bytes + one > cap)
			break;
		bytes += one;
	}
	memcpy(out, w->block + off, bytes);
	*got = (uint32_t)bytes;
	return NAM_OK;
}

/* The index is that of the published life. */
static nam_status
look(struct wal *w, uint32_t life, struct nam_err *err)
{
	if (w->index.life == life)
		return NAM_OK;
	/* It was written by this process, so it is synced. */
	struct wal_named named = { 0 };
	struct wal_index x;
	uint32_t parts = 0;
	bool there;
	nam_status st = wal_manifest_read(w, &named, &there, err);
	if (st == NAM_OK && named.life != life)
		st = nam_fail(err, NAM_ABSENT, "the log has no life that could be read");
	if (st == NAM_OK)
		st = wal_count_parts(w, life, &parts, err);
	if (st == NAM_OK)
		st = wal_judge(w, &named, parts, &x, err);
	if (st != NAM_OK)
		return st;
	free(w->index.part);
	w->index = x;
	w->block_at = 0;
	w->read_next = 0;
	return NAM_OK;
}

nam_status
wal_read(struct wal *w, uint64_t position, void *out, uint32_t cap, uint32_t *got, uint64_t *next,
    struct nam_err *err)
{
	uint32_t life = atomic_load_explicit(&w->published, memory_order_acquire);
	if (life == 0 || life == atomic_load_explicit(&w->life, memory_order_relaxed))
		return nam_fail(err, NAM_ABSENT, "the log has no life that could be read");
	nam_status st = look(w, life, err);
	if (st == NAM_OK && position < w->index.begin)
		position = w->index.begin;
	if (st == NAM_OK && position > w->index.end)
		return nam_fail(err, NAM_INVALID, "the log ends at position %llu, before %llu",
		    (unsigned long long)w->index.end, (unsigned long long)position);
	uint32_t all = 0, some = 1;
	while (st == NAM_OK && some != 0 && position + all < w->index.end) {
		if ((st = find_block(w, position + all, err)) == NAM_OK)
			st = take_records(w, position + all, (char *)out + all, cap - all, &some, err);
		if (st == NAM_OK) {
			all += some;
			w->read_next = position + all;
		}
	}
	/* Its files may go while they are read. */
	if (st != NAM_OK && st != NAM_INVALID &&
	    life != atomic_load_explicit(&w->published, memory_order_acquire))
		return nam_fail(err, NAM_ABSENT, "the log has no life that could be read");
	if (st == NAM_OK && all == 0 && position < w->index.end)
		return nam_fail(
		    err, NAM_INVALID, "the next record of the log is longer than %u bytes: give more", cap);
	if (st != NAM_OK)
		return st;
	*got = all;
	*next = position + all;
	return NAM_OK;
}
