/* types.c -- pg_type, pg_collation; types by their numbers and names. */
#include <base/hash.h>
#include <catalog/acl.h>
#include <sql/common/error.h>
#include <sql/compat/postgres.h>
#include <sql/system/rows.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TYPE                                                                                                 \
	"oid oid, typname name, typnamespace oid, typowner oid, typlen int2, typbyval bool, typtype "        \
	"char, typcategory char, typispreferred bool, typisdefined bool, typdelim char, typrelid "           \
	"oid, typsubscript regproc, typelem oid, typarray oid, typinput regproc, typoutput regproc, "        \
	"typreceive regproc, typsend regproc, typmodin regproc, typmodout regproc, typanalyze "              \
	"regproc, typalign char, typstorage char, typnotnull bool, typbasetype oid, typtypmod int4, "        \
	"typndims int4, typcollation oid, typdefaultbin text, typdefault text, typacl _text"

enum {
	DEFAULT_COLLATION = 100,
	C_COLLATION = 950,
	POSIX_COLLATION = 951,
	VARCHAR = 1043,
	VARCHAR_ARRAY = 1015,
	LABEL = 3 << 28, /* of a label: this and the hash of its value */
	BELOW_LABEL = (1 << 28) - 1
};

/* Types that no value has, but functions' signatures. */
static const struct pseudo {
	uint32_t oid;
	const char *name;
	int16_t size;
} pseudos[] = { { 705, "unknown", -2 }, { 2249, "record", -1 }, { 2276, "any", 4 }, { 2277, "anyarray", -1 },
	{ 2278, "void", 4 }, { 2283, "anyelement", 4 }, { 2776, "anynonarray", 4 },
	{ 5077, "anycompatible", 4 } };

struct type {
	uint32_t oid, element, array, collation, owner; /* owner 0: PostgreSQL's own */
	const char *name;
	int16_t size;
	char kind, category, align, storage;
	bool preferred, by_value;
};

/* A function of the type's input or output, as PostgreSQL names it: int4in, date_in, array_in. */
static void
function(struct sql_rows *r, const struct type *t, const char *what)
{
	char name[CAT_NAME_MAX + 16];
	const char *of = t->kind == 'e'                                             ? "enum"
			 : t->category == 'A' && t->size == -1 && t->storage == 'x' ? "array"
										    : t->name;
	uint32_t oid = 0;
	for (unsigned k = 0; k < 2 && oid == 0; k++) {
		snprintf(name, sizeof name, "%s%s%s", of, k != 0 ? "_" : "", what);
		oid = sql_postgres_inner_oid(name);
	}
	struct cat_datum d = { .v.s = { "\0\0\0\0", CAT_OID_BYTES } };
	if (oid != 0 &&
	    !cat_reg_make(oid, (struct cat_str){ name, (uint32_t)strlen(name) }, &d.v.s, r->in->a))
		r->failed = !cat_error(r->in->err, "53200", "out of memory");
	row_put(r, d);
}

static void
type(struct sql_rows *r, const struct type *t)
{
	row_int(r, t->oid);
	row_copy(r, t->name);
	row_int(r, t->owner ? SQL_OID_PUBLIC : SQL_OID_CATALOG);
	row_int(r, t->owner ? t->owner : SQL_OID_OWNER);
	row_int(r, t->size);
	row_int(r, t->by_value);
	row_char(r, t->kind);
	row_char(r, t->category);
	row_int(r, t->preferred);
	row_int(r, true);
	row_text(r, ",");
	row_int(r, 0);
	row_no_regs(r, 1);
	row_int(r, t->element);
	row_int(r, t->array);
	function(r, t, "in");
	function(r, t, "out");
	function(r, t, "recv");
	function(r, t, "send");
	row_no_regs(r, 3);
	row_char(r, t->align);
	row_char(r, t->storage);
	row_int(r, false);
	row_int(r, 0);
	row_int(r, -1);
	row_int(r, 0);
	row_int(r, t->collation);
	row_null(r, 3);
}

