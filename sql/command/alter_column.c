/*
 * alter_column.c -- ALTER TABLE's ADD COLUMN, DROP COLUMN, ALTER COLUMN TYPE and primary keys: what
 * depends on a column, and rewriting all rows.
 *
 * Rows stay as they are when columns come or go, as long as the new ones fit into the slots there
 * are: see places in catalog/row_format.h. A table that is rewritten becomes another one under its
 * name: INSERT INTO the new SELECT ... FROM the old, in the transaction that asks. Whether the rest
 * of the catalog can live without a column is found out by binding it against a definition that
 * does not have it.
 */
#include <sql/command/alter.h>
#include <sql/compat/postgres.h>
#include <sql/dml/dml.h>

#include <stdio.h>
#include <stdlib.h>

/* The old table while the new one has its name: no identifier begins so. */
static const char old_name[] = "\001old";

/* What names mean while a plan is made: one or two tables are others than the catalog says. */
struct stand_in {
	struct sql_session *s;
	const char *name[2];
	const struct cat_table *tab[2];
};

static nam_status
find(void *arg, const char *name, const struct cat_table **out)
{
	const struct stand_in *f = arg;
	for (unsigned i = 0; i < 2; i++)
		if (f->name[i] != NULL && strcmp(name, f->name[i]) == 0) {
			*out = f->tab[i];
			return NAM_OK;
		}
	return cat_find(f->s->cfg.cat, f->s->t, name, out);
}

static struct sql_bind_in
seen_by(struct stand_in *f)
{
	return (struct sql_bind_in){
		.cat = f->s->cfg.cat, .t = f->s->t, .parser = f->s->cfg.parser, .find = find, .find_arg = f
	};
}

/* ---- what depends on a column ---------------------------------------------------------- */

static bool
mentions(const struct ast_expr *e, const char *column)
{
	bool yes = e->kind == AST_COLUMN && strcmp(e->text, column) == 0;
	for (unsigned i = 0; !yes && i < e->nargs; i++)
		yes = mentions(e->args[i], column);
	return yes;
}

/* True if a CHECK constraint uses that column. */
static bool
check_reads(struct sql_session *s, const char *text, const char *column, bool *out, struct nam_arena *arena,
    struct cat_err *err)
{
	char *whole = nam_arena_printf(arena, "SELECT %s", text);
	struct sql_parsed *p;
	if (whole == NULL)
		return sql_no_memory(err);
	if (!sql_parse(s->cfg.parser, whole, strlen(whole), &p, err))
		return false;
	*out = mentions(p->stmt[0]->select->target[0].e, column);
	sql_parsed_drop(p);
	return true;
}

/* True if a view keeps its columns when def replaces tab's definition. */
static bool
view_stands(struct sql_alter *a, const struct cat_table *view, const struct cat_table *def, bool *out)
{
	struct stand_in f = { .s = a->s, .name = { a->tab->path }, .tab = { def } };
	struct sql_bind_in in = seen_by(&f);
	struct sql_parsed *parsed;
	if (!sql_parse(a->s->cfg.parser, view->view, strlen(view->view), &parsed, a->err))
		return false;
	struct cat_err why = { 0 };
	struct sql_plan *p = sql_plan_make(parsed->stmt[0], &in, &why);
	*out = p != NULL && p->columns == view->columns;
	for (unsigned i = 0; *out && i < p->columns; i++)
		*out = p->column[i].type == view->column[i].type &&
		       p->column[i].domain == view->column[i].domain;
	sql_plan_free(p);
	sql_parsed_drop(parsed);
	return p != NULL || strncmp(why.sqlstate, "53", 2) != 0 ||
	       cat_error(a->err, why.sqlstate, "%s", why.text);
}

