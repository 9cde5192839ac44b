/*
 * trouble_test.c -- peers over verbs that break the rules, and machines that are not set up right.
 *
 * Each time: a clear reason, on the side that has to act on it; the node lives; and a well-behaved
 * peer that works meanwhile is not affected. With NAMDB_TEST_RDMA=address (tests/rdma_vm); cases
 * that need no device are also tested without it.
 */
#include <base/clock.h>
#include <net/handshake.h>
#include <net/local.h>
#include <net/net.h>
#include <net/provider/rdma.h>
#include <net/provider/verbs_format.h>
#include <net/region_format.h>
#include <net/remote.h>
#include <storage_node/test_node.h>

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

enum { ROOM = 8 << 20, WORD = 1 << 20, PAGE = 4096 };
static const uint64_t second_ns = UINT64_C(1000000000);

static const char *rdma, *self;
static char listen_at[64];

static struct sn_server_config
server_config(void)
{
	return (struct sn_server_config){ .listen = listen_at, .rdma = rdma };
}

static void
nap_ms(unsigned ms)
{
	struct timespec nap = { ms / 1000, (long)(ms % 1000) * 1000000 };
	nanosleep(&nap, NULL);
}

/* ---- the log ------------------------------------------------------------------ */

static int log_fd, log_before;
static off_t log_from;

static void
log_start(void)
{
	char name[] = "/tmp/namdb-log-XXXXXX";
	fflush(stderr);
	log_fd = mkstemp(name);
	assert_true(log_fd >= 0);
	unlink(name);
	log_before = dup(2);
	dup2(log_fd, 2);
	log_from = 0;
}

static void
log_end(void)
{
	dup2(log_before, 2);
	close(log_before);
	close(log_fd);
}

/* True if that line was logged since the last call; waits for it a while. A node logs few lines a
 * second: do not call this too often. */
static bool
logged(const char *what)
{
	nap_ms(150);
	static char text[65536];
	uint64_t until = nam_clock_ns() + 5 * second_ns;
	for (;;) {
		ssize_t n = pread(log_fd, text, sizeof text - 1, log_from);
		text[n > 0 ? n : 0] = '\0';
		if (strstr(text, what) != NULL) {
			log_from += n;
			return true;
		}
		if (nam_clock_ns() > until)
			break;
		nap_ms(5);
	}
	dprintf(log_before, "not logged: \"%s\", but:\n%s\n", what, text);
	return false;
}

/* ---- a well-behaved peer ------------------------------------------------------- */

struct good {
	struct net *net;
	struct net_worker *w;
	pthread_t thread;
	atomic_bool stop;
	atomic_uint_fast64_t done;
	nam_status status;
};

static void
good_co(void *arg)
{
	struct good *g = arg;
	uint64_t n = 0, seen, word;
	while (!atomic_load(&g->stop) && g->status == NAM_OK) {
		g->status = net_faa1(g->w, net_at(1, WORD), 1, &seen, NULL);
		if (g->status == NAM_OK)
			g->status = net_read1(g->w, net_at(1, WORD), &word, 8, NULL);
		if (g->status == NAM_OK && (seen != n || word != n + 1))
			g->status = NAM_CORRUPT;
		atomic_store(&g->done, ++n);
	}
}

static void *
good_main(void *arg)
{
	struct good *g = arg;
	net_worker_run(g->w, NULL, NULL);
	return NULL;
}

static void
good_start(struct good *g, const char *address, enum net_kind kind)
{
	const struct net_config nc = { .storage = address, .fabric = kind, .connect_ms = 10000 };
	struct nam_err err = { 0 };
	*g = (struct good){ 0 };
	if (net_open(&g->net, &nc, &err) != NAM_OK || net_worker_open(g->net, &g->w, &err) != NAM_OK)
		fail_msg("%s", err.text);
	assert_non_null(nam_co_start(net_worker_sched(g->w), good_co, g, 0));
	assert_int_equal(pthread_create(&g->thread, NULL, good_main, g), 0);
}

