#!/usr/bin/env python3
"""The shell's \\d commands, forms of output, hints for wrong names, and where in a file an error is."""
import csv
import io
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, same

shared = None

SCHEMA = """
CREATE TABLE stock (item text PRIMARY KEY, n integer NOT NULL DEFAULT 7, price numeric(8,2) CHECK (price > 0),
  code serial, u bigint GENERATED ALWAYS AS IDENTITY, CONSTRAINT big CHECK (n < 1000));
CREATE TABLE "My ""Tab" (a integer, "B c" text DEFAULT 'it''s', PRIMARY KEY ("B c", a));
CREATE TABLE customers (id integer, name text, city text);
CREATE VIEW cheap AS SELECT item, n * 2 AS twice FROM stock WHERE price < 1;
CREATE SEQUENCE "S q" INCREMENT 2 MAXVALUE 100 CYCLE;
"""


def cluster():
    global shared
    if shared is None:
        shared = House(nodes=1, size="256m")
        shared.sql(stdin=SCHEMA).ok()
    return shared


def meta(*lines):
    return cluster().sql(stdin="\n".join(lines) + "\n", csv=False)


def test_table_as_psql_shows_it():
    same(meta("\\d stock").ok().out, """\
                            Table "public.stock"
 Column |     Type     | Collation | Nullable |           Default            
--------+--------------+-----------+----------+------------------------------
 item   | text         |           | not null | 
 n      | integer      |           | not null | 7
 price  | numeric(8,2) |           |          | 
 code   | integer      |           | not null | nextval('stock_code_seq')
 u      | bigint       |           | not null | generated always as identity
Indexes:
    "stock_pkey" PRIMARY KEY, hash (item)
Check constraints:
    "big" CHECK (n < 1000)
    "stock_price_check" CHECK (price > 0)

""")
    contains(meta("\\d+ stock").ok().out, "| Storage", "| extended", "Versions: 2")


FOREIGN = """
CREATE TABLE moved (item text CONSTRAINT of_stock REFERENCES stock ON DELETE CASCADE ON UPDATE SET NULL, "To" text,
                    a int, FOREIGN KEY ("To", a) REFERENCES "My ""Tab" ("B c", a) ON DELETE RESTRICT);
CREATE TABLE ring (id int PRIMARY KEY, up int REFERENCES ring);
"""


def test_foreign_keys():
    cluster().sql(stdin=FOREIGN).ok()
    contains(meta("\\d stock").ok().out, """\
Referenced by:
    TABLE "moved" CONSTRAINT "of_stock" FOREIGN KEY (item) REFERENCES stock(item) ON UPDATE SET NULL ON DELETE CASCADE
""")
    contains(meta("\\d moved").ok().out, """\
Foreign-key constraints:
    "moved_To_a_fkey" FOREIGN KEY ("To", a) REFERENCES "My ""Tab"("B c", a) ON DELETE RESTRICT
    "of_stock" FOREIGN KEY (item) REFERENCES stock(item) ON UPDATE SET NULL ON DELETE CASCADE
""")
    contains(meta('\\d "My ""Tab"').ok().out, """\
Referenced by:
    TABLE "moved" CONSTRAINT "moved_To_a_fkey" FOREIGN KEY ("To", a) REFERENCES "My ""Tab"("B c", a) ON DELETE RESTRICT
""")
    contains(meta("\\d ring").ok().out, """\
Foreign-key constraints:
    "ring_up_fkey" FOREIGN KEY (up) REFERENCES ring(id)
Referenced by:
    TABLE "ring" CONSTRAINT "ring_up_fkey" FOREIGN KEY (up) REFERENCES ring(id)
""")
    cluster().sql(stdin="DROP TABLE moved; DROP TABLE ring;").ok()


def test_view_sequence_and_index():
    contains(meta("\\d cheap").ok().out, 'View "public.cheap"', "twice",
             "View definition:\n SELECT item, n * 2 AS twice FROM stock WHERE price < 1;\n")
    same(meta('\\d "S q"').ok().out, """\
                      Sequence "public.S q"
  Type  | Start | Minimum | Maximum | Increment | Cycles? | Cache 
--------+-------+---------+---------+-----------+---------+-------
 bigint |     1 |       1 |     100 |         2 | yes     |     1

""")
    contains(meta("\\d stock_code_seq").ok().out, "Owned by: public.stock.code\n")
    contains(meta("\\d stock_u_seq").ok().out, "Sequence for identity column: public.stock.u\n")
    contains(meta("\\d stock_pkey").ok().out, 'Index "public.stock_pkey"', 'for table "public.stock"')
    contains(meta('\\d "My ""Tab"').ok().out, 'PRIMARY KEY, hash ("B c", a)', "'it''s'")


