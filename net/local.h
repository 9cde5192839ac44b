/*
 * local.h -- a region that lies in this very process; storage_node gives it to net_open.
 *
 * Borrowed: it and its memory must outlive every struct net opened on it. Any thread.
 */
#ifndef NAM_NET_LOCAL_H
#define NAM_NET_LOCAL_H

#include <stdint.h>

struct net_local {
	void *base;    /* its superblock (region_format.h) is filled */
	uint64_t size; /* bytes */
	/* Opens a connection to the services that this region hosts, like role RINGS after the
	 * grant; -1: errno. NULL = no services. */
	int (*rings)(void *arg);
	void *rings_arg;
};

#endif
