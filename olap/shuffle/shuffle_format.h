/*
 * shuffle_format.h -- a message between two nodes that share nothing.
 *
 *   byte 0        4      6      8       12      16      20      24
 *        +--------+------+------+-------+-------+-------+-------+- - - - - - - - - -+
 *        | magic  | kind | side | from  | bytes | first | number| bytes of payload  |
 *        +--------+------+------+-------+-------+-------+-------+- - - - - - - - - -+
 *
 *   TUPLES  tuples of `side`, one behind the other
 *   END     no payload: `from` has sent all of its tuples of `side`
 *   PART    words of `from`'s filter of `side`, from word `first` on: of the receiver's slice
 *   FILTER  words of the filter of all nodes, from word `first` on: of `from`'s slice
 *
 * A filter's words are dealt out in slices, one for each node. A node sends each slice of its own
 * filter to the slice's node, which puts all of them together and sends the sum to everybody.
 *
 * Always true
 *   S1  Messages from one node to another arrive in the order in which they were sent:
 *       their numbers have no gap.
 *   S2  END comes after all TUPLES of its node and side; a side is complete when it has come from
 *       every node.
 *   S3  A node sends a FILTER only when it has the whole PART of every node; a node tests tuples
 *       only with filters of which it has every slice. So no tuple with a partner is left out.
 */
#ifndef NAM_OLAP_SHUFFLE_FORMAT_H
#define NAM_OLAP_SHUFFLE_FORMAT_H

#include <assert.h>
#include <stdint.h>

enum { SHUFFLE_MAGIC = 0x736e6f64 };
enum shuffle_kind { SHUFFLE_TUPLES, SHUFFLE_END, SHUFFLE_PART, SHUFFLE_FILTER, SHUFFLE_KINDS };

struct shuffle_head {
	uint32_t magic;
	uint16_t kind, side;
	uint32_t from;
	uint32_t bytes; /* behind the head; a multiple of 8 */
	uint32_t first;
	uint32_t number; /* of `from`'s messages to this node, from 0 */
};
static_assert(sizeof(struct shuffle_head) == 24, "what nodes send");

#endif
