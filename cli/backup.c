/* backup.c -- `namdb backup`: the log of a running cluster, copied into a directory. */
#include "cli.h"
#include "copy.h"

#include <base/clock.h>
#include <base/number.h>
#include <compute_node/cn.h>
#include <net/secret.h>
#include <txn/backup.h>
#include <wal/wal_format.h>

#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: namdb backup [--storage LIST] [options] DIR\n"
    "Writes a backup of the whole database into DIR while the cluster runs. DIR does not exist yet, or is\n"
    "empty. One storage node must have been started with --data. `namdb restore` makes a data directory\n"
    "out of DIR; `namdb log DIR` prints what is in it.\n"
    "\n"
    "  --storage LIST      storage nodes, comma-separated (default $NAMDB_STORAGE, else 127.0.0.1:7411)\n"
    "  --fabric F          auto, shm, verbs or tcp (default auto)\n"
    "  --cluster NAME      cluster they belong to (default namdb)\n"
    "  --secret-file F     shared secret (default $NAMDB_SECRET_FILE, else ~/.namdb/secret)\n"
    "  --help              this text\n"
    "\n"
    "All that was committed before the backup began is in it, and what committed later is not. No\n"
    "transaction waits for it. CHECKPOINT does: checkpoints are made before and after it.\n"
    "A backup that did not come to its end is no backup, and namdb restore says so.\n"
    "A process that knows the shared secret may make one: that is the whole protection. The files have mode\n"
    "0600, and a DIR that is made here has 0700; they are not encrypted.\n"
    "\n"
    "Exit code 0: the backup is whole and on the disk; 1: there is none; 2: bad usage.\n";

struct backup {
	const char *path;
	struct cli_copy copy;
	bool opened;
	struct txn_cut cut;
	struct txn_backup *b;
	struct txn_backup_plan plan;
	char *buf;
	nam_status st;
	struct nam_err err;
	/* The thread that waits. */
	pthread_mutex_t lock;
	pthread_cond_t over;
	bool is_over;
};

enum { TRIES = 10 };

/* A status of the directory's, not of the log's: it is not tried again. */
static nam_status
of_copy(nam_status st)
{
	return st == NAM_BUSY || st == NAM_ABSENT ? NAM_IO : st;
}

static nam_status
look_one(struct backup *k, uint64_t position, const void *bytes, uint32_t len)
{
	return txn_cut_look(&k->cut, position, bytes, len);
}

static nam_status
copy_one(struct backup *k, uint64_t position, const void *bytes, uint32_t len)
{
	(void)position;
	nam_status st = txn_cut_take(&k->cut, bytes, len);
	return st == NAM_OK ? of_copy(cli_copy_put(&k->copy, bytes, len, &k->err)) : st;
}

/* Calls fn for each record of the log from one position to another. */
static nam_status
pass(struct backup *k, uint64_t from, uint64_t to,
    nam_status (*fn)(struct backup *k, uint64_t position, const void *bytes, uint32_t len))
{
	nam_status st = NAM_OK;
	for (uint64_t at = from, next; st == NAM_OK && at < to; at = next) {
		uint32_t got;
		st = txn_backup_read(k->b, at, k->buf, k->plan.read_max, &got, &next);
		if (st == NAM_OK && got == 0)
			st = NAM_CORRUPT;
		for (uint32_t i = 0; st == NAM_OK && i < got && at + i < to;) {
			struct wal_record_head head;
			if (got - i < sizeof head)
				return NAM_CORRUPT;
			memcpy(&head, k->buf + i, sizeof head);
			if (head.bytes > got - i - sizeof head)
				return NAM_CORRUPT;
			st = fn(k, at + i, k->buf + i + sizeof head, head.bytes);
			i += (uint32_t)sizeof head + ((head.bytes + 7) & ~7u);
		}
		if (fn == copy_one)
			cli_copy_told("backup", at - from, to - from);
	}
	return st;
}

static void
waits(void *arg)
{
	(void)arg;
	fputs("namdb backup: a checkpoint is under way, or a backup; this one begins behind it\n", stderr);
}

/* NAM_ABSENT, NAM_BUSY: to be tried again. */
static nam_status
try_once(struct backup *k, struct txn_worker *tw)
{
	const struct txn_backup_limits limits = { .cancel = &cli_copy_stop };
	nam_status st = txn_backup_open(tw, &limits, waits, NULL, &k->b, &k->plan);
	if (st != NAM_OK)
		return st;
	txn_cut_fini(&k->cut);
	txn_cut_at(&k->cut, k->plan.end);
	free(k->buf);
	if ((k->buf = malloc(k->plan.read_max)) == NULL)
		st = NAM_NOMEM;
	if (st == NAM_OK)
		st = pass(k, k->plan.end, k->plan.behind, look_one);
	if (st == NAM_OK && !k->opened) {
		k->opened = true;
		st = of_copy(cli_copy_open(&k->copy, k->path, k->plan.node, true, &k->err));
	}
	if (st == NAM_OK)
		st = of_copy(cli_copy_begin(&k->copy, k->plan.cluster, k->plan.begin, &k->err));
	if (st == NAM_OK)
		st = pass(k, k->plan.begin, k->plan.end, copy_one);
	txn_backup_close(k->b);
	return st == NAM_OK ? of_copy(cli_copy_end(&k->copy, &k->cut, k->plan.whole, &k->err)) : st;
}

