/* server_test.c -- the server with bad peers: garbage, wrong secrets, slow and dying peers, a node
 * that is killed. */
#include <base/clock.h>
#include <base/log.h>
#include <base/rng.h>
#include <net/handshake.h>
#include <net/local.h>
#include <net/net.h>
#include <net/region_format.h>
#include <net/remote.h>
#include <storage_node/sn.h>
#include <storage_node/test_node.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cmocka.h>

enum { SIZE = 4 << 20 };
static const char secret[] = "sesame";

static struct test_node node;

static int
setup(void **state)
{
	(void)state;
	struct sn_server_config sc = { .secret = secret, .secret_len = strlen(secret), .handshake_ms = 300 };
	test_node_start(&node, 1, SIZE, &sc);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	test_node_stop(&node);
	return 0;
}

static uint64_t
soon(void)
{
	return nam_clock_ns() + UINT64_C(3000000000);
}

static int
dial_at(const char *address)
{
	char host[64], port[16];
	struct nam_err err;
	int fd;
	assert_int_equal(net_split_address(address, host, sizeof host, port, sizeof port, &err), NAM_OK);
	assert_int_equal(net_dial(host, port, "test", soon(), &fd, &err), NAM_OK);
	return fd;
}

static int
dial(void)
{
	return dial_at(sn_server_address(node.server));
}

static struct net_shake
honest(void)
{
	return (struct net_shake){
		.layout = net_layout(),
		.cluster = net_cluster_hash(NULL),
		.secret = secret,
		.secret_len = strlen(secret),
		.identity = 7,
	};
}

