#!/usr/bin/env python3
"""The shell and the demo: arguments, files, pipes, a terminal, ^C."""
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, run, same

shared = None


def cluster():
    global shared
    if shared is None:
        shared = House(nodes=1, size="512m")
        shared.do("CREATE TABLE pets (id integer PRIMARY KEY, name text, weight numeric(6,2), born date)").ok()
        shared.do("INSERT INTO pets VALUES (1, 'Ada', 4.25, '2019-03-01'), (2, 'Brün\"o', NULL, '2020-12-31'), "
                  "(3, NULL, 31.00, NULL)").ok()
        shared.do("CREATE TABLE many (id integer PRIMARY KEY, v integer)").ok()
        path = shared.file("many.csv", "".join("%d,%d\n" % (i, i % 100) for i in range(30000)))
        shared.do("COPY many FROM '%s' WITH (FORMAT csv)" % path).ok()
    return shared


# Runs for minutes unless it is cancelled: a join without a condition to speak of.
ENDLESS = "SELECT count(*) FROM many a, many b, many c WHERE a.v + b.v + c.v = -1"


def test_aligned_output():
    r = cluster().sql("-c", "SELECT id, name, weight, born FROM pets ORDER BY id", csv=False).ok()
    same(r.out.rstrip("\n"), " id |  name  | weight |    born    \n"
         "----+--------+--------+------------\n"
         "  1 | Ada    |   4.25 | 2019-03-01\n"
         "  2 | Brün\"o |        | 2020-12-31\n"
         "  3 |        |  31.00 | \n"
         "(3 rows)")
    same(r.err, "", "answers go to stdout")


def test_csv_output():
    r = cluster().sql("-c", "SELECT id, name, weight FROM pets ORDER BY id").ok()
    same(r.out, "id,name,weight\n1,Ada,4.25\n2,\"Brün\"\"o\",\n3,,31.00\n")


def test_statements_by_file_and_stdin():
    h = cluster()
    text = "CREATE TABLE f (a integer);\nINSERT INTO f VALUES\n  (1),\n  (2);\nSELECT count(*) -- a comment; here\n" \
           "  FROM f;\nDROP TABLE f;\n"
    for r in (h.sql("-f", h.file("s.sql", text), csv=False), h.sql(stdin=text, csv=False)):
        r.ok()
        contains(r.out, "CREATE TABLE", "INSERT 0 2", "(1 row)", "DROP TABLE")
    # The last statement needs no semicolon; an empty input is no error.
    same(h.sql(stdin="SELECT 7 AS x").ok().out, "x\n7\n")
    h.sql(stdin="").ok()
    h.sql(stdin="\n-- only a comment\n").ok()
    # Strings, dollar quotes and comments may hold semicolons.
    same(h.sql(stdin="SELECT 'a;b' AS x; SELECT $$c;d$$ AS x; SELECT /* ; */ 3 AS x;\n").ok().out,
         "x\na;b\nx\nc;d\nx\n3\n")
    r = h.sql("-f", "/nowhere/at.sql").fails(1)
    contains(r.err, "/nowhere/at.sql")


def test_errors_set_the_exit_code():
    h = cluster()
    same(h.sql("-c", "SELECT 1/0").fails(1).sqlstate(), "22012")
    r = h.sql(stdin="SELECT 1/0;\nSELECT 5 AS x;\n")
    check(r.rc == 1, "an error on stdin is an exit code:", r)
    contains(r.out, "x\n5\n")
    contains(r.err, "ERROR:  22012: division by zero")


def test_copy_from_stdin():
    h = cluster()
    h.do("CREATE TABLE ci (a integer PRIMARY KEY, b text)").ok()
    r = h.sql(stdin="COPY ci FROM STDIN WITH (FORMAT csv);\n1,one\n2,\"tw\no\"\n\\.\nSELECT a, b FROM ci ORDER BY a;\n")
    r.ok()
    contains(r.out, "COPY 2", "1,one\n2,\"tw\no\"\n")
    r = h.sql(stdin="COPY ci FROM STDIN WITH (FORMAT csv);\n3,three\nbad,four\n\\.\nSELECT count(*) AS n FROM ci;\n")
    check(r.rc == 1, r)
    contains(r.err, "22P02")
    contains(r.out, "n\n2\n")


