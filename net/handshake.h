/*
 * handshake.h -- both halves of the handshake of wire.h: each side learns the other's identity, and
 * checks its formats and its secret.
 *
 * The peer's half blocks until a deadline (connecting is off the data path). The node's half is
 * pure functions, which its event loop calls with the bytes it has received.
 */
#ifndef NAM_NET_HANDSHAKE_H
#define NAM_NET_HANDSHAKE_H

#include <base/status.h>
#include <net/wire.h>

#include <stdbool.h>
#include <stddef.h>

/* The values both sides must agree on. The secret is borrowed. */
struct net_shake {
	uint64_t layout;
	uint64_t cluster;
	const void *secret;
	size_t secret_len;
	/* the peer's half only: net_hello has them */
	uint64_t identity, word;
	/* the node's half only */
	uint64_t region, incarnation, size, log;
};

/* Node: answers a whole hello. The verdict is in the welcome; after any verdict but NET_YES the
 * connection ends. */
void net_shake_welcome(const struct net_shake *me, const struct net_hello *hello, struct net_welcome *out);
/* Node: true if the peer has proved that it knows the secret. */
bool net_shake_proven(const struct net_shake *me, const struct net_hello *hello,
    const struct net_welcome *welcome, const struct net_proof *proof);
/* Node: puts its own proof into a grant that is complete otherwise. Only for a peer that has proved
 * the secret. */
void net_shake_seal(const struct net_shake *me, const struct net_hello *hello,
    const struct net_welcome *welcome, struct net_grant *grant);

/* Peer: the proof for a welcome; tests use it to send a wrong one. */
void net_shake_prove(const struct net_shake *me, const struct net_hello *hello,
    const struct net_welcome *welcome, struct net_proof *out);

/* Connects to host:port, or to a UNIX socket; gives a non-blocking fd. NAM_GONE: no process listens
 * there; err says why. */
nam_status net_dial(
    const char *host, const char *port, const char *name, uint64_t deadline_ns, int *fd, struct nam_err *err);
nam_status net_dial_unix(
    const char *path, const char *name, uint64_t deadline_ns, int *fd, struct nam_err *err);

/* True if it is a UNIX socket. */
bool net_is_unix(int fd);

/*
 * Peer: the whole handshake on a fresh connection. memory may be NULL; for role SHM it receives the
 * memfd (gives: the caller closes it). NAM_REFUSED or NAM_GONE, with err.
 */
nam_status net_shake_hands(int fd, const struct net_shake *me, enum net_role role, const char *name,
    uint64_t deadline_ns, struct net_welcome *welcome, struct net_grant *grant, int *memory,
    struct nam_err *err);

/* Peer, after the grant: sends a message and waits for an answer of that length. NAM_GONE or
 * NAM_REFUSED, with err. */
nam_status net_exchange(int fd, const void *say, size_t say_len, void *hear, size_t hear_len,
    const char *name, uint64_t deadline_ns, struct nam_err *err);

#endif
