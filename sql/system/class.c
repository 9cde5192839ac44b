/* class.c -- pg_class, pg_attribute, pg_attrdef, pg_index, pg_sequence: tables, views, sequences,
 * indexes and their columns. */
#include <catalog/acl.h>
#include <sql/system/rows.h>

#include <stdio.h>

enum { HEAP = 2, BTREE = 403, HASH = 405, DEFAULT_COLLATION = 100, C_COLLATION = 950 };

/* ---- pg_class ------------------------------------------------------------------------- */

#define CLASS                                                                                                \
	"oid oid, relname name, relnamespace oid, reltype oid, reloftype oid, relowner oid, relam oid, "     \
	"relfilenode oid, reltablespace oid, relpages int4, reltuples float4, relallvisible int4, "          \
	"reltoastrelid oid, relhasindex bool, relisshared bool, relpersistence char, relkind char, "         \
	"relnatts int2, relchecks int2, relhasrules bool, relhastriggers bool, relhassubclass bool, "        \
	"relrowsecurity bool, relforcerowsecurity bool, relispopulated bool, relreplident char, "            \
	"relispartition bool, relrewrite oid, relfrozenxid int8, relminmxid int8, relacl _text, "            \
	"reloptions _text, relpartbound text"

struct relation {
	uint32_t oid, schema;
	const char *name;
	char kind;
	unsigned columns, checks;
	bool hash;                    /* of an index */
	const struct cat_table *tab;  /* whose owner and list it has; NULL = the first role's */
	bool indexed, refers, system; /* refers: foreign keys, which are triggers there */
	double rows;                  /* -1: not known */
};

static void
relation(struct sql_rows *r, const struct relation *c)
{
	row_int(r, c->oid);
	row_copy(r, c->name);
	row_int(r, c->schema);
	row_ints(r, 2, 0);
	row_int(r, c->tab ? sql_oid_of_role(cat_owner(c->tab)) : SQL_OID_OWNER);
	row_int(r, c->hash ? HASH : c->kind == 'i' ? BTREE : c->kind == 'r' ? HEAP : 0);
	row_int(r, c->kind == 'v' ? 0 : c->oid);
	row_ints(r, 2, 0);
	row_real(r, c->rows);
	row_ints(r, 2, 0);
	row_int(r, c->indexed);
	row_int(r, false);
	row_char(r, c->tab != NULL && sql_path_is_temp(c->tab->path) ? 't' : 'p');
	row_char(r, c->kind);
	row_int(r, c->columns);
	row_int(r, c->checks);
	row_int(r, c->kind == 'v');
	row_int(r, c->refers);
	row_ints(r, 3, false);
	row_int(r, true);
	row_char(r, c->kind == 'r' && !c->system ? 'd' : 'n');
	row_int(r, false);
	row_ints(r, 3, 0);
	if (c->tab != NULL && c->kind != 'i')
		sql_row_acl(r, c->tab);
	else
		row_null(r, 1);
	row_null(r, 2);
}

static char
kind_of(const struct cat_table *t)
{
	return t->kind == CAT_VIEW ? 'v' : t->kind == CAT_SEQUENCE ? 'S' : 'r';
}

static void
indexes_of(struct sql_rows *r, const struct cat_table *t, const struct relation *c)
{
	struct relation ix = { .schema = c->schema, .tab = t, .kind = 'i', .rows = c->rows };
	char buf[CAT_NAME_MAX + 8];
	if (sql_key_by_hash(t)) {
		ix.hash = true;
		ix.oid = sql_oid_of_key(t);
		ix.name = cat_key_name(t, buf);
		ix.columns = t->keys;
		relation(r, &ix);
		ix.hash = false;
	}
	for (unsigned k = 0; k < t->indexes; k++) {
		if (t->index[k].hidden)
			continue;
		ix.oid = sql_oid_of(&t->index[k].store);
		ix.name = t->index[k].name;
		ix.columns = t->index[k].keys + t->index[k].includes;
		relation(r, &ix);
	}
}

static bool
shows_index(const struct cat_table *t)
{
	bool any = false;
	for (unsigned k = 0; k < t->indexes; k++)
		any |= !t->index[k].hidden;
	return any;
}

