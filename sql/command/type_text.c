/* type_text.c -- types and labels in texts, found word by word: the catalog's texts come from the
 * parser, so casts are written with ::. */
#include <sql/command/type_text.h>
#include <sql/expr/expr.h>
#include <types/array.h>

#include <stdio.h>
#include <string.h>

const char *
sql_type_word(const struct cat_table *type, char out[SQL_TYPE_SAID])
{
	const char *name = cat_local(type->path);
	if (sql_is_keyword((struct cat_str){ name, (uint32_t)strlen(name) })) {
		snprintf(out, SQL_TYPE_SAID, "\"%s\"", name);
		return out;
	}
	size_t n = cat_enum_quote(name, out);
	out[n] = 0;
	return out;
}

/* Behind a literal or a quoted name at p, whose quote doubles within it. */
static const char *
behind(const char *p)
{
	char quote = *p++;
	while (*p != 0 && (*p != quote || p[1] == quote))
		p += *p == quote ? 2 : 1;
	return *p != 0 ? p + 1 : p;
}

static bool
in_word(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
	       c >= 0x80;
}

/* The type's name at p, maybe behind its schema, and *end behind it; NULL = another word stands
 * there. */
static const char *
name_at(const char *p, const char *said, const char **end)
{
	static const char schema[] = "public.";
	size_t n = strlen(said);
	if (strncmp(p, schema, sizeof schema - 1) == 0)
		p += sizeof schema - 1;
	if (strncmp(p, said, n) != 0)
		return NULL;
	*end = p + n;
	return said[0] != '"' && in_word((unsigned char)**end) ? NULL : p;
}

/* The brackets around a place of a text; a bit says whether they are those of CAST(... AS ...).
 * Within others, AS is followed by an alias. */
struct around {
	uint64_t casts;
	unsigned depth;
};

/* Goes over the character at p, which is of no literal. */
static void
go_over(struct around *in, const char *text, const char *p)
{
	if (*p == ')' && in->depth > 0)
		in->depth--;
	if (*p != '(')
		return;
	uint64_t bit = UINT64_C(1) << (in->depth++ & 63);
	bool cast = p - text >= 4 && strncasecmp(p - 4, "cast", 4) == 0 &&
		    (p - text == 4 || !in_word((unsigned char)p[-5]));
	in->casts = cast ? in->casts | bit : in->casts & ~bit;
}

/* As name_at, for a cast that begins at p. */
static const char *
cast_at(const struct around *in, const char *p, const char *said, const char **end)
{
	if (strncmp(p, "::", 2) == 0)
		return name_at(p + 2, said, end);
	bool cast = in->depth > 0 && (in->casts >> ((in->depth - 1) & 63) & 1) != 0;
	return cast && strncasecmp(p, " as ", 4) == 0 ? name_at(p + 4, said, end) : NULL;
}

bool
sql_text_casts(const char *text, const char *said)
{
	struct around in = { 0 };
	const char *end;
	for (const char *p = text; p != NULL && *p != 0;) {
		bool quoted = *p == '\'' || *p == '"';
		if (!quoted && cast_at(&in, p, said, &end) != NULL)
			return true;
		if (!quoted)
			go_over(&in, text, p);
		p = quoted ? behind(p) : p + 1;
	}
	return false;
}

bool
sql_text_is(const char *text, const char *unused)
{
	(void)unused;
	return text != NULL;
}

bool
sql_text_may_cast(const char *text, const char *unused)
{
	(void)unused;
	return text != NULL && (strstr(text, "::") != NULL || strcasestr(text, " as ") != NULL);
}

enum { LITERAL = 2 * CAT_LABEL_MAX + 3 };

static size_t
literal_of(const char *label, char out[LITERAL])
{
	size_t n = 0;
	out[n++] = '\'';
	for (const char *p = label; *p; p++) {
		if (*p == '\'')
			out[n++] = '\'';
		out[n++] = *p;
	}
	out[n++] = '\'';
	return n;
}

