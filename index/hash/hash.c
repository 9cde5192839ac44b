/*
 * hash.c -- lookup, insert and remove in the hash index: the data path.
 *
 * Budget, in round trips, with a fresh directory: lookup 1 (128 bytes: home and the bucket behind
 * it), insert 1 (one CAS), remove 2. The rare cases (both buckets full, a stale directory, a split
 * under way, a lost CAS) go through chain_read, one round trip per look.
 */
#include <index/hash/hash_internal.h>

#include <string.h>

enum {
	CHUNK = 32,      /* probes per doorbell: what fits the stack of a coroutine */
	TRIES = 64,      /* looks at a directory that changes each time */
	RESERVED = 1000, /* entries of a sub-table: few of them begin splits */
	EARLY_STEP = 3   /* an entry so far from home makes the table be split: lookups READ 2
		        * buckets */
};
#define INSERT_WAIT_NS UINT64_C(1000000000)
#define REMOVE_WAIT_NS UINT64_C(50000000)
#define REST_NS        UINT64_C(10000000)

/* ---- waiting for a resize --------------------------------------------------- */

/* A split takes some dozen round trips, of a large sub-table many more. All waiters for one begin
 * together: dice. */
enum { SPLIT_BASE_NS = 2000, SPLIT_CAP_NS = 256000 };

struct split_wait {
	uint64_t until; /* 0 = not begun */
	struct net_backoff pause;
};

/* False: waited long enough. */
static bool
split_wait(struct split_wait *s, struct net_worker *w, uint64_t ns)
{
	uint64_t now = net_now_ns(w);
	if (s->until == 0) {
		s->until = now + ns;
		s->pause =
		    (struct net_backoff){ .base_ns = SPLIT_BASE_NS, .cap_ns = SPLIT_CAP_NS, .dice = true };
	}
	if (now >= s->until)
		return false;
	net_back_off(w, &s->pause);
	return true;
}

/* ---- looking at buckets ----------------------------------------------------- */

enum sight {
	OPEN,       /* the sequence ends here, with a zero slot */
	FULL,       /* it goes on in the next bucket */
	FULL_MOVED, /* it goes on, but the table is being split or was */
	FROZEN,     /* it ends here, but the table is being split or was */
	ALIEN       /* not the expected bucket */
};

/* Reads one bucket of a probe sequence; adds candidates to the probe. OPEN: *slot is the first
 * zero. */
static inline enum sight
scan(const struct idx_bucket *b, uint64_t head, uint64_t sig, struct idx_probe *p, unsigned *slot)
{
	for (unsigned i = 0; i < IDX_SLOTS; i++) {
		uint64_t e = b->slot[i];
		if (e == 0) {
			*slot = i;
			if (nam_fault(ANY_SLOT))
				*slot += nam_fault_dice(IDX_SLOTS - i);
			if (__builtin_expect(b->head == head, 1))
				return OPEN;
			/* The READ mixed: this slot is from before the bucket was full, the header
			 * from after. */
			return b->head == (head | IDX_MOVED) ? FROZEN : ALIEN;
		}
		if (e == IDX_FROZEN)
			return b->head == head ? FROZEN : ALIEN;
		if (idx_entry_sig(e) == sig && idx_is_entry(e)) {
			if (p->hits < IDX_HITS_MAX)
				p->hit[p->hits].bits = idx_entry_block(e, p->ix->shift);
			p->hits++;
		}
	}
	if (b->head == head)
		return FULL;
	return b->head == (head | IDX_MOVED) ? FULL_MOVED : ALIEN;
}

/* The whole sequence has been seen. slot: address of its first zero slot, or 0. */
static inline void
conclude(struct idx_probe *p, uint64_t word, uint64_t slot, unsigned step)
{
	p->priv[IDX_SEEN_SLOT] = slot;
	p->priv[IDX_SEEN_WORD] = word;
	p->priv[IDX_SEEN_STEP] = step;
	p->status = p->hits > 0 ? NAM_OK : NAM_ABSENT;
	if (__builtin_expect(p->hits > IDX_HITS_MAX, 0)) {
		p->hits = IDX_HITS_MAX;
		p->status = NAM_FULL;
		p->priv[IDX_SEEN_SLOT] = 0;
	}
}

/* ---- the slow look: the whole sequence, and whether this is the current table ------------ */

struct chain {
	uint64_t word; /* the directory word that leads here; current in the sense of H5 */
	struct idx_bucket b[IDX_PROBES];
};