static bool
class_rows(struct sql_rows *r)
{
	const struct sql_relation *is;
	for (unsigned i = 0; i < r->in->tabs; i++) {
		const struct cat_table *t = r->in->tab[i];
		if (t->kind == CAT_INDEX) /* it stands in its table's definition */
			continue;
		const struct relation c = { .oid = sql_oid_of(&t->store),
			.schema = sql_system_schema_of(r->in, t),
			.name = cat_local(t->path),
			.kind = kind_of(t),
			.columns = t->kind == CAT_SEQUENCE ? 3 : t->columns,
			.checks = t->checks,
			.indexed = t->keys > 0 || shows_index(t),
			.refers = t->foreigns > 0 || t->referrers > 0,
			.system = t->system,
			.tab = t,
			.rows = t->analyzed ? t->rows : -1 };
		relation(r, &c);
		indexes_of(r, t, &c);
	}
	for (unsigned k = 0; (is = sql_relation_at(k)) != NULL; k++) {
		struct sql_column *col;
		unsigned n;
		if (!sql_relation_columns(is, &col, &n, r->in->a, r->in->err))
			return false;
		const struct relation c = { .oid = is->oid,
			.schema = is->schema == SQL_IN_CATALOG ? SQL_OID_CATALOG : SQL_OID_SCHEMA,
			.name = is->name,
			.kind = is->view || is->schema == SQL_IN_INFORMATION ? 'v' : 'r',
			.columns = n,
			.system = true,
			.rows = -1 };
		relation(r, &c);
	}
	return true;
}

/* ---- pg_attribute --------------------------------------------------------------------- */

#define ATTRIBUTE                                                                                            \
	"attrelid oid, attname name, atttypid oid, attstattarget int4, attlen int2, attnum int2, attndims "  \
	"int4, attcacheoff int4, atttypmod int4, attbyval bool, attalign char, attstorage char, "            \
	"attcompression char, attnotnull bool, atthasdef bool, atthasmissing bool, attidentity char, "       \
	"attgenerated char, attisdropped bool, attislocal bool, attinhcount int4, attcollation oid, attacl " \
	"_text, attoptions _text, attfdwoptions _text, attmissingval _text"

struct attribute {
	uint32_t of;
	const char *name;
	enum cat_type type;
	int32_t typmod;
	unsigned number; /* from 1 */
	bool not_null, dflt;
	char identity;
	uint32_t oid; /* of its type; 0 = that of type */
};

static char
align_of(enum cat_type t)
{
	int16_t size = cat_type_size(t);
	bool chars = t == CAT_NAME || t == CAT_UUID || size == 1;
	return chars ? 'c' : size == 2 ? 's' : size == 8 || t == CAT_INTERVAL ? 'd' : 'i';
}

static char
storage_of(enum cat_type t)
{
	return t == CAT_NUMERIC ? 'm' : cat_type_is_array(t) || cat_type_size(t) < 0 ? 'x' : 'p';
}

static void
attribute(struct sql_rows *r, const struct attribute *c)
{
	int16_t size = cat_type_size(c->type);
	enum cat_type each = cat_type_element(c->type);
	bool text = each == CAT_TEXT || each == CAT_BPCHAR;
	row_int(r, c->of);
	row_copy(r, c->name);
	row_int(r, c->oid ? c->oid : cat_type_oid(c->type, c->typmod));
	row_int(r, -1);
	row_int(r, size);
	row_int(r, c->number);
	row_int(r, cat_type_is_array(c->type));
	row_int(r, -1);
	row_int(r, c->oid ? -1 : cat_typmod_out(c->type, c->typmod));
	row_int(r, size > 0 && size <= 8);
	row_char(r, align_of(c->type));
	row_char(r, storage_of(c->type));
	row_char(r, 0);
	row_int(r, c->not_null);
	row_int(r, c->dflt);
	row_int(r, false);
	row_char(r, c->identity);
	row_char(r, 0);
	row_int(r, false);
	row_int(r, true);
	row_int(r, 0);
	row_int(r, text ? DEFAULT_COLLATION : each == CAT_NAME ? C_COLLATION : 0);
	row_null(r, 4);
}

static void
columns_of(struct sql_rows *r, const struct cat_table *t)
{
	for (unsigned k = 0; k < t->columns; k++) {
		const struct cat_column *c = &t->column[k];
		bool key = false;
		for (unsigned i = 0; i < t->keys; i++)
			key |= t->key[i] == k;
		attribute(r, &(struct attribute){ sql_oid_of(&t->store), c->name, c->type, c->typmod, k + 1,
				 c->not_null || key, c->dflt != NULL && c->identity == 0, c->identity,
				 c->domain ? sql_oid_of_type(c) : 0 });
	}
}

