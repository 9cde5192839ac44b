/* cn_internal.h -- structures of cn.c (workers) and session.c (sessions). */
#ifndef NAM_COMPUTE_NODE_INTERNAL_H
#define NAM_COMPUTE_NODE_INTERNAL_H

#include <compute_node/cn.h>

#include <pthread.h>
#include <stdatomic.h>

enum { CN_STACK = 1 << 20 };

/* Code that waits to be started on a worker. */
struct cn_job {
	void (*fn)(const struct cn_place *place, void *arg);
	void *arg;
	size_t stack;
	struct cn_worker *worker;
	struct cn_job *next;
};

struct cn_worker {
	struct cn *cn;         /* i */
	struct cn_place place; /* i  once open */
	pthread_t thread;      /* i */
	struct nam_co *boss;   /* i  starts jobs; lives as long as the worker */
	struct sql_crew crew;  /* i  the other workers */
	unsigned live;         /* o  jobs running */
	pthread_mutex_t lock;
	pthread_cond_t opened;        /* lock */
	bool open;                    /* lock  the outcome of opening is known */
	nam_status status;            /* lock */
	struct nam_err err;           /* lock */
	bool stop;                    /* lock */
	bool stop_posted;             /* lock  the stopping thread no longer touches boss */
	struct cn_job *first, **last; /* lock */
};

struct cn {
	struct net *net;
	struct txn_config txn;
	bool measure;
	struct cn_opening *opening; /* until it is open; NULL = nobody looks at it */
	char *gone_hint;            /* of malloc; NULL = none */
	struct txn_db *db;
	struct cat *cat;
	struct sql_parser *parser;
	struct nam_asides *asides; /* threads that compute what takes long */
	unsigned workers;
	struct cn_worker *heart;     /* beats, and does nothing else: on mapped memory no verb
				    * parks. Behind worker[] */
	struct cn_worker *recoverer; /* the recoverer: recovers processes that have stopped;
				    * runs no jobs. Behind the heart */
	_Atomic unsigned next;
	_Atomic unsigned sessions;
	atomic_bool closing;
	atomic_bool whole;                 /* it has been opened */
	atomic_bool checkpoints;           /* a worker is at it */
	_Atomic uint64_t checkpoint_at_ns; /* not before */
	uint64_t checkpoint_rest_ns;       /* that worker's */
	uint64_t last_until_ns;            /* i  once cn_last_checkpoint has started its job */
	unsigned last_wait_ms;             /* i  likewise */
	atomic_bool last_done;             /* that job has ended */
	pthread_mutex_t end_lock;
	bool ended; /* end_lock  the heart has seen that the process is fenced */
	void (*on_end)(void *arg, const char *why); /* end_lock  NULL = none, or it has been
						     * called */
	void *on_end_arg;                           /* end_lock */
	pthread_t ender;                            /* the heart's, then cn_close's: calls on_end */
	bool telling;                               /* likewise: ender is running */
	struct cn_worker worker[];
};

/* cn_enter until that time of net's, 0 = it may take long. */
bool cn_enter_by(struct cn *cn, const struct cn_place *place, const char *user, bool claims,
    _Atomic int *cancel, uint64_t until_ns, struct cat_role *role, bool *found, struct cat_err *err);

/* database.c: opens the catalog, when all workers run; restores the database before, or waits until
 * another process has. NAM_CANCELLED: cn->opening->stop was set. */
nam_status cn_open_database(struct cn *cn, struct nam_err *err);

/* checkpoint.c: starts a checkpoint if one is due. On the heart, once a second. */
void cn_look_at_log(struct cn *cn);

/* health.c: true if clients are served now; else why not. Waits up to 2 s. Any thread but a
 * worker's. */
bool cn_serves(struct cn *cn, char *why, size_t max);

#endif
