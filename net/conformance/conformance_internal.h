/* conformance_internal.h -- helpers of the conformance tests. For the files here only. */
#ifndef NAM_NET_CONFORMANCE_INTERNAL_H
#define NAM_NET_CONFORMANCE_INTERNAL_H

#include <net/conformance/conformance.h>
#include <net/region_format.h>

#include <stdatomic.h>

enum { NET_CONF_WORKERS = 4, NET_CONF_NETS = 2 };

/* A cluster while one test runs. */
struct fixture {
	const struct net_conf_env *env;
	const char *test;
	struct net *net[NET_CONF_NETS];
	struct net_worker *w[NET_CONF_WORKERS];
	unsigned nets, workers;
	atomic_int failed;
	atomic_uint_fast64_t fooled; /* how often code that relies on too much was wrong */
	void *data;                  /* the test's */
};

/* The argument of one coroutine. */
struct job {
	struct fixture *fix;
	struct net_worker *w;
	unsigned id; /* 0, 1.. over all workers in the order started */
};

void net_conf_complain(struct fixture *fix, int line, const char *what);
#define CHECK(fix, e) ((e) ? (void)0 : net_conf_complain(fix, __LINE__, #e))

/* Scratch memory of a region: all but the superblock. */
static inline net_addr
at(unsigned region, uint64_t off)
{
	return net_at(region, NET_EXTENT + off);
}

/* A poll loop that waits longer than this has failed. */
static inline uint64_t
deadline(struct net_worker *w)
{
	return net_now_ns(w) + UINT64_C(30) * 1000000000;
}

/* Starts fn as `each` coroutines on every worker in [first, first + n), their ids from `id` on. */
void net_conf_start(
    struct fixture *fix, unsigned first, unsigned n, unsigned each, unsigned id, void (*fn)(struct job *));

struct net_conf_test {
	const char *name;
	unsigned nodes, workers;
	void (*prepare)(struct fixture *); /* starts coroutines; may look at the workers */
	void (*after)(struct fixture *);   /* when they have ended; may be NULL */
};
int net_conf_run_test(const struct net_conf_env *env, const struct net_conf_test *t);
extern const struct net_conf_test net_conf_order_tests[]; /* order.c; ends with a NULL name */

#endif