/* Its work goes on. */
static void
good_goes_on(struct good *g)
{
	uint64_t was = atomic_load(&g->done), until = nam_clock_ns() + 5 * second_ns;
	while (atomic_load(&g->done) < was + 3 && nam_clock_ns() < until)
		nap_ms(1);
	assert_true(atomic_load(&g->done) >= was + 3);
}

static void
good_end(struct good *g)
{
	atomic_store(&g->stop, true);
	pthread_join(g->thread, NULL);
	assert_int_equal(g->status, NAM_OK);
	net_worker_close(g->w);
	net_close(g->net);
}

/* ---- a bad peer ------------------------------------------------------------------ */

/* A peer made of verbs only. */
struct raw {
	int fd;
	struct net_welcome welcome;
	struct net_grant grant;
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	char *page;
	struct net_verbs_offer offer;
};

static void
split(const char *address, char host[64], char port[16])
{
	const char *colon = strrchr(address, ':');
	snprintf(host, 64, "%.*s", (int)(colon - address), address);
	snprintf(port, 16, "%s", colon + 1);
}

/* The TCP half. */
static void
raw_shake(struct raw *r, const char *address)
{
	const struct net_shake me = {
		.layout = net_layout(), .cluster = net_cluster_hash(NULL), .identity = 7
	};
	char host[64], port[16];
	struct nam_err err = { 0 };
	uint64_t until = nam_clock_ns() + 5 * second_ns;
	*r = (struct raw){ .fd = -1 };
	split(address, host, port);
	if (net_dial(host, port, address, until, &r->fd, &err) != NAM_OK ||
	    net_shake_hands(r->fd, &me, NET_ROLE_VERBS, address, until, &r->welcome, &r->grant, NULL, &err) !=
		NAM_OK)
		fail_msg("%s", err.text);
}

static struct net_verbs_hello
raw_hello(const struct raw *r)
{
	struct net_verbs_hello h = { .magic = NET_VERBS_MAGIC, .region = r->welcome.region };
	memcpy(h.token, r->grant.token, sizeof h.token);
	return h;
}

/* The RDMA half, with any private data. False: refused. */
static bool
raw_connect(struct raw *r, const void *hello, uint8_t len)
{
	struct nam_err err = { 0 };
	struct rdma_cm_event *e;
	char port[8];
	uint64_t until = nam_clock_ns() + 5 * second_ns;
	snprintf(port, sizeof port, "%u", r->grant.rdma_port);
	r->ch = net_rdma_channel();
	assert_non_null(r->ch);
	assert_int_equal(rdma_create_id(r->ch, &r->id, NULL, RDMA_PS_TCP), 0);
	if (net_rdma_resolve(r->ch, r->id, NULL, r->grant.rdma, port, until, "raw", &err) != NAM_OK)
		fail_msg("%s", err.text);
	net_rdma_timeout(r->id);
	r->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_non_null(r->pd = ibv_alloc_pd(r->id->verbs));
	assert_non_null(r->mr = ibv_reg_mr(r->pd, r->page, PAGE, IBV_ACCESS_LOCAL_WRITE));
	assert_non_null(r->cq = ibv_create_cq(r->id->verbs, 128, NULL, NULL, 0));
	struct ibv_qp_init_attr a = { .qp_type = IBV_QPT_RC,
		.send_cq = r->cq,
		.recv_cq = r->cq,
		.cap = { .max_send_wr = 64, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 } };
	assert_int_equal(rdma_create_qp(r->id, r->pd, &a), 0);
	for (unsigned i = 0; i < 16; i++) {
		struct ibv_sge at = { (uintptr_t)(r->page + 2048 + i * 64), 64, r->mr->lkey };
		struct ibv_recv_wr wr = { .wr_id = 1000 + i, .sg_list = &at, .num_sge = 1 }, *bad;
		assert_int_equal(ibv_post_recv(r->id->qp, &wr, &bad), 0);
	}
	struct rdma_conn_param p = { .private_data = hello,
		.private_data_len = len,
		.initiator_depth = 1,
		.responder_resources = 1,
		.retry_count = NET_RDMA_RETRY,
		.rnr_retry_count = 3 };
	if (rdma_connect(r->id, &p) != 0)
		return false;
	if (net_rdma_expect(r->ch, RDMA_CM_EVENT_ESTABLISHED, until, "raw", &e, &err) != NAM_OK)
		return false;
	memcpy(&r->offer, e->param.conn.private_data, sizeof r->offer);
	rdma_ack_cm_event(e);
	return true;
}

