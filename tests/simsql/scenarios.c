/* scenarios.c -- the victims' statements. The expected answers are derived by hand, not copied from
 * a run. */
#include "crash.h"

/*
 * A checkout as in TPC-W: a cart becomes an order with its lines, the stock of three items shrinks,
 * the cart is emptied. Beside it another process sells some of the same items. Sold and left
 * together never change.
 */
#define SHOP                                                                                                 \
	{                                                                                                    \
		"CREATE TABLE item (id int PRIMARY KEY, stock int NOT NULL CHECK (stock >= 0), title text)", \
		    "CREATE TABLE cart (id int, item int, qty int, PRIMARY KEY (id, item))",                 \
		    "CREATE TABLE orders (id int PRIMARY KEY, cart int, lines int)",                         \
		    "CREATE TABLE line (ord int, item int, qty int, PRIMARY KEY (ord, item))",               \
		    "INSERT INTO item SELECT g, 100000, 'title ' || g FROM generate_series(1, 6) g",         \
		    "INSERT INTO cart VALUES (1, 1, 2), (1, 3, 1), (1, 5, 3)",                               \
	}
/* Memory of its own, and pointers. */
#define SHOP_WARM                                                                                            \
	{                                                                                                    \
		"INSERT INTO orders VALUES (900, 0, 1)", "INSERT INTO line VALUES (900, 1, 0)",              \
		    "INSERT INTO cart VALUES (9, 1, 1)", "UPDATE item SET stock = stock WHERE id = 3",       \
	}
#define SHOP_LOOK                                                                                            \
	"SELECT (SELECT count(*) FROM orders WHERE id = 1), (SELECT sum(qty) FROM line WHERE ord = 1), "     \
	"(SELECT count(*) FROM cart WHERE id = 1)"
#define SHOP_BESIDE                                                                                          \
	{                                                                                                    \
		"BEGIN", "UPDATE item SET stock = stock - 1 WHERE id = 1",                                   \
		    "UPDATE item SET stock = stock - 2 WHERE id = 3", "INSERT INTO orders VALUES (#, 2, 2)", \
		    "INSERT INTO line VALUES (#, 1, 1), (#, 3, 2)", "COMMIT",                                \
	}
#define SHOP_AFTER                                                                                           \
	{                                                                                                    \
		{ "SELECT count(*) FROM item WHERE stock + (SELECT coalesce(sum(qty), 0) FROM line WHERE "   \
		  "item = "                                                                                  \
		  "item.id) <> 100000",                                                                      \
			"0; SELECT 1", NULL },                                                               \
		    { "SELECT count(*) FROM orders WHERE lines <> (SELECT count(*) FROM line WHERE ord = "   \
		      "orders.id)",                                                                          \
			    "0; SELECT 1", NULL },                                                           \
		    { "SELECT count(*) FROM line WHERE ord NOT IN (SELECT id FROM orders)", "0; SELECT 1",   \
			    NULL },                                                                          \
		    { "SELECT sum(stock), min(title), max(title) FROM item WHERE id IN (2, 4, 6)",           \
			    "300000|title 2|title 6; SELECT 1", NULL },                                      \
	}
#define SHOP_AGAIN                                                                                           \
	{                                                                                                    \
		{ "UPDATE item SET stock = stock", "UPDATE 6", NULL },                                       \
		    { "INSERT INTO orders VALUES (1, 1, 0)", "INSERT 0 1",                                   \
			    "ERROR 23505: duplicate key value violates unique constraint \"orders_pkey\"" }, \
		    { "DELETE FROM orders WHERE id = 1", "DELETE 1", NULL },                                 \
		    { "INSERT INTO orders VALUES (1, 1, 0)", "INSERT 0 1", NULL },                           \
		    { "UPDATE orders SET cart = 7 WHERE id = 1", "UPDATE 1", NULL },                         \
		    { "DELETE FROM line WHERE ord = 1", "DELETE 0", "DELETE 3" },                            \
		    { "INSERT INTO line VALUES (1, 1, 2), (1, 3, 1), (1, 5, 3)", "INSERT 0 3", NULL },       \
		    { "UPDATE cart SET qty = 1", "UPDATE 4", "UPDATE 1" },                                   \
		    { "DELETE FROM cart WHERE id = 1", "DELETE 3", "DELETE 0" },                             \
		    { "INSERT INTO cart VALUES (1, 1, 2), (1, 3, 1)", "INSERT 0 2", NULL },                  \
		    { "SELECT cart, (SELECT sum(qty) FROM line WHERE ord = 1) FROM orders WHERE id = 1",     \
			    "7|6; SELECT 1", NULL },                                                         \
	}
