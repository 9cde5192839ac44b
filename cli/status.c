/* status.c -- `namdb status`: reads the state of each storage node by one-sided READs. */
#include "at_node.h"
#include "cli.h"

#include <base/clock.h>
#include <net/net.h>
#include <net/secret.h>
#include <txn/state.h>
#include <wal/wal.h>

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: namdb status [--storage LIST] [options]\n"
    "Shows the storage nodes of a cluster, whether its database is open or is restored (and how far that\n"
    "is), and how much its log has. It waits for no process. Exit code 1 when a node does not answer.\n"
    "A node's memory is in use, was given back, or was never used; the latter two are free. The log has\n"
    "what lies between two positions; a restore reads that.\n"
    "\n"
    "  --storage LIST      addresses, comma-separated (default $NAMDB_STORAGE, else 127.0.0.1:7411)\n"
    "  --cluster NAME      cluster they belong to (default namdb)\n"
    "  --secret-file F     shared secret (default $NAMDB_SECRET_FILE, else ~/.namdb/secret)\n"
    "  --fabric F          auto, shm, verbs or tcp (default auto)\n"
    "  --json              one JSON array instead of a table\n"
    "  --help              this text\n";

struct report {
	const char *address;
	bool answered;
	struct nam_err err;
	struct net_node_info node;
	struct net_usage usage;
	struct txn_node_state state;
	double beat_age_ms;
};

static nam_status
look(struct net_worker *w, const struct net_node_info *node, void *arg)
{
	struct report *r = arg;
	r->node = *node;
	nam_status st = net_region_usage(w, node->region, &r->usage);
	if (st == NAM_OK)
		st = txn_look_at_node(w, node->region, &r->state);
	r->beat_age_ms = (double)(nam_clock_wall_us() - (int64_t)r->usage.beat_wall_us) / 1000;
	if (r->beat_age_ms < 0)
		r->beat_age_ms = 0; /* another machine's clock */
	return st == NAM_OK ? st : nam_fail(&r->err, st, "%s: %s", r->address, nam_status_text(st));
}

static void
ask(struct report *r, const struct net_config *cfg)
{
	r->answered = cli_at_node(r->address, cfg, look, r, &r->err) == NAM_OK;
}

/* Has the log a database? */
static bool
is_kept(const struct wal_line *log)
{
	return log->published != 0;
}

/* Is the database that it has the one that is written, not one that is restored? */
static bool
is_live(const struct wal_line *log)
{
	return log->published != 0 && log->life == log->published;
}

static double
checkpoint_age_s(const struct wal_line *log)
{
	double age = (double)(nam_clock_wall_us() - (int64_t)log->full_wall_us) / 1e6;
	return age > 0 ? age : 0;
}

static const char *
condition_of(const struct wal_line *log)
{
	return log->condition == WAL_BROKEN ? "broken" : log->condition == WAL_SPACE ? "full" : "well";
}

static const char *
database_of(const struct txn_node_state *home, const struct wal_line *log)
{
	switch (home->database) {
	case TXN_DATABASE_OPEN:
		return "open";
	case TXN_DATABASE_RESTORING:
		return "restoring";
	default:
		return log != NULL && !is_kept(log) ? "empty" : "closed";
	}
}

static void
print_json_log(const struct wal_line *log)
{
	printf(", \"log\": {\"condition\": \"%s\", \"has_database\": %s", condition_of(log),
	    is_kept(log) ? "true" : "false");
	if (is_live(log))
		printf(", \"begin\": %" PRIu64 ", \"flushed\": %" PRIu64 ", \"bytes\": %" PRIu64
		       ", \"since_checkpoint\": %" PRIu64 ", \"checkpoint_age_s\": %.1f",
		    log->begin, log->flushed, log->flushed - log->begin,
		    log->flushed > log->full ? log->flushed - log->full : 0, checkpoint_age_s(log));
	putchar('}');
}

/* log: the home's cluster's; NULL = it has none, or the node is not there. */
static void
print_json_cluster(const struct txn_node_state *n, const struct wal_line *log, unsigned region)
{
	if (n->member == TXN_MEMBER)
		printf(", \"cluster_number\": \"%016" PRIx64 "\", \"home\": %u", n->cluster, n->home);
	if (n->member == TXN_MEMBER && n->home == region) {
		printf(", \"database\": \"%s\", \"log_node\": %u, \"log_nodes\": [", database_of(n, log),
		    n->log_region[0]);
		for (unsigned i = 0; i < WAL_COPIES && n->log_region[i] != 0; i++)
			printf("%s%u", i > 0 ? ", " : "", n->log_region[i]);
		putchar(']');
		if (n->database == TXN_DATABASE_RESTORING)
			printf(", \"restored_permille\": %u", n->permille);
	}
	if (n->has_log)
		print_json_log(&n->log);
}

