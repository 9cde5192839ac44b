/* cuts_client.c -- clients of the database, and the one that reads all of it after a restart. */
#include "cuts_run.h"

#include <base/hash.h>

#include <stdarg.h>

enum { ERROR_UNKNOWN, ERROR_UNDONE, ERROR_BAD };

/* ---- asking ---- */

static bool
is_one_of(const char *e, const char *const *list)
{
	for (; *list != NULL; list++)
		if (strncmp(e, *list, 5) == 0)
			return true;
	return false;
}

static int
kind_of(struct cut_client *k, const char *e)
{
	/* 53100: the disk is full; 42P01, 42703: another one has dropped it; 23503: a child refers
	 * to it. */
	static const char *const undone[] = { "40001", "40P01", "55P03", "23505", "23503", "42P01", "42P07",
		"42703", "42701", "55006", "25P02", NULL };
	/* 08004: this process has been fenced. */
	static const char *const unknown[] = { "08004", "08007", "40003", NULL };
	const struct cut_shape *s = &k->run->shape;
	bool failing = s->fail_sync != 0;
	bool faults = s->crash || s->long_pauses || s->breaks || failing || k->run->falls > 0;
	if (is_one_of(e, undone))
		return ERROR_UNDONE;
	if (strncmp(e, "53100", 5) == 0 && s->room != 0) {
		k->run->full++;
		return ERROR_UNDONE;
	}
	if (strncmp(e, "58030", 5) == 0 && failing && strstr(e, "rolled back") != NULL) {
		k->run->failed++;
		return ERROR_UNDONE;
	}
	if (is_one_of(e, unknown) && faults)
		return ERROR_UNKNOWN;
	/* A row that a dead process has left half written, and the oracle is gone, so nobody can
	 * recover it. A compute node has ended the session by then (cn_lost). */
	if (strncmp(e, "XX001", 5) == 0 && k->run->falls > 0 && cut_life_over(k->run, k->p))
		return ERROR_UNKNOWN;
	return faults && strncmp(e, "58030", 5) == 0 ? ERROR_UNKNOWN : ERROR_BAD;
}

/* NULL: the statement failed. k->lost: its process is dead; k->unknown: the error does not say what
 * became of it. */
static const char *
say(struct cut_client *k, const char *fmt, ...)
{
	static char text[CUT_BODY + 400];
	va_list ap;
	k->unknown = false;
	if (k->lost)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	k->run->m->now++;
	const char *a = speaker_ask(&k->me, text), *e = answer_error(a);
	if (net_sim_crashed(k->run->c.place[k->p].net)) {
		k->lost = k->unknown = true;
		return NULL;
	}
	if (e == NULL)
		return a;
	int kind = kind_of(k, e);
	k->unknown = kind != ERROR_UNDONE;
	/* A process that was fenced is of no use any more. */
	k->lost = k->unknown && strncmp(e, "40003", 5) != 0;
	if (kind == ERROR_BAD)
		cluster_bad(&k->run->c, "client %u: %.80s: %s", k->number, text, a);
	return NULL;
}

static uint64_t
dice(struct cut_client *k, uint64_t n)
{
	return nam_rng_below(&k->dice, n);
}

/* ---- a transaction ---- */

static struct cut_txn *
begin(struct cut_client *k)
{
	static const char *const level[] = { "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE" };
	struct cut_model *m = k->run->m;
	if (m->next >= CUT_TXNS)
		return NULL;
	k->id = m->next++;
	struct cut_txn *t = &m->txn[k->id];
	*t = (struct cut_txn){ .sync = dice(k, 3) != 0 };
	if (say(k, "BEGIN ISOLATION LEVEL %s", level[dice(k, 3)]) == NULL)
		return NULL;
	if (!t->sync && say(k, "SET LOCAL synchronous_commit = off") == NULL)
		return NULL;
	return t;
}

