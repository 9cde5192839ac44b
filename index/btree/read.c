/* read.c -- finding nodes by one-sided READs, and lookups. */
#include <index/btree/client.h>

#include <stdlib.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
	/* Of nodes, on a coroutine's stack: SEEKS times two leaves of the shortest keys. */
	BUFFER = 10 << 10,
	TORN_MAX = 24,    /* a node may be torn so often in a row */
	TORN_WAIT = 6,    /* from then on pause between READs */
	HOPS_MAX = 16,    /* to the right, from where a cached way has led */
	HOPS_LEARNED = 1, /* likewise, from where a model has led */
	TORN_TOLD = 6,    /* likewise, if a model has led to it: it may be none */
	RESTARTS = 3,
};

/* ---- one seek -------------------------------------------------------------------------- */

/* told: how many addresses the locator has told in s->at; NULL = it is to be asked. */
static void
begin(struct idx_tree *t, struct seek *s, const unsigned *told)
{
	struct idx_view *v = &s->v->pub;
	unsigned sure = 1;
	s->n = 0;
	s->hops = s->tries = 0;
	s->told = false;
	if (!s->fresh && v->loc != NULL && s->stop <= t->loc->level) {
		if (told != NULL) {
			s->n = *told;
		} else {
			s->n = t->loc->locate(v->loc, s->key, s->value, false, s->at, 2, &sure);
			s->n = s->n > sure ? sure : s->n;
		}
		/* Above the leaves any level is a way: the root may be of another one now. */
		s->level = t->loc->level == 0 ? 0 : -1;
		s->told = true;
		/* A message is the shorter way, and brings models. */
		if (s->n == 0 && s->stop == 0) {
			s->stale = s->over = true;
			return;
		}
	} else if (!s->fresh && s->v->inner != NULL &&
		   idx_inner_way(s->v->inner, s->key, s->value, &s->at[0], &s->level)) {
		s->n = s->level >= (int)s->stop ? 1 : 0;
	}
	if (s->n > 0)
		return;
	s->at[0] = net_plus(v->at, IDX_PART_ROOT);
	s->n = 1;
	s->level = -1;
}

/* The way was wrong: once more from the root, by READs. */
static void
again(struct idx_tree *t, struct seek *s)
{
	s->stale |= !s->fresh;
	/* With models a message is the shorter way, and brings new ones. */
	bool learned = t->loc != NULL && s->stop == 0 && !s->fresh;
	if (learned || s->restarts++ >= RESTARTS) {
		s->over = true;
		s->status = NAM_BUSY;
		return;
	}
	s->fresh = true;
	begin(t, s, NULL);
}

enum sight { TORN, BELOW, BEYOND, HERE, STRANGE };

static enum sight
sight_of(const struct idx_tree *t, const struct seek *s, const struct idx_node *n)
{
	unsigned w = t->words, level = idx_meta_level(n->meta);
	/* A leaf was READ, and this is none: what its checksum covers is not all here. */
	if (s->level == 0 && level != 0)
		return n->tree == s->v->pub.id ? STRANGE : TORN;
	if (!nam_fault(TREE_UNCHECKED)) {
		/* What claims to be a leaf is judged as one; the level is in the checksum. */
		if (!idx_node_sound(n, s->v->pub.id, w, level == 0))
			return idx_node_ended(n, s->v->pub.id) ? STRANGE : TORN;
	} else if (n->tree != s->v->pub.id || idx_meta_count(n->meta) > IDX_NODE_SLOTS) {
		return TORN;
	}
	if (s->level >= 0 && level != (unsigned)s->level)
		return STRANGE; /* the root was a leaf when it was cached */
	if (level > 0 && (idx_meta_count(n->meta) == 0 || level >= IDX_LEVELS_MAX))
		return STRANGE;
	if (nam_fault(TREE_NO_FENCE) && level == 0)
		return HERE;
	if (idx_below(n, s->key, s->value, w))
		return BELOW;
	return idx_beyond(n, s->key, s->value, w) ? BEYOND : HERE;
}