/* Views that read tab and do not stand by def. NULL in *out ends the list. */
static bool
views_against(struct sql_alter *a, const struct cat_table *def, const struct cat_table ***out)
{
	const struct cat_table **list;
	unsigned n, m = 0;
	nam_status st = cat_list(a->s->cfg.cat, a->s->t, &list, &n, a->arena);
	if (st != NAM_OK)
		return sql_status(a->err, st, NULL);
	const struct cat_table **bad = nam_arena_zero(a->arena, (n + 1) * sizeof *bad);
	if (bad == NULL)
		return sql_no_memory(a->err);
	for (unsigned i = 0; i < n; i++) {
		bool reads = false, stands = true;
		for (unsigned k = 0; list[i]->kind == CAT_VIEW && k < list[i]->uses; k++)
			reads |= strcmp(list[i]->use[k], a->tab->path) == 0;
		if (reads && !view_stands(a, list[i], def, &stands))
			return false;
		if (!stands)
			bad[m++] = list[i];
	}
	*out = bad;
	return true;
}

/* The definition without column c; what it shares with def stays shared. */
static bool
without(struct sql_alter *a, unsigned c, struct cat_table *out)
{
	const struct cat_table *def = a->def;
	*out = *def;
	out->columns--;
	out->keys = 0;
	if ((out->column = nam_arena_zero(a->arena, (def->columns + 1u) * sizeof *out->column)) == NULL)
		return sql_no_memory(a->err);
	memcpy(out->column, def->column, c * sizeof *out->column);
	memcpy(out->column + c, def->column + c + 1, (def->columns - c - 1) * sizeof *out->column);
	return true;
}

bool
sql_alter_views(struct sql_alter *a)
{
	const struct cat_table **bad;
	if (!views_against(a, a->def, &bad))
		return false;
	return bad[0] == NULL ||
	       cat_error(a->err, "0A000",
		   "adding a column to a table that view \"%s\" reads with * is not supported yet",
		   sql_path_shown(bad[0]->path));
}

/* ---- the actions ------------------------------------------------------------------------ */

bool
sql_alter_add(struct sql_alter *a, const struct ast_alter *k)
{
	const struct ast_column *add = &a->ast->column[k->index];
	struct cat_table *def = a->def;
	struct sql_bind_in in = { .cat = a->s->cfg.cat, .t = a->s->t, .parser = a->s->cfg.parser };
	for (unsigned i = 0; i < def->columns; i++) {
		if (strcmp(def->column[i].name, add->name) != 0)
			continue;
		if (!k->if_exists)
			return cat_error(a->err, "42701", "column \"%s\" of relation \"%s\" already exists",
			    add->name, cat_local(def->path));
		sql_notice(a->sink, "NOTICE", "42701",
		    "column \"%s\" of relation \"%s\" already exists, skipping", add->name,
		    cat_local(def->path));
		return true;
	}
	if (sql_system_column(add->name))
		return cat_error(
		    a->err, "42701", "column name \"%s\" conflicts with a system column name", add->name);
	if (strlen(add->name) > CAT_NAME_MAX)
		return cat_error(a->err, "42622", "identifier \"%.80s\" is too long", add->name);
	if (def->columns == CAT_COLUMNS_MAX)
		return cat_error(a->err, "54011", "tables can have at most %d columns", CAT_COLUMNS_MAX);
	struct sql_alter_from *from = &a->from[def->columns];
	struct cat_column is = { 0 };
	if (!sql_column_of(a->s, add->type, add->typmod, &add->named, &is, a->err))
		return false;
	struct cat_column *c = &def->column[def->columns++];
	*c = (struct cat_column){ .type = is.type,
		.typmod = is.typmod,
		.domain = is.domain,
		.not_null = add->not_null,
		.dflt = add->dflt_text,
		.identity = add->identity };
	strcpy(c->name, add->name);
	*from = (struct sql_alter_from){ .was = -1, .added = add };
	a->reshape = true;
	a->rewrite |= add->seq != NULL; /* each row gets another value */
	if (!sql_plan_try(def, add, 1, NULL, 0, &in, a->err))
		return false;
	return add->seq == NULL ||
	       sql_sequence_name(a->s, def->path, c->name, from->seq, &c->dflt, a->arena, a->err);
}

