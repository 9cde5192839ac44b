/*
 * state.h -- the states of running operators, which they keep between two batches. Only the
 * executor includes it.
 *
 * When an operator is opened for the first time, exec.c takes its state from the plan's arena, so a
 * prepared statement's later executions find it there. Members above the comment "of one execution"
 * are memory that lives as long as the plan. The members below it are zero when the operator is
 * opened.
 */
#ifndef NAM_SQL_STATE_H
#define NAM_SQL_STATE_H

#include <sql/exec/exec.h>
#include <sql/exec/rowset.h>
#include <sql/plan/op.h>

struct sql_run_one {
	/* of one execution */
	bool ended;
};

struct sql_run_values {
	/* of one execution */
	unsigned at;
};

struct sql_run_scan {
	struct cat_vec *tmp; /* columns that are wanted, as decoded */
	/* of one execution */
	bool ended;
	struct txn_scan *scan; /* one of the two is open */
	struct cat_scan *read;
	struct sql_source *source; /* read shows parts, as they are taken; NULL = the table */
	struct txn_row *rows;      /* of the current batch, if an operator wants them */
	uint64_t seen;             /* rows read */
};

struct sql_run_get {
	struct cat_vec *tmp; /* columns that are wanted, as decoded */
	uint16_t *missing;   /* rows of the child's batch that found no row, and are to come with
			      * NULLs */
	/* of one execution */
	bool opened;
	unsigned misses;
	struct txn_get *get; /* without a child: every key to look up */
	unsigned gets, at;
	struct txn_row *rows; /* of the current batch */
};

/* How the columns that an operator wants come out of an index's keys. */
struct sql_index_told {
	struct txn_only ask;
	const struct cat_table *tab;
	const struct cat_index *ix;
	unsigned keys;           /* columns of the key that are looked at */
	bool need[CAT_KEY_MAX];  /* is it wanted? */
	uint8_t at[CAT_KEY_MAX]; /* of the j-th column wanted: its place in the key */
};

/* Keys of an index, from low to high. */
struct sql_index_range {
	uint64_t low[IDX_TREE_WORDS], high[IDX_TREE_WORDS];
	bool low_open, high_open;
	uint16_t src; /* the row of the child's batch that it belongs to */
};

struct sql_run_index {
	struct cat_vec *tmp;  /* columns that are wanted, as decoded */
	struct txn_row *rows; /* of the current batch */
	/* with a child: of which of its rows those are the partners; its rows without one; per row
	 * of its batch, has it one? */
	uint16_t *src, *missing;
	bool *found;
	struct sql_index_told *told; /* NULL: its columns are not all in the keys */
	/* of one execution */
	bool opened;
	unsigned rows_at, rows_n;   /* of rows[]: those from rows_at on are not out yet */
	struct sql_index_range *of; /* in the order in which they are read */
	unsigned ranges, cap, at;
	struct txn_range *range; /* the one that is read; NULL = none */
	uint16_t range_src;
	struct txn_seek *seek; /* ranges of one key each, from number seek_first on */
	unsigned seeks, seek_first, seek_at, seek_row;
	unsigned child_rows;
	/* legs: own rows; the others' blocks, in the order of their addresses */
	struct txn_own_rows own;
	size_t own_at;
	struct txn_blocks blocks;
	size_t block_at;
};

struct sql_run_join {
	struct sql_origin *origin; /* by column of the batch */
	/* of one execution */
	bool opened, ended;
	struct sql_rowset *rs; /* the build side */
	struct sql_join_table *table;
	uint8_t *matched;             /* keep_build: per row of rs */
	struct sql_join_probe *probe; /* of any number of partners: the batch at hand, NULL: none */
	unsigned probe_at;            /* position in the probe side's selection */
	uint32_t match;               /* the row (+1) of rs that was its last partner; 0 = none was
				       * yet */
	uint32_t left_at;             /* rows of rs below have had their partners, or are out */
};

