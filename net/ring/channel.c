/* channel.c -- calls: out of a worker's queue into a request ring, and their answers out of the
 * response ring. */
#include <base/assert.h>
#include <base/core.h>
#include <base/fault.h>
#include <base/log.h>
#include <net/ring/channel.h>
#include <net/ring/pool.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	RING_BYTES = 64 << 10,
	PARTS_LEAST = 16,     /* so many rings fit a node's memory for them, if they are large */
	SPIN_NS = 50000,      /* polling: look without sleeping for so long after the last news,
			       * ... */
	NAP_NS_MIN = 10000,   /* ... then sleep so long, ... */
	NAP_NS_MAX = 1000000, /* ... and longer, up to this */
	ODD_NS = 500000000,   /* an answer may look unsound while it is under way, but not for so
			       * long */
	TIMEOUT_MS = 12000,
	ROUNDS_PER_HEAR = 1024, /* busy: listen to idle channels every so many rounds */
};
/* How long calls wait for rings: longer than it takes to fence a process that is stopped with
 * some. */
#define WAIT_NS UINT64_C(8000000000)

/* ---- the end of calls and channels --------------------------------------------- */

static void
call_over(struct net_call *c, nam_status st)
{
	c->status = st;
	c->over = true;
	if (c->waiter != NULL)
		nam_co_wake(c->waiter);
}

static struct net_call *
pop(struct net_call **first, struct net_call ***end)
{
	struct net_call *c = *first;
	if ((*first = c->next) == NULL)
		*end = first;
	return c;
}

static int
channel_break(struct net_channel *ch, const char *why)
{
	struct net_worker *w = ch->ep->w;
	int ended = 0;
	if (!ch->broken && why != NULL && !net_node_lost(ch->ep->node))
		nam_log(NAM_LOG_WARN, "the rings to storage node %u (%s) are given up: %s",
		    ch->ep->node->info.region, ch->ep->node->info.name, why);
	ch->broken = true;
	while (ch->out_first != NULL) {
		struct net_call *c = pop(&ch->out_first, &ch->out_end);
		w->calls_out--;
		call_over(c, NAM_GONE);
		ended++;
	}
	for (; ch->queue != NULL; ended++)
		call_over(pop(&ch->queue, &ch->queue_end), NAM_GONE);
	return ended;
}

/* True if nothing of the channel is under way. */
static bool
quiet(const struct net_channel *ch)
{
	bool busy = ch->out_first != NULL;
	for (unsigned i = 0; i < NET_CHANNEL_BATCHES; i++)
		busy |= ch->batch[i].busy;
	return !busy;
}

static void
channel_free(const struct net_worker *w, struct net_channel *ch)
{
	/* Rings of a client that goes without a word would rest. */
	if (!w->net->forked && ch->has && !ch->broken && quiet(ch))
		ch->ops->tell(ch, NET_RING_GIVE, NULL);
	if (ch->ops != NULL && ch->ops->close != NULL && !w->net->forked)
		ch->ops->close(ch);
	if (ch->fd >= 0)
		close(ch->fd);
	if (ch->in_ours)
		free(ch->in.ring);
	free(ch->out.mirror);
	free(ch);
}

/* Frees a broken channel when no WRITE can read its mirror any more. */
static void
bury(struct net_worker *w)
{
	for (struct net_channel **p = &w->channels; *p != NULL;) {
		struct net_channel *ch = *p;
		if (!ch->broken || ch->queue != NULL || !quiet(ch)) {
			p = &ch->next;
			continue;
		}
		*p = ch->next;
		w->channel_count--;
		channel_free(w, ch);
	}
}

void
net_channels_close(struct net_worker *w)
{
	while (w->channels != NULL) {
		struct net_channel *ch = w->channels;
		NAM_ASSERT(ch->out_first == NULL); /* a coroutine would wait for ever */
		w->channels = ch->next;
		channel_free(w, ch);
	}
}

/* ---- opening ---------------------------------------------------------------------- */

/* The channel of a service, NULL = none yet. The newest is first, so a broken one is found only
 * before its successor is open. */
static struct net_channel *
find(struct net_worker *w, unsigned region, unsigned service)
{
	for (struct net_channel *ch = w->channels; ch != NULL; ch = ch->next)
		if (ch->ep->node->info.region == region && service % ch->shards == ch->shard)
			return ch;
	return NULL;
}

