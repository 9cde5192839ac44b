/* notice.c -- notices to the client, and where in the text an error is. */
#include <sql/common/error.h>

#include <stdarg.h>
#include <stdio.h>

void
sql_err_clear(struct cat_err *err)
{
	err->sqlstate[0] = err->text[0] = err->detail[0] = err->hint[0] = 0;
	err->table[0] = err->column[0] = err->constraint[0] = 0;
	err->position = 0;
}

void
sql_err_place(struct cat_err *err, const char *text, size_t len)
{
	int chars = 0;
	if (err->position <= 0)
		return;
	for (size_t i = 0; i < len && i + 1 < (size_t)err->position; i++)
		chars += ((unsigned char)text[i] & 0xc0) != 0x80;
	err->position = chars + 1;
}

void
sql_notice(const struct sql_sink *sink, const char *severity, const char *sqlstate, const char *fmt, ...)
{
	char text[300];
	va_list ap;
	if (sink->notice == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	sink->notice(sink->arg, severity, sqlstate, text);
}