static uint64_t
chain_bucket_at(const struct chain *c, uint64_t hash, unsigned step)
{
	return idx_word_table(c->word) +
	       ((idx_home(hash) + step) & (IDX_BUCKETS - 1)) * (uint64_t)IDX_BUCKET_BYTES;
}

/* NAM_ABSENT: the index has no memory yet. */
static nam_status
chain_read(struct net_worker *w, struct idx_hash *ix, uint64_t hash, struct chain *c, struct net_counts *acct)
{
	for (unsigned tries = 0; tries < TRIES; tries++) {
		struct idx_dir *dir = atomic_load_explicit(&ix->dir, memory_order_acquire);
		nam_status st;
		if (dir == NULL) {
			if ((st = idx_dir_load(w, ix, acct)) != NAM_OK)
				return st;
			continue;
		}
		struct net_op ops[4];
		struct net_batch b;
		uint64_t root, word;
		c->word = atomic_load_explicit(&dir->word[hash & dir->mask], memory_order_relaxed);
		net_batch_init(&b, w, ops, 4, acct);
		net_read(&b, IDX_AT(ix->anchor, root), &root, 8);
		net_read(&b, idx_dir_at(dir, hash), &word, 8);
		if (c->word != 0) {
			unsigned home = idx_home(hash);
			unsigned n = home + IDX_PROBES <= IDX_BUCKETS ? IDX_PROBES : IDX_BUCKETS - home;
			net_read(&b, (net_addr){ chain_bucket_at(c, hash, 0) }, c->b, n * IDX_BUCKET_BYTES);
			if (n < IDX_PROBES)
				net_read(&b, (net_addr){ idx_word_table(c->word) }, c->b + n,
				    (IDX_PROBES - n) * IDX_BUCKET_BYTES);
		}
		if ((st = net_run(&b)) != NAM_OK)
			return st;
		if (root != dir->root) {
			/* The word may be from a directory that is not written any more: do not
			 * trust it. */
			if ((st = idx_dir_adopt(w, ix, root, acct)) != NAM_OK)
				return st;
			continue;
		}
		if (!idx_word_sane(word, IDX_DEPTH_MAX))
			return NAM_CORRUPT;
		if (idx_word_depth(word) > idx_root_depth(root))
			continue; /* the root is from before the directory grew, the word from after
				   * it */
		if (word == c->word)
			return NAM_OK;
		idx_dir_learn(dir, hash, word);
	}
	return NAM_BUSY;
}

/* Fills the probe as a lookup does, from the current table. */
static nam_status
find(struct net_worker *w, struct idx_probe *p, struct net_counts *acct)
{
	struct chain c;
	p->hits = 0;
	p->priv[IDX_SEEN_SLOT] = 0;
	nam_status st = chain_read(w, p->ix, p->hash, &c, acct);
	if (st == NAM_ABSENT) {
		conclude(p, 0, 0, 0);
		return NAM_OK;
	}
	if (st != NAM_OK)
		return p->status = st;
	uint64_t head = idx_head_of(p->ix->tag, c.word, p->hash);
	uint64_t sig = idx_sig(p->hash);
	unsigned slot = 0, step;
	enum sight see = FULL;
	for (step = 0; step < IDX_PROBES; step++) {
		see = scan(&c.b[step], head, sig, p, &slot);
		if (see != FULL && see != FULL_MOVED)
			break;
	}
	if (see == ALIEN)
		return p->status = NAM_CORRUPT;
	uint64_t at = see == OPEN
			  ? chain_bucket_at(&c, p->hash, step) + offsetof(struct idx_bucket, slot) + 8 * slot
			  : 0;
	conclude(p, c.word, at, step);
	return NAM_OK;
}

/* ---- lookup -------------------------------------------------------------------- */

_Static_assert(IDX_LOOK_BYTES == 2 * IDX_BUCKET_BYTES, "home and the bucket behind it");

unsigned
idx_lookup_begin(struct idx_probe *p, unsigned n, struct net_batch *b, void *buf)
{
	struct idx_bucket(*at)[2] = buf;
	unsigned posted = 0;
	for (unsigned i = 0; i < n; i++) {
		struct idx_dir *dir = atomic_load_explicit(&p[i].ix->dir, memory_order_acquire);
		uint64_t word = 0;
		p[i].hits = 0;
		if (__builtin_expect(dir != NULL, 1))
			word = atomic_load_explicit(&dir->word[p[i].hash & dir->mask], memory_order_relaxed);
		p[i].priv[IDX_SEEN_SLOT] = 0;
		p[i].priv[IDX_SEEN_WORD] = word;
		if (__builtin_expect(word == 0, 0))
			continue;
		unsigned home = idx_home(p[i].hash);
		net_read(b, (net_addr){ idx_word_table(word) + home * (uint64_t)IDX_BUCKET_BYTES },
		    at[posted++], home == IDX_BUCKETS - 1 ? IDX_BUCKET_BYTES : 2 * IDX_BUCKET_BYTES);
	}
	return posted;
}

