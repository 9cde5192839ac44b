/*
 * window.c -- window functions: all rows kept, sorted once per way to order them, each call's
 * answers beside.
 *
 * Positions are places in the sorted order; parts and groups of peers are runs
 * of positions. Both ends of a frame only ever move forward within a part, so
 * counts and exact sums take rows in and out, min and max keep a queue, and only
 * sums of doubles (which do not return to an earlier value exactly) start again from 0.
 */
#include <sql/exec/rowset.h>
#include <sql/exec/state.h>
#include <sql/plan/window.h>
#include <types/datetime.h>
#include <types/interval.h>
#include <types/numeric.h>

#include <math.h>

struct run {
	struct sql_exec *x;
	struct sql_node *n;
	const struct sql_window *w;
	const struct sql_run_bounds *by; /* of the call at hand */
	struct sql_rowset *rs;
	uint32_t rows;
	uint32_t *perm;        /* row at a position */
	uint32_t *group;       /* number of a position's peers */
	uint32_t *first;       /* first position of a group of peers; groups + 1 of them */
	uint32_t *lo, *hi;     /* frames: positions lo .. hi-1 */
	struct cat_vec arg[3]; /* of the call at hand, by position */
	struct cat_vec *out;   /* its results, by row */
	uint64_t work;
};

/* A part: positions from .. to-1. */
struct part {
	uint32_t from, to;
};

static struct nam_arena *
keep_arena(const struct run *r)
{
	return r->x->arena[r->n->arena + 1];
}

static struct nam_arena *
call_arena(const struct run *r)
{
	return r->x->arena[r->n->arena + 2];
}

static void
put_int(struct run *r, uint32_t pos, int64_t v)
{
	r->out->null[r->perm[pos]] = 0;
	r->out->i[r->perm[pos]] = v;
}

static void
put_float(struct run *r, uint32_t pos, double v)
{
	r->out->null[r->perm[pos]] = 0;
	r->out->f[r->perm[pos]] = v;
}

static void
put_null(struct run *r, uint32_t pos)
{
	cat_vec_set(r->out, r->perm[pos], (union cat_val){ .s = { "", 0 } }, true);
}

/* The result at pos is argument a of position at. */
static void
put_arg(struct run *r, uint32_t pos, unsigned a, uint32_t at)
{
	if (r->arg[a].null[at])
		put_null(r, pos);
	else
		cat_vec_set(r->out, r->perm[pos], cat_vec_at(&r->arg[a], at), false);
}

static bool
go_on(struct run *r, uint64_t work)
{
	r->work += work;
	if (r->work < 100000)
		return true;
	r->work = 0;
	return sql_go_on(r->x);
}

/* ---- frames ------------------------------------------------------------------------ */

/* Of a time of day only hours and less count. */
static bool
negative(struct cat_interval v, enum cat_type key)
{
	return key == CAT_TIME ? v.us < 0 : cat_interval_span(v) < 0;
}

static bool
bound_value(struct run *r, const struct sql_win_bound *b, struct cat_datum *by, const char *which,
    enum ast_frame mode, enum cat_type key)
{
	if (b->offset == NULL)
		return true;
	r->x->env.arena = keep_arena(r);
	if (!sql_eval_one(b->offset, &r->x->env, by))
		return false;
	if (by->null)
		return cat_error(r->x->err, "22004", "frame %s offset must not be null", which);
	bool bad = b->offset->type == CAT_INTERVAL  ? negative(cat_interval_load(by->v.s), key)
		   : b->offset->type == CAT_FLOAT8  ? !(by->v.f >= 0)
		   : b->offset->type == CAT_NUMERIC ? cat_num_sign(by->v.s) < 0 || cat_num_is_nan(by->v.s)
						    : by->v.i < 0;
	if (!bad)
		return true;
	if (mode == AST_FRAME_RANGE)
		return cat_error(
		    r->x->err, "22013", "invalid preceding or following size in window function");
	return cat_error(r->x->err, "22013", "frame %s offset must not be negative", which);
}

