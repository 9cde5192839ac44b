/* state.h -- what a storage node's memory says of its cluster and of the cluster's log, for a
 * process that is no member: by READs alone, without a wait for another process. */
#ifndef NAM_TXN_STATE_H
#define NAM_TXN_STATE_H

#include <net/net.h>
#include <wal/remote/wal_msg.h>

enum txn_membership {
	TXN_NO_MEMBER, /* no compute process has come since the node began */
	TXN_MEMBER_IN_THE_MAKING,
	TXN_MEMBER,
};

enum txn_database {
	TXN_DATABASE_CLOSED,    /* no process has opened it since the cluster was made */
	TXN_DATABASE_RESTORING, /* a process is at it */
	TXN_DATABASE_OPEN,
};

struct txn_node_state {
	enum txn_membership member;
	/* Of a member. */
	uint64_t cluster; /* its number */
	unsigned home, nodes;
	/* Of the home: */
	/* The nodes that have copies of the cluster's log, 0 = no further one. */
	unsigned log_region[WAL_COPIES];
	enum txn_database database;
	unsigned permille; /* TXN_DATABASE_RESTORING: so much of it is */
	/* Of a node with a log. */
	bool has_log;
	struct wal_line log;
};

/* Some READs; in a coroutine. NAM_CORRUPT: the memory makes no sense; NAM_GONE. */
nam_status txn_look_at_node(struct net_worker *w, unsigned region, struct txn_node_state *out);

/* Is `node` a storage node of the cluster that the node of `region` is a member of? at: its address
 * then, as the maker of the cluster wrote it. */
nam_status txn_look_for_member(
    struct net_worker *w, unsigned region, unsigned node, bool *is, char *at, size_t max);

#endif
