/*
 * resize.c -- how a sub-table that has become too full is replaced by two, or by itself without its
 * tombs.
 *
 * Under the index's resize lock, in this order (each step waits for the one before):
 *
 *	1  double the directory if the sub-table is as deep as it
 *	2  take memory for the new tables; if there is none, nothing else has changed. Memory used
 *	   again is wiped
 *	3  freeze: first zero slot of each bucket 0 -> FROZEN, full buckets `moved`
 *	4  READ it again: now it is final except for removes
 *	5  WRITE the new tables; then the intent (new[], prefix, spare, left_at, old)
 *	6  WRITE the directory words, highest index first
 *	7  list the old sub-table as left behind, clear the intent, free the lock
 *
 * A splitter may die at any step: up to step 4, the next splitter of this table repeats all of its
 * changes; from step 5 on, the intent tells the remaining steps.
 */
#include <index/hash/hash_internal.h>

#include <stdlib.h>
#include <string.h>

enum {
	TABLE_SLOTS = IDX_BUCKETS * IDX_SLOTS,
	/* With so few entries a table is rewritten if that makes room, not split. */
	REWRITE_LIVE_MAX = TABLE_SLOTS * 2 / 5,
	OPS = 64
};

struct work {
	struct idx_bucket old[IDX_BUCKETS];
	struct idx_bucket new_[2][IDX_BUCKETS];
	uint64_t entry[TABLE_SLOTS + 1]; /* of one side, by home bucket; one more place for entries
					  * of the other side */
	uint32_t first[IDX_BUCKETS + 1]; /* where a home bucket begins in entry[] */
	uint8_t slot[IDX_BUCKETS];       /* freeze: the slot to try next */
	uint8_t bucket_of_op[OPS];
	uint64_t word[OPS];
	struct net_op ops[OPS];
	uint64_t page[IDX_PAGES]; /* of the directory */
	uint64_t copy[IDX_PAGE_WORDS];
};

static net_addr
word_of(const struct work *wk, uint64_t i)
{
	return (net_addr){ wk->page[i >> IDX_PAGE_LOG2] + 8 * (i & (IDX_PAGE_WORDS - 1)) };
}

/* ---- pure: distributing entries ------------------------------------------------- */

static void
table_init(struct idx_bucket *t, uint64_t tag, unsigned depth, uint64_t turn, uint64_t prefix)
{
	memset(t, 0, IDX_TABLE_BYTES);
	for (unsigned b = 0; b < IDX_BUCKETS; b++)
		t[b].head = idx_head(tag, depth, turn, prefix);
}

/* Frozen buckets of no table: the content of a memory before it becomes another table (H7). */
static void
table_wipe(struct idx_bucket *t)
{
	for (unsigned b = 0; b < IDX_BUCKETS; b++) {
		t[b].head = UINT64_MAX;
		for (unsigned i = 0; i < IDX_SLOTS; i++)
			t[b].slot[i] = IDX_FROZEN;
	}
}

/*
 * Puts the entries of wk->old whose bit `bit` of the hash is `side` (bit < 0: all) into the empty
 * table t, so that H1 and H2 hold: in the order of home buckets, each into the first bucket with
 * room. If entries fitted within four buckets of home in the old table, in any order of arrival,
 * they also do so here: to serve the earliest home first keeps the farthest entry nearest. False:
 * they did not fit, so the bytes were not those of a table.
 */
