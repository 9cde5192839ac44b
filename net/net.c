/* net.c -- the front end: every op is checked and counted here, then executed in place or given to a provider. */
#include <net/ring/channel.h>
#include <net/exec.h>
#include <net/pulse.h>
#include <net/remote_internal.h>

#include <base/assert.h>
#include <base/hash.h>
#include <base/log.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- names and fingerprints ------------------------------------------------ */

const char *
net_kind_name(enum net_kind k)
{
	static const char *const name[] = { "auto", "shm", "tcp", "sim", "verbs" };
	return (unsigned)k < sizeof name / sizeof *name ? name[k] : "unknown";
}

bool
net_kind_parse(const char *name, enum net_kind *out)
{
	static const enum net_kind real[] = { NET_AUTO, NET_SHM, NET_TCP, NET_VERBS };
	for (unsigned i = 0; i < sizeof real / sizeof *real; i++)
		if (strcmp(name, net_kind_name(real[i])) == 0) {
			*out = real[i];
			return true;
		}
	return false;
}

static struct {
	char room[24];
	uint64_t fingerprint;
} fold[32];
static unsigned folds;

void
net_layout_fold(const char *room, uint64_t fingerprint)
{
	unsigned i = 0;
	while (i < folds && strcmp(fold[i].room, room) != 0)
		i++;
	NAM_ASSERT(i < sizeof fold / sizeof *fold);
	NAM_ASSERT(strlen(room) < sizeof fold[i].room);
	if (i == folds)
		strcpy(fold[folds++].room, room);
	fold[i].fingerprint = fingerprint;
}

uint64_t
net_layout(void)
{
	const uint64_t own[] = { NET_VERSION, NET_EXTENT, NET_ROOTS, sizeof(struct net_super),
		offsetof(struct net_super, bump), offsetof(struct net_super, free_head),
		offsetof(struct net_super, beat), offsetof(struct net_super, root), sizeof(struct net_free) };
	uint64_t sum = nam_hash(own, sizeof own, 0);
	/* A sum, so that the order in which rooms fold does not matter. */
	for (unsigned i = 0; i < folds; i++)
		sum += nam_hash(fold[i].room, strlen(fold[i].room), nam_mix(fold[i].fingerprint));
	return sum;
}

void
net_counts_add(struct net_counts *into, const struct net_counts *from)
{
	for (unsigned i = 0; i < NET_CODES; i++)
		into->verbs[i] += from->verbs[i];
	into->bytes_out += from->bytes_out;
	into->bytes_in += from->bytes_in;
	into->doorbells += from->doorbells;
	into->round_trips += from->round_trips;
}

uint64_t
net_counts_verbs(const struct net_counts *c)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < NET_CODES; i++)
		sum += c->verbs[i];
	return sum;
}

void
net_pay(struct net_counts *payer)
{
	nam_co_set_tag(nam_co_self(), payer);
}

struct net_counts *
net_payer(void)
{
	struct nam_co *co = nam_co_self();
	return co != NULL ? nam_co_tag(co) : NULL;
}

/* ---- nodes ------------------------------------------------------------------ */

struct net *
net_new(const struct net_env *env, void *env_priv)
{
	struct net *n = calloc(1, sizeof *n);
	if (n == NULL)
		return NULL;
	n->env = env;
	n->env_priv = env_priv;
	pthread_mutex_init(&n->workers_lock, NULL);
	return n;
}

