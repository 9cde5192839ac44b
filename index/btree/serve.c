/* serve.c -- the services of a storage node that change its trees: messages in, answers out
 * (btree_msg.h). */
#include <base/assert.h>
#include <base/fault.h>
#include <index/btree/part.h>
#include <net/region_format.h>

#include <stdio.h>
#include <stdlib.h>

static_assert(IDX_TREE_EXTENT == NET_EXTENT, "nodes lie in extents");
static_assert((int)IDX_MSG_HITS == (int)IDX_HITS_MAX, "an answer holds as many hits as a probe");

enum {
	VIEWS_MAX = 1 << 16,
	PARTS_FIRST = 64,
	DROP_LEAVES = 1 << 14, /* of one message: other requests wait meanwhile */
};

/* The turn of a view that was served last (B9). */
struct view_turn {
	uint64_t view, turn;
};

struct service {
	struct idx_tree_host *host;
	struct part **part; /* by hash of their offset, open addressing */
	size_t parts, parts_cap;
	struct view_turn *view; /* likewise */
	size_t views, views_cap;
	size_t idled; /* a place in `part`: the next whose model may work */
	bool work;    /* a request came since no model had anything to do */
	struct idx_change change;
};

struct idx_tree_host {
	unsigned region;
	char *base;
	uint64_t size;
	const struct idx_model *model;
	_Atomic uint32_t *owner;
	_Atomic uint32_t marks;
	struct service service[IDX_TREE_SERVICES];
	char name[IDX_TREE_SERVICES][16];
};

/* ---- partitions that are open ---------------------------------------------------------- */

static struct part **
part_place(struct part **table, size_t cap, uint64_t at)
{
	size_t i = nam_mix(at) & (cap - 1);
	while (table[i] != NULL && table[i]->pub.at != at)
		i = (i + 1) & (cap - 1);
	return &table[i];
}

static bool
part_room(struct service *s)
{
	if (2 * (s->parts + 1) <= s->parts_cap)
		return true;
	size_t cap = s->parts_cap == 0 ? PARTS_FIRST : 2 * s->parts_cap;
	struct part **more = calloc(cap, sizeof(struct part *));
	if (more == NULL)
		return false;
	for (size_t i = 0; i < s->parts_cap; i++)
		if (s->part[i] != NULL)
			*part_place(more, cap, s->part[i]->pub.at) = s->part[i];
	free(s->part);
	s->part = more;
	s->parts_cap = cap;
	return true;
}

static void
part_forget(struct service *s, struct part *p)
{
	struct part **at = part_place(s->part, s->parts_cap, p->pub.at);
	*at = NULL;
	s->parts--;
	/* Those behind it in its run find new places. */
	size_t i = (size_t)(at - s->part);
	for (;;) {
		i = (i + 1) & (s->parts_cap - 1);
		struct part *q = s->part[i];
		if (q == NULL)
			break;
		s->part[i] = NULL;
		*part_place(s->part, s->parts_cap, q->pub.at) = q;
	}
	idx_part_close(p);
	free(p);
}

/* The partition that a request names; opens it if it is not open. */
static nam_status
part_get(struct service *s, const struct idx_rq *rq, struct part **out)
{
	struct idx_tree_host *h = s->host;
	uint64_t at = rq->part;
	*out = NULL;
	if (at % IDX_TREE_EXTENT != 0 || at < IDX_TREE_EXTENT || h->size < IDX_TREE_EXTENT ||
	    at > h->size - IDX_TREE_EXTENT)
		return NAM_INVALID;
	if (!part_room(s))
		return NAM_NOMEM;
	struct part *p = *part_place(s->part, s->parts_cap, at);
	if (p != NULL && p->ending && p->pub.tree == rq->tree)
		return NAM_ABSENT;
	if (p != NULL) {
		/* Its memory may have been given to something else without our being told. */
		const struct idx_part_head *head = idx_head_of_part(p);
		if (head->magic == IDX_PART_MAGIC && head->tree == p->pub.tree && p->pub.tree == rq->tree) {
			*out = p;
			return NAM_OK;
		}
		if (head->magic == IDX_PART_MAGIC && head->tree == p->pub.tree)
			return NAM_ABSENT;
		part_forget(s, p);
	}
	if ((p = calloc(1, sizeof *p)) == NULL)
		return NAM_NOMEM;
	p->pub.base = h->base;
	p->pub.size = h->size;
	p->pub.region = h->region;
	p->pub.at = at;
	p->pub.tree = rq->tree;
	p->owner = h->owner;
	p->mark = 1 + atomic_fetch_add(&h->marks, 1);
	p->change = &s->change;
	nam_status st = idx_part_open(p);
	if (st == NAM_OK && h->model != NULL) {
		p->ops = h->model;
		p->pub.model = p->ops->open(&p->pub);
	}
	if (st != NAM_OK) {
		idx_part_close(p);
		free(p);
		return st;
	}
	*part_place(s->part, s->parts_cap, at) = p;
	s->parts++;
	*out = p;
	return NAM_OK;
}

