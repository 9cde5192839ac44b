/*
 * validate.c -- with all locks held, checks that nothing relevant has changed: the read set of a
 * SERIALIZABLE transaction, and the records that define the tables written (guards).
 *
 * A writer locks its rows and then READs the guard. A transaction that changes a table's definition
 * (txn_lock_table) locks the guard's record, waits until no row is locked or newer than its
 * snapshot, sets `holds` in its intent, and looks at the rows once more. A writer that finds the
 * guard locked READs that intent. If `holds` is not set yet, the writer may go on, because the
 * other transaction will wait for it; if it is set, the writer gives way. (A lock hides the guard's
 * word. So if `holds` is not set, the directory under the lock tells whether the definition had
 * changed before.) Each side completes its own step before it looks for the other's, so of two that
 * meet at least one sees the other.
 */
#include "txn_internal.h"

#include <base/fault.h>

#include <string.h>

enum {
	LOOKS = 20,
	COLLECTOR_NS = 50000,   /* a collector empties a block in some round trips */
	COMMIT_NS = 20000,      /* a commit's directory lands that soon behind its lock */
	GUARD_LOOK_NS = 200000, /* a change of a table's definition takes milliseconds */
	/* txn_lock_table: writers of the table end soon, or when their clients end them. Each look
	 * READs the whole table. */
	HOLD_BASE_NS = 50000,
	HOLD_CAP_NS = 1000000,
	HOLD_HOLD = 20,
	HOLD_LONG_NS = 10000000, /* after so long a wait, stuck owners and cycles are looked for */
};

/* A block that the collector holds is soon as it was, or empty: then another look is worth the
 * wait. */
static bool
look_again(struct txn *t, nam_status st, uint64_t lock, struct net_backoff *pause, uint64_t *until)
{
	if (st != NAM_BUSY || txn_lock_intent(lock) != TXN_INTENT_GC)
		return false;
	uint64_t now = net_now_ns(t->tw->w);
	if (*until == 0)
		*until = now + TXN_COLLECTOR_NS;
	if (now >= *until)
		return false;
	net_back_off(t->tw->w, pause);
	return true;
}

/*
 * *yes: the block, whose word was READ before, has no version. What t met there was at or below its
 * snapshot, so it was a deletion, or no version either: the collector empties nothing else. t has a
 * pin below the CID that the collector left, so the block is not used again before t ends. If the
 * word has changed since, another look tells: *word is the new one.
 */
static nam_status
has_been_emptied(struct txn *t, net_addr at, uint64_t *word, bool *yes)
{
	struct rec_block img;
	nam_status st = net_read1(t->tw->w, at, &img, sizeof img, &t->counts);
	/* of two slots or more, and no sum */
	*yes = st == NAM_OK && img.word == *word &&
	       (img.ident | img.link | img.cid[0] | img.cid[1] | img.cid[2]) == 0;
	if (st == NAM_OK)
		*word = img.word;
	return st;
}

/* NAM_CONFLICT: the record that t has read has changed, or may be about to. word: of its block. */
static nam_status
judge_read(struct txn *t, const struct txn_read_mark *r, uint64_t word)
{
	const struct txn_write *own = txn_own(t, r->at);
	struct net_backoff pause = { .base_ns = COLLECTOR_NS, .cap_ns = COLLECTOR_NS };
	uint64_t until = 0;
	nam_status st = NAM_OK;
	bool none = false;
	if (own != NULL && own->has == TXN_LOCKED && word == t->lock)
		return NAM_OK;
	/* When we met it, it was newer than our snapshot, or the collector had just emptied it. */
	bool newer = r->newest > t->pin.at && (own == NULL || own->has != TXN_LOCKED);
	/* A collector that takes an entry out leaves the word as it was. It may lock the block
	 * again, for the next entry, after it has emptied it. */
	for (uint64_t before = 0; st == NAM_OK && (newer || word != r->newest) && word != before && !none;) {
		before = word;
		if (!(word & REC_LOCK)) {
			st = has_been_emptied(t, r->at, &word, &none);
		} else if (look_again(t, NAM_BUSY, word, &pause, &until)) {
			st = net_read1(t->tw->w, r->at, &word, sizeof word, &t->counts);
			before = 0;
		}
	}
	if (st != NAM_OK || none || (!newer && word == r->newest))
		return st;
	if (newer)
		txn_cover(t, r->newest); /* else the retry would conflict again: `stale-retry` */
	/* A lock: so that the caller's retry does not meet it once more. */
	if (word & REC_LOCK)
		txn_unlock_dead(t->tw, r->at, word);
	else
		txn_cover(t, word);
	return NAM_CONFLICT;
}

