/* constraint.c -- pg_constraint, and what belongs to what (pg_depend). */
#include <catalog/by_id.h>
#include <sql/system/rows.h>

#include <ctype.h>
#include <stdio.h>

#define CONSTRAINT                                                                                           \
	"oid oid, conname name, connamespace oid, contype char, condeferrable bool, condeferred bool, "      \
	"convalidated bool, conrelid oid, contypid oid, conindid oid, conparentid oid, confrelid oid, "      \
	"confupdtype char, confdeltype char, confmatchtype char, conislocal bool, coninhcount int4, "        \
	"connoinherit bool, conkey _int2, confkey _int2, conpfeqop _oid, conppeqop _oid, conffeqop _oid, "   \
	"confdelsetcols _int2, conexclop _oid, conbin text"

static const struct cat_table *
table_of(const struct sql_rows *r, const char *name)
{
	const struct cat_table *t;
	return cat_find(r->in->cat, r->in->t, name, &t) == NAM_OK ? t : NULL;
}

static unsigned
key_columns(const struct cat_table *t, const struct sql_constraint *c, int64_t key[CAT_KEY_MAX])
{
	unsigned n = 0;
	if (c->kind == 'p')
		for (; n < t->keys; n++)
			key[n] = t->key[n] + 1;
	else if (c->kind == 'f')
		for (; n < t->foreign[c->k].keys; n++)
			key[n] = t->foreign[c->k].number[n] + 1;
	else if (c->kind == 'u')
		for (; n < t->index[c->k].keys; n++)
			key[n] = t->index[c->k].key[n].column + 1;
	return n;
}

/* The columns of the referenced table, and the index that has them for its key. */
static unsigned
referred(const struct cat_table *to, const struct cat_foreign *f, int64_t key[CAT_KEY_MAX], uint32_t *index)
{
	bool primary = to->keys == f->keys;
	for (unsigned k = 0; k < f->keys; k++) {
		key[k] = 0;
		for (unsigned c = 0; c < to->columns; c++)
			if (strcmp(to->column[c].name, f->refers[k]) == 0)
				key[k] = c + 1;
	}
	for (unsigned k = 0; primary && k < f->keys; k++) {
		bool in = false;
		for (unsigned i = 0; i < to->keys; i++)
			in |= to->key[i] + 1 == key[k];
		primary = in;
	}
	*index = primary ? sql_oid_of_key(to) : 0;
	for (unsigned i = 0; *index == 0 && i < to->indexes; i++) {
		const struct cat_index *ix = &to->index[i];
		unsigned in = 0;
		for (unsigned k = 0; k < f->keys; k++)
			for (unsigned j = 0; j < ix->keys; j++)
				in += ix->key[j].column + 1 == key[k];
		if (ix->unique && ix->keys == f->keys && in == f->keys)
			*index = sql_oid_of(&ix->store);
	}
	return f->keys;
}

static bool
in_word(char c)
{
	return c == '_' || c == '$' || (c & 0x80) != 0 || isalnum((unsigned char)c);
}

/* The next name in an expression's text; *at goes behind it. False: there is none. Constants, types
 * behind :: and names of functions are none. */
static bool
next_name(const char **at, char name[CAT_NAME_MAX + 1])
{
	const char *p = *at;
	while (*p != 0) {
		unsigned n = 0;
		bool cast = false;
		if (p[0] == ':' && p[1] == ':') {
			cast = true;
			p += 2;
		}
		if (*p == '\'') {
			for (p++; *p != 0 && *p != '\''; p++)
				;
			p += *p != 0;
			continue;
		}
		if (*p == '"') {
			for (p++; *p != 0 && (*p != '"' || *++p == '"'); p++)
				if (n < CAT_NAME_MAX)
					name[n++] = *p;
		} else if (in_word(*p)) {
			bool number = isdigit((unsigned char)*p);
			for (; in_word(*p) || (number && *p == '.'); p++)
				if (n < CAT_NAME_MAX)
					name[n++] = *p;
			cast |= number;
		} else {
			p++;
			continue;
		}
		name[n] = 0;
		if (!cast && *p != '(') {
			*at = p;
			return true;
		}
	}
	return false;
}

/* Columns that a CHECK names, each once, in the order of the text. */
static unsigned
checked(const struct cat_table *t, const char *text, int64_t *key, unsigned most)
{
	char name[CAT_NAME_MAX + 1];
	unsigned n = 0;
	while (n < most && next_name(&text, name))
		for (unsigned c = 0; c < t->columns; c++) {
			bool seen = strcmp(t->column[c].name, name) != 0;
			for (unsigned k = 0; k < n; k++)
				seen |= key[k] == (int64_t)c + 1;
			if (!seen)
				key[n++] = c + 1;
		}
	return n;
}