/* ---- turns (B9) ------------------------------------------------------------------------ */

static struct view_turn *
view_place(struct view_turn *table, size_t cap, uint64_t view)
{
	size_t i = nam_mix(view) & (cap - 1);
	while (table[i].view != 0 && table[i].view != view)
		i = (i + 1) & (cap - 1);
	return &table[i];
}

/* True if the request may be executed. */
static nam_status
view_turn(struct service *s, uint64_t view, uint64_t turn)
{
	if (view == 0)
		return NAM_INVALID;
	if (2 * (s->views + 1) > s->views_cap) {
		/* Views of processes that are long gone are never asked for again. If there are
		 * very many, all are forgotten: a request that is older than its repetition then
		 * needs as many new views to pass between the two. */
		bool forget = s->views >= VIEWS_MAX;
		size_t cap = forget ? PARTS_FIRST : s->views_cap == 0 ? PARTS_FIRST : 2 * s->views_cap;
		struct view_turn *more = calloc(cap, sizeof *more);
		if (more == NULL)
			return NAM_NOMEM;
		for (size_t i = 0; i < s->views_cap && !forget; i++)
			if (s->view[i].view != 0)
				*view_place(more, cap, s->view[i].view) = s->view[i];
		if (forget)
			s->views = 0;
		free(s->view);
		s->view = more;
		s->views_cap = cap;
	}
	struct view_turn *v = view_place(s->view, s->views_cap, view);
	if (v->view == 0) {
		*v = (struct view_turn){ view, turn };
		s->views++;
	}
	if (turn < v->turn && !nam_fault(TREE_NO_TURN))
		return NAM_CANCELLED;
	if (turn > v->turn)
		v->turn = turn;
	return NAM_OK;
}

/* ---- a request's bytes, and an answer's ------------------------------------------------ */

struct in {
	const uint64_t *word;
	unsigned left;
};

/* The next n words, NULL = there are not so many. */
static const uint64_t *
next(struct in *in, unsigned n)
{
	if (in->left < n)
		return NULL;
	const uint64_t *at = in->word;
	in->word += n;
	in->left -= n;
	return at;
}

struct out {
	uint64_t *word;
	unsigned n, cap; /* words */
};

static uint64_t *
room(struct out *o, unsigned n)
{
	if (o->cap - o->n < n)
		return NULL;
	o->n += n;
	return o->word + o->n - n;
}

/* ---- values of one key ----------------------------------------------------------------- */

struct hits {
	unsigned n, leaves;
	uint64_t hit[IDX_MSG_HITS];
	uint64_t leaf[IDX_MSG_LEAVES][2];
};

static void
hit_add(struct hits *h, uint64_t value)
{
	unsigned at = h->n < IDX_MSG_HITS ? h->n : IDX_MSG_HITS;
	while (at > 0 && h->hit[at - 1] > value) {
		if (at < IDX_MSG_HITS)
			h->hit[at] = h->hit[at - 1];
		at--;
	}
	if (at < IDX_MSG_HITS)
		h->hit[at] = value;
	h->n++;
}

