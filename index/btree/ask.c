/* ask.c -- messages from a client to the service of a partition, also over broken channels. */
#include <index/btree/client.h>

#include <stdlib.h>

enum { TRIES = 12, GROW_MAX = 16, SPLIT_EXTENTS = 2048 };

bool
idx_ask_init(struct idx_ask *a, struct view *v, enum idx_message what, unsigned rq_words, unsigned an_words)
{
	unsigned head = sizeof(struct idx_rq) / 8, an = sizeof(struct idx_an) / 8;
	*a = (struct idx_ask){ .v = v, .rq_cap = head + rq_words, .an_cap = an + an_words, .n = head };
	a->rq = malloc(8 * (size_t)(a->rq_cap + a->an_cap));
	if (a->rq == NULL)
		return false;
	a->an = a->rq + a->rq_cap;
	*(struct idx_rq *)(void *)a->rq = (struct idx_rq){
		.tree = v->pub.id, .part = net_offset_of(v->pub.at), .what = what, .words = v->pub.words
	};
	return true;
}

void
idx_ask_free(struct idx_ask *a)
{
	free(a->rq);
	a->rq = NULL;
}

/* A view that belongs to no tree that is open (create, drop) has its own id and turn in place. */
static void
sign(struct net_worker *w, struct idx_ask *a)
{
	struct idx_rq *rq = (void *)a->rq;
	struct idx_tree *t = a->v->pub.tree;
	if (t == NULL) {
		/* All such requests of a process are one view, whose turns are its clock's. */
		uint64_t now = net_now_ns(w);
		rq->view = net_identity(net_worker_net(w));
		a->turn = now > a->turn ? now : a->turn + 1;
		rq->turn = a->turn;
		return;
	}
	uint64_t id = atomic_load(&t->id);
	if (id == 0) {
		uint64_t new = (nam_rng_next(net_rng(w)) | UINT64_C(1) << 63);
		if (atomic_compare_exchange_strong(&t->id, &id, new))
			id = new;
	}
	rq->view = id;
	rq->turn = a->turn = atomic_load(&t->turn);
}

void
idx_ask_start(struct net_worker *w, struct idx_ask *a)
{
	sign(w, a);
	a->call = (struct net_call){ .region = a->v->pub.region,
		.service = a->v->pub.service,
		.request = a->rq,
		.len = 8 * a->n,
		.answer = a->an,
		.cap = 8 * a->an_cap };
	net_call_start(w, &a->call);
}

nam_status
idx_ask_wait(struct net_worker *w, struct idx_ask *a, struct idx_an *head)
{
	(void)w;
	nam_status st = net_call_wait(&a->call);
	if (st != NAM_OK)
		return st == NAM_FULL ? NAM_INVALID : st; /* the answer needs more room */
	if (a->call.got < sizeof *head)
		return NAM_CORRUPT;
	memcpy(head, a->an, sizeof *head);
	if (head->status >= NAM_STATUS_COUNT)
		return NAM_CORRUPT;
	return head->status == NAM_ABSENT ? NAM_REFUSED : (nam_status)head->status;
}

nam_status
idx_ask_again(struct net_worker *w, struct idx_ask *a, nam_status st, unsigned *tries)
{
	static const struct net_call_config plain;
	struct idx_tree *t = a->v->pub.tree;
	if (st == NAM_GONE && t != NULL) {
		/* The request may still be served, so those to come have another turn (B9). */
		uint64_t turn = a->turn;
		atomic_compare_exchange_strong(&t->turn, &turn, turn + 1);
	}
	if ((st != NAM_GONE && st != NAM_CANCELLED) || ++*tries > TRIES)
		return st == NAM_CANCELLED ? NAM_BUSY : st;
	if (st == NAM_GONE) {
		if (net_worker_broke(w, a->v->pub.region))
			return NAM_GONE; /* all of the worker's connection: its owner's to renew */
		if ((st = net_call_open(w, a->v->pub.region, a->v->pub.service, &plain, NULL)) != NAM_OK)
			return st;
	}
	idx_ask_start(w, a);
	return NAM_OK;
}

nam_status
idx_ask_run(struct net_worker *w, struct idx_ask *a, struct idx_an *head)
{
	unsigned tries = 0;
	idx_ask_start(w, a);
	for (;;) {
		nam_status st = idx_ask_wait(w, a, head);
		if (st != NAM_GONE && st != NAM_CANCELLED)
			return st;
		if ((st = idx_ask_again(w, a, st, &tries)) != NAM_OK)
			return st;
	}
}

