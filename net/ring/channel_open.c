/* channel_open.c -- opens rings over a connection of role RINGS: mapped, or as a stream
 * (channel.h). */
#include <net/exec.h>
#include <net/handshake.h>
#include <net/local.h>
#include <net/remote_internal.h>
#include <net/ring/channel.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* ---- mapped ------------------------------------------------------------------------ */

/* Empties the connection of bells. False: it has ended. */
static bool
mapped_pull(struct net_channel *ch, const char **why)
{
	char bells[64];
	if (ch->mode == NET_POLLING && net_now_ns(ch->ep->w) - ch->ep->w->call_news_ns < 1000000)
		return true; /* no system call while answers come by themselves */
	for (;;) {
		ssize_t n = recv(ch->fd, bells, sizeof bells, MSG_DONTWAIT);
		if (n == (ssize_t)sizeof bells)
			continue;
		if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
			return true;
		*why = "the connection was closed";
		return false;
	}
}

static void
mapped_bell(struct net_channel *ch)
{
	/* If the socket is full of bells that the shard has not read yet, it does not need one
	 * more. */
	ssize_t n = send(ch->fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	(void)n; /* pull reports a broken connection */
}

static const struct net_channel_ops mapped_ops = { .pull = mapped_pull, .bell = mapped_bell };

/* ---- a stream ------------------------------------------------------------------------ */

/* Puts the bytes in rx into the ring where their frame says. */
static bool
deliver(struct net_channel *ch, const char **why)
{
	for (;;) {
		uint32_t have = ch->rx_len - ch->rx_pos;
		const char *at = ch->rx + ch->rx_pos;
		if (ch->frame.len == 0) {
			if (have < sizeof ch->frame)
				break;
			memcpy(&ch->frame, at, sizeof ch->frame);
			ch->rx_pos += sizeof ch->frame;
			uint64_t end = (uint64_t)ch->frame.at + ch->frame.len;
			if (ch->frame.len == 0 || ((ch->frame.at | ch->frame.len) & 7) != 0 ||
			    end > ch->in.bytes) {
				*why = "it sends what is no frame";
				return false;
			}
			continue;
		}
		uint32_t n = (have < ch->frame.len ? have : ch->frame.len) & ~7u;
		if (n == 0)
			break;
		net_copy_in(ch->in.ring + ch->frame.at, at, n);
		ch->rx_pos += n;
		ch->frame.at += n;
		ch->frame.len -= n;
	}
	memmove(ch->rx, ch->rx + ch->rx_pos, ch->rx_len - ch->rx_pos);
	ch->rx_len -= ch->rx_pos;
	ch->rx_pos = 0;
	return true;
}

static bool
stream_pull(struct net_channel *ch, const char **why)
{
	for (;;) {
		size_t room = sizeof ch->rx - ch->rx_len;
		ssize_t n = recv(ch->fd, ch->rx + ch->rx_len, room, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (n <= 0) {
			*why = "the connection was closed";
			return false;
		}
		ch->rx_len += (uint32_t)n;
		if (!deliver(ch, why))
			return false;
		if ((size_t)n < room)
			return true;
	}
}

static const struct net_channel_ops stream_ops = { .pull = stream_pull, .fd_pulls = true };

/* ---- opening --------------------------------------------------------------------------- */

/* Judges the ring addresses that the node has sent. */
nam_status
net_channel_ask(struct net_channel *ch, enum net_ring_way way, unsigned service, uint32_t rkey,
    uint64_t until, struct nam_err *err)
{
	struct net_ring_offer is, *offer = &is;
	const struct net_node *node = ch->ep->node;
	const char *name = node->info.name;
	struct net_ring_hello hello = { .magic = NET_RING_MAGIC,
		.way = way,
		.service = service,
		.request_bytes = ch->out.bytes,
		.response_bytes = ch->in.bytes,
		.address = way == NET_RING_VERBS ? (uintptr_t)ch->in.ring : 0,
		.rkey = rkey };
	nam_status st = net_exchange(ch->fd, &hello, sizeof hello, offer, sizeof *offer, name, until, err);
	if (st != NAM_OK)
		return st;
	if (offer->magic == NET_RING_MAGIC && offer->status == NAM_FULL)
		return nam_fail(
		    err, NAM_FULL, "%s has no room for more message rings; give it a larger --rings", name);
	if (offer->magic == NET_RING_MAGIC && offer->status == NAM_UNSUPPORTED)
		return nam_fail(err, NAM_UNSUPPORTED, "%s does not host services", name);
	bool sound = offer->magic == NET_RING_MAGIC && offer->status == NAM_OK && offer->shards != 0 &&
		     offer->shard == service % offer->shards && (offer->request & 7) == 0 &&
		     offer->request <= ch->ep->size && ch->out.bytes <= ch->ep->size - offer->request;
	if (sound && way == NET_RING_MAPPED)
		sound = (offer->response & 7) == 0 && offer->response <= ch->ep->size &&
			ch->in.bytes <= ch->ep->size - offer->response;
	if (!sound)
		return nam_fail(err, NAM_REFUSED, "%s offers rings that make no sense", name);
	if (way == NET_RING_MAPPED)
		ch->in.ring = ch->ep->base + offer->response;
	ch->shard = offer->shard;
	ch->shards = offer->shards;
	ch->number = offer->number;
	ch->ring = net_at(node->info.region, offer->request);
	ch->out.seed = ch->in.seed = offer->seed;
	return NAM_OK;
}

nam_status
net_channel_open_mapped(struct net_channel *ch, unsigned service, uint64_t until, struct nam_err *err)
{
	struct net_node *node = ch->ep->node;
	const struct net_local *local = node->priv;
	struct net_grant grant;
	nam_status st = NAM_OK;
	if (local == NULL)
		st = net_remote_connect(node, NET_ROLE_RINGS, &ch->fd, &grant, err);
	else if (local->rings == NULL || (ch->fd = local->rings(local->rings_arg)) < 0)
		st = nam_fail(err, NAM_UNSUPPORTED, "%s does not host services", node->info.name);
	if (st == NAM_OK)
		st = net_channel_ask(ch, NET_RING_MAPPED, service, 0, until, err);
	ch->ops = &mapped_ops;
	return st;
}

nam_status
net_channel_open_stream(struct net_channel *ch, unsigned service, uint64_t until, struct nam_err *err)
{
	struct net_grant grant;
	ch->in.ring = calloc(1, ch->in.bytes);
	ch->in_ours = true;
	if (ch->in.ring == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a channel");
	nam_status st = net_remote_connect(ch->ep->node, NET_ROLE_RINGS, &ch->fd, &grant, err);
	if (st == NAM_OK)
		st = net_channel_ask(ch, NET_RING_STREAM, service, 0, until, err);
	ch->ops = &stream_ops;
	return st;
}