struct run {
	struct net_worker *w;
	struct idx_tree *t;
	seek_fn fn;
	void *arg;
	struct net_backoff pause;
	uint64_t leaf_reads, inner_reads, rights, torn;
};

/* A node that the place belongs to. */
static void
here(struct run *r, struct seek *s, unsigned number, const struct idx_node *n, net_addr at)
{
	unsigned w = r->t->words, level = idx_meta_level(n->meta);
	s->tries = 0;
	s->stale |= s->told && level > r->t->loc->level;
	s->told = false;
	if (level > 0 && s->v->inner != NULL)
		idx_inner_put(s->v->inner, at, n);
	if (level <= s->stop) {
		s->status = NAM_OK;
		s->over = r->fn(r->arg, s, number, n, at);
		if (s->over)
			return;
		s->at[0].bits = n->right;
		s->level = (int)level;
	} else {
		s->at[0].bits = *idx_at(n, idx_node_child(w, idx_child_of(n, s->key, s->value, w)));
		s->level = (int)level - 1;
	}
	s->n = 1;
}

/* Judges the one or two nodes that were READ for a seek. */
static void
judge(struct run *r, struct seek *s, unsigned number, const struct idx_node *const *node,
    const struct net_op *const *op)
{
	const struct idx_node *left = NULL;
	bool torn = false;
	for (unsigned i = 0; i < s->n; i++) {
		if (op[i]->status == NAM_CANCELLED) {
			torn = true; /* it was not sent */
			continue;
		}
		if (op[i]->status == NAM_INVALID) {
			continue; /* no such address */
		}
		if (op[i]->status != NAM_OK) {
			s->over = true;
			s->status = (nam_status)op[i]->status;
			return;
		}
		switch (sight_of(r->t, s, node[i])) {
		case HERE:
			here(r, s, number, node[i], s->at[i]);
			return;
		case TORN:
			torn = true;
			r->torn++;
			break;
		case BEYOND:
			left = node[i];
			break;
		case BELOW:
		case STRANGE:
			break;
		}
	}
	if (torn && s->tries < (s->told ? TORN_TOLD : TORN_MAX)) {
		s->tries++; /* the same once more */
		return;
	}
	if (!torn && left != NULL && left->right != 0 &&
	    s->hops < (r->t->loc != NULL ? HOPS_LEARNED : HOPS_MAX)) {
		s->hops++;
		s->stale = true;
		s->at[0].bits = left->right;
		s->n = 1;
		s->level = (int)idx_meta_level(left->meta);
		r->rights += s->level == 0;
		return;
	}
	again(r->t, s);
}

/* Asks the locator for all seeks at once. False: one by one. */
static bool
locate_many(struct idx_tree *t, struct seek *s, unsigned n, unsigned *count)
{
	const uint64_t *key[IDX_LOCATE_MAX];
	uint64_t value[IDX_LOCATE_MAX];
	void *loc[IDX_LOCATE_MAX];
	net_addr at[IDX_LOCATE_MAX][2];
	if (n < 2 || t->loc == NULL || t->loc->locate_many == NULL)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (s[i].fresh || s[i].stop > t->loc->level)
			return false;
	for (unsigned from = 0; from < n; from += IDX_LOCATE_MAX) {
		unsigned some = n - from < IDX_LOCATE_MAX ? n - from : IDX_LOCATE_MAX;
		for (unsigned i = 0; i < some; i++) {
			loc[i] = s[from + i].v->pub.loc;
			key[i] = s[from + i].key;
			value[i] = s[from + i].value;
		}
		t->loc->locate_many(loc, key, value, some, at, count + from);
		for (unsigned i = 0; i < some; i++)
			memcpy(s[from + i].at, at[i], count[from + i] * sizeof at[i][0]);
	}
	return true;
}

