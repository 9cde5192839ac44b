/* relations.c -- the system catalogs by name: their columns, their rows. */
#include <sql/system/rows.h>
#include <types/array.h>

#include <stdio.h>

static const struct sql_relation *const themes[] = { sql_relations_class, sql_relations_constraint,
	sql_relations_type, sql_relations_function, sql_relations_role, sql_relations_empty,
	sql_relations_view, sql_relations_information };

const struct sql_relation *
sql_relation_at(unsigned k)
{
	for (unsigned t = 0; t < sizeof themes / sizeof *themes; t++)
		for (const struct sql_relation *is = themes[t]; is->name != NULL; is++)
			if (k-- == 0)
				return is;
	return NULL;
}

const struct sql_relation *
sql_relation_find(enum sql_schema schema, const char *name)
{
	for (unsigned t = 0; t < sizeof themes / sizeof *themes; t++)
		for (const struct sql_relation *is = themes[t]; is->name != NULL; is++)
			if (is->schema == schema && strcmp(is->name, name) == 0)
				return is;
	return NULL;
}

static unsigned
commas(const char *s)
{
	unsigned n = 0;
	for (; (s = strchr(s, ',')) != NULL; s++)
		n++;
	return n;
}

bool
sql_relation_columns(const struct sql_relation *is, struct sql_column **out, unsigned *n, struct nam_arena *a,
    struct cat_err *err)
{
	unsigned max = commas(is->columns) + 1, k = 0;
	struct sql_column *col = nam_arena_zero(a, max * sizeof *col);
	if (col == NULL)
		return cat_error(err, "53200", "out of memory");
	for (const char *p = is->columns; k < max; k++, p++) {
		char word[32] = "";
		int used = 0;
		if (sscanf(p, " %63[^ ,] %31[^ ,]%n", col[k].name, word, &used) != 2)
			return cat_error(err, "XX000", "columns of %s", is->name);
		col[k].type = cat_type_find(word);
		col[k].typmod = strcmp(word, "varchar") == 0 ? CAT_VARCHAR : -1;
		if (col[k].type == CAT_UNKNOWN)
			return cat_error(err, "XX000", "type %s of %s", word, is->name);
		p += used;
	}
	*out = col;
	*n = k;
	return true;
}

bool
sql_relation_rows(const struct sql_relation *is, const struct sql_system *s,
    bool (*put)(void *arg, struct cat_datum d), void *arg)
{
	struct sql_rows r = { .in = s, .put = put, .arg = arg, .cols = commas(is->columns) + 1 };
	if (is->rows == NULL)
		return true;
	if (!is->rows(&r) || r.failed)
		return false;
	return r.at == 0 || cat_error(s->err, "XX000", "rows of %s do not have %u columns", is->name, r.cols);
}

void
sql_row_array(struct sql_rows *r, enum cat_type elem, int lower, const int64_t *v, unsigned n)
{
	union cat_val *e = nam_arena_take(r->in->a, (n + 1) * sizeof *e);
	struct cat_datum d = { .null = false };
	for (unsigned k = 0; e != NULL && k < n; k++)
		e[k].i = v[k];
	if (e == NULL || !cat_array_make(elem, lower, e, NULL, n, &d.v.s, r->in->a, r->in->err))
		r->failed = true;
	else
		row_put(r, d);
}