static int
sign(__int128 v)
{
	return v < 0 ? -1 : v > 0;
}

/* lies() of dates, times and intervals. */
static bool
lies_in_time(struct run *r, enum cat_type type, union cat_val x, union cat_val base, struct cat_interval by,
    bool add, int *out)
{
	struct cat_interval sum;
	int64_t xt = x.i, bt = base.i, to;
	if (type == CAT_TIME) {
		__int128 end = (__int128)bt + (add ? (__int128)by.us : -(__int128)by.us);
		*out = sign(xt - end);
		return true;
	}
	if (!add && !cat_interval_negate(by, &by, r->x->err))
		return false;
	if (type == CAT_INTERVAL) {
		if (!cat_interval_add(cat_interval_load(base.s), by, &sum, r->x->err))
			return false;
		*out = sign(cat_interval_span(cat_interval_load(x.s)) - cat_interval_span(sum));
		return true;
	}
	if (type == CAT_DATE &&
	    (!cat_date_to_timestamp(xt, &xt, r->x->err) || !cat_date_to_timestamp(bt, &bt, r->x->err)))
		return false;
	if (!cat_timestamp_add(bt, by, &to, r->x->err))
		return false;
	*out = sign((__int128)xt - to);
	return true;
}

/* -1, 0, 1: how x lies to base + by (add), or base - by. Of numbers that are not NULL. */
static bool
lies(struct run *r, enum cat_type type, union cat_val x, union cat_val base, union cat_val by, bool add,
    int *out)
{
	if (type == CAT_DATE || type == CAT_TIMESTAMP || type == CAT_TIMESTAMPTZ || type == CAT_TIME ||
	    type == CAT_INTERVAL) {
		return lies_in_time(r, type, x, base, cat_interval_load(by.s), add, out);
	}
	if (type == CAT_NUMERIC) {
		struct cat_str sum = { 0 };
		struct nam_arena *a = r->x->arena[r->n->arena];
		nam_arena_reset(a);
		if (!(add ? cat_num_add : cat_num_sub)(base.s, by.s, &sum, a, r->x->err))
			return false;
		/* NaN is near NaN alone; an infinity less itself: every number is near enough */
		bool all = cat_num_is_nan(sum) && !cat_num_is_nan(base.s) && !cat_num_is_nan(x.s);
		*out = all ? 0 : cat_num_cmp(x.s, cat_num_is_nan(base.s) ? base.s : sum);
		if (!all && cat_num_is_nan(sum) && !cat_num_is_nan(base.s))
			*out = 1;
	} else if (cat_type_is_float(type)) {
		union cat_val sum = { .f = add ? base.f + by.f : base.f - by.f };
		if (isnan(sum.f) && !isnan(base.f)) /* an infinity less itself: everything is near
						     * enough */
			*out = isnan(x.f) ? 1 : 0;
		else
			*out = cat_value_cmp(CAT_FLOAT8, x, sum);
	} else {
		__int128 sum = (__int128)base.i + (add ? (__int128)by.i : -(__int128)by.i);
		*out = x.i < sum ? -1 : x.i > sum;
	}
	return true;
}

/* RANGE with an offset: from where on (start), or up to where (end), rows are near enough. */
static bool
range_bound(struct run *r, struct part p, const struct sql_win_bound *b, const struct sql_sort_key *key,
    bool start, uint32_t *out)
{
	struct cat_vec v;
	enum cat_type type = r->w->type[key->col];
	if (!sql_rowset_gather(r->rs, key->col, r->perm + p.from, p.to - p.from, &v, call_arena(r)))
		return sql_no_memory(r->x->err);
	bool add = (b->kind == AST_BOUND_FOLLOWING) != key->desc;
	uint32_t at = p.from;
	for (uint32_t pos = p.from; pos < p.to; pos++) {
		unsigned c = pos - p.from;
		for (; at < p.to; at++) {
			unsigned h = at - p.from;
			if (v.null[h] || v.null[c]) {
				/* NULLs are near each other only; they lie before or behind all */
				bool before = v.null[h] != v.null[c] &&
					      (v.null[h] ? key->nulls_first : !key->nulls_first);
				bool same = v.null[h] && v.null[c];
				if (start ? !before : !before && !same)
					break;
				continue;
			}
			int c3;
			if (!lies(r, type, cat_vec_at(&v, h), cat_vec_at(&v, c),
				(start ? r->by->start : r->by->end).v, add, &c3))
				return false;
			if (key->desc)
				c3 = -c3;
			if (start ? c3 >= 0 : c3 > 0)
				break;
		}
		out[pos] = at;
		if (!go_on(r, 1))
			return false;
	}
	return true;
}

