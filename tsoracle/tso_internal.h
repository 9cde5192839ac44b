/* tso_internal.h -- what the oracle's files share: a process's view, and a worker's part of it. */
#ifndef NAM_TSORACLE_INTERNAL_H
#define NAM_TSORACLE_INTERNAL_H

#include <tsoracle/oracle_format.h>
#include <tsoracle/tsoracle.h>

#include <pthread.h>
#include <stdatomic.h>

enum {
	TSO_WORKERS = 128,
	TSO_WINDOW_MIN = 256,
	TSO_WINDOW_MAX = 16 << 10,
	TSO_NOTES = 64, /* the newest notes of the catalog, remembered */
	TSO_FLIGHTS = 4,
	TSO_SAMPLE = 8, /* of so many verbs one is timed */
	TSO_SKIPS = 256,
	TSO_SKIPS_OUT = 32,
};

#define TSO_NONE UINT64_MAX

/* The slot's state inside this process. Only tick goes 0 -> 1 -> 2; any worker that needs it goes 2
 * -> 3 -> 0. */
enum tso_idle { IDLE_NO, IDLE_GOING, IDLE_YES, IDLE_WAKING };

/* What this process remembers of another owner's slot. The ticking coroutine writes it, under
 * look_lock. */
struct tso_seen {
	uint64_t word;
	struct tso_promises last; /* the last line that proved itself, of that word's epoch */
	bool known;
	uint64_t beat;
	uint64_t look_ns;      /* when it was last READ */
	uint64_t still_ns;     /* how long the beat has been seen to stall */
	uint64_t lives_ns;     /* when it answered that it lives, 0 = never. Written by the asking
			        * coroutine, under look_lock */
	uint64_t sealed_looks; /* looks that found it sealed, and no slot of the recoverer it
			        * names */
};

/* What the heart remembers of a worker of this process (hang.c). */
struct tso_watch {
	uint64_t open, steps, turns, cpu_ns; /* as the last look saw them */
	uint64_t look_ns;
	uint64_t still_ns; /* how long its loop has turned while the claim made no progress */
	uint64_t quiet_ns; /* and how long, since, its thread has used no CPU time */
};

struct tso_flight;

/* See claim.c: "A common FETCH_ADD". */
struct tso_common {
	_Atomic(struct tso_flight *) riders; /* wait for the next one, through ->next */
	atomic_bool busy;                    /* one is out; or a thread that may post it looks */
	atomic_bool always;                  /* for tests */
	bool rnic;                           /* i  an RNIC executes home's atomics */
	_Atomic unsigned telling;            /* threads that tell others of a landed one */
	/* ns, relaxed: what a FETCH_ADD of the counter took of late, and a READ of marks */
	_Atomic uint64_t faa, read;
	/* ns, relaxed: how long a common one gathers; when the next may be posted */
	_Atomic uint64_t pause, next;
};

/* See lanes.c. What is relaxed only guides choices. */
struct tso_lanes {
	unsigned n;  /* i  K */
	net_addr at; /* i  of lane 0 */
	/* a  the lane gives out no CID below this any more; read late = lower = careful */
	_Atomic uint64_t next[TSO_LANES];
	/* a  relaxed: next, when what is under way has landed */
	_Atomic uint64_t planned[TSO_LANES];
	/* a  relaxed: when all lanes were READ last, their mean then, and CIDs in 2^20 ns */
	_Atomic uint64_t look_ns, level, rate;
	_Atomic unsigned turn; /* a  relaxed: where the next choice begins */
	atomic_bool bringing;  /* a  a coroutine of the process brings lanes forward */
};

/*
 * Key:  i set before another thread can see it, then never again
 *       t  the ticking coroutine only
 *       a  atomic; seq_cst unless said otherwise: pins and promises argue about order
 */
