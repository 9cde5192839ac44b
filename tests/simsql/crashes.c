/*
 * crashes.c -- plays the scenarios: a victim dies at each of its verbs, then also its recoverer.
 *
 *	sim_crashes [--only TEXT] [--every K] [--recoverers | --victims]
 *	            [--verb N [--carry none|all|dice] [--second M]]
 *
 * Exit 1: something was half, lost, stuck or wrong. A failure prints how to play it again.
 */
#include "crash.h"

#include <base/log.h>
#include <net/net.h>
#include <txn/txn_internal.h>

#include <time.h>

enum { JUDGE, VICTIM, BESIDE, THIRD, FRESH, PROCS };
enum { GROW_BY = 8, SPREAD = 4, RARELY_US = 8000 };

struct victim {
	struct run *run;
	bool ready, go, ended;
	unsigned answered; /* steps, of this try */
	char refused[400]; /* a step's error that is no conflict */
};

struct beside {
	struct run *run;
	bool stop, ended;
	unsigned committed, refused;
	char bad[2400];
};

struct run {
	struct cluster c;
	const struct crash_scenario *s;
	uint64_t verb, second_verb; /* 0 = no process dies; 0 = only the victim dies */
	enum net_sim_carry carry;
	unsigned second; /* the recoverer that dies */
	struct victim victim;
	struct beside beside;
	/* found out */
	uint64_t verbs, recoverer_verbs;
	unsigned recoverer; /* the victim's; 0 = none was needed */
	unsigned observed;  /* how many steps had been done */
	bool died, both;
	struct tables_found found;
	unsigned grown;
	uint64_t archived, late, finished, undone;
};

static unsigned grow_rows; /* rows of `big` behind which a few more split its index; 0 = not yet
			    * known */
static struct sql_parser *parser;
static bool trace;

/* ---- the victim ---- */

static const char *
state_after(const struct crash_scenario *s, unsigned steps)
{
	const char *state = s->at_first;
	for (unsigned i = 0; i < steps; i++)
		if (s->step[i].state != NULL)
			state = s->step[i].state;
	return state;
}

static unsigned
steps_of(const struct crash_scenario *s)
{
	unsigned n = 0;
	while (n < CRASH_STEPS && s->step[n].sql != NULL)
		n++;
	return n;
}

static bool
is_conflict(const char *error)
{
	return strncmp(error, "40001", 5) == 0 || strncmp(error, "40P01", 5) == 0 ||
	       strncmp(error, "55P03", 5) == 0;
}

/* Writes text down with n for each #. */
static const char *
with_numbers(char *out, size_t cap, const char *text, unsigned n)
{
	size_t at = 0;
	for (; *text != 0 && at + 16 < cap; text++)
		if (*text == '#')
			at += (size_t)snprintf(out + at, cap - at, "%u", n);
		else
			out[at++] = *text;
	out[at] = 0;
	return out;
}

static void
victim_main(void *arg)
{
	struct victim *v = arg;
	struct run *r = v->run;
	const struct crash_scenario *s = r->s;
	struct speaker me;
	char text[1000];
	bool open = speaker_open(&me, &r->c, VICTIM);
	for (unsigned i = 0; open && i < CRASH_STEPS && s->warm[i] != NULL; i++) {
		const char *a = speaker_ask(&me, s->warm[i]);
		if (answer_error(a) != NULL)
			cluster_bad(&r->c, "%s: %s", s->warm[i], a);
	}
	v->ready = true;
	while (open && !v->go)
		net_sleep(r->c.place[VICTIM].w, 10000);
	for (unsigned i = 0, n = steps_of(s), tries = 0; open && i < n; i++) {
		const char *a = speaker_ask(&me, with_numbers(text, sizeof text, s->step[i].sql, r->grown));
		const char *e = answer_error(a);
		if (e != NULL && is_conflict(e) && tries++ < 50) {
			if (s->retry) {
				speaker_ask(&me, "ROLLBACK");
				v->answered = 0;
			}
			i = v->answered - 1;
			continue;
		}
		if (e != NULL) {
			snprintf(v->refused, sizeof v->refused, "%s: %s", s->step[i].sql, a);
			break;
		}
		v->answered++;
	}
	speaker_close(&me);
	v->ended = true;
}