static uint32_t
clamp(struct part p, int64_t v)
{
	return v < (int64_t)p.from ? p.from : v > (int64_t)p.to ? p.to : (uint32_t)v;
}

/* Steps of whole rows or groups; a greater distance than there are rows changes nothing. */
static int64_t
steps(const struct sql_win_bound *b, const struct cat_datum *d)
{
	int64_t by = d->v.i > UINT32_MAX ? UINT32_MAX : d->v.i;
	return b->kind == AST_BOUND_PRECEDING ? -by : by;
}

static bool
bound(struct run *r, struct part p, const struct sql_win_fn *f, bool start, uint32_t *out)
{
	const struct sql_win_bound *b = start ? &f->start : &f->end;
	const struct sql_win_spec *s = &r->w->spec[f->spec];
	if (f->mode == AST_FRAME_RANGE && b->offset != NULL)
		return range_bound(r, p, b, &s->key[s->parts], start, out);
	uint32_t g0 = r->group[p.from], g1 = r->group[p.to - 1];
	int64_t by = b->offset ? steps(b, start ? &r->by->start : &r->by->end) : 0;
	for (uint32_t pos = p.from; pos < p.to; pos++) {
		if (b->kind == AST_BOUND_FIRST) {
			out[pos] = p.from;
		} else if (b->kind == AST_BOUND_LAST) {
			out[pos] = p.to;
		} else if (f->mode == AST_FRAME_ROWS) {
			out[pos] = clamp(p, (int64_t)pos + by + !start);
		} else {
			int64_t g = (int64_t)r->group[pos] + by + !start;
			out[pos] = g < (int64_t)g0 ? p.from : g > (int64_t)g1 ? p.to : r->first[g];
		}
	}
	return true;
}

static bool
frames(struct run *r, struct part p, const struct sql_win_fn *f)
{
	if (!bound(r, p, f, true, r->lo) || !bound(r, p, f, false, r->hi))
		return false;
	for (uint32_t pos = p.from; pos < p.to; pos++)
		if (r->lo[pos] > r->hi[pos])
			r->lo[pos] = r->hi[pos];
	return go_on(r, p.to - p.from);
}

/* What EXCLUDE leaves of a frame: up to three runs of positions. */
static unsigned
left(const struct run *r, const struct sql_win_fn *f, uint32_t pos, struct part out[3])
{
	struct part frame = { r->lo[pos], r->hi[pos] }, gone = { pos, pos + 1 };
	unsigned n = 0;
	if (f->exclude == AST_EXCLUDE_NONE) {
		out[n++] = frame;
		return n;
	}
	if (f->exclude != AST_EXCLUDE_CURRENT)
		gone = (struct part){ r->first[r->group[pos]], r->first[r->group[pos] + 1] };
	if (frame.from < gone.from)
		out[n++] = (struct part){ frame.from, frame.to < gone.from ? frame.to : gone.from };
	if (f->exclude == AST_EXCLUDE_TIES && frame.from <= pos && pos < frame.to)
		out[n++] = (struct part){ pos, pos + 1 };
	if (gone.to < frame.to)
		out[n++] = (struct part){ frame.from > gone.to ? frame.from : gone.to, frame.to };
	return n;
}

/* ---- aggregates -------------------------------------------------------------------- */

static bool
put(struct run *r, uint32_t pos, const struct cat_datum *d)
{
	cat_vec_set(r->out, r->perm[pos], d->v, d->null);
	return true;
}

