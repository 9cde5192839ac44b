/* client.c -- one client: transactions of every kind by dice, each answer written into the
 * history. */
#include "sim_txn.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static uint32_t
fill_len(uint64_t value)
{
	return (uint32_t)(nam_mix(value) % (FILL_MAX + 1));
}

/* The i-th eight bytes of what a value fills a row or a blob with. */
static uint64_t
fill_word(uint64_t value, uint32_t i)
{
	return nam_mix(value + i);
}

static void
fill_make(void *bytes, uint32_t n, uint64_t value)
{
	for (uint32_t i = 0; i < n; i += 8) {
		uint64_t word = fill_word(value, i / 8);
		memcpy((char *)bytes + i, &word, n - i < 8 ? n - i : 8);
	}
}

static bool
fill_true(const void *bytes, uint32_t n, uint64_t value)
{
	for (uint32_t i = 0; i < n; i += 8) {
		uint64_t word = fill_word(value, i / 8);
		if (memcmp((const char *)bytes + i, &word, n - i < 8 ? n - i : 8) != 0)
			return false;
	}
	return true;
}

uint32_t
row_make(struct row *r, uint64_t key, uint64_t value, int64_t balance, const struct txn_blob *blob)
{
	memset(r, 0, sizeof *r);
	r->key = key;
	r->value = value;
	r->balance = balance;
	if (blob)
		r->blob = *blob;
	uint32_t n = fill_len(value);
	fill_make(r->fill, n, value);
	return ROW_HEAD + n;
}

bool
row_is_list(uint64_t key)
{
	return key >= LIST_AT && key < FORK_AT;
}

/* A list is its elements, the last of which is the version's value; balance is their sum. */
static uint32_t
list_make(struct row *r, uint64_t key, uint64_t value, const struct row *was)
{
	uint64_t n = was != NULL ? was->count : 0;
	memset(r, 0, sizeof *r);
	r->key = key;
	r->value = value;
	r->count = n + 1;
	if (n > 0)
		memcpy(r->fill, was->fill, 8 * n);
	memcpy(r->fill + 8 * n, &value, 8);
	r->balance = (int64_t)nam_hash(r->fill, 8 * r->count, key);
	return (uint32_t)(ROW_HEAD + 8 * r->count);
}

static bool
list_true(const struct row *r, uint32_t len)
{
	return r->count > 0 && r->count <= LIST_MAX && len == ROW_HEAD + 8 * r->count &&
	       memcmp(r->fill + 8 * (r->count - 1), &r->value, 8) == 0 &&
	       r->balance == (int64_t)nam_hash(r->fill, 8 * r->count, r->key);
}

bool
row_true(const void *bytes, uint32_t len, struct row *out)
{
	if (len < ROW_HEAD || len > sizeof *out)
		return false;
	memset(out, 0, sizeof *out);
	memcpy(out, bytes, len);
	if (row_is_list(out->key))
		return list_true(out, len);
	uint32_t n = fill_len(out->value);
	return len == ROW_HEAD + n && fill_true(out->fill, n, out->value);
}

bool
row_same_key(const struct txn_table *t, const void *row, uint32_t len, const void *key, uint32_t key_len)
{
	(void)t;
	return len >= 8 && key_len == 8 && memcmp(row, key, 8) == 0;
}

unsigned
row_blobs(const struct txn_table *t, const void *row, uint32_t len, struct txn_blob *out, unsigned max)
{
	(void)t;
	if (len < ROW_HEAD || max == 0)
		return 0;
	memcpy(out, (const char *)row + offsetof(struct row, blob), sizeof *out);
	return out->len > 0;
}

struct txn_put
row_put(struct txn_table *table, const struct row *r, uint32_t len)
{
	struct txn_put p = { .table = table, .bytes = r, .len = len };
	if (table->has_key) {
		p.key = &r->key;
		p.key_len = 8;
		p.hash = nam_hash(&r->key, 8, table->id);
	}
	return p;
}

