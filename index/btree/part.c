/* part.c -- a partition in the memory of its storage node: search, changes, splits, moves. */
#include <base/assert.h>
#include <base/fault.h>
#include <index/btree/part_change.h>

#include <stdlib.h>

/* ---- nodes ----------------------------------------------------------------------------- */

static bool
is_ours(const struct part *p, uint64_t offset)
{
	return offset < p->pub.size &&
	       atomic_load_explicit(&p->owner[offset / IDX_TREE_EXTENT], memory_order_relaxed) == p->mark;
}

const struct idx_node *
idx_part_node(const struct idx_part *pub, uint64_t offset)
{
	const struct part *p = (const void *)pub;
	if (offset % IDX_NODE_ALIGN != 0 || !is_ours(p, offset))
		return NULL;
	const struct idx_node *n = (const void *)(pub->base + offset);
	unsigned level = idx_meta_level(n->meta);
	/* A node ends in the extent it begins in. */
	if (n->tree != pub->tree || idx_meta_words(n->meta) != pub->words || level >= IDX_LEVELS_MAX ||
	    idx_meta_count(n->meta) > IDX_NODE_SLOTS ||
	    offset % IDX_TREE_EXTENT + idx_node_room(pub->words, level == 0) > IDX_TREE_EXTENT)
		return NULL;
	return n;
}

const struct idx_node *
idx_part_to(const struct part *p, uint64_t address)
{
	if (address >> 48 != p->pub.region)
		return NULL;
	return idx_part_node(&p->pub, address & ((UINT64_C(1) << 48) - 1));
}

uint64_t
idx_part_offset(const struct part *p, const struct idx_node *n)
{
	return (uint64_t)((const char *)n - p->pub.base);
}

const struct idx_node *
idx_part_find(const struct part *p, const uint64_t *key, uint64_t value, struct idx_path *path)
{
	unsigned w = p->pub.words;
	const struct idx_node *n = idx_part_node(&p->pub, p->pub.at + IDX_PART_ROOT);
	if (n == NULL)
		return NULL;
	path->top = idx_meta_level(n->meta);
	for (unsigned level = path->top;; level--) {
		if (n == NULL || idx_meta_level(n->meta) != level)
			return NULL;
		path->at[level] = idx_part_offset(p, n);
		if (level == 0)
			return idx_below(n, key, value, w) || idx_beyond(n, key, value, w) ? NULL : n;
		if (idx_meta_count(n->meta) == 0)
			return NULL;
		path->child[level] = idx_child_of(n, key, value, w);
		n = idx_part_to(p, *idx_at(n, idx_node_child(w, path->child[level])));
	}
}

const struct idx_node *
idx_part_hint(const struct part *p, uint64_t hint, const uint64_t *key, uint64_t value)
{
	const struct idx_node *n = hint != 0 ? idx_part_to(p, hint) : NULL;
	if (n == NULL || !idx_node_sound(n, p->pub.tree, p->pub.words, true) ||
	    idx_below(n, key, value, p->pub.words) || idx_beyond(n, key, value, p->pub.words))
		return NULL;
	return n;
}

uint64_t
idx_part_leaf(const struct idx_part *pub, const uint64_t *key, uint64_t value)
{
	const struct part *p = (const void *)pub;
	struct idx_path path;
	const struct idx_part_head *h = idx_head_of_part(p);
	const struct idx_node *n = key != NULL ? idx_part_find(p, key, value, &path)
					       : idx_part_find(p, h->low, h->low[pub->words], &path);
	return n != NULL ? idx_part_offset(p, n) : 0;
}

const struct idx_node *
idx_part_link(const struct idx_part *pub, uint64_t address)
{
	return address != 0 ? idx_part_to((const void *)pub, address) : NULL;
}

const struct idx_node *
idx_part_at(const struct idx_part *pub, const uint64_t *key, uint64_t value, unsigned level)
{
	unsigned w = pub->words;
	const struct idx_node *n = idx_part_node(pub, pub->at + IDX_PART_ROOT);
	for (unsigned now = n != NULL ? idx_meta_level(n->meta) : 0; n != NULL; now--) {
		if (idx_meta_level(n->meta) != now || now < level)
			return NULL;
		if (now == level)
			return n;
		if (idx_meta_count(n->meta) == 0)
			return NULL;
		n = idx_part_link(pub, *idx_at(n, idx_node_child(w, idx_child_of(n, key, value, w))));
	}
	return NULL;
}

uint64_t
idx_part_right(const struct idx_part *pub, uint64_t leaf)
{
	const struct part *p = (const void *)pub;
	const struct idx_node *n = idx_part_node(pub, leaf), *r = n != NULL ? idx_part_to(p, n->right) : NULL;
	return r != NULL && idx_meta_level(r->meta) == 0 ? idx_part_offset(p, r) : 0;
}

/* ---- memory ---------------------------------------------------------------------------- */

static bool
extents_room(struct part *p, uint64_t n)
{
	if (n <= p->cap)
		return true;
	uint64_t cap = p->cap == 0 ? 8 : 2 * p->cap;
	uint64_t *more = realloc(p->extent, (cap > n ? cap : n) * sizeof *more);
	if (more == NULL)
		return false;
	p->extent = more;
	p->cap = cap > n ? cap : n;
	return true;
}

