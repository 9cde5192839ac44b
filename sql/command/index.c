/*
 * index.c -- CREATE INDEX and what ends it: definitions, the entries of rows that are there, and
 * whether keys are unique among them.
 *
 * Inside a transaction block all of it happens in that transaction, which holds the table. Outside,
 * session/index.c does it in several transactions, so that writers go on.
 */
#include <sql/command/alter.h>
#include <sql/common/guess_relation.h>
#include <sql/dml/dml.h>

#include <stdio.h>
#include <stdlib.h>

enum { SCANNED = 256 };

/* ---- what it is ----------------------------------------------------------------------- */

static bool
column_of(const struct cat_table *def, const char *name, bool constraint, uint16_t *out, struct cat_err *err)
{
	for (unsigned c = 0; c < def->columns; c++)
		if (strcmp(def->column[c].name, name) == 0) {
			*out = (uint16_t)c;
			return true;
		}
	if (constraint)
		return cat_error(err, "42703", "column \"%s\" named in key does not exist", name);
	cat_error(err, "42703", "column \"%s\" does not exist", name);
	sql_guess_in_table(def, name, err);
	return false;
}

bool
sql_index_resolve(
    const struct cat_table *def, const struct ast_index *a, struct cat_index *ix, struct cat_err *err)
{
	if (a->keys + a->includes > CAT_KEY_MAX)
		return cat_error(err, "54011", "cannot use more than %d columns in an index", CAT_KEY_MAX);
	*ix = (struct cat_index){ .keys = (uint16_t)a->keys,
		.includes = (uint16_t)a->includes,
		.unique = a->unique,
		.nulls_equal = a->nulls_equal,
		.constraint = a->constraint };
	for (unsigned k = 0; k < a->keys; k++) {
		struct cat_index_column *to = &ix->key[k];
		if (!column_of(def, a->key[k].name, a->constraint, &to->column, err))
			return false;
		for (unsigned j = 0; a->constraint && j < k; j++)
			if (ix->key[j].column == to->column)
				return cat_error(err, "42701",
				    "column \"%s\" appears twice in unique constraint", a->key[k].name);
		to->descending = a->key[k].desc;
		to->nulls_first = a->key[k].nulls_first;
		enum cat_type type = def->column[to->column].type;
		if (!cat_type_is_key(type) && cat_type_is_ordered(type))
			return cat_error(err, "0A000", "keys and indexes of type %s are not supported yet",
			    cat_type_name(type));
		if (!cat_type_is_key(type)) {
			cat_error(err, "42704",
			    "data type %s has no default operator class for access method \"btree\"",
			    cat_type_name(type));
			snprintf(err->hint, sizeof err->hint,
			    "You must specify an operator class for the index or define a default operator "
			    "class for the data type.");
			return false;
		}
	}
	for (unsigned k = 0; k < a->includes; k++)
		if (!column_of(def, a->include[k], a->constraint, &ix->include[k], err))
			return false;
	return true;
}

/* A word among the columns' part of a name: a second one alike gets a number. */
static bool
add_word(char (*word)[CAT_NAME_MAX + 1], unsigned n, const char *name)
{
	snprintf(word[n], sizeof word[n], "%s", name);
	for (unsigned more = 1;; more++) {
		bool taken = false;
		for (unsigned i = 0; i < n; i++)
			taken |= strcmp(word[i], word[n]) == 0;
		if (!taken)
			return true;
		snprintf(word[n], sizeof word[n], "%.50s%u", name, more);
	}
}

static size_t
longest_utf8(const char *s, size_t n)
{
	while (n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80)
		n--;
	return n;
}

void
sql_make_name(const char *table, const char *columns, const char *label, char out[CAT_NAME_MAX + 1])
{
	bool any = columns[0] != 0;
	size_t t = strlen(table), c = strlen(columns), room = CAT_NAME_MAX - strlen(label) - (any ? 2 : 1);
	while (t + c > room) {
		if (t > c)
			t--;
		else
			c--;
	}
	t = longest_utf8(table, t);
	c = longest_utf8(columns, c);
	snprintf(
	    out, CAT_NAME_MAX + 1, "%.*s_%.*s%s%s", (int)t, table, (int)c, columns, any ? "_" : "", label);
}