/* All of them, and the leaves that prove it. NAM_FULL: more than an answer holds. */
static nam_status
collect(const struct part *p, const uint64_t *key, struct hits *h)
{
	unsigned w = p->pub.words;
	struct idx_path path;
	const struct idx_node *n = idx_part_find(p, key, 0, &path);
	h->n = h->leaves = 0;
	for (;; n = idx_part_node(&p->pub, idx_part_right(&p->pub, idx_part_offset(p, n)))) {
		if (n == NULL)
			return NAM_CORRUPT;
		if (h->leaves == IDX_MSG_LEAVES)
			return NAM_FULL;
		h->leaf[h->leaves][0] = (uint64_t)p->pub.region << 48 | idx_part_offset(p, n);
		h->leaf[h->leaves++][1] = n->check;
		for (unsigned i = 0; i < idx_meta_count(n->meta); i++)
			if (idx_key_order(idx_at(n, idx_node_key(w, i)), key, w) == 0)
				hit_add(h, *idx_at(n, idx_node_value(w, i)));
		if (h->n > IDX_MSG_HITS)
			return NAM_FULL;
		if (idx_beyond(n, key, UINT64_MAX, w) && n->right != 0)
			continue;
		return NAM_OK;
	}
}

static bool
is_value(uint64_t v)
{
	return v != 0 && v != UINT64_MAX;
}

/* Does the key belong to this partition? */
static bool
in_range(const struct part *p, const uint64_t *key, uint64_t value)
{
	const struct idx_part_head *h = idx_head_of_part(p);
	unsigned w = p->pub.words;
	return idx_place_order(key, value, h->low, h->low[w], w) >= 0 &&
	       idx_place_order(key, value, h->high, h->high[w], w) < 0;
}

/* ---- the messages ---------------------------------------------------------------------- */

static nam_status
insert_one(struct part *p, const uint64_t *e, const uint64_t *known, struct out *o)
{
	unsigned hits = (unsigned)(e[2] >> 8);
	bool unique = e[2] & 1;
	struct idx_an_change c = { 0 };
	struct hits all = { 0 };
	const uint64_t *key = e + 3;
	nam_status st = NAM_OK;
	if (unique) {
		st = collect(p, key, &all);
		bool in = false, news = false;
		for (unsigned i = 0; i < all.n && i < IDX_MSG_HITS; i++) {
			bool is = false;
			for (unsigned k = 0; k < hits; k++)
				is |= known[k] == all.hit[i];
			in |= all.hit[i] == e[0];
			news |= !is && all.hit[i] != e[0];
		}
		if (st == NAM_OK && !in && news)
			st = NAM_DUPLICATE;
		if (st == NAM_CORRUPT)
			return st;
	}
	const struct idx_node *hinted = st == NAM_OK ? idx_part_hint(p, e[1], key, e[0]) : NULL;
	if (st == NAM_OK) {
		st = idx_part_insert(p, key, e[0], hinted, &c);
		if (st != NAM_OK)
			return st; /* NAM_FULL: this partition's memory */
	}
	unsigned told = st == NAM_DUPLICATE ? all.n : 0;
	c.status |= (uint64_t)st | (uint64_t)told << 8 | (hinted != NULL ? IDX_AN_HINTED : 0);
	memcpy(room(o, sizeof c / 8), &c, sizeof c);
	if (told > 0)
		memcpy(room(o, told), all.hit, told * sizeof *all.hit);
	return NAM_OK;
}

/* Has the leaf an entry of that key? */
static bool
has_key(const struct idx_node *leaf, unsigned w, const uint64_t *key)
{
	for (unsigned i = 0; i < idx_meta_count(leaf->meta); i++)
		if (idx_key_order(idx_at(leaf, idx_node_key(w, i)), key, w) == 0)
			return true;
	return false;
}

/* Entries of a request that go into one leaf. */
struct run {
	const struct idx_node *leaf;
	bool hinted;
	unsigned n;
	const uint64_t *key[IDX_NODE_SLOTS];
	uint64_t value[IDX_NODE_SLOTS];
};

/* May the entry e join the run: does its leaf alone prove that its key has no entry yet? */
static bool
joins(const struct part *p, const struct run *r, const uint64_t *e)
{
	unsigned w = p->pub.words;
	const uint64_t *key = e + 3;
	if (e[2] >> 8 != 0 || !is_value(e[0]) || idx_below(r->leaf, key, 0, w) ||
	    idx_beyond(r->leaf, key, e[0], w) ||
	    (idx_beyond(r->leaf, key, UINT64_MAX, w) && r->leaf->right != 0) || has_key(r->leaf, w, key))
		return false;
	for (unsigned i = 0; i < r->n; i++)
		if (idx_key_order(r->key[i], key, w) == 0)
			return false;
	return in_range(p, key, e[0]) && !idx_part_moves(p, key, e[0]);
}

