/* system.c -- nam_tables, nam_columns and nam_extras: the catalog's own tables, and how a
 * definition becomes their rows. */
#include <base/assert.h>
#include <base/log.h>
#include <catalog/acl.h>
#include <catalog/catalog_internal.h>
#include <catalog/role.h>
#include <net/region_format.h>

#include <stdio.h>
#include <stdlib.h>

/*
 * The first process makes them: each process that finds a root word empty creates the table and
 * offers its anchor by CAS; the loser gives its own back. No process waits for another, so each may
 * die at any step.
 */

#define COLUMN(n, t, m)                                                                                      \
	{                                                                                                    \
		.name = n, .type = t, .typmod = m, .not_null = true                                          \
	}
static const struct cat_column tables_columns[T_ALL] = {
	[T_NAME] = COLUMN("name", CAT_TEXT, CAT_PATH_MAX),
	[T_ID] = COLUMN("id", CAT_INT8, -1),
	[T_COLUMNS] = COLUMN("columns", CAT_INT4, -1),
	[T_SLOTS] = COLUMN("slots", CAT_INT4, -1),
	[T_ROW_BYTES] = COLUMN("row_bytes", CAT_INT4, -1),
	[T_ANCHOR] = COLUMN("anchor", CAT_INT8, -1),
};
static const struct cat_column columns_columns[C_ALL] = {
	[C_TABLE] = COLUMN("table_id", CAT_INT8, -1),
	[C_NUMBER] = COLUMN("number", CAT_INT4, -1),
	[C_NAME] = COLUMN("name", CAT_TEXT, CAT_NAME_MAX),
	[C_TYPE] = COLUMN("type", CAT_TEXT, 40),
	[C_NOT_NULL] = COLUMN("not_null", CAT_BOOL, -1),
	[C_KEY] = COLUMN("key", CAT_INT4, -1), /* place in the primary key, from 1; 0 = none */
	[C_KIND] = COLUMN("kind", CAT_INT4, -1),
	[C_TYPMOD] = COLUMN("typmod", CAT_INT4, -1),
};
static const struct cat_column extras_columns[X_ALL] = {
	[X_TABLE] = COLUMN("table_id", CAT_INT8, -1),
	[X_KIND] = COLUMN("kind", CAT_INT4, -1),
	[X_NUMBER] = COLUMN("number", CAT_INT4, -1),
	[X_NAME] = COLUMN("name", CAT_TEXT, CAT_PATH_MAX),
	[X_TEXT] = COLUMN("text", CAT_TEXT, -1),
};
/* role.c's */
static const struct cat_column roles_columns[] = {
	COLUMN("name", CAT_TEXT, CAT_NAME_MAX),
	COLUMN("flags", CAT_INT8, -1),
	COLUMN("secret", CAT_TEXT, -1),
};
static const struct cat_column members_columns[] = {
	COLUMN("role", CAT_TEXT, CAT_NAME_MAX),
	COLUMN("member", CAT_TEXT, CAT_NAME_MAX),
	COLUMN("admin", CAT_BOOL, -1),
};
static const struct {
	const char *name;
	const struct cat_column *column;
	uint16_t columns, keys, key[KEY_WIDEST];
	unsigned root;
} system_table[CAT_SYSTEM] = {
	{ "nam_tables", tables_columns, T_ALL, 1, { T_NAME }, CAT_ROOT_TABLES },
	{ "nam_columns", columns_columns, C_ALL, 2, { C_TABLE, C_NUMBER }, CAT_ROOT_COLUMNS },
	{ "nam_extras", extras_columns, X_ALL, 3, { X_TABLE, X_KIND, X_NUMBER }, CAT_ROOT_EXTRAS },
	{ "nam_roles", roles_columns, 3, 1, { 0 }, CAT_ROOT_ROLES },
	{ "nam_members", members_columns, 3, 2, { 0, 1 }, CAT_ROOT_MEMBERS },
};

static nam_status
bootstrap_one(struct cat *c, struct txn_worker *tw, unsigned i)
{
	struct net_worker *w = txn_worker_net(tw);
	struct cat_table def = {
		.columns = system_table[i].columns,
		.column = (struct cat_column *)(uintptr_t)system_table[i].column,
		.keys = system_table[i].keys,
		.key = { system_table[i].key[0], system_table[i].key[1], system_table[i].key[2] },
		.system = true,
		.store = { .id = i + 1, .slots = 2, .vital = true },
	};
	struct cat_err err;
	snprintf(def.path, sizeof def.path, "%s", system_table[i].name);
	struct cat_entry *e = cat_entry_new(&def);
	if (e == NULL)
		return NAM_NOMEM;
	NAM_ASSERT(cat_table_layout(&e->def, &err));

	net_addr root = txn_db_root(c->db, system_table[i].root);
	uint64_t word = 0;
	nam_status st = net_read1(w, root, &word, sizeof word, NULL);
	bool made = false;
	if (st == NAM_OK && word == 0) {
		e->def.store.listed = true;
		st = txn_table_create(tw, &e->def.store);
		if (st == NAM_OK)
			st = net_cas1(w, root, 0, e->def.store.anchor.bits, &word, NULL);
		if (st == NAM_OK && word == 0)
			word = e->def.store.anchor.bits, made = true;
		else if (st == NAM_OK)
			txn_table_free(tw, &e->def.store, 0); /* another process was faster */
	}
	if (st == NAM_OK) {
		e->def.store.anchor = (net_addr){ word };
		if (made)
			(void)txn_table_made(tw, &e->def.store);
		st = cat_entry_open(c, e);
	}
	if (st != NAM_OK) {
		free(e);
		return st;
	}
	e->changes = 1; /* for ever: never freed before cat_close */
	c->system[i] = e;
	return NAM_OK;
}

