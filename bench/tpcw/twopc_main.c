/*
 * twopc_main.c -- `namdb bench tpcw --protocol 2pc-...`: the checkout by two-phase commit, on
 * a model (figure 6's baselines) or for real; a line for each number of clients.
 */
#include "twopc.h"

#include <bench/sim/plot.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MAX = 32, CLIENTS_MAX = 1024, MACHINES_MAX = 64 };

struct params {
	const char *protocol, *stack; /* stack: the protocol's name after 2pc- */
	enum net_kind fabric;
	const struct net_sim_model *model;
	unsigned clients[POINTS_MAX], points;
	unsigned compute, storage;
	double seconds;
	unsigned work_us;
	bool json;
	struct tpcw_params tpcw;
	struct bench_sim_plot plot;
};

/* ---- the table ---- */

static void
machine_json(const char *name, const struct net_sim_mail_use *u)
{
	printf(", \"%s\": {\"stack\": %.3f, \"rnic\": %.3f, \"in\": %.3f, \"out\": %.3f, \"work\": %.3f, "
	       "\"crowd\": %.3f, \"wait_us\": %.2f, \"messages\": %llu, \"deepest\": %llu}",
	    name, u->stack, u->rnic, u->in, u->out, u->work, u->crowd, u->wait_us,
	    (unsigned long long)u->messages, (unsigned long long)u->deepest);
}

static void
picture(struct params *p, unsigned clients, const char *limit, double share, double rate, double p50_us,
    double p99_us)
{
	struct bench_sim_plot_row *row = bench_sim_plot_add(&p->plot, clients, limit);
	row->per_s = rate;
	row->p50_us = p50_us;
	row->p99_us = p99_us;
	row->share = share;
}

static void
report(struct params *p, const struct tpcw_twopc_point *at, const char *comma)
{
	if (p->json) {
		printf("%s{\"clients\": %u, \"throughput_tps\": %.0f, \"p50_us\": %.2f, \"p99_us\": %.2f, "
		       "\"aborts_per_txn\": %.5f, \"messages_per_txn\": %.2f, \"bytes_out_per_txn\": %.0f, "
		       "\"bytes_in_per_txn\": %.0f, \"machine\": \"%s\", \"limit\": \"%s\", "
		       "\"utilisation\": %.3f",
		    comma, at->clients, at->rate, at->p50_us, at->p99_us, at->aborts, at->messages,
		    at->bytes_out, at->bytes_in, at->machine, at->limit, at->share);
		machine_json("transaction_manager", &at->tm);
		machine_json("resource_manager", &at->rm);
		machine_json("client", &at->client);
		printf(", \"check_errors\": %llu}", (unsigned long long)at->bad);
	} else {
		printf("%7u %11.0f %9.1f %9.1f %8.4f %6.1f %7.0f %9.1f %9.1f  ", at->clients, at->rate,
		    at->p50_us, at->p99_us, at->aborts, at->messages, at->bytes_out, at->tm.wait_us,
		    at->rm.wait_us);
		if (strcmp(at->limit, "latency") == 0)
			printf("nothing: latency\n");
		else
			printf("%s: %s %.0f %%\n", at->machine, at->limit, at->share * 100);
	}
	fflush(stdout);
	char limit[96];
	bool latency = strcmp(at->limit, "latency") == 0;
	snprintf(limit, sizeof limit, "%s%s%s", latency ? "" : at->machine, latency ? "" : ": ", at->limit);
	picture(p, at->clients, limit, at->share, at->rate, at->p50_us, at->p99_us);
}

static int
on_a_model(struct params *p)
{
	int code = 0;
	const struct net_sim_stack *stack = net_sim_stack_find(p->model->name, p->stack);
	if (stack == NULL) {
		fprintf(stderr,
		    "namdb bench: model %s does not have protocol %s; see namdb bench tpcw "
		    "--protocol 2pc-verbs --help\n",
		    p->model->name, p->protocol);
		return 2;
	}
	if (p->json)
		printf("{\"bench\": \"tpcw\", \"sim\": \"%s\", \"protocol\": \"%s\", \"nodes\": \"%u+%u+1\", "
		       "\"points\": [",
		    p->model->name, p->protocol, p->compute, p->storage);
	else
		printf("%s: %s\n%u client machines, %u with resource managers, 1 with the transaction "
		       "manager\n\n%7s %11s %9s %9s %8s %6s %7s %9s %9s  %s\n",
		    p->model->what, stack->what, p->compute, p->storage, "clients", "txn/s", "p50 us",
		    "p99 us", "aborts", "msgs", "B", "TM wait", "RM wait", "busiest");
	for (unsigned i = 0; i < p->points; i++) {
		struct nam_err err = { 0 };
		struct tpcw_twopc_point at = { .model = p->model,
			.stack = stack,
			.clients = p->clients[i],
			.compute = p->compute,
			.storage = p->storage,
			.seconds = p->seconds,
			.work_ns = p->work_us * UINT64_C(1000),
			.tpcw = &p->tpcw };
		if (tpcw_twopc_sim(&at, &err) != NAM_OK) {
			fprintf(stderr, "namdb bench: %s\n", err.text);
			code = 1;
			continue;
		}
		report(p, &at, i > 0 ? ", " : "");
		code |= at.bad != 0;
	}
	if (p->json)
		printf("]}\n");
	return code;
}