/* ---- sessions that work beside the victim ---- */

static void
beside_main(void *arg)
{
	struct beside *b = arg;
	struct run *r = b->run;
	const struct crash_scenario *s = r->s;
	struct speaker me;
	char text[1000];
	unsigned number = BESIDE * 100000;
	bool open = speaker_open(&me, &r->c, BESIDE);
	while (open && !b->stop && b->bad[0] == 0) {
		const char *e = NULL;
		number++;
		for (unsigned i = 0; e == NULL && i < CRASH_STEPS && s->beside[i] != NULL; i++) {
			const char *a =
			    speaker_ask(&me, with_numbers(text, sizeof text, s->beside[i], number));
			e = answer_error(a);
			if (e != NULL && !is_conflict(e) &&
			    (s->allowed == NULL || memmem(s->allowed, strlen(s->allowed), e, 5) == NULL))
				snprintf(b->bad, sizeof b->bad, "%s: %s", text, a);
		}
		if (e != NULL && sql_session_state(me.sql) != 'I')
			speaker_ask(&me, "ROLLBACK");
		b->committed += e == NULL;
		b->refused += e != NULL;
		/* A lease is long: later on, now and then is enough. */
		unsigned pause = number > BESIDE * 100000 + 60 ? RARELY_US : s->beside_pause_us;
		net_sleep(r->c.place[BESIDE].w, (e != NULL ? 100 + pause : pause) * UINT64_C(1000));
	}
	speaker_close(&me);
	b->ended = true;
}

/* ---- judging ---- */

static bool
asked(struct run *r, struct speaker *speaker, const struct crash_check *k, bool first)
{
	char text[1000], want[1000];
	with_numbers(text, sizeof text, k->sql, r->grown);
	with_numbers(want, sizeof want, !first && k->other != NULL ? k->other : k->answer, r->grown);
	const char *a = speaker_ask(speaker, text);
	bool good = strcmp(want, "*") == 0 ? answer_error(a) == NULL : strcmp(a, want) == 0;
	if (!good)
		cluster_bad(&r->c, "%s\n    is     %s\n    should %s", text, a, want);
	return good;
}

static void
judge(struct run *r, struct speaker *other)
{
	const struct crash_scenario *s = r->s;
	struct victim *v = &r->victim;
	struct speaker me;
	if (!cluster_join(&r->c, FRESH, true) || !speaker_open(&me, &r->c, FRESH))
		return;
	speaker_ask(&me, "SET namdb.visibility = 'cluster'");
	/* What was answered took place. The step behind it may have. */
	char text[1000], state[1000];
	snprintf(
	    state, sizeof state, "%s", speaker_ask(&me, with_numbers(text, sizeof text, s->look, r->grown)));
	unsigned n = steps_of(s), done = v->answered;
	if (strcmp(state, state_after(s, done)) != 0 && done < n && !v->ended)
		done++;
	bool first = strcmp(state, s->at_first) == 0;
	r->observed = done;
	if (strcmp(state, state_after(s, done)) != 0)
		cluster_bad(&r->c, "%u steps were answered; %s\n    is     %s\n    should %s", v->answered,
		    s->look, state, state_after(s, v->answered));
	for (unsigned i = 0; i < CRASH_STEPS && s->after[i].sql != NULL; i++)
		asked(r, &me, &s->after[i], first);
	catalog_judge(&me);
	struct beside *b = &r->beside;
	if (s->beside_done != NULL) {
		unsigned long there = strtoul(
		    speaker_ask(&me, with_numbers(text, sizeof text, s->beside_done, BESIDE * 100000)), NULL,
		    10);
		if (there != b->committed && (b->ended || there != b->committed + 1))
			cluster_bad(&r->c, "%u transactions beside were answered, and %lu are there",
			    b->committed, there);
	}
	tables_judge(&r->c, FRESH, &r->found);
	for (unsigned i = 0; i < CRASH_STEPS && s->again[i].sql != NULL; i++)
		asked(r, i % 2 == 0 ? other : &me, &s->again[i], first);
	struct tables_found then;
	tables_judge(&r->c, JUDGE, &then);
	catalog_judge(other);
	r->found.locked = then.locked;
	speaker_close(&me);
}

