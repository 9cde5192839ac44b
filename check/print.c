/* print.c -- prints the findings, for people and as JSON. */
#include "check_internal.h"

#include <inttypes.h>
#include <string.h>

enum { OPS_SHOWN = 16, TAIL_SHOWN = 6 };

static const char *const type_names[] = { "ww", "wr", "rw", "so", "rt" };

/* ---- for people ---- */

static void
print_list(const struct chk *c, const struct chk_op *op, FILE *out)
{
	uint32_t from = op->n > TAIL_SHOWN * 2 ? op->n - TAIL_SHOWN : 0;
	fputc('[', out);
	if (from > 0)
		fprintf(out, "... %u more ...", from);
	for (uint32_t i = from; i < op->n; i++)
		fprintf(out, "%s%" PRId64, i > 0 ? " " : "", c->elems[op->list + i]);
	fputc(']', out);
}

static void
print_op(const struct chk *c, const struct chk_op *op, FILE *out)
{
	static const char *const words[] = { "append", "read", "write", "read", "locked read", "add" };
	fprintf(out, "%s %s ", words[op->kind], chk_key_text(c, op->key));
	if (op->kind == OP_READ_LIST)
		print_list(c, op, out);
	else if (op->null)
		fputs("nothing", out);
	else
		fprintf(out, "%" PRId64, op->value);
	if (op->has_at)
		fprintf(out, " at %" PRIu64, op->at);
}

static void
print_txn(const struct chk *c, uint32_t txn, FILE *out)
{
	static const char *const status[] = { "ok", "fail", "info" };
	const struct chk_txn *t = &c->txns[txn];
	fprintf(out, "   T%" PRId64 " (line %u, session %" PRId64 ", %s", t->id, t->line, t->session,
	    status[t->status]);
	if (t->has_start)
		fprintf(out, ", snapshot %" PRIu64, t->start_ts);
	if (t->has_commit)
		fprintf(out, ", commit %" PRIu64, t->commit_ts);
	fputs("):", out);
	for (uint32_t i = 0; i < t->n && i < OPS_SHOWN; i++) {
		fputs(i > 0 ? ", " : " ", out);
		print_op(c, &c->ops[t->op + i], out);
	}
	if (t->n > OPS_SHOWN)
		fprintf(out, ", %u more", t->n - OPS_SHOWN);
	fputc('\n', out);
}

static void
print_step(const struct chk *c, const struct chk_step *s, FILE *out)
{
	const char *from = chk_txn_text(c, s->from), *to = chk_txn_text(c, s->to);
	fprintf(out, "   %s -> %s  %s: ", from, to, type_names[s->type]);
	if (s->type == EDGE_SO) {
		fprintf(out, "%s ended before %s began, in the same %s\n", from, to,
		    c->txns[s->from].session == c->txns[s->to].session ? "session" : "process");
		return;
	}
	if (s->type == EDGE_RT) {
		fprintf(out, "%s ended before %s began\n", from, to);
		return;
	}
	const struct chk_write *w = &c->writes[s->write];
	const struct chk_op *op = &c->ops[w->op];
	const char *key = chk_key_text(c, w->key);
	char value[32] = "nothing";
	if (!op->null)
		snprintf(value, sizeof value, "%" PRId64, op->value);
	if (s->type == EDGE_WR)
		fprintf(out, "%s saw key %s as %s left it (%s)\n", to, key, from, value);
	else if (s->type == EDGE_RW)
		fprintf(out, "%s saw key %s as it was before %s wrote %s\n", from, key, to, value);
	else
		fprintf(out, "%s wrote %s to key %s over what %s wrote\n", to, value, key, from);
}

static void
print_finding(const struct chk *c, const struct chk_finding *f, size_t number, FILE *out)
{
	fprintf(out, "\n%zu. %s", number, f->name);
	if (f->class[0] != 0 && strcmp(f->class, f->name) != 0)
		fprintf(out, " (%s)", f->class);
	if (f->steps == 0) {
		fprintf(out, ": %s\n", f->text);
		for (unsigned i = 0; i < f->txns; i++)
			print_txn(c, f->txn[i], out);
		return;
	}
	fprintf(out, ": a cycle of %u transactions\n", f->steps);
	for (uint32_t i = 0; i < f->steps; i++)
		print_txn(c, f->step[i].from, out);
	for (uint32_t i = 0; i < f->steps; i++)
		print_step(c, &f->step[i], out);
}

static void
print_levels(const struct chk *c, bool holding, FILE *out)
{
	bool any = false;
	for (unsigned l = 0; l < CHK_LEVELS; l++)
		if (chk_holds(c, (enum chk_level)l) == holding) {
			fprintf(out, "%s%s",
			    any       ? ", "
			    : holding ? "  holds: "
				      : "  does not: ",
			    chk_level_name((enum chk_level)l));
			any = true;
		}
	if (any)
		fputc('\n', out);
}

