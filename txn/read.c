/* read.c -- finds rows by key: pointer cache, index, blocks. */
#include "txn_internal.h"

#include <base/fault.h>

#include <string.h>

enum {
	CHUNK = 40,      /* with two READs each, and TXN_AHEAD lookups, they fit a doorbell */
	WHOLE_MAX = 640, /* blocks up to this are READ whole */
	/*
	 * Of 256 hints so many may be wrong. A wrong hint costs a round trip, a right one saves
	 * the bytes of a slot: some 0.2 us of 2.5. In place it costs half a block more, and saves
	 * as much.
	 */
	HINT_WRONG_FAR = 20,
	HINT_WRONG_NEAR = 128,
	HINT_MEMORY = 16,
};

static_assert(2 * CHUNK + TXN_AHEAD <= TXN_OPS, "keys of one doorbell");

void
txn_read_set_add(struct txn *t, net_addr at, uint64_t newest)
{
	if (t->iso != TXN_SERIALIZABLE && !t->latest)
		return;
	NAM_ASSERT(txn_grow((void **)&t->read, t->nreads, &t->reads_cap, sizeof *t->read));
	t->read[t->nreads++] = (struct txn_read_mark){ at, newest };
}

void
txn_read_set_add_absent(struct txn *t, const struct txn_get *g)
{
	if (t->iso != TXN_SERIALIZABLE && !t->latest)
		return;
	NAM_ASSERT(txn_grow((void **)&t->absent, t->nabsent, &t->absent_cap, sizeof *t->absent));
	t->absent[t->nabsent++] = (struct txn_absent){ g->table,
		nam_arena_copy(&t->arena, g->key, g->key_len), g->key_len, g->hash };
}

static bool
same_key(const struct txn_table *tab, const void *row, uint32_t len, const struct txn_get *g)
{
	return tab->same_key(tab, row, len, g->key, g->key_len);
}

/*
 * Judges the block at `at` for one key. slot: where txn_rec_resolve has just found the version,
 * REC_NO_SLOT = not looked for yet. True: the result is known (row or absent). False: the block
 * belongs to another key.
 */
static bool
judge(struct txn *t, struct txn_get *g, net_addr at, struct rec_block *img, unsigned slot,
    struct nam_arena *arena, nam_status *fatal)
{
	const struct txn_table_view *v = g->table->view;
	const struct txn_write *own = t->nwr ? txn_own(t, at) : NULL;
	if (own != NULL && own->kind != WR_LOCK) {
		if (!same_key(g->table, own->slot->payload, (uint32_t)own->slot->meta, g))
			return false;
		g->status = own->slot->meta & REC_DELETED ? NAM_ABSENT : NAM_OK;
		g->row = (struct txn_row){
			.at = at, .bytes = own->slot->payload, .len = (uint32_t)own->slot->meta
		};
		return true;
	}
	unsigned k = slot;
	const struct rec_slot *s = NULL;
	enum rec_found f = slot == REC_NO_SLOT ? txn_rec_resolve(v, img, at, txn_sees(t), &k) : REC_HERE;
	if (__builtin_expect(f == REC_HERE, 1)) {
		s = rec_slot_of(v, img, k);
	} else if (f != REC_NONE) {
		nam_status st = txn_rec_fetch(t, v, img, at, txn_sees(t), &s, arena);
		if (st != NAM_OK && st != NAM_ABSENT) {
			*fatal = st;
			return true;
		}
	}
	unsigned n = txn_rec_newest(v, img);
	uint64_t newest = n == REC_NO_SLOT ? img->word : rec_cid(img, n);
	if (s == NULL) {
		/* No version is visible. A version too new to see may tell whether the block is
		 * this key's. */
		if (n == REC_NO_SLOT)
			return false;
		const struct rec_slot *x = rec_slot_of(v, img, n);
		if (!txn_rec_slot_whole(v, x, newest, at) ||
		    !same_key(g->table, x->payload, (uint32_t)x->meta, g))
			return false;
		txn_read_set_add_absent(t, g);
		g->status = NAM_ABSENT;
		return true;
	}
	if (!same_key(g->table, s->payload, (uint32_t)s->meta, g))
		return false;
	/* The collector may take a deletion's block away at any time: so a later check looks up the
	 * key again, not this block. */
	if (s->meta & REC_DELETED)
		txn_read_set_add_absent(t, g);
	else
		txn_read_set_add(t, at, newest);
	g->status = s->meta & REC_DELETED ? NAM_ABSENT : NAM_OK;
	g->row = (struct txn_row){ .at = at,
		.bytes = s->payload,
		.len = (uint32_t)s->meta,
		.cid = s->cid,
		.newest = newest,
		.block = img };
	return true;
}

