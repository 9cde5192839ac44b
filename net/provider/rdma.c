/* rdma.c -- see rdma.h. */
#include <base/clock.h>
#include <net/if.h>
#include <net/provider/rdma.h>

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool
net_rdma_caps(struct ibv_context *ctx, struct net_rdma_caps *out)
{
	struct ibv_device_attr d;
	*out = (struct net_rdma_caps){ 0 };
	int flags = fcntl(ctx->async_fd, F_GETFL);
	if (flags < 0 || fcntl(ctx->async_fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
	    ibv_query_device(ctx, &d) != 0)
		return false;
	snprintf(out->device, sizeof out->device, "%s", ibv_get_device_name(ctx->device));
	bool iwarp = ctx->device->transport_type == IBV_TRANSPORT_IWARP;
	out->atomics = d.atomic_cap != IBV_ATOMIC_NONE;
	out->imm = !iwarp;
	out->early_writes = iwarp;
	/*
	 * Soft-iWARP (Linux 6.1) puts a short answer to a READ into the packet's head. If a page
	 * ends in the middle of it, the device swaps the lengths of the two parts, and sends wrong
	 * bytes.
	 */
	out->page_reads = iwarp;
	/*
	 * Soft-RoCE (this is its vendor's number) sleeps for ever on a fenced request if its READ
	 * completes at the wrong moment (Linux 6.1, seen under load); soft-iWARP refuses some.
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

const char *
net_rdma_news(struct rdma_event_channel *ch, struct ibv_context *ctx, bool *ended, bool *removed)
{
	const char *why = NULL;
	struct rdma_cm_event *e;
	*ended = false;
	while (rdma_get_cm_event(ch, &e) == 0) {
		if (e->event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
			why = "the RDMA device here was removed";
			*removed = true;
		} else if (e->event == RDMA_CM_EVENT_DISCONNECTED && !*removed) {
			why = "it closed the RDMA connection";
		}
		*ended |= e->event == RDMA_CM_EVENT_DEVICE_REMOVAL || e->event == RDMA_CM_EVENT_DISCONNECTED;
		rdma_ack_cm_event(e);
	}
	struct ibv_async_event a;
	/* The device's own news concern every thread of this process; the thread that reads them
	 * logs them for all. */
	while (ibv_get_async_event(ctx, &a) == 0) {
		if (a.event_type == IBV_EVENT_DEVICE_FATAL) {
			why = "the RDMA device here failed (see dmesg)";
			*ended = true;
		} else if (a.event_type == IBV_EVENT_PORT_ERR && why == NULL) {
			why = "the port of the RDMA device here went down; see namdb doctor";
		}
		ibv_ack_async_event(&a);
	}
	return why;
}

static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;
static struct held {
	struct ibv_context *ctx;
	unsigned uses;
	bool removed, watched;
	struct rdma_event_channel *ch; /* the watcher's */
	struct rdma_cm_id *id;
} held[16];

/*
 * librdmacm has the context open and may close it much later, or never. So its descriptors are made
 * to refer to another file: the kernel's end is closed now, and librdmacm later closes only its own
 * descriptors.
 */
static void
cut_off(struct ibv_context *ctx)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (nothing < 0)
		return;
	(void)dup3(nothing, ctx->cmd_fd, O_CLOEXEC);
	(void)dup3(nothing, ctx->async_fd, O_CLOEXEC);
	close(nothing);
}

/* With held_lock. Forgets a device without users and without a watcher. */
static void
settle(struct held *h)
{
	if (h->uses > 0 || h->watched)
		return;
	if (h->removed)
		cut_off(h->ctx);
	*h = (struct held){ 0 };
}

/* Thread of a device's watcher: it sleeps until the device is removed. */
static void *
watch(void *arg)
{
	struct held *h = arg;
	struct rdma_cm_event *e;
	bool removed = false, deaf = false;
	while (!removed && !deaf) {
		struct pollfd p = { .fd = h->ch->fd, .events = POLLIN };
		(void)poll(&p, 1, -1);
		while (rdma_get_cm_event(h->ch, &e) == 0) {
			removed |= e->event == RDMA_CM_EVENT_DEVICE_REMOVAL;
			rdma_ack_cm_event(e);
		}
		deaf = errno != EAGAIN && errno != EINTR;
	}
	rdma_destroy_id(h->id);
	rdma_destroy_event_channel(h->ch);
	pthread_mutex_lock(&held_lock);
	h->removed |= removed;
	h->watched = false;
	settle(h);
	pthread_mutex_unlock(&held_lock);
	return NULL;
}

/* With held_lock. Opens an id of its own on the device of `of`: it hears of the removal whatever
 * happens to the other ids. */