static void
raw_end(struct raw *r)
{
	if (r->id != NULL && r->id->qp != NULL) {
		rdma_disconnect(r->id);
		rdma_destroy_qp(r->id);
	}
	if (r->cq != NULL)
		ibv_destroy_cq(r->cq);
	if (r->mr != NULL)
		ibv_dereg_mr(r->mr);
	if (r->pd != NULL)
		ibv_dealloc_pd(r->pd);
	if (r->id != NULL)
		rdma_destroy_id(r->id);
	if (r->ch != NULL)
		rdma_destroy_event_channel(r->ch);
	if (r->page != NULL)
		munmap(r->page, PAGE);
	if (r->fd >= 0)
		close(r->fd);
}

/* soft-iWARP takes a port of this host, which another process may have taken just before: then try
 * once more. */
static void
raw_open(struct raw *r, const char *address)
{
	for (unsigned tries = 0;; tries++) {
		raw_shake(r, address);
		struct net_verbs_hello h = raw_hello(r);
		if (raw_connect(r, &h, sizeof h))
			return;
		assert_true(tries < 5);
		raw_end(r);
	}
}

static int
raw_post(struct raw *r, enum ibv_wr_opcode code, uint32_t len, uint64_t remote, uint32_t rkey)
{
	struct ibv_sge at = { (uintptr_t)r->page, len, r->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &at,
		.num_sge = 1,
		.opcode = code,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { remote, rkey } },
			   *bad;
	return ibv_post_send(r->id->qp, &wr, &bad);
}

/* The next completion's status, or -1. Passes over early ones of a device that completes WRITEs
 * when they are sent. */
static int
raw_wait(struct raw *r)
{
	struct ibv_wc wc;
	uint64_t until = nam_clock_ns() + 5 * second_ns;
	while (nam_clock_ns() < until) {
		if (ibv_poll_cq(r->cq, 1, &wc) == 1)
			return (int)wc.status;
		nap_ms(1);
	}
	return -1;
}

/* The node has ended this peer: its TCP connection has ended. */
static bool
raw_dropped(struct raw *r)
{
	char byte;
	struct timeval five = { 5, 0 };
	int flags = fcntl(r->fd, F_GETFL);
	fcntl(r->fd, F_SETFL, flags & ~O_NONBLOCK);
	setsockopt(r->fd, SOL_SOCKET, SO_RCVTIMEO, &five, sizeof five);
	ssize_t n = recv(r->fd, &byte, 1, 0);
	return n == 0 || (n < 0 && errno == ECONNRESET);
}

/* ---- the tests --------------------------------------------------------------------- */

static struct test_node node;
static struct good good;

static int
begin(void **state)
{
	(void)state;
	const struct sn_server_config sc = server_config();
	if (rdma == NULL)
		return 0;
	test_node_start(&node, 1, ROOM, &sc);
	good_start(&good, sn_server_address(node.server), NET_VERBS);
	log_start();
	return 0;
}

static int
end(void **state)
{
	(void)state;
	if (rdma == NULL)
		return 0;
	good_goes_on(&good);
	log_end();
	good_end(&good);
	test_node_stop(&node);
	return 0;
}