static nam_status
validate_reads(struct txn *t)
{
	nam_status st = NAM_OK;
	uint64_t *word = nam_arena_take(&t->arena, TXN_OPS * sizeof *word);
	if (word == NULL)
		return NAM_NOMEM;
	for (uint32_t i = 0; st == NAM_OK && i < t->nreads;) {
		uint32_t from = i;
		net_batch_init(&t->batch, t->tw->w, t->op, TXN_OPS, &t->counts);
		for (; i < t->nreads && t->batch.n < t->batch.cap; i++)
			net_read(&t->batch, t->read[i].at, &word[i - from], 8);
		if ((st = net_run(&t->batch)) != NAM_OK || (st = txn_between(t)) != NAM_OK)
			return st;
		for (uint32_t k = from; st == NAM_OK && k < i; k++)
			st = judge_read(t, &t->read[k], word[k - from]);
	}
	return st;
}

/* True if this block holds, or may come to hold, a version that our snapshot did not show. */
static bool
block_news(struct txn *t, const struct txn_table_view *v, const struct rec_block *img, net_addr at)
{
	const struct txn_write *own = txn_own(t, at);
	if (own != NULL && (own->has == TXN_LOCKED || !txn_writes(own)))
		return false;
	if (rec_is_locked(img))
		return true;
	if (!txn_rec_dir_whole(v, img, at))
		return true;
	/* A READ that met a commit may bring its word but not yet its directory. */
	unsigned n = txn_rec_newest(v, img);
	uint64_t newest = n == REC_NO_SLOT ? img->word : rec_cid(img, n);
	return newest > t->pin.at || newest != img->word;
}

/*
 * A block without a version, whose word is newer than our snapshot: the collector has emptied it,
 * or the READ met a commit between directory and word. In the second case another READ brings the
 * directory. In the first case the row was deleted before our snapshot, or was never there.
 */
static nam_status
emptied(struct txn *t, const struct txn_table_view *v, const struct rec_block *img, net_addr at, bool *yes)
{
	struct rec_block again;
	*yes = false;
	if (rec_is_locked(img) || !txn_rec_dir_whole(v, img, at) || txn_rec_newest(v, img) != REC_NO_SLOT)
		return NAM_OK;
	nam_status st = net_read1(t->tw->w, at, &again, rec_head_bytes(v->slots), &t->counts);
	*yes = st == NAM_OK && again.word == img->word && txn_rec_dir_whole(v, &again, at) &&
	       txn_rec_newest(v, &again) == REC_NO_SLOT;
	return st;
}

/* NAM_CONFLICT: the block has changed, and not by the collector. NAM_BUSY: it may be about to
 * change; *lock is on it. */
static nam_status
judge_block(
    struct txn *t, const struct txn_table_view *v, const struct rec_block *img, net_addr at, uint64_t *lock)
{
	bool none;
	if (!block_news(t, v, img, at))
		return NAM_OK;
	nam_status st = emptied(t, v, img, at, &none);
	if (st != NAM_OK || none)
		return st;
	*lock = img->word;
	if ((*lock & REC_LOCK) == 0) {
		txn_cover(t, *lock);
		return NAM_CONFLICT;
	}
	txn_unlock_dead(t->tw, at, *lock);
	return NAM_BUSY;
}

/* NAM_CONFLICT: the key is there now. NAM_BUSY: it may be about to come; *lock is on a block. */
static nam_status
absent_news(struct txn *t, const struct txn_absent *a, struct rec_block *img, uint64_t *lock)
{
	const struct txn_table_view *v = a->table->view;
	struct idx_probe p = { .ix = v->index, .hash = a->hash };
	nam_status st = idx_lookup(t->tw->w, &p, 1, &t->counts);
	for (unsigned h = 0; st == NAM_OK && h < p.hits; h++) {
		st = net_read1(t->tw->w, p.hit[h], img, v->block_bytes, &t->counts);
		if (st == NAM_OK)
			st = judge_block(t, v, img, p.hit[h], lock);
	}
	return st;
}

struct news {
	struct txn *t;
	const struct txn_table_view *v;
	uint64_t *lock;
};

static nam_status
judge_one(void *arg, const struct rec_block *img, net_addr at)
{
	const struct news *n = arg;
	return judge_block(n->t, n->v, img, at, n->lock);
}

