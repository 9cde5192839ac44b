/*
 * region_format.h -- the first 64 KiB of every region, as both ends of the wire see it.
 *
 *   offset 0      the superblock, struct net_super (4096 bytes)
 *   offset 64 KiB the first extent; every extent is NET_EXTENT bytes
 *
 * Access
 *   identity      written by the storage node before the region is shown, then never.
 *   bump          any peer, by FETCH_ADD of n * NET_EXTENT: hands out n extents in a row.
 *   free_head     any peer, by CAS: a stack of single freed extents. Each begins with
 *                 struct net_free, WRITTEN before the CAS that puts it on the stack.
 *   reserve       any peer, by CAS: extents kept back for operations that empty a full region (N5).
 *   beat          the storage node only (plain stores, every 10 ms); peers READ.
 *   root          any peer: CAS from 0, then READ. ARCHITECTURE.md says which room owns which word;
 *                 the storage node never looks.
 *
 * Always true
 *   N1  Memory that bump hands out reads as zeros. A recycled extent does not: its taker writes
 *       zeros over it first, or asks for it with the bytes it has.
 *   N2  bump never goes back. bump > size means: full (it may overshoot).
 *   N3  free_head carries a tag that rises with every push and pop, so a stale CAS fails.
 *   N4  While an extent is on the stack, its struct net_free is true: the stack below it does not
 *       change. So the top tells how many extents have been given back.
 *   N5  A word of the reserve that holds an extent's offset owns that extent. A CAS from it to
 *       NET_RESERVE_WANTS takes the extent, one from NET_RESERVE_WANTS puts one there.
 *       net_reserve_fill brings a word into use, and it stays in use.
 */
#ifndef NAM_NET_REGION_FORMAT_H
#define NAM_NET_REGION_FORMAT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define NET_MAGIC   UINT64_C(0x314244414d414e00) /* "\0NAMADB1" */
#define NET_VERSION 1u
#define NET_EXTENT  (UINT64_C(64) << 10)
#define NET_ROOTS   64
#define NET_RESERVE 32

/* An empty place of the reserve: the next extent given back goes there. */
#define NET_RESERVE_WANTS UINT64_C(1)

struct net_super {
	/* identity */
	uint64_t magic;
	uint32_t version;
	uint32_t region;      /* 1..NET_REGIONS-1, the node's id */
	uint64_t layout;      /* fingerprint of all formats in this build, net_layout() */
	uint64_t cluster;     /* hash of the cluster's name */
	uint64_t incarnation; /* random; another value = the memory came back empty */
	uint64_t size;        /* bytes of the region, a multiple of NET_EXTENT */
	uint64_t log;         /* offset of the line of the node's log, 0 = it has none; a service's
			        * (wal/remote), never changed once the region is shown */
	uint8_t pad0[8];
	/* a line each, so that the atomics of one do not disturb the other */
	uint64_t bump;
	uint8_t pad1[56];
	uint64_t free_head; /* tag:32 | extent number:32; extent number 0 = empty */
	uint8_t pad2[56];
	/* heartbeat */
	uint64_t beat;         /* +1 every 10 ms */
	uint64_t beat_wall_us; /* when, by the node's wall clock */
	uint32_t cpu_permille; /* load of the storage process, 1000 = one core busy */
	uint32_t peers;        /* connections now */
	uint8_t pad3[40];
	uint64_t root[NET_ROOTS];
	uint64_t reserve[NET_RESERVE]; /* offset of an extent; NET_RESERVE_WANTS; 0 = not in use */
	uint8_t pad4[4096 - 64 - 64 - 64 - 64 - 8 * NET_ROOTS - 8 * NET_RESERVE];
};
static_assert(sizeof(struct net_super) == 4096, "superblock is a layout");
static_assert(offsetof(struct net_super, bump) == 64, "bump has its own line");
static_assert(offsetof(struct net_super, free_head) == 128, "free_head has its own line");
static_assert(offsetof(struct net_super, beat) == 192, "heartbeat has its own line");
static_assert(offsetof(struct net_super, root) == 256, "roots begin a line");

/* The first bytes of an extent that has been given back. */
enum { NET_FREE_NEXT = 30 };
struct net_free {
	uint32_t next[NET_FREE_NEXT]; /* numbers of the extents below it, nearest first; 0 = no
				       * more */
	uint64_t depth;               /* extents from here down, including this one */
};
static_assert(sizeof(struct net_free) == 128, "two lines");

#endif
