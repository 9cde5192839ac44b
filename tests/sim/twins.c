/* twins.c -- the faults that base/twin.h can switch on: their names, the rules they break, who is to catch them. */
#include "sim_txn.h"

#include <base/twin.h>
#include <string.h>

#ifdef NAM_TWINS
static const struct {
	const char *name;
	const char *rule; /* of the formats' headers */
	const char *test; /* who is to catch it (NULL: not this program, see tests/README.md) ... */
	unsigned seeds;   /* ... within so many seeds from 1 on */
} twins[NAM_TWINS_COUNT] = {
	[NAM_TWIN_NO_DIRECTORY] = { "no-directory", "R1", "sim_txn", 500 },
	[NAM_TWIN_NO_PROOF] = { "no-proof", "R2", "sim_txn", 500 },
	[NAM_TWIN_BLIND_UNLOCK] = { "blind-unlock", "R6", "sim_txn", 500 },
	[NAM_TWIN_EARLY_ANSWER] = { "early-answer", "I2", "sim_txn --storm", 1000 },
	[NAM_TWIN_EARLY_INTENT] = { "early-intent", "I3", "sim_txn --storm", 1000 },
	[NAM_TWIN_NO_FENCE] = { "no-fence", "T6", "sim_txn --storm", 1000 },
	[NAM_TWIN_TWO_RECOVERERS] = { "two-recoverers", "T6", "sim_txn --storm", 1000 },
	[NAM_TWIN_NO_ARCHIVE] = { "no-archive", "R4", "sim_txn", 500 },
	[NAM_TWIN_STOCKED_CID] = { "stocked-cid", "R3", "sim_txn", 500 },
	[NAM_TWIN_NO_OPEN] = { "no-open", "T1", "sim_txn", 500 },
	[NAM_TWIN_TWO_READS] = { "two-reads", "T5", "sim_txn", 500 },
	[NAM_TWIN_EARLY_MARK] = { "early-mark", "T1", "sim_txn", 500 },
	[NAM_TWIN_IDLE_MARKS] = { "idle-marks", "T9", "sim_txn --idle", 300 },
	[NAM_TWIN_WRAP_UNSEEN] = { "wrap-unseen", "T4", "sim_txn --idle", 300 },
	[NAM_TWIN_WAKE_UNREAD] = { "wake-unread", "T9", "sim_txn --idle", 300 },
	[NAM_TWIN_HINT_AS_PROOF] = { "hint-as-proof", "T6", "sim_txn --storm", 1000 },
	[NAM_TWIN_OWN_OVER_OLD] = { "own-over-old", "T5", "sim_txn", 500 },
	[NAM_TWIN_RELEASE_UNCLOSED] = { "release-unclosed", "M1", NULL, 0 },
	[NAM_TWIN_DROP_UNWATCHED] = { "drop-unwatched", "M1", NULL, 0 },
	[NAM_TWIN_EXIT_UNPINNED] = { "exit-unpinned", "M2", NULL, 0 },
	[NAM_TWIN_SWEEP_EARLY] = { "sweep-early", "M3", "sim_txn", 500 },
	[NAM_TWIN_SWEEP_UNTOLD] = { "sweep-untold", "M6", "sim_txn", 500 },
	[NAM_TWIN_ONE_HORIZON] = { "one-horizon", "M6", NULL, 0 },
	[NAM_TWIN_SWEEP_HANDS_OUT] = { "sweep-hands-out", "M6", NULL, 0 },
	[NAM_TWIN_USED_AGAIN] = { "used-again", "M5", "sim_txn --tight", 300 },
	[NAM_TWIN_ALLOCATOR_UNLOCKED] = { "allocator-unlocked", "M5", "sim_txn --tight", 300 },
};

int
twin_list(void)
{
	for (unsigned i = 1; i < NAM_TWINS_COUNT; i++)
		if (twins[i].test != NULL)
			printf("%s\t%s\t%s\t1-%u\n", twins[i].name, twins[i].rule, twins[i].test,
			    twins[i].seeds);
	return 0;
}

bool
twin_choose(const char *name)
{
	for (unsigned i = 1; i < NAM_TWINS_COUNT; i++)
		if (strcmp(twins[i].name, name) == 0)
			nam_twin_on = (enum nam_twin)i;
	return nam_twin_on != NAM_TWIN_NONE;
}

const char *
twin_chosen(void)
{
	return twins[nam_twin_on].name;
}
#else
int
twin_list(void)
{
	fprintf(stderr, "this build has no twins: ./go twins makes one that has\n");
	return 2;
}

bool
twin_choose(const char *name)
{
	(void)name;
	return twin_list() == 0;
}

const char *
twin_chosen(void)
{
	return NULL;
}
#endif
