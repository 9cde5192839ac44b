/*
 * oracle.c -- `namdb bench oracle`: one client of several is paused, idle, slow or dead; for how
 * long do the others' snapshots stall?
 *
 * Twice, side by side: with commit ids claimed by FETCH_ADD (tsoracle), and dealt out beforehand,
 * as in the NAM paper (§4.2). In simulated time, or with processes of which one is sent SIGSTOP or
 * SIGKILL.
 */
#include "oracle.h"

#include <base/number.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LABEL_LEN = 32 };

atomic_bool bench_oracle_stop;

static void
on_interrupt(int sig)
{
	(void)sig;
	atomic_store(&bench_oracle_stop, true);
}

/* ---- options ---- */

static void
usage(FILE *to)
{
	fprintf(to,
	    "usage: namdb bench oracle [options]\n"
	    "Clients that commit all the time, and take a snapshot every 10 ms; one of them is paused, idle, "
	    "slow or dead.\nHow old do the others' snapshots get? With commit ids claimed by FETCH_ADD, and "
	    "dealt out beforehand (the\nNAM paper), side by side.\n"
	    "  --client LIST    what that one does: paused (default), or, in one table, all or some of\n"
	    "                   none    what the others do\n"
	    "                   idle    nothing; it lives\n"
	    "                   rare    one commit for %d of another client\n"
	    "                   slow    as rare, and --open from claim to mark\n"
	    "                   dead    it dies with a commit id claimed (SIGKILL), and stays dead\n"
	    "  --open MS        of slow (default %d; with --sim %d)\n"
	    "  --pause S        how long, 0.2 or more (default 10; with --sim 1)\n"
	    "  --moment LIST    of paused: claim (with a commit id claimed), commit (in the middle of one), "
	    "idle\n"
	    "                   (default all)\n"
	    "  --clients N      3 .. %d (default 4)\n"
	    "  --rate N         commits per second offered by each; 0: as many as it can (default 1000; with "
	    "--sim 0)\n"
	    "  --lease MS       a client whose heart stalls for so long is fenced (default %d)\n"
	    "  --before S, --after S   what is measured around the pause (default 1; with --sim 0.1)\n"
	    "  --fabric P       sim, shm, tcp or verbs (default shm); sim: virtual time, one process\n"
	    "  --sim MODEL      sim, with what fdr4x or cx6 costs: one client a machine, a snapshot every "
	    "ms\n"
	    "  --seed N         of sim (default 1)\n"
	    "  --plot FILE      a picture, .png or .svg, by gnuplot; --plot-data also keeps FILE.dat\n"
	    "  --json           one object on stdout\n",
	    ORACLE_RARELY, ORACLE_OPEN_MS, ORACLE_MODEL_OPEN_MS, ORACLE_CLIENTS_MAX, ORACLE_LEASE_MS);
}

static bool
take_fabric(const char *word, enum net_kind *out)
{
	if (strcmp(word, net_kind_name(NET_SIM)) == 0) {
		*out = NET_SIM;
		return true;
	}
	return net_kind_parse(word, out) && *out != NET_AUTO;
}

static bool
take_clients(char *list, bool kind[ORACLE_CLIENT_KINDS])
{
	if (strcmp(list, "all") != 0)
		return bench_take_names(list, bench_oracle_client_names, ORACLE_CLIENT_KINDS, kind);
	memset(kind, true, ORACLE_CLIENT_KINDS * sizeof *kind);
	return true;
}

static bool
take(void *arg, int letter, char *value)
{
	struct oracle_params *p = arg;
	uint64_t x = 0;
	bool ok = false;
	switch (letter) {
	case 'p':
		return bench_take_seconds(value, &p->pause_s) && p->pause_s >= 0.2;
	case 'm':
		return bench_take_names(value, bench_oracle_moment_names, ORACLE_MOMENTS, p->moment);
	case 'C':
		return take_clients(value, p->kind);
	case 'o':
		ok = nam_number(value, 1, 1000, &x);
		p->open_ms = (uint32_t)x;
		return ok;
	case 'n':
		ok = nam_number(value, 3, ORACLE_CLIENTS_MAX, &x);
		p->clients = (unsigned)x;
		return ok;
	case 'R':
		ok = nam_number(value, 0, 1000000, &x);
		p->rate = (unsigned)x;
		return ok;
	case 'l':
		ok = nam_number(value, 10, 60000, &x);
		p->lease_ms = (uint32_t)x;
		return ok;
	case 'b':
		return bench_take_seconds(value, &p->before_s) && p->before_s >= 0.1;
	case 'a':
		return bench_take_seconds(value, &p->after_s) && p->after_s >= 0.1;
	case 'F':
		return take_fabric(value, &p->common.fabric);
	case 'M':
		return (p->model = net_sim_model_find(value)) != NULL;
	case 's':
		return nam_number(value, 0, UINT64_MAX, &p->seed);
	default:
		return false;
	}
}

