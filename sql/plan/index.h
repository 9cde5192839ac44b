/* index.h -- ways to a table's rows by its indexes, while one is chosen: for index.c and
 * index_merge.c. */
#ifndef NAM_SQL_PLAN_INDEX_H
#define NAM_SQL_PLAN_INDEX_H

#include <sql/plan/cost.h>
#include <sql/plan/plan_internal.h>

enum { SQL_INDEX_ARMS = 64 /* of an OR */ };

/* A condition on the table. by: the one of WHERE; NULL: it is an arm's of an OR. */
struct sql_index_source {
	struct sql_expr *e;
	struct bind_cond *by;
};

/* A way to the rows. */
struct sql_index_way {
	unsigned index;
	struct sql_index_part *part;
	unsigned parts;
	struct bind_cond **by; /* conditions that say all this, ... */
	bool *sure;            /* ... and whether they need not be asked again */
	unsigned bys;
	struct sql_expr *arms; /* of several parts: the condition */
	double ranges;
	double found, reads; /* rows that it leads to; that will be read */
	bool points;         /* ranges are single keys */
	bool ordered, backward;
	unsigned presorted; /* not ordered, but by so many of the wish's first columns */
	double cost;
};

/* Several indexes that lead to rows together. */
struct sql_index_legs {
	struct sql_index_leg *leg;
	unsigned legs; /* 0 = there is no such way */
	bool all;      /* rows that all of them lead to; else that any does */
	double reads, cost;
};

struct sql_index_choice {
	struct bind *b;
	unsigned k;
	const struct sql_costs *c;
	const struct cat_table *tab;
	struct sql_index_source *s;
	unsigned sources, wants;
	double rows, left; /* of the table; that all its conditions leave */
	struct sql_index_way best;
	bool key;                   /* best: few whole keys of the primary key */
	struct sql_index_legs legs; /* several indexes: the cheapest */
	const struct sql_access *acc;
};

/* A way by index number `index`, with room for so many parts. False: no memory. */
bool sql_way_begin(struct sql_index_choice *c, struct sql_index_way *w, unsigned index, unsigned parts);
/* What n conditions say of the index's columns, as one part of the way. */
bool sql_way_part(struct bind *b, unsigned k, struct sql_index_way *w, const struct sql_index_source *s,
    unsigned n, struct sql_index_part *p);
/* True if the part says something. */
static inline bool
sql_part_says(const struct sql_index_part *p)
{
	return p->keys > 0 || p->low != NULL || p->high != NULL || p->not_null;
}
/* The share of the table's rows that its conditions leave. */
double sql_way_share(struct bind *b, const struct sql_index_way *w);

/* index_merge.c: fills c->legs with the cheapest way by several indexes; one[0..ones): the ways by
 * one index each that conditions make use of. False: no memory. */
bool sql_plan_legs(struct sql_index_choice *c, const struct sql_index_way *one, unsigned ones);

#endif
