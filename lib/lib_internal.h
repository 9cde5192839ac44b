/* lib_internal.h -- the inside of libnamdb: handles, and the compute nodes they share. */
#ifndef NAM_LIB_INTERNAL_H
#define NAM_LIB_INTERNAL_H

#include <compute_node/cn.h>
#include <lib/namdb.h>

#include <stdatomic.h>
#include <stdbool.h>

/* A cluster as this process knows it: one compute node; of `memory:` also the regions.
 * Counted. */
struct lib_place;
/* Finds or opens it. user: gets the role that the handle is of, "" = the first one. NULL = err says
 * why. */
struct lib_place *lib_place_open(const char *where, char user[CAT_NAME_MAX + 1], struct nam_err *err);
void lib_place_close(struct lib_place *p);
struct cn *lib_place_cn(struct lib_place *p);
/* db->end_fn is called once when p's compute node has lost its place in the cluster; at once, if it
 * has lost it already. fn NULL = no more calls. Waits for an fn that is being called. */
void lib_place_watch(
    struct lib_place *p, struct namdb *db, void (*fn)(void *arg, const char *why), void *arg);
/* True if this thread is inside an end_fn, from which no function of the library may be called. */
bool lib_telling(void);
/* Counts forks: 0 in the process that loaded the library. */
unsigned lib_process(void);

/*
 * A handle outlives its close as long as statements or batches point to it (refs), so that a late
 * call finds a closed handle and not freed memory.
 */
struct namdb {
	_Atomic int busy;                           /* a thread is inside */
	unsigned refs;                              /* with busy: itself while open,
						     * statements, batches */
	bool open;                                  /* with busy */
	bool closed;                                /* namdb_close has been here */
	unsigned process;                           /* lib_process() of the one that opened it */
	void (*end_fn)(void *arg, const char *why); /* with the place's end_lock; NULL =
						     * none, or it has been called */
	void *end_arg;                              /* likewise */
	struct namdb *watch_next;                   /* likewise; the place's next with an end_fn */
	struct lib_place *place;                    /* with busy, while open */
	struct cn_session *s;                       /* likewise */
	struct namdb_stmt *stmts;                   /* with busy */
	struct namdb_stmt *running;                 /* its rows are still with the executor */
	struct namdb_batch *batch;                  /* whose rows the COPY under way takes */
	struct cat_err err;
	uint64_t changes;
	int (*progress)(void *arg, uint64_t bytes, uint64_t total, uint64_t rows);
	void *progress_arg;
	void (*notice)(void *arg, const char *severity, const char *sqlstate, const char *text);
	void *notice_arg;
};

/* Enters the handle. False if another thread is inside or the handle is closed: NAMDB_MISUSE. */
bool lib_enter(struct namdb *db);
void lib_leave(struct namdb *db);
/* Drops a reference; with the last one the handle is freed. Not inside. */
void lib_drop(struct namdb *db);
/* For cn_exec and cn_run: everything but rows. */
void lib_sink(struct namdb *db, struct sql_sink *out);
void lib_clear(struct namdb *db);
/* Call it before the session is used for something else: it copies the rows that the running
 * statement has still to give into that statement's memory. */
void lib_end_statement(struct namdb *db);
/* The session is about to end: no statement has a plan any more. */
void lib_forget_all(struct namdb *db);

#endif