static void
run(const struct cn_place *place, void *arg)
{
	struct backup *k = arg;
	nam_status st = NAM_BUSY;
	for (unsigned i = 0; i < TRIES && (st == NAM_BUSY || st == NAM_ABSENT); i++) {
		k->err.text[0] = 0;
		st = try_once(k, place->txn);
	}
	cli_copy_told(NULL, UINT64_MAX, 0);
	if (st == NAM_UNSUPPORTED)
		nam_fail(&k->err, st,
		    "this cluster keeps no log: no storage node of it was started with --data, so there is "
		    "nothing that a backup could be made of");
	else if (st == NAM_BUSY || st == NAM_ABSENT)
		nam_fail(&k->err, st,
		    "this process was silent for so long that checkpoints came between: try again");
	else if (st == NAM_CANCELLED)
		nam_fail(&k->err, st, "it was ended; there is no backup");
	else if (st != NAM_OK && k->err.text[0] == 0)
		nam_fail(&k->err, st, "the log of storage node %u cannot be read: %s", k->plan.node,
		    st == NAM_CORRUPT
			? "it is damaged, as the storage node says; CHECKPOINT writes it anew, then try again"
			: nam_status_text(st));
	pthread_mutex_lock(&k->lock);
	k->st = st;
	k->is_over = true;
	pthread_cond_signal(&k->over);
	pthread_mutex_unlock(&k->lock);
}

static int
make(struct backup *k, struct cn_config *cfg, const char *secret_file)
{
	uint8_t secret[NET_SECRET_LEN];
	uint64_t began = nam_clock_ns();
	struct cn *cn;
	char time[CLI_MOMENT];
	nam_status st = cli_copy_vacant(k->path, &k->err);
	if (st == NAM_OK)
		st = net_secret_load(secret_file, secret, &cfg->secret_len, &k->err);
	cfg->secret = secret;
	if (st == NAM_OK)
		st = cn_open(&cn, cfg, &k->err);
	explicit_bzero(secret, sizeof secret);
	if (st == NAM_OK) {
		if (k->err.text[0] != 0)
			fprintf(stderr, "namdb backup: warning: %s\n", k->err.text);
		cli_copy_signals();
		k->err.text[0] = 0;
		if ((st = cn_start(cn, 0, run, k, 0)) != NAM_OK)
			nam_fail(&k->err, st, "no memory");
		pthread_mutex_lock(&k->lock);
		while (st == NAM_OK && !k->is_over)
			pthread_cond_wait(&k->over, &k->lock);
		pthread_mutex_unlock(&k->lock);
		cn_close(cn);
		if (st == NAM_OK)
			st = k->st;
	}
	uint64_t bytes = k->copy.bytes, records = k->copy.records;
	if (k->opened)
		cli_copy_close(&k->copy, st == NAM_OK);
	txn_cut_fini(&k->cut);
	free(k->buf);
	if (st != NAM_OK) {
		fprintf(stderr, "namdb backup: %s\n", k->err.text);
		return 1;
	}
	cli_moment(k->plan.time, time);
	printf("%s: %.1f MiB, %" PRIu64 " records, in %.1f s; it has all that was committed up to %s\n",
	    k->path, (double)bytes / (1 << 20), records, (double)(nam_clock_ns() - began) / 1e9, time);
	return 0;
}

static int
misuse(const char *what)
{
	fprintf(stderr, "namdb backup: %s; see namdb backup --help\n", what);
	return 2;
}

int
cli_backup(int argc, char **argv)
{
	static const struct option known[] = {
		{ "storage", required_argument, NULL, 's' },
		{ "fabric", required_argument, NULL, 'k' },
		{ "cluster", required_argument, NULL, 'n' },
		{ "secret-file", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct cn_config cfg = { .storage = cli_storage_list(), .fabric = NET_AUTO, .workers = 1 };
	struct backup k = { .lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER };
	const char *secret_file = NULL;
	optind = 0;
	opterr = 0;
	for (int o; (o = getopt_long(argc, argv, ":", known, NULL)) != -1;)
		switch (o) {
		case 's':
			cfg.storage = optarg;
			break;
		case 'k':
			if (!net_kind_parse(optarg, &cfg.fabric))
				return misuse("--fabric is auto, shm, verbs or tcp");
			break;
		case 'n':
			cfg.cluster = optarg;
			break;
		case 'p':
			secret_file = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			return misuse(cli_bad_option(o, argv));
		}
	if (optind + 1 != argc)
		return misuse("into which directory?");
	k.path = argv[optind];
	return make(&k, &cfg, secret_file);
}
