#!/usr/bin/env python3
"""Plans by indexes: random conditions on a table with many indexes, answered by namdb and by a real PostgreSQL 15. Most are asked
twice, and of a changing table, so that rows come out of keys that this process knows, and of keys that have changed since."""
import collections
import os
import random
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_foreign  # both servers, and how their answers are read
import house
from house import check

ROWS = 6000
COLUMNS = {  # a column's values, as SQL
    "a": lambda r: str(r.randrange(60)),
    "b": lambda r: "'%s'" % r.choice(["", "x", "xy", "a much longer text, number %d" % r.randrange(9),
                                     "a text that is longer than what any key has room for, number %d" % r.randrange(9)]),
    "c": lambda r: str(r.randrange(40)),
    "d": lambda r: "date '2024-01-01' + %d" % r.randrange(50),
    "e": lambda r: r.choice(["0", "'-0'", "1.5", "-2.5", "'NaN'", "'Infinity'", str(r.randrange(20))]) + "::float8",
    "f": lambda r: "%d.%02d" % (r.randrange(9), r.randrange(3) * 50),
    "g": lambda r: "timestamptz '2024-05-05 00:00+00' + interval '%d hours'" % r.randrange(40),
}
INDEXES = ["(a)", "(c)", "(d)", "(b)", "(e)", "(f)", "(a, d DESC)", "(c DESC, a)", "(d, b, a)", "(g) INCLUDE (a)", "(e DESC, c)"]


def row(r, key):
    return "(%d, %s)" % (key, ", ".join("NULL" if r.randrange(12) == 0 else v(r) for v in COLUMNS.values()))


def condition(r, depth=0):
    column = r.choice(list(COLUMNS))
    value = COLUMNS[column]
    kind = r.randrange(11 if depth < 2 else 8)
    if kind < 3:
        return "%s = %s" % (column, value(r))
    if kind == 3:
        return "%s IN (%s, %s, %s)" % (column, value(r), value(r), value(r))
    if kind == 4:
        return "%s BETWEEN %s AND %s" % ((column,) + tuple(sorted([value(r), value(r)])))
    if kind == 5:
        return "%s %s %s" % (column, r.choice(["<", ">", "<=", ">="]), value(r))
    if kind == 6:
        return r.choice(["b LIKE 'x%'", "b LIKE 'a much longer%'", "a IS NULL", "c IS NULL", "e IS NULL AND a = 3"])
    if kind == 7:
        some = r.sample([c for c in COLUMNS if c != "e"], r.choice([1, 1, 2])) + ["id"]
        row = ", ".join("NULL" if r.randrange(20) == 0 else COLUMNS[c](r) if c in COLUMNS else str(r.randrange(ROWS)) for c in some)
        sides = ["(%s)" % ", ".join(some), "(%s)" % row]
        r.shuffle(sides)
        return "%s %s %s" % (sides[0], r.choice(["<", ">", "<=", ">=", "="]), sides[1])
    return "(%s %s %s)" % (condition(r, depth + 1), r.choice(["AND", "OR"]), condition(r, depth + 1))


def query(r):
    where = " AND ".join(condition(r) for _ in range(r.choice([1, 1, 2, 2, 3])))
    some = r.sample(list(COLUMNS), r.randrange(1, 4))
    kind = r.randrange(10)
    if kind == 8:
        ends = ["%s(%s)" % (r.choice(["min", "max"]), r.choice("acdg")) for _ in range(r.choice([1, 2, 2, 3]))]
        return "SELECT %s FROM t%s" % (", ".join(ends), r.choice(["", " WHERE " + condition(r, 2), " WHERE " + where]))
    if kind == 9:
        keys = ", ".join(c + r.choice(["", " DESC", " DESC NULLS LAST"]) for c in r.sample("acdg", r.choice([1, 1, 2])) + ["id"])
        return "SELECT id FROM t%s ORDER BY %s LIMIT %d OFFSET %d" % (r.choice(["", " WHERE " + where]), keys, r.randrange(30), r.choice([0, 0, 9]))
    if kind < 2:
        return "SELECT id FROM t WHERE " + where
    if kind == 2:
        return "SELECT count(*), min(id) FROM t WHERE " + where
    if kind == 3:
        return "SELECT %s FROM t WHERE a = %d OR c = %d" % (r.choice(["count(*)", "id", "a, c"]), r.randrange(60), r.randrange(40))
    if kind == 4:  # rows of one index's columns
        cols, cond = r.choice([("a, d", "a = %d"), ("c, a", "c = %d"), ("a", "a < %d"), ("e, c", "e = %d"), ("d, b, a", "a = %d AND d < '2024-01-09'"),
                               ("b", "b LIKE 'x%%' AND a = %d"), ("a", "g > '2024-05-06 10:00+00' AND a = %d"), ("e", "e < %d"), ("b", "b < 'x' OR c = %d")])
        return "SELECT %s FROM t WHERE %s" % (cols, cond % r.randrange(9))
    if kind == 5:
        return "SELECT s.k, t.id FROM s JOIN t ON t.%s = s.k WHERE s.k < %d" % (r.choice("ac"), r.randrange(1, 60))
    if kind == 6:
        return "SELECT s.k, t.%s FROM s LEFT JOIN t ON t.%s = s.k AND t.c < 20 WHERE s.k < %d" % (r.choice("ac"), r.choice("ac"), r.randrange(1, 60))
    return "SELECT %s FROM t WHERE %s" % (", ".join(some), where)


