/* catalog_test.c -- definitions as transactions see them: own, others', old snapshots, two
 * processes, races. */
#include <catalog/by_id.h>
#include <catalog/catalog_internal.h>
#include <catalog/role.h>
#include <net/region_format.h>
#include <net/sim/sim.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { PROCS = 3 };
struct fixture {
	struct net_sim *sim;
	struct net *net[PROCS];
	struct net_worker *w[PROCS];
	struct txn_db *db[PROCS];
	struct txn_worker *tw[PROCS];
	struct cat *cat[PROCS];
	unsigned opened;
	void (*body)(struct fixture *);
	bool ok;
};

struct opener {
	struct fixture *fix;
	unsigned p;
};

static void
open_one(void *arg)
{
	struct opener *o = arg;
	struct fixture *fix = o->fix;
	struct txn_config cfg = { 0 };
	struct nam_err err;
	assert_int_equal(txn_db_open(fix->w[o->p], &cfg, &fix->db[o->p], &err), NAM_OK);
	assert_int_equal(txn_worker_open(fix->db[o->p], fix->w[o->p], &fix->tw[o->p]), NAM_OK);
	assert_int_equal(cat_open(fix->tw[o->p], &fix->cat[o->p]), NAM_OK);
	fix->opened++;
}

static void
main_co(void *arg)
{
	struct fixture *fix = arg;
	while (fix->opened < PROCS)
		net_sleep(fix->w[0], 1000000);
	fix->body(fix);
	for (unsigned p = PROCS; p-- > 0;) {
		txn_worker_close(fix->tw[p]);
		cat_close(fix->cat[p]);
		txn_db_close(fix->w[p], fix->db[p]);
	}
	fix->ok = true;
}

static void
run_lab(uint64_t seed, void (*body)(struct fixture *))
{
	struct fixture *fix = calloc(1, sizeof *fix);
	struct opener o[PROCS];
	struct net_sim_config cfg = { .seed = seed,
		.nodes = 2,
		.region_bytes = 32 << 20,
		.tear_permille = 200,
		.reorder_permille = 200 };
	fix->body = body;
	assert_int_equal(net_sim_open(&fix->sim, &cfg), NAM_OK);
	for (unsigned p = 0; p < PROCS; p++) {
		assert_int_equal(net_sim_attach(fix->sim, &fix->net[p]), NAM_OK);
		assert_int_equal(net_worker_open(fix->net[p], &fix->w[p], NULL), NAM_OK);
		o[p] = (struct opener){ fix, p };
		/* All at once: they race for the bootstrap. */
		assert_non_null(nam_co_start(net_worker_sched(fix->w[p]), open_one, &o[p], 256 << 10));
	}
	assert_non_null(nam_co_start(net_worker_sched(fix->w[0]), main_co, fix, 512 << 10));
	assert_true(net_sim_run(fix->sim, NULL, NULL));
	assert_true(fix->ok);
	for (unsigned p = 0; p < PROCS; p++) {
		net_worker_close(fix->w[p]);
		net_close(fix->net[p]);
	}
	net_sim_close(fix->sim);
	free(fix);
}

static struct txn *
begin(struct fixture *fix, unsigned p, enum txn_iso iso)
{
	struct txn *t;
	assert_int_equal(txn_begin(fix->tw[p], iso, &t), NAM_OK);
	return t;
}

static nam_status
commit(struct fixture *fix, unsigned p, struct txn *t)
{
	tso_cid cid = 0;
	struct cat_overlay *changed = cat_leave(fix->cat[p], t);
	nam_status st = txn_commit(t, &cid);
	cat_decided(fix->cat[p], fix->tw[p], changed, st == NAM_OK ? cid : 0);
	return st;
}

static void
abandon(struct fixture *fix, unsigned p, struct txn *t)
{
	struct cat_overlay *changed = cat_leave(fix->cat[p], t);
	txn_abort(t);
	cat_decided(fix->cat[p], fix->tw[p], changed, 0);
}

static const struct cat_table *
find(struct fixture *fix, unsigned p, struct txn *t, const char *name)
{
	const struct cat_table *out;
	assert_int_equal(cat_find(fix->cat[p], t, name, &out), NAM_OK);
	return out;
}

static nam_status
create(struct fixture *fix, unsigned p, struct txn *t, const char *name)
{
	struct cat_column col[] = {
		{ .name = "id", .type = CAT_INT8, .typmod = -1, .not_null = true },
		{ .name = "price", .type = CAT_NUMERIC, .typmod = 10 << 16 | 2 },
		{ .name = "Näme", .type = CAT_TEXT, .typmod = 20 },
		{ .name = "part", .type = CAT_INT4, .typmod = -1, .not_null = true },
	};
	struct cat_table def = {
		.columns = 4, .column = col, .keys = 2, .key = { 3, 0 }, .store = { .slots = 3 }
	};
	snprintf(def.path, sizeof def.path, "%s", name);
	return cat_create(fix->cat[p], t, &def);
}

