/* anomalies_test.c -- every anomaly by hand, each beside near misses that are good at the level
 * asked. */
#include "check_test.h"

#define NOTHING CHK_LEVELS /* no level of the judge's allows it */
#define LIST    "'list-append'"
#define REG     "'register'"

static const struct case_ lists[] = {
	{ "serial", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(1, 0, 1, 2, A(1, 1)) OK(2, 1, 3, 4, R(1, 1) "," A(1, 2) "," R(1, 1, 2))
		OK(3, 0, 5, 6, R(1, 1, 2)) },
	{ "nothing at all", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL, "" },
	{ "empty transactions and lists", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(1, 0, 1, 2, "") OK(2, 0, 3, 4, R(1)) OK(3, 0, 5, 6, "['r',1,null]") },
	/* Two writers of two keys, one order on each. */
	{ "G0", LIST, NOTHING, CHK_READ_COMMITTED, "write cycle", "T1 -> T2  ww",
	    OK(1, 0, 1, 9, A(1, 1) "," A(2, 1)) OK(2, 1, 1, 9, A(1, 2) "," A(2, 2))
		OK(3, 2, 10, 11, R(1, 1, 2) "," R(2, 2, 1)) },
	{ "G0 within one key", LIST, NOTHING, CHK_READ_COMMITTED, "write cycle", NULL,
	    OK(1, 0, 1, 9, A(1, 1) "," A(1, 3)) OK(2, 1, 1, 9, A(1, 2)) OK(3, 2, 10, 11, R(1, 1, 2, 3)) },
	{ "one order on both keys", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(1, 0, 1, 9, A(1, 1) "," A(2, 1)) OK(2, 1, 1, 9, A(1, 2) "," A(2, 2))
		OK(3, 2, 10, 11, R(1, 1, 2) "," R(2, 1, 2)) },
	{ "G1a", LIST, NOTHING, CHK_READ_COMMITTED, "aborted read", "which was rolled back",
	    FAIL(1, 0, 1, 2, A(1, 1)) OK(2, 1, 1, 3, R(1, 1)) },
	{ "G1a in the middle", LIST, NOTHING, CHK_READ_COMMITTED, "aborted read", NULL,
	    OK(4, 3, 1, 2, A(1, 7)) FAIL(1, 0, 1, 2, A(1, 1)) OK(3, 2, 3, 4, A(1, 2))
		OK(2, 1, 5, 6, R(1, 7, 1, 2)) },
	{ "an aborted transaction that no read shows", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    FAIL(1, 0, 1, 2, A(1, 1) "," R(1, 99)) OK(2, 1, 3, 4, R(1)) },
	{ "G1b", LIST, NOTHING, CHK_READ_COMMITTED, "intermediate read", "appended more",
	    OK(1, 0, 1, 9, A(1, 1) "," A(1, 2)) OK(2, 1, 1, 9, R(1, 1)) OK(3, 1, 10, 11, R(1, 1, 2)) },
	{ "all or nothing of two appends", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(1, 0, 1, 9, A(1, 1) "," A(1, 2)) OK(2, 1, 1, 9, R(1)) OK(3, 1, 10, 11, R(1, 1, 2)) },
	{ "G1c", LIST, NOTHING, CHK_READ_COMMITTED, "circular information flow", "T2 saw key 1 as T1 left it",
	    OK(1, 0, 1, 9, A(1, 1) "," R(2, 2)) OK(2, 1, 1, 9, A(2, 2) "," R(1, 1)) },
	{ "G1c of ww and wr", LIST, NOTHING, CHK_READ_COMMITTED, "circular information flow", NULL,
	    OK(1, 0, 1, 9, A(1, 1) "," R(2, 2)) OK(2, 1, 1, 9, A(1, 2) "," A(2, 2))
		OK(3, 2, 10, 11, R(1, 1, 2)) },
	{ "lost update", LIST, CHK_READ_COMMITTED, CHK_SNAPSHOT, "lost update", "G-single",
	    OK(1, 0, 1, 9, R(1) "," A(1, 1)) OK(2, 1, 1, 9, R(1) "," A(1, 2)) OK(3, 2, 10, 11, R(1, 1, 2)) },
	{ "lost update, never read", LIST, CHK_READ_COMMITTED, CHK_SNAPSHOT, "lost update", NULL,
	    OK(1, 0, 1, 9, R(1) "," A(1, 1)) OK(2, 1, 1, 9, R(1) "," A(1, 2)) },
	{ "an update of what was read", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(1, 0, 1, 4, R(1) "," A(1, 1)) OK(2, 1, 2, 9, R(1, 1) "," A(1, 2))
		OK(3, 2, 10, 11, R(1, 1, 2)) },
	{ "read skew", LIST, CHK_READ_COMMITTED, CHK_SNAPSHOT, "read skew", "G-single",
	    OK(1, 0, 1, 9, A(1, 1) "," A(2, 1)) OK(2, 1, 1, 9, R(1) "," R(2, 1)) OK(3, 2, 10, 11, R(1, 1)) },
	{ "both from before", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(1, 0, 1, 9, A(1, 1) "," A(2, 1)) OK(2, 1, 1, 9, R(1) "," R(2))
		OK(3, 2, 10, 11, R(1, 1) "," R(2, 1)) },
	{ "G-single over three", LIST, CHK_READ_COMMITTED, CHK_SNAPSHOT, "G-single", NULL,
	    OK(1, 0, 1, 9, A(1, 1)) OK(2, 1, 1, 9, R(1, 1) "," A(2, 1)) OK(3, 2, 1, 9, R(2, 1) "," R(1)) },
	{ "long fork", LIST, CHK_READ_COMMITTED, CHK_SNAPSHOT, "long fork", "G-nonadjacent",
	    OK(1, 0, 1, 9, A(1, 1)) OK(2, 1, 1, 9, A(2, 1)) OK(3, 2, 1, 9, R(1, 1) "," R(2))
		OK(4, 3, 1, 9, R(1) "," R(2, 1)) OK(5, 4, 10, 11, R(1, 1) "," R(2, 1)) },
	{ "no fork: one order for both readers", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(1, 0, 1, 9, A(1, 1)) OK(2, 1, 1, 9, A(2, 1)) OK(3, 2, 1, 9, R(1, 1) "," R(2))
		OK(4, 3, 1, 9, R(1, 1) "," R(2, 1)) OK(5, 4, 10, 11, R(1, 1) "," R(2, 1)) },
	{ "G-nonadjacent through updates", LIST, CHK_READ_COMMITTED, CHK_SNAPSHOT, "G-nonadjacent", NULL,
	    /* T1 -rw-> T2 -ww-> T3 -rw-> T4 -ww-> T1 */
	    OK(1, 0, 1, 9, R(1) "," A(4, 1)) OK(2, 1, 1, 9, A(1, 1) "," A(2, 1))
		OK(3, 2, 1, 9, A(2, 2) "," R(3)) OK(4, 3, 1, 9, A(3, 1) "," A(4, 2))
		    OK(5, 4, 10, 11, R(1, 1) "," R(2, 1, 2) "," R(3, 1) "," R(4, 2, 1)) },
	{ "write skew", LIST, CHK_STRONG_SNAPSHOT, CHK_SERIALIZABLE, "write skew", "G2-item",
	    OK(1, 0, 1, 9, R(1) "," A(2, 1)) OK(2, 1, 1, 9, R(2) "," A(1, 1))
		OK(3, 2, 10, 11, R(1, 1) "," R(2, 1)) },
	{ "write skew of three", LIST, CHK_STRONG_SNAPSHOT, CHK_SERIALIZABLE, "G2-item", NULL,
	    OK(1, 0, 1, 9, R(1) "," A(2, 1)) OK(2, 1, 1, 9, R(2) "," A(3, 1)) OK(4, 2, 1, 9, R(3) "," A(1, 1))
		OK(3, 2, 10, 11, R(1, 1) "," R(2, 1) "," R(3, 1)) },
	{ "a reader sees a batch of write skew (read-only anomaly)", LIST, CHK_STRONG_SNAPSHOT,
	    CHK_SERIALIZABLE, "G2-item", NULL,
	    /* T2 writes y after T1's snapshot; the reader sees T2 and not T1; T1 read y before
	     * T2. */
	    OK(1, 0, 1, 9, R(1) "," R(2) "," A(1, 1)) OK(2, 1, 2, 3, R(2) "," A(2, 2))
		OK(3, 2, 4, 5, R(1) "," R(2, 2)) OK(4, 3, 10, 11, R(1, 1) "," R(2, 2)) },
	{ "skew one way only", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(1, 0, 1, 9, R(1) "," A(2, 1)) OK(2, 1, 1, 9, R(2, 1) "," A(1, 1))
		OK(3, 2, 10, 11, R(1, 1) "," R(2, 1)) },
	{ "garbage", LIST, NOTHING, CHK_READ_COMMITTED, "garbage", "which no transaction ever appended",
	    OK(1, 0, 1, 2, A(1, 1)) OK(2, 0, 3, 4, R(1, 1, 77)) },
	{ "another key's value is garbage, too", LIST, NOTHING, CHK_READ_COMMITTED, "garbage", NULL,
	    OK(1, 0, 1, 2, A(1, 1)) OK(2, 0, 3, 4, R(2, 1)) },
	{ "duplicate", LIST, NOTHING, CHK_READ_COMMITTED, "duplicate", NULL,
	    OK(1, 0, 1, 2, A(1, 1)) OK(2, 0, 3, 4, R(1, 1, 1)) },
	{ "duplicate in a shorter read", LIST, NOTHING, CHK_READ_COMMITTED, "duplicate", NULL,
	    OK(1, 0, 1, 2, A(1, 1)) OK(4, 0, 3, 4, A(1, 2) "," A(1, 3)) OK(2, 0, 5, 6, R(1, 1, 1))
		OK(3, 0, 7, 8, R(1, 1, 2, 3)) },
	{ "internal: own append is not there", LIST, NOTHING, CHK_READ_COMMITTED, "internal", NULL,
	    OK(1, 0, 1, 2, A(1, 1) "," R(1)) },
	{ "internal: own appends in the wrong order", LIST, NOTHING, CHK_READ_COMMITTED, "internal", NULL,
	    OK(1, 0, 1, 2, A(1, 1) "," A(1, 2) "," R(1, 2, 1)) },
	{ "internal: not at the end", LIST, NOTHING, CHK_READ_COMMITTED, "internal", NULL,
	    OK(1, 0, 1, 9, A(1, 1) "," R(1, 1, 2)) OK(2, 1, 1, 9, A(1, 2)) },
	{ "own appends behind those of others", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(1, 0, 1, 2, A(1, 1)) OK(2, 0, 3, 4, A(1, 2) "," R(1, 1, 2) "," A(1, 3) "," R(1, 1, 2, 3)) },
	{ "non-repeatable read", LIST, CHK_READ_COMMITTED, CHK_SNAPSHOT, "non-repeatable read", NULL,
	    OK(1, 0, 1, 9, R(1) "," R(1, 1)) OK(2, 1, 1, 9, A(1, 1)) },
	{ "non-repeatable behind an append", LIST, CHK_READ_COMMITTED, CHK_SNAPSHOT, "non-repeatable read",
	    NULL, OK(1, 0, 1, 9, R(1) "," A(1, 5) "," R(1, 1, 5)) OK(2, 1, 1, 9, A(1, 1)) },
	{ "future read", LIST, NOTHING, CHK_READ_COMMITTED, "future read", NULL,
	    OK(1, 0, 1, 2, R(1, 1) "," A(1, 1)) },
	{ "incompatible order", LIST, NOTHING, CHK_READ_COMMITTED, "incompatible order", "two orders",
	    OK(1, 0, 1, 9, A(1, 1)) OK(2, 1, 1, 9, A(1, 2)) OK(3, 2, 10, 11, R(1, 1, 2))
		OK(4, 3, 10, 11, R(1, 2, 1)) },
	{ "incompatible order of one element", LIST, NOTHING, CHK_READ_COMMITTED, "incompatible order", NULL,
	    OK(1, 0, 1, 9, A(1, 1)) OK(2, 1, 1, 9, A(1, 2)) OK(3, 2, 10, 11, R(1, 1))
		OK(4, 3, 10, 11, R(1, 2)) },
	{ "lost write", LIST, NOTHING, CHK_READ_COMMITTED, "lost write", "was told so",
	    OK(1, 0, 1, 2, A(1, 1)) OK(2, 0, 3, 4, A(1, 2)) FINAL(3, 1, 10, 11, R(1, 1)) },
	{ "lost write that was seen once", LIST, NOTHING, CHK_READ_COMMITTED, "lost write", NULL,
	    OK(1, 0, 1, 2, A(1, 1)) OK(2, 0, 3, 4, A(1, 2)) OK(4, 0, 5, 6, R(1, 1, 2))
		FINAL(3, 1, 10, 11, R(1, 1)) },
	{ "half of an unknown transaction is lost", LIST, NOTHING, CHK_READ_COMMITTED, "lost write", NULL,
	    INFO(1, 0, 1, null, A(1, 1) "," A(2, 1)) FINAL(3, 1, 10, 11, R(1, 1) "," R(2)) },
	{ "unknown and never read", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    INFO(1, 0, 1, null, A(1, 1) "," A(2, 1)) INFO(2, 1, 1, null, A(1, 2))
		FINAL(3, 2, 10, 11, R(1, 2) "," R(2)) },
	{ "unknown becomes known", LIST, NOTHING, CHK_READ_COMMITTED, "lost write", NULL,
	    INFO(1, 0, 1, null, A(1, 1)) OK(1, 0, 1, 2, A(1, 1)) FINAL(3, 2, 10, 11, R(1)) },
	{ "an unknown one commits late", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    INFO(1, 0, 1, 2, A(1, 1)) OK(2, 0, 3, 4, R(1)) OK(3, 0, 5, 6, R(1, 1)) },
	{ "session: own write is not seen", LIST, CHK_SNAPSHOT, CHK_SESSION_SNAPSHOT, "session broken",
	    "G-single-session", OK(1, 0, 1, 2, A(1, 1)) OK(2, 0, 3, 4, R(1)) OK(3, 1, 5, 6, R(1, 1)) },
	{ "session: reads go back", LIST, CHK_SNAPSHOT, CHK_SESSION_SNAPSHOT, "session broken", NULL,
	    OK(1, 0, 1, 2, A(1, 1)) OK(2, 1, 3, 4, R(1, 1)) OK(3, 1, 5, 6, R(1)) },
	{ "session: serializable, but not in its order", LIST, CHK_SERIALIZABLE, CHK_SESSION_SERIALIZABLE,
	    "session broken", NULL, OK(1, 0, 1, 2, A(1, 1)) OK(2, 0, 3, 4, R(1)) },
	{ "another session may be behind", LIST, CHK_SESSION_SNAPSHOT, CHK_STRONG_SNAPSHOT,
	    "real time broken", "G-single-realtime",
	    OK(1, 0, 1, 2, A(1, 1)) OK(2, 1, 3, 4, R(1)) OK(3, 1, 5, 6, R(1, 1)) },
	{ "another session may be behind, serializable", LIST, CHK_SESSION_SERIALIZABLE,
	    CHK_STRICT_SERIALIZABLE, "real time broken", NULL,
	    OK(1, 0, 1, 2, A(1, 1)) OK(2, 1, 3, 4, R(1)) OK(3, 1, 5, 6, R(1, 1)) },
	{ "while it goes on, both is right", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(1, 0, 1, 8, A(1, 1)) OK(2, 1, 2, 3, R(1, 1)) OK(3, 2, 2, 3, R(1)) OK(4, 2, 3, 4, R(1, 1)) },
	{ "process: another session of it is behind", LIST, CHK_SNAPSHOT, CHK_SESSION_SNAPSHOT,
	    "session broken", "in the same process",
	    IN(1, 0, 7, 1, 2, A(1, 1)) IN(2, 1, 7, 3, 4, R(1)) IN(3, 2, 8, 5, 6, R(1, 1)) },
	{ "process: another one may be behind", LIST, CHK_SESSION_SNAPSHOT, CHK_STRONG_SNAPSHOT,
	    "real time broken", NULL,
	    IN(1, 0, 7, 1, 2, A(1, 1)) IN(2, 1, 8, 3, 4, R(1)) IN(3, 2, 8, 5, 6, R(1, 1)) },
	{ "process: at the same time", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    IN(1, 0, 7, 1, 3, A(1, 1)) IN(2, 1, 7, 3, 4, R(1)) IN(3, 2, 7, 5, 6, R(1, 1)) },
	{ "write order against real time", LIST, CHK_SESSION_SERIALIZABLE, CHK_STRICT_SERIALIZABLE,
	    "real time broken", NULL,
	    OK(1, 0, 1, 2, A(1, 1)) OK(2, 1, 3, 4, A(1, 2)) OK(3, 2, 1, 9, R(1, 2, 1)) },
	{ "text keys", LIST, CHK_READ_COMMITTED, CHK_SNAPSHOT, "lost update", "\"caf\303\251\"",
	    OK(1, 0, 1, 9, "['r','caf\\u00e9',[]],['append','caf\303\251',1]")
		OK(2, 1, 1, 9, "['r','caf\303\251',[]],['append','caf\\u00e9',2]") },
	/* Groups: many unread appends, so helper nodes. */
	{ "unread appends of five, each read before", LIST, CHK_READ_COMMITTED, CHK_SNAPSHOT, "lost update",
	    NULL,
	    OK(1, 0, 1, 9, A(1, 1)) OK(2, 1, 1, 9, A(1, 2)) OK(3, 2, 1, 9, A(1, 3))
		OK(4, 3, 1, 9, R(1) "," A(1, 4)) OK(5, 4, 1, 9, R(1) "," A(1, 5)) },
	{ "unread appends of five, one reader", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(1, 0, 1, 9, A(1, 1)) OK(2, 1, 1, 9, A(1, 2)) OK(3, 2, 1, 9, A(1, 3)) OK(4, 3, 1, 9, A(1, 4))
		OK(5, 4, 1, 9, R(1) "," A(1, 5)) },
	{ "read skew over an unread append of five", LIST, CHK_READ_COMMITTED, CHK_SNAPSHOT, "read skew",
	    NULL,
	    OK(1, 0, 1, 9, A(1, 1)) OK(2, 1, 1, 9, A(1, 2)) OK(3, 2, 1, 9, A(1, 3) "," A(2, 3))
		OK(4, 3, 1, 9, A(1, 4)) OK(6, 5, 1, 9, A(1, 6)) OK(5, 4, 1, 9, R(1) "," R(2, 3)) },
};

