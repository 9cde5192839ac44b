/*
 * join.c -- a leaf that has lost its last entry gives its range to its right neighbour (B15).
 *
 * Without it the head of a queue, and any range that is deleted and filled elsewhere, would leave
 * its leaves behind, and each scan from there would READ them all.
 *
 *        above                     above
 *       /     \                       |
 *     end     heir     becomes      heir         end, end: what has left the tree; the heirs' low
 *      |      /  \                  /  \         fences fall to theirs
 *     end  heir  ...             heir  ...
 */
#include <base/assert.h>
#include <base/fault.h>
#include <index/btree/part_change.h>

enum {
	LEVELS = 5, /* of nodes that leave the tree in one change: what the log has room for */
	AGAIN = 8,  /* leaves that are looked at after one change */
};
static_assert(
    (3 * LEVELS + 1) * (IDX_NODE_WORDS_MAX + 2) + 64 <= IDX_LOG_WORDS, "a join has room in the log");

struct join {
	unsigned top;   /* level of the node above both */
	uint64_t above; /* its offset */
	unsigned child; /* there: of the ends; the next one is of the heirs */
	/* of each level below: offsets; left: of the neighbour at the left of the end, 0 = none */
	uint64_t end[LEVELS], heir[LEVELS], left[LEVELS];
};

/* The heirs: the way down the left side of the child behind that of the ends. */
static bool
find_heirs(const struct part *p, struct join *j)
{
	unsigned w = p->pub.words;
	const struct idx_node *n = idx_part_node(&p->pub, j->above);
	unsigned child = j->child + 1;
	for (unsigned level = j->top; level-- > 0; child = 0) {
		n = idx_part_to(p, *idx_at(n, idx_node_child(w, child)));
		if (n == NULL || idx_meta_level(n->meta) != level ||
		    (level > 0 && idx_meta_count(n->meta) == 0))
			return false;
		j->heir[level] = idx_part_offset(p, n);
	}
	return idx_meta_count(n->meta) < IDX_NODE_SLOTS;
}

/* The last place before the one given. False: that is the first of the partition. */
static bool
before(const struct part *p, uint64_t *place)
{
	const struct idx_part_head *h = idx_head_of_part(p);
	unsigned w = p->pub.words;
	return idx_place_order(place, place[w], h->low, h->low[w], w) > 0 &&
	       idx_place_before(place, &place[w], w);
}

static bool
find_left(const struct part *p, const struct idx_node *leaf, struct join *j)
{
	unsigned w = p->pub.words;
	uint64_t place[IDX_KEY_WORDS + 1];
	struct idx_path path;
	memset(j->left, 0, sizeof j->left);
	memcpy(place, idx_at(leaf, IDX_NODE_LOW), 8 * (size_t)(w + 1));
	if (!before(p, place))
		return true;
	if (idx_part_find(p, place, place[w], &path) == NULL)
		return false;
	memcpy(j->left, path.at, j->top * sizeof *j->left);
	return true;
}

/* False: the leaf stays. */
static bool
plan(const struct part *p, const struct idx_path *path, const struct idx_node *leaf, struct join *j)
{
	for (unsigned level = 1; level <= path->top && level <= LEVELS; level++) {
		const struct idx_node *n = idx_part_node(&p->pub, path->at[level]);
		if (n == NULL)
			return false;
		j->end[level - 1] = path->at[level - 1];
		if (path->child[level] + 1 < idx_meta_count(n->meta)) {
			j->top = level;
			j->above = path->at[level];
			j->child = path->child[level];
			return find_heirs(p, j) && find_left(p, leaf, j);
		}
		if (idx_meta_count(n->meta) > 1)
			return false;
	}
	return false;
}

/* What leaves the tree: nothing lies between its fences. */
static void
end_node(struct idx_change *c, uint64_t offset, uint64_t heir)
{
	const struct part *p = c->p;
	unsigned w = p->pub.words;
	struct idx_node n;
	idx_part_load(p, offset, &n);
	if (idx_meta_level(n.meta) == 0) {
		const uint64_t *high = idx_at(&n, idx_node_high(w));
		idx_set_place(&n, w, IDX_ENDED_HIGH, high, high[w]);
	}
	if (!nam_fault(TREE_JOIN_FENCE))
		memcpy(idx_words_of(&n, idx_node_high(w)), idx_at(&n, IDX_NODE_LOW), 8 * (size_t)(w + 1));
	n.right = idx_part_address(p, heir);
	n.meta = idx_meta_fallen(idx_meta_next(&n, idx_meta_count(n.meta)));
	idx_change_spare(c, offset, &n);
	idx_change_node(c, offset, &n);
}

