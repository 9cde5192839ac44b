/*
 * sequence.c -- sequences: a word in remote memory that sessions advance by FETCH_ADD. A value that
 * was drawn stays drawn, even if the transaction rolls back.
 */
#include <sql/command/grant.h>
#include <sql/common/guess_relation.h>
#include <sql/expr/functions.h>

#include <stdio.h>
#include <stdlib.h>

/* ---- definitions --------------------------------------------------------------------- */

static bool
define(const struct ast_seq *a, struct cat_sequence *q, struct cat_err *err)
{
	q->type = a->type == CAT_UNKNOWN ? CAT_INT8 : a->type;
	q->step = a->step ? a->step : 1;
	q->cache = a->cache ? a->cache : 1;
	q->cycle = a->cycle;
	int64_t low = q->type == CAT_INT2 ? INT16_MIN : q->type == CAT_INT4 ? INT32_MIN : INT64_MIN;
	int64_t high = q->type == CAT_INT2 ? INT16_MAX : q->type == CAT_INT4 ? INT32_MAX : INT64_MAX;
	q->min = a->has_min ? a->min : q->step > 0 ? 1 : low;
	q->max = a->has_max ? a->max : q->step > 0 ? high : -1;
	if (q->max > high)
		return cat_error(err, "22023", "MAXVALUE (%lld) is out of range for sequence data type %s",
		    (long long)q->max, cat_type_name(q->type));
	if (q->min < low)
		return cat_error(err, "22023", "MINVALUE (%lld) is out of range for sequence data type %s",
		    (long long)q->min, cat_type_name(q->type));
	if (q->min >= q->max)
		return cat_error(err, "22023", "MINVALUE (%lld) must be less than MAXVALUE (%lld)",
		    (long long)q->min, (long long)q->max);
	q->start = a->has_start ? a->start : q->step > 0 ? q->min : q->max;
	if (q->start < q->min)
		return cat_error(err, "22023", "START value (%lld) cannot be less than MINVALUE (%lld)",
		    (long long)q->start, (long long)q->min);
	if (q->start > q->max)
		return cat_error(err, "22023", "START value (%lld) cannot be greater than MAXVALUE (%lld)",
		    (long long)q->start, (long long)q->max);
	return true;
}

bool
sql_make_sequence(struct sql_session *s, const char *path, const struct ast_seq *a,
    const struct cat_table *owner, struct cat_err *err)
{
	struct cat_column none[1] = { 0 };
	struct cat_table def = { .kind = CAT_SEQUENCE, .column = none };
	struct cat_sequence q = { .owner = owner ? owner->store.id : 0 };
	snprintf(def.path, sizeof def.path, "%s", path);
	if (!define(a, &q, err) || (owner == NULL && !sql_make_as(s, &def, 0, err)))
		return false;
	if (owner != NULL)
		snprintf(def.owner, sizeof def.owner, "%s", cat_owner(owner));
	s->ddl = true;
	nam_status st = cat_sequence_word(s->cfg.cat, s->cfg.tw, q.start, &q);
	def.seq = q;
	if (st == NAM_OK)
		st = cat_create(s->cfg.cat, s->t, &def);
	if (st == NAM_DUPLICATE)
		return cat_error(err, "42P07", "relation \"%s\" already exists", cat_local(path));
	return st == NAM_OK || sql_status(err, st, NULL);
}

bool
sql_sequence_name(struct sql_session *s, const char *table, const char *column, char out[CAT_PATH_MAX + 1],
    const char **dflt, struct nam_arena *arena, struct cat_err *err)
{
	for (unsigned n = 0; n < 1000; n++) {
		const struct cat_table *there;
		char suffix[8] = "", name[CAT_NAME_MAX + 1];
		if (n > 0)
			snprintf(suffix, sizeof suffix, "%u", n);
		snprintf(name, sizeof name, "%.28s_%.27s_seq%.3s", cat_local(table), column, suffix);
		cat_beside(table, name, out);
		nam_status st = cat_find(s->cfg.cat, s->t, out, &there);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		if (there != NULL)
			continue;
		*dflt = sql_nextval_text(out, arena);
		return *dflt != NULL || sql_no_memory(err);
	}
	return cat_error(err, "42P07", "relation \"%s\" already exists", cat_local(out));
}

