/*
 * oracle.c -- `namdb bench oracle`: one client of several is paused; for how long do the others'
 * snapshots stall?
 *
 * Twice, side by side: with commit ids claimed by FETCH_ADD (tsoracle), and dealt out beforehand,
 * as in the NAM paper (§4.2). In simulated time, or with processes of which one is sent SIGSTOP.
 */
#include <base/number.h>
#include <bench/oracle_internal.h>

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
	    "Clients that commit all the time, and take a snapshot every 10 ms; one of them is paused. How "
	    "old do "
	    "the "
	    "others'\nsnapshots get? With commit ids claimed by FETCH_ADD, and dealt out beforehand (the NAM "
	    "paper), "
	    "side by side.\n"
	    "  --pause S        how long, 0.2 or more (default 10)\n"
	    "  --moment LIST    of claim (with a commit id claimed), commit (in the middle of one), idle "
	    "(default "
	    "all)\n"
	    "  --clients N      3 .. %d (default 4)\n"
	    "  --rate N         commits per second offered by each; 0: as many as it can (default 1000)\n"
	    "  --lease MS       a client whose heart stalls for so long is fenced (default %d)\n"
	    "  --before S, --after S   what is measured around the pause (default 1)\n"
	    "  --fabric P       sim, shm, tcp or verbs (default shm); sim: virtual time, one process\n"
	    "  --seed N         of sim (default 1)\n"
	    "  --plot FILE      a picture, .png or .svg, by gnuplot; --plot-data also keeps FILE.dat\n"
	    "  --json           one object on stdout\n",
	    ORACLE_CLIENTS_MAX, ORACLE_LEASE_MS);
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
	case 's':
		return nam_number(value, 0, UINT64_MAX, &p->seed);
	default:
		return false;
	}
}

/* 0: go on; else exit code + 1. */
static int
options(int argc, char **argv, struct oracle_params *p)
{
	static const struct option opt[] = { { "pause", 1, NULL, 'p' }, { "moment", 1, NULL, 'm' },
		{ "clients", 1, NULL, 'n' }, { "rate", 1, NULL, 'R' }, { "lease", 1, NULL, 'l' },
		{ "before", 1, NULL, 'b' }, { "after", 1, NULL, 'a' }, { "fabric", 1, NULL, 'F' },
		{ "seed", 1, NULL, 's' }, { "plot", 1, NULL, 'g' }, { "plot-data", 0, NULL, 'G' },
		{ "json", 0, NULL, 'j' }, { "help", 0, NULL, 'h' }, { 0 } };
	*p = (struct oracle_params){ .common = { .fabric = NET_SHM },
		.moment = { true, true, true },
		.clients = 4,
		.rate = 1000,
		.lease_ms = ORACLE_LEASE_MS,
		.before_s = 1,
		.pause_s = 10,
		.after_s = 1,
		.seed = 1 };
	return bench_options(argc, argv, opt, &p->common, take, usage, p);
}

/* ---- the report ---- */

static struct oracle_result got[ORACLE_MOMENTS][ORACLE_SCHEMES];

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

static void
table(const struct oracle_params *p, enum oracle_moment m)
{
	static const char *const when[ORACLE_MOMENTS] = { "with a commit id claimed",
		"in the middle of a commit", "while it had nothing to do" };
	const struct oracle_result *ours = &got[m][TSO_CLAIM], *theirs = &got[m][TSO_PREASSIGNED];
	char from[LABEL_LEN];
	printf("\npaused %s\n%16s  %-34s  %s\n", when[m], "", "claimed by FETCH_ADD", "dealt out beforehand");
	printf("%16s  %10s %10s %12s  %10s %10s %12s\n", "", "age ms", "missing ms", "commits/s", "age ms",
	    "missing ms", "commits/s");
	for (unsigned i = 0; i < ours->rows && i < theirs->rows; i++) {
		const struct oracle_row *a = &ours->row[i], *b = &theirs->row[i];
		label(p, ours, i, from);
		printf("%16s  %10.1f %10.1f %12.0f  %10.1f %10.1f %12.0f\n", from, a->age_ms, a->missing_ms,
		    a->commits_per_s, b->age_ms, b->missing_ms, b->commits_per_s);
	}
}

