/*
 * log.h -- the log of a cluster, as a compute process uses it: append a record, wait until it is
 * flushed, read what there is.
 *
 * It has up to WAL_COPIES copies, on as many storage nodes (wal_msg.h, Q10). A record goes to all
 * of them at once; what is read is read from the first one.
 *
 * All functions run in a coroutine of the worker and may park, unless they say otherwise.
 */
#ifndef NAM_WAL_REMOTE_LOG_H
#define NAM_WAL_REMOTE_LOG_H

#include <net/net.h>
#include <net/ring/service.h>
#include <wal/remote/ring.h>
#include <wal/remote/wal_msg.h>

#include <stdatomic.h>

/* Where the log is. */
struct wal_log {
	unsigned copies; /* 0 = the cluster has no log */
	uint32_t life;
	struct {
		unsigned region; /* of the storage node that has it */
		net_addr line;
	} copy[WAL_COPIES];
};

/* Of each copy a position, or so many bytes of the worker's ring there; 0 where there is none. */
struct wal_ends {
	uint64_t at[WAL_COPIES];
	uint64_t in_ring[WAL_COPIES];
};
/* True if nothing of a lies behind that of b. */
static inline bool
wal_reached_one(const struct wal_ends *a, const struct wal_ends *b, unsigned copy)
{
	return a->at[copy] <= b->at[copy] && a->in_ring[copy] <= b->in_ring[copy];
}
static inline bool
wal_reached(const struct wal_ends *a, const struct wal_ends *b)
{
	for (unsigned i = 0; i < WAL_COPIES; i++)
		if (!wal_reached_one(a, b, i))
			return false;
	return true;
}
/* *of becomes what either has reached. */
static inline void
wal_reach(struct wal_ends *of, const struct wal_ends *more)
{
	for (unsigned i = 0; i < WAL_COPIES; i++) {
		of->at[i] = more->at[i] > of->at[i] ? more->at[i] : of->at[i];
		of->in_ring[i] = more->in_ring[i] > of->in_ring[i] ? more->in_ring[i] : of->in_ring[i];
	}
}

/* The rings of a worker, one for each copy on its host. Zeros: not asked for. */
struct wal_own_rings {
	uint64_t name[2];
	bool asked;
	struct wal_ring copy[WAL_COPIES];
};
/* Asks for them, once. A copy that gives none gets messages. */
void wal_rings_ask(struct net_worker *w, const struct wal_log *l, struct wal_own_rings *own);
/* Tells the nodes once more by which channel they rouse this worker: one that was opened again is
 * another one. */
void wal_rings_note(struct net_worker *w, const struct wal_log *l, struct wal_own_rings *own);
/* Gives them back, if the nodes answer soon. Nothing of this worker waits for the log any more. */
void wal_rings_give_back(struct net_worker *w, const struct wal_log *l, struct wal_own_rings *own);
/* The flusher of each copy looks into its rings. */
void wal_rings_prod(struct net_worker *w, const struct wal_log *l, const struct wal_own_rings *own);

/* NAM_UNSUPPORTED: that node has no log. */
nam_status wal_log_ask(struct net_worker *w, unsigned region, struct wal_report *out);
/* Begins a life on each of these nodes; what was written and not published before is given up. stop
 * and NAM_NO_SPACE as for wal_log_publish. NAM_BUSY: other processes begin lives there. */
nam_status wal_log_begin(struct net_worker *w, const unsigned *region, unsigned copies, uint64_t cluster,
    const atomic_bool *stop, struct wal_log *out);
/* Makes the life the database, on one copy after the other, and waits until it is. as: what their
 * manifests say, NULL with one copy: as wal_publish. NAM_REFUSED: another life has begun;
 * NAM_UNLOGGED: the log is broken; NAM_NO_SPACE: the disk has been full for some seconds;
 * NAM_CANCELLED: stop was set (NULL = never); NAM_GONE. */
nam_status wal_log_publish(
    struct net_worker *w, const struct wal_log *l, const struct wal_copies *as, const atomic_bool *stop);
/*
 * Says on that node that another one, `node`, is lost for good to its database, and waits until its
 * manifest says so. NAM_ABSENT: it has no database, or another one since; NAM_REFUSED: it is that
 * node itself; NAM_NO_SPACE, NAM_UNLOGGED as for wal_log_publish. Of nodes without a copy the
 * manifest remembers as many as it has room for.
 */
nam_status wal_log_lost(struct net_worker *w, unsigned region, unsigned node);
/* Records of the published life from `position` on (wal_read, wal.h), somewhere in buf; *bytes ==
 * 0: the end. */
nam_status wal_log_read(struct net_worker *w, unsigned region, uint64_t position, void *buf, uint32_t cap,
    const char **records, uint32_t *bytes, uint64_t *next);
/* Much of a log is read: wal_log_read may bring more at once from now on, where the fabric can.
 * Until it is called with wide == false. NAM_GONE. */