/* A column of an index has its name, and that of its table's column. */
static void
columns_of_index(
    struct sql_rows *r, uint32_t oid, const struct cat_table *t, const uint16_t *column, unsigned n)
{
	for (unsigned k = 0; k < n; k++) {
		const struct cat_column *c = &t->column[column[k]];
		attribute(r, &(struct attribute){ oid, c->name, c->type, c->typmod, k + 1, false, false, 0,
				 c->domain ? sql_oid_of_type(c) : 0 });
	}
}

static unsigned
index_columns(const struct cat_index *ix, uint16_t column[2 * CAT_KEY_MAX])
{
	unsigned n = 0;
	for (unsigned k = 0; k < ix->keys; k++)
		column[n++] = ix->key[k].column;
	for (unsigned k = 0; k < ix->includes; k++)
		column[n++] = ix->include[k];
	return n;
}

static void
columns_of_sequence(struct sql_rows *r, uint32_t oid)
{
	attribute(r, &(struct attribute){ oid, "last_value", CAT_INT8, -1, 1, true, false, 0, 0 });
	attribute(r, &(struct attribute){ oid, "log_cnt", CAT_INT8, -1, 2, true, false, 0, 0 });
	attribute(r, &(struct attribute){ oid, "is_called", CAT_BOOL, -1, 3, true, false, 0, 0 });
}

static bool
attribute_rows(struct sql_rows *r)
{
	const struct sql_relation *is;
	for (unsigned i = 0; i < r->in->tabs; i++) {
		const struct cat_table *t = r->in->tab[i];
		if (t->kind == CAT_INDEX)
			continue;
		if (t->kind == CAT_SEQUENCE)
			columns_of_sequence(r, sql_oid_of(&t->store));
		else
			columns_of(r, t);
		if (sql_key_by_hash(t))
			columns_of_index(r, sql_oid_of_key(t), t, t->key, t->keys);
		for (unsigned k = 0; k < t->indexes; k++) {
			uint16_t column[2 * CAT_KEY_MAX];
			if (t->index[k].hidden)
				continue;
			unsigned n = index_columns(&t->index[k], column);
			columns_of_index(r, sql_oid_of(&t->index[k].store), t, column, n);
		}
	}
	for (unsigned k = 0; (is = sql_relation_at(k)) != NULL; k++) {
		struct sql_column *col;
		unsigned n;
		if (!sql_relation_columns(is, &col, &n, r->in->a, r->in->err))
			return false;
		for (unsigned c = 0; c < n; c++)
			attribute(r, &(struct attribute){ is->oid, col[c].name, col[c].type, col[c].typmod,
					 c + 1, is->view == NULL, false, 0, 0 });
	}
	return true;
}

static bool
attrdef_rows(struct sql_rows *r)
{
	for (unsigned i = 0; i < r->in->tabs; i++) {
		const struct cat_table *t = r->in->tab[i];
		for (unsigned c = 0; t->kind == CAT_TABLE && c < t->columns; c++) {
			if (t->column[c].dflt == NULL || t->column[c].identity != 0)
				continue;
			row_int(r, sql_oid_of_default(t, c));
			row_int(r, sql_oid_of(&t->store));
			row_int(r, c + 1);
			row_copy(r, t->column[c].dflt);
		}
	}
	return true;
}

/* ---- pg_index ------------------------------------------------------------------------- */

#define INDEX                                                                                                \
	"indexrelid oid, indrelid oid, indnatts int2, indnkeyatts int2, indisunique bool, "                  \
	"indnullsnotdistinct bool, indisprimary bool, indisexclusion bool, indimmediate bool, "              \
	"indisclustered bool, indisvalid bool, indcheckxmin bool, indisready bool, indislive bool, "         \
	"indisreplident bool, indkey int2vector, indcollation oidvector, indclass oidvector, indoption "     \
	"int2vector, indexprs text, indpred text"

struct index {
	uint32_t oid, table;
	unsigned keys, all;
	uint16_t column[2 * CAT_KEY_MAX];
	uint8_t option[CAT_KEY_MAX]; /* 1: DESC, 2: NULLS FIRST */
	bool unique, nulls_equal, primary, valid;
};

