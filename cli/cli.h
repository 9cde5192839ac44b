/*
 * cli.h -- the subcommands of the program `namdb`. Each takes argv with its own name at argv[0]
 * and returns the exit code: 0 done, 1 it did not work, 2 the command line makes no sense.
 */
#ifndef NAM_CLI_CLI_H
#define NAM_CLI_CLI_H

int cli_storage(int argc, char **argv); /* a storage node, until SIGTERM */
int cli_status(int argc, char **argv);  /* what storage nodes say of themselves */

#endif