nam_status
idx_part_grow(struct part *p, uint64_t seen, const uint64_t *offset, unsigned n, unsigned *done)
{
	*done = 0;
	for (unsigned i = 0; i < n; i++, ++*done) {
		uint64_t at = offset[i], number = seen + i;
		if (number < p->extents && p->extent[number] == at)
			continue; /* the client repeats it */
		if (number != p->extents)
			return NAM_OK; /* others were faster */
		if (at % IDX_TREE_EXTENT != 0 || at < IDX_TREE_EXTENT || p->pub.size < IDX_TREE_EXTENT ||
		    at > p->pub.size - IDX_TREE_EXTENT)
			return NAM_INVALID;
		if (!extents_room(p, number + 1))
			return NAM_NOMEM;
		uint32_t none = 0;
		if (!atomic_compare_exchange_strong(&p->owner[at / IDX_TREE_EXTENT], &none, p->mark))
			return NAM_INVALID; /* it belongs to a tree */
		struct idx_change *c = idx_change_begin(p);
		struct idx_extent_head e = {
			.tree = p->pub.tree, .number = number, .before = p->extent[number - 1]
		};
		idx_put_words(p, at, (const uint64_t *)&e, sizeof e / 8);
		const uint64_t words[] = { at, number + 1 };
		idx_change_run(c, p->pub.at + offsetof(struct idx_part_head, newest), words, 2);
		idx_change_end(c);
		p->extent[p->extents++] = at;
	}
	return NAM_OK;
}

/* ---- splits ---------------------------------------------------------------------------- */

/* All places of a full node and one more, in order, with their children. */
struct crowd {
	unsigned n;
	uint64_t key[IDX_NODE_SLOTS + 1][IDX_KEY_WORDS];
	uint64_t value[IDX_NODE_SLOTS + 1], child[IDX_NODE_SLOTS + 1];
};

static void
crowd_put(struct crowd *m, unsigned w, const uint64_t *key, uint64_t value, uint64_t child)
{
	unsigned at = m->n++;
	for (; at > 0 && idx_place_order(m->key[at - 1], m->value[at - 1], key, value, w) > 0; at--) {
		memcpy(m->key[at], m->key[at - 1], sizeof m->key[at]);
		m->value[at] = m->value[at - 1];
		m->child[at] = m->child[at - 1];
	}
	memcpy(m->key[at], key, 8 * (size_t)w);
	m->value[at] = value;
	m->child[at] = child;
}

static void
crowd_of(struct crowd *m, const struct idx_node *n, unsigned w)
{
	bool leaf = idx_meta_level(n->meta) == 0;
	m->n = 0;
	for (unsigned i = 0; i < idx_meta_count(n->meta); i++)
		crowd_put(m, w, idx_at(n, idx_node_key(w, i)), *idx_at(n, idx_node_value(w, i)),
		    leaf ? 0 : *idx_at(n, idx_node_child(w, i)));
}

/* Writes the places from `from` to `to` into a node. */
static void
crowd_part(const struct crowd *m, unsigned from, unsigned to, unsigned w, struct idx_node *n)
{
	bool leaf = idx_meta_level(n->meta) == 0;
	for (unsigned i = from; i < to; i++) {
		idx_set_place(n, w, i - from, m->key[i], m->value[i]);
		if (!leaf)
			*idx_words_of(n, idx_node_child(w, i - from)) = m->child[i];
	}
}

static nam_status attach(struct idx_change *c, const struct idx_path *path, unsigned level,
    struct idx_node *left, struct idx_node *right, uint64_t *new_left, uint64_t *new_right);

/*
 * The key at which the leaf of `right` begins, when `left` is the last key before it: of all
 * between them the one with the most zeros at its end. Rounded separators lose nothing by it
 * (learned_format.h).
 */
static void
fence_between(const uint64_t *left, const uint64_t *right, unsigned w, uint64_t *out)
{
	unsigned i = 0;
	while (i + 1 < w && left[i] == right[i])
		i++;
	memset(out, 0, 8 * (size_t)w);
	memcpy(out, right, 8 * (size_t)i);
	out[i] = right[i] & UINT64_MAX << (63 - __builtin_clzll(left[i] ^ right[i]));
}

/* Splits a crowd, which stood in `left`, before place number `cut`; fence: the place between. */
static nam_status
cut_crowd(struct idx_change *c, const struct idx_path *path, unsigned level, struct idx_node *left,
    const struct crowd *m, unsigned cut, uint64_t *new_left, uint64_t *new_right)
{
	unsigned w = c->p->pub.words;
	struct idx_node right = { .tree = left->tree };
	right.meta = idx_meta(0, m->n - cut, level, w);
	right.right = left->right;
	memcpy(idx_words_of(&right, idx_node_high(w)), idx_at(left, idx_node_high(w)), 8 * (size_t)(w + 1));
	crowd_part(m, cut, m->n, w, &right);
	uint64_t *low = idx_words_of(&right, IDX_NODE_LOW), *high = idx_words_of(left, idx_node_high(w));
	memcpy(low, m->key[cut], 8 * (size_t)w);
	low[w] = m->value[cut];
	if (level == 0 && idx_key_order(m->key[cut - 1], m->key[cut], w) != 0) {
		fence_between(m->key[cut - 1], m->key[cut], w, low);
		low[w] = 0; /* B8 */
	}
	memcpy(high, low, 8 * (size_t)(w + 1));
	left->meta = idx_meta_next(left, cut);
	if (!nam_fault(TREE_FALL_UNTOLD))
		left->meta = idx_meta_fallen(left->meta);
	crowd_part(m, 0, cut, w, left);
	return attach(c, path, level, left, &right, new_left, new_right);
}

