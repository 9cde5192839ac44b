/*
 * wire.h -- the bytes between a process and a storage node over a stream (TCP, or the UNIX socket).
 *
 *   handshake   peer                       node
 *               hello (64)          --->
 *                                   <---   welcome (96): the node's identity, and its nonce; no
 *                                          proof yet
 *               proof (32)          --->   the peer knows the secret
 *                                   <---   grant (224), with the node's own proof; role SHM on a
 *                                          UNIX socket: with the memory's fd; roles FENCE and ASK:
 *                                          sent when the work is done
 *
 *   then, role WORKER only, both ways a stream of frames, answered in order:
 *
 *     byte 0      1       2        4         8                16
 *          +------+-------+--------+---------+----------------+- - - - - - - +- - - - - - - -+
 *   ask    | code | flags |  zero  |   len   |       at       |    words     |    payload    |
 *          +------+-------+--------+---------+----------------+- - - - - - - +- - - - - - - -+
 *                                                              CAS 2, FAA 1,   WRITE: len,
 *                                                              IMM 1, else 0   padded to 8
 *          +------+-------+--------+---------+- - - - - - - - -+
 *   answer | code | zero           |   len   |     payload     |
 *          +------+-------+--------+---------+- - - - - - - - -+
 *                                             READ: len, padded to 8; CAS, FAA: the word seen
 *
 *   and, roles CONTROL and SHM, both ways whole struct net_news (32), each for itself, none
 *   answered in order:
 *
 *          node  ---> LEFT, BACK, DEAD (identity) of other processes; FORGET: earlier news may be
 *                stale
 *          node  ---> ASK (nonce, grace)            does this process live?
 *          peer  ---> LIVES, GIVEN_UP (nonce)       the answer to ASK
 *          peer  ---> WHO (identity)                the node answers LEFT, BACK or DEAD
 *
 * An ask with NET_QUIET has no answer. A VERBS or LIFE connection carries nothing after the grant:
 * only its end means something (verbs_format.h says what a VERBS peer does next, ring_format.h what
 * a RINGS peer does). A node drops a peer that sends an unsound frame; a peer's own front end never
 * sends one. Little-endian.
 *
 * Always true
 *   W1  magic, version and verdict keep their place in every future version, so that two builds
 *       that do not understand each other can still report it.
 *   W2  no memory, neither fd nor frame, and no HMAC before the peer's proof was checked. Each
 *       proof covers both nonces, all bytes sent before it, and which side sends it; the node's
 *       also covers the grant.
 *   W3  a grant to role FENCE says yes only when no verb of that identity can execute here any
 *       more, and no proof of that identity is granted after that. A grant to an endpoint (word)
 *       says yes only when its older connection is in that state.
 *   W4  DEAD is sent only when a pidfd shows that the process has ended: one that the node took
 *       before the process proved that identity over the socket whose peer it is. LEFT is sent when
 *       no connection of the identity is open here (those of roles FENCE and ASK, and those that
 *       shards have, do not count), BACK when one is again.
 *   W5  role ASK ends no connection, refuses none and changes no state. Its grant says NET_NO_LIVES
 *       when the process has answered LIVES to this very question (nonce); NET_YES when it has
 *       answered GIVEN_UP, or has not answered within the grace, or has no control connection.
 *   W6  a process that answers GIVEN_UP has unmapped the node's memory before: its SHM connections
 *       end with that answer. The node does not rely on it: if FENCE still finds a SHM connection,
 *       it kills the process.
 *   W7  a node never waits for a peer to take its news: it drops them, and sends FORGET when the
 *       peer takes news again.
 */
#ifndef NAM_NET_WIRE_H
#define NAM_NET_WIRE_H

#include <assert.h>
#include <stdint.h>

#define NET_WIRE_MAGIC   UINT64_C(0x54454e42444d414e) /* "NAMDBNET" */
#define NET_WIRE_VERSION 5u

enum net_role {
	NET_ROLE_CONTROL = 1,
	NET_ROLE_SHM = 2,
	NET_ROLE_WORKER = 3,
	NET_ROLE_VERBS = 4,
	NET_ROLE_RINGS = 5,
	NET_ROLE_FENCE = 6,
	NET_ROLE_RINGS_VERBS = 7, /* RINGS, and a queue pair follows with a token */
	NET_ROLE_LIFE = 8,        /* UNIX socket: the node takes a pidfd of the process, and tells
				   * others when it ends */
	NET_ROLE_ASK = 9,         /* of another process: asks whether it lives */
	NET_ROLES,                /* no role: one more than the last */
};

