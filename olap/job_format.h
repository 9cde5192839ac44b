/*
 * job_format.h -- a job in remote memory: who takes part, what is done, which memory it owes.
 *
 * The board, one extent, in which processes that live find the jobs of those that do not, and jobs
 * that ask for help:
 *
 *   first 32 bytes:     | calls : a FETCH_ADD for each job that asks for help | not used |
 *   place i, 32 bytes:  | owner's identity, 0 = free | address of the job's head, 0 = none yet |
 *                       | door : 64 | maker's identity, 0 = none yet |
 *
 *   The owner is the maker, or a process that collects the job since the maker's death.
 *
 *   A door is shut (0), open (1), or | identity of the process that enters : 40 | 2 |. The job
 *   behind it does not end while a process enters.
 *
 * A job's head, one extent:
 *
 *   0      64     128    192       6144      8192          12288       28672       64 KiB
 *   +------+------+------+---------+---------+-------------+-----------+-----------+
 *   | what | stop | bill | bills[] | queues  | places      | outputs   | plan      |
 *   +------+------+------+---------+---------+-------------+-----------+-----------+
 *            CAS    FAA    extents   FAA, a    CAS, a line   CAS: phase, the maker,
 *            from 0        of the    line each for each      round,      before the
 *                          bill: CAS           participant   place       job is shown
 *
 *   The bill lists the job's extents, BILL_LINE in a row for each FETCH_ADD.
 *   A queue hands out the morsels of one round of one phase, by FETCH_ADD.
 *
 *   A place is  | identity of the participant's net : 40 | state : 8 |. OLAP_NEAR: the participant
 *   reads what it needs before it takes morsels. No round waits for it; the end of the job does.
 *   An output is the address of a directory; 0 = not yet; OLAP_VOID = never.
 *
 * A directory, one extent and more if it lists many windows: which morsels a participant has
 * done in one round, a small result, and the windows that it filled.
 *
 *   | windows | morsels | result's length | extents | morsels done, a bit each | result |
 *   | addresses of further extents | first windows ... |     further extents: | windows ... |
 *
 *   A window is  | address | tuples : 32 | partition : 32 |.
 *
 * Access
 *   what, plan    the maker, before the head's address is on the board; then nobody.
 *   a window      its writer, by WRITE; after its directory counts, any participant, by READ.
 *   a directory   its writer, before the CAS of its output; then any participant, by READ.
 *   a door        the owner opens it, by WRITE, when head and address have landed. A process
 *                 enters by CAS open -> its identity, and leaves by the reverse CAS. The owner, or
 *                 the collector of a dead owner's job, shuts it by CAS, after fencing the process
 *                 inside if that is dead.
 *   all else      any participant, by the atomics named above.
 *
 * Always true
 *   A1  An extent is used only after its address has landed in the bill. A process that dies
 *       between taking extents from their node and the bill loses BILL_LOST of them at most.
 *   A2  A morsel counts once: in the one output whose directory says that it is done. An output
 *       leaves 0 once, by CAS: to a directory whose WRITEs have all completed, or to OLAP_VOID.
 *   A3  Only a participant that is fenced, or has left, gets OLAP_VOID. So no verb of it follows.
 *   A4  A round ends when each place that is taken has its output. Then its queue is exhausted, and
 *       who joins later does nothing in it. The morsels that no output covers are the next round's,
 *       and every participant computes the same ones.
 *   A5  Extents go back when every other participant has left or is fenced; a word of the bill is
 *       emptied before its extent goes back, so a collector that dies gives none back twice.
 *   A6  The address that a process READs behind a door, after its CAS has opened it, is that of
 *       a job that lives until the process leaves the door. A place in the job's head that it
 *       takes meanwhile holds up the job's end.
 *   A7  A place names the job's maker until every other participant has left or is fenced, also
 *       if collectors of the job die meanwhile.
 */
#ifndef NAM_OLAP_JOB_FORMAT_H
#define NAM_OLAP_JOB_FORMAT_H

#include <net/region_format.h>

enum {
	OLAP_PLACES = 64,
	OLAP_PHASES = 4,
	OLAP_ROUNDS = 8,
	OLAP_BILLS = 512, /* extents of the bill */
	OLAP_MORSELS = 16384,
	OLAP_RESULT = 4096,        /* bytes */
	OLAP_PIECES = 512,         /* further extents of a directory */
	BILL_LINE = 32,            /* words */
	BILL_TAKE = 30,            /* of them, as many as one CAS pops */
	BILL_LOST = BILL_TAKE + 1, /* and an extent of the bill itself */
	BILL_WORDS = NET_EXTENT / 8
};

#define OLAP_MAGIC UINT64_C(0x32424f4a504c4f00) /* "\0OLPJOB2" */
#define OLAP_VOID  UINT64_C(1)

enum olap_state { OLAP_NOBODY, OLAP_IN, OLAP_WENT, OLAP_DEAD, OLAP_NEAR };

enum { OLAP_SHUT, OLAP_OPEN, OLAP_ENTERED }; /* of a door */

struct olap_board_place {
	uint64_t identity, head, door, maker;
};
static_assert(sizeof(struct olap_board_place) == 32, "a place of the board");
enum { OLAP_BOARD = NET_EXTENT / sizeof(struct olap_board_place) }; /* the first is `calls` */

struct olap_line {
	uint64_t word;
	uint8_t pad[56];
};

struct olap_head {
	uint64_t magic, owner, plan_len, board; /* board: address of the place there */
	uint8_t pad0[32];
	struct olap_line stop; /* a nam_status; 0 = go on */
	struct olap_line bill; /* words of the bill that are handed out */
	uint64_t bills[OLAP_BILLS];
	uint8_t pad1[6144 - 192 - 8 * OLAP_BILLS];
	struct olap_line queue[OLAP_PHASES][OLAP_ROUNDS];
	struct olap_line place[OLAP_PLACES];
	uint64_t output[OLAP_PHASES][OLAP_ROUNDS][OLAP_PLACES];
	uint8_t plan[NET_EXTENT - 28672];
};
static_assert(sizeof(struct olap_head) == NET_EXTENT, "a head is an extent");
static_assert(offsetof(struct olap_head, queue) == 6144, "as drawn");
static_assert(offsetof(struct olap_head, plan) == 28672, "as drawn");

struct olap_window {
	uint64_t at;
	uint32_t tuples, partition;
};
static_assert(sizeof(struct olap_window) == 16, "a window's entry");

enum { OLAP_PIECE = NET_EXTENT / sizeof(struct olap_window) };
struct olap_dir {
	uint64_t magic;
	uint32_t windows, morsels, result_len, pieces;
	uint8_t pad[40];
	uint64_t done[OLAP_MORSELS / 64];
	uint8_t result[OLAP_RESULT];
	uint64_t piece[OLAP_PIECES];
	struct olap_window window[(NET_EXTENT - 64 - OLAP_MORSELS / 8 - OLAP_RESULT - 8 * OLAP_PIECES) / 16];
};
static_assert(sizeof(struct olap_dir) == NET_EXTENT, "a directory begins with an extent");

#endif
