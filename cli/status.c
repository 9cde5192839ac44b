/* status.c -- `namdb status`: reads the state of each storage node by one-sided READs. */
#include "cli.h"

#include <base/clock.h>
#include <net/net.h>
#include <net/secret.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: namdb status [--storage LIST] [options]\n"
    "Shows the storage nodes of a cluster. Exit code 1 when one does not answer.\n"
    "A node's memory is in use, was given back, or was never used; the latter two are free.\n"
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
	double beat_age_ms;
	/* for the coroutine */
	struct net_worker *w;
};

static void
look(void *arg)
{
	struct report *r = arg;
	nam_status st = net_region_usage(r->w, r->node.region, &r->usage);
	r->beat_age_ms = (double)(nam_clock_wall_us() - (int64_t)r->usage.beat_wall_us) / 1000;
	if (r->beat_age_ms < 0)
		r->beat_age_ms = 0; /* another machine's clock */
	if (st != NAM_OK)
		nam_fail(&r->err, st, "%s: %s", r->address, nam_status_text(st));
	r->answered = st == NAM_OK;
}

static void
ask(struct report *r, struct net_config *cfg)
{
	struct net *net;
	cfg->storage = r->address;
	if (net_open(&net, cfg, &r->err) != NAM_OK)
		return;
	r->node = *net_node(net, 0);
	if (net_worker_open(net, &r->w, &r->err) == NAM_OK) {
		if (nam_co_start(net_worker_sched(r->w), look, r, 0) != NULL)
			net_worker_run(r->w, NULL, NULL);
		else
			nam_fail(&r->err, NAM_NOMEM, "no memory");
		net_worker_close(r->w);
	}
	net_close(net);
}

static void
print_json(const struct report *r, bool last)
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

static int
by_id(const void *a, const void *b)
{
	const struct report *x = a, *y = b;
	return (x->node.region > y->node.region) - (x->node.region < y->node.region);
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
	int code = 0;
	if (json)
		printf("[\n");
	else
		printf("%3s  %-22s  %-6s  %10s  %10s  %10s  %10s  %8s  %7s  %5s\n", "id", "address", "fabric",
		    "size", "in use", "given back", "never used", "beat", "cpu", "peers");
	for (unsigned i = 0; i < count; i++) {
		if (json)
			print_json(&report[i], i + 1 == count);
		else
			print_row(&report[i]);
		if (!report[i].answered)
			code = 1;
		if (i > 0 && report[i].answered && report[i - 1].answered &&
		    report[i].node.region == report[i - 1].node.region) {
			fprintf(stderr,
			    "namdb status: %s and %s both have node id %u; give each its own --id\n",
			    report[i - 1].address, report[i].address, report[i].node.region);
			code = 1;
		}
	}
	if (json)
		printf("]\n");
	free(list);
	return code;
}
