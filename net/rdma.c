/* rdma.c -- see rdma.h. */
#include <net/rdma.h>

#include <base/clock.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

bool
net_rdma_caps(struct ibv_context *ctx, struct net_rdma_caps *out)
{
	struct ibv_device_attr d;
	*out = (struct net_rdma_caps){ 0 };
	if (ibv_query_device(ctx, &d) != 0)
		return false;
	snprintf(out->device, sizeof out->device, "%s", ibv_get_device_name(ctx->device));
	bool iwarp = ctx->device->transport_type == IBV_TRANSPORT_IWARP;
	out->atomics = d.atomic_cap != IBV_ATOMIC_NONE;
	out->imm = !iwarp;
	out->early_writes = iwarp;
	/*
	 * Soft-RoCE (this is its vendor's number) sleeps for ever on a fenced request whose
	 * READ completes while it looks (Linux 6.1, seen under load); soft-iWARP refuses some.
	 */
	enum { SOFT_ROCE = 0xffffff };
	out->fences = !iwarp && d.vendor_id != SOFT_ROCE;
	/* The wire has a byte for each. */
	out->rd_out = d.max_qp_init_rd_atom < 1     ? 1
		      : d.max_qp_init_rd_atom > 255 ? 255
						    : (unsigned)d.max_qp_init_rd_atom;
	out->rd_in = d.max_qp_rd_atom < 1 ? 1 : d.max_qp_rd_atom > 255 ? 255 : (unsigned)d.max_qp_rd_atom;
	out->wr_max = d.max_qp_wr < 16 ? 16 : (unsigned)d.max_qp_wr;
	return true;
}

/* True when rdma_cm finds a device with an active port behind that address. */
static bool
has_device(struct rdma_event_channel *ch, struct sockaddr *at)
{
	struct rdma_cm_id *id;
	if (rdma_create_id(ch, &id, NULL, RDMA_PS_TCP) != 0)
		return false;
	bool good = rdma_bind_addr(id, at) == 0 && id->verbs != NULL;
	struct ibv_port_attr port;
	if (good)
		good = ibv_query_port(id->verbs, id->port_num, &port) == 0 && port.state == IBV_PORT_ACTIVE;
	rdma_destroy_id(id);
	return good;
}

nam_status
net_rdma_address(const char *host, char out[48], struct nam_err *err)
{
	struct rdma_event_channel *ch = net_rdma_channel();
	if (ch == NULL)
		return nam_fail(
		    err, NAM_UNSUPPORTED, "no RDMA devices here (%s); see namdb doctor", strerror(errno));
	struct ifaddrs *list = NULL;
	bool found = false;
	if (getifaddrs(&list) == 0) {
		for (struct ifaddrs *a = list; a != NULL && !found; a = a->ifa_next) {
			if (a->ifa_addr == NULL || (a->ifa_flags & IFF_LOOPBACK) || !(a->ifa_flags & IFF_UP))
				continue;
			int family = a->ifa_addr->sa_family;
			if (family != AF_INET && family != AF_INET6)
				continue;
			socklen_t len =
			    family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
			char text[NI_MAXHOST];
			if (getnameinfo(a->ifa_addr, len, text, sizeof text, NULL, 0, NI_NUMERICHOST) != 0 ||
			    strlen(text) >= 48 || (host != NULL && strcmp(host, text) != 0))
				continue;
			if (has_device(ch, a->ifa_addr)) {
				snprintf(out, 48, "%.47s", text);
				found = true;
			}
		}
		freeifaddrs(list);
	}
	rdma_destroy_event_channel(ch);
	if (found)
		return NAM_OK;
	if (host != NULL)
		return nam_fail(err, NAM_UNSUPPORTED,
		    "%s is no address of an RDMA device with an active port here; see namdb doctor", host);
	return nam_fail(
	    err, NAM_UNSUPPORTED, "no address here leads to an active RDMA port; see namdb doctor");
}

