/*
 * sweep.c -- files of lives that are neither the database nor being written, and segments that a
 * checkpoint has cut off, are removed, one a step. A number that goes with its last file is first
 * written down in the manifest: W7.
 */
#include "wal_internal.h"

#include <stdio.h>
#include <string.h>

static bool
doom_one(void *arg, const char *name)
{
	struct wal *w = arg;
	uint32_t life, segment;
	if (!wal_segment_named(name, &life, &segment))
		return true;
	bool published = life == atomic_load_explicit(&w->published, memory_order_relaxed);
	if (published ? segment >= w->f.named.first
		      : life == atomic_load_explicit(&w->life, memory_order_relaxed))
		return true;
	snprintf(w->f.doom[w->f.doomed++], WAL_FILE_NAME + 1, "%s", name);
	return w->f.doomed < WAL_DOOMED;
}

static nam_status
remove_one(struct wal *w, const char *name, struct nam_err *err)
{
	struct wal_file *f;
	uint64_t size = 0;
	if (w->dir->ops->open(w->dir, name, false, &f, err) == NAM_OK) {
		if (w->dir->ops->size(w->dir, f, &size, err) != NAM_OK)
			size = 0;
		w->dir->ops->close(w->dir, f);
	}
	nam_status st = w->dir->ops->remove(w->dir, name, err);
	if (st == NAM_OK)
		atomic_fetch_sub_explicit(&w->files, size, memory_order_relaxed);
	return st == NAM_ABSENT ? NAM_OK : st;
}

void
wal_sweep(struct wal *w)
{
	struct wal_writer *f = &w->f;
	struct nam_err err;
	uint32_t life, segment;
	nam_status st = NAM_OK;
	if (f->doomed == 0) {
		st = w->dir->ops->list(w->dir, doom_one, w, &err);
		/* The names are all gone. */
		if (st == NAM_OK && f->doomed == 0) {
			f->sweep = false;
			if (f->swept && (st = wal_sync_dir(w, &err)) == NAM_OK)
				f->swept = false;
		}
	} else {
		const char *name = f->doom[f->doomed - 1];
		if (wal_segment_named(name, &life, &segment) && life > f->named.lives) {
			struct wal_named named = f->named;
			named.lives = life;
			st = wal_manifest_write(w, &named, &err);
		}
		/* Without space for a manifest: what is removed here makes some. */
		if (st == NAM_OK || st == NAM_FULL) {
			st = remove_one(w, name, &err);
			f->swept = true;
			f->doomed--;
		}
	}
	if (st != NAM_OK)
		wal_break(w, &err);
}