static const struct case_ registers[] = {
	{ "serial", REG, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(1, 0, 1, 2, V(1, null) "," W(1, 1) "," V(1, 1)) OK(2, 1, 3, 4, V(1, 1) "," W(1, 2))
		OK(3, 0, 5, 6, V(1, 2)) },
	{ "G0 is seen by reads", REG, NOTHING, CHK_READ_COMMITTED, "circular information flow", NULL,
	    OK(1, 0, 1, 9, W(1, 1) "," V(2, 2)) OK(2, 1, 1, 9, W(2, 2) "," V(1, 1)) },
	{ "G1a", REG, NOTHING, CHK_READ_COMMITTED, "aborted read", NULL,
	    FAIL(1, 0, 1, 2, W(1, 1)) OK(2, 1, 1, 3, V(1, 1)) },
	{ "G1b", REG, NOTHING, CHK_READ_COMMITTED, "intermediate read", NULL,
	    OK(1, 0, 1, 9, W(1, 1) "," W(1, 2)) OK(2, 1, 1, 9, V(1, 1)) },
	{ "the last of two", REG, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(1, 0, 1, 9, W(1, 1) "," W(1, 2)) OK(2, 1, 1, 9, V(1, 2)) },
	{ "G1b over a deletion", REG, NOTHING, CHK_READ_COMMITTED, "intermediate read", NULL,
	    OK(1, 0, 1, 9, W(1, 1) "," W(1, null)) OK(2, 1, 1, 9, V(1, 1)) },
	{ "lost update", REG, CHK_READ_COMMITTED, CHK_SNAPSHOT, "lost update", NULL,
	    OK(9, 5, 0, 0, W(1, 9)) OK(1, 0, 1, 9, V(1, 9) "," W(1, 1)) OK(2, 1, 1, 9, V(1, 9) "," W(1, 2)) },
	{ "lost update from nothing", REG, CHK_READ_COMMITTED, CHK_SNAPSHOT, "lost update", NULL,
	    OK(1, 0, 1, 9, V(1, null) "," W(1, 1)) OK(2, 1, 1, 9, V(1, null) "," W(1, 2)) },
	{ "blind writes lose nothing", REG, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(1, 0, 1, 9, W(1, 1)) OK(2, 1, 1, 9, W(1, 2)) OK(3, 2, 1, 9, W(1, 3)) OK(4, 3, 1, 9, W(1, 4))
		OK(5, 0, 10, 11, V(1, 2)) },
	{ "read skew", REG, CHK_READ_COMMITTED, CHK_SNAPSHOT, "read skew", NULL,
	    OK(9, 5, 0, 0, W(1, 9) "," W(2, 9)) OK(1, 0, 1, 9, V(1, 9) "," V(2, 9) "," W(1, 1) "," W(2, 1))
		OK(2, 1, 1, 9, V(1, 9) "," V(2, 1)) },
	{ "long fork", REG, CHK_READ_COMMITTED, CHK_SNAPSHOT, "long fork", NULL,
	    OK(1, 0, 1, 9, W(1, 1)) OK(2, 1, 1, 9, W(2, 1)) OK(3, 2, 1, 9, V(1, 1) "," V(2, null))
		OK(4, 3, 1, 9, V(1, null) "," V(2, 1)) },
	{ "long fork among many blind writers", REG, CHK_READ_COMMITTED, CHK_SNAPSHOT, "long fork", NULL,
	    OK(1, 0, 1, 9, W(1, 1)) OK(2, 1, 1, 9, W(2, 1)) OK(5, 4, 1, 9, W(1, 2)) OK(6, 5, 1, 9, W(1, 3))
		OK(7, 6, 1, 9, W(1, 4)) OK(3, 2, 1, 9, V(1, 1) "," V(2, null))
		    OK(4, 3, 1, 9, V(1, null) "," V(2, 1)) },
	{ "write skew", REG, CHK_STRONG_SNAPSHOT, CHK_SERIALIZABLE, "write skew", NULL,
	    OK(9, 5, 0, 0, W(1, 9) "," W(2, 9)) OK(1, 0, 1, 9, V(1, 9) "," V(2, 9) "," W(1, 1))
		OK(2, 1, 1, 9, V(1, 9) "," V(2, 9) "," W(2, 1)) },
	{ "garbage", REG, NOTHING, CHK_READ_COMMITTED, "garbage", NULL, OK(1, 0, 1, 2, V(1, 5)) },
	{ "internal", REG, NOTHING, CHK_READ_COMMITTED, "internal", NULL,
	    OK(1, 0, 1, 2, W(1, 1) "," V(1, null)) },
	{ "internal: an older own write", REG, NOTHING, CHK_READ_COMMITTED, "internal", NULL,
	    OK(1, 0, 1, 2, W(1, 1) "," W(1, 2) "," V(1, 1)) },
	{ "non-repeatable read", REG, CHK_READ_COMMITTED, CHK_SNAPSHOT, "non-repeatable read", NULL,
	    OK(1, 0, 1, 9, V(1, null) "," V(1, 1)) OK(2, 1, 1, 9, W(1, 1)) },
	{ "future read", REG, NOTHING, CHK_READ_COMMITTED, "future read", NULL,
	    OK(1, 0, 1, 2, V(1, 1) "," W(1, 1)) },
	{ "lost write", REG, NOTHING, CHK_READ_COMMITTED, "lost write", NULL,
	    OK(1, 0, 1, 2, W(1, 1)) OK(2, 0, 3, 4, V(1, 1) "," W(1, 2)) FINAL(3, 1, 10, 11, V(1, 1)) },
	{ "lost write: nothing is there", REG, NOTHING, CHK_READ_COMMITTED, "lost write", NULL,
	    OK(1, 0, 1, 2, W(1, 1)) FINAL(3, 1, 10, 11, V(1, null)) },
	{ "deleted, not lost", REG, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(1, 0, 1, 2, W(1, 1)) OK(2, 0, 3, 4, V(1, 1) "," W(1, null)) FINAL(3, 1, 10, 11, V(1, null)) },
	{ "session", REG, CHK_SNAPSHOT, CHK_SESSION_SNAPSHOT, "session broken", NULL,
	    OK(1, 0, 1, 2, W(1, 1)) OK(2, 0, 3, 4, V(1, null)) OK(3, 2, 1, 9, V(1, 1)) },
	{ "real time", REG, CHK_SESSION_SNAPSHOT, CHK_STRONG_SNAPSHOT, "real time broken", NULL,
	    OK(1, 0, 1, 2, W(1, 1)) OK(2, 1, 3, 4, V(1, null)) },
};

