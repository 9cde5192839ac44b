/* stream.c -- records of any length through a relation of olap; batches as records. */
#include <base/assert.h>
#include <sql/exec/stream.h>

#include <stdlib.h>

/* For tests: a broken twin that sends each record twice. */
#ifndef SQL_STREAM_TWICE
#define SQL_STREAM_TWICE false
#endif

/* ---- out ------------------------------------------------------------------------------ */

nam_status
sql_stream_open(struct olap_job *job, struct sql_stream_out *s)
{
	*s = (struct sql_stream_out){ 0 };
	return olap_writer_open(job, SQL_STREAM_WIDTH, 0, 0, &s->wr);
}

static nam_status
tuple_out(struct sql_stream_out *s)
{
	s->tuple[0] = s->used;
	s->used = 0;
	return olap_write_to(s->wr, 0, s->tuple);
}

static nam_status
put(struct sql_stream_out *s, const void *bytes, size_t n)
{
	const char *p = bytes;
	nam_status st = NAM_OK;
	while (n > 0 && st == NAM_OK) {
		size_t m = SQL_STREAM_BYTES - s->used < n ? SQL_STREAM_BYTES - s->used : n;
		memcpy((char *)&s->tuple[1] + s->used, p, m);
		s->used += (unsigned)m;
		p += m;
		n -= m;
		if (s->used == SQL_STREAM_BYTES)
			st = tuple_out(s);
	}
	return st;
}

nam_status
sql_stream_put(struct sql_stream_out *s, const void *record, size_t n)
{
	uint32_t len = (uint32_t)n;
	if (n > UINT32_MAX)
		return NAM_NOMEM;
	s->sent += n + sizeof len;
	nam_status st = NAM_OK;
	for (unsigned k = 0; st == NAM_OK && k <= SQL_STREAM_TWICE; k++) {
		st = put(s, &len, sizeof len);
		if (st == NAM_OK)
			st = put(s, record, n);
	}
	return st;
}

nam_status
sql_stream_flush(struct sql_stream_out *s)
{
	if (s->used == 0)
		return NAM_OK;
	memset((char *)&s->tuple[1] + s->used, 0, SQL_STREAM_BYTES - s->used);
	return tuple_out(s);
}

/* ---- in ------------------------------------------------------------------------------- */

nam_status
sql_stream_begin(struct olap_job *job, const struct olap_source *from, struct sql_stream_in *s)
{
	*s = (struct sql_stream_in){ 0 };
	nam_status st = olap_rel_load(job, from, &s->rel);
	if (st == NAM_OK)
		st = olap_reader_open(job, &s->r);
	if (st == NAM_OK)
		olap_reader_begin(s->r, &s->rel, 0, s->rel.windows);
	return st;
}

void
sql_stream_end(struct sql_stream_in *s)
{
	olap_reader_close(s->r);
	olap_rel_free(&s->rel);
	free(s->record);
	*s = (struct sql_stream_in){ 0 };
}

/* s->at becomes a tuple with s->left bytes that have not been taken. */
static nam_status
more(struct sql_stream_in *s)
{
	while (s->left == 0) {
		uint64_t used;
		while (s->tuples == 0) {
			const void *t;
			nam_status st = olap_reader_next(s->r, &t, &s->tuples);
			if (st != NAM_OK)
				return st;
			s->at = t;
		}
		memcpy(&used, s->at, sizeof used);
		if (used == 0 || used > SQL_STREAM_BYTES)
			return NAM_CORRUPT;
		s->left = (uint32_t)used;
	}
	return NAM_OK;
}

static nam_status
get(struct sql_stream_in *s, void *into, size_t n)
{
	char *p = into;
	while (n > 0) {
		nam_status st = more(s);
		if (st != NAM_OK)
			return st;
		uint64_t used;
		size_t m = s->left < n ? s->left : n;
		memcpy(&used, s->at, sizeof used);
		memcpy(p, s->at + 8 + (used - s->left), m);
		s->left -= (uint32_t)m;
		p += m;
		n -= m;
		if (s->left == 0) {
			s->tuples--;
			s->at += SQL_STREAM_WIDTH;
		}
	}
	return NAM_OK;
}

