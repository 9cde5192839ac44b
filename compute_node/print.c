/* print.c -- result tables as text, laid out as psql lays them out. */
#include <base/arena.h>
#include <compute_node/print.h>

#include <stdlib.h>
#include <wchar.h>

struct cell {
	const char *p;
	uint32_t len;
	uint32_t width;
	bool plain; /* printable ASCII only: one line, width == len */
};

struct cn_print {
	FILE *out;
	enum cn_print_form form;
	bool busy;
	bool headed; /* forms that go out as they come: what stands before the first row is out */
	unsigned columns;
	enum cn_kind *kind;
	size_t *width;
	size_t *shown; /* while a row is shown: bytes gone of each cell */
	struct cell *head;
	struct cell **chunk; /* rows, CHUNK cells at a time */
	size_t chunks, cells;
	char *title, *foot;
	char *null;             /* what stands for NULL; NULL = nothing does */
	struct nam_arena arena; /* of the current table */
};

enum { CHUNK = 1 << 14 };
#define SHOWN SIZE_MAX

struct cn_print *
cn_print_open(FILE *out, enum cn_print_form form)
{
	struct cn_print *p = calloc(1, sizeof *p);
	if (p == NULL)
		return NULL;
	p->out = out;
	p->form = form;
	nam_arena_init(&p->arena, 256 << 10);
	return p;
}

void
cn_print_close(struct cn_print *p)
{
	if (p == NULL)
		return;
	nam_arena_fini(&p->arena);
	free(p->title);
	free(p->foot);
	free(p->null);
	free(p->chunk);
	free(p);
}

void
cn_print_to(struct cn_print *p, FILE *out)
{
	p->out = out;
}

void
cn_print_as(struct cn_print *p, enum cn_print_form form)
{
	p->form = form;
}

/* In these forms a row goes out when its last cell is there. */
static bool
streams(const struct cn_print *p)
{
	return p->form == CN_CSV || p->form == CN_JSON || p->form == CN_MARKDOWN;
}

bool
cn_print_null(struct cn_print *p, const char *text)
{
	char *copy = text[0] ? strdup(text) : NULL;
	if (copy == NULL && text[0])
		return false;
	free(p->null);
	p->null = copy;
	return true;
}

size_t
cn_print_lines(const struct cn_print *p)
{
	if (!p->busy || streams(p) || p->columns == 0)
		return 0;
	size_t more = 4;
	for (const char *f = p->foot; f != NULL && *f; f++)
		more += *f == '\n';
	return p->form == CN_EXPANDED ? p->cells + p->cells / p->columns + more
				      : p->cells / p->columns + more;
}

bool
cn_print_busy(const struct cn_print *p)
{
	return p->busy;
}

void
cn_print_drop(struct cn_print *p)
{
	p->busy = false;
	p->chunks = p->cells = 0;
	free(p->chunk);
	p->chunk = NULL;
	free(p->title);
	free(p->foot);
	p->title = p->foot = NULL;
	nam_arena_reset(&p->arena);
}

void
cn_print_title(struct cn_print *p, const char *title)
{
	free(p->title);
	p->title = strdup(title);
}

void
cn_print_foot(struct cn_print *p, const char *text)
{
	free(p->foot);
	p->foot = strdup(text);
}

/* ---- text as a terminal shows it --------------------------------------------- */

/* One character of UTF-8: its length, or 0 when the bytes are not UTF-8. */
static unsigned
utf8(const unsigned char *s, size_t n, uint32_t *out)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned len = s[0] < 0x80   ? 1
		       : s[0] < 0xc2 ? 0
		       : s[0] < 0xe0 ? 2
		       : s[0] < 0xf0 ? 3
		       : s[0] < 0xf5 ? 4
				     : 0;
	if (len == 0 || len > n)
		return 0;
	uint32_t c = len == 1 ? s[0] : s[0] & (0x7fu >> len);
	for (unsigned i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*out = c;
	return len;
}

/* Shows one line of s (up to a newline), on out unless NULL. Returns its width; *used: bytes gone,
 * newline included. */
