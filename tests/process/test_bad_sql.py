#!/usr/bin/env python3
"""Wrong SQL and wrong data: each gets its SQLSTATE, one line, and leaves the session usable."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import House, check, contains, same

shared = None


def cluster():
    """One cluster for all tests of this file; each makes its own tables."""
    global shared
    if shared is None:
        shared = House(nodes=1, size="256m")
        shared.do("CREATE TABLE t (id integer PRIMARY KEY, n integer, s varchar(5), r text NOT NULL)").ok()
        shared.do("INSERT INTO t VALUES (1, 10, 'a', 'x'), (2, 20, 'b', 'y')").ok()
    return shared


def fails(sql, state, *parts):
    r = cluster().do(sql).fails(1)
    same(r.sqlstate(), state, "%s:\n%s\n" % (sql[:200], r))
    lines = [l for l in r.err.splitlines() if l.startswith("ERROR:")]
    same(len(lines), 1, "one error line from %s: %s" % (sql[:100], r.err))
    contains(r.err, *parts)
    same(r.out, "", "nothing on stdout from " + sql[:100])
    return r


def unchanged():
    same(cluster().do("SELECT id, n, s, r FROM t ORDER BY id").ok().rows(),
         [("1", "10", "a", "x"), ("2", "20", "b", "y")], "the table is as it was")


def test_syntax_error_with_position():
    r = fails("SELECT id FORM t", "42601")
    # psql's way: the line, and a caret below the word.
    lines = r.err.splitlines()
    at = [i for i, l in enumerate(lines) if l.startswith("LINE 1:")]
    check(at, "the line is shown:", r.err)
    shown, caret = lines[at[0]], lines[at[0] + 1]
    check(shown[caret.index("^"):].startswith("t"), "the caret points at the word:", r.err)
    fails("SELECT 1 +", "42601", "end of input")
    fails("SELEC 1", "42601", "SELEC")
    fails("SELECT 'open", "42601")
    fails("INSERT INTO t VALUES (1, 2", "42601")
    unchanged()


def test_unknown_names():
    fails("SELECT * FROM nowhere", "42P01", "nowhere")
    fails("SELECT nothing FROM t", "42703", "nothing")
    fails("SELECT x.id FROM t", "42P01", "x")
    fails("INSERT INTO nowhere VALUES (1)", "42P01")
    fails("INSERT INTO t (id, nothing) VALUES (1, 2)", "42703", "nothing")
    fails("UPDATE t SET nothing = 1", "42703")
    fails("DELETE FROM nowhere", "42P01")
    fails("DROP TABLE nowhere", "42P01", "nowhere")
    fails("SELECT frobnicate(1)", "42883", "frobnicate")
    fails("COPY nowhere FROM '/etc/hostname'", "42P01")
    fails("SELECT 1 FROM t WHERE id = (", "42601")
    unchanged()


def test_names_taken():
    fails("CREATE TABLE t (id integer)", "42P07", "t")
    r = cluster().do("CREATE TABLE IF NOT EXISTS t (id integer)").ok()
    cluster().do("DROP TABLE IF EXISTS nowhere").ok()
    fails("CREATE TABLE u (a integer, a text)", "42701")
    unchanged()


def test_wrong_types():
    fails("INSERT INTO t VALUES ('abc', 1, 'a', 'x')", "22P02", "abc")
    fails("SELECT 1 + true", "42883")
    fails("SELECT id FROM t WHERE r", "42804")
    fails("SELECT id FROM t WHERE n = 'xyz'", "22P02", "xyz")
    fails("INSERT INTO t VALUES (3, true, 'a', 'x')", "42804")
    fails("SELECT sum(r) FROM t", "42883")
    fails("SELECT CAST('2020-02-30' AS date)", "22008")
    fails("SELECT CAST('yesterdayish' AS date)", "22007")
    fails("SELECT CAST('maybe' AS boolean)", "22P02")
    fails("INSERT INTO t (id, s, r) VALUES (3, 'too long', 'x')", "22001")
    fails("INSERT INTO t (id) VALUES (1, 2)", "42601")
    unchanged()


def test_grouping_rules():
    fails("SELECT n, count(*) FROM t", "42803", "n")
    fails("SELECT id FROM t WHERE count(*) > 1", "42803")
    fails("SELECT id FROM t, t", "42712")
    fails("SELECT id FROM t a, t b", "42702", "id")


def test_duplicate_key():
    fails("INSERT INTO t VALUES (1, 1, 'a', 'x')", "23505", "1")
    fails("INSERT INTO t VALUES (3, 1, 'a', 'x'), (3, 1, 'a', 'x')", "23505")
    same(cluster().do("SELECT count(*) FROM t WHERE id = 3").value(), "0", "a failed statement leaves nothing")
    unchanged()


def test_not_null():
    fails("INSERT INTO t (id, n) VALUES (3, 1)", "23502", "r")
    fails("UPDATE t SET r = NULL WHERE id = 1", "23502", "r")
    fails("INSERT INTO t (n, r) VALUES (1, 'x')", "23502", "id")
    unchanged()


def test_overflow():
    fails("SELECT 2147483647 + 1", "22003")
    fails("SELECT 9223372036854775807 + 1", "22003")
    fails("SELECT -9223372036854775807 - 2", "22003")
    fails("SELECT 3037000500 * 3037000500", "22003")
    fails("INSERT INTO t VALUES (2147483648, 1, 'a', 'x')", "22003")
    fails("SELECT CAST(1e400 AS double precision)", "22003")
    fails("UPDATE t SET n = n + 2147483640", "22003")
    fails("SELECT CAST(12345.6 AS numeric(5,2))", "22003")
    unchanged()


def test_division_by_zero():
    fails("SELECT 1 / 0", "22012")
    fails("SELECT 1.5 / 0", "22012")
    fails("SELECT 1 % 0", "22012")
    fails("SELECT CAST(1 AS double precision) / 0", "22012")
    fails("SELECT n / (id - 1) FROM t", "22012")
    fails("UPDATE t SET n = n / (id - 2)", "22012")
    unchanged()


def test_not_supported_says_its_name():
    for sql, word in (
            ("CREATE MATERIALIZED VIEW v AS SELECT 1", None),
            ("CREATE FUNCTION f() RETURNS integer LANGUAGE sql AS 'SELECT 1'", "FUNCTION"),
            ("SELECT to_tsvector('x')", "to_tsvector"),
            ("CREATE TABLE a (x integer[][])", None),
            ("CREATE INDEX i ON t ((n + 1))", "expression"),
            ("LISTEN x", "LISTEN")):
        r = fails(sql, "0A000")
        if word:
            check(word.lower() in r.err.lower(), "%s: names the feature %s: %s" % (sql, word, r.err))
    unchanged()


def test_write_conflict():
    h = cluster()
    h.do("CREATE TABLE wc (id integer PRIMARY KEY, n integer); INSERT INTO wc VALUES (1, 0), (2, 0)").ok()
    a, b = h.shell(), h.shell()
    a.ok("SET namdb.visibility = 'cluster'")
    b.ok("BEGIN ISOLATION LEVEL REPEATABLE READ")
    same(b.value("SELECT n FROM wc WHERE id = 1"), "0")
    a.ok("UPDATE wc SET n = 5 WHERE id = 1")
    out = b.do("UPDATE wc SET n = n + 1 WHERE id = 1")
    if "ERROR" not in out:  # found at commit then
        out = b.do("COMMIT")
    contains(out, "40001")
    b.do("ROLLBACK")
    same(b.value("SELECT n FROM wc WHERE id = 1"), "5", "the first writer won, the session goes on")
    a.close()
    b.close()


def test_failed_block_refuses_until_its_end():
    s = cluster().shell()
    s.ok("BEGIN")
    s.ok("UPDATE t SET n = 99 WHERE id = 1")
    s.fails("SELECT 1 / 0", "22012")
    s.fails("SELECT 1", "25P02")
    s.fails("INSERT INTO t VALUES (9, 9, 'a', 'x')", "25P02")
    contains(s.do("COMMIT"), "ROLLBACK")
    same(s.value("SELECT 1"), "1")
    unchanged()
    s.close()


def test_multi_statement_text_is_one_transaction():
    r = cluster().do("INSERT INTO t VALUES (7, 1, 'a', 'x'); INSERT INTO t VALUES (8, 1 / 0, 'a', 'x')").fails(1)
    same(r.sqlstate(), "22012")
    unchanged()


def test_csv_with_a_bad_row():
    h = cluster()
    h.do("CREATE TABLE cp (id integer PRIMARY KEY, d date, v text)").ok()
    good = "id,d,v\n1,2020-01-01,a\n2,2020-01-02,\"b\nwith a newline\"\n"

    def bad(rows, state, *parts):
        path = h.file("bad.csv", good + rows)
        r = h.do("COPY cp FROM '%s' WITH (FORMAT csv, HEADER)" % path).fails(1)
        same(r.sqlstate(), state, str(r))
        contains(r.err, *parts)
        same(h.do("SELECT count(*) FROM cp").value(), "0", "nothing of it was inserted")

    bad("x3,2020-01-03,c\n", "22P02", "id", "x3")
    bad("3,2020-13-03,c\n", "22008", "d")
    bad("3,2020-01-03\n", "22P04", "v")
    bad("3,2020-01-03,c,more\n", "22P04")
    bad("2,2020-01-03,c\n", "23505")
    bad("3,2020-01-03,\"never closed\n", "22P04")
    # The row number counts rows as the reader of the file does: row 3 of the data, line 4 or 5 of the file.
    path = h.file("bad.csv", good + "x3,2020-01-03,c\n")
    r = h.do("COPY cp FROM '%s' WITH (FORMAT csv, HEADER)" % path).fails(1)
    check(re.search(r"\b(row|line) (3|4|5)\b", r.err), "the row's number is said:", r.err)
    h.do("COPY cp FROM '%s' WITH (FORMAT csv, HEADER)" % h.file("good.csv", good)).ok()
    same(h.do("SELECT count(*) FROM cp").value(), "2")


def test_csv_file_that_is_not_there():
    fails("COPY t FROM '/nowhere/at/all.csv' WITH (FORMAT csv)", "58P01", "/nowhere/at/all.csv")
    unchanged()


def test_bad_utf8():
    h = cluster()
    h.do("CREATE TABLE u8 (v text)").ok()
    path = h.file("bytes.csv", b"fine\nbad \xff\xfe byte\n")
    r = h.do("COPY u8 FROM '%s' WITH (FORMAT csv)" % path).fails(1)
    same(r.sqlstate(), "22021", str(r))
    same(h.do("SELECT count(*) FROM u8").value(), "0")


def test_a_100_mb_line_is_refused_without_reading_it_all_in():
    """The shell must refuse long before the end of its input, and with little memory."""
    h = cluster()
    p = subprocess.Popen([house.NAMDB, "sql", "--storage", h.storage(), "--secret-file", h.secret],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         env=house.clean_env(h.env))
    peak = 0
    broken = False
    try:
        p.stdin.write(b"SELECT '")
        chunk = b"x" * (1 << 20)
        for i in range(100):
            p.stdin.write(chunk)
            if i == 98:
                p.stdin.flush()
                with open("/proc/%d/status" % p.pid) as f:
                    peak = int(re.search(r"VmHWM:\s+(\d+)", f.read()).group(1)) // 1024
        p.stdin.write(b"';\nSELECT 'alive' AS still;\n")
        p.stdin.close()
    except (BrokenPipeError, FileNotFoundError, AttributeError):
        broken = True  # it went away after its complaint: fine too
    out = p.stdout.read().decode("utf-8", "replace")
    p.wait(timeout=60 * house.SLOW)
    p.stdout.close()
    contains(out, "54000")
    check(len(out) < 10000, "the line is not echoed", len(out))
    check(p.returncode == 1, "exit", p.returncode)
    if not broken:
        print("  peak memory %d MiB" % peak)
        check(peak < 60 * (1 if house.SLOW == 1 else 8), "it was read in: %d MiB" % peak)


def test_too_deep():
    h = cluster()
    path = h.file("deep.sql", "SELECT " + "+".join(["1"] * 100000) + ";\n")
    same(h.sql("-f", path).fails(1).sqlstate(), "54001")
    path = h.file("parens.sql", "SELECT " + "(" * 50000 + "1" + ")" * 50000 + ";\n")
    r = h.sql("-f", path).fails(1)
    check(r.sqlstate() in ("54001", "54000"), r)
    path = h.file("nots.sql", "SELECT " + "NOT " * 50000 + "true;\n")
    r = h.sql("-f", path).fails(1)
    check(r.sqlstate() in ("54001", "54000"), r)
    same(h.do("SELECT " + "+".join(["1"] * 100)).value(), "100")


def test_statement_of_almost_a_mebibyte():
    h = cluster()
    text = "SELECT length('" + "y" * 1000000 + "') AS n;\n"
    path = h.file("long.sql", text)
    same(h.sql("-f", path).value(), "1000000")


def test_full_region():
    with House(nodes=1, size="16m") as h:
        h.do("CREATE TABLE a (id integer PRIMARY KEY, v text)").ok()
        h.do("CREATE TABLE keep (id integer PRIMARY KEY, v text); INSERT INTO keep VALUES (1, 'kept')").ok()
        path = h.file("big.csv", "".join("%d,%s\n" % (i, "z" * 400) for i in range(100000)))
        s = h.shell()
        out = s.do("COPY a FROM '%s' WITH (FORMAT csv)" % path, timeout=120)
        contains(out, "53100")
        same(s.value("SELECT count(*) FROM a"), "0", "the transaction rolled back")
        same(s.value("SELECT v FROM keep WHERE id = 1"), "kept", "the cluster goes on")
        s.ok("UPDATE keep SET v = 'changed' WHERE id = 1")
        same(s.value("SELECT v FROM keep"), "changed")
        # Row by row until it is full again: what was answered stays.
        inserted = 0
        for i in range(200):
            out = s.do("INSERT INTO a VALUES " + ",".join(
                "(%d, '%s')" % (i * 100 + j, "q" * 400) for j in range(100)), timeout=60)
            if "53100" in out:
                break
            check("ERROR" not in out, out)
            inserted += 100
        same(s.value("SELECT count(*) FROM a"), str(inserted), "what was answered is there")
        same(s.value("SELECT v FROM keep"), "changed")
        print("  %d rows fitted afterwards" % inserted)
        s.close()
        same(h.do("SELECT count(*) FROM a").value(), str(inserted), "for another process too")


def test_readers_and_dropped_tables():
    h = cluster()
    a, b = h.shell(), h.shell()
    a.ok("SET namdb.visibility = 'cluster'")
    a.ok("CREATE TABLE dr (id integer PRIMARY KEY)")
    a.ok("INSERT INTO dr VALUES (1)")
    same(b.value("SELECT count(*) FROM dr"), "1")
    a.ok("DROP TABLE dr")
    b.fails("SELECT count(*) FROM dr", "42P01")
    a.ok("CREATE TABLE dr (id integer PRIMARY KEY, more text)")
    same(b.value("SELECT count(more) FROM dr"), "0", "the new table under the old name")
    a.close()
    b.close()


if __name__ == "__main__":
    try:
        house.main()
    finally:
        if shared is not None:
            shared.__exit__(None, None, None)
