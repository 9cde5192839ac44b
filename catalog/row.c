/* row.c -- rows as bytes: layout of a table, encoding, decoding a column at a time, keys. */
#include <base/assert.h>
#include <base/hash.h>
#include <catalog/catalog_internal.h>
#include <catalog/row_format.h>
#include <types/array.h>
#include <types/interval.h>
#include <types/numeric.h>

#include <math.h>
#include <string.h>

#define OPENSSL_SUPPRESS_DEPRECATED /* the plain SHA256_* calls need no memory of their own */
#include <openssl/sha.h>

_Static_assert(sizeof(struct txn_blob) == CAT_SPILL, "a spilled value is a txn_blob");

static bool same_key(
    const struct txn_table *t, const void *row, uint32_t len, const void *key, uint32_t key_len);
static unsigned blobs_of(
    const struct txn_table *t, const void *row, uint32_t len, struct txn_blob *out, unsigned max);

static unsigned
cell_bytes(enum cat_type t)
{
	switch (t) {
	case CAT_BOOL:
		return 1;
	case CAT_INT2:
		return 2;
	case CAT_INT4:
	case CAT_FLOAT4:
		return 4;
	default:
		return 8;
	}
}

static bool
is_var(enum cat_type t)
{
	return cat_type_is_str(t);
}

static bool
is_key(const struct cat_table *t, unsigned column)
{
	for (unsigned i = 0; i < t->keys; i++)
		if (t->key[i] == column)
			return true;
	return false;
}

/* Where the cells of all places lie; false: beyond all limits. */
static uint64_t
lay_places(struct cat_table *t)
{
	uint64_t at = t->first / 8 + 1u;
	for (unsigned p = 0; p < t->places; p++) {
		enum cat_type type = t->place ? t->place[p].type : t->column[p].type;
		if (p == t->first) {
			t->first_fixed = (uint16_t)(at < UINT16_MAX ? at : UINT16_MAX);
			at += CAT_MORE;
		}
		at += p >= t->first;
		uint16_t offset = (uint16_t)(at < UINT16_MAX ? at : UINT16_MAX);
		at += cell_bytes(type);
		unsigned column = t->place ? t->place[p].column : p + 1;
		if (t->place != NULL)
			t->place[p].offset = offset;
		if (column != 0) {
			t->column[column - 1].offset = offset;
			t->column[column - 1].place = (uint16_t)p;
		}
	}
	if (t->places == t->first)
		t->first_fixed = (uint16_t)(at < UINT16_MAX ? at : UINT16_MAX);
	return at;
}

/* What its variable values need if all are spilled, what those of the key need then, and what they
 * should have. */
static void
var_room(const struct cat_table *t, uint64_t *least, uint64_t *key, uint64_t *room)
{
	*least = *key = *room = 0;
	for (unsigned i = 0; i < t->columns; i++) {
		const struct cat_column *c = &t->column[i];
		if (!is_var(c->type))
			continue;
		unsigned spill = is_key(t, i) ? CAT_SPILL_KEY : CAT_SPILL;
		unsigned want = CAT_INLINE_TEXT;
		if ((c->type == CAT_TEXT || c->type == CAT_BPCHAR) && c->typmod > 0)
			want = c->typmod < CAT_INLINE_MAX ? (unsigned)c->typmod : CAT_INLINE_MAX;
		*least += spill;
		*key += is_key(t, i) ? spill : 0;
		*room += want > spill ? want : spill;
	}
}

bool
cat_table_fits(const struct cat_table *t, uint32_t row_max)
{
	uint64_t least, key, room, most = txn_row_most(t->store.slots);
	var_room(t, &least, &key, &room);
	return t->fixed + least <= row_max || (t->fixed + key <= row_max && row_max >= most);
}

