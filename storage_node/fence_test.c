/*
 * fence_test.c -- net_fence_process on real nodes: a process of its own writes as fast as it can,
 * and is fenced.
 *
 * Nodes, victim and fencer are processes of their own, so that the victim may be killed. What must
 * hold: when the call returns, the memory of every node does not change any more, although the
 * victim goes on trying. On verbs with NAMDB_TEST_RDMA=address.
 */
#include <base/clock.h>
#include <net/handshake.h>
#include <net/remote.h>
#include <net/ring/service.h>
#include <storage_node/test_node.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

enum {
	NODES = 2,
	ROOM = 16 << 20,
	AREA = 1 << 20, /* where the victim writes */
	AREA_LEN = 1 << 20,
	COROUTINES = 16,
	THREADS = 2,
	SHUT_OUT = 42, /* exit code of a victim that knows that it is fenced; */
	ONE_AWAY = 43, /* not all nodes were there to fence it */
};

static const char *rdma;
static char listen_at[64];
static const char secret[] = "pssst";

static void
nap_ms(unsigned ms)
{
	struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000 };
	nanosleep(&ts, NULL);
}

/* ---- processes ---------------------------------------------------------------------- */

struct child {
	pid_t pid;
	int fd; /* it reports here */
};

/* This program again, in another role: a fork alone would share our RDMA device's descriptors,
 * which the kernel refuses. */