static bool
distribute(struct work *wk, struct idx_bucket *t, int bit, unsigned side)
{
	uint32_t count[IDX_BUCKETS] = { 0 }, at[IDX_BUCKETS] = { 0 }, total = 0;
	unsigned shift = bit < 0 ? 0 : (unsigned)bit, any = bit < 0;
	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned b = 0; b < IDX_BUCKETS; b++) {
			for (unsigned i = 0; i < IDX_SLOTS; i++) {
				/* No branch on a bit that is as good as random: entries of the
				 * other side go behind the end. */
				uint64_t e = wk->old[b].slot[i];
				unsigned mine = (unsigned)(idx_entry_sig(e) >> shift & 1) ^ side;
				unsigned keep = (unsigned)idx_is_entry(e) & ((mine ^ 1) | any);
				unsigned home = idx_home_of_entry(e, b);
				if (pass == 1)
					wk->entry[keep ? at[home] : TABLE_SLOTS] = e;
				*(pass == 0 ? &count[home] : &at[home]) += keep;
			}
		}
		if (pass == 0) {
			for (unsigned b = 0; b < IDX_BUCKETS; b++) {
				at[b] = wk->first[b] = total;
				total += count[b];
			}
			wk->first[IDX_BUCKETS] = total;
		}
	}
	/* Begin behind a bucket that passes nothing on. Two rounds, because the first starts with
	 * nothing carried. */
	unsigned start = IDX_BUCKETS;
	for (unsigned i = 0, carry = 0; i < 2 * IDX_BUCKETS; i++) {
		carry += count[i % IDX_BUCKETS];
		carry = carry > IDX_SLOTS ? carry - IDX_SLOTS : 0;
		if (i >= IDX_BUCKETS && carry == 0)
			start = (i + 1) % IDX_BUCKETS;
	}
	if (start == IDX_BUCKETS)
		return total == 0;
	unsigned home = 0, used = 0; /* buckets from start; entries of it that have a place */
	for (unsigned step = 0; step < IDX_BUCKETS; step++) {
		struct idx_bucket *to = &t[(start + step) % IDX_BUCKETS];
		for (unsigned n = 0; n < IDX_SLOTS && home <= step;) {
			unsigned h = (start + home) % IDX_BUCKETS;
			if (used == count[h]) {
				home++;
				used = 0;
				continue;
			}
			if (step - home >= IDX_PROBES)
				return false;
			to->slot[n++] = wk->entry[wk->first[h] + used++];
		}
	}
	/* Homes that are used up but not yet passed. */
	while (home < IDX_BUCKETS && used == count[(start + home) % IDX_BUCKETS]) {
		home++;
		used = 0;
	}
	return home == IDX_BUCKETS;
}

/* ---- steps ------------------------------------------------------------------------ */

static bool
extent_is_sane(net_addr a)
{
	return net_region_of(a) > 0 && net_region_of(a) < NET_REGIONS &&
	       (a.bits & (IDX_EXTENT_BYTES - 1)) == 0;
}

/* Takes one unused sub-table; a->spare is the true value, and remote memory follows with the
 * intent. */
static nam_status
table_take(
    struct net_worker *w, struct idx_hash *ix, struct idx_anchor *a, net_addr *out, struct net_counts *acct)
{
	nam_status st;
	unsigned left = (unsigned)(a->spare & (IDX_TABLE_BYTES - 1));
	if (left == 0 || left > IDX_TABLES_PER_EXTENT) {
		net_addr extent;
		if ((st = ix->mem.take(ix->mem.arg, w, &extent)) != NAM_OK)
			return st;
		if (!extent_is_sane(extent))
			return NAM_INVALID;
		left = IDX_TABLES_PER_EXTENT;
		a->spare = extent.bits | left;
		/* Written at once, so that it is not lost if a later step finds no memory. */
		if ((st = net_write1(w, IDX_AT(ix->anchor, spare), &a->spare, 8, acct)) != NAM_OK)
			return st;
	}
	out->bits = a->spare & ~(uint64_t)(IDX_TABLE_BYTES - 1);
	a->spare = left == 1 ? 0 : (out->bits + IDX_TABLE_BYTES) | (left - 1);
	return NAM_OK;
}

/* ---- sub-tables left behind ---------------------------------------------------------- */

static unsigned
left_first(const struct idx_anchor *a)
{
	return (unsigned)(a->left_at >> 32) % IDX_LEFT;
}
static unsigned
left_count(const struct idx_anchor *a)
{
	return (unsigned)(uint32_t)a->left_at;
}
static uint64_t
left_word(unsigned first, unsigned count)
{
	return (uint64_t)(first % IDX_LEFT) << 32 | count;
}
static net_addr
left_place(const struct idx_anchor *a, unsigned i)
{
	return net_plus((net_addr){ a->left }, (left_first(a) + i) % IDX_LEFT * sizeof(struct idx_left));
}
static bool
left_is_sane(const struct idx_anchor *a)
{
	return left_count(a) <= IDX_LEFT && (a->left != 0 || left_count(a) == 0);
}

/*
 * Finds up to n tables that no process knows any more. *got: how many, in out[]. a->left_at is then
 * without them, and remote memory follows with the intent: if this process dies before, the next
 * one finds them in the list, whatever has been written into them.
 */
