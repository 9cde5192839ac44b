/* lost.c -- `namdb node lost N`: an operator says that a storage node does not come back. */
#include "at_node.h"
#include "cli.h"

#include <base/number.h>
#include <net/net.h>
#include <net/secret.h>
#include <txn/state.h>
#include <wal/remote/log.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: namdb node lost N [--storage LIST] [options]\n"
    "Says that storage node N is lost for good: its host is broken, or its directory is. The nodes that\n"
    "have a copy of the database (--data) note it, and the cluster goes on without node N: compute nodes\n"
    "restore the database onto the nodes that are left. What node N alone had received, no client was told\n"
    "that it is committed. Say it only of a node that does not run any more: one that comes back later is\n"
    "not part of the cluster until all storage nodes have been started again.\n"
    "\n"
    "  --storage LIST      the nodes that are left, comma-separated (default $NAMDB_STORAGE, else\n"
    "                      127.0.0.1:7411); the lost one may be named, too\n"
    "  --cluster NAME      cluster they belong to (default namdb)\n"
    "  --secret-file F     shared secret (default $NAMDB_SECRET_FILE, else ~/.namdb/secret)\n"
    "  --fabric F          auto, shm, verbs or tcp (default auto)\n"
    "  --help              this text\n";

enum { CONNECT_MS = 1000 };

/* A node that is left. */
struct left {
	const char *address;
	bool answers;
	unsigned region;
	struct txn_node_state state;
	bool knows;        /* that the lost node is, or was, a storage node of its cluster */
	char lost_at[128]; /* the lost one's address, as the maker wrote it; "": not known */
	unsigned lost;
};

static nam_status
look(struct net_worker *w, const struct net_node_info *node, void *arg)
{
	struct left *l = arg;
	bool is = false;
	l->region = node->region;
	nam_status st = txn_look_at_node(w, l->region, &l->state);
	if (st == NAM_OK)
		st = txn_look_for_member(w, l->region, l->lost, &is, l->lost_at, sizeof l->lost_at);
	l->knows = is;
	if (st == NAM_OK && l->state.has_log)
		l->knows = is || wal_ids_have(l->state.log.copies.copy, l->lost) ||
			   wal_ids_have(l->state.log.copies.lost, l->lost);
	return st;
}

static nam_status
note(struct net_worker *w, const struct net_node_info *node, void *arg)
{
	struct left *l = arg;
	return wal_log_lost(w, node->region, l->lost);
}

static int
complain(const char *form, unsigned node, const char *word)
{
	char line[400];
	snprintf(line, sizeof line, form, node, word);
	fprintf(stderr, "namdb node: %s\n", line);
	return 1;
}

/* Each copy of the database has to note it, but for those that are lost. */
static bool
all_copies(const struct left *l, unsigned n, unsigned lost, const struct wal_copies *c)
{
	for (unsigned k = 0; k < WAL_COPIES; k++) {
		bool there = c->copy[k] == 0 || c->copy[k] == lost || wal_ids_have(c->lost, c->copy[k]);
		for (unsigned i = 0; i < n; i++)
			there = there || (l[i].answers && l[i].region == c->copy[k]);
		if (!there) {
			complain("storage node %u has a copy of the database, too, and does not answer: name "
				 "it in "
				 "--storage, or, if it is lost as well, say that first%s",
			    c->copy[k], "");
			return false;
		}
	}
	return true;
}

