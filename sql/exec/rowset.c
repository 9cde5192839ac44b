/* rowset.c -- rows kept by joins, groups and sorts. */
#include <base/hash.h>
#include <sql/exec/rowset.h>

struct sql_rowset *
sql_rowset_open(struct nam_arena *arena, const enum cat_type *type, unsigned cols)
{
	struct sql_rowset *rs = nam_arena_zero(arena, sizeof *rs);
	if (rs == NULL)
		return NULL;
	rs->arena = arena;
	rs->type = type;
	rs->cols = cols;
	return rs;
}

static struct cat_vec *
chunk_for(struct sql_rowset *rs)
{
	unsigned i = rs->rows / CAT_BATCH;
	if (i < rs->chunks)
		return rs->chunk[i];
	if (rs->rows >= UINT32_C(1) << 31)
		return NULL;
	if (rs->chunks == rs->cap) {
		unsigned cap = rs->cap ? rs->cap * 2 : 4;
		struct cat_vec **more = nam_arena_take(rs->arena, cap * sizeof *more);
		if (more == NULL)
			return NULL;
		if (rs->chunks)
			memcpy(more, rs->chunk, rs->chunks * sizeof *more);
		rs->chunk = more;
		rs->cap = cap;
	}
	struct cat_vec *v = nam_arena_take(rs->arena, (rs->cols + 1) * sizeof *v);
	if (v == NULL)
		return NULL;
	for (unsigned c = 0; c < rs->cols; c++)
		if (!cat_vec_take(&v[c], rs->type[c], CAT_BATCH, rs->arena))
			return NULL;
	return rs->chunk[rs->chunks++] = v;
}

static bool
add_strs(struct sql_rowset *rs, struct cat_vec *to, unsigned at, const struct cat_vec *v, const uint16_t *sel,
    unsigned n)
{
	size_t bytes = 0;
	for (unsigned k = 0; k < n; k++)
		bytes += v->null[sel[k]] ? 0 : v->s[sel[k]].len;
	char *p = nam_arena_take(rs->arena, bytes);
	if (p == NULL)
		return false;
	for (unsigned k = 0; k < n; k++) {
		unsigned r = sel[k];
		to->null[at + k] = v->null[r];
		uint32_t len = v->null[r] ? 0 : v->s[r].len;
		if (len > 0)
			memcpy(p, v->s[r].p, len);
		to->s[at + k] = (struct cat_str){ p, len };
		p += len;
	}
	return true;
}

bool
sql_rowset_add(struct sql_rowset *rs, const struct cat_vec *const *col, const uint16_t *sel, unsigned n)
{
	while (n > 0) {
		struct cat_vec *to = chunk_for(rs);
		if (to == NULL)
			return false;
		unsigned at = rs->rows % CAT_BATCH, m = CAT_BATCH - at < n ? CAT_BATCH - at : n;
		for (unsigned c = 0; c < rs->cols; c++) {
			const struct cat_vec *v = col[c];
			if (cat_type_is_str(rs->type[c])) {
				if (!add_strs(rs, &to[c], at, v, sel, m))
					return false;
				continue;
			}
			for (unsigned k = 0; k < m; k++) {
				to[c].null[at + k] = v->null[sel[k]];
				to[c].i[at + k] = v->i[sel[k]]; /* also a double's bits */
			}
		}
		rs->rows += m;
		sel += m;
		n -= m;
	}
	return true;
}

void
sql_rowset_place(const struct sql_rowset *rs, unsigned col, const uint32_t *row, const uint16_t *sel,
    unsigned n, struct cat_vec *out)
{
	struct cat_vec *const *chunk = rs->chunk;
	if (cat_type_is_str(rs->type[col])) {
		for (unsigned j = 0; j < n; j++) {
			unsigned k = sel ? sel[j] : j, r = row[k] % CAT_BATCH;
			const struct cat_vec *v = &chunk[row[k] / CAT_BATCH][col];
			out->s[k] = v->s[r];
			out->null[k] = v->null[r];
		}
		return;
	}
	for (unsigned j = 0; j < n; j++) {
		unsigned k = sel ? sel[j] : j, r = row[k] % CAT_BATCH;
		const struct cat_vec *v = &chunk[row[k] / CAT_BATCH][col];
		out->i[k] = v->i[r]; /* also a double's bits */
		out->null[k] = v->null[r];
	}
}

bool
sql_rowset_gather(const struct sql_rowset *rs, unsigned col, const uint32_t *row, unsigned n,
    struct cat_vec *out, struct nam_arena *arena)
{
	if (!cat_vec_take(out, rs->type[col], n, arena))
		return false;
	sql_rowset_place(rs, col, row, NULL, n, out);
	return true;
}

/* ---- hashes ---------------------------------------------------------------------- */

static inline uint64_t
load8(const char *p)
{
	uint64_t x;
	memcpy(&x, p, 8);
	return x;
}

