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
 * Access: the writer WRITEs into free places; the reader empties the places it has taken, to
 * zeros. There is no word that both write, and no pointer on the wire:
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
 *   G4  A client gives rings back only when it has the answers to all requests, and all of its
 *   WRITEs to
 *       the ring have ended: so nothing of it lands in them any more.
 *   G5  Rings whose client has gone rest for two seconds, because WRITEs of it may still land. One
 *   that
 *       lands even later carries no seal of the new ring (G3): at worst a connection ends.
 *   G6  A caller that waits for a number of a bell is roused once that has been reached, whichever
 *       comes first: its request, or the ring (bell.h).
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

/* The longest payload of a ring of that size: then it fits wherever the one before it has ended.
 * */
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
 * The offer has rings, or says NAM_BUSY: all memory for rings is in use, and the peer stands in
 * line; a further offer comes when there is some. From then on either side may speak:
 *
 *   peer   a byte BELL   a request was posted (MAPPED)
 *          a byte GIVE   the peer gives its rings back. It has all answers, and all of its WRITEs
 *          have ended a byte WANT, then net_ring_want: it needs rings again; an offer comes
 *   node   MAPPED   a byte BELL, WANTED, or OFFER and then net_ring_offer
 *          others   net_ring_frame. len 0: `at` is WANTED, or OFFER and then net_ring_offer
 *
 * WANTED asks the peer to give its rings back as soon as its calls are over, because others wait.
 * The end of the connection is the end of both rings.
 */
#define NET_RING_MAGIC UINT64_C(0x32474e4952444d4e) /* "NMDRING2" */

enum net_ring_word {
	NET_RING_BELL = 0,
	NET_RING_WANTED = 1,
	NET_RING_OFFER = 2,
	NET_RING_GIVE = 3,
	NET_RING_WANT = 4,
};

/* Sizes: powers of two. The least are what the peer's calls need, the most are what it can use. */
struct net_ring_want {
	uint32_t request_least, response_least;
	uint32_t request_most, response_most;
};
static_assert(sizeof(struct net_ring_want) == 16, "want is wire format");

enum net_ring_way {
	NET_RING_MAPPED = 1, /* the response ring also lies in the region; bells are single bytes on
			      * the connection */
	NET_RING_STREAM = 2, /* responses come on the connection as frames */
	NET_RING_VERBS =
	    3, /* responses are RDMA WRITEs to address, by the queue pair that came with a token */
};

struct net_ring_hello {
	uint64_t magic;
	uint32_t way;              /* enum net_ring_way */
	uint32_t service;          /* the shard that hosts it */
	struct net_ring_want want; /* VERBS: the response ring is as large as it was first */
	uint64_t address;          /* VERBS: of the response ring */
	uint32_t rkey;
	uint32_t zero;
};
struct net_ring_offer {
	uint64_t magic;
	uint32_t status;   /* nam_status. With NAM_BUSY only shards and shard are valid, with other
			    * errors nothing is */
	uint32_t number;   /* the immediate that announces this client's messages */
	uint64_t request;  /* offset in the region */
	uint64_t response; /* MAPPED: offset in the region */
	uint64_t seed;     /* drawn for this offer (G3) */
	uint32_t shards, shard;
	uint32_t request_bytes, response_bytes;
};
static_assert(sizeof(struct net_ring_hello) == 48, "hello is wire format");
static_assert(sizeof(struct net_ring_offer) == 56, "offer is wire format");

/* STREAM: so many bytes of the response ring, from at on. Both multiples of 8, within the ring. Or
 * a word (above). */
struct net_ring_frame {
	uint32_t at, len;
};
static_assert(sizeof(struct net_ring_frame) == 8, "frame is wire format");

#endif
