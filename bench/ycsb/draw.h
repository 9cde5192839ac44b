/*
 * draw.h -- what a client of YCSB asks for next.
 *
 * Steps are drawn before the clock runs, because a draw of zipf takes as long as a lookup. What
 * depends on the moment is not drawn: which key is the latest, and which is new.
 */
#ifndef NAM_BENCH_YCSB_DRAW_H
#define NAM_BENCH_YCSB_DRAW_H

#include "keys.h"

#include <base/rng.h>

#include <stdatomic.h>
#include <stdbool.h>

enum ycsb_op { YCSB_READ, YCSB_UPDATE, YCSB_INSERT, YCSB_SCAN, YCSB_RMW, YCSB_OPS };
extern const char *const bench_ycsb_op_names[YCSB_OPS];
enum ycsb_pick { YCSB_UNIFORM, YCSB_ZIPF, YCSB_LATEST, YCSB_PICKS };
extern const char *const bench_ycsb_pick_names[YCSB_PICKS];

enum { YCSB_WORKLOADS = 6, YCSB_SCAN_MAX = 100 };
/* Of each hundred operations of workload 'a' + i. */
extern const unsigned bench_ycsb_percent[YCSB_WORKLOADS][YCSB_OPS];

/*
 * Numbers 0 to n - 1, the i-th with probability 1 / (i + 1)^theta / zeta(n), nearly: "Quickly
 * Generating Billion-Record Synthetic Databases" (Gray et al., 1994), as YCSB's ZipfianGenerator
 * has it. The first two are exact, the others lie on a curve.
 */
struct ycsb_zipf {
	uint64_t n;
	double theta, zeta, alpha, eta, second;
};
#define YCSB_THETA 0.99
void bench_zipf_init(struct ycsb_zipf *z, uint64_t n, double theta);
uint64_t bench_zipf_next(const struct ycsb_zipf *z, struct nam_rng *r);
/* The sum of i^-theta for i = 1 to n; 0 < theta < 1. */
double bench_zipf_zeta(uint64_t n, double theta);
/* YCSB's scrambled zipf: of ten thousand million numbers, hashed to n. */
enum { YCSB_SCRAMBLED_ITEMS_GIGA = 10 };
uint64_t bench_zipf_scrambled(const struct ycsb_zipf *z, struct nam_rng *r, uint64_t n);

struct ycsb_step {
	uint64_t at; /* a key; with YCSB_LATEST how many items before the latest one; INSERT: 0 */
	uint8_t op;  /* enum ycsb_op */
	uint8_t len; /* keys of a SCAN */
};

struct ycsb_drawing {
	const struct ycsb_keys *keys;
	unsigned workload; /* 0 = A */
	enum ycsb_pick pick;
	struct ycsb_zipf zipf; /* set by bench_draw_init */
};
/* items: keys that there are. */
void bench_draw_init(struct ycsb_drawing *d, const struct ycsb_keys *keys, unsigned workload,
    enum ycsb_pick pick, uint64_t items);
void bench_draw(const struct ycsb_drawing *d, struct nam_rng *r, struct ycsb_step *out, unsigned n);

/*
 * Items in the order in which they came, shared by all clients. An item is there when its insert
 * and those of all items before it have been committed: YCSB's AcknowledgedCounterGenerator.
 */
enum { YCSB_WINDOW = 1 << 16 }; /* inserts under way, at most */
struct ycsb_items {
	_Atomic uint64_t next, there;
	_Atomic uint8_t done[YCSB_WINDOW];
	atomic_flag busy; /* moves `there` */
};
void bench_items_init(struct ycsb_items *s, uint64_t n);
/* A number for a new item. */
uint64_t bench_items_take(struct ycsb_items *s);
void bench_items_done(struct ycsb_items *s, uint64_t item);
/* The item that many before the latest one. */
uint64_t bench_items_before(struct ycsb_items *s, uint64_t back);

/*
 * The value that belongs to a key. Its first word says so, and how often it was written; the
 * others follow from it.
 */
void bench_value_fill(void *value, uint32_t bytes, uint64_t key, uint32_t version);
/* True if it is one of this key, whole as far as its ends show. */
bool bench_value_good(const void *value, uint32_t bytes, uint64_t key);
uint32_t bench_value_version(const void *value);

#endif
