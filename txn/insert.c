/* insert.c -- finds or takes the block of each row to insert, and makes the index lead to it. */
#include "txn_internal.h"

#include <base/fault.h>

#include <stdlib.h>
#include <string.h>

enum {
	CHUNK = 32,
	LOOKS = 16,
	WEIGH_TRIES = 20000,
	DEAD_EVERY = 16, /* tries */
	/* A collector holds a block for some round trips: base is one round trip, the cap is the
	 * time of its slowest step. */
	COLLECTED_BASE_NS = 2000,
	COLLECTED_CAP_NS = 1024000,
};

struct candidate {
	struct rec_block *img;
	net_addr at;
};

/* What a candidate block means for an insert. */
enum verdict { V_OTHER_KEY, V_TAKEN, V_USE, V_WAIT, V_GOING };

/* The collector holds the block: soon the index does not lead to it any more, or it is as it
 * was. */
static bool
collected(const struct rec_block *img)
{
	return rec_is_locked(img) && txn_lock_intent(img->word) == TXN_INTENT_GC;
}

static nam_status
weigh(struct txn *t, const struct txn_put *p, struct candidate *c, enum verdict *out)
{
	const struct txn_table_view *v = p->table->view;
	const struct txn_write *own = txn_own(t, c->at);
	*out = V_OTHER_KEY;
	if (own != NULL && own->kind != WR_LOCK) {
		if (p->table->same_key(
			p->table, own->slot->payload, (uint32_t)own->slot->meta, p->key, p->key_len))
			*out = own->slot->meta & REC_DELETED ? V_USE : V_TAKEN;
		return NAM_OK;
	}
	struct net_backoff pause = TXN_TORN_BACKOFF;
	for (unsigned tries = 0; tries < WEIGH_TRIES; tries++) {
		if (txn_rec_dir_whole(v, c->img, c->at)) {
			unsigned n = txn_rec_newest(v, c->img);
			if (n == REC_NO_SLOT) {
				/* No version: another transaction's insert that is open or undone,
				 * maybe of this key. */
				*out = collected(c->img) ? V_GOING : rec_is_locked(c->img) ? V_WAIT : V_USE;
				return NAM_OK;
			}
			const struct rec_slot *s = rec_slot_of(v, c->img, n);
			if (txn_rec_slot_whole(v, s, rec_cid(c->img, n), c->at)) {
				if (p->table->same_key(
					p->table, s->payload, (uint32_t)s->meta, p->key, p->key_len)) {
					if (s->cid > t->pin.at)
						txn_cover(t, s->cid);
					*out = !(s->meta & REC_DELETED) ? V_TAKEN
					       : collected(c->img)      ? V_GOING
									: V_USE;
				}
				return NAM_OK;
			}
		}
		/* Half a directory may be left by a process that died: it stays for a lease, and
		 * until that process is recovered. */
		if (tries >= TXN_TORN_AT_ONCE)
			net_back_off(t->tw->w, &pause);
		nam_status st = txn_go_on(t);
		if (st != NAM_OK)
			return st;
		if (tries % DEAD_EVERY == DEAD_EVERY - 1 && rec_is_locked(c->img))
			(void)txn_unlock_dead(t->tw, c->at, c->img->word);
		st = net_read1(t->tw->w, c->at, c->img, v->block_bytes, &t->counts);
		if (st != NAM_OK)
			return st;
	}
	return NAM_CORRUPT;
}

/* Goes through a probe's candidates. NAM_OK with *c: that block is to be used; NAM_ABSENT: none
 * belongs to the key. */
static nam_status
pick(struct txn *t, const struct txn_put *p, const struct idx_probe *probe, struct candidate *use, bool *wait,
    bool *going)
{
	uint32_t bytes = p->table->view->block_bytes;
	*wait = *going = false;
	use->img = NULL;
	nam_status st;
	struct candidate c[IDX_HITS_MAX];
	net_batch_init(&t->batch, t->tw->w, t->op, TXN_OPS, &t->counts);
	for (unsigned h = 0; h < probe->hits; h++) {
		c[h] = (struct candidate){ nam_arena_take(&t->arena, bytes), probe->hit[h] };
		if (c[h].img == NULL)
			return NAM_NOMEM;
		net_read(&t->batch, c[h].at, c[h].img, bytes);
	}
	if (probe->hits > 0 && (st = net_run(&t->batch)) != NAM_OK)
		return st;
	for (unsigned h = 0; h < probe->hits; h++) {
		enum verdict v;
		if ((st = weigh(t, p, &c[h], &v)) != NAM_OK)
			return st;
		if (v == V_TAKEN)
			return NAM_DUPLICATE;
		*going = v == V_GOING;
		*wait = v == V_WAIT || v == V_GOING;
		if (v == V_USE || *wait) {
			*use = c[h];
			return NAM_OK;
		}
	}
	return NAM_ABSENT;
}

