/* moment.c -- moments as text, in UTC. */
#include "cli.h"

#include <types/datetime.h>

#include <string.h>

/* timestamptz counts from 2000. */
#define US_TO_2000 INT64_C(946684800000000)

void
cli_moment(int64_t us, char out[CLI_MOMENT])
{
	_Static_assert((int)CAT_DATETIME_CHARS < (int)CLI_MOMENT, "it has room");
	out[cat_timestamptz_out(us - US_TO_2000, out)] = 0;
}

bool
cli_moment_read(const char *text, int64_t *us)
{
	struct cat_err err;
	int64_t since_2000;
	const struct cat_str s = { text, (uint32_t)strlen(text) };
	if (!cat_timestamptz_in(s, &since_2000, &err) || cat_time_infinite(since_2000))
		return false;
	return !__builtin_add_overflow(since_2000, US_TO_2000, us);
}
