/*
 * olap.h -- streams of tuples in remote memory: scanned, partitioned, joined, summed up by all who
 * take part.
 *
 * A tuple is `width` bytes, a multiple of 8; the first 8 are its key. A job is one query's work:
 * the participants, their morsels, the extents that it owes. A participant is one worker with
 * its own struct olap_job; workers of several processes take part in the same job, which they
 * find by its address. All functions run in a coroutine of their worker, unless they say otherwise.
 */
#ifndef NAM_OLAP_OLAP_H
#define NAM_OLAP_OLAP_H

#include <net/net.h>

#include <stdatomic.h>

/* ---- the board and jobs ------------------------------------------------------ */

/* Where jobs of a cluster are found when their owners have died: the caller keeps its address. */
nam_status olap_board_make(struct net_worker *w, net_addr *board);
/* Gives the board's memory back; no job may be on it. */
nam_status olap_board_drop(struct net_worker *w, net_addr board);
/* Gives back what jobs of processes that have died, or left, still owe; *jobs counts them. Jobs of
 * processes that live stay. Any process, at any time. */
nam_status olap_board_sweep(struct net_worker *w, net_addr board, unsigned *jobs);

/* Collects the jobs of processes that the caller knows to be dead, as olap_board_sweep does: when
 * it returns NAM_OK, no process takes part in them any more. NAM_BUSY: another process, which is
 * not known to be dead, collects one of them. One call at a time in a process. */
nam_status olap_board_collect(
    struct net_worker *w, net_addr board, const uint64_t *dead, unsigned n, unsigned *jobs);
/* Processes that made, or collect, the jobs on the board: identities, `max` at most, each once. */
nam_status olap_board_owners(
    struct net_worker *w, net_addr board, uint64_t *owner, unsigned max, unsigned *n);

struct olap_job;

/*
 * A process that others wait for, for so long without any progress, is asked whether it lives: by
 * net_on_asked, which the caller has set up. If it does not answer it is fenced, and its work is
 * done again.
 */
#define OLAP_LEASE_NS UINT64_C(3000000000)
#define OLAP_GRACE_NS UINT64_C(1000000000)

/*
 * Makes a job, and the caller its first participant. plan: bytes for other participants,
 * OLAP_PLAN at most. NAM_FULL: no memory on the nodes, or no place on the board. NAM_NOMEM.
 */
enum { OLAP_PLAN = 32 << 10 };
nam_status olap_job_make(
    struct net_worker *w, net_addr board, const void *plan, uint32_t len, struct olap_job **out);
/*
 * Help from processes that the maker does not know. The maker offers its job: it appears among the
 * board's offers. A helper enters by the offer's place on the board: it then has the plan, and the
 * job does not end before it leaves; but no round waits for it until it has come. *calls: a number
 * that changes with each offer; one READ.
 */
nam_status olap_job_offer(struct olap_job *job);
nam_status olap_board_calls(struct net_worker *w, net_addr board, uint64_t *calls);
/* Places of jobs that other processes offer, `max` at most. */
nam_status olap_board_offers(
    struct net_worker *w, net_addr board, unsigned *place, unsigned max, unsigned *n);
/* NAM_GONE: the job is over, or is no job. NAM_BUSY: another process enters; ask again. NAM_FULL:
 * as olap_job_join. *stuck: the door could not be left; call olap_door_leave until it is NAM_OK. */
nam_status olap_job_enter(
    struct net_worker *w, net_addr board, unsigned place, struct olap_job **out, bool *stuck);
nam_status olap_door_leave(struct net_worker *w, net_addr board, unsigned place);
/* From now on it is a participant like others. NAM_GONE: the job has given it up. */
nam_status olap_job_come(struct olap_job *job);
/* NAM_OK, or why the job ends: a READ. */
nam_status olap_job_ends(struct olap_job *job);
/* How many participants there are beside the maker, of which `came` take, or took, morsels. */
nam_status olap_job_others(struct olap_job *job, unsigned *there, unsigned *came);

