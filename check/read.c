/* read.c -- JSON lines into a history. Strict: a fault stops the judge with its line and column. */
#include "check_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { TEXT_MAX = 256 }; /* bytes of a key that is text */

struct reader {
	struct chk *c;
	const char *p, *end, *line_at;
	uint32_t line;
	char text[TEXT_MAX];
	uint32_t text_len;
};

static _Noreturn __attribute__((format(printf, 3, 4))) void
wrong(const struct reader *r, const char *at, const char *fmt, ...)
{
	char what[300];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	chk_stop(r->c, "%s:%u:%zu: %s", r->c->name, r->line, (size_t)(at - r->line_at) + 1, what);
}

static void
blanks(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\r'))
		r->p++;
}

/* What stands there, for a message: one character or where the line ends. */
static _Noreturn void
unexpected(const struct reader *r, const char *wanted)
{
	if (r->p == r->end)
		wrong(r, r->p, "the file ends where %s should stand", wanted);
	if (*r->p == '\n')
		wrong(r, r->p, "the line ends where %s should stand", wanted);
	unsigned char ch = (unsigned char)*r->p;
	if (ch < 32 || ch > 126)
		wrong(r, r->p, "byte %u where %s should stand", ch, wanted);
	wrong(r, r->p, "'%c' where %s should stand", ch, wanted);
}

static bool
next_is(struct reader *r, char ch)
{
	blanks(r);
	if (r->p < r->end && *r->p == ch) {
		r->p++;
		return true;
	}
	return false;
}

static void
want(struct reader *r, char ch)
{
	char text[4] = { '\'', ch, '\'', 0 };
	if (!next_is(r, ch))
		unexpected(r, text);
}

static bool
word(struct reader *r, const char *w)
{
	size_t n = strlen(w);
	blanks(r);
	if ((size_t)(r->end - r->p) < n || memcmp(r->p, w, n) != 0)
		return false;
	r->p += n;
	return true;
}

/* Digits with an optional sign; magnitude up to 2^64 - 1. */
static uint64_t
digits(struct reader *r, bool *minus, const char *what)
{
	blanks(r);
	const char *at = r->p;
	uint64_t n = 0;
	*minus = r->p < r->end && *r->p == '-';
	r->p += *minus;
	if (r->p == r->end || *r->p < '0' || *r->p > '9')
		unexpected(r, what);
	for (; r->p < r->end && *r->p >= '0' && *r->p <= '9'; r->p++)
		if (__builtin_mul_overflow(n, (uint64_t)10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*r->p - '0'), &n))
			wrong(r, at, "this number has more than 64 bits");
	if (r->p < r->end && (*r->p == '.' || *r->p == 'e' || *r->p == 'E'))
		wrong(r, at, "%s should be a whole number", what);
	return n;
}

static int64_t
number(struct reader *r, const char *what)
{
	bool minus;
	blanks(r);
	const char *at = r->p;
	uint64_t n = digits(r, &minus, what);
	if (n > (uint64_t)INT64_MAX + minus)
		wrong(r, at, "%s should have no more than 64 bits, sign included", what);
	return (int64_t)(minus ? -n : n);
}

static uint64_t
stamp(struct reader *r, const char *what)
{
	bool minus;
	blanks(r);
	const char *at = r->p;
	uint64_t n = digits(r, &minus, what);
	if (minus && n != 0)
		wrong(r, at, "%s cannot be negative", what);
	return n;
}

static void
put_byte(struct reader *r, const char *at, uint32_t ch)
{
	if (r->text_len == TEXT_MAX)
		wrong(r, at, "a text of more than %d bytes", TEXT_MAX);
	r->text[r->text_len++] = (char)ch;
}

static uint32_t
four_hex(struct reader *r)
{
	uint32_t n = 0;
	for (unsigned i = 0; i < 4; i++, r->p++) {
		char ch = r->p < r->end ? *r->p : 0;
		if (ch >= '0' && ch <= '9')
			n = n * 16 + (uint32_t)(ch - '0');
		else if ((ch | 32) >= 'a' && (ch | 32) <= 'f')
			n = n * 16 + (uint32_t)((ch | 32) - 'a') + 10;
		else
			unexpected(r, "a hexadecimal digit");
	}
	return n;
}

