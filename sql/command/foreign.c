/*
 * foreign.c -- definitions of foreign keys: what they refer to, and who has to know.
 *
 * A foreign key stands in the definition of the table that refers, and its name in that of the
 * table it refers to (cat_referrer). So both definitions change with it, and a transaction that
 * knows an older one of either does not commit rows of it (guards).
 */
#include <sql/command/alter.h>
#include <sql/common/guess_relation.h>
#include <sql/dml/dml.h>

#include <stdio.h>

static const char cascade_hint[] = "Use DROP ... CASCADE to drop the dependent objects too.";

/* ---- what it is ------------------------------------------------------------------------- */

static bool
columns(const struct cat_table *t, const char **name, unsigned n, char (*out)[CAT_NAME_MAX + 1],
    uint16_t *number, struct cat_err *err)
{
	if (n > CAT_KEY_MAX)
		return cat_error(err, "54011", "cannot have more than %d keys in a foreign key", CAT_KEY_MAX);
	for (unsigned i = 0; i < n; i++) {
		unsigned c = 0;
		while (c < t->columns && strcmp(t->column[c].name, name[i]) != 0)
			c++;
		if (c == t->columns)
			return cat_error(err, "42703",
			    "column \"%s\" referenced in foreign key constraint does not exist", name[i]);
		snprintf(out[i], CAT_NAME_MAX + 1, "%s", name[i]);
		number[i] = (uint16_t)c;
	}
	return true;
}

/* The columns' values can be compared, and are when they have one type, or are both integers. */
static bool
comparable(const struct cat_table *child, const uint16_t *from, const struct cat_table *parent,
    const uint16_t *to, const struct cat_foreign *k, struct cat_err *err)
{
	for (unsigned i = 0; i < k->keys; i++) {
		const struct cat_column *a = &child->column[from[i]], *b = &parent->column[to[i]];
		const char *said = cat_type_said(a->type, cat_type_loose(a->type, a->typmod));
		const char *as = cat_type_said(b->type, cat_type_loose(b->type, b->typmod));
		if (a->type == b->type || (cat_type_is_int(a->type) && cat_type_is_int(b->type)))
			continue;
		if (cat_type_category(a->type) == cat_type_category(b->type) && !cat_type_is_array(a->type) &&
		    !cat_type_is_array(b->type) && !cat_type_is_enum(a->type))
			return cat_error(err, "0A000",
			    "a foreign key from type %s to type %s is not supported yet", said, as);
		cat_error(err, "42804", "foreign key constraint \"%s\" cannot be implemented", k->name);
		snprintf(err->detail, sizeof err->detail,
		    "Key columns \"%s\" and \"%s\" are of incompatible types: %s and %s.", a->name, b->name,
		    said, as);
		return false;
	}
	return true;
}

/* The name of a constraint that def does not have yet. */
static bool
name_it(const struct cat_table *def, const struct ast_foreign *a, struct cat_foreign *k, struct cat_err *err)
{
	char all[CAT_NAME_MAX + 1] = "", label[16];
	size_t at = 0;
	if (a->name != NULL && strlen(a->name) > CAT_NAME_MAX)
		return cat_error(err, "42622", "identifier \"%.80s\" is too long", a->name);
	for (unsigned i = 0; i < a->columns && at < sizeof all - 1; i++) {
		snprintf(all + at, sizeof all - at, "%s%s", i ? "_" : "", a->column[i]);
		at = strlen(all);
	}
	for (unsigned try = 0;; try++) {
		snprintf(label, sizeof label, try ? "fkey%u" : "fkey", try);
		if (a->name != NULL)
			snprintf(k->name, sizeof k->name, "%s", a->name);
		else
			sql_make_name(cat_local(def->path), all, label, k->name);
		bool taken = sql_constraint_is(def, k->name);
		if (!taken)
			return true;
		if (a->name != NULL)
			return cat_error(err, "42710", "constraint \"%s\" for relation \"%s\" already exists",
			    a->name, cat_local(def->path));
	}
}

