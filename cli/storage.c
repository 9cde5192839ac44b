/* storage.c -- `namdb storage`: one storage node in the foreground. */
#include "cli.h"
#include "node.h"

#include <base/number.h>
#include <net/secret.h>

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
    "usage: namdb storage --id N [options]\n"
    "Runs a storage node: memory that compute nodes reach over the network.\n"
    "\n"
    "  --id N              number of this node, 1..1023; each node of a cluster has its own (required)\n"
    "  --size S            memory to offer, such as 512m or 4g (default 1g)\n"
    "  --listen HOST:PORT  address to listen on (default 127.0.0.1:7411; port 0: any free port)\n"
    "  --rdma ADDRESS      address of the RDMA device to offer; off: offer none; auto: the device at the\n"
    "                      address of --listen, if there is one and it is not loopback (default auto)\n"
    "  --cluster NAME      cluster it belongs to (default namdb)\n"
    "  --secret-file F     shared secret (default $NAMDB_SECRET_FILE, else ~/.namdb/secret)\n"
    "  --data DIR          keep the cluster's database in this directory: it is restored from there when "
    "the\n"
    "                      storage nodes have been started again (default: it ends with this process).\n"
    "                      On two or three nodes: each keeps a copy, so that a disk may be lost (namdb\n"
    "                      node). namdb backup copies it meanwhile, namdb restore makes it out of a copy\n"
    "  --checkpoint-size S a checkpoint is made when the log has grown by so much, and by as much as the\n"
    "                      last one holds, or by less when the last compute process ends; 0: by CHECKPOINT\n"
    "                      alone (default 256m)\n"
    "  --log-rings         with --data, experimental: commits of this host put their records into this\n"
    "                      process's memory themselves, and wake no thread of it\n"
    "  --hugepages MODE    auto, on or off (default auto)\n"
    "  --numa N            bind the memory to NUMA node N\n"
    "  --rings S           part of that memory for message rings to services; 0: host no services\n"
    "                      (default a 64th, at most 64m)\n"
    "  --shards N          threads that run services, 1..16 (default 1)\n"
    "  --peers N           most connections at once (default 16384, or what the descriptors allow)\n"
    "  --loops N           threads that serve tcp workers, 1..64 (default: one per core, at most 16);\n"
    "                      for the busiest of them as many threads again come and go, up to 64\n"
    "  --end-when-idle S   end when there has been no peer for S seconds (default: never); the next node "
    "with\n"
    "                      that --data goes on\n"
    "  --background        once it is ready, go on in the background, in a session of its own; exit code 0\n"
    "                      says that it is ready. Its lines still go to stderr\n"
    "  --log-level L       lines on stderr: error, warn, info, debug, or a file with one of these words,\n"
    "                      with a / in its name (default $NAMDB_LOG, else warn)\n"
    "  --help              this text\n"
    "\n"
    "Without --data the data lives as long as this process. SIGTERM or SIGINT ends it; SIGHUP reads the\n"
    "file of --log-level again.\n"
    "Peers prove that they know the secret. Data is not encrypted: listen on a trusted network only.\n";

static int
complain(int code, const char *what)
{
	fprintf(stderr, "namdb storage: %s\n", what);
	return code;
}

enum {
	PEERS = 16384,         /* unless --peers says otherwise */
	OWN_DESCRIPTORS = 128, /* listeners, files, epoll: all but connections */
};

struct storage_config {
	struct cli_node_config node;
	bool background;
};

