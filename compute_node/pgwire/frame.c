/* frame.c -- messages of protocol 3.0, taken apart. */
#include "frame.h"

#include <string.h>

const char *
cn_pg_get_bytes(struct cn_pg_reader *r, size_t n)
{
	if (r->bad || n > (size_t)(r->end - r->p)) {
		r->bad = true;
		return "";
	}
	const char *p = r->p;
	r->p += n;
	return p;
}

static uint64_t
big_endian(struct cn_pg_reader *r, unsigned n)
{
	const unsigned char *p = (const unsigned char *)cn_pg_get_bytes(r, n);
	uint64_t v = 0;
	for (unsigned i = 0; i < n && !r->bad; i++)
		v = v << 8 | p[i];
	return v;
}

uint8_t
cn_pg_get8(struct cn_pg_reader *r)
{
	return (uint8_t)big_endian(r, 1);
}

uint16_t
cn_pg_get16(struct cn_pg_reader *r)
{
	return (uint16_t)big_endian(r, 2);
}

uint32_t
cn_pg_get32(struct cn_pg_reader *r)
{
	return (uint32_t)big_endian(r, 4);
}

uint64_t
cn_pg_get64(struct cn_pg_reader *r)
{
	return big_endian(r, 8);
}

const char *
cn_pg_get_text(struct cn_pg_reader *r)
{
	const char *end = r->bad ? NULL : memchr(r->p, 0, (size_t)(r->end - r->p));
	if (end == NULL) {
		r->bad = true;
		return "";
	}
	const char *p = r->p;
	r->p = end + 1;
	return p;
}

bool
cn_pg_whole(const struct cn_pg_reader *r)
{
	return !r->bad && r->p == r->end;
}

int64_t
cn_pg_body(const char *p, size_t max)
{
	struct cn_pg_reader r = cn_pg_reader(p, 4);
	uint32_t n = cn_pg_get32(&r);
	return n < 4 || n - 4 > max ? -1 : (int64_t)n - 4;
}

size_t
cn_pg_body_max(char type, size_t data_max)
{
	switch (type) {
	case 'Q':
	case 'P':
	case 'B':
	case 'd':
	case 'F':
		return data_max;
	default:
		return CN_PG_SMALL_MAX < data_max ? CN_PG_SMALL_MAX : data_max;
	}
}

bool
cn_pg_take_parse(const char *body, size_t n, struct cn_pg_parse *out)
{
	struct cn_pg_reader r = cn_pg_reader(body, n);
	out->name = cn_pg_get_text(&r);
	out->text = cn_pg_get_text(&r);
	out->types = cn_pg_get16(&r);
	out->type = cn_pg_get_bytes(&r, (size_t)out->types * 4);
	return cn_pg_whole(&r);
}

static struct cn_pg_formats
formats(struct cn_pg_reader *r)
{
	struct cn_pg_formats f = { .n = cn_pg_get16(r) };
	f.code = cn_pg_get_bytes(r, (size_t)f.n * 2);
	if (r->bad)
		f.n = 0;
	return f;
}

int
cn_pg_format(const struct cn_pg_formats *f, unsigned k)
{
	if (f->n == 0)
		return 0;
	struct cn_pg_reader r = cn_pg_reader(f->code, (size_t)f->n * 2);
	cn_pg_get_bytes(&r, f->n == 1 ? 0 : (size_t)k * 2);
	uint16_t code = cn_pg_get16(&r);
	return r.bad || code > 1 ? -1 : (int)code;
}

bool
cn_pg_take_bind(const char *body, size_t n, struct cn_pg_bind *out)
{
	struct cn_pg_reader r = cn_pg_reader(body, n);
	out->portal = cn_pg_get_text(&r);
	out->name = cn_pg_get_text(&r);
	out->in = formats(&r);
	out->params = cn_pg_get16(&r);
	const char *first = r.p;
	for (unsigned i = 0; i < out->params && !r.bad; i++) {
		uint32_t len = cn_pg_get32(&r);
		if (len != UINT32_MAX)
			cn_pg_get_bytes(&r, len);
	}
	out->values = cn_pg_reader(first, r.bad ? 0 : (size_t)(r.p - first));
	out->out = formats(&r);
	return cn_pg_whole(&r);
}

bool
cn_pg_take_named(const char *body, size_t n, struct cn_pg_named *out)
{
	struct cn_pg_reader r = cn_pg_reader(body, n);
	out->what = (char)cn_pg_get8(&r);
	out->name = cn_pg_get_text(&r);
	return cn_pg_whole(&r) && (out->what == 'S' || out->what == 'P');
}

bool
cn_pg_take_execute(const char *body, size_t n, struct cn_pg_execute *out)
{
	struct cn_pg_reader r = cn_pg_reader(body, n);
	out->portal = cn_pg_get_text(&r);
	out->rows = cn_pg_get32(&r);
	if (out->rows > INT32_MAX)
		out->rows = 0; /* PostgreSQL reads a negative limit as none */
	return cn_pg_whole(&r);
}

bool
cn_pg_next_pair(struct cn_pg_reader *r, const char **name, const char **value)
{
	*name = cn_pg_get_text(r);
	if (r->bad || **name == 0)
		return false;
	*value = cn_pg_get_text(r);
	return !r->bad;
}
