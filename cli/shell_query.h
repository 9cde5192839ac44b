/*
 * shell_query.h -- for shell commands that ask the catalog: their queries, texts, psql's patterns.
 */
#ifndef NAM_CLI_SHELL_QUERY_H
#define NAM_CLI_SHELL_QUERY_H

#include "shell.h"

#include <stdarg.h>

enum { SHELL_PRINT_COLUMNS = 16 };

/* All rows of a query as text, row by row; NULL is "". */
struct shell_answer {
	struct nam_arena arena;
	const struct sql_column *column;
	const char **cell;
	unsigned cells, cap, cols;
};
/* False if it failed; the error has been shown. To be freed either way. */
bool shell_query(struct shell *sh, struct shell_answer *a, const char *text);
bool shell_queryf(struct shell *sh, struct shell_answer *a, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void shell_answer_free(struct shell_answer *a);

/*
 * A table; kind NULL = text. foot: lines below it, in place of the count of rows; NULL = the count.
 */
void shell_print(struct shell *sh, const char *title, unsigned cols, const char *const *name,
    const enum cn_kind *kind, const char *const *cell, unsigned cells, const char *foot);

/* A text that grows; begins as zeros, p is freed by its owner. */
struct shell_text {
	char *p;
	size_t n;
	bool failed; /* no memory */
};
void shell_text_add(struct shell_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* 'text' as an SQL literal. */
void shell_text_literal(struct shell_text *t, const char *s);

/*
 * psql's patterns: * and ? stand for any characters and for one, letters are folded to lower case,
 * within double quotes everything means itself, a dot stands between schema and name. As regular
 * expressions, as SQL literals.
 */
struct shell_pattern {
	struct shell_text schema, name; /* schema '': none was said */
};
/* False if it makes no sense; the user has been told. */
bool shell_pattern(struct shell *sh, const char *pattern, struct shell_pattern *out);
void shell_pattern_free(struct shell_pattern *p);

/* ---- shell_list.c */
/* Relations that fit: rows of these. types: an SQL list of 'table', 'view', 'sequence', 'index'. */
enum {
	SHELL_RELATION_ID,
	SHELL_RELATION_NAME,
	SHELL_RELATION_TYPE,
	SHELL_RELATION_VERSIONS,
	SHELL_RELATION_ROW_BYTES,
	SHELL_RELATION_TABLE, /* of an index */
	SHELL_RELATION_ROWS,  /* as ANALYZE counted them */
	SHELL_RELATION_SCHEMA,
	SHELL_RELATION_COLUMNS
};
bool shell_relations(
    struct shell *sh, struct shell_answer *a, const char *types, const char *pattern, bool system);
/*
 * \d without a name, \dt, \dv, \ds, \di, \dn, \df, \du, \l: what is the command without its
 * backslash.
 */
bool shell_list(struct shell *sh, const char *what, const char *pattern);
/* ---- shell_describe.c: \d NAME */
bool shell_describe(struct shell *sh, const char *pattern, bool system, bool more);

#endif