/* The table that is referred to; def itself, or another one. */
static bool
parent_of(struct sql_session *s, const struct cat_table *def, const struct ast_foreign *a,
    const struct cat_table **parent, struct cat_err *err)
{
	*parent = def;
	if (strcmp(a->table.name, def->path) == 0)
		return true;
	nam_status st = cat_find(s->cfg.cat, s->t, a->table.name, parent);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (*parent == NULL) {
		cat_error(err, "42P01", "relation \"%s\" does not exist", sql_path_shown(a->table.name));
		sql_guess_relation(s->cfg.cat, s->t, a->table.name, sql_arena(s, 1), err);
		return false;
	}
	if ((*parent)->kind != CAT_TABLE)
		return cat_error(
		    err, "42809", "referenced relation \"%s\" is not a table", cat_local((*parent)->path));
	if ((*parent)->system)
		return cat_error(err, "42501", "permission denied: \"%s\" is a system catalog",
		    cat_local((*parent)->path));
	return sql_must_have(s, *parent, CAT_MAY_REFER, err);
}

bool
sql_foreign_resolve(struct sql_session *s, const struct cat_table *def, const struct ast_foreign *a,
    struct cat_foreign *k, const struct cat_table **parent, struct cat_err *err)
{
	uint16_t from[CAT_KEY_MAX], to[CAT_KEY_MAX];
	int which;
	*k = (struct cat_foreign){ .on_delete = a->on_delete, .on_update = a->on_update };
	if (!parent_of(s, def, a, parent, err))
		return false;
	const struct cat_table *p = *parent;
	bool temp = sql_path_is_temp(def->path);
	if (temp != sql_path_is_temp(p->path))
		return cat_error(err, "42P16", "constraints on %s tables may reference only %s tables",
		    temp ? "temporary" : "permanent", temp ? "temporary" : "permanent");
	snprintf(k->table, sizeof k->table, "%s", p->path);
	if (!columns(def, a->column, a->columns, k->column, from, err) ||
	    !columns(p, a->refers, a->refs, k->refers, to, err) || !name_it(def, a, k, err))
		return false;
	unsigned refs = a->refs;
	if (refs == 0) {
		if ((refs = p->keys) == 0)
			return cat_error(err, "42704", "there is no primary key for referenced table \"%s\"",
			    cat_local(p->path));
		for (unsigned i = 0; i < refs; i++) {
			to[i] = p->key[i];
			snprintf(k->refers[i], sizeof k->refers[i], "%s", p->column[to[i]].name);
		}
	}
	for (unsigned i = 0; i < refs; i++)
		for (unsigned j = 0; j < i; j++)
			if (to[i] == to[j])
				return cat_error(err, "42830",
				    "foreign key referenced-columns list must not contain duplicates");
	if (refs != a->columns)
		return cat_error(
		    err, "42830", "number of referencing and referenced columns for foreign key disagree");
	k->keys = (uint16_t)refs;
	if (!sql_foreign_arbiter(p, k, &which))
		return cat_error(err, "42830",
		    "there is no unique constraint matching given keys for referenced table \"%s\"",
		    cat_local(p->path));
	return comparable(def, from, p, to, k, err);
}

/* ---- other tables' definitions ---------------------------------------------------------- */

/*
 * The definition of another table becomes that one. It is held, because a later statement of the
 * transaction may add a foreign key over its rows: then it is the transaction's own definition, and
 * cannot be held any more. alone: there is no later statement.
 */
static bool
put(struct sql_session *s, const struct cat_table *is, const struct cat_table *def, bool alone,
    struct cat_err *err)
{
	s->ddl = true;
	nam_status st = alone ? NAM_OK : cat_hold(s->cfg.cat, s->t, is);
	if (st == NAM_OK)
		st = cat_alter(s->cfg.cat, s->t, is, def);
	if (st == NAM_ABSENT)
		st = NAM_CONFLICT;
	return st == NAM_OK || sql_status(err, st, NULL);
}