static void
put_rune(struct reader *r, const char *at, uint32_t u)
{
	if (u >= 0xd800 && u < 0xdc00 && r->end - r->p >= 2 && r->p[0] == '\\' && r->p[1] == 'u') {
		r->p += 2;
		uint32_t low = four_hex(r);
		if (low < 0xdc00 || low > 0xdfff)
			wrong(r, at, "half a surrogate pair");
		u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
	} else if (u >= 0xd800 && u <= 0xdfff) {
		wrong(r, at, "half a surrogate pair");
	}
	if (u < 0x80) {
		put_byte(r, at, u);
	} else if (u < 0x800) {
		put_byte(r, at, 0xc0 | u >> 6);
		put_byte(r, at, 0x80 | (u & 63));
	} else if (u < 0x10000) {
		put_byte(r, at, 0xe0 | u >> 12);
		put_byte(r, at, 0x80 | (u >> 6 & 63));
		put_byte(r, at, 0x80 | (u & 63));
	} else {
		put_byte(r, at, 0xf0 | u >> 18);
		put_byte(r, at, 0x80 | (u >> 12 & 63));
		put_byte(r, at, 0x80 | (u >> 6 & 63));
		put_byte(r, at, 0x80 | (u & 63));
	}
}

/* JSON is UTF-8: shortest forms only, no halves of surrogate pairs. */
static bool
is_utf8(const char *text, uint32_t n)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	for (uint32_t i = 0; i < n;) {
		uint32_t u = (unsigned char)text[i++];
		unsigned more = u < 0x80 ? 0 : u < 0xc0 ? 4 : u < 0xe0 ? 1 : u < 0xf0 ? 2 : u < 0xf8 ? 3 : 4;
		if (more == 4 || more > n - i)
			return false;
		u &= more ? 0x3fU >> more : 0x7f;
		for (unsigned k = 0; k < more; k++, i++) {
			if (((unsigned char)text[i] & 0xc0) != 0x80)
				return false;
			u = u << 6 | ((unsigned char)text[i] & 0x3f);
		}
		if (u < least[more] || u > 0x10ffff || (u >= 0xd800 && u <= 0xdfff))
			return false;
	}
	return true;
}

/* A string into r->text. */
static void
string(struct reader *r, const char *what)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	blanks(r);
	const char *at = r->p;
	if (!next_is(r, '"'))
		unexpected(r, what);
	r->text_len = 0;
	for (;;) {
		if (r->p == r->end || *r->p == '\n')
			wrong(r, at, "a text that does not end");
		char ch = *r->p++;
		if (ch == '"' && is_utf8(r->text, r->text_len))
			return;
		if (ch == '"')
			wrong(r, at, "a text that is not UTF-8");
		if ((unsigned char)ch < 32)
			wrong(r, r->p - 1, "a control character in a text");
		if (ch != '\\') {
			put_byte(r, at, (unsigned char)ch);
			continue;
		}
		const char *e = r->p < r->end && *r->p != 0 ? strchr(from, *r->p) : NULL;
		if (e != NULL) {
			r->p++;
			put_byte(r, at, (unsigned char)to[e - from]);
		} else if (r->p < r->end && *r->p == 'u') {
			r->p++;
			put_rune(r, at, four_hex(r));
		} else {
			wrong(r, r->p - 1, "'\\' in front of something that needs none");
		}
	}
}

static bool
text_is(const struct reader *r, const char *s)
{
	return r->text_len == strlen(s) && memcmp(r->text, s, r->text_len) == 0;
}

/* ---- operations ---- */

static uint32_t
key(struct reader *r)
{
	struct chk_key k = { 0 };
	blanks(r);
	if (r->p < r->end && *r->p == '"') {
		string(r, "a key");
		k = (struct chk_key){ .text = true, .s = r->text, .len = r->text_len };
	} else {
		k.number = number(r, "a key");
	}
	return chk_key_of(r->c, &k);
}