bool
cat_table_layout(struct cat_table *t, struct cat_err *err)
{
	uint64_t least, key, room, most = txn_row_most(t->store.slots);
	bool var = false;
	if (t->place == NULL)
		t->first = t->places = t->columns;
	for (unsigned i = 0; i < t->columns; i++)
		NAM_ASSERT(cat_type_is_known(t->column[i].type));
	uint64_t at = lay_places(t);
	for (unsigned p = 0; p < t->places; p++)
		var |= is_var(t->place ? t->place[p].type : t->column[p].type);
	var_room(t, &least, &key, &room);
	/* Only rows with many long values do not fit then. */
	if (at + key > most)
		return cat_error(err, "54000",
		    "row is too big: its fixed part needs %llu bytes, the limit is %llu",
		    (unsigned long long)(at + key), (unsigned long long)most);
	t->fixed = (uint16_t)at;
	uint64_t max = at + room;
	if (max < CAT_ROW_MIN)
		max = CAT_ROW_MIN;
	max = (max + 7) & ~UINT64_C(7);
	if (max > CAT_ROW_USUAL && at + least <= CAT_ROW_USUAL)
		max = CAT_ROW_USUAL;
	if (max > most)
		max = most;
	t->store.row_max = (uint32_t)max;
	t->store.has_key = cat_is_hashed(t);
	t->store.same_key = t->store.has_key ? same_key : NULL;
	t->store.blobs = var ? blobs_of : NULL;
	t->store.owner = t;
	return true;
}

/* ---- encoding ---------------------------------------------------------------- */

/* What same_key compares when the value itself is elsewhere: over the bytes that a key holds. */
static void
digest(const char *p, uint32_t len, unsigned char out[CAT_DIGEST])
{
	SHA256_CTX c;
	SHA256_Init(&c);
	SHA256_Update(&c, p, len);
	SHA256_Final(out, &c);
}

/* Marks values to be spilled, the longest first, until `need` bytes fit. */
static bool
choose_spills(
    const struct cat_table *table, const union cat_val *v, const bool *null, uint64_t need, uint8_t *spill)
{
	unsigned spilled = 0;
	for (int keys = 0; keys < 2; keys++) {
		unsigned keeps = keys ? CAT_SPILL_KEY : CAT_SPILL;
		while (need > table->store.row_max) {
			int best = -1;
			for (unsigned i = 0; i < table->columns; i++) {
				if (!is_var(table->column[i].type) || null[i] || spill[i] ||
				    v[i].s.len <= keeps || is_key(table, i) != keys)
					continue;
				if (best < 0 || v[i].s.len > v[best].s.len)
					best = (int)i;
			}
			if (best < 0)
				break;
			if (++spilled > TXN_BLOBS_MAX)
				return false;
			spill[best] = 1;
			need -= v[best].s.len - keeps;
		}
	}
	return need <= table->store.row_max;
}

static void
put_fixed(char *cell, enum cat_type type, union cat_val v)
{
	switch (type) {
	case CAT_BOOL:
		*cell = v.i != 0;
		break;
	case CAT_INT2: {
		int16_t x = (int16_t)v.i;
		memcpy(cell, &x, sizeof x);
		break;
	}
	case CAT_INT4: {
		int32_t x = (int32_t)v.i;
		memcpy(cell, &x, sizeof x);
		break;
	}
	case CAT_FLOAT4: {
		float x = (float)v.f;
		memcpy(cell, &x, sizeof x);
		break;
	}
	default: /* 8 bytes: the union's first */
		memcpy(cell, &v.i, 8);
		break;
	}
}

static void
put_null(const struct cat_table *table, char *row, unsigned place, unsigned offset)
{
	if (place < table->first)
		row[place / 8] |= (char)(1u << place % 8);
	else
		row[offset - 1] = 1;
}

