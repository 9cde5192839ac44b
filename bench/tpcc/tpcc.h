/*
 * tpcc.h -- TPC-C on a compute node: rows, parameters, and what a client draws.
 *
 * The rows, byte by byte; numbers are little-endian, money is whole cents, a tax or a discount is
 * ten-thousandths. A key is the first `key` bytes of its row. 0 stands for NULL.
 *
 *   warehouse   0 w  8 ytd:8  16 tax  20 name:10  30 street:40  70 city:20  90 state:2  92 zip:9
 *   district    0 w  4 d  8 ytd:8  16 next_o  20 tax  24 name:10  34 street:40  74 city:20
 *               94 state:2  96 zip:9
 *   customer    0 w  4 d  8 c  12 discount  16 balance:8  24 ytd_payment:8  32 payment_cnt
 *               36 delivery_cnt  40 since:8  48 credit_lim:8  56 last:16  72 first:16  88 middle:2
 *               90 credit:2  92 phone:16  108 street:40  148 city:20  168 state:2  170 zip:9
 *               180 data:500
 *   history     0 c_w  4 c_d  8 c  12 w  16 d  24 amount:8  32 date:8  40 data:24   (no key)
 *   new_order   0 w  4 d  8 o
 *   orders      0 w  4 d  8 o  12 c  16 entry:8  24 carrier  28 ol_cnt  32 all_local
 *   order_line  0 w  4 d  8 o  12 number  16 item  20 supply_w  24 delivery:8  32 amount:8
 *               40 quantity  44 dist:24
 *   item        0 i  4 im  8 price:8  16 name:24  40 data:50
 *   stock       0 w  4 i  8 quantity  12 ytd  16 order_cnt  20 remote_cnt  24 dist:10x24
 *               264 data:50
 *   newest      0 w  4 d  8 c  12 o         (an index: the newest order of a customer)
 *
 * Where no length is given it is 4. All tables but history are found by a hash index on their keys,
 * customers also by an ordered index on (w, d, last, first). `newest` is what an index on orders by
 * (w, d, c, o DESC) would be asked for; a New-Order keeps it. The oldest new_order of a district is
 * found without an index (bench/tpcc/run.c).
 */
#ifndef NAM_BENCH_TPCC_TPCC_H
#define NAM_BENCH_TPCC_TPCC_H

#include <base/rng.h>
#include <bench/sim/cluster.h>
#include <bench/tables.h>
#include <index/tree.h>

#include <assert.h>
#include <stddef.h>

enum {
	TPCC_DISTRICTS = 10,
	TPCC_LINES_MIN = 5,
	TPCC_LINES = 15,
	TPCC_CONDITIONS = 12,
	TPCC_NAMES = 1000,      /* last names that there are */
	TPCC_NAME_WORDS = 5,    /* of a key of customers by name */
	TPCC_RECENT = 20,       /* orders that Stock-Level looks at */
	TPCC_WAREHOUSES = 1000, /* at most */
};

