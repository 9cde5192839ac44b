/*
 * move.c -- a partition gives the upper half of its keys to a new one, on another service or
 * another storage node (B10 to B13).
 *
 * A client does it, with the anchor's lock held, in this order (each step waits for the one
 * before):
 *
 *	1  write down `target`, then `source`
 *	2  SEAL the source: from now on its upper half does not change. It tells the fence
 *	3  CREATE the target; READ the upper half, and FILL the target with it
 *	4  write the new map into the place that is not in use, then the anchor's `map`
 *	5  CUT the source; OPEN the target
 *	6  clear `source`, free the lock
 *
 * Up to the last WRITE of step 4 it can be undone, from there on it must be finished: the map says
 * which (B12). Each step may be repeated. So the client that takes the lock from a dead one does
 * what `settle` does, and so does a client that met an error.
 *
 * A service may still execute a message that was in doubt, unless a later one of the same view has
 * been served (B9), or its sender is fenced. So the lock is kept until `settle` has come to its
 * end, here or in the process that recovers this one.
 */
#include <base/fault.h>
#include <index/btree/client.h>

#include <stdlib.h>

#define AT(anchor, field) net_plus(anchor, offsetof(struct idx_tree_anchor, field))

enum {
	FILL_PERCENT = 80,
	CUT_ROUNDS = 1 << 20,
	PIECE = 64 /* entries that the cursor brings at once */
};

/* What the holder of the lock knows. */
struct move {
	struct net_worker *w;
	struct idx_tree *t;
	const struct net_set *ended; /* NULL: no node has */
	struct net_counts *acct;
	bool held;
	struct idx_tree_anchor a;
	struct idx_map map;
};

/* ---- the lock -------------------------------------------------------------------------- */

static uint64_t
owner_of(struct net_worker *w, struct idx_tree *t)
{
	uint64_t owner = atomic_load(&t->owner);
	if (owner == 0) {
		uint64_t new = nam_rng_next(net_rng(w)) | 1;
		if (atomic_compare_exchange_strong(&t->owner, &owner, new))
			owner = new;
	}
	return owner;
}

/* A WRITE or CAS of the anchor or the map that may still execute. */
static nam_status
sure(struct move *v, nam_status st)
{
	if (st == NAM_GONE)
		atomic_store(&v->t->doubt, true);
	return st;
}

/* The anchor and the map as they are. */
static nam_status
look(struct move *v)
{
	nam_status st = net_read1(v->w, v->t->anchor, &v->a, sizeof v->a, v->acct);
	if (st != NAM_OK)
		return st;
	if (v->a.magic != IDX_TREE_MAGIC || v->a.state == IDX_TREE_MAKING)
		return NAM_REFUSED;
	if (v->a.state == IDX_TREE_BARE)
		return NAM_ABSENT;
	st = idx_map_read(v->w, &v->a, &v->map, v->acct);
	return st == NAM_BUSY && v->held ? NAM_CORRUPT : st;
}

/* From the state `from`: 0, or a dead owner. A lock that has our word is ours: an attempt before
 * did not come to its end. */
static nam_status
lock(struct move *v, uint64_t from)
{
	uint64_t seen, owner = owner_of(v->w, v->t);
	if (atomic_load(&v->t->doubt))
		return NAM_GONE;
	nam_status st = look(v); /* a CAS belongs into a tree only */
	if (st == NAM_OK)
		st = sure(v, net_cas1(v->w, AT(v->t->anchor, lock), from, owner, &seen, v->acct));
	if (st != NAM_OK)
		return st;
	if (seen != from && seen != owner)
		return from == 0 ? NAM_BUSY : NAM_ABSENT;
	v->held = true;
	return NAM_OK;
}

/* The record is empty. */
static nam_status
unlock(struct move *v)
{
	uint64_t seen, owner = owner_of(v->w, v->t);
	nam_status st = sure(v, net_cas1(v->w, AT(v->t->anchor, lock), owner, 0, &seen, v->acct));
	return st == NAM_OK && seen != owner ? NAM_CORRUPT : st;
}