enum { RATE_UNSAID = UINT32_MAX };

static double
or_else(double said, double otherwise)
{
	return said > 0 ? said : otherwise;
}

/* 0: go on; else exit code + 1. */
static int
options(int argc, char **argv, struct oracle_params *p)
{
	static const struct option opt[] = { { "client", 1, NULL, 'C' }, { "open", 1, NULL, 'o' },
		{ "pause", 1, NULL, 'p' }, { "moment", 1, NULL, 'm' }, { "clients", 1, NULL, 'n' },
		{ "rate", 1, NULL, 'R' }, { "lease", 1, NULL, 'l' }, { "before", 1, NULL, 'b' },
		{ "after", 1, NULL, 'a' }, { "fabric", 1, NULL, 'F' }, { "sim", 1, NULL, 'M' },
		{ "seed", 1, NULL, 's' }, { "plot", 1, NULL, 'g' }, { "plot-data", 0, NULL, 'G' },
		{ "json", 0, NULL, 'j' }, { "help", 0, NULL, 'h' }, { 0 } };
	*p = (struct oracle_params){ .common = { .fabric = NET_AUTO },
		.kind = { [ORACLE_PAUSED] = true },
		.clients = 4,
		.rate = RATE_UNSAID,
		.lease_ms = ORACLE_LEASE_MS,
		.seed = 1 };
	int code = bench_options(argc, argv, opt, &p->common, take, usage, p);
	if (code != 0)
		return code;
	bool model = p->model != NULL, at = false;
	for (unsigned m = 0; m < ORACLE_MOMENTS; m++)
		at |= p->moment[m];
	if (at && !p->kind[ORACLE_PAUSED])
		return bench_bad_use(argv[0], "--moment is of --client paused");
	if (!at)
		memset(p->moment, true, sizeof p->moment);
	if (p->open_ms != 0 && !p->kind[ORACLE_SLOW - ORACLE_MOMENTS + 1])
		return bench_bad_use(argv[0], "--open is of --client slow");
	if (model && p->common.fabric != NET_AUTO && p->common.fabric != NET_SIM)
		return bench_bad_use(argv[0], "--sim is a fabric itself: leave --fabric out");
	if (p->common.fabric == NET_AUTO)
		p->common.fabric = model ? NET_SIM : NET_SHM;
	if (p->rate == RATE_UNSAID)
		p->rate = model ? 0 : 1000;
	p->before_s = or_else(p->before_s, model ? 0.1 : 1);
	p->pause_s = or_else(p->pause_s, model ? 1 : 10);
	p->after_s = or_else(p->after_s, model ? 0.1 : 1);
	p->look_ms = model ? ORACLE_MODEL_LOOK_MS : ORACLE_LOOK_MS;
	if (p->open_ms == 0)
		p->open_ms = model ? ORACLE_MODEL_OPEN_MS : ORACLE_OPEN_MS;
	for (unsigned k = 0; k < ORACLE_CASES; k++)
		p->play[k] = k < ORACLE_MOMENTS ? p->kind[ORACLE_PAUSED] && p->moment[k]
						: p->kind[k - ORACLE_MOMENTS + 1];
	return 0;
}

/* ---- the report ---- */

static struct oracle_result got[ORACLE_CASES][ORACLE_SCHEMES];

static void
label(const struct oracle_params *p, const struct oracle_result *o, unsigned i, char out[LABEL_LEN])
{
	const struct oracle_row *row = &o->row[i];
	bool ms = row->to_s < 1;
	if (row->to_s <= 0)
		snprintf(out, LABEL_LEN, "before");
	else if (row->from_s >= p->pause_s)
		snprintf(out, LABEL_LEN, "after");
	else
		snprintf(out, LABEL_LEN, "%g - %g %s", row->from_s * (ms ? 1000 : 1),
		    row->to_s * (ms ? 1000 : 1), ms ? "ms" : "s");
}

/* One case by time: how it goes on. */
static void
table(const struct oracle_params *p, enum oracle_case k)
{
	const struct oracle_result *ours = &got[k][TSO_CLAIM], *theirs = &got[k][TSO_PREASSIGNED];
	char from[LABEL_LEN];
	printf("\n%s\n%16s  %-34s  %s\n", bench_oracle_case_text(k), "", "claimed by FETCH_ADD",
	    "dealt out beforehand");
	printf("%16s  %10s %10s %12s  %10s %10s %12s\n", "", "age ms", "missing ms", "commits/s", "age ms",
	    "missing ms", "commits/s");
	for (unsigned i = 0; i < ours->rows && i < theirs->rows; i++) {
		const struct oracle_row *a = &ours->row[i], *b = &theirs->row[i];
		label(p, ours, i, from);
		printf("%16s  %10.1f %10.1f %12.0f  %10.1f %10.1f %12.0f\n", from, a->age_ms, a->missing_ms,
		    a->commits_per_s, b->age_ms, b->missing_ms, b->commits_per_s);
	}
}