/* With timestamps: what the graph alone would let pass. */
static const struct case_ stamps[] = {
	{ "all right", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    AT(1, 0, 1, 2, 0, 5, A(1, 1)) AT(2, 0, 3, 4, 5, 7, R(1, 1) "," A(1, 2))
		AT(3, 0, 5, 6, 7, null, R(1, 1, 2)) },
	{ "EXT: an older version", LIST, NOTHING, CHK_SNAPSHOT, "wrong version", "EXT",
	    AT(1, 0, 1, 9, 0, 5, A(1, 1)) AT(2, 1, 1, 9, 6, null, R(1)) },
	{ "EXT: a newer version", LIST, NOTHING, CHK_SNAPSHOT, "wrong version", "EXT",
	    AT(1, 0, 1, 9, 0, 5, A(1, 1)) AT(2, 1, 1, 9, 4, null, R(1, 1)) },
	{ "EXT: of the same number is seen", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    AT(1, 0, 1, 9, 0, 5, A(1, 1)) AT(2, 1, 1, 9, 5, null, R(1, 1)) },
	{ "EXT: of the same number is hidden", LIST ",'visible':'<'", CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "",
	    NULL, AT(1, 0, 1, 9, 0, 5, A(1, 1)) AT(2, 1, 1, 9, 5, null, R(1)) },
	{ "EXT behind own appends", LIST, NOTHING, CHK_SNAPSHOT, "wrong version", "EXT",
	    AT(1, 0, 1, 9, 0, 5, A(1, 1)) AT(2, 1, 1, 9, 6, 8, A(1, 2) "," R(1, 2)) },
	{ "EXT of a register", REG, NOTHING, CHK_SNAPSHOT, "wrong version", "EXT",
	    AT(1, 0, 1, 9, 0, 5, W(1, 1)) AT(3, 2, 1, 9, 0, 6, W(2, 1))
		AT(2, 1, 1, 9, 6, null, V(1, null) "," V(2, 1)) },
	{ "EXT of a deletion", REG, NOTHING, CHK_SNAPSHOT, "wrong version", "right is nothing",
	    AT(1, 0, 1, 9, 0, 5, W(1, 1)) AT(3, 2, 1, 9, 5, 6, W(1, null)) AT(2, 1, 1, 9, 6, null, V(1, 1)) },
	{ "a deletion is seen", REG, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    AT(1, 0, 1, 9, 0, 5, W(1, 1)) AT(3, 2, 1, 9, 5, 6, W(1, null))
		AT(2, 1, 1, 9, 6, null, V(1, null)) },
	{ "NOCONFLICT", REG, CHK_READ_COMMITTED, CHK_SNAPSHOT, "lost update", "NOCONFLICT",
	    AT(1, 0, 1, 9, 3, 5, W(1, 1)) AT(2, 1, 1, 9, 4, 6, W(1, 2)) },
	{ "one after the other", REG, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    AT(1, 0, 1, 9, 3, 5, W(1, 1)) AT(2, 1, 1, 9, 5, 6, W(1, 2)) },
	{ "SESSION", LIST, CHK_SNAPSHOT, CHK_SESSION_SNAPSHOT, "session broken", "SESSION",
	    AT(1, 0, 1, 2, 3, 5, A(1, 1)) AT(2, 0, 3, 4, 4, null, R(2)) },
	{ "SESSION: snapshots go back", LIST, CHK_SNAPSHOT, CHK_SESSION_SNAPSHOT, "session broken", "SESSION",
	    AT(1, 0, 1, 2, 7, null, R(1)) AT(2, 0, 3, 4, 6, null, R(1)) },
	{ "real time", LIST, CHK_SESSION_SNAPSHOT, CHK_STRONG_SNAPSHOT, "real time broken", "SESSION",
	    AT(1, 0, 1, 2, 3, 5, A(1, 1)) AT(2, 1, 3, 4, 4, null, R(2)) },
	{ "a process is behind itself", LIST, CHK_SNAPSHOT, CHK_SESSION_SNAPSHOT, "process behind itself",
	    NULL, IN_AT(1, 0, 7, 1, 2, 3, 5, A(1, 1)) IN_AT(2, 1, 7, 3, 4, 4, null, R(2)) },
	{ "another process is", LIST, CHK_SESSION_SNAPSHOT, CHK_STRONG_SNAPSHOT, "real time broken", NULL,
	    IN_AT(1, 0, 7, 1, 2, 3, 5, A(1, 1)) IN_AT(2, 1, 8, 3, 4, 4, null, R(2)) },
	{ "one's own level counts", REG ",'level':'rc'", NOTHING, CHK_READ_COMMITTED, "lost update",
	    "NOCONFLICT", LEVEL(1, 0, "si", 3, 5, W(1, 1)) LEVEL(2, 1, "si", 4, 6, W(1, 2)) },
	{ "a weaker level is not held to more", REG, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    LEVEL(1, 0, "si", 3, 5, W(1, 1)) LEVEL(2, 1, "rc", 4, 6, W(1, 2)) },
	{ "given twice", LIST, NOTHING, CHK_READ_COMMITTED, "commit timestamp given twice", NULL,
	    AT(1, 0, 1, 2, 3, 5, A(1, 1)) AT(2, 1, 1, 2, 3, 5, A(2, 1)) },
	{ "before its start", LIST, NOTHING, CHK_READ_COMMITTED, "commit before start", NULL,
	    AT(1, 0, 1, 2, 6, 5, A(1, 1)) },
	{ "a stale read at commit", REG, CHK_STRONG_SNAPSHOT, CHK_SERIALIZABLE, "stale read at commit", NULL,
	    AT(1, 0, 1, 9, 3, 5, W(1, 1)) AT(2, 1, 1, 9, 4, 6, V(1, null) "," W(2, 2)) },
	{ "a statement's own snapshot", LIST, CHK_READ_COMMITTED, CHK_SNAPSHOT, "non-repeatable read", NULL,
	    AT(1, 0, 1, 9, 0, 5, A(1, 1)) OK(2, 1, 1, 9, "['r',1,[],4],['r',1,[1],5]") },
	{ "a statement's own snapshot, wrong", LIST, NOTHING, CHK_READ_COMMITTED, "wrong version", NULL,
	    AT(1, 0, 1, 9, 0, 5, A(1, 1)) OK(2, 1, 1, 9, "['r',1,[1],4]") },
	{ "a locked read is the newest", REG, CHK_READ_COMMITTED, CHK_LEVELS, "", NULL,
	    AT(1, 0, 1, 9, 0, 5, W(1, 1)) AT(2, 1, 1, 9, null, 6, "['l',1,1]," W(1, 2)) },
	{ "a locked read is old", REG, NOTHING, CHK_READ_COMMITTED, "wrong version", NULL,
	    AT(1, 0, 1, 9, 0, 5, W(1, 1)) AT(3, 2, 1, 9, 5, 6, V(1, 1) "," W(1, 3))
		AT(2, 1, 1, 9, null, 7, "['l',1,1]," W(1, 2)) },
	{ "an unknown writer's key is not judged", LIST, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    INFO(1, 0, 1, null, A(1, 1)) AT(2, 1, 1, 9, 6, null, R(1)) AT(3, 2, 1, 9, 6, null, R(1, 1)) },
};