bool
sql_create_sequence(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err)
{
	const struct cat_table *there;
	const struct cat_table *owner = NULL;
	nam_status st = cat_find(s->cfg.cat, s->t, ast->table.name, &there);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (there != NULL && ast->if_exists) {
		sql_notice(sink, "NOTICE", "42P07", "relation \"%s\" already exists, skipping",
		    cat_local(ast->table.name));
		return true;
	}
	if (there != NULL)
		return cat_error(err, "42P07", "relation \"%s\" already exists", cat_local(ast->table.name));
	if (ast->seq->owner != NULL) {
		if ((st = cat_find(s->cfg.cat, s->t, ast->seq->owner, &there)) != NAM_OK)
			return sql_status(err, st, NULL);
		if (there == NULL)
			return cat_error(
			    err, "42P01", "relation \"%s\" does not exist", sql_path_shown(ast->seq->owner));
		unsigned c = 0;
		while (c < there->columns && strcmp(there->column[c].name, ast->seq->owner_column) != 0)
			c++;
		if (c == there->columns)
			return cat_error(err, "42703", "column \"%s\" of relation \"%s\" does not exist",
			    ast->seq->owner_column, cat_local(there->path));
		if (!sql_must_own(s, there, err))
			return false;
		if (!cat_same_schema(there->path, ast->table.name))
			return cat_error(
			    err, "55000", "sequence must be in same schema as table it is linked to");
		owner = there;
		char schema[CAT_NAME_MAX + 1];
		cat_schema_of(owner->path, schema);
		if (!cat_in_public(owner->path) && !sql_makes_in(s, schema, ast->table.position, err))
			return false;
	}
	return sql_make_sequence(s, ast->table.name, ast->seq, owner, err);
}

bool
sql_sequence_in_use(struct sql_session *s, const struct cat_table *seq, struct cat_err *err)
{
	const struct cat_table **list;
	unsigned n;
	struct nam_arena *arena = sql_arena(s, 1);
	nam_status st = arena ? cat_list(s->cfg.cat, s->t, &list, &n, arena) : NAM_NOMEM;
	if (st != NAM_OK)
		return !sql_status(err, st, NULL);
	char call[CAT_NAME_MAX + 16], whole[CAT_PATH_MAX + 16];
	const char *kept = sql_nextval_text(seq->path, arena);
	if (kept == NULL)
		return !sql_no_memory(err);
	/* Inside of a longer expression the name stands as it was written. Without a schema it is
	 * most likely that of a sequence in public or beside the table. */
	snprintf(call, sizeof call, "nextval('%s')", cat_local(seq->path));
	snprintf(whole, sizeof whole, "nextval('%s')", seq->path);
	for (unsigned i = 0; i < n; i++)
		for (unsigned c = 0; c < list[i]->columns; c++) {
			const char *d = list[i]->column[c].dflt;
			bool near = cat_in_public(seq->path) ? cat_in_public(list[i]->path)
							     : cat_same_schema(seq->path, list[i]->path);
			if (d == NULL || (strstr(d, kept) == NULL && strstr(d, whole) == NULL &&
					     (!near || strstr(d, call) == NULL)))
				continue;
			if (list[i]->column[c].identity)
				cat_error(err, "2BP01",
				    "cannot drop sequence %s because column %s of table %s requires it",
				    sql_path_shown(seq->path), list[i]->column[c].name,
				    sql_path_shown(list[i]->path));
			else
				cat_error(err, "2BP01",
				    "cannot drop sequence %s because other objects depend on it",
				    sql_path_shown(seq->path));
			snprintf(err->detail, sizeof err->detail,
			    "default value for column %s of table %s depends on sequence %s",
			    list[i]->column[c].name, sql_path_shown(list[i]->path),
			    sql_path_shown(seq->path));
			snprintf(err->hint, sizeof err->hint,
			    "Use DROP ... CASCADE to drop the dependent objects too.");
			return true;
		}
	return false;
}