/* ---- one run ---- */

static void
stats_of(struct run *r)
{
	for (unsigned p = 0; p < FRESH; p++) {
		struct txn_stats st;
		txn_worker_stats(r->c.place[p].tw, &st);
		if (p == VICTIM) {
			r->archived = st.archived;
			r->late = st.archived_late;
		} else if (st.recovered > 0) {
			r->recoverer = p;
		}
		r->finished += st.finished;
		r->undone += st.undone;
	}
}

/* Fills `big` until a few rows more would split its index: the first time by trying. */
static bool
grow(struct run *r, struct speaker *me)
{
	struct txn *t;
	const struct cat_table *big;
	char text[200];
	struct idx_shape before, now;
	if (txn_begin(r->c.place[JUDGE].tw, TXN_READ_COMMITTED, &t) != NAM_OK)
		return false;
	nam_status st = cat_find(r->c.place[JUDGE].cat, t, "big", &big);
	struct idx_hash *ix = big->store.view->index;
	txn_abort(t);
	st = st == NAM_OK ? idx_hash_shape(r->c.place[JUDGE].w, ix, &before) : st;
	unsigned at = grow_rows != 0 ? grow_rows : 400;
	snprintf(text, sizeof text, "INSERT INTO big SELECT g, g FROM generate_series(1, %u) g", at);
	bool good = st == NAM_OK && answer_error(speaker_ask(me, text)) == NULL;
	while (good && grow_rows == 0) {
		snprintf(text, sizeof text, "INSERT INTO big SELECT g, g FROM generate_series(%u + 1, %u) g",
		    at, at + GROW_BY);
		good = answer_error(speaker_ask(me, text)) == NULL && at < 5000 &&
		       idx_hash_shape(r->c.place[JUDGE].w, ix, &now) == NAM_OK;
		if (good && now.splits > before.splits)
			grow_rows = at;
		at += GROW_BY;
	}
	r->grown = grow_rows;
	return good;
}

/* The victim's lease ends, and another process recovers it. */
static void
settle(struct cluster *c, struct run *r)
{
	struct net_worker *w = c->place[JUDGE].w;
	uint64_t from[PROCS];
	net_sleep(w, LEASE_NS - 5000000);
	for (unsigned p = 0; p < FRESH; p++)
		from[p] = net_sim_verbs(c->place[p].net);
	if (r->second != 0) {
		net_sim_carry(c->place[r->second].net, r->carry);
		net_sim_crash_at(c->sim, c->place[r->second].net, from[r->second] + r->second_verb);
	}
	for (unsigned i = 0; i < 150 && r->recoverer_verbs == 0; i++) {
		net_sleep(w, 1000000);
		struct txn_stats st;
		for (unsigned p = VICTIM + 1; p < FRESH; p++) {
			txn_worker_stats(c->place[p].tw, &st);
			if (st.recovered > 0)
				r->recoverer_verbs = net_sim_verbs(c->place[p].net) - from[p];
		}
	}
	r->both = r->second != 0 && net_sim_crashed(c->place[r->second].net);
	if (r->both)
		net_sleep(w, 3 * (uint64_t)LEASE_NS);
	/* A process that is not dead by now lives. */
	for (unsigned p = 0; p < FRESH; p++)
		net_sim_crash_at(c->sim, c->place[p].net, 0);
}

