/*
 * pgbench.c -- `namdb bench pgbench`: PostgreSQL's own load, at namdb and at PostgreSQL in turn.
 *
 * Both servers are reached over a UNIX socket by the same pgbench with the same options. They have
 * their data in memory, and lose it when this program ends; or, with --sync, their logs are on one
 * disk. A run is one script with one number of
 * clients at each server, one after the other; its ratio is namdb's transactions per second over
 * PostgreSQL's. Only transactions that succeeded count. The 99th percentile is that of pgbench's
 * log of every transaction.
 */
#include "servers.h"

#include <base/number.h>
#include <bench/bench.h>
#include <bench/peer_postgres.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLIENTS_MAX = 8, SCRIPTS = 2, OUTPUT_MAX = 1 << 16, WORDS_MAX = 32 };

static const struct {
	const char *name, *option;
} script[SCRIPTS] = { { "select", "select-only" }, { "tpcb", "tpcb-like" } };

/* What one pgbench said of one server. */
struct measured {
	double tps, p99_us, failed_percent, done;
};

struct pgbench {
	struct bench_common common;
	uint64_t scale, workers;
	unsigned clients[CLIENTS_MAX], counts;
	bool script[SCRIPTS];
	bool alone;       /* without PostgreSQL */
	const char *sync; /* "on", "off": of both servers; NULL: neither keeps its data */
	const struct bench_namdb *namdb;
	const char *mode;
	const char *program;
	char logs[48];
};

static void
usage(FILE *to)
{
	fprintf(to, "usage: namdb bench pgbench [options]\n"
		    "pgbench at `namdb compute` and at PostgreSQL 15 in turn: transactions per second, 99th "
		    "percentile, the\n"
		    "ratio of namdb's to PostgreSQL's, and the CPU time of namdb's processes for a "
		    "transaction.\n"
		    "  --scripts LIST   of select (select-only) and tpcb (tpcb-like) (default both)\n"
		    "  --clients LIST   numbers of clients (default 1,2,8); pgbench has one thread for 1, "
		    "two for more\n"
		    "  --mode M         prepared, extended or simple (default prepared)\n"
		    "  --scale N        scale of pgbench's tables (default 10)\n"
		    "  --workers N      worker threads of the compute node (default: one per core)\n"
		    "  --seconds S      whole seconds of each run (default 20)\n"
		    "  --runs N         runs of each point, in turn; medians are reported (default 3)\n"
		    "  --sync on|off    both keep their data on the disk of " BENCH_DISK
		    ", with that synchronous_commit\n"
		    "                   (default: both have their data in memory alone)\n"
		    "  --alone          namdb only\n"
		    "  --json           one object on stdout\n");
}

/* ---- pgbench as a process ---------------------------------------------------------------- */

/* The pgbench that runs now; 0 = none. A signal ends it, and with it the bench. The bench then
 * stops its servers. */
static volatile sig_atomic_t running, told_to_end;

static void
on_signal(int sig)
{
	(void)sig;
	told_to_end = 1;
	if (running != 0)
		kill((pid_t)running, SIGTERM);
}

/* Runs it; what it says on both streams goes into out. True if it ended well. */
static bool
run_program(char *const *word, char *out, size_t max)
{
	int tell[2];
	size_t n = 0;
	out[0] = 0;
	if (told_to_end || pipe2(tell, O_CLOEXEC) != 0)
		return false;
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		if (dup2(tell[1], 1) < 0 || dup2(tell[1], 2) < 0)
			_exit(127);
		execv(word[0], word);
		_exit(127);
	}
	running = pid > 0 ? pid : 0;
	close(tell[1]);
	for (;;) {
		char rest[256];
		bool full = n + 1 >= max;
		ssize_t got = full ? read(tell[0], rest, sizeof rest) : read(tell[0], out + n, max - 1 - n);
		if (got == 0 || (got < 0 && errno != EINTR))
			break;
		if (got > 0 && !full)
			n += (size_t)got;
	}
	out[n] = 0;
	close(tell[0]);
	int status = -1;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	running = 0;
	return !told_to_end && pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* pgbench at a server, with up to 16 more words. */
