/* judge.c -- may this directory have a database? If not, one line says why, and nothing is written
 * there. */
#include "embed_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* errno of mkdir, open or realpath. */
static nam_status
unusable(const char *shown, struct nam_err *err)
{
	switch (errno) {
	case EACCES:
	case EPERM:
		return nam_fail(err, NAM_REFUSED,
		    "no right to use the directory %s: %s; give it to this user, or name another one", shown,
		    strerror(errno));
	case EROFS:
		return nam_fail(err, NAM_REFUSED,
		    "%s lies on a file system that is mounted read-only: name another directory", shown);
	case ENOENT:
		return nam_fail(err, NAM_INVALID,
		    "there is no directory %s, and it cannot be made, because its parent is not there: make "
		    "that one first",
		    shown);
	case ENOTDIR:
		return nam_fail(err, NAM_INVALID, "%s is a file, and no directory: name another one", shown);
	default:
		return nam_fail(
		    err, NAM_IO, "cannot use the directory %s: %s; name another one", shown, strerror(errno));
	}
}

static void
show(char out[200], const char *path)
{
	size_t n = strlen(path);
	if (n < 200)
		memcpy(out, path, n + 1);
	else
		snprintf(out, 200, "...%s", path + n - 195);
}

/* Makes the directory if there is none. */
static bool
ensure(const char *path)
{
	if (mkdir(path, 0700) == 0)
		return chmod(path, 0700) == 0; /* whatever the umask says */
	return errno == EEXIST;
}

bool
emb_find(char out[PATH_MAX], const char *path, struct nam_err *err)
{
	char shown[200];
	show(shown, path);
	if (ensure(path) && realpath(path, out) != NULL)
		return true;
	unusable(shown, err);
	return false;
}

nam_status
emb_enter(struct emb_dir *d, struct nam_err *err)
{
	show(d->shown, d->cfg->path);
	if (!emb_find(d->node.path, d->cfg->path, err))
		return err->status;
	snprintf(d->node.secret, sizeof d->node.secret, "%s/secret", d->node.path);
	d->fd = open(d->node.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return d->fd >= 0 ? NAM_OK : unusable(d->shown, err);
}

/* Files of a log, and what a file system puts into its own root. */
static bool
of_log(const char *name)
{
	return strcmp(name, "lock") == 0 || strncmp(name, "log-", 4) == 0 ||
	       strcmp(name, "manifest.new") == 0 || strcmp(name, "lost+found") == 0;
}

/* Files that are made after `door`. */
static bool
of_ours(const char *name)
{
	static const char *const ours[] = { "door", "secret", "secret.new", "address", "address.new",
		"storage.log", "storage.log.1" };
	for (unsigned i = 0; i < sizeof ours / sizeof *ours; i++)
		if (strcmp(name, ours[i]) == 0)
			return true;
	return false;
}

/*
 * A directory without a manifest has no database yet. Then it has to be empty, but for what an
 * earlier try has left there. stranger: gets a name that is in the way, "" = none. *empty: there is
 * nothing at all.
 */
static bool
find_stranger(int fd, char stranger[80], bool *empty)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = again >= 0 ? fdopendir(again) : NULL;
	if (dir == NULL) {
		if (again >= 0)
			close(again);
		return false;
	}
	*empty = true;
	stranger[0] = 0;
	char late[80] = "";
	for (struct dirent *e; (e = readdir(dir)) != NULL;) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		*empty = false;
		if (of_ours(e->d_name))
			snprintf(late, sizeof late, "%.79s", e->d_name);
		else if (!of_log(e->d_name))
			snprintf(stranger, 80, "%.79s", e->d_name);
	}
	closedir(dir);
	/* Asked for now: another process may have begun just then. */
	if (stranger[0] == 0 && late[0] != 0 && faccessat(fd, "door", F_OK, 0) != 0)
		memcpy(stranger, late, sizeof late);
	return true;
}

nam_status
emb_own(const struct emb_dir *d, struct nam_err *err)
{
	struct stat sb;
	if (fstat(d->fd, &sb) != 0)
		return unusable(d->shown, err);
	return sb.st_uid == geteuid()
		   ? NAM_OK
		   : nam_fail(err, NAM_REFUSED,
			 "the directory %s belongs to another user (%u): start namdb as that user", d->shown,
			 (unsigned)sb.st_uid);
}

nam_status
emb_judge(struct emb_dir *d, struct nam_err *err)
{
	struct stat sb;
	char stranger[80];
	bool empty = false;
	if (fstat(d->fd, &sb) != 0)
		return unusable(d->shown, err);
	if (faccessat(d->fd, "manifest", F_OK, 0) != 0) {
		if (errno != ENOENT || !find_stranger(d->fd, stranger, &empty))
			return unusable(d->shown, err);
		if (stranger[0] != 0)
			return nam_fail(err, NAM_INVALID,
			    "%s is no database, and has other things in it (%s): name an empty or a new "
			    "directory",
			    d->shown, stranger);
	}
	if (emb_is_backup(d))
		return nam_fail(err, NAM_INVALID,
		    "%s is a backup, which stays as it is: namdb restore --data NEW-DIRECTORY %s makes a "
		    "database out of it",
		    d->shown, d->shown);
	nam_status st = emb_own(d, err);
	if (st != NAM_OK)
		return st;
	if (faccessat(d->fd, ".", W_OK | X_OK, AT_EACCESS) != 0)
		return unusable(d->shown, err);
	if (empty && (sb.st_mode & 077) != 0) {
		if (fchmod(d->fd, 0700) != 0)
			return unusable(d->shown, err);
	} else if ((sb.st_mode & 022) != 0) {
		return nam_fail(err, NAM_REFUSED,
		    "others may write in the directory %s, so its secret is no secret: chmod 700 %s",
		    d->shown, d->shown);
	}
	return NAM_OK;
}
