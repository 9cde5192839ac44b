/*
 * table.c -- the results of a run of `namdb bench oracle`, from its clients' records; and
 * its picture.
 *
 * A client has, at any moment, the last snapshot that it got. Its age: for how long has the newest
 * commit that it covers been answered? What is missing: for how long has the oldest commit that it
 * does not cover been answered? So a snapshot that is waited for ages meanwhile, and an age is at
 * best what passes between two snapshots.
 */
#include "oracle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_LEN = 4096, PANELS_ACROSS = 4 };

const char *const bench_oracle_moment_names[ORACLE_MOMENTS] = { "claim", "commit", "idle" };
const char *const bench_oracle_client_names[ORACLE_CLIENT_KINDS] = { "paused", "none", "idle", "rare", "slow",
	"dead" };
const char *const bench_oracle_scheme_names[ORACLE_SCHEMES] = { "fetch_add", "preassigned" };

const char *
bench_oracle_client_of(enum oracle_case what)
{
	return bench_oracle_client_names[what < ORACLE_MOMENTS ? ORACLE_PAUSED : what - ORACLE_MOMENTS + 1];
}

enum oracle_case
bench_oracle_case_at(unsigned i)
{
	return (enum oracle_case)((i + ORACLE_MOMENTS) % ORACLE_CASES);
}

const char *
bench_oracle_case_text(enum oracle_case what)
{
	static const char *const text[ORACLE_CASES] = { "paused, with a commit id claimed",
		"paused, in the middle of a commit", "paused, while it had nothing to do", "none",
		"idle: it lives, with nothing to do", "rare: a commit for a hundred",
		"slow: as rare, and long open", "dead, with a commit id claimed" };
	return text[what];
}

