/* hash_wide.h -- XXH3 compiled for wider vectors in a file of its own; hash.c picks at start. */
#ifndef NAM_BASE_HASH_WIDE_H
#define NAM_BASE_HASH_WIDE_H

#include <stddef.h>
#include <stdint.h>

uint64_t nam_hash_avx2(const void *bytes, size_t len, uint64_t seed);

#endif