#define CHECKOUT(level)                                                                                      \
	.setup = SHOP, .warm = SHOP_WARM, .look = SHOP_LOOK, .at_first = "0|~|3; SELECT 1", .retry = true,   \
	.step = { { "BEGIN ISOLATION LEVEL " level, NULL },                                                  \
		{ "SELECT item, qty FROM cart WHERE id = 1", NULL },                                         \
		{ "UPDATE item SET stock = stock - 2 WHERE id = 1", NULL },                                  \
		{ "UPDATE item SET stock = stock - 1 WHERE id = 3", NULL },                                  \
		{ "UPDATE item SET stock = stock - 3 WHERE id = 5", NULL },                                  \
		{ "INSERT INTO orders VALUES (1, 1, 3)", NULL },                                             \
		{ "INSERT INTO line SELECT 1, item, qty FROM cart WHERE id = 1", NULL },                     \
		{ "DELETE FROM cart WHERE id = 1", NULL }, { "COMMIT", "1|6|0; SELECT 1" } },                \
	.beside = SHOP_BESIDE,                                                                               \
	.beside_done = "SELECT count(*) FROM orders WHERE id BETWEEN # AND # + 99999", .after = SHOP_AFTER,  \
	.again = SHOP_AGAIN, .linger_us = 300

/* A table that comes, changes and goes: columns, kinds of rules, and whether one has its new
 * name. */
#define FRESH_CREATE                                                                                         \
	"CREATE TABLE fresh (id int PRIMARY KEY, a int DEFAULT 5, b text NOT NULL, CHECK (a > 0))"
#define FRESH_LOOK                                                                                           \
	"SELECT columns, (SELECT count(*) FROM nam_columns WHERE table_id = t.id), (SELECT count(*) FROM "   \
	"nam_extras WHERE table_id = t.id AND kind IN (99, 100)), (SELECT count(*) FROM nam_columns WHERE "  \
	"table_id = t.id AND name = 'bb') FROM nam_tables t WHERE name = 'fresh'"
#define FRESH_AGAIN                                                                                          \
	{                                                                                                    \
		{ "CREATE TABLE fresh (id int)", "CREATE TABLE",                                             \
			"ERROR 42P07: relation \"fresh\" already exists" },                                  \
		    { "DROP TABLE fresh", "DROP TABLE", NULL },                                              \
		    { "SELECT * FROM fresh", "ERROR 42P01: relation \"fresh\" does not exist", NULL },       \
		    { FRESH_CREATE, "CREATE TABLE", NULL },                                                  \
		    { "INSERT INTO fresh (id, b) VALUES (1, 'y')", "INSERT 0 1", NULL },                     \
		    { "ALTER TABLE fresh ADD COLUMN c int DEFAULT 8", "ALTER TABLE", NULL },                 \
		    { "SELECT * FROM fresh", "1|5|y|8; SELECT 1", NULL },                                    \
		    { "INSERT INTO there SELECT max(id) + 1 FROM there", "INSERT 0 1", NULL },               \
		{                                                                                            \
			"DROP TABLE fresh, there", "DROP TABLE", NULL                                        \
		}                                                                                            \
	}

/* How many rows one of two ways to ask finds more than the other: the first may use an index. */
#define INDEX_AGREES(by_index, by_table)                                                                     \
	"SELECT (SELECT count(*) + coalesce(sum(id), 0) FROM t WHERE " by_index                              \
	") - (SELECT count(*) + coalesce(sum(id), 0) FROM t WHERE " by_table ")"

/* The same of a table that keeps its primary key in order. */
#define KEY_AGREES(by_key, by_table)                                                                         \
	"SELECT (SELECT count(*) + coalesce(sum(b), 0) FROM k WHERE " by_key                                 \
	") - (SELECT count(*) + coalesce(sum(b), 0) FROM k WHERE " by_table ")"

