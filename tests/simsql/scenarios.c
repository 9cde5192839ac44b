/* scenarios.c -- what victims do. Expected answers are from thinking, not from asking. */
#include "crash.h"

/*
 * A checkout as in TPC-W: a cart becomes an order with its lines, the stock of three items shrinks, the cart is emptied.
 * Beside it another process sells some of the same items. Sold and left together never change.
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
};
const unsigned crash_scenarios_n = sizeof crash_scenarios / sizeof *crash_scenarios;