/* READs the nodes that the seeks ask for and that the room holds, with one doorbell per node. */
static void
read_nodes(struct run *r, const struct seek_room *room, struct seek *s, unsigned n, bool wait,
    struct net_counts *acct)
{
	struct net_backoff *pause = &r->pause;
	unsigned leaf = idx_node_words(r->t->words, true), inner = idx_node_words(r->t->words, false);
	struct net_batch b;
	size_t used = 0;
	net_batch_init(&b, r->w, room->op, 2 * room->max, acct);
	for (unsigned i = 0; i < n; i++) {
		unsigned words = s[i].level == 0 ? leaf : inner;
		room->first[i] = UINT32_MAX;
		if (s[i].over || (used + (size_t)s[i].n * words) * 8 > room->bytes)
			continue;
		room->first[i] = b.n;
		for (unsigned k = 0; k < s[i].n; k++, used += words)
			net_read(&b, s[i].at[k], room->node + used, 8 * words);
		if (s[i].level == 0)
			r->leaf_reads += s[i].n;
		else
			r->inner_reads += s[i].n;
	}
	if (wait)
		net_back_off(r->w, pause);
	(void)net_run(&b); /* each op tells its own status */
}

void
idx_seek_in(struct net_worker *w, struct idx_tree *t, const struct seek_room *room, struct seek *s,
    unsigned n, seek_fn fn, void *arg, struct net_counts *acct)
{
	struct run r = { .w = w,
		.t = t,
		.fn = fn,
		.arg = arg,
		.pause = { .base_ns = 1000, .cap_ns = 100000, .dice = true } };
	unsigned left = n;
	NAM_ASSERT(n <= room->max);
	bool many = locate_many(t, s, n, room->count);
	for (unsigned i = 0; i < n; i++) {
		s[i].stale = s[i].over = false;
		s[i].restarts = 0;
		s[i].status = NAM_BUSY;
		begin(t, &s[i], many ? &room->count[i] : NULL);
		left -= s[i].over;
	}
	while (left > 0) {
		bool wait = false;
		for (unsigned i = 0; i < n; i++)
			wait |= !s[i].over && s[i].tries > TORN_WAIT;
		read_nodes(&r, room, s, n, wait, acct);
		for (unsigned i = 0; i < n; i++) {
			const struct idx_node *node[2];
			const struct net_op *op[2];
			if (room->first[i] == UINT32_MAX)
				continue;
			for (unsigned k = 0; k < s[i].n; k++) {
				op[k] = &room->op[room->first[i] + k];
				node[k] = op[k]->buf;
			}
			judge(&r, &s[i], i, node, op);
			left -= s[i].over;
		}
	}
	idx_count_add(t, IDX_N_LEAF_READS, r.leaf_reads);
	idx_count_add(t, IDX_N_INNER_READS, r.inner_reads);
	idx_count_add(t, IDX_N_RIGHTS, r.rights);
	idx_count_add(t, IDX_N_TORN, r.torn);
}

void
idx_seek(struct net_worker *w, struct idx_tree *t, struct seek *s, unsigned n, seek_fn fn, void *arg,
    struct net_counts *acct)
{
	uint64_t buffer[BUFFER / 8];
	struct net_op ops[2 * SEEKS];
	unsigned first[SEEKS], count[SEEKS];
	const struct seek_room room = { SEEKS, buffer, sizeof buffer, ops, first, count };
	idx_seek_in(w, t, &room, s, n, fn, arg, acct);
}

/* ---- lookup ---------------------------------------------------------------------------- */

/* Hits of one leaf, in order, that are not before `from`: a leaf that was asked before may have
 * given its range to this one since (B15). */