/* Takes part in a job. NAM_FULL: it has participants enough. NAM_GONE: it is over. */
nam_status olap_job_join(struct net_worker *w, net_addr at, struct olap_job **out);
net_addr olap_job_at(const struct olap_job *job);
/* As the maker gave it; aligned to 8 bytes. */
const void *olap_job_plan(const struct olap_job *job, uint32_t *len);
struct net_worker *olap_job_worker(const struct olap_job *job);
/* The job ends with NAM_CANCELLED soon after *cancelled is true. It lives as long as the job. */
void olap_job_watch(struct olap_job *job, const atomic_bool *cancelled);
/* Every participant ends soon, with this status. NAM_OK is not one. */
void olap_job_stop(struct olap_job *job, nam_status why);
/* This participant takes no part any more; frees job. */
void olap_job_leave(struct olap_job *job);
/* The same; if it is not NAM_OK the others do not know, and job is as it was: try again. */
nam_status olap_job_try_leave(struct olap_job *job);
/* By the maker, instead of leave: waits until all others have left or are fenced, gives all extents
 * back, frees job. Not OK: extents may stay with the job, for a sweep of the board. */
nam_status olap_job_end(struct olap_job *job);
/* Verbs and bytes of this participant so far. */
const struct net_counts *olap_job_counts(const struct olap_job *job);

/*
 * What a participant computes, by kind. In virtual time computing takes no time by itself: the
 * function that a simulation gives here charges it. One call for many tuples.
 */
enum olap_work {
	OLAP_PARTITION,   /* tuples to write buffers of remote partitions */
	OLAP_SCATTER,     /* tuples through a radix pass in local memory */
	OLAP_SEND,        /* tuples into messages to other nodes */
	OLAP_BUILD,       /* tuples into a table that fits the cache */
	OLAP_PROBE,       /* looks into such a table, pairs included */
	OLAP_GROUP,       /* tuples into a table of groups that fits the cache */
	OLAP_GROUP_FAR,   /* into one that does not */
	OLAP_COPY,        /* bytes from a message to where they stay */
	OLAP_FILTER_ADD,  /* keys into a Bloom filter */
	OLAP_FILTER_TEST, /* keys that are looked for in one */
	OLAP_WORKS
};
void olap_job_spend(
    struct olap_job *job, void (*spend)(void *arg, enum olap_work what, uint64_t n), void *arg);

/* ---- relations ------------------------------------------------------------- */

enum { OLAP_WIDTH_MAX = 1024, OLAP_BITS_MAX = 14, OLAP_SOURCES = 512 };

/* A relation as plans name it: the directories of those who wrote it. */
struct olap_source {
	uint32_t width; /* of a tuple */
	uint32_t bits;  /* the fan-out is 1 << bits; a tuple's partition: the hash's first bits */
	uint32_t dirs;
	uint32_t pad;
	uint64_t dir[OLAP_SOURCES];
};

/* The hash whose first bits choose the partition, and the next ones what a join or an aggregation
 * chooses by. */