static void
constraint(struct sql_rows *r, const struct cat_table *t, const struct sql_constraint *c)
{
	const struct cat_foreign *f = c->kind == 'f' ? &t->foreign[c->k] : NULL;
	const struct cat_table *to = f ? table_of(r, f->table) : NULL;
	int64_t key[CAT_KEY_MAX], refers[CAT_KEY_MAX];
	uint32_t index = c->index;
	unsigned n = key_columns(t, c, key), m = to ? referred(to, f, refers, &index) : 0;
	row_int(r, c->oid);
	row_copy(r, c->name);
	row_int(r, sql_system_schema_of(r->in, t));
	row_char(r, c->kind);
	row_ints(r, 2, false);
	row_int(r, c->kind != 'c' || !t->check[c->k].not_valid);
	row_int(r, t->kind == CAT_DOMAIN ? 0 : sql_oid_of(&t->store));
	row_int(r, t->kind == CAT_DOMAIN ? sql_oid_of(&t->store) : 0);
	row_int(r, index);
	row_int(r, 0);
	row_int(r, to ? sql_oid_of(&to->store) : 0);
	const char rules[3] = { f ? f->on_update : 0, f ? f->on_delete : 0, f ? 's' : 0 };
	for (unsigned k = 0; k < 3; k++)
		if (f != NULL)
			row_char(r, rules[k]);
		else
			row_text(r, " ");
	row_int(r, true);
	row_int(r, 0);
	row_int(r, c->kind != 'c');
	if (c->kind == 'c') {
		int64_t *uses = nam_arena_take(r->in->a, (t->columns + 1u) * sizeof *uses);
		n = uses != NULL && t->kind != CAT_DOMAIN ? checked(t, t->check[c->k].text, uses, t->columns)
							  : 0;
		if (n > 0)
			sql_row_array(r, CAT_INT2, 1, uses, n);
		else
			row_null(r, 1);
	} else {
		sql_row_array(r, CAT_INT2, 1, key, n);
	}
	if (to != NULL)
		sql_row_array(r, CAT_INT2, 1, refers, m);
	else
		row_null(r, 1);
	row_null(r, 5);
	if (c->kind == 'c')
		row_copy(r, t->check[c->k].text);
	else
		row_null(r, 1);
}

static bool
constraint_rows(struct sql_rows *r)
{
	char buf[CAT_NAME_MAX + 8];
	const struct cat_table **type;
	unsigned types;
	if (!sql_system_types(r->in, &type, &types))
		return false;
	for (unsigned i = 0; i < r->in->tabs + types; i++) {
		const struct cat_table *t = i < r->in->tabs ? r->in->tab[i] : type[i - r->in->tabs];
		struct sql_constraint c;
		for (unsigned n = 0; sql_constraint_at(t, n, &c, buf); n++)
			constraint(r, t, &c);
	}
	return true;
}

/* The column that draws from sequence s by its default; -1: none. */
static int
fed(const struct sql_rows *r, const struct cat_table *t, const struct cat_table *s)
{
	const char *call = sql_nextval_text(s->path, r->in->a);
	for (unsigned c = 0; call != NULL && c < t->columns; c++)
		if (t->column[c].dflt != NULL && strcmp(t->column[c].dflt, call) == 0)
			return (int)c;
	return -1;
}

enum { PG_CLASS = 1259 };

/* Sequences that belong to columns: the dependencies that tools ask for. */
static bool
depend_rows(struct sql_rows *r)
{
	for (unsigned i = 0; i < r->in->tabs; i++) {
		const struct cat_table *s = r->in->tab[i], *t;
		if (s->kind != CAT_SEQUENCE || s->seq.owner == 0 ||
		    cat_of_id(r->in->cat, r->in->t, s->seq.owner, &t) != NAM_OK || t == NULL)
			continue;
		int c = t->kind == CAT_TABLE ? fed(r, t, s) : -1;
		if (c < 0)
			continue;
		row_int(r, PG_CLASS);
		row_int(r, sql_oid_of(&s->store));
		row_int(r, 0);
		row_int(r, PG_CLASS);
		row_int(r, sql_oid_of(&t->store));
		row_int(r, c + 1);
		row_char(r, t->column[c].identity ? 'i' : 'a');
	}
	return true;
}

const struct sql_relation sql_relations_constraint[] = {
	{ "pg_constraint", 2606, CONSTRAINT, constraint_rows, NULL, SQL_IN_CATALOG, false },
	{ "pg_depend", 2608,
	    "classid oid, objid oid, objsubid int4, refclassid oid, refobjid oid, refobjsubid int4, deptype "
	    "char",
	    depend_rows, NULL, SQL_IN_CATALOG, false },
	{ NULL, 0, NULL, NULL, NULL, SQL_IN_CATALOG, false },
};