/* NAM_CONFLICT: the table holds a version that our snapshot did not show. NAM_BUSY: it may be about
 * to; *lock is on a block. */
static nam_status
table_news(struct txn *t, const struct txn_table_view *v, uint64_t *lock)
{
	struct news n = { t, v, lock };
	return txn_blocks_each(t, v, judge_one, &n);
}

/*
 * We have our CID. If another SERIALIZABLE transaction has a smaller CID, it had its row in the
 * index, locked, before it claimed that CID: so each look at the index finds the row. An entry that
 * leads to an emptied block, and was removed from the index after we looked, therefore hides no
 * such transaction.
 */
static nam_status
validate_absent(struct txn *t)
{
	uint32_t most = 0;
	uint64_t lock = 0;
	for (uint32_t i = 0; i < t->nabsent; i++)
		most = t->absent[i].table->view->block_bytes > most ? t->absent[i].table->view->block_bytes
								    : most;
	struct rec_block *img = most > 0 ? nam_arena_take(&t->arena, most) : NULL;
	nam_status st = most > 0 && img == NULL ? NAM_NOMEM : NAM_OK;
	for (uint32_t i = 0; st == NAM_OK && i < t->nabsent; i++) {
		struct net_backoff pause = { .base_ns = COLLECTOR_NS, .cap_ns = COLLECTOR_NS };
		uint64_t until = 0;
		do
			st = absent_news(t, &t->absent[i], img, &lock);
		while (look_again(t, st, lock, &pause, &until));
		if (st == NAM_OK)
			st = txn_between(t);
	}
	return st == NAM_BUSY ? NAM_CONFLICT : st;
}

/* Until ranges have leaves to validate, a scanned table counts as one range: nothing in it may be
 * newer. */
static nam_status
validate_scans(struct txn *t)
{
	nam_status st = NAM_OK;
	uint64_t lock = 0;
	for (uint32_t i = 0; st == NAM_OK && i < t->nscanned; i++) {
		struct net_backoff pause = { .base_ns = COLLECTOR_NS, .cap_ns = COLLECTOR_NS };
		uint64_t until = 0;
		do
			st = table_news(t, t->scanned[i]->view, &lock);
		while (look_again(t, st, lock, &pause, &until));
	}
	return st == NAM_BUSY ? NAM_CONFLICT : st;
}

/* The table that has the tree among its ordered indexes; t has looked there. */
static const struct txn_table_view *
view_of_tree(const struct txn *t, const struct idx_tree *tree)
{
	for (uint32_t i = 0; i < t->nranged; i++) {
		const struct txn_table_view *v = t->ranged[i]->view;
		for (unsigned o = 0; v != NULL && o < v->orders; o++)
			if (v->tree[o] == tree)
				return v;
	}
	return NULL;
}

/*
 * A leaf has changed since t looked. Each block that t met there is in its read set, so only an
 * entry that has come matters: a row that another transaction has inserted or moved there is newer
 * than our snapshot, or locked. Entries that have gone led to rows that were deleted before our
 * snapshot, as our pin holds all others back, or were inserted and never committed.
 */
static nam_status
leaf_news(struct txn *t, const struct idx_seen *leaf, uint64_t *lock)
{
	const struct txn_table_view *v = view_of_tree(t, leaf->tree);
	uint64_t value[IDX_LEAF_MOST];
	unsigned n;
	bool there;
	nam_status st = idx_leaf_now(t->tw->w, leaf, value, &n, &there, &t->counts);
	if (st != NAM_OK || !there || v == NULL || nam_fault(LEAVES_UNJUDGED))
		return st == NAM_OK && (!there || v == NULL) ? NAM_CONFLICT : st;
	struct rec_block img[IDX_LEAF_MOST];
	net_batch_init(&t->batch, t->tw->w, t->op, TXN_OPS, &t->counts);
	for (unsigned i = 0; i < n; i++)
		net_read(&t->batch, (net_addr){ value[i] }, &img[i], rec_head_bytes(v->slots));
	st = n > 0 ? net_run(&t->batch) : NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < n; i++)
		st = judge_block(t, v, &img[i], (net_addr){ value[i] }, lock);
	return st;
}
static_assert((int)IDX_LEAF_MOST <= (int)TXN_OPS, "a leaf's blocks in one doorbell");