static void
assert_def(const struct cat_table *t, const char *name)
{
	assert_non_null(t);
	assert_string_equal(t->path, name);
	assert_int_equal(t->columns, 4);
	assert_string_equal(t->column[2].name, "Näme");
	assert_int_equal(t->column[1].type, CAT_NUMERIC);
	assert_int_equal(t->column[1].typmod, 10 << 16 | 2);
	assert_int_equal(t->column[2].typmod, 20);
	assert_true(t->column[0].not_null && t->column[3].not_null);
	assert_false(t->column[1].not_null);
	assert_int_equal(t->keys, 2);
	assert_int_equal(t->key[0], 3);
	assert_int_equal(t->key[1], 0);
	assert_int_equal(t->store.slots, 3);
	assert_true(t->store.has_key);
	assert_true(t->store.id >= CAT_FIRST_ID);
	assert_ptr_equal(t->store.owner, t);
	assert_non_null(t->store.view);
}

/* Other processes see a commit when its mark has landed. */
static void
settle(struct fixture *fix)
{
	net_sleep(fix->w[0], 5000000);
}

static void
life(struct fixture *fix)
{
	struct txn *old = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_null(find(fix, 1, old, "shop"));
	assert_true(find(fix, 1, old, "nam_tables")->system);

	/* Created: its own only, until it commits. */
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED), *u = begin(fix, 0, TXN_READ_COMMITTED);
	uint64_t v0 = cat_version(fix->cat[0], t);
	assert_int_equal(v0, cat_version(fix->cat[0], u));
	assert_int_equal(create(fix, 0, t, "shop"), NAM_OK);
	assert_int_equal(create(fix, 0, t, "shop"), NAM_DUPLICATE);
	assert_def(find(fix, 0, t, "shop"), "shop");
	assert_null(find(fix, 0, u, "shop"));
	assert_true(cat_version(fix->cat[0], t) != v0);
	assert_int_equal(cat_version(fix->cat[0], u), v0);
	assert_int_equal(commit(fix, 0, t), NAM_OK);
	assert_int_equal(txn_statement(u), NAM_OK);
	assert_def(find(fix, 0, u, "shop"), "shop");
	assert_true(cat_version(fix->cat[0], u) != v0);
	assert_int_equal(commit(fix, 0, u), NAM_OK);

	/* Another process notices by itself, an old snapshot does not. */
	settle(fix);
	t = begin(fix, 2, TXN_READ_COMMITTED);
	const struct cat_table *there = find(fix, 2, t, "shop");
	assert_def(there, "shop");
	assert_null(find(fix, 1, old, "shop"));
	struct txn *mid = begin(fix, 1, TXN_REPEATABLE_READ);
	const struct cat_table *held = find(fix, 1, mid, "shop");
	assert_def(held, "shop");
	assert_true(held != there); /* each process its own */
	assert_null(find(fix, 1, old, "shop"));
	assert_true(cat_version(fix->cat[1], old) != cat_version(fix->cat[1], mid));

	/* Listed by name. */
	struct nam_arena a;
	nam_arena_init(&a, 0);
	const struct cat_table **list;
	unsigned n;
	assert_int_equal(cat_list(fix->cat[2], t, &list, &n, &a), NAM_OK);
	assert_int_equal(n, 4);
	assert_string_equal(list[0]->path, "nam_columns");
	assert_string_equal(list[3]->path, "shop");

	/* Dropped by process 2: gone for it, still there for the older. */
	assert_int_equal(cat_drop(fix->cat[2], t, there), NAM_OK);
	assert_null(find(fix, 2, t, "shop"));
	assert_int_equal(cat_list(fix->cat[2], t, &list, &n, &a), NAM_OK);
	assert_int_equal(n, 3);
	assert_int_equal(cat_drop(fix->cat[2], t, find(fix, 2, t, "nam_tables")), NAM_REFUSED);
	assert_int_equal(commit(fix, 2, t), NAM_OK);
	settle(fix);
	t = begin(fix, 1, TXN_READ_COMMITTED);
	assert_null(find(fix, 1, t, "shop"));
	assert_ptr_equal(find(fix, 1, mid, "shop"), held);
	assert_def(held, "shop");
	assert_null(find(fix, 1, old, "shop"));
	assert_int_equal(commit(fix, 1, t), NAM_OK);
	assert_int_equal(commit(fix, 1, mid), NAM_OK);
	assert_int_equal(commit(fix, 1, old), NAM_OK);

	/* The name is free again, for another table. */
	t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(create(fix, 0, t, "shop"), NAM_OK);
	assert_int_equal(commit(fix, 0, t), NAM_OK);
	nam_arena_fini(&a);
}

