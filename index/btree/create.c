/* create.c -- making a tree, and ending it. */
#include <index/btree/client.h>

#include <stdlib.h>

enum { DROP_ROUNDS = 1 << 20, MOVE_WAIT_NS = 1000000000 };

#define AT(anchor, field) net_plus(anchor, offsetof(struct idx_tree_anchor, field))

static bool
is_sound(struct net_worker *w, const struct idx_tree_config *cfg)
{
	if (cfg->words < 1 || cfg->words > IDX_TREE_WORDS || cfg->parts < 1 || cfg->parts > IDX_TREE_PARTS)
		return false;
	for (unsigned i = 0; i < cfg->parts; i++) {
		if (net_node_of(net_worker_net(w), cfg->part[i].region) == NULL)
			return false;
		if (i > 1 && idx_key_order(cfg->part[i - 1].low, cfg->part[i].low, cfg->words) >= 0)
			return false;
	}
	static const uint64_t zeros[IDX_TREE_WORDS];
	if (cfg->later && cfg->parts > 1)
		return false;
	return cfg->parts < 2 || idx_key_order(zeros, cfg->part[1].low, cfg->words) < 0;
}

struct view
idx_lone_view(struct idx_tree *t, net_addr at, uint64_t tree, unsigned words)
{
	return (
	    struct view){ .pub = { .tree = t,
			      .at = at,
			      .region = net_region_of(at),
			      .service = IDX_TREE_SERVICE +
					 (unsigned)(net_offset_of(at) / IDX_TREE_EXTENT % IDX_TREE_SERVICES),
			      .words = words,
			      .id = tree } };
}

/* A fence of a map in the words of a message. */
static void
fence_put(uint64_t *out, const uint64_t *low, unsigned words)
{
	memset(out, 0, 8 * (IDX_KEY_WORDS + 1));
	memcpy(out, low, 8 * (size_t)words);
	out[words] = low[IDX_KEY_WORDS];
}

nam_status
idx_part_create(struct net_worker *w, struct view *v, uint64_t number, const uint64_t *low,
    const uint64_t *high, enum idx_part_state state)
{
	struct idx_ask a;
	struct idx_an head;
	const unsigned words = 1 + 2 * (IDX_KEY_WORDS + 1) + 1;
	if (!idx_ask_init(&a, v, IDX_MSG_CREATE, words, 0))
		return NAM_NOMEM;
	uint64_t *at = a.rq + a.n;
	at[0] = number;
	fence_put(at + 1, low, v->pub.words);
	memset(at + 1 + IDX_KEY_WORDS + 1, 0xff, 8 * (IDX_KEY_WORDS + 1));
	if (high != NULL)
		fence_put(at + 1 + IDX_KEY_WORDS + 1, high, v->pub.words);
	at[words - 1] = state;
	a.n += words;
	nam_status st = idx_ask_run(w, &a, &head);
	idx_ask_free(&a);
	return st;
}

nam_status
idx_part_drop(struct net_worker *w, struct view *v)
{
	struct idx_ask k;
	struct idx_an head;
	nam_status st;
	unsigned rounds = 0;
	if (!idx_ask_init(&k, v, IDX_MSG_DROP, 0, 0))
		return NAM_NOMEM;
	do
		st = idx_ask_run(w, &k, &head);
	while (st == NAM_BUSY && ++rounds < DROP_ROUNDS);
	idx_ask_free(&k);
	return st == NAM_REFUSED ? NAM_OK : st;
}

