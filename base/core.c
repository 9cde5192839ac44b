/* core.c -- a yield that is timed: a long one makes its thread sleep for a while instead. */
#include <base/clock.h>
#include <base/core.h>

#include <sched.h>

bool
nam_core_is_wanted(const struct nam_core *c)
{
	return nam_clock_ns() < c->not_before;
}

bool
nam_core_yield(struct nam_core *c)
{
	uint64_t began = nam_clock_ns();
	if (began < c->not_before)
		return false;
	sched_yield();
	uint64_t now = nam_clock_ns();
	if (now - began < NAM_CORE_LONG_NS)
		return true;
	c->not_before = now + NAM_CORE_AGAIN_NS;
	return false;
}