/* Whether the index still leads from p's key to this block. Looks *probe up again. */
static nam_status
linked(struct txn *t, uint64_t hash, net_addr at, struct idx_probe *probe, bool *yes)
{
	*probe = (struct idx_probe){ .ix = probe->ix, .hash = hash };
	nam_status st = idx_lookup(t->tw->w, probe, 1, &t->counts);
	*yes = false;
	for (unsigned h = 0; st == NAM_OK && h < probe->hits; h++)
		*yes = *yes || probe->hit[h].bits == at.bits;
	return st;
}

/*
 * pick, with a proof for empty blocks: an empty block may have been taken out of the index between
 * lookup and READ, or the READ may have met a commit (the new word, the directory still empty). The
 * collector that takes it out locks it first and leaves another word; a committer writes the
 * directory before the word. So if, after the READ, the index still leads to the block and the
 * directory is still empty, our CAS of the word READ decides. If the collector holds the block, the
 * insert waits some milliseconds for it to leave the index; after that the block counts as locked,
 * like any other.
 */
static nam_status
pick_linked(
    struct txn *t, const struct txn_put *p, struct idx_probe *probe, struct candidate *use, bool *wait)
{
	struct net_backoff pause = { .base_ns = COLLECTED_BASE_NS, .cap_ns = COLLECTED_CAP_NS };
	for (unsigned tries = 0; tries < LOOKS; tries++) {
		bool yes, going;
		nam_status st = pick(t, p, probe, use, wait, &going);
		if (st == NAM_OK && going && tries + 1 < LOOKS) {
			net_back_off(t->tw->w, &pause);
			if ((st = txn_go_on(t)) != NAM_OK)
				return st;
			if ((st = linked(t, p->hash, use->at, probe, &yes)) != NAM_OK)
				return st;
			if (probe->status != NAM_OK && probe->status != NAM_ABSENT)
				return probe->status;
			continue;
		}
		if (st != NAM_OK || *wait || txn_own(t, use->at) != NULL ||
		    txn_rec_newest(p->table->view, use->img) != REC_NO_SLOT)
			return st;
		if ((st = linked(t, p->hash, use->at, probe, &yes)) != NAM_OK)
			return st;
		if (probe->status != NAM_OK && probe->status != NAM_ABSENT)
			return probe->status;
		if (!yes)
			continue;
		uint64_t word = use->img->word;
		st = net_read1(t->tw->w, use->at, use->img, p->table->view->head_bytes, &t->counts);
		if (st != NAM_OK)
			return st;
		if (use->img->word == word && txn_rec_dir_whole(p->table->view, use->img, use->at) &&
		    txn_rec_newest(p->table->view, use->img) == REC_NO_SLOT)
			return NAM_OK;
	}
	return NAM_CONFLICT;
}

