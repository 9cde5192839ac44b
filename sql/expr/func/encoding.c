/* encoding.c -- convert, convert_from, convert_to: texts as bytes of a client's encoding, of which
 * namdb has UTF8 alone. */
#include <sql/expr/func/table.h>

#include <string.h>

/* Names of PostgreSQL's encodings, as letters and digits alone; each is between blanks. */
/* clang-format off */
static const char encodings[] =
	" abc alt big5 euccn eucjis2004 eucjp euckr euctw gb18030 gbk iso88591 iso885910 "
	"iso885913 iso885914 iso885915 iso885916 iso88592 iso88593 iso88594 iso88595 iso88596 "
	"iso88597 iso88598 iso88599 johab koi8 koi8r koi8u latin1 latin10 latin2 latin3 "
	"latin4 latin5 latin6 latin7 latin8 latin9 mskanji muleinternal shiftjis "
	"shiftjis2004 sjis sqlascii tcvn tcvn5712 uhc unicode utf8 vscii win win1250 win1251 "
	"win1252 win1253 win1254 win1255 win1256 win1257 win1258 win866 win874 win932 win936 "
	"win949 win950 windows1250 windows1251 windows1252 windows1253 windows1254 "
	"windows1255 windows1256 windows1257 windows1258 windows866 windows874 windows932 "
	"windows936 windows949 windows950 ";
/* clang-format on */

enum { NAME_MAX = 63 };

/* True if s is UTF8; else the error that it is another encoding, or none. */
static bool
utf8_only(struct sql_row *r, unsigned at, const char *which)
{
	struct cat_str s = r->a[at].s;
	char word[NAME_MAX + 3] = " ";
	unsigned n = 1;
	for (uint32_t k = 0; k < s.len && n <= NAME_MAX; k++) {
		char c = s.p[k];
		if (c >= 'A' && c <= 'Z')
			c = (char)(c + 'a' - 'A');
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
			word[n++] = c;
	}
	word[n++] = ' ';
	word[n] = 0;
	if (strcmp(word, " utf8 ") == 0 || strcmp(word, " unicode ") == 0)
		return true;
	bool known = n > 2 && strstr(encodings, word) != NULL;
	return cat_error(r->env->err, known ? "0A000" : "22023",
	    known ? "%s\"%.*s\" is not supported yet" : "invalid %s encoding name \"%.*s\"",
	    known ? "encoding " : which, (int)(s.len > NAME_MAX ? NAME_MAX : s.len), s.p);
}

static bool
k_convert_from(struct sql_row *r)
{
	return utf8_only(r, 1, "source") &&
	       cat_value_in(CAT_TEXT, -1, r->a[0].s, &r->out, r->env->arena, r->env->err);
}

static bool
k_convert_to(struct sql_row *r)
{
	r->out.s = r->a[0].s;
	return utf8_only(r, 1, "destination");
}

/* Bytes of UTF8 are looked at, and stay what they are. */
static bool
k_convert(struct sql_row *r)
{
	union cat_val text;
	r->out.s = r->a[0].s;
	return utf8_only(r, 1, "source") && utf8_only(r, 2, "destination") &&
	       cat_value_in(CAT_TEXT, -1, r->a[0].s, &text, r->env->arena, r->env->err);
}

#define B CAT_BYTEA
#define T CAT_TEXT

const struct sql_fn sql_fns_encoding[] = {
	F("convert", 3, B, k_convert, B, T, T),
	F("convert_from", 2, T, k_convert_from, B, T),
	F("convert_to", 2, B, k_convert_to, T, T),
	{ 0 },
};
