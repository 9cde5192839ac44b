/* binary.c -- functions and operators on bytea and uuid. */
#include <sql/expr/expr_internal.h>
#include <types/binary.h>

#include <openssl/evp.h>
#include <string.h>
#include <sys/random.h>

static int
cmp(struct cat_str x, struct cat_str y)
{
	union cat_val a = { .s = x }, b = { .s = y };
	return cat_value_cmp(CAT_BYTEA, a, b);
}

#define COMPARE(name, op)                                                                                    \
	static bool name(struct sql_frame *f)                                                                \
	{                                                                                                    \
		int64_t *o = f->out->i;                                                                      \
		SQL_BINARY(f, struct cat_str, s, o[k] = cmp(x, y) op 0);                                     \
		return true;                                                                                 \
	}
COMPARE(b_eq, ==)
COMPARE(b_ne, !=)
COMPARE(b_lt, <)
COMPARE(b_le, <=)
COMPARE(b_gt, >)
COMPARE(b_ge, >=)

static bool
k_length(struct sql_row *r)
{
	r->out.i = r->a[0].s.len;
	return true;
}

static bool
k_bit_length(struct sql_row *r)
{
	r->out.i = (int64_t)r->a[0].s.len * 8;
	return true;
}

static bool
k_join(struct sql_row *r)
{
	struct cat_str x = r->a[0].s, y = r->a[1].s;
	if ((uint64_t)x.len + y.len > 1 << 28)
		return cat_error(r->env->err, "54000", "requested length too large");
	char *p = nam_arena_take(r->env->arena, (size_t)x.len + y.len + 1);
	if (p == NULL)
		return sql_oom(r->env->err);
	memcpy(p, x.p, x.len);
	memcpy(p + x.len, y.p, y.len);
	r->out.s = (struct cat_str){ p, x.len + y.len };
	return true;
}

static bool
k_substring(struct sql_row *r)
{
	struct cat_str s = r->a[0].s;
	int64_t from = r->a[1].i - 1, to = r->n > 2 ? from + r->a[2].i : s.len;
	if (r->n > 2 && r->a[2].i < 0)
		return cat_error(r->env->err, "22011", "negative substring length not allowed");
	from = from < 0 ? 0 : from > s.len ? s.len : from;
	to = to < from ? from : to > s.len ? s.len : to;
	r->out.s = (struct cat_str){ s.p + from, (uint32_t)(to - from) };
	return true;
}

static bool
k_position(struct sql_row *r)
{
	struct cat_str x = r->a[0].s, y = r->a[1].s;
	const char *at = y.len == 0 ? x.p : memmem(x.p, x.len, y.p, y.len);
	r->out.i = at ? at - x.p + 1 : 0;
	return true;
}

static bool
in_range(struct sql_row *r, int64_t n)
{
	return (n >= 0 && n < r->a[0].s.len) ||
	       cat_error(r->env->err, "2202E", "index %lld out of valid range, 0..%lld", (long long)n,
		   (long long)r->a[0].s.len - 1);
}

static bool
k_get_byte(struct sql_row *r)
{
	if (!in_range(r, r->a[1].i))
		return false;
	r->out.i = (unsigned char)r->a[0].s.p[r->a[1].i];
	return true;
}

static bool
k_set_byte(struct sql_row *r)
{
	struct cat_str s = r->a[0].s;
	if (!in_range(r, r->a[1].i))
		return false;
	char *p = nam_arena_copy(r->env->arena, s.p, s.len);
	if (p == NULL)
		return sql_oom(r->env->err);
	p[r->a[1].i] = (char)r->a[2].i;
	r->out.s = (struct cat_str){ p, s.len };
	return true;
}

static bool
digest(struct sql_row *r, const EVP_MD *md, bool text)
{
	unsigned char d[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	char *p = nam_arena_take(r->env->arena, 2 * sizeof d);
	if (p == NULL || EVP_Digest(r->a[0].s.p, r->a[0].s.len, d, &n, md, NULL) != 1)
		return sql_oom(r->env->err);
	if (text)
		cat_hex_out(d, n, p);
	else
		memcpy(p, d, n);
	r->out.s = (struct cat_str){ p, text ? 2 * n : n };
	return true;
}

static bool
k_md5(struct sql_row *r)
{
	return digest(r, EVP_md5(), true);
}

static bool
k_sha256(struct sql_row *r)
{
	return digest(r, EVP_sha256(), false);
}

static bool
k_sha512(struct sql_row *r)
{
	return digest(r, EVP_sha512(), false);
}

static bool
k_new_uuid(struct sql_row *r)
{
	unsigned char u[CAT_UUID_BYTES];
	if (getrandom(u, sizeof u, 0) != (ssize_t)sizeof u)
		return cat_error(r->env->err, "XX000", "could not generate random values");
	u[6] = (u[6] & 0x0f) | 0x40; /* version 4, of the usual variant */
	u[8] = (u[8] & 0x3f) | 0x80;
	const char *p = nam_arena_copy(r->env->arena, u, sizeof u);
	r->out.s = (struct cat_str){ p, sizeof u };
	return p != NULL || sql_oom(r->env->err);
}

#define B CAT_BYTEA
#define U CAT_UUID
#define I CAT_INT4
#define CMP(op, t, f)                                                                                        \
	{                                                                                                    \
		op, SQL_FN_OP, 2, { t, t }, CAT_BOOL, f, NULL                                                \
	}
#define FN(name, n, ret, f, ...)                                                                             \
	{                                                                                                    \
		name, 0, n, { __VA_ARGS__ }, ret, NULL, f                                                    \
	}

const struct sql_fn sql_fns_binary[] = {
	CMP("=", B, b_eq),
	CMP("<>", B, b_ne),
	CMP("<", B, b_lt),
	CMP("<=", B, b_le),
	CMP(">", B, b_gt),
	CMP(">=", B, b_ge),
	CMP("=", U, b_eq),
	CMP("<>", U, b_ne),
	CMP("<", U, b_lt),
	CMP("<=", U, b_le),
	CMP(">", U, b_gt),
	CMP(">=", U, b_ge),
	{ "||", SQL_FN_OP, 2, { B, B }, B, NULL, k_join },
	FN("length", 1, I, k_length, B),
	FN("octet_length", 1, I, k_length, B),
	FN("bit_length", 1, I, k_bit_length, B),
	FN("substring", 2, B, k_substring, B, I),
	FN("substring", 3, B, k_substring, B, I, I),
	FN("substr", 2, B, k_substring, B, I),
	FN("substr", 3, B, k_substring, B, I, I),
	FN("position", 2, I, k_position, B, B),
	FN("get_byte", 2, I, k_get_byte, B, I),
	FN("set_byte", 3, B, k_set_byte, B, I, I),
	FN("md5", 1, CAT_TEXT, k_md5, B),
	FN("sha256", 1, B, k_sha256, B),
	FN("sha512", 1, B, k_sha512, B),
	{ "gen_random_uuid", SQL_FN_VOLATILE | SQL_FN_EACH, 0, { 0 }, U, NULL, k_new_uuid },
	{ 0 },
};