/* All cases, side by side. */
static void
overview(const struct oracle_params *p)
{
	printf("\n%-34s %-6s  %-51s  %s\n%-34s %-6s ", "", "", "claimed by FETCH_ADD", "dealt out beforehand",
	    "that client", "");
	for (unsigned s = 0; s < ORACLE_SCHEMES; s++)
		printf(" %9s %9s %9s %9s %10s ", "age ms", "mean", "missing", "mean", "commits/s");
	printf("\n");
	for (unsigned i = 0; i < ORACLE_CASES * 2; i++) {
		enum oracle_case k = bench_oracle_case_at(i / 2);
		bool after = i % 2 != 0;
		if (!p->play[k])
			continue;
		printf("%-34s %-6s ", after ? "" : bench_oracle_case_text(k), after ? "after" : "during");
		for (unsigned s = 0; s < ORACLE_SCHEMES; s++) {
			const struct oracle_row *row = after ? &got[k][s].after : &got[k][s].during;
			printf(" %9.1f %9.1f %9.1f %9.1f %10.0f ", row->age_ms, row->mean_age_ms,
			    row->missing_ms, row->mean_missing_ms, row->commits_per_s);
		}
		printf("\n");
	}
}

static void
metric(struct bench_metrics *out, const char *scheme, enum oracle_case k, const char *what, double value)
{
	char name[64];
	bool paused = k < ORACLE_MOMENTS;
	snprintf(name, sizeof name, "%s_%s%s_%s", scheme, paused ? "" : "client_",
	    paused ? bench_oracle_moment_names[k] : bench_oracle_client_of(k), what);
	bench_metric(out, name, value);
}

/* brief: what every run had before there were other clients than a paused one. */
static void
metrics(const struct oracle_params *p, bool json, bool brief)
{
	struct bench_metrics out = { json, "" };
	unsigned wrong = 0;
	for (unsigned i = 0; i < ORACLE_CASES; i++)
		for (unsigned s = 0; p->play[i] && s < ORACLE_SCHEMES; s++) {
			enum oracle_case k = (enum oracle_case)i;
			const struct oracle_result *o = &got[k][s];
			const char *scheme = bench_oracle_scheme_names[s];
			wrong += o->wrong;
			metric(&out, scheme, k, "age_ms", o->age_ms);
			metric(&out, scheme, k, "missing_ms", o->missing_ms);
			if (brief)
				continue;
			metric(&out, scheme, k, "mean_age_ms", o->during.mean_age_ms);
			metric(&out, scheme, k, "mean_missing_ms", o->during.mean_missing_ms);
			metric(&out, scheme, k, "commits_per_s", o->during.commits_per_s);
			metric(&out, scheme, k, "after_age_ms", o->after.age_ms);
			metric(&out, scheme, k, "after_missing_ms", o->after.missing_ms);
			metric(&out, scheme, k, "after_mean_missing_ms", o->after.mean_missing_ms);
			metric(&out, scheme, k, "after_commits_per_s", o->after.commits_per_s);
		}
	bench_metric(&out, "check_errors", wrong);
}

static void
rows(const struct oracle_params *p)
{
	const char *comma = "";
	for (unsigned k = 0; k < ORACLE_CASES; k++)
		for (unsigned s = 0; p->play[k] && s < ORACLE_SCHEMES; s++)
			for (unsigned i = 0; i < got[k][s].rows; i++) {
				const struct oracle_row *row = &got[k][s].row[i];
				printf("%s{\"client\": \"%s\", ", comma,
				    bench_oracle_client_of((enum oracle_case)k));
				if (k < ORACLE_MOMENTS)
					printf("\"moment\": \"%s\", ", bench_oracle_moment_names[k]);
				printf("\"scheme\": \"%s\", \"from_s\": %g, \"to_s\": %g, "
				       "\"age_ms\": %.6g, \"mean_age_ms\": %.6g, \"missing_ms\": %.6g, "
				       "\"mean_missing_ms\": %.6g, "
				       "\"commits_per_s\": %.6g, \"shut_out\": %s}",
				    bench_oracle_scheme_names[s], row->from_s, row->to_s, row->age_ms,
				    row->mean_age_ms, row->missing_ms, row->mean_missing_ms,
				    row->commits_per_s, got[k][s].shut_out ? "true" : "false");
				comma = ", ";
			}
}