nam_status
cat_listed(void *arg, struct txn *t, uint32_t table, net_addr anchor, bool *yes)
{
	struct cat *c = arg;
	if (table > CAT_SYSTEM)
		return cat_shows(c, t, table, anchor, yes);
	uint64_t word = 0;
	net_addr root = txn_db_root(c->db, system_table[table - 1].root);
	nam_status st = table == 0
			    ? NAM_CORRUPT
			    : net_read1(txn_worker_net(txn_worker_of(t)), root, &word, sizeof word, NULL);
	*yes = word == anchor.bits;
	return st;
}

nam_status
cat_bootstrap(struct cat *c, struct txn_worker *tw)
{
	for (unsigned i = 0; i < CAT_SYSTEM; i++) {
		nam_status st = bootstrap_one(c, tw, i);
		if (st != NAM_OK)
			return st;
	}
	return NAM_OK;
}

nam_status
cat_entry_open(struct cat *c, struct cat_entry *e)
{
	e->def.store.owner = &e->def;
	if (e->def.kind != CAT_TABLE)
		return NAM_OK;
	nam_status st = NAM_OK;
	if (e->def.indexes > 0 && (e->order = calloc(2 * e->def.indexes, sizeof *e->order)) == NULL)
		return NAM_NOMEM;
	for (unsigned i = 0; st == NAM_OK && i < e->def.indexes; i++) {
		struct cat_index *ix = &e->def.index[i];
		struct txn_order *own = &e->order[e->def.indexes + i];
		*own = (struct txn_order){ .words = ix->words, .options = { .cache = IDX_TREE_INNER } };
		ix->store.order = own;
		ix->store.orders = 1;
		st = txn_table_open(c->db, &ix->store);
	}
	if (st == NAM_OK && e->def.indexes > 0)
		cat_index_orders(&e->def, e->order);
	e->def.store.order = e->order;
	e->def.store.orders = e->def.indexes;
	if (st == NAM_OK)
		st = txn_table_open(c->db, &e->def.store);
	if (st != NAM_OK)
		cat_entry_close(c, e);
	return st;
}

/* ---- reading -------------------------------------------------------------------- */

/* One row of nam_columns. */
struct column_row {
	uint64_t table;
	uint32_t number, key;
	struct cat_column column;
	struct column_row *next;
};

static bool
copy_name(char *out, struct cat_str s, size_t most)
{
	if (s.len == 0 || s.len > most || memchr(s.p, 0, s.len) != NULL)
		return false;
	memcpy(out, s.p, s.len);
	out[s.len] = 0;
	return true;
}

/* Calls fn for every row of a system table, all columns decoded. */
static nam_status
each_row(struct txn *t, struct cat_entry *e,
    nam_status (*fn)(void *arg, const struct cat_vec *col, const struct txn_row *row, unsigned k), void *arg)
{
	enum { ROWS = 64 };
	uint16_t want[WIDEST];
	struct cat_vec col[WIDEST];
	struct nam_arena batch_arena;
	struct txn_scan *scan;
	nam_status st = txn_scan_open(t, &e->def.store, &scan);
	if (st != NAM_OK)
		return st;
	for (uint16_t i = 0; i < e->def.columns; i++)
		want[i] = i;
	nam_arena_init(&batch_arena, 64 << 10);
	struct txn_row *rows = calloc(ROWS, sizeof *rows);
	if (rows == NULL)
		st = NAM_NOMEM;
	while (st == NAM_OK) {
		unsigned n;
		nam_arena_reset(&batch_arena);
		if ((st = txn_scan_next(scan, rows, ROWS, &n)) != NAM_OK || n == 0)
			break;
		st = cat_rows_decode(&e->def, t, rows, n, want, e->def.columns, col, &batch_arena);
		for (unsigned k = 0; st == NAM_OK && k < n; k++)
			st = fn(arg, col, &rows[k], k);
	}
	free(rows);
	txn_scan_close(scan);
	nam_arena_fini(&batch_arena);
	return st;
}

/* One row of nam_extras. */
struct extra {
	uint64_t table;
	char kind;
	uint32_t number;
	char name[CAT_PATH_MAX + 1]; /* or a path */
	const char *text;
};

struct reading {
	uint32_t tag;
	struct nam_arena *arena;
	struct extra *extra;
	unsigned extras, extras_max;
	struct cat_table *table;
	unsigned n, max;
	struct column_row **column;
	unsigned columns, columns_max;
};

/* Doubles an array that lives in the arena. */
static void *
grown(struct nam_arena *arena, void *old, unsigned n, unsigned *max, size_t size)
{
	if (n < *max)
		return old;
	unsigned more = *max ? *max * 2 : 64;
	void *p = nam_arena_take(arena, more * size);
	if (p != NULL && n > 0)
		memcpy(p, old, n * size);
	if (p != NULL)
		*max = more;
	return p;
}