static void
print_json(const struct report *r, const struct wal_line *log, bool last)
{
	printf("  {\"address\": ");
	cli_json_text(r->address);
	if (!r->answered) {
		printf(", \"answered\": false, \"error\": ");
		cli_json_text(r->err.text);
	} else {
		printf(
		    ", \"answered\": true, \"id\": %u, \"fabric\": \"%s\", \"size\": %llu, \"in_use\": %llu, "
		    "\"given_back\": %llu, \"never_used\": %llu, \"beat\": %llu, \"beat_age_ms\": %.1f, "
		    "\"cpu_permille\": %u, "
		    "\"peers\": %u, \"incarnation\": \"%016llx\"",
		    r->node.region, net_kind_name(r->node.kind), (unsigned long long)r->node.size,
		    (unsigned long long)r->usage.in_use, (unsigned long long)r->usage.given_back,
		    (unsigned long long)r->usage.never_used, (unsigned long long)r->usage.beat,
		    r->beat_age_ms, r->usage.cpu_permille, r->usage.peers,
		    (unsigned long long)r->node.incarnation);
		print_json_cluster(&r->state, log, r->node.region);
	}
	printf("}%s\n", last ? "" : ",");
}

static const char *
human(uint64_t bytes, char buf[32])
{
	if (bytes >= UINT64_C(1) << 30)
		snprintf(buf, 32, "%.1f GiB", (double)bytes / (1 << 30));
	else if (bytes >= 1 << 20)
		snprintf(buf, 32, "%.1f MiB", (double)bytes / (1 << 20));
	else
		snprintf(buf, 32, "%.0f KiB", (double)bytes / 1024);
	return buf;
}

static void
print_row(const struct report *r)
{
	char size[32], used[32], back[32], never[32], cpu[16], beat[32];
	if (!r->answered) {
		printf("%3s  %-22s  %s\n", "?", r->address, r->err.text);
		return;
	}
	snprintf(cpu, sizeof cpu, "%.1f%%", r->usage.cpu_permille / 10.0);
	snprintf(beat, sizeof beat, "%.0f ms", r->beat_age_ms);
	printf("%3u  %-22s  %-6s  %10s  %10s  %10s  %10s  %8s  %7s  %5u\n", r->node.region, r->address,
	    net_kind_name(r->node.kind), human(r->node.size, size), human(r->usage.in_use, used),
	    human(r->usage.given_back, back), human(r->usage.never_used, never), beat, cpu, r->usage.peers);
}

static const char *
ago(double s, char buf[32])
{
	if (s < 120)
		snprintf(buf, 32, "%.0f s ago", s);
	else if (s < 7200)
		snprintf(buf, 32, "%.0f min ago", s / 60);
	else
		snprintf(buf, 32, "%.0f h ago", s / 3600);
	return buf;
}

static void
print_log(const struct report *r)
{
	const struct wal_line *log = &r->state.log;
	char size[32], since[32], age[32];
	printf("log: on node %u (%s), ", r->node.region, r->address);
	if (is_live(log))
		printf("%s, flushed from position %" PRIu64 " to %" PRIu64
		       "; last checkpoint or restore %s, %s since",
		    human(log->flushed - log->begin, size), log->begin, log->flushed,
		    ago(checkpoint_age_s(log), age),
		    human(log->flushed > log->full ? log->flushed - log->full : 0, since));
	else
		fputs(is_kept(log) ? "it has a database that is not open" : "it has no database", stdout);
	if (log->condition == WAL_BROKEN)
		fputs("; a write or a sync has failed: look at the disk and start that node again", stdout);
	else if (log->condition == WAL_SPACE)
		fputs("; its disk is full: commits are refused until there is space", stdout);
	putchar('\n');
}

/* The log of that home's cluster. */
static const struct wal_line *
log_of(const struct report *home, const struct report *r, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (r[i].answered && r[i].state.has_log && r[i].node.region == home->state.log_region[0])
			return &r[i].state.log;
	return NULL;
}

static void
print_database(const struct report *home, const struct wal_line *log)
{
	const struct txn_node_state *n = &home->state;
	printf("database: ");
	if (n->database == TXN_DATABASE_RESTORING)
		printf("a process restores it: %u %%\n", n->permille / 10);
	else if (n->database == TXN_DATABASE_OPEN)
		printf("open%s\n", n->log_region[0] == 0   ? "; without a log, it ends with the nodes"
				   : n->log_region[1] == 0 ? ""
				   : n->log_region[2] == 0 ? "; its log has two copies"
							   : "; its log has three copies");
	else if (log != NULL && !is_kept(log))
		puts("there is none yet: the next compute process makes it");
	else
		puts("not open: the next compute process restores it");
}