/* The sequence that a column's default draws from goes with the column if the table owns it. */
static bool
sequence_of(struct sql_alter *a, const struct cat_column *c)
{
	const struct cat_table **list;
	unsigned n;
	if (c->dflt == NULL)
		return true;
	nam_status st = cat_list(a->s->cfg.cat, a->s->t, &list, &n, a->arena);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		if (list[i]->kind != CAT_SEQUENCE || list[i]->seq.owner != a->tab->store.id)
			continue;
		const char *call = sql_nextval_text(list[i]->path, a->arena);
		if (call == NULL)
			return sql_no_memory(a->err);
		if (strcmp(c->dflt, call) == 0)
			memcpy(a->gone[a->gones++], list[i]->path, sizeof *a->gone);
	}
	return st == NAM_OK || sql_status(a->err, st, NULL);
}

/* Views that read the column: an error, or, with CASCADE, dropped. */
static bool
drop_views(struct sql_alter *a, const struct ast_alter *k, const struct cat_table *less)
{
	const struct cat_table **bad;
	struct ast_stmt how = { .cascade = k->cascade };
	if (!views_against(a, less, &bad))
		return false;
	for (; *bad != NULL; bad++) {
		const struct cat_table *still;
		nam_status st = cat_find(a->s->cfg.cat, a->s->t, (*bad)->path, &still);
		if (st == NAM_OK && still != *bad)
			continue; /* gone by way of another one */
		if (!k->cascade) {
			cat_error(a->err, "2BP01",
			    "cannot drop column %s of table %s because other objects depend on it", k->name,
			    cat_local(a->tab->path));
			snprintf(a->err->detail, sizeof a->err->detail,
			    "view %s depends on column %s of table %s", cat_local((*bad)->path), k->name,
			    cat_local(a->tab->path));
			snprintf(a->err->hint, sizeof a->err->hint,
			    "Use DROP ... CASCADE to drop the dependent objects too.");
			return false;
		}
		if (st == NAM_OK && !sql_drop_dependents(a->s, *bad, &how, a->sink, a->err))
			return false;
		sql_notice(
		    a->sink, "NOTICE", "00000", "drop cascades to view %s", sql_path_shown((*bad)->path));
		if (st == NAM_OK)
			st = cat_drop(a->s->cfg.cat, a->s->t, *bad);
		if (st != NAM_OK)
			return sql_status(a->err, st, NULL);
	}
	return true;
}

bool
sql_alter_drop(struct sql_alter *a, const struct ast_alter *k)
{
	struct cat_table *def = a->def, less;
	unsigned c = 0;
	while (c < def->columns && strcmp(def->column[c].name, k->name) != 0)
		c++;
	if (c == def->columns && k->if_exists) {
		sql_notice(a->sink, "NOTICE", "00000",
		    "column \"%s\" of relation \"%s\" does not exist, skipping", k->name,
		    cat_local(def->path));
		return true;
	}
	if (!sql_alter_column(def, k->name, &c, a->err) || !sql_alter_drop_referred(a, k) ||
	    !without(a, c, &less) || !drop_views(a, k, &less) || !sequence_of(a, &def->column[c]))
		return false;
	for (unsigned i = 0; i < def->checks;) {
		bool reads = false;
		if (!check_reads(a->s, def->check[i].text, k->name, &reads, a->arena, a->err))
			return false;
		if (!reads) {
			i++;
			continue;
		}
		memmove(def->check + i, def->check + i + 1, (def->checks - i - 1) * sizeof *def->check);
		def->checks--;
	}
	bool key = false;
	for (unsigned i = 0; i < def->keys; i++)
		key |= def->key[i] == c;
	for (unsigned i = 0; !key && i < def->keys; i++)
		def->key[i] -= def->key[i] > c;
	if (key) {
		def->keys = 0;
		def->key_name[0] = 0;
		a->rewrite = true;
	}
	memmove(def->column + c, def->column + c + 1, (def->columns - c - 1) * sizeof *def->column);
	memmove(a->from + c, a->from + c + 1, (def->columns - c - 1u) * sizeof *a->from);
	def->columns--;
	a->reshape = true;
	return true;
}

