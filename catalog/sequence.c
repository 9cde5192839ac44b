/*
 * sequence.c -- the words of sequences in remote memory, and what the log knows of them.
 *
 * 	next     the number that is given out next; sessions advance it by FETCH_ADD
 * 	logged   63..40 generation | 39..32 looks | 31..0 so many steps from `base` on are in the
 * 	         log: numbers before that one may be given out
 * 	base     about where the generation began: steps are counted from there
 * 	of       the generation whose base that is: written behind it
 * 	step
 *
 * Each setval begins a generation, so a number that a session logs late, for the generation before,
 * covers nothing of the new one (txn/logged_format.h, J6). Without a log only `next` is used.
 *
 * A checkpoint logs for each word what it says, and counts up its looks by a CAS (J7). So a session
 * that has logged a number before the checkpoint's begin, and has not set `logged` by then, fails
 * to set it, and logs the number again.
 */
#include <base/assert.h>
#include <base/fault.h>
#include <catalog/catalog_internal.h>
#include <net/region_format.h>
#include <txn/checkpoint.h>

#include <stdlib.h>

struct words {
	int64_t next;
	uint64_t logged;
	int64_t base;
	uint64_t of;
	int64_t step;
	uint64_t pad[3];
};

enum {
	AHEAD_BITS = 32,
	GENERATION_SHIFT = 40,
	AHEAD = 32,
	WORD_BYTES = sizeof(struct words),
	WORDS = NET_EXTENT / WORD_BYTES
};
#define AHEAD_MOST ((UINT64_C(1) << AHEAD_BITS) - 1)
#define LOOK_ONE   (UINT64_C(1) << AHEAD_BITS)
#define LOOKS      (UINT64_C(0xff) << AHEAD_BITS)

/* The extent that a word of remote memory names; taken from any node if it names none yet. */
static nam_status
extent_of(struct net_worker *w, net_addr word, uint64_t *extent)
{
	const struct net *n = net_worker_net(w);
	net_addr fresh;
	nam_status st = net_read1(w, word, extent, sizeof *extent, NULL);
	if (st != NAM_OK || *extent != 0)
		return st;
	st = NAM_FULL;
	for (unsigned i = 0; (st == NAM_FULL || st == NAM_GONE) && i < net_node_count(n); i++)
		st = net_extent_take(w, net_node(n, i)->region, 1, &fresh);
	if (st == NAM_OK)
		st = net_cas1(w, word, 0, fresh.bits, extent, NULL);
	if (st == NAM_OK && *extent != 0)
		net_extent_give(w, fresh); /* another process was faster */
	else if (st == NAM_OK)
		*extent = fresh.bits;
	return st;
}

/* The root leads to an extent that lists extents of words; each is taken when its first word is
 * given out. */
nam_status
cat_sequence_word(struct cat *c, struct txn_worker *tw, int64_t first, struct cat_sequence *q)
{
	struct net_worker *w = txn_worker_net(tw);
	uint64_t list, page, i = 0;
	nam_status st = extent_of(w, txn_db_root(c->db, CAT_ROOT_WORDS), &list);
	if (st == NAM_OK)
		st = net_faa1(w, txn_db_root(c->db, CAT_ROOT_NEXT_WORD), 1, &i, NULL);
	if (st == NAM_OK && i >= NET_EXTENT / 8 * WORDS)
		st = NAM_FULL;
	if (st == NAM_OK)
		st = extent_of(w, net_plus((net_addr){ list }, i / WORDS * 8), &page);
	if (st != NAM_OK)
		return st;
	q->word = net_plus((net_addr){ page }, i % WORDS * WORD_BYTES);
	const struct words fresh = { .next = first, .base = first, .step = q->step };
	return net_write1(w, q->word, &fresh, sizeof fresh, NULL);
}

