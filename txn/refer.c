/*
 * refer.c -- rows that refer to rows of other tables: a key that is referred to does not go.
 *
 * Neither side locks the other's rows, so rows that refer to one row do not meet.
 *
 * F1  A commit whose rows refer to others first has all its locks, the head of its intent and its
 *     index entries. Then it looks at the rows it refers to.
 * F2  A transaction that takes a key away first has the row locked and TXN_HOLDS_KEYS in the head
 *     of its intent. Then it looks for rows that refer to the key, at the newest versions, whatever
 *     its snapshot.
 * F3  What F1 finds locked by a transaction that holds keys and commits (its head has entries), and
 *     what F2 finds locked by a transaction that commits, is waited for, and then is a conflict.
 *     Under any other lock, a collector's among them, the newest version counts.
 * F4  F2 looks when it commits, whatever its statements have seen. A statement that makes a row
 *     refer to one that a holder of keys has locked waits for how that holder ends.
 *
 * Each side completes its own step before it looks for the other's. So of two that meet, one at
 * least sees the other, and gives way. F1 waits longer than F2: so one of them goes on. A holder of
 * keys that does not commit yet will look behind the step of F1 (F4): so of an insert and a
 * deletion in two blocks, the one that commits first stays.
 */
#include "txn_internal.h"

#include <base/fault.h>

#include <stdlib.h>
#include <string.h>

enum {
	RELY_LOOKS = 60,
	FORBID_LOOKS = 20,
	LOOK_BASE_NS = 2000,
	LOOK_CAP_NS = 20000,
	TOGETHER = 32,
	ENTRIES = 64
};

/* ---- a block, as another transaction leaves it ------------------------------------------ */

enum asker {
	STATEMENT, /* of F4 */
	RELIES,    /* F1 */
	FORBIDS,   /* F2 */
};

/* *in_way: another transaction's lock on a block is one that F3, or a statement, waits for. *again:
 * it has ended meanwhile. */
static nam_status
in_the_way(struct txn *t, net_addr at, uint64_t lock, enum asker who, bool *in_way, bool *again)
{
	struct txn_intent_head h;
	uint64_t word;
	*in_way = *again = false;
	/* A collector makes no version, and takes none away that is the newest and alive. */
	if (txn_lock_intent(lock) == TXN_INTENT_GC)
		return NAM_OK;
	nam_status st = txn_read_head(t, lock, &h);
	if (st != NAM_OK)
		return st;
	if (h.lock == lock) {
		*in_way =
		    (who == FORBIDS || (h.holds & TXN_HOLDS_KEYS) != 0) && (who == STATEMENT || h.n > 0);
		return NAM_OK;
	}
	/* The intent has no such word yet, so it will look after us; or the transaction has
	 * ended. */
	st = net_read1(t->tw->w, at, &word, sizeof word, &t->counts);
	*again = st == NAM_OK && word != lock;
	return st;
}

/*
 * The newest version of a block, NULL = it has none. NAM_BUSY: a transaction is in the way.
 */
static nam_status
newest(struct txn *t, const struct txn_table_view *v, net_addr at, enum asker who, struct rec_block *img,
    const struct rec_slot **s)
{
	struct net_backoff pause = { .base_ns = LOOK_BASE_NS, .cap_ns = LOOK_CAP_NS };
	const unsigned looks = who == RELIES ? RELY_LOOKS : FORBID_LOOKS;
	uint64_t word = 0;
	*s = NULL;
	while (pause.tries < looks) {
		bool in_way = false, again = false;
		nam_status st = net_read1(t->tw->w, at, img, v->block_bytes, &t->counts);
		if (st == NAM_OK && rec_is_locked(img) && img->word != t->lock)
			st = in_the_way(t, at, img->word, who, &in_way, &again);
		if (st == NAM_OK)
			st = txn_go_on(t);
		if (st != NAM_OK)
			return st;
		if (in_way && pause.tries == looks / 2)
			(void)txn_unlock_dead(t->tw, at, img->word);
		if (!in_way && !again && txn_rec_dir_whole(v, img, at)) {
			unsigned n = txn_rec_newest(v, img);
			bool is = txn_rec_is_newest(img, n, &word);
			if (is && n == REC_NO_SLOT)
				return NAM_OK;
			*s = is ? rec_slot_of(v, img, n) : NULL;
			if (is && txn_rec_slot_whole(v, *s, rec_cid(img, n), at))
				return NAM_OK;
			*s = NULL;
		}
		net_back_off(t->tw->w, &pause);
	}
	return NAM_BUSY;
}

