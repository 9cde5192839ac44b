/*
 * floor.c -- the checkout's memory traffic and nothing else: a bound that no layout of rows can
 * move.
 *
 * Per transaction 3 random 1 KiB reads, 3 random 1 KiB writes, 7 CASes, 4 appends
 * of 128 bytes and 1 of 256, by plain memcpy on memory already touched.
 */
#include "tpcw.h"

#include <base/clock.h>

#include <pthread.h>
#include <string.h>

struct floor_thread {
	const struct tpcw_floor *f;
	unsigned number, threads;
	double seconds;
	double tps;
};

static void *
floor_main(void *arg)
{
	struct floor_thread *t = arg;
	const struct tpcw_floor *f = t->f;
	struct nam_rng r;
	nam_rng_init(&r, 77 + t->number);
	char buf[TPCW_ITEMS][1024], line[256] = { 1 };
	uint64_t share = f->append_bytes / t->threads / 64 * 64, at = 0, n = 0;
	char *append = f->append + share * t->number;
	memset(buf, 1, sizeof buf);
	uint64_t begin = nam_clock_ns(), end = begin + (uint64_t)(t->seconds * 1e9), now = begin;
	while (now < end) {
		for (unsigned k = 0; k < 256; k++, n++) {
			uint64_t p[TPCW_ITEMS];
			for (unsigned i = 0; i < TPCW_ITEMS; i++)
				p[i] = nam_rng_below(&r, f->products);
			for (unsigned i = 0; i < TPCW_ITEMS; i++)
				memcpy(buf[i], f->product + p[i] * 1024, 1024);
			for (unsigned i = 0; i < 7; i++) {
				uint64_t *word = (uint64_t *)(void *)(f->product + p[i % TPCW_ITEMS] * 1024),
					 was = *word;
				__atomic_compare_exchange_n(
				    word, &was, was + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
			}
			for (unsigned i = 0; i < TPCW_ITEMS; i++) {
				uint64_t q = nam_rng_below(&r, f->products);
				buf[i][8]++;
				memcpy(f->product + q * 1024, buf[i], 1024);
			}
			if (at + 4 * 128 + 256 > share)
				at = 0;
			for (unsigned i = 0; i < 4; i++, at += 128)
				memcpy(append + at, line, 128);
			memcpy(append + at, line, 256);
			at += 256;
		}
		now = nam_clock_ns();
	}
	t->tps = (double)n * 1e9 / (double)(now - begin);
	return NULL;
}

double
tpcw_floor_run(const struct tpcw_floor *f, unsigned threads, double seconds)
{
	struct floor_thread t[64];
	pthread_t id[64];
	double sum = 0;
	threads = threads < 64 ? threads : 64;
	for (unsigned i = 0; i < threads; i++) {
		t[i] = (struct floor_thread){ f, i, threads, seconds, 0 };
		pthread_create(&id[i], NULL, floor_main, &t[i]);
	}
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(id[i], NULL);
		sum += t[i].tps;
	}
	return sum;
}