/* The root becomes the parent of two new nodes. */
static nam_status
attach_root(struct idx_change *c, const struct idx_path *path, unsigned level, struct idx_node *left,
    struct idx_node *right, uint64_t *new_left, uint64_t *new_right)
{
	const struct part *p = c->p;
	unsigned w = p->pub.words;
	struct idx_node root = { .tree = left->tree };
	*new_left = idx_change_take(c, level);
	*new_right = *new_left != 0 ? idx_change_take(c, level) : 0;
	if (*new_right == 0 || level + 1 >= IDX_LEVELS_MAX)
		return NAM_FULL;
	root.meta = idx_meta(left->meta >> 40, 2, level + 1, w);
	const uint64_t *low = idx_at(left, IDX_NODE_LOW), *mid = idx_at(right, IDX_NODE_LOW);
	memcpy(idx_words_of(&root, IDX_NODE_LOW), low, 8 * (size_t)(w + 1));
	memcpy(idx_words_of(&root, idx_node_high(w)), idx_at(right, idx_node_high(w)), 8 * (size_t)(w + 1));
	idx_set_place(&root, w, 0, low, low[w]);
	idx_set_place(&root, w, 1, mid, mid[w]);
	*idx_words_of(&root, idx_node_child(w, 0)) = idx_part_address(p, *new_left);
	*idx_words_of(&root, idx_node_child(w, 1)) = idx_part_address(p, *new_right);
	left->right = idx_part_address(p, *new_right);
	idx_change_new(c, *new_right, right);
	idx_change_new(c, *new_left, left);
	if (level == 0)
		c->leaves--; /* the root was one */
	else
		c->inners--;
	idx_change_node(c, path->at[level], &root);
	c->inners++;
	return NAM_OK;
}

/* Makes a node that is in the tree into two: left stays where it was, unless it was the root. */
static nam_status
attach(struct idx_change *c, const struct idx_path *path, unsigned level, struct idx_node *left,
    struct idx_node *right, uint64_t *new_left, uint64_t *new_right)
{
	struct part *p = c->p;
	unsigned w = p->pub.words;
	uint64_t ignored[2];
	c->splits++;
	if (level == path->top)
		return attach_root(c, path, level, left, right, new_left, new_right);
	*new_left = path->at[level];
	*new_right = idx_change_take(c, level);
	if (*new_right == 0)
		return NAM_FULL;
	left->right = idx_part_address(p, *new_right);
	idx_change_new(c, *new_right, right);
	idx_change_node(c, *new_left, left);

	struct idx_node parent;
	struct crowd m;
	const uint64_t *mid = idx_at(right, IDX_NODE_LOW);
	idx_part_load(p, path->at[level + 1], &parent);
	crowd_of(&m, &parent, w);
	crowd_put(&m, w, mid, mid[w], idx_part_address(p, *new_right));
	if (m.n <= IDX_NODE_SLOTS) {
		crowd_part(&m, 0, m.n, w, &parent);
		parent.meta = idx_meta_next(&parent, m.n);
		idx_change_node(c, path->at[level + 1], &parent);
		return NAM_OK;
	}
	/* Keys that only rise: leave full nodes behind. */
	bool last = path->child[level + 1] == IDX_NODE_SLOTS - 1 && parent.right == 0;
	return cut_crowd(c, path, level + 1, &parent, &m, last ? m.n - 2 : m.n / 2, &ignored[0], &ignored[1]);
}

/* Where a leaf's crowd is cut: near the middle, and between different keys if there are any. */
static unsigned
leaf_cut(const struct crowd *m, unsigned w)
{
	unsigned mid = m->n / 2;
	for (unsigned d = 0; d < m->n; d++) {
		unsigned up = mid + d, down = d < mid ? mid - d : 0;
		if (up < m->n && idx_key_order(m->key[up - 1], m->key[up], w) != 0)
			return up;
		if (down > 0 && idx_key_order(m->key[down - 1], m->key[down], w) != 0)
			return down;
	}
	return mid;
}

/* ---- insert and remove ----------------------------------------------------------------- */

static void
told(const struct part *p, uint64_t out[2], uint64_t offset)
{
	out[0] = idx_part_address(p, offset);
	out[1] = ((const struct idx_node *)(const void *)(p->pub.base + offset))->check;
}

static unsigned
falls_of(const struct part *p, uint64_t offset)
{
	return idx_meta_falls(((const struct idx_node *)(const void *)(p->pub.base + offset))->meta);
}

static void
entries_add(const struct part *p, uint64_t more)
{
	idx_put(p, p->pub.at + offsetof(struct idx_part_head, entries), idx_head_of_part(p)->entries + more);
}

static int
slot_of(const struct idx_node *n, unsigned w, const uint64_t *key, uint64_t value)
{
	for (unsigned i = 0; i < idx_meta_count(n->meta); i++)
		if (*idx_at(n, idx_node_value(w, i)) == value &&
		    idx_key_order(idx_at(n, idx_node_key(w, i)), key, w) == 0)
			return (int)i;
	return -1;
}

