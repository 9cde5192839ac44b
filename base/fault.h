/*
 * fault.h -- faults built in on purpose, one at a time, so that tests can show that they detect
 * them.
 *
 * A fault point stands where a rule is kept: `if (nam_fault(X))` breaks that rule. Only a build
 * with NAM_TWINS (cmake --preset twins) knows fault points: there a test sets one word,
 * nam_fault_on. In every other build nam_fault is the constant false and costs nothing. A twin is
 * the program with one fault on. tests/twins.sh plays the table below; tests/README.md has
 * figures.
 */
#ifndef NAM_BASE_FAULT_H
#define NAM_BASE_FAULT_H

#include <stdbool.h>

/*
 * Point, name, the rule that it breaks (R, M: txn/record_format.h; O: txn/order.c, txn/entries.c;
 * U: txn/unique.c; F: txn/refer.c; K: txn/keyed.c, but K6 and K8: txn/cluster_format.h;
 * I: txn/intent_format.h; T: tsoracle/oracle_format.h; H: index/hash/hash_format.h; L:
 * index/learned/learned_format.h; P: txn/twopc/README.md; B: bench/README.md; A:
 * olap/job_format.h; G: net/ring/ring_format.h; W: wal/wal_format.h; J:
 * txn/logged_format.h; Q: wal/remote/wal_msg.h), the test that is to catch it,
 * within so many seeds (0 = it plays scenes, and reports so), the effect.
 */
