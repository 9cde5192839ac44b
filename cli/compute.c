/* compute.c -- `namdb compute`: a compute node in the foreground, with faces for clients. */
#include "cli.h"
#include "left.h"
#include "opening.h"

#include <base/heap.h>
#include <base/log.h>
#include <base/number.h>
#include <compute_node/memory.h>
#include <compute_node/pgwire/pgwire.h>
#include <index/tree.h>
#include <net/secret.h>

#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: namdb compute [--storage LIST] [options]\n"
    "Joins a cluster as a compute node and serves clients of PostgreSQL: psql, pgbench, drivers.\n"
    "While it has nothing to do, it helps with long queries of the cluster's other compute nodes.\n"
    "\n"
    "  --pg HOST:PORT      address to listen on (default 127.0.0.1:5432; port 0: any free port)\n"
    "  --pg-socket DIR     listen also on a UNIX socket in this folder, named as PostgreSQL's\n"
    "  --pg-cert FILE      certificate (PEM) for TLS, which is offered then; with\n"
    "  --pg-key FILE       its private key\n"
    "  --pg-require-tls    refuses clients that come over TCP without TLS, also those of this machine\n"
    "  --pg-auth RULE      trust: clients of this machine need no password; scram: they need one, as others\n"
    "                      always do (default trust)\n"
    "  --pg-sessions N     most sessions at once (default 4096)\n"
    "  --pg-message S      longest message of a client (default 64m)\n"
    "  --metrics [HOST:]PORT  answers Prometheus at http://HOST:PORT/metrics (HOST: default 127.0.0.1);\n"
    "                      /health there is 200 while clients are served, else 503 and the reason\n"
    "  --log-level L       lines on stderr: error, warn, info, debug, or a file with one of these words,\n"
    "                      with a / in its name (default $NAMDB_LOG, else warn)\n"
    "  --log-slow MS       logs statements that take so long: log_min_duration_statement of new sessions\n"
    "  --storage LIST      storage nodes, comma-separated (default $NAMDB_STORAGE, else 127.0.0.1:7411)\n"
    "  --fabric F          auto, shm, verbs or tcp (default auto)\n"
    "  --cluster NAME      cluster they belong to (default namdb)\n"
    "  --secret-file F     shared secret (default $NAMDB_SECRET_FILE, else ~/.namdb/secret)\n"
    "  --workers N         worker threads (default: one per core, at most 8)\n"
    "  --max-statement S   longest statement (default 1m)\n"
    "  --index-cache C     what is kept of ordered indexes: tree (copies of inner nodes, the default), "
    "learned\n"
    "                      (models, less memory), ondemand, models, none or messages\n"
    "  --lease MS          for a new cluster: a process that is silent for so long is fenced "
    "(default 3000)\n"
    "  --help              this text\n"
    "\n"
    "While the database is restored clients are told how far it is (57P03). If the storage nodes end, or\n"
    "the process is fenced, its sessions end (57P01), and it connects again when the nodes are back.\n"
    "SIGTERM or SIGINT ends it: each session is told so (57P01), open transactions are rolled back.\n"
    "SIGHUP reads the certificate, its key and the file of --log-level again; new sessions use them.\n"
    "A client names a role that is there. A new cluster has one, namdb, a superuser that stays; if no role\n"
    "has ever been made, the first client that is trusted under another name becomes a superuser of that\n"
    "name. Passwords are those of roles: CREATE USER name PASSWORD '...' in namdb sql, or over the socket.\n"
    "Where clients of this machine are trusted, they may be any role. Without TLS data is not encrypted.\n";

