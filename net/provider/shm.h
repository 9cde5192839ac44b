/* shm.h -- mapping a node's memory into this process; inside net only. */
#ifndef NAM_NET_SHM_H
#define NAM_NET_SHM_H

#include <net/provider.h>

/* Judges a superblock. NAM_REFUSED with the reason. */
nam_status net_shm_check(const void *base, uint64_t size, const char *name, struct nam_err *err);
/* Maps the memfd of node (info filled in); fd stays the caller's. */
nam_status net_shm_map(struct net_node *node, int fd, struct nam_err *err);

#endif