struct tso {
	net_addr anchor, owners, vector_at; /* i */
	uint64_t vector;                    /* i  V */
	enum tso_scheme scheme;             /* i */
	unsigned clients;                   /* i */
	unsigned slots_max;                 /* i  owner slots that the oracle has */
	uint64_t identity;                  /* i  of this process's net */
	uint64_t lease_ns;                  /* i */
	uint64_t idle_after_ns;             /* i  no pin for this long: the slot goes idle */
	nam_status (*attach)(void *arg, struct net_worker *w); /* i */
	void *attach_arg;                                      /* i */
	_Atomic uint64_t
	    home; /* a  slot << 32 | epoch; changes only when an idle owner lost its slot and joins
		   * again */
	_Atomic uint64_t joined_at;    /* a  the prefix promised when that slot was taken; stored
				     * before home */
	_Atomic unsigned joins;        /* a  how often a slot was taken */
	atomic_bool abandoned;         /* a  never again */
	atomic_bool homeless;          /* a the slot has another owner: no promise is written until
				        * this process has joined again */
	_Atomic uint64_t prefix;       /* a  all CIDs up to here are marked; only rises */
	_Atomic uint64_t noted;        /* a  highest catalog note at or below prefix; stored before
				     * prefix */
	_Atomic uint64_t noted_memory; /* a  as noted, for memory notes */
	pthread_mutex_t notes_lock;    /*    innermost; taken when a note is met, and when the
				        * catalog is read */
	uint64_t notes[TSO_NOTES];     /* notes_lock  rising: CIDs with catalog notes ... */
	unsigned notes_n;              /* notes_lock */
	uint64_t notes_from;           /* notes_lock  ... and all that there are above this one, up
				        * to prefix */
	_Atomic uint64_t answered;     /* a highest CID whose commit was answered; read late = a
				        * snapshot waits less, for an answer that was given after it
				        * was asked for */
	_Atomic uint64_t late_ns;      /* a  tso_marks_late */
	_Atomic unsigned dozers;       /* a  coroutines that wait for a prefix */
	_Atomic uint64_t watermark;    /* a  read late = garbage kept longer */
	_Atomic uint64_t min_seen;     /* a  read late = a claim waits longer */
	_Atomic int idle;              /* a  enum tso_idle */
	_Atomic unsigned workers;      /* a  published after worker[] */
	_Atomic(struct tso_worker *) worker[TSO_WORKERS];
	pthread_mutex_t look_lock;           /*    never held while a coroutine parks */
	struct tso_seen seen[TSO_OWNERS];    /* t  others read it under look_lock, and so does t
					      *    when it writes */
	struct tso_watch watch[TSO_WORKERS]; /* t  of worker[] */
	_Atomic uint64_t beat;               /* a  written by tick only */
	_Atomic uint64_t landed_ns;          /* a  when the last beat had landed */
	_Atomic(struct net_worker *) heart;  /* a the worker that beat it; closed on its own thread,
					      * on which tso_close must be called */
	_Atomic uint64_t counters[64];       /* a 1 + the highest CID given out, as look i mod 64
					      * READ it; a later value is also safe */
	uint64_t quiet_since;                /* t  when the last pin was seen */
	uint64_t round_began;                /* t  when this tick began */
	struct tso_promises mine;            /* t  the last line written ... */
	uint64_t mine_home;                  /* t  ... and the `home` it belongs to */
	uint64_t published;                  /* t a prefix that the round before READ in the hint or
					      * in a `seen` */
	bool was_active;                     /* t  the round before */
	struct tso_promises before;          /* t  the minimum that the tick before read ... */
	uint64_t before_counter;             /* t  ... and the least CID not given out that it read
					      *    before that */
	bool before_known;                   /* t  each slot that counts was known to it */
	unsigned before_active;              /* t  how many slots counted */
	struct tso_owner_slot *slots;        /* t  where the slots are READ into */
	uint64_t looked_ns;                  /* t  when they were READ last */
	_Atomic uint64_t looks;              /* a  so many ticks READ them */
	_Atomic unsigned high;               /* a  as last READ by any coroutine */
	_Atomic uint64_t n_holes, n_seals, n_fenced;
	struct tso_common common;
	struct tso_lanes lanes;
	_Atomic uint64_t n_brought;
	/* t  the least CID not given out, if that was the first unmarked one; else 0 */
	uint64_t lane_low;
	_Atomic uint64_t polled_ns; /* a  when a worker that waits for a prefix READ marks last */
	/* stuck.c */
	_Atomic uint64_t stuck_at;                /* a 1 + the prefix when a wait for more ended
						   * with NAM_STUCK, 0 = never */
	_Atomic uint64_t stuck_seen;              /* a  stuck_at for min_seen */
	_Atomic unsigned unrecovered_any;         /* a  how many of unrecovered[] are not 0 */
	_Atomic uint32_t unrecovered[TSO_OWNERS]; /* a  the epoch, 0 = none */
	char why[200];                            /*    reason for the last of them; under stuck.c's
						   *    lock */
};