nam_status
cat_row_encode(const struct cat_table *table, struct txn *t, const union cat_val *v, const bool *null,
    struct cat_str *out, struct nam_arena *arena)
{
	uint64_t need = table->fixed;
	for (unsigned i = 0; i < table->columns; i++) {
		if (null[i] || !is_var(table->column[i].type))
			continue;
		if (v[i].s.len > CAT_VALUE_MAX)
			return NAM_INVALID;
		need += v[i].s.len;
	}
	uint8_t *spill = NULL;
	if (need > table->store.row_max) {
		spill = nam_arena_zero(arena, table->columns);
		if (spill == NULL)
			return NAM_NOMEM;
		if (!choose_spills(table, v, null, need, spill))
			return NAM_INVALID;
		need = table->store.row_max;
	}
	char *row = nam_arena_take(arena, need);
	if (row == NULL)
		return NAM_NOMEM;
	memset(row, 0, table->fixed);
	uint32_t at = table->fixed;
	if (table->places > table->first) {
		row[table->first / 8] |= (char)(1u << table->first % 8);
		memcpy(row + table->first_fixed, &table->places, sizeof table->places);
	}
	for (unsigned p = 0; p < table->places && table->place != NULL && table->places != table->columns;
	     p++)
		if (table->place[p].column == 0)
			put_null(table, row, p, table->place[p].offset);
	for (unsigned i = 0; i < table->columns; i++) {
		const struct cat_column *c = &table->column[i];
		if (null[i]) {
			put_null(table, row, c->place, c->offset);
			continue;
		}
		if (!is_var(c->type)) {
			put_fixed(row + c->offset, c->type, v[i]);
			continue;
		}
		struct cat_cell cell = { .where = at, .len = v[i].s.len };
		if (spill != NULL && spill[i]) {
			struct txn_blob b;
			nam_status st = txn_blob_put(
			    t, (struct txn_table *)(uintptr_t)&table->store, v[i].s.p, v[i].s.len, &b);
			if (st != NAM_OK)
				return st;
			memcpy(row + at, &b, sizeof b);
			cell.len = CAT_SPILL | CAT_SPILLED;
			if (is_key(table, i)) {
				struct cat_str k = v[i].s;
				if (!cat_value_canonical(c->type, k, &k, arena))
					return NAM_NOMEM;
				digest(k.p, k.len, (unsigned char *)row + at + CAT_SPILL);
				cell.len = CAT_SPILL_KEY | CAT_SPILLED;
			}
		} else if (v[i].s.len > 0) {
			memcpy(row + at, v[i].s.p, v[i].s.len);
		}
		memcpy(row + c->offset, &cell, sizeof cell);
		at += cell.len & ~CAT_SPILLED;
	}
	NAM_ASSERT(at <= need);
	*out = (struct cat_str){ row, at };
	return NAM_OK;
}

/* ---- decoding ---------------------------------------------------------------- */

/* Of a place that every row has. */
static inline bool
is_null(const char *row, unsigned place)
{
	return (unsigned char)row[place / 8] >> place % 8 & 1;
}

/* How many places the row has; 0 = it contradicts itself. */
static unsigned
places_of(const struct cat_table *t, const char *row, uint32_t len)
{
	uint16_t n = t->first;
	if (len < t->first_fixed)
		return 0;
	if (!is_null(row, t->first))
		return n;
	if (len < t->first_fixed + sizeof n)
		return 0;
	memcpy(&n, row + t->first_fixed, sizeof n);
	return n;
}

/* C2, judged. */
static inline bool
cell_at(const struct cat_table *t, const char *row, uint32_t len, unsigned offset, struct cat_cell *out)
{
	memcpy(out, row + offset, sizeof *out);
	uint32_t n = out->len & ~CAT_SPILLED;
	if (out->where < t->first_fixed || (uint64_t)out->where + n > len)
		return false;
	return !(out->len & CAT_SPILLED) || n == CAT_SPILL || n == CAT_SPILL_KEY;
}

/* A spilled value met while decoding: which blob, and where it goes. */
struct spilled {
	struct cat_str *into;
	struct txn_blob blob;
	struct spilled *next;
};

/* A place that only some rows have: is it there in that row, and has it a value? What to show else
 * is put into the vector. */