bool
sql_index_name(struct sql_session *s, const struct cat_table *def, const struct ast_index *a,
    const struct cat_index *ix, unsigned others, char out[CAT_NAME_MAX + 1], struct cat_err *err)
{
	char word[CAT_KEY_MAX][CAT_NAME_MAX + 1], columns[CAT_NAME_MAX + 1] = "", label[16];
	char path[CAT_PATH_MAX + 1];
	unsigned n = 0;
	size_t at = 0;
	if (a->name != NULL) {
		snprintf(out, CAT_NAME_MAX + 1, "%s", a->name);
		char key[CAT_NAME_MAX + 8];
		bool other = false; /* those of indexes are relations, too */
		if (def->keys > 0 && strcmp(cat_key_name(def, key), out) == 0)
			return cat_error(err, "42P07", "relation \"%s\" already exists", out);
		for (unsigned i = 0; a->constraint && i < def->checks; i++)
			other |= strcmp(def->check[i].name, out) == 0;
		for (unsigned i = 0; a->constraint && i < def->foreigns; i++)
			other |= strcmp(def->foreign[i].name, out) == 0;
		return !other ||
		       cat_error(err, "42710", "constraint \"%s\" for relation \"%s\" already exists", out,
			   cat_local(def->path));
	}
	for (unsigned k = 0; k < a->keys; k++)
		add_word(word, n++, a->key[k].name);
	for (unsigned k = 0; k < a->includes; k++)
		add_word(word, n++, a->include[k]);
	for (unsigned k = 0; k < n && at < sizeof columns - 1; k++) {
		snprintf(columns + at, sizeof columns - at, "%s%s", k ? "_" : "", word[k]);
		at = strlen(columns);
	}
	columns[longest_utf8(columns, at)] = 0;
	for (unsigned try = 0;; try++) {
		const struct cat_table *there;
		snprintf(label, sizeof label, try ? "%s%u" : "%s", a->constraint ? "key" : "idx", try);
		sql_make_name(cat_local(def->path), columns, label, out);
		cat_beside(def->path, out, path);
		nam_status st = cat_find(s->cfg.cat, s->t, path, &there);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		bool taken = there != NULL || strcmp(cat_local(def->path), out) == 0;
		for (unsigned i = 0; i < others; i++)
			taken |= strcmp(ix[i].name, out) == 0;
		for (unsigned i = 0; a->constraint && i < def->checks; i++)
			taken |= strcmp(def->check[i].name, out) == 0;
		if (!taken)
			return true;
	}
}

/* ---- the rows that are there ---------------------------------------------------------- */

/* The words of the key of row k, of which col has the key's columns. */
static bool
words_of(const struct cat_table *tab, const struct cat_index *ix, const struct cat_vec *col, unsigned k,
    uint64_t *words, bool *lax, struct nam_arena *arena, struct cat_err *err)
{
	union cat_val *v = nam_arena_zero(arena, tab->columns * sizeof *v);
	bool *null = nam_arena_zero(arena, tab->columns * sizeof *null), any;
	if (v == NULL || null == NULL)
		return sql_no_memory(err);
	for (unsigned j = 0; j < ix->keys; j++) {
		v[ix->key[j].column] = cat_vec_at(&col[j], k);
		null[ix->key[j].column] = col[j].null[k];
	}
	memset(words, 0, 8 * IDX_TREE_WORDS);
	if (!cat_index_key(tab, ix, v, null, words, &any, arena, err))
		return false;
	*lax = any && !ix->nulls_equal;
	return true;
}

/* The key's columns of n rows. */
static nam_status
key_columns(const struct cat_table *tab, const struct cat_index *ix, struct txn *t, const struct txn_row *row,
    unsigned n, struct cat_vec *col, struct nam_arena *arena)
{
	uint16_t want[CAT_KEY_MAX];
	for (unsigned k = 0; k < ix->keys; k++)
		want[k] = ix->key[k].column;
	return cat_rows_decode(tab, t, row, n, want, ix->keys, col, arena);
}

/* No row's key is too long. Such a row would have no entry. */
static bool
all_fit(struct sql_session *s, const struct cat_table *tab, const struct cat_index *ix,
    const struct txn_row *row, unsigned n, struct nam_arena *arena, struct cat_err *err)
{
	struct cat_vec col[CAT_KEY_MAX];
	uint64_t words[IDX_TREE_WORDS];
	bool lax;
	if (ix->whole)
		return true;
	nam_arena_reset(arena);
	nam_status st = key_columns(tab, ix, s->t, row, n, col, arena);
	if (st != NAM_OK)
		return sql_status(err, st, tab);
	for (unsigned k = 0; k < n; k++)
		if (!words_of(tab, ix, col, k, words, &lax, arena, err))
			return sql_index_too_long(ix, err);
	return true;
}

