/*
 * scan.c -- a cursor over places in order.
 *
 * It knows the place it has come to, and asks for the leaves from there on: from the cache, or from
 * the inner node above them. Whatever leaves it is told, it believes each only if its fences hold
 * the place (B2), and goes on at the leaf's other fence. A leaf that does not fit (it was split, or
 * the cache is old) ends the run, and the next one begins at the place where this one ended.
 */
#include <index/btree/client.h>

#include <stdlib.h>

enum {
	RUN_MAX = 16,
	TORN_MAX = 24,
	MESSAGE_ENTRIES = 256,
	ADVANCE_READS = 4, /* then a message brings entries */
	ADVANCE_MAX = 9
};

struct idx_tree_scan {
	struct idx_tree *t;
	struct idx_leaves *leaves;
	bool descending, over;
	unsigned run; /* leaves of the next doorbell */
	/* Places low <= x < high. The cursor stands at `at`: ascending, it belongs to what is to
	 * come; descending, it does not. Value at [words]. */
	uint64_t low[IDX_KEY_WORDS + 1], high[IDX_KEY_WORDS + 1], at[IDX_KEY_WORDS + 1];
	/* the leaf in hand */
	struct idx_node leaf;
	uint8_t slot[IDX_NODE_SLOTS];
	unsigned have, next;
	/* leaves READ, of which some are still to come */
	net_addr run_at[RUN_MAX];
	unsigned run_n, run_next;
	struct view *run_v;
	/* entries that a message brought */
	uint64_t *told;
	unsigned told_n, told_next;
	uint64_t buffer[]; /* RUN_MAX leaves */
};

struct idx_tree_scan *
idx_tree_scan_open(struct idx_tree *t, const struct idx_tree_range *range, struct idx_leaves *leaves)
{
	unsigned w = t->words;
	struct idx_tree_scan *s = malloc(sizeof *s + RUN_MAX * (size_t)idx_node_room(w, true));
	if (s == NULL)
		return NULL;
	memset(s, 0, sizeof *s);
	s->t = t;
	s->leaves = leaves;
	s->descending = range->descending;
	s->run = range->expect == 0 ? 2 : range->expect / (IDX_NODE_SLOTS / 2) + 1;
	if (s->run > RUN_MAX)
		s->run = RUN_MAX;
	memset(s->high, 0xff, sizeof s->high);
	if (range->low != NULL) {
		memcpy(s->low, range->low, 8 * (size_t)w);
		s->low[w] = range->low_open ? UINT64_MAX : 0;
	}
	if (range->high != NULL) {
		memcpy(s->high, range->high, 8 * (size_t)w);
		s->high[w] = range->high_open ? 0 : UINT64_MAX;
	}
	memcpy(s->at, s->descending ? s->high : s->low, sizeof s->at);
	s->over = idx_place_order(s->low, s->low[w], s->high, s->high[w], w) >= 0;
	return s;
}

void
idx_tree_scan_close(struct idx_tree_scan *s)
{
	if (s == NULL)
		return;
	free(s->told);
	free(s);
}

/* The place that the next leaf must hold. */
static void
wanted(const struct idx_tree_scan *s, uint64_t *place)
{
	unsigned w = s->t->words;
	memcpy(place, s->at, 8 * (size_t)(w + 1));
	if (s->descending)
		(void)idx_place_before(place, &place[w], w); /* at is above low: there is one */
}

static struct idx_node *
run_leaf(struct idx_tree_scan *s, unsigned i)
{
	return (struct idx_node *)(void *)((char *)s->buffer + i * (size_t)idx_node_room(s->t->words, true));
}