static nam_status
left_take(struct net_worker *w, struct idx_hash *ix, struct idx_anchor *a, net_addr *out, unsigned n,
    unsigned *got, struct net_counts *acct)
{
	struct idx_left l[2];
	struct net_op ops[2];
	struct net_batch b;
	*got = 0;
	n = n < left_count(a) ? n : left_count(a);
	NAM_ASSERT(n <= 2);
	if (ix->reclaim.now == NULL || n == 0)
		return NAM_OK;
	net_batch_init(&b, w, ops, 2, acct);
	for (unsigned i = 0; i < n; i++)
		net_read(&b, left_place(a, i), &l[i], sizeof l[i]);
	nam_status st = net_run(&b);
	for (unsigned i = 0; i < n && st == NAM_OK; i++) {
		if (net_region_of((net_addr){ l[i].table }) == 0 || (l[i].table & (IDX_TABLE_BYTES - 1)) != 0)
			return NAM_CORRUPT;
		if (!ix->reclaim.passed(ix->reclaim.arg, w, l[i].stamp))
			break;
		out[(*got)++].bits = l[i].table;
	}
	a->left_at = left_word(left_first(a) + *got, left_count(a) - *got);
	return st;
}

/* The list is where no process has been: there is no stamp for it. No memory: no list yet. */
static nam_status
left_make(struct net_worker *w, struct idx_hash *ix, struct idx_anchor *a, struct net_counts *acct)
{
	net_addr list;
	struct net_op ops[2];
	struct net_batch b;
	nam_status st = table_take(w, ix, a, &list, acct);
	if (st != NAM_OK)
		return st == NAM_FULL ? NAM_OK : st;
	a->left = list.bits;
	net_batch_init(&b, w, ops, 2, acct);
	net_write(&b, IDX_AT(ix->anchor, spare), &a->spare, 8);
	net_write(&b, IDX_AT(ix->anchor, left), &a->left, 8);
	return net_run(&b);
}

/*
 * Lists a table that no directory word names any more (H9). a->left_at counts it afterwards, and
 * the caller WRITEs that before it clears `old`. A full list forgets the table. If a WRITE into the
 * list is in doubt, it may execute later: then the list is forgotten. dead: a process that died may
 * have listed the table.
 */
static nam_status
left_put(struct net_worker *w, struct idx_hash *ix, struct idx_anchor *a, net_addr table, bool dead,
    struct net_counts *acct)
{
	struct idx_left last = { 0 };
	unsigned n = left_count(a);
	nam_status st = NAM_OK;
	if (ix->reclaim.now == NULL)
		return NAM_OK;
	if (dead && n > 0 && (st = net_read1(w, left_place(a, n - 1), &last, sizeof last, acct)) != NAM_OK)
		return st;
	if (last.table == table.bits || n == IDX_LEFT)
		return NAM_OK;
	if (a->left == 0 && ((st = left_make(w, ix, a, acct)) != NAM_OK || a->left == 0))
		return st;
	last.table = table.bits;
	if ((st = ix->reclaim.now(ix->reclaim.arg, w, &last.stamp)) != NAM_OK)
		return st;
	st = net_write1(w, left_place(a, n), &last, sizeof last, acct);
	a->left_at = left_word(left_first(a), n + 1);
	if (st != NAM_GONE)
		return st;
	a->left = a->left_at = 0;
	return net_write1(w, IDX_AT(ix->anchor, left), &a->left, 16, acct);
}

/* One page more: a copy of page i, listed as the page behind the last. `spare` is written before,
 * without the memory taken. */
static nam_status
page_add(struct net_worker *w, struct idx_hash *ix, struct work *wk, struct idx_anchor *a, net_addr list,
    unsigned i, unsigned n, struct net_counts *acct)
{
	uint64_t word = 0;
	net_addr page, at = net_plus(list, 8 * (n + i));
	/* A doubling that found no memory half way, or whose process died, has left some here. */
	nam_status st = net_read1(w, at, &word, 8, acct);
	page.bits = word;
	if (st == NAM_OK && word == 0 && (st = table_take(w, ix, a, &page, acct)) == NAM_OK)
		st = net_write1(w, IDX_AT(ix->anchor, spare), &a->spare, 8, acct);
	if (st == NAM_OK)
		st = net_read1(w, (net_addr){ wk->page[i] }, wk->copy, sizeof wk->copy, acct);
	if (st == NAM_OK)
		st = net_write1(w, page, wk->copy, sizeof wk->copy, acct);
	if (st == NAM_OK && word == 0)
		st = net_write1(w, at, &page.bits, 8, acct);
	wk->page[n + i] = page.bits;
	return st;
}

