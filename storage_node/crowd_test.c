/*
 * crowd_test.c -- thousands of idle tcp peers at one node: few threads, little memory, no CPU time,
 * and a busy peer beside them is served as if they were not there.
 *
 * The crowd is a process of its own, so that both ends have a descriptor limit of their own. It
 * plays processes of one control connection and nine workers' streams each. The long form:
 * NAMDB_TEST_PEERS=10000.
 */
#include <base/clock.h>
#include <net/handshake.h>
#include <net/net.h>
#include <net/region_format.h>
#include <net/remote.h>
#include <storage_node/test_node.h>

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

enum {
	PEERS = 2000,
	EACH = 10, /* connections of a process, one of them CONTROL */
	FIRST = 1000,
	LOOPS = 2,
	BUSY = 20000, /* READs of the busy peer */
	RSS_PER_PEER = 32 << 10 /* a fifth of two buffers */,
};

static const char secret[] = "sesame";
static unsigned peers = PEERS;

/* ---- the crowd, in its own process ---------------------------------------------------- */

struct crowd {
	pid_t pid;
	int say, hear; /* ours: orders, and reports */
};

static int *crowd_fd;

static void
crowd_join(const char *address)
{
	char host[64], port[16];
	struct nam_err err;
	if (net_split_address(address, host, sizeof host, port, sizeof port, &err) != NAM_OK)
		_exit(3);
	for (unsigned i = 0; i < peers; i++) {
		struct net_shake me = {
			.layout = net_layout(),
			.cluster = net_cluster_hash(NULL),
			.secret = secret,
			.secret_len = sizeof secret,
			.identity = FIRST + i / EACH,
			.word = i % EACH,
		};
		struct net_welcome welcome;
		struct net_grant grant;
		uint64_t until = nam_clock_ns() + UINT64_C(10000000000);
		if (net_dial(host, port, "crowd", until, &crowd_fd[i], &err) != NAM_OK ||
		    net_shake_hands(crowd_fd[i], &me, i % EACH == 0 ? NET_ROLE_CONTROL : NET_ROLE_WORKER,
			"crowd", until, &welcome, &grant, NULL, &err) != NAM_OK) {
			fprintf(stderr, "peer %u: %s\n", i, err.text);
			_exit(4);
		}
	}
}

/* So many streams gave the right answer to a READ. */
static unsigned
crowd_read(void)
{
	const struct net_ask ask = { .code = NET_READ, .len = 8, .at = net_at(1, 0).bits };
	struct {
		struct net_answer head;
		uint64_t magic;
	} got;
	unsigned good = 0;
	for (unsigned i = 0; i < peers; i++)
		if (i % EACH != 0)
			send(crowd_fd[i], &ask, sizeof ask, MSG_NOSIGNAL | MSG_DONTWAIT);
	for (unsigned i = 0; i < peers; i++) {
		struct pollfd p = { .fd = crowd_fd[i], .events = POLLIN };
		if (i % EACH != 0 && poll(&p, 1, 10000) == 1 &&
		    recv(crowd_fd[i], &got, sizeof got, MSG_WAITALL) == sizeof got && got.magic == NET_MAGIC)
			good++;
	}
	return good;
}