/* One entry of a leaf that has its words in `now`: only what has changed goes into the log. */
static void
change_leaf(struct idx_change *c, uint64_t offset, struct idx_node *now, unsigned slot)
{
	const struct part *p = c->p;
	unsigned w = p->pub.words, key = idx_node_key(w, slot), value = idx_node_value(w, slot);
	idx_seal_node(p, now);
	if (slot < idx_meta_count(now->meta)) {
		idx_change_run(c, offset + 8 * (uint64_t)key, idx_words_of(now, key), w);
		idx_change_run(c, offset + 8 * (uint64_t)value, idx_words_of(now, value), 1);
	}
	idx_change_run(c, offset + offsetof(struct idx_node, meta), &now->meta, 1);
	idx_change_run(c, offset, &now->check, 1);
	idx_change_end(c);
}

static nam_status
insert_split(struct part *p, const uint64_t *key, uint64_t value, struct idx_an_change *out)
{
	unsigned w = p->pub.words;
	struct idx_path path;
	struct idx_node leaf;
	struct crowd m;
	uint64_t left, right;
	if (idx_part_find(p, key, value, &path) == NULL)
		return NAM_CORRUPT;
	struct idx_change *c = idx_change_begin(p);
	idx_part_load(p, path.at[0], &leaf);
	crowd_of(&m, &leaf, w);
	crowd_put(&m, w, key, value, 0);
	bool last =
	    leaf.right == 0 && m.value[m.n - 1] == value && idx_key_order(m.key[m.n - 1], key, w) == 0;
	told(p, out->before, path.at[0]);
	nam_status st = cut_crowd(c, &path, 0, &leaf, &m, last ? m.n - 1 : leaf_cut(&m, w), &left, &right);
	if (st != NAM_OK) {
		memset(out->before, 0, sizeof out->before);
		return st;
	}
	idx_change_end(c);
	told(p, out->after, left);
	told(p, out->sibling, right);
	out->status = (uint64_t)falls_of(p, right) << IDX_AN_FALLS | (uint64_t)falls_of(p, left)
									 << IDX_AN_LEFT_FALLS;
	if (p->ops != NULL && p->pub.model != NULL)
		p->ops->split(p->pub.model, left, right);
	/* It was full, and has room now. */
	idx_part_join_before(p, idx_part_node(&p->pub, left));
	return NAM_OK;
}

nam_status
idx_part_insert(struct part *p, const uint64_t *key, uint64_t value, const struct idx_node *hinted,
    struct idx_an_change *out)
{
	struct idx_path path;
	unsigned w = p->pub.words;
	const struct idx_node *n = hinted != NULL ? hinted : idx_part_find(p, key, value, &path);
	if (n == NULL)
		return NAM_CORRUPT;
	if (slot_of(n, w, key, value) >= 0)
		return NAM_OK;
	unsigned count = idx_meta_count(n->meta);
	nam_status st = NAM_OK;
	if (count == IDX_NODE_SLOTS) {
		st = insert_split(p, key, value, out);
	} else {
		uint64_t at = idx_part_offset(p, n);
		struct idx_node now;
		idx_part_load(p, at, &now);
		idx_set_place(&now, w, count, key, value);
		now.meta = idx_meta_next(&now, count + 1);
		told(p, out->before, at);
		change_leaf(idx_change_begin(p), at, &now, count);
		told(p, out->after, at);
	}
	if (st == NAM_OK)
		entries_add(p, 1);
	return st;
}

void
idx_part_insert_some(struct part *p, const struct idx_node *leaf, const uint64_t *const *key,
    const uint64_t *value, unsigned n, struct idx_an_change *out)
{
	unsigned w = p->pub.words, count = idx_meta_count(leaf->meta);
	unsigned key_at = idx_node_key(w, count), value_at = idx_node_value(w, count);
	uint64_t at = idx_part_offset(p, leaf);
	struct idx_node now;
	NAM_ASSERT(count + n <= IDX_NODE_SLOTS);
	idx_part_load(p, at, &now);
	for (unsigned i = 0; i < n; i++)
		idx_set_place(&now, w, count + i, key[i], value[i]);
	now.meta = idx_meta_next(&now, count + n);
	told(p, out->before, at);
	idx_seal_node(p, &now);
	struct idx_change *c = idx_change_begin(p);
	idx_change_run(c, at + 8 * (uint64_t)key_at, idx_words_of(&now, key_at), n * w);
	idx_change_run(c, at + 8 * (uint64_t)value_at, idx_words_of(&now, value_at), n);
	idx_change_run(c, at + offsetof(struct idx_node, meta), &now.meta, 1);
	idx_change_run(c, at, &now.check, 1);
	idx_change_end(c);
	told(p, out->after, at);
	entries_add(p, n);
}

