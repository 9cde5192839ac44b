/*
 * judge.c -- which bytes of a life's segments are its records: W1-W4 of wal_format.h.
 *
 * Blocks are followed from segment to segment. Where the next one is not valid, there is the end,
 * or damage: damage, if a valid block or a valid head of a segment of this life lies behind.
 */
#include "wal_internal.h"

#include <base/fault.h>
#include <base/hash.h>

#include <stdlib.h>
#include <string.h>

/* The first invalid place. */
struct hurt {
	bool is;
	uint32_t segment;
	uint64_t at;
};

nam_status
wal_block_at(struct wal_window *v, uint64_t cluster, uint64_t at, struct wal_block_head *head,
    const char **stored, struct nam_err *err)
{
	const char *p;
	*stored = NULL;
	nam_status st = wal_window_get(v, at, sizeof *head, &p, err);
	if (st != NAM_OK || p == NULL)
		return st;
	memcpy(head, p, sizeof *head);
	if (head->magic != WAL_BLOCK_MAGIC || head->cluster != cluster || head->life != v->life)
		return NAM_OK;
	if ((head->segment != v->segment || head->at != at) && !nam_fault(WAL_MISPLACED))
		return NAM_OK;
	bool packed = head->flags == WAL_LZ4;
	if ((head->flags != 0 && !packed) || head->bytes == 0 || head->bytes > WAL_BLOCK_MAX ||
	    (packed ? head->stored >= head->bytes : head->stored != head->bytes))
		return NAM_OK;
	if ((st = wal_window_get(v, at, (uint32_t)sizeof *head + head->stored, &p, err)) != NAM_OK ||
	    p == NULL)
		return st;
	p += sizeof *head;
	if (head->check ==
	    nam_hash(head, offsetof(struct wal_block_head, check), nam_hash(p, head->stored, 0)))
		*stored = p;
	return NAM_OK;
}

/* *head is filled, also if it is not valid. */
static nam_status
segment_head(struct wal *w, struct wal_window *v, uint64_t cluster, struct wal_segment_head *head,
    bool *valid, struct nam_err *err)
{
	const char *p;
	*valid = false;
	nam_status st = wal_window_get(v, 0, sizeof *head, &p, err);
	if (st != NAM_OK || p == NULL)
		return st;
	memcpy(head, p, sizeof *head);
	*valid = head->magic == WAL_SEGMENT_MAGIC && head->version != 0 && head->version <= WAL_VERSION &&
		 head->node == w->cfg.node && head->cluster == cluster && head->life == v->life &&
		 head->number == v->segment &&
		 head->check == nam_hash(head, offsetof(struct wal_segment_head, check), 0);
	return NAM_OK;
}

nam_status
wal_segment_position(
    struct wal *w, struct wal_window *v, uint64_t cluster, uint64_t *position, struct nam_err *err)
{
	struct wal_segment_head head;
	bool valid = false;
	nam_status st = segment_head(w, v, cluster, &head, &valid, err);
	if (st == NAM_OK && !valid)
		return nam_fail(
		    err, NAM_CORRUPT, "%s is damaged at offset 0: it is not what was written there", v->name);
	*position = head.position;
	return st;
}

static nam_status
damaged(uint32_t life, const struct hurt *h, const char *behind, uint64_t at, struct nam_err *err)
{
	char file[WAL_FILE_NAME + 1];
	wal_segment_name(file, life, h->segment);
	return nam_fail(err, NAM_CORRUPT,
	    "%s is damaged at offset %llu: %s at offset %llu follows it; restore the directory from a copy",
	    file, (unsigned long long)h->at, behind, (unsigned long long)at);
}

/* From that offset on no block may be valid: W3. */
static nam_status
nothing_behind(struct wal *w, uint64_t cluster, uint64_t from, const struct hurt *h, struct nam_err *err)
{
	struct wal_window *v = &w->view;
	struct wal_block_head head;
	const char *stored;
	if (nam_fault(WAL_CUT_ANYWHERE))
		return NAM_OK;
	for (uint64_t at = from; at < v->size; at += WAL_PAGE) {
		nam_status st = wal_block_at(v, cluster, at, &head, &stored, err);
		if (st == NAM_OK && stored != NULL)
			st = damaged(v->life, h, v->name, at, err);
		if (st != NAM_OK)
			return st;
	}
	return NAM_OK;
}

