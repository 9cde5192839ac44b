/* segment.c -- the next segment is made before it is needed, piece by piece between blocks: W5. */
#include "wal_internal.h"

#include <base/hash.h>

#include <string.h>

/* next has at least `made` bytes; more, if the last piece was done in part. */
static void
count_files(struct wal *w, uint64_t made)
{
	struct nam_err err;
	uint64_t size = made;
	if (made == w->f.made && w->dir->ops->size(w->dir, w->f.next, &size, &err) != NAM_OK)
		size = made;
	atomic_fetch_add_explicit(&w->files, size - w->f.counted, memory_order_relaxed);
	w->f.counted = size;
}

bool
wal_segment_make(struct wal *w)
{
	struct wal_writer *f = &w->f;
	struct nam_err err = { .status = NAM_OK };
	char name[WAL_FILE_NAME + 1];
	nam_status st = NAM_OK;
	wal_segment_name(name, atomic_load_explicit(&w->life, memory_order_relaxed), f->next_number);
	if (f->next == NULL && (st = w->dir->ops->open(w->dir, name, true, &f->next, &err)) != NAM_OK)
		f->next = NULL;
	uint64_t want = f->made + WAL_PIECE;
	if (want > w->cfg.segment_bytes)
		want = w->cfg.segment_bytes;
	if (st == NAM_OK)
		st = w->dir->ops->reserve(w->dir, f->next, want, &err);
	if (f->next != NULL)
		count_files(w, st == NAM_OK ? want : f->made);
	if (st == NAM_OK)
		st = wal_sync(w, f->next, &err);
	if (st == NAM_OK && want == w->cfg.segment_bytes)
		st = wal_sync_dir(w, &err);
	if (st == NAM_FULL || st == NAM_NOMEM) {
		wal_lack(w, &err);
		return false;
	}
	if (st != NAM_OK) {
		wal_break(w, &err);
		return true;
	}
	f->made = want;
	f->ready = want == w->cfg.segment_bytes;
	if (f->ready) {
		wal_space_tell(w, atomic_load_explicit(&w->taken, memory_order_relaxed));
		atomic_store_explicit(&w->condition, WAL_WELL, memory_order_release);
	}
	return true;
}

bool
wal_segment_unmake(struct wal *w)
{
	struct wal_writer *f = &w->f;
	struct nam_err err;
	char name[WAL_FILE_NAME + 1];
	if (f->next == NULL || f->ready)
		return false;
	w->dir->ops->close(w->dir, f->next);
	f->next = NULL;
	atomic_fetch_sub_explicit(&w->files, f->counted, memory_order_relaxed);
	f->made = f->counted = 0;
	wal_segment_name(name, atomic_load_explicit(&w->life, memory_order_relaxed), f->next_number);
	nam_status st = w->dir->ops->remove(w->dir, name, &err);
	return st == NAM_OK && w->dir->ops->sync_dir(w->dir, &err) == NAM_OK;
}

void
wal_segment_change(struct wal *w)
{
	struct wal_writer *f = &w->f;
	struct nam_err err;
	union {
		struct wal_segment_head h;
		char bytes[WAL_PAGE];
	} page;
	memset(&page, 0, sizeof page);
	page.h = (struct wal_segment_head){
		.magic = WAL_SEGMENT_MAGIC,
		.version = WAL_VERSION,
		.node = w->cfg.node,
		.cluster = atomic_load_explicit(&w->cluster, memory_order_relaxed),
		.life = atomic_load_explicit(&w->life, memory_order_relaxed),
		.number = f->next_number,
		.position = f->written,
	};
	page.h.check = nam_hash(&page.h, offsetof(struct wal_segment_head, check), 0);
	if (f->cur != NULL)
		w->dir->ops->close(w->dir, f->cur);
	f->cur = f->next;
	f->number = f->next_number++;
	f->at = WAL_PAGE;
	f->next = NULL;
	f->made = f->counted = 0;
	f->ready = false;
	if (w->dir->ops->write(w->dir, f->cur, 0, &page, sizeof page, &err) != NAM_OK) {
		wal_break(w, &err);
		return;
	}
	f->dirty = true;
	wal_space_tell(w, atomic_load_explicit(&w->taken, memory_order_relaxed));
}

void
wal_segment_forget(struct wal *w)
{
	struct wal_writer *f = &w->f;
	if (f->cur != NULL)
		w->dir->ops->close(w->dir, f->cur);
	if (f->next != NULL)
		w->dir->ops->close(w->dir, f->next);
	f->cur = f->next = NULL;
	f->number = f->next_number = 0;
	f->at = 0;
	f->made = f->counted = f->written = 0;
	f->dirty = f->ready = false;
}
