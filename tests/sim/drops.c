/*
 * drops.c -- tables that come, are filled, emptied, dropped and made again, by all clients at once.
 *
 * A name is a key of KEYED whose row says which table has the name, like the catalog of SQL. The
 * row guards the table (txn.h), a drop holds it, deletes the row or has it name a fresh table, and
 * frees the old one when the commit is answered. Others insert, delete and scan meanwhile, and
 * their collectors have its blocks in their queues when its memory goes back. What a reader was
 * shown of it is judged like any other answer; what became of its memory, by the rows of the other
 * tables, and by the audit.
 */
#include "sim_txn.h"

#include <base/assert.h>
#include <base/hash.h>

enum {
	FIRST_ID = 10, /* of these tables; KEYED and BARE have 1 and 2 */
	ROWS = 24,     /* keys of such a table */
	MANY = 12,     /* rows that a statement inserts at most */
};

struct txn_table
drops_table(const struct run *r, unsigned n)
{
	return (struct txn_table){ .id = FIRST_ID + n,
		.slots = (uint16_t)r->shape.slots,
		.row_max = sizeof(struct row),
		.has_key = true,
		.listed = true,
		.same_key = row_same_key,
		.blobs = row_blobs };
}

bool
drops_lives(struct run *r, unsigned n)
{
	const struct born *b = &r->born[n];
	return b->value != 0 && hist_value_at(r->hist, KEYED, b->name, UINT64_MAX) == b->value;
}

nam_status
drops_listed(void *place, struct txn *t, uint32_t table, net_addr anchor, bool *yes)
{
	struct place *p = place;
	struct nam_arena arena;
	nam_status st = NAM_OK;
	*yes = false;
	nam_arena_init(&arena, 0);
	for (uint64_t name = DROP_AT; st == NAM_OK && name < DROP_AT + NAMES_MAX; name++) {
		struct txn_table *keyed = &p->table[KEYED];
		struct row row;
		struct txn_get g = {
			.table = keyed, .key = &name, .key_len = 8, .hash = nam_hash(&name, 8, keyed->id)
		};
		st = txn_get(t, &g, 1, &arena);
		if (st == NAM_OK && g.status == NAM_OK && row_true(g.row.bytes, g.row.len, &row))
			*yes |= FIRST_ID + (uint64_t)row.balance == table;
		else if (st == NAM_OK && g.status != NAM_ABSENT)
			st = NAM_CORRUPT;
	}
	(void)anchor; /* of a number there is one */
	nam_arena_fini(&arena);
	return st;
}

/* ---- what a process has of them ---- */

static nam_status
open_here(struct session *s, unsigned n)
{
	struct place *p = s->place;
	struct txn_table *t = &p->temp[n];
	if (t->view != NULL)
		return NAM_OK;
	*t = drops_table(s->run, n);
	t->anchor = s->run->born[n].anchor;
	return txn_table_open(p->db, t);
}

/* The table stays open here until the transaction ends. */
static void
use(struct session *s, unsigned n)
{
	for (unsigned i = 0; i < s->using; i++)
		if (s->used[i] == n)
			return;
	NAM_ASSERT(s->using < USED_MAX);
	s->used[s->using ++] = (uint8_t)n;
	s->place->users[n]++;
}

void
drops_close(struct run *r, struct place *p)
{
	for (unsigned n = 0; n < r->births; n++)
		if (p->temp[n].view != NULL)
			txn_table_close(p->db, &p->temp[n]);
}

/* ---- statements ---- */

/* A new table, filled a bit, gets that name: in a row of its own, or in that of the table it
 * replaces. */
static nam_status
make_table(struct session *s, uint64_t name, struct txn_row *row, const struct row *was)
{
	struct run *r = s->run;
	if (r->births == BORN_MAX || s->mades == MADE_MAX || s->using == USED_MAX)
		return NAM_OK;
	unsigned n = r->births++;
	struct txn_table t = drops_table(r, n);
	nam_status st = txn_table_create(s->tw, &t);
	if (st != NAM_OK)
		return st;
	r->born[n] = (struct born){ .name = name, .anchor = t.anchor };
	s->made[s->mades++] = (uint8_t)n;
	r->worked.made++;
	int64_t which = (int64_t)n;
	if ((st = open_here(s, n)) != NAM_OK)
		return st;
	use(s, n);
	if (row != NULL)
		st = client_replace(s, KEYED, row, was, which);
	else
		st = client_insert(s, KEYED, &name, &which, 1);
	if (st != NAM_OK)
		return st;
	r->born[n].value = s->h->op[s->h->n - 1].value; /* what was written just now */
	uint64_t key[ITEMS];
	unsigned m = 1 + (unsigned)dice(s, ITEMS);
	for (unsigned i = 0; i < m; i++)
		key[i] = i;
	return client_insert(s, TEMP + n, key, NULL, m);
}

/* Row is the name's, r what it says: n. */
static nam_status
drop_table(struct session *s, unsigned n, uint64_t name, struct txn_row *row, struct row *r)
{
	struct txn_table *t = &s->place->temp[n];
	nam_status st = client_lock(s, KEYED, row, r);
	if (st == NAM_ABSENT || (st == NAM_OK && (r->balance != (int64_t)n || s->dropped == MADE_MAX)))
		return NAM_OK; /* another table has the name by now, or none */
	if (st == NAM_OK && t->guard.bits != 0) {
		st = txn_lock_now(s->t, &s->place->table[KEYED], row, true);
		if (st == NAM_OK && (row->at.bits != t->guard.bits || row->cid != t->guard_word))
			st = NAM_CONFLICT;
		if (st == NAM_OK)
			st = txn_lock_table(s->t, t);
	}
	if (st != NAM_OK)
		return st == NAM_ABSENT ? NAM_CONFLICT : st;
	txn_set_note(s->t, TSO_NOTE_CATALOG);
	s->drop[s->dropped++] = (uint8_t)n;
	if (dice(s, 2) || s->run->births == BORN_MAX || s->mades == MADE_MAX || s->using == USED_MAX)
		return client_erase(s, KEYED, row, r);
	return make_table(s, name, row, r);
}

