/* post.c -- operations: each is checked and counted here, then executed in place or given to a
 * provider. */
#include <base/assert.h>
#include <net/exec.h>
#include <net/remote_internal.h>

#include <string.h>

/* True if the op is valid on this endpoint. */
static inline bool
op_sound(const struct net_endpoint *ep, const struct net_op *op)
{
	uint64_t off = net_offset_of(op->at);
	if (__builtin_expect(off + op->len > ep->size, 0))
		return false;
	if (op->code <= NET_WRITE_IMM) {
		if (__builtin_expect(op->len > NET_LEN_MAX || (op->buf == NULL && op->len != 0), 0))
			return false;
		if (__builtin_expect((op->flags & (NET_INLINE | NET_QUIET)) == 0, 1))
			return true;
		if (op->code == NET_READ)
			return false;
		return (op->flags & NET_INLINE) != 0 && op->len <= NET_INLINE_MAX;
	}
	return op->code < NET_CODES && op->len == 8 && (off & 7) == 0 && (op->flags & NET_INLINE) == 0;
}

static inline void
op_count(struct net_counts *c, const struct net_op *op)
{
	c->verbs[op->code]++;
	switch (op->code) {
	case NET_READ:
		c->bytes_in += op->len;
		break;
	case NET_WRITE:
	case NET_WRITE_IMM:
		c->bytes_out += op->len;
		break;
	case NET_CAS:
		c->bytes_out += 16;
		c->bytes_in += 8;
		break;
	default:
		c->bytes_out += 8;
		c->bytes_in += 8;
	}
}

/* Executes the verb on memory that is mapped here, and counts it: one switch serves both. */
static inline void
op_execute(struct net_worker *w, struct net_endpoint *ep, struct net_counts *acct, struct net_op *op)
{
	char *at = ep->base + net_offset_of(op->at);
	struct net_counts *c = &ep->counts;
	if (op->flags & NET_FENCE)
		net_fence_loads_before_all();
	if (__builtin_expect(w->streams, 0) && (op->flags & NET_STREAM) == 0) {
		net_fence_streams();
		w->streams = false;
	}
	switch (op->code) {
	case NET_READ:
		c->verbs[NET_READ]++;
		acct->verbs[NET_READ]++;
		c->bytes_in += op->len;
		acct->bytes_in += op->len;
		/* The wire executes a WRITE before a READ posted after it; a CPU's store buffer
		 * would not. */
		if (w->dirty) {
			net_fence_stores_before_loads();
			w->dirty = false;
		}
		net_copy_out(op->buf, at, op->len);
		break;
	case NET_WRITE:
	case NET_WRITE_IMM:
		c->verbs[op->code]++;
		acct->verbs[op->code]++;
		c->bytes_out += op->len;
		acct->bytes_out += op->len;
		if (__builtin_expect(op->flags & NET_STREAM, 0) && net_copy_stream(at, op->buf, op->len)) {
			w->streams = true;
			break;
		}
		net_copy_in(at, op->buf, op->len);
		w->dirty = true;
		break;
	case NET_CAS:
		op_count(c, op);
		op_count(acct, op);
		op->seen = net_exec_cas(at, op->arg, op->want);
#ifdef __x86_64__
		w->dirty = false; /* a locked instruction empties the store buffer */
#endif
		break;
	default:
		op_count(c, op);
		op_count(acct, op);
		op->seen = net_exec_faa(at, op->arg);
#ifdef __x86_64__
		w->dirty = false;
#endif
	}
	op->status = NAM_OK;
}

/* All ops are over. b may be gone when this returns. */
static inline void
batch_end(struct net_batch *b)
{
	if (__builtin_expect(b->status != NAM_OK, 0)) {
		for (uint32_t i = 0; i < b->n; i++)
			if (b->op[i].status != NAM_OK) {
				b->status = (nam_status)b->op[i].status;
				break;
			}
	}
	b->posted = false;
	if (b->done != NULL) {
		b->n = 0;
		b->done(b);
	} else if (b->waiter != NULL) {
		nam_co_wake(b->waiter);
	}
}

void
net_op_done(struct net_endpoint *ep, struct net_batch *b, struct net_op *op, nam_status st)
{
	if (__builtin_expect(ep->quiet_status != NAM_OK, 0)) {
		if (st == NAM_OK)
			st = (nam_status)ep->quiet_status;
		ep->quiet_status = NAM_OK;
	}
	op->status = (uint16_t)st;
	if (st != NAM_OK)
		b->status = st;
	NAM_ASSERT(b->pending > 0);
	struct net_worker *w = ep->w;
	net_out_is(w, net_out(w) - 1);
	w->ended++;
	if (--b->pending == 0)
		batch_end(b);
	if (__builtin_expect(net_admits(w), 0))
		net_admit_next(w);
}

