/* dml_test.c -- ON CONFLICT, UPDATE ... FROM, DELETE ... USING: statement and answer, line by
 * line. */
#include "golden.h"

static const struct golden conflicts[] = {
	{ "create table k (id int primary key, a int, b text not null)", "CREATE TABLE" },
	{ "create table k2 (x int, y text, v int, primary key (x, y))", "CREATE TABLE" },
	{ "create table heap (a int)", "CREATE TABLE" },
	{ "insert into k values (1, 10, 'one'), (2, 20, 'two')", "INSERT 0 2" },
	{ "insert into k values (1, 11, 'uno') on conflict do nothing", "INSERT 0 0" },
	{ "insert into k values (1, 11, 'uno') on conflict (id) do nothing", "INSERT 0 0" },
	{ "insert into k values (1, 11, 'uno') on conflict on constraint k_pkey do nothing", "INSERT 0 0" },
	{ "insert into k values (1, 1, 'x'), (3, 30, 'three'), (3, 31, 'again') on conflict do nothing "
	  "returning *",
	    "3|30|three; INSERT 0 1" },
	{ "insert into k values (1, 11, 'uno') on conflict (id) do update set a = excluded.a, b = excluded.b "
	  "returning id, a, b",
	    "1|11|uno; INSERT 0 1" },
	{ "insert into k values (1, 5, 'x') on conflict (id) do update set a = k.a + excluded.a returning *",
	    "1|16|uno; INSERT 0 1" },
	{ "insert into k as t values (1, 5, 'x') on conflict (id) do update set a = t.a * 2 returning t.a",
	    "32; INSERT 0 1" },
	{ "insert into k values (1, 1, 'x'), (9, 90, 'nine'), (2, 2, 'y') on conflict (id) do update set a = "
	  "excluded.a, b = k.b || excluded.b returning *",
	    "1|1|unox;9|90|nine;2|2|twoy; INSERT 0 3" },
	{ "insert into k values (1, 100, 'x'), (2, 200, 'y') on conflict (id) do update set a = excluded.a "
	  "where k.a > 1 returning *",
	    "2|200|twoy; INSERT 0 1" },
	{ "insert into k values (1, 1, 'x') on conflict (id) do update set a = 0 where false", "INSERT 0 0" },
	{ "insert into k values (4, 1, 'x'), (4, 2, 'y') on conflict (id) do update set a = excluded.a",
	    "ERROR 21000: ON CONFLICT DO UPDATE command cannot affect row a second time" },
	{ "insert into k values (1, 1, 'x'), (1, 2, 'y') on conflict (id) do update set a = excluded.a",
	    "ERROR 21000: ON CONFLICT DO UPDATE command cannot affect row a second time" },
	{ "select * from k order by id", "1|1|unox;2|200|twoy;3|30|three;9|90|nine; SELECT 4" },
	{ "insert into k values (1, 1, null) on conflict (id) do nothing",
	    "ERROR 23502: null value in column \"b\" of relation \"k\" violates not-null constraint" },
	{ "insert into k values (1, 1, 'x') on conflict (id) do update set b = null",
	    "ERROR 23502: null value in column \"b\" of relation \"k\" violates not-null constraint" },
	{ "insert into k values (null, 1, 'x') on conflict do nothing",
	    "ERROR 23502: null value in column \"id\" of relation \"k\" violates not-null constraint" },
	{ "insert into k values (1, 1, 'x') on conflict do update set a = 1",
	    "ERROR 42601: ON CONFLICT DO UPDATE requires inference specification or constraint name" },
	{ "insert into k values (1, 1, 'x') on conflict (a) do nothing",
	    "ERROR 42P10: there is no unique or exclusion constraint matching the ON CONFLICT "
	    "specification" },
	{ "insert into k values (1, 1, 'x') on conflict (id, a) do nothing",
	    "ERROR 42P10: there is no unique or exclusion constraint matching the ON CONFLICT "
	    "specification" },
	{ "insert into k values (1, 1, 'x') on conflict (zz) do nothing",
	    "ERROR 42703: column \"zz\" does not exist" },
	{ "insert into k values (1, 1, 'x') on conflict on constraint nope do nothing",
	    "ERROR 42704: constraint \"nope\" for table \"k\" does not exist" },
	{ "insert into k values (1, 1, 'x') on conflict (id) do update set zz = 1",
	    "ERROR 42703: column \"zz\" of relation \"k\" does not exist" },
	{ "insert into k values (1, 1, 'x') on conflict (id) do update set a = a + 1",
	    "ERROR 42702: column reference \"a\" is ambiguous" },
	{ "insert into k values (1, 1, 'x') on conflict (id) do update set a = 'q'",
	    "ERROR 22P02: invalid input syntax for type integer: \"q\"" },
	{ "insert into k values (1, 1, 'x') on conflict (id) do update set a = 1, a = 2",
	    "ERROR 42601: multiple assignments to same column \"a\"" },
	{ "insert into k values (1, 1, 'x') on conflict (id) do update set (a, b) = (7, 'seven') returning *",
	    "1|7|seven; INSERT 0 1" },
	{ "insert into k values (1, 1, 'x') on conflict (id) do update set (a, b) = (7)",
	    "ERROR 0A000: source for a multiple-column UPDATE item must be a sub-SELECT or ROW() "
	    "expression" },
	{ "insert into k values (1, 1, 'x') on conflict (id) do update set (a, b) = (7, 'q', 3)",
	    "ERROR 42601: number of columns does not match number of values" },
	{ "insert into k values (1, 1, 'x') on conflict (id) do update set id = 50", "INSERT 0 1" },
	{ "insert into k values (2, 1, 'x') on conflict (id) do update set id = 3",
	    "ERROR 23505: duplicate key value violates unique constraint \"k_pkey\"" },
	{ "insert into k (id, b) select id + 1, b || '+' from k where id < 10 on conflict (id) do update set "
	  "b = "
	  "excluded.b",
	    "INSERT 0 3" },
	{ "select * from k order by id",
	    "2|200|twoy;3|30|twoy+;4|~|three+;9|90|nine;10|~|nine+;50|7|seven; SELECT 6" },
	{ "insert into k (id, b) select id, 'z' from k on conflict do nothing", "INSERT 0 0" },
	{ "insert into k select id, a, b from k where false on conflict do nothing", "INSERT 0 0" },
	{ "insert into k2 values (1, 'a', 1), (1, 'b', 2)", "INSERT 0 2" },
	{ "insert into k2 values (1, 'b', 5), (2, 'a', 7) on conflict (y, x) do update set v = k2.v + "
	  "excluded.v returning v",
	    "7;7; INSERT 0 2" },
	{ "insert into k2 values (1, 'b', 5) on conflict (x) do nothing",
	    "ERROR 42P10: there is no unique or exclusion constraint matching the ON CONFLICT "
	    "specification" },
	{ "insert into heap values (1), (1) on conflict do nothing", "INSERT 0 2" },
	{ "insert into heap values (1) on conflict (a) do nothing",
	    "ERROR 42P10: there is no unique or exclusion constraint matching the ON CONFLICT "
	    "specification" },
	/* in a transaction: own rows count */
	{ "begin; insert into k values (70, 1, 'n'); insert into k values (70, 2, 'm') on conflict (id) do "
	  "update set a = k.a + excluded.a returning a; commit",
	    "BEGIN INSERT 0 13; INSERT 0 1 COMMIT" },
	{ "begin; delete from k where id = 70; insert into k values (70, 5, 'back') on conflict (id) do "
	  "nothing; commit; select * from k where id = 70",
	    "BEGIN DELETE 1 INSERT 0 1 COMMIT70|5|back; SELECT 1" },
	{ "begin isolation level repeatable read; insert into k values (70, 1, 'n'), (71, 1, 'o') on "
	  "conflict "
	  "(id) do update set a = 99 returning *; commit",
	    "BEGIN70|99|back;71|1|o; INSERT 0 2 COMMIT" },
	{ "explain insert into k values (1, 1, 'x') on conflict do nothing", "Insert on k; EXPLAIN" },
};