/* ---- a session: one transaction at a time, and its record ---- */

static bool
is_dead(const struct session *s)
{
	return net_sim_crashed(s->place->net);
}

/* An answer that is right only because of what was done to this process or to a node. */
static bool
is_trouble(struct session *s, nam_status st)
{
	if (is_dead(s))
		return true;
	if (!s->place->troubled || (st != NAM_GONE && st != NAM_UNSURE && st != NAM_CANCELLED))
		return false;
	if (s->place->found == 0)
		s->place->found = net_sim_now_ns(s->run->sim);
	s->told++;
	return true;
}

/* It can go on, over a new connection. */
static void
goes_on(struct session *s)
{
	if (s->place->found != 0 && s->run->lost == 0)
		s->run->trouble.went_on++;
	s->place->found = 0;
	s->told = 0;
}

/* Where little memory is, that it is used up is an answer like any other. */
static bool
is_full(struct session *s, nam_status st)
{
	if (st != NAM_FULL || !(s->run->shape.loads >> TINY & 1))
		return false;
	s->run->worked.full++;
	s->wants_room = true;
	return true;
}

uint64_t
dice(struct session *s, uint64_t n)
{
	return nam_rng_below(net_rng(s->w), n);
}

static void
note(struct session *s, enum hist_kind kind, unsigned table, uint64_t id, uint64_t value, uint64_t base,
    int64_t aux)
{
	hist_add(s->h, (struct hist_op){ .kind = kind,
			   .table = table,
			   .id = id,
			   .value = value,
			   .base = base,
			   .aux = aux,
			   .snap = txn_snapshot(s->t),
			   .asked = s->latest ? 0 : s->asked });
}

static void
check_blob(struct session *s, const struct row *r)
{
	if (r->blob.len == 0)
		return;
	const void *bytes;
	nam_status st = txn_blob_get(s->t, &r->blob, 1, &bytes, &s->arena);
	if (st != NAM_OK && is_trouble(s, st))
		return; /* the dead read nothing */
	if (st != NAM_OK) {
		run_bad(s->run, "blob of a visible row (key %lu value %lx): %s", r->key, r->value,
		    nam_status_name(st));
		return;
	}
	if (!fill_true(bytes, r->blob.len, r->value))
		run_bad(s->run, "blob of key %lu value %lx has wrong bytes", r->key, r->value);
}

/* One row as an answer showed it. */
static bool
decode(struct session *s, unsigned table, const struct txn_row *row, struct row *out)
{
	if (!row_true(row->bytes, row->len, out)) {
		run_bad(s->run, "a row of table %u has bytes that were never written (snapshot %lx)", table,
		    txn_snapshot(s->t));
		return false;
	}
	if (table == KEYED && out->key < KEYS_MAX)
		s->run->block[out->key] = row->at;
	return true;
}

static struct txn_table *
table_of(struct session *s, unsigned table)
{
	return table < TEMP ? &s->place->table[table] : &s->place->temp[table - TEMP];
}

/* Reads n keys at once and notes what they showed. */
nam_status
client_get(struct session *s, const uint64_t *key, unsigned n, struct txn_get *g, struct row *out)
{
	return client_get_in(s, KEYED, key, n, g, out);
}

