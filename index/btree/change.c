/* change.c -- inserts, removes and fills: messages to the partitions, side by side. */
#include <index/btree/client.h>

#include <stdlib.h>

enum {
	GROUPS = 16, /* messages at once */
	ROUNDS = 64, /* of growing, and of stale maps, before a change gives up */
	ENTRIES = IDX_TREE_MESSAGE,
	MOVE_WAIT_NS = 1000000000
};

/* Waits while entries are being moved to another partition. False: it has waited for long, and the
 * process that moves them seems to be dead. */
struct patience {
	struct net_backoff pause;
	uint64_t until;
};
static bool
wait_moved(struct net_worker *w, struct patience *p)
{
	uint64_t now = net_now_ns(w);
	if (p->until == 0) {
		p->pause =
		    (struct net_backoff){ .base_ns = 5000, .cap_ns = 500000, .yields = 2, .dice = true };
		p->until = now + MOVE_WAIT_NS;
	}
	if (now > p->until)
		return false;
	net_back_off(w, &p->pause);
	return true;
}

/* Entries that one message carries. */
struct group {
	struct idx_ask ask;
	struct view *v;
	struct idx_tree *tree;
	struct views *map;
	unsigned n, tries;
	uint32_t entry[ENTRIES];
};

static unsigned
entry_words(const struct idx_tree_entry *e)
{
	return 3 + e->tree->words + (e->unique ? e->hits : 0);
}

/* The leaf that this process would look at for it; 0 = not known. */
static uint64_t
hint_of(const struct idx_tree_entry *e, struct view *v)
{
	net_addr at[1];
	unsigned sure = 0;
	int level;
	if (e->hint.bits != 0)
		return e->hint.bits;
	if (v->pub.loc != NULL && e->tree->loc->level == 0 &&
	    e->tree->loc->locate(v->pub.loc, e->key, e->value, false, at, 1, &sure) > 0)
		return at[0].bits;
	if (v->inner != NULL && idx_inner_way(v->inner, e->key, e->value, at, &level) && level == 0)
		return at[0].bits;
	return 0;
}

static bool
group_open(struct group *g, const struct idx_tree_entry *all, enum idx_message what)
{
	unsigned words = 0;
	for (unsigned i = 0; i < g->n; i++)
		words += entry_words(&all[g->entry[i]]);
	if (!idx_ask_init(&g->ask, g->v, what, words,
		g->n * (unsigned)(sizeof(struct idx_an_change) / 8 + IDX_MSG_HITS)))
		return false;
	((struct idx_rq *)(void *)g->ask.rq)->n = g->n;
	for (unsigned i = 0; i < g->n; i++) {
		const struct idx_tree_entry *e = &all[g->entry[i]];
		unsigned hits = e->unique && what == IDX_MSG_INSERT ? e->hits : 0, w = e->tree->words;
		uint64_t *at = g->ask.rq + g->ask.n;
		at[0] = e->value;
		at[1] = hint_of(e, g->v);
		at[2] = (uint64_t)hits << 8 | (e->unique && what == IDX_MSG_INSERT);
		memcpy(at + 3, e->key, 8 * (size_t)w);
		memcpy(at + 3 + w, e->hit, 8 * (size_t)hits);
		g->ask.n += 3 + w + hits;
	}
	return true;
}

/* One entry's part of an answer. Returns the words it takes, 0 = it makes no sense. */
static unsigned
entry_answer(struct idx_tree_entry *e, const uint64_t *at, unsigned left)
{
	struct idx_an_change c;
	if (left < sizeof c / 8)
		return 0;
	memcpy(&c, at, sizeof c);
	unsigned st = (unsigned)c.status & 255, all = (unsigned)(c.status >> 8) & 255,
		 hits = all < IDX_HITS_MAX ? all : IDX_HITS_MAX;
	if (st >= NAM_STATUS_COUNT || left < sizeof c / 8 + hits)
		return 0;
	e->status = (nam_status)st;
	if (st == NAM_DUPLICATE) {
		memcpy(e->hit, at + sizeof c / 8, 8 * (size_t)hits);
		e->hits = hits;
	}
	e->change.before = (struct idx_leaf){ { c.before[0] }, c.before[1] };
	e->change.after = (struct idx_leaf){ { c.after[0] }, c.after[1] };
	e->change.sibling = (struct idx_leaf){ { c.sibling[0] }, c.sibling[1] };
	e->change.falls = (uint16_t)(c.status >> IDX_AN_LEFT_FALLS);
	e->change.sibling_falls = (uint16_t)(c.status >> IDX_AN_FALLS);
	if (c.status & IDX_AN_HINTED)
		idx_count_add(e->tree, IDX_N_HINTS_USED, 1);
	idx_count_add(e->tree, IDX_N_CHANGES, 1);
	return (unsigned)(sizeof c / 8) + hits;
}