void
net_quiet_failed(struct net_endpoint *ep, nam_status st)
{
	if (ep->quiet_status == NAM_OK)
		ep->quiet_status = (uint16_t)st;
}

void
net_op_refuse(struct net_endpoint *ep, struct net_batch *b, struct net_op *op, nam_status st)
{
	if (op->flags & NET_QUIET)
		net_quiet_failed(ep, st);
	else
		net_op_done(ep, b, op, st);
}

/*
 * After verbs in place: true if the memory has been given up meanwhile (disarm.c). An instruction
 * that touched the page put in its place comes after `disarmed` was set, so this look sees it,
 * provided that the CPU does not look before the instruction.
 */
static inline bool
is_disarmed(const struct net_worker *w)
{
#ifndef __x86_64__
	net_fence_stores_before_loads(); /* an interrupt there would not order the accesses around
					  * it */
#endif
	return atomic_load_explicit(&w->net->disarmed, memory_order_relaxed);
}

/* Ops executed in place may have landed in the node's memory or in a private page. */
static __attribute__((noinline)) void
void_batch(struct net_batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		unsigned r = net_region_of(b->op[i].at);
		const struct net_endpoint *ep = r < NET_REGIONS ? b->w->ep[r] : NULL;
		if (ep != NULL && ep->base != NULL && b->op[i].status == NAM_OK) {
			b->op[i].status = NAM_GONE;
			b->status = NAM_GONE;
		}
	}
}

/* True if an earlier op of the batch, of the same region, was refused. */
static __attribute__((noinline)) bool
is_poisoned(const struct net_batch *b, const struct net_op *op)
{
	unsigned region = net_region_of(op->at);
	for (const struct net_op *o = b->op; o < op && region < NET_REGIONS; o++)
		if (net_region_of(o->at) == region &&
		    (o->status == NAM_INVALID || o->status == NAM_CANCELLED))
			return true;
	return false;
}

static void
post(struct net_batch *b, bool waited)
{
	NAM_ASSERT(!b->posted); /* one post at a time */
	struct net_worker *w = b->w;
	struct net_counts none, *acct = b->acct != NULL ? b->acct : net_account();
	struct net_endpoint *ep = NULL;
	struct net_op *op = b->op, *end = op + b->n;
	struct net_endpoint *bells = NULL; /* met so far, by region */
	const uint64_t number = ++w->posts;
	unsigned region = ~0u;
	bool poison = false;
	bool lost = false, reads = false, here = false;

	b->posted = true;
	b->status = NAM_OK;
	b->pending = 1; /* ours, until all ops are given to providers */
	if (acct == NULL) {
		none = (struct net_counts){ 0 };
		acct = &none;
	}
	for (; op < end; op++) {
		unsigned r = net_region_of(op->at);
		if (r != region) {
			region = r;
			ep = r < NET_REGIONS ? w->ep[r] : NULL;
			lost = ep != NULL && (net_node_lost(ep->node) || ep->broke);
		}
		if (__builtin_expect(ep == NULL || poison || !op_sound(ep, op), 0)) {
			bool poisoned = poison && is_poisoned(b, op);
			if (poisoned || ep == NULL || !op_sound(ep, op)) {
				op->status = poisoned ? NAM_CANCELLED : NAM_INVALID;
				b->status = (nam_status)op->status;
				poison |= r < NET_REGIONS;
				continue;
			}
		}
		if (__builtin_expect(lost, 0)) {
			op->status = NAM_GONE;
			b->status = NAM_GONE;
			continue;
		}
		if (ep->rung != number) {
			struct net_endpoint **at = &bells;
			ep->rung = number;
			while (*at != NULL && (*at)->node->info.region < r)
				at = &(*at)->next_rung;
			ep->next_rung = *at;
			*at = ep;
			ep->counts.doorbells++;
			acct->doorbells++;
		}
		if (ep->base != NULL) {
			reads |= op->code == NET_READ;
			here = true;
			op_execute(w, ep, acct, op);
		} else {
			op_count(&ep->counts, op);
			op_count(acct, op);
			op->status = NAM_OK;
			if (!(op->flags & NET_QUIET)) {
				b->pending++;
				net_out_is(w, net_out(w) + 1);
			}
			ep->p->post(ep, b, op);
		}
	}
	if (reads)
		net_fence_loads_before_all();
	if (__builtin_expect(w->streams, 0)) {
		net_fence_streams(); /* a completed WRITE is seen by every verb that starts later */
		w->streams = false;
	}
	if (here && __builtin_expect(is_disarmed(w), 0))
		void_batch(b);
	if (waited && b->n != 0) {
		w->round_trips++;
		for (ep = bells; ep != NULL; ep = ep->next_rung)
			ep->counts.round_trips++;
	}
	if (w->async_count != 0)
		for (ep = bells; ep != NULL; ep = ep->next_rung)
			if (ep->base == NULL && ep->p->ring != NULL)
				ep->p->ring(ep);
	if (--b->pending == 0)
		batch_end(b);
}