/* True if sums of these can be kept as whole numbers of one scale without an overflow. */
static bool
exact(const struct run *r, struct part p, enum cat_type type, unsigned *scale)
{
	*scale = 0;
	if (cat_type_is_int(type))
		return true;
	if (type != CAT_NUMERIC)
		return false;
	bool any = false;
	for (uint32_t pos = p.from; pos < p.to; pos++) {
		if (r->arg[0].null[pos])
			continue;
		struct cat_str s = r->arg[0].s[pos];
		if (cat_num_is_nan(s) || cat_num_is_inf(s) || (any && cat_num_scale(s) != *scale))
			return false;
		__int128 v;
		*scale = cat_num_scale(s);
		any = true;
		if (!cat_num_to_int128(s, *scale, &v) || v > (__int128)1 << 94 || v < -((__int128)1 << 94))
			return false;
	}
	return true;
}

static bool
sums(struct run *r, struct part p, const struct sql_win_fn *f, unsigned scale)
{
	const struct cat_vec *v = &r->arg[0];
	bool num = f->arg_type == CAT_NUMERIC, star = f->agg == SQL_COUNT_STAR;
	bool count = star || f->agg == SQL_COUNT;
	__int128 sum = 0, one = 0;
	int64_t n = 0;
	uint32_t lo = p.from, hi = lo;
	struct cat_datum d = { 0 };
	for (uint32_t pos = p.from; pos < p.to; pos++) {
		bool moved = pos == p.from || lo != r->lo[pos] || hi != r->hi[pos];
		for (int out = 0; out < 2; out++) {
			uint32_t *at = out ? &lo : &hi, to = out ? r->lo[pos] : r->hi[pos];
			for (; *at < to; (*at)++) {
				if (!star && v->null[*at])
					continue;
				if (!count && num)
					cat_num_to_int128(v->s[*at], scale, &one);
				else if (!count)
					one = v->i[*at];
				sum += out ? -one : one;
				n += out ? -1 : 1;
			}
		}
		if (count) {
			put_int(r, pos, n);
			continue;
		}
		if (f->type == CAT_INT8) { /* of integers up to 4 bytes */
			if (sum > INT64_MAX || sum < INT64_MIN)
				return cat_error(r->x->err, "22003", "bigint out of range");
			d = (struct cat_datum){ .type = CAT_INT8, .null = n == 0, .v.i = (int64_t)sum };
		} else if (moved) {
			struct cat_num_sum s = { .lo = (uint64_t)sum,
				.hi = (uint64_t)((unsigned __int128)sum >> 64),
				.n = (uint64_t)n,
				.scale = scale };
			if (!sql_agg_result(f->agg, f->arg_type, &s, &d, keep_arena(r), r->x->err))
				return false;
		}
		put(r, pos, &d);
	}
	return go_on(r, p.to - p.from);
}

static bool
extremes(struct run *r, struct part p, const struct sql_win_fn *f, uint32_t *queue)
{
	const struct cat_vec *v = &r->arg[0];
	int sign = f->agg == SQL_MAX ? 1 : -1;
	uint32_t head = 0, tail = 0, hi = p.from; /* queue[head .. tail): each better than all
						   * behind it */
	for (uint32_t pos = p.from; pos < p.to; pos++) {
		for (; hi < r->hi[pos]; hi++) {
			if (v->null[hi])
				continue;
			union cat_val one = cat_vec_at(v, hi);
			while (tail > head &&
			       sign * cat_value_cmp(v->type, one, cat_vec_at(v, queue[tail - 1])) >= 0)
				tail--;
			queue[tail++] = hi;
		}
		while (head < tail && queue[head] < r->lo[pos])
			head++;
		if (head < tail)
			put_arg(r, pos, 0, queue[head]);
		else
			put_null(r, pos);
	}
	return go_on(r, p.to - p.from);
}

