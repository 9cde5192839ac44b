/*
 * brute_test.c -- small histories beside brute force: is there any order of starts and commits in
 * which a database of that level would have answered so? The judge, which only looks at edges, must
 * come to the answer of brute force, level by level.
 */
#include "check_test.h"

#include <base/rng.h>

enum { TXNS_MAX = 5, OPS_MAX = 4, KEYS = 3, LIST_MAX = TXNS_MAX * OPS_MAX + 1 };

struct op {
	bool read;
	int key;
	int value; /* written; read from a register, 0 = absent */
	int n, v[LIST_MAX];
};

struct txn {
	int session, begin, end, n;
	struct op op[OPS_MAX];
};

struct history {
	bool lists;
	int n;
	struct txn txn[TXNS_MAX];
};

/* ---- brute force ---- */

struct world {
	const struct history *h;
	enum chk_level level;
	struct {
		int n, v[LIST_MAX], at; /* at: the last commit */
	} key[KEYS];
	int state[TXNS_MAX]; /* 0, 1 started, 2 committed */
	int start[TXNS_MAX];
	int clock, done;
};

static bool
before(const struct world *w, int a, int b)
{
	const struct txn *x = &w->h->txn[a], *y = &w->h->txn[b];
	bool strong = w->level == CHK_STRONG_SNAPSHOT || w->level == CHK_STRICT_SERIALIZABLE;
	bool session = strong || w->level == CHK_SESSION_SNAPSHOT || w->level == CHK_SESSION_SERIALIZABLE;
	return (session && x->session == y->session && x->begin < y->begin) || (strong && x->end < y->begin);
}

/* True if t's reads would be answered now as they were. */
static bool
answers(const struct world *w, const struct txn *t)
{
	int own[KEYS][OPS_MAX], owns[KEYS] = { 0 };
	for (int i = 0; i < t->n; i++) {
		const struct op *o = &t->op[i];
		int n = w->key[o->key].n;
		const int *v = w->key[o->key].v;
		if (!o->read) {
			own[o->key][owns[o->key]++] = o->value;
		} else if (!w->h->lists) {
			int right = owns[o->key] ? own[o->key][owns[o->key] - 1] : n ? v[n - 1] : 0;
			if (o->value != right)
				return false;
		} else if (o->n != n + owns[o->key] || (n && memcmp(o->v, v, (size_t)n * sizeof *v) != 0) ||
			   (owns[o->key] &&
			       memcmp(o->v + n, own[o->key], (size_t)owns[o->key] * sizeof *v) != 0)) {
			return false;
		}
	}
	return true;
}

static bool possible(struct world *w);

static bool
try_start(struct world *w, int t)
{
	for (int i = 0; i < w->h->n; i++)
		if (before(w, i, t) && w->state[i] != 2)
			return false;
	if (!answers(w, &w->h->txn[t]))
		return false;
	w->state[t] = 1;
	w->start[t] = w->clock++;
	/* Serializable: no other transaction between a start and its commit. */
	bool ok = possible(w);
	w->clock--;
	w->state[t] = 0;
	return ok;
}

static bool
try_commit(struct world *w, int t)
{
	const struct txn *x = &w->h->txn[t];
	struct world old = *w;
	for (int i = 0; i < x->n; i++)
		if (!x->op[i].read && w->key[x->op[i].key].at > w->start[t])
			return false;
	w->clock++;
	for (int i = 0; i < x->n; i++)
		if (!x->op[i].read) {
			int k = x->op[i].key;
			w->key[k].v[w->key[k].n++] = x->op[i].value;
			w->key[k].at = w->clock;
		}
	w->clock++;
	w->state[t] = 2;
	w->done++;
	bool ok = possible(w);
	*w = old;
	return ok;
}

