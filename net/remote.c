/* remote.c -- reaching a storage node of another process: control connection first, then shm, verbs
 * or tcp. */
#include <base/clock.h>
#include <base/log.h>
#include <net/handshake.h>
#include <net/provider/shm.h>
#include <net/remote.h>
#include <net/remote_internal.h>

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Both ends of the connection have the same address: it never left this host. */
static bool
same_host(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_storage room;
	} here, there;
	socklen_t a = sizeof here, b = sizeof there;
	if (getsockname(fd, &here.any, &a) != 0 || getpeername(fd, &there.any, &b) != 0)
		return false;
	if (here.any.sa_family != there.any.sa_family)
		return false;
	if (here.any.sa_family == AF_INET)
		return here.v4.sin_addr.s_addr == there.v4.sin_addr.s_addr ||
		       (ntohl(there.v4.sin_addr.s_addr) >> 24) == 127;
	if (here.any.sa_family == AF_INET6)
		return memcmp(&here.v6.sin6_addr, &there.v6.sin6_addr, sizeof here.v6.sin6_addr) == 0;
	return false;
}

static struct net_shake
shake_of(const struct net *n)
{
	return (struct net_shake){
		.layout = net_layout(),
		.cluster = n->cluster,
		.secret = n->secret,
		.secret_len = n->secret_len,
		.identity = n->identity,
	};
}

static uint64_t
deadline(const struct net *n)
{
	return nam_clock_ns() + (uint64_t)n->connect_ms * 1000000;
}

/* Fills node for shm, or says in err why not. The caller sets the node's kind and provider. */
static nam_status
try_shm(struct net_node *node, const char *path, struct nam_err *err)
{
	struct net_shake me = shake_of(node->net);
	struct net_welcome welcome;
	struct net_grant grant;
	uint64_t until = deadline(node->net);
	int fd, memory;
	nam_status st = net_dial_unix(path, node->info.name, until, &fd, err);
	if (st != NAM_OK)
		return st;
	st = net_shake_hands(fd, &me, NET_ROLE_SHM, node->info.name, until, &welcome, &grant, &memory, err);
	if (st != NAM_OK) {
		close(fd);
		return st;
	}
	st = net_shm_map(node, memory, err);
	close(memory);
	if (st != NAM_OK) {
		close(fd);
		return st;
	}
	close(node->control_fd);
	node->control_fd = fd;
	snprintf(node->socket, sizeof node->socket, "%s", path);
	return NAM_OK;
}

/* True if a queue pair to the node can be made: makes one, and gives it back. */
static nam_status
try_verbs(struct net_node *node, struct nam_err *err)
{
	struct net_endpoint probe = { .node = node, .size = node->info.size, .p = &net_provider_verbs };
	nam_status st = net_provider_verbs.open(&probe, err);
	if (st == NAM_OK)
		net_provider_verbs.close(&probe);
	return st;
}

void
net_remote_life(struct net_node *node, const struct net_grant *grant)
{
	struct net_shake me = shake_of(node->net);
	struct net_welcome welcome;
	struct net_grant life;
	struct nam_err why;
	uint64_t until = deadline(node->net);
	int fd;
	char byte;
	if (grant->shm[0] == '\0' || node->p == &net_provider_shm)
		return; /* the connection that brought the memory serves for that as well */
	if (atomic_flag_test_and_set(&node->life_busy))
		return;
	bool open = node->life_fd >= 0 && recv(node->life_fd, &byte, 1, MSG_DONTWAIT) < 0;
	if (!open && node->life_fd >= 0) {
		close(node->life_fd);
		node->life_fd = -1;
	}
	/* In another mount namespace, or for another user, there is no such socket: then the node
	 * gets no proof of our end. */
	if (!open && net_dial_unix(grant->shm, node->info.name, until, &fd, &why) == NAM_OK) {
		nam_status st = net_shake_hands(
		    fd, &me, NET_ROLE_LIFE, node->info.name, until, &welcome, &life, NULL, &why);
		if (st == NAM_OK && welcome.incarnation == node->info.incarnation)
			node->life_fd = fd;
		else
			close(fd);
	}
	atomic_flag_clear(&node->life_busy);
}

static void
use(struct net_node *node, const struct net_provider *p)
{
	node->p = p;
	node->info.kind = p->kind;
}

/*
 * Chooses the fabric for this node by what both ends have: its memory if it is mapped here, else
 * queue pairs, else the stream. If a fabric was offered and does not work, logs that once.
 */