static bool
add_all(struct run *r, const struct sql_win_fn *f, uint32_t from, uint32_t to, void *state)
{
	struct cat_vec v = r->arg[0];
	if (from == to)
		return true;
	if (f->agg == SQL_STRING_AGG) {
		struct cat_vec sep = r->arg[1];
		for (; from < to; from++) {
			struct cat_vec one = { .type = CAT_TEXT, .null = v.null + from, .s = v.s + from };
			struct cat_vec by = { .type = CAT_TEXT, .null = sep.null + from, .s = sep.s + from };
			if (!sql_agg_add_text(
				&one, &by, sql_ident(), 1, &state, r->x->arena[r->n->arena], r->x->err) ||
			    !go_on(r, 1))
				return false;
		}
		return true;
	}
	if (f->args > 0) {
		v.null += from;
		if (cat_type_is_float(v.type))
			v.f += from;
		else if (cat_type_is_str(v.type))
			v.s += from;
		else
			v.i += from;
	}
	return sql_agg_add_all(f->agg, f->arg_type, f->args ? &v : NULL, NULL, to - from, state,
		   r->x->arena[r->n->arena], r->x->err) &&
	       go_on(r, to - from);
}

/* Rows that pass the FILTER. */
static bool
add_rows(struct run *r, const struct sql_win_fn *f, uint32_t from, uint32_t to, void *state)
{
	const struct cat_vec *passes = &r->arg[f->args];
	if (!f->filtered)
		return add_all(r, f, from, to, state);
	while (from < to) {
		uint32_t end = from;
		while (end < to && !passes->null[end] && passes->i[end])
			end++;
		if (!add_all(r, f, from, end, state))
			return false;
		from = end < to ? end + 1 : to;
	}
	return go_on(r, 1);
}

/* Rows come in as they come; when one leaves, all is added up again. */
static bool
again(struct run *r, struct part p, const struct sql_win_fn *f)
{
	uint64_t state[SQL_AGG_BYTES / 8] = { 0 };
	struct nam_arena *scratch = r->x->arena[r->n->arena];
	uint32_t lo = p.from, hi = lo;
	struct cat_datum d = { 0 };
	nam_arena_reset(scratch);
	for (uint32_t pos = p.from; pos < p.to; pos++) {
		bool moved = pos == p.from || lo != r->lo[pos] || hi != r->hi[pos];
		if (lo != r->lo[pos]) {
			memset(state, 0, sizeof state);
			nam_arena_reset(scratch);
			hi = r->lo[pos];
		}
		if (!add_rows(r, f, hi, r->hi[pos], state))
			return false;
		lo = r->lo[pos];
		hi = r->hi[pos];
		if (moved && !sql_agg_result(f->agg, f->arg_type, state, &d, keep_arena(r), r->x->err))
			return false;
		put(r, pos, &d);
	}
	return true;
}

/* With rows left out of its middle, a frame is added up for each row. */
static bool
holed(struct run *r, struct part p, const struct sql_win_fn *f)
{
	struct nam_arena *scratch = r->x->arena[r->n->arena];
	for (uint32_t pos = p.from; pos < p.to; pos++) {
		uint64_t state[SQL_AGG_BYTES / 8] = { 0 };
		struct part run[3];
		struct cat_datum d;
		unsigned n = left(r, f, pos, run);
		nam_arena_reset(scratch);
		for (unsigned k = 0; k < n; k++)
			if (!add_rows(r, f, run[k].from, run[k].to, state))
				return false;
		if (!sql_agg_result(f->agg, f->arg_type, state, &d, keep_arena(r), r->x->err))
			return false;
		put(r, pos, &d);
	}
	return true;
}

static bool
aggregate(struct run *r, struct part p, const struct sql_win_fn *f, uint32_t *queue)
{
	unsigned scale = 0;
	if (f->exclude != AST_EXCLUDE_NONE)
		return holed(r, p, f);
	bool count = f->agg == SQL_COUNT || f->agg == SQL_COUNT_STAR;
	if (count || ((f->agg == SQL_SUM || f->agg == SQL_AVG) && exact(r, p, f->arg_type, &scale)))
		return sums(r, p, f, scale);
	if (f->agg == SQL_MIN || f->agg == SQL_MAX)
		return extremes(r, p, f, queue);
	return again(r, p, f);
}