/* Deletes some rows, or rewrites them. */
static nam_status
change_rows(struct session *s, unsigned table, bool all)
{
	uint64_t key[ITEMS];
	struct txn_get g[ITEMS];
	struct row r[ITEMS];
	unsigned n = all ? ITEMS : 1 + (unsigned)dice(s, 3);
	uint64_t first = dice(s, ROWS);
	for (unsigned i = 0; i < n; i++)
		key[i] = (first + i) % ROWS;
	nam_status st = client_get_in(s, table, key, n, g, r);
	for (unsigned i = 0; st == NAM_OK && i < n; i++) {
		if (g[i].status != NAM_OK)
			continue;
		st = client_lock(s, table, &g[i].row, &r[i]);
		if (st == NAM_OK)
			st = all || dice(s, 2) ? client_erase(s, table, &g[i].row, &r[i])
					       : client_replace(s, table, &g[i].row, &r[i], 0);
		if (st == NAM_ABSENT)
			st = NAM_OK; /* deleted meanwhile */
	}
	return st;
}

static nam_status
insert_rows(struct session *s, unsigned table)
{
	nam_status st = NAM_OK;
	for (unsigned n = 1 + (unsigned)dice(s, MANY); st == NAM_OK && n > 0; n--) {
		uint64_t key = dice(s, ROWS);
		struct txn_get g;
		struct row r;
		st = client_get_in(s, table, &key, 1, &g, &r);
		if (st == NAM_OK && g.status == NAM_ABSENT)
			st = client_insert(s, table, &key, NULL, 1);
	}
	return st;
}

nam_status
drops_statement(struct session *s)
{
	struct run *run = s->run;
	uint64_t name = DROP_AT + dice(s, NAMES_MAX);
	struct txn_get g;
	struct row r;
	nam_status st = client_get(s, &name, 1, &g, &r);
	if (st != NAM_OK)
		return st;
	if (g.status == NAM_ABSENT)
		return make_table(s, name, NULL, NULL);
	unsigned n = (unsigned)r.balance;
	if (s->using == USED_MAX)
		return NAM_OK;
	if ((st = open_here(s, n)) != NAM_OK)
		return st;
	use(s, n);
	struct txn_table *t = &s->place->temp[n];
	if (g.row.cid != 0 && t->guard.bits == 0) {
		t->guard = g.row.at;
		t->guard_word = g.row.cid;
	}
	run->worked.temp_statements++;
	switch (run->shape.rush && dice(s, 6) == 0 ? 0 : dice(s, 12)) {
	case 0:
		return drop_table(s, n, name, &g.row, &r);
	case 1:
	case 2:
		return client_scan(s, TEMP + n, false, NULL, NULL);
	case 3:
	case 4:
	case 5:
		return change_rows(s, TEMP + n, true);
	case 6:
	case 7:
		return change_rows(s, TEMP + n, false);
	default:
		return insert_rows(s, TEMP + n);
	}
}

nam_status
drops_read_all(struct session *s)
{
	nam_status st = NAM_OK;
	for (uint64_t name = DROP_AT; st == NAM_OK && name < DROP_AT + NAMES_MAX; name++) {
		struct txn_get g;
		struct row r;
		st = client_get(s, &name, 1, &g, &r);
		if (st != NAM_OK || g.status != NAM_OK)
			continue;
		s->run->named[name - DROP_AT] = (unsigned)r.balance + 1;
		if ((st = open_here(s, (unsigned)r.balance)) == NAM_OK)
			st = client_scan(s, TEMP + (unsigned)r.balance, false, NULL, NULL);
	}
	return st;
}

void
drops_ended(struct session *s, enum hist_end end)
{
	struct place *p = s->place;
	if (end == HIST_COMMITTED) {
		for (unsigned i = 0; i < s->dropped; i++) {
			unsigned n = s->drop[i];
			s->run->worked.dropped++;
			s->run->born[n].gone = true;
			(void)txn_table_free(s->tw, &p->temp[n], s->h->cid);
		}
		for (unsigned i = 0; i < s->mades; i++) {
			const struct born *b = &s->run->born[s->made[i]];
			struct txn_table t = { .anchor = b->anchor };
			if (!b->gone)
				(void)txn_table_made(s->tw, &t);
		}
	} else if (end == HIST_ABORTED && !net_sim_crashed(p->net)) {
		for (unsigned i = 0; i < s->mades; i++) {
			struct txn_table t = drops_table(s->run, s->made[i]);
			t.anchor = s->run->born[s->made[i]].anchor;
			s->run->born[s->made[i]].gone = true;
			(void)txn_table_free(s->tw, &t, 0);
		}
	}
	/* Closed as soon as no client here uses it, or at the very end. */
	for (unsigned i = 0; i < s->using; i++) {
		unsigned n = s->used[i];
		if (--p->users[n] == 0 && s->run->born[n].gone && dice(s, 2) && p->temp[n].view != NULL)
			txn_table_close(p->db, &p->temp[n]);
	}
	s->mades = s->dropped = s->using = 0;
}