const struct crash_scenario crash_scenarios[] = {
	{ .name = "checkout, READ COMMITTED",
	    CHECKOUT("READ COMMITTED"),
	    .beside_pause_us = 300,
	    .verbs_min = 60 },
	{ .name = "checkout, REPEATABLE READ",
	    CHECKOUT("REPEATABLE READ"),
	    .beside_pause_us = 700,
	    .verbs_min = 60 },
	{ .name = "checkout, SERIALIZABLE",
	    CHECKOUT("SERIALIZABLE"),
	    .beside_pause_us = 1500,
	    .verbs_min = 60 },
	{
	    .name = "inserts: one row, many, long values, no key",
	    .setup = { "CREATE TABLE doc (id int PRIMARY KEY, body text, n int)",
		"CREATE TABLE log (what text, n int)",
		"INSERT INTO doc SELECT 1000 + g, 'there', 0 FROM generate_series(1, 20) g" },
	    .warm = { "INSERT INTO doc VALUES (2000, 'w', 0)", "INSERT INTO log VALUES ('w', 0)" },
	    .look = "SELECT count(*), coalesce(sum(length(body)), 0), (SELECT count(*) FROM log WHERE n > 0) "
		    "FROM doc WHERE id < 1000",
	    .at_first = "0|0|0; SELECT 1",
	    .step = { { "INSERT INTO doc VALUES (1, 'one', 1)", "1|3|0; SELECT 1" },
		{ "INSERT INTO doc SELECT g, repeat('x', g * 10), 1 FROM generate_series(2, 20) g",
		    "20|2093|0; SELECT 1" },
		{ "INSERT INTO doc VALUES (21, repeat('blob', 10000), 1)", "21|42093|0; SELECT 1" },
		{ "INSERT INTO log SELECT 'many', g FROM generate_series(1, 30) g",
		    "21|42093|30; SELECT 1" } },
	    .beside = { "INSERT INTO doc VALUES (#, repeat('y', 9000), 0)" },
	    .beside_pause_us = 500,
	    .beside_done = "SELECT count(*) FROM doc WHERE id BETWEEN # AND # + 99999",
	    .after = { { "SELECT count(*) FROM doc WHERE id < 1000 AND body <> CASE id WHEN 1 THEN 'one' "
			 "WHEN 21 THEN repeat('blob', 10000) ELSE repeat('x', id * 10) END",
			   "0; SELECT 1", NULL },
		{ "SELECT count(*) FROM doc WHERE id > 100000 AND body <> repeat('y', 9000)", "0; SELECT 1",
		    NULL } },
	    .again = { { "INSERT INTO doc SELECT g, 'again', 1 FROM generate_series(1, 21) g ON CONFLICT "
			 "(id) DO NOTHING",
			   "INSERT 0 21", "*" },
		{ "SELECT count(*) FROM doc WHERE id < 1000", "21; SELECT 1", NULL },
		{ "UPDATE doc SET n = 2, body = 'short' WHERE id < 1000", "UPDATE 21", NULL },
		{ "DELETE FROM doc WHERE id < 1000", "DELETE 21", NULL },
		{ "INSERT INTO doc SELECT g, repeat('z', 9000), 1 FROM generate_series(1, 21) g",
		    "INSERT 0 21", NULL },
		{ "SELECT count(*), sum(length(body)) FROM doc WHERE id < 1000", "21|189000; SELECT 1",
		    NULL },
		{ "UPDATE log SET n = n", "UPDATE 1", "*" } },
	    .linger_us = 300,
	    .verbs_min = 120,
	},
	{
	    .name = "foreign keys: keys that go, and rows that refer to them",
	    .setup = { "CREATE TABLE par (id int PRIMARY KEY)",
		"CREATE TABLE chi (id int PRIMARY KEY, p int REFERENCES par ON DELETE CASCADE, q int "
		"REFERENCES par ON DELETE SET NULL)",
		"INSERT INTO par SELECT g FROM generate_series(1, 6) g",
		"INSERT INTO chi SELECT g, g, 7 - g FROM generate_series(1, 6) g" },
	    .warm = { "INSERT INTO par VALUES (50)", "INSERT INTO chi VALUES (50, 50, 50)",
		"DELETE FROM par WHERE id = 50" },
	    .look = "SELECT (SELECT count(*) FROM par), count(*), count(q) FROM chi WHERE id <= 6",
	    .at_first = "6|6|6; SELECT 1",
	    .step = { { "DELETE FROM par WHERE id = 1", "5|5|4; SELECT 1" },
		{ "DELETE FROM par WHERE id IN (2, 3)", "3|3|0; SELECT 1" },
		{ "UPDATE chi SET q = 4 WHERE id = 5", "3|3|1; SELECT 1" },
		{ "INSERT INTO par VALUES (1)", "4|3|1; SELECT 1" },
		{ "INSERT INTO chi VALUES (1, 1, 1)", "4|4|2; SELECT 1" } },
	    .beside = { "INSERT INTO chi VALUES (#, 4, 2), (# + 50000, 4, 5)" },
	    .beside_pause_us = 500,
	    .allowed = "23503",
	    .after = { { "SELECT count(*) FROM chi LEFT JOIN par ON p = par.id WHERE par.id IS NULL",
			   "0; SELECT 1", NULL },
		{ "SELECT count(*) FROM chi LEFT JOIN par ON q = par.id WHERE q IS NOT NULL AND par.id IS "
		  "NULL",
		    "0; SELECT 1", NULL } },
	    .again = { { "INSERT INTO par VALUES (1) ON CONFLICT DO NOTHING", "*", NULL },
		{ "INSERT INTO chi VALUES (51, 1, 1)", "INSERT 0 1", NULL },
		{ "INSERT INTO chi VALUES (52, 99, 1)",
		    "ERROR 23503: insert or update on table \"chi\" violates foreign key constraint "
		    "\"chi_p_fkey\"",
		    NULL },
		{ "DELETE FROM par WHERE id = 1", "DELETE 1", NULL },
		{ "SELECT count(*) FROM chi WHERE id IN (1, 51)", "0; SELECT 1", NULL },
		{ "DROP TABLE chi, par", "DROP TABLE", NULL } },
	    .linger_us = 300,
	    .verbs_min = 100,
	},
	{
	    .name = "deletes, and the collector behind them",
	    .setup = { "CREATE TABLE shelf (id int PRIMARY KEY, body text)",
		"INSERT INTO shelf SELECT g, CASE WHEN g <= 2 THEN repeat('b', 9000) ELSE 'b' END FROM "
		"generate_series(1, 12) g" },
	    .warm = { "INSERT INTO shelf VALUES (50, 'w')", "DELETE FROM shelf WHERE id = 50" },
	    .look = "SELECT count(*), sum(id) FROM shelf WHERE id <= 12",
	    .at_first = "12|78; SELECT 1",
	    .step = { { "DELETE FROM shelf WHERE id = 1", "11|77; SELECT 1" },
		{ "DELETE FROM shelf WHERE id IN (2, 3, 4, 5)", "7|63; SELECT 1" },
		{ "INSERT INTO shelf VALUES (3, 'again')", "8|66; SELECT 1" } },
	    .beside = { "INSERT INTO shelf VALUES (#, 'z')",
		"DELETE FROM shelf WHERE id BETWEEN # - 5 AND # - 3" },
	    .beside_pause_us = 1500,
	    .after = { { "SELECT count(*) FROM shelf WHERE id <= 12 AND body <> 'again' AND body <> CASE "
			 "WHEN id <= 2 THEN repeat('b', 9000) ELSE 'b' END",
			   "0; SELECT 1", NULL },
		{ "SELECT count(*) BETWEEN 1 AND 6 FROM shelf WHERE id > 100000", "t; SELECT 1", NULL } },
	    .again = { { "INSERT INTO shelf SELECT g, 'c' FROM generate_series(1, 12) g ON CONFLICT (id) DO "
			 "NOTHING",
			   "INSERT 0 0", "*" },
		{ "SELECT count(*), sum(id) FROM shelf WHERE id <= 12", "12|78; SELECT 1", NULL },
		{ "UPDATE shelf SET body = 'u' WHERE id <= 12", "UPDATE 12", NULL },
		{ "DELETE FROM shelf WHERE id <= 6", "DELETE 6", NULL },
		{ "INSERT INTO shelf SELECT g, repeat('d', 9000) FROM generate_series(1, 6) g", "INSERT 0 6",
		    NULL },
		{ "SELECT count(*), sum(length(body)) FROM shelf WHERE id <= 12", "12|54006; SELECT 1",
		    NULL } },
	    .linger_us = 60000,
	    .verbs_min = 150,
	},
	{
	    .name = "archives, under an old snapshot",
	    .setup = { "CREATE TABLE hot (id int PRIMARY KEY, v int) WITH (versions = 2)",
		"INSERT INTO hot VALUES (1, 0), (2, 0), (3, 0)" },
	    .warm = { "UPDATE hot SET v = 0 WHERE id = 3" },
	    .look = "SELECT v FROM hot WHERE id = 1",
	    .at_first = "0; SELECT 1",
	    .step = { { "UPDATE hot SET v = v + 1 WHERE id = 1", "1; SELECT 1" },
		{ "UPDATE hot SET v = v + 1 WHERE id = 1", "2; SELECT 1" },
		{ "UPDATE hot SET v = v + 1 WHERE id = 1", "3; SELECT 1" },
		{ "UPDATE hot SET v = v + 1 WHERE id = 1", "4; SELECT 1" },
		{ "DELETE FROM hot WHERE id = 1", "SELECT 0" },
		{ "INSERT INTO hot VALUES (1, 5)", "5; SELECT 1" } },
	    .beside = { "UPDATE hot SET v = v + 1 WHERE id = 2" },
	    .beside_pause_us = 400,
	    .beside_done = "SELECT v FROM hot WHERE id = 2",
	    .old = "SELECT id, v FROM hot ORDER BY id",
	    .again = { { "INSERT INTO hot VALUES (1, 7) ON CONFLICT (id) DO UPDATE SET v = 7", "INSERT 0 1",
			   NULL },
		{ "UPDATE hot SET v = v + 1 WHERE id <> 2", "UPDATE 2", NULL },
		{ "UPDATE hot SET v = v + 1 WHERE id <> 2", "UPDATE 2", NULL },
		{ "SELECT id, v FROM hot WHERE id <> 2 ORDER BY id", "1|9;3|2; SELECT 2", NULL } },
	    .linger_us = 300,
	    .verbs_min = 50,
	    .archives = true,
	},
	{
	    .name = "an index grows",
	    .setup = { "CREATE TABLE big (id int PRIMARY KEY, v int)" },
	    .warm = { "INSERT INTO big VALUES (60000, 60000)" },
	    .look = "SELECT count(*) FROM big WHERE id BETWEEN # + 1 AND # + 8",
	    .at_first = "0; SELECT 1",
	    .step = { { "INSERT INTO big SELECT g, g FROM generate_series(# + 1, # + 8) g", "8; SELECT 1" } },
	    .beside = { "INSERT INTO big VALUES (#, #)" },
	    .beside_pause_us = 10,
	    .beside_done = "SELECT count(*) FROM big WHERE id BETWEEN # AND # + 99999",
	    .after = { { "SELECT count(*) FROM big WHERE id <> v", "0; SELECT 1", NULL },
		{ "SELECT count(*), min(id), max(id) FROM big WHERE id <= #", "#|1|#; SELECT 1", NULL } },
	    .again = { { "INSERT INTO big SELECT g, g FROM generate_series(50001, 50300) g", "INSERT 0 300",
			   NULL },
		{ "INSERT INTO big SELECT g, g FROM generate_series(# + 1, # + 8) g ON CONFLICT (id) DO "
		  "NOTHING",
		    "INSERT 0 8", "INSERT 0 0" },
		{ "SELECT count(*) FROM big WHERE id <= # + 8", "*", NULL },
		{ "DELETE FROM big WHERE id BETWEEN 50001 AND 50300", "DELETE 300", NULL } },
	    .linger_us = 300,
	    .verbs_min = 250,
	    .grows = true,
	},
	{
	    .name = "CREATE, ALTER, DROP TABLE",
	    .setup = { "CREATE TABLE there (id int PRIMARY KEY)" },
	    .warm = { "INSERT INTO there VALUES (1)" },
	    .look = FRESH_LOOK,
	    .at_first = "SELECT 0",
	    .step = { { FRESH_CREATE, "3|3|2|0; SELECT 1" },
		{ "INSERT INTO fresh (id, b) VALUES (1, 'x')", NULL },
		{ "ALTER TABLE fresh ADD COLUMN c int DEFAULT 7", "4|4|3|0; SELECT 1" },
		{ "ALTER TABLE fresh RENAME b TO bb", "4|4|3|1; SELECT 1" },
		{ "ALTER TABLE fresh DROP COLUMN c", "3|3|2|1; SELECT 1" },
		{ "DROP TABLE fresh", "SELECT 0" } },
	    .beside = { "CREATE TABLE other_# (id int PRIMARY KEY)", "INSERT INTO other_# VALUES (1)",
		"DROP TABLE other_#", "INSERT INTO fresh (id, b) VALUES (#, 'beside')",
		"SELECT count(*) FROM fresh WHERE id >= 1" },
	    .beside_pause_us = 3000,
	    .allowed = "42P01 42703",
	    .after = { { "SELECT count(*) FROM fresh WHERE id IS NULL",
		"ERROR 42P01: relation \"fresh\" does not exist", "0; SELECT 1" } },
	    .again = FRESH_AGAIN,
	    .linger_us = 20000,
	    .verbs_min = 300,
	},
	{
	    .name = "a table made and changed in one transaction",
	    .setup = { "CREATE TABLE there (id int PRIMARY KEY)" },
	    .warm = { "INSERT INTO there VALUES (1)" },
	    .look = FRESH_LOOK,
	    .at_first = "SELECT 0",
	    .step = { { "BEGIN", NULL }, { FRESH_CREATE, NULL },
		{ "INSERT INTO fresh (id, b) VALUES (1, 'x'), (2, 'y')", NULL },
		{ "ALTER TABLE fresh ADD COLUMN c int DEFAULT 7", NULL },
		{ "INSERT INTO there VALUES (2)", NULL }, { "COMMIT", "4|4|3|0; SELECT 1" } },
	    .retry = true,
	    .beside = { "SELECT count(*), sum(c) FROM fresh", "INSERT INTO there VALUES (#)" },
	    .beside_pause_us = 100,
	    .allowed = "42P01",
	    .after = { { "SELECT count(*), sum(c) FROM fresh",
			   "ERROR 42P01: relation \"fresh\" does not exist", "2|14; SELECT 1" },
		{ "SELECT count(*) FROM there WHERE id = 2", "0; SELECT 1", "1; SELECT 1" } },
	    .again = FRESH_AGAIN,
	    .linger_us = 20000,
	    .verbs_min = 100,
	},
	{
	    .name = "sequences, views, CREATE TABLE AS",
	    .setup = { "CREATE TABLE there (id int PRIMARY KEY)" },
	    .warm = { "INSERT INTO there VALUES (1)" },
	    .look = "SELECT name FROM nam_tables WHERE name IN ('sq', 'ser', 'ser_id_seq', 'vw', 'copy') "
		    "ORDER BY name",
	    .at_first = "SELECT 0",
	    .step = { { "CREATE SEQUENCE sq", "sq; SELECT 1" },
		{ "CREATE TABLE ser (id serial PRIMARY KEY, v int)", "ser;ser_id_seq;sq; SELECT 3" },
		{ "INSERT INTO ser (v) VALUES (1), (2)", NULL },
		{ "CREATE VIEW vw AS SELECT id FROM ser", "ser;ser_id_seq;sq;vw; SELECT 4" },
		{ "CREATE TABLE copy AS SELECT id, v FROM ser", "copy;ser;ser_id_seq;sq;vw; SELECT 5" },
		{ "DROP VIEW vw", "copy;ser;ser_id_seq;sq; SELECT 4" },
		{ "DROP TABLE ser", "copy;sq; SELECT 2" }, { "DROP SEQUENCE sq", "copy; SELECT 1" } },
	    .beside = { "SELECT count(*) FROM vw", "SELECT count(v) FROM copy", "SELECT nextval('sq')" },
	    .beside_pause_us = 100,
	    .allowed = "42P01",
	    .again = { { "DROP VIEW IF EXISTS vw", "DROP VIEW", NULL },
		{ "DROP TABLE IF EXISTS ser, copy", "DROP TABLE", NULL },
		{ "DROP SEQUENCE IF EXISTS sq", "DROP SEQUENCE", NULL },
		{ "CREATE SEQUENCE sq", "CREATE SEQUENCE", NULL },
		{ "SELECT nextval('sq')", "1; SELECT 1", NULL },
		{ "CREATE TABLE ser (id serial PRIMARY KEY, v int)", "CREATE TABLE", NULL },
		{ "INSERT INTO ser (v) VALUES (5) RETURNING id", "1; INSERT 0 1", NULL },
		{ "CREATE TABLE copy AS SELECT id, v FROM ser", "SELECT 1", NULL },
		{ "CREATE VIEW vw AS SELECT v FROM copy", "CREATE VIEW", NULL },
		{ "SELECT * FROM vw", "5; SELECT 1", NULL } },
	    .linger_us = 20000,
	    .verbs_min = 300,
	},
	{
	    .name = "ALTER TABLE rewrites all rows",
	    .setup = { "CREATE TABLE wide (id int PRIMARY KEY, v int)",
		"INSERT INTO wide SELECT g, g * 100 FROM generate_series(1, 8) g" },
	    .warm = { "INSERT INTO wide VALUES (9, 900)" },
	    .look = "SELECT (SELECT type FROM nam_columns c, nam_tables t WHERE c.table_id = t.id AND t.name "
		    "= 'wide' AND c.name = 'v'), count(*), "
		    "sum(v::int) FROM wide WHERE id <= 9",
	    .at_first = "integer|9|4500; SELECT 1",
	    .step = { { "ALTER TABLE wide ALTER v TYPE text USING (v + 1)::text", "text|9|4509; SELECT 1" } },
	    .beside = { "INSERT INTO wide (id) VALUES (#)" },
	    .beside_pause_us = 300,
	    .beside_done = "SELECT count(*) FROM wide WHERE id BETWEEN # AND # + 99999",
	    .again = { { "UPDATE wide SET v = v WHERE id <= 9", "UPDATE 9", NULL },
		{ "ALTER TABLE wide DROP COLUMN v", "ALTER TABLE", NULL },
		{ "INSERT INTO wide VALUES (10)", "INSERT 0 1", NULL },
		{ "DELETE FROM wide WHERE id <= 10", "DELETE 10", NULL },
		{ "DROP TABLE wide", "DROP TABLE", NULL } },
	    .linger_us = 20000,
	    .verbs_min = 60,
	},
	{
	    .name = "CREATE INDEX, CREATE UNIQUE INDEX, DROP INDEX",
	    .setup = { "CREATE TABLE t (id int PRIMARY KEY, a int, b text)",
		"INSERT INTO t SELECT g, g % 20, 'row ' || g FROM generate_series(1, 120) g" },
	    .warm = { "INSERT INTO t VALUES (200, 7, 'row 200')" },
	    .look = "SELECT count(*) FROM t WHERE id <= 200",
	    .at_first = "121; SELECT 1",
	    .step = { { "CREATE INDEX t_a ON t (a)", NULL }, { "CREATE UNIQUE INDEX t_b ON t (b)", NULL },
		{ "UPDATE t SET a = 7, b = 'new' WHERE id = 9", NULL }, { "DROP INDEX t_a", NULL } },
	    .beside = { "UPDATE t SET a = (a + 1) % 20 WHERE id = 5",
		"INSERT INTO t VALUES (#, # % 20, 'beside #')", "DELETE FROM t WHERE id = # - 3" },
	    .beside_pause_us = 300,
	    .after = { { INDEX_AGREES("a = 7", "a + 0 = 7"), "0; SELECT 1", NULL },
		{ INDEX_AGREES("a BETWEEN 3 AND 9", "a + 0 BETWEEN 3 AND 9"), "0; SELECT 1", NULL },
		{ INDEX_AGREES("b = 'row 77'", "b || '' = 'row 77'"), "0; SELECT 1", NULL },
		{ INDEX_AGREES("b BETWEEN 'row 3' AND 'row 4'", "b || '' BETWEEN 'row 3' AND 'row 4'"),
		    "0; SELECT 1", NULL } },
	    .again = { { "UPDATE t SET a = 3 WHERE id = 20", "UPDATE 1", NULL },
		{ "CREATE INDEX t_c ON t (a, b)", "CREATE INDEX", NULL },
		{ "DROP INDEX IF EXISTS t_a, t_b", "DROP INDEX", NULL },
		{ "CREATE INDEX t_a ON t (a)", "CREATE INDEX", NULL },
		{ "CREATE UNIQUE INDEX t_b ON t (b)", "CREATE INDEX", NULL },
		{ "INSERT INTO t VALUES (201, 3, 'row 77')",
		    "ERROR 23505: duplicate key value violates unique constraint \"t_b\"", NULL },
		{ INDEX_AGREES("a = 3", "a + 0 = 3"), "0; SELECT 1", NULL },
		{ INDEX_AGREES("b = 'row 77'", "b || '' = 'row 77'"), "0; SELECT 1", NULL },
		{ "DROP INDEX t_a, t_b, t_c", "DROP INDEX", NULL } },
	    .linger_us = 20000,
	    .verbs_min = 300,
	},
	{
	    .name = "a primary key in order: rows change keys, the index goes and comes",
	    .setup = { "CREATE TABLE k (a int, b int, c text, PRIMARY KEY (a, b)) WITH (primary_key = "
		       "ordered)",
		"INSERT INTO k SELECT g % 6, g / 6, 'row ' || g FROM generate_series(0, 59) g" },
	    .warm = { "INSERT INTO k VALUES (100, 1, 'warm')", "SELECT count(*) FROM k WHERE a = 3" },
	    .look =
		"SELECT count(*), sum(b), (SELECT count(*) FROM nam_extras WHERE kind = 120) FROM k WHERE a "
		"IN (3, 4)",
	    .at_first = "20|90|1; SELECT 1",
	    .step = { { "UPDATE k SET b = b + 100 WHERE a = 3", "20|1090|1; SELECT 1" },
		{ "DELETE FROM k WHERE a = 4", "10|1045|1; SELECT 1" },
		{ "INSERT INTO k SELECT 4, g, 'again' FROM generate_series(0, 4) g", "15|1055|1; SELECT 1" },
		{ "ALTER TABLE k SET (primary_key = hash)", "15|1055|0; SELECT 1" },
		{ "ALTER TABLE k SET (primary_key = ordered)", "15|1055|1; SELECT 1" } },
	    .beside = { "INSERT INTO k VALUES (5, #, 'beside')",
		"UPDATE k SET a = 6 WHERE a = 5 AND b BETWEEN # - 2 AND # - 1",
		"DELETE FROM k WHERE a = 6 AND b BETWEEN 1000 AND # - 4" },
	    .beside_pause_us = 300,
	    .after = { { KEY_AGREES("a = 3", "a + 0 = 3"), "0; SELECT 1", NULL },
		{ KEY_AGREES("a = 4 AND b < 7", "a + 0 = 4 AND b < 7"), "0; SELECT 1", NULL },
		{ KEY_AGREES("a BETWEEN 5 AND 6", "a + 0 BETWEEN 5 AND 6"), "0; SELECT 1", NULL },
		{ KEY_AGREES("true", "a + 0 < 1000"), "0; SELECT 1", NULL } },
	    .again = { { "INSERT INTO k VALUES (1, 1, 'no')",
			   "ERROR 23505: duplicate key value violates unique constraint \"k_pkey\"", NULL },
		{ "ALTER TABLE k SET (primary_key = ordered)", "ALTER TABLE", NULL },
		{ "UPDATE k SET b = b - 1000 WHERE a = 2", "UPDATE 10", NULL },
		{ "SELECT min(b), max(b), count(*) FROM k WHERE a = 2", "-1000|-991|10; SELECT 1", NULL },
		{ KEY_AGREES("a BETWEEN 5 AND 6", "a + 0 BETWEEN 5 AND 6"), "0; SELECT 1", NULL },
		{ "ALTER TABLE k DROP CONSTRAINT k_pkey, ADD PRIMARY KEY (b, a) WITH (primary_key = ordered)",
		    "ALTER TABLE", NULL },
		{ KEY_AGREES("b < 3", "b + 0 < 3"), "0; SELECT 1", NULL },
		{ "TRUNCATE k", "TRUNCATE TABLE", NULL },
		{ "INSERT INTO k VALUES (1, 2, 'x')", "INSERT 0 1", NULL },
		{ "SELECT a FROM k WHERE b = 2", "1; SELECT 1", NULL },
		{ "DROP TABLE k", "DROP TABLE", NULL } },
	    .linger_us = 20000,
	    .verbs_min = 200,
	},
	{
	    .name = "savepoints and row locks, READ COMMITTED",
	    .setup = { "CREATE TABLE hot (id int PRIMARY KEY, v int)",
		"INSERT INTO hot SELECT g, 0 FROM generate_series(1, 6) g" },
	    .warm = { "INSERT INTO hot VALUES (20, 0)" },
	    .look = "SELECT id, v FROM hot WHERE id IN (1, 3, 4, 10, 11) ORDER BY id",
	    .at_first = "1|0;3|0;4|0; SELECT 3",
	    .step = { { "BEGIN ISOLATION LEVEL READ COMMITTED; UPDATE hot SET v = 1 WHERE id = 1; SAVEPOINT "
			"a",
			  NULL },
		{ "UPDATE hot SET v = 2 WHERE id = 2; INSERT INTO hot VALUES (10, 1)", NULL },
		{ "DELETE FROM hot WHERE id = 3", NULL }, { "ROLLBACK TO a", NULL },
		{ "UPDATE hot SET v = 5 WHERE id = 3", NULL },
		{ "INSERT INTO hot VALUES (11, 1); SAVEPOINT b", NULL },
		{ "UPDATE hot SET v = 9 WHERE id = 4", NULL }, { "RELEASE b", NULL },
		{ "SELECT v FROM hot WHERE id = 5 FOR UPDATE", NULL },
		{ "COMMIT", "1|1;3|5;4|9;11|1; SELECT 4" } },
	    .retry = true,
	    .beside = { "BEGIN", "SELECT v FROM hot WHERE id = 1 FOR UPDATE",
		"UPDATE hot SET v = v + 1 WHERE id = 2", "SELECT v FROM hot WHERE id = 5 FOR UPDATE",
		"INSERT INTO hot VALUES (10, 1) ON CONFLICT (id) DO NOTHING", "DELETE FROM hot WHERE id = 10",
		"COMMIT" },
	    .beside_pause_us = 300,
	    .beside_done = "SELECT v FROM hot WHERE id = 2",
	    .again = { { "UPDATE hot SET v = 3 WHERE id <> 2", "UPDATE 6", "UPDATE 7" },
		{ "INSERT INTO hot VALUES (10, 3)", "INSERT 0 1", NULL },
		{ "DELETE FROM hot WHERE id = 11", "DELETE 0", "DELETE 1" },
		{ "INSERT INTO hot VALUES (11, 3)", "INSERT 0 1", NULL },
		{ "SELECT count(*), sum(v) FROM hot WHERE id <> 2", "8|24; SELECT 1", NULL } },
	    .linger_us = 300,
	    .verbs_min = 60,
	},
};
const unsigned crash_scenarios_n = sizeof crash_scenarios / sizeof *crash_scenarios;