def test_expanded_is_for_answers():
    r = meta("\\x", "\\d cheap", "\\dv", "SELECT 1 AS a;").ok()
    contains(r.out, " item   | text    |", "-[ RECORD 1 ]--\nSchema | public\n", "-[ RECORD 1 ]\na | 1\n")


def names(*args):
    """The second column of a list."""
    r = cluster().sql(stdin="\n".join(args) + "\n").ok()
    return [row[1] for row in list(csv.reader(io.StringIO(r.out)))[1:]]


def test_lists_and_patterns():
    every = ["My \"Tab", "S q", "cheap", "customers", "stock", "stock_code_seq", "stock_u_seq"]
    same(names("\\d"), every)
    same(names("\\dt"), ["My \"Tab", "customers", "stock"])
    same(names("\\dv"), ["cheap"])
    same(names("\\ds"), ["S q", "stock_code_seq", "stock_u_seq"])
    same(names("\\di"), ["My \"Tab_pkey", "stock_pkey"])
    same(names("\\dtv"), ["My \"Tab", "cheap", "customers", "stock"])
    for pattern, want in [("c*", ["customers"]), ("C*", ["customers"]), ("?tock", ["stock"]), ("*o*", ["customers", "stock"]),
                          ('"My ""Tab"', ["My \"Tab"]), ('"My"*', ["My \"Tab"]), ("public.stock", ["stock"]),
                          ("PUBLIC.s*", ["stock"]), ("namdb.public.stock", ["stock"]), ("nam_*", ["nam_columns", "nam_extras", "nam_tables"]),
                          ("(stock|customers)", ["customers", "stock"])]:
        same(names("\\dt " + pattern), want, pattern)
    for pattern in ['"c*"', '"C"*', "other.stock", "my*", "'x'", '"unbalanced', "stoc", '"sto.k"']:
        r = meta("\\dt " + pattern).fails(1)
        same(r.out, "", pattern)
        contains(r.err, 'Did not find any relation named "%s".' % pattern)
    contains(meta("\\dt a.b.c.d").fails(1).err, "too many dotted names")
    contains(meta("\\dt other.public.stock").fails(1).err, "cross-database references are not implemented")
    contains(meta("\\d [a").fails(1).err, "2201B")
    contains(meta("\\d stock more").ok().err, '\\d: extra argument "more" ignored')
    contains(meta("\\dn").ok().out, " public | namdb")
    contains(meta("\\l").ok().out, " namdb | namdb | UTF8 ")
    contains(meta("\\du").ok().out, " namdb     | Superuser ")
    for other in ("\\dn nope", "\\l nope", "\\du nope"):
        contains(meta(other).ok().out, "(0 rows)")
    contains(meta("\\d nam_tables").ok().out, 'Table "public.nam_tables"', "row_bytes")
    same(names("\\dtS nam*"), ["nam_columns", "nam_extras", "nam_tables"])
    with House(nodes=1) as empty:
        contains(empty.sql(stdin="\\d\n").ok().err, "Did not find any relations.")


def test_enums():
    cluster().sql(stdin="CREATE TYPE mood AS ENUM ('sad', 'two words'); CREATE TYPE \"Odd one\" AS ENUM ();"
                        "CREATE TABLE felt (m mood PRIMARY KEY DEFAULT 'sad', ms mood[], o \"Odd one\")").ok()
    same(meta("\\d felt").ok().out, """\
                 Table "public.felt"
 Column |   Type    | Collation | Nullable | Default 
--------+-----------+-----------+----------+---------
 m      | mood      |           | not null | 'sad'
 ms     | mood[]    |           |          | 
 o      | "Odd one" |           |          | 
Indexes:
    "felt_pkey" PRIMARY KEY, hash (m)

""")
    out = meta("\\dT", "\\dT+ mood", "\\d felt_pkey", "\\dt mood").out
    contains(out, ' public | "Odd one" | \n public | mood      | \n', "| sad      +|", "| two words |", " m      | mood | yes  | m\n")
    check("mood" not in meta("\\d").ok().out, "a type is no relation")
    cluster().sql(stdin='DROP TABLE felt; DROP TYPE mood, "Odd one"').ok()


