/* pool.c -- the memory of a storage node's message rings (pool.h). */
#include <base/assert.h>
#include <base/fault.h>
#include <net/region_format.h>
#include <net/ring/pool.h>

#include <stdlib.h>

enum {
	REST_NS = 2000000000,
	HOLD_NS = 1000000, /* what has just got rings is not asked for them */
	ASK_NS = 1000000,
	ASK_MAX = 32,   /* members at once */
	SHARES_MIN = 8, /* few members do not get all: a busy one answers late */
};
#define OWNED UINT64_MAX

uint64_t
net_pool_bytes(uint64_t region, uint64_t wished)
{
	uint64_t bytes = wished;
	if (bytes == 0)
		bytes = region / NET_POOL_PART < NET_POOL_MAX ? region / NET_POOL_PART : NET_POOL_MAX;
	if (bytes < NET_POOL_MIN)
		bytes = NET_POOL_MIN;
	return (bytes + NET_EXTENT - 1) / NET_EXTENT * NET_EXTENT;
}

bool
net_pool_open(struct net_pool *p, uint64_t bytes)
{
	*p = (struct net_pool){ .pages = bytes / NET_POOL_PAGE };
	p->end = &p->first;
	p->freed_ns = calloc(p->pages, sizeof *p->freed_ns);
	return p->freed_ns != NULL;
}

void
net_pool_close(struct net_pool *p)
{
	free(p->freed_ns);
	p->freed_ns = NULL;
}

/* ---- pages ------------------------------------------------------------------------------ */

static uint64_t
pages_of(uint32_t bytes)
{
	return (bytes + NET_POOL_PAGE - 1) / NET_POOL_PAGE;
}

/* Offset of so many bytes in a row, NET_POOL_NONE = no room. */
static uint64_t
take_pages(struct net_pool *p, uint32_t bytes, uint64_t now)
{
	uint64_t need = pages_of(bytes), run = 0;
	for (uint64_t i = 0; i < p->pages; i++) {
		uint64_t since = p->freed_ns[i];
		bool free = since == 0 || (since != OWNED && now - since > REST_NS);
		run = free ? run + 1 : 0;
		if (run < need)
			continue;
		for (uint64_t k = i + 1 - need; k <= i; k++)
			p->freed_ns[k] = OWNED;
		return (i + 1 - need) * NET_POOL_PAGE;
	}
	return NET_POOL_NONE;
}

/* since_ns: when they began to rest; 0 = they need not. */
static void
give_pages(struct net_pool *p, uint64_t at, uint32_t bytes, uint64_t since_ns)
{
	for (uint64_t i = 0; i < pages_of(bytes); i++) {
		NAM_ASSERT(p->freed_ns[at / NET_POOL_PAGE + i] == OWNED);
		p->freed_ns[at / NET_POOL_PAGE + i] = since_ns;
	}
}

static bool
take_rings(struct net_pool *p, struct net_pool_member *m, uint32_t request, uint32_t response, uint64_t now)
{
	uint64_t at = take_pages(p, request, now), back = NET_POOL_NONE;
	if (at == NET_POOL_NONE)
		return false;
	if (m->mapped && (back = take_pages(p, response, now)) == NET_POOL_NONE) {
		give_pages(p, at, request, 0);
		return false;
	}
	m->request = at;
	m->response = back;
	m->request_bytes = request;
	m->response_bytes = response;
	return true;
}

/* ---- members ---------------------------------------------------------------------------- */

static void
link_owner(struct net_pool *p, struct net_pool_member *m)
{
	m->next = p->owners;
	m->prev = &p->owners;
	if (m->next != NULL)
		m->next->prev = &m->next;
	p->owners = m;
}

/* Out of the line, or of those with rings. */
static void
unlink_member(struct net_pool *p, struct net_pool_member *m)
{
	*m->prev = m->next;
	if (m->next != NULL)
		m->next->prev = m->prev;
	else if (p->end == &m->next)
		p->end = m->prev;
	m->next = NULL;
	m->prev = NULL;
}

static void
end_rings(struct net_pool *p, struct net_pool_member *m, uint64_t since_ns)
{
	unlink_member(p, m);
	give_pages(p, m->request, m->request_bytes, since_ns);
	if (m->mapped)
		give_pages(p, m->response, m->response_bytes, since_ns);
	m->has = m->asked = false;
}

