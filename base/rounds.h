/*
 * rounds.h -- how often a test repeats what it does. For tests only.
 *
 * In `./go test` a test plays each kind of thing, and few rounds of it. `./go test --long` and
 * `./go soak` set NAM_LONG=1, and it plays many. A sanitizer needs the code to be run at all, so
 * its builds play fewer rounds still. tests/house.py has the same for drivers.
 */
#ifndef NAM_BASE_ROUNDS_H
#define NAM_BASE_ROUNDS_H

#include <stdbool.h>
#include <stdlib.h>

#ifdef __has_feature /* clang's way to say it */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NAM_SANITIZED true
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NAM_SANITIZED true
#endif
#ifndef NAM_SANITIZED
#define NAM_SANITIZED false
#endif

static inline bool
nam_long(void)
{
	const char *text = getenv("NAM_LONG");
	return text != NULL && text[0] == '1';
}

/* many with NAM_LONG, else few; sanitized in a sanitizer's build without NAM_LONG. */
static inline unsigned
nam_rounds(unsigned many, unsigned few, unsigned sanitized)
{
	return nam_long() ? many : NAM_SANITIZED ? sanitized : few;
}

#endif