static nam_status
added(const struct cat_table *table, const struct cat_column *c, const struct txn_row *r, struct cat_vec *out,
    unsigned k, bool *there)
{
	const char *row = r->bytes;
	unsigned places = places_of(table, row, r->len);
	*there = false;
	if (places == 0)
		return NAM_CORRUPT;
	if (c->place >= places) {
		cat_vec_set(out, k, c->absent, c->missing == NULL);
		return NAM_OK;
	}
	if (r->len < (uint32_t)c->offset + cell_bytes(c->type))
		return NAM_CORRUPT;
	*there = row[c->offset - 1] == 0;
	if (!*there)
		cat_vec_set(out, k, (union cat_val){ .s = { "", 0 } }, true);
	return NAM_OK;
}

static nam_status
decode_strs(const struct cat_table *table, unsigned column, const struct txn_row *rows, unsigned n,
    struct cat_vec *out, struct spilled **list, unsigned *spills, struct nam_arena *arena)
{
	const struct cat_column *c = &table->column[column];
	for (unsigned k = 0; k < n; k++) {
		const char *row = rows[k].bytes;
		struct cat_cell cell;
		if (__builtin_expect(c->place >= table->first, 0)) {
			bool there;
			nam_status st = added(table, c, &rows[k], out, k, &there);
			if (st != NAM_OK)
				return st;
			if (!there)
				continue;
			out->null[k] = 0;
		} else if ((out->null[k] = is_null(row, c->place))) {
			out->s[k] = (struct cat_str){ "", 0 };
			continue;
		}
		if (!cell_at(table, row, rows[k].len, c->offset, &cell))
			return NAM_CORRUPT;
		if (__builtin_expect(!(cell.len & CAT_SPILLED), 1)) {
			out->s[k] = (struct cat_str){ row + cell.where, cell.len };
			continue;
		}
		struct spilled *s = nam_arena_take(arena, sizeof *s);
		if (s == NULL)
			return NAM_NOMEM;
		memcpy(&s->blob, row + cell.where, sizeof s->blob);
		if (s->blob.len > CAT_VALUE_MAX)
			return NAM_CORRUPT;
		s->into = &out->s[k];
		*s->into = (struct cat_str){ "", 0 };
		s->next = *list;
		*list = s;
		++*spills;
	}
	return NAM_OK;
}

static void
decode_fixed(const struct cat_table *table, unsigned column, const struct txn_row *rows, unsigned n,
    struct cat_vec *out)
{
	const struct cat_column *c = &table->column[column];
	unsigned off = c->offset, byte = c->place / 8, bit = c->place % 8;
	switch (c->type) {
	case CAT_BOOL:
		for (unsigned k = 0; k < n; k++) {
			const unsigned char *row = rows[k].bytes;
			out->null[k] = row[byte] >> bit & 1;
			out->i[k] = row[off] != 0;
		}
		break;
	case CAT_INT2:
		for (unsigned k = 0; k < n; k++) {
			const unsigned char *row = rows[k].bytes;
			int16_t x;
			memcpy(&x, row + off, sizeof x);
			out->null[k] = row[byte] >> bit & 1;
			out->i[k] = x;
		}
		break;
	case CAT_FLOAT4:
		for (unsigned k = 0; k < n; k++) {
			const unsigned char *row = rows[k].bytes;
			float x;
			memcpy(&x, row + off, sizeof x);
			out->null[k] = row[byte] >> bit & 1;
			out->f[k] = (double)x;
		}
		break;
	case CAT_INT4:
		for (unsigned k = 0; k < n; k++) {
			const unsigned char *row = rows[k].bytes;
			int32_t x;
			memcpy(&x, row + off, sizeof x);
			out->null[k] = row[byte] >> bit & 1;
			out->i[k] = x;
		}
		break;
	default: /* 8 bytes, integer or double: the same bits */
		for (unsigned k = 0; k < n; k++) {
			const unsigned char *row = rows[k].bytes;
			memcpy(&out->i[k], row + off, 8);
			out->null[k] = row[byte] >> bit & 1;
		}
		break;
	}
}

