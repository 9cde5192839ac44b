/* convert_copy.c -- COPY and its options. */
#include <sql/parse/convert.h>

#include <stdio.h>
#include <strings.h>

static bool
one_char(struct sql_convert *c, const char *what, const char *w, char *out)
{
	if (w == NULL || w[0] == 0 || w[1] != 0)
		return cat_error(c->err, "0A000", "COPY %s must be a single one-byte character", what);
	*out = w[0];
	return true;
}

static bool
truth(const PgQuery__Node *n, bool *out)
{
	*out = true;
	if (n == NULL)
		return true;
	const char *w = sql_convert_word(n);
	if (n->node_case == PG_QUERY__NODE__NODE_INTEGER) {
		*out = n->integer->ival != 0;
		return true;
	}
	if (n->node_case == PG_QUERY__NODE__NODE_BOOLEAN) {
		*out = n->boolean->boolval;
		return true;
	}
	if (w == NULL)
		return false;
	if (strcasecmp(w, "true") == 0 || strcasecmp(w, "on") == 0 || strcmp(w, "1") == 0)
		return true;
	*out = false;
	return strcasecmp(w, "false") == 0 || strcasecmp(w, "off") == 0 || strcmp(w, "0") == 0;
}

static bool
header(struct sql_convert *c, const PgQuery__DefElem *d, struct ast_copy *k)
{
	const char *w = sql_convert_word(d->arg);
	if (w != NULL && strcasecmp(w, "match") == 0) {
		k->header = k->match = true;
		return true;
	}
	if (truth(d->arg, &k->header))
		return true;
	cat_error(c->err, "42601", "header requires a Boolean value or \"match\"");
	return false;
}

/* FORCE_...: columns by name, or all of them. */
static bool
forced(struct sql_convert *c, const PgQuery__DefElem *d, struct ast_force *out)
{
	const PgQuery__Node *n = d->arg;
	if (n != NULL && n->node_case == PG_QUERY__NODE__NODE_A_STAR) {
		out->all = true;
		return true;
	}
	if (n == NULL || n->node_case != PG_QUERY__NODE__NODE_LIST) {
		cat_error(c->err, "22023", "argument to option \"%.63s\" must be a list of column names",
		    d->defname);
		c->err->position = d->location + 1;
		return false;
	}
	out->names = (unsigned)n->list->n_items;
	if ((out->name = sql_convert_take(c, out->names * sizeof *out->name)) == NULL)
		return false;
	for (unsigned i = 0; i < out->names; i++)
		if ((out->name[i] = sql_convert_str(c, sql_convert_word(n->list->items[i]))) == NULL)
			return false;
	return true;
}

static bool
option(struct sql_convert *c, const PgQuery__DefElem *d, struct ast_copy *k)
{
	const char *w = sql_convert_word(d->arg), *name = d->defname;
	if (strcmp(name, "format") == 0) {
		k->csv = w && strcmp(w, "csv") == 0;
		if (w && strcmp(w, "binary") == 0)
			return sql_convert_no(c, "COPY in binary format is", -1);
		if (!k->csv && (w == NULL || strcmp(w, "text") != 0)) {
			cat_error(c->err, "22023", "COPY format \"%.63s\" not recognized", w ? w : "");
			c->err->position = d->location + 1;
			return false;
		}
		return true;
	}
	if (strcmp(name, "header") == 0)
		return header(c, d, k);
	if (strcmp(name, "null") == 0 && w != NULL)
		return (k->null = sql_convert_str(c, w)) != NULL;
	if (strcmp(name, "delimiter") == 0)
		return one_char(c, "delimiter", w, &k->delimiter);
	if (strcmp(name, "quote") == 0)
		return one_char(c, "quote", w, &k->quote);
	if (strcmp(name, "escape") == 0)
		return one_char(c, "escape", w, &k->escape);
	if (strcmp(name, "force_quote") == 0)
		return forced(c, d, &k->force_quote);
	if (strcmp(name, "force_null") == 0)
		return forced(c, d, &k->force_null);
	if (strcmp(name, "force_not_null") == 0)
		return forced(c, d, &k->force_not_null);
	if (strcmp(name, "encoding") == 0) {
		if (w == NULL || (strcasecmp(w, "utf8") != 0 && strcasecmp(w, "utf-8") != 0))
			return sql_convert_no(c, "encodings other than UTF8 are", d->location);
		return true;
	}
	if (strcmp(name, "freeze") == 0)
		return true;
	cat_error(c->err, "42601", "option \"%.63s\" not recognized", name);
	c->err->position = d->location + 1;
	return false;
}