static void
gather(struct idx_tree_probe *p, const struct idx_node *n, unsigned w, uint64_t from)
{
	unsigned count = idx_meta_count(n->meta);
	for (unsigned i = 0; i < count; i++) {
		if (w == 1 ? *idx_at(n, idx_node_key(1, i)) != p->key[0]
			   : idx_key_order(idx_at(n, idx_node_key(w, i)), p->key, w) != 0)
			continue;
		uint64_t value = *idx_at(n, idx_node_value(w, i));
		if (value < from)
			continue;
		unsigned at = p->hits < IDX_HITS_MAX ? p->hits : IDX_HITS_MAX;
		for (; at > 0 && p->hit[at - 1] > value; at--)
			if (at < IDX_HITS_MAX)
				p->hit[at] = p->hit[at - 1];
		if (at < IDX_HITS_MAX)
			p->hit[at] = value;
		p->hits++;
	}
}

/* Up to max probes that are looked up together. room: NULL, on the stack. */
struct lookup {
	struct idx_tree *t;
	struct idx_tree_probe **p;
	struct seek *s;
	unsigned max;
	const struct seek_room *room;
};

/* ---- lookup, on mapped memory ---- */

/* Which slots of a leaf have a key of one word, as bits: without a branch for each slot. */
static inline uint32_t
slots_of(const struct idx_node *n, uint64_t key)
{
	const uint64_t *at = idx_at(n, idx_node_key(1, 0));
	uint32_t in = 0;
#ifdef __SSE2__
	const __m128i want = _mm_set1_epi64x((long long)key);
	for (unsigned i = 0; i < IDX_NODE_SLOTS; i += 4) {
		__m128i a = _mm_cmpeq_epi32(_mm_loadu_si128((const void *)(at + i)), want);
		__m128i b = _mm_cmpeq_epi32(_mm_loadu_si128((const void *)(at + i + 2)), want);
		/* low halves and high halves of the four words side by side */
		__m128 low = _mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), 0x88);
		__m128 high = _mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), 0xdd);
		in |= (uint32_t)_mm_movemask_ps(_mm_and_ps(low, high)) << i;
	}
#else
	for (unsigned i = 0; i < IDX_NODE_SLOTS; i++)
		in |= (uint32_t)(at[i] == key) << i;
#endif
	return in & ((1u << idx_meta_count(n->meta)) - 1);
}

/* Does a leaf that was READ decide alone which values the key has (B1, B2)? */
static inline __attribute__((always_inline)) bool
decides(const struct idx_node *n, uint64_t tree, const uint64_t *key, unsigned w)
{
	return idx_node_sound(n, tree, w, true) && !idx_below(n, key, 0, w) &&
	       (!idx_beyond(n, key, UINT64_MAX, w) || (n->right == 0 && !idx_beyond(n, key, 0, w)));
}

/* A probe's answer, from a leaf that decides. False: the other way has to answer. */
static bool
answer(struct idx_tree_probe *p, const struct idx_node *n, net_addr at, unsigned w)
{
	if (w == 1) {
		uint32_t in = slots_of(n, p->key[0]);
		if ((in & (in - 1)) == 0) {
			p->hits = in != 0;
			p->hit[0] = in != 0 ? *idx_at(n, idx_node_value(1, (unsigned)__builtin_ctz(in))) : 0;
		} else {
			gather(p, n, 1, 0);
		}
	} else {
		gather(p, n, w, 0);
	}
	if (p->hits > IDX_HITS_MAX || idx_leaves_saw(p->leaves, p->tree, at, n) != NAM_OK) {
		p->hits = 0;
		return false;
	}
	p->leaf = (struct idx_leaf){ at, n->check };
	p->status = p->hits == 0 ? NAM_ABSENT : NAM_OK;
	return true;
}

/*
 * The usual lookup, short: where all nodes' memory is mapped and models tell leaves, READs these
 * leaves once. Answers the probes that a leaf decides, and takes them off the list; returns how
 * many are left, in any order. Which leaves were wrong, stale or torn is the other way's to find
 * out (idx_seek).
 */