static size_t
show_line(FILE *out, const char *s, size_t n, size_t *used)
{
	size_t i = 0, width = 0;
	while (i < n && s[i] != '\n') {
		unsigned char b = (unsigned char)s[i];
		if (b >= 0x20 && b < 0x7f) {
			if (out)
				fputc(b, out);
			i++, width++;
		} else if (b == '\t') {
			do {
				if (out)
					fputc(' ', out);
			} while (++width % 8 != 0);
			i++;
		} else if (b == '\r') {
			if (out)
				fputs("\\r", out);
			i++, width += 2;
		} else {
			uint32_t c = 0;
			unsigned len = utf8((const unsigned char *)s + i, n - i, &c);
			int w = len > 1 ? wcwidth((wchar_t)c) : -1;
			if (w >= 0) {
				if (out)
					fwrite(s + i, 1, len, out);
				width += (size_t)w;
			} else if (len > 1) {
				char esc[16];
				width += (size_t)snprintf(esc, sizeof esc, "\\u%04X", c);
				if (out)
					fputs(esc, out);
			} else {
				if (out)
					fprintf(out, "\\x%02X", b);
				width += 4;
				len = 1;
			}
			i += len;
		}
	}
	*used = i < n ? i + 1 : i;
	return width;
}

size_t
cn_print_width(const char *s, size_t len)
{
	size_t max = 0, used;
	do {
		size_t w = show_line(NULL, s, len, &used);
		if (w > max)
			max = w;
		s += used;
		len -= used;
	} while (len > 0);
	return max;
}

static void
measure(struct cell *c)
{
	c->plain = true;
	for (uint32_t i = 0; i < c->len; i++)
		if ((unsigned char)c->p[i] < 0x20 || (unsigned char)c->p[i] >= 0x7f) {
			c->plain = false;
			break;
		}
	c->width = c->plain ? c->len : (uint32_t)cn_print_width(c->p, c->len);
}

static void
spaces(FILE *out, size_t n)
{
	fprintf(out, "%*s", (int)n, "");
}

/* ---- CSV --------------------------------------------------------------------- */

static void
csv_cell(FILE *out, const char *s, size_t len)
{
	/* an empty text is not a NULL, which is nothing at all */
	bool quote = len == 0 || (len == 2 && s[0] == '\\' && s[1] == '.');
	for (size_t i = 0; i < len && !quote; i++)
		quote = s[i] == ',' || s[i] == '"' || s[i] == '\n' || s[i] == '\r';
	if (!quote) {
		fwrite(s, 1, len, out);
		return;
	}
	fputc('"', out);
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '"')
			fputc('"', out);
		fputc(s[i], out);
	}
	fputc('"', out);
}

/* ---- JSON -------------------------------------------------------------------- */

static void
json_text(FILE *out, const char *s, size_t len)
{
	fputc('"', out);
	for (size_t i = 0; i < len;) {
		uint32_t c = 0;
		unsigned char b = (unsigned char)s[i];
		unsigned n = utf8((const unsigned char *)s + i, len - i, &c);
		if (b == '"' || b == '\\')
			fprintf(out, "\\%c", b);
		else if (b == '\n' || b == '\t' || b == '\r')
			fprintf(out, "\\%c", b == '\n' ? 'n' : b == '\t' ? 't' : 'r');
		else if (b < 0x20)
			fprintf(out, "\\u%04x", b);
		else if (n == 0)
			fputs("\\ufffd", out); /* JSON is UTF-8 */
		else
			fwrite(s + i, 1, n, out);
		i += n ? n : 1;
	}
	fputc('"', out);
}

/* True if it is a number as JSON writes them. NaN and infinities are none. */
static bool
json_number(const char *s, size_t len)
{
	size_t i = len > 0 && s[0] == '-';
	size_t whole = i;
	while (i < len && s[i] >= '0' && s[i] <= '9')
		i++;
	if (i == whole || (s[whole] == '0' && i - whole > 1))
		return false;
	if (i < len && s[i] == '.') {
		size_t part = ++i;
		while (i < len && s[i] >= '0' && s[i] <= '9')
			i++;
		if (i == part)
			return false;
	}
	if (i < len && s[i] == 'e') {
		i++;
		i += i < len && (s[i] == '+' || s[i] == '-');
		size_t part = i;
		while (i < len && s[i] >= '0' && s[i] <= '9')
			i++;
		if (i == part)
			return false;
	}
	return i == len;
}