static void
test_life(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++)
		run_lab(seed, life);
}

/* A domain, and a column of it, as another process reads them; what uses a domain beside a DROP of
 * it (D19). */
static void
domain(struct fixture *fix)
{
	struct cat_check check[] = { { .name = "low", .text = "value > 0" },
		{ .name = "new", .text = "value < 9", .not_valid = true } };
	struct cat_column value = {
		.name = "value", .type = CAT_NUMERIC, .typmod = 5 << 16 | 1, .not_null = true, .dflt = "1.5"
	};
	struct cat_table def = { .path = "price",
		.kind = CAT_DOMAIN,
		.columns = 1,
		.column = &value,
		.checks = 2,
		.check = check };
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	const struct cat_table *dom, *tab;
	assert_int_equal(cat_create(fix->cat[0], t, &def), NAM_OK);
	assert_int_equal(create(fix, 0, t, "price"), NAM_DUPLICATE);
	assert_int_equal(cat_type_named(fix->cat[0], t, "price", &dom), NAM_OK);
	struct cat_column col[] = {
		{ .name = "p", .type = CAT_NUMERIC, .typmod = 5 << 16 | 1, .domain = dom->store.id }
	};
	struct cat_table of = { .path = "goods", .columns = 1, .column = col };
	assert_int_equal(cat_create(fix->cat[0], t, &of), NAM_OK);
	assert_int_equal(commit(fix, 0, t), NAM_OK);
	settle(fix);

	t = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_null(find(fix, 1, t, "price"));
	assert_int_equal(cat_type_named(fix->cat[1], t, "price", &dom), NAM_OK);
	assert_true(dom != NULL && dom->kind == CAT_DOMAIN && dom->columns == 1 && dom->checks == 2);
	assert_true(dom->column[0].not_null && dom->column[0].domain == 0);
	assert_string_equal(dom->column[0].dflt, "1.5");
	assert_int_equal(dom->column[0].typmod, 5 << 16 | 1);
	assert_string_equal(dom->check[0].name, "low");
	assert_false(dom->check[0].not_valid);
	assert_string_equal(dom->check[1].text, "value < 9");
	assert_true(dom->check[1].not_valid);
	tab = find(fix, 1, t, "goods");
	assert_int_equal(tab->column[0].domain, dom->store.id);
	const struct cat_table *same;
	assert_int_equal(cat_type_of_id(fix->cat[1], t, dom->store.id, &same), NAM_OK);
	assert_ptr_equal(same, dom);
	assert_int_equal(cat_type_of_id(fix->cat[1], t, tab->store.id, &same), NAM_OK);
	assert_null(same);

	/* Process 0 comes to use it: the older snapshot of process 1 may not drop it. */
	struct txn *u = begin(fix, 0, TXN_READ_COMMITTED);
	const struct cat_table *its;
	assert_int_equal(cat_type_named(fix->cat[0], u, "price", &its), NAM_OK);
	assert_int_equal(cat_type_alter(fix->cat[0], u, its, its), NAM_OK);
	assert_int_equal(commit(fix, 0, u), NAM_OK);
	assert_int_equal(cat_type_hold(fix->cat[1], t, dom), NAM_CONFLICT);
	abandon(fix, 1, t);
	settle(fix);
	t = begin(fix, 1, TXN_READ_COMMITTED);
	assert_int_equal(cat_type_named(fix->cat[1], t, "price", &dom), NAM_OK);
	assert_int_equal(dom->generation, 1);
	assert_true(dom->check[1].not_valid);
	assert_int_equal(cat_type_hold(fix->cat[1], t, dom), NAM_OK);
	assert_int_equal(cat_drop(fix->cat[1], t, dom), NAM_OK);
	assert_int_equal(cat_type_of_id(fix->cat[1], t, its->store.id, &same), NAM_OK);
	assert_null(same);
	assert_int_equal(commit(fix, 1, t), NAM_OK);
}

static void
test_domain(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++)
		run_lab(seed, domain);
}

