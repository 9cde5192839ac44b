/* alter.h -- an ALTER TABLE under way: shared by alter.c (rules, and their order) and
 * alter_column.c (columns). */
#ifndef NAM_SQL_ALTER_H
#define NAM_SQL_ALTER_H

#include <sql/command/command.h>

/* Where a column of the new definition comes from. */
struct sql_alter_from {
	int was;                       /* that column of tab; -1 = it is new */
	bool typed;                    /* its values become others: */
	const struct ast_expr *using_; /* this, NULL = by assignment */
	const struct ast_column *added;
	char seq[CAT_PATH_MAX + 1]; /* path: to be made for it; "" = none */
};

struct sql_alter {
	struct sql_session *s;
	const struct ast_stmt *ast;
	const struct cat_table *tab;    /* as it is */
	struct cat_table *def;          /* as it is to be: room for all columns and checks of
					 * both */
	struct sql_alter_from *from;    /* by column of def */
	bool reshape;                   /* columns come or go, */
	bool rewrite;                   /* and the rows as they lie do not do */
	char (*gone)[CAT_PATH_MAX + 1]; /* paths of sequences of columns that are dropped */
	unsigned gones;
	bool order_key;    /* the primary key is to be kept in order, and is not yet: a rewrite */
	uint32_t unwanted; /* a bit for each of tab's indexes whose constraint is dropped */
	const struct sql_sink *sink;
	struct nam_arena *arena;
	struct cat_err *err;
};

/* ---- alter.c */
bool sql_alter_column(const struct cat_table *def, const char *name, unsigned *out, struct cat_err *err);
/* True if a query has a row. */
bool sql_any_of(
    struct sql_session *s, const char *text, bool *out, const struct sql_sink *sink, struct cat_err *err);
/* True if tab has a row for which a condition is true. */
bool sql_any_row(struct sql_session *s, const struct cat_table *tab, const char *condition, bool *out,
    const struct sql_sink *sink, struct nam_arena *arena, struct cat_err *err);

/* ---- alter_column.c */
bool sql_alter_add(struct sql_alter *a, const struct ast_alter *k);
bool sql_alter_drop(struct sql_alter *a, const struct ast_alter *k);
bool sql_alter_type(struct sql_alter *a, const struct ast_alter *k);
bool sql_alter_key(struct sql_alter *a);
/* Gives def the places its rows have when those there are stay as they are; a->rewrite when that
 * cannot be. */
bool sql_alter_places(struct sql_alter *a);
/* Also drops the sequences of dropped columns. */
bool sql_alter_sequences(struct sql_alter *a);
/* True if the views that read the table also bind against the new definition. */
bool sql_alter_views(struct sql_alter *a);
/* A table of def's columns, under its name, with the rows as they become. *made: it. */
bool sql_alter_rewrite(struct sql_alter *a, const struct cat_table *def, const struct cat_table **made);

/* ---- foreign.c */
/* def's lists of foreign keys become its own, with room for those that are added. */
bool sql_alter_foreign_begin(struct sql_alter *a);
bool sql_alter_drop_foreign(struct sql_alter *a, const char *name, bool *found);
/* Before a column is dropped: its foreign keys go; those that refer to it are an error, or go. */
bool sql_alter_drop_referred(struct sql_alter *a, const struct ast_alter *k);
bool sql_alter_type_referred(struct sql_alter *a, const char *column);
/* Makes the foreign keys that are added, when the table is as it will be. */
bool sql_alter_add_foreign(struct sql_alter *a, const struct cat_table *is);

/* ---- alter_index.c */
/* True if a UNIQUE constraint has that name: it will be dropped. */
bool sql_alter_drop_unique(struct sql_alter *a, const char *name);
/* SET and RESET of "primary_key". */
bool sql_alter_key_kind(struct sql_alter *a);
/* Drops the indexes that go; def gets the others. a->tab becomes the definition without them. */
bool sql_alter_indexes(struct sql_alter *a);
/* Makes the indexes of UNIQUE constraints that are added, when the table is as it will be. */
bool sql_alter_add_indexes(struct sql_alter *a, const struct cat_table *is);

#endif
