/* open.c -- finds the node of a directory or starts one; one process at a time starts. */
#include "embed_internal.h"

#include <base/clock.h>
#include <base/rng.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 120000, HELD_MS = 30000, NAP_MS = 5, GOING_MS = 300 };

static void
nap(void)
{
	const struct timespec t = { .tv_nsec = NAP_MS * 1000000 };
	nanosleep(&t, NULL);
}

static bool
stopped(const struct emb_dir *d)
{
	return d->cfg->stop != NULL && d->cfg->stop();
}

bool
emb_late(const struct emb_dir *d)
{
	return nam_clock_ns() > d->until_ns || stopped(d);
}

static nam_status
cannot(const struct emb_dir *d, const char *what, const char *name, struct nam_err *err)
{
	const int e = errno;
	if (e == ENOSPC || e == EDQUOT)
		return nam_fail(err, NAM_FULL, "cannot %s %s/%s: %s; make room on that file system", what,
		    d->shown, name, strerror(e));
	return nam_fail(err, e == EACCES || e == EPERM || e == EROFS ? NAM_REFUSED : NAM_IO,
	    "cannot %s %s/%s: %s; look at that file and the disk", what, d->shown, name, strerror(e));
}

/* ---- the door -------------------------------------------------------------------------- */

/* -1: err says why. */
static int
door_take(const struct emb_dir *d, struct nam_err *err)
{
	int fd = openat(d->fd, "door", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		cannot(d, "make", "door", err);
		return -1;
	}
	while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		bool held = errno == EWOULDBLOCK;
		if (!held && errno != EINTR)
			cannot(d, "lock", "door", err);
		else if (emb_late(d))
			nam_fail(err, NAM_BUSY,
			    "another process has been opening %s for too long: look at it, and try again",
			    d->shown);
		else {
			nap();
			continue;
		}
		close(fd);
		return -1;
	}
	fchmod(fd, 0600); /* whatever the umask of its maker was */
	return fd;
}

/* Unlocks it for children of fork as well, which have the descriptor too. */
static void
door_give(int fd)
{
	flock(fd, LOCK_UN);
	close(fd);
}

/* ---- the log's lock, and the secret ---------------------------------------------------------- */

