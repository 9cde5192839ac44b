/* foreign.h -- the foreign keys that a statement has to do with: shared by foreign.c (keys, and
 * when they are asked) and foreign_act.c (actions). */
#ifndef NAM_SQL_FOREIGN_H
#define NAM_SQL_FOREIGN_H

#include <sql/dml/dml_internal.h>

enum {
	SQL_FK_TOGETHER = 256, /* keys of one look, or of one action */
	SQL_FK_EARLY = 4096    /* keys that wait; more are looked up before the statement's end */
};

/* A key of the referenced table that rows refer to. */
struct wanted {
	struct wanted *next;
	uint64_t hash;
	bool never; /* the referenced column's type has no such value */
	union cat_val v[];
};

/* A key that a row of the referenced table had. */
struct gone {
	struct gone *next;
	union cat_val *was;
	union cat_val *is; /* NULL: the row is deleted; else its key now */
	bool *null;
	uint32_t ring; /* the first of so many in a ring of keys; 0 = it is not */
};

/* A foreign key that the statement has to do with. */
struct fk {
	struct fk *next;
	const struct cat_table *child, *parent;
	const struct cat_foreign *def;
	uint16_t from[CAT_KEY_MAX], to[CAT_KEY_MAX]; /* columns of child and of parent */
	int arbiter;                                 /* of parent: an index, or SQL_PRIMARY_KEY */
	int index;                                   /* of child, by which its rows are found; -1 */
	bool by_key;                                 /* its hash has just its columns */
	uint16_t order[CAT_KEY_MAX];                 /* the index's columns, as places in from */
	struct wanted **slot, *wants, **last_want;
	uint32_t mask, wanted, waiting;
	struct gone *gone, **last, *later, **last_later;
};

/* A table that the statement writes. */
struct side {
	struct side *next;
	uint32_t id;
	struct fk **out, **in;
	unsigned outs, ins;
};

struct sql_foreign {
	struct nam_arena arena, scratch;
	struct side *side;
	struct fk *all, **last;
	bool running; /* actions are being done */
	bool acted;   /* one has changed rows */
};

/* foreign.c: rows of the referenced table that have keys w[0..n), each in row[] if found[] is
 * true. */
bool sql_fk_look_up(struct sql_exec *x, const struct fk *k, const union cat_val **w, unsigned n,
    struct txn_row *row, bool *found, struct nam_arena *arena);
/* "Key (a, b)=(1, 2" into x->err's detail: columns of tab, whose values are v. Returns its
 * length. */
size_t sql_fk_words(struct sql_exec *x, const struct cat_table *tab, const uint16_t *column, unsigned n,
    const union cat_val *v, struct nam_arena *arena);

/* foreign_order.c: sets the changed keys at the beginning of a list in the order in which rows may
 * follow them, some at a time; those of a ring stand together. */
bool sql_fk_order(struct sql_exec *x, struct sql_foreign *f, const struct fk *k, struct gone **list);

/* foreign_act.c: what k does, or asks, when keys g[0..n) have gone. */
bool sql_fk_act(struct sql_exec *x, struct sql_foreign *f, const struct fk *k, enum cat_action action,
    struct gone **g, unsigned n);
/* True in *any: a row refers to that key. */
bool sql_fk_has_row(
    struct sql_exec *x, struct sql_foreign *f, const struct fk *k, const union cat_val *v, bool *any);

#endif
