/* record.h -- a database as the recorder sees it: a statement goes in, rows of text or an SQLSTATE
 * come out. */
#ifndef NAM_TESTS_RECORD_H
#define NAM_TESTS_RECORD_H

#include <stdbool.h>
#include <stddef.h>

struct answer {
	char state[6]; /* "00000": it worked */
	char message[200];
	size_t rows; /* of two columns at most; cell[2 * row + column], "" for NULL */
	char **cell;
	size_t cap;
};

struct backend {
	const char *settings;                                 /* a statement for each new session,
							       * or NULL */
	void *(*open)(const char *where, struct answer *out); /* NULL = out says why */
	void (*run)(void *conn, const char *sql, struct answer *out);
	void (*close)(void *conn);
};
extern const struct backend backend_namdb, backend_postgres;

void answer_reset(struct answer *a);
void answer_row(struct answer *a, const char *first, const char *second);
void answer_error(struct answer *a, const char *state, const char *message);
/* The connection, or the process's part in the cluster, is gone: its session has nothing more to
 * say. */
bool answer_is_over(const struct answer *a);

#endif