nam_status
client_get_in(
    struct session *s, unsigned table, const uint64_t *key, unsigned n, struct txn_get *g, struct row *out)
{
	struct txn_table *t = table_of(s, table);
	for (unsigned i = 0; i < n; i++)
		g[i] = (struct txn_get){
			.table = t, .key = &key[i], .key_len = 8, .hash = nam_hash(&key[i], 8, t->id)
		};
	struct txn_put ahead[ITEMS];
	unsigned m = s->latest && dice(s, 3) != 0 ? (n < ITEMS ? n : ITEMS) : 0;
	for (unsigned i = 0; i < m; i++)
		ahead[i] = (struct txn_put){ .table = t, .key = &key[i], .key_len = 8, .hash = g[i].hash };
	nam_status st = txn_get_ahead(s->t, g, n, ahead, m, &s->arena);
	if (st != NAM_OK)
		return st;
	for (unsigned i = 0; i < n; i++) {
		memset(&out[i], 0, sizeof out[i]);
		if (g[i].status == NAM_OK && !decode(s, table, &g[i].row, &out[i]))
			return NAM_CORRUPT;
		if (g[i].status == NAM_OK && out[i].key != key[i])
			run_bad(s->run, "asked for key %lu, got key %lu", key[i], out[i].key);
		if (g[i].status != NAM_OK && g[i].status != NAM_ABSENT)
			return g[i].status;
		note(s, s->latest ? HIST_LOCKED : HIST_READ, table, key[i], out[i].value, 0, out[i].balance);
		if (dice(s, 2))
			check_blob(s, &out[i]);
	}
	return NAM_OK;
}

static uint64_t
new_value(struct session *s)
{
	return ++s->run->next_value << 4 | s->process | 1u << 3;
}

/* The bytes of a next version; now and then with a blob. */
static nam_status
make(struct session *s, unsigned table, uint64_t key, int64_t balance, const struct row *was, struct row *r,
    uint32_t *len)
{
	uint64_t value = new_value(s);
	struct txn_blob blob = { 0 };
	if (row_is_list(key)) {
		*len = list_make(r, key, value, was);
		return NAM_OK;
	}
	if (dice(s, 5) == 0) {
		unsigned huge = s->load == TINY ? 2 : 20;
		uint32_t n = 1 + (uint32_t)dice(s, dice(s, huge) == 0 ? 150000 : 700);
		unsigned char *b = malloc(n);
		if (b == NULL)
			return NAM_NOMEM;
		fill_make(b, n, value);
		nam_status st = txn_blob_put(s->t, table_of(s, table), b, n, &blob);
		free(b);
		if (st != NAM_OK)
			return st;
	}
	*len = row_make(r, key, value, balance, &blob);
	return NAM_OK;
}

/* Locks a row (READ COMMITTED: maybe finding a newer version). *r gets the version that will be
 * replaced. */
nam_status
client_lock(struct session *s, unsigned table, struct txn_row *row, struct row *r)
{
	nam_status st = txn_lock(s->t, table_of(s, table), row);
	if (st == NAM_ABSENT)
		note(s, HIST_LOCKED, table, r->key, 0, 0, 0);
	if (st != NAM_OK)
		return st;
	uint64_t key = r->key;
	if (!decode(s, table, row, r))
		return NAM_CORRUPT;
	if (r->key != key)
		run_bad(s->run, "locked the row of key %lu, got that of key %lu", key, r->key);
	if (s->iso == TXN_READ_COMMITTED)
		note(s, HIST_LOCKED, table, r->key, r->value, 0, r->balance);
	return NAM_OK;
}

/* A next version written over the bytes of the row as it was read: of the same length, without a
 * blob. */
static nam_status
edit(struct session *s, unsigned table, struct txn_row *row, const struct row *was, int64_t balance)
{
	uint64_t value;
	void *bytes;
	do
		value = new_value(s);
	while (fill_len(value) != fill_len(was->value));
	nam_status st = txn_edit(s->t, table_of(s, table), row, &bytes);
	if (st != NAM_OK)
		return st;
	struct row r;
	uint32_t len = row_make(&r, was->key, value, balance, NULL);
	memcpy(bytes, &r, len);
	note(s, HIST_WRITE, table, r.key, r.value, was->value, balance);
	return NAM_OK;
}

nam_status
client_replace(struct session *s, unsigned table, struct txn_row *row, const struct row *was, int64_t balance)
{
	struct row r;
	uint32_t len;
	nam_status st = make(s, table, was->key, balance, was, &r, &len);
	if (st == NAM_OK)
		st = txn_update(s->t, table_of(s, table), row, &r, len);
	if (st == NAM_OK)
		note(s, HIST_WRITE, table, r.key, r.value, was->value, balance);
	return st;
}