static struct child
spawn(const char *role, const char *what, unsigned number)
{
	int fd[2];
	char out[16], n[16];
	assert_int_equal(pipe(fd), 0);
	snprintf(out, sizeof out, "%d", fd[1]);
	snprintf(n, sizeof n, "%u", number);
	test_run_dir(); /* one directory for all */
	setenv("NAMDB_RUN", test_run_dir(), 1);
	fflush(NULL);
	struct child c = { .pid = fork(), .fd = fd[0] };
	assert_true(c.pid >= 0);
	if (c.pid == 0) {
		close(fd[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl("/proc/self/exe", "fence_test", role, out, what, n, (char *)NULL);
		_exit(9);
	}
	close(fd[1]);
	return c;
}

static void
hear(struct child *c, void *into, size_t len)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	assert_int_equal(poll(&p, 1, 40000), 1);
	assert_int_equal(read(c->fd, into, len), len);
}

/* Its exit status as waitpid returns it. */
static int
reap(struct child *c)
{
	int status = -1;
	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	close(c->fd);
	return status;
}

static void
tell(int fd, const void *what, size_t len)
{
	if (write(fd, what, len) != (ssize_t)len)
		_exit(3);
}

static void
node_main(int out, unsigned id)
{
	struct test_node t;
	char address[128] = "";
	const struct net_service echo = { .id = NET_SERVICE_ECHO, .name = "echo", .fn = net_echo };
	const struct sn_serve_config hosting = { .service = &echo, .services = 1, .unpinned = true };
	const struct sn_server_config sc = { .listen = listen_at,
		.rdma = rdma,
		.run_dir = getenv("NAMDB_RUN"),
		.secret = secret,
		.secret_len = sizeof secret };
	test_node_start_serving(&t, id, ROOM, &sc, &hosting);
	snprintf(address, sizeof address, "%s", sn_server_address(t.server));
	tell(out, address, sizeof address);
	pause();
}

struct cluster {
	struct child node[NODES];
	char address[NODES][128];
	char storage[300];
};

static void
cluster_up(struct cluster *c)
{
	c->storage[0] = '\0';
	for (unsigned i = 0; i < NODES; i++) {
		c->node[i] = spawn("node", "", i + 1);
		hear(&c->node[i], c->address[i], sizeof c->address[i]);
		snprintf(c->storage + strlen(c->storage), sizeof c->storage - strlen(c->storage), "%s%s",
		    i > 0 ? "," : "", c->address[i]);
	}
}

static void
cluster_down(struct cluster *c)
{
	for (unsigned i = 0; i < NODES; i++) {
		kill(c->node[i].pid, SIGKILL);
		reap(&c->node[i]);
	}
}

static struct net *
open_net(const char *storage, enum net_kind kind)
{
	const struct net_config nc = { .storage = storage,
		.fabric = kind,
		.connect_ms = 10000,
		.secret = secret,
		.secret_len = sizeof secret };
	struct nam_err err = { 0 };
	struct net *n = NULL;
	if (net_open(&n, &nc, &err) != NAM_OK)
		fprintf(stderr, "%s\n", err.text);
	return n;
}

/* ---- the victim --------------------------------------------------------------------- */

struct hammer {
	struct net_worker *w;
	unsigned thread;
	unsigned next;
};

/* Overwrites its own part of both nodes' areas with ever different bytes, and adds to their first
 * words. */
static void
hammer_co(void *arg)
{
	struct hammer *h = arg;
	unsigned me = h->thread * COROUTINES + h->next++;
	static char buf[THREADS * COROUTINES][24 << 10];
	nam_status st = NAM_OK;
	for (unsigned round = 0; st == NAM_OK; round++) {
		struct net_op op[3 * NODES];
		struct net_batch b;
		memset(buf[me], (int)(round & 0xff), sizeof buf[me]);
		net_batch_init(&b, h->w, op, 3 * NODES, NULL);
		for (unsigned r = 1; r <= NODES; r++) {
			net_write(&b, net_at(r, AREA + 8192 + me * sizeof buf[me]), buf[me], sizeof buf[me]);
			net_faa(&b, net_at(r, AREA), 1);
			net_cas(&b, net_at(r, AREA + 8 + 8 * me), round, round + 1);
		}
		st = net_run(&b);
	}
}

static void *
hammer_thread(void *arg)
{
	struct hammer *h = arg;
	for (unsigned i = 0; i < COROUTINES; i++)
		nam_co_start(net_worker_sched(h->w), hammer_co, h, 0);
	net_worker_run(h->w, NULL, NULL);
	return NULL;
}

static void
victim_main(int out, const char *storage, enum net_kind kind)
{
	struct net *n = open_net(storage, kind);
	struct nam_err err;
	struct hammer h[THREADS];
	pthread_t thread[THREADS];
	if (n == NULL)
		_exit(2);
	uint64_t me = net_identity(n);
	tell(out, &me, sizeof me);
	for (unsigned i = 0; i < THREADS; i++) {
		h[i] = (struct hammer){ .thread = i };
		if (net_worker_open(n, &h[i].w, &err) != NAM_OK)
			_exit(4);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, hammer_thread, &h[i]);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	/*
	 * All its verbs have ended with errors, because of the first node that has fenced it. The
	 * others may still accept it; a node that has refused it must go on refusing.
	 */
	bool fenced[NODES] = { false }, away[NODES] = { false };
	uint64_t until = nam_clock_ns() + UINT64_C(40000000000);
	for (unsigned left = NODES, more = 20; left > 0 || more > 0; more -= left == 0) {
		left = 0;
		for (unsigned r = 1; r <= NODES; r++) {
			nam_status st = net_worker_reconnect(h[0].w, r, &err);
			bool no = st == NAM_REFUSED && strstr(err.text, "has fenced this process") != NULL;
			if (fenced[r - 1] && !no)
				_exit(5);
			fenced[r - 1] = no;
			away[r - 1] = st == NAM_GONE && strstr(err.text, "no storage node answers") != NULL;
			left += !no && !away[r - 1];
		}
		if (left > 0 && nam_clock_ns() > until)
			_exit(7);
		nap_ms(2);
	}
	if (away[0] || away[1])
		_exit(fenced[0] || fenced[1] ? ONE_AWAY : 8);
	struct net_worker *more;
	if (net_worker_open(n, &more, &err) != NAM_REFUSED)
		_exit(6);
	_exit(SHUT_OUT);
}

/* ---- the fencer ---------------------------------------------------------------------- */

struct fencer {
	struct net *net;
	struct net_worker *w;
	uint64_t whom;
	nam_status status;
	struct nam_err err;
	char picture[NODES][AREA_LEN];
};

static struct fencer f;

static void
picture_co(void *arg)
{
	(void)arg;
	for (unsigned r = 1; r <= NODES && f.status == NAM_OK; r++)
		if (net_read1(f.w, net_at(r, AREA), f.picture[r - 1], AREA_LEN, NULL) != NAM_OK)
			f.status = NAM_IO;
}

static void
fence_only_co(void *arg)
{
	(void)arg;
	f.err.text[0] = '\0';
	f.status = net_fence_process(f.w, f.whom, 0, &f.err);
}

static void
fence_co(void *arg)
{
	fence_only_co(arg);
	picture_co(arg);
}

static char seen[AREA_LEN];

/* How many of the nodes show other bytes than the picture. */
static void
compare_co(void *arg)
{
	unsigned *changed = arg;
	for (unsigned r = 1; r <= NODES; r++) {
		assert_int_equal(net_read1(f.w, net_at(r, AREA), seen, AREA_LEN, NULL), NAM_OK);
		*changed += memcmp(seen, f.picture[r - 1], AREA_LEN) != 0;
	}
}

static void
run(void (*fn)(void *), void *arg)
{
	test_in_coroutine(f.w, fn, arg);
}

static unsigned
changed(void)
{
	unsigned n = 0;
	run(compare_co, &n);
	return n;
}

/* Until the victim has written to all nodes. */
static void
wait_at_work(void)
{
	uint64_t until = nam_clock_ns() + UINT64_C(40000000000);
	run(picture_co, NULL);
	while (changed() < NODES && nam_clock_ns() < until)
		nap_ms(1);
}

static void
fencer_open(const char *storage, enum net_kind kind)
{
	f.status = NAM_OK;
	f.net = open_net(storage, kind);
	assert_non_null(f.net);
	assert_int_equal(net_worker_open(f.net, &f.w, &f.err), NAM_OK);
}

static void
fencer_close(void)
{
	test_net_close(f.net, f.w);
}

/* ---- tests --------------------------------------------------------------------------- */

/* stopped: the victim stalls in the middle of work when it is fenced, and goes on later. */
static void
fence_victim(enum net_kind kind, enum net_kind fencer_kind, bool stopped)
{
	struct cluster c;
	cluster_up(&c);
	for (unsigned turn = 0; turn < 3; turn++) {
		struct child victim = spawn("victim", c.storage, kind);
		hear(&victim, &f.whom, sizeof f.whom);
		fencer_open(c.storage, fencer_kind);
		wait_at_work();
		nap_ms(20);
		if (stopped) {
			kill(victim.pid, SIGSTOP);
			nap_ms(5);
		}
		uint64_t from = nam_clock_ns();
		run(fence_co, NULL);
		if (f.status != NAM_OK)
			fprintf(stderr, "%s\n", f.err.text);
		assert_int_equal(f.status, NAM_OK);
		assert_true(nam_clock_ns() - from < UINT64_C(20000000000));
		if (stopped)
			kill(victim.pid, SIGCONT);
		for (unsigned i = 0; i < 20; i++) {
			assert_int_equal(changed(), 0);
			nap_ms(5);
		}
		/* A second fence does no harm. */
		run(fence_co, NULL);
		assert_int_equal(f.status, NAM_OK);
		int status = reap(&victim);
		if (kind == NET_SHM)
			assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		else
			assert_int_equal(status, SHUT_OUT << 8);
		assert_int_equal(changed(), 0);
		fencer_close();
	}
	cluster_down(&c);
}

static void
tcp(void **state)
{
	(void)state;
	fence_victim(NET_TCP, NET_TCP, false);
}

static void
tcp_stopped(void **state)
{
	(void)state;
	fence_victim(NET_TCP, NET_TCP, true);
}

static void
shm(void **state)
{
	(void)state;
	if (rdma != NULL)
		skip(); /* a node whose device executes the atomics offers no shared memory */
	fence_victim(NET_SHM, NET_TCP, false);
	fence_victim(NET_SHM, NET_SHM, true);
}

static void
verbs(void **state)
{
	(void)state;
	if (rdma == NULL)
		skip();
	fence_victim(NET_VERBS, NET_TCP, false);
	fence_victim(NET_VERBS, NET_VERBS, true);
}

/* If a node does not answer, the call does not succeed; but the other nodes fence. */
static void
node_away(void **state)
{
	(void)state;
	struct cluster c;
	cluster_up(&c);
	struct child victim = spawn("victim", c.storage, NET_TCP);
	hear(&victim, &f.whom, sizeof f.whom);
	fencer_open(c.storage, NET_TCP);
	wait_at_work();
	kill(c.node[1].pid, SIGKILL);
	siginfo_t gone;
	assert_int_equal(waitid(P_PID, (id_t)c.node[1].pid, &gone, WEXITED | WNOWAIT), 0);
	run(fence_co, NULL);
	assert_int_equal(f.status, NAM_GONE);
	assert_non_null(strstr(f.err.text, c.address[1]));
	/* The other node has fenced it. */
	assert_int_equal(reap(&victim), ONE_AWAY << 8);
	fencer_close();
	cluster_down(&c);
}

/* A fenced process fences no other; a process of the node's own cannot be fenced. */
static void
zombies_and_friends(void **state)
{
	(void)state;
	if (rdma != NULL)
		skip();
	struct cluster c;
	cluster_up(&c);
	fencer_open(c.storage, NET_TCP);
	struct net *other = open_net(c.storage, NET_TCP);
	struct net_worker *ow;
	assert_int_equal(net_worker_open(other, &ow, &f.err), NAM_OK);
	f.whom = net_identity(other);
	run(fence_co, NULL);
	assert_int_equal(f.status, NAM_OK);
	struct net_worker *mine = f.w;
	f.w = ow;
	f.whom = net_identity(f.net);
	run(fence_co, NULL);
	assert_int_equal(f.status, NAM_REFUSED);
	f.w = mine;
	f.status = NAM_OK;
	run(picture_co, NULL);
	assert_int_equal(f.status, NAM_OK); /* our own identity is still served */
	test_net_close(other, ow);
	/* Over shared memory a node has to kill the process; the nodes are other processes, so they
	 * can. */
	fencer_close();
	cluster_down(&c);

	/* A node in this very process, by shared memory and by stream. */
	struct test_node t;
	const struct sn_server_config sc = { .secret = secret, .secret_len = sizeof secret };
	test_node_start(&t, 1, ROOM, &sc);
	const enum net_kind kind[] = { NET_SHM, NET_TCP };
	const nam_status want[] = { NAM_UNSUPPORTED, NAM_OK };
	for (unsigned i = 0; i < 2; i++) {
		fencer_open(sn_server_address(t.server), NET_TCP);
		other = open_net(sn_server_address(t.server), kind[i]);
		f.whom = net_identity(other);
		for (unsigned k = 0; k < 2; k++) {
			assert_int_equal(
			    net_worker_open(other, &ow, &f.err), k == 0 || i == 0 ? NAM_OK : NAM_REFUSED);
			run(fence_only_co, NULL);
			assert_int_equal(f.status, want[i]);
			if (k == 0 || i == 0)
				net_worker_close(ow);
		}
		net_close(other);
		/* The victim has ended by itself: the fence has nothing to do. */
		run(fence_only_co, NULL);
		assert_int_equal(f.status, NAM_OK);
		fencer_close();
	}
	test_node_stop(&t);

	/* Regions of this process alone: a process elsewhere cannot touch them. */
	struct sn_region *r;
	const struct sn_region_config rc = { .id = 1, .size = ROOM, .numa = -1, .embedded = true };
	assert_int_equal(sn_region_open(&r, &rc, &f.err), NAM_OK);
	struct net_local *local[] = { sn_local(r), NULL };
	const struct net_config nc = { .local = local };
	assert_int_equal(net_open(&f.net, &nc, &f.err), NAM_OK);
	assert_int_equal(net_open(&other, &nc, &f.err), NAM_OK);
	assert_int_equal(net_worker_open(f.net, &f.w, &f.err), NAM_OK);
	f.whom = net_identity(other);
	run(fence_only_co, NULL);
	assert_int_equal(f.status, NAM_UNSUPPORTED);
	net_close(other);
	run(fence_only_co, NULL);
	assert_int_equal(f.status, NAM_OK);
	fencer_close();
	sn_region_close(r);
}

/* ---- by hand ---------------------------------------------------------------------------- */

static struct net_shake
as(uint64_t identity, uint64_t word)
{
	return (struct net_shake){ .layout = net_layout(),
		.cluster = net_cluster_hash(NULL),
		.secret = secret,
		.secret_len = sizeof secret,
		.identity = identity,
		.word = word };
}

static nam_status
connect_as(const char *address, enum net_role role, const struct net_shake *me, int *fd)
{
	char host[112], port[16];
	struct net_welcome welcome;
	struct net_grant grant;
	uint64_t until = nam_clock_ns() + UINT64_C(20000000000);
	assert_int_equal(net_split_address(address, host, sizeof host, port, sizeof port, &f.err), NAM_OK);
	assert_int_equal(net_dial(host, port, "test", until, fd, &f.err), NAM_OK);
	nam_status st = net_shake_hands(*fd, me, role, "test", until, &welcome, &grant, NULL, &f.err);
	if (st != NAM_OK)
		close(*fd);
	return st;
}

/* The other end has closed it, or does soon. */
static bool
ended(int fd)
{
	char sink[256];
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		if (poll(&p, 1, 20000) != 1)
			return false;
		ssize_t n = recv(fd, sink, sizeof sink, 0);
		if (n <= 0)
			return n == 0 || errno == ECONNRESET;
	}
}