/* Step 1. The upper half becomes a copy of the lower. */
static nam_status
dir_double(
    struct net_worker *w, struct idx_hash *ix, struct work *wk, struct idx_anchor *a, struct net_counts *acct)
{
	unsigned depth = idx_root_depth(a->root), n = idx_root_pages(a->root);
	net_addr dir = { idx_root_dir(a->root) };
	nam_status st = NAM_OK;
	if (depth < IDX_PAGE_LOG2) {
		uint32_t bytes = 8u << depth;
		if ((st = net_read1(w, dir, wk->copy, bytes, acct)) == NAM_OK)
			st = net_write1(w, net_plus(dir, bytes), wk->copy, bytes, acct);
	} else if (!idx_root_listed(a->root)) {
		/* The list comes first, with the only page so far. */
		if ((st = table_take(w, ix, a, &dir, acct)) == NAM_OK)
			st = net_write1(w, IDX_AT(ix->anchor, spare), &a->spare, 8, acct);
		if (st != NAM_OK)
			return st;
		memset(wk->copy, 0, sizeof wk->copy);
		wk->copy[0] = wk->page[0];
		if ((st = net_write1(w, dir, wk->copy, sizeof wk->copy, acct)) == NAM_OK)
			st = page_add(w, ix, wk, a, dir, 0, 1, acct);
		if (st == NAM_FULL) {
			/* Nothing is unused but the list, and no process has seen it. */
			a->spare = dir.bits | 1;
			(void)net_write1(w, IDX_AT(ix->anchor, spare), &a->spare, 8, acct);
		}
	} else {
		for (unsigned i = 0; st == NAM_OK && i < n; i++)
			st = page_add(w, ix, wk, a, dir, i, n, acct);
	}
	if (st != NAM_OK)
		return st;
	unsigned cap = depth < IDX_PAGE_LOG2 ? IDX_PAGE_LOG2 : IDX_DEPTH_MAX;
	uint64_t seen, root = idx_root(dir.bits, cap, depth + 1);
	if ((st = net_cas1(w, IDX_AT(ix->anchor, root), a->root, root, &seen, acct)) != NAM_OK)
		return st;
	if (seen != a->root)
		return NAM_CORRUPT; /* another process writes under our lock */
	a->root = root;
	return idx_dir_adopt(w, ix, root, acct);
}

/* Step 3. */
static nam_status
freeze(struct net_worker *w, struct work *wk, net_addr table, struct net_counts *acct)
{
	for (unsigned b = 0; b < IDX_BUCKETS; b++) {
		unsigned i = 0;
		while (i < IDX_SLOTS && wk->old[b].slot[i] != 0 && wk->old[b].slot[i] != IDX_FROZEN)
			i++;
		wk->slot[b] = (uint8_t)i;
	}
	enum { DONE = 255 };
	for (unsigned left = IDX_BUCKETS, from = 0; left > 0;) {
		struct net_batch batch;
		net_batch_init(&batch, w, wk->ops, OPS, acct);
		/* Again and again over the buckets that are not frozen yet. */
		for (unsigned n = 0; n < IDX_BUCKETS && batch.n < OPS; n++, from = (from + 1) % IDX_BUCKETS) {
			struct idx_bucket *b = &wk->old[from];
			unsigned i = wk->slot[from];
			net_addr at = net_plus(table, from * (uint64_t)IDX_BUCKET_BYTES);
			if (i == DONE)
				continue;
			if ((i < IDX_SLOTS && b->slot[i] == IDX_FROZEN) ||
			    (i == IDX_SLOTS && (b->head & IDX_MOVED) != 0)) {
				wk->slot[from] = DONE; /* by a process that died here before */
				left--;
				continue;
			}
			wk->bucket_of_op[batch.n] = (uint8_t)from;
			if (i < IDX_SLOTS) {
				net_cas(&batch, net_plus(at, offsetof(struct idx_bucket, slot) + 8 * i), 0,
				    IDX_FROZEN);
			} else {
				b->head |= IDX_MOVED;
				net_write(&batch, at, &b->head, 8);
			}
		}
		unsigned n = batch.n;
		if (n == 0)
			continue;
		nam_status st = net_run(&batch);
		if (st != NAM_OK)
			return st;
		for (unsigned k = 0; k < n; k++) {
			unsigned b = wk->bucket_of_op[k];
			if (wk->ops[k].code == NET_CAS && wk->ops[k].seen != 0 &&
			    wk->ops[k].seen != IDX_FROZEN) {
				wk->slot[b]++; /* an insert was faster */
				continue;
			}
			wk->slot[b] = DONE;
			left--;
		}
	}
	return NAM_OK;
}

