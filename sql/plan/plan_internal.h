/* plan_internal.h -- shared by plan.c and join.c. */
#ifndef NAM_SQL_PLAN_INTERNAL_H
#define NAM_SQL_PLAN_INTERNAL_H

#include <sql/plan/bind/bind.h>

/* One operand of a region's inner joins: a table, or an outer join (then table is
 * SQL_TABLES_MAX). */
struct plan_item {
	struct sql_node *node;
	struct sql_set mask;
	unsigned table;
};

/* Conditions of the region b->where.home that no operator has taken yet. */
static inline bool
sql_plan_open(const struct bind *b, const struct bind_cond *c)
{
	return !c->used && c->home == b->where.home;
}

/* plan.c */
/* The way to read table k: the columns of it that are used. */
bool sql_plan_access(struct bind *b, struct sql_access *a, unsigned k);
/* bind/lateral.c: rows of left beside what table k, which uses them, gives; keep_left: beside
 * NULLs if it gives none. */
struct sql_node *sql_plan_lateral(
    struct bind *b, struct sql_node *left, const struct sql_set *have, unsigned k, bool keep_left);
/* Tables whose columns it speaks of. */
struct sql_set sql_plan_lateral_needs(const struct bind *b, const struct sql_sub *s);
/*
 * lateral.c: the operands so far with LATERAL item k among them: joined with all of them, or with
 * those alone that it uses.
 */
bool sql_plan_lateral_item(struct bind *b, struct plan_item *item, unsigned *items, unsigned k);
bool sql_plan_filter(struct bind *b, struct sql_node *n, struct sql_expr **e, unsigned count);
bool sql_plan_push_down(struct bind *b, struct sql_node *n, const struct sql_set *tables, bool first);
unsigned *sql_plan_columns_of(struct bind *b, const struct sql_set *tables, unsigned *count);
/* Tables first..end-1 of region b->where.home, joined. */
struct sql_node *sql_plan_region(struct bind *b, unsigned first, unsigned end, struct sql_set *have);

/* Keys for table k out of conditions over given tables, which count as used then. NULL = no full
 * key. */
/* each (not NULL): the number + 1 of the key that is an array, each element of which makes a key;
 * 0 = none is. */
struct sql_expr **sql_plan_full_key(
    struct bind *b, unsigned k, const struct sql_set *given, unsigned *probes, unsigned *each);
/* Is there one? Conditions on table k alone count even if its scan asks them. */
bool sql_plan_has_key(const struct bind *b, unsigned k, const struct sql_set *given);
struct sql_node *sql_plan_lookup(
    struct bind *b, struct sql_node *left, const struct sql_set *have, unsigned k, struct sql_expr **key);

/* The value that a condition gives a column, of a type that it can be compared with as it is; NULL
 * = none. given: tables whose rows are at hand. */
struct sql_expr *sql_plan_key_value(
    const struct bind_cond *c, unsigned index, enum cat_type type, const struct sql_set *given);
/* True if this condition may give a key of table k. A constant may also if the table's scan has
 * taken it already. */
bool sql_plan_may_give(const struct bind *b, const struct bind_cond *c, unsigned k);

/* How rows of given tables find those of another one: by the first columns of an index's key. */
/* plan.c: a statement without steps of its own; in->steps are named in it. */
struct sql_plan *sql_plan_one(const struct ast_stmt *st, const struct sql_bind_in *in, struct cat_err *err);
/* steps.c */
const struct ast_with *sql_with_of(const struct ast_stmt *st);
struct sql_plan *sql_plan_steps(const struct ast_stmt *st, const struct sql_bind_in *in, struct cat_err *err);
void sql_steps_free(struct sql_steps *all);

struct plan_index_join {
	unsigned index, keys; /* keys 0 = there is no such index */
	bool full;            /* all its columns: keys are sought together */
	bool exact;           /* no others are found */
	double rows;          /* for a row of the given tables */
	struct sql_expr **key;
	struct bind_cond **by;
};
bool sql_plan_index_join(
    struct bind *b, unsigned k, const struct sql_set *given, struct plan_index_join *out);
/* That join; its conditions count as used then. */
struct sql_node *sql_plan_index_lookup(struct bind *b, struct sql_node *left, const struct sql_set *have,
    unsigned k, const struct plan_index_join *j);
/* index.c: table k by one of its indexes, if conditions with constants give values of its first
 * columns and that costs less than a scan; *out NULL = it does not. */
bool sql_plan_index(struct bind *b, unsigned k, struct sql_node **out);

/* order.c: what follows from the region's equalities: a = b AND b = 5: a = 5; then its operands
 * joined. */
bool sql_plan_derive(struct bind *b);
struct sql_node *sql_plan_order(
    struct bind *b, const struct plan_item *item, unsigned items, struct sql_set *have);

/* join.c */
bool sql_plan_joinable(
    const struct bind *b, const struct bind_cond *c, const struct sql_set *have, const struct sql_set *one);
struct sql_node *sql_plan_hash_join(struct bind *b, struct sql_node *left, const struct sql_set *lmask,
    struct sql_node *right, const struct sql_set *rmask, enum ast_join_kind kind);
/* Outer joins whose NULLs a condition rejects become inner joins. */
void sql_plan_reduce(struct bind *b);
/* lateral.c: a, b LEFT JOIN LATERAL (..a..) becomes (a CROSS JOIN b) LEFT JOIN LATERAL (..). */
void sql_plan_widen(struct bind *b);
/* The widest outer join that begins at table `first` and ends before `end`; b->joins.outers:
 * none. */
unsigned sql_plan_outer_at(const struct bind *b, unsigned first, unsigned end);
struct sql_node *sql_plan_outer(struct bind *b, unsigned outer, bool first, struct sql_set *mask);

/* What is kept of a join's other side: its columns, and keys that are none of them. */
bool sql_plan_place_keys(struct bind *b, struct sql_op_join *n);
/* semi.c: which conditions of WHERE become semijoins, before the joins are planned; then these
 * joins, put into the tree. */
void sql_plan_semi_begin(struct bind *b);
struct sql_node *sql_plan_semi(struct bind *b, struct sql_node *root);
/* patience.c: of all subqueries of a plan whose costs are known. */
void sql_plan_patience(struct sql_plan *p, const struct sql_costs *c);
/* push.c: open conditions on table k alone, a query without operators yet, that it may ask itself:
 * now it does. */
bool sql_plan_push_into(struct bind *b, unsigned k);
/* share.c: joins of a FROM list that would keep the same rows. */
bool sql_plan_share_builds(struct bind *b, struct sql_node *n);
/* prune_columns.c: when all of a plan is there: drops the columns that no operator needs. */
bool sql_plan_prune_columns(struct bind *b, struct sql_plan *p);
/* prune_output.c: the last step, when all of a plan is there. */
bool sql_plan_prune_output(struct bind *b, struct sql_plan *p);

#endif
