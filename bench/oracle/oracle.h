/*
 * oracle.h -- parts of `namdb bench oracle`: the parameters, one run as all its processes
 * see it, and its results.
 *
 * Times are net_now_ns of the run: of the machine, or of the simulated cluster.
 */
#ifndef NAM_BENCH_ORACLE_ORACLE_H
#define NAM_BENCH_ORACLE_ORACLE_H

#include <bench/bench.h>
#include <net/net.h>
#include <net/sim/nic.h>
#include <txn/txn.h>

#include <stdatomic.h>

enum {
	ORACLE_CLIENTS_MAX = 16,
	ORACLE_LEASE_MS = 100,
	ORACLE_VICTIM = 1, /* the client that is paused, or disturbs the others in another way */
	ORACLE_LOOK_MS = 10,
	ORACLE_MODEL_LOOK_MS = 1, /* a commit takes some 20 us there */
	ORACLE_OPEN_MS = 50,
	ORACLE_MODEL_OPEN_MS = 5,
	ORACLE_RARELY = 100,
	ORACLE_ROWS_MAX = 16,
	ORACLE_SCHEMES = 2, /* enum tso_scheme */
};

/* What the victim does for pause_s. The first three: it is paused, and this is where the pause
 * meets it. */
enum oracle_case {
	ORACLE_AT_CLAIM,  /* it has claimed a commit id, and nothing else of the commit has been
			   * posted */
	ORACLE_AT_COMMIT, /* in the middle of a commit, wherever that is */
	ORACLE_AT_REST,   /* it has had nothing to do for a while */
	ORACLE_MOMENTS,
	ORACLE_NONE = ORACLE_MOMENTS, /* what the others do */
	ORACLE_IDLE,                  /* nothing, but it lives */
	ORACLE_RARE,                  /* one commit for ORACLE_RARELY of another client */
	ORACLE_SLOW,                  /* as rare, with open_ms from claim to mark */
	ORACLE_DEAD,                  /* it dies with a commit id claimed, and stays dead */
	ORACLE_CASES
};
/* The values of --client: the paused one, then the cases from ORACLE_NONE on. */
enum { ORACLE_PAUSED, ORACLE_CLIENT_KINDS = ORACLE_CASES - ORACLE_MOMENTS + 1 };

struct oracle_params {
	/* common: fabric (NET_SIM: virtual time), plot, plot_data, json */
	struct bench_common common;
	const struct net_sim_model *model; /* of sim; NULL: none */
	bool moment[ORACLE_MOMENTS], kind[ORACLE_CLIENT_KINDS];
	bool play[ORACLE_CASES]; /* what these two come to */
	unsigned clients;
	unsigned rate; /* commits per second offered by each client, 0 = as many as it can */
	uint32_t lease_ms, open_ms, look_ms;
	double before_s, pause_s, after_s;
	bool untold; /* of a dead client in simulated time: no storage node reports it */
	uint64_t seed;
};

struct oracle_commit {
	uint64_t cid, at_ns; /* answered */
};
struct oracle_look {
	uint64_t cid, asked_ns, got_ns;
};

/* Memory of all processes; a client's part is written by that client alone. */
struct oracle_client {
	atomic_bool ready, committing, ended;
	_Atomic int status; /* nam_status that ended its work early */
	_Atomic unsigned commits, looks;
	struct oracle_commit *commit; /* run->commits_max; cid and time rise */
	struct oracle_look *look;     /* run->looks_max */
};
struct oracle_run {
	struct oracle_params p;
	enum tso_scheme scheme;
	enum oracle_case what;
	unsigned commits_max, looks_max;
	_Atomic uint64_t table;      /* its anchor; 0 = not made yet */
	_Atomic uint64_t begin_ns;   /* 0 = wait */
	_Atomic uint64_t stopped_ns; /* the victim does no work, or its case's, from here ... */
	_Atomic uint64_t resumed_ns; /* ... to here; 0 = it never came back */
	struct oracle_client client[ORACLE_CLIENTS_MAX];
};

/* Memory that processes forked later share; all zero. NULL = none left. */
struct oracle_run *bench_oracle_run_new(
    const struct oracle_params *p, enum tso_scheme scheme, enum oracle_case what);
void bench_oracle_run_free(struct oracle_run *r);
uint64_t bench_oracle_pause_at(const struct oracle_run *r);
uint64_t bench_oracle_end(const struct oracle_run *r);
/* Of storage, for all that the run writes. */
uint64_t bench_oracle_bytes(const struct oracle_params *p);
bool bench_oracle_all(const struct oracle_run *r, bool ended);

/* One client at its place in its process. */
struct oracle_place {
	struct oracle_run *run;
	unsigned i;
	struct net_worker *w;
	/* Stalls for the pause, or dies; NULL = the parent process stops the client. In a coroutine
	 * of w. */
	void (*stand_still)(struct oracle_place *p);
	void *host;
	struct txn_db *db;
	struct txn_worker *tw;
	struct txn_table table;
	unsigned left;
	bool rests, rarely;
	unsigned seen; /* commits of client 0 at its own last one, while it commits rarely */
	bool over;     /* no coroutine of its own runs any more */
	struct nam_err err;
};
/* A coroutine: joins the cluster, works through the run. arg: struct oracle_place. */
void bench_oracle_client(void *arg);
/* Closes what it has opened. In a coroutine. */
void bench_oracle_client_close(struct oracle_place *p);

/* Set by the first ^C. */
extern atomic_bool bench_oracle_stop;

/* All clients, from joining to their ends. Not NAM_OK: nothing was measured. */
nam_status bench_oracle_sim(struct oracle_run *r, struct nam_err *err);
nam_status bench_oracle_real(struct oracle_run *r, struct nam_err *err);

/* ---- table.c ---- */

struct oracle_bin {
	double age_ms, missing_ms;         /* the greatest among the clients that go on */
	double age_area, missing_area, ms; /* theirs: age times time, and time */
	unsigned commits;                  /* theirs */
};
struct oracle_row {
	double from_s, to_s; /* since the pause began */
	double age_ms, mean_age_ms, missing_ms, mean_missing_ms, commits_per_s;
};
struct oracle_result {
	struct oracle_bin *bin; /* of bin_s each; the first begins before_s before the pause */
	unsigned bins, bins_before;
	double bin_s; /* look_ms */
	struct oracle_row row[ORACLE_ROWS_MAX];
	unsigned rows;
	struct oracle_row during, after; /* the whole pause; the time behind it */
	double age_ms, missing_ms;       /* the greatest from when the pause began */
	double age_before_ms;
	unsigned looks;
	bool shut_out;  /* the victim, by others */
	unsigned wrong; /* what must not be: counted, named on stderr */
};
/* False if there is no memory. The caller frees bin. */
bool bench_oracle_judge(const struct oracle_run *r, struct oracle_result *out);
extern const char *const bench_oracle_moment_names[ORACLE_MOMENTS];
extern const char *const bench_oracle_client_names[ORACLE_CLIENT_KINDS];
/* The name of its client, one of those. */
const char *bench_oracle_client_of(enum oracle_case what);
/* Case number i in the order of reports: the one that disturbs nothing is the first. */
enum oracle_case bench_oracle_case_at(unsigned i);
/* For people: "paused, with a commit id claimed", "dead". */
const char *bench_oracle_case_text(enum oracle_case what);
extern const char *const bench_oracle_scheme_names[ORACLE_SCHEMES];
bool bench_oracle_plot(const struct oracle_params *p, struct oracle_result got[ORACLE_CASES][ORACLE_SCHEMES]);

#endif