bool
sql_index_fill(struct sql_session *s, const struct cat_table *tab, unsigned i, const struct sql_sink *sink,
    struct cat_err *err)
{
	struct txn_table *store = (struct txn_table *)(uintptr_t)&tab->store;
	struct txn_row *rows = calloc(SCANNED, sizeof *rows);
	struct txn_scan *scan = NULL;
	struct nam_arena arena;
	uint64_t all = 0;
	unsigned n = 1;
	nam_arena_init(&arena, 0);
	nam_status st = rows != NULL ? txn_scan_open(s->t, store, &scan) : NAM_NOMEM;
	sql_prepare_exec(s, sink, err);
	bool ok = true;
	while (st == NAM_OK && ok && n > 0) {
		st = txn_scan_next(scan, rows, SCANNED, &n);
		ok = st != NAM_OK || n == 0 || all_fit(s, tab, &tab->index[i], rows, n, &arena, err);
		if (st == NAM_OK && ok && n > 0)
			st = txn_order_fill(s->t, store, i, rows, n);
		all += n;
		if (st == NAM_OK && sink->progress != NULL)
			sink->progress(sink->arg, 0, 0, all);
		ok = ok && sql_go_on(&s->x);
	}
	if (scan != NULL)
		txn_scan_close(scan);
	nam_arena_fini(&arena);
	free(rows);
	return st == NAM_OK ? ok : sql_status(err, st, tab);
}

/* The key's columns of a row, for a message. */
static void
key_words(const struct cat_table *tab, const struct cat_index *ix, const struct cat_vec *col, uint8_t floats,
    char *out, size_t max, struct nam_arena *arena)
{
	size_t at = (size_t)snprintf(out, max, "Key (");
	for (unsigned k = 0; k < ix->keys && at < max; k++)
		at += (size_t)snprintf(
		    out + at, max - at, "%s%s", k ? ", " : "", tab->column[ix->key[k].column].name);
	if (at < max)
		at += (size_t)snprintf(out + at, max - at, ")=(");
	for (unsigned k = 0; k < ix->keys && at < max; k++) {
		struct cat_str s = { "null", 4 };
		if (!col[k].null[0])
			s = cat_value_show(
			    tab->column[ix->key[k].column].type, cat_vec_at(&col[k], 0), floats, arena);
		at += (size_t)snprintf(
		    out + at, max - at, "%s%.*s", k ? ", " : "", s.len > 100 ? 100 : (int)s.len, s.p);
	}
	if (at < max)
		snprintf(out + at, max - at, ") is duplicated.");
}

static bool
duplicated(struct sql_session *s, const struct cat_table *tab, const struct cat_index *ix,
    const struct cat_vec *col, struct nam_arena *arena, struct cat_err *err)
{
	cat_error(err, "23505", "could not create unique index \"%s\"", ix->name);
	cat_error_about(err, cat_local(tab->path), NULL, ix->name);
	key_words(tab, ix, col, s->now.floats, err->detail, sizeof err->detail, arena);
	return false;
}

bool
sql_index_distinct(struct sql_session *s, const struct cat_table *tab, unsigned i,
    const struct sql_sink *sink, struct cat_err *err)
{
	const struct cat_index *ix = &tab->index[i];
	const struct idx_tree_range all = { 0 };
	struct cat_vec col[CAT_KEY_MAX];
	uint64_t last[IDX_TREE_WORDS], words[IDX_TREE_WORDS];
	struct txn_row row[64];
	struct txn_range *r = NULL;
	struct nam_arena arena;
	bool ok = true, any = false, lax = false;
	unsigned n = 1;
	nam_arena_init(&arena, 0);
	sql_prepare_exec(s, sink, err);
	nam_status st = txn_range_open(s->t, (struct txn_table *)(uintptr_t)&tab->store, i, &all, &r);
	while (st == NAM_OK && ok && n > 0) {
		nam_arena_reset(&arena);
		if ((st = txn_range_next(r, row, 64, &n)) != NAM_OK || n == 0)
			break;
		st = key_columns(tab, ix, s->t, row, n, col, &arena);
		for (unsigned k = 0; st == NAM_OK && ok && k < n; k++) {
			ok = words_of(tab, ix, col, k, words, &lax, &arena, err);
			if (ok && any && !lax && memcmp(words, last, sizeof last) == 0) {
				struct cat_vec one[CAT_KEY_MAX];
				const uint16_t at = (uint16_t)k;
				for (unsigned j = 0; ok && j < ix->keys; j++)
					ok = sql_gather(&one[j], &col[j], &at, 1, &arena);
				ok = ok ? duplicated(s, tab, ix, one, &arena, err) : sql_no_memory(err);
			}
			memcpy(last, words, sizeof last);
			any = true;
		}
		ok = ok && sql_go_on(&s->x);
	}
	if (r != NULL)
		txn_range_close(r);
	nam_arena_fini(&arena);
	return st == NAM_OK ? ok : sql_status(err, st, tab);
}