static bool
is_frozen(const struct idx_bucket *t, uint64_t head)
{
	for (unsigned b = 0; b < IDX_BUCKETS; b++) {
		unsigned i = 0;
		while (i < IDX_SLOTS && t[b].slot[i] != 0 && t[b].slot[i] != IDX_FROZEN)
			i++;
		if (i < IDX_SLOTS ? t[b].slot[i] != IDX_FROZEN || t[b].head != head
				  : t[b].head != (head | IDX_MOVED))
			return false;
	}
	return true;
}

/* Step 6, by the intent in a; then updates this process's directory. */
static nam_status
publish(struct net_worker *w, struct idx_hash *ix, struct work *wk, const struct idx_anchor *a,
    struct net_counts *acct)
{
	unsigned depth = idx_root_depth(a->root), local = idx_word_depth(a->old);
	if (local > depth || a->prefix > idx_low(local) || !idx_word_sane(a->new_[0], depth) ||
	    !idx_word_sane(a->new_[1], depth))
		return NAM_CORRUPT;
	for (uint64_t k = UINT64_C(1) << (depth - local); k > 0;) {
		struct net_batch b;
		net_batch_init(&b, w, wk->ops, OPS, acct);
		while (k > 0 && b.n < OPS) {
			k--;
			/* Two for one: words that differ in the bit behind the prefix. One for one:
			 * new_ are the same. */
			wk->word[b.n] = a->new_[k & 1];
			net_write(&b, word_of(wk, a->prefix | k << local), &wk->word[b.n], 8);
		}
		nam_status st = net_run(&b);
		if (st != NAM_OK)
			return st;
	}
	struct idx_dir *mine = atomic_load_explicit(&ix->dir, memory_order_acquire);
	if (mine != NULL && mine->root == a->root)
		for (uint64_t k = 0; k < UINT64_C(1) << (depth - local); k++)
			idx_dir_learn(mine, a->prefix | k << local, a->new_[k & 1]);
	return NAM_OK;
}