struct rdma_event_channel *
net_rdma_channel(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	if (ch == NULL)
		return NULL;
	int flags = fcntl(ch->fd, F_GETFL);
	if (flags < 0 || fcntl(ch->fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
	    fcntl(ch->fd, F_SETFD, FD_CLOEXEC) != 0) {
		rdma_destroy_event_channel(ch);
		return NULL;
	}
	return ch;
}

nam_status
net_rdma_expect(struct rdma_event_channel *ch, enum rdma_cm_event_type want, uint64_t deadline_ns,
    const char *name, struct rdma_cm_event **out, struct nam_err *err)
{
	struct rdma_cm_event *e;
	while (rdma_get_cm_event(ch, &e) != 0) {
		if (errno != EAGAIN && errno != EINTR)
			return nam_fail(err, NAM_GONE, "%s: no RDMA connection: %s", name, strerror(errno));
		uint64_t now = nam_clock_ns();
		if (now >= deadline_ns)
			return nam_fail(err, NAM_GONE, "%s does not answer over RDMA in time", name);
		struct pollfd p = { .fd = ch->fd, .events = POLLIN };
		uint64_t ms = (deadline_ns - now) / 1000000 + 1;
		poll(&p, 1, ms > 60000 ? 60000 : (int)ms);
	}
	if (e->event == want) {
		*out = e;
		return NAM_OK;
	}
	nam_status st = nam_fail(
	    err, NAM_GONE, "%s: no RDMA connection: %s (%d)", name, rdma_event_str(e->event), e->status);
	rdma_ack_cm_event(e);
	return st;
}

nam_status
net_rdma_resolve(struct rdma_event_channel *ch, struct rdma_cm_id *id, const char *from, const char *host,
    const char *port, uint64_t deadline_ns, const char *name, struct nam_err *err)
{
	struct rdma_addrinfo hint = { .ai_port_space = RDMA_PS_TCP,
		.ai_flags = RAI_NUMERICHOST | RAI_NOROUTE };
	struct rdma_addrinfo *to = NULL, *at = NULL;
	struct rdma_cm_event *e;
	uint64_t now = nam_clock_ns();
	int ms = deadline_ns > now ? (int)((deadline_ns - now) / 1000000 + 1) : 1;
	nam_status st = NAM_OK;
	if (rdma_getaddrinfo(host, port, &hint, &to) != 0)
		return nam_fail(err, NAM_GONE, "%s: cannot understand its RDMA address %s", name, host);
	hint.ai_flags |= RAI_PASSIVE;
	if (from != NULL && rdma_getaddrinfo(from, NULL, &hint, &at) != 0)
		st = nam_fail(err, NAM_INVALID, "cannot understand the RDMA address %s", from);
	if (st == NAM_OK &&
	    rdma_resolve_addr(id, at != NULL ? at->ai_src_addr : NULL, to->ai_dst_addr, ms) != 0)
		st = nam_fail(
		    err, NAM_GONE, "%s: no way to %s by an RDMA device: %s", name, host, strerror(errno));
	if (st == NAM_OK &&
	    (st = net_rdma_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED, deadline_ns, name, &e, err)) == NAM_OK) {
		rdma_ack_cm_event(e);
		if (rdma_resolve_route(id, ms) != 0)
			st = nam_fail(err, NAM_GONE, "%s: no route to %s: %s", name, host, strerror(errno));
		else if ((st = net_rdma_expect(
			      ch, RDMA_CM_EVENT_ROUTE_RESOLVED, deadline_ns, name, &e, err)) == NAM_OK)
			rdma_ack_cm_event(e);
	}
	rdma_freeaddrinfo(to);
	if (at != NULL)
		rdma_freeaddrinfo(at);
	return st;
}

void
net_rdma_patience(struct rdma_cm_id *id)
{
	uint8_t timeout = NET_RDMA_ACK_TIMEOUT;
	/* Devices without the option keep their default; a vanished peer then takes longer to be noticed. */
	(void)rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout);
}
