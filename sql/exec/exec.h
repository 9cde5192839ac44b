/*
 * exec.h -- running a plan: operators are opened, then pulled for batches until one comes back
 * empty.
 *
 * sql_next returns how many rows are selected in n->out (0 = the end, -1: *x->err
 * says why not). A batch stays valid until the next call on the same operator.
 * Inside of sql.
 */
#ifndef NAM_SQL_EXEC_H
#define NAM_SQL_EXEC_H

#include <sql/common/error.h>
#include <sql/plan/op.h>

struct sql_gather;

/* The workers that a statement may ask for help (gather.h). The session's. */
struct sql_team {
	unsigned others;           /* helpers that are asked */
	double rows;               /* a fragment that scans fewer runs alone */
	bool first;                /* helpers go first, for tests: small tables end too soon */
	struct net_counts *counts; /* where verbs of jobs are counted */
	net_addr board;
	double far_rows; /* a fragment that scans so many also asks other processes; they go first
			  * if far_first, for tests */
	bool far, far_first;
	void *arg;
	/* What helpers of other processes must know: *n bytes in a's memory. NULL: nothing. */
	void *(*offer)(void *arg, const struct sql_gather *g, struct nam_arena *a, uint32_t *n);
	/* Asks for help with a gathering; and waits until no helper touches it any more. */
	void (*call)(void *arg, struct sql_gather *g);
	void (*dismiss)(void *arg, struct sql_gather *g);
};

struct sql_source;
struct sql_exec {
	struct txn *t;
	struct cat *cat;
	struct cat_err *err;
	struct sql_env env;
	struct nam_arena **arena; /* one per number the plan gave out */
	struct nam_arena
	    *plan_arena; /* of the plan that runs: for what its operators keep from one execution to
			 * the next */
	const _Atomic int *cancel;
	bool again; /* a row that was to be locked had changed: it is locked now, ask once more */
	struct net_worker *net;
	uint64_t deadline_ns;    /* 0 = none */
	uint64_t turn_ns;        /* how long it computes before it yields; 0 = it never does */
	uint64_t turn_until_ns;  /* 0 = this turn's end is not yet known */
	struct sql_gauge *gauge; /* EXPLAIN ANALYZE; else NULL */
	const struct sql_sink *sink;
	const struct sql_rules *rules; /* of the table that is written; NULL = none */
	uint64_t work;                 /* on long values, since the clock was last looked at */
	uint64_t sent;                 /* rows given to the sink: then nothing can be tried again */
	unsigned bad_row;              /* sql_insert_batch: the row of the batch that its error is
				        * about */
	struct sql_plan *plan;         /* that runs */
	struct sql_team *team;         /* who may help (gather.h); NULL = nobody */
	struct sql_source *source;     /* for the scan that is opened next */
	bool bare;                     /* kept sides of joins are borrowed: they are not opened */
	struct cat_datum *outer;       /* the plan's, and env's */
	void (*saw)(void *arg, uint32_t table, uint64_t rows);
	void *saw_arg;
	struct sql_progress *progress; /* NULL = nobody looks */
};

static inline void
sql_progress_is(struct sql_exec *x, uint64_t done, uint64_t all)
{
	if (x->progress == NULL)
		return;
	atomic_store_explicit(&x->progress->done, done, memory_order_relaxed);
	atomic_store_explicit(&x->progress->all, all, memory_order_relaxed);
}
/* The scan n has seen so many rows. If it is short, that tells nothing of the statement. */
static inline void
sql_progress_rows(struct sql_exec *x, const struct sql_node *n, uint64_t seen)
{
	enum { SHORT = 20000 };
	double all = n->est_seen > n->est_rows ? n->est_seen : n->est_rows;
	if (all >= SHORT)
		sql_progress_is(x, seen, (uint64_t)all);
}

bool sql_open(struct sql_exec *x, struct sql_node *n);
int sql_next(struct sql_exec *x, struct sql_node *n);
void sql_close(struct sql_exec *x, struct sql_node *n);

/* False if the statement is cancelled or past its deadline. */
bool sql_go_on(struct sql_exec *x);
/* sql_go_on for env.go_on, asked now and then. arg: the sql_exec. */
bool sql_worked(void *arg, uint64_t work);

/* Gives the selected rows of a batch to the sink, compact. arena: for what must be moved. */
bool sql_send(
    struct sql_exec *x, const struct sql_batch *b, const uint16_t *sel, unsigned n, struct nam_arena *arena);
/* dst[k] = src[idx[k]] */
bool sql_gather(
    struct cat_vec *dst, const struct cat_vec *src, const uint16_t *idx, unsigned n, struct nam_arena *arena);
/* A column of NULLs. */
bool sql_nulls(struct cat_vec *v, enum cat_type type, unsigned n, struct nam_arena *arena);
/* 0, 1, 2, ... CAT_BATCH-1 */
const uint16_t *sql_ident(void);
static inline const uint16_t *
sql_sel(const struct sql_node *n)
{
	return n->sel ? n->sel : sql_ident();
}
/* The rows of a table that the current batch of n, which looks them up or was told to identify
 * them, comes from. */