/* Makes the write that puts p's row into the block given. */
static nam_status
put_write(struct txn *t, const struct txn_put *p, struct candidate *c, bool fresh, uint64_t word)
{
	struct txn_write *w = txn_own(t, c->at);
	nam_status st = NAM_OK;
	if (w != NULL && txn_is_unread(w))
		return NAM_GONE;
	if (w != NULL) { /* deleted by this transaction before */
		if (!txn_keep_write(t, w))
			return NAM_NOMEM;
		w->kind = w->kind == WR_DELETE ? WR_UPDATE : WR_INSERT;
		if (w->kind == WR_UPDATE &&
		    (st = txn_old_blobs(t, w, w->slot->payload, (uint32_t)w->slot->meta)) != NAM_OK)
			return st;
		return txn_version_set(t, w, p->bytes, p->len, false);
	}
	w = txn_write_add(t, p->table, c->at, WR_INSERT);
	if (w == NULL)
		return NAM_NOMEM;
	w->ident = p->key ? p->hash : nam_mix(p->table->id) | 1;
	w->fresh = fresh;
	w->indexed = p->key != NULL;
	if (fresh) {
		w->expect = word;
		w->target = 0;
		memset(w->cid, 0, w->view->slots * 8u);
		net_hint(t->tw->w, w->at, w->view->head_bytes + sizeof(struct rec_slot) + p->len);
	} else {
		st = txn_image_set(t, w, c->img, false);
		if (st == NAM_CONFLICT && t->iso == TXN_READ_COMMITTED)
			w->expect = 0; /* another transaction is changing it: our CAS must not
				        * succeed from here; wait and look again */
		else if (st != NAM_OK)
			return st;
		w->ident = p->hash;
		t->over_empty = t->over_empty || (t->iso != TXN_READ_COMMITTED && w->newest == REC_NO_SLOT);
		/* Deleted by a transaction that our snapshot does not cover: a write conflict,
		 * which that transaction won. */
		if (t->iso != TXN_READ_COMMITTED && w->newest != REC_NO_SLOT &&
		    rec_listed(w->cid[w->newest]) > txn_sees(t))
			return NAM_CONFLICT;
		if (w->newest != REC_NO_SLOT) { /* over a deletion */
			const struct rec_slot *s = rec_slot_of(w->view, c->img, w->newest);
			if ((st = txn_orders_before(t, w, s->payload, (uint32_t)s->meta)) != NAM_OK)
				return st;
			if ((st = txn_old_blobs(t, w, s->payload, (uint32_t)s->meta)) != NAM_OK)
				return st;
		}
	}
	return txn_version_set(t, w, p->bytes, p->len, false);
}

/*
 * READ COMMITTED locks at once, so that a second inserter of the key waits until we have ended. The
 * other levels lock at once where they use the block of a deleted row: the collector wants that
 * block as well, and at COMMIT it would be too late to find another. They do not lock an empty
 * block: it may belong to another insert, and of two inserts the first to commit wins.
 */
static bool
locks_at_once(const struct txn *t, const struct txn_write *w)
{
	return t->iso == TXN_READ_COMMITTED || (!w->fresh && w->newest != REC_NO_SLOT);
}

static nam_status
lock_inserted(struct txn *t, uint32_t from)
{
	struct net_batch *b = &t->batch;
	nam_status st = NAM_OK;
	for (uint32_t i = from; st == NAM_OK && i < t->nwr;) {
		uint32_t first = i;
		net_batch_init(b, t->tw->w, t->op, TXN_OPS, &t->counts);
		for (; st == NAM_OK && i < t->nwr && b->n < b->cap; i++)
			if (locks_at_once(t, t->wr[i]) && (st = txn_ensure_lock(t)) == NAM_OK)
				net_cas(b, t->wr[i]->at, t->wr[i]->expect, t->lock);
		if (st != NAM_OK || b->n == 0)
			continue;
		st = net_run(b);
		const struct net_op *op = t->op;
		for (uint32_t k = first; k < i; k++)
			if (locks_at_once(t, t->wr[k])) {
				txn_cas_has_run(t->wr[k], op);
				t->wr[k]->met = op->status == NAM_OK && (op->seen & REC_LOCK) ? op->seen : 0;
				op++;
			}
	}
	return st;
}

/* The puts of one chunk that are still to be made, and which put each write belongs to. */
struct chunk {
	struct txn_put *p;
	uint8_t of[CHUNK]; /* puts to be made */
	unsigned n;
	uint32_t first;       /* the first write made by this round */
	uint8_t owner[CHUNK]; /* by write, from `first` on: its put */
};

static nam_status
put_one(struct txn *t, struct chunk *ch, unsigned put, struct candidate *c, bool fresh, uint64_t word)
{
	uint32_t was = t->nwr;
	nam_status st = put_write(t, &ch->p[put], c, fresh, word);
	if (t->nwr > was)
		ch->owner[was - ch->first] = (uint8_t)put;
	return ch->p[put].status = st;
}

/* Gives back blocks that were taken for keys and not used. If an entry leads to such a block, the
 * collector empties it after this transaction has ended: until then this transaction may insert the
 * key again and find the block. */