#define BANK "'bank','total':20"
#define SET  "'set'"
static const struct case_ simple[] = {
	{ "bank", BANK, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(1, 0, 1, 2, V(1, 10) "," V(2, 10)) OK(2, 0, 3, 4, ADD(1, -5) "," ADD(2, 5))
		OK(3, 1, 1, 9, V(1, 5) "," V(2, 15)) },
	{ "bank: torn", BANK, CHK_READ_COMMITTED, CHK_SNAPSHOT, "wrong total", "they hold 25, right is 20",
	    OK(2, 0, 3, 4, ADD(1, -5) "," ADD(2, 5)) OK(3, 1, 1, 9, V(1, 10) "," V(2, 15)) },
	{ "bank: not all accounts", BANK, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(2, 0, 3, 4, ADD(1, -5) "," ADD(2, 5)) OK(3, 1, 1, 9, V(1, 10)) },
	{ "bank: own transfers", BANK, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(2, 0, 3, 4, V(1, 10) "," ADD(1, -5) "," V(1, 5) "," V(2, 10) "," ADD(2, 5)) },
	{ "bank: non-repeatable", BANK, CHK_READ_COMMITTED, CHK_SNAPSHOT, "non-repeatable read", NULL,
	    OK(2, 0, 3, 4, V(1, 10) "," ADD(1, -5) "," V(1, 4)) },
	{ "bank: money is gone", BANK, NOTHING, CHK_READ_COMMITTED, "lost money", NULL,
	    OK(2, 0, 3, 4, ADD(1, -5) "," ADD(2, 5)) FINAL(3, 1, 10, 11, V(1, 5))
		FINAL(4, 1, 12, 13, V(2, 10)) },
	{ "set", SET, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(1, 0, 1, 2, ADD(1, 1)) OK(2, 1, 1, 4, ADD(1, 2)) OK(3, 2, 3, 4, R(1, 1))
		FINAL(4, 2, 10, 11, R(1, 2, 1)) },
	{ "set: lost", SET, NOTHING, CHK_READ_COMMITTED, "lost write", NULL,
	    OK(1, 0, 1, 2, ADD(1, 1)) OK(2, 1, 1, 4, ADD(1, 2)) FINAL(4, 2, 10, 11, R(1, 2)) },
	{ "set: unknown and aborted need not be there", SET, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    INFO(1, 0, 1, 2, ADD(1, 1)) FAIL(2, 1, 1, 4, ADD(1, 2)) INFO(5, 3, 1, 2, ADD(1, 3))
		FINAL(4, 2, 10, 11, R(1, 3)) },
	{ "set: aborted", SET, NOTHING, CHK_READ_COMMITTED, "aborted read", NULL,
	    FAIL(2, 1, 1, 4, ADD(1, 2)) FINAL(4, 2, 10, 11, R(1, 2)) },
	{ "set: garbage", SET, NOTHING, CHK_READ_COMMITTED, "garbage", NULL, FINAL(4, 2, 10, 11, R(1, 2)) },
	{ "set: duplicate", SET, NOTHING, CHK_READ_COMMITTED, "duplicate", NULL,
	    OK(2, 1, 1, 4, ADD(1, 2)) FINAL(4, 2, 10, 11, R(1, 2, 2)) },
	{ "set: session", SET, CHK_SNAPSHOT, CHK_SESSION_SNAPSHOT, "session broken", NULL,
	    OK(1, 0, 1, 2, ADD(1, 1)) OK(3, 0, 3, 4, R(1)) },
	{ "set: real time", SET, CHK_SESSION_SNAPSHOT, CHK_STRONG_SNAPSHOT, "real time broken", NULL,
	    OK(1, 0, 1, 2, ADD(1, 1)) OK(3, 1, 3, 4, R(1)) },
	{ "set: long fork", SET, CHK_READ_COMMITTED, CHK_SNAPSHOT, "long fork", NULL,
	    OK(1, 0, 1, 9, ADD(1, 1)) OK(2, 1, 1, 9, ADD(1, 2)) OK(3, 2, 1, 9, R(1, 1))
		OK(4, 3, 1, 9, R(1, 2)) },
	{ "set: own additions are no fork", SET, CHK_STRICT_SERIALIZABLE, CHK_LEVELS, "", NULL,
	    OK(1, 0, 1, 9, ADD(1, 1) "," R(1, 1)) OK(2, 1, 1, 9, ADD(1, 2) "," R(1, 2)) },
};

#define RUN(cases)                                                                                           \
	do {                                                                                                 \
		for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)                                  \
			test_case(&cases[i]);                                                                \
	} while (0)

static void
test_lists(void **state)
{
	(void)state;
	RUN(lists);
}

static void
test_registers(void **state)
{
	(void)state;
	RUN(registers);
}

static void
test_stamps(void **state)
{
	(void)state;
	RUN(stamps);
}

static void
test_simple(void **state)
{
	(void)state;
	RUN(simple);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_stamps),
		cmocka_unit_test(test_simple),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
