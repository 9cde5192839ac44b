/*
 * tsoracle.h -- timestamps and snapshots that live in remote memory.
 *
 * A counter hands out commit ids (CIDs) by FETCH_ADD; a vector of bytes holds one
 * mark per CID. A mark means: every verb of that CID has executed, or never
 * will. The highest consecutive mark, the prefix, is the snapshot: one number,
 * totally ordered. There is no service thread. Source: RSI's bit vector
 * (nam-end-of-slow-networks §4.2), with claims by FETCH_ADD instead of CIDs
 * assigned beforehand; the paper's scheme is TSO_PREASSIGNED, the baseline.
 *
 * Each compute process holds an owner slot: an epoch, a heartbeat, and promises
 * that only rise (`oldest`, `open`, `seen`). Their minimum over all live slots
 * is what garbage collection and wrap-around may rely on.
 *
 * struct tso is one process's view and may be used by all its workers; every
 * struct tso_worker belongs to one thread. Calls that wait run in a coroutine.
 */
#ifndef NAM_TSORACLE_TSORACLE_H
#define NAM_TSORACLE_TSORACLE_H

#include <net/net.h>

/* A commit id: 15 bits of view | 48 bits of count. 0: before everything. */
typedef uint64_t tso_cid;
#define TSO_CID_MAX ((UINT64_C(1) << 63) - 1)

enum tso_scheme { TSO_CLAIM, TSO_PREASSIGNED };

enum {
	TSO_OWNERS = 256,     /* compute processes at one time */
	TSO_NOTE_CATALOG = 1, /* this CID changed the catalog: caches older than it are stale */
	TSO_NOTE_MEMORY =
	    2, /* memory was left behind, or swept, or is wanted: look at the anchor before taking
	        * more */
	TSO_LEASE_MS = 3000, /* of owners, unless the cluster was made with another */
};

struct tso;
struct tso_worker;

/* Formats the oracle in fresh memory at home; *anchor is its address for the root word. vector:
 * marks, a power of two >= 64 (0: what two leases of 5 M commits/s take, but not above 1/16 of the
 * region, nor below 64 Ki). clients: only for TSO_PREASSIGNED, how many workers share the CIDs,
 * each one every clients-th. lease_ms: an owner whose heartbeat stalls for so long is taken for
 * dead, 0 = TSO_LEASE_MS. In a coroutine, by the cluster's first process. */
nam_status tso_format(struct net_worker *w, unsigned region, uint32_t vector, enum tso_scheme scheme,
    unsigned clients, uint32_t lease_ms, net_addr *anchor);

/*
 * Joins: takes an owner slot, publishes its promises, reads the prefix. In a
 * coroutine. NAM_FULL: all owner slots are taken.
 */
nam_status tso_join(struct net_worker *w, net_addr anchor, struct tso **out);
/* fn(arg) is called, in a coroutine, each time this process has had to take another slot after its
 * idle one was freed: before anybody goes on. */
void tso_on_attach(struct tso *t, nam_status (*fn)(void *arg, struct net_worker *w), void *arg);
/* Nobody has held a pin for a while. */
bool tso_is_idle(const struct tso *t);
uint64_t tso_lease_ns(const struct tso *t);
/* How many slots this process has had so far. */
unsigned tso_joins(const struct tso *t);
/* Gives the slot back. Nothing may be open. In a coroutine. */
nam_status tso_leave(struct net_worker *w, struct tso *t);
void tso_close(struct tso *t);

unsigned tso_owner(const struct tso *t); /* slot number 0..TSO_OWNERS-1 */
unsigned tso_epoch(const struct tso *t); /* 22 bits, never 0 */
/* Where an owner slot keeps a word for the room above (the log of whoever has the slot). It stays
 * with the slot. */
net_addr tso_log_at(const struct tso *t, unsigned owner);

/* A worker's part: hooks itself to the worker's idle loop, so that snapshots and claims asked for
 * by several coroutines travel as one. */
nam_status tso_worker_open(struct tso *t, struct net_worker *w, struct tso_worker **out);
void tso_worker_close(struct tso_worker *tw);

/*
 * How long somebody waits for what others have to do. NAM_CANCELLED, NAM_EXPIRED: as it says.
 * NAM_STUCK: nothing has moved for so long that a process must have stopped which nobody can
 * recover (tso_stuck_text says which).
 */
