/*
 * random_test.c -- a tiny database that is right by construction makes histories, which must pass;
 * then one thing in each is changed, or the database is one that forgets a rule, and that must be
 * seen.
 */
#include "check_test.h"

#include <base/rng.h>

enum { KEYS = 5, TXNS = 70, SESSIONS = 6, OPS = 5, LIST_MAX = TXNS * OPS + 2, SEEDS = 80 };

enum rules {
	SERIAL,   /* one after the other */
	SNAPSHOT, /* from a somewhat older state; the first committer wins */
	LOSING,   /* a twin of that: every writer wins */
	MOVING,   /* a twin: every read has a snapshot of its own */
};

struct op {
	char kind; /* 'a' append, 'r' read */
	unsigned key;
	int64_t value;
	unsigned n;
	int64_t v[LIST_MAX];
};

struct txn {
	unsigned session, n;
	int64_t begin, end;
	uint64_t start, commit;
	bool wrote, fail, final;
	struct op op[KEYS > OPS ? KEYS : OPS];
};

struct history {
	struct nam_rng dice;
	bool lists, stamps;
	struct txn txn[TXNS + 1];
	unsigned n;
	/* the database */
	struct {
		unsigned n;
		int64_t value[LIST_MAX];
		uint64_t at[LIST_MAX]; /* of which commit */
		unsigned by[LIST_MAX];
	} key[KEYS];
	uint64_t commits;
	unsigned lost; /* updates that the twin lost */
};

static unsigned
dice(struct history *h, unsigned n)
{
	return (unsigned)nam_rng_below(&h->dice, n);
}

static void
read_key(struct history *h, struct txn *t, unsigned key, uint64_t snapshot)
{
	struct op *o = &t->op[t->n];
	*o = (struct op){ .kind = 'r', .key = key };
	for (unsigned i = 0; i < h->key[key].n && h->key[key].at[i] <= snapshot; i++)
		o->v[o->n++] = h->key[key].value[i];
	for (unsigned i = 0; i < t->n; i++)
		if (t->op[i].kind == 'a' && t->op[i].key == key)
			o->v[o->n++] = t->op[i].value;
	t->n++;
}

static bool
has_appended(const struct txn *t, unsigned key)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->op[i].kind == 'a' && t->op[i].key == key)
			return true;
	return false;
}

static bool
conflict(const struct history *h, const struct txn *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		unsigned k = t->op[i].key, n = h->key[k].n;
		if (t->op[i].kind == 'a' && n > 0 && h->key[k].at[n - 1] > t->start)
			return true;
	}
	return false;
}

static void
commit(struct history *h, struct txn *t)
{
	t->commit = ++h->commits;
	for (unsigned i = 0; i < t->n; i++) {
		unsigned k = t->op[i].key;
		if (t->op[i].kind != 'a')
			continue;
		h->key[k].value[h->key[k].n] = t->op[i].value;
		h->key[k].by[h->key[k].n] = (unsigned)(t - h->txn);
		h->key[k].at[h->key[k].n++] = t->commit;
	}
}