static const struct golden joins[] = {
	{ "create table t (id int primary key, a int, b text)", "CREATE TABLE" },
	{ "create table u (id int primary key, t_id int, n int, s text)", "CREATE TABLE" },
	{ "create table v (x int, y int, primary key (x, y))", "CREATE TABLE" },
	{ "create table heap (a int)", "CREATE TABLE" },
	{ "insert into t values (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c'), (4, null, null)", "INSERT 0 4" },
	{ "insert into u values (1, 1, 100, 'x'), (2, 2, 200, 'y'), (3, 9, 300, 'z'), (4, null, 400, 'w')",
	    "INSERT 0 4" },
	{ "insert into v values (1, 1), (1, 2), (2, 1)", "INSERT 0 3" },
	{ "insert into heap values (1)", "INSERT 0 1" },
	{ "update t set a = u.n from u where t.id = u.t_id", "UPDATE 2" },
	{ "select * from t order by id", "1|100|a;2|200|b;3|30|c;4|~|~; SELECT 4" },
	{ "update t as x set a = x.a + u.n, b = u.s || x.b from u where x.id = u.t_id and u.n > 100 "
	  "returning "
	  "x.id, x.a, x.b, u.s, n",
	    "2|400|yb|y|200; UPDATE 1" },
	{ "update t set (a, b) = (u.n * 2, null) from u where t.id = u.t_id and u.id = 1 returning *",
	    "1|200|~|1|1|100|x; UPDATE 1" },
	{ "update t set a = 5 from u, v where t.id = u.t_id and v.x = u.id and t.id = 1 returning t.*, v.x",
	    "1|5|~|1; UPDATE 1" },
	{ "update t set a = 0 from u join v on v.x = u.id where t.id = u.t_id", "UPDATE 2" },
	{ "update t set a = 1 from u where false", "UPDATE 0" },
	{ "update t set a = 1 from u", "UPDATE 4" },
	{ "update t set id = t.id + 100 from u where u.t_id = t.id", "UPDATE 2" },
	{ "select id, a from t order by id", "3|1;4|1;101|1;102|1; SELECT 4" },
	{ "update t set id = 3 from u where t.id = 4 and u.id = 1",
	    "ERROR 23505: duplicate key value violates unique constraint \"t_pkey\"" },
	{ "update t set a = 'x' from u where t.id = 3",
	    "ERROR 22P02: invalid input syntax for type integer: \"x\"" },
	{ "update t set a = '7' from u where t.id = 3 and u.id = 1 returning a", "7; UPDATE 1" },
	{ "update t set a = default from u where t.id = 3 and u.id = 1 returning a", "~; UPDATE 1" },
	{ "update t set a = u.s from u where t.id = u.id",
	    "ERROR 42804: column \"a\" is of type integer but expression is of type text" },
	{ "update t set a = n.x from u where t.id = u.id",
	    "ERROR 42P01: missing FROM-clause entry for table \"n\"" },
	{ "update t set zz = 1 from u", "ERROR 42703: column \"zz\" of relation \"t\" does not exist" },
	{ "update t set a = 1 from t", "ERROR 42712: table name \"t\" specified more than once" },
	{ "update t set a = id from u", "ERROR 42702: column reference \"id\" is ambiguous" },
	{ "update t set a = 1 from nope", "ERROR 42P01: relation \"nope\" does not exist" },
	{ "update t set a = sum(u.n) from u", "ERROR 42803: aggregate functions are not allowed in UPDATE" },
	{ "update t set a = 1, a = 2 from u", "ERROR 42601: multiple assignments to same column \"a\"" },
	{ "update heap set a = u.n from u",
	    "ERROR 0A000: UPDATE ... FROM on a table without a primary key is not supported yet" },
	{ "update t set a = t2.a from t as t2 where t.id = t2.id + 1 returning t.id, t.a",
	    "4|~;102|1; UPDATE 2" },
	{ "insert into t values (1, 1, 'a'), (2, 2, 'b')", "INSERT 0 2" },
	{ "update t set a = s.total from (select t_id, sum(n) as total from u group by t_id) as s where "
	  "s.t_id = "
	  "t.id",
	    "UPDATE 2" },
	{ "update t set b = b || s.total from (select t_id, sum(n) as total from u group by t_id) as s where "
	  "s.t_id = t.id and t.id = 2 returning t.id, a, b, s.total",
	    "2|200|b200|200; UPDATE 1" },
	{ "select id, a from t where id < 3 order by id", "1|100;2|200; SELECT 2" },
	{ "delete from t using u where t.id = u.t_id and u.n = 200 returning t.id, u.s", "2|y; DELETE 1" },
	{ "delete from t using u where u.t_id = t.id", "DELETE 1" },
	{ "delete from v using v as w where v.x = w.x and v.y > w.y returning *", "1|2|1|1; DELETE 1" },
	{ "delete from t using nope where true", "ERROR 42P01: relation \"nope\" does not exist" },
	{ "delete from t using u", "DELETE 4" },
	{ "select count(*) from t", "0; SELECT 1" },
	{ "delete from t using u where t.id = u.id", "DELETE 0" },
	/* own rows, and a snapshot */
	{ "begin; insert into t values (6, 1, 'n'); update t set a = n from u where t.id = 6 and u.id = 3; "
	  "select * from t; rollback",
	    "BEGIN INSERT 0 1 UPDATE 16|300|n; SELECT 1 ROLLBACK" },
	/* another key: the collector may be at work on that one, and SERIALIZABLE does not insert
	 * again by itself */
	{ "begin isolation level serializable; insert into t values (7, 1, 'n'); update t set a = n from u "
	  "where t.id = 7 and u.id = 3 returning a; commit",
	    "BEGIN INSERT 0 1300; UPDATE 1 COMMIT" },
	{ "update t as q set a = q.a + 1 where q.id = 7 returning q.a", "301; UPDATE 1" },
	{ "update t as q set a = t.a + 1",
	    "ERROR 42P01: invalid reference to FROM-clause entry for table \"t\"" },
	{ "update t set (a, b) = (b, a) where false",
	    "ERROR 42804: column \"a\" is of type integer but expression is of type text" },
	{ "update t set (a, b) = row (8, 'eight') returning *", "7|8|eight; UPDATE 1" },
	{ "delete from t as q where q.id = 7 returning q.*", "7|8|eight; DELETE 1" },
};