/* ---- F1 --------------------------------------------------------------------------------- */

/* *is: the newest version of the block is still that row, with the key relied on. Else t's next
 * snapshot covers the version that says so. NAM_BUSY: a transaction is in the way. */
static nam_status
is_still_there(struct txn *t, const struct txn_relied *r, bool *is)
{
	struct txn_table_view *v = r->table->view;
	const struct rec_slot *s;
	struct rec_block *img = nam_arena_take(&t->arena, v->block_bytes);
	nam_status st = img != NULL ? newest(t, v, r->at, RELIES, img, &s) : NAM_NOMEM;
	*is = st == NAM_OK && s != NULL && !(s->meta & REC_DELETED) && img->ident == r->ident;
	if (*is && r->order >= 0)
		st = txn_order_key_is(
		    t->tw, t, v, (unsigned)r->order, s->payload, (uint32_t)s->meta, r->key, is);
	if (st == NAM_OK && !*is && s != NULL)
		txn_cover(t, s->cid); /* else the retry would conflict again: `stale-retry` */
	return st;
}

nam_status
txn_rely(struct txn *t, struct txn_table *table, struct txn_row *row, int order)
{
	struct txn_table_view *v = table->view;
	const struct rec_block *img = row->block;
	const struct txn_write *own = txn_own(t, row->at);
	uint64_t key[IDX_TREE_WORDS] = { 0 };
	bool has = true, is = true, in_way = false, again = false;
	const bool statement = t->iso == TXN_READ_COMMITTED && own == NULL;
	unsigned words = order >= 0 ? v->order[order].words : 0;
	nam_status st = NAM_OK;
	if (own != NULL && txn_writes(own))
		return NAM_OK; /* its own to change */
	if (order >= 0)
		st = txn_order_key(t->tw, t, v, (unsigned)order, row->bytes, row->len, key, &has);
	if (st == NAM_OK && statement && rec_is_locked(img))
		st = in_the_way(t, row->at, img->word, STATEMENT, &in_way, &again);
	if (st == NAM_OK && in_way) {
		/* How that transaction ends is seen under the lock. */
		if ((st = txn_lock_now(t, table, row, true)) == NAM_OK && order >= 0)
			st = txn_order_key_is(t->tw, t, v, (unsigned)order, row->bytes, row->len, key, &is);
		if (st == NAM_OK && !is)
			st = NAM_ABSENT;
		img = row->block;
	}
	if (st != NAM_OK)
		return st;
	struct txn_relied *r = nam_arena_take(&t->arena, sizeof *r + words * sizeof *key);
	if (r == NULL || !txn_grow((void **)&t->relied, t->nrelied, &t->relied_cap, sizeof *t->relied))
		return NAM_NOMEM;
	*r = (struct txn_relied){ .table = table,
		.at = row->at,
		.word = row->cid == row->newest ? row->newest : 0,
		.ident = img->ident,
		.order = order,
		.born = t->clock };
	memcpy(r->key, key, words * sizeof *key);
	if (statement && !in_way && (again || row->cid != row->newest)) {
		/* A transaction has changed the row since the statement began. If the key went with
		 * it, the statement fails, not only its COMMIT. */
		st = is_still_there(t, r, &is);
		if (st == NAM_OK && !is)
			return NAM_ABSENT;
		if (st != NAM_OK && st != NAM_BUSY)
			return st;
	}
	t->relied[t->nrelied++] = r;
	return NAM_OK;
}

/* The block is not as it was READ. */
static nam_status
still_there(struct txn *t, const struct txn_relied *r)
{
	const struct txn_write *own = txn_own(t, r->at);
	bool is;
	if (own != NULL && own->has == TXN_LOCKED)
		return NAM_OK;
	nam_status st = is_still_there(t, r, &is);
	return st == NAM_BUSY || (st == NAM_OK && !is) ? NAM_CONFLICT : st;
}

