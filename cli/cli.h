/*
 * cli.h -- the subcommands of the program `namdb`. Each takes argv with its own name at argv[0] and
 * returns the exit code: 0 = done, 1 = it failed, 2 = the command line is wrong.
 */
#ifndef NAM_CLI_CLI_H
#define NAM_CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define NAMDB_VERSION "0.1.0"

int cli_demo(int argc, char **argv);    /* storage nodes as children, sample data, the shell */
int cli_sql(int argc, char **argv);     /* a compute node with the shell */
int cli_bench(int argc, char **argv);   /* becomes the program namdb-bench: measurements */
int cli_storage(int argc, char **argv); /* a storage node, until SIGTERM */
int cli_compute(int argc, char **argv); /* a compute node for clients, until SIGTERM */
int cli_doctor(int argc, char **argv);  /* finds out if RDMA will work on this machine */
int cli_status(int argc, char **argv);  /* memory, heartbeat and load of storage nodes */
int cli_backup(int argc, char **argv);  /* a running cluster's log, into a directory */
int cli_restore(int argc, char **argv); /* a backup, into a directory of a storage node */
int cli_log(int argc, char **argv);     /* prints the records of a log's directory */
int cli_node(int argc, char **argv);    /* says that a storage node is lost for good */
int cli_check(int argc, char **argv);   /* judges recorded histories */

/*
 * The storage nodes if there is no --storage: $NAMDB_STORAGE, else one node at the default port of
 * this host.
 */
const char *cli_storage_list(void);
/* What is wrong when getopt_long has returned o, '?' or ':': "unknown option -x". Of several short
 * options in one word it names the wrong one. Lives until the next call. */
const char *cli_bad_option(int o, char **argv);
/* Writes a blank and the word, in quotes where a shell needs them. */
void cli_shell_word(FILE *out, const char *word);
/* The process has been told to end: if it is still there after some 5 s, a signal handler ends it.
 * May be called in a signal handler. */
void cli_end_soon(void);
/*
 * --log-level: a word, or a file with one, whose name has a '/' in it. False: it is neither, or the
 * file has none. The text is borrowed for ever. cli_log_level_again reads the file again.
 */
bool cli_log_level(const char *word_or_file);
void cli_log_level_again(void);
/* SIGHUP ends no daemon: threads that start after cli_hup_block do not get it, and one that
 * cli_hup_open starts reads the level again. False: there is no such thread. */
void cli_hup_block(void);
bool cli_hup_open(void);
/* A moment, in microseconds since 1970: as "2026-11-29 18:30:00.5+00", of at most CLI_MOMENT bytes,
 * with the 0. cli_moment_read: text of that form, also with T, without a zone; false: it is not. */
enum { CLI_MOMENT = 80 };
void cli_moment(int64_t us, char out[CLI_MOMENT]);
bool cli_moment_read(const char *text, int64_t *us);
/* Prints a string in JSON's quotes on stdout. */
void cli_json_text(const char *s);

#endif