struct tpcc_address {
	char street[40], city[20], state[2], zip[9];
};
struct tpcc_warehouse {
	int32_t w, unused;
	int64_t ytd;
	int32_t tax;
	char name[10];
	struct tpcc_address at;
};
struct tpcc_district {
	int32_t w, d;
	int64_t ytd;
	int32_t next_o, tax;
	char name[10];
	struct tpcc_address at;
};
struct tpcc_customer {
	int32_t w, d, c, discount;
	int64_t balance, ytd_payment;
	int32_t payment_cnt, delivery_cnt;
	int64_t since, credit_lim;
	char last[16], first[16], middle[2], credit[2], phone[16];
	struct tpcc_address at;
	char unused, data[500];
};
struct tpcc_history {
	int32_t c_w, c_d, c, w, d, unused;
	int64_t amount, date;
	char data[24];
};
struct tpcc_new_order {
	int32_t w, d, o, unused;
};
struct tpcc_orders {
	int32_t w, d, o, c;
	int64_t entry;
	int32_t carrier, ol_cnt, all_local, unused;
};
struct tpcc_line {
	int32_t w, d, o, number, item, supply_w;
	int64_t delivery, amount;
	int32_t quantity;
	char dist[24], unused[4];
};
struct tpcc_item {
	int32_t i, im;
	int64_t price;
	char name[24], data[50];
};
struct tpcc_stock {
	int32_t w, i, quantity, ytd, order_cnt, remote_cnt;
	char dist[TPCC_DISTRICTS][24], data[50];
};
struct tpcc_newest {
	int32_t w, d, c, o;
};
static_assert(offsetof(struct tpcc_warehouse, at) == 30, "the drawing above");
static_assert(offsetof(struct tpcc_district, at) == 34, "the drawing above");
static_assert(offsetof(struct tpcc_customer, last) == 56, "the drawing above");
static_assert(offsetof(struct tpcc_customer, data) == 180, "the drawing above");
static_assert(offsetof(struct tpcc_history, data) == 40, "the drawing above");
static_assert(offsetof(struct tpcc_orders, all_local) == 32, "the drawing above");
static_assert(offsetof(struct tpcc_line, dist) == 44, "the drawing above");
static_assert(offsetof(struct tpcc_item, data) == 40, "the drawing above");
static_assert(offsetof(struct tpcc_stock, data) == 264, "the drawing above");

enum tpcc_table {
	TPCC_WAREHOUSE,
	TPCC_DISTRICT,
	TPCC_CUSTOMER,
	TPCC_HISTORY,
	TPCC_NEW_ORDER,
	TPCC_ORDERS,
	TPCC_LINE,
	TPCC_ITEM,
	TPCC_STOCK,
	TPCC_NEWEST,
	TPCC_TABLES
};
extern const char *const bench_tpcc_table_names[TPCC_TABLES];

struct tpcc_params {
	unsigned warehouses, customers, items; /* customers: of a district */
	uint64_t seed;
	double pause_ms; /* of a client between two transactions */
	double seconds;  /* of all runs together: how much memory embedded nodes have */
};
extern struct tpcc_params bench_tpcc_params;

/* ---- what a client draws (draw.c) ------------------------------------------------------- */

enum tpcc_what { TPCC_NEW, TPCC_PAYMENT, TPCC_STATUS, TPCC_DELIVERY, TPCC_LEVEL, TPCC_KINDS };
extern const char *const bench_tpcc_names[TPCC_KINDS];
extern const unsigned bench_tpcc_percent[TPCC_KINDS];

/* One transaction, drawn before it begins. */
struct tpcc_order {
	enum tpcc_what what;
	int32_t w, d;
	/* New-Order: c; Payment and Order-Status: c, or the last name where by_name */
	int32_t c_w, c_d, c;
	bool by_name;
	char last[16];
	int64_t amount; /* Payment */
	int32_t lines, carrier, threshold;
	bool unused_item; /* the last item does not exist */
	struct {
		int32_t item, supply_w, quantity;
	} line[TPCC_LINES];
};
/* home: the warehouse of the client, 0 = any one. */
void bench_tpcc_draw(struct tpcc_order *o, struct nam_rng *r, const struct tpcc_params *p, int32_t home);
/* A last name of 16 bytes, filled up with zeros; number < TPCC_NAMES. */
void bench_tpcc_last(char out[16], unsigned number);
/* The specification's NURand(a, x, y) with constant c. */
int32_t bench_tpcc_nurand(struct nam_rng *r, int32_t a, int32_t c, int32_t x, int32_t y);

/* ---- the population (rows.c) ------------------------------------------------------------ */

/* Calls each() for every row of a part of the population, table by table. Not NAM_OK ends it. */
typedef nam_status tpcc_each(void *arg, enum tpcc_table table, const void *row);
/* Items from to to - 1; and of a warehouse: its row, its stock of items, a district's rows. */
nam_status bench_tpcc_items(
    const struct tpcc_params *p, int32_t from, int32_t to, tpcc_each *each, void *arg);
nam_status bench_tpcc_stock(
    const struct tpcc_params *p, int32_t w, int32_t from, int32_t to, tpcc_each *each, void *arg);
