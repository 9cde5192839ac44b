/* manifest.c -- one page that names the life that is the database; it is replaced by rename. */
#include "wal_internal.h"

#include <base/fault.h>
#include <base/hash.h>

#include <string.h>

static const char name[] = "manifest", fresh[] = "manifest.new";

static nam_status
judge(const struct wal *w, const struct wal_manifest *m, uint32_t got, struct nam_err *err)
{
	if (got < sizeof *m || m->magic != WAL_MANIFEST_MAGIC ||
	    m->check != nam_hash(m, offsetof(struct wal_manifest, check), 0))
		return nam_fail(err, NAM_CORRUPT,
		    "%s is damaged at offset 0: restore the directory from a copy, or give an empty one",
		    name);
	if (m->version == 0 || m->version > WAL_VERSION)
		return nam_fail(err, NAM_REFUSED,
		    "%s is of version %u, and this program knows 1 to %u: start the program that wrote it",
		    name, m->version, WAL_VERSION);
	if (w->cfg.node != 0 && m->node != w->cfg.node)
		return nam_fail(err, NAM_REFUSED,
		    "%s is of storage node %u, not of %u: give each storage node its own directory", name,
		    m->node, w->cfg.node);
	if (w->cfg.node != 0 && (m->flags & WAL_BACKUP) != 0)
		return nam_fail(err, NAM_REFUSED,
		    "%s is that of a backup, which stays as it is: make a data directory out of it with "
		    "namdb restore",
		    name);
	if (m->flags & WAL_COPYING)
		return nam_fail(err, NAM_REFUSED,
		    "%s is that of a copy which has not come to its end: remove the directory, and make it "
		    "again",
		    name);
	return NAM_OK;
}

nam_status
wal_manifest_read(struct wal *w, struct wal_named *out, bool *there, struct nam_err *err)
{
	struct wal_manifest m;
	struct wal_file *f;
	uint32_t got = 0;
	nam_status st = w->dir->ops->open(w->dir, name, false, &f, err);
	*there = st == NAM_OK;
	if (st == NAM_ABSENT)
		return NAM_OK;
	if (st == NAM_OK) {
		if ((st = wal_sync(w, f, err)) == NAM_OK)
			st = w->dir->ops->read(w->dir, f, 0, &m, sizeof m, &got, err);
		w->dir->ops->close(w->dir, f);
	}
	if (st == NAM_OK)
		st = judge(w, &m, got, err);
	if (st == NAM_OK && w->cfg.node == 0)
		w->cfg.node = m.node;
	if (st != NAM_OK)
		return st;
	/* It had no copies, or is that of no life. */
	if (m.life != 0 && m.copies.database == 0)
		m.copies = (struct wal_copies){ .database = m.cluster, .copy = { m.node } };
	*out = (struct wal_named){ .cluster = m.cluster,
		.life = m.life,
		.lives = m.lives,
		.least = m.least,
		.begin = m.begin,
		.opens = m.opens,
		.first = m.first,
		.flags = m.flags,
		.copies = m.copies,
		.whole = m.flags & WAL_WHOLE ? m.whole : m.least };
	return NAM_OK;
}

nam_status
wal_manifest_write(struct wal *w, const struct wal_named *named, struct nam_err *err)
{
	union {
		struct wal_manifest m;
		char bytes[WAL_PAGE];
	} page;
	struct wal_file *f;
	memset(&page, 0, sizeof page);
	page.m = (struct wal_manifest){
		.magic = WAL_MANIFEST_MAGIC,
		.version = WAL_VERSION,
		.node = w->cfg.node,
		.cluster = named->cluster,
		.life = named->life,
		.lives = named->lives,
		.least = named->least,
		.begin = named->begin,
		.opens = named->opens,
		.first = named->first,
		.flags = named->flags,
		.whole = named->whole,
		.copies = named->copies,
	};
	page.m.check = nam_hash(&page.m, offsetof(struct wal_manifest, check), 0);
	nam_status st = w->dir->ops->open(w->dir, fresh, true, &f, err);
	if (st != NAM_OK)
		return st;
	st = w->dir->ops->write(w->dir, f, 0, &page, sizeof page, err);
	if (st == NAM_OK && !nam_fault(WAL_MANIFEST_UNSYNCED))
		st = wal_sync(w, f, err);
	w->dir->ops->close(w->dir, f);
	if (st == NAM_OK)
		st = w->dir->ops->rename(w->dir, fresh, name, err);
	if (st == NAM_OK && (st = wal_sync_dir(w, err)) == NAM_OK)
		w->f.named = *named;
	return st;
}
