/*
 * regex.h -- PostgreSQL's advanced regular expressions.
 *
 * A pattern becomes a small program; matching walks all its states at once over the text. So
 * without back references and look-around no pattern takes more than (its length) x (the text's)
 * steps to find a match, and memory is known beforehand. The leftmost match is taken, and of those
 * the longest, or the shortest if the pattern as a whole is not greedy. What groups hold is found
 * afterwards: the match is divided among the pattern's parts, earlier ones first, as PostgreSQL
 * does. Back references, or groups in groups that repeat, can take many more steps; all are
 * counted, and a cancel ends them.
 */
#ifndef NAM_SQL_REGEX_H
#define NAM_SQL_REGEX_H

#include <types/value.h>

enum { SQL_REGEX_GROUPS = 10 }; /* the whole and \1 .. \9 are kept; more may be written */

struct sql_regex {
	struct sql_regex_op *op;
	unsigned ops, groups; /* groups: with the whole match */
	struct sql_regex_set *set;
	struct sql_re_look *look; /* look-arounds */
	unsigned looks, height;   /* height: of the tree */
	struct sql_re_node *tree;
	bool fold, shorter, refers; /* refers: there are back references */
};

/* Where a group begins and ends, in bytes; -1 = it took no part. */
struct sql_regex_span {
	int32_t from, to;
};

struct sql_regex_run; /* room to match in, for one program */

/* 2201B what is wrong with it, 0A000, 53200. literal: no character means anything else. */
bool sql_regex_compile(struct sql_regex *out, struct cat_str pattern, bool fold, bool literal,
    struct nam_arena *arena, struct cat_err *err);
/* NULL = no memory. */
struct sql_regex_run *sql_regex_room(const struct sql_regex *re, struct nam_arena *arena);
/* go_on is told of the work done in bytes; when it says false, or there is no memory (*err),
 * nothing is found any more. */
void sql_regex_watch(
    struct sql_regex_run *r, bool (*go_on)(void *arg, uint64_t work), void *arg, struct cat_err *err);
bool sql_regex_stopped(const struct sql_regex_run *r);
/* True if there is a match that begins at byte `from` or later. span (SQL_REGEX_GROUPS of them)
 * may be NULL. */
bool sql_regex_find(struct sql_regex_run *r, const struct sql_regex *re, struct cat_str text, uint32_t from,
    struct sql_regex_span *span);
/*
 * True if all of the text is a match of the first program, one of the second, and one of the
 * third. Their groups do not count. *middle: the second's match, where the first one's is as short
 * as can be, and then the second one's as long as can be. run[0] is watched. In one pass.
 */
bool sql_regex_three(struct sql_regex_run *const run[3], const struct sql_regex re[3], struct cat_str text,
    struct sql_regex_span *middle);

#endif