/* A stranger without the token of a handshake is not let in. */
static void
strangers(void **state)
{
	(void)state;
	if (rdma == NULL)
		skip();
	struct raw r;
	for (unsigned i = 0; i < 5; i++) {
		raw_shake(&r, sn_server_address(node.server));
		struct net_verbs_hello h = raw_hello(&r);
		uint8_t len = sizeof h;
		switch (i) {
		case 0:
			memset(h.token, 0, sizeof h.token);
			break;
		case 1:
			h.magic++;
			break;
		case 2:
			h.region++;
			break;
		case 3:
			len = 8;
			break;
		default:
			h.token[0] ^= 1;
		}
		if (raw_connect(&r, &h, len))
			fail_msg("stranger %u was let in", i);
		assert_true(logged("dropped an RDMA peer: it comes without a token"));
		raw_end(&r);
		good_goes_on(&good);
	}
	/* A token is good once. */
	struct raw second;
	raw_open(&r, sn_server_address(node.server));
	struct net_verbs_hello h = raw_hello(&r);
	second = r;
	second.fd = dup(r.fd);
	assert_false(raw_connect(&second, &h, sizeof h));
	assert_true(logged("it comes without a token"));
	raw_end(&second);
	raw_end(&r);
}

/* Messages that are too short, too long, or empty. */
static void
messages(void **state)
{
	(void)state;
	if (rdma == NULL)
		skip();
	static const struct net_verbs_ask bad[] = {
		{ UINT64_C(0xdeadbeefdeadbeef), UINT64_MAX, UINT64_MAX, UINT64_MAX },
		{ 0, 0, 0, 0 },
		{ NET_READ, UINT64_C(1) << 48, 0, 0 },
		{ NET_CAS, (UINT64_C(1) << 48) + ROOM, 0, 0 },     /* behind the end */
		{ NET_FAA, (UINT64_C(1) << 48) + ROOM - 4, 1, 0 }, /* over the end */
		{ NET_FAA, (UINT64_C(1) << 48) + 4, 1, 0 },        /* between two words */
		{ NET_CAS, (UINT64_C(2) << 48) + 64, 0, 0 },       /* another region */
		{ NET_WRITE_IMM, (UINT64_C(7) << 48) + 64, 0, 0 },
	};
	struct raw r;
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		raw_open(&r, sn_server_address(node.server));
		memcpy(r.page, &bad[i], sizeof bad[i]);
		assert_int_equal(raw_post(&r, IBV_WR_SEND, sizeof bad[i], 0, 0), 0);
		assert_true(logged("its message makes no sense"));
		assert_true(raw_dropped(&r));
		raw_end(&r);
		good_goes_on(&good);
	}
	static const struct {
		uint32_t len;
		const char *says;
	} size[] = {
		{ 1, "its message has not the length of a request" },
		{ 31, "its message has not the length of a request" },
		{ 33, "its message has not the length of a request" },
		{ 64, "its message has not the length of a request" },
		{ 65, NULL }, /* longer than the receive: the device ends it, and not every kind of
			       * device gives the reason */
		{ 2048, NULL },
	};
	for (unsigned i = 0; i < sizeof size / sizeof *size; i++) {
		raw_open(&r, sn_server_address(node.server));
		assert_int_equal(raw_post(&r, IBV_WR_SEND, size[i].len, 0, 0), 0);
		if (size[i].says != NULL)
			assert_true(logged(size[i].says));
		assert_true(raw_dropped(&r));
		raw_end(&r);
		good_goes_on(&good);
	}
	/* More at once than any well-behaved peer has out: this peer may fail, no other. */
	raw_open(&r, sn_server_address(node.server));
	const struct net_verbs_ask imm = { NET_WRITE_IMM, UINT64_C(1) << 48, 0, 0 };
	memcpy(r.page, &imm, sizeof imm);
	for (unsigned i = 0; i < 60; i++)
		if (raw_post(&r, IBV_WR_SEND, sizeof imm, 0, 0) != 0)
			break;
	good_goes_on(&good);
	raw_end(&r);
}

