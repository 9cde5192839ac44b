/*
 * ledger.c -- a table's list of extents other than those of its blocks: entered one by one, found
 * again, given back.
 *
 * An entry is one word, 0 when it is empty. A process that has taken an extent from a storage node
 * enters it by CAS from 0 before it is used, and empties the entry by CAS before the extent goes
 * back. So at any moment an extent is at its node, in one entry, or with one process between the
 * two. A process has TXN_LEDGER_PART such extents at most, and they are lost if it dies at that
 * moment. Emptied entries are used again; as long as there are few of them, no process looks for
 * them.
 */
#include "txn_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
	PART = TXN_LEDGER_PART,
	LOOK = 512,       /* entries READ together */
	LOOKS = 8,        /* parts looked through for holes before new entries are handed out */
	HOLES_WORTH = 64, /* holes are looked for if one entry in so many is empty */
	TRIES = 8
};

/* ---- extents that are in no ledger ---- */

nam_status
txn_extents_any(
    struct txn_db *db, struct net_worker *w, unsigned n, unsigned start, bool zeros, net_addr *out)
{
	unsigned got = 0;
	nam_status st = NAM_FULL;
	for (unsigned i = 0; got < n && i < db->nregions; i++) {
		unsigned more;
		st = net_extents_take(
		    w, db->regions[(start + i) % db->nregions], n - got, zeros, out + got, &more);
		got += more;
		if (st != NAM_OK && st != NAM_FULL && st != NAM_GONE)
			break;
	}
	if (got == n)
		return NAM_OK;
	if (got > 0)
		net_extents_give(w, got, out);
	return st;
}

nam_status
txn_extent_kept(struct txn_db *db, struct net_worker *w, unsigned start, net_addr *out)
{
	nam_status st = NAM_FULL;
	for (unsigned i = 0; (st == NAM_FULL || st == NAM_GONE) && i < db->nregions; i++)
		st = net_reserve_take(w, db->regions[(start + i) % db->nregions], out);
	return st;
}

/* ---- where entries lie ---- */

struct ledger {
	struct txn_db *db;
	struct net_worker *w;
	net_addr anchor;
	uint64_t page; /* the page whose address is `at`, UINT64_MAX = none */
	net_addr at;
};

static struct ledger
ledger_of(struct txn_db *db, struct net_worker *w, net_addr anchor)
{
	return (struct ledger){ .db = db, .w = w, .anchor = anchor, .page = UINT64_MAX };
}

/* The extent that a word names. make: if it names none, it gets one, which goes to a region by
 * `start`. *bits is 0 if there is none. */
static nam_status
named_by(struct ledger *l, net_addr word, bool make, unsigned start, uint64_t *bits)
{
	net_addr fresh;
	nam_status st = net_read1(l->w, word, bits, 8, NULL);
	if (st != NAM_OK || *bits != 0 || !make)
		return st;
	if ((st = txn_extents_any(l->db, l->w, 1, start, true, &fresh)) != NAM_OK)
		return st;
	st = net_cas1(l->w, word, 0, fresh.bits, bits, NULL);
	if (st == NAM_OK && *bits != 0)
		net_extent_give(l->w, fresh); /* another worker's was first */
	else
		*bits = fresh.bits;
	return st;
}

/* The word that names a page. *word at 0: there is no list of such pages. */
static nam_status
word_of_page(struct ledger *l, uint64_t page, bool make, net_addr *word)
{
	if (page < TXN_LEDGER_DIRECT) {
		*word = net_plus(l->anchor, TXN_ANCHOR_PAGES + 8 * page);
		return NAM_OK;
	}
	uint64_t list = (page - TXN_LEDGER_DIRECT) / TXN_LEDGER_PAGE, bits;
	nam_status st =
	    named_by(l, net_plus(l->anchor, TXN_ANCHOR_LISTS + 8 * list), make, (unsigned)page, &bits);
	word->bits = 0;
	if (st == NAM_OK && bits != 0)
		*word = net_plus((net_addr){ bits }, 8 * ((page - TXN_LEDGER_DIRECT) % TXN_LEDGER_PAGE));
	return st;
}