nam_status
idx_lookup_end(struct net_worker *w, struct idx_probe *p, unsigned n, const struct net_op *op,
    const void *buf, struct net_counts *acct)
{
	const struct idx_bucket(*from)[2] = buf;
	const struct idx_hash *bare = NULL; /* had no memory yet, by a READ of this call */
	nam_status worst = NAM_OK;
	for (unsigned i = 0, got = 0; i < n; i++) {
		uint64_t word = p[i].priv[IDX_SEEN_WORD];
		nam_status st = NAM_OK;
		if (word != 0 && (st = (nam_status)op[got].status) == NAM_OK) {
			const struct idx_bucket *at = from[got];
			unsigned home = idx_home(p[i].hash), slot, step = 0;
			uint64_t head = idx_head_of(p[i].ix->tag, word, p[i].hash);
			uint64_t sig = idx_sig(p[i].hash);
			enum sight see = scan(at, head, sig, &p[i], &slot);
			if (see == FULL && home != IDX_BUCKETS - 1) {
				step = 1;
				see = scan(at + 1, head, sig, &p[i], &slot);
			}
			got++;
			if (__builtin_expect(see == OPEN, 1)) {
				conclude(&p[i], word,
				    op[got - 1].at.bits + step * (uint64_t)IDX_BUCKET_BYTES +
					offsetof(struct idx_bucket, slot) + 8 * slot,
				    step);
				continue;
			}
			if (nam_fault(BELIEVE_FROZEN) && see == FROZEN) {
				conclude(&p[i], word, 0, step);
				continue;
			}
		} else if (word != 0) {
			got++;
			p[i].status = st;
			worst = st;
			continue;
		}
		if (word == 0 && p[i].ix == bare) {
			conclude(&p[i], 0, 0, 0);
			continue;
		}
		if ((st = find(w, &p[i], acct)) != NAM_OK)
			worst = st;
		else if (p[i].priv[IDX_SEEN_WORD] == 0)
			bare = p[i].ix;
	}
	return worst;
}

/* At most CHUNK probes. */
static nam_status
lookup_chunk(struct net_worker *w, struct idx_probe *p, unsigned n, struct net_counts *acct)
{
	struct idx_bucket buf[CHUNK][2];
	struct net_op ops[CHUNK];
	struct net_batch b;

	net_batch_init(&b, w, ops, CHUNK, acct);
	if (idx_lookup_begin(p, n, &b, buf) > 0)
		net_run(&b); /* the failed ops are found one by one */
	return idx_lookup_end(w, p, n, ops, buf, acct);
}

nam_status
idx_lookup(struct net_worker *w, struct idx_probe *p, unsigned n, struct net_counts *acct)
{
	nam_status worst = NAM_OK;
	for (unsigned i = 0; i < n; i += CHUNK) {
		nam_status st = lookup_chunk(w, p + i, n - i < CHUNK ? n - i : CHUNK, acct);
		if (st != NAM_OK)
			worst = st;
	}
	return worst;
}

void
idx_hash_prefetch(struct idx_hash *ix, uint64_t hash)
{
	struct idx_dir *dir = atomic_load_explicit(&ix->dir, memory_order_acquire);
	if (dir != NULL)
		__builtin_prefetch((const void *)&dir->word[hash & dir->mask]);
}

bool
idx_slot_seen(const struct idx_probe *p)
{
	return p->priv[IDX_SEEN_SLOT] != 0;
}

/* ---- insert -------------------------------------------------------------------- */

/* True if the probe has candidates that known[0..n) does not account for, one by one. */
static bool
news(const struct idx_probe *p, const net_addr *known, unsigned n)
{
	unsigned used = 0;
	for (unsigned i = 0; i < p->hits; i++) {
		unsigned k;
		for (k = 0; k < n; k++)
			if (known[k].bits == p->hit[i].bits && (used >> k & 1) == 0)
				break;
		if (k == n)
			return true;
		used |= 1u << k;
	}
	return false;
}