nam_status
idx_part_remove(struct part *p, const uint64_t *key, uint64_t value, const struct idx_node *hinted,
    struct idx_an_change *out)
{
	struct idx_path path;
	unsigned w = p->pub.words;
	const struct idx_node *n = hinted != NULL ? hinted : idx_part_find(p, key, value, &path);
	if (n == NULL)
		return NAM_CORRUPT;
	int slot = slot_of(n, w, key, value);
	if (slot < 0)
		return NAM_ABSENT;
	unsigned last = idx_meta_count(n->meta) - 1;
	uint64_t at = idx_part_offset(p, n);
	struct idx_node now;
	idx_part_load(p, at, &now);
	idx_set_place(&now, w, (unsigned)slot, idx_at(&now, idx_node_key(w, last)),
	    *idx_at(&now, idx_node_value(w, last)));
	now.meta = idx_meta_next(&now, last);
	told(p, out->before, at);
	change_leaf(idx_change_begin(p), at, &now, (unsigned)slot);
	told(p, out->after, at);
	entries_add(p, UINT64_MAX);
	if (last == 0)
		idx_part_join(p, key, value);
	else if (last == IDX_NODE_SLOTS - 1)
		idx_part_join_before(p, idx_part_node(&p->pub, at));
	return NAM_OK;
}

/* ---- fill ------------------------------------------------------------------------------ */

/* Is the place behind all entries of the partition, this leaf its last one? */
static bool
is_end(const struct idx_node *n, unsigned w, const uint64_t *key, uint64_t value)
{
	bool end = n->right == 0;
	for (unsigned i = 0; i < idx_meta_count(n->meta) && end; i++)
		end = idx_place_order(
			  idx_at(n, idx_node_key(w, i)), *idx_at(n, idx_node_value(w, i)), key, value, w) < 0;
	return end;
}

/* How many of the places e[0 .. n) rise, begin in this leaf's range, and are at most `most`. */
static unsigned
run_of(const struct idx_node *leaf, unsigned w, const uint64_t *e, unsigned n, unsigned most)
{
	unsigned k = 0;
	while (k < n && k < most) {
		const uint64_t *at = e + k * (size_t)(w + 1);
		if (idx_beyond(leaf, at, at[w], w) ||
		    (k > 0 && idx_place_order(at - w - 1, at[-1], at, at[w], w) >= 0))
			break;
		k++;
	}
	return k;
}

/* Fills the last leaf with up to `most` entries, or, if it has so many, begins a new one. */
static nam_status
append(struct part *p, struct idx_path *path, const uint64_t *e, unsigned n, unsigned most, unsigned *took)
{
	unsigned w = p->pub.words;
	struct idx_node leaf;
	struct idx_change *c = idx_change_begin(p);
	idx_part_load(p, path->at[0], &leaf);
	unsigned count = idx_meta_count(leaf.meta);
	if (count < most) {
		*took = run_of(&leaf, w, e, n, most - count);
		for (unsigned i = 0; i < *took; i++)
			idx_set_place(
			    &leaf, w, count + i, e + i * (size_t)(w + 1), e[i * (size_t)(w + 1) + w]);
		leaf.meta = idx_meta_next(&leaf, count + *took);
		idx_change_node(c, path->at[0], &leaf);
		idx_change_end(c);
		return NAM_OK;
	}
	struct crowd m;
	uint64_t left, right;
	struct idx_node sibling = { .tree = leaf.tree, .right = leaf.right };
	*took = run_of(&leaf, w, e, n, most);
	sibling.meta = idx_meta(0, *took, 0, w);
	for (unsigned i = 0; i < *took; i++)
		idx_set_place(&sibling, w, i, e + i * (size_t)(w + 1), e[i * (size_t)(w + 1) + w]);
	memcpy(
	    idx_words_of(&sibling, idx_node_high(w)), idx_at(&leaf, idx_node_high(w)), 8 * (size_t)(w + 1));
	uint64_t *low = idx_words_of(&sibling, IDX_NODE_LOW);
	crowd_of(&m, &leaf, w);
	memcpy(low, e, 8 * (size_t)w);
	low[w] = e[w];
	if (idx_key_order(m.key[m.n - 1], e, w) != 0) {
		fence_between(m.key[m.n - 1], e, w, low);
		low[w] = 0; /* B8 */
	}
	memcpy(idx_words_of(&leaf, idx_node_high(w)), low, 8 * (size_t)(w + 1));
	leaf.meta = idx_meta_fallen(idx_meta_next(&leaf, count));
	nam_status st = attach(c, path, 0, &leaf, &sibling, &left, &right);
	if (st != NAM_OK)
		return st;
	idx_change_end(c);
	if (p->ops != NULL && p->pub.model != NULL)
		p->ops->split(p->pub.model, left, right);
	return NAM_OK;
}

nam_status
idx_part_fill(struct part *p, const uint64_t *e, unsigned n, unsigned percent, unsigned *done)
{
	unsigned w = p->pub.words, most = percent * IDX_NODE_SLOTS / 100;
	most = most < 1 ? 1 : most > IDX_NODE_SLOTS ? IDX_NODE_SLOTS : most;
	for (*done = 0; *done < n;) {
		const uint64_t *at = e + *done * (size_t)(w + 1);
		struct idx_path path;
		struct idx_an_change ignored;
		const struct idx_node *leaf = idx_part_find(p, at, at[w], &path);
		unsigned took = 1;
		nam_status st;
		if (leaf == NULL)
			return NAM_CORRUPT;
		if (is_end(leaf, w, at, at[w])) {
			st = append(p, &path, at, n - *done, most, &took);
			if (st == NAM_OK)
				entries_add(p, took);
		} else {
			st = idx_part_insert(p, at, at[w], leaf, &ignored);
		}
		if (st != NAM_OK)
			return st;
		*done += took;
	}
	return NAM_OK;
}