static void
list(struct reader *r, struct chk_op *op)
{
	struct chk *c = r->c;
	op->list = c->n_elems;
	if (word(r, "null"))
		return;
	want(r, '[');
	if (next_is(r, ']'))
		return;
	do {
		int64_t v = number(r, "a value");
		c->elems = chk_grow(c, c->elems, c->n_elems, &c->elems_cap, sizeof *c->elems);
		c->elems[c->n_elems++] = v;
		if (op->n++ == UINT32_MAX - 1)
			wrong(r, r->p, "a list too long");
	} while (next_is(r, ','));
	want(r, ']');
}

/* What each model's operations are called. */
static const struct {
	enum chk_model model;
	const char *name;
	enum chk_kind kind;
} verbs[] = {
	{ MODEL_LIST, "append", OP_APPEND },
	{ MODEL_LIST, "r", OP_READ_LIST },
	{ MODEL_REGISTER, "w", OP_WRITE },
	{ MODEL_REGISTER, "r", OP_READ },
	{ MODEL_REGISTER, "l", OP_LOCKED },
	{ MODEL_BANK, "add", OP_ADD },
	{ MODEL_BANK, "r", OP_READ },
	{ MODEL_SET, "add", OP_ADD },
	{ MODEL_SET, "r", OP_READ_LIST },
};
enum { VERBS = sizeof verbs / sizeof verbs[0] };
static const char *const model_names[] = { "list-append", "register", "bank", "set" };

/* The name that has just been read. */
static enum chk_kind
kind_of(struct reader *r, const char *at)
{
	for (unsigned v = 0; v < VERBS; v++)
		if (verbs[v].model == r->c->model && text_is(r, verbs[v].name))
			return verbs[v].kind;
	wrong(r, at, "a %s history has no operation \"%.*s\"", model_names[r->c->model], (int)r->text_len,
	    r->text);
}

static void
operation(struct reader *r)
{
	struct chk *c = r->c;
	struct chk_op op = { .write = NONE };
	blanks(r);
	const char *at = r->p;
	want(r, '[');
	string(r, "an operation's name");
	op.kind = (uint8_t)kind_of(r, at);
	want(r, ',');
	op.key = key(r);
	want(r, ',');
	switch (op.kind) {
	case OP_READ_LIST:
		list(r, &op);
		break;
	case OP_WRITE:
	case OP_READ:
	case OP_LOCKED:
		op.null = c->model == MODEL_REGISTER && word(r, "null");
		if (!op.null)
			op.value = number(r, "a value");
		break;
	default:
		op.value = number(r, "a value");
	}
	if ((op.kind == OP_READ || op.kind == OP_READ_LIST || op.kind == OP_LOCKED) && next_is(r, ',')) {
		op.at = stamp(r, "a snapshot");
		op.has_at = true;
	}
	want(r, ']');
	c->ops = chk_grow(c, c->ops, c->n_ops, &c->ops_cap, sizeof *c->ops);
	c->ops[c->n_ops++] = op;
}

/* ---- lines ---- */

enum field {
	F_ID,
	F_SESSION,
	F_BEGIN,
	F_END,
	F_STATUS,
	F_OPS,
	F_START_TS,
	F_COMMIT_TS,
	F_LEVEL,
	F_PROCESS,
	F_FINAL,
	F_NOTE,
	FIELDS
};
static const char *const field_names[] = { "id", "session", "begin", "end", "status", "ops", "start_ts",
	"commit_ts", "level", "process", "final", "note" };

static enum chk_level
level(struct reader *r)
{
	enum chk_level l;
	char name[TEXT_MAX + 1];
	blanks(r);
	const char *at = r->p;
	string(r, "a level");
	memcpy(name, r->text, r->text_len);
	name[r->text_len] = 0;
	if (memchr(name, 0, r->text_len) != NULL || !chk_level_parse(name, &l))
		wrong(r, at, "there is no level \"%.60s\"", name);
	return l;
}

static bool
yes_or_no(struct reader *r)
{
	if (word(r, "true"))
		return true;
	if (!word(r, "false"))
		unexpected(r, "true or false");
	return false;
}

