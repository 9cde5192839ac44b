/* link.c -- one turn of serving: requests out of a ring, handlers, answers into the other ring
 * (link.h). */
#include <base/assert.h>
#include <net/ring/link.h>
#include <net/ring/pool.h>

#include <string.h>

enum {
	TURN = 32,          /* requests of one link before the others have their turn */
	ODD_NS = 500000000, /* a message may look unsound while it is under way, but not for so
			     * long */
};

nam_status
net_echo(void *arg, struct net_request *rq)
{
	(void)arg;
	if (rq->len > rq->answer_max)
		return NAM_FULL;
	memcpy(rq->answer, rq->bytes, rq->len);
	rq->answer_len = rq->len;
	return NAM_OK;
}

nam_status
net_reset_asked(uint64_t incarnation, const struct net_request *rq)
{
	uint64_t asked;
	if (rq->len != sizeof asked)
		return NAM_INVALID;
	memcpy(&asked, rq->bytes, sizeof asked);
	/* Else a process that has looked long ago would end the cluster that came behind. */
	return asked == incarnation ? NAM_OK : NAM_REFUSED;
}

bool
net_link_sound(const struct net_ring_hello *h)
{
	return h->magic == NET_RING_MAGIC && net_pool_sound(&h->want) && h->service <= UINT16_MAX;
}

/* The client has its place in that bell, if it can be roused by one. */
static bool
roused_by(struct net_link *l, struct net_bell *bell)
{
	if (bell == NULL || l->rouses < 0)
		return false;
	if (l->bell != bell)
		net_link_forget(l);
	l->bell = bell;
	return true;
}

static void
tell(struct net_link *l, struct net_bell *bell, const struct net_request *rq)
{
	bool can = roused_by(l, bell);
	if (can && rq->tell != 0)
		net_bell_tell(bell, &l->sleeper, l->rouses, rq->tell);
	if (can && rq->caller != NULL)
		net_bell_note(bell, &l->sleeper, l->rouses);
	if (rq->caller != NULL)
		__atomic_store_n(rq->caller, can ? l->sleeper : NULL, __ATOMIC_RELAXED);
}

void
net_link_forget(struct net_link *l)
{
	if (l->sleeper != NULL)
		net_bell_forget(l->bell, l->sleeper);
	l->bell = NULL;
	l->sleeper = NULL;
}

static nam_status
handle(struct net_link *l, const struct net_ring_message *m, struct net_desk *desk, uint32_t *answer_len)
{
	unsigned id = (unsigned)(m->about >> 32);
	uint32_t cap = (uint32_t)m->about;
	if (cap > net_ring_payload_max(l->out.bytes))
		return NAM_INVALID;
	for (unsigned i = 0; i < l->services; i++) {
		const struct net_service *s = &l->service[i];
		if (s->id != id || id % l->shards != l->shard)
			continue;
		struct net_request rq = {
			.service = id,
			.len = m->len,
			.bytes = desk->request,
			.answer = desk->answer,
			.answer_max = cap,
		};
		nam_status st = s->fn(s->arg, &rq);
		NAM_ASSERT(rq.answer_len <= cap); /* the handler wrote where it must not */
		*answer_len = rq.answer_len;
		if (rq.tell != 0 || rq.caller != NULL)
			tell(l, s->bell, &rq);
		return (unsigned)st < NAM_STATUS_COUNT && st != NAM_GONE ? st : NAM_IO;
	}
	return NAM_UNSUPPORTED;
}

bool
net_link_idle(const struct net_service *service, unsigned services, unsigned shard, unsigned shards)
{
	bool did = false;
	for (unsigned i = 0; i < services; i++)
		if (service[i].idle != NULL && service[i].id % shards == shard)
			did |= service[i].idle(service[i].arg);
	return did;
}

enum net_link_sight
net_link_turn(struct net_link *l, struct net_desk *desk, uint64_t now_ns)
{
	/* Adjacent answers are one WRITE. */
	struct net_ring_run all = { 0, 0 };
	bool announce = false;
	enum net_link_sight sight = NET_LINK_NOTHING;
	for (unsigned i = 0; i < TURN; i++) {
		struct net_ring_message m;
		enum net_ring_sight s =
		    net_ring_take(&l->in, desk->request, net_ring_payload_max(l->in.bytes), &m);
		if (s == NET_RING_NOTHING) {
			l->odd_since_ns = 0;
			break;
		}
		if (s != NET_RING_WHOLE) {
			sight = sight == NET_LINK_NOTHING ? NET_LINK_UNDER_WAY : sight;
			if (s == NET_RING_PART)
				l->odd_since_ns = 0;
			else if (l->odd_since_ns == 0)
				l->odd_since_ns = now_ns;
			else if (now_ns - l->odd_since_ns > ODD_NS)
				return NET_LINK_RUBBISH;
			break;
		}
		l->odd_since_ns = 0;
		sight = NET_LINK_SERVED;
		l->served++;
		l->polled = !(m.flags & NET_RING_EVENT);
		uint32_t len = 0;
		nam_status st = handle(l, &m, desk, &len);
		struct net_ring_run run[2];
		unsigned n = net_ring_put(&l->out, 0, (uint64_t)st, desk->answer, len, run);
		for (unsigned k = 0; k < n; k++) {
			if (all.len != 0 && all.at + all.len == run[k].at) {
				all.len += run[k].len;
				continue;
			}
			if (all.len != 0)
				l->write(l, all, false);
			all = run[k];
		}
		announce |= !l->polled;
	}
	if (all.len != 0)
		l->write(l, all, announce);
	return sight;
}
