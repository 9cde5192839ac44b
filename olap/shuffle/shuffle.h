/*
 * shuffle.h -- the NAM paper's baselines: nodes that share nothing, and send each other messages.
 *
 * A node has its share of the tuples in its own memory. A join (GHJ, the grace hash join) sends
 * each tuple to the node that its key belongs to, and each node joins what it has received by a
 * local radix join. With filters it first makes a Bloom filter over each side, of all nodes'
 * keys, and sends only tuples that the other side's filter lets pass. An aggregation gathers a
 * node's groups in one table, sends each group to its key's node, and adds there.
 *
 * Nothing here knows a network: the caller gives each message that comes to olap_node_take, which
 * never sends, and then calls olap_node_step, which does what can be done now. Not for several
 * threads.
 */
#ifndef NAM_OLAP_SHUFFLE_H
#define NAM_OLAP_SHUFFLE_H

#include <olap/olap.h>
#include <olap/shuffle/shuffle_format.h>

enum { OLAP_NODES_MAX = 64, OLAP_MESSAGE = 32 << 10, OLAP_FILTER_BITS = 4 };

struct olap_wire {
	/* Sends a message; bytes are free when it returns. It may call olap_node_take. */
	void (*send)(void *arg, unsigned to, const void *bytes, uint32_t len);
	/* As olap_job_spend; may be NULL. */
	void (*spend)(void *arg, enum olap_work what, uint64_t n);
	void *arg;
};

/* A node's part of a join or an aggregation; borrowed until the node closes. */
struct olap_shuffle {
	unsigned self, nodes;
	uint32_t width;        /* of a tuple */
	const void *tuples[2]; /* left and right; an aggregation has the first alone */
	uint64_t n[2];
	struct olap_wire wire;
	bool filters; /* of a join */
	/* All nodes' tuples of each side: for sizes of filters and memory; 0 = unknown. */
	uint64_t all[2];
	unsigned filter_bits; /* for each key; 0 = OLAP_FILTER_BITS */
	nam_status (*pairs)(void *arg, const struct olap_pairs *pairs);
	/* An aggregation: of tuples of `width`; pairs is NULL. */
	struct olap_aggregate aggregate[OLAP_AGGREGATES];
	unsigned aggregates;
	nam_status (*groups)(void *arg, const uint64_t *groups, unsigned n);
	void *arg;
	/* what was done */
	struct {
		uint64_t sent[2];  /* tuples to other nodes, or groups */
		uint64_t kept_out; /* tuples that a filter has left out */
		uint64_t filter_bytes, bytes;
	} did;
};

struct olap_node;
/* NAM_NOMEM; NAM_INVALID: the numbers do not fit each other. */
nam_status olap_node_open(struct olap_shuffle *s, struct olap_node **out);
void olap_node_close(struct olap_node *node);
/* A whole message, aligned to 8 bytes. NAM_CORRUPT: it is none, or one that may not come now. */
nam_status olap_node_take(struct olap_node *node, const void *bytes, uint32_t len);
/* NAM_BUSY: it waits for messages. NAM_OK: its part of the answer has been given. */
nam_status olap_node_step(struct olap_node *node);

/* The share of tuples without a partner that a filter lets pass. */
double olap_filter_error(unsigned bits);
/* Bytes of a filter of so many keys. */
uint64_t olap_filter_bytes(uint64_t keys, unsigned bits);

#endif
