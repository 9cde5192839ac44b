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
 * Each compute process holds an owner slot: an epoch, a heartbeat, and promises that only rise
 * (`oldest`, `open`, `seen`). Garbage collection and wrap-around rely on their minimum over all
 * live slots.
 *
 * struct tso is one process's view and may be used by all its workers; every
 * struct tso_worker belongs to one thread. Calls that wait run in a coroutine.
 */
#ifndef NAM_TSORACLE_TSORACLE_H
#define NAM_TSORACLE_TSORACLE_H

#include <net/net.h>

/* A commit id: 15 bits of view | 48 bits of count. 0 = before all others. */
typedef uint64_t tso_cid;
#define TSO_CID_MAX ((UINT64_C(1) << 63) - 1)

enum tso_scheme { TSO_CLAIM, TSO_PREASSIGNED };

enum {
	TSO_OWNERS = 4096,    /* compute processes at one time, at most */
	TSO_OWNERS_MIN = 256, /* so many in a cluster whose home region is small */
	TSO_NOTE_CATALOG = 1, /* this CID changed the catalog: caches older than it are stale */
	TSO_NOTE_MEMORY =
	    2, /* memory was left behind, or swept, or is wanted: look at the anchor before taking
	        * more */
	TSO_LEASE_MS = 3000, /* of owners, unless the cluster was made with another */
	TSO_LANES = 16,      /* words that give out CIDs, at most */
};

struct tso;
struct tso_worker;

/* Formats the oracle in fresh memory at home; *anchor is its address for the root word. vector:
 * number of marks, a power of two >= 64 (0 = enough for two leases of 5 M commits/s, but at most
 * 1/16 of the region, and at least 64 Ki). clients: only for TSO_PREASSIGNED, how many workers
 * share the CIDs; each gets every clients-th. lease_ms: an owner whose heartbeat stalls for so long
 * is taken for dead, 0 = TSO_LEASE_MS. lanes: how many words give out CIDs, a power of two up to
 * TSO_LANES, 0 = 1; only for TSO_CLAIM. In a coroutine, by the cluster's first process. */
nam_status tso_format(struct net_worker *w, unsigned region, uint32_t vector, enum tso_scheme scheme,
    unsigned clients, uint32_t lease_ms, unsigned lanes, net_addr *anchor);

/*
 * Joins: takes an owner slot, publishes its promises, reads the prefix. In a
 * coroutine. NAM_FULL: all owner slots are taken.
 */
nam_status tso_join(struct net_worker *w, net_addr anchor, struct tso **out);
/* fn(arg) is called, in a coroutine, each time this process has taken another slot because its idle
 * one was freed: before any waiting coroutine goes on. */
void tso_on_attach(struct tso *t, nam_status (*fn)(void *arg, struct net_worker *w), void *arg);
/* True if no coroutine of this process has held a pin for a while. */
bool tso_is_idle(const struct tso *t);
uint64_t tso_lease_ns(const struct tso *t);
/* How many slots this process has had so far. */
unsigned tso_joins(const struct tso *t);
/* Gives the slot back. No pin or claim may be open. In a coroutine. */
nam_status tso_leave(struct net_worker *w, struct tso *t);
void tso_close(struct tso *t);

unsigned tso_lanes(const struct tso *t); /* words that give out CIDs */
net_addr tso_lane_at(const struct tso *t, unsigned k);
unsigned tso_owner(const struct tso *t);      /* slot number 0..TSO_OWNERS-1 */
unsigned tso_slots_used(const struct tso *t); /* no slot of that number or above was ever used */
unsigned tso_epoch(const struct tso *t);      /* 22 bits, never 0 */
/* Where an owner slot keeps a word for the room above (the slot's log). It stays with the slot. */
net_addr tso_log_at(const struct tso *t, unsigned owner);

/* A worker's part: a hook in the worker's idle loop, so that snapshots and claims asked for by
 * several coroutines share verbs. */
nam_status tso_worker_open(struct tso *t, struct net_worker *w, struct tso_worker **out);
void tso_worker_close(struct tso_worker *tw);

/*
 * Limits of a wait for other processes. NAM_CANCELLED, NAM_EXPIRED: by its fields. NAM_STUCK: the
 * number waited for has stalled for so long that a process must have stopped which cannot be
 * recovered (tso_stuck_text names it).
 */
struct tso_timeout {
	const _Atomic int *cancel; /* becomes non-zero: NAM_CANCELLED; may be NULL */
	uint64_t until_ns;         /* when net_now_ns passes it: NAM_EXPIRED; 0 = never */
};
/* NAM_OK = wait on. p may be NULL. */
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
/* Takes no snapshot, only a pin: at the prefix known here, without a wait. Unpin it even if the
 * status is not NAM_OK. */
nam_status tso_pin_now(struct tso_worker *tw, struct tso_pin *pin);
/*
 * Pins `at`, a snapshot that another pin holds for longer than this one: of this process, or of the
 * process that this one helps. What this process publishes is not lowered by it (T2), so it is the
 * other pin that keeps the versions. Unpin it even if the status is not NAM_OK.
 */