static void
undone(struct fixture *fix)
{
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(create(fix, 0, t, "a"), NAM_OK);
	abandon(fix, 0, t);
	t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_null(find(fix, 0, t, "a"));
	assert_int_equal(atomic_load(&fix->cat[0]->overlays), 0);
	/* Created and dropped in one. */
	assert_int_equal(create(fix, 0, t, "a"), NAM_OK);
	assert_int_equal(cat_drop(fix->cat[0], t, find(fix, 0, t, "a")), NAM_OK);
	assert_null(find(fix, 0, t, "a"));
	assert_int_equal(create(fix, 0, t, "a"), NAM_OK);
	assert_def(find(fix, 0, t, "a"), "a");
	assert_int_equal(commit(fix, 0, t), NAM_OK);
	/* A drop that is undone. */
	t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(cat_drop(fix->cat[0], t, find(fix, 0, t, "a")), NAM_OK);
	abandon(fix, 0, t);
	t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_def(find(fix, 0, t, "a"), "a");
	assert_int_equal(commit(fix, 0, t), NAM_OK);
}

static void
test_undone(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++)
		run_lab(seed, undone);
}

/* Two processes make a table of one name: one wins. */
static void
race(struct fixture *fix)
{
	struct txn *t = begin(fix, 0, TXN_REPEATABLE_READ), *u = begin(fix, 1, TXN_REPEATABLE_READ);
	assert_int_equal(create(fix, 0, t, "a"), NAM_OK);
	nam_status second = create(fix, 1, u, "a");
	nam_status first = commit(fix, 0, t);
	if (second == NAM_OK)
		second = commit(fix, 1, u);
	else
		abandon(fix, 1, u);
	assert_int_equal(first, NAM_OK);
	assert_true(second == NAM_DUPLICATE || second == NAM_CONFLICT);
	settle(fix);
	for (unsigned p = 0; p < PROCS; p++) {
		t = begin(fix, p, TXN_READ_COMMITTED);
		assert_def(find(fix, p, t, "a"), "a");
		assert_int_equal(commit(fix, p, t), NAM_OK);
	}
}

static void
test_race(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++)
		run_lab(seed, race);
}

static nam_status
create_schema(struct fixture *fix, unsigned p, struct txn *t, const char *name)
{
	struct cat_column none[1] = { 0 };
	struct cat_table def = { .kind = CAT_SCHEMA, .column = none };
	cat_path(name, "", def.path);
	return cat_create(fix->cat[p], t, &def);
}

static const struct cat_table *
schema(struct fixture *fix, unsigned p, struct txn *t, const char *name)
{
	const struct cat_table *out;
	assert_int_equal(cat_schema_find(fix->cat[p], t, name, &out), NAM_OK);
	return out;
}

/* Relations that t sees in schema app. */
static unsigned
in_schema(struct fixture *fix, unsigned p, struct txn *t)
{
	const struct cat_table **list;
	struct nam_arena a;
	unsigned n, found = 0;
	nam_arena_init(&a, 0);
	assert_int_equal(cat_list(fix->cat[p], t, &list, &n, &a), NAM_OK);
	for (unsigned i = 0; i < n; i++) {
		assert_int_not_equal(list[i]->kind, CAT_SCHEMA);
		found += cat_same_schema(list[i]->path, "app.");
	}
	nam_arena_fini(&a);
	return found;
}

/* A transaction that holds a schema keeps others from holding it, and the next one sees what it has
 * made there (D20). */
static void
schemas(struct fixture *fix)
{
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_null(schema(fix, 0, t, "app"));
	assert_int_equal(create_schema(fix, 0, t, "app"), NAM_OK);
	assert_int_equal(create_schema(fix, 0, t, "app"), NAM_DUPLICATE);
	assert_int_equal(commit(fix, 0, t), NAM_OK);
	settle(fix);

	/* One makes a table, the other one would drop the schema: with an older snapshot it cannot,
	 * with a newer one it sees the table. */
	t = begin(fix, 0, TXN_READ_COMMITTED);
	struct txn *old = begin(fix, 1, TXN_REPEATABLE_READ);
	const struct cat_table *app = schema(fix, 1, old, "app");
	assert_non_null(app);
	assert_int_equal(cat_schema_hold(fix->cat[0], t, schema(fix, 0, t, "app")), NAM_OK);
	assert_int_equal(create(fix, 0, t, "app.t"), NAM_OK);
	assert_int_equal(in_schema(fix, 1, old), 0);
	assert_int_equal(commit(fix, 0, t), NAM_OK);
	assert_int_equal(cat_schema_hold(fix->cat[1], old, app), NAM_CONFLICT);
	abandon(fix, 1, old);
	t = begin(fix, 1, TXN_READ_COMMITTED);
	assert_int_equal(cat_schema_hold(fix->cat[1], t, schema(fix, 1, t, "app")), NAM_OK);
	assert_int_equal(txn_statement(t), NAM_OK);
	assert_int_equal(in_schema(fix, 1, t), 1);

	/* Dropped, with what was in it: who held it before cannot any more. */
	struct txn *late = begin(fix, 2, TXN_READ_COMMITTED);
	const struct cat_table *gone = schema(fix, 2, late, "app");
	assert_non_null(gone);
	assert_int_equal(cat_drop(fix->cat[1], t, find(fix, 1, t, "app.t")), NAM_OK);
	assert_int_equal(cat_drop(fix->cat[1], t, schema(fix, 1, t, "app")), NAM_OK);
	assert_null(schema(fix, 1, t, "app"));
	assert_int_equal(commit(fix, 1, t), NAM_OK);
	assert_int_equal(cat_schema_hold(fix->cat[2], late, gone), NAM_ABSENT);
	abandon(fix, 2, late);
	settle(fix);
	t = begin(fix, 2, TXN_READ_COMMITTED);
	assert_null(schema(fix, 2, t, "app"));
	assert_null(find(fix, 2, t, "app.t"));
	assert_int_equal(create_schema(fix, 2, t, "app"), NAM_OK);
	assert_int_equal(in_schema(fix, 2, t), 0);
	assert_int_equal(commit(fix, 2, t), NAM_OK);
}