void
chk_print(const struct chk *c, FILE *out)
{
	if (c->bad) {
		fprintf(out, "%s\n", c->error);
		return;
	}
	fprintf(out,
	    "%s: %zu transactions (%zu ok, %zu fail, %zu info) of %zu sessions, %zu keys, %zu operations%s\n",
	    c->name, c->live, c->counted[TXN_OK], c->counted[TXN_FAIL], c->counted[TXN_INFO], c->sessions,
	    c->n_keys, c->n_ops, c->partial ? "; cut off" : "");
	print_levels(c, true, out);
	print_levels(c, false, out);
	if (c->faults == 0) {
		fprintf(out, "%s: nothing wrong%s\n", chk_level_name(c->level),
		    c->stamps ? ", also by its timestamps" : "");
		return;
	}
	fprintf(out, "%s: VIOLATED, %" PRIu64 " finding%s\n", chk_level_name(c->level), c->faults,
	    c->faults == 1 ? "" : "s");
	for (size_t i = 0; i < c->n_found; i++)
		print_finding(c, &c->found[i], i + 1, out);
	if (c->faults > c->n_found)
		fprintf(out, "\n... and %" PRIu64 " more\n", c->faults - c->n_found);
}

/* ---- JSON ---- */

static void
json_text(const char *s, size_t n, FILE *out)
{
	fputc('"', out);
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"' || s[i] == '\\')
			fprintf(out, "\\%c", s[i]);
		else if ((unsigned char)s[i] < 32)
			fprintf(out, "\\u%04x", s[i]);
		else
			fputc(s[i], out);
	}
	fputc('"', out);
}

static void
json_word(const char *name, const char *s, FILE *out)
{
	fprintf(out, "\"%s\":", name);
	json_text(s, strlen(s), out);
}

static void
json_finding(const struct chk *c, const struct chk_finding *f, FILE *out)
{
	fputc('{', out);
	json_word("anomaly", f->name, out);
	fputc(',', out);
	json_word("class", f->class, out);
	fputc(',', out);
	json_word("text", f->text, out);
	fputs(",\"transactions\":[", out);
	for (uint32_t i = 0; i < (f->steps ? f->steps : f->txns); i++) {
		const struct chk_txn *t = &c->txns[f->steps ? f->step[i].from : f->txn[i]];
		fprintf(out, "%s{\"id\":%" PRId64 ",\"line\":%u,\"session\":%" PRId64 "}", i ? "," : "",
		    t->id, t->line, t->session);
	}
	fputs("],\"edges\":[", out);
	for (uint32_t i = 0; i < f->steps; i++) {
		const struct chk_step *s = &f->step[i];
		fprintf(out, "%s{\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"type\":\"%s\"", i ? "," : "",
		    c->txns[s->from].id, c->txns[s->to].id, type_names[s->type]);
		if (s->write != NONE) {
			const struct chk_key *k = &c->keys[c->writes[s->write].key];
			const struct chk_op *op = &c->ops[c->writes[s->write].op];
			fputs(",\"key\":", out);
			if (k->text)
				json_text(k->s, k->len, out);
			else
				fprintf(out, "%" PRId64, k->number);
			if (op->null)
				fputs(",\"value\":null", out);
			else
				fprintf(out, ",\"value\":%" PRId64, op->value);
		}
		fputc('}', out);
	}
	fputs("]}", out);
}

void
chk_print_json(const struct chk *c, FILE *out)
{
	fputc('{', out);
	json_word("file", c->name, out);
	if (c->bad) {
		fputc(',', out);
		json_word("error", c->error, out);
		fputs("}\n", out);
		return;
	}
	fputc(',', out);
	json_word("level", chk_level_name(c->level), out);
	fprintf(out,
	    ",\"clean\":%s,\"transactions\":%zu,\"ok\":%zu,\"fail\":%zu,\"info\":%zu,\"sessions\":%zu,"
	    "\"keys\":%zu,\"operations\":%zu,\"timestamps\":%s,\"partial\":%s,\"holds\":{",
	    c->faults ? "false" : "true", c->live, c->counted[TXN_OK], c->counted[TXN_FAIL],
	    c->counted[TXN_INFO], c->sessions, c->n_keys, c->n_ops, c->stamps ? "true" : "false",
	    c->partial ? "true" : "false");
	for (unsigned l = 0; l < CHK_LEVELS; l++)
		fprintf(out, "%s\"%s\":%s", l ? "," : "", chk_level_name((enum chk_level)l),
		    chk_holds(c, (enum chk_level)l) ? "true" : "false");
	fprintf(out, "},\"findings_total\":%" PRIu64 ",\"findings\":[", c->faults);
	for (size_t i = 0; i < c->n_found; i++) {
		if (i > 0)
			fputc(',', out);
		json_finding(c, &c->found[i], out);
	}
	fputs("]}\n", out);
}
