/* tatp.h -- rows, parameters and transactions of TATP, the telecom workload. */
#ifndef NAM_BENCH_SHORT_TATP_H
#define NAM_BENCH_SHORT_TATP_H

#include <base/rng.h>
#include <bench/sim/cluster.h>
#include <bench/tables.h>

enum { TATP_NUMBER = 16, TATP_TYPES = 4, TATP_STARTS = 3, TATP_BITS = 10 };

/* Keys come first in each row, without holes. */
struct tatp_subscriber {
	int64_t id;
	char number[TATP_NUMBER]; /* 15 digits */
	uint32_t msc, vlr;
	uint16_t bits;
	uint8_t hex[TATP_BITS], byte2[TATP_BITS];
	uint8_t zero[2];
};
struct tatp_number { /* the unique index on subscriber.number */
	char number[TATP_NUMBER];
	int64_t id;
};
struct tatp_access {
	int64_t id, type;
	uint8_t data1, data2;
	char data3[3], data4[5];
	uint8_t zero[6];
};
struct tatp_facility {
	int64_t id, type;
	uint8_t active, error, data_a;
	char data_b[5];
};
struct tatp_forward {
	int64_t id;
	int32_t type, start;
	uint8_t end;
	char to[15];
};

enum tatp_what {
	TATP_GET_SUBSCRIBER,
	TATP_GET_ACCESS,
	TATP_GET_DESTINATION,
	TATP_UPDATE_SUBSCRIBER,
	TATP_UPDATE_LOCATION,
	TATP_INSERT_FORWARD,
	TATP_DELETE_FORWARD,
	TATP_KINDS
};
extern const unsigned bench_tatp_percent[TATP_KINDS];

struct tatp_params {
	unsigned subscribers;
};
struct tatp_order { /* one transaction, drawn before it begins */
	enum tatp_what what;
	int64_t id;
	char number[TATP_NUMBER];
	int type, start, end;
	uint32_t value;
	char to[15];
};
void bench_tatp_draw(struct tatp_order *o, struct nam_rng *r, const struct tatp_params *p);

enum tatp_table { TATP_SUBSCRIBER, TATP_NUMBERS, TATP_ACCESS, TATP_FACILITY, TATP_FORWARD, TATP_TABLES };
/* A subscriber's rows as they are at first: a function of its id. */
struct tatp_rows {
	struct tatp_subscriber subscriber;
	struct tatp_number number;
	struct tatp_access access[TATP_TYPES];
	struct tatp_facility facility[TATP_TYPES];
	struct tatp_forward forward[TATP_TYPES * TATP_STARTS];
	unsigned count[TATP_TABLES];
};
void bench_tatp_rows(struct tatp_rows *out, int64_t id);

/* A process's part. */
struct tatp_side {
	const struct tatp_params *p;
	struct txn_table table[TATP_TABLES];
	struct net_counts *counts; /* one a client */
	uint64_t seed;
	uint64_t loaded[TATP_TABLES];
	_Atomic int64_t forwards; /* inserted by its commits, less those deleted */
};
void bench_tatp_tables(struct tatp_side *s, struct bench_table out[TATP_TABLES]);
/* tatp_run.c */
void bench_tatp_client(
    void *side, const struct cn_place *pl, unsigned number, struct bench_slice *out, const atomic_bool *stop);
/* tatp_check.c */
uint64_t bench_tatp_check(void *const *side, unsigned machines, const struct cn_place *pl);

extern struct tatp_params bench_tatp_params;
extern const struct bench_sim_user bench_tatp_user;

#endif
