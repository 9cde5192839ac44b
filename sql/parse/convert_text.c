/* convert_text.c -- libpg_query's trees back to text, in which the catalog keeps defaults, checks
 * and views. */
#include <sql/parse/convert.h>

#include <pg_query.h>
#include <stdio.h>
#include <stdlib.h>

const char *
sql_convert_query_text(struct sql_convert *c, const PgQuery__Node *query)
{
	PgQuery__RawStmt raw = PG_QUERY__RAW_STMT__INIT;
	PgQuery__RawStmt *stmt[1] = { &raw };
	PgQuery__ParseResult tree = PG_QUERY__PARSE_RESULT__INIT;
	raw.stmt = (PgQuery__Node *)(uintptr_t)query;
	tree.n_stmts = 1;
	tree.stmts = stmt;
	PgQueryProtobuf bytes = { .len = pg_query__parse_result__get_packed_size(&tree) };
	if ((bytes.data = malloc(bytes.len)) == NULL) {
		cat_error(c->err, "53200", "out of memory while parsing");
		return NULL;
	}
	pg_query__parse_result__pack(&tree, (uint8_t *)bytes.data);
	PgQueryDeparseResult r = pg_query_deparse_protobuf(bytes);
	free(bytes.data);
	const char *out = NULL;
	if (r.error != NULL || r.query == NULL)
		sql_convert_no(c, "keeping this kind of expression is", -1);
	else
		out = sql_convert_str(c, r.query);
	pg_query_free_deparse_result(r);
	return out;
}

const char *
sql_convert_text(struct sql_convert *c, const PgQuery__Node *expr)
{
	PgQuery__ResTarget target = PG_QUERY__RES_TARGET__INIT;
	PgQuery__SelectStmt select = PG_QUERY__SELECT_STMT__INIT;
	PgQuery__Node target_node = PG_QUERY__NODE__INIT, select_node = PG_QUERY__NODE__INIT;
	PgQuery__Node *list[1] = { &target_node };
	target.val = (PgQuery__Node *)(uintptr_t)expr;
	target_node.node_case = PG_QUERY__NODE__NODE_RES_TARGET;
	target_node.res_target = &target;
	select.n_target_list = 1;
	select.target_list = list;
	select.limit_option = PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_DEFAULT;
	select.op = PG_QUERY__SET_OPERATION__SETOP_NONE;
	select_node.node_case = PG_QUERY__NODE__NODE_SELECT_STMT;
	select_node.select_stmt = &select;
	const char *text = sql_convert_query_text(c, &select_node);
	return text && strncmp(text, "SELECT ", 7) == 0 ? text + 7 : text;
}