/* Its fate was settled while its client was at it: another process has restored the database. */
static void
judge_late(struct cut_client *k, const struct cut_txn *t, bool ok, bool asked)
{
	bool here = t->state == CUT_HERE;
	if (ok && !here && (t->sync || !asked))
		cluster_bad(
		    &k->run->c, "client %u: transaction %u was answered, and is not there", k->number, k->id);
	if (here && (!asked || (!ok && !k->unknown)))
		cluster_bad(
		    &k->run->c, "client %u: transaction %u was rolled back, and is there", k->number, k->id);
}

/* After the statements: ok says whether all went well. */
static bool
end(struct cut_client *k, struct cut_txn *t, bool ok)
{
	struct cut_model *m = k->run->m;
	if (ok && say(k, "INSERT INTO done VALUES (%u)", k->id) == NULL)
		ok = false;
	if (k->lost)
		return false; /* its COMMIT was not sent */
	if (!ok || dice(k, 20) == 0) {
		say(k, "ROLLBACK");
		if (t->state == CUT_OPEN)
			t->state = CUT_UNDONE;
		return false;
	}
	bool open = t->state == CUT_OPEN;
	if (open) {
		t->state = CUT_ASKED;
		t->asked = ++m->now;
	}
	ok = say(k, "COMMIT") != NULL;
	if (t->state != CUT_ASKED) {
		judge_late(k, t, ok, open);
		return false;
	}
	t->told = ++m->now;
	if (ok)
		t->state = CUT_ACKED;
	else if (!k->unknown)
		t->state = CUT_UNDONE;
	k->run->committed += ok;
	return ok;
}

static struct cut_write *
note_write(struct cut_client *k, struct cut_txn *t, enum cut_table table, unsigned key, uint32_t over)
{
	struct cut_write *w = &t->write[t->writes++];
	if (over >= k->run->m->next) {
		cluster_bad(&k->run->c, "client %u replaces a version of %u", k->number, over);
		over = 0;
	}
	*w = (struct cut_write){ .table = table, .key = key, .over = over };
	return w;
}

/* The answer of an UPDATE of one account: the version that it has replaced. */
static bool
note_account(struct cut_client *k, struct cut_txn *t, const char *a, unsigned key, int delta)
{
	if (a == NULL)
		return false;
	if (strstr(a, "UPDATE 1") == NULL)
		cluster_bad(&k->run->c, "client %u does not find account %u: %s", k->number, key, a);
	note_write(k, t, CUT_ACC, key, (uint32_t)strtoul(a, NULL, 10))->delta = delta;
	return true;
}

static void
note_read(struct cut_client *k, struct cut_txn *t, uint32_t id)
{
	if (id >= k->run->m->next)
		cluster_bad(&k->run->c, "client %u has read a version of %u", k->number, id);
	else if (t->reads < CUT_READS && id != k->id && id != 0)
		t->read[t->reads++] = id;
}

/* ---- kinds of transactions ---- */

static void
do_acc(struct cut_client *k)
{
	struct cut_txn *t = begin(k);
	unsigned from = (unsigned)dice(k, CUT_ACCS), n = 1 + (unsigned)dice(k, 3);
	bool ok = t != NULL;
	if (t == NULL)
		return;
	for (unsigned i = 0; ok && i < n; i++) {
		unsigned key = (from + i) % CUT_ACCS;
		int delta = n == 1 ? 0 : i == 0 ? (int)n - 1 : -1;
		const char *a = say(k,
		    "UPDATE acc SET prev = who, who = %u, n = n + 1, bal = bal + %d WHERE k = %u RETURNING "
		    "prev",
		    k->id, delta, key);
		ok = note_account(k, t, a, key, delta);
	}
	end(k, t, ok);
}

