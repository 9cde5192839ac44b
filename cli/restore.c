/* restore.c -- `namdb restore`: a backup becomes the data directory of a storage node. */
#include "cli.h"
#include "copy.h"

#include <base/clock.h>
#include <base/number.h>
#include <wal/wal_format.h>

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: namdb restore [options] --data DIR BACKUP\n"
    "Makes DIR, which does not exist yet or is empty, a data directory with the database of BACKUP. Every\n"
    "block of BACKUP is verified first; BACKUP stays as it is, and can be restored any number of times.\n"
    "BACKUP is a directory of `namdb backup`, or the data directory of a cluster whose processes have "
    "ended.\n"
    "\n"
    "  --data DIR          the directory to make (required)\n"
    "  --until TIME        only what was committed up to that time, such as '2026-11-29 18:30:00+00'; "
    "without\n"
    "                      a zone it is UTC\n"
    "  --id N              number of the storage node that will have DIR (default: the one that had the "
    "log)\n"
    "  --help              this text\n"
    "\n"
    "Then start the storage node: namdb storage --id N --data DIR. Start the cluster's other storage nodes\n"
    "as they always are: they keep nothing on disk, and must not have run since before. The first compute\n"
    "node or `namdb sql` loads the database from DIR. The cluster that was backed up is not touched.\n"
    "\n"
    "--until ends the log before the first commit that is later than TIME by the clock of the compute node\n"
    "that made it. The log reaches back to the last checkpoint of its directory, or to the start of its\n"
    "cluster; an earlier TIME is refused.\n"
    "\n"
    "Exit code 0: DIR can be used; 1: it was not made; 2: bad usage.\n";

struct restore {
	const char *from, *path, *until_text;
	bool has_until;
	int64_t until;
	uint64_t node; /* 0 = that of the backup */
	struct wal_dir *dir;
	struct wal *log;
	struct wal_state is;
	char *buf;
	struct txn_cut cut;
	struct cli_copy copy;
	struct nam_err err;
};

enum { CAP = WAL_RECORD_MAX + 64 };

static nam_status
open_backup(struct restore *r)
{
	char file[4096];
	/* An empty directory would become a log's. */
	snprintf(file, sizeof file, "%s/manifest", r->from);
	if (access(file, R_OK) != 0)
		return nam_fail(&r->err, NAM_REFUSED,
		    "%s is no backup: %s: %s; name a directory that namdb backup has made, or a data "
		    "directory",
		    r->from, file, strerror(errno));
	struct nam_err err;
	nam_status st = wal_disk_open_to_read(&r->dir, r->from, &err);
	if (st != NAM_OK) {
		r->dir = NULL;
		return nam_fail(&r->err, st, "%s", err.text);
	}
	const struct wal_config cfg = { .dir = r->dir, .no_sync = true };
	if ((st = wal_open(&r->log, &cfg, &err)) != NAM_OK) {
		r->log = NULL;
		return nam_fail(&r->err, st, "%s: %s", r->from, err.text);
	}
	wal_state(r->log, &r->is);
	if (r->is.published == 0)
		return nam_fail(&r->err, NAM_REFUSED, "%s has no database yet", r->from);
	return NAM_OK;
}

static nam_status
look_one(struct restore *r, uint64_t position, const void *bytes, uint32_t len)
{
	return txn_cut_look(&r->cut, position, bytes, len);
}

static nam_status
copy_one(struct restore *r, uint64_t position, const void *bytes, uint32_t len)
{
	(void)position;
	nam_status st = txn_cut_take(&r->cut, bytes, len);
	return st == NAM_OK ? cli_copy_put(&r->copy, bytes, len, &r->err) : st;
}

/* Calls fn for each record before that position. */
static nam_status
pass(struct restore *r, uint64_t to, const char *how,
    nam_status (*fn)(struct restore *r, uint64_t position, const void *bytes, uint32_t len))
{
	nam_status st = NAM_OK;
	uint64_t begin = r->is.begin;
	for (uint64_t at = begin, next; st == NAM_OK && at < to; at = next) {
		struct nam_err err;
		uint32_t got;
		if (cli_copy_stop != 0)
			return nam_fail(&r->err, NAM_CANCELLED, "it was ended; nothing was restored");
		if ((st = wal_read(r->log, at, r->buf, CAP, &got, &next, &err)) != NAM_OK)
			return nam_fail(&r->err, st, "%s: %s", r->from, err.text);
		for (uint32_t i = 0; st == NAM_OK && i < got && at + i < to;) {
			struct wal_record_head head;
			memcpy(&head, r->buf + i, sizeof head);
			st = fn(r, at + i, r->buf + i + sizeof head, head.bytes);
			if (st == NAM_CORRUPT)
				return nam_fail(&r->err, st,
				    "%s: the record at position %" PRIu64 " is none of a cluster", r->from,
				    at + i);
			i += (uint32_t)sizeof head + ((head.bytes + 7) & ~7u);
		}
		cli_copy_told(how, at - begin, to - begin);
	}
	if (st == NAM_NOMEM && r->err.text[0] == 0)
		return nam_fail(&r->err, st, "not enough memory");
	return st;
}

