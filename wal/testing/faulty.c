/* faulty.c -- files that forget what was not synced. */
#include <base/assert.h>
#include <base/rng.h>
#include <wal/testing/faulty.h>

#include <stdlib.h>
#include <string.h>

enum {
	PAGE = 4096,
	SECTOR = 512,
	NAMES = 256,  /* at most in a directory */
	CHANGES = 256 /* of names, between two sync_dir */
};

enum page { CLEAN, DIRTY, DOUBTFUL /* a sync of it has failed */ };

struct node {
	char *now, *kept; /* as a reader sees it; as it is on the disk */
	uint64_t size, kept_size, cap;
	unsigned char *page; /* of cap / PAGE */
	unsigned refs;
};

struct name {
	char name[WAL_FILE_NAME + 1];
	struct node *node;
};

struct names {
	struct name at[NAMES];
	unsigned n;
};

struct change {
	enum { MAKE, RENAME, REMOVE } kind;
	char name[WAL_FILE_NAME + 1], to[WAL_FILE_NAME + 1];
	struct node *node;
};

struct wal_file {
	struct node *node;
	struct wal_file *next;
	char name[WAL_FILE_NAME + 1];
};

struct faulty {
	struct wal_dir d;
	struct nam_rng dice;
	struct names now, kept;
	struct change change[CHANGES];
	unsigned changes;
	struct wal_file *open;
	uint64_t calls, stop_at, fail_sync, room;
	bool stopped;
};

static struct faulty *
faulty_of(struct wal_dir *d)
{
	return (struct faulty *)d;
}

static void
node_drop(struct node *n)
{
	if (n == NULL || --n->refs != 0)
		return;
	free(n->now);
	free(n->kept);
	free(n->page);
	free(n);
}

static void
node_grow(struct node *n, uint64_t size)
{
	uint64_t cap = (size + PAGE - 1) / PAGE * PAGE;
	if (cap > n->cap) {
		n->now = realloc(n->now, cap);
		n->kept = realloc(n->kept, cap);
		n->page = realloc(n->page, cap / PAGE);
		NAM_ASSERT(n->now != NULL && n->kept != NULL && n->page != NULL);
		memset(n->now + n->cap, 0, cap - n->cap);
		memset(n->kept + n->cap, 0, cap - n->cap);
		memset(n->page + n->cap / PAGE, CLEAN, (cap - n->cap) / PAGE);
		n->cap = cap;
	}
	if (size > n->size)
		n->size = size;
}

static struct name *
name_find(struct names *all, const char *name)
{
	for (unsigned i = 0; i < all->n; i++)
		if (strcmp(all->at[i].name, name) == 0)
			return &all->at[i];
	return NULL;
}

static void
name_remove(struct names *all, const char *name)
{
	struct name *m = name_find(all, name);
	if (m == NULL)
		return;
	node_drop(m->node);
	*m = all->at[--all->n];
}

static void
name_put(struct names *all, const char *name, struct node *node)
{
	node->refs++;
	name_remove(all, name);
	NAM_ASSERT(all->n < NAMES);
	strcpy(all->at[all->n].name, name);
	all->at[all->n++].node = node;
}

static void
change_do(struct names *all, const struct change *c)
{
	if (c->kind == MAKE)
		name_put(all, c->name, c->node);
	if (c->kind == RENAME) {
		name_put(all, c->to, c->node);
		name_remove(all, c->name);
	}
	if (c->kind == REMOVE)
		name_remove(all, c->name);
}

static void
change_add(struct faulty *f, int kind, const char *name, const char *to, struct node *node)
{
	NAM_ASSERT(f->changes < CHANGES);
	struct change *c = &f->change[f->changes++];
	memset(c, 0, sizeof *c);
	c->kind = kind;
	strcpy(c->name, name);
	if (to != NULL)
		strcpy(c->to, to);
	c->node = node;
	if (node != NULL)
		node->refs++;
	change_do(&f->now, c);
}

static void
changes_forget(struct faulty *f)
{
	for (unsigned i = 0; i < f->changes; i++)
		node_drop(f->change[i].node);
	f->changes = 0;
}

/*
 * Counts a call. Not NAM_OK: it fails; *half: the power goes while it is under way, so the caller
 * does a part of it.
 */