/*
 * Our own insert of this key, if the index does not lead to its block any more: the block was
 * empty, a collector removed its entry, and another insert of the key may have got another block
 * since. Our commit will find that out; until then the transaction sees the row it wrote.
 */
static bool
inserted_here(struct txn *t, struct txn_get *g)
{
	const struct txn_write *w = txn_own_insert(t, g->table, g->hash, g->key, g->key_len);
	if (w == NULL)
		return false;
	g->status = w->slot->meta & REC_DELETED ? NAM_ABSENT : NAM_OK;
	g->row = (struct txn_row){ .at = w->at, .bytes = w->slot->payload, .len = (uint32_t)w->slot->meta };
	return true;
}

/*
 * True if the block at a remembered address belongs to this hash. The cache tells keys apart by
 * some bits of their hashes only, and the address may have become another table's block, of another
 * shape, or no block at all: only the ident of the image may be read before this check.
 */
static bool
of_hash(const struct txn *t, const struct txn_get *g, net_addr at, const struct rec_block *img)
{
	const struct txn_write *own = t->nwr ? txn_own(t, at) : NULL;
	if (own != NULL)
		return own->view == g->table->view && own->ident == g->hash;
	return img->ident == g->hash;
}

/* The pointer cache's hint beside a block: 1 + the slot of its newest version. */
static uint8_t
hint_of(const struct txn_table_view *v, const struct txn_row *row)
{
	return (uint8_t)(1 + txn_rec_newest(v, row->block));
}

static uint8_t *
hint_wrong(struct txn_worker *tw, const struct txn_table *tab)
{
	return &tw->hint_wrong[tab->id % TXN_HINT_TABLES];
}

/* True if a READ by this table's hints is likely to be cheaper than one of the whole block. Other
 * processes that write a row make this one's hint wrong. */
static bool
hint_pays(struct txn_worker *tw, const struct txn_table *tab, net_addr at)
{
	uint8_t wrong = *hint_wrong(tw, tab);
	return wrong <= HINT_WRONG_FAR ||
	       (wrong <= HINT_WRONG_NEAR && net_direct(tw->w, at, tab->view->block_bytes) != NULL);
}

/* A moving mean over some HINT_MEMORY hints. */
static void
hint_judged(struct txn_worker *tw, const struct txn_table *tab, bool right)
{
	uint8_t *wrong = hint_wrong(tw, tab);
	*wrong = (uint8_t)(right ? *wrong - (*wrong + HINT_MEMORY - 1) / HINT_MEMORY
				 : *wrong + (255 - *wrong + HINT_MEMORY - 1) / HINT_MEMORY);
}

/* READs the directory and one slot of a block into its image; the other slots are marked as not
 * READ. */
static uint8_t
read_hinted(
    struct net_batch *b, const struct txn_table_view *v, net_addr at, struct rec_block *img, uint8_t hint)
{
	unsigned slot = hint - 1u;
	for (unsigned k = 0; k < v->slots; k++)
		if (k != slot)
			((struct rec_slot *)(uintptr_t)rec_slot_of(v, img, k))->cid = 0;
	uint32_t off = v->head_bytes + slot * v->slot_bytes;
	if (slot == 0) {
		net_read(b, at, img, v->head_bytes + v->slot_bytes);
	} else {
		net_read(b, at, img, v->head_bytes);
		net_read(b, net_plus(at, off), (char *)img + off, v->slot_bytes);
	}
	return hint;
}

