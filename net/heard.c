/*
 * heard.c -- news from storage nodes about other processes (net_heard_of): a bounded table of
 * identities.
 *
 * A node pushes LEFT, BACK and DEAD as they happen (net/wire.h). A net that joined later, or whose
 * connection was replaced, has missed some. So the first question about an identity makes the
 * monitor ask the nodes (WHO), and so does every question for which a node's news are missing.
 *
 * An identity has left when the last message of every node of the net is LEFT, and all those
 * messages are older than NET_LEFT_NS by this process's own clock. A node whose control connection
 * has ended has no last message.
 *
 * The table has a fixed size. If there is no room for a new identity, the identity of its bucket
 * that was not asked for longest is forgotten: the next question about it asks the nodes again.
 */
#include <base/clock.h>
#include <base/hash.h>
#include <net/provider.h>
#include <net/wire.h>

#include <stdlib.h>

enum {
	BUCKETS = 2048, /* a power of two; with WAYS, four times the owner slots of a cluster */
	WAYS = 8,
};
#define ASK_AGAIN_NS UINT64_C(1000000000) /* a question, or its answer, may have been dropped */

struct entry {
	uint64_t identity;   /* 0 = free */
	struct net_set left; /* nodes whose last message is LEFT */
	struct net_set here; /* nodes whose last message is BACK */
	struct net_set ask;  /* nodes that are to be asked, if ... */
	bool asks;           /* ... there are any */
	uint64_t left_ns;    /* when the last LEFT came */
	uint64_t asked_ns;
	uint64_t used_ns;
	bool dead, told; /* told: it counts among the net's news */
};

struct net_heard_table {
	pthread_mutex_t lock;
	struct net_set nodes; /* i  nodes that must have sent news */
	uint64_t ripe_ns;     /* when to look for hints that are old enough, UINT64_MAX = there are
			   * none */
	unsigned to_ask;      /* entries with a question */
	struct entry entry[BUCKETS * WAYS]; /* WAYS in a row are a bucket */
};