/* Follows the blocks of the open segment from *at on. */
static nam_status
follow(struct wal *w, uint64_t cluster, uint64_t *at, uint64_t *position, struct nam_err *err)
{
	struct wal_block_head head;
	const char *stored;
	nam_status st;
	while ((st = wal_block_at(&w->view, cluster, *at, &head, &stored, err)) == NAM_OK && stored != NULL) {
		if (head.position != *position && !nam_fault(WAL_MISPLACED))
			return nam_fail(err, NAM_CORRUPT,
			    "%s is damaged at offset %llu: records %llu to %llu are missing; restore the "
			    "directory from a copy",
			    w->view.name, (unsigned long long)*at, (unsigned long long)*position,
			    (unsigned long long)head.position);
		*position += head.bytes;
		*at += wal_pages(sizeof head + head.stored);
	}
	return st;
}

static nam_status
judge_segment(struct wal *w, uint64_t cluster, struct wal_index *x, struct hurt *h, struct nam_err *err)
{
	struct wal_segment_head head;
	struct wal_part *part = &x->part[w->view.segment - x->first];
	uint64_t at = 0;
	bool valid;
	*part = (struct wal_part){ x->end, WAL_PAGE };
	nam_status st = segment_head(w, &w->view, cluster, &head, &valid, err);
	if (st != NAM_OK)
		return st;
	/* Behind a torn end no segment was begun. If the place that looked like one is nothing but
	 * the unused rest of its segment, positions go on. */
	if (valid && h->is && (h->at == 0 || head.position != x->end) && !nam_fault(WAL_CUT_ANYWHERE))
		return damaged(x->life, h, w->view.name, 0, err);
	if (valid && head.position == x->end) {
		at = WAL_PAGE;
		if ((st = follow(w, cluster, &at, &x->end, err)) != NAM_OK)
			return st;
		part->end = at;
	} else if (valid && !h->is) {
		*h = (struct hurt){ true, w->view.segment, 0 };
		return damaged(x->life, h, "a head of another position", 0, err);
	}
	if (!h->is || h->at != 0)
		*h = (struct hurt){ true, w->view.segment, at };
	return nothing_behind(w, cluster, at, h, err);
}

nam_status
wal_judge(
    struct wal *w, const struct wal_named *named, uint32_t parts, struct wal_index *out, struct nam_err *err)
{
	struct wal_index x = { .cluster = named->cluster,
		.life = named->life,
		.first = named->first,
		.parts = parts,
		.begin = named->begin,
		.end = named->opens };
	struct hurt h = { false, x.first, 0 };
	nam_status st = NAM_OK;
	char file[WAL_FILE_NAME + 1];
	wal_segment_name(file, x.life, x.first);
	if (parts <= x.first)
		return nam_fail(err, NAM_CORRUPT, "%s is missing: restore the directory from a copy", file);
	if ((x.part = calloc(parts - x.first, sizeof *x.part)) == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory to read the log");
	for (uint32_t s = x.first; st == NAM_OK && s < parts; s++) {
		if ((st = wal_window_open(&w->view, x.life, s, err)) == NAM_ABSENT)
			st = nam_fail(err, NAM_CORRUPT, "%s is missing: restore the directory from a copy",
			    w->view.name);
		if (st == NAM_OK)
			st = judge_segment(w, x.cluster, &x, &h, err);
	}
	/* The manifest names a life that has at least so much: W6. */
	if (st == NAM_OK && (x.end < named->least || (h.segment == x.first && h.at == 0))) {
		wal_segment_name(file, x.life, h.segment);
		st = nam_fail(err, NAM_CORRUPT,
		    "%s is damaged at offset %llu: the log ends at position %llu, before %llu; restore the "
		    "directory from a copy",
		    file, (unsigned long long)h.at, (unsigned long long)x.end,
		    (unsigned long long)named->least);
	}
	if (st == NAM_OK)
		*out = x;
	else
		free(x.part);
	return st;
}

struct counting {
	uint32_t life, parts;
};

static bool
count_one(void *arg, const char *name)
{
	struct counting *c = arg;
	uint32_t life, segment;
	if (wal_segment_named(name, &life, &segment) && life == c->life && segment >= c->parts)
		c->parts = segment + 1;
	return true;
}

nam_status
wal_count_parts(struct wal *w, uint32_t life, uint32_t *parts, struct nam_err *err)
{
	struct counting c = { life, 0 };
	nam_status st = w->dir->ops->list(w->dir, count_one, &c, err);
	if (st == NAM_OK)
		*parts = c.parts;
	return st;
}