def test_schemas():
    """Relations of other schemas: found by pattern, and without one where search_path leads."""
    with House(nodes=1, size="128m") as h:
        h.sql(stdin="""CREATE SCHEMA app; CREATE SCHEMA "B b"; CREATE TABLE t (a int); CREATE TABLE "B b".own (a int PRIMARY KEY);
CREATE TABLE app.t (id serial PRIMARY KEY, up int REFERENCES app.t, k text UNIQUE); CREATE VIEW app.v AS SELECT id FROM app.t;
CREATE TABLE "a.b" (x int);""").ok()

        def ask(*lines):
            return h.sql(stdin="\n".join(lines) + "\n", csv=False).ok().out

        def listed(*lines):
            return [tuple(c.strip() for c in line.split("|")[:2]) for line in ask(*lines).split("\n")[3:] if "|" in line]

        same(listed("\\dt"), [("public", "a.b"), ("public", "t")])
        same(listed("\\dt app.*"), [("app", "t")])
        same(listed("\\dt *.t"), [("app", "t"), ("public", "t")])
        same(listed("SET search_path = app;", "\\d"), [("app", "t"), ("app", "t_id_seq"), ("app", "v")])
        same(listed("\\di app.*"), [("app", "t_k_key"), ("app", "t_pkey")])
        contains(ask("\\dn"), " B b    | namdb", " app    | namdb", " public | namdb")
        contains(ask("\\d app.t"), 'Table "app.t"', "nextval('app.t_id_seq')", '"t_pkey" PRIMARY KEY, hash (id)',
                 'FOREIGN KEY (up) REFERENCES app.t(id)', 'TABLE "app.t" CONSTRAINT "t_up_fkey"')
        contains(ask("\\d app.v"), 'View "app.v"', "FROM app.t;")
        contains(ask("\\d app.t_id_seq"), 'Sequence "app.t_id_seq"', "Owned by: app.t.id")
        contains(ask('\\d "B b".own'), 'Table "B b.own"')
        contains(ask('\\d "a.b"'), 'Table "public.a.b"')


def test_functions():
    same(sorted(set(names("\\df s?m"))), ["sum"])
    contains(meta("\\df lower").ok().out, " pg_catalog | lower | text             | text                | func\n")
    contains(meta("\\df lag").ok().out, "| window\n")
    contains(meta("\\df public.lower").ok().out, "(0 rows)")
    # What it lists can be called as it says, and answers what it says.
    h = cluster()
    r = h.do("SELECT name, result, arguments FROM nam_functions WHERE type = 'func' AND name <> 'setseed'").ok()
    rows = [x for x in list(csv.reader(io.StringIO(r.out)))[1:] if not any(w in x[1] + x[2] for w in ("any", "SETOF"))]
    check(len(rows) > 200, rows)
    bad = []
    shell = h.shell()
    for name, result, arguments in rows:
        call = ", ".join("NULL::" + a for a in arguments.split(", ") if a)
        out = shell.do("SELECT pg_typeof(%s(%s)) AS t" % (name, call))
        if "42883" in out or ("ERROR" not in out and out.strip() != "t\n" + result):
            bad.append((name, arguments, result, out))
    shell.close()
    check(not bad, bad)


def test_forms():
    one = "SELECT NULL AS a, 1 AS b, true AS c, 'x\"' AS d, '{\"k\": [1]}'::json AS e, 'NaN'::float AS f;"
    r = meta("\\pset format json", one, "SELECT 1 AS z WHERE false;").ok()
    lines = r.out.split("\n", 1)
    same(lines[0], "Output format is json.")
    first, second = lines[1].split("]\n[")
    same(json.loads(first + "]"), [{"a": None, "b": 1, "c": True, "d": "x\"", "e": {"k": [1]}, "f": "NaN"}])
    same(json.loads("[" + second), [])
    h = cluster()
    same(json.loads(h.sql("--format", "json", "-c", "SELECT i FROM generate_series(1, 3000) i", csv=False).ok().out)[2999],
         {"i": 3000})
    contains(meta("\\pset format markdown", "SELECT 1 AS n, 'a|b' AS t;").ok().out, "| n | t |\n|--:|---|\n| 1 | a\\|b |\n")
    contains(meta("\\pset format csv", "SELECT 1 AS n, 'a,b' AS t;").ok().out, 'n,t\n1,"a,b"\n')
    contains(meta("\\pset null '(it''s null)'", "SELECT NULL AS a;").ok().out, 'Null display is "(it\'s null)".',
             " (it's null)\n")
    same(h.sql("--null", "-", "-c", "SELECT NULL AS a, '' AS b").ok().out, "a,b\n-,\"\"\n")
    contains(meta("\\pset").ok().out, "format   aligned\n", "null     ''\n")
    contains(meta("\\pset format xml").fails(1).err, "aligned, csv, json, markdown")
    contains(meta("\\pset border 2").fails(1).err, "unknown option: border")
    same(meta("SELECT 1 AS a \\gx", "SELECT 2 AS b;").ok().out, "-[ RECORD 1 ]\na | 1\n\n b \n---\n 2\n(1 row)\n\n")
    for switch in ("\\x auto", "\\timing maybe", "\\pset pager 2", "\\set ON_ERROR_STOP perhaps"):
        contains(meta(switch).fails(1).err, "unrecognized value")
    contains(meta("\\pset expanded on", "SELECT 1 AS a;").ok().out, "-[ RECORD 1 ]")
    contains(h.sql("--format", "xml", "-c", "SELECT 1", csv=False).fails(2).err, "--format is")