/* The literal of an array of texts from p up to end, with `becomes` for each label: *out with its
 * quotes, or NULL if it has no such element. False: no memory. */
static bool
relabel_array(const char *p, const char *end, const char *label, const char *becomes, struct nam_arena *arena,
    const char **out)
{
	struct cat_err no;
	struct cat_array a;
	union cat_val v, made;
	bool found = false, null[1] = { false };
	char *plain = nam_arena_take(arena, (size_t)(end - p)), *to = plain;
	*out = NULL;
	if (plain == NULL)
		return false;
	for (const char *q = p + 1; q + 1 < end; q++) {
		*to++ = *q;
		q += *q == '\'';
	}
	struct cat_str s = { plain, (uint32_t)(to - plain) };
	if (s.len == 0 || *plain != '{' || !cat_value_in(cat_type_array_of(CAT_TEXT), -1, s, &v, arena, &no))
		return true;
	cat_array_open(cat_type_array_of(CAT_TEXT), v.s, &a);
	union cat_val *x = nam_arena_take(arena, (a.n + 1u) * sizeof *x);
	bool *none = a.n > 0 ? nam_arena_take(arena, a.n) : null;
	if (x == NULL || none == NULL)
		return false;
	cat_array_all(&a, x, none);
	for (uint32_t k = 0; k < a.n; k++)
		if (!none[k] && x[k].s.len == strlen(label) && memcmp(x[k].s.p, label, x[k].s.len) == 0) {
			x[k].s = (struct cat_str){ becomes, (uint32_t)strlen(becomes) };
			found = true;
		}
	if (!found)
		return true;
	if (!cat_array_make(CAT_TEXT, a.lower, x, none, a.n, &made.s, arena, &no))
		return false;
	s = cat_value_out(cat_type_array_of(CAT_TEXT), made, arena);
	char *quoted = nam_arena_take(arena, 2 * (size_t)s.len + 3);
	if (quoted == NULL)
		return false;
	*out = quoted;
	*quoted++ = '\'';
	for (uint32_t k = 0; k < s.len; k++) {
		if (s.p[k] == '\'')
			*quoted++ = '\'';
		*quoted++ = s.p[k];
	}
	*quoted++ = '\'';
	*quoted = 0;
	return true;
}

/* True if the literal is an array with the label, or there is no memory to see. */
static bool
array_has_label(const char *p, const char *end, const char *label)
{
	struct nam_arena arena;
	const char *out;
	nam_arena_init(&arena, 1 << 10);
	bool has = !relabel_array(p, end, label, "", &arena, &out) || out != NULL;
	nam_arena_fini(&arena);
	return has;
}

bool
sql_text_has_label(const char *text, const char *label)
{
	char literal[LITERAL];
	size_t n = literal_of(label, literal);
	if (text != NULL && *text == '\'' && *behind(text) == 0)
		return false;
	if (text != NULL && strchr(label, '\\') != NULL && strstr(text, "E'") != NULL)
		return true; /* such a literal is written in another way */
	for (const char *p = text; p != NULL && *p != 0;) {
		if (*p != '\'' && *p != '"') {
			p++;
			continue;
		}
		const char *end = behind(p);
		bool is = (size_t)(end - p) == n && memcmp(p, literal, n) == 0;
		if (is || (*p == '\'' && array_has_label(p, end, label)))
			return true;
		p = end;
	}
	return false;
}

bool
sql_any_text(const struct cat_table *def, bool (*fn)(const char *text, const char *arg), const char *arg,
    const char **what, const char **name)
{
	for (unsigned i = 0; i < def->columns; i++)
		if (def->column[i].dflt != NULL && fn(def->column[i].dflt, arg)) {
			*what = "default value for column";
			*name = def->column[i].name;
			return true;
		}
	for (unsigned i = 0; i < def->checks; i++)
		if (fn(def->check[i].text, arg)) {
			*what = "constraint";
			*name = def->check[i].name;
			return true;
		}
	*what = "view";
	*name = cat_local(def->path);
	return def->kind == CAT_VIEW && fn(def->view, arg);
}