static bool
possible(struct world *w)
{
	int open = -1;
	if (w->done == w->h->n)
		return true;
	for (int t = 0; t < w->h->n; t++)
		if (w->state[t] == 1)
			open = t;
	if (open >= 0 && w->level >= CHK_SERIALIZABLE)
		return try_commit(w, open);
	for (int t = 0; t < w->h->n; t++)
		if ((w->state[t] == 0 && try_start(w, t)) || (w->state[t] == 1 && try_commit(w, t)))
			return true;
	return false;
}

static bool
brute(const struct history *h, enum chk_level level)
{
	struct world w = { .h = h, .level = level, .clock = 1 };
	return possible(&w);
}

/* ---- histories ---- */

static struct nam_rng rng;

static int
dice(int n)
{
	return (int)nam_rng_below(&rng, (uint64_t)n);
}

/* From a database without rules: versions in some order, each read at a moment that is often its
 * transaction's. */
static void
make(struct history *h, bool lists, bool read_first)
{
	int order[KEYS][LIST_MAX], by[KEYS][LIST_MAX], n[KEYS] = { 0 }, free_at[3] = { 0 };
	memset(h, 0, sizeof *h);
	h->lists = lists;
	h->n = 2 + dice(TXNS_MAX - 1);
	int keys = 1 + dice(KEYS);
	for (int t = 0; t < h->n; t++) {
		struct txn *x = &h->txn[t];
		x->session = dice(3);
		x->begin = free_at[x->session] + 1 + dice(4);
		x->end = x->begin + dice(8);
		free_at[x->session] = x->end;
		x->n = 1 + dice(OPS_MAX);
		for (int i = 0; i < x->n; i++) {
			struct op *o = &x->op[i];
			*o = (struct op){ .read = dice(2), .key = dice(keys), .value = t * 10 + i + 1 };
			bool seen = false;
			for (int k = 0; k < i; k++)
				seen = seen || (x->op[k].read && x->op[k].key == o->key);
			if (read_first && !o->read && !seen)
				o->read = true;
			if (!o->read) {
				/* Usually the newest; now and then before the last one. */
				int at = n[o->key] -
					 (n[o->key] > 0 && by[o->key][n[o->key] - 1] != t && dice(4) == 0);
				for (int k = n[o->key]; k > at; k--) {
					order[o->key][k] = order[o->key][k - 1];
					by[o->key][k] = by[o->key][k - 1];
				}
				order[o->key][at] = o->value;
				by[o->key][at] = t;
				n[o->key]++;
			}
		}
	}
	for (int t = 0; t < h->n; t++) {
		struct txn *x = &h->txn[t];
		int share = dice(5), base[KEYS];
		for (int k = 0; k < KEYS; k++)
			base[k] = share == 4 ? n[k] : n[k] * share / 4;
		for (int i = 0; i < x->n; i++) {
			struct op *o = &x->op[i];
			if (!o->read)
				continue;
			int upto = dice(6) == 0 ? dice(n[o->key] + 1) : base[o->key];
			while (upto < n[o->key] && upto > 0 && dice(8) &&
			       by[o->key][upto - 1] == by[o->key][upto])
				upto++; /* rarely half of a transaction */
			for (int k = 0; k < upto; k++)
				if (by[o->key][k] != t)
					o->v[o->n++] = order[o->key][k];
			for (int k = 0; k < i; k++)
				if (!x->op[k].read && x->op[k].key == o->key)
					o->v[o->n++] = x->op[k].value;
			o->value = o->n > 0 ? o->v[o->n - 1] : 0;
		}
	}
}