/* The CAS was lost, or there was no slot to CAS. p->status is the result for the probe; returned:
 * the status of the fabric. */
static nam_status
insert_slow(struct net_worker *w, struct idx_probe *p, uint64_t entry, struct net_counts *acct)
{
	net_addr known[IDX_HITS_MAX];
	unsigned n = p->hits;
	struct split_wait wait = { 0 };
	memcpy(known, p->hit, n * sizeof known[0]);
	for (;;) {
		nam_status st = find(w, p, acct);
		if (st != NAM_OK)
			return st;
		if (p->status == NAM_FULL)
			return NAM_OK;
		if (news(p, known, n)) {
			p->status = NAM_DUPLICATE;
			return NAM_OK;
		}
		if (p->priv[IDX_SEEN_SLOT] != 0) {
			uint64_t seen;
			st = net_cas1(w, (net_addr){ p->priv[IDX_SEEN_SLOT] }, 0, entry, &seen, acct);
			if (st != NAM_OK)
				return p->status = st;
			if (seen == 0) {
				p->status = NAM_OK;
				return NAM_OK;
			}
			continue; /* another insert took the slot: look again */
		}
		st = p->priv[IDX_SEEN_WORD] == 0
			 ? idx_make(w, p->ix, acct)
			 : idx_resize(w, p->ix, p->hash, p->priv[IDX_SEEN_WORD], acct);
		if (st == NAM_BUSY && split_wait(&wait, w, INSERT_WAIT_NS))
			continue;
		if (st != NAM_OK) {
			p->status = st;
			return st == NAM_FULL || st == NAM_BUSY ? NAM_OK : st;
		}
	}
}

/* An entry lies so far from home that lookups of its neighbours will need a second READ: split
 * now. */
static void
split_early(struct net_worker *w, struct idx_probe *p, struct net_counts *acct)
{
	struct idx_hash *ix = p->ix;
	uint64_t rest = atomic_load_explicit(&ix->rest_until, memory_order_relaxed);
	if (rest != 0 && net_now_ns(w) < rest)
		return;
	if (idx_resize(w, ix, p->hash, p->priv[IDX_SEEN_WORD], acct) == NAM_FULL)
		atomic_store_explicit(&ix->rest_until, net_now_ns(w) + REST_NS, memory_order_relaxed);
}

unsigned
idx_insert_begin(const struct idx_probe *p, unsigned n, struct net_batch *b)
{
	unsigned posted = 0;
	for (unsigned i = 0; i < n; i++) {
		uint64_t entry = idx_entry(p[i].hash, p[i].block.bits, p[i].ix->shift);
		NAM_ASSERT(entry != 0); /* the caller's block address */
		if (p[i].priv[IDX_SEEN_SLOT] == 0)
			continue;
		net_cas(b, (net_addr){ p[i].priv[IDX_SEEN_SLOT] }, 0, entry);
		posted++;
	}
	return posted;
}

nam_status
idx_insert_end(
    struct net_worker *w, struct idx_probe *p, unsigned n, const struct net_op *op, struct net_counts *acct)
{
	nam_status worst = NAM_OK;
	for (unsigned i = 0; i < n; i++) {
		if (p[i].priv[IDX_SEEN_SLOT] != 0) {
			const struct net_op *o = op++;
			if (o->status != NAM_OK) {
				p[i].status = worst = (nam_status)o->status;
				continue;
			}
			if (__builtin_expect(o->seen == 0, 1)) {
				p[i].status = NAM_OK;
				if (__builtin_expect(p[i].priv[IDX_SEEN_STEP] >= EARLY_STEP, 0))
					split_early(w, &p[i], acct);
				continue;
			}
		}
		nam_status st =
		    insert_slow(w, &p[i], idx_entry(p[i].hash, p[i].block.bits, p[i].ix->shift), acct);
		if (st != NAM_OK)
			worst = st;
		else if (p[i].status == NAM_OK && p[i].priv[IDX_SEEN_STEP] >= EARLY_STEP)
			split_early(w, &p[i], acct);
	}
	return worst;
}

nam_status
idx_insert(struct net_worker *w, struct idx_probe *p, unsigned n, struct net_counts *acct)
{
	nam_status worst = NAM_OK;
	for (unsigned i = 0; i < n; i += CHUNK) {
		struct net_op ops[CHUNK];
		struct net_batch b;
		unsigned m = n - i < CHUNK ? n - i : CHUNK;
		net_batch_init(&b, w, ops, CHUNK, acct);
		if (idx_insert_begin(p + i, m, &b) > 0)
			net_run(&b);
		nam_status st = idx_insert_end(w, p + i, m, ops, acct);
		if (st != NAM_OK)
			worst = st;
	}
	return worst;
}