nam_status
net_add_node(struct net *n, const struct net_provider *p, const struct net_node_info *info,
    struct net_node **out, struct nam_err *err)
{
	unsigned r = info->region;
	if (r == 0 || r >= NET_REGIONS)
		return nam_fail(
		    err, NAM_INVALID, "%s has node id %u; ids are 1..%d", info->name, r, NET_REGIONS - 1);
	if (n->by_region[r] != NULL)
		return nam_fail(err, NAM_REFUSED,
		    "%s and %s both have node id %u; give each storage node its own --id",
		    n->by_region[r]->info.name, info->name, r);
	struct net_node *node = calloc(1, sizeof *node);
	if (node == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a node");
	node->info = *info;
	atomic_init(&node->info.lost, false);
	node->p = p;
	node->control_fd = -1;
	node->life_fd = -1;
	node->net = n;
	n->by_region[r] = node;
	n->count = 0;
	for (unsigned i = 1; i < NET_REGIONS; i++)
		if (n->by_region[i] != NULL)
			n->node[n->count++] = n->by_region[i];
	if (out != NULL)
		*out = node;
	return NAM_OK;
}

void
net_close(struct net *n)
{
	if (n == NULL)
		return;
	net_disarm_delist(n);
	if (n->monitor != NULL)
		net_monitor_stop(n);
	net_heard_close(n);
	for (unsigned i = 0; i < n->count; i++) {
		if (n->node[i]->p->node_close != NULL)
			n->node[i]->p->node_close(n->node[i]);
		if (n->node[i]->life_fd >= 0)
			close(n->node[i]->life_fd);
		free(n->node[i]);
	}
	if (n->env->net_close != NULL)
		n->env->net_close(n);
	explicit_bzero(n->secret, sizeof n->secret);
	pthread_mutex_destroy(&n->workers_lock);
	free(n);
}

uint64_t
net_identity(const struct net *n)
{
	return n->identity;
}

nam_status
net_fence_process(struct net_worker *w, uint64_t identity, uint64_t grace_ns, struct nam_err *err)
{
	NAM_ASSERT(nam_co_self() != NULL);
	if (identity == 0 || identity >> NET_IDENTITY_BITS != 0)
		return nam_fail(
		    err, NAM_INVALID, "nobody has the identity %llx", (unsigned long long)identity);
	if (identity == w->net->identity)
		return nam_fail(err, NAM_INVALID, "a process does not shut itself out");
	return w->net->env->fence(w, identity, grace_ns, err);
}

enum net_heard
net_heard_of(struct net_worker *w, uint64_t identity)
{
	return w->net->env->heard != NULL ? w->net->env->heard(w, identity) : NET_UNHEARD;
}

void
net_sleep_or_news(struct net_worker *w, uint64_t ns, uint64_t *news)
{
	if (w->net->env->sleep_or_news != NULL)
		w->net->env->sleep_or_news(w, ns, news);
	else
		net_sleep(w, ns);
}

void
net_on_asked(struct net *n, enum net_answer_life (*fn)(void *arg), void *arg)
{
	if (n->env->on_asked != NULL)
		n->env->on_asked(n, fn, arg);
}

unsigned
net_node_count(const struct net *n)
{
	return n->count;
}

const struct net_node_info *
net_node(const struct net *n, unsigned i)
{
	return i < n->count ? &n->node[i]->info : NULL;
}

const struct net_node_info *
net_node_of(const struct net *n, unsigned region)
{
	return region < NET_REGIONS && n->by_region[region] != NULL ? &n->by_region[region]->info : NULL;
}

void
net_node_set_lost(struct net_node *node)
{
	atomic_store_explicit(&node->info.lost, true, memory_order_relaxed);
}

void
net_node_broke(struct net_endpoint *ep, const char *why)
{
	bool told = ep->broke;
	ep->broke = true;
	if (!told && !net_node_lost(ep->node))
		net_monitor_broke(ep->node, why);
}

enum net_standing
net_standing(const struct net *n)
{
	unsigned asking = atomic_load(&n->asking);
	return atomic_load(&n->shut_out) ? NET_SHUT_OUT : asking != 0 ? NET_ASKING : NET_MEMBER;
}

const char *
net_standing_why(const struct net *n)
{
	const char *why = atomic_load(&n->why);
	if (atomic_load(&n->shut_out))
		return why != NULL ? why : "this process has been shut out of the cluster";
	for (unsigned i = 0; i < n->count && atomic_load(&n->lost_told); i++)
		if (net_node_lost(n->node[i]))
			return n->lost_why;
	return "";
}

void
net_declare_lost(struct net *n, unsigned region)
{
	if (region < NET_REGIONS && n->by_region[region] != NULL)
		net_node_set_lost(n->by_region[region]);
}

/* ---- workers ---------------------------------------------------------------- */

nam_status
net_worker_open(struct net *n, struct net_worker **out, struct nam_err *err)
{
	if (atomic_load(&n->disarmed))
		return nam_fail(err, NAM_REFUSED, "%s", net_standing_why(n));
	struct net_worker *w = calloc(1, sizeof *w);
	if (w == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for a worker");
	w->net = n;
	w->number = atomic_fetch_add(&n->workers, 1) + 1;
	w->wake_fd = -1;
	nam_status st = n->env->worker_open(w, err);
	if (st != NAM_OK) {
		free(w);
		return st;
	}
	for (unsigned i = 0; i < n->count; i++) {
		struct net_node *node = n->node[i];
		struct net_endpoint *ep = calloc(1, sizeof *ep);
		if (ep == NULL) {
			st = nam_fail(err, NAM_NOMEM, "no memory for an endpoint");
			goto fail;
		}
		ep->node = node;
		ep->size = node->info.size;
		ep->w = w;
		ep->p = node->p;
		if ((st = ep->p->open(ep, err)) != NAM_OK) {
			free(ep);
			goto fail;
		}
		w->ep[node->info.region] = ep;
		if (ep->base == NULL)
			w->async[w->async_count++] = ep;
	}
	pthread_mutex_lock(&n->workers_lock);
	w->next_worker = n->first_worker;
	n->first_worker = w;
	pthread_mutex_unlock(&n->workers_lock);
	*out = w;
	return NAM_OK;
fail:
	net_worker_close(w);
	return st;
}

void
net_worker_close(struct net_worker *w)
{
	if (w == NULL)
		return;
	pthread_mutex_lock(&w->net->workers_lock);
	for (struct net_worker **p = &w->net->first_worker; *p != NULL; p = &(*p)->next_worker)
		if (*p == w) {
			*p = w->next_worker;
			break;
		}
	pthread_mutex_unlock(&w->net->workers_lock);
	for (unsigned i = 1; i < NET_REGIONS; i++) {
		if (w->ep[i] == NULL)
			continue;
		/* A child of fork leaves its parent's queue pairs alone. */
		if (w->ep[i]->p->close != NULL && !(w->net->forked && w->ep[i]->p->kind == NET_VERBS))
			w->ep[i]->p->close(w->ep[i]);
		free(w->ep[i]);
	}
	net_channels_close(w);
	w->net->env->worker_close(w);
	free(w);
}

uint64_t
net_worker_broken(const struct net_worker *w)
{
	uint64_t mask = 0;
	for (unsigned i = 0; i < w->async_count; i++) {
		const struct net_endpoint *ep = w->async[i];
		if (__builtin_expect(ep->broke || net_node_lost(ep->node), 0))
			mask |= UINT64_C(1) << ep->node->info.region;
	}
	return mask;
}

struct net *
net_worker_net(struct net_worker *w)
{
	return w->net;
}

struct nam_sched *
net_worker_sched(struct net_worker *w)
{
	return w->sched;
}

struct nam_rng *
net_rng(struct net_worker *w)
{
	return &w->rng;
}

void
net_worker_run(struct net_worker *w, bool (*until)(void *arg), void *arg)
{
	w->net->env->worker_run(w, until, arg);
}

void
net_worker_rouse(struct net_worker *w)
{
	w->net->env->rouse(w);
}

uint64_t
net_now_ns(struct net_worker *w)
{
	return w->net->env->now(w);
}

uint64_t
net_worker_cpu_ns(const struct net_worker *w)
{
	return w->net->env->cpu(w);
}

uint64_t
net_patience_ns(const struct net_worker *w)
{
	return w->net->env->patience(w);
}

void
net_sleep(struct net_worker *w, uint64_t ns)
{
	w->net->env->sleep(w, ns);
}

void
net_worker_on_idle(struct net_worker *w, void (*fn)(void *arg), void *arg)
{
	NAM_ASSERT(w->hooks < NET_HOOKS);
	w->hook[w->hooks].fn = fn;
	w->hook[w->hooks++].arg = arg;
}

void
net_worker_off_idle(struct net_worker *w, void (*fn)(void *arg), void *arg)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < w->hooks; i++)
		if (w->hook[i].fn != fn || w->hook[i].arg != arg)
			w->hook[kept++] = w->hook[i];
	w->hooks = kept;
}

