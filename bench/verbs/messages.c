/*
 * messages.c -- `namdb bench messages`: an echo service on a storage node, called in polling and in
 * event mode by more and more clients, past the cores there are (figure 6 of the Catfish paper).
 *
 * The node is a process of its own, so that its CPU time is known; a client is a thread with a
 * worker, and so a channel, of its own. In each run both modes take a slice at each number of
 * clients, one after the other. At the end no client calls, which shows what waiting costs the
 * node.
 */
#include <base/clock.h>
#include <base/hist.h>
#include <base/number.h>
#include <base/rng.h>
#include <bench/bench.h>
#include <bench/node.h>
#include <net/net.h>
#include <net/secret.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS_MAX = 64, STEPS_MAX = 16, BYTES_MAX = 16 << 10, OUT_MAX = 64, MODES = 2, WARM_PART = 5 };
static const char *const mode_names[MODES] = { "polling", "events" };

struct params {
	struct bench_common common;
	unsigned clients[STEPS_MAX], steps;
	bool mode[MODES];
	uint32_t bytes;
	unsigned out;
};

struct point {
	enum net_mode mode;
	unsigned clients, runs;
	double rate[BENCH_RUNS_MAX], node_cores[BENCH_RUNS_MAX];
	struct nam_hist latency_ns; /* of all runs */
};

struct client {
	struct bench *b;
	pthread_t thread;
	struct net_worker *w;
	enum net_mode mode;
	unsigned region;
	uint64_t end_ns, calls, wrong;
	nam_status status;
	struct nam_hist latency_ns;
};

struct bench {
	struct params p;
	pid_t node; /* 0 = not ours */
	struct net *net;
	enum net_kind kind;
	struct client *client;
	unsigned opened; /* clients that have a worker */
	struct point pt[STEPS_MAX * MODES];
	unsigned n;
	uint64_t wrong;
	double idle_cores[MODES];
};

static atomic_bool stopped;

static void
on_interrupt(int sig)
{
	(void)sig;
	atomic_store(&stopped, true);
}

/* ---- options ---- */

static void
usage(FILE *to)
{
	fprintf(to,
	    "usage: namdb bench messages [options]\n"
	    "Calls of an echo service on a storage node by message rings: calls per second, latency and the "
	    "node's CPU "
	    "time,\nwhile the number of clients grows; polling beside events.\n"
	    "  --clients LIST   threads that call, up to %d (default 1,2,4,8,16,32)\n"
	    "  --mode LIST      of polling, events (default both)\n"
	    "  --bytes N        of a request and its answer, 8 .. 16k (default 64)\n"
	    "  --out N          calls that each client has out at once, up to %d (default 1)\n",
	    CLIENTS_MAX, OUT_MAX);
	bench_common_usage(to, ": the first is called", "0.3", "runs");
}

static bool
take(void *arg, int letter, char *value)
{
	struct params *p = arg;
	uint64_t x = 0;
	bool ok = false;
	switch (letter) {
	case 'n':
		return bench_take_numbers(value, 1, CLIENTS_MAX, p->clients, STEPS_MAX, &p->steps);
	case 'm':
		return bench_take_names(value, mode_names, MODES, p->mode);
	case 'b':
		ok = nam_size(value, 8, BYTES_MAX, &x);
		p->bytes = (uint32_t)x;
		return ok;
	case 'o':
		ok = nam_number(value, 1, OUT_MAX, &x);
		p->out = (unsigned)x;
		return ok;
	default:
		return false;
	}
}

/* 0: go on; else exit code + 1. */
static int
options(int argc, char **argv, struct params *p)
{
	static const struct option opt[] = { { "clients", 1, NULL, 'n' }, { "mode", 1, NULL, 'm' },
		{ "bytes", 1, NULL, 'b' }, { "out", 1, NULL, 'o' }, BENCH_COMMON_OPTIONS };
	*p = (struct params){ .common = { .fabric = NET_AUTO, .runs = 3, .seconds = 0.3 },
		.bytes = 64,
		.out = 1,
		.mode = { true, true } };
	for (unsigned n = 1; n <= 32; n *= 2)
		p->clients[p->steps++] = n;
	return bench_options(argc, argv, opt, &p->common, take, usage, p);
}

