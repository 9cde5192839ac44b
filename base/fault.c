/* fault.c -- which fault is on; only builds with NAM_TWINS have it. */
#include <base/fault.h>

enum nam_fault nam_fault_on;

const char *const nam_fault_name[NAM_FAULTS_COUNT] = { "none",
#define X(point, name, rule, test, seeds, what) name,
	NAM_FAULTS(X)
#undef X
};

unsigned
nam_fault_dice(unsigned below)
{
	static unsigned state;
	state = state * 1103515245 + 12345;
	return (state >> 16) % below;
}