static void
test_schemas(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++)
		run_lab(seed, schemas);
}

/* Rows through the catalog's codec into txn and back, long values included. */
static void
rows(struct fixture *fix)
{
	struct nam_arena a;
	nam_arena_init(&a, 0);
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(create(fix, 0, t, "a"), NAM_OK);
	assert_int_equal(commit(fix, 0, t), NAM_OK);
	char *text = nam_arena_take(&a, 100000);
	for (unsigned i = 0; i < 100000; i++)
		text[i] = (char)('a' + i % 26);
	t = begin(fix, 0, TXN_READ_COMMITTED);
	const struct cat_table *table = find(fix, 0, t, "a");
	for (int i = 0; i < 20; i++) {
		union cat_val v[4] = { { .i = i }, { .i = 0 }, { .s = { text, (uint32_t)i * 5000 } },
			{ .i = -i } };
		union cat_val key[2] = { { .i = -i }, { .i = i } };
		bool null[4] = { false, true, i == 3, false };
		struct cat_str k, row;
		struct txn_put p = { .table = (struct txn_table *)(uintptr_t)&table->store };
		assert_int_equal(cat_key_encode(table, key, &k, &p.hash, &a), NAM_OK);
		assert_int_equal(cat_row_encode(table, t, v, null, &row, &a), NAM_OK);
		p.key = k.p;
		p.key_len = k.len;
		p.bytes = row.p;
		p.len = row.len;
		assert_int_equal(txn_insert(t, &p, 1), NAM_OK);
	}
	assert_int_equal(commit(fix, 0, t), NAM_OK);
	settle(fix);

	t = begin(fix, 2, TXN_READ_COMMITTED);
	table = find(fix, 2, t, "a");
	struct txn_scan *scan;
	struct txn_row r[64];
	const uint16_t want[] = { 0, 2, 3, 1 };
	struct cat_vec col[4];
	unsigned n, seen = 0;
	assert_int_equal(txn_scan_open(t, (struct txn_table *)(uintptr_t)&table->store, &scan), NAM_OK);
	for (;;) {
		assert_int_equal(txn_scan_next(scan, r, 64, &n), NAM_OK);
		if (n == 0)
			break;
		assert_int_equal(cat_rows_decode(table, t, r, n, want, 4, col, &a), NAM_OK);
		for (unsigned k = 0; k < n; k++, seen++) {
			int64_t i = col[0].i[k];
			assert_true(i >= 0 && i < 20);
			assert_int_equal(col[2].i[k], -i);
			assert_true(col[3].null[k]);
			assert_int_equal(col[1].null[k], i == 3);
			if (i != 3) {
				assert_int_equal(col[1].s[k].len, i * 5000);
				assert_memory_equal(col[1].s[k].p, text, (size_t)i * 5000);
			}
		}
	}
	txn_scan_close(scan);
	assert_int_equal(seen, 20);
	assert_int_equal(commit(fix, 2, t), NAM_OK);
	nam_arena_fini(&a);
}

static void
test_rows(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++)
		run_lab(seed, rows);
}