/* ---- moves (B11, B13) ------------------------------------------------------------------ */

/* Can the partition be cut at this fence of a leaf? Maps know fences between keys only. */
static bool
is_cut(const struct part *p, const uint64_t *m)
{
	const struct idx_part_head *h = idx_head_of_part(p);
	unsigned w = p->pub.words;
	return m[w] == 0 && idx_place_order(m, 0, h->low, h->low[w], w) > 0;
}

/* The nearest fence that will do, when the middle is among equal keys: at the right, else at the
 * left. */
static bool
beside_equals(const struct part *p, uint64_t *m)
{
	enum { LOOKS = 1 << 14 };
	unsigned w = p->pub.words;
	uint64_t left[IDX_KEY_WORDS + 1], *middle = m;
	struct idx_path path;
	bool found = false;
	const struct idx_node *n = idx_part_find(p, m, m[w], &path);
	for (unsigned i = 0; n != NULL && i < LOOKS; i++) {
		memcpy(left, idx_at(n, IDX_NODE_LOW), 8 * (size_t)(w + 1));
		if (is_cut(p, left)) {
			memcpy(m, left, 8 * (size_t)(w + 1));
			return true;
		}
		n = idx_part_node(&p->pub, idx_part_right(&p->pub, idx_part_offset(p, n)));
	}
	n = idx_part_node(&p->pub, idx_part_leaf(&p->pub, NULL, 0));
	for (unsigned i = 0; n != NULL && i < LOOKS; i++) {
		const uint64_t *low = idx_at(n, IDX_NODE_LOW);
		if (idx_place_order(low, low[w], middle, middle[w], w) >= 0)
			break;
		if (is_cut(p, low)) {
			memcpy(left, low, 8 * (size_t)(w + 1));
			found = true;
		}
		n = idx_part_node(&p->pub, idx_part_right(&p->pub, idx_part_offset(p, n)));
	}
	if (found)
		memcpy(m, left, 8 * (size_t)(w + 1));
	return found;
}

/* A fence near the middle: of the nodes two levels below the root, or below the first node with
 * several children. */
static bool
middle_of(const struct part *p, uint64_t *m)
{
	unsigned w = p->pub.words, total = 0, of[IDX_NODE_SLOTS] = { 0 }, i = 0;
	const struct idx_node *root = idx_part_node(&p->pub, p->pub.at + IDX_PART_ROOT), *kid;
	unsigned level = root != NULL ? idx_meta_level(root->meta) : 0, count;
	/* Joins may have left it one child. */
	while (level > 1 && root != NULL && idx_meta_count(root->meta) == 1) {
		root = idx_part_to(p, *idx_at(root, idx_node_child(w, 0)));
		level--;
	}
	if (level == 0 || root == NULL || idx_meta_level(root->meta) != level)
		return false;
	count = idx_meta_count(root->meta);
	for (unsigned k = 0; k < count; k++) {
		kid = level > 1 ? idx_part_to(p, *idx_at(root, idx_node_child(w, k))) : NULL;
		of[k] = level == 1 ? 1 : kid != NULL ? idx_meta_count(kid->meta) : 0;
		total += of[k];
	}
	if (total < 2)
		return false;
	unsigned half = total / 2;
	while (half >= of[i])
		half -= of[i++];
	const struct idx_node *n = level > 1 ? idx_part_to(p, *idx_at(root, idx_node_child(w, i))) : root;
	unsigned slot = level > 1 ? half : i;
	memcpy(m, idx_at(n, idx_node_key(w, slot)), 8 * (size_t)w);
	m[w] = *idx_at(n, idx_node_value(w, slot));
	return is_cut(p, m) || beside_equals(p, m);
}

static void
change_state(struct idx_change *c, enum idx_part_state state)
{
	const uint64_t word = state;
	idx_change_run(c, c->p->pub.at + offsetof(struct idx_part_head, state), &word, 1);
	idx_change_end(c);
}

nam_status
idx_part_seal(struct part *p, uint64_t *m, bool *found)
{
	const struct idx_part_head *h = idx_head_of_part(p);
	unsigned w = p->pub.words;
	uint64_t words[1 + IDX_KEY_WORDS + 1] = { IDX_PART_SEALED };
	*found = h->state == IDX_PART_SEALED;
	if (*found)
		memcpy(m, h->seal, 8 * (size_t)(w + 1));
	else if (h->state != IDX_PART_LIVE)
		return NAM_INVALID;
	else if ((*found = middle_of(p, m))) {
		struct idx_change *c = idx_change_begin(p);
		memcpy(words + 1, m, 8 * (size_t)(w + 1));
		idx_change_run(c, p->pub.at + offsetof(struct idx_part_head, state), words, 2 + w);
		idx_change_end(c);
	}
	return NAM_OK;
}

nam_status
idx_part_unseal(struct part *p)
{
	const struct idx_part_head *h = idx_head_of_part(p);
	if (h->state == IDX_PART_SEALED)
		change_state(idx_change_begin(p), IDX_PART_LIVE);
	return h->state == IDX_PART_LIVE ? NAM_OK : NAM_INVALID;
}