/* Takes a leaf in hand if it holds the place, and moves the cursor to its other fence. */
static bool
take(struct idx_tree_scan *s, const struct idx_node *n, net_addr at, nam_status *st)
{
	unsigned w = s->t->words;
	uint64_t place[IDX_KEY_WORDS + 1];
	wanted(s, place);
	bool here = !idx_below(n, place, place[w], w) && !idx_beyond(n, place, place[w], w);
	/* The twin believes each leaf that brings it on at all: it must come to an end. */
	if (nam_fault(TREE_NO_FENCE))
		here = s->descending ? !idx_below(n, place, place[w], w) : !idx_beyond(n, place, place[w], w);
	if (!here)
		return false;
	*st = idx_leaves_saw(s->leaves, s->t, at, n);
	/* What lies before the cursor was shown: a leaf may have inherited range there (B15). */
	memcpy(s->descending ? s->high : s->low, s->at, 8 * (size_t)(w + 1));
	memcpy(&s->leaf, n, 8 * (size_t)idx_node_words(w, true));
	s->have = idx_leaf_sort(&s->leaf, w, s->slot);
	s->next = 0;
	memcpy(s->at, idx_at(n, s->descending ? IDX_NODE_LOW : idx_node_high(w)), 8 * (size_t)(w + 1));
	s->over = s->descending ? idx_place_order(s->at, s->at[w], s->low, s->low[w], w) <= 0
				: idx_place_order(s->at, s->at[w], s->high, s->high[w], w) >= 0;
	return true;
}

/* ---- which leaves ---------------------------------------------------------------------- */

struct above {
	const struct idx_tree_scan *s;
	net_addr *leaf;
	unsigned max, n;
};

static bool
children(void *arg, struct seek *k, unsigned number, const struct idx_node *n, net_addr at)
{
	struct above *a = arg;
	unsigned w = a->s->t->words, count = idx_meta_count(n->meta);
	(void)number;
	if (idx_meta_level(n->meta) == 0) {
		a->leaf[a->n++] = at;
		return true;
	}
	for (unsigned i = idx_child_of(n, k->key, k->value, w); i < count && a->n < a->max;
	     a->s->descending ? i-- : i++)
		a->leaf[a->n++].bits = *idx_at(n, idx_node_child(w, i));
	return true;
}

/* fresh: not from the cache. */
static nam_status
plan(struct net_worker *w, struct idx_tree_scan *s, bool fresh, struct net_counts *acct)
{
	struct idx_tree *t = s->t;
	uint64_t place[IDX_KEY_WORDS + 1];
	unsigned sure = 1;
	struct view *v = s->run_v;
	wanted(s, place);
	s->run_next = s->run_n = 0;
	if (!fresh && v->pub.loc != NULL) {
		const uint64_t *key = place;
		if (t->loc->prepare != NULL)
			(void)t->loc->prepare(v->pub.loc, w, &key, &place[t->words], 1, acct);
		for (unsigned i = 0; i < 2 && t->loc->level == 0 && s->run_n == 0; i++) {
			if (i > 0)
				(void)t->loc->wrong(
				    v->pub.loc, w, place, place[t->words], (net_addr){ 0 }, acct);
			s->run_n = t->loc->locate(
			    v->pub.loc, place, place[t->words], s->descending, s->run_at, s->run, &sure);
		}
	} else if (!fresh && v->inner != NULL) {
		s->run_n =
		    idx_inner_leaves(v->inner, place, place[t->words], s->descending, s->run_at, s->run);
	}
	if (s->run_n > 0)
		return NAM_OK;
	struct above a = { .s = s, .leaf = s->run_at, .max = s->run };
	struct seek k = { .v = v, .value = place[t->words], .stop = 1, .fresh = fresh };
	memcpy(k.key, place, 8 * (size_t)t->words);
	idx_seek(w, t, &k, 1, children, &a, acct);
	s->run_n = a.n;
	return k.status == NAM_OK && a.n == 0 ? NAM_BUSY : k.status;
}