/* ---- the other functions ------------------------------------------------------------ */

static bool
ranks(struct run *r, struct part p, const struct sql_win_fn *f)
{
	uint32_t m = p.to - p.from, g0 = r->group[p.from];
	for (uint32_t pos = p.from; pos < p.to; pos++) {
		uint32_t g = r->group[pos], rank = r->first[g] - p.from + 1;
		switch (f->kind) {
		case SQL_WIN_ROW_NUMBER:
			put_int(r, pos, pos - p.from + 1);
			break;
		case SQL_WIN_RANK:
			put_int(r, pos, rank);
			break;
		case SQL_WIN_DENSE_RANK:
			put_int(r, pos, g - g0 + 1);
			break;
		case SQL_WIN_PERCENT_RANK:
			put_float(r, pos, m > 1 ? (double)(rank - 1) / (double)(m - 1) : 0);
			break;
		default:
			put_float(r, pos, (double)(r->first[g + 1] - p.from) / (double)m);
		}
	}
	return go_on(r, m);
}

static bool
ntile(struct run *r, struct part p)
{
	int64_t m = p.to - p.from, tiles = r->arg[0].i[p.from];
	if (r->arg[0].null[p.from]) {
		for (uint32_t pos = p.from; pos < p.to; pos++)
			put_null(r, pos);
		return true;
	}
	if (tiles <= 0)
		return cat_error(r->x->err, "22014", "argument of ntile must be greater than zero");
	int64_t size = m / tiles, larger = m % tiles; /* the first ones have one row more */
	for (int64_t k = 0; k < m; k++)
		put_int(r, p.from + (uint32_t)k,
		    k < larger * (size + 1) ? k / (size + 1) + 1
					    : larger + (k - larger * (size + 1)) / size + 1);
	return go_on(r, (uint64_t)m);
}

static bool
lag(struct run *r, struct part p, const struct sql_win_fn *f)
{
	for (uint32_t pos = p.from; pos < p.to; pos++) {
		int64_t by = 1;
		if (f->args > 1) {
			if (r->arg[1].null[pos]) {
				put_null(r, pos);
				continue;
			}
			by = r->arg[1].i[pos];
		}
		int64_t at = (int64_t)pos + (f->kind == SQL_WIN_LAG ? -by : by);
		if (at >= (int64_t)p.from && at < (int64_t)p.to)
			put_arg(r, pos, 0, (uint32_t)at);
		else if (f->args > 2)
			put_arg(r, pos, 2, pos);
		else
			put_null(r, pos);
	}
	return go_on(r, p.to - p.from);
}

static bool
nth(struct run *r, struct part p, const struct sql_win_fn *f)
{
	for (uint32_t pos = p.from; pos < p.to; pos++) {
		struct part run[3];
		unsigned n = left(r, f, pos, run), k = 0;
		int64_t rows = 0, want = 1;
		for (unsigned m = 0; m < n; m++)
			rows += run[m].to - run[m].from;
		if (f->kind == SQL_WIN_LAST)
			want = rows;
		if (f->kind == SQL_WIN_NTH) {
			if (r->arg[1].null[pos]) {
				put_null(r, pos);
				continue;
			}
			if ((want = r->arg[1].i[pos]) <= 0)
				return cat_error(
				    r->x->err, "22016", "argument of nth_value must be greater than zero");
		}
		if (want < 1 || want > rows) {
			put_null(r, pos);
			continue;
		}
		for (; want > (int64_t)(run[k].to - run[k].from); k++)
			want -= run[k].to - run[k].from;
		put_arg(r, pos, 0, run[k].from + (uint32_t)want - 1);
	}
	return go_on(r, p.to - p.from);
}

/* ---- all together -------------------------------------------------------------------- */

static bool
framed(enum sql_win_kind k)
{
	return k == SQL_WIN_AGG || k == SQL_WIN_FIRST || k == SQL_WIN_LAST || k == SQL_WIN_NTH;
}

