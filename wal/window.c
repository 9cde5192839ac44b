/* window.c -- a segment's bytes, read ahead. */
#include "wal_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AHEAD = 1 << 20 };

void
wal_segment_name(char out[WAL_FILE_NAME + 1], uint32_t life, uint32_t segment)
{
	snprintf(out, WAL_FILE_NAME + 1, "log-%08x-%08x", life, segment);
}

bool
wal_segment_named(const char *name, uint32_t *life, uint32_t *segment)
{
	char again[WAL_FILE_NAME + 1];
	unsigned l, s;
	if (sscanf(name, "log-%8x-%8x", &l, &s) != 2)
		return false;
	wal_segment_name(again, l, s);
	if (strcmp(name, again) != 0)
		return false;
	*life = l;
	*segment = s;
	return true;
}

void
wal_window_close(struct wal_window *v)
{
	if (v->file != NULL)
		v->dir->ops->close(v->dir, v->file);
	v->file = NULL;
	free(v->buf);
	v->buf = NULL;
	v->cap = v->len = 0;
}

nam_status
wal_window_open(struct wal_window *v, uint32_t life, uint32_t segment, struct nam_err *err)
{
	if (v->file != NULL && v->life == life && v->segment == segment)
		return NAM_OK;
	if (v->file != NULL)
		v->dir->ops->close(v->dir, v->file);
	v->file = NULL;
	v->len = 0;
	v->life = life;
	v->segment = segment;
	wal_segment_name(v->name, life, segment);
	nam_status st = v->dir->ops->open(v->dir, v->name, false, &v->file, err);
	if (st != NAM_OK) {
		v->file = NULL;
		return st;
	}
	if ((st = v->dir->ops->size(v->dir, v->file, &v->size, err)) != NAM_OK) {
		v->dir->ops->close(v->dir, v->file);
		v->file = NULL;
	}
	return st;
}

nam_status
wal_window_get(struct wal_window *v, uint64_t at, uint32_t len, const char **out, struct nam_err *err)
{
	if (len > v->size || at > v->size - len) {
		*out = NULL;
		return NAM_OK;
	}
	if (at < v->at || at + len > v->at + v->len) {
		uint32_t want = len > AHEAD ? len : AHEAD, got = 0;
		if (want > v->size - at)
			want = (uint32_t)(v->size - at);
		if (v->cap < want) {
			free(v->buf);
			v->len = 0;
			v->cap = want > AHEAD ? want : AHEAD;
			if ((v->buf = malloc(v->cap)) == NULL) {
				v->cap = 0;
				return nam_fail(err, NAM_NOMEM, "no memory to read %s", v->name);
			}
		}
		v->len = 0;
		nam_status st = v->dir->ops->read(v->dir, v->file, at, v->buf, want, &got, err);
		if (st != NAM_OK)
			return st;
		v->at = at;
		v->len = got;
		if (got < len) { /* cut while it was open */
			*out = NULL;
			return NAM_OK;
		}
	}
	*out = v->buf + (at - v->at);
	return NAM_OK;
}