static void
make(struct history *h, uint64_t seed, enum rules rules, bool lists, bool stamps)
{
	uint64_t floor[SESSIONS] = { 0 };
	int64_t free_at[SESSIONS] = { 0 };
	memset(h, 0, sizeof *h);
	nam_rng_init(&h->dice, seed);
	h->lists = lists;
	h->stamps = stamps;
	for (unsigned i = 0; i < TXNS; i++) {
		struct txn *t = &h->txn[h->n++];
		int64_t now = 100 + 10 * (int64_t)i;
		t->session = dice(h, SESSIONS);
		while (free_at[t->session] >= now)
			t->session = (t->session + 1) % SESSIONS;
		t->begin = now - dice(h, 30);
		if (t->begin <= free_at[t->session])
			t->begin = free_at[t->session] + 1;
		t->end = now + dice(h, 30);
		free_at[t->session] = t->end;
		t->start = h->commits;
		for (unsigned lag = rules == SERIAL ? 0 : dice(h, 6); lag > 0 && t->start > floor[t->session];
		     lag--)
			t->start--;
		unsigned ops = 1 + dice(h, OPS);
		uint64_t at = t->start;
		while (t->n < ops) {
			unsigned key = dice(h, KEYS);
			/* The twins take no locks: what they show of their own appends would be
			 * wrong in another way. */
			bool own = (rules == LOSING || rules == MOVING) && has_appended(t, key);
			if (dice(h, 2) && t->n + 1 < ops && !own) {
				/* Half of the reads are of a key that is written next, so that
				 * something can be lost. */
				read_key(h, t, key, at);
				if (rules == MOVING)
					at += dice(h, (unsigned)(h->commits - at) + 1);
				if (dice(h, 2))
					continue;
			}
			t->op[t->n++] =
			    (struct op){ .kind = 'a', .key = key, .value = (int64_t)(i * 10 + t->n + 1) };
			t->wrote = true;
		}
		if (t->wrote && (rules == SNAPSHOT || rules == LOSING) && conflict(h, t)) {
			if (rules == SNAPSHOT) {
				t->fail = true;
				continue;
			}
			h->lost++;
		}
		if (dice(h, 12) == 0)
			t->fail = true;
		else if (t->wrote)
			commit(h, t);
		if (t->start > floor[t->session])
			floor[t->session] = t->start;
		if (t->commit > floor[t->session])
			floor[t->session] = t->commit;
	}
	struct txn *last = &h->txn[h->n++];
	*last = (struct txn){
		.session = SESSIONS, .begin = 10000, .end = 10001, .start = h->commits, .final = true
	};
	for (unsigned k = 0; k < KEYS; k++)
		read_key(h, last, k, h->commits);
}

static void
print_op(const struct history *h, const struct op *o, FILE *f)
{
	if (o->kind == 'a') {
		fprintf(f, "[\"%s\",%u,%ld]", h->lists ? "append" : "w", o->key, o->value);
		return;
	}
	fprintf(f, "[\"r\",%u,", o->key);
	if (!h->lists && o->n == 0)
		fputs("null", f);
	else if (!h->lists)
		fprintf(f, "%ld", o->v[o->n - 1]);
	for (unsigned i = 0; h->lists && i < o->n; i++)
		fprintf(f, "%s%ld", i ? "," : "[", o->v[i]);
	fputs(!h->lists ? "]" : o->n ? "]]" : "[]]", f);
}

static char *
print(const struct history *h, size_t *len)
{
	char *text;
	FILE *f = open_memstream(&text, len);
	fprintf(f, "{\"history\":1,\"model\":\"%s\"}\n", h->lists ? "list-append" : "register");
	for (unsigned i = 0; i < h->n; i++) {
		const struct txn *t = &h->txn[i];
		fprintf(f, "{\"id\":%u,\"session\":%u,\"begin\":%ld,\"end\":%ld,\"status\":\"%s\"%s", i,
		    t->session, t->begin, t->end, t->fail ? "fail" : "ok", t->final ? ",\"final\":true" : "");
		if (h->stamps)
			fprintf(f, ",\"start_ts\":%lu", t->start);
		if (h->stamps && t->wrote && !t->fail)
			fprintf(f, ",\"commit_ts\":%lu", t->commit);
		fputs(",\"ops\":[", f);
		for (unsigned k = 0; k < t->n; k++) {
			if (k > 0)
				fputc(',', f);
			print_op(h, &t->op[k], f);
		}
		fputs("]}\n", f);
	}
	fprintf(f, "{\"end\":%u}\n", h->n);
	fclose(f);
	return text;
}

/* The judge's word; *holds: the levels that hold, as bits. */
static enum chk_verdict
judged(const struct history *h, enum chk_level level, unsigned *holds, char **said)
{
	size_t len;
	char *text = print(h, &len);
	struct chk *c = chk_open();
	struct chk_options opt = { .level = level };
	enum chk_verdict v = chk_judge(c, "random", text, len, &opt);
	*holds = 0;
	for (unsigned l = 0; l < CHK_LEVELS; l++)
		*holds |= (unsigned)chk_holds(c, (enum chk_level)l) << l;
	*said = test_printed(c, false);
	if (v == CHK_BAD_INPUT)
		fail_msg("%s\n%s", chk_error(c), text);
	chk_close(c);
	free(text);
	return v;
}

static void
must_pass(const struct history *h, uint64_t seed, enum chk_level level)
{
	char *said;
	unsigned holds;
	if (judged(h, level, &holds, &said) != CHK_CLEAN)
		fail_msg("seed %lu: a good history is flagged\n%s", seed, said);
	free(said);
}