/* Steps 1 to 6. *a: the anchor as it is now. */
static nam_status
replace(struct net_worker *w, struct idx_hash *ix, struct work *wk, struct idx_anchor *a, uint64_t hash,
    uint64_t word, struct net_counts *acct)
{
	net_addr table = { idx_word_table(word) }, to[2];
	unsigned depth = idx_word_depth(word);
	uint64_t head = idx_head_of(ix->tag, word, hash), turn = a->splits + a->rewrites + 1;
	nam_status st = net_read1(w, table, wk->old, IDX_TABLE_BYTES, acct);
	if (st != NAM_OK)
		return st;
	if (nam_fault(ONE_TURN))
		turn = 0;
	unsigned live = 0, tombs = 0;
	for (unsigned b = 0; b < IDX_BUCKETS; b++) {
		if ((wk->old[b].head & ~IDX_MOVED) != head)
			return NAM_CORRUPT;
		for (unsigned i = 0; i < IDX_SLOTS; i++) {
			live += idx_is_entry(wk->old[b].slot[i]) != 0;
			tombs += wk->old[b].slot[i] == IDX_TOMB;
		}
	}
	unsigned parts = 2, home = idx_home(hash);
	if (live <= REWRITE_LIVE_MAX && tombs > 0) {
		/* Try: the last slot of a bucket shows whether it is full (H1). */
		table_init(wk->new_[0], ix->tag, depth, turn, hash);
		if (!distribute(wk, wk->new_[0], -1, 0))
			return NAM_CORRUPT;
		if (wk->new_[0][home].slot[IDX_SLOTS - 1] == 0 ||
		    wk->new_[0][(home + 1) % IDX_BUCKETS].slot[IDX_SLOTS - 1] == 0)
			parts = 1;
	}
	if (parts == 2 && depth == IDX_DEPTH_MAX) {
		if (tombs == 0)
			return NAM_FULL;
		parts = 1;
	}
	if (parts == 2 && depth == idx_root_depth(a->root) && (st = dir_double(w, ix, wk, a, acct)) != NAM_OK)
		return st;
	unsigned again = 0; /* how many of to[] are used again */
	if ((st = left_take(w, ix, a, to, parts, &again, acct)) != NAM_OK)
		return st;
	for (unsigned i = again; i < parts && st == NAM_OK; i++)
		st = table_take(w, ix, a, &to[i], acct);
	struct net_batch b;
	if (st == NAM_OK && again > 0 && !nam_fault(NO_WIPE)) {
		table_wipe(wk->new_[0]);
		net_batch_init(&b, w, wk->ops, OPS, acct);
		for (unsigned i = 0; i < again; i++)
			net_write(&b, to[i], wk->new_[0], IDX_TABLE_BYTES);
		st = net_run(&b);
	}
	if (st != NAM_OK) {
		/* A WRITE in doubt may execute later: then these tables must not be used any
		 * more. */
		if (st == NAM_GONE && again > 0)
			(void)net_write1(w, IDX_AT(ix->anchor, left_at), &a->left_at, 8, acct);
		return st;
	}
	if (!nam_fault(NO_FREEZE)) {
		if ((st = freeze(w, wk, table, acct)) != NAM_OK ||
		    (st = net_read1(w, table, wk->old, IDX_TABLE_BYTES, acct)) != NAM_OK)
			return st;
		if (!is_frozen(wk->old, head))
			return NAM_CORRUPT;
	}

	a->prefix = hash & idx_low(depth);
	net_batch_init(&b, w, wk->ops, OPS, acct);
	for (unsigned i = 0; i < parts; i++) {
		unsigned d = depth + parts - 1;
		table_init(wk->new_[i], ix->tag, d, turn, a->prefix | (uint64_t)i << depth);
		if (!distribute(wk, wk->new_[i], parts == 2 ? (int)depth : -1, i))
			return NAM_CORRUPT;
		a->new_[i] = idx_word(to[i].bits, d, turn);
		net_write(&b, to[i], wk->new_[i], IDX_TABLE_BYTES);
	}
	if ((st = net_run(&b)) != NAM_OK) {
		/* Likewise the next splitter must not take them. If this WRITE does not land, the
		 * lock is not freed either. */
		if (st == NAM_GONE && parts > again)
			(void)net_write1(w, IDX_AT(ix->anchor, spare), &a->spare, 8, acct);
		if (st == NAM_GONE && again > 0)
			(void)net_write1(w, IDX_AT(ix->anchor, left_at), &a->left_at, 8, acct);
		return st;
	}
	if (parts == 1)
		a->new_[1] = a->new_[0];
	if (parts == 2)
		a->splits++;
	else
		a->rewrites++;
	a->old = word;
	/* new_[2], prefix, splits, rewrites */
	net_write(&b, IDX_AT(ix->anchor, new_), a->new_, 5 * 8);
	net_write(&b, IDX_AT(ix->anchor, spare), &a->spare, 8);
	net_write(&b, IDX_AT(ix->anchor, left_at), &a->left_at, 8);
	net_write(&b, IDX_AT(ix->anchor, old), &a->old, 8); /* last: H6, H9 */
	if ((st = net_run(&b)) != NAM_OK)
		return st;
	if ((st = publish(w, ix, wk, a, acct)) == NAM_OK)
		st = left_put(w, ix, a, table, false, acct);
	return st;
}

/* The addresses of the directory's pages: this process knows them, or READs them. */
static nam_status
pages_of(struct net_worker *w, struct idx_hash *ix, uint64_t root, uint64_t *page, struct net_counts *acct)
{
	const struct idx_dir *mine = atomic_load_explicit(&ix->dir, memory_order_acquire);
	if (mine == NULL || mine->root != root)
		return idx_dir_pages(w, root, page, acct);
	memcpy(page, mine->page, idx_root_pages(root) * sizeof *page);
	return NAM_OK;
}

/* Step 7, but for the lock. In this order: H9. */
static nam_status
old_clear(struct net_worker *w, struct idx_hash *ix, const struct idx_anchor *a, struct net_counts *acct)
{
	static const uint64_t nothing;
	struct net_op ops[2];
	struct net_batch b;
	net_batch_init(&b, w, ops, 2, acct);
	net_write(&b, IDX_AT(ix->anchor, left_at), &a->left_at, 8);
	net_write(&b, IDX_AT(ix->anchor, old), &nothing, 8);
	return net_run(&b);
}

