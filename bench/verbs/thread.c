/* thread.c -- the serving threads of `namdb bench verbs`: their CPU time, and the cores they
 * run on. */
#include "verbs.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t
clock_of(clockid_t id)
{
	struct timespec t = { 0 };
	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t
bench_verbs_cpu_ns(void)
{
	return clock_of(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t
bench_verbs_process_ns(void)
{
	return clock_of(CLOCK_PROCESS_CPUTIME_ID);
}

double
bench_verbs_ghz(void)
{
#ifdef __x86_64__
	static uint64_t ticks, ns;
	uint64_t now = clock_of(CLOCK_MONOTONIC), tick = __builtin_ia32_rdtsc();
	if (ns == 0) {
		ns = now;
		ticks = tick;
	}
	/* Two looks a moment apart say nothing yet. */
	return now - ns < 10000000 ? 0 : (double)(tick - ticks) / (double)(now - ns);
#else
	return 0;
#endif
}

static void *
thread_main(void *arg)
{
	struct verbs_thread *t = arg;
	if (t->pin >= 0)
		bench_pin((unsigned)t->pin);
	atomic_store(&t->tid, gettid());
	t->serve(t->arg);
	return NULL;
}

bool
bench_verbs_thread_start(struct verbs_thread *t, void (*serve)(void *), void *arg, int pin)
{
	sigset_t all, before;
	*t = (struct verbs_thread){ .serve = serve, .arg = arg, .pin = pin };
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int rc = pthread_create(&t->id, NULL, thread_main, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = rc;
	return rc == 0;
}

uint64_t
bench_verbs_thread_cpu_ns(const struct verbs_thread *t)
{
	clockid_t id;
	return pthread_getcpuclockid(t->id, &id) == 0 ? clock_of(id) : 0;
}

void
bench_verbs_thread_core(int tid, cpu_set_t *set)
{
	char path[64], line[1024];
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return;
	size_t n = fread(line, 1, sizeof line - 1, f);
	fclose(f);
	line[n] = 0;
	/* Behind the name, which may hold anything but ends with the last ')': field 3, and so on
	 * to 39. */
	char *at = strrchr(line, ')');
	for (unsigned field = 2; at != NULL && field < 39; field++)
		at = strchr(at + 1, ' ');
	unsigned core;
	if (at != NULL && sscanf(at, " %u", &core) == 1 && core < CPU_SETSIZE)
		CPU_SET(core, set);
}
