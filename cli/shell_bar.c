/* shell_bar.c -- a bar on the terminal that shows how far the scan of a long statement is. */
#include "shell.h"

#include <base/clock.h>

#include <sys/ioctl.h>
#include <unistd.h>

/* LONG_NS: what takes less needs no bar. */
#define LONG_NS UINT64_C(1000000000)
enum { LOOK_MS = 200, CELLS = 40, FRAME = 16, LINE = CELLS + FRAME };
enum { NARROW = 10 }; /* a line with fewer columns has no room for a bar without cells */

static unsigned
line(void)
{
	struct winsize size;
	return ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* The widest bar that the line has room for. */
static unsigned
cells(void)
{
	unsigned wide = line();
	return wide > LINE ? CELLS : wide > FRAME ? wide - FRAME : 0;
}

static void
look(void *arg)
{
	struct shell *sh = arg;
	uint64_t done, all, ran = nam_clock_ns() - sh->started;
	cn_session_progress(sh->session, &done, &all);
	if (sh->bar_off || all == 0 || ran < LONG_NS || ran < sh->bar_ns || line() < NARROW)
		return;
	sh->bar_ns = ran + LOOK_MS * UINT64_C(1000000) / 2;
	unsigned n = cells(), full = (unsigned)((double)done / (double)all * n);
	fflush(stdout);
	fputs("\r[", stderr);
	for (unsigned i = 0; i < n; i++)
		fputc(i < full ? '#' : '.', stderr);
	fprintf(stderr, "] %3.0f %% ", 100.0 * (double)done / (double)all);
	sh->bar_shown = true;
}

void
shell_bar_open(struct shell *sh)
{
	sh->bar_off = false;
	sh->bar_ns = 0;
	if (isatty(1) && isatty(2))
		cn_session_watch(sh->session, LOOK_MS, look, sh);
}

void
shell_bar_close(struct shell *sh)
{
	shell_bar_erase(sh, true);
	cn_session_watch(sh->session, 0, NULL, NULL);
}

void
shell_bar_erase(struct shell *sh, bool for_good)
{
	if (sh->bar_shown)
		fprintf(stderr, "\r%*s\r", (int)cells() + 9, "");
	sh->bar_shown = false;
	sh->bar_off |= for_good;
}
