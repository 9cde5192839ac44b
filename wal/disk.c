/* disk.c -- a directory of the real file system: wal_dir_ops over system calls. */
#include <wal/files.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

struct disk {
	struct wal_dir d;
	int fd, lock;
	bool reads; /* nothing is written */
	char path[];
};

struct wal_file {
	int fd;
	int direct; /* past the page cache, -1 = not */
	char name[WAL_FILE_NAME + 1];
};

enum {
	ZEROS = 256 << 10,
	LOCK_MS = 100,
	LOCK_NAP_MS = 2,
	PAGE = 4096,
	DIRECT_MAX = 64 << 10, /* longer blocks are written for their throughput */
};

static struct disk *
disk_of(struct wal_dir *d)
{
	return (struct disk *)d;
}

/* What errno means for a call of that name. */
static nam_status
disk_failed(struct disk *k, const char *what, const char *name, struct nam_err *err)
{
	const int e = errno;
	if (e == ENOSPC || e == EDQUOT)
		return nam_fail(err, NAM_FULL, "cannot %s %s/%s: %s; make room on that file system", what,
		    k->path, name, strerror(e));
	if (e == EFBIG) /* SIGXFSZ is ignored */
		return nam_fail(err, NAM_FULL,
		    "cannot %s %s/%s: %s; raise the limit on the size of a file (ulimit -f)", what, k->path,
		    name, strerror(e));
	if (e == ENOENT)
		return nam_fail(
		    err, NAM_ABSENT, "cannot %s %s/%s: there is no such file", what, k->path, name);
	if (e == ENOMEM)
		return nam_fail(err, NAM_NOMEM, "cannot %s %s/%s: no memory", what, k->path, name);
	if (e == EMFILE || e == ENFILE)
		return nam_fail(err, NAM_IO,
		    "cannot %s %s/%s: %s; allow more open files (ulimit -n), then start again", what, k->path,
		    name, strerror(e));
	return nam_fail(err, NAM_IO,
	    "cannot %s %s/%s: %s; look at the disk and the kernel's log, then start "
	    "again",
	    what, k->path, name, strerror(e));
}