/* guards: they are READ as well, in the first doorbell. */
static nam_status
check_relied(struct txn *t, bool guards)
{
	uint64_t *word = nam_arena_take(&t->arena, TXN_OPS * sizeof *word);
	nam_status st = word != NULL ? NAM_OK : NAM_NOMEM;
	for (uint32_t i = 0; st == NAM_OK && i < t->nrelied; guards = false) {
		uint32_t from = i;
		net_batch_init(&t->batch, t->tw->w, t->op, TXN_OPS, &t->counts);
		if (guards && (st = txn_guards_post(t)) != NAM_OK)
			return st;
		for (; i < t->nrelied && t->batch.n < t->batch.cap; i++)
			net_read(&t->batch, t->relied[i]->at, &word[i - from], 8);
		st = net_run(&t->batch);
		for (uint32_t k = from; st == NAM_OK && k < i; k++)
			if (word[k - from] != t->relied[k]->word)
				st = still_there(t, t->relied[k]);
		if (st == NAM_OK && i < t->nrelied)
			st = txn_between(t);
	}
	return st;
}

/* ---- F2 --------------------------------------------------------------------------------- */

nam_status
txn_forbid(struct txn *t, const struct txn_forbid *of)
{
	if (!txn_grow((void **)&t->forbids, t->nforbids, &t->forbids_cap, sizeof *t->forbids))
		return NAM_NOMEM;
	struct txn_forbids *f = &t->forbids[t->nforbids++];
	*f = (struct txn_forbids){ .of = *of, .born = t->clock, .seen_at = t->pin.at };
	if (of->order >= 0) {
		memcpy(f->low, of->low, sizeof f->low);
		memcpy(f->high, of->high, sizeof f->high);
	} else if (of->key != NULL) {
		f->of.key = nam_arena_copy(&t->arena, of->key, of->key_len);
	}
	return of->key == NULL || f->of.key != NULL ? NAM_OK : NAM_NOMEM;
}

/* What a look for rows needs. */
struct look {
	struct txn *t;
	struct rec_block *img;
	uint64_t *hash; /* forbidden ones of a table without an index, in order */
	uint32_t hashes;
};

