/*
 * log.h -- the log of a cluster, as a compute process uses it: append a record, wait until it is
 * flushed, read what there is.
 *
 * All functions run in a coroutine of the worker and may park, unless they say otherwise.
 */
#ifndef NAM_WAL_REMOTE_LOG_H
#define NAM_WAL_REMOTE_LOG_H

#include <net/net.h>
#include <net/ring/service.h>
#include <wal/remote/wal_msg.h>

#include <stdatomic.h>

/* Where the log is. */
struct wal_log {
	unsigned region; /* of the storage node that has it, 0 = the cluster has no log */
	uint32_t life;
	net_addr line;
};

/* NAM_UNSUPPORTED: that node has no log. */
nam_status wal_log_ask(struct net_worker *w, unsigned region, struct wal_report *out);
/* Begins a life on that node; what was written and not published before is given up. stop and
 * NAM_NO_SPACE as for wal_log_publish. */
nam_status wal_log_begin(
    struct net_worker *w, unsigned region, uint64_t cluster, const atomic_bool *stop, struct wal_log *out);
/* Makes the life the database, and waits until it is. NAM_REFUSED: another life has begun;
 * NAM_UNLOGGED: the log is broken; NAM_NO_SPACE: the disk has been full for some seconds;
 * NAM_CANCELLED: stop was set (NULL = never); NAM_GONE. */
nam_status wal_log_publish(struct net_worker *w, const struct wal_log *l, const atomic_bool *stop);
/* Records of the published life from `position` on (wal_read, wal.h), somewhere in buf; *bytes ==
 * 0: the end. */
nam_status wal_log_read(struct net_worker *w, unsigned region, uint64_t position, void *buf, uint32_t cap,
    const char **records, uint32_t *bytes, uint64_t *next);
/* Records of the life l, which is written, as far as they are flushed (wal_read_live). NAM_ABSENT:
 * a checkpoint has cut off what lies there; NAM_REFUSED: the life is over; NAM_CORRUPT. */
nam_status wal_log_read_live(struct net_worker *w, const struct wal_log *l, uint64_t position, void *out,
    uint32_t cap, uint32_t *bytes, uint64_t *next);
/* What was received last with that place (Q4). */
nam_status wal_log_last(struct net_worker *w, const struct wal_log *l, uint64_t place, struct wal_last *out);
/* Bytes at most: of a record that one message takes; of records that an answer brings (cap of
 * wal_log_read). */
nam_status wal_log_most(struct net_worker *w, unsigned region, uint32_t *record, uint32_t *records);

/* One record on its way. Caller's memory, as is the record, until wal_append_wait has returned. */
struct wal_append {
	struct wal_rq *rq; /* `bytes` of it are set, and the record follows it; the rest is ours */
	uint32_t flags;    /* enum wal_append_flag */
	uint64_t place, name[2];
	uint64_t series; /* Q5, as are the next two; with WAL_OF_ROUND the number of the round */
	uint32_t attempt, part;
	uint64_t stamp; /* of WAL_ROUND */
	/* NULL, or: true, it is not sent again while the log is busy (NAM_BUSY). */
	bool (*gives_up)(void *arg);
	void *gives_up_arg;
	/* ours */
	const struct wal_log *log;
	struct net_call call;
	uint64_t answer[sizeof(struct wal_report) / 8];
	uint64_t end;
};
/* Leaves with the doorbell of the verbs posted in this round; never parks. */
void wal_append_start(struct net_worker *w, const struct wal_log *l, struct wal_append *a);
/*
 * Parks until it is received: a->end is the position behind it. NAM_NO_SPACE: the disk is full;
 * NAM_UNLOGGED: the log is broken; NAM_REFUSED: the life is over; NAM_INVALID: too long for a
 * message: it has not
 * been received, and will not be. NAM_GONE: it may have been, or may still be.
 */
nam_status wal_append_wait(struct net_worker *w, struct wal_append *a);

/* Begins a checkpoint (Q6). over: also if another one is under way. NAM_BUSY: one is;
 * NAM_REFUSED: the life is over, or is not yet the database. */
nam_status wal_log_round(struct net_worker *w, const struct wal_log *l, bool over, struct wal_round *out);
/* Says that the round is under way, or that it is given up. NAM_REFUSED: another one has begun. */
nam_status wal_log_round_is(
    struct net_worker *w, const struct wal_log *l, const struct wal_round *r, bool under_way);
/* The checkpoint has appended all that the log needs from before r->position: it begins there as
 * soon as all is flushed, and the line says so. NAM_REFUSED: another round has begun;
 * NAM_UNLOGGED; NAM_GONE. */
nam_status wal_log_cut(struct net_worker *w, const struct wal_log *l, const struct wal_round *r);
/* *does: it begins there. NAM_NO_SPACE: it will when there is space; NAM_UNLOGGED: it is broken;
 * NAM_REFUSED: the life is over. One READ. */
nam_status wal_log_begins(
    struct net_worker *w, const struct wal_log *l, const struct wal_round *r, bool *does);
/* READs the line. */
nam_status wal_log_line(struct net_worker *w, const struct wal_log *l, struct wal_line *out);

/*
 * True if the log rouses this worker when a record of it with WAL_RINGS is flushed:
 * net_sleep_lazily does then between two looks.
 */
bool wal_log_rouses(struct net_worker *w, const struct wal_log *l);
/* READs how far the log is flushed, and how long a sync takes at present. NAM_UNLOGGED: it is
 * broken, and what lies behind is not flushed; NAM_REFUSED: the life is over. */
nam_status wal_log_flushed(
    struct net_worker *w, const struct wal_log *l, uint64_t *position, uint64_t *sync_ns);

#endif