static uint32_t
collation_of(enum cat_type t)
{
	t = cat_type_element(t);
	return t == CAT_TEXT || t == CAT_BPCHAR ? DEFAULT_COLLATION : t == CAT_NAME ? C_COLLATION : 0;
}

static void
plain(struct sql_rows *r, enum cat_type t, int32_t typmod)
{
	bool varchar = cat_type_is_varchar(t, typmod);
	int16_t size = cat_type_size(t);
	const struct type one = { .oid = cat_type_oid(t, typmod),
		.element = t == CAT_NAME ? cat_type_oid(CAT_CHAR, -1) : 0,
		.array = cat_type_oid(cat_type_array_of(t), typmod),
		.collation = collation_of(t),
		.name = varchar ? "varchar" : cat_type_word(t),
		.size = size,
		.kind = 'b',
		.category = cat_type_category(t),
		.align = size == 1 || t == CAT_UUID || t == CAT_NAME ? 'c'
			 : size == 2                                 ? 's'
			 : size == 8 || t == CAT_INTERVAL            ? 'd'
								     : 'i',
		.storage = t == CAT_NUMERIC ? 'm'
			   : size < 0       ? 'x'
					    : 'p',
		.preferred = cat_type_preferred(t) && !varchar,
		.by_value = size > 0 && size <= 8 };
	type(r, &one);
}

static void
array(struct sql_rows *r, enum cat_type element, int32_t typmod)
{
	bool vector = element == CAT_INT2V || element == CAT_OIDV;
	enum cat_type t = cat_type_array_of(element);
	const struct type one = { .oid = cat_type_oid(t, typmod),
		.element = cat_type_oid(element, typmod),
		.collation = collation_of(element),
		.name = cat_type_is_varchar(t, typmod) ? "_varchar" : cat_type_word(t),
		.size = -1,
		.kind = 'b',
		.category = 'A',
		.align = !vector && cat_type_size(element) == 8 ? 'd' : 'i',
		.storage = vector ? 'p' : 'x' };
	type(r, &one);
}

/* A type that a user has made, and its array. */
static void
made(struct sql_rows *r, const struct cat_table *def)
{
	enum cat_type t = cat_type_of(def), array = cat_type_array_of(t);
	const char *plural = nam_arena_printf(r->in->a, "_%s", cat_local(def->path));
	const struct type one = { .oid = cat_type_oid(t, -1),
		.array = cat_type_oid(array, -1),
		.owner = sql_oid_of_role(cat_owner(def)),
		.name = cat_local(def->path),
		.size = cat_type_size(t),
		.kind = 'e',
		.category = 'E',
		.align = 'i',
		.storage = 'p',
		.by_value = true };
	const struct type many = { .oid = one.array,
		.element = one.oid,
		.owner = one.owner,
		.name = plural,
		.size = -1,
		.kind = 'b',
		.category = 'A',
		.align = 'i',
		.storage = 'x' };
	type(r, &one);
	type(r, &many);
}

static bool
types_made(struct sql_rows *r, const struct cat_table ***list, unsigned *n)
{
	nam_status st = cat_list_types(r->in->cat, r->in->t, list, n, r->in->a);
	return st == NAM_OK || sql_status(r->in->err, st, NULL);
}

static bool
enum_rows(struct sql_rows *r)
{
	const struct cat_table **list;
	unsigned n;
	if (!types_made(r, &list, &n))
		return false;
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < list[i]->labels; k++) {
			int64_t value = cat_enum_value(list[i]->store.id, list[i]->label[k].key);
			row_int(r, LABEL | (nam_hash(&value, sizeof value, 0) & BELOW_LABEL));
			row_int(r, cat_type_oid(cat_type_of(list[i]), -1));
			row_real(r, k + 1);
			row_copy(r, list[i]->label[k].name);
		}
	return true;
}

