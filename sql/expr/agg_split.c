/*
 * agg_split.c -- aggregates in parts: the state of one participant's rows as bytes, and added to
 * another state.
 *
 * The answer is that of one participant. So sums of floats, whose last digits depend on the order,
 * are not split, nor what depends on the order of rows: string_agg and its kin.
 */
#include <sql/expr/agg_state.h>

enum { SHORT = 0, LONG = 1 }; /* sums: as they are in memory, or their numeric */

bool
sql_agg_splits(enum sql_agg_kind k, enum cat_type arg)
{
	switch (k) {
	case SQL_SUM:
	case SQL_AVG:
	case SQL_VAR_POP:
	case SQL_VAR_SAMP:
	case SQL_STDDEV_POP:
	case SQL_STDDEV_SAMP:
		return !cat_type_is_float(arg);
	case SQL_STRING_AGG:
	case SQL_ARRAY_AGG:
	case SQL_JSON_AGG:
	case SQL_JSON_OBJECT_AGG:
		return false;
	default:
		return !sql_agg_is_pair(k);
	}
}

/* ---- how a state is kept ------------------------------------------------------------ */

enum form { TALLY, SPANS, SUM, TEXT, VALUE, BITS, SUMS };

static enum form
form_of(enum sql_agg_kind k, enum cat_type type)
{
	switch (k) {
	case SQL_COUNT_STAR:
	case SQL_COUNT:
		return TALLY;
	case SQL_SUM:
	case SQL_AVG:
		return type == CAT_INTERVAL                                     ? SPANS
		       : k == SQL_SUM && (type == CAT_INT4 || type == CAT_INT2) ? TALLY
										: SUM;
	case SQL_MIN:
	case SQL_MAX:
		return cat_type_is_str(type) ? TEXT : VALUE;
	case SQL_VAR_POP:
	case SQL_VAR_SAMP:
	case SQL_STDDEV_POP:
	case SQL_STDDEV_SAMP:
		return SUMS;
	default:
		return BITS;
	}
}

/* ---- out ------------------------------------------------------------------------------ */

static bool
put(struct sql_bytes *w, const void *p, size_t n)
{
	if (w->cap - w->n < n) {
		size_t cap = (w->n + n) * 2;
		char *room = nam_arena_take(w->arena, cap);
		if (room == NULL)
			return false;
		if (w->n > 0)
			memcpy(room, w->p, w->n);
		w->p = room;
		w->cap = cap;
	}
	if (n > 0)
		memcpy(w->p + w->n, p, n);
	w->n += n;
	return true;
}

bool
sql_bytes_put(struct sql_bytes *w, const void *p, size_t n)
{
	return put(w, p, n);
}

bool
sql_bytes_put_str(struct sql_bytes *w, struct cat_str s)
{
	return put(w, &s.len, sizeof s.len) && put(w, s.p, s.len);
}

static bool
put_sum(struct sql_bytes *w, const struct cat_num_sum *s, struct nam_arena *scratch, struct cat_err *err)
{
	uint8_t how = s->big == NULL && !s->nan && !s->plus_inf && !s->minus_inf ? SHORT : LONG;
	uint64_t n = s->n;
	struct cat_str all;
	if (how == SHORT)
		return (put(w, &how, 1) && put(w, s, sizeof *s)) || sql_oom(err);
	return cat_num_sum_get(s, &all, scratch, err) &&
	       ((put(w, &how, 1) && put(w, &n, sizeof n) && sql_bytes_put_str(w, all)) || sql_oom(err));
}

static bool
put_sums(struct sql_bytes *w, const void *state, struct nam_arena *scratch, struct cat_err *err)
{
	const struct sql_sums *s;
	memcpy(&s, state, sizeof s);
	uint8_t any = s != NULL;
	if (!put(w, &any, 1))
		return sql_oom(err);
	return s == NULL || (put_sum(w, &s->x, scratch, err) && put_sum(w, &s->xx, scratch, err));
}

static bool
put_text(struct sql_bytes *w, const struct sql_best *b)
{
	uint8_t any = b->seen != 0;
	return put(w, &any, 1) && (!any || sql_bytes_put_str(w, (struct cat_str){ b->p, b->len }));
}

bool
sql_agg_put(enum sql_agg_kind k, enum cat_type type, const void *state, struct sql_bytes *w,
    struct nam_arena *scratch, struct cat_err *err)
{
	switch (form_of(k, type)) {
	case SUM:
		return put_sum(w, state, scratch, err);
	case SUMS:
		return put_sums(w, state, scratch, err);
	case TEXT:
		return put_text(w, state) || sql_oom(err);
	case SPANS:
		return put(w, state, sizeof(struct sql_spans)) || sql_oom(err);
	default:
		return put(w, state, 16) || sql_oom(err); /* count and sum; seen and value */
	}
}

/* ---- in ------------------------------------------------------------------------------- */