def test_copy_reports_progress_on_stderr():
    h = cluster()
    h.do("CREATE TABLE cpr (a integer PRIMARY KEY, b text)").ok()
    path = h.file("cpr.csv", "".join("%d,%s\n" % (i, "p" * 100) for i in range(30000)))
    r = h.do("COPY cpr FROM '%s' WITH (FORMAT csv)" % path).ok()
    contains(r.out, "COPY 30000")
    check("30000" in r.err or "30,000" in r.err, "a line about the load:", r)


def test_meta_commands():
    h = cluster()
    r = h.sql(stdin="\\dt\n\\d pets\n\\timing\nSELECT 1;\n\\?\n\\q\nSELECT 'never';\n", csv=False).ok()
    contains(r.out, "pets", "many", "weight", "numeric(6,2)", "date", "Time:", "\\timing")
    check("never" not in r.out, r)
    r = h.sql(stdin="\\d nowhere\n\\frobnicate\n", csv=False)
    contains(r.err, "nowhere", "frobnicate")


def test_terminal():
    h = cluster()
    t = h.terminal("sql", "--storage", h.storage(), "--secret-file", h.secret)
    t.expect(r"=> ?$")
    t.send("SELECT name\n")
    t.expect(r"-> ?$")  # more is wanted
    t.send("FROM pets WHERE id = 1;\n")
    t.expect(r"Ada[^>]*\(1 row\)\n\n?.*=> ?$")
    t.send("SELECT 1/0;\n")
    t.expect(r"22012: division by zero")
    t.expect(r"=> ?$")
    t.send("BEGIN;\n")
    t.expect(r"BEGIN\n")
    t.expect(r"[^\n]+> ?$")
    t.send("ROLLBACK;\n")
    t.expect(r"ROLLBACK\n")
    t.expect(r"=> ?$")
    t.send("\\dt\n")
    t.expect(r"pets")
    t.expect(r"=> ?$")
    # The up arrow brings the last statement back.
    t.send("SELECT 40 + 2 AS answer;\n")
    t.expect(r"42")
    t.expect(r"=> ?$")
    t.send("\x1b[A")
    t.expect(r"SELECT 40 \+ 2 AS answer;")
    t.send("\n")
    t.expect(r"42")
    t.expect(r"=> ?$")
    t.send("\\q\n")
    same(t.end(), 0)


def test_end_of_input_at_the_terminal():
    h = cluster()
    t = h.terminal("sql", "--storage", h.storage(), "--secret-file", h.secret)
    t.expect(r"=> ?$")
    t.send("\x04")
    same(t.end(), 0)


def test_interrupt_cancels_the_query_and_keeps_the_shell():
    h = cluster()
    t = h.terminal("sql", "--storage", h.storage(), "--secret-file", h.secret)
    t.expect(r"=> ?$")
    for _ in range(2):
        t.send("BEGIN;\n")
        t.expect(r"BEGIN\n")
        t.expect(r"> ?$")
        t.send(ENDLESS + ";\n")
        time.sleep(0.5 * house.SLOW)
        t0 = time.monotonic()
        t.send("\x03")
        t.expect(r"57014", 30)
        took = time.monotonic() - t0
        check(took < 2 * house.SLOW, "it obeys soon, not after %.1f s" % took)
        t.expect(r"> ?$")
        t.send("ROLLBACK;\n")
        t.expect(r"ROLLBACK\n")
        t.expect(r"=> ?$")
    t.send("SELECT 'still ' || 'here' AS s;\n")
    t.expect(r"still here")
    t.expect(r"=> ?$")
    # ^C at the prompt forgets what was typed, and nothing else.
    t.send("SELECT 'half\n")
    t.expect(r"> ?$")
    t.send("\x03")
    t.expect(r"=> ?$")
    t.send("SELECT 6 * 7 AS whole;\n")
    t.expect(r"42")
    t.expect(r"=> ?$")
    t.send("\\q\n")
    same(t.end(), 0)


def test_stopped_shell_holds_nobody_up():
    """^Z: the open transaction is rolled back before the program stops, and fg goes on with the session."""
    with House(nodes=1, lease_ms=200 * house.SLOW) as h:
        h.do("CREATE TABLE many AS SELECT i AS v FROM generate_series(1, 30000) i").ok()
        stopped_shell(h)


