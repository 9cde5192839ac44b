/* assert.h -- our own bugs stop the process, also in release builds. Bytes that came over a wire
 * are never asserted. */
#ifndef NAM_BASE_ASSERT_H
#define NAM_BASE_ASSERT_H

#include <assert.h>

_Noreturn void nam_assert_failed(const char *file, int line, const char *what);

#define NAM_ASSERT(e) (__builtin_expect(!!(e), 1) ? (void)0 : nam_assert_failed(__FILE__, __LINE__, #e))

#endif
