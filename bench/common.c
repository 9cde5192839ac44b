/* common.c -- small things that several benches need: options, metrics, gnuplot. */
#include <bench/bench.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_LEN = 4096 };

char *
bench_word_of(char **list)
{
	char *w = *list, *comma = w != NULL ? strchr(w, ',') : NULL;
	*list = comma != NULL ? comma + 1 : NULL;
	if (comma != NULL)
		*comma = 0;
	return w;
}

bool
bench_take_seconds(const char *s, double *out)
{
	char *end;
	*out = strtod(s, &end);
	return end != s && *end == 0 && *out >= 0.001 && *out <= 3600;
}

bool
bench_is_picture(const char *name)
{
	size_t n = strlen(name);
	return n > 4 && (strcmp(name + n - 4, ".png") == 0 || strcmp(name + n - 4, ".svg") == 0);
}

void
bench_metric(struct bench_metrics *m, const char *name, double value)
{
	if (m->json)
		printf("%s\"%s\": %.6g", m->comma, name, value);
	else
		printf("  %-28s %14.*f\n", name, value >= 1000 ? 0 : 3, value);
	m->comma = ", ";
}

/* They are called rxeN and siwN, as everybody makes them. */
bool
bench_software_device(void)
{
	DIR *d = opendir("/sys/class/infiniband");
	bool found = false;
	for (struct dirent *e; d != NULL && !found && (e = readdir(d)) != NULL;)
		found = strncmp(e->d_name, "rxe", 3) == 0 || strncmp(e->d_name, "siw", 3) == 0;
	if (d != NULL)
		closedir(d);
	return found;
}

bool
bench_plot_ready(void)
{
	const char *path = getenv("PATH");
	char file[PATH_LEN];
	for (size_t n; path != NULL && *path != 0; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		snprintf(file, sizeof file, "%.*s/gnuplot", (int)n, path);
		if (access(file, X_OK) == 0)
			return true;
	}
	fprintf(stderr, "namdb bench: --plot needs gnuplot, which is not here: apt install gnuplot-nox\n");
	return false;
}

void
bench_quote(FILE *to, const char *s)
{
	fputc('\'', to);
	for (; *s; s++)
		fprintf(to, *s == '\'' ? "''" : "%c", *s);
	fputc('\'', to);
}
