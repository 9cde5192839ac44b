#!/usr/bin/env python3
"""PostgreSQL's own clients at `namdb compute`: psql (scripts, a terminal) and pgbench."""
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, Terminal, check, contains, same, skip
from wire import Wire, texts

shared = None


def server():
    global shared
    if shared is None:
        shared = Compute(House(nodes=1, size="512m"))
    return shared


def psql(*args, **more):
    if shutil.which("psql") is None:
        skip("there is no psql here")
    return server().psql(*args, **more)


def value(sql):
    return psql("-Atc", sql).ok().out.strip()


# ---- psql ----------------------------------------------------------------------------------


def test_psql_statements():
    r = psql("-c", "SELECT 1 AS one, 'zwei' AS two", "-c", "SELECT NULL, true").ok()
    same(r.out, " one | two  \n-----+------\n   1 | zwei\n(1 row)\n\n ?column? | ?column? \n----------+----------\n          | t\n(1 row)\n\n")
    r = psql("-v", "VERBOSITY=verbose", "-c", "SELECT *\nFROM nowhere").fails(1)
    same(r.err, "ERROR:  42P01: relation \"nowhere\" does not exist\nLINE 2: FROM nowhere\n             ^\n")
    r = psql("-c", "CREATE TABLE h (name text)", "-c", "SELECT nam FROM h").fails(1)
    contains(r.err, 'ERROR:  column "nam" does not exist', "LINE 1: SELECT nam FROM h", "HINT:")
    psql("-c", "DROP TABLE h").ok()


def test_psql_script():
    script = r"""
\set ON_ERROR_STOP on
CREATE TABLE cust (id int PRIMARY KEY, email varchar(20), bal numeric(10,2) DEFAULT 0);
INSERT INTO cust VALUES (1, 'a@x', 1.5), (2, 'b@x', 2);
SELECT id AS the_id FROM cust WHERE id = 2 \gset
\echo :the_id
BEGIN;
UPDATE cust SET bal = bal + 1;
SAVEPOINT s;
DELETE FROM cust;
ROLLBACK TO s;
COMMIT;
\copy cust from stdin csv
3,c@x,3
4,"d,x",
\.
\copy (SELECT id, email FROM cust ORDER BY id) to stdout csv header
SELECT sum(bal), count(*) FROM cust;
SELECT format('INSERT INTO cust VALUES (%s, %L)', g, 'x') FROM generate_series(10, 12) g \gexec
DROP TABLE cust;
"""
    r = psql("-At", stdin=script).ok()
    same(r.out, """CREATE TABLE
INSERT 0 2
2
BEGIN
UPDATE 2
SAVEPOINT
DELETE 2
ROLLBACK
COMMIT
COPY 2
id,email
1,a@x
2,b@x
3,c@x
4,"d,x"
8.50|4
INSERT 0 1
INSERT 0 1
INSERT 0 1
DROP TABLE
""")
    r = psql("-1", "-v", "ON_ERROR_STOP=1", stdin="CREATE TABLE one (a int); INSERT INTO one VALUES (1);\nSELECT 1/0;").fails(3)
    contains(psql("-c", "TABLE one").fails(1).err, 'relation "one" does not exist')


def test_psql_names_what_an_error_is_about():
    psql("-c", "CREATE TABLE about (a int PRIMARY KEY, b int NOT NULL CONSTRAINT small CHECK (b < 10))",
         "-c", "CREATE TABLE refers (a int REFERENCES about)").ok()
    for sql, *fields in (("INSERT INTO about VALUES (1, 1), (1, 2)", "TABLE NAME:  about", "CONSTRAINT NAME:  about_pkey"),
                         ("INSERT INTO about VALUES (1, 11)", "TABLE NAME:  about", "CONSTRAINT NAME:  small"),
                         ("INSERT INTO about VALUES (1, NULL)", "TABLE NAME:  about", "COLUMN NAME:  b"),
                         ("INSERT INTO refers VALUES (5)", "TABLE NAME:  refers", "CONSTRAINT NAME:  refers_a_fkey")):
        r = psql("-v", "VERBOSITY=verbose", "-c", sql).fails(1)
        contains(r.err, "SCHEMA NAME:  public", *fields)
    psql("-c", "DROP TABLE refers, about").ok()


