/* main.c -- the program `namdb`: finds the subcommand and lets it run. */
#include "cli.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *what;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "demo", "start a small cluster with sample data on this machine, and a shell on it", cli_demo },
	{ "storage", "run a storage node", cli_storage },
	{ "compute", "run a compute node for clients of PostgreSQL", cli_compute },
	{ "status", "show the storage nodes of a cluster", cli_status },
	{ "node", "say that a storage node is lost for good", cli_node },
	{ "sql", "run SQL: a shell, a script, or one statement", cli_sql },
	{ "doctor",
	    "check this machine's RDMA devices and limits, measure costs, and print how to fix what is wrong",
	    cli_doctor },
	{ "bench", "measure throughput and latency", cli_bench },
	{ "backup", "write a backup of a running cluster into a directory", cli_backup },
	{ "restore", "make a data directory out of a backup, up to its end or to a moment", cli_restore },
	{ "log", "print the records of a cluster's log", cli_log },
	{ "check", "judge a recorded history: does it hold at an isolation level?", cli_check },
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void
usage(FILE *out)
{
	fputs("usage: namdb COMMAND [options]\n"
	      "A distributed in-memory database on network-attached memory.\n\n",
	    out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].what);
	fputs("\nEvery command has --help. namdb --version says which version this is.\n", out);
}

const char *
cli_storage_list(void)
{
	const char *list = getenv("NAMDB_STORAGE");
	return list != NULL && list[0] != 0 ? list : "127.0.0.1:7411";
}

int
main(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	const char *name = argv[1];
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
		usage(stdout);
		return 0;
	}
	if (strcmp(name, "--version") == 0) {
		puts("namdb " NAMDB_VERSION);
		return 0;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(name, commands[i].name) == 0) {
			int code = commands[i].run(argc - 1, argv + 1);
			if (fflush(stdout) != 0 && code == 0) {
				perror("namdb: standard output");
				code = 1;
			}
			return code;
		}
	fprintf(stderr, "namdb: there is no command \"%.60s\"; namdb --help lists them\n", name);
	return 2;
}
