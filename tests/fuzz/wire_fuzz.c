/*
 * wire_fuzz.c -- libFuzzer is a peer of a storage node: an honest one up to a point that the first
 * byte chooses, then its bytes are whatever comes. The node may answer or drop it; it must stay
 * alive, and honest peers must be served.
 */
#include <base/clock.h>
#include <base/log.h>
#include <net/handshake.h>
#include <net/local.h>
#include <net/net.h>
#include <net/region_format.h>
#include <net/remote.h>
#include <storage_node/test_node.h>

#include <poll.h>
#include <sys/socket.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* What libcrypto keeps for a thread is given back when the thread ends; libFuzzer's has not ended
 * yet. */
const char *
__lsan_default_suppressions(void)
{
	return "leak:CRYPTO_zalloc";
}

static const char secret[] = "sesame";
static struct test_node node;
static char host[64], port[16];

static void
need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "wire_fuzz: %s\n", what);
	abort();
}

static void
stop(void)
{
	test_node_stop(&node);
	rmdir(test_run_dir());
}

static int
dial(void)
{
	struct nam_err err;
	int fd;
	need(net_dial(host, port, "fuzz", nam_clock_ns() + UINT64_C(3000000000), &fd, &err) == NAM_OK,
	    "cannot connect");
	return fd;
}

static int
peer(enum net_role role)
{
	struct net_shake me = { .layout = net_layout(),
		.cluster = net_cluster_hash(NULL),
		.secret = secret,
		.secret_len = strlen(secret),
		.identity = 7 };
	struct net_welcome welcome;
	struct net_grant grant;
	struct nam_err err;
	int fd = dial();
	need(net_shake_hands(fd, &me, role, "fuzz", nam_clock_ns() + UINT64_C(3000000000), &welcome, &grant,
		 NULL, &err) == NAM_OK,
	    "the handshake is refused");
	return fd;
}

/* Reads the node's answers until there are no more. True if it ended the connection. */
static bool
listen_to(int fd, int ms)
{
	static char sink[1 << 16];
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		if (poll(&p, 1, ms) <= 0)
			return false;
		if (recv(fd, sink, sizeof sink, 0) <= 0)
			return true;
	}
}

static void
send_all(int fd, const void *p, size_t n)
{
	while (n > 0) {
		ssize_t k = send(fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (k <= 0)
			return; /* dropped, or its answers fill the pipe */
		p = (const char *)p + k;
		n -= (size_t)k;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool open;
	struct nam_err err;
	if (size < 1)
		return -1;
	if (!open) {
		struct sn_server_config sc = {
			.secret = secret, .secret_len = strlen(secret), .handshake_ms = 200
		};
		open = true;
		nam_log_level_set(NAM_LOG_ERROR);
		test_node_start(&node, 1, 4 << 20, &sc);
		atexit(stop);
		need(net_split_address(sn_server_address(node.server), host, sizeof host, port, sizeof port,
			 &err) == NAM_OK,
		    "no address");
	}
	bool known = data[0] & 1;
	bool control = known && (data[0] & 4);
	int fd = known ? peer(control ? NET_ROLE_CONTROL : NET_ROLE_WORKER) : dial();
	/* Frames: the address's region and the length's high bytes are mostly made good, or nothing
	 * would get far. */
	if (control && (data[0] & 2))
		for (size_t at = 1; at + sizeof(struct net_news) <= size; at += sizeof(struct net_news)) {
			struct net_news n;
			memcpy(&n, data + at, sizeof n);
			n.magic = NET_NEWS_MAGIC;
			n.kind = NET_NEWS_LEFT + n.kind % NET_NEWS_WHO;
			n.identity &= 0xff;
			send_all(fd, &n, sizeof n);
		}
	else if (known && (data[0] & 2))
		for (size_t at = 1; at + sizeof(struct net_ask) <= size; at += sizeof(struct net_ask)) {
			struct net_ask a;
			memcpy(&a, data + at, sizeof a);
			a.zero = 0;
			a.len &= 0xfff8;
			a.at = net_at(1, a.at & 0x3ffff8).bits;
			send_all(fd, &a, sizeof a);
		}
	else
		send_all(fd, data + 1, size - 1);
	shutdown(fd, SHUT_WR);
	listen_to(fd, 1);
	close(fd);
	/* An honest peer reads the region's first word. */
	struct net_ask ask = { .code = NET_READ, .len = 8, .at = net_at(1, 0).bits };
	struct {
		struct net_answer head;
		uint64_t magic;
	} got;
	fd = peer(NET_ROLE_WORKER);
	send_all(fd, &ask, sizeof ask);
	for (size_t n = 0; n < sizeof got;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		need(poll(&p, 1, 5000) == 1, "an honest peer waits");
		ssize_t k = recv(fd, (char *)&got + n, sizeof got - n, 0);
		need(k > 0, "an honest peer is not served");
		n += (size_t)k;
	}
	close(fd);
	return 0;
}