struct tso_waiter {
	struct nam_co *co;
	struct tso_waiter *next;
	struct net_counts *acct;
	nam_status status;
	bool done;
};

/* See tso_lane_choose. */
struct tso_choice {
	unsigned lane, lags;
	uint64_t from, to;
};

/* One FETCH_ADD for several claims. */
struct tso_flight {
	struct net_batch batch;
	struct net_op op[3], *cas, *faa;
	struct tso_choice choice;
	struct tso_claim *first; /* through ->next */
	unsigned n;
	uint64_t low;   /* no lane gave out less when it was posted */
	uint64_t floor; /* the greatest of its claims */
	bool sure;      /* a claim demands a lane known to be above the floor */
	bool look;      /* READs the lanes behind the FETCH_ADD */
	uint64_t *words;
	struct tso_worker *owner;
	bool busy;
	uint64_t posted_ns;
	bool rides; /* a common FETCH_ADD is to bring its CIDs; the poster's until it has landed */
	struct tso_flight *next;
	uint64_t cid;
	nam_status status;
	atomic_bool landed;
};

struct tso_worker {
	struct tso *t;
	struct net_worker *w;
	/* other threads read these four */
	_Atomic uint64_t oldest;   /* a  lowest pin, or NONE */
	_Atomic uint64_t open;     /* a  lowest claim held or asked for, or NONE */
	_Atomic uint64_t reading;  /* a  prefix an in-flight READ of the vector starts from, or
				   * NONE */
	_Atomic uint64_t doubtful; /* a a mark above it may still execute, behind a
				    * connection that broke; or NONE */
	/* and these two, in any order: a look that reads them late is one look late */
	_Atomic uint64_t turns; /* a  of the loop */
	uint64_t outside;       /* how often tso_goes_on was called */
	_Atomic uint64_t steps; /* a  what the lowest claim's transaction has posted, as of the last
				 * turn */
	/* owner thread only */
	struct tso_pin *pin_first, *pin_last;
	struct tso_waiter *asking, **asking_end; /* wait for a READ not posted yet */
	struct tso_waiter *riding;               /* covered by the READ in flight */
	bool in_flight, posting, again;
	uint64_t posted_ns;
	uint64_t base;     /* first CID of the READ in flight */
	uint64_t stop_at;  /* the CID at which the last READ found no mark of its lap, ... */
	uint8_t stop_byte; /* ... and the byte it found */
	uint32_t window, window_next;
	struct net_batch batch;
	struct net_op op[2]; /* the second is for a twin (base/fault.h) */
	uint8_t *bytes;
	struct tso_claim *claim_asking, **claim_asking_end;
	struct tso_claim *claim_first, *claim_last; /* open claims, rising */
	tso_cid unmarked;             /* lowest CID with a mark in doubt, 0 = none; open until this
				       * process is fenced */
	struct tso_claim *marks_lost; /* in doubt, through ->again */
	unsigned marks_again;         /* how many are being made again */
	void (*home_lost)(void *arg);
	void *home_lost_arg;
	struct tso_flight flight[TSO_FLIGHTS];
	unsigned flight_at;
	struct tso_flight common; /* posted for the flights at common_first, of any worker */
	struct tso_flight *common_first;
	bool claim_posting;
	uint64_t words[TSO_FLIGHTS + 1][TSO_LANES * TSO_LANE_BYTES / 8]; /* lanes READ by flights */
	/* CIDs that this worker was given and that no transaction uses: to be marked (lanes.c) */
	uint64_t skip[TSO_SKIPS], skip_out[TSO_SKIPS_OUT];
	unsigned skips, skips_out;
	uint64_t skip_low; /* the lowest of them, or NONE */
	uint64_t even_low; /* while lanes are brought forward: no CID that this brings is below */
	struct net_batch skip_batch;
	struct net_op skip_op[TSO_SKIPS_OUT];
	uint8_t skip_byte[TSO_SKIPS_OUT];
	uint64_t own_next; /* TSO_PREASSIGNED: the next CID of this place */
	struct tso_stats stats;
	char stuck[320]; /* tso_stuck_text */
};

/* stuck.c. A number that only rises, which has stalled since since_ns. True if for too long: then
 * the reason is in tw->stuck. */
struct tso_still {
	uint64_t at, since_ns;
};
nam_status tso_stands_still(struct tso_worker *tw, struct tso_still *k, uint64_t now_at, bool seen);

/* Reads the vector from the prefix on, once for all coroutines that ask meanwhile. In a
 * coroutine. */