static int
words_order(const uint64_t *a, const uint64_t *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

static int
hash_order(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

/* True in *is: the row refers to what is forbidden. */
static nam_status
is_forbidden(struct look *l, const struct txn_forbids *f, const struct rec_slot *s, bool *is)
{
	struct txn_table_view *v = f->of.table->view;
	uint32_t len = (uint32_t)s->meta;
	*is = true;
	if (f->of.order >= 0) {
		unsigned words = v->order[f->of.order].words;
		uint64_t key[IDX_TREE_WORDS] = { 0 };
		nam_status st =
		    txn_order_key(l->t->tw, l->t, v, (unsigned)f->of.order, s->payload, len, key, is);
		*is = *is && words_order(key, f->low, words) >= 0 && words_order(key, f->high, words) <= 0;
		return st;
	}
	if (f->of.key != NULL)
		*is = f->of.table->same_key(f->of.table, s->payload, len, f->of.key, f->of.key_len);
	if (f->of.key != NULL || f->of.refers == NULL)
		return NAM_OK;
	uint64_t hash = 0;
	enum txn_referring how = f->of.refers(f->of.table, f->of.arg, s->payload, len, &hash);
	*is = how == TXN_REFERS_MAYBE ||
	      (how == TXN_REFERS && bsearch(&hash, l->hash, l->hashes, sizeof hash, hash_order) != NULL);
	return NAM_OK;
}

/* NAM_CONFLICT: a row of this block refers to what is forbidden, unknown to the caller. */
static nam_status
refers(struct look *l, const struct txn_forbids *f, net_addr at)
{
	struct txn *t = l->t;
	struct txn_table_view *v = f->of.table->view;
	const struct txn_write *own = txn_own(t, at);
	const struct rec_slot *s;
	bool is;
	if (own != NULL && txn_writes(own))
		return NAM_OK;
	nam_status st = newest(t, v, at, FORBIDS, l->img, &s);
	if (st != NAM_OK)
		return st == NAM_BUSY ? NAM_CONFLICT : st;
	if (s == NULL || s->cid <= f->seen_at || (s->meta & REC_DELETED))
		return NAM_OK;
	st = is_forbidden(l, f, s, &is);
	if (st == NAM_OK && is)
		txn_cover(t, s->cid);
	return st == NAM_OK && is ? NAM_CONFLICT : st;
}

/* The rows in a range of an index. */
static nam_status
ask_range(struct look *l, const struct txn_forbids *f)
{
	const struct idx_tree_range range = { .low = f->low, .high = f->high };
	struct idx_tree_scan *scan = idx_tree_scan_open(f->of.table->view->tree[f->of.order], &range, NULL);
	uint64_t value[ENTRIES];
	unsigned n = 1;
	nam_status st = scan != NULL ? NAM_OK : NAM_NOMEM;
	while (st == NAM_OK && n > 0) {
		st = idx_tree_scan_next(l->t->tw->w, scan, NULL, value, ENTRIES, &n, &l->t->counts);
		for (unsigned i = 0; st == NAM_OK && i < n; i++)
			st = refers(l, f, (net_addr){ value[i] });
		if (st == NAM_OK)
			st = txn_between(l->t);
	}
	if (scan != NULL)
		idx_tree_scan_close(scan);
	/* An index that was dropped: the definition that t knows is not the table's any more. */
	return st == NAM_REFUSED ? NAM_CONFLICT : st;
}

struct search {
	struct look *l;
	const struct txn_forbids *f;
};

static nam_status
block_refers(void *arg, const struct rec_block *img, net_addr at)
{
	const struct search *s = arg;
	/* Most blocks are older than the snapshot, and no one changes them. */
	return rec_is_locked(img) || img->word > s->f->seen_at ? refers(s->l, s->f, at) : NAM_OK;
}

/* All rows of a table that no index helps to find. */
static nam_status
ask_table(struct look *l, const struct txn_forbids *f)
{
	struct search s = { l, f };
	return txn_blocks_each(l->t, f->of.table->view, block_refers, &s);
}

/* Keys of indexes, several in a doorbell. */
static nam_status
ask_points(struct look *l, struct txn_forbids *const *f, unsigned n)
{
	struct idx_tree_probe p[TOGETHER];
	for (unsigned i = 0; i < n; i++)
		p[i] = (struct idx_tree_probe){ .tree = f[i]->of.table->view->tree[f[i]->of.order],
			.key = f[i]->low };
	nam_status st = n > 0 ? idx_tree_lookup(l->t->tw->w, p, n, &l->t->counts) : NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		if (p[i].status == NAM_FULL)
			st = ask_range(l, f[i]);
		else if (p[i].status == NAM_REFUSED)
			st = NAM_CONFLICT;
		else if (p[i].status != NAM_OK && p[i].status != NAM_ABSENT)
			st = p[i].status;
		else
			for (unsigned h = 0; st == NAM_OK && h < p[i].hits; h++)
				st = refers(l, f[i], (net_addr){ p[i].hit[h] });
	}
	return st;
}

static bool
alike(const struct txn_forbids *a, const struct txn_forbids *b)
{
	return b->of.order < 0 && b->of.key == NULL && a->of.table == b->of.table &&
	       a->of.refers == b->of.refers && a->of.arg == b->of.arg;
}

/* All keys that are forbidden to rows of one table, without an index: one look at it. from: the
 * first of them. */
static nam_status
ask_together(struct look *l, uint32_t from)
{
	struct txn *t = l->t;
	struct txn_forbids f = t->forbids[from];
	for (uint32_t i = t->nasked; i < from; i++)
		if (alike(&f, &t->forbids[i]))
			return NAM_OK;
	l->hashes = 0;
	if ((l->hash = malloc((t->nforbids - from) * sizeof *l->hash)) == NULL)
		return NAM_NOMEM;
	for (uint32_t i = from; i < t->nforbids; i++) {
		if (!alike(&f, &t->forbids[i]))
			continue;
		l->hash[l->hashes++] = t->forbids[i].of.hash;
		if (t->forbids[i].seen_at < f.seen_at)
			f.seen_at = t->forbids[i].seen_at;
	}
	qsort(l->hash, l->hashes, sizeof *l->hash, hash_order);
	nam_status st = ask_table(l, &f);
	free(l->hash);
	return st;
}

/* By keys of tables, several in a doorbell. */
static nam_status
ask_keys(struct look *l, struct txn_forbids *const *f, unsigned n)
{
	struct idx_probe p[TOGETHER];
	for (unsigned i = 0; i < n; i++)
		p[i] = (struct idx_probe){ .ix = f[i]->of.table->view->index, .hash = f[i]->of.hash };
	nam_status st = n > 0 ? idx_lookup(l->t->tw->w, p, n, &l->t->counts) : NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		if (p[i].status == NAM_FULL)
			st = ask_table(l, f[i]);
		else if (p[i].status != NAM_OK && p[i].status != NAM_ABSENT)
			st = p[i].status;
		for (unsigned h = 0; st == NAM_OK && h < p[i].hits; h++)
			st = refers(l, f[i], p[i].hit[h]);
	}
	return st;
}