nam_status bench_tpcc_warehouse(const struct tpcc_params *p, int32_t w, tpcc_each *each, void *arg);
nam_status bench_tpcc_district(const struct tpcc_params *p, int32_t w, int32_t d, tpcc_each *each, void *arg);
/* The population in parts that can be made one beside the other. */
unsigned bench_tpcc_parts(const struct tpcc_params *p);
nam_status bench_tpcc_part(const struct tpcc_params *p, unsigned part, tpcc_each *each, void *arg);

/* ---- a process's part (tables.c) -------------------------------------------------------- */

struct tpcc_side {
	const struct tpcc_params *p;
	struct txn_table table[TPCC_TABLES];
	struct txn_order by_name;
	struct net_counts *counts; /* one a client */
	uint64_t seed;
	/* Of each district, hints: the next order's number, and the oldest order that was not
	 * delivered. */
	_Atomic int32_t next_o[TPCC_WAREHOUSES * TPCC_DISTRICTS], oldest[TPCC_WAREHOUSES * TPCC_DISTRICTS];
	atomic_bool full; /* a transaction found no memory: all clients stop */
	_Atomic uint64_t ended[TPCC_KINDS], trips[TPCC_KINDS]; /* committed; round trips of them */
	_Atomic uint64_t new_orders;                           /* committed in the runs measured */
	_Atomic uint64_t loaded;                               /* rows */
	uint64_t failed; /* a bit for each condition that did not hold: 1 << its number */
};
extern const uint32_t bench_tpcc_row_bytes[TPCC_TABLES], bench_tpcc_key_bytes[TPCC_TABLES];
/* Makes and opens the tables; opens those that another process has made: id and anchor of each are
 * set. */
nam_status bench_tpcc_make(struct tpcc_side *s, const struct cn_place *pl);
nam_status bench_tpcc_open(struct tpcc_side *s, const struct cn_place *pl);
void bench_tpcc_drop(struct tpcc_side *s, const struct cn_place *pl);
/* Inserts, or reads, a part of the population. */
nam_status bench_tpcc_load(struct tpcc_side *s, const struct cn_place *pl, unsigned part, bool insert);
/* home.c: tells other processes where the tables lie; finds them, and the size of the
 * population, NAM_ABSENT: none are told of; tells of them no more. */
nam_status bench_tpcc_tell(const struct tpcc_side *s, const struct cn_place *pl);
nam_status bench_tpcc_find(struct tpcc_side *s, const struct cn_place *pl);
nam_status bench_tpcc_forget(const struct cn_place *pl);
struct txn_get bench_tpcc_get(struct tpcc_side *s, enum tpcc_table table, const void *key);
struct txn_put bench_tpcc_put(struct tpcc_side *s, enum tpcc_table table, const void *row);
/* The bounds of the customers of that name in the ordered index. */
void bench_tpcc_name_range(
    int32_t w, int32_t d, const char last[16], uint64_t low[TPCC_NAME_WORDS], uint64_t high[TPCC_NAME_WORDS]);

/* Bytes of an embedded or simulated cluster, and entries of a pointer cache. */
uint64_t bench_tpcc_bytes(const void *params);
size_t bench_tpcc_entries(const void *params);

/* run.c: a client, until *stop. */
void bench_tpcc_client(
    void *side, const struct cn_place *pl, unsigned number, struct bench_slice *out, const atomic_bool *stop);

/* loop.c: what clients of both interfaces do: draw, carry out, count. */
struct tpcc_done {
	bool refused;
	uint64_t aborts, round_trips; /* round_trips: of the attempt that committed */
};
struct tpcc_hand {
	void *arg;
	/* Until it has committed or was refused; NAM_CONFLICT: *stop. NAM_FULL: no memory. Any
	 * other status has been told. */
	nam_status (*carry_out)(void *arg, const struct tpcc_order *o, int64_t now, const atomic_bool *stop,
	    struct tpcc_done *done);
};
void bench_tpcc_loop(struct tpcc_side *s, const struct cn_place *pl, unsigned number, struct bench_slice *out,
    const atomic_bool *stop, const struct tpcc_hand *hand);