static char *
print(const struct history *h, size_t *len)
{
	char *text;
	FILE *f = open_memstream(&text, len);
	fprintf(f, "{\"history\":1,\"model\":\"%s\"}\n", h->lists ? "list-append" : "register");
	for (int t = 0; t < h->n; t++) {
		const struct txn *x = &h->txn[t];
		fprintf(f, "{\"id\":%d,\"session\":%d,\"begin\":%d,\"end\":%d,\"status\":\"ok\",\"ops\":[", t,
		    x->session, x->begin, x->end);
		for (int i = 0; i < x->n; i++) {
			const struct op *o = &x->op[i];
			fprintf(f, "%s[\"%s\",%d,", i ? "," : "",
			    o->read    ? "r"
			    : h->lists ? "append"
				       : "w",
			    o->key);
			if (o->read && h->lists) {
				for (int k = 0; k < o->n; k++)
					fprintf(f, "%s%d", k ? "," : "[", o->v[k]);
				fputs(o->n ? "]]" : "[]]", f);
			} else if (o->read && o->value == 0) {
				fputs("null]", f);
			} else {
				fprintf(f, "%d]", o->value);
			}
		}
		fputs("]}\n", f);
	}
	fprintf(f, "{\"end\":%d}\n", h->n);
	fclose(f);
	return text;
}

/* True if the history shows the order of all versions. It does not for appends that were never
 * read, and for blind writes. */
static bool
ordered(const struct history *h, bool read_first)
{
	if (read_first)
		return true;
	for (int t = 0; t < h->n; t++)
		for (int i = 0; i < h->txn[t].n; i++) {
			const struct op *o = &h->txn[t].op[i];
			bool seen = o->read;
			for (int u = 0; h->lists && u < h->n; u++)
				for (int k = 0; k < h->txn[u].n; k++)
					for (int e = 0; e < h->txn[u].op[k].n; e++)
						seen = seen || h->txn[u].op[k].v[e] == o->value;
			if (!seen)
				return false;
		}
	return true;
}

/* The judge must find whatever brute force finds where the order of versions is to be seen, and
 * never more than that. */
static void
compare(bool lists, bool read_first, unsigned many)
{
	unsigned good[CHK_LEVELS] = { 0 }, missed = 0, exacts = 0;
	nam_rng_init(&rng, lists * 2 + read_first + 1);
	for (unsigned i = 0; i < many; i++) {
		struct history h;
		size_t len;
		make(&h, lists, read_first);
		bool exact = ordered(&h, read_first);
		exacts += exact;
		char *text = print(&h, &len);
		struct chk *c = chk_open();
		struct chk_options opt = { .level = CHK_STRICT_SERIALIZABLE };
		if (chk_judge(c, "small", text, len, &opt) == CHK_BAD_INPUT)
			fail_msg("%s\n%s", chk_error(c), text);
		for (unsigned l = CHK_SNAPSHOT; l < CHK_LEVELS; l++) {
			bool can = brute(&h, (enum chk_level)l), holds = chk_holds(c, (enum chk_level)l);
			good[l] += can;
			missed += holds && !can;
			if (can != holds && (can || exact)) {
				char *said = test_printed(c, false);
				fail_msg("history %u: %s is %s, the judge says it %s\n%s\n%s", i,
				    chk_level_name((enum chk_level)l), can ? "possible" : "impossible",
				    holds ? "holds" : "does not", text, said);
			}
		}
		chk_close(c);
		free(text);
	}
	print_message("%s: of %u, possible:",
	    lists        ? "lists"
	    : read_first ? "registers, read first"
			 : "registers",
	    many);
	for (unsigned l = CHK_SNAPSHOT; l < CHK_LEVELS; l++) {
		print_message(" %u", good[l]);
		/* Both kinds are there in numbers, and the levels differ. */
		assert_true(good[l] > many / 50 && good[l] < many - many / 50);
		assert_true(l == CHK_SNAPSHOT || good[l] != good[l - 1]);
	}
	print_message(
	    ", %u verdicts that brute force knows better, on %u exactly the same\n", missed, exacts);
	assert_true(exacts > many / 10 || (!lists && !read_first));
}

static void
test_lists(void **state)
{
	(void)state;
	compare(true, false, 8000);
}

static void
test_lists_read_first(void **state)
{
	(void)state;
	compare(true, true, 8000);
}

static void
test_registers(void **state)
{
	(void)state;
	compare(false, false, 8000);
}

static void
test_registers_read_first(void **state)
{
	(void)state;
	compare(false, true, 8000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_lists_read_first),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_registers_read_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
