/*
 * train.c -- training one sub-model over the leaves of a range.
 *
 * 1. Collect the low fences, up to twice as many leaves as a new sub-model has. Fences with equal
 *    keys (they differ in their values) become two entries with a gap between them, however many
 *    they are.
 * 2. Choose where the range ends: at the end asked for if that fits, else after IDX_SUB_LEAVES
 *    leaves. If keys differ only behind the 64 bits of the number, where their common prefix is
 *    shortest: the parts have longer prefixes.
 * 3. Choose the kind of the table: narrow, unless its steps are too coarse for these fences.
 * 4. Fit a line, and compute its bounds.
 */
#include <base/assert.h>
#include <base/fault.h>
#include <index/learned/learned_internal.h>

#include <math.h>
#include <stdlib.h>

struct fence {
	uint64_t key[IDX_LKEY_WORDS];
	uint64_t value, leaf;
	bool gap;
	/* once the prefix is chosen */
	uint64_t d;
	bool tail; /* something behind the number is not 0 */
};

struct training {
	unsigned words, n;
	bool all;                               /* the range ends behind the last fence */
	struct fence f[IDX_SUB_LEAVES_MAX + 1]; /* the last one: where the next range begins */
};

/* ---- 1: collecting ------------------------------------------------------------------ */

static void
take(struct training *t, const struct idx_point *p, bool gap)
{
	struct fence *f = &t->f[t->n++];
	memcpy(f->key, p->key, 8 * t->words);
	f->value = p->value;
	f->leaf = p->leaf;
	f->gap = gap;
}

/*
 * The leaves of [base, end). The first entry stands for all of its leaf's keys from (base, 0) on.
 * If there are too many, the last fence of the array is where a new range can begin: its key
 * differs from the one before.
 */
static void
collect(struct training *t, const struct idx_fences *leaves, const uint64_t *base, const uint64_t *end)
{
	struct idx_point p;
	leaves->seek(leaves->arg, base, 0, &p);
	p.key = base;
	p.value = 0;
	t->n = 0;
	t->all = false;
	take(t, &p, false);
	while (leaves->next(leaves->arg, &p)) {
		if (end != NULL && idx_words_order(p.key, end, t->words) >= 0)
			break;
		bool equal = idx_words_order(p.key, t->f[t->n - 1].key, t->words) == 0;
		/* One place stays free for the other end of a run. */
		if (t->n >= IDX_SUB_LEAVES_MAX - 1 && !equal) {
			take(t, &p, false);
			return;
		}
		if (!equal) {
			take(t, &p, false);
			continue;
		}
		uint64_t leaf = p.leaf;
		uint64_t key[IDX_LKEY_WORDS];
		memcpy(key, p.key, 8 * t->words);
		leaves->seek(leaves->arg, key, UINT64_MAX, &p);
		take(t, &p, p.leaf != leaf);
	}
	t->all = true;
}

/* ---- 2: the end of the range ----------------------------------------------------------- */

/* Numbers of the first n fences; returns how many keys differ from the one before, and their
 * numbers do not. */
static unsigned
number(struct training *t, unsigned n, unsigned *skip)
{
	unsigned hidden = 0, most = 64 * (t->words - 1);
	*skip = 0;
	if (n > 1) {
		unsigned common = idx_common(t->f[0].key, t->f[n - 1].key, t->words);
		*skip = common < most ? common : most;
	}
	for (unsigned i = 0; i < n; i++) {
		struct fence *f = &t->f[i];
		f->d = idx_distance(f->key, t->f[0].key, *skip);
		f->tail = i > 0 && f->value != 0;
		for (unsigned k = (*skip + 63) / 64 + 1; k < t->words && i > 0; k++)
			f->tail |= f->key[k] != 0;
		if (i > 0 && *skip % 64 != 0)
			f->tail |= f->key[*skip / 64 + 1] << *skip % 64 != 0;
		hidden += i > 0 && f->d == t->f[i - 1].d && idx_words_order(f->key, f[-1].key, t->words) != 0;
	}
	return hidden;
}

static unsigned
choose(struct training *t, unsigned *skip)
{
	unsigned n = t->n;
	if (!t->all) {
		n = IDX_SUB_LEAVES < t->n - 1 ? IDX_SUB_LEAVES : t->n - 1;
		while (n < t->n - 1 && idx_words_order(t->f[n].key, t->f[n - 1].key, t->words) == 0)
			n++;
	}
	while (number(t, n, skip) > 0) {
		unsigned best = n, shortest = 64 * t->words;
		for (unsigned i = 1; i < n; i++) {
			unsigned common = idx_common(t->f[i - 1].key, t->f[i].key, t->words);
			if (common < shortest) {
				shortest = common;
				best = i;
			}
		}
		/* Shorter prefixes inside than those that hide the difference: cut there. */
		if (best == n || shortest >= *skip + 64)
			break;
		n = best;
	}
	return n;
}

/* ---- 3: the table ---------------------------------------------------------------------- */

/* Lookups that READ two leaves, in part of all, if the table is narrow with this step; by rule of
 * thumb: keys lie evenly between two fences, and a fence inside a step is a present key. */