/* The keys of one chunk. */
struct getting {
	struct txn *t;
	struct txn_get *g;
	unsigned n;
	struct nam_arena *arena;
	net_addr at[CHUNK]; /* where the pointer cache says that it is, 0 = not known */
	struct rec_block *img[CHUNK];
	uint8_t hint[CHUNK];   /* of the cache: 0 = none */
	uint8_t hinted[CHUNK]; /* how it was READ: 0 = whole, else 1 + the slot */
	uint8_t slot[CHUNK];   /* where the version is, REC_NO_SLOT = not found out */
	uint8_t miss[CHUNK];   /* keys that are not in the cache */
	unsigned misses;
	const net_addr *where;     /* as the caller knows, or NULL */
	const struct txn_put *put; /* keys to be looked up in the same doorbell */
	unsigned puts;
};

static net_addr
told(const struct getting *x, unsigned i)
{
	return x->where != NULL ? x->where[i] : (net_addr){ 0 };
}

/* The lookups of txn_get_ahead: into the batch, and out of it. */
static nam_status
ahead_begin(struct getting *x)
{
	struct txn *t = x->t;
	struct txn_ahead *a = t->ahead;
	if (a == NULL) {
		if ((a = nam_arena_take(&t->arena, sizeof *a)) == NULL)
			return NAM_NOMEM;
		a->due = 0;
		t->ahead = a;
	}
	a->n = 0;
	for (unsigned i = 0; i < x->puts && a->n < TXN_AHEAD; i++)
		if (x->put[i].key != NULL && x->put[i].table->view != NULL)
			a->probe[a->n++] =
			    (struct idx_probe){ .ix = x->put[i].table->view->index, .hash = x->put[i].hash };
	idx_lookup_begin(a->probe, a->n, &t->batch, a->buf);
	return NAM_OK;
}

static void
missed(struct getting *x, unsigned i)
{
	x->at[i].bits = 0;
	x->miss[x->misses++] = (uint8_t)i;
}

/*
 * READs for keys in the pointer cache: the directory and the slot that was newest when last seen,
 * all in one doorbell. The two READs prove nothing about each other; the directory gives the CID,
 * the slot proves it.
 */
static nam_status
read_known(struct getting *x)
{
	struct txn_get *g = x->g;
	struct idx_ptrs *ptrs = x->t->tw->db->ptrs;
	struct net_batch *b = &x->t->batch;
	for (unsigned i = 0; i < x->n; i++)
		if (told(x, i).bits == 0)
			idx_ptrs_prefetch(ptrs, g[i].hash);
	net_batch_init(b, x->t->tw->w, x->t->op, TXN_OPS, &x->t->counts);
	for (unsigned i = 0; i < x->n; i++) {
		uint8_t hint = 0;
		x->hinted[i] = 0;
		x->slot[i] = REC_NO_SLOT;
		x->at[i] = told(x, i);
		g[i].status = NAM_INVALID;
		if (!g[i].table->has_key || g[i].table->view == NULL)
			return NAM_INVALID;
		if (x->at[i].bits == 0 && !idx_ptrs_get(ptrs, g[i].hash, &x->at[i], &hint)) {
			missed(x, i);
			continue;
		}
		const struct txn_table_view *v = g[i].table->view;
		x->img[i] = nam_arena_take(x->arena, v->block_bytes);
		if (x->img[i] == NULL)
			return NAM_NOMEM;
		if (v->block_bytes <= WHOLE_MAX || hint > v->slots)
			hint = 0; /* not worth a judgement */
		x->hint[i] = hint;
		if (hint == 0 || !hint_pays(x->t->tw, g[i].table, x->at[i]) || nam_fault(NO_DIRECTORY))
			net_read(b, x->at[i], x->img[i], v->block_bytes);
		else
			x->hinted[i] = read_hinted(b, v, x->at[i], x->img[i], hint);
	}
	unsigned first = b->n;
	nam_status st = x->puts > 0 ? ahead_begin(x) : NAM_OK;
	if (st == NAM_OK && b->n > 0)
		st = net_run(b);
	if (st == NAM_OK && x->puts > 0)
		st = idx_lookup_end(x->t->tw->w, x->t->ahead->probe, x->t->ahead->n, x->t->op + first,
		    x->t->ahead->buf, &x->t->counts);
	return st;
}

/*
 * Without a snapshot: the newest version counts, and a lock tells that a newer one may be coming.
 * READs such blocks again for as long as a commit may take. What is still locked then is taken as
 * it is: the CAS of COMMIT decides.
 */