bool
sql_drop_sequence(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err)
{
	for (unsigned i = 0; i < ast->nnames; i++) {
		const struct cat_table *tab;
		nam_status st = cat_find(s->cfg.cat, s->t, ast->names[i], &tab);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		if (tab == NULL) {
			if (!ast->if_exists) {
				cat_error(
				    err, "42P01", "sequence \"%s\" does not exist", cat_local(ast->names[i]));
				sql_guess_relation(s->cfg.cat, s->t, ast->names[i], sql_arena(s, 1), err);
				return false;
			}
			sql_notice(sink, "NOTICE", "00000", "sequence \"%s\" does not exist, skipping",
			    cat_local(ast->names[i]));
			continue;
		}
		if (tab->kind != CAT_SEQUENCE)
			return cat_error(err, "42809", "\"%s\" is not a sequence", cat_local(tab->path));
		if (!ast->whoever && !sql_may_drop(s, tab, err))
			return false;
		if (sql_sequence_in_use(s, tab, err)) {
			if (ast->cascade)
				return cat_error(
				    err, "0A000", "DROP SEQUENCE ... CASCADE is not supported yet");
			return false;
		}
		s->ddl = true;
		st = cat_drop(s->cfg.cat, s->t, tab);
		if (st == NAM_ABSENT)
			return cat_error(
			    err, "42P01", "sequence \"%s\" does not exist", cat_local(ast->names[i]));
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
	}
	return true;
}

/* ---- nextval, currval, setval, lastval ------------------------------------------------- */

static bool
is_number(struct cat_str text)
{
	uint32_t n = 0;
	while (n < text.len && text.p[n] >= '0' && text.p[n] <= '9')
		n++;
	return n > 0 && n == text.len;
}

/* The sequence of that oid. */
static const struct cat_table *
numbered(struct sql_session *s, struct cat_str text, struct cat_err *err)
{
	const struct cat_table **list, *found = NULL;
	char path[CAT_PATH_MAX + 1] = "";
	struct nam_arena arena;
	union cat_val oid;
	unsigned n = 0;
	nam_arena_init(&arena, 0);
	bool ok = cat_value_in(CAT_OID, -1, text, &oid, &arena, err);
	nam_status st = ok ? cat_list(s->cfg.cat, s->t, &list, &n, &arena) : NAM_OK;
	ok = ok && (st == NAM_OK || sql_status(err, st, NULL));
	for (unsigned i = 0; ok && i < n; i++)
		if (list[i]->kind == CAT_SEQUENCE && SQL_FIRST_OID + list[i]->store.id == oid.i)
			snprintf(path, sizeof path, "%s", list[i]->path);
	nam_arena_fini(&arena);
	st = ok && path[0] != 0 ? cat_find(s->cfg.cat, s->t, path, &found) : NAM_OK;
	ok = ok && (st == NAM_OK || sql_status(err, st, NULL));
	if (ok && found == NULL)
		cat_error(err, "42P01", "relation with OID %.*s is not a sequence, or does not exist",
		    (int)text.len, text.p);
	return found;
}

/* True if a text that names no relation of the catalog names one of the system's. */
static bool
is_systems(struct sql_row *r, struct cat_str text)
{
	struct cat_err ignored;
	struct sql_env env = *r->env;
	struct cat_datum d = { .v.s = text };
	env.err = &ignored;
	struct sql_expr *e = sql_expr_const(env.arena, d, 0);
	e = e != NULL ? sql_expr_cast(env.arena, e, CAT_REGCLASS, -1, 0, &ignored) : NULL;
	return e != NULL && sql_eval_one(e, &env, &d);
}