/* USING is an expression over one row. */
static bool
plain(const struct ast_expr *e, struct cat_err *err)
{
	bool sub = e->kind == AST_SUB;
	if (sub || e->kind == AST_WINDOW) {
		cat_error(err, sub ? "0A000" : "42P20", "%s",
		    sub ? "cannot use subquery in transform expression"
			: "window functions are not allowed in transform expressions");
		err->position = e->position;
		return false;
	}
	for (unsigned i = 0; i < e->nargs; i++)
		if (!plain(e->args[i], err))
			return false;
	return true;
}

/* INSERT INTO the new table (columns) SELECT what they become FROM the old one: column `only`
 * alone, or (-1) all. */
static struct sql_plan *
copy_plan(struct sql_alter *a, const struct cat_table *to, int only)
{
	struct stand_in f = { .s = a->s, .name = { to->path, old_name }, .tab = { to, a->tab } };
	struct sql_bind_in in = seen_by(&f);
	struct ast_stmt *ins = nam_arena_zero(a->arena, sizeof *ins);
	struct ast_select *q = nam_arena_zero(a->arena, sizeof *q);
	struct ast_table *old = nam_arena_zero(a->arena, sizeof *old);
	struct ast_expr *e = nam_arena_zero(a->arena, to->columns * sizeof *e);
	if (ins == NULL || q == NULL || old == NULL || e == NULL ||
	    (ins->names = nam_arena_zero(a->arena, to->columns * sizeof *ins->names)) == NULL ||
	    (ins->name_at = nam_arena_zero(a->arena, to->columns * sizeof *ins->name_at)) == NULL ||
	    (q->target = nam_arena_zero(a->arena, to->columns * sizeof *q->target)) == NULL) {
		sql_no_memory(a->err);
		return NULL;
	}
	*old = (struct ast_table){
		.name = old_name, .alias = cat_local(a->tab->path), .schema = true, .path = true
	};
	q->table = old;
	q->tables = 1;
	ins->kind = AST_INSERT;
	ins->table = (struct ast_table){
		.name = to->path, .alias = cat_local(to->path), .schema = true, .path = true
	};
	ins->select = q;
	ins->overriding = 's';
	ins->depth = a->ast->depth + 1;
	for (unsigned c = 0; c < to->columns; c++) {
		const struct sql_alter_from *from = &a->from[c];
		if (from->was < 0 || (only >= 0 && (unsigned)only != c))
			continue;
		ins->names[ins->nnames++] = to->column[c].name;
		e[c] = (struct ast_expr){ .kind = AST_COLUMN, .text = a->tab->column[from->was].name };
		q->target[q->targets++].e = from->using_ ? (struct ast_expr *)(uintptr_t)from->using_ : &e[c];
	}
	if (ins->nnames == 0) { /* nothing stays: each row still becomes one */
		const struct ast_column *add = a->from[0].added;
		if (add->seq != NULL) {
			cat_error(a->err, "0A000",
			    "replacing all columns of a table, the first by a sequence, is not supported "
			    "yet");
			return NULL;
		}
		ins->names[ins->nnames++] = to->column[0].name;
		e[0] = (struct ast_expr){ .kind = AST_NULL };
		q->target[q->targets++].e = add->dflt ? add->dflt : &e[0];
	}
	struct sql_plan *p = sql_plan_make(ins, &in, a->err);
	/* Then there was an aggregate: it would make one row of all. */
	for (const struct sql_node *n = p ? p->root : NULL; n != NULL; n = n->child)
		if (n->kind == SQL_NODE_AGG) {
			sql_plan_free(p);
			cat_error(
			    a->err, "42803", "aggregate functions are not allowed in transform expressions");
			return NULL;
		}
	return p;
}

/* True if the bytes of every value of one type are also a right value of the other. */
static bool
same_bytes(const struct cat_column *was, const struct cat_column *is)
{
	if (was->type != is->type)
		return false;
	if (was->typmod == is->typmod || is->typmod == -1)
		return true;
	if (was->type == CAT_TEXT)
		return is->typmod == CAT_VARCHAR || (was->typmod > CAT_VARCHAR && was->typmod <= is->typmod);
	return was->type == CAT_NUMERIC && was->typmod != -1 &&
	       (was->typmod & 0xffff) == (is->typmod & 0xffff) && was->typmod <= is->typmod;
}

