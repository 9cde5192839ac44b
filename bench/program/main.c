/* main.c -- the program `namdb-bench`: finds the measurement and lets it run. `namdb bench` starts
 * it. */
#include <bench/bench.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *what;
	int (*run)(int argc, char **argv);
} benches[] = {
	{ "tpcw", "checkout transactions beside a memory floor and SQLite", bench_tpcw },
	{ "smallbank", "SmallBank's short transactions on few hot accounts", bench_smallbank },
	{ "tatp", "TATP's short transactions, most of which only read", bench_tatp },
	{ "tpcc", "TPC-C's full mix and its twelve conditions, beside SQLite", bench_tpcc },
	{ "ycsb", "YCSB's six workloads beside a sorted array and redis", bench_ycsb },
	{ "join", "relations in remote memory, joined, beside the memory floor and DuckDB", bench_join },
	{ "agg", "the same, grouped and summed up", bench_agg },
	{ "sql", "questions over CSV files beside SQLite", bench_sql },
	{ "tpch", "TPC-H's 22 questions beside PostgreSQL", bench_tpch },
	{ "pgbench", "PostgreSQL's load over its protocol, beside PostgreSQL", bench_pgbench },
	{ "verbs", "the fabric's verbs one by one, beside plain TCP", bench_verbs },
	{ "messages", "calls of a service, polling against events, as clients grow", bench_messages },
	{ "oracle", "snapshots while a client is paused, beside the NAM paper's scheme", bench_oracle },
};
enum { BENCHES = sizeof benches / sizeof benches[0] };

static void
usage(FILE *out)
{
	fputs("usage: namdb bench ", out);
	for (size_t i = 0; i < BENCHES; i++)
		fprintf(out, "%s%s", i == 0 ? "" : "|", benches[i].name);
	fputs(" [options]\n", out);
	for (size_t i = 0; i < BENCHES; i++)
		fprintf(out, "  %-9s %s\n", benches[i].name, benches[i].what);
	fputs("namdb bench tpcw --help lists its options\n", out);
}

int
main(int argc, char **argv)
{
	const char *name = argc >= 2 ? argv[1] : "";
	bool help = strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
	int code = help ? 0 : 2;
	size_t i = 0;
	while (i < BENCHES && strcmp(name, benches[i].name) != 0)
		i++;
	if (i < BENCHES)
		code = benches[i].run(argc - 1, argv + 1);
	else
		usage(help ? stdout : stderr);
	if (fflush(stdout) != 0 && code == 0) {
		perror("namdb: standard output");
		code = 1;
	}
	return code;
}