/* clang-format off */
#define NAM_FAULTS(X) \
	X(NO_DIRECTORY, "no-directory", "R1", "sim_txn", 500, "a reader believes the newest whole slot, listed or not") \
	X(NO_PROOF, "no-proof", "R2", "sim_txn", 500, "a reader believes the slot of a listed CID without its proof") \
	X(STOCKED_CID, "stocked-cid", "R3", "sim_txn", 500, "a CID is claimed before the versions to be replaced are known") \
	X(NO_ARCHIVE, "no-archive", "R4", "sim_txn", 500, "a slot that snapshots need is overwritten before it is archived") \
	X(BLIND_UNLOCK, "blind-unlock", "R6", "sim_txn", 500, "an abort WRITEs back the words it knows, also of locks it never got") \
	X(EARLY_ANSWER, "early-answer", "I2", "sim_txn --storm", 1000, "the client is answered when step 2 has been posted") \
	X(EARLY_INTENT, "early-intent", "I3", "sim_txn --storm", 1000, "an intent is used again while the words of its last use are under way") \
	X(NO_OPEN, "no-open", "T1", "sim_txn", 500, "an unmarked CID is marked as a hole, even above its process's `open`") \
	X(EARLY_MARK, "early-mark", "T1", "sim_txn", 500, "the mark lands before directories and words") \
	X(WRAP_UNSEEN, "wrap-unseen", "T4", "sim_txn --idle", 300, "a place in the vector is used again while processes may READ or mark it") \
	X(FLOOR_UNKEPT, "floor-unkept", "T11", "sim_txn --lanes 4", 500, "a claim may be less than its floor") \
	X(SERIAL_UNORDERED, "serial-unordered", "T11", "sim_txn --lanes 4", 500, "a SERIALIZABLE commit validates while lanes may still give out smaller CIDs") \
	X(TWO_READS, "two-reads", "T5", "sim_txn", 500, "the vector is READ in two pieces, taken for one picture") \
	X(OWN_OVER_OLD, "own-over-old", "T5", "sim_txn", 500, "a snapshot covers own commits though the prefix does not") \
	X(NO_FENCE, "no-fence", "T6", "sim_txn --storm", 1000, "a silent process is recovered without being fenced") \
	X(TWO_RECOVERERS, "two-recoverers", "T6", "sim_txn --storm", 1000, "each process that finds a sealed slot recovers it") \
	X(HINT_AS_PROOF, "hint-as-proof", "T6", "sim_txn --storm", 1000, "a process that has no connection any more is recovered without being fenced") \
	X(IDLE_MARKS, "idle-marks", "T9", "sim_txn --idle", 300, "an idle process READs marks and fills holes") \
	X(WAKE_UNREAD, "wake-unread", "T9", "sim_txn --idle", 300, "an idle process goes on at the prefix it knew when it went idle") \
	X(RELEASE_UNCLOSED, "release-unclosed", "M1", "life_test", 0, "a dropped table goes back when the drop is old enough, closed or not") \
	X(DROP_UNWATCHED, "drop-unwatched", "M1", "life_test", 0, "the collector believes what an anchor said before it pinned") \
	X(EXIT_UNPINNED, "exit-unpinned", "M2", "life_test", 0, "a process that ends hands its memory over without a pin") \
	X(SWEEP_EARLY, "sweep-early", "M3", "sim_txn", 500, "a sweep does not wait for earlier transactions") \
	X(ALLOCATOR_UNLOCKED, "allocator-unlocked", "M5", "sim_txn --tight", 300, "extents go back to their nodes while a process sweeps the table") \
	X(USED_AGAIN, "used-again", "M5", "sim_txn --tight", 300, "old garbage is given back, though its extent has gone back and may be used again") \
	X(SWEEP_UNTOLD, "sweep-untold", "M6", "sim_txn --tight", 300, "a sweep does not say at which snapshot it looked at an extent") \
	X(ONE_HORIZON, "one-horizon", "M6", "look_test", 0, "garbage is judged by the sweep's last horizon, not by its extent's") \
	X(SWEEP_HANDS_OUT, "sweep-hands-out", "M6", "look_test", 0, "what a sweep has found is used while snapshots may still show it") \
	X(SWEEP_PASSES, "sweep-passes", "M7", "interleaving_test", 0, "a sweep passes an empty block that a live process has locked") \
	X(LIST_VOID, "list-void", "M8", "reclaim_test", 0, "memory of the present generation is forgotten, because a list is still of an earlier one") \
	X(PLACE_UNTAGGED, "place-untagged", "M", "places_test", 0, "the stack of free places for anchors has no tag") \
	X(ENTRY_IGNORED, "entry-ignored", "H", "sim_txn", 500, "a commit goes on though another insert has entered its key") \
	X(KEY_UNASKED, "key-unasked", "O2", "order_test", 0, "an entry of an ordered index is removed though versions may have its key") \
	X(RIVAL_UNSEEN, "rival-unseen", "U1", "unique_test", 0, "an entry beside others is made, and they are not looked at again") \
	X(ROAMED_UNASKED, "roamed-unasked", "U3", "unique_test", 0, "a row gets a key back, and its transaction's other rows are not asked") \
	X(ENTRY_KEPT, "entry-kept", "O5", "unique_test", 0, "an entry of a key that a row had for a while stays after COMMIT") \
	X(ENTRY_UNLOCKED, "entry-unlocked", "O2", "order_test", 0, "an entry of an ordered index is removed without a lock on its block") \
	X(KEYED_UNLOCKED, "keyed-unlocked", "K1", "keyed_test", 0, "a block that a transaction has locked is taken for one without the key") \
	X(KNOWN_UNASKED, "known-unasked", "O4", "order_test", 0, "a process believes what it knew of an entry, whatever the word of its block") \
	X(LEAVES_UNSEEN, "leaves-unseen", "O1", "order_test", 0, "a SERIALIZABLE commit does not look at the leaves again that it has READ") \
	X(LEAVES_UNJUDGED, "leaves-unjudged", "O1", "order_test", 0, "a SERIALIZABLE commit takes what has come into a leaf for what has gone") \
	X(FK_UNLOCKED, "fk-unlocked", "F1", "refer_test", 0, "a commit does not look again at the rows that its rows refer to") \
	X(FK_UNASKED, "fk-unasked", "F2", "refer_test", 0, "a commit that takes a key away does not look again for rows that refer to it") \
	X(ANY_SLOT, "any-slot", "H", "hash_twin_test", 0, "an insert takes any free slot of the bucket") \
	X(NO_FREEZE, "no-freeze", "H", "hash_twin_test", 0, "a split does not freeze the slots that it copies") \
	X(BELIEVE_FROZEN, "believe-frozen", "H", "hash_twin_test", 0, "a lookup believes what a frozen sub-table says") \
	X(MAKE_TWICE, "make-twice", "H10", "hash_twin_test", 0, "each process that finds no sub-tables makes the first ones, without the lock") \
	X(MAKE_IN_DOUBT, "make-in-doubt", "H10", "hash_twin_test", 0, "the next maker uses the extent of one whose WRITEs may execute later") \
	X(ONE_TURN, "one-turn", "H", "hash_twin_test", 0, "a sub-table in the memory of an older one says that it is that one") \
	X(NO_WIPE, "no-wipe", "H", "hash_twin_test", 0, "a sub-table is written over an older one in one go") \
	X(TREE_NO_LOG, "tree-no-log", "B7", "btree_twin_test", 0, "a storage node changes a partition without a log") \
	X(TREE_LINK_EARLY, "tree-link-early", "B6", "btree_twin_test", 0, "a new leaf is linked before it is whole") \
	X(TREE_UNCHECKED, "tree-unchecked", "B1", "btree_twin_test", 0, "a client believes a node without its checksum") \
	X(TREE_NO_FENCE, "tree-no-fence", "B2", "btree_twin_test", 0, "a client believes a leaf whatever its fences") \
	X(TREE_BEGUN_TWICE, "tree-begun-twice", "B14", "btree_twin_test", 0, "each client that finds a bare tree gives it a partition") \
	X(TREE_NO_TURN, "tree-no-turn", "B9", "btree_twin_test", 0, "a service executes requests of a turn that is over") \
	X(TREE_MOVED_BELIEVED, "moved-leaf-believed", "B13", "btree_twin_test", 0, "leaves that a partition has given up keep their checks") \
	X(TREE_SEAL_FORGOTTEN, "seal-forgotten", "B11", "btree_twin_test", 0, "a partition changes entries that are being moved") \
	X(TREE_RECORD_TORN, "record-torn", "B10", "btree_twin_test", 0, "a move is written down by one WRITE, which may be cut") \
	X(TREE_JOIN_FENCE, "tree-join-fence", "B15", "btree_twin_test", 0, "a leaf that has given its range away keeps its fences") \
	X(TREE_JOIN_MOVING, "tree-join-moving", "B15", "btree_twin_test", 0, "leaves are joined while their partition moves") \
	X(TREE_FALL_UNTOLD, "tree-fall-untold", "B3", "btree_twin_test", 0, "a leaf that has split is taken for the one that was seen") \
	X(TREE_SPARE_UNLOGGED, "tree-spare-unlogged", "B16", "btree_twin_test", 0, "a node is written over a spare one without the log") \
	X(PRESENT_KEYS, "present-keys", "L2", "learned_twin_test", 0, "the bounds of a line are those of the low fences only") \
	X(STEP_NEAREST, "step-nearest", "L3", "learned_twin_test", 0, "a separator is rounded to the nearest step") \
	X(OLAP_NO_FLUSH, "olap-no-flush", "A2", "olap_twin_test", 0, "a writer puts its windows out before its last buffer") \
	X(OLAP_EARLY_OUTPUT, "olap-early-output", "A2", "olap_twin_test", 0, "an output counts while its windows are still on their way") \
	X(OLAP_UNLISTED, "olap-unlisted", "A1", "olap_twin_test", 0, "extents are used that the bill does not list") \
	X(OLAP_MORSEL_TWICE, "olap-morsel-twice", "A2", "olap_twin_test", 0, "a round after a death does morsels again that count already") \
	X(UNVALIDATED, "unvalidated", "P2", "twopc_twin_test", 0, "a resource manager locks a record that has a newer version than was read") \
	X(EARLY_SNAPSHOT, "early-snapshot", "P4", "twopc_twin_test", 0, "snapshots cover a transaction whose records are not all installed") \
	X(SLOT_UNVALIDATED, "slot-unvalidated", "B4", "tpcw_paper_test", 0, "RSI as the NAM paper has it installs records whose CAS failed") \
	X(RING_EARLY, "ring-early", "G4", "crowd_test", 0, "a client gives its rings back while its WRITEs are under way") \
	X(BELL_UNASKED, "bell-unasked", "G6", "bell_test", 0, "a shard notes what a caller waits for, and does not look whether that has been reached") \
	X(RING_UNRESTED, "ring-unrested", "G5", "crowd_test", 0, "the rings of a dead process are used again at once") \
	X(WAL_UNSYNCED, "wal-unsynced", "W2", "wal_twin_test", 0, "records count as flushed when they are written, without a sync") \
	X(WAL_TWO_BLOCKS, "wal-two-blocks", "W2", "wal_twin_test", 0, "a block is written before the one before it is synced") \
	X(WAL_MANIFEST_UNSYNCED, "wal-manifest-unsynced", "W6", "wal_twin_test", 0, "the manifest is replaced by one that is not synced") \
	X(CHECKPOINT_UNCOVERED, "checkpoint-uncovered", "J7", "checkpoint_test", 0, "a checkpoint's snapshots do not cover what the log has had before its begin") \
	X(CHECKPOINT_EARLY, "checkpoint-early", "J8", "checkpoint_test", 0, "a checkpoint's snapshot ends before its rows are received") \
	X(NUMBER_UNLOOKED, "number-unlooked", "J7", "numbers_test", 0, "a number logged before a checkpoint's begin is shown behind its look") \
	X(BACKUP_UNCOVERED, "backup-uncovered", "J10", "backup_test", 0, "a backup does not wait until each attempt from before its end has ended") \
	X(BACKUP_UNTOLD, "backup-untold", "J10", "backup_test", 0, "a backup leaves out what undoes an attempt behind its end") \
	X(BACKUP_SHORT, "backup-short", "J10", "sim_cuts", 500, "a backup ends where the log was flushed, though more had been answered") \
	X(WAL_OLD_ROUND, "wal-old-round", "Q6", "checkpoint_test", 0, "a checkpoint that has been overtaken goes on appending rows") \
	X(WAL_CUT_EARLY, "wal-cut-early", "W6", "wal_twin_test", 0, "the begin of a life is cut off before what replaces it is flushed") \
	X(WAL_PUBLISH_EARLY, "wal-publish-early", "W6", "wal_twin_test", 0, "the manifest names a life whose records are not flushed") \
	X(WAL_MISPLACED, "wal-misplaced", "W1", "wal_twin_test", 0, "a block is believed whatever place and position its head names") \
	X(WAL_CUT_ANYWHERE, "wal-cut-anywhere", "W3", "wal_twin_test", 0, "a log is cut off at the first damage, whatever is behind it") \
	X(WAL_READ_UNSYNCED, "wal-read-unsynced", "W2", "wal_twin_test", 0, "what a process before has left is read before it is synced") \
	X(LOG_UNTOLD, "log-untold", "J3", "logged_test", 0, "locks of an undone attempt are freed before the log says so") \
	X(COPIES_ONE, "copies-one", "J1", "sim_cuts --copies 2", 500, "a commit goes on when the first copy of the log has received it") \
	X(COPIES_FLUSHED_ONE, "copies-flushed-one", "J1", "sim_cuts --copies 2", 1000, "a commit is answered when the first copy of the log is flushed") \
	X(COPIES_HAS_ANY, "copies-has-any", "J3", "logged_test", 0, "a recoverer finishes a commit that one copy of the log has received") \
	X(RINGS_LATE, "rings-late", "R3", "rings_test", 0, "the log takes entries of its rings whose number is greater than that of its look") \
	X(RINGS_UNSORTED, "rings-unsorted", "R3", "rings_test", 0, "the log takes entries ring by ring, not in the order of their numbers") \
	X(RINGS_LEFT, "rings-left", "R5", "rings_test", 0, "a log that was busy finishes what it had listed, and does not look again") \
	X(RINGS_UNTAKEN, "rings-untaken", "R5", "logged_test", 0, "the log answers a recoverer before it has taken what the dead owner has published") \
	X(COPIES_EMPTY, "copies-empty", "W11", "sim_cuts --copies 2", 500, "an empty directory counts as a copy of the log that is there") \
	X(LOG_UNASKED, "log-unasked", "J1", "logged_test", 0, "a recoverer finishes a commit that the log has not received") \
	X(REPLAY_LAST, "replay-last", "J4", "sim_cuts", 500, "of the versions of a row the last one in the log is taken for the newest") \
	X(UNDONE_COUNTS, "undone-counts", "J2", "sim_cuts", 600, "an attempt that was undone counts after a restart") \
	X(NUMBER_GREATEST, "number-greatest", "J6", "sim_cuts", 500, "a sequence goes on at the greatest number of all generations") \
	X(IDS_AGAIN, "ids-again", "J7", "sim_cuts", 500, "ids of tables are given out again after a restart") \
	X(TEMP_KEPT, "temp-kept", "K6", "sim_cuts", 500, "temporary tables of processes that are gone are restored") \
	X(VALUE_UNMOVED, "value-unmoved", "J5", "sim_cuts", 500, "rows are restored with the old addresses of their long values") \
	X(PUBLISH_FIRST, "publish-first", "W11", "sim_cuts --copies 2", 4000, "a life is published on a copy before another one has flushed it") \
	X(QUIT_EARLY, "quit-early", "K6", "copies_test", 0, "a restorer that fails lets another one begin before it has closed") \
	X(RESTORER_LIVES, "restorer-lives", "K6", "sim_cuts", 500, "a process restores beside a restorer that lives") \
	X(NUMBER_BEFORE, "number-before", "J6", "sim_cuts", 600, "a number that lies before the begin of a generation is taken for one that the log has") \
	X(NAMED_BY_LOCK, "named-by-lock", "J2", "replay_test", 0, "of an attempt's name the lock word alone is compared") \
	X(LATE_TAKEN, "late-taken", "Q7", "logged_test", 0, "the log takes a record that comes behind its undoing") \
	X(UNANSWERED, "unanswered", "Q1", "logged_test", 0, "a record counts as received though its node has not answered") \
	X(UNDONE_UNFLUSHED, "undone-unflushed", "J3", "logged_test", 0, "a client is told of the undoing before that is flushed") \
	X(MEMORY_UNASKED, "memory-unasked", "K8", "sim_cuts", 500, "a process that lives on connects to a node whose memory is that of a later life") \
	X(RESET_UNLOOKED, "reset-unlooked", "K8", "sim_cuts", 500, "nodes are reset without a look whether a log has what was committed") \
	X(RESET_UNBORN, "reset-unborn", "K8", "sim_cuts", 500, "nodes are reset without that look while the database is being restored") \
	X(LOG_UNFLUSHED, "log-unflushed", "J1", "logged_test", 0, "a commit is answered before the log is flushed")
/* clang-format on */

enum nam_fault {
	NAM_FAULT_NONE,
#define X(point, name, rule, test, seeds, what) NAM_FAULT_##point,
	NAM_FAULTS(X)
#undef X
	    NAM_FAULTS_COUNT
};

#ifdef NAM_TWINS
extern enum nam_fault nam_fault_on;
extern const char *const nam_fault_name[NAM_FAULTS_COUNT];
/* That one is on from now on. False: none has that name. */
bool nam_fault_choose(const char *name);
#define nam_fault(point) __builtin_expect(nam_fault_on == NAM_FAULT_##point, 0)
#define nam_fault_any()  (nam_fault_on != NAM_FAULT_NONE)
/* For a fault that is a choice. */
unsigned nam_fault_dice(unsigned below);
#else
#define nam_fault(point)      false
#define nam_fault_any()       false
#define nam_fault_dice(below) 0u
#endif

#endif
