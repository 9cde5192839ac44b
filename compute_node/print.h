/*
 * print.h -- results as text on a stream: psql's aligned tables, CSV (RFC 4180, lines end in \n),
 * JSON, Markdown.
 *
 * Aligned output needs all rows before the first line, so rows are kept until
 * cn_print_end; the other forms go out as they come. Values are UTF-8; what a terminal
 * cannot show is shown as psql shows it (\x07, \r, tabs as spaces). A locale with
 * UTF-8 must be set for widths (setlocale). One thread.
 */
#ifndef NAM_COMPUTE_NODE_PRINT_H
#define NAM_COMPUTE_NODE_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum cn_print_form {
	CN_ALIGNED,
	CN_CSV,
	CN_EXPANDED, /* a line for each value */
	CN_JSON,     /* an array of objects, one a line */
	CN_MARKDOWN,
};

/* What a column holds: numbers are aligned right; in JSON only text has quotes. */
enum cn_kind { CN_TEXT, CN_NUMBER, CN_BOOL, CN_DOCUMENT /* JSON already */ };

struct cn_print;
/* NULL = no memory. out is borrowed until close. */
struct cn_print *cn_print_open(FILE *out, enum cn_print_form form);
void cn_print_close(struct cn_print *p);
/* Between tables: another stream; another form. */
void cn_print_to(struct cn_print *p, FILE *out);
void cn_print_as(struct cn_print *p, enum cn_print_form form);
/* Sets the text that stands for NULL in every form but JSON; "" at first. Copied. False if there is
 * no memory. */
bool cn_print_null(struct cn_print *p, const char *text);
/* About how many lines cn_print_end would write (a value of several lines counts as one). */
size_t cn_print_lines(const struct cn_print *p);

/* One table: begin, cells row by row, end. False if there is no memory (the table is dropped). */
bool cn_print_begin(struct cn_print *p, unsigned columns, const char *const *name, const enum cn_kind *kind);
bool cn_print_cell(struct cn_print *p, const char *s, size_t len, bool null);
/*
 * Sets the title above the next table, in forms that people read: aligned, expanded, Markdown.
 * Centred above an aligned table.
 */
void cn_print_title(struct cn_print *p, const char *title);
/* Whole lines below the table that has begun, in the same forms. */
void cn_print_foot(struct cn_print *p, const char *text);
/* footer: "(3 rows)" and an empty line after an aligned table. */
void cn_print_end(struct cn_print *p, bool footer);
/* Forgets a table that has begun, printing nothing more of it. */
void cn_print_drop(struct cn_print *p);
/* True if a table has begun and not ended. */
bool cn_print_busy(const struct cn_print *p);

/* Columns a terminal needs for this text (its widest line). */
size_t cn_print_width(const char *s, size_t len);

#endif