nam_status
idx_view_call(struct net_worker *w, struct idx_view *pub, const void *request, uint32_t len, void *answer,
    uint32_t cap, uint32_t *got, struct net_counts *acct)
{
	struct view *v = (void *)pub;
	struct idx_ask a;
	struct idx_an head;
	(void)acct; /* net counts the verbs of messages for the worker */
	if (len > IDX_CALL_MAX - sizeof(struct idx_rq) || cap > IDX_CALL_MAX)
		return NAM_INVALID;
	if (!idx_ask_init(&a, v, IDX_MSG_MODEL, (len + 7) / 8, (cap + 7) / 8))
		return NAM_NOMEM;
	a.rq[a.rq_cap - 1] = 0; /* what pads the last word */
	memcpy(a.rq + a.n, request, len);
	a.n = a.rq_cap;
	nam_status st = idx_ask_run(w, &a, &head);
	*got = 0;
	if (st == NAM_OK) {
		uint32_t bytes = a.call.got - (uint32_t)sizeof head;
		*got = bytes < cap ? bytes : cap;
		memcpy(answer, a.an + sizeof head / 8, *got);
	}
	idx_ask_free(&a);
	return st == NAM_REFUSED ? NAM_ABSENT : st;
}

/* ---- memory ---------------------------------------------------------------------------- */

/* An extent that was taken for a partition of that region before, and not used. */
static bool
spare_take(struct idx_tree *t, unsigned region, net_addr *out)
{
	bool found = false;
	pthread_mutex_lock(&t->lock);
	for (unsigned i = 0; i < t->spares && !found; i++)
		if (net_region_of(t->spare[i]) == region) {
			*out = t->spare[i];
			t->spare[i] = t->spare[--t->spares];
			found = true;
		}
	pthread_mutex_unlock(&t->lock);
	return found;
}

nam_status
idx_extent_get(struct net_worker *w, struct idx_tree *t, unsigned region, net_addr *out)
{
	if (spare_take(t, region, out))
		return NAM_OK;
	nam_status st = t->mem.take != NULL ? t->mem.take(t->mem.arg, w, region, out) : NAM_FULL;
	return st == NAM_OK && net_region_of(*out) != region ? NAM_INVALID : st;
}

/* If there is no room it stays unused until its owner frees it with the tree. */
void
idx_extent_back(struct idx_tree *t, net_addr extent)
{
	pthread_mutex_lock(&t->lock);
	if (t->spares < IDX_SPARE)
		t->spare[t->spares++] = extent;
	pthread_mutex_unlock(&t->lock);
}

static uint64_t
most_of(const struct idx_tree *t)
{
	return t->o.split_extents != 0 ? t->o.split_extents : SPLIT_EXTENTS;
}

static void
note_large(struct idx_tree *t, const struct view *v)
{
	pthread_mutex_lock(&t->lock);
	memcpy(t->large_key, v->pub.low, sizeof t->large_key);
	atomic_store(&t->large, true);
	pthread_mutex_unlock(&t->lock);
	if (t->mem.has_grown != NULL)
		t->mem.has_grown(t->mem.arg);
}

bool
idx_tree_is_large(const struct idx_tree *t)
{
	return atomic_load(&t->large);
}

bool
idx_tree_large(struct idx_tree *t, uint64_t *key)
{
	if (!atomic_load_explicit(&t->large, memory_order_relaxed))
		return false;
	pthread_mutex_lock(&t->lock);
	bool is = atomic_exchange(&t->large, false);
	memcpy(key, t->large_key, 8 * (size_t)t->words);
	pthread_mutex_unlock(&t->lock);
	return is;
}

nam_status
idx_grow(struct net_worker *w, struct view *v, uint64_t extents)
{
	struct idx_tree *t = v->pub.tree;
	struct idx_ask a;
	struct idx_an head;
	uint64_t most = 1 + extents / 8;
	unsigned n = 0, want = most < GROW_MAX ? (unsigned)most : GROW_MAX;
	nam_status st = NAM_OK;
	if (!idx_ask_init(&a, v, IDX_MSG_GROW, 1 + GROW_MAX, 0))
		return NAM_NOMEM;
	uint64_t *extent = a.rq + a.n + 1;
	a.rq[a.n] = extents;
	while (n < want && st == NAM_OK) {
		net_addr at;
		if ((st = idx_extent_get(w, t, v->pub.region, &at)) == NAM_OK)
			extent[n++] = net_offset_of(at);
	}
	if (n > 0) {
		((struct idx_rq *)(void *)a.rq)->n = n;
		a.n += 1 + n;
		st = idx_ask_run(w, &a, &head);
		unsigned done = st == NAM_OK && head.done <= n ? head.done : 0;
		if (st == NAM_OK && head.used > most_of(t))
			note_large(t, v);
		/* If it is not known whether the partition has them, they are not handed over
		 * again. */
		for (unsigned i = done; i < n && st == NAM_OK; i++)
			idx_extent_back(t, net_at(v->pub.region, extent[i]));
	}
	idx_ask_free(&a);
	return st;
}