static bool
table(struct sql_session *s, const char *name, const struct cat_table **out, struct cat_err *err)
{
	nam_status st = cat_find(s->cfg.cat, s->t, name, out);
	if (st == NAM_OK && *out == NULL)
		st = NAM_CONFLICT;
	return st == NAM_OK || sql_status(err, st, NULL);
}

/* A copy of a definition whose lists of foreign keys and referrers may be changed; room for one
 * more of each. */
static bool
copy(const struct cat_table *is, struct cat_table *def, struct nam_arena *arena, struct cat_err *err)
{
	*def = *is;
	def->foreign = nam_arena_zero(arena, (is->foreigns + 1) * sizeof *def->foreign);
	def->referrer = nam_arena_zero(arena, (is->referrers + 1) * sizeof *def->referrer);
	if (def->foreign == NULL || def->referrer == NULL)
		return sql_no_memory(err);
	if (is->foreigns > 0)
		memcpy(def->foreign, is->foreign, is->foreigns * sizeof *def->foreign);
	if (is->referrers > 0)
		memcpy(def->referrer, is->referrer, is->referrers * sizeof *def->referrer);
	return true;
}

void
sql_foreign_refer(struct cat_table *parent, const char *child, const char *name)
{
	struct cat_referrer *r = &parent->referrer[parent->referrers++];
	snprintf(r->table, sizeof r->table, "%s", child);
	snprintf(r->name, sizeof r->name, "%s", name);
}

void
sql_foreign_unrefer(struct cat_table *parent, const char *child, const char *name)
{
	for (unsigned i = 0; i < parent->referrers; i++) {
		struct cat_referrer *r = &parent->referrer[i];
		if (strcmp(r->table, child) != 0 || strcmp(r->name, name) != 0)
			continue;
		memmove(r, r + 1, (parent->referrers - i - 1) * sizeof *r);
		parent->referrers--;
		return;
	}
}

static void
take_out(struct cat_table *child, const char *name)
{
	for (unsigned i = 0; i < child->foreigns; i++) {
		struct cat_foreign *k = &child->foreign[i];
		if (strcmp(k->name, name) != 0)
			continue;
		memmove(k, k + 1, (child->foreigns - i - 1) * sizeof *k);
		child->foreigns--;
		return;
	}
}

bool
sql_foreign_link(struct sql_session *s, const char *child, const struct cat_foreign *k, bool on, bool alone,
    struct nam_arena *arena, struct cat_err *err)
{
	const struct cat_table *is;
	struct cat_table def;
	if (!table(s, k->table, &is, err) || !copy(is, &def, arena, err))
		return false;
	if (on)
		sql_foreign_refer(&def, child, k->name);
	else
		sql_foreign_unrefer(&def, child, k->name);
	return put(s, is, &def, alone, err);
}

/* Takes a foreign key out of the definition of the table that refers. */
static bool
unmake(struct sql_session *s, const char *child, const char *name, bool alone, struct nam_arena *arena,
    struct cat_err *err)
{
	const struct cat_table *is;
	struct cat_table def;
	if (!table(s, child, &is, err) || !copy(is, &def, arena, err))
		return false;
	take_out(&def, name);
	return put(s, is, &def, alone, err);
}

static const struct cat_foreign *
foreign_of(const struct cat_table *child, const char *name)
{
	for (unsigned i = 0; i < child->foreigns; i++)
		if (strcmp(child->foreign[i].name, name) == 0)
			return &child->foreign[i];
	return NULL;
}

/* The foreign key of a referrer of tab. */
static bool
referring(struct sql_session *s, const struct cat_table *tab, const struct cat_referrer *r,
    const struct cat_foreign **out, struct cat_err *err)
{
	const struct cat_table *child = tab;
	if (strcmp(r->table, tab->path) != 0 && !table(s, r->table, &child, err))
		return false;
	*out = foreign_of(child, r->name);
	return *out != NULL || sql_status(err, NAM_CONFLICT, NULL);
}