void
net_post(struct net_batch *b)
{
	b->done = NULL;
	b->waiter = NULL;
	post(b, true);
}

nam_status
net_wait(struct net_batch *b)
{
	struct net_counts *acct = b->acct != NULL ? b->acct : net_account();
	if (acct != NULL && b->n != 0)
		acct->round_trips++;
	if (b->posted) {
		b->waiter = nam_co_self();
		NAM_ASSERT(b->waiter != NULL); /* only a coroutine may wait */
		uint64_t from = net_wait_from(b->w);
		do
			nam_co_park();
		while (b->posted);
		b->waiter = NULL;
		net_wait_until(b->w, from, acct);
	}
	b->n = 0;
	return b->status;
}

void
net_post_then(struct net_batch *b, void (*done)(struct net_batch *b))
{
	b->done = done;
	b->waiter = NULL;
	post(b, false);
}

enum { LINE = 64, PREFETCH_LINES = 64, YIELD_LINES = 16 };

/*
 * Cache misses are this fabric's latency: ask for every line the batch will READ,
 * let another coroutine run meanwhile, then execute out of the cache. Into the second
 * level cache, not the first: of those misses a core keeps several times as many in
 * flight before an instruction has to wait (measured: a checkout is 8 % faster).
 */
static void
prefetch(struct net_batch *b)
{
	struct net_worker *w = b->w;
	unsigned lines = 0, read_lines = 0, reads = 0;
	for (uint32_t i = 0; i < b->n && lines < PREFETCH_LINES; i++) {
		const struct net_op *op = &b->op[i];
		if (op->code != NET_READ)
			continue; /* bytes to be written or CASed have been READ before, or hinted
				   * at */
		unsigned r = net_region_of(op->at);
		struct net_endpoint *ep = r < NET_REGIONS ? w->ep[r] : NULL;
		if (ep == NULL || ep->base == NULL)
			continue;
		uint64_t off = net_offset_of(op->at);
		if (off + op->len > ep->size)
			continue;
		const char *at = ep->base + off;
		const char *last = at + op->len;
		reads++;
		for (at = (const char *)((uintptr_t)at & ~(uintptr_t)(LINE - 1));
		     at < last && lines < PREFETCH_LINES; at += LINE, lines++, read_lines++)
			__builtin_prefetch(at, 0, 2);
	}
	/* Long READs overlap by themselves while they are copied: a switch to another coroutine
	 * would only let their lines grow cold. */
	if (read_lines > YIELD_LINES)
		return;
	if ((reads >= 2 || read_lines >= 2) && nam_co_self() != NULL && nam_sched_ready(w->sched))
		nam_co_yield();
}

nam_status
net_run(struct net_batch *b)
{
	struct net_worker *w = b->w;
	if (b->n > 1 || (b->n == 1 && b->op[0].code == NET_READ && b->op[0].len > LINE))
		if (w->async_count < w->net->count)
			prefetch(b);
	net_post(b);
	return net_wait(b);
}

/* The endpoint of a piece that can be READ in place, or NULL. */
static inline struct net_endpoint *
mapped_at(struct net_worker *w, net_addr at, uint32_t len)
{
	unsigned r = net_region_of(at);
	struct net_endpoint *ep = r < NET_REGIONS ? w->ep[r] : NULL;
	bool good = ep != NULL && ep->base != NULL && net_offset_of(at) + len <= ep->size &&
		    !net_node_lost(ep->node) && !ep->broke;
	return __builtin_expect(good, 1) ? ep : NULL;
}