static bool
part(struct run *r, struct part p, const struct sql_win_fn *f, uint32_t *queue)
{
	if (framed(f->kind) && !frames(r, p, f))
		return false;
	switch (f->kind) {
	case SQL_WIN_AGG:
		return aggregate(r, p, f, queue);
	case SQL_WIN_NTILE:
		return ntile(r, p);
	case SQL_WIN_LAG:
	case SQL_WIN_LEAD:
		return lag(r, p, f);
	case SQL_WIN_FIRST:
	case SQL_WIN_LAST:
	case SQL_WIN_NTH:
		return nth(r, p, f);
	default:
		return ranks(r, p, f);
	}
}

static bool
same_keys(const struct run *r, const struct sql_win_spec *s, uint32_t a, uint32_t b, unsigned keys)
{
	return sql_sort_cmp(r->rs, s->key, keys, r->perm[a], r->perm[b]) == 0;
}

static bool
call(struct run *r, const struct sql_win_fn *f, struct sql_run_bounds *by)
{
	const struct sql_win_spec *s = &r->w->spec[f->spec];
	struct nam_arena *a = call_arena(r);
	nam_arena_reset(a);
	enum cat_type key = s->orders ? r->w->type[s->key[s->parts].col] : CAT_UNKNOWN;
	if (!bound_value(r, &f->start, &by->start, "starting", f->mode, key) ||
	    !bound_value(r, &f->end, &by->end, "ending", f->mode, key))
		return false;
	r->by = by;
	if (r->rows == 0)
		return true;
	for (unsigned k = 0; k < f->args + f->filtered; k++)
		if (!sql_rowset_gather(r->rs, f->arg[k], r->perm, r->rows, &r->arg[k], a))
			return sql_no_memory(r->x->err);
	uint32_t *queue = NULL;
	if (f->kind == SQL_WIN_AGG && (f->agg == SQL_MIN || f->agg == SQL_MAX) &&
	    (queue = nam_arena_take(a, r->rows * sizeof *queue)) == NULL)
		return sql_no_memory(r->x->err);
	r->lo = r->hi = NULL;
	if (framed(f->kind) && ((r->lo = nam_arena_take(a, r->rows * sizeof *r->lo)) == NULL ||
				   (r->hi = nam_arena_take(a, r->rows * sizeof *r->hi)) == NULL))
		return sql_no_memory(r->x->err);
	struct part p = { 0 };
	while (p.from < r->rows) {
		/* a part begins where a group of peers does */
		uint32_t g = r->group[p.from] + 1;
		while (r->first[g] < r->rows && same_keys(r, s, p.from, r->first[g], s->parts))
			g++;
		p.to = r->first[g];
		if (!part(r, p, f, queue))
			return false;
		p.from = p.to;
	}
	return true;
}

/* Sorts, and finds the groups of peers. Rows that no key tells apart stay as they were. */
static bool
order(struct run *r, const struct sql_win_spec *s)
{
	unsigned keys = s->parts + s->orders;
	struct nam_arena *a = call_arena(r);
	nam_arena_reset(a);
	if (keys > 0 && !sql_sort_perm(r->x, r->rs, s->key, keys, r->perm, a))
		return false;
	uint32_t groups = 0;
	for (uint32_t pos = 0; pos < r->rows; pos++) {
		if (pos == 0 || !same_keys(r, s, pos - 1, pos, keys))
			r->first[groups++] = pos;
		r->group[pos] = groups - 1;
	}
	r->first[groups] = r->rows;
	return sql_go_on(r->x);
}