/* An endpoint's new connection ends its old one; other endpoints, and other processes' of that
 * number, stay. */
static void
replaced(void **state)
{
	(void)state;
	struct cluster c;
	cluster_up(&c);
	const struct net_shake first = as(11, 1), second = as(11, 2), other = as(12, 1), none = as(11, 0);
	int a, b, d, e, g, again;
	assert_int_equal(connect_as(c.address[0], NET_ROLE_WORKER, &first, &a), NAM_OK);
	assert_int_equal(connect_as(c.address[0], NET_ROLE_WORKER, &second, &b), NAM_OK);
	assert_int_equal(connect_as(c.address[0], NET_ROLE_WORKER, &other, &d), NAM_OK);
	assert_int_equal(connect_as(c.address[0], NET_ROLE_WORKER, &none, &e), NAM_OK);
	assert_int_equal(connect_as(c.address[0], NET_ROLE_WORKER, &none, &g), NAM_OK);
	assert_int_equal(connect_as(c.address[0], NET_ROLE_WORKER, &first, &again), NAM_OK);
	const int open_still[] = { b, d, e, g, again };
	assert_true(ended(a));
	for (unsigned i = 0; i < 5; i++) {
		const struct net_ask ask = { .code = NET_READ, .len = 8, .at = net_at(1, 0).bits };
		struct {
			struct net_answer head;
			uint64_t magic;
		} answer;
		assert_int_equal(send(open_still[i], &ask, sizeof ask, 0), sizeof ask);
		struct pollfd p = { .fd = open_still[i], .events = POLLIN };
		assert_int_equal(poll(&p, 1, 40000), 1);
		assert_int_equal(recv(open_still[i], &answer, sizeof answer, 0), sizeof answer);
		close(open_still[i]);
	}
	close(a);
	cluster_down(&c);
}

