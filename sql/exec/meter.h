/*
 * meter.h -- EXPLAIN ANALYZE: charges the work of a statement, operator by operator.
 *
 * At any moment one meter is charged: that of the operator that runs, of the statement itself
 * (INSERT, UPDATE, DELETE), or of a phase around them (begin, planning, commit). Whenever that
 * changes, the work since the last change is added to the old one. So every verb of the session's
 * coroutine is in exactly one meter's `self`. Inside of sql.
 */
#ifndef NAM_SQL_METER_H
#define NAM_SQL_METER_H

#include <sql/plan/plan.h>

struct sql_meter {
	int kind;                           /* enum sql_node_kind, or SQL_METER_PHASE */
	uint64_t opens, gave, removed;      /* executions; rows out; rows that a filter took away */
	uint64_t unpaired;                  /* of a join: pairs of equal keys, taken away by ON */
	uint64_t first_ns, took_ns;         /* until the first batch of every execution; in all,
					     * with all below */
	uint64_t self_ns;                   /* without what is below */
	struct net_counts self, all;        /* on the fabric, without and with what is below */
	unsigned workers, parts;            /* that gathered here; parts of the table they shared */
	unsigned processes;                 /* whose workers they are */
	uint64_t others_rows, others_bytes; /* rows the other workers read; bytes they gave */
	struct net_counts others;           /* on the fabric, by them */
	struct txn_looks looks;             /* by an index */
	size_t peak;                        /* bytes of its arenas, at most */
	bool fresh;                         /* opened, and asked for nothing yet */
};
enum { SQL_METER_PHASE = -1 };

struct sql_gauge {
	struct sql_meter *now;  /* the meter that is charged */
	struct net_counts paid; /* what is posted outside of the transaction's account */
	const struct txn *t;    /* whose account it is; NULL = none is open */
	struct net_counts at;   /* the sum at the last turn */
	uint64_t at_ns;
	bool clock; /* TIMING */
	struct sql_meter begin, planning, statement, commit;
};

/* Where a span began, for its end. */
struct sql_span {
	struct sql_meter *outside;
	struct net_counts at;
	uint64_t at_ns;
};

/* From now on `to` is charged; NULL = no meter. */
void sql_meter_turn(struct sql_gauge *g, struct sql_meter *to);
/* The transaction's account opens or, with NULL, has been added to paid. */
void sql_meter_account(struct sql_gauge *g, const struct txn *t);
void sql_meter_enter(struct sql_gauge *g, struct sql_meter *m, struct sql_span *s);
void sql_meter_leave(struct sql_gauge *g, struct sql_meter *m, const struct sql_span *s);

/* Makes a meter for every operator of the plan. False if there is no memory. */
bool sql_meter_plan(struct sql_plan *p);
/* What all its operators did by themselves. */
void sql_meter_sum(const struct sql_plan *p, struct net_counts *out);
void sql_meter_minus(struct net_counts *c, const struct net_counts *b);

#endif