/* `source` says that there is a move, so it is written behind `target`, and cleared alone: a WRITE
 * of both that its client's death cuts in the middle would leave a source without a target. */
static nam_status
record(struct move *v, uint64_t source, uint64_t target)
{
	const uint64_t words[2] = { source, target };
	nam_status st = NAM_OK;
	if (nam_fault(TREE_RECORD_TORN))
		return sure(v, net_write1(v->w, AT(v->t->anchor, source), words, sizeof words, v->acct));
	if (source != 0)
		st = sure(v, net_write1(v->w, AT(v->t->anchor, target), &target, 8, v->acct));
	if (st == NAM_OK)
		st = sure(v, net_write1(v->w, AT(v->t->anchor, source), &source, 8, v->acct));
	if (st == NAM_OK) {
		v->a.source = source;
		v->a.target = target;
	}
	return st;
}

/* ---- messages -------------------------------------------------------------------------- */

static struct view
part_at(struct move *v, uint64_t address)
{
	return idx_lone_view(v->t, (net_addr){ address }, v->a.tree, (unsigned)v->a.words);
}

/* The partition is lost with its node, or does not exist, or its node hosts no trees: nothing is
 * left to do there. */
static bool
is_lost(const struct move *v, uint64_t address, nam_status st)
{
	return st == NAM_REFUSED || st == NAM_UNSUPPORTED ||
	       (st == NAM_GONE && v->ended != NULL &&
		   net_set_has(v->ended, net_region_of((net_addr){ address })));
}

/* A step that a partition takes. m: of CUT; out: of SEAL. */
static nam_status
step(struct move *v, uint64_t at, enum idx_message what, const uint64_t *m, uint64_t *out)
{
	struct view view = part_at(v, at);
	const unsigned fence = IDX_KEY_WORDS + 1;
	struct idx_ask a;
	struct idx_an head;
	if (!idx_ask_init(&a, &view, what, fence, 1 + fence))
		return NAM_NOMEM;
	if (m != NULL) {
		memcpy(a.rq + a.n, m, 8 * (size_t)fence);
		a.n += fence;
	}
	nam_status st;
	unsigned rounds = 0;
	do
		st = idx_ask_run(v->w, &a, &head);
	while (st == NAM_BUSY && ++rounds < CUT_ROUNDS);
	if (st == NAM_OK && out != NULL) {
		if (a.call.got != sizeof head + 8 * (1 + fence))
			st = NAM_CORRUPT;
		else
			memcpy(out, a.an + sizeof head / 8, 8 * (size_t)(1 + fence));
	}
	idx_ask_free(&a);
	return st;
}

/* ---- the end of a move ----------------------------------------------------------------- */

/* Finishes or undoes what the anchor has written down. */
static nam_status
settle(struct move *v)
{
	unsigned w = (unsigned)v->a.words;
	uint64_t m[IDX_KEY_WORDS + 1] = { 0 }, source = v->a.source, target = v->a.target;
	unsigned i = 0;
	nam_status st;
	if (source == 0)
		return NAM_OK;
	while (i < v->map.parts && v->map.part[i].at != target)
		i++;
	if (i < v->map.parts) {
		memcpy(m, v->map.part[i].low, 8 * (size_t)w);
		m[w] = v->map.part[i].low[IDX_KEY_WORDS];
		st = step(v, source, IDX_MSG_CUT, m, NULL);
		if (st != NAM_OK && !is_lost(v, source, st))
			return st;
		st = step(v, target, IDX_MSG_OPEN, NULL, NULL);
		if (st != NAM_OK && !is_lost(v, target, st))
			return st;
	} else {
		st = step(v, source, IDX_MSG_UNSEAL, NULL, NULL);
		if (st != NAM_OK && !is_lost(v, source, st))
			return st;
		struct view view = part_at(v, target);
		st = idx_part_drop(v->w, &view);
		if (st != NAM_OK && !is_lost(v, target, st))
			return st;
		if (st == NAM_OK)
			idx_extent_back(v->t, view.pub.at);
	}
	return record(v, 0, 0);
}

