/* bell.c -- see bell.h. */
#include <base/fault.h>
#include <net/ring/bell.h>

#include <sched.h>
#include <stddef.h>
#include <sys/socket.h>

static void
rouse(struct net_sleeper *s)
{
	/* A socket full of bytes rouses as well as one more would. */
	ssize_t n = send(atomic_load(&s->fd) - 1, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	(void)n;
}

void
net_bell_ring(struct net_bell *b, uint64_t reached)
{
	if (atomic_load_explicit(&b->reached, memory_order_relaxed) == reached)
		return;
	atomic_store(&b->reached, reached);
	atomic_store(&b->ringing, true);
	unsigned used = atomic_load(&b->used);
	for (unsigned i = 0; i < used; i++) {
		struct net_sleeper *s = &b->sleeper[i];
		uint64_t want = atomic_load(&s->want), none = 0;
		if (want == 0 || want > reached || !atomic_compare_exchange_strong(&s->want, &want, 0))
			continue;
		/* It waits for a later request as well. */
		if (atomic_load(&s->last) > reached)
			atomic_compare_exchange_strong(&s->want, &none, reached + 1);
		rouse(s);
	}
	atomic_store(&b->ringing, false);
}

void
net_bell_rouse(struct net_bell *b, struct net_sleeper *s)
{
	if (s == NULL)
		return;
	atomic_store(&b->ringing, true);
	if (atomic_load(&s->fd) != 0)
		rouse(s);
	atomic_store(&b->ringing, false);
}

static struct net_sleeper *
take(struct net_bell *b, int fd)
{
	unsigned used = atomic_load(&b->used);
	for (unsigned i = 0; b->taken < NET_BELL_SLEEPERS && i < NET_BELL_SLEEPERS; i++) {
		struct net_sleeper *s = &b->sleeper[i];
		if (atomic_load(&s->fd) != 0)
			continue;
		b->taken++;
		atomic_store(&s->fd, fd + 1);
		if (i >= used)
			atomic_store(&b->used, i + 1);
		return s;
	}
	return NULL;
}

void
net_bell_note(struct net_bell *b, struct net_sleeper **of, int fd)
{
	if (*of == NULL)
		*of = take(b, fd);
}

void
net_bell_tell(struct net_bell *b, struct net_sleeper **of, int fd, uint64_t number)
{
	if (*of == NULL && (*of = take(b, fd)) == NULL)
		return;
	struct net_sleeper *s = *of;
	/* Before the look at `want`: a ring that takes it sees the later number. */
	atomic_store(&s->last, number);
	uint64_t want = atomic_load(&s->want);
	while ((want == 0 || number < want) && !atomic_compare_exchange_weak(&s->want, &want, number))
		continue;
	/* It may have been reached before the ringing thread could see that. */
	want = number;
	if (atomic_load(&b->reached) >= number && !nam_fault(BELL_UNASKED) &&
	    atomic_compare_exchange_strong(&s->want, &want, 0))
		rouse(s);
}

void
net_bell_forget(struct net_bell *b, struct net_sleeper *s)
{
	b->taken--;
	/* First: a ring that begins later has no connection to send to. */
	atomic_store(&s->fd, 0);
	atomic_store(&s->want, 0);
	atomic_store(&s->last, 0);
	while (atomic_load(&b->ringing))
		sched_yield();
	/* What it has set again meanwhile, for a request that is over. */
	atomic_store(&s->want, 0);
}