/* True if values of the old type can be assigned to the new one. If not, the error names the
 * column. */
static bool
assignable(struct sql_alter *a, const struct ast_alter *k, unsigned c, const char *what, const char *hint)
{
	struct cat_table bare = *a->def; /* its checks are asked when all is said */
	bare.checks = 0;
	struct sql_plan *p = copy_plan(a, &bare, (int)c);
	sql_plan_free(p);
	if (p != NULL)
		return true;
	if (strcmp(a->err->sqlstate, "42804") != 0)
		return false;
	cat_error(a->err, "42804", "%s \"%s\" cannot be cast automatically to type %s", what, k->name,
	    cat_type_name(k->type));
	a->err->position = 0;
	snprintf(a->err->hint, sizeof a->err->hint, "%s", hint);
	return false;
}

bool
sql_alter_type(struct sql_alter *a, const struct ast_alter *k)
{
	struct cat_table *def = a->def, less;
	unsigned c = 0;
	if (!sql_alter_column(def, k->name, &c, a->err))
		return false;
	struct cat_column *col = &def->column[c];
	struct sql_alter_from *from = &a->from[c];
	const struct cat_column was = *col;
	struct ast_alter found = *k;
	struct cat_column is = { 0 };
	if (!sql_column_of(a->s, k->type, k->typmod, &k->named, &is, a->err))
		return false;
	found.type = is.type;
	found.typmod = is.typmod;
	k = &found;
	if (from->typed)
		return cat_error(a->err, "0A000", "cannot alter type of column \"%s\" twice", k->name);
	if (col->identity && !cat_type_is_int(k->type))
		return cat_error(
		    a->err, "22023", "identity column type must be smallint, integer, or bigint");
	for (unsigned i = 0; i < def->keys; i++)
		if (def->key[i] == c && !cat_type_is_key(k->type))
			return cat_error(a->err, "42704",
			    "data type %s has no default operator class for access method \"btree\"",
			    cat_type_name(k->type));
	if (k->e != NULL && !plain(k->e, a->err))
		return false;
	col->type = k->type;
	col->typmod = k->typmod;
	col->domain = is.domain;
	if (k->e == NULL && same_bytes(&was, col) && is.domain == was.domain)
		return true;
	if (!sql_alter_type_referred(a, k->name))
		return false;
	const char *hint = nam_arena_printf(
	    a->arena, "You might need to specify \"USING %s::%s\".", k->name, cat_type_name(k->type));
	const char *dflt = col->dflt;
	col->dflt = NULL; /* of the old type still */
	col->stats = NULL;
	from->typed = true;
	if (hint == NULL)
		return sql_no_memory(a->err);
	if (k->e != NULL) {
		from->using_ = k->e;
		if (!assignable(a, k, c, "result of USING clause for column",
			"You might need to add an explicit cast."))
			return false;
		/* a literal has the type of the column, any other default one of its own */
		if (dflt != NULL && dflt[0] != '\'')
			col->dflt = dflt;
		else
			from->using_ = NULL;
		if (dflt != NULL && strcmp(dflt, "NULL") != 0 &&
		    !assignable(a, k, c, "default for column", ""))
			return false;
		from->using_ = k->e;
	} else if (!assignable(a, k, c, "column", hint)) {
		return false;
	}
	col->dflt = dflt;
	a->rewrite = true;
	const struct cat_table **bad;
	if (!without(a, c, &less) || !views_against(a, &less, &bad))
		return false;
	if (bad[0] == NULL)
		return true;
	cat_error(a->err, "0A000", "cannot alter type of a column used by a view or rule");
	snprintf(a->err->detail, sizeof a->err->detail, "rule _RETURN on view %s depends on column \"%s\"",
	    sql_path_shown(bad[0]->path), k->name);
	return false;
}

