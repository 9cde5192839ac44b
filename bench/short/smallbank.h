/* smallbank.h -- rows, parameters and transactions of SmallBank. */
#ifndef NAM_BENCH_SHORT_SMALLBANK_H
#define NAM_BENCH_SHORT_SMALLBANK_H

#include <base/rng.h>
#include <bench/sim/cluster.h>

/* A row of both tables: what the bank owes, in cents, beside its key. */
struct bank_account {
	int64_t id, cents;
};
enum { BANK_CENTS = 1000000 }; /* at first */

enum bank_what {
	BANK_AMALGAMATE,
	BANK_BALANCE,
	BANK_DEPOSIT,
	BANK_SEND,
	BANK_TRANSACT,
	BANK_CHECK,
	BANK_KINDS
};
extern const char *const bench_bank_names[BANK_KINDS];
extern const unsigned bench_bank_percent[BANK_KINDS];

struct bank_params {
	unsigned accounts, hot, hot_percent;
	bool serializable;
};
struct bank_order { /* one transaction, drawn before it begins */
	enum bank_what what;
	int64_t account[2];
};
void bench_bank_draw(struct bank_order *o, struct nam_rng *r, const struct bank_params *p);

/* A process's part. */
struct bank_side {
	const struct bank_params *p;
	struct txn_table savings, checking;
	struct net_counts *counts; /* one a client */
	uint64_t seed;
	_Atomic int64_t change; /* cents that came in, less those that went out, by its commits */
};
/* Of the parameters that the user's options fill. */
extern struct bank_params bench_bank_params;
extern const struct bench_sim_user bench_bank_user;

#endif