static void
index_row(struct sql_rows *r, const struct cat_table *t, const struct index *x)
{
	int64_t key[2 * CAT_KEY_MAX], collation[CAT_KEY_MAX], none[CAT_KEY_MAX] = { 0 }, option[CAT_KEY_MAX];
	for (unsigned k = 0; k < x->all; k++)
		key[k] = x->column[k] + 1;
	for (unsigned k = 0; k < x->keys; k++) {
		enum cat_type type = t->column[x->column[k]].type;
		collation[k] = type == CAT_TEXT || type == CAT_BPCHAR ? DEFAULT_COLLATION : 0;
		option[k] = x->option[k];
	}
	row_int(r, x->oid);
	row_int(r, x->table);
	row_int(r, x->all);
	row_int(r, x->keys);
	row_int(r, x->unique);
	row_int(r, x->nulls_equal);
	row_int(r, x->primary);
	row_int(r, false);
	row_int(r, true);
	row_int(r, false);
	row_int(r, x->valid);
	row_int(r, false);
	row_ints(r, 2, true);
	row_int(r, false);
	sql_row_array(r, CAT_INT2V, 0, key, x->all);
	sql_row_array(r, CAT_OIDV, 0, collation, x->keys);
	sql_row_array(r, CAT_OIDV, 0, none, x->keys);
	sql_row_array(r, CAT_INT2V, 0, option, x->keys);
	row_null(r, 2);
}

static void
key_index(struct sql_rows *r, const struct cat_table *t)
{
	struct index x = { .oid = sql_oid_of_key(t),
		.table = sql_oid_of(&t->store),
		.keys = t->keys,
		.all = t->keys,
		.unique = true,
		.primary = true,
		.valid = true };
	memcpy(x.column, t->key, t->keys * sizeof *t->key);
	index_row(r, t, &x);
}

static bool
index_rows(struct sql_rows *r)
{
	for (unsigned i = 0; i < r->in->tabs; i++) {
		const struct cat_table *t = r->in->tab[i];
		if (sql_key_by_hash(t))
			key_index(r, t);
		for (unsigned n = 0; t->kind == CAT_TABLE && n < t->indexes; n++) {
			const struct cat_index *ix = &t->index[n];
			if (ix->hidden)
				continue;
			struct index x = { .oid = sql_oid_of(&ix->store),
				.table = sql_oid_of(&t->store),
				.keys = ix->keys,
				.unique = ix->unique || ix->primary,
				.primary = ix->primary,
				.nulls_equal = ix->nulls_equal,
				.valid = ix->valid };
			x.all = index_columns(ix, x.column);
			for (unsigned k = 0; k < ix->keys; k++)
				x.option[k] = (uint8_t)(ix->key[k].descending | ix->key[k].nulls_first << 1);
			index_row(r, t, &x);
		}
	}
	return true;
}

/* ---- pg_sequence ---------------------------------------------------------------------- */

static bool
sequence_rows(struct sql_rows *r)
{
	for (unsigned i = 0; i < r->in->tabs; i++) {
		const struct cat_table *t = r->in->tab[i];
		if (t->kind != CAT_SEQUENCE)
			continue;
		row_int(r, sql_oid_of(&t->store));
		row_int(r, cat_type_oid(t->seq.type, -1));
		row_int(r, t->seq.start);
		row_int(r, t->seq.step);
		row_int(r, t->seq.max);
		row_int(r, t->seq.min);
		row_int(r, t->seq.cache);
		row_int(r, t->seq.cycle);
	}
	return true;
}

const struct sql_relation sql_relations_class[] = {
	{ "pg_class", 1259, CLASS, class_rows, NULL, SQL_IN_CATALOG, false },
	{ "pg_attribute", 1249, ATTRIBUTE, attribute_rows, NULL, SQL_IN_CATALOG, false },
	{ "pg_attrdef", 2604, "oid oid, adrelid oid, adnum int2, adbin text", attrdef_rows, NULL,
	    SQL_IN_CATALOG, false },
	{ "pg_index", 2610, INDEX, index_rows, NULL, SQL_IN_CATALOG, false },
	{ "pg_sequence", 2224,
	    "seqrelid oid, seqtypid oid, seqstart int8, seqincrement int8, seqmax int8, seqmin int8, "
	    "seqcache "
	    "int8, seqcycle bool",
	    sequence_rows, NULL, SQL_IN_CATALOG, false },
	{ NULL, 0, NULL, NULL, NULL, SQL_IN_CATALOG, false },
};
