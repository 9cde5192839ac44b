/* median.c -- of the runs of a bench; and quartiles. */
#include <bench/bench.h>

#include <stdlib.h>
#include <string.h>

static int
by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

void
bench_quartiles(const double *v, unsigned n, double *low, double *high)
{
	double t[BENCH_RUNS_MAX];
	memcpy(t, v, n * sizeof *t);
	qsort(t, n, sizeof *t, by_double);
	*low = t[n / 4];
	*high = t[n - 1 - n / 4];
}

double
bench_median(const double *v, unsigned n)
{
	double t[BENCH_RUNS_MAX];
	if (n == 0)
		return 0;
	memcpy(t, v, n * sizeof *t);
	qsort(t, n, sizeof *t, by_double);
	return n % 2 ? t[n / 2] : (t[n / 2 - 1] + t[n / 2]) / 2;
}
