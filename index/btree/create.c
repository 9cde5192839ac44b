/* create.c -- making a tree, and ending it. */
#include <index/btree/client.h>

#include <stdlib.h>

enum { DROP_ROUNDS = 1 << 20 };

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
	return cfg->parts < 2 || idx_key_order(zeros, cfg->part[1].low, cfg->words) < 0;
}

/* A partition's view for messages without an open tree. */
static struct view
lone_view(net_addr at, uint64_t tree, unsigned words)
{
	return (
	    struct view){ .pub = { .at = at,
			      .region = net_region_of(at),
			      .service = IDX_TREE_SERVICE +
					 (unsigned)(net_offset_of(at) / IDX_TREE_EXTENT % IDX_TREE_SERVICES),
			      .words = words,
			      .id = tree } };
}

static nam_status
part_create(struct net_worker *w, const struct idx_map *map, unsigned i, unsigned words)
{
	struct view v = lone_view((net_addr){ map->part[i].at }, map->tree, words);
	struct idx_ask a;
	struct idx_an head;
	if (!idx_ask_init(&a, &v, IDX_MSG_CREATE, 1 + 2 * (IDX_KEY_WORDS + 1), 0))
		return NAM_NOMEM;
	uint64_t *at = a.rq + a.n, *low = at + 1, *high = low + IDX_KEY_WORDS + 1;
	at[0] = i;
	memset(low, 0, 8 * (IDX_KEY_WORDS + 1));
	memset(high, 0xff, 8 * (IDX_KEY_WORDS + 1));
	memcpy(low, map->part[i].low, 8 * (size_t)words);
	low[words] = map->part[i].low[IDX_KEY_WORDS];
	if (i + 1 < map->parts) {
		memcpy(high, map->part[i + 1].low, 8 * (size_t)words);
		high[words] = map->part[i + 1].low[IDX_KEY_WORDS];
	}
	a.n += 1 + 2 * (IDX_KEY_WORDS + 1);
	nam_status st = idx_ask_run(w, &a, &head);
	idx_ask_free(&a);
	return st;
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
	for (unsigned i = 0; i < cfg->parts && st == NAM_OK; i++)
		st = part_create(w, map, i, cfg->words);
	a.state = 1;
	if (st == NAM_OK)
		st = net_write1(w, AT(anchor, state), &a.state, 8, NULL);
out:
	free(map);
	return st;
}

nam_status
idx_tree_drop(struct net_worker *w, net_addr anchor)
{
	struct idx_tree_anchor a;
	static const struct idx_tree_anchor nothing;
	const uint64_t dropping = 2;
	nam_status st = net_read1(w, anchor, &a, sizeof a, NULL), worst = NAM_OK;
	if (st != NAM_OK)
		return st;
	if (a.magic != IDX_TREE_MAGIC)
		return a.magic == 0 ? NAM_ABSENT : NAM_CORRUPT;
	if ((st = net_write1(w, AT(anchor, state), &dropping, 8, NULL)) != NAM_OK)
		return st;
	if (a.map != 0) {
		struct idx_map *map = malloc(sizeof *map);
		if (map == NULL)
			return NAM_NOMEM;
		st = a.parts >= 1 && a.parts <= IDX_MAP_PARTS
			 ? net_read1(w, (net_addr){ a.map }, map, (uint32_t)idx_map_bytes(a.parts), NULL)
			 : NAM_CORRUPT;
		if (st == NAM_OK &&
		    (map->parts != a.parts || map->tree != a.tree || map->check != idx_map_check(map)))
			st = NAM_CORRUPT;
		for (unsigned i = 0; st == NAM_OK && i < a.parts; i++) {
			struct view v = lone_view((net_addr){ map->part[i].at }, a.tree, (unsigned)a.words);
			struct idx_ask k;
			struct idx_an head;
			nam_status one = NAM_NOMEM;
			unsigned rounds = 0;
			if (idx_ask_init(&k, &v, IDX_MSG_DROP, 0, 0)) {
				do
					one = idx_ask_run(w, &k, &head);
				while (one == NAM_BUSY && ++rounds < DROP_ROUNDS);
				idx_ask_free(&k);
			}
			if (one != NAM_OK && one != NAM_REFUSED) /* it is not there: good */
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
