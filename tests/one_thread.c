/*
 * one_thread.c -- preloaded into the release build's tests with the label one-thread: the label is
 * true, or the test fails.
 *
 * ./go test leaves these tests out under the thread sanitizer. If one of them starts a thread, the
 * program ends.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg)
{
	static const char words[] =
	    "one_thread: this test starts a thread: take its label one-thread away (nam_one_thread)\n";
	(void)thread;
	(void)attr;
	(void)body;
	(void)arg;
	if (write(STDERR_FILENO, words, sizeof words - 1) < 0)
		_exit(98);
	abort();
}