static nam_status
insert_one(struct txn *t, const struct cat_table *table, int i, struct nam_arena *a)
{
	union cat_val v[4] = { { .i = i }, { .i = 0 }, { .s = { "some text", 9 } }, { .i = -i } };
	union cat_val key[2] = { { .i = -i }, { .i = i } };
	bool null[4] = { false, true, false, false };
	struct cat_str k, row;
	struct txn_put p = { .table = (struct txn_table *)(uintptr_t)&table->store };
	assert_int_equal(cat_key_encode(table, key, &k, &p.hash, a), NAM_OK);
	assert_int_equal(cat_row_encode(table, t, v, null, &row, a), NAM_OK);
	p.key = k.p;
	p.key_len = k.len;
	p.bytes = row.p;
	p.len = row.len;
	return txn_insert(t, &p, 1);
}

static unsigned
count_rows(struct fixture *fix, unsigned p, const char *name)
{
	struct txn *t = begin(fix, p, TXN_READ_COMMITTED);
	const struct cat_table *table = find(fix, p, t, name);
	struct txn_scan *scan;
	struct txn_row r[64];
	unsigned n, sum = 0;
	assert_non_null(table);
	assert_int_equal(txn_scan_open(t, (struct txn_table *)(uintptr_t)&table->store, &scan), NAM_OK);
	do {
		assert_int_equal(txn_scan_next(scan, r, 64, &n), NAM_OK);
		sum += n;
	} while (n > 0);
	txn_scan_close(scan);
	assert_int_equal(commit(fix, p, t), NAM_OK);
	return sum;
}

/*
 * A table is dropped, and its memory used again, while a READ COMMITTED transaction that has
 * written it goes on with newer snapshots: what that commits must not land in the other's memory.
 */
static void
late_writer(struct fixture *fix)
{
	struct nam_arena a;
	nam_arena_init(&a, 0);
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(create(fix, 0, t, "old"), NAM_OK);
	assert_int_equal(commit(fix, 0, t), NAM_OK);
	settle(fix);
	struct txn *late = begin(fix, 1, TXN_READ_COMMITTED);
	const struct cat_table *old = find(fix, 1, late, "old");
	for (int i = 0; i < 500; i++)
		assert_int_equal(insert_one(late, old, i, &a), NAM_OK);
	t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(cat_drop(fix->cat[0], t, find(fix, 0, t, "old")), NAM_OK);
	assert_int_equal(commit(fix, 0, t), NAM_OK);
	for (int i = 0; i < 20; i++) {
		settle(fix);
		assert_int_equal(txn_statement(late), NAM_OK);
	}
	for (int k = 0; k < 3; k++) {
		char name[8];
		snprintf(name, sizeof name, "new%d", k);
		t = begin(fix, 0, TXN_READ_COMMITTED);
		assert_int_equal(create(fix, 0, t, name), NAM_OK);
		const struct cat_table *fresh = find(fix, 0, t, name);
		for (int i = 0; i < 500; i++)
			assert_int_equal(insert_one(t, fresh, i, &a), NAM_OK);
		assert_int_equal(commit(fix, 0, t), NAM_OK);
	}
	commit(fix, 1, late); /* it may succeed or not; but then it is over */
	settle(fix);
	for (int k = 0; k < 3; k++) {
		char name[8];
		snprintf(name, sizeof name, "new%d", k);
		assert_int_equal(count_rows(fix, 2, name), 500);
	}
	nam_arena_fini(&a);
}

static void
test_late_writer(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++)
		run_lab(seed, late_writer);
}

/* Many tables come and go; what a process keeps of them stays bounded. */
static void
churn(struct fixture *fix)
{
	char name[20];
	for (unsigned i = 0; i < 60; i++) {
		struct txn *t = begin(fix, i % PROCS, TXN_READ_COMMITTED);
		snprintf(name, sizeof name, "t%u", i % 5);
		const struct cat_table *there = find(fix, i % PROCS, t, name);
		if (there != NULL)
			assert_int_equal(cat_drop(fix->cat[i % PROCS], t, there), NAM_OK);
		else
			assert_int_equal(create(fix, i % PROCS, t, name), NAM_OK);
		assert_int_equal(commit(fix, i % PROCS, t), NAM_OK);
		settle(fix);
	}
	settle(fix);
	for (unsigned p = 0; p < PROCS; p++) {
		unsigned shots = 0;
		for (struct cat_snapshot *s = atomic_load(&fix->cat[p]->head); s != NULL; s = s->older)
			shots++;
		assert_in_range(shots, 1, 10);
	}
}

static void
test_churn(void **state)
{
	(void)state;
	run_lab(7, churn);
}

/* A committer that waits for visibility has given its struct back: the next transaction is
 * another. */