static bool
is_flagged(const struct history *h, enum chk_level level)
{
	char *said;
	unsigned holds;
	bool flagged = judged(h, level, &holds, &said) == CHK_ANOMALY;
	free(said);
	return flagged;
}

static struct history h;

static void
test_good(void **state)
{
	(void)state;
	unsigned skewed = 0, behind = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		for (unsigned form = 0; form < 4; form++) {
			char *said;
			unsigned holds;
			make(&h, seed, SERIAL, form & 1, form & 2);
			must_pass(&h, seed, CHK_STRICT_SERIALIZABLE);
			must_pass(&h, seed, CHK_STRONG_SNAPSHOT);
			make(&h, seed, SNAPSHOT, form & 1, form & 2);
			must_pass(&h, seed, CHK_READ_COMMITTED);
			must_pass(&h, seed, CHK_SESSION_SNAPSHOT);
			judged(&h, CHK_SNAPSHOT, &holds, &said);
			skewed += !(holds >> CHK_SERIALIZABLE & 1);
			behind += !(holds >> CHK_STRONG_SNAPSHOT & 1);
			free(said);
		}
	/* Most of them are no more than they should be. */
	print_message("%u of %u are not serializable, %u are behind real time\n", skewed, SEEDS * 4, behind);
	assert_true(skewed > SEEDS / 3);
	assert_true(behind > SEEDS);
}

/* ---- one thing is changed ---- */

/* Some read of at least n elements by a transaction that committed; NULL = there is none. */
static struct op *
some_read(unsigned n, bool of_final)
{
	for (unsigned tries = 0; tries < 300; tries++) {
		struct txn *t = &h.txn[dice(&h, h.n)];
		if (t->fail || t->n == 0 || t->final != of_final)
			continue;
		struct op *o = &t->op[dice(&h, t->n)];
		if (o->kind == 'r' && o->n >= n)
			return o;
	}
	return NULL;
}

static bool
vanish(void)
{
	struct op *last = some_read(1, true);
	if (last == NULL)
		return false;
	int64_t gone = last->v[dice(&h, last->n)];
	for (unsigned i = 0; i < h.n; i++)
		for (unsigned k = 0; k < h.txn[i].n; k++) {
			struct op *o = &h.txn[i].op[k];
			for (unsigned e = 0; o->kind == 'r' && e < o->n; e++)
				if (o->v[e] == gone && o->key == last->key) {
					memmove(&o->v[e], &o->v[e + 1], (o->n - e - 1) * sizeof o->v[0]);
					o->n--;
				}
		}
	return true;
}

static bool
deny(void)
{
	struct op *last = some_read(1, true);
	if (last == NULL)
		return false;
	struct txn *t = &h.txn[h.key[last->key].by[dice(&h, last->n)]];
	t->fail = true;
	return true;
}

static bool
swap(void)
{
	struct op *o = some_read(2, false);
	if (o == NULL)
		return false;
	unsigned e = dice(&h, o->n - 1);
	int64_t x = o->v[e];
	o->v[e] = o->v[e + 1];
	o->v[e + 1] = x;
	return true;
}

static bool
invent(void)
{
	struct op *o = some_read(0, false);
	if (o == NULL)
		return false;
	o->v[o->n++] = -1;
	return true;
}

static bool
twice(void)
{
	struct op *o = some_read(1, false);
	if (o == NULL)
		return false;
	o->v[o->n] = o->v[0];
	o->n++;
	return true;
}

/* One read from an older snapshot: with lists, what a client would see. */
static bool
stale(void)
{
	struct op *o = some_read(1, false);
	if (o == NULL)
		return false;
	o->n--;
	return true;
}

static bool
later(void)
{
	struct op *o = some_read(0, false);
	if (o == NULL || o->n == h.key[o->key].n)
		return false;
	if (o->n > 0 && o->v[o->n - 1] != h.key[o->key].value[o->n - 1])
		return false; /* own appends at its end */
	o->v[o->n] = h.key[o->key].value[o->n];
	o->n++;
	return true;
}