/* ---- reserve ------------------------------------------------------------------- */

/* Splits the sub-table of this hash until it is so deep. */
static nam_status
deepen(struct net_worker *w, struct idx_hash *ix, uint64_t hash, unsigned depth, struct net_counts *acct)
{
	struct split_wait wait = { 0 };
	for (;;) {
		struct chain c;
		nam_status st = chain_read(w, ix, hash, &c, acct);
		if (st != NAM_ABSENT && (st != NAM_OK || idx_word_depth(c.word) >= depth))
			return st;
		st = st == NAM_ABSENT ? idx_make(w, ix, acct) : idx_resize(w, ix, hash, c.word, acct);
		if (st == NAM_BUSY && split_wait(&wait, w, INSERT_WAIT_NS))
			continue;
		if (st != NAM_OK)
			return st;
	}
}

nam_status
idx_hash_reserve(struct net_worker *w, struct idx_hash *ix, uint64_t entries, struct net_counts *acct)
{
	unsigned depth = IDX_DEPTH_FIRST;
	nam_status st = deepen(w, ix, 0, IDX_DEPTH_FIRST, acct);
	while (depth < IDX_DEPTH_MAX && entries >> depth > RESERVED)
		depth++;
	/* From few deep tables to many: the directory doubles while it is short. */
	for (unsigned d = IDX_DEPTH_FIRST + 1; st == NAM_OK && d <= depth; d++)
		for (uint64_t prefix = 0; st == NAM_OK && prefix < UINT64_C(1) << (d - 1); prefix++)
			st = deepen(w, ix, prefix, d, acct);
	return st;
}

/* ---- remove ---------------------------------------------------------------------- */

/* The place of the entry in the sequence. False = none. */
static bool
chain_find(const struct chain *c, uint64_t entry, unsigned *step, unsigned *slot)
{
	for (*step = 0; *step < IDX_PROBES; ++*step)
		for (*slot = 0; *slot < IDX_SLOTS; ++*slot)
			if (c->b[*step].slot[*slot] == entry)
				return true;
	return false;
}

/* True if this bucket takes no more entries because its table is being split. */
static bool
bucket_is_frozen(const struct idx_bucket *b)
{
	if (b->head & IDX_MOVED)
		return true;
	for (unsigned i = 0; i < IDX_SLOTS; i++)
		if (b->slot[i] == IDX_FROZEN)
			return true;
	return false;
}

nam_status
idx_remove(struct net_worker *w, struct idx_hash *ix, uint64_t hash, net_addr block, struct net_counts *acct)
{
	uint64_t entry = idx_entry(hash, block.bits, ix->shift);
	uint64_t left = 0; /* directory word of a frozen table the entry was removed from */
	bool removed = false;
	struct split_wait wait = { 0 };
	NAM_ASSERT(entry != 0);
	for (;;) {
		struct chain c;
		nam_status st = chain_read(w, ix, hash, &c, acct);
		if (st != NAM_OK)
			return st;
		if (c.word == left) {
			/* The copy may have been made before our CAS: wait for the new table, and
			 * remove the copy there. */
			if (!split_wait(&wait, w, REMOVE_WAIT_NS))
				return NAM_OK;
			continue;
		}
		if ((c.b[0].head ^ idx_head_of(ix->tag, c.word, hash)) & ~IDX_MOVED)
			return NAM_CORRUPT;
		unsigned step, slot;
		if (!chain_find(&c, entry, &step, &slot))
			return removed ? NAM_OK : NAM_ABSENT;
		struct net_op ops[2];
		struct net_batch b;
		struct idx_bucket behind;
		net_addr at = { chain_bucket_at(&c, hash, step) };
		net_batch_init(&b, w, ops, 2, acct);
		net_cas(&b, net_plus(at, offsetof(struct idx_bucket, slot) + 8 * slot), entry, IDX_TOMB);
		net_read(&b, at, &behind, sizeof behind);
		if ((st = net_run(&b)) != NAM_OK)
			return st;
		if (ops[0].seen != entry)
			continue;
		removed = true;
		if (!bucket_is_frozen(&behind))
			return NAM_OK;
		left = c.word;
	}
}