/* ---- DROP ------------------------------------------------------------------------------- */

static bool
in_list(const char *const *list, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

bool
sql_foreign_drop_table(struct sql_session *s, const struct cat_table *tab, const struct ast_stmt *ast,
    const struct sql_sink *sink, struct cat_err *err)
{
	struct nam_arena *arena = sql_arena(s, 2);
	bool alone = s->block == SQL_IDLE;
	if (arena == NULL)
		return sql_no_memory(err);
	for (unsigned i = 0; i < tab->referrers; i++) {
		const struct cat_referrer *r = &tab->referrer[i];
		bool own = strcmp(r->table, tab->path) == 0;
		if (own || (!ast->cascade && in_list(ast->names, ast->nnames, r->table)))
			continue;
		if (!ast->cascade) {
			if (ast->nnames > 1)
				cat_error(err, "2BP01",
				    "cannot drop desired object(s) because other objects depend on them");
			else
				cat_error(err, "2BP01",
				    "cannot drop table %s because other objects depend on it",
				    sql_path_shown(tab->path));
			snprintf(err->detail, sizeof err->detail,
			    "constraint %s on table %s depends on table %s", r->name,
			    sql_path_shown(r->table), sql_path_shown(tab->path));
			snprintf(err->hint, sizeof err->hint, "%s", cascade_hint);
			return false;
		}
		if (!in_list(ast->names, ast->nnames, r->table))
			sql_notice(sink, "NOTICE", "00000", "drop cascades to constraint %s on table %s",
			    r->name, sql_path_shown(r->table));
	}
	/* The others forget it, also those that go with the same statement: each is dropped on its
	 * own. */
	for (unsigned i = 0; i < tab->referrers; i++) {
		const struct cat_referrer *r = &tab->referrer[i];
		if (strcmp(r->table, tab->path) != 0 && !unmake(s, r->table, r->name, alone, arena, err))
			return false;
	}
	for (unsigned i = 0; i < tab->foreigns; i++)
		if (strcmp(tab->foreign[i].table, tab->path) != 0 &&
		    !sql_foreign_link(s, tab->path, &tab->foreign[i], false, alone, arena, err))
			return false;
	return true;
}

bool
sql_foreign_may_truncate(
    const struct cat_table *tab, const char *const *names, unsigned n, struct cat_err *err)
{
	for (unsigned i = 0; i < tab->referrers; i++) {
		const char *child = tab->referrer[i].table;
		if (strcmp(child, tab->path) == 0 || in_list(names, n, child))
			continue;
		cat_error(err, "0A000", "cannot truncate a table referenced in a foreign key constraint");
		snprintf(err->detail, sizeof err->detail, "Table \"%s\" references \"%s\".", cat_local(child),
		    cat_local(tab->path));
		snprintf(err->hint, sizeof err->hint,
		    "Truncate table \"%s\" at the same time, or use TRUNCATE ... CASCADE.", cat_local(child));
		return false;
	}
	return true;
}

/* The foreign keys that need an index of tab, or (SQL_PRIMARY_KEY) its hash: an error, or,
 * with CASCADE, dropped. what: "constraint", "index". def: tab's new definition, or NULL. */
bool
sql_foreign_need(struct sql_session *s, const struct cat_table *tab, struct cat_table *def, int which,
    const char *what, const char *name, bool cascade, const struct sql_sink *sink, struct cat_err *err)
{
	struct nam_arena *arena = sql_arena(s, 2);
	if (arena == NULL)
		return sql_no_memory(err);
	for (unsigned i = 0; i < tab->referrers; i++) {
		const struct cat_referrer *r = &tab->referrer[i];
		const struct cat_foreign *k;
		int needs;
		bool own = strcmp(r->table, tab->path) == 0;
		if (own && def != NULL && foreign_of(def, r->name) == NULL)
			continue; /* it goes as well */
		if (!referring(s, tab, r, &k, err))
			return false;
		if (!sql_foreign_arbiter(tab, k, &needs) || needs != which)
			continue;
		if (!cascade) {
			bool constraint = strcmp(what, "constraint") == 0;
			cat_error(err, "2BP01", "cannot drop %s %s%s%s because other objects depend on it",
			    what, name, constraint ? " on table " : "",
			    constraint ? cat_local(tab->path) : "");
			snprintf(err->detail, sizeof err->detail,
			    "constraint %s on table %s depends on index %s", r->name,
			    sql_path_shown(r->table), name);
			snprintf(err->hint, sizeof err->hint, "%s", cascade_hint);
			return false;
		}
		sql_notice(sink, "NOTICE", "00000", "drop cascades to constraint %s on table %s", r->name,
		    sql_path_shown(r->table));
		if (own)
			take_out(def, r->name);
		else if (!unmake(s, r->table, r->name, false, arena, err))
			return false;
		sql_foreign_unrefer(def, r->table, r->name);
	}
	return true;
}

/* ---- ALTER TABLE ------------------------------------------------------------------------ */

bool
sql_alter_foreign_begin(struct sql_alter *a)
{
	const struct cat_table *tab = a->tab;
	struct cat_table *def = a->def;
	def->foreign =
	    nam_arena_zero(a->arena, (tab->foreigns + a->ast->foreigns + 1) * sizeof *def->foreign);
	def->referrer =
	    nam_arena_zero(a->arena, (tab->referrers + a->ast->foreigns + 1) * sizeof *def->referrer);
	if (def->foreign == NULL || def->referrer == NULL)
		return sql_no_memory(a->err);
	if (tab->foreigns > 0)
		memcpy(def->foreign, tab->foreign, tab->foreigns * sizeof *def->foreign);
	if (tab->referrers > 0)
		memcpy(def->referrer, tab->referrer, tab->referrers * sizeof *def->referrer);
	return true;
}

bool
sql_alter_drop_foreign(struct sql_alter *a, const char *name, bool *found)
{
	struct cat_table *def = a->def;
	const struct cat_foreign *there = foreign_of(def, name);
	*found = there != NULL;
	if (there == NULL)
		return true;
	const struct cat_foreign k = *there;
	take_out(def, name);
	if (strcmp(k.table, a->tab->path) != 0)
		return sql_foreign_link(a->s, a->tab->path, &k, false, false, a->arena, a->err);
	sql_foreign_unrefer(def, a->tab->path, name);
	return true;
}

bool
sql_alter_drop_referred(struct sql_alter *a, const struct ast_alter *k)
{
	struct cat_table *def = a->def;
	const char *column = k->name;
	/* Foreign keys of the column go with it. */
	for (unsigned i = 0; i < def->foreigns;) {
		char name[CAT_NAME_MAX + 1];
		bool uses = false, found;
		for (unsigned j = 0; j < def->foreign[i].keys; j++)
			uses |= strcmp(def->foreign[i].column[j], column) == 0;
		i += !uses;
		if (!uses)
			continue;
		memcpy(name, def->foreign[i].name, sizeof name);
		if (!sql_alter_drop_foreign(a, name, &found))
			return false;
	}
	for (unsigned i = 0; i < def->referrers;) {
		const struct cat_referrer r = def->referrer[i];
		bool own = strcmp(r.table, a->tab->path) == 0, uses = false;
		const struct cat_foreign *f = own ? foreign_of(def, r.name) : NULL;
		if (!own && !referring(a->s, a->tab, &r, &f, a->err))
			return false;
		for (unsigned j = 0; f != NULL && j < f->keys; j++)
			uses |= strcmp(f->refers[j], column) == 0;
		if (!uses) {
			i++;
			continue;
		}
		if (!k->cascade) {
			cat_error(a->err, "2BP01",
			    "cannot drop column %s of table %s because other objects depend on it", column,
			    cat_local(a->tab->path));
			snprintf(a->err->detail, sizeof a->err->detail,
			    "constraint %s on table %s depends on column %s of table %s", r.name,
			    sql_path_shown(r.table), column, cat_local(a->tab->path));
			snprintf(a->err->hint, sizeof a->err->hint, "%s", cascade_hint);
			return false;
		}
		sql_notice(a->sink, "NOTICE", "00000", "drop cascades to constraint %s on table %s", r.name,
		    sql_path_shown(r.table));
		if (own)
			take_out(def, r.name);
		else if (!unmake(a->s, r.table, r.name, false, a->arena, a->err))
			return false;
		sql_foreign_unrefer(def, r.table, r.name);
	}
	return true;
}

bool
sql_alter_type_referred(struct sql_alter *a, const char *column)
{
	bool uses = false;
	for (unsigned i = 0; i < a->def->foreigns; i++)
		for (unsigned j = 0; j < a->def->foreign[i].keys; j++)
			uses |= strcmp(a->def->foreign[i].column[j], column) == 0;
	for (unsigned i = 0; !uses && i < a->def->referrers; i++) {
		const struct cat_foreign *f;
		if (!referring(a->s, a->tab, &a->def->referrer[i], &f, a->err))
			return false;
		for (unsigned j = 0; j < f->keys; j++)
			uses |= strcmp(f->refers[j], column) == 0;
	}
	return !uses || cat_error(a->err, "0A000",
			    "changing the type of a column of a foreign key is not supported yet");
}

/* Renames what the foreign keys of def, and those that refer to tab, know: column from of tab, or
 * (from NULL) tab itself. */
bool
sql_foreign_rename(struct sql_session *s, const struct cat_table *tab, struct cat_table *def,
    const char *from, const char *to, struct nam_arena *arena, struct cat_err *err)
{
	for (unsigned i = 0; i < def->foreigns; i++) {
		struct cat_foreign *k = &def->foreign[i];
		bool own = strcmp(k->table, tab->path) == 0;
		const struct cat_table *is;
		struct cat_table other;
		for (unsigned j = 0; from != NULL && j < k->keys; j++) {
			if (strcmp(k->column[j], from) == 0)
				snprintf(k->column[j], sizeof k->column[j], "%s", to);
			if (own && strcmp(k->refers[j], from) == 0)
				snprintf(k->refers[j], sizeof k->refers[j], "%s", to);
		}
		if (from == NULL && own)
			snprintf(k->table, sizeof k->table, "%s", to);
		if (from != NULL || own)
			continue;
		if (!table(s, k->table, &is, err) || !copy(is, &other, arena, err))
			return false;
		for (unsigned j = 0; j < other.referrers; j++)
			if (strcmp(other.referrer[j].table, tab->path) == 0)
				snprintf(other.referrer[j].table, sizeof other.referrer[j].table, "%s", to);
		if (!put(s, is, &other, false, err))
			return false;
	}
	for (unsigned i = 0; i < def->referrers; i++) {
		struct cat_referrer *r = &def->referrer[i];
		const struct cat_table *is;
		struct cat_table other;
		if (strcmp(r->table, tab->path) == 0) {
			if (from == NULL)
				snprintf(r->table, sizeof r->table, "%s", to);
			continue;
		}
		if (!table(s, r->table, &is, err) || !copy(is, &other, arena, err))
			return false;
		struct cat_foreign *k = (struct cat_foreign *)(uintptr_t)foreign_of(&other, r->name);
		if (k == NULL)
			return sql_status(err, NAM_CONFLICT, NULL);
		if (from == NULL)
			snprintf(k->table, sizeof k->table, "%s", to);
		for (unsigned j = 0; from != NULL && j < k->keys; j++)
			if (strcmp(k->refers[j], from) == 0)
				snprintf(k->refers[j], sizeof k->refers[j], "%s", to);
		if (!put(s, is, &other, false, err))
			return false;
	}
	return true;
}

/* Every row of child refers to one of parent. Both are held. */
static bool
all_refer(struct sql_alter *a, const struct cat_table *child, const struct cat_foreign *k)
{
	struct nam_arena *arena = a->arena;
	struct sql_session *s = a->s;
	const char *cols = "", *on = "", *where = "", *c1 = sql_path_text(child->path, arena),
		   *p1 = sql_path_text(k->table, arena);
	uint16_t from[CAT_KEY_MAX] = { 0 };
	union cat_val v[CAT_KEY_MAX];
	struct sql_parsed *parsed;
	for (unsigned i = 0; cols != NULL && on != NULL && where != NULL && i < k->keys; i++) {
		const char *c = sql_quote_name(k->column[i], arena), *p = sql_quote_name(k->refers[i], arena);
		if (c == NULL || p == NULL)
			return sql_no_memory(a->err);
		cols = nam_arena_printf(arena, "%s%sc.%s", cols, i ? ", " : "", c);
		on = nam_arena_printf(arena, "%s%sc.%s = p.%s", on, i ? " AND " : "", c, p);
		where = nam_arena_printf(arena, "%s AND c.%s IS NOT NULL", where, c);
		while (strcmp(child->column[from[i]].name, k->column[i]) != 0)
			from[i]++;
	}
	const char *first = sql_quote_name(k->refers[0], arena);
	char *text = cols == NULL || on == NULL || where == NULL || c1 == NULL || p1 == NULL || first == NULL
			 ? NULL
			 : nam_arena_printf(arena,
			       "SELECT %s FROM %s c LEFT JOIN %s p ON %s WHERE p.%s IS NULL%s LIMIT 1", cols,
			       c1, p1, on, first, where);
	if (text == NULL)
		return sql_no_memory(a->err);
	if (!sql_parse(s->cfg.parser, text, strlen(text), &parsed, a->err))
		return false;
	struct sql_bind_in in = { .cat = s->cfg.cat, .t = s->t, .parser = s->cfg.parser };
	struct sql_plan *p = sql_plan_make(parsed->stmt[0], &in, a->err);
	int rows = -1;
	if (p != NULL && sql_alone_begin(s, p, &p->arena, a->sink, a->err)) {
		if (sql_open(&s->x, p->root))
			rows = sql_next(&s->x, p->root);
		for (unsigned i = 0; rows > 0 && i < k->keys; i++)
			v[i] = cat_vec_at(&p->root->out.col[i], sql_sel(p->root)[0]);
		if (rows > 0)
			sql_foreign_absent(&s->x, child, k, from, v, arena);
		sql_close(&s->x, p->root);
	}
	if (p != NULL)
		sql_alone_end(s, p);
	sql_plan_free(p);
	sql_parsed_drop(parsed);
	a->err->position = 0;
	return rows == 0;
}

bool
sql_alter_add_foreign(struct sql_alter *a, const struct cat_table *is)
{
	struct sql_session *s = a->s;
	for (unsigned i = 0; i < a->ast->foreigns; i++) {
		struct cat_foreign k;
		const struct cat_table *parent;
		struct cat_table def;
		char name[CAT_PATH_MAX + 1];
		memcpy(name, is->path, sizeof name);
		if (!sql_foreign_resolve(s, is, &a->ast->foreign[i], &k, &parent, a->err))
			return false;
		bool own = parent == is;
		nam_status st = own ? NAM_OK : cat_hold(s->cfg.cat, s->t, parent);
		if (st != NAM_OK)
			return sql_status(a->err, st, parent);
		if (!all_refer(a, is, &k) || !copy(is, &def, a->arena, a->err))
			return false;
		def.foreign[def.foreigns++] = k;
		if (own)
			sql_foreign_refer(&def, name, k.name);
		if (!put(s, is, &def, false, a->err) || !table(s, name, &is, a->err) ||
		    (!own && !sql_foreign_link(s, name, &k, true, false, a->arena, a->err)))
			return false;
	}
	return true;
}