def test_psql_at_a_terminal():
    if shutil.which("psql") is None:
        skip("there is no psql here")
    t = Terminal("-X", "-h", "127.0.0.1", "-p", server().port, "-U", "namdb", "-d", "db", program=shutil.which("psql"),
                 env={"PSQL_PAGER": "", "PAGER": "cat"})
    try:
        t.expect(r"db=[>#] $")
        t.send("SELECT 40 + 2 AS answer;\n")
        t.expect(r"answer \n-+\n +42\n\(1 row\)")
        t.send("BEGIN;\n")
        t.expect(r"db=\*[>#] $")
        t.send("SELECT 1/0;\n")
        t.expect(r"division by zero\n.*db=![>#] $")
        t.send("ROLLBACK;\n")
        t.expect(r"db=[>#] $")
        t.send("SELECT count(*) FROM generate_series(1, 1000000000) a WHERE a % 7 = 3;\n")
        time.sleep(0.5)
        t.send("\x03")
        t.expect(r"canceling statement due to user request\n.*db=[>#] $")
        t.send("\\conninfo\n")
        t.expect(r'You are connected to database "db" as user "namdb"')
        t.send("\\q\n")
        same(t.end(), 0)
    finally:
        t.kill()


# ---- pgbench --------------------------------------------------------------------------------


def pgbench(*args, timeout=120):
    program = shutil.which("pgbench", path="/usr/lib/postgresql/15/bin:" + os.environ.get("PATH", ""))
    if program is None:
        skip("there is no pgbench here")
    p = subprocess.run([program, "-h", "127.0.0.1", "-p", str(server().port), "-U", "namdb", *args, "bench"], capture_output=True,
                       text=True, timeout=timeout * house.SLOW)
    check(p.returncode == 0, "pgbench %s:" % " ".join(args), p.stdout, p.stderr)
    return p.stdout + p.stderr


def invariant():
    """pgbench's: every delta is in one account, one teller and one branch."""
    sums = [value("SELECT coalesce(sum(%s), 0) FROM pgbench_%s" % c) for c in (
        ("abalance", "accounts"), ("tbalance", "tellers"), ("bbalance", "branches"), ("delta", "history"))]
    same(len(set(sums)), 1, "the balances agree: %s" % sums)


def test_pgbench_init():
    out = pgbench("-i", "-s", "1")
    contains(out, 'NOTICE:  table "pgbench_accounts" does not exist, skipping', "done in")
    same(value("SELECT count(*) FROM pgbench_accounts"), "100000")
    out = pgbench("-i", "-s", "1", "-I", "dtGvp", "-q")
    check("does not exist" not in out, out)
    same(value("SELECT count(*), max(aid) FROM pgbench_accounts"), "100000|100000")


def test_pgbench_modes():
    for mode in ("simple", "extended", "prepared"):
        for script in ("-S", "-N", "-btpcb-like"):
            out = pgbench("-M", mode, script, "-c", "4", "-j", "2", "-t", "100")
            contains(out, "number of transactions actually processed: 400/400", "number of failed transactions: 0 ")
    rows = value("SELECT count(*) FROM pgbench_history")
    same(rows, "400", "the last tpcb-like run (the others' rows went at its start, by TRUNCATE)")


def test_pgbench_balance():
    pgbench("-i", "-s", "1", "-q")
    out = pgbench("-n", "-M", "prepared", "-c", "8", "-j", "2", "-t", "300")
    contains(out, "2400/2400", "number of failed transactions: 0 ")
    invariant()
    same(value("SELECT count(*) FROM pgbench_history"), "2400")


def test_pgbench_pipeline():
    path = os.path.join(server().house.dir, "pipeline.sql")
    with open(path, "w") as f:
        f.write("\\set a random(1, 1000)\n\\startpipeline\nBEGIN;\nUPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :a;\n"
                "SELECT abalance FROM pgbench_accounts WHERE aid = :a;\nCOMMIT;\n\\endpipeline\n")
    for mode in ("extended", "prepared"):
        contains(pgbench("-n", "-M", mode, "-f", path, "-c", "4", "-t", "50", "--max-tries=10"), "200/200")


def test_pgbench_serialization_failures():
    path = os.path.join(server().house.dir, "rr.sql")
    with open(path, "w") as f:
        f.write("BEGIN ISOLATION LEVEL REPEATABLE READ;\nUPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1;\nCOMMIT;\n")
    before = int(value("SELECT bbalance FROM pgbench_branches"))
    out = pgbench("-n", "-f", path, "-c", "8", "-t", "50", "--max-tries=1000")
    contains(out, "400/400")
    same(int(value("SELECT bbalance FROM pgbench_branches")) - before, 400, "what was retried counts once")


if __name__ == "__main__":
    try:
        house.main()
    finally:
        if shared is not None:
            try:
                shared.terminate()
            finally:
                shared.house.__exit__(None, None, None)