/* READs the planned leaves until each is whole, or does not become so. */
static nam_status
fetch(struct net_worker *w, struct idx_tree_scan *s, struct net_counts *acct)
{
	struct idx_tree *t = s->t;
	struct net_backoff pause = { .base_ns = 1000, .cap_ns = 100000, .yields = 2, .dice = true };
	bool whole[RUN_MAX] = { false };
	unsigned words = idx_node_words(t->words, true), torn = 0;
	for (unsigned tries = 0; tries < TORN_MAX; tries++) {
		struct net_op ops[RUN_MAX];
		unsigned of[RUN_MAX];
		struct net_batch b;
		net_batch_init(&b, w, ops, RUN_MAX, acct);
		for (unsigned i = 0; i < s->run_n; i++)
			if (!whole[i]) {
				of[b.n] = i;
				net_read(&b, s->run_at[i], run_leaf(s, i), 8 * words);
			}
		unsigned n = b.n;
		(void)net_run(&b);
		idx_count_add(t, IDX_N_LEAF_READS, n);
		unsigned bad = 0;
		for (unsigned k = 0; k < n; k++) {
			const struct idx_node *leaf = run_leaf(s, of[k]);
			if (ops[k].status == NAM_INVALID ||
			    (ops[k].status == NAM_OK && idx_node_ended(leaf, s->run_v->pub.id))) {
				s->run_n = of[k]; /* what lies behind it is not needed */
				break;
			}
			if (ops[k].status != NAM_OK && ops[k].status != NAM_CANCELLED)
				return (nam_status)ops[k].status;
			whole[of[k]] = ops[k].status == NAM_OK &&
				       ((nam_fault(TREE_UNCHECKED) && leaf->tree == s->run_v->pub.id &&
					    idx_meta_count(leaf->meta) <= IDX_NODE_SLOTS) ||
					   idx_node_sound(leaf, s->run_v->pub.id, t->words, true));
			bad += !whole[of[k]];
			torn += !whole[of[k]];
			/* Only the first is needed now. */
			if (!whole[of[k]] && of[k] > 0 && tries > 2) {
				s->run_n = of[k];
				break;
			}
		}
		if (bad == 0 || s->run_n == 0 || (tries > 2 && whole[0]))
			break;
		net_back_off(w, &pause);
	}
	idx_count_add(t, IDX_N_TORN, torn);
	while (s->run_n > 0 && !whole[s->run_n - 1])
		s->run_n--;
	for (unsigned i = 0; i < s->run_n; i++)
		if (!whole[i])
			s->run_n = i;
	return NAM_OK;
}

/* ---- by messages ----------------------------------------------------------------------- */

/* The next part of the range that lies in this partition. */
static nam_status
ask(struct net_worker *w, struct idx_tree_scan *s)
{
	struct idx_tree *t = s->t;
	struct view *v = s->run_v;
	unsigned words = t->words;
	const unsigned most = MESSAGE_ENTRIES;
	struct idx_ask a;
	struct idx_an head;
	const uint64_t *low = s->descending ? s->low : s->at, *high = s->descending ? s->at : s->high;
	idx_count_add(t, IDX_N_FALLBACKS, 1);
	if (!idx_ask_init(&a, v, IDX_MSG_SCAN, 1 + 2 * (words + 1),
		2 + words + (most + IDX_NODE_SLOTS) * (words + 1) + 4 * IDX_MSG_LEAVES))
		return NAM_NOMEM;
	uint64_t *at = a.rq + a.n;
	at[0] = (uint64_t)most << 8 | s->descending;
	memcpy(at + 1, low, 8 * (size_t)(words + 1));
	memcpy(at + 2 + words, high, 8 * (size_t)(words + 1));
	a.n += 1 + 2 * (words + 1);
	nam_status st = idx_ask_run(w, &a, &head);
	unsigned got = st == NAM_OK ? a.call.got / 8 : 0, fixed = sizeof head / 8 + 2 + words;
	if (st == NAM_OK && got < fixed)
		st = NAM_CORRUPT;
	if (st == NAM_OK) {
		at = a.an + sizeof head / 8;
		unsigned n = (unsigned)(at[0] & UINT32_MAX), leaves = (unsigned)(at[0] >> 32);
		const uint64_t *next = at + 1, *e = next + words + 1;
		if (leaves > IDX_MSG_LEAVES || n > most + IDX_NODE_SLOTS ||
		    got < fixed + n * (words + 1) + 2 * leaves)
			st = NAM_CORRUPT;
		free(s->told);
		s->told_n = s->told_next = 0;
		s->told = st == NAM_OK ? malloc(8 * (size_t)(n + 1) * (words + 1)) : NULL;
		if (st == NAM_OK && s->told == NULL)
			st = NAM_NOMEM;
		if (st == NAM_OK) {
			memcpy(s->told, e, 8 * (size_t)n * (words + 1));
			s->told_n = n;
			e += n * (words + 1);
			memcpy(s->at, next, 8 * (size_t)(words + 1));
			s->over =
			    s->descending
				? idx_place_order(s->at, s->at[words], s->low, s->low[words], words) <= 0
				: idx_place_order(s->at, s->at[words], s->high, s->high[words], words) >= 0;
		}
		for (unsigned i = 0; i < leaves && st == NAM_OK; i++)
			st = idx_leaves_add(
			    s->leaves, &(struct idx_seen){ .leaf = { { e[2 * i] }, e[2 * i + 1] } });
	}
	idx_ask_free(&a);
	return st;
}

