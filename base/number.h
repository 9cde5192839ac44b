/*
 * number.h -- whole numbers and sizes as people write them: in an option, in a connection string.
 */
#ifndef NAM_BASE_NUMBER_H
#define NAM_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Digits only, min..max. False: *out is as it was. */
bool nam_number(const char *text, uint64_t min, uint64_t max, uint64_t *out);
/* nam_number with an optional unit of k, m, g or t (1024 and its powers; in either case, also as
 * "kb" or "KiB"). */
bool nam_size(const char *text, uint64_t min, uint64_t max, uint64_t *out);

#endif