/*
 * The first entries of a request, at most `most`, that have new keys in one leaf: in one change,
 * where each alone would be logged and checked. *in goes behind them. Returns how many: 0 or 1: the
 * first one asks for more care, or there is no second one; then nothing is done.
 */
static unsigned
insert_run(struct part *p, struct in *in, unsigned most, struct out *o)
{
	unsigned w = p->pub.words;
	struct in ahead = *in, behind = *in;
	struct run r = { 0 };
	const uint64_t *e = next(&ahead, 3 + w);
	struct idx_path path;
	if (e == NULL || most < 2 || !in_range(p, e + 3, e[0]))
		return 0;
	r.leaf = idx_part_hint(p, e[1], e + 3, e[0]);
	r.hinted = r.leaf != NULL;
	if (r.leaf == NULL && (r.leaf = idx_part_find(p, e + 3, e[0], &path)) == NULL)
		return 0;
	unsigned room_left = IDX_NODE_SLOTS - idx_meta_count(r.leaf->meta);
	most = most < room_left ? most : room_left;
	for (; r.n < most && e != NULL && joins(p, &r, e); e = next(&ahead, 3 + w)) {
		r.key[r.n] = e + 3;
		r.value[r.n++] = e[0];
		behind = ahead;
	}
	if (r.n < 2)
		return 0;
	struct idx_an_change c = { .status = (uint64_t)NAM_OK | (r.hinted ? IDX_AN_HINTED : 0) };
	idx_part_insert_some(p, r.leaf, r.key, r.value, r.n, &c);
	for (unsigned i = 0; i < r.n; i++)
		memcpy(room(o, sizeof c / 8), &c, sizeof c);
	*in = behind;
	return r.n;
}

/* Fetches the leaves that the entries of a request name, side by side. */
static void
prefetch(const struct part *p, struct in in, uint32_t n)
{
	unsigned w = p->pub.words;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t *e = next(&in, 3 + w);
		if (e == NULL || e[2] >> 8 > IDX_MSG_HITS || next(&in, (unsigned)(e[2] >> 8)) == NULL)
			return;
		uint64_t at = e[1] & ((UINT64_C(1) << 48) - 1);
		if (e[1] != 0 && at < p->pub.size - sizeof(struct idx_node))
			for (unsigned k = 0; k < 8 * idx_node_words(w, true); k += 64)
				__builtin_prefetch(p->pub.base + at + k);
	}
}

/* INSERT and REMOVE. */
static nam_status
change(struct part *p, const struct idx_rq *rq, struct in in, struct out *o, uint32_t *done)
{
	unsigned w = p->pub.words;
	prefetch(p, in, rq->n < 16 ? rq->n : 16);
	for (*done = 0; *done < rq->n; ++*done) {
		unsigned fits = (o->cap - o->n) / (sizeof(struct idx_an_change) / 8), left = rq->n - *done;
		if (rq->what == IDX_MSG_INSERT)
			*done += insert_run(p, &in, left < fits ? left : fits, o);
		if (*done == rq->n)
			break;
		const uint64_t *e = next(&in, 3 + w);
		const uint64_t *known =
		    e != NULL && e[2] >> 8 <= IDX_MSG_HITS ? next(&in, (unsigned)(e[2] >> 8)) : NULL;
		if (known == NULL || !is_value(e[0]))
			return NAM_INVALID;
		if (!in_range(p, e + 3, e[0]))
			return *done > 0 ? NAM_OK : NAM_ABSENT;
		if (idx_part_moves(p, e + 3, e[0]) && !nam_fault(TREE_SEAL_FORGOTTEN))
			return *done > 0 ? NAM_OK : NAM_BUSY;
		if (o->cap - o->n < sizeof(struct idx_an_change) / 8 + IDX_MSG_HITS)
			return *done > 0 ? NAM_OK : NAM_INVALID;
		if (rq->what == IDX_MSG_INSERT) {
			nam_status st = insert_one(p, e, known, o);
			if (st != NAM_OK)
				return st;
			continue;
		}
		struct idx_an_change c = { 0 };
		const struct idx_node *hinted = idx_part_hint(p, e[1], e + 3, e[0]);
		nam_status st = idx_part_remove(p, e + 3, e[0], hinted, &c);
		if (st == NAM_CORRUPT)
			return st;
		c.status = (uint64_t)st | (hinted != NULL ? IDX_AN_HINTED : 0);
		memcpy(room(o, sizeof c / 8), &c, sizeof c);
	}
	return NAM_OK;
}