static nam_status
judge(const struct net_call_config *cfg, struct nam_err *err)
{
	const uint32_t size[] = { cfg->request_bytes, cfg->response_bytes };
	for (unsigned i = 0; i < 2; i++)
		if (size[i] != 0 &&
		    (size[i] < NET_RING_MIN || size[i] > NET_RING_MAX || (size[i] & (size[i] - 1)) != 0))
			return nam_fail(err, NAM_INVALID,
			    "a ring of %u bytes: give a power of two from %d to %d", size[i], NET_RING_MIN,
			    NET_RING_MAX);
	return NAM_OK;
}

static void
drop(struct net_worker *w, struct net_channel **p)
{
	struct net_channel *ch = *p;
	*p = ch->next;
	w->channel_count--;
	channel_free(w, ch);
}

/* Ends the channel that has been idle for longest, to make room for another. False: none is idle.
 * */
static bool
drop_idle(struct net_worker *w)
{
	struct net_channel **oldest = NULL;
	for (struct net_channel **p = &w->channels; *p != NULL; p = &(*p)->next)
		if ((*p)->queue == NULL && quiet(*p) &&
		    (oldest == NULL || (*p)->progress_ns < (*oldest)->progress_ns))
			oldest = p;
	if (oldest == NULL)
		return false;
	drop(w, oldest);
	return true;
}

