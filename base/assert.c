/* assert.c -- the message of a process that found a bug in itself. */
#include <base/assert.h>

#include <stdio.h>
#include <stdlib.h>

_Noreturn void
nam_assert_failed(const char *file, int line, const char *what)
{
	fprintf(stderr, "namdb: bug at %s:%d: %s does not hold; stopping\n", file, line, what);
	abort();
}