static nam_status
on_table(void *arg, const struct cat_vec *col, const struct txn_row *row, unsigned k)
{
	struct reading *r = arg;
	r->table = grown(r->arena, r->table, r->n, &r->max, sizeof *r->table);
	if (r->table == NULL)
		return NAM_NOMEM;
	struct cat_table *t = &r->table[r->n];
	*t = (struct cat_table){ 0 };
	int64_t id = col[T_ID].i[k], columns = col[T_COLUMNS].i[k], slots = col[T_SLOTS].i[k];
	if (!copy_name(t->path, col[T_NAME].s[k], CAT_PATH_MAX) || id < CAT_FIRST_ID || id > UINT32_MAX ||
	    columns < 0 || columns > CAT_COLUMNS_MAX || slots < 0 || slots > UINT16_MAX)
		return NAM_CORRUPT;
	t->store.id = (uint32_t)id;
	t->columns = (uint16_t)columns;
	t->store.slots = (uint16_t)slots;
	t->store.row_max = (uint32_t)col[T_ROW_BYTES].i[k];
	t->store.anchor = (net_addr){ (uint64_t)col[T_ANCHOR].i[k] };
	t->store.guard = row->at;
	t->store.guard_word = row->cid;
	r->n++;
	return NAM_OK;
}

static nam_status
on_column(void *arg, const struct cat_vec *col, const struct txn_row *row, unsigned k)
{
	(void)row;
	struct reading *r = arg;
	r->column = grown(r->arena, r->column, r->columns, &r->columns_max, sizeof *r->column);
	struct column_row *x = nam_arena_zero(r->arena, sizeof *x);
	if (r->column == NULL || x == NULL)
		return NAM_NOMEM;
	int64_t number = col[C_NUMBER].i[k], key = col[C_KEY].i[k], kind = col[C_KIND].i[k];
	if (!copy_name(x->column.name, col[C_NAME].s[k], CAT_NAME_MAX) || number < 1 ||
	    number > CAT_COLUMNS_MAX || key < 0 || key > CAT_KEY_MAX || !cat_type_is_known(kind))
		return NAM_CORRUPT;
	x->table = (uint64_t)col[C_TABLE].i[k];
	x->number = (uint32_t)number;
	x->key = (uint32_t)key;
	x->column.type = cat_type_here(r->tag, (enum cat_type)kind);
	if (!cat_type_is_known(x->column.type))
		return NAM_NOMEM;
	x->column.typmod = (int32_t)col[C_TYPMOD].i[k];
	x->column.not_null = col[C_NOT_NULL].i[k] != 0;
	r->column[r->columns++] = x;
	return NAM_OK;
}

static nam_status
on_extra(void *arg, const struct cat_vec *col, const struct txn_row *row, unsigned k)
{
	(void)row;
	struct reading *r = arg;
	r->extra = grown(r->arena, r->extra, r->extras, &r->extras_max, sizeof *r->extra);
	if (r->extra == NULL)
		return NAM_NOMEM;
	struct extra *x = &r->extra[r->extras++];
	struct cat_str name = col[X_NAME].s[k], text = col[X_TEXT].s[k];
	*x = (struct extra){ .table = (uint64_t)col[X_TABLE].i[k],
		.kind = (char)col[X_KIND].i[k],
		.number = (uint32_t)col[X_NUMBER].i[k] };
	if (name.len > 0 && !copy_name(x->name, name, CAT_PATH_MAX))
		return NAM_CORRUPT;
	x->text = nam_arena_str(r->arena, text.p, text.len);
	return x->text ? NAM_OK : NAM_NOMEM;
}