def stopped_shell(h):
    t = h.terminal("--norc", "--noprofile", "-i", program="/bin/bash")
    t.send("PS1='% '\n")
    t.expect(r"\n% ?$")
    for fabric in ("shm", "tcp"):
        t.send("%s sql --storage %s --secret-file %s --fabric %s\n" % (house.NAMDB, h.storage(), h.secret, fabric))
        t.expect(r"=> ?$")
        t.send("DROP TABLE IF EXISTS stopped; CREATE TABLE stopped (n integer);INSERT INTO stopped VALUES (0);\n")
        t.expect(r"INSERT 0 1\n")
        t.expect(r"=> ?$")
        t.send("\x1a")
        t.expect(r"Stopped")
        time.sleep(1.5 if house.SLOW == 1 else 0.4 * house.SLOW)  # several leases, or two
        t.send("fg\n")
        t.expect(r"=> ?$")
        t.send("BEGIN;UPDATE stopped SET n = n + 1;\n")
        t.expect(r"UPDATE 1\n")
        t.expect(r"\*> ?$")
        t.send("\x1a")
        t.expect(r"rolled back")
        t.expect(r"Stopped")
        t0 = time.monotonic()
        h.sql("-c", "UPDATE stopped SET n = n + 10", fabric=fabric).ok()
        check(time.monotonic() - t0 < 5 * house.SLOW, "no shell waits for it")
        t.send("fg\n")
        t.expect(r"=> ?$")
        t.send("SELECT 'n is ' || n AS s FROM stopped;\n")
        t.expect(r"n is 10\n")
        t.expect(r"=> ?$")
        t.send(ENDLESS + ";\n")
        time.sleep(0.5 * house.SLOW)
        t.send("\x1a")
        t.expect(r"57014")
        t.expect(r"Stopped")
        t.send("fg\n")
        t.expect(r"=> ?$")
        t.send("\\q\n")
        t.expect(r"\n% ?$")
    t.send("exit\n")
    t.end()


def test_demo_with_sql_on_stdin():
    with House() as h:
        r = run("demo", stdin="\\dt\nSELECT 1 + 1 AS two;\n", timeout=180, env=h.env)
        r.ok()
        check(re.search(r"^ *two *$", r.out, re.M) and re.search(r"^ *2 *$", r.out, re.M), "the answer is on stdout:", r)
        check("|" in r.out, "\\dt shows tables:", r)
        tables = re.findall(r"^ *(?:public \| )?([a-z_]+) *\|", r.out, re.M)
        tables = [t for t in tables if t not in ("table", "name", "schema", "public")]
        check(tables, "sample tables:", r)
        print("  sample tables:", ", ".join(tables))
        r = run("demo", "-c", "SELECT count(*) AS n FROM %s" % tables[0], timeout=180, env=h.env).ok()
        n = re.search(r"^ *(\d+) *$", r.out, re.M)
        check(n and int(n.group(1)) > 0, "they hold rows:", r)


def test_demo_empty():
    with House() as h:
        t0 = time.monotonic()
        r = run("demo", "--empty", stdin="CREATE TABLE t (a integer);\nINSERT INTO t VALUES (41 + 1);\n"
                "SELECT a FROM t;\n", timeout=60, env=h.env).ok()
        contains(r.out, "42")
        check(time.monotonic() - t0 < 10 * house.SLOW, "no data, no waiting")
        same(run("demo", "--empty", "-c", "SELECT 1/0", timeout=60, env=h.env).fails(1).sqlstate(), "22012")


def test_demo_at_a_terminal():
    with House() as h:
        t = h.terminal("demo")
        t.expect(r"=> ?$", 120)
        t.send("SELECT 40 + 2 AS n;\n")
        t.expect(r"42")
        t.expect(r"=> ?$")
        t.send("\\q\n")
        same(t.end(), 0)


def test_demos_do_not_meet():
    """Two at once on one machine are two clusters."""
    with House() as h:
        a, b = h.terminal("demo", "--empty"), h.terminal("demo", "--empty")
        for t in (a, b):
            t.expect(r"=> ?$", 60)
            t.send("CREATE TABLE mine (x integer);\n")
            t.expect(r"CREATE TABLE\n")
            t.expect(r"=> ?$")
            t.send("SELECT count(*) + 70 AS n FROM mine;\n")
            t.expect(r"70")
            t.expect(r"=> ?$")
        for t in (a, b):
            t.send("\\q\n")
            same(t.end(), 0)


if __name__ == "__main__":
    try:
        house.main()
    finally:
        if shared is not None:
            shared.__exit__(None, None, None)