static nam_status
settle(struct getting *x)
{
	struct net_batch *b = &x->t->batch;
	struct net_backoff pause = TXN_LOCK_BACKOFF;
	nam_status st = NAM_OK;
	for (unsigned tries = 0; st == NAM_OK && tries < TXN_LOCK_TRIES; tries++) {
		for (unsigned i = 0; i < x->n; i++) {
			if (x->at[i].bits == 0 || !rec_is_locked(x->img[i]) ||
			    x->img[i]->word == x->t->lock || !of_hash(x->t, &x->g[i], x->at[i], x->img[i]))
				continue;
			x->hinted[i] = 0;
			net_read(b, x->at[i], x->img[i], x->g[i].table->view->block_bytes);
		}
		if (b->n == 0)
			return NAM_OK;
		net_back_off(x->t->tw->w, &pause);
		if ((st = txn_go_on(x->t)) != NAM_OK)
			b->n = 0;
		else
			st = net_run(b);
	}
	return st;
}

/* READs the whole block where the hint was wrong: one more round trip. */
static nam_status
read_whole(struct getting *x)
{
	struct net_batch *b = &x->t->batch;
	for (unsigned i = 0; i < x->n; i++) {
		unsigned k = 0;
		if (x->at[i].bits == 0)
			continue;
		if (!of_hash(x->t, &x->g[i], x->at[i], x->img[i])) {
			idx_ptrs_drop(x->t->tw->db->ptrs, x->g[i].hash);
			missed(x, i);
			continue;
		}
		if (x->hinted[i] == 0)
			continue;
		const struct txn_table_view *v = x->g[i].table->view;
		enum rec_found f = txn_rec_resolve(v, x->img[i], x->at[i], txn_sees(x->t), &k);
		if (f == REC_HERE && txn_rec_newest(v, x->img[i]) == k) {
			x->slot[i] = (uint8_t)k;
			hint_judged(x->t->tw, x->g[i].table, true);
			continue;
		}
		x->hinted[i] = 0;
		if (f != REC_NONE)
			net_read(b, x->at[i], x->img[i], v->block_bytes);
	}
	return b->n > 0 ? net_run(b) : NAM_OK;
}

static nam_status
judge_known(struct getting *x)
{
	struct idx_ptrs *ptrs = x->t->tw->db->ptrs;
	nam_status fatal = NAM_OK;
	for (unsigned i = 0; i < x->n; i++) {
		struct txn_get *q = &x->g[i];
		if (x->at[i].bits == 0)
			continue;
		q->row.partial = false;
		if (!judge(x->t, q, x->at[i], x->img[i], x->slot[i], x->arena, &fatal)) {
			idx_ptrs_drop(ptrs, q->hash);
			missed(x, i);
		} else if (q->status == NAM_ABSENT) {
			(void)inserted_here(x->t, q);
		} else if (q->status == NAM_OK && q->row.block != NULL) {
			q->row.partial = x->hinted[i] != 0;
			bool whole = x->hinted[i] == 0 && told(x, i).bits == 0;
			uint8_t seen = whole ? hint_of(q->table->view, &q->row) : 0;
			if (seen != 0 && seen != x->hint[i])
				idx_ptrs_put(ptrs, q->hash, x->at[i], seen);
			/* If an older version is the one, the hint would not have sufficed. */
			if (seen != 0 && x->hint[i] != 0)
				hint_judged(
				    x->t->tw, q->table, seen == x->hint[i] && q->row.cid == q->row.newest);
		}
		if (fatal != NAM_OK)
			return fatal;
	}
	return NAM_OK;
}

/* Keys that t has inserted itself need no lookup: the row is at hand. */
static void
get_inserted(struct getting *x)
{
	unsigned left = 0;
	if (x->t->nwr == 0)
		return;
	for (unsigned m = 0; m < x->misses; m++)
		if (!inserted_here(x->t, &x->g[x->miss[m]]))
			x->miss[left++] = x->miss[m];
	x->misses = left;
}