static nam_status
call(struct faulty *f, const char *name, bool *half, struct nam_err *err)
{
	f->calls++;
	*half = false;
	if (f->stopped)
		return nam_fail(err, NAM_IO, "no power for %s", name);
	if (f->stop_at != 0 && --f->stop_at == 0) {
		f->stopped = true;
		*half = nam_rng_below(&f->dice, 2) != 0;
		return nam_fail(err, NAM_IO, "the power goes at %s", name);
	}
	return NAM_OK;
}

static uint64_t
bytes_of_all(const struct faulty *f)
{
	uint64_t all = 0;
	for (unsigned i = 0; i < f->now.n; i++)
		all += f->now.at[i].node->size;
	return all;
}

static nam_status
faulty_open(struct wal_dir *d, const char *name, bool make, struct wal_file **out, struct nam_err *err)
{
	struct faulty *f = faulty_of(d);
	bool half;
	nam_status st = call(f, name, &half, err);
	NAM_ASSERT(strlen(name) <= WAL_FILE_NAME && strchr(name, '/') == NULL);
	if (make && (st == NAM_OK || half)) {
		struct node *node = calloc(1, sizeof *node);
		NAM_ASSERT(node != NULL);
		change_add(f, MAKE, name, NULL, node);
	}
	if (st != NAM_OK)
		return st;
	struct name *m = name_find(&f->now, name);
	if (m == NULL)
		return nam_fail(err, NAM_ABSENT, "there is no %s", name);
	struct wal_file *file = calloc(1, sizeof *file);
	NAM_ASSERT(file != NULL);
	strcpy(file->name, name);
	file->node = m->node;
	file->node->refs++;
	file->next = f->open;
	f->open = file;
	*out = file;
	return NAM_OK;
}

static void
faulty_close(struct wal_dir *d, struct wal_file *file)
{
	struct wal_file **at = &faulty_of(d)->open;
	while (*at != file) {
		NAM_ASSERT(*at != NULL);
		at = &(*at)->next;
	}
	*at = file->next;
	node_drop(file->node);
	free(file);
}

static nam_status
faulty_size(struct wal_dir *d, struct wal_file *file, uint64_t *bytes, struct nam_err *err)
{
	bool half;
	nam_status st = call(faulty_of(d), file->name, &half, err);
	if (st == NAM_OK)
		*bytes = file->node->size;
	return st;
}

static nam_status
faulty_read(struct wal_dir *d, struct wal_file *file, uint64_t at, void *out, uint32_t len, uint32_t *got,
    struct nam_err *err)
{
	bool half;
	nam_status st = call(faulty_of(d), file->name, &half, err);
	if (st != NAM_OK)
		return st;
	uint64_t size = file->node->size, n = at >= size ? 0 : size - at;
	*got = n < len ? (uint32_t)n : len;
	if (*got != 0)
		memcpy(out, file->node->now + at, *got);
	return NAM_OK;
}

/* bytes NULL: zeros. */
static void
node_write(struct node *n, uint64_t at, const void *bytes, uint64_t len)
{
	if (len == 0)
		return;
	node_grow(n, at + len);
	if (bytes != NULL)
		memcpy(n->now + at, bytes, len);
	for (uint64_t p = at / PAGE; p <= (at + len - 1) / PAGE; p++)
		n->page[p] = DIRTY;
}

static nam_status
write_some(struct faulty *f, struct wal_file *file, uint64_t at, const void *bytes, uint64_t len,
    struct nam_err *err)
{
	bool half;
	nam_status st = call(f, file->name, &half, err);
	uint64_t before = file->node->size, more = at + len > before ? at + len - before : 0;
	uint64_t all = bytes_of_all(f), left = all < f->room ? f->room - all : 0;
	if (half)
		len = nam_rng_below(&f->dice, len + 1);
	else if (st != NAM_OK)
		len = 0;
	else if (more > left) {
		len -= more - left < len ? more - left : len;
		st = nam_fail(err, NAM_FULL, "no space for %s", file->name);
	}
	node_write(file->node, at, bytes, len);
	return st;
}

static nam_status
faulty_write(struct wal_dir *d, struct wal_file *file, uint64_t at, const void *bytes, uint32_t len,
    struct nam_err *err)
{
	return write_some(faulty_of(d), file, at, bytes, len, err);
}

static nam_status
faulty_reserve(struct wal_dir *d, struct wal_file *file, uint64_t bytes, struct nam_err *err)
{
	uint64_t size = file->node->size;
	return write_some(faulty_of(d), file, size, NULL, bytes > size ? bytes - size : 0, err);
}