static nam_status
ask_forbidden(struct txn *t)
{
	struct txn_forbids *key[TOGETHER], *point[TOGETHER];
	unsigned keys = 0;
	struct look l = { .t = t };
	unsigned points = 0;
	uint32_t most = 0;
	nam_status st = NAM_OK;
	for (uint32_t i = t->nasked; i < t->nforbids; i++)
		most = t->forbids[i].of.table->view->block_bytes > most
			   ? t->forbids[i].of.table->view->block_bytes
			   : most;
	if ((l.img = nam_arena_take(&t->arena, most + 64)) == NULL)
		return NAM_NOMEM;
	for (uint32_t i = t->nasked; st == NAM_OK && i < t->nforbids; i++) {
		struct txn_forbids *f = &t->forbids[i];
		if (f->of.order < 0 && f->of.key != NULL)
			key[keys++] = f;
		else if (f->of.order < 0)
			st = ask_together(&l, i);
		else if (words_order(f->low, f->high, f->of.table->view->order[f->of.order].words) != 0)
			st = ask_range(&l, f);
		else
			point[points++] = f;
		if (st == NAM_OK && points == TOGETHER) {
			st = ask_points(&l, point, points);
			points = 0;
		}
		if (st == NAM_OK && keys == TOGETHER) {
			st = ask_keys(&l, key, keys);
			keys = 0;
		}
		if (st == NAM_OK && i % TOGETHER == TOGETHER - 1)
			st = txn_between(t);
	}
	if (st == NAM_OK)
		st = ask_keys(&l, key, keys);
	return st == NAM_OK ? ask_points(&l, point, points) : st;
}

nam_status
txn_forbidden(struct txn *t)
{
	if (t->nforbids == t->nasked || t->iso != TXN_READ_COMMITTED)
		return NAM_OK;
	/* The rows are locked already. When this is known as well, no statement makes a row that
	 * refers to them before t has ended; a row made by an earlier one is found at COMMIT. */
	nam_status st = txn_ensure_lock(t);
	if (st == NAM_OK)
		st = txn_publish(t, 0);
	if (st == NAM_OK)
		st = ask_forbidden(t);
	if (st == NAM_OK)
		t->nasked = t->nforbids;
	return st;
}

/* ---- both ------------------------------------------------------------------------------- */

nam_status
txn_refer_check(struct txn *t, bool *guarded)
{
	nam_status st = NAM_OK;
	/* The guards of F1 go with its looks: if a definition changes behind them, what takes a key
	 * away then finds our locks and entries. F2's are READ behind its looks: an index may have
	 * been dropped before them. */
	bool guards = !*guarded && t->nforbids == 0;
	if (t->nrelied > 0 && !nam_fault(FK_UNLOCKED)) {
		st = check_relied(t, guards);
		*guarded |= guards;
	}
	if (nam_fault(FK_UNASKED))
		return st;
	t->nasked = 0; /* F4 */
	return st == NAM_OK && t->nforbids > 0 ? ask_forbidden(t) : st;
}

void
txn_refer_cut(struct txn *t, uint32_t mark)
{
	while (t->nrelied > 0 && t->relied[t->nrelied - 1]->born >= mark)
		t->nrelied--;
	while (t->nforbids > 0 && t->forbids[t->nforbids - 1].born >= mark)
		t->nforbids--;
	t->nasked = t->nasked < t->nforbids ? t->nasked : t->nforbids;
}
