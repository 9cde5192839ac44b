/*
 * twopc.h -- the checkout by snapshot isolation with two-phase commit (txn/twopc): what its
 * runs over a simulated network, over sockets and over messages in rings have in common.
 */
#ifndef NAM_BENCH_TPCW_TWOPC_H
#define NAM_BENCH_TPCW_TWOPC_H

#include "tpcw.h"

#include <net/sim/mail.h>
#include <txn/twopc/twopc.h>

struct tpcw_twopc;

/* One client, and what serves it. The caller sets its wires and its clock. */
struct tpcw_twopc_session {
	struct tpcw_twopc *run;
	unsigned number;
	struct txn_twopc_client *client;
	struct txn_twopc_tm *tm;
	struct nam_rng rng;
	struct tpcw_cart cart;
	enum { TPCW_TWOPC_READ, TPCW_TWOPC_COMMIT, TPCW_TWOPC_SNAPSHOT } step;
	int64_t orders;
	uint64_t ended_ns; /* its last commit */
	bool over;         /* it has stopped, with no transaction open */
	struct bench_slice slice;
};

struct tpcw_twopc {
	const struct tpcw_params *p;
	unsigned rms, sessions;
	struct txn_twopc_rm *rm[TXN_TWOPC_RMS_MAX];
	struct txn_twopc_clock *clock;
	struct tpcw_twopc_session *session;
	atomic_bool stop;
	atomic_bool counting; /* the time measured */
	_Atomic uint64_t bad; /* messages that were none, and steps that failed */
	/* The time of a session's client; and: it computes what it writes. */
	uint64_t (*now_ns)(struct tpcw_twopc_session *s);
	void (*work)(struct tpcw_twopc_session *s);
};

/* RMs with all products, a clock, sessions without clients and TMs. now_ns and work are set
 * before. */
nam_status tpcw_twopc_open(
    struct tpcw_twopc *t, const struct tpcw_params *p, unsigned rms, unsigned sessions);
void tpcw_twopc_close(struct tpcw_twopc *t);
nam_status tpcw_twopc_session_open(
    struct tpcw_twopc_session *s, const struct txn_twopc_wire *client, const struct txn_twopc_wire *tm);
/* Starts the session's first checkout; from then on its client's messages drive it until
 * run->stop. */
void tpcw_twopc_begin(struct tpcw_twopc_session *s);
/* Counts what a role made of a message. */
void tpcw_twopc_took(struct tpcw_twopc *t, nam_status st);
/* What does not hold, as tpcw_native's check: no transaction is open. */
uint64_t tpcw_twopc_check(const struct tpcw_twopc *t);

/* twopc_sim.c: in virtual time, on machines of a model. */
struct tpcw_twopc_point {
	const struct net_sim_model *model;
	const struct net_sim_stack *stack;
	unsigned clients, compute, storage; /* and one machine with the TM */
	double seconds;
	uint64_t work_ns; /* of a client, for each checkout */
	const struct tpcw_params *tpcw;
	/* out */
	double rate, p50_us, p99_us, aborts, messages, bytes_out, bytes_in;
	struct net_sim_mail_use tm, rm, client; /* rm: the busiest; client: the first machine */
	const char *machine, *limit;            /* what is busiest, and where */
	double share;
	uint64_t bad;
};
nam_status tpcw_twopc_sim(struct tpcw_twopc_point *p, struct nam_err *err);

/* Threads of this process: by sockets, and by messages in rings. */
struct tpcw_twopc_real {
	unsigned clients, rms;
	double seconds;
	enum net_kind fabric; /* of rings */
	const struct tpcw_params *tpcw;
	/* out */
	double rate, p50_us, p99_us, aborts, cpu_us; /* cpu_us: of the whole process, a commit */
	uint64_t bad;
};
nam_status tpcw_twopc_tcp(struct tpcw_twopc_real *p, struct nam_err *err);
nam_status tpcw_twopc_ring(struct tpcw_twopc_real *p, struct nam_err *err);
/* Lets the clients of other threads warm up and then counts for p->seconds; then they are to
 * stop. */
void tpcw_twopc_count(struct tpcw_twopc *t, struct tpcw_twopc_real *p);
/* The figures of what was counted, and the check: no thread uses t any more. */
void tpcw_twopc_sum(const struct tpcw_twopc *t, struct tpcw_twopc_real *p);

#endif
