/* number.c -- see number.h. */
#include "number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool
parse(const char *text, bool units, uint64_t min, uint64_t max, uint64_t *out)
{
	static const char unit[] = "kmgt";
	char *end;
	unsigned shift = 0;
	if (!isdigit((unsigned char)*text)) /* strtoull would take blanks and signs */
		return false;
	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	if (errno != 0)
		return false;
	if (units && *end != 0) {
		const char *u = strchr(unit, tolower((unsigned char)*end));
		if (u == NULL)
			return false;
		shift = 10 * (unsigned)(u - unit + 1);
		end++;
		end += tolower((unsigned char)*end) == 'i';
		end += tolower((unsigned char)*end) == 'b';
	}
	if (*end != 0 || n > UINT64_MAX >> shift || n << shift < min || n << shift > max)
		return false;
	*out = (uint64_t)n << shift;
	return true;
}

bool
nam_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	return parse(text, false, min, max, out);
}

bool
nam_size(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	return parse(text, true, min, max, out);
}
