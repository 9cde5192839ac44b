/* heap_test.c -- what other threads have freed goes back, while they live and do nothing. */
#include <base/heap.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 3, PIECES = 400, BYTES = 64 << 10, MUCH = 60 << 20, LITTLE = 8 << 20 };

static pthread_barrier_t freed, ends;

/* Of this process, what is no mapped file. */
static size_t
resident(void)
{
	char line[128];
	size_t kib = 0;
	FILE *f = fopen("/proc/self/status", "re");
	assert_non_null(f);
	while (fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, "RssAnon:", 8) == 0)
			kib = strtoul(line + 8, NULL, 10);
	fclose(f);
	return kib << 10;
}

static void *
work(void *arg)
{
	char *piece[PIECES];
	(void)arg;
	nam_heap_enter();
	nam_heap_enter();
	for (unsigned i = 0; i < PIECES; i++) {
		piece[i] = malloc(BYTES);
		memset(piece[i], 1, BYTES);
	}
	for (unsigned i = 0; i < PIECES; i++)
		free(piece[i]);
	pthread_barrier_wait(&freed);
	pthread_barrier_wait(&ends);
	return NULL;
}

static void
others_memory_goes_back(void **state)
{
	(void)state;
	pthread_t thread[THREADS];
	nam_heap_begin();
	pthread_barrier_init(&freed, NULL, THREADS + 1);
	pthread_barrier_init(&ends, NULL, THREADS + 1);
	for (unsigned round = 0; round < 3; round++) {
		size_t before = resident();
		for (unsigned i = 0; i < THREADS; i++)
			assert_int_equal(pthread_create(&thread[i], NULL, work, NULL), 0);
		pthread_barrier_wait(&freed);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
		assert_true(resident() > before + MUCH);
		nam_heap_trim();
		assert_true(resident() < before + LITTLE);
#else
		/* Another allocator: no harm is done. */
		(void)before;
		nam_heap_trim();
#endif
		pthread_barrier_wait(&ends);
		for (unsigned i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
		nam_heap_trim(); /* none is left */
	}
	pthread_barrier_destroy(&freed);
	pthread_barrier_destroy(&ends);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_memory_goes_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
