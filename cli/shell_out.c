/* shell_out.c -- where answers go: the screen, page by page, a file, or another program. */
#include "shell.h"

#include <base/clock.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void
close_out(struct shell *sh)
{
	if (sh->out == stdout)
		return;
	int bad = sh->out_pipe ? pclose(sh->out) : fclose(sh->out);
	if (bad != 0) {
		if (!sh->out_pipe)
			shell_say(sh, "cannot write the output: %s", strerror(errno));
		sh->failed = true;
	}
	sh->out = stdout;
	sh->out_pipe = false;
	cn_print_to(sh->print, stdout);
}

bool
shell_out(struct shell *sh, const char *where)
{
	fflush(stdout);
	close_out(sh);
	if (where == NULL || where[0] == 0)
		return true;
	bool pipe = where[0] == '|';
	FILE *f = pipe ? popen(where + 1, "we") : fopen(where, "we");
	if (f == NULL) {
		shell_say(sh, "%s: %s", where, strerror(errno));
		return false;
	}
	sh->out = f;
	sh->out_pipe = pipe;
	cn_print_to(sh->print, f);
	return true;
}

/* The program that shows long answers, NULL = none is wanted. */
static const char *
pager(const struct shell *sh)
{
	struct winsize size;
	if (sh->no_pager || sh->out != stdout || !sh->editing || !isatty(0) || !isatty(1) ||
	    ioctl(1, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 ||
	    cn_print_lines(sh->print) < (size_t)size.ws_row)
		return NULL;
	const char *p = getenv("PAGER");
	if (p == NULL)
		p = "less";
	return p[strspn(p, " \t")] ? p : NULL;
}

void
shell_print_end(struct shell *sh, bool footer)
{
	const char *program = pager(sh);
	uint64_t start = nam_clock_ns();
	FILE *f = NULL;
	if (program != NULL) {
		fflush(stdout);
		f = popen(program, "we");
	}
	if (f == NULL) {
		cn_print_end(sh->print, footer);
		return;
	}
	cn_print_to(sh->print, f);
	cn_print_end(sh->print, footer);
	pclose(f); /* its exit code is not ours: a user may leave it early */
	sh->paged_ns += nam_clock_ns() - start;
	cn_print_to(sh->print, sh->out);
}