/* ---- for real ---- */

static int
for_real(struct params *p)
{
	bool tcp = strcmp(p->stack, "tcp") == 0;
	int code = 0;
	if (p->json)
		printf("{\"bench\": \"tpcw\", \"protocol\": \"%s\", \"resource_managers\": %u, \"points\": [",
		    p->protocol, p->storage);
	else
		printf("%s, %u resource managers, all in this process\n\n%7s %11s %9s %9s %8s %11s\n",
		    tcp ? "TCP sockets of this host" : "messages in rings", p->storage, "clients", "txn/s",
		    "p50 us", "p99 us", "aborts", "CPU us/txn");
	for (unsigned i = 0; i < p->points; i++) {
		struct nam_err err = { 0 };
		struct tpcw_twopc_real at = { .clients = p->clients[i],
			.rms = p->storage,
			.seconds = p->seconds,
			.fabric = p->fabric,
			.tpcw = &p->tpcw };
		if ((tcp ? tpcw_twopc_tcp(&at, &err) : tpcw_twopc_ring(&at, &err)) != NAM_OK) {
			fprintf(stderr, "namdb bench: %s\n", err.text);
			code = 1;
			break;
		}
		if (p->json)
			printf("%s{\"clients\": %u, \"throughput_tps\": %.0f, \"p50_us\": %.2f, "
			       "\"p99_us\": %.2f, \"aborts_per_txn\": %.5f, \"cpu_us_per_txn\": %.2f, "
			       "\"check_errors\": %llu}",
			    i > 0 ? ", " : "", at.clients, at.rate, at.p50_us, at.p99_us, at.aborts,
			    at.cpu_us, (unsigned long long)at.bad);
		else
			printf("%7u %11.0f %9.1f %9.1f %8.4f %11.1f\n", at.clients, at.rate, at.p50_us,
			    at.p99_us, at.aborts, at.cpu_us);
		fflush(stdout);
		picture(p, at.clients, "", 0, at.rate, at.p50_us, at.p99_us);
		code |= at.bad != 0;
	}
	if (p->json)
		printf("]}\n");
	return code;
}

/* ---- options ---- */

static void
usage(FILE *to)
{
	fprintf(to,
	    "usage: namdb bench tpcw --protocol PROTOCOL [--sim MODEL] [options]\n"
	    "The checkout by snapshot isolation with two-phase commit: the NAM paper's baselines.\n"
	    "  --protocol P     with --sim, in virtual time on machines of a model: 2pc-ipoeth, 2pc-ipoib\n"
	    "                   (fdr4x) or 2pc-verbs (fdr4x, cx6); for real, in one process: 2pc-tcp,\n"
	    "                   sockets, or 2pc-messages, message rings of storage nodes\n"
	    "  --clients LIST   client threads of all machines; a line for each number (default\n"
	    "                   1,10,20,30,40,50,60,70; for real 1,2,4)\n"
	    "  --nodes C+S      client machines, and machines with a resource manager; one more has the\n"
	    "                   transaction manager (default 4+3; for real only S counts)\n"
	    "  --products N     products of about 1 KB (default 1000000; for real 30000)\n"
	    "  --seconds S      time measured (default 0.2 of the model, after 5 ms; for real 2)\n"
	    "  --work US        with --sim: what a client computes for each checkout, in microseconds\n"
	    "                   (default 22)\n"
	    "  --fabric F       of 2pc-messages: auto, shm, tcp or verbs (default auto)\n"
	    "  --seed N         of the carts and of the model's dice (default 1)\n" BENCH_SIM_PLOT_USAGE
	    "  --json           one object on stdout\n");
}

static bool
take_nodes(const char *v, struct params *p)
{
	char *plus = NULL, *end = NULL;
	unsigned long c = strtoul(v, &plus, 10);
	if (plus == v || *plus != '+')
		return false;
	unsigned long s = strtoul(plus + 1, &end, 10);
	if (end == plus + 1 || *end != 0 || c < 1 || c > MACHINES_MAX || s < 1 || s > TXN_TWOPC_RMS_MAX)
		return false;
	p->compute = (unsigned)c;
	p->storage = (unsigned)s;
	return true;
}

static bool
take_protocol(const char *v, struct params *p)
{
	static const char *const known[] = { "2pc-ipoeth", "2pc-ipoib", "2pc-verbs", "2pc-tcp",
		"2pc-messages" };
	p->protocol = v;
	for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(v, known[i]) == 0) {
			p->stack = v + 4;
			return true;
		}
	return false;
}

