/* walk.c -- visits a whole hash index, sub-table by sub-table, for sweeps, checks and figures. */
#include <index/hash/hash_internal.h>

#include <stdlib.h>

static net_addr
word_at(const uint64_t *page, uint64_t i)
{
	return (net_addr){ page[i >> IDX_PAGE_LOG2] + 8 * (i & (IDX_PAGE_WORDS - 1)) };
}

/* Calls see for each sub-table reachable from the present directory. */
static nam_status
tables(struct net_worker *w, struct idx_hash *ix, struct idx_anchor *a,
    void (*see)(void *arg, const struct idx_bucket *table), void *arg)
{
	nam_status st = net_read1(w, ix->anchor, a, sizeof *a, NULL);
	if (st != NAM_OK || idx_is_bare(a->magic, a->root))
		return st;
	if (a->magic != IDX_MAGIC || !idx_root_sane(a->root))
		return NAM_INVALID;
	enum { STRIDE = 1024 };
	struct {
		struct idx_bucket table[IDX_BUCKETS];
		uint64_t word[STRIDE];
		uint64_t page[IDX_PAGES];
	} *buf = malloc(sizeof *buf);
	if (buf == NULL)
		return NAM_NOMEM;
	unsigned depth = idx_root_depth(a->root);
	st = idx_dir_pages(w, a->root, buf->page, NULL);
	for (uint64_t i = 0; i < UINT64_C(1) << depth && st == NAM_OK; i++) {
		uint64_t left = (UINT64_C(1) << depth) - i;
		if (i % STRIDE == 0 && (st = net_read1(w, word_at(buf->page, i), buf->word,
					    8 * (uint32_t)(left < STRIDE ? left : STRIDE), NULL)) != NAM_OK)
			break;
		uint64_t word = buf->word[i % STRIDE];
		if (!idx_word_sane(word, depth))
			st = NAM_CORRUPT;
		else if (i <= idx_low(idx_word_depth(word)) &&
			 (st = net_read1(w, (net_addr){ idx_word_table(word) }, buf->table, IDX_TABLE_BYTES,
			      NULL)) == NAM_OK)
			see(arg, buf->table);
	}
	free(buf);
	return st;
}

struct walk {
	void (*fn)(void *arg, net_addr block);
	void (*entry)(void *arg, net_addr block, uint64_t hash);
	void *arg;
	unsigned shift;
};

static void
walk_table(void *arg, const struct idx_bucket *table)
{
	const struct walk *wk = arg;
	for (unsigned b = 0; b < IDX_BUCKETS; b++)
		for (unsigned i = 0; i < IDX_SLOTS; i++) {
			uint64_t slot = table[b].slot[i];
			if (!idx_is_entry(slot))
				continue;
			net_addr block = { idx_entry_block(slot, wk->shift) };
			if (wk->fn != NULL)
				wk->fn(wk->arg, block);
			else
				wk->entry(wk->arg, block,
				    idx_entry_sig(slot) | (uint64_t)idx_home_of_entry(slot, b)
							      << IDX_BUCKET_SHIFT);
		}
}

nam_status
idx_walk(struct net_worker *w, struct idx_hash *ix, void (*fn)(void *arg, net_addr block), void *arg)
{
	struct idx_anchor a;
	struct walk wk = { .fn = fn, .arg = arg, .shift = ix->shift };
	return tables(w, ix, &a, walk_table, &wk);
}

enum { SOME = 8, SOME_WORDS = 512, SOME_TRIES = 8 };

struct some {
	struct idx_bucket table[SOME][IDX_BUCKETS];
	uint64_t page[IDX_PAGES];
	uint64_t before[SOME_WORDS], word[SOME_WORDS];
};

/* Words from `from` on, READ twice, one after the other. *n: how many, 0 = the directory ends
 * before. */