/* Looks up the other keys through the indexes. */
static nam_status
get_missed(struct getting *x)
{
	struct txn *t = x->t;
	get_inserted(x);
	if (x->misses == 0)
		return NAM_OK;
	struct net_batch *b = &t->batch;
	struct idx_probe probe[CHUNK];
	struct rec_block *cand[CHUNK][IDX_HITS_MAX];
	nam_status fatal = NAM_OK;
	for (unsigned m = 0; m < x->misses; m++) {
		const struct txn_get *q = &x->g[x->miss[m]];
		probe[m] = (struct idx_probe){ .ix = q->table->view->index, .hash = q->hash };
	}
	nam_status st = idx_lookup(t->tw->w, probe, x->misses, &t->counts);
	if (st != NAM_OK)
		return st;
	net_batch_init(b, t->tw->w, t->op, TXN_OPS, &t->counts);
	for (unsigned m = 0; m < x->misses; m++) {
		uint32_t bytes = x->g[x->miss[m]].table->view->block_bytes;
		if (probe[m].status != NAM_OK && probe[m].status != NAM_ABSENT)
			return probe[m].status;
		for (unsigned h = 0; h < probe[m].hits; h++) {
			cand[m][h] = nam_arena_take(x->arena, bytes);
			if (cand[m][h] == NULL)
				return NAM_NOMEM;
			if (b->n == b->cap && (st = net_run(b)) != NAM_OK)
				return st;
			net_read(b, probe[m].hit[h], cand[m][h], bytes);
		}
	}
	if (b->n > 0 && (st = net_run(b)) != NAM_OK)
		return st;
	for (unsigned m = 0; m < x->misses; m++) {
		struct txn_get *q = &x->g[x->miss[m]];
		bool done = false;
		for (unsigned h = 0; !done && h < probe[m].hits; h++) {
			done = judge(t, q, probe[m].hit[h], cand[m][h], REC_NO_SLOT, x->arena, &fatal);
			if (fatal != NAM_OK)
				return fatal;
			if (done)
				idx_ptrs_put(t->tw->db->ptrs, q->hash, probe[m].hit[h],
				    q->status == NAM_OK && q->row.block ? hint_of(q->table->view, &q->row)
									: 0);
		}
		if (done && q->status != NAM_ABSENT)
			continue;
		if (!inserted_here(t, q) && !done) {
			q->status = NAM_ABSENT;
			txn_read_set_add_absent(t, q);
		}
	}
	return NAM_OK;
}

/* The row of one key, if its block shows it in one of its slots: the usual case. False: nothing has
 * been done. */
static inline bool
shows(struct txn *t, struct txn_get *g, net_addr at, const struct rec_block *img)
{
	const struct txn_table_view *v = g->table->view;
	uint64_t sees = txn_sees(t), best = 0, newest = 0;
	unsigned slot = 0;
	if (img->ident != g->hash || !txn_rec_dir_whole(v, img, at))
		return false;
	for (unsigned k = 0; k < v->slots; k++) {
		uint64_t c = rec_cid(img, k);
		newest = c > newest ? c : newest;
		bool better = c <= sees && c > best;
		best = better ? c : best;
		slot = better ? k : slot;
	}
	const struct rec_slot *s = rec_slot_of(v, img, slot);
	if (best == 0 || !txn_rec_slot_whole(v, s, best, at) || (s->meta & REC_DELETED) != 0 ||
	    !same_key(g->table, s->payload, (uint32_t)s->meta, g))
		return false;
	if (t->iso == TXN_SERIALIZABLE)
		txn_read_set_add(t, at, newest);
	g->status = NAM_OK;
	g->row = (struct txn_row){ .at = at,
		.bytes = s->payload,
		.len = (uint32_t)s->meta,
		.cid = s->cid,
		.newest = newest,
		.block = img };
	return true;
}

/*
 * Keys of one table whose blocks lie in mapped memory, at addresses that the caller knows: READs
 * the blocks in place. *left: which keys the other way has to answer, as bits; all, if this one
 * does not fit. NAM_OK, or the transaction cannot go on.
 */