static void
blocks_back(struct txn *t, const struct txn_put *p, const uint8_t *of, const struct idx_probe *probe,
    const uint64_t *word, unsigned n, bool asked)
{
	for (unsigned k = 0; k < n; k++) {
		struct txn_table_view *v = p[of[k]].table->view;
		if (!asked || probe[k].status != NAM_OK)
			txn_block_give(t->tw, v, probe[k].block, word[k]);
		else if (txn_grow((void **)&t->gone, t->ngone, &t->gone_cap, sizeof *t->gone))
			t->gone[t->ngone++] = (struct txn_junk){ .kind = JUNK_EMPTY,
				.stock = v->stock,
				.at = probe[k].block,
				.aux = probe[k].hash };
	}
}

/* The puts with keys of one chunk, on their way to blocks. */
struct placing {
	struct txn *t;
	struct chunk *ch;
	struct idx_probe probe[CHUNK];
	uint8_t of[CHUNK];    /* by probe: its put */
	uint64_t word[CHUNK]; /* by probe, of the first `fresh`: the word of the block taken for
			       * it */
	unsigned probes;
	unsigned fresh; /* probes for which a block has been taken: they come first */
	unsigned from;  /* so many of those have a block, or have failed */
	bool asked;     /* the index has been asked for entries for them */
};

/* Takes over the lookup of txn_get_ahead, if there is one for this probe. */
static bool
looked_ahead(struct txn *t, struct idx_probe *p)
{
	struct txn_ahead *a = t->ahead;
	for (unsigned i = 0; a != NULL && i < a->n; i++) {
		struct idx_probe *q = &a->probe[i];
		if (q->ix != p->ix || q->hash != p->hash)
			continue;
		bool good = q->status == NAM_OK || q->status == NAM_ABSENT;
		if (good)
			*p = *q;
		q->ix = NULL;
		return good;
	}
	return false;
}

/* Takes blocks for puts without keys, and looks the other ones up. */
static nam_status
place_begin(struct placing *x)
{
	struct txn *t = x->t;
	struct txn_put *p = x->ch->p;
	nam_status st;
	for (unsigned k = 0; k < x->ch->n; k++) {
		unsigned i = x->ch->of[k];
		p[i].status = NAM_OK;
		if (p[i].key == NULL) {
			struct candidate c = { NULL, { 0 } };
			uint64_t word;
			if ((st = txn_block_take(t->tw, p[i].table->view, &c.at, &word)) != NAM_OK)
				return p[i].status = st;
			if ((st = put_one(t, x->ch, i, &c, true, word)) != NAM_OK)
				return st;
			continue;
		}
		x->of[x->probes] = (uint8_t)i;
		x->probe[x->probes].ix = p[i].table->view->index;
		x->probe[x->probes++].hash = p[i].hash;
	}
	nam_status worst = NAM_OK;
	for (unsigned k = 0, from = 0; k < x->probes; from = ++k) {
		while (k < x->probes && !looked_ahead(t, &x->probe[k]))
			k++;
		if (k > from && (st = idx_lookup(t->tw->w, x->probe + from, k - from, &t->counts)) != NAM_OK)
			worst = st;
	}
	return worst;
}

/*
 * True if this transaction inserted the key before, into an empty block, and the index does not
 * lead to that block any more because a collector has emptied it. COMMIT would find another word
 * there; until then a second row of the key would stand beside the first. at: where the index leads
 * now, or nowhere.
 */
static bool
lost_before(struct txn *t, const struct txn_put *p, net_addr at)
{
	const struct txn_write *w =
	    t->over_empty ? txn_own_insert(t, p->table, p->hash, p->key, p->key_len) : NULL;
	return w != NULL && w->at.bits != at.bits;
}

/* Puts with keys: uses the block found; takes a block for each other key. An error is stored in the
 * put as well. */
