/* sql.c -- `namdb sql`: a compute node with the SQL shell on it; of a cluster, or of a database in
 * a directory. */
#include "cli.h"
#include "opening.h"
#include "shell.h"

#include <base/number.h>
#include <index/tree.h>

#include <embed/embed.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "usage: namdb sql DIR [options]\n"
    "       namdb sql [--storage LIST] [options]\n"
    "Runs SQL: from -c, -f, standard input, or a terminal. With DIR on the database in that directory, else\n"
    "as a compute node of a cluster.\n"
    "\n"
    "DIR has a / in it, such as ./my.db, or is there already; a new one is made. The first process that "
    "opens\n"
    "it starts a storage node in the background, which restores the database and serves later processes "
    "too.\n"
    "The node ends by itself; what it has to say is in DIR/storage.log.\n"
    "\n"
    "  --size S            with DIR: memory of the storage node, if this process starts it (default 1g)\n"
    "  --end-when-idle S   likewise: it ends when it has had no peer for S seconds (default 5)\n"
    "  --storage LIST      storage nodes, comma-separated (default $NAMDB_STORAGE, else 127.0.0.1:7411)\n"
    "  --fabric F          auto, shm, verbs or tcp (default auto)\n"
    "  --cluster NAME      cluster they belong to (default namdb)\n"
    "  --secret-file F     shared secret (default $NAMDB_SECRET_FILE, else ~/.namdb/secret)\n"
    "  --workers N         worker threads (default 1)\n"
    "  --index-cache C     what is kept of ordered indexes: tree (copies of inner nodes, the default), "
    "learned\n"
    "                      (models, less memory), ondemand, models, none or messages\n"
    "  --lease MS          for a new cluster: a process that is silent for so long is fenced "
    "(default 3000)\n" SHELL_USAGE "\n"
    "A new cluster has one role, namdb, a superuser that stays.\n"
    "Exit code 0: every statement succeeded; 1: a statement failed, or there is no cluster; 2: bad usage.\n";

static int
misuse(const char *what)
{
	fprintf(stderr, "namdb sql: %s; see namdb sql --help\n", what);
	return 2;
}

struct sql_args {
	struct cn_config cn;
	const char *storage; /* what --storage said; NULL = nothing */
	const char *secret_file;
	struct emb_config dir; /* path NULL = a cluster */
	struct emb_node node;  /* of the directory: the one that was joined */
	struct shell_args shell;
};