static unsigned
lookup_near(struct net_worker *w, struct idx_tree *t, const struct views *m, struct lookup *l, unsigned n,
    struct net_counts *acct)
{
	uint64_t buffer[BUFFER / 8], value[SEEKS];
	const uint64_t *key[SEEKS];
	void *loc[SEEKS];
	net_addr told[SEEKS][2], at[2 * SEEKS];
	unsigned count[SEEKS], words = idx_node_words(t->words, true), reads = 0, left = 0;
	if (n > SEEKS || t->loc == NULL || t->loc->level != 0 || t->loc->locate_many == NULL ||
	    nam_fault_any() || !net_all_mapped(w))
		return n;
	for (unsigned i = 0; i < n; i++) {
		const struct view *v = idx_view_of(m, l->p[i]->key, t->words);
		loc[i] = v->pub.loc;
		key[i] = l->p[i]->key;
		value[i] = 0;
		if (loc[i] == NULL)
			return n;
	}
	t->loc->locate_many(loc, key, value, n, told, count);
	for (unsigned i = 0; i < n; i++) {
		if ((reads + count[i]) * words > BUFFER / 8)
			count[i] = 0;
		for (unsigned k = 0; k < count[i]; k++)
			at[reads++] = told[i][k];
	}
	if (reads == 0 || net_read_mapped(w, at, reads, 8 * words, buffer, acct) != NAM_OK)
		return n;
	idx_count_add(t, IDX_N_LEAF_READS, reads);
	const char *node = (const char *)buffer;
	for (unsigned i = 0, r = 0; i < n; i++) {
		struct idx_tree_probe *p = l->p[i];
		bool done = false;
		for (unsigned k = 0; k < count[i]; k++, r++, node += 8 * words) {
			const struct idx_node *leaf = (const void *)node;
			bool good = t->words == 1 ? decides(leaf, m->id, p->key, 1)
						  : decides(leaf, m->id, p->key, t->words);
			if (!done && good)
				done = answer(p, leaf, at[r], t->words);
		}
		if (!done)
			l->p[left++] = p;
	}
	return left;
}

/* ---- lookup, anywhere ---- */

static bool
found(void *arg, struct seek *s, unsigned i, const struct idx_node *n, net_addr at)
{
	struct lookup *l = arg;
	struct idx_tree_probe *p = l->p[i];
	unsigned w = l->t->words;
	gather(p, n, w, s->value);
	if (p->leaf.at.bits == 0)
		p->leaf = (struct idx_leaf){ at, n->check };
	nam_status st = idx_leaves_saw(p->leaves, p->tree, at, n);
	if (st != NAM_OK) {
		s->status = st;
		return true;
	}
	if (!idx_beyond(n, p->key, UINT64_MAX, w) || n->right == 0 || p->hits > IDX_HITS_MAX)
		return true;
	/* Equal keys go on in the next leaf. */
	s->value = idx_at(n, idx_node_high(w))[w];
	return false;
}

static void
conclude(struct idx_tree_probe *p)
{
	p->status = p->hits == 0 ? NAM_ABSENT : NAM_OK;
	if (p->hits > IDX_HITS_MAX) {
		p->hits = IDX_HITS_MAX;
		p->status = NAM_FULL;
	}
}

/* One probe's part of an answer. Returns the words it takes, 0 = it makes no sense. */
static unsigned
answered(struct idx_tree_probe *p, const uint64_t *at, unsigned left)
{
	if (left < 1)
		return 0;
	unsigned all = *at & 0xffff, leaves = (*at >> 16) & 0xffff;
	unsigned told = all < IDX_HITS_MAX ? all : IDX_HITS_MAX;
	if (left < 1 + told + 2 * leaves)
		return 0;
	p->hits = all;
	memcpy(p->hit, at + 1, told * sizeof *at);
	at += 1 + told;
	p->status = NAM_OK;
	for (unsigned i = 0; i < leaves && p->status == NAM_OK; i++)
		p->status =
		    idx_leaves_add(p->leaves, &(struct idx_seen){ .leaf = { { at[2 * i] }, at[2 * i + 1] } });
	if (leaves > 0)
		p->leaf = (struct idx_leaf){ { at[0] }, at[1] };
	return 1 + told + 2 * leaves;
}