static void
report_json(const struct oracle_params *p, long cores)
{
	printf("{\"bench\": \"oracle\", \"provider\": \"%s\", \"params\": {\"clients\": %u, \"rate\": %u, "
	       "\"lease_ms\": %u, \"open_ms\": %u, \"look_ms\": %u, \"pause_s\": %g, \"before_s\": %g, "
	       "\"after_s\": %g, ",
	    net_kind_name(p->common.fabric), p->clients, p->rate, p->lease_ms, p->open_ms, p->look_ms,
	    p->pause_s, p->before_s, p->after_s);
	if (p->model != NULL)
		printf("\"sim\": \"%s\", ", p->model->name);
	printf("\"cores\": %ld}, \"metrics\": {", cores);
	metrics(p, true, false);
	printf("}, \"rows\": [");
	rows(p);
	printf("]}\n");
}

static void
report(const struct oracle_params *p)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	if (p->common.json) {
		report_json(p, cores);
		return;
	}
	bool only_paused = true;
	for (unsigned k = ORACLE_MOMENTS; k < ORACLE_CASES; k++)
		only_paused &= !p->play[k];
	char rate[48] = "as many commits as it can";
	if (p->rate != 0)
		snprintf(rate, sizeof rate, "%u commits/s offered", p->rate);
	printf(only_paused ? "one of %u clients paused" : "what one of %u clients does", p->clients);
	printf(" for %g s over %s, %s by each, lease %u ms, %ld cores\n", p->pause_s,
	    p->model != NULL ? p->model->name : net_kind_name(p->common.fabric), rate, p->lease_ms, cores);
	if (p->play[ORACLE_SLOW])
		printf("long open: %u ms from claim to mark\n", p->open_ms);
	printf("age: of the newest commit that a client's snapshot covers; missing: of the oldest that it "
	       "does not%s\n",
	    only_paused ? "" : ";\neach the greatest, then the mean over time; commits/s of the others");
	if (!only_paused)
		overview(p);
	for (unsigned k = 0; only_paused && k < ORACLE_MOMENTS; k++)
		if (p->play[k])
			table(p, (enum oracle_case)k);
	printf("\n");
	if (only_paused) {
		metrics(p, false, true);
		return;
	}
	unsigned wrong = 0;
	for (unsigned k = 0; k < ORACLE_CASES; k++)
		wrong += got[k][TSO_CLAIM].wrong + got[k][TSO_PREASSIGNED].wrong;
	bench_metric(&(struct bench_metrics){ false, "" }, "check_errors", wrong);
}

/* ---- all ---- */

static nam_status
play(const struct oracle_params *p, enum oracle_case k, enum tso_scheme s, struct nam_err *err)
{
	struct oracle_run *r = bench_oracle_run_new(p, s, k);
	if (r == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for what clients write down");
	bench_progress("%s, %s", bench_oracle_case_text(k), bench_oracle_scheme_names[s]);
	nam_status st = p->common.fabric == NET_SIM ? bench_oracle_sim(r, err) : bench_oracle_real(r, err);
	if (st == NAM_OK && !atomic_load(&bench_oracle_stop) && !bench_oracle_judge(r, &got[k][s]))
		st = nam_fail(err, NAM_NOMEM, "no memory");
	bench_oracle_run_free(r);
	return st;
}

int
bench_oracle(int argc, char **argv)
{
	struct oracle_params p;
	struct nam_err err = { 0 };
	int code = options(argc, argv, &p);
	if (code != 0)
		return code - 1;
	if (p.common.plot != NULL && !bench_plot_ready(p.common.plot))
		return 1;
	struct sigaction sa = { .sa_handler = on_interrupt, .sa_flags = SA_RESETHAND }, before;
	sigaction(SIGINT, &sa, &before);
	nam_status st = NAM_OK;
	for (unsigned k = 0; k < ORACLE_CASES; k++)
		for (unsigned s = 0; s < ORACLE_SCHEMES; s++)
			if (p.play[k] && st == NAM_OK && !atomic_load(&bench_oracle_stop))
				st = play(&p, (enum oracle_case)k, (enum tso_scheme)s, &err);
	bench_progress_end(NULL);
	bool ok = st == NAM_OK && !atomic_load(&bench_oracle_stop);
	if (st != NAM_OK)
		fprintf(stderr, "namdb bench: %s\n", err.text);
	else if (!ok)
		fprintf(stderr, "namdb bench: interrupted; half of a comparison is not reported\n");
	if (ok) {
		report(&p);
		fflush(stdout);
		ok = p.common.plot == NULL || bench_oracle_plot(&p, got);
	}
	for (unsigned k = 0; k < ORACLE_CASES; k++)
		for (unsigned s = 0; s < ORACLE_SCHEMES; s++) {
			ok &= got[k][s].wrong == 0;
			free(got[k][s].bin);
			got[k][s].bin = NULL;
		}
	sigaction(SIGINT, &before, NULL);
	return ok ? 0 : 1;
}
