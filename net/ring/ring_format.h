/*
 * ring_format.h -- messages in a ring of memory that one side WRITEs and the other side empties.
 *
 * A ring is a power of two of bytes. Positions are counted from 0 and never wrap; position p lies
 * at byte p mod size. A message begins at a multiple of 8 and never crosses the ring's end:
 *
 *   word 0   head    63..56 mark | 55..48 flags | 47..24 message number, low bits | 23..0 bytes
 *   word 1   about   request:  63..48 zero | 47..32 service | 31..0 most bytes of an answer
 *                    response: 63..16 zero | 15..0 nam_status
 *            payload, padded to 8
 *   last     seal a checksum over head, about, payload and position, seeded for this ring; never 0
 *
 * A message that does not fit before the end leaves a head alone there (flag WRAP) and lies at the
 * beginning.
 *
 * The request ring lies in the storage node's region. A client WRITEs it by its ordinary queue
 * pair, so a message is seen after all that the worker WROTE before it. The response ring lies
 * where its client is (net/ring/channel.h).
 *
 * Access: the writer WRITEs into free places; the reader empties the places it has taken, to zeros.
 * There is no word that both write, and no pointer on the wire:
 *   - answers come in the order of the requests, so an answer also shows that its request's place
 *     is empty;
 *   - a client sends a request only while its response ring has room for the longest answer to all
 *     that are out. So a server never waits for room, and a full ring makes only its own client
 *     wait.
 *
 * Always true
 *   G1  A ring reads as zeros beyond what its writer has sent, as far as the reader knows: so a
 *       head that is not zero is a message under way, and must be sound at once.
 *   G2  Only the seal proves a message. The words of one WRITE appear in any order; head and seal
 *       prove nothing about the words between them, unless the checksum holds.
 *   G3  The seal holds the position: so bytes of an earlier lap, or of another ring that lay here,
 *       do not pass.
 */
#ifndef NAM_NET_RING_FORMAT_H
#define NAM_NET_RING_FORMAT_H

#include <assert.h>
#include <stdint.h>

enum {
	NET_RING_MIN = 4 << 10,
	NET_RING_MAX = 1 << 20,
	NET_RING_FRAME = 24, /* head, about, seal */
};

#define NET_RING_MARK UINT64_C(0xd7)

enum net_ring_flag {
	NET_RING_WRAP = 1,  /* no further message before the end */
	NET_RING_EVENT = 2, /* request: announce the answer by an event; the client announces
			     * its further requests as well: do not poll */
	NET_RING_FLAGS = 3,
};

/* The longest payload of a ring of that size: then it fits wherever the one before it has ended. */
static inline uint32_t
net_ring_payload_max(uint32_t ring)
{
	return ring / 2 - NET_RING_FRAME;
}

/* The bytes of a whole message with that payload. */
static inline uint32_t
net_ring_whole(uint32_t payload)
{
	return NET_RING_FRAME + ((payload + 7) & ~7u);
}

/*
 * Before messages, on a connection of role RINGS (wire.h), after the grant:
 *   peer: net_ring_hello --->   <--- node: net_ring_offer
 * then only what the fabric needs: nothing, bells, or frames (channel.h). Its end is the end of
 * both rings.
 */
#define NET_RING_MAGIC UINT64_C(0x53474e4952444d4e) /* "NMDRINGS" */

enum net_ring_way {
	NET_RING_MAPPED = 1, /* the response ring also lies in the region; bells are single bytes on
			      * the connection */
	NET_RING_STREAM = 2, /* responses come on the connection as frames */
	NET_RING_VERBS =
	    3, /* responses are RDMA WRITEs to address, by the queue pair that came with a token */
};

struct net_ring_hello {
	uint64_t magic;
	uint32_t way;     /* enum net_ring_way */
	uint32_t service; /* the shard that hosts it */
	uint32_t request_bytes, response_bytes;
	uint64_t address; /* VERBS: of the response ring */
	uint32_t rkey;
	uint32_t zero;
};
struct net_ring_offer {
	uint64_t magic;
	uint32_t status;   /* nam_status; the other fields are valid only with NAM_OK */
	uint32_t number;   /* the immediate that announces this client's messages */
	uint64_t request;  /* offset in the region */
	uint64_t response; /* MAPPED: offset in the region */
	uint64_t seed;
	uint32_t shards, shard;
};
static_assert(sizeof(struct net_ring_hello) == 40, "hello is wire format");
static_assert(sizeof(struct net_ring_offer) == 48, "offer is wire format");

/* STREAM: so many bytes of the response ring, from at on. Both multiples of 8, within the ring. */
struct net_ring_frame {
	uint32_t at, len;
};
static_assert(sizeof(struct net_ring_frame) == 8, "frame is wire format");

#endif