static nam_status
validate_leaves(struct txn *t)
{
	nam_status st = NAM_OK;
	uint64_t lock = 0;
	for (uint32_t i = 0; st == NAM_OK; i++) {
		struct net_backoff pause = { .base_ns = COLLECTOR_NS, .cap_ns = COLLECTOR_NS };
		uint64_t until = 0;
		st = idx_leaves_changed(t->tw->w, &t->leaves, &i, &t->counts);
		if (st != NAM_OK || i == t->leaves.n)
			return st;
		do
			st = leaf_news(t, &t->leaves.leaf[i], &lock);
		while (look_again(t, st, lock, &pause, &until));
		if (st == NAM_OK)
			st = txn_between(t);
	}
	return st == NAM_BUSY ? NAM_CONFLICT : st;
}

bool
txn_validates(const struct txn *t)
{
	return t->nreads > 0 || t->nabsent > 0 || t->nscanned > 0 || t->leaves.n > 0;
}

nam_status
txn_validate(struct txn *t)
{
	nam_status st = validate_reads(t);
	if (st == NAM_OK)
		st = validate_absent(t);
	if (st == NAM_OK)
		st = validate_scans(t);
	if (st == NAM_OK && t->leaves.n > 0 && !nam_fault(LEAVES_UNSEEN))
		st = validate_leaves(t);
	return st;
}

bool
txn_is_overtaken(struct txn *t)
{
	return t->iso == TXN_SERIALIZABLE && txn_validates(t) && txn_validate(t) == NAM_CONFLICT;
}

/* ---- guards ---- */

nam_status
txn_guards_post(struct txn *t)
{
	const struct txn_table *last = NULL;
	t->nguards = 0;
	for (uint32_t i = 0; i < t->nwr + t->nrelied + t->nforbids; i++) {
		if (i < t->nwr && !txn_writes(t->wr[i]))
			continue;
		const struct txn_table *table = i < t->nwr ? t->wr[i]->table
						: i - t->nwr < t->nrelied
						    ? t->relied[i - t->nwr]->table
						    : t->forbids[i - t->nwr - t->nrelied].of.table;
		if (table == last || table->guard.bits == 0)
			continue;
		last = table;
		uint32_t g = 0;
		while (g < t->nguards && t->guard[g].at.bits != last->guard.bits)
			g++;
		if (g < t->nguards) {
			/* Rows of one table were written under two definitions: one of them is out
			 * of date. */
			if (t->guard[g].word != last->guard_word)
				t->guard[g].word = 0;
			continue;
		}
		if (!txn_grow((void **)&t->guard, t->nguards, &t->guard_cap, sizeof *t->guard))
			return NAM_NOMEM;
		t->guard[t->nguards++] = (struct txn_guard){ .at = last->guard, .word = last->guard_word };
	}
	for (uint32_t g = 0; g < t->nguards; g++) {
		if (t->batch.n == t->batch.cap) {
			nam_status st = net_run(&t->batch);
			if (st != NAM_OK)
				return st;
		}
		net_read(&t->batch, t->guard[g].at, &t->guard[g].seen, 8);
	}
	return NAM_OK;
}

/* Another transaction has locked the guard: *holds = it holds the table. If it has ended meanwhile,
 * READs the guard again. */
static nam_status
holder(struct txn *t, struct txn_guard *k, bool *holds)
{
	struct txn_intent_head h;
	nam_status st = NAM_OK;
	*holds = false;
	while (st == NAM_OK && (k->seen & REC_LOCK) && k->seen != t->lock) {
		if ((st = txn_read_head(t, k->seen, &h)) != NAM_OK)
			break;
		if (h.lock == k->seen) {
			*holds = (h.holds & TXN_HOLDS_TABLES) != 0;
			return NAM_OK;
		}
		/* The intent has no such word yet, or the transaction has ended. */
		uint64_t before = k->seen;
		if ((st = net_read1(t->tw->w, k->at, &k->seen, 8, &t->counts)) == NAM_OK && k->seen == before)
			return NAM_OK;
	}
	return st;
}

/*
 * Under a lock that does not hold the table, the guard's word is the newest in its directory: it
 * may have changed before it was locked. 0 = that cannot be told now.
 */
static nam_status
under_lock(struct txn *t, const struct txn_guard *k, uint64_t *word)
{
	struct net_backoff pause = { .base_ns = COMMIT_NS, .cap_ns = COMMIT_NS };
	struct rec_block img;
	*word = 0;
	while (pause.tries < LOOKS) {
		nam_status st = net_read1(t->tw->w, k->at, &img, sizeof img, &t->counts);
		if (st != NAM_OK || txn_head_newest(&img, k->at, word))
			return st;
		net_back_off(t->tw->w, &pause); /* the directory is being written */
	}
	return NAM_OK;
}

