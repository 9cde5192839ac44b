/* regex_internal.h -- what the files regex*.c share: a pattern as atoms, its tree, its program,
 * and the room in which that runs. */
#ifndef NAM_SQL_REGEX_INTERNAL_H
#define NAM_SQL_REGEX_INTERNAL_H

#include <sql/expr/func/regex.h>
#include <sql/expr/functions.h>

enum { SQL_RE_OPS = 20000, SQL_RE_DEPTH = 100, SQL_RE_LOOKS = 100, SQL_RE_LEVELS = 600, SQL_RE_INF = -1 };

enum sql_re_op { OP_CHAR, OP_ANY, OP_SET, OP_SPLIT, OP_JUMP, OP_LOOK, OP_AT, OP_MATCH };
enum sql_re_at { AT_BEGIN, AT_END, AT_WORD_BEGIN, AT_WORD_END, AT_WORD_EDGE, AT_NO_EDGE };

struct sql_regex_op {
	uint32_t op;
	int32_t x, y; /* SPLIT: where to, x first. JUMP: x. CHAR: x. SET, LOOK, AT: x */
};

struct sql_re_range {
	uint32_t lo, hi;
};

struct sql_regex_set {
	uint8_t low[16]; /* characters below 128 */
	bool negate, fold;
	uint16_t in, out; /* classes: bit per enum sql_char_class */
	unsigned ranges;
	struct sql_re_range *range;
};
bool sql_re_set_test(const struct sql_regex_set *s, uint32_t c);

/* ---- a pattern, as it is written --------------------------------------------------------- */

enum sql_re_kind { RE_CHAR, RE_ANY, RE_SET, RE_AT, RE_LOOK, RE_GROUP, RE_BACK };
struct sql_re_alt;
struct sql_re_atom {
	enum sql_re_kind kind;
	int32_t x;                /* CHAR, SET, AT; LOOK: its number; BACK: the group's */
	struct sql_re_alt *inner; /* GROUP; LOOK; BACK: what that group has */
	unsigned group;           /* GROUP: its number; 0: it keeps nothing */
};
/* An atom with its quantifier. */
struct sql_re_piece {
	struct sql_re_atom atom;
	int least, most; /* SQL_RE_INF: any number */
	uint8_t prefer;  /* of the quantifier: SQL_RE_LONGER, SQL_RE_SHORTER, or 0 */
	struct sql_re_piece *next;
};
struct sql_re_branch {
	struct sql_re_piece *first;
	struct sql_re_branch *next;
};
struct sql_re_alt {
	struct sql_re_branch *first;
};

struct sql_re_look {
	struct sql_re_alt *inner;
	bool ahead, negate;
	int64_t width; /* the most characters that it reads; -1: any number */
	uint32_t from, to;
};

/* ---- its tree, as PostgreSQL divides it -------------------------------------------------- */

enum {
	SQL_RE_LONGER = 1,
	SQL_RE_SHORTER = 2,
	SQL_RE_MIXED = 4, /* both preferences below */
	SQL_RE_CAP = 8,   /* a group here or below */
	SQL_RE_BACKR = 16 /* a back reference here or below */
};
enum sql_re_node_kind {
	NODE_PLAIN,  /* read by the automaton alone: pieces [first, end), or one atom repeated */
	NODE_CONCAT, /* child, and behind it its sibling */
	NODE_ALT,    /* one of the children */
	NODE_REPEAT, /* the child, least to most times */
	NODE_BACK,   /* group number `group` of the text, least to most times */
	NODE_GROUP   /* the child; it keeps a second group */
};
struct sql_re_node {
	enum sql_re_node_kind kind;
	uint8_t flags;
	unsigned group; /* what it keeps; 0 = nothing. BACK: what it reads */
	const struct sql_re_piece *first, *end;
	const struct sql_re_atom *atom; /* PLAIN: repeated; BACK */
	int least, most;
	struct sql_re_node *child, *sibling;
	uint32_t from, to; /* its operations: it has matched when `to` is reached */
};

/* What is made while a pattern is compiled. */
struct sql_re_compile {
	struct sql_regex *re;
	struct nam_arena *arena;
	struct cat_err *err;
	const char *p, *end;
	unsigned op_cap, sets, set_cap, depth, inside; /* inside: of look-arounds */
	struct sql_re_alt *closed[SQL_REGEX_GROUPS];   /* what groups have that a \1 may name */
	unsigned pieces;
	unsigned levels, loose; /* loose: of back references */
};
bool sql_re_bad(struct sql_re_compile *c, const char *why);
void *sql_re_take(struct sql_re_compile *c, size_t size);
/* regex_parse.c */
bool sql_re_parse(struct sql_re_compile *c, bool literal, struct sql_re_alt **out);
/* regex_tree.c: the tree and the program. */
bool sql_re_build(struct sql_re_compile *c, const struct sql_re_alt *whole);

/* ---- running ------------------------------------------------------------------------------ */

/* Threads in order of preference: operations that wait for a character, and what they hold. */
struct sql_re_threads {
	uint32_t *pc;
	int32_t *cap;
	unsigned n;
};

struct sql_re_level {
	void *p;
	size_t bytes;
};

struct sql_regex_run {
	struct sql_re_threads now, next;
	uint32_t *seen; /* per operation: the round that has met it */
	uint32_t round;
	int32_t *todo;
	int32_t cap[2], best[2];
	uint64_t steps; /* of threads, since go_on was last asked */
	bool stopped, out_of_memory;
	bool (*go_on)(void *arg, uint64_t work); /* or NULL */
	void *arg;
	struct cat_err *err;
	struct nam_arena *arena;
	bool has_place; /* of a look-behind: its threads are those of that place */
	uint32_t place;
	struct sql_regex_run **look; /* room of the look-arounds; made when they are met */
	struct sql_re_level *level;  /* of the tree that is divided: where the left part may end */
};
enum { SQL_RE_HELD = 2 };
/* 53200, once. */
void sql_re_no_memory(struct sql_regex_run *r);
/* Every so many steps go_on is asked. False: the run is stopped. */
bool sql_re_still(struct sql_regex_run *r);
/*
 * Operations [from, to) read the text from byte `at` on: the last place, or the first one, not
 * before `least` and not behind `stop`, at which they have matched. -1: there is none, or the run
 * was stopped. ends: NULL, or a bit for each such place from `at` on.
 */
int32_t sql_re_reach(struct sql_regex_run *r, const struct sql_regex *re, const struct sql_re_node *n,
    struct cat_str t, uint32_t at, uint32_t least, uint32_t stop, bool last, uint8_t *ends);
/* regex_dissect.c: divides [from, to) among the parts of the tree. False: that is no match. */
bool sql_re_dissect(struct sql_regex_run *r, const struct sql_regex *re, struct cat_str t, uint32_t from,
    uint32_t to, struct sql_regex_span *span);

#endif