static void
inherit(struct idx_change *c, uint64_t offset, const uint64_t *low)
{
	unsigned w = c->p->pub.words;
	struct idx_node n;
	idx_part_load(c->p, offset, &n);
	memcpy(idx_words_of(&n, IDX_NODE_LOW), low, 8 * (size_t)(w + 1));
	if (idx_meta_level(n.meta) > 0)
		idx_set_place(&n, w, 0, low, low[w]);
	n.meta = idx_meta_next(&n, idx_meta_count(n.meta));
	idx_change_node(c, offset, &n);
}

static void
lead_past(struct idx_change *c, uint64_t offset, uint64_t heir)
{
	struct idx_node n;
	idx_part_load(c->p, offset, &n);
	n.right = idx_part_address(c->p, heir);
	n.meta = idx_meta_next(&n, idx_meta_count(n.meta));
	idx_change_node(c, offset, &n);
}

/* The node above both: the ends' place leads to the heirs, whose own place goes. */
static void
lose_child(struct idx_change *c, uint64_t offset, unsigned child)
{
	unsigned w = c->p->pub.words;
	struct idx_node n;
	idx_part_load(c->p, offset, &n);
	unsigned count = idx_meta_count(n.meta);
	*idx_words_of(&n, idx_node_child(w, child)) = *idx_at(&n, idx_node_child(w, child + 1));
	for (unsigned i = child + 1; i + 1 < count; i++) {
		idx_set_place(
		    &n, w, i, idx_at(&n, idx_node_key(w, i + 1)), *idx_at(&n, idx_node_value(w, i + 1)));
		*idx_words_of(&n, idx_node_child(w, i)) = *idx_at(&n, idx_node_child(w, i + 1));
	}
	n.meta = idx_meta_next(&n, count - 1);
	idx_change_node(c, offset, &n);
}

static void
carry_out(struct part *p, const struct join *j, const uint64_t *low)
{
	struct idx_change *c = idx_change_begin(p);
	lose_child(c, j->above, j->child);
	for (unsigned level = 0; level < j->top; level++) {
		inherit(c, j->heir[level], low);
		end_node(c, j->end[level], j->heir[level]);
		if (j->left[level] != 0)
			lead_past(c, j->left[level], j->heir[level]);
	}
	idx_change_end(c);
}

/*
 * The heir may be empty as well: then it is next. Else the leaf before is: it may have become empty
 * when its heir was full, or while the partition was moving.
 */
void
idx_part_join(struct part *p, const uint64_t *key, uint64_t value)
{
	unsigned w = p->pub.words;
	uint64_t place[IDX_KEY_WORDS + 1], was[IDX_KEY_WORDS];
	memcpy(place, key, 8 * (size_t)w);
	place[w] = value;
	if (idx_head_of_part(p)->state != IDX_PART_LIVE && !nam_fault(TREE_JOIN_MOVING))
		return;
	for (unsigned i = 0; i < AGAIN; i++) {
		struct idx_path path;
		struct join j;
		const struct idx_node *leaf = idx_part_find(p, place, place[w], &path);
		if (leaf == NULL || idx_meta_count(leaf->meta) > 0)
			return;
		memcpy(was, idx_at(leaf, idx_node_high(w)), 8 * (size_t)w);
		memcpy(place, idx_at(leaf, IDX_NODE_LOW), 8 * (size_t)(w + 1));
		if (!plan(p, &path, leaf, &j)) {
			/* Those before it may join it, and leave it alone below its inner node. */
			if (!before(p, place))
				return;
			continue;
		}
		carry_out(p, &j, place);
		/* The heir's old fence is none of the models' now, the leaf none of them. */
		if (p->ops != NULL && p->pub.model != NULL && p->ops->joined != NULL)
			p->ops->joined(p->pub.model, place, was);
		const struct idx_node *heir = idx_part_node(&p->pub, j.heir[0]);
		if (heir == NULL || (idx_meta_count(heir->meta) > 0 && !before(p, place)))
			return;
	}
}

void
idx_part_join_before(struct part *p, const struct idx_node *leaf)
{
	unsigned w = p->pub.words;
	uint64_t place[IDX_KEY_WORDS + 1];
	memcpy(place, idx_at(leaf, IDX_NODE_LOW), 8 * (size_t)(w + 1));
	if (before(p, place))
		idx_part_join(p, place, place[w]);
}