static const struct option known[] = {
	SHELL_LONG,
	{ "storage", required_argument, NULL, 's' },
	{ "fabric", required_argument, NULL, 'k' },
	{ "cluster", required_argument, NULL, 'n' },
	{ "secret-file", required_argument, NULL, 'p' },
	{ "size", required_argument, NULL, 'S' },
	{ "end-when-idle", required_argument, NULL, 'E' },
	{ "workers", required_argument, NULL, 'w' },
	{ "lease", required_argument, NULL, 'l' },
	{ "index-cache", required_argument, NULL, 'I' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* ---- the command line ------------------------------------------------------------------------ */

/* One option. NULL, or what is wrong with it. */
static const char *
take(struct sql_args *a, int o)
{
	enum idx_tree_cache cache;
	uint64_t n;
	switch (o) {
	case 's':
		a->storage = optarg;
		break;
	case 'k':
		if (!net_kind_parse(optarg, &a->cn.fabric))
			return "--fabric is auto, shm, verbs or tcp";
		break;
	case 'n':
		a->cn.cluster = optarg;
		break;
	case 'p':
		a->secret_file = optarg;
		break;
	case 'S':
		if (!nam_size(optarg, 1 << 20, UINT64_C(1) << 47, &a->dir.size))
			return "--size is a size of at least 1m, such as 512m or 4g";
		break;
	case 'E':
		if (!nam_number(optarg, 1, 86400, &n))
			return "--end-when-idle is a number of seconds from 1 to 86400";
		a->dir.idle_s = (unsigned)n;
		break;
	case 'w':
		if (!nam_number(optarg, 1, 62, &n))
			return "--workers is a number from 1 to 62";
		a->cn.workers = (unsigned)n;
		break;
	case 'l':
		if (!nam_number(optarg, 20, 3600000, &n))
			return "--lease is a number of milliseconds from 20 to 3600000";
		a->cn.txn.lease_ms = (uint32_t)n;
		break;
	default:
		if (!idx_tree_cache_parse(optarg, &cache))
			return "--index-cache is tree, learned, ondemand, models, none or messages";
		a->cn.txn.order_cache = 1 + (unsigned)cache;
	}
	return NULL;
}

/* The word behind the options that is no NAME=VALUE of psql's. NULL, or what is wrong. */
static const char *
take_word(struct sql_args *a, const char *word, char line[300])
{
	struct stat sb;
	if (shell_assign(&a->shell, word))
		return NULL;
	bool dir = strchr(word, '/') != NULL || (stat(word, &sb) == 0 && S_ISDIR(sb.st_mode));
	if (!dir) {
		snprintf(line, 300,
		    "unexpected argument %.60s; SQL goes after -c, and a new directory for a database has a "
		    "/ in "
		    "its name",
		    word);
		return line;
	}
	if (a->dir.path != NULL)
		return "it takes one directory";
	a->dir.path = word;
	return NULL;
}

/* What options need of each other. */
static const char *
settle(struct sql_args *a)
{
	if (a->dir.path == NULL) {
		if (a->dir.size != 0)
			return "--size goes with a directory";
		if (a->dir.idle_s != 0)
			return "--end-when-idle goes with a directory";
		a->cn.storage = a->storage != NULL ? a->storage : cli_storage_list();
	} else if (a->storage != NULL) {
		return "--storage names a cluster, and a directory is another one: give one of them";
	} else if (a->secret_file != NULL) {
		return "--secret-file goes with --storage: a directory has its own secret";
	} else if (a->cn.cluster != NULL) {
		return "--cluster goes with --storage: a directory has its own cluster";
	} else if (a->cn.fabric == NET_VERBS) {
		return "a directory's storage node is on this machine: --fabric is auto, shm or tcp";
	}
	return NULL;
}

/* -1: go on; else the exit code. */
static int
options(int argc, char **argv, struct sql_args *a)
{
	const char *bad;
	char line[300];
	optind = 0;
	opterr = 0;
	for (int o; (o = getopt_long(argc, argv, ":" SHELL_SHORT, known, NULL)) != -1;) {
		if (o == 'h') {
			fputs(usage, stdout);
			return 0;
		}
		if (o == '?' || o == ':') {
			return misuse(cli_bad_option(o, argv));
		}
		if (!shell_option(&a->shell, o, optarg, &bad))
			bad = take(a, o);
		if (bad != NULL)
			return misuse(bad);
	}
	for (; optind < argc; optind++)
		if ((bad = take_word(a, argv[optind], line)) != NULL)
			return misuse(bad);
	bad = settle(a);
	return bad != NULL ? misuse(bad) : -1;
}

/* ---- the compute node
 * ------------------------------------------------------------------------- */

static nam_status
open_with(struct sql_args *a, const char *secret_file, struct cn **out, struct nam_err *err)
{
	sigset_t ends;
	int sig;
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	nam_status st = cli_open(out, &a->cn, secret_file, &ends, &sig, err);
	if (st == NAM_OK && sig != 0) {
		cn_close(*out);
		return nam_fail(err, NAM_CANCELLED, "the process was told to end while it connected");
	}
	if (st == NAM_OK && err->text[0] != 0)
		fprintf(stderr, "namdb sql: warning: %s\n", err->text);
	return st;
}

struct joining {
	struct sql_args *a;
	struct cn *cn;
};

static nam_status
join_node(void *arg, const struct emb_node *node, struct nam_err *err)
{
	struct joining *j = arg;
	char hint[PATH_MAX + 200];
	emb_hint(node, hint, sizeof hint);
	j->a->cn.storage = node->address;
	j->a->cn.gone_hint = hint;
	nam_status st = open_with(j->a, node->secret, &j->cn, err);
	j->a->cn.storage = j->a->cn.gone_hint = NULL;
	if (st == NAM_OK)
		j->a->node = *node;
	return st;
}

/* A signal that would end the process is blocked until the shell is there. */
static bool
interrupted(void)
{
	sigset_t pending;
	return sigpending(&pending) == 0 &&
	       (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
		   sigismember(&pending, SIGHUP) == 1);
}

static bool
node_gone(void *arg)
{
	const struct sql_args *a = arg;
	return !emb_serves(&a->node);
}

static nam_status
open_again(void *arg, struct cn **out, struct nam_err *err)
{
	struct sql_args *a = arg;
	if (a->dir.path == NULL)
		return open_with(a, a->secret_file, out, err);
	struct joining j = { .a = a };
	nam_status st = emb_join(&a->dir, join_node, &j, err);
	if (st == NAM_OK)
		*out = j.cn;
	return st;
}

int
cli_sql(int argc, char **argv)
{
	static struct sql_args a = {
		.cn = { .fabric = NET_AUTO, .workers = 1, .measure = true },
	};
	static char path[PATH_MAX];
	int code = options(argc, argv, &a);
	if (code >= 0)
		return code;
	struct nam_err err;
	struct cn *cn;
	a.cn.statement_max = a.shell.opt.statement_max;
	a.shell.opt.again = open_again;
	a.shell.opt.again_arg = &a;
	shell_signals_block();
	if (a.dir.path != NULL) {
		a.dir.program = access("/proc/self/exe", X_OK) == 0 ? "/proc/self/exe" : NULL;
		/* Absolute, for \conninfo, and if the shell changes its directory. */
		if (!emb_find(path, a.dir.path, &err)) {
			fprintf(stderr, "namdb sql: %s\n", err.text);
			return 1;
		}
		a.dir.path = path;
		a.dir.stop = interrupted;
		a.shell.opt.gone = node_gone;
	}
	if (open_again(&a, &cn, &err) != NAM_OK) {
		bool unsaid = a.dir.path == NULL && a.storage == NULL && getenv("NAMDB_STORAGE") == NULL;
		fprintf(stderr, "namdb sql: %s%s\n", err.text,
		    unsaid ? "; or name a directory for a database: namdb sql ./my.db" : "");
		return 1;
	}
	char *about = shell_about(cn, a.dir.path, a.cn.storage, a.cn.cluster, a.secret_file,
	    a.cn.fabric == NET_AUTO ? NULL : net_kind_name(a.cn.fabric));
	a.shell.opt.about = about;
	shell_signals_open();
	code = shell_run(cn, &a.shell, "namdb " NAMDB_VERSION "; \\? for help.\n\n");
	free(about);
	return code;
}