static void
status(struct reader *r, struct chk_txn *t)
{
	static const char *const names[] = { "ok", "fail", "info" };
	blanks(r);
	const char *at = r->p;
	string(r, "a status");
	for (unsigned i = 0; i < 3; i++)
		if (text_is(r, names[i])) {
			t->status = (uint8_t)i;
			return;
		}
	wrong(r, at, "a status is \"ok\", \"fail\" or \"info\"");
}

static void
value_of(struct reader *r, unsigned f, struct chk_txn *t)
{
	struct chk *c = r->c;
	switch (f) {
	case F_ID:
		t->id = number(r, "an id");
		break;
	case F_SESSION:
		t->session = number(r, "a session");
		break;
	case F_BEGIN:
		t->begin = number(r, "a time");
		break;
	case F_END:
		t->has_end = !word(r, "null");
		if (t->has_end)
			t->end = number(r, "a time");
		break;
	case F_STATUS:
		status(r, t);
		break;
	case F_OPS:
		want(r, '[');
		t->op = c->n_ops;
		if (next_is(r, ']'))
			break;
		do {
			operation(r);
			if (t->n++ == UINT32_MAX - 1)
				wrong(r, r->p, "too many operations");
		} while (next_is(r, ','));
		want(r, ']');
		break;
	case F_START_TS:
		t->has_start = !word(r, "null");
		if (t->has_start)
			t->start_ts = stamp(r, "a timestamp");
		break;
	case F_COMMIT_TS:
		t->has_commit = !word(r, "null");
		if (t->has_commit)
			t->commit_ts = stamp(r, "a timestamp");
		break;
	case F_LEVEL:
		t->level = (uint8_t)level(r);
		break;
	case F_PROCESS:
		t->process = number(r, "a process");
		t->has_process = true;
		break;
	case F_FINAL:
		t->final = yes_or_no(r);
		break;
	default:
		string(r, "a text");
	}
}

/* What goes for a transaction by itself. */
static void
record_is_whole(struct reader *r, const char *at, const struct chk_txn *t, unsigned seen)
{
	for (unsigned f = 0; f <= F_OPS; f++)
		if (!(seen >> f & 1) && (f != F_END || t->status != TXN_INFO))
			wrong(r, at, "a transaction needs \"%s\"", field_names[f]);
	if (!t->has_end && t->status != TXN_INFO)
		wrong(r, at, "only a transaction of status \"info\" may have no end");
	if (t->has_end && t->end < t->begin)
		wrong(r, at, "it ends (%" PRId64 ") before it begins (%" PRId64 ")", t->end, t->begin);
	if (t->has_commit && t->status == TXN_FAIL)
		wrong(r, at, "a transaction that was rolled back has no commit_ts");
	if (r->c->n > 0 && t->has_process != r->c->txns[0].has_process)
		wrong(r, at, "either all transactions say their \"process\" or none does");
	if (t->final && t->status != TXN_OK)
		wrong(r, at, "the final reads are of status \"ok\"");
}

static void
record(struct reader *r)
{
	struct chk *c = r->c;
	struct chk_txn t = { .line = r->line, .level = CHK_UNSAID };
	unsigned seen = 0, f;
	const char *start = r->p;
	want(r, '{');
	do {
		blanks(r);
		const char *at = r->p;
		string(r, "a field's name");
		for (f = 0; f < FIELDS && !text_is(r, field_names[f]); f++)
			;
		if (f == FIELDS)
			wrong(r, at, "a transaction has no field \"%.*s\"", (int)r->text_len, r->text);
		if (seen >> f & 1)
			wrong(r, at, "\"%s\" stands here twice", field_names[f]);
		seen |= 1U << f;
		want(r, ':');
		value_of(r, f, &t);
	} while (next_is(r, ','));
	want(r, '}');
	record_is_whole(r, start, &t, seen);
	if (c->n >= UINT32_MAX / 16)
		wrong(r, start, "too many transactions");
	c->txns = chk_grow(c, c->txns, c->n, &c->txns_cap, sizeof *c->txns);
	c->txns[c->n++] = t;
	c->processes = t.has_process;
}

