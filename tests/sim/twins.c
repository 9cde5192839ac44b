/* twins.c -- the fault points that base/fault.h lists, for sim_txn --twins and --twin. */
#include "sim_txn.h"

#include <base/fault.h>

#ifdef NAM_TWINS
int
twin_list(void)
{
#define X(point, name, rule, test, seeds, what)                                                              \
	printf("%s\t%s\t%s\t1-%u\t%s\n", name, rule, test, (unsigned)(seeds), what);
	NAM_FAULTS(X)
#undef X
	return 0;
}

bool
twin_choose(const char *name)
{
	return nam_fault_choose(name);
}

const char *
twin_chosen(void)
{
	return nam_fault_on != NAM_FAULT_NONE ? nam_fault_name[nam_fault_on] : NULL;
}
#else
int
twin_list(void)
{
	fprintf(stderr, "this build has no twins: ./go twins makes one that has\n");
	return 2;
}

bool
twin_choose(const char *name)
{
	(void)name;
	return twin_list() == 0;
}

const char *
twin_chosen(void)
{
	return NULL;
}
#endif
