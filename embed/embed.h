/*
 * embed.h -- a database in a directory: its storage node runs in the background while processes use
 * it.
 *
 * The first process that opens the directory starts the node (namdb storage --background); other
 * processes find the node and join it; the node ends by itself when it has had no peer for a while.
 *
 * The node publishes where it listens in the file `address`, and holds a lock of that very file
 * (flock) for as long as it serves. So an address counts if, and only if, its file is locked: that
 * of a node that was killed does not, whatever has its port or its process number now.
 *
 *	lock         held by the one process that writes the log (wal/disk.c)
 *	address      where the node listens, locked while it does; replaced by rename
 *	door         locked by a process that starts a node, so that one starts at a time
 *	secret       the cluster's secret, made by the first process that opens the directory; 0600
 *	storage.log  what the node has to say
 *
 * Truths
 *   E1  A locked `address` is that of the process that holds `lock`.
 *   E2  A node takes its address back (the file, then its lock) before it stops listening. A
 *       process that had read the address and cannot join sees that it is no longer locked, and
 *       starts over.
 *   E3  `secret` never changes once it is there.
 *
 * Threads: any; calls of one process on one directory may run side by side.
 */
#ifndef NAM_EMBED_EMBED_H
#define NAM_EMBED_EMBED_H

#include <base/status.h>

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- of a process that opens the directory ------------------------------------------- */

struct emb_config {
	const char *path;    /* as the user wrote it; made if it is not there, its parent is not */
	const char *program; /* the program namdb; NULL = emb_program finds it */
	uint64_t size;       /* memory of a node that is started now; 0 = its default */
	unsigned idle_s;     /* such a node ends when it has had no peer for so long; 0 = 5 */
	uint32_t wait_ms;    /* until the node serves; 0 = 120000: it first reads its log */
	bool (*stop)(void);  /* true: wait no longer, NAM_CANCELLED; NULL = never */
};

/* A node that serves. */
struct emb_node {
	char path[PATH_MAX]; /* of the directory: absolute, without symbolic links */
	char secret[PATH_MAX + 8];
	char address[128];
	uint64_t token; /* drawn by each node */
};

/* The directory at that path, absolute and without symbolic links; made if there is none. False:
 * err says why not. */
bool emb_find(char out[PATH_MAX], const char *path, struct nam_err *err);

/*
 * Finds or starts the node, and calls join(arg, node, err). If join fails and the node has ended
 * meanwhile, does both again, for wait_ms. Returns what join returned last, or why there is no node
 * to join (join has not been called then): NAM_INVALID, no such directory can be; NAM_REFUSED, no
 * right; NAM_BUSY, another process has it; NAM_IO, the node does not start, and err has its own
 * line.
 */
nam_status emb_join(const struct emb_config *cfg,
    nam_status (*join)(void *arg, const struct emb_node *node, struct nam_err *err), void *arg,
    struct nam_err *err);
/* The hint for a user of the directory if its node is gone. */
void emb_hint(const struct emb_node *node, char *out, size_t size);
/* True while that very node serves. */
bool emb_serves(const struct emb_node *node);

/*
 * The program namdb for a library or another program: $NAMDB_PROGRAM, else the one beside the file
 * that has the function `beside` (its directory, ../bin, ../../bin), else that of PATH. NAM_ABSENT:
 * err says where it was looked for.
 */
nam_status emb_program(char out[PATH_MAX], void (*beside)(void), struct nam_err *err);
/* A sister of the running program: beside its file, of which links are followed, else in PATH.
 * False: it is in neither. */
bool emb_beside(char out[PATH_MAX], const char *name);

/* ---- of the storage node --------------------------------------------------------------- */

struct emb_address;

/*
 * Publishes where the node listens. Only by the process that holds the directory's `lock`.
 * secret_file: the node's; NULL = not one of the directory. Whether it is the directory's own
 * decides whether processes that open the directory join the node. NAM_IO, NAM_NOMEM.
 */
nam_status emb_publish(struct emb_address **out, const char *dir, const char *address,
    const char *secret_file, struct nam_err *err);
/* Takes it back, before the node stops listening. NULL is fine. */
void emb_retract(struct emb_address *a);

#endif