nam_status
idx_part_go(struct part *p)
{
	const struct idx_part_head *h = idx_head_of_part(p);
	if (h->state == IDX_PART_INCOMING)
		change_state(idx_change_begin(p), IDX_PART_LIVE);
	return h->state == IDX_PART_LIVE ? NAM_OK : NAM_INVALID;
}

/* The fences of the partition, and of the nodes on the way to its new end, fall to m: what lies
 * behind is not in its tree any more. */
static nam_status
cut_off(struct part *p, const uint64_t *m)
{
	unsigned w = p->pub.words;
	const struct idx_part_head *h = idx_head_of_part(p);
	uint64_t last[IDX_KEY_WORDS + 1], words[1 + IDX_KEY_WORDS + 1 + IDX_LEVELS_MAX] = { IDX_PART_CUT };
	uint64_t *cut = words + 1 + IDX_KEY_WORDS + 1;
	struct idx_path path;
	memcpy(last, m, 8 * (size_t)(w + 1));
	if (!idx_place_before(last, &last[w], w))
		return NAM_INVALID;
	const struct idx_node *leaf = idx_part_find(p, last, last[w], &path);
	if (leaf == NULL)
		return NAM_CORRUPT;
	if (memcmp(idx_at(leaf, idx_node_high(w)), m, 8 * (size_t)(w + 1)) != 0)
		return NAM_INVALID;
	struct idx_change *c = idx_change_begin(p);
	for (unsigned level = 0; level <= path.top; level++) {
		struct idx_node n;
		idx_part_load(p, path.at[level], &n);
		cut[level] = n.right;
		n.meta = idx_meta_next(&n, level == 0 ? idx_meta_count(n.meta) : path.child[level] + 1);
		if (level > 0) /* the leaf ends there already */
			n.meta = idx_meta_fallen(n.meta);
		n.right = 0;
		memcpy(idx_words_of(&n, idx_node_high(w)), m, 8 * (size_t)(w + 1));
		idx_change_node(c, path.at[level], &n);
	}
	memcpy(words + 1, h->seal, sizeof h->seal);
	idx_change_run(c, p->pub.at + offsetof(struct idx_part_head, high), m, w + 1);
	idx_change_run(
	    c, p->pub.at + offsetof(struct idx_part_head, state), words, sizeof words / sizeof *words);
	idx_change_end(c);
	p->cutting = false;
	/* Its models know leaves that are none any more. */
	if (p->ops != NULL && p->pub.model != NULL) {
		p->ops->close(p->pub.model);
		p->pub.model = p->ops->open(&p->pub);
	}
	return NAM_OK;
}

/* Takes the checks of nodes that were cut off away. False: there are more. */
static bool
cut_end(struct part *p, unsigned most)
{
	const struct idx_part_head *h = idx_head_of_part(p);
	if (!p->cutting) {
		p->cutting = true;
		p->cut_level = 0;
		p->cut_at = h->cut[0];
		p->cut_leaves = p->cut_inners = p->cut_entries = 0;
	}
	while (p->cut_level < IDX_LEVELS_MAX) {
		const struct idx_node *n = p->cut_at != 0 ? idx_part_to(p, p->cut_at) : NULL;
		if (n == NULL) {
			p->cut_at = ++p->cut_level < IDX_LEVELS_MAX ? h->cut[p->cut_level] : 0;
			continue;
		}
		if (most-- == 0)
			return false;
		if (!nam_fault(TREE_MOVED_BELIEVED))
			idx_put(p, idx_part_offset(p, n), 0);
		p->cut_leaves += p->cut_level == 0;
		p->cut_inners += p->cut_level > 0;
		p->cut_entries += p->cut_level == 0 ? idx_meta_count(n->meta) : 0;
		p->cut_at = n->right;
	}
	const uint64_t words[] = { h->leaves - p->cut_leaves, h->inners - p->cut_inners, h->splits,
		h->entries - p->cut_entries, IDX_PART_LIVE };
	struct idx_change *c = idx_change_begin(p);
	idx_change_run(
	    c, p->pub.at + offsetof(struct idx_part_head, leaves), words, sizeof words / sizeof *words);
	idx_change_end(c);
	p->cutting = false;
	return true;
}
static_assert(
    offsetof(struct idx_part_head, state) == offsetof(struct idx_part_head, leaves) + 32 &&
	offsetof(struct idx_part_head, cut) == offsetof(struct idx_part_head, seal) + 8 * (IDX_KEY_WORDS + 1),
    "what a cut changes lies side by side");

nam_status
idx_part_cut(struct part *p, const uint64_t *m, unsigned most)
{
	const struct idx_part_head *h = idx_head_of_part(p);
	unsigned w = p->pub.words;
	if (h->state == IDX_PART_SEALED && memcmp(h->seal, m, 8 * (size_t)(w + 1)) == 0) {
		nam_status st = cut_off(p, m);
		if (st != NAM_OK)
			return st;
	}
	if (memcmp(h->high, m, 8 * (size_t)(w + 1)) != 0 ||
	    (h->state != IDX_PART_CUT && h->state != IDX_PART_LIVE))
		return NAM_INVALID;
	return h->state == IDX_PART_LIVE || cut_end(p, most) ? NAM_OK : NAM_BUSY;
}

/* ---- making and opening ---------------------------------------------------------------- */