/* ---- statements ------------------------------------------------------------------------ */

static bool
table_of(struct sql_session *s, const struct ast_stmt *ast, const struct cat_table **tab, struct cat_err *err)
{
	nam_status st = cat_find(s->cfg.cat, s->t, ast->table.name, tab);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (*tab == NULL) {
		cat_error(err, "42P01", "relation \"%s\" does not exist", sql_path_shown(ast->table.name));
		sql_guess_relation(s->cfg.cat, s->t, ast->table.name, sql_arena(s, 1), err);
		err->position = ast->table.position;
		return false;
	}
	if ((*tab)->system)
		return cat_error(
		    err, "42501", "permission denied: \"%s\" is a system catalog", cat_local((*tab)->path));
	if ((*tab)->kind == CAT_TABLE)
		return sql_must_own(s, *tab, err);
	cat_error(err, "42809", "cannot create index on relation \"%s\"", cat_local((*tab)->path));
	snprintf(err->detail, sizeof err->detail, "This operation is not supported for %s.",
	    (*tab)->kind == CAT_VIEW       ? "views"
	    : (*tab)->kind == CAT_SEQUENCE ? "sequences"
					   : "indexes");
	return false;
}

/* A name that is given must be free. *skip: it is not, and IF NOT EXISTS says so. */
static bool
name_is_free(struct sql_session *s, const struct ast_stmt *ast, const struct cat_table *tab, bool *skip,
    const struct sql_sink *sink, struct cat_err *err)
{
	char path[CAT_PATH_MAX + 1];
	const char *name = ast->index->name;
	const struct cat_table *there;
	*skip = false;
	if (name == NULL)
		return true;
	if (strlen(name) > CAT_NAME_MAX)
		return cat_error(err, "42622", "identifier \"%.80s\" is too long", name);
	cat_beside(tab->path, name, path);
	nam_status st = cat_find(s->cfg.cat, s->t, path, &there);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (there == NULL)
		return true;
	if (!ast->if_exists)
		return cat_error(err, "42P07", "relation \"%s\" already exists", name);
	sql_notice(sink, "NOTICE", "42P07", "relation \"%s\" already exists, skipping", name);
	return *skip = true;
}

bool
sql_index_add(
    struct sql_session *s, const struct cat_table *tab, const struct cat_index *ix, struct cat_err *err)
{
	s->ddl = true;
	nam_status st = cat_index_add(s->cfg.cat, s->t, tab, ix);
	if (st == NAM_DUPLICATE)
		return cat_error(err, "42P07", "relation \"%s\" already exists", ix->name);
	if (st == NAM_REFUSED)
		return cat_error(err, "54000", "a table can have at most %d indexes", CAT_INDEXES_MAX);
	return st == NAM_OK || sql_status(err, st, NULL);
}

/* Drops the indexes of a table whose builders have ended: no plan has ever used them. */
static bool
drop_abandoned(struct sql_session *s, const struct cat_table **tab, struct cat_err *err)
{
	for (unsigned i = 0; i < (*tab)->indexes;) {
		const struct cat_index *ix = &(*tab)->index[i];
		if (ix->valid || !txn_process_ended(s->cfg.tw, ix->maker)) {
			i++;
			continue;
		}
		char name[CAT_PATH_MAX + 1];
		memcpy(name, (*tab)->path, sizeof name);
		s->ddl = true;
		nam_status st = cat_hold(s->cfg.cat, s->t, *tab);
		if (st == NAM_OK)
			st = cat_index_drop(s->cfg.cat, s->t, *tab, i);
		if (st == NAM_OK)
			st = cat_find(s->cfg.cat, s->t, name, tab);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
	}
	return true;
}

