/*
 * servers.h -- the two servers that `namdb bench pgbench` measures: namdb's storage node
 * and compute node as processes, and PostgreSQL. Inside of bench. One thread.
 */
#ifndef NAM_BENCH_PGBENCH_SERVERS_H
#define NAM_BENCH_PGBENCH_SERVERS_H

#include <base/status.h>

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Where a client finds a server: a folder with a UNIX socket in it. */
struct bench_server {
	const char *name;
	char folder[64], port[8];
	const char *user, *database;
};

/* namdb, of `bytes` of memory; durable: its log is in a folder of a disk. */
struct bench_namdb {
	struct bench_server at;
	char program[PATH_MAX];
	pid_t storage, compute;
	char dir[48];  /* "" = there is none */
	char data[48]; /* likewise */
};
/* On failure nothing is left, and stderr says why. */
bool bench_namdb_start(struct bench_namdb *n, uint64_t bytes, unsigned workers, bool durable);
/* Seconds of CPU time of both processes so far. */
double bench_namdb_cpu(const struct bench_namdb *n);
/* The median time of a write of 4 KiB that is synced, microseconds; below 0: it failed. */
double bench_sync_us(void);
/* Where data are that are to outlive a process. */
#define BENCH_DISK "/var/tmp"
void bench_namdb_stop(struct bench_namdb *n);

#endif