struct tso_timeout {
	const _Atomic int *cancel; /* becomes non-zero: NAM_CANCELLED; may be NULL */
	uint64_t until_ns;         /* net_now_ns passes it: NAM_EXPIRED; 0: never */
};
/* NAM_OK: wait on. p may be NULL. */
nam_status tso_timeout_left(struct net_worker *w, const struct tso_timeout *p);

/* An open snapshot. Lives in the transaction; linked to its worker while pinned. */
struct tso_pin {
	tso_cid at;
	struct tso_pin *prev, *next;
};

/*
 * Takes a snapshot: a READ of the vector that starts after this call, covering
 * all that this process has answered (waits for that). Shared with every
 * coroutine of the worker that asks meanwhile. Pinned until tso_unpin: no version
 * visible at it is reclaimed. notes: the highest catalog note at or below it.
 */
nam_status tso_snapshot(struct tso_worker *tw, struct tso_pin *pin, struct net_counts *acct);
nam_status tso_snapshot_by(
    struct tso_worker *tw, struct tso_pin *pin, const struct tso_timeout *p, struct net_counts *acct);
/* No snapshot, only a pin: at the prefix known here, without waiting for anything. Unpin it also
 * when it is not NAM_OK. */
nam_status tso_pin_now(struct tso_worker *tw, struct tso_pin *pin);
void tso_unpin(struct tso_worker *tw, struct tso_pin *pin);
/* hold takes pin's place (and is unpinned instead of it); pin is free for another snapshot. */
void tso_hold(struct tso_worker *tw, struct tso_pin *pin, struct tso_pin *hold);
/* The highest CID <= the process's prefix whose mark carried TSO_NOTE_CATALOG, as of now. */
tso_cid tso_noted(const struct tso *t);
/* The highest with TSO_NOTE_MEMORY. */
tso_cid tso_noted_memory(const struct tso *t);

/* A claimed CID between claim and mark. Lives in the transaction. */
struct tso_claim {
	tso_cid cid;
	struct nam_co *waiter;
	bool ready;
	nam_status status;
	unsigned note;
	tso_cid floor;
	struct tso_claim *prev, *next; /* open claims of the worker, by CID */
	void (*done)(void *);
	void *done_arg;
	struct net_counts *acct;
	struct tso_worker *tw;
	struct net_batch batch; /* of the mark */
	struct net_op op;
	uint8_t byte;
	struct tso_claim *again; /* the next whose mark is in doubt */
};
/*
 * Claims a CID: start, then post whatever else goes with it, then wait. Claims of one worker
 * started before its coroutines all wait share one FETCH_ADD. Every READ of an expected CID must
 * have completed before the start. floor: the greatest expected CID (only the pre-assigned scheme
 * needs it). With a pin of this worker, to the end of the mark.
 */
void tso_claim_start(struct tso_worker *tw, struct tso_claim *c, tso_cid floor, struct net_counts *acct);
nam_status tso_claim_wait(struct tso_worker *tw, struct tso_claim *c);
/* The same, with an end: tso_claim_wait waits for others' promises as long as it takes. Not NAM_OK:
 * nothing was or will be written with that CID, nobody here marks it, and it becomes a hole. */
nam_status tso_claim_wait_by(struct tso_worker *tw, struct tso_claim *c, const struct tso_timeout *p);
/* Everything of this CID has executed or never will: posts the mark. note: TSO_NOTE_CATALOG,
 * TSO_NOTE_MEMORY, both, or 0. done(arg), if given, when the mark has landed, or (c->op.status) may
 * not have: then this process beats no more, and who recovers it marks. Any coroutine or completion
 * of the worker. Where the connection to home broke, done waits for tso_home_again. */
void tso_mark(struct tso_worker *tw, struct tso_claim *c, unsigned note, void (*done)(void *), void *arg);
/* The same, and back when done would be called. In a coroutine. */
void tso_mark_wait(struct tso_worker *tw, struct tso_claim *c, unsigned note);
/* The client has been told that cid committed: later snapshots of this process cover it. */
void tso_answered(struct tso *t, tso_cid cid);
/* Waits until this process's prefix covers cid. */
nam_status tso_wait_for(struct tso_worker *tw, tso_cid cid);
nam_status tso_wait_for_by(struct tso_worker *tw, tso_cid cid, const struct tso_timeout *p);

/* No snapshot below this is used or will be, by any live owner. As of the last tick; only rises. */
tso_cid tso_watermark(const struct tso *t);
/* The prefix this process has seen. */
tso_cid tso_prefix(const struct tso *t);

