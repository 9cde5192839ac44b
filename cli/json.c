/* json.c -- the little JSON that subcommands print. */
#include "cli.h"

#include <stdio.h>

void
cli_json_text(const char *s)
{
	putchar('"');
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < 32)
			printf("\\u%04x", *s);
		else
			putchar(*s);
	}
	putchar('"');
}
