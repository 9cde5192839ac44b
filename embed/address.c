/* address.c -- the file that says where a directory's node listens: E1, E2. */
#include "embed_internal.h"

#include <base/rng.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char name[] = "address", fresh[] = "address.new";

struct emb_address {
	int dir, fd;
};

/* Is that file the directory's own secret? */
static bool
own_secret(int dir, const char *secret_file)
{
	struct stat a, b;
	return secret_file != NULL && stat(secret_file, &a) == 0 && fstatat(dir, "secret", &b, 0) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

nam_status
emb_publish(struct emb_address **out, const char *dir, const char *address, const char *secret_file,
    struct nam_err *err)
{
	struct emb_address *a = malloc(sizeof *a);
	if (a == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for the address");
	uint64_t token;
	nam_random_bytes(&token, sizeof token);
	a->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Another inode each time: a process may still look at that of an earlier node. */
	if (a->dir >= 0)
		unlinkat(a->dir, fresh, 0);
	a->fd =
	    a->dir < 0 ? -1 : openat(a->dir, fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	char line[200];
	int len = snprintf(line, sizeof line, "%s %s %016" PRIx64 "\n", address,
	    a->dir >= 0 && own_secret(a->dir, secret_file) ? "own" : "other", token);
	/* It is locked when it gets its name. It need not survive a power cut. */
	if (a->fd >= 0 && flock(a->fd, LOCK_EX | LOCK_NB) == 0 && write(a->fd, line, (size_t)len) == len &&
	    renameat(a->dir, fresh, a->dir, name) == 0) {
		*out = a;
		return NAM_OK;
	}
	nam_status st =
	    nam_fail(err, NAM_IO, "cannot write %.200s/%s: %s; look at the disk", dir, name, strerror(errno));
	if (a->fd >= 0)
		close(a->fd);
	if (a->dir >= 0)
		close(a->dir);
	free(a);
	return st;
}

void
emb_retract(struct emb_address *a)
{
	if (a == NULL)
		return;
	unlinkat(a->dir, name, 0);
	flock(a->fd, LOCK_UN);
	close(a->fd);
	close(a->dir);
	free(a);
}

/* The line. False: it is none. */
static bool
parse(char *line, struct emb_node *node, bool *ours)
{
	char *rest, *end, *address = strtok_r(line, " ", &rest), *whose = strtok_r(NULL, " ", &rest),
			  *token = strtok_r(NULL, "\n", &rest);
	if (address == NULL || whose == NULL || token == NULL || strlen(address) >= sizeof node->address)
		return false;
	errno = 0;
	node->token = strtoull(token, &end, 16);
	if (errno != 0 || end != token + 16 || *end != 0)
		return false;
	strcpy(node->address, address);
	*ours = strcmp(whose, "own") == 0;
	return true;
}

enum emb_found
emb_look(int dir, struct emb_node *node)
{
	char line[256];
	bool ours = false;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return EMB_NONE;
	/* A shared lock: processes that look at the same time do not take each other for a node. */
	bool locked = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	ssize_t n = locked ? pread(fd, line, sizeof line - 1, 0) : -1;
	/* Not by close alone: a child that another thread forks now has the descriptor too. */
	if (!locked)
		flock(fd, LOCK_UN);
	close(fd);
	if (n <= 0)
		return EMB_NONE;
	line[n] = 0;
	if (!parse(line, node, &ours))
		return EMB_NONE;
	return ours ? EMB_OURS : EMB_OTHERS;
}

bool
emb_serves(const struct emb_node *node)
{
	struct emb_node now;
	int dir = open(node->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return false;
	bool there = emb_look(dir, &now) != EMB_NONE && now.token == node->token;
	close(dir);
	return there;
}