/* The address of entry i. make: makes its page if there is none. *at is 0 if there is none.
 * NAM_FULL: beyond the last page. */
static nam_status
place_of(struct ledger *l, uint64_t i, bool make, net_addr *at)
{
	at->bits = 0;
	if (i < TXN_LEDGER_INLINE) {
		*at = net_plus(l->anchor, TXN_ANCHOR_LEDGER + i * 8);
		return NAM_OK;
	}
	uint64_t page = (i - TXN_LEDGER_INLINE) / TXN_LEDGER_PAGE, bits = 0;
	if (page >= TXN_LEDGER_PAGES)
		return NAM_FULL;
	if (page != l->page) {
		net_addr word;
		nam_status st = word_of_page(l, page, make, &word);
		if (st == NAM_OK && word.bits != 0)
			st = named_by(l, word, make, (unsigned)page, &bits);
		if (st != NAM_OK || bits == 0)
			return st;
		l->page = page;
		l->at.bits = bits;
	}
	*at = net_plus(l->at, (i - TXN_LEDGER_INLINE) % TXN_LEDGER_PAGE * 8);
	return NAM_OK;
}

/* READs entries from i on, at most LOOK, none behind `used` or beyond the end of a page. *k: how
 * many; entries without a page read as 0. */
static nam_status
read_part(struct ledger *l, uint64_t i, uint64_t used, uint64_t *word, unsigned *k)
{
	uint64_t n = i < TXN_LEDGER_INLINE ? TXN_LEDGER_INLINE - i
					   : TXN_LEDGER_PAGE - (i - TXN_LEDGER_INLINE) % TXN_LEDGER_PAGE;
	net_addr at;
	n = n < LOOK ? n : LOOK;
	n = n < used - i ? n : used - i;
	*k = (unsigned)n;
	nam_status st = place_of(l, i, false, &at);
	if (st == NAM_OK && at.bits == 0)
		memset(word, 0, n * sizeof *word);
	else if (st == NAM_OK)
		st = net_read1(l->w, at, word, (uint32_t)(n * sizeof *word), NULL);
	return st;
}

nam_status
txn_ledger_walk(struct txn_db *db, struct net_worker *w, net_addr anchor,
    bool (*fn)(void *arg, uint32_t entry, uint64_t word), void *arg)
{
	struct ledger l = ledger_of(db, w, anchor);
	uint64_t used, word[LOOK];
	unsigned k;
	nam_status st =
	    net_read1(w, net_plus(anchor, offsetof(struct txn_anchor, used)), &used, sizeof used, NULL);
	for (uint64_t i = 0; st == NAM_OK && i < used; i += k) {
		st = read_part(&l, i, used, word, &k);
		if (st == NAM_FULL)
			return NAM_OK; /* handed out and not used */
		for (unsigned m = 0; st == NAM_OK && m < k; m++)
			if (word[m] != 0 && !fn(arg, (uint32_t)(i + m), word[m]))
				return NAM_OK;
	}
	return st;
}

static bool
count(void *arg, uint32_t entry, uint64_t word)
{
	struct txn_memory *m = arg;
	(void)entry;
	*((word & TXN_LEDGER_INDEX) != 0 ? &m->index : &m->values) += NET_EXTENT;
	return true;
}

nam_status
txn_table_memory(struct txn *t, const struct txn_table *table, uint32_t chain, struct txn_memory *out)
{
	*out = (struct txn_memory){ .rows = TXN_ANCHOR_BYTES + (uint64_t)chain * NET_EXTENT };
	return txn_ledger_walk(t->tw->db, t->tw->w, table->anchor, count, out);
}

/* ---- in ---- */

/* CAS from 0 of k words into as many places. done[m]: the word is in. NAM_GONE: it may be. */
static nam_status
enter(struct ledger *l, unsigned k, const net_addr *place, const uint64_t *word, bool *done)
{
	struct net_op op[PART];
	struct net_batch b;
	net_batch_init(&b, l->w, op, PART, NULL);
	for (unsigned m = 0; m < k; m++)
		net_cas(&b, place[m], 0, word[m]);
	nam_status st = net_run(&b);
	for (unsigned m = 0; m < k; m++)
		done[m] = op[m].status == NAM_OK && op[m].seen == 0;
	return st;
}