static void
json_cell(struct cn_print *p, unsigned column, const char *s, size_t len, bool null)
{
	FILE *out = p->out;
	fputs(column == 0 ? " {" : ", ", out);
	json_text(out, p->head[column].p, p->head[column].len);
	fputs(": ", out);
	if (null)
		fputs("null", out);
	else if (p->kind[column] == CN_BOOL)
		fputs(len > 0 && s[0] == 't' ? "true" : "false", out);
	else if (p->kind[column] == CN_DOCUMENT)
		for (size_t i = 0; i < len;
		     i++) /* line ends between its words; there are none within strings */
			fputc(s[i] == '\n' || s[i] == '\r' ? ' ' : s[i], out);
	else if (p->kind[column] == CN_NUMBER && json_number(s, len))
		fwrite(s, 1, len, out);
	else
		json_text(out, s, len);
}

/* ---- Markdown ---------------------------------------------------------------- */

static void
markdown_text(FILE *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char b = (unsigned char)s[i];
		if (b == '|' || b == '\\' || b == '`' || b == '*' || b == '_' || b == '[' || b == '~')
			fprintf(out, "\\%c", b);
		else if (b == '<' || b == '&')
			fputs(b == '<' ? "&lt;" : "&amp;", out);
		else if (b == '\n')
			fputs("<br>", out);
		else if (b < 0x20)
			fputc(' ', out);
		else
			fputc(b, out);
	}
}

/* ---- forms that go out row by row --------------------------------------------- */

/*
 * What stands before the rows goes out with the first, or at the end of none: a statement that
 * fails first answers nothing.
 */
static void
stream_head(struct cn_print *p)
{
	FILE *out = p->out;
	if (p->headed)
		return;
	p->headed = true;
	if (p->form == CN_JSON) {
		fputc('[', out);
		return;
	}
	if (p->form == CN_MARKDOWN && p->title != NULL)
		fprintf(out, "%s\n\n", p->title);
	for (unsigned i = 0; i < p->columns; i++) {
		if (p->form == CN_MARKDOWN) {
			fputs(i == 0 ? "| " : " | ", out);
			markdown_text(out, p->head[i].p, p->head[i].len);
			continue;
		}
		if (i > 0)
			fputc(',', out);
		csv_cell(out, p->head[i].p, p->head[i].len);
	}
	if (p->columns == 0)
		return;
	fputs(p->form == CN_MARKDOWN ? " |\n" : "\n", out);
	for (unsigned i = 0; p->form == CN_MARKDOWN && i < p->columns; i++)
		fprintf(
		    out, "%s%s", p->kind[i] == CN_NUMBER ? "|--:" : "|---", i + 1 < p->columns ? "" : "|\n");
}

static void
stream_cell(struct cn_print *p, const char *s, size_t len, bool null)
{
	FILE *out = p->out;
	unsigned column = (unsigned)(p->cells++ % p->columns);
	bool last = column == p->columns - 1;
	stream_head(p);
	if (p->form == CN_JSON) {
		if (column == 0)
			fputs(p->cells == 1 ? "\n" : ",\n", out);
		json_cell(p, column, s, len, null);
		if (last)
			fputc('}', out);
		return;
	}
	bool stands = null && p->null != NULL;
	if (stands) {
		s = p->null;
		len = strlen(s);
	}
	if (p->form == CN_MARKDOWN) {
		fputs(column == 0 ? "| " : " | ", out);
		if (!null || stands)
			markdown_text(out, s, len);
		fputs(last ? " |\n" : "", out);
		return;
	}
	if (column > 0)
		fputc(',', out);
	if (stands)
		fputs(p->null, out);
	else if (!null)
		csv_cell(out, s, len);
	if (last)
		fputc('\n', out);
}

static void
stream_end(struct cn_print *p)
{
	stream_head(p);
	if (p->form == CN_JSON)
		fputs(p->cells > 0 ? "\n]\n" : "]\n", p->out);
	if (p->form == CN_MARKDOWN)
		fprintf(p->out, "\n%s%s", p->foot ? p->foot : "", p->foot ? "\n" : "");
}

/* ---- a table ----------------------------------------------------------------- */

