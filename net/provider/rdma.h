/*
 * rdma.h -- devices, addresses and connection events of librdmacm, for both ends of a queue pair
 * and the doctor.
 *
 * Threads: any, on objects of their own.
 */
#ifndef NAM_NET_RDMA_H
#define NAM_NET_RDMA_H

#include <base/status.h>

#include <rdma/rdma_cma.h>
#include <stdbool.h>

/* The properties of a device that matter here. */
struct net_rdma_caps {
	char device[64];
	bool atomics;      /* it has atomics, and they are atomic with each other */
	bool imm;          /* WRITE_WITH_IMM */
	bool fences;       /* a fence flag can be relied on */
	bool early_writes; /* iWARP: a WRITE completes when it has been sent, not when it has
			    * arrived */
	bool page_reads;   /* a short READ must not cross the end of a page */
	unsigned rd_out;   /* READs and atomics that it may have out, and ... */
	unsigned rd_in;    /* ... take, at most, on one queue pair */
	unsigned wr_max;   /* work requests of a queue pair */
};

/* False if it cannot be asked (it vanished). From then on a call for its news does not block. */
bool net_rdma_caps(struct ibv_context *ctx, struct net_rdma_caps *out);

/*
 * The first address of this machine behind which an RDMA device with an active port
 * lies, loopback left out (rdma_cm does not work there), as text. host == NULL: any
 * address; else exactly that one. NAM_UNSUPPORTED: there is none, err says what is missing.
 */
nam_status net_rdma_address(const char *host, char out[48], struct nam_err *err);

/* An id on ch, not blocking on its events. NULL with errno. */
struct rdma_event_channel *net_rdma_channel(void);
/*
 * Waits for the next event and checks that it is the one wanted; another event is given back, and
 * err names it. The caller acknowledges *out. NAM_GONE: another event, or time is up.
 */
nam_status net_rdma_expect(struct rdma_event_channel *ch, enum rdma_cm_event_type want, uint64_t deadline_ns,
    const char *name, struct rdma_cm_event **out, struct nam_err *err);
/* Resolves address and route of a fresh id. from: local address to come from, or NULL. */
nam_status net_rdma_resolve(struct rdma_event_channel *ch, struct rdma_cm_id *id, const char *from,
    const char *host, const char *port, uint64_t deadline_ns, const char *name, struct nam_err *err);
/*
 * The news of a connection's channel and its device since the last call, in words, or NULL. *ended:
 * the connection is over. *removed: the device is gone as well (else it stays unchanged). Never
 * blocks; other threads may ask about the same device, and each piece of news is returned once.
 */
const char *net_rdma_news(struct rdma_event_channel *ch, struct ibv_context *ctx, bool *ended, bool *removed);
/* After ibv_reg_mr has failed: err says so, and what to do. else_do: a further remedy, or "". */
nam_status net_rdma_unregistered(
    struct nam_err *err, const char *device, const char *who, uint64_t bytes, const char *else_do);
/* The meaning of a failed completion, and a remedy. */
const char *net_rdma_failure(enum ibv_wc_status st);
/*
 * A function that makes an object of a device calls net_rdma_hold before, with an id that has an
 * address there, and net_rdma_release after all of it was given back. When the device is removed,
 * the last release lets it go: librdmacm never does, and if the driver cannot take a device away
 * from its users (Soft-RoCE, soft-iWARP), its removal would block until this process ends. A
 * watcher, which sleeps on an id of its own, hears of the removal even if every connection heard
 * its peer's goodbye first. removed: the caller knows of the removal; counts only where there is no
 * watcher.
 */
void net_rdma_hold(struct rdma_cm_id *id);
void net_rdma_release(struct ibv_context *ctx, bool removed);
/* A peer that vanished is noticed within about a second, not never (retry_count 7 has no end on
 * some). */
enum { NET_RDMA_RETRY = 6, NET_RDMA_ACK_TIMEOUT = 14 };
void net_rdma_timeout(struct rdma_cm_id *id);

#endif