nam_status
client_erase(struct session *s, unsigned table, struct txn_row *row, const struct row *was)
{
	nam_status st = txn_delete(s->t, table_of(s, table), row);
	if (st == NAM_OK)
		note(s, HIST_WRITE, table, was->key, 0, was->value, 0);
	return st;
}

nam_status
client_insert(struct session *s, unsigned table, const uint64_t *key, const int64_t *balance, unsigned n)
{
	struct row r[ITEMS];
	struct txn_put p[ITEMS];
	for (unsigned i = 0; i < n; i++) {
		uint32_t len;
		nam_status st = make(s, table, key[i], balance ? balance[i] : 0, NULL, &r[i], &len);
		if (st != NAM_OK)
			return st;
		p[i] = row_put(table_of(s, table), &r[i], len);
	}
	nam_status st = txn_insert(s->t, p, n);
	for (unsigned i = 0; i < n; i++) {
		if (st == NAM_OK)
			note(s, HIST_WRITE, table, key[i], r[i].value, 0, r[i].balance);
		else if (st == NAM_DUPLICATE && p[i].status == NAM_DUPLICATE)
			note(s, HIST_EXISTS, table, key[i], 0, 0, 0);
	}
	return st;
}

/* ---- statements ---- */

static unsigned
some_keys(struct session *s, uint64_t *key, unsigned max)
{
	unsigned n = 1 + (unsigned)dice(s, max);
	uint64_t first = dice(s, s->run->shape.keys), step = 1 + dice(s, 3);
	for (unsigned i = 0; i < n; i++)
		key[i] = (first + i * step) % s->run->shape.keys;
	for (unsigned i = 1; i < n; i++)
		for (unsigned k = 0; k < i; k++)
			if (key[i] == key[k])
				return i;
	return n;
}

static nam_status
do_read(struct session *s)
{
	uint64_t key[4];
	struct txn_get g[4];
	struct row r[4];
	return client_get(s, key, some_keys(s, key, 4), g, r);
}

static uint64_t
some_account(struct session *s)
{
	return s->run->shape.hot && dice(s, 4) ? dice(s, 4) == 0 : dice(s, ACCOUNTS);
}

/* A new version of an account that says the same: keeps hot rows moving. */
nam_status
client_touch(struct session *s)
{
	uint64_t key = some_account(s);
	struct txn_get g;
	struct row r;
	nam_status st = client_get(s, &key, 1, &g, &r);
	if (st == NAM_OK)
		st = client_lock(s, KEYED, &g.row, &r);
	if (st != NAM_OK)
		return st;
	return r.blob.len == 0 && dice(s, 2) ? edit(s, KEYED, &g.row, &r, r.balance)
					     : client_replace(s, KEYED, &g.row, &r, r.balance);
}

static nam_status
do_transfer(struct session *s)
{
	uint64_t key[2] = { some_account(s), 0 };
	key[1] = (key[0] + 1 + dice(s, ACCOUNTS - 1)) % ACCOUNTS;
	struct txn_get g[2];
	struct row r[2];
	nam_status st = client_get(s, key, 2, g, r);
	if (st != NAM_OK)
		return st;
	int64_t amount = 1 + (int64_t)dice(s, 50);
	for (unsigned i = 0; i < 2; i++) {
		if (g[i].status != NAM_OK) {
			run_bad(s->run, "account %lu is gone at %lx", key[i], txn_snapshot(s->t));
			return NAM_CORRUPT;
		}
		if ((st = client_lock(s, KEYED, &g[i].row, &r[i])) != NAM_OK)
			return st;
		int64_t balance = r[i].balance + (i ? amount : -amount);
		st = r[i].blob.len == 0 && dice(s, 2) ? edit(s, KEYED, &g[i].row, &r[i], balance)
						      : client_replace(s, KEYED, &g[i].row, &r[i], balance);
		if (st != NAM_OK)
			return st;
	}
	return NAM_OK;
}