void
net_worker_idle(struct net_worker *w)
{
	for (unsigned i = 0; i < w->hooks; i++)
		w->hook[i].fn(w->hook[i].arg);
}

void
net_worker_counts(struct net_worker *w, unsigned region, struct net_counts *out)
{
	memset(out, 0, sizeof *out);
	if (region != 0) {
		if (region < NET_REGIONS && w->ep[region] != NULL)
			*out = w->ep[region]->counts;
		return;
	}
	for (unsigned i = 1; i < NET_REGIONS; i++)
		if (w->ep[i] != NULL)
			net_counts_add(out, &w->ep[i]->counts);
	/* A wait for three nodes at once is one round trip. */
	out->round_trips = w->round_trips;
}

const void *
net_direct(struct net_worker *w, net_addr at, size_t len)
{
	unsigned r = net_region_of(at);
	uint64_t off = net_offset_of(at);
	struct net_endpoint *ep = r < NET_REGIONS ? w->ep[r] : NULL;
	if (ep == NULL || ep->base == NULL || len > ep->size || off > ep->size - len ||
	    net_node_lost(ep->node))
		return NULL;
	if (w->dirty) {
		net_fence_stores_before_loads();
		w->dirty = false;
	}
	return ep->base + off;
}

const void *
net_read_direct(struct net_worker *w, net_addr at, uint32_t len, struct net_counts *acct)
{
	const void *p = net_direct(w, at, len);
	if (p == NULL)
		return NULL;
	struct net_counts one = { .bytes_in = len, .doorbells = 1, .round_trips = 1 };
	one.verbs[NET_READ] = 1;
	net_counts_add(&w->ep[net_region_of(at)]->counts, &one);
	if (acct == NULL)
		acct = net_payer();
	if (acct != NULL)
		net_counts_add(acct, &one);
	w->round_trips++;
	return p;
}

