/*
 * twin.h -- faults built in on purpose, one at a time, so that tests can show that they would see them.
 *
 * Only a build with NAM_TWINS (cmake --preset twins) knows them: there nam_twin(X) asks one word that tests/sim/twins.c sets.
 * In every other build it is the constant false and leaves no trace. It stands at the very place where a rule is kept, so
 * that whoever reads that place sees what would break it. tests/README.md has the list and who catches which.
 */
#ifndef NAM_BASE_TWIN_H
#define NAM_BASE_TWIN_H

#include <stdbool.h>

enum nam_twin {
	NAM_TWIN_NONE,
	NAM_TWIN_NO_DIRECTORY,   /* the newest whole slot is believed, listed or not */
	NAM_TWIN_NO_PROOF,       /* the slot of a listed CID is believed unseen */
	NAM_TWIN_BLIND_UNLOCK,   /* an abort writes back the words it knows, whoever has the lock */
	NAM_TWIN_EARLY_ANSWER,   /* the client is answered when step 2 has been posted */
	NAM_TWIN_EARLY_INTENT,   /* an intent is used again while the words of its last use are under way */
	NAM_TWIN_NO_ARCHIVE,     /* a slot that snapshots need is overwritten before it is archived */
	NAM_TWIN_STOCKED_CID,    /* a CID is claimed before the versions to be replaced are known */
	NAM_TWIN_NO_OPEN,        /* a claim nobody has marked is sealed, whoever may have it */
	NAM_TWIN_NO_FENCE,       /* the silent are settled without being shut out */
	NAM_TWIN_TWO_RECOVERERS, /* whoever finds a dead owner settles it, also when another one does */
	NAM_TWIN_TWO_READS,      /* the vector is READ in two pieces, taken for one picture */
	NAM_TWIN_EARLY_MARK,     /* the mark goes before the directories and words */
	NAM_TWIN_OWN_OVER_OLD,   /* a snapshot covers own commits though the prefix does not */
	NAM_TWIN_IDLE_MARKS, /* an idle process READs marks and fills holes, though nobody waits for its promises */
	NAM_TWIN_WRAP_UNSEEN, /* a place in the vector is used again, whoever may still READ or mark it */
	NAM_TWIN_WAKE_UNREAD, /* an idle process goes on at the prefix it knew when it went idle */
	NAM_TWIN_RELEASE_UNCLOSED, /* a dropped table goes back when the drop is old enough, closed or not */
	NAM_TWIN_DROP_UNWATCHED,   /* the collector believes what an anchor said before it pinned */
	NAM_TWIN_EXIT_UNPINNED,    /* a process that ends hands its memory over without a pin */
	NAM_TWIN_SWEEP_EARLY,      /* a sweep does not wait for transactions of before */
	NAM_TWIN_SWEEP_UNTOLD,     /* a sweep does not say at which snapshot it looked at an extent */
	NAM_TWIN_ONE_HORIZON, /* garbage is judged by the last extent that the sweep looked at, not by its own */
	NAM_TWIN_SWEEP_HANDS_OUT,    /* what a sweep has found is used while snapshots may still show it */
	NAM_TWIN_ALLOCATOR_UNLOCKED, /* extents go back to their nodes while others sweep the table */
	NAM_TWIN_USED_AGAIN, /* old garbage is given back, though its extent has gone back and may be used again */
	NAM_TWIN_HINT_AS_PROOF, /* of whom nothing is connected any more is settled without being shut out */
	NAM_TWINS_COUNT
};

#ifdef NAM_TWINS
extern enum nam_twin nam_twin_on;
#define nam_twin(which) __builtin_expect(nam_twin_on == (which), 0)
#define nam_twin_any()  (nam_twin_on != NAM_TWIN_NONE)
#else
#define nam_twin(which) false
#define nam_twin_any()  false
#endif

#endif
