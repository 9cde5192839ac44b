/*
 * peer_postgres.h -- a PostgreSQL of one's own in a temporary directory, and one session in it.
 * Inside of bench.
 *
 * It listens on a UNIX socket alone, has fsync off (but for PEER_POSTGRES_DURABLE) and no parallel
 * workers, and runs as the user postgres where the caller is root. One thread.
 */
#ifndef NAM_BENCH_PEER_POSTGRES_H
#define NAM_BENCH_PEER_POSTGRES_H

#include <stdbool.h>
#include <stddef.h>

/* Text that grows: an answer, | between values, a line for each row. Zeros: empty. */
struct bench_text {
	char *p;
	size_t len, cap;
	unsigned rows;
	bool full; /* there was no memory for all of it */
};
void bench_text_add(struct bench_text *t, const char *bytes, size_t n);
void bench_text_clear(struct bench_text *t);
void bench_text_free(struct bench_text *t);

struct peer_postgres;
/* Where its programs are looked for. NULL = there are none of PostgreSQL 15. */
const char *peer_postgres_programs(void);
/* For questions: large work memory, no autovacuum. For a load of transactions: its own defaults,
 * but nothing is forced to disk; durable: the log is. */
enum peer_postgres_use { PEER_POSTGRES_QUESTIONS, PEER_POSTGRES_LOAD, PEER_POSTGRES_DURABLE };
/* Its files are in a new folder of `where`. NULL, said on stderr why: it could not be started. */
struct peer_postgres *peer_postgres_open_for(const char *where, enum peer_postgres_use use);
/* For questions, in /tmp. */
struct peer_postgres *peer_postgres_open(void);
/* The folder of its socket, whose port is 5432; user judge, database postgres. */
const char *peer_postgres_folder(const struct peer_postgres *p);
void peer_postgres_close(struct peer_postgres *p);
/* Asks one statement. answer may be NULL. False if it failed; stderr says why. */
bool peer_postgres_ask(struct peer_postgres *p, const char *sql, struct bench_text *answer);
/* Seconds of CPU that the session's process has taken. */
double peer_postgres_cpu(const struct peer_postgres *p);

#endif