/* out, of which n bytes are written, with room for more. */
static char *
grown(const char *out, size_t n, size_t more, struct nam_arena *arena)
{
	char *to = nam_arena_take(arena, n + more);
	if (to != NULL && n > 0)
		memcpy(to, out, n);
	return to;
}

/* of_type: it is the DEFAULT of a column of the type, or of an array of it. NULL: no memory. */
static const char *
retext(const char *text, const struct sql_retext *x, bool of_type, bool *changed, struct nam_arena *arena)
{
	char was[LITERAL], is[LITERAL];
	size_t was_n = x->label != NULL ? literal_of(x->label, was) : 0;
	size_t is_n = x->label != NULL ? literal_of(x->becomes, is) : 0;
	/* each byte of the old text makes room for the longest new word */
	size_t longest = (x->type != NULL ? strlen(x->type) : 0) + is_n + 1, n = 0, places = 1;
	for (const char *p = text; *p; p++)
		places += *p == ':' || *p == '\'' || *p == ' ';
	char *out = nam_arena_take(arena, strlen(text) + places * longest + 1);
	if (out == NULL)
		return NULL;
	struct around in = { 0 };
	for (const char *p = text; *p != 0;) {
		bool quoted = *p == '\'' || *p == '"';
		const char *end = quoted ? behind(p) : p + 1, *close;
		const char *name = quoted ? NULL : cast_at(&in, p, x->said, &close);
		bool whole = p == text && *end == 0;
		bool of = (whole && of_type) || (quoted && cast_at(&in, end, x->said, &close) != NULL);
		bool label = was_n > 0 && (size_t)(end - p) == was_n && memcmp(p, was, was_n) == 0 && of;
		const char *array = NULL;
		if (!quoted)
			go_over(&in, text, p);
		if (was_n > 0 && *p == '\'' && !label && of &&
		    !relabel_array(p, end, x->label, x->becomes, arena, &array))
			return NULL;
		if (array != NULL) {
			size_t len = strlen(array);
			if ((out = grown(out, n, len + strlen(end) + places * longest + 1, arena)) == NULL)
				return NULL;
			memcpy(out + n, array, len);
			n += len;
			*changed = true;
		} else if (label) {
			memcpy(out + n, is, is_n);
			n += is_n;
			*changed = true;
		} else if (name != NULL && x->type != NULL) {
			memcpy(out + n, p, (size_t)(name - p));
			n += (size_t)(name - p);
			memcpy(out + n, x->type, strlen(x->type));
			n += strlen(x->type);
			end = close;
			*changed = true;
		} else {
			memcpy(out + n, p, (size_t)(end - p));
			n += (size_t)(end - p);
		}
		p = end;
	}
	out[n] = 0;
	return out;
}

bool
sql_retext(struct cat_table *def, const struct sql_retext *x, bool *changed, struct nam_arena *arena)
{
	struct cat_column *column = nam_arena_zero(arena, (def->columns + 1u) * sizeof *column);
	struct cat_check *check = nam_arena_zero(arena, (def->checks + 1u) * sizeof *check);
	*changed = false;
	if (column == NULL || check == NULL)
		return false;
	if (def->columns > 0)
		memcpy(column, def->column, def->columns * sizeof *column);
	if (def->checks > 0)
		memcpy(check, def->check, def->checks * sizeof *check);
	def->column = column;
	def->check = check;
	for (unsigned i = 0; i < def->columns; i++) {
		struct cat_column *c = &def->column[i];
		bool of_type = cat_type_id(c->type) == x->number;
		if (c->dflt != NULL && (c->dflt = retext(c->dflt, x, of_type, changed, arena)) == NULL)
			return false;
	}
	for (unsigned i = 0; i < def->checks; i++)
		if ((def->check[i].text = retext(def->check[i].text, x, false, changed, arena)) == NULL)
			return false;
	return def->kind != CAT_VIEW || (def->view = retext(def->view, x, false, changed, arena)) != NULL;
}