static double
ambiguous(const struct training *t, unsigned n, unsigned shift)
{
	const double one_key = 1.0 / 12;
	double sum = 0;
	for (unsigned i = 1; i < n; i++) {
		const struct fence *f = &t->f[i];
		bool cut = (f->d & ((UINT64_C(1) << shift) - 1)) != 0;
		if (!cut)
			continue;
		uint64_t before = f->d - f[-1].d;
		double part = before == 0 ? 1 : (double)(UINT64_C(1) << shift) / (double)before;
		sum += part > 1 ? 1 : part > one_key ? part : one_key;
	}
	return sum / n;
}

/* A separator's step: the one that it lies in. */
static uint64_t
step_of(uint64_t d, unsigned shift)
{
	if (nam_fault(STEP_NEAREST) && shift > 0)
		d += UINT64_C(1) << (shift - 1);
	uint64_t step = d >> shift, most = (UINT64_C(1) << IDX_STEP_BITS) - 1;
	return step < most ? step : most;
}

static void
fill_table(const struct training *t, struct idx_sub *out)
{
	const double most = 0.004;
	unsigned n = out->head.leaves, shift = 0;
	uint64_t range = t->f[n - 1].d;
	while (range >> shift >> IDX_STEP_BITS != 0)
		shift++;
	bool wide = shift > 0 && ambiguous(t, n, shift) > most;
	shift = wide ? 0 : shift;
	out->head.kind = wide ? IDX_WIDE : IDX_NARROW;
	out->head.q_shift = (uint8_t)shift;
	for (unsigned i = 0; i < n; i++) {
		const struct fence *f = &t->f[i];
		bool inside = f->tail || (f->d & ((UINT64_C(1) << shift) - 1)) != 0;
		uint64_t e = f->leaf << IDX_LEAF_SHIFT | (uint64_t)f->gap << IDX_GAP_BIT | inside;
		if (wide) {
			out->table[2 * i] = f->d;
			out->table[2 * i + 1] = e;
		} else
			out->table[i] = e | step_of(f->d, shift) << 1;
	}
}

/* ---- 4: the line ------------------------------------------------------------------------- */

static void
set_slope(struct idx_sub_head *h, double slope)
{
	int e = 0;
	h->slope = 0;
	h->f_shift = 0;
	if (!(slope > 0))
		return;
	double m = frexp(slope < 1024 ? slope : 1024, &e); /* slope = m * 2^e */
	if (32 - e > 127)
		return;
	h->slope = (uint32_t)(m * 4294967295.0);
	h->f_shift = (uint8_t)(32 - e);
}

/* Bounds of i - f(d) for all leaves i and all d that leaf i can hold (L2). */
static void
set_bounds(const struct training *t, struct idx_sub_head *h)
{
	int low = 0, high = 0;
	for (unsigned i = 0; i < h->leaves; i++) {
		/* The last d of the leaf: its high fence's, unless only greater keys have that
		 * number. */
		uint64_t to = UINT64_MAX;
		if (i + 1u < h->leaves)
			to = t->f[i + 1].d - (t->f[i + 1].tail || t->f[i + 1].d == 0 ? 0 : 1);
		if (nam_fault(PRESENT_KEYS))
			to = t->f[i].d;
		int above = (int)i - (int)idx_line(h, t->f[i].d), below = (int)i - (int)idx_line(h, to);
		high = above > high ? above : high;
		low = below < low ? below : low;
	}
	h->low = (int16_t)low;
	h->high = (int16_t)high;
}

static double
least_squares(const struct training *t, unsigned n)
{
	double x = 0, y = 0, xx = 0, xy = 0;
	for (unsigned i = 0; i < n; i++) {
		x += (double)t->f[i].d / n;
		y += (double)i / n;
	}
	for (unsigned i = 0; i < n; i++) {
		double dx = (double)t->f[i].d - x;
		xx += dx * dx;
		xy += dx * ((double)i - y);
	}
	return xx > 0 ? xy / xx : 0;
}

/* Of two lines the one with the narrower bounds: least squares, and through both ends. */
static void
fit(const struct training *t, struct idx_sub_head *h)
{
	unsigned n = h->leaves;
	double range = (double)t->f[n - 1].d;
	struct idx_sub_head other = *h;
	set_slope(h, least_squares(t, n));
	set_bounds(t, h);
	set_slope(&other, range > 0 ? (n - 1) / range : 0);
	set_bounds(t, &other);
	if (other.high - other.low < h->high - h->low)
		*h = other;
}

/* ---- all ----------------------------------------------------------------------------------- */

nam_status
idx_sub_train(struct idx_sub *out, unsigned words, const struct idx_fences *leaves, const uint64_t *base,
    const uint64_t *end)
{
	struct training *t = malloc(sizeof *t);
	unsigned skip;
	NAM_ASSERT(words >= 1 && words <= IDX_LKEY_WORDS);
	if (t == NULL)
		return NAM_NOMEM;
	t->words = words;
	collect(t, leaves, base, end);
	unsigned n = choose(t, &skip);
	memset(&out->head, 0, sizeof out->head);
	out->words = words;
	out->last = n == t->n && end == NULL;
	memcpy(out->base, base, 8 * words);
	if (n < t->n)
		memcpy(out->end, t->f[n].key, 8 * words);
	else if (end != NULL)
		memcpy(out->end, end, 8 * words);
	else
		memset(out->end, 0, 8 * words);
	out->head.leaves = (uint8_t)n;
	out->head.skip = (uint16_t)skip;
	number(t, n, &skip);
	fill_table(t, out);
	fit(t, &out->head);
	free(t);
	return NAM_OK;
}
