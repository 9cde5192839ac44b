/*
 * start.c -- runs `namdb storage --background` and waits until the node serves.
 *
 * The program that is run forks the node and ends when the node is ready or has failed: so the node
 * is no child of this process, whose wait() would find it. It is a process of its own session, and
 * it has no descriptor of this process, or a script's $(...) would wait for the node's end.
 */
#include "embed_internal.h"

#include <wal/wal_format.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { IDLE_S = 5, LOG_MAX = 1 << 20, ARGUMENTS = 20, NODE_MAX = 1023, SILENT_MAX = 3 };

/* ---- its log ------------------------------------------------------------------------------ */

/* Opened to append; *from: where it ends now. -1: errno. */
static int
log_open(const struct emb_dir *d, off_t *from)
{
	static const char name[] = "storage.log", old[] = "storage.log.1";
	struct stat sb;
	if (fstatat(d->fd, name, &sb, AT_SYMLINK_NOFOLLOW) == 0 && sb.st_size > LOG_MAX)
		renameat(d->fd, name, d->fd, old);
	int fd = openat(d->fd, name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && (fstat(fd, &sb) != 0 || fchmod(fd, 0600) != 0)) {
		close(fd);
		return -1;
	}
	*from = fd >= 0 ? sb.st_size : 0;
	return fd;
}

/* The node's own last words: its last line that begins with its name, which says why it ends, or
 * else its last line. False: it has not said why. */
static bool
last_words(int log, off_t from, char out[400])
{
	static const char self[] = "namdb storage: ";
	char text[4096], *rest, *best = NULL, *last = NULL;
	ssize_t n = pread(log, text, sizeof text - 1, from);
	text[n > 0 ? n : 0] = 0;
	for (char *l = strtok_r(text, "\n", &rest); l != NULL; l = strtok_r(NULL, "\n", &rest)) {
		last = l;
		if (strncmp(l, self, sizeof self - 1) == 0)
			best = l + sizeof self - 1;
	}
	snprintf(out, 400, "%.390s", best != NULL ? best : last != NULL ? last : "it said nothing");
	return best != NULL;
}

/* False: there is none, or it is damaged; then the node says so. */
static bool
manifest(const struct emb_dir *d, struct wal_manifest *m)
{
	int fd = openat(d->fd, "manifest", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	bool whole = fd >= 0 && pread(fd, m, sizeof *m, 0) == sizeof *m && m->magic == WAL_MANIFEST_MAGIC;
	if (fd >= 0)
		close(fd);
	return whole;
}

/* The number of the storage node whose log is there; of a new directory 1. */
static unsigned
node_number(const struct emb_dir *d)
{
	struct wal_manifest m;
	return manifest(d, &m) && m.node >= 1 && m.node <= NODE_MAX ? m.node : 1;
}

bool
emb_is_backup(const struct emb_dir *d)
{
	struct wal_manifest m;
	return manifest(d, &m) && (m.flags & WAL_BACKUP) != 0;
}

/* ---- the process ----------------------------------------------------------------------------- */

/* errno, or 0. */
static int
spawn(pid_t *pid, const char *program, char *const *argv, int log)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t none, every;
	extern char **environ;
	sigemptyset(&none);
	sigfillset(&every);
	int rc = posix_spawn_file_actions_init(&files);
	if (rc != 0)
		return rc;
	if ((rc = posix_spawnattr_init(&how)) != 0) {
		posix_spawn_file_actions_destroy(&files);
		return rc;
	}
	if ((rc = posix_spawn_file_actions_adddup2(&files, log, 2)) == 0 &&
	    (rc = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)) == 0 &&
	    (rc = posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0)) == 0 &&
	    (rc = posix_spawn_file_actions_addclosefrom_np(&files, 3)) == 0 &&
	    (rc = posix_spawn_file_actions_addchdir_np(&files, "/")) == 0 &&
	    (rc = posix_spawnattr_setsigmask(&how, &none)) == 0 &&
	    (rc = posix_spawnattr_setsigdefault(&how, &every)) == 0 &&
	    (rc = posix_spawnattr_setflags(
		 &how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)) == 0)
		rc = posix_spawn(pid, program, &files, &how, argv, environ);
	posix_spawnattr_destroy(&how);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

/* Until the program has ended. False: it takes too long, and has been stopped. The program around a
 * library may collect all its children itself, so how ours ended is not asked. */
static bool
await(const struct emb_dir *d, pid_t pid)
{
	const struct timespec t = { .tv_nsec = 2000000 };
	for (;;) {
		pid_t rc = waitpid(pid, NULL, WNOHANG);
		if (rc == pid || (rc < 0 && errno == ECHILD))
			return true;
		if (emb_late(d)) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			return false;
		}
		nanosleep(&t, NULL);
	}
}

nam_status
emb_start(struct emb_dir *d, struct nam_err *err)
{
	char program[PATH_MAX], size[32], idle[16], id[16], words[400];
	const struct emb_config *cfg = d->cfg;
	pid_t pid;
	off_t from;
	if (cfg->program != NULL && strlen(cfg->program) < sizeof program) {
		strcpy(program, cfg->program);
	} else {
		nam_status st = emb_program(program, NULL, err);
		if (st != NAM_OK)
			return st;
	}
	snprintf(id, sizeof id, "%u", node_number(d));
	snprintf(idle, sizeof idle, "%u", cfg->idle_s != 0 ? cfg->idle_s : IDLE_S);
	snprintf(size, sizeof size, "%" PRIu64, cfg->size);
	char *argv[ARGUMENTS] = { "namdb", "storage", "--id", id, "--listen", "127.0.0.1:0", "--rdma", "off",
		"--data", d->node.path, "--secret-file", d->node.secret, "--end-when-idle", idle,
		"--background", NULL };
	if (cfg->size != 0) {
		argv[15] = "--size";
		argv[16] = size;
	}
	int log = log_open(d, &from);
	if (log < 0)
		return nam_fail(err, NAM_IO,
		    "cannot write %s/storage.log: %s; look at that file and the disk", d->shown,
		    strerror(errno));
	nam_status st = NAM_OK;
	int rc = spawn(&pid, program, argv, log);
	if (rc != 0)
		st = nam_fail(err, NAM_IO, "cannot start %.200s: %s", program, strerror(rc));
	else if (!await(d, pid))
		st = nam_fail(err, NAM_IO, "the storage node of %s is not ready yet; see %s/storage.log",
		    d->shown, d->shown);
	else if (emb_look(d->fd, &d->node) != EMB_OURS) {
		/* Killed, perhaps when it was ready already. */
		if (!last_words(log, from, words) && ++d->silent < SILENT_MAX) {
			close(log);
			return NAM_TIMEOUT;
		}
		st = nam_fail(err, NAM_IO, "the storage node of %s did not start: %s", d->shown, words);
	}
	close(log);
	return st;
}
