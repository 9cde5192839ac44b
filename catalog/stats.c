/* stats.c -- statistics of a column to text and back: "null width distinct mcvs bounds", then "
 * freq length:value" for each common value and " length:value" for each bound. */
#include <base/arena.h>
#include <catalog/stats.h>

#include <stdio.h>
#include <stdlib.h>

bool
cat_stats_may_cut(enum cat_type type)
{
	return type == CAT_TEXT || type == CAT_BYTEA;
}

struct out {
	char *p;
	size_t n, cap;
	struct nam_arena *arena;
};

static bool
put(struct out *o, const char *s, size_t n)
{
	if (o->n + n + 1 > o->cap) {
		size_t cap = (o->n + n + 1) * 2;
		char *more = nam_arena_take(o->arena, cap);
		if (more == NULL)
			return false;
		if (o->n > 0)
			memcpy(more, o->p, o->n);
		o->p = more;
		o->cap = cap;
	}
	memcpy(o->p + o->n, s, n);
	o->n += n;
	o->p[o->n] = 0;
	return true;
}

static bool
put_value(struct out *o, enum cat_type type, union cat_val v)
{
	char head[16];
	struct cat_str s = cat_value_out(cat_type_plain(type), v, o->arena);
	if (s.p == NULL)
		return false;
	int n = snprintf(head, sizeof head, " %u:", s.len);
	return put(o, head, (size_t)n) && put(o, s.p, s.len);
}

char *
cat_stats_write(const struct cat_stats *s, enum cat_type type, struct nam_arena *arena)
{
	struct out o = { .arena = arena };
	char head[120];
	int n = snprintf(head, sizeof head, "%.9g %.9g %.9g %u %u", s->null_frac, s->width, s->distinct,
	    s->mcvs, s->bounds);
	bool ok = put(&o, head, (size_t)n);
	for (unsigned i = 0; ok && i < s->mcvs; i++) {
		n = snprintf(head, sizeof head, " %.9g", s->freq[i]);
		ok = put(&o, head, (size_t)n) && put_value(&o, type, s->mcv[i]);
	}
	for (unsigned i = 0; ok && i < s->bounds; i++)
		ok = put_value(&o, type, s->bound[i]);
	return ok ? o.p : NULL;
}

static bool
number(const char **at, double *out)
{
	char *end;
	*out = strtod(*at, &end);
	if (end == *at || *out != *out)
		return false;
	*at = end;
	return true;
}

static bool
share(const char **at, double *out)
{
	return number(at, out) && *out >= 0 && *out <= 1;
}

static bool
count(const char **at, unsigned max, unsigned *out)
{
	double d;
	if (!number(at, &d) || d < 0 || d > max)
		return false;
	*out = (unsigned)d;
	return true;
}

static bool
value(const char **at, const char *end, enum cat_type type, union cat_val *out, struct nam_arena *arena)
{
	unsigned len;
	struct cat_err err;
	/* in text a value of CAT_STATS_BYTES bytes may be longer: bytea, numeric */
	if (**at != ' ' || !count(at, 64 * CAT_STATS_BYTES, &len) || **at != ':' ||
	    len > (size_t)(end - *at - 1))
		return false;
	struct cat_str s = { *at + 1, len };
	*at += 1 + len;
	return cat_value_in(cat_type_plain(type), -1, s, out, arena, &err);
}

struct cat_stats *
cat_stats_read(const char *text, enum cat_type type, struct nam_arena *arena)
{
	const char *at = text, *end = text + strlen(text);
	struct cat_stats *s = nam_arena_zero(arena, sizeof *s);
	if (s == NULL || !share(&at, &s->null_frac) || !number(&at, &s->width) || s->width < 0 ||
	    !number(&at, &s->distinct) || s->distinct < -1 || !count(&at, CAT_STATS_MCVS, &s->mcvs) ||
	    !count(&at, CAT_STATS_BOUNDS, &s->bounds))
		return NULL;
	s->mcv = nam_arena_take(arena, (s->mcvs + s->bounds + 1) * sizeof *s->mcv);
	s->freq = nam_arena_take(arena, (s->mcvs + 1) * sizeof *s->freq);
	if (s->mcv == NULL || s->freq == NULL)
		return NULL;
	s->bound = s->mcv + s->mcvs;
	for (unsigned i = 0; i < s->mcvs; i++)
		if (!share(&at, &s->freq[i]) || !value(&at, end, type, &s->mcv[i], arena))
			return NULL;
	for (unsigned i = 0; i < s->bounds; i++)
		if (!value(&at, end, type, &s->bound[i], arena) ||
		    (i > 0 && cat_value_cmp(type, s->bound[i - 1], s->bound[i]) > 0))
			return NULL;
	return *at == 0 ? s : NULL;
}