/* By one message to a partition: probes whose status is NAM_BUSY get another one, or stay so if
 * the answer had no room for them. */
static nam_status
ask_part(struct net_worker *w, struct view *v, struct idx_tree_probe **p, unsigned n)
{
	struct idx_ask a;
	struct idx_an head;
	unsigned words = v->pub.words;
	idx_count_add(v->pub.tree, IDX_N_FALLBACKS, n);
	/* Room for the longest answer to one, and for usual ones to all. */
	if (!idx_ask_init(&a, v, IDX_MSG_LOOKUP, n * words,
		1 + IDX_MSG_HITS + 2 * IDX_MSG_LEAVES + (n - 1) * (1 + IDX_MSG_HITS + 2)))
		return NAM_NOMEM;
	((struct idx_rq *)(void *)a.rq)->n = n;
	for (unsigned i = 0; i < n; i++, a.n += words) {
		memcpy(a.rq + a.n, p[i]->key, 8 * (size_t)words);
		/* What a seek has gathered may be of another moment. */
		p[i]->hits = 0;
		p[i]->leaf = (struct idx_leaf){ 0 };
	}
	nam_status st = idx_ask_run(w, &a, &head);
	const uint64_t *at = a.an + sizeof head / 8;
	unsigned left = st == NAM_OK ? a.call.got / 8 - (unsigned)sizeof head / 8 : 0;
	if (st == NAM_OK && (head.done > n || head.done == 0))
		st = NAM_CORRUPT;
	for (unsigned i = 0; st == NAM_OK && i < head.done; i++) {
		unsigned took = answered(p[i], at, left);
		if (took == 0)
			st = NAM_CORRUPT;
		at += took;
		left -= took;
	}
	idx_ask_free(&a);
	return st;
}

/* By messages: all probes of a tree whose status is NAM_BUSY. A stale map leaves some so. */
static void
ask(struct net_worker *w, struct idx_tree *t, struct views *m, struct idx_tree_probe **all, unsigned n,
    struct net_counts *acct)
{
	for (unsigned i = 0; i < n; i++) {
		struct idx_tree_probe *p[SEEKS];
		unsigned k = 0;
		if (all[i]->status != NAM_BUSY)
			continue;
		struct view *v = idx_view_of(m, all[i]->key, t->words);
		for (unsigned j = i; j < n && k < SEEKS; j++)
			if (all[j]->status == NAM_BUSY && idx_view_of(m, all[j]->key, t->words) == v)
				p[k++] = all[j];
		nam_status st = ask_part(w, v, p, k);
		if (st == NAM_REFUSED) {
			/* No such partition: if the map is stale, its caller asks again. */
			struct views *next;
			st = idx_views(w, t, m, &next, acct);
			if (st == NAM_OK && next != m)
				continue;
			st = st == NAM_OK ? NAM_REFUSED : st;
		}
		for (unsigned j = 0; j < k && st != NAM_OK; j++)
			p[j]->status = st;
	}
}

static bool
learn_only(void *arg, struct seek *s, unsigned i, const struct idx_node *n, net_addr at)
{
	(void)arg, (void)s, (void)i, (void)n, (void)at;
	return true;
}

/* After lookups, some by ways that were stale: what the cache needs to know, once for each leaf.
 * Uses the first seeks for it. */