static void
do_item(struct cut_client *k)
{
	static char body[CUT_BODY + 1];
	struct cut_txn *t = begin(k);
	unsigned key = (unsigned)dice(k, CUT_ITEMS);
	bool ok = t != NULL;
	if (t == NULL)
		return;
	const char *a = say(k, "SELECT id FROM item WHERE k = %u FOR UPDATE", key);
	ok = a != NULL;
	uint32_t was = ok ? (uint32_t)strtoul(a, NULL, 10) : 0;
	cut_body(k->id, body);
	if (ok && was == 0) {
		ok = say(k, "INSERT INTO item VALUES (%u, %u, '%s')", key, k->id, body) != NULL;
		if (ok)
			note_write(k, t, CUT_ITEM, key, 0);
	} else if (ok && dice(k, 2)) {
		a = say(k, "UPDATE item SET id = %u, body = '%s' WHERE k = %u", k->id, body, key);
		ok = a != NULL && strstr(a, "UPDATE 1") != NULL;
		if (ok)
			note_write(k, t, CUT_ITEM, key, was);
	} else if (ok) {
		/* Children first; their own transactions are in `done` all the same. */
		ok = say(k, "DELETE FROM child WHERE k = %u", key) != NULL;
		a = ok ? say(k, "DELETE FROM item WHERE k = %u", key) : NULL;
		ok = a != NULL && strstr(a, "DELETE 1") != NULL;
		if (ok)
			note_write(k, t, CUT_ITEM, key, was)->deletes = true;
	}
	end(k, t, ok);
}

static void
do_child(struct cut_client *k)
{
	struct cut_txn *t = begin(k);
	unsigned key = (unsigned)dice(k, CUT_ITEMS);
	if (t == NULL)
		return;
	t->child = key + 1;
	end(k, t, say(k, "INSERT INTO child VALUES (%u, %u)", k->id, key) != NULL);
}

static void
do_look(struct cut_client *k)
{
	const char *a = say(k, "SELECT who FROM acc UNION ALL SELECT id FROM item");
	uint32_t id[CUT_ACCS + CUT_ITEMS];
	unsigned n = 0;
	/* A disk that has failed keeps less than was shown (txn/README.md). */
	if (a == NULL || k->run->shape.fail_sync != 0)
		return;
	for (char *rest; *a >= '0' && *a <= '9' && n < CUT_ACCS + CUT_ITEMS; a = rest + 1)
		id[n++] = (uint32_t)strtoul(a, &rest, 10);
	for (unsigned i = 0; i < n; i++)
		if (id[i] < k->run->m->next)
			k->run->m->txn[id[i]].shown = true;
}

/* Reads rows, and writes others. */
static void
do_copy(struct cut_client *k)
{
	struct cut_txn *t = begin(k);
	unsigned key = (unsigned)dice(k, CUT_ACCS);
	if (t == NULL)
		return;
	const char *a = say(k, "SELECT who FROM acc UNION ALL SELECT id FROM item");
	for (char *rest; a != NULL && *a >= '0' && *a <= '9'; a = rest + 1)
		note_read(k, t, (uint32_t)strtoul(a, &rest, 10));
	bool ok = a != NULL;
	a = ok ? say(k, "UPDATE acc SET prev = who, who = %u, n = n + 1 WHERE k = %u RETURNING prev", k->id,
		     key)
	       : NULL;
	end(k, t, note_account(k, t, a, key, 0));
}

static void
do_make(struct cut_client *k)
{
	struct cut_txn *t = begin(k);
	if (t == NULL)
		return;
	bool ok = say(k, "CREATE TABLE d%u (k int PRIMARY KEY, w bigint)", k->id) != NULL &&
		  say(k, "CREATE INDEX ON d%u (w)", k->id) != NULL &&
		  say(k, "INSERT INTO d%u SELECT i, %u FROM generate_series(1, %d) i", k->id, k->id,
		      CUT_ROWS) != NULL;
	t->made = k->id;
	end(k, t, ok);
}