/* What remains to be asked has status NAM_BUSY. */
static nam_status
group_end(struct net_worker *w, struct group *g, struct idx_tree_entry *all, struct net_counts *acct)
{
	struct idx_an head = { 0 };
	nam_status st;
	for (;;) {
		st = idx_ask_wait(w, &g->ask, &head);
		if (st != NAM_GONE && st != NAM_CANCELLED)
			break;
		if ((st = idx_ask_again(w, &g->ask, st, &g->tries)) != NAM_OK)
			break;
	}
	bool answered = st == NAM_OK || st == NAM_FULL;
	const uint64_t *at = g->ask.an + sizeof head / 8;
	unsigned left = answered ? g->ask.call.got / 8 - (unsigned)sizeof head / 8 : 0, done = 0;
	if (answered && head.done > g->n)
		st = NAM_CORRUPT;
	for (; answered && st != NAM_CORRUPT && done < head.done; done++) {
		unsigned words = entry_answer(&all[g->entry[done]], at, left);
		if (words == 0) {
			st = NAM_CORRUPT;
			break;
		}
		at += words;
		left -= words;
	}
	if (st == NAM_FULL)
		st = idx_grow(w, g->v, head.extents);
	if (st == NAM_REFUSED) {
		struct views *next;
		st = idx_views(w, g->tree, g->map, &next, acct);
		if (st == NAM_OK && next == g->map)
			st = NAM_REFUSED;
	}
	/* After NAM_OK the others are asked for again. */
	for (; st != NAM_OK && done < g->n; done++)
		all[g->entry[done]].status = st;
	idx_ask_free(&g->ask);
	return st;
}

/* Collects entries that are to be asked for into groups; returns how many groups. */
static unsigned
collect(struct net_worker *w, struct idx_tree_entry *e, unsigned n, enum idx_message what, struct group *g,
    struct net_counts *acct)
{
	unsigned groups = 0;
	for (unsigned i = 0; i < n; i++) {
		struct views *m;
		if (e[i].status != NAM_BUSY)
			continue;
		nam_status st = what == IDX_MSG_INSERT ? idx_views_made(w, e[i].tree, NULL, &m, acct)
						       : idx_views(w, e[i].tree, NULL, &m, acct);
		if (st != NAM_OK) {
			e[i].status = st;
			continue;
		}
		struct view *v = idx_view_of(m, e[i].key, e[i].tree->words);
		unsigned k = 0;
		while (k < groups && (g[k].v != v || g[k].n == ENTRIES))
			k++;
		if (k == GROUPS)
			continue; /* in another round */
		if (k == groups) {
			g[groups].v = v;
			g[groups].tree = e[i].tree;
			g[groups].map = m;
			g[groups].n = g[groups].tries = 0;
			groups++;
		}
		g[k].entry[g[k].n++] = i;
	}
	return groups;
}

static nam_status
change(struct net_worker *w, struct idx_tree_entry *e, unsigned n, enum idx_message what,
    struct net_counts *acct)
{
	unsigned most = n < GROUPS ? n : GROUPS;
	struct group *g = malloc(most * sizeof *g);
	nam_status worst = NAM_OK;
	for (unsigned i = 0; i < n; i++) {
		NAM_ASSERT(e[i].value != 0 && e[i].value != UINT64_MAX && e[i].hits <= IDX_HITS_MAX);
		e[i].status = g == NULL ? NAM_NOMEM : NAM_BUSY;
		e[i].change = (struct idx_leaf_change){ 0 };
	}
	if (g == NULL)
		return NAM_NOMEM;
	struct patience patience = { .until = 0 };
	/* Rounds that only grow a partition, or READ the map, do not go on for ever. */
	for (unsigned idle = 0; idle < ROUNDS;) {
		unsigned groups = collect(w, e, n, what, g, acct), started = 0, before = 0, after = 0;
		bool moved = false;
		if (groups == 0)
			break;
		for (unsigned i = 0; i < n; i++)
			before += e[i].status == NAM_BUSY;
		while (started < groups && group_open(&g[started], e, what))
			idx_ask_start(w, &g[started++].ask);
		for (unsigned i = 0; i < groups; i++) {
			if (i < started) {
				moved |= group_end(w, &g[i], e, acct) == NAM_BUSY;
				continue;
			}
			for (unsigned k = 0; k < g[i].n; k++)
				e[g[i].entry[k]].status = NAM_NOMEM;
		}
		for (unsigned i = 0; i < n; i++)
			after += e[i].status == NAM_BUSY;
		idle = after < before ? 0 : idle + 1;
		if (moved && after == before) {
			if (!wait_moved(w, &patience))
				break;
			idle = 0;
		} else
			patience.until = 0;
	}
	free(g);
	for (unsigned i = 0; i < n; i++)
		if (e[i].status != NAM_OK && e[i].status != NAM_DUPLICATE && e[i].status != NAM_ABSENT &&
		    e[i].status != NAM_FULL)
			worst = e[i].status;
	return worst;
}

nam_status
idx_tree_insert(struct net_worker *w, struct idx_tree_entry *e, unsigned n, struct net_counts *acct)
{
	return n == 0 ? NAM_OK : change(w, e, n, IDX_MSG_INSERT, acct);
}