/* Only a process that knows the secret can fence. */
static void
strangers(void **state)
{
	(void)state;
	struct cluster c;
	cluster_up(&c);
	struct net_shake me = as(11, 1), liar = as(13, 11), honest = as(14, 11), nobody = as(0, 1);
	liar.secret = "guess!";
	int a, b;
	assert_int_equal(connect_as(c.address[0], NET_ROLE_WORKER, &me, &a), NAM_OK);
	assert_int_equal(connect_as(c.address[0], NET_ROLE_WORKER, &nobody, &b), NAM_REFUSED);
	assert_int_equal(connect_as(c.address[0], NET_ROLE_FENCE, &liar, &b), NAM_REFUSED);
	struct pollfd p = { .fd = a, .events = POLLIN };
	assert_int_equal(poll(&p, 1, 100), 0);
	assert_int_equal(connect_as(c.address[0], NET_ROLE_FENCE, &honest, &b), NAM_OK);
	assert_true(ended(b));
	close(b);
	assert_true(ended(a));
	close(a);
	for (unsigned role = NET_ROLE_CONTROL; role < NET_ROLES; role++)
		if (role != NET_ROLE_SHM)
			assert_int_equal(connect_as(c.address[0], (enum net_role)role, &me, &b), NAM_REFUSED);
	cluster_down(&c);
}