/* Writes one key that may come and go: whatever its state asks for. */
static nam_status
do_change(struct session *s)
{
	uint64_t key[4];
	struct txn_get g[4];
	struct row r[4];
	unsigned n = 1 + (unsigned)dice(s, 2), m = 0;
	nam_status st;
	for (unsigned i = 0; i < n; i++)
		key[i] = ACCOUNTS +
			 (i * 3 + dice(s, s->run->shape.keys - ACCOUNTS)) % (s->run->shape.keys - ACCOUNTS);
	if (n == 2 && key[0] == key[1])
		n = 1;
	if (dice(s, 4) == 0) /* blindly */
		return client_insert(s, KEYED, key, NULL, n);
	if ((st = client_get(s, key, n, g, r)) != NAM_OK)
		return st;
	uint64_t missing[4];
	for (unsigned i = 0; i < n; i++) {
		if (g[i].status == NAM_ABSENT) {
			missing[m++] = key[i];
			continue;
		}
		st = client_lock(s, KEYED, &g[i].row, &r[i]);
		if (st == NAM_ABSENT)
			continue; /* deleted meanwhile: READ COMMITTED updates nothing */
		if (st != NAM_OK)
			return st;
		st = dice(s, 3) == 0 ? client_erase(s, KEYED, &g[i].row, &r[i])
				     : client_replace(s, KEYED, &g[i].row, &r[i], r[i].balance);
		if (st != NAM_OK)
			return st;
	}
	return m > 0 ? client_insert(s, KEYED, missing, NULL, m) : NAM_OK;
}

/* A whole table; afterwards maybe changes one of the rows it showed. */
nam_status
client_scan(struct session *s, unsigned table, bool change,
    void (*see)(void *arg, unsigned table, const struct row *r), void *arg)
{
	struct txn_scan *scan;
	struct txn_row rows[16];
	struct txn_row pick = { .at = { 0 } };
	struct row r, picked;
	unsigned n, count = 0;
	nam_status st = txn_scan_open(s->t, table_of(s, table), &scan);
	if (st != NAM_OK)
		return st;
	note(s, HIST_SCAN, table, 0, 0, 0, 0);
	unsigned max = 1 + (unsigned)dice(s, 16);
	while ((st = txn_scan_next(scan, rows, max, &n)) == NAM_OK && n > 0)
		for (unsigned i = 0; i < n; i++) {
			if (!decode(s, table, &rows[i], &r)) {
				txn_scan_close(scan);
				return NAM_CORRUPT;
			}
			note(s, HIST_ITEM, table, r.key, r.value, 0, r.balance);
			if (see != NULL)
				see(arg, table, &r);
			if (table == KEYED ? r.key < ACCOUNTS || r.key >= KEYS_MAX : r.balance != 0)
				continue; /* no client may change it */
			if (dice(s, ++count) == 0) {
				pick = rows[i];
				if (txn_row_keep(table_of(s, table), &pick, &s->arena) != NAM_OK)
					pick.at.bits = 0;
				picked = r;
			}
		}
	txn_scan_close(scan);
	if (st != NAM_OK)
		hist_cut(s->h);
	if (st != NAM_OK || !change || pick.at.bits == 0)
		return st;
	if (dice(s, 2))
		check_blob(s, &picked);
	st = client_lock(s, table, &pick, &picked);
	if (st == NAM_ABSENT)
		return NAM_OK;
	if (st != NAM_OK)
		return st;
	if (s->wants_room || dice(s, 2))
		return client_erase(s, table, &pick, &picked);
	return client_replace(s, table, &pick, &picked, picked.balance);
}