def change(r, key):
    column = r.choice(list(COLUMNS))
    return r.choice(["UPDATE t SET %s = %s WHERE id %% 100 = %d" % (column, COLUMNS[column](r), r.randrange(100)),
                     "DELETE FROM t WHERE id BETWEEN %d AND %d" % (key % ROWS, key % ROWS + 9),
                     "INSERT INTO t VALUES " + row(r, key),
                     "UPDATE t SET a = a + 1 WHERE %s" % condition(r, 2)])


def statements(r):
    out = ["CREATE TABLE t (id int PRIMARY KEY, a int, b text, c smallint, d date, e float8, f numeric, g timestamptz)",
           "CREATE TABLE s (k int PRIMARY KEY)", "INSERT INTO s SELECT * FROM generate_series(0, 99)"]
    for first in range(1, ROWS, 1000):
        out.append("INSERT INTO t VALUES " + ", ".join(row(r, k) for k in range(first, first + 1000)))
    out += ["CREATE INDEX ON t " + i for i in INDEXES] + ["ANALYZE t", "ANALYZE s"]
    key = ROWS
    for block in range(6):
        if block % 3 == 2:
            out.append(r.choice(["BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ"]))
        for _ in range(40):
            key += 1
            q = query(r)
            out += [q, q] if r.randrange(2) else [q]
            if r.randrange(3) == 0:
                out += [change(r, key), q]
        if block % 3 == 2:
            out.append(r.choice(["COMMIT", "ROLLBACK"]))
    return out


def test_index_plans():
    seed = int(os.environ.get("NAM_RANDOM", "1"))
    asked = statements(random.Random(seed))
    want, got = test_foreign.of_postgres(asked), test_foreign.of_namdb(asked)
    wrong = ["%s\n    namdb      %s\n    PostgreSQL %s" % (text[:400], str(ours)[:600], str(theirs)[:600])
             for text, theirs, ours in zip(asked, want, got) if theirs != ours]
    check(not wrong, "seed %d: %d of %d answers differ:\n%s" % (seed, len(wrong), len(asked), "\n".join(wrong[:10])))
    # the plans of the same statements, of the table as it was at first
    first = next(n for n, text in enumerate(asked) if text.startswith("ANALYZE s")) + 1
    explained = [("EXPLAIN " + text if text.startswith("SELECT") else "SELECT 1") for text in asked[first:]]
    plans = test_foreign.of_namdb(asked[:first] + explained)[first:]
    kinds = collections.Counter(k for rows, _ in plans for k in set(re.findall(
        r"(Seq Scan|Index Only Scan|Index Only Lookup|Index Lookup|Index And Scan|Index Or Scan|Index Scan)", str(rows))))
    print("  seed %d: %d statements; %s" % (seed, len(asked), ", ".join("%s %d" % k for k in sorted(kinds.items()))))
    for kind in ("Index Only Scan", "Index And Scan", "Index Or Scan", "Index Scan"):
        check(kinds[kind] >= 4, "only %d plans have an %s" % (kinds[kind], kind))


if __name__ == "__main__":
    house.main()
