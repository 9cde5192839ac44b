/*
 * gather.h -- a fragment of a plan (plan/fragment.h) run by several workers: the one that has the
 * statement, and those that help it. Inside of sql.
 *
 * The workers share a job of olap. Its morsels are parts of the table that the fragment scans, and
 * its one phase says which of them count. A helper has a plan of its own, made of the same
 * statement at the same snapshot; it borrows the tables of joins and the answers of subqueries,
 * which are ready before it is called and do not change until it has left. If a helper fails, it
 * leaves without an output: then the worker that has the statement does its morsels, and meets
 * the error itself, if there is one.
 */
#ifndef NAM_SQL_GATHER_H
#define NAM_SQL_GATHER_H

#include <sql/exec/stream.h>
#include <sql/plan/fragment.h>
#include <sql/plan/sub.h>

/* Where the scan of a fragment has its rows from. */
struct sql_source {
	const struct sql_op_scan *scan;
	struct olap_phase *ph;
	const uint64_t *part; /* cat_parts */
	bool raw;
	uint64_t seen; /* rows */
};

/* What a helper tells with its output. */
struct sql_helped {
	uint64_t seen, bytes;
	struct net_counts counts; /* of its transaction and its part of the job */
	uint64_t process;         /* its net's identity */
};
enum { SQL_PROCESSES = 64 };

struct sql_gather {
	struct sql_exec *x;
	const struct sql_plan *plan;
	struct sql_fragment *f;
	uint64_t number; /* sql_plan_number */
	tso_cid snapshot;
	net_addr at; /* of the job */
	uint64_t *part;
	unsigned parts;
	bool raw;
	uint8_t *ready; /* by subquery of the plan: its answers are there, to be borrowed */
	_Atomic int stop;
	void *calls; /* the team's */
};

struct sql_run_gather {
	/* of one execution */
	bool tried, on, settled;
	struct sql_gather g;
	struct sql_team *team; /* that has been asked */
	struct olap_job *job;
	struct olap_phase ph;
	struct sql_source source;
	struct sql_stream_in in;
	struct sql_runs *runs;    /* in place of in, if helpers give sorted runs */
	struct sql_helped helped; /* by all helpers */
	unsigned helpers;
	bool offered;                /* to other processes */
	uint64_t far[SQL_PROCESSES]; /* that have helped, ... */
	unsigned fars;               /* ... so many */
	uint64_t me;
};

/* Begins to gather at n, which is open. 1: it gathers, and the pipeline has only this worker's
 * share from now on; 0: the fragment runs alone; -1: an error. */
int sql_gather_begin(struct sql_exec *x, struct sql_node *n);
/* This worker's share is at its end. 1: there is more of it; 0: all is there; -1. */
int sql_gather_settle(struct sql_exec *x, struct sql_node *n);
/* The next record of the helpers: 1; 0: there are no more; -1. */
int sql_gather_record(struct sql_exec *x, struct sql_node *n, struct sql_bytes_in *c);
/* The same of one stream. */
int sql_gather_next_of(
    struct sql_exec *x, struct sql_node *n, struct sql_stream_in *in, struct sql_bytes_in *c);
/* sql_next for an operator at which rows are gathered. */
int sql_gather_next(struct sql_exec *x, struct sql_node *n, int (*own)(struct sql_exec *, struct sql_node *));
/* Ends it, however far it has come. */
void sql_gather_end(struct sql_exec *x, struct sql_node *n);

/* By a helper: fragment f of its own plan, for g, as a participant of the job. False: it has
 * failed, and put nothing out. */
bool sql_gather_help(
    struct sql_exec *x, struct sql_fragment *f, const struct sql_gather *g, struct olap_job *job);

/*
 * By a helper of another process than the gatherer's, which is in the job, and for which no round
 * waits yet: it makes what its pipeline looks into, then comes, and asks the team of x for help in
 * turn. g is its own: x, plan, f, number, snapshot, at, part and parts are set. The caller stops it
 * by g->stop, which is also x's cancel. False: as sql_gather_help.
 */
bool sql_gather_lead(struct sql_exec *x, struct sql_fragment *f, struct sql_gather *g, struct olap_job *job);

/* exec.c: the scan of a fragment again, with rows from x->source. */
bool sql_scan_again(struct sql_exec *x, struct sql_op_scan *s);
/* join.c: the kept side is there; and that of another worker's join is used. rewind: its probe side
 * begins again. */
bool sql_join_ready(struct sql_exec *x, struct sql_op_join *o);
void sql_join_borrow(struct sql_op_join *o, const struct sql_op_join *from);
void sql_join_rewind(struct sql_op_join *o);
/* sub.c: the answers are there, or s->run->failed. */
bool sql_sub_prepare(struct sql_exec *x, struct sql_sub *s);
void sql_sub_borrow(struct sql_sub *s, const struct sql_sub *from);
/* runs.c: what helpers put out at a sort, a run each; merged with the rows that are sorted here.
 * end also after an error of begin, which gives *out before it. */
struct sql_runs;
nam_status sql_runs_begin(
    struct olap_job *job, const struct olap_source *all, unsigned cols, struct sql_runs **out);
int sql_runs_next(struct sql_exec *x, struct sql_op_sort *s, struct sql_runs *m);
void sql_runs_end(struct sql_runs *m);
/* agg.c: the groups of this worker's share, as records. */
bool sql_agg_put_groups(struct sql_exec *x, struct sql_op_agg *o, struct sql_stream_out *s);

#endif