bool
sql_index_define(struct sql_session *s, const struct ast_stmt *ast, bool valid, char path[CAT_PATH_MAX + 1],
    const struct sql_sink *sink, struct cat_err *err)
{
	const struct cat_table *tab;
	struct cat_index ix;
	bool skip;
	path[0] = 0;
	if (!table_of(s, ast, &tab, err) || !drop_abandoned(s, &tab, err) ||
	    !name_is_free(s, ast, tab, &skip, sink, err))
		return false;
	if (skip)
		return true;
	if (!sql_index_resolve(tab, ast->index, &ix, err) ||
	    !sql_index_name(s, tab, ast->index, NULL, 0, ix.name, err))
		return false;
	ix.valid = valid;
	ix.hidden = !valid && !ast->concurrently;
	ix.maker = valid ? 0 : txn_process(s->cfg.tw);
	s->ddl = true;
	nam_status st = cat_hold(s->cfg.cat, s->t, tab);
	if (st != NAM_OK)
		return sql_status(err, st, tab);
	char its[CAT_PATH_MAX + 1];
	cat_beside(tab->path, ix.name, its);
	if (!sql_index_add(s, tab, &ix, err))
		return false;
	memcpy(path, its, sizeof its);
	return true;
}

bool
sql_index_find(
    struct sql_session *s, const char *path, const struct cat_table **tab, unsigned *i, struct cat_err *err)
{
	const struct cat_table *its;
	*tab = NULL;
	nam_status st = cat_find(s->cfg.cat, s->t, path, &its);
	if (st == NAM_OK && its != NULL && its->kind == CAT_INDEX)
		st = cat_index_table(s->cfg.cat, s->t, its, tab);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	for (*i = 0; *tab != NULL && *i < (*tab)->indexes; ++*i)
		if ((*tab)->index[*i].store.id == its->store.id)
			return true;
	*tab = NULL;
	return true;
}

bool
sql_index_build(struct sql_session *s, const char *name, const struct sql_sink *sink, struct cat_err *err)
{
	const struct cat_table *tab;
	unsigned i;
	if (!sql_index_find(s, name, &tab, &i, err))
		return false;
	if (tab == NULL)
		return cat_error(err, "42704", "index \"%s\" does not exist", cat_local(name));
	return sql_index_fill(s, tab, i, sink, err) &&
	       (!tab->index[i].unique || sql_index_distinct(s, tab, i, sink, err));
}

bool
sql_create_index(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err)
{
	char name[CAT_PATH_MAX + 1];
	if (ast->concurrently)
		return cat_error(
		    err, "25001", "CREATE INDEX CONCURRENTLY cannot run inside a transaction block");
	return sql_index_define(s, ast, true, name, sink, err) &&
	       (name[0] == 0 || sql_index_build(s, name, sink, err));
}

bool
sql_index_validate(struct sql_session *s, const char *name, struct nam_arena *arena, struct cat_err *err)
{
	const struct cat_table *tab;
	unsigned i;
	if (!sql_index_find(s, name, &tab, &i, err))
		return false;
	if (tab == NULL)
		return cat_error(err, "42704", "index \"%s\" does not exist", cat_local(name));
	struct cat_table def = *tab;
	if ((def.index = nam_arena_copy(arena, tab->index, tab->indexes * sizeof *def.index)) == NULL)
		return sql_no_memory(err);
	def.index[i].valid = true;
	def.index[i].hidden = false;
	def.index[i].maker = 0;
	s->ddl = true;
	nam_status st = cat_describe(s->cfg.cat, s->t, tab, &def);
	return st == NAM_OK || sql_status(err, st, tab);
}

/* A constraint's index goes with the constraint. */
static bool
is_required(const struct cat_table *tab, const char *name, struct cat_err *err)
{
	cat_error(err, "2BP01", "cannot drop index %s because constraint %s on table %s requires it", name,
	    name, cat_local(tab->path));
	snprintf(err->hint, sizeof err->hint, "You can drop constraint %s on table %s instead.", name,
	    cat_local(tab->path));
	return false;
}

