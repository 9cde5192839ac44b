/* memory.c -- how much memory statements may keep: of one session, and of all in this process. */
#include <sql/common/memory.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nam_budget sql_process_memory; /* no limit until a session sets one */

bool
sql_parse_kb(const char *name, const char *v, uint64_t *kb, struct cat_err *err)
{
	char *end;
	double x = strtod(v, &end);
	while (*end == ' ')
		end++;
	double unit = *end == 0 || strcmp(end, "kB") == 0 ? 1
		      : strcmp(end, "B") == 0             ? 1.0 / 1024
		      : strcmp(end, "MB") == 0            ? 1024
		      : strcmp(end, "GB") == 0            ? 1 << 20
		      : strcmp(end, "TB") == 0            ? 1 << 30
							  : 0;
	if (end == v || unit == 0)
		return cat_error(err, "22023", "invalid value for parameter \"%s\": \"%.100s\"", name, v);
	x = floor(x * unit + 0.5);
	if (!(x == 0 || (x >= 1024 && x <= 0x1p43)))
		return cat_error(err, "22023",
		    "%.100s is outside the valid range for parameter \"%s\" (0, 1MB .. 8192TB)", v, name);
	*kb = (uint64_t)x;
	return true;
}

const char *
sql_kb_text(uint64_t kb, char *buf, size_t max)
{
	if (kb == 0)
		return "0";
	if (kb % (1 << 20) == 0)
		snprintf(buf, max, "%lluGB", (unsigned long long)kb >> 20);
	else if (kb % 1024 == 0)
		snprintf(buf, max, "%lluMB", (unsigned long long)kb >> 10);
	else
		snprintf(buf, max, "%llukB", (unsigned long long)kb);
	return buf;
}