/* Of a place that only some rows have, row by row. */
static nam_status
decode_added(const struct cat_table *table, const struct cat_column *c, const struct txn_row *rows,
    unsigned n, struct cat_vec *out)
{
	for (unsigned k = 0; k < n; k++) {
		const char *cell = (const char *)rows[k].bytes + c->offset;
		union cat_val v;
		bool there;
		nam_status st = added(table, c, &rows[k], out, k, &there);
		if (st != NAM_OK)
			return st;
		if (!there)
			continue;
		if (c->type == CAT_BOOL) {
			v.i = *cell != 0;
		} else if (c->type == CAT_INT2) {
			int16_t x;
			memcpy(&x, cell, sizeof x);
			v.i = x;
		} else if (c->type == CAT_INT4) {
			int32_t x;
			memcpy(&x, cell, sizeof x);
			v.i = x;
		} else if (c->type == CAT_FLOAT4) {
			float x;
			memcpy(&x, cell, sizeof x);
			v.f = (double)x;
		} else {
			memcpy(&v.i, cell, sizeof v.i);
		}
		cat_vec_set(out, k, v, false);
	}
	return NAM_OK;
}

static nam_status
fetch_spilled(struct txn *t, struct spilled *list, unsigned n, struct nam_arena *arena)
{
	struct txn_blob *b = nam_arena_take(arena, n * sizeof *b);
	const void **got = nam_arena_take(arena, n * sizeof *got);
	if (b == NULL || got == NULL)
		return NAM_NOMEM;
	unsigned i = 0;
	for (struct spilled *s = list; s != NULL; s = s->next)
		b[i++] = s->blob;
	nam_status st = txn_blob_get(t, b, n, got, arena);
	if (st != NAM_OK)
		return st;
	i = 0;
	for (struct spilled *s = list; s != NULL; s = s->next, i++)
		*s->into = (struct cat_str){ got[i], b[i].len };
	return NAM_OK;
}

/* True if this process knows the labels of a value, an enum or an array of enums. */
static bool
labels_known(enum cat_type type, union cat_val v)
{
	if (!cat_type_is_array(type))
		return cat_enum_has(type, v.i);
	struct cat_array a;
	union cat_val x;
	bool known = true;
	cat_array_open(type, v.s, &a);
	for (uint32_t k = 0; known && k < a.n; k++)
		known = !cat_array_at(&a, k, &x) || cat_enum_has(type, x.i);
	return known;
}

/* A row that is newer than the snapshot may have labels that are newer than the catalog is here. */
static nam_status
learn_labels(struct txn *t, const struct txn_row *rows, unsigned n, const struct cat_vec *col)
{
	tso_cid at = txn_snapshot(t);
	for (unsigned k = 0; k < n; k++)
		if (rows[k].cid > at && !col->null[k] && !labels_known(col->type, cat_vec_at(col, k)))
			return cat_learn(t);
	return NAM_OK;
}

nam_status
cat_rows_decode(const struct cat_table *table, struct txn *t, const struct txn_row *rows, unsigned n,
    const uint16_t *want, unsigned wants, struct cat_vec *col, struct nam_arena *arena)
{
	struct spilled *list = NULL;
	unsigned spills = 0;
	for (unsigned k = 0; k < n; k++)
		if (rows[k].len < table->first_fixed)
			return NAM_CORRUPT;
	for (unsigned j = 0; j < wants; j++) {
		NAM_ASSERT(want[j] < table->columns);
		enum cat_type type = table->column[want[j]].type;
		if (!cat_vec_take(&col[j], type, n, arena))
			return NAM_NOMEM;
		const struct cat_column *c = &table->column[want[j]];
		if (!is_var(type) && c->place < table->first) {
			decode_fixed(table, want[j], rows, n, &col[j]);
			continue;
		}
		nam_status st = !is_var(type)
				    ? decode_added(table, c, rows, n, &col[j])
				    : decode_strs(table, want[j], rows, n, &col[j], &list, &spills, arena);
		if (st != NAM_OK)
			return st;
	}
	nam_status st = spills == 0 ? NAM_OK : fetch_spilled(t, list, spills, arena);
	for (unsigned j = 0; st == NAM_OK && j < wants; j++)
		if (cat_type_id(col[j].type) != 0)
			st = learn_labels(t, rows, n, &col[j]);
	return st;
}

