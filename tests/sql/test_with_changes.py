#!/usr/bin/env python3
"""INSERT, UPDATE, DELETE inside of WITH: the statements of with_changes.sql, answered by namdb and by a real PostgreSQL 15; and
what namdb refuses, because it would show a statement its own changes."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_foreign
import house
from house import Compute, House, check, same
from wire import Wire, texts

# Answers that differ on purpose: the part of the statement, and the SQLSTATE that namdb gives.
OURS = [("CREATE VIEW vw", "0A000"), ("DECLARE cu", "25P01"),
        ("SELECT j FROM j", "42P01")]  # PostgreSQL has a DETAIL


def test_with_changes():
    asked = test_foreign.statements("with_changes.sql")
    texts = [t for _, t in asked]
    want, got = test_foreign.of_postgres(texts), test_foreign.of_namdb(texts)
    wrong = []
    for (section, text), theirs, ours in zip(asked, want, got):
        meant = ours[1] is not None and any(part in text and ours[1][0] == state for part, state in OURS)
        if theirs != ours and not meant:
            wrong.append("%s: %s\n    namdb      %s\n    PostgreSQL %s" % (section, text, ours, theirs))
    check(not wrong, "%d answers differ:\n%s" % (len(wrong), "\n".join(wrong)))
    print("  %d statements" % len(asked))


def test_refused():
    """What an earlier part has changed is neither read nor changed again: PostgreSQL would show the rows of before."""
    no = ["WITH u AS (UPDATE t SET b = 1 RETURNING a) SELECT count(*) FROM t",
          "WITH u AS (UPDATE t SET b = 1 RETURNING a) SELECT (SELECT max(b) FROM t), (SELECT count(*) FROM u)",
          "WITH u AS (UPDATE t SET b = 1 RETURNING a) SELECT * FROM v",
          "WITH u AS (DELETE FROM t RETURNING a) UPDATE t SET b = 2",
          "WITH u AS (DELETE FROM t RETURNING a) DELETE FROM t WHERE a > 1",
          "WITH u AS (DELETE FROM t RETURNING a), s AS (SELECT * FROM t) SELECT * FROM s",
          "WITH u AS (INSERT INTO t VALUES (9, 9)) INSERT INTO t VALUES (9, 1) ON CONFLICT (a) DO UPDATE SET b = 2",
          "WITH u AS (INSERT INTO t VALUES (9, 9)) INSERT INTO o SELECT a FROM t",
          "WITH u AS (DELETE FROM t RETURNING a) SELECT * FROM c",
          "EXPLAIN WITH u AS (DELETE FROM t RETURNING a) SELECT * FROM u",
          "COPY (WITH u AS (DELETE FROM t RETURNING a) SELECT * FROM u) TO STDOUT",
          "CREATE TABLE n AS WITH u AS (DELETE FROM t RETURNING a) SELECT * FROM u"]
    setup = ["CREATE TABLE t (a int PRIMARY KEY, b int)", "CREATE TABLE o (a int)", "CREATE VIEW v AS SELECT * FROM t WHERE a > 0",
             "CREATE TABLE c (a int REFERENCES t ON DELETE CASCADE)", "INSERT INTO t VALUES (1, 10), (2, 20)", "INSERT INTO c VALUES (1)"]
    after = ["SELECT * FROM t", "SELECT count(*) FROM c"]
    got = test_foreign.of_namdb(setup + no + after)
    for text, answer in zip(no, got[len(setup):]):
        check(answer[1] is not None and answer[1][0] == "0A000", text, answer)
    same(got[-2][0], sorted(map(repr, [["1", "10"], ["2", "20"], ["a", "b"]])), "nothing has changed")
    same(got[-1][0], sorted(map(repr, [["1"], ["count"]])))


def test_runs_again_from_its_beginning():
    """A step waits for a row that another session changes, and the statement runs again: what an earlier step has deleted is not
    lost, and nothing is done twice."""
    with House(nodes=1, size="128m") as h:
        c = Compute(h)
        a, b = Wire(c.port), Wire(c.port)
        a.query("CREATE TABLE gone (k int PRIMARY KEY); CREATE TABLE log (k int); CREATE TABLE q (k int PRIMARY KEY, v int);"
                "INSERT INTO q VALUES (1, 1)")
        text = ("WITH d AS (DELETE FROM gone RETURNING k), l AS (INSERT INTO log SELECT k FROM d RETURNING k), "
                "w AS (%s) SELECT (SELECT sum(k) FROM d), (SELECT count(*) FROM l), (SELECT v FROM w)")
        for n, (step, block) in enumerate([("SELECT v FROM q WHERE k = 1 FOR UPDATE", False),
                                           ("SELECT v FROM q WHERE k = 1 FOR UPDATE", True),
                                           ("UPDATE q SET v = v + 100 WHERE k = 1 RETURNING v", False),
                                           ("UPDATE q SET v = v + 100 WHERE k = 1 RETURNING v", True)]):
            a.query("DELETE FROM gone; DELETE FROM log; UPDATE q SET v = 1; INSERT INTO gone VALUES (5), (6)")
            a.query("BEGIN; UPDATE q SET v = v + 10 WHERE k = 1")
            if block:
                b.query("BEGIN")
            b.send("Q", (text % step).encode() + b"\0")
            time.sleep(0.3)
            a.query("COMMIT")
            answer = texts(b.until_ready())
            if block:
                b.query("COMMIT")
            same(answer, [("11", "2", "111" if step.startswith("UPDATE") else "11")], (n, step, block))
            same(texts(a.query("SELECT count(*) FROM log")), [("2",)], "logged")
            same(texts(a.query("SELECT count(*) FROM gone")), [("0",)], "deleted")
        a.close()
        b.close()


if __name__ == "__main__":
    house.main()
