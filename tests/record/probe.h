/*
 * probe.h -- work of a process beside its load, which measures its death and the others' waits.
 *
 * Two tables: held (a row for each process that ever comes) and pulse (a row for each place that
 * one process at a time fills). A process that probes
 *	- holds the lock of its row of `held`, transaction after transaction, so that it has it
 *        whenever it is killed;
 *	- counts its row of `pulse` up, and writes down when each count was answered;
 *	- reads all of `pulse`, and writes down what it saw;
 *	- asks for the rows of `held` that it is told on stdin, once waiting for the lock and once
 *        trying repeatedly.
 * A line each, in FILE.probe, times by CLOCK_MONOTONIC in ns:
 *	h TIME			the lock of our own row is ours
 *	H TIME			its COMMIT is about to be asked for
 *	p PLACE COUNT TIME	a count was answered
 *	s BEGIN END PLACE:COUNT ...
 *	w ROW BEGIN END STATE	READ COMMITTED waited for that row and got it (STATE 00000), or did
 *                              not
 *	r ROW BEGIN END STATE	REPEATABLE READ tried until it had changed it
 */
#ifndef NAM_TESTS_PROBE_H
#define NAM_TESTS_PROBE_H

#include "record.h"

#include <stdint.h>

struct probe_config {
	const struct backend *backend;
	const char *where, *out; /* out: FILE */
	unsigned row, place;     /* ours */
	uint64_t ms, seed;
};

enum { PROBE_ROWS = 2000, PROBE_PLACES = 8 };

/* Makes both tables. */
bool probe_setup(const struct backend *b, void *conn, struct answer *a);
/* Starts the threads, once. False if it failed; stderr says why. */
bool probe_start(const struct probe_config *cfg);
/* Waits until all but the one that hears stdin have ended: when time is up, or the connection is
 * gone. */
void probe_join(void);

#endif