def test_hints_for_wrong_names():
    h = cluster()
    for sql, hint in [
            ("SELECT nmae FROM customers", 'column "customers.name"'),
            ("SELECT c.nmae FROM customers c", 'column "c.name"'),
            ("SELECT customers.name FROM customers c", 'table alias "c"'), ("SELECT c.name FROM customers x", 'column "x.name"'),
            ("SELECT 1 FROM stock WHERE EXISTS (SELECT 1 FROM customers WHERE prce = 1)", 'column "stock.price"'),
            ("INSERT INTO customers (ctiy) VALUES ('x')", 'column "customers.city"'),
            ("UPDATE customers SET ctiy = 'x'", 'column "customers.city"'),
            ("SELECT * FROM custmers", 'table "customers"'), ("SELECT * FROM chaep", 'view "cheap"'),
            ("DROP TABLE custmers", 'table "customers"'), ("COPY custmers FROM STDIN", 'table "customers"'),
            ("WITH total AS (SELECT 1) SELECT * FROM totla", 'WITH query "total"'),
            ("ALTER TABLE custmers ADD x integer", 'table "customers"'), ("ANALYZE custmers", 'table "customers"'),
            ("TRUNCATE custmers", 'table "customers"'), ("DELETE FROM custmers", 'table "customers"'),
            ("SELECT nextval('stock_code_sq')", 'sequence "stock_code_seq"'), ("DROP SEQUENCE \"S\"", None),
            ("INSERT INTO stock VALUES ('x') ON CONFLICT (itm) DO NOTHING", 'column "stock.item"'),
            ("SELECT rnk() OVER () FROM stock", 'function "rank"'), ("SELECT lowr('X')", 'function "lower"'), ("SELECT cuont(*) FROM stock", 'function "count"')]:
        contains(h.do(sql).fails(1).err, *(["HINT:  Perhaps you meant to reference the " + hint] if hint else []))
    contains(h.do("SELECT stock.n FROM stock t").fails(1).err,
             'ERROR:  42P01: invalid reference to FROM-clause entry for table "stock"\n')
    for sql in ("SELECT x FROM customers", "SELECT whatever FROM customers", "SELECT * FROM nothing_alike",
                "SELECT frobnicate(1)", "SELECT lower(1, 2, 3)"):
        check("Perhaps" not in h.do(sql).fails(1).err, sql)
    # A long name, and a wide table, take no time.
    h.do("CREATE TABLE wide (%s)" % ", ".join("c%d integer" % i for i in range(1600))).ok()
    contains(h.do("SELECT c160x FROM wide").fails(1).err, "42703")
    contains(h.do("SELECT %s FROM wide" % ("c" * 63)).fails(1).err, "42703")


def test_where_in_a_file():
    h = cluster()
    inner = h.file("inner.sql", "\nSELECT 1;\n\\frobnicate\nSELECT 2,\n  nope;\n")
    outer = h.file("outer.sql", "SELECT 1;\n-- a comment\nSELECT 1/0;\n\\i %s\nCOPY customers FROM STDIN;\n1\ta\tb\n2\n\\.\n"
                   "/* two\nlines */ SELECT 1;SELECT 'x\ny', 1/0;\nDROP TABLE IF EXISTS nowhere;\n" % inner)
    for args in (["-f", outer], ["-c", "\\i " + outer]):
        r = h.sql(*args).fails(1)
        contains(r.err, "namdb:%s:3: ERROR:  22012:" % outer, "namdb:%s:3: unknown command" % inner,
                 "namdb:%s:5: ERROR:  42703:" % inner, "namdb:%s:5: ERROR:  22P04:" % outer,
                 "namdb:%s:10: ERROR:  22012:" % outer, "namdb:%s:12: NOTICE:" % outer)
    # Elsewhere nothing stands before it.
    check(h.sql(stdin="SELECT 1/0;\n").fails(1).err.startswith("ERROR:"), "no file")
    check(h.do("SELECT 1/0").fails(1).err.startswith("ERROR:"), "no file")


def test_storage_from_the_environment():
    h = cluster()
    env = dict(h.env, NAMDB_STORAGE=h.storage())
    same(house.run("sql", "--secret-file", h.secret, "--csv", "-c", "SELECT 5 AS x", env=env).ok().out, "x\n5\n")
    contains(house.run("status", "--secret-file", h.secret, env=env).ok().out, h.storage(), "never used")
    contains(house.run("sql", "--secret-file", h.secret, "--storage", "127.0.0.1:1", "-c", "SELECT 5", env=env).fails(1).err,
             "127.0.0.1:1")


if __name__ == "__main__":
    try:
        house.main()
    finally:
        if shared is not None:
            shared.__exit__(None, None, None)
