#!/usr/bin/env python3
"""INSERT ... ON CONFLICT with several rows, random ones (NAM_SEED, NAM_QUERIES), answered by namdb and by a real PostgreSQL 15: what
rows before have inserted and which keys they have changed counts for the rows behind them."""
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_foreign
import house
from house import check

SETUP = [
    "CREATE TABLE m (a int UNIQUE, b int)",
    "CREATE TABLE p (a int PRIMARY KEY, b int UNIQUE, c int)",
    "CREATE TABLE k (a int, b text, c int, UNIQUE (a, b))",
    "CREATE TABLE n (a int UNIQUE NULLS NOT DISTINCT, b int)",
]
# By table: arbiters, columns, what DO UPDATE may set.
TABLES = {
    "m": (["(a)"], ["a", "b"], ["b = excluded.b", "a = m.a + 10", "a = excluded.b", "a = 10", "b = m.b + 1, a = excluded.a + 1", "a = NULL"]),
    "p": (["(a)", "(b)"], ["a", "b", "c"],
          ["c = excluded.c", "a = p.a + 5", "b = excluded.c", "a = excluded.c, b = p.b + 1", "b = 3", "c = p.c + 1, a = 2"]),
    "k": (["(a, b)"], ["a", "b", "c"], ["c = k.c + 1", "b = k.b || 'x'", "a = excluded.c", "a = k.a + 1, b = excluded.b"]),
    "n": (["(a)"], ["a", "b"], ["b = excluded.b", "a = n.a + 1", "a = NULL", "a = excluded.b"]),
}


def value(d, table, column):
    if table == "k" and column == "b":
        return d.choice(["'u'", "'v'", "'ux'", "NULL"])
    if column != "a" or table in "mnk":
        return d.choice(["1", "2", "3", "4", "6", "10", "11", "12", "NULL"])
    return d.choice(["1", "2", "3", "4", "6", "7", "11"])


def statement(d):
    table = d.choice(list(TABLES))
    arbiters, columns, sets = TABLES[table]
    rows = ", ".join("(%s)" % ", ".join(value(d, table, c) for c in columns) for _ in range(d.randint(1, 5)))
    text = "INSERT INTO %s VALUES %s ON CONFLICT " % (table, rows)
    how = d.random()
    if how < 0.15:
        text += d.choice(["", d.choice(arbiters) + " "]) + "DO NOTHING"
    else:
        text += "%s DO UPDATE SET %s" % (d.choice(arbiters), d.choice(sets))
        if d.random() < 0.2:
            text += " WHERE %s.%s > 2" % (table, "c" if table in "pk" else "b")
    return text + (" RETURNING *" if d.random() < 0.5 else "")


def statements(seed, n):
    d = random.Random(seed)
    out = list(SETUP)
    for i in range(n):
        out.append(statement(d))
        if i % 4 == 3:
            out += ["SELECT * FROM %s" % t for t in TABLES]
        if i % 12 == 11:
            out += ["DELETE FROM %s" % t for t in TABLES]
    return out


def test_named():
    texts = ["CREATE TABLE m (a int UNIQUE, b int)", "INSERT INTO m VALUES (1, 1)",
             "INSERT INTO m VALUES (1, 2), (1, 3) ON CONFLICT (a) DO UPDATE SET a = 10", "SELECT * FROM m",
             "INSERT INTO m VALUES (1, 2), (20, 3) ON CONFLICT (a) DO UPDATE SET a = 20 RETURNING *", "SELECT * FROM m"]
    same_answers(texts, "named")


def same_answers(texts, what):
    want, got = test_foreign.of_postgres(texts), test_foreign.of_namdb(texts)
    wrong = ["%s\n    namdb      %s\n    PostgreSQL %s" % (t, o, w) for t, w, o in zip(texts, want, got) if w != o]
    check(not wrong, "%s: %d answers of %d differ:\n%s" % (what, len(wrong), len(texts), "\n".join(wrong[:10])))


def test_random():
    seed, n = int(os.environ.get("NAM_SEED", "1")), int(os.environ.get("NAM_QUERIES", house.rounds(400, 400, 80)))
    same_answers(statements(seed, n), "seed %d" % seed)
    print("  %d statements" % n)


if __name__ == "__main__":
    house.main()