static int
by_table_kind_number(const void *a, const void *b)
{
	const struct extra *x = a, *y = b;
	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int
checks_by_name(const void *a, const void *b)
{
	return strcmp(((const struct cat_check *)a)->name, ((const struct cat_check *)b)->name);
}

/* Room for what extra[at..n) of a table say. */
static nam_status
lists(struct cat_table *t, struct reading *r, unsigned at, unsigned n)
{
	unsigned indexes = 0, foreigns = 0;
	for (unsigned i = at; i < n; i++) {
		indexes += r->extra[i].kind == 'x';
		foreigns += r->extra[i].kind == 'f';
	}
	t->use = nam_arena_zero(r->arena, (n - at) * sizeof *t->use);
	t->label = nam_arena_zero(r->arena, (n - at) * sizeof *t->label);
	t->check = nam_arena_zero(r->arena, (n - at) * sizeof *t->check);
	t->index = nam_arena_zero(r->arena, (indexes + 1) * sizeof *t->index);
	t->foreign = nam_arena_zero(r->arena, (foreigns + 1) * sizeof *t->foreign);
	t->referrer = nam_arena_zero(r->arena, (n - at) * sizeof *t->referrer);
	if (t->use == NULL || t->label == NULL || t->check == NULL || t->index == NULL ||
	    t->foreign == NULL || t->referrer == NULL)
		return NAM_NOMEM;
	return indexes > CAT_INDEXES_MAX ? NAM_CORRUPT : NAM_OK;
}

/* That t is a type, or a label of it. Its name may be empty, so it is the rest of the text. */
static bool
read_type(const struct extra *x, uint32_t tag, struct cat_table *t)
{
	struct cat_label *out = &t->label[t->labels];
	unsigned long long key;
	int skip;
	if (x->kind == 'p' && strcmp(x->text, "d") == 0) {
		t->kind = CAT_DOMAIN;
		return t->columns == 1;
	}
	if (x->kind == 'p') {
		t->kind = CAT_ENUM_TYPE;
		t->number = cat_enum_number(tag, t->store.id);
		return t->number != 0 && strcmp(x->text, "e") == 0 && t->store.id < CAT_TYPE_IDS;
	}
	if (sscanf(x->text, "%llx%n", &key, &skip) != 1 || x->text[skip] != ' ' || key < 1 ||
	    key >= CAT_ENUM_KEY_END || strlen(x->text + skip + 1) > CAT_LABEL_MAX)
		return false;
	strcpy(out->name, x->text + skip + 1);
	out->key = (int64_t)key;
	return t->labels++ == 0 || out[-1].key < out->key;
}

/* A name that is no path. */
static void
name_of(const struct extra *x, char out[CAT_NAME_MAX + 1])
{
	snprintf(out, CAT_NAME_MAX + 1, "%.63s", x->name);
}

static void
of_column(const struct extra *x, struct cat_column *c)
{
	if (x->kind == 'i')
		c->identity = x->text[0];
	else if (x->kind == 'q')
		c->domain = (uint32_t)strtoul(x->text, NULL, 10);
	else
		*(x->kind == 'd' ? &c->dflt : x->kind == 'm' ? &c->missing : &c->stats) = x->text;
}

/* Gives a table what nam_extras says of it, from extra[*at] on. */
static nam_status
decorate(struct cat_table *t, struct reading *r, unsigned *at)
{
	while (*at < r->extras && r->extra[*at].table < t->store.id)
		++*at;
	unsigned n = *at;
	while (n < r->extras && r->extra[n].table == t->store.id)
		n++;
	if (n == *at)
		return NAM_OK;
	nam_status room = lists(t, r, *at, n);
	if (room != NAM_OK)
		return room;
	for (; *at < n; ++*at) {
		const struct extra *x = &r->extra[*at];
		switch (x->kind) {
		case 'd':
		case 'm':
		case 'i':
		case 't':
		case 'q':
			if (x->number < 1 || x->number > t->columns)
				return NAM_CORRUPT;
			of_column(x, &t->column[x->number - 1]);
			break;
		case 'l':
			if (!cat_places_read(t, x->text, r->tag, r->arena))
				return NAM_CORRUPT;
			break;
		case 'c':
		case 'w':
			name_of(x, t->check[t->checks].name);
			t->check[t->checks].not_valid = x->kind == 'w';
			t->check[t->checks++].text = x->text;
			break;
		case 'k':
			name_of(x, t->key_name);
			break;
		case 'v':
			t->kind = CAT_VIEW;
			t->view = x->text;
			break;
		case 'u':
			memcpy(t->use[t->uses++], x->name, sizeof x->name);
			break;
		case 'g':
			t->generation = (uint32_t)strtoul(x->text, NULL, 10);
			break;
		case 'r':
			t->analyzed = true;
			t->rows = strtod(x->text, NULL);
			if (!(t->rows >= 0 && t->rows < 1e18))
				return NAM_CORRUPT;
			break;
		case 'x':
			name_of(x, t->index[t->indexes].name);
			if (!cat_index_read(t, x->text, &t->index[t->indexes++]))
				return NAM_CORRUPT;
			break;
		case 'f':
			name_of(x, t->foreign[t->foreigns].name);
			if (!cat_foreign_read(x->text, &t->foreign[t->foreigns++]))
				return NAM_CORRUPT;
			break;
		case 'y':
			memcpy(t->referrer[t->referrers].table, x->name, sizeof x->name);
			if (strlen(x->text) > CAT_NAME_MAX)
				return NAM_CORRUPT;
			strcpy(t->referrer[t->referrers++].name, x->text);
			break;
		case 'o':
			name_of(x, t->owner);
			if (!cat_acl_read(t, x->text, r->arena))
				return NAM_CORRUPT;
			break;
		case 'z':
			t->on_commit = x->text[0];
			break;
		case 'n':
			t->kind = CAT_SCHEMA;
			break;
		case 'h':
			break;
		case 'b':
			t->kind = CAT_INDEX;
			t->index_of = (uint32_t)strtoul(x->text, NULL, 10);
			break;
		case 'p':
		case 'e':
			if (!read_type(x, r->tag, t))
				return NAM_CORRUPT;
			break;
		case 's':
			t->kind = CAT_SEQUENCE;
			if (!cat_sequence_read(x->text, &t->seq))
				return NAM_CORRUPT;
			break;
		default:
			return NAM_CORRUPT;
		}
	}
	qsort(t->check, t->checks, sizeof *t->check, checks_by_name);
	return NAM_OK;
}

static int
by_table_and_number(const void *a, const void *b)
{
	const struct column_row *const *x = a, *const *y = b;
	if ((*x)->table != (*y)->table)
		return (*x)->table < (*y)->table ? -1 : 1;
	return (*x)->number < (*y)->number ? -1 : (*x)->number > (*y)->number;
}

static int
by_id(const void *a, const void *b)
{
	const struct cat_table *x = a, *y = b;
	return x->store.id < y->store.id ? -1 : x->store.id > y->store.id;
}

/* Gives a table its columns, from column[*at] on. */
static nam_status
assemble(struct cat_table *t, struct reading *r, unsigned *at, unsigned *extra_at)
{
	uint32_t row_max = t->store.row_max;
	struct cat_err err;
	t->column = nam_arena_zero(r->arena, (t->columns + 1u) * sizeof *t->column);
	if (t->column == NULL)
		return NAM_NOMEM;
	while (*at < r->columns && r->column[*at]->table < t->store.id)
		++*at;
	for (unsigned i = 0; i < t->columns; i++, ++*at) {
		if (*at >= r->columns || r->column[*at]->table != t->store.id ||
		    r->column[*at]->number != i + 1)
			return NAM_CORRUPT;
		const struct column_row *x = r->column[*at];
		t->column[i] = x->column;
		if (x->key != 0) {
			t->key[x->key - 1] = (uint16_t)i;
			if (x->key > t->keys)
				t->keys = (uint16_t)x->key;
		}
	}
	nam_status st = decorate(t, r, extra_at);
	if (st != NAM_OK || t->kind != CAT_TABLE)
		return st;
	if (!cat_table_layout(t, &err) || row_max < t->fixed || row_max > TXN_ROW_MAX)
		return NAM_CORRUPT;
	t->store.row_max = row_max; /* what its slots were made for, whatever we would choose
				     * today */
	return NAM_OK;
}

/* Which rows were there, for a report of the fault. */
static void
tell_contradiction(const struct txn *t, const struct reading *r, const struct cat_table *tab)
{
	char found[128] = "";
	size_t n = 0;
	unsigned extras = 0;
	for (unsigned i = 0; i < r->columns; i++)
		if (r->column[i]->table == tab->store.id && n < sizeof found - 12)
			n += (size_t)snprintf(found + n, sizeof found - n, " %u", r->column[i]->number);
	for (unsigned i = 0; i < r->extras; i++)
		extras += r->extra[i].table == tab->store.id;
	nam_log(NAM_LOG_ERROR,
	    "catalog: table %s: its rows contradict each other (number %u, kind %d, %u columns; found at "
	    "snapshot %llx: columns%s, %u other rows)",
	    tab->path, tab->store.id, (int)tab->kind, tab->columns, (unsigned long long)txn_snapshot(t),
	    n > 0 ? found : " none", extras);
}

nam_status
cat_rows_at(struct cat *c, struct txn *t, struct cat_entry *const *e, unsigned n, struct txn_row *out,
    struct nam_arena *arena)
{
	struct cat_table *sys = &c->system[0]->def;
	struct txn_get *g = nam_arena_zero(arena, n * sizeof *g);
	nam_status st = g != NULL ? NAM_OK : NAM_NOMEM;
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		const union cat_val name = { .s = { e[i]->def.path, (uint32_t)strlen(e[i]->def.path) } };
		struct cat_str key;
		st = cat_key_encode(sys, &name, &key, &g[i].hash, arena);
		g[i].table = &sys->store;
		g[i].key = key.p;
		g[i].key_len = key.len;
	}
	if (st == NAM_OK)
		st = txn_get(t, g, n, arena);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		st = g[i].status;
		out[i] = g[i].row;
	}
	return st;
}

