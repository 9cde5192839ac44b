/* plan_test.c -- which operators a statement gets, which types its parameters, which error its
 * mistakes; no cluster needed. */
#include <sql/parse/parse.h>
#include <sql/plan/op.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct sql_parser *parser;

static struct cat_column item_col[] = {
	{ .name = "id", .type = CAT_INT4, .typmod = -1, .not_null = true },
	{ .name = "title", .type = CAT_TEXT, .typmod = 60 },
	{ .name = "price", .type = CAT_NUMERIC, .typmod = 15 << 16 | 2 },
	{ .name = "stock", .type = CAT_INT8, .typmod = -1 },
	{ .name = "since", .type = CAT_DATE, .typmod = -1 },
};
static struct cat_column line_col[] = {
	{ .name = "o_id", .type = CAT_INT8, .typmod = -1 },
	{ .name = "no", .type = CAT_INT4, .typmod = -1 },
	{ .name = "i_id", .type = CAT_INT4, .typmod = -1 },
	{ .name = "qty", .type = CAT_INT4, .typmod = -1 },
};
static struct cat_column note_col[] = {
	{ .name = "id", .type = CAT_INT4, .typmod = -1 },
	{ .name = "body", .type = CAT_TEXT, .typmod = -1 },
};
static struct cat_table tables[] = {
	{ .path = "item", .columns = 5, .column = item_col, .keys = 1, .key = { 0 }, .store = { .id = 1 } },
	{ .path = "line",
	    .columns = 4,
	    .column = line_col,
	    .keys = 2,
	    .key = { 0, 1 },
	    .store = { .id = 2 } },
	{ .path = "note", .columns = 2, .column = note_col, .store = { .id = 3 } },
};
static const struct sql_hint hints[] = { { 1, 10000 }, { 2, 50000 }, { 3, 20 } };

static nam_status
find(void *arg, const char *name, const struct cat_table **out)
{
	(void)arg;
	*out = NULL;
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (strcmp(tables[i].path, name) == 0)
			*out = &tables[i];
	return NAM_OK;
}

static void
shape(const struct sql_node *n, char *out, size_t max)
{
	static const char *const name[] = { "one", "values", "scan", "get", "index", "join", "agg", "project",
		"sort", "limit", [SQL_NODE_APPEND] = "append", [SQL_NODE_SETOP] = "setop",
		[SQL_NODE_SERIES] = "series", [SQL_NODE_UNNEST] = "unnest", [SQL_NODE_RECURSE] = "recurse",
		[SQL_NODE_CTE] = "cte", [SQL_NODE_DERIVED] = "derived", [SQL_NODE_EXPAND] = "sets",
		[SQL_NODE_LATERAL] = "lateral", [SQL_NODE_SEMI] = "semi" };
	size_t at = strlen(out);
	snprintf(out + at, max - at, "%s%s%s", at && out[at - 1] != '(' && out[at - 1] != ',' ? " " : "",
	    name[n->kind], n->filter ? "?" : "");
	const struct sql_access *a = sql_node_access(n);
	if (a != NULL) {
		at = strlen(out);
		snprintf(out + at, max - at, ":%s/%u", a->tab->path, a->wants);
	}
	if (n->kind == SQL_NODE_GET && sql_op(get, n)->probes > 1) {
		at = strlen(out);
		snprintf(out + at, max - at, "*%u", sql_op(get, n)->probes);
	}
	if (n->build != NULL) {
		at = strlen(out);
		snprintf(out + at, max - at, "(");
		shape(n->child, out, max);
		at = strlen(out);
		snprintf(out + at, max - at, ",");
		shape(n->build, out, max);
		at = strlen(out);
		snprintf(out + at, max - at, ")");
	} else if (n->child != NULL) {
		shape(n->child, out, max);
	}
}

/* The operators from the top, the types of the parameters; or the SQLSTATE and position. */
static const char *
plan(const char *text)
{
	static char out[600];
	struct sql_parsed *p;
	struct cat_err err;
	if (!sql_parse(parser, text, strlen(text), &p, &err)) {
		snprintf(out, sizeof out, "%s@%d", err.sqlstate, err.position);
		return out;
	}
	struct sql_bind_in in = { .find = find, .hint = hints, .hints = 3 };
	struct sql_plan *q = sql_plan_make(p->stmt[0], &in, &err);
	out[0] = 0;
	if (q == NULL) {
		snprintf(out, sizeof out, "%s@%d", err.sqlstate, err.position);
	} else {
		if (q->root != NULL)
			shape(q->root, out, sizeof out);
		else
			snprintf(out, sizeof out, "rows %u", q->rows);
		for (unsigned i = 0; i < q->params; i++) {
			size_t at = strlen(out);
			snprintf(out + at, sizeof out - at, " $%s", cat_type_name(q->param[i]));
		}
	}
	sql_plan_free(q);
	sql_parsed_drop(p);
	return out;
}

#define is(text, answer) assert_string_equal(plan(text), answer)