/* base + step * n, at the end of the numbers if it is beyond. */
static int64_t
number_at(int64_t base, int64_t step, uint64_t n)
{
	__int128 v = (__int128)base + (__int128)step * (__int128)n;
	return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

/*
 * READs a word, so that the base is that of the generation if `of` says so. The parts of a READ may
 * be of different moments: `of` new, and the base from before. No session has set `logged` in the
 * new generation then; a second READ has its base.
 */
static nam_status
read_words(struct net_worker *w, net_addr at, struct words *is)
{
	nam_status st = net_read1(w, at, is, sizeof *is, NULL);
	while (st == NAM_OK && (is->logged & AHEAD_MOST) == 0 && is->logged >> GENERATION_SHIFT == is->of &&
	       is->of > 0) {
		const struct words seen = *is;
		st = net_read1(w, at, is, sizeof *is, NULL);
		if (is->logged == seen.logged && is->of == seen.of)
			break;
	}
	return st;
}

nam_status
cat_sequence_drawn(
    struct txn_worker *tw, const struct cat_sequence *q, int64_t last, const struct txn_limits *limits)
{
	struct net_worker *w = txn_worker_net(tw);
	struct words is;
	if (!txn_db_has_log(txn_worker_db(tw)))
		return NAM_OK;
	for (;;) {
		uint64_t seen;
		nam_status st = read_words(w, q->word, &is);
		if (st != NAM_OK)
			return st;
		uint32_t generation = (uint32_t)(is.logged >> GENERATION_SHIFT);
		/* A setval is between its steps, so the base may be its or the one before: the
		 * number is logged for the generation before, which counts if setval's process
		 * dies now. */
		if (generation != is.of)
			return txn_log_number(
			    tw, q->word, (uint32_t)is.of, number_at(last, q->step, AHEAD), limits);
		/* In steps from the base on. A number that lies before the base was drawn before
		 * setval has ended, which may never be: its process may have died, or the log may
		 * have refused its number. So the log hears of each such number; behind setval's
		 * it says nothing new. */
		__int128 way = ((__int128)last - is.base) * (q->step > 0 ? 1 : -1);
		if (way < 0 && !nam_fault(NUMBER_BEFORE))
			return txn_log_number(
			    tw, q->word, generation, number_at(last, q->step, AHEAD), limits);
		way /= q->step > 0 ? q->step : -(__int128)q->step;
		uint64_t ahead = is.logged & AHEAD_MOST;
		uint64_t need = way < 0 ? 0 : way >= (__int128)AHEAD_MOST ? AHEAD_MOST : (uint64_t)way + 1;
		if (need <= ahead && need < AHEAD_MOST)
			return NAM_OK;
		uint64_t room = AHEAD * (uint64_t)q->cache;
		uint64_t more = need < AHEAD_MOST - room ? need + room : AHEAD_MOST;
		int64_t number =
		    more < AHEAD_MOST ? number_at(is.base, q->step, more) : number_at(last, q->step, AHEAD);
		st = txn_log_number(tw, q->word, generation, number, limits);
		if (st == NAM_OK)
			st = net_cas1(w, net_plus(q->word, offsetof(struct words, logged)), is.logged,
			    (is.logged & ~AHEAD_MOST) | more, &seen, NULL);
		if (st != NAM_OK || seen == is.logged)
			return st;
	}
}

nam_status
cat_sequence_reset(struct txn_worker *tw, const struct cat_sequence *q, int64_t number)
{
	struct net_worker *w = txn_worker_net(tw);
	net_addr logged = net_plus(q->word, offsetof(struct words, logged));
	uint64_t was, seen = 0;
	if (!txn_db_has_log(txn_worker_db(tw)))
		return NAM_OK;
	/* The new generation comes first: what sessions draw from now on is logged as part of it,
	 * whether this process lives to log its begin or not. */
	nam_status st = net_read1(w, logged, &seen, sizeof seen, NULL);
	do {
		was = seen;
		if (st == NAM_OK)
			st = net_cas1(
			    w, logged, was, ((was >> GENERATION_SHIFT) + 1) << GENERATION_SHIFT, &seen, NULL);
	} while (st == NAM_OK && seen != was);
	const uint64_t of = ((was >> GENERATION_SHIFT) + 1) & (UINT64_MAX >> GENERATION_SHIFT);
	if (st == NAM_OK)
		st = net_write1(
		    w, net_plus(q->word, offsetof(struct words, base)), &number, sizeof number, NULL);
	if (st == NAM_OK)
		st = net_write1(w, net_plus(q->word, offsetof(struct words, of)), &of, sizeof of, NULL);
	return st == NAM_OK ? txn_log_number(tw, q->word, (uint32_t)of, number, NULL) : st;
}

/* Appends what a word says of the numbers that may have been given out. */
static nam_status
keep_number(struct txn_checkpoint *k, net_addr at, const struct words *is)
{
	uint64_t generation = is->logged >> GENERATION_SHIFT, ahead = is->logged & AHEAD_MOST;
	if (generation == 0 && ahead == 0)
		return NAM_OK; /* no number was logged */
	/* A generation begins at this moment, and logs its begin behind this checkpoint's; or its
	 * process has died. Numbers of the one before lie before `next`. */
	if (generation != is->of)
		return txn_checkpoint_number(k, at, (uint32_t)is->of, is->next);
	return txn_checkpoint_number(k, at, (uint32_t)generation,
	    ahead == AHEAD_MOST ? number_at(is->next, is->step, AHEAD)
				: number_at(is->base, is->step, ahead));
}

static nam_status
keep_word(struct net_worker *w, struct txn_checkpoint *k, net_addr at)
{
	struct words is;
	for (;;) {
		uint64_t now = 0;
		nam_status st = read_words(w, at, &is);
		const uint64_t was = is.logged;
		if (st == NAM_OK)
			st = keep_number(k, at, &is);
		/* What was logged before the begin and is not shown yet is not shown any more. */
		if (st == NAM_OK)
			st = nam_fault(NUMBER_UNLOOKED)
				 ? NAM_OK
				 : net_cas1(w, net_plus(at, offsetof(struct words, logged)), was,
				       (was & ~LOOKS) | ((was + LOOK_ONE) & LOOKS), &now, NULL);
		if (st != NAM_OK || now == was || nam_fault(NUMBER_UNLOOKED))
			return st;
	}
}

nam_status
cat_sequences_keep(struct cat *c, struct txn_worker *tw, struct txn_checkpoint *k)
{
	struct net_worker *w = txn_worker_net(tw);
	uint64_t n = 0, list = 0, page = 0;
	struct words *words = malloc(NET_EXTENT);
	nam_status st = words != NULL ? NAM_OK : NAM_NOMEM;
	if (st == NAM_OK)
		st = net_read1(w, txn_db_root(c->db, CAT_ROOT_NEXT_WORD), &n, sizeof n, NULL);
	if (st == NAM_OK && n > 0)
		st = net_read1(w, txn_db_root(c->db, CAT_ROOT_WORDS), &list, sizeof list, NULL);
	for (uint64_t i = 0; st == NAM_OK && list != 0 && i < n; i++) {
		if (i % WORDS == 0)
			st = net_read1(
			    w, net_plus((net_addr){ list }, i / WORDS * 8), &page, sizeof page, NULL);
		if (st == NAM_OK && i % WORDS == 0 && page != 0)
			st = net_read1(w, (net_addr){ page }, words, NET_EXTENT, NULL);
		if (st == NAM_OK)
			st = txn_checkpoint_go_on(k);
		if (st == NAM_OK && page != 0 && words[i % WORDS].step != 0) /* it is written */
			st = keep_word(w, k, net_plus((net_addr){ page }, i % WORDS * WORD_BYTES));
	}
	free(words);
	return st;
}
