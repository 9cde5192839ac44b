/* bench.c -- `namdb bench`: picks the measurement. */
#include "cli.h"

#include <bench/bench.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int
cli_bench(int argc, char **argv)
{
	if (argc >= 2 && strcmp(argv[1], "tpcw") == 0)
		return bench_tpcw(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "smallbank") == 0)
		return bench_smallbank(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "tatp") == 0)
		return bench_tatp(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "tpcc") == 0)
		return bench_tpcc(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "ycsb") == 0)
		return bench_ycsb(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "join") == 0)
		return bench_join(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "agg") == 0)
		return bench_agg(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "sql") == 0)
		return bench_sql(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "tpch") == 0)
		return bench_tpch(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "pgbench") == 0)
		return bench_pgbench(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "verbs") == 0)
		return bench_verbs(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "messages") == 0)
		return bench_messages(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "oracle") == 0)
		return bench_oracle(argc - 1, argv + 1);
	bool help = argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
	fprintf(help ? stdout : stderr,
	    "usage: namdb bench "
	    "tpcw|smallbank|tatp|tpcc|ycsb|join|agg|sql|tpch|pgbench|verbs|messages|oracle "
	    "[options]\n"
	    "  tpcw      checkout transactions beside a memory floor and SQLite\n"
	    "  smallbank SmallBank's short transactions on few hot accounts\n"
	    "  tatp      TATP's short transactions, most of which only read\n"
	    "  tpcc      TPC-C's full mix and its twelve conditions, beside SQLite\n"
	    "  ycsb      YCSB's six workloads beside a sorted array and redis\n"
	    "  join      relations in remote memory, joined, beside the memory floor and DuckDB\n"
	    "  agg       the same, grouped and summed up\n"
	    "  sql       questions over CSV files beside SQLite\n"
	    "  tpch      TPC-H's 22 questions beside PostgreSQL\n"
	    "  pgbench   PostgreSQL's load over its protocol, beside PostgreSQL\n"
	    "  verbs     the fabric's verbs one by one, beside plain TCP\n"
	    "  messages  calls of a service, polling against events, as clients grow\n"
	    "  oracle    snapshots while a client is paused, beside the NAM paper's scheme\n"
	    "namdb bench tpcw --help lists its options\n");
	return help ? 0 : 2;
}
