/*
 * cycles_test.c -- peers come, work and go, or are killed at any moment: no resource of them may
 * stay.
 *
 * 1,000 cycles on each fabric: most connect and leave in this process, every tenth is a process of
 * its own that is killed while its verbs are out. Then the node has no peers, this process has as
 * many descriptors as before, and (under the address sanitizer) no memory is lost. On verbs
 * (NAMDB_TEST_RDMA) tests/rdma_vm also compares the kernel's objects.
 */
#include <base/clock.h>
#include <net/net.h>
#include <storage_node/test_node.h>

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

enum { CYCLES = 1000, KILL_EVERY = 10, ROOM = 8 << 20 };

static const char *self;

struct work {
	struct net_worker *w;
	unsigned rounds; /* 0 = for ever */
	nam_status status;
};

/* Words, bytes, and a long READ, so that verbs of every kind are out at any moment. */
static void
work_co(void *arg)
{
	struct work *k = arg;
	static _Thread_local char big[200000];
	struct net_op op[5];
	struct net_batch b;
	uint64_t word = 7;
	net_batch_init(&b, k->w, op, 5, NULL);
	for (unsigned i = 0; (k->rounds == 0 || i < k->rounds) && k->status == NAM_OK; i++) {
		net_write(&b, net_at(1, 1 << 20), &word, 8);
		net_faa(&b, net_at(1, (1 << 20) + 8), 1);
		net_cas(&b, net_at(1, (1 << 20) + 16), i, i + 1);
		net_read(&b, net_at(1, 2 << 20), big, sizeof big);
		net_write(&b, net_at(1, 3 << 20), big, 100000);
		k->status = net_run(&b);
	}
}

/* One life of a peer. */
static void
live(const char *address, enum net_kind kind, unsigned rounds, bool tell)
{
	const struct net_config nc = { .storage = address, .fabric = kind, .connect_ms = 30000 };
	struct net *net;
	struct net_worker *w;
	test_net_open(&nc, &net, &w);
	struct work k = { .w = w, .rounds = rounds };
	nam_co_start(net_worker_sched(w), work_co, &k, 64 << 10);
	if (tell) {
		puts("working");
		fflush(stdout);
	}
	net_worker_run(w, NULL, NULL);
	test_net_close(net, w);
	assert_int_equal(k.status, NAM_OK);
}

static unsigned
descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;
	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		closedir(d);
	return n;
}

/* A process that works until it is killed, which happens now. */
static void
kill_one(const char *address, enum net_kind kind, unsigned cycle)
{
	int out[2];
	char number[8], byte;
	assert_int_equal(pipe(out), 0);
	snprintf(number, sizeof number, "%d", (int)kind);
	char *argv[] = { (char *)(uintptr_t)self, (char *)(uintptr_t) "live", (char *)(uintptr_t)address,
		number, NULL };
	posix_spawn_file_actions_t to;
	posix_spawn_file_actions_init(&to);
	posix_spawn_file_actions_adddup2(&to, out[1], 1);
	posix_spawn_file_actions_addclose(&to, out[0]);
	posix_spawn_file_actions_addclose(&to, out[1]);
	extern char **environ;
	pid_t pid;
	assert_int_equal(posix_spawn(&pid, self, &to, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&to);
	close(out[1]);
	assert_int_equal(read(out[0], &byte, 1), 1); /* it is connected */
	struct timespec nap = { 0, (long)(cycle % 5) * 1000000 };
	nanosleep(&nap, NULL);
	assert_int_equal(kill(pid, SIGKILL), 0);
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	close(out[0]);
}

static void
cycles(enum net_kind kind, const struct sn_server_config *server, unsigned times)
{
	struct test_node node;
	test_node_start(&node, 1, ROOM, server);
	char address[128];
	snprintf(address, sizeof address, "%s", sn_server_address(node.server));
	live(address, kind, 3, false);
	unsigned before = descriptors();
	/* A loop of tcp workers opens two when it gets its first one, maybe later. */
	unsigned loops = 2 * (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	assert_true(loops < times);
	for (unsigned i = 0; i < times; i++) {
		if (i % KILL_EVERY == KILL_EVERY - 1)
			kill_one(address, kind, i);
		else
			live(address, kind, 1 + i % 3, false);
	}
	/* The node hears of the last ends a moment later. */
	struct sn_server_counts c;
	uint64_t until = nam_clock_ns() + UINT64_C(10000000000);
	do {
		struct timespec nap = { 0, 2000000 };
		nanosleep(&nap, NULL);
		sn_server_counts(node.server, &c);
	} while ((c.peers != 0 || descriptors() > before + loops) && nam_clock_ns() < until);
	assert_int_equal(c.peers, 0);
	assert_true(descriptors() <= before + loops);
	live(address, kind, 3, false);
	test_node_stop(&node);
}

static void
shm(void **state)
{
	(void)state;
	cycles(NET_SHM, NULL, CYCLES);
}

static void
tcp(void **state)
{
	(void)state;
	cycles(NET_TCP, NULL, CYCLES);
}

static void
verbs(void **state)
{
	(void)state;
	const char *at = getenv("NAMDB_TEST_RDMA");
	if (at == NULL || *at == '\0')
		skip();
	char listen[64];
	snprintf(listen, sizeof listen, "%s:0", at);
	const struct sn_server_config server = { .listen = listen, .rdma = at };
	/* A life has two queue pairs: the first only tries. Emulated devices ask for fewer. */
	const char *n = getenv("NAMDB_TEST_CYCLES");
	cycles(NET_VERBS, &server, n != NULL ? (unsigned)atoi(n) : CYCLES / 2);
}

int
main(int argc, char **argv)
{
	self = argv[0];
	if (argc == 4 && strcmp(argv[1], "live") == 0) {
		live(argv[2], (enum net_kind)atoi(argv[3]), 0, true);
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shm),
		cmocka_unit_test(tcp),
		cmocka_unit_test(verbs),
	};
	/* In the machines of tests/rdma_vm the other two fabrics test nothing new. */
	if (getenv("NAMDB_TEST_RDMA") != NULL)
		cmocka_set_test_filter("verbs");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