static nam_status
lookup(const struct part *p, const struct idx_rq *rq, struct in in, struct out *o, uint32_t *done)
{
	struct hits h;
	for (*done = 0; *done < rq->n; ++*done) {
		const uint64_t *key = next(&in, p->pub.words);
		if (key == NULL)
			return NAM_INVALID;
		if (!in_range(p, key, 1))
			return *done > 0 ? NAM_OK : NAM_ABSENT;
		nam_status st = collect(p, key, &h);
		if (st == NAM_CORRUPT)
			return st;
		unsigned n = h.n < IDX_MSG_HITS ? h.n : IDX_MSG_HITS;
		uint64_t *at = room(o, 1 + n + 2 * h.leaves);
		if (at == NULL)
			return *done > 0 ? NAM_OK : NAM_INVALID;
		/* One more than fits tells that there are more. */
		*at++ = (st == NAM_FULL ? IDX_MSG_HITS + 1 : n) | (uint64_t)h.leaves << 16;
		memcpy(at, h.hit, n * sizeof *h.hit);
		memcpy(at + n, h.leaf, h.leaves * sizeof *h.leaf);
	}
	return NAM_OK;
}

/* The places of a leaf in order: slot numbers into slot[]. Returns how many. */
static unsigned
sorted(const struct idx_node *n, unsigned w, uint8_t *slot)
{
	unsigned count = idx_meta_count(n->meta);
	for (unsigned i = 0; i < count; i++) {
		unsigned at = i;
		for (; at > 0 && idx_place_order(idx_at(n, idx_node_key(w, slot[at - 1])),
				     *idx_at(n, idx_node_value(w, slot[at - 1])),
				     idx_at(n, idx_node_key(w, i)), *idx_at(n, idx_node_value(w, i)), w) > 0;
		     at--)
			slot[at] = slot[at - 1];
		slot[at] = (uint8_t)i;
	}
	return count;
}

/*
 * SCAN: whole leaves, as far as the answer has room, and in the range. The answer's places lie
 * between two fences; `next` is where the client goes on.
 */
static nam_status
scan(const struct part *p, struct in in, struct out *o, uint32_t *done)
{
	unsigned w = p->pub.words;
	const uint64_t *how = next(&in, 1), *low = next(&in, w + 1), *high = next(&in, w + 1);
	uint64_t *head = room(o, 1 + w + 1), leaf[IDX_MSG_LEAVES][2];
	unsigned entries = 0, leaves = 0;
	if (how == NULL || low == NULL || high == NULL || head == NULL)
		return NAM_INVALID;
	bool descending = *how & 1;
	uint64_t most = *how >> 8, at[IDX_KEY_WORDS + 1];
	memcpy(at, descending ? high : low, 8 * (size_t)(w + 1));
	if (descending && !idx_place_before(at, &at[w], w))
		return NAM_INVALID;
	if (!in_range(p, at, at[w]))
		return NAM_ABSENT;
	if (descending) /* at is exclusive, as a fence is */
		memcpy(at, high, 8 * (size_t)(w + 1));
	for (;;) {
		uint64_t in_leaf[IDX_KEY_WORDS + 1];
		struct idx_path path;
		uint8_t slot[IDX_NODE_SLOTS];
		memcpy(in_leaf, at, 8 * (size_t)(w + 1));
		if (descending)
			(void)idx_place_before(in_leaf, &in_leaf[w], w);
		const struct idx_node *n = idx_part_find(p, in_leaf, in_leaf[w], &path);
		if (n == NULL)
			return NAM_CORRUPT;
		if (leaves == IDX_MSG_LEAVES || o->cap - o->n < IDX_NODE_SLOTS * (w + 1) + 2 * IDX_MSG_LEAVES)
			break;
		leaf[leaves][0] = (uint64_t)p->pub.region << 48 | path.at[0];
		leaf[leaves++][1] = n->check;
		unsigned count = sorted(n, w, slot);
		for (unsigned i = 0; i < count; i++) {
			unsigned k = slot[descending ? count - 1 - i : i];
			const uint64_t *key = idx_at(n, idx_node_key(w, k));
			uint64_t value = *idx_at(n, idx_node_value(w, k));
			if (idx_place_order(key, value, low, low[w], w) < 0 ||
			    idx_place_order(key, value, high, high[w], w) >= 0)
				continue;
			uint64_t *e = room(o, w + 1);
			memcpy(e, key, 8 * (size_t)w);
			e[w] = value;
			entries++;
		}
		memcpy(at, idx_at(n, descending ? IDX_NODE_LOW : idx_node_high(w)), 8 * (size_t)(w + 1));
		bool end = descending ? idx_place_order(at, at[w], low, low[w], w) <= 0
				      : idx_place_order(at, at[w], high, high[w], w) >= 0;
		memcpy(in_leaf, at, 8 * (size_t)(w + 1));
		bool edge = (descending && !idx_place_before(in_leaf, &in_leaf[w], w)) ||
			    !in_range(p, in_leaf, in_leaf[w]);
		if (end || edge || entries >= most)
			break;
	}
	*head = entries | (uint64_t)leaves << 32;
	memcpy(head + 1, at, 8 * (size_t)(w + 1));
	memcpy(room(o, 2 * leaves), leaf, leaves * sizeof *leaf);
	*done = entries;
	return leaves > 0 ? NAM_OK : NAM_INVALID;
}