bool
cn_print_begin(struct cn_print *p, unsigned columns, const char *const *name, const enum cn_kind *kind)
{
	char *title = p->title; /* said before begin, belongs to this table */
	p->title = NULL;
	cn_print_drop(p);
	p->title = title;
	p->busy = true;
	p->columns = columns;
	p->headed = false;
	p->kind = nam_arena_copy(&p->arena, kind, columns * sizeof *kind);
	p->width = nam_arena_take(&p->arena, columns * sizeof *p->width);
	p->shown = nam_arena_take(&p->arena, columns * sizeof *p->shown);
	p->head = nam_arena_take(&p->arena, columns * sizeof *p->head);
	if (p->kind == NULL || p->width == NULL || p->shown == NULL || p->head == NULL)
		goto bad;
	for (unsigned i = 0; i < columns; i++) {
		size_t n = strlen(name[i]);
		char *copy = nam_arena_str(&p->arena, name[i], n);
		if (copy == NULL)
			goto bad;
		p->head[i] = (struct cell){ .p = copy, .len = (uint32_t)n };
		if (streams(p))
			continue;
		for (size_t k = 0; k < n; k++)
			if (copy[k] == '\n')
				copy[k] = ' ';
		measure(&p->head[i]);
		p->width[i] = p->head[i].width;
	}
	return true;
bad:
	cn_print_drop(p);
	return false;
}

bool
cn_print_cell(struct cn_print *p, const char *s, size_t len, bool null)
{
	if (!p->busy)
		return false;
	if (streams(p)) {
		stream_cell(p, s, len, null);
		return true;
	}
	if (null && p->null != NULL) {
		s = p->null;
		len = strlen(s);
		null = false;
	}
	if (p->cells == p->chunks * CHUNK) {
		struct cell **more = realloc(p->chunk, (p->chunks + 1) * sizeof *more);
		if (more == NULL)
			goto bad;
		p->chunk = more;
		if ((more[p->chunks] = nam_arena_take(&p->arena, CHUNK * sizeof **more)) == NULL)
			goto bad;
		p->chunks++;
	}
	struct cell *c = &p->chunk[p->cells / CHUNK][p->cells % CHUNK];
	*c = (struct cell){ .p = "", .plain = true };
	if (!null && len > 0) {
		c->p = nam_arena_copy(&p->arena, s, len);
		c->len = (uint32_t)len;
		if (c->p == NULL)
			goto bad;
		measure(c);
	}
	size_t *width = &p->width[p->cells++ % p->columns];
	if (c->width > *width)
		*width = c->width;
	return true;
bad:
	cn_print_drop(p);
	return false;
}

/* One row: its cells side by side, as many lines as its longest cell has. */
static void
show_row(struct cn_print *p, size_t at)
{
	FILE *out = p->out;
	for (unsigned j = 0; j < p->columns; j++)
		p->shown[j] = 0;
	for (bool more = true; more;) {
		more = false;
		for (unsigned j = 0; j < p->columns; j++) {
			const struct cell *c = &p->chunk[(at + j) / CHUNK][(at + j) % CHUNK];
			bool last = j + 1 == p->columns, goes_on = false;
			fputc(' ', out);
			if (p->shown[j] == SHOWN) {
				if (!last)
					spaces(out, p->width[j]);
			} else {
				const char *s = c->p + p->shown[j];
				size_t n = c->len - p->shown[j], used = n;
				size_t pad = p->width[j] - (c->plain ? n : show_line(NULL, s, n, &used));
				goes_on = used > 0 && s[used - 1] == '\n';
				if (p->kind[j] == CN_NUMBER)
					spaces(out, pad);
				if (c->plain)
					fwrite(s, 1, n, out);
				else
					show_line(out, s, n, &used);
				if (p->kind[j] != CN_NUMBER && (!last || goes_on))
					spaces(out, pad);
				p->shown[j] = goes_on ? p->shown[j] + used : SHOWN;
			}
			if (goes_on)
				fputc('+', out);
			else if (!last)
				fputc(' ', out);
			if (!last)
				fputc('|', out);
			more |= goes_on;
		}
		fputc('\n', out);
	}
}

/*
 * "-[ RECORD 1 ]-+----": the bar stands above those of the lines below, unless the words are
 * longer.
 */
