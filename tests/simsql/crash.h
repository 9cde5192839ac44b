/*
 * crash.h -- a process dies at each verb of some SQL, and its recoverer at each verb of the
 * recovery: the scenarios and their judges.
 *
 * A scenario is played once without a crash to count the victim's verbs, then once for each of them
 * and each of three ways in which a process can die with a verb (net_sim_carry). Other processes go
 * on meanwhile, on those rows and names. After the recovery a new process joins and looks at
 * everything.
 */
#ifndef NAM_TESTS_SIMSQL_CRASH_H
#define NAM_TESTS_SIMSQL_CRASH_H

#include "cluster.h"

/* What the victim does, and what `look` answers from then on; NULL = as before. */
/* # in texts and answers: how many rows `big` has at first, where the scenario grows it. */
struct crash_step {
	const char *sql, *state;
};

struct crash_check {
	const char *sql, *answer; /* "*": any that is no error */
	const char *other;        /* this one when look does not answer as at first; NULL = the
				   * same */
};

enum { CRASH_STEPS = 12 };
struct crash_scenario {
	const char *name;
	const char *setup[CRASH_STEPS]; /* by process 0 */
	const char *warm[CRASH_STEPS];  /* by the victim, before its verbs are counted */
	const char *look, *at_first;    /* and its answer behind setup and warm */
	struct crash_step step[CRASH_STEPS];
	bool retry;                            /* steps are one transaction: again from the first
					  * when it cannot be serialized */
	const char *beside[CRASH_STEPS];       /* one transaction of another process, over and
					  * over; each # is a new number */
	unsigned beside_pause_us;              /* between two of them */
	const char *allowed;                   /* SQLSTATEs it may meet besides those of
					        * conflicts */
	const char *beside_done;               /* answers how many of them there are; # is its first
					  * number */
	const char *old;                       /* asked in a snapshot from before the steps, and
					  * again at the end */
	struct crash_check after[CRASH_STEPS]; /* by the new process */
	struct crash_check again[CRASH_STEPS]; /* then, by process 0 and the new one in turn */
	unsigned linger_us;                    /* what follows behind the last answer is counted,
					        * too */
	unsigned verbs_min;
	bool grows;    /* setup fills `big` up to where the steps split its index */
	bool archives; /* the steps archive, before the decision and too late */
};

extern const struct crash_scenario crash_scenarios[];
extern const unsigned crash_scenarios_n;

#endif