/*
 * "Has everything that was under way, in any process, come to an end?" Take a
 * stamp; later tso_passed says true when every transaction that any process had
 * open at that moment is over. Neither parks; any thread.
 */
uint64_t tso_stamp(const struct tso *t);
bool tso_passed(const struct tso *t, uint64_t stamp);

/*
 * The connection of this worker to home broke under a mark: fn(arg) is called, on its thread, and
 * owes tso_home_again. Without fn the process abandons itself (tso_abandon) then.
 */
void tso_on_home_lost(struct tso_worker *tw, void (*fn)(void *arg), void *arg);
/*
 * NAM_OK: the worker has a new connection to home, and nothing executes any more of what it had
 * posted over the old one: marks in doubt are made again. Otherwise: it will not get one; others
 * recover what is in doubt. Its thread.
 */
void tso_home_again(struct tso_worker *tw, nam_status st);
/* Something of this worker waits for tso_home_again. Its thread. */
bool tso_in_doubt(const struct tso_worker *tw);

/* One heartbeat: publishes promises, reads everybody's, raises the watermark, marks CIDs that are
 * nobody's. Called every few ms by one coroutine of the process. */
nam_status tso_tick(struct tso_worker *tw);

/* What this process has open it cannot end itself: it beats no more, and so others will fence it
 * and recover that. Workers may be closed with pins and claims open. Any thread. */
void tso_abandon(struct tso *t);
bool tso_abandoned(const struct tso *t);

/* ---- owners that have stopped (README: what a slot goes through) ---- */

/* A slot whose owner, or whose recoverer, is to be fenced. */
struct tso_lapse {
	unsigned slot, epoch;
	uint64_t word;
	uint64_t still_ns;    /* without a beat, as far as we have watched */
	enum net_heard heard; /* NET_UNHEARD: it is silent, else storage nodes have said that it is
			       * gone */
};
/* Is slot i such a one, as the last tick saw it? Any thread that may call net_heard_of(w). */
bool tso_lapsed(struct tso *t, struct net_worker *w, unsigned i, struct tso_lapse *out);
/*
 * Fences the owner on every storage node and makes the slot ours to recover. NAM_CONFLICT: the
 * owner moved, or another process was first; nothing is ours. Otherwise not NAM_OK: not done; call
 * again. Needs a pin of this process, so that it does not go idle before tso_unseal. err: which
 * node does not answer, should one not; may be empty. In a coroutine.
 */
nam_status tso_seal(struct tso_worker *tw, const struct tso_lapse *l, struct nam_err *err);
/* All that the owner left is recovered: the slot is free. */
nam_status tso_unseal(struct tso_worker *tw, const struct tso_lapse *l);
/* Has (owner, epoch) come to its end, and all its intents been recovered? */
nam_status tso_ended(struct tso_worker *tw, unsigned owner, unsigned epoch, bool *yes);
/* Marks a CID of an owner whose slot we have sealed, unless the prefix covers it (*was). All verbs
 * of it have completed. */
nam_status tso_mark_for(struct tso_worker *tw, tso_cid cid, unsigned note, bool *was);

/*
 * What the recoverer knows of a slot that it cannot recover, for a while now, and why; why NULL:
 * that is over. Waits end sooner while there is one. Any thread.
 */
void tso_unrecovered(struct tso *t, unsigned slot, unsigned epoch, const char *why);
bool tso_is_unrecovered(const struct tso *t, unsigned slot, unsigned epoch);
/* Says in *tw's text that (slot, epoch) stands in the way, and answers NAM_STUCK. Its thread. */
nam_status tso_stuck_on(struct tso_worker *tw, unsigned slot, unsigned epoch);
/* A line about the last NAM_STUCK of this worker, "" when it has been taken already. Its thread. */
void tso_stuck_text(struct tso_worker *tw, char *out, size_t max);

/* How many idle owners have lost their slots to the ticks of this process. On any thread. */
uint64_t tso_seals(const struct tso *t);

/* Counters for tests and figures, while no worker works. */
struct tso_stats {
	uint64_t snapshots, snapshot_reads, claims, claim_faas, marks, holes_marked, wrap_waits, seals,
	    fenced;
	uint64_t marks_again; /* over another connection */
};
void tso_stats(const struct tso *t, struct tso_stats *out);

#endif