static void
learn(struct net_worker *w, struct idx_tree *t, struct lookup *l, unsigned n, struct net_counts *acct)
{
	struct seek *s = l->s;
	uint64_t last = 0;
	unsigned m = 0;
	for (unsigned i = 0; i < n; i++) {
		uint64_t leaf = l->p[i]->leaf.at.bits;
		if (!s[i].stale || leaf == 0 || leaf == last)
			continue;
		last = leaf;
		if (t->loc != NULL)
			(void)t->loc->wrong(s[i].v->pub.loc, w, s[i].key, 0, l->p[i]->leaf.at, acct);
		if (s[i].v->inner == NULL)
			continue;
		/* New copies of the nodes on the way. */
		s[m] = s[i];
		s[m].value = 0;
		s[m].stop = 1;
		s[m++].fresh = true;
	}
	if (m > 0 && l->room != NULL)
		idx_seek_in(w, t, l->room, s, m, learn_only, NULL, acct);
	else if (m > 0)
		idx_seek(w, t, s, m, learn_only, NULL, acct);
}

/* The worker's choice for a call whose first key lies in this partition; NULL: it has none. */
static struct idx_adaptive *
choose(struct net_worker *w, struct view *v, enum idx_way *way, struct net_counts *acct)
{
	struct idx_adaptive *a = v->ways != NULL ? idx_ways_of(v->ways, w) : NULL;
	if (a == NULL)
		return NULL;
	/* If the heartbeat cannot be READ, the lookup will tell why. */
	(void)idx_adaptive_listen(w, v->pub.region, a, acct);
	*way = idx_adaptive_choose(a);
	return a;
}

/* One tree's probes, at most l->max. Their status is NAM_BUSY if the map was stale. */
static nam_status
lookup_chunk(struct net_worker *w, struct idx_tree *t, struct lookup *l, unsigned n, struct net_counts *acct)
{
	struct seek *s = l->s;
	struct views *m;
	nam_status worst = NAM_OK, st = idx_views(w, t, NULL, &m, acct);
	for (unsigned i = 0; st == NAM_ABSENT && i < n; i++)
		if (l->p[i]->leaves != NULL)
			st = idx_views_kept(w, t, NULL, &m, l->p[i]->leaves, acct);
	enum idx_way way = t->o.cache == IDX_TREE_MESSAGES ? IDX_WAY_MESSAGE : IDX_WAY_READS;
	struct idx_adaptive *ways = NULL;
	if (st == NAM_OK && t->o.adaptive)
		ways = choose(w, idx_view_of(m, l->p[0]->key, t->words), &way, acct);
	bool messages = way == IDX_WAY_MESSAGE, busy = messages;
	uint64_t begun_ns = ways != NULL ? net_now_ns(w) : 0;
	idx_count_add(t, IDX_N_LOOKUPS, n);
	if (st == NAM_OK && !messages && ways == NULL && (n = lookup_near(w, t, m, l, n, acct)) == 0)
		return NAM_OK;
	idx_count_add(t, IDX_N_CHOSEN, ways != NULL && messages ? n : 0);
	for (unsigned i = 0; i < n; i++) {
		struct idx_tree_probe *p = l->p[i];
		p->hits = 0;
		p->leaf = (struct idx_leaf){ 0 };
		p->status = st == NAM_OK ? NAM_BUSY : st;
		if (st != NAM_OK || messages)
			continue;
		s[i].v = idx_view_of(m, p->key, t->words);
		s[i].value = 0;
		s[i].stop = 0;
		s[i].fresh = false;
		memcpy(s[i].key, p->key, 8 * (size_t)t->words);
		if (t->loc != NULL && t->loc->prepare != NULL)
			(void)t->loc->prepare(s[i].v->pub.loc, w, &p->key, &s[i].value, 1, acct);
	}
	if (st != NAM_OK)
		return st == NAM_ABSENT ? NAM_OK : st;
	if (!messages) {
		if (l->room != NULL)
			idx_seek_in(w, t, l->room, s, n, found, l, acct);
		else
			idx_seek(w, t, s, n, found, l, acct);
		for (unsigned i = 0; i < n; i++) {
			l->p[i]->status = s[i].status;
			busy |= s[i].status == NAM_BUSY;
		}
	}
	if (busy)
		ask(w, t, m, l->p, n, acct);
	if (ways != NULL)
		idx_adaptive_done(ways, way, (net_now_ns(w) - begun_ns) / n);
	for (unsigned i = 0; i < n; i++) {
		struct idx_tree_probe *p = l->p[i];
		if (p->status == NAM_OK)
			conclude(p);
		else
			worst = p->status;
	}
	if (!messages)
		learn(w, t, l, n, acct);
	return worst;
}

