/* dir.c -- the directory of a hash index as one process remembers it: loaded once, repaired word by
 * word. */
#include <index/hash/hash_internal.h>

#include <stdlib.h>
#include <string.h>

enum { PAGES_AT_ONCE = 32 };

static struct idx_dir *
dir_new(uint64_t root)
{
	uint64_t words = UINT64_C(1) << idx_root_depth(root);
	struct idx_dir *d =
	    calloc(1, sizeof *d + words * sizeof d->word[0] + idx_root_pages(root) * sizeof *d->page);
	if (d != NULL) {
		d->root = root;
		d->page = (uint64_t *)(void *)&d->word[words];
		d->mask = words - 1;
	}
	return d;
}

/* Shows d to all threads, unless another thread has shown a directory of that length: then d is
 * freed. */
static void
dir_show(struct idx_hash *ix, struct idx_dir *d)
{
	struct idx_dir *seen = atomic_load_explicit(&ix->dir, memory_order_acquire);
	do {
		if (seen != NULL && seen->mask >= d->mask) {
			free(d);
			return;
		}
		d->older = seen;
	} while (!atomic_compare_exchange_weak_explicit(
	    &ix->dir, &seen, d, memory_order_acq_rel, memory_order_acquire));
}

nam_status
idx_dir_pages(struct net_worker *w, uint64_t root, uint64_t *page, struct net_counts *acct)
{
	net_addr at = { idx_root_dir(root) };
	unsigned n = idx_root_pages(root);
	nam_status st = NAM_OK;
	if (!idx_root_listed(root))
		page[0] = at.bits;
	else
		st = net_read1(w, at, page, 8 * n, acct);
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		if (page[i] >> 48 == 0 || page[i] >> 48 >= NET_REGIONS || (page[i] & (IDX_TABLE_BYTES - 1)))
			st = NAM_CORRUPT;
	return st;
}

nam_status
idx_dir_load(struct net_worker *w, struct idx_hash *ix, struct net_counts *acct)
{
	uint64_t head[2];
	nam_status st = net_read1(w, ix->anchor, head, sizeof head, acct);
	if (st != NAM_OK)
		return st;
	if (idx_is_bare(head[0], head[1]))
		return NAM_ABSENT;
	if (head[0] != IDX_MAGIC || !idx_root_sane(head[1]))
		return NAM_INVALID;
	struct idx_dir *d = dir_new(head[1]);
	if (d == NULL)
		return NAM_NOMEM;
	/* No other thread sees d yet, so a READ may fill it. */
	char *into = (char *)d->word;
	uint64_t bytes = (d->mask + 1) * 8;
	unsigned pages = idx_root_pages(d->root);
	struct net_op ops[PAGES_AT_ONCE];
	struct net_batch b;
	net_batch_init(&b, w, ops, PAGES_AT_ONCE, acct);
	st = idx_dir_pages(w, d->root, d->page, acct);
	for (unsigned i = 0; i < pages && st == NAM_OK; i++) {
		uint64_t at = (uint64_t)i * IDX_TABLE_BYTES;
		net_read(&b, (net_addr){ d->page[i] }, into + at,
		    (uint32_t)(bytes - at < IDX_TABLE_BYTES ? bytes - at : IDX_TABLE_BYTES));
		if (b.n == b.cap || i + 1 == pages)
			st = net_run(&b);
	}
	for (uint64_t i = 0; i <= d->mask && st == NAM_OK; i++)
		if (!idx_word_sane(d->word[i], idx_root_depth(d->root)))
			d->word[i] = 0; /* to be READ again */
	if (st != NAM_OK)
		free(d);
	else
		dir_show(ix, d);
	return st;
}

nam_status
idx_dir_adopt(struct net_worker *w, struct idx_hash *ix, uint64_t root, struct net_counts *acct)
{
	if (!idx_root_sane(root))
		return NAM_CORRUPT;
	struct idx_dir *old = atomic_load_explicit(&ix->dir, memory_order_acquire);
	if (old == NULL || idx_root_depth(root) <= idx_root_depth(old->root))
		return NAM_OK;
	struct idx_dir *d = dir_new(root);
	if (d == NULL)
		return NAM_NOMEM;
	/* Pages are listed before a root counts them (H8). */
	nam_status st = idx_dir_pages(w, root, d->page, acct);
	if (st != NAM_OK) {
		free(d);
		return st;
	}
	/* The upper half repeats the lower: right when it was written, or stale and repaired when
	 * met. H5. */
	for (uint64_t i = 0; i <= d->mask; i++)
		d->word[i] = atomic_load_explicit(&old->word[i & old->mask], memory_order_relaxed);
	dir_show(ix, d);
	return NAM_OK;
}

void
idx_dir_learn(struct idx_dir *dir, uint64_t hash, uint64_t word)
{
	atomic_store_explicit(&dir->word[hash & dir->mask], word, memory_order_relaxed);
}

struct idx_hash *
idx_hash_open(net_addr anchor, const struct idx_memory *mem)
{
	NAM_ASSERT((anchor.bits & 7) == 0);
	struct idx_hash *ix = calloc(1, sizeof *ix);
	if (ix == NULL)
		return NULL;
	uint64_t owner = 0;
	while (owner == 0)
		nam_random_bytes(&owner, sizeof owner);
	ix->anchor = anchor;
	ix->tag = idx_tag(anchor);
	ix->mem = *mem;
	ix->shift = idx_block_shift(mem->region_max);
	atomic_init(&ix->owner, owner);
	return ix;
}

void
idx_hash_close(struct idx_hash *ix)
{
	if (ix == NULL)
		return;
	for (struct idx_dir *d = atomic_load(&ix->dir), *older; d != NULL; d = older) {
		older = d->older;
		free(d);
	}
	free(ix);
}

void
idx_hash_set_owner(struct idx_hash *ix, uint64_t owner)
{
	NAM_ASSERT(owner != 0);
	atomic_store_explicit(&ix->owner, owner, memory_order_relaxed);
}

void
idx_hash_set_reclaim(struct idx_hash *ix, const struct idx_reclaim *r)
{
	ix->reclaim = *r;
}

void
idx_hash_layout_fold(void)
{
	const uint64_t shape[] = { IDX_MAGIC, IDX_SLOTS, IDX_BUCKETS, IDX_PROBES, IDX_DEPTH_MAX,
		IDX_BUCKET_SHIFT, IDX_SIG_BITS, IDX_TURN_BITS, IDX_PAGE_LOG2, IDX_REGION_MAX, IDX_WORD_REGION,
		sizeof(struct idx_anchor), offsetof(struct idx_anchor, root),
		offsetof(struct idx_anchor, lock), offsetof(struct idx_anchor, left), IDX_LEFT, IDX_TOMB,
		IDX_FROZEN, IDX_MOVED };
	net_layout_fold("index", nam_fold_words(shape, sizeof shape / 8, 1));
}