nam_status
sql_stream_next(struct sql_stream_in *s, struct sql_bytes_in *out)
{
	uint32_t len;
	nam_status st = get(s, &len, sizeof len);
	if (st != NAM_OK)
		return st;
	if (len > s->room) {
		free(s->record);
		s->room = (size_t)len * 2;
		if ((s->record = malloc(s->room)) == NULL) {
			s->room = 0;
			return NAM_NOMEM;
		}
	}
	st = get(s, s->record, len);
	*out = (struct sql_bytes_in){ s->record, s->record + len };
	return st == NAM_ABSENT ? NAM_CORRUPT : st;
}

/* ---- batches --------------------------------------------------------------------------- */

/*
 * A batch:  | rows : 32 | then for each column: type : 32 | a byte for each row: is it NULL? |
 * values |. Values are 8 bytes each, or a length of 32 bits for each row and then all bytes.
 */
static bool
put_column(struct sql_bytes *w, const struct cat_vec *v, const uint16_t *sel, unsigned n)
{
	uint32_t type = (uint32_t)v->type;
	uint8_t null[CAT_BATCH];
	bool ok = sql_bytes_put(w, &type, sizeof type);
	for (unsigned k = 0; k < n; k++)
		null[k] = v->null[sel[k]] != 0;
	ok = ok && sql_bytes_put(w, null, n);
	if (!cat_type_is_str(v->type)) {
		int64_t value[CAT_BATCH];
		for (unsigned k = 0; k < n; k++)
			value[k] = v->i[sel[k]];
		return ok && sql_bytes_put(w, value, n * sizeof *value);
	}
	uint32_t len[CAT_BATCH];
	for (unsigned k = 0; k < n; k++) {
		len[k] = null[k] ? 0 : v->s[sel[k]].len;
		__builtin_prefetch(v->s[sel[k]].p);
	}
	ok = ok && sql_bytes_put(w, len, n * sizeof *len);
	for (unsigned k = 0; ok && k < n; k++)
		ok = sql_bytes_put(w, v->s[sel[k]].p, len[k]);
	return ok;
}

bool
sql_rows_put(struct sql_bytes *w, const struct cat_vec *v, const unsigned *col, unsigned cols,
    const uint16_t *sel, unsigned n)
{
	uint32_t rows = n;
	bool ok = sql_bytes_put(w, &rows, sizeof rows);
	for (unsigned c = 0; ok && c < cols; c++)
		ok = put_column(w, &v[col ? col[c] : c], sel, n);
	return ok;
}

static nam_status
get_column(struct sql_bytes_in *c, struct cat_vec *v, unsigned n, struct nam_arena *arena)
{
	uint32_t type;
	if (!sql_bytes_get(c, &type, sizeof type) || (type != CAT_UNKNOWN && !cat_type_is_known(type)))
		return NAM_CORRUPT;
	if (!cat_vec_take(v, (enum cat_type)type, n, arena))
		return NAM_NOMEM;
	if (!sql_bytes_get(c, v->null, n))
		return NAM_CORRUPT;
	if (!cat_type_is_str(v->type))
		return sql_bytes_get(c, v->i, n * sizeof *v->i) ? NAM_OK : NAM_CORRUPT;
	uint32_t len[CAT_BATCH];
	if (!sql_bytes_get(c, len, n * sizeof *len))
		return NAM_CORRUPT;
	for (unsigned k = 0; k < n; k++) {
		if ((size_t)(c->end - c->at) < len[k])
			return NAM_CORRUPT;
		v->s[k] = (struct cat_str){ c->at, len[k] };
		c->at += len[k];
	}
	return NAM_OK;
}

nam_status
sql_rows_get(struct sql_bytes_in *c, struct cat_vec *v, const unsigned *col, unsigned cols, unsigned *n,
    struct nam_arena *arena)
{
	uint32_t rows;
	nam_status st = NAM_OK;
	if (!sql_bytes_get(c, &rows, sizeof rows) || rows > CAT_BATCH)
		return NAM_CORRUPT;
	for (unsigned k = 0; st == NAM_OK && k < cols; k++)
		st = get_column(c, &v[col ? col[k] : k], rows, arena);
	*n = rows;
	return st;
}