static nam_status
fill(struct part *p, const struct idx_rq *rq, struct in in, uint32_t *done)
{
	unsigned w = p->pub.words;
	const uint64_t *percent = next(&in, 1);
	const uint64_t *e = percent != NULL && rq->n < 1 << 20 ? next(&in, rq->n * (w + 1)) : NULL;
	uint32_t n = 0;
	bool moves = percent != NULL && (*percent & IDX_FILL_MOVE) != 0;
	if (e == NULL || (*percent & ~(uint64_t)IDX_FILL_MOVE) > 100 ||
	    (moves && idx_head_of_part(p)->state != IDX_PART_INCOMING))
		return NAM_INVALID;
	for (; n < rq->n; n++) {
		const uint64_t *at = e + n * (size_t)(w + 1);
		if (!is_value(at[w]))
			return NAM_INVALID;
		if (!in_range(p, at, at[w])) {
			if (n == 0)
				return NAM_ABSENT;
			break;
		}
		if (!moves && idx_part_moves(p, at, at[w])) {
			if (n == 0)
				return NAM_BUSY;
			break;
		}
	}
	return idx_part_fill(p, e, n, (unsigned)(*percent & 255), done);
}

static nam_status
shape(const struct part *p, struct out *o)
{
	const struct idx_part_head *h = idx_head_of_part(p);
	const struct idx_node *root = idx_part_node(&p->pub, p->pub.at + IDX_PART_ROOT);
	if (root == NULL)
		return NAM_CORRUPT;
	struct idx_an_shape s = { .entries = h->entries,
		.leaves = h->leaves,
		.inners = h->inners,
		.splits = h->splits,
		.extents = h->extents,
		.trains = p->pub.trained,
		.levels = idx_meta_level(root->meta) + 1,
		.leaf_bytes = h->leaves * idx_node_room(p->pub.words, true),
		.inner_bytes = h->inners * idx_node_room(p->pub.words, false) };
	uint64_t *at = room(o, sizeof s / 8);
	if (at == NULL)
		return NAM_INVALID;
	memcpy(at, &s, sizeof s);
	return NAM_OK;
}

static nam_status
create(struct service *s, const struct idx_rq *rq, struct in in)
{
	struct idx_tree_host *h = s->host;
	const uint64_t *number = next(&in, 1), *low = next(&in, IDX_KEY_WORDS + 1),
		       *high = next(&in, IDX_KEY_WORDS + 1), *state = next(&in, 1);
	struct part *p;
	if (state == NULL || (*state != IDX_PART_LIVE && *state != IDX_PART_INCOMING) || rq->words == 0 ||
	    rq->words > IDX_KEY_WORDS || rq->tree == 0)
		return NAM_INVALID;
	nam_status st = part_get(s, rq, &p);
	if (st == NAM_OK)
		return NAM_OK; /* the client repeats it */
	if (st != NAM_ABSENT && st != NAM_CORRUPT)
		return st;
	/* A tree that was here before, and whose drop we have not heard of. */
	struct part *old = *part_place(s->part, s->parts_cap, rq->part);
	if (old != NULL)
		part_forget(s, old);
	if (atomic_load(&h->owner[rq->part / IDX_TREE_EXTENT]) != 0)
		return NAM_INVALID; /* memory of another tree */
	st = idx_part_make(h->base, rq->part, rq->tree, rq->words, *number, low, high, h->region,
	    (enum idx_part_state) * state);
	return st == NAM_DUPLICATE || st == NAM_OK ? part_get(s, rq, &p) : st;
}

