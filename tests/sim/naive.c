/*
 * naive.c -- readers that do without the directory's proof, in the runs of the real ones.
 *
 * Both take an honest snapshot, READ the block that holds a key, and look at its slots alone:
 *	twin 0  READs one slot after the other; takes the newest whole one (its sum holds) with CID
 *              <= S
 *	twin 1  READs until the word is not locked, then takes the newest slot with CID <= S as it
 *              lies there
 * The history says afterwards how often they were wrong.
 */
#include "sim_txn.h"

#include <stdlib.h>
#include <string.h>

static void
answer(struct run *r, struct naive_answer a)
{
	if (r->answers == r->answers_cap) {
		r->answers_cap = r->answers_cap ? r->answers_cap * 2 : 256;
		r->answer = realloc(r->answer, r->answers_cap * sizeof *r->answer);
		if (r->answer == NULL)
			abort();
	}
	r->answer[r->answers++] = a;
}

/* The version that a reader takes if it does not look at the directory. */
static void
look(struct run *r, const uint64_t *img, net_addr at, uint64_t key, uint64_t snap, unsigned twin)
{
	const struct rec_slot *best = NULL;
	for (unsigned k = 0; k < r->shape.slots; k++) {
		const struct rec_slot *s =
		    (const void *)((const char *)img + head_bytes(r) + (size_t)k * slot_bytes());
		uint64_t len = s->meta & UINT32_MAX;
		if (s->cid == 0 || s->cid > snap || len > sizeof(struct row))
			continue;
		if (twin == 0 &&
		    s->check != rec_slot_check(nam_hash(s->payload, len, 0), s->cid, s->meta, at.bits))
			continue;
		if (best == NULL || s->cid > best->cid)
			best = s;
	}
	struct naive_answer a = { .id = key, .snap = snap, .twin = twin };
	if (best != NULL) {
		struct row row;
		uint32_t len = (uint32_t)best->meta;
		a.garbage = !row_true(best->payload, len, &row);
		if (!a.garbage && row.key != key)
			return; /* the block went to another key: even they would look elsewhere */
		if (!a.garbage && !(best->meta & REC_DELETED))
			a.value = row.value;
	}
	answer(r, a);
}

void
naive_main(void *arg)
{
	struct run *r = arg;
	struct place *p = &r->place[r->seed % r->shape.procs];
	struct net_worker *w = p->w[0];
	enum { DEEP = 4 };
	struct net_op op[DEEP];
	struct net_batch b;
	char *img = malloc((size_t)DEEP * block_bytes(r));
	while (img != NULL && !r->naive_stop) {
		struct tso_pin pin;
		struct tso_worker *tso = txn_worker_tso(p->tw[0]);
		if (tso_snapshot(tso, &pin, NULL) != NAM_OK)
			break;
		for (unsigned i = 0; i < 6; i++) {
			uint64_t key = nam_rng_below(net_rng(w), r->shape.hot ? 2 : r->shape.keys);
			net_addr at = r->block[key];
			if (at.bits == 0)
				continue;
			nam_status st = NAM_OK;
			for (unsigned n = 0; st == NAM_OK && n < r->shape.slots; n++) {
				uint32_t off = head_bytes(r) + n * slot_bytes();
				st = net_read1(w, net_plus(at, off), img + off, slot_bytes(), NULL);
				/* its thread was not running */
				if (nam_rng_below(net_rng(w), 4) == 0)
					net_sleep(w, 1 + nam_rng_below(net_rng(w), 40000));
			}
			if (st != NAM_OK)
				continue;
			look(r, (const void *)img, at, key, pin.at, 0);
			net_batch_init(&b, w, op, DEEP, NULL);
			for (unsigned k = 0; k < DEEP; k++)
				net_read(&b, at, img + (size_t)k * block_bytes(r), block_bytes(r));
			if (net_run(&b) != NAM_OK)
				continue;
			for (unsigned k = 0; k < DEEP; k++) {
				const uint64_t *whole = (const void *)(img + (size_t)k * block_bytes(r));
				if (!(whole[REC_WORD] & REC_LOCK))
					look(r, whole, at, key, pin.at, 1);
			}
			if (nam_rng_below(net_rng(w), 6) == 0)
				net_sleep(w, 1 + nam_rng_below(net_rng(w), 10000));
		}
		tso_unpin(tso, &pin);
		net_sleep(w, 1 + nam_rng_below(net_rng(w), 20000));
	}
	free(img);
	r->naive_ended = true;
}

void
naive_judge(struct run *r, struct naive out[2])
{
	for (size_t i = 0; i < r->answers; i++) {
		const struct naive_answer *a = &r->answer[i];
		uint64_t right = hist_value_at(r->hist, KEYED, a->id, a->snap);
		struct naive *n = &out[a->twin];
		n->reads++;
		if (a->garbage)
			n->torn++;
		else if (a->value == 0 && right != 0)
			n->lost++;
		else if (a->value != right)
			n->wrong++;
	}
}