/* ---- rings -------------------------------------------------------------------------------- */

static nam_status called, reopened;

static void
call_co(void *arg)
{
	uint64_t question = 5, answer = 0;
	uint32_t got;
	called = net_call(arg, 1, NET_SERVICE_ECHO, &question, 8, &answer, 8, &got);
	assert_true(called != NAM_OK || answer == 5);
}

/* Services do not serve a fenced process any more, and serve others as before. */
static void
rings(void **state)
{
	(void)state;
	struct cluster c;
	cluster_up(&c);
	fencer_open(c.storage, NET_TCP);
	struct net *other = open_net(c.storage, NET_TCP);
	struct net_worker *ow, *mine = f.w;
	assert_int_equal(net_worker_open(other, &ow, &f.err), NAM_OK);
	f.whom = net_identity(other);
	for (unsigned i = 0; i < 3; i++) {
		f.w = ow;
		run(call_co, ow);
		assert_int_equal(called, i == 0 ? NAM_OK : NAM_GONE);
		if (i > 0) {
			reopened = net_call_open(ow, 1, NET_SERVICE_ECHO, NULL, &f.err);
			assert_true(reopened == NAM_REFUSED || reopened == NAM_GONE);
		}
		f.w = mine;
		run(fence_co, NULL);
		assert_int_equal(f.status, NAM_OK);
		run(call_co, mine);
		assert_int_equal(called, NAM_OK);
	}
	test_net_close(other, ow);
	fencer_close();
	cluster_down(&c);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tcp),
		cmocka_unit_test(tcp_stopped),
		cmocka_unit_test(shm),
		cmocka_unit_test(verbs),
		cmocka_unit_test(node_away),
		cmocka_unit_test(zombies_and_friends),
		cmocka_unit_test(replaced),
		cmocka_unit_test(strangers),
		cmocka_unit_test(rings),
	};
	rdma = getenv("NAMDB_TEST_RDMA");
	if (rdma != NULL && *rdma == '\0')
		rdma = NULL;
	snprintf(listen_at, sizeof listen_at, "%s:0", rdma != NULL ? rdma : "127.0.0.1");
	if (argc == 5 && strcmp(argv[1], "node") == 0)
		node_main(atoi(argv[2]), (unsigned)atoi(argv[4]));
	if (argc == 5 && strcmp(argv[1], "victim") == 0)
		victim_main(atoi(argv[2]), argv[3], (enum net_kind)atoi(argv[4]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