static void
struct_used_again(struct fixture *fix)
{
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED), *next;
	tso_cid cid = 0;
	assert_int_equal(create(fix, 0, t, "first"), NAM_OK);
	struct cat_overlay *changed = cat_leave(fix->cat[0], t);
	assert_non_null(changed);
	txn_set_finish(t, true);
	assert_int_equal(txn_commit(t, &cid), NAM_OK);
	next = begin(fix, 0, TXN_READ_COMMITTED);
	assert_ptr_equal(next, t);
	assert_int_equal(create(fix, 0, next, "second"), NAM_OK);
	cat_decided(fix->cat[0], fix->tw[0], changed, cid);
	assert_def(find(fix, 0, next, "second"), "second");
	abandon(fix, 0, next);
	settle(fix);
	t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_def(find(fix, 0, t, "first"), "first");
	assert_int_not_equal(find(fix, 0, t, "first")->store.guard.bits, 0);
	assert_null(find(fix, 0, t, "second"));
	abandon(fix, 0, t);
}

static void
test_struct_used_again(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++)
		run_lab(seed, struct_used_again);
}

/* Words of sequences lie in single extents, taken as they are needed, though no two that are free
 * are neighbours. */
static void
words(struct fixture *fix)
{
	enum { MOST = 1024, WORDS = 5000 };
	net_addr at[MOST], *word = calloc(WORDS, sizeof *word), last = { 0 };
	unsigned n = 0, got, pages = 0;
	for (unsigned r = 1; r <= 2; r++) {
		assert_int_equal(net_extents_take(fix->w[0], r, MOST - n, false, at + n, &got), NAM_FULL);
		n += got;
	}
	for (unsigned i = 0; i < n; i += 2)
		assert_int_equal(net_extent_give(fix->w[0], at[i]), NAM_OK);
	for (unsigned i = 0; i < WORDS; i++) {
		unsigned p = i % PROCS;
		int64_t seen = 0;
		struct cat_sequence q = { .step = 1 };
		assert_int_equal(cat_sequence_word(fix->cat[p], fix->tw[p], i, &q), NAM_OK);
		word[i] = q.word;
		assert_int_equal(net_read1(fix->w[0], word[i], &seen, sizeof seen, NULL), NAM_OK);
		assert_int_equal(seen, i);
		net_addr extent = { word[i].bits & ~(uint64_t)(NET_EXTENT - 1) };
		assert_true(i == 0 || word[i].bits != word[i - 1].bits);
		pages += extent.bits != last.bits;
		last = extent;
	}
	assert_int_equal(pages, 5);
	/* None was given out twice. */
	for (unsigned i = 0; i < WORDS; i++) {
		int64_t seen = 0;
		assert_int_equal(net_read1(fix->w[1], word[i], &seen, sizeof seen, NULL), NAM_OK);
		assert_int_equal(seen, i);
	}
	free(word);
}

static void
test_words(void **state)
{
	(void)state;
	run_lab(1, words);
}

/* ---- shots that follow ---- */

enum { NAMES = 24, STEPS = 260, ALTERS = 6 };

/* What a process sees is what one sees that reads the catalog: process 2 changes nothing, so it has
 * nothing to follow. */
static void
assert_same_shots(struct fixture *fix)
{
	const struct cat_table **is, **should;
	struct nam_arena arena;
	unsigned n, want;
	nam_arena_init(&arena, 0);
	for (unsigned p = 0; p < 2; p++) {
		struct txn *t = begin(fix, p, TXN_REPEATABLE_READ), *u = begin(fix, 2, TXN_REPEATABLE_READ);
		assert_int_equal(cat_list(fix->cat[p], t, &is, &n, &arena), NAM_OK);
		assert_int_equal(cat_list(fix->cat[2], u, &should, &want, &arena), NAM_OK);
		assert_int_equal(n, want);
		for (unsigned i = 0; i < n; i++) {
			const struct cat_table *a = is[i], *b = should[i], *by_id;
			assert_string_equal(a->path, b->path);
			assert_int_equal(a->store.id, b->store.id);
			assert_int_equal(a->generation, b->generation);
			assert_int_equal(a->columns, b->columns);
			assert_int_equal(a->store.guard.bits, b->store.guard.bits);
			assert_int_equal(a->store.guard_word, b->store.guard_word);
			assert_ptr_equal(find(fix, p, t, a->path), a);
			assert_int_equal(cat_of_id(fix->cat[p], t, a->store.id, &by_id), NAM_OK);
			assert_ptr_equal(by_id, a);
		}
		abandon(fix, p, t);
		abandon(fix, 2, u);
	}
	nam_arena_fini(&arena);
}