/* The whole keyed table by its ordered index. */
static nam_status
do_range(struct session *s)
{
	struct txn_range *range;
	struct txn_row rows[16];
	struct row r;
	unsigned n = 0, max = 1 + (unsigned)dice(s, 16);
	const struct idx_tree_range all = { .descending = dice(s, 2) };
	nam_status st = txn_range_open(s->t, table_of(s, KEYED), 0, &all, &range);
	if (st != NAM_OK)
		return st;
	note(s, HIST_SCAN, KEYED, 0, 0, 0, 0);
	while ((st = txn_range_next(range, rows, max, &n)) == NAM_OK && n > 0)
		for (unsigned i = 0; i < n; i++) {
			if (!decode(s, KEYED, &rows[i], &r)) {
				txn_range_close(range);
				return NAM_CORRUPT;
			}
			note(s, HIST_ITEM, KEYED, r.key, r.value, 0, r.balance);
		}
	txn_range_close(range);
	s->run->worked.ranges += st == NAM_OK;
	if (st != NAM_OK)
		hist_cut(s->h);
	return st;
}

static nam_status
do_bare_insert(struct session *s)
{
	uint64_t id[4];
	unsigned n = 1 + (unsigned)dice(s, 3);
	for (unsigned i = 0; i < n; i++)
		id[i] = ++s->run->next_id;
	s->rows += n;
	return client_insert(s, BARE, id, NULL, n);
}

static nam_status
statement(struct session *s)
{
	if (s->run->shape.hot && dice(s, 2))
		return client_touch(s);
	switch (dice(s, 16)) {
	case 0:
	case 1:
	case 2:
	case 3:
		return do_read(s);
	case 4:
	case 5:
	case 6:
	case 7:
		return do_transfer(s);
	case 8:
	case 9:
	case 10:
	case 11:
		return do_change(s);
	case 12:
		return s->run->shape.ordered && dice(s, 4) != 0
			   ? do_range(s)
			   : client_scan(s, KEYED, dice(s, 2), NULL, NULL);
	case 13:
	case 14:
		return client_scan(s, BARE, true, NULL, NULL);
	default:
		return do_bare_insert(s);
	}
}

/* ---- transactions ---- */

enum {
	TOLD_MAX = 4,   /* then a client of a process in trouble gives up */
	AFTER_LOSS = 8, /* transactions of a client when a node is lost */
	/*
	 * If no client has committed for so long, a client gives up. All may want the one row that
	 * a process had locked when it died. Its lock is freed a lease and a fifth later, and its
	 * recoverers may die one after another. A try for a lock costs a client no more than some
	 * ten microseconds, so a number of transactions alone is no limit.
	 */
	STALLED_NS = PROCS_MAX * SIM_LEASE_MS * 1500000,
	WITH_VISITORS_NS = 40000000,
};

static void
end(struct session *s, bool commit, bool everywhere)
{
	tso_cid cid = 0;
	nam_status st = NAM_CANCELLED;
	s->h->everywhere = everywhere;
	if (everywhere)
		txn_set_cluster_visible(s->t, true);
	if (commit && s->run->shape.storm)
		storm_commit(s->run, s->process, false);
	if (commit)
		st = txn_commit(s->t, &cid);
	else
		txn_abort(s->t);
	if (st == NAM_UNSEEN && (is_dead(s) || s->place->troubled)) {
		s->h->everywhere = false;
		st = NAM_OK;
	}
	if (cid != 0 && st == NAM_OK && s->run->shape.storm)
		storm_commit(s->run, s->process, true);
	s->run->done[1][st]++;
	if (is_dead(s) || s->place->troubled)
		s->h->everywhere = false; /* no client was answered, or none can know */
	if (st != NAM_OK && (is_dead(s) || (st == NAM_UNSURE && s->place->troubled))) {
		s->run->trouble.unsure += !is_dead(s);
		s->run->trouble.stall_unsure += !is_dead(s) && s->place->stalled;
		is_trouble(s, st);
		hist_end(s->run->hist, s->h, HIST_UNKNOWN, cid);
		load_ended(s, HIST_UNKNOWN);
		return;
	}
	/* Any other error is a promise: nothing of it was, is or will be there. */
	if (commit && st != NAM_OK && st != NAM_CONFLICT && st != NAM_DUPLICATE && !is_full(s, st) &&
	    !is_trouble(s, st))
		run_bad(s->run, "a commit ended with %s", nam_status_name(st));
	s->run->trouble.gone += st == NAM_GONE;
	hist_end(s->run->hist, s->h, st == NAM_OK ? HIST_COMMITTED : HIST_ABORTED, cid);
	load_ended(s, s->h->end);
	if (st == NAM_OK && s->number < CLIENTS) {
		s->run->committed++;
		s->run->committed_ns = net_sim_now_ns(s->run->sim);
		s->run->committed_by[s->number]++;
		goes_on(s);
		s->run->trouble.after += s->run->lost != 0;
	}
}

