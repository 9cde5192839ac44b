/* copy_internal.h -- COPY FROM: what copy_read.c reads, and copy.c makes rows of. */
#ifndef NAM_SQL_COPY_INTERNAL_H
#define NAM_SQL_COPY_INTERNAL_H

#include <sql/dml/dml_internal.h>

/* How lines end, known once the first one has ended. */
enum sql_copy_eol { SQL_COPY_UNKNOWN, SQL_COPY_NL, SQL_COPY_CR, SQL_COPY_CRNL };

struct sql_copy_input {
	struct sql_exec *x;
	const struct ast_copy *o;
	const struct sql_sink *sink;

	/* bytes as they come */
	int fd; /* -1: STDIN */
	char *piece;
	const char *in, *end, *next, *next_end; /* next: behind keep, or NULL */
	char keep[16];                          /* a piece's end, then the next one's begin */
	uint64_t bytes, total, told, rows;
	bool eof;

	/* the line being read */
	char *rec;
	size_t len, cap;
	struct nam_budget *budget; /* that rec is charged to */
	uint64_t line;             /* its number, as PostgreSQL counts */
	bool whole;                /* rec is all of it */
	enum sql_copy_eol eol;
	uint8_t special[256]; /* which bytes end a run of plain ones: OUTSIDE, INSIDE of quotes */
};

/* One field of a line. */
struct sql_copy_field {
	struct cat_str s;
	bool null;
};

void sql_copy_begin(struct sql_copy_input *in);
void sql_copy_end(struct sql_copy_input *in);
/* The next line is in->rec, without its end. *done: an end mark or the input's end was behind it.
 * False: *x->err. */
bool sql_copy_line(struct sql_copy_input *in, bool *done);
/* Takes a line apart, into at most `most` fields; *n is how many it has. Their bytes are the
 * line's, or in the arena. False: *x->err. */
bool sql_copy_fields(struct sql_copy_input *in, struct cat_str line, struct sql_copy_field *field,
    unsigned most, unsigned *n, struct nam_arena *arena);

#endif
