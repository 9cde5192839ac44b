#!/usr/bin/env python3
"""psql's lists of what there is, at `namdb compute`: \\d, \\dt, \\di, \\dv, \\ds, \\dn, \\l, and the system catalogs behind them.

What the lists show is what psql 15 shows of the same schema at PostgreSQL 15, where the owner is the user that made it; here relations have none."""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, same, skip

SCHEMA = """
CREATE TABLE t (id int PRIMARY KEY, a int, b text UNIQUE, CHECK (a > 0));
CREATE TABLE "Quoted t" (x int);
CREATE INDEX ti ON t (a, b);
CREATE VIEW v AS SELECT id FROM t;
CREATE SEQUENCE s;
"""
OWNER = "namdb"  # relations belong to no role
shared = None


def server():
    global shared
    if shared is None:
        if shutil.which("psql") is None:
            skip("there is no psql here")
        shared = Compute(House(nodes=1, size="256m"))
        shared.psql("-c", SCHEMA).ok()
    return shared


def rows(*commands):
    """Cells of psql's unaligned answers, the title and the count left out."""
    out = server().psql("-At", *[x for c in commands for x in ("-c", c)]).ok().out
    return [tuple(line.split("|")) for line in out.splitlines()]


def test_lists():
    tables = [("public", "Quoted t", "table", OWNER), ("public", "t", "table", OWNER)]
    view, sequence = ("public", "v", "view", OWNER), ("public", "s", "sequence", OWNER)
    same(rows(r"\dt"), tables)
    same(rows(r"\dv"), [view])
    same(rows(r"\ds"), [sequence])
    same(sorted(rows(r"\d")), sorted(tables + [view, sequence]))
    same(rows(r"\di"), [("public", n, "index", OWNER, "t") for n in ("t_b_key", "t_pkey", "ti")])


def test_schemas_and_databases():
    same(rows(r"\dn"), [("public", OWNER)])
    same(rows(r"\l"), [("namdb", OWNER, "UTF8", "C.UTF-8", "C.UTF-8", "", "libc", "")])


def test_patterns():
    same(rows(r"\dt t"), [("public", "t", "table", OWNER)])
    same(rows(r"\dt Q*"), [])
    same(rows(r'\dt "Q"*'), [("public", "Quoted t", "table", OWNER)])
    same(rows(r"\dt public.*"), rows(r"\dt"))
    same(rows(r"\di t_p*"), [("public", "t_pkey", "index", OWNER, "t")])
    r = server().psql("-c", r"\dt nothing*").ok()
    same(r.out + r.err, 'Did not find any relation named "nothing*".\n')


def test_lists_follow_the_snapshot():
    before = rows(r"\dt")
    w = server().psql("-At", "-c", "BEGIN", "-c", "CREATE TABLE young (i int)", "-c", r"\dt young", "-c", "ROLLBACK").ok()
    same([l.split("|")[1] for l in w.out.splitlines() if "|" in l], ["young"])
    same(rows(r"\dt"), before)


def test_catalogs():
    same(rows("SELECT relname, relkind, relnatts, relchecks, relhasindex FROM pg_class WHERE relnamespace = 2200 ORDER BY 1"),
         [("Quoted t", "r", "1", "0", "f"), ("s", "S", "3", "0", "f"), ("t", "r", "3", "1", "t"), ("t_b_key", "i", "1", "0", "f"),
          ("t_pkey", "i", "1", "0", "f"), ("ti", "i", "2", "0", "f"), ("v", "v", "1", "0", "f")])
    same(rows("SELECT c.relname, i.indkey, i.indisunique, i.indisprimary, i.indisvalid FROM pg_catalog.pg_index i JOIN pg_class c ON "
              "c.oid = i.indexrelid WHERE c.relnamespace = 2200 ORDER BY 1"),
         [("t_b_key", "3", "t", "f", "t"), ("t_pkey", "1", "t", "t", "t"), ("ti", "2 3", "f", "f", "t")])
    same(rows("SELECT nspname FROM pg_namespace ORDER BY 1"), [("information_schema",), ("pg_catalog",), ("public",)])
    same(rows("SELECT tablename, hasindexes FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"), [("Quoted t", "f"), ("t", "t")])
    same(rows("SELECT viewname FROM pg_catalog.pg_views WHERE schemaname = 'public'"), [("v",)])
    # An oid stays through a change of the definition, and a later table has another one.
    oid = "SELECT oid FROM pg_class WHERE relname = 'm'"
    first = rows("CREATE TABLE m (i int)", oid)[-1]
    same(rows("ALTER TABLE m ADD COLUMN j int", oid)[-1], first)
    again = rows("DROP TABLE m", "CREATE TABLE m (i int)", oid, "DROP TABLE m")[2]
    assert again != first, (again, first)


def test_refusals():
    for sql, state in (("SELECT * FROM pg_catalog.nothing", "42P01"), ("SELECT * FROM information_schema.element_types", "0A000"),
                       ("SELECT * FROM pg_catalog.pg_cast", "0A000"), ("INSERT INTO pg_class VALUES (1)", "42501"),
                       ("DELETE FROM pg_catalog.pg_class", "42501"), ("SELECT * FROM pg_catalog.t", "42P01"),
                       ("CREATE TABLE pg_catalog.x (i int)", "42501"), ("DROP TABLE pg_class", "42P01"),
                       ("UPDATE pg_catalog.t SET a = 1", "42501"), ("SELECT * FROM other.t", "42P01")):
        r = server().psql("-v", "VERBOSITY=sqlstate", "-c", sql)
        same((r.rc, r.err.strip()), (1, "ERROR:  " + state), sql)


if __name__ == "__main__":
    house.main()