static inline uint64_t
olap_hash(uint64_t key)
{
	unsigned __int128 p = (unsigned __int128)key * UINT64_C(0x9e3779b97f4a7c15);
	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/*
 * One participant's part of a relation that is being written: a buffer for each partition, at least
 * OLAP_BUFFER bytes, and a window that the buffer's bytes go to when it is full.
 */
enum { OLAP_BUFFER = 2048 };
struct olap_writer;
/* window: bytes of one, a power of two, 4 KiB to an extent; 0 = an extent. */
nam_status olap_writer_open(
    struct olap_job *job, uint32_t width, unsigned bits, uint32_t window, struct olap_writer **out);
void olap_writer_close(struct olap_writer *wr);
/* Tuples, one after the other, each to its partition. */
nam_status olap_write(struct olap_writer *wr, const void *tuples, size_t n);
/* The same, to a partition that the caller has chosen. */
nam_status olap_write_to(struct olap_writer *wr, unsigned partition, const void *tuple);

/* ---- phases -------------------------------------------------------------- */

/*
 * A phase is a number of morsels, each done by one participant, and what they put out. A
 * participant runs rounds of it until it is settled:
 *
 *      olap_phase_begin(&ph, job, 0, morsels);
 *      do {
 *              while ((st = olap_take(&ph, &morsel)) == NAM_OK) ...        // NAM_ABSENT: no more
 *              st = olap_publish(&ph, writer, &result, sizeof result);
 *              st = olap_settle(&ph);                                     // NAM_BUSY: another
 *      round } while (st == NAM_BUSY);
 *
 * What a participant has done before it died is done again in the next round, by the others; its
 * output never counts. So a result, and the windows, hold each morsel exactly once. olap_settle may
 * come later than olap_publish: meanwhile another phase may be run.
 */
enum { OLAP_MORSELS_MAX = 16384, OLAP_RESULT_MAX = 4096 };
struct olap_phase {
	struct olap_job *job;
	unsigned number, round;
	uint32_t morsels;      /* of the phase */
	uint32_t left;         /* of this round */
	uint32_t taken;        /* by all, of the phase, when this participant last took one */
	uint32_t *missing;     /* of a later round: which; NULL = all */
	uint64_t *mine, *done; /* bits: in this round by me; by outputs that count */
	uint64_t *out;         /* directories that count */
	unsigned outs, outs_cap;
};
nam_status olap_phase_begin(struct olap_phase *ph, struct olap_job *job, unsigned number, uint32_t morsels);
void olap_phase_end(struct olap_phase *ph);
nam_status olap_take(struct olap_phase *ph, uint32_t *morsel);
/* writer may be NULL; it is empty afterwards, and may be used again. */
nam_status olap_publish(
    struct olap_phase *ph, struct olap_writer *wr, const void *result, uint32_t result_len);
nam_status olap_settle(struct olap_phase *ph);
/* The rounds of a phase that puts out results only, until it is settled: one(arg, morsel) for each
 * that this participant takes. result is zeroed before each round. *done: morsels of all rounds. */
nam_status olap_phase_run(struct olap_phase *ph, nam_status (*one)(void *arg, uint32_t morsel), void *arg,
    void *result, uint32_t result_len, uint32_t *done);
/* Of a settled phase: the relation that was written, for olap_rel_load. */
void olap_phase_source(const struct olap_phase *ph, uint32_t width, unsigned bits, struct olap_source *out);
/* Of a settled phase: each result that counts. */
nam_status olap_phase_results(
    struct olap_phase *ph, void (*each)(void *arg, const void *result, uint32_t len), void *arg);

/* ---- reading ---------------------------------------------------------------- */

struct olap_window;

/* A relation's windows as this participant knows them, by partition. */
struct olap_rel {
	uint32_t width, bits, windows;
	uint64_t tuples;
	struct olap_window *window;
	uint32_t *start; /* of each partition, and the end */
	uint64_t *count; /* tuples of each partition */
};
nam_status olap_rel_load(struct olap_job *job, const struct olap_source *s, struct olap_rel *out);
void olap_rel_free(struct olap_rel *rel);

/*
 * Reads windows one after the other. Where memory is mapped the tuples are read in place; elsewhere
 * OLAP_AHEAD windows are under way while one is used.
 */
enum { OLAP_AHEAD = 4 };
struct olap_reader;
nam_status olap_reader_open(struct olap_job *job, struct olap_reader **out);
void olap_reader_close(struct olap_reader *r);
void olap_reader_begin(struct olap_reader *r, const struct olap_rel *rel, uint32_t first, uint32_t n);
/* The next window's tuples, valid until the next call. NAM_ABSENT: no more. */
nam_status olap_reader_next(struct olap_reader *r, const void **tuples, uint32_t *n);

/* ---- joins ------------------------------------------------------------------ */

/* SEMI and ANTI give tuples of the left side: those with a partner, and those without. */
enum olap_kind { OLAP_INNER, OLAP_LEFT, OLAP_RIGHT, OLAP_FULL, OLAP_SEMI, OLAP_ANTI, OLAP_KINDS };
/*
 * OLAP_RRJ: one remote radix pass, then partitions that fit the cache. OLAP_RDMA_GHJ: as many
 * partitions as keep all participants busy, each joined by a radix join of its own. OLAP_BROADCAST:
 * each participant makes a table of the whole right side (of the left one, for OLAP_RIGHT), and
 * nothing is partitioned; not for OLAP_FULL.
 */
enum olap_algorithm { OLAP_RRJ, OLAP_RDMA_GHJ, OLAP_BROADCAST };

/* What a join gives: pairs; a NULL stands for the partner that is not there. */
enum { OLAP_PAIRS = 256 };
struct olap_pairs {
	unsigned n;
	const void *left[OLAP_PAIRS], *right[OLAP_PAIRS];
};

/*
 * A side that is no relation yet: parts, which a participant reads from where they lie and puts
 * into the writer. A part may be asked for several times, by several participants, and must give
 * the same tuples each time: as a table's at one snapshot. A feed cannot be broadcast.
 */
struct olap_feed {
	uint32_t parts, width;
	uint64_t tuples; /* as estimated: sizes of partitions and windows follow from it */
	/* NULL: the side is a relation. */
	nam_status (*part)(void *arg, uint32_t part, struct olap_writer *to);
	void *arg;
};

/* Every participant has the same one, but for sink, arg, result and the feeds' arguments. */
struct olap_join {
	enum olap_kind kind;
	enum olap_algorithm algorithm;
	struct olap_source left, right;
	struct olap_feed feed[2]; /* instead of left, of right */
	unsigned bits;            /* 1 << bits partitions; 0 = as the sizes ask */
	unsigned workers;         /* participants that are expected; 0 = 1: sizes follow from it */
	size_t cache;             /* of a partition's smaller side, in bytes; 0 = OLAP_CACHE */
	size_t memory;            /* bytes that a participant may use here; 0 = OLAP_MEMORY */
	/* Keys longer than 8 bytes: those are their hash, and this tells whether two tuples with
	 * one hash have one key. NULL: they have. */
	bool (*same)(const void *left, const void *right);
	/* Takes pairs, valid until it returns; on the participant's thread. Not NAM_OK: the job
	 * ends so. What it makes lies in result[0 .. result_len), zeros at first in each round. */
	nam_status (*sink)(void *arg, const struct olap_pairs *pairs);
	void *arg, *result;
	uint32_t result_len;
	/* what was done, by this participant */
	struct {
		unsigned bits;
		uint32_t morsels, local_passes, split;
		uint64_t scan_ns, join_ns;
	} did;
};
enum { OLAP_CACHE = 256 << 10, OLAP_MEMORY = 1 << 30 };
/*
 * Takes part in the join, from its begin to its end. NAM_OK: out is a settled phase, whose results
 * are the join's (olap_phase_results); end it. NAM_NOMEM: a partition needs more than `memory`;
 * NAM_FULL: the storage nodes are full. Then the job is stopped.
 */
nam_status olap_join_run(struct olap_job *job, struct olap_join *j, struct olap_phase *out);

/* ---- aggregation -------------------------------------------------------------- */

enum olap_op { OLAP_COUNT, OLAP_SUM, OLAP_MIN, OLAP_MAX };
/* Of a tuple's word number `word`, as a signed number. A sum wraps. */
struct olap_aggregate {
	enum olap_op op;
	unsigned word;
};
enum { OLAP_AGGREGATES = 8, OLAP_KEY_WORDS = 8 };
/*
 * OLAP_RDMA_AGG: groups gather in a table that stays in the cache; what overflows goes to remote
 * partitions, which the participants that are free finish side by side. OLAP_CLASSIC_AGG: each
 * participant gathers all of its groups in one table, and only then sends them to a partition for
 * each participant.
 */
enum olap_agg_algorithm { OLAP_RDMA_AGG, OLAP_CLASSIC_AGG };

/* Every participant has the same one, but for sink, arg and result. */
struct olap_agg {
	enum olap_agg_algorithm algorithm;
	struct olap_source in;
	struct olap_aggregate aggregate[OLAP_AGGREGATES];
	unsigned aggregates;
	/* Words that are the key, from the first on; 0 = 1. More than one: the first is a hash
	 * of the others, and comes out as some hash of them. */
	unsigned keys;
	uint64_t groups;  /* as estimated; 0 = unknown */
	unsigned bits;    /* 1 << bits partitions; 0 = as the sizes ask */
	unsigned workers; /* participants that are expected; 0 = 1 */
	size_t cache;     /* of a participant's table, in bytes; 0 = OLAP_CACHE */
	size_t memory;    /* bytes that a participant may use here; 0 = OLAP_MEMORY */
	/* Takes n groups, one after the other: the key's words and one for each aggregate. As a
	 * join's. */
	nam_status (*sink)(void *arg, const uint64_t *groups, unsigned n);
	void *arg, *result;
	uint32_t result_len;
	/* what was done, by this participant */
	struct {
		unsigned bits;
		uint32_t morsels, spills;
		uint64_t direct; /* tuples that went to partitions without a table */
		uint64_t scan_ns, finish_ns;
	} did;
};
/* As olap_join_run. */
nam_status olap_agg_run(struct olap_job *job, struct olap_agg *a, struct olap_phase *out);

#endif
