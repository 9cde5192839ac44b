/*
 * changes.h -- a model of tables that are made, changed and dropped while sessions use them, and of
 * the answers that are right.
 *
 * Each table that is made under a name carries a tag, a number of its own, in all its rows: an
 * answer that mixes two tables shows two tags. Each column that is added is called c<K> and shows K
 * in each row. So an answer shows which definition it ran under. It must show the changes that had
 * been answered before its snapshot, and may show those that had been begun before its end. A
 * change is answered when every process sees it.
 */
#ifndef NAM_TESTS_SIMSQL_CHANGES_H
#define NAM_TESTS_SIMSQL_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NAMES = 4, TAGS_MAX = 1024, MARKS_MAX = 4096, ROWS_MAX = 8192, MODEL_TEXT = 400 };

/* Something that comes and goes. Moments count what happens in the run; 0 = never. */
struct life {
	uint64_t begun, there; /* it was asked for; that was answered */
	unsigned going;        /* how many sessions have asked to drop it without an answer yet, or
			        * ever */
	uint64_t gone;         /* that was answered */
	bool never;            /* it came to nothing */
};

struct tag {
	struct life life;
	unsigned name;
	uint32_t counted, counting; /* additions to its row 0: answered; asked for and not
				     * refused */
};
struct mark { /* a column */
	struct life life;
	unsigned tag;
};
struct planted { /* a row */
	struct life life;
	unsigned tag; /* 0 = as yet unknown */
};

struct model {
	uint64_t now;
	unsigned tags, marks, rows; /* number of the last one; they begin with 1 */
	struct tag tag[TAGS_MAX];
	struct mark mark[MARKS_MAX];
	struct planted row[ROWS_MAX];
	uint64_t answers, shown; /* judged; rows in them */
	char wrong[MODEL_TEXT];  /* the first thing that was wrong; "" = nothing */
};

/* Before a snapshot: what must be in it. */
struct since {
	uint64_t at;
	uint32_t counted[TAGS_MAX];
};
void model_since(const struct model *m, struct since *s);

/*
 * Judges `SELECT * FROM` a name, as text with the names of its columns before its rows; NULL: there
 * is no such table. until: what it could see had to be begun by then. Answers its tag, 0 = none.
 */
unsigned model_judge(struct model *m, unsigned name, const struct since *since, const char *answer);

/* How an attempt ended. */
enum outcome { DONE, REFUSED, UNKNOWN };
void life_came(struct model *m, struct life *l, enum outcome how);
void life_went(struct model *m, struct life *l, enum outcome how);

#endif