static nam_status
open_channel(struct net_worker *w, struct net_endpoint *ep, unsigned service,
    const struct net_call_config *cfg, struct nam_err *err)
{
	struct net_node *node = ep->node;
	if (ep->p->channel == NULL)
		return nam_fail(
		    err, NAM_UNSUPPORTED, "%s: this fabric has no message rings", node->info.name);
	if (net_node_lost(node))
		return nam_fail(
		    err, NAM_GONE, "storage node %u (%s) is gone", node->info.region, node->info.name);
	bury(w);
	if (w->channel_count == NET_CHANNELS && !drop_idle(w))
		return nam_fail(
		    err, NAM_CROWDED, "this worker calls %d services at once already", NET_CHANNELS);
	struct net_channel *ch = calloc(1, sizeof *ch);
	if (ch == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a channel");
	ch->ep = ep;
	ch->fd = -1;
	ch->mode = cfg->mode;
	ch->tell = true;
	ch->queue_end = &ch->queue;
	ch->out_end = &ch->out_first;
	ch->out_most = cfg->request_bytes != 0 ? cfg->request_bytes : RING_BYTES;
	ch->in_most = cfg->response_bytes != 0 ? cfg->response_bytes : RING_BYTES;
	ch->asked = true;
	uint32_t connect_ms = w->net->connect_ms, timeout_ms = cfg->timeout_ms;
	if (timeout_ms == 0)
		timeout_ms = connect_ms != 0 ? 4 * connect_ms : TIMEOUT_MS;
	ch->timeout_ns = (uint64_t)timeout_ms * 1000000;
	ch->out.mirror = calloc(1, ch->out_most);
	nam_status st = NAM_OK;
	if (ch->out.mirror == NULL)
		st = nam_fail(err, NAM_NOMEM, "no memory for a channel");
	if (st == NAM_OK)
		st = ep->p->channel(ch, service, net_now_ns(w) + (uint64_t)connect_ms * 1000000, err);
	if (st != NAM_OK) {
		channel_free(w, ch);
		return st;
	}
	for (unsigned i = 0; i < NET_CHANNEL_BATCHES; i++) {
		struct net_channel_batch *b = &ch->batch[i];
		net_batch_init(&b->b, w, b->op, sizeof b->op / sizeof *b->op, NULL);
		b->b.tag = ch;
	}
	if (w->channels == NULL) {
		net_worker_off_idle(w, net_channels_send, w);
		net_worker_on_idle(w, net_channels_send, w);
	}
	ch->next = w->channels;
	w->channels = ch;
	w->channel_count++;
	return NAM_OK;
}

nam_status
net_call_open(struct net_worker *w, unsigned region, unsigned service, const struct net_call_config *cfg,
    struct nam_err *err)
{
	static const struct net_call_config plain;
	struct net_endpoint *ep = region < NET_REGIONS ? w->ep[region] : NULL;
	if (ep == NULL)
		return nam_fail(err, NAM_INVALID, "there is no storage node %u", region);
	if (service > UINT16_MAX)
		return nam_fail(err, NAM_INVALID, "there is no service %u; ids are 1..65535", service);
	if (cfg == NULL)
		cfg = &plain;
	struct net_channel *ch = find(w, region, service);
	if (ch != NULL && !ch->broken) {
		ch->tell |= ch->mode != cfg->mode;
		ch->mode = cfg->mode;
		return NAM_OK;
	}
	nam_status st = judge(cfg, err);
	return st != NAM_OK ? st : open_channel(w, ep, service, cfg, err);
}

/* ---- rings that come and go ------------------------------------------------------------- */

static uint32_t
ring_for(uint32_t payload)
{
	uint32_t bytes = NET_RING_MIN;
	while (net_ring_payload_max(bytes) < payload)
		bytes *= 2;
	return bytes;
}

struct net_ring_want
net_channel_wants(const struct net_channel *ch)
{
	struct net_ring_want want = { NET_RING_MIN, NET_RING_MIN, ch->out_most, ch->in_most };
	for (const struct net_call *c = ch->queue; c != NULL; c = c->next) {
		uint32_t request = ring_for(c->len), response = ring_for(c->cap);
		want.request_least = request > want.request_least ? request : want.request_least;
		want.response_least = response > want.response_least ? response : want.response_least;
	}
	return want;
}

static bool
is_ring(uint32_t bytes, uint32_t most)
{
	return bytes >= NET_RING_MIN && bytes <= most && (bytes & (bytes - 1)) == 0;
}

bool
net_channel_offered(struct net_channel *ch, const struct net_ring_offer *offer)
{
	const struct net_endpoint *ep = ch->ep;
	if (offer->magic != NET_RING_MAGIC || !ch->asked || ch->has)
		return false;
	if (offer->status == NAM_BUSY)
		return true;
	bool sound = offer->status == NAM_OK && is_ring(offer->request_bytes, ch->out_most) &&
		     is_ring(offer->response_bytes, ch->in_most) && (offer->request & 7) == 0 &&
		     offer->request <= ep->size && offer->request_bytes <= ep->size - offer->request;
	if (sound && ch->mapped)
		sound = (offer->response & 7) == 0 && offer->response <= ep->size &&
			offer->response_bytes <= ep->size - offer->response;
	if (!sound)
		return false;
	char *ring = ch->mapped ? ep->base + offer->response : ch->in.ring;
	ch->ring = net_at(ep->node->info.region, offer->request);
	ch->number = offer->number;
	ch->out = (struct net_ring_out){
		.mirror = ch->out.mirror, .bytes = offer->request_bytes, .seed = offer->seed
	};
	ch->in = (struct net_ring_in){ .ring = ring, .bytes = offer->response_bytes, .seed = offer->seed };
	ch->freed = ch->reserved = 0;
	ch->odd_since_ns = 0;
	ch->want_ns = 0;
	ch->tell = true;
	ch->has = true;
	ch->asked = false;
	ch->progress_ns = net_now_ns(ep->w);
	return true;
}

void
net_channel_wanted(struct net_channel *ch)
{
	ch->wanted = ch->has && !ch->leaving;
}

/* Calls have waited for rings for long: they end, the channel keeps its place in the line. */
static int
wait_over(struct net_channel *ch)
{
	int ended = 0;
	uint64_t most = ch->timeout_ns < WAIT_NS ? ch->timeout_ns : WAIT_NS;
	if (ch->has || ch->want_ns == 0 || net_now_ns(ch->ep->w) - ch->want_ns <= most)
		return 0;
	for (; ch->queue != NULL; ended++)
		call_over(pop(&ch->queue, &ch->queue_end), NAM_CROWDED);
	ch->want_ns = 0;
	return ended;
}

bool
net_call_rouses(struct net_worker *w, unsigned region, unsigned service)
{
	const struct net_channel *ch = find(w, region, service);
	return ch != NULL && !ch->broken && ch->has && ch->mapped && ch->local;
}

bool
net_call_answers(struct net_worker *w, unsigned region, unsigned service, uint32_t response_bytes)
{
	struct net_channel *ch = find(w, region, service);
	const struct net_call_config cfg = { .mode = ch != NULL ? ch->mode : NET_EVENTS,
		.response_bytes = response_bytes != 0 ? response_bytes : RING_BYTES };
	if (ch == NULL || ch->broken || ch->queue != NULL || !quiet(ch) || ch->in_most == cfg.response_bytes)
		return false;
	if (cfg.response_bytes > RING_BYTES &&
	    net_pool_bytes(ch->ep->size, 0) / PARTS_LEAST < cfg.response_bytes)
		return false;
	struct net_endpoint *ep = ch->ep;
	struct net_channel **p = &w->channels;
	while (*p != ch)
		p = &(*p)->next;
	drop(w, p);
	return open_channel(w, ep, service, &cfg, NULL) == NAM_OK;
}

nam_status
net_call_max(struct net_worker *w, unsigned region, unsigned service, uint32_t *request, uint32_t *answer)
{
	const struct net_channel *ch = find(w, region, service);
	if (ch == NULL)
		return NAM_ABSENT;
	*request = net_ring_payload_max(ch->out_most);
	*answer = net_ring_payload_max(ch->in_most);
	return NAM_OK;
}

/* ---- sending ------------------------------------------------------------------------ */

/* A WRITE batch is over. */
static void
sent(struct net_batch *b)
{
	struct net_channel_batch *cb = (struct net_channel_batch *)(void *)b;
	struct net_channel *ch = b->tag;
	cb->busy = false;
	if (b->status != NAM_OK && !ch->broken)
		channel_break(ch, NULL);
}
_Static_assert(offsetof(struct net_channel_batch, b) == 0, "sent() gets from one to the other");

/* Twice: the answer may have to leave as much unused before the ring's end. */
static uint32_t
reserve_for(uint32_t cap)
{
	return 2 * net_ring_whole(cap);
}

/* False: a call longer than these rings take, however empty they are. */
static bool
fits(const struct net_channel *ch, const struct net_call *c)
{
	return c->len <= net_ring_payload_max(ch->out.bytes) && c->cap <= net_ring_payload_max(ch->in.bytes);
}

static bool
has_room(const struct net_channel *ch, const struct net_call *c)
{
	return fits(ch, c) && net_ring_after(&ch->out, c->len) - ch->freed <= ch->out.bytes &&
	       ch->reserved + reserve_for(c->cap) <= ch->in.bytes;
}

/* Puts the first call of the queue into the mirror and its runs into the batch. False: no room for
 * operations. */
static bool
put_first(struct net_channel *ch, struct net_channel_batch *cb)
{
	struct net_worker *w = ch->ep->w;
	struct net_batch *b = &cb->b;
	struct net_call *c = ch->queue;
	if (b->n + 2 > b->cap)
		return false;
	struct net_ring_run run[2];
	bool event = ch->mode == NET_EVENTS;
	uint64_t about = (uint64_t)c->service << 32 | c->cap;
	unsigned n = net_ring_put(&ch->out, event ? NET_RING_EVENT : 0, about, c->request, c->len, run);
	for (unsigned i = 0; i < n; i++) {
		char *from = ch->out.mirror + run[i].at;
		struct net_op *last = b->n != 0 ? &b->op[b->n - 1] : NULL;
		if (last != NULL && (char *)last->buf + last->len == from)
			last->len += run[i].len;
		else
			net_write(b, net_plus(ch->ring, run[i].at), from, run[i].len);
	}
	pop(&ch->queue, &ch->queue_end);
	c->next = NULL;
	c->end = ch->out.pos;
	c->reserve = reserve_for(c->cap);
	ch->reserved += c->reserve;
	*ch->out_end = c;
	ch->out_end = &c->next;
	w->calls_out++;
	return true;
}

void
net_channel_dropped(struct net_channel *ch, const char *why)
{
	channel_break(ch, why);
}

/* Gives the rings back when it is time, and asks for others when calls need them. */
static void
come_and_go(struct net_channel *ch)
{
	if (ch->has && ch->queue != NULL && !fits(ch, ch->queue))
		ch->leaving = true;
	ch->leaving |= ch->wanted;
	ch->wanted = false;
	bool open = true;
	if (ch->leaving && (quiet(ch) || nam_fault(RING_EARLY))) {
		ch->has = ch->leaving = false;
		open = ch->ops->tell(ch, NET_RING_GIVE, NULL);
	}
	if (ch->has || ch->queue == NULL)
		return;
	if (open && !ch->asked) {
		const struct net_ring_want want = net_channel_wants(ch);
		ch->asked = true;
		open = ch->ops->tell(ch, NET_RING_WANT, &want);
	}
	if (ch->want_ns == 0)
		ch->want_ns = net_now_ns(ch->ep->w);
	ch->ep->w->rings_awaited = true;
	if (ch->ops->posted != NULL)
		ch->ops->posted(ch);
	if (!open)
		channel_break(ch, "the connection was closed");
}

static void
channel_send(struct net_channel *ch)
{
	struct net_worker *w = ch->ep->w;
	bool bell = false, may = ch->has && !ch->leaving;
	for (unsigned i = 0; may && i < NET_CHANNEL_BATCHES && ch->queue != NULL && !ch->broken; i++) {
		struct net_channel_batch *cb = &ch->batch[i];
		bool first = ch->out_first == NULL;
		if (cb->busy)
			continue;
		while (ch->queue != NULL && has_room(ch, ch->queue) && put_first(ch, cb))
			;
		if (cb->b.n == 0)
			break;
		uint64_t now = net_now_ns(w);
		if (first)
			ch->progress_ns = now; /* the timeout begins */
		w->call_news_ns = now;
		w->call_nap_ns = 0;
		if (ch->mode == NET_EVENTS || ch->tell) {
			struct net_op *last = &cb->b.op[cb->b.n - 1];
			last->code = NET_WRITE_IMM;
			last->arg = ch->number;
			ch->tell = false;
			bell = true;
		}
		cb->busy = true;
		net_post_then(&cb->b, sent);
		if (ch->ops->posted != NULL)
			ch->ops->posted(ch);
	}
	if (bell && !ch->broken && ch->ops->bell != NULL)
		ch->ops->bell(ch);
	if (!ch->broken)
		come_and_go(ch);
}

void
net_channels_send(void *worker)
{
	struct net_worker *w = worker;
	for (struct net_channel *ch = w->channels; ch != NULL; ch = ch->next)
		if (ch->queue != NULL || ch->wanted || ch->leaving)
			channel_send(ch);
}

void
net_call_start(struct net_worker *w, struct net_call *c)
{
	struct net_channel *ch = find(w, c->region, c->service);
	c->got = 0;
	c->over = false;
	c->waiter = NULL;
	c->next = NULL;
	nam_status st = NAM_OK;
	if (ch == NULL && (st = net_call_open(w, c->region, c->service, NULL, NULL)) == NAM_OK)
		ch = find(w, c->region, c->service);
	if (st == NAM_OK && ch->broken)
		st = NAM_GONE;
	if (st == NAM_OK &&
	    (c->len > net_ring_payload_max(ch->out_most) || c->cap > net_ring_payload_max(ch->in_most)))
		st = NAM_INVALID;
	if (st != NAM_OK) {
		call_over(c, st);
		return;
	}
	*ch->queue_end = c;
	ch->queue_end = &c->next;
}

nam_status
net_call_wait(struct net_call *c)
{
	while (!c->over) {
		c->waiter = nam_co_self();
		NAM_ASSERT(c->waiter != NULL); /* only a coroutine may wait */
		nam_co_park();
	}
	c->waiter = NULL;
	return c->status;
}

nam_status
net_call(struct net_worker *w, unsigned region, unsigned service, const void *request, uint32_t len,
    void *answer, uint32_t cap, uint32_t *got)
{
	struct net_call c = { .region = region,
		.service = service,
		.request = request,
		.len = len,
		.answer = answer,
		.cap = cap };
	net_call_start(w, &c);
	nam_status st = net_call_wait(&c);
	if (got != NULL)
		*got = c.got;
	return st;
}

/* ---- answers -------------------------------------------------------------------------- */

/* Takes the answer to the oldest call. False: it has not come whole. */
static bool
take_answer(struct net_channel *ch, const char **why)
{
	struct net_call *c = ch->out_first;
	struct net_ring_message m;
	enum net_ring_sight s = net_ring_take(&ch->in, c->answer, c->cap, &m);
	uint64_t now = s == NET_RING_NOTHING ? 0 : net_now_ns(ch->ep->w);
	if (s != NET_RING_ODD)
		ch->odd_since_ns = 0;
	else if (ch->odd_since_ns == 0)
		ch->odd_since_ns = now;
	else if (now - ch->odd_since_ns > ODD_NS)
		*why = "what lies in the response ring is no answer";
	if (s != NET_RING_WHOLE)
		return false;
	pop(&ch->out_first, &ch->out_end);
	ch->freed = c->end;
	ch->reserved -= c->reserve;
	ch->progress_ns = now;
	ch->ep->w->calls_out--;
	c->got = m.len;
	call_over(c, m.about < NAM_STATUS_COUNT ? (nam_status)m.about : NAM_IO);
	return true;
}

int
net_channel_look(struct net_channel *ch)
{
	const char *why = NULL;
	int ended = 0;
	bool busy = ch->out_first != NULL || ch->queue != NULL;
	if (ch->broken)
		return 0;
	if (busy && (net_node_lost(ch->ep->node) || ch->ep->broke))
		return channel_break(ch, NULL);
	bool open = ch->ops->pull == NULL || ch->ops->pull(ch, &why);
	/* Answers that came before the end still count. */
	while (ch->out_first != NULL && take_answer(ch, &why))
		ended++;
	if (open && why == NULL && ended == 0 && ch->out_first != NULL &&
	    net_now_ns(ch->ep->w) - ch->progress_ns > ch->timeout_ns)
		why = "no answer";
	if (!open || why != NULL)
		return ended + channel_break(ch, why);
	return ended + wait_over(ch);
}

int
net_channels_look(struct net_worker *w)
{
	int ended = 0;
	bool all = w->rings_news || ++w->rings_rounds % ROUNDS_PER_HEAR == 0;
	if (w->calls_out == 0 && !w->rings_awaited && !all)
		return 0;
	w->rings_news = w->rings_awaited = false;
	for (struct net_channel *ch = w->channels; ch != NULL; ch = ch->next) {
		bool waits = !ch->has && ch->queue != NULL;
		if (ch->out_first == NULL && !waits && !all)
			continue;
		if (all)
			ch->heard_ns = 0;
		ended += net_channel_look(ch);
		w->rings_awaited |= !ch->has && ch->queue != NULL;
	}
	if (ended > 0) {
		w->call_news_ns = net_now_ns(w);
		w->call_nap_ns = 0;
	}
	return ended;
}

bool
net_channels_may_sleep(struct net_worker *w, struct pollfd *fd, nfds_t *n, uint64_t *nap_ns)
{
	bool polls = false;
	for (struct net_channel *ch = w->channels; ch != NULL; ch = ch->next) {
		/* The idle hook has to send, or to give rings back. */
		if (!ch->broken &&
		    (ch->wanted || (ch->leaving && quiet(ch)) || (ch->has && ch->queue != NULL && quiet(ch))))
			return false;
		if (ch->out_first == NULL)
			continue;
		polls |= ch->mode == NET_POLLING && !ch->ops->fd_pulls;
		if (ch->mode == NET_POLLING && net_now_ns(w) - w->call_news_ns < SPIN_NS &&
		    !nam_core_is_wanted(&w->core))
			return false;
	}
	for (struct net_channel *ch = w->channels; ch != NULL; ch = ch->next) {
		if (ch->fd < 0 || ch->broken)
			continue;
		if (ch->out_first == NULL) {
			if (ch->has || ch->queue != NULL)
				fd[(*n)++] = (struct pollfd){ .fd = ch->fd, .events = POLLIN };
			continue;
		}
		fd[(*n)++] = (struct pollfd){ .fd = ch->fd, .events = POLLIN };
		if (ch->ops->arm != NULL)
			fd[(*n)++] = (struct pollfd){ .fd = ch->ops->arm(ch), .events = POLLIN };
		if (ch->ops->arm != NULL && net_channel_look(ch) > 0)
			return false;
	}
	if (polls) {
		w->call_nap_ns = w->call_nap_ns == 0 ? NAP_NS_MIN : 2 * w->call_nap_ns;
		if (w->call_nap_ns > NAP_NS_MAX)
			w->call_nap_ns = NAP_NS_MAX;
		if (*nap_ns > w->call_nap_ns)
			*nap_ns = w->call_nap_ns;
	}
	return true;
}