nam_status
cat_read_all(struct cat *c, struct txn *t, struct cat_rows *out, struct nam_arena *arena)
{
	struct reading r = { .tag = c->tag, .arena = arena };
	nam_status st = each_row(t, c->system[0], on_table, &r);
	if (st == NAM_OK)
		st = each_row(t, c->system[1], on_column, &r);
	if (st == NAM_OK)
		st = each_row(t, c->system[2], on_extra, &r);
	if (st != NAM_OK)
		return st;
	if (r.columns > 0)
		qsort(r.column, r.columns, sizeof *r.column, by_table_and_number);
	if (r.n > 0)
		qsort(r.table, r.n, sizeof *r.table, by_id);
	if (r.extras > 0)
		qsort(r.extra, r.extras, sizeof *r.extra, by_table_kind_number);
	unsigned at = 0, extra_at = 0;
	for (unsigned i = 0; i < r.n; i++)
		if ((st = assemble(&r.table[i], &r, &at, &extra_at)) != NAM_OK) {
			if (st == NAM_CORRUPT)
				tell_contradiction(t, &r, &r.table[i]);
			return st;
		}
	*out = (struct cat_rows){ r.table, r.n };
	return NAM_OK;
}

/* ---- writing -------------------------------------------------------------------- */

static struct cat_str
str(const char *s)
{
	return (struct cat_str){ s, (uint32_t)strlen(s) };
}

