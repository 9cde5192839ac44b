/*
 * tpch.h -- TPC-H as its specification (revision 3) says it: rows (§4.2), questions
 * (§2.4). Inside of bench.
 *
 * A row is a function of the seed, the table and its number: any part of the data can be made
 * alone, in any order.
 */
#ifndef NAM_BENCH_TPCH_TPCH_H
#define NAM_BENCH_TPCH_TPCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tpch_table {
	TPCH_REGION,
	TPCH_NATION,
	TPCH_SUPPLIER,
	TPCH_PART,
	TPCH_PARTSUPP,
	TPCH_CUSTOMER,
	TPCH_ORDERS,
	TPCH_LINEITEM,
	TPCH_TABLES
};

enum {
	TPCH_SCALE_MIN = 1, /* hundredths; below, a part's four suppliers would not be four */
	TPCH_SCALE_MAX = 10000,
	TPCH_LINES_MAX = 7,     /* of an order, and of an item */
	TPCH_ITEM_BYTES = 4096, /* all lines of an item */
	TPCH_QUERIES = 22,
	TPCH_LOUD_MAX = 1000, /* suppliers whose comments tell of customers */
};
#define TPCH_POOL_BYTES (UINT64_C(300) << 20) /* §4.2.2.10 */

/* The definition of a table, and how it is found in both databases. */
struct tpch_definition {
	const char *name, *columns, *key;
	const char *index[3]; /* columns of foreign keys, for a peer that has indexes */
};
extern const struct tpch_definition tpch_definitions[TPCH_TABLES];

/* ---- text.c ---- */

struct tpch_dice {
	uint64_t state;
};
struct tpch_dice tpch_dice_of(uint64_t seed, uint64_t stream, uint64_t number);
/* low..high, each as likely as the others. */
int64_t tpch_roll(struct tpch_dice *d, int64_t low, int64_t high);

struct tpch_list {
	const char *const *word;
	unsigned n;
};
extern const struct tpch_list tpch_colors, tpch_instructions, tpch_modes, tpch_segments, tpch_priorities,
    tpch_regions, tpch_nations, tpch_containers[2], tpch_types[3];
extern const uint8_t tpch_region_of[];
const char *tpch_word(struct tpch_dice *d, const struct tpch_list *l);
/* Fills all of it with sentences of the grammar of §4.2.2.14; the last one is cut. */
void tpch_sentences(uint64_t seed, char *pool, size_t len);

/* ---- rows.c ---- */

struct tpch {
	unsigned scale; /* hundredths */
	uint64_t seed;
	char *pool;
	size_t pool_len;
	int64_t suppliers, parts, customers, orders;
	int64_t loud[TPCH_LOUD_MAX]; /* the first half complains, the second recommends */
	unsigned louds;
};
/*
 * pool_len: TPCH_POOL_BYTES, or less where the spread of comments does not matter. False if there
 * is no memory.
 */
bool tpch_open(struct tpch *g, unsigned scale, uint64_t seed, size_t pool_len);
void tpch_close(struct tpch *g);
/* Items of a table: rows, but of lineitem and orders it is the orders, of partsupp the parts. */
int64_t tpch_items(const struct tpch *g, enum tpch_table t);
/*
 * The rows of item i (0..) as lines with | between values, for COPY. into: TPCH_ITEM_BYTES.
 * Answers bytes and rows.
 */
size_t tpch_item(const struct tpch *g, enum tpch_table t, int64_t i, char *into, unsigned *rows);

/* ---- queries.c: with the parameters of validation (§2.4.x.3) ---- */

extern const char *const tpch_queries[TPCH_QUERIES];

#endif