/* The sequence a text names: folded to lower case unless in quotes. */
static const struct cat_table *
named(struct sql_row *r, struct cat_str text)
{
	struct sql_session *s = r->env->session;
	struct cat_err *err = r->env->err;
	const struct sql_looking in = sql_looking(s);
	char schema[CAT_NAME_MAX + 1], name[CAT_NAME_MAX + 1], path[CAT_PATH_MAX + 1];
	const struct cat_table *tab;
	if (is_number(text))
		return numbered(s, text, err);
	if (!sql_path_parse(text, schema, name)) {
		cat_error(err, "42602", "invalid name syntax");
		return NULL;
	}
	bool systems = strcmp(schema, "pg_catalog") == 0 || strcmp(schema, "information_schema") == 0;
	if (!systems && schema[0] != 0 && !sql_schema_of_names(&in, schema, &tab, false, err))
		return NULL;
	if (!sql_path_find(&in, schema[0] ? schema : NULL, name, &tab, err))
		return NULL;
	if (tab == NULL && is_systems(r, text)) {
		cat_error(err, "42809", "\"%s\" is not a sequence", name);
	} else if (tab == NULL) {
		sql_path_nowhere(schema[0] ? schema : NULL, name, path);
		cat_error(err, "42P01", "relation \"%s\" does not exist", sql_path_shown(path));
		sql_guess_relation(s->cfg.cat, s->t, path, r->env->arena, err);
	} else if (tab->kind != CAT_SEQUENCE) {
		cat_error(err, "42809", "\"%s\" is not a sequence", name);
	}
	return tab != NULL && tab->kind == CAT_SEQUENCE ? tab : NULL;
}

/* The sequence of an identity column: a role that may insert into the table may draw from it. */
static bool
by_insert(struct sql_session *s, const struct cat_table *seq, bool *yes, struct cat_err *err)
{
	const struct cat_table **list;
	struct nam_arena arena;
	unsigned n = 0;
	uint16_t have = 0;
	nam_arena_init(&arena, 0);
	const char *call = sql_nextval_text(seq->path, &arena);
	nam_status st = call ? cat_list(s->cfg.cat, s->t, &list, &n, &arena) : NAM_NOMEM;
	bool ok = st == NAM_OK || sql_status(err, st, NULL);
	*yes = false;
	for (unsigned i = 0; ok && i < n; i++) {
		if (list[i]->kind != CAT_TABLE || list[i]->store.id != seq->seq.owner)
			continue;
		ok = sql_rights(s->cfg.cat, s->t, sql_who(s), list[i], CAT_MAY_INSERT, &have, err);
		for (unsigned c = 0; c < list[i]->columns; c++)
			*yes |= list[i]->column[c].identity != 0 && (have & CAT_MAY_INSERT) != 0 &&
				strcmp(list[i]->column[c].dflt, call) == 0;
	}
	nam_arena_fini(&arena);
	return ok;
}

/* One of these rights will do. */
static bool
may_use(struct sql_session *s, const struct cat_table *tab, uint16_t rights, struct cat_err *err)
{
	uint16_t have;
	bool yes;
	if (!sql_rights(s->cfg.cat, s->t, sql_who(s), tab, rights, &have, err))
		return false;
	if ((have & rights) != 0)
		return true;
	if ((rights & CAT_MAY_USE) == 0 || tab->seq.owner == 0)
		return sql_denied(tab, err);
	return by_insert(s, tab, &yes, err) && (yes || sql_denied(tab, err));
}

/* The same for nextval, which is asked for each row. */
static bool
may_draw(struct sql_session *s, const struct cat_table *tab, struct sql_drawn *d, struct cat_err *err)
{
	if (sql_who(s)->super)
		return true;
	uint64_t version = cat_version(s->cfg.cat, s->t);
	if (d->version == version && sql_who_same(&d->who, sql_who(s)))
		return true;
	if (!may_use(s, tab, CAT_MAY_USE | CAT_MAY_UPDATE, err))
		return false;
	d->version = version;
	d->who = *sql_who(s);
	return true;
}