nam_status
txn_guards_judge(struct txn *t, net_addr *held)
{
	nam_status st = NAM_OK;
	held->bits = 0;
	for (uint32_t g = 0; g < t->nguards; g++) {
		struct txn_guard *k = &t->guard[g];
		bool holds;
		uint64_t under = 0;
		nam_status asked = holder(t, k, &holds);
		bool locked = (k->seen & REC_LOCK) && k->seen != t->lock;
		if (asked == NAM_OK && locked && !holds)
			asked = under_lock(t, k, &under);
		if (asked != NAM_OK)
			return asked;
		if (k->seen == t->lock || k->seen == k->word || (under != 0 && under == k->word))
			continue;
		st = NAM_CONFLICT;
		if (locked && under == 0)
			*held = k->at;
		else /* else the retry would conflict again: `stale-retry` */
			tso_answered(t->tw->db->tso, locked ? under : k->seen);
	}
	return st;
}

void
txn_guard_wait(struct txn_worker *tw, net_addr at, const struct txn_limits *l)
{
	uint64_t began = net_now_ns(tw->w), word;
	struct net_backoff pause = { .base_ns = GUARD_LOOK_NS, .cap_ns = GUARD_LOOK_NS };
	while (net_read1(tw->w, at, &word, sizeof word, NULL) == NAM_OK) {
		if ((word & REC_LOCK) == 0) {
			tso_answered(tw->db->tso, word);
			return;
		}
		if (txn_within(tw, l) != NAM_OK || txn_lock_stuck(tw, word) != NAM_OK ||
		    (l->lock_wait_ns != 0 && net_now_ns(tw->w) - began > l->lock_wait_ns))
			return;
		if (txn_unlock_dead(tw, at, word) == NAM_OK)
			continue;
		net_back_off(tw->w, &pause);
	}
}

/* *waits: the lock word that our intent names as waited for. */
static nam_status
hold(struct txn *t, const struct txn_table_view *v, uint64_t *waits)
{
	uint64_t began = net_now_ns(t->tw->w), lock = 0;
	struct txn_cycle cycle = { 0 };
	struct net_backoff pause = { .base_ns = HOLD_BASE_NS, .cap_ns = HOLD_CAP_NS, .hold = HOLD_HOLD };
	bool first = !t->holding; /* else, if a table is held already, a writer may believe that it
				   * is not */
	while (true) {
		nam_status st = table_news(t, v, &lock);
		if (st == NAM_OK && t->holding)
			return NAM_OK;
		if (st != NAM_OK && st != NAM_BUSY && (st != NAM_CONFLICT || t->iso != TXN_READ_COMMITTED))
			return st;
		uint64_t now = net_now_ns(t->tw->w), blocker = st == NAM_BUSY ? lock : 0;
		if (txn_go_on(t) != NAM_OK)
			return txn_go_on(t);
		if (t->limits.lock_wait_ns != 0 && now - began > t->limits.lock_wait_ns)
			return NAM_TIMEOUT;
		bool holding = st != NAM_BUSY || !first;
		if (holding != t->holding || blocker != *waits) {
			t->holding = holding;
			*waits = blocker;
			if ((st = txn_publish(t, blocker)) != NAM_OK)
				return st;
		}
		if (blocker != 0) {
			if (now - began > HOLD_LONG_NS &&
			    ((st = txn_lock_stuck(t->tw, blocker)) != NAM_OK ||
				(st = txn_look_for_cycle(t, blocker, &cycle)) != NAM_OK))
				return st;
			net_back_off(t->tw->w, &pause);
		}
		if ((st = txn_statement(t)) != NAM_OK)
			return st;
	}
}

nam_status
txn_lock_table(struct txn *t, struct txn_table *table)
{
	if (t->latest)
		return NAM_UNSUPPORTED;
	uint64_t waits = 0;
	bool held = t->holding;
	nam_status st = hold(t, table->view, &waits);
	if (st != NAM_OK)
		t->holding = held;
	/* However the wait ended: a later follower of our chain must not be misled. */
	nam_status clear = waits != 0 || st != NAM_OK ? txn_publish(t, 0) : NAM_OK;
	return st != NAM_OK ? st : clear;
}
