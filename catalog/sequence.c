/*
 * sequence.c -- the words of sequences in remote memory, and what the log knows of them.
 *
 * 	next     the number that is given out next; sessions advance it by FETCH_ADD
 * 	logged   63..40 generation | 39..0 so many steps from `base` on are in the log: numbers
 * 	before
 * 	         that one may be given out
 * 	base     about where the generation began: steps are counted from there
 *
 * Each setval begins a generation, so a number that a session logs late, for the generation before,
 * covers nothing of the new one (txn/logged_format.h, J6). Without a log only `next` is used.
 */
#include <base/assert.h>
#include <catalog/catalog_internal.h>
#include <net/region_format.h>

struct words {
	int64_t next;
	uint64_t logged;
	int64_t base;
	uint64_t pad;
};

enum { AHEAD_BITS = 40, AHEAD = 32 };
#define AHEAD_MOST ((UINT64_C(1) << AHEAD_BITS) - 1)

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
cat_sequence_word(struct cat *c, struct txn_worker *tw, int64_t first, net_addr *out)
{
	enum { WORD_BYTES = 32, WORDS = NET_EXTENT / WORD_BYTES };
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
	*out = net_plus((net_addr){ page }, i % WORDS * WORD_BYTES);
	const struct words fresh = { .next = first, .base = first };
	return net_write1(w, *out, &fresh, sizeof fresh, NULL);
}

/* base + step * n, at the end of the numbers if it is beyond. */
static int64_t
number_at(int64_t base, int64_t step, uint64_t n)
{
	__int128 v = (__int128)base + (__int128)step * (__int128)n;
	return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

nam_status
cat_sequence_drawn(struct txn_worker *tw, const struct cat_sequence *q, int64_t last)
{
	struct net_worker *w = txn_worker_net(tw);
	struct words is;
	if (!txn_db_has_log(txn_worker_db(tw)))
		return NAM_OK;
	for (;;) {
		uint64_t seen;
		nam_status st = net_read1(w, q->word, &is, sizeof is, NULL);
		if (st != NAM_OK)
			return st;
		/* In steps from the base on; a number that lies before the base is of an earlier
		 * generation, and setval has the last word. */
		__int128 way = ((__int128)last - is.base) / q->step;
		uint64_t ahead = is.logged & AHEAD_MOST;
		uint64_t need = way < 0 ? 0 : way >= (__int128)AHEAD_MOST ? AHEAD_MOST : (uint64_t)way + 1;
		if (need <= ahead && need < AHEAD_MOST)
			return NAM_OK;
		uint64_t room = AHEAD * (uint64_t)q->cache;
		uint64_t more = need < AHEAD_MOST - room ? need + room : AHEAD_MOST;
		int64_t number =
		    more < AHEAD_MOST ? number_at(is.base, q->step, more) : number_at(last, q->step, AHEAD);
		st = txn_log_number(tw, q->word, (uint32_t)(is.logged >> AHEAD_BITS), number);
		if (st == NAM_OK)
			st = net_cas1(w, net_plus(q->word, offsetof(struct words, logged)), is.logged,
			    (is.logged & ~AHEAD_MOST) | more, &seen, NULL);
		if (st != NAM_OK || seen == is.logged || more == AHEAD_MOST)
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
			st = net_cas1(w, logged, was, ((was >> AHEAD_BITS) + 1) << AHEAD_BITS, &seen, NULL);
	} while (st == NAM_OK && seen != was);
	if (st == NAM_OK)
		st = net_write1(
		    w, net_plus(q->word, offsetof(struct words, base)), &number, sizeof number, NULL);
	return st == NAM_OK ? txn_log_number(tw, q->word, (uint32_t)((was >> AHEAD_BITS) + 1), number) : st;
}
