#!/usr/bin/env python3
"""Which query a name and an aggregate belong to: the statements of scopes.sql, answered by namdb and by a real PostgreSQL 15.
Rows, names of columns and SQLSTATEs must be equal.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_postgres
import peer  # noqa: F401 (the path to house)
import house
from house import check


def statements(name):
    """[(section, statement)]: one statement a line; a line that begins with -- names what comes behind it."""
    out, section = [], None
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as f:
        for line in f.read().split("\n"):
            if line.startswith("--"):
                section = line[2:].strip()
            elif line:
                out.append((section, line))
    return out


def in_order(text, rows):
    """Rows whose order the statement does not say, in an order of their own."""
    return rows if not rows or "order by" in text.lower() else rows[:1] + sorted(rows[1:], key=repr)


def ask_postgres(texts):
    pg = test_postgres.Postgres()
    try:
        return pg.script(texts)
    finally:
        pg.close()


def test_statements():
    asked = statements("scopes.sql")
    texts = [t for _, t in asked]
    wrong, errors = [], 0
    for (section, text), (rows, state), (our_rows, our_state, said) in zip(asked, ask_postgres(texts), test_postgres.ask_namdb(texts)):
        errors += state is not None
        if our_state != state or in_order(text, our_rows) != in_order(text, rows):
            wrong.append("[%s] %s\n    namdb      %s %s\n    PostgreSQL %s" % (
                section, text, test_postgres.shown(our_rows, our_state), said, test_postgres.shown(rows, state)))
    print("  %d statements, %d of them errors" % (len(asked), errors))
    check(not wrong, "%d of %d answers differ:\n%s" % (len(wrong), len(asked), "\n".join(wrong)))


if __name__ == "__main__":
    house.main()