nam_status tso_refresh(struct tso_worker *tw, struct net_counts *acct);
void tso_raise(_Atomic uint64_t *at, uint64_t to);
/* A mark with a catalog note. Called before the prefix passes it. */
void tso_note_met(struct tso *t, uint64_t cid);
/* The prefix is about to pass, up to `to`, marks that were not READ. */
void tso_notes_unknown(struct tso *t, uint64_t to);
/* The greatest prefix published: in the hint, or as `seen` in any slot, of a present or a former
 * owner (T8). */
uint64_t tso_published(const struct tso_anchor *a, const struct tso_owner_slot *slots, unsigned n);
uint64_t tso_promises_check(const struct tso_promises *p, unsigned slot);
nam_status tso_wake(struct tso_worker *tw); /* join.c: an idle owner becomes active again */
/* All CIDs up to `to` are marked: moves the prefix there. Looks for notes on the way if the vector
 * can still show them, else assumes them. In a coroutine. */
void tso_catch_up(struct tso_worker *tw, tso_cid to);
static inline unsigned
tso_home_slot(uint64_t home)
{
	return (unsigned)(home >> 32);
}
static inline unsigned
tso_home_epoch(uint64_t home)
{
	return (unsigned)home;
}
/* hang.c. The owner's thread, each time its loop turns. */
void tso_turned(struct tso_worker *tw);
/* True if a worker of this process delays others by a claim with which it never goes on. After the
 * slots were READ. */
bool tso_hangs(struct tso *t, struct net_worker *w, unsigned own);
uint64_t tso_hangs_after_ns(const struct tso *t, const struct net_worker *w);
/* Records that the mark may have been made, or may still be, until this worker has a new connection
 * to home. */
void tso_doubt(struct tso_worker *tw, tso_cid cid);
/* A verb to home took so long: a moving mean. Threads that store at once lose a sample. */
static inline void
tso_took(_Atomic uint64_t *mean, uint64_t ns)
{
	uint64_t was = atomic_load_explicit(mean, memory_order_relaxed);
	atomic_store_explicit(mean, was == 0 ? ns : was - was / 8 + ns / 8, memory_order_relaxed);
}
void tso_claims_flush(struct tso_worker *tw);
void tso_open_publish(struct tso_worker *tw);
/* lanes.c */
void tso_lanes_init(struct tso *t, const struct tso_anchor *a);
/* All lanes have given out all CIDs below `from`. */
void tso_lanes_passed(struct tso *t, uint64_t from);
/* No claim posted from now on gets a CID below this. */
uint64_t tso_lanes_low(const struct tso *t);
/* The lane for a FETCH_ADD of n CIDs. to != 0: a CAS of the lane that lags most goes with it. sure:
 * the floor's own lane. */
void tso_lane_choose(struct tso_worker *tw, uint64_t floor, bool sure, unsigned n, struct tso_choice *out);
/* A READ of all lanes, for net_read; what it brought. */
void tso_lanes_post(struct net_batch *b, const struct tso *t, uint64_t *words);
/* The highest CID that is given out. */
uint64_t tso_lanes_top(const struct tso *t, const uint64_t *words);
/* *low: the least CID that is not given out; *top: the highest that is. */
void tso_lanes_learn(
    struct tso *t, struct net_worker *w, const uint64_t *words, uint64_t *low, uint64_t *top);
bool tso_lanes_are_known(const struct tso *t, struct net_worker *w);
nam_status tso_lanes_look(struct tso_worker *tw, uint64_t *low, uint64_t *top, struct net_counts *acct);
/* Brings all lanes forward that have not passed `to`. In a coroutine, with a pin, or the
 * heart's. */
nam_status tso_lanes_bring(struct tso_worker *tw, uint64_t to, struct net_counts *acct);
/* True if in the time of a round trip each lane is asked. */
bool tso_lanes_are_busy(const struct tso *t);
/* True if each lane is known to have passed cid. */
bool tso_lanes_above(const struct tso *t, uint64_t cid);
/* This worker's CID, which no transaction uses: to be marked. */
void tso_skip(struct tso_worker *tw, uint64_t cid);
/* A CAS of lane k from -> to has found `seen`. */
void tso_lane_brought(struct tso_worker *tw, unsigned k, uint64_t from, uint64_t to, uint64_t seen);
void tso_skips_flush(struct tso_worker *tw);
nam_status tso_hint_raise(struct net_worker *w, struct tso *t, tso_cid to);

#endif