struct sql_run_agg {
	/* DISTINCT and ORDER BY of an aggregate: its rows (group, arguments, what to sort by),
	 * added when all are there */
	struct sql_run_later {
		struct sql_rowset *rs;
		struct sql_groups *seen; /* in place of rs: DISTINCT values, with their groups */
	} * later;
	/* of one execution */
	bool opened;
	struct sql_groups *set;
	struct sql_coded *coded; /* group.c's */
	char **state;            /* chunks of CAT_BATCH states */
	uint32_t groups, at;     /* groups that have states; and that are out */
	struct sql_run_theirs {
		uint32_t *group, n; /* group[i]: where group i of the worker that is read is */
		size_t cap;
	} theirs;
};

struct sql_run_sort {
	/* of one execution */
	bool opened;
	struct sql_rowset *rs; /* the rows kept */
	uint32_t *perm;        /* their order */
	unsigned at;
};

struct sql_run_limit {
	struct cat_datum *held; /* WITH TIES: what the last row has in the columns that tie */
	/* of one execution */
	bool opened, ended;
	uint64_t left, skip;
};

struct sql_run_unique {
	/* of one execution */
	struct sql_rowset *last; /* the row before the batch; NULL = none */
};

struct sql_run_append {
	/* of one execution */
	bool opened; /* kid `at` is */
	unsigned at;
};

/* Rows that were there, each once. */
struct sql_run_seen {
	struct sql_rowset *rs;
	uint32_t n, buckets, *bucket, *chain;
	uint32_t *count; /* how often each of them was there */
	uint64_t *hash;
	const struct cat_vec **col; /* room for those of one row */
};

struct sql_run_setop {
	/* of one execution */
	bool opened;
	struct sql_run_seen seen;
};

struct sql_run_recurse {
	/* of one execution */
	bool opened, ended;
	unsigned round;
	struct sql_rowset *fresh; /* found in this round */
	struct sql_run_seen seen; /* not of UNION ALL */
};

/* A subquery's answers that are kept, of one execution of the statement. */
struct sql_run_sub {
	bool done;       /* they are all there */
	bool any, nulls; /* rows; with NULLs among their keys */
	bool failed;     /* the set could not be made */
	bool have_none;  /* value is the answer for keys that are not in it */
	unsigned asked;  /* outer rows that asked for themselves */
	struct cat_datum value;
	struct sql_rowset *rs;
	uint32_t *bucket, *chain;
	uint64_t *hash, mask;
};

/* The rows that a query of WITH came to; NULL = it did not run yet. */
struct sql_run_with {
	struct sql_rowset *rs;
};

struct sql_run_cte {
	/* of one execution */
	unsigned at;
};

struct sql_run_series {
	/* of one execution */
	bool opened, ended;
	int64_t next, stop, step;
	struct cat_datum held[3]; /* in place of these, if they are no integers: from, to, by */
	uint64_t ordinal;
};

struct sql_run_window {
	struct cat_vec *result; /* per call, by row */
	struct sql_run_bounds {
		struct cat_datum start, end;
	} * by; /* per call: what its frame's offsets come to */
	/* of one execution */
	bool opened;
	struct sql_rowset *rs;
	uint32_t *perm;
	unsigned at;
};

struct sql_run_lateral {
	struct cat_vec *need; /* per slot, over the child's batch */
	/* of one execution */
	bool ended;
	unsigned rows, at;    /* of the child's batch; the one whose partners are looked for */
	unsigned batch, next; /* rows of the partners' batch, the next one of it */
	bool open, any;       /* is the plan open for that row; has a partner come out? */
};

struct sql_run_semi {
	struct cat_vec *value, *pair; /* of one batch: outer[]; the pairs that are asked */
};

struct sql_run_expand {
	struct cat_vec *tmp; /* the keys of the child's batch: as they are, as NULLs, the set's
			      * number */
	/* of one execution */
	unsigned at; /* the set that is next; 0 = for a new batch */
};

struct sql_run_unnest {
	/* of one execution */
	unsigned rows, at; /* of the child's batch; so many of them are done, */
	uint32_t elem;     /* and so many elements of the next */
	uint64_t ordinal;
};

struct sql_run_lock {
	/* of one execution */
	bool opened;
	struct sql_rowset *rs; /* rows that are locked */
	unsigned at;
};

/* Makes the empty row set of c. False if there is no memory. */
bool sql_with_begin(struct sql_exec *x, struct sql_cte *c);

#endif
