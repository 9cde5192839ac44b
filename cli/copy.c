/* copy.c -- a log that is copied into a directory (copy.h). One thread appends and flushes. */
#include "copy.h"

#include <base/clock.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A copy needs room for what it has and for two of these. */
enum { SEGMENT = 16 << 20, TELL_NS = 500000000 };

nam_status
cli_copy_vacant(const char *path, struct nam_err *err)
{
	DIR *d = opendir(path);
	if (d == NULL && errno == ENOENT)
		return NAM_OK;
	if (d == NULL)
		return nam_fail(err, NAM_IO, "%s: %s; name a directory that does not exist, or an empty one",
		    path, strerror(errno));
	bool empty = true;
	for (struct dirent *e; empty && (e = readdir(d)) != NULL;)
		empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
	closedir(d);
	return empty ? NAM_OK
		     : nam_fail(err, NAM_REFUSED,
			   "%s is not empty: name a directory that does not exist, or an empty one", path);
}

nam_status
cli_copy_open(struct cli_copy *c, const char *path, unsigned node, bool backup, struct nam_err *err)
{
	*c = (struct cli_copy){ .path = path };
	nam_status st = cli_copy_vacant(path, err);
	if (st != NAM_OK)
		return st;
	c->made = access(path, F_OK) != 0;
	struct nam_err is; /* has a line also where nothing has failed */
	st = wal_disk_open(&c->dir, path, &is);
	if (st != NAM_OK)
		return nam_fail(err, st, "%s", is.text);
	const struct wal_config cfg = {
		.dir = c->dir, .node = node, .segment_bytes = SEGMENT, .copy = true, .backup = backup
	};
	st = wal_open(&c->log, &cfg, &is);
	c->foreign = st == NAM_INVALID;
	return st == NAM_OK ? st : nam_fail(err, st, "%s", is.text);
}

/* The log's own words for it. */
static nam_status
why(const struct cli_copy *c, nam_status st, struct nam_err *err)
{
	struct nam_err is = { .status = NAM_OK };
	wal_why(c->log, &is);
	return nam_fail(
	    err, st == NAM_OK ? NAM_IO : st, "%s", is.text[0] != 0 ? is.text : nam_status_text(st));
}

nam_status
cli_copy_begin(struct cli_copy *c, uint64_t cluster, uint64_t position, struct nam_err *err)
{
	nam_status st;
	c->records = c->bytes = 0;
	while ((st = wal_begin_at(c->log, cluster, position, &c->life)) == NAM_BUSY)
		wal_step(c->log);
	c->begun++;
	return st == NAM_OK ? st : why(c, st, err);
}

nam_status
cli_copy_put(struct cli_copy *c, const void *bytes, uint32_t len, struct nam_err *err)
{
	nam_status st;
	uint64_t end;
	while ((st = wal_append(c->log, c->life, bytes, len, false, &end)) == NAM_BUSY)
		if (!wal_step(c->log))
			break;
	if (st != NAM_OK)
		return why(c, st, err);
	c->records++;
	c->bytes += len;
	return NAM_OK;
}

nam_status
cli_copy_end(struct cli_copy *c, const struct txn_cut *cut, uint64_t whole, struct nam_err *err)
{
	struct wal_state s;
	size_t i = 0;
	nam_status st = NAM_OK;
	for (const struct txn_logged *h; st == NAM_OK && (h = txn_cut_undone(cut, &i)) != NULL;)
		st = cli_copy_put(c, h, sizeof *h, err);
	if (st != NAM_OK)
		return st;
	if ((st = wal_publish_copy(c->log, c->life, whole)) != NAM_OK)
		return why(c, st, err);
	for (;;) {
		bool did = wal_step(c->log);
		wal_state(c->log, &s);
		if (s.published == c->life)
			break;
		if (s.condition != WAL_WELL || !did)
			return why(c, s.condition == WAL_SPACE ? NAM_FULL : NAM_IO, err);
	}
	/* Files of copies that were begun before it. */
	while (c->begun > 1 && wal_step(c->log))
		;
	wal_state(c->log, &s);
	return s.condition == WAL_BROKEN ? why(c, NAM_IO, err) : NAM_OK;
}

static bool
is_ours(const char *name)
{
	return strcmp(name, "manifest") == 0 || strcmp(name, "manifest.new") == 0 ||
	       strcmp(name, "lock") == 0 || strncmp(name, "log-", 4) == 0;
}

void
cli_copy_close(struct cli_copy *c, bool keep)
{
	wal_close(c->log);
	c->log = NULL;
	if (!keep && c->dir != NULL && !c->foreign) {
		DIR *d = opendir(c->path);
		/* The manifest goes last: what is left without it would not be told from a log. */
		for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
			if (is_ours(e->d_name) && strcmp(e->d_name, "manifest") != 0)
				(void)unlinkat(dirfd(d), e->d_name, 0);
		if (d != NULL) {
			(void)unlinkat(dirfd(d), "manifest", 0);
			closedir(d);
		}
	}
	if (c->dir != NULL)
		wal_disk_close(c->dir);
	if (!keep && c->made)
		(void)rmdir(c->path);
	*c = (struct cli_copy){ .path = NULL };
}

void
cli_copy_told(const char *how, uint64_t done, uint64_t all)
{
	static uint64_t next;
	static bool shown;
	uint64_t now = nam_clock_ns();
	if (done == UINT64_MAX) {
		if (shown)
			fputs("\r\033[K", stderr);
		shown = false;
		next = 0;
		return;
	}
	if (next == 0)
		next = now + 2 * (uint64_t)TELL_NS;
	if (now < next || all == 0 || !isatty(2))
		return;
	next = now + TELL_NS;
	shown = true;
	fprintf(stderr, "\r%s: %.0f %% of %.1f MiB ", how, 100.0 * (double)done / (double)all,
	    (double)all / (1 << 20));
}

_Atomic int cli_copy_stop;

static void
on_signal(int sig)
{
	(void)sig;
	cli_copy_stop = 1;
}

void
cli_copy_signals(void)
{
	struct sigaction a = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };
	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	/* A file that may not grow: an error, not the end. */
	signal(SIGXFSZ, SIG_IGN);
}