static void
on_conflict(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client t;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&t, &e, 0);
	assert_int_equal(golden_wrong(&t, conflicts, sizeof conflicts / sizeof *conflicts), 0);
	/* more rows than one batch, keys coming twice in different batches */
	ask(&t, "create table big (id int primary key, n int)");
	assert_string_equal(
	    ask(&t, "insert into big select k.id * 0 + t.id, 1 from k, k as t on conflict do nothing"),
	    "INSERT 0 8");
	char *text = malloc(1 << 16);
	size_t at = (size_t)sprintf(text, "insert into big values (0, 1)");
	for (int i = 1; i < 1000; i++)
		at += (size_t)sprintf(text + at, ", (%d, 2)", i + 1000);
	strcpy(text + at, " on conflict (id) do update set n = big.n + excluded.n");
	assert_string_equal(ask(&t, text), "INSERT 0 1000");
	assert_string_equal(ask(&t, text), "INSERT 0 1000");
	assert_string_equal(
	    ask(&t, "select count(*), sum(n) from big where id > 1000"), "999|3996; SELECT 1");
	strcpy(text + at, ", (1001, 3) on conflict (id) do update set n = big.n + excluded.n");
	assert_string_equal(
	    ask(&t, text), "ERROR 21000: ON CONFLICT DO UPDATE command cannot affect row a second time");
	strcpy(text + at, ", (1001, 3), (3000, 3), (3000, 4) on conflict (id) do nothing");
	assert_string_equal(ask(&t, text), "INSERT 0 1");
	free(text);
	test_client_close(&t);
	embedded_close(&e);
}