nam_status wal_log_read_wide(struct net_worker *w, unsigned region, bool wide);
/* Records of the life l, which is written, as far as they are flushed (wal_read_live). NAM_ABSENT:
 * a checkpoint has cut off what lies there; NAM_REFUSED: the life is over; NAM_CORRUPT. */
nam_status wal_log_read_live(struct net_worker *w, const struct wal_log *l, uint64_t position, void *out,
    uint32_t cap, uint32_t *bytes, uint64_t *next);
/* What that copy has received last with that place (Q4). */
nam_status wal_log_last(
    struct net_worker *w, const struct wal_log *l, unsigned copy, uint64_t place, struct wal_last *out);
/* Bytes at most: of a record that one message takes; of records that an answer brings (cap of
 * wal_log_read). */
nam_status wal_log_most(struct net_worker *w, unsigned region, uint32_t *record, uint32_t *records);
/* Bytes of a record that one message takes, to each copy. */
nam_status wal_log_most_of(struct net_worker *w, const struct wal_log *l, uint32_t *record);

/* One record on its way. Caller's memory, as is the record, until wal_append_wait has returned. */
struct wal_append {
	struct wal_rq *rq; /* `bytes` of it are set, and the record follows it; the rest is ours */
	uint32_t flags;    /* enum wal_append_flag */
	uint64_t place, name[2];
	uint64_t series; /* Q5, as are the next two; with WAL_OF_ROUND the number of the round */
	uint32_t attempt, part;
	uint64_t stamp;            /* of WAL_ROUND */
	unsigned spared;           /* bits of copies that do not get it */
	struct wal_own_rings *own; /* NULL, or: it may go by these */
	/* NULL, or: true, it is not sent again while the log is busy (NAM_BUSY). */
	bool (*gives_up)(void *arg);
	void *gives_up_arg;
	/* ours */
	const struct wal_log *log;
	struct {
		struct net_call call;
		uint64_t answer[sizeof(struct wal_report) / 8];
		bool by_ring;
	} to[WAL_COPIES];
	/* behind wal_append_wait */
	struct wal_ends end; /* where it ends */
	unsigned may;        /* bits of the copies that have received it, or may do so */
};
/* Leaves with the doorbell of the verbs posted in this round; never parks. */
void wal_append_start(struct net_worker *w, const struct wal_log *l, struct wal_append *a);
/*
 * Parks until all copies have received it. NAM_NO_SPACE: the disk is full; NAM_UNLOGGED: the log is
 * broken; NAM_REFUSED: the life is over; NAM_INVALID: too long for a message: one of them has not
 * received it, and never will; others may have (a->may). NAM_GONE: one of them may have, or may
 * still do so.
 */
nam_status wal_append_wait(struct net_worker *w, struct wal_append *a);

/* A round on the first copies of a log, with one number (Q10). */
struct wal_rounds {
	unsigned copies; /* 0 = it has not begun */
	uint64_t number;
	uint64_t stamp;           /* the greatest of all */
	struct wal_ends position; /* P0 of each */
};
/* Begins a checkpoint (Q6) on so many copies. over: also if another one is under way. NAM_BUSY: one
 * is; NAM_REFUSED: the life is over, or is not yet the database. */
nam_status wal_log_round(
    struct net_worker *w, const struct wal_log *l, unsigned copies, bool over, struct wal_rounds *out);
/* Says that the round is under way, or that it is given up. NAM_REFUSED: another one has begun. */
nam_status wal_log_round_is(
    struct net_worker *w, const struct wal_log *l, const struct wal_rounds *r, bool under_way);
/* The checkpoint has appended all that the copies need from before r->position: each begins there
 * as soon as all is flushed, and its line says so. NAM_REFUSED: another round has begun;
 * NAM_UNLOGGED; NAM_GONE. */
nam_status wal_log_cut(struct net_worker *w, const struct wal_log *l, const struct wal_rounds *r);
/* *does: all begin there. NAM_NO_SPACE: they will when there is space; NAM_UNLOGGED: one is broken;
 * NAM_REFUSED: the life is over. One READ for each. */
nam_status wal_log_begins(
    struct net_worker *w, const struct wal_log *l, const struct wal_rounds *r, bool *does);
/* READs the line of the first copy. */
nam_status wal_log_line(struct net_worker *w, const struct wal_log *l, struct wal_line *out);

/*
 * True if all copies rouse this worker when a record of it with WAL_RINGS is flushed there:
 * net_sleep_lazily does then between two looks.
 */
bool wal_log_rouses(struct net_worker *w, const struct wal_log *l);
/* READs how far the copies are flushed, and how long a sync takes at present: all lines in one
 * round trip, and own rings, if there are any. *broken: bits of the copies that are broken: what
 * lies behind is not flushed there. NAM_REFUSED: the life is over. */
nam_status wal_log_flushed(struct net_worker *w, const struct wal_log *l, struct wal_own_rings *own,
    struct wal_ends *end, unsigned *broken, uint64_t *sync_ns);

#endif