static bool
no_index(
    struct sql_session *s, const char *name, bool if_exists, const struct sql_sink *sink, struct cat_err *err)
{
	const struct cat_table *there;
	nam_status st = cat_find(s->cfg.cat, s->t, name, &there);
	if (st != NAM_OK)
		return sql_status(err, st, NULL);
	if (there != NULL) {
		static const char *const what[] = {
			[CAT_TABLE] = "table", [CAT_VIEW] = "view", [CAT_SEQUENCE] = "sequence"
		};
		cat_error(err, "42809", "\"%s\" is not an index", cat_local(name));
		if (there->kind != CAT_INDEX)
			snprintf(err->hint, sizeof err->hint, "Use DROP %s to remove a %s.",
			    there->kind == CAT_VIEW       ? "VIEW"
			    : there->kind == CAT_SEQUENCE ? "SEQUENCE"
							  : "TABLE",
			    what[there->kind]);
		return false;
	}
	if ((st = sql_key_find(s, name, &there)) != NAM_OK)
		return sql_status(err, st, NULL);
	if (there != NULL)
		return is_required(there, cat_local(name), err);
	if (!if_exists)
		return cat_error(err, "42704", "index \"%s\" does not exist", cat_local(name));
	sql_notice(sink, "NOTICE", "00000", "index \"%s\" does not exist, skipping", cat_local(name));
	return true;
}

bool
sql_drop_index(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err)
{
	if (ast->concurrently && s->block != SQL_IDLE)
		return cat_error(
		    err, "25001", "DROP INDEX CONCURRENTLY cannot run inside a transaction block");
	if (ast->concurrently && ast->nnames > 1)
		return cat_error(
		    err, "0A000", "DROP INDEX CONCURRENTLY does not support dropping multiple objects");
	if (ast->concurrently && ast->cascade)
		return cat_error(err, "0A000", "DROP INDEX CONCURRENTLY does not support CASCADE");
	for (unsigned k = 0; k < ast->nnames; k++) {
		const struct cat_table *tab;
		unsigned i;
		if (!sql_index_find(s, ast->names[k], &tab, &i, err))
			return false;
		if (tab == NULL) {
			if (!no_index(s, ast->names[k], ast->if_exists, sink, err))
				return false;
			continue;
		}
		if (!sql_must_own(s, tab, err))
			return false;
		if (tab->index[i].constraint)
			return is_required(tab, cat_local(ast->names[k]), err);
		if (!sql_foreign_need(
			s, tab, NULL, (int)i, "index", cat_local(ast->names[k]), false, sink, err))
			return false;
		s->ddl = true;
		nam_status st = cat_hold(s->cfg.cat, s->t, tab);
		if (st == NAM_OK)
			st = cat_index_drop(s->cfg.cat, s->t, tab, i);
		if (st != NAM_OK)
			return sql_status(err, st, tab);
	}
	return true;
}

bool
sql_rename_index(
    struct sql_session *s, const struct ast_stmt *ast, const struct sql_sink *sink, struct cat_err *err)
{
	const struct cat_table *tab;
	unsigned i;
	if (strlen(ast->names[1]) > CAT_NAME_MAX)
		return cat_error(err, "42622", "identifier \"%.80s\" is too long", ast->names[1]);
	if (!sql_index_find(s, ast->names[0], &tab, &i, err))
		return false;
	if (tab == NULL) {
		const struct cat_table *there, *keyed = NULL;
		nam_status st = cat_find(s->cfg.cat, s->t, ast->names[0], &there);
		if (st == NAM_OK && there == NULL)
			st = sql_key_find(s, ast->names[0], &keyed);
		if (st != NAM_OK)
			return sql_status(err, st, NULL);
		if (there != NULL) { /* as PostgreSQL: any relation's name is changed */
			struct ast_alter to = { .kind = AST_RENAME_TABLE, .to = ast->names[1] };
			struct ast_stmt any = { .kind = AST_ALTER_TABLE, .alter = &to, .alters = 1 };
			any.table.name = ast->names[0];
			return sql_alter_table(s, &any, sink, sql_arena(s, 0), err);
		}
		if (keyed != NULL && !sql_must_own(s, keyed, err))
			return false;
		if (keyed != NULL)
			return sql_key_rename(s, keyed, ast->names[1], err);
		if (!ast->if_exists)
			return cat_error(
			    err, "42P01", "relation \"%s\" does not exist", sql_path_shown(ast->names[0]));
		sql_notice(sink, "NOTICE", "00000", "relation \"%s\" does not exist, skipping",
		    sql_path_shown(ast->names[0]));
		return true;
	}
	if (!sql_must_own(s, tab, err))
		return false;
	s->ddl = true;
	nam_status st = cat_hold(s->cfg.cat, s->t, tab);
	if (st == NAM_OK)
		st = cat_index_rename(s->cfg.cat, s->t, tab, i, ast->names[1]);
	if (st == NAM_DUPLICATE)
		return cat_error(err, "42P07", "relation \"%s\" already exists", ast->names[1]);
	return st == NAM_OK || sql_status(err, st, tab);
}
