/* net.c -- the front end: nodes, workers, time and figures, for every fabric. Operations:
 * post.c. */
#include <base/assert.h>
#include <base/fault.h>
#include <base/hash.h>
#include <base/log.h>
#include <net/exec.h>
#include <net/pulse.h>
#include <net/remote_internal.h>
#include <net/ring/channel.h>

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
	into->waited_ns += from->waited_ns;
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
net_account_to(struct net_counts *account)
{
	nam_co_set_tag(nam_co_self(), account);
}

struct net_counts *
net_account(void)
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
	atomic_init(&node->info.replaced, false);
	node->p = p;
	node->control_fd = -1;
	node->life_fd = -1;
	node->net = n;
	n->by_region[r] = node;
	n->rnic = n->rnic || info->kind == NET_VERBS || info->kind == NET_SIM;
	unsigned at = n->count++;
	for (; at > 0 && n->node[at - 1]->info.region > r; at--)
		n->node[at] = n->node[at - 1];
	n->node[at] = node;
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
		    err, NAM_INVALID, "no process has the identity %llx", (unsigned long long)identity);
	if (identity == w->net->identity)
		return nam_fail(err, NAM_INVALID, "a process does not fence itself");
	return w->net->env->fence(w, identity, grace_ns, err);
}

enum net_heard
net_heard_of(struct net_worker *w, uint64_t identity)
{
	return w->net->env->heard != NULL ? w->net->env->heard(w, identity) : NET_UNHEARD;
}

void
net_sleep_lazily(struct net_worker *w, uint64_t ns, uint64_t most, uint64_t bells)
{
	if (w->net->env->sleep_lazily != NULL)
		w->net->env->sleep_lazily(w, ns, most, bells);
	else
		net_sleep(w, ns);
}

uint64_t
net_bells(const struct net_worker *w)
{
	return w->bells;
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

enum net_membership
net_membership(const struct net *n)
{
	unsigned asking = atomic_load(&n->asking);
	return atomic_load(&n->fenced) ? NET_FENCED : asking != 0 ? NET_ASKING : NET_MEMBER;
}

const char *
net_membership_why(const struct net *n)
{
	const char *why = atomic_load(&n->why);
	if (atomic_load(&n->fenced))
		return why != NULL ? why : "this process has been fenced";
	for (unsigned i = 0; i < n->count && atomic_load(&n->lost_told); i++)
		if (net_node_lost(n->node[i]))
			return n->lost_why;
	return "";
}

void
net_node_set_replaced(struct net_node *node)
{
	atomic_store(&node->info.replaced, true);
}

bool
net_node_is(struct net_node *node, uint64_t incarnation)
{
	if (node->info.incarnation == incarnation || nam_fault(MEMORY_UNASKED))
		return true;
	net_node_set_replaced(node);
	return false;
}

void
net_declare_lost(struct net *n, unsigned region)
{
	if (region < NET_REGIONS && n->by_region[region] != NULL)
		net_node_set_lost(n->by_region[region]);
}

void
net_declare_replaced(struct net *n, unsigned region)
{
	if (region < NET_REGIONS && n->by_region[region] != NULL)
		net_node_set_replaced(n->by_region[region]);
	net_declare_lost(n, region);
}

struct net_set
net_replaced(const struct net *n)
{
	struct net_set set = { { 0 } };
	for (unsigned i = 0; i < n->count; i++)
		if (atomic_load(&n->node[i]->info.replaced))
			net_set_add(&set, n->node[i]->info.region);
	return set;
}

/* ---- workers ---------------------------------------------------------------- */

nam_status
net_worker_open(struct net *n, struct net_worker **out, struct nam_err *err)
{
	if (atomic_load(&n->disarmed))
		return nam_fail(err, NAM_REFUSED, "%s", net_membership_why(n));
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
	w->waiters_end = &w->waiters;
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

static bool
is_broken(const struct net_endpoint *ep)
{
	return __builtin_expect(ep->broke || net_node_lost(ep->node), 0);
}

bool
net_worker_broken(const struct net_worker *w, struct net_set *out)
{
	unsigned i = 0;
	while (i < w->async_count && !is_broken(w->async[i]))
		i++;
	if (__builtin_expect(i == w->async_count, 1))
		return false;
	*out = (struct net_set){ { 0 } };
	for (; i < w->async_count; i++)
		if (is_broken(w->async[i]))
			net_set_add(out, w->async[i]->node->info.region);
	return true;
}

bool
net_worker_broke(const struct net_worker *w, unsigned region)
{
	const struct net_endpoint *ep = region < NET_REGIONS ? w->ep[region] : NULL;
	return ep != NULL && ep->base == NULL && is_broken(ep);
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

void
net_worker_tell(struct net_worker *w)
{
	w->net->env->tell(w);
}

void
net_worker_background(struct net_worker *w)
{
	w->background = true;
}

uint64_t
net_now_ns(struct net_worker *w)
{
	return w->net->env->now(w);
}

int64_t
net_wall_us(struct net_worker *w)
{
	return w->net->env->wall_us(w);
}

uint64_t
net_wait_from(struct net_worker *w)
{
	return net_account() != NULL ? net_now_ns(w) : 0;
}

void
net_wait_until(struct net_worker *w, uint64_t from, struct net_counts *c)
{
	if (from != 0)
		c->waited_ns += net_now_ns(w) - from;
}

uint64_t
net_worker_cpu_ns(const struct net_worker *w)
{
	return w->net->env->cpu(w);
}

uint64_t
net_timeout_ns(const struct net_worker *w)
{
	return w->net->env->timeout(w);
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
	for (unsigned i = 0; i < w->net->count; i++) {
		const struct net_endpoint *ep = w->ep[w->net->node[i]->info.region];
		if (ep != NULL)
			net_counts_add(out, &ep->counts);
	}
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
		acct = net_account();
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
