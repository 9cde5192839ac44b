/* stats.c -- nam_stats in FROM: ANALYZE's statistics, a row per column, as PostgreSQL's pg_stats
 * shows it. */
#include <catalog/stats.h>
#include <sql/common/error.h>
#include <sql/common/rights.h>
#include <sql/plan/bind/bind.h>

#include <strings.h>

enum { S_TABLE, S_COLUMN, S_ROWS, S_NULL, S_WIDTH, S_DISTINCT, S_MCVS, S_FREQS, S_BOUNDS, S_ALL };

static const struct sql_column columns[S_ALL] = {
	[S_TABLE] = { .name = "tablename", .type = CAT_TEXT, .typmod = -1 },
	[S_COLUMN] = { .name = "attname", .type = CAT_TEXT, .typmod = -1 },
	[S_ROWS] = { .name = "table_rows", .type = CAT_INT8, .typmod = -1 },
	[S_NULL] = { .name = "null_frac", .type = CAT_FLOAT4, .typmod = -1 },
	[S_WIDTH] = { .name = "avg_width", .type = CAT_INT4, .typmod = -1 },
	[S_DISTINCT] = { .name = "n_distinct", .type = CAT_FLOAT4, .typmod = -1 },
	[S_MCVS] = { .name = "most_common_vals", .type = CAT_TEXT, .typmod = -1 },
	[S_FREQS] = { .name = "most_common_freqs", .type = CAT_TEXT, .typmod = -1 },
	[S_BOUNDS] = { .name = "histogram_bounds", .type = CAT_TEXT, .typmod = -1 },
};

/* True if a value needs no quotes in {...}. */
static bool
plain(struct cat_str s)
{
	if (s.len == 0 || (s.len == 4 && strncasecmp(s.p, "null", 4) == 0))
		return false;
	for (uint32_t i = 0; i < s.len; i++)
		if (memchr("{}\",\\ \t\n\r\v\f", s.p[i], 11) != NULL)
			return false;
	return true;
}

/* {a,"b c"} */
static struct cat_datum
list(struct bind *b, enum cat_type type, const union cat_val *v, unsigned n)
{
	struct cat_datum d = { .type = CAT_TEXT, .null = true, .v.s = { "", 0 } };
	struct cat_str *s = sql_bind_take(b, n * sizeof *s);
	size_t len = 2;
	if (n == 0 || s == NULL)
		return d;
	for (unsigned i = 0; i < n; i++) {
		s[i] = cat_value_out(type, v[i], b->a);
		if (s[i].p == NULL)
			return d;
		len += 2 * s[i].len + 3;
	}
	char *out = sql_bind_take(b, len), *to = out;
	if (out == NULL)
		return d;
	for (unsigned i = 0; i < n; i++) {
		*to++ = i ? ',' : '{';
		bool bare = plain(s[i]);
		if (!bare)
			*to++ = '"';
		for (uint32_t k = 0; k < s[i].len; k++) {
			if (!bare && (s[i].p[k] == '"' || s[i].p[k] == '\\'))
				*to++ = '\\';
			*to++ = s[i].p[k];
		}
		if (!bare)
			*to++ = '"';
	}
	*to++ = '}';
	d.null = false;
	d.v.s = (struct cat_str){ out, (uint32_t)(to - out) };
	return d;
}

static struct cat_datum
text(const char *s)
{
	return (struct cat_datum){ .type = CAT_TEXT, .v.s = { s, (uint32_t)strlen(s) } };
}

static bool
row(struct bind_rows *r, const struct cat_table *tab, const struct cat_column *c)
{
	struct bind *b = r->b;
	const struct cat_stats *s = cat_stats_read(c->stats, c->type, b->a);
	static const struct cat_stats none;
	if (s == NULL)
		s = &none;
	union cat_val *freq = sql_bind_take(b, s->mcvs * sizeof *freq);
	if (freq == NULL)
		return false;
	for (unsigned i = 0; i < s->mcvs; i++)
		freq[i].f = (float)s->freq[i];
	const struct cat_datum d[S_ALL] = {
		[S_TABLE] = text(tab->path),
		[S_COLUMN] = text(c->name),
		[S_ROWS] = { .type = CAT_INT8, .v.i = (int64_t)tab->rows },
		[S_NULL] = { .type = CAT_FLOAT4, .v.f = (float)s->null_frac },
		[S_WIDTH] = { .type = CAT_INT4, .v.i = (int64_t)(s->width < 1e9 ? s->width + 0.5 : 1e9) },
		[S_DISTINCT] = { .type = CAT_FLOAT4, .v.f = (float)s->distinct },
		[S_MCVS] = list(b, c->type, s->mcv, s->mcvs),
		[S_FREQS] = list(b, CAT_FLOAT4, freq, s->mcvs),
		[S_BOUNDS] = list(b, c->type, s->bound, s->bounds),
	};
	for (unsigned i = 0; i < S_ALL; i++)
		if (!sql_bind_put(r, d[i]))
			return false;
	return true;
}

/* Statistics are values out of a table's rows. False: *err. */
static bool
may_see(struct bind *b, const struct cat_table *tab, bool *yes)
{
	uint16_t have = CAT_MAY_SELECT;
	bool ok = b->in->who == NULL ||
		  sql_rights(b->in->cat, b->in->t, b->in->who, tab, CAT_MAY_SELECT, &have, b->err);
	*yes = (have & CAT_MAY_SELECT) != 0;
	return ok;
}

bool
sql_bind_add_stats(struct bind *b, const struct ast_table *t)
{
	struct bind_rows r = { .b = b, .column = columns, .cols = S_ALL };
	const struct cat_table **tab;
	unsigned tabs;
	nam_status st = cat_list(b->in->cat, b->in->t, &tab, &tabs, b->a);
	if (st != NAM_OK)
		return sql_status(b->err, st, NULL);
	if (!sql_bind_only_read(b, t))
		return false;
	for (unsigned i = 0; i < tabs; i++) {
		bool yes = false;
		if (tab[i]->analyzed && !may_see(b, tab[i], &yes))
			return false;
		for (unsigned c = 0; yes && c < tab[i]->columns; c++)
			if (tab[i]->column[c].stats != NULL && !row(&r, tab[i], &tab[i]->column[c]))
				return cat_error(b->err, "53200", "out of memory");
	}
	return sql_bind_add_rows(&r, t);
}
