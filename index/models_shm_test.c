/*
 * models_shm_test.c -- trees whose clients find leaves by models, over real shared memory, with
 * real threads: the scenes of btree/tree_shm_test.c. With IDX_BENCH=1 their speed beside copies of
 * inner nodes.
 */
#define SHM_HOST_OPEN(region, base, size)      idx_tree_host_open(region, base, size)
#define SHM_TREE_OPEN(anchor, words, mem, way) idx_tree_open(anchor, words, mem, way)
#define SHM_WAYS                                                                                             \
	{                                                                                                    \
		{ .cache = IDX_TREE_LEARNED }, { .cache = IDX_TREE_ONDEMAND },                               \
		{                                                                                            \
			.cache = IDX_TREE_MODELS                                                             \
		}                                                                                            \
	}
#define SHM_BENCH                                                                                            \
	{                                                                                                    \
		IDX_TREE_LEARNED, IDX_TREE_INNER, IDX_TREE_MODELS                                            \
	}

#include "tree_shm_test.c"