/* How many of the client's commits the snapshot covers. */
static unsigned
covered(const struct oracle_client *c, uint64_t cid)
{
	unsigned low = 0, high = atomic_load(&c->commits);
	while (low < high) {
		unsigned mid = low + (high - low) / 2;
		if (c->commit[mid].cid <= cid)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct held {
	uint64_t newest_ns, missing_ns; /* 0 = none; UINT64_MAX: none */
};

/* Of what had been answered when the snapshot was got: a commit may be visible before its client
 * knows. */
static struct held
held(const struct oracle_run *r, uint64_t cid, uint64_t got_ns)
{
	struct held h = { 0, UINT64_MAX };
	for (unsigned i = 0; i < r->p.clients; i++) {
		const struct oracle_client *c = &r->client[i];
		unsigned n = covered(c, cid);
		if (n < atomic_load(&c->commits) && c->commit[n].at_ns < h.missing_ns)
			h.missing_ns = c->commit[n].at_ns;
		while (n > 0 && c->commit[n - 1].at_ns > got_ns)
			n--;
		if (n > 0 && c->commit[n - 1].at_ns > h.newest_ns)
			h.newest_ns = c->commit[n - 1].at_ns;
	}
	return h;
}

static double
ms_since(uint64_t now, uint64_t then)
{
	return now > then ? (double)(now - then) / 1e6 : 0;
}

/* The sum over time, from `from` to `now`, of what has passed since `then`; ms times ms. */
static double
area(uint64_t from, uint64_t now, uint64_t then)
{
	uint64_t begin = then > from ? then : from;
	return (ms_since(begin, then) + ms_since(now, then)) / 2 * ms_since(now, begin);
}

/* What the client has from `from` to `now`. */
static void
ages(struct oracle_bin *b, const struct held *h, uint64_t from, uint64_t now)
{
	if (h->newest_ns == 0)
		return;
	double age = ms_since(now, h->newest_ns), missing = ms_since(now, h->missing_ns);
	b->age_ms = age > b->age_ms ? age : b->age_ms;
	b->missing_ms = missing > b->missing_ms ? missing : b->missing_ms;
	b->age_area += area(from, now, h->newest_ns);
	b->missing_area += area(from, now, h->missing_ns);
	b->ms += ms_since(now, from);
}

/* Bin by bin: what the client has just before each snapshot it gets, and at the end of the bin. */
static void
follow(const struct oracle_run *r, const struct oracle_client *c, struct oracle_result *out, uint64_t start)
{
	struct held h = { 0, UINT64_MAX };
	unsigned k = 0, n = atomic_load(&c->looks);
	/* A client that was fenced says nothing after that; it is counted as wrong elsewhere. */
	uint64_t last = atomic_load(&c->status) == NAM_OK ? UINT64_MAX : n > 0 ? c->look[n - 1].got_ns : 0;
	uint64_t bin_ns = r->p.look_ms * UINT64_C(1000000);
	for (unsigned i = 0; i < out->bins; i++) {
		uint64_t from = start + i * bin_ns, end = from + bin_ns;
		if (end > last)
			break;
		for (; k < n && c->look[k].got_ns < end; k++) {
			if (c->look[k].got_ns >= start) {
				ages(&out->bin[i], &h, from, c->look[k].got_ns);
				from = c->look[k].got_ns;
			}
			h = held(r, c->look[k].cid, c->look[k].got_ns);
		}
		ages(&out->bin[i], &h, from, end);
	}
	for (unsigned i = 0; i < atomic_load(&c->commits); i++) {
		uint64_t at = c->commit[i].at_ns;
		if (at >= start && (at - start) / bin_ns < out->bins)
			out->bin[(at - start) / bin_ns].commits++;
	}
}

/* Snapshots rise; and where they have to, cover what this client had been answered when it
 * asked. */
static unsigned
check(const struct oracle_run *r, unsigned i)
{
	const struct oracle_client *c = &r->client[i];
	unsigned wrong = 0, done = 0, commits = atomic_load(&c->commits);
	uint64_t last = 0;
	for (unsigned k = 0; k < atomic_load(&c->looks); k++) {
		const struct oracle_look *l = &c->look[k];
		while (done < commits && c->commit[done].at_ns < l->asked_ns)
			done++;
		wrong += l->cid < last;
		wrong += r->scheme == TSO_CLAIM && done > 0 && c->commit[done - 1].cid > l->cid;
		last = l->cid;
	}
	for (unsigned k = 1; k < commits; k++)
		wrong += c->commit[k].cid <= c->commit[k - 1].cid;
	if (wrong > 0)
		fprintf(
		    stderr, "namdb bench: client %u: %u snapshots or commit ids that cannot be\n", i, wrong);
	return wrong;
}

static struct oracle_row
row_of(const struct oracle_result *o, double from_s, double to_s)
{
	struct oracle_row out = { .from_s = from_s, .to_s = to_s }, *row = &out;
	unsigned first = (unsigned)(from_s / o->bin_s + o->bins_before + 0.5);
	unsigned end = (unsigned)(to_s / o->bin_s + o->bins_before + 0.5), commits = 0;
	double age = 0, missing = 0, ms = 0;
	for (unsigned i = first; i < end && i < o->bins; i++) {
		const struct oracle_bin *b = &o->bin[i];
		row->age_ms = b->age_ms > row->age_ms ? b->age_ms : row->age_ms;
		row->missing_ms = b->missing_ms > row->missing_ms ? b->missing_ms : row->missing_ms;
		commits += b->commits;
		age += b->age_area;
		missing += b->missing_area;
		ms += b->ms;
	}
	row->mean_age_ms = ms > 0 ? age / ms : 0;
	row->mean_missing_ms = ms > 0 ? missing / ms : 0;
	row->commits_per_s = commits / (to_s - from_s);
	return out;
}

static void
row_add(struct oracle_result *o, double from_s, double to_s)
{
	o->row[o->rows++] = row_of(o, from_s, to_s);
}

bool
bench_oracle_judge(const struct oracle_run *r, struct oracle_result *o)
{
	static const double edge[] = { 0, 0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5, 10, 30, 100 };
	const struct oracle_params *p = &r->p;
	bool lives = r->what >= ORACLE_NONE && r->what != ORACLE_DEAD;
	double bin_s = p->look_ms / 1e3;
	*o = (struct oracle_result){ .bin_s = bin_s, .bins_before = (unsigned)(p->before_s / bin_s + 0.5) };
	o->bins = o->bins_before + (unsigned)((p->pause_s + p->after_s) / bin_s + 0.5);
	if ((o->bin = calloc(o->bins, sizeof *o->bin)) == NULL)
		return false;
	uint64_t stopped = atomic_load(&r->stopped_ns);
	uint64_t start = stopped - o->bins_before * (p->look_ms * UINT64_C(1000000));
	for (unsigned i = 0; i < p->clients; i++) {
		const struct oracle_client *c = &r->client[i];
		o->wrong += check(r, i);
		if (i != ORACLE_VICTIM) {
			follow(r, c, o, start);
			o->looks += atomic_load(&c->looks);
		}
		if (atomic_load(&c->status) != NAM_OK && (i != ORACLE_VICTIM || lives)) {
			nam_status st = (nam_status)atomic_load(&c->status);
			fprintf(stderr, "namdb bench: client %u, which was not %s, ended: %s%s\n", i,
			    r->what == ORACLE_DEAD ? "killed" : "paused", nam_status_text(st),
			    st == NAM_FULL ? "; measure for less time (--pause)" : "");
			o->wrong++;
		}
	}
	if (stopped == 0) {
		fprintf(stderr, "namdb bench: the pause did not happen\n");
		o->wrong++;
		return true;
	}
	o->shut_out =
	    atomic_load(&r->resumed_ns) == 0 || atomic_load(&r->client[ORACLE_VICTIM].status) != NAM_OK;
	row_add(o, -p->before_s, 0);
	o->age_before_ms = o->row[0].age_ms;
	for (unsigned i = 0; edge[i] < p->pause_s; i++) {
		bool last = i + 1 == sizeof edge / sizeof *edge || edge[i + 1] >= p->pause_s;
		row_add(o, edge[i], last ? p->pause_s : edge[i + 1]);
		if (last)
			break;
	}
	row_add(o, p->pause_s, p->pause_s + p->after_s);
	o->during = row_of(o, 0, p->pause_s);
	o->after = o->row[o->rows - 1];
	for (unsigned i = 1; i < o->rows; i++) {
		o->age_ms = o->row[i].age_ms > o->age_ms ? o->row[i].age_ms : o->age_ms;
		o->missing_ms = o->row[i].missing_ms > o->missing_ms ? o->row[i].missing_ms : o->missing_ms;
	}
	return true;
}

/* ---- the picture ---- */

/* A block of lines for each case and scheme. How many cases. */
static unsigned
blocks(FILE *d, const struct oracle_params *p, struct oracle_result got[ORACLE_CASES][ORACLE_SCHEMES])
{
	unsigned cases = 0;
	for (unsigned i = 0; i < ORACLE_CASES; i++) {
		enum oracle_case k = bench_oracle_case_at(i);
		for (unsigned s = 0; p->play[k] && s < ORACLE_SCHEMES; s++) {
			const struct oracle_result *o = &got[k][s];
			fprintf(d, "%s# %s, %s\n# s age_ms missing_ms commits/s\n",
			    cases + s > 0 ? "\n\n" : "", bench_oracle_case_text(k),
			    bench_oracle_scheme_names[s]);
			for (unsigned b = 0; b < o->bins; b++)
				fprintf(d, "%.3f %.6g %.6g %.6g\n",
				    ((double)b + 1 - o->bins_before) * o->bin_s, o->bin[b].age_ms,
				    o->bin[b].missing_ms, o->bin[b].commits / o->bin_s);
		}
		cases += p->play[k];
	}
	return cases;
}

static void
panels(FILE *g, const struct oracle_params *p, const char *data)
{
	unsigned block = 0;
	for (unsigned i = 0; i < ORACLE_CASES; i++) {
		enum oracle_case k = bench_oracle_case_at(i);
		if (!p->play[k])
			continue;
		fprintf(g, "set title '%s'\n", bench_oracle_case_text(k));
		for (unsigned s = 0; s < ORACLE_SCHEMES; s++, block++) {
			fprintf(g, s == 0 ? "plot " : ", ");
			bench_quote(g, data);
			fprintf(g, " index %u using 1:2 with lines lt %u title '%s', ", block, s + 1,
			    bench_oracle_scheme_names[s]);
			bench_quote(g, data);
			fprintf(g, " index %u using 1:3 with lines lt %u dt 2 title '%s, missing'", block,
			    s + 1, bench_oracle_scheme_names[s]);
		}
		fprintf(g, "\n");
	}
}

bool
bench_oracle_plot(const struct oracle_params *p, struct oracle_result got[ORACLE_CASES][ORACLE_SCHEMES])
{
	char data[PATH_LEN];
	if ((size_t)snprintf(data, sizeof data, "%s.dat", p->common.plot) >= sizeof data) {
		fprintf(stderr, "namdb bench: the name of --plot is too long\n");
		return false;
	}
	FILE *d = fopen(data, "we");
	if (d == NULL) {
		fprintf(stderr, "namdb bench: %s: %s\n", data, strerror(errno));
		return false;
	}
	unsigned cases = blocks(d, p, got), across = cases < PANELS_ACROSS ? cases : PANELS_ACROSS;
	unsigned down = (cases + across - 1) / across;
	bool ok = fclose(d) == 0, svg = strcmp(p->common.plot + strlen(p->common.plot) - 4, ".svg") == 0;
	FILE *g = ok ? popen("gnuplot", "we") : NULL;
	if (g != NULL) {
		fprintf(g, "set terminal %s size %u,%u noenhanced\nset output ", svg ? "svg" : "pngcairo",
		    150 + 450 * across, 50 + 400 * down);
		bench_quote(g, p->common.plot);
		fprintf(g,
		    "\nset multiplot layout %u,%u title 'namdb bench oracle: what one of %u clients does "
		    "for %g s, over %s'\nset grid\nset key left top\nset xlabel 's since it began'\n"
		    "set logscale y\nset yrange [0.1:%g]\nset ylabel 'age of snapshots, ms'\n",
		    down, across, p->clients, p->pause_s,
		    p->model != NULL ? p->model->name : net_kind_name(p->common.fabric),
		    (p->pause_s + p->after_s) * 1e5); /* room for the key */
		panels(g, p, data);
		fprintf(g, "unset multiplot\n");
		ok = pclose(g) == 0;
	} else
		ok = false;
	if (!ok)
		fprintf(stderr, "namdb bench: gnuplot made no %s\n", p->common.plot);
	if (!p->common.plot_data)
		unlink(data);
	return ok;
}
