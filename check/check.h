/*
 * check.h -- a judge of recorded histories: are the clients' reads possible at an isolation level?
 *
 *	struct chk_options opt = { .level = CHK_SNAPSHOT, .witnesses = 8 };
 *	struct chk *c = chk_open();
 *	enum chk_verdict v = chk_judge(c, "run.jsonl", bytes, len, &opt);
 *	chk_print(c, stdout);
 *	chk_close(c);
 *
 * It sees transactions, their requests and the answers, and nothing of the database. README.md has
 * the format of a history and the list of anomalies. One thread per struct chk.
 */
#ifndef NAM_CHECK_CHECK_H
#define NAM_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* From weak to strong in each of two rows: snapshot isolation, and serializability. */
enum chk_level {
	CHK_READ_COMMITTED,
	CHK_SNAPSHOT,
	CHK_SESSION_SNAPSHOT,
	CHK_STRONG_SNAPSHOT,
	CHK_SERIALIZABLE,
	CHK_SESSION_SERIALIZABLE,
	CHK_STRICT_SERIALIZABLE,
	CHK_LEVELS,
	CHK_UNSAID = CHK_LEVELS, /* the level in the history's first line, else CHK_SNAPSHOT */
};

enum chk_verdict { CHK_CLEAN, CHK_ANOMALY, CHK_BAD_INPUT };

struct chk_options {
	enum chk_level level;
	unsigned witnesses; /* how many findings are printed in full; 0 = 8 */
	bool partial;       /* a history without its last line is judged as far as it goes */
};

struct chk;
/* NULL = no memory. */
struct chk *chk_open(void);
void chk_close(struct chk *c);
/* Borrows bytes until chk_close; name is for messages. Once per struct chk. */
enum chk_verdict chk_judge(
    struct chk *c, const char *name, const char *bytes, size_t len, const struct chk_options *opt);

/* Prints the findings, for people or as one JSON object. Of bad input: the line and its fault. */
void chk_print(const struct chk *c, FILE *out);
void chk_print_json(const struct chk *c, FILE *out);

/* True if the history holds at this level. After chk_judge. False for bad input. */
bool chk_holds(const struct chk *c, enum chk_level level);
/* Names of the findings that break the level asked for, from 0; NULL behind the last. "lost
 * update", "G1c", ... */
const char *chk_finding(const struct chk *c, unsigned i);
/* Of bad input: the fault and its place; else "". */
const char *chk_error(const struct chk *c);

const char *chk_level_name(enum chk_level level);
bool chk_level_parse(const char *name, enum chk_level *out);

#endif
