/* words.c -- words of command lines. */
#include "cli.h"

#include <getopt.h>
#include <string.h>

const char *
cli_bad_option(int o, char **argv)
{
	static char line[120];
	char one[3] = "-?";
	const char *word = argv[optind - 1], *next = argv[optind];
	/* In the middle of a word of several the word is still ahead. */
	if (o == '?' && optopt != 0 && next != NULL && next[0] == '-' && next[1] != '-' &&
	    strchr(next, optopt) != NULL) {
		one[1] = (char)optopt;
		word = one;
	}
	snprintf(
	    line, sizeof line, "%s %.60s", o == ':' ? "a value is missing after" : "unknown option", word);
	return line;
}

void
cli_shell_word(FILE *out, const char *word)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,@%+=";
	if (word[0] != 0 && word[strspn(word, plain)] == 0) {
		fprintf(out, " %s", word);
		return;
	}
	fputs(" '", out);
	for (const char *p = word; *p; p++)
		if (*p == '\'')
			fputs("'\\''", out);
		else
			fputc(*p, out);
	fputc('\'', out);
}
