/*
 * bench.c -- `namdb bench`: becomes the program namdb-bench, which has the measurements.
 *
 * The process stays the same one, so its number, its terminal, signals and its exit code are the
 * bench's. The bench starts servers of its own (`namdb storage`, `namdb compute`): of this program,
 * whose path NAMDB_PROGRAM tells it.
 */
#include "cli.h"

#include <embed/embed.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
cli_bench(int argc, char **argv)
{
	static char name[] = "namdb-bench";
	char program[PATH_MAX], self[PATH_MAX];
	(void)argc; /* argv ends with NULL */
	if (!emb_beside(program, name)) {
		fputs("namdb bench: there is no program namdb-bench beside namdb or in PATH: ./go build "
		      "makes both, cmake --install installs both\n",
		    stderr);
		return 1;
	}
	/* NULL: the file of this program has been removed. */
	if (realpath("/proc/self/exe", self) != NULL)
		setenv("NAMDB_PROGRAM", self, 1);
	argv[0] = name;
	execv(program, argv);
	fprintf(stderr, "namdb bench: cannot start %s: %s\n", program, strerror(errno));
	return 1;
}
