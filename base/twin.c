/* twin.c -- which fault is on; only builds with NAM_TWINS have it. */
#include <base/twin.h>

enum nam_twin nam_twin_on;