/* Does a process write the log? */
static bool
in_use(const struct emb_dir *d)
{
	int fd = openat(d->fd, "lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	bool held = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	if (!held)
		flock(fd, LOCK_UN);
	close(fd);
	return held;
}

/* E3. With the door. */
static nam_status
secret_make(const struct emb_dir *d, struct nam_err *err)
{
	static const char name[] = "secret", fresh[] = "secret.new";
	uint8_t raw[32];
	char text[2 * sizeof raw + 2];
	if (faccessat(d->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return NAM_OK;
	if (errno != ENOENT)
		return cannot(d, "look at", name, err);
	unlinkat(d->fd, fresh, 0);
	int fd = openat(d->fd, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return cannot(d, "make", fresh, err);
	nam_random_bytes(raw, sizeof raw);
	for (unsigned i = 0; i < sizeof raw; i++)
		snprintf(text + 2 * i, 3, "%02x", raw[i]);
	strcat(text, "\n");
	const ssize_t len = 2 * sizeof raw + 1;
	nam_status st = NAM_OK;
	if (fchmod(fd, 0600) != 0 || write(fd, text, (size_t)len) != len || fsync(fd) != 0)
		st = cannot(d, "write", fresh, err);
	explicit_bzero(raw, sizeof raw);
	explicit_bzero(text, sizeof text);
	close(fd);
	if (st == NAM_OK && (renameat(d->fd, fresh, d->fd, name) != 0 || fsync(d->fd) != 0))
		st = cannot(d, "make", name, err);
	return st;
}

/* ---- a node
 * ------------------------------------------------------------------------------------ */

static nam_status
not_ours(const struct emb_dir *d, struct nam_err *err)
{
	return nam_fail(err, NAM_BUSY,
	    "%s is in use by a storage node that was started by hand: join its cluster with --storage %s, or "
	    "end "
	    "it",
	    d->shown, d->node.address);
}

/* With the door. NAM_TIMEOUT: again. */
static nam_status
start_one(struct emb_dir *d, struct nam_err *err)
{
	switch (emb_look(d->fd, &d->node)) {
	case EMB_OURS:
		return NAM_OK;
	case EMB_OTHERS:
		return not_ours(d, err);
	default:
		break;
	}
	if (in_use(d)) {
		/* A node ends, or one starts that another process has started. */
		uint64_t now = nam_clock_ns();
		if (d->held_ns == 0)
			d->held_ns = now;
		if (!emb_late(d) && now - d->held_ns < UINT64_C(1000000) * HELD_MS) {
			nap();
			return NAM_TIMEOUT;
		}
		return nam_fail(err, NAM_BUSY,
		    "%s is in use by another process, which says nowhere where it listens: end it, or name "
		    "another directory",
		    d->shown);
	}
	d->held_ns = 0;
	nam_status st = secret_make(d, err);
	if (st == NAM_OK)
		st = emb_start(d, err);
	/* A node that was started by hand was first. */
	if (st != NAM_OK && in_use(d) && !emb_late(d))
		return NAM_TIMEOUT;
	return st;
}

/* Finds or starts the node. */
static nam_status
find_node(struct emb_dir *d, struct nam_err *err)
{
	nam_status st = emb_own(d, err);
	if (st != NAM_OK)
		return st;
	switch (emb_look(d->fd, &d->node)) {
	case EMB_OURS:
		return NAM_OK;
	case EMB_OTHERS:
		return not_ours(d, err);
	default:
		break;
	}
	if ((st = emb_judge(d, err)) != NAM_OK)
		return st;
	int door = door_take(d, err);
	if (door < 0)
		return err->status;
	while ((st = start_one(d, err)) == NAM_TIMEOUT)
		continue;
	door_give(door);
	return st;
}

/* The kernel may close the sockets of a process that was killed a moment before it frees the
 * locks. */
static bool
serves_on(const struct emb_node *node)
{
	for (unsigned ms = 0; emb_serves(node); ms += NAP_MS) {
		if (ms >= GOING_MS)
			return true;
		nap();
	}
	return false;
}

void
emb_hint(const struct emb_node *node, char *out, size_t size)
{
	snprintf(out, size,
	    "The database's storage node says why in %s/storage.log. If it has ended, the next process that "
	    "opens the directory starts another one, and all that was committed is there.",
	    node->path);
}

nam_status
emb_join(const struct emb_config *cfg,
    nam_status (*join)(void *arg, const struct emb_node *node, struct nam_err *err), void *arg,
    struct nam_err *err)
{
	struct emb_dir d = { .cfg = cfg, .fd = -1 };
	struct nam_err own;
	if (err == NULL)
		err = &own;
	d.until_ns = nam_clock_ns() + (uint64_t)(cfg->wait_ms != 0 ? cfg->wait_ms : WAIT_MS) * 1000000;
	nam_status st = emb_enter(&d, err);
	if (st != NAM_OK)
		return st;
	for (;;) {
		st = find_node(&d, err);
		if (st != NAM_OK)
			break;
		st = join(arg, &d.node, err);
		/* E2: the node was about to end. */
		if (st == NAM_OK || st == NAM_CANCELLED || serves_on(&d.node) || emb_late(&d))
			break;
	}
	close(d.fd);
	if (st != NAM_OK && stopped(&d))
		return nam_fail(err, NAM_CANCELLED, "interrupted while opening %s", d.shown);
	/* Another size does not help as long as the small node serves. */
	if (st == NAM_FULL && emb_serves(&d.node)) {
		size_t said = strlen(err->text);
		snprintf(err->text + said, sizeof err->text - said,
		    "; the one that runs now ends some seconds after its last process");
	}
	return st;
}