/* Enters extents into entries that have been emptied, as many as are found soon. The extents
 * entered are swapped to the front: *in. */
static nam_status
enter_holes(struct ledger *l, struct txn_stock *stock, uint64_t used, unsigned n, net_addr *at,
    uint64_t *word, uint32_t *entry, unsigned *in, bool *none)
{
	uint64_t seen[LOOK], looked = 0;
	nam_status st = NAM_OK;
	uint64_t i = atomic_load_explicit(&stock->holes_at, memory_order_relaxed);
	for (unsigned looks = 0; st == NAM_OK && *in < n && looks < LOOKS; looks++) {
		unsigned k, want = 0;
		net_addr place[PART];
		uint32_t number[PART];
		bool done[PART] = { 0 };
		i = i < used ? i : 0;
		st = read_part(l, i, used, seen, &k);
		if (st == NAM_FULL) {
			i = 0;
			st = NAM_OK;
			continue;
		}
		unsigned m = 0;
		for (; st == NAM_OK && m < k && want < n - *in; m++)
			if (seen[m] == 0 && (st = place_of(l, i + m, false, &place[want])) == NAM_OK &&
			    place[want].bits != 0)
				number[want++] = (uint32_t)(i + m);
		if (st == NAM_OK && want > 0)
			st = enter(l, want, place, word + *in, done);
		for (unsigned x = 0, base = *in; st == NAM_OK && x < want; x++) {
			if (!done[x])
				continue;
			net_addr a = at[*in];
			uint64_t b = word[*in];
			at[*in] = at[base + x];
			word[*in] = word[base + x];
			at[base + x] = a;
			word[base + x] = b;
			entry[(*in)++] = number[x];
		}
		i += m;
		looked += m;
	}
	*none = looked >= used && *in == 0;
	atomic_store_explicit(&stock->holes_at, i, memory_order_relaxed);
	return st;
}

/* Enters n <= PART extents. NAM_GONE: some may be in. Another error: none is. */
static nam_status
enter_part(
    struct txn_stock *stock, struct net_worker *w, unsigned n, uint64_t whose, net_addr *at, uint32_t *entry)
{
	struct ledger l = ledger_of(stock->db, w, stock->anchor);
	uint64_t word[PART], used, holes, sweep = 0;
	unsigned in = 0;
	struct net_op op[3];
	struct net_batch b;
	net_batch_init(&b, w, op, 3, NULL);
	net_read(&b, net_plus(stock->anchor, offsetof(struct txn_anchor, sweep)), &sweep, 8);
	net_read(&b, net_plus(stock->anchor, offsetof(struct txn_anchor, used)), &used, 8);
	net_read(&b, net_plus(stock->anchor, offsetof(struct txn_anchor, holes)), &holes, 8);
	nam_status st = net_run(&b);
	/* Memory of a generation that is over belongs to a sweep, even if it is entered late. */
	if (st == NAM_OK && (whose & TXN_LEDGER_INDEX) == 0 && txn_generation(sweep) == txn_generation(whose))
		whose = sweep;
	for (unsigned m = 0; st == NAM_OK && m < n; m++)
		if ((word[m] = txn_ledger_entry(at[m].bits, whose)) == 0)
			st = NAM_FULL; /* an entry cannot hold an address beyond these */
	/* The count may be below zero after a crash; then it says nothing. */
	if (st == NAM_OK && holes <= used && holes > 0 && holes >= used / HOLES_WORTH) {
		bool none;
		uint64_t seen;
		st = enter_holes(&l, stock, used, n, at, word, entry, &in, &none);
		if (st == NAM_OK && none)
			st = net_cas1(w, net_plus(stock->anchor, offsetof(struct txn_anchor, holes)), holes,
			    0, &seen, NULL);
		else if (st == NAM_OK && in > 0)
			st = net_faa1(w, net_plus(stock->anchor, offsetof(struct txn_anchor, holes)),
			    -(uint64_t)in, &holes, NULL);
	}
	for (unsigned tries = 0; st == NAM_OK && in < n && tries < TRIES; tries++) {
		net_addr place[PART];
		bool done[PART] = { 0 };
		uint64_t i;
		unsigned k = n - in, from = in;
		st = net_faa1(w, net_plus(stock->anchor, offsetof(struct txn_anchor, used)), k, &i, NULL);
		for (unsigned m = 0; st == NAM_OK && m < k; m++)
			st = place_of(&l, i + m, true, &place[m]);
		if (st == NAM_OK)
			st = enter(&l, k, place, word + from, done);
		/* Another process that looked for holes may have taken our entry: take another. */
		for (unsigned m = 0; st == NAM_OK && m < k; m++) {
			if (!done[m])
				continue;
			net_addr a = at[in];
			uint64_t x = word[in];
			at[in] = at[from + m];
			word[in] = word[from + m];
			at[from + m] = a;
			word[from + m] = x;
			entry[in++] = (uint32_t)(i + m);
		}
	}
	if (st == NAM_OK && in < n)
		st = NAM_BUSY;
	for (unsigned m = 0; st != NAM_OK && st != NAM_GONE && m < in; m++) {
		net_addr place;
		uint64_t seen;
		nam_status out = place_of(&l, entry[m], false, &place);
		if (out == NAM_OK)
			out = net_cas1(w, place, word[m], 0, &seen, NULL);
		if (out == NAM_OK)
			net_faa1(
			    w, net_plus(stock->anchor, offsetof(struct txn_anchor, holes)), 1, &seen, NULL);
		else
			st = NAM_GONE;
	}
	return st;
}