void
net_pool_join(struct net_pool *p, struct net_pool_member *m)
{
	(void)m;
	p->members++;
}

void
net_pool_leave(struct net_pool *p, struct net_pool_member *m, uint64_t now_ns)
{
	NAM_ASSERT(p->members > 0);
	p->members--;
	if (m->has)
		end_rings(p, m, nam_fault(RING_UNRESTED) ? 0 : now_ns != 0 ? now_ns : 1);
	if (!m->waits)
		return;
	unlink_member(p, m);
	m->waits = false;
	p->waiting--;
}

void
net_pool_want(struct net_pool *p, struct net_pool_member *m, const struct net_ring_want *want)
{
	NAM_ASSERT(!m->has && !m->waits);
	m->want = *want;
	m->waits = true;
	m->next = NULL;
	m->prev = p->end;
	*p->end = m;
	p->end = &m->next;
	p->waiting++;
}

void
net_pool_give(struct net_pool *p, struct net_pool_member *m)
{
	NAM_ASSERT(m->has);
	end_rings(p, m, 0);
}

/* A ring of the member's share of the pool, within what it wishes and what it needs. */
static uint32_t
fitting(uint64_t share, uint32_t least, uint32_t most)
{
	uint32_t bytes = most;
	while (bytes > least && bytes > share)
		bytes /= 2;
	return bytes;
}

bool
net_pool_grant(struct net_pool *p, uint64_t now_ns)
{
	struct net_pool_member *m = p->first;
	if (m == NULL)
		return false;
	unsigned among = p->members > SHARES_MIN ? p->members : SHARES_MIN;
	uint64_t share = p->pages * NET_POOL_PAGE / among / (m->mapped ? 2 : 1);
	const struct net_ring_want *w = &m->want;
	uint32_t request = fitting(share, w->request_least, w->request_most),
		 response =
		     m->mapped ? fitting(share, w->response_least, w->response_most) : w->response_most;
	while (!take_rings(p, m, request, response, now_ns)) {
		bool smaller = request > w->request_least || (m->mapped && response > w->response_least);
		if (!smaller)
			return false;
		request = request > w->request_least ? request / 2 : request;
		response = m->mapped && response > w->response_least ? response / 2 : response;
	}
	unlink_member(p, m);
	m->waits = false;
	p->waiting--;
	link_owner(p, m);
	m->has = true;
	m->asked = false;
	m->used_ns = now_ns;
	return true;
}

/* pick[] is sorted: served longest ago first. Returns its new length, at most `most`. */
static unsigned
pick_oldest(struct net_pool_member **pick, unsigned n, unsigned most, struct net_pool_member *m)
{
	unsigned i = n;
	if (n < most)
		n++;
	else if (pick[--i]->used_ns <= m->used_ns)
		return n;
	for (; i > 0 && pick[i - 1]->used_ns > m->used_ns; i--)
		pick[i] = pick[i - 1];
	pick[i] = m;
	return n;
}

bool
net_pool_ask(struct net_pool *p, uint64_t now_ns)
{
	struct net_pool_member *pick[ASK_MAX];
	unsigned n = 0, most = p->waiting < ASK_MAX ? p->waiting : ASK_MAX;
	if (most == 0 || now_ns - p->asked_ns < ASK_NS)
		return false;
	p->asked_ns = now_ns;
	for (struct net_pool_member *m = p->owners; m != NULL; m = m->next)
		if (!m->asked && now_ns - m->used_ns >= HOLD_NS)
			n = pick_oldest(pick, n, most, m);
	for (unsigned i = 0; i < n; i++)
		pick[i]->asked = true;
	return n > 0;
}

static bool
is_size(uint32_t n)
{
	return n >= NET_RING_MIN && n <= NET_RING_MAX && (n & (n - 1)) == 0;
}

bool
net_pool_sound(const struct net_ring_want *w)
{
	return is_size(w->request_least) && is_size(w->request_most) && is_size(w->response_least) &&
	       is_size(w->response_most) && w->request_least <= w->request_most &&
	       w->response_least <= w->response_most;
}
