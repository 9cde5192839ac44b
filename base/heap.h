/*
 * heap.h -- memory that was freed goes back to the system, also what other threads have freed.
 *
 * glibc has an arena for each thread. malloc_trim gives back the free memory inside of all arenas,
 * but not what lies at the end of a thread's own: that goes at a free of 64 KiB or more within that
 * arena, if it is longer than M_TRIM_THRESHOLD. So each long-lived thread has a piece in its arena,
 * and nam_heap_trim, on any thread, makes the pieces short and long again.
 */
#ifndef NAM_BASE_HEAP_H
#define NAM_BASE_HEAP_H

/* Once, before other threads start: the allocator keeps to fixed bounds, which do not depend on
 * what has been. In most times the ends of arenas stay, so that statements one after the other use
 * the same pages. */
void nam_heap_begin(void);
/* On a thread that lives long and allocates: until it ends, nam_heap_trim reaches its arena. */
void nam_heap_enter(void);
/* Takes each lock of the allocator for a while: not on a thread that must not wait. */
void nam_heap_trim(void);

#endif
