/* words.c -- words of command lines. */
#include "cli.h"

#include <getopt.h>
#include <string.h>

const char *
cli_option_word(int o, char **argv)
{
	static char one[3] = "-?";
	const char *word = argv[optind];
	/* In the middle of a word of several the word is still ahead. */
	if (o == '?' && optopt != 0 && word != NULL && word[0] == '-' && word[1] != '-' &&
	    strchr(word, optopt) != NULL) {
		one[1] = (char)optopt;
		return one;
	}
	return argv[optind - 1];
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