bool
sql_alter_key(struct sql_alter *a)
{
	struct cat_table *def = a->def;
	unsigned c;
	for (unsigned i = 0; i < a->ast->nnames; i++)
		if (!sql_alter_column(def, a->ast->names[i], &c, a->err))
			return false;
	if (def->keys > 0)
		return cat_error(a->err, "42P16", "multiple primary keys for table \"%s\" are not allowed",
		    cat_local(def->path));
	for (unsigned i = 0; a->ast->key_name != NULL && i < def->checks; i++)
		if (strcmp(def->check[i].name, a->ast->key_name) == 0)
			return cat_error(a->err, "42710",
			    "constraint \"%s\" for relation \"%s\" already exists", a->ast->key_name,
			    cat_local(def->path));
	snprintf(def->key_name, sizeof def->key_name, "%s", a->ast->key_name ? a->ast->key_name : "");
	a->rewrite = true;
	if (!sql_key_columns(def, a->ast, a->err))
		return false;
	/* NULLs are looked for where they are: a row without a key could not be written. */
	for (unsigned i = 0; i < def->keys; i++) {
		const struct cat_column *col = &def->column[def->key[i]];
		const struct sql_alter_from *from = &a->from[def->key[i]];
		bool bad = false;
		if (from->typed || (from->was < 0 && col->dflt != NULL))
			continue;
		const char *name = from->was < 0 ? NULL : sql_quote_name(col->name, a->arena);
		char *cond = from->was < 0 ? nam_arena_printf(a->arena, "true")
			     : name        ? nam_arena_printf(a->arena, "%s IS NULL", name)
					   : NULL;
		if (cond == NULL)
			return sql_no_memory(a->err);
		if (!sql_any_row(a->s, a->tab, cond, &bad, a->sink, a->arena, a->err))
			return false;
		if (bad) {
			cat_error(a->err, "23502", "column \"%s\" of relation \"%s\" contains null values",
			    col->name, cat_local(def->path));
			return cat_error_about(a->err, cat_local(def->path), col->name, NULL);
		}
	}
	return true;
}

/* ---- places: rows that stay as they are ---------------------------------------------------- */

/* The value that existing rows show for an added column: its default, if that is constant. */
static bool
missing(struct sql_alter *a, const struct sql_plan *p, unsigned c)
{
	struct cat_column *col = &a->def->column[c];
	const struct sql_expr *e = p->rules ? p->rules->dflt[c] : NULL;
	struct cat_datum d;
	col->missing = NULL;
	if (e == NULL)
		return true;
	if (!e->pure) {
		a->rewrite = true;
		return true;
	}
	a->s->x.env.arena = a->arena;
	if (!sql_eval_one(e, &a->s->x.env, &d))
		return false;
	if (d.null)
		return true;
	if (col->typmod != -1 && !cat_value_fit(col->type, col->typmod, &d.v, a->arena, a->err))
		return false;
	struct cat_str text = cat_value_out(cat_type_plain(col->type), d.v, a->arena);
	col->missing = nam_arena_str(a->arena, text.p, text.len);
	return col->missing != NULL || sql_no_memory(a->err);
}

bool
sql_alter_places(struct sql_alter *a)
{
	const struct cat_table *tab = a->tab;
	struct cat_table *def = a->def;
	unsigned places = tab->places;
	def->place = nam_arena_zero(a->arena, ((size_t)tab->places + def->columns + 1) * sizeof *def->place);
	if (def->place == NULL)
		return sql_no_memory(a->err);
	struct sql_bind_in in = { .cat = a->s->cfg.cat, .t = a->s->t, .parser = a->s->cfg.parser };
	struct sql_plan *p = sql_plan_rules(def, &in, a->err);
	if (p == NULL)
		return false;
	sql_prepare_exec(a->s, a->sink, a->err);
	a->s->x.env.arena = a->arena;
	for (unsigned k = 0; k < places; k++)
		def->place[k].type = tab->place ? tab->place[k].type : tab->column[k].type;
	bool ok = true;
	for (unsigned c = 0; ok && c < def->columns; c++) {
		int was = a->from[c].was;
		unsigned k = was >= 0 ? tab->column[was].place : places++;
		def->place[k].type = def->column[c].type;
		def->place[k].column = (uint16_t)(c + 1);
		ok = was >= 0 || missing(a, p, c);
	}
	sql_plan_free(p);
	if (!ok)
		return false;
	def->first = tab->first;
	def->places = (uint16_t)places;
	struct cat_table probe = *def;
	a->rewrite |= places > CAT_COLUMNS_MAX || !cat_table_layout(&probe, a->err) ||
		      !cat_table_fits(&probe, tab->store.row_max);
	sql_err_clear(a->err);
	return true;
}

