#!/usr/bin/env python3
"""Tables of 1,600 columns: of any type they are made, filled, changed, copied, and read by another process; what does not fit is refused."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, check, same
from wire import Wire, error
from wire import texts as rows_of

MOST = 1600
VALUES = {"text": "'abc%d'", "numeric": "%d.5", "bigint": "%d00000000000", "timestamp": "'2024-01-01 00:00:%02d'", "boolean": "'%d'",
          "integer[]": "'{%d}'", "varchar(20)": "'v%d'", "jsonb": "'[%d]'"}


def ask(w, sql):
    got = w.query(sql)
    bad = [m for m in got if m[0] == "E"]
    check(not bad, "%.100s:" % sql, error(got) if bad else "")
    return got


def texts(answer):
    return [list(r) for r in rows_of(answer)]


def refused(w, sql):
    return error(w.query(sql))["C"]


def columns(kind, n, first="id integer PRIMARY KEY"):
    return ", ".join([first] + ["c%d %s" % (i, kind) for i in range(1, n)])


def row(kind, k, n=MOST):
    """Of the types whose values are long each fourth column has one: PostgreSQL's rows hold no more either."""
    say, each = VALUES[kind], 4 if kind in ("integer[]", "jsonb") else 1
    return ", ".join([str(k)] + [say % (i % 2 if kind == "boolean" else i % 60) if i % each == 0 else "NULL" for i in range(1, n)])


def test_of_any_type():
    with House(nodes=1, size="256m") as h:
        one, two = Compute(h), Compute(h)
        w, other = Wire(one.port, timeout=120), Wire(two.port, timeout=120)
        for t, kind in enumerate(VALUES):
            ask(w, "CREATE TABLE w%d (%s)" % (t, columns(kind, MOST)))
            ask(w, "INSERT INTO w%d VALUES (%s), (%s)" % (t, row(kind, 1), row(kind, 2)))
            ask(w, "INSERT INTO w%d (id) VALUES (3)" % t)
            before = texts(ask(w, "SELECT * FROM w%d ORDER BY id" % t))
            same([len(r) for r in before], [MOST] * 3, kind)
            same(before[2][1:], [None] * (MOST - 1), kind)
            ask(w, "UPDATE w%d SET c1599 = NULL, c7 = c8 WHERE id = 2" % t)
            after = texts(ask(other, "SELECT * FROM w%d ORDER BY id" % t))
            same(after[0], before[0], kind)
            same(after[1][8 - 1:1599], [before[1][8]] + before[1][8:1599], kind)
            same(after[1][1599], None, kind)
            same(texts(ask(other, "SELECT count(*) FROM pg_attribute WHERE attrelid = 'w%d'::regclass AND attnum > 0" % t)), [[str(MOST)]])


def test_values_that_do_not_fit():
    with House(nodes=1, size="256m") as h:
        w = Wire(Compute(h).port, timeout=120)
        ask(w, "CREATE TABLE w (%s)" % columns("text", MOST))
        # As many as a row's own bytes hold, and some long ones, which lie elsewhere.
        ask(w, "INSERT INTO w VALUES (1, %s)" % ", ".join("repeat('%d', %d)" % (i % 10, 20000 if i % 40 == 0 else 5) for i in range(1, MOST)))
        got = texts(ask(w, "SELECT * FROM w"))[0]
        same([len(v) for v in got[1:]], [20000 if i % 40 == 0 else 5 for i in range(1, MOST)])
        same(refused(w, "INSERT INTO w VALUES (2, %s)" % ", ".join("repeat('x', 100)" for i in range(1, MOST))), "54000")
        same(texts(ask(w, "SELECT count(*) FROM w")), [["1"]])
        same(refused(w, "CREATE TABLE v (%s) WITH (versions = 8)" % columns("text", MOST)), "54000")


def test_columns_are_added():
    with House(nodes=1, size="256m") as h:
        c = Compute(h)
        w = Wire(c.port, timeout=120)
        ask(w, "CREATE TABLE w (%s)" % columns("text", MOST - 4))
        ask(w, "INSERT INTO w VALUES (%s)" % row("text", 1, MOST - 4))
        for i in range(4):
            ask(w, "ALTER TABLE w ADD COLUMN d%d text DEFAULT 'd'" % i)
        same(refused(w, "ALTER TABLE w ADD COLUMN e integer"), "54011")
        same(refused(w, "CREATE TABLE v (%s)" % columns("integer", MOST + 1)), "54011")
        got = texts(ask(w, "SELECT * FROM w"))[0]
        same((len(got), got[-5:]), (MOST, [got[MOST - 5]] + ["d"] * 4))
        # Copied out and in again.
        r = c.psql("-c", "CREATE TABLE copied AS SELECT * FROM w WHERE false", "-c", "\\copy w to '%s/wide'" % h.dir, "-c", "\\copy copied from '%s/wide'" % h.dir)
        r.ok()
        same(texts(ask(w, "SELECT * FROM copied")), [got])
        ask(w, "ALTER TABLE w DROP COLUMN d0, ADD COLUMN e numeric DEFAULT 1.5")
        same(texts(ask(w, "SELECT d3, e FROM w")), [["d", "1.5"]])


def test_a_process_dies_in_the_middle():
    """What was decided is there, what was not is not, and each row is whole; also of a table of three versions."""
    with House(nodes=1, size="256m") as h:
        one, two = Compute(h), Compute(h)
        w, other = Wire(one.port, timeout=120), Wire(two.port, timeout=120)
        ask(w, "CREATE TABLE w (%s)" % columns("bigint", MOST))
        ask(w, "INSERT INTO w SELECT i%s FROM generate_series(1, 40) i" % (", i" * (MOST - 1)))
        w.raw(w.message("Q", b"BEGIN; UPDATE w SET c1 = -1, c1599 = -1; SELECT 1; UPDATE w SET c2 = -1\0"))
        got = texts(ask(other, "SELECT count(*) FROM w WHERE c1 = id AND c1599 = id"))
        one.kill()
        same(got, [["40"]])
        ask(other, "UPDATE w SET c1 = -2, c1599 = -2")
        same(texts(ask(other, "SELECT count(*) FROM w WHERE c1 = -2 AND c2 = id AND c1599 = -2")), [["40"]])


if __name__ == "__main__":
    house.main()
