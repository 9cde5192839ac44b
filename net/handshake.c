/* handshake.c -- see handshake.h; every failure has its own message, which says what to do. */
#include <base/clock.h>
#include <base/rng.h>
#include <net/handshake.h>
#include <net/net.h>

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- proofs ------------------------------------------------------------------ */

enum { LABEL = 16 };

static void
mac(const struct net_shake *me, const char *label, const struct net_hello *hello,
    const struct net_welcome *welcome, const void *more, size_t more_len, uint8_t out[32])
{
	uint8_t text[LABEL + sizeof *hello + sizeof *welcome + sizeof(struct net_grant)] = { 0 };
	uint8_t *at = text + LABEL;
	memcpy(text, label, strlen(label));
	memcpy(at, hello, sizeof *hello);
	memcpy(at += sizeof *hello, welcome, sizeof *welcome);
	at += sizeof *welcome;
	if (more_len > 0)
		memcpy(at, more, more_len);
	unsigned len = 32;
	if (HMAC(EVP_sha256(), me->secret != NULL ? me->secret : "", (int)me->secret_len, text,
		(size_t)(at - text) + more_len, out, &len) == NULL)
		nam_random_bytes(out, 32); /* no proof: the other side will refuse it */
}

void
net_shake_welcome(const struct net_shake *me, const struct net_hello *hello, struct net_welcome *out)
{
	*out = (struct net_welcome){
		.magic = NET_WIRE_MAGIC,
		.version = NET_WIRE_VERSION,
		.verdict = NET_YES,
		.layout = me->layout,
		.cluster = me->cluster,
		.region = me->region,
		.incarnation = me->incarnation,
		.size = me->size,
		.log = me->log,
	};
	if (hello->version != NET_WIRE_VERSION)
		out->verdict = NET_NO_VERSION;
	else if (hello->cluster != me->cluster)
		out->verdict = NET_NO_CLUSTER;
	else if (hello->layout != me->layout)
		out->verdict = NET_NO_LAYOUT;
	else if (hello->role < NET_ROLE_CONTROL || hello->role >= NET_ROLES)
		out->verdict = NET_NO_ROLE;
	else if (hello->identity == 0 || hello->identity >> NET_IDENTITY_BITS != 0)
		out->verdict = NET_NO_IDENTITY;
	nam_random_bytes(out->nonce, sizeof out->nonce);
}

void
net_shake_prove(const struct net_shake *me, const struct net_hello *hello, const struct net_welcome *welcome,
    struct net_proof *out)
{
	mac(me, "namdb peer", hello, welcome, NULL, 0, out->mac);
}

bool
net_shake_proven(const struct net_shake *me, const struct net_hello *hello, const struct net_welcome *welcome,
    const struct net_proof *proof)
{
	struct net_proof right;
	net_shake_prove(me, hello, welcome, &right);
	bool is = CRYPTO_memcmp(right.mac, proof->mac, sizeof right.mac) == 0;
	OPENSSL_cleanse(&right, sizeof right);
	return is;
}

void
net_shake_seal(const struct net_shake *me, const struct net_hello *hello, const struct net_welcome *welcome,
    struct net_grant *grant)
{
	mac(me, "namdb node", hello, welcome, grant, offsetof(struct net_grant, mac), grant->mac);
}

/* ---- the peer's side of a stream --------------------------------------------- */

/* Waits for events on fd until the deadline. False: time is up. */
static bool
wait_for(int fd, short events, uint64_t deadline_ns)
{
	for (;;) {
		uint64_t now = nam_clock_ns();
		if (now >= deadline_ns)
			return false;
		struct pollfd p = { .fd = fd, .events = events };
		uint64_t ms = (deadline_ns - now) / 1000000 + 1;
		int rc = poll(&p, 1, ms > 60000 ? 60000 : (int)ms);
		if (rc > 0)
			return true;
		if (rc < 0 && errno != EINTR)
			return false;
	}
}

enum io { IO_OK, IO_LATE, IO_CLOSED };

static enum io
put_all(int fd, const void *from, size_t len, uint64_t deadline_ns)
{
	const char *at = from;
	while (len > 0) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n >= 0) {
			at += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			if (!wait_for(fd, POLLOUT, deadline_ns))
				return IO_LATE;
		} else if (errno != EINTR) {
			return IO_CLOSED;
		}
	}
	return IO_OK;
}