static void
access(void **state)
{
	(void)state;
	is("select title from item where id = $1", "project get:item/1 $integer");
	is("select 1 from item where $1 = id", "project get:item/0 $integer");
	is("select 1 from item where id = 5000000000", "project get:item/0");
	is("select 1 from item where id = '7'", "project get:item/0");
	is("select 1 from item where id = 7.0", "project scan?:item/1");
	is("select 1 from item where id = 7 and stock > 3", "project get?:item/1");
	is("select 1 from item where id + 1 = 7", "project scan?:item/1");
	is("select 1 from item where id = stock", "project scan?:item/2");
	is("select 1 from item where id in (1, $1, 3)", "project get:item/0*3 $integer");
	is("select 1 from item where id not in (1, 3)", "project scan?:item/1");
	is("select 1 from item where id in (1, stock)", "project scan?:item/2");
	is("select 1 from item where id = 1 or id = 2", "project scan?:item/1");
	is("select 1 from line where o_id = 1", "project scan?:line/1");
	is("select 1 from line where o_id = 1 and no = $1", "project get:line/0 $integer");
	is("select 1 from line where no = 1 and o_id = 2 and qty = 3", "project get?:line/1");
	is("select count(*) from item", "project agg scan:item/0");
	is("select 1 where 1 = $1", "project one? $integer");
}

static void
joins(void **state)
{
	(void)state;
	/* the smaller side is kept */
	is("select * from item, note where item.id = note.id", "project get:item/5 scan:note/2");
	is("select * from item, note where item.title = note.body", "project join(scan:item/5,scan:note/2)");
	is("select 1 from item join line on i_id = item.id", "project join(scan:line/1,scan:item/1)");
	/* few rows look up */
	is("select title from line join item on i_id = item.id where o_id = 1 and no = 2",
	    "project get:item/1 get:line/1");
	is("select title from line join item on i_id = item.id and title = 'x' where o_id = 1 and no = 2",
	    "project get?:item/1 get:line/1");
	/* without an equality: pairs, the condition on top */
	is("select 1 from item, note where item.id < note.id", "project join?(scan:item/1,scan:note/1)");
	/* conditions go down */
	is("select 1 from item, note where item.title = body and price > 3 and note.id = 2",
	    "project join(scan?:item/2,scan?:note/2)");
	is("select 1 from item a join item b using (id) join item c using (id)",
	    "project join(join(scan:item/1,scan:item/1),scan:item/1)");
}

static void
tops(void **state)
{
	(void)state;
	is("select distinct title from item order by 1 limit 3", "limit sort agg project scan:item/1");
	is("select title, sum(stock) from item group by title having count(*) > 1 order by max(price)",
	    "sort project agg? scan:item/3");
	is("values (1), (2)", "values");
	is("insert into note values (1, 'a'), ($1, $2)", "rows 2 $integer $text");
	is("insert into note select id, title from item", "project scan:item/2");
	is("insert into note select $1, $2", "project one $integer $text");
	is("update item set stock = stock - $1 where id = $2", "get:item/5 $bigint $integer");
	is("delete from item where id = $1", "get:item/1 $integer");
	is("delete from note where body like $1", "scan?:note/1 $text");
}

static void
parameters(void **state)
{
	(void)state;
	is("select 1 from item where since > $1 and price = $2 and title || $3 = 'x'",
	    "project scan?:item/3 $date $numeric $text");
	is("select $1", "project one $text");
	is("select $1::date, cast($2 as bigint)", "project one $date $bigint");
	is("select coalesce($1, 1), case when $2 then $3 else 1.5 end",
	    "project one $integer $boolean $numeric");
	is("select 1 from item limit $1 offset $2", "limit project scan:item/0 $bigint $bigint");
	is("select 1 from item where since + $1 > since", "42725@32");
	is("select $1 = $2", "project one $text $text");
	is("select - $1", "42725@8");
	is("select sum($1) from item", "42725@8");
	is("select $2", "42P18@0");
}

static void
mistakes(void **state)
{
	(void)state;
	is("select nope from item", "42703@8");
	is("select item.nope from item", "42703@8");
	is("select x.id from item", "42P01@8");
	is("select 1 from nope", "42P01@15");
	is("select id from item, note", "42702@8");
	is("select 1 from item, item", "42712@21");
	is("select 1 from item a, item b where a.id = item.id", "42P01@43");
	is("select title, count(*) from item", "42803@8");
	is("select id, title, count(*) from item group by id", "project agg scan:item/2");
	is("select id from item where count(*) > 1", "42803@27");
	is("select max(min(id)) from item", "42803@12");
	is("select 1 from item group by 2", "42P10@29");
	is("select 1 from item order by 2", "42P10@29");
	is("select distinct id from item order by stock", "42P10@39");
	is("select 1 from item where title", "42804@26");
	is("select 1 from item where id = 'x'", "22P02@31");
	is("select 1 from item where title = 1", "42883@32");
	is("select *", "42601@8");
	is("insert into note values (1, 'a', 2)", "42601@34");
	is("insert into note (id, id) values (1, 2)", "42701@23");
	is("insert into note (id, nope) values (1, 2)", "42703@23");
	is("insert into note values (true, 'a')", "42804@26");
	is("update note set nope = 1", "42703@17");
	is("update note set id = 1, id = 2", "42601@25");
	is("update note set id = sum(id)", "42803@22");
	is("select 1 from item a join note b on c.id = 1 join line c on true", "42P01@37");
	is("select 1 limit id", "42P10@16");
	is("select default", "42601@8");
}

static int
setup(void **state)
{
	(void)state;
	return sql_parser_open(0, &parser) == NAM_OK ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	sql_parser_close(parser);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(access), cmocka_unit_test(joins),
		cmocka_unit_test(tops), cmocka_unit_test(parameters), cmocka_unit_test(mistakes) };
	return cmocka_run_group_tests(tests, setup, teardown);
}