static bool
take_fabric(const char *v, struct params *p)
{
	static const struct {
		const char *name;
		enum net_kind kind;
	} known[] = { { "auto", NET_AUTO }, { "shm", NET_SHM }, { "tcp", NET_TCP }, { "verbs", NET_VERBS } };
	for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(v, known[i].name) == 0) {
			p->fabric = known[i].kind;
			return true;
		}
	return false;
}

static bool
take(int letter, char *v, struct params *p)
{
	unsigned n, x;
	switch (letter) {
	case 'm':
		return (p->model = net_sim_model_find(v)) != NULL;
	case 'P':
		return take_protocol(v, p);
	case 'c':
		p->points = 0;
		return bench_take_numbers(v, 1, CLIENTS_MAX, p->clients, POINTS_MAX, &p->points);
	case 'n':
		return take_nodes(v, p);
	case 'p':
		if (!bench_take_numbers(v, TPCW_ITEMS, 10000000, &x, 1, &n))
			return false;
		p->tpcw.products = x;
		return true;
	case 's':
		return bench_take_seconds(v, &p->seconds);
	case 'w':
		return bench_take_numbers(v, 0, 1000000, &p->work_us, 1, &n);
	case 'S':
		if (!bench_take_numbers(v, 0, UINT32_MAX, &x, 1, &n))
			return false;
		p->tpcw.seed = x;
		return true;
	case 'f':
		return take_fabric(v, p);
	case 'j':
		return p->json = true;
	default:
		return bench_sim_plot_take(&p->plot, letter, v);
	}
}

/* What the options have not said. */
static void
defaults(struct params *p, bool real)
{
	static const unsigned model_clients[] = { 1, 10, 20, 30, 40, 50, 60, 70 },
			      real_clients[] = { 1, 2, 4 };
	if (p->points == 0) {
		p->points = real ? 3 : 8;
		memcpy(p->clients, real ? real_clients : model_clients, p->points * sizeof *p->clients);
	}
	if (p->tpcw.products == 0)
		p->tpcw.products = real ? 30000 : 1000000;
	if (p->seconds == 0)
		p->seconds = real ? 2 : 0.2;
}

int
bench_tpcw_twopc(int argc, char **argv)
{
	static const struct option opt[] = { { "sim", 1, NULL, 'm' }, { "protocol", 1, NULL, 'P' },
		{ "clients", 1, NULL, 'c' }, { "nodes", 1, NULL, 'n' }, { "products", 1, NULL, 'p' },
		{ "seconds", 1, NULL, 's' }, { "work", 1, NULL, 'w' }, { "fabric", 1, NULL, 'f' },
		{ "seed", 1, NULL, 'S' }, BENCH_SIM_PLOT_OPTIONS, { "json", 0, NULL, 'j' },
		{ "help", 0, NULL, 'h' }, { 0 } };
	struct params p = {
		.compute = 4, .storage = 3, .work_us = 22, .fabric = NET_AUTO, .tpcw = { .seed = 1 }
	};
	const char *more = "see namdb bench tpcw --protocol 2pc-verbs --help";
	optind = 0;
	for (int l; (l = getopt_long(argc, argv, "h", opt, NULL)) != -1;) {
		if (l == 'h') {
			usage(stdout);
			return 0;
		}
		if (l == '?' || !take(l, optarg, &p)) {
			if (l != '?')
				fprintf(stderr, "namdb bench: '%s' is not a value for this option; %s\n",
				    optarg, more);
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "namdb bench: unexpected '%s'; %s\n", argv[optind], more);
		return 2;
	}
	bool real = p.stack != NULL && (strcmp(p.stack, "tcp") == 0 || strcmp(p.stack, "messages") == 0);
	if (p.stack == NULL || real != (p.model == NULL)) {
		fprintf(stderr, "namdb bench: %s %s --sim; %s\n", p.protocol != NULL ? p.protocol : "this",
		    real ? "is not for" : "needs", more);
		return 2;
	}
	if (p.plot.keep_data && p.plot.file == NULL)
		return bench_bad_use(argv[0], "--plot-data goes with --plot") - 1;
	if (!bench_sim_plot_ready(&p.plot))
		return 1;
	defaults(&p, real);
	p.plot.x = "clients";
	if (real)
		snprintf(p.plot.title, sizeof p.plot.title, "tpcw by %s, %u resource managers", p.protocol,
		    p.storage);
	else
		snprintf(p.plot.title, sizeof p.plot.title, "tpcw by %s on %s, %u + %u + 1 machines",
		    p.protocol, p.model->name, p.compute, p.storage);
	int code = real ? for_real(&p) : on_a_model(&p);
	return bench_sim_plot_end(&p.plot) ? code : 1;
}