static nam_status
get_near(struct txn *t, struct txn_get *g, const net_addr *where, unsigned n, struct nam_arena *arena,
    uint64_t *left)
{
	const struct txn_table *tab = g[0].table;
	const struct txn_table_view *v = tab->view;
	*left = UINT64_MAX >> (64 - n);
	if (v == NULL || !tab->has_key || t->latest || t->nwr > 0 || nam_fault_any() ||
	    v->block_bytes > WHOLE_MAX || !net_all_mapped(t->tw->w))
		return NAM_OK;
	for (unsigned i = 0; i < n; i++)
		if (where[i].bits == 0 || g[i].table != tab)
			return NAM_OK;
	char *img = nam_arena_take(arena, (size_t)n * v->block_bytes);
	if (img == NULL)
		return NAM_NOMEM;
	nam_status st = net_read_mapped(t->tw->w, where, n, v->block_bytes, img, &t->counts);
	if (st != NAM_OK)
		return st == NAM_UNSUPPORTED ? NAM_OK : st;
	for (unsigned i = 0; i < n; i++, img += v->block_bytes)
		if (shows(t, &g[i], where[i], (const struct rec_block *)(const void *)img))
			*left &= ~(UINT64_C(1) << i);
	return NAM_OK;
}
static_assert((int)CHUNK <= (int)NET_MAPPED_MAX && CHUNK <= 64, "one READ of all, and a bit for each");

static nam_status
get_chunk(struct txn *t, struct txn_get *g, const net_addr *where, unsigned n, const struct txn_put *p,
    unsigned m, struct nam_arena *arena)
{
	struct getting x;
	x.t = t;
	x.g = g;
	x.n = n;
	x.arena = arena;
	x.misses = 0;
	x.where = where;
	x.put = p;
	x.puts = m;
	nam_status st = read_known(&x);
	if (st == NAM_OK && t->latest)
		st = settle(&x);
	if (st == NAM_OK)
		st = read_whole(&x);
	if (st == NAM_OK)
		st = judge_known(&x);
	return st == NAM_OK && x.misses > 0 ? get_missed(&x) : st;
}

nam_status
txn_get(struct txn *t, struct txn_get *g, unsigned n, struct nam_arena *arena)
{
	return txn_get_ahead(t, g, n, NULL, 0, arena);
}

nam_status
txn_get_ahead(struct txn *t, struct txn_get *g, unsigned n, const struct txn_put *p, unsigned m,
    struct nam_arena *arena)
{
	if (n == 0)
		return m > 0 ? get_chunk(t, g, NULL, 0, p, m, arena) : NAM_OK;
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < n; i += CHUNK)
		st = get_chunk(t, g + i, NULL, n - i < CHUNK ? n - i : CHUNK, p, i == 0 ? m : 0, arena);
	return st;
}

nam_status
txn_get_at(struct txn *t, struct txn_get *g, const net_addr *at, unsigned n, struct nam_arena *arena)
{
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < n; i += CHUNK) {
		unsigned some = n - i < CHUNK ? n - i : CHUNK;
		uint64_t left;
		st = get_near(t, g + i, at + i, some, arena, &left);
		/* Runs of keys that are left. */
		while (st == NAM_OK && left != 0) {
			unsigned from = (unsigned)__builtin_ctzll(left), run = 1;
			while (from + run < some && (left >> (from + run) & 1) != 0)
				run++;
			left &= ~(UINT64_MAX >> (64 - run) << from);
			st = get_chunk(t, g + i + from, at + i + from, run, NULL, 0, arena);
		}
	}
	return st;
}

bool
txn_latest_whole(struct txn *t)
{
	for (uint32_t i = 0; i < t->nreads; i++) {
		const struct txn_write *own = txn_own(t, t->read[i].at);
		if (own == NULL || !txn_writes(own))
			return false;
	}
	for (uint32_t i = 0; i < t->nabsent; i++) {
		const struct txn_absent *a = &t->absent[i];
		if (txn_own_insert(t, a->table, a->hash, a->key, a->key_len) == NULL)
			return false;
	}
	return true;
}

void
txn_expect(struct txn_worker *tw, const struct txn_table *t, uint64_t hash, bool insert)
{
	if (t->view == NULL || t->view->index == NULL)
		return;
	if (insert)
		idx_hash_prefetch(t->view->index, hash);
	else
		idx_ptrs_prefetch(tw->db->ptrs, hash);
}
