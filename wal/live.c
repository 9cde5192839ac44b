/*
 * live.c -- records of the life that is being written, as far as they are flushed: for a backup.
 *
 * The flusher writes behind `flushed` only, so what lies before it does not change. What the window
 * has read ahead may be older than that; a block that is not there is looked for once more.
 */
#include "wal_internal.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>

void
wal_live_close(struct wal *w)
{
	struct wal_live *l = &w->live;
	wal_window_close(&l->view);
	free(l->block);
	l->block = NULL;
	l->bytes = 0;
	l->known = false;
}

static nam_status
wrong(const struct wal_live *l, uint64_t at, struct nam_err *err)
{
	return nam_fail(err, NAM_CORRUPT,
	    "%s is damaged at offset %llu: the block of position %llu is not there; CHECKPOINT writes the "
	    "database anew, and removes what is damaged",
	    l->view.name, (unsigned long long)at, (unsigned long long)l->from);
}

/* The block at l->at; *stored NULL: none is there. */
static nam_status
look(struct wal *w, uint64_t cluster, struct wal_block_head *head, const char **stored, struct nam_err *err)
{
	struct wal_live *l = &w->live;
	nam_status st = wal_window_open(&l->view, l->life, l->segment, err);
	if (st == NAM_OK)
		st = wal_block_at(&l->view, cluster, l->at, head, stored, err);
	if (st != NAM_OK || *stored != NULL)
		return st;
	l->view.len = 0;
	return wal_block_at(&l->view, cluster, l->at, head, stored, err);
}

