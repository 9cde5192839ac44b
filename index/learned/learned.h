/*
 * learned.h -- the learned cache of an ordered index: sub-models that guess the leaf of a key,
 * their training, and the cache of them that the workers of a process share.
 *
 * Pure: no I/O, no trees. The server half of a tree trains over its leaves and sends pieces
 * (learned_format.h); the client half puts them into its cache, asks the cache for leaves, READs
 * these and judges them. A guess is a hint (L4).
 *
 * Keys are W words, compared as numbers, the first one first. A leaf is named by its offset / 64
 * in its region, which is never 0.
 */
#ifndef NAM_INDEX_LEARNED_H
#define NAM_INDEX_LEARNED_H

#include <base/status.h>
#include <index/learned/learned_format.h>

#include <stdbool.h>

/* ---- training (the server's side) -------------------------------------------------- */

/* A leaf and its low fence, (key, value). key: W words, borrowed until the next call. */
struct idx_point {
	const uint64_t *key;
	uint64_t value, leaf;
};
/* The leaves of a partition in order. Neither call may fail; the leaves do not change during a
 * training. */
struct idx_fences {
	/* The leaf that covers (key, value): the last one whose low fence is not greater. */
	void (*seek)(void *arg, const uint64_t *key, uint64_t value, struct idx_point *out);
	/* The leaf behind the one that the last call gave. False: there is none. */
	bool (*next)(void *arg, struct idx_point *out);
	void *arg;
};

/* A sub-model with its table. */
struct idx_sub {
	unsigned words;
	bool last; /* no end */
	uint64_t base[IDX_LKEY_WORDS], end[IDX_LKEY_WORDS];
	struct idx_sub_head head;
	uint64_t table[2 * IDX_SUB_LEAVES_MAX];
	uint64_t over[4]; /* may be read with the table */
};

/*
 * Trains the first sub-model of the range [base, end); end NULL = no end. out->end tells how far
 * it goes: to end, unless there are more leaves than one sub-model takes. Looks at twice
 * IDX_SUB_LEAVES leaves at most. NAM_NOMEM.
 */
nam_status idx_sub_train(struct idx_sub *out, unsigned words, const struct idx_fences *leaves,
    const uint64_t *base, const uint64_t *end);

/* The piece of a sub-model; returns its bytes, at most IDX_PIECE_MAX. */
uint32_t idx_sub_encode(const struct idx_sub *s, void *out);
/*
 * The sub-model of a piece that comes off a wire: every length and value is checked. leaf_max: the
 * region's leaves lie below. NAM_CORRUPT: it is none. *used: its bytes, when others may follow.
 */
nam_status idx_sub_decode(
    struct idx_sub *out, unsigned words, uint64_t leaf_max, const void *bytes, uint32_t len, uint32_t *used);

/* The models of one partition, kept by its server: all ranges with their pieces. One thread. */
struct idx_lserver;
/* NULL = no memory. */
struct idx_lserver *idx_lserver_open(unsigned words, const struct idx_fences *leaves);
void idx_lserver_close(struct idx_lserver *m);
/* A leaf of that key has split: its sub-model is stale. */
void idx_lserver_stale(struct idx_lserver *m, const uint64_t *key);
/* The leaf that began at key `was` begins at low now, those between are none: the ranges that lay
 * between are one with the range of low, which is stale, as is that of `was`. */
void idx_lserver_joined(struct idx_lserver *m, const uint64_t *low, const uint64_t *was);
/* Trains one sub-model, if one is stale or was never trained: for an idle hook. Returns whether it
 * did something. */
bool idx_lserver_step(struct idx_lserver *m);
/* The piece for a key, trained on the spot if it is stale or there is none. Borrowed until the
 * next call. NULL: no memory. */
const void *idx_lserver_fresh(struct idx_lserver *m, const uint64_t *key, uint32_t *bytes);
/* Copies pieces, from the one that covers key on, as many as fit and are trained; up to `train`
 * more it trains. *next: the key to go on with (W words), *more: whether there is one. Returns the
 * bytes: 0 if not even one fits. */
uint32_t idx_lserver_copy(struct idx_lserver *m, const uint64_t *key, unsigned train, void *out, uint32_t cap,
    uint64_t *next, bool *more);

/* So many so far. */
uint64_t idx_lserver_trainings(const struct idx_lserver *m);

struct idx_lserver_shape {
	uint64_t ranges, trained, stale; /* ranges; with a sub-model; to be trained (again) */
	uint64_t trainings, cuts;        /* so far; cuts: a range became two */
	uint64_t model_bytes, table_bytes, leaves, wide;
};
void idx_lserver_shape(const struct idx_lserver *m, struct idx_lserver_shape *out);

/* ---- guessing (the client's side) -------------------------------------------------- */

enum { IDX_GUESS_MAX = 4 };

/* The leaves that can hold a key, in their order. */
struct idx_guess {
	bool known;    /* false: the cache has no sub-model for the key */
	bool more;     /* there are more: go on to the right of the first */
	uint8_t n;     /* of leaf[], at least 1 */
	uint8_t first; /* the number of leaf[0] in its sub-model's table */
	uint64_t leaf[IDX_GUESS_MAX];
};

void idx_sub_guess(const struct idx_sub *s, const uint64_t *key, struct idx_guess *out);

/* Of one partition, shared by all workers of a process. */
struct idx_lcache;
struct idx_lcache *idx_lcache_open(unsigned words, uint64_t leaf_max); /* NULL = no memory */
void idx_lcache_close(struct idx_lcache *c);
/* Guesses for n keys of W words each, one behind the other. No lock, no I/O; any thread. */
void idx_lcache_guess(struct idx_lcache *c, const uint64_t *keys, unsigned n, struct idx_guess *out);
/* The same where key i is at keys[i], and in the cache c[i]. */
void idx_lcache_guess_many(
    struct idx_lcache *const *c, const uint64_t *const *keys, unsigned n, struct idx_guess *out);
/*
 * Leaves in a row, for scans, at most n: the one that can hold (key, value), and those behind it,
 * or before it if descending. Returns how many; fewer: the cache knows no more, there are equal
 * keys, or it is the end.
 */
unsigned idx_lcache_run(
    struct idx_lcache *c, const uint64_t *key, uint64_t value, bool descending, uint64_t *leaf, unsigned n);
/* Puts the pieces of an answer in; each replaces what the cache had for its range. NAM_CORRUPT: a
 * piece is none, those before it are in; NAM_NOMEM. Any thread. */
nam_status idx_lcache_put(struct idx_lcache *c, const void *pieces, uint32_t len);
/* Forgets the sub-model of a key, or all of them. */
void idx_lcache_drop(struct idx_lcache *c, const uint64_t *key);
void idx_lcache_clear(struct idx_lcache *c);

struct idx_lcache_shape {
	uint64_t ranges, known;            /* known: with a sub-model */
	uint64_t model_bytes, table_bytes; /* all the cache has is one or the other */
	uint64_t puts, swaps;              /* pieces put; without a change of ranges */
	unsigned error;                    /* at most: leaves from a guess to the key's leaf */
};
void idx_lcache_shape(struct idx_lcache *c, struct idx_lcache_shape *out);

#endif