static bool
pgbench_at(const struct pgbench *b, const struct bench_server *s, const char *const *more, char *out)
{
	const char *word[WORDS_MAX] = { b->program, "-h", s->folder, "-p", s->port, "-U", s->user };
	unsigned n = 7;
	while (*more != NULL)
		word[n++] = *more++;
	word[n++] = s->database;
	word[n] = NULL;
	if (run_program((char *const *)(uintptr_t)word, out, OUTPUT_MAX))
		return true;
	fprintf(stderr, "namdb bench: pgbench at %s:\n%s", s->name, out);
	return false;
}

static double
number_after(const char *text, const char *what)
{
	const char *at = strstr(text, what);
	return at == NULL ? -1 : strtod(at + strlen(what), NULL);
}

/* ---- the log of every transaction ---------------------------------------------------------- */

struct times {
	uint32_t *us;
	size_t n, cap;
};

/* A line: client, transaction, microseconds or "failed", ... */
static bool
read_log(const char *path, struct times *t)
{
	char line[256];
	FILE *f = fopen(path, "r");
	if (f == NULL)
		return false;
	while (fgets(line, sizeof line, f) != NULL) {
		unsigned long us;
		if (sscanf(line, "%*s %*s %lu", &us) != 1)
			continue;
		if (t->n == t->cap) {
			size_t cap = t->cap ? 2 * t->cap : 1 << 16;
			uint32_t *more = realloc(t->us, cap * sizeof *more);
			if (more == NULL) {
				fclose(f);
				return false;
			}
			t->us = more;
			t->cap = cap;
		}
		t->us[t->n++] = (uint32_t)us;
	}
	fclose(f);
	return true;
}

static int
by_value(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

/* The 99th percentile of all logs in the folder, which are removed. Below 0: there are none. */
static double
take_p99(const char *dir)
{
	struct times t = { 0 };
	char path[400];
	DIR *d = opendir(dir);
	bool ok = d != NULL;
	for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		ok = ok && read_log(path, &t);
		unlink(path);
	}
	if (d != NULL)
		closedir(d);
	double p99 = -1;
	if (ok && t.n > 0) {
		qsort(t.us, t.n, sizeof *t.us, by_value);
		p99 = t.us[t.n - 1 - t.n / 100];
	}
	free(t.us);
	return p99;
}

/* ---- runs ---------------------------------------------------------------------------------- */

static bool
fill(const struct pgbench *b, const struct bench_server *s, char *out)
{
	char scale[16];
	snprintf(scale, sizeof scale, "%llu", (unsigned long long)b->scale);
	bench_progress("filling %s", s->name);
	const char *const more[] = { "-i", "-q", "-s", scale, NULL };
	return pgbench_at(b, s, more, out);
}

static bool
measure(const struct pgbench *b, const struct bench_server *s, unsigned which, unsigned clients,
    struct measured *m, char *out)
{
	char c[12], j[12], seconds[16], prefix[80];
	snprintf(c, sizeof c, "%u", clients);
	snprintf(j, sizeof j, "%u", clients < 2 ? clients : 2);
	snprintf(seconds, sizeof seconds, "%.0f", b->common.seconds);
	snprintf(prefix, sizeof prefix, "--log-prefix=%s/log", b->logs);
	bench_progress("%s, %u clients, at %s", script[which].name, clients, s->name);
	const char *const more[] = { "-n", "-M", b->mode, "-b", script[which].option, "-c", c, "-j", j, "-T",
		seconds, "-l", prefix, NULL };
	if (!pgbench_at(b, s, more, out))
		return false;
	m->tps = number_after(out, "\ntps = ");
	m->p99_us = take_p99(b->logs);
	double failed = number_after(out, "number of failed transactions: "),
	       done = number_after(out, "number of transactions actually processed: ");
	if (m->tps <= 0 || m->p99_us < 0 || failed < 0 || done <= 0) {
		fprintf(stderr, "namdb bench: pgbench at %s says:\n%s", s->name, out);
		return false;
	}
	m->failed_percent = 100 * failed / (done + failed);
	m->done = done;
	return true;
}

