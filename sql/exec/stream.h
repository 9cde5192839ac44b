/*
 * stream.h -- records of any length through a relation of olap: from one who helps to the one who
 * gathers. Inside of sql.
 *
 * A tuple, 256 bytes:  | bytes used : 64 | 248 bytes of records, one after the other |
 *
 * A record:  | length : 32, without these four bytes | bytes |. It may go on in the next tuple. The
 * last tuple of each writer is filled up with zeros behind the bytes used.
 */
#ifndef NAM_SQL_STREAM_H
#define NAM_SQL_STREAM_H

#include <olap/olap.h>
#include <sql/exec/exec.h>

enum { SQL_STREAM_WIDTH = 256, SQL_STREAM_BYTES = SQL_STREAM_WIDTH - 8 };

struct sql_stream_out {
	struct olap_writer *wr;
	unsigned used;
	uint64_t sent; /* bytes */
	uint64_t tuple[SQL_STREAM_WIDTH / 8];
};
nam_status sql_stream_open(struct olap_job *job, struct sql_stream_out *s);
nam_status sql_stream_put(struct sql_stream_out *s, const void *record, size_t n);
/* The last tuple: before olap_publish. */
nam_status sql_stream_flush(struct sql_stream_out *s);

struct sql_stream_in {
	struct olap_reader *r;
	struct olap_rel rel;
	const char *at;
	uint32_t tuples, left; /* of the window at hand; bytes of the tuple at `at` */
	char *record;
	size_t room;
};
nam_status sql_stream_begin(struct olap_job *job, const struct olap_source *from, struct sql_stream_in *s);
/* The next record, valid until the next call. NAM_ABSENT: no more. */
nam_status sql_stream_next(struct sql_stream_in *s, struct sql_bytes_in *out);
void sql_stream_end(struct sql_stream_in *s);

/* Rows sel[0..n) of columns col[0..cols) of a batch as a record; and back, into vectors that point
 * into it or lie in the arena. put: false if there is no memory; get: NAM_CORRUPT if the bytes make
 * no sense. */
bool sql_rows_put(struct sql_bytes *w, const struct cat_vec *v, const unsigned *col, unsigned cols,
    const uint16_t *sel, unsigned n);
nam_status sql_rows_get(struct sql_bytes_in *c, struct cat_vec *v, const unsigned *col, unsigned cols,
    unsigned *n, struct nam_arena *arena);

#endif