bool
cat_row_value(const struct cat_table *t, unsigned column, const void *bytes, uint32_t len, union cat_val *v,
    bool *null, bool *spilled, struct txn_blob *b)
{
	const struct cat_column *c = &t->column[column];
	const struct txn_row r = { .bytes = bytes, .len = len };
	struct cat_vec out;
	uint8_t is = 0;
	int64_t number = 0;
	struct cat_str str = { "", 0 };
	*spilled = false;
	if (len < t->first_fixed)
		return false;
	out = (struct cat_vec){ .type = c->type, .null = &is };
	if (is_var(c->type))
		out.s = &str;
	else
		out.i = &number;
	struct spilled *list = NULL;
	unsigned spills = 0;
	struct nam_arena arena;
	nam_arena_init(&arena, 0);
	nam_status st = NAM_OK;
	if (is_var(c->type))
		st = decode_strs(t, column, &r, 1, &out, &list, &spills, &arena);
	else if (c->place < t->first)
		decode_fixed(t, column, &r, 1, &out);
	else
		st = decode_added(t, c, &r, 1, &out);
	if (list != NULL) {
		*spilled = true;
		*b = list->blob;
	}
	nam_arena_fini(&arena);
	*null = is != 0;
	if (is_var(c->type))
		v->s = str;
	else
		v->i = number;
	return st == NAM_OK;
}

unsigned
cat_row_spills(const struct cat_table *t, const void *bytes, uint32_t len, uint32_t *where, unsigned max)
{
	const char *row = bytes;
	unsigned n = 0, places = places_of(t, row, len);
	if (places > t->places)
		places = t->places;
	/* Also those of dropped columns: their old values still have theirs. */
	for (unsigned p = 0; p < places && n < max; p++) {
		struct cat_cell cell;
		unsigned offset = t->place ? t->place[p].offset : t->column[p].offset;
		if (!is_var(t->place ? t->place[p].type : t->column[p].type) ||
		    (p < t->first ? is_null(row, p) : offset + sizeof cell > len || row[offset - 1] != 0) ||
		    !cell_at(t, row, len, offset, &cell) || !(cell.len & CAT_SPILLED))
			continue;
		where[n++] = cell.where;
	}
	return n;
}

static unsigned
blobs_of(const struct txn_table *tt, const void *bytes, uint32_t len, struct txn_blob *out, unsigned max)
{
	uint32_t where[TXN_BLOBS_MAX];
	unsigned n = cat_row_spills(tt->owner, bytes, len, where, max < TXN_BLOBS_MAX ? max : TXN_BLOBS_MAX);
	for (unsigned i = 0; i < n; i++)
		memcpy(&out[i], (const char *)bytes + where[i], sizeof *out);
	return n;
}

/* ---- keys -------------------------------------------------------------------- */

static int64_t
float_bits(double f)
{
	int64_t bits;
	if (f == 0)
		f = 0; /* -0.0 too */
	if (isnan(f))
		return INT64_C(0x7ff8000000000000);
	memcpy(&bits, &f, sizeof bits);
	return bits;
}