/* Changes a table that another transaction has made. */
static void
do_change(struct cut_client *k)
{
	struct cut_model *m = k->run->m;
	uint32_t made = 0, tries = 0;
	while (made == 0 && tries++ < 40) {
		uint32_t id = 1 + (uint32_t)dice(k, m->next - 1);
		if (m->txn[id].made == id && (m->txn[id].state == CUT_ACKED || m->txn[id].state == CUT_HERE))
			made = id;
	}
	struct cut_txn *t = made != 0 ? begin(k) : NULL;
	if (t == NULL)
		return;
	unsigned what = (unsigned)dice(k, 4);
	bool ok = false;
	if (what < 2) {
		ok = say(k, "DROP TABLE d%u", made) != NULL;
		t->dropped = made;
	} else if (what == 2) {
		ok = say(k, "TRUNCATE d%u", made) != NULL;
		t->emptied = made;
	} else {
		ok = say(k, "ALTER TABLE d%u ADD COLUMN c%u int DEFAULT 7", made, k->id) != NULL;
		t->widened = made;
	}
	end(k, t, ok);
}

/* What the next start must not show. */
static void
do_passing(struct cut_client *k)
{
	say(k, "CREATE TEMPORARY TABLE IF NOT EXISTS passing (x int)");
	say(k, "INSERT INTO passing VALUES (1)");
}

/* One client at a time, so that the model knows the order. */
static void
do_r(struct cut_client *k)
{
	struct cut_model *m = k->run->m;
	if (k->run->r_busy || m->rs == CUT_UNSURE)
		return;
	const uint64_t of = k->run->judged_of;
	k->run->r_busy = true;
	if (dice(k, 2)) {
		const char *a = say(k, "SELECT nextval('r')");
		if (a != NULL && k->run->judged_of == of)
			cut_r_shows(m, atoll(a));
	} else {
		int64_t to = 1 + (int64_t)dice(k, 2000);
		m->r[m->rs++] = to;
		if (say(k, "SELECT setval('r', %lld)", (long long)to) != NULL && k->run->judged_of == of)
			cut_r_is(m, to);
	}
	k->run->r_busy = false;
}

static void
do_q(struct cut_client *k)
{
	struct cut_model *m = k->run->m;
	const char *a = say(k, "SELECT nextval('q')");
	if (a != NULL && atoll(a) > m->q_high)
		m->q_high = atoll(a);
}

static void
do_checkpoint(struct cut_client *k)
{
	if (say(k, "CHECKPOINT") != NULL)
		k->run->checkpoints++;
}

void
cut_client(void *arg)
{
	static void (*const act[])(struct cut_client * k) = { do_acc, do_item, do_child, do_look, do_copy,
		do_make, do_change, do_passing, do_q, do_r, do_checkpoint };
	static const unsigned odds[] = { 25, 25, 6, 8, 8, 5, 6, 1, 6, 8, 2 };
	struct cut_client *k = arg;
	struct cut_run *r = k->run;
	bool open = speaker_open(&k->me, &r->c, k->p);
	for (unsigned i = 0; open && i < r->shape.ops && !k->lost && !r->c.bad; i++) {
		unsigned at = (unsigned)dice(k, 100), kind = 0;
		while (at >= odds[kind])
			at -= odds[kind++];
		act[kind](k);
		if (!k->lost)
			net_sleep(r->c.place[k->p].w, dice(k, 100000));
	}
	speaker_close(&k->me);
	k->over = true;
	r->left--;
}

/* ---- all of it, after a restart ---- */

static const char *
next_number(const char *at, int64_t *out)
{
	char *rest;
	*out = strtoll(at, &rest, 10);
	return rest == at ? NULL : rest;
}

static const char *
ask(struct speaker *me, const char *text)
{
	struct cut_run *r = me->c->arg;
	const char *a = speaker_ask(me, text), *e = answer_error(a);
	if (e == NULL)
		return a;
	/* The disk fails or is full while the database is looked at: another start looks. */
	if (((r->shape.fail_sync != 0 || r->shape.breaks != 0) && strncmp(e, "58030", 5) == 0) ||
	    (r->shape.room != 0 && strncmp(e, "53100", 5) == 0))
		r->over = true;
	else
		cluster_bad(me->c, "behind a restart: %s: %s", text, a);
	return "";
}