static void
metrics(const struct oracle_params *p, bool json)
{
	struct bench_metrics out = { json, "" };
	char name[64];
	unsigned wrong = 0;
	for (unsigned m = 0; m < ORACLE_MOMENTS; m++)
		for (unsigned s = 0; p->moment[m] && s < ORACLE_SCHEMES; s++) {
			const struct oracle_result *o = &got[m][s];
			const char *scheme = bench_oracle_scheme_names[s],
				   *moment = bench_oracle_moment_names[m];
			snprintf(name, sizeof name, "%s_%s_age_ms", scheme, moment);
			bench_metric(&out, name, o->age_ms);
			snprintf(name, sizeof name, "%s_%s_missing_ms", scheme, moment);
			bench_metric(&out, name, o->missing_ms);
			wrong += o->wrong;
		}
	bench_metric(&out, "check_errors", wrong);
}

static void
rows(const struct oracle_params *p)
{
	const char *comma = "";
	for (unsigned m = 0; m < ORACLE_MOMENTS; m++)
		for (unsigned s = 0; p->moment[m] && s < ORACLE_SCHEMES; s++)
			for (unsigned i = 0; i < got[m][s].rows; i++) {
				const struct oracle_row *row = &got[m][s].row[i];
				printf("%s{\"moment\": \"%s\", \"scheme\": \"%s\", \"from_s\": %g, \"to_s\": "
				       "%g, "
				       "\"age_ms\": %.6g, \"missing_ms\": %.6g, \"commits_per_s\": %.6g, "
				       "\"shut_out\": %s}",
				    comma, bench_oracle_moment_names[m], bench_oracle_scheme_names[s],
				    row->from_s, row->to_s, row->age_ms, row->missing_ms, row->commits_per_s,
				    got[m][s].shut_out ? "true" : "false");
				comma = ", ";
			}
}

static void
report(const struct oracle_params *p)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	if (p->common.json) {
		printf(
		    "{\"bench\": \"oracle\", \"provider\": \"%s\", \"params\": {\"clients\": %u, \"rate\": "
		    "%u, "
		    "\"lease_ms\": %u, \"pause_s\": %g, \"before_s\": %g, \"after_s\": %g, \"cores\": %ld}, "
		    "\"metrics\": {",
		    net_kind_name(p->common.fabric), p->clients, p->rate, p->lease_ms, p->pause_s,
		    p->before_s, p->after_s, cores);
		metrics(p, true);
		printf("}, \"rows\": [");
		rows(p);
		printf("]}\n");
		return;
	}
	char rate[48] = "as many commits as it can";
	if (p->rate != 0)
		snprintf(rate, sizeof rate, "%u commits/s offered", p->rate);
	printf("one of %u clients paused for %g s over %s, %s by each, lease %u ms, %ld cores\n"
	       "age: of the newest commit that a client's snapshot covers; missing: of the oldest that it "
	       "does not\n",
	    p->clients, p->pause_s, net_kind_name(p->common.fabric), rate, p->lease_ms, cores);
	for (unsigned m = 0; m < ORACLE_MOMENTS; m++)
		if (p->moment[m])
			table(p, (enum oracle_moment)m);
	printf("\n");
	metrics(p, false);
}

/* ---- all ---- */

static nam_status
play(const struct oracle_params *p, enum oracle_moment m, enum tso_scheme s, struct nam_err *err)
{
	struct oracle_run *r = bench_oracle_run_new(p, s, m);
	if (r == NULL)
		return nam_fail(err, NAM_NOMEM, "no memory for what clients write down");
	bench_progress("%s %s", bench_oracle_moment_names[m], bench_oracle_scheme_names[s]);
	nam_status st = p->common.fabric == NET_SIM ? bench_oracle_sim(r, err) : bench_oracle_real(r, err);
	if (st == NAM_OK && !atomic_load(&bench_oracle_stop) && !bench_oracle_judge(r, &got[m][s]))
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
	if (p.common.plot != NULL && !bench_plot_ready())
		return 1;
	struct sigaction sa = { .sa_handler = on_interrupt, .sa_flags = SA_RESETHAND }, before;
	sigaction(SIGINT, &sa, &before);
	nam_status st = NAM_OK;
	for (unsigned m = 0; m < ORACLE_MOMENTS; m++)
		for (unsigned s = 0; s < ORACLE_SCHEMES; s++)
			if (p.moment[m] && st == NAM_OK && !atomic_load(&bench_oracle_stop))
				st = play(&p, (enum oracle_moment)m, (enum tso_scheme)s, &err);
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
	for (unsigned m = 0; m < ORACLE_MOMENTS; m++)
		for (unsigned s = 0; s < ORACLE_SCHEMES; s++) {
			ok &= got[m][s].wrong == 0;
			free(got[m][s].bin);
			got[m][s].bin = NULL;
		}
	sigaction(SIGINT, &before, NULL);
	return ok ? 0 : 1;
}