static bool
take_all(struct sql_exec *x, struct sql_node *n)
{
	struct sql_run_window *run = sql_op(window, n)->run;
	const struct sql_window *w = sql_op(window, n)->win;
	struct nam_arena *keep = x->arena[n->arena + 1], *batch = x->arena[n->arena];
	nam_arena_reset(keep);
	run->rs = sql_rowset_open(keep, w->type, w->slots);
	struct cat_vec *v = nam_arena_take(keep, (w->es + 1) * sizeof *v);
	const struct cat_vec **col = nam_arena_take(keep, (w->slots + 1) * sizeof *col);
	if (run->rs == NULL || v == NULL || col == NULL)
		return sql_no_memory(x->err);
	int rows;
	while ((rows = sql_next(x, n->child)) > 0) {
		nam_arena_reset(batch);
		x->env.arena = batch;
		for (unsigned k = 0; k < w->es; k++) {
			col[k] = &v[k];
			if (!sql_eval(w->e[k], &n->child->out, n->child->sel, (unsigned)rows, &x->env, &v[k]))
				return false;
		}
		for (unsigned k = w->es; k < w->slots; k++)
			col[k] = &n->child->out.col[w->from[k]];
		if (!sql_rowset_add(run->rs, col, sql_sel(n->child), (unsigned)rows))
			return sql_no_memory(x->err);
		if (!sql_go_on(x))
			return false;
	}
	if (rows < 0)
		return false;
	struct run r = { .x = x, .n = n, .w = w, .rs = run->rs, .rows = run->rs->rows };
	r.perm = run->perm = nam_arena_take(keep, ((size_t)r.rows + 1) * sizeof *r.perm);
	r.group = nam_arena_take(keep, ((size_t)r.rows + 1) * sizeof *r.group);
	r.first = nam_arena_take(keep, ((size_t)r.rows + 1) * sizeof *r.first);
	if (r.perm == NULL || r.group == NULL || r.first == NULL)
		return sql_no_memory(x->err);
	for (uint32_t k = 0; k < r.rows; k++)
		r.perm[k] = k;
	for (unsigned s = 0; s < w->specs; s++) {
		bool sorted = false;
		for (unsigned k = 0; k < w->fns; k++) {
			if (w->fn[k].spec != s)
				continue;
			if (!sorted && !order(&r, &w->spec[s]))
				return false;
			sorted = true;
			r.out = &run->result[k];
			if (!cat_vec_take(r.out, w->fn[k].type, r.rows, keep))
				return sql_no_memory(x->err);
			if (!call(&r, &w->fn[k], &run->by[k]))
				return false;
		}
	}
	return true;
}

bool
sql_window_room(struct sql_exec *x, struct sql_node *n)
{
	struct sql_op_window *o = sql_op(window, n);
	o->run->result = nam_arena_zero(x->plan_arena, (o->win->fns + 1) * sizeof *o->run->result);
	o->run->by = nam_arena_zero(x->plan_arena, (o->win->fns + 1) * sizeof *o->run->by);
	return o->run->result != NULL && o->run->by != NULL;
}

int
sql_window_next(struct sql_exec *x, struct sql_node *n)
{
	struct sql_run_window *run = sql_op(window, n)->run;
	const struct sql_window *w = sql_op(window, n)->win;
	if (!run->opened) {
		if (!take_all(x, n))
			return -1;
		run->opened = true;
		run->at = 0;
	}
	if (run->at >= run->rs->rows)
		return 0;
	struct nam_arena *batch = x->arena[n->arena];
	nam_arena_reset(batch);
	unsigned m = run->rs->rows - run->at < CAT_BATCH ? run->rs->rows - run->at : CAT_BATCH;
	const uint32_t *row = run->perm + run->at;
	bool ok = true;
	for (unsigned k = 0; ok && k < w->passes; k++)
		ok = sql_rowset_gather(run->rs, w->slot[k], row, m, &n->out.col[w->pass[k]], batch);
	for (unsigned k = 0; ok && k < w->fns; k++) {
		struct cat_vec *out = &n->out.col[w->base + k];
		const struct cat_vec *v = &run->result[k];
		ok = cat_vec_take(out, v->type, m, batch);
		for (unsigned j = 0; ok && j < m; j++)
			cat_vec_set(out, j, cat_vec_at(v, row[j]), v->null[row[j]]);
	}
	if (!ok) {
		sql_no_memory(x->err);
		return -1;
	}
	run->at += m;
	n->out.n = m;
	n->sel = NULL;
	n->nsel = m;
	return (int)m;
}
