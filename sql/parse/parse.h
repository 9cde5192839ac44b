/*
 * parse.h -- text to ast_stmt, on the parser's own thread.
 */
#ifndef NAM_SQL_PARSE_H
#define NAM_SQL_PARSE_H

#include <sql/parse/ast.h>
#include <sql/sql.h>

enum { SQL_DEPTH_MAX = 300 };

/* All statements of one text. Shared between sessions, counted. */
struct sql_parsed {
	_Atomic int refs;
	struct nam_arena arena;
	char *text; /* our copy, 0-terminated */
	size_t len;
	uint64_t hash;
	unsigned stmts;
	struct ast_stmt **stmt;
};

/*
 * Parses, or finds the text in the cache. In a coroutine: parks it meanwhile; on a plain stack:
 * blocks. Errors: 42601, 54000, 54001, 0A000; *err->position counts bytes.
 */
bool sql_parse(
    struct sql_parser *p, const char *text, size_t len, struct sql_parsed **out, struct cat_err *err);
/* One more owner; one less. */
struct sql_parsed *sql_parsed_hold(struct sql_parsed *p);
void sql_parsed_drop(struct sql_parsed *p);

/* True if parsing this text could need more stack than the parser has. Cheap: one pass, no
 * allocation. */
bool sql_text_too_deep(const char *text, size_t len);

/* True if the parser would copy parts of it too often. Likewise cheap. */
bool sql_text_too_wide(const char *text, size_t len);

/* convert.c: on the parser's thread. */
struct sql_convert {
	struct nam_arena *arena;
	struct cat_err *err;
	unsigned depth, deepest, params;
	struct ast_expr **window; /* of the SELECT at hand */
	unsigned windows;
	const char *text;
	const void *into; /* the INTO clause that is allowed: the statement's own */
};

#endif