/* Which options may stand together. */
static bool
check(struct sql_convert *c, struct ast_copy *k)
{
	const struct {
		const struct ast_force *f;
		const char *name;
		bool to;
	} force[] = { { &k->force_quote, "force quote", true },
		{ &k->force_not_null, "force not null", false }, { &k->force_null, "force null", false } };
	if (!k->csv && (k->quote || k->escape))
		return cat_error(
		    c->err, "0A000", "COPY %s available only in CSV mode", k->quote ? "quote" : "escape");
	if (k->delimiter == '\n' || k->delimiter == '\r')
		return cat_error(c->err, "22023", "COPY delimiter cannot be newline or carriage return");
	if (!k->csv && k->delimiter != 0 &&
	    strchr("\\.abcdefghijklmnopqrstuvwxyz0123456789", k->delimiter) != NULL)
		return cat_error(c->err, "22023", "COPY delimiter cannot be \"%c\"", k->delimiter);
	if (k->delimiter == 0)
		k->delimiter = k->csv ? ',' : '\t';
	if (k->quote == 0)
		k->quote = '"';
	if (k->escape == 0)
		k->escape = k->quote;
	if (k->null == NULL)
		k->null = k->csv ? "" : "\\N";
	if (strpbrk(k->null, "\r\n") != NULL)
		return cat_error(
		    c->err, "22023", "COPY null representation cannot use newline or carriage return");
	if (k->csv && k->delimiter == k->quote)
		return cat_error(c->err, "22023", "COPY delimiter and quote must be different");
	for (unsigned i = 0; i < sizeof force / sizeof *force; i++) {
		if (!force[i].f->all && force[i].f->names == 0)
			continue;
		if (!k->csv)
			return cat_error(
			    c->err, "0A000", "COPY %s available only in CSV mode", force[i].name);
		if (k->to != force[i].to)
			return cat_error(c->err, "0A000", "COPY %s only available using COPY %s",
			    force[i].name, force[i].to ? "TO" : "FROM");
	}
	if (strchr(k->null, k->delimiter) != NULL)
		return cat_error(c->err, "0A000", "COPY delimiter must not appear in the NULL specification");
	if (k->csv && strchr(k->null, k->quote) != NULL)
		return cat_error(
		    c->err, "0A000", "CSV quote character must not appear in the NULL specification");
	if (k->to && k->match)
		return cat_error(c->err, "0A000", "cannot use \"match\" with HEADER in COPY TO");
	return true;
}

/* COPY t (a, b) TO: a query for it. */
static struct ast_stmt *
rows_of(struct sql_convert *c, const struct ast_stmt *st)
{
	struct ast_stmt *in = sql_convert_take(c, sizeof *in);
	struct ast_select *q = sql_convert_take(c, sizeof *q);
	if (in == NULL || q == NULL || (q->table = sql_convert_take(c, sizeof *q->table)) == NULL)
		return NULL;
	*q->table = st->table;
	q->tables = 1;
	q->targets = st->nnames ? st->nnames : 1;
	if ((q->target = sql_convert_take(c, q->targets * sizeof *q->target)) == NULL)
		return NULL;
	for (unsigned i = 0; i < q->targets; i++) {
		struct ast_expr *e = sql_convert_take(c, sizeof *e);
		if (e == NULL)
			return NULL;
		e->kind = st->nnames ? AST_COLUMN : AST_STAR;
		e->typmod = -1;
		e->text = st->nnames ? st->names[i] : NULL;
		q->target[i].e = e;
	}
	in->kind = AST_SELECT;
	in->select = q;
	return in;
}

bool
sql_convert_copy(struct sql_convert *c, const PgQuery__CopyStmt *s, struct ast_stmt *st)
{
	st->kind = AST_COPY;
	struct ast_copy *k = &st->copy;
	k->to = !s->is_from;
	if (s->is_program)
		return sql_convert_no(c, k->to ? "COPY TO PROGRAM is" : "COPY FROM PROGRAM is", -1);
	if (s->where_clause != NULL)
		return sql_convert_no(c, "COPY ... WHERE is", -1);
	if (s->relation != NULL && !sql_convert_range(c, s->relation, &st->table))
		return false;
	if (s->filename != NULL && s->filename[0] && (k->file = sql_convert_str(c, s->filename)) == NULL)
		return false;
	st->nnames = (unsigned)s->n_attlist;
	st->names = sql_convert_take(c, st->nnames * sizeof *st->names);
	st->name_at = sql_convert_take(c, st->nnames * sizeof *st->name_at);
	if (st->names == NULL || st->name_at == NULL)
		return false;
	for (unsigned i = 0; i < st->nnames; i++)
		if ((st->names[i] = sql_convert_str(c, sql_convert_word(s->attlist[i]))) == NULL)
			return false;
	for (size_t i = 0; i < s->n_options; i++) {
		const PgQuery__DefElem *d = s->options[i]->def_elem;
		for (size_t j = 0; j < i; j++)
			if (strcmp(s->options[j]->def_elem->defname, d->defname) == 0) {
				cat_error(c->err, "42601", "conflicting or redundant options");
				c->err->position = d->location + 1;
				return false;
			}
		if (!option(c, d, k))
			return false;
	}
	if (!check(c, k))
		return false;
	if (!k->to)
		return true;
	st->inner = s->query != NULL ? sql_convert_stmt(c, s->query) : rows_of(c, st);
	if (st->inner == NULL)
		return false;
	if (st->inner->kind != AST_SELECT && st->inner->returnings == 0)
		return cat_error(c->err, "0A000", "COPY query must have a RETURNING clause");
	return true;
}