static const struct option known[] = {
	{ "pg", required_argument, NULL, 'P' },
	{ "pg-socket", required_argument, NULL, 'S' },
	{ "pg-cert", required_argument, NULL, 'C' },
	{ "pg-key", required_argument, NULL, 'K' },
	{ "pg-require-tls", no_argument, NULL, 'T' },
	{ "pg-auth", required_argument, NULL, 'A' },
	{ "pg-sessions", required_argument, NULL, 'N' },
	{ "pg-message", required_argument, NULL, 'M' },
	{ "metrics", required_argument, NULL, 'x' },
	{ "log-level", required_argument, NULL, 'L' },
	{ "log-slow", required_argument, NULL, 'W' },
	{ "storage", required_argument, NULL, 's' },
	{ "fabric", required_argument, NULL, 'k' },
	{ "cluster", required_argument, NULL, 'n' },
	{ "secret-file", required_argument, NULL, 'p' },
	{ "workers", required_argument, NULL, 'w' },
	{ "max-statement", required_argument, NULL, 'm' },
	{ "lease", required_argument, NULL, 'l' },
	{ "index-cache", required_argument, NULL, 'I' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

enum {
	LOOK_MS = 200,
	TRIM_LOOKS = 25,
	AGAIN_MS = 200,
	OTHERS_MS = 700,
	REST_MS = 10000, /* sessions may take so long to end when the place is lost */
};

struct compute {
	struct cn_config cn;
	struct cn_pg_config pg;
	struct cn_metrics_config metrics;
	struct cn_opening opening;
	char metrics_at[120];
	const char *secret_file;
	char *left; /* the storage nodes, as soon as one of them is lost for good */
};

static int
misuse(const char *what)
{
	fprintf(stderr, "namdb compute: %s; see namdb compute --help\n", what);
	return 2;
}

static int
complain(const char *what)
{
	fprintf(stderr, "namdb compute: %s\n", what);
	return 1;
}

/* A port alone is one of this machine's. */
static void
take_metrics(struct compute *c, const char *at)
{
	bool port = at[strspn(at, "0123456789")] == 0;
	snprintf(c->metrics_at, sizeof c->metrics_at, "%s%s", port ? "127.0.0.1:" : "", at);
	c->metrics.listen = c->metrics_at;
}

/* One option. NULL, or what is wrong with it. */
static const char *
take(struct compute *c, int o)
{
	enum idx_tree_cache cache;
	uint64_t n;
	switch (o) {
	case 'P':
		c->pg.listen = optarg;
		break;
	case 'S':
		c->pg.socket_dir = optarg;
		break;
	case 'C':
		c->pg.cert = optarg;
		break;
	case 'K':
		c->pg.key = optarg;
		break;
	case 'T':
		c->pg.require_tls = true;
		break;
	case 'A':
		c->pg.passwords = strcmp(optarg, "scram") == 0;
		if (!c->pg.passwords && strcmp(optarg, "trust") != 0)
			return "--pg-auth is trust or scram";
		break;
	case 'N':
		if (!nam_number(optarg, 1, 1000000, &n))
			return "--pg-sessions is a number from 1 to 1000000";
		c->pg.sessions_max = (unsigned)n;
		break;
	case 'M':
		if (!nam_size(optarg, 16384, UINT64_C(1) << 30, &n))
			return "--pg-message is a size from 16k to 1g";
		c->pg.message_max = n;
		break;
	case 'x':
		take_metrics(c, optarg);
		break;
	case 'L':
		if (!cli_log_level(optarg))
			return "--log-level is error, warn, info, debug, or a file with one of them "
			       "(DIR/FILE)";
		break;
	case 'W':
		if (!nam_number(optarg, 0, INT32_MAX, &n))
			return "--log-slow is a number of milliseconds";
		c->pg.log_slow = true;
		c->pg.log_slow_ms = (uint32_t)n;
		break;
	case 's':
		c->cn.storage = optarg;
		break;
	case 'k':
		if (!net_kind_parse(optarg, &c->cn.fabric))
			return "--fabric is auto, shm, verbs or tcp";
		break;
	case 'n':
		c->cn.cluster = optarg;
		break;
	case 'p':
		c->secret_file = optarg;
		break;
	case 'w':
		if (!nam_number(optarg, 1, 62, &n))
			return "--workers is a number from 1 to 62";
		c->cn.workers = (unsigned)n;
		break;
	case 'm':
		if (!nam_size(optarg, 1024, UINT64_C(1) << 30, &n))
			return "--max-statement is a size from 1k to 1g";
		c->cn.statement_max = n;
		break;
	case 'I':
		if (!idx_tree_cache_parse(optarg, &cache))
			return "--index-cache is tree, learned, ondemand, models, none or messages";
		c->cn.txn.order_cache = 1 + (unsigned)cache;
		break;
	default:
		if (!nam_number(optarg, 20, 3600000, &n))
			return "--lease is a number of milliseconds from 20 to 3600000";
		c->cn.txn.lease_ms = (uint32_t)n;
	}
	return NULL;
}

/* The command line. -1: go on; else the exit code. */
static int
options(int argc, char **argv, struct compute *c)
{
	char line[300];
	optind = 0;
	opterr = 0;
	for (int o; (o = getopt_long(argc, argv, ":", known, NULL)) != -1;) {
		if (o == 'h') {
			fputs(usage, stdout);
			return 0;
		}
		if (o == '?' || o == ':') {
			return misuse(cli_bad_option(o, argv));
		}
		const char *wrong = take(c, o);
		if (wrong != NULL)
			return misuse(wrong);
	}
	if (optind == argc)
		return -1;
	snprintf(line, sizeof line, "unexpected argument %.60s", argv[optind]);
	return misuse(line);
}

static void
on_end(void *arg, const char *why)
{
	(void)arg;
	nam_log(NAM_LOG_WARN, "%s", why);
	kill(getpid(), SIGUSR1);
}

/* SIGHUP: what can be read again is. What cannot stays as it was. */
static void
reload(struct cn_pg *pg)
{
	struct nam_err err;
	cli_log_level_again();
	if (cn_pg_reload(pg, &err) != NAM_OK)
		nam_log(NAM_LOG_ERROR, "SIGHUP: %s; the certificate stays as it was", err.text);
	else
		nam_log(NAM_LOG_INFO, "SIGHUP: the certificate and the log's level are read again");
}

/* Serves clients until one of the signals but SIGHUP comes, or the storage nodes end: 0. Meanwhile
 * freed memory goes back to the system. */
static int
serve(const sigset_t *set, struct cn *cn, struct cn_pg *pg)
{
	const struct timespec every = { .tv_nsec = LOOK_MS * 1000000L };
	struct cn_memory_trim trim = { 0 };
	char why[300];
	for (unsigned looks = 1;; looks++) {
		int sig = sigtimedwait(set, NULL, &every);
		if (sig == SIGHUP)
			reload(pg);
		else if (sig > 0)
			return sig;
		if (looks % TRIM_LOOKS == 0)
			cn_memory_trim(cn, &trim);
		if (cn_lost(cn, why, sizeof why)) {
			nam_log(NAM_LOG_WARN, "%s", why);
			return 0;
		}
	}
}

static void
warn(struct cn_pg *pg)
{
	if (cn_pg_in_the_clear(pg))
		fprintf(stderr, "namdb compute: warning: other machines can connect, and there is no TLS: "
				"give --pg-cert and "
				"--pg-key\n");
	if (cn_pg_trusts_beside(pg))
		fprintf(stderr, "namdb compute: warning: other machines can connect, and --pg-auth is trust: "
				"anybody who reaches the port from this machine, also through a proxy or a "
				"tunnel, is let in as any role without a password: give --pg-auth scram\n");
}

/* A place in the cluster, from its begin to its end. */
struct member {
	struct cn *cn;
	struct cn_metrics *metrics; /* NULL = nobody asked for them; they stay */
};

static nam_status
join(struct compute *c, struct cn_pg *pg, const sigset_t *ends, struct member *m, int *sig,
    struct nam_err *err)
{
	atomic_store(&c->opening.restoring, 0);
	nam_status st = cli_open(&m->cn, &c->cn, c->secret_file, ends, sig, err);
	if (st != NAM_OK)
		return st;
	if (err->text[0] != 0)
		fprintf(stderr, "namdb compute: warning: %s\n", err->text);
	st = cn_pg_start(pg, m->cn, err);
	if (st == NAM_OK) {
		cn_metrics_of(m->metrics, m->cn);
		cn_on_end(m->cn, on_end, NULL);
		return st;
	}
	cn_close(m->cn);
	m->cn = NULL;
	return st;
}

/* One of the storage nodes may be lost for good. */
static void
go_on_without(struct compute *c, const struct cli_nodes *nodes)
{
	char lost[300], *left = NULL;
	uint8_t secret[NET_SECRET_LEN];
	struct cn_config cn = c->cn;
	struct nam_err err;
	if (nodes != NULL && net_secret_load(c->secret_file, secret, &cn.secret_len, &err) == NAM_OK) {
		cn.secret = secret;
		left = cli_nodes_left(nodes, &cn, lost, sizeof lost);
	}
	explicit_bzero(secret, sizeof secret);
	if (left == NULL || strcmp(left, c->cn.storage) == 0) {
		free(left);
		return;
	}
	nam_log(NAM_LOG_WARN, "%s: this process goes on with %s", lost, left);
	free(c->left);
	c->left = left;
	c->cn.storage = left;
}

/* Sessions and connections to a node that hangs may take long to end: a signal that comes meanwhile
 * ends the process as it does elsewhere. */
struct hurry {
	pthread_t thread;
	atomic_bool over;
	bool runs;
};

static void *
look_for_end(void *arg)
{
	struct hurry *h = arg;
	const struct timespec every = { .tv_nsec = LOOK_MS * 1000000L };
	sigset_t pending;
	while (!atomic_load(&h->over)) {
		if (sigpending(&pending) == 0 &&
		    (sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1)) {
			cli_end_soon();
			break;
		}
		nanosleep(&every, NULL);
	}
	return NULL;
}

static void
hurry_begin(struct hurry *h)
{
	atomic_init(&h->over, false);
	h->runs = pthread_create(&h->thread, NULL, look_for_end, h) == 0;
}

static void
hurry_end(struct hurry *h)
{
	atomic_store(&h->over, true);
	if (h->runs)
		pthread_join(h->thread, NULL);
}

/* The place is lost: every session ends, and the process comes back as a new one as soon as the
 * storage nodes let it. 0, or the signal that ended it. */
static int
come_back(struct compute *c, struct cn_pg *pg, const sigset_t *set, const sigset_t *ends, struct member *m)
{
	struct nam_err err = { 0 };
	char told[sizeof err.text] = "";
	const struct timespec pause = { .tv_nsec = AGAIN_MS * 1000000L }, none = { 0 };
	sigset_t stale;
	int sig = 0;
	struct cli_nodes *nodes = cli_nodes_of(m->cn);
	struct hurry hurry;
	hurry_begin(&hurry);
	/* First: a client that is told 57P03 finds the same at /health. */
	cn_metrics_of(m->metrics, NULL);
	if (!cn_pg_rest(pg, "this process connects to the cluster again", REST_MS)) {
		nam_log(NAM_LOG_ERROR, "a session does not end: the process ends without it; start it again");
		_exit(1);
	}
	cn_close(m->cn);
	m->cn = NULL;
	hurry_end(&hurry);
	/* on_end may have come too, and it is not of the next place. */
	sigemptyset(&stale);
	sigaddset(&stale, SIGUSR1);
	while (sigtimedwait(&stale, NULL, &none) > 0)
		continue;
	while (sig == 0 || sig == SIGHUP || sig == SIGUSR1) {
		if (join(c, pg, ends, m, &sig, &err) == NAM_OK || sig != 0)
			break;
		if (strcmp(err.text, told) != 0)
			nam_log(NAM_LOG_WARN, "cannot connect to the cluster again yet: %s", err.text);
		memcpy(told, err.text, sizeof told);
		cn_pg_resting(
		    pg, "it does not reach the storage nodes yet; the log of this process says why");
		go_on_without(c, nodes);
		sig = sigtimedwait(set, NULL, &pause);
		sig = sig < 0 ? 0 : sig;
		if (sig == SIGHUP)
			reload(pg);
	}
	cli_nodes_free(nodes);
	return sig;
}

static void
block(sigset_t *set, sigset_t *ends)
{
	sigemptyset(ends);
	sigaddset(ends, SIGTERM);
	sigaddset(ends, SIGINT);
	*set = *ends;
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGUSR1); /* on_end's */
	pthread_sigmask(SIG_BLOCK, set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static nam_status
open_metrics(struct compute *c, struct cn_pg *pg, struct cn_metrics **out, struct nam_err *err)
{
	if (c->metrics.listen == NULL)
		return NAM_OK;
	c->metrics.more = cn_pg_metrics;
	c->metrics.more_arg = pg;
	nam_status st = cn_metrics_open(out, &c->metrics, &c->opening, err);
	if (st == NAM_OK)
		fprintf(stderr, "metrics at http://%s/metrics\n", cn_metrics_address(*out));
	return st;
}

/* Another signal that ends the process has come. */
static bool
told_again(void *arg)
{
	const struct timespec none = { 0 };
	return sigtimedwait(arg, NULL, &none) > 0;
}

/* Joins the cluster, and serves clients until a signal comes, which is *sig. Closes pg. */
static nam_status
run(struct compute *c, struct cn_pg *pg, const sigset_t *set, const sigset_t *ends, int *sig,
    struct nam_err *err)
{
	struct member m = { 0 };
	nam_status st = open_metrics(c, pg, &m.metrics, err);
	if (st == NAM_OK)
		st = join(c, pg, ends, &m, sig, err);
	if (st == NAM_OK) {
		warn(pg);
		fprintf(stderr, "compute node with %u workers, for clients of PostgreSQL at %s%s%s\nready\n",
		    cn_workers(m.cn), cn_pg_address(pg), c->pg.socket_dir ? " and in " : "",
		    c->pg.socket_dir ? c->pg.socket_dir : "");
	}
	while (st == NAM_OK && *sig == 0) {
		*sig = serve(set, m.cn, pg);
		if (*sig != 0 && *sig != SIGUSR1)
			break;
		*sig = come_back(c, pg, set, ends, &m);
		if (*sig == 0)
			nam_log(NAM_LOG_WARN, "connected to the cluster again");
	}
	if (st == NAM_OK)
		cli_end_soon();
	cn_metrics_close(m.metrics);
	cn_pg_close(pg);
	/* If it hangs, cli_end_soon ends the process. */
	if (m.cn != NULL && *sig != 0)
		(void)cn_last_checkpoint(m.cn, OTHERS_MS, told_again, (void *)(uintptr_t)ends);
	cn_close(m.cn);
	free(c->left);
	return *sig != 0 ? NAM_OK : st;
}

int
cli_compute(int argc, char **argv)
{
	struct compute c = {
		.cn = { .storage = cli_storage_list(), .fabric = NET_AUTO, .measure = true, .helps = true },
		.pg = { .listen = "127.0.0.1:5432" },
	};
	int code = options(argc, argv, &c), sig = 0;
	if (code >= 0)
		return code;
	sigset_t set, ends;
	block(&set, &ends); /* the threads that start now take none of them */
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	struct nam_err err;
	struct cn_pg *pg;
	nam_heap_begin();
	c.cn.opening = &c.opening;
	if (cn_pg_open(&pg, &c.pg, &c.opening, &err) != NAM_OK)
		return complain(err.text);
	nam_status st = run(&c, pg, &set, &ends, &sig, &err);
	return st == NAM_OK ? 0 : complain(err.text);
}