/*
 * latest: txn_begin_latest. To the history it is a READ COMMITTED transaction of one statement that
 * has all its rows locked: each of its WRITEs names the version that it replaces, and that has to
 * be the one before it.
 */
static bool
begin(struct session *s, enum txn_iso iso, bool latest)
{
	static const enum hist_iso of[] = {
		[TXN_READ_COMMITTED] = HIST_RC, [TXN_REPEATABLE_READ] = HIST_RR, [TXN_SERIALIZABLE] = HIST_SER
	};
	nam_arena_reset(&s->arena);
	s->onces = s->orders = s->rows = 0;
	s->latest = latest;
	s->iso = latest ? TXN_REPEATABLE_READ : iso;
	s->h = hist_begin(s->run->hist, s->process, s->number, latest ? HIST_RC : of[iso]);
	s->asked = s->h->began;
	txn_reach(s->tw);
	nam_status st = latest ? txn_begin_latest(s->tw, NULL, &s->t) : txn_begin(s->tw, iso, &s->t);
	if (st != NAM_OK) {
		if (!is_trouble(s, st))
			run_bad(s->run, "begin: %s", nam_status_name(st));
		hist_end(s->run->hist, s->h, HIST_ABORTED, 0);
	}
	return st == NAM_OK;
}

void
client_transaction(struct session *s)
{
	static const enum txn_iso level[] = { TXN_READ_COMMITTED, TXN_REPEATABLE_READ, TXN_SERIALIZABLE };
	unsigned iso = s->run->shape.iso;
	do
		s->load = (enum load)dice(s, LOADS);
	while (!(s->run->shape.loads >> s->load & 1));
	if (s->number > CLIENTS && s->load != DROPS) /* the other loads know their clients */
		s->load = MIXED;
	bool reader = s->load == MIXED &&
		      /* reads for long, changes nothing */
		      dice(s, s->run->shape.storm ? 40 : 6) == 0;
	iso = s->load == LISTS ? s->run->shape.lists : iso == 3 ? (unsigned)dice(s, 3) : iso;
	if (s->load == LONG && iso == 0)
		iso = 1; /* to have one snapshot for long */
	/* A history of one level has no transactions of a weaker one. */
	bool latest =
	    s->load == MIXED && !reader && !s->wants_room && s->run->shape.iso % 3 == 0 && dice(s, 4) == 0;
	if (!begin(s, level[iso], latest))
		return;
	struct txn_limits limits = { .lock_wait_ns = dice(s, 4) ? 0 : 1000 + dice(s, 50000000),
		.cancel = &s->run->cut };
	txn_set_limits(s->t, &limits);
	nam_status st = NAM_OK;
	unsigned n = reader ? 3 + (unsigned)dice(s, 6) : s->wants_room ? 1 : 1 + (unsigned)dice(s, 4);
	for (unsigned i = 0; st == NAM_OK && i < n && !s->run->bad; i++) {
		if (i > 0) {
			if (s->iso == TXN_READ_COMMITTED)
				s->asked = hist_now(s->run->hist);
			if ((st = txn_statement(s->t)) != NAM_OK)
				break;
		}
		if (latest)
			st = dice(s, 3) == 0 ? do_change(s) : dice(s, 2) ? do_transfer(s) : client_touch(s);
		else if (s->load != MIXED)
			st = load_statement(s);
		else if (!reader)
			st = statement(s);
		else
			st =
			    dice(s, 3) ? do_read(s) : client_scan(s, (unsigned)dice(s, 2), false, NULL, NULL);
		s->run->done[0][st]++;
		if (reader)
			net_sleep(s->w, dice(s, dice(s, 8) ? 20000 : 4000000));
	}
	switch (st) {
	case NAM_OK:
	case NAM_CONFLICT:
	case NAM_DUPLICATE:
	case NAM_DEADLOCK:
	case NAM_TIMEOUT:
		break;
	default:
		if (!is_full(s, st) && !is_trouble(s, st))
			run_bad(s->run, "a statement ended with %s", nam_status_name(st));
	}
	if (st == NAM_TIMEOUT && limits.lock_wait_ns == 0)
		run_bad(s->run, "a wait without limit ended with a timeout");
	end(s, st == NAM_OK && dice(s, 8) != 0, dice(s, 12) == 0);
}