/* With all that answer. */
static int
note_all(struct left *l, unsigned n, unsigned lost, const struct net_config *cfg)
{
	const struct left *newest = NULL;
	bool known = false;
	struct nam_err err = { 0 };
	for (unsigned i = 0; i < n; i++) {
		known = known || l[i].knows;
		if (l[i].answers && l[i].region == lost)
			return complain("storage node %u answers at %s: it is not lost; end it first", lost,
			    l[i].address);
		if (l[i].answers && l[i].state.has_log && l[i].state.log.published != 0 &&
		    (newest == NULL || l[i].state.log.published > newest->state.log.published))
			newest = &l[i];
	}
	if (newest == NULL)
		return complain(
		    "no node that answers has the database, so none can go on without node %u: name "
		    "the nodes with --data in --storage%s",
		    lost, "");
	if (!known)
		return complain(
		    "the cluster has no storage node %u: see its nodes with namdb status%s", lost, "");
	if (!all_copies(l, n, lost, &newest->state.log.copies))
		return 1;
	for (unsigned i = 0; i < n; i++) {
		if (!l[i].answers || !l[i].state.has_log ||
		    l[i].state.log.published != newest->state.log.published)
			continue;
		nam_status st = cli_at_node(l[i].address, cfg, note, &l[i], &err);
		if (st != NAM_OK) {
			fprintf(stderr, "namdb node: storage node %u (%s) cannot note it: %s\n", l[i].region,
			    l[i].address, nam_status_text(st));
			return 1;
		}
		printf("storage node %u (%s) has noted that node %u is lost for good\n", l[i].region,
		    l[i].address, lost);
	}
	puts("compute nodes that ran go on without it; name the others in the --storage of those that start");
	return 0;
}

static int
run(const char *storage, unsigned lost, const struct net_config *cfg)
{
	static struct left left[NET_REGIONS];
	struct nam_err err = { 0 };
	unsigned n = 0;
	int code = 1;
	char *list = strdup(storage);
	for (char *save = NULL, *one = list != NULL ? strtok_r(list, ", ", &save) : NULL;
	     one != NULL && n < NET_REGIONS - 1; one = strtok_r(NULL, ", ", &save), n++) {
		left[n] = (struct left){ .address = one, .lost = lost };
		left[n].answers = cli_at_node(one, cfg, look, &left[n], &err) == NAM_OK;
		if (!left[n].answers)
			fprintf(stderr, "namdb node: %s does not answer\n", one);
	}
	/* The lost one need not be named, and must not answer. */
	for (unsigned i = 0, named = n; i < named && n == named && n < NET_REGIONS - 1; i++)
		if (left[i].lost_at[0] != 0) {
			left[n] = (struct left){ .address = left[i].lost_at, .lost = lost };
			(void)cli_at_node(left[n].address, cfg, look, &left[n], &err);
			left[n].answers = left[n].region == lost;
			n++;
		}
	if (n == 0)
		fprintf(stderr, "namdb node: no storage node was named; say --storage 127.0.0.1:7411\n");
	else
		code = note_all(left, n, lost, cfg);
	free(list);
	return code;
}

static int
misuse(const char *what)
{
	fprintf(stderr, "namdb node: %s; see namdb node --help\n", what);
	return 2;
}

int
cli_node(int argc, char **argv)
{
	static const struct option known[] = {
		{ "storage", required_argument, NULL, 's' },
		{ "cluster", required_argument, NULL, 'c' },
		{ "secret-file", required_argument, NULL, 'f' },
		{ "fabric", required_argument, NULL, 'k' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *storage = cli_storage_list(), *secret_file = NULL;
	struct net_config cfg = { .fabric = NET_AUTO, .connect_ms = CONNECT_MS };
	uint64_t lost;
	optind = opterr = 0;
	for (int o; (o = getopt_long(argc, argv, ":", known, NULL)) != -1;)
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
			if (!net_kind_parse(optarg, &cfg.fabric))
				return misuse("--fabric is auto, shm, verbs or tcp");
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			return misuse(cli_bad_option(o, argv));
		}
	if (argc - optind != 2 || strcmp(argv[optind], "lost") != 0)
		return misuse("say: namdb node lost N");
	if (!nam_number(argv[optind + 1], 1, NET_REGIONS - 1, &lost))
		return misuse("which node is lost? Ids are 1..1023");
	struct nam_err err;
	uint8_t secret[NET_SECRET_LEN];
	if (net_secret_load(secret_file, secret, &cfg.secret_len, &err) != NAM_OK) {
		fprintf(stderr, "namdb node: %s\n", err.text);
		return 1;
	}
	cfg.secret = secret;
	int code = run(storage, (unsigned)lost, &cfg);
	explicit_bzero(secret, sizeof secret);
	return code;
}
