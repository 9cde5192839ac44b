/* like.c -- LIKE: % any text, _ one character, \ takes the next one literally; another character
 * in place of \. */
#include <sql/expr/func/table.h>

#include <stdio.h>
#include <string.h>

static uint32_t
next_char(struct cat_str s, uint32_t k, bool bytes)
{
	for (k++; !bytes && k < s.len && ((uint8_t)s.p[k] & 0xc0) == 0x80; k++)
		;
	return k;
}

bool
sql_like(struct cat_str t, struct cat_str p, bool bytes, bool *out, struct cat_err *err)
{
	uint32_t at = 0, i = 0;
	/* After the last %: where the pattern goes on, and from where the text may. Taking earlier
	 * %s longer never helps, so one place to come back to is enough. */
	uint32_t back_p = UINT32_MAX, back_t = 0;
	while (at < t.len) {
		bool ok;
		if (i < p.len && p.p[i] == '%') {
			back_p = ++i;
			back_t = at;
			if (i == p.len) {
				*out = true;
				return true;
			}
			continue;
		}
		if (i < p.len && p.p[i] == '_') {
			at = next_char(t, at, bytes);
			i++;
			continue;
		}
		if (i < p.len && p.p[i] == '\\') {
			if (i + 1 == p.len)
				return cat_error(
				    err, "22025", "LIKE pattern must not end with escape character");
			ok = p.p[i + 1] == t.p[at];
			i += ok ? 2 : 0;
		} else {
			ok = i < p.len && p.p[i] == t.p[at];
			i += ok;
		}
		if (ok) {
			at++;
			continue;
		}
		if (back_p == UINT32_MAX) {
			*out = false;
			return true;
		}
		back_t = next_char(t, back_t, bytes);
		at = back_t;
		i = back_p;
	}
	while (i < p.len && p.p[i] == '%')
		i++;
	*out = i == p.len;
	return true;
}

/* like_escape(pattern, escape): the pattern with \ in place of the escape character. */
static bool
k_escape(struct sql_row *r)
{
	struct cat_str p = r->a[0].s, by = r->a[1].s;
	bool after = false;
	if (by.len > 0 && next_char(by, 0, r->e->type == CAT_BYTEA) < by.len) {
		cat_error(r->env->err, "22025", "invalid escape string");
		snprintf(r->env->err->hint, sizeof r->env->err->hint,
		    "Escape string must be empty or one character.");
		return false;
	}
	struct sql_writer w = { .env = r->env };
	for (uint32_t k = 0; k < p.len;) {
		bool escape =
		    by.len > 0 && !after && p.len - k >= by.len && memcmp(p.p + k, by.p, by.len) == 0;
		if ((escape || (p.p[k] == '\\' && !after)) && !sql_put_char(&w, '\\'))
			return false;
		if (!escape && !sql_put_char(&w, p.p[k]))
			return false;
		k += escape ? by.len : 1;
		after = escape;
	}
	r->out.s = sql_written(&w);
	return true;
}

const struct sql_fn sql_fns_like[] = {
	F("like_escape", 2, CAT_TEXT, k_escape, CAT_TEXT, CAT_TEXT),
	F("like_escape", 2, CAT_BYTEA, k_escape, CAT_BYTEA, CAT_BYTEA),
	{ 0 },
};