static nam_status
some_words(
    struct net_worker *w, struct idx_hash *ix, uint64_t from, struct some *buf, unsigned *depth, uint64_t *n)
{
	struct idx_anchor a;
	nam_status st = net_read1(w, ix->anchor, &a, sizeof a, NULL);
	*depth = 0;
	*n = 0;
	if (st != NAM_OK || idx_is_bare(a.magic, a.root))
		return st;
	if (a.magic != IDX_MAGIC || !idx_root_sane(a.root))
		return NAM_INVALID;
	*depth = idx_root_depth(a.root);
	uint64_t end = UINT64_C(1) << *depth, border = IDX_PAGE_WORDS - (from & (IDX_PAGE_WORDS - 1));
	*n = from < end ? end - from : 0;
	*n = *n < border ? *n : border;
	*n = *n < SOME_WORDS ? *n : SOME_WORDS;
	if (*n == 0 || (st = idx_dir_pages(w, a.root, buf->page, NULL)) != NAM_OK)
		return st;
	net_addr at = word_at(buf->page, from);
	st = net_read1(w, at, buf->before, 8 * (uint32_t)*n, NULL);
	return st == NAM_OK ? net_read1(w, at, buf->word, 8 * (uint32_t)*n, NULL) : st;
}

/*
 * A split never moves an entry to a lower index. So a walk that goes up and meets each table at its
 * lowest word misses no entry, whichever tables are split meanwhile. Of two words in one READ it is
 * not known which is older: the lower may show a split, and the higher not yet. But a split that
 * the lower word showed in the READ before, the higher word shows now (H5).
 */
nam_status
idx_walk_some(struct net_worker *w, struct idx_hash *ix, uint64_t *from,
    void (*fn)(void *arg, net_addr block, uint64_t hash), void *arg)
{
	struct walk wk = { .entry = fn, .arg = arg, .shift = ix->shift };
	struct net_op op[SOME];
	struct net_batch b;
	struct some *buf = malloc(sizeof *buf);
	if (buf == NULL)
		return NAM_NOMEM;
	uint64_t n = 0, i = 0;
	unsigned depth, tries = 0, found;
	nam_status st;
	do {
		st = some_words(w, ix, *from, buf, &depth, &n);
		net_batch_init(&b, w, op, SOME, NULL);
		for (i = 0; st == NAM_OK && i < n && b.n < b.cap; i++) {
			uint64_t word = buf->before[i];
			if (!idx_word_sane(word, depth) || !idx_word_sane(buf->word[i], depth))
				st = NAM_CORRUPT; /* unless the directory has become longer since
						   * its root was READ */
			if (*from + i > idx_low(idx_word_depth(word)))
				word = buf->word[i];
			if (st == NAM_OK && *from + i <= idx_low(idx_word_depth(word)))
				net_read(
				    &b, (net_addr){ idx_word_table(word) }, buf->table[b.n], IDX_TABLE_BYTES);
		}
	} while (st == NAM_CORRUPT && ++tries < SOME_TRIES);
	found = b.n;
	if (st == NAM_OK && found > 0)
		st = net_run(&b);
	for (unsigned k = 0; st == NAM_OK && k < found; k++)
		walk_table(&wk, buf->table[k]);
	*from = n == 0 ? UINT64_MAX : *from + i;
	free(buf);
	return st;
}

static void
shape_table(void *arg, const struct idx_bucket *table)
{
	struct idx_shape *s = arg;
	s->tables++;
	s->slots += (uint64_t)IDX_BUCKETS * IDX_SLOTS;
	for (unsigned b = 0; b < IDX_BUCKETS; b++) {
		for (unsigned i = 0; i < IDX_SLOTS; i++) {
			s->live += idx_is_entry(table[b].slot[i]) != 0;
			s->tombs += table[b].slot[i] == IDX_TOMB;
		}
	}
}

nam_status
idx_hash_shape(struct net_worker *w, struct idx_hash *ix, struct idx_shape *out)
{
	struct idx_anchor a;
	*out = (struct idx_shape){ 0 };
	nam_status st = tables(w, ix, &a, shape_table, out);
	if (st == NAM_OK) {
		out->splits = a.splits;
		out->rewrites = a.rewrites;
		out->holder = a.lock;
		out->depth = idx_root_depth(a.root);
	}
	return st;
}