nam_status
txn_extents_take(struct txn_stock *stock, struct net_worker *w, unsigned n, uint64_t whose, unsigned start,
    bool zeros, net_addr *out, uint32_t *entry)
{
	nam_status st = NAM_OK;
	uint32_t unasked[PART] = { 0 };
	unsigned got = 0;
	while (st == NAM_OK && got < n) {
		unsigned k = n - got < PART ? n - got : PART;
		st = txn_extents_any(stock->db, w, k, start++, zeros, out + got);
		if (st == NAM_FULL && stock->vital) {
			k = 1;
			st = txn_extent_kept(stock->db, w, start, out + got);
		}
		if (st != NAM_OK)
			break;
		st = enter_part(stock, w, k, whose, out + got, entry != NULL ? entry + got : unasked);
		/* In doubt: an entry may be there, and then a sweep finds that extent. */
		if (st != NAM_OK && st != NAM_GONE)
			net_extents_give(w, k, out + got);
		if (st == NAM_OK)
			got += k;
	}
	unsigned given;
	if (st != NAM_OK && got > 0)
		txn_extents_give(stock, w, got, out, entry, &given);
	return st;
}

nam_status
txn_extent_of_region(
    struct txn_stock *stock, struct net_worker *w, unsigned region, uint64_t whose, net_addr *out)
{
	uint32_t unasked;
	nam_status st = net_extent_take(w, region, 1, out);
	if (st != NAM_OK)
		return st;
	st = enter_part(stock, w, 1, whose, out, &unasked);
	/* In doubt: an entry may be there, and then the table's release finds that extent. */
	if (st != NAM_OK && st != NAM_GONE)
		net_extent_give(w, *out);
	return st;
}

/* ---- out ---- */

static int
by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Extents whose entry is not where the caller said. */
struct missing {
	uint64_t at[PART];
	uint32_t entry[PART];
	uint64_t word[PART];
	bool found[PART];
	unsigned n, left;
};

static bool
look_for(void *arg, uint32_t entry, uint64_t word)
{
	struct missing *miss = arg;
	uint64_t at = txn_ledger_extent(word);
	uint64_t *hit = bsearch(&at, miss->at, miss->n, sizeof *miss->at, by_address);
	if (hit != NULL && !miss->found[hit - miss->at]) {
		miss->found[hit - miss->at] = true;
		miss->entry[hit - miss->at] = entry;
		miss->word[hit - miss->at] = word;
		miss->left--;
	}
	return miss->left > 0;
}