void
client_main(void *arg)
{
	struct client *c = arg;
	struct run *r = c->run;
	struct place *p = &r->place[c->process];
	struct session s = { .run = r,
		.place = p,
		.w = p->w[c->worker],
		.tw = p->tw[c->worker],
		.process = c->process,
		.number = c->number };
	nam_arena_init(&s.arena, 0);
	/* Live processes do the work of dead ones, until all planned events have happened. */
	for (unsigned i = 0, after = 0;; i++) {
		bool enough = r->committed >= COMMITTED_LEAST;
		bool waits = !enough || (r->shape.lose && !r->trouble_ended) || r->visiting > 0;
		if (r->bad || is_dead(&s) || (i >= r->shape.txns && !waits))
			break;
		if (r->lost != 0 ? after++ == AFTER_LOSS : s.told > TOLD_MAX)
			break;
		if (i >= TXNS_MAX && net_sim_now_ns(r->sim) - r->committed_ns > STALLED_NS)
			break;
		client_transaction(&s);
		if (r->visiting > 0 && enough) /* the visitors need a process beside them, no
					        * more */
			net_sleep(s.w, dice(&s, WITH_VISITORS_NS));
		else if (!r->shape.storm && dice(&s, 4) == 0)
			net_sleep(s.w, dice(&s, dice(&s, 10) ? 10000 : 3000000));
	}
	nam_arena_fini(&s.arena);
	p->clients--;
	r->clients_left--;
}

void
client_read_all(struct run *r, unsigned process)
{
	struct place *p = &r->place[process];
	struct session s = {
		.run = r, .place = p, .w = p->w[0], .tw = p->tw[0], .process = process, .number = CLIENTS
	};
	nam_arena_init(&s.arena, 0);
	if (begin(&s, TXN_REPEATABLE_READ, false)) {
		nam_status st = NAM_OK;
		for (uint64_t k = 0; st == NAM_OK && k < r->shape.keys; k++) {
			struct txn_get g;
			struct row row;
			st = client_get(&s, &k, 1, &g, &row);
			if (st == NAM_OK)
				check_blob(&s, &row);
			if (st == NAM_GONE && r->lost != 0)
				st = NAM_OK; /* the others are still there */
		}
		if (st == NAM_OK && (r->shape.loads >> CHECKOUT & 1))
			st = load_books(&s);
		for (unsigned table = 0; st == NAM_OK && table < 2; table++)
			st = client_scan(&s, table, false, NULL, NULL);
		if (st == NAM_OK && (r->shape.loads >> DROPS & 1))
			st = drops_read_all(&s);
		if (st != NAM_OK && !(st == NAM_GONE && r->lost != 0))
			run_bad(r, "the last look ended with %s", nam_status_name(st));
		end(&s, true, false);
	}
	nam_arena_fini(&s.arena);
}
