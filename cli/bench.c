/* bench.c -- `namdb bench`: picks the measurement. */
#include <bench/bench.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "cli.h"

int
cli_bench(int argc, char **argv)
{
	if (argc >= 2 && strcmp(argv[1], "tpcw") == 0)
		return bench_tpcw(argc - 1, argv + 1);
	bool help = argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
	fprintf(help ? stdout : stderr, "usage: namdb bench tpcw [options]\n"
					"  tpcw   checkout transactions beside a memory floor and SQLite\n"
					"namdb bench tpcw --help lists its options\n");
	return help ? 0 : 2;
}