/* What the nodes say of the cluster, below the table. */
static void
print_cluster(const struct report *r, unsigned n)
{
	bool member = false, answered = false, home = false;
	for (unsigned i = 0; i < n; i++) {
		answered |= r[i].answered;
		member |= r[i].answered && r[i].state.member != TXN_NO_MEMBER;
		if (!r[i].answered || r[i].state.member != TXN_MEMBER || r[i].state.home != r[i].node.region)
			continue;
		home = true;
		print_database(&r[i], log_of(&r[i], r, n));
	}
	if (answered && !member)
		puts("database: no compute process has come yet");
	else if (answered && !home)
		puts("database: not known: the cluster's home is not among the nodes that answered, or is in "
		     "the making");
	for (unsigned i = 0; i < n; i++)
		if (r[i].answered && r[i].state.has_log)
			print_log(&r[i]);
}

static int
by_id(const void *a, const void *b)
{
	const struct report *x = a, *y = b;
	return (x->node.region > y->node.region) - (x->node.region < y->node.region);
}

/* The exit code. */
static int
print_all(const struct report *r, unsigned n, bool json)
{
	int code = 0;
	if (json)
		printf("[\n");
	else
		printf("%3s  %-22s  %-6s  %10s  %10s  %10s  %10s  %8s  %7s  %5s\n", "id", "address", "fabric",
		    "size", "in use", "given back", "never used", "beat", "cpu", "peers");
	for (unsigned i = 0; i < n; i++) {
		if (json)
			print_json(&r[i], log_of(&r[i], r, n), i + 1 == n);
		else
			print_row(&r[i]);
		if (!r[i].answered)
			code = 1;
		if (i > 0 && r[i].answered && r[i - 1].answered && r[i].node.region == r[i - 1].node.region) {
			fprintf(stderr,
			    "namdb status: %s and %s both have node id %u; give each its own --id\n",
			    r[i - 1].address, r[i].address, r[i].node.region);
			code = 1;
		}
	}
	if (json)
		printf("]\n");
	else
		print_cluster(r, n);
	return code;
}

int
cli_status(int argc, char **argv)
{
	static const struct option known[] = {
		{ "storage", required_argument, NULL, 's' },
		{ "cluster", required_argument, NULL, 'c' },
		{ "secret-file", required_argument, NULL, 'f' },
		{ "fabric", required_argument, NULL, 'k' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *storage = cli_storage_list(), *secret_file = NULL;
	struct net_config cfg = { .fabric = NET_AUTO };
	bool json = false;
	optind = 0;
	opterr = 0;
	for (int o; (o = getopt_long(argc, argv, ":", known, NULL)) != -1;) {
		switch (o) {
		case 's':
			storage = optarg;
			break;
		case 'c':
			cfg.cluster = optarg;
			break;
		case 'f':
			secret_file = optarg;
			break;
		case 'k':
			if (!net_kind_parse(optarg, &cfg.fabric)) {
				fprintf(stderr, "namdb status: --fabric is auto, shm, verbs or tcp\n");
				return 2;
			}
			break;
		case 'j':
			json = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fprintf(
			    stderr, "namdb status: %s; see namdb status --help\n", cli_bad_option(o, argv));
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "namdb status: it takes options only; see namdb status --help\n");
		return 2;
	}
	struct nam_err err;
	uint8_t secret[NET_SECRET_LEN];
	if (net_secret_load(secret_file, secret, &cfg.secret_len, &err) != NAM_OK) {
		fprintf(stderr, "namdb status: %s\n", err.text);
		return 1;
	}
	cfg.secret = secret;

	static struct report report[NET_REGIONS];
	unsigned count = 0;
	char *list = strdup(storage);
	for (char *save = NULL, *one = list != NULL ? strtok_r(list, ", ", &save) : NULL; one != NULL;
	     one = strtok_r(NULL, ", ", &save)) {
		if (count == NET_REGIONS - 1) {
			fprintf(stderr, "namdb status: more than %d nodes were named\n", NET_REGIONS - 1);
			free(list);
			return 2;
		}
		report[count] = (struct report){ .address = one };
		ask(&report[count++], &cfg);
	}
	explicit_bzero(secret, sizeof secret);
	if (count == 0) {
		fprintf(stderr, "namdb status: no storage node was named; say --storage 127.0.0.1:7411\n");
		free(list);
		return 2;
	}
	qsort(report, count, sizeof *report, by_id);
	int code = print_all(report, count, json);
	free(list);
	return code;
}