static void
metric(struct bench_metrics *out, const struct pgbench *b, unsigned which, unsigned clients, const char *what,
    double value)
{
	char name[80];
	snprintf(name, sizeof name, "%s_%s_%u_%s", script[which].name, b->mode, clients, what);
	bench_metric(out, name, value);
}

/* One script with one number of clients. False: it could not be measured. */
static bool
point(const struct pgbench *b, const struct bench_server *ours, const struct bench_server *theirs,
    unsigned which, unsigned clients, struct bench_metrics *out, bool *good, char *text)
{
	double tps[BENCH_RUNS_MAX], peer[BENCH_RUNS_MAX], ratio[BENCH_RUNS_MAX], p99[BENCH_RUNS_MAX],
	    peer_p99[BENCH_RUNS_MAX], cpu[BENCH_RUNS_MAX], failed = 0;
	for (unsigned r = 0; r < b->common.runs; r++) {
		struct measured m, p = { 0 };
		double began = bench_namdb_cpu(b->namdb);
		if (!measure(b, ours, which, clients, &m, text))
			return false;
		cpu[r] = 1e6 * (bench_namdb_cpu(b->namdb) - began) / m.done;
		if (theirs != NULL && !measure(b, theirs, which, clients, &p, text))
			return false;
		tps[r] = m.tps;
		p99[r] = m.p99_us;
		peer[r] = p.tps;
		peer_p99[r] = p.p99_us;
		ratio[r] = theirs ? m.tps / p.tps : 0;
		failed = m.failed_percent > failed ? m.failed_percent : failed;
		if (p.failed_percent > failed)
			failed = p.failed_percent;
	}
	bench_progress_end(NULL);
	if (theirs != NULL) {
		metric(out, b, which, clients, "ratio", bench_median(ratio, b->common.runs));
		metric(out, b, which, clients, "postgres_tps", bench_median(peer, b->common.runs));
		metric(out, b, which, clients, "postgres_p99_us", bench_median(peer_p99, b->common.runs));
	}
	metric(out, b, which, clients, "tps", bench_median(tps, b->common.runs));
	metric(out, b, which, clients, "p99_us", bench_median(p99, b->common.runs));
	metric(out, b, which, clients, "cpu_us", bench_median(cpu, b->common.runs));
	metric(out, b, which, clients, "failed_percent_max", failed);
	*good = *good && failed < 1;
	return true;
}

static bool
run_all(const struct pgbench *b, const struct bench_server *ours, const struct bench_server *theirs,
    bool *good, char *text)
{
	struct bench_metrics out = { b->common.json, "" };
	if (!fill(b, ours, text) || (theirs != NULL && !fill(b, theirs, text)))
		return false;
	bench_progress_end(NULL);
	if (out.json)
		printf("{\"bench\": \"pgbench\", \"provider\": \"shm\", \"params\": {\"scale\": %llu, "
		       "\"seconds\": %.0f, "
		       "\"runs\": %u, \"mode\": \"%s\"}, \"metrics\": {",
		    (unsigned long long)b->scale, b->common.seconds, b->common.runs, b->mode);
	else
		printf("pgbench, scale %llu, %u runs of %.0f s, medians; ratio: namdb / PostgreSQL\n",
		    (unsigned long long)b->scale, b->common.runs, b->common.seconds);
	bool ok = true;
	if (b->sync != NULL)
		bench_metric(&out, "sync_us", bench_sync_us());
	for (unsigned s = 0; s < SCRIPTS; s++)
		for (unsigned c = 0; ok && b->script[s] && c < b->counts; c++)
			ok = point(b, ours, theirs, s, b->clients[c], &out, good, text);
	if (out.json)
		printf("}}\n");
	return ok;
}

/* ---- start ----------------------------------------------------------------------- */

static bool
take(void *arg, int letter, char *value)
{
	static const char *const names[SCRIPTS] = { "select", "tpcb" };
	struct pgbench *b = arg;
	switch (letter) {
	case 'p':
		return bench_take_names(value, names, SCRIPTS, b->script);
	case 'C':
		return bench_take_numbers(value, 1, 1000, b->clients, CLIENTS_MAX, &b->counts) &&
		       b->counts > 0;
	case 'm':
		b->mode = value;
		return strcmp(value, "prepared") == 0 || strcmp(value, "extended") == 0 ||
		       strcmp(value, "simple") == 0;
	case 's':
		return nam_number(value, 1, 1000, &b->scale);
	case 'w':
		return nam_number(value, 1, 62, &b->workers);
	case 'y':
		b->sync = value;
		return strcmp(value, "on") == 0 || strcmp(value, "off") == 0;
	case 'a':
		return b->alone = true;
	default:
		return false;
	}
}