/* A verb outside of the region, and one with a wrong key. */
static void
keys(void **state)
{
	(void)state;
	if (rdma == NULL)
		skip();
	for (unsigned i = 0; i < 6; i++) {
		struct raw r;
		raw_open(&r, sn_server_address(node.server));
		uint64_t base = r.offer.base, size = r.offer.size;
		uint32_t key = r.offer.rkey;
		memset(r.page, 0x77, 64);
		switch (i) {
		case 0:
			assert_int_equal(raw_post(&r, IBV_WR_RDMA_READ, 64, base + size, key), 0);
			break;
		case 1:
			assert_int_equal(raw_post(&r, IBV_WR_RDMA_READ, 64, base + size - 32, key), 0);
			break;
		case 2:
			assert_int_equal(raw_post(&r, IBV_WR_RDMA_WRITE, 64, base - 64, key), 0);
			break;
		case 3:
			assert_int_equal(
			    raw_post(&r, IBV_WR_RDMA_WRITE, 64, base + WORD, key ^ 0x5a5a5a00), 0);
			break;
		case 4:
			assert_int_equal(raw_post(&r, IBV_WR_RDMA_READ, 64, base + WORD, key ^ 1), 0);
			break;
		default:
			assert_int_equal(raw_post(&r, IBV_WR_RDMA_READ, 64, 64, key), 0);
		}
		int st = raw_wait(&r);
		/* A device that completes a WRITE when it is sent reports the error only by the end
		 * of the connection. */
		if (st == IBV_WC_SUCCESS)
			st = raw_post(&r, IBV_WR_RDMA_READ, 8, base, key) != 0 ? -2 : raw_wait(&r);
		assert_int_not_equal(st, IBV_WC_SUCCESS);
		assert_int_not_equal(st, -1);
		raw_end(&r);
		good_goes_on(&good);
	}
}

/* The key of a region that is gone, at a node that took its place. */
static void
old_key(void **state)
{
	(void)state;
	if (rdma == NULL)
		skip();
	const struct sn_server_config sc = server_config();
	struct test_node other;
	struct raw r;
	test_node_start(&other, 1, ROOM, &sc);
	raw_open(&r, sn_server_address(other.server));
	struct net_verbs_offer old = r.offer;
	assert_int_equal(raw_post(&r, IBV_WR_RDMA_READ, 64, old.base, old.rkey), 0);
	assert_int_equal(raw_wait(&r), IBV_WC_SUCCESS);
	/* The region goes while the connection is in use. */
	test_node_stop(&other);
	(void)raw_post(&r, IBV_WR_RDMA_READ, 64, old.base, old.rkey);
	assert_int_not_equal(raw_wait(&r), IBV_WC_SUCCESS);
	raw_end(&r);
	test_node_start(&other, 1, ROOM, &sc);
	raw_open(&r, sn_server_address(other.server));
	/* The device gives new keys: make sure that this one is not the same by chance. */
	if (old.rkey != r.offer.rkey) {
		assert_int_equal(raw_post(&r, IBV_WR_RDMA_READ, 64, old.base, old.rkey), 0);
		assert_int_not_equal(raw_wait(&r), IBV_WC_SUCCESS);
	}
	raw_end(&r);
	good_goes_on(&good);
	test_node_stop(&other);
}

/* This program once more, as a peer of its own: memory registered at a device does not survive a
 * fork. */
static pid_t
start(const char *what)
{
	extern char **environ;
	char *argv[] = { (char *)(uintptr_t)self, (char *)(uintptr_t)what,
		(char *)(uintptr_t)sn_server_address(node.server), NULL };
	pid_t pid;
	assert_int_equal(posix_spawn(&pid, self, NULL, NULL, argv, environ), 0);
	return pid;
}

static int
die(const char *address)
{
	struct net *net;
	struct net_worker *w;
	struct nam_err err;
	struct net_op op[50];
	struct net_batch b;
	static char bytes[50][40000];
	const struct net_config nc = { .storage = address, .fabric = NET_VERBS, .connect_ms = 10000 };
	if (net_open(&net, &nc, &err) != NAM_OK || net_worker_open(net, &w, &err) != NAM_OK) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	net_batch_init(&b, w, op, 50, NULL);
	for (unsigned k = 0; k < 50; k++)
		if (k % 5 == 4)
			net_faa(&b, net_at(1, WORD + 64), 1);
		else if (k % 2 == 0)
			net_write(&b, net_at(1, (2 << 20) + k * 40000), bytes[k], sizeof bytes[k]);
		else
			net_read(&b, net_at(1, (2 << 20) + k * 40000), bytes[k], sizeof bytes[k]);
	net_post(&b);
	return raise(SIGKILL);
}