static void
head(struct reader *r)
{
	struct chk *c = r->c;
	const char *start = r->p;
	bool has_version = false, has_model = false;
	c->level = CHK_UNSAID;
	want(r, '{');
	do {
		blanks(r);
		const char *at = r->p;
		string(r, "a field's name");
		if (text_is(r, "history")) {
			want(r, ':');
			if (number(r, "a version") != 1)
				wrong(r, at, "this program reads histories of version 1");
			has_version = true;
		} else if (text_is(r, "model")) {
			want(r, ':');
			string(r, "a model");
			unsigned m = 0;
			while (m < MODELS && !text_is(r, model_names[m]))
				m++;
			if (m == MODELS)
				wrong(r, at, "a model is \"list-append\", \"register\", \"bank\" or \"set\"");
			c->model = (enum chk_model)m;
			has_model = true;
		} else if (text_is(r, "level")) {
			want(r, ':');
			c->level = level(r);
		} else if (text_is(r, "total")) {
			want(r, ':');
			c->total = number(r, "a sum");
			c->has_total = true;
		} else if (text_is(r, "visible")) {
			want(r, ':');
			string(r, "\"<=\" or \"<\"");
			c->ties_hidden = text_is(r, "<");
			if (!c->ties_hidden && !text_is(r, "<="))
				wrong(r, at, "\"visible\" is \"<=\" or \"<\"");
		} else if (text_is(r, "note")) {
			want(r, ':');
			string(r, "a text");
		} else {
			wrong(r, at, "the first line has no field \"%.*s\"", (int)r->text_len, r->text);
		}
	} while (next_is(r, ','));
	want(r, '}');
	if (!has_version || !has_model)
		wrong(r, start, "the first line needs \"history\" and \"model\"");
	if (c->model == MODEL_BANK && !c->has_total)
		wrong(r, start, "a bank needs its \"total\"");
}

/* {"end":N} */
static void
tail(struct reader *r)
{
	const char *start = r->p;
	want(r, '{');
	string(r, "\"end\"");
	want(r, ':');
	uint64_t n = stamp(r, "a number of transactions");
	want(r, '}');
	if (n != r->c->n)
		wrong(r, start, "the last line counts %" PRIu64 " transactions, %zu stand above it", n,
		    r->c->n);
}

static bool
is_tail(const struct reader *r)
{
	static const char text[] = "{\"end\"";
	size_t n = 0;
	for (const char *p = r->p; p < r->end && *p != '\n'; p++) {
		if (*p == ' ' || *p == '\t')
			continue;
		if (*p != text[n])
			return false;
		if (++n == sizeof text - 1)
			break;
	}
	/* "end" may also be the first field of a transaction: then there is no more than one. */
	if (n < sizeof text - 1)
		return false;
	const char *eol = memchr(r->p, '\n', (size_t)(r->end - r->p));
	size_t len = (size_t)((eol ? eol : r->end) - r->p);
	return memchr(r->p, ',', len) == NULL;
}

void
chk_read(struct chk *c, const char *bytes, size_t len)
{
	struct reader r = { .c = c, .p = bytes, .end = bytes + len, .line_at = bytes, .line = 1 };
	bool has_head = false, has_tail = false;
	c->elems =
	    /* an empty list also has an address */
	    chk_grow(c, NULL, 0, &c->elems_cap, sizeof *c->elems);
	for (;;) {
		blanks(&r);
		if (r.p < r.end && *r.p != '\n') {
			if (has_tail)
				wrong(&r, r.p, "something stands behind the last line");
			if (!has_head)
				head(&r);
			else if ((has_tail = is_tail(&r)))
				tail(&r);
			else
				record(&r);
			has_head = true;
			blanks(&r);
			if (r.p < r.end && *r.p != '\n')
				unexpected(&r, "the end of the line");
		}
		if (r.p == r.end)
			break;
		r.p++;
		if (r.line++ == UINT32_MAX - 1)
			wrong(&r, r.p, "too many lines");
		r.line_at = r.p;
	}
	if (!has_head)
		wrong(&r, r.p, "the file is empty");
	if (!has_tail && !c->opt.partial)
		wrong(&r, r.p,
		    "the file ends without its last line, {\"end\":%zu}; is it cut off? "
		    "--partial judges what is there",
		    c->n);
	c->partial = !has_tail;
}