nam_status
cat_system_put(const struct cat_table *sys, struct txn *t, const union cat_val *v, struct txn_put *p,
    struct nam_arena *arena)
{
	static const bool null[WIDEST];
	union cat_val key[KEY_WIDEST];
	struct cat_str k, row;
	for (unsigned i = 0; i < sys->keys; i++)
		key[i] = v[sys->key[i]];
	nam_status st = cat_key_encode(sys, key, &k, &p->hash, arena);
	if (st == NAM_OK)
		st = cat_row_encode(sys, t, v, null, &row, arena);
	if (st != NAM_OK)
		return st;
	p->table = (struct txn_table *)(uintptr_t)&sys->store;
	p->key = k.p;
	p->key_len = k.len;
	p->bytes = row.p;
	p->len = row.len;
	return NAM_OK;
}

static bool
type_extras(const struct cat_table *def, struct extra *x, unsigned *n, struct nam_arena *arena)
{
	x[(*n)++] = (struct extra){ .kind = 'p', .text = def->kind == CAT_DOMAIN ? "d" : "e" };
	for (unsigned i = 0; i < def->labels; i++) {
		const struct cat_label *l = &def->label[i];
		char *text = nam_arena_printf(arena, "%llx %s", (unsigned long long)l->key, l->name);
		if (text == NULL)
			return false;
		x[(*n)++] = (struct extra){ .kind = 'e', .number = i + 1, .text = text };
	}
	return true;
}

static bool
column_extras(const struct cat_table *def, struct extra *x, unsigned *n, struct nam_arena *arena)
{
	for (unsigned i = 0; i < def->columns; i++) {
		const struct cat_column *k = &def->column[i];
		if (k->dflt != NULL)
			x[(*n)++] = (struct extra){ .kind = 'd', .number = i + 1, .text = k->dflt };
		if (k->identity != 0)
			x[(*n)++] = (struct extra){
				.kind = 'i', .number = i + 1, .text = k->identity == 'a' ? "a" : "d"
			};
		if (k->missing != NULL)
			x[(*n)++] = (struct extra){ .kind = 'm', .number = i + 1, .text = k->missing };
		if (k->stats != NULL)
			x[(*n)++] = (struct extra){ .kind = 't', .number = i + 1, .text = k->stats };
		if (k->domain == 0)
			continue;
		char *text = nam_arena_printf(arena, "%u", (unsigned)k->domain);
		if (text == NULL)
			return false;
		x[(*n)++] = (struct extra){ .kind = 'q', .number = i + 1, .text = text };
	}
	return true;
}

/* The rows of nam_extras that say the rest of a definition. */
static nam_status
extras_of(const struct cat_table *def, struct extra **out, unsigned *n, struct nam_arena *arena)
{
	unsigned most = 5u * def->columns + def->checks + def->uses + def->indexes + def->foreigns +
			def->referrers + def->labels + 12;
	struct extra *x = nam_arena_zero(arena, most * sizeof *x);
	*out = x;
	*n = 0;
	if (x == NULL)
		return NAM_NOMEM;
	if (!column_extras(def, x, n, arena))
		return NAM_NOMEM;
	for (unsigned i = 0; i < def->checks; i++) {
		struct extra *to = &x[(*n)++];
		*to = (struct extra){ .kind = def->check[i].not_valid ? 'w' : 'c',
			.number = i + 1,
			.text = def->check[i].text };
		strcpy(to->name, def->check[i].name);
	}
	if (def->key_name[0] != 0) {
		struct extra *to = &x[(*n)++];
		*to = (struct extra){ .kind = 'k', .text = "" };
		strcpy(to->name, def->key_name);
	}
	if (def->place != NULL) {
		x[*n] = (struct extra){ .kind = 'l', .text = cat_places_text(def, arena) };
		if (x[(*n)++].text == NULL)
			return NAM_NOMEM;
	}
	for (unsigned i = 0; i < def->indexes; i++) {
		struct extra *to = &x[(*n)++];
		*to = (struct extra){
			.kind = 'x', .number = i + 1, .text = cat_index_text(&def->index[i], arena)
		};
		if (to->text == NULL)
			return NAM_NOMEM;
		strcpy(to->name, def->index[i].name);
	}
	for (unsigned i = 0; i < def->foreigns; i++) {
		struct extra *to = &x[(*n)++];
		*to = (struct extra){
			.kind = 'f', .number = i + 1, .text = cat_foreign_text(&def->foreign[i], arena)
		};
		if (to->text == NULL)
			return NAM_NOMEM;
		strcpy(to->name, def->foreign[i].name);
	}
	for (unsigned i = 0; i < def->referrers; i++) {
		struct extra *to = &x[(*n)++];
		*to = (struct extra){ .kind = 'y', .number = i + 1, .text = def->referrer[i].name };
		strcpy(to->name, def->referrer[i].table);
	}
	if (def->granted || strcmp(cat_owner(def), CAT_FIRST_ROLE) != 0) {
		struct extra *to = &x[(*n)++];
		*to = (struct extra){ .kind = 'o', .text = cat_acl_text(def, arena) };
		if (to->text == NULL)
			return NAM_NOMEM;
		snprintf(to->name, sizeof to->name, "%s", cat_owner(def));
	}
	if (def->kind == CAT_INDEX) {
		char *text = nam_arena_printf(arena, "%u", def->index_of);
		if (text == NULL)
			return NAM_NOMEM;
		x[(*n)++] = (struct extra){ .kind = 'b', .text = text };
	}
	if (def->kind == CAT_TABLE || def->kind == CAT_INDEX || def->generation > 0) {
		char *text = nam_arena_printf(arena, "%u", (unsigned)def->generation);
		if (text == NULL)
			return NAM_NOMEM;
		x[(*n)++] = (struct extra){ .kind = 'g', .text = text };
	}
	if (def->analyzed) {
		char *text = nam_arena_printf(arena, "%.0f", def->rows);
		if (text == NULL)
			return NAM_NOMEM;
		x[(*n)++] = (struct extra){ .kind = 'r', .text = text };
	}
	if (def->kind == CAT_VIEW)
		x[(*n)++] = (struct extra){ .kind = 'v', .text = def->view };
	if (def->on_commit != 0)
		x[(*n)++] = (struct extra){ .kind = 'z', .text = def->on_commit == 'd' ? "d" : "x" };
	if (def->kind == CAT_SCHEMA) {
		x[(*n)++] = (struct extra){ .kind = 'n', .text = "" };
		x[(*n)++] = (struct extra){ .kind = 'h', .text = "" };
	}
	for (unsigned i = 0; i < def->uses; i++) {
		struct extra *to = &x[(*n)++];
		*to = (struct extra){ .kind = 'u', .number = i + 1, .text = "" };
		strcpy(to->name, def->use[i]);
	}
	if (cat_kind_is_type(def->kind) && !type_extras(def, x, n, arena))
		return NAM_NOMEM;
	if (def->kind == CAT_SEQUENCE && (x[*n].text = cat_sequence_text(&def->seq, arena)) == NULL)
		return NAM_NOMEM;
	if (def->kind == CAT_SEQUENCE)
		x[(*n)++].kind = 's';
	return NAM_OK;
}