/* A process with some fifty verbs under way is killed; again and again. */
static void
dies_in_a_batch(void **state)
{
	(void)state;
	if (rdma == NULL)
		skip();
	struct sn_server_counts c;
	for (unsigned i = 0; i < 8; i++) {
		pid_t pid = start("die");
		int how;
		assert_int_equal(waitpid(pid, &how, 0), pid);
		assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
		good_goes_on(&good);
	}
	/* Only the good peer is left: a control connection, a worker's, and the one for its
	 * pidfd. */
	uint64_t until = nam_clock_ns() + 10 * second_ns;
	do {
		nap_ms(5);
		sn_server_counts(node.server, &c);
	} while (c.peers != 3 && nam_clock_ns() < until);
	assert_int_equal(c.peers, 3);
}

/* ---- refusals in the handshake, and machines that are not set up right --------------- */

static nam_status
try_open(const struct net_config *nc, struct nam_err *err)
{
	struct net *net;
	struct net_worker *w;
	nam_status st = net_open(&net, nc, err);
	if (st != NAM_OK)
		return st;
	if ((st = net_worker_open(net, &w, err)) == NAM_OK)
		net_worker_close(w);
	net_close(net);
	return st;
}

static void
refused(void **state)
{
	(void)state;
	static const enum net_kind kind[] = { NET_TCP, NET_SHM, NET_VERBS };
	static const char secret[] = "what both know", other[] = "what one believes";
	struct sn_server_config sc = server_config();
	sc.secret = secret;
	sc.secret_len = sizeof secret;
	sc.cluster = "ours";
	struct test_node n;
	struct nam_err err;
	test_node_start(&n, 1, ROOM, &sc);
	log_start();
	for (unsigned i = 0; i < sizeof kind / sizeof *kind; i++) {
		if (kind[i] == (rdma != NULL ? NET_SHM : NET_VERBS))
			continue;
		struct net_config nc = { .storage = sn_server_address(n.server),
			.fabric = kind[i],
			.cluster = "ours",
			.secret = secret,
			.secret_len = sizeof secret,
			.connect_ms = 10000 };
		assert_int_equal(try_open(&nc, &err), NAM_OK);
		nc.secret = other;
		nc.secret_len = sizeof other;
		assert_int_equal(try_open(&nc, &err), NAM_REFUSED);
		assert_non_null(strstr(err.text, "secret"));
		nc.secret = secret;
		nc.secret_len = sizeof secret;
		nc.cluster = "theirs";
		assert_int_equal(try_open(&nc, &err), NAM_REFUSED);
		assert_non_null(strstr(err.text, "cluster"));
		assert_true(logged("it belongs to another cluster"));
	}
	/* Last, because this process is of another build from then on. */
	net_layout_fold("a room of another build", 7);
	for (unsigned i = 0; i < sizeof kind / sizeof *kind; i++) {
		const struct net_config nc = { .storage = sn_server_address(n.server),
			.fabric = kind[i],
			.cluster = "ours",
			.secret = secret,
			.secret_len = sizeof secret };
		assert_int_equal(try_open(&nc, &err), NAM_REFUSED);
		assert_non_null(strstr(err.text, "format"));
		assert_true(logged("it was built with other data formats"));
	}
	log_end();
	test_node_stop(&n);
}

