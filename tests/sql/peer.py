"""peer.py -- the same tables and the same questions for namdb and for SQLite, and how answers are compared.

A table is (name, [(column, type)], key, csv path). A question is (kinds, SQL[, SQLite's SQL]):
one letter per answer column says how it is compared:
  t text, exactly     i integer, exactly    n exact number (trailing zeros do not count)
  f approximate number (relative 1e-9)      b boolean (SQLite: 0 and 1)
  s timestamp (SQLite keeps the text, with its trailing zeros)
A question with an ORDER BY that is total ends in "!" in its kinds: then order counts.
"""
import csv
import os
import sqlite3
import sys
from decimal import Decimal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import check


def sqlite_type(t):
    if t.startswith(("integer", "bigint", "boolean")):
        return "INTEGER"
    if t.startswith(("numeric", "double")):
        return "REAL"
    return "TEXT"


def sqlite_value(t, text):
    if text == "":
        return None  # an empty field is NULL, as for COPY ... CSV
    st = sqlite_type(t)
    if t == "boolean":
        return {"t": 1, "f": 0}[text]
    if st == "INTEGER":
        return int(text)
    if st == "REAL":
        return float(text)
    return text


def load_sqlite(db, name, columns, path):
    db.execute("CREATE TABLE %s (%s)" % (name, ", ".join("%s %s" % (c, sqlite_type(t)) for c, t in columns)))
    with open(path, newline="", encoding="utf-8") as f:
        rows = csv.reader(f)
        next(rows)
        data = [[sqlite_value(t, v) for (_, t), v in zip(columns, row)] for row in rows]
    db.executemany("INSERT INTO %s VALUES (%s)" % (name, ",".join("?" * len(columns))), data)
    return len(data)


def open_sqlite():
    db = sqlite3.connect(":memory:")
    db.execute("PRAGMA case_sensitive_like = ON")
    return db


def create(name, columns, key):
    cols = ", ".join("%s %s" % (c, t) for c, t in columns)
    return "CREATE TABLE %s (%s%s)" % (name, cols, ", PRIMARY KEY (%s)" % ", ".join(key) if key else "")


def normal(kind, v):
    """One answer cell, from either side, in one form."""
    if v is None or v == "":
        return None
    if kind == "t":
        return str(v)
    if kind == "s":
        return v.rstrip("0").rstrip(".") if "." in v else v
    if kind == "b":
        return {"t": True, "f": False, 1: True, 0: False}[v]
    if kind == "i":
        check(not isinstance(v, float) or v == int(v), "an integer?", v)
        return int(v)
    if kind == "n":
        return Decimal(repr(v) if isinstance(v, float) else str(v)).normalize()
    if kind == "f":
        return float(v)
    raise ValueError(kind)


def cell_same(kind, a, b):
    if kind == "f" and a is not None and b is not None:
        return a == b or abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-3)
    return a == b


def rank(row):
    """An order of rows that rounding does not disturb much: exact cells first."""
    return tuple((c is None, str(c) if not isinstance(c, float) else "%.6g" % c) for c in row)


def compare(name, kinds, got, want):
    ordered = kinds.endswith("!")
    kinds = kinds.rstrip("!")
    got = [tuple(normal(k, c) for k, c in zip(kinds, row)) for row in got]
    want = [tuple(normal(k, c) for k, c in zip(kinds, row)) for row in want]
    check(len(got) == len(want), "%s: %d rows, SQLite has %d; first of ours %r, first of its %r" % (
        name, len(got), len(want), got[:3], want[:3]))
    if not ordered:
        got.sort(key=rank)
        want.sort(key=rank)
    for i, (g, w) in enumerate(zip(got, want)):
        check(len(g) == len(kinds) and len(w) == len(kinds), "%s: %d kinds for %r and %r" % (name, len(kinds), g, w))
        check(all(cell_same(k, a, b) for k, a, b in zip(kinds, g, w)),
              "%s: row %d: ours %r, SQLite's %r" % (name, i, g, w))


def ask_both(shell, db, questions, fresh=True):
    """Asks every question; reports all that differ, not only the first."""
    wrong = []
    for n, q in enumerate(questions, 1):
        kinds, ours = q[0], q[1]
        theirs = q[2] if len(q) > 2 else ours
        try:
            want = db.execute(theirs).fetchall()
            out = shell.ok(ours, timeout=120)
            got = [r or [""] for r in csv.reader(out.splitlines(keepends=True))][1:]  # a lone NULL is an empty line
            compare("question %d" % n, kinds, got, want)
            check(want or not fresh, "question %d asks about nothing" % n)
        except (AssertionError, sqlite3.Error, KeyError, ValueError) as e:
            wrong.append("question %d: %s\n    %s" % (n, ours, str(e)[:1500]))
    print("  %d of %d questions answered as SQLite does" % (len(questions) - len(wrong), len(questions)))
    check(not wrong, "%d answers differ:\n%s" % (len(wrong), "\n".join(wrong)))