static bool
type_rows(struct sql_rows *r)
{
	const struct cat_table **list;
	unsigned n;
	if (!types_made(r, &list, &n))
		return false;
	for (unsigned i = 0; i < n; i++)
		if (list[i]->kind == CAT_ENUM_TYPE)
			made(r, list[i]);
	if (!sql_domain_rows(r))
		return false;
	for (unsigned t = CAT_UNKNOWN + 1; t < CAT_ENUM; t++) {
		if (t != CAT_INT2V && t != CAT_OIDV)
			plain(r, (enum cat_type)t, -1);
		array(r, (enum cat_type)t, -1);
	}
	plain(r, CAT_TEXT, CAT_VARCHAR);
	array(r, CAT_TEXT, CAT_VARCHAR);
	for (unsigned k = 0; k < sizeof pseudos / sizeof *pseudos; k++) {
		const struct pseudo *p = &pseudos[k];
		const struct type one = { .oid = p->oid,
			.name = p->name,
			.size = p->size,
			.kind = 'p',
			.category = p->oid == 705 ? 'X' : 'P',
			.align = p->size < 0 ? (p->size == -2 ? 'c' : 'd') : 'i',
			.storage = p->size == -1 ? 'x' : 'p',
			.by_value = p->size == 4 };
		type(r, &one);
	}
	return true;
}

/* Every text is compared by its bytes. */
static bool
collation_rows(struct sql_rows *r)
{
	static const struct {
		uint32_t oid;
		const char *name;
	} all[] = { { DEFAULT_COLLATION, "default" }, { C_COLLATION, "C" }, { POSIX_COLLATION, "POSIX" } };
	for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
		row_int(r, all[k].oid);
		row_text(r, all[k].name);
		row_int(r, SQL_OID_CATALOG);
		row_int(r, SQL_OID_OWNER);
		row_char(r, k == 0 ? 'd' : 'c');
		row_int(r, true);
		row_int(r, -1);
		row_text(r, k == 0 ? NULL : all[k].name);
		row_text(r, k == 0 ? NULL : all[k].name);
		row_null(r, 2);
	}
	return true;
}

#define COLLATION                                                                                            \
	"oid oid, collname name, collnamespace oid, collowner oid, collprovider char, "                      \
	"collisdeterministic bool, collencoding int4, collcollate text, collctype text, "                    \
	"colliculocale text, collversion text"

const struct sql_relation sql_relations_type[] = {
	{ "pg_type", 1247, TYPE, type_rows, NULL, SQL_IN_CATALOG, false },
	{ "pg_enum", 3501, "oid oid, enumtypid oid, enumsortorder float4, enumlabel name", enum_rows, NULL,
	    SQL_IN_CATALOG, false },
	{ "pg_collation", 3456, COLLATION, collation_rows, NULL, SQL_IN_CATALOG, false },
	{ NULL, 0, NULL, NULL, NULL, SQL_IN_CATALOG, false },
};

/*
 * A type with a typmod of which cat_type_full() has no words: times have it as their precision, and
 * types without typmods of their own show it as PostgreSQL does. NULL: the type's full words will
 * do.
 */
static const char *
with_typmod(struct nam_arena *a, enum cat_type t, uint32_t oid, int32_t typmod)
{
	enum cat_type each = cat_type_element(t);
	const char *end = cat_type_is_array(t) ? "[]" : "", *name = cat_type_said(each, -1);
	const char *zone = strchr(name, ' ');
	switch (each) {
	case CAT_BOOL:
	case CAT_INT2:
	case CAT_INT4:
	case CAT_INT8:
	case CAT_FLOAT4:
	case CAT_FLOAT8:
	case CAT_NUMERIC:
	case CAT_BPCHAR:
	case CAT_INTERVAL:
		return NULL;
	case CAT_TEXT:
		if (cat_type_oid(t, -1) != oid)
			return NULL; /* varchar */
		break;
	case CAT_TIME:
	case CAT_TIMESTAMP:
	case CAT_TIMESTAMPTZ:
		return nam_arena_printf(a, "%.*s(%d)%s%s", (int)(zone - name), name, (int)typmod, zone, end);
	default:
		break;
	}
	return nam_arena_printf(a, "%s(%d)%s", name, (int)typmod, end);
}