/* NAM_BUSY: not all of it; the client asks again. */
static nam_status
drop(struct service *s, const struct idx_rq *rq)
{
	struct part *p = s->parts_cap != 0 ? *part_place(s->part, s->parts_cap, rq->part) : NULL;
	if (p == NULL || !p->ending || p->pub.tree != rq->tree) {
		nam_status st = part_get(s, rq, &p);
		if (st != NAM_OK)
			return st;
	}
	if (!idx_part_end(p, DROP_LEAVES))
		return NAM_BUSY;
	part_forget(s, p);
	return NAM_OK;
}

/* The steps of a move. */
static nam_status
move(struct part *p, enum idx_message what, struct in in, struct out *o)
{
	uint64_t m[IDX_KEY_WORDS + 1] = { 0 };
	bool found = false;
	if (what == IDX_MSG_UNSEAL)
		return idx_part_unseal(p);
	if (what == IDX_MSG_OPEN)
		return idx_part_go(p);
	if (what == IDX_MSG_CUT) {
		const uint64_t *at = next(&in, IDX_KEY_WORDS + 1);
		return at != NULL ? idx_part_cut(p, at, DROP_LEAVES) : NAM_INVALID;
	}
	uint64_t *out = room(o, 1 + IDX_KEY_WORDS + 1);
	if (out == NULL)
		return NAM_INVALID;
	nam_status st = idx_part_seal(p, m, &found);
	out[0] = found;
	memcpy(out + 1, m, sizeof m);
	return st;
}

/* The extents that the partition's nodes would fill. */
static uint32_t
used(const struct part *p)
{
	const struct idx_part_head *h = idx_head_of_part(p);
	unsigned w = p->pub.words;
	uint64_t bytes =
	    IDX_PART_NODES + h->leaves * idx_node_room(w, true) + h->inners * idx_node_room(w, false);
	return (uint32_t)((bytes + IDX_TREE_EXTENT - 1) / IDX_TREE_EXTENT);
}

static nam_status
serve(struct service *s, const struct idx_rq *rq, struct in in, struct net_request *whole, struct out *o,
    struct idx_an *an)
{
	struct part *p = NULL;
	bool changes = rq->what == IDX_MSG_INSERT || rq->what == IDX_MSG_REMOVE || rq->what == IDX_MSG_FILL ||
		       rq->what == IDX_MSG_GROW || rq->what == IDX_MSG_CREATE || rq->what == IDX_MSG_DROP ||
		       (rq->what >= IDX_MSG_SEAL && rq->what <= IDX_MSG_OPEN);
	nam_status st = changes ? view_turn(s, rq->view, rq->turn) : NAM_OK;
	if (st == NAM_OK && rq->what == IDX_MSG_CREATE)
		return create(s, rq, in);
	if (st == NAM_OK && rq->what == IDX_MSG_DROP)
		return drop(s, rq);
	if (st == NAM_OK)
		st = part_get(s, rq, &p);
	if (st != NAM_OK)
		return st;
	if (rq->words != p->pub.words)
		return NAM_INVALID;
	switch (rq->what) {
	case IDX_MSG_GROW: {
		const uint64_t *seen = next(&in, 1);
		const uint64_t *offset = seen != NULL && rq->n <= IDX_TREE_EXTENT ? next(&in, rq->n) : NULL;
		st = offset != NULL ? idx_part_grow(p, *seen, offset, rq->n, &an->done) : NAM_INVALID;
		break;
	}
	case IDX_MSG_INSERT:
	case IDX_MSG_REMOVE:
		st = change(p, rq, in, o, &an->done);
		break;
	case IDX_MSG_LOOKUP:
		st = lookup(p, rq, in, o, &an->done);
		break;
	case IDX_MSG_SCAN:
		st = scan(p, in, o, &an->done);
		break;
	case IDX_MSG_FILL:
		st = fill(p, rq, in, &an->done);
		break;
	case IDX_MSG_SHAPE:
		st = shape(p, o);
		break;
	case IDX_MSG_MODEL: {
		if (p->pub.model == NULL)
			return NAM_UNSUPPORTED;
		struct net_request inner = { .service = whole->service,
			.len = in.left * 8,
			.bytes = in.word,
			.answer = o->word + o->n,
			.answer_max = (o->cap - o->n) * 8 };
		st = p->ops->message(p->pub.model, &inner);
		o->n += (inner.answer_len + 7) / 8;
		break;
	}
	case IDX_MSG_SEAL:
	case IDX_MSG_UNSEAL:
	case IDX_MSG_CUT:
	case IDX_MSG_OPEN:
		st = move(p, (enum idx_message)rq->what, in, o);
		break;
	default:
		st = NAM_INVALID;
	}
	an->extents = (uint32_t)p->extents;
	an->used = used(p);
	return st;
}