static void
node_keep(struct node *n, enum page only)
{
	n->kept_size = n->size;
	for (uint64_t p = 0; p < n->cap / PAGE; p++)
		if (n->page[p] == only) {
			memcpy(n->kept + p * PAGE, n->now + p * PAGE, PAGE);
			n->page[p] = CLEAN;
		}
}

static nam_status
faulty_sync(struct wal_dir *d, struct wal_file *file, struct nam_err *err)
{
	struct faulty *f = faulty_of(d);
	bool half;
	nam_status st = call(f, file->name, &half, err);
	if (st == NAM_OK && f->fail_sync != 0 && --f->fail_sync == 0) {
		for (uint64_t p = 0; p < file->node->cap / PAGE; p++)
			if (file->node->page[p] == DIRTY)
				file->node->page[p] = DOUBTFUL;
		return nam_fail(err, NAM_IO, "the sync of %s has failed", file->name);
	}
	if (st == NAM_OK || half)
		node_keep(file->node, DIRTY);
	return st;
}

static nam_status
faulty_rename(struct wal_dir *d, const char *from, const char *to, struct nam_err *err)
{
	struct faulty *f = faulty_of(d);
	bool half;
	nam_status st = call(f, from, &half, err);
	struct name *m = name_find(&f->now, from);
	if (st == NAM_OK && m == NULL)
		return nam_fail(err, NAM_ABSENT, "there is no %s", from);
	if (m != NULL && (st == NAM_OK || half))
		change_add(f, RENAME, from, to, m->node);
	return st;
}

static nam_status
faulty_remove(struct wal_dir *d, const char *name, struct nam_err *err)
{
	struct faulty *f = faulty_of(d);
	bool half;
	nam_status st = call(f, name, &half, err);
	struct name *m = name_find(&f->now, name);
	if (st == NAM_OK && m == NULL)
		return nam_fail(err, NAM_ABSENT, "there is no %s", name);
	if (m != NULL && (st == NAM_OK || half))
		change_add(f, REMOVE, name, NULL, NULL);
	return st;
}

static nam_status
faulty_list(struct wal_dir *d, bool (*fn)(void *arg, const char *name), void *arg, struct nam_err *err)
{
	struct faulty *f = faulty_of(d);
	bool half;
	nam_status st = call(f, "the directory", &half, err);
	/* By index: fn may open and close files. */
	for (unsigned i = 0; st == NAM_OK && i < f->now.n; i++)
		if (!fn(arg, f->now.at[i].name))
			break;
	return st;
}

static void
names_keep(struct faulty *f, bool all)
{
	for (unsigned i = 0; i < f->changes; i++)
		if (all || nam_rng_below(&f->dice, 2) != 0)
			change_do(&f->kept, &f->change[i]);
	changes_forget(f);
}

static nam_status
faulty_sync_dir(struct wal_dir *d, struct nam_err *err)
{
	struct faulty *f = faulty_of(d);
	bool half;
	nam_status st = call(f, "the directory", &half, err);
	if (st == NAM_OK && f->fail_sync != 0 && --f->fail_sync == 0)
		return nam_fail(err, NAM_IO, "the sync of the directory has failed");
	if (st == NAM_OK || half)
		names_keep(f, true);
	return st;
}

static const struct wal_dir_ops faulty_ops = {
	.open = faulty_open,
	.close = faulty_close,
	.size = faulty_size,
	.reserve = faulty_reserve,
	.read = faulty_read,
	.write = faulty_write,
	.sync = faulty_sync,
	.rename = faulty_rename,
	.remove = faulty_remove,
	.list = faulty_list,
	.sync_dir = faulty_sync_dir,
};

struct wal_dir *
wal_faulty_open(uint64_t seed)
{
	struct faulty *f = calloc(1, sizeof *f);
	if (f == NULL)
		return NULL;
	f->d.ops = &faulty_ops;
	f->room = UINT64_MAX;
	nam_rng_init(&f->dice, seed);
	return &f->d;
}

static void
close_all(struct faulty *f)
{
	while (f->open != NULL)
		faulty_close(&f->d, f->open);
}