const char *
sql_system_type(struct nam_arena *a, uint32_t oid, int32_t typmod)
{
	enum cat_type t;
	int32_t own;
	char full[CAT_TYPE_TEXT];
	if (oid == 0)
		return "-";
	for (unsigned k = 0; k < sizeof pseudos / sizeof *pseudos; k++)
		if (pseudos[k].oid == oid)
			return strcmp(pseudos[k].name, "any") == 0 ? "\"any\"" : pseudos[k].name;
	if (!cat_type_numbered(oid, typmod, &t, &own))
		return "???";
	/* bpchar without a length, as typmods go: character */
	if (cat_type_element(t) == CAT_BPCHAR && own < 0)
		return cat_type_is_array(t) ? "character[]" : "character";
	const char *shown = typmod >= 0 ? with_typmod(a, t, oid, typmod) : NULL;
	if (shown != NULL)
		return shown;
	cat_type_full(t, own, full);
	return nam_arena_str(a, full, strlen(full));
}

bool
sql_system_made_type(const struct sql_system *s, struct cat_str name, uint32_t *oid)
{
	const struct cat_table *def;
	char word[CAT_NAME_MAX + 1];
	bool array = name.len > 2 && memcmp(name.p + name.len - 2, "[]", 2) == 0;
	*oid = 0;
	if (array)
		name.len -= 2;
	char path[CAT_PATH_MAX + 1];
	if (!sql_system_word(name, word))
		return true;
	cat_path(CAT_PUBLIC_SCHEMA, word, path);
	nam_status st = cat_type_named(s->cat, s->t, path, &def);
	if (st == NAM_OK && def == NULL && word[0] == '_' && !array) {
		array = true;
		cat_path(CAT_PUBLIC_SCHEMA, word + 1, path);
		st = cat_type_named(s->cat, s->t, path, &def);
	}
	if (st != NAM_OK)
		return sql_status(s->err, st, NULL);
	if (def != NULL)
		*oid = CAT_OID_MADE + def->store.id + (array ? (uint32_t)CAT_OID_ARRAYS : 0);
	return true;
}

uint32_t
sql_system_type_oid(struct nam_arena *a, struct cat_str name)
{
	char word[80];
	static const char catalog[] = "pg_catalog.";
	snprintf(word, sizeof word, "%.*s", (int)(name.len < 79 ? name.len : 79), name.p);
	const char *w = strncmp(word, catalog, sizeof catalog - 1) == 0 ? word + sizeof catalog - 1 : word;
	for (unsigned k = 0; k < sizeof pseudos / sizeof *pseudos; k++)
		if (strcmp(pseudos[k].name, w) == 0)
			return pseudos[k].oid;
	if (strcasecmp(w, "varchar") == 0 || strcasecmp(w, "character varying") == 0)
		return VARCHAR;
	if (strcasecmp(w, "_varchar") == 0 || strcasecmp(w, "varchar[]") == 0 ||
	    strcasecmp(w, "character varying[]") == 0)
		return VARCHAR_ARRAY;
	for (unsigned t = CAT_UNKNOWN + 1; t < CAT_ENUM; t++)
		for (unsigned is = 0; is < 2; is++) {
			enum cat_type x = is ? cat_type_array_of((enum cat_type)t) : (enum cat_type)t;
			const char *plural =
			    is ? nam_arena_printf(a, "%s[]", cat_type_word((enum cat_type)t)) : "";
			if (!is && (t == CAT_INT2V || t == CAT_OIDV))
				continue;
			if (strcasecmp(cat_type_word(x), w) == 0 || strcasecmp(cat_type_name(x), w) == 0 ||
			    (plural != NULL && strcasecmp(plural, w) == 0))
				return cat_type_oid(x, -1);
		}
	static const struct {
		const char *name;
		enum cat_type t;
	} also[] = { { "int", CAT_INT4 }, { "decimal", CAT_NUMERIC }, { "float", CAT_FLOAT8 },
		{ "timestamp", CAT_TIMESTAMP }, { "time", CAT_TIME }, { "char", CAT_BPCHAR },
		{ "\"char\"", CAT_CHAR } };
	for (unsigned k = 0; k < sizeof also / sizeof *also; k++)
		if (strcasecmp(also[k].name, w) == 0)
			return cat_type_oid(also[k].t, -1);
	return 0;
}