bool
sql_bytes_get(struct sql_bytes_in *c, void *out, size_t n)
{
	if ((size_t)(c->end - c->at) < n)
		return false;
	memcpy(out, c->at, n);
	c->at += n;
	return true;
}

bool
sql_bytes_get_str(struct sql_bytes_in *c, struct cat_str *out)
{
	if (!sql_bytes_get(c, &out->len, sizeof out->len) || (size_t)(c->end - c->at) < out->len)
		return false;
	out->p = c->at;
	c->at += out->len;
	return true;
}

static bool
damaged(struct cat_err *err)
{
	return cat_error(err, "XX001", "a part of an aggregate's state is damaged");
}

static bool
merge_sum(struct cat_num_sum *s, struct sql_bytes_in *c, struct nam_arena *arena, struct cat_err *err)
{
	struct cat_num_sum part;
	struct cat_str all;
	uint8_t how;
	uint64_t n;
	if (!sql_bytes_get(c, &how, 1))
		return damaged(err);
	if (how == SHORT)
		return sql_bytes_get(c, &part, sizeof part) && part.big == NULL
			   ? cat_num_sum_merge(s, &part, arena, err)
			   : damaged(err);
	if (!sql_bytes_get(c, &n, sizeof n) || !sql_bytes_get_str(c, &all))
		return damaged(err);
	return cat_num_sum_add_all(s, all, n, arena, err);
}

static bool
merge_sums(void *state, struct sql_bytes_in *c, struct nam_arena *arena, struct cat_err *err)
{
	struct sql_sums *s;
	uint8_t any;
	memcpy(&s, state, sizeof s);
	if (!sql_bytes_get(c, &any, 1))
		return damaged(err);
	if (!any)
		return true;
	if (s == NULL && (s = nam_arena_zero(arena, sizeof *s)) == NULL)
		return sql_oom(err);
	memcpy(state, &s, sizeof s);
	return merge_sum(&s->x, c, arena, err) && merge_sum(&s->xx, c, arena, err);
}

static bool
merge_text(enum sql_agg_kind k, enum cat_type type, struct sql_best *b, struct sql_bytes_in *c,
    struct nam_arena *arena, struct cat_err *err)
{
	struct cat_str s;
	uint8_t any;
	if (!sql_bytes_get(c, &any, 1) || (any && !sql_bytes_get_str(c, &s)))
		return damaged(err);
	return !any || sql_better_str(type, b, s, k == SQL_MAX ? 1 : -1, arena, err);
}

static bool
merge_value(enum sql_agg_kind k, enum cat_type type, struct sql_best *b, const struct sql_best *x)
{
	if (!x->seen)
		return true;
	bool floats = cat_type_is_float(type);
	bool better = !b->seen || (k == SQL_MAX ? (floats ? sql_float_less(b->f, x->f) : x->i > b->i)
						: (floats ? sql_float_less(x->f, b->f) : x->i < b->i));
	if (better) {
		b->i = x->i;
		b->seen = 1;
	}
	return true;
}

static void
merge_bits(enum sql_agg_kind k, struct sql_bits *b, const struct sql_bits *x)
{
	if (!x->seen)
		return;
	if (!b->seen)
		b->i = x->i;
	else if (k == SQL_BOOL_AND || k == SQL_BIT_AND)
		b->i &= x->i;
	else if (k == SQL_BIT_XOR)
		b->i ^= x->i;
	else
		b->i |= x->i;
	b->seen = 1;
}

static bool
merge_tally(enum sql_agg_kind k, struct sql_tally *t, const struct sql_tally *x, struct cat_err *err)
{
	t->n += x->n;
	if (k == SQL_SUM && __builtin_add_overflow(t->i, x->i, &t->i))
		return cat_error(err, "22003", "bigint out of range");
	return true;
}

static bool
merge_spans(struct sql_spans *s, const struct sql_spans *x, struct cat_err *err)
{
	if (x->n == 0)
		return true;
	s->n += x->n;
	return cat_interval_add(s->sum, x->sum, &s->sum, err);
}

bool
sql_agg_merge(enum sql_agg_kind k, enum cat_type type, void *state, struct sql_bytes_in *c,
    struct nam_arena *arena, struct cat_err *err)
{
	union {
		struct sql_tally tally;
		struct sql_spans spans;
		struct sql_best best;
		struct sql_bits bits;
	} x = { .spans = { 0 } };
	enum form f = form_of(k, type);
	if (f == SUM)
		return merge_sum(state, c, arena, err);
	if (f == SUMS)
		return merge_sums(state, c, arena, err);
	if (f == TEXT)
		return merge_text(k, type, state, c, arena, err);
	if (!sql_bytes_get(c, &x, f == SPANS ? sizeof x.spans : 16))
		return damaged(err);
	if (f == TALLY)
		return merge_tally(k, state, &x.tally, err);
	if (f == SPANS)
		return merge_spans(state, &x.spans, err);
	if (f == VALUE)
		return merge_value(k, type, state, &x.best);
	merge_bits(k, state, &x.bits);
	return true;
}