/* ---- the cursor ------------------------------------------------------------------------ */

/* Brings a leaf in hand, or entries from a message. */
static nam_status
advance(struct net_worker *w, struct idx_tree_scan *s, struct net_counts *acct)
{
	struct idx_tree *t = s->t;
	nam_status st = NAM_OK;
	while (s->run_next < s->run_n) {
		unsigned i = s->run_next++;
		if (take(s, run_leaf(s, i), s->run_at[i], &st))
			return st;
		s->run_next = s->run_n; /* it does not follow */
	}
	struct views *m = NULL, *stale = NULL;
	bool fresh = false;
	for (unsigned tries = 0; tries < ADVANCE_MAX; tries++) {
		uint64_t place[IDX_KEY_WORDS + 1];
		st = s->leaves != NULL ? idx_views_kept(w, t, stale, &m, s->leaves, acct)
				       : idx_views(w, t, stale, &m, acct);
		if (st == NAM_ABSENT) {
			s->over = true;
			return NAM_OK;
		}
		if (st != NAM_OK)
			return st;
		wanted(s, place);
		s->run_v = idx_view_of(m, place, t->words);
		if (t->o.cache == IDX_TREE_MESSAGES || tries > ADVANCE_READS) {
			st = ask(w, s);
			if (st != NAM_REFUSED || stale == m)
				return st;
			stale = m;
			continue;
		}
		st = plan(w, s, fresh, acct);
		if (st == NAM_OK)
			st = fetch(w, s, acct);
		if (st != NAM_OK && st != NAM_BUSY)
			return st;
		net_addr first = s->run_n > 0 ? s->run_at[0] : (net_addr){ 0 };
		if (st == NAM_OK && s->run_n > 0) {
			s->run_next = 1;
			if (take(s, run_leaf(s, 0), s->run_at[0], &st)) {
				s->run = 2 * s->run < RUN_MAX ? 2 * s->run : RUN_MAX;
				if (fresh && s->run_v->pub.loc != NULL)
					(void)t->loc->wrong(
					    s->run_v->pub.loc, w, place, place[t->words], first, acct);
				return st;
			}
		}
		s->run_n = s->run_next = 0;
		fresh = true;
	}
	return NAM_BUSY;
}

/* The next entry of what is in hand that lies in the range. */
static bool
next_entry(struct idx_tree_scan *s, const uint64_t **key, uint64_t *value)
{
	unsigned w = s->t->words;
	if (s->told_next < s->told_n) {
		const uint64_t *e = s->told + s->told_next++ * (size_t)(w + 1);
		*key = e;
		*value = e[w];
		return true;
	}
	while (s->next < s->have) {
		unsigned i = s->next++, k = s->slot[s->descending ? s->have - 1 - i : i];
		*key = idx_at(&s->leaf, idx_node_key(w, k));
		*value = *idx_at(&s->leaf, idx_node_value(w, k));
		if (idx_place_order(*key, *value, s->low, s->low[w], w) >= 0 &&
		    idx_place_order(*key, *value, s->high, s->high[w], w) < 0)
			return true;
	}
	return false;
}

nam_status
idx_tree_scan_next(struct net_worker *w, struct idx_tree_scan *s, uint64_t *keys, uint64_t *values,
    unsigned cap, unsigned *n, struct net_counts *acct)
{
	unsigned words = s->t->words;
	for (*n = 0; *n < cap;) {
		const uint64_t *key;
		uint64_t value;
		if (next_entry(s, &key, &value)) {
			if (keys != NULL)
				memcpy(keys + *n * (size_t)words, key, 8 * (size_t)words);
			values[(*n)++] = value;
			continue;
		}
		if (s->over)
			break;
		nam_status st = advance(w, s, acct);
		if (st != NAM_OK)
			return st;
	}
	return NAM_OK;
}