/* The program itself, not Debian's wrapper around the versions that are installed. */
static const char *
find_pgbench(char *path, size_t max)
{
	const char *dir = peer_postgres_programs();
	if (dir == NULL)
		return NULL;
	snprintf(path, max, "%s/pgbench", dir);
	return access(path, X_OK) == 0 ? path : NULL;
}

static bool
start_and_run(struct pgbench *b, bool *good)
{
	struct bench_namdb ours = { 0 };
	struct peer_postgres *peer = NULL;
	struct bench_server theirs = {
		.name = "PostgreSQL", .port = "5432", .user = "judge", .database = "postgres"
	};
	char *text = malloc(OUTPUT_MAX);
	b->namdb = &ours;
	if (b->sync != NULL) /* sessions of both begin with it */
		setenv("PGOPTIONS",
		    strcmp(b->sync, "on") == 0 ? "-c synchronous_commit=on" : "-c synchronous_commit=off", 1);
	bool ok = text != NULL && mkdtemp(b->logs) != NULL;
	/* An account's row, two versions of it, its key; the history's rows. */
	if (ok &&
	    (ok = bench_namdb_start(
		 &ours, (b->scale * 200 + 2048) << 20, (unsigned)b->workers, b->sync != NULL)) &&
	    !b->alone) {
		ok =
		    (peer = b->sync != NULL ? peer_postgres_open_for(BENCH_DISK, PEER_POSTGRES_DURABLE)
					    : peer_postgres_open_for("/dev/shm", PEER_POSTGRES_LOAD)) != NULL;
		if (ok)
			snprintf(theirs.folder, sizeof theirs.folder, "%s", peer_postgres_folder(peer));
	}
	ok = ok && run_all(b, &ours.at, b->alone ? NULL : &theirs, good, text);
	if (peer != NULL)
		peer_postgres_close(peer);
	bench_namdb_stop(&ours);
	(void)take_p99(b->logs); /* what a run that was interrupted has left */
	rmdir(b->logs);
	free(text);
	return ok;
}

int
bench_pgbench(int argc, char **argv)
{
	static const struct option opt[] = { { "scripts", 1, NULL, 'p' }, { "clients", 1, NULL, 'C' },
		{ "mode", 1, NULL, 'm' }, { "scale", 1, NULL, 's' }, { "workers", 1, NULL, 'w' },
		{ "sync", 1, NULL, 'y' }, { "alone", 0, NULL, 'a' }, { "seconds", 1, NULL, 't' },
		{ "runs", 1, NULL, 'r' }, { "json", 0, NULL, 'j' }, { "help", 0, NULL, 'h' }, { 0 } };
	struct pgbench b = { .common = { .seconds = 20, .runs = 3 },
		.scale = 10,
		.clients = { 1, 2, 8 },
		.counts = 3,
		.script = { true, true },
		.mode = "prepared",
		.logs = "/dev/shm/namdb-pgbench-XXXXXX" };
	char program[64];
	int code = bench_options(argc, argv, opt, &b.common, take, usage, &b);
	if (code != 0)
		return code - 1;
	if (b.common.seconds < 1 || b.common.seconds != (double)(unsigned)b.common.seconds)
		return bench_bad_use("pgbench", "--seconds is a whole number") - 1;
	if ((b.program = find_pgbench(program, sizeof program)) == NULL) {
		fprintf(stderr,
		    "namdb bench: there is no pgbench of PostgreSQL 15 here: apt install postgresql-15\n");
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	const struct sigaction end = { .sa_handler = on_signal };
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	bool good = true;
	if (!start_and_run(&b, &good))
		return 1;
	if (!good)
		fprintf(stderr, "namdb bench: 1 %% or more of the transactions of a run failed\n");
	return good ? 0 : 1;
}