nam_status tso_pin_at(struct tso_worker *tw, struct tso_pin *pin, tso_cid at);
void tso_unpin(struct tso_worker *tw, struct tso_pin *pin);
/* hold takes pin's place (and is unpinned instead of it); pin may be used for another snapshot. */
void tso_hold(struct tso_worker *tw, struct tso_pin *pin, struct tso_pin *hold);
/* The highest CID at or below the process's prefix, as of now, whose mark carried
 * TSO_NOTE_CATALOG. */
tso_cid tso_noted(const struct tso *t);
/*
 * All CIDs above `from`, up to `to`, that changed the catalog, rising. `to` is at most a snapshot
 * of this process. How many; -1: there are more than max, or this process has not READ all marks
 * between.
 */
int tso_notes(struct tso *t, tso_cid from, tso_cid to, tso_cid *out, unsigned max);
/* tso_noted for TSO_NOTE_MEMORY. */
tso_cid tso_noted_memory(const struct tso *t);

/* A claimed CID between claim and mark. Lives in the transaction. */
struct tso_claim {
	tso_cid cid;
	struct nam_co *waiter;
	bool ready;
	bool ordered; /* tso_claim_start_ordered */
	bool sure;    /* from a lane that is known to be above the floor */
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
	struct tso_claim *again; /* the next claim whose mark is in doubt */
};
/*
 * Claims a CID: start, then post the verbs that go with it, then wait. Claims of one worker started
 * before its coroutines all wait share one FETCH_ADD. Every READ of an expected CID must have
 * completed before the start. floor: the CID is greater than that (T11): the greatest expected CID.
 * The CID is greater than every prefix READ before the start, whatever the floor. With a pin of
 * this worker, to the end of the mark.
 */
void tso_claim_start(struct tso_worker *tw, struct tso_claim *c, tso_cid floor, struct net_counts *acct);
/* As tso_claim_start. And when tso_claim_wait has returned NAM_OK, every CID that any process
 * claims from then on is greater than this one. With one lane that is so for each claim. */
void tso_claim_start_ordered(
    struct tso_worker *tw, struct tso_claim *c, tso_cid floor, struct net_counts *acct);
/* *floor = a CID that is at or above all CIDs that any process has been given before this call; 0
 * if there is one lane: its next CID is greater anyway. In a coroutine, one round trip. */
nam_status tso_claimed_by_all(struct tso_worker *tw, tso_cid *floor);
/* Claims of all workers share their FETCH_ADDs from now on, not only while the counter is hot. For
 * tests. */
void tso_share_claims(struct tso *t);
nam_status tso_claim_wait(struct tso_worker *tw, struct tso_claim *c);
/* tso_claim_wait with limits; tso_claim_wait itself waits for others' promises without any. Not
 * NAM_OK: write nothing with that CID and do not mark it; it becomes a hole. */
nam_status tso_claim_wait_by(struct tso_worker *tw, struct tso_claim *c, const struct tso_timeout *p);
/* Each verb of this CID has executed or never will: posts the mark. note: TSO_NOTE_CATALOG,
 * TSO_NOTE_MEMORY, both, or 0. done(arg), if given, is called when the mark has landed, or
 * (c->op.status) may not have: then this process's heart beats no more, and its recoverer makes the
 * mark. Called by any coroutine or completion of the worker. If the connection to home broke, done
 * waits for tso_home_again. */
void tso_mark(struct tso_worker *tw, struct tso_claim *c, unsigned note, void (*done)(void *), void *arg);
/* tso_mark that returns when done would be called. In a coroutine. */
void tso_mark_wait(struct tso_worker *tw, struct tso_claim *c, unsigned note);
/* The client has got the answer that cid committed: later snapshots of this process cover it. */
void tso_answered(struct tso *t, tso_cid cid);
/* The highest CID answered. */
tso_cid tso_last_answered(const struct tso *t);
/* Waits until this process's prefix covers cid. */
nam_status tso_wait_for(struct tso_worker *tw, tso_cid cid);
nam_status tso_wait_for_by(struct tso_worker *tw, tso_cid cid, const struct tso_timeout *p);

/* No live owner uses a snapshot below this, or ever will. As of the last tick; only rises. */
tso_cid tso_watermark(const struct tso *t);
/* The prefix this process has seen. */
tso_cid tso_prefix(const struct tso *t);

/*
 * Whether all transactions of an earlier moment have ended, in all processes. Take a stamp at that
 * moment; later tso_passed returns true when every transaction that any process had open then has
 * ended. Neither parks; any thread.
 */
uint64_t tso_stamp(const struct tso *t);
bool tso_passed(const struct tso *t, uint64_t stamp);

/* The same with a stamp that any process may ask about, also after the process that took it has
 * ended; not 0. One READ; parks. False until commits that began after the stamp have ended. */
nam_status tso_bound(struct tso *t, struct net_worker *w, uint64_t *stamp);
bool tso_bound_passed(const struct tso *t, uint64_t stamp);