nam_status
idx_tree_create(struct net_worker *w, net_addr anchor, const struct idx_tree_config *cfg,
    const struct idx_tree_memory *mem)
{
	uint64_t seen;
	net_addr at;
	NAM_ASSERT((anchor.bits & 7) == 0);
	if (!is_sound(w, cfg))
		return NAM_INVALID;
	nam_status st = net_read1(w, AT(anchor, magic), &seen, 8, NULL);
	if (st != NAM_OK)
		return st;
	if (seen != 0)
		return NAM_DUPLICATE;
	struct idx_map *map = calloc(1, sizeof *map);
	if (map == NULL)
		return NAM_NOMEM;
	/* The word that decides which process creates the tree. What drop needs to know comes
	 * before the first partition. */
	st = net_cas1(w, AT(anchor, magic), 0, IDX_TREE_MAGIC, &seen, NULL);
	if (st == NAM_OK && seen != 0)
		st = NAM_DUPLICATE;
	if (st != NAM_OK)
		goto out;
	map->tree = nam_rng_next(net_rng(w)) | 1;
	if (cfg->later) {
		const struct idx_tree_anchor bare = {
			.tree = map->tree, .words = cfg->words, .parts = 1, .first = cfg->part[0].region
		};
		const uint64_t state = IDX_TREE_BARE;
		if ((st = net_write1(w, AT(anchor, first), &bare.first, 8, NULL)) == NAM_OK &&
		    (st = net_write1(w, AT(anchor, tree), &bare.tree, 3 * 8, NULL)) == NAM_OK)
			st = net_write1(w, AT(anchor, state), &state, 8, NULL);
		goto out;
	}
	map->version = 1;
	map->parts = cfg->parts;
	st = mem->take(mem->arg, w, cfg->part[0].region, &at);
	for (unsigned i = 0; i < cfg->parts && st == NAM_OK; i++) {
		net_addr part;
		st = mem->take(mem->arg, w, cfg->part[i].region, &part);
		map->part[i].at = part.bits;
		if (st == NAM_OK && net_region_of(part) != cfg->part[i].region)
			st = NAM_INVALID;
		if (i > 0)
			memcpy(map->part[i].low, cfg->part[i].low, 8 * (size_t)cfg->words);
	}
	if (st != NAM_OK)
		goto out;
	map->check = idx_map_check(map);
	struct idx_tree_anchor a = { .magic = IDX_TREE_MAGIC,
		.tree = map->tree,
		.words = cfg->words,
		.parts = cfg->parts,
		.map = at.bits };
	struct net_op ops[2];
	struct net_batch b;
	net_batch_init(&b, w, ops, 2, NULL);
	net_write(&b, at, map, (uint32_t)idx_map_bytes(map->parts));
	if ((st = net_run(&b)) != NAM_OK)
		goto out;
	if ((st = net_write1(w, AT(anchor, tree), &a.tree, 4 * 8, NULL)) != NAM_OK)
		goto out;
	for (unsigned i = 0; i < cfg->parts && st == NAM_OK; i++) {
		struct view v = idx_lone_view(NULL, (net_addr){ map->part[i].at }, map->tree, cfg->words);
		st = idx_part_create(w, &v, i, map->part[i].low,
		    i + 1 < cfg->parts ? map->part[i + 1].low : NULL, IDX_PART_LIVE);
	}
	a.state = IDX_TREE_LIVE;
	if (st == NAM_OK)
		st = net_write1(w, AT(anchor, state), &a.state, 8, NULL);
out:
	free(map);
	return st;
}

/* Two extents of a region: of the one that is preferred, or of another one that has them. */
static nam_status
two_extents(struct net_worker *w, struct idx_tree *t, unsigned first, net_addr *at, net_addr *part)
{
	struct net *n = net_worker_net(w);
	nam_status st = NAM_FULL;
	for (unsigned i = 0; (st == NAM_FULL || st == NAM_GONE) && i <= net_node_count(n); i++) {
		unsigned region = i == 0 ? first : net_node(n, i - 1)->region;
		if (i > 0 && region == first)
			continue;
		st = idx_extent_get(w, t, region, at);
		if (st == NAM_OK && (st = idx_extent_get(w, t, region, part)) != NAM_OK)
			idx_extent_back(t, *at);
	}
	return st;
}

/* A map of one partition, in an extent of its own. */
static nam_status
map_of_one(struct net_worker *w, struct idx_tree *t, const struct idx_tree_anchor *a, struct idx_map *map,
    net_addr *at, net_addr *part, struct net_counts *acct)
{
	nam_status st = two_extents(w, t, (unsigned)a->first, at, part);
	if (st != NAM_OK)
		return st;
	*map = (struct idx_map){ .tree = a->tree, .version = 1, .parts = 1 };
	map->part[0].at = part->bits;
	map->check = idx_map_check(map);
	return net_write1(w, *at, map, (uint32_t)idx_map_bytes(1), acct);
}