/* The next block, which is flushed, becomes the one in memory. */
static nam_status
load(struct wal *w, struct nam_err *err)
{
	struct wal_live *l = &w->live;
	uint64_t cluster = atomic_load_explicit(&w->cluster, memory_order_relaxed), position = 0;
	struct wal_block_head head;
	const char *stored;
	nam_status st = look(w, cluster, &head, &stored, err);
	if (st == NAM_OK && stored == NULL) {
		uint64_t at = l->at;
		l->segment++;
		l->at = WAL_PAGE;
		st = wal_window_open(&l->view, l->life, l->segment, err);
		if (st == NAM_OK)
			st = wal_segment_position(w, &l->view, cluster, &position, err);
		if ((st == NAM_OK && position != l->from) || st == NAM_CORRUPT || st == NAM_ABSENT) {
			wal_segment_name(l->view.name, l->life, l->segment - 1);
			return wrong(l, at, err);
		}
		if (st == NAM_OK)
			st = look(w, cluster, &head, &stored, err);
	}
	if (st != NAM_OK)
		return st;
	if (stored == NULL || head.position != l->from)
		return wrong(l, l->at, err);
	if (l->block == NULL && (l->block = malloc(WAL_BLOCK_MAX)) == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory to read %s", l->view.name);
	l->bytes = 0;
	if (head.flags == 0)
		memcpy(l->block, stored, head.bytes);
	else if (LZ4_decompress_safe(stored, l->block, (int)head.stored, WAL_BLOCK_MAX) != (int)head.bytes)
		return wrong(l, l->at, err);
	l->position = head.position;
	l->bytes = head.bytes;
	l->at += wal_pages(sizeof head + head.stored);
	l->from += head.bytes;
	return NAM_OK;
}

struct span {
	uint32_t life, low, high; /* segments [low, high) */
};

static bool
span_one(void *arg, const char *name)
{
	struct span *s = arg;
	uint32_t life, segment;
	if (!wal_segment_named(name, &life, &segment) || life != s->life)
		return true;
	if (segment < s->low)
		s->low = segment;
	if (segment >= s->high)
		s->high = segment + 1;
	return true;
}

/* The begin of the segment that has the position is where the next block lies. */
static nam_status
seek(struct wal *w, uint32_t life, uint64_t position, struct nam_err *err)
{
	struct wal_live *l = &w->live;
	struct span s = { life, UINT32_MAX, 0 };
	uint64_t cluster = atomic_load_explicit(&w->cluster, memory_order_relaxed), at, found = UINT64_MAX;
	l->known = false;
	l->bytes = 0;
	nam_status st = w->dir->ops->list(w->dir, span_one, &s, err);
	while (st == NAM_OK && s.low < s.high) {
		uint32_t mid = s.low + (s.high - s.low) / 2;
		if ((st = wal_window_open(&l->view, life, mid, err)) != NAM_OK)
			break;
		l->view.len = 0;
		st = wal_segment_position(w, &l->view, cluster, &at, err);
		/* One that is made beforehand has no head yet. */
		if (st == NAM_CORRUPT || (st == NAM_OK && at > position)) {
			st = NAM_OK;
			s.high = mid;
			continue;
		}
		l->segment = mid;
		found = at;
		s.low = mid + 1;
	}
	if (st == NAM_OK && found == UINT64_MAX)
		st = nam_fail(err, NAM_CORRUPT, "no segment of life %u has position %llu of the log", life,
		    (unsigned long long)position);
	if (st != NAM_OK)
		return st;
	l->life = life;
	l->at = WAL_PAGE;
	l->from = found;
	l->known = true;
	return NAM_OK;
}

/* Skips blocks of the segment that lie before the position. */
static nam_status
skip(struct wal *w, uint64_t position, struct nam_err *err)
{
	struct wal_live *l = &w->live;
	for (;;) {
		struct wal_block_head head;
		const char *p;
		nam_status st = wal_window_open(&l->view, l->life, l->segment, err);
		if (st == NAM_OK)
			st = wal_window_get(&l->view, l->at, sizeof head, &p, err);
		if (st != NAM_OK)
			return st;
		if (p == NULL)
			return NAM_OK; /* load judges */
		memcpy(&head, p, sizeof head);
		if (head.magic != WAL_BLOCK_MAGIC || head.position != l->from ||
		    position - l->from < head.bytes)
			return NAM_OK;
		l->at += wal_pages(sizeof head + head.stored);
		l->from += head.bytes;
	}
}

/* The block with that position, which is flushed, is in memory. */
static nam_status
find(struct wal *w, uint32_t life, uint64_t position, struct nam_err *err)
{
	struct wal_live *l = &w->live;
	nam_status st = NAM_OK;
	if (l->bytes != 0 && l->life == life && position - l->position < l->bytes)
		return NAM_OK;
	if (!l->known || l->life != life || position != l->from) {
		if ((st = seek(w, life, position, err)) == NAM_OK)
			st = skip(w, position, err);
	}
	if (st == NAM_OK)
		st = load(w, err);
	if (st != NAM_OK)
		l->known = false;
	if (st == NAM_OK && position - l->position >= l->bytes)
		st = wrong(l, l->at, err);
	return st;
}

/* Whole records from the position on, as many as the block has and cap allows. */
static nam_status
take(struct wal *w, uint64_t position, char *out, uint32_t cap, uint32_t *got, struct nam_err *err)
{
	struct wal_live *l = &w->live;
	uint64_t from = position - l->position, off = from;
	while (off < l->bytes) {
		struct wal_record_head head;
		if (off + sizeof head > l->bytes)
			return wrong(l, l->at, err);
		memcpy(&head, l->block + off, sizeof head);
		uint64_t one = wal_record_bytes(head.bytes);
		if (head.flags != 0 || off + one > l->bytes)
			return nam_fail(err, NAM_INVALID, "no record begins at position %llu of the log",
			    (unsigned long long)(l->position + off));
		if (off - from + one > cap)
			break;
		off += one;
	}
	memcpy(out, l->block + from, off - from);
	*got = (uint32_t)(off - from);
	return NAM_OK;
}

nam_status
wal_read_live(struct wal *w, uint32_t life, uint64_t position, void *out, uint32_t cap, uint32_t *got,
    uint64_t *next, struct nam_err *err)
{
	uint64_t flushed = atomic_load_explicit(&w->flushed, memory_order_acquire);
	uint32_t all = 0, some = 1;
	nam_status st = NAM_OK;
	*got = 0;
	if (life == 0 || life != atomic_load_explicit(&w->life, memory_order_relaxed) ||
	    life != atomic_load_explicit(&w->published, memory_order_acquire))
		return nam_fail(err, NAM_REFUSED, "life %u of the log is not the one that is written", life);
	if (position > flushed)
		return nam_fail(err, NAM_INVALID, "the log is flushed up to position %llu, before %llu",
		    (unsigned long long)flushed, (unsigned long long)position);
	if (position >= atomic_load_explicit(&w->cut_done, memory_order_acquire))
		while (st == NAM_OK && some != 0 && position + all < flushed)
			if ((st = find(w, life, position + all, err)) == NAM_OK &&
			    (st = take(w, position + all, (char *)out + all, cap - all, &some, err)) ==
				NAM_OK)
				all += some;
	/* Its files may go while they are read. */
	if (position < atomic_load_explicit(&w->cut_done, memory_order_acquire)) {
		wal_live_close(w);
		return nam_fail(err, NAM_ABSENT, "a checkpoint has cut off position %llu of the log",
		    (unsigned long long)position);
	}
	if (st == NAM_OK && all == 0 && position < flushed)
		return nam_fail(
		    err, NAM_INVALID, "the next record of the log is longer than %u bytes: give more", cap);
	if (st != NAM_OK)
		return st;
	*got = all;
	*next = position + all;
	return NAM_OK;
}