/* A transaction that is read only steps temporary sequences alone. */
static bool
may_step(const struct sql_session *s, const struct cat_table *tab, const char *what, struct cat_err *err)
{
	return sql_path_is_temp(tab->path) || sql_may_write(s, what, err);
}

static int
by_id(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Forgets the sequences that have been dropped: a session that makes and drops many keeps none. */
static void
forget_dropped(struct sql_session *s)
{
	const struct cat_table **list;
	struct nam_arena arena;
	unsigned n = 0, ids = 0, left = 0;
	nam_arena_init(&arena, 0);
	nam_status st = cat_list(s->cfg.cat, s->t, &list, &n, &arena);
	uint32_t *id = st == NAM_OK ? nam_arena_take(&arena, (n + 1) * sizeof *id) : NULL;
	if (id == NULL) {
		nam_arena_fini(&arena);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		if (list[i]->kind == CAT_SEQUENCE)
			id[ids++] = list[i]->store.id;
	qsort(id, ids, sizeof *id, by_id);
	for (unsigned i = 0; i < s->sequences; i++)
		if (bsearch(&s->sequence[i].id, id, ids, sizeof *id, by_id) != NULL)
			s->sequence[left++] = s->sequence[i];
	s->sequences = left;
	nam_arena_fini(&arena);
}

/* The place of a sequence among those that nextval has drawn from here, which rise by id. */
static unsigned
drawn_place(const struct sql_session *s, uint32_t id)
{
	unsigned low = 0, high = s->sequences;
	while (low < high) {
		unsigned mid = low + (high - low) / 2;
		if (s->sequence[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct sql_drawn *
drawn(struct sql_session *s, uint32_t id, bool make)
{
	unsigned at = drawn_place(s, id);
	if (at < s->sequences && s->sequence[at].id == id)
		return &s->sequence[at];
	if (!make)
		return NULL;
	if (s->sequences == s->sequences_max) {
		unsigned had = s->sequences;
		if (had > 0)
			forget_dropped(s);
		/* Twice as many before the next look, unless most were gone. */
		if (had == 0 || 2 * s->sequences > had) {
			unsigned max = had == 0 ? 16 : 2 * had;
			struct sql_drawn *more = realloc(s->sequence, max * sizeof *more);
			if (more == NULL)
				return NULL;
			s->sequence = more;
			s->sequences_max = max;
		}
		at = drawn_place(s, id);
	}
	memmove(&s->sequence[at + 1], &s->sequence[at], (s->sequences - at) * sizeof *s->sequence);
	s->sequence[at] = (struct sql_drawn){ .id = id };
	s->sequences++;
	return &s->sequence[at];
}

/* How many values there are from v on, v included. */
static uint64_t
values_from(const struct cat_sequence *q, int64_t v)
{
	uint64_t room = q->step > 0 ? (uint64_t)q->max - (uint64_t)v : (uint64_t)v - (uint64_t)q->min;
	uint64_t step = q->step > 0 ? (uint64_t)q->step : -(uint64_t)q->step;
	uint64_t n = room / step;
	return n == UINT64_MAX ? n : n + 1;
}

/* Draws up to q->cache values from the word. */
static bool
draw(struct sql_session *s, const struct cat_table *tab, struct sql_drawn *d, struct cat_err *err)
{
	const struct cat_sequence *q = &tab->seq;
	uint64_t add = (uint64_t)q->step * (uint64_t)q->cache, seen;
	nam_status st = net_faa1(s->net, q->word, add, &seen, NULL);
	while (st == NAM_OK) {
		int64_t v = (int64_t)seen;
		if (v >= q->min && v <= q->max) {
			uint64_t n = values_from(q, v);
			d->left = n > (uint64_t)q->cache ? q->cache - 1 : (int64_t)n - 1;
			st = cat_sequence_drawn(
			    s->cfg.tw, q, v + d->left * q->step, s->t != NULL ? txn_limits_of(s->t) : NULL);
			d->last = v;
			if (st != NAM_OK)
				d->left = 0;
			return st == NAM_OK || sql_status(err, st, NULL);
		}
		uint64_t now = seen + add, want = seen;
		if (q->cycle) {
			v = q->step > 0 ? q->min : q->max;
			want = (uint64_t)v + add;
			if ((st = cat_sequence_reset(s->cfg.tw, q, v)) != NAM_OK)
				break;
		}
		/* put it back to where it was, or, with CYCLE, to the start. Another session may be
		 * doing this at once. */
		if ((st = net_cas1(s->net, q->word, now, want, &seen, NULL)) != NAM_OK)
			break;
		if (!q->cycle)
			return cat_error(err, "2200H", "nextval: reached %s value of sequence \"%s\" (%lld)",
			    q->step > 0 ? "maximum" : "minimum", cat_local(tab->path),
			    (long long)(q->step > 0 ? q->max : q->min));
		if (seen == now)
			seen = (uint64_t)v;
		else
			st = net_faa1(s->net, q->word, add, &seen, NULL);
	}
	return sql_status(err, st, NULL);
}

bool
sql_nextval(struct sql_row *r)
{
	struct sql_session *s = r->env->session;
	const struct cat_table *tab = named(r, r->a[0].s);
	struct sql_drawn *d = tab ? drawn(s, tab->store.id, true) : NULL;
	if (tab != NULL && d == NULL)
		return sql_no_memory(r->env->err);
	if (d == NULL || !may_draw(s, tab, d, r->env->err) || !may_step(s, tab, "nextval()", r->env->err))
		return false;
	if (d->left > 0) {
		d->left--;
		d->last += tab->seq.step;
	} else if (!draw(s, tab, d, r->env->err)) {
		return false;
	}
	d->any = true;
	s->last_sequence = d->id;
	r->out.i = d->last;
	return true;
}

bool
sql_currval(struct sql_row *r)
{
	const struct cat_table *tab = named(r, r->a[0].s);
	struct sql_drawn *d = tab ? drawn(r->env->session, tab->store.id, false) : NULL;
	if (tab == NULL || !may_use(r->env->session, tab, CAT_MAY_SELECT | CAT_MAY_USE, r->env->err))
		return false;
	if (d == NULL || !d->any)
		return cat_error(r->env->err, "55000",
		    "currval of sequence \"%s\" is not yet defined in this session", cat_local(tab->path));
	r->out.i = d->last;
	return true;
}

bool
sql_lastval(struct sql_row *r)
{
	struct sql_session *s = r->env->session;
	struct sql_drawn *d = s->last_sequence ? drawn(s, s->last_sequence, false) : NULL;
	if (d == NULL || !d->any)
		return cat_error(r->env->err, "55000", "lastval is not yet defined in this session");
	r->out.i = d->last;
	return true;
}

bool
sql_setval(struct sql_row *r, bool called)
{
	int64_t v = r->a[1].i;
	struct sql_session *s = r->env->session;
	const struct cat_table *tab = named(r, r->a[0].s);
	if (tab == NULL || !may_use(s, tab, CAT_MAY_UPDATE, r->env->err) ||
	    !may_step(s, tab, "setval()", r->env->err))
		return false;
	const struct cat_sequence *q = &tab->seq;
	if (v < q->min || v > q->max)
		return cat_error(r->env->err, "22003",
		    "setval: value %lld is out of bounds for sequence \"%s\" (%lld..%lld)", (long long)v,
		    cat_local(tab->path), (long long)q->min, (long long)q->max);
	struct sql_drawn *d = drawn(s, tab->store.id, called);
	uint64_t word = called ? (uint64_t)v + (uint64_t)q->step : (uint64_t)v;
	nam_status st = cat_sequence_reset(s->cfg.tw, q, (int64_t)word);
	if (st == NAM_OK)
		st = net_write1(s->net, q->word, &word, sizeof word, NULL);
	if (st != NAM_OK)
		return sql_status(r->env->err, st, NULL);
	if (d != NULL) {
		d->left = 0;
		if (called) {
			d->last = v;
			d->any = true;
		}
	}
	r->out.i = v;
	return true;
}
