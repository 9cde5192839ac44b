/* judge.c -- from bytes to a verdict, and the records of findings. */
#include "check_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static const struct {
	const char *name, *more[3];
} levels[CHK_LEVELS] = {
	[CHK_READ_COMMITTED] = { "read-committed", { "rc" } },
	[CHK_SNAPSHOT] = { "snapshot", { "si", "snapshot-isolation", "repeatable-read" } },
	[CHK_SESSION_SNAPSHOT] = { "session-snapshot", { "strong-session-si" } },
	[CHK_STRONG_SNAPSHOT] = { "strong-snapshot", { "strong-si" } },
	[CHK_SERIALIZABLE] = { "serializable", { "ser" } },
	[CHK_SESSION_SERIALIZABLE] = { "session-serializable", { "strong-session-serializable" } },
	[CHK_STRICT_SERIALIZABLE] = { "strict-serializable", { "strict" } },
};

const char *
chk_level_name(enum chk_level level)
{
	return level < CHK_LEVELS ? levels[level].name : "unsaid";
}

bool
chk_level_parse(const char *name, enum chk_level *out)
{
	for (unsigned l = 0; l < CHK_LEVELS; l++) {
		bool is = strcmp(name, levels[l].name) == 0;
		for (unsigned i = 0; i < 3; i++)
			is = is || (levels[l].more[i] != NULL && strcmp(name, levels[l].more[i]) == 0);
		if (is) {
			*out = (enum chk_level)l;
			return true;
		}
	}
	return false;
}

/* ---- words ---- */

const char *
chk_key_text(const struct chk *c, uint32_t key)
{
	static _Thread_local char buf[4][300];
	static _Thread_local unsigned turn;
	const struct chk_key *k = &c->keys[key];
	char *b = buf[turn++ & 3];
	if (!k->text) {
		snprintf(b, sizeof buf[0], "%" PRId64, k->number);
		return b;
	}
	size_t n = 0;
	b[n++] = '"';
	for (uint32_t i = 0; i < k->len && n < sizeof buf[0] - 2; i++)
		b[n++] = (unsigned char)k->s[i] < 32 || k->s[i] == 127 ? '?' : k->s[i];
	b[n++] = '"';
	b[n] = 0;
	return b;
}

const char *
chk_txn_text(const struct chk *c, uint32_t txn)
{
	static _Thread_local char buf[4][32];
	static _Thread_local unsigned turn;
	char *b = buf[turn++ & 3];
	snprintf(b, sizeof buf[0], "T%" PRId64, c->txns[txn].id);
	return b;
}

/* ---- findings ---- */

/* A place for a finding that is to be told in full, or NULL. */
static struct chk_finding *
finding(struct chk *c, unsigned breaks)
{
	c->broken |= breaks;
	if (!(breaks >> c->level & 1))
		return NULL;
	c->faults++;
	if (c->n_found >= c->opt.witnesses)
		return NULL;
	c->found = chk_grow(c, c->found, c->n_found, &c->found_cap, sizeof *c->found);
	struct chk_finding *f = &c->found[c->n_found++];
	*f = (struct chk_finding){ .breaks = breaks };
	return f;
}

void
chk_fault(struct chk *c, const char *name, const char *class, unsigned breaks, uint32_t a, uint32_t b,
    const char *fmt, ...)
{
	struct chk_finding *f = finding(c, breaks);
	if (f == NULL)
		return;
	char text[700];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	f->name = name;
	f->class = class;
	f->text = memcpy(chk_take(c, strlen(text) + 1, 1), text, strlen(text));
	if (a != NONE)
		f->txn[f->txns++] = a;
	if (b != NONE && b != a)
		f->txn[f->txns++] = b;
}

void
chk_fault_cycle(struct chk *c, const char *name, const char *class, unsigned breaks,
    const struct chk_step *step, uint32_t steps)
{
	struct chk_finding *f = finding(c, breaks);
	if (f == NULL)
		return;
	f->name = name;
	f->class = class;
	f->text = "";
	f->step = step;
	f->steps = steps;
}

/* ---- the verdict ---- */

enum chk_verdict
chk_judge(struct chk *c, const char *name, const char *bytes, size_t len, const struct chk_options *opt)
{
	c->opt = *opt;
	if (c->opt.witnesses == 0)
		c->opt.witnesses = 8;
	c->name = name;
	if (setjmp(c->out) != 0)
		return CHK_BAD_INPUT;
	chk_read(c, bytes, len);
	if (opt->level != CHK_UNSAID)
		c->level = opt->level;
	else if (c->level == CHK_UNSAID)
		c->level = CHK_SNAPSHOT;
	chk_index(c);
	chk_observe(c);
	c->nodes = (uint32_t)c->n;
	switch (c->model) {
	case MODEL_LIST:
		chk_list(c);
		break;
	case MODEL_REGISTER:
		chk_register(c);
		break;
	case MODEL_BANK:
		chk_bank(c);
		break;
	default:
		chk_set(c);
	}
	chk_stamps(c);
	return c->faults > 0 ? CHK_ANOMALY : CHK_CLEAN;
}

bool
chk_holds(const struct chk *c, enum chk_level level)
{
	return !c->bad && level < CHK_LEVELS && !(c->broken >> level & 1);
}

const char *
chk_finding(const struct chk *c, unsigned i)
{
	return !c->bad && i < c->n_found ? c->found[i].name : NULL;
}

const char *
chk_error(const struct chk *c)
{
	return c->bad ? c->error : "";
}
