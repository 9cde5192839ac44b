/* memory.h -- how much memory of its own the process has, and how that goes back to the system. */
#ifndef NAM_COMPUTE_NODE_MEMORY_H
#define NAM_COMPUTE_NODE_MEMORY_H

#include <compute_node/cn.h>

#include <stdint.h>

/* In bytes. What was allocated and never touched is not resident, nor is what the allocator has
 * given back of what was freed. */
struct cn_memory {
	uint64_t resident; /* no mapped file: storage memory is mapped too; 0 = not known */
	uint64_t allocated;
	uint64_t freed; /* in the allocator's hands */
};
/* Takes each lock of the allocator for a moment: not for a worker's thread. */
void cn_memory_look(struct cn_memory *m);

struct cn_memory_trim {
	uint64_t resident, excess; /* the least since the last trim */
};
/*
 * Call it every few seconds on a thread beside the workers, with a *t that begins as zeros. Gives
 * freed memory back to the system if the process has grown since the last time, or has freed much:
 * the allocator keeps what other memory lies behind, and has to walk through all of it for that.
 */
void cn_memory_trim(struct cn *cn, struct cn_memory_trim *t);

#endif