static uint64_t
head_check(const struct idx_part_head *h)
{
	return idx_check_words(&h->tree, (unsigned)((offsetof(struct idx_part_head, high) / 8) - 2), 1);
}

nam_status
idx_part_make(char *base, uint64_t at, uint64_t tree, unsigned words, uint64_t number, const uint64_t *low,
    const uint64_t *high, unsigned region, enum idx_part_state state)
{
	const struct part p = { .pub = { .base = base, .at = at, .region = region } };
	const struct idx_part_head *old = (const void *)(base + at);
	struct idx_part_head h = { .tree = tree,
		.words = words,
		.number = number,
		.next = at + IDX_PART_NODES,
		.end = at + IDX_TREE_EXTENT,
		.newest = at,
		.extents = 1,
		.leaves = 1,
		.state = state };
	struct idx_node root = { .tree = tree, .meta = idx_meta(0, 0, 0, words) };
	memcpy(h.low, low, 8 * (size_t)(words + 1));
	memcpy(h.high, high, 8 * (size_t)(words + 1));
	h.check = head_check(&h);
	if (old->magic == IDX_PART_MAGIC && old->check == h.check && old->tree == tree)
		return NAM_DUPLICATE;
	memcpy(idx_words_of(&root, IDX_NODE_LOW), low, 8 * (size_t)(words + 1));
	memcpy(idx_words_of(&root, idx_node_high(words)), high, 8 * (size_t)(words + 1));
	root.check = idx_node_check(&root, words, true);
	idx_put(&p, at, 0);
	idx_put(&p, at + IDX_PART_LOG, 0);
	idx_put_words(&p, at + IDX_PART_ROOT, (const uint64_t *)&root, idx_node_words(words, true));
	idx_put_words(&p, at + 8, &h.check, sizeof h / 8 - 1);
	idx_put(&p, at, IDX_PART_MAGIC);
	return NAM_OK;
}

static bool
claim(struct part *p, uint64_t offset)
{
	uint32_t none = 0;
	if (offset % IDX_TREE_EXTENT != 0 || offset == 0 || offset > p->pub.size - IDX_TREE_EXTENT)
		return false;
	return atomic_compare_exchange_strong(&p->owner[offset / IDX_TREE_EXTENT], &none, p->mark) ||
	       none == p->mark;
}

/* The list of extents, from the newest back. */
static nam_status
list_extents(struct part *p)
{
	const struct idx_part_head *h = idx_head_of_part(p);
	uint64_t at = h->newest;
	if (h->extents == 0 || h->extents > p->pub.size / IDX_TREE_EXTENT)
		return NAM_CORRUPT;
	if (!extents_room(p, h->extents))
		return NAM_NOMEM;
	p->extents = h->extents;
	memset(p->extent, 0, p->extents * sizeof *p->extent);
	for (uint64_t i = h->extents; i-- > 1;) {
		if (!claim(p, at))
			return NAM_CORRUPT;
		const struct idx_extent_head *e = (const void *)(p->pub.base + at);
		if (e->tree != p->pub.tree || e->number != i)
			return NAM_CORRUPT;
		p->extent[i] = at;
		at = e->before;
	}
	p->extent[0] = p->pub.at;
	return at == p->pub.at ? NAM_OK : NAM_CORRUPT;
}

nam_status
idx_part_open(struct part *p)
{
	const struct idx_part_head *h = idx_head_of_part(p);
	if (h->magic != IDX_PART_MAGIC || h->tree != p->pub.tree || h->words == 0 ||
	    h->words > IDX_KEY_WORDS || h->check != head_check(h))
		return NAM_ABSENT;
	p->pub.words = (unsigned)h->words;
	p->pub.number = (unsigned)h->number;
	if (!claim(p, p->pub.at))
		return NAM_CORRUPT;
	nam_status st = idx_change_repair(p);
	if (st == NAM_OK)
		st = list_extents(p);
	if (st == NAM_OK && (h->using_ >= h->extents || h->next > h->end || !is_ours(p, h->end - 1)))
		st = NAM_CORRUPT;
	return st;
}

void
idx_part_close(struct part *p)
{
	if (p->ops != NULL && p->pub.model != NULL)
		p->ops->close(p->pub.model);
	for (uint64_t i = 0; i < p->extents; i++) {
		uint32_t mine = p->mark;
		atomic_compare_exchange_strong(&p->owner[p->extent[i] / IDX_TREE_EXTENT], &mine, 0);
	}
	uint32_t mine = p->mark;
	atomic_compare_exchange_strong(&p->owner[p->pub.at / IDX_TREE_EXTENT], &mine, 0);
	free(p->extent);
}

bool
idx_part_end(struct part *p, unsigned most)
{
	if (!p->ending && idx_head_of_part(p)->state == IDX_PART_CUT && !cut_end(p, most))
		return false;
	if (!p->ending) {
		p->ending = true;
		p->end_leaf = idx_part_leaf(&p->pub, NULL, 0);
		idx_put(p, p->pub.at, 0);
		idx_put(p, p->pub.at + IDX_PART_ROOT, 0);
	}
	while (p->end_leaf != 0 && most-- > 0) {
		idx_put(p, p->end_leaf, 0);
		p->end_leaf = idx_part_right(&p->pub, p->end_leaf);
	}
	return p->end_leaf == 0;
}
