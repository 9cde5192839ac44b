/*
 * seal.c -- takes over the slot of an owner that has stopped, and gives it back when all he left is
 * recovered.
 *
 * First shut out, then seal: so a sealed slot says that nothing of its owner can execute any more
 * (T6), and whoever takes the slot over from a recoverer has only that recoverer to shut out. A
 * recoverer that dies between the two leaves a slot that is active and lapsed, and the next one
 * begins anew: Fencing twice is fencing once.
 */
#include "tso_internal.h"

#include <base/fault.h>

enum { ASKED_FOR = 5 }; /* so many of it are a lease */

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
		return NAM_OK; /* ours already; we did not come to the end */
	/* A last look: to shut out somebody who is only slow, or whose connections broke and are
	 * there again, is allowed, and a pity. */
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
	/* A hint, or a proof that it has died: neither says that none of its verbs is under way.
	 * The dead are not asked. */
	if (!nam_fault(NO_FENCE) && !(l->heard == NET_LEFT && nam_fault(HINT_AS_PROOF)) &&
	    (st = net_fence_process(tw->w, who, l->heard == NET_DEAD ? 0 : t->lease_ns / ASKED_FOR, err)) !=
		NAM_OK) {
		/* It says that it lives: its silence counts from now on. */
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
	 * Marked long ago, maybe, and its place in the vector is another's by now: but then our
	 * prefix covers it. Where it does not, our own `seen` is below cid, so nobody uses cid + V
	 * (T4), and the byte is cid's.
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