/* memory: receives a passed descriptor, or NULL. */
static enum io
get_all(int fd, void *into, size_t len, uint64_t deadline_ns, int *memory)
{
	char *at = into;
	while (len > 0) {
		union {
			struct cmsghdr align;
			char room[CMSG_SPACE(sizeof(int))];
		} control;
		struct iovec iov = { at, len };
		struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
		if (memory != NULL) {
			m.msg_control = &control;
			m.msg_controllen = sizeof control;
		}
		ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (n > 0) {
			for (struct cmsghdr *c = memory != NULL ? CMSG_FIRSTHDR(&m) : NULL; c != NULL;
			     c = CMSG_NXTHDR(&m, c)) {
				if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
				    c->cmsg_len < CMSG_LEN(sizeof(int)))
					continue;
				if (*memory >= 0)
					close(*memory);
				memcpy(memory, CMSG_DATA(c), sizeof(int));
			}
			at += n;
			len -= (size_t)n;
		} else if (n == 0) {
			return IO_CLOSED;
		} else if (errno == EAGAIN) {
			if (!wait_for(fd, POLLIN, deadline_ns))
				return IO_LATE;
		} else if (errno != EINTR) {
			return IO_CLOSED;
		}
	}
	return IO_OK;
}

static nam_status
io_failed(enum io io, const char *name, struct nam_err *err)
{
	if (io == IO_LATE)
		return nam_fail(err, NAM_TIMEOUT,
		    "%s accepts connections but does not answer in time; is it a namdb storage node, and is "
		    "it running?",
		    name);
	return nam_fail(err, NAM_REFUSED,
	    "%s closed the connection during the handshake; is it a namdb storage node of this version?",
	    name);
}

static nam_status
refused(uint32_t verdict, const char *name, struct nam_err *err)
{
	switch (verdict) {
	case NET_NO_VERSION:
		return nam_fail(err, NAM_REFUSED,
		    "%s speaks another version of the protocol; run the same namdb on all nodes", name);
	case NET_NO_CLUSTER:
		return nam_fail(err, NAM_REFUSED, "%s belongs to another cluster; check --cluster", name);
	case NET_NO_LAYOUT:
		return nam_fail(err, NAM_REFUSED,
		    "%s was built with other data formats (layout); run the same namdb on all nodes", name);
	case NET_NO_SECRET:
		return nam_fail(err, NAM_REFUSED,
		    "%s does not accept our secret; use the same secret file on all nodes", name);
	case NET_NO_ROOM:
		return nam_fail(err, NAM_REFUSED,
		    "%s has as many peers as it takes; stop some, or raise its --peers", name);
	case NET_NO_ROLE:
		return nam_fail(err, NAM_REFUSED, "%s does not offer this kind of connection", name);
	case NET_NO_IDENTITY:
		return nam_fail(err, NAM_REFUSED, "%s refuses a process without an identity", name);
	case NET_NO_MORE:
		return nam_fail(err, NAM_REFUSED,
		    "%s has fenced this process: it was silent for too long, and another process has "
		    "recovered it; start it again",
		    name);
	case NET_NO_KILL:
		return nam_fail(err, NAM_IO,
		    "%s cannot end the process that is to be fenced, which has its memory mapped; end it "
		    "by hand",
		    name);
	case NET_NO_SELF:
		return nam_fail(err, NAM_UNSUPPORTED,
		    "%s will not end itself: the process to be fenced is its own", name);
	case NET_NO_LIVES:
		return nam_fail(err, NAM_BUSY, "%s has heard that the process lives", name);
	default:
		return nam_fail(err, NAM_REFUSED,
		    "%s refused this process for a reason (%u) that this build does not know", name, verdict);
	}
}

static nam_status
shake(int fd, const struct net_shake *me, enum net_role role, const char *name, uint64_t deadline_ns,
    struct net_welcome *welcome, struct net_grant *grant, int *memory, struct nam_err *err)
{
	struct net_hello hello = {
		.magic = NET_WIRE_MAGIC,
		.version = NET_WIRE_VERSION,
		.role = role,
		.layout = me->layout,
		.cluster = me->cluster,
		.identity = me->identity,
		.word = me->word,
	};
	nam_random_bytes(hello.nonce, sizeof hello.nonce);
	enum io io = put_all(fd, &hello, sizeof hello, deadline_ns);
	/* W1: the first 16 bytes can be judged in every version. */
	const size_t head = offsetof(struct net_welcome, layout);
	if (io == IO_OK)
		io = get_all(fd, welcome, head, deadline_ns, NULL);
	if (io != IO_OK)
		return io_failed(io, name, err);
	if (welcome->magic != NET_WIRE_MAGIC)
		return nam_fail(err, NAM_REFUSED, "%s is not a namdb storage node; check the address", name);
	if (welcome->version != NET_WIRE_VERSION)
		return refused(NET_NO_VERSION, name, err);
	if (welcome->verdict != NET_YES)
		return refused(welcome->verdict, name, err);
	if ((io = get_all(fd, (char *)welcome + head, sizeof *welcome - head, deadline_ns, NULL)) != IO_OK)
		return io_failed(io, name, err);
	struct net_proof proof;
	net_shake_prove(me, &hello, welcome, &proof);
	io = put_all(fd, &proof, sizeof proof, deadline_ns);
	if (io == IO_OK)
		io = get_all(fd, grant, sizeof *grant, deadline_ns, memory);
	if (io != IO_OK)
		return io_failed(io, name, err);
	/* Only this refusal comes without the node's proof. */
	if (grant->verdict == NET_NO_SECRET)
		return refused(grant->verdict, name, err);
	struct net_grant right = *grant;
	net_shake_seal(me, &hello, welcome, &right);
	if (CRYPTO_memcmp(right.mac, grant->mac, sizeof right.mac) != 0) {
		grant->verdict = NET_NO_SECRET;
		return nam_fail(err, NAM_REFUSED,
		    "%s has another secret than this process; use the same secret file on all nodes", name);
	}
	if (grant->verdict != NET_YES)
		return refused(grant->verdict, name, err);
	grant->shm[sizeof grant->shm - 1] = '\0';
	grant->rdma[sizeof grant->rdma - 1] = '\0';
	if (grant->rdma_port > 65535)
		grant->rdma[0] = '\0';
	if (role == NET_ROLE_SHM && memory != NULL && *memory < 0)
		return nam_fail(err, NAM_REFUSED, "%s did not pass its memory on; try --fabric tcp", name);
	return NAM_OK;
}