/* Addresses that lead to no device: which one, and where to look. */
static void
addresses(void **state)
{
	(void)state;
	static const char *const bad[] = { "127.0.0.1", "203.0.113.7", "::1", "here" };
	struct nam_err err;
	struct sn_region *region;
	const struct sn_region_config rc = { .id = 1, .size = ROOM, .numa = -1 };
	assert_int_equal(sn_region_open(&region, &rc, &err), NAM_OK);
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct sn_server *server = NULL;
		struct sn_server_config sc = {
			.listen = "127.0.0.1:0", .rdma = bad[i], .run_dir = test_run_dir()
		};
		assert_int_equal(sn_server_open(&server, region, &sc, &err), NAM_UNSUPPORTED);
		assert_non_null(strstr(err.text, "namdb doctor"));
		if (rdma != NULL)
			assert_non_null(strstr(err.text, bad[i]));
	}
	sn_region_close(region);
	if (rdma == NULL)
		return;
	/* The peer's own side. */
	const struct sn_server_config sc = server_config();
	struct test_node n;
	test_node_start(&n, 1, ROOM, &sc);
	for (unsigned i = 1; i < sizeof bad / sizeof *bad; i++) {
		const struct net_config nc = { .storage = sn_server_address(n.server),
			.fabric = NET_VERBS,
			.rdma_from = bad[i],
			.connect_ms = 3000 };
		nam_status st = try_open(&nc, &err);
		assert_int_not_equal(st, NAM_OK);
		if (strstr(err.text, bad[i]) == NULL)
			fail_msg("%s is not named: %s", bad[i], err.text);
	}
	test_node_stop(&n);
}

/* The errors for a user who may not lock memory, at both ends: exit code 0 if all are as
 * expected. */
static int
poor(const char *address)
{
	struct rlimit little = { 64 << 10, 64 << 10 };
	struct nam_err err = { 0 };
	struct net *net;
	struct net_worker *w;
	const struct net_config nc = { .storage = address, .fabric = NET_VERBS, .connect_ms = 10000 };
	/* Enough for the message; with no memory at all librdmacm does not even begin. */
	if (setrlimit(RLIMIT_MEMLOCK, &little) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
		return 10;
	/* It comes over verbs, so it needs no rights on its node's run_dir. */
	nam_status st = net_open(&net, &nc, &err);
	if (st == NAM_OK && (st = net_worker_open(net, &w, &err)) == NAM_OK)
		return 11;
	if (st != NAM_NOMEM || strstr(err.text, "memlock") == NULL) {
		fprintf(stderr, "peer: %s\n", err.text);
		return 12;
	}
	struct sn_region *region;
	struct sn_server *server;
	const struct sn_region_config rc = { .id = 2, .size = ROOM, .numa = -1 };
	const struct sn_server_config sc = { .listen = "127.0.0.1:0", .rdma = rdma, .no_shm = true };
	if (sn_region_open(&region, &rc, &err) != NAM_OK)
		return 13;
	st = sn_server_open(&server, region, &sc, &err);
	if (st != NAM_NOMEM || strstr(err.text, "memlock") == NULL || strstr(err.text, "8192 KiB") == NULL) {
		fprintf(stderr, "node: %s\n", err.text);
		return 14;
	}
	return 0;
}

static void
memlock(void **state)
{
	(void)state;
	if (rdma == NULL || geteuid() != 0)
		skip();
	static const char *const device[] = { "/dev/infiniband/uverbs0", "/dev/infiniband/rdma_cm" };
	for (unsigned i = 0; i < 2; i++)
		(void)chmod(device[i], 0666); /* in a machine made for this */
	pid_t pid = start("poor");
	int how;
	assert_int_equal(waitpid(pid, &how, 0), pid);
	assert_true(WIFEXITED(how));
	if (WEXITSTATUS(how) != 0)
		assert_true(logged("nothing: this shows the log"));
	assert_int_equal(WEXITSTATUS(how), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(strangers, begin, end),
		cmocka_unit_test_setup_teardown(messages, begin, end),
		cmocka_unit_test_setup_teardown(keys, begin, end),
		cmocka_unit_test_setup_teardown(old_key, begin, end),
		cmocka_unit_test_setup_teardown(dies_in_a_batch, begin, end),
		cmocka_unit_test_setup_teardown(memlock, begin, end),
		cmocka_unit_test(addresses),
		cmocka_unit_test(refused),
	};
	rdma = getenv("NAMDB_TEST_RDMA");
	if (rdma != NULL && *rdma == '\0')
		rdma = NULL;
	self = argv[0];
	if (argc == 3)
		return strcmp(argv[1], "die") == 0 ? die(argv[2]) : poor(argv[2]);
	snprintf(listen_at, sizeof listen_at, "%s:0", rdma != NULL ? rdma : "127.0.0.1");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