nam_status
net_read_mapped(
    struct net_worker *w, const net_addr *at, unsigned n, uint32_t len, void *into, struct net_counts *acct)
{
	NAM_ASSERT(n <= NET_MAPPED_MAX && len % 8 == 0 && len <= NET_LEN_MAX);
	const char *piece[NET_MAPPED_MAX];
	if (n == 0)
		return NAM_OK;
	for (unsigned i = 0; i < n; i++) {
		const struct net_endpoint *ep = mapped_at(w, at[i], len);
		if (ep == NULL)
			return NAM_UNSUPPORTED;
		piece[i] = ep->base + net_offset_of(at[i]);
	}
	/* As in net_run, only short READs let another coroutine run meanwhile, and then the second
	 * level cache is the place; long ones are copied at once, out of the first. The first line
	 * of each piece, then the second: a miss of the TLB is over before the other lines of its
	 * page are asked for. */
	bool waits = n > 1 && n * (len / LINE) <= YIELD_LINES && nam_co_self() != NULL;
	for (uint32_t off = 0; off < len; off += LINE)
		for (unsigned i = 0; i < n; i++)
			if (waits)
				__builtin_prefetch(piece[i] + off, 0, 2);
			else
				__builtin_prefetch(piece[i] + off, 0, 3);
	if (waits && nam_sched_ready(w->sched)) {
		nam_co_yield();
		for (unsigned i = 0; i < n; i++)
			if (mapped_at(w, at[i], len) == NULL)
				return NAM_UNSUPPORTED;
	}
	const uint64_t number = ++w->posts;
	uint64_t bells = 0;
	if (w->dirty) {
		net_fence_stores_before_loads();
		w->dirty = false;
	}
	for (unsigned i = 0; i < n; i++) {
		struct net_endpoint *ep = w->ep[net_region_of(at[i])];
		uint64_t first = ep->rung != number;
		ep->rung = number;
		bells += first;
		ep->counts.doorbells += first;
		ep->counts.round_trips += first;
		ep->counts.verbs[NET_READ]++;
		ep->counts.bytes_in += len;
		net_copy_out((char *)into + (size_t)i * len, ep->base + net_offset_of(at[i]), len);
	}
	net_fence_loads_before_all();
	w->round_trips++;
	if (acct == NULL)
		acct = net_account();
	if (acct != NULL) {
		acct->verbs[NET_READ] += n;
		acct->bytes_in += (uint64_t)n * len;
		acct->doorbells += bells;
		acct->round_trips++;
	}
	return __builtin_expect(is_disarmed(w), 0) ? NAM_GONE : NAM_OK;
}

/* One op, without a batch when it can be executed in place. */
static inline nam_status
run1(struct net_worker *w, struct net_op *op, struct net_counts *acct)
{
	unsigned r = net_region_of(op->at);
	struct net_endpoint *ep = r < NET_REGIONS ? w->ep[r] : NULL;
	if (__builtin_expect(ep == NULL || ep->base == NULL || net_node_lost(ep->node) || !op_sound(ep, op) ||
				 (op->code == NET_READ && op->len > LINE),
		0)) {
		struct net_batch b;
		net_batch_init(&b, w, op, 1, acct);
		b.n = 1;
		return net_run(&b);
	}
	struct net_counts none;
	if (acct == NULL && (acct = net_account()) == NULL) {
		none = (struct net_counts){ 0 };
		acct = &none;
	}
	ep->counts.doorbells++;
	ep->counts.round_trips++;
	w->round_trips++;
	acct->doorbells++;
	acct->round_trips++;
	op_execute(w, ep, acct, op);
	net_fence_loads_before_all();
	return __builtin_expect(is_disarmed(w), 0) ? NAM_GONE : NAM_OK;
}

nam_status
net_read1(struct net_worker *w, net_addr at, void *into, uint32_t len, struct net_counts *acct)
{
	struct net_op op = { .code = NET_READ, .at = at, .buf = into, .len = len };
	return run1(w, &op, acct);
}

nam_status
net_write1(struct net_worker *w, net_addr at, const void *from, uint32_t len, struct net_counts *acct)
{
	struct net_op op = { .code = NET_WRITE, .at = at, .buf = (void *)(uintptr_t)from, .len = len };
	return run1(w, &op, acct);
}

nam_status
net_cas1(struct net_worker *w, net_addr at, uint64_t expect, uint64_t want, uint64_t *seen,
    struct net_counts *acct)
{
	struct net_op op = { .code = NET_CAS, .at = at, .len = 8, .arg = expect, .want = want };
	nam_status st = run1(w, &op, acct);
	if (st == NAM_OK && seen != NULL)
		*seen = op.seen;
	return st;
}

nam_status
net_faa1(struct net_worker *w, net_addr at, uint64_t add, uint64_t *seen, struct net_counts *acct)
{
	struct net_op op = { .code = NET_FAA, .at = at, .len = 8, .arg = add };
	nam_status st = run1(w, &op, acct);
	if (st == NAM_OK && seen != NULL)
		*seen = op.seen;
	return st;
}
