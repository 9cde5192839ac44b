/*
 * verbs_format.h -- the bytes that both ends of a queue pair exchange besides verbs.
 *
 *   the two ends first talk TCP (wire.h, role VERBS): proof of the secret, and a token
 *   then librdmacm:  connect(net_verbs_hello)  --->
 *                                              <---  accept(net_verbs_offer): where the region lies
 *   then one-sided verbs. The TCP connection stays: when either ends, so does the other.
 *
 * A verb that a device cannot execute (atomics and WRITE_WITH_IMM on soft-iWARP), or must not
 * execute because the CPU executes the node's atomics, travels as a SEND of net_verbs_ask on the
 * same queue pair, behind the WRITEs before it, and comes back as a SEND of net_verbs_reply. One at
 * a time per queue pair. Little-endian.
 *
 * Always true
 *   V1  A node has one atomics engine: the device (then no CPU CASes any word: no shared memory is
 *       offered, and tcp peers' atomics go through a loopback queue pair), or the CPU (then all
 *       atomics of verbs peers are messages). It changes in one case: the device was removed. All
 *       queue pairs are destroyed first, so the device executes no verb any more; then the CPU
 *       executes the atomics of tcp peers.
 *   V2  No queue pair that can reach the region exists before a proven peer's token came.
 */
#ifndef NAM_NET_VERBS_FORMAT_H
#define NAM_NET_VERBS_FORMAT_H

#include <assert.h>
#include <stdint.h>

#define NET_VERBS_MAGIC UINT64_C(0x53425256424d414e) /* "NAMBVRBS" */

enum { NET_VERBS_TOKEN = 16 };

/* Private data of the connect: at most 56 bytes reach the other side on InfiniBand and RoCE. */
struct net_verbs_hello {
	uint64_t magic;
	uint8_t token[NET_VERBS_TOKEN];
	uint64_t region;
};
/* Private data of the accept. */
struct net_verbs_offer {
	uint64_t magic;
	uint64_t base; /* the region's address, as this node's device knows it */
	uint64_t size;
	uint64_t incarnation;
	uint32_t rkey;
	uint32_t device_atomics; /* 1: the device executes CAS and FETCH_ADD; 0: they are
				  * messages */
};
struct net_verbs_ask {
	uint64_t code; /* enum net_code: NET_CAS, NET_FAA, NET_WRITE_IMM */
	uint64_t at;   /* net_addr */
	uint64_t arg;
	uint64_t want;
};
struct net_verbs_reply {
	uint64_t ok; /* 1 in every reply: a peer that sends an invalid request is dropped instead */
	uint64_t seen;
};
static_assert(sizeof(struct net_verbs_hello) == 32, "connect data is wire format");
static_assert(sizeof(struct net_verbs_offer) == 40, "accept data is wire format");
static_assert(sizeof(struct net_verbs_ask) == 32, "ask is wire format");
static_assert(sizeof(struct net_verbs_reply) == 16, "reply is wire format");

#endif