static void
read_accounts(struct speaker *me, struct cut_seen *s)
{
	int64_t v[5];
	const char *a = ask(me, "SELECT k, n, who, prev, bal FROM acc");
	while (*a >= '0' && *a <= '9') {
		for (unsigned i = 0; a != NULL && i < 5; i++)
			a = next_number(a + (i > 0), &v[i]);
		if (a == NULL || v[0] < 0 || v[0] >= CUT_ACCS)
			return;
		s->acc[v[0]].there = true;
		s->acc[v[0]].n = v[1];
		s->acc[v[0]].who = v[2];
		s->acc[v[0]].prev = v[3];
		s->acc[v[0]].bal = v[4];
		a++;
	}
}

static void
read_items(struct speaker *me, struct cut_seen *s)
{
	static char body[CUT_BODY + 1];
	int64_t k, id;
	const char *a = ask(me, "SELECT k, id, body FROM item");
	while ((a = next_number(a, &k)) != NULL && (a = next_number(a + 1, &id)) != NULL) {
		if (k < 0 || k >= CUT_ITEMS)
			return;
		unsigned len = cut_body_len((uint32_t)id);
		const char *end = strchr(a + 1, ';');
		cut_body((uint32_t)id, body);
		s->item[k].there = true;
		s->item[k].id = id;
		s->item[k].body_right = end != NULL && end - (a + 1) == len && memcmp(a + 1, body, len) == 0;
		if (end == NULL)
			return;
		a = end + 1;
	}
}

static void
read_tables(struct speaker *me, struct cut_seen *s)
{
	char text[200];
	int64_t made, n;
	const char *a = ask(me, "SELECT substr(name, 2)::bigint FROM nam_tables WHERE name ~ '^d[0-9]+$'");
	while ((a = next_number(a, &made)) != NULL) {
		s->table[s->tables++].made = (uint32_t)made;
		a++;
	}
	for (unsigned i = 0; i < s->tables; i++) {
		unsigned d = s->table[i].made;
		snprintf(text, sizeof text, "SELECT count(*) FROM d%u WHERE k + 0 > 0", d);
		if (next_number(ask(me, text), &n) != NULL)
			s->table[i].rows = (unsigned)n;
		snprintf(text, sizeof text, "SELECT count(*) FROM d%u WHERE w = %u", d, d);
		if (next_number(ask(me, text), &n) != NULL)
			s->table[i].by_index = (unsigned)n;
		snprintf(text, sizeof text,
		    "SELECT count(*) FROM nam_columns WHERE table_id = (SELECT id FROM nam_tables WHERE name "
		    "= 'd%u')",
		    d);
		if (next_number(ask(me, text), &n) != NULL)
			s->table[i].columns = (unsigned)n;
	}
	if (next_number(ask(me, "SELECT count(*) FROM nam_tables WHERE name LIKE '%passing%'"), &n) != NULL)
		s->strange = (unsigned)n;
}

void
cut_read_all(struct cut_run *r, unsigned p, struct cut_seen *s)
{
	struct speaker me;
	int64_t v;
	memset(s, 0, sizeof *s);
	if (!speaker_open(&me, &r->c, p))
		return;
	const char *a = ask(&me, "SELECT id FROM done");
	while ((a = next_number(a, &v)) != NULL && s->dones < CUT_TXNS) {
		s->done[s->dones++] = (uint32_t)v;
		a++;
	}
	read_accounts(&me, s);
	read_items(&me, s);
	a = ask(&me, "SELECT id, k FROM child");
	while ((a = next_number(a, &v)) != NULL && s->children < CUT_TXNS) {
		s->child[s->children].id = v;
		if ((a = next_number(a + 1, &s->child[s->children++].k)) == NULL)
			break;
		a++;
	}
	read_tables(&me, s);
	next_number(ask(&me, "SELECT nextval('q')"), &s->q);
	next_number(ask(&me, "SELECT nextval('r')"), &s->r);
	catalog_judge(&me);
	speaker_close(&me);
}
