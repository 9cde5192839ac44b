/* convert_cursor.c -- DECLARE, FETCH and MOVE. */
#include <sql/parse/convert.h>

/* The grammar's options of DECLARE. */
enum { BINARY = 0x1, SCROLL = 0x2, NO_SCROLL = 0x4, HOLD = 0x20 };

bool
sql_convert_declare(struct sql_convert *c, const PgQuery__DeclareCursorStmt *s, struct ast_stmt *st)
{
	int options = s->options;
	st->kind = AST_DECLARE;
	st->cursor = (struct ast_cursor){ .scroll = options & SCROLL,
		.no_scroll = options & NO_SCROLL,
		.hold = options & HOLD,
		.binary = options & BINARY };
	if ((st->var = sql_convert_str(c, s->portalname)) == NULL ||
	    (st->inner = sql_convert_stmt(c, s->query)) == NULL)
		return false;
	if (st->inner->kind != AST_SELECT)
		return sql_convert_no(c, "cursors for this kind of statement are", -1);
	st->inner->params = c->params;
	return true;
}

bool
sql_convert_fetch(struct sql_convert *c, const PgQuery__FetchStmt *s, struct ast_stmt *st)
{
	static const enum ast_fetch_way way[] = {
		[PG_QUERY__FETCH_DIRECTION__FETCH_FORWARD] = AST_FETCH_FORWARD,
		[PG_QUERY__FETCH_DIRECTION__FETCH_BACKWARD] = AST_FETCH_BACKWARD,
		[PG_QUERY__FETCH_DIRECTION__FETCH_ABSOLUTE] = AST_FETCH_ABSOLUTE,
		[PG_QUERY__FETCH_DIRECTION__FETCH_RELATIVE] = AST_FETCH_RELATIVE,
	};
	st->kind = AST_FETCH;
	st->fetch.count = s->how_many;
	st->fetch.move = s->ismove;
	if ((size_t)s->direction < sizeof way / sizeof *way)
		st->fetch.way = way[s->direction];
	return (st->var = sql_convert_str(c, s->portalname)) != NULL;
}
