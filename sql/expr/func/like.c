/* like.c -- LIKE: % any text, _ one character, \ takes the next one literally. */
#include <sql/expr/expr_internal.h>

#include <string.h>

static uint32_t
next_char(struct cat_str s, uint32_t k)
{
	for (k++; k < s.len && ((uint8_t)s.p[k] & 0xc0) == 0x80; k++)
		;
	return k;
}

bool
sql_like(struct cat_str t, struct cat_str p, bool *out, struct cat_err *err)
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
			at = next_char(t, at);
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
		back_t = next_char(t, back_t);
		at = back_t;
		i = back_p;
	}
	while (i < p.len && p.p[i] == '%')
		i++;
	*out = i == p.len;
	return true;
}