static nam_status
handler(void *arg, struct net_request *rq)
{
	struct service *s = arg;
	struct idx_an an = { 0 };
	struct idx_rq head;
	if (rq->answer_max < sizeof an)
		return NAM_FULL;
	if (rq->len < sizeof head || rq->len % 8 != 0)
		return NAM_INVALID;
	memcpy(&head, rq->bytes, sizeof head);
	struct in in = { (const uint64_t *)rq->bytes + sizeof head / 8,
		(rq->len - (uint32_t)sizeof head) / 8 };
	struct out o = { rq->answer, sizeof an / 8, rq->answer_max / 8 };
	s->work = true;
	an.status = (uint32_t)serve(s, &head, in, rq, &o, &an);
	memcpy(rq->answer, &an, sizeof an);
	rq->answer_len = o.n * 8;
	return NAM_OK;
}

/* One model's piece of work; each partition has its turn. */
static bool
idle(void *arg)
{
	struct service *s = arg;
	const struct idx_model *model = s->host->model;
	for (size_t i = 0; i < s->parts_cap && s->work; i++) {
		s->idled = (s->idled + 1) & (s->parts_cap - 1);
		struct part *p = s->part[s->idled];
		if (p != NULL && p->pub.model != NULL && model->idle(p->pub.model))
			return true;
	}
	s->work = false;
	return false;
}

/* ---- opening --------------------------------------------------------------------------- */

struct idx_tree_host *
idx_btree_host_open(unsigned region, void *base, uint64_t size, const struct idx_model *model)
{
	struct idx_tree_host *h = calloc(1, sizeof *h);
	if (h == NULL)
		return NULL;
	h->region = region;
	h->base = base;
	h->size = size;
	h->model = model;
	/* Its pages come into being when they are written. */
	h->owner = calloc(size / IDX_TREE_EXTENT + 1, sizeof *h->owner);
	if (h->owner == NULL) {
		free(h);
		return NULL;
	}
	for (unsigned i = 0; i < IDX_TREE_SERVICES; i++) {
		h->service[i].host = h;
		snprintf(h->name[i], sizeof h->name[i], "tree %u", i);
	}
	return h;
}

void
idx_tree_host_close(struct idx_tree_host *h)
{
	if (h == NULL)
		return;
	for (unsigned i = 0; i < IDX_TREE_SERVICES; i++) {
		struct service *s = &h->service[i];
		for (size_t k = 0; k < s->parts_cap; k++)
			if (s->part[k] != NULL) {
				idx_part_close(s->part[k]);
				free(s->part[k]);
			}
		free(s->part);
		free(s->view);
	}
	free(h->owner);
	free(h);
}

void
idx_tree_host_services(struct idx_tree_host *h, struct net_service *out)
{
	for (unsigned i = 0; i < IDX_TREE_SERVICES; i++)
		out[i] = (struct net_service){ .id = IDX_TREE_SERVICE + i,
			.name = h->name[i],
			.fn = handler,
			.arg = &h->service[i],
			.idle = h->model != NULL && h->model->idle != NULL ? idle : NULL };
}