static const struct option known[] = {
	{ "id", required_argument, NULL, 'i' },
	{ "size", required_argument, NULL, 's' },
	{ "listen", required_argument, NULL, 'l' },
	{ "rdma", required_argument, NULL, 'r' },
	{ "cluster", required_argument, NULL, 'c' },
	{ "secret-file", required_argument, NULL, 'f' },
	{ "hugepages", required_argument, NULL, 'p' },
	{ "numa", required_argument, NULL, 'n' },
	{ "data", required_argument, NULL, 'd' },
	{ "checkpoint-size", required_argument, NULL, 'C' },
	{ "log-rings", no_argument, NULL, 'G' },
	{ "peers", required_argument, NULL, 'm' },
	{ "loops", required_argument, NULL, 'L' },
	{ "rings", required_argument, NULL, 'R' },
	{ "shards", required_argument, NULL, 'S' },
	{ "end-when-idle", required_argument, NULL, 'E' },
	{ "background", no_argument, NULL, 'B' },
	{ "log-level", required_argument, NULL, 'W' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* complain(2), about a word of the command line. */
static int __attribute__((format(printf, 1, 0))) misuse(const char *form, const char *word)
{
	char line[256];
	snprintf(line, sizeof line, form, word);
	return complain(2, line);
}

/* What options need of each other; as options. */
static int
settled(const struct storage_config *c, bool have_id)
{
	if (c->node.log_rings && c->node.data == NULL)
		return complain(2, "--log-rings is of a log: say where it is kept, with --data DIR");
	if (c->node.data != NULL && !c->node.hosts)
		return complain(2, "--data needs message rings: leave --rings 0 out");
	if (!have_id)
		return complain(2, "which node is this? say --id 1 (each storage node has its own, 1..1023)");
	return -1;
}

/* The command line. -1: go on; else the exit code. */
static int
options(int argc, char **argv, struct storage_config *c)
{
	bool have_id = false;
	uint64_t n;
	optind = opterr = 0; /* GNU: 0 starts over */
	for (int o; (o = getopt_long(argc, argv, ":", known, NULL)) != -1;)
		switch (o) {
		case 'i':
			if (!nam_number(optarg, 1, 1023, &n))
				return misuse("--id %.60s is out of range; ids are 1..1023", optarg);
			c->node.region.id = (unsigned)n;
			have_id = true;
			break;
		case 's':
			if (!nam_size(optarg, 0, UINT64_C(1) << 47, &c->node.region.size))
				return misuse("--size %.60s is not a size, such as 512m or 4g", optarg);
			break;
		case 'l':
			c->node.server.listen = optarg;
			break;
		case 'r':
			c->node.server.rdma = optarg;
			break;
		case 'c':
			c->node.region.cluster = c->node.server.cluster = optarg;
			break;
		case 'f':
			c->node.secret_file = optarg;
			break;
		case 'p':
			if (strcmp(optarg, "auto") == 0)
				c->node.region.huge = SN_HUGE_AUTO;
			else if (strcmp(optarg, "on") == 0)
				c->node.region.huge = SN_HUGE_ON;
			else if (strcmp(optarg, "off") == 0)
				c->node.region.huge = SN_HUGE_OFF;
			else
				return complain(2, "--hugepages is auto, on or off");
			break;
		case 'n':
			if (!nam_number(optarg, 0, 1023, &n))
				return complain(2, "--numa wants the number of a NUMA node, such as 0");
			c->node.region.numa = (int)n;
			break;
		case 'd':
			c->node.data = optarg;
			break;
		case 'C':
			if (!nam_size(optarg, 0, UINT64_C(1) << 40, &c->node.every))
				return complain(2, "--checkpoint-size wants a size, such as 256m");
			break;
		case 'G':
			c->node.log_rings = true;
			break;
		case 'm':
			if (!nam_number(optarg, 1, 1000000, &n))
				return complain(2, "--peers wants a number from 1 to 1000000");
			c->node.server.peers_max = (unsigned)n;
			break;
		case 'L':
			if (!nam_number(optarg, 1, 64, &n))
				return complain(2, "--loops wants a number from 1 to 64");
			c->node.server.loops = (unsigned)n;
			break;
		case 'R':
			if (!nam_size(optarg, 0, UINT64_C(1) << 40, &c->node.ring_bytes))
				return complain(2, "--rings wants a size, such as 16m");
			c->node.hosts = c->node.ring_bytes != 0;
			break;
		case 'S':
			if (!nam_number(optarg, 1, 16, &n))
				return complain(2, "--shards wants a number from 1 to 16");
			c->node.shards = (unsigned)n;
			break;
		case 'E':
			if (!nam_number(optarg, 1, 86400, &n))
				return complain(2, "--end-when-idle wants seconds, from 1 to 86400");
			c->node.server.idle_ms = (uint32_t)n * 1000;
			break;
		case 'B':
			c->background = true;
			break;
		case 'W':
			if (!cli_log_level(optarg))
				return complain(2,
				    "--log-level is error, warn, info, debug, or a file with one of them "
				    "(DIR/FILE)");
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			return misuse("%s; see namdb storage --help", cli_bad_option(o, argv));
		}
	if (optind < argc)
		return complain(2, "it takes options only; see namdb storage --help");
	return settled(c, have_id);
}

/*
 * A connection is a descriptor: takes as many as we may. If they are too few for --peers, that is
 * an error now; without --peers, so many peers are allowed as there are descriptors, so that one
 * more is told so. -1: go on; else the exit code.
 */
static int
take_descriptors(struct sn_server_config *c)
{
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return -1;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	unsigned long long may = files.rlim_cur;
	char line[200];
	if (may >= (c->peers_max != 0 ? c->peers_max : PEERS) + OWN_DESCRIPTORS)
		return -1;
	if (c->peers_max == 0 && may > OWN_DESCRIPTORS) {
		c->peers_max = (unsigned)(may - OWN_DESCRIPTORS);
		return -1;
	}
	snprintf(line, sizeof line, "--peers %u needs %u descriptors, but ulimit -Hn allows %llu",
	    c->peers_max, c->peers_max + OWN_DESCRIPTORS, may);
	return complain(1, line);
}

/*
 * --background: the node is a child, and this process ends when the child is ready or has ended.
 * Before any thread is there. In the child: the descriptor to say so to; in the parent: -1, and
 * *code is the exit code.
 */
static int
go_behind(int *code)
{
	int pipe_fd[2], null, status;
	char byte;
	if (pipe2(pipe_fd, O_CLOEXEC) != 0) {
		*code = complain(1, "cannot make a pipe: allow more open files (ulimit -n)");
		return -1;
	}
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		close(pipe_fd[0]);
		setsid();
		/* If the parent has been killed, the node is told by nothing, and goes on. */
		signal(SIGPIPE, SIG_IGN);
		if ((null = open("/dev/null", O_RDWR)) >= 0) {
			dup2(null, 0);
			dup2(null, 1);
			if (null > 2)
				close(null);
		}
		return pipe_fd[1];
	}
	close(pipe_fd[1]);
	ssize_t n = -1;
	while (pid > 0 && (n = read(pipe_fd[0], &byte, 1)) < 0 && errno == EINTR)
		continue;
	close(pipe_fd[0]);
	if (pid < 0)
		*code = complain(1, "cannot start a process: raise the limit on processes (ulimit -u)");
	else if (n == 1)
		*code = 0;
	else
		*code = waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) != 0
			    ? WEXITSTATUS(status)
			    : 1;
	return -1;
}