static void
from_and_using(void **state)
{
	(void)state;
	struct embedded e;
	struct test_client t;
	embedded_open(&e, 256u << 20, 1);
	test_client_open(&t, &e, 0);
	assert_int_equal(golden_wrong(&t, joins, sizeof joins / sizeof *joins), 0);
	/* many rows: several batches, and many partners for each */
	ask(&t, "create table n (i int primary key, a int); create table m (i int primary key, n int)");
	char *text = malloc(1 << 16);
	size_t at = (size_t)sprintf(text, "insert into n values (0, 0)");
	for (int i = 1; i < 2000; i++)
		at += (size_t)sprintf(text + at, ", (%d, 0)", i);
	assert_string_equal(ask(&t, text), "INSERT 0 2000");
	free(text);
	assert_string_equal(ask(&t, "insert into m select i, i / 2 from n"), "INSERT 0 2000");
	assert_string_equal(ask(&t, "update n set a = n.i + 1 from m where m.n = n.i"), "UPDATE 1000");
	assert_string_equal(ask(&t, "select count(*), sum(a) from n where a > 0"), "1000|500500; SELECT 1");
	assert_string_equal(ask(&t, "delete from n using m where m.n = n.i and m.i < 1500"), "DELETE 750");
	assert_string_equal(ask(&t, "select count(*), min(i) from n"), "1250|750; SELECT 1");
	test_client_close(&t);
	embedded_close(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(on_conflict), cmocka_unit_test(from_and_using) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
