/*
 * status.h -- the result of a call that depends on the world outside this code.
 *
 * One row each: name, what the caller does next, a text for the user. Rows are only ever appended.
 * NAM_OK is 0. A caller's own bug is never a status: that is NAM_ASSERT. sql/ makes texts and
 * SQLSTATEs for SQL users.
 */
#ifndef NAM_BASE_STATUS_H
#define NAM_BASE_STATUS_H

#define NAM_STATUS_TABLE(X)                                                                                  \
	X(NAM_OK, DO_GO_ON, "done")                                                                          \
	X(NAM_ABSENT, DO_GO_ON, "there is no such thing")                                                    \
	X(NAM_DUPLICATE, DO_GO_ON, "it exists already")                                                      \
	X(NAM_CONFLICT, DO_RETRY, "another transaction wrote it first")                                      \
	X(NAM_BUSY, DO_RETRY, "another process holds it; try again")                                         \
	X(NAM_TORN, DO_RETRY, "a read met a write; read again")                                              \
	X(NAM_DEADLOCK, DO_RETRY, "transactions wait for each other")                                        \
	X(NAM_TIMEOUT, DO_RETRY, "it took longer than allowed")                                              \
	X(NAM_FULL, DO_SHED, "a region or a fixed table is full")                                            \
	X(NAM_NOMEM, DO_SHED, "this process has no memory left")                                             \
	X(NAM_GONE, DO_RECONNECT, "the storage node or its memory is gone")                                  \
	X(NAM_REFUSED, DO_STOP, "the other side refused the request")                                        \
	X(NAM_CORRUPT, DO_STOP, "bytes contradict their own checksum")                                       \
	X(NAM_INVALID, DO_STOP, "the request makes no sense")                                                \
	X(NAM_CANCELLED, DO_STOP, "cancelled on request")                                                    \
	X(NAM_UNSUPPORTED, DO_STOP, "not supported here")                                                    \
	X(NAM_IO, DO_STOP, "the operating system reported an error")                                         \
	X(NAM_UNSURE, DO_STOP, "it is not known whether the transaction was committed")                      \
	X(NAM_EXPIRED, DO_STOP, "the time set for it is over")                                               \
	X(NAM_STUCK, DO_STOP, "another process has stopped, holds this up, and cannot be recovered")         \
	X(NAM_UNSEEN, DO_STOP, "committed, but not known to be visible to all processes")                    \
	X(NAM_CROWDED, DO_SHED, "all message rings of a storage node are in use")                            \
	X(NAM_NO_SPACE, DO_SHED, "the disk that keeps the database is full")                                 \
	X(NAM_UNLOGGED, DO_STOP, "the disk that keeps the database has failed")                              \
	X(NAM_RESET, DO_RECONNECT, "the storage nodes reset their memory, and the database is restored")

enum nam_todo { DO_GO_ON, DO_RETRY, DO_SHED, DO_RECONNECT, DO_STOP };

#define NAM_STATUS_ENUM(name, todo, text) name,
typedef enum nam_status { NAM_STATUS_TABLE(NAM_STATUS_ENUM) NAM_STATUS_COUNT } nam_status;
#undef NAM_STATUS_ENUM

enum nam_todo nam_status_todo(nam_status st);
const char *nam_status_name(nam_status st);
const char *nam_status_text(nam_status st);

/*
 * An error for the user: one line that says what to do. Functions that take a `struct nam_err *`
 * fill it if, and only if, they do not return NAM_OK.
 */
struct nam_err {
	nam_status status;
	char text[512];
};

/* Fills *err (may be NULL) and returns st, so that `return nam_fail(...)` reads well. */
nam_status nam_fail(struct nam_err *err, nam_status st, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