void
wal_faulty_close(struct wal_dir *d)
{
	struct faulty *f = faulty_of(d);
	if (d == NULL)
		return;
	close_all(f);
	changes_forget(f);
	while (f->now.n != 0)
		name_remove(&f->now, f->now.at[0].name);
	while (f->kept.n != 0)
		name_remove(&f->kept, f->kept.at[0].name);
	free(f);
}

struct wal_dir *
wal_faulty_copy(struct wal_dir *d, uint64_t seed)
{
	struct faulty *from = faulty_of(d);
	struct wal_dir *out = wal_faulty_open(seed);
	for (unsigned i = 0; out != NULL && i < from->now.n; i++) {
		struct name *m = &from->now.at[i];
		struct node *node = calloc(1, sizeof *node);
		NAM_ASSERT(node != NULL);
		node_write(node, 0, m->node->now, m->node->size);
		node_keep(node, DIRTY);
		name_put(&faulty_of(out)->now, m->name, node);
		name_put(&faulty_of(out)->kept, m->name, node);
	}
	return out;
}

uint64_t
wal_faulty_calls(struct wal_dir *d)
{
	return faulty_of(d)->calls;
}

void
wal_faulty_stop_at(struct wal_dir *d, uint64_t n)
{
	faulty_of(d)->stop_at = n;
}

bool
wal_faulty_stopped(struct wal_dir *d)
{
	return faulty_of(d)->stopped;
}

void
wal_faulty_fail_sync(struct wal_dir *d, uint64_t n)
{
	faulty_of(d)->fail_sync = n;
}

void
wal_faulty_room(struct wal_dir *d, uint64_t bytes)
{
	faulty_of(d)->room = bytes;
}

uint64_t
wal_faulty_used(struct wal_dir *d)
{
	return bytes_of_all(faulty_of(d));
}

/* A page that is neither as before nor as written. */
static void
page_mix(struct faulty *f, struct node *n, uint64_t p)
{
	for (uint64_t at = p * PAGE; at < (p + 1) * PAGE; at += SECTOR) {
		unsigned dice = (unsigned)nam_rng_below(&f->dice, 4);
		if (dice == 0)
			memcpy(n->kept + at, n->now + at, SECTOR);
		if (dice == 1)
			memcpy(n->kept + at, n->now + at, 1 + nam_rng_below(&f->dice, SECTOR - 1));
		for (unsigned i = 0; dice == 2 && i < SECTOR; i += 8) {
			uint64_t rubbish = nam_rng_next(&f->dice);
			memcpy(n->kept + at + i, &rubbish, 8);
		}
	}
}

static void
node_cut(struct faulty *f, struct node *n)
{
	for (uint64_t p = 0; p < n->cap / PAGE; p++) {
		if (n->page[p] == CLEAN)
			continue;
		unsigned dice = (unsigned)nam_rng_below(&f->dice, 3);
		uint64_t end = (p + 1) * PAGE < n->size ? (p + 1) * PAGE : n->size;
		if (dice == 0)
			memcpy(n->kept + p * PAGE, n->now + p * PAGE, PAGE);
		if (dice == 1)
			page_mix(f, n, p);
		if (dice != 2 && end > n->kept_size)
			n->kept_size = end;
		n->page[p] = CLEAN;
	}
	if (n->cap != 0)
		memcpy(n->now, n->kept, n->cap);
	n->size = n->kept_size;
}

void
wal_faulty_cut(struct wal_dir *d)
{
	struct faulty *f = faulty_of(d);
	close_all(f);
	names_keep(f, false);
	for (unsigned i = 0; i < f->kept.n; i++)
		node_cut(f, f->kept.at[i].node);
	while (f->now.n != 0)
		name_remove(&f->now, f->now.at[0].name);
	for (unsigned i = 0; i < f->kept.n; i++)
		name_put(&f->now, f->kept.at[i].name, f->kept.at[i].node);
	f->stopped = false;
	f->calls = f->stop_at = f->fail_sync = 0;
}

void
wal_faulty_end(struct wal_dir *d)
{
	struct faulty *f = faulty_of(d);
	close_all(f);
	f->stopped = false;
	f->calls = f->stop_at = f->fail_sync = 0;
}

char *
wal_faulty_bytes(struct wal_dir *d, const char *name, uint64_t *size)
{
	struct name *m = name_find(&faulty_of(d)->now, name);
	if (m == NULL)
		return NULL;
	*size = m->node->size;
	return m->node->now;
}