static nam_status
lookup_all(
    struct net_worker *w, struct lookup *l, struct idx_tree_probe *p, unsigned n, struct net_counts *acct)
{
	nam_status worst = NAM_OK;
	unsigned done = 0;
	while (done < n) {
		unsigned k = 0, begun = done;
		l->t = p[done].tree;
		while (k < l->max && done < n && p[done].tree == l->t)
			l->p[k++] = &p[done++];
		nam_status st = lookup_chunk(w, l->t, l, k, acct);
		for (unsigned tries = 0; tries < RESTARTS; tries++) {
			/* Those whose partition has moved. */
			unsigned left = 0;
			for (unsigned i = begun; i < done; i++)
				if (p[i].status == NAM_BUSY)
					l->p[left++] = &p[i];
			if (left == 0)
				break;
			st = lookup_chunk(w, l->t, l, left, acct);
		}
		if (st != NAM_OK)
			worst = st;
	}
	for (unsigned i = 0; i < n; i++)
		if (p[i].status == NAM_BUSY)
			worst = NAM_BUSY;
	return worst;
}

nam_status
idx_tree_lookup(struct net_worker *w, struct idx_tree_probe *p, unsigned n, struct net_counts *acct)
{
	struct idx_tree_probe *some[SEEKS];
	struct seek s[SEEKS];
	struct lookup l = { .p = some, .s = s, .max = SEEKS };
	return lookup_all(w, &l, p, n, acct);
}

/* The most words of nodes that a seek READs at once: one node, or two that models tell. */
static unsigned
seek_words(const struct idx_tree *t)
{
	unsigned leaf = idx_node_words(t->words, true), inner = idx_node_words(t->words, false);
	unsigned most = leaf > inner ? leaf : inner;
	return t->loc != NULL ? 2 * most : most;
}

nam_status
idx_tree_lookup_many(struct net_worker *w, struct idx_tree_probe *p, unsigned n, struct nam_arena *arena,
    struct net_counts *acct)
{
	unsigned max = n < IDX_TREE_TOGETHER ? n : IDX_TREE_TOGETHER, words = 0;
	if (n <= SEEKS)
		return idx_tree_lookup(w, p, n, acct);
	for (unsigned i = 0; i < n; i++)
		if (i == 0 || p[i].tree != p[i - 1].tree)
			words = seek_words(p[i].tree) > words ? seek_words(p[i].tree) : words;
	struct seek_room room = { .max = max, .bytes = (size_t)max * words * 8 };
	struct lookup l = { .max = max, .room = &room };
	room.node = nam_arena_take(arena, room.bytes);
	room.op = nam_arena_take(arena, 2 * max * sizeof *room.op);
	room.first = nam_arena_take(arena, max * sizeof *room.first);
	room.count = nam_arena_take(arena, max * sizeof *room.count);
	l.p = nam_arena_take(arena, max * sizeof(struct idx_tree_probe *));
	l.s = nam_arena_take(arena, max * sizeof *l.s);
	if (room.node == NULL || room.op == NULL || room.first == NULL || room.count == NULL || l.p == NULL ||
	    l.s == NULL)
		return NAM_NOMEM;
	return lookup_all(w, &l, p, n, acct);
}
