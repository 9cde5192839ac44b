/*
 * seal.c -- takes over the slot of an owner that has stopped, and frees it when all its
 * transactions are recovered.
 *
 * First fence, then seal: so no verb of a sealed slot's owner can execute any more (T6), and a
 * process that takes the slot over from a recoverer has to fence only that recoverer. If a
 * recoverer dies between the two steps, the slot is active and lapsed, and the next one begins
 * again: a second fence changes nothing.
 */
#include "tso_internal.h"

#include <base/fault.h>

#include <stdlib.h>

enum { ASKED_FOR = 5 }; /* grace of a question, as a part of a lease */

static net_addr
slot_at(const struct tso *t, unsigned slot)
{
	return net_plus(t->owners, slot * sizeof(struct tso_owner_slot));
}

nam_status
tso_seal(struct tso_worker *tw, const struct tso_lapse *l, struct nam_err *err)
{
	struct tso *t = tw->t;
	struct tso_owner_slot now;
	uint64_t who = tso_word_identity(l->word), seen;
	if (tso_word_state(l->word) == TSO_SEALED && (who == t->identity || nam_fault(TWO_RECOVERERS)))
		return NAM_OK; /* ours already; this process had not finished */
	/* A last look: to fence a process that is only slow, or whose connections broke and are
	 * back, is allowed but costly. */
	nam_status st = net_read1(tw->w, slot_at(t, l->slot), &now, sizeof now, NULL);
	if (st != NAM_OK)
		return st;
	const struct tso_promises *p = &now.promises;
	struct tso_seen *k = &t->seen[l->slot];
	pthread_mutex_lock(&t->look_lock);
	bool known = k->known;
	uint64_t beat = k->beat;
	pthread_mutex_unlock(&t->look_lock);
	if (now.word != l->word ||
	    (tso_word_state(l->word) == TSO_ACTIVE && p->epoch == l->epoch &&
		p->check == tso_promises_check(p, l->slot) && (!known || p->beat != beat)))
		return NAM_CONFLICT;
	/* A hint, or a proof of its death: in both cases verbs of it may be under way. A dead
	 * process is not asked. */
	if (!nam_fault(NO_FENCE) && !(l->heard == NET_LEFT && nam_fault(HINT_AS_PROOF)) &&
	    (st = net_fence_process(tw->w, who, l->heard == NET_DEAD ? 0 : t->lease_ns / ASKED_FOR, err)) !=
		NAM_OK) {
		/* It answers that it lives: its silence counts from now on. */
		if (st == NAM_BUSY) {
			pthread_mutex_lock(&t->look_lock);
			if (k->word == l->word) {
				k->still_ns = 0;
				k->lives_ns = net_now_ns(tw->w);
			}
			pthread_mutex_unlock(&t->look_lock);
		}
		return st;
	}
	atomic_fetch_add(&t->n_fenced, 1);
	st = net_cas1(
	    tw->w, slot_at(t, l->slot), l->word, tso_word(TSO_SEALED, l->epoch, t->identity), &seen, NULL);
	if (st != NAM_OK)
		return st;
	return seen == l->word ? NAM_OK : NAM_CONFLICT;
}

nam_status
tso_unseal(struct tso_worker *tw, const struct tso_lapse *l)
{
	struct tso *t = tw->t;
	uint64_t sealed = tso_word(TSO_SEALED, l->epoch, t->identity), seen;
	nam_status st =
	    net_cas1(tw->w, slot_at(t, l->slot), sealed, tso_word(TSO_FREE, l->epoch, 0), &seen, NULL);
	return st != NAM_OK ? st : seen == sealed ? NAM_OK : NAM_CONFLICT;
}

nam_status
tso_ended(struct tso_worker *tw, unsigned owner, unsigned epoch, bool *yes)
{
	uint64_t word = 0;
	nam_status st = net_read1(tw->w, slot_at(tw->t, owner), &word, sizeof word, NULL);
	*yes = st == NAM_OK && (tso_word_epoch(word) != epoch || tso_word_state(word) == TSO_FREE);
	return st;
}

nam_status
tso_mark_for(struct tso_worker *tw, tso_cid cid, unsigned note, bool *was)
{
	struct tso *t = tw->t;
	/*
	 * The CID may have been marked long ago, and its place in the vector used for a later one:
	 * but then our prefix covers it. If the prefix does not, our own `seen` is below cid, so no
	 * process uses cid + V (T4), and the byte is cid's.
	 */
	nam_status st = tso_refresh(tw, NULL);
	*was = st == NAM_OK && atomic_load(&t->prefix) >= cid;
	if (st != NAM_OK || *was)
		return st;
	uint8_t mark = tso_mark_byte(cid, t->vector, note);
	st = net_write1(
	    tw->w, net_plus(t->vector_at, cid & TSO_COUNT_MASK & (t->vector - 1)), &mark, sizeof mark, NULL);
	if (st == NAM_GONE)
		tso_doubt(tw, cid);
	return st;
}

nam_status
tso_living(struct tso_worker *tw, uint64_t *identity, unsigned max, unsigned *n)
{
	struct tso *t = tw->t;
	struct tso_anchor a;
	*n = 0;
	nam_status st = net_read1(tw->w, t->anchor, &a, sizeof a, NULL);
	if (st != NAM_OK)
		return st;
	if (a.high > t->slots_max)
		return NAM_CORRUPT;
	struct tso_owner_slot *slot = malloc((a.high + 1) * sizeof *slot);
	if (slot == NULL)
		return NAM_NOMEM;
	st = net_read1(tw->w, t->owners, slot, (uint32_t)(a.high * sizeof *slot), NULL);
	for (unsigned i = 0; st == NAM_OK && i < a.high; i++) {
		unsigned state = tso_word_state(slot[i].word);
		if (state != TSO_ACTIVE && state != TSO_IDLE)
			continue;
		if (*n == max)
			st = NAM_FULL;
		else
			identity[(*n)++] = tso_word_identity(slot[i].word);
	}
	free(slot);
	return st;
}
