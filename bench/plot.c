/* plot.c -- the way of every bench from its points to a picture: FILE.dat and gnuplot. */
#include <bench/bench.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
bench_plot_named(const char *name)
{
	size_t n = strlen(name);
	return n > 4 && (strcmp(name + n - 4, ".png") == 0 || strcmp(name + n - 4, ".svg") == 0);
}

bool
bench_plot_ready(const char *file)
{
	if (!bench_program_there("gnuplot")) {
		fprintf(stderr,
		    "namdb bench: --plot needs gnuplot, which is not here: apt install gnuplot-nox\n");
		return false;
	}
	bool old = access(file, F_OK) == 0;
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0) {
		fprintf(stderr, "namdb bench: --plot %s: %s\n", file, strerror(errno));
		return false;
	}
	close(fd);
	if (!old)
		unlink(file);
	return true;
}

void
bench_quote(FILE *to, const char *s)
{
	fputc('\'', to);
	for (; *s; s++)
		fprintf(to, *s == '\'' ? "''" : "%c", *s);
	fputc('\'', to);
}

bool
bench_plot_open(struct bench_plot *p, const char *file)
{
	p->file = file;
	p->data = p->gnuplot = NULL;
	if ((size_t)snprintf(p->data_name, sizeof p->data_name, "%s.dat", file) >= sizeof p->data_name) {
		fprintf(stderr, "namdb bench: the name of --plot is too long\n");
		return false;
	}
	if ((p->data = fopen(p->data_name, "we")) == NULL)
		fprintf(stderr, "namdb bench: %s: %s\n", p->data_name, strerror(errno));
	return p->data != NULL;
}

FILE *
bench_plot_draw(struct bench_plot *p, unsigned width, unsigned height)
{
	bool svg = strcmp(p->file + strlen(p->file) - 4, ".svg") == 0;
	bool ok = fclose(p->data) == 0;
	p->data = NULL;
	if (!ok || (p->gnuplot = popen("gnuplot", "we")) == NULL)
		return NULL;
	fprintf(p->gnuplot, "set terminal %s size %u,%u noenhanced\nset output ", svg ? "svg" : "pngcairo",
	    width, height);
	bench_quote(p->gnuplot, p->file);
	fputc('\n', p->gnuplot);
	return p->gnuplot;
}

bool
bench_plot_close(struct bench_plot *p, bool keep)
{
	if (p->data != NULL)
		fclose(p->data);
	bool ok = p->gnuplot != NULL && pclose(p->gnuplot) == 0;
	if (!ok)
		fprintf(stderr, "namdb bench: gnuplot made no %s\n", p->file);
	if (!keep)
		unlink(p->data_name);
	return ok;
}