/* In the parent of --background nothing waits any more behind the first time. */
static void
say_ready(void *arg)
{
	int *behind = arg;
	if (*behind < 0)
		return;
	(void)!write(*behind, "r", 1);
	close(*behind);
	*behind = -1;
}

int
cli_storage(int argc, char **argv)
{
	struct storage_config c = {
		.node = { .region = { .size = UINT64_C(1) << 30, .numa = -1 },
		    .server = { .listen = "127.0.0.1:7411" },
		    .hosts = true,
		    .every = UINT64_C(256) << 20 },
	};
	int code = options(argc, argv, &c), behind = -1;
	if (code >= 0)
		return code;
	umask(077);
	/* A file that may not grow (ulimit -f) is an error, as a full disk is, not the end. */
	signal(SIGXFSZ, SIG_IGN);
	if (c.background && (behind = go_behind(&code)) < 0)
		return code;
	/* A terminal that closes must not take the data with it. */
	cli_hup_block();
	cli_node_block();
	signal(SIGPIPE, SIG_IGN);
	if (!cli_hup_open())
		return complain(1, "cannot start a thread: raise the limit on processes (ulimit -u)");
	struct nam_err err;
	uint8_t secret[NET_SECRET_LEN];
	size_t secret_len;
	if (net_secret_load(c.node.secret_file, secret, &secret_len, &err) != NAM_OK)
		return complain(1, err.text);
	c.node.server.secret = secret;
	c.node.server.secret_len = secret_len;
	c.node.ready = say_ready;
	c.node.ready_arg = &behind;
	if ((code = take_descriptors(&c.node.server)) >= 0)
		return code;
	nam_status st = cli_node_run(&c.node, &err);
	explicit_bzero(secret, sizeof secret);
	return st == NAM_OK ? 0 : complain(st == NAM_INVALID ? 2 : 1, err.text);
}