static nam_status
choose(struct net_node *node, const struct net_grant *grant, enum net_kind fabric, struct nam_err *err)
{
	struct nam_err why;
	nam_status st;
	bool verbs = grant->rdma[0] != '\0', shm = grant->shm[0] != '\0' &&
						   !(grant->flags & NET_GRANT_NO_MEMORY) &&
						   same_host(node->control_fd);
	if (fabric == NET_SHM || (fabric == NET_AUTO && shm)) {
		if (!shm)
			return nam_fail(err, NAM_UNSUPPORTED,
			    "%s does not offer shared memory to us; use --fabric tcp", node->info.name);
		if ((st = try_shm(node, grant->shm, &why)) == NAM_OK) {
			use(node, &net_provider_shm);
			return NAM_OK;
		}
		if (fabric == NET_SHM)
			return nam_fail(err, st, "%s", why.text);
		nam_log(NAM_LOG_WARN, "no shared memory: %s", why.text);
	}
	if (fabric == NET_VERBS || (fabric == NET_AUTO && verbs)) {
		if (!verbs)
			return nam_fail(err, NAM_UNSUPPORTED,
			    "%s does not offer RDMA (see its --rdma); use --fabric tcp", node->info.name);
		if ((st = try_verbs(node, &why)) == NAM_OK) {
			use(node, &net_provider_verbs);
			return NAM_OK;
		}
		if (fabric == NET_VERBS)
			return nam_fail(err, st, "%s", why.text);
		nam_log(NAM_LOG_WARN, "going on over tcp: %s", why.text);
	}
	return NAM_OK;
}

/*
 * Dials and shakes hands. Tries again if the connection was closed before the node gave its
 * verdict: connections are reset, and that proves nothing about the node.
 */
static nam_status
shake(const char *host, const char *port, const char *name, const struct net_shake *me, enum net_role role,
    uint64_t until, int *out, struct net_welcome *welcome, struct net_grant *grant, struct nam_err *err)
{
	enum { TRIES = 3 };
	nam_status st = NAM_REFUSED;
	for (unsigned i = 0; st == NAM_REFUSED && i < TRIES; i++) {
		/* Of the later attempts' results, only a node's own verdict says more than the
		 * first result. */
		struct nam_err later = { 0 }, *say = i == 0 ? err : &later;
		int fd;
		nam_status now = net_dial(host, port, name, until, &fd, say);
		if (now != NAM_OK)
			return i == 0 ? now : st;
		welcome->verdict = grant->verdict = NET_YES;
		now = net_shake_hands(fd, me, role, name, until, welcome, grant, NULL, say);
		if (now == NAM_OK) {
			*out = fd;
			return NAM_OK;
		}
		close(fd);
		bool said = welcome->verdict != NET_YES || grant->verdict != NET_YES;
		if (i > 0 && said && err != NULL)
			*err = later;
		if (i == 0)
			st = now;
		if (said || now != NAM_REFUSED)
			break;
	}
	return st;
}

static nam_status
add(struct net *n, const char *address, enum net_kind fabric, struct nam_err *err)
{
	char host[112], port[16];
	nam_status st = net_split_address(address, host, sizeof host, port, sizeof port, err);
	if (st != NAM_OK)
		return st;
	struct net_shake me = shake_of(n);
	struct net_welcome welcome;
	struct net_grant grant = { .verdict = NET_YES };
	int fd = -1;
	st = shake(host, port, address, &me, NET_ROLE_CONTROL, deadline(n), &fd, &welcome, &grant, err);
	if (st == NAM_OK && (welcome.size < NET_EXTENT || welcome.size > NET_REGION_SIZE_MAX ||
				welcome.region >= NET_REGIONS)) {
		st = nam_fail(err, NAM_REFUSED, "%s describes itself in numbers that make no sense", address);
		close(fd);
	}
	if (st != NAM_OK) {
		n->unlucky |= st == NAM_REFUSED && grant.verdict == NET_NO_MORE;
		return st;
	}
	struct net_node_info info = {
		.region = (unsigned)welcome.region,
		.kind = NET_TCP,
		.size = welcome.size,
		.incarnation = welcome.incarnation,
		.log = welcome.log,
	};
	snprintf(info.name, sizeof info.name, "%s", address);
	struct net_node *node;
	if ((st = net_add_node(n, &net_provider_tcp, &info, &node, err)) != NAM_OK) {
		close(fd);
		return st;
	}
	node->control_fd = fd;
	strcpy(node->host, host);
	strcpy(node->port, port);
	st = choose(node, &grant, fabric, err);
	if (st == NAM_OK && same_host(node->control_fd))
		net_remote_life(node, &grant);
	return st;
}