/* Reads until len bytes, the end (returns the bytes that came) or ms passed (-1). */
static ssize_t
take(int fd, void *into, size_t len, int ms)
{
	size_t got = 0;
	while (got < len) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		if (poll(&p, 1, ms) <= 0)
			return -1;
		ssize_t n = recv(fd, (char *)into + got, len - got, 0);
		if (n < 0 && errno == EAGAIN)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

static bool
ends(int fd, int ms)
{
	char sink[4096];
	for (;;) {
		ssize_t n = take(fd, sink, 1, ms);
		if (n <= 0)
			return n == 0;
	}
}

static int
worker_stream(void)
{
	struct net_shake me = honest();
	struct net_welcome welcome;
	struct net_grant grant;
	struct nam_err err;
	int fd = dial();
	assert_int_equal(
	    net_shake_hands(fd, &me, NET_ROLE_WORKER, "test", soon(), &welcome, &grant, NULL, &err), NAM_OK);
	return fd;
}

/* The node still serves honest peers. */
static void
still_serves(void)
{
	int fd = worker_stream();
	struct net_ask ask = { .code = NET_READ, .len = 8, .at = net_at(1, 0).bits };
	struct {
		struct net_answer head;
		uint64_t magic;
	} got;
	assert_int_equal(send(fd, &ask, sizeof ask, MSG_NOSIGNAL), sizeof ask);
	assert_int_equal(take(fd, &got, sizeof got, 2000), sizeof got);
	assert_true(got.magic == NET_MAGIC);
	close(fd);
}

static void
garbage(void **state)
{
	(void)state;
	struct nam_rng dice;
	nam_rng_init(&dice, 42);
	struct sn_server_counts c;
	for (int i = 0; i < 200; i++) {
		int fd = dial();
		uint64_t junk[64];
		size_t n = nam_rng_below(&dice, sizeof junk) + 1;
		for (unsigned k = 0; k < 64; k++)
			junk[k] = nam_rng_next(&dice);
		send(fd, junk, n, MSG_NOSIGNAL);
		assert_true(ends(fd, 2000));
		close(fd);
	}
	static const char http[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	int fd = dial();
	send(fd, http, sizeof http - 1, MSG_NOSIGNAL);
	assert_true(ends(fd, 2000));
	close(fd);
	sn_server_counts(node.server, &c);
	assert_int_equal(c.dropped, 201);
	assert_int_equal(c.peers, 0);
	still_serves();
}

/* Sound handshake, then invalid frames. Each must end the connection and change no memory. */
static void
bad_frames(void **state)
{
	(void)state;
	const struct net_ask bad[] = {
		{ .code = NET_CODES, .len = 8, .at = net_at(1, 0).bits },
		{ .code = 255, .len = 8, .at = net_at(1, 0).bits },
		{ .code = NET_READ, .len = UINT32_MAX, .at = net_at(1, 0).bits },
		{ .code = NET_READ, .len = 8, .at = net_at(1, SIZE).bits },
		{ .code = NET_READ, .len = 8, .at = net_at(1, SIZE - 7).bits },
		{ .code = NET_READ, .len = 8, .at = net_at(1, (UINT64_C(1) << 48) - 4).bits },
		{ .code = NET_READ, .len = 8, .at = net_at(2, 0).bits },
		{ .code = NET_READ, .len = 8, .at = 0 },
		{ .code = NET_READ, .flags = NET_QUIET, .len = 8, .at = net_at(1, 0).bits },
		{ .code = NET_READ, .flags = 0x80, .len = 8, .at = net_at(1, 0).bits },
		{ .code = NET_READ, .zero = 1, .len = 8, .at = net_at(1, 0).bits },
		{ .code = NET_WRITE, .len = SIZE + 8, .at = net_at(1, 0).bits },
		{ .code = NET_WRITE, .len = 16, .at = net_at(1, SIZE - 8).bits },
		{ .code = NET_CAS, .len = 8, .at = net_at(1, 4).bits },
		{ .code = NET_CAS, .len = 4, .at = net_at(1, 8).bits },
		{ .code = NET_FAA, .len = 16, .at = net_at(1, 8).bits },
		{ .code = NET_FAA, .len = 8, .at = net_at(1, SIZE).bits },
	};
	char before[4096];
	memcpy(before, sn_local(node.region)->base, 64);
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		int fd = worker_stream();
		char words[64] = { 0 };
		assert_int_equal(send(fd, &bad[i], sizeof bad[i], MSG_NOSIGNAL), sizeof bad[i]);
		send(fd, words, sizeof words, MSG_NOSIGNAL);
		char byte;
		assert_int_equal(take(fd, &byte, 1, 2000), 0);
		close(fd);
	}
	assert_memory_equal(before, sn_local(node.region)->base, 64);
	struct sn_server_counts c;
	sn_server_counts(node.server, &c);
	assert_int_equal(c.dropped, sizeof bad / sizeof *bad);
	still_serves();
}

/* A frame that comes byte by byte is served; one that never ends harms no other peer. */
static void
slow_frames(void **state)
{
	(void)state;
	int lazy = worker_stream(), fd = worker_stream();
	struct {
		struct net_ask ask;
		uint64_t payload[2];
	} f = { { .code = NET_WRITE, .len = 13, .at = net_at(1, 1 << 20).bits },
		{ 0x1122334455667788, 0x99aabbccdd } };
	send(lazy, &f, 30, MSG_NOSIGNAL);
	for (size_t i = 0; i < sizeof f; i++) {
		assert_int_equal(send(fd, (char *)&f + i, 1, MSG_NOSIGNAL), 1);
		if (i % 5 == 0)
			usleep(500);
	}
	struct net_answer a;
	assert_int_equal(take(fd, &a, sizeof a, 2000), sizeof a);
	assert_int_equal(a.code, NET_WRITE);
	assert_memory_equal((char *)sn_local(node.region)->base + (1 << 20), f.payload, 13);
	still_serves();
	close(lazy);
	close(fd);
}

static void
slow_handshake(void **state)
{
	(void)state;
	/* silent, and a dripping one that is always "alive": both have 300 ms in all */
	int silent = dial(), drip = dial();
	uint64_t magic = NET_WIRE_MAGIC, t0 = nam_clock_ns();
	bool dripped = true;
	for (unsigned i = 0; i < 60 && dripped; i++) {
		dripped = send(drip, i < 8 ? (char *)&magic + i : "", 1, MSG_NOSIGNAL) == 1;
		usleep(10000);
	}
	assert_false(dripped);
	assert_true(ends(silent, 2000));
	assert_true(nam_clock_ns() - t0 >= UINT64_C(250000000));
	close(silent);
	close(drip);
	still_serves();
}

static void
many_strangers(void **state)
{
	(void)state;
	enum { N = 300 };
	static int fd[N];
	for (unsigned i = 0; i < N; i++)
		fd[i] = dial();
	usleep(600000); /* their time is up; the table is free again */
	still_serves();
	for (unsigned i = 0; i < N; i++)
		close(fd[i]);
	struct sn_server_counts c;
	sn_server_counts(node.server, &c);
	assert_int_equal(c.dropped, N);
}

static nam_status open_with(struct net_config *nc, char *said);

/*
 * Five times as many peers as may wait for a handshake send nothing, for as long as they can.
 * Others get in at once, by TCP and by the UNIX socket, and go on getting in while new silent ones
 * come.
 */
static void
silent_crowd(void **state)
{
	(void)state;
	enum { N = 640 };
	static int fd[N], local[N];
	struct nam_err err;
	test_node_stop(&node);
	struct sn_server_config sc = {
		.secret = secret, .secret_len = strlen(secret), .handshake_ms = 60000, .peers_max = 1024
	};
	test_node_start(&node, 1, SIZE, &sc);
	for (unsigned i = 0; i < N; i++) {
		fd[i] = dial();
		assert_int_equal(
		    net_dial_unix(sn_server_socket(node.server), "test", soon(), &local[i], &err), NAM_OK);
		if (i % 64 == 63) {
			char said[512];
			uint64_t t0 = nam_clock_ns();
			struct net_config nc = {
				.secret = secret, .secret_len = strlen(secret), .fabric = NET_SHM
			};
			assert_int_equal(open_with(&nc, said), NAM_OK);
			assert_true(nam_clock_ns() - t0 < UINT64_C(2000000000));
			still_serves();
		}
	}
	/* The oldest had to go, the youngest are still there. */
	assert_true(ends(fd[0], 2000));
	assert_true(ends(local[0], 2000));
	assert_false(ends(fd[N - 1], 50));
	assert_false(ends(local[N - 1], 50));
	for (unsigned i = 0; i < N; i++) {
		close(fd[i]);
		close(local[i]);
	}
}

/* A peer of the previous version: it learns, in 16 bytes, why it is refused. */
static bool
has_ended(struct test_node *t, unsigned ms)
{
	struct timespec at;
	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_nsec += (long)ms * 1000000;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	return pthread_timedjoin_np(t->thread, NULL, &at) == 0;
}

/* A server ends by itself when it has had no connection for so long: a peer holds it, and so does a
 * stranger until it is dropped. */
static void
ends_when_idle(void **state)
{
	(void)state;
	const struct sn_server_config sc = {
		.secret = secret, .secret_len = sizeof secret - 1, .idle_ms = 500, .handshake_ms = 1500
	};
	struct test_node t;
	struct net *net;
	struct nam_err err;
	test_node_start(&t, 9, 1 << 20, &sc);
	const struct net_config nc = {
		.storage = sn_server_address(t.server), .secret = secret, .secret_len = sizeof secret - 1
	};
	assert_int_equal(net_open(&net, &nc, &err), NAM_OK);
	assert_false(has_ended(&t, 900));
	net_close(net);
	int fd = dial_at(sn_server_address(t.server));
	assert_false(has_ended(&t, 1000));
	assert_true(has_ended(&t, 20000));
	/* A stranger that comes now is told so when the server is closed. */
	int late = dial_at(sn_server_address(t.server));
	sn_server_close(t.server);
	sn_region_close(t.region);
	assert_true(ends(late, 5000));
	close(late);
	close(fd);
	/* Never without idle_ms: the node of the other tests has been alone for longer. */
	still_serves();
}

static void
old_peer(void **state)
{
	(void)state;
	struct net_hello hello = { .magic = NET_WIRE_MAGIC,
		.version = 4,
		.role = NET_ROLE_CONTROL,
		.layout = net_layout(),
		.cluster = net_cluster_hash(NULL),
		.identity = 7 };
	struct {
		uint64_t magic;
		uint32_t version, verdict;
	} head;
	int fd = dial();
	assert_int_equal(send(fd, &hello, sizeof hello, MSG_NOSIGNAL), sizeof hello);
	assert_int_equal(take(fd, &head, sizeof head, 2000), sizeof head);
	assert_true(head.magic == NET_WIRE_MAGIC);
	assert_int_equal(head.version, NET_WIRE_VERSION);
	assert_int_equal(head.verdict, NET_NO_VERSION);
	assert_true(ends(fd, 2000));
	close(fd);
}

static nam_status
open_with(struct net_config *nc, char *said)
{
	struct net *net;
	struct nam_err err = { 0 };
	if (nc->storage == NULL)
		nc->storage = sn_server_address(node.server);
	nam_status st = net_open(&net, nc, &err);
	strcpy(said, err.text);
	if (st == NAM_OK)
		net_close(net);
	return st;
}

static void
refusals(void **state)
{
	(void)state;
	char said[512];
	struct net_config right = { .secret = secret, .secret_len = strlen(secret) }, nc = right;
	assert_int_equal(open_with(&nc, said), NAM_OK);
	nc = right;
	nc.secret_len--;
	assert_int_equal(open_with(&nc, said), NAM_REFUSED);
	assert_non_null(strstr(said, "does not accept our secret"));
	nc = right;
	nc.cluster = "elsewhere";
	assert_int_equal(open_with(&nc, said), NAM_REFUSED);
	assert_non_null(strstr(said, "another cluster"));
	nc = right;
	nc.storage = "127.0.0.1:1";
	assert_int_equal(open_with(&nc, said), NAM_GONE);
	assert_non_null(strstr(said, "no storage node answers at 127.0.0.1:1"));
	nc = right;
	nc.storage = "nonsense";
	assert_int_equal(open_with(&nc, said), NAM_INVALID);
	/* the same node twice: one id, two names */
	char twice[300];
	snprintf(
	    twice, sizeof twice, "%s, %s", sn_server_address(node.server), sn_server_address(node.server));
	nc = right;
	nc.storage = twice;
	assert_int_equal(open_with(&nc, said), NAM_REFUSED);
	assert_non_null(strstr(said, "both have node id 1"));
	struct sn_server_counts c;
	sn_server_counts(node.server, &c);
	assert_int_equal(c.refused, 2); /* the cluster, the secret */
	net_layout_fold("test", 1);
	nc = right;
	assert_int_equal(open_with(&nc, said), NAM_REFUSED);
	assert_non_null(strstr(said, "layout"));
	net_layout_fold("test", 2); /* stays another layout than any other test's: this process
				     * only */
}

/* A peer that lies about its secret tries each door. It learns no bytes that depend on the
 * secret. */
static void
no_memory_without_secret(void **state)
{
	(void)state;
	for (unsigned role = NET_ROLE_CONTROL; role < NET_ROLES; role++) {
		struct nam_err err;
		int fd;
		assert_int_equal(
		    net_dial_unix(sn_server_socket(node.server), "test", soon(), &fd, &err), NAM_OK);
		struct net_hello hello = { .magic = NET_WIRE_MAGIC,
			.version = NET_WIRE_VERSION,
			.role = role,
			.layout = net_layout(),
			.cluster = net_cluster_hash(NULL),
			.identity = 7 };
		struct net_welcome welcome;
		struct net_shake liar = honest();
		struct net_proof proof;
		liar.secret = "guess";
		liar.secret_len = 5;
		send(fd, &hello, sizeof hello, MSG_NOSIGNAL);
		assert_int_equal(take(fd, &welcome, sizeof welcome, 2000), sizeof welcome);
		assert_int_equal(welcome.verdict, NET_YES);
		net_shake_prove(&liar, &hello, &welcome, &proof);
		send(fd, &proof, sizeof proof, MSG_NOSIGNAL);
		struct net_grant grant;
		char control[256];
		struct iovec iov = { &grant, sizeof grant };
		struct msghdr m = { .msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof control };
		struct pollfd p = { .fd = fd, .events = POLLIN };
		assert_int_equal(poll(&p, 1, 2000), 1);
		assert_int_equal(recvmsg(fd, &m, 0), sizeof grant);
		assert_int_equal(grant.verdict, NET_NO_SECRET);
		assert_int_equal(grant.shm[0], '\0');
		assert_int_equal(m.msg_controllen, 0);
		static const uint8_t none[sizeof grant.mac];
		assert_memory_equal(grant.mac, none, sizeof none);
		assert_true(ends(fd, 2000));
		close(fd);
	}
	/* memory over tcp, where no descriptor can pass, is refused with a message */
	struct net_shake me = honest();
	struct net_welcome welcome;
	struct net_grant grant;
	struct nam_err err;
	int fd = dial(), memory;
	assert_int_equal(
	    net_shake_hands(fd, &me, NET_ROLE_SHM, "test", soon(), &welcome, &grant, &memory, &err),
	    NAM_REFUSED);
	close(fd);
	still_serves();
}

static void
same_port(void **state)
{
	(void)state;
	struct sn_server *second;
	struct sn_server_config sc = { .listen = sn_server_address(node.server), .run_dir = test_run_dir() };
	struct nam_err err;
	assert_int_equal(sn_server_open(&second, node.region, &sc, &err), NAM_BUSY);
	assert_non_null(strstr(err.text, "port in use"));
	/* and the first one's socket file is still there */
	struct stat sb;
	assert_int_equal(stat(sn_server_socket(node.server), &sb), 0);
	still_serves();
}

static void
stale_socket(void **state)
{
	(void)state;
	/* leave a dead socket file where the next server wants its own */
	char path[128], address[128], keep[140];
	strcpy(path, sn_server_socket(node.server));
	strcpy(address, sn_server_address(node.server));
	snprintf(keep, sizeof keep, "%s.keep", path);
	assert_int_equal(link(path, keep), 0);
	test_node_stop(&node);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(rename(keep, path), 0);
	struct sn_server_config sc = { .secret = secret, .secret_len = strlen(secret), .listen = address };
	test_node_start(&node, 1, SIZE, &sc);
	assert_string_equal(sn_server_socket(node.server), path);
	char said[512];
	struct net_config nc = { .secret = secret, .secret_len = strlen(secret), .fabric = NET_SHM };
	assert_int_equal(open_with(&nc, said), NAM_OK);

	/* A starting node removes the sockets of dead ones, and no other file: no socket that
	 * answers, none that is not .sock. */
	char dead[140], file[140], other[140], asleep[140];
	snprintf(dead, sizeof dead, "%s/1.sock", test_run_dir());
	snprintf(file, sizeof file, "%s/2.sock", test_run_dir());
	snprintf(other, sizeof other, "%s/3.dat", test_run_dir());
	snprintf(asleep, sizeof asleep, "%s/4.sock", test_run_dir());
	const char *const bound[] = { dead, other, asleep };
	int fd[3];
	for (unsigned i = 0; i < 3; i++) {
		struct sockaddr_un at = { .sun_family = AF_UNIX };
		strcpy(at.sun_path, bound[i]);
		fd[i] = socket(AF_UNIX, SOCK_STREAM, 0);
		assert_int_equal(bind(fd[i], (struct sockaddr *)&at, sizeof at), 0);
	}
	assert_int_equal(listen(fd[2], 1), 0);
	close(fd[0]);
	close(fd[1]);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	struct test_node more;
	test_node_start(&more, 2, SIZE, &(struct sn_server_config){ .secret = secret, .secret_len = 6 });
	assert_int_equal(access(dead, F_OK), -1);
	assert_int_equal(access(file, F_OK), 0);
	assert_int_equal(access(other, F_OK), 0);
	assert_int_equal(access(asleep, F_OK), 0);
	assert_int_equal(access(path, F_OK), 0);
	test_node_stop(&more);
	close(fd[2]);
	unlink(file);
	unlink(other);
	unlink(asleep);
}

static unsigned
open_fds(void)
{
	unsigned n = 0;
	DIR *d = opendir("/proc/self/fd");
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

static void
no_leaks(void **state)
{
	(void)state;
	unsigned before = 0;
	for (unsigned i = 0; i < 200; i++) {
		struct net *net;
		struct net_worker *w;
		struct nam_err err = { 0 };
		struct net_config nc = { .storage = sn_server_address(node.server),
			.secret = secret,
			.secret_len = strlen(secret),
			.fabric = i % 2 ? NET_TCP : NET_SHM };
		assert_int_equal(net_open(&net, &nc, &err), NAM_OK);
		assert_int_equal(net_worker_open(net, &w, &err), NAM_OK);
		net_worker_close(w);
		net_close(net);
		struct sn_server_counts c;
		for (int k = 0; k < 1000; k++) {
			sn_server_counts(node.server, &c);
			if (c.peers == 0)
				break;
			usleep(100);
		}
		assert_int_equal(c.peers, 0);
		if (i == 3)
			before = open_fds();
	}
	/* A stream is counted out a moment before its socket is closed; a leak would be two
	 * hundred. */
	for (int k = 0; k < 50000 && open_fds() > before; k++)
		usleep(100);
	assert_true(open_fds() <= before);
}

/* ---- a node in another process, killed ----------------------------------------- */

static pid_t
fork_node(char address[128])
{
	int say[2];
	assert_int_equal(pipe(say), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct sn_region *r;
		struct sn_server *s;
		struct nam_err err;
		struct sn_region_config rc = { .id = 9, .size = SIZE, .numa = -1 };
		struct sn_server_config sc = { .listen = "127.0.0.1:0", .run_dir = test_run_dir() };
		if (sn_region_open(&r, &rc, &err) != NAM_OK || sn_server_open(&s, r, &sc, &err) != NAM_OK)
			_exit(1);
		char line[128] = { 0 };
		strcpy(line, sn_server_address(s));
		if (write(say[1], line, sizeof line) != sizeof line)
			_exit(1);
		_exit(sn_server_run(s, &err) == NAM_OK ? 0 : 1);
	}
	close(say[1]);
	assert_int_equal(read(say[0], address, 128), 128);
	close(say[0]);
	return pid;
}

static struct net_worker *kw;
static unsigned gone_count, other_count;

/* Works until the node is gone; several of these have ops out at any moment. */
static void
worker_until_gone(void *arg)
{
	(void)arg;
	uint64_t word[4];
	struct net_op ops[4];
	struct net_batch b;
	for (;;) {
		net_batch_init(&b, kw, ops, 4, NULL);
		net_read(&b, net_at(9, 0), &word[0], 8);
		net_faa(&b, net_at(9, 1 << 20), 1);
		net_read(&b, net_at(9, 4096), &word[1], 8);
		nam_status st = net_run(&b);
		if (st == NAM_OK) {
			nam_co_yield();
			continue;
		}
		if (st == NAM_GONE)
			gone_count++;
		else
			other_count++;
		/* later ones fail at once */
		if (net_read1(kw, net_at(9, 0), &word[0], 8, NULL) != NAM_GONE)
			other_count++;
		return;
	}
}

/* Known as soon as the node has been asked, and has not answered. */
static bool
goes_lost(const struct net *net)
{
	uint64_t until = nam_clock_ns() + UINT64_C(5000000000);
	while (!net_node_of(net, 9)->lost && nam_clock_ns() < until)
		usleep(1000);
	return net_node_of(net, 9)->lost;
}

static void *
killer(void *arg)
{
	usleep(50000);
	kill(*(pid_t *)arg, SIGKILL);
	return NULL;
}

static void
killed_over(enum net_kind kind)
{
	char address[128];
	pid_t pid = fork_node(address);
	struct net *net;
	struct nam_err err;
	struct net_config nc = { .storage = address, .fabric = kind };
	assert_int_equal(net_open(&net, &nc, &err), NAM_OK);
	assert_int_equal(net_node(net, 0)->kind, kind);
	assert_int_equal(net_worker_open(net, &kw, &err), NAM_OK);
	gone_count = other_count = 0;
	for (unsigned i = 0; i < 20; i++)
		nam_co_start(net_worker_sched(kw), worker_until_gone, NULL, 0);
	pthread_t t;
	assert_int_equal(pthread_create(&t, NULL, killer, &pid), 0);
	net_worker_run(kw, NULL, NULL);
	pthread_join(t, NULL);
	assert_int_equal(gone_count, 20);
	assert_int_equal(other_count, 0);
	assert_true(goes_lost(net));
	net_worker_close(kw);
	net_close(net);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	char path[256];
	snprintf(path, sizeof path, "%s/%s.sock", test_run_dir(), strrchr(address, ':') + 1);
	unlink(path);
}

static void
killed(void **state)
{
	(void)state;
	killed_over(NET_SHM);
	killed_over(NET_TCP);
}

/*
 * A node that hangs breaks no connection. A peer that finds out declares the node lost, and
 * waiters are freed; if none does, their timeout ends.
 */
static void *
declarer(void *arg)
{
	usleep(50000);
	net_declare_lost(arg, 9);
	return NULL;
}

static void
hung(bool declare)
{
	char address[128];
	pid_t pid = fork_node(address);
	struct net *net;
	struct nam_err err;
	struct net_config nc = { .storage = address, .fabric = NET_TCP, .connect_ms = declare ? 0 : 200 };
	assert_int_equal(net_open(&net, &nc, &err), NAM_OK);
	assert_int_equal(net_worker_open(net, &kw, &err), NAM_OK);
	kill(pid, SIGSTOP);
	gone_count = other_count = 0;
	for (unsigned i = 0; i < 20; i++)
		nam_co_start(net_worker_sched(kw), worker_until_gone, NULL, 0);
	pthread_t t;
	uint64_t t0 = nam_clock_ns();
	if (declare)
		assert_int_equal(pthread_create(&t, NULL, declarer, net), 0);
	net_worker_run(kw, NULL, NULL);
	if (declare)
		pthread_join(t, NULL);
	else
		assert_true(nam_clock_ns() - t0 >= UINT64_C(800000000));
	assert_int_equal(gone_count, 20);
	assert_true(goes_lost(net));
	net_worker_close(kw);
	net_close(net);
	/* and a process that starts now learns, in time, that no node answers */
	nc.connect_ms = 200;
	assert_int_equal(net_open(&net, &nc, &err), NAM_GONE);
	assert_non_null(strstr(err.text, "does not answer in time"));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	char path[256];
	snprintf(path, sizeof path, "%s/%s.sock", test_run_dir(), strrchr(address, ':') + 1);
	unlink(path);
}

static void
hung_node(void **state)
{
	(void)state;
	hung(true);
	hung(false);
}

static void
heartbeat(void **state)
{
	(void)state;
	struct net_super *s = sn_local(node.region)->base;
	uint64_t first = __atomic_load_n(&s->beat, __ATOMIC_ACQUIRE), now = first;
	for (int i = 0; i < 200 && now < first + 3; i++) {
		usleep(5000);
		now = __atomic_load_n(&s->beat, __ATOMIC_ACQUIRE);
	}
	assert_true(now >= first + 3);
	assert_int_equal(__atomic_load_n(&s->peers, __ATOMIC_RELAXED), 0);
	int fd = worker_stream();
	for (int i = 0; i < 200 && __atomic_load_n(&s->peers, __ATOMIC_RELAXED) == 0; i++)
		usleep(1000);
	assert_int_equal(__atomic_load_n(&s->peers, __ATOMIC_RELAXED), 1);
	close(fd);
}

static void
peers_limit(void **state)
{
	(void)state;
	struct test_node small;
	struct sn_server_config sc = { .peers_max = 1, .no_shm = true };
	test_node_start(&small, 2, SIZE, &sc);
	struct net *net;
	struct net_worker *w;
	struct nam_err err;
	struct net_config nc = { .storage = sn_server_address(small.server) };
	assert_int_equal(net_open(&net, &nc, &err), NAM_OK);
	assert_int_equal(net_node(net, 0)->kind, NET_TCP);
	assert_int_equal(net_worker_open(net, &w, &err), NAM_REFUSED);
	assert_non_null(strstr(err.text, "--peers"));
	net_close(net);
	nc.fabric = NET_SHM;
	assert_int_not_equal(net_open(&net, &nc, &err), NAM_OK);
	test_node_stop(&small);
}

int
main(void)
{
	nam_log_level_set(NAM_LOG_ERROR);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(garbage, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_frames, setup, teardown),
		cmocka_unit_test_setup_teardown(slow_frames, setup, teardown),
		cmocka_unit_test_setup_teardown(slow_handshake, setup, teardown),
		cmocka_unit_test_setup_teardown(many_strangers, setup, teardown),
		cmocka_unit_test_setup_teardown(silent_crowd, setup, teardown),
		cmocka_unit_test_setup_teardown(ends_when_idle, setup, teardown),
		cmocka_unit_test_setup_teardown(old_peer, setup, teardown),
		cmocka_unit_test_setup_teardown(no_memory_without_secret, setup, teardown),
		cmocka_unit_test_setup_teardown(same_port, setup, teardown),
		cmocka_unit_test_setup_teardown(stale_socket, setup, teardown),
		cmocka_unit_test_setup_teardown(no_leaks, setup, teardown),
		cmocka_unit_test_setup_teardown(heartbeat, setup, teardown),
		cmocka_unit_test_setup_teardown(peers_limit, setup, teardown),
		cmocka_unit_test(killed),
		cmocka_unit_test(hung_node),
		/* last: folds another layout */
		cmocka_unit_test_setup_teardown(refusals, setup, teardown),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(test_run_dir());
	return failed;
}