static void
body(struct cluster *c)
{
	struct run *r = c->arg;
	const struct crash_scenario *s = r->s;
	struct speaker me, old;
	struct net *dead = c->place[VICTIM].net;
	char was[1000] = "";
	struct net_worker *w = c->place[JUDGE].w;
	for (unsigned p = 0; p < FRESH; p++)
		if (!cluster_join(c, p, p == JUDGE))
			return;
	if (!speaker_open(&me, c, JUDGE) || !speaker_open(&old, c, JUDGE))
		return;
	speaker_ask(&me, "SET namdb.visibility = 'cluster'");
	for (unsigned i = 0; i < CRASH_STEPS && s->setup[i] != NULL; i++) {
		const char *a = speaker_ask(&me, s->setup[i]);
		if (answer_error(a) != NULL)
			cluster_bad(c, "%s: %s", s->setup[i], a);
	}
	/* A process that has the table open repairs its index while it recovers the victim; now and
	 * then none has it open, and the next user of the index repairs it. */
	struct speaker third;
	if (s->grows && r->second_verb % 8 != 1 && speaker_open(&third, c, THIRD)) {
		speaker_ask(&third, "SELECT count(*) FROM big WHERE id = 1");
		speaker_close(&third);
	}
	bool was_known = grow_rows != 0;
	if (s->grows && !grow(r, &me))
		cluster_bad(c, "the index of `big` does not grow");
	r->victim.run = r->beside.run = r;
	cluster_start(c, VICTIM, victim_main, &r->victim);
	if (!cluster_wait(c, &r->victim.ready, 1000000000))
		cluster_bad(c, "the victim does not get ready");
	if (c->bad || (s->grows && !was_known)) {
		r->victim.go = true;
		r->victim.answered = 0;
		cluster_wait(c, &r->victim.ended, 1000000000);
		speaker_close(&me);
		speaker_close(&old);
		return;
	}
	net_sleep(w, 20000000); /* what was before is below every watermark */
	if (s->old != NULL) {
		speaker_ask(&old, "BEGIN ISOLATION LEVEL REPEATABLE READ");
		snprintf(was, sizeof was, "%s", speaker_ask(&old, s->old));
	}
	/* Sessions that would fill the index before the victim come after it. */
	if (!s->grows)
		cluster_start(c, BESIDE, beside_main, &r->beside);
	net_sleep(w, 5000000);

	uint64_t first = net_sim_verbs(dead);
	if (r->verb != 0) {
		net_sim_carry(dead, r->carry);
		net_sim_crash_at(c->sim, dead, first + r->verb);
	}
	r->victim.go = true;
	if (s->grows)
		cluster_start(c, BESIDE, beside_main, &r->beside);
	for (uint64_t now = net_now_ns(w), until = now + 1000000000; !net_sim_crashed(dead) && now < until;) {
		net_sleep(w, 20000);
		now = net_now_ns(w);
		if (r->victim.ended && until > now + s->linger_us * UINT64_C(1000))
			until = now + s->linger_us * UINT64_C(1000);
	}
	r->verbs = net_sim_verbs(dead) - first;
	r->died = net_sim_crashed(dead);
	if (r->verb != 0 && !r->died)
		cluster_bad(c, "the victim never came to its verb %llu", (unsigned long long)r->verb);
	if (r->verb == 0 && !r->victim.ended)
		cluster_bad(c, "the victim is stuck behind step %u", r->victim.answered);

	if (r->died)
		settle(c, r);
	net_sleep(w, 30000000);
	r->beside.stop = true;
	if (!net_sim_crashed(c->place[BESIDE].net) && !cluster_wait(c, &r->beside.ended, 1000000000))
		cluster_bad(
		    c, "a session beside the victim is stuck behind %u transactions", r->beside.committed);
	if (r->beside.bad[0] != 0)
		cluster_bad(c, "beside: %s", r->beside.bad);
	if (r->victim.refused[0] != 0)
		cluster_bad(c, "the victim: %s", r->victim.refused);
	net_sleep(w, 20000000);
	stats_of(r);
	if (s->old != NULL && strcmp(speaker_ask(&old, s->old), was) != 0)
		cluster_bad(
		    c, "an old snapshot shows\n           %s\n    should %s", speaker_ask(&old, s->old), was);
	speaker_close(&old);
	judge(r, &me);
	speaker_close(&me);
}

static const char *const carries[] = {
	[NET_SIM_CARRY_DICE] = "dice", [NET_SIM_CARRY_NONE] = "none", [NET_SIM_CARRY_ALL] = "all"
};