static inline uint64_t
load4(const char *p)
{
	uint32_t x;
	memcpy(&x, p, 4);
	return x;
}

/* What is added back keeps the other word when one makes its factor 0. */
static inline uint64_t
two_words(uint64_t h, uint64_t a, uint64_t b)
{
	return nam_fold(h ^ a, b) + (a ^ (b << 29 | b >> 35));
}

static inline uint64_t
hash_bytes(const char *p, uint32_t n, uint64_t h)
{
	h ^= n * UINT64_C(0x9e3779b97f4a7c15);
	if (n >= 16) {
		const char *last = p + n - 16;
		for (; p < last; p += 16)
			h = two_words(h, load8(p), load8(p + 8));
		return two_words(h, load8(last), load8(last + 8));
	}
	if (n >= 8)
		return two_words(h, load8(p), load8(p + n - 8));
	if (n >= 4)
		return two_words(h, load4(p), load4(p + n - 4));
	if (n == 0)
		return nam_mix(h);
	return two_words(
	    h, (uint64_t)(unsigned char)p[0] << 8 | (unsigned char)p[n / 2], (unsigned char)p[n - 1]);
}

/* char(n): the blanks behind it do not count. */
static inline struct cat_str
trimmed(struct cat_str s)
{
	while (s.len > 0 && s.p[s.len - 1] == ' ')
		s.len--;
	return s;
}

static inline uint64_t
hash_chars(struct cat_str s, uint64_t h)
{
	s = trimmed(s);
	return hash_bytes(s.p, s.len, h);
}

static inline uint64_t
hash_value(const struct cat_vec *v, unsigned k, uint64_t h)
{
	if (v->null[k])
		return nam_mix(h + 1);
	if (sql_by_bytes(v->type))
		return hash_bytes(v->s[k].p, v->s[k].len, h);
	if (v->type == CAT_BPCHAR)
		return hash_chars(v->s[k], h);
	if (cat_type_is_str(v->type) || cat_type_is_float(v->type))
		return cat_value_hash(v->type, cat_vec_at(v, k), h);
	return nam_mix(h ^ (uint64_t)v->i[k]);
}

uint64_t
sql_hash_row(const struct cat_vec *key, unsigned n, unsigned k)
{
	uint64_t h = SQL_HASH_SEED;
	for (unsigned c = 0; c < n; c++)
		h = hash_value(&key[c], k, h);
	return h;
}

void
sql_hash_rows(const struct cat_vec *key, unsigned n, const uint16_t *sel, unsigned rows, uint64_t *out)
{
	for (unsigned j = 0; j < rows; j++)
		out[j] = SQL_HASH_SEED;
	for (unsigned c = 0; c < n; c++) {
		const struct cat_vec *v = &key[c];
		if (sql_by_bytes(v->type)) {
			for (unsigned j = 0; j < rows; j++) {
				unsigned k = sel[j];
				out[j] = v->null[k] ? nam_mix(out[j] + 1)
						    : hash_bytes(v->s[k].p, v->s[k].len, out[j]);
			}
		} else if (v->type == CAT_BPCHAR) {
			for (unsigned j = 0; j < rows; j++) {
				unsigned k = sel[j];
				out[j] = v->null[k] ? nam_mix(out[j] + 1) : hash_chars(v->s[k], out[j]);
			}
		} else if (!cat_type_is_str(v->type) && !cat_type_is_float(v->type)) {
			for (unsigned j = 0; j < rows; j++) {
				unsigned k = sel[j];
				out[j] = nam_mix(v->null[k] ? out[j] + 1 : out[j] ^ (uint64_t)v->i[k]);
			}
		} else {
			for (unsigned j = 0; j < rows; j++)
				out[j] = hash_value(v, sel[j], out[j]);
		}
	}
}

bool
sql_same_row(const struct sql_rowset *rs, uint32_t r, unsigned first, const struct cat_vec *key, unsigned n,
    unsigned k)
{
	for (unsigned c = 0; c < n; c++) {
		const struct cat_vec *v = sql_rowset_col(rs, r, first + c);
		unsigned at = r % CAT_BATCH;
		if (v->null[at] != key[c].null[k])
			return false;
		if (v->null[at])
			continue;
		if (sql_by_bytes(v->type)) {
			const struct cat_str *s = &v->s[at], *t = &key[c].s[k];
			if (s->len != t->len || !sql_same_bytes(s->p, t->p, s->len))
				return false;
		} else if (v->type == CAT_BPCHAR) {
			struct cat_str s = trimmed(v->s[at]), t = trimmed(key[c].s[k]);
			if (s.len != t.len || !sql_same_bytes(s.p, t.p, s.len))
				return false;
		} else if (cat_type_is_str(v->type) || cat_type_is_float(v->type)) {
			if (cat_value_cmp(v->type, cat_vec_at(v, at), cat_vec_at(&key[c], k)) != 0)
				return false;
		} else if (v->i[at] != key[c].i[k]) {
			return false;
		}
	}
	return true;
}
