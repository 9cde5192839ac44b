/* demo_data.c -- the demo's shop: rows made by a seeded generator, loaded through SQL and COPY. */
#include "demo.h"
#include "shell.h"

#include <base/rng.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CUSTOMERS = 500, PRODUCTS = 200, ORDERS = 3000, SEED = 20 };

static const char *const schema[] = {
	"CREATE TABLE customers (id integer PRIMARY KEY, name text NOT NULL, email varchar(80), city text,"
	" joined date NOT NULL, credit numeric(10,2))",
	"CREATE TABLE products (id integer PRIMARY KEY, name text NOT NULL, category varchar(20) NOT NULL,"
	" price numeric(10,2) NOT NULL, weight_kg double precision, available boolean NOT NULL)",
	"CREATE TABLE orders (id bigint PRIMARY KEY, customer_id integer NOT NULL, placed timestamp NOT NULL,"
	" status varchar(12) NOT NULL, note text)",
	"CREATE TABLE order_lines (order_id bigint, line integer, product_id integer NOT NULL,"
	" quantity integer NOT NULL, price numeric(10,2) NOT NULL, PRIMARY KEY (order_id, line))",
};

/* Text in COPY's format, grown as it is written. */
struct text {
	char *p;
	size_t len;
	FILE *f;
};

struct load {
	struct text t;
	bool given;
	const char *table;
	bool terminal;
	unsigned part, parts;
};

static const char *const first_name[] = { "Ada", "Zoë", "Søren", "Björk", "Chloé", "José", "Łukasz", "Min-ji",
	"Amara", "Oleg", "Priya", "Tomás", "Grace", "Edgar", "Barbara", "Linus", "Naoko", "Fatima", "Ivo",
	"Ruth" };
static const char *const last_name[] = { "O'Neill", "Müller", "d'Angelo", "Kowalski", "Ðorđević", "Smith",
	"García", "Nguyễn", "Okafor", "山田", "Lovelace", "Codd", "Åkesson", "Van \"Vic\" Dyke", "Brown",
	"Haddad" };
static const char *const city[] = { "Zürich", "São Paulo", "Kraków", "Lagos", "東京", "Reykjavík",
	"Providence", "Göteborg", "Málaga", "Delhi" };
static const char *const category[] = { "tea", "coffee", "books", "tools", "garden" };
static const char *const adjective[] = { "small", "large", "blue", "fair-trade", "second-hand", "noisy",
	"plain", "crème", "5\" wide", "half-price" };
static const char *const noun[][4] = {
	{ "Assam", "Earl Grey", "matcha", "peppermint" },
	{ "espresso beans", "filter roast", "decaf", "café mocha" },
	{ "atlas", "cookbook", "novel", "\"Transaction Processing\"" },
	{ "hammer", "spanner", "pliers", "spirit level" },
	{ "rake", "watering can", "rose bush", "gnome" },
};
static const char *const status[] = { "delivered", "delivered", "delivered", "shipped", "paid", "open",
	"returned" };
static const char *const note[] = { "leave at the neighbour's", "gift; no invoice, please",
	"say \"hello\" to Ivo", "ring twice,\\nthen wait", "förbered noga", "100% linen?" };

#define PICK(list, r) list[nam_rng_below(r, sizeof(list) / sizeof(list)[0])]

static void
customers(FILE *f, struct nam_rng *r, unsigned i)
{
	const char *given = PICK(first_name, r), *family = PICK(last_name, r);
	fprintf(f, "%u\t%s %s\t", i, given, family);
	if (nam_rng_below(r, 8) == 0)
		fputs("\\N\t", f);
	else
		fprintf(f, "customer%u@example.%s\t", i, i % 3 ? "org" : "com");
	fprintf(f, "%s\t", nam_rng_below(r, 20) == 0 ? "\\N" : PICK(city, r));
	fprintf(f, "20%02u-%02u-%02u\t", 15 + (unsigned)nam_rng_below(r, 10),
	    1 + (unsigned)nam_rng_below(r, 12), 1 + (unsigned)nam_rng_below(r, 28));
	if (nam_rng_below(r, 5) == 0)
		fputs("\\N\n", f);
	else
		fprintf(f, "%u.%02u\n", (unsigned)nam_rng_below(r, 5000), (unsigned)nam_rng_below(r, 100));
}

static unsigned
cents(unsigned product)
{
	return 199 + product * 7919 % 14800;
}

static void
products(FILE *f, struct nam_rng *r, unsigned i)
{
	unsigned c = i % 5;
	fprintf(f, "%u\t%s %s\t%s\t%u.%02u\t", i, PICK(adjective, r), PICK(noun[c], r), category[c],
	    cents(i) / 100, cents(i) % 100);
	if (c == 2 && i % 3 == 0)
		fputs("\\N\t", f);
	else
		fprintf(f, "%.3f\t", (double)(1 + nam_rng_below(r, 9000)) / 1000);
	fprintf(f, "%c\n", nam_rng_below(r, 10) ? 't' : 'f');
}

