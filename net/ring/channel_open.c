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

enum { HEAR_NS = 1000000 };

/* ---- mapped ------------------------------------------------------------------------ */

/* While answers come by themselves the connection is looked at once in a millisecond, and when a
 * worker that sleeps has been roused by it. */
static bool
heard_lately(struct net_channel *ch)
{
	uint64_t now = net_now_ns(ch->ep->w);
	if (ch->has && now - ch->ep->w->call_news_ns < HEAR_NS && now - ch->heard_ns < HEAR_NS)
		return true;
	ch->heard_ns = now;
	return false;
}

/* Takes bells and words. False: the connection has ended, or what came makes no sense. */
static bool
take_words(struct net_channel *ch, const char **why)
{
	struct net_ring_offer offer;
	while (ch->rx_pos < ch->rx_len) {
		char word = ch->rx[ch->rx_pos];
		if (word == NET_RING_OFFER && ch->rx_len - ch->rx_pos < 1 + sizeof offer)
			break;
		ch->rx_pos++;
		if (word == NET_RING_BELL) {
			ch->ep->w->bells++;
			continue;
		}
		if (word == NET_RING_WANTED) {
			net_channel_wanted(ch);
			continue;
		}
		memcpy(&offer, ch->rx + ch->rx_pos, sizeof offer);
		ch->rx_pos += sizeof offer;
		if (word != NET_RING_OFFER || !net_channel_offered(ch, &offer)) {
			*why = "it offers rings that make no sense";
			return false;
		}
	}
	memmove(ch->rx, ch->rx + ch->rx_pos, ch->rx_len - ch->rx_pos);
	ch->rx_len -= ch->rx_pos;
	ch->rx_pos = 0;
	return true;
}

/* Takes what has come on the connection; `take` uses it. */
static bool
pull(struct net_channel *ch, bool (*take)(struct net_channel *, const char **), const char **why)
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
		if (!take(ch, why))
			return false;
		if ((size_t)n < room)
			return true;
	}
}

static bool
mapped_pull(struct net_channel *ch, const char **why)
{
	return heard_lately(ch) || pull(ch, take_words, why);
}

/* A word for the shard. It has room: the connection carries few others. */
static bool
tell_node(struct net_channel *ch, enum net_ring_word word, const struct net_ring_want *want)
{
	char bytes[1 + sizeof *want] = { (char)word };
	size_t len = 1;
	if (word == NET_RING_WANT) {
		memcpy(bytes + 1, want, sizeof *want);
		len = sizeof bytes;
	}
	return send(ch->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len;
}

static void
mapped_bell(struct net_channel *ch)
{
	/* If the socket is full of bells that the shard has not read yet, it does not need one
	 * more. */
	ssize_t n = send(ch->fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	(void)n; /* pull reports a broken connection */
}

static const struct net_channel_ops mapped_ops = {
	.pull = mapped_pull, .bell = mapped_bell, .tell = tell_node
};

/* ---- a stream ------------------------------------------------------------------------ */

/* A frame of length 0 is a word; `have` bytes have come behind it. False: it makes no sense. */
static bool
hear_frame(struct net_channel *ch, const char *behind, size_t have, const char **why)
{
	struct net_ring_offer offer;
	if (ch->frame.at == NET_RING_WANTED) {
		net_channel_wanted(ch);
		ch->rx_pos += sizeof ch->frame;
		return true;
	}
	if (ch->frame.at == NET_RING_OFFER && have < sizeof offer)
		return true;
	memcpy(&offer, behind, ch->frame.at == NET_RING_OFFER ? sizeof offer : 0);
	if (ch->frame.at != NET_RING_OFFER || !net_channel_offered(ch, &offer)) {
		*why = "it sends what is no frame";
		return false;
	}
	ch->rx_pos += sizeof ch->frame + sizeof offer;
	return true;
}

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
			if (ch->frame.len == 0) {
				if (!hear_frame(ch, at + sizeof ch->frame, have - sizeof ch->frame, why))
					return false;
				if (ch->rx_len - ch->rx_pos == have)
					break; /* an offer that has come in part */
				continue;
			}
			ch->rx_pos += sizeof ch->frame;
			uint64_t end = (uint64_t)ch->frame.at + ch->frame.len;
			if (((ch->frame.at | ch->frame.len) & 7) != 0 || end > ch->in.bytes) {
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
	return pull(ch, deliver, why);
}

static const struct net_channel_ops stream_ops = { .pull = stream_pull, .tell = tell_node, .fd_pulls = true };

bool
net_channel_hear(struct net_channel *ch, const char **why)
{
	return heard_lately(ch) || pull(ch, deliver, why);
}

bool
net_channel_tell(struct net_channel *ch, enum net_ring_word word, const struct net_ring_want *want)
{
	return tell_node(ch, word, want);
}

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
		.want = net_channel_wants(ch),
		.address = way == NET_RING_VERBS ? (uintptr_t)ch->in.ring : 0,
		.rkey = rkey };
	if (way == NET_RING_VERBS)
		hello.want.response_least = hello.want.response_most;
	nam_status st = net_exchange(ch->fd, &hello, sizeof hello, offer, sizeof *offer, name, until, err);
	if (st != NAM_OK)
		return st;
	if (offer->magic == NET_RING_MAGIC && offer->status == NAM_UNSUPPORTED)
		return nam_fail(err, NAM_UNSUPPORTED, "%s does not host services", name);
	if (offer->magic == NET_RING_MAGIC && offer->status == NAM_NOMEM)
		return nam_fail(
		    err, NAM_CROWDED, "%s has no memory for a further client of its services", name);
	ch->mapped = way == NET_RING_MAPPED;
	if (offer->shards == 0 || offer->shard != service % offer->shards || !net_channel_offered(ch, offer))
		return nam_fail(err, NAM_REFUSED, "%s offers rings that make no sense", name);
	ch->shard = offer->shard;
	ch->shards = offer->shards;
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
		st = net_remote_connect_near(node, NET_ROLE_RINGS, &ch->fd, &grant, err);
	else if (local->rings == NULL || (ch->fd = local->rings(local->rings_arg)) < 0)
		st = nam_fail(err, NAM_UNSUPPORTED, "%s does not host services", node->info.name);
	if (st == NAM_OK)
		st = net_channel_ask(ch, NET_RING_MAPPED, service, 0, until, err);
	ch->local = st == NAM_OK && net_is_unix(ch->fd);
	ch->ops = &mapped_ops;
	return st;
}

nam_status
net_channel_open_stream(struct net_channel *ch, unsigned service, uint64_t until, struct nam_err *err)
{
	struct net_grant grant;
	ch->in.ring = calloc(1, ch->in_most);
	ch->in_ours = true;
	if (ch->in.ring == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a channel");
	nam_status st = net_remote_connect(ch->ep->node, NET_ROLE_RINGS, &ch->fd, &grant, err);
	if (st == NAM_OK)
		st = net_channel_ask(ch, NET_RING_STREAM, service, 0, until, err);
	ch->ops = &stream_ops;
	return st;
}
