/* tpcw.h -- parameters and rows of the checkout bench. */
#ifndef NAM_BENCH_TPCW_TPCW_H
#define NAM_BENCH_TPCW_TPCW_H

#include <bench/bench.h>
#include <bench/jobs.h>
#include <compute_node/cn.h>

#include <stdatomic.h>

enum { TPCW_ITEMS = 3, TPCW_STOCK = 1000000, TPCW_DESCRIPTION = 960 };

struct tpcw_product { /* 1,000 bytes */
	int64_t id;
	int64_t stock;
	int64_t price_cents;
	int64_t sold;
	char title[8];
	char description[TPCW_DESCRIPTION];
};

struct tpcw_order { /* 160 bytes */
	int64_t id;
	int64_t customer;
	int64_t placed_us;
	int64_t total_cents;
	char ship_to[128];
};

struct tpcw_line { /* 80 bytes */
	int64_t order;
	int64_t number;
	int64_t product;
	int64_t quantity;
	int64_t price_cents;
	char comment[40];
};

/* What a worker beside the clients' asks (beside.c). */
enum tpcw_load { TPCW_NOTHING, TPCW_PRODUCTS, TPCW_SALES, TPCW_ALL, TPCW_SNAPSHOT, TPCW_MEMORY, TPCW_LOADS };

struct tpcw_params {
	unsigned workers, clients, runs;
	bool sql;
	bool snapshot; /* native: a checkout reads at a snapshot */
	double seconds;
	uint64_t transactions; /* a run ends when so many have committed, whatever the time; 0 = by
			        * time */
	uint64_t products;
	uint64_t orders;  /* the indexes have room for so many from the start */
	unsigned work_us; /* on a model: what a client computes for each checkout */
	enum net_kind fabric;
	const char *storage; /* NULL = embedded */
	const char *secret_file, *cluster;
	bool peer_sqlite, json;
	enum tpcw_load beside; /* of a worker more */
	uint64_t seed;
};

/* One checkout as every implementation runs it. */
struct tpcw_cart {
	int64_t order, customer;
	int64_t product[TPCW_ITEMS], quantity[TPCW_ITEMS];
};
void tpcw_cart_fill(struct tpcw_cart *c, struct nam_rng *r, const struct tpcw_params *p, int64_t order);
void tpcw_product_fill(struct tpcw_product *r, int64_t id);

/* floor.c: the memory traffic alone. area: `threads` x bytes of touched memory. Transactions per
 * second of all threads. */
struct tpcw_floor {
	char *product; /* products x 1 KiB */
	uint64_t products;
	char *append; /* room for appends, used round and round */
	uint64_t append_bytes;
};
double tpcw_floor_run(const struct tpcw_floor *f, unsigned threads, double seconds);

/* sqlite.c: SQLite in memory. open loads the products. */
struct tpcw_sqlite;
struct tpcw_sqlite *tpcw_sqlite_open(const struct tpcw_params *p);
double tpcw_sqlite_run(struct tpcw_sqlite *s, double seconds);
uint64_t tpcw_sqlite_check(struct tpcw_sqlite *s);
void tpcw_sqlite_close(struct tpcw_sqlite *s);

/* The two ways into namdb. Each runs in coroutines of the workers. */
struct tpcw_side;
struct tpcw_ops {
	/* Makes tables and loads this worker's share of the products [from, to). First: makes the
	 * tables. */
	nam_status (*prepare)(struct tpcw_side *s, const struct cn_place *pl);
	nam_status (*load)(struct tpcw_side *s, const struct cn_place *pl, uint64_t from, uint64_t to,
	    _Atomic uint64_t *done);
	/* A client: checkouts until *stop. */
	void (*client)(struct tpcw_side *s, const struct cn_place *pl, unsigned client,
	    struct bench_slice *out, const atomic_bool *stop);
	/* Counts what does not hold; prints each kind on stderr. */
	uint64_t (*check)(struct tpcw_side *s, const struct cn_place *pl);
	void (*finish)(struct tpcw_side *s, const struct cn_place *pl);
};
struct tpcw_side {
	const struct tpcw_ops *ops;
	const struct tpcw_params *p;
	_Atomic int64_t next_order;            /* blocks of ids are handed to clients */
	struct txn_table product, order, line; /* native */
	struct net_counts
	    *counts; /* one a client; commits are finished behind their answers, and count then */
	bool opened;
	atomic_bool full; /* a checkout found no memory: all clients stop */
};
extern const struct tpcw_ops tpcw_native, tpcw_sql;
/* Reads these products once, so that what is measured later runs with a warm pointer cache. */
nam_status tpcw_native_warm(struct tpcw_side *s, const struct cn_place *pl, uint64_t from, uint64_t to);

/* What a query answered: the first row's integer columns. */
enum { TPCW_COLUMNS = 8 };
struct tpcw_answer {
	int64_t i[TPCW_COLUMNS];
	unsigned rows;
};
/* sql.c: a session of that worker, NULL = no memory; a text in it. False: stderr says why. */
struct sql_session *tpcw_sql_session(const struct cn_place *pl);
bool tpcw_sql_exec(struct sql_session *s, const char *sql, struct tpcw_answer *a);

/*
 * beside.c: a worker that asks the same questions again and again, at one snapshot. It runs
 * them alone: the clients' workers are not asked to help.
 */
struct tpcw_beside {
	/* given */
	enum tpcw_load load;
	uint64_t products;
	/* of all slices */
	uint64_t queries, bad; /* answered; that failed, or whose answer is not right */
	struct nam_hist latency_ns;
	/* of the slice */
	struct bench_jobs jobs;
	struct bench_job job;
	atomic_bool ready, stop;
};
bool tpcw_beside_named(const char *name, enum tpcw_load *load);
const char *tpcw_beside_name(enum tpcw_load load);
/* Opens a snapshot on that worker, asks once, and goes on asking until tpcw_beside_stop. Waits for
 * the first answers. */
nam_status tpcw_beside_start(struct tpcw_beside *b, struct cn *cn, unsigned worker);
/* Waits for the answer under way. */
void tpcw_beside_stop(struct tpcw_beside *b);

/* sim.c: `namdb bench tpcw --sim MODEL`, whose options are its own. An exit code. */
int bench_tpcw_sim(int argc, char **argv);
/* Columns of a point on a model: round trips, and how busy the busiest node's ports are. */
struct bench_sim;
struct bench_sim_point;
const char *tpcw_sim_fits(const struct tpcw_params *p, const struct bench_sim *sim);
void tpcw_sim_more(const struct bench_sim_point *at, const struct bench_sim *p);
/* paper_sim.c: `namdb bench tpcw --sim MODEL --protocol rsi-paper`, likewise. */
int bench_tpcw_paper(int argc, char **argv);
/* twopc_main.c: `namdb bench tpcw --protocol 2pc-...`, likewise. */
int bench_tpcw_twopc(int argc, char **argv);

#endif