static void
orders(FILE *f, struct nam_rng *r, unsigned i)
{
	unsigned day = (unsigned)((uint64_t)i * 700 / ORDERS); /* later orders have larger ids */
	fprintf(f, "%u\t%u\t%u-%02u-%02u %02u:%02u:%02u\t%s\t", 100000 + i,
	    1 + (unsigned)nam_rng_below(r, CUSTOMERS), 2023 + day / 336, 1 + day % 336 / 28, 1 + day % 28,
	    (unsigned)nam_rng_below(r, 24), (unsigned)nam_rng_below(r, 60), (unsigned)nam_rng_below(r, 60),
	    PICK(status, r));
	fprintf(f, "%s\n", nam_rng_below(r, 6) == 0 ? PICK(note, r) : "\\N");
}

static void
order_lines(FILE *f, struct nam_rng *r, unsigned i)
{
	unsigned lines = 1 + (unsigned)nam_rng_below(r, 4);
	for (unsigned line = 1; line <= lines; line++) {
		unsigned product = 1 + (unsigned)nam_rng_below(r, PRODUCTS);
		unsigned price = nam_rng_below(r, 10) == 0 ? cents(product) * 9 / 10 : cents(product);
		fprintf(f, "%u\t%u\t%u\t%u\t%u.%02u\n", 100000 + i, line, product,
		    1 + (unsigned)nam_rng_below(r, 5), price / 100, price % 100);
	}
}

static const struct {
	const char *table;
	unsigned n;
	void (*row)(FILE *f, struct nam_rng *r, unsigned i);
} parts[] = {
	{ "customers", CUSTOMERS, customers },
	{ "products", PRODUCTS, products },
	{ "orders", ORDERS, orders },
	{ "order_lines", ORDERS, order_lines },
};
enum { PARTS = sizeof parts / sizeof parts[0] };

/* ---- loading ------------------------------------------------------------------------- */

static bool
give(void *arg, const char **bytes, size_t *len)
{
	struct load *l = arg;
	*bytes = l->t.p;
	*len = l->given ? 0 : l->t.len;
	l->given = true;
	return !shell_ended();
}

static void
progress(void *arg, uint64_t bytes, uint64_t total, uint64_t rows)
{
	struct load *l = arg;
	(void)bytes;
	(void)total;
	if (l->terminal)
		fprintf(
		    stderr, "\rloading sample data: %-12s %6llu rows ", l->table, (unsigned long long)rows);
}

static bool
run(struct cn_session *s, const struct sql_sink *sink, const char *text)
{
	struct cat_err err = { 0 };
	shell_running(s);
	bool ok = cn_exec(s, text, strlen(text), sink, &err);
	shell_running(NULL);
	if (!ok && !shell_ended())
		shell_error(NULL, &err, text, strlen(text));
	return ok;
}

static bool
load_part(struct cn_session *s, struct load *l, unsigned part)
{
	struct nam_rng r;
	char text[80];
	const struct sql_sink sink = { .arg = l, .copy_in = give, .progress = progress };
	nam_rng_init(&r, SEED + part);
	l->t = (struct text){ 0 };
	l->given = false;
	l->table = parts[part].table;
	l->t.f = open_memstream(&l->t.p, &l->t.len);
	if (l->t.f == NULL)
		return false;
	for (unsigned i = 1; i <= parts[part].n; i++)
		parts[part].row(l->t.f, &r, i);
	fclose(l->t.f);
	progress(l, 0, 0, 0);
	snprintf(text, sizeof text, "COPY %s FROM STDIN", parts[part].table);
	bool ok = run(s, &sink, text);
	free(l->t.p);
	return ok;
}

bool
demo_load(struct cn *cn, bool quiet)
{
	struct cn_session *s;
	struct load l = { .terminal = !quiet && isatty(2) };
	const struct sql_sink nothing = { 0 };
	bool ok = cn_session_open(cn, UINT_MAX, &s) == NAM_OK;
	if (!ok) {
		fprintf(stderr, "namdb demo: cannot open a session\n");
		return false;
	}
	/* All or nothing: where the database is kept, the next demo takes it as it is. */
	ok = run(s, &nothing, "BEGIN");
	for (unsigned i = 0; ok && i < sizeof schema / sizeof schema[0]; i++)
		ok = run(s, &nothing, schema[i]);
	for (unsigned i = 0; ok && i < PARTS; i++)
		ok = load_part(s, &l, i);
	ok = ok && run(s, &nothing, "COMMIT");
	if (l.terminal)
		fprintf(stderr, "\r%60s\r", "");
	if (ok && !quiet)
		fprintf(stderr, "sample data: customers, products, orders, order_lines\n");
	cn_session_close(s);
	return ok;
}

static bool
count_rows(void *arg, const struct sql_batch_view *rows)
{
	*(unsigned *)arg += rows->n;
	return true;
}

bool
demo_has_tables(struct cn *cn)
{
	struct cn_session *s;
	unsigned n = 0;
	const struct sql_sink sink = { .arg = &n, .rows = count_rows };
	if (cn_session_open(cn, UINT_MAX, &s) != NAM_OK)
		return false;
	bool ok = run(s, &sink, "SELECT tablename FROM pg_tables WHERE schemaname = 'public' LIMIT 1");
	cn_session_close(s);
	return ok && n > 0;
}