enum net_verdict {
	NET_YES,
	NET_NO_VERSION,
	NET_NO_CLUSTER,
	NET_NO_LAYOUT,
	NET_NO_SECRET,
	NET_NO_ROOM, /* too many peers */
	NET_NO_ROLE,
	NET_NO_IDENTITY, /* a peer without one could not be fenced */
	NET_NO_MORE,     /* that identity has been fenced */
	NET_NO_KILL,     /* role FENCE: a process that has mapped the memory could not be killed */
	NET_NO_SELF,     /* role FENCE: it is the node's own process */
	NET_NO_LIVES,    /* role ASK: the process has answered that it lives */
};

struct net_hello {
	uint64_t magic;
	uint32_t version;
	uint32_t role;
	uint64_t layout;
	uint64_t cluster;
	uint64_t identity; /* of the peer's struct net: 1 .. 2^40 - 1 */
	/* Roles WORKER and VERBS: the number of the peer's endpoint, 0 = none; the connection
	 * replaces an older one of that endpoint. Role FENCE: the identity to fence. Role ASK: the
	 * identity to ask (40 bits), and above it the grace in milliseconds. Else 0. */
	uint64_t word;
	uint8_t nonce[16];
};
struct net_welcome {
	uint64_t magic;
	uint32_t version;
	uint32_t verdict;
	uint64_t layout;
	uint64_t cluster;
	uint64_t region;
	uint64_t incarnation;
	uint64_t size;
	uint64_t log; /* as in the superblock */
	uint8_t nonce[32];
};
struct net_proof {
	uint8_t mac[32]; /* HMAC-SHA256(secret, "namdb peer" | hello | welcome) */
};
enum { NET_GRANT_NO_MEMORY = 1 }; /* the UNIX socket is for role LIFE only */
struct net_grant {
	uint32_t verdict;
	uint32_t flags;
	char shm[112]; /* the UNIX socket's path, for peers of this host; "" = none */
	char rdma[48]; /* numeric address where librdmacm listens; "" = none */
	uint32_t rdma_port;
	uint32_t zero2;
	uint8_t token[16]; /* role VERBS: a queue pair that comes with it belongs to this peer */
	uint8_t mac[32];   /* HMAC-SHA256(secret, "namdb node" | hello | welcome | grant up
			    * to here); zeros with NET_NO_SECRET */
};
enum { NET_ASK_GRACE_SHIFT = 40 }; /* NET_IDENTITY_BITS */

#define NET_NEWS_MAGIC 0x5357454eu /* "NEWS" */
enum net_news_kind {
	NET_NEWS_LEFT = 1,
	NET_NEWS_BACK,
	NET_NEWS_DEAD,
	NET_NEWS_FORGET,
	NET_NEWS_ASK,
	NET_NEWS_LIVES,
	NET_NEWS_GIVEN_UP,
	NET_NEWS_WHO,
};
struct net_news {
	uint32_t magic;
	uint32_t kind;     /* enum net_news_kind */
	uint64_t identity; /* LEFT, BACK, DEAD, WHO: of that process */
	uint64_t nonce;    /* ASK, and copied into its answer */
	uint64_t grace_ms; /* ASK */
};
static_assert(sizeof(struct net_news) == 32, "news are wire format");
static_assert(sizeof(struct net_hello) == 64, "hello is wire format");
static_assert(sizeof(struct net_welcome) == 96, "welcome is wire format");
static_assert(sizeof(struct net_proof) == 32, "proof is wire format");
static_assert(sizeof(struct net_grant) == 224, "grant is wire format");

struct net_ask {
	uint8_t code;  /* enum net_code */
	uint8_t flags; /* enum net_flag */
	uint16_t zero;
	uint32_t len;
	uint64_t at;
};
struct net_answer {
	uint8_t code;
	uint8_t zero[3];
	uint32_t len;
};
static_assert(sizeof(struct net_ask) == 16, "ask is wire format");
static_assert(sizeof(struct net_answer) == 8, "answer is wire format");

static inline uint64_t
net_pad8(uint64_t len)
{
	return (len + 7) & ~UINT64_C(7);
}

#endif
