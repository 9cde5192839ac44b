/* percentile.c -- what ordered-set aggregates make of a group's values, which come sorted in an
 * array. */
#include <sql/expr/func/array.h>
#include <types/interval.h>

#include <math.h>
#include <string.h>

/* lo + (hi - lo) * by */
static bool
between(
    struct sql_row *r, enum cat_type elem, union cat_val lo, union cat_val hi, double by, union cat_val *out)
{
	if (elem != CAT_INTERVAL) {
		out->f = lo.f + by * (hi.f - lo.f);
		return true;
	}
	struct cat_interval low = cat_interval_load(lo.s), less, d, part, sum;
	return cat_interval_negate(low, &less, r->env->err) &&
	       cat_interval_add(cat_interval_load(hi.s), less, &d, r->env->err) &&
	       cat_interval_scale(d, by, false, &part, r->env->err) &&
	       cat_interval_add(part, low, &sum, r->env->err) &&
	       cat_interval_store(sum, &out->s, r->env->arena, r->env->err);
}

static bool
at(struct sql_row *r, double f, const struct cat_array *a, union cat_val *out)
{
	if (!(f >= 0 && f <= 1))
		return cat_error(r->env->err, "22003", "percentile value %g is not between 0 and 1", f);
	bool disc = strcmp(r->e->fn->name, "percentile_disc") == 0;
	if (disc) {
		double row = ceil(f * a->n);
		cat_array_at(a, row < 1 ? 0 : (uint32_t)row - 1, out);
		return true;
	}
	double row = f * (a->n - 1.0);
	union cat_val lo, hi;
	cat_array_at(a, (uint32_t)floor(row), &lo);
	if (floor(row) == ceil(row)) {
		*out = lo;
		return true;
	}
	cat_array_at(a, (uint32_t)ceil(row), &hi);
	return between(r, a->elem, lo, hi, row - floor(row), out);
}

bool
sql_array_k_percentile(struct sql_row *r)
{
	struct cat_array a;
	cat_array_open(r->e->args[1]->type, r->a[1].s, &a);
	r->out_null = a.n == 0;
	return a.n == 0 || at(r, r->a[0].f, &a, &r->out);
}

bool
sql_array_k_percentiles(struct sql_row *r)
{
	struct cat_array a;
	struct sql_elements f;
	cat_array_open(r->e->args[1]->type, r->a[1].s, &a);
	r->out_null = a.n == 0;
	if (a.n == 0)
		return true;
	if (!sql_array_load(r->env, r->e->args[0]->type, r->a[0].s, 0, &f))
		return false;
	for (uint32_t k = 0; k < f.a.n; k++)
		if (!f.null[k] && !at(r, f.v[k].f, &a, &f.v[k]))
			return false;
	return sql_array_store(r, f.a.lower, f.v, f.null, f.a.n, &r->out.s);
}

/* The value that comes most often; of several the first. */
bool
sql_array_k_mode(struct sql_row *r)
{
	struct cat_array a;
	union cat_val v, run = { 0 };
	uint32_t best = 0, n = 0;
	cat_array_open(r->e->args[0]->type, r->a[0].s, &a);
	r->out_null = a.n == 0;
	for (uint32_t k = 0; k < a.n; k++) {
		cat_array_at(&a, k, &v);
		n = k > 0 && cat_value_cmp(a.elem, v, run) == 0 ? n + 1 : 1;
		run = v;
		if (n > best) {
			best = n;
			r->out = v;
		}
	}
	return true;
}