/*
 * Sets a callback for a connection to home that breaks under a mark: fn(arg) is called, on this
 * worker's thread, and owes tso_home_again. Without fn the process then gives itself up
 * (tso_abandon).
 */
void tso_on_home_lost(struct tso_worker *tw, void (*fn)(void *arg), void *arg);
/*
 * NAM_OK: the worker has a new connection to home, and no verb that it had posted over the old one
 * executes any more: marks in doubt are made again. Otherwise: it will not get one; a recoverer
 * makes the marks in doubt. Its thread.
 */
void tso_home_again(struct tso_worker *tw, nam_status st);
/* True if a mark of this worker waits for tso_home_again. Its thread. */
bool tso_in_doubt(const struct tso_worker *tw);

/* One heartbeat: publishes promises, reads those of all slots, raises the watermark, marks CIDs
 * without an owner. Called every few ms by one coroutine of the process. */
nam_status tso_tick(struct tso_worker *tw);

/* This process gives itself up, because it cannot end its own transactions: its heart beats no
 * more, so that another process fences and recovers it. Workers may be closed with pins and claims
 * open. Any thread. */
void tso_abandon(struct tso *t);
bool tso_abandoned(const struct tso *t);

/* ---- owners that have stopped (README: what a slot goes through) ---- */

/* A slot whose owner, or whose recoverer, is to be fenced. */
struct tso_lapse {
	unsigned slot, epoch;
	uint64_t word;
	uint64_t still_ns;    /* without a beat, as far as this process has watched */
	enum net_heard heard; /* NET_UNHEARD: it is silent, else storage nodes have reported that it
			       * is gone */
};
/* True if slot i is such a slot by the last tick. Any thread that may call net_heard_of(w). */
bool tso_lapsed(struct tso *t, struct net_worker *w, unsigned i, struct tso_lapse *out);
/*
 * Fences the owner on every storage node and makes this process the slot's recoverer. NAM_CONFLICT:
 * the slot has changed, or another process was first; nothing is sealed. Any other status but
 * NAM_OK: not done; call again. Needs a pin of this process, so that it does not go idle before
 * tso_unseal. err: the node that does not answer, if one does not; may be empty. In a coroutine.
 */
nam_status tso_seal(struct tso_worker *tw, const struct tso_lapse *l, struct nam_err *err);
/* All of the owner's transactions are recovered: frees the slot. */
nam_status tso_unseal(struct tso_worker *tw, const struct tso_lapse *l);
/* *ended = (owner, epoch) has ended, and all its intents have been recovered. */
nam_status tso_ended(struct tso_worker *tw, unsigned owner, unsigned epoch, bool *yes);
/* Owners that are active or idle: their identities, at most `max`, as one READ finds them; this
 * process's as well. In a coroutine. */
nam_status tso_living(struct tso_worker *tw, uint64_t *identity, unsigned max, unsigned *n);
/* Marks a CID of an owner whose slot this process has sealed, unless the prefix covers it (*was).
 * All verbs of it have completed. */
nam_status tso_mark_for(struct tso_worker *tw, tso_cid cid, unsigned note, bool *was);

/*
 * The recoverer reports a slot that it has been unable to recover for a while, and why; why NULL:
 * that is over. Waits end sooner while there is one. Any thread.
 */
void tso_unrecovered(struct tso *t, unsigned slot, unsigned epoch, const char *why);
bool tso_is_unrecovered(const struct tso *t, unsigned slot, unsigned epoch);
/* Records in *tw's text that (slot, epoch) delays it, and returns NAM_STUCK. Its thread. */
nam_status tso_stuck_on(struct tso_worker *tw, unsigned slot, unsigned epoch);
/* One line about the last NAM_STUCK of this worker, "" if it has been taken already. Its thread. */
void tso_stuck_text(struct tso_worker *tw, char *out, size_t max);

/* How many idle owners have lost their slots to the ticks of this process. On any thread. */
uint64_t tso_seals(const struct tso *t);
/* A transaction of this worker waits, with its claim open, for something outside of the fabric (a
 * disk), and has seen that this goes on: it does not hang (hang.c). Owner thread. */
void tso_goes_on(struct tso_worker *tw);
/* Commits of this process are marked so long after their last verb (until a log is flushed), 0 = at
 * once: so long is what a snapshot may have to wait for. Any thread. */
void tso_marks_late(struct tso *t, uint64_t ns);
/* Late marks of this process have been posted: its workers that wait for a prefix look. */
void tso_marks_come(struct tso_worker *tw);

/* Counters for tests and figures, while no worker runs. */
struct tso_stats {
	uint64_t snapshots, snapshot_reads, claims, claim_faas, marks, holes_marked, wrap_waits, seals,
	    fenced;
	uint64_t marks_again; /* made again over another connection */
	uint64_t missed;      /* claims that came out below their floor, and were made again */
	uint64_t brought;     /* lanes brought forward */
	uint64_t skipped;     /* CIDs that no transaction uses, and whose owner marked them */
};
void tso_stats(const struct tso *t, struct tso_stats *out);

#endif