/* Makes, alters, renames or drops a relation of some name. */
static nam_status
change(struct fixture *fix, unsigned p, struct txn *t)
{
	char name[16], other[16];
	snprintf(name, sizeof name, "r%02u", (unsigned)nam_rng_below(net_rng(fix->w[0]), NAMES));
	snprintf(other, sizeof other, "r%02u", (unsigned)nam_rng_below(net_rng(fix->w[0]), NAMES));
	const struct cat_table *tab = find(fix, p, t, name);
	if (tab == NULL)
		return create(fix, p, t, name);
	nam_status st = cat_hold(fix->cat[p], t, tab);
	unsigned what = (unsigned)nam_rng_below(net_rng(fix->w[0]), ALTERS);
	if (st != NAM_OK || what < 3)
		return st == NAM_OK ? cat_drop(fix->cat[p], t, tab) : st;
	struct cat_table def = *tab;
	if (what == 3 && find(fix, p, t, other) == NULL)
		snprintf(def.path, sizeof def.path, "%s", other);
	return cat_alter(fix->cat[p], t, tab, &def);
}

static void
followed(struct fixture *fix)
{
	for (unsigned i = 0; i < STEPS; i++) {
		struct nam_rng *dice = net_rng(fix->w[0]);
		unsigned p = nam_rng_below(dice, 8) == 0, changes = 1 + (unsigned)nam_rng_below(dice, 4);
		struct txn *t = begin(fix, p, TXN_READ_COMMITTED);
		nam_status st = NAM_OK;
		for (unsigned k = 0; st == NAM_OK && k < changes; k++)
			st = change(fix, p, t);
		if (st == NAM_OK && nam_rng_below(dice, 8) != 0) {
			st = commit(fix, p, t);
			assert_true(st == NAM_OK || st == NAM_CONFLICT || st == NAM_DUPLICATE);
		} else {
			abandon(fix, p, t);
		}
		/* Several commits are followed at once, also of both processes. */
		if (nam_rng_below(dice, 3) == 0)
			continue;
		settle(fix);
		assert_same_shots(fix);
	}
}

static void
test_followed(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++)
		run_lab(seed, followed);
}

/* Bytes that this process READs for a table made and found. */
static uint64_t
cost_of_one(struct fixture *fix, const char *name)
{
	struct net_counts c = { 0 };
	net_account_to(&c);
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(create(fix, 0, t, name), NAM_OK);
	assert_int_equal(commit(fix, 0, t), NAM_OK);
	t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_def(find(fix, 0, t, name), name);
	abandon(fix, 0, t);
	net_account_to(NULL);
	return c.bytes_in;
}

static void
many(struct fixture *fix)
{
	enum { MANY = 120 };
	char name[16];
	uint64_t few = 0, all = 0;
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "m%u", i);
		uint64_t cost = cost_of_one(fix, name);
		few += i >= 5 && i < 25 ? cost : 0;
		all += i >= MANY - 20 ? cost : 0;
	}
	/* Read whole, the catalog's tables are three extents at least. */
	assert_in_range(all, 1, few * 3 / 2);
	assert_in_range(all / 20, 1, NET_EXTENT);
}

static void
test_many(void **state)
{
	(void)state;
	run_lab(1, many);
}

static nam_status
enter(struct fixture *fix, struct txn *t, const char *name, bool *claimed)
{
	struct nam_arena arena;
	struct cat_role role;
	nam_arena_init(&arena, 0);
	nam_status st = cat_role_enter(fix->cat[0], t, name, true, &role, claimed, &arena);
	nam_arena_fini(&arena);
	return st;
}

/* Two clients claim a new cluster: the later one's snapshot is from before the other's commit. */
static void
claims(struct fixture *fix)
{
	bool first, second;
	struct txn *late = begin(fix, 0, TXN_READ_COMMITTED);
	struct txn *t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(enter(fix, t, CAT_FIRST_ROLE, &second), NAM_OK);
	assert_false(second);
	assert_int_equal(enter(fix, t, "one", &first), NAM_OK);
	assert_true(first);
	assert_int_equal(commit(fix, 0, t), NAM_OK);
	assert_int_equal(enter(fix, late, "two", &second), NAM_DUPLICATE);
	assert_false(second);
	abandon(fix, 0, late);
	t = begin(fix, 0, TXN_READ_COMMITTED);
	assert_int_equal(enter(fix, t, "two", &second), NAM_ABSENT);
	assert_int_equal(enter(fix, t, "one", &second), NAM_OK);
	assert_false(second);
	abandon(fix, 0, t);
}

static void
test_claims(void **state)
{
	(void)state;
	run_lab(1, claims);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_undone),
		cmocka_unit_test(test_domain),
		cmocka_unit_test(test_race),
		cmocka_unit_test(test_schemas),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_churn),
		cmocka_unit_test(test_late_writer),
		cmocka_unit_test(test_struct_used_again),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_followed),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_claims),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