/* Step 3: all entries from m on into the target. */
static nam_status
copy(struct move *v, unsigned number, const uint64_t *m)
{
	struct idx_tree *t = v->t;
	unsigned w = t->words, n = 0, got = 1;
	const unsigned most = IDX_FILL_ENTRIES(w);
	struct view target = part_at(v, v->a.target);
	struct idx_tree_range range = { .low = m, .expect = 256 };
	uint64_t high[IDX_KEY_WORDS], done;
	if (number + 1 < v->map.parts) {
		memcpy(high, v->map.part[number + 1].low, 8 * (size_t)w);
		range.high = high;
		range.high_open = true;
	}
	struct idx_tree_scan *s = idx_tree_scan_open(t, &range, NULL);
	uint64_t *e = malloc(8 * (size_t)most * (w + 1));
	nam_status st = s != NULL && e != NULL ? NAM_OK : NAM_NOMEM;
	while (st == NAM_OK && (got > 0 || n > 0)) {
		uint64_t keys[PIECE * IDX_KEY_WORDS], values[PIECE];
		unsigned room = most - n < PIECE ? most - n : PIECE;
		if (got > 0 && room > 0) {
			st = idx_tree_scan_next(v->w, s, keys, values, room, &got, v->acct);
			for (unsigned i = 0; i < got && st == NAM_OK; i++) {
				memcpy(e + (n + i) * (size_t)(w + 1), keys + i * (size_t)w, 8 * (size_t)w);
				e[(n + i) * (size_t)(w + 1) + w] = values[i];
			}
			n += st == NAM_OK ? got : 0;
			continue;
		}
		st = idx_part_send(v->w, &target, e, n, FILL_PERCENT | IDX_FILL_MOVE, &done);
		n -= (unsigned)done;
		memmove(e, e + done * (w + 1), 8 * (size_t)n * (w + 1));
	}
	free(e);
	idx_tree_scan_close(s);
	return st;
}

/* Step 4. */
static nam_status
publish(struct move *v, unsigned number, const uint64_t *m)
{
	struct idx_map *map = &v->map;
	unsigned w = v->t->words;
	const uint64_t other = v->a.map ^ IDX_MAP_PLACE;
	struct idx_map_part *at = &map->part[number + 1];
	memmove(at + 1, at, (map->parts - number - 1) * sizeof *at);
	*at = (struct idx_map_part){ .at = v->a.target };
	memcpy(at->low, m, 8 * (size_t)w);
	map->parts++;
	map->version++;
	map->check = idx_map_check(map);
	nam_status st =
	    sure(v, net_write1(v->w, (net_addr){ other }, map, (uint32_t)idx_map_bytes(map->parts), v->acct));
	/* Readers take the number of partitions from the anchor: it is never too low. */
	if (st == NAM_OK)
		st = sure(v, net_write1(v->w, AT(v->t->anchor, parts), &map->parts, 8, v->acct));
	if (st == NAM_OK)
		st = sure(v, net_write1(v->w, AT(v->t->anchor, map), &other, 8, v->acct));
	return st;
}

/* Steps 1 to 4. */
static nam_status
begin(struct move *v, const uint64_t *key, unsigned region)
{
	struct idx_tree *t = v->t;
	unsigned w = t->words, number = 0;
	uint64_t sealed[1 + IDX_KEY_WORDS + 1], low[IDX_KEY_WORDS + 1] = { 0 };
	net_addr target;
	if (v->a.words != w)
		return NAM_INVALID;
	if (v->a.state != IDX_TREE_LIVE)
		return NAM_REFUSED;
	if (v->map.parts == IDX_MAP_PARTS)
		return NAM_FULL;
	while (number + 1 < v->map.parts && idx_key_order(v->map.part[number + 1].low, key, w) <= 0)
		number++;
	uint64_t source = v->map.part[number].at;
	nam_status st = idx_extent_get(v->w, t, region, &target);
	if (st != NAM_OK)
		return st;
	if ((st = record(v, source, target.bits)) != NAM_OK)
		return st;
	if ((st = step(v, source, IDX_MSG_SEAL, NULL, sealed)) != NAM_OK)
		return st;
	if (sealed[0] == 0)
		return NAM_ABSENT;
	memcpy(low, sealed + 1, 8 * (size_t)w);
	struct view view = part_at(v, target.bits);
	st = idx_part_create(v->w, &view, v->map.parts, low,
	    number + 1 < v->map.parts ? v->map.part[number + 1].low : NULL, IDX_PART_INCOMING);
	if (st == NAM_OK)
		st = copy(v, number, sealed + 1);
	return st == NAM_OK ? publish(v, number, sealed + 1) : st;
}