static nam_status
disk_open_file(struct wal_dir *d, const char *name, bool make, struct wal_file **out, struct nam_err *err)
{
	struct disk *k = disk_of(d);
	struct wal_file *f = calloc(1, sizeof *f);
	if (f == NULL)
		return nam_fail(err, NAM_NOMEM, "cannot open %s/%s: no memory", k->path, name);
	f->fd = f->direct = -1;
	if (k->reads && make)
		errno = EROFS;
	else
		f->fd = openat(k->fd, name,
		    (k->reads ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NOFOLLOW | (make ? O_CREAT | O_TRUNC : 0),
		    0600);
	if (f->fd < 0) {
		free(f);
		return disk_failed(k, make ? "make" : "open", name, err);
	}
	strncpy(f->name, name, WAL_FILE_NAME);
	*out = f;
	return NAM_OK;
}

static void
disk_close_file(struct wal_dir *d, struct wal_file *f)
{
	(void)d;
	close(f->fd);
	if (f->direct >= 0)
		close(f->direct);
	free(f);
}

static nam_status
disk_size(struct wal_dir *d, struct wal_file *f, uint64_t *bytes, struct nam_err *err)
{
	struct stat s;
	if (fstat(f->fd, &s) != 0)
		return disk_failed(disk_of(d), "look at", f->name, err);
	*bytes = (uint64_t)s.st_size;
	return NAM_OK;
}

static nam_status
disk_read(struct wal_dir *d, struct wal_file *f, uint64_t at, void *out, uint32_t len, uint32_t *got,
    struct nam_err *err)
{
	uint32_t done = 0;
	while (done < len) {
		ssize_t n = pread(f->fd, (char *)out + done, len - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return disk_failed(disk_of(d), "read", f->name, err);
		if (n == 0)
			break;
		done += (uint32_t)n;
	}
	*got = done;
	return NAM_OK;
}

/*
 * A short block goes past the page cache: its sync has nothing to write back then, and takes a
 * fifth less of the disk's time and of this core. False: write it as usual; some file systems do
 * not take this.
 */
static bool
write_direct(struct wal_file *f, uint64_t at, const void *bytes, uint32_t len)
{
	if (f->direct < 0 || len > DIRECT_MAX || ((at | len | (uintptr_t)bytes) & (PAGE - 1)) != 0)
		return false;
	ssize_t n;
	while ((n = pwrite(f->direct, bytes, len, (off_t)at)) < 0 && errno == EINTR)
		continue;
	if (n < 0 && errno == EINVAL) {
		close(f->direct);
		f->direct = -1;
	}
	return n == (ssize_t)len;
}

static nam_status
disk_write(
    struct wal_dir *d, struct wal_file *f, uint64_t at, const void *bytes, uint32_t len, struct nam_err *err)
{
	uint32_t done = write_direct(f, at, bytes, len) ? len : 0;
	while (done < len) {
		ssize_t n = pwrite(f->fd, (const char *)bytes + done, len - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO;
		if (n <= 0)
			return disk_failed(disk_of(d), "write", f->name, err);
		done += (uint32_t)n;
	}
	return NAM_OK;
}

/*
 * The zeros are really written: an overwrite of what fallocate alone has reserved changes metadata
 * (an extent becomes a written one), so its sync costs a commit of the file system's journal.
 */
static nam_status
disk_reserve(struct wal_dir *d, struct wal_file *f, uint64_t bytes, struct nam_err *err)
{
	static const char zeros[ZEROS];
	uint64_t size;
	nam_status st = disk_size(d, f, &size, err);
	if (st != NAM_OK || size >= bytes)
		return st;
	int rc;
	while ((rc = fallocate(f->fd, FALLOC_FL_KEEP_SIZE, (off_t)size, (off_t)(bytes - size))) != 0 &&
	       errno == EINTR)
		continue;
	if (rc != 0 && errno != EOPNOTSUPP && errno != ENOSYS)
		return disk_failed(disk_of(d), "reserve space for", f->name, err);
	while (st == NAM_OK && size < bytes) {
		uint32_t some = bytes - size < ZEROS ? (uint32_t)(bytes - size) : ZEROS;
		st = disk_write(d, f, size, zeros, some, err);
		size += some;
	}
	if (f->direct < 0)
		f->direct = openat(disk_of(d)->fd, f->name, O_WRONLY | O_DIRECT | O_CLOEXEC | O_NOFOLLOW);
	return st;
}

static nam_status
disk_sync(struct wal_dir *d, struct wal_file *f, struct nam_err *err)
{
	return fdatasync(f->fd) == 0 ? NAM_OK : disk_failed(disk_of(d), "sync", f->name, err);
}

static nam_status
disk_rename(struct wal_dir *d, const char *from, const char *to, struct nam_err *err)
{
	struct disk *k = disk_of(d);
	return renameat(k->fd, from, k->fd, to) == 0 ? NAM_OK : disk_failed(k, "rename", from, err);
}

static nam_status
disk_remove(struct wal_dir *d, const char *name, struct nam_err *err)
{
	struct disk *k = disk_of(d);
	return unlinkat(k->fd, name, 0) == 0 ? NAM_OK : disk_failed(k, "remove", name, err);
}

static nam_status
disk_list(struct wal_dir *d, bool (*fn)(void *arg, const char *name), void *arg, struct nam_err *err)
{
	struct disk *k = disk_of(d);
	int fd = openat(k->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (dir == NULL) {
		nam_status st = disk_failed(k, "list", ".", err);
		if (fd >= 0)
			close(fd);
		return st;
	}
	struct dirent *e;
	nam_status st = NAM_OK;
	errno = 0;
	while ((e = readdir(dir)) != NULL) {
		if (e->d_name[0] != '.' && strlen(e->d_name) <= WAL_FILE_NAME && !fn(arg, e->d_name))
			break;
		errno = 0;
	}
	if (e == NULL && errno != 0)
		st = disk_failed(k, "list", ".", err);
	closedir(dir);
	return st;
}

static nam_status
disk_sync_dir(struct wal_dir *d, struct nam_err *err)
{
	struct disk *k = disk_of(d);
	return fsync(k->fd) == 0 ? NAM_OK : disk_failed(k, "sync", ".", err);
}

static const struct wal_dir_ops disk_ops = {
	.open = disk_open_file,
	.close = disk_close_file,
	.size = disk_size,
	.reserve = disk_reserve,
	.read = disk_read,
	.write = disk_write,
	.sync = disk_sync,
	.rename = disk_rename,
	.remove = disk_remove,
	.list = disk_list,
	.sync_dir = disk_sync_dir,
};

/* errno of mkdir, or of opening what the directory must allow. */
static nam_status
disk_unusable(const char *path, struct nam_err *err)
{
	const int e = errno;
	if (e == EACCES || e == EPERM || e == EROFS)
		return nam_fail(err, NAM_REFUSED,
		    "no right to write in %s: %s; give its owner this user, or name another directory", path,
		    strerror(e));
	if (e == ENOTDIR)
		return nam_fail(err, NAM_INVALID, "%s is no directory: name another one", path);
	if (e == ENOENT)
		return nam_fail(err, NAM_IO, "%s cannot be made: make the directory above it first", path);
	return nam_fail(err, NAM_IO, "cannot use the directory %s: %s", path, strerror(e));
}

/*
 * The directory has a durable name only when the one above is synced. If this process may not read
 * that one, it did not make this one.
 */
static nam_status
disk_sync_above(struct disk *k, struct nam_err *err)
{
	int above = openat(k->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (above < 0 && (errno == EACCES || errno == EPERM))
		return NAM_OK;
	nam_status st = above >= 0 && fsync(above) == 0 ? NAM_OK : disk_failed(k, "sync", "..", err);
	if (above >= 0)
		close(above);
	return st;
}

/* fd is k's, or closed. */
static struct disk *
disk_new(const char *path, int fd, struct nam_err *err)
{
	struct disk *k = malloc(sizeof *k + strlen(path) + 1);
	if (k == NULL) {
		close(fd);
		nam_fail(err, NAM_NOMEM, "cannot open %s: no memory", path);
		return NULL;
	}
	*k = (struct disk){ .d.ops = &disk_ops, .fd = fd, .lock = -1 };
	strcpy(k->path, path);
	return k;
}

/* errno of flock. */
static nam_status
disk_unlocked(struct disk *k, struct nam_err *err)
{
	return errno == EWOULDBLOCK
		   ? nam_fail(err, NAM_BUSY,
			 "%s is used by another process: end that one, or name another directory", k->path)
		   : disk_failed(k, "lock", "lock", err);
}

/* A process that only looks whether the lock is held has it for a moment (embed/): again, for a
 * while. */
static bool
disk_lock(struct disk *k)
{
	const struct timespec t = { .tv_nsec = LOCK_NAP_MS * 1000000 };
	for (unsigned ms = 0; flock(k->lock, LOCK_EX | LOCK_NB) != 0; ms += LOCK_NAP_MS) {
		if ((errno != EWOULDBLOCK && errno != EINTR) || ms >= LOCK_MS)
			return false;
		nanosleep(&t, NULL);
	}
	return true;
}

nam_status
wal_disk_open(struct wal_dir **out, const char *path, struct nam_err *err)
{
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return disk_unusable(path, err);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return disk_unusable(path, err);
	struct disk *k = disk_new(path, fd, err);
	if (k == NULL)
		return NAM_NOMEM;
	k->lock = openat(fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	nam_status st = NAM_OK;
	if (k->lock < 0)
		st = disk_unusable(path, err);
	else if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) != 0)
		st = disk_unusable(path, err);
	else if (!disk_lock(k))
		st = disk_unlocked(k, err);
	else
		st = disk_sync_above(k, err);
	if (st == NAM_OK)
		*out = &k->d;
	else
		wal_disk_close(&k->d);
	return st;
}

nam_status
wal_disk_open_to_read(struct wal_dir **out, const char *path, struct nam_err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return nam_fail(err, NAM_IO, "cannot read the directory %s: %s", path, strerror(errno));
	struct disk *k = disk_new(path, fd, err);
	nam_status st = NAM_OK;
	if (k == NULL)
		return NAM_NOMEM;
	k->reads = true;
	k->lock = openat(fd, "lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	/* Without that file no process has it. */
	if (k->lock < 0 && errno != ENOENT)
		st = disk_failed(k, "open", "lock", err);
	else if (k->lock >= 0 && flock(k->lock, LOCK_SH | LOCK_NB) != 0)
		st = disk_unlocked(k, err);
	if (st == NAM_OK)
		*out = &k->d;
	else
		wal_disk_close(&k->d);
	return st;
}

void
wal_disk_close(struct wal_dir *d)
{
	struct disk *k = disk_of(d);
	if (d == NULL)
		return;
	if (k->lock >= 0)
		close(k->lock);
	close(k->fd);
	free(k);
}

uint64_t
wal_disk_free(struct wal_dir *d)
{
	struct statvfs s;
	return fstatvfs(disk_of(d)->fd, &s) == 0 ? (uint64_t)s.f_bavail * s.f_frsize : 0;
}