/* Empties the entries of up to PART extents, and gives those extents back. */
static nam_status
give_part(struct ledger *l, unsigned n, const net_addr *at, const uint32_t *hint, unsigned *given)
{
	net_addr place[PART], out[PART];
	uint64_t word[PART], seen;
	uint32_t entry[PART];
	struct net_op op[PART];
	struct net_batch b;
	struct missing miss = { .n = 0 };
	unsigned k = 0;
	nam_status st = NAM_OK;
	net_batch_init(&b, l->w, op, PART, NULL);
	for (unsigned m = 0; st == NAM_OK && m < n; m++) {
		word[m] = 0;
		place[m].bits = 0;
		if (hint != NULL && (st = place_of(l, hint[m], false, &place[m])) == NAM_FULL)
			st = NAM_OK;
		if (st == NAM_OK && place[m].bits != 0)
			net_read(&b, place[m], &word[m], 8);
	}
	if (st == NAM_OK && b.n > 0)
		st = net_run(&b);
	for (unsigned m = 0; st == NAM_OK && m < n; m++) {
		if (word[m] != 0 && txn_ledger_extent(word[m]) == at[m].bits) {
			entry[k] = hint[m];
			word[k++] = word[m]; /* k <= m */
		} else {
			miss.at[miss.n++] = at[m].bits;
		}
	}
	if (st == NAM_OK && (miss.left = miss.n) > 0) {
		qsort(miss.at, miss.n, sizeof *miss.at, by_address);
		st = txn_ledger_walk(l->db, l->w, l->anchor, look_for, &miss);
		for (unsigned m = 0; m < miss.n; m++)
			if (miss.found[m]) {
				entry[k] = miss.entry[m];
				word[k++] = miss.word[m];
			}
	}
	if (st != NAM_OK || k == 0)
		return st;
	net_batch_init(&b, l->w, op, PART, NULL);
	for (unsigned m = 0; st == NAM_OK && m < k; m++)
		if ((st = place_of(l, entry[m], false, &place[m])) == NAM_OK)
			net_cas(&b, place[m], word[m], 0);
	if (st != NAM_OK)
		return st;
	st = net_run(&b);
	unsigned empty = 0;
	for (unsigned m = 0; m < k; m++)
		if (op[m].status == NAM_OK && op[m].seen == word[m])
			out[empty++].bits = txn_ledger_extent(word[m]);
	if (empty == 0)
		return st;
	nam_status back = net_extents_give(l->w, empty, out);
	if (back == NAM_OK)
		*given += empty;
	net_faa1(l->w, net_plus(l->anchor, offsetof(struct txn_anchor, holes)), empty, &seen, NULL);
	return st != NAM_OK ? st : back;
}

nam_status
txn_extents_give(struct txn_stock *stock, struct net_worker *w, unsigned n, const net_addr *at,
    const uint32_t *entry, unsigned *given)
{
	struct ledger l = ledger_of(stock->db, w, stock->anchor);
	nam_status worst = NAM_OK;
	*given = 0;
	for (unsigned i = 0; i < n; i += PART) {
		nam_status st = give_part(
		    &l, n - i < PART ? n - i : PART, at + i, entry != NULL ? entry + i : NULL, given);
		worst = worst == NAM_OK ? st : worst;
	}
	return worst;
}

/* ---- all of it ---- */

struct old {
	uint64_t from, to, **item;
	uint32_t *n, *cap;
	bool no_memory;
};

static bool
add_old(void *arg, uint32_t entry, uint64_t word)
{
	struct old *o = arg;
	(void)entry;
	if ((word & TXN_LEDGER_INDEX) || txn_ledger_sweep(word) < o->from || txn_ledger_sweep(word) >= o->to)
		return true;
	o->no_memory = !txn_grow((void **)o->item, *o->n, o->cap, sizeof **o->item);
	if (!o->no_memory)
		(*o->item)[(*o->n)++] = txn_ledger_extent(word);
	return !o->no_memory;
}