/* With the lock: settles, and frees it. A WRITE that may still execute decides how: then another
 * process does it, when this one is fenced. */
static nam_status
finish(struct move *v)
{
	nam_status st = atomic_load(&v->t->doubt) ? NAM_GONE : look(v);
	if (st == NAM_OK)
		st = settle(v);
	if (st == NAM_OK)
		st = unlock(v);
	atomic_store(&v->t->pending, st != NAM_OK && !atomic_load(&v->t->doubt));
	return st;
}

nam_status
idx_tree_split(struct net_worker *w, struct idx_tree *t, const uint64_t *key, unsigned region,
    const struct net_set *ended, struct net_counts *acct)
{
	if (net_node_of(net_worker_net(w), region) == NULL)
		return NAM_INVALID;
	if (atomic_exchange(&t->moving, true))
		return NAM_BUSY;
	struct move *v = calloc(1, sizeof *v);
	nam_status st = NAM_NOMEM, end;
	if (v == NULL)
		goto out;
	*v = (struct move){ .w = w, .t = t, .ended = ended, .acct = acct };
	st = lock(v, 0);
	/* What an attempt of ours has left is settled first. */
	if (st == NAM_OK && (st = look(v)) == NAM_OK && (st = settle(v)) == NAM_OK)
		st = begin(v, key, region);
	if (v->held) {
		end = finish(v);
		st = st == NAM_OK ? end : st;
	}
	if (st == NAM_OK) {
		struct views *m = atomic_load(&t->views);
		(void)idx_views(w, t, m, &m, acct);
	}
out:
	free(v);
	atomic_store(&t->moving, false);
	return st;
}

nam_status
idx_tree_recover(struct net_worker *w, struct idx_tree *t, uint64_t dead_owner, const struct net_set *ended,
    struct net_counts *acct)
{
	if (atomic_exchange(&t->moving, true))
		return NAM_BUSY;
	struct move *v = calloc(1, sizeof *v);
	nam_status st = NAM_NOMEM;
	if (v != NULL) {
		*v = (struct move){ .w = w, .t = t, .ended = ended, .acct = acct };
		if ((st = lock(v, dead_owner)) == NAM_OK)
			st = finish(v);
	}
	free(v);
	atomic_store(&t->moving, false);
	return st;
}

nam_status
idx_tree_settle(
    struct net_worker *w, struct idx_tree *t, const struct net_set *ended, struct net_counts *acct)
{
	if (!atomic_load(&t->pending))
		return NAM_OK;
	return idx_tree_recover(w, t, owner_of(w, t), ended, acct);
}

void
idx_tree_set_owner(struct idx_tree *t, uint64_t owner)
{
	atomic_store(&t->owner, owner);
}

bool
idx_tree_in_doubt(const struct idx_tree *t)
{
	return atomic_load(&t->doubt);
}

bool
idx_tree_unsettled(const struct idx_tree *t)
{
	return atomic_load(&t->pending);
}

nam_status
idx_tree_holder(struct net_worker *w, const struct idx_tree *t, uint64_t *holder, struct net_counts *acct)
{
	return net_read1(w, AT(t->anchor, lock), holder, sizeof *holder, acct);
}

nam_status
idx_tree_regions(
    struct net_worker *w, struct idx_tree *t, unsigned *region, unsigned *n, struct net_counts *acct)
{
	struct views *m;
	nam_status st = idx_views(w, t, NULL, &m, acct);
	*n = st == NAM_OK ? m->n : 0;
	for (unsigned i = 0; i < *n; i++)
		region[i] = m->view[i]->pub.region;
	return st;
}