static nam_status
place_found(struct placing *x)
{
	struct txn *t = x->t;
	nam_status st;
	x->asked = false;
	x->fresh = x->from = 0; /* probes that go on to be inserted move to the front, and of[] with
				 * them */
	for (unsigned k = 0; k < x->probes; k++) {
		struct txn_put *q = &x->ch->p[x->of[k]];
		struct idx_probe *probe = &x->probe[k];
		struct candidate c;
		bool wait;
		if (probe->status != NAM_OK && probe->status != NAM_ABSENT && probe->status != NAM_DUPLICATE)
			return q->status = probe->status;
		st = probe->hits == 0 ? NAM_ABSENT : pick_linked(t, q, probe, &c, &wait);
		if (st != NAM_OK && st != NAM_ABSENT)
			return q->status = st;
		if (lost_before(t, q, st == NAM_OK ? c.at : (net_addr){ 0 }))
			return q->status = NAM_CONFLICT;
		if (st == NAM_OK) {
			if (wait && t->iso != TXN_READ_COMMITTED) {
				if (rec_is_locked(c.img))
					txn_unlock_dead(t->tw, c.at, c.img->word);
				return q->status = NAM_CONFLICT;
			}
			if ((st = put_one(t, x->ch, x->of[k], &c, false, 0)) != NAM_OK)
				return st;
			continue;
		}
		net_addr at;
		if ((st = txn_block_take(t->tw, q->table->view, &at, &x->word[x->fresh])) != NAM_OK)
			return q->status = st;
		if (x->fresh < k)
			x->probe[x->fresh] = *probe;
		x->probe[x->fresh].block = at;
		x->of[x->fresh++] = x->of[k];
	}
	return NAM_OK;
}

/* The index has been asked for entries: puts that got one have their blocks; the others stay as
 * probes. */
static nam_status
place_entered(struct placing *x)
{
	struct txn *t = x->t;
	nam_status st;
	bool freed = false;
	x->asked = true;
	x->probes = 0;
	for (unsigned k = 0; k < x->fresh; k++) {
		struct txn_put *q = &x->ch->p[x->of[k]];
		struct idx_probe *probe = &x->probe[k];
		struct candidate c = { NULL, probe->block };
		x->from = k + 1;
		if (probe->status == NAM_OK) {
			if ((st = put_one(t, x->ch, x->of[k], &c, true, x->word[k])) == NAM_OK)
				continue;
			return st;
		}
		txn_block_give(t->tw, q->table->view, probe->block, x->word[k]);
		/* If the process that split the index has died, its lock is free now: try all puts
		 * that it held up once more. */
		bool busy = probe->status == NAM_BUSY;
		freed = freed || (busy && txn_index_unstick(t->tw, q->table->view->index));
		if (busy && freed)
			probe->status = NAM_DUPLICATE;
		if (probe->status != NAM_DUPLICATE)
			return q->status = probe->status;
		x->of[x->probes] = x->of[k]; /* another insert was there first: look at its row */
		if (x->probes < k)
			x->probe[x->probes] = *probe;
		x->probes++;
	}
	return NAM_OK;
}

/* ---- entries that COMMIT makes ---- */

unsigned
txn_entries_begin(struct txn *t)
{
	return t->ahead != NULL ? idx_insert_begin(t->ahead->entry, t->ahead->due, &t->batch) : 0;
}

nam_status
txn_entries_end(struct txn *t, unsigned op)
{
	struct txn_ahead *a = t->ahead;
	if (a == NULL || a->due == 0)
		return NAM_OK;
	nam_status st = idx_insert_end(t->tw->w, a->entry, a->due, t->op + op, &t->counts);
	for (unsigned i = 0; i < a->due; i++) {
		nam_status is = a->entry[i].status;
		if (nam_fault(ENTRY_IGNORED) && is == NAM_DUPLICATE)
			is = NAM_OK;
		txn_index_doubt(t->tw, a->entry[i].ix);
		/* In doubt: if the entry is not there, the collector does not find it, and goes
		 * on. */
		a->of[i]->indexed = is == NAM_OK || is == NAM_GONE;
		if (is == NAM_BUSY)
			(void)txn_index_unstick(t->tw, a->entry[i].ix);
		if (is != NAM_OK && st == NAM_OK)
			st = is == NAM_DUPLICATE || is == NAM_BUSY ? NAM_CONFLICT : is;
	}
	a->due = 0;
	return st;
}

void
txn_entries_cut(struct txn *t)
{
	struct txn_ahead *a = t->ahead;
	unsigned kept = 0;
	for (unsigned i = 0; a != NULL && i < a->due; i++)
		if (txn_own(t, a->of[i]->at) == a->of[i]) {
			a->entry[kept] = a->entry[i];
			a->of[kept++] = a->of[i];
		}
	if (a != NULL)
		a->due = kept;
}

/* A key of this chunk has an entry that is due: makes all of those now, so that the lookup finds
 * them. */