nam_status
txn_ledger_taken(struct txn_stock *stock, struct net_worker *w, uint64_t from, uint64_t to, uint64_t **old,
    uint32_t *n, uint32_t *cap)
{
	struct old o = { .from = from, .to = to, .item = old, .n = n, .cap = cap };
	nam_status st = txn_ledger_walk(stock->db, w, stock->anchor, add_old, &o);
	if (*n > 0)
		qsort(*old, *n, sizeof **old, by_address);
	return o.no_memory ? NAM_NOMEM : st;
}

struct release {
	struct txn_worker *tw;
	unsigned *left;
	struct ledger l;
	uint32_t entry[PART];
	uint64_t word[PART];
	unsigned n;
	nam_status st;
};

/* An entry is emptied before its extent goes back: so a process that has to repeat the release
 * gives nothing back twice. */
static void
release_part(struct release *r)
{
	struct net_op op[PART];
	struct net_batch b;
	net_addr place, out[PART];
	unsigned n = 0;
	net_batch_init(&b, r->l.w, op, PART, NULL);
	for (unsigned m = 0; r->st == NAM_OK && m < r->n; m++)
		if ((r->st = place_of(&r->l, r->entry[m], false, &place)) == NAM_OK)
			net_cas(&b, place, r->word[m], 0);
	if (r->st != NAM_OK)
		return;
	r->st = net_run(&b);
	for (unsigned m = 0; m < r->n; m++)
		if (op[m].status == NAM_OK && op[m].seen == r->word[m])
			out[n++].bits = txn_ledger_extent(r->word[m]);
	/* If a node is lost for all, its extents cannot go back; those of the other nodes do. */
	unsigned there = 0;
	for (unsigned m = 0; m < n; m++)
		if (!txn_node_ended(r->tw, out[m]))
			out[there++] = out[m];
	if (there > 0)
		(void)net_extents_give(r->l.w, there, out);
	*r->left -= *r->left < r->n ? *r->left : r->n;
	r->n = 0;
	txn_give_way(r->tw);
}

static bool
release_one(void *arg, uint32_t entry, uint64_t word)
{
	struct release *r = arg;
	r->entry[r->n] = entry;
	r->word[r->n++] = word;
	if (r->n == PART)
		release_part(r);
	return r->st == NAM_OK && *r->left > 0;
}

/* Empties a word that names an extent, and gives the extent back. */
static nam_status
release_named(struct net_worker *w, net_addr word)
{
	static const uint64_t none;
	uint64_t bits;
	nam_status st = net_read1(w, word, &bits, 8, NULL);
	if (st == NAM_OK && bits != 0 && (st = net_write1(w, word, &none, 8, NULL)) == NAM_OK)
		(void)net_extent_give(w, (net_addr){ bits });
	return st;
}

nam_status
txn_ledger_release(struct txn_worker *tw, net_addr anchor, unsigned *left)
{
	struct net_worker *w = tw->w;
	struct release r = { .tw = tw, .left = left, .l = ledger_of(tw->db, w, anchor) };
	uint64_t used = 0;
	nam_status st = txn_ledger_walk(tw->db, w, anchor, release_one, &r);
	if (st == NAM_OK && r.st == NAM_OK && r.n > 0)
		release_part(&r);
	st = st == NAM_OK ? r.st : st;
	if (st == NAM_OK && *left == 0)
		return NAM_BUSY;
	if (st == NAM_OK)
		st = net_read1(w, net_plus(anchor, offsetof(struct txn_anchor, used)), &used, 8, NULL);
	uint64_t pages = used > TXN_LEDGER_INLINE ? (used - TXN_LEDGER_INLINE - 1) / TXN_LEDGER_PAGE + 1 : 0;
	for (uint64_t i = 0; st == NAM_OK && i < pages && i < TXN_LEDGER_PAGES; i++) {
		net_addr word;
		st = word_of_page(&r.l, i, false, &word);
		if (st == NAM_OK && word.bits != 0)
			st = release_named(w, word);
	}
	for (unsigned i = 0; st == NAM_OK && pages > TXN_LEDGER_DIRECT && i < TXN_LEDGER_LISTS; i++)
		st = release_named(w, net_plus(anchor, TXN_ANCHOR_LISTS + 8 * i));
	return st;
}