static bool
play(struct run *r, const struct crash_scenario *s, uint64_t verb, enum net_sim_carry carry, unsigned second,
    uint64_t second_verb)
{
	memset(r, 0, sizeof *r);
	*r = (struct run){
		.s = s, .verb = verb, .carry = carry, .second = second, .second_verb = second_verb
	};
	r->c.parser = parser;
	r->c.body = body;
	r->c.arg = r;
	const struct net_sim_config cfg = { .seed = 7,
		.nodes = 2,
		.region_bytes = 16 << 20,
		.tear_permille = 200,
		.reorder_permille = 200,
		.trace = trace };
	bool good = cluster_run(&r->c, &cfg, PROCS);
	if (!good)
		printf("FAILED; again: sim_crashes --only '%s' --verb %llu --carry %s --second %u:%llu\n",
		    s->name, (unsigned long long)verb, carries[carry], second,
		    (unsigned long long)second_verb);
	fflush(stdout);
	return good;
}

static double
cpu_now(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* The victim dies at each verb. */
static bool
victims(const struct crash_scenario *s, unsigned every)
{
	double began = cpu_now();
	struct run *r = calloc(1, sizeof *r);
	unsigned failed = 0, crashes = 0, settled = 0, not_done = 0, all_done = 0, left = 0;
	uint64_t finished = 0, undone = 0, locked = 0;
	bool good = r != NULL;
	if (good && s->grows)
		good = play(r, s, 0, 0, 0, 0);
	good = good && play(r, s, 0, 0, 0, 0);
	uint64_t verbs = good ? r->verbs : 0;
	bool archives_missed = s->archives && (r == NULL || r->archived == 0 || r->late == 0);
	for (uint64_t verb = 1; verb <= verbs && failed < 3; verb += every)
		for (enum net_sim_carry carry = NET_SIM_CARRY_DICE; carry <= NET_SIM_CARRY_ALL; carry++) {
			/* Between the other two: now and then. */
			if (carry == NET_SIM_CARRY_DICE && verb % (verbs < 200 ? 3 : 7) != 0)
				continue;
			failed += !play(r, s, verb, carry, 0, 0);
			crashes += r->died;
			settled += r->recoverer != 0;
			not_done += r->observed == 0 || strcmp(state_after(s, r->observed), s->at_first) == 0;
			all_done += r->observed == steps_of(s);
			left += r->found.left;
			locked += r->found.locked;
			finished += r->finished;
			undone += r->undone;
		}
	printf("%s: %llu verbs%s, %u crashes, %s (%u had to be recovered: %llu finished, %llu undone; %u "
	       "left nothing "
	       "done, %u all; left to others: %u entries, %llu locks; %.1f s)\n",
	    s->name, (unsigned long long)verbs, every > 1 ? " (not each)" : "", crashes,
	    failed ? "FAILED" : "all recovered", settled, (unsigned long long)finished,
	    (unsigned long long)undone, not_done, all_done, left, (unsigned long long)locked,
	    cpu_now() - began);
	fflush(stdout);
	if (good && verbs < s->verbs_min)
		printf("FAILED: %s: fewer verbs than there must be (%u)\n", s->name, s->verbs_min);
	if (good && archives_missed)
		printf("FAILED: %s: no archive was made before the decision, or none too late\n", s->name);
	good = good && !archives_missed && failed == 0 && verbs >= s->verbs_min &&
	       crashes >= 2 * (verbs / every);
	free(r);
	return good;
}

/*
 * The victim's recoverer also dies: at each verb from when the victim had been dead for most of a
 * lease until it was recovered. The victim dies at a few of its verbs only.
 */
static bool
recoverers(const struct crash_scenario *s, unsigned every)
{
	double began = cpu_now();
	struct run *r = calloc(1, sizeof *r);
	unsigned failed = 0, pairs = 0, both = 0, victims_n = 0;
	bool good = r != NULL && (!s->grows || play(r, s, 0, 0, 0, 0)) && play(r, s, 0, 0, 0, 0);
	uint64_t verbs = good ? r->verbs : 0;
	for (unsigned i = 1; good && i <= SPREAD && failed < 3; i++) {
		uint64_t verb = i * verbs / (SPREAD + 1);
		enum net_sim_carry carry = (enum net_sim_carry)(i % 3);
		good = play(r, s, verb, carry, 0, 0);
		unsigned second = r->recoverer;
		uint64_t second_verbs = r->recoverer_verbs;
		if (!good || second == 0) /* it was at rest, and no recoverer was needed */
			continue;
		victims_n++;
		for (uint64_t v = 1 + (every > 1 ? i : 0); v <= second_verbs && failed < 3; v += every) {
			failed += !play(r, s, verb, carry, second, v);
			pairs++;
			both += r->both;
		}
	}
	printf("%s, recovery: %u victims, %u recoverers%s died at all verbs of it, %s (%.1f s)\n", s->name,
	    victims_n, both, every > 1 ? " (not each)" : "", failed || !good ? "FAILED" : "all recovered",
	    cpu_now() - began);
	fflush(stdout);
	good = good && failed == 0;
	/* Where the index grows not all of them have it open, and those come to fewer verbs. */
	bool enough = victims_n > 0 && pairs >= 10 * victims_n / every && both * 10 >= pairs * 9;
	if (good && !enough)
		printf("FAILED: %s: of %u recoverers only %u died\n", s->name, pairs, both);
	free(r);
	return good && enough;
}

int
main(int argc, char **argv)
{
	const char *only = NULL;
	bool just_victims = false, just_recoverers = false;
	unsigned every = 1, second = 0, good = 0, n = 0;
	unsigned long long verb = 0, second_verb = 0;
	enum net_sim_carry carry = NET_SIM_CARRY_DICE;
	for (int i = 1; i < argc; i += 2) {
		const char *v = i + 1 < argc ? argv[i + 1] : NULL;
		if (strcmp(argv[i], "--trace") == 0) {
			trace = true;
			i--;
		} else if (strcmp(argv[i], "--victims") == 0) {
			just_victims = true;
			i--;
		} else if (strcmp(argv[i], "--recoverers") == 0) {
			just_recoverers = true;
			i--;
		} else if (v == NULL) {
			goto usage;
		} else if (strcmp(argv[i], "--only") == 0) {
			only = v;
		} else if (strcmp(argv[i], "--every") == 0) {
			every = (unsigned)strtoul(v, NULL, 10);
		} else if (strcmp(argv[i], "--verb") == 0) {
			verb = strtoull(v, NULL, 10);
		} else if (strcmp(argv[i], "--second") == 0) {
			if (sscanf(v, "%u:%llu", &second, &second_verb) != 2)
				goto usage;
		} else if (strcmp(argv[i], "--carry") == 0) {
			for (carry = NET_SIM_CARRY_DICE; strcmp(v, carries[carry]) != 0; carry++)
				if (carry == NET_SIM_CARRY_ALL)
					goto usage;
		} else {
			goto usage;
		}
	}
	if (every == 0 || sql_parser_open(0, &parser) != NAM_OK)
		goto usage;
	sql_parser_blocks(parser);
	nam_log_level_set(NAM_LOG_ERROR); /* that processes die is no news */
	for (unsigned i = 0; i < crash_scenarios_n; i++) {
		const struct crash_scenario *s = &crash_scenarios[i];
		if (only != NULL && strstr(s->name, only) == NULL)
			continue;
		n++;
		if (verb != 0) {
			struct run *r = calloc(1, sizeof *r);
			if (s->grows)
				play(r, s, 0, 0, 0, 0);
			good += r != NULL && play(r, s, verb, carry, second, second_verb);
			free(r);
		} else {
			bool right = just_recoverers || victims(s, every);
			good += right && (just_victims || recoverers(s, every));
		}
	}
	sql_parser_close(parser);
	return n == 0 || good < n;
usage:
	fprintf(stderr, "usage: sim_crashes [--only TEXT] [--every K] [--victims | --recoverers] [--verb N "
			"[--carry dice|none|all] "
			"[--second P:M]] [--trace]\n");
	return 2;
}
