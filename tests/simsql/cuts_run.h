/* cuts_run.h -- shared by the files of sim_cuts: one life of the cluster, and its clients. */
#ifndef NAM_TESTS_SIMSQL_CUTS_RUN_H
#define NAM_TESTS_SIMSQL_CUTS_RUN_H

#include "cluster.h"
#include "cuts.h"

#include <base/rng.h>
#include <net/net.h>
#include <net/region_format.h>
#include <txn/backup.h>
#include <txn/cut.h>
#include <wal/remote/wal_msg.h>

enum { CUT_CLIENTS = 6, CUT_LIVES = 4, CUT_FALLS = 2, CUT_SEGMENT = 256 << 10 };

/* What a life is like; a function of the seed and its number. */
struct cut_shape {
	unsigned procs; /* that open the database; one more watches */
	uint32_t tear, reorder, delay, pause;
	uint32_t breaks; /* of a million verbs, with how many the connection breaks */
	bool long_pauses;
	uint32_t crash;      /* processes die within so many verbs; 0 = they do not */
	uint32_t crash_open; /* ... before they have opened the database */
	unsigned ops;        /* of each client */
	uint64_t cut_ns;     /* the cluster ends so much later; 0 = not by time */
	bool early;          /* ... than its begin; else than its judge's end */
	uint64_t cut_call;   /* ... with that call of the operating system */
	bool power;          /* with its power; else its processes end, and what they wrote stays */
	uint64_t room;       /* bytes that the disk still has behind the start; 0 = enough */
	uint64_t fail_sync;  /* this sync fails; 0 = none */
	uint64_t disk_ns;    /* a call of the disk takes up to so long */
	bool plain;          /* blocks are not compressed */
	bool rings;          /* short records go by rings */
	unsigned ill;        /* of several disks: the one that has room, fail_sync, cut_call */
	unsigned falls;      /* so many times a storage node ends alone */
	bool backs_up;       /* a process makes a backup */
};

/* A storage node. */
struct cut_node {
	struct cut_run *run;
	unsigned region;
	bool down, asked; /* to reset its memory */
};

/* One that ends alone, and comes back. */
struct cut_fall {
	unsigned region;
	uint64_t at_ns, down_ns;
	uint64_t wrong_ns; /* so long it has an empty directory, by mistake */
	bool power;        /* its disk has lost what was not synced */
	int state;
	uint64_t until; /* of that state */
};

/* That of a storage node with a copy of the log: node 1 and so on; or, if there is one, node 2. */
struct cut_disk {
	struct wal_dir *dir;
	bool absent;  /* its node is started without it */
	bool emptied; /* it was lost, and another one, without a life, is in its place */
	/* Its node was started with an empty directory by mistake, and this is its own; or NULL. */
	struct wal_dir *own;
	/* Of a life. */
	struct cut_run *run;
	unsigned region;
	struct wal_host *host;
	struct wal_line *line;
	struct net_service service;
	uint64_t ready;
	struct nam_rng dice;
};

struct cut_backup {
	unsigned p;             /* the process that makes it */
	struct cut_model *from; /* as it was before it began, or at `until` */
	struct cut_model *to;   /* ... and when its end was known */
	int64_t until;          /* the moment up to which it is restored; 0 = all of it */
	bool whole, broken;     /* it has come to its end; or in vain */
	struct wal_dir *dir;
	struct wal *copy;
	uint32_t life;
	struct txn_backup_plan plan;
	struct txn_cut cut;
	char *buf;
};

struct cut_run {
	struct cluster c;
	struct cut_shape shape;
	struct cut_model *m;
	struct cut_disk *disk; /* the seed's, over all lives */
	unsigned disks;
	uint64_t seed;
	unsigned number; /* of the life */
	struct cut_client {
		struct cut_run *run;
		unsigned number, p;
		struct nam_rng dice;
		struct speaker me;
		bool lost, unknown, over;
		uint32_t id;
	} client[CUT_CLIENTS];
	unsigned left;
	unsigned opened; /* processes that have the database open */
	bool judging, judged, over;
	/* Of the home: which of the databases of this run a process is judging, or has judged. */
	uint64_t judging_of, judged_of;
	struct cut_node node[CLUSTER_NODES + 1];
	unsigned nodes;
	struct cut_fall fall[CUT_FALLS];
	/* When a process opens the database again, since when it has tried that in vain; or 0. */
	uint64_t again_ns[CLUSTER_PROCS], tried_ns[CLUSTER_PROCS];
	struct cut_backup backup;
	unsigned falls, resets, opened_again, rejudged;
	bool r_busy; /* a client is at the sequence r */
	uint64_t begin_ns, judged_at;
	unsigned committed, checkpoints, restores, restorers_died;
	unsigned full, failed; /* transactions refused: the disk is full, or has failed */
	unsigned disks_lost, lost_said;
	bool mistaken; /* a node has a wrong directory, and another one an old copy */
	unsigned refused;
};

/* cuts_disks.c: faults of the life that begins; their logs (for cluster_open); one has had its cut;
 * what room there is from now on; the life has ended. */
void cut_disks_begin(struct cut_run *r);
/* The node of the first disk. */
unsigned cut_first_region(uint64_t seed, unsigned disks);
bool cut_disks_serve(struct cluster *c);
bool cut_disks_stopped(const struct cut_run *r);
void cut_disks_room(struct cut_run *r);
void cut_disks_end(struct cut_run *r);

/* That disk's log, on its node. False: it cannot be opened. */
bool cut_disk_serve(struct cut_disk *d);

/* cuts_nodes.c. begin: before cluster_open. step: now and then; true: a process is to come back. */
void cut_nodes_begin(struct cut_run *r, unsigned nodes);
bool cut_nodes_step(struct cut_run *r);
/* A node has to end still, or to come back. */
bool cut_nodes_pending(const struct cut_run *r);
/* Since that process began, a node has lost its memory. */
bool cut_life_over(struct cut_run *r, unsigned p);
/* It opens the database, in a coroutine of its own. */
void cut_member_start(struct cut_run *r, unsigned p);

/* cuts_backup.c. main: a coroutine of process backup.p. restore: a directory with what was backed
 * up, and backup.to says what must be there; NULL: it does not reach back so far. */
void cut_backup_main(void *run);
struct wal_dir *cut_backup_restore(struct cut_run *r);

void cut_client(void *client);
/* Reads the whole database in process p. */
void cut_read_all(struct cut_run *r, unsigned p, struct cut_seen *s);

#endif