/* With the lock held: finishes a dead splitter's resize, then makes the replacement, then unlocks.
 * word 0 = only the former. */
static nam_status
resize_locked(struct net_worker *w, struct idx_hash *ix, uint64_t owner, uint64_t hash, uint64_t word,
    struct net_counts *acct)
{
	struct idx_anchor a;
	struct work *wk = malloc(sizeof *wk);
	uint64_t now = 0, nothing = 0;
	bool clear = false;
	nam_status st = wk == NULL ? NAM_NOMEM : net_read1(w, ix->anchor, &a, sizeof a, acct);
	if (st != NAM_OK)
		goto unlock;
	if (a.root == 0 && word == 0)
		goto unlock; /* its maker died before it was one (H10) */
	st = NAM_CORRUPT;
	if (a.magic != IDX_MAGIC || !idx_root_sane(a.root) || !left_is_sane(&a))
		goto unlock;
	if ((st = pages_of(w, ix, a.root, wk->page, acct)) != NAM_OK)
		goto unlock;
	if (a.old != 0) {
		if ((st = publish(w, ix, wk, &a, acct)) != NAM_OK ||
		    (st = left_put(w, ix, &a, (net_addr){ idx_word_table(a.old) }, true, acct)) != NAM_OK)
			goto unlock;
		clear = true;
	}
	st = NAM_OK;
	if (word == 0)
		goto unlock;
	net_addr at = word_of(wk, hash & idx_low(idx_root_depth(a.root)));
	if ((st = net_read1(w, at, &now, 8, acct)) != NAM_OK)
		goto unlock;
	if (now == word) {
		/* H6: `old` is cleared before new[] is written again. */
		if (clear && (st = old_clear(w, ix, &a, acct)) != NAM_OK)
			goto unlock;
		clear = false;
		if ((st = replace(w, ix, wk, &a, hash, word, acct)) == NAM_OK)
			clear = true;
	}
unlock:
	free(wk);
	struct net_op ops[3];
	struct net_batch b;
	net_batch_init(&b, w, ops, 3, acct);
	if (clear) {
		net_write(&b, IDX_AT(ix->anchor, left_at), &a.left_at, 8);
		net_write(&b, IDX_AT(ix->anchor, old), &nothing, 8);
	}
	struct net_op *cas = net_cas(&b, IDX_AT(ix->anchor, lock), owner, 0);
	nam_status end = net_run(&b);
	if (end == NAM_GONE)
		atomic_store_explicit(&ix->doubt, true, memory_order_relaxed);
	if (end == NAM_OK && cas->seen != owner)
		end = NAM_CORRUPT; /* another process has taken this one for dead */
	return st != NAM_OK ? st : end;
}

/* ---- the first sub-tables ------------------------------------------------------------- */

/* With the lock held. The extent: a directory, two sub-tables, one spare. `spare` is written before
 * anything else, so a maker that finds it without a root uses the extent of one that died and is
 * fenced. */
static nam_status
make_locked(struct net_worker *w, struct idx_hash *ix, struct net_counts *acct)
{
	struct idx_anchor a;
	nam_status st = net_read1(w, ix->anchor, &a, sizeof a, acct);
	if (st != NAM_OK || a.root != 0)
		return st;
	net_addr extent = { a.spare & ~(uint64_t)(IDX_EXTENT_BYTES - 1) };
	if (a.spare == 0) {
		if ((st = ix->mem.take(ix->mem.arg, w, &extent)) != NAM_OK)
			return st;
		if (!extent_is_sane(extent))
			return NAM_INVALID;
		a.spare = (extent.bits + UINT64_C(3) * IDX_TABLE_BYTES) | 1;
		if ((st = net_write1(w, IDX_AT(ix->anchor, spare), &a.spare, 8, acct)) != NAM_OK)
			return st;
	}
	struct idx_bucket *t = malloc((size_t)2 * IDX_TABLE_BYTES);
	if (t == NULL)
		return NAM_NOMEM;
	uint64_t dir[2], seen;
	for (unsigned i = 0; i < 2; i++) {
		table_init(t + i * IDX_BUCKETS, ix->tag, IDX_DEPTH_FIRST, 0, i);
		dir[i] = idx_word(extent.bits + (1 + i) * (uint64_t)IDX_TABLE_BYTES, IDX_DEPTH_FIRST, 0);
	}
	const uint64_t magic = IDX_MAGIC, root = idx_root(extent.bits, IDX_PAGE_LOG2, IDX_DEPTH_FIRST);
	struct net_op ops[3];
	struct net_batch b;
	net_batch_init(&b, w, ops, 3, acct);
	net_write(&b, extent, dir, sizeof dir);
	net_write(&b, net_plus(extent, IDX_TABLE_BYTES), t, 2 * IDX_TABLE_BYTES);
	net_write(&b, ix->anchor, &magic, 8);
	st = net_run(&b);
	free(t);
	/* A WRITE in doubt may execute later, so no other maker may use this extent: it stays with
	 * the index's owner. If this WRITE does not land, the lock is not freed either. */
	if (st == NAM_GONE && !nam_fault(MAKE_IN_DOUBT)) {
		a.spare = 0;
		(void)net_write1(w, IDX_AT(ix->anchor, spare), &a.spare, 8, acct);
	}
	if (st != NAM_OK)
		return st;
	return nam_fault(MAKE_TWICE) ? net_write1(w, IDX_AT(ix->anchor, root), &root, 8, acct)
				     : net_cas1(w, IDX_AT(ix->anchor, root), 0, root, &seen, acct);
}