static nam_status
write_extras(struct cat *c, struct txn *t, const struct cat_table *def, struct nam_arena *arena)
{
	struct extra *x;
	unsigned n;
	nam_status st = extras_of(def, &x, &n, arena);
	if (st != NAM_OK || n == 0)
		return st;
	struct txn_put *p = nam_arena_zero(arena, n * sizeof *p);
	if (p == NULL)
		return NAM_NOMEM;
	for (unsigned i = 0; i < n; i++) {
		const union cat_val v[X_ALL] = {
			[X_TABLE].i = def->store.id,
			[X_KIND].i = x[i].kind,
			[X_NUMBER].i = x[i].number,
			[X_NAME].s = str(x[i].name),
			[X_TEXT].s = str(x[i].text),
		};
		if ((st = cat_system_put(&c->system[2]->def, t, v, &p[i], arena)) != NAM_OK)
			return st;
	}
	st = txn_insert(t, p, n);
	return st == NAM_DUPLICATE ? NAM_CORRUPT : st;
}

nam_status
cat_write(struct cat *c, struct txn *t, const struct cat_table *def, bool extras, struct nam_arena *arena)
{
	if (extras)
		return write_extras(c, t, def, arena);
	struct txn_put *p = nam_arena_zero(arena, (def->columns + 1u) * sizeof *p);
	char(*type)[CAT_TYPE_TEXT] = nam_arena_take(arena, (def->columns + 1u) * sizeof *type);
	if (p == NULL || type == NULL)
		return NAM_NOMEM;
	const union cat_val tv[T_ALL] = {
		[T_NAME].s = str(def->path),
		[T_ID].i = def->store.id,
		[T_COLUMNS].i = def->columns,
		[T_SLOTS].i = def->store.slots,
		[T_ROW_BYTES].i = def->store.row_max,
		[T_ANCHOR].i = (int64_t)def->store.anchor.bits,
	};
	nam_status st = cat_system_put(&c->system[0]->def, t, tv, &p[0], arena);
	if (st != NAM_OK || (st = txn_insert(t, &p[0], 1)) != NAM_OK)
		return st;
	for (unsigned i = 0; i < def->columns; i++) {
		const struct cat_column *x = &def->column[i];
		unsigned key = 0;
		for (unsigned k = 0; k < def->keys; k++)
			if (def->key[k] == i)
				key = k + 1;
		if (cat_type_id(x->type) != 0) /* its name may change */
			snprintf(type[i], sizeof type[i], "USER-DEFINED");
		else
			cat_type_full(x->type, x->typmod, type[i]);
		const union cat_val cv[C_ALL] = {
			[C_TABLE].i = def->store.id,
			[C_NUMBER].i = i + 1,
			[C_NAME].s = str(x->name),
			[C_TYPE].s = str(type[i]),
			[C_NOT_NULL].i = x->not_null,
			[C_KEY].i = key,
			[C_KIND].i = cat_type_stored(x->type),
			[C_TYPMOD].i = x->typmod,
		};
		if ((st = cat_system_put(&c->system[1]->def, t, cv, &p[i + 1], arena)) != NAM_OK)
			return st;
	}
	if (def->columns > 0 && (st = txn_insert(t, p + 1, def->columns)) != NAM_OK)
		return st == NAM_DUPLICATE ? NAM_CORRUPT : st; /* ids are given once */
	return write_extras(c, t, def, arena);
}

