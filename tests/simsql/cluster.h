/*
 * cluster.h -- SQL on the simulated fabric: compute processes with sessions, storage nodes, one
 * seed, one OS thread.
 *
 * A seed always plays one run: while the parser's thread works, everything else waits, and no other
 * code reads the real clock.
 */
#ifndef NAM_TESTS_SIMSQL_CLUSTER_H
#define NAM_TESTS_SIMSQL_CLUSTER_H

#include "../test_client.h"

#include <index/tree.h>
#include <net/sim/sim.h>
#include <txn/txn.h>

enum { CLUSTER_NODES = 3, CLUSTER_PROCS = 6, LEASE_NS = 100000000 };

struct place {
	struct net *net;
	struct net_worker *w;
	struct txn_db *db;
	struct txn_worker *tw;
	struct cat *cat;
	bool buried;
};

struct cluster {
	struct net_sim *sim;
	struct sql_parser *parser;
	unsigned procs;
	struct place place[CLUSTER_PROCS];
	void (*body)(struct cluster *c);
	void *arg;
	struct idx_tree_host *tree_host[CLUSTER_NODES + 1]; /* by region */
	/* Of nodes that have a log, or can be asked to reset their memory; fn NULL = no. */
	struct net_service log[CLUSTER_NODES + 1], reset[CLUSTER_NODES + 1];
	struct net_service services[CLUSTER_NODES + 1][2 + IDX_TREE_SERVICES]; /* all of a node */
	bool unguarded;    /* a twin: nobody waits for helpers of the dead */
	bool faults_later; /* rates have no effect before body says so */
	bool bad, ended;
	uint64_t hash; /* of its trace, and figures, once it has been played */
	struct net_sim_stats stats;
};

/* argv[*i] is --seed N or --seeds A-B; *i moves to its value. False: it is neither, or makes no
 * sense. */
bool cluster_seeds(int argc, char **argv, int *i, uint64_t *first, uint64_t *last);
/* Says what is wrong and remembers it. */
void cluster_bad(struct cluster *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The simulator, its nodes' services, the processes attached. before, NULL = nothing, sets c->log.
 */
bool cluster_open(
    struct cluster *c, const struct net_sim_config *cfg, unsigned procs, bool (*before)(struct cluster *c));
/* That node begins to serve. */
bool cluster_host(struct cluster *c, unsigned region);
/* Plays body in a coroutine of process 0, closes everything. c has parser, body, arg; the processes
 * are attached, not open. False if something was wrong. */
bool cluster_run(struct cluster *c, const struct net_sim_config *cfg, unsigned procs);
/* A process joins. In a coroutine. */
bool cluster_join(struct cluster *c, unsigned p, bool bystander);
/* Processes that have died become ghosts, so that their coroutines end. How many there are. */
unsigned cluster_bury(struct cluster *c);
/* In a coroutine of that process. */
bool cluster_start(struct cluster *c, unsigned p, void (*fn)(void *arg), void *arg);
/* Until *flag or so much later. The flag. */
bool cluster_wait(struct cluster *c, const bool *flag, uint64_t ns);

/* A user of process p. */
struct speaker {
	struct cluster *c;
	unsigned p;
	struct sql_session *sql;
	struct test_client t;
};
bool speaker_open(struct speaker *s, struct cluster *c, unsigned p);
void speaker_close(struct speaker *s);
/* What that answers: as struct test_client writes it down, "ERROR sqlstate: text" last. Until the
 * next call. */
const char *speaker_ask(struct speaker *s, const char *text);
/* What is always true of nam_tables and those that belong to it. */
void catalog_judge(struct speaker *s);
/* The SQLSTATE of an answer; NULL = the answer is no error. */
const char *answer_error(const char *answer);

/* tables.c: what any process must find in every table, after any death. */
struct tables_found {
	unsigned tables, rows, entries;
	unsigned left;       /* entries that lead to no row: deletions and undone inserts */
	unsigned half_split; /* indexes in which a process died, not yet repaired */
	uint64_t locked;     /* blocks */
};
/* All tables as a new transaction of process p sees them: each row is found by its key, where it
 * lies, once; each entry of an index leads to a block of its own. */
void tables_judge(struct cluster *c, unsigned p, struct tables_found *out);

#endif
