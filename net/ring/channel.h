/*
 * channel.h -- the calling end of rings: a worker's channel to one shard of one node. For net's
 * own files only.
 *
 * Requests leave as WRITEs of the worker's endpoint, from a mirror of the request ring. The
 * response ring is
 *
 *   mapped   the client maps the region (shm): also in the region. A bell is a byte on the
 *            connection.
 *   stream   tcp: memory of the client; the connection brings frames (ring_format.h), and pull()
 *            puts them there.
 *   verbs    registered memory of the client that the shard WRITEs.
 *   sim      memory of the client that the simulated node WRITEs.
 *
 * In each case only a seal proves a message.
 *
 * A channel has rings, or waits for some. Without rings it keeps its connection; its next call
 * asks for rings, large enough for the calls that wait. If the node wants its rings for others,
 * the channel sends what has been started so far and fits, waits until these calls are over, and
 * gives the rings back (G4).
 *
 * States of a channel: open -> broken. Broken, every call on it ends with NAM_GONE; its memory
 * stays until the WRITEs that it posted have completed. net_call_open puts a new one in its place.
 */
#ifndef NAM_NET_CHANNEL_H
#define NAM_NET_CHANNEL_H

#include <net/provider.h>
#include <net/ring/ring.h>
#include <net/ring/service.h>

#include <poll.h>

struct net_channel;

struct net_channel_ops {
	/* Takes the bytes that have come. False: the other side ended the connection, or sent
	 * invalid bytes: *why. NULL: answers come by themselves. */
	bool (*pull)(struct net_channel *ch, const char **why);
	/* Rouses the shard after a WRITE. NULL: WRITE_WITH_IMM does it. */
	void (*bell)(struct net_channel *ch);
	/* Before sleeping: returns one more descriptor to sleep on; messages that came before this
	 * call are to be looked for again. May be NULL. */
	int (*arm)(struct net_channel *ch);
	/* After the connection's end. */
	void (*close)(struct net_channel *ch);
	/* Tells the node: GIVE, or WANT with what is wanted. False: the connection has ended. */
	bool (*tell)(struct net_channel *ch, enum net_ring_word word, const struct net_ring_want *want);
	/* Requests were posted, with or without an announcement. May be NULL. */
	void (*posted)(struct net_channel *ch);
	bool fd_pulls; /* every message makes fd readable, announced or not */
};

/* WRITEs that are out, and the memory of their ops. */
struct net_channel_batch {
	struct net_batch b;
	struct net_op op[4];
	bool busy;
};

enum { NET_CHANNEL_BATCHES = 4, NET_CHANNELS = 64 };

struct net_channel {
	struct net_channel *next; /* of the worker */
	struct net_endpoint *ep;
	unsigned shard, shards;
	const struct net_channel_ops *ops;
	int fd; /* the connection of role RINGS, -1 = none, or ended */
	bool broken;
	bool has;                   /* rings */
	bool asked;                 /* the node for rings; an offer comes */
	bool wanted;                /* by the node: it leaves when what has been started is sent */
	bool leaving;               /* sends nothing any more, and gives the rings back */
	bool local;                 /* the connection is a UNIX socket */
	bool mapped;                /* the response ring lies in the region */
	uint64_t heard_ns;          /* when the connection was last looked at */
	uint64_t want_ns;           /* since when calls wait for rings */
	uint32_t out_most, in_most; /* of the rings: what calls may need */
	bool tell; /* the shard does not know this channel's mode yet: announce the next request */
	enum net_mode mode;
	uint64_t progress_ns, timeout_ns, odd_since_ns;
	net_addr ring;
	uint32_t number; /* the immediate of this client */
	struct net_ring_out out;
	uint64_t freed; /* all requests before it were answered */
	struct net_ring_in in;
	bool in_ours;                        /* in.ring is to be freed */
	uint64_t reserved;                   /* of the response ring, for calls out */
	struct net_call *queue, **queue_end; /* calls for which there is no room yet */
	struct net_call *out_first, **out_end;
	struct net_channel_batch batch[NET_CHANNEL_BATCHES];
	/* what has come in part: a word or an offer; STREAM: also a frame, into the ring */
	struct net_ring_frame frame;
	uint32_t rx_pos, rx_len;
	char rx[16 << 10];
	void *priv;
};

/* A fabric's way to open a channel: shakes hands, fills ops, fd, and what the offer holds.
 * ch->out_most and ch->in_most hold the sizes wished for. */
typedef nam_status (*net_channel_open_fn)(
    struct net_channel *ch, unsigned service, uint64_t until, struct nam_err *err);
nam_status net_channel_open_mapped(
    struct net_channel *ch, unsigned service, uint64_t until, struct nam_err *err);
nam_status net_channel_open_stream(
    struct net_channel *ch, unsigned service, uint64_t until, struct nam_err *err);

nam_status net_channel_open_verbs(
    struct net_channel *ch, unsigned service, uint64_t until, struct nam_err *err);
/* Asks for rings on ch->fd; in.ring is there already unless it is mapped. rkey: of in.ring, for
 * VERBS. */
nam_status net_channel_ask(struct net_channel *ch, enum net_ring_way way, unsigned service, uint32_t rkey,
    uint64_t until, struct nam_err *err);

/* What the channel could use, and what its waiting calls need. */
struct net_ring_want net_channel_wants(const struct net_channel *ch);
/* The node offers rings, or a place in the line. False: it makes no sense. */
bool net_channel_offered(struct net_channel *ch, const struct net_ring_offer *offer);
/* Of fabrics whose answers do not come on the connection: takes the words that have come on it,
 * and sends one. False: *why it has ended. */
bool net_channel_hear(struct net_channel *ch, const char **why);
bool net_channel_tell(struct net_channel *ch, enum net_ring_word word, const struct net_ring_want *want);
/* The node has ended the connection. */
void net_channel_dropped(struct net_channel *ch, const char *why);
/* The node wants the rings for others. */
void net_channel_wanted(struct net_channel *ch);

/* Sends the calls started since the last time; an idle hook. */
void net_channels_send(void *worker);
/* Looks for answers, gives up a channel that is over its timeout. Returns how many calls ended. */
int net_channel_look(struct net_channel *ch);
int net_channels_look(struct net_worker *w);
/* Before sleeping. False: do not sleep yet. Else adds descriptors to sleep on, and shortens
 * *nap_ns if none of them will rouse the worker. */
bool net_channels_may_sleep(struct net_worker *w, struct pollfd *fd, nfds_t *n, uint64_t *nap_ns);
/* The worker closes: its endpoints are closed already, and no coroutine waits. */
void net_channels_close(struct net_worker *w);

#endif