/* So many connections have ended. */
static unsigned
crowd_ended(void)
{
	unsigned n = 0;
	char byte;
	for (unsigned i = 0; i < peers; i++)
		n += crowd_fd[i] >= 0 && recv(crowd_fd[i], &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
	return n;
}

/* Orders: 0 = join the node whose address follows, 1 = READ, 2 = count the ended, 3 = the odd
 * processes leave. Each is answered with a number. */
static void
crowd_main(int hear, int say)
{
	char order[129];
	crowd_fd = calloc(peers, sizeof *crowd_fd);
	while (read(hear, order, sizeof order) == sizeof order) {
		unsigned n = peers;
		if (order[0] == 0)
			crowd_join(order + 1);
		else if (order[0] == 1)
			n = crowd_read();
		else if (order[0] == 2)
			n = crowd_ended();
		else
			for (unsigned i = 0; i < peers; i++)
				if (i / EACH % 2 == 1) {
					close(crowd_fd[i]);
					crowd_fd[i] = -1;
				}
		if (write(say, &n, sizeof n) != sizeof n)
			break;
	}
	_exit(0);
}

static void
crowd_start(struct crowd *c)
{
	int to[2], from[2];
	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	fflush(NULL);
	c->pid = fork();
	assert_true(c->pid >= 0);
	if (c->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(to[1]);
		close(from[0]);
		crowd_main(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	c->say = to[1];
	c->hear = from[0];
}

static unsigned
crowd_do(struct crowd *c, char order, const char *text)
{
	char line[129] = { order };
	unsigned n = 0;
	snprintf(line + 1, sizeof line - 1, "%s", text);
	assert_int_equal(write(c->say, line, sizeof line), sizeof line);
	assert_int_equal(read(c->hear, &n, sizeof n), sizeof n);
	return n;
}

/* ---- measures -------------------------------------------------------------------------- */

static unsigned
threads(void)
{
	unsigned n = 0;
	DIR *d = opendir("/proc/self/task");
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static uint64_t
resident(void)
{
	unsigned long size, pages;
	FILE *f = fopen("/proc/self/statm", "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu %lu", &size, &pages), 2);
	fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static double
cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
nap_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };
	nanosleep(&ts, NULL);
}

struct busy {
	struct net_worker *w;
	double us; /* per READ, one after the other */
	bool wrong;
};

static void
busy_body(void *arg)
{
	struct busy *b = arg;
	uint64_t word, t0 = nam_clock_ns();
	for (unsigned i = 0; i < BUSY; i++)
		b->wrong |= net_read1(b->w, net_at(1, 0), &word, 8, NULL) != NAM_OK || word != NET_MAGIC;
	b->us = (double)(nam_clock_ns() - t0) / 1e3 / BUSY;
}

static double
busy(struct net_worker *w)
{
	struct busy b = { .w = w };
	test_in_coroutine(w, busy_body, &b);
	assert_false(b.wrong);
	return b.us;
}

static struct net_worker *the_worker;

static void
fence_body(void *arg)
{
	nam_status *st = arg;
	struct nam_err err;
	*st = net_fence_process(the_worker, FIRST, 0, &err);
}

static uint64_t
peers_of(struct test_node *node)
{
	struct sn_server_counts c;
	sn_server_counts(node->server, &c);
	return c.peers;
}

static void
peers_become(struct test_node *node, uint64_t want)
{
	for (unsigned i = 0; i < 1000 && peers_of(node) != want; i++)
		nap_ms(10);
	assert_int_equal(peers_of(node), want);
}

/* ---- the test --------------------------------------------------------------------------- */

static void
idle_crowd(void **state)
{
	(void)state;
	struct crowd crowd;
	crowd_start(&crowd);
	struct test_node node;
	struct sn_server_config sc = { .secret = secret,
		.secret_len = sizeof secret,
		.peers_max = peers + 100,
		.loops = LOOPS,
		.no_shm = true };
	test_node_start(&node, 1, 16 << 20, &sc);
	struct net *net;
	struct net_worker *w;
	struct net_config nc = { .storage = sn_server_address(node.server),
		.secret = secret,
		.secret_len = sizeof secret,
		.fabric = NET_TCP };
	test_net_open(&nc, &net, &w);
	double alone = busy(w);
	uint64_t own = peers_of(&node), memory = resident();
	unsigned before = threads();

	uint64_t t0 = nam_clock_ns();
	assert_int_equal(crowd_do(&crowd, 0, sn_server_address(node.server)), peers);
	double joined = (double)(nam_clock_ns() - t0) / 1e9;
	peers_become(&node, own + peers);
	nap_ms(100);
	double cpu = cpu_s();
	nap_ms(1000);
	cpu = cpu_s() - cpu;
	unsigned after = threads();
	uint64_t per_peer = (resident() - memory) / peers;
	double beside = busy(w);
	print_message("%u idle peers, joined in %.1f s: %u threads (%u without them), %llu bytes of memory "
		      "each, %.1f %% of a core; a READ takes %.1f us (%.1f without them)\n",
	    peers, joined, after, before, (unsigned long long)per_peer, cpu * 100, beside, alone);
	/* The second loop may have begun. */
	assert_in_range(after, 1, before + LOOPS);
	assert_true(per_peer <= RSS_PER_PEER);
	assert_true(cpu < 0.3);
	assert_true(beside < 1000); /* it looks through no crowd */

	/* All of them work, and at once. */
	assert_int_equal(crowd_do(&crowd, 1, ""), peers - peers / EACH);
	assert_true(threads() < 40);
	assert_int_equal(crowd_do(&crowd, 2, ""), 0);

	/* One process is fenced: its connections end, no other does. */
	nam_status fenced = NAM_INVALID;
	the_worker = w;
	test_in_coroutine(w, fence_body, &fenced);
	assert_int_equal(fenced, NAM_OK);
	assert_int_equal(crowd_do(&crowd, 2, ""), EACH);

	/* Half of the processes leave. */
	crowd_do(&crowd, 3, "");
	peers_become(&node, own + (peers / EACH - peers / EACH / 2 - 1) * EACH);
	assert_true(busy(w) > 0);
	close(crowd.say);
	waitpid(crowd.pid, NULL, 0);
	close(crowd.hear);
	peers_become(&node, own);
	test_net_close(net, w);
	test_node_stop(&node);
}

int
main(void)
{
	const char *more = getenv("NAMDB_TEST_PEERS");
	if (more != NULL && atoi(more) >= 2 * EACH)
		peers = (unsigned)atoi(more) / (2 * EACH) * (2 * EACH);
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return 1;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur < peers + 100) {
		fprintf(stderr, "skipped: %u peers need more descriptors than ulimit -Hn allows (%llu)\n",
		    peers, (unsigned long long)files.rlim_cur);
		return 77;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_crowd),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