static void
begin_watch(struct held *h, struct rdma_cm_id *of)
{
	struct sockaddr_storage at = { 0 };
	const struct sockaddr *from = rdma_get_local_addr(of);
	bool v6 = from->sa_family == AF_INET6;
	memcpy(&at, from, v6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
	if (v6)
		((struct sockaddr_in6 *)&at)->sin6_port = 0;
	else
		((struct sockaddr_in *)&at)->sin_port = 0;
	if ((h->ch = net_rdma_channel()) == NULL)
		return;
	pthread_t t;
	sigset_t all, before;
	if (rdma_create_id(h->ch, &h->id, h, RDMA_PS_TCP) == 0) {
		if (rdma_bind_addr(h->id, (struct sockaddr *)&at) == 0 && h->id->verbs == h->ctx) {
			sigfillset(&all);
			pthread_sigmask(SIG_SETMASK, &all, &before);
			h->watched = pthread_create(&t, NULL, watch, h) == 0;
			pthread_sigmask(SIG_SETMASK, &before, NULL);
		}
		if (h->watched)
			pthread_detach(t);
		else
			rdma_destroy_id(h->id);
	}
	if (!h->watched)
		rdma_destroy_event_channel(h->ch);
}

void
net_rdma_hold(struct rdma_cm_id *id)
{
	unsigned i = 0, n = sizeof held / sizeof *held;
	pthread_mutex_lock(&held_lock);
	while (i < n && held[i].ctx != id->verbs)
		i++;
	for (unsigned k = 0; i == n && k < n; k++)
		if (held[k].ctx == NULL)
			i = k;
	/* A device for which the table has no room is used like any other; only its removal waits
	 * until this process ends. */
	if (i < n) {
		held[i].ctx = id->verbs;
		held[i].uses++;
		if (!held[i].watched && !held[i].removed)
			begin_watch(&held[i], id);
	}
	pthread_mutex_unlock(&held_lock);
}

void
net_rdma_release(struct ibv_context *ctx, bool removed)
{
	unsigned n = sizeof held / sizeof *held;
	pthread_mutex_lock(&held_lock);
	for (unsigned i = 0; i < n; i++) {
		if (held[i].ctx != ctx)
			continue;
		held[i].uses--;
		held[i].removed |= removed && !held[i].watched; /* the watcher hears of it as
								 * well */
		settle(&held[i]);
		break;
	}
	pthread_mutex_unlock(&held_lock);
}

nam_status
net_rdma_unregistered(
    struct nam_err *err, const char *device, const char *who, uint64_t bytes, const char *else_do)
{
	int why = errno;
	if (why == ENOMEM || why == EPERM)
		return nam_fail(err, NAM_NOMEM,
		    "%s: %s may not lock %llu KiB of memory (%s): raise memlock (ulimit -l unlimited; for a "
		    "service "
		    "LimitMEMLOCK=infinity)%s",
		    who, device, (unsigned long long)(bytes >> 10), strerror(why), else_do);
	return nam_fail(err, NAM_IO, "%s: %s does not register %llu KiB of memory: %s", who, device,
	    (unsigned long long)(bytes >> 10), strerror(why));
}

const char *
net_rdma_failure(enum ibv_wc_status st)
{
	switch (st) {
	case IBV_WC_RETRY_EXC_ERR:
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return "it does not answer over RDMA (retries exceeded): is it running, are both ports up?";
	case IBV_WC_REM_ACCESS_ERR:
	case IBV_WC_REM_INV_REQ_ERR:
		return "its device refuses our access: the memory is not registered there any more";
	case IBV_WC_WR_FLUSH_ERR:
		return "the RDMA connection was closed";
	default:
		return ibv_wc_status_str(st);
	}
}

/* True if rdma_cm finds a device with an active port behind that address. */
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
	nam_status st;
	if (e->event == RDMA_CM_EVENT_REJECTED)
		st = nam_fail(err, NAM_GONE,
		    "%s: no RDMA connection: it refuses this one (%d); its own log says why", name,
		    e->status);
	else if (e->event == RDMA_CM_EVENT_UNREACHABLE)
		st = nam_fail(err, NAM_GONE,
		    "%s: no RDMA connection: no process answers there; is its port up, and UDP port 4791 "
		    "open?",
		    name);
	else
		st = nam_fail(err, NAM_GONE, "%s: no RDMA connection: %s (%s)", name,
		    rdma_event_str(e->event), strerror(e->status < 0 ? -e->status : e->status));
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
	struct nam_err why = { 0 };
	uint64_t now = nam_clock_ns();
	int ms = deadline_ns > now ? (int)((deadline_ns - now) / 1000000 + 1) : 1;
	nam_status st = NAM_OK;
	if (rdma_getaddrinfo(host, port, &hint, &to) != 0)
		return nam_fail(err, NAM_GONE, "%s: cannot understand its RDMA address %s", name, host);
	hint.ai_flags |= RAI_PASSIVE;
	if (from != NULL && rdma_getaddrinfo(from, NULL, &hint, &at) != 0)
		st = nam_fail(&why, NAM_INVALID, "that is no numeric address");
	if (st == NAM_OK &&
	    rdma_resolve_addr(id, at != NULL ? at->ai_src_addr : NULL, to->ai_dst_addr, ms) != 0)
		st = nam_fail(&why, NAM_GONE, "%s", strerror(errno));
	if (st == NAM_OK &&
	    (st = net_rdma_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED, deadline_ns, name, &e, &why)) == NAM_OK) {
		rdma_ack_cm_event(e);
		if (rdma_resolve_route(id, ms) != 0)
			st = nam_fail(&why, NAM_GONE, "no route: %s", strerror(errno));
		else if ((st = net_rdma_expect(
			      ch, RDMA_CM_EVENT_ROUTE_RESOLVED, deadline_ns, name, &e, &why)) == NAM_OK)
			rdma_ack_cm_event(e);
	}
	rdma_freeaddrinfo(to);
	if (at != NULL)
		rdma_freeaddrinfo(at);
	if (st != NAM_OK)
		return nam_fail(err, st, "%s: no RDMA device leads from %s to %s (%.120s); see namdb doctor",
		    name, from != NULL ? from : "here", host, why.text);
	return NAM_OK;
}

void
net_rdma_timeout(struct rdma_cm_id *id)
{
	uint8_t timeout = NET_RDMA_ACK_TIMEOUT;
	/* Devices without the option keep their default; a vanished peer then takes longer to be
	 * noticed. */
	(void)rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout);
}