bool
sql_alter_sequences(struct sql_alter *a)
{
	nam_status st = NAM_OK;
	for (unsigned i = 0; st == NAM_OK && i < a->gones; i++) {
		const struct cat_table *seq;
		if ((st = cat_find(a->s->cfg.cat, a->s->t, a->gone[i], &seq)) == NAM_OK && seq != NULL)
			st = cat_drop(a->s->cfg.cat, a->s->t, seq);
	}
	return st == NAM_OK || sql_status(a->err, st, NULL);
}

/* ---- the rows ------------------------------------------------------------------------------ */

/* Sequences that feed the table's columns feed those of the new one, or are dropped with their
 * column. */
static bool
sequences(struct sql_alter *a, const struct cat_table *owner)
{
	const struct cat_table **list;
	struct cat *cat = a->s->cfg.cat;
	unsigned n;
	nam_status st = cat_list(cat, a->s->t, &list, &n, a->arena);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		struct cat_table moved = *list[i];
		bool gone = false;
		if (moved.kind != CAT_SEQUENCE || moved.seq.owner != a->tab->store.id)
			continue;
		for (unsigned k = 0; k < a->gones; k++)
			gone |= strcmp(a->gone[k], moved.path) == 0;
		moved.seq.owner = owner->store.id;
		if ((st = cat_drop(cat, a->s->t, list[i])) == NAM_OK && !gone)
			st = cat_create(cat, a->s->t, &moved);
	}
	if (st != NAM_OK)
		return sql_status(a->err, st, NULL);
	for (unsigned c = 0; c < a->def->columns; c++)
		if (a->from[c].seq[0] != 0 &&
		    !sql_make_sequence(a->s, a->from[c].seq, a->from[c].added->seq, owner, a->err))
			return false;
	return true;
}

bool
sql_alter_rewrite(struct sql_alter *a, const struct cat_table *def, const struct cat_table **made)
{
	static const struct sql_sink silent;
	struct cat *cat = a->s->cfg.cat;
	struct cat_table fresh = *def;
	uint64_t rows;
	fresh.store = (struct txn_table){ .slots = a->tab->store.slots };
	fresh.generation = 0;
	nam_status st = cat_drop(cat, a->s->t, a->tab);
	if (st == NAM_OK && !cat_table_layout(&fresh, a->err))
		return false;
	if (st == NAM_OK)
		st = cat_create(cat, a->s->t, &fresh);
	if (st == NAM_OK)
		st = cat_find(cat, a->s->t, def->path, made);
	if (st != NAM_OK)
		return sql_status(a->err, st, NULL);
	if (!sequences(a, *made))
		return false;
	struct sql_plan *p = copy_plan(a, *made, -1);
	if (p == NULL)
		return false;
	a->s->foreign_off = true;
	bool ok = sql_alone_begin(a->s, p, &p->arena, &silent, a->err) && sql_plan_run(a->s, p, &rows);
	a->s->foreign_off = false;
	sql_alone_end(a->s, p);
	sql_plan_free(p);
	if (ok || strcmp(a->err->sqlstate, "23505") != 0)
		return ok;
	/* "already exists" is said of a row that comes later; here they are all there. */
	char *end = strstr(a->err->detail, " already exists.");
	if (end != NULL)
		snprintf(end, sizeof a->err->detail - (size_t)(end - a->err->detail), " is duplicated.");
	snprintf(
	    a->err->text, sizeof a->err->text, "could not create unique index \"%s\"", a->err->constraint);
	return false;
}