static const struct mutation {
	const char *name;
	bool (*change)(void);
	bool registers; /* makes sense for them */
	bool surely;    /* even without timestamps */
} mutations[] = {
	{ "an acknowledged append is gone", vanish, false, true },
	{ "what was seen is reported rolled back", deny, false, true },
	{ "two elements change places", swap, false, true },
	{ "an element comes from nowhere", invent, true, true },
	{ "an element stands there twice", twice, false, true },
	{ "a read is older than its snapshot", stale, true, false },
	{ "a read is newer than its snapshot", later, true, false },
};

static void
test_mutations(void **state)
{
	(void)state;
	for (size_t m = 0; m < sizeof mutations / sizeof mutations[0]; m++)
		for (unsigned form = 0; form < 8; form++) {
			const struct mutation *x = &mutations[m];
			bool lists = form & 1, stamps = form & 2;
			unsigned done = 0, seen = 0;
			if (!lists && !x->registers)
				continue;
			for (uint64_t seed = 1; seed <= SEEDS; seed++) {
				make(&h, seed, form & 4 ? SERIAL : SNAPSHOT, lists, stamps);
				if (!x->change())
					continue;
				done++;
				/* What a client alone may see of an older read is that time goes
				 * backwards. */
				bool flagged =
				    is_flagged(&h, form & 4 ? CHK_STRICT_SERIALIZABLE : CHK_SNAPSHOT);
				seen += flagged;
				if (!flagged && (x->surely || stamps))
					fail_msg("%s, seed %lu, form %u: not seen", x->name, seed, form);
			}
			if (done < SEEDS / 3 || seen == 0)
				fail_msg("%s, form %u: %u of %u seen", x->name, form, seen, done);
			if (seen < done)
				print_message("%s, %s, %s: %u of %u seen\n", x->name,
				    lists ? "lists" : "registers",
				    form & 4 ? "strict serializable" : "snapshot", seen, done);
		}
}

/* ---- databases that forget a rule ---- */

static void
test_twins(void **state)
{
	(void)state;
	unsigned seen[2][4] = { 0 }, made = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		for (unsigned form = 0; form < 4; form++) {
			make(&h, seed, LOSING, form & 1, form & 2);
			made += h.lost > 0;
			bool flagged = is_flagged(&h, CHK_SNAPSHOT);
			seen[0][form] += flagged;
			if (h.lost > 0 && (form & 2) && !flagged)
				fail_msg(
				    "seed %lu: an update is lost, and the timestamps do not say it", seed);
			if (form < 2)
				must_pass(&h, seed, CHK_READ_COMMITTED);
			make(&h, seed, MOVING, form & 1, false);
			seen[1][form] += is_flagged(&h, CHK_SNAPSHOT);
			must_pass(&h, seed, CHK_READ_COMMITTED);
		}
	assert_true(made > SEEDS);
	for (unsigned form = 0; form < 4; form++) {
		print_message("form %u: %u of %d histories that lose updates flagged, %u of those whose "
			      "snapshots move\n",
		    form, seen[0][form], SEEDS, seen[1][form]);
		assert_true(seen[0][form] > SEEDS / 2);
		assert_true(seen[1][form] > SEEDS / 2);
	}
}

/* Long histories, so that all that is not linear shows in the time the test takes. */
static void
test_long(void **state)
{
	(void)state;
	enum { N = 60000 };
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	fputs("{\"history\":1,\"model\":\"list-append\"}\n", f);
	/* All transactions have read the empty lists, and none reads later: groups of N members, N
	 * readers of each. */
	for (unsigned i = 0; i < N; i++)
		fprintf(f,
		    "{\"id\":%u,\"session\":%u,\"begin\":%u,\"end\":%u,\"status\":\"ok\",\"ops\":[[\"r\",%u,["
		    "]],"
		    "[\"append\",%u,%u]]}\n",
		    i, i % 8, i, i + 7, i % 2, (i + 1) % 2, i);
	fprintf(f, "{\"end\":%u}\n", N);
	fclose(f);
	struct chk *c = chk_open();
	struct chk_options opt = { .level = CHK_SERIALIZABLE };
	assert_int_equal(chk_judge(c, "long", text, len, &opt), CHK_ANOMALY);
	assert_string_equal(chk_finding(c, 0), "write skew");
	assert_true(chk_holds(c, CHK_SNAPSHOT));
	assert_false(chk_holds(c, CHK_SESSION_SNAPSHOT));
	chk_close(c);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_twins),
		cmocka_unit_test(test_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
