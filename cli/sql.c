/* sql.c -- `namdb sql`: a compute node with the SQL shell on it. */
#include "cli.h"
#include "opening.h"
#include "shell.h"

#include <base/number.h>
#include <index/tree.h>

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: namdb sql [--storage LIST] [options]\n"
    "Joins a cluster as a compute node and runs SQL: from -c, -f, standard input, or a terminal.\n"
    "\n"
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

struct opening {
	struct cn_config *cfg;
	const char *secret_file;
};

static nam_status
open_again(void *arg, struct cn **out, struct nam_err *err)
{
	struct opening *how = arg;
	sigset_t ends;
	int sig;
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	nam_status st = cli_open(out, how->cfg, how->secret_file, &ends, &sig, err);
	if (st == NAM_OK && sig != 0) {
		cn_close(*out);
		return nam_fail(err, NAM_CANCELLED, "the process was told to end while it connected");
	}
	if (st == NAM_OK && err->text[0] != 0)
		fprintf(stderr, "namdb sql: warning: %s\n", err->text);
	return st;
}

int
cli_sql(int argc, char **argv)
{
	static const struct option known[] = {
		SHELL_LONG,
		{ "storage", required_argument, NULL, 's' },
		{ "fabric", required_argument, NULL, 'k' },
		{ "cluster", required_argument, NULL, 'n' },
		{ "secret-file", required_argument, NULL, 'p' },
		{ "workers", required_argument, NULL, 'w' },
		{ "lease", required_argument, NULL, 'l' },
		{ "index-cache", required_argument, NULL, 'I' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	static struct shell_args args;
	struct cn_config cfg = {
		.storage = cli_storage_list(), .fabric = NET_AUTO, .workers = 1, .measure = true
	};
	const char *secret_file = NULL, *bad;
	enum idx_tree_cache cache;
	uint64_t n;
	char line[300];
	optind = 0;
	opterr = 0;
	for (int o; (o = getopt_long(argc, argv, ":" SHELL_SHORT, known, NULL)) != -1;) {
		if (shell_option(&args, o, optarg, &bad)) {
			if (bad != NULL)
				return misuse(bad);
			continue;
		}
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
		case 'w':
			if (!nam_number(optarg, 1, 62, &n))
				return misuse("--workers is a number from 1 to 62");
			cfg.workers = (unsigned)n;
			break;
		case 'l':
			if (!nam_number(optarg, 20, 3600000, &n))
				return misuse("--lease is a number of milliseconds from 20 to 3600000");
			cfg.txn.lease_ms = (uint32_t)n;
			break;
		case 'I':
			if (!idx_tree_cache_parse(optarg, &cache))
				return misuse(
				    "--index-cache is tree, learned, ondemand, models, none or messages");
			cfg.txn.order_cache = 1 + (unsigned)cache;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			snprintf(line, sizeof line, "%s %.60s",
			    o == ':' ? "a value is missing after" : "unknown option", argv[optind - 1]);
			return misuse(line);
		}
	}
	while (optind < argc && shell_assign(&args, argv[optind]))
		optind++;
	if (optind < argc) {
		snprintf(line, sizeof line, "unexpected argument %.60s; SQL goes after -c", argv[optind]);
		return misuse(line);
	}
	struct nam_err err;
	struct cn *cn;
	struct opening how = { &cfg, secret_file };
	cfg.statement_max = args.opt.statement_max;
	args.opt.again = open_again;
	args.opt.again_arg = &how;
	shell_signals_block();
	if (open_again(&how, &cn, &err) != NAM_OK) {
		fprintf(stderr, "namdb sql: %s\n", err.text);
		return 1;
	}
	char *about = shell_about(cn, cfg.storage, cfg.cluster, secret_file,
	    cfg.fabric == NET_AUTO ? NULL : net_kind_name(cfg.fabric));
	args.opt.about = about;
	shell_signals_open();
	int code = shell_run(cn, &args, "namdb " NAMDB_VERSION "; \\? for help.\n\n");
	free(about);
	return code;
}
