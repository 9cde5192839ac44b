/* common.c -- small things that several benches need: options, metrics, progress. */
#include <base/clock.h>
#include <base/number.h>
#include <bench/bench.h>

#include <dirent.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
bench_take_numbers(char *list, uint64_t low, uint64_t high, unsigned *out, unsigned max, unsigned *n)
{
	*n = 0;
	for (char *w; (w = bench_word_of(&list)) != NULL;) {
		uint64_t x;
		if (*n == max || !nam_number(w, low, high, &x))
			return false;
		out[(*n)++] = (unsigned)x;
	}
	return true;
}

bool
bench_take_names(char *list, const char *const *name, unsigned count, bool *there)
{
	memset(there, 0, count * sizeof *there);
	for (char *w; (w = bench_word_of(&list)) != NULL;) {
		unsigned i = 0;
		while (i < count && strcmp(w, name[i]) != 0)
			i++;
		if (i == count)
			return false;
		there[i] = true;
	}
	return true;
}

bool
bench_take_seconds(const char *s, double *out)
{
	char *end;
	*out = strtod(s, &end);
	return end != s && *end == 0 && *out >= 0.001 && *out <= 3600;
}

void
bench_common_usage(FILE *to, const char *node, const char *slice, const char *runs)
{
	fprintf(to,
	    "  --seconds S      length of each slice (default %s)\n"
	    "  --runs N         %s, in turn; medians are reported (default 3)\n"
	    "  --fabric P       auto, shm, verbs or tcp (default auto)\n"
	    "  --storage LIST   storage nodes host:port,...%s; default: one of our own\n"
	    "  --cluster NAME, --secret-file F   as for namdb sql\n"
	    "  --plot FILE      a picture, .png or .svg, by gnuplot; --plot-data also keeps FILE.dat\n"
	    "  --json           one object on stdout\n",
	    slice, runs, node);
}

bool
bench_common_take(struct bench_common *c, int letter, const char *value)
{
	uint64_t x = 0;
	bool ok = true;
	switch (letter) {
	case 't':
		return bench_take_seconds(value, &c->seconds);
	case 'r':
		ok = nam_number(value, 1, BENCH_RUNS_MAX, &x);
		c->runs = (unsigned)x;
		return ok;
	case 'f':
		return net_kind_parse(value, &c->fabric);
	case 'S':
		c->storage = value;
		return true;
	case 'c':
		c->cluster = value;
		return true;
	case 'k':
		c->secret_file = value;
		return true;
	case 'g':
		return bench_plot_named(c->plot = value);
	case 'G':
		return c->plot_data = true;
	case 'j':
		return c->json = true;
	default:
		return false;
	}
}

int
bench_bad_use(const char *bench, const char *why)
{
	fprintf(stderr, "namdb bench: %s; see namdb bench %s --help\n", why, bench);
	return 3;
}

int
bench_options(int argc, char **argv, const struct option *opt, struct bench_common *c,
    bool (*take)(void *arg, int letter, char *value), void (*usage)(FILE *to), void *arg)
{
	int at = 0;
	optind = 0;
	for (int letter; (letter = getopt_long(argc, argv, "h", opt, &at)) != -1;) {
		if (letter == '?')
			return 3;
		if (letter == 'h') {
			usage(stdout);
			return 1;
		}
		if (!take(arg, letter, optarg) && !bench_common_take(c, letter, optarg)) {
			char why[160];
			snprintf(why, sizeof why, "--%s %.60s: that is not a value for this option",
			    opt[at].name, optarg != NULL ? optarg : "");
			return bench_bad_use(argv[0], why);
		}
	}
	if (optind < argc)
		return bench_bad_use(argv[0], "there is a word too many");
	if (c->plot_data && c->plot == NULL)
		return bench_bad_use(argv[0], "--plot-data goes with --plot");
	return 0;
}

void
bench_slice_add(struct bench_slice *into, const struct bench_slice *from)
{
	into->commits += from->commits;
	into->aborts += from->aborts;
	into->errors += from->errors;
	into->refused += from->refused;
	into->seconds += from->seconds;
	into->cpu_seconds += from->cpu_seconds;
	into->worker_cpu_seconds += from->worker_cpu_seconds;
	nam_hist_merge(&into->latency_ns, &from->latency_ns);
	net_counts_add(&into->counts, &from->counts);
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

void
bench_metric_latency(struct bench_metrics *m, const struct bench_slice *s)
{
	bench_metric(m, "p50_us", (double)nam_hist_quantile(&s->latency_ns, 0.5) / 1e3);
	bench_metric(m, "p99_us", (double)nam_hist_quantile(&s->latency_ns, 0.99) / 1e3);
	bench_metric(m, "p999_us", (double)nam_hist_quantile(&s->latency_ns, 0.999) / 1e3);
}

uint64_t
bench_complain(const char *what, uint64_t n)
{
	if (n > 0)
		fprintf(stderr, "namdb bench: check: %s (%llu)\n", what, (unsigned long long)n);
	return n;
}

double
bench_cpu_seconds(void)
{
	struct timespec t = { 0 };
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool
bench_program_there(const char *name)
{
	const char *path = getenv("PATH");
	char file[4096];
	for (size_t n; path != NULL && *path != 0; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		snprintf(file, sizeof file, "%.*s/%s", (int)n, path, name);
		if (access(file, X_OK) == 0)
			return true;
	}
	return false;
}

bool
bench_pin(unsigned core)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(core, &set);
	return sched_setaffinity(0, sizeof set, &set) == 0;
}

/* By convention their names are rxeN and siwN. */
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

enum { PROGRESS_WIDTH = 60 };
#define PROGRESS_EVERY_NS UINT64_C(10000000000)
static uint64_t progress_told;

void
bench_progress(const char *fmt, ...)
{
	char line[PROGRESS_WIDTH + 1];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	uint64_t now = nam_clock_ns();
	if (isatty(STDERR_FILENO)) {
		fprintf(stderr, "\r%-*s", PROGRESS_WIDTH, line);
	} else if (progress_told == 0) {
		progress_told = now; /* short steps print only their final line */
	} else if (now - progress_told > PROGRESS_EVERY_NS) {
		progress_told = now;
		fprintf(stderr, "%s\n", line);
	}
}

void
bench_progress_end(const char *fmt, ...)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%*s\r", PROGRESS_WIDTH, "");
	progress_told = 0;
	if (fmt == NULL)
		return;
	va_list ap;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}