static nam_status
entries_before(struct txn *t, const struct chunk *ch)
{
	struct txn_ahead *a = t->ahead;
	bool same = false;
	for (unsigned i = 0; a != NULL && i < a->due; i++)
		for (unsigned k = 0; k < ch->n; k++)
			same = same || ch->p[ch->of[k]].hash == a->entry[i].hash;
	if (!same)
		return NAM_OK;
	net_batch_init(&t->batch, t->tw->w, t->op, TXN_OPS, &t->counts);
	if (txn_entries_begin(t) > 0)
		net_run(&t->batch); /* the failed ops are found one by one */
	return txn_entries_end(t, 0);
}

/*
 * Without a snapshot an insert need not be the first of its key before COMMIT tells: if a lookup
 * has shown an empty slot for each new key, the CASes of the slots go with those of the locks.
 * True: the puts have their blocks. False with *st an error: those from x->from on have none.
 */
static bool
place_later(struct placing *x, nam_status *st)
{
	struct txn *t = x->t;
	struct txn_ahead *a = t->ahead;
	if (!t->latest || a == NULL || a->due + x->fresh > TXN_AHEAD)
		return false;
	for (unsigned k = 0; k < x->fresh; k++) {
		if (x->probe[k].status != NAM_ABSENT || !idx_slot_seen(&x->probe[k]))
			return false;
		for (unsigned i = 0; i < k; i++)
			if (x->probe[i].hash == x->probe[k].hash)
				return false;
	}
	for (unsigned k = 0; k < x->fresh; k++) {
		struct candidate c = { NULL, x->probe[k].block };
		uint32_t was = t->nwr;
		x->from = k + 1;
		if ((*st = put_one(t, x->ch, x->of[k], &c, true, x->word[k])) != NAM_OK)
			return false;
		t->wr[was]->indexed = false;
		a->entry[a->due] = x->probe[k];
		a->of[a->due++] = t->wr[was];
	}
	x->probes = 0;
	return true;
}

/* Finds or takes the block of every put of the chunk. */
static nam_status
place(struct txn *t, struct chunk *ch)
{
	struct placing x;
	x.t = t;
	x.ch = ch;
	x.probes = 0;
	nam_status st = entries_before(t, ch);
	if (st == NAM_OK)
		st = place_begin(&x);
	while (st == NAM_OK && x.probes > 0) {
		st = place_found(&x);
		if (st == NAM_OK && (x.fresh == 0 || place_later(&x, &st)))
			break;
		if (st == NAM_OK) {
			st = idx_insert(t->tw->w, x.probe, x.fresh, &t->counts);
			for (unsigned k = 0; k < x.fresh; k++)
				txn_index_doubt(t->tw, x.probe[k].ix);
			if (st != NAM_OK)
				return st;
			st = place_entered(&x);
		}
		if (st != NAM_OK)
			blocks_back(t, ch->p, x.of + x.from, x.probe + x.from, x.word + x.from,
			    x.fresh - x.from, x.asked);
	}
	return st;
}

/* The block belongs to another transaction, or to none: the write becomes a lock that was never
 * taken, of an address that no lookup finds. */
static nam_status
put_undo(struct txn *t, struct txn_write *w)
{
	nam_status st = w->has == TXN_LOCKED ? txn_unlock_now(t, w) : NAM_OK;
	if (st != NAM_OK)
		return st;
	w->kind = WR_LOCK;
	w->at.bits = UINT64_MAX;
	w->fresh = w->indexed = false;
	w->arch = w->late = NULL;
	w->old_blobs = NULL;
	w->old_blobs_n = 0;
	w->slot = NULL; /* its new blobs stay: the row is put into another block */
	return txn_own_touched(t, w) ? NAM_OK : NAM_NOMEM;
}

/*
 * Waits for a block that another transaction holds or has changed, then looks again. *gone:
 * meanwhile the block was taken out of the index, or came to hold another key: the write is undone,
 * and the caller looks the key up again.
 */