bool
net_direct_stands(const struct net_worker *w)
{
	net_fence_loads_before_all();
	return !atomic_load_explicit(&w->net->disarmed, memory_order_relaxed);
}

void
net_hint(struct net_worker *w, net_addr at, size_t len)
{
	unsigned r = net_region_of(at);
	uint64_t off = net_offset_of(at);
	struct net_endpoint *ep = r < NET_REGIONS ? w->ep[r] : NULL;
	if (ep == NULL || ep->base == NULL || len > ep->size || off > ep->size - len)
		return;
	const char *p = ep->base + off, *end = p + len;
	for (p -= (uintptr_t)p % 64; p < end; p += 64)
		__builtin_prefetch(p, 0, 2);
}

/* ---- operations ------------------------------------------------------------- */

/* True when the op makes sense on this endpoint. */
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

/* The verb itself, on memory that is mapped here, and its figures: one look at what it is serves both. */
static inline void
op_execute(struct net_worker *w, struct net_endpoint *ep, struct net_counts *acct, struct net_op *op)
{
	char *at = ep->base + net_offset_of(op->at);
	struct net_counts *c = &ep->counts;
	if (op->flags & NET_FENCE)
		net_fence_loads_before_all();
	switch (op->code) {
	case NET_READ:
		c->verbs[NET_READ]++;
		acct->verbs[NET_READ]++;
		c->bytes_in += op->len;
		acct->bytes_in += op->len;
		/* The wire executes a WRITE before a READ posted after it; a CPU's store buffer would not. */
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
	if (--b->pending == 0)
		batch_end(b);
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
 * Behind verbs in place: has the memory been given up meanwhile (disarm.c)? An instruction that met the page that took its
 * place comes after `disarmed` was set, so this look sees it, provided that the look is not made ahead of the instruction.
 */
static inline bool
is_disarmed(const struct net_worker *w)
{
#ifndef __x86_64__
	net_fence_stores_before_loads(); /* an interrupt there does not order what it falls between */
#endif
	return atomic_load_explicit(&w->net->disarmed, memory_order_relaxed);
}

/* Of what was executed in place nobody knows where it landed. */
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

static void
post(struct net_batch *b, bool waited)
{
	NAM_ASSERT(!b->posted); /* one post at a time */
	struct net_worker *w = b->w;
	struct net_counts none, *acct = b->acct != NULL ? b->acct : net_payer();
	struct net_endpoint *ep = NULL;
	struct net_op *op = b->op, *end = op + b->n;
	uint64_t bells = 0, poison = 0;
	unsigned region = ~0u;
	bool lost = false, reads = false, here = false;

	b->posted = true;
	b->status = NAM_OK;
	b->pending = 1; /* ours, until all is given */
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
		if (__builtin_expect(ep == NULL || poison != 0 || !op_sound(ep, op), 0)) {
			bool poisoned = r < NET_REGIONS && (poison >> r & 1);
			if (poisoned || ep == NULL || !op_sound(ep, op)) {
				op->status = poisoned ? NAM_CANCELLED : NAM_INVALID;
				b->status = (nam_status)op->status;
				if (r < NET_REGIONS)
					poison |= UINT64_C(1) << r;
				continue;
			}
		}
		if (__builtin_expect(lost, 0)) {
			op->status = NAM_GONE;
			b->status = NAM_GONE;
			continue;
		}
		if (!(bells >> r & 1)) {
			bells |= UINT64_C(1) << r;
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
			}
			ep->p->post(ep, b, op);
		}
	}
	if (reads)
		net_fence_loads_before_all();
	if (here && __builtin_expect(is_disarmed(w), 0))
		void_batch(b);
	if (waited && b->n != 0) {
		w->round_trips++;
		for (uint64_t m = bells; m != 0; m &= m - 1)
			w->ep[__builtin_ctzll(m)]->counts.round_trips++;
	}
	if (w->async_count != 0)
		for (uint64_t m = bells; m != 0; m &= m - 1) {
			ep = w->ep[__builtin_ctzll(m)];
			if (ep->base == NULL && ep->p->ring != NULL)
				ep->p->ring(ep);
		}
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
	struct net_counts *acct = b->acct != NULL ? b->acct : net_payer();
	if (acct != NULL && b->n != 0)
		acct->round_trips++;
	if (b->posted) {
		b->waiter = nam_co_self();
		NAM_ASSERT(b->waiter != NULL); /* only a coroutine may wait */
		do
			nam_co_park();
		while (b->posted);
		b->waiter = NULL;
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
			continue; /* what is written or CASed has been READ, or hinted at */
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
	/* Long READs overlap by themselves while they are copied: leaving their lines to go cold is not worth a switch. */
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
	if (acct == NULL && (acct = net_payer()) == NULL) {
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
