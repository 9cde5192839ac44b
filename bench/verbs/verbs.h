/* verbs.h -- parts of `namdb bench verbs`: the parameters, and the results of one
 * slice. */
#ifndef NAM_BENCH_VERBS_VERBS_H
#define NAM_BENCH_VERBS_VERBS_H

#include <base/hist.h>
#include <base/status.h>
#include <bench/bench.h>
#include <net/net.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	VERBS_SIZES_MAX = 32,
	VERBS_DEPTHS_MAX = 8,
	VERBS_DEPTH_MAX = 1024,
	VERBS_SIZE_MIN = 8,
	VERBS_SIZE_MAX = 32 << 20,
	VERBS_OUT_MAX = 64 << 20, /* payload that may be out at once, so that buffers stay of a sane
				   * size */
};

/* RPC is the peer, not a verb: a request of 8 bytes over a TCP socket, answered with `size`
 * bytes. */
enum verbs_op { VERBS_READ, VERBS_WRITE, VERBS_CAS, VERBS_FAA, VERBS_MESSAGE, VERBS_RPC, VERBS_OPS };
/* A message goes to the node's echo service and comes back, through rings, in event mode; longer
 * ones do not fit. */
enum { VERBS_MESSAGE_MAX = 128 << 10 };

struct verbs_params {
	struct bench_common common;
	bool embedded; /* no other process maps the node's memory */
	bool op[VERBS_OPS];
	uint32_t size[VERBS_SIZES_MAX];
	unsigned sizes;
	unsigned depth[VERBS_DEPTHS_MAX];
	unsigned depths;
	int pin_client, pin_server; /* cores; -1: where the kernel likes */
	const char *sim;            /* a model's name; NULL = a fabric */
};

/* One slice: an operation of one size at one depth, for a while. */
struct verbs_slice {
	uint64_t ops, wrong; /* done; of those with an answer that cannot be right */
	double seconds;
	uint64_t client_ns, server_ns; /* CPU time; server_ns is 0 where the server is not ours */
};

/* How much is out at most, given VERBS_OUT_MAX. */
unsigned bench_verbs_depth(uint32_t size, unsigned depth);

/* Set by the first ^C. What runs then ends at its next operation. */
extern atomic_bool bench_verbs_stop;

/* ---- fabric.c: through net.h --------------------------------------------------- */

struct verbs_fabric;
nam_status bench_verbs_fabric_open(
    struct verbs_fabric **out, const struct verbs_params *p, struct nam_err *err);
void bench_verbs_fabric_close(struct verbs_fabric *f);
/* shm, tcp, verbs; of several kinds of nodes the first one's. */
enum net_kind bench_verbs_fabric_kind(const struct verbs_fabric *f);
/* The storage node is a thread of this process: its CPU time and its core are known. */
bool bench_verbs_fabric_served(const struct verbs_fabric *f);
nam_status bench_verbs_fabric_run(struct verbs_fabric *f, enum verbs_op op, uint32_t size, unsigned depth,
    double seconds, struct nam_hist *latency_ns, struct verbs_slice *out, struct nam_err *err);
void bench_verbs_fabric_core(struct verbs_fabric *f, cpu_set_t *server);

/* ---- rpc.c: plain request and response over a loopback socket ------------------ */

struct verbs_rpc;
nam_status bench_verbs_rpc_open(struct verbs_rpc **out, const struct verbs_params *p, struct nam_err *err);
void bench_verbs_rpc_close(struct verbs_rpc *r);
nam_status bench_verbs_rpc_run(struct verbs_rpc *r, uint32_t size, unsigned depth, double seconds,
    struct nam_hist *latency_ns, struct verbs_slice *out, struct nam_err *err);
void bench_verbs_rpc_core(struct verbs_rpc *r, cpu_set_t *server);

/* ---- thread.c: a thread that serves, and where it runs ------------------------- */

struct verbs_thread {
	pthread_t id;
	void (*serve)(void *arg);
	void *arg;
	_Atomic int tid;
	int pin;
};
/* Starts it without ^C, which belongs to the thread that measures. False if it failed; errno says
 * why. */
bool bench_verbs_thread_start(struct verbs_thread *t, void (*serve)(void *), void *arg, int pin);
uint64_t bench_verbs_thread_cpu_ns(const struct verbs_thread *t);
/* Adds the core on which that thread of ours ran last. */
void bench_verbs_thread_core(int tid, cpu_set_t *set);
/* The calling thread's, and that of all threads of this process. */
uint64_t bench_verbs_cpu_ns(void);
uint64_t bench_verbs_process_ns(void);
/* Cycles of a core in a nanosecond of its time, by the time stamp counter since the program began;
 * 0 = not known here. */
double bench_verbs_ghz(void);

/* ---- plot.c: gnuplot ----------------------------------------------------------- */

struct verbs_point {
	enum verbs_op op;
	uint32_t size;
	unsigned depth, out; /* as asked for, and what was out at most */
	unsigned runs;
	/* operations per second, by run */
	double rate[BENCH_RUNS_MAX];
	double client_ns[BENCH_RUNS_MAX], server_ns[BENCH_RUNS_MAX]; /* per operation */
	uint64_t ops, wrong;
	struct nam_hist latency_ns; /* of all runs */
};
const char *bench_verbs_op_name(enum verbs_op op);
/* Writes the data beside `file` and a picture into it. False if it failed; stderr says why. */
bool bench_verbs_plot(const char *file, bool keep_data, const char *title, const struct verbs_point *pt,
    unsigned n, unsigned depth_low, unsigned depth_high);

#endif