static void
record_line(FILE *out, size_t number, size_t name, size_t value)
{
	char text[40];
	size_t n = (size_t)snprintf(text, sizeof text, "-[ RECORD %zu ]", number);
	size_t all = name + 3 + value;
	fputs(text, out);
	for (; n < all; n++)
		fputc(n == name + 1 ? '+' : '-', out);
	fputc('\n', out);
}

/* The lines of one value, its name before the first. */
static void
show_value(struct cn_print *p, const struct cell *head, size_t name, const struct cell *c, size_t value)
{
	FILE *out = p->out;
	size_t used, at = 0;
	show_line(out, head->p, head->len, &used);
	spaces(out, name - head->width);
	for (bool more = true; more;) {
		const char *s = c->p + at;
		size_t n = c->len - at;
		fputs(" | ", out);
		size_t width = show_line(out, s, n, &used);
		more = used > 0 && s[used - 1] == '\n';
		at += used;
		if (more) {
			spaces(out, value - width);
			fputc('+', out);
		}
		fputc('\n', out);
		if (more)
			spaces(out, name);
	}
}

static void
show_expanded(struct cn_print *p, bool footer)
{
	size_t name = 0, value = 0, rows = p->columns ? p->cells / p->columns : 0;
	for (unsigned j = 0; j < p->columns; j++)
		if (p->head[j].width > name)
			name = p->head[j].width;
	for (size_t k = 0; k < p->cells; k++)
		if (p->chunk[k / CHUNK][k % CHUNK].width > value)
			value = p->chunk[k / CHUNK][k % CHUNK].width;
	size_t least = (size_t)snprintf(NULL, 0, "-[ RECORD %zu ]", rows);
	if (value + name + 4 < least)
		value = least - name - 4;
	if (p->title != NULL)
		fprintf(p->out, "%s\n", p->title);
	for (size_t r = 0; r < rows; r++) {
		record_line(p->out, r + 1, name, value);
		for (unsigned j = 0; j < p->columns; j++) {
			size_t k = r * p->columns + j;
			show_value(p, &p->head[j], name, &p->chunk[k / CHUNK][k % CHUNK], value);
		}
	}
	if (rows == 0 && footer)
		fputs("(0 rows)\n", p->out);
	if (p->foot != NULL)
		fputs(p->foot, p->out);
	fputc('\n', p->out);
}

void
cn_print_end(struct cn_print *p, bool footer)
{
	if (!p->busy)
		return;
	if (streams(p)) {
		stream_end(p);
		cn_print_drop(p);
		return;
	}
	if (p->form == CN_EXPANDED) {
		show_expanded(p, footer);
		cn_print_drop(p);
		return;
	}
	FILE *out = p->out;
	size_t total = 0;
	for (unsigned j = 0; j < p->columns; j++)
		total += p->width[j] + 3;
	if (p->title != NULL) {
		size_t w = cn_print_width(p->title, strlen(p->title));
		size_t page = total > 0 ? total - 1 : 0;
		if (w < page)
			spaces(out, (page - w) / 2);
		fprintf(out, "%s\n", p->title);
	}
	for (unsigned j = 0; j < p->columns; j++) {
		size_t pad = p->width[j] - p->head[j].width, used;
		fputc(' ', out);
		spaces(out, pad / 2);
		show_line(out, p->head[j].p, p->head[j].len, &used);
		spaces(out, pad - pad / 2);
		fputs(j + 1 < p->columns ? " |" : " \n", out);
	}
	for (unsigned j = 0; j < p->columns; j++) {
		for (size_t k = 0; k < p->width[j] + 2; k++)
			fputc('-', out);
		fputc(j + 1 < p->columns ? '+' : '\n', out);
	}
	if (p->columns == 0)
		fputs("--\n", out);
	size_t rows = p->columns ? p->cells / p->columns : 0;
	for (size_t r = 0; r < rows; r++)
		show_row(p, r * p->columns);
	if (p->foot != NULL)
		fputs(p->foot, out);
	if (footer)
		fprintf(out, "(%zu row%s)\n", rows, rows == 1 ? "" : "s");
	if (footer || p->foot != NULL)
		fputc('\n', out);
	cn_print_drop(p);
}