nam_status
net_shake_hands(int fd, const struct net_shake *me, enum net_role role, const char *name,
    uint64_t deadline_ns, struct net_welcome *welcome, struct net_grant *grant, int *memory,
    struct nam_err *err)
{
	if (memory != NULL)
		*memory = -1;
	nam_status st = shake(fd, me, role, name, deadline_ns, welcome, grant, memory, err);
	if (st != NAM_OK && memory != NULL && *memory >= 0) {
		close(*memory);
		*memory = -1;
	}
	return st;
}

nam_status
net_exchange(int fd, const void *say, size_t say_len, void *hear, size_t hear_len, const char *name,
    uint64_t deadline_ns, struct nam_err *err)
{
	enum io io = put_all(fd, say, say_len, deadline_ns);
	if (io == IO_OK)
		io = get_all(fd, hear, hear_len, deadline_ns, NULL);
	return io == IO_OK ? NAM_OK : io_failed(io, name, err);
}

/* ---- dialling ------------------------------------------------------------------ */

/* 0, or an errno. */
static int
connect_until(int fd, const struct sockaddr *to, socklen_t len, uint64_t deadline_ns)
{
	if (connect(fd, to, len) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return errno;
	if (!wait_for(fd, POLLOUT, deadline_ns))
		return ETIMEDOUT;
	int why = 0;
	socklen_t n = sizeof why;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &n) != 0)
		return errno;
	return why;
}

nam_status
net_dial(
    const char *host, const char *port, const char *name, uint64_t deadline_ns, int *out, struct nam_err *err)
{
	struct addrinfo hint = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *list;
	int rc = getaddrinfo(host, port, &hint, &list);
	if (rc != 0)
		return nam_fail(err, NAM_GONE, "there is no host \"%s\" (%s); check the address %s", host,
		    gai_strerror(rc), name);
	int why = ECONNREFUSED;
	for (struct addrinfo *a = list; a != NULL; a = a->ai_next) {
		int fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
		if (fd < 0) {
			why = errno;
			continue;
		}
		why = connect_until(fd, a->ai_addr, a->ai_addrlen, deadline_ns);
		if (why == 0) {
			int on = 1, idle = 5, every = 2, times = 3;
			unsigned unheard_ms = 11000;
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
			/* A host that vanished without closing its connections is noticed within
			 * about ten seconds. */
			setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
			setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
			setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
			setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
			setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unheard_ms, sizeof unheard_ms);
			freeaddrinfo(list);
			*out = fd;
			return NAM_OK;
		}
		close(fd);
	}
	freeaddrinfo(list);
	/* Only a refusal proves that no process listens there; a connection that does not get
	 * through proves nothing. */
	return nam_fail(err, why == ECONNREFUSED ? NAM_GONE : NAM_TIMEOUT,
	    "no storage node answers at %s (%s); start one: namdb storage --id N --listen %s", name,
	    strerror(why), name);
}

bool
net_is_unix(int fd)
{
	int domain;
	socklen_t len = sizeof domain;
	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX;
}

nam_status
net_dial_unix(const char *path, const char *name, uint64_t deadline_ns, int *out, struct nam_err *err)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof to.sun_path)
		return nam_fail(err, NAM_INVALID, "the socket path of %s is too long", name);
	strcpy(to.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return nam_fail(err, NAM_IO, "cannot make a socket: %s", strerror(errno));
	int why = connect_until(fd, (struct sockaddr *)&to, sizeof to, deadline_ns);
	if (why != 0) {
		close(fd);
		return nam_fail(err, NAM_GONE, "%s cannot be reached by %s: %s", name, path, strerror(why));
	}
	*out = fd;
	return NAM_OK;
}