/* Waits a little after the conflict number `tries` in a row. */
void bench_tpcc_pause(const struct cn_place *pl, unsigned tries, struct net_backoff *pause);
/* One transaction, until it has committed or *refused. round_trips: of the attempt that did. */
nam_status bench_tpcc_once(struct tpcc_side *s, const struct cn_place *pl, const struct tpcc_order *o,
    bool *refused, uint64_t *round_trips);

/* check.c: the twelve conditions of clause 3.3.2, and whether nothing is missing or locked.
 * From outside, by scans. The number of what does not hold; side->failed names the conditions. */
uint64_t bench_tpcc_check(void *const *side, unsigned machines, const struct cn_place *pl);
extern const char *const bench_tpcc_conditions[TPCC_CONDITIONS];
/* The judge, for rows from elsewhere. Calls see(to, row) for all rows of a table; of row, what the
 * judge looks at must be right. What could not be read. */
typedef uint64_t tpcc_rows(
    void *arg, enum tpcc_table table, void (*see)(void *to, const void *row), void *to);
/* The number of what does not hold, without locks. */
uint64_t bench_tpcc_judge(struct tpcc_side *s, tpcc_rows *rows, void *arg);

/* The two ways into namdb. What another process has made is found by open: NAM_ABSENT: nothing. */
struct tpcc_ops {
	nam_status (*make)(struct tpcc_side *s, const struct cn_place *pl);
	nam_status (*open)(struct tpcc_side *s, const struct cn_place *pl);
	nam_status (*load)(struct tpcc_side *s, const struct cn_place *pl, unsigned part, bool insert);
	/* All parts are loaded. tell: other processes shall find the tables. */
	nam_status (*loaded)(struct tpcc_side *s, const struct cn_place *pl, bool tell);
	void (*client)(void *side, const struct cn_place *pl, unsigned number, struct bench_slice *out,
	    const atomic_bool *stop);
	uint64_t (*check)(void *const *side, unsigned machines, const struct cn_place *pl);
	nam_status (*drop)(struct tpcc_side *s, const struct cn_place *pl, bool told);
	uint64_t (*bytes)(const void *params);
};
extern const struct tpcc_ops bench_tpcc_native, bench_tpcc_sql;

/* sql.c, sql_tables.c: as the native ones. Tables are called tpcc_warehouse and so on. */
void bench_tpcc_sql_client(
    void *side, const struct cn_place *pl, unsigned number, struct bench_slice *out, const atomic_bool *stop);
nam_status bench_tpcc_sql_once(struct tpcc_side *s, const struct cn_place *pl, const struct tpcc_order *o,
    bool *refused, uint64_t *round_trips);
/* A session, NULL: none can be opened. A statement or several of them: false, and it is told,
 * unless the state is `quiet`. rows may be NULL. */
struct sql_session *bench_tpcc_session(const struct cn_place *pl);
bool bench_tpcc_say(struct sql_session *s, const char *sql,
    bool (*rows)(void *, const struct sql_batch_view *), void *arg, const char *quiet);
/* sql_check.c: the same judge over the rows that SELECTs show. */
uint64_t bench_tpcc_sql_check(void *const *side, unsigned machines, const struct cn_place *pl);

extern const struct bench_sim_user bench_tpcc_user;

/* sqlite.c: the same transactions on SQLite in memory. */
struct tpcc_sqlite;
struct tpcc_sqlite *bench_tpcc_sqlite_open(const struct tpcc_params *p);
/* Transactions that committed, a second, and *commits. round: of which run. */
double bench_tpcc_sqlite_run(struct tpcc_sqlite *s, double seconds, unsigned round, uint64_t *commits);
/* How many of the conditions do not hold. */
uint64_t bench_tpcc_sqlite_check(struct tpcc_sqlite *s);
void bench_tpcc_sqlite_close(struct tpcc_sqlite *s);

#endif