nam_status
cat_type_touch(struct cat *c, struct txn *t, const struct cat_table *type)
{
	struct cat_table *sys = &c->system[2]->def;
	struct nam_arena arena;
	nam_arena_init(&arena, 4 << 10);
	struct txn_get g = { .table = &sys->store };
	const union cat_val v[X_ALL] = { [X_TABLE].i = type->store.id,
		[X_KIND].i = 'p',
		[X_NAME].s = str(""),
		[X_TEXT].s = str(type->kind == CAT_DOMAIN ? "d" : "e") };
	struct txn_put p;
	nam_status st = cat_system_put(sys, t, v, &p, &arena);
	g.key = p.key;
	g.key_len = p.key_len;
	g.hash = p.hash;
	if (st == NAM_OK && (st = txn_get(t, &g, 1, &arena)) == NAM_OK && (st = g.status) == NAM_OK)
		st = txn_lock(t, g.table, &g.row);
	if (st == NAM_OK) {
		txn_cover(t, g.row.cid);
		st = txn_update(t, g.table, &g.row, p.bytes, p.len);
	}
	nam_arena_fini(&arena);
	return st == NAM_ABSENT ? NAM_CONFLICT : st;
}

/* Every change of a definition changes the row that counts the changes, so a transaction that knows
 * an older definition finds out here. */
static nam_status
still_says(
    struct cat *c, struct txn *t, const struct txn_row *row, const struct extra *x, struct nam_arena *arena)
{
	const uint16_t want = X_TEXT;
	struct cat_vec text = { 0 };
	nam_status st = cat_rows_decode(&c->system[2]->def, t, row, 1, &want, 1, &text, arena);
	bool same = st == NAM_OK && !text.null[0] && text.s[0].len == strlen(x->text) &&
		    memcmp(text.s[0].p, x->text, text.s[0].len) == 0;
	return st == NAM_OK && !same ? NAM_CONFLICT : st;
}

nam_status
cat_erase(
    struct cat *c, struct txn *t, const struct cat_table *def, bool extras_only, struct nam_arena *arena)
{
	struct extra *x;
	unsigned extras, rows = def->columns + 1u;
	nam_status st = extras_of(def, &x, &extras, arena);
	if (st != NAM_OK)
		return st;
	unsigned n = rows + extras, first = extras_only ? rows : 0;
	struct txn_get *g = nam_arena_zero(arena, n * sizeof *g);
	if (g == NULL)
		return NAM_NOMEM;
	for (unsigned i = first; i < n; i++) {
		struct cat_table *sys = &c->system[i == 0 ? 0 : i < rows ? 1 : 2]->def;
		union cat_val key[KEY_WIDEST];
		struct cat_str k;
		if (i == 0) {
			key[0].s = str(def->path);
		} else if (i < rows) {
			key[0].i = def->store.id;
			key[1].i = i;
		} else {
			key[0].i = def->store.id;
			key[1].i = x[i - rows].kind;
			key[2].i = x[i - rows].number;
		}
		if ((st = cat_key_encode(sys, key, &k, &g[i].hash, arena)) != NAM_OK)
			return st;
		g[i].table = &sys->store;
		g[i].key = k.p;
		g[i].key_len = k.len;
	}
	st = txn_get(t, g + first, n - first, arena);
	for (unsigned i = first; st == NAM_OK && i < n; i++) {
		if ((st = g[i].status) == NAM_OK)
			st = txn_lock(t, g[i].table, &g[i].row);
		if (st == NAM_OK && i >= rows && x[i - rows].kind == 'g')
			st = still_says(c, t, &g[i].row, &x[i - rows], arena);
		if (st == NAM_OK)
			st = txn_delete(t, g[i].table, &g[i].row);
		/* Its name is there, and means something else by now. */
		if (st == NAM_ABSENT && i > 0)
			st = NAM_CONFLICT;
	}
	return st;
}

nam_status
cat_schema_hold(struct cat *c, struct txn *t, const struct cat_table *schema)
{
	static const bool null[X_ALL];
	const struct cat_table *sys = &c->system[2]->def;
	const union cat_val v[X_ALL] = {
		[X_TABLE].i = schema->store.id, [X_KIND].i = 'h', [X_NAME].s = str(""), [X_TEXT].s = str("")
	};
	struct txn_get g = { .table = (struct txn_table *)(uintptr_t)&sys->store };
	struct cat_str key, row;
	struct nam_arena arena;
	nam_arena_init(&arena, 16 << 10);
	nam_status st = cat_key_encode(sys, v, &key, &g.hash, &arena);
	g.key = key.p;
	g.key_len = key.len;
	if (st == NAM_OK && (st = txn_get(t, &g, 1, &arena)) == NAM_OK && (st = g.status) == NAM_OK)
		st = txn_lock(t, g.table, &g.row);
	if (st == NAM_OK) {
		txn_cover(t, g.row.cid);
		st = cat_row_encode(sys, t, v, null, &row, &arena);
	}
	/* Written, and not only locked: a later holder's snapshot has to cover this commit. */
	if (st == NAM_OK)
		st = txn_update(t, g.table, &g.row, row.p, row.len);
	nam_arena_fini(&arena);
	return st;
}
