/* stock.c -- libnamdb in sixty lines.
 * cc stock.c $(pkg-config --cflags --libs namdb) -o stock && ./stock [where] */
#include <namdb.h>
#include <stdio.h>
#include <stdlib.h>

static namdb *db;

static void
must(int rc)
{
	if (rc != NAMDB_ERROR && rc != NAMDB_MISUSE)
		return;
	fprintf(stderr, "stock: %s: %s\n", namdb_sqlstate(db), namdb_message(db));
	exit(1);
}

int
main(int argc, char **argv)
{
	static const char *const item[] = { "bolt", "nut", "wire" };
	const char *where = argc > 1 ? argv[1] : "memory:"; /* or "127.0.0.1:7411,127.0.0.1:7412" */
	namdb_stmt *take, *left;
	namdb_batch *rows;
	int rc;

	must(namdb_open(where, &db));
	/* 42P07 if a table of that name exists: leave it as it is. */
	must(namdb_exec(db, "CREATE TABLE stock_example (item text PRIMARY KEY, n integer NOT NULL)"));

	/* Many rows at once. */
	must(namdb_batch_begin(db, "stock_example", "item, n", &rows));
	for (int i = 0; i < 3; i++) {
		must(namdb_batch_text(rows, item[i], -1));
		must(namdb_batch_int64(rows, 100 * (i + 1)));
		must(namdb_batch_row(rows));
	}
	must(namdb_batch_end(rows));

	/* A transaction: all three updates, or none. If another transaction commits first (40001),
	 * try again. */
	must(namdb_prepare(db, "UPDATE stock_example SET n = n - $2 WHERE item = $1", &take));
	do {
		must(namdb_exec(db, "BEGIN ISOLATION LEVEL REPEATABLE READ"));
		for (int i = 0; i < 3; i++) {
			must(namdb_bind_text(take, 1, item[i], -1));
			must(namdb_bind_int64(take, 2, 7));
			must(namdb_step(take));
		}
		rc = namdb_commit(db);
	} while (rc == NAMDB_ERROR && namdb_sqlstate(db)[0] == '4');
	must(rc);
	namdb_finalize(take);

	/* Rows are read where the executor left them. */
	must(namdb_prepare(db, "SELECT item, n FROM stock_example WHERE n < $1 ORDER BY item", &left));
	must(namdb_bind_int64(left, 1, 250));
	while ((rc = namdb_step(left)) == NAMDB_ROW)
		printf("%-6s %lld\n", namdb_column_text(left, 0), (long long)namdb_column_int64(left, 1));
	must(rc);
	namdb_finalize(left);
	must(namdb_exec(db, "DROP TABLE stock_example"));
	namdb_close(db);
	return 0;
}
