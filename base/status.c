/* status.c -- the texts of the status table, and how an error line is made. */
#include <base/status.h>

#include <stdarg.h>
#include <stdio.h>

static const struct {
	const char *name;
	enum nam_todo todo;
	const char *text;
} row[] = {
#define ROW(name, todo, text) { #name, todo, text },
	NAM_STATUS_TABLE(ROW)
#undef ROW
};

enum nam_todo
nam_status_todo(nam_status st)
{
	return (unsigned)st < NAM_STATUS_COUNT ? row[st].todo : DO_STOP;
}

const char *
nam_status_name(nam_status st)
{
	return (unsigned)st < NAM_STATUS_COUNT ? row[st].name : "NAM_UNKNOWN";
}

const char *
nam_status_text(nam_status st)
{
	return (unsigned)st < NAM_STATUS_COUNT ? row[st].text : "an unknown status";
}

nam_status
nam_fail(struct nam_err *err, nam_status st, const char *fmt, ...)
{
	if (err == NULL)
		return st;
	va_list ap;
	va_start(ap, fmt);
	err->status = st;
	vsnprintf(err->text, sizeof err->text, fmt, ap);
	va_end(ap);
	return st;
}