/* Finds where the restored log ends. */
static nam_status
find_end(struct restore *r)
{
	char time[CLI_MOMENT];
	txn_cut_until(&r->cut, r->is.whole, r->has_until ? r->until : INT64_MAX);
	nam_status st = pass(r, r->is.end, "looking for the end", look_one);
	if (st != NAM_OK || !r->has_until)
		return st;
	if (r->cut.timeless)
		return nam_fail(&r->err, NAM_UNSUPPORTED,
		    "%s has commits of an older namdb, which did not note their times: restore it without "
		    "--until",
		    r->from);
	if (txn_cut_found(&r->cut))
		return NAM_OK;
	cli_moment(r->cut.earliest, time);
	return nam_fail(&r->err, NAM_REFUSED,
	    "%s does not reach back to %s: the earliest --until is '%s'; an earlier backup may reach further",
	    r->from, r->until_text, time);
}

static nam_status
copy_all(struct restore *r)
{
	uint64_t end = r->cut.end < r->is.end ? r->cut.end : r->is.end;
	unsigned node = r->node != 0 ? (unsigned)r->node : wal_node(r->log);
	nam_status st = cli_copy_open(&r->copy, r->path, node, false, &r->err);
	if (st == NAM_OK)
		st = cli_copy_begin(&r->copy, r->is.cluster, r->is.begin, &r->err);
	if (st == NAM_OK)
		st = pass(r, end, "restore", copy_one);
	if (st == NAM_OK)
		st = cli_copy_end(&r->copy, &r->cut, r->is.whole < end ? r->is.whole : end, &r->err);
	cli_copy_told(NULL, UINT64_MAX, 0);
	r->node = node;
	return st;
}

static void
say_how_to_start(const struct restore *r)
{
	printf("start it with: namdb storage --id %" PRIu64 " --data", r->node);
	cli_shell_word(stdout, r->path);
	printf("\nor open it as a directory: namdb sql");
	cli_shell_word(stdout, r->path);
	printf("\n");
}

/* The copy must not lie in the backup, which stays as it is. */
static nam_status
look_where(struct restore *r)
{
	char from[PATH_MAX], to[PATH_MAX], above[PATH_MAX];
	snprintf(above, sizeof above, "%s", r->path);
	if (realpath(r->from, from) == NULL || realpath(dirname(above), to) == NULL)
		return NAM_OK; /* it is told when it is made */
	size_t n = strlen(from);
	if (strncmp(from, to, n) != 0 || (to[n] != 0 && to[n] != '/'))
		return NAM_OK;
	return nam_fail(&r->err, NAM_INVALID, "%s would lie in %s, which stays as it is: name another --data",
	    r->path, r->from);
}

static int
make(struct restore *r)
{
	uint64_t began = nam_clock_ns();
	char time[CLI_MOMENT];
	const char *all = "";
	nam_status st = open_backup(r);
	if (st == NAM_OK)
		st = look_where(r);
	if (st == NAM_OK)
		st = cli_copy_vacant(r->path, &r->err);
	if (st == NAM_OK && (r->buf = malloc(CAP)) == NULL)
		st = nam_fail(&r->err, NAM_NOMEM, "not enough memory");
	if (st == NAM_OK)
		st = find_end(r);
	if (st == NAM_OK) {
		st = copy_all(r);
		uint64_t bytes = r->copy.bytes, records = r->copy.records;
		cli_copy_close(&r->copy, st == NAM_OK);
		cli_moment(r->cut.latest, time);
		if (st == NAM_OK && r->has_until && r->cut.end == TXN_CUT_NO_END)
			all = ", and none is later";
		if (st == NAM_OK)
			printf("%s: %.1f MiB, %" PRIu64 " records, in %.1f s; the last one is of %s%s\n",
			    r->path, (double)bytes / (1 << 20), records,
			    (double)(nam_clock_ns() - began) / 1e9,
			    r->cut.latest != 0 ? time : "no known time", all);
		if (st == NAM_OK)
			say_how_to_start(r);
	}
	cli_copy_told(NULL, UINT64_MAX, 0);
	txn_cut_fini(&r->cut);
	free(r->buf);
	wal_close(r->log);
	if (r->dir != NULL)
		wal_disk_close(r->dir);
	if (st == NAM_OK)
		return 0;
	fprintf(stderr, "namdb restore: %s\n", r->err.text);
	return 1;
}

static int
misuse(const char *what)
{
	fprintf(stderr, "namdb restore: %s; see namdb restore --help\n", what);
	return 2;
}

int
cli_restore(int argc, char **argv)
{
	static const struct option known[] = {
		{ "data", required_argument, NULL, 'd' },
		{ "until", required_argument, NULL, 'u' },
		{ "id", required_argument, NULL, 'i' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct restore r = { .node = 0 };
	char line[300];
	optind = 0;
	opterr = 0;
	for (int o; (o = getopt_long(argc, argv, ":", known, NULL)) != -1;)
		switch (o) {
		case 'd':
			r.path = optarg;
			break;
		case 'u':
			if (!cli_moment_read(optarg, &r.until)) {
				snprintf(line, sizeof line,
				    "--until %.60s is no time, such as '2026-11-29 18:30:00+00'", optarg);
				return misuse(line);
			}
			r.until_text = optarg;
			r.has_until = true;
			break;
		case 'i':
			if (!nam_number(optarg, 1, 1023, &r.node))
				return misuse("--id is a number from 1 to 1023");
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			return misuse(cli_bad_option(o, argv));
		}
	if (optind + 1 != argc)
		return misuse("which backup?");
	if (r.path == NULL)
		return misuse("into which directory? say --data DIR");
	r.from = argv[optind];
	cli_copy_signals();
	return make(&r);
}