nam_status
net_heard_open(struct net *n, struct nam_err *err)
{
	struct net_set nodes = { { 0 } };
	for (unsigned i = 0; i < n->count; i++)
		if (n->node[i]->control_fd >= 0)
			net_set_add(&nodes, n->node[i]->info.region);
	if (net_set_none(&nodes))
		return NAM_OK;
	struct net_heard_table *t = calloc(1, sizeof *t);
	if (t == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for what nodes tell about others");
	pthread_mutex_init(&t->lock, NULL);
	t->nodes = nodes;
	t->ripe_ns = UINT64_MAX;
	n->table = t;
	return NAM_OK;
}

void
net_heard_close(struct net *n)
{
	if (n->table == NULL)
		return;
	pthread_mutex_destroy(&n->table->lock);
	free(n->table);
	n->table = NULL;
}

void
net_heard_abandon(struct net *n)
{
	if (n->table != NULL)
		pthread_mutex_init(&n->table->lock, NULL);
}

/* Finds the entry of an identity, under the lock. make: makes one if there is none, in place of
 * another if need be. */
static struct entry *
find(struct net_heard_table *t, uint64_t identity, uint64_t now, bool make)
{
	struct entry *e = &t->entry[WAYS * (nam_mix(identity) & (BUCKETS - 1))], *oldest = e;
	for (unsigned i = 0; i < WAYS; i++, e++) {
		if (e->identity == identity)
			return e;
		if (e->used_ns < oldest->used_ns)
			oldest = e;
	}
	if (!make)
		return NULL;
	if (oldest->asks)
		t->to_ask--;
	*oldest = (struct entry){ .identity = identity, .used_ns = now };
	return oldest;
}

static bool
has_left(const struct net_heard_table *t, const struct entry *e, uint64_t now)
{
	return net_set_same(&e->left, &t->nodes) && now - e->left_ns >= NET_LEFT_NS;
}

enum net_heard
net_real_heard(struct net_worker *w, uint64_t identity)
{
	struct net *n = w->net;
	struct net_heard_table *t = n->table;
	/* Regions of this very process alone: no verb of a closed net executes on them. */
	if (t == NULL)
		return net_lives_here(identity) ? NET_UNHEARD : NET_LEFT;
	if (identity == 0 || identity == n->identity)
		return NET_UNHEARD;
	uint64_t now = nam_clock_ns();
	bool wake = false;
	pthread_mutex_lock(&t->lock);
	struct entry *e = find(t, identity, now, true);
	enum net_heard is = e->dead ? NET_DEAD : has_left(t, e, now) ? NET_LEFT : NET_UNHEARD;
	struct net_set missing = net_set_minus(&t->nodes, &e->left);
	missing = net_set_minus(&missing, &e->here);
	e->used_ns = now;
	if (is == NET_UNHEARD && !net_set_none(&missing) &&
	    (e->asked_ns == 0 || now - e->asked_ns > ASK_AGAIN_NS)) {
		t->to_ask += !e->asks;
		e->asks = true;
		e->ask = missing;
		e->asked_ns = now;
		wake = true;
	}
	pthread_mutex_unlock(&t->lock);
	if (wake)
		net_monitor_wake(n);
	return is;
}

void
net_heard_take(struct net_node *node, uint32_t kind, uint64_t identity)
{
	struct net_heard_table *t = node->net->table;
	unsigned region = node->info.region;
	uint64_t now = nam_clock_ns();
	bool news = false;
	pthread_mutex_lock(&t->lock);
	struct entry *e = find(t, identity, now, kind != NET_NEWS_BACK);
	/* If no caller has asked about the identity, BACK is no news. */
	if (e != NULL) {
		if (kind == NET_NEWS_BACK) {
			net_set_drop(&e->left, region);
			net_set_add(&e->here, region);
			e->told = e->dead;
		} else {
			/* A repeated LEFT does not begin the wait again. */
			if (!net_set_has(&e->left, region))
				e->left_ns = now;
			net_set_add(&e->left, region);
			net_set_drop(&e->here, region);
		}
		if (kind == NET_NEWS_DEAD && !e->dead) {
			e->dead = true;
			news = !e->told;
			e->told = true;
		}
		if (!e->told && net_set_same(&e->left, &t->nodes) && e->left_ns + NET_LEFT_NS < t->ripe_ns)
			t->ripe_ns = e->left_ns + NET_LEFT_NS;
	}
	pthread_mutex_unlock(&t->lock);
	if (news) {
		atomic_fetch_add(&node->net->news, 1);
		net_workers_news(node->net);
	}
}

void
net_heard_forget(struct net_node *node)
{
	struct net_heard_table *t = node->net->table;
	unsigned region = node->info.region;
	pthread_mutex_lock(&t->lock);
	for (unsigned i = 0; i < BUCKETS * WAYS; i++) {
		struct entry *e = &t->entry[i];
		if (e->identity == 0)
			continue;
		if (net_set_has(&e->left, region) || net_set_has(&e->here, region))
			e->asked_ns = 0;
		net_set_drop(&e->left, region);
		net_set_drop(&e->here, region);
		e->told = e->dead;
	}
	pthread_mutex_unlock(&t->lock);
}

uint64_t
net_heard_ripen(struct net *n, uint64_t now)
{
	struct net_heard_table *t = n->table;
	unsigned news = 0;
	pthread_mutex_lock(&t->lock);
	if (now >= t->ripe_ns) {
		t->ripe_ns = UINT64_MAX;
		for (unsigned i = 0; i < BUCKETS * WAYS; i++) {
			struct entry *e = &t->entry[i];
			if (e->identity == 0 || e->told || !net_set_same(&e->left, &t->nodes))
				continue;
			if (has_left(t, e, now)) {
				e->told = true;
				news++;
			} else if (e->left_ns + NET_LEFT_NS < t->ripe_ns) {
				t->ripe_ns = e->left_ns + NET_LEFT_NS;
			}
		}
	}
	uint64_t next = t->ripe_ns;
	pthread_mutex_unlock(&t->lock);
	if (news != 0) {
		atomic_fetch_add(&n->news, news);
		net_workers_news(n);
	}
	return next;
}

unsigned
net_heard_questions(struct net_node *node, uint64_t *identity, unsigned cap)
{
	struct net_heard_table *t = node->net->table;
	unsigned region = node->info.region;
	unsigned got = 0;
	pthread_mutex_lock(&t->lock);
	for (unsigned i = 0, left = t->to_ask; i < BUCKETS * WAYS && left > 0 && got < cap; i++) {
		struct entry *e = &t->entry[i];
		if (!e->asks)
			continue;
		left--;
		if (!net_set_has(&e->ask, region))
			continue;
		net_set_drop(&e->ask, region);
		e->asks = !net_set_none(&e->ask);
		t->to_ask -= !e->asks;
		identity[got++] = e->identity;
	}
	pthread_mutex_unlock(&t->lock);
	return got;
}