nam_status
cat_key_encode(const struct cat_table *table, const union cat_val *v, struct cat_str *out, uint64_t *hash,
    struct nam_arena *arena)
{
	uint64_t need = 0;
	for (unsigned i = 0; i < table->keys; i++)
		need += is_var(table->column[table->key[i]].type) ? 4 + (uint64_t)v[i].s.len : 8;
	if (need > 2 * (uint64_t)CAT_VALUE_MAX)
		return NAM_INVALID;
	char *key = nam_arena_take(arena, need);
	if (key == NULL)
		return NAM_NOMEM;
	uint32_t at = 0;
	for (unsigned i = 0; i < table->keys; i++) {
		enum cat_type type = table->column[table->key[i]].type;
		if (is_var(type)) {
			struct cat_str x = v[i].s;
			if (!cat_value_canonical(type, x, &x, arena))
				return NAM_NOMEM;
			NAM_ASSERT(x.len <= v[i].s.len);
			memcpy(key + at, &x.len, 4);
			if (x.len > 0)
				memcpy(key + at + 4, x.p, x.len);
			at += 4 + x.len;
			continue;
		}
		int64_t x = v[i].i;
		if (cat_type_is_float(type))
			x = float_bits(v[i].f);
		else if (type == CAT_BOOL)
			x = x != 0;
		memcpy(key + at, &x, 8);
		at += 8;
	}
	*out = (struct cat_str){ key, at };
	*hash = nam_hash(key, at, table->store.id);
	return NAM_OK;
}

static int64_t
get_fixed(const char *row, const struct cat_column *c)
{
	int64_t x;
	if (c->type == CAT_INT4) {
		int32_t y;
		memcpy(&y, row + c->offset, sizeof y);
		return y;
	}
	if (c->type == CAT_INT2) {
		int16_t y;
		memcpy(&y, row + c->offset, sizeof y);
		return y;
	}
	if (c->type == CAT_FLOAT4) {
		float y;
		memcpy(&y, row + c->offset, sizeof y);
		return float_bits((double)y);
	}
	if (c->type == CAT_BOOL)
		return row[c->offset] != 0;
	memcpy(&x, row + c->offset, sizeof x);
	if (c->type == CAT_FLOAT8) {
		double f;
		memcpy(&f, &x, sizeof f);
		return float_bits(f);
	}
	return x;
}

static bool
same_var(const struct cat_table *t, const char *row, uint32_t len, const struct cat_column *c,
    const char *key, uint32_t n)
{
	struct cat_cell cell;
	if (!cell_at(t, row, len, c->offset, &cell))
		return false;
	if (cell.len & CAT_SPILLED) {
		unsigned char d[CAT_DIGEST];
		if (cell.len != (CAT_SPILL_KEY | CAT_SPILLED))
			return false;
		digest(key, n, d);
		return memcmp(d, row + cell.where + CAT_SPILL, CAT_DIGEST) == 0;
	}
	if (c->type == CAT_NUMERIC || c->type == CAT_BPCHAR || cat_type_is_array(c->type)) {
		union cat_val mine = { .s = { row + cell.where, cell.len } }, its = { .s = { key, n } };
		return cat_value_cmp(c->type, mine, its) == 0;
	}
	if (c->type == CAT_INTERVAL) {
		__int128 mine =
		    cat_interval_span(cat_interval_load((struct cat_str){ row + cell.where, cell.len }));
		return n == sizeof mine && memcmp(&mine, key, n) == 0;
	}
	return cell.len == n && memcmp(row + cell.where, key, n) == 0;
}

static bool
same_key(const struct txn_table *tt, const void *bytes, uint32_t len, const void *key_bytes, uint32_t key_len)
{
	const struct cat_table *t = tt->owner;
	const char *row = bytes, *key = key_bytes;
	if (len < t->first_fixed)
		return false;
	uint32_t at = 0; /* a key's columns are in every row: a new key has rows of its own */
	for (unsigned i = 0; i < t->keys; i++) {
		const struct cat_column *c = &t->column[t->key[i]];
		if (is_null(row, c->place))
			return false;
		if (is_var(c->type)) {
			uint32_t n;
			if (key_len - at < 4)
				return false;
			memcpy(&n, key + at, 4);
			at += 4;
			if (key_len - at < n || !same_var(t, row, len, c, key + at, n))
				return false;
			at += n;
			continue;
		}
		int64_t x;
		if (key_len - at < 8)
			return false;
		memcpy(&x, key + at, 8);
		if (x != get_fixed(row, c))
			return false;
		at += 8;
	}
	return at == key_len;
}