/* ---- the lock ------------------------------------------------------------------------- */

/* word 0: makes the first sub-tables. */
static nam_status
resize(struct net_worker *w, struct idx_hash *ix, uint64_t hash, uint64_t word, struct net_counts *acct)
{
	uint64_t seen = 0, owner = atomic_load_explicit(&ix->owner, memory_order_relaxed);
	nam_status st = NAM_OK;
	if (word != 0 || !nam_fault(MAKE_TWICE))
		st = net_cas1(w, IDX_AT(ix->anchor, lock), 0, owner, &seen, acct);
	if (st == NAM_GONE)
		atomic_store_explicit(&ix->doubt, true, memory_order_relaxed);
	if (st != NAM_OK)
		return st;
	if (seen != 0)
		return NAM_BUSY;
	if (word != 0)
		return resize_locked(w, ix, owner, hash, word, acct);
	st = make_locked(w, ix, acct);
	if (nam_fault(MAKE_TWICE))
		return st;
	nam_status end = net_cas1(w, IDX_AT(ix->anchor, lock), owner, 0, &seen, acct);
	if (end == NAM_GONE)
		atomic_store_explicit(&ix->doubt, true, memory_order_relaxed);
	if (end == NAM_OK && seen != owner)
		end = NAM_CORRUPT; /* another process has taken this one for dead */
	return st != NAM_OK ? st : end;
}

/* One thread of a process asks for the lock: the others would only make its word hot. */
nam_status
idx_resize(struct net_worker *w, struct idx_hash *ix, uint64_t hash, uint64_t word, struct net_counts *acct)
{
	if (atomic_load_explicit(&ix->resizing, memory_order_relaxed) || atomic_exchange(&ix->resizing, true))
		return NAM_BUSY;
	nam_status st = resize(w, ix, hash, word, acct);
	atomic_store(&ix->resizing, false);
	return st;
}

nam_status
idx_make(struct net_worker *w, struct idx_hash *ix, struct net_counts *acct)
{
	return idx_resize(w, ix, 0, 0, acct);
}

nam_status
idx_hash_recover(struct net_worker *w, struct idx_hash *ix, uint64_t dead_owner, struct net_counts *acct)
{
	uint64_t seen, owner = atomic_load_explicit(&ix->owner, memory_order_relaxed);
	NAM_ASSERT(dead_owner != 0);
	nam_status st = net_cas1(w, IDX_AT(ix->anchor, lock), dead_owner, owner, &seen, acct);
	if (st == NAM_GONE)
		atomic_store_explicit(&ix->doubt, true, memory_order_relaxed);
	if (st != NAM_OK)
		return st;
	if (seen != dead_owner)
		return NAM_ABSENT;
	return resize_locked(w, ix, owner, 0, 0, acct);
}

bool
idx_hash_in_doubt(const struct idx_hash *ix)
{
	return atomic_load_explicit(&ix->doubt, memory_order_relaxed);
}

nam_status
idx_hash_holder(struct net_worker *w, const struct idx_hash *ix, uint64_t *holder, struct net_counts *acct)
{
	return net_read1(w, IDX_AT(ix->anchor, lock), holder, sizeof *holder, acct);
}
