/* fault.c -- which fault is on; only builds with NAM_TWINS have it. */
#include <base/fault.h>

#include <string.h>

enum nam_fault nam_fault_on;

const char *const nam_fault_name[NAM_FAULTS_COUNT] = { "none",
#define X(point, name, rule, test, seeds, what) name,
	NAM_FAULTS(X)
#undef X
};

bool
nam_fault_choose(const char *name)
{
	for (unsigned i = 1; i < NAM_FAULTS_COUNT; i++)
		if (strcmp(nam_fault_name[i], name) == 0)
			nam_fault_on = (enum nam_fault)i;
	return nam_fault_on != NAM_FAULT_NONE;
}

unsigned
nam_fault_dice(unsigned below)
{
	static unsigned state;
	state = state * 1103515245 + 12345;
	return (state >> 16) % below;
}