nam_status
idx_tree_begin(struct net_worker *w, struct idx_tree *t, struct net_counts *acct)
{
	struct idx_tree_anchor a;
	net_addr at, part;
	uint64_t seen = 0;
	struct idx_map *map = malloc(sizeof *map);
	if (map == NULL)
		return NAM_NOMEM;
	nam_status st = net_read1(w, t->anchor, &a, sizeof a, acct);
	if (st == NAM_OK && (a.magic != IDX_TREE_MAGIC || (t->o.id != 0 && a.tree != t->o.id)))
		st = NAM_REFUSED;
	if (st != NAM_OK || a.state != IDX_TREE_BARE)
		goto out;
	if (a.map == 0) {
		if ((st = map_of_one(w, t, &a, map, &at, &part, acct)) != NAM_OK)
			goto out;
		st = nam_fault(TREE_BEGUN_TWICE) ? net_write1(w, AT(t->anchor, map), &at.bits, 8, acct)
						 : net_cas1(w, AT(t->anchor, map), 0, at.bits, &seen, acct);
		if (st != NAM_OK)
			goto out; /* both stay with the owner of the memory */
		if (seen != 0) {
			idx_extent_back(t, at);
			idx_extent_back(t, part);
		}
		a.map = seen != 0 ? seen : at.bits;
	}
	/* The anchor's words may have been READ before `map` was set, which is once only while the
	 * tree is bare. */
	st = idx_map_read(w, &a, map, acct);
	if (st == NAM_OK) {
		static const uint64_t low[IDX_KEY_WORDS + 1];
		struct view v = idx_lone_view(t, (net_addr){ map->part[0].at }, a.tree, t->words);
		st = idx_part_create(w, &v, 0, low, NULL, IDX_PART_LIVE);
	}
	if (st == NAM_OK)
		st = net_cas1(w, AT(t->anchor, state), IDX_TREE_BARE, IDX_TREE_LIVE, &seen, acct);
out:
	free(map);
	return st;
}

/* Waits until no client moves a partition: one that takes the lock from now on sees that the tree
 * is being dropped. *a is what the anchor says then. */
static nam_status
wait_for_move(struct net_worker *w, net_addr anchor, struct idx_tree_anchor *a)
{
	struct net_backoff b = { .base_ns = 20000, .cap_ns = 1000000, .yields = 4 };
	uint64_t until = net_now_ns(w) + MOVE_WAIT_NS;
	for (;;) {
		nam_status st = net_read1(w, anchor, a, sizeof *a, NULL);
		if (st != NAM_OK || a->lock == 0)
			return st;
		if (net_now_ns(w) > until)
			return NAM_BUSY;
		net_back_off(w, &b);
	}
}

nam_status
idx_tree_id(struct net_worker *w, net_addr anchor, uint64_t *id)
{
	struct idx_tree_anchor a;
	nam_status st = net_read1(w, anchor, &a, sizeof a, NULL);
	if (st == NAM_OK && a.magic != IDX_TREE_MAGIC)
		st = NAM_ABSENT;
	*id = st == NAM_OK ? a.tree : 0;
	return st;
}

nam_status
idx_tree_drop(struct net_worker *w, net_addr anchor)
{
	struct idx_tree_anchor a;
	static const struct idx_tree_anchor nothing;
	const uint64_t dropping = IDX_TREE_DROPPING;
	nam_status st = net_read1(w, anchor, &a, sizeof a, NULL), worst = NAM_OK, one;
	if (st != NAM_OK)
		return st;
	if (a.magic != IDX_TREE_MAGIC)
		return a.magic == 0 ? NAM_ABSENT : NAM_CORRUPT;
	if ((st = net_write1(w, AT(anchor, state), &dropping, 8, NULL)) != NAM_OK ||
	    (st = wait_for_move(w, anchor, &a)) != NAM_OK)
		return st;
	if (a.map != 0) {
		struct idx_map *map = malloc(sizeof *map);
		if (map == NULL)
			return NAM_NOMEM;
		st = idx_map_read(w, &a, map, NULL);
		if (st == NAM_BUSY)
			st = NAM_CORRUPT;
		for (unsigned i = 0; st == NAM_OK && i < map->parts; i++) {
			struct view v =
			    idx_lone_view(NULL, (net_addr){ map->part[i].at }, a.tree, (unsigned)a.words);
			if ((one = idx_part_drop(w, &v)) != NAM_OK)
				worst = one;
		}
		free(map);
	}
	if (st != NAM_OK || worst != NAM_OK)
		return st != NAM_OK ? st : worst;
	/* magic last: then the place is empty again */
	struct net_op ops[2];
	struct net_batch b;
	net_batch_init(&b, w, ops, 2, NULL);
	net_write(&b, AT(anchor, tree), &nothing.tree, sizeof a - 8);
	net_write(&b, anchor, &nothing.magic, 8);
	return net_run(&b);
}