nam_status
idx_tree_remove(struct net_worker *w, struct idx_tree_entry *e, unsigned n, struct net_counts *acct)
{
	return n == 0 ? NAM_OK : change(w, e, n, IDX_MSG_REMOVE, acct);
}

nam_status
idx_part_send(
    struct net_worker *w, struct view *v, const uint64_t *e, unsigned n, uint64_t how, uint64_t *done)
{
	unsigned words = v->pub.words;
	struct idx_ask a;
	struct idx_an head = { 0 };
	*done = 0;
	if (!idx_ask_init(&a, v, IDX_MSG_FILL, 1 + n * (words + 1), 0))
		return NAM_NOMEM;
	a.rq[a.n++] = how;
	memcpy(a.rq + a.n, e, 8 * (size_t)n * (words + 1));
	a.n += n * (words + 1);
	((struct idx_rq *)(void *)a.rq)->n = n;
	nam_status st = idx_ask_run(w, &a, &head);
	idx_ask_free(&a);
	if ((st == NAM_OK || st == NAM_FULL) && head.done <= n)
		*done = head.done;
	return st == NAM_FULL ? idx_grow(w, v, head.extents) : st;
}

/* One message's worth. */
static nam_status
fill_some(struct net_worker *w, struct idx_tree *t, const uint64_t *keys, const uint64_t *values, uint64_t n,
    unsigned percent, uint64_t *done, struct net_counts *acct)
{
	unsigned words = t->words, k = 0;
	const unsigned most = IDX_FILL_ENTRIES(words);
	struct views *m;
	nam_status st = idx_views_made(w, t, NULL, &m, acct);
	if (st != NAM_OK)
		return st;
	unsigned number = idx_view_number(m, keys, words);
	const uint64_t *high = number + 1 < m->n ? m->view[number + 1]->pub.low : NULL;
	uint64_t *e = malloc(8 * (size_t)most * (words + 1));
	if (e == NULL)
		return NAM_NOMEM;
	for (; k < n && k < most; k++) {
		const uint64_t *key = keys + k * (size_t)words;
		if (high != NULL && idx_place_order(key, values[k], high, high[words], words) >= 0)
			break;
		memcpy(e + k * (size_t)(words + 1), key, 8 * (size_t)words);
		e[k * (size_t)(words + 1) + words] = values[k];
	}
	st = k > 0 ? idx_part_send(w, m->view[number], e, k, percent, done) : NAM_INVALID;
	free(e);
	idx_count_add(t, IDX_N_CHANGES, *done);
	if (st == NAM_REFUSED) {
		struct views *next;
		st = idx_views(w, t, m, &next, acct);
		if (st == NAM_OK && next == m)
			st = NAM_REFUSED;
	}
	return st;
}

nam_status
idx_tree_fill(struct net_worker *w, struct idx_tree *t, const uint64_t *keys, const uint64_t *values,
    uint64_t n, unsigned fill_percent, uint64_t *done, struct net_counts *acct)
{
	unsigned idle = 0;
	struct patience patience = { .until = 0 };
	*done = 0;
	for (uint64_t i = 0; i < n; i++)
		if (values[i] == 0 || values[i] == UINT64_MAX)
			return NAM_INVALID;
	while (*done < n) {
		uint64_t more = 0;
		nam_status st = fill_some(
		    w, t, keys + *done * t->words, values + *done, n - *done, fill_percent, &more, acct);
		*done += more;
		if (st == NAM_BUSY && wait_moved(w, &patience))
			continue;
		if (st != NAM_OK)
			return st;
		patience.until = 0;
		idle = more > 0 ? 0 : idle + 1;
		if (idle > ROUNDS)
			return NAM_BUSY;
	}
	return NAM_OK;
}

nam_status
idx_tree_shape(struct net_worker *w, struct idx_tree *t, struct idx_tree_shape *out, struct net_counts *acct)
{
	struct views *m;
	nam_status st = idx_views(w, t, NULL, &m, acct);
	*out = (struct idx_tree_shape){ 0 };
	if (st == NAM_ABSENT)
		return NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < m->n; i++) {
		struct idx_ask a;
		struct idx_an head;
		struct idx_an_shape s;
		if (!idx_ask_init(&a, m->view[i], IDX_MSG_SHAPE, 0, sizeof s / 8))
			return NAM_NOMEM;
		st = idx_ask_run(w, &a, &head);
		if (st == NAM_OK && a.call.got != sizeof head + sizeof s)
			st = NAM_CORRUPT;
		if (st == NAM_OK) {
			memcpy(&s, a.an + sizeof head / 8, sizeof s);
			out->entries += s.entries;
			out->leaves += s.leaves;
			out->inners += s.inners;
			out->splits += s.splits;
			out->extents += s.extents;
			out->trains += s.trains;
			out->leaf_bytes += s.leaf_bytes;
			out->inner_bytes += s.inner_bytes;
			out->parts++;
			out->height = out->height > s.levels ? out->height : (unsigned)s.levels;
		}
		idx_ask_free(&a);
	}
	return st;
}