nam_status
net_remote_add(struct net *n, const char *address, enum net_kind fabric, struct nam_err *err)
{
	nam_status st = add(n, address, fabric, err);
	/* On a first failure, report it. */
	if (st != NAM_TIMEOUT)
		return st;
	if (err != NULL)
		err->status = NAM_GONE;
	return NAM_GONE;
}

static nam_status
connect_as(struct net_node *node, enum net_role role, uint64_t word, uint32_t most_ms, int *out,
    struct net_grant *grant, struct nam_err *err)
{
	struct net_shake me = shake_of(node->net);
	struct net_welcome welcome;
	me.word = word;
	uint64_t until = most_ms != 0 ? nam_clock_ns() + most_ms * UINT64_C(1000000) : deadline(node->net);
	int fd = -1;
	nam_status st =
	    shake(node->host, node->port, node->info.name, &me, role, until, &fd, &welcome, grant, err);
	if (st != NAM_OK)
		return st;
	if (welcome.region != node->info.region || !net_node_is(node, welcome.incarnation)) {
		close(fd);
		return nam_fail(err, NAM_GONE,
		    "%s is not the node it was: it came back empty; restart this process", node->info.name);
	}
	*out = fd;
	return NAM_OK;
}

nam_status
net_remote_connect(
    struct net_node *node, enum net_role role, int *out, struct net_grant *grant, struct nam_err *err)
{
	return connect_as(node, role, 0, 0, out, grant, err);
}

nam_status
net_remote_connect_near(
    struct net_node *node, enum net_role role, int *out, struct net_grant *grant, struct nam_err *err)
{
	struct net_shake me = shake_of(node->net);
	struct net_welcome welcome;
	uint64_t until = deadline(node->net);
	int fd;
	if (node->socket[0] != '\0' &&
	    net_dial_unix(node->socket, node->info.name, until, &fd, err) == NAM_OK) {
		nam_status st =
		    net_shake_hands(fd, &me, role, node->info.name, until, &welcome, grant, NULL, err);
		if (st == NAM_OK && welcome.incarnation == node->info.incarnation &&
		    welcome.region == node->info.region) {
			*out = fd;
			return NAM_OK;
		}
		close(fd);
		if (st != NAM_OK && nam_clock_ns() >= until)
			return st; /* it has taken the time that there is */
	}
	return net_remote_connect(node, role, out, grant, err); /* which tells what is wrong */
}

nam_status
net_remote_connect_endpoint(
    struct net_endpoint *ep, enum net_role role, int *out, struct net_grant *grant, struct nam_err *err)
{
	return connect_as(ep->node, role, ep->w != NULL ? ep->w->number : 0, ep->dial_ms, out, grant, err);
}

/* A question about another process, in a role of its own. The node may have come back empty: none
 * of the old memory exists then. */
static nam_status
about(struct net_node *node, enum net_role role, uint64_t word, uint64_t wait_ns, struct net_grant *grant,
    struct nam_err *err)
{
	struct net_shake me = shake_of(node->net);
	struct net_welcome welcome;
	grant->verdict = NET_YES;
	me.word = word;
	uint64_t until = deadline(node->net);
	int fd;
	nam_status st = net_dial(node->host, node->port, node->info.name, until, &fd, err);
	if (st != NAM_OK)
		return st;
	st = net_shake_hands(fd, &me, role, node->info.name, until + wait_ns, &welcome, grant, NULL, err);
	close(fd);
	/* Only a grant can say that this process itself is fenced; after any other refusal the
	 * caller may try again. */
	if (st == NAM_REFUSED && grant->verdict != NET_NO_MORE) {
		st = NAM_GONE;
		if (err != NULL)
			err->status = st;
	}
	if (st == NAM_OK && welcome.region != node->info.region)
		st = nam_fail(
		    err, NAM_GONE, "%s is not storage node %u any more", node->info.name, node->info.region);
	if (st == NAM_OK)
		(void)net_node_is(node, welcome.incarnation);
	return st;
}

nam_status
net_remote_fence(struct net_node *node, uint64_t identity, struct nam_err *err)
{
	struct net_grant grant;
	return about(node, NET_ROLE_FENCE, identity, 0, &grant, err);
}

nam_status
net_remote_ask(struct net_node *node, uint64_t identity, uint64_t grace_ns, struct nam_err *err)
{
	struct net_grant grant;
	uint64_t ms = (grace_ns + 999999) / 1000000, most = (UINT64_C(1) << (64 - NET_ASK_GRACE_SHIFT)) - 1;
	if (ms > most)
		ms = most;
	return about(node, NET_ROLE_ASK, identity | ms << NET_ASK_GRACE_SHIFT, grace_ns, &grant, err);
}