/* ---- the node ---- */

/* CPU time of the node's process; 0 = it is not ours. */
static uint64_t
node_cpu_ns(const struct bench *b)
{
	clockid_t id;
	struct timespec t = { 0 };
	if (b->node != 0 && clock_getcpuclockid(b->node, &id) == 0)
		clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- clients ---- */

struct caller {
	struct client *c;
	unsigned number;
};

static void
call_on(void *arg)
{
	struct caller *me = arg;
	struct client *c = me->c;
	uint32_t bytes = c->b->p.bytes, got;
	uint64_t from[BYTES_MAX / 8], back[BYTES_MAX / 8];
	for (uint32_t i = 0; i < bytes / 8 + 1 && i < BYTES_MAX / 8; i++)
		from[i] = i * UINT64_C(0x9e3779b97f4a7c15) + me->number;
	for (uint64_t now = nam_clock_ns(), then; now < c->end_ns && !atomic_load(&stopped); now = then) {
		from[0]++;
		c->status = net_call(c->w, c->region, NET_SERVICE_ECHO, from, bytes, back, bytes, &got);
		if (c->status != NAM_OK)
			return;
		then = nam_clock_ns();
		nam_hist_add(&c->latency_ns, then - now);
		c->calls++;
		c->wrong += got != bytes || memcmp(from, back, bytes) != 0;
	}
}

static void *
client_main(void *arg)
{
	struct client *c = arg;
	struct caller me[OUT_MAX];
	const struct net_call_config cfg = { .mode = c->mode };
	struct nam_err err;
	c->status = net_call_open(c->w, c->region, NET_SERVICE_ECHO, &cfg, &err);
	for (unsigned i = 0; i < c->b->p.out && c->status == NAM_OK; i++) {
		me[i] = (struct caller){ c, i };
		if (nam_co_start(net_worker_sched(c->w), call_on, &me[i], 128 << 10) == NULL)
			c->status = NAM_NOMEM;
	}
	net_worker_run(c->w, NULL, NULL);
	return NULL;
}

/* The first n clients call for a while. pt NULL = a warm-up that is not measured. */
static nam_status
slice(struct bench *b, unsigned n, enum net_mode mode, double seconds, struct point *pt, struct nam_err *err)
{
	uint64_t cpu = node_cpu_ns(b), begin = nam_clock_ns(), calls = 0;
	nam_status st = NAM_OK;
	unsigned started = 0;
	for (; started < n; started++) {
		struct client *c = &b->client[started];
		c->mode = mode;
		c->end_ns = begin + (uint64_t)(seconds * 1e9);
		c->calls = c->wrong = 0;
		c->status = NAM_OK;
		memset(&c->latency_ns, 0, sizeof c->latency_ns);
		if (pthread_create(&c->thread, NULL, client_main, c) != 0) {
			st = nam_fail(err, NAM_NOMEM, "no thread for a client");
			break;
		}
	}
	for (unsigned i = 0; i < started; i++) {
		struct client *c = &b->client[i];
		pthread_join(c->thread, NULL);
		calls += c->calls;
		b->wrong += c->wrong;
		if (st == NAM_OK && c->status != NAM_OK)
			st = nam_fail(err, c->status, "a call failed: %s", nam_status_text(c->status));
		if (pt != NULL)
			nam_hist_merge(&pt->latency_ns, &c->latency_ns);
	}
	double took = (double)(nam_clock_ns() - begin);
	if (pt != NULL && st == NAM_OK && !atomic_load(&stopped)) {
		pt->rate[pt->runs] = (double)calls / took * 1e9;
		pt->node_cores[pt->runs++] = (double)(node_cpu_ns(b) - cpu) / took;
	}
	return st;
}

static nam_status
measure(struct bench *b, struct nam_err *err)
{
	const struct params *p = &b->p;
	nam_status st = NAM_OK;
	for (unsigned s = 0; s < p->steps; s++)
		for (unsigned m = 0; m < MODES; m++)
			if (p->mode[m])
				b->pt[b->n++] =
				    (struct point){ .mode = (enum net_mode)m, .clients = p->clients[s] };
	for (unsigned r = 0; r < p->common.runs && st == NAM_OK; r++)
		for (unsigned i = 0; i < b->n && st == NAM_OK && !atomic_load(&stopped); i++) {
			struct point *pt = &b->pt[i];
			bench_progress("run %u, %2u clients, %s", r + 1, pt->clients, mode_names[pt->mode]);
			if (r == 0)
				st =
				    slice(b, pt->clients, pt->mode, p->common.seconds / WARM_PART, NULL, err);
			if (st == NAM_OK)
				st = slice(b, pt->clients, pt->mode, p->common.seconds, pt, err);
		}
	/* Every client has called once, and waits. */
	for (unsigned m = 0; m < MODES && b->node != 0; m++) {
		if (!p->mode[m] || st != NAM_OK || atomic_load(&stopped))
			continue;
		st = slice(b, b->opened, (enum net_mode)m, 0.01, NULL, err);
		struct timespec half = { 0, 500000000 };
		nanosleep(&half, NULL);
		uint64_t cpu = node_cpu_ns(b), begin = nam_clock_ns();
		nanosleep(&half, NULL);
		b->idle_cores[m] = (double)(node_cpu_ns(b) - cpu) / (double)(nam_clock_ns() - begin);
	}
	return st;
}

/* ---- the report ---- */

static double
us(const struct point *pt, double q)
{
	return (double)nam_hist_quantile(&pt->latency_ns, q) / 1e3;
}

static void
table(const struct bench *b)
{
	printf("mode     clients      calls/s     p50 us     p99 us  node cores\n");
	for (unsigned i = 0; i < b->n; i++) {
		const struct point *pt = &b->pt[i];
		if (pt->runs == 0)
			continue;
		printf("%-8s %7u %12.0f %10.2f %10.2f", mode_names[pt->mode], pt->clients,
		    bench_median(pt->rate, pt->runs), us(pt, 0.5), us(pt, 0.99));
		if (b->node != 0)
			printf("  %10.2f\n", bench_median(pt->node_cores, pt->runs));
		else
			printf("  %10s\n", "?");
	}
}

static void
points(const struct bench *b)
{
	const char *comma = "";
	for (unsigned i = 0; i < b->n; i++) {
		const struct point *pt = &b->pt[i];
		if (pt->runs == 0)
			continue;
		printf("%s{\"mode\": \"%s\", \"clients\": %u, \"runs\": %u, \"calls_per_s\": %.6g, "
		       "\"p50_us\": %.6g, "
		       "\"p99_us\": %.6g",
		    comma, mode_names[pt->mode], pt->clients, pt->runs, bench_median(pt->rate, pt->runs),
		    us(pt, 0.5), us(pt, 0.99));
		if (b->node != 0)
			printf(", \"node_cores\": %.6g", bench_median(pt->node_cores, pt->runs));
		printf("}");
		comma = ", ";
	}
}

static const struct point *
find(const struct bench *b, enum net_mode mode, unsigned clients)
{
	for (unsigned i = 0; i < b->n; i++)
		if (b->pt[i].mode == mode && b->pt[i].clients == clients && b->pt[i].runs > 0)
			return &b->pt[i];
	return NULL;
}

static void
metrics(const struct bench *b, bool json)
{
	struct bench_metrics m = { json, "" };
	const struct params *p = &b->p;
	char name[64];
	for (unsigned mode = 0; mode < MODES; mode++) {
		const struct point *first = find(b, (enum net_mode)mode, p->clients[0]);
		const struct point *last = find(b, (enum net_mode)mode, p->clients[p->steps - 1]);
		const struct point *two = find(b, (enum net_mode)mode, 2),
				   *many = find(b, (enum net_mode)mode, 16);
		if (first != NULL) {
			snprintf(name, sizeof name, "%s_%u_p50_us", mode_names[mode], first->clients);
			bench_metric(&m, name, us(first, 0.5));
		}
		if (last != NULL) {
			snprintf(name, sizeof name, "%s_%u_calls_per_s", mode_names[mode], last->clients);
			bench_metric(&m, name, bench_median(last->rate, last->runs));
		}
		if (two != NULL && many != NULL) {
			snprintf(name, sizeof name, "%s_p50_16_over_2", mode_names[mode]);
			bench_metric(&m, name, us(many, 0.5) / us(two, 0.5));
		}
		if (p->mode[mode] && b->node != 0 && !atomic_load(&stopped)) {
			snprintf(name, sizeof name, "%s_idle_node_cores", mode_names[mode]);
			bench_metric(&m, name, b->idle_cores[mode]);
		}
	}
	bench_metric(&m, "check_errors", (double)b->wrong);
}

static const char mark[] = "functional, not a performance figure";

static bool
functional(const struct bench *b)
{
	return b->kind == NET_VERBS && bench_software_device();
}

static void
report(const struct bench *b)
{
	const struct params *p = &b->p;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	bool cut = atomic_load(&stopped);
	if (!p->common.json) {
		printf("messages of %u bytes over %s (%s node), %u out per client, %ld cores, %u run%s of %g "
		       "s%s\n",
		    p->bytes, net_kind_name(b->kind), b->node != 0 ? "own" : "storage", p->out, cores,
		    p->common.runs, p->common.runs == 1 ? "" : "s", p->common.seconds,
		    cut ? ", interrupted" : "");
		if (functional(b))
			printf("A software RDMA device: %s.\n", mark);
		table(b);
		metrics(b, false);
		return;
	}
	printf("{\"bench\": \"messages\", \"provider\": \"%s\", \"params\": {\"node\": \"%s\", \"bytes\": "
	       "%u, \"out\": %u, "
	       "\"seconds\": %g, \"runs\": %u, \"cores\": %ld, \"interrupted\": %s",
	    net_kind_name(b->kind), b->node != 0 ? "own" : "storage", p->bytes, p->out, p->common.seconds,
	    p->common.runs, cores, cut ? "true" : "false");
	if (functional(b))
		printf(", \"mark\": \"%s\"", mark);
	printf("}, \"metrics\": {");
	metrics(b, true);
	printf("}, \"points\": [");
	points(b);
	printf("]}\n");
}

/* A block per mode, two empty lines between them: gnuplot's index. Returns how many. */
static unsigned
write_data(FILE *to, const struct bench *b, const char *title[MODES])
{
	unsigned blocks = 0;
	for (unsigned m = 0; m < MODES; m++) {
		unsigned rows = 0;
		for (unsigned i = 0; i < b->n; i++) {
			const struct point *pt = &b->pt[i];
			if (pt->mode != (enum net_mode)m || pt->runs == 0)
				continue;
			if (rows++ == 0)
				fprintf(to, "%s# %s\n# clients calls/s p50_us p99_us node_cores\n",
				    blocks > 0 ? "\n\n" : "", mode_names[m]);
			fprintf(to, "%u %.6g %.6g %.6g %.6g\n", pt->clients, bench_median(pt->rate, pt->runs),
			    us(pt, 0.5), us(pt, 0.99), bench_median(pt->node_cores, pt->runs));
		}
		if (rows > 0)
			title[blocks++] = mode_names[m];
	}
	return blocks;
}

static bool
draw(const struct bench *b)
{
	static const struct {
		unsigned column;
		const char *what;
		bool needs_node;
	} panel[] = { { 3, "latency, median, us", false }, { 4, "latency, 99th percentile, us", false },
		{ 2, "calls per second", false }, { 5, "cores busy in the node", true } };
	char title[160];
	const char *name[MODES];
	struct bench_plot plot;
	if (!bench_plot_open(&plot, b->p.common.plot))
		return false;
	unsigned blocks = write_data(plot.data, b, name);
	FILE *g = blocks > 0 ? bench_plot_draw(&plot, 1100, 800) : NULL;
	if (g != NULL) {
		snprintf(title, sizeof title, "namdb bench messages, %u bytes over %s%s%s", b->p.bytes,
		    net_kind_name(b->kind), functional(b) ? ": " : "", functional(b) ? mark : "");
		fprintf(g, "set multiplot layout 2,2 title ");
		bench_quote(g, title);
		fprintf(g, "\nset logscale x 2\nset grid\nset key left top\nset xlabel 'clients'\nset yrange "
			   "[0:*]\n");
		for (unsigned i = 0; i < sizeof panel / sizeof *panel; i++) {
			if (panel[i].needs_node && b->node == 0)
				continue;
			fprintf(g, "set title '%s'\n", panel[i].what);
			for (unsigned k = 0; k < blocks; k++) {
				fprintf(g, k == 0 ? "plot " : ", ");
				bench_quote(g, plot.data_name);
				fprintf(g, " index %u using 1:%u with linespoints title '%s'", k,
				    panel[i].column, name[k]);
			}
			fprintf(g, "\n");
		}
		fprintf(g, "unset multiplot\n");
	}
	return bench_plot_close(&plot, b->p.common.plot_data);
}

/* ---- all ---- */

static nam_status
prepare(struct bench *b, struct nam_err *err)
{
	const struct params *p = &b->p;
	unsigned char secret[NET_SECRET_LEN];
	char address[BENCH_NODE_ADDRESS];
	unsigned most = 0;
	struct net_config cfg = { .storage = p->common.storage,
		.fabric = p->common.fabric,
		.cluster = p->common.cluster,
		.secret = secret,
		.secret_len = NET_SECRET_LEN };
	nam_status st;
	for (unsigned i = 0; i < p->steps; i++)
		most = p->clients[i] > most ? p->clients[i] : most;
	if ((b->client = calloc(most, sizeof *b->client)) == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory");
	if (p->common.storage != NULL) {
		st = net_secret_load(p->common.secret_file, secret, &cfg.secret_len, err);
	} else {
		static const struct net_service echo = {
			.id = NET_SERVICE_ECHO, .name = "echo", .fn = net_echo
		};
		nam_random_bytes(secret, sizeof secret);
		const struct bench_node node = { .fabric = p->common.fabric,
			.cluster = p->common.cluster,
			.secret = secret,
			.bytes = 32 << 20,
			.service = &echo,
			.services = 1 };
		st = bench_node_start(&node, &b->node, address, err);
		cfg.storage = address;
	}
	if (st == NAM_OK)
		st = net_open(&b->net, &cfg, err);
	explicit_bzero(secret, sizeof secret);
	for (; st == NAM_OK && b->opened < most; b->opened++) {
		struct client *c = &b->client[b->opened];
		c->b = b;
		c->region = net_node(b->net, 0)->region;
		if ((st = net_worker_open(b->net, &c->w, err)) == NAM_OK)
			st = net_call_open(c->w, c->region, NET_SERVICE_ECHO, NULL, err);
		if (st != NAM_OK && c->w != NULL)
			net_worker_close(c->w);
		if (st != NAM_OK)
			return st;
	}
	if (st == NAM_OK)
		b->kind = net_node(b->net, 0)->kind;
	return st;
}

int
bench_messages(int argc, char **argv)
{
	static struct bench b;
	struct nam_err err = { 0 };
	int code = options(argc, argv, &b.p);
	if (code != 0)
		return code - 1;
	if (b.p.common.plot != NULL && !bench_plot_ready(b.p.common.plot))
		return 1;
	struct sigaction sa = { .sa_handler = on_interrupt, .sa_flags = SA_RESETHAND }, before;
	sigaction(SIGINT, &sa, &before);
	bool ok = prepare(&b, &err) == NAM_OK && measure(&b, &err) == NAM_OK;
	bench_progress_end(NULL);
	if (!ok)
		fprintf(stderr, "namdb bench: %s\n", err.text);
	if (b.n > 0) {
		report(&b);
		fflush(stdout);
		ok &= b.p.common.plot == NULL || draw(&b);
	}
	ok &= b.wrong == 0;
	for (unsigned i = 0; i < b.opened; i++)
		net_worker_close(b.client[i].w);
	net_close(b.net);
	bench_node_stop(b.node);
	free(b.client);
	sigaction(SIGINT, &before, NULL);
	return ok ? 0 : 1;
}