static nam_status
insert_wait(struct txn *t, struct txn_put *p, struct txn_write *w, bool *gone)
{
	struct rec_block *img = nam_arena_take(&t->arena, w->view->block_bytes);
	if (img == NULL)
		return NAM_NOMEM;
	const struct rec_slot *s;
	nam_status st = txn_lock_wait(t, w, img);
	if (st == NAM_OK)
		st = txn_newest_locked(t, w, img, &s);
	if (st != NAM_OK)
		return st;
	w->old_blobs = NULL; /* of a deletion that may have been replaced during the wait */
	w->old_blobs_n = 0;
	w->keys = NULL;
	*gone = false;
	if (s != NULL && s->cid > t->pin.at)
		txn_cover(t, s->cid);
	if (s != NULL && p->key != NULL) {
		*gone = !p->table->same_key(p->table, s->payload, (uint32_t)s->meta, p->key, p->key_len);
		if (!*gone && !(s->meta & REC_DELETED)) {
			txn_cover(t, s->cid);
			return p->status = NAM_DUPLICATE;
		}
		if (!*gone && (st = txn_old_blobs(t, w, s->payload, (uint32_t)s->meta)) != NAM_OK)
			return st;
		if (!*gone && (st = txn_orders_before(t, w, s->payload, (uint32_t)s->meta)) != NAM_OK)
			return st;
	} else if (p->key != NULL) {
		struct idx_probe again = { .ix = w->view->index };
		bool yes;
		if ((st = linked(t, w->ident, w->at, &again, &yes)) != NAM_OK)
			return st;
		if (again.status != NAM_OK && again.status != NAM_ABSENT)
			return again.status;
		*gone = !yes;
	} else if (s != NULL) {
		return NAM_CORRUPT; /* a block of our own */
	}
	if (*gone)
		return put_undo(t, w);
	uint64_t ident = w->ident;
	st = txn_image_set(t, w, img, false);
	w->ident = ident;
	return st;
}

/*
 * An insert that does not wait for writers met a lock, for the n-th time. After half of the tries,
 * frees the lock if its owner is dead and recovered: the lock may be in no write set, and no other
 * process may meet it.
 */
static nam_status
insert_met(struct txn *t, const struct txn_write *w, unsigned before)
{
	if (before == TXN_LOCK_TRIES / 2)
		(void)txn_unlock_dead(t->tw, w->at, w->met);
	if (before + 1 < TXN_LOCK_TRIES)
		return NAM_OK;
	nam_status st = txn_lock_stuck(t->tw, w->met);
	return st != NAM_OK ? st : NAM_CONFLICT;
}

static nam_status
insert_chunk(struct txn *t, struct txn_put *p, unsigned n)
{
	struct chunk ch = { .p = p, .n = n };
	struct net_backoff pause = TXN_LOCK_BACKOFF;
	for (unsigned i = 0; i < n; i++)
		ch.of[i] = (uint8_t)i;
	for (unsigned tries = 0; tries < LOOKS; tries++) {
		bool met = false;
		ch.first = t->nwr;
		nam_status st = place(t, &ch);
		if (st != NAM_OK || (st = lock_inserted(t, ch.first)) != NAM_OK)
			return st;
		ch.n = 0;
		for (uint32_t i = ch.first; i < t->nwr; i++) {
			bool gone = false;
			struct txn_write *w = t->wr[i];
			unsigned put = ch.owner[i - ch.first];
			if (w->has == TXN_LOCKED || !locks_at_once(t, w))
				continue;
			/* A transaction that does not wait for writers looks at the key again: so
			 * it learns of a commit in between. */
			if (t->iso == TXN_READ_COMMITTED) {
				st = insert_wait(t, &p[put], w, &gone);
			} else {
				met = met || w->met != 0;
				st = w->met != 0 ? insert_met(t, w, pause.tries) : NAM_OK;
				if (st == NAM_OK && (st = put_undo(t, w)) == NAM_OK)
					gone = true;
			}
			if (st != NAM_OK)
				return st;
			if (gone)
				ch.of[ch.n++] = (uint8_t)put;
		}
		if (ch.n == 0)
			return NAM_OK;
		if (met)
			net_back_off(t->tw->w, &pause);
	}
	return NAM_CONFLICT;
}

nam_status
txn_insert(struct txn *t, struct txn_put *p, unsigned n)
{
	for (unsigned i = 0; i < n; i += CHUNK) {
		unsigned m = n - i < CHUNK ? n - i : CHUNK;
		nam_status st = insert_chunk(t, p + i, m);
		if (st != NAM_OK)
			return st;
	}
	return NAM_OK;
}