struct txn_row *sql_rows_of(const struct sql_node *n);
/* Applies n->filter to the batch just made of n rows; returns how many stay, -1 on error. */
int sql_keep(struct sql_exec *x, struct sql_node *n);
/* sql_keep with its scratch in another arena than the batch's. */
int sql_keep_in(struct sql_exec *x, struct sql_node *n, unsigned arena);

/* The batch of n, which reads a table: row[0..rows) decoded. tmp: room for the columns it wants. */
bool sql_decode_rows(
    struct sql_exec *x, struct sql_node *n, const struct txn_row *row, unsigned rows, struct cat_vec *tmp);
/* The batch of n is what has been decoded into tmp. */
void sql_show_rows(struct sql_node *n, const struct cat_vec *tmp, unsigned rows);

/* index.c */
bool sql_index_room(struct sql_exec *x, struct sql_node *n);
int sql_index_next(struct sql_exec *x, struct sql_node *n);
void sql_index_end(struct sql_node *n);

/* join.c, agg.c, sort.c */
bool sql_join_room(struct sql_exec *x, struct sql_node *n);
int sql_join_next(struct sql_exec *x, struct sql_node *n);
bool sql_agg_room(struct sql_exec *x, struct sql_node *n);
int sql_agg_next(struct sql_exec *x, struct sql_node *n);
int sql_sort_next(struct sql_exec *x, struct sql_node *n);
int sql_unique_next(struct sql_exec *x, struct sql_node *n);
/* group.c: the groups of rows sel[0..rows), whose keys are the vectors key; new ones come into its
 * set. */
bool sql_group_find(struct sql_exec *x, struct sql_op_agg *g, const struct cat_vec *key, const uint16_t *sel,
    unsigned rows, uint32_t *group);
int sql_lock_next(struct sql_exec *x, struct sql_node *n); /* lock.c */
/* from.c */
int sql_unnest_next(struct sql_exec *x, struct sql_node *n); /* unnest.c */
int sql_derived_next(struct sql_exec *x, struct sql_node *n);
bool sql_lateral_room(struct sql_exec *x, struct sql_node *n);
int sql_lateral_next(struct sql_exec *x, struct sql_node *n); /* lateral.c */
bool sql_semi_room(struct sql_exec *x, struct sql_node *n);
int sql_semi_next(struct sql_exec *x, struct sql_node *n);    /* semi.c */
bool sql_expand_room(struct sql_exec *x, struct sql_node *n); /* expand.c */
int sql_expand_next(struct sql_exec *x, struct sql_node *n);
/* True if that set of an EXPAND is the one without keys. */
bool sql_expand_grand(const struct sql_op_expand *e, unsigned set);
bool sql_window_room(struct sql_exec *x, struct sql_node *n);
int sql_window_next(struct sql_exec *x, struct sql_node *n); /* window.c */
/* Rows of two batches, and of a rowset: -1, 0, 1 by n keys; all rows by the keys, then by where
 * they were in perm. */
struct sql_rowset;
int sql_sort_cmp_rows(const struct cat_vec *a, unsigned row_a, const struct cat_vec *b, unsigned row_b,
    const struct sql_sort_key *key, unsigned n);
int sql_sort_cmp(
    const struct sql_rowset *rs, const struct sql_sort_key *key, unsigned n, uint32_t a, uint32_t b);
bool sql_sort_perm(struct sql_exec *x, const struct sql_rowset *rs, const struct sql_sort_key *key,
    unsigned n, uint32_t *perm, struct nam_arena *scratch);
/* set.c */
int sql_append_next(struct sql_exec *x, struct sql_node *n);
int sql_setop_next(struct sql_exec *x, struct sql_node *n);
int sql_ties_next(struct sql_exec *x, struct sql_op_limit *l);    /* ties.c */
int sql_series_more(struct sql_exec *x, struct sql_op_series *s); /* series.c */
int sql_series_next(struct sql_exec *x, struct sql_node *n);
bool sql_recurse_begin(struct sql_exec *x, struct sql_node *n);
int sql_recurse_next(struct sql_exec *x, struct sql_node *n);
int sql_cte_next(struct sql_exec *x, struct sql_node *n);
/* What LIMIT and OFFSET come to: at most *left rows, after *skip others. */
bool sql_row_count(struct sql_exec *x, const struct sql_node *n, const struct sql_limits *most,
    uint64_t *left, uint64_t *skip);

/* sub.c: for a plan about to run; and, before it changes rows, what must not see the changes. */
bool sql_sub_start(struct sql_exec *x, struct sql_plan *p);
bool sql_sub_early(struct sql_exec *x, const struct sql_plan *p);
/* True if the set of all answers is there, made now if need be. False with s->run->failed: the
 * subquery runs for each outer row; else *x->err says why not. */
struct sql_sub;
bool sql_sub_ready(struct sql_exec *x, struct sql_sub *s);
/* After an error that a row may have made that the outer query does not need. If so, the error is
 * dropped and s->run->failed is set. False if the error stands. */
bool sql_sub_gives_up(struct sql_exec *x, struct sql_sub *s);
bool sql_sub_eval(void *arg, const struct sql_expr *e, const struct cat_datum *v, struct cat_datum *out);

#endif
