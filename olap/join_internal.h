/*
 * join_internal.h -- a participant's part of a join, shared by the file that runs its phases and
 * the one that looks for partners.
 */
#ifndef NAM_OLAP_JOIN_INTERNAL_H
#define NAM_OLAP_JOIN_INTERNAL_H

#include "table.h"

enum olap_keep { KEEP_NONE, KEEP_UNMATCHED, KEEP_MATCHED };
enum olap_side { LEFT, RIGHT };

struct olap_task {
	uint32_t partition, first, n; /* windows of the probing side */
	uint8_t build;                /* enum olap_side */
	bool probes, keeps;           /* gives pairs and probing tuples; tuples of the table */
};

/* A participant's part of a join. */
struct olap_run {
	struct olap_job *job;
	struct olap_join *j;
	struct olap_rel rel[2];
	struct olap_reader *reader;
	struct olap_memory memory;
	struct olap_table table;
	struct olap_area staged, part[2];
	struct olap_piece *piece;
	unsigned pieces_cap;
	struct olap_task *task;
	uint32_t tasks;
	nam_status (*one)(struct olap_run *r, const struct olap_task *task); /* does a task */
	struct olap_pairs out;
	uint64_t given; /* batches of pairs */
};

/* What a kind gives: pairs, and which tuples of either side for having a partner or none. */
struct olap_rule {
	bool pairs;
	enum olap_keep keep[2];
};
extern const struct olap_rule olap_rule[OLAP_KINDS];

/* What waits to be given goes to the sink. */
nam_status olap_give(struct olap_run *r);
/* Looks for the partners of n tuples in the table. What is given points into t and the table. */
nam_status olap_probe(struct olap_run *r, const struct olap_task *task, const char *t, uint32_t n);
/* The table's tuples that are wanted for having, or not having, a partner. */
nam_status olap_give_kept(struct olap_run *r, const struct olap_task *task);

#endif
