/* enum.c -- enum_first, enum_last, enum_range: labels of the type that their argument has. */
#include <sql/expr/func/array.h>
#include <types/array.h>
#include <types/enum.h>

/* The type's labels as they are now; none: 55000 if there must be one. */
static bool
labels_of(struct sql_row *r, bool must, const struct cat_enum **out)
{
	enum cat_type t = r->e->args[0]->type;
	*out = cat_enum_find(cat_type_id(t));
	if (*out == NULL)
		return cat_error(r->env->err, "XX000", "an enum is not known");
	return !must || (*out)->labels > 0 ||
	       cat_error(r->env->err, "55000", "enum %s contains no values", cat_type_name(t));
}

static bool
k_first(struct sql_row *r)
{
	const struct cat_enum *e;
	if (!labels_of(r, true, &e))
		return false;
	r->out.i = cat_enum_value(e->id, e->label[0].key);
	return true;
}

static bool
k_last(struct sql_row *r)
{
	const struct cat_enum *e;
	if (!labels_of(r, true, &e))
		return false;
	r->out.i = cat_enum_value(e->id, e->label[e->labels - 1].key);
	return true;
}

/* A bound that is NULL is none. */
static bool
k_range(struct sql_row *r)
{
	const struct cat_enum *e;
	if (!labels_of(r, false, &e))
		return false;
	unsigned from = 0, to = e->labels;
	if (r->n == 2 && !r->null[0])
		from = cat_enum_place(e, r->a[0].i);
	if (r->n == 2 && !r->null[1])
		to = cat_enum_place(e, r->a[1].i) + 1;
	to = to < e->labels ? to : e->labels;
	unsigned n = from < to ? to - from : 0;
	union cat_val *v = nam_arena_take(r->env->arena, (n + 1) * sizeof *v);
	if (v == NULL)
		return sql_oom(r->env->err);
	for (unsigned k = 0; k < n; k++)
		v[k].i = cat_enum_value(e->id, e->label[from + k].key);
	return cat_array_make(r->e->args[0]->type, 1, v, NULL, n, &r->out.s, r->env->arena, r->env->err);
}

const struct sql_fn sql_fns_enum[] = {
	{ "enum_first", SQL_FN_NULLS, 1, { CAT_ENUM }, CAT_ENUM, NULL, k_first },
	{ "enum_last", SQL_FN_NULLS, 1, { CAT_ENUM }, CAT_ENUM, NULL, k_last },
	{ "enum_range", SQL_FN_NULLS, 1, { CAT_ENUM }, CAT_ARRAY | CAT_ENUM, NULL, k_range },
	{ "enum_range", SQL_FN_NULLS, 2, { CAT_ENUM, CAT_ENUM }, CAT_ARRAY | CAT_ENUM, NULL, k_range },
	{ NULL, 0, 0, { 0 }, CAT_UNKNOWN, NULL, NULL },
};
